# SPDX-License-Identifier: Apache-2.0
"""blind_second.py - sites of builders, farms, newspapers, recruiters, orchestras and clouds, written after the ways to
find references had been mended with the other sets, to see whether they help with others."""
from truth import CITY, FIRST, LAST, NO, WORD, Cents, Long, data_set, text_date


@data_set
def obras(s):
    """A builder in Spanish: sites, certificates, gangs, machines, with numbers from one on and codes of work."""
    r = s.r
    obras = [{"_id": i, "nombre": s.title(2), "ciudad": r.choice(CITY), "presupuesto": 1000 * r.randint(50, 9000),
              "jefe_id": r.randint(1, 60), "cliente_id": r.randint(1, 90), "plazo_dias": r.randint(60, 900)}
             for i in range(1, 131)]
    s.put("obras", obras, "cliente_id")
    s.put("clientes", [{"_id": i, "razon_social": s.title(2) + " SL", "nif": "B%08d" % (10**7 + 7919 * i),
                        "telefono": "9%08d" % r.randrange(10**8)} for i in range(1, 91)])
    s.put("empleados", [{"_id": i, "nombre": s.person(), "categoria": r.choice(["peon", "oficial", "capataz"]),
                         "cuadrilla_id": r.randint(1, 24), "salario": 100 * r.randint(11, 40)} for i in range(1, 421)],
          "cuadrilla_id")
    s.put("cuadrillas", [{"_id": i, "nombre": "C%d" % i, "capataz_id": r.randint(1, 420)} for i in range(1, 25)])
    units = [{"_id": "%s%03d" % (c, 10 * k), "descripcion": s.title(2), "ud": r.choice(["m2", "m3", "ud", "kg"])}
             for c in ("EHL", "FAB", "REV", "INS", "URB") for k in range(1, 22)]
    s.put("partidas", units)
    s.put("mediciones", [{"_id": s.oid(), "obra_id": o["_id"], "partida": u["_id"], "cantidad": r.randint(1, 900),
                          "precio": Cents(r.randint(100, 30000))} for o in obras for u in s.few(units, 8, 30)],
          "obra_id,partida")
    s.put("certificaciones", [{"_id": i, "obra_id": o["_id"], "num": k, "importe": Cents(r.randrange(10**7)),
                               "lineas": [{"partida": u["_id"], "cant": r.randint(1, 90)} for u in s.few(units, 1, 9)]}
                              for i, (o, k) in enumerate([(o, k) for o in obras for k in range(1, r.randint(2, 9))],
                                                         1)],
          "obra_id")
    s.put("maquinas", [{"_id": "MQ-%03d" % i, "tipo": r.choice(["grua", "excavadora", "dumper"]), "matricula":
                        s.maybe(.5, "E%04dBCD" % r.randrange(10**4)), "obra_actual": s.maybe(.7, r.randint(1, 130)),
                        "horas": r.randint(10, 9000)} for i in range(1, 76)])
    s.put("partes", [{"_id": s.oid(), "empleado_id": r.randint(1, 420), "obra_id": r.choice(obras)["_id"],
                      "maquina": s.maybe(.2, "MQ-%03d" % r.randint(1, 75)), "horas": r.randint(1, 10),
                      "fecha": s.day(700, 900)} for _ in range(5200)], "empleado_id", "obra_id")
    s.ref("""
        obras:jefe_id empleados:_id
        obras:cliente_id clientes:_id
        empleados:cuadrilla_id cuadrillas:_id
        cuadrillas:capataz_id empleados:_id
        mediciones:obra_id obras:_id
        mediciones:partida partidas:_id
        certificaciones:obra_id obras:_id
        certificaciones:lineas[].partida partidas:_id
        maquinas:obra_actual obras:_id
        partes:empleado_id empleados:_id
        partes:obra_id obras:_id
        partes:maquina maquinas:_id""")


