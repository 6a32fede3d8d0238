# SPDX-License-Identifier: Apache-2.0
"""blind_fourth.py - ten sets after object mappers, servers and imports in use, written without regard to the rules."""
import datetime

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


@data_set
def dating(s):
    """An app to meet people on Mongoose: swipes, matches of two, gifts by number, reports with ids as text."""
    r = s.r
    likes = [s.oid() for _ in range(48)]
    s.put("interests", [{"_id": x, "name": w, "emoji": r.random() < .5, "__v": 0} for x, w in zip(likes, WORD)])
    keys = ["%s_%dm" % (a, m) for a in ("plus", "gold", "platinum") for m in (1, 3, 6, 12)]
    s.put("plans", [{"_id": s.oid(), "key": k, "priceCents": 500 * i + 499, "superLikes": r.choice([1, 5, 10])}
                    for i, k in enumerate(keys, 1)], "!key")
    gifts = list(range(1, 31))
    s.put("gifts", [{"_id": g, "name": s.title(1, 2), "coins": r.choice([5, 10, 20, 50])} for g in gifts])
    mods = sorted({"%s.%s" % (a.lower(), b[0].lower()) for a, b in zip(r.sample(FIRST, 14), r.sample(LAST, 14))})
    s.put("moderators", [{"_id": m, "lang": r.choice(["en", "de", "es"]), "shift": r.randint(1, 3)} for m in mods])
    ids, users = [s.oid() for _ in range(2400)], []
    for i, x in enumerate(ids):
        users.append({"_id": x, "email": "%s%d@mail.example" % (s.words(1), i), "firstName": r.choice(FIRST),
                      "birthYear": r.randint(1960, 2003), "gender": r.choice("fmx"), "interests": s.few(likes, 0, 8),
                      "photos": [{"_id": s.oid(), "url": "https://cdn.example/%012x.jpg" % r.getrandbits(48),
                                  "order": k} for k in range(r.randint(1, 6))],
                      "preferences": {"ageMin": r.randint(18, 40), "ageMax": r.randint(41, 80),
                                      "distanceKm": r.choice([5, 10, 25, 50, 100])},
                      "loc": {"type": "Point", "coordinates": [r.uniform(5, 15), r.uniform(45, 54)]},
                      "blocked": s.few(ids, 1, 5) if r.random() < .15 else [], "coins": r.randint(0, 300),
                      "facebookId": s.maybe(.5, "10%015d" % r.randrange(10**15)), "city": r.choice(CITY),
                      "premium": s.maybe(.2, {"planKey": s.skew(keys), "until": s.day(1000, 1400)}),
                      "invitedBy": s.maybe(.1, r.choice(ids[:i])) if i else NO, "__v": r.randint(0, 9)})
    s.put("users", users, "!email", "premium.planKey")
    gone = [s.oid() for _ in range(90)]
    s.put("swipes", [{"_id": s.oid(), "from": s.skew(ids, 1.3), "to": r.choice(ids if r.random() > .03 else gone),
                      "action": s.skew(["pass", "like", "super"]), "at": s.day(800, 1000)} for _ in range(15000)],
          "from,to", "to")
    matches = [{"_id": s.oid(), "users": r.sample(ids, 2), "score": r.randint(1, 100), "createdAt": s.day(800, 990)}
               for _ in range(1800)]
    messages = []
    for m in matches:
        for _ in range(int(14 * r.random() ** 2)):
            messages.append({"_id": s.oid(), "match": m["_id"], "sender": r.choice(m["users"]), "text": s.words(2, 12),
                             "gift": s.maybe(.06, s.skew(gifts)), "hearts": r.choice([0, 0, 0, 1, 2]),
                             "readAt": s.maybe(.8, s.day(900, 1000)), "__v": 0})
            m["lastMessage"] = messages[-1]["_id"]
        m["unmatchedBy"] = s.maybe(.1, r.choice(m["users"]))
    s.put("matches", matches, "users")
    s.put("messages", messages, "match,-_id")
    reports = []
    for _ in range(480):
        u = s.skew(users)
        reports.append({"_id": s.oid(), "reporter": r.choice(ids), "reported": str_id(u["_id"]),
                        "photo": s.maybe(.3, r.choice(u["photos"])["_id"]), "reason": r.randint(1, 6),
                        "handledBy": s.maybe(.8, r.choice(mods)), "note": s.words(0, 8)})
    s.put("reports", reports)
    s.ref("""
        users:interests[] interests:_id
        users:blocked[] users:_id
        users:premium.planKey plans:key
        users:invitedBy users:_id
        swipes:from users:_id
        swipes:to users:_id
        matches:users[] users:_id
        matches:lastMessage messages:_id
        matches:unmatchedBy users:_id
        messages:match matches:_id
        messages:sender users:_id
        messages:gift gifts:_id
        reports:reporter users:_id
        reports:reported users:_id
        reports:handledBy moderators:_id""")
    s.allow("reports:photo users:photos[]._id")


