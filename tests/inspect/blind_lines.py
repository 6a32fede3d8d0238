# SPDX-License-Identifier: Apache-2.0
"""blind_lines.py - a headless CMS, an airline, a chain, a garage, meals, meters, written in the same way as those of
blind_third.py."""
import datetime

from blind_third import HEX, code
from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date


@data_set
def headless(s):
    """A headless CMS on Mongoose: pages of components, each a kind and a ref; files know what they illustrate."""
    r = s.r

    def stamp(d, by=None):
        d.update({"createdAt": s.day(300, 800), "updatedAt": s.day(800, 900), "__v": r.randrange(4)})
        d.update({"created_by": r.choice(by), "updated_by": s.skew(by)} if by else {})
        return d

    roles = [{"_id": s.oid(), "name": n.title(), "code": "strapi-" + n} for n in ("super-admin", "editor", "author")]
    s.put("strapi_role", roles)
    admins = [s.oid() for _ in range(26)]
    s.put("strapi_administrator", [{"_id": a, "firstname": r.choice(FIRST), "lastname": r.choice(LAST),
                                    "email": "ed%d@press.example" % i,
                                    "roles": [s.skew(roles)["_id"]], "isActive": True, "blocked": False} for i,
                                    a in enumerate(admins)])
    s.put("strapi_permission", [stamp({"_id": s.oid(), "action": "plugins::content-manager.explorer." + a,
                                       "subject": "application::%s" % t,
                                       "conditions": [], "role": x["_id"]}) for x in roles for t in ("article",
                                           "category", "tag", "writer")
                                for a in ("create", "read", "update", "delete")])
    members = [{"_id": s.oid(), "name": n, "type": n.lower()} for n in ("Authenticated", "Public")]
    s.put("users-permissions_role", members)
    s.put("users-permissions_user", [stamp({"_id": s.oid(), "username": "%s%d" % (s.words(1), i),
                                            "email": "r%d@mail.example" % i, "provider":
                                            "local", "confirmed": True, "role": members[i % 50 == 0]["_id"]})
                                        for i in range(640)], "!username")
    s.put("users-permissions_permission", [{"_id": s.oid(), "type": "application", "controller": c, "action": a,
                                            "enabled": r.random() < .5,
                                            "role": m["_id"]} for m in members for c in s.few(WORD, 20,
                                                20) for a in ("find", "create", "delete")])
    locales = [{"_id": s.oid(), "code": c, "name": n} for c, n in (("en", "English"), ("fr-FR", "French"),
        ("de", "German"))]
    s.put("i18n_locales", locales, "!code")
    tags = [stamp({"_id": s.oid(), "name": w}, admins) for w in WORD[:55]]
    s.put("tags", tags)
    files = []

    def file(kind, ref, field):
        files.append(stamp({"_id": s.oid(), "name": s.words(1) + ".jpg", "hash": "%s_%s" % (s.words(1), code(s, 10,
            HEX)), "ext": ".jpg",
                            "mime": "image/jpeg", "size": round(r.uniform(9, 900), 2), "width": r.choice([800, 1200]),
                            "provider": "local",
                            "formats": {k: {"width": w, "url": "/uploads/%s.jpg" % code(s, 10, HEX)} for k,
                                        w in (("small", 500), ("thumb", 156))},
                            "related": [{"_id": s.oid(), "kind": kind, "ref": ref, "field": field}] if ref else []},
                            admins))
        return files[-1]["_id"]

    cats = [stamp({"_id": s.oid(), "name": s.title(1), "slug": w}, admins) for w in WORD[60:80]]
    s.put("categories", cats)
    writers = []
    for i in range(44):
        w = s.oid()
        writers.append(stamp({"_id": w, "name": s.person(), "email": "w%d@press.example" % i, "picture": file("Writer",
            w, "picture")}, admins))
    s.put("writers", writers)
    parts, articles, seos = {"rich_text": [], "quote": [], "slider": []}, [], []
    for i in range(900):
        me, content = s.oid(), []
        for k in r.choices(["rich_text", "rich_text", "quote", "slider"], k=r.randint(1, 5)):
            p = {"_id": s.oid(), "__v": 0}
            p.update({"body": s.words(20, 80)} if k == "rich_text" else {"body": s.words(5, 12), "title": s.person()}
                     if k == "quote" else
                     {"files": [file("ComponentSharedSlider", p["_id"], "files") for _ in range(r.randint(1, 3))]})
            parts[k].append(p)
            content.append({"_id": s.oid(), "kind": "ComponentShared" + k.title().replace("_", ""), "ref": p["_id"]})
        seos.append({"_id": s.oid(), "metaTitle": s.title(3), "metaDescription": s.words(8), "__v": 0})
        articles.append(stamp({"_id": me, "title": s.title(3, 6), "slug": "-".join(s.words(3).split()) + "-%d" % i,
                               "content": content,
                               "seo": [{"_id": s.oid(), "kind": "ComponentSharedSeo", "ref": seos[-1]["_id"]}],
                               "tags": [
                                   t["_id"] for t in s.few(tags, 0, 4)], "category": s.skew(cats)["_id"],
                                   "author": s.skew(writers)["_id"],
                               "image": file("Article", me, "image") if r.random() < .8 else None,
                               "locale": s.skew(["en", "en", "fr-FR", "de"]),
                               "localizations": [r.choice(articles)["_id"]] if articles and r.random() < .25 else [],
                               "published_at": s.day(500, 900) if r.random() < .85 else None}, admins))
    s.put("articles", articles, "!slug", "category", "author")
    for k, z in parts.items():
        s.put("components_shared_%ss" % k, z)
    s.put("components_shared_seos", seos)
    for _ in range(140):
        file(None, None, None)
    s.put("upload_file", files)
    s.put("core_store", [{"_id": s.oid(), "key": "model_def_application::" + w,
                          "value": '{"uid":"%s","attributes":{}}' % w, "type": "object"}
                         for w in ("article", "category", "tag", "writer", "seo", "quote", "slider", "rich-text",
                                   "user", "role", "file", "menu")])
    s.ref("""
        strapi_administrator:roles[] strapi_role:_id
        strapi_permission:role strapi_role:_id
        users-permissions_user:role users-permissions_role:_id
        users-permissions_permission:role users-permissions_role:_id
        writers:picture upload_file:_id
        articles:content[].ref components_shared_rich_texts:_id
        articles:content[].ref components_shared_quotes:_id
        articles:content[].ref components_shared_sliders:_id
        articles:seo[].ref components_shared_seos:_id
        articles:tags[] tags:_id
        articles:category categories:_id
        articles:author writers:_id
        articles:image upload_file:_id
        articles:locale i18n_locales:code
        articles:localizations[] articles:_id
        components_shared_sliders:files[] upload_file:_id
        upload_file:related[].ref articles:_id
        upload_file:related[].ref writers:_id
        upload_file:related[].ref components_shared_sliders:_id""")
    for c in "tags categories writers articles upload_file".split():
        s.ref("%s:created_by strapi_administrator:_id\n%s:updated_by strapi_administrator:_id" % (c, c))
    s.unjudged |= {"two-way-disagrees", "one-to-one-apart"}  # the CMS writes components and files apart


