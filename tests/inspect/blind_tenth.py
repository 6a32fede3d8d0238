# SPDX-License-Identifier: Apache-2.0
"""blind_tenth.py - fifteen small trades in the words of those who work there, written before any was tried."""
from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date


def codes(s, n, text, step=1, start=0):
    """n codes in their order: a number with gaps in a frame of letters."""
    at, out = start, []
    for _ in range(n):
        at += s.r.randint(1, step)
        out.append(text % at)
    return out


@data_set
def winery(s):
    """Vineyards, tanks and bottlings: dense numbers for tanks, plots by cadastre, blends that name their sources."""
    r = s.r
    plots = codes(s, 64, "AC-%04d", 37)
    growers = [1200 + 4 * i for i in range(38)]
    s.put("growers", [{"_id": g, "family": r.choice(LAST), "village": r.choice(CITY)} for g in growers])
    s.put("plots", [{"_id": p, "grapes": r.choice(["Syrah", "Cinsault", "Grenache"]), "ares": r.randint(8, 240),
                     "tendedBy": r.choice(growers), "planted": r.randint(1955, 2018)} for p in plots])
    s.put("tanks", [{"_id": i, "litres": 100 * r.randint(8, 90), "steel": r.random() < .7} for i in range(1, 43)])
    picks = [{"_id": s.oid(), "plot": r.choice(plots), "kg": r.randint(200, 5000), "day": s.day(900, 1400),
              "pressedInto": r.randint(1, 42), "brix": r.randint(180, 260) / 10} for _ in range(900)]
    s.put("picks", picks, "plot")
    cuvees = [{"_id": s.oid(), "label": s.title(1, 3), "vintage": r.randint(2016, 2021), "blend": [
        {"vat": v, "share": r.randint(5, 60)} for v in s.few(range(1, 43), 1, 5)], "oenologist": r.choice(
            ["KM", "BT", "LR"])} for _ in range(140)]
    s.put("cuvees", cuvees)
    s.put("bottlings", [{"_id": "L%05d" % (20000 + 13 * i), "wine": r.choice(cuvees)["_id"],
                         "bottles": 12 * r.randint(20, 900), "cork": r.choice(["natural", "screw"])}
                        for i in range(420)])
    lots = [d["_id"] for d in s.docs["bottlings"]]
    s.put("shipments", [{"_id": s.oid(), "consignee": r.choice(CITY), "pallets": [
        {"lot": r.choice(lots), "cases": r.randint(1, 80)} for _ in range(r.randint(1, 6))], "sent": s.day(1100, 1500)}
                        for _ in range(1300)], "pallets.lot")
    s.ref("""
        plots:tendedBy growers:_id
        picks:plot plots:_id
        picks:pressedInto tanks:_id
        cuvees:blend[].vat tanks:_id
        bottlings:wine cuvees:_id
        shipments:pallets[].lot bottlings:_id""")


@data_set
def theatre(s):
    """A playhouse: seats that live inside of halls, roles inside of plays, a cast by number, subscriptions."""
    r = s.r
    seat = 0
    halls = []
    for i in range(1, 5):
        rows = []
        for _ in range(r.randint(90, 240)):
            seat += 1
            rows.append({"seat": "S%05d" % (7 * seat), "row": "ABCDEFGHJKLMN"[len(rows) // 20], "price": r.randint(1,
                4)})
        halls.append({"_id": i, "name": s.title(1), "plan": rows})
    s.put("halls", halls)
    seats = [x["seat"] for h in halls for x in h["plan"]]
    cast = [300 + 2 * i for i in range(120)]
    s.put("ensemble", [{"_id": c, "stageName": s.person(), "voice": r.choice(["alto", "bass", "tenor", NO]),
                        "since": r.randint(1990, 2019)} for c in cast])
    plays = [{"_id": "%s-%d" % (r.choice(WORD), i), "author": s.person(), "acts": r.randint(1, 5), "roles": [
        {"part": s.title(1), "played": r.choice(cast), "understudy": s.maybe(.5, r.choice(cast))}
        for _ in range(r.randint(3, 14))]} for i in range(60)]
    s.put("plays", plays)
    nights = [{"_id": s.oid(), "piece": r.choice(plays)["_id"], "hall": r.randint(1, 4), "curtain": s.day(700, 1400),
               "sold": r.randint(0, 240)} for _ in range(800)]
    s.put("nights", nights, "curtain")
    subs = [{"_id": s.oid(), "no": 40000 + 17 * i, "holder": s.person(), "tier": r.choice("ABC")} for i in range(900)]
    s.put("subscribers", subs, "!no")
    s.put("bookings", [{"_id": s.oid(), "evening": r.choice(nights)["_id"] if r.random() > .02 else s.oid(),
                        "places": s.few(seats, 1, 4), "sub": s.maybe(.6, r.choice(subs)["no"]),
                        "paid": Cents(r.randint(900, 9000))} for _ in range(7000)], "evening")
    s.ref("""
        plays:roles[].played ensemble:_id
        plays:roles[].understudy ensemble:_id
        nights:piece plays:_id
        nights:hall halls:_id
        bookings:evening nights:_id
        bookings:places[] halls:plan[].seat
        bookings:sub subscribers:no""")


