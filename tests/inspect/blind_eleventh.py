# SPDX-License-Identifier: Apache-2.0
"""blind_eleventh.py - fifteen more, tried after the rules had changed for those of blind_tenth.py."""
from blind_tenth import codes
from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date


@data_set
def skilift(s):
    """Ski lifts: gates that read passes, slopes between stations, snow reports, accidents on slopes."""
    r = s.r
    stations = ["%s-%s" % (w[:3].upper(), k) for w in r.sample(WORD, 9) for k in ("T", "B")]
    s.put("stations", [{"_id": x, "altitude": r.randint(900, 3100)} for x in stations])
    s.put("lifts", [{"_id": i, "kind": r.choice(["chair", "t-bar", "gondola"]), "bottom": r.choice(stations), "top":
                     r.choice(stations), "perHour": 100 * r.randint(6, 36)} for i in range(1, 24)])
    s.put("slopes", [{"_id": i, "colour": r.choice(["blue", "red", "black"]), "servedBy": s.few(range(1, 24), 1, 3),
                      "metres": r.randint(300, 5200)} for i in range(1, 48)])
    passes = ["%012X" % (0xE00400000000 + 977 * i) for i in range(1500)]
    s.put("passes", [{"_id": s.oid(), "chip": p, "days": r.choice([1, 3, 6, 90]), "sold": s.day(900, 1100), "till":
                      r.randint(1, 7)} for p in passes], "!chip")
    s.put("entries", [{"_id": s.oid(), "chip": r.choice(passes), "lift": r.randint(1, 23), "t": s.day(1000, 1100)}
                      for _ in range(9000)], "chip,t")
    s.put("accidents", [{"_id": s.oid(), "piste": r.randint(1, 47), "ticket": s.maybe(.8, r.choice(passes)), "patrol":
                         r.choice(LAST), "sledTo": s.maybe(.6, r.choice(stations))} for _ in range(360)])
    s.put("grooming", [{"_id": s.oid(), "night": text_date(s.day(1000, 1100)), "runs": s.few(range(1, 48), 5, 20),
                        "cat": r.choice(["PB600", "PB400", "LEIT"])} for _ in range(200)])
    s.ref("""
        lifts:bottom stations:_id
        lifts:top stations:_id
        slopes:servedBy[] lifts:_id
        entries:chip passes:chip
        entries:lift lifts:_id
        accidents:piste slopes:_id
        accidents:ticket passes:chip
        accidents:sledTo stations:_id
        grooming:runs[] slopes:_id""")


@data_set
def lawfirm(s):
    """A law firm: matters by year and number, time sheets, parties by role, documents with bundles."""
    r = s.r
    att = ["%s%s%d" % (r.choice(FIRST)[0], r.choice(LAST)[:2].upper(), i) for i in range(46)]
    s.put("attorneys", [{"_id": a, "barNo": 30000 + 17 * i, "grade": r.choice(["partner", "associate"]), "rate":
                         10 * r.randint(15, 60)} for i, a in enumerate(att)])
    parties = [s.oid() for _ in range(1300)]
    s.put("parties", [{"_id": p, "name": s.person(), "kind": r.choice(["natural", "legal"])} for p in parties])
    courts = ["AG-%s" % c[:4].upper() for c in CITY[:14]] + ["LG-%s" % c[:4].upper() for c in CITY[:9]]
    s.put("courts", [{"_id": c, "seat": r.choice(CITY), "fax": "+49%09d" % r.randrange(10**9)} for c in courts])
    mats = [{"_id": "%03d/%02d" % (i % 700 + 1, 17 + i // 700), "mandant": r.choice(parties), "opponents": s.few(
        parties, 0, 3), "handledBy": r.choice(att), "before": s.maybe(.6, r.choice(courts)), "opened": s.day(0, 1400)}
            for i in range(2100)]
    s.put("matters", mats, "mandant")
    s.put("hours", [{"_id": s.oid(), "file": r.choice(mats)["_id"], "who": r.choice(att), "min": 6 * r.randint(1, 40),
                     "note": s.words(2, 6)} for _ in range(8000)], "file")
    docs = [{"_id": s.uuid(), "matter": r.choice(mats)["_id"], "title": s.title(2, 4), "pages": r.randint(1, 90)}
            for _ in range(3500)]
    s.put("documents", docs, "matter")
    s.put("bundles", [{"_id": i, "court": r.choice(courts), "exhibits": [{"mark": "K%d" % k, "doc": d["_id"]} for k, d
        in enumerate(s.few(docs, 2, 12), 1)]} for i in range(1, 301)])
    s.put("deadlines", [{"_id": s.oid(), "ref": r.choice(mats)["_id"], "kind": r.choice(["appeal", "reply"]), "by":
                         r.choice(att), "missed": r.random() < .02} for _ in range(1800)])
    s.ref("""
        matters:mandant parties:_id
        matters:opponents[] parties:_id
        matters:handledBy attorneys:_id
        matters:before courts:_id
        hours:file matters:_id
        hours:who attorneys:_id
        documents:matter matters:_id
        bundles:court courts:_id
        bundles:exhibits[].doc documents:_id
        deadlines:ref matters:_id
        deadlines:by attorneys:_id""")