@data_set
def airline(s):
    """Bookings of an airline: a flight is a carrier, a number and a date; records by locator, tickets by 13 digits."""
    r = s.r
    ports = sorted({code(s, 3, "ABCDEFGHIKLMNOPRSTUVWZ") for _ in range(74)})
    s.put("airports", [{"_id": p, "city": r.choice(CITY), "ctry": r.choice(COUNTRY), "utc": r.randint(-5, 9),
                        "mct": r.choice([25, 45, 60])}
                       for p in ports])
    lines = "OS VO LH LX SN TP LO TK SK A3 UA AC NH SQ OU EW".split()
    s.put("carriers", [{"_id": c, "name": s.title(1) + " Air", "acctCode": 100 + 37 * i, "alliance": "S*"} for i,
                       c in enumerate(lines)])
    kinds = "319 320 321 32N 738 763 77W 788 E95 DH4 CR9 AT7".split()
    s.put("acTypes", [{"_id": k, "seats": r.choice([76, 120, 180, 306]), "cabins": s.few(["C", "Y", "E"], 1, 3),
                       "mtow": 1000 * r.randint(28, 297)}
                      for k in kinds])
    tails = [{"_id": "OE-L" + code(s, 2, "ABCDEFGHIJKLMNOP") + chr(65 + i % 26), "type": s.skew(kinds),
              "delivered": r.randint(1998, 2020),
              "msn": r.randint(1000, 9000)} for i in range(66)]
    tails = list({t["_id"]: t for t in tails}.values())
    s.put("aircraft", tails)
    agencies = ["%08d" % (6491000 + 117 * i) for i in range(140)]
    s.put("agencies", [{"_id": a, "name": s.title(2) + " Reisen", "gds": r.choice(["1A", "1G", "1B"]),
                        "commPct": r.choice([0, 1, 5])}
                       for a in agencies])
    crew = [{"_id": 20011 + 13 * i, "name": s.person(), "base": s.skew(ports), "rank": r.choice(["CPT", "FO", "PU",
        "CC", "CC"]),
             "quals": s.few(kinds, 1, 3), "seniority": i + 1} for i in range(190)]
    s.put("crew", crew)
    flights, delays, reasons = [], [], s.few([i for i in range(1, 100) if i % 7 < 5], 24, 24)
    for k in range(70):
        a, b = r.sample(ports, 2)
        c, no, equip = ("VO" if k % 4 == 0 else "OS"), 101 + 6 * k, s.skew(kinds)
        for d in range(18):
            day = datetime.datetime(2021, 6, 1) + datetime.timedelta(days=d)
            flights.append({"_id": s.oid(day), "carrier": c, "fltNo": no, "depDate": text_date(day), "orig": a,
                            "dest": b, "equip": equip,
                            "tail": s.maybe(.9, r.choice(tails)["_id"]),
                            "std": day + datetime.timedelta(minutes=5 * r.randrange(280)),
                            "status": r.choice(["DEP", "ARR", "CNL"]), "avail": {x: r.randint(0, 9) for x in "JCYBM"}})
            if r.random() < .4:
                delays.append({"_id": s.oid(day), "flight": flights[-1]["_id"], "minutes": r.randint(3, 240),
                               "code": s.skew(reasons)})
    s.put("flights", flights, "!carrier,fltNo,depDate", "orig,depDate", "orig")
    s.put("delays", delays, "flight")
    s.put("delayCodes", [{"_id": i, "text": s.words(2)} for i in range(1, 100) if i % 7 < 5])
    members = [{"_id": 992001000000 + 7919 * i, "name": s.person(), "tier": s.skew(["BASE", "FTL", "SEN"]),
                "miles": r.randrange(200000),
                "enrolled": text_date(s.day(-3000, 800)), "accruals": [{"carrier": f["carrier"], "fltNo": f["fltNo"],
                    "depDate": f["depDate"],
                                                                        "miles": r.choice([125, 500, 750])}
                                                            for f in s.few(flights, 0, 4)]}
               for i in range(650)]
    s.put("members", members)
    pnrs, tickets, bags = [], [], []
    for i in range(3000):
        loc, n, legs = code(s, 6, "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"), r.choice([1, 1, 2, 3]), []
        for f in s.few(flights, 1, 3):
            own = r.random() > .08
            legs.append({"carrier": f["carrier"] if own else r.choice(lines[2:]), "fltNo": f["fltNo"] if own
                         else r.randint(2000, 8000),
                         "depDate": f["depDate"], "cls": r.choice("YBMJ"), "orig": f["orig"], "dest": f["dest"],
                         "status": "HK"})
        pnrs.append({"_id": loc, "created": s.day(800, 880), "agency": s.maybe(.7, s.skew(agencies)),
                     "office": "%sOS2%03d" % (
            r.choice(ports), r.randrange(300)), "pax": [{"no": k, "last": r.choice(LAST).upper(),
                                                         "first": r.choice(FIRST).upper(), "type": "ADT",
                                                         "ffn": s.maybe(.3, r.choice(members)["_id"] if r.random() > .06
                                                                        else 222000000000 + r.randrange(10**9))}
                                                            for k in range(1, n + 1)],
                     "segs": legs, "ssr": [{"code": r.choice(["VGML", "WCHR", "BSCT"]), "pax": r.randint(1, n),
                                            "text": s.words(2, 5)}] if r.random() < .2 else [],
                     "splitFrom": r.choice(pnrs)["_id"] if pnrs and r.random() < .06 else None,
                     "tkTL": text_date(s.day(880, 890))})
        for k in range(1, n + 1):
            t = "257240%07d" % (1000019 + 113 * len(tickets))
            tickets.append({"_id": t, "pnr": loc, "paxNo": k, "iata": pnrs[-1]["agency"], "fare": Cents(r.randint(4900,
                99000)), "cur": "EUR",
                            "coupons": [{"no": j, "status": r.choice("OFR"), **{x: g[x] for x in ("carrier", "fltNo",
                                "depDate")}}
                                        for j, g in enumerate(legs, 1)],
                            "exchFor": tickets[r.randrange(len(tickets))]["_id"]
                                        if tickets and r.random() < .05 else None})
            if r.random() < .5:
                bags.append({"_id": "0257%06d" % (100003 + 17 * len(bags)), "tkt": t, "pnr": loc, "kg": r.randint(4,
                    32), "from": legs[0]["orig"],
                             "to": legs[-1]["dest"], "belt": s.maybe(.7, r.randint(1, 12))})
    s.put("pnrs", pnrs, "pax.last", "agency", "created", "office", "pax.ffn", "segs.carrier", "segs.fltNo",
          "segs.depDate", "segs.orig",
          "segs.dest", "splitFrom", "tkTL")
    s.put("tickets", tickets, "pnr")
    s.put("bags", bags, "pnr")
    s.put("rosters", [{"_id": {"crew": c["_id"], "day": text_date(datetime.datetime(2021, 6,
        1) + datetime.timedelta(days=d))}, "duties": [
        {"flight": f["_id"], "pos": c["rank"]} for f in s.few(flights[d::18], 1, 3)], "fdpMin": r.randint(200, 780)}
                      for c in crew for d in r.sample(range(18), 7)], "duties.flight")
    s.ref("""
        aircraft:type acTypes:_id
        crew:base airports:_id
        crew:quals[] acTypes:_id
        flights:carrier carriers:_id
        flights:orig airports:_id
        flights:dest airports:_id
        flights:equip acTypes:_id
        flights:tail aircraft:_id
        delays:flight flights:_id
        delays:code delayCodes:_id
        members:accruals[].carrier+accruals[].fltNo+accruals[].depDate flights:carrier+fltNo+depDate
        pnrs:agency agencies:_id
        pnrs:pax[].ffn members:_id
        pnrs:segs[].carrier+segs[].fltNo+segs[].depDate flights:carrier+fltNo+depDate
        pnrs:segs[].carrier carriers:_id
        pnrs:segs[].orig airports:_id
        pnrs:segs[].dest airports:_id
        pnrs:splitFrom pnrs:_id
        tickets:pnr pnrs:_id
        tickets:iata agencies:_id
        tickets:coupons[].carrier+coupons[].fltNo+coupons[].depDate flights:carrier+fltNo+depDate
        tickets:coupons[].carrier carriers:_id
        tickets:exchFor tickets:_id
        bags:tkt tickets:_id
        bags:pnr pnrs:_id
        bags:from airports:_id
        bags:to airports:_id
        rosters:_id.crew crew:_id
        rosters:duties[].flight flights:_id""")
    s.allow("""
        members:accruals[].carrier carriers:_id
        tickets:pnr+paxNo pnrs:_id+pax[].no""")