@data_set
def dairy(s):
    """A farm: cows by ear tag, parents among them, milkings by lactation, feed, and treatments with withdrawal."""
    r = s.r
    breeds = [{"_id": c, "name": s.title(1)} for c in ("HOL", "JER", "BSW", "FLV", "AYR", "NRF")]
    s.put("breeds", breeds)
    pens = [{"_id": "P%02d" % i, "type": r.choice(["lactating", "dry", "calf"]), "places": r.randint(10, 80)}
            for i in range(1, 19)]
    s.put("pens", pens)
    bulls = [{"_id": s.oid(), "naab": "%03d%s%05d" % (r.randint(1, 600), r.choice(["HO", "JE"]), 10007 + 13 * i),
              "name": s.title(2), "breed": s.skew(breeds)["_id"]} for i in range(90)]
    s.put("sires", bulls, "!naab")
    cows = []
    for i in range(900):
        cows.append({"_id": "AT%09d" % (400310000 + 97 * i), "num": 1 + i % 700, "breed": s.skew(breeds)["_id"],
                     "sire": s.maybe(.8, r.choice(bulls)["naab"]), "born": s.day(-1500, 900),
                     "dam": r.choice(cows[:max(1, i - 40)])["_id"] if i > 60 and r.random() < .8 else NO,
                     "pen": r.choice(pens)["_id"], "lactation": r.randint(0, 7), "transponder": 9640 * 10**11 + 31 * i})
    s.put("cows", cows, "pen", "!transponder")
    ids = [c["_id"] for c in cows]
    s.put("milkings", [{"_id": s.oid(), "transponder": r.choice(cows)["transponder"], "stall": r.randint(1, 24),
                        "kg": round(r.uniform(4, 22), 1), "at": s.day(880, 900), "cells": r.randint(20, 900)}
                       for _ in range(6000)], "transponder")
    drugs = [{"_id": s.oid(), "reg_no": "8-%05d" % (201 + 37 * i), "name": s.title(1), "milk_days": r.randint(0, 8)}
             for i in range(45)]
    s.put("drugs", drugs, "!reg_no")
    vets = [{"_id": s.oid(), "name": s.person()} for _ in range(8)]
    s.put("vets", vets)
    s.put("treatments", [{"_id": s.oid(), "animal": r.choice(ids) if r.random() > .08
                          else "DE%09d" % r.randrange(10**9),
                          "doses": [{"drug_reg": r.choice(drugs)["reg_no"], "ml": r.randint(1, 60)}
                                    for _ in range(r.randint(1, 3))], "vet_id": r.choice(vets)["_id"],
                          "diag": r.choice([11, 12, 31, 40])} for _ in range(1100)], "animal")
    s.put("inseminations", [{"_id": s.oid(), "cow": r.choice(ids), "bull_naab": r.choice(bulls)["naab"],
                             "no": r.randint(1, 5),
                             "straw_batch": "B%06d" % r.randrange(10**6), "result": r.choice(["P", "O", "?"])}
                            for _ in range(1300)], "cow")
    s.put("rations", [{"_id": 10 * i, "for_pens": [p["_id"] for p in s.few(pens, 1, 4)], "parts": [
        {"feed": r.choice(["maize", "hay", "soy"]), "kg": r.randint(1, 20)} for _ in range(3)]} for i in range(1, 31)])
    s.put("weights", [{"_id": s.oid(), "tag": r.choice(ids), "kg": r.randint(40, 760), "day": text_date(s.day(0, 900))}
                      for _ in range(2400)], "tag")
    s.ref("""
        sires:breed breeds:_id
        cows:breed breeds:_id
        cows:sire sires:naab
        cows:dam cows:_id
        cows:pen pens:_id
        milkings:transponder cows:transponder
        treatments:animal cows:_id
        treatments:doses[].drug_reg drugs:reg_no
        treatments:vet_id vets:_id
        inseminations:cow cows:_id
        inseminations:bull_naab sires:naab
        rations:for_pens[] pens:_id
        weights:tag cows:_id""")