@data_set
def auctions(s):
    """An auction house on Spring Data: lots by sale and number, bidders by sale and paddle, clients by number."""
    r = s.r
    kinds = ["CERAMICS", "WATCHES", "WINE", "PRINTS", "JEWELS", "BOOKS", "ASIAN"]
    sales = ["%s-%d-%s" % (r.choice(["GVA", "LON", "VIE"]), 2018 + i // 14, kinds[i % 7] + "12"[i // 7 % 2:][:1])
             for i in range(56)]
    depts = list(range(1, 19))
    s.put("department", [{"_id": d, "name": s.title(1), "_class": "com.hammer.model.Department"} for d in depts])
    staff = sorted({(a[:1] + b[:2]).upper() for a, b in zip(FIRST, r.sample(LAST, 40))})
    s.put("specialist", [{"_id": x, "name": s.person(), "departmentId": r.choice(depts)} for x in staff])
    s.put("sale", [{"_id": x, "title": s.title(3), "startsAt": s.day(25 * i, 25 * i + 20), "premiumPct": r.choice(
        [20, 25, 27]), "auctioneer": r.choice(staff), "_class": "com.hammer.model.Sale"} for i, x in enumerate(sales)])
    clients = [{"_id": s.oid(), "clientNo": 100012 + 13 * i, "name": s.person(), "country": r.choice(COUNTRY),
                "vatId": s.maybe(.2, "ATU%08d" % r.randrange(10**8)), "creditLimit": 1000 * r.randint(1, 200),
                "_class": "com.hammer.model.Client"} for i in range(1600)]
    s.put("client", clients, "!clientNo")
    slugs = sorted({"%s-%s" % (r.choice(FIRST).lower(), r.choice(LAST).lower()) for _ in range(230)})
    artists = [{"_id": s.oid(), "slug": x, "name": s.person(), "born": r.randint(1600, 1970)} for x in slugs]
    s.put("artist", artists, "!slug")
    cons = [{"_id": s.oid(), "consignorNo": s.skew(clients)["clientNo"], "receivedAt": s.day(0, 1400),
             "specialist": r.choice(staff), "commissionPct": r.choice([8, 10, 15])} for _ in range(700)]
    s.put("consignment", cons, "consignorNo")
    regs, lots, bids = [], [], []
    for x in sales:
        mine = [{"_id": s.oid(), "saleId": x, "paddle": 101 + k, "clientId": c["_id"],
                 "depositPaid": r.random() < .6, "channel": r.choice(["ROOM", "ONLINE", "PHONE"])}
                for k, c in enumerate(s.few(clients, 30, 80))]
        regs += mine
        for n in range(1, r.randint(50, 120)):
            low, a = r.choice([100, 200, 500, 1000, 5000]), s.skew(artists)
            price, lot = low, {"_id": s.oid(), "saleId": x, "lotNo": n, "title": s.title(2, 5)}
            for k in range(int(8 * r.random() ** 2)):
                price += low // 10
                b = r.choice(mine)["paddle"] if r.random() > .004 else 900
                bids.append({"_id": s.oid(), "saleId": x, "lotNo": n, "paddle": b, "amount": price, "seq": k + 1})
                lot["hammerPrice"], lot["buyerPaddle"] = price, b
            lot.update({"artist": s.maybe(.6, {"slug": a["slug"], "name": a["name"] if r.random() > .02
                                               else a["name"].split()[1]}), "estimateLow": low, "estimateHigh": 2 * low,
                        "departmentId": r.choice(depts), "consignmentId": str_id(r.choice(cons)["_id"]),
                        "reoffered": r.choice(lots)["_id"] if lots and r.random() < .05 else NO,
                        "year": s.maybe(.4, r.randint(1700, 2000)), "_class": "com.hammer.model.Lot"})
            lots.append(lot)
    s.put("registration", regs, "!saleId,paddle", "clientId")
    s.put("lot", lots, "!saleId,lotNo", "consignmentId")
    s.put("bid", bids, "saleId,lotNo,-amount")
    s.put("watchlist", [{"_id": c["_id"], "lots": [x["_id"] for x in s.few(lots, 1, 15)]}
                        for c in r.sample(clients, 520)])
    s.put("invoice", [{"_id": 20180001 + 3 * i, "saleId": r.choice(sales), "clientNo": r.choice(clients)["clientNo"],
                       "lines": [{"lotNo": n, "hammer": 100 * r.randint(1, 90), "premium": Cents(r.randint(900, 90000))}
                                 for n in s.few(range(1, 120), 1, 5)], "paidOn": s.maybe(.9, s.day(100, 1400))}
                      for i in range(1100)], "clientNo")
    s.ref("""
        specialist:departmentId department:_id
        sale:auctioneer specialist:_id
        consignment:consignorNo client:clientNo
        consignment:specialist specialist:_id
        registration:saleId sale:_id
        registration:clientId client:_id
        lot:saleId sale:_id
        lot:departmentId department:_id
        lot:consignmentId consignment:_id
        lot:artist.slug artist:slug
        lot:reoffered lot:_id
        lot:saleId+buyerPaddle registration:saleId+paddle
        bid:saleId sale:_id
        bid:saleId+lotNo lot:saleId+lotNo
        bid:saleId+paddle registration:saleId+paddle
        watchlist:_id client:_id
        watchlist:lots[] lot:_id
        invoice:saleId sale:_id
        invoice:clientNo client:clientNo""")
    s.copy("lot:artist.slug artist:slug artist.name name")


@data_set
def festival(s):
    """Tickets on Parse Server: ids of ten letters, pointers in lists, class and id in one text, rights by user."""
    r = s.r

    def made(n):
        return ["".join(r.choices(LETTERS, k=10)) for _ in range(n)]

    def stamp(doc, lo=500, hi=1000):
        at = s.day(lo, hi)
        return dict(doc, _created_at=at, _updated_at=at + datetime.timedelta(minutes=r.randint(0, 9000)))

    users, venues, artists, events, types = made(900), made(24), made(180), made(60), made(210)
    s.put("_User", [stamp({"_id": u, "username": "%s%d" % (s.words(1), 3 * i), "_hashed_password": "$2y$10$" + "".join(
        r.choices(LETTERS, k=53)), "emailVerified": r.random() < .8, "points": r.randint(0, 500),
                           "invitedBy": s.maybe(.2, r.choice(users[:80])) if i > 80 else NO,
                           "_auth_data_facebook": s.maybe(.3, {"id": "%d" % r.randrange(10**15, 10**16)})})
                    for i, u in enumerate(users)], "!username")
    names = "Admin Organizer Scanner Press Artist Guest Crew Bar Medic Security".split()
    s.put("_Role", [stamp({"_id": x, "name": n, "_rperm": ["*"], "_wperm": ["role:Admin"]})
                    for x, n in zip(made(10), names)])
    s.put("Venue", [stamp({"_id": v, "name": s.title(2), "capacity": 100 * r.randint(2, 90), "city": c})
                    for v, c in zip(venues, CITY)])
    s.put("Artist", [stamp({"_id": a, "name": s.title(1, 3), "genre": r.choice(["rock", "folk", "techno"]),
                            "spotifyId": s.maybe(.8, "".join(r.choices(LETTERS, k=22)))}) for a in artists])
    s.put("Event", [stamp({"_id": e, "title": s.title(2, 4), "_p_venue": "Venue$" + s.skew(venues), "lineup": [
        {"__type": "Pointer", "className": "Artist", "objectId": a} for a in s.few(artists, 1, 9)],
                           "starts": s.day(700, 1000), "minAge": r.choice([0, 16, 18]), "_rperm": ["*"],
                           "_wperm": ["role:Organizer"], "ownerId": r.choice(users[:60])}) for e in events])
    kind = {t: r.choice(events) if i >= 60 else events[i] for i, t in enumerate(types)}
    s.put("TicketType", [stamp({"_id": t, "eventId": e, "label": r.choice(["Early", "Regular", "VIP", "Day"]),
                                "priceCents": 500 * r.randint(2, 40), "quota": r.randint(50, 900)})
                         for t, e in kind.items()], "eventId")
    orders, tickets = [], []
    for o in made(2600):
        u, lines = s.skew(users, 1.4), s.few(types, 1, 3)
        orders.append(stamp({"_id": o, "_p_buyer": "_User$" + u, "chargeId": "ch_" + "".join(r.choices(LETTERS, k=24)),
                             "items": [{"ticketType": t, "qty": r.randint(1, 3)} for t in lines],
                             "_acl": {u: {"r": True, "w": True}}, "_rperm": [u], "_wperm": [u],
                             "state": s.skew(["paid", "open", "refunded"])}))
        for t in lines[:2]:
            code = "".join(r.choices("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=8))
            tickets.append(stamp({"_id": made(1)[0], "_p_order": "Order$" + o, "type": t, "event": kind[t],
                                  "code": code[:4] + "-" + code[4:], "holder": s.maybe(.6, s.person()),
                                  "seat": s.maybe(.3, r.randint(1, 400)),
                                  "transferredTo": s.maybe(.04, r.choice(users))}))
    s.put("Order", orders, "_p_buyer")
    s.maps.add("Order:_acl")
    s.put("Ticket", tickets, "!code", "event", "_p_order")
    s.put("CheckIn", [stamp({"_id": x, "code": t["code"] if r.random() > .01 else t["code"][::-1],
                             "gate": r.randint(1, 6), "scannedBy": r.choice(users[:30]), "offline": r.random() < .1})
                      for x, t in zip(made(2200), r.sample(tickets, 2200))], "code")
    targets = (("Event", events), ("Artist", artists), ("Venue", venues))
    s.put("Favorite", [stamp({"_id": x, "userId": s.skew(users), "targetClass": c, "targetId": r.choice(z)})
                       for x in made(3100) for c, z in [s.skew(targets)]], "userId")
    s.put("_Installation", [stamp({"_id": x, "installationId": str(s.uuid()),
                                   "deviceType": r.choice(["ios", "android"]),
                                   "badge": r.randint(0, 9), "userId": s.maybe(.7, r.choice(users)), "channels": [
                                       "event_" + e for e in s.few(events, 0, 3)]}) for x in made(740)], "?userId")
    s.ref("""
        _User:invitedBy _User:_id
        Event:lineup[].objectId Artist:_id
        Event:ownerId _User:_id
        TicketType:eventId Event:_id
        Order:items[].ticketType TicketType:_id
        Order:_acl.* _User:_id
        Order:_rperm[] _User:_id
        Order:_wperm[] _User:_id
        Ticket:type TicketType:_id
        Ticket:event Event:_id
        Ticket:transferredTo _User:_id
        CheckIn:code Ticket:code
        CheckIn:scannedBy _User:_id
        Favorite:userId _User:_id
        Favorite:targetId Event:_id
        Favorite:targetId Artist:_id
        Favorite:targetId Venue:_id
        _Installation:userId _User:_id""")
    s.allow("""
        Event:_p_venue Venue:_id
        Order:_p_buyer _User:_id
        Ticket:_p_order Order:_id""")


@data_set
def fuhrpark(s):
    """Vehicles of a German firm from SQL tables: numbers from one on, drivers by number, fuel by plate or card."""
    r = s.r
    s.put("Fahrzeugtypen", [{"_id": i, "Bezeichnung": s.title(1), "Achsen": r.randint(2, 5), "NutzlastKg": 500 * i,
                             "Klasse": r.choice(["B", "C", "CE"])} for i in range(1, 15)])
    orte = [10 * i for i in range(1, 13)]
    s.put("Standorte", [{"_id": o, "Name": c, "PLZ": "%05d" % r.randint(1067, 99998), "Stellplaetze": r.randint(5, 60)}
                        for o, c in zip(orte, CITY)])
    kst = [4000 + 10 * i for i in range(45)]
    s.put("Kostenstellen", [{"_id": k, "Text": s.title(2), "Ober": NO if i < 5 else kst[r.randrange(5)],
                             "Budget": Cents(r.randrange(10**7))} for i, k in enumerate(kst)])
    pers = [1003 + 4 * i for i in range(220)]
    s.put("Fahrer", [{"_id": s.oid(), "PersNr": p, "Name": r.choice(LAST), "Vorname": r.choice(FIRST),
                      "Standort": r.choice(orte), "Klassen": s.few(["B", "BE", "C", "CE"], 1, 3),
                      "Disponent": NO if i < 8 else r.choice(pers[:8]), "Eintritt": s.day(-4000, 800),
                      "Urlaubstage": r.randint(24, 32)} for i, p in enumerate(pers)], "!PersNr")
    lief = [70010 + 30 * i for i in range(58)]
    s.put("Lieferanten", [{"_id": s.oid(), "KreditorNr": k, "Firma": s.title(2) + " GmbH", "Ort": r.choice(CITY),
                           "Art": r.choice(["Werkstatt", "Leasing", "Reifen"])} for k in lief], "!KreditorNr")
    nummern = sorted(r.sample(range(1, 215), 185))
    autos = [{"_id": n, "Kennzeichen": "%s-%s %d" % (r.choice(["B", "HH", "KS"]), r.choice("ABCDEF") + r.choice("KLMN"),
                                                      100 + 4 * n),
              "TypNr": r.randint(1, 14), "Standort": r.choice(orte), "Baujahr": r.randint(2008, 2021),
              "FIN": "WDB%014d" % (n * 7919), "KmStand": r.randint(500, 320000), "HU": s.day(900, 1600),
              "Stammfahrer": s.maybe(.5, r.choice(pers)),
              "Leasing": s.maybe(.4, {"Geber": r.choice(lief), "Vertrag": "LV-%06d" % r.randrange(10**6),
                                      "Rate": Cents(r.randint(20000, 90000)), "Monate": r.choice([24, 36, 48])})}
             for n in nummern]
    s.put("Fahrzeuge", autos, "!Kennzeichen", "Standort")
    weg = [n for n in range(1, 215) if n not in nummern]
    fahrten = []
    for i in range(1, 6001):
        km, dauer = r.randint(500, 300000), r.randint(5, 600)
        fahrten.append({"_id": i, "FzNr": r.choice(nummern if r.random() > .006 else weg),
                        "FahrerNr": s.skew(pers, 1.3),
                        "Beginn": s.day(700, 1000), "DauerMin": dauer, "KmStart": km, "KmEnde": km + dauer,
                        "Zweck": r.randint(1, 5), "Kst": str(r.choice(kst)) if r.random() > .015 else "9999"})
    s.put("Fahrten", fahrten, "FzNr,Beginn", "FahrerNr")
    karten = ["7002%014d" % (3 * 10**9 + 1013 * i) for i in range(190)]
    s.put("Tankkarten", [{"_id": k, "FzNr": r.choice(nummern), "GueltigBis": "%02d/%d" % (r.randint(1, 12), 24),
                          "LimitEur": r.choice([200, 500, 1000])} for k in karten], "FzNr")
    s.put("Tankungen", [{"_id": s.oid(), "Kennzeichen": s.skew(autos, 1.2)["Kennzeichen"] if r.random() > .008
                         else "M-XY %d" % r.randint(100, 950), "Karte": s.maybe(.9, r.choice(karten)),
                         "Liter": r.randint(10, 400), "Betrag": Cents(r.randint(1500, 60000)),
                         "Tankstelle": r.randint(10000, 99999), "KmStand": r.randint(500, 320000)}
                        for _ in range(3500)], "Kennzeichen")
    schaden = [{"_id": i, "FzNr": r.choice(nummern), "FahrerNr": s.maybe(.9, r.choice(pers)), "Art": r.randint(1, 7),
                "Gemeldet": s.day(600, 1000), "Gutachter": s.maybe(.3, s.person()),
                "VersNr": s.maybe(.5, "KH-%08d" % r.randrange(10**8))} for i in range(1, 401)]
    s.put("Schaeden", schaden, "FzNr")
    s.put("Reparaturen", [{"_id": i, "FzNr": r.choice(nummern), "Werkstatt": s.skew(lief), "SchadenNr": s.maybe(
        .3, r.choice(schaden)["_id"]), "Positionen": [{"Teil": s.words(1, 2), "Menge": r.randint(1, 8), "Preis": Cents(
            r.randint(500, 90000))} for _ in range(r.randint(1, 5))], "Stunden": r.randint(1, 30),
                           "RechnungNr": "R%d" % r.randint(10000, 99999)} for i in range(1, 1151)], "FzNr", "Werkstatt")
    s.ref("""
        Kostenstellen:Ober Kostenstellen:_id
        Fahrer:Standort Standorte:_id
        Fahrer:Disponent Fahrer:PersNr
        Fahrzeuge:TypNr Fahrzeugtypen:_id
        Fahrzeuge:Standort Standorte:_id
        Fahrzeuge:Stammfahrer Fahrer:PersNr
        Fahrzeuge:Leasing.Geber Lieferanten:KreditorNr
        Fahrten:FzNr Fahrzeuge:_id
        Fahrten:FahrerNr Fahrer:PersNr
        Fahrten:Kst Kostenstellen:_id
        Tankkarten:FzNr Fahrzeuge:_id
        Tankungen:Kennzeichen Fahrzeuge:Kennzeichen
        Tankungen:Karte Tankkarten:_id
        Schaeden:FzNr Fahrzeuge:_id
        Schaeden:FahrerNr Fahrer:PersNr
        Reparaturen:FzNr Fahrzeuge:_id
        Reparaturen:Werkstatt Lieferanten:KreditorNr
        Reparaturen:SchadenNr Schaeden:_id""")


@data_set
def mairie(s):
    """A French town hall on Doctrine ODM: DBRefs beside plain ids, requests with a history, a log of any class."""
    r = s.r

    def dbref(coll, x):
        return {"$ref": coll, "$id": x["_id"] if type(x) is dict else x, "$db": "mairie"}

    quartiers = [s.oid() for _ in range(16)]
    s.put("Quartier", [{"_id": q, "nom": s.title(1), "code": "Q%02d" % i} for i, q in enumerate(quartiers, 1)])
    services = []
    for i in range(28):
        services.append({"_id": s.oid(), "libelle": s.title(2), "email": "%s%d@ville.example" % (s.words(1), i),
                         "parent": dbref("Service", r.choice(services[:6])) if i >= 6 else NO})
    s.put("Service", services)
    agents = [{"_id": s.oid(), "matricule": 5107 + 11 * i, "login": "%s%s%d" % (r.choice(FIRST)[0].lower(),
                                                                               r.choice(LAST).lower(), i),
               "nom": r.choice(LAST), "service": dbref("Service", s.skew(services)), "actif": r.random() < .9}
              for i in range(125)]
    s.put("Agent", agents, "!matricule", "!login")
    slugs = ["%s-%s" % (a, b) for a in ("voirie", "etat-civil", "dechets", "ecole") for b in r.sample(WORD, 9)]
    s.put("Categorie", [{"_id": x, "libelle": s.title(2), "delaiJours": r.choice([5, 10, 30, 60]),
                         "serviceResponsable": dbref("Service", r.choice(services))} for x in slugs])
    gens = [{"_id": s.oid(), "nom": r.choice(LAST), "prenom": r.choice(FIRST), "quartier": s.skew(quartiers),
             "email": "%s.%d@courriel.example" % (s.words(1), i), "naissance": s.day(-25000, -6600),
             "franceConnectSub": s.maybe(.4, "%064x" % r.getrandbits(256)), "enfants": r.choice([0, 0, 1, 2, 3])}
            for i in range(2200)]
    s.put("Citoyen", gens, "!email", "quartier")
    ecoles = ["0%02d%04d%s" % (75, 113 + 29 * i, r.choice("ABCDEFGHJKLM")) for i in range(22)]
    s.put("Etablissement", [{"_id": u, "nom": "Ecole " + s.title(1), "quartier": dbref("Quartier", r.choice(quartiers)),
                             "capacite": r.randint(90, 400), "niveaux": s.few(["PS", "MS", "GS", "CP", "CE1"], 2, 4)}
                            for u in ecoles])
    s.put("Tarif", [{"_id": "CANT-%s" % t, "repas": Cents(100 + 60 * i), "quotientMax": 300 * i + 300}
                    for i, t in enumerate("ABCDEFGHIJ")])
    pieces = [{"_id": s.oid(), "nomFichier": s.words(1) + ".pdf", "taille": r.randint(9000, 4000000),
               "md5": "%032x" % r.getrandbits(128), "deposant": dbref("Citoyen", s.skew(gens, 1.3))}
              for _ in range(3000)]
    s.put("PieceJointe", pieces, "deposant.$id")
    demandes = []
    for i in range(4000):
        who = s.maybe(.85, r.choice(agents))
        demandes.append({"_id": s.oid(), "numero": "2021-%06d" % (311 + 3 * i),
                         "citoyen": dbref("Citoyen", r.choice(gens)),
                         "categorie": s.skew(slugs) if r.random() > .005 else "autre", "objet": s.words(3, 8),
                         "statut": r.randint(0, 4), "priorite": r.randint(1, 5), "nbRelances": r.choice([0, 0, 1, 2]),
                         "agentAffecte": who if who is NO else dbref("Agent", who),
                         "pieces": [dbref("PieceJointe", p) for p in s.few(pieces, 0, 2)],
                         "historique": [{"statut": k, "date": s.day(730, 1000), "agent": r.choice(agents)["_id"]}
                                        for k in range(r.randint(1, 4))]})
    s.put("Demande", demandes, "!numero", "citoyen.$id", "categorie,statut")
    inscrits = [{"_id": s.oid(), "enfant": {"prenom": r.choice(FIRST), "naissance": s.day(-3000, -1200)},
                 "responsables": [g["_id"] for g in s.few(gens, 1, 2)], "etablissement": r.choice(ecoles),
                 "annee": r.choice([2019, 2020, 2021]), "niveau": r.choice(["PS", "MS", "GS", "CP"]),
                 "cantine": s.maybe(.7, {"jours": s.few([1, 2, 4, 5], 1, 4),
                                         "tarif": "CANT-" + r.choice("ABCDEFGHIJ")})}
                for _ in range(1400)]
    s.put("Inscription", inscrits, "responsables", "etablissement,annee")
    s.put("RendezVous", [{"_id": s.oid(), "agent": r.choice(agents)["matricule"], "guichet": r.randint(1, 12),
                          "demande": s.maybe(.6, r.choice(demandes)["numero"] if r.random() > .01
                                             else "2020-%06d" % r.randrange(10**5)), "debut": s.day(800, 1000),
                          "dureeMin": r.choice([15, 30, 45]), "telephone": "06%08d" % r.randrange(10**8)}
                         for _ in range(2600)], "agent,debut")
    classes = (("Demande", demandes), ("Citoyen", gens), ("Inscription", inscrits))
    s.put("ext_log_entries", [{"_id": s.oid(), "action": r.choice(["create", "update", "update", "remove"]),
                               "loggedAt": s.day(800, 1000), "objectClass": "App\\Document\\" + c,
                               "objectId": str_id(r.choice(z)["_id"]), "version": r.randint(1, 9),
                               "username": s.skew(agents)["login"], "data": {"statut": r.randint(0, 4)}}
                              for c, z in (s.skew(classes) for _ in range(3600))], "objectId,objectClass", "username")
    s.ref("""
        Service:parent.$id Service:_id
        Agent:service.$id Service:_id
        Categorie:serviceResponsable.$id Service:_id
        Citoyen:quartier Quartier:_id
        Etablissement:quartier.$id Quartier:_id
        PieceJointe:deposant.$id Citoyen:_id
        Demande:citoyen.$id Citoyen:_id
        Demande:categorie Categorie:_id
        Demande:agentAffecte.$id Agent:_id
        Demande:pieces[].$id PieceJointe:_id
        Demande:historique[].agent Agent:_id
        Inscription:responsables[] Citoyen:_id
        Inscription:etablissement Etablissement:_id
        Inscription:cantine.tarif Tarif:_id
        RendezVous:agent Agent:matricule
        RendezVous:demande Demande:numero
        ext_log_entries:objectId Demande:_id
        ext_log_entries:objectId Citoyen:_id
        ext_log_entries:objectId Inscription:_id
        ext_log_entries:username Agent:login""")


@data_set
def sap(s):
    """Sales and deliveries as SAP names them: keys with zeros in front, 1000 is a firm, a plant and an organisation."""
    r = s.r

    def row(**fields):
        return {"_id": s.oid(), "MANDT": "100", **fields}

    bukrs, vkorg, werks = "1000 2000 3000 4000".split(), "1000 2000 3000".split(), []
    werks += ["%d" % x for x in range(1000, 3600, 200)]
    s.put("T001", [row(BUKRS=b, BUTXT=s.title(2), LAND1=r.choice(COUNTRY), WAERS="EUR") for b in bukrs], "!BUKRS")
    s.put("T001W", [row(WERKS=w, NAME1=s.title(1), BUKRS=w[0] + "000", ORT01=r.choice(CITY)) for w in werks], "!WERKS")
    s.put("TVKO", [row(VKORG=v, BUKRS=v, WAERS="EUR", KALKS=r.choice("AB")) for v in vkorg], "!VKORG")
    matkl = ["%03d%s" % (i, x) for i in range(1, 6) for x in ("00", "10", "20", "30", "40")]
    s.put("T023T", [row(MATKL=m, SPRAS="D", WGBEZ=s.title(1)) for m in matkl], "!MATKL")
    namen = sorted({x.upper() for x in r.sample(LAST, 34)})
    s.put("USR02", [row(BNAME=n, USTYP="A", CLASS=r.choice(["SD", "MM"]), TRDAT=text_date(s.day(700, 1000)))
                    for n in namen], "!BNAME")
    kunden = ["%010d" % (100012 + 7 * i) for i in range(520)]
    s.put("KNA1", [row(KUNNR=k, NAME1=s.title(2), LAND1=r.choice(COUNTRY), PSTLZ="%05d" % r.randint(1067, 99998),
                       KTOKD=r.choice(["0001", "0002", "ZDEB"]), STCEG=s.maybe(.6, "DE%09d" % r.randrange(10**9)),
                       ERNAM=r.choice(namen)) for k in kunden], "!KUNNR")
    mats = ["%018d" % (20000 + 17 * i) for i in range(760)]
    s.put("MARA", [row(MATNR=m, MTART=r.choice(["FERT", "HAWA", "ROH"]), MATKL=s.skew(matkl), MEINS=r.choice(
        ["ST", "KG", "M"]), BRGEW=Cents(r.randint(10, 90000)), ERNAM=r.choice(namen)) for m in mats], "!MATNR")
    s.put("MAKT", [row(MATNR=m, SPRAS=x, MAKTX=s.title(2, 4)) for m in mats for x in "DEF"[:r.choice([1, 2, 3])]],
          "!MATNR,SPRAS")
    s.put("MARD", [row(MATNR=m, WERKS=w, LGORT="%04d" % r.choice([1, 2, 88]), LABST=r.randint(0, 5000))
                   for m in mats for w in s.few(werks, 1, 3)], "MATNR,WERKS,LGORT")
    vbak, vbap, vbpa = [], [], []
    for i in range(1500):
        v, k, org = "%010d" % (4969 + i), s.skew(kunden), r.choice(vkorg)
        vbak.append(row(VBELN=v, KUNNR=k, VKORG=org, VTWEG=r.choice(["10", "20"]), AUART=r.choice(["TA", "RE", "ZOR"]),
                        ERNAM=s.skew(namen), ERDAT=s.day(600, 1000), NETWR=Cents(r.randint(900, 9 * 10**6)),
                        BSTNK=s.maybe(.7, "45%08d" % r.randrange(10**6)), BUKRS_VF=org))
        for role in ["AG", "WE", "RE"][:r.choice([1, 3])]:
            vbpa.append(row(VBELN=v, POSNR="000000", PARVW=role, KUNNR=k if role == "AG" else r.choice(kunden)))
        for p in range(1, r.randint(2, 7)):
            vbap.append(row(VBELN=v, POSNR="%06d" % (10 * p), MATNR=s.skew(mats), WERKS=s.skew(werks),
                            KWMENG=r.randint(1, 90), VRKME="ST", NETPR=Cents(r.randint(100, 90000)),
                            ABGRU=s.maybe(.05, r.choice(["50", "51"]))))
    s.put("VBAK", vbak, "!VBELN", "KUNNR")
    s.put("VBAP", vbap, "!VBELN,POSNR", "MATNR")
    s.put("VBPA", vbpa, "VBELN,POSNR,PARVW", "KUNNR")
    likp, lips, at = [], [], 0
    for i in range(1300):
        n = r.randint(1, 3)
        v, lines, at = "%010d" % (80000012 + i), vbap[at:at + n], at + n
        k = r.choice(kunden)
        likp.append(row(VBELN=v, LFART=r.choice(["LF", "LR"]), KUNNR=k if r.random() < .8 else r.choice(kunden),
                        KUNAG=k, VSTEL=r.choice(werks), WADAT=s.day(700, 1000), ANZPK=r.randint(1, 12),
                        ERNAM=s.skew(namen)))
        for p, x in enumerate(lines, 1):
            lips.append(row(VBELN=v, POSNR="%06d" % (10 * p), MATNR=x["MATNR"], WERKS=x["WERKS"], LFIMG=x["KWMENG"],
                            CHARG=s.maybe(.3, "C%07d" % r.randrange(10**7)), VGBEL=x["VBELN"], VGPOS=x["POSNR"]))
    s.put("LIKP", likp, "!VBELN")
    s.put("LIPS", lips, "!VBELN,POSNR", "VGBEL,VGPOS")
    s.ref("""
        T001W:BUKRS T001:BUKRS
        TVKO:BUKRS T001:BUKRS
        KNA1:ERNAM USR02:BNAME
        MARA:MATKL T023T:MATKL
        MARA:ERNAM USR02:BNAME
        MAKT:MATNR MARA:MATNR
        MARD:MATNR MARA:MATNR
        MARD:WERKS T001W:WERKS
        VBAK:KUNNR KNA1:KUNNR
        VBAK:VKORG TVKO:VKORG
        VBAK:BUKRS_VF T001:BUKRS
        VBAK:ERNAM USR02:BNAME
        VBAP:VBELN VBAK:VBELN
        VBAP:MATNR MARA:MATNR
        VBAP:WERKS T001W:WERKS
        VBPA:VBELN VBAK:VBELN
        VBPA:KUNNR KNA1:KUNNR
        LIKP:KUNNR KNA1:KUNNR
        LIKP:KUNAG KNA1:KUNNR
        LIKP:ERNAM USR02:BNAME
        LIPS:VBELN LIKP:VBELN
        LIPS:MATNR MARA:MATNR
        LIPS:WERKS T001W:WERKS
        LIPS:VGBEL+VGPOS VBAP:VBELN+POSNR""")
    s.allow("""
        LIPS:VGBEL VBAK:VBELN
        LIKP:VSTEL T001W:WERKS""")


@data_set
def odoo(s):
    """Tables of an Odoo: dense numbers everywhere, create_uid, a chatter that names any model, null for nothing."""
    r = s.r

    def table(n, gone=.05):
        return [i for i in range(1, n) if i < 4 or r.random() > gone]

    firms, lands, uids, uoms, cats, lists = [1, 2, 3], table(250, 0), table(46), table(25, 0), table(34), table(12, 0)
    partners, tags, tmpls, prods = table(1600), table(16), table(420), table(560)
    s.put("res_company", [{"_id": c, "name": s.title(2), "partner_id": c, "currency_code": "EUR"} for c in firms])
    codes = r.sample([a + b for a in LETTERS[:26] for b in LETTERS[:26]], len(lands))
    s.put("res_country", [{"_id": c, "code": x, "name": s.title(1), "phone_code": r.randint(1, 998)}
                          for c, x in zip(lands, codes)])
    s.put("res_users", [{"_id": u, "login": "%s%d@odoo.example" % (r.choice(FIRST).lower(), u),
                         "active": r.random() < .9,
                         "company_id": s.skew(firms), "partner_id": p, "create_uid": r.choice([1, 2])}
                        for u, p in zip(uids, partners)], "!login")
    s.put("res_partner", [{"_id": p, "name": s.person(), "is_company": i % 4 == 0, "color": r.randint(0, 11),
                           "parent_id": r.choice(partners[:i]) if i > 60 and r.random() < .4 else None,
                           "company_id": s.skew(firms) if r.random() < .6 else None, "country_id": s.skew(lands),
                           "user_id": s.skew(uids) if r.random() < .5 else None, "customer_rank": r.randint(0, 9),
                           "zip": "%05d" % r.randint(1000, 99000), "create_uid": s.skew(uids)}
                          for i, p in enumerate(partners)], "parent_id", "company_id")
    s.put("res_partner_category", [{"_id": t, "name": s.title(1), "color": r.randint(0, 11)} for t in tags])
    s.put("res_partner_res_partner_category_rel", [{"_id": s.oid(), "category_id": t, "partner_id": p}
                                                   for p in r.sample(partners, 700) for t in s.few(tags, 1, 3)],
          "!category_id,partner_id", "partner_id")
    s.put("uom_uom", [{"_id": u, "name": s.words(1), "factor": r.choice([1.0, .001, 12.0]), "rounding": .01}
                      for u in uoms])
    s.put("product_category", [{"_id": c, "name": s.title(1), "parent_id": r.choice(cats[:i]) if i > 2 else None}
                               for i, c in enumerate(cats)])
    s.put("product_pricelist", [{"_id": x, "name": s.title(1), "sequence": 16, "active": True,
                                 "company_id": r.choice(firms + [None])} for x in lists])
    s.put("product_template", [{"_id": t, "name": s.title(2, 3), "sequence": r.choice([1, 1, 10]),
                                "categ_id": s.skew(cats), "uom_id": s.skew(uoms), "uom_po_id": s.skew(uoms),
                                "list_price": Cents(r.randint(100, 90000)), "type": r.choice(["consu", "service"]),
                                "sale_delay": r.randint(0, 14), "create_uid": s.skew(uids)} for t in tmpls], "categ_id")
    s.put("product_product", [{"_id": p, "product_tmpl_id": tmpls[i] if i < len(tmpls) else s.skew(tmpls),
                               "default_code": s.maybe(.6, "FURN_%04d" % (1000 + i)), "active": r.random() < .95,
                               "barcode": s.maybe(.4, "%013d" % r.randrange(10**12, 10**13))}
                              for i, p in enumerate(prods)], "product_tmpl_id")
    orders = [{"_id": o, "name": "S%05d" % o, "partner_id": p, "partner_invoice_id": p, "user_id": s.skew(uids),
               "partner_shipping_id": p if r.random() < .8 else r.choice(partners), "company_id": s.skew(firms),
               "pricelist_id": s.skew(lists), "state": r.choice(["draft", "sale", "done"]),
               "date_order": s.day(700, 1000),
               "amount_total": Cents(r.randint(500, 10**6)), "client_order_ref": s.maybe(.3,
                                                                                         str(r.randint(1000, 99999)))}
              for o in table(1900) for p in [s.skew(partners, 1.5)]]
    s.put("sale_order", orders, "!name", "partner_id", "company_id")
    s.put("sale_order_line", [{"_id": i, "order_id": o["_id"], "product_id": s.skew(prods, 1.4), "sequence": 10,
                               "product_uom_qty": r.randint(1, 60), "product_uom": s.skew(uoms),
                               "customer_lead": r.randint(
                                   0, 14), "price_unit": Cents(r.randint(100, 90000)),
                                   "discount": r.choice([0, 0, 5, 10])}
                              for i, o in enumerate(r.choices(orders, k=6000), 1)], "order_id")
    models = (("sale.order", [o["_id"] for o in orders]), ("res.partner", partners), ("product.template", tmpls))
    mails = []
    for i in range(1, 4200):
        model, z = s.skew(models)
        mails.append({"_id": i, "model": model, "res_id": r.choice(z) if r.random() > .02 else 2100 + i,
                      "author_id": s.skew(partners, 3), "parent_id": r.randint(1, i - 1) if i > 40 and r.random() < .5
                      else None, "message_type": r.choice(["comment", "email", "notification"]), "body": s.words(3, 20),
                      "subtype_id": r.randint(1, 3), "create_uid": s.skew(uids)})
    s.put("mail_message", mails, "model,res_id", "parent_id")
    s.ref("""
        res_company:partner_id res_partner:_id
        res_users:company_id res_company:_id
        res_users:partner_id res_partner:_id
        res_users:create_uid res_users:_id
        res_partner:parent_id res_partner:_id
        res_partner:company_id res_company:_id
        res_partner:country_id res_country:_id
        res_partner:user_id res_users:_id
        res_partner:create_uid res_users:_id
        res_partner_res_partner_category_rel:category_id res_partner_category:_id
        res_partner_res_partner_category_rel:partner_id res_partner:_id
        product_category:parent_id product_category:_id
        product_pricelist:company_id res_company:_id
        product_template:categ_id product_category:_id
        product_template:uom_id uom_uom:_id
        product_template:uom_po_id uom_uom:_id
        product_template:create_uid res_users:_id
        product_product:product_tmpl_id product_template:_id
        sale_order:partner_id res_partner:_id
        sale_order:partner_invoice_id res_partner:_id
        sale_order:partner_shipping_id res_partner:_id
        sale_order:user_id res_users:_id
        sale_order:company_id res_company:_id
        sale_order:pricelist_id product_pricelist:_id
        sale_order_line:order_id sale_order:_id
        sale_order_line:product_id product_product:_id
        sale_order_line:product_uom uom_uom:_id
        mail_message:res_id sale_order:_id
        mail_message:res_id res_partner:_id
        mail_message:res_id product_template:_id
        mail_message:author_id res_partner:_id
        mail_message:parent_id mail_message:_id
        mail_message:create_uid res_users:_id""")


@data_set
def ledger(s):
    """Double entry as Medici keeps it, below a billing of subscriptions: journals list transactions that name them."""
    r = s.r
    books = ["acme-%s" % c.lower() for c in COUNTRY[:11]]
    s.put("entities", [{"_id": s.oid(), "code": b, "legalName": s.title(2), "fiscalYearStart": r.choice([1, 4, 7])}
                       for b in books], "!code")
    tops = {"Assets": ["Bank", "Receivable", "Stripe"], "Income": ["Subscriptions", "Setup", "Usage"],
            "Liabilities": ["VAT", "Deferred", "Credits"], "Expenses": ["Fees", "Refunds", "BadDebt"]}
    accounts = list(tops) + ["%s:%s" % (a, b) for a, z in tops.items() for b in z]
    accounts += ["Assets:Bank:%s" % x for x in "DE FR AT NL".split()] + ["Income:Usage:%s" % x
                                                                         for x in ("API", "Storage")]
    s.put("accounts", [{"_id": a, "parent": a.rpartition(":")[0] or NO, "label": s.title(2), "datevNo": 1000 + 40 * i}
                       for i, a in enumerate(accounts)])
    plans = ["starter", "team", "team-yearly", "business", "business-yearly", "enterprise", "edu", "oss", "trial",
             "legacy"]
    s.put("plans", [{"_id": p, "seatsIncluded": r.choice([1, 5, 25]), "price": Cents(r.randint(0, 90000))}
                    for p in plans])
    codes = [s.words(1).upper() + str(5 * i) for i in range(2, 18)]
    s.put("coupons", [{"_id": c, "percentOff": r.choice([10, 20, 50]), "maxRedemptions": r.randint(10, 500)}
                      for c in codes])
    custs = [{"_id": s.oid(), "name": s.title(2), "stripeCustomerId": "cus_" + "".join(r.choices(LETTERS, k=14)),
              "country": r.choice(COUNTRY), "entity": s.skew(books), "referrer": NO} for _ in range(430)]
    for i, c in enumerate(custs[1:], 1):
        c["referrer"] = s.maybe(.15, custs[r.randrange(i)]["_id"])
    s.put("customers", custs, "!stripeCustomerId")
    subs = [{"_id": s.oid(), "customer": s.skew(custs, 1.2)["_id"], "plan": s.skew(plans), "seats": r.randint(1, 60),
             "coupon": s.maybe(.2, s.skew(codes)), "stripeSubscriptionId": "sub_" + "".join(r.choices(LETTERS, k=14)),
             "addons": [{"plan": p, "qty": r.randint(1, 5)} for p in s.few(plans, 0, 2)], "since": s.day(0, 800)}
            for _ in range(640)]
    s.put("subscriptions", subs, "customer")
    journals, trans, leaves = [], [], [a for a in accounts if ":" in a]

    def post(memo, book, amount, sides, meta, voids=NO):
        j = {"_id": s.oid(), "datetime": s.day(700, 1000), "memo": memo, "book": book, "voided": False,
             "_transactions": [], "_original_journal": voids}
        for k, (account, debit) in enumerate(sides):
            trans.append({"_id": s.oid(), "_journal": j["_id"], "book": book, "memo": memo, "datetime": j["datetime"],
                          "accounts": account, "account_path": account.split(":"), "debit": amount if debit else 0,
                          "credit": 0 if debit else amount, "meta": meta})
            if r.random() > .003:
                j["_transactions"].append(trans[-1]["_id"])
        journals.append(j)
        return j

    invoices, payments = [], []
    for i in range(1500):
        sub, amount = r.choice(subs), r.randint(500, 90000)
        inv = {"_id": s.oid(), "number": "INV-2021-%05d" % (i + 1), "customer": sub["customer"],
               "subscription": sub["_id"],
               "total": amount, "lines": [{"plan": sub["plan"], "quantity": sub["seats"], "amount": amount}],
               "entity": s.skew(books), "dueInDays": r.choice([7, 14, 30])}
        kind = r.choice(["Subscriptions", "Setup", "Usage:API"])
        j = post("Invoice %s" % inv["number"], inv["entity"], amount,
                 [("Assets:Receivable", True), ("Income:" + kind, False), ("Liabilities:VAT", False)],
                 {"customer": sub["customer"], "invoice": inv["_id"]})
        inv["journal"] = j["_id"]
        invoices.append(inv)
        if r.random() < .8:
            p = post(r.choice(["Card payment", "SEPA", "Wire"]), inv["entity"], amount,
                     [(r.choice(leaves[12:16]), True), (
                "Assets:Receivable", False)], {"customer": sub["customer"]})
            payments.append({"_id": str(s.uuid()), "invoiceNumber": inv["number"] if r.random() > .01
                             else "INV-2020-%05d" % i,
                             "amount": amount, "journalId": str_id(p["_id"]), "attempts": r.randint(1, 3),
                             "intent": "pi_" + "".join(r.choices(LETTERS, k=24))})
        if r.random() < .05:
            j["voided"] = True
            post("[VOID] " + j["memo"], inv["entity"], amount, [("Income:" + kind, True), ("Assets:Receivable", False)],
                 {"customer": sub["customer"]}, j["_id"])
    s.put("invoices", invoices, "!number", "customer", "subscription")
    s.put("payments", payments, "invoiceNumber")
    s.put("medici_journals", journals, "book,-datetime")
    s.put("medici_transactions", trans, "_journal", "book,accounts,-datetime")
    s.ref("""
        accounts:parent accounts:_id
        customers:entity entities:code
        customers:referrer customers:_id
        subscriptions:customer customers:_id
        subscriptions:plan plans:_id
        subscriptions:coupon coupons:_id
        subscriptions:addons[].plan plans:_id
        invoices:customer customers:_id
        invoices:subscription subscriptions:_id
        invoices:lines[].plan plans:_id
        invoices:entity entities:code
        invoices:journal medici_journals:_id
        payments:invoiceNumber invoices:number
        payments:journalId medici_journals:_id
        medici_journals:book entities:code
        medici_journals:_transactions[] medici_transactions:_id
        medici_journals:_original_journal medici_journals:_id
        medici_transactions:_journal medici_journals:_id
        medici_transactions:book entities:code
        medici_transactions:accounts accounts:_id
        medici_transactions:meta.customer customers:_id
        medici_transactions:meta.invoice invoices:_id""")
    s.allow("medici_transactions:account_path[] accounts:_id")
    s.copy("medici_transactions:_journal medici_journals:_id memo memo")
    s.two_way("medici_journals", "_transactions[]", "medici_transactions", "_journal")


@data_set
def courseware(s):
    """Courses as Open edX keeps them: versions of structures that share definitions, and the forum's threads."""
    r = s.r
    defs = []
    for _ in range(4200):
        old = r.choice(defs[-300:]) if defs and r.random() < .35 else None
        d = {"_id": s.oid(), "block_type": old["block_type"] if old else r.choice(["html", "problem", "video",
                                                                                   "vertical"]),
             "schema_version": 1, "fields": {"data": s.words(4, 30)}}
        d["edit_info"] = {"edited_by": Long(r.randint(3, 60)), "edited_on": s.day(300, 1000),
                          "previous_version": old and
                          old["_id"], "original_version": old["edit_info"]["original_version"] if old else d["_id"]}
        defs.append(d)
    active, structures, courses = [], [], []
    for i in range(38):
        org, course = s.title(1) + "X", "%s%d" % (r.choice(["CS", "BIO", "MA"]), 101 + i)
        run = r.choice(["2020_T1", "2021"])
        first = last = None
        blocks = []
        for v in range(r.randint(8, 22)):
            now, who = s.oid(), Long(r.randint(3, 60))
            for _ in range(r.randint(1, 3)):
                if len(blocks) > 6 and r.random() < .6:
                    k = r.randrange(len(blocks))
                    b = dict(blocks[k], edit_info={"edited_by": who, "update_version": now,
                                                   "previous_version": blocks[k]["edit_info"]["update_version"]})
                    blocks = blocks[:k] + [b] + blocks[k + 1:]
                else:
                    d = r.choice(defs)
                    blocks = blocks + [{"block_type": d["block_type"], "block_id": "%032x" % r.getrandbits(128),
                                        "definition": d["_id"], "fields": {"display_name": s.title(1, 3)},
                                        "edit_info": {
                                            "edited_by": who, "update_version": now, "previous_version": None}}]
            first = first or now
            structures.append({"_id": now, "root": ["course", "course"], "original_version": first,
                               "previous_version": last,
                               "edited_by": who, "edited_on": s.day(300, 1000), "schema_version": 1, "blocks": blocks})
            last, before = now, last
        active.append({"_id": s.oid(), "org": org, "course": course, "run": run, "edited_by": who, "schema_version": 1,
                       "versions": {"draft-branch": last, "published-branch": s.maybe(.8, before)},
                       "search_targets": {"wiki_slug": "%s.%s.%s" % (org, course, run)}})
        courses.append("course-v1:%s+%s+%s" % (org, course, run))
    s.put("modulestore.definitions", defs)
    s.put("modulestore.structures", structures, "previous_version", "original_version")
    s.put("modulestore.active_versions", active, "!org,course,run")
    people = [{"_id": str(u), "external_id": str(u), "username": "%s_%s%d" % (s.words(1), r.choice(WORD), u),
               "default_sort_key": "date"} for u in sorted(r.sample(range(20, 9000), 700))]
    ids, posts, byline = [p["_id"] for p in people], [], {p["_id"]: p["username"] for p in people}
    for i in range(4300):
        top = r.choice(posts[-200:]) if i > 20 and r.random() < .7 else None
        thread = top and top.get("comment_thread_id", top["_id"])
        who = s.skew(ids, 1.5)
        up = s.few(ids, 0, 4)
        posts.append({"_id": s.oid(), "_type": "Comment" if top else "CommentThread", "author_id": who,
                      "author_username": byline[who], "course_id": top["course_id"] if top else r.choice(courses),
                      "body": s.words(6, 30), "title": NO if top else s.title(3, 6), "anonymous": r.random() < .05,
                      "commentable_id": NO if top else s.words(1), "comment_count": NO if top else r.randint(0, 30),
                      "parent_ids": top["parent_ids"] + [top["_id"]] if top and top["_type"] == "Comment" else [],
                      "votes": {"up": up, "down": [], "up_count": len(up), "point": len(up)},
                      "abuse_flaggers": s.few(ids, 1, 2) if r.random() < .06 else []})
        if top:
            posts[-1]["comment_thread_id"] = thread
            if top["_type"] == "Comment":
                posts[-1]["parent_id"] = top["_id"]
                top["endorsement"] = s.maybe(.05, {"user_id": r.choice(ids[:30]), "time": s.day(900, 1000)})
    threads = [p for p in posts if p["_type"] == "CommentThread"]
    for p in people:
        p["read_states"] = [{"course_id": c, "last_read_times": {str_id(t["_id"]): s.day(900, 1000)
                                                                 for t in s.few(threads, 1, 6)}}
                            for c in s.few(courses, 0, 2)]
    s.put("users", people, "!external_id", "!username")
    s.maps.add("users:read_states[].last_read_times")
    s.put("contents", posts, "comment_thread_id,-_id", "author_id,course_id", "course_id,_type", "parent_ids")
    s.put("subscriptions", [{"_id": s.oid(), "subscriber_id": s.skew(ids), "source_id": str_id(
        r.choice(threads)["_id"] if r.random() > .02 else s.oid()), "source_type": "CommentThread"}
        for _ in range(3200)],
          "subscriber_id,source_id", "source_id")
    s.ref("""
        modulestore.definitions:edit_info.previous_version modulestore.definitions:_id
        modulestore.definitions:edit_info.original_version modulestore.definitions:_id
        modulestore.structures:original_version modulestore.structures:_id
        modulestore.structures:previous_version modulestore.structures:_id
        modulestore.structures:blocks[].definition modulestore.definitions:_id
        modulestore.structures:blocks[].edit_info.update_version modulestore.structures:_id
        modulestore.structures:blocks[].edit_info.previous_version modulestore.structures:_id
        modulestore.active_versions:versions.draft-branch modulestore.structures:_id
        modulestore.active_versions:versions.published-branch modulestore.structures:_id
        contents:author_id users:_id
        contents:comment_thread_id contents:_id
        contents:parent_id contents:_id
        contents:parent_ids[] contents:_id
        contents:votes.up[] users:_id
        contents:abuse_flaggers[] users:_id
        contents:endorsement.user_id users:_id
        subscriptions:subscriber_id users:_id
        subscriptions:source_id contents:_id
        users:read_states[].last_read_times.* contents:_id""")
    s.allow("""
        contents:author_username users:username
        contents:author_id users:external_id
        contents:votes.up[] users:external_id
        contents:abuse_flaggers[] users:external_id
        contents:endorsement.user_id users:external_id
        subscriptions:subscriber_id users:external_id
        users:external_id users:_id
        modulestore.definitions:edit_info.edited_by users:_id
        modulestore.structures:edited_by users:_id
        modulestore.structures:blocks[].edit_info.edited_by users:_id
        modulestore.active_versions:edited_by users:_id""")
    s.copy("contents:author_id users:_id author_username username")


@data_set
def eletropostos(s):
    """Charging of cars in Portuguese on MongoEngine: connectors by station and number, cards, invoices of sessions."""
    r = s.r
    ops = ["BR*%s" % x for x in "EDP ENX ZLT VOL TUP SHL RAI NEO WEG INC".split()]
    s.put("operadoras", [{"_id": o, "razao_social": s.title(2) + " Ltda", "cnpj": "%014d" % r.randrange(10**14)}
                         for o in ops])
    s.put("planos", [{"_id": i, "nome": s.title(1), "mensalidade": Cents(1000 * i - 1000), "desconto_pct": 2 * i}
                     for i in range(1, 11)])
    s.put("tarifas", [{"_id": i, "preco_kwh": Cents(r.randint(90, 290)), "preco_minuto": Cents(r.randint(0, 80)),
                       "operadora": ops[i % 10], "vigencia": s.day(300, 700)} for i in range(1, 25)])
    est = []
    for i in range(96):
        o = s.skew(ops)
        est.append({"_id": s.oid(), "codigo": "%s*E%05d" % (o, 1000 + 7 * i), "nome": s.title(2), "operadora": o,
                    "cidade": r.choice(CITY), "ano_instalacao": r.randint(2016, 2021), "vagas": r.randint(1, 6),
                    "servicos": s.few(["cafe", "wifi", "banheiro", "loja"], 0, 3)})
    s.put("estacoes", est, "!codigo", "operadora")
    con = [{"_id": s.oid(), "estacao": e["codigo"], "numero": n, "tipo": r.choice(["CCS2", "Tipo2", "CHAdeMO"]),
            "potencia_kw": r.choice([7, 22, 50, 150])} for e in est for n in range(1, r.randint(2, 5))]
    s.put("conectores", con, "!estacao,numero")
    gente = [{"_id": s.uuid(), "nome": s.person(), "cpf": "%011d" % r.randrange(10**11),
              "plano": s.skew(list(range(1, 11))),
              "veiculo": s.maybe(.7, {"modelo": s.title(1), "bateria_kwh": r.choice([24, 40, 58, 77])}),
              "favoritas": [e["_id"] for e in s.few(est, 0, 4)], "pontos": r.randint(0, 900)} for _ in range(1200)]
    s.put("clientes", gente)
    tags = ["04%012X" % r.getrandbits(48) for _ in range(1350)]
    s.put("cartoes", [{"_id": t, "cliente": str(s.skew(gente, 1.1)["_id"]), "ativo": r.random() < .95,
                       "emissao": s.day(200, 900)} for t in tags], "cliente")
    sessoes = []
    for i in range(5200):
        c, ini = s.skew(con, 1.4), r.randint(0, 900000)
        sessoes.append({"_id": 71003 + i + i // 40, "_cls": "Sessao.Ocpp16" if i % 9 else "Sessao.Manual",
                        "estacao": c["estacao"], "conector": c["numero"], "cartao": s.skew(tags, 1.5)
                        if r.random() > .02
                        else "04%012X" % r.getrandbits(48), "tarifa": r.randint(1, 24), "medidor_inicio": ini,
                        "medidor_fim": ini + r.randint(500, 60000), "minutos": r.randint(3, 240),
                        "inicio": s.day(700, 1000),
                        "motivo_fim": r.choice(["Local", "Remote", "EVDisconnected"])})
    s.put("sessoes", sessoes, "estacao,conector", "cartao")
    s.put("leituras", [{"_id": s.oid(), "sessao": s.skew(sessoes[-420:], 1.2)["_id"], "seg": 60 * r.randint(0, 200),
                        "v": r.randint(215, 235), "a": r.randint(0, 32), "soc": s.maybe(.5, r.randint(5, 100))}
                       for _ in range(13000)], "sessao,seg")
    s.put("faturas", [{"_id": "2021/%06d" % (101 + i), "cliente": s.skew(gente)["_id"], "sessoes": [
        x["_id"] for x in s.few(sessoes, 1, 6)], "total": Cents(r.randint(900, 60000)),
        "dia_vencimento": r.choice([5, 10, 20]),
                       "nfe": "35%042d" % r.randrange(10**42)} for i in range(1900)], "cliente")
    tec = ["%s%s" % (a.lower(), b[0]) for a, b in zip(r.sample(FIRST, 18), r.sample(LAST, 18))]
    s.put("tecnicos", [{"_id": t, "regiao": r.choice(CITY), "nivel": r.randint(1, 3), "operadoras": s.few(ops, 1, 4)}
                       for t in tec])
    chamados = []
    for i in range(1, 381):
        tipo = r.choice(["cliente", "cliente", "tecnico"])
        chamados.append({"_id": i, "estacao": r.choice(est)["_id"], "sessao": s.maybe(.4, r.choice(sessoes)["_id"]),
                         "autor": {"tipo": tipo, "id": str(r.choice(gente)["_id"]) if tipo == "cliente"
                                   else r.choice(tec)},
                         "prioridade": r.randint(1, 4), "responsavel": s.maybe(.9, r.choice(tec)),
                         "duplicado_de": r.randint(
                             1, i - 1) if i > 30 and r.random() < .08 else NO, "texto": s.words(4, 15)})
    s.put("chamados", chamados, "estacao")
    s.put("eventos", [{"_id": s.oid(), "ponto": x["estacao"], "porta": x["numero"] if r.random() > .15 else 0,
                       "estado": r.choice(["Available", "Charging", "Faulted"]), "erro": s.maybe(.1, r.randint(1, 16))}
                      for x in r.choices(con, k=3300)], "ponto")
    s.ref("""
        tarifas:operadora operadoras:_id
        estacoes:operadora operadoras:_id
        conectores:estacao estacoes:codigo
        clientes:plano planos:_id
        clientes:favoritas[] estacoes:_id
        cartoes:cliente clientes:_id
        sessoes:estacao estacoes:codigo
        sessoes:estacao+conector conectores:estacao+numero
        sessoes:cartao cartoes:_id
        sessoes:tarifa tarifas:_id
        leituras:sessao sessoes:_id
        faturas:cliente clientes:_id
        faturas:sessoes[] sessoes:_id
        tecnicos:operadoras[] operadoras:_id
        chamados:estacao estacoes:_id
        chamados:sessao sessoes:_id
        chamados:autor.id clientes:_id
        chamados:autor.id tecnicos:_id
        chamados:responsavel tecnicos:_id
        chamados:duplicado_de chamados:_id
        eventos:ponto estacoes:codigo""")
    s.allow("eventos:ponto+porta conectores:estacao+numero")
