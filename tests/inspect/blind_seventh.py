# SPDX-License-Identifier: Apache-2.0
"""blind_seventh.py - six sets of trades, written together with blind_sixth.py and tried after it."""
import datetime

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


@data_set
def juzgados(s):
    """Law courts in Spanish: cases by number and year, parties with roles, hearings, rulings that cite rulings."""
    r = s.r
    sedes = ["JZ%03d" % (3 * i) for i in range(1, 29)]
    s.put("juzgado", [{"_id": x, "nombre": "Juzgado " + s.title(1), "partido": r.choice(CITY)} for x in sedes])
    jueces = [s.oid() for _ in range(64)]
    s.put("juez", [{"_id": j, "nombre": s.person(), "destino": r.choice(sedes)} for j in jueces])
    abog = [10017 + 23 * i for i in range(340)]
    s.put("letrado", [{"_id": s.oid(), "num_colegiado": n, "nombre": s.person(), "icam": r.choice(CITY)} for n in abog],
          "!num_colegiado")
    pers = [s.oid() for _ in range(2200)]
    s.put("interviniente", [{"_id": p, "nombre": s.person(), "dni": s.maybe(.8,
          "%08d%s" % (r.randrange(10**8), r.choice( LETTERS)))} for p in pers])
    tipos = ["ORD", "VRB", "EJE", "MON", "CON", "FAM", "LAB"]
    s.put("tipo_procedimiento", [{"_id": s.oid(), "cod": t, "texto": s.title(2)} for t in tipos], "!cod")
    exps = []
    for i in range(1700):
        exps.append({"_id": s.oid(),
                     "nig": "28079%02d%014d" % (r.randint(1,
                                                          60),
                                                r.randrange(10**14)),
                     "num": i % 400 + 1,
                     "anyo": 2016 + i // 400,
                     "juzgado": s.skew(sedes),
                     "tipo": s.skew(tipos),
                     "ponente": r.choice(jueces),
                     "partes": [{"pers": r.choice(pers),
                                 "rol": x,
                                 "letrado": s.maybe(.7,
                                                    s.skew(abog)),
                                 "procurador": s.maybe(.4,
                                                       s.person())} for x in ("actor",
                                                                              "demandado")],
                     "acumulado_a": r.choice(exps)["nig"] if exps and r.random() < .04 else NO})
    s.put("expediente", exps, "!nig", "juzgado,anyo,num")
    salas = list(range(1, 15))
    s.put("sala", [{"_id": n, "planta": r.randint(0, 4), "aforo": r.choice([12, 30, 60])} for n in salas])
    s.put("vista", [{"_id": s.oid(), "nig": s.skew(exps)["nig"], "sala": r.choice(salas), "hora": s.day(600, 1000),
                     "testigos": s.few(pers, 0, 3), "suspendida": r.random() < .15} for _ in range(2900)], "nig")
    sent = []
    for i in range(1200):
        e = r.choice(exps)
        sent.append({"_id": "ECLI:ES:JPI:%d:%d" % (2016 + i % 5, 1000 + i), "exp_id": str_id(e["_id"]), "firmante": e[
            "ponente"] if r.random() < .9 else r.choice(jueces), "fallo": s.words(8, 30), "cita": [
                x["_id"] for x in s.few(sent, 0, 4)], "recurrida": r.random() < .2})
    s.put("sentencia", sent, "exp_id")
    s.put("escrito", [{"_id": s.uuid(), "nig": r.choice(exps)["nig"] if r.random() > .06 else "00000000000000",
                       "presentado_por": s.skew(abog), "asunto": s.title(2), "folios": r.randint(1, 80)}
                      for _ in range(5200)], "nig")
    s.ref("""
        juez:destino juzgado:_id
        expediente:juzgado juzgado:_id
        expediente:tipo tipo_procedimiento:cod
        expediente:ponente juez:_id
        expediente:partes[].pers interviniente:_id
        expediente:partes[].letrado letrado:num_colegiado
        expediente:acumulado_a expediente:nig
        vista:nig expediente:nig
        vista:sala sala:_id
        vista:testigos[] interviniente:_id
        sentencia:exp_id expediente:_id
        sentencia:firmante juez:_id
        sentencia:cita[] sentencia:_id
        escrito:nig expediente:nig
        escrito:presentado_por letrado:num_colegiado""")