@data_set
def concrete(s):
    """Ready-mixed concrete: trucks by plate, mixes by grade, deliveries in tours, silos of plants."""
    r = s.r
    plants = [s.oid() for _ in range(9)]
    s.put("plants", [{"_id": p, "place": r.choice(CITY), "silos": r.randint(2, 8)} for p in plants])
    mixes = ["C%d/%d-%s%d" % (a, a + 5, x, i) for i, (a, x) in enumerate((a, x) for a in (
        12, 16, 20, 25, 30, 35, 40, 45) for x in ("XC", "XD", "XF", "XA", "XM"))]
    s.put("mixes", [{"_id": m, "cement": r.randint(180, 420), "w": r.randint(40, 60) / 100,
                     "tested": s.day(0, 900)} for m in mixes])
    plates = ["%s-%s %d" % (r.choice(["M", "GR", "LE"]), r.choice(["AB", "KT", "XP"]), 101 + 7 * i) for i in range(55)]
    s.put("trucks", [{"_id": s.oid(), "plate": p, "cbm": r.choice([6, 8, 9, 10]), "garage": r.choice(plants)}
                     for p in plates], "!plate")
    sites = [500 + i for i in range(240)]
    s.put("sites", [{"_id": x, "street": s.title(2), "builder": s.title(2), "foreman": s.person()} for x in sites])
    orders = [{"_id": 90001 + i, "deliverTo": r.choice(sites), "recipe": r.choice(mixes), "cbm": r.randint(2, 80),
               "wanted": s.day(900, 1500)} for i in range(2400)]
    s.put("orders", orders, "deliverTo")
    s.put("drops", [{"_id": s.oid(), "for": r.choice(orders)["_id"], "by": r.choice(plates), "loadedAt": r.choice(
        plants), "cbm": r.choice([4, 6, 8]), "slump": s.maybe(.4, r.randint(30, 220))} for _ in range(6000)], "for")
    s.put("samples", [{"_id": s.oid(), "ticket": str_id(d["_id"]), "mpa": r.randint(12, 60), "age": r.choice([7, 28])}
                      for d in r.choices(s.docs["drops"], k=800)])
    s.ref("""
        trucks:garage plants:_id
        orders:deliverTo sites:_id
        orders:recipe mixes:_id
        drops:for orders:_id
        drops:by trucks:plate
        drops:loadedAt plants:_id
        samples:ticket drops:_id""")


@data_set
def alpine(s):
    """Mountain huts: huts by running number, wardens, trails between huts, nights, rescue calls."""
    r = s.r
    n = 74
    s.put("huts", [{"_id": i, "name": s.title(1) + " Hut", "elevation": r.randint(1400, 3200), "bunks": r.randint(
        12, 180), "warden": r.randint(1, 51), "valley": r.choice(WORD)} for i in range(1, n + 1)])
    s.put("wardens", [{"_id": i, "name": s.person(), "phone": "+41%09d" % r.randrange(10**9)} for i in range(1, 52)])
    trails = [{"_id": "T%d" % (11 * i + 4), "start": r.randint(1, n), "end": r.randint(1, n),
        "grade": "T%d" % r.randint(
        1, 6), "hours": r.randint(2, 18) / 2} for i in range(210)]
    s.put("trails", trails)
    cards = codes(s, 1400, "SAC%07d", 60)
    s.put("members", [{"_id": s.oid(), "card": c, "section": r.choice(CITY), "born": r.randint(1940, 2004)}
                      for c in cards], "!card")
    s.put("stays", [{"_id": s.oid(), "hut": r.randint(1, n), "card": r.choice(cards) if r.random() > .03 else
                     "SAC%07d" % r.randrange(90000, 99999), "night": s.day(500, 1500), "halfBoard": r.random() < .6}
                    for _ in range(6500)], "hut,night")
    s.put("closures", [{"_id": s.oid(), "trail": r.choice(trails)["_id"], "reason": r.choice(["rockfall", "snow"]),
                        "reportedFrom": r.randint(1, n), "from": s.day(900, 1500)} for _ in range(170)])
    s.put("rescues", [{"_id": s.oid(), "on": s.maybe(.8, r.choice(trails)["_id"]), "victims": [
        {"card": s.maybe(.6, r.choice(cards)), "injury": r.choice(["leg", "head", "cold"])} for _ in range(r.randint(
            1, 3))], "callOut": s.day(500, 1500)} for _ in range(320)])
    s.ref("""
        huts:warden wardens:_id
        trails:start huts:_id
        trails:end huts:_id
        stays:hut huts:_id
        stays:card members:card
        closures:trail trails:_id
        closures:reportedFrom huts:_id
        rescues:on trails:_id
        rescues:victims[].card members:card""")