@data_set
def filmset(s):
    """A film production: scenes by number, shots, takes, cast by number, call sheets, props, locations."""
    r = s.r
    s.put("locations", [{"_id": i, "place": s.title(2), "indoor": r.random() < .5} for i in range(1, 38)])
    s.put("cast", [{"_id": i, "actor": s.person(), "plays": s.title(1), "fee": 100 * r.randint(3, 90)} for i in range(
        1, 64)])
    scenes = [{"_id": "%d%s" % (i, r.choice(["", "", "A", "B"])), "at": r.randint(1, 37), "eighths": r.randint(1, 24),
               "cast": s.few(range(1, 64), 1, 8)} for i in range(1, 173)]
    s.put("scenes", scenes)
    crew = [s.oid() for _ in range(90)]
    s.put("crew", [{"_id": c, "name": s.person(), "dept": r.choice(["camera", "sound", "grip", "art"])} for c in crew])
    shots, takes = [], []
    for sc in scenes:
        for k in range(1, r.randint(3, 12)):
            shots.append({"_id": s.oid(), "scene": sc["_id"], "setup": k, "lens": r.choice([18, 25, 35, 50, 85]),
                          "operator": r.choice(crew)})
            takes += [{"_id": s.oid(), "shot": shots[-1]["_id"], "n": n, "good": r.random() < .4,
                "clip": "A%03dC%03d" % (
                len(shots) % 400, n)} for n in range(1, r.randint(2, 9))]
    s.put("shots", shots, "scene")
    s.put("takes", takes, "shot")
    props = codes(s, 190, "PR-%04d", 25)
    s.put("props", [{"_id": p, "what": s.words(1, 2), "rent": Cents(r.randint(100, 9000))} for p in props])
    s.put("callsheets", [{"_id": s.oid(), "day": d, "shoot": s.few([x["_id"] for x in scenes], 1, 5), "bring": s.few(
        props, 2, 14), "calls": [{"no": a, "at": "%02d:30" % r.randint(5, 10)} for a in s.few(range(1, 64), 2, 12)],
        "first": r.choice(crew)} for d in range(1, 61)])
    s.ref("""
        scenes:at locations:_id
        scenes:cast[] cast:_id
        shots:scene scenes:_id
        shots:operator crew:_id
        takes:shot shots:_id
        callsheets:shoot[] scenes:_id
        callsheets:bring[] props:_id
        callsheets:calls[].no cast:_id
        callsheets:first crew:_id""")


@data_set
def shelter(s):
    """An animal shelter: animals by chip, kennels inside of houses, intakes, adoptions, vaccinations by lot."""
    r = s.r
    houses, boxes = [], []
    for i, n in enumerate(("cats", "dogs A", "dogs B", "small", "quarantine")):
        z = ["%s%02d" % ("CABSQ"[i], k) for k in range(1, r.randint(14, 40))]
        boxes += z
        houses.append({"_id": s.oid(), "name": n, "kennels": [{"label": b, "m2": r.randint(2, 12)} for b in z]})
    s.put("houses", houses)
    chips = ["2760%011d" % (10**6 * i + r.randrange(10**6)) for i in range(1400)]
    s.put("animals", [{"_id": s.oid(), "chip": c, "name": s.words(1), "species": r.choice(["dog", "cat", "rabbit"]),
                       "stays": s.maybe(.4, r.choice(boxes))} for c in chips], "!chip")
    people = [10000 + i * 3 for i in range(1100)]
    s.put("people", [{"_id": p, "name": s.person(), "phone": "+31%09d" % r.randrange(10**9)} for p in people])
    s.put("intakes", [{"_id": s.oid(), "animal": a["_id"], "broughtBy": s.maybe(.7, r.choice(people)),
        "reason": r.choice(
        ["found", "given", "seized"]), "on": s.day(0, 1300)} for a in s.docs["animals"]], "animal")
    s.put("adoptions", [{"_id": "AD%05d" % (100 + 3 * i), "animal": str_id(a["_id"]), "adopter": r.choice(people),
                         "fee": r.choice([80, 150, 250]), "returned": r.random() < .1}
                        for i, a in enumerate(r.sample(s.docs["animals"], 900))])
    lots = codes(s, 44, "RB%05d", 400)
    s.put("vaccines", [{"_id": x, "brand": r.choice(["Nobivac", "Purevax"]), "expires": s.day(1300, 1700)}
        for x in lots])
    s.put("shots", [{"_id": s.oid(), "chip": r.choice(chips) if r.random() > .02 else "2760%011d" % r.randrange(10**6),
                     "lot": r.choice(lots), "vet": r.choice(["vdB", "dV", "Ja"])} for _ in range(2600)])
    s.put("followups", [{"_id": s.oid(), "adoption": r.choice(s.docs["adoptions"])["_id"], "visitor": r.choice(people),
                         "fine": r.random() < .9} for _ in range(500)])
    s.ref("""
        animals:stays houses:kennels[].label
        intakes:animal animals:_id
        intakes:broughtBy people:_id
        adoptions:animal animals:_id
        adoptions:adopter people:_id
        shots:chip animals:chip
        shots:lot vaccines:_id
        followups:adoption adoptions:_id
        followups:visitor people:_id""")


