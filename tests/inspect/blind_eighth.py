# SPDX-License-Identifier: Apache-2.0
"""blind_eighth.py - seven sets of trades, written together with blind_sixth.py and tried after it."""
import datetime

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


@data_set
def hubcrm(s):
    """An export of a CRM: long numbers as ids, associations by type and id, properties as key and value, owners."""
    r = s.r
    owners = [Long(41000000 + 7919 * i) for i in range(36)]
    s.put("owners", [{"_id": o, "email": "%s%d@firm.example" % (s.words(1), i), "teamId": r.randint(1, 5), "active":
                      r.random() < .9} for i, o in enumerate(owners)])
    s.put("teams", [{"_id": i, "name": s.title(1)} for i in range(1, 6)])
    pipes = ["default", "renewals", "partners"]
    s.put("pipelines", [{"_id": p, "label": s.title(1), "stages": [{"stageId": "%s_%d" % (p, k), "probability": k / 5}
                                                                   for k in range(1, 6)]} for p in pipes])
    stages = ["%s_%d" % (p, k) for p in pipes for k in range(1, 6)]
    comp = [Long(5300000000 + r.randrange(10**8) + 10**8 * i) for i in range(620)]
    s.put("companies", [{"_id": c, "domain": "%s%d.example" % (s.words(1), i), "ownerId": s.skew(owners),
        "parentCompanyId":
                         s.maybe(.1, r.choice(comp)), "properties": [{"k": k, "v": v} for k, v in (
                             ("industry", r.choice(WORD[:9])), ("city", r.choice(CITY)), ("size", str(r.randint(1,
                                 900))))]}
                        for i, c in enumerate(comp)], "ownerId")
    cont = [Long(200000001 + 151 * i) for i in range(2900)]
    s.put("contacts",
          [{"_id": c,
            "email": "%s%d@mail.example" % (s.words(1),
                                            i),
            "companyId": s.maybe(.7,
                                 s.skew(comp)),
            "hubspot_owner_id": s.maybe(.8,
                                        str(r.choice(owners))),
            "lifecycle": r.choice(["lead",
                                   "mql",
                                   "customer"]),
            "mergedVids": s.few(range(10**6,
                                      10**7),
                                0,
                                2)} for i,
           c in enumerate(cont)],
          "companyId")
    deals = [Long(9100000000 + r.randrange(10**7) + 10**7 * i) for i in range(900)]
    s.put("deals", [{"_id": d, "dealname": s.title(2), "pipeline": r.choice(pipes), "dealstage": r.choice(
        stages), "owner": r.choice(owners), "amount": s.maybe(.9, Cents(100 * r.randint(100, 90000)))} for d in deals])
    kinds = {"contact": cont, "company": comp, "deal": deals}
    s.put("associations", [{"_id": s.oid(), "fromType": "deal", "fromId": r.choice(deals), "toType": k,
        "toId": r.choice(
        kinds[k])} for k in r.choices(["contact", "contact", "company"], k=3600)], "fromId", "toId")
    s.put("engagements",
          [{"_id": Long(77000000000 + 31 * i),
            "type": r.choice(["CALL",
                              "NOTE",
                              "EMAIL"]),
            "ownerId": r.choice(owners),
            "objectType": k,
            "objectId": r.choice(kinds[k]) if r.random() > .03 else Long( r.randrange(10**4)),
            "ts": s.day(500,
                        1000)} for i,
           k in enumerate(r.choices( list(kinds),
                                     k=6100))],
          "objectId")
    s.put("tickets",
          [{"_id": s.oid(),
            "subject": s.title(3),
            "contact_email": "",
            "assignee": s.maybe(.8,
                                s.docs["owners"][ r.randrange(36)]["email"]),
            "deal": s.maybe(.2,
                            str(r.choice(deals)))} for _ in range(1400)])
    for t in s.docs["tickets"]:
        t["contact_email"] = r.choice(s.docs["contacts"])["email"] if r.random(
        ) > .15 else "x%d@un.example" % r.randrange( 10**6)
    s.put("lists", [{"_id": i, "name": s.title(2), "members": s.few(cont, 5, 90), "createdBy": r.choice(owners)}
                    for i in range(1, 64)])
    s.ref("""
        owners:teamId teams:_id
        companies:ownerId owners:_id
        companies:parentCompanyId companies:_id
        contacts:companyId companies:_id
        contacts:hubspot_owner_id owners:_id
        deals:pipeline pipelines:_id
        deals:dealstage pipelines:stages[].stageId
        deals:owner owners:_id
        associations:fromId deals:_id
        associations:toId contacts:_id
        associations:toId companies:_id
        engagements:ownerId owners:_id
        engagements:objectId contacts:_id
        engagements:objectId companies:_id
        engagements:objectId deals:_id
        tickets:contact_email contacts:email
        tickets:assignee owners:email
        tickets:deal deals:_id
        lists:members[] contacts:_id
        lists:createdBy owners:_id""")


