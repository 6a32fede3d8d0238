# SPDX-License-Identifier: Apache-2.0
"""blind.py - public records, studies and leisure, written by people who had not read how references are found."""
import datetime
from collections import defaultdict

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date


@data_set
def transit(s):
    """A public timetable feed, one text file a collection: every id is text, some days of service have no calendar."""
    r = s.r
    agencies = [11, 37, 801, 849]
    stations = ["Parent%d" % (8503000 + 7 * i) for i in range(60)]
    platforms = [(p, "%s:0:%d" % (p[6:], k)) for p in stations for k in range(1, r.randint(3, 6))]
    lines = ["%d-%s-j21-1" % (10 + i % 80, r.choice("ABCDEFGHK") + str(i)) for i in range(70)]
    days = ["TA+%s" % "".join(r.choices("abcdefghijkmn0123456789", k=5)) for _ in range(90)]
    s.put("agency", [{"_id": s.oid(), "agency_id": a, "agency_name": s.title(2), "agency_timezone": "Europe/Zurich",
                      "agency_lang": "DE"} for a in agencies], "!agency_id")
    s.put("stops", [{"_id": s.oid(), "stop_id": p, "stop_name": r.choice(CITY) + ", " + s.title(1),
                     "stop_lat": round(r.uniform(46, 48), 6), "stop_lon": round(r.uniform(6, 10), 6),
                     "location_type": 1} for p in stations] +
          [{"_id": s.oid(), "stop_id": q, "stop_name": s.title(1), "stop_lat": round(r.uniform(46, 48), 6),
            "stop_lon": round(r.uniform(6, 10), 6), "location_type": 0, "parent_station": p,
            "platform_code": q[-1]} for p, q in platforms], "!stop_id")
    s.put("routes", [{"_id": s.oid(), "route_id": x, "agency_id": s.skew(agencies), "route_short_name": x.split("-")[0],
                      "route_desc": r.choice(["Bus", "Tram", "S-Bahn"]), "route_type": r.choice([0, 3, 106, 700, 900]),
                      "route_color": "%06X" % r.getrandbits(24)} for x in lines], "!route_id")
    s.put("calendar", [dict({"_id": s.oid(), "service_id": d}, **{w: r.randrange(2) for w in (
        "monday tuesday wednesday thursday friday saturday sunday").split()}, start_date=20201213, end_date=20211211)
                       for d in days[:76]], "!service_id")
    s.put("calendar_dates", [{"_id": s.oid(), "service_id": d, "date": 20210100 + 100 * r.randrange(12) + k,
                              "exception_type": r.randint(1, 2)} for d in days for k in s.few(range(1, 29), 2, 20)],
          "service_id,date")
    shapes = ["shp-%d-%02d" % (i // 3, i % 3) for i in range(80)]
    s.put("shapes", [{"_id": s.oid(), "shape_id": x, "shape_pt_lat": round(r.uniform(46, 48), 6),
                      "shape_pt_lon": round(r.uniform(6, 10), 6), "shape_pt_sequence": k}
                     for x in shapes for k in range(1, r.randint(20, 40))], "!shape_id,shape_pt_sequence")
    trips, times = [], []
    for i in range(900):
        line, at = s.skew(lines), r.randrange(240, 1430)
        t = "%d.TA.%s.%s" % (i + 1, line, r.choice("HR"))
        trips.append({"_id": s.oid(), "route_id": line, "service_id": s.skew(days, 1.2), "trip_id": t,
                      "trip_headsign": r.choice(CITY), "trip_short_name": str(r.randint(1, 30000)),
                      "direction_id": r.randrange(2), "shape_id": s.maybe(.9, r.choice(shapes)),
                      "wheelchair_accessible": r.randrange(3)})
        for k, (_, q) in enumerate(s.few(platforms, 4, 16), 1):
            at += r.randint(1, 9)
            times.append({"_id": s.oid(), "trip_id": t, "arrival_time": "%02d:%02d:00" % (at // 60, at % 60),
                          "departure_time": "%02d:%02d:00" % (at // 60, at % 60), "stop_id": q, "stop_sequence": k,
                          "pickup_type": 0, "drop_off_type": r.choice([0, 0, 0, 1])})
    s.put("trips", trips, "!trip_id", "route_id", "route_id,direction_id", "service_id")
    s.put("stop_times", times, "!trip_id,stop_sequence", "stop_id")
    ends = [q for _, q in platforms]
    s.put("transfers", [{"_id": s.oid(), "from_stop_id": r.choice(ends), "to_stop_id": r.choice(ends),
                         "transfer_type": r.choice([0, 1, 2]), "min_transfer_time": r.randrange(60, 600, 60)}
                        for _ in range(500)])
    s.put("frequencies", [{"_id": s.oid(), "trip_id": t["trip_id"], "start_time": "06:00:00", "end_time": "22:00:00",
                           "headway_secs": r.choice([300, 600, 900]), "exact_times": 0} for t in r.sample(trips, 40)])
    s.ref("""
        stops:parent_station stops:stop_id
        routes:agency_id agency:agency_id
        calendar_dates:service_id calendar:service_id
        trips:route_id routes:route_id
        trips:service_id calendar:service_id
        stop_times:trip_id trips:trip_id
        stop_times:stop_id stops:stop_id
        transfers:from_stop_id stops:stop_id
        transfers:to_stop_id stops:stop_id
        frequencies:trip_id trips:trip_id""")
    s.allow("trips:shape_id shapes:shape_id")


@data_set
def registry(s):
    """Packages of a language by name: dependencies and stars are maps from names, times a map from versions."""
    r = s.r
    people = sorted({(r.choice(FIRST) + r.choice(["", "-", "_"]) + s.words(1)).lower() + r.choice(["", "", "js", "42"])
                     for _ in range(260)})
    scopes = ["@%s/" % w for w in r.sample(WORD, 12)]
    names = sorted({(r.choice(scopes) if r.random() < .3 else "") + s.words(1, 2).replace(" ", "-") +
                    r.choice(["", "-js", "-cli", "-core", "-utils"]) for _ in range(620)})
    s.put("users", [{"_id": "org.couchdb.user:" + p, "name": p, "type": "user", "roles": [],
                     "email": p + "@mail.example", "date": s.day(-2000, 900)} for p in people], "!name")
    packages, popular, gone = [], names[:], ["left-%s" % w for w in r.sample(WORD, 8)]
    r.shuffle(popular)
    for n in names:
        at, time, v = r.randrange(-900, 900), {}, [0, r.randrange(3), 0]
        for _ in range(r.randint(1, 14)):
            v[r.choice([0, 1, 1, 2, 2, 2])] += 1
            at += r.randint(1, 40)
            time["%d.%d.%d" % tuple(v)] = s.day(at, at + 1).isoformat() + "Z"
        deps = {s.skew(popular, 2.5): "%s%d.%d.0" % (r.choice("^~"), r.randrange(9), r.randrange(9))
                for _ in range(r.randint(0, 7))}
        deps.update({g: "*" for g in gone if r.random() < .008})
        packages.append({"_id": n, "_rev": "%d-%032x" % (len(time), r.getrandbits(128)),
                         "dist-tags": {"latest": list(time)[-1]}, "description": s.words(3, 9), "dependencies": deps,
                         "author": s.maybe(.9, r.choice(people)),
                         "maintainers": [{"name": p, "email": p + r.choice(["@mail"] * 19 + ["@old"]) + ".example"}
                                         for p in s.few(people, 1, 4)],
                         "keywords": s.few(WORD[:50], 0, 6), "license": r.choice(["MIT", "ISC", "Apache-2.0"]),
                         "time": time, "users": {p: True for p in s.few(people, 0, 9)}, "readmeFilename": "README.md",
                         "engines": s.maybe(.5, {"node": ">=%d" % r.choice([6, 8, 10, 12])})})
    s.maps |= {"packages:dependencies", "packages:time", "packages:users"}
    s.put("packages", packages, "maintainers.name", "keywords")
    s.put("downloads", [{"_id": {"package": n, "week": "2021-W%02d" % w}, "count": Long(int(10**(6 * r.random())))}
                        for n in names for w in range(10, 16)])
    s.put("advisories", [{"_id": 118 + 7 * i, "module_name": s.skew(popular), "title": s.title(2, 4),
                          "severity": r.choice(["low", "moderate", "high", "critical"]),
                          "cves": ["CVE-2020-%05d" % r.randrange(99999)], "cwe": r.choice([79, 400, 471, 1321]),
                          "patched_versions": ">=%d.%d.0" % (r.randrange(9), r.randrange(9)),
                          "reported_by": s.maybe(.8, r.choice(people)), "created": s.day(300, 900)}
                         for i in range(140)])
    s.put("orgs", [{"_id": x[1:-1], "scope": x,
                    "members": {"owner": r.choice(people), "developer": s.few(people, 2, 15)},
                    "plan": r.choice(["free", "paid"]), "seats": r.choice([5, 10, 25])} for x in scopes])
    s.put("deprecations", [{"_id": s.oid(), "pkg": n, "range": "<%d.0.0" % r.randint(1, 4), "message": s.words(3, 9),
                            "replacement": s.maybe(.6, s.skew(popular))} for n in r.sample(names, 120)], "pkg")
    s.ref("""
        packages:dependencies.* packages:_id
        packages:users.* users:name
        packages:author users:name
        packages:maintainers[].name users:name
        downloads:_id.package packages:_id
        advisories:module_name packages:_id
        advisories:reported_by users:name
        orgs:members.owner users:name
        orgs:members.developer[] users:name
        deprecations:pkg packages:_id
        deprecations:replacement packages:_id""")
    s.allow("packages:maintainers[].email users:email")
    s.copy("packages:maintainers[].name users:name maintainers[].email email")


@data_set
def family(s):
    """A family tree as genealogists exchange it: tags in capitals, persons and families that name each other."""
    r = s.r
    places = ["%s, %s" % (c, k) for c in CITY for k in r.sample(COUNTRY, 2)]
    sources, notes = ["S%d" % (100 + i) for i in range(70)], ["N%04d" % (3 * i + 2) for i in range(160)]
    people, homes, single = [], [], []

    def born(sex, year, home, name):
        people.append({"_id": "I%d" % (500001 + len(people)), "SEX": sex,
                       "NAME": {"GIVN": r.choice(FIRST), "SURN": name},
                       "BIRT": {"DATE": "%d %s %d" % (r.randint(1, 28), r.choice(["JAN", "APR", "JUL", "OCT"]), year),
                                "PLAC": r.choice(places)},
                       "DEAT": s.maybe(.5, {"DATE": "%d" % (year + r.randint(1, 90)), "PLAC": r.choice(places)}),
                       "FAMC": home or NO, "FAMS": [], "OCCU": s.maybe(.3, r.choice(["farmer", "weaver", "smith"])),
                       "SOUR": [{"REF": x, "PAGE": str(r.randint(1, 400)), "QUAY": r.randint(0, 3)}
                                for x in s.few(sources, 0, 3)],
                       "NOTE": s.maybe(.15, r.choice(notes))})
        single.append((people[-1], year))
        return people[-1]

    for i in range(60):
        born("MF"[i % 2], 1700 + r.randrange(30), None, r.choice(LAST))
    while len(people) < 1500:
        m = single.pop(0)
        mates = [x for x in single[:40] if x[0]["SEX"] != m[0]["SEX"] and abs(x[1] - m[1]) < 15]
        if not mates or r.random() < .15:
            continue
        w = r.choice(mates)
        single.remove(w)
        man, wife = (m[0], w[0]) if m[0]["SEX"] == "M" else (w[0], m[0])
        f = {"_id": "F%d" % (700 + 3 * len(homes)), "HUSB": man["_id"] if r.random() > .04 else NO, "WIFE": wife["_id"],
             "CHIL": [], "MARR": s.maybe(.8, {"DATE": str(m[1] + r.randint(18, 30)), "PLAC": r.choice(places)}),
             "NCHI": r.randint(0, 9)}
        man["FAMS"].append(f["_id"])
        wife["FAMS"].append(f["_id"])
        for _ in range(r.randint(1, 7)):
            c = born(r.choice("MF"), m[1] + r.randint(20, 40), f["_id"], man["NAME"]["SURN"])
            if r.random() > .03:
                f["CHIL"].append(c["_id"])
        homes.append(f)
    s.put("INDI", people, "NAME.SURN,NAME.GIVN", "FAMC", "FAMS")
    s.put("FAM", homes, "HUSB", "WIFE")
    s.put("SOUR", [{"_id": x, "TITL": s.title(3, 6), "AUTH": s.person(), "REPO": "R%d" % r.randint(1, 30),
                    "DATE": r.randint(1700, 1950)} for x in sources])
    s.put("REPO", [{"_id": "R%d" % i, "NAME": s.title(2), "CITY": r.choice(CITY)} for i in range(1, 27)])
    s.put("NOTE", [{"_id": x, "TEXT": s.words(10, 60)} for x in notes])
    s.put("PLAC", [{"_id": s.oid(), "FORM": p, "MAP": {"LATI": r.uniform(38, 60), "LONG": r.uniform(-9, 28)}}
                   for p in places], "!FORM")
    s.put("OBJE", [{"_id": "M%d" % i, "FILE": "scan_%05d.jpg" % r.randrange(10**5), "INDI": str(s.skew(people)["_id"]),
                    "TYPE": r.choice(["photo", "document"])} for i in range(1, 400)], "INDI")
    s.ref("""
        INDI:FAMC FAM:_id
        INDI:FAMS[] FAM:_id
        INDI:BIRT.PLAC PLAC:FORM
        INDI:DEAT.PLAC PLAC:FORM
        INDI:SOUR[].REF SOUR:_id
        INDI:NOTE NOTE:_id
        FAM:HUSB INDI:_id
        FAM:WIFE INDI:_id
        FAM:CHIL[] INDI:_id
        FAM:MARR.PLAC PLAC:FORM
        SOUR:REPO REPO:_id
        OBJE:INDI INDI:_id""")
    s.two_way("FAM", "CHIL[]", "INDI", "FAMC")


@data_set
def congress(s):
    """A parliament's open data: members under four identifiers, bills by congress, type and number, votes as a map."""
    r = s.r
    members = []
    for i in range(540):
        name = r.choice(LAST)
        members.append({"_id": s.oid(), "bioguide": "%s%06d" % (name[0], 1000 + i), "first_name": r.choice(FIRST),
                        "last_name": name, "ids": {"govtrack": 400001 + 13 * i, "icpsr": 10000 + 19 * i,
                                                   "thomas": "%05d" % (i + 1)},
                        "bio": {"birthday": text_date(s.day(-29000, -11000)), "gender": r.choice("MF")},
                        "terms": [{"type": "rep", "start": "20%02d-01-03" % y, "state": r.choice(COUNTRY),
                                   "district": r.randint(0, 52), "party": r.choice(["Blue", "Red", "Independent"])}
                                  for y in range(r.randrange(9, 21, 2), 21, 2)]})
    guides = [m["bioguide"] for m in members]
    last = {m["bioguide"]: m["last_name"] for m in members}
    codes = sorted({"HS" + "".join(r.sample("ABDEFGIJMPRSUVWY", 2)) for _ in range(30)})
    s.put("legislators", members, "!bioguide", "!ids.govtrack", "last_name")
    s.put("committees", [{"_id": s.oid(), "thomas_id": c, "name": "Committee on " + s.title(2),
                          "phone": "(202) 225-%04d" % r.randrange(9999),
                          "subcommittees": [{"thomas_id": "%02d" % k, "name": s.title(2)}
                                            for k in range(1, r.randint(3, 8))]} for c in codes], "!thomas_id")
    s.put("committee_membership", [{"_id": s.oid(), "committee": c, "bioguide": g, "rank": k, "party": r.choice(
        ["majority", "minority"]), "title": "Chair" if k == 1 else NO} for c in codes
                                   for k, g in enumerate(s.few(guides, 15, 40), 1)], "!committee,bioguide")
    bills = []
    for i in range(1300):
        g = s.skew(guides, 1.3)
        bills.append({"_id": s.oid(), "congress": r.choice([115, 116]),
                      "bill_type": r.choice(["hr", "s", "hres", "sjres"]),
                      "number": i // 2 + 1, "official_title": s.title(4, 9),
                      "introduced_at": text_date(s.day(-700, 700)),
                      "sponsor": {"bioguide_id": g, "name": last[g], "district": r.randint(0, 52)},
                      "cosponsors": [{"bioguide_id": x, "name": last[x] if r.random() > .02 else s.person().split()[1],
                                      "sponsored_at": text_date(s.day(0, 700))}
                                     for x in s.few(guides, 0, int(1 + 60 * r.random() ** 4))],
                      "committees": s.few(codes, 0, 3), "subjects": s.few(WORD[:40], 0, 5), "status": r.choice(
                          ["REFERRED", "REPORTED", "PASSED:HOUSE", "ENACTED"])})
    seen = {}
    for b in bills:
        seen.setdefault((b["congress"], b["bill_type"], b["number"]), b)
    bills = list(seen.values())
    s.put("bills", bills, "!congress,bill_type,number", "congress", "sponsor.bioguide_id", "cosponsors.bioguide_id")
    votes = []
    for i in range(150):
        b = r.choice(bills)
        votes.append({"_id": "h%d-%d.2019" % (i + 1, b["congress"]), "chamber": "h", "roll": i + 1,
                      "bill": s.maybe(.9, {"congress": b["congress"], "type": b["bill_type"], "number": b["number"]}),
                      "requires": r.choice(["1/2", "2/3"]), "result": r.choice(["Passed", "Failed"]),
                      "positions": {g: r.choice(["Yea", "Nay", "Not Voting"]) for g in r.sample(guides, 300)}})
    s.maps.add("votes:positions")
    s.put("votes", votes)
    s.put("social_media", [{"_id": s.oid(), "bioguide": g, "twitter": s.words(1) + g[1:], "youtube_id": s.maybe(
        .5, "UC%022x" % r.getrandbits(88))} for g in r.sample(guides, 420)], "!bioguide")
    s.put("disbursements", [{"_id": s.oid(), "govtrack_id": str(s.skew(members)["ids"]["govtrack"]), "year": 2019,
                             "quarter": r.randint(1, 4), "amount": round(r.uniform(10, 9000), 2),
                             "payee": s.title(2), "category": r.choice(["travel", "staff", "print"])}
                            for _ in range(2400)], "govtrack_id")
    for d in r.sample(s.docs["disbursements"], 30):
        d["govtrack_id"] = "39%04d" % r.randrange(9999)
    s.ref("""
        committee_membership:committee committees:thomas_id
        committee_membership:bioguide legislators:bioguide
        bills:sponsor.bioguide_id legislators:bioguide
        bills:cosponsors[].bioguide_id legislators:bioguide
        bills:committees[] committees:thomas_id
        votes:bill.congress+bill.type+bill.number bills:congress+bill_type+number
        votes:positions.* legislators:bioguide
        social_media:bioguide legislators:bioguide
        disbursements:govtrack_id legislators:ids.govtrack""")
    s.copy("""
        bills:sponsor.bioguide_id legislators:bioguide sponsor.name last_name
        bills:cosponsors[].bioguide_id legislators:bioguide cosponsors[].name last_name""")


@data_set
def hotel(s):
    """Stays in a chain of hotels: a room is a hotel's code and a number, guests are binary UUIDs, rates by code."""
    r = s.r
    codes = sorted({c[:3].upper() + r.choice("NSCA") + str(r.randint(1, 3)) for c in CITY for _ in range(2)})
    kinds = "SGL DBL TWN SUI FAM ACC".split()
    s.put("hotels", [{"_id": c, "name": "Hotel " + s.title(1), "stars": r.randint(2, 5), "city": r.choice(CITY),
                      "floors": r.randint(2, 12), "checkoutHour": r.choice([10, 11, 12]),
                      "rates": {"RACK": {"price": r.randint(80, 400)}, "CORP": {"price": r.randint(60, 300)}}}
                     for c in codes])
    s.put("roomTypes", [{"_id": k, "beds": r.randint(1, 4), "maxGuests": r.randint(1, 6)} for k in kinds])
    rooms = [{"_id": s.oid(), "hotel": c, "no": str(100 * f + n), "floor": f, "type": s.skew(kinds),
              "smoking": r.random() < .1} for c in codes for f in range(1, 4) for n in range(1, r.randint(3, 9))]
    s.put("rooms", rooms, "!hotel,no")
    guests = [{"_id": s.uuid(), "fullName": s.person(), "loyalty": s.maybe(.4, {"no": "GR%07d" % (5000 + 37 * i),
                                                                              "level": r.randint(1, 3)}),
               "passport": s.maybe(.7, r.choice(COUNTRY) + "%07d" % r.randrange(10**7)),
               "lang": r.choice(["en", "de", "it"])}
              for i in range(1100)]
    s.put("guests", guests, "?loyalty.no", "fullName")
    channels = [("bkg", "Booking Portal"), ("exp", "Trip Portal"), ("dir", "Direct"), ("ota", "Others"),
                ("cor", "Company")]
    s.put("channels", [{"_id": s.oid(), "key": k, "label": v, "commissionPct": r.randint(0, 20)} for k, v in channels],
          "!key")
    stays = []
    for i in range(2700):
        x, g, start = r.choice(rooms), s.skew(guests, 1.2), r.randrange(700, 1000)
        nights = r.randint(1, 9)
        stays.append({"_id": "RES%06d" % (100200 + 3 * i), "hotelCode": x["hotel"], "roomNo": x["no"],
                      "arrival": s.day(start, start + .01), "departure": s.day(start + nights, start + nights + .01),
                      "booker": g["_id"], "bookerName": g["fullName"],
                      "party": [str(y["_id"]) for y in s.few(guests, 0, 2)],
                      "adults": r.randint(1, 3), "children": r.randint(0, 2), "channel": s.skew(channels)[0],
                      "nightly": [Cents(100 * r.randint(60, 300)) for _ in range(nights)],
                      "groupId": NO, "state": r.choice(["booked", "in", "out", "out", "cancelled"])})
    for x in stays[::25]:
        x["bookerName"] = s.person()
    groups = [{"_id": i, "title": s.title(2), "leader": r.choice(guests)["_id"], "size": r.randint(4, 30)}
              for i in range(1, 61)]
    for x in r.sample(stays, 400):
        x["groupId"] = r.randint(1, 60)
    s.put("groups", groups)
    s.put("reservations", stays, "hotelCode,roomNo,arrival", "hotelCode", "booker", "groupId")
    s.put("folioItems", [{"_id": s.oid(), "res": s.skew(stays, 1.1)["_id"] if r.random() > .015 else "RES0%05d" % i,
                          "dept": r.choice([10, 20, 30, 45]), "text": s.words(1, 3), "qty": r.randint(1, 4),
                          "amount": Cents(r.randint(100, 20000)), "vat": r.choice([7, 19])} for i in range(5200)],
          "res")
    s.put("housekeeping", [{"_id": {"hotel": x["hotel"], "room": x["no"], "date": "2021-07-%02d" % d},
                            "minutes": r.randint(10, 60), "linen": r.random() < .4} for x in rooms for d in (1, 2, 3)])
    cards = [g["loyalty"]["no"] for g in guests if g["loyalty"] is not NO]
    s.put("loyaltyEntries", [{"_id": s.oid(), "card": s.skew(cards), "points": r.randint(-900, 900),
                              "reason": r.choice(["stay", "bonus", "award"])} for _ in range(1400)], "card")
    s.ref("""
        rooms:hotel hotels:_id
        rooms:type roomTypes:_id
        groups:leader guests:_id
        reservations:hotelCode hotels:_id
        reservations:hotelCode+roomNo rooms:hotel+no
        reservations:booker guests:_id
        reservations:party[] guests:_id
        reservations:channel channels:key
        reservations:groupId groups:_id
        folioItems:res reservations:_id
        housekeeping:_id.hotel hotels:_id
        housekeeping:_id.hotel+_id.room rooms:hotel+no
        loyaltyEntries:card guests:loyalty.no""")
    s.copy("reservations:booker guests:_id bookerName fullName")


@data_set
def campus(s):
    """Courses and quizzes: names joined in lower case, running numbers in every table, times as seconds, 0 for none."""
    r = s.r

    def when(lo=700, hi=1000):
        return 1546300800 + 86400 * r.randrange(lo, hi) + r.randrange(86400)

    users = [i for i in range(2, 820) if i % 11]
    s.put("user", [{"_id": u, "username": "%s%03d" % (r.choice(LAST).lower(), u), "auth": r.choice(["manual", "ldap"]),
                    "confirmed": 1, "deleted": int(r.random() < .03),
                    "idnumber": s.maybe(.6, "%07d" % (4 * u + 2100000)),
                    "firstname": r.choice(FIRST), "lastname": r.choice(LAST), "timecreated": when(0, 700),
                    "lastaccess": s.maybe(.9, when())} for u in users], "!username")
    cats = [{"_id": i, "name": s.title(2), "parent": NO if i < 7 else r.randint(1, i - 1), "sortorder": 10000 * i,
             "coursecount": r.randrange(20), "depth": r.randint(1, 4), "visible": 1} for i in range(1, 61)]
    s.put("course_categories", cats)
    courses = list(range(2, 182))
    s.put("course", [{"_id": c, "category": r.randint(1, 60), "sortorder": 10000 + c, "fullname": s.title(2, 5),
                      "shortname": "%s%d" % (s.words(1)[:4].upper(), c), "format": r.choice(["topics", "weeks"]),
                      "startdate": when(600, 800), "newsitems": 5, "maxbytes": 0, "visible": int(r.random() < .9)}
                     for c in courses], "!shortname", "category")
    enrol = [{"_id": i, "enrol": r.choice(["manual", "self"]), "status": 0, "courseid": c, "roleid": 5,
              "sortorder": k} for i, (c, k) in enumerate([(c, k) for c in courses for k in (0, 1)], 1)]
    s.put("enrol", enrol, "courseid")
    s.put("role", [{"_id": i, "shortname": w, "archetype": r.choice(["teacher", "student", "guest"]), "sortorder": i}
                   for i, w in enumerate("manager coursecreator editingteacher teacher student guest user".split(), 1)])
    s.put("user_enrolments", [{"_id": i, "status": 0, "enrolid": r.choice(enrol)["_id"], "userid": s.skew(users, 1.2),
                               "timestart": when(), "timeend": 0, "modifierid": r.choice(users[:20])}
                              for i in range(1, 4200)], "userid", "enrolid", "enrolid,userid")
    quizzes = [{"_id": i, "course": r.choice(courses), "name": s.title(2, 4), "timelimit": r.choice([0, 600, 1800]),
                "attempts": r.randrange(4), "sumgrades": float(r.randint(5, 20)), "grade": 10.0, "slots": []}
               for i in range(1, 301)]
    questions = [{"_id": i, "category": r.randint(1, 60), "parent": 0, "name": s.title(2),
                  "questiontext": s.words(8, 25),
                  "defaultmark": 1.0, "qtype": r.choice(["multichoice", "truefalse", "essay"]),
                  "createdby": r.choice(users[:80]), "modifiedby": r.choice(users[:80]), "version": r.randint(1, 4)}
                 for i in range(1, 1400)]
    for q in quizzes:
        q["slots"] = [{"slot": k, "page": (k + 1) // 2, "questionid": x["_id"], "maxmark": r.choice([1.0, 2.0])}
                      for k, x in enumerate(s.few(questions, 3, 15), 1)]
    s.put("quiz", quizzes, "course")
    s.put("question", questions, "category", "createdby")
    s.put("question_categories", [{"_id": i, "name": s.title(2), "info": "",
                                   "stamp": "moodle+%06d" % r.randrange(10**6),
                                   "sortorder": 999} for i in range(1, 61)])
    s.put("quiz_attempts", [{"_id": i, "quiz": q["_id"], "userid": s.skew(users, 1.3), "attempt": r.randint(1, 3),
                             "state": r.choice(["finished", "inprogress", "abandoned"]), "timestart": when(),
                             "steps": [{"questionid": x["questionid"],
                                        "state": r.choice(["todo", "complete", "gaveup"]),
                                        "fraction": r.choice([0.0, .5, 1.0])} for x in q["slots"]]}
                            for i, q in enumerate(r.choices(quizzes, k=2600), 1)], "quiz,userid", "userid", "quiz")
    s.put("grade_grades", [{"_id": i, "userid": r.choice(users), "quizid": r.randint(1, 300), "rawgrademax": 100.0,
                            "finalgrade": round(r.uniform(0, 100), 2), "hidden": 0,
                            "usermodified": r.choice(users[:80])}
                           for i in range(1, 3000)], "userid")
    s.ref("""
        course_categories:parent course_categories:_id
        course:category course_categories:_id
        enrol:courseid course:_id
        enrol:roleid role:_id
        user_enrolments:enrolid enrol:_id
        user_enrolments:userid user:_id
        user_enrolments:modifierid user:_id
        quiz:course course:_id
        quiz:slots[].questionid question:_id
        question:category question_categories:_id
        question:createdby user:_id
        question:modifiedby user:_id
        quiz_attempts:quiz quiz:_id
        quiz_attempts:userid user:_id
        quiz_attempts:steps[].questionid question:_id
        grade_grades:userid user:_id
        grade_grades:quizid quiz:_id
        grade_grades:usermodified user:_id""")
    s.more["tree"] = s.tree_figures("course_categories", "parent")


@data_set
def ligue(s):
    """French football: clubs by slug, players by licence, both sides of a match in one document."""
    r = s.r
    clubs = sorted({r.choice(["olympique", "racing", "stade", "as", "fc"]) + "-" + c.lower() for c in CITY})
    stades = ["ST%02d" % i for i in range(1, len(clubs) + 1)]
    saisons = ["%d-%d" % (y, y + 1) for y in range(2016, 2021)]
    s.put("saisons", [{"_id": x, "debut": s.day(-800, 600), "journees": 38} for x in saisons])
    s.put("stades", [{"_id": x, "nom": "Stade " + s.title(1), "ville": r.choice(CITY), "places": r.randint(8000, 60000),
                      "ouverture": r.randint(1920, 2018)} for x in stades])
    s.put("clubs", [{"_id": c, "nom": c.replace("-", " ").title(), "fondation": r.randint(1890, 1980), "stade": x,
                     "couleurs": s.few(["rouge", "bleu", "blanc", "vert"], 1, 2), "budget_M": r.randint(10, 300)}
                    for c, x in zip(clubs, stades)])
    joueurs, effectif = [], defaultdict(list)
    for i in range(900):
        c = r.choice(clubs)
        joueurs.append({"_id": 9000100 + 17 * i + r.randrange(12), "nom": r.choice(LAST), "prenom": r.choice(FIRST),
                        "naissance": s.day(-13000, -6600), "nationalite": r.choice(COUNTRY), "poste": r.choice(
                            ["gardien", "defenseur", "milieu", "attaquant"]), "numero": r.randint(1, 40),
                        "club": c, "pied": r.choice("GD"), "taille": r.randint(165, 202)})
        effectif[c].append(joueurs[-1]["_id"])
    nom = {j["_id"]: j["nom"] for j in joueurs}
    for j in joueurs[::40]:
        j["nom"] += "-" + r.choice(LAST)  # goals keep the old name
    arbitres = [{"_id": s.oid(), "nom": s.person(), "niveau": r.randint(1, 3)} for _ in range(36)]
    s.put("joueurs", joueurs, "club", "nom")
    s.put("arbitres", arbitres)
    matchs = []
    for n, saison in enumerate(saisons):
        for journee in range(1, 39):
            tour = r.sample(clubs, 20)
            for a, b in zip(tour[::2], tour[1::2]):
                buts = [{"joueur": j, "nom": nom[j], "minute": r.randint(1, 90),
                         "passeur": s.maybe(.7, r.choice(effectif[x])),
                         "penalty": r.random() < .1} for x in (a, b) for j in s.few(effectif[x], 0, 3)]
                day = s.day(-900 + 365 * n + 7 * journee, -898 + 365 * n + 7 * journee)
                matchs.append({"_id": s.oid(day), "saison": saison, "journee": journee, "date": day,
                               "domicile": {"club": a, "buts": sum(x["joueur"] in effectif[a] for x in buts)},
                               "exterieur": {"club": b, "buts": sum(x["joueur"] in effectif[b] for x in buts)},
                               "buts": buts, "spectateurs": r.randint(3000, 60000),
                               "arbitre": r.choice(arbitres)["_id"],
                               "cartons": {"jaunes": s.few(effectif[a] + effectif[b], 0, 4),
                                           "rouges": s.few(effectif[b], 0, 1) if r.random() < .2 else []}})
    s.put("matchs", matchs, "saison,journee", "domicile.club", "exterieur.club", "buts.joueur")
    s.put("classement", [{"_id": {"saison": x, "club": c}, "rang": k, "points": 90 - 2 * k, "gagnes": r.randint(3, 30),
                          "nuls": r.randint(2, 15)} for x in saisons for k, c in enumerate(r.sample(clubs, 20), 1)])
    s.put("transferts", [{"_id": s.oid(), "joueur": str(r.choice(joueurs)["_id"]), "de": s.maybe(.9, r.choice(clubs)),
                          "vers": r.choice(clubs) if r.random() > .1 else "real-" + s.words(1),
                          "annee": r.randint(2016, 2020),
                          "montant": Long(r.randrange(0, 90000000, 100000))} for _ in range(420)])
    s.put("blessures", [{"_id": s.oid(), "licence": r.choice(joueurs)["_id"], "zone": r.choice(["genou", "cheville"]),
                         "jours": r.randint(3, 200), "depuis": s.day(0, 700)} for _ in range(600)], "licence")
    s.ref("""
        clubs:stade stades:_id
        joueurs:club clubs:_id
        matchs:saison saisons:_id
        matchs:domicile.club clubs:_id
        matchs:exterieur.club clubs:_id
        matchs:buts[].joueur joueurs:_id
        matchs:buts[].passeur joueurs:_id
        matchs:arbitre arbitres:_id
        matchs:cartons.jaunes[] joueurs:_id
        matchs:cartons.rouges[] joueurs:_id
        classement:_id.saison saisons:_id
        classement:_id.club clubs:_id
        transferts:joueur joueurs:_id
        transferts:de clubs:_id
        transferts:vers clubs:_id
        blessures:licence joueurs:_id""")
    s.copy("matchs:buts[].joueur joueurs:_id buts[].nom nom")


@data_set
def survey(s):
    """A household survey with coded columns: area, number of the household in it, line of the person in that."""
    r = s.r
    areas, staff = list(range(1, 181)), [11 + 3 * i for i in range(40)]
    s.put("regions", [{"_id": i, "label": s.title(1), "urban": r.randrange(2)} for i in range(1, 13)])
    s.put("interviewers", [{"_id": c, "name": s.person(), "team": r.randint(1, 8), "sex": r.randint(1, 2)}
                           for c in staff])
    s.put("clusters", [{"_id": a, "region": r.randint(1, 12), "stratum": r.randint(1, 23),
                        "altitude": r.randint(0, 2400),
                        "alias": "PSU-%04d" % (4001 + 7 * a)} for a in areas], "region")
    answers = {"q%d" % k: r.randint(2, 9) for k in range(101, 119)}
    s.put("codebook", [{"_id": {"var": q, "code": k}, "label": s.words(1, 3)} for q, n in answers.items()
                       for k in [*range(1, n + 1), 99]])
    homes, people, women, births = [], [], [], []
    for a in areas:
        for h in sorted(r.sample(range(1, 60), r.randint(8, 14))):
            who, n = r.choice(staff), r.randint(1, 8)
            homes.append({"_id": s.oid(), "hv001": a, "hv002": h, "hv005": r.randint(400000, 2000000), "hv007": 2019,
                          "hv009": n, "interviewer": who, "supervisor": s.maybe(.9, r.choice(staff[:8])),
                          "hv270": r.randint(1, 5),
                          **{q: r.choice([*range(1, m + 1), 99]) for q, m in answers.items()}})
            for line in range(1, n + 1):
                mother = r.randint(1, 2) if line > 2 and r.random() < .8 else NO
                people.append({"_id": s.oid(), "hv001": a, "hv002": h, "hvidx": line, "hv112": mother,
                               "hv101": min(line, 3),
                               "hv104": r.randint(1, 2), "hv105": r.randint(0, 95), "hv121": r.choice([0, 1, 2, 9])})
                if line < 3 and r.random() < .6:
                    case = "%8d%3d%2d" % (a, h, line)
                    women.append({"_id": s.oid(), "caseid": case, "v001": a, "v002": h, "v003": line,
                                  "v012": r.randint(15, 49),
                                  "v028": str(who), "v106": r.randint(0, 3), "v201": r.randint(0, 6)})
                    births += [{"_id": s.oid(), "caseid": case, "bidx": k, "b2": r.randint(1990, 2019),
                                "b4": r.randint(1, 2),
                                "b5": r.choice([0, 1, 1, 1])} for k in range(1, r.randint(1, 5))]
    s.put("households", homes, "!hv001,hv002", "hv001", "interviewer")
    s.put("persons", people, "!hv001,hv002,hvidx")
    s.put("women", women, "!caseid", "v001,v002,v003")
    s.put("births", births, "caseid,bidx")
    s.ref("""
        clusters:region regions:_id
        households:hv001 clusters:_id
        households:interviewer interviewers:_id
        households:supervisor interviewers:_id
        persons:hv001+hv002 households:hv001+hv002
        persons:hv001+hv002+hv112 persons:hv001+hv002+hvidx
        women:v001+v002+v003 persons:hv001+hv002+hvidx
        women:v028 interviewers:_id
        births:caseid women:caseid""")
    s.allow("""
        persons:hv001 clusters:_id
        women:v001 clusters:_id
        women:v001+v002 households:hv001+hv002""")


@data_set
def recipes(s):
    """A cookbook in three languages: slugs refer to slugs, ingredients in groups, a shopping list is a map."""
    r = s.r

    def slugs(n, words):
        return sorted({s.words(*words).replace(" ", "-") + r.choice(["", "", "-%d" % i]) for i in range(n)})

    def text(n):
        return {"en": s.title(n), "de": s.title(n), "fr": s.maybe(.6, s.title(n))}

    letters = "ABCDEFGHLMNOPR"
    s.put("allergens", [{"_id": x, "name": text(1)} for x in letters])
    units = "g kg ml l tsp tbsp cup piece pinch".split()
    s.put("units", [{"_id": u, "name": text(1), "gram": s.maybe(.6, r.randint(1, 1000))} for u in units])
    food, dishes = slugs(260, (1, 2)), slugs(700, (2, 3))
    cuisines = [c.lower() + "-style" for c in CITY[:15]]
    s.put("ingredients", [{"_id": f, "name": text(1), "allergens": s.few(letters, 0, 2), "kcal": r.randint(5, 900),
                           "season": s.few(range(1, 13), 0, 4), "substitutes": s.few(food, 0, 3)} for f in food])
    s.put("cuisines", [{"_id": s.oid(), "slug": c, "name": text(1), "sort": i} for i, c in enumerate(cuisines)],
          "!slug")
    cooks = [{"_id": s.oid(), "handle": "%s.%s%d" % (r.choice(FIRST).lower(), s.words(1), i), "level": r.randint(1, 5),
              "follows": NO} for i in range(420)]
    for c in cooks:
        c["follows"] = [x["_id"] for x in s.few(cooks, 0, 12)]
    handles = [c["handle"] for c in cooks]
    s.put("cooks", cooks, "!handle")
    s.put("recipes", [{"_id": s.oid(), "slug": d, "title": text(2), "author": s.skew(handles), "cuisine": s.maybe(
        .8, s.skew(cuisines)), "servings": r.choice([1, 2, 4, 6]),
                       "minutes": {"prep": r.randint(5, 60), "cook": r.randint(0, 180)},
                       "parts": [{"label": r.choice(["Dough", "Sauce", "Main"]), "items": [
                           {"food": f, "amount": r.randint(1, 500), "unit": s.maybe(.9, r.choice(units))}
                           for f in s.few(food, 2, 7)]} for _ in range(r.randint(1, 3))],
                       "steps": [s.words(8, 20) for _ in range(r.randint(2, 7))], "difficulty": r.randint(1, 3),
                       "related": s.few(dishes, 0, 4), "published": r.random() < .9} for d in dishes], "!slug",
          "author",
          "cuisine", "parts.items.food")
    s.put("ratings", [{"_id": {"recipe": d, "cook": c}, "stars": r.randint(1, 5), "at": s.day(0, 900)}
                      for d in dishes for c in s.few(handles, 0, 9)])
    s.put("comments", [{"_id": i, "on": s.skew(dishes) if r.random() > .04 else s.words(2).replace(" ", "_"),
                        "by": str_id(s.skew(cooks)["_id"]), "replyTo": r.randint(1, i - 1)
                        if i > 9 and r.random() < .3 else NO,
                        "text": s.words(4, 20), "likes": r.randint(0, 40)} for i in range(1, 2100)], "on")
    s.put("mealplans", [{"_id": s.oid(), "cook": r.choice(cooks)["_id"], "week": r.randint(1, 52), "days": [
        {"day": k, "lunch": s.maybe(.6, r.choice(dishes)), "dinner": r.choice(dishes)} for k in range(1, 8)]}
                        for _ in range(380)], "cook")
    s.put("shoppinglists", [{"_id": s.uuid(), "cookid": r.choice(cooks)["_id"],
                             "buy": {f: r.randint(1, 9) for f in s.few(food, 2, 12)}}
                            for _ in range(300)], "cookid")
    s.maps.add("shoppinglists:buy")
    s.ref("""
        ingredients:allergens[] allergens:_id
        ingredients:substitutes[] ingredients:_id
        cooks:follows[] cooks:_id
        recipes:author cooks:handle
        recipes:cuisine cuisines:slug
        recipes:parts[].items[].food ingredients:_id
        recipes:parts[].items[].unit units:_id
        recipes:related[] recipes:slug
        ratings:_id.recipe recipes:slug
        ratings:_id.cook cooks:handle
        comments:on recipes:slug
        comments:by cooks:_id
        comments:replyTo comments:_id
        mealplans:cook cooks:_id
        mealplans:days[].lunch recipes:slug
        mealplans:days[].dinner recipes:slug
        shoppinglists:cookid cooks:_id
        shoppinglists:buy.* ingredients:_id""")


@data_set
def weather(s):
    """Stations of a weather service: observations every ten minutes, days with a map of hours, flags of one letter."""
    r = s.r
    stations = ["%s%c%08d" % (r.choice(COUNTRY[:9]), r.choice("MEW0"), 10004 + 317 * i) for i in range(130)]
    networks = [("M", "Military"), ("E", "Public"), ("W", "Airports"), ("0", "Other")]
    s.put("networks", [{"_id": s.oid(), "letter": x, "name": n} for x, n in networks], "!letter")
    observers = [71 + 4 * i for i in range(58)]
    s.put("observers", [{"_id": o, "name": s.person(), "since": r.randint(1970, 2020),
                         "phone": "+41 %09d" % r.randrange(10**9)}
                        for o in observers])
    s.put("elements", [{"_id": e, "unit": u, "scale": r.choice([1, 10])} for e, u in (
        ("TMAX", "C"), ("TMIN", "C"), ("PRCP", "mm"), ("SNWD", "mm"), ("AWND", "m/s"), ("WDFG", "deg"))])
    kinds = ["TMAX", "TMIN", "PRCP", "SNWD", "AWND", "WDFG"]
    serials = [Long(770000000000 + 104729 * i) for i in range(190)]
    s.put("stations", [{"_id": x, "name": r.choice(CITY).upper(), "net": x[2], "elev": r.randint(-3, 2500),
                        "wmo": s.maybe(.4, "%05d" % r.randrange(10**5)),
                        "geo": {"type": "Point", "coordinates": [r.uniform(-9, 25), r.uniform(36, 60)]},
                        "observer": s.maybe(.7, r.choice(observers)), "near": [
                            {"id": y, "km": r.randint(2, 90)} for y in s.few(stations, 1, 4) if y != x]}
                       for x in stations])
    s.put("instruments", [{"_id": n, "station": s.skew(stations, 1.2),
                           "model": r.choice(["HMP155", "PT100", "WXT530"]),
                           "height": r.choice([2, 10]), "calibrated": s.day(0, 900)} for n in serials], "station")
    s.put("calibrations", [{"_id": s.oid(), "serial": float(r.choice(serials)), "offset": round(r.uniform(-1, 1), 3),
                            "tech": r.choice(observers)} for _ in range(600)], "serial")
    s.put("inventory", [{"_id": {"st": x, "el": e}, "first": r.randint(1880, 1990), "last": r.randint(1991, 2021)}
                        for x in stations for e in s.few(kinds, 2, 6)])
    s.put("daily", [{"_id": "%s:202106%02d:%s" % (x, d, e), "station": x, "day": 20210600 + d, "element": e,
                     "value": r.randint(-90, 320), "mflag": s.maybe(.1, r.choice("BDH")),
                     "qflag": s.maybe(.03, r.choice("DGX")),
                     "hours": {"%02d" % h: r.randint(-90, 320) for h in r.sample(range(24), 20)}}
                    for x in stations[:60] for d in range(1, 21) for e in s.few(kinds, 1, 2)], "station,day")
    s.maps.add("daily:hours")
    start = datetime.datetime(2021, 7, 1)
    s.put("obs", [{"_id": s.oid(), "st": x, "at": start + datetime.timedelta(minutes=10 * k),
                   "t": round(r.gauss(18, 6), 1),
                   "rh": r.randint(20, 100), "wind": {"dir": r.randrange(0, 360, 10), "kt": r.randint(0, 40)},
                   "qc": r.randint(0, 3)}
                  for k in range(150) for x in stations[:45] if r.random() > .01], "st,at")
    s.more["timeSeries"] = [{"ns": "weather.obs", "time": "at", "series": "st", "count": 45, "stepSeconds": 600}]
    gone = [x[:3] + "9" + x[4:] for x in stations[:12]]
    s.put("warnings", [{"_id": 1 + i, "stationId": r.choice(stations + gone), "level": r.randint(1, 4),
                        "type": r.choice([3, 5, 8]),
                        "issuedBy": r.choice(observers), "until": s.day(900, 960)} for i in range(700)], "stationId",
          "level")
    s.ref("""
        stations:net networks:letter
        stations:observer observers:_id
        stations:near[].id stations:_id
        instruments:station stations:_id
        calibrations:serial instruments:_id
        calibrations:tech observers:_id
        inventory:_id.st stations:_id
        inventory:_id.el elements:_id
        daily:station stations:_id
        daily:element elements:_id
        obs:st stations:_id
        warnings:stationId stations:_id
        warnings:issuedBy observers:_id""")


@data_set
def playlists(s):
    """Music by stream: ids of 22 letters and the same after a prefix, artists copied into tracks, likes as a map."""
    r = s.r
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    def ids(n):
        return ["".join(r.choices(letters, k=22)) for _ in range(n)]

    genres = ["%s-%s" % (a, b) for a in ("indie", "deep", "nordic", "latin")
              for b in ("pop", "rock", "house", "jazz", "folk")]
    artists = [{"_id": x, "name": s.title(1, 2) + r.choice(["", " Band", " Trio"]), "genres": s.few(genres, 0, 3),
                "popularity": r.randint(0, 100), "followers": {"total": r.randrange(10**6)}} for x in ids(300)]
    s.put("genres", [{"_id": s.oid(), "slug": g, "sort": i} for i, g in enumerate(genres)], "!slug")
    albums, tracks = [], []
    for x in ids(420):
        a, mine = s.skew(artists, 1.5), []
        for k, t in enumerate(ids(r.randint(1, 14)), 1):
            who = [a] + (s.few(artists, 1, 2) if r.random() < .2 else [])
            mine.append(t)
            tracks.append({"_id": t, "uri": "music:track:" + t, "title": s.title(1, 4), "album_id": x,
                           "track_number": k,
                           "disc_number": 1, "duration_ms": r.randint(90000, 400000), "explicit": r.random() < .1,
                           "artists": [{"id": w["_id"], "name": w["name"]} for w in who],
                           "isrc": "USX%09d" % r.randrange(10**9),
                           "tempo": round(r.uniform(60, 180), 3), "key": r.randint(0, 11), "mode": r.randrange(2)})
        albums.append({"_id": x, "name": s.title(1, 3), "album_type": r.choice(["album", "single"]),
                       "artist_ids": [a["_id"]],
                       "track_ids": mine, "total_tracks": len(mine), "release_year": r.randint(1960, 2021),
                       "label": s.title(1),
                       "available_markets": s.few(COUNTRY, 3, 20)})
    for a in artists[::25]:
        a["name"] += " Official"  # tracks keep the old name
    s.put("artists", artists, "genres")
    s.put("albums", albums, "artist_ids", "release_year")
    s.put("tracks", tracks, "!uri", "album_id", "artists.id")
    names = ["%s_%s" % (r.choice(FIRST).lower(), "".join(r.choices("abcdefghij0123456789", k=6))) for _ in range(380)]
    s.put("listeners", [{"_id": n, "product": r.choice(["free", "premium"]), "country": s.skew(COUNTRY),
                         "birth_year": r.randint(1945, 2008), "following": {
                             "artists": [a["_id"] for a in s.few(artists, 0, 9)], "listeners": s.few(names, 0, 5)}}
                        for n in names])
    s.put("playlists", [{"_id": x, "name": s.title(2), "owner": s.skew(names), "collaborative": r.random() < .1,
                         "snapshot": "%040x" % r.getrandbits(160),
                         "items": [{"uri": t["uri"] if r.random() > .01 else "music:local:" + s.words(1),
                                    "added_by": s.maybe(.9, r.choice(names)), "pos": k}
                                   for k, t in enumerate(s.few(tracks, 1, 30))]}
                        for x in ids(500)], "owner")
    s.put("plays", [{"_id": s.oid(), "username": s.skew(names), "track": s.skew(tracks, 4)["_id"],
                     "ms_played": r.randrange(300000),
                     "skipped": r.randrange(2), "context": s.maybe(.6, r.choice(s.docs["playlists"])["_id"])}
                    for _ in range(7000)],
          "username", "track")
    s.put("likes", [{"_id": n, "tracks": {t["_id"]: s.day(0, 900) for t in s.few(tracks, 0, 20)}} for n in names[:300]])
    s.maps.add("likes:tracks")
    s.ref("""
        artists:genres[] genres:slug
        tracks:album_id albums:_id
        tracks:artists[].id artists:_id
        albums:artist_ids[] artists:_id
        albums:track_ids[] tracks:_id
        listeners:following.artists[] artists:_id
        listeners:following.listeners[] listeners:_id
        playlists:owner listeners:_id
        playlists:items[].uri tracks:uri
        playlists:items[].added_by listeners:_id
        plays:username listeners:_id
        plays:track tracks:_id
        plays:context playlists:_id
        likes:_id listeners:_id
        likes:tracks.* tracks:_id""")
    s.copy("tracks:artists[].id artists:_id artists[].name name")
    s.two_way("albums", "track_ids[]", "tracks", "album_id")


@data_set
def trial(s):
    """A clinical trial in the columns of its tables: sites as number and text, visits by subject and number."""
    r = s.r
    sites = [101 + i + i // 7 for i in range(34)]
    s.put("SITES", [{"_id": x, "CITY": r.choice(CITY), "COUNTRY": r.choice(COUNTRY), "PI": s.person(),
                     "PLANNED": r.randint(4, 40)}
                    for x in sites])
    arms = [("PBO", "Placebo"), ("LOW", "10 mg"), ("HIGH", "40 mg"), ("SCRN", "Screen failure")]
    s.put("ARMS", [{"_id": s.oid(), "ARMCD": a, "ARM": b, "RATIO": r.randint(1, 2)} for a, b in arms], "!ARMCD")
    terms = sorted(r.sample(range(10000001, 10090000), 160))
    s.put("MEDDRA", [{"_id": t, "PT": s.title(1, 2), "SOC": 10000 + r.randint(1, 27)} for t in terms])
    tests = "ALT AST BILI CREAT GLUC HGB WBC PLAT SODIUM K CA ALB".split()
    s.put("LBCODES", [{"_id": t, "UNIT": r.choice(["U/L", "g/L", "mmol/L"]), "LO": r.randint(1, 40),
                       "HI": r.randint(41, 300)}
                      for t in tests])
    kits = ["K%06d" % (40012 + 7 * i) for i in range(2600)]
    subjects = [("ONC7-%d-S%04d" % (x, i), x) for i, x in enumerate(r.choices(sites, k=520), 1)]
    s.put("DM", [{"_id": s.oid(), "USUBJID": u, "SUBJID": u.split("-")[2], "SITEID": str(x), "AGE": r.randint(18, 84),
                  "SEX": r.choice("MF"),
                  "ARMCD": s.skew([a for a, _ in arms]), "RFSTDTC": text_date(s.day(0, 500)),
                  "COUNTRY": r.choice(COUNTRY),
                  "PREVSUBJ": s.maybe(.1, r.choice(subjects)[0])} for u, x in subjects], "!USUBJID", "SITEID")
    visits, free = [], kits[:]
    r.shuffle(free)
    for u, _ in subjects:
        for v in (1, 2, 3, 4, 5, 6, 99)[:r.randint(2, 7)]:
            visits.append({"_id": s.oid(), "USUBJID": u, "VISITNUM": v, "VISITDY": 14 * (v - 1),
                           "SVSTDTC": text_date(s.day(0, 700)),
                           "KITNO": s.maybe(.8, free.pop()) if free else NO, "DONE": r.choice("YYYN")})
    s.put("SV", visits, "!USUBJID,VISITNUM", "USUBJID", "KITNO")
    s.put("KITS", [{"_id": k, "LOT": "LT%03d" % r.randint(1, 40), "DEPOT": r.randint(1, 6), "SITE": r.choice(sites)}
                   for k in kits], "SITE")
    s.put("LB", [{"_id": s.oid(), "USUBJID": v["USUBJID"], "VISITNUM": v["VISITNUM"], "LBSEQ": k, "LBTESTCD": t,
                  "LBORRES": r.choice([str(r.randint(1, 300)), r.randint(1, 300)]),
                  "LBNRIND": s.maybe(.8, r.choice(["LOW", "NORMAL", "HIGH"]))}
                 for v in visits for k, t in enumerate(s.few(tests, 2, 5), 1)], "USUBJID,VISITNUM")
    s.put("AE", [{"_id": s.oid(), "USUBJID": s.skew(subjects, 1.3)[0] if r.random() > .01 else "ONC6-101-S%04d" % i,
                  "AESEQ": r.randint(1, 9),
                  "AEPTCD": Long(s.skew(terms)), "AETOXGR": r.randint(1, 5), "AESER": r.choice("YN"),
                  "AEREL": r.choice(["NONE", "LIKELY"]),
                  "CONMED": s.few(["D%05d" % (100 + 13 * k) for k in range(120)], 0, 3)} for i in range(1900)],
          "USUBJID,AESEQ")
    s.put("DRUGS", [{"_id": s.oid(), "WHOCODE": "D%05d" % (100 + 13 * k), "NAME": s.title(1),
                     "ATC": "%c%02d" % (r.choice("ABCN"), k % 17)}
                    for k in range(120)], "!WHOCODE")
    s.put("DEVIATIONS", [{"_id": i, "SUBJ": r.choice(subjects)[0], "SITE": r.choice(sites), "CLASS": r.randint(1, 3),
                          "TEXT": s.words(6, 20)}
                         for i in range(1, 460)], "SITE")
    s.ref("""
        DM:SITEID SITES:_id
        DM:ARMCD ARMS:ARMCD
        DM:PREVSUBJ DM:USUBJID
        SV:USUBJID DM:USUBJID
        SV:KITNO KITS:_id
        KITS:SITE SITES:_id
        LB:USUBJID+VISITNUM SV:USUBJID+VISITNUM
        LB:USUBJID DM:USUBJID
        LB:LBTESTCD LBCODES:_id
        AE:USUBJID DM:USUBJID
        AE:AEPTCD MEDDRA:_id
        AE:CONMED[] DRUGS:WHOCODE
        DEVIATIONS:SUBJ DM:USUBJID
        DEVIATIONS:SITE SITES:_id""")