@data_set
def cemetery(s):
    """A cemetery: fields, plots with their place, rights, burials, masons, inspections of stones."""
    r = s.r
    s.put("fields", [{"_id": c, "trees": r.randint(0, 90), "opened": r.randint(1880, 2010)} for c in "ABCDEFGHJK"])
    plots = [{"_id": s.oid(), "field": f, "row": a, "nr": b, "type": r.choice(["coffin", "urn"])} for f in "ABCDEFGHJK"
             for a in range(1, 13) for b in range(1, r.randint(8, 20))]
    s.put("plots", plots, "!field,row,nr")
    own = [5000 + 7 * i for i in range(900)]
    s.put("holders", [{"_id": o, "surname": r.choice(LAST), "address": s.title(2)} for o in own])
    s.put("rights", [{"_id": s.oid(), "plot": p["_id"], "holder": r.choice(own), "until": 2020 + r.randint(0, 30)}
                     for p in plots if r.random() < .8], "plot")
    s.put("undertakers", [{"_id": i, "firm": r.choice(LAST) + " & Sons"} for i in range(1, 22)])
    s.put("burials", [{"_id": i, "grave": r.choice(plots)["_id"], "arranged": r.randint(1, 21), "deceased": s.person(),
                       "depth": r.choice([160, 180, 220])} for i in range(1, 2601)])
    s.put("stones", [{"_id": s.oid(), "field": p["field"], "row": p["row"], "nr": p["nr"], "material": r.choice(
        ["granite", "marble"]), "set": s.day(-3000, 1000)} for p in r.sample(plots, 900)], "field,row,nr")
    s.put("tests", [{"_id": s.oid(), "stone": d["_id"], "newton": r.randint(250, 600), "loose": r.random() < .1}
                    for d in r.choices(s.docs["stones"], k=1500)])
    s.put("exhumations", [{"_id": s.oid(), "burial": r.randint(1, 2600), "movedTo": s.maybe(.7, r.choice(plots)["_id"])}
                          for _ in range(70)])
    s.ref("""
        plots:field fields:_id
        rights:plot plots:_id
        rights:holder holders:_id
        burials:grave plots:_id
        burials:arranged undertakers:_id
        stones:field+row+nr plots:field+row+nr
        stones:field fields:_id
        tests:stone stones:_id
        exhumations:burial burials:_id
        exhumations:movedTo plots:_id""")


@data_set
def perfume(s):
    """A perfume lab: raw materials by CAS number, formulas with other formulas inside, batches, smell panels."""
    r = s.r
    cas = sorted({"%d-%02d-%d" % (r.randint(60, 99999), r.randrange(100), r.randrange(10)) for _ in range(420)})
    s.put("materials", [{"_id": s.oid(), "cas": c, "note": r.choice(["top", "heart", "base"]), "eur": Cents(r.randint(
        500, 90000))} for c in cas], "!cas")
    forms = []
    for i in range(310):
        forms.append({"_id": 1 + i, "codename": s.title(1), "perfumer": r.randint(1, 19), "parts": [
            {"raw": c, "g": r.randint(1, 900) / 10} for c in s.few(cas, 3, 14)], "modOf": s.maybe(
                .5, 1 + r.randrange(i)) if i > 15 else NO})
    s.put("formulas", forms)
    s.put("noses", [{"_id": i, "name": s.person(), "school": r.choice(["ISIPCA", "GIP"])} for i in range(1, 20)])
    houses = ["%s%d" % (r.choice(WORD)[:4].upper(), 10 * i) for i in range(37)]
    s.put("houses", [{"_id": h, "country": r.choice(COUNTRY)} for h in houses])
    s.put("briefs", [{"_id": s.oid(), "client": r.choice(houses), "budget": 1000 * r.randint(5, 90), "submitted": s.few(
        range(1, 311), 1, 5), "won": s.maybe(.3, 1 + r.randrange(310))} for _ in range(190)])
    batches = [{"_id": "B%07d" % (2100001 + 3 * i), "formula": r.randint(1, 310), "kg": r.randint(1, 400), "drawn": [
        {"cas": c, "lot": "%s/%d" % (r.choice("ABC"), r.randrange(999))} for c in s.few(cas, 2, 6)]}
            for i in range(900)]
    s.put("batches", batches)
    s.put("panels", [{"_id": s.oid(), "sample": r.choice(batches)["_id"], "votes": [{"nose": r.randint(1, 19), "points":
        r.randint(1, 10)} for _ in range(r.randint(2, 7))], "lead": r.randint(1, 19)} for _ in range(600)])
    s.ref("""
        formulas:perfumer noses:_id
        formulas:parts[].raw materials:cas
        formulas:modOf formulas:_id
        briefs:client houses:_id
        briefs:submitted[] formulas:_id
        briefs:won formulas:_id
        batches:formula formulas:_id
        batches:drawn[].cas materials:cas
        panels:sample batches:_id
        panels:votes[].nose noses:_id
        panels:lead noses:_id""")