@data_set
def explorer(s):
    """An explorer of a blockchain: blocks by height and hash, addresses as text, transfers of tokens by transaction."""
    r = s.r

    def word(n):
        return "0x" + code(s, n, HEX)

    first, empty = 4183000, "0x1dcc4de8" + "0" * 56
    addresses, pools = [word(40) for _ in range(1700)], [word(40) for _ in range(11)]
    tokens = addresses[200:290]
    s.put("pools", [{"_id": s.oid(), "address": p, "label": s.title(1) + "Pool", "fee": r.choice([.5, 1.0]),
                     "url": "https://%s.example" % s.words(1)}
                    for p in pools], "!address")
    blocks, txs, transfers, contracts, parent = [], [], [], [], word(64)
    for i in range(2600):
        h, when = word(64), 1590000000 + 13 * i + r.randrange(9)
        n = r.choice([0, 1, 2, 3, 5, 8])
        blocks.append({"_id": s.oid(), "number": first + i, "hash": h, "parentHash": parent, "nonce": word(16),
                       "sha3Uncles": empty,
                       "transactionsRoot": word(64), "miner": s.skew(pools), "difficulty": str(r.randrange(10**12,
                           2 * 10**12)),
                       "size": r.randint(500, 40000), "gasLimit": 8000000, "gasUsed": 21000 * n, "timestamp": when,
                       "uncles": [word(64)] if r.random() < .06 else [], "extraData": "0x", "transactionCount": n})
        parent = h
        for k in range(n):
            a, b, kind = s.skew(addresses), s.skew(addresses, 1.3), r.random()
            new = len(contracts) < 90 and kind < .03
            t = {"_id": s.oid(), "hash": word(64), "nonce": r.randrange(900), "blockHash": h, "blockNumber": first + i,
                 "transactionIndex": k,
                 "from": a, "to": None if new else tokens[r.randrange(90)] if kind > .7 else b,
                 "value": str(r.randrange(10**18)),
                 "gas": 90000, "gasUsed": 21000, "gasPrice": str(10**9 * r.randint(1, 60)), "timestamp": when,
                 "input": "0x", "status": 1}
            if new:
                t["creates"] = tokens[len(contracts)]
                contracts.append({"_id": s.oid(), "address": t["creates"], "creationTransaction": t["hash"], "owner": a,
                                  "blockNumber": first + i,
                                  "ERC": r.choice([0, 2, 2, 3]), "tokenName": s.title(1),
                                  "symbol": s.words(1)[:4].upper(), "decimals": 18,
                                  "totalSupply": float(10**r.randint(6, 12)), "verified": r.random() < .3,
                                  "compilerVersion": "v0.4.24",
                                  "sourceCode": s.maybe(.7, s.words(2000, 9000))})
            elif kind > .7 and contracts:
                transfers.append({"_id": s.oid(), "hash": t["hash"], "blockNumber": first + i,
                                  "contract": r.choice(contracts)["address"],
                                  "method": "transfer", "from": a, "to": b if r.random() > .02 else word(40),
                                  "value": float(r.randrange(10**9)),
                                  "timestamp": when})
            txs.append(t)
    s.put("blocks", blocks, "!number", "!hash", "miner", "-timestamp", "miner,-timestamp")
    s.put("transactions", txs, "!hash", "blockNumber", "-timestamp", "from,-blockNumber", "to,-blockNumber", "from",
          "creates")
    s.put("contracts", contracts, "!address", "ERC")
    s.put("tokentransfers", transfers, "blockNumber", "hash,contract", "contract")
    seen = sorted({a for t in txs for a in (t["from"], t["to"], t.get("creates")) if a})
    s.put("accounts", [{"_id": s.oid(), "address": a, "balance": round(r.uniform(0, 10**4), 6),
                        "type": int(a in tokens), "blockNumber":
                        first + r.randrange(2600)} for a in seen + pools if r.random() > .01], "!address", "-balance",
                        "blockNumber")
    s.put("blockstats", [{"_id": s.oid(), "number": b["number"], "timestamp": b["timestamp"], "blockTime": r.randint(9,
        21), "hashrate":
                          r.uniform(9e10, 2e11), "uncleCount": len(b["uncles"]), "txCount": r.randint(0,
                              50)} for b in blocks[::5]], "!number")
    s.put("markets", [{"_id": s.oid(), "symbol": x, "timestamp": datetime.datetime(2020, 5,
        20) + datetime.timedelta(hours=h), "quoteUSD": round(
        r.uniform(.1, 9), 4), "volume": round(r.uniform(1, 999), 2)} for h in range(240) for x in ("PIRL", "ETC",
            "UBQ")], "symbol,timestamp")
    s.ref("""
        blocks:parentHash blocks:hash
        transactions:blockHash blocks:hash
        transactions:blockNumber blocks:number
        transactions:from accounts:address
        transactions:to accounts:address
        transactions:creates contracts:address either
        contracts:creationTransaction transactions:hash
        contracts:owner accounts:address
        contracts:blockNumber blocks:number
        tokentransfers:hash transactions:hash
        tokentransfers:blockNumber blocks:number
        tokentransfers:contract contracts:address
        tokentransfers:from accounts:address
        tokentransfers:to accounts:address
        accounts:blockNumber blocks:number
        blockstats:number blocks:number""")
    s.allow("""
        blocks:miner pools:address
        blocks:miner accounts:address
        pools:address accounts:address
        contracts:address accounts:address
        transactions:creates accounts:address
        transactions:to contracts:address
        accounts:address contracts:address
        tokentransfers:contract accounts:address""")
    s.unjudged |= {"one-to-one-apart", "deep-tree"}  # the chain is no tree; figures of a block are computed apart


