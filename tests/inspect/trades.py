# SPDX-License-Identifier: Apache-2.0
"""trades.py - sets of trades and devices: other languages, natural keys, maps, time series, arrays that grow."""
import datetime
from collections import defaultdict

from truth import (CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, element, encode, get, str_id,
                   text_date)


@data_set
def schule(s):
    """A German school: teachers by initials, classes by name, marks that look like every other small number."""
    r = s.r
    lehrer = sorted({a[:2].upper() + b[0].upper() for a in r.sample(LAST, 24) for b in r.sample(FIRST, 3)})
    faecher = "MA DE EN FR LA PH CH BI GE EK SP KU MU RE IF".split()
    klassen = ["%d%s" % (i, c) for i in range(5, 13) for c in "abcd"]
    raeume = ["%s%d%02d" % (h, e, n) for h in "AB" for e in (0, 1, 2) for n in range(1, 9)]
    s.put("lehrer", [{"_id": k, "name": r.choice(LAST), "vorname": r.choice(FIRST), "faecher": s.few(faecher, 1, 3),
                      "stundensoll": r.randint(10, 26), "geburtsjahr": r.randint(1958, 1996)} for k in lehrer])
    s.put("faecher", [{"_id": f, "bezeichnung": s.title(1), "hauptfach": f in ("MA", "DE", "EN")} for f in faecher])
    s.put("raeume", [{"_id": x, "plaetze": r.choice([24, 28, 32]), "beamer": r.random() < .6} for x in raeume])
    schueler, gruppe = [], {k: [] for k in klassen}
    for i in range(760):
        k = r.choice(klassen)
        schueler.append({"_id": s.oid(), "vorname": r.choice(FIRST), "nachname": r.choice(LAST), "klasse": k,
                         "geboren": s.day(-6500, -3500), "plz": "%05d" % r.randint(1067, 99998),
                         "telefon": "0%d/%d" % (r.randint(30, 9999), r.randrange(10**5, 10**7))})
        if r.random() > .02:
            gruppe[k if r.random() > .03 else r.choice(klassen)].append(schueler[-1]["_id"])
    s.put("schueler", schueler, "klasse", "nachname,vorname")
    s.put("klassen", [{"_id": k, "stufe": int(k[:-1]), "klassenlehrer": x, "raum": r.choice(raeume),
                       "schueler": gruppe[k]} for k, x in zip(klassen, r.sample(lehrer, len(klassen)))])
    kurse = [{"_id": s.oid(), "fach": f, "lehrkraft": r.choice(lehrer), "klasse": k, "wochenstunden": r.randint(1, 5)}
             for k in klassen for f in s.few(faecher, 9, 11)]
    s.put("kurse", kurse, "klasse,fach", "klasse", "lehrkraft")
    von = defaultdict(list)
    for k in kurse:
        von[k["klasse"]].append(k["_id"])
    noten = []
    for p in schueler:
        for k in s.few(von[p["klasse"]], 3, 8):
            noten.append({"_id": s.oid(), "schueler": p["_id"], "kurs": k, "note": r.randint(1, 6),
                          "art": r.choice(["Klausur", "Test", "muendlich"]), "datum": s.day(900, 1100)})
    s.put("noten", noten, "schueler,kurs")
    s.put("fehlzeiten", [{"_id": s.oid(), "schuelerId": str_id(s.skew(schueler)["_id"]), "von": s.day(900, 1100),
                          "tage": r.randint(1, 9), "gemeldetVon": r.choice(lehrer) if r.random() > .04 else "SEK"}
                         for _ in range(900)])
    s.put("stundenplan", [{"_id": {"klasse": k, "tag": t, "stunde": h}, "kurs": r.choice(von[k]),
                           "raum": r.choice(raeume)} for k in klassen for t in ("Mo", "Di", "Mi", "Do", "Fr")
                          for h in range(1, 7)], "raum")
    s.ref("""
        lehrer:faecher[] faecher:_id
        schueler:klasse klassen:_id
        klassen:klassenlehrer lehrer:_id
        klassen:raum raeume:_id
        klassen:schueler[] schueler:_id
        kurse:fach faecher:_id
        kurse:lehrkraft lehrer:_id
        kurse:klasse klassen:_id
        noten:schueler schueler:_id
        noten:kurs kurse:_id
        fehlzeiten:schuelerId schueler:_id
        fehlzeiten:gemeldetVon lehrer:_id
        stundenplan:_id.klasse klassen:_id
        stundenplan:kurs kurse:_id
        stundenplan:raum raeume:_id""")
    s.two_way("klassen", "schueler[]", "schueler", "klasse")