@data_set
def bloodbank(s):
    """Donors, donations, units made of them, requests of wards and what was crossmatched."""
    r = s.r
    sites = ["BD%02d" % (3 * i + 1) for i in range(14)]
    s.put("centres", [{"_id": x, "town": r.choice(CITY), "chairs": r.randint(2, 14)} for x in sites])
    donors = [s.uuid() for _ in range(1100)]
    s.put("donors", [{"_id": d, "group": r.choice(["A+", "0+", "B-", "AB+"]), "birth": text_date(s.day(-15000, -8000)),
                      "home": r.choice(sites)} for d in donors])
    dons = [{"_id": "G%04d%06d" % (2200 + i % 7, 1009 + 31 * i), "donor": r.choice(donors), "at": r.choice(sites),
             "drawn": s.day(800, 1400), "ml": 450, "nurse": "n%02d" % r.randrange(40)} for i in range(3200)]
    s.put("donations", dons, "donor")
    units = [{"_id": s.oid(), "din": d["_id"], "product": r.choice(["RCC", "FFP", "PLT"]), "expires": s.day(1400, 1500)}
             for d in dons for _ in range(r.randint(1, 3))]
    s.put("units", units, "din")
    hosp = [7 * i + 20 for i in range(31)]
    s.put("hospitals", [{"_id": h, "name": s.title(2), "beds": r.randint(40, 900)} for h in hosp])
    reqs = [{"_id": s.oid(), "requester": r.choice(hosp), "urgent": r.random() < .2, "patient": "P%06d" % r.randrange(
        10**6), "crossmatched": [u["_id"] for u in s.few(units, 1, 4)]} for _ in range(1500)]
    s.put("requests", reqs)
    s.put("issues", [{"_id": s.oid(), "request": str_id(q["_id"]), "unit": r.choice(q["crossmatched"]), "courier":
                      s.person(), "left": s.day(1000, 1500)} for q in r.sample(reqs, 1300)])
    s.put("reactions", [{"_id": s.oid(), "unit": r.choice(s.docs["issues"])["unit"], "grade": r.randint(1, 4),
                         "lookback": r.choice(donors)} for _ in range(140)])
    s.ref("""
        donors:home centres:_id
        donations:donor donors:_id
        donations:at centres:_id
        units:din donations:_id
        requests:requester hospitals:_id
        requests:crossmatched[] units:_id
        issues:request requests:_id
        issues:unit units:_id
        reactions:unit units:_id
        reactions:lookback donors:_id""")


@data_set
def permanentway(s):
    """Track maintenance: lines, points by line and number, gangs, possessions, defects found by a train."""
    r = s.r
    lines = ["%s%d" % (r.choice("NSEW"), 100 + 9 * i) for i in range(28)]
    s.put("lines", [{"_id": x, "from": r.choice(CITY), "to": r.choice(CITY), "km": r.randint(8, 160)} for x in lines])
    pts = [{"_id": s.oid(), "line": x, "no": k, "type": r.choice(["UIC60-300", "UIC54-190"]), "km": r.randint(
        0, 160000) / 1000} for x in lines for k in range(1, r.randint(12, 40))]
    s.put("points", pts, "!line,no")
    gangs = list(range(1, 36))
    s.put("gangs", [{"_id": g, "depot": r.choice(CITY), "lead": s.person(), "men": r.randint(4, 14)} for g in gangs])
    poss = [{"_id": s.oid(), "track": r.choice(lines), "start": s.day(900, 1500), "hours": r.randint(2, 9),
             "assigned": s.few(gangs, 1, 3)} for _ in range(900)]
    s.put("possessions", poss, "track")
    s.put("checks", [{"_id": s.oid(), "line": p["line"], "no": p["no"], "gauge": 1435 + r.randint(-4, 6), "doneBy":
                      r.choice(gangs), "done": s.day(800, 1500)} for p in r.choices(pts, k=4200)], "line,no")
    defects = [{"_id": "D-%06d" % (100 + 17 * i), "track": r.choice(lines), "km": r.randint(0, 160000) / 1000, "kind":
                r.choice(["squat", "crack", "twist"]), "fixedIn": s.maybe(.6, r.choice(poss)["_id"])}
               for i in range(1700)]
    s.put("defects", defects)
    s.put("photos", [{"_id": s.oid(), "shows": r.choice(defects)["_id"], "file": "IMG%06d.jpg" % r.randrange(10**6)}
                     for _ in range(2500)])
    s.ref("""
        points:line lines:_id
        possessions:track lines:_id
        possessions:assigned[] gangs:_id
        checks:line+no points:line+no
        checks:line lines:_id
        checks:doneBy gangs:_id
        defects:track lines:_id
        defects:fixedIn possessions:_id
        photos:shows defects:_id""")


