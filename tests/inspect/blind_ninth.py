# SPDX-License-Identifier: Apache-2.0
"""blind_ninth.py - ten sets that break many rules, written after blind_eighth.py had been tried, in the same way."""
from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


@data_set
def socialnet(s):
    """A social network: follower lists of stars, comments in posts, likes by nick, chats of two, a hash tag list."""
    r = s.r
    ids = [s.oid() for _ in range(1500)]
    nicks = ["%s_%s%d" % (r.choice(WORD), r.choice(WORD), i) for i in range(1500)]
    s.put("users", [{"_id": u, "nick": n, "joined": s.day(0, 900), "followers": s.few(ids, 0, 25) if i % 300 else s.few(
        ids, 1400, 1500) + [s.oid() for _ in range(900)], "hasOverflow": s.maybe(.003, True), "bio": s.maybe(.6,
            s.words(
            3, 12))} for i, (u, n) in enumerate(zip(ids, nicks))], "!nick")
    tags = ["#" + w for w in WORD[:70]]
    s.put("hashtags", [{"_id": t, "posts": r.randint(1, 900)} for t in tags])
    posts = []
    for i in range(1900):
        n = int(12 * r.random() ** 2) if i % 40 else r.randint(220, 420)
        posts.append({"_id": s.oid(), "authorId": s.skew(ids), "text": s.words(4, 20), "tags": s.few(tags, 0, 3),
                      "likedBy": s.few(nicks, 0, 12), "comments": [{"_id": s.oid(), "by": r.choice(ids),
                          "text": s.words(
                          2, 8), "at": s.day(800, 1000)} for _ in range(n)], "sharedFrom": posts[r.randrange(i)]["_id"]
                      if i > 20 and r.random() < .1 else NO})
    s.put("posts", posts, "authorId", "tags")
    chats = [{"_id": s.oid(), "members": r.sample(ids, 2), "muted": r.random() < .1} for _ in range(600)]
    s.put("chats", chats, "members")
    s.put("chat_messages", [{"_id": s.oid(), "chat": c["_id"], "from": r.choice(c["members"]), "body": s.words(1, 9),
                             "seen": r.random() < .8} for c in r.choices(chats, k=5200)], "chat")
    s.put("reports", [{"_id": s.oid(), "what": k, "id": str_id(r.choice(z)) if r.random() > .03 else str_id(s.oid()),
                       "reporter": r.choice(nicks), "reason": r.choice(["spam", "hate", "other"])} for k,
                           z in r.choices(
                           [("user", ids), ("post", [p["_id"] for p in posts])], k=900)])
    s.ref("""
        users:followers[] users:_id
        posts:authorId users:_id
        posts:tags[] hashtags:_id
        posts:likedBy[] users:nick
        posts:comments[].by users:_id
        posts:sharedFrom posts:_id
        chats:members[] users:_id
        chat_messages:chat chats:_id
        chat_messages:from users:_id
        reports:id users:_id
        reports:id posts:_id
        reports:reporter users:nick""")


