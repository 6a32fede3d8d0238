# SPDX-License-Identifier: Apache-2.0
"""blind_firms.py - firms and their services, written by people who had not read how references are found."""
import datetime
from collections import defaultdict

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, text_date


@data_set
def factory(s):
    """Parts and what they are built of: a part is a number and a revision, orders are exploded into operations."""
    r = s.r
    s.put("uom", [{"_id": u, "descr": s.words(1), "decimals": d} for u, d in (("EA", 0), ("KG", 3), ("M", 2), ("L", 2),
                                                                            ("SET", 0))])
    vendors = [{"_id": 100200 + 10 * i, "vendor_name": s.title(2) + " GmbH", "terms": r.choice([14, 30, 60]),
                "rating": r.choice("ABC"), "ctry": r.choice(COUNTRY)} for i in range(110)]
    s.put("vendors", vendors)
    specs = "spec_voltage spec_current spec_torque spec_length spec_weight spec_temp spec_speed".split()
    parts = []
    for i in range(640):
        n = "%d-%04d" % (r.randint(100, 899), 1000 + 7 * i)
        for rev in "ABC"[:r.choice([1, 1, 2, 3])]:
            parts.append({"_id": s.oid(), "part_no": n, "rev": rev, "descr": s.title(1, 3),
                          "uom": s.skew(["EA", "EA", "M", "KG"]),
                          "make_buy": r.choice("MB"), "lead_days": r.randint(1, 60),
                          "std_cost": Cents(r.randint(10, 90000)),
                          "vendor": s.maybe(.5, s.skew(vendors)["_id"]), "abc": s.skew(["C", "B", "A"]),
                          **{x: float(r.randint(1, 400)) for x in specs if r.random() < .3}})
    s.put("parts", parts, "!part_no,rev", "vendor")
    bom = []
    for i, p in enumerate(parts[:700]):
        for k, c in enumerate(s.few(parts[i + 1:], 0, 7), 1):
            bom.append({"_id": s.oid(), "parent_part": p["part_no"], "parent_rev": p["rev"], "find_no": 10 * k,
                        "child_part": c["part_no"], "child_rev": c["rev"], "qty_per": r.choice([1, 1, 2, 4, 12]),
                        "scrap_pct": r.choice([0, 0, 2, 5])})
    s.put("bom", bom, "parent_part,parent_rev,find_no", "child_part,child_rev")
    centers = [{"_id": "WC%02d" % (5 * i), "descr": s.title(1), "capacity": r.randint(1, 12),
                "rate": Cents(100 * r.randint(30, 120)),
                "backup": NO if i % 3 else "WC%02d" % (5 * r.randint(1, 17))} for i in range(1, 18)]
    s.put("work_centers", centers)
    badges = [4000 + 3 * i for i in range(85)]
    s.put("operators", [{"_id": b, "name": s.person(), "shift": r.randint(1, 3),
                         "wc_quals": [c["_id"] for c in s.few(centers, 1, 5)]}
                        for b in badges])
    orders = []
    for i in range(1500):
        p = s.skew(parts[:700])
        orders.append({"_id": "WO-%06d" % (210000 + i), "part_no": p["part_no"], "rev": p["rev"],
                       "qty": r.choice([1, 5, 10, 50]),
                       "parent_wo": s.maybe(.4, r.choice(orders[-60:])["_id"]) if orders else NO,
                       "due": s.day(900, 1100),
                       "prio": r.randint(1, 9), "stat": r.choice([10, 20, 40, 90]),
                       "ops": [{"op": 10 * k, "wc": r.choice(centers)["_id"], "setup_min": r.randint(0, 60),
                                "run_min": r.randint(1, 500), "clocked": [
                                    {"badge": b, "min": r.randint(5, 240)} for b in s.few(badges, 0, 2)]}
                               for k in range(1, r.randint(2, 6))]})
    s.put("work_orders", orders, "part_no,rev", "part_no", "parent_wo")
    s.put("lots", [{"_id": "L%07d" % (3100 + 11 * i), "part_no": p["part_no"],
                    "po_vendor": s.maybe(.8, r.choice(vendors)["_id"]),
                    "qty_oh": r.randint(0, 900), "bin": "%c-%02d-%d" % (r.choice("ABCD"), r.randint(1, 30),
                                                                        r.randint(1, 5)),
                    "exp": s.maybe(.2, s.day(1000, 2000))} for i, p in enumerate(r.choices(parts, k=1700))], "part_no")
    lots = [x["_id"] for x in s.docs["lots"]]
    s.put("issues", [{"_id": s.oid(), "wo": r.choice(orders)["_id"],
                      "lot": r.choice(lots) if r.random() > .02 else "L00000%02d" % k, "qty": r.randint(1, 40),
                      "by": str(r.choice(badges)), "ts": s.day(900, 1000)}
                     for k in range(50) for _ in range(90)], "wo", "lot")
    s.put("ncr", [{"_id": "N%d" % (21001 + i), "wo_no": r.choice(orders)["_id"], "op": 10 * r.randint(1, 4),
                   "defect": r.choice([101, 102, 205, 310]), "found_by": r.choice(badges),
                   "dispo": r.choice(["rework", "scrap", "use as is"]), "qty": r.randint(1, 9)} for i in range(260)])
    s.ref("""
        parts:uom uom:_id
        parts:vendor vendors:_id
        bom:parent_part+parent_rev parts:part_no+rev
        bom:child_part+child_rev parts:part_no+rev
        work_centers:backup work_centers:_id
        operators:wc_quals[] work_centers:_id
        work_orders:part_no+rev parts:part_no+rev
        work_orders:parent_wo work_orders:_id
        work_orders:ops[].wc work_centers:_id
        work_orders:ops[].clocked[].badge operators:_id
        lots:po_vendor vendors:_id
        issues:wo work_orders:_id
        issues:lot lots:_id
        issues:by operators:_id
        ncr:wo_no work_orders:_id
        ncr:found_by operators:_id""")
    s.allow("lots:part_no parts:part_no")