@data_set
def bikeshare(s):
    """Shared bikes: docks inside of stations, trips from dock to dock, repairs, users by UUID as text."""
    r = s.r
    dock, st = 0, []
    for i in range(120):
        z = []
        for _ in range(r.randint(8, 24)):
            dock += 1
            z.append({"dockId": 50000 + 2 * dock, "ok": r.random() < .95})
        st.append({"_id": "st-%03d" % (i + 1), "corner": s.title(2), "docks": z})
    s.put("stations", st)
    docks = [d["dockId"] for x in st for d in x["docks"]]
    users = [str(s.uuid()) for _ in range(1200)]
    s.put("riders", [{"_id": u, "plan": r.choice(["day", "year"]), "since": s.day(0, 900)} for u in users])
    bikes = [s.oid() for _ in range(800)]
    s.put("bikes", [{"_id": b, "frame": "FR%06d" % r.randrange(10**6), "gears": 3, "parked": s.maybe(.7, r.choice(
        docks))} for b in bikes])
    s.put("trips", [{"_id": s.oid(), "bike": r.choice(bikes), "rider": r.choice(users), "out": r.choice(docks), "in":
                     r.choice(docks), "sec": r.randint(60, 7200)} for _ in range(9000)], "bike")
    mech = ["m%d" % i for i in range(1, 16)]
    s.put("mechanics", [{"_id": m, "shift": r.choice(["early", "late"])} for m in mech])
    s.put("repairs", [{"_id": i, "bike": str_id(r.choice(bikes)), "fixedBy": r.choice(mech), "parts": s.few(WORD[:30],
        0, 4)} for i in range(1, 1301)])
    s.put("rebalancing", [{"_id": s.oid(), "van": r.choice("UVW"), "from": r.choice(st)["_id"],
        "to": r.choice(st)["_id"],
                           "bikes": s.few(bikes, 1, 12)} for _ in range(700)])
    s.ref("""
        bikes:parked stations:docks[].dockId
        trips:bike bikes:_id
        trips:rider riders:_id
        trips:out stations:docks[].dockId
        trips:in stations:docks[].dockId
        repairs:bike bikes:_id
        repairs:fixedBy mechanics:_id
        rebalancing:from stations:_id
        rebalancing:to stations:_id
        rebalancing:bikes[] bikes:_id""")


@data_set
def satops(s):
    """Satellites: NORAD numbers, ground stations, passes, commands sent in a pass, anomalies, telemetry frames."""
    r = s.r
    sats = [43000 + 11 * i for i in range(34)]
    s.put("spacecraft", [{"_id": x, "cospar": "20%02d-%03dA" % (18 + i % 5, 7 * i + 1), "orbit": r.choice(["LEO",
        "SSO"])}
                         for i, x in enumerate(sats)])
    gs = ["SVALB", "KIRUN", "MASPA", "PUNTA", "PERTH", "INUVK", "TROLL", "REDUC", "WEILH"]
    s.put("antennas", [{"_id": g, "dish": r.choice([3, 7, 11, 13]), "band": r.choice("SX")} for g in gs])
    ops = ["%s.%s" % (r.choice(FIRST)[0].lower(), x.lower()) for x in LAST[:26]]
    s.put("operators", [{"_id": o, "console": r.randint(1, 6)} for o in ops])
    passes = [{"_id": s.oid(), "sat": r.choice(sats), "site": r.choice(gs), "aos": s.day(1000, 1400),
        "maxEl": r.randint(
        5, 90), "onDuty": r.choice(ops)} for _ in range(4000)]
    s.put("contacts", passes, "sat,aos")
    cmds = [{"_id": 100 + 4 * i, "mnemonic": "TC_%s_%d" % (r.choice(WORD).upper(), i), "hazard": r.random() < .1}
            for i in range(230)]
    s.put("telecommands", cmds)
    s.put("uplinks", [{"_id": s.oid(), "during": r.choice(passes)["_id"], "tc": r.choice(cmds)["_id"],
        "ack": r.random() <
                       .97, "sentBy": r.choice(ops)} for _ in range(7000)], "during")
    ano = []
    for i in range(260):
        ano.append({"_id": i + 1, "craft": r.choice(sats), "seen": s.maybe(.9, r.choice(passes)["_id"]),
            "same": s.maybe(
            .15, 1 + r.randrange(i)) if i > 30 else NO, "sev": r.randint(1, 4)})
    s.put("anomalies", ano)
    s.put("frames", [{"_id": s.oid(), "vcid": r.randrange(8), "scid": r.choice(sats), "pass": str_id(r.choice(passes)[
        "_id"]), "crc": r.random() < .99} for _ in range(5000)], "pass")
    s.ref("""
        contacts:sat spacecraft:_id
        contacts:site antennas:_id
        contacts:onDuty operators:_id
        uplinks:during contacts:_id
        uplinks:tc telecommands:_id
        uplinks:sentBy operators:_id
        anomalies:craft spacecraft:_id
        anomalies:seen contacts:_id
        anomalies:same anomalies:_id
        frames:scid spacecraft:_id
        frames:pass contacts:_id""")