@data_set
def ferry(s):
    """A ferry line: ports by letters, ships by IMO number, crossings, cabins inside of ships, vehicles on board."""
    r = s.r
    ports = ["GOT", "KIE", "TRE", "ROS", "HEL", "TLL", "STO", "MHN", "TUR", "VIS"]
    s.put("ports", [{"_id": p, "berths": r.randint(1, 6), "agent": s.title(2)} for p in ports])
    cab = 0
    ships = []
    for i in range(11):
        rooms = []
        for _ in range(r.randint(60, 120)):
            cab += 1
            rooms.append({"key": 10000 + 3 * cab, "deck": r.randint(5, 9), "beds": r.choice([2, 2, 4])})
        ships.append({"_id": 9000013 + 11111 * i, "name": s.title(1), "lanes": 100 * r.randint(8, 30), "cabins": rooms})
    s.put("ships", ships)
    keys = [c["key"] for x in ships for c in x["cabins"]]
    legs = [{"_id": s.oid(), "dep": a, "arr": b, "imo": r.choice(ships)["_id"], "sails": s.day(900, 1500), "master":
             "cpt%02d" % r.randrange(18)} for _ in range(1200) for a, b in [r.sample(ports, 2)]]
    s.put("legs", legs, "sails")
    s.put("officers", [{"_id": "cpt%02d" % i, "fullName": s.person(), "ticket": r.choice(["II/2", "III/2"])}
                       for i in range(18)])
    pax = [{"_id": s.oid(), "leg": str_id(r.choice(legs)["_id"]), "cabin": s.maybe(.5, r.choice(keys)), "adults":
            r.randint(1, 5), "car": s.maybe(.5, {"reg": "%s%03d" % (r.choice(WORD)[:3].upper(), r.randrange(999)),
                                                 "cm": r.randint(300, 900)})} for _ in range(6500)]
    s.put("passages", pax, "leg")
    s.put("complaints", [{"_id": i, "about": r.choice(pax)["_id"], "text": s.words(3, 12), "handled": s.maybe(
        .7, "cpt%02d" % r.randrange(18))} for i in range(1, 261)])
    s.ref("""
        legs:dep ports:_id
        legs:arr ports:_id
        legs:imo ships:_id
        legs:master officers:_id
        passages:leg legs:_id
        passages:cabin ships:cabins[].key
        complaints:about passages:_id
        complaints:handled officers:_id""")


@data_set
def patents(s):
    """Patent files: applications, families by number, inventors, examiners by initials, citations both ways."""
    r = s.r
    ipc = ["%s%02dB %d/%02d" % (r.choice("ABCDEFGH"), i % 99, 1 + i % 30, i % 50) for i in range(300)]
    s.put("ipc", [{"_id": c, "text": s.words(3, 8)} for c in sorted(set(ipc))])
    ipc = sorted(set(ipc))
    ex = sorted({a + b + c for a in "KLMNP" for b in "AEIOU" for c in "RST"})[:60]
    s.put("examiners", [{"_id": i + 1, "sign": e, "unit": r.randint(1, 9)} for i, e in enumerate(ex)], "!sign")
    inv = [s.oid() for _ in range(1300)]
    s.put("inventors", [{"_id": i, "surname": r.choice(LAST), "given": r.choice(FIRST), "land": r.choice(COUNTRY)}
                        for i in inv])
    fam = [60000000 + 113 * i for i in range(700)]
    s.put("families", [{"_id": f, "title": s.title(3, 8), "earliest": s.day(-4000, 900)} for f in fam])
    apps = []
    for i in range(2600):
        apps.append({"_id": "EP%07d" % (1000 + 29 * i), "docdb": r.choice(fam), "examiner": r.choice(ex), "inventors":
                     s.few(inv, 1, 5), "classes": s.few(ipc, 1, 6), "divisionalOf": s.maybe(
                         .08, apps[r.randrange(i)]["_id"]) if i > 50 else NO, "filed": s.day(-3000, 1000)})
    s.put("applications", apps, "docdb")
    s.put("citations", [{"_id": s.oid(), "citing": a["_id"], "cited": b["_id"], "cat": r.choice("XYA")} for a, b in (
        r.sample(apps, 2) for _ in range(5200))], "citing")
    s.put("fees", [{"_id": s.oid(), "file": r.choice(apps)["_id"] if r.random() > .01 else "EP%07d" % r.randrange(
        8 * 10**6, 9 * 10**6), "year": r.randint(3, 20), "eur": r.randint(400, 1600)} for _ in range(4000)])
    s.ref("""
        applications:docdb families:_id
        applications:examiner examiners:sign
        applications:inventors[] inventors:_id
        applications:classes[] ipc:_id
        applications:divisionalOf applications:_id
        citations:citing applications:_id
        citations:cited applications:_id
        fees:file applications:_id""")