@data_set
def corebank(s):
    """A bank's ledger: customers by number, accounts by IBAN, entries in pairs, branches, cards by token."""
    r = s.r
    br = [Long(100 + 3 * i) for i in range(44)]
    s.put("prod_db_branch", [{"_id": b, "city": r.choice(CITY), "bic": "%sATWW%03d" % (r.choice(LETTERS) * 4, b)}
                             for b in br])
    cust = [{"_id": Long(9000000001 + 17 * i), "custType": r.choice("PB"), "name": s.person(), "homeBranch": s.skew(br),
             "taxCountry": r.choice(COUNTRY)} for i in range(2100)]
    for i, c in enumerate(cust):
        c["guarantor"] = s.maybe(.06, r.choice(cust)["_id"])
    s.put("prod_db_customer", cust, "homeBranch")
    prods = ["GIRO", "GIROPLUS", "SAVE", "SAVE_YOUNG", "LOAN", "MORTGAGE", "FX_USD", "FX_CHF"]
    s.put("prod_db_product", [{"_id": p, "rate": r.randint(0, 60) / 10, "ccy": "EUR"} for p in prods])
    acc = [{"_id": "AT%02d19043%011d" % (r.randint(10,
                                                   98),
                                         r.randrange(10**11)),
            "custNo": c["_id"],
            "coHolders": [ x["_id"] for x in s.few(cust,
                                                   0,
                                                   2)] if r.random() < .2 else NO,
            "prodCd": s.skew(prods),
            "brNo": c["homeBranch"],
            "opened": s.day(-2000,
                            900),
            "bal": Cents(r.randint(-90000,
                                   9000000))} for c in cust for _ in range( r.choice([1,
                                                                                      1,
                                                                                      2,
                                                                                      3]))]
    s.put("prod_db_account", acc, "custNo", "brNo")
    gl = [r.randint(1, 9) * 100000 + i for i in range(1, 120)]
    s.put("prod_db_gl", [{"_id": g, "text": s.title(2), "parent": NO} for g in gl])
    jour, entries = [], []
    for i in range(4200):
        a, b = r.choice(acc), r.choice(acc)
        j = {"_id": s.uuid(), "valueDate": s.day(900, 1000), "channel": r.choice(["ATM", "NET", "SEPA"]), "reversalOf":
             jour[-9]["_id"] if i > 20 and r.random() < .02 else NO}
        jour.append(j)
        amt = r.randint(100, 400000)
        for k, (x, sign) in enumerate(((a, -1), (b, 1))):
            entries.append({"_id": s.oid(), "jrnl": j["_id"], "lineNo": k + 1, "iban": x["_id"] if r.random() > .01 else
                            "AT%02d20111%011d" % (r.randint(10, 98), r.randrange(10**11)), "glAcct": s.skew(gl),
                            "amt": Cents(sign * amt), "narr": s.words(2, 5)})
    s.put("prod_db_journal", jour, "valueDate")
    s.put("prod_db_entry", entries, "jrnl", "iban")
    s.put("prod_db_card", [{"_id": "tok_%024x" % r.getrandbits(90), "iban": a["_id"], "holder": a["custNo"], "expires":
                            "%02d/%d" % (r.randint(1, 12), r.randint(22, 27)), "replaces": NO} for a in acc
                           if r.random() < .6], "iban")
    cards = s.docs["prod_db_card"]
    for i, c in enumerate(cards):
        if i > 50 and r.random() < .1:
            c["replaces"] = cards[r.randrange(i)]["_id"]
    s.put("prod_db_standing_order",
          [{"_id": 600000 + 7 * i,
            "from": r.choice(acc)["_id"],
            "to": "DE%020d" % r.randrange( 10**20) if r.random() < .35 else r.choice(acc)["_id"],
            "day": r.randint(1,
                             28),
            "amount": Cents( r.randint(1000,
                                       90000))} for i in range(1100)],
          "from")
    s.put("prod_db_kyc", [{"_id": c["_id"], "risk": r.choice(["LOW", "MED", "HIGH"]), "checkedBy": "E%04d" % r.randint(
        1, 90), "docs": [{"kind": "ID", "no": "P%07d" % r.randrange(10**7)}]} for c in cust if r.random() < .97])
    s.ref("""
        prod_db_customer:homeBranch prod_db_branch:_id
        prod_db_customer:guarantor prod_db_customer:_id
        prod_db_account:custNo prod_db_customer:_id
        prod_db_account:coHolders[] prod_db_customer:_id
        prod_db_account:prodCd prod_db_product:_id
        prod_db_account:brNo prod_db_branch:_id
        prod_db_journal:reversalOf prod_db_journal:_id
        prod_db_entry:jrnl prod_db_journal:_id
        prod_db_entry:iban prod_db_account:_id
        prod_db_entry:glAcct prod_db_gl:_id
        prod_db_card:iban prod_db_account:_id
        prod_db_card:holder prod_db_customer:_id
        prod_db_card:replaces prod_db_card:_id
        prod_db_standing_order:from prod_db_account:_id
        prod_db_standing_order:to prod_db_account:_id
        prod_db_kyc:_id prod_db_customer:_id""")
    s.allow("""
        prod_db_customer:_id prod_db_kyc:_id
        prod_db_customer:guarantor prod_db_kyc:_id
        prod_db_account:custNo prod_db_kyc:_id
        prod_db_account:coHolders[] prod_db_kyc:_id
        prod_db_card:holder prod_db_kyc:_id""")