@data_set
def biblioteca(s):
    """A Spanish library: ISBN as text and as number, copies by bar code, members by identity card."""
    r = s.r
    isbn = ["978%010d" % (84 * 10**8 + i * 1234567 % 10**8) for i in range(900)]
    autores = range(1, 361)
    s.put("autores", [{"_id": i, "nombre": s.person(), "pais": r.choice(COUNTRY), "nacimiento": r.randint(1540, 1990)}
                      for i in autores])
    s.put("editoriales", [{"_id": s.oid(), "nombre": s.title(2), "ciudad": r.choice(CITY), "codigo": "ED%03d" % i}
                          for i in range(48)], "!codigo")
    s.put("libros", [{"_id": n, "titulo": s.title(2, 6), "autores": s.few(autores, 1, 3), "anio": r.randint(1890, 2021),
                      "editorial": "ED%03d" % r.randrange(48), "paginas": r.randint(60, 900),
                      "idioma": s.skew(["es", "ca", "en"]),
                      "cdu": "%d.%d" % (r.randint(0, 9), r.randint(1, 99))} for n in isbn], "autores", "titulo")
    ejemplares = [{"_id": s.oid(), "codigoBarras": "B%08d" % (40000 + 13 * i), "isbn": s.skew(isbn, 1.3),
                   "estante": r.randint(1, 60),
                   "estado": r.choice(["bueno", "usado", "roto"])} for i in range(2000)]
    s.put("ejemplares", ejemplares, "!codigoBarras", "isbn")
    dni = sorted({"%08d%s" % (r.randrange(10**6, 10**8), r.choice("TRWAGMYFPDXBNJZS")) for _ in range(620)})
    s.put("socios", [{"_id": s.oid(), "dni": d, "numSocio": i, "nombre": s.person(),
                      "telefono": "6%08d" % r.randrange(10**8),
                      "codigoPostal": "%05d" % r.randint(1001, 52080), "alta": s.day(0, 900)}
                      for i, d in enumerate(dni, 1)], "!dni", "!numSocio")
    prestamos = []
    for i in range(3800):
        when = s.day(i / 4, i / 4 + 1)
        prestamos.append({"_id": s.oid(), "ejemplar": s.skew(ejemplares)["codigoBarras"], "socio": s.skew(dni),
                          "prestado": when, "devuelto": s.maybe(.96, when + datetime.timedelta(days=r.randint(1, 50))),
                          "renovaciones": r.choice([0, 0, 0, 1, 2]), "empleado": r.randint(1, 7)})
    for p in r.sample(prestamos, 40):
        p["socio"] = "%08dQ" % r.randrange(10**6)
    s.put("prestamos", prestamos, "ejemplar,prestado", "socio")
    s.put("reservas", [{"_id": s.oid(), "isbn": Long(n) if r.random() < .3 else n, "socioNum": r.randint(1, len(dni)),
                        "fecha": s.day(900, 1000), "posicion": r.randint(1, 5)} for n in r.choices(isbn, k=700)],
                        "isbn")
    s.put("multas", [{"_id": s.oid(), "prestamoId": p["_id"], "importe": Cents(r.randint(50, 2500)),
                      "pagada": r.random() < .7} for p in r.sample(prestamos, 260)])
    s.ref("""
        libros:autores[] autores:_id
        libros:editorial editoriales:codigo
        ejemplares:isbn libros:_id
        prestamos:ejemplar ejemplares:codigoBarras
        prestamos:socio socios:dni
        reservas:isbn libros:_id
        reservas:socioNum socios:numSocio
        multas:prestamoId prestamos:_id""")