@data_set
def sklep(s):
    """A shop in Polish with attributes as fields and as pairs, slugs, stale copies of names, outlier flags."""
    r = s.r
    kat = [{"_id": "%s-%s" % (a, b), "nazwa": s.title(2), "nadrzedna": NO} for a in WORD[:9] for b in WORD[40:45]]
    for i, k in enumerate(kat):
        k["nadrzedna"] = NO if i < 6 else kat[r.randrange(max(1, i // 2))]["_id"]
    s.put("kategorie", kat)
    prodc = [s.oid() for _ in range(60)]
    s.put("producenci", [{"_id": p, "nazwa": s.title(2) + " S.A.", "kraj": r.choice(COUNTRY)} for p in prodc])
    maker = {d["_id"]: d["nazwa"] for d in s.docs["producenci"]}
    tow = []
    for i in range(1900):
        p = s.skew(prodc)
        tow.append({"_id": s.oid(), "indeks": "%s/%05d" % (r.choice(["EL", "DM", "OG"]), 10000 + 3 * i),
            "nazwa": s.title(
            2, 4), "kategoria": r.choice(kat)["_id"], "producent_id": p, "producent_nazwa": maker[p] if r.random() > .03
            else maker[p].lower(), "cena": Cents(r.randint(500, 400000)), "cecha_kolor": s.maybe(.4,
                r.choice(WORD[:9])),
            "cecha_material": s.maybe(.3, r.choice(WORD[9:19])), "cecha_rozmiar": s.maybe(.4, r.choice(["S", "M",
                "L"])),
            "cecha_zapach": s.maybe(.1, r.choice(WORD[30:40])), "cecha_wzor": s.maybe(.2, r.choice(WORD[50:55])),
            "zamienniki": [x["_id"] for x in s.few(tow, 0, 3)]})
    s.put("towary", tow, "!indeks", "kategoria")
    kli = [{"_id": 30001 +
            i, "nip": s.maybe(.3, "%010d" %
                              r.randrange(10**9, 10**10)), "imie": r.choice(FIRST), "nazwisko": r.choice(LAST),
                                  "mail": "%s%d@poczta.example" %
            (s.words(1), i)} for i in range(2200)]
    s.put("klienci", kli, "!mail")
    mag = ["WAW", "KRK", "GDN", "POZ"]
    s.put("magazyny", [{"_id": m, "ulica": s.title(1)} for m in mag])
    s.put("stany", [{"_id": {"towar": t["_id"], "magazyn": m}, "ilosc": r.randint(0, 300)} for t in tow for m in s.few(
        mag, 1, 3)])
    dost = ["kurier", "paczkomat", "odbior", "poczta"]
    s.put("dostawy", [{"_id": d, "koszt": Cents(r.randint(0, 2500))} for d in dost])
    zam = []
    for i in range(3300):
        k = s.skew(kli)
        zam.append({"_id": s.oid(),
                    "nr_zam": "ZAM/%05d/21" % (1 + i),
                    "klient": k["_id"],
                    "klient_mail": k["mail"],
                    "sposob": s.skew(dost),
                    "magazyn": r.choice(mag),
                    "pozycje": [{"indeks": t["indeks"],
                                 "szt": r.randint(1,
                                                  5),
                                 "nazwa": t["nazwa"] if r.random() > .02 else s.title(1)} for t in s.few(tow,
                                                                                                         1,
                                                                                                         6)],
                    "zlozono": s.day( 600,
                                      1000),
                    "duze": False})
    s.put("zamowienia", zam, "!nr_zam", "klient")
    s.put("zwroty", [{"_id": "ZW%06d" % (i + 1), "zamowienie": z["nr_zam"], "towar": z["pozycje"][0]["indeks"], "powod":
                      s.words(2, 5)} for i, z in enumerate(r.sample(zam, 260))], "zamowienie")
    s.put("opinie", [{"_id": s.oid(), "towar": str_id(s.skew(tow)["_id"]),
        "autor": r.choice(kli)["mail"] if r.random() < .8
                      else "anonim%d" % r.randrange(900), "gwiazdki": r.randint(1, 5), "tresc": s.words(4, 20)}
                     for _ in range(2700)], "towar")
    s.copy("""
        towary:producent_id producenci:_id producent_nazwa nazwa""")
    s.ref("""
        kategorie:nadrzedna kategorie:_id
        towary:kategoria kategorie:_id
        towary:producent_id producenci:_id
        towary:zamienniki[] towary:_id
        stany:_id.towar towary:_id
        stany:_id.magazyn magazyny:_id
        zamowienia:klient klienci:_id
        zamowienia:sposob dostawy:_id
        zamowienia:magazyn magazyny:_id
        zamowienia:pozycje[].indeks towary:indeks
        zwroty:zamowienie zamowienia:nr_zam
        zwroty:towar towary:indeks
        opinie:towar towary:_id
        opinie:autor klienci:mail""")
    s.allow("""
        zamowienia:klient_mail klienci:mail""")
    for x in ("zamowienia.pozycje[].nazwa", "zamowienia.pozycje.nazwa"):
        s.rules_allowed.append({"rule": "stale-copies", "ns": "sklep.zamowienia", "path": x.split(".", 1)[1]})


@data_set
def vessels(s):
    """Ships by IMO number and MMSI, ports by UN/LOCODE, voyages, containers on bills of lading, positions."""
    r = s.r
    ports = sorted({r.choice(COUNTRY) + c[:3].upper() for c in CITY * 3})
    s.put("Ports", [{"_id": s.oid(), "Locode": p, "PortName": r.choice(CITY), "Terminals": [
          {"Code": "T%d" % k, "Cranes": r.randint(1, 9)} for k in range(1, r.randint(2, 5))]} for p in ports],
              "!Locode")
    lines = ["%sU" % "".join(r.sample(LETTERS, 3)) for _ in range(16)]
    s.put("Carriers", [{"_id": c, "Name": s.title(2) + " Line"} for c in sorted(set(lines))])
    lines = sorted(set(lines))
    imo = r.sample(range(9000000, 9900000), 260)
    ships = [{"_id": n, "Mmsi": str(200000000 + r.randrange(5 * 10**8)), "Name": s.title(2), "Flag": r.choice(COUNTRY),
              "OperatorCode": s.skew(lines), "Teu": 100 * r.randint(5, 240)} for n in imo]
    s.put("Vessels", ships, "!Mmsi")
    voy = []
    for i in range(950):
        v = r.choice(ships)
        voy.append({"_id": s.oid(), "VoyageNo": "%03d%s" % (r.randint(1, 400), r.choice("EWNS")), "Imo": v["_id"],
            "Service": "%s%d" % (
            v["OperatorCode"][:2], r.randint(1, 9)), "Calls": [{"Seq": k, "Port": p, "Eta": s.day(800, 1000)} for k,
                p in enumerate(s.few(ports, 3, 8), 1)], "Prev": NO})
    for i, x in enumerate(voy):
        x["Prev"] = s.maybe(.5, voy[i - 1]["_id"]) if i else NO
    s.put("Voyages", voy, "Imo")
    box = ["%s%07d" % (r.choice(lines), r.randrange(10**7)) for _ in range(3000)]
    s.put("Containers", [{"_id": b, "IsoType": r.choice(["22G1", "42G1", "45R1"]),
          "OwnerCode": b[:4], "Tare": r.randint( 2000, 4800)} for b in box])
    parties = [s.oid() for _ in range(700)]
    s.put("Parties", [{"_id": p, "Name": s.title(2) + " Co", "Country": r.choice(COUNTRY), "Eori": s.maybe(
        .4, "%s%012d" % (r.choice(COUNTRY), r.randrange(10**12)))} for p in parties])
    bl = [
        {
            "_id": "%s%09d" %
            (c,
             r.randrange(
                 10**9)),
            "Carrier": c,
            "VoyageId": str_id(
                s.skew(voy)["_id"]),
            "Pol": a,
            "Pod": b,
            "Shipper": r.choice(parties),
            "Consignee": r.choice(parties),
            "NotifyParties": s.few(
                parties,
                0,
                2),
            "Boxes": [
                {
                    "ContainerNo": x,
                    "Seal": "S%06d" %
                            r.randrange(
                                10**6),
                            "Kg": r.randint(
                                2000,
                                28000)} for x in s.few(
                    box,
                    1,
                    5)]} for _ in range(2100) for c in [
            s.skew(lines)] for a,
        b in [
            r.sample(
                ports,
                2)]]
    s.put("BillsOfLading", bl, "VoyageId", "Shipper")
    s.put("GateMoves",
          [{"_id": s.oid(),
            "Unit": s.skew(box,
                           1.1) if r.random() > .04 else "ZZZU%07d" % r.randrange(10**7),
            "Loc": r.choice(ports),
            "Dir": r.choice(["IN",
                             "OUT"]),
            "Bl": s.maybe(.6,
                          r.choice(bl)["_id"]),
            "At": s.day(900,
                        1000)} for _ in range(6200)],
          "Unit")
    s.put("AisPositions",
          [{"_id": s.oid(),
            "m": v["Mmsi"],
            "ts": datetime.datetime(2021,
                                    5,
                                    1) + datetime.timedelta( minutes=6 * i),
            "lat": round(r.uniform(-60,
                                   60),
                         4),
            "lon": round(r.uniform(-180,
                                   180),
                         4),
            "sog": r.randint(0,
                             240) / 10} for i in range(110) for v in ships[:80]],
          "m,ts")
    s.more["timeSeries"] = [{"ns": "vessels.AisPositions",
                             "time": "ts", "series": "m", "count": 80, "stepSeconds": 360}]
    s.ref("""
        Vessels:OperatorCode Carriers:_id
        Voyages:Imo Vessels:_id
        Voyages:Calls[].Port Ports:Locode
        Voyages:Prev Voyages:_id
        Containers:OwnerCode Carriers:_id
        BillsOfLading:Carrier Carriers:_id
        BillsOfLading:VoyageId Voyages:_id
        BillsOfLading:Pol Ports:Locode
        BillsOfLading:Pod Ports:Locode
        BillsOfLading:Shipper Parties:_id
        BillsOfLading:Consignee Parties:_id
        BillsOfLading:NotifyParties[] Parties:_id
        BillsOfLading:Boxes[].ContainerNo Containers:_id
        GateMoves:Unit Containers:_id
        GateMoves:Loc Ports:Locode
        GateMoves:Bl BillsOfLading:_id
        AisPositions:m Vessels:Mmsi""")


@data_set
def parkhaus(s):
    """Garages in German: many tiny collections with 1 to n as ids, plates as keys of season tickets."""
    r = s.r
    s.put("betreiber", [{"_id": i, "firma": s.title(2) + " GmbH"} for i in range(1, 4)])
    s.put("parkhaus", [{"_id": i, "bezeichnung": "Parkhaus " + s.title(1), "betreiberNr": r.randint(1, 3), "ebenen":
                        r.randint(1, 8)} for i in range(1, 13)])
    s.put("zone", [{"_id": i, "parkhausNr": 1 + (i - 1) % 12, "name": r.choice("ABCD"), "plaetze": r.randint(20, 200)}
                   for i in range(1, 41)])
    s.put("tarif", [{"_id": i, "text": s.title(2), "proStunde": Cents(r.randint(100, 400)), "nachfolger": s.maybe(
        .3, r.randint(1, 16))} for i in range(1, 17)])
    s.put("zonentarif", [{"_id": s.oid(), "zone": z, "tarif": r.randint(1, 16), "ab": s.day(0, 900)}
          for z in range(1, 41) for _ in range(r.randint(1, 3))])
    s.put("automat", [{"_id": i, "standort": {"haus": r.randint(1, 12), "ebene": r.randint(-3, 4)}, "typ": r.choice(
        ["EIN", "AUS", "KASSE"])} for i in range(1, 61)])
    s.put(
        "mitarbeiter", [
            {
                "_id": i, "kuerzel": "%s%s" %
                (r.choice(FIRST)[
                    :2], r.choice(LAST)[
                    :2]), "vorgesetzter": NO if i < 4 else r.randint(
                        1, 3)} for i in range(
                            1, 31)])
    s.put("zahlungsart", [{"_id": i, "name": n} for i, n in enumerate(["bar", "ec", "kredit", "app", "rechnung"], 1)])
    kenn = sorted({"%s-%s %d" % (r.choice(["B", "HH", "M", "K"]), "".join(r.sample(LETTERS, 2)), r.randint(1, 9999))
                   for _ in range(900)})
    s.put("dauerparker", [{"_id": i, "inhaber": s.person(), "kennzeichen": k, "zoneNr": r.randint(1, 40), "zahlart":
                           r.randint(1, 5), "bis": s.day(1000, 1300)} for i, k in enumerate(kenn, 1)], "!kennzeichen")
    park = [{"_id": 400000 + i,
             "einfahrt": r.randint(1,
                                   60),
             "ausfahrt": s.maybe(.97,
                                 r.randint(1,
                                           60)),
             "kennz": s.maybe( .35,
                               s.skew(kenn)),
             "von": s.day(950,
                          1000),
             "minuten": r.randint(5,
                                  900),
             "tarifNr": r.randint(1,
                                  16),
             "betrag": Cents(r.randint(0,
                                       4000)),
             "zahlungsart": r.randint(1,
                                      5)} for i in range(9500)]
    s.put("parkvorgang", park, "von", "?kennz")
    s.put("stoerung", [{"_id": s.oid(), "automatNr": r.randint(1, 60), "gemeldetVon": r.randint(1, 30), "behobenVon":
                        s.maybe(.8, r.randint(1, 30)), "vorgang": s.maybe(.3, r.choice(park)["_id"]),
                            "text": s.words(2, 6)}
                       for _ in range(640)])
    s.put("schicht", [{"_id": s.oid(), "mitarbeiter": r.randint(1, 30), "haus": r.randint(1, 12), "tag": text_date(
        s.day( 900, 1000)), "stunden": r.choice([4, 8])} for _ in range(2100)], "mitarbeiter")
    s.ref("""
        parkhaus:betreiberNr betreiber:_id
        zone:parkhausNr parkhaus:_id
        tarif:nachfolger tarif:_id
        zonentarif:zone zone:_id
        zonentarif:tarif tarif:_id
        automat:standort.haus parkhaus:_id
        mitarbeiter:vorgesetzter mitarbeiter:_id
        dauerparker:zoneNr zone:_id
        dauerparker:zahlart zahlungsart:_id
        parkvorgang:einfahrt automat:_id
        parkvorgang:ausfahrt automat:_id
        parkvorgang:kennz dauerparker:kennzeichen
        parkvorgang:tarifNr tarif:_id
        parkvorgang:zahlungsart zahlungsart:_id
        stoerung:automatNr automat:_id
        stoerung:gemeldetVon mitarbeiter:_id
        stoerung:behobenVon mitarbeiter:_id
        stoerung:vorgang parkvorgang:_id
        schicht:mitarbeiter mitarbeiter:_id
        schicht:haus parkhaus:_id""")


@data_set
def workflows(s):
    """A scheduler: dags by name, runs by dag and time, tasks by dag and name, instances by all of them, pools, logs."""
    r = s.r
    owners = ["data-eng", "ml", "finance", "growth", "platform"]
    s.put("team", [{"_id": o, "slack": "#" + o} for o in owners])
    pools = ["default_pool", "heavy", "spark", "io"]
    s.put("slot_pool", [{"_id": s.oid(), "pool": p, "slots": r.randint(4, 128)} for p in pools], "!pool")
    dags = ["%s_%s_%s" % (r.choice(["etl", "ml", "sync", "dq"]), a, b) for a, b in zip(WORD[:58], WORD[30:88])]
    s.put("dag", [{"_id": d, "owner": r.choice(owners), "schedule": r.choice(["@daily", "@hourly", None]), "paused":
                   r.random() < .1, "upstream_dags": s.few(dags, 0, 2)} for d in dags])
    tasks = [{"_id": s.oid(), "dag_id": d, "task_id": t, "pool": s.skew(pools), "retries": r.randint(0, 3),
        "downstream":
              []} for d in dags for t in s.few(["extract", "load", "transform", "notify", "validate", "train", "score",
                                                "publish", "cleanup"], 3, 7)]
    s.put("task", tasks, "!dag_id,task_id")
    by, runs, inst = {}, [], []
    for t in tasks:
        by.setdefault(t["dag_id"], []).append(t)
    for t in tasks:
        t["downstream"] = [x["task_id"] for x in s.few(by[t["dag_id"]], 0, 2)]
    hosts = ["worker-%d.internal" % i for i in range(1, 13)]
    s.put("host", [{"_id": h, "cpu": r.choice([8, 16])} for h in hosts])
    for d in dags:
        for k in range(r.randint(8, 40)):
            rid = "%s__2021-%02d-%02dT00:00:00" % (r.choice(["scheduled", "manual"]), 1 + k // 28, 1 + k % 28)
            runs.append({"_id": s.oid(), "dag_id": d, "run_id": rid, "state": r.choice(["success", "failed"]), "conf":
                         s.maybe(.1, {"triggered_by": r.choice(dags)})})
            for t in by[d]:
                inst.append({"_id": s.oid(), "dag_id": d, "run_id": rid, "task_id": t["task_id"], "try": r.randint(
                    1, 3), "hostname": r.choice(hosts), "pool": t["pool"], "seconds": r.randint(1, 4000)})
    s.put("dag_run", runs, "!dag_id,run_id")
    s.put("task_instance", inst, "!dag_id,run_id,task_id")
    s.put("log", [{"_id": Long(i), "ti": str_id(s.skew(inst)["_id"]), "event": r.choice(
        ["running", "success", "retry"]), "at": s.day(700, 800)} for i in range(1, 6001)], "ti")
    s.put("sla_miss", [{"_id": {"dag_id": x["dag_id"], "task_id": x["task_id"], "run_id": x["run_id"]}, "notified":
                        r.random() < .8} for x in r.sample(inst, 240)])
    s.put("xcom", [{"_id": s.oid(), "ti_id": x["_id"], "key": r.choice(["return_value", "rows"]), "value": r.randint(
        1, 10**6)} for x in r.sample(inst, 1900)], "ti_id")
    s.unjudged.add("mixed-types")
    s.ref("""
        dag:owner team:_id
        dag:upstream_dags[] dag:_id
        task:dag_id dag:_id
        task:pool slot_pool:pool
        dag_run:dag_id dag:_id
        dag_run:conf.triggered_by dag:_id
        task_instance:dag_id dag:_id
        task_instance:dag_id+run_id dag_run:dag_id+run_id
        task_instance:dag_id+task_id task:dag_id+task_id
        task_instance:hostname host:_id
        task_instance:pool slot_pool:pool
        log:ti task_instance:_id
        sla_miss:_id.dag_id dag:_id
        sla_miss:_id.dag_id+_id.run_id+_id.task_id task_instance:dag_id+run_id+task_id
        xcom:ti_id task_instance:_id""")
    s.allow("""
        sla_miss:_id.dag_id+_id.task_id task:dag_id+task_id
        sla_miss:_id.dag_id+_id.run_id dag_run:dag_id+run_id""")


@data_set
def votes(s):
    """A parliament in French: deputies PA1234, organs PO5678, ballots with groups, amendments by uid."""
    r = s.r
    po = ["PO%d" % n for n in r.sample(range(600000, 850000), 70)]
    s.put("organe", [{"_id": o, "codeType": r.choice(["GP", "COMPER", "DELEG"]), "libelle": s.title(2), "organeParent":
                      NO if i < 10 else s.maybe(.5, r.choice(po[:10]))} for i, o in enumerate(po)])
    pa = ["PA%d" % n for n in r.sample(range(1000, 800000), 577)]
    circ = [{"_id": "%02d%02d" % (d, c), "dept": "%02d" % d} for d in range(1, 96) for c in range(1, 8)]
    s.put("circo", circ)
    s.put("acteur", [{"_id": a, "nom": r.choice(LAST), "prenom": r.choice(FIRST), "mandats": [{"organeRef": o, "debut":
                      s.day(0, 900)} for o in s.few(po, 1, 4)], "circo": c["_id"], "suppleant": s.person()}
                     for a, c in zip(pa, r.sample(circ, 577))])
    doss = ["DLR5L15N%d" % n for n in r.sample(range(30000, 45000), 380)]
    s.put("dossier", [{"_id": d, "titre": s.title(3), "auteurs": s.few(pa, 1, 3), "fond": r.choice(po)} for d in doss])
    txt = [{"_id": "PRJLANR5L15B%04d" % i, "dossierRef": s.skew(doss), "deposeLe": s.day(0, 1000)} for i in r.sample(
        range(1, 5000), 520)]
    s.put("texte", txt, "dossierRef")
    amd = []
    for i in range(6200):
        t = s.skew(txt)
        amd.append({"_id": s.oid(),
                    "uid": "AMANR5L15PO%dB%sN%06d" % (r.randint(1,
                                                                9),
                                                      t["_id"][-4:],
                                                      i),
                    "texteRef": t["_id"],
                    "auteurRef": s.skew(pa),
                    "cosign": s.few(pa,
                                    0,
                                    12),
                    "sort": r.choice(["Adopté",
                                      "Rejeté",
                                      "Retiré"]),
                    "sousAmdtDe": r.choice(amd)["uid"] if i > 50 and r.random() < .06 else NO})
    s.put("amendement", amd, "!uid", "texteRef")
    seance = [s.oid() for _ in range(300)]
    s.put("seance", [{"_id": x, "jour": text_date(s.day(0, 1000)), "president": r.choice(pa[:8])} for x in seance])
    s.put("scrutin", [{"_id": i, "seance": r.choice(seance), "objet": {"dossier": s.maybe(.9, r.choice(doss)), "amdt":
                       s.maybe(.6, r.choice(amd)["uid"])}, "groupes": [{"org": o, "pour": s.few(pa, 0, 8),
                           "contre": s.few(
                           pa, 0, 5)} for o in s.few(po, 3, 7)]} for i in range(1, 701)], "seance")
    s.put("question", [{"_id": "QANR5L15QE%d" % i, "auteur": s.skew(pa), "groupe": r.choice(po), "rubrique": r.choice(
        WORD[:30]), "reponse": s.maybe(.7, s.words(10, 40))} for i in range(1, 3400)], "auteur")
    s.put("presence", [{"_id": s.oid(), "seance": r.choice(seance), "depute": r.choice(pa)
          if r.random() > .01 else "PA%d" % r.randint(900000, 990000)} for _ in range(9000)], "seance")
    s.ref("""
        organe:organeParent organe:_id
        acteur:mandats[].organeRef organe:_id
        acteur:circo circo:_id
        dossier:auteurs[] acteur:_id
        dossier:fond organe:_id
        texte:dossierRef dossier:_id
        amendement:texteRef texte:_id
        amendement:auteurRef acteur:_id
        amendement:cosign[] acteur:_id
        amendement:sousAmdtDe amendement:uid
        seance:president acteur:_id
        scrutin:seance seance:_id
        scrutin:objet.dossier dossier:_id
        scrutin:objet.amdt amendement:uid
        scrutin:groupes[].org organe:_id
        scrutin:groupes[].pour[] acteur:_id
        scrutin:groupes[].contre[] acteur:_id
        question:auteur acteur:_id
        question:groupe organe:_id
        presence:seance seance:_id
        presence:depute acteur:_id""")


@data_set
def klinik(s):
    """A clinic in German: stays by case number as text, wards and beds, diagnoses by ICD, drugs by PZN, versions."""
    r = s.r
    stat = ["ST%d%s" % (f, a) for f in (1, 2, 3, 4) for a in "ABC"]
    s.put("Stationen", [{"_id": x, "Bezeichnung": s.title(1),
          "Betten": r.randint(12, 36), "Leitung": NO} for x in stat])
    pers = [{"_id": s.oid(), "PersNr": "%05d" % n, "Name": s.person(), "Funktion": r.choice(
        ["Arzt", "Pflege"]), "Station": r.choice(stat)} for n in r.sample(range(10000, 99999), 310)]
    s.put("Personal", pers, "!PersNr")
    for x in s.docs["Stationen"]:
        x["Leitung"] = r.choice(pers)["PersNr"]
    icd = sorted({"%s%02d.%d" % (a, r.randint(0, 99), r.randint(0, 9)) for a in LETTERS[:18] for _ in range(30)})
    s.put("ICD", [{"_id": x, "Text": s.title(3)} for x in icd])
    pzn = r.sample(range(1000000, 18000000), 480)
    s.put("Medikamente", [{"_id": p, "Handelsname": s.title(1), "Wirkstoff": r.choice(
        WORD), "Ersatz": s.maybe(.2, r.choice( pzn))} for p in pzn])
    pat = [{"_id": s.uuid(), "PatNr": 2000000 + 9 * i, "Name": r.choice(LAST), "Vorname": r.choice(FIRST), "Geb": s.day(
        -30000, 0), "Hausarzt": s.maybe(.6, "Dr. " + r.choice(LAST)), "schemaVersion": 2} for i in range(2300)]
    for p in r.sample(pat, 700):
        p["schemaVersion"] = 1
        p["Telefon"] = "0%010d" % r.randrange(10**10)
    s.put("Patienten", pat, "!PatNr")
    fall = [
        {
            "_id": s.oid(), "FallNr": "F%d%06d" %
            (18 + i // 1000, 1 + i %
             1000), "PatNr": str(
                p["PatNr"]), "Aufnahme": s.day(
                0, 990), "Station": s.skew(stat), "Hauptdiagnose": r.choice(icd), "Nebendiagnosen": s.few(
                    icd, 0, 5), "Aufnahmearzt": r.choice(pers)["PersNr"], "Vorfall": NO} for i, p in enumerate(
                        r.choices(
                            pat, k=3100))]
    for i, f in enumerate(fall):
        if i > 99 and r.random() < .05:
            f["Vorfall"] = r.choice(fall[:i])["FallNr"]
    s.put("Faelle", fall, "!FallNr", "PatNr")
    s.put("Verlegungen", [{"_id": {"Fall": f["FallNr"], "lfd": n}, "von": r.choice(stat), "nach": r.choice(
        stat), "am": s.day( 100, 1000)} for f in fall for n in range(1, r.randint(1, 4))])
    s.put("Verordnungen",
          [{"_id": s.oid(),
            "Fall": s.skew(fall,
                           1.2)["FallNr"],
            "Mittel": [{"PZN": p,
                        "Dosis": r.choice( ["1-0-1",
                                            "1-1-1"])} for p in s.few(pzn,
                                                                      1,
                                                                      4)],
            "angeordnet": r.choice(pers)["_id"],
            "abgesetzt": s.maybe(.2,
                                 r.choice( pers)["_id"])} for _ in range(4800)],
          "Fall")
    s.put("Befunde",
          [{"_id": s.oid(),
            "Fallnummer": r.choice(fall)["FallNr"] if r.random() > .05 else "F99%06d" % r.randrange( 10**6),
            "Art": r.choice(["LAB",
                             "MRT",
                             "EKG"]),
            "Werte": [{"k": k,
                       "v": r.randint(1,
                                      900) / 10} for k in s.few( ["Na",
                                                                  "K",
                                                                  "Hb",
                                                                  "CRP",
                                                                  "TSH"],
                                                                 1,
                                                                 5)],
            "Befunder": str_id(r.choice(pers)["_id"])} for _ in range(4100)],
          "Fallnummer")
    s.put("Stammblatt", [{"_id": p["_id"], "Allergien": s.few(WORD, 0, 3), "Blutgruppe": r.choice(["A+", "0+", "B-"])}
                         for p in pat])
    s.ref("""
        Stationen:Leitung Personal:PersNr
        Personal:Station Stationen:_id
        Medikamente:Ersatz Medikamente:_id
        Faelle:PatNr Patienten:PatNr
        Faelle:Station Stationen:_id
        Faelle:Hauptdiagnose ICD:_id
        Faelle:Nebendiagnosen[] ICD:_id
        Faelle:Aufnahmearzt Personal:PersNr
        Faelle:Vorfall Faelle:FallNr
        Verlegungen:_id.Fall Faelle:FallNr
        Verlegungen:von Stationen:_id
        Verlegungen:nach Stationen:_id
        Verordnungen:Fall Faelle:FallNr
        Verordnungen:Mittel[].PZN Medikamente:_id
        Verordnungen:angeordnet Personal:_id
        Verordnungen:abgesetzt Personal:_id
        Befunde:Fallnummer Faelle:FallNr
        Befunde:Befunder Personal:_id
        Stammblatt:_id Patienten:_id either""")