@data_set
def apiary(s):
    """A bee keeper: yards and hives by running number, queens with their mothers, visits, honey by hive."""
    r = s.r
    yards, hives = 17, 260
    s.put("yards", [{"_id": i, "owner": s.person(), "lat": round(r.uniform(46, 48), 5)} for i in range(1, yards + 1)])
    queens = []
    for i in range(410):
        queens.append({"_id": "%s%03d" % (r.choice("WYRGB"), i), "line": r.choice(["carnica", "buckfast"]),
            "dam": s.maybe(
            .8, queens[r.randrange(i)]["_id"]) if i > 20 else NO, "hatched": s.day(0, 1200)})
    s.put("queens", queens)
    s.put("hives", [{"_id": i, "stands": r.randint(1, yards), "headedBy": s.maybe(.9, r.choice(queens)["_id"]),
                     "frames": r.randint(8, 12)} for i in range(1, hives + 1)])
    s.put("visits", [{"_id": s.oid(), "colony": r.randint(1, hives), "when": s.day(600, 1400), "mood": r.randint(1, 4),
                      "brood": r.randint(0, 9), "seenQueen": s.maybe(.3, r.choice(queens)["_id"])}
                     for _ in range(5200)], "when")
    s.put("drugs", [{"_id": "%s-%d" % (w[:4].upper(), i), "agent": w} for i, w in enumerate(r.sample(WORD, 24))])
    drugs = [d["_id"] for d in s.docs["drugs"]]
    s.put("treatments", [{"_id": s.oid(), "yard": r.randint(1, yards), "used": r.choice(drugs), "ml": r.randint(2, 50),
                          "hives": s.few(range(1, hives + 1), 2, 12)} for _ in range(420)])
    s.put("harvests", [{"_id": s.oid(), "supers": [{"hive": h, "kg": r.randint(4, 30)} for h in s.few(range(
        1, hives + 1), 2, 9)], "sort": r.choice(["lime", "rape", "forest"]), "jarLot": "J%04d" % (5 * i + 3)}
                         for i in range(190)])
    s.ref("""
        queens:dam queens:_id
        hives:stands yards:_id
        hives:headedBy queens:_id
        visits:colony hives:_id
        visits:seenQueen queens:_id
        treatments:yard yards:_id
        treatments:used drugs:_id
        treatments:hives[] hives:_id
        harvests:supers[].hive hives:_id""")


@data_set
def letters(s):
    """An edition of letters: correspondents by authority number, places, shelf marks of folders inside of boxes."""
    r = s.r
    gnd = ["11%07d%s" % (1009 * i + 70, r.choice("0123456789X")) for i in range(480)]
    s.put("correspondents", [{"_id": s.oid(), "gnd": g, "name": s.person(), "born": r.randint(1720, 1840)}
                             for g in gnd], "!gnd")
    geo = [2800000 + 777 * i for i in range(130)]
    s.put("gazetteer", [{"_id": g, "place": r.choice(CITY) + " " + s.words(1), "lat": r.uniform(40, 60)} for g in geo])
    boxes, marks = [], []
    for b in range(1, 39):
        z = ["Ms. germ. %d/%d" % (b * 10 + 3, k) for k in range(1, r.randint(6, 20))]
        marks += z
        boxes.append({"_id": "K%02d" % b, "room": r.choice(["cellar", "tower"]), "folders": [
            {"shelfmark": m, "leaves": r.randint(2, 90)} for m in z]})
    s.put("boxes", boxes)
    lets = []
    for i in range(3300):
        lets.append({"_id": 1 + i, "sender": r.choice(gnd), "addressee": r.choice(gnd), "writtenIn": s.maybe(
            .8, r.choice(geo)), "sentTo": s.maybe(.7, r.choice(geo)), "kept": r.choice(marks), "answers": s.maybe(
                .3, 1 + r.randrange(i)) if i > 30 else NO, "mentions": s.few(gnd, 0, 4), "date": text_date(
                    s.day(-80000, -60000))})
    s.put("letters", lets, "sender")
    s.put("transcripts", [{"_id": s.oid(), "letter": i, "editor": r.choice(["jb", "mw", "ks"]), "tei": s.words(20, 60)}
                          for i in r.sample(range(1, 3301), 1200)])
    s.put("facsimiles", [{"_id": s.oid(), "of": r.randint(1, 3300), "leaf": r.randint(1, 8), "iiif": s.words(1)}
                         for _ in range(4100)])
    s.ref("""
        letters:sender correspondents:gnd
        letters:addressee correspondents:gnd
        letters:writtenIn gazetteer:_id
        letters:sentTo gazetteer:_id
        letters:kept boxes:folders[].shelfmark
        letters:answers letters:_id
        letters:mentions[] correspondents:gnd
        transcripts:letter letters:_id
        facsimiles:of letters:_id""")