@data_set
def analytics(s):
    """Events of apps with properties as fields, sessions, two versions of the schema, devices with mixed types."""
    r = s.r
    apps = ["com.%s.%s" % (r.choice(WORD), w) for w in WORD[:14]]
    s.put("apps", [{"_id": a, "owner": s.person(), "platforms": s.few(["ios", "android", "web"], 1, 3)} for a in apps])
    devs = [str(s.uuid()) for _ in range(1600)]
    s.put("devices", [{"_id": d, "model": r.choice(WORD), "os": r.choice([13, 14, 15]) if r.random() < .8 else r.choice(
        ["13.1", "14.2"]), "firstApp": s.skew(apps)} for d in devs])
    ses = []
    for _ in range(3400):
        v2 = r.random() < .6
        ses.append({"_id": s.oid(), "v": 2 if v2 else 1, "device": s.skew(devs), "app": s.skew(apps), "start": s.day(
            700, 1000), "durationMs": Long(r.randint(100, 10**7)), "geo": {"cc": r.choice(COUNTRY),
                "city": r.choice(CITY)}
            if v2 else NO, "country": NO if v2 else r.choice(COUNTRY)})
    s.put("sessions", ses, "device", "app,start", "app")
    s.put("events", [{"_id": s.oid(), "sid": str_id(x["_id"]), "name": r.choice(["open", "tap", "buy", "close"]),
                      "prop_sku": s.maybe(.1, "SKU%03d" % r.randrange(300)), "prop_screen": s.maybe(.5,
                          r.choice(WORD[:20])),
                      "prop_button": s.maybe(.3, r.choice(WORD[20:40])), "prop_campaign": s.maybe(.1, r.choice(WORD)),
                      "prop_variant": s.maybe(.2, r.choice("AB")), "prop_referrer": s.maybe(.1,
                          s.words(1) + ".example"),
                      "at": s.day(700, 1000)} for x in r.choices(ses, k=9000)], "sid")
    s.put("daily", [{"_id": "%s|%d" % (a, 18000 + d), "app": a, "users": r.randint(1, 900), "byCountry": {
        c: r.randint(1, 90) for c in s.few(COUNTRY, 3, 30)}} for a in apps for d in range(60)])
    s.maps.add("daily:byCountry")
    s.put("funnels", [{"_id": i, "app": r.choice(apps), "steps": [{"event": e, "within": 60} for e in s.few(
        ["open", "tap", "buy", "close"], 2, 4)]} for i in range(1, 41)])
    s.ref("""
        devices:firstApp apps:_id
        sessions:device devices:_id
        sessions:app apps:_id
        events:sid sessions:_id
        daily:app apps:_id
        funnels:app apps:_id""")
    s.rules_allowed.append({"rule": "repeated-parts", "ns": "analytics.funnels", "path": "steps"})
    s.rules_allowed.append({"rule": "names-are-data", "ns": "analytics.daily", "path": "byCountry"})


@data_set
def mediadb(s):
    """A picture archive: thumbnails in the document, eleven indexes, keywords with codes, albums in albums."""
    r = s.r
    kw = ["K%05d" % n for n in r.sample(range(10**5), 260)]
    s.put("keyword", [{"_id": k, "en": s.words(1), "de": s.words(1), "broader": s.maybe(.7,
        r.choice(kw[:40])) if i >= 40
                       else NO} for i, k in enumerate(kw)])
    ph = [101 + i for i in range(75)]
    s.put("photographer", [{"_id": p, "name": s.person(), "agency": s.maybe(.4, r.choice(["AP", "AFP",
        "DPA"]))} for p in ph])
    alb = [s.oid() for _ in range(180)]
    s.put("album", [{"_id": a, "title": s.title(2), "inside": s.maybe(.8, r.choice(alb[:30])) if i >= 30 else NO,
                     "cover": NO} for i, a in enumerate(alb)])
    pics = [{"_id": s.oid(), "file": "IMG_%05d.CR2" % i, "takenBy": s.skew(ph), "albums": s.few(alb, 1, 3),
        "keywords": s.few(
        kw, 1, 6), "thumb": bytes(r.getrandbits(8) for _ in range(12000)), "width": 6000, "stars": r.randint(0, 5),
        "taken": s.day(0, 1000), "duplicateOf": NO, "city": r.choice(CITY), "iso": r.choice([100, 200, 400])}
            for i in range(420)]
    for i, p in enumerate(pics):
        p["duplicateOf"] = pics[r.randrange(i)]["_id"] if i > 20 and r.random() < .07 else NO
    for a in r.sample(s.docs["album"], 160):
        a["cover"] = r.choice(pics)["_id"]
    s.put("picture", pics, "!file", "takenBy", "takenBy,taken", "taken", "stars", "albums", "keywords", "city", "iso",
          "city,iso", "width", "stars,-taken")
    s.put("licence", [{"_id": "L-%04d" % i, "picture": r.choice(pics)["_id"] if r.random() > .05 else s.oid(), "buyer":
                       s.title(2), "fee": Cents(r.randint(500, 90000)),
                           "photographer": r.choice(ph)} for i in range(640)],
          "picture")
    s.ref("""
        keyword:broader keyword:_id
        album:inside album:_id
        album:cover picture:_id
        picture:takenBy photographer:_id
        picture:albums[] album:_id
        picture:keywords[] keyword:_id
        picture:duplicateOf picture:_id
        licence:picture picture:_id
        licence:photographer photographer:_id""")