@data_set
def fleet(s):
    """IoT devices by serial: buckets of an hour, firmware by version text, alerts, twins with tags, maps by device."""
    r = s.r
    fw = ["%d.%d.%d" % (a, b, c) for a in (1, 2, 3) for b in (0, 1, 4) for c in (0, 2)]
    s.put("firmware", [{"_id": v, "sha256": "%064x" % r.getrandbits(256), "supersedes": NO if i == 0 else fw[i - 1]}
                       for i, v in enumerate(fw)])
    models = ["TH-%d" % n for n in (100, 120, 200, 250, 300)] + ["GW-1", "GW-2", "CO2-10", "CO2-20"]
    s.put("models", [{"_id": m, "maker": s.title(1), "firmwares": s.few(fw, 2, 6)} for m in models])
    tenants = [s.oid() for _ in range(38)]
    s.put("tenants", [{"_id": t, "name": s.title(2), "plan": r.choice(["free", "pro"])} for t in tenants])
    sites = [{"_id": s.oid(), "tenantId": r.choice(tenants), "label": s.title(2), "tz": "Europe/" + r.choice(CITY)}
             for _ in range(190)]
    s.put("sites", sites, "tenantId")
    serial = ["%s%08X" % (r.choice(["A4", "B0", "C7"]), r.getrandbits(32)) for _ in range(820)]
    dev = []
    for i, n in enumerate(serial):
        x = r.choice(sites)
        dev.append({"_id": n, "model": s.skew(models), "site": x["_id"], "tenant": x["tenantId"], "fw": s.skew(fw),
                    "gateway": NO if i < 40 else s.maybe(.9, r.choice(serial[:40])), "tags": s.few(WORD[:15], 0, 3),
                    "lastSeen": s.day(990, 1000)})
    s.put("devices", dev, "site", "tenant")
    t0 = datetime.datetime(2021, 6, 1)
    s.put("readings_hourly", [{"_id": "%s:%d" % (n, h), "dev": n, "hour": t0 + datetime.timedelta(hours=h), "n": 6,
                               "samples": [{"m": m, "t": r.randint(150, 300) / 10, "h": r.randint(20, 80)}
                                           for m in range(0, 60, 10)]} for n in serial[:300] for h in range(12)],
                                               "dev,hour")
    rules = [s.oid() for _ in range(70)]
    s.put("alertRules", [{"_id": x, "tenantId": r.choice(tenants), "metric": r.choice(["t", "h"]), "gt": r.randint(20,
        60),
                          "appliesTo": {"kind": "site", "id": str_id(r.choice(sites)["_id"])} if r.random() < .5 else {
                              "kind": "device", "id": r.choice(serial)}} for x in rules])
    users = ["%s@%s.example" % (a.lower(), b.lower()) for a in FIRST[:12] for b in LAST[:12]]
    s.put("users", [{"_id": s.oid(), "mail": u, "tenants": s.few(tenants, 1, 2), "role": r.choice(["admin", "viewer"])}
                    for u in users], "!mail")
    s.put("alerts", [{"_id": s.oid(), "rule": s.skew(rules), "device": s.skew(serial), "openedAt": s.day(900, 1000),
                      "ackBy": s.maybe(.6, r.choice(users)), "value": r.randint(200, 600) / 10} for _ in range(3600)],
          "device,openedAt", "rule")
    s.put("jobs", [{"_id": 1 + i, "firmware": r.choice(fw), "createdBy": r.choice(users), "state": {
        n: r.choice(["ok", "failed", "queued"]) for n in s.few(serial, 3, 40)}} for i in range(130)])
    s.maps.add("jobs:state")
    s.ref("""
        firmware:supersedes firmware:_id
        models:firmwares[] firmware:_id
        sites:tenantId tenants:_id
        devices:model models:_id
        devices:site sites:_id
        devices:tenant tenants:_id
        devices:fw firmware:_id
        devices:gateway devices:_id
        readings_hourly:dev devices:_id
        alertRules:tenantId tenants:_id
        alertRules:appliesTo.id sites:_id
        alertRules:appliesTo.id devices:_id
        users:tenants[] tenants:_id
        alerts:rule alertRules:_id
        alerts:device devices:_id
        alerts:ackBy users:mail
        jobs:firmware firmware:_id
        jobs:createdBy users:mail
        jobs:state.* devices:_id""")
    s.unjudged.add("mixed-types")