@data_set
def drivingschool(s):
    """A driving school: pupils, lessons with cars by plate, theory questions, mock exams, official tests."""
    r = s.r
    s.put("instructors", [{"_id": i, "name": s.person(), "manual": r.random() < .6} for i in range(1, 20)])
    plates = ["%s-%03d-%s" % (r.choice("GHJKL"), 7 * i + 101, r.choice("BDFG")) for i in range(27)]
    s.put("cars", [{"_id": p, "model": r.choice(["Polo", "Yaris", "208"]), "auto": r.random() < .3} for p in plates])
    pup = [2001 + i for i in range(860)]
    s.put("pupils", [{"_id": p, "name": s.person(), "category": r.choice(["B", "A1", "BE"]), "prefers": s.maybe(
        .5, r.randint(1, 19))} for p in pup])
    s.put("lessons", [{"_id": s.oid(), "pupil": r.choice(pup), "coach": r.randint(1, 19), "plate": r.choice(plates),
        "at":
                       s.day(900, 1400), "km": r.randint(8, 60)} for _ in range(7500)], "pupil,at")
    qs = ["%d.%d.%02d-%03d" % (1 + i % 2, 1 + i % 7, i % 40, 100 + i) for i in range(640)]
    s.put("questions", [{"_id": q, "points": r.randint(2, 5), "picture": r.random() < .4} for q in qs])
    s.put("mocks", [{"_id": s.oid(), "by": r.choice(pup), "wrong": s.few(qs, 0, 9), "secs": r.randint(300, 2700)}
                    for _ in range(3000)], "by")
    s.put("exams", [{"_id": "TUV%06d" % (5 * i + 80), "candidate": r.choice(pup), "in": r.choice(plates), "accompanied":
                     r.randint(1, 19), "passed": r.random() < .7} for i in range(1100)])
    s.put("complaints", [{"_id": i, "against": r.randint(1, 19), "raisedBy": r.choice(pup), "text": s.words(4, 9)}
                         for i in range(1, 61)])
    s.ref("""
        pupils:prefers instructors:_id
        lessons:pupil pupils:_id
        lessons:coach instructors:_id
        lessons:plate cars:_id
        mocks:by pupils:_id
        mocks:wrong[] questions:_id
        exams:candidate pupils:_id
        exams:in cars:_id
        exams:accompanied instructors:_id
        complaints:against instructors:_id
        complaints:raisedBy pupils:_id""")


@data_set
def watchmaker(s):
    """A watch workshop: calibres, watches by serial, jobs, spare parts that fit calibres, benches, suppliers."""
    r = s.r
    cal = ["%s %d" % (r.choice(["ETA", "SW", "Cal.", "MIY"]), 200 + 7 * i) for i in range(78)]
    s.put("calibres", [{"_id": c, "jewels": r.randint(15, 31), "vph": r.choice([21600, 28800])} for c in cal])
    w = [s.oid() for _ in range(1500)]
    s.put("watches", [{"_id": x, "serial": "%s%07d" % (r.choice("ABKM"), 13 * i + 40), "movement": r.choice(cal),
                       "owner": 300 + r.randrange(700)} for i, x in enumerate(w)], "!serial")
    s.put("owners", [{"_id": 300 + i, "name": s.person(), "vip": r.random() < .05} for i in range(700)])
    sup = ["%s-%02d" % (r.choice(COUNTRY), i) for i in range(1, 29)]
    s.put("suppliers", [{"_id": x, "firm": s.title(2), "days": r.randint(2, 60)} for x in sup])
    parts = [{"_id": 1 + i, "name": s.words(1, 2), "fits": s.few(cal, 1, 6), "source": r.choice(sup), "bin": "%s%d" % (
        r.choice("ABC"), r.randint(1, 40)), "left": r.randint(0, 60)} for i in range(740)]
    s.put("parts", parts)
    s.put("benches", [{"_id": i, "watchmaker": s.person(), "lamp": r.choice(["LED", "T5"])} for i in range(1, 15)])
    jobs = [{"_id": 20000 + i, "watch": r.choice(w), "bench": r.randint(1, 14), "used": [{"p": 1 + r.randrange(740),
        "n":
        r.randint(1, 3)} for _ in range(r.randint(0, 5))], "quote": Cents(r.randint(4000, 90000))} for i in range(3600)]
    s.put("jobs", jobs, "watch")
    s.put("tests", [{"_id": s.oid(), "job": j["_id"], "rate": r.randint(-12, 12), "amplitude": r.randint(220, 320),
                     "station": r.randint(1, 14)} for j in r.choices(jobs, k=4000)], "job")
    s.put("warranty", [{"_id": s.oid(), "serial": r.choice(s.docs["watches"])["serial"] if r.random() > .04 else
                        "B%07d" % r.randrange(9 * 10**6), "against": r.choice(jobs)["_id"]} for _ in range(190)])
    s.ref("""
        watches:movement calibres:_id
        watches:owner owners:_id
        parts:fits[] calibres:_id
        parts:source suppliers:_id
        jobs:watch watches:_id
        jobs:bench benches:_id
        jobs:used[].p parts:_id
        tests:job jobs:_id
        tests:station benches:_id
        warranty:serial watches:serial
        warranty:against jobs:_id""")