@data_set
def recruiting(s):
    """Jobs and applicants, as a REST service returns them: nested { id, name } of everything, hashes, soft deletes."""
    r = s.r
    depts = [{"_id": s.oid(), "id": 4000100 + 17 * i, "name": s.title(1), "parent_id": NO, "external_id": None}
             for i in range(60)]
    for i in range(8, 60):
        depts[i]["parent_id"] = r.choice(depts[:i // 2])["id"]
    s.put("departments", depts, "!id")
    offices = [{"_id": s.oid(), "id": 8800 + 3 * i, "name": c, "location": {"name": c}} for i, c in enumerate(CITY)]
    s.put("offices", offices, "!id")
    users = [{"_id": s.oid(), "id": 158000 + 11 * i + r.randrange(10), "name": s.person(), "disabled": r.random() < .1,
              "employee_id": s.maybe(.5, "E%05d" % r.randrange(10**5))} for i in range(210)]
    s.put("users", users, "!id")
    jobs = [{"_id": s.oid(), "id": 107600 + 13 * i, "name": s.title(2), "requisition_id": "R-%d" % r.randint(1, 900),
             "departments": [{"id": d["id"], "name": d["name"]} for d in s.few(depts, 1, 2)],
             "offices": [o["id"] for o in s.few(offices, 1, 3)], "hiring_team": {
                 "hiring_managers": [{"id": u["id"], "name": u["name"]} for u in s.few(users, 1, 2)],
                 "recruiters": [{"id": u["id"], "responsible": True} for u in s.few(users, 1, 2)]},
             "openings": r.randint(1, 4), "status": r.choice(["open", "closed", "draft"])} for i in range(260)]
    s.put("jobs", jobs, "!id")
    people = [{"_id": s.oid(), "id": 53500000 + 91 * i, "first_name": r.choice(FIRST), "last_name": r.choice(LAST),
               "recruiter": s.maybe(.6, {"id": r.choice(users)["id"]}), "tags": s.few(WORD[:20], 0, 3),
               "linked_user_ids": [], "phone": "1212555%04d" % r.randrange(10**4)} for i in range(1500)]
    s.put("candidates", people, "!id")
    stages = [{"_id": s.oid(), "id": 767000 + i, "name": n, "priority": i} for i, n in
              enumerate(["review", "screen", "onsite", "reference", "offer"])]
    s.put("stages", stages, "!id")
    gone = [53000000 + 7 * i for i in range(300)]
    apps = [{"_id": s.oid(), "id": 69300000 + 101 * i, "candidate_id": r.choice(people)["id"] if r.random() > .12
             else r.choice(gone),
             "jobs": [{"id": j["id"], "name": j["name"]} for j in s.few(jobs, 1, 1)],
             "current_stage": {"id": s.skew(stages)["id"]},
             "credited_to": s.maybe(.4, {"id": r.choice(users)["id"]}), "status": r.choice(["active", "rejected"]),
             "source": {"id": r.choice([2, 13, 16, 7])}} for i in range(2300)]
    s.put("applications", apps, "!id", "candidate_id")
    s.put("scorecards", [{"_id": s.oid(), "id": 5400 + 2 * i, "application_id": s.skew(apps)["id"],
                          "interviewer": {"id": r.choice(users)["id"]},
                          "submitted_by": r.choice(users)["id"], "overall": r.randint(1, 4),
                          "attributes": {w: r.randint(1, 4) for w in s.few(WORD[:9], 2, 4)}} for i in range(1900)],
          "!id", "application_id")
    s.put("offers", [{"_id": s.oid(), "id": 991 + 5 * i, "application_id": a["id"], "version": r.randint(1, 3),
                      "salary": 1000 * r.randint(40, 200),
                      "opening_key": "%032x" % r.getrandbits(128)} for i, a in enumerate(r.sample(apps, 300))], "!id")
    s.put("activity", [{"_id": s.oid(), "subject": {"type": k, "id": x["id"]}, "user": r.choice(users)["id"],
                        "at": s.day(800, 900)}
                       for k, x in [r.choice([("candidate", r.choice(people)), ("job", r.choice(jobs)),
                                              ("application", r.choice(apps))])
                                    for _ in range(3000)]], "subject.id")
    s.unjudged |= {"mixed-versions", "attribute-fields"}
    s.copy("""
        jobs:departments[].id departments:id departments[].name name
        jobs:hiring_team.hiring_managers[].id users:id hiring_team.hiring_managers[].name name
        applications:jobs[].id jobs:id jobs[].name name""")
    s.ref("""
        departments:parent_id departments:id
        jobs:departments[].id departments:id
        jobs:offices[] offices:id
        jobs:hiring_team.hiring_managers[].id users:id
        jobs:hiring_team.recruiters[].id users:id
        candidates:recruiter.id users:id
        applications:candidate_id candidates:id
        applications:jobs[].id jobs:id
        applications:current_stage.id stages:id
        applications:credited_to.id users:id
        scorecards:application_id applications:id
        scorecards:interviewer.id users:id
        scorecards:submitted_by users:id
        offers:application_id applications:id
        activity:subject.id candidates:id
        activity:subject.id jobs:id
        activity:subject.id applications:id
        activity:user users:id""")


@data_set
def zeitung(s):
    """A German newspaper: subscriptions, delivery rounds, advertisements by column and issue, text keys with zeros."""
    r = s.r
    kunden = [{"_id": "%07d" % (20011 + 31 * i), "name": s.person(), "plz": "%05d" % r.randint(1067, 99998),
               "iban": "DE%020d" % r.randrange(10**18),
               "geworbenVon": NO} for i in range(900)]
    for i in range(50, 900, 5):
        kunden[i]["geworbenVon"] = r.choice(kunden[:i])["_id"]
    s.put("kunden", kunden)
    touren = [{"_id": "T%03d" % i, "traeger": NO, "startZeit": "0%d:30" % r.randint(2, 5)} for i in range(1, 61)]
    traeger = [{"_id": s.oid(), "persNr": 3000 + 7 * i, "name": s.person()} for i in range(80)]
    for t in touren:
        t["traeger"] = r.choice(traeger)["persNr"]
    s.put("traeger", traeger, "!persNr")
    s.put("touren", touren)
    s.put("produkte", [{"_id": p, "titel": s.title(2), "preis": Cents(r.randint(900, 6000))}
                       for p in ("TZ-VOLL", "TZ-WE", "TZ-EP", "TZ-STUD", "BL-REG")])
    prod = [p["_id"] for p in s.docs["produkte"]]
    abos = [{"_id": s.oid(), "aboNr": 7000001 + 3 * i, "kunde": s.skew(kunden)["_id"], "produktKz": s.skew(prod),
             "tour": s.maybe(.8, r.choice(touren)["_id"]),
             "stopp": r.randint(1, 180), "von": text_date(s.day(0, 700)), "status": r.choice("AKR")}
            for i in range(1300)]
    s.put("abonnements", abos, "!aboNr", "kunde")
    s.put("reklamationen", [{"_id": i, "abo": r.choice(abos)["aboNr"], "grund": r.choice([1, 2, 3, 7]),
                             "gutschrift": Cents(r.choice([0, 190])),
                             "bearbeiter": r.choice(["mk", "sw", "ab"])} for i in range(1, 700)])
    rub = [{"_id": 100 * a + b, "name": s.title(1), "oberrubrik": NO if b == 0 else 100 * a} for a in range(1, 8)
           for b in range(0, 6)]
    s.put("rubriken", rub)
    ausg = [{"_id": s.oid(), "jahr": 2021, "nr": n, "seiten": r.choice([24, 32, 40]),
             "erschienen": s.day(800, 1000)} for n in range(1, 161)]
    s.put("ausgaben", ausg, "!jahr,nr")
    s.put("anzeigen", [{"_id": s.oid(), "auftrag": "AA%06d" % (31 * i), "kundenNr": r.choice(kunden)["_id"],
                        "rubrikNr": r.choice(rub)["_id"],
                        "ausgaben": [a["_id"] for a in s.few(ausg, 1, 4)], "mm": r.randint(20, 400),
                        "spalten": r.randint(1, 7)} for i in range(1200)], "kundenNr")
    s.put("artikel", [{"_id": s.oid(), "ausgabeId": r.choice(ausg)["_id"], "seite": r.randint(1, 40),
                       "autoren": s.few(["mk", "jw", "lb", "ts"], 1, 2),
                       "text": s.words(20, 60), "vorgaenger": NO} for _ in range(800)])
    art = s.docs["artikel"]
    for i in range(40, 800, 9):
        art[i]["vorgaenger"] = art[i - r.randint(1, 30)]["_id"]
    s.ref("""
        kunden:geworbenVon kunden:_id
        touren:traeger traeger:persNr
        abonnements:kunde kunden:_id
        abonnements:produktKz produkte:_id
        abonnements:tour touren:_id
        reklamationen:abo abonnements:aboNr
        rubriken:oberrubrik rubriken:_id
        anzeigen:kundenNr kunden:_id
        anzeigen:rubrikNr rubriken:_id
        anzeigen:ausgaben[] ausgaben:_id
        artikel:ausgabeId ausgaben:_id
        artikel:vorgaenger artikel:_id""")


@data_set
def cloud(s):
    """An inventory of a cloud: ids with a prefix, tags as maps, rules that name groups or networks, costs."""
    r = s.r

    def ids(prefix, n):
        return ["%s-%017x" % (prefix, r.getrandbits(68)) for _ in range(n)]

    acc = ["%012d" % r.randrange(10**11, 10**12) for _ in range(34)]
    s.put("accounts", [{"_id": a, "alias": "-".join(s.few(WORD, 2, 2)), "payer": acc[0],
                        "ou": r.choice(["prod", "dev"])} for a in acc])
    regions = "eu-west-1 eu-central-1 us-east-1 us-west-2 ap-south-1".split()
    s.put("regions", [{"_id": x, "optIn": False} for x in regions])
    vpcs = [{"_id": v, "account": r.choice(acc), "region": r.choice(regions),
             "cidr": "10.%d.0.0/16" % r.randrange(256)} for v in ids("vpc", 120)]
    s.put("vpcs", vpcs, "account")
    subs = [{"_id": x, "vpcId": r.choice(vpcs)["_id"], "az": r.choice(regions) + r.choice("abc"),
             "free": r.randint(1, 4000)} for x in ids("subnet", 400)]
    s.put("subnets", subs, "vpcId")
    groups = [{"_id": x, "vpcId": r.choice(vpcs)["_id"], "name": s.words(1), "ingress": []} for x in ids("sg", 300)]
    for g in groups:
        g["ingress"] = [{"port": r.choice([22, 80, 443, 5432]), "source": r.choice(groups)["_id"]
                         if r.random() < .6 else r.choice(vpcs)["_id"]}
                        for _ in range(r.randint(0, 5))]
    s.put("securityGroups", groups, "vpcId")
    amis = [{"_id": x, "name": s.words(2), "owner": r.choice(acc)} for x in ids("ami", 40)]
    s.put("images", amis)
    types = [{"_id": t, "vcpu": v, "gib": v * 4} for t, v in (("t3.micro", 2), ("t3.large", 2), ("m5.large", 2),
                                                              ("m5.xlarge", 4), ("c5.2xlarge", 8), ("r5.large", 2))]
    s.put("instanceTypes", types)
    inst = [{"_id": x, "imageId": s.skew(amis)["_id"], "type": s.skew(types)["_id"],
             "subnetId": s.skew(subs)["_id"], "groups": [g["_id"] for g in s.few(groups, 1, 3)],
             "launched": s.day(700, 1000), "state": r.choice([16, 80]), "tags": {k: s.words(1)
                 for k in s.few(["Name", "env", "team", "cost-center"], 1, 4)}}
            for x in ids("i", 1700)]
    s.put("instances", inst, "subnetId", "groups")
    vols = [{"_id": x, "attachedTo": s.maybe(.85, r.choice(inst)["_id"]), "gib": r.choice([8, 20, 100, 500]),
             "iops": 3000, "snapshotOf": NO} for x in ids("vol", 2300)]
    s.put("volumes", vols, "attachedTo")
    old = ids("vol", 140)
    s.put("snapshots", [{"_id": x, "volume": r.choice(vols)["_id"] if r.random() > .25 else r.choice(old),
                         "gib": r.choice([8, 20, 100]), "account_id": r.choice(acc)}
                        for x in ids("snap", 1500)], "volume")
    s.put("costs", [{"_id": {"account": a, "day": text_date(s.day(900 + d, 901 + d))},
                     "usd": Cents(r.randrange(10**6)), "byRegion": {x: r.randint(1, 900) for x in s.few(regions, 1, 4)}}
                    for a in acc for d in range(0, 60, 2)])
    s.put("utilization", [{"_id": s.oid(), "cpuPct": {x["_id"]: r.randint(1, 100) for x in s.few(inst, 2, 9)},
                           "hour": s.day(990, 1000)} for _ in range(260)])
    s.maps.add("utilization:cpuPct")
    s.put("findings", [{"_id": str(s.uuid()), "resource": {"kind": k, "id": x["_id"]},
                        "rule": "CIS.%d.%d" % (r.randint(1, 5), r.randint(1, 20)), "account": r.choice(acc),
                        "seen": r.randint(1, 40)}
                       for k, x in [r.choice([("instance", r.choice(inst)), ("volume", r.choice(vols)),
                                              ("securityGroup", r.choice(groups))]) for _ in range(1400)]],
          "resource.id")
    s.ref("""
        accounts:payer accounts:_id
        vpcs:account accounts:_id
        vpcs:region regions:_id
        subnets:vpcId vpcs:_id
        securityGroups:vpcId vpcs:_id
        securityGroups:ingress[].source securityGroups:_id
        securityGroups:ingress[].source vpcs:_id
        images:owner accounts:_id
        instances:imageId images:_id
        instances:type instanceTypes:_id
        instances:subnetId subnets:_id
        instances:groups[] securityGroups:_id
        volumes:attachedTo instances:_id
        snapshots:volume volumes:_id
        snapshots:account_id accounts:_id
        costs:_id.account accounts:_id
        utilization:cpuPct.* instances:_id
        findings:resource.id instances:_id
        findings:resource.id volumes:_id
        findings:resource.id securityGroups:_id
        findings:account accounts:_id""")
    s.allow("costs:byRegion.* regions:_id")


@data_set
def orchestra(s):
    """An orchestra: works by catalogue, players by desk, concerts with programmes, seats by block, row and number."""
    r = s.r
    comp = [{"_id": i, "name": s.person(), "born": r.randint(1600, 1960)} for i in range(1, 140)]
    s.put("composers", comp)
    works = [{"_id": i, "composer": s.skew(comp)["_id"], "title": s.title(2, 3), "minutes": r.randint(4, 90),
              "opus": s.maybe(.7, r.randint(1, 140)),
              "scoring": [{"instrument": k, "players": r.randint(1, 16)} for k in s.few(["vn", "va", "vc", "fl",
                  "ob", "hn"], 2, 6)]} for i in range(1, 760)]
    s.put("works", works, "composer")
    s.put("instruments", [{"_id": k, "name": s.words(1)} for k in ("vn", "va", "vc", "fl", "ob", "hn", "tp", "pk")])
    mus = [{"_id": s.oid(), "staffNo": 610 + 3 * i, "name": s.person(), "plays": r.choice(["vn", "va", "vc", "fl",
        "ob", "hn", "tp", "pk"]), "desk": r.randint(1, 8),
            "since": r.randint(1985, 2021)} for i in range(120)]
    s.put("musicians", mus, "!staffNo")
    halls = [{"_id": h, "name": s.title(2)} for h in ("KH1", "KH2", "OPR", "PHL")]
    s.put("halls", halls)
    seats = [{"_id": s.oid(), "hall": h["_id"], "block": b, "row": w, "seat": n, "cat": r.randint(1, 5)}
             for h in halls for b in "ABC" for w in range(1, 13) for n in range(1, r.randint(10, 18))]
    s.put("seats", seats, "!hall,block,row,seat")
    con = [{"_id": "C%d" % (1800 + 7 * i), "hall": s.skew(halls)["_id"], "date": s.day(300, 1000),
            "season": "%d/%02d" % (2019 + i // 60, 20 + i // 60), "programme": [w["_id"] for w in s.few(works, 2, 5)],
            "conductor": s.maybe(.9, r.choice(mus)["staffNo"]), "soloists": [m["_id"] for m in s.few(mus, 0, 2)]}
           for i in range(150)]
    s.put("concerts", con)
    pats = [{"_id": 30000 + 9 * i, "name": s.person(), "since": r.randint(1990, 2021), "household": NO}
            for i in range(800)]
    for i in range(10, 800, 6):
        pats[i]["household"] = pats[i - 1]["_id"]
    s.put("patrons", pats)
    s.put("tickets", [{"_id": Long(8 * 10**11 + 1009 * i), "concert": c["_id"], "seat": x["_id"],
                       "buyer": s.maybe(.8, s.skew(pats)["_id"]), "price": Cents(100 * r.randint(9, 150)),
                       "scans": r.randint(0, 2)}
                      for i, (c, x) in enumerate([(c, x) for c in con for x in r.sample(seats, 22)])], "concert")
    s.put("donations", [{"_id": s.oid(), "patron_no": str(s.skew(pats)["_id"]),
                         "amount": Cents(1000 * r.randint(1, 90)), "fund": r.choice(["general", "youth"]),
                         "gift_year": r.randint(2015, 2021)} for _ in range(600)], "patron_no")
    s.put("rehearsals", [{"_id": i, "concert_id": r.choice(con)["_id"], "work_id": s.skew(works)["_id"],
                          "absent": [m["staffNo"] for m in s.few(mus, 0, 4)], "minutes": 30 * r.randint(1, 6)}
                         for i in range(1, 420)])
    s.put("parts_loans", [{"_id": s.oid(), "work": r.choice(works)["_id"], "lent_to": r.choice(mus)["_id"],
                           "copies": r.randint(1, 4), "returned": r.random() < .8} for _ in range(500)], "work")
    s.ref("""
        works:composer composers:_id
        works:scoring[].instrument instruments:_id
        musicians:plays instruments:_id
        seats:hall halls:_id
        concerts:hall halls:_id
        concerts:programme[] works:_id
        concerts:conductor musicians:staffNo
        concerts:soloists[] musicians:_id
        patrons:household patrons:_id
        tickets:concert concerts:_id
        tickets:seat seats:_id
        tickets:buyer patrons:_id
        donations:patron_no patrons:_id
        rehearsals:concert_id concerts:_id
        rehearsals:work_id works:_id
        rehearsals:absent[] musicians:staffNo
        parts_loans:work works:_id
        parts_loans:lent_to musicians:_id""")
