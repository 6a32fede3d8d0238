# SPDX-License-Identifier: Apache-2.0
"""blind_twelfth.py - eight sets with uneven use, short codes, small tables, maps and broken rules, tried last."""
from blind_tenth import codes
from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date


@data_set
def quarry(s):
    """A quarry: benches, blasts, trucks used unevenly, weighbridge tickets, grades by short code, stale names."""
    r = s.r
    s.put("benches", [{"_id": i, "level": r.randint(90, 300), "face": r.choice("NESW")} for i in range(1, 38)])
    grades = ["0/2", "0/4", "2/5", "5/8", "8/11", "11/16", "16/22", "32/56", "ARM", "DUST"]
    s.put("grades", [{"_id": g, "eurPerTon": r.randint(4, 30)} for g in grades])
    s.put("blasts", [{"_id": s.oid(), "bench": s.skew(range(1, 38)), "holes": r.randint(8, 60), "kg": r.randint(
        500, 9000), "shotfirer": r.choice(["Kunz", "Mair", "Sepp"])} for _ in range(420)])
    cust = [{"_id": 3000 + 7 * i, "firm": s.title(2) + " %d" % i, "city": r.choice(CITY)} for i in range(260)]
    s.put("customers", cust)
    s.put("dumpers", [{"_id": i, "make": r.choice(["CAT", "Volvo"]), "t": r.choice([40, 60])} for i in range(1, 20)])
    tickets = []
    for i in range(6800):
        c = s.skew(cust)
        tickets.append({"_id": "W%07d" % (500 + 3 * i), "buyer": {"no": c["_id"], "firm": c["firm"] if r.random() > .03
            else c["firm"] + " Ltd"}, "product": s.skew(grades), "net": r.randint(900, 27000), "unit": s.maybe(
                .3, s.skew(range(1, 20)))})
    s.put("tickets", tickets, "buyer.no", "buyer.no,product")
    s.put("haulage", [{"_id": s.oid(), "dumper": s.skew(range(1, 20)), "loadedFrom": s.skew(range(1, 38), 1.3), "trips":
                       r.randint(1, 30)} for _ in range(2600)])
    s.put("credits", [{"_id": i, "ticket": r.choice(tickets)["_id"] if r.random() > .03 else "W%07d" % (r.randrange(
        10**6) + 10**6), "eur": Cents(r.randint(100, 90000))} for i in range(1, 341)])
    s.ref("""
        blasts:bench benches:_id
        tickets:buyer.no customers:_id
        tickets:product grades:_id
        tickets:unit dumpers:_id
        haulage:dumper dumpers:_id
        haulage:loadedFrom benches:_id
        credits:ticket tickets:_id""")
    s.copy("tickets:buyer.no customers:_id buyer.firm firm")