@data_set
def divecentre(s):
    """A dive centre: divers by licence, sites, boats, gear sets that are lent, courses and who passed."""
    r = s.r
    lic = ["PADI-%06d" % (1000 + 53 * i) for i in range(640)]
    s.put("divers", [{"_id": s.oid(), "licence": x, "called": s.person(), "level": r.choice(["OWD", "AOWD", "DM"])}
                     for x in lic], "!licence")
    s.put("spots", [{"_id": i, "reef": s.title(2), "depth": r.randint(6, 48)} for i in range(1, 32)])
    s.put("boats", [{"_id": i, "name": s.title(1), "seats": r.randint(8, 24)} for i in range(1, 7)])
    staff = ["%s%s" % (r.choice(FIRST)[:2], r.choice(LAST)[:2]) + str(i) for i in range(23)]
    s.put("staff", [{"_id": x, "lang": s.few(["en", "de", "fr", "it"], 1, 3)} for x in staff])
    gear = ["%s%03d" % (k, 4 * i + 1) for k in ("BCD", "REG", "SUIT") for i in range(45)]
    s.put("gear", [{"_id": g, "size": r.choice("SMLX"), "bought": s.day(0, 900), "serviced": s.day(900, 1300)}
                   for g in gear])
    outs = [{"_id": s.oid(), "boat": r.randint(1, 6), "stops": s.few(range(1, 32), 1, 3), "guide": r.choice(staff),
             "leaves": s.day(900, 1400)} for _ in range(700)]
    s.put("outings", outs)
    s.put("dives", [{"_id": s.oid(), "outing": r.choice(outs)["_id"], "diver": r.choice(lic), "buddy": s.maybe(
        .9, r.choice(lic)), "site": r.randint(1, 31), "kit": s.few(gear, 0, 3), "max": r.randint(8, 40), "bar":
        r.randint(30, 90)} for _ in range(6000)], "outing")
    s.put("courses", [{"_id": s.oid(), "teaches": r.choice(["OWD", "AOWD"]), "instructor": r.choice(staff), "pupils": [
        {"who": d["_id"], "passed": r.random() < .9} for d in s.few(s.docs["divers"], 2, 8)]} for _ in range(160)])
    s.ref("""
        outings:boat boats:_id
        outings:stops[] spots:_id
        outings:guide staff:_id
        dives:outing outings:_id
        dives:diver divers:licence
        dives:buddy divers:licence
        dives:site spots:_id
        dives:kit[] gear:_id
        courses:instructor staff:_id
        courses:pupils[].who divers:_id""")


@data_set
def windfarm(s):
    """Wind turbines: parks, turbines with components inside, alarms by code, work orders, crews, parts used."""
    r = s.r
    parks = ["WP-%s" % w.upper() for w in r.sample(WORD, 12)]
    s.put("parks", [{"_id": p, "grid": r.choice(["110kV", "20kV"]), "opened": s.day(-2000, 0)} for p in parks])
    comp, turbines = 0, []
    for i in range(150):
        z = []
        for k in ("gearbox", "generator", "blade", "blade", "blade"):
            comp += 1
            z.append({"serial": "%s%07d" % (k[:2].upper(), 41 * comp), "kind": k})
        turbines.append({"_id": 1 + i, "park": r.choice(parks), "model": r.choice(["V90", "E82"]), "parts": z})
    s.put("turbines", turbines)
    serials = [p["serial"] for t in turbines for p in t["parts"]]
    s.put("alarmcodes", [{"_id": 100 + 7 * i, "text": s.words(2, 5), "stops": r.random() < .4} for i in range(90)])
    s.put("alarms", [{"_id": s.oid(), "wtg": r.randint(1, 150), "code": 100 + 7 * r.randrange(90), "raised": s.day(
        900, 1500), "wind": r.randint(20, 250) / 10} for _ in range(9000)], "raised")
    techs = [s.oid() for _ in range(44)]
    s.put("technicians", [{"_id": t, "name": s.person(), "climb": s.day(1000, 1500)} for t in techs])
    jobs = [{"_id": 300000 + i, "turbine": r.randint(1, 150), "team": s.few(techs, 2, 3), "cause": s.maybe(
        .5, r.choice(s.docs["alarms"])["_id"]), "replaced": s.few(serials, 0, 2), "hours": r.randint(1, 30)}
            for i in range(1700)]
    s.put("workorders", jobs, "turbine")
    s.put("oil", [{"_id": s.oid(), "drawnFrom": r.choice(serials) if r.random() > .02 else "GE%07d" % r.randrange(
        5 * 10**6, 6 * 10**6), "fe": r.randint(1, 90), "wo": r.choice(jobs)["_id"]} for _ in range(800)])
    s.ref("""
        turbines:park parks:_id
        alarms:wtg turbines:_id
        alarms:code alarmcodes:_id
        workorders:turbine turbines:_id
        workorders:team[] technicians:_id
        workorders:cause alarms:_id
        workorders:replaced[] turbines:parts[].serial
        oil:drawnFrom turbines:parts[].serial
        oil:wo workorders:_id""")