@data_set
def hamradio(s):
    """Amateur radio: call signs, logged contacts, repeaters, contests with scores, cards, awards."""
    r = s.r
    calls = sorted({"%s%d%s" % (r.choice(["DL", "OE", "HB", "PA", "F", "G"]), r.randint(1, 9), "".join(r.choices(
        "ABCDEFGHKLMNPRSTUVW", k=r.randint(2, 3)))) for _ in range(950)})
    s.put("stations", [{"_id": s.oid(), "call": c, "op": r.choice(FIRST), "grid": "J%s%d%d" % (r.choice("NOM"),
        r.randrange(
        10), r.randrange(10))} for c in calls], "!call")
    rigs = [s.oid() for _ in range(70)]
    s.put("rigs", [{"_id": x, "maker": r.choice(["Icom", "Yaesu"]), "watts": r.choice([5, 100, 400])} for x in rigs])
    s.put("bands", [{"_id": b, "mhz": m} for b, m in [("160m", 1), ("80m", 3), ("40m", 7), ("20m", 14), ("15m", 21), (
        "10m", 28), ("2m", 144), ("70cm", 430)]])
    bands = [d["_id"] for d in s.docs["bands"]]
    tests = [{"_id": i, "title": s.title(2) + " Contest", "hours": r.choice([4, 12, 24, 48])} for i in range(1, 44)]
    s.put("contests", tests)
    qso = [{"_id": Long(1600000000000 + 7919 * i), "de": r.choice(calls), "worked": r.choice(calls), "band": r.choice(
        bands), "rst": r.choice([599, 579, 559]), "rig": s.maybe(.6, r.choice(rigs)), "event": s.maybe(.5, r.randint(
            1, 43))} for i in range(8500)]
    s.put("log", qso, "de")
    s.put("cards", [{"_id": s.oid(), "confirms": q["_id"], "via": r.choice(["bureau", "direct", "LoTW"]),
        "manager": s.maybe(
        .3, r.choice(calls))} for q in r.sample(qso, 2200)])
    s.put("entries", [{"_id": s.oid(), "test": r.randint(1, 43), "entrant": r.choice(calls), "claimed": r.randint(100,
        10**6),
                       "checkedBy": s.maybe(.8, r.choice(calls[:40]))} for _ in range(1100)])
    s.ref("""
        log:de stations:call
        log:worked stations:call
        log:band bands:_id
        log:rig rigs:_id
        log:event contests:_id
        cards:confirms log:_id
        cards:manager stations:call
        entries:test contests:_id
        entries:entrant stations:call
        entries:checkedBy stations:call""")