@data_set
def billetterie(s):
    """Tickets in French: halls with blocks and seats, performances, bookings with nested seats, promo codes."""
    r = s.r
    salles = list(range(1, 10))
    s.put("salles", [{"_id": n, "nom": s.title(1), "ville": r.choice(CITY), "blocs": [
        {"bloc": b, "rangs": r.randint(5, 20), "categorie": r.choice("ABC")} for b in ("P1", "P2", "B1", "B2", "G")]}
        for n in salles])
    orgas = [s.oid() for _ in range(45)]
    s.put("organisateurs", [{"_id": o, "raison_sociale": s.title(2), "siret": "%014d" % r.randrange(10**14)}
                            for o in orgas])
    spec = [{"_id": s.oid(), "titre": s.title(2, 3), "organisateur": s.skew(orgas), "genre": r.choice(["theatre",
             "danse", "rock"]), "duree_min": r.randint(60, 180)} for _ in range(180)]
    s.put("spectacles", spec, "organisateur")
    seances = [{"_id": 50001 + i, "spectacle": r.choice(spec)["_id"], "salle": r.choice(salles), "debut": s.day(700,
        1100),
                "tarifs": [{"categorie": c, "prix": Cents(100 * r.randint(15,
                    120))} for c in "ABC"]} for i in range(900)]
    s.put("seances", seances, "spectacle")
    cl = [s.oid() for _ in range(2600)]
    s.put("clients", [{"_id": c, "courriel": "%s%d@poste.example" % (s.words(1), i), "nom": s.person(),
          "parrain": s.maybe( .1, r.choice(cl))} for i, c in enumerate(cl)], "!courriel")
    promo = ["%s%02d" % (w.upper(), r.randint(10, 50)) for w in r.sample(WORD, 36)]
    s.put("codes_promo", [{"_id": s.oid(), "code": p, "remise": r.randint(5, 50), "valable_pour": [
        x["_id"] for x in s.few(spec, 0, 5)]} for p in promo], "!code")
    cmd, billets = [], []
    for i in range(3800):
        se = s.skew(seances, 1.2)
        c = {"_id": "C21-%06d" % (100000 + 3 * i),
             "client": s.skew(cl,
                              1.3),
             "seance": se["_id"],
             "code_promo": s.maybe( .15,
                                    r.choice(promo) if r.random() > .05 else "PERDU"),
             "places": [{"bloc": r.choice(["P1",
                                          "P2",
                                           "B1"]),
                        "rang": r.randint(1,
                                          20),
                         "siege": r.randint(1,
                                            30),
                         "billet": NO} for _ in range(r.randint(1,
                                                                4))],
             "paye_le": s.maybe(.95,
                                s.day(700,
                                      1000))}
        for p in c["places"]:
            b = {"_id": s.uuid(), "commande": c["_id"], "code_barres": "%013d" % r.randrange(
                10**13), "porteur": s.maybe( .3, r.choice(cl)), "annule": r.random() < .03}
            p["billet"] = b["_id"]
            billets.append(b)
        cmd.append(c)
    s.put("commandes", cmd, "client", "seance")
    s.put("billets", billets, "commande", "!code_barres")
    s.put("controles", [{"_id": s.oid(), "cb": b["code_barres"] if r.random() > .08 else "%013d" % r.randrange(10**13),
                         "porte": r.choice(["N", "S", "E"]), "a": s.day(700, 1100)} for b in r.sample(billets, 5200)])
    s.put("avis", [{"_id": s.oid(), "spectacle_id": str_id(s.skew(spec)["_id"]), "client_id": str_id(
        r.choice(cl)), "note": r.randint(1, 5), "texte": s.words(5, 20)} for _ in range(1500)], "spectacle_id")
    s.ref("""
        spectacles:organisateur organisateurs:_id
        seances:spectacle spectacles:_id
        seances:salle salles:_id
        clients:parrain clients:_id
        codes_promo:valable_pour[] spectacles:_id
        commandes:client clients:_id
        commandes:seance seances:_id
        commandes:code_promo codes_promo:code
        commandes:places[].billet billets:_id
        billets:commande commandes:_id
        billets:porteur clients:_id
        controles:cb billets:code_barres
        avis:spectacle_id spectacles:_id
        avis:client_id clients:_id""")