@data_set
def foodbank(s):
    """A food bank: households by card, pantries, pallets given by shops, parcels, shifts of volunteers."""
    r = s.r
    s.put("pantries", [{"_id": i, "street": s.title(2), "open": r.choice(["Mo", "Th", "Sa"])} for i in range(1, 14)])
    hh = [s.oid() for _ in range(900)]
    s.put("households", [{"_id": h, "card": "FB%05d" % (3 * i + 8), "adults": r.randint(1, 4), "kids": r.randint(0, 5),
                          "collectsAt": r.randint(1, 13)} for i, h in enumerate(hh)], "!card")
    cards = [d["card"] for d in s.docs["households"]]
    shops = ["%s%d" % (r.choice(["aldo", "lido", "merca", "coopa"]), 100 + 9 * i) for i in range(46)]
    s.put("shops", [{"_id": x, "chain": x.rstrip("0123456789"), "contact": s.person()} for x in shops])
    items = [{"_id": 1 + i, "label": s.words(1, 2), "kcal": r.randint(30, 900)} for i in range(330)]
    s.put("items", items)
    gifts = [{"_id": s.oid(), "giver": r.choice(shops), "content": [{"item": 1 + r.randrange(330), "boxes": r.randint(
        1, 20)} for _ in range(r.randint(1, 7))], "in": s.day(900, 1400)} for _ in range(1600)]
    s.put("gifts", gifts, "giver")
    vols = ["v.%s%d" % (r.choice(LAST).lower(), i) for i in range(95)]
    s.put("volunteers", [{"_id": v, "drives": r.random() < .3, "joined": s.day(0, 900)} for v in vols])
    s.put("parcels", [{"_id": s.oid(), "handedTo": r.choice(cards) if r.random() > .02 else "FB%05d" % r.randrange(
        5000, 9000), "packedBy": r.choice(vols), "goods": [{"no": 1 + r.randrange(330), "qty": r.randint(1, 4)}
        for _ in range(r.randint(3, 9))], "pantry": r.randint(1, 13)} for _ in range(4200)], "handedTo")
    s.put("rota", [{"_id": s.oid(), "day": s.day(1000, 1400), "where": r.randint(1, 13), "crew": s.few(vols, 2, 6),
                    "lead": r.choice(vols)} for _ in range(700)])
    s.ref("""
        households:collectsAt pantries:_id
        gifts:giver shops:_id
        gifts:content[].item items:_id
        parcels:handedTo households:card
        parcels:packedBy volunteers:_id
        parcels:goods[].no items:_id
        parcels:pantry pantries:_id
        rota:where pantries:_id
        rota:crew[] volunteers:_id
        rota:lead volunteers:_id""")