@data_set
def futebol(s):
    """Football in Portuguese: teams by short code, players by number, goals with their minute, referees, transfers."""
    r = s.r
    est = [{"_id": i, "nome": "Estadio " + s.title(1), "cidade": r.choice(CITY), "lotacao": 100 * r.randint(50, 700)}
           for i in range(1, 25)]
    s.put("estadios", est)
    times = sorted({c[:3].upper() for c in CITY})[:20]
    s.put("times", [{"_id": t, "nome": r.choice(CITY), "estadio": r.randint(1, 24), "tecnico": NO} for t in times])
    tec = [s.oid() for _ in range(34)]
    s.put("tecnicos", [{"_id": t, "nome": s.person(), "auxiliar": s.maybe(.5, r.choice(tec))} for t in tec])
    for d, t in zip(s.docs["times"], r.sample(tec, 20)):
        d["tecnico"] = t
    jog = [{"_id": i, "apelido": s.words(1), "time": times[i % 20], "posicao": r.choice("GDMA"),
        "camisa": 1 + i // 20 % 30}
           for i in range(1, 561)]
    s.put("jogadores", jog, "time")
    arb = list(range(1, 31))
    s.put("arbitros", [{"_id": a, "nome": s.person(), "federacao": r.choice(COUNTRY)} for a in arb])
    jogos = []
    for rod in range(1, 39):
        o = r.sample(times, 20)
        for a, b in zip(o[::2], o[1::2]):
            jogos.append({"_id": len(jogos) + 1, "rodada": rod, "mandante": a, "visitante": b, "arbitro": r.choice(arb),
                          "assistentes": s.few(arb, 2, 2), "publico": r.randint(900, 60000), "gols": [
                              {"jogador": r.randint(1, 560), "minuto": r.randint(1, 95), "passe": s.maybe(.6, r.randint(
                                  1, 560))} for _ in range(r.randint(0, 6))]})
    s.put("jogos", jogos, "rodada", "mandante")
    s.put("cartoes", [{"_id": s.oid(), "jogo": r.randint(1, 380), "jogador": r.randint(1, 560), "cor": r.choice("AV"),
                       "minuto": r.randint(1, 95)} for _ in range(1900)], "jogo")
    s.put("escalacoes", [{"_id": {"jogo": g["_id"], "time": t}, "titulares": s.few(range(1, 561), 11, 11),
        "tecnico": r.choice(
        tec)} for g in jogos for t in (g["mandante"], g["visitante"])])
    s.put("transferencias", [{"_id": s.oid(), "jogador": r.randint(1, 560), "de": a,
        "para": b if r.random() > .2 else "EXT",
                              "valor": Long(1000 * r.randint(50, 90000))} for _ in range(420) for a, b in [r.sample(
                                  times, 2)]])
    s.ref("""
        times:estadio estadios:_id
        times:tecnico tecnicos:_id
        tecnicos:auxiliar tecnicos:_id
        jogadores:time times:_id
        jogos:mandante times:_id
        jogos:visitante times:_id
        jogos:arbitro arbitros:_id
        jogos:assistentes[] arbitros:_id
        jogos:gols[].jogador jogadores:_id
        jogos:gols[].passe jogadores:_id
        cartoes:jogo jogos:_id
        cartoes:jogador jogadores:_id
        escalacoes:_id.jogo jogos:_id
        escalacoes:_id.time times:_id
        escalacoes:titulares[] jogadores:_id
        escalacoes:tecnico tecnicos:_id
        transferencias:jogador jogadores:_id
        transferencias:de times:_id
        transferencias:para times:_id""")


@data_set
def tracker(s):
    """An issue tracker imported from JSON: every number a double; projects by key, epics that list issues, sprints."""
    r = s.r
    users = [float(n) for n in range(1, 86)]
    s.put("person", [{"_id": u, "login": "%s%d" % (r.choice(LAST).lower(), u), "reportsTo": NO if u < 5 else float(
        r.randint(1, 4)), "active": True} for u in users], "!login")
    logins = [d["login"] for d in s.docs["person"]]
    keys = ["CORE", "WEB", "OPS", "APP", "DOC", "SEC", "API"]
    s.put("project", [{"_id": float(i), "key": k, "lead": r.choice(logins)} for i, k in enumerate(keys, 1)], "!key")
    s.put("label", [{"_id": w, "color": "#%06x" % r.getrandbits(24)} for w in WORD[:40]])
    s.put("component", [{"_id": float(i), "name": s.title(1), "projectId": float(r.randint(1, 7)),
        "defaultAssignee": s.maybe(
        .5, r.choice(users))} for i in range(1, 46)])
    sprints = [{"_id": float(i), "projectId": float(r.randint(1, 7)), "goal": s.words(3)} for i in range(1, 121)]
    s.put("sprint", sprints)
    iss = []
    for i in range(1, 4201):
        k = r.choice(keys)
        iss.append({"_id": float(i), "key": "%s-%d" % (k, i), "project": k, "type": r.choice(["bug", "task", "story"]),
                    "assigneeId": s.maybe(.8, r.choice(users)), "reporterId": r.choice(users),
                        "watchers": s.few(logins, 0, 5),
                    "labels": s.few(WORD[:40], 0, 3), "componentIds": [float(x) for x in s.few(range(1, 46), 0, 2)],
                    "sprintId": s.maybe(.7, float(r.randint(1, 120))), "parentKey": iss[r.randrange(i - 1)]["key"]
                    if i > 100 and r.random() < .2 else NO, "storyPoints": s.maybe(.5, float(r.choice([1, 2, 3, 5,
                        8]))),
                    "links": [{"type": "blocks", "key": x["key"]} for x in s.few(iss[-200:], 0, 2)] if i > 10 else []})
    s.put("issue", iss, "!key", "project", "assigneeId", "sprintId")
    epics = [{"_id": float(i), "title": s.title(3), "issueIds": []} for i in range(1, 131)]
    for x in iss:
        if r.random() < .5:
            e = r.choice(epics)
            e["issueIds"].append(x["_id"])
            x["epicId"] = e["_id"] if r.random() > .02 else float(r.randint(1, 130))
    s.put("epic", epics)
    s.docs["issue"] = iss
    s.put("worklog", [{"_id": s.oid(), "issueKey": r.choice(iss)["key"],
        "user": r.choice(logins) if r.random() > .02 else
                       "gone%d" % r.randrange(9), "minutes": float(r.randint(5, 480))} for _ in range(6000)],
                           "issueKey")
    s.docs["issue"] = [{k: v for k, v in d.items() if v is not NO} for d in s.docs["issue"]]
    s.ref("""
        person:reportsTo person:_id
        project:lead person:login
        component:projectId project:_id
        component:defaultAssignee person:_id
        sprint:projectId project:_id
        issue:project project:key
        issue:assigneeId person:_id
        issue:reporterId person:_id
        issue:watchers[] person:login
        issue:labels[] label:_id
        issue:componentIds[] component:_id
        issue:sprintId sprint:_id
        issue:parentKey issue:key
        issue:links[].key issue:key
        issue:epicId epic:_id
        epic:issueIds[] issue:_id
        worklog:issueKey issue:key
        worklog:user person:login""")
    s.two_way("epic", "issueIds[]", "issue", "epicId")


@data_set
def tenants(s):
    """Software as a service: everything has a tenant, numbers run per tenant, invoices by tenant and number, roles."""
    r = s.r
    ten = ["t_%s" % "".join(r.choices("abcdefghjkmnpqrstuvwxyz23456789", k=10)) for _ in range(60)]
    s.put("tenants", [{"_id": t, "company": s.title(2), "planCode": r.choice(["free", "team", "corp"]),
        "csm": r.choice(FIRST)}
                      for t in ten])
    s.put("plans", [{"_id": s.oid(), "code": c, "seats": n} for c, n in (("free", 3), ("team", 25), ("corp", 900))],
        "!code")
    usr, inv, cus = [], [], []
    for t in ten:
        mine = [{"_id": s.uuid(), "tenantId": t, "email": "%s%d@%s.example" % (s.words(1), k, t[2:]), "roles": s.few(
            ["admin", "sales", "read"], 1, 2), "invitedBy": NO} for k in range(r.randint(2, 30))]
        for m in mine[1:]:
            m["invitedBy"] = s.maybe(.9, mine[0]["_id"])
        usr += mine
        cs = [{"_id": s.oid(), "tenantId": t, "customerNo": k, "name": s.title(2),
            "ownerEmail": r.choice(mine)["email"]}
              for k in range(1, r.randint(10, 50))]
        cus += cs
        for k in range(1, r.randint(20, 90)):
            inv.append({"_id": s.oid(), "tenantId": t, "invoiceNo": k, "customerNo": r.choice(cs)["customerNo"],
                "createdBy":
                        str(r.choice(mine)["_id"]), "cents": r.randint(500, 10**6), "paid": r.random() < .8})
    s.put("users", usr, "tenantId", "!email")
    s.put("customers", cus, "!tenantId,customerNo")
    s.put("invoices", inv, "!tenantId,invoiceNo", "tenantId,customerNo")
    s.put("payments", [{"_id": s.oid(), "tenantId": x["tenantId"], "invoiceNo": x["invoiceNo"], "cents": x["cents"],
        "via":
                        r.choice(["card", "sepa"])} for x in inv if r.random() < .85], "tenantId,invoiceNo")
    s.put("audit", [{"_id": s.oid(), "tenant": u["tenantId"], "actor": u["_id"], "verb": r.choice(["login", "edit"]),
        "at":
                     s.day(700, 1000)} for u in r.choices(usr, k=5000)], "tenant,at")
    s.put("apiKeys", [{"_id": "sk_%032x" % r.getrandbits(128), "tenantId": t, "issuedTo": r.choice([u for u in usr if u[
        "tenantId"] == t])["_id"]} for t in ten for _ in range(r.randint(0, 4))], "tenantId")
    s.ref("""
        tenants:planCode plans:code
        users:tenantId tenants:_id
        users:invitedBy users:_id
        customers:tenantId tenants:_id
        customers:ownerEmail users:email
        invoices:tenantId tenants:_id
        invoices:tenantId+customerNo customers:tenantId+customerNo
        invoices:createdBy users:_id
        payments:tenantId tenants:_id
        payments:tenantId+invoiceNo invoices:tenantId+invoiceNo
        audit:tenant tenants:_id
        audit:actor users:_id
        apiKeys:tenantId tenants:_id
        apiKeys:issuedTo users:_id""")


@data_set
def genplates(s):
    """A laboratory of plates and wells: samples by barcode, wells as plate and position, runs, primers, freezers."""
    r = s.r
    frz = [1, 2, 3, 4, 5, 6]
    s.put("freezer", [{"_id": f, "room": r.choice(["B1", "B2"]), "temp": -80} for f in frz])
    staff = ["%s%s" % (a[0].lower(), b.lower()) for a, b in zip(FIRST[:24], LAST[10:34])]
    s.put("staff", [{"_id": x, "group": r.choice(["wet", "dry"])} for x in staff])
    smp = [{"_id": s.oid(), "barcode": "%s%08d" % (r.choice(["BL", "SA", "TI"]), r.randrange(10**8)), "donor": "D%04d" %
            r.randint(1, 900), "box": {"freezer": r.choice(frz), "shelf": r.randint(1, 5), "slot": r.randint(1, 81)},
            "aliquotOf": NO} for _ in range(1700)]
    for i, x in enumerate(smp):
        x["aliquotOf"] = smp[r.randrange(i)]["barcode"] if i > 99 and r.random() < .3 else NO
    s.put("sample", smp, "!barcode")
    s.put("donor", [{"_id": "D%04d" % i, "sex": r.choice("mf"), "yob": r.randint(1930, 2000)} for i in range(1, 901)])
    pl = ["PL%05d" % n for n in r.sample(range(10**5), 44)]
    s.put("plate", [{"_id": p, "type": r.choice([96, 384]), "preparedBy": r.choice(staff)} for p in pl])
    pos = ["%s%d" % (a, n) for a in "ABCDEFGH" for n in range(1, 13)]
    prim = list(range(500, 560))
    s.put("primer", [{"_id": p, "seq": "".join(r.choices("ACGT", k=20))} for p in prim])
    wells = [{"_id": {"plate": p, "pos": q}, "sample": s.maybe(.95, r.choice(smp)["barcode"]), "primers": s.few(prim,
        1, 2),
              "ul": r.randint(5, 50)} for p in pl for q in pos]
    s.put("well", wells)
    runs = [{"_id": "R%s" % str_id(s.oid())[:10], "plate": r.choice(pl), "machine": r.choice(["m1", "m2"]), "operator":
             r.choice(staff), "repeatOf": NO} for _ in range(90)]
    for i, x in enumerate(runs):
        x["repeatOf"] = runs[r.randrange(i)]["_id"] if i > 9 and r.random() < .2 else NO
    s.put("run", runs)
    s.put("ct_value", [{"_id": s.oid(), "run": x["_id"], "well": {"plate": x["plate"], "pos": q}, "ct": round(r.uniform(
        10, 40), 2)} for x in runs for q in s.few(pos, 30, 90)], "run")
    s.put("qc", [{"_id": s.oid(), "run_id": x["_id"] if r.random() > .1 else "Rdeleted%02d" % r.randrange(90), "ok":
                  r.random() < .9, "signed": r.choice(staff)} for x in r.choices(runs, k=300)])
    s.ref("""
        sample:box.freezer freezer:_id
        sample:donor donor:_id
        sample:aliquotOf sample:barcode
        plate:preparedBy staff:_id
        well:_id.plate plate:_id
        well:sample sample:barcode
        well:primers[] primer:_id
        run:plate plate:_id
        run:operator staff:_id
        run:repeatOf run:_id
        ct_value:run run:_id
        ct_value:well.plate plate:_id
        ct_value:well.plate+well.pos well:_id.plate+_id.pos
        qc:run_id run:_id
        qc:signed staff:_id""")


@data_set
def parcels(s):
    """Parcels in Danish: hubs by code, statuses in a table, tracking numbers, events in arrays, routes with stops."""
    r = s.r
    hubs = ["%s%d" % (c[:2].upper(), i) for i, c in enumerate(CITY)]
    s.put("terminal", [{"_id": h, "by": r.choice(CITY), "overordnet": s.maybe(.8, r.choice(hubs[:6])) if i >= 6 else NO}
                       for i, h in enumerate(hubs)])
    st = [10, 20, 30, 35, 40, 50, 60, 90, 95]
    s.put("status", [{"_id": n, "tekst": s.title(1), "slut": n >= 90} for n in st])
    bil = ["%s %05d" % ("".join(r.sample(LETTERS, 2)), r.randrange(10**5)) for _ in range(64)]
    s.put("bil", [{"_id": b, "kapacitet": r.choice([80, 120, 200]), "hjemsted": r.choice(hubs)} for b in bil])
    chf = list(range(1, 91))
    s.put("chauffor", [{"_id": c, "navn": s.person(), "fastBil": s.maybe(.7, r.choice(bil)), "afloser": s.maybe(.2,
        r.choice(
        chf))} for c in chf])
    kun = [{"_id": s.oid(), "kundenr": 70003 + 19 * i, "navn": s.title(2) + " ApS", "terminal": r.choice(hubs)}
           for i in range(420)]
    s.put("kunde", kun, "!kundenr")
    pk = []
    for i in range(3900):
        path = s.few(hubs, 2, 5)
        pk.append({"_id": "DK%09d" % r.randrange(10**9), "afsender": s.skew(kun)["kundenr"],
            "modtager": {"navn": s.person(),
                   "postnr": r.randint(1000, 9990)}, "gram": r.randint(50, 30000), "status": r.choice(st),
                       "haendelser": [
                       {"hub": h, "kode": r.choice(st), "tid": s.day(900, 1000)} for h in path], "returAf": NO})
    for i, p in enumerate(pk):
        p["returAf"] = pk[r.randrange(i)]["_id"] if i > 50 and r.random() < .03 else NO
    s.put("pakke", pk, "afsender", "status")
    s.put("rute", [{"_id": s.oid(), "dag": "2021-%02d-%02d" % (1 + d // 28, 1 + d % 28), "chauffor": r.choice(chf),
        "bil":
                    r.choice(bil), "stop": [{"pakke": r.choice(pk)["_id"], "nr": k, "leveret": r.random() < .9} for k in
                                            range(1, r.randint(5, 25))]} for d in range(80) for _ in range(5)],
                                                "chauffor")
    s.put("klage", [{"_id": s.oid(),
        "pakkenr": r.choice(pk)["_id"] if r.random() > .07 else "DK%09d" % r.randrange(10**9),
                     "kundenr": r.choice(kun)["kundenr"], "sagsbehandler": r.choice(["mh", "ks"])} for _ in range(260)])
    s.ref("""
        terminal:overordnet terminal:_id
        bil:hjemsted terminal:_id
        chauffor:fastBil bil:_id
        chauffor:afloser chauffor:_id
        kunde:terminal terminal:_id
        pakke:afsender kunde:kundenr
        pakke:status status:_id
        pakke:haendelser[].hub terminal:_id
        pakke:haendelser[].kode status:_id
        pakke:returAf pakke:_id
        rute:chauffor chauffor:_id
        rute:bil bil:_id
        rute:stop[].pakke pakke:_id
        klage:pakkenr pakke:_id
        klage:kundenr kunde:kundenr""")


@data_set
def surveyorg(s):
    """An organisation and its surveys: units in a nested set, persons by UUID text, answers keyed by question."""
    r = s.r
    units = []
    for i in range(1, 141):
        up = r.choice(units) if i > 3 else None
        units.append({"_id": "OU%03d" % i, "name": s.title(2), "parentUnit": up["_id"] if up else NO, "path": (up[
            "path"] if up else ",") + "OU%03d," % i, "head": NO})
    people = [str(s.uuid()) for _ in range(1300)]
    for u in units:
        u["head"] = s.maybe(.9, r.choice(people))
    s.put("orgUnits", units, "parentUnit")
    s.put("people", [{"_id": p, "unit": r.choice(units)["_id"], "manager": s.maybe(.9, r.choice(people[:90])),
        "hired": s.day(
        -3000, 900), "deputies": s.few(people, 0, 2)} for p in people], "unit")
    qs = ["q%03d" % i for i in range(1, 61)]
    s.put("questions", [{"_id": q, "text": s.words(5, 12), "scale": r.choice([5, 7, 10]), "followsUp": s.maybe(.2,
        r.choice(
        qs))} for q in qs])
    sv = [{"_id": 2015 + i, "title": s.title(2), "questionIds": s.few(qs, 12, 30), "owner": r.choice(people)}
          for i in range(7)]
    s.put("surveys", sv)
    res = []
    for x in sv:
        for p in s.few(people, 500, 800):
            res.append({"_id": s.oid(), "survey": x["_id"], "respondent": p, "answers": {q: r.randint(1,
                10) for q in s.few(
                x["questionIds"], 5, 12)}, "submitted": s.day(300, 1000)})
    s.put("responses", res, "survey,respondent")
    s.maps.add("responses:answers")
    s.put("actions", [{"_id": s.oid(), "unitId": r.choice(units)["_id"], "question": r.choice(qs), "assignedTo": s.few(
        people, 1, 3), "due": s.day(900, 1200), "basedOn": r.choice(res)["_id"]} for _ in range(700)], "unitId")
    s.more["tree"] = s.tree_figures("orgUnits", "parentUnit")
    s.ref("""
        orgUnits:parentUnit orgUnits:_id
        orgUnits:head people:_id
        people:unit orgUnits:_id
        people:manager people:_id
        people:deputies[] people:_id
        questions:followsUp questions:_id
        surveys:questionIds[] questions:_id
        surveys:owner people:_id
        responses:survey surveys:_id
        responses:respondent people:_id
        responses:answers.* questions:_id
        actions:unitId orgUnits:_id
        actions:question questions:_id
        actions:assignedTo[] people:_id
        actions:basedOn responses:_id""")


@data_set
def ferienhaus(s):
    """Holiday homes in German with running numbers everywhere: houses, owners, seasons, bookings, guests, cleaning."""
    r = s.r
    s.put("Ort", [{"_id": i, "Name": r.choice(CITY), "Kurtaxe": Cents(r.randint(100, 400))} for i in range(1, 31)])
    s.put("Eigentuemer", [{"_id": i, "Name": s.person(), "IBAN": "DE%020d" % r.randrange(10**20)} for i in range(1,
        211)])
    s.put("Ausstattung", [{"_id": i, "Text": s.title(1)} for i in range(1, 44)])
    s.put("Haus", [{"_id": i, "Name": "Haus " + s.title(1), "OrtId": r.randint(1, 30), "EigentuemerId": r.randint(1,
        210),
                    "Betten": r.randint(2, 12), "AusstattungIds": s.few(range(1, 44), 3, 12),
                        "Hausmeister": r.randint(1, 18)}
                   for i in range(1, 331)], "OrtId")
    s.put("Hausmeister", [{"_id": i, "Name": s.person(), "Vertretung": r.randint(1, 18)} for i in range(1, 19)])
    s.put("Saison", [{"_id": i, "Name": s.title(1), "Von": s.day(0, 300), "Bis": s.day(300, 600)} for i in range(1, 9)])
    s.put("Preis", [{"_id": {"Haus": h, "Saison": x}, "ProNacht": Cents(r.randint(4000, 30000))} for h in range(1, 331)
                    for x in range(1, 9)])
    s.put("Gast", [{"_id": i, "Name": s.person(), "Ort": r.choice(CITY), "GeworbenVon": s.maybe(.1, r.randint(1, 2600))}
                   for i in range(1, 2601)])
    s.put("Buchung", [{"_id": i, "HausNr": r.randint(1, 330), "GastNr": r.randint(1, 2600), "Saison": r.randint(1, 8),
                       "Naechte": r.randint(2, 21), "Personen": r.randint(1, 12), "Mitreisende": s.few(range(1, 2601),
                           0, 3),
                       "StornoVon": s.maybe(.04, r.randint(1, 18))} for i in range(1, 4301)], "HausNr", "GastNr")
    s.put("Reinigung", [{"_id": s.oid(), "Buchung": r.randint(1, 4300), "Firma": r.randint(1, 12), "Minuten": r.randint(
        60, 240)} for _ in range(3800)], "Buchung")
    s.put("Reinigungsfirma", [{"_id": i, "Name": s.title(2) + " GmbH"} for i in range(1, 13)])
    s.put("Bewertung", [{"_id": s.oid(), "BuchungsNr": r.randint(1, 4300), "Sterne": r.randint(1, 5),
        "Text": s.words(3, 20)}
                        for _ in range(1500)])
    s.ref("""
        Haus:OrtId Ort:_id
        Haus:EigentuemerId Eigentuemer:_id
        Haus:AusstattungIds[] Ausstattung:_id
        Haus:Hausmeister Hausmeister:_id
        Hausmeister:Vertretung Hausmeister:_id
        Preis:_id.Haus Haus:_id
        Preis:_id.Saison Saison:_id
        Gast:GeworbenVon Gast:_id
        Buchung:HausNr Haus:_id
        Buchung:GastNr Gast:_id
        Buchung:Saison Saison:_id
        Buchung:Mitreisende[] Gast:_id
        Reinigung:Buchung Buchung:_id
        Reinigung:Firma Reinigungsfirma:_id
        Bewertung:BuchungsNr Buchung:_id""")
    s.allow("Buchung:StornoVon Hausmeister:_id")