@data_set
def knowledge(s):
    """A knowledge base: pages by slug, a tree by parent and by list of ancestors, revisions, links, categories."""
    r = s.r
    logins = [(a[0] + b).lower() for a, b in zip(FIRST, LAST)]
    logins = sorted(set(logins))
    s.put("users", [{"_id": x, "display": s.person(), "groups": NO} for x in logins])
    groups = ["staff", "editors", "guests", "robots", "legal", "sales"]
    s.put("groups", [{"_id": g, "rights": s.few(["r", "w", "d"], 1, 3)} for g in groups])
    for u in s.docs["users"]:
        u["groups"] = s.few(groups, 1, 3)
    spaces = ["ENG", "OPS", "HR", "LAW", "MKT", "FIN"]
    s.put("spaces", [{"_id": k, "title": s.title(2), "owner": r.choice(logins), "homepage": NO} for k in spaces])
    pages = []
    for i in range(1600):
        up = r.choice(pages) if i > 8 else None
        pages.append({"_id": s.oid(),
                      "slug": "%s-%s-%d" % (r.choice(WORD),
                                            r.choice(WORD),
                                            i),
                      "title": s.title(2,
                                       4),
                      "space": up["space"] if up else r.choice(spaces),
                      "parent": up["_id"] if up else None,
                      "ancestors": up["ancestors"] + [up["_id"]] if up else [],
                      "author": r.choice(logins),
                      "editors": s.few( logins,
                                        0,
                                        3),
                      "links": [],
                      "rev": r.randint(1,
                                       9),
                      "redirect": NO})
    for p in pages:
        p["links"] = [x["slug"] if r.random() > .1 else s.words(1) + "-gone" for x in s.few(pages, 0, 7)]
        p["redirect"] = s.maybe(.02, r.choice(pages)["slug"])
    for x in s.docs["spaces"]:
        x["homepage"] = r.choice(pages[:60])["slug"]
    s.put("pages", pages, "!slug", "parent", "ancestors")
    s.put("revisions", [{"_id": {"page": p["_id"], "rev": n}, "by": r.choice(logins), "text": s.words(20, 80), "minor":
                         r.random() < .3} for p in pages for n in range(1, p["rev"] + 1)])
    s.put("attachments", [{"_id": s.oid(), "page": r.choice(pages)["_id"], "name": s.words(1) + ".png", "uploader":
                           r.choice(logins), "size": r.randint(10**3, 10**7)} for _ in range(1300)], "page")
    s.put("comments", [{"_id": s.oid(), "on": r.choice(pages)["_id"], "who": s.skew(
        logins), "thread": NO, "body": s.words( 4, 20)} for _ in range(2500)], "on")
    cm = s.docs["comments"]
    for i, c in enumerate(cm):
        if i > 80 and r.random() < .5:
            c["thread"] = r.choice(cm[:80])["_id"]
    s.put("watch", [{"_id": {"user": u, "slug": p["slug"]}} for u in logins for p in s.few(pages, 5, 40)])
    s.put("categories", [{"_id": "/" + "/".join(x), "pages": [p["slug"] for p in s.few(pages, 2, 20)]}
                         for a in WORD[:7] for x in [[a]] + [[a, b] for b in WORD[20:25]]])
    s.more["tree"] = s.tree_figures("pages", "parent")
    s.ref("""
        users:groups[] groups:_id
        spaces:owner users:_id
        spaces:homepage pages:slug
        pages:space spaces:_id
        pages:parent pages:_id
        pages:ancestors[] pages:_id
        pages:author users:_id
        pages:editors[] users:_id
        pages:links[] pages:slug
        pages:redirect pages:slug
        revisions:_id.page pages:_id
        revisions:by users:_id
        attachments:page pages:_id
        attachments:uploader users:_id
        comments:on pages:_id
        comments:who users:_id
        comments:thread comments:_id
        watch:_id.user users:_id
        watch:_id.slug pages:slug
        categories:pages[] pages:slug""")
    s.allow("revisions:_id.page+_id.rev pages:_id+rev")