@data_set
def observatory(s):
    """Telescope time: proposals, targets by catalogue, exposures as rows with numbers, filters, nights."""
    r = s.r
    obj = ["NGC %d" % (2 * i + 31) for i in range(210)] + ["HD %d" % (10007 + 97 * i) for i in range(260)]
    s.put("catalogue", [{"_id": s.oid(), "designation": o, "ra": r.uniform(0, 360), "dec": r.uniform(-90, 90),
                         "mag": r.randint(20, 180) / 10} for o in obj], "!designation")
    pis = ["%s_%s" % (r.choice(FIRST)[0].lower(), x.lower()) for x in LAST]
    pis = sorted(set(pis))
    s.put("astronomers", [{"_id": p, "institute": r.choice(CITY) + " Observatory"} for p in pis])
    props = ["%d.%s-%04d" % (100 + i % 8, r.choice("ABCD"), 11 * i + 5) for i in range(170)]
    s.put("proposals", [{"_id": p, "pi": r.choice(pis), "cois": s.few(pis, 0, 5), "hours": r.randint(2, 40), "targets":
                         s.few(obj, 1, 8)} for p in props])
    s.put("filters", [{"_id": f, "nm": 300 + 31 * i, "slot": i + 1} for i, f in enumerate(["U", "B", "V", "R", "I",
        "z"])])
    nights = ["20%02d-%02d-%02d" % (20 + i // 336, 1 + i % 336 // 28, 1 + i % 28) for i in range(500)]
    s.put("nightlog", [{"_id": n, "observer": r.choice(pis), "seeing": r.randint(5, 30) / 10, "lost": r.randint(0, 9)}
                       for n in nights])
    exps = [{"_id": Long(7000000000 + 3 * i), "object": r.choice(obj), "prog": r.choice(props), "night": r.choice(
        nights), "band": r.choice("UBVRIz"), "sec": r.choice([10, 60, 300, 900])} for i in range(6200)]
    s.put("exposures", exps, "object")
    s.put("reductions", [{"_id": s.oid(), "frames": [e["_id"] for e in s.few(exps, 2, 6)], "flat": r.choice(
        exps)["_id"], "by": r.choice(pis), "version": "1.%d" % r.randint(0, 7)} for _ in range(900)])
    s.ref("""
        proposals:pi astronomers:_id
        proposals:cois[] astronomers:_id
        proposals:targets[] catalogue:designation
        nightlog:observer astronomers:_id
        exposures:object catalogue:designation
        exposures:prog proposals:_id
        exposures:night nightlog:_id
        exposures:band filters:_id
        reductions:frames[] exposures:_id
        reductions:flat exposures:_id
        reductions:by astronomers:_id""")


@data_set
def printshop(s):
    """A print shop: jobs by number and year, papers, presses by running number, plates, proofs, invoices."""
    r = s.r
    cl = ["C%04d" % (7 * i + 12) for i in range(310)]
    s.put("clients", [{"_id": c, "firm": s.title(2), "vat": "EU%08d" % r.randrange(10**8)} for c in cl])
    s.put("presses", [{"_id": i, "maker": r.choice(["HD", "KBA", "MAN"]), "colours": r.choice([1, 2, 4, 5, 8]), "sheet":
                       r.choice(["B1", "B2"])} for i in range(1, 10)])
    papers = [{"_id": 1 + i, "brand": s.title(1), "gsm": r.choice([80, 90, 115, 170, 300]), "coated": r.random() < .5}
              for i in range(88)]
    s.put("papers", papers)
    jobs = [{"_id": s.oid(), "jobNo": "%d/%05d" % (2019 + i // 700, 100 + 3 * (i % 700)), "orderedFor": r.choice(cl),
             "stock": 1 + r.randrange(88), "cover": s.maybe(.4, 1 + r.randrange(88)), "copies": 100 * r.randint(1, 90),
             "runs": [{"press": r.randint(1, 9), "sheets": r.randint(100, 9000), "operator": r.choice(
                 ["jt", "ma", "rk", "vs"])} for _ in range(r.randint(1, 4))]} for i in range(2800)]
    s.put("jobs", jobs, "!jobNo", "orderedFor")
    nos = [j["jobNo"] for j in jobs]
    s.put("plates", [{"_id": s.oid(), "job": r.choice(nos), "colour": r.choice("CMYK"), "made": s.day(900, 1500)}
                     for _ in range(6000)], "job")
    proofs = [{"_id": s.uuid(), "job": r.choice(jobs)["_id"], "sheetNo": r.randint(1, 16), "ok": r.random() < .8}
              for _ in range(1900)]
    s.put("proofs", proofs)
    s.put("annotations", [{"_id": s.oid(), "on": str(r.choice(proofs)["_id"]), "note": s.words(2, 9)}
                          for _ in range(1400)], "on")
    s.put("invoices", [{"_id": 20200001 + i, "billTo": r.choice(cl) if r.random() > .02 else "C%04d" % r.randrange(
        5000, 9000), "lines": [{"ref": r.choice(nos), "eur": Cents(r.randint(900, 90000))} for _ in range(r.randint(
            1, 4))]} for i in range(1300)])
    s.ref("""
        jobs:orderedFor clients:_id
        jobs:stock papers:_id
        jobs:cover papers:_id
        jobs:runs[].press presses:_id
        plates:job jobs:jobNo
        proofs:job jobs:_id
        annotations:on proofs:_id
        invoices:billTo clients:_id
        invoices:lines[].ref jobs:jobNo""")