@data_set
def telecom(s):
    """Call records of a mobile network: phones as text here and as numbers there, cells by area and number."""
    r = s.r
    tariffs = ["S-FLAT", "M-FLAT", "L-FLAT", "PREP-01", "PREP-02", "BIZ-10", "BIZ-50", "M2M"]
    s.put("tariffs", [{"_id": t, "monthly": Cents(r.randint(0, 6000)), "minutes": r.choice([0, 100, 500, -1]),
                       "gb": r.choice([0, 1, 5, 20])} for t in tariffs])
    cells = [{"_id": s.oid(), "lac": 7300 + a, "ci": c, "tech": r.choice(["2G", "3G", "4G"]),
              "azimuth": r.randrange(0, 360, 10),
              "site": "SITE%03d" % (a * 9 + c % 9)} for a in range(22)
             for c in r.sample(range(1, 65000), r.randint(8, 30))]
    s.put("cells", cells, "!lac,ci")
    s.put("sites", [{"_id": x, "lat": round(r.uniform(47, 54), 5), "lon": round(r.uniform(7, 14), 5),
                     "heightM": r.randint(10, 60)}
                    for x in sorted({c["site"] for c in cells})])
    shops = [{"_id": s.oid(), "dealerCode": "D%04d" % (7 * i + 1000), "name": s.title(2)} for i in range(60)]
    s.put("dealers", shops, "!dealerCode")
    subs = []
    for i in range(950):
        subs.append({"_id": "49151%08d" % (10020000 + 1013 * i), "imsi": "26201%010d" % (3 * 10**9 + 7919 * i),
                     "tariff": s.skew(tariffs),
                     "iccid": "8949%015d" % (i * 104729), "activated": s.day(-900, 900),
                     "dealer": s.maybe(.7, s.skew(shops)["dealerCode"]),
                     "pukSet": r.randrange(2), "zip": "%05d" % r.randint(1067, 99998), "status": s.skew([1, 2, 5]),
                     "friends": ["49151%08d" % (10020000 + 1013 * r.randrange(950)) for _ in range(r.randint(0, 4))]})
    numbers = [x["_id"] for x in subs]
    s.put("subscribers", subs, "!imsi", "tariff")
    own = {x["_id"]: x["imsi"] for x in subs}
    cdrs = []
    for i in range(9000):
        a, c, start = s.skew(numbers, 1.4), r.choice(cells), s.day(900 + i / 300, 901 + i / 300)
        far = "49%d" % r.randrange(16 * 10**8, 18 * 10**8)
        cdrs.append({"_id": s.oid(start), "recType": r.choice([0, 0, 1, 6]), "imsi": own[a], "aNumber": a,
                     "bNumber": r.choice(numbers) if r.random() < .85 else far, "start": start,
                     "durSec": int(900 * r.random() ** 3),
                     "cell": {"lac": c["lac"], "ci": c["ci"]}, "causeForTerm": r.choice([0, 0, 0, 4]), "rated": s.maybe(
                         .95, {"tariff": s.skew(tariffs), "charge": round(r.random() / 3, 4)})})
    s.put("cdrs", cdrs, "aNumber,start", "aNumber", "cell.lac,cell.ci")
    s.put("topups", [{"_id": s.oid(), "msisdn": Long(s.skew(numbers)), "amountCt": r.choice([500, 1000, 1500, 2500]),
                      "voucher": s.maybe(.5, "%016d" % r.randrange(10**16)), "at": s.day(800, 930)}
                     for _ in range(2400)], "msisdn")
    old = ["49170%07d" % r.randrange(10**7) for _ in range(160)]
    s.put("portings", [{"_id": "MNP%05d" % (300 + i), "number": n, "direction": "in" if i % 2 else "out",
                        "donor": r.choice(["D001", "D009", "D023"]), "date": s.day(-200, 900)}
                       for i, n in enumerate(r.sample(numbers, 120) + old)], "number")
    s.put("complaints", [{"_id": 1 + i, "phone": "+" + r.choice(numbers), "imsi": s.maybe(.8, r.choice(subs)["imsi"]),
                          "category": r.choice([3, 4, 7]), "cellSite": s.maybe(.6, r.choice(cells)["site"]),
                          "text": s.words(6, 20)}
                         for i in range(420)])
    hours = [{"_id": s.oid(), "site": x["_id"], "hour": datetime.datetime(2021, 6, 1) + datetime.timedelta(hours=h),
              "erlang": round(r.random() * 20, 2), "drops": r.randrange(5)} for h in range(96)
             for x in s.docs["sites"][:60]]
    s.put("siteLoad", hours, "site,hour")
    s.more["timeSeries"] = [{"ns": "telecom.siteLoad", "time": "hour", "series": "site", "count": 60,
                             "stepSeconds": 3600}]
    s.ref("""
        cells:site sites:_id
        subscribers:tariff tariffs:_id
        subscribers:dealer dealers:dealerCode
        subscribers:friends[] subscribers:_id
        cdrs:imsi subscribers:imsi
        cdrs:aNumber subscribers:_id
        cdrs:bNumber subscribers:_id
        cdrs:cell.lac+cell.ci cells:lac+ci
        cdrs:rated.tariff tariffs:_id
        topups:msisdn subscribers:_id
        complaints:imsi subscribers:imsi
        complaints:cellSite sites:_id
        siteLoad:site sites:_id""")
    s.allow("portings:number subscribers:_id")