@data_set
def werkstatt(s):
    """A German garage on Spring Data: customers by number, cars by VIN or plate, DBRefs, accounts of a bookkeeper."""
    r = s.r
    kunden = [{"_id": s.oid(), "kdnr": 10001 + 3 * i, "anrede": r.choice(["Herr", "Frau", "Firma"]), "name": s.person(),
               "plz": "%05d" % r.randint(
        1067, 99998), "ort": r.choice(CITY), "tel": s.maybe(.8, "0%d" % r.randrange(10**9, 10**10)),
        "_class": "de.kfz.Kunde"} for i in range(820)]
    s.put("kunden", kunden, "!kdnr", "name")
    modelle = [{"_id": s.oid(), "hsn": "%04d" % h, "tsn": t, "handelsname": s.title(1), "kw": r.randint(44, 210),
                "ccm": r.randint(999, 2998)}
               for h in (5, 588, 600, 603, 1313, 7593) for t in sorted({code(s, 3, "ABCDEFGH") for _ in range(24)})]
    s.put("modelle", modelle, "!hsn,tsn")
    autos = []
    for i in range(1050):
        m, k = s.skew(modelle), r.choice(kunden)
        autos.append({"_id": s.oid(), "fin": "WVW%s%06d" % (code(s, 8, "ABCDEFGHJKLMNPRSTUVWXYZ"), 991 * i),
                      "kennz": "%s-%s %d" % (
            code(s, 2, "ABDEFGHKLM"), code(s, 2, "ABCDEFXY"), 1 + 9 * i), "halter": {"$ref": "kunden", "$id": k["_id"]},
            "hsn": m["hsn"],
                      "tsn": m["tsn"], "ez": "%02d.%02d.%d" % (r.randint(1, 28), r.randint(1, 12), r.randint(2001,
                          2020)),
                      "kmStand": r.randint(9000, 220000), "_class": "de.kfz.Fahrzeug"})
    s.put("fahrzeuge", autos, "!fin", "!kennz", "halter.$id", "hsn,tsn")
    besitzer = {k["_id"]: k["kdnr"] for k in kunden}
    leute = sorted({x[:3].upper() for x in LAST})[:28]
    s.put("mitarbeiter", [{"_id": k, "name": s.person(), "rolle": r.choice(["Mechaniker", "Annahme", "Azubi"]),
                           "stdSatz": r.randint(60, 120),
                           "vorgesetzter": NO if i < 2 else s.skew(leute[:i])} for i, k in enumerate(leute)])
    s.put("lieferanten", [{"_id": 70001 + 10 * i, "firma": s.title(2) + " GmbH", "skonto": r.choice([0, 2, 3]),
                           "zielTage": r.choice([14, 30])}
                          for i in range(34)])
    teile = []
    for i in range(1400):
        n = "%d%s%d %03d %03d" % (r.randint(1, 9), code(s, 1, "JKLNQ"), r.randrange(10), r.randint(100, 999), i % 1000)
        teile.append({"_id": n + ("" if i < 1000 else " B"), "bez": s.title(1, 2),
                      "lief": s.skew(s.docs["lieferanten"])["_id"], "vk": Cents(
            r.randint(150, 49900)), "bestand": r.randrange(40), "minBestand": r.randrange(5),
            "platz": "R%02d/%d" % (r.randint(1, 20), r.randint(1, 6)),
                      "ersetztDurch": r.choice(teile)["_id"] if i > 99 and r.random() < .05 else NO})
    s.put("teile", teile, "lief")
    arbeiten = ["%08d" % (10000000 + 190300 * i) for i in range(150)]
    s.put("arbeiten", [{"_id": a, "text": s.words(2, 4), "aw": r.randint(2, 90)} for a in arbeiten])
    auftraege = []
    for i in range(2100):
        a = s.skew(autos)
        auftraege.append({"_id": "A%d-%05d" % (2019 + i // 900, i + 1), "kdnr": besitzer[a["halter"]["$id"]]
                          if r.random() > .06 else r.choice(
            kunden)["kdnr"], "fin": a["fin"], "km": r.randint(9000, 220000), "annahme": s.skew(leute),
            "termin": s.day(0, 900), "positionen": [
                {"pos": k, "nr": s.skew(arbeiten) if k % 2 else s.skew(teile)["_id"], "art": "AW" if k % 2 else "ET",
                 "menge": r.randint(1, 8),
                 "ep": Cents(r.randint(150, 30000)), "mech": s.maybe(.5,
                     r.choice(leute)) if k % 2 else NO} for k in range(1, r.randint(2, 8))],
                          "status": r.choice([10, 20, 90]), "_class": "de.kfz.Auftrag"})
    s.put("auftraege", auftraege, "kdnr", "fin", "kdnr,termin", "annahme")
    rechnungen = [{"_id": 2019000001 + i, "auftrag": a["_id"], "kdnr": a["kdnr"], "netto": Cents(r.randint(5000,
        200000)), "ust": 19,
                   "mahnstufe": r.choice([0, 0, 0, 1, 2]), "bezahlt": s.maybe(.9, s.day(100, 930))} for i,
                   a in enumerate(auftraege[:1950])]
    s.put("rechnungen", rechnungen, "auftrag", "kdnr")
    konten = sorted(r.sample(range(1000, 9000, 10), 56) + [8400, 1200, 1000, 3400])
    konten = sorted(set(konten))
    s.put("konten", [{"_id": k, "bez": s.title(1, 2), "art": r.choice("AEB"), "ustSchl": r.choice([0, 3, 9])}
                     for k in konten])
    buchungen = []
    for x in rechnungen:
        buchungen.append({"_id": s.oid(), "konto": r.choice([8400, 8400, r.choice(konten)]), "gegen": x["kdnr"],
                          "beleg": x["_id"], "betrag": x["netto"],
                          "bu": 3, "datum": s.day(100, 900)})
    for k in range(1700):
        buchungen.append({"_id": s.oid(), "konto": 3400 if k % 3 else r.choice(konten),
                          "gegen": s.skew(s.docs["lieferanten"])["_id"], "betrag": Cents(
            r.randint(900, 90000)), "extBeleg": "ER%d" % r.randrange(10**6), "bu": 9, "datum": s.day(100, 900)})
    s.put("buchungen", buchungen, "konto,datum", "konto", "gegen")
    s.put("termine", [{"_id": s.oid(), "fahrzeug": {"$ref": "fahrzeuge", "$id": a["_id"]}, "buehne": r.randint(1, 6),
                       "von": s.day(890, 930),
                       "dauerMin": r.choice([30, 60, 120]), "mech": r.choice(leute), "auftrag": s.maybe(.4,
                           r.choice(auftraege)["_id"])}
                      for a in r.choices(autos, k=640)], "fahrzeug.$id")
    s.put("reifenhotel", [{"_id": s.oid(), "kdnr": besitzer[a["halter"]["$id"]], "kennz": a["kennz"] if r.random() > .05
                           else "ALT-X %d" % r.randrange(
        999), "fach": "F%03d" % i, "saison": r.choice(["S", "W"]), "profilMm": r.randint(2, 8)} for i,
        a in enumerate(r.sample(autos, 380))])
    s.put("leihwagen", [{"_id": "LW%d" % i, "fin": a["fin"], "verleih": [{"kdnr": r.choice(kunden)["kdnr"],
        "von": s.day(500, 900), "km": r.randint(
        5, 400)} for _ in range(r.randint(3, 40))]} for i, a in enumerate(autos[:12])])
    s.ref("""
        fahrzeuge:halter.$id kunden:_id
        fahrzeuge:hsn+tsn modelle:hsn+tsn
        mitarbeiter:vorgesetzter mitarbeiter:_id
        teile:lief lieferanten:_id
        teile:ersetztDurch teile:_id
        auftraege:kdnr kunden:kdnr
        auftraege:fin fahrzeuge:fin
        auftraege:annahme mitarbeiter:_id
        auftraege:positionen[].nr arbeiten:_id
        auftraege:positionen[].nr teile:_id
        auftraege:positionen[].mech mitarbeiter:_id
        rechnungen:auftrag auftraege:_id
        rechnungen:kdnr kunden:kdnr
        buchungen:konto konten:_id
        buchungen:gegen kunden:kdnr
        buchungen:gegen lieferanten:_id
        buchungen:beleg rechnungen:_id
        termine:fahrzeug.$id fahrzeuge:_id
        termine:mech mitarbeiter:_id
        termine:auftrag auftraege:_id
        reifenhotel:kdnr kunden:kdnr
        reifenhotel:kennz fahrzeuge:kennz
        leihwagen:fin fahrzeuge:fin
        leihwagen:verleih[].kdnr kunden:kdnr""")


@data_set
def comida(s):
    """Meals to the door, in Spanish, on Laravel: ids of others as text, both sides of many-to-many, morphs by class."""
    r = s.r

    def base(**more):
        return {"_id": s.oid(), **more, "updated_at": s.day(800, 900), "created_at": s.day(200, 800)}

    zonas = [base(nombre=s.title(1), ciudad=r.choice(CITY[:5]), tarifa_envio=Cents(r.randint(99, 499)))
             for _ in range(38)]
    cocinas = [base(nombre=w.title(), restaurante_ids=[]) for w in WORD[:26]]
    usuarios = [base(nombre=s.person(), email="c%d@correo.example" % i, telefono="6%08d" % r.randrange(10**8),
                     rol="cliente", password="$2y$10$" +
                     code(s, 53), direcciones=[{"id": code(s, 13, HEX), "calle": s.title(2), "numero": r.randint(1,
                         120), "zona_id": str_id(
                         s.skew(zonas)["_id"])} for _ in range(r.randint(1, 3))], favoritos=[],
                         cupon_ids=[]) for i in range(900)]
    dueños = usuarios[:90]
    for d in dueños:
        d["rol"] = "restaurante"
    restaurantes = [base(nombre=s.title(2), slug="%s-%d" % (s.words(1), i), dueno_id=str_id(r.choice(dueños)["_id"]),
                         cocina_ids=[str_id(
        c["_id"]) for c in s.few(cocinas, 1, 3)], zona_ids=[str_id(z["_id"]) for z in s.few(zonas, 1, 5)],
        calificacion=round(r.uniform(2, 5), 1),
                         pedido_minimo=r.choice([0, 10, 15]), horario={d: {"abre": "12:00", "cierra": "23:30"}
                             for d in (
                             "lun", "mar", "mie", "jue", "vie", "sab", "dom")},
                             abierto=r.random() < .8) for i in range(180)]
    for x in restaurantes:
        for c in cocinas:
            if str_id(c["_id"]) in x["cocina_ids"]:
                c["restaurante_ids"].append(str_id(x["_id"]))
    cupones = [base(codigo=s.words(1).upper() + str(10 + i), descuento=r.choice([5, 10, 20]), usuario_ids=[],
                    vence=text_date(s.day(850, 1000)))
               for i in range(48)]
    for u in usuarios:
        u["favoritos"] = [str_id(x["_id"]) for x in s.few(restaurantes, 0, 4)]
        for c in s.few(cupones, 0, 2):
            u["cupon_ids"].append(str_id(c["_id"]))
            c["usuario_ids"].append(str_id(u["_id"]))
    s.put("zonas", zonas)
    s.put("cocinas", cocinas)
    s.put("usuarios", usuarios, "!email")
    s.put("restaurantes", restaurantes, "!slug", "dueno_id")
    s.put("cupones", cupones, "!codigo")
    carta = {}
    for x in restaurantes:
        carta[x["_id"]] = [base(restaurante_id=str_id(x["_id"]), nombre=s.title(2), precio=Cents(r.randint(300, 2500)),
                                seccion=r.choice(
            ["Entrantes", "Principales", "Postres"]), alergenos=s.few(["gluten", "soja", "huevo", "leche"], 0, 2),
            opciones=[
                {"nombre": s.words(1), "extra": Cents(r.choice([0, 50, 150]))} for _ in range(r.randint(0, 4))],
                orden=k) for k in range(r.randint(6, 16))]
    s.put("platos", [p for z in carta.values() for p in z], "restaurante_id")
    motos = [base(usuario_id=str_id(u["_id"]), vehiculo=r.choice(["bici", "moto"]), matricula=s.maybe(.5,
        "%04d%s" % (r.randrange(9999), code(
        s, 3, "BCDFGHJKL"))), zona_id=str_id(s.skew(zonas)["_id"]), activo=r.random() < .7) for u in usuarios[90:230]]
    s.put("repartidores", motos, "zona_id")
    pedidos, borrados = [], [str_id(s.oid()) for _ in range(60)]
    for i in range(3600):
        u, x = s.skew(usuarios[230:], 1.3), s.skew(restaurantes)
        pedidos.append(base(numero=500001 + i, usuario_id=str_id(u["_id"]), restaurante_id=str_id(x["_id"]),
                            restaurante_nombre=x["nombre"] if
                            r.random() > .05 else s.title(2),
                            repartidor_id=str_id(r.choice(motos)["_id"]) if r.random() < .9 else None,
                            direccion=r.choice(u["direcciones"]), lineas=[{"plato_id": str_id(p["_id"])
                                if r.random() > .03 else r.choice(borrados),
                                                                           "nombre": p["nombre"],
                                                            "cantidad": r.randint(1, 4), "precio": p["precio"]}
                                                                          for p in s.few(carta[x["_id"]], 1, 5)],
                                                                          estado=r.choice(
                                ["entregado", "entregado", "cancelado", "en_camino"]), cupon=s.maybe(.15,
                                    r.choice(cupones)["codigo"]), pago={
                                    "metodo": r.choice(["tarjeta", "efectivo"]), "stripe_id": "pi_" + code(s, 24)},
                                    propina=r.choice([0, 0, 1, 2])))
    s.put("pedidos", pedidos, "!numero", "usuario_id", "restaurante_id", "repartidor_id", "restaurante_id,estado")
    s.put("resenas", [base(resenable_type="App\\Models\\" + k, resenable_id=p[f], usuario_id=p["usuario_id"],
                           pedido_id=str_id(p["_id"]),
                           estrellas=r.randint(1, 5), comentario=s.maybe(.6, s.words(3, 20))) for p in r.sample(pedidos,
                               1500)
                      for k, f in (("Restaurante", "restaurante_id"), ("Repartidor",
                          "repartidor_id")) if p[f] and r.random() < .6],
          "resenable_type,resenable_id")
    s.put("incidencias", [base(pedido=p["numero"], motivo=r.choice(["frio", "tarde", "falta"]), reembolso=s.maybe(.4,
        Cents(r.randint(100, 3000))),
                               agente=r.choice(["ana", "luis", "eva"])) for p in r.sample(pedidos, 260)])
    s.put("posiciones", [{"_id": s.oid(), "repartidor_id": str_id(s.skew(motos)["_id"]), "loc": {"type": "Point",
        "coordinates": [
        round(r.uniform(-4, -3), 5), round(r.uniform(40, 41), 5)]}, "t": s.day(899, 900), "bateria": r.randint(1,
            100)} for _ in range(3000)],
          "repartidor_id,t")
    s.put("migrations", [{"_id": s.oid(), "migration": "2021_%02d_01_000000_create_%s" % (i, w), "batch": 1 + i // 5}
                         for i, w in
                         enumerate(list(s.docs)[:10], 1)])
    s.ref("""
        cocinas:restaurante_ids[] restaurantes:_id
        usuarios:direcciones[].zona_id zonas:_id
        usuarios:favoritos[] restaurantes:_id
        usuarios:cupon_ids[] cupones:_id
        restaurantes:dueno_id usuarios:_id
        restaurantes:cocina_ids[] cocinas:_id
        restaurantes:zona_ids[] zonas:_id
        cupones:usuario_ids[] usuarios:_id
        platos:restaurante_id restaurantes:_id
        repartidores:usuario_id usuarios:_id
        repartidores:zona_id zonas:_id
        pedidos:usuario_id usuarios:_id
        pedidos:restaurante_id restaurantes:_id
        pedidos:repartidor_id repartidores:_id
        pedidos:direccion.zona_id zonas:_id
        pedidos:direccion.id usuarios:direcciones[].id
        pedidos:lineas[].plato_id platos:_id
        pedidos:cupon cupones:codigo
        resenas:resenable_id restaurantes:_id
        resenas:resenable_id repartidores:_id
        resenas:usuario_id usuarios:_id
        resenas:pedido_id pedidos:_id
        incidencias:pedido pedidos:numero
        posiciones:repartidor_id repartidores:_id""")
    s.copy("pedidos:restaurante_id restaurantes:_id restaurante_nombre nombre")
    s.allow("pedidos:restaurante_nombre restaurantes:nombre")


@data_set
def compteurs(s):
    """Smart meters in French: delivery points of 14 digits, load curves with the number, outages that list points."""
    r = s.r
    insee = sorted({"%05d" % (31001 + 7 * i) for i in range(70)})
    s.put("communes", [{"_id": c, "nom": s.title(1), "cp": "31%03d" % r.randrange(0, 999, 10),
                        "habitants": r.randint(90, 40000)} for c in insee])
    postes = [{"_id": "%sP%04d" % (c, 3 * k + 1), "departHTA": s.title(1).upper(), "puissanceKva": r.choice([100, 250,
        400, 630]), "insee": c,
               "misEnService": r.randint(1965, 2019)} for c in insee for k in range(r.randint(1, 5))]
    s.put("postes", postes, "insee")
    modeles = ["MONO-G1", "MONO-G3", "TRI-G1", "TRI-G3", "BLEU-ELEC", "CBE-2P", "SAPHIR"]
    s.put("modeles", [{"_id": m, "fabricant": s.title(1), "phases": 3 if "TRI" in m else 1, "obsolete": "G1" in m}
                      for m in modeles])
    relais = [{"_id": "K%07d" % (2000003 + 77 * i), "poste": p["_id"], "firmware": r.choice(["5.1.2", "5.2.0"]),
               "liaison": r.choice(["GPRS", "4G"])}
              for i, p in enumerate(r.sample(postes, 130))]
    s.put("concentrateurs", relais, "poste")
    fourn = [{"_id": i, "nom": s.title(1) + " Energie", "ean": "301%010d" % r.randrange(10**10)} for i in (1, 2, 3, 5,
        8, 9, 12, 14, 17, 21, 22, 30)]
    s.put("fournisseurs", fourn)
    tarifs = ["BASE", "HPHC", "TEMPO", "EJP", "WEEKEND", "VERT"]
    s.put("offres", [{"_id": s.oid(), "code": t, "fournisseur": f["_id"], "prixAbo": Cents(r.randint(700, 2500)),
                      "heures": r.choice([0, 8])}
                     for f in fourn for t in s.few(tarifs, 2, 5)], "!fournisseur,code")
    pdl, boitiers = [], []
    for i in range(1600):
        p, n, m = r.choice(postes), "%014d" % (30001000000007 + 70000041 * i), 21861000001 + 1009 * i
        pdl.append({"_id": n, "adresse": {"num": r.randint(1, 200), "voie": "rue " + s.title(1), "insee": p["insee"]},
                    "poste": p["_id"], "segment":
                    s.skew(["C5", "C5", "C4"]), "puissSousc": r.choice([3, 6, 9, 12]), "matricule": m,
                    "etat": s.skew(["SERVC", "RESIL"])})
        boitiers.append({"_id": m, "modele": s.skew(modeles), "annee": r.randint(2015, 2021), "k": s.maybe(.8,
            r.choice(relais)["_id"]), "posele":
                         text_date(s.day(-700, 600)), "disjoncteur": r.choice([15, 30, 45])})
    boitiers += [{"_id": 31861000001 + 13 * i, "modele": s.skew(modeles), "annee": 2021} for i in range(120)]
    s.put("pdl", pdl, "poste", "!matricule")
    s.put("compteurs", boitiers, "k")
    clients = [{"_id": s.oid(), "civ": r.choice(["M", "MME", "STE"]), "nom": r.choice(LAST).upper(),
                "prenom": r.choice(FIRST), "refClient": 6000000011 +
                9973 * i, "conjoint": NO, "courriel": s.maybe(.7, "t%d@courrier.example" % i)} for i in range(1250)]
    s.put("titulaires", clients, "!refClient")
    contrats = []
    for i, p in enumerate(pdl + r.choices(pdl, k=500)):
        o = s.skew(s.docs["offres"])
        contrats.append({"_id": "CT-%07d" % (400009 + 31 * i), "pdl": p["_id"],
                         "client": r.choice(clients)["refClient"], "frn": o["fournisseur"], "offre":
                         o["code"], "debut": s.day(0, 600), "fin": None if i < 1600 else s.day(600, 900),
                         "mensualite": r.randint(20, 300)})
    s.put("contrats", contrats, "pdl", "client")
    agents = ["%s%05d" % (code(s, 1, "ABCDEFGH"), 10007 + 131 * i) for i in range(46)]
    s.put("agents", [{"_id": a, "nom": s.person(), "base": s.skew(insee), "chef": NO if i < 5 else agents[i % 5],
                      "habil": s.few(["B1", "B2", "BR"], 1, 2)}
                     for i, a in enumerate(agents)])
    s.put("interventions", [{"_id": 8800001 + 3 * i, "pdl": p["_id"], "nni": s.skew(agents), "type": r.choice(["F120",
        "F140", "F185"]), "date": text_date(
        s.day(500, 900)), "depose": s.maybe(.3, 11861000001 + r.randrange(10**6)),
        "pose": p["matricule"] if r.random() < .4 else NO, "duree":
        r.randint(10, 120)} for i, p in enumerate(r.choices(pdl, k=1300))], "pdl")
    s.put("coupures", [{"_id": s.oid(), "poste": x["_id"], "debut": s.day(600, 900), "minutes": r.randint(1, 600),
                        "cause": r.choice([1, 2, 5, 9]),
                        "touches": [p["_id"] if r.random() > .01 else "%014d" % r.randrange(10**13, 2 * 10**13)
                                    for p in pdl if p["poste"] == x["_id"]]}
                       for x in r.choices(postes, k=380)], "poste")
    s.put("courbes", [{"_id": s.oid(), "prm": Long(p["_id"]), "horodate": datetime.datetime(2021, 6,
        1) + datetime.timedelta(minutes=30 * k), "w": r.randint(
        40, 6000), "src": "R"} for k in range(192) for p in pdl[:42]], "prm,horodate")
    s.more["timeSeries"] = [{"ns": "compteurs.courbes", "time": "horodate", "series": "prm", "count": 42,
                             "stepSeconds": 1800}]
    s.put("factures", [{"_id": "F%09d" % (210000001 + 7 * i), "contrat": c["_id"], "periode": "2021%02d" % r.randint(1,
        8), "indexDebut": 90 * i, "indexFin":
                        90 * i + r.randint(50, 900), "lignes": [{"rub": x, "qte": r.randint(1, 900),
                            "pu": round(r.uniform(.05, .3), 4)} for x in (
                            "ABO", "CONSO", "CSPE", "CTA")[:r.randint(2, 4)]], "ttc": Cents(r.randint(1500, 40000)),
                            "relance": r.randrange(3)}
                       for i, c in enumerate(s.skew(contrats, 1.2) for _ in range(3800))], "contrat", "contrat,periode")
    s.ref("""
        postes:insee communes:_id
        concentrateurs:poste postes:_id
        offres:fournisseur fournisseurs:_id
        pdl:adresse.insee communes:_id
        pdl:poste postes:_id
        pdl:matricule compteurs:_id
        compteurs:modele modeles:_id
        compteurs:k concentrateurs:_id
        contrats:pdl pdl:_id
        contrats:client titulaires:refClient
        contrats:frn+offre offres:fournisseur+code
        contrats:frn fournisseurs:_id
        agents:base communes:_id
        agents:chef agents:_id
        interventions:pdl pdl:_id
        interventions:nni agents:_id
        interventions:pose compteurs:_id
        coupures:poste postes:_id
        coupures:touches[] pdl:_id
        courbes:prm pdl:_id
        factures:contrat contrats:_id""")
    s.allow("interventions:pose pdl:matricule")