@data_set
def forestry(s):
    """A forest: stands in compartments, felling orders, machines, log piles sold, sawmills, beetle traps."""
    r = s.r
    comp = ["%s%d" % (r.choice("IVX") * r.randint(1, 3), i) for i in range(1, 57)]
    s.put("compartments", [{"_id": c, "ha": r.randint(8, 90), "ranger": r.randint(1, 14)} for c in comp])
    s.put("foresters", [{"_id": i, "name": s.person(), "district": r.choice(CITY)} for i in range(1, 15)])
    stands = [{"_id": 1 + i, "within": r.choice(comp), "age": r.randint(1, 160), "mix": r.choice(["spruce", "beech",
        "pine"])} for i in range(391)]
    s.put("stands", stands)
    mach = ["HV%02d" % (2 * i + 1) for i in range(12)] + ["FW%02d" % (3 * i + 2) for i in range(14)]
    s.put("machines", [{"_id": m, "hours": r.randint(90, 15000), "leased": r.random() < .5} for m in mach])
    cuts = [{"_id": s.oid(), "stand": 1 + r.randrange(391), "planned": s.day(600, 1200), "fm": r.randint(10, 900),
        "done":
             s.maybe(.9, {"with": r.choice(mach), "boss": r.randint(1, 14)})} for _ in range(1400)]
    s.put("cuts", cuts, "stand")
    piles = [{"_id": "P-%05d" % (31 * i + 7), "cut": r.choice(cuts)["_id"], "m3": r.randint(5, 200), "sort": r.choice(
        ["L2b", "L3a", "IL"])} for i in range(2100)]
    s.put("piles", piles)
    mills = [s.oid() for _ in range(21)]
    s.put("mills", [{"_id": m, "town": r.choice(CITY), "m3PerYear": 1000 * r.randint(5, 900)} for m in mills])
    s.put("sales", [{"_id": s.oid(), "purchaser": r.choice(mills), "loads": [{"pile": p["_id"], "eur": r.randint(40,
        120)}
        for p in s.few(piles, 1, 9)]} for _ in range(480)])
    s.put("traps", [{"_id": s.oid(), "hungIn": 1 + r.randrange(391), "counts": [r.randint(0, 3000) for _ in range(
        r.randint(1, 9))], "emptiedBy": r.randint(1, 14)} for _ in range(1500)])
    s.ref("""
        compartments:ranger foresters:_id
        stands:within compartments:_id
        cuts:stand stands:_id
        cuts:done.with machines:_id
        cuts:done.boss foresters:_id
        piles:cut cuts:_id
        sales:purchaser mills:_id
        sales:loads[].pile piles:_id
        traps:hungIn stands:_id
        traps:emptiedBy foresters:_id""")


@data_set
def coworking(s):
    """Shared offices: desks inside of floors, memberships, badges at doors, meeting rooms, invitations, mail."""
    r = s.r
    desk, floors = 0, []
    for i in range(8):
        z = []
        for _ in range(r.randint(20, 46)):
            desk += 1
            z.append({"code": "D%d%03d" % (i, 3 * desk), "window": r.random() < .3})
        floors.append({"_id": "L%d" % i, "house": r.choice(CITY), "desks": z})
    s.put("floors", floors)
    desks = [d["code"] for f in floors for d in f["desks"]]
    mem = [s.oid() for _ in range(780)]
    s.put("members", [{"_id": m, "company": s.title(2), "badge": 700000 + 19 * i, "seat": s.maybe(.5, r.choice(desks))}
                      for i, m in enumerate(mem)], "!badge")
    badges = [d["badge"] for d in s.docs["members"]]
    s.put("swipes", [{"_id": s.oid(), "badge": r.choice(badges) if r.random() > .01 else 600000 + r.randrange(9999),
        "door":
                      r.choice(["main", "yard", "bike"]), "t": s.day(1200, 1300)} for _ in range(9000)], "badge")
    s.put("rooms", [{"_id": i, "title": s.title(1), "chairs": r.randint(4, 30), "on": r.choice(floors)["_id"]}
        for i in range(
        1, 18)])
    books = [{"_id": s.uuid(), "room": r.randint(1, 17), "host": r.choice(mem), "guests": ["%s@mail.example" % r.choice(
        WORD) for _ in range(r.randint(0, 5))], "from": s.day(1100, 1300)} for _ in range(3300)]
    s.put("bookings", books, "room,from")
    s.put("catering", [{"_id": s.oid(), "for": str(b["_id"]), "lunches": r.randint(1, 30)} for b in r.sample(books,
        600)])
    s.put("parcels", [{"_id": 1 + i, "for": r.choice(badges), "shelf": r.randint(1, 30), "carrier": r.choice(["DHL",
        "UPS"])}
                      for i in range(1900)])
    s.put("invoices", [{"_id": "CW%06d" % (7 * i + 100), "member": r.choice(mem), "items": [{"kind": "desk",
        "what": r.choice(
        desks)}, {"kind": "coffee", "what": "flat"}][:r.randint(1, 2)], "eur": r.randint(90, 900)}
            for i in range(2100)],
          "member")
    s.ref("""
        members:seat floors:desks[].code
        swipes:badge members:badge
        rooms:on floors:_id
        bookings:room rooms:_id
        bookings:host members:_id
        catering:for bookings:_id
        parcels:for members:badge
        invoices:member members:_id
        invoices:items[].what floors:desks[].code""")