@data_set
def supportdesk(s):
    """A support desk's API, mirrored: twelve-digit ids, audits of anything by type and id, fields by number."""
    r = s.r
    base = 360000000000

    def ids(n, step):
        return [base + 1009 + step * i + r.randrange(step) for i in range(n)]

    orgs, people, groups, forms, fields = ids(120, 977), ids(800, 1733), ids(14, 40009), ids(5, 70001), ids(24, 9973)
    agents, left = people[:40], [base + 7 * i for i in range(9)]
    s.put("organizations", [{"_id": o, "name": s.title(2), "domain_names": [s.words(1) + ".example"],
                             "shared_tickets": r.random() < .2}
                            for o in orgs])
    s.put("groups", [{"_id": g, "name": s.title(1), "default": i == 0, "agent_ids": s.few(agents, 2, 12)}
                     for i, g in enumerate(groups)])
    s.put("ticket_fields", [{"_id": f, "type": r.choice(["text", "tagger", "integer"]), "title": s.title(1, 2),
                             "position": i,
                             "required": r.random() < .2} for i, f in enumerate(fields)])
    s.put("ticket_forms", [{"_id": f, "name": s.title(2), "ticket_field_ids": s.few(fields, 5, 15), "position": i}
                           for i, f in enumerate(forms)])
    s.put("users", [{"_id": u, "name": s.person(), "email": "p%d@%s.example" % (i, s.words(1)),
                     "role": "agent" if i < 40 else "end-user", "organization_id": s.maybe(.85, s.skew(orgs)),
                     "default_group_id": r.choice(groups) if i < 40 else NO, "time_zone": r.choice(["Bern", "UTC"]),
                     "suspended": r.random() < .02} for i, u in enumerate(people)],
          "organization_id", "!email")
    tickets = []
    for i in range(2300):
        u = s.skew(people[40:], 1.5)
        tickets.append({"_id": i + 1, "external_id": s.maybe(.2, "ERP-%d" % r.randrange(10**5)),
                        "subject": s.title(3, 7),
                        "requester_id": u, "submitter_id": u if r.random() < .8 else r.choice(agents),
                        "assignee_id": s.maybe(.9, s.skew(agents)), "group_id": r.choice(groups),
                        "collaborator_ids": s.few(people, 0, 3), "ticket_form_id": s.skew(forms),
                        "problem_id": r.randint(1, i) if i > 50 and r.random() < .1 else None,
                        "custom_fields": [{"id": f, "value": r.choice([None, s.words(1), r.randint(1, 99)])}
                                          for f in s.few(fields, 2, 6)],
                        "priority": r.choice(["low", "normal", "high", None]),
                        "status": r.choice(["open", "solved", "closed"]),
                        "satisfaction_rating": {"score": r.choice(["unoffered", "good", "bad"])},
                        "tags": s.few(WORD[:30], 0, 4)})
    s.put("tickets", tickets, "requester_id", "assignee_id", "status", "group_id,status", "group_id", "ticket_form_id")
    articles = ids(260, 3301)
    s.put("articles", [{"_id": a, "title": s.title(3, 6), "author_id": r.choice(agents),
                        "locale": r.choice(["en-us", "de"]),
                        "body": s.words(40, 120), "vote_sum": r.randint(-9, 60),
                        "label_names": s.few(WORD[:20], 0, 3)} for a in articles])
    s.put("comments", [{"_id": s.oid(), "ticket_id": s.skew(tickets, 1.2)["_id"], "author_id": r.choice(people),
                        "public": r.random() < .8,
                        "body": s.words(8, 30), "article_ids": s.few(articles, 0, 1) if r.random() < .2 else [],
                        "via": {"channel": r.choice(["web", "email"])}} for _ in range(4800)], "ticket_id")
    kinds = (("Ticket", [t["_id"] for t in tickets]), ("User", people), ("Organization", orgs), ("Article", articles))
    audits = []
    for i in range(3000):
        kind, z = s.skew(kinds, 1.6)
        audits.append({"_id": s.oid(), "source_type": kind, "source_id": r.choice(z),
                       "actor_id": r.choice(agents if r.random() > .06 else left),
                       "action": r.choice(["create", "update", "destroy"]),
                       "ip_address": "10.1.%d.%d" % (r.randrange(9), r.randrange(255)),
                       "created_at": s.day(700, 1000).isoformat() + "Z"})
    s.put("audit_logs", audits, "source_id,source_type", "actor_id")
    s.put("satisfaction_ratings", [{"_id": x, "ticket_id": t["_id"], "score": r.choice(["good", "bad"]),
                                    "assignee_id": t["assignee_id"],
                                    "reason_code": r.choice([0, 5, 6, 7, 100])}
                                   for x, t in zip(ids(300, 811), r.sample(tickets, 300))])
    s.ref("""
        groups:agent_ids[] users:_id
        ticket_forms:ticket_field_ids[] ticket_fields:_id
        users:organization_id organizations:_id
        users:default_group_id groups:_id
        tickets:requester_id users:_id
        tickets:submitter_id users:_id
        tickets:assignee_id users:_id
        tickets:group_id groups:_id
        tickets:collaborator_ids[] users:_id
        tickets:ticket_form_id ticket_forms:_id
        tickets:problem_id tickets:_id
        tickets:custom_fields[].id ticket_fields:_id
        articles:author_id users:_id
        comments:ticket_id tickets:_id
        comments:author_id users:_id
        comments:article_ids[] articles:_id
        audit_logs:source_id tickets:_id
        audit_logs:source_id users:_id
        audit_logs:source_id organizations:_id
        audit_logs:source_id articles:_id
        audit_logs:actor_id users:_id
        satisfaction_ratings:ticket_id tickets:_id
        satisfaction_ratings:assignee_id users:_id""")