@data_set
def iot(s):
    """Machines that report every five minutes; names of firmware, models and gateways are the keys; counters by day."""
    r = s.r
    sites = ["plant-%s-%d" % (c.lower(), i) for i, c in enumerate(CITY[:12])]
    models = ["TX-%d%s" % (n, c) for n in (100, 200, 450, 700) for c in "ABC"]
    builds = ["%d.%d.%d" % (a, b, c) for a in (1, 2) for b in range(5) for c in range(6)]
    gateways = ["GW%010X" % r.getrandbits(40) for _ in range(36)]
    devices = ["dev-%04d" % (1000 + 3 * i) for i in range(48)]
    staff = [s.oid() for _ in range(40)]
    s.put("sites", [{"_id": x, "lat": r.uniform(40, 60), "lon": r.uniform(-9, 25), "areaM2": r.randint(900, 90000)}
                    for x in sites])
    s.put("models", [{"_id": s.oid(), "sku": m, "maxTemp": r.randint(60, 120), "vendor": s.title(1)} for m in models],
          "!sku")
    s.put("firmware", [{"_id": s.oid(), "version": b, "released": s.day(0, 900), "sizeKb": r.randint(200, 900)}
                       for b in builds], "!version")
    s.put("gateways", [{"_id": g, "site": r.choice(sites), "ip": "10.0.%d.%d" % (r.randrange(256), r.randrange(256)),
                        "uplink": r.choice(["lte", "eth"]), "log": [
                            {"at": s.day(700, 820), "rssi": -r.randint(30, 110), "code": r.choice([3, 7, 12])}
                            for _ in range(r.randint(150, 420))]} for g in gateways])
    s.put("operators", [{"_id": p, "name": s.person(), "shift": r.randint(1, 3),
                         "badge": "%06d" % r.randrange(10**6)} for p in staff])
    docs = []
    for d in devices:
        days = {text_date(datetime.datetime(2021, 3, 1) + datetime.timedelta(days=k)): r.randrange(9999)
                for k in range(r.randint(5, 40))}
        docs.append({"_id": d, "gateway": r.choice(gateways), "model": r.choice(models), "fw": r.choice(builds),
                     "slot": r.randint(1, 8),
                     "cyclesByDay": days, "installedBy": r.choice(staff)})
    s.put("devices", docs)
    s.maps.add("devices:cyclesByDay")
    base, rows = datetime.datetime(2021, 4, 1), []
    for k in range(190):
        for d in devices:
            if r.random() > .02:
                rows.append({"_id": s.oid(), "deviceId": d, "ts": base + datetime.timedelta(seconds=300 * k),
                             "temp": round(r.gauss(45, 8), 1),
                             "rpm": r.randint(800, 3000), "ok": r.random() < .99})
    s.put("telemetry", rows, "deviceId,ts")
    s.put("alerts", [{"_id": s.oid(), "device": s.skew(devices), "code": r.choice([3, 7, 12, 40, 41]),
                      "severity": r.randint(1, 4),
                      "raised": s.day(820, 830), "ackBy": s.maybe(.7, r.choice(staff))} for _ in range(1100)],
                      "device", "severity")
    s.ref("""
        gateways:site sites:_id
        devices:gateway gateways:_id
        devices:model models:sku
        devices:fw firmware:version
        devices:installedBy operators:_id
        telemetry:deviceId devices:_id
        alerts:device devices:_id
        alerts:ackBy operators:_id""")
    steps = []
    last = {}
    for x in rows:
        if x["deviceId"] in last:
            steps.append((x["ts"] - last[x["deviceId"]]).seconds)
        last[x["deviceId"]] = x["ts"]
    s.more["timeSeries"] = [{"ns": s.name + ".telemetry", "time": "ts", "series": "deviceId", "count": len(last),
                             "stepSeconds": sorted(steps)[(len(steps) - 1) // 2]}]


@data_set
def shop(s):
    """A web shop: carts and orders with lines inside, titles copied into lines, categories by slug with ancestors."""
    r = s.r
    cats = []
    for i in range(90):
        up = r.choice(cats[max(0, i - 30):]) if i > 5 else None
        cats.append({"_id": "%s-%d" % (s.words(1), i), "name": s.title(1), "parent": up["_id"] if up else None,
                     "ancestors": up["ancestors"] + [up["_id"]] if up else [], "sortOrder": i % 7})
    s.put("categories", cats, "parent")
    brands = ["%s%d" % (s.words(1)[:4].upper(), i) for i in range(55)]
    s.put("brands", [{"_id": s.oid(), "code": b, "label": s.title(2), "country": r.choice(COUNTRY)} for b in brands],
          "!code")
    markets = ["price_DE", "price_AT", "price_CH", "price_FR", "price_UK", "price_US", "price_SE"]
    products = [{"_id": s.oid(), "sku": "%s-%05d" % (r.choice("ABCDEFG") * 2, 100 + 7 * i), "title": s.title(1, 2),
                 "category": r.choice(cats)["_id"],
                 "brand": s.skew(brands), "ean": "40%011d" % r.randrange(10**11), "stock": r.randrange(500),
                 "weight": r.randint(10, 9000),
                 "seo": s.words(4), "active": r.random() < .9, "tags": s.few(WORD[:20], 0, 4),
                 **{m: Cents(r.randint(100, 50000)) for m in markets if r.random() < .4}} for i in range(800)]
    customers = [{"_id": s.oid(), "email": "%s%d@mail.example" % (s.words(1), i), "name": s.person(),
                  "newsletter": r.random() < .4,
                  "addresses": [{"_id": s.oid(), "street": "%s %d" % (s.title(1), r.randint(1, 200)),
                                 "zip": "%05d" % r.randrange(99999), "city": r.choice(CITY)}
                                for _ in range(r.randint(1, 3))], "points": r.randrange(2000)} for i in range(700)]
    coupons = ["%s%d" % (s.words(1).upper(), r.choice([5, 10, 15, 20])) + r.choice("XYZ") for _ in range(60)]
    coupons = sorted(set(coupons))
    s.put("products", products, "!sku", "category", "brand", "category,brand", "title", "active", "stock", "ean",
          "tags", "seo", "weight",
          "price_DE", "price_AT")
    s.put("customers", customers, "!email", "addresses.zip")
    s.put("coupons", [{"_id": c, "percent": r.choice([5, 10, 20]), "validUntil": s.day(900, 1500),
                       "maxUses": r.choice([1, 100])} for c in coupons])
    orders = []
    for i in range(2600):
        c = s.skew(customers, 1.3)
        orders.append({"_id": s.oid(), "orderNo": "%d-%06d" % (2019 + i // 1300, 1000 + i),
                       "customer": {"id": c["_id"], "name": c["name"]},
                       "lines": [{"sku": p["sku"], "title": p["title"] if r.random() > .03 else s.title(1, 2),
                                  "qty": r.randint(1, 5),
                                  "price": Cents(r.randint(100, 50000))} for p in s.few(products, 1, 4)],
                       "shipTo": r.choice(c["addresses"])["_id"], "coupon": s.maybe(.15, r.choice(coupons)),
                       "status": s.skew([30, 20, 10, 90]),
                       "placed": s.day(i / 4, i / 4 + 1), "trackingNo": s.maybe(.8, "%014d" % r.randrange(10**14))})
    s.put("orders", orders, "!orderNo", "customer.id,-placed", "lines.sku", "status")
    s.put("carts", [{"_id": "%032x" % r.getrandbits(128), "customerId": s.maybe(.6, r.choice(customers)["_id"]),
                     "items": [{"productId": p["_id"], "qty": r.randint(1, 3)} for p in s.few(products, 0, 4)],
                     "updated": s.day(900, 930)}
                    for _ in range(450)], "updated")
    s.put("reviews",
          [{"_id": s.oid(), "sku": s.skew(products)["sku"] if r.random() > .03 else "ZZ-%05d" % r.randrange(9999),
            "orderNo": o["orderNo"],
                       "by": o["customer"]["id"], "stars": r.randint(1, 5), "text": s.maybe(.7, s.words(5, 25)),
                       "helpful": r.randrange(30)}
                      for o in r.sample(orders, 900)], "sku")
    s.ref("""
        categories:parent categories:_id
        categories:ancestors[] categories:_id
        products:category categories:_id
        products:brand brands:code
        orders:customer.id customers:_id
        orders:lines[].sku products:sku
        orders:coupon coupons:_id
        carts:customerId customers:_id
        carts:items[].productId products:_id
        reviews:sku products:sku
        reviews:orderNo orders:orderNo
        reviews:by customers:_id""")
    s.allow("orders:shipTo customers:addresses[]._id")
    s.copy("orders:customer.id customers:_id customer.name name")
    s.copy("orders:lines[].sku products:sku lines[].title title")
    s.more["tree"] = s.tree_figures("categories", "parent")


@data_set
def tickets(s):
    """What an object mapper of Java writes: _class, DBRefs in fields and in arrays, collections in the singular."""
    r = s.r

    def to(name, doc):
        return {"$ref": name, "$id": doc["_id"]}

    roles = [{"_id": n, "_class": "org.example.Role", "rank": i} for i, n in enumerate(
        "ROLE_ADMIN ROLE_AGENT ROLE_CUSTOMER ROLE_LEAD ROLE_AUDITOR ROLE_BOT".split())]
    users = [{"_id": s.oid(), "_class": "org.example.User", "login": r.choice(LAST).lower() + str(i),
              "roles": [to("role", x) for x in s.few(roles, 1, 3)],
              "phone": "0%09d" % r.randrange(10**9), "enabled": True,
              "version": Long(r.randrange(9))} for i in range(360)]
    projects = [{"_id": s.oid(), "_class": "org.example.Project", "code": "PRJ%03d" % i,
                 "owner": to("user", r.choice(users)),
                 "watchers": [x["_id"] for x in s.few(users, 0, 6)]} for i in range(70)]
    labels = [{"_id": s.oid(), "_class": "org.example.Label", "text": w, "color": r.choice(["red", "blue"])}
              for w in WORD[:40]]
    docs = []
    for i in range(2400):
        docs.append({"_id": s.oid(), "_class": "org.example.Ticket", "no": i + 1, "title": s.title(3, 6),
                     "reporter": to("user", r.choice(users)),
                     "assignee": to("user", s.skew(users, 3)) if r.random() < .8 else None,
                     "project": to("project", s.skew(projects)),
                     "labels": [to("label", x) for x in s.few(labels, 0, 3)], "priority": r.randint(1, 5),
                     "storyPoints": r.choice([1, 2, 3, 5, 8]),
                     "duplicateOf": s.maybe(.06, r.choice(docs)["_id"]) if docs else NO,
                     "version": Long(r.randrange(20)),
                     "comments": [{"author": to("user", r.choice(users)), "text": s.words(3, 12)}
                                  for _ in range(int(8 * r.random() ** 3))]})
    s.put("role", roles)
    s.put("user", users, "!login")
    s.put("project", projects, "!code")
    s.put("label", labels)
    s.put("ticket", docs, "!no", "project.$id", "reporter.$id")
    s.put("worklog", [{"_id": s.oid(), "_class": "org.example.Worklog", "ticketNo": r.randint(1, 2400),
                       "minutes": r.randint(5, 480),
                       "user": r.choice(users)["login"], "day": s.day(0, 900)} for _ in range(1500)], "ticketNo")
    s.ref("""
        user:roles[].$id role:_id
        project:owner.$id user:_id
        project:watchers[] user:_id
        ticket:reporter.$id user:_id
        ticket:assignee.$id user:_id
        ticket:project.$id project:_id
        ticket:labels[].$id label:_id
        ticket:duplicateOf ticket:_id
        ticket:comments[].author.$id user:_id
        worklog:ticketNo ticket:no
        worklog:user user:login""")


@data_set
def movielens(s):
    """Ratings as a map from film to stars, film numbers with gaps, codes with and without a lookup table."""
    r = s.r
    films = sorted(r.sample(range(1, 9000), 900))
    s.put("movies", [{"_id": f, "title": "%s (%d)" % (s.title(1, 4), r.randint(1930, 2019)),
                      "genres": s.few(["Drama", "Comedy", "War", "Noir"], 1, 2)}
                     for f in films])
    s.put("links", [{"_id": s.oid(), "movieId": f, "imdbId": "tt%07d" % (110000 + 97 * i),
                     "tmdbId": r.randrange(2, 300000)}
                    for i, f in enumerate(films)], "!movieId")
    s.put("occupations", [{"_id": i, "label": s.words(2)} for i in range(21)])
    s.put("users", [{"_id": u, "gender": r.choice("MF"), "age": r.choice([1, 18, 25, 35, 45, 50, 56]),
                     "occupation": r.randrange(21),
                     "zip": "%05d" % r.randrange(99999)} for u in range(1, 611)])
    s.put("userRatings", [{"_id": u, "ratings": {str(f): r.randint(1, 10) / 2 for f in s.few(films, 3, 60)},
                           "updated": s.day(0, 900)}
                          for u in range(1, 611)])
    s.maps.add("userRatings:ratings")
    s.put("tags", [{"_id": s.oid(), "userId": r.randint(1, 610), "movieId": s.skew(films), "tag": s.words(1),
                    "timestamp": r.randint(10**9, 15 * 10**8)}
                   for _ in range(2500)], "movieId", "userId")
    s.put("genomeTags", [{"_id": i, "tag": w} for i, w in enumerate(WORD, 1)])
    s.put("genomeScores", [{"_id": {"movieId": f, "tagId": t}, "relevance": r.random()} for f in films[:300]
                           for t in s.few(range(1, len(WORD) + 1), 5, 12)],
          "_id.tagId")
    s.put("similar", [{"_id": f, "neighbours": [{"movie": n, "w": r.random()} for n in s.few(films, 5, 10)]}
                      for f in films])
    s.ref("""
        links:movieId movies:_id
        users:occupation occupations:_id
        userRatings:ratings.* movies:_id
        userRatings:_id users:_id either
        tags:userId users:_id
        tags:movieId movies:_id
        genomeScores:_id.movieId movies:_id
        genomeScores:_id.tagId genomeTags:_id
        similar:_id movies:_id either
        similar:neighbours[].movie movies:_id""")
    s.allow("""
        tags:userId userRatings:_id
        tags:tag genomeTags:tag
        similar:_id links:movieId
        userRatings:ratings.* links:movieId""")


@data_set
def rooms(s):
    """A game: one room's log of events has grown for a hundred days and goes on; friends, guilds and items by code."""
    r = s.r
    players = [s.oid() for _ in range(420)]
    items = ["%s_%s" % tuple(r.sample(WORD, 2)) for _ in range(160)]
    items = sorted(set(items))
    guilds = [s.oid() for _ in range(24)]
    s.put("items", [{"_id": s.oid(), "code": i, "slot": r.choice(["head", "hand", "feet"]), "power": r.randint(1, 99),
                     "level": r.randint(1, 60)}
                    for i in items], "!code")
    docs = [{"_id": p, "nick": s.words(1) + str(i), "level": r.randint(1, 60), "xp": r.randrange(10**6),
             "guild": s.maybe(.7, r.choice(guilds)),
             "friends": s.few(players, 0, int(60 * r.random() ** 3)),
             "inventory": [{"code": c, "count": r.randint(1, 20)} for c in s.few(items, 0, 8)],
             "recruitedBy": s.maybe(.3, players[r.randrange(i)]) if i else NO} for i, p in enumerate(players)]
    of = defaultdict(list)
    for d in docs:
        of[d["guild"]].append(d["_id"])
    s.put("players", docs, "!nick", "guild")
    s.put("guilds", [{"_id": g, "name": s.title(2), "leader": r.choice(of[g]), "members": of[g], "rank": i + 1}
                     for i, g in enumerate(guilds)])
    end, logs = datetime.datetime(2021, 6, 30), []
    for i in range(300):
        n, span, words = (9000, 100, 60) if i == 77 else (r.randint(0, 40), 400, 12)
        when = sorted(end - datetime.timedelta(seconds=int(span * 86400 * r.random() ** 1.5)) for _ in range(n))
        logs.append({"_id": s.oid(), "host": r.choice(players), "map": s.skew(WORD[:12]),
                     "maxSeats": r.choice([4, 8, 16]), "events": [
            {"at": t, "who": r.choice(players), "kind": r.choice(["join", "leave", "score", "chat"]),
             "note": s.words(words // 2, words)} for t in when]})
    s.put("rooms", logs, "host")
    s.put("matches", [{"_id": s.oid(), "room": r.choice(logs)["_id"], "round": k % 9 + 1, "teams": [
        {"color": c, "players": s.few(players, 1, 4), "score": r.randrange(30)} for c in ("red", "blue")],
        "mvp": r.choice(players)} for k in range(900)],
        "room", "teams.players")
    s.ref("""
        players:guild guilds:_id
        players:friends[] players:_id
        players:inventory[].code items:code
        players:recruitedBy players:_id
        guilds:leader players:_id
        guilds:members[] players:_id
        rooms:host players:_id
        rooms:events[].who players:_id
        matches:room rooms:_id
        matches:teams[].players[] players:_id
        matches:mvp players:_id""")
    s.two_way("guilds", "members[]", "players", "guild")
    big = max(s.docs["rooms"], key=lambda d: len(encode(d)))
    newest = max(get(big, "events[].at"))
    new = sum(len(element(str(i), e))
              for i, e in enumerate(big["events"]) if e["at"] > newest - datetime.timedelta(days=30))
    days = ((1 << 24) - len(encode(big))) / (new / 30)
    full = newest + datetime.timedelta(days=days)
    assert days < 330
    s.more["growth"] = {"ns": s.name + ".rooms", "path": "events", "reaches16MiB": text_date(full),
                        "toleranceDays": 3 + int(days / 30)}


@data_set
def redaction(s):
    """A publisher's content: long bodies, titles in many languages as fields, links between articles by slug, menus."""
    r = s.r
    langs = "fr en de es it pt nl pl".split()
    auteurs = [{"_id": s.oid(), "nom": s.person(), "twitter": s.maybe(.5, "@" + s.words(1)),
                "pays": r.choice(COUNTRY)} for _ in range(70)]
    images = [{"_id": "img/%06x.jpg" % r.getrandbits(24), "w": r.choice([640, 1280]), "h": r.choice([480, 720]),
               "credit": s.person(),
               "uploadedBy": r.choice(auteurs)["_id"]} for _ in range(300)]
    slugs = ["%s-%d" % (s.words(3).replace(" ", "-"), i) for i in range(160)]
    rubriques = ["politique", "economie", "culture", "sport", "sciences", "voyages", "cuisine", "opinions", "regions",
                 "societe", "medias", "livres"]
    s.put("rubriques", [{"_id": x, "titre": x.title(), "ordre": i, "responsable": r.choice(auteurs)["_id"]}
                        for i, x in enumerate(rubriques, 1)])
    s.put("auteurs", auteurs)
    s.put("images", images)
    articles = []
    for i, g in enumerate(slugs):
        two = r.random() < .5
        articles.append({"_id": s.oid(), "slug": g, "schemaVersion": 2 if two else 1, "rubrique": s.skew(rubriques),
                         **{"title_" + x: s.title(3, 6) for x in langs if r.random() < .35},
                         "auteur": r.choice(auteurs)["_id"],
                         "relecteur": s.maybe(.6, r.choice(auteurs)["_id"]), "cover": r.choice(images)["_id"],
                         "corps": s.words(1600, 2000),
                         "lies": s.few(slugs, 0, 4), "paru": s.day(0, 900) if i % 12 else text_date(s.day(0, 900)),
                         "lectures": r.randrange(90000),
                         "note": str(r.randint(1, 5)) if i % 10 == 3 else r.randint(1, 5)})
    s.put("articles", articles, "!slug", "rubrique,-paru", "auteur", "auteur,relecteur")
    menu = []
    for i in range(60):
        up = r.choice(menu[-8:]) if i > 2 else None
        menu.append({"_id": 10 * i + 5, "libelle": s.title(1), "parentId": up["_id"] if up else 0, "rang": i % 6,
                     "article": s.maybe(.6, r.choice(slugs))})
    s.put("menus", menu)
    s.put("abonnes", [{"_id": s.oid(), "courriel": "%s%d@mel.example" % (s.words(1), i),
                       "cp": "%05d" % r.randint(1000, 95880), "formule": r.randint(1, 3),
                       "favoris": s.few(slugs, 0, 6),
                       "suit": [a["_id"] for a in s.few(auteurs, 0, 3)]} for i in range(900)], "!courriel", "suit")
    s.put("visites", [{"_id": s.oid(), "page": "/" + r.choice(slugs), "slug": s.skew(slugs),
                       "jour": text_date(s.day(900, 960)), "n": r.randint(1, 900)}
                      for _ in range(3000)], "slug,jour")
    s.ref("""
        rubriques:responsable auteurs:_id
        images:uploadedBy auteurs:_id
        articles:rubrique rubriques:_id
        articles:auteur auteurs:_id
        articles:relecteur auteurs:_id
        articles:cover images:_id
        articles:lies[] articles:slug
        menus:parentId menus:_id
        menus:article articles:slug
        abonnes:favoris[] articles:slug
        abonnes:suit[] auteurs:_id
        visites:slug articles:slug""")
    s.unjudged.add("orphans")  # a menu of the first level says 0


@data_set
def freight(s):
    """Parcels: places by country and postcode together, plates and route codes as keys, status numbers of no table."""
    r = s.r
    lands = r.sample(COUNTRY, 24)
    places = sorted({(c, "%04d" % r.randrange(1000, 4600)) for c in lands for _ in range(34)})
    depots = ["%s-%s" % (c, "".join(r.sample("ABCDEHKLMNORST", 3))) for c in lands for _ in (1, 2)]
    plates = sorted({"%s-%s %d" % (r.choice("BHMKF"), "".join(r.sample("ABCDEFG", 2)), r.randrange(100, 9999))
                     for _ in range(130)})
    staff = sorted(r.sample(range(10000, 30000), 280))  # numbers of personnel, with gaps
    s.put("countries", [{"_id": c, "name": s.title(1), "callingCode": r.randint(30, 420), "eu": r.random() < .6}
                        for c in lands])
    s.put("postcodes", [{"_id": s.oid(), "country": c, "zip": z, "town": r.choice(CITY), "zone": r.randint(1, 9)}
                        for c, z in places], "!country,zip")
    s.put("depots", [{"_id": d, "country": d[:2], "docks": r.randint(2, 40), "manager": r.choice(staff[:80])}
                     for d in depots])
    s.put("staff",
          [{"_id": n, "name": s.person(), "license": s.maybe(.6, "%s%07d" % (r.choice("ABC"), r.randrange(10**7))),
            "depot": r.choice(depots),
                     "boss": s.maybe(.9, r.choice(staff[:i])) if i else NO} for i, n in enumerate(staff)],
                     "depot")
    s.put("trucks", [{"_id": s.oid(), "plate": p, "capacityKg": r.choice([1200, 3500, 7500]),
                      "home": r.choice(depots), "year": r.randint(2008, 2021)}
                     for p in plates], "!plate")
    tours = [{"_id": "T%d%04d" % (2021, i), "truck": r.choice(plates), "driverId": r.choice(staff),
              "coDriver": s.maybe(.2, r.choice(staff)),
              "stops": [{"seq": k, "depot": d, "eta": s.day(900 + i / 8, 901 + i / 8)}
                        for k, d in enumerate(s.few(depots, 2, 9), 1)]} for i in range(500)]
    s.put("tours", tours, "driverId", "truck", "truck,driverId", "stops.depot")
    parcels = []
    for i in range(3200):
        a, b = s.skew(places, 1.4), r.choice(places)
        if r.random() < .02:
            b = (b[0], "9%03d" % r.randrange(999))
        parcels.append({"_id": s.oid(), "tracking": "1Z%012d" % (i * 99991 + 10**10),
                        "from": {"country": a[0], "zip": a[1]}, "to": {"country": b[0], "zip": b[1]},
                        "tour": s.maybe(.95, r.choice(tours)["_id"]), "weight": r.randint(1, 3000) / 100,
                        "status": r.choice([10, 20, 30, 90]),
                        "scans": [{"depot": d, "by": str(r.choice(staff)), "n": k}
                                  for k, d in enumerate(s.few(depots, 0, 4))]})
    s.put("parcels", parcels, "!tracking", "tour", "to.country,to.zip")
    s.put("claims", [{"_id": s.oid(), "parcel": p["tracking"], "kind": r.choice(["lost", "late", "broken"]),
                      "amount": Cents(r.randint(500, 90000)),
                      "handler": r.choice(staff[:80]), "closed": r.random() < .6} for p in r.sample(parcels, 300)])
    s.ref("""
        postcodes:country countries:_id
        depots:country countries:_id
        depots:manager staff:_id
        staff:depot depots:_id
        staff:boss staff:_id
        trucks:home depots:_id
        tours:truck trucks:plate
        tours:driverId staff:_id
        tours:coDriver staff:_id
        tours:stops[].depot depots:_id
        parcels:from.country countries:_id
        parcels:to.country countries:_id
        parcels:from.country+from.zip postcodes:country+zip
        parcels:to.country+to.zip postcodes:country+zip
        parcels:tour tours:_id
        parcels:scans[].depot depots:_id
        parcels:scans[].by staff:_id
        claims:parcel parcels:tracking
        claims:handler staff:_id""")