@data_set
def fishauction(s):
    """A fish auction: vessels, landings, lots on a clock, buyers by number, quotas by species code, ice."""
    r = s.r
    species = sorted({"".join(r.choices("ABCDEHKLMOPRSTUW", k=3)) for _ in range(52)})
    s.put("species", [{"_id": x, "latin": s.words(2), "minCm": r.randint(8, 70)} for x in species])
    ves = ["%s%d" % (r.choice(["UK", "SCH", "Z", "B"]), 7 * i + 20) for i in range(94)]
    s.put("vessels", [{"_id": s.oid(), "mark": v, "kw": r.randint(80, 1900), "skipper": s.person()} for v in ves],
        "!mark")
    s.put("buyers", [{"_id": i, "firm": s.title(2), "credit": 1000 * r.randint(1, 90)} for i in range(1, 118)])
    land = [{"_id": s.oid(), "ship": r.choice(ves), "quay": r.randint(1, 6), "at": s.day(1000, 1400), "haul": [{"sp": x,
        "kg": r.randint(5, 900)} for x in s.few(species, 1, 7)]} for _ in range(1700)]
    s.put("landings", land, "ship")
    lots = [{"_id": 1 + i, "landing": r.choice(land)["_id"], "fish": r.choice(species), "boxes": r.randint(1, 40),
        "class":
             r.choice("EAB"), "soldTo": s.maybe(.96, r.randint(1, 117)), "cents": r.randint(90, 2400)}
                 for i in range(6400)]
    s.put("lots", lots)
    s.put("quotas", [{"_id": s.oid(), "vessel": v, "species": x, "tons": r.randint(1, 90)} for v in ves for x in s.few(
        species, 1, 5)], "!vessel,species")
    s.put("claims", [{"_id": s.oid(), "lot": 1 + r.randrange(6400), "by": r.randint(1, 117), "why": r.choice(["weight",
        "fresh"])} for _ in range(420)])
    s.put("carts", [{"_id": s.oid(), "cart": i, "holds": s.few(range(1, 6401), 2, 12), "dock": r.choice("NSW")}
        for i in range(
        1, 301)])
    s.ref("""
        landings:ship vessels:mark
        landings:haul[].sp species:_id
        lots:landing landings:_id
        lots:fish species:_id
        lots:soldTo buyers:_id
        quotas:vessel vessels:mark
        quotas:species species:_id
        claims:lot lots:_id
        claims:by buyers:_id
        carts:holds[] lots:_id""")


@data_set
def gamecafe(s):
    """A board game cafe: games with copies inside, tables, sittings, tabs, teachers, a league with ratings."""
    r = s.r
    copy, games = 0, []
    for i in range(260):
        z = []
        for _ in range(r.randint(1, 4)):
            copy += 1
            z.append({"tag": "%06d-%s" % (37 * copy, r.choice("GRB")), "worn": r.randint(0, 5)})
        games.append({"_id": 1000 + 13 * i, "title": s.title(1, 3), "copies": z, "expands": s.maybe(
            .1, 1000 + 13 * r.randrange(i)) if i > 20 else NO})
    s.put("games", games)
    tags = [c["tag"] for g in games for c in g["copies"]]
    s.put("tables", [{"_id": i, "places": r.choice([2, 4, 6, 8]), "corner": r.random() < .3} for i in range(1, 27)])
    staff = [s.oid() for _ in range(19)]
    s.put("staff", [{"_id": x, "nick": s.words(1), "teaches": s.few([g["_id"] for g in games], 3, 20)} for x in staff])
    pl = ["%s%s%d" % (r.choice(WORD), r.choice(["", "_", "."]), i) for i in range(520)]
    s.put("players", [{"_id": p, "elo": r.randint(900, 2100)} for p in pl])
    sit = [{"_id": s.oid(), "table": r.randint(1, 26), "box": s.maybe(.9, r.choice(tags)), "explained": s.maybe(.4,
        r.choice(
        staff)), "party": s.few(pl, 0, 5), "min": r.randint(20, 300)} for _ in range(4200)]
    s.put("sittings", sit, "table")
    s.put("tabs", [{"_id": 40000 + i, "sitting": x["_id"], "drinks": [{"item": r.choice(["tea", "ale", "cola"]), "n":
        r.randint(1, 5)} for _ in range(r.randint(0, 4))], "waiter": r.choice(staff)} for i, x in enumerate(sit)])
    s.put("matches", [{"_id": s.oid(), "game": r.choice(games)["_id"], "winner": a, "loser": b, "at": r.randint(1, 26)}
                      for _ in range(2300) for a, b in [r.sample(pl, 2)]])
    s.put("lost", [{"_id": s.oid(), "copy": r.choice(tags), "piece": s.words(1), "found": r.random() < .3}
        for _ in range(
        170)])
    s.ref("""
        games:expands games:_id
        staff:teaches[] games:_id
        sittings:table tables:_id
        sittings:box games:copies[].tag
        sittings:explained staff:_id
        sittings:party[] players:_id
        tabs:sitting sittings:_id
        tabs:waiter staff:_id
        matches:game games:_id
        matches:winner players:_id
        matches:loser players:_id
        matches:at tables:_id
        lost:copy games:copies[].tag""")