@data_set
def eventstore(s):
    """Orders, wallets and parcels as a log of events: a kind and a UUID as text name the stream."""
    r = s.r
    skus = ["K%03d-%s" % (13 * i, r.choice("SML")) for i in range(1, 76)]
    s.put("catalog", [{"_id": s.oid(), "sku": k, "label": s.title(2), "price": Cents(r.randint(100, 9000))}
                      for k in skus],
          "!sku")
    wallets = [{"_id": s.uuid(), "owner": s.person(), "balance": Cents(r.randrange(10**6)), "version": r.randint(1, 60)}
               for _ in range(300)]
    orders = [{"_id": s.uuid(), "walletId": s.skew(wallets)["_id"], "state": r.choice(["placed", "paid", "sent"]),
               "lines": [{"sku": k, "qty": r.randint(1, 3)} for k in s.few(skus, 1, 4)], "version": r.randint(1, 9)}
              for _ in range(900)]
    parcels = [{"_id": s.uuid(), "orderId": o["_id"], "carrier": r.choice(["dhl", "ups", "post"]),
                "legs": r.randint(1, 5)}
               for o in r.sample(orders, 700)]
    s.put("wallet_view", wallets)
    s.put("order_view", orders, "walletId")
    s.put("parcel_view", parcels, "orderId")
    events, chain = [], [s.uuid() for _ in range(1500)]
    for i in range(6000):
        kind, z = r.choice((("Order", orders), ("Order", orders), ("Wallet", wallets), ("Parcel", parcels)))
        x, cause = s.skew(z, 1.2), r.choice(events[-50:]) if events and r.random() < .6 else None
        data = {"Order": {"walletId": str(x.get("walletId")), "lines": x.get("lines")}, "Wallet": {
            "orderId": str(r.choice(orders)["_id"]), "amount": r.randint(1, 900)},
                "Parcel": {"leg": r.randint(1, 5)}}[kind]
        events.append({"_id": s.uuid(), "position": Long(48200 + i + i // 97),
                       "streamId": kind.lower() + "-" + str(x["_id"]),
                       "aggregateType": kind, "aggregateId": str(x["_id"]), "version": r.randint(1, 30),
                       "type": kind + r.choice(["Created", "Changed", "Closed"]), "causationId": cause and cause["_id"],
                       "correlationId": r.choice(chain), "data": data, "ts": s.day(900 + i / 100, 901 + i / 100)})
    s.put("events", events, "!position", "streamId,version", "aggregateId", "correlationId")
    s.put("snapshots", [{"_id": s.oid(), "aggregateId": str(x["_id"]), "version": 10 * r.randint(1, 3),
                         "state": s.words(9)}
                        for x in r.sample(wallets, 200) + r.sample(orders, 150)], "aggregateId,-version")
    s.put("outbox", [{"_id": s.oid(), "eventId": e["_id"] if r.random() > .05 else s.uuid(),
                      "topic": e["aggregateType"],
                      "attempts": r.randint(0, 5)} for e in r.choices(events, k=900)], "eventId")
    s.put("dead_letters", [{"_id": i, "position": s.skew(events)["position"], "consumer": r.choice(["mail", "search"]),
                            "error": s.words(3, 8), "retries": r.randint(0, 9)} for i in range(1, 240)])
    s.ref("""
        order_view:walletId wallet_view:_id
        order_view:lines[].sku catalog:sku
        parcel_view:orderId order_view:_id
        events:aggregateId order_view:_id
        events:aggregateId wallet_view:_id
        events:aggregateId parcel_view:_id
        events:causationId events:_id
        events:data.walletId wallet_view:_id
        events:data.orderId order_view:_id
        events:data.lines[].sku catalog:sku
        snapshots:aggregateId wallet_view:_id
        snapshots:aggregateId order_view:_id
        outbox:eventId events:_id
        dead_letters:position events:position""")


@data_set
def realty(s):
    """Houses for sale as agents exchange them: Key and MlsId side by side, names copied, too many indexes."""
    r = s.r
    offices = [{"_id": s.oid(), "OfficeKey": "OF%06d" % (20301 + 17 * i), "OfficeMlsId": "%d" % (310 + 7 * i),
                "OfficeName": s.title(2) + " Realty", "OfficePhone": "555-%07d" % r.randrange(10**7)}
               for i in range(90)]
    members = []
    for i in range(640):
        o = s.skew(offices, 1.3)
        members.append({"_id": s.oid(), "MemberKey": "M%07d" % (700001 + 29 * i), "MemberMlsId": str(50000 + 11 * i),
                        "MemberFullName": s.person(), "OfficeKey": o["OfficeKey"], "MemberStateLicense": "SL.%07d" %
                        r.randrange(10**7), "MemberStatus": r.choice(["Active", "Active", "Inactive"])})
    for o in offices:
        o["OfficeBrokerKey"] = r.choice(members)["MemberKey"]
    s.put("Office", offices, "!OfficeKey")
    s.put("Member", members, "!MemberKey", "!MemberMlsId", "OfficeKey")
    homes = []
    for i in range(1600):
        m, o = s.skew(members, 1.4), r.choice(offices)
        homes.append({"_id": s.oid(), "ListingKey": "1%08d" % (4711 * i + 300),
                      "ListingId": "MLS21-%05d" % (8000 + 3 * i),
                      "StandardStatus": r.choice(["Active", "Pending", "Closed"]),
                      "ListPrice": 500 * r.randint(100, 3000),
                      "ListAgentKey": m["MemberKey"], "ListAgentFullName": m["MemberFullName"]
                      if i % 30 else s.person(),
                      "CoListAgentKey": s.maybe(.2, r.choice(members)["MemberKey"]), "ListOfficeKey": o["OfficeKey"],
                      "ListOfficeName": o["OfficeName"],
                      "BuyerAgentMlsId": s.maybe(.5, int(r.choice(members)["MemberMlsId"])),
                      "BedroomsTotal": r.randint(0, 6), "BathroomsTotalInteger": r.randint(1, 4),
                      "ListTeamKey": s.maybe(.3, "T%04d" % r.randint(100, 209)),
                      "YearBuilt": r.randint(1890, 2021),
                      "PostalCode": "%05d" % r.randint(501, 99950), "CountyOrParish": r.choice(CITY),
                      "LivingArea": r.randint(400, 5000),
                      "DaysOnMarket": r.randint(0, 300),
                      "ParcelNumber": "%03d-%03d-%02d" % (i % 900 + 1, i % 641, i % 97),
                      "Media": [{"Order": k, "MediaKey": "%024x" % r.getrandbits(96)} for k in range(r.randint(0, 6))]})
    s.put("Property", homes, "!ListingKey", "!ListingId", "ListAgentKey", "CoListAgentKey", "ListOfficeKey",
          "BuyerAgentMlsId",
          "ListPrice", "PostalCode", "StandardStatus", "StandardStatus,ListPrice", "YearBuilt", "LivingArea",
          "CountyOrParish")
    s.put("OpenHouse", [{"_id": s.oid(), "ListingKey": s.skew(homes)["ListingKey"], "ShowingAgentKey": s.maybe(
        .8, r.choice(members)["MemberKey"]), "OpenHouseDate": text_date(s.day(900, 960)), "Attendees": r.randint(0, 40)}
                        for _ in range(800)], "ListingKey")
    s.put("Teams", [{"_id": s.oid(), "TeamKey": "T%04d" % (100 + i), "TeamName": s.title(2),
                     "TeamLeadKey": m["MemberKey"],
                     "TeamMembers": [{"MemberKey": x["MemberKey"], "TeamImpersonationLevel": r.randint(0, 3)}
                                     for x in s.few(members, 1, 9)]} for i, m in enumerate(r.sample(members, 110))],
          "!TeamKey")
    s.put("TransactionHistory", [{"_id": s.oid(), "ResourceRecordID": h["ListingId"]
                                  if r.random() > .03 else "MLS19-0%04d" % i,
                                  "FieldName": r.choice(["ListPrice", "StandardStatus"]),
                                  "NewValue": str(r.randint(1, 900)),
                                  "ChangedByMemberKey": h["ListAgentKey"], "ClassName": "Residential"}
                                 for i, h in enumerate(r.choices(homes, k=3300))], "ResourceRecordID")
    s.ref("""
        Office:OfficeBrokerKey Member:MemberKey
        Member:OfficeKey Office:OfficeKey
        Property:ListAgentKey Member:MemberKey
        Property:CoListAgentKey Member:MemberKey
        Property:ListOfficeKey Office:OfficeKey
        Property:ListTeamKey Teams:TeamKey
        Property:BuyerAgentMlsId Member:MemberMlsId
        OpenHouse:ListingKey Property:ListingKey
        OpenHouse:ShowingAgentKey Member:MemberKey
        Teams:TeamLeadKey Member:MemberKey
        Teams:TeamMembers[].MemberKey Member:MemberKey
        TransactionHistory:ResourceRecordID Property:ListingId
        TransactionHistory:ChangedByMemberKey Member:MemberKey""")
    s.copy("""
        Property:ListAgentKey Member:MemberKey ListAgentFullName MemberFullName
        Property:ListOfficeKey Office:OfficeKey ListOfficeName OfficeName""")


@data_set
def rides(s):
    """Rides by app: ids with a prefix, zones of hexagons, one account of a fleet that drives nearly half of all."""
    r = s.r
    ulid = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

    def ids(prefix, n):
        return [prefix + "01F" + "".join(r.choices(ulid, k=13)) for _ in range(n)]

    hexes = ["8a2a%07xffff" % (r.getrandbits(27) | 1) for _ in range(80)]
    s.put("cities", [{"_id": c[:3].upper() + str(i), "name": c, "currency": "EUR"} for i, c in enumerate(CITY[:12])])
    towns = [x["_id"] for x in s.docs["cities"]]
    s.put("zones", [{"_id": h, "city": r.choice(towns), "surge": r.choice([1.0, 1.2, 1.5]), "k": r.randint(0, 3)}
                    for h in hexes])
    drivers, plates = ids("drv_", 150), ["%s-%s%d" % (r.choice("BMK"), r.choice("ABCDEF") * 2, 100 + 7 * i)
                                         for i in range(170)]
    riders = [{"_id": x, "firstName": r.choice(FIRST), "refCode": "%s%04d" % (r.choice(FIRST)[:3].upper(), 7 * i),
               "referredBy": NO,
               "homeCity": s.skew(towns), "rating": r.randint(30, 50) / 10} for i, x in enumerate(ids("rdr_", 800))]
    for i, x in enumerate(riders[1:], 1):
        x["referredBy"] = s.maybe(.4, r.choice(riders[max(0, i - 20):i])["refCode"])
    s.put("riders", riders, "!refCode", "referredBy")
    s.put("vehicles", [{"_id": p, "drivers": s.few(drivers, 1, 2), "seats": r.choice([4, 4, 6]),
                        "year": r.randint(2010, 2021)}
                       for p in plates])
    trips, done = [], defaultdict(list)
    for i, t in enumerate(ids("trp_", 5600)):
        d = drivers[0] if r.random() < .45 else r.choice(drivers[1:])
        trips.append({"_id": t, "driver_id": d, "rider_id": s.skew(riders, 1.2)["_id"], "plate": r.choice(plates),
                      "pickup": {
"zone": r.choice(hexes), "eta": r.randint(1, 15)}, "dropoff": {"zone": r.choice(hexes)}, "km": r.randint(1, 30),
                      "stars": s.maybe(.7, r.randint(1, 5)), "requested": s.day(i / 20, i / 20 + 1),
                      "state": s.skew([4, 3, 9])})
        if r.random() > .02:
            done[d].append(t)
    s.put("trips", trips, "driver_id", "rider_id,-requested")
    s.put("drivers", [{"_id": d, "name": s.person(), "licence": "%010d" % r.randrange(10**10), "tripIds": done[d],
                       "city": r.choice(towns)} for d in drivers], "city")
    s.put("tracks", [{"_id": s.oid(), "trip": t["_id"], "points": [{"t": 5 * k, "lat": r.uniform(40, 60),
                                                                    "lng": r.uniform(-9, 20)}
                                                                 for k in range(r.randint(60, 420))]}
                     for t in r.sample(trips, 130)],
          "trip")
    s.put("payouts", [{"_id": s.oid(), "driverid": d, "week": w, "gross": Cents(r.randint(0, 120000)),
                       "fee_pct": r.choice([20, 25])}
                      for d in drivers for w in range(1, 40)], "driverid,week")
    s.ref("""
        zones:city cities:_id
        riders:homeCity cities:_id
        riders:referredBy riders:refCode
        vehicles:drivers[] drivers:_id
        trips:driver_id drivers:_id
        trips:rider_id riders:_id
        trips:plate vehicles:_id
        trips:pickup.zone zones:_id
        trips:dropoff.zone zones:_id
        drivers:tripIds[] trips:_id
        drivers:city cities:_id
        tracks:trip trips:_id
        payouts:driverid drivers:_id""")
    s.two_way("drivers", "tripIds[]", "trips", "driver_id")
    s.unjudged.add("one-to-one-apart")  # a trace of some hundred points stands apart on purpose


@data_set
def insurance(s):
    """Policies and claims: parties by UUID as text, what is insured by kind, payments three arrays deep."""
    r = s.r
    parties = [str(s.uuid()) for _ in range(900)]
    s.put("parties", [{"_id": p, "kind": "org" if i % 9 == 0 else "person", "name": s.person(),
                       "dob": s.day(-25000, -7000),
                       "taxId": "%09d" % r.randrange(10**9), "riskScore": r.randint(300, 850)}
                      for i, p in enumerate(parties)])
    covers = ["LIAB", "COLL", "COMP", "MEDP", "UMBI", "FIRE", "THFT", "GLAS", "WATR", "RENT"]
    s.put("coverageTypes", [{"_id": c, "text": s.title(2), "maxLimit": 10000 * r.randint(1, 100)} for c in covers])
    staff = sorted({a[0] + b[:2].upper() for a in FIRST for b in r.sample(CITY, 2)})
    s.put("adjusters", [{"_id": a, "name": s.person(), "authority": 5000 * r.randint(1, 20), "unit": r.randint(1, 6),
                         "boss": NO if i < 4 else staff[i % 4]} for i, a in enumerate(staff)])
    brokers = [{"_id": s.oid(), "brokerNo": 5001 + 9 * i, "firm": s.title(2), "commission": r.randint(5, 20)}
               for i in range(70)]
    s.put("brokers", brokers, "!brokerNo")
    vins = ["W%s%08d" % ("".join(r.choices("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", k=8)), 13 * i) for i in range(500)]
    s.put("vehicles", [{"_id": v, "make": s.title(1), "modelYear": r.randint(1995, 2021),
                        "garagedZip": "%05d" % r.randint(501, 99950),
                        "annualKm": 1000 * r.randint(2, 40)} for v in vins])
    houses = [s.oid() for _ in range(330)]
    s.put("properties", [{"_id": h, "built": r.randint(1890, 2020), "sqm": r.randint(40, 400), "roof": r.choice(
        ["tile", "slate", "flat"]), "floodZone": r.randint(1, 4)} for h in houses])
    policies = []
    for i in range(1200):
        car = r.random() < .6
        policies.append({"_id": s.oid(), "polNo": "%s-%d-%06d" % ("CAR" if car else "HOM", 2017 + i // 300,
                                                                  200 + 17 * i),
                         "holder": s.skew(parties, 1.3), "broker": s.maybe(.8, s.skew(brokers)["brokerNo"]),
                         "insured": {"kind": "vehicle" if car else "property",
                                     "ref": r.choice(vins if car else houses)},
                         "drivers": [{"party": p, "role": k} for p, k in zip(
                             s.few(parties, 1, 3), ("main", "2nd", "3rd"))] if car else NO,
                         "covers": [{"cov": c, "limit": 1000 * r.randint(1, 300), "deductible": r.choice([0, 150, 500])}
                                    for c in s.few(covers, 1, 5)],
                         "renewalOf": r.choice(policies)["polNo"] if policies and r.random() < .4 else NO,
                         "term": r.choice([6, 12]), "premium": Cents(r.randint(5000, 300000))})
    s.put("policies", policies, "!polNo", "holder", "insured.ref", "broker")
    claims = []
    for i in range(1500):
        p = s.skew(policies, 1.2)
        claims.append({"_id": 2021000100 + 3 * i, "polNo": p["polNo"], "lossDate": s.day(700, 1000), "cause": r.choice(
            [1, 4, 7, 12, 30]), "reporter": r.choice(parties), "adj": s.skew(staff), "exposures": [
                {"seq": k, "cov": c["cov"], "claimant": r.choice(parties), "reserve": 100 * r.randint(1, 90),
                 "payments": [{"payee": r.choice(parties), "amount": Cents(r.randint(5000, 900000)),
                               "chk": r.randint(10000, 19998)} for _ in range(r.randint(0, 3))]}
                for k, c in enumerate(s.few(p["covers"], 1, 2), 1)]})
    s.put("claims", claims, "polNo", "adj", "exposures.payments.payee")
    s.put("claimNotes", [{"_id": s.oid(), "claim": str(r.choice(claims)["_id"]) if r.random() > .02 else "2020%06d" % k,
                          "by": r.choice(staff), "body": s.words(8, 30), "topic": r.randint(1, 9)}
                         for k in range(3500)],
          "claim")
    s.put("installments", [{"_id": {"pol": p["polNo"], "no": k}, "due": s.day(700 + 30 * k, 731 + 30 * k),
                            "paid": r.random() < .9,
                            "amt": Cents(r.randint(900, 30000))} for p in policies
                           for k in range(1, r.choice([1, 4, 12]) + 1)])
    s.ref("""
        adjusters:boss adjusters:_id
        policies:holder parties:_id
        policies:broker brokers:brokerNo
        policies:insured.ref vehicles:_id
        policies:insured.ref properties:_id
        policies:drivers[].party parties:_id
        policies:covers[].cov coverageTypes:_id
        policies:renewalOf policies:polNo
        claims:polNo policies:polNo
        claims:reporter parties:_id
        claims:adj adjusters:_id
        claims:exposures[].cov coverageTypes:_id
        claims:exposures[].claimant parties:_id
        claims:exposures[].payments[].payee parties:_id
        claimNotes:claim claims:_id
        claimNotes:by adjusters:_id
        installments:_id.pol policies:polNo""")


@data_set
def paghe(s):
    """Italian payroll: cost centres as a tree and as names of fields, wage items by number, absences by letters."""
    r = s.r
    centri = ["CDC%03d" % (100 + 5 * i) for i in range(64)]
    matricole = ["%06d" % (1204 + 37 * i) for i in range(520)]
    s.put("centriCosto", [{"_id": c, "descrizione": s.title(2), "padre": NO
                           if i < 3 else centri[max(0, i - r.randint(1, 12))],
                           "budget": Cents(r.randrange(10**8)), "responsabile": r.choice(matricole[:60]),
                           "attivo": r.randrange(2)}
                          for i, c in enumerate(centri)])
    sedi = [{"_id": s.oid(), "sigla": c[:2].upper() + str(i), "citta": c, "cap": "%05d" % r.randint(10, 98168)}
            for i, c in enumerate(CITY[:22])]
    s.put("sedi", sedi, "!sigla")
    s.put("contratti", [{"_id": c, "nome": s.title(1), "oreSettimana": r.choice([36, 38, 40]),
                         "mensilita": r.choice([13, 14])}
                        for c in ("COMM", "METAL", "CHIM", "LOGI", "DIRIG")])
    dipendenti = [{"_id": s.oid(), "matricola": m, "cognome": r.choice(LAST), "nome": r.choice(FIRST),
                   "codiceFiscale": "%s%02dA%02dH%03dX" % ("".join(r.choices("ABCDEFGHILMNOPRSTUVZ", k=6)),
                                                           r.randint(50, 99), r.randint(1, 31), i),
                   "livello": r.randint(1, 7), "ccnl": s.skew(["COMM", "METAL", "LOGI", "CHIM"]),
                   "sede": s.skew(sedi)["sigla"], "centroCosto": s.skew(centri), "responsabile": NO
                   if i < 5 else s.skew(matricole[:60]),
                   "assunto": s.day(-6000, 700), "partTime": r.choice([100, 100, 75, 50])}
                  for i, m in enumerate(matricole)]
    s.put("dipendenti", dipendenti, "!matricola", "!codiceFiscale", "centroCosto")
    voci = sorted(r.sample(range(1, 900), 85))
    s.put("vociPaga", [{"_id": v, "descrizione": s.words(2), "segno": r.choice([1, -1]), "imponibile": r.random() < .7}
                       for v in voci])
    causali = "FE MA PE RO SC IN AS MT LS TR".split()
    s.put("causali", [{"_id": c, "testo": s.words(1, 2), "retribuita": r.random() < .7} for c in causali])
    s.put("cedolini", [{"_id": s.oid(), "matricola": m, "anno": 2021, "mese": k, "voci": [
        {"voce": v, "ore": r.randint(1, 168), "importo": Cents(r.randint(100, 250000))} for v in s.few(voci, 3, 9)],
                        "netto": Cents(r.randint(90000, 300000)), "giorni": r.randint(20, 26),
                        "stato": r.choice([1, 2, 9])}
                       for m in matricole for k in range(1, 7)], "matricola,anno,mese", "matricola")
    s.put("assenze", [{"_id": s.oid(), "dipendente": s.skew(dipendenti)["_id"], "causale": s.skew(causali)
                       if r.random() > .03
                       else r.choice(["XX", "ZZ"]), "dal": s.day(730, 900), "giorni": r.randint(1, 15),
                       "protocollo": s.maybe(.3, 100000 + r.randrange(900000))} for _ in range(2600)], "dipendente")
    s.put("ripartizioni", [{"_id": m, "quote": dict(zip(s.few(centri, 2, 4),
                                                        ([50, 50], [40, 30, 30], [70, 30], [25] * 4)[k % 4]))}
                           for k, m in enumerate(r.sample(matricole, 180))])
    s.maps.add("ripartizioni:quote")
    s.put("noteSpese", [{"_id": "NS%d/%04d" % (2021, i), "matr": s.skew(matricole), "righe": [
        {"cdc": r.choice(centri).lower() if r.random() < .01 else r.choice(centri),
         "tipo": r.choice(["vitto", "viaggio"]),
         "km": r.randint(0, 400), "euro": round(r.uniform(5, 300), 2)} for _ in range(r.randint(1, 5))],
                         "approvata_da": s.maybe(.9, r.choice(matricole[:60]))} for i in range(1, 1100)], "matr")
    s.ref("""
        centriCosto:padre centriCosto:_id
        centriCosto:responsabile dipendenti:matricola
        dipendenti:ccnl contratti:_id
        dipendenti:sede sedi:sigla
        dipendenti:centroCosto centriCosto:_id
        dipendenti:responsabile dipendenti:matricola
        cedolini:matricola dipendenti:matricola
        cedolini:voci[].voce vociPaga:_id
        assenze:dipendente dipendenti:_id
        assenze:causale causali:_id
        ripartizioni:_id dipendenti:matricola
        ripartizioni:quote.* centriCosto:_id
        noteSpese:matr dipendenti:matricola
        noteSpese:righe[].cdc centriCosto:_id
        noteSpese:approvata_da dipendenti:matricola""")
    s.more["tree"] = s.tree_figures("centriCosto", "padre")


@data_set
def oauth(s):
    """Who may sign in to what: subjects with a provider before the bar, tokens by hash, roles for users or programs."""
    r = s.r

    def hashes(n):
        return ["%064x" % r.getrandbits(256) for _ in range(n)]

    roles = ["admin", "support", "auditor", "billing", "developer", "viewer"]
    scopes = ["%s:%s" % (a, b) for a in ("read", "write", "delete") for b in r.sample(WORD, 9)]
    s.put("scopes", [{"_id": s.oid(), "value": x, "description": s.words(3, 6)} for x in scopes], "!value")
    s.put("roles", [{"_id": x, "rank": i, "permissions": s.few(scopes, 3, 12)} for i, x in enumerate(roles)])
    subs = ["%s|%024x" % (r.choice(["auth0", "google-oauth2", "saml"]), r.getrandbits(96)) for _ in range(600)]
    s.put("users", [{"_id": s.oid(), "sub": x, "email": "%s%d@corp.example" % (s.words(1), i),
                     "email_verified": r.random() < .9,
                     "logins_count": r.randint(1, 600), "app_metadata": {"plan": r.choice(["a", "b"])},
                     "blocked": r.random() < .02} for i, x in enumerate(subs)], "!sub", "!email")
    clients = ["".join(r.choices("ABCDEFGHJKabcdefghjk0123456789", k=20)) for _ in range(75)]
    s.put("clients", [{"_id": s.uuid(), "client_id": c, "name": s.title(2), "owner": s.maybe(.9, s.skew(subs)),
                       "app_type": r.choice(["spa", "native", "non_interactive"]),
                       "token_lifetime": r.choice([3600, 36000, 86400]), "allowed_scopes": s.few(scopes, 2, 9),
                       "callbacks": ["https://%s.example/cb" % s.words(1)]} for c in clients], "!client_id")
    fresh = []
    for i, h in enumerate(hashes(1500)):
        fresh.append({"_id": h, "client_id": s.skew(clients), "sub": r.choice(subs),
                      "prev": s.maybe(.5, r.choice(fresh[-200:])["_id"]) if fresh else NO,
                      "exp": 1609459200 + r.randrange(10**7), "uses": r.randint(0, 30)})
    s.put("refresh_tokens", fresh, "sub,client_id", "client_id")
    s.put("access_tokens", [{"_id": h, "client": s.skew(clients),
                             "user": s.skew(subs, 2.5) if r.random() > .03 else "deleted|%d" % i,
                             "refresh": s.maybe(.7, r.choice(fresh)["_id"]), "scope": " ".join(s.few(scopes, 1, 4)),
                             "iat": 1609459200 + 97 * i} for i, h in enumerate(hashes(4200))], "user", "client",
          "refresh")
    s.put("consents", [{"_id": {"sub": x, "client_id": c}, "granted": s.few(scopes, 1, 4), "at": s.day(0, 900)}
                       for x in subs for c in s.few(clients, 0, 4)])
    s.put("sessions", [{"_id": "".join(r.choices("abcdefghijkmnpqrstuvwxyz23456789", k=26)), "sub": s.skew(subs, 1.3),
                        "idle": r.randint(0, 900), "apps": s.few(clients, 1, 3), "device": {
                            "ua": "Mozilla/5.0", "ip": "192.0.2.%d" % r.randrange(255), "port": r.randint(1024, 65535)}}
                       for _ in range(1400)], "sub")
    holders = [("user", x) for x in r.sample(subs, 360)] + [("client", c) for c in r.sample(clients, 60)]
    s.put("role_assignments", [{"_id": s.oid(), "principal": {"type": k, "id": x}, "role": r.choice(roles),
                                "by": s.skew(subs[:20])} for k, x in holders], "principal.id")
    s.ref("""
        roles:permissions[] scopes:value
        clients:owner users:sub
        clients:allowed_scopes[] scopes:value
        refresh_tokens:client_id clients:client_id
        refresh_tokens:sub users:sub
        refresh_tokens:prev refresh_tokens:_id
        access_tokens:client clients:client_id
        access_tokens:user users:sub
        access_tokens:refresh refresh_tokens:_id
        consents:_id.sub users:sub
        consents:_id.client_id clients:client_id
        consents:granted[] scopes:value
        sessions:sub users:sub
        sessions:apps[] clients:client_id
        role_assignments:principal.id users:sub
        role_assignments:principal.id clients:client_id
        role_assignments:role roles:_id
        role_assignments:by users:sub""")