@data_set
def lighthouse(s):
    """Aids to navigation: lights and charts by number, keepers, notices to mariners, measured ranges."""
    r = s.r
    lights = ["%04d.%d" % (1000 + 3 * i, r.randrange(10)) for i in range(380)]
    charts = [100 + i for i in range(1, 96)]
    s.put("charts", [{"_id": s.oid(), "no": c, "scale": r.choice([25000, 50000, 150000])} for c in charts], "!no")
    kinds = {"LH": "lighthouse", "BY": "buoy", "BN": "beacon", "LF": "light float"}
    s.put("kinds", [{"_id": k, "text": v} for k, v in kinds.items()])
    s.put("lights", [{"_id": x, "kind": r.choice(list(kinds)), "shownOn": [r.choice(charts) for _ in range(r.randint(
        1, 3))], "char": r.choice(["Fl W 5s", "Oc R", "Q"]), "nm": r.randint(3, 26)} for x in lights])
    keep = [s.oid() for _ in range(60)]
    s.put("keepers", [{"_id": k, "name": s.person(), "tended": s.few(lights, 1, 9), "retired": s.maybe(.2, s.day(0,
        900))}
                      for k in keep])
    nots = [{"_id": "%d/%d" % (i % 52 + 1, 2018 + i // 52), "about": s.few(lights, 0, 4), "charts": s.few(charts, 1, 6)}
            for i in range(260)]
    s.put("notices", nots)
    s.put("outages", [{"_id": s.oid(), "light": s.skew(lights), "reportedBy": s.maybe(.5, r.choice(keep)), "published":
                       s.maybe(.6, r.choice(nots)["_id"]), "from": s.day(900, 1400)} for _ in range(1600)], "light")
    s.put("ranges", [{"_id": s.oid(), "of": r.choice(lights), "vis": r.randint(1, 30), "ship": r.choice(["SF12", "KL3",
        "AB9"])} for _ in range(2100)])
    s.ref("""
        lights:kind kinds:_id
        lights:shownOn[] charts:no
        keepers:tended[] lights:_id
        notices:about[] lights:_id
        notices:charts[] charts:no
        outages:light lights:_id
        outages:reportedBy keepers:_id
        outages:published notices:_id
        ranges:of lights:_id""")


@data_set
def tramdepot(s):
    """A tram depot with two tables of equal size, a log by type and id, defects by short code, rosters as maps."""
    r = s.r
    s.put("trams", [{"_id": i, "type": r.choice(["Combino", "Flexity"]), "built": r.randint(1995, 2018)} for i in range(
        1, 73)])
    s.put("tracks", [{"_id": i, "metres": r.randint(60, 300), "pit": r.random() < .3} for i in range(1, 73)])
    dr = ["%05d" % (7 * i + 11) for i in range(190)]
    s.put("drivers", [{"_id": d, "name": s.person(), "lines": s.few(["1", "2", "3", "5", "7", "11"], 1, 4)}
        for d in dr])
    s.put("lines", [{"_id": x, "colour": "#%06x" % r.getrandbits(24), "km": r.randint(4, 22)} for x in ["1", "2", "3",
        "5",
        "7", "11"]])
    dc = sorted({r.choice("ABDEFKMPT") + "%02d" % r.randrange(40) for _ in range(70)})
    s.put("defectcodes", [{"_id": c, "text": s.words(2, 4), "grounds": r.random() < .3} for c in dc])
    s.put("defects", [{"_id": s.oid(), "tram": r.randint(1, 72), "what": s.few(dc, 1, 3), "foundBy": s.skew(dr),
        "opened":
                       s.day(900, 1400)} for _ in range(2700)], "tram")
    s.put("parking", [{"_id": s.oid(), "vehicle": r.randint(1, 72), "track": r.randint(1, 72), "night": text_date(s.day(
        1200, 1400))} for _ in range(3000)])
    s.put("duties", [{"_id": {"line": r.choice(["1", "2", "3", "5", "7", "11"]), "no": i}, "driver": s.skew(dr),
        "parts":
                      [{"tram": r.randint(1, 72), "min": r.randint(20, 240)} for _ in range(r.randint(1, 3))]}
                          for i in range(
                          1, 1301)])
    s.put("audit", [{"_id": s.oid(), "kind": k, "key": str(v), "by": r.choice(dr), "at": s.day(1200, 1400)} for k,
        v in (
        (("tram", r.randint(1, 72)) if r.random() < .5 else ("driver", r.choice(dr))) for _ in range(1500))])
    s.ref("""
        drivers:lines[] lines:_id
        defects:tram trams:_id
        defects:what[] defectcodes:_id
        defects:foundBy drivers:_id
        parking:track tracks:_id
        duties:_id.line lines:_id
        duties:driver drivers:_id
        duties:parts[].tram trams:_id
        audit:by drivers:_id""")
    s.allow("""
        parking:vehicle trams:_id
        parking:vehicle tracks:_id
        audit:key trams:_id
        audit:key drivers:_id""")


@data_set
def seedbank(s):
    """A seed bank: accessions by number, taxa in a tree, boxes in freezers, germination tests, donors and requests."""
    r = s.r
    taxa = []
    for i in range(1, 640):
        up = NO if i < 9 else r.randint(1, 8) if i < 60 else r.randint(9, 59) if i < 240 else r.randint(60, 239)
        taxa.append({"_id": i, "name": s.words(1).capitalize(), "rank": 1 + (i > 8) + (i > 59) + (i > 239),
            "above": up})
    s.put("taxa", taxa)
    inst = ["%s%03d" % (r.choice(COUNTRY), 3 * i + 1) for i in range(66)]
    s.put("institutes", [{"_id": x, "title": s.title(3)} for x in inst])
    acc = ["SB %d" % (20000 + 7 * i) for i in range(2100)]
    fr, n = [], 0
    for i in range(1, 9):
        z = []
        for _ in range(r.randint(60, 120)):
            n += 1
            z.append({"bar": "X%06d" % (19 * n), "tray": r.randint(1, 40)})
        fr.append({"_id": "F%d" % i, "celsius": -18, "boxes": z})
    s.put("freezers", fr)
    bars = [b["bar"] for f in fr for b in f["boxes"]]
    s.put("accessions", [{"_id": a, "species": r.randint(240, 639), "origin": s.maybe(.9, r.choice(COUNTRY)),
        "gave": s.skew(
        inst), "in": s.few(bars, 1, 3), "seeds": 10 * r.randint(5, 900)} for a in acc], "species")
    s.put("countries", [{"_id": c, "region": r.choice(["north", "south"])} for c in COUNTRY])
    s.put("germination", [{"_id": s.oid(), "acc": r.choice(acc), "sown": 50, "up": r.randint(0, 50), "days": r.randint(
        4, 60)} for _ in range(3600)], "acc")
    s.put("requests", [{"_id": s.oid(), "from": r.choice(inst), "wants": s.few(acc, 1, 20), "sent": s.maybe(.8, s.day(
        900, 1400))} for _ in range(700)])
    s.put("redlist", [{"_id": s.oid(), "taxon": i, "cat": r.choice(["LC", "VU", "EN", "CR"])} for i in r.sample(range(
        240, 640), 300)])
    s.ref("""
        taxa:above taxa:_id
        accessions:species taxa:_id
        accessions:origin countries:_id
        accessions:gave institutes:_id
        accessions:in[] freezers:boxes[].bar
        germination:acc accessions:_id
        requests:from institutes:_id
        requests:wants[] accessions:_id
        redlist:taxon taxa:_id""")


@data_set
def balloons(s):
    """Balloon flights: pilots by licence, balloons by registration, launch sites, passengers, landings with farmers."""
    r = s.r
    regs = ["D-O%s%s%s" % (r.choice("ABCDEF"), r.choice("GHIJKL"), c) for c in "MNOPQRSTUVWXYZ"] + ["OE-Z%s%s" % (
        c, r.choice("XYZ")) for c in "ABCDEFGHIJKLMN"]
    s.put("balloons", [{"_id": s.oid(), "reg": x, "m3": 100 * r.randint(16, 120), "annual": s.day(1200, 1500)}
        for x in regs],
          "!reg")
    pil = [40 + 3 * i for i in range(26)]
    s.put("pilots", [{"_id": p, "name": s.person(), "medical": s.day(1200, 1600)} for p in pil])
    s.put("meadows", [{"_id": i, "village": r.choice(CITY), "bestWind": r.choice(["N", "SW", "E"])} for i in range(1,
        49)])
    fl = [{"_id": s.oid(), "craft": r.choice(regs), "pic": s.skew(pil), "off": r.randint(1, 48), "on": s.day(900, 1400),
           "mins": r.randint(30, 180), "crew": [{"role": "chase", "who": r.choice(pil)}] if r.random() < .5 else []}
          for _ in range(2100)]
    s.put("flights", fl)
    v = ["V-%06d" % (101 * i + 17) for i in range(2600)]
    s.put("vouchers", [{"_id": x, "eur": r.choice([190, 230]), "name": s.person(), "usedOn": s.maybe(.8,
        r.choice(fl)["_id"])}
                       for x in v])
    s.put("seats", [{"_id": s.oid(), "flight": r.choice(fl)["_id"], "voucher": s.maybe(.7, x), "kg": r.randint(40, 120)}
                    for x in v for _ in range(2)], "flight")
    s.put("farmers", [{"_id": i, "name": s.person(), "grumpy": r.random() < .3} for i in range(1, 167)])
    s.put("landings", [{"_id": str_id(f["_id"]), "field": r.randint(1, 166), "bottle": r.random() < .8,
        "retrieved": r.choice(
        pil)} for f in r.sample(fl, 1500)])
    s.ref("""
        flights:craft balloons:reg
        flights:pic pilots:_id
        flights:off meadows:_id
        flights:crew[].who pilots:_id
        vouchers:usedOn flights:_id
        seats:flight flights:_id
        seats:voucher vouchers:_id
        landings:_id flights:_id
        landings:field farmers:_id
        landings:retrieved pilots:_id""")


@data_set
def choir(s):
    """Choirs: singers in voices, pieces, concerts with programmes, attendance as a map, fees with mixed types."""
    r = s.r
    voices = ["S1", "S2", "A1", "A2", "T1", "T2", "B1", "B2"]
    s.put("voices", [{"_id": v, "seats": r.randint(6, 14), "rehearses": r.choice(["Mo", "Th"])} for v in voices])
    sing = [s.oid() for _ in range(420)]
    s.put("singers", [{"_id": x, "name": s.person(), "voice": r.choice(voices), "sponsor": s.maybe(.2, r.choice(sing)),
        "fee":
                       r.choice([60, 90]) if r.random() > .06 else str(r.choice([60, 90]))} for x in sing])
    pcs = ["%s %d" % (r.choice(["BWV", "KV", "op.", "Hob."]), 3 * i + 2) for i in range(230)]
    s.put("scores", [{"_id": p, "composer": r.choice(LAST), "copies": r.randint(10, 90), "parts": s.few(voices, 2, 8)}
                     for p in pcs])
    con = [{"_id": i, "church": s.title(1), "date": s.day(0, 1400), "programme": s.few(pcs, 2, 9),
        "soloists": s.few(sing, 0,
        3)} for i in range(1, 94)]
    s.put("concerts", con)
    reh = [{"_id": s.oid(), "day": text_date(s.day(800, 1400)), "for": s.maybe(.8, r.randint(1, 93)),
        "worked": s.few(pcs, 1, 4),
            "attended": {str_id(x): r.choice(["y", "n", "late"]) for x in s.few(sing, 20, 60)}} for _ in range(260)]
    s.maps.add("rehearsals:attended")
    s.put("rehearsals", reh)
    s.put("loans", [{"_id": s.oid(), "score": r.choice(pcs), "copyNo": r.randint(1, 90),
        "to": r.choice(sing) if r.random() > .03
                     else s.oid(), "back": s.maybe(.8, s.day(900, 1400))} for _ in range(2400)], "score",
                         "score,copyNo")
    s.put("reviews", [{"_id": s.oid(), "heard": r.randint(1, 93), "paper": r.choice(WORD), "stars": r.randint(1, 5)}
        for _ in
                      range(310)])
    s.ref("""
        singers:voice voices:_id
        singers:sponsor singers:_id
        scores:parts[] voices:_id
        concerts:programme[] scores:_id
        concerts:soloists[] singers:_id
        rehearsals:for concerts:_id
        rehearsals:worked[] scores:_id
        rehearsals:attended.* singers:_id
        loans:score scores:_id
        loans:to singers:_id
        reviews:heard concerts:_id""")


@data_set
def scrapyard(s):
    """A scrap yard: hulks by chassis number, parts taken off them, racks, two-way lists of orders, buyers by e-mail."""
    r = s.r
    vin = ["WVW%s%06d" % ("".join(r.choices("ABCDEFGHJK0123456789", k=6)), r.randrange(10**6)) for _ in range(700)]
    s.put("hulks", [{"_id": x, "model": r.choice(["Golf", "Polo", "Passat"]), "year": r.randint(1994, 2016),
        "row": r.randint(
        1, 30)} for x in vin])
    s.put("racks", [{"_id": "R%d-%d" % (a, b), "heated": r.random() < .1} for a in range(1, 12) for b in range(1, 9)])
    racks = [d["_id"] for d in s.docs["racks"]]
    mails = ["%s.%s%d@post.example" % (r.choice(FIRST).lower(), r.choice(LAST).lower(), i) for i in range(620)]
    s.put("buyers", [{"_id": s.oid(), "mail": m, "trade": r.random() < .2} for m in mails], "!mail")
    ords = [s.oid() for _ in range(1500)]
    parts = [{"_id": 1 + i, "from": r.choice(vin), "kind": r.choice(["door", "engine", "lamp", "seat"]),
        "lies": s.maybe(
        .7, r.choice(racks)), "order": s.maybe(.4, r.choice(ords)), "eur": r.randint(5, 900)} for i in range(5200)]
    s.put("parts", parts)
    own = {}
    for p in parts:
        if p["order"] is not NO and r.random() > .02:
            own.setdefault(p["order"], []).append(p["_id"])
    s.put("orders", [{"_id": o, "mail": r.choice(mails), "parts": own.get(o, []), "paid": r.random() < .9}
        for o in ords])
    s.put("complaints", [{"_id": s.oid(), "order": str_id(r.choice(ords)), "part": r.randint(1, 5200),
        "refund": r.random() < .5}
                         for _ in range(230)])
    s.put("fluids", [{"_id": s.oid(), "drainedFrom": r.choice(vin), "litres": r.randint(1, 9), "kind": r.choice(["oil",
        "fuel"])}
                     for _ in range(1300)])
    s.ref("""
        parts:from hulks:_id
        parts:lies racks:_id
        parts:order orders:_id
        orders:mail buyers:mail
        orders:parts[] parts:_id
        complaints:order orders:_id
        complaints:part parts:_id
        fluids:drainedFrom hulks:_id""")
    s.two_way("orders", "parts[]", "parts", "order")


@data_set
def planetarium(s):
    """A planetarium: shows, domes, school groups, star names as text keys, projectors with parts, lamp hours."""
    r = s.r
    stars = ["%s %s" % (g, c) for g in ("alp", "bet", "gam", "del", "eps") for c in ("And", "Aql", "Boo", "Cas", "Cyg",
        "Dra",
        "Gem", "Her", "Leo", "Lyr", "Ori", "Peg", "Per", "Tau", "UMa", "Vir")]
    s.put("stars", [{"_id": x, "mag": r.randint(-10, 60) / 10, "ly": r.randint(4, 900)} for x in stars])
    shows = [{"_id": "%s-%s" % (w, r.choice(["kids", "full", "live"])), "min": r.randint(20, 70),
        "features": s.few(stars, 1, 8)}
             for w in r.sample(WORD, 41)]
    s.put("shows", shows)
    s.put("schools", [{"_id": 90100 + i, "town": r.choice(CITY), "kind": r.choice(["primary", "high"])}
        for i in range(310)])
    s.put("presenters", [{"_id": i, "name": s.person()} for i in range(1, 17)])
    ev = [{"_id": s.oid(), "show": s.skew(shows)["_id"], "voice": r.randint(1, 16), "at": s.day(700, 1400), "groups": [
        {"school": 90100 + r.randrange(310), "pupils": r.randint(8, 31), "teacher": s.person()}
            for _ in range(r.randint(0, 4))]}
          for _ in range(2300)]
    s.put("events", ev, "at")
    s.put("feedback", [{"_id": s.oid(), "visit": str_id(r.choice(ev)["_id"]), "school": s.maybe(.8,
        90100 + r.randrange(310)),
                        "favourite": s.maybe(.6, r.choice(stars)), "stars": r.randint(1, 5)} for _ in range(1400)],
                        "visit")
    lamps = ["L%05d" % (41 * i) for i in range(1, 120)]
    s.put("lamps", [{"_id": x, "watts": r.choice([400, 1000]), "bought": s.day(0, 900)} for x in lamps])
    s.put("projectors", [{"_id": i, "dome": r.choice("AB"), "lit": r.choice(lamps), "spare": s.maybe(.7,
        r.choice(lamps))}
                         for i in range(1, 24)])
    s.put("hours", [{"_id": s.oid(), "lamp": r.choice(lamps), "day": text_date(s.day(900, 1400)), "h": r.randint(1, 9)}
        for _ in
                    range(3300)], "lamp")
    s.ref("""
        shows:features[] stars:_id
        events:show shows:_id
        events:voice presenters:_id
        events:groups[].school schools:_id
        feedback:visit events:_id
        feedback:school schools:_id
        feedback:favourite stars:_id
        projectors:lit lamps:_id
        projectors:spare lamps:_id
        hours:lamp lamps:_id""")