@data_set
def dierentuin(s):
    """A zoo in Dutch: animals by chip, sire and dam, species in a tree of ranks, enclosures, feeds, transfers."""
    r = s.r
    taxa = [{"_id": 1, "naam": "Animalia", "rang": "rijk"}]
    for i in range(2, 420):
        taxa.append({"_id": i, "naam": s.title(2), "rang": r.choice(["klasse", "orde", "familie", "soort"]), "boven":
                     taxa[max(0, i // 3 - 1)]["_id"]})
    s.put("taxon", taxa, "boven")
    verb = ["%s%d" % (a, n) for a in ("AQ", "SAV", "TRO", "NOC", "VOL") for n in range(1, 14)]
    s.put("verblijf", [{"_id": v, "m2": r.randint(10, 4000), "buiten": r.random() < .6} for v in verb])
    verz = [s.oid() for _ in range(46)]
    s.put("verzorger", [{"_id": v, "naam": s.person(), "afdeling": r.choice(["AQ", "SAV", "TRO"])} for v in verz])
    voer = [{"_id": i, "omschrijving": s.title(1), "kcal": r.randint(30, 900)} for i in range(1, 58)]
    s.put("voer", voer)
    zoos = ["Z-%s" % c[:5].upper() for c in CITY]
    s.put("dierenpark", [{"_id": z, "naam": "Zoo " + c, "eaza": r.random() < .8} for z, c in zip(zoos, CITY)])
    chips, dieren = [], []
    for i in range(1450):
        c = "5280%011d" % r.randrange(10**11)
        dieren.append({"_id": c, "roepnaam": r.choice(FIRST), "soort": s.skew(taxa[100:], 1.3)["_id"],
            "verblijf": r.choice(
            verb), "vader": s.maybe(.5, r.choice(chips)) if i > 80 else NO, "moeder": s.maybe(.6, r.choice(
                chips)) if i > 80 else NO, "geboren": s.day(-4000, 900), "herkomst": s.maybe(.3, r.choice(zoos)),
            "hoofdverzorger": r.choice(verz)})
        chips.append(c)
    s.put("dier", dieren, "verblijf", "soort")
    s.put("voerbeurt", [{"_id": s.oid(), "verblijf": v, "moment": s.day(960, 1000), "door": r.choice(verz), "porties": [
        {"voer": x["_id"], "gram": 50 * r.randint(1, 90)} for x in s.few(voer, 1, 5)]} for v in verb for _ in range(
            r.randint(30, 70))], "verblijf,moment")
    s.put("medisch", [{"_id": s.oid(), "dier": s.skew(chips) if r.random() > .02 else "5280%011d" % r.randrange(10**11),
                       "arts": r.choice(["dr. Vos", "dr. Bos"]), "diagnose": s.words(2, 4), "medicatie": s.maybe(.4, [
                           {"middel": s.words(1), "mg": r.randint(1, 500)}]), "vervolg_van": NO} for _ in range(2100)],
          "dier")
    m = s.docs["medisch"]
    for i, x in enumerate(m):
        if i > 90 and r.random() < .2:
            x["vervolg_van"] = m[r.randrange(i)]["_id"]
    s.put("transport", [{"_id": "T%d-%03d" % (2012 + i // 40, i % 40 + 1), "dieren": s.few(chips, 1, 4), "van": NO if k
                         else r.choice(zoos), "naar": r.choice(zoos) if k else NO,
                             "cites": "NL%06d" % r.randrange(10**6)}
                        for i in range(330) for k in [r.random() < .5]])
    s.put("adoptie", [{"_id": s.oid(), "chip": s.skew(chips, 3), "donateur": s.person(), "jaarbedrag": Cents(
        100 * r.randint(25, 500))} for _ in range(900)], "chip")
    s.more["tree"] = s.tree_figures("taxon", "boven")
    s.ref("""
        taxon:boven taxon:_id
        dier:soort taxon:_id
        dier:verblijf verblijf:_id
        dier:vader dier:_id
        dier:moeder dier:_id
        dier:herkomst dierenpark:_id
        dier:hoofdverzorger verzorger:_id
        voerbeurt:verblijf verblijf:_id
        voerbeurt:door verzorger:_id
        voerbeurt:porties[].voer voer:_id
        medisch:dier dier:_id
        medisch:vervolg_van medisch:_id
        transport:dieren[] dier:_id
        transport:van dierenpark:_id
        transport:naar dierenpark:_id
        adoptie:chip dier:_id""")
