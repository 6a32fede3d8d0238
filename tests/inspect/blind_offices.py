# SPDX-License-Identifier: Apache-2.0
"""blind_offices.py - money, offices, ports and games, written in the same way as blind_trades.py."""
import datetime
from collections import defaultdict

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, text_date


@data_set
def crowdfunding(s):
    """Projects and backers: running numbers, rewards inside of projects, deleted accounts, codes of currencies."""
    r = s.r
    cur = [{"_id": c, "symbol": c[0], "exponent": e} for c, e in (("EUR", 2), ("USD", 2), ("GBP", 2), ("JPY", 0),
                                                                  ("SEK", 2),
                                                                 ("CAD", 2), ("CHF", 2), ("DKK", 2))]
    s.put("currencies", cur)
    s.put("countries", [{"_id": c, "name": s.title(1), "vat_pct": r.randint(15, 27)} for c in COUNTRY])
    cats = [{"_id": i, "slug": "-".join(s.few(WORD, 1, 2)), "parent_id": None if i < 9 else r.randint(1, 8),
             "position": i % 8}
            for i in range(1, 40)]
    s.put("categories", cats)
    users = [{"_id": 1000 + 7 * i + r.randrange(6), "name": s.person(), "slug": "%s-%d" % (r.choice(LAST).lower(),
        i), "country": s.skew(COUNTRY),
              "backed_count": r.randint(0, 60), "is_creator": r.random() < .2,
              "last_ip": "10.0.%d.%d" % (r.randrange(256), r.randrange(256))}
             for i in range(1500)]
    gone = [u["_id"] for u in users if r.random() < .18]
    ids = [u["_id"] for u in users]
    s.put("users", [u for u in users if u["_id"] not in set(gone)], "!slug")
    creators = [u["_id"] for u in users if u["is_creator"] and u["_id"] not in set(gone)]
    projects, rid = [], 600
    for i in range(1, 331):
        rewards = []
        for _ in range(r.randint(1, 7)):
            rid += r.randint(1, 4)
            rewards.append({"id": rid, "title": s.title(2), "minimum": r.choice([5, 10, 25, 50, 120]),
                            "limit": s.maybe(.3, r.randint(10, 500)),
                            "ships_to": s.few(COUNTRY, 0, 5)})
        projects.append({"_id": i, "creator_id": s.skew(creators), "category_id": s.skew(cats)["_id"],
                         "title": s.title(3, 6),
                         "goal": 500 * r.randint(1, 200), "currency": s.skew(cur)["_id"],
                         "country": s.skew(COUNTRY), "rewards": rewards,
                         "state": r.choice(["live", "successful", "failed"]), "days": r.randint(10, 60),
                         "launched_at": s.day(0, 900),
                         "stats": {"backers": r.randint(0, 900), "comments": r.randint(0, 300),
                                   "updates": r.randint(0, 30)}})
    s.put("projects", projects, "creator_id", "category_id", "state")
    pledges = []
    for i in range(1, 4201):
        p = s.skew(projects, 1.3)
        w = r.choice(p["rewards"])
        pledges.append({"_id": i, "project_id": p["_id"], "backer_id": r.choice(ids),
                        "reward_id": s.maybe(.85, w["id"]),
                        "amount": Cents(100 * w["minimum"] + r.randrange(500)), "currency": p["currency"],
                        "sequence": r.randint(1, 900),
                        "stripe_charge": "ch_" + "%024d" % r.randrange(10**20), "status": r.choice([0, 1, 2, 5])})
    s.put("pledges", pledges, "project_id", "backer_id")
    s.put("comments", [{"_id": i, "commentable_type": k, "commentable_id": x, "author_id": r.choice(ids),
                        "body": s.words(5, 20),
                        "parent_id": s.maybe(.3, r.randint(1, i - 1)) if i > 1 else NO, "likes": r.randint(0, 40)}
                       for i, (k, x) in enumerate([("Project", r.randint(1, 330)) if r.random() < .7
                                                   else ("Update", r.randint(1, 800))
                                                   for _ in range(2600)], 1)], "commentable_id,commentable_type")
    s.put("updates", [{"_id": i, "project_id": r.choice(projects)["_id"], "number": r.randint(1, 20),
                       "title": s.title(3),
                       "body": s.words(20, 60), "public": r.random() < .7} for i in range(1, 801)], "project_id")
    s.put("payouts", [{"_id": s.oid(), "project": p["_id"], "iban": "DE%020d" % r.randrange(10**18),
                       "net": Cents(r.randrange(10**7)),
                       "fee_pct": 5, "paid_on": text_date(s.day(500, 900))} for p in r.sample(projects, 140)])
    s.put("saved_searches", [{"_id": s.oid(), "user_id": r.choice(ids), "category_ids": [c["_id"]
        for c in s.few(cats, 1, 4)],
                              "countries": s.few(COUNTRY, 0, 3), "max_goal": 1000 * r.randint(1, 50)}
                             for _ in range(300)], "user_id")
    s.ref("""
        categories:parent_id categories:_id
        users:country countries:_id
        projects:creator_id users:_id
        projects:category_id categories:_id
        projects:currency currencies:_id
        projects:country countries:_id
        projects:rewards[].ships_to[] countries:_id
        pledges:project_id projects:_id
        pledges:backer_id users:_id
        pledges:currency currencies:_id
        comments:commentable_id projects:_id
        comments:commentable_id updates:_id
        comments:author_id users:_id
        comments:parent_id comments:_id
        updates:project_id projects:_id
        payouts:project projects:_id
        saved_searches:user_id users:_id
        saved_searches:category_ids[] categories:_id
        saved_searches:countries[] countries:_id""")
    s.allow("pledges:reward_id projects:rewards[].id")


@data_set
def services(s):
    """Five services in one cluster: each has its own copy of ids, as binary here and as text there; traces by hash."""
    r = s.r
    people = [{"_id": s.uuid(), "email": "u%05d@%s.example" % (i, s.words(1)), "tenant": NO,
               "ver": r.randint(1, 40)} for i in range(700)]
    tenants = ["%s-%s" % tuple(s.few(WORD, 2, 2)) for _ in range(45)]
    tenants = sorted(set(tenants))
    for p in people:
        p["tenant"] = s.skew(tenants)
    s.put("identity_tenants", [{"_id": t, "plan": r.choice(["free", "team", "ent"]), "seats": r.randint(1, 200)}
                               for t in tenants])
    s.put("identity_accounts", people, "!email", "tenant")
    s.put("billing_customers", [{"_id": "cus_" + "".join(r.choices("abcdefghjkmnpqrstuvwxyz0123456789", k=14)),
                                 "accountId": str(p["_id"]),
                                 "currency": r.choice(["eur", "usd"]), "delinquent": r.random() < .05,
                                 "tenantKey": p["tenant"]}
                                for p in people if r.random() < .8], "!accountId")
    cust = [c["_id"] for c in s.docs["billing_customers"]]
    prods = [{"_id": s.oid(), "sku": "%s-%03d" % (s.words(1)[:4].upper(), 7 * i), "title": s.title(2),
              "stock": r.randint(0, 900)} for i in range(220)]
    s.put("catalog_items", prods, "!sku")
    carts = [{"_id": s.uuid(), "account": p["_id"], "items": {x["sku"]: r.randint(1, 4)
                                                              for x in s.few(prods, 1, 5)},
              "etag": "%08x" % r.getrandbits(32)}
             for p in r.sample(people, 420)]
    s.put("cart_carts", carts, "account")
    s.maps.add("cart_carts:items")
    orders = []
    for i in range(1900):
        p = s.skew(people, 1.3)
        orders.append({"_id": "ORD-%s" % "".join(r.choices("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=9)),
                       "account_uid": p["_id"],
                       "cartId": s.maybe(.2, r.choice(carts)["_id"]), "tenant": p["tenant"],
                       "lines": [{"itemId": x["_id"].hex(), "sku": x["sku"], "n": r.randint(1, 5)}
                                 for x in s.few(prods, 1, 4)],
                       "traceId": "%032x" % r.getrandbits(128), "schemaVersion": r.choice([2, 3]),
                       "placedAt": s.day(800, 1000)})
    s.put("orders_orders", orders, "account_uid", "tenant")
    s.put("billing_invoices", [{"_id": "in_" + "".join(r.choices("abcdefghjkmnpqrstuvwxyz0123456789", k=12)),
                                "customer": r.choice(cust),
                                "order_ref": o["_id"], "number": "%d-%05d" % (2021, i),
                                "total": r.randint(500, 90000), "attempt": r.randint(1, 4),
                                "payment_intent": "pi_%016x" % r.getrandbits(64)} for i,
                               o in enumerate(r.sample(orders, 1500))], "customer", "order_ref")
    s.put("shipping_parcels", [{"_id": s.oid(), "orderNo": o["_id"], "carrier": r.choice(["DHL", "UPS"]),
                                "tracking": "JJD%015d" % r.randrange(10**15),
                                "recipient": {"accountId": str(o["account_uid"]),
                                              "zip": "%05d" % r.randrange(10**5)}, "weight_g": r.randint(50, 9000)}
                               for o in r.choices(orders, k=1700)], "orderNo")
    gone = [s.uuid() for _ in range(90)]
    s.put("notify_messages", [{"_id": s.oid(), "to": str(r.choice(people)["_id"] if r.random() > .14
                                                         else r.choice(gone)), "template": r.choice(
        ["welcome", "invoice", "shipped"]), "subjectId": NO, "sent": s.day(800, 1000), "tries": r.randint(1, 5)}
                              for _ in range(2600)], "to")
    s.put("audit_log", [{"_id": s.oid(), "actor": r.choice(people)["_id"], "entity": {"type": k, "id": x},
                         "trace": "%032x" % r.getrandbits(128),
                         "hash": "%064x" % r.getrandbits(256), "seq": Long(10**6 + i)} for i, (k, x) in enumerate(
        [("order", r.choice(orders)["_id"]) if r.random() < .6 else ("customer", r.choice(cust))
         for _ in range(2400)])], "actor")
    s.put("feature_flags", [{"_id": s.words(2).replace(" ", "."), "enabled": r.random() < .5,
                             "tenants": s.few(tenants, 0, 9), "rollout": r.randint(0, 100)}
                            for _ in range(1)] + [{"_id": "flag.%s.%d" % (s.words(1), i), "enabled": True,
                                                   "tenants": s.few(tenants, 0, 9),
                                                   "rollout": r.randint(0, 100)} for i in range(40)])
    s.ref("""
        identity_accounts:tenant identity_tenants:_id
        billing_customers:accountId identity_accounts:_id
        billing_customers:tenantKey identity_tenants:_id
        cart_carts:account identity_accounts:_id
        cart_carts:items.* catalog_items:sku
        orders_orders:account_uid identity_accounts:_id
        orders_orders:cartId cart_carts:_id
        orders_orders:tenant identity_tenants:_id
        orders_orders:lines[].itemId catalog_items:_id
        billing_invoices:customer billing_customers:_id
        billing_invoices:order_ref orders_orders:_id
        shipping_parcels:orderNo orders_orders:_id
        shipping_parcels:recipient.accountId identity_accounts:_id
        notify_messages:to identity_accounts:_id
        audit_log:actor identity_accounts:_id
        audit_log:entity.id orders_orders:_id
        audit_log:entity.id billing_customers:_id
        feature_flags:tenants[] identity_tenants:_id""")
    s.allow("orders_orders:lines[].sku catalog_items:sku")


@data_set
def erp(s):
    """A trader's old SQL tables, imported one by one: short names, every table counts from one."""
    r = s.r
    s.put("whs", [{"_id": i, "wh_cd": c, "descr": s.title(2)} for i, c in enumerate(["MAIN", "NORD", "SUED", "KONS",
        "RETR"], 1)], "!wh_cd")
    s.put("curr", [{"_id": c, "rate": round(r.uniform(.5, 12), 4)} for c in ("EUR", "USD", "CHF", "PLN", "CZK")])
    s.put("vat", [{"_id": i, "pct": p} for i, p in enumerate((0, 7, 10, 13, 19, 20), 1)])
    s.put("sls_rep", [{"_id": i, "nm": s.person(), "reg": r.choice("NSWE"), "comm_pct": r.randint(1, 9)}
                      for i in range(1, 29)])
    s.put("pay_trm", [{"_id": "%02d" % (10 * i), "days": 10 * i, "disc": r.randint(0, 3)} for i in range(1, 10)])
    grps = list(range(1, 33))
    s.put("mat_grp", [{"_id": g, "txt": s.title(1), "acct": 4000 + 10 * g} for g in grps])
    cust = [{"_id": i, "cust_no": 10000 + 5 * i, "nm1": s.title(2), "nm2": s.maybe(.2, s.title(1)),
             "cty": r.choice(CITY), "ctry": s.skew(COUNTRY),
             "rep_no": r.randint(1, 28), "pay_trm": "%02d" % (10 * r.randint(1, 9)),
             "curr": s.skew(["EUR", "EUR", "USD", "CHF", "PLN", "CZK"]),
             "cr_lim": 1000 * r.randint(1, 90), "disc_grp": r.randint(1, 5),
             "tel": "0%d/%d" % (r.randint(30, 99), r.randrange(10**7))}
            for i in range(1, 621)]
    s.put("cust", cust, "!cust_no", "rep_no")
    mats = [{"_id": i, "mat_nr": "%09d" % (100400 + 13 * i), "txt": s.title(2, 3), "grp": r.choice(grps),
             "vat_cd": r.randint(1, 6), "wt": r.randint(1, 9000),
             "alt_mat": NO, "min_qty": r.choice([1, 5, 10, 50]), "ean": "40%011d" % r.randrange(10**11),
             "st": r.choice([1, 1, 2, 9])} for i in range(1, 941)]
    for m in mats[50::11]:
        m["alt_mat"] = r.choice(mats[:m["_id"] - 1])["mat_nr"]
    s.put("mat", mats, "!mat_nr", "grp")
    s.put("stk", [{"_id": i, "mat_nr": m["mat_nr"], "wh": w, "qty": r.randint(0, 900), "rsv": r.randint(0, 60),
                   "bin": "%02d-%02d" % (r.randint(1, 40), r.randint(1, 9))}
                  for i, (m, w) in enumerate([(m, w) for m in mats for w in s.few(["MAIN", "NORD", "SUED", "KONS",
                      "RETR"], 1, 3)], 1)], "mat_nr,wh")
    hdr, pos = [], []
    for i in range(1, 2201):
        c = s.skew(cust, 1.4)
        no = 21000000 + i
        hdr.append({"_id": i, "ord_no": no, "cust_no": c["cust_no"], "ship_cust_no": s.maybe(.2,
            r.choice(cust)["cust_no"]), "rep_no": c["rep_no"],
                    "typ": r.choice(["SO", "RE", "CR"]), "dt": s.day(700, 1000).strftime("%Y%m%d"),
                    "st": r.choice([10, 20, 30, 40]), "wh": s.skew([1, 2, 3, 4, 5]),
                    "cust_ref": s.maybe(.5, "PO%d" % r.randrange(10**5)), "clerk": r.choice(["mmu", "kgr", "asc",
                        "hbe"]), "yr": r.choice([2020, 2021])})
        for k in range(1, r.randint(2, 7)):
            m = s.skew(mats, 1.2)
            pos.append({"_id": len(pos) + 1, "ord_no": no, "pos_no": 10 * k, "mat_nr": m["mat_nr"],
                        "qty": r.choice([1, 2, 5, 10, 40]), "prc": Cents(r.randint(50, 90000)),
                        "disc": r.randint(0, 30), "vat_cd": m["vat_cd"], "dlv_wk": r.randint(1, 52)})
    s.put("ord_hdr", hdr, "!ord_no", "cust_no")
    s.put("ord_pos", pos, "!ord_no,pos_no", "mat_nr")
    s.put("dlv", [{"_id": i, "dlv_no": 80000000 + 3 * i, "ord_no": p["ord_no"], "pos_no": p["pos_no"],
                   "qty": r.randint(1, p["qty"]), "pkgs": r.randint(1, 9),
                   "carr": r.choice(["DPD", "GLS", "SELF"])} for i, p in enumerate(r.sample(pos, 3200), 1)],
          "ord_no,pos_no")
    old = [9000 + 5 * i for i in range(40)]
    s.put("inv", [{"_id": i, "inv_no": 50000000 + i, "ord_no": h["ord_no"], "cust": h["cust_no"] if r.random() > .1
                   else r.choice(old), "amt": Cents(r.randrange(10**6)),
                   "due": s.day(800, 1100), "dun_lvl": s.skew([0, 1, 2, 3])} for i,
                  h in enumerate(r.sample(hdr, 1800), 1)], "ord_no", "cust")
    s.put("cust_prc", [{"_id": i, "cust_no": r.choice(cust)["cust_no"], "mat_nr": r.choice(mats)["mat_nr"],
                        "prc": Cents(r.randint(50, 90000)),
                        "vld_fr": s.day(600, 800).strftime("%Y%m%d")} for i in range(1, 1200)], "cust_no,mat_nr")
    s.ref("""
        cust:rep_no sls_rep:_id
        cust:pay_trm pay_trm:_id
        cust:curr curr:_id
        mat:grp mat_grp:_id
        mat:vat_cd vat:_id
        mat:alt_mat mat:mat_nr
        stk:mat_nr mat:mat_nr
        stk:wh whs:wh_cd
        ord_hdr:cust_no cust:cust_no
        ord_hdr:ship_cust_no cust:cust_no
        ord_hdr:rep_no sls_rep:_id
        ord_hdr:wh whs:_id
        ord_pos:ord_no ord_hdr:ord_no
        ord_pos:mat_nr mat:mat_nr
        ord_pos:vat_cd vat:_id
        dlv:ord_no+pos_no ord_pos:ord_no+pos_no
        inv:ord_no ord_hdr:ord_no
        inv:cust cust:cust_no
        cust_prc:cust_no cust:cust_no
        cust_prc:mat_nr mat:mat_nr""")
    s.allow("dlv:ord_no ord_hdr:ord_no")


@data_set
def veterinaria(s):
    """A clinic for animals in Portuguese: owners by CPF, a kind and a breed, appointments that become bills."""
    r = s.r
    especies = [{"_id": i, "nome": n} for i, n in enumerate(["cao", "gato", "ave", "roedor", "reptil", "equino"], 1)]
    s.put("especies", especies)
    racas = [{"_id": i, "nome": s.title(1), "especieId": s.skew([1, 2, 3, 4, 5, 6])} for i in range(1, 74)]
    s.put("racas", racas, "especieId")
    vets = [{"_id": s.oid(), "crmv": "SP-%05d" % (10203 + 71 * i), "nome": s.person(), "plantao": r.random() < .3}
            for i in range(24)]
    s.put("veterinarios", vets, "!crmv")
    tutores = [{"_id": s.oid(), "cpf": "%03d.%03d.%03d-%02d" % (r.randrange(1000), r.randrange(1000), i % 1000,
                                                                r.randrange(100)), "nome": s.person(),
                "celular": "11 9%04d-%04d" % (r.randrange(10**4), r.randrange(10**4)),
                "endereco": {"cep": "%05d-%03d" % (r.randrange(10**5), r.randrange(1000)),
                "cidade": r.choice(CITY), "uf": r.choice(["SP", "RJ", "MG"])}, "indicadoPor": NO} for i in range(640)]
    for i in range(30, 640, 4):
        tutores[i]["indicadoPor"] = r.choice(tutores[:i])["_id"]
    s.put("tutores", tutores, "!cpf")
    animais = [{"_id": s.oid(), "nome": r.choice(FIRST), "tutor": s.skew(tutores, 1.1)["_id"],
                "especie": r.choice(["cao", "gato"]), "raca": r.choice(racas)["_id"],
                "nascimento": s.day(-3000, 900), "microchip": s.maybe(.6, "9810980%08d" % (7919 * i)),
                "peso": round(r.uniform(.2, 60), 1), "castrado": r.random() < .5,
                "mae": NO} for i in range(980)]
    for i in range(100, 980, 13):
        animais[i]["mae"] = r.choice(animais[:i])["_id"]
    s.put("animais", animais, "tutor")
    proc = [{"_id": "PR%03d" % (3 * i), "descricao": s.title(2), "preco": Cents(r.randint(2000, 90000)),
             "duracao": r.choice([15, 30, 60])} for i in range(1, 58)]
    s.put("procedimentos", proc)
    vac = [{"_id": s.oid(), "codigo": "V%02d" % i, "nome": s.title(1), "especies": s.few([1, 2, 3, 4, 5, 6], 1, 3),
            "reforco_dias": r.choice([21, 365])} for i in range(1, 23)]
    s.put("vacinas", vac, "!codigo")
    consultas = []
    for i in range(2100):
        a = s.skew(animais, 1.2)
        consultas.append({"_id": s.oid(), "numero": 2021000 + i, "animal": a["_id"],
                          "veterinario": s.skew(vets)["crmv"], "data": s.day(700, 1000), "sala": r.randint(1, 5),
                          "procedimentos": [{"codigo": x["_id"], "qtd": r.choice([1, 1, 2])}
                                            for x in s.few(proc, 0, 4)], "retornoDe": NO,
                          "status": r.choice(["agendada", "realizada", "cancelada"])})
    for i in range(200, 2100, 7):
        consultas[i]["retornoDe"] = consultas[i - r.randint(1, 190)]["numero"]
    s.put("consultas", consultas, "!numero", "animal", "veterinario")
    s.put("aplicacoes", [{"_id": s.oid(), "animalId": r.choice(animais)["_id"], "vacina": r.choice(vac)["codigo"],
                          "lote": "L%06d" % r.randrange(10**6), "dose": r.randint(1, 3),
                          "aplicadoPor": r.choice(vets)["_id"], "data": s.day(0, 1000)} for _ in range(1800)],
          "animalId")
    s.put("exames", [{"_id": s.oid(), "consultaNumero": c["numero"], "laboratorio": r.choice([11, 12, 15]),
                      "tipo": r.choice(["hemograma", "urina", "raio-x"]),
                      "resultado": {"hematocrito": r.randint(20, 60), "leucocitos": r.randint(4000, 20000)}}
                     for c in r.choices(consultas, k=700)], "consultaNumero")
    ex = [s.oid() for _ in range(60)]
    s.put("faturas", [{"_id": s.oid(), "nf": 30000 + i, "consulta": c["_id"],
                       "pagador_cpf": r.choice(tutores)["cpf"], "valor": Cents(r.randrange(10**5)),
                       "parcelas": r.randint(1, 6),
                       "forma": r.choice(["pix", "cartao", "dinheiro"])} for i,
                      c in enumerate(r.sample(consultas, 1500))], "consulta")
    s.put("internacoes", [{"_id": s.oid(), "paciente": r.choice(animais)["_id"] if r.random() > .2
                           else r.choice(ex), "responsavel": r.choice(vets)["_id"], "box": r.randint(1, 12),
                           "medicacoes": [{"hora": r.randint(0, 23), "droga": s.words(1),
                                           "ml": round(r.random() * 5, 1)} for _ in range(r.randint(0, 12))]}
                          for _ in range(260)], "paciente")
    s.ref("""
        racas:especieId especies:_id
        tutores:indicadoPor tutores:_id
        animais:tutor tutores:_id
        animais:raca racas:_id
        animais:mae animais:_id
        vacinas:especies[] especies:_id
        consultas:animal animais:_id
        consultas:veterinario veterinarios:crmv
        consultas:procedimentos[].codigo procedimentos:_id
        consultas:retornoDe consultas:numero
        aplicacoes:animalId animais:_id
        aplicacoes:vacina vacinas:codigo
        aplicacoes:aplicadoPor veterinarios:_id
        exames:consultaNumero consultas:numero
        faturas:consulta consultas:_id
        faturas:pagador_cpf tutores:cpf
        internacoes:paciente animais:_id
        internacoes:responsavel veterinarios:_id""")
    s.allow("animais:especie especies:nome")


@data_set
def podcasts(s):
    """A host of podcasts, as an ODM writes it: ObjectIds everywhere, __v, episodes inside of seasons, soft deletes."""
    r = s.r
    users = [{"_id": s.oid(), "displayName": s.person(), "email": "%d@%s.example" % (i, s.words(1)),
              "apple_id": s.maybe(.3, "%024x" % r.getrandbits(96)), "__v": 0}
             for i in range(900)]
    lost = [s.oid() for _ in range(160)]
    s.put("users", users, "!email")
    tags = [{"_id": s.oid(), "name": w, "usage": r.randint(1, 90), "__v": 0} for w in WORD[:70]]
    s.put("tags", tags, "!name")
    shows = []
    for i in range(210):
        h = s.few(users, 1, 3)
        shows.append({"_id": s.oid(), "title": s.title(2, 4), "slug": "%s-%d" % (s.words(1), i),
                      "owner": h[0]["_id"], "hosts": [x["_id"] for x in h],
                      "tags": [t["_id"] for t in s.few(tags, 0, 5)], "language": r.choice(["en", "de", "fr"]),
                      "itunesId": r.randint(10**9, 2 * 10**9),
                      "seasons": [{"_id": s.oid(), "number": k, "episodes": []} for k in range(1, r.randint(2, 5))],
                      "__v": r.randint(0, 9)})
    eps, audio = [], []
    for x in shows:
        for z in x["seasons"]:
            for k in range(1, r.randint(3, 14)):
                e, when = s.oid(), s.day(0, 1000)
                audio.append({"_id": s.oid(), "sha256": "%064x" % r.getrandbits(256),
                              "seconds": r.randint(300, 6000), "bitrate": r.choice([96, 128]), "mime": "audio/mpeg"})
                eps.append({"_id": e, "show": x["_id"], "season": z["_id"], "no": k, "title": s.title(3),
                            "audio": audio[-1]["_id"], "guests": [u["_id"] for u in s.few(users, 0, 2)],
                            "publishedAt": when, "chapters": [{"_id": s.oid(), "at": 60 * j, "title": s.words(2)}
                                                              for j in range(r.randint(0, 6))],
                            "plays": r.randint(0, 90000),
                            "deletedAt": s.maybe(.05, when), "__v": 0})
                z["episodes"].append(e)
    s.put("shows", shows, "!slug", "owner")
    s.put("episodes", eps, "show", "publishedAt")
    s.put("audiofiles", audio, "!sha256")
    ids = [u["_id"] for u in users]
    s.put("subscriptions", [{"_id": s.oid(), "user": r.choice(lost) if r.random() < .22 else r.choice(ids),
                             "show": s.skew(shows)["_id"], "since": s.day(0, 1000), "muted": r.random() < .1, "__v": 0}
                            for _ in range(3600)], "user,show", "user")
    s.put("progress", [{"_id": {"u": u, "e": e["_id"]}, "sec": r.randint(0, 6000), "done": r.random() < .4}
                       for u in r.sample(ids, 260) for e in s.few(eps, 2, 12)])
    s.put("reviews", [{"_id": s.oid(), "user": r.choice(ids), "target": x["_id"], "onModel": k,
                       "stars": r.randint(1, 5), "text": s.words(4, 20), "__v": 0}
                      for k, x in [("Show", r.choice(shows)) if r.random() < .5 else ("Episode", r.choice(eps))
                                   for _ in range(1500)]], "target")
    s.put("playlists", [{"_id": s.oid(), "by": r.choice(ids), "name": s.title(2),
                         "items": [{"_id": s.oid(), "episode": e["_id"], "addedAt": s.day(800, 1000)}

                                   for e in s.few(eps, 1, 15)], "__v": r.randint(0, 5)} for _ in range(240)], "by")
    s.put("dailyplays", [{"_id": s.oid(), "episodeId": str(e["_id"].hex()), "day": text_date(datetime.datetime(2021,
        5, 1) + datetime.timedelta(days=d)), "n": r.randint(0, 900),
                          "byCountry": {c: r.randint(1, 90) for c in s.few(["DE", "FR", "US", "GB"], 1, 4)}}
                         for e in r.sample(eps, 150) for d in range(12)], "episodeId,day")
    s.ref("""
        shows:owner users:_id
        shows:hosts[] users:_id
        shows:tags[] tags:_id
        shows:seasons[].episodes[] episodes:_id
        episodes:show shows:_id
        episodes:audio audiofiles:_id
        episodes:guests[] users:_id
        subscriptions:user users:_id
        subscriptions:show shows:_id
        progress:_id.u users:_id
        progress:_id.e episodes:_id
        reviews:user users:_id
        reviews:target shows:_id
        reviews:target episodes:_id
        playlists:by users:_id
        playlists:items[].episode episodes:_id
        dailyplays:episodeId episodes:_id""")
    s.allow("episodes:season shows:seasons[]._id")


@data_set
def elections(s):
    """Results of elections: districts by codes inside of codes, lists by number in a district, votes by list."""
    r = s.r
    states = [{"_id": "%02d" % i, "name": s.title(1), "seats": r.randint(4, 40)} for i in range(1, 10)]
    s.put("states", states)
    dists = [{"_id": x["_id"] + "%c" % k, "state": x["_id"], "name": s.title(2)} for x in states
             for k in "ABCDE"[:r.randint(2, 5)]]
    s.put("districts", dists, "state")
    munis = []
    for d in dists:
        for k in range(1, r.randint(8, 20)):
            munis.append({"_id": "%s%02d%02d" % (d["_id"][:2], "ABCDE".index(d["_id"][2]) + 1, k),
                          "district": d["_id"], "name": s.title(1, 2), "registered": r.randint(300, 60000)})
    s.put("municipalities", munis, "district")
    parties = [{"_id": i, "short": w, "name": s.title(3), "founded": r.randint(1900, 2019)} for i,
               w in enumerate("SPO OVP FPO GRU NEO KPO BIE MFG".split(), 1)]
    s.put("parties", parties, "!short")
    votes_ = [{"_id": "nr%d" % y, "kind": "national", "year": y, "date": s.day(0, 900)}
              for y in (2008, 2013, 2017, 2019)]
    s.put("elections", votes_)
    cands = []
    for e in votes_:
        for d in dists:
            for p in s.few(parties, 4, 8):
                for pos in range(1, r.randint(2, 5)):
                    cands.append({"_id": s.oid(), "election": e["_id"], "district": d["_id"], "party_id": p["_id"],
                                  "position": pos, "first": r.choice(FIRST), "last": r.choice(LAST),
                                  "born": r.randint(1940, 2000), "pref_votes": r.randint(0, 9000)})
    s.put("candidates", cands, "election,district,party_id", "district", "party_id")
    s.put("results", [{"_id": s.oid(), "election_id": e["_id"], "muni": m["_id"],
                       "turnout": round(r.uniform(.4, .9), 4), "invalid": r.randint(0, 300),
                       "votes": [{"party": p["short"], "n": r.randint(1, 9000)} for p in s.few(parties, 5, 8)]}
                      for e in votes_ for m in munis], "election_id,muni")
    s.put("polling_places", [{"_id": i, "municipality_code": m["_id"], "no": k,
                              "address": s.title(2) + " %d" % r.randint(1, 90), "barrier_free": r.random() < .7,
                              "opens": r.choice([6, 7, 8]), "capacity": r.randint(100, 1500)}
                             for i, (m, k) in enumerate([(m, k) for m in munis for k in range(1, r.randint(2, 5))],
                                                        1)], "municipality_code")
    places = len(s.docs["polling_places"])
    staff = [{"_id": 500 + 2 * i, "name": s.person(), "party": s.maybe(.7, r.choice(parties)["short"]),
              "place": r.randint(1, places), "chair": i % 5 == 0, "phone": str(r.randrange(10**8, 10**9))}
             for i in range(1700)]
    s.put("officials", staff, "place")
    s.put("mandates", [{"_id": s.oid(), "candidate": c["_id"], "election": c["election"], "seat": i % 183 + 1,
                        "replaces": NO, "status": r.choice(["accepted", "declined"])}
                       for i, c in enumerate(r.sample(cands, 420))], "candidate")
    md = s.docs["mandates"]
    for i in range(60, 420, 8):
        md[i]["replaces"] = r.choice(md[:i])["_id"]
    s.put("incidents", [{"_id": s.oid(), "polling_place": r.randint(1, places),
                         "reported_by": r.choice(staff)["_id"], "electionId": s.skew(votes_)["_id"],
                         "severity": r.randint(1, 5),
                         "minutes_closed": r.randint(0, 90)} for _ in range(340)], "polling_place")
    s.ref("""
        districts:state states:_id
        municipalities:district districts:_id
        candidates:election elections:_id
        candidates:district districts:_id
        candidates:party_id parties:_id
        results:election_id elections:_id
        results:muni municipalities:_id
        results:votes[].party parties:short
        polling_places:municipality_code municipalities:_id
        officials:party parties:short
        officials:place polling_places:_id
        mandates:candidate candidates:_id
        mandates:election elections:_id
        mandates:replaces mandates:_id
        incidents:polling_place polling_places:_id
        incidents:reported_by officials:_id
        incidents:electionId elections:_id""")


@data_set
def port(s):
    """Ships and boxes: IMO numbers, UN/LOCODEs, bills of lading, calls at berths, customs by tariff number."""
    r = s.r
    ports = sorted({r.choice(COUNTRY) + "".join(r.choices("ABCDEGHKLMNOPRSTUV", k=3)) for _ in range(120)})
    s.put("locodes", [{"_id": p, "name": s.title(1), "ctry": p[:2], "tz": "%+d" % r.randint(-9, 12)} for p in ports])
    lines = [{"_id": c,
              "name": s.title(2) + " Line"} for c in "MAEU MSCU HLCU CMDU ONEY EGLV COSU YMLU HDMU ZIMU".split()]
    s.put("carriers", lines)
    ships = [{"_id": s.oid(), "imo": 9100003 + 911 * i, "mmsi": "%09d" % (211000000 + 77711 * i),
              "name": "MV " + s.title(1, 2), "operator": s.skew(lines)["_id"], "flag": r.choice(COUNTRY),
              "teu": r.randint(800, 20000), "built": r.randint(1995, 2021), "sister_of": NO} for i in range(260)]
    for i in range(20, 260, 6):
        ships[i]["sister_of"] = r.choice(ships[:i])["imo"]
    s.put("vessels", ships, "!imo", "!mmsi")
    berths = [{"_id": "B%02d" % i, "quay_m": r.randint(150, 450), "depth": round(r.uniform(8, 18), 1),
               "cranes": s.few(["STS%d" % k for k in range(1, 15)], 1, 4)} for i in range(1, 27)]
    s.put("berths", berths)
    calls = []
    for i in range(1400):
        v = s.skew(ships, 1.2)
        calls.append({"_id": "ATP%06d" % (190100 + 3 * i), "vessel_imo": v["imo"],
                      "voy_in": "%03d%s" % (r.randint(1, 400), r.choice("NESW")), "berth": r.choice(berths)["_id"],
                      "eta": s.day(700, 1000),
                      "last_port": s.skew(ports), "next_port": s.maybe(.95, s.skew(ports)),
                      "draft_cm": r.randint(600, 1600), "pilots": r.randint(1, 2), "agent_scac": v["operator"],
                      "services": [{"type": r.choice(["tug", "bunker", "waste"]), "qty": r.randint(1, 400),
                                    "charge": Cents(r.randrange(10**6))} for _ in range(r.randint(0, 4))]})
    s.put("port_calls", calls, "vessel_imo", "berth")
    boxes = [r.choice(lines)["_id"] + "%07d" % (3000017 + 7919 * i) for i in range(2400)]
    iso = [{"_id": x, "descr": s.title(2), "len_ft": f} for x, f in (("22G1", 20), ("42G1", 40), ("45G1", 40),
                                                                     ("45R1", 40), ("22T1", 20), ("22U1", 20))]
    s.put("iso_types", iso)
    s.put("containers", [{"_id": b, "owner": b[:4], "iso": s.skew(iso)["_id"], "tare": r.randint(2000, 4800),
                          "next_survey": r.randint(2021, 2026)} for b in boxes], "owner")
    hs = sorted({"%04d.%02d" % (r.randint(101, 9700), r.randint(10, 99)) for _ in range(190)})
    s.put("hs_codes", [{"_id": h, "duty_pct": r.randint(0, 17), "text": s.words(3)} for h in hs])
    firms = [{"_id": s.oid(), "eori": "DE%09d" % (1000003 + 7717 * i), "name": s.title(2),
              "kind": r.choice(["shipper", "consignee", "forwarder"])} for i in range(430)]
    s.put("firms", firms, "!eori")
    bls = []
    for i in range(1900):
        c = s.skew(calls, 1.1)
        a = r.randint(0, 2390)
        bls.append({"_id": s.oid(), "bl_no": c["agent_scac"] + "%09d" % (61000000 + 17 * i), "call": c["_id"],
                    "pol": r.choice(ports), "pod": s.skew(ports), "shipper": r.choice(firms)["eori"],
                    "consignee": r.choice(firms)["eori"], "notify": s.maybe(.5, r.choice(firms)["eori"]),
                    "boxes": boxes[a:a + r.randint(1, 5)],
                    "goods": [{"hs": r.choice(hs), "pkgs": r.randint(1, 900), "kg": r.randint(10, 26000),
                               "un_no": s.maybe(.1, r.randint(1001, 3500))} for _ in range(r.randint(1, 4))]})
    s.put("bills", bls, "!bl_no", "call", "boxes")
    s.put("moves", [{"_id": s.oid(), "box": r.choice(boxes) if r.random() > .12
                     else "TEMP%07d" % r.randrange(10**4), "call_id": s.maybe(.7, s.skew(calls)["_id"]),
                     "kind": r.choice(["DIS", "LOD", "GIN", "GOU"]),
                     "slot": "%02d%02d%02d" % (r.randint(1, 40), r.randint(1, 30), r.randint(1, 6)),
                     "at": s.day(700, 1000), "truck": s.maybe(.4, "HH-%s %d" % (r.choice("ABC") * 2,
                         r.randint(100, 9999)))}
                    for _ in range(5200)], "box", "call_id")
    s.put("customs", [{"_id": "21DE%014d" % (7 * 10**9 + 104729 * i), "bill": b["bl_no"],
                       "declarant_eori": r.choice(firms)["eori"], "office": r.choice(["DE004851", "DE004701"]),
                       "items": r.randint(1, 9),
                       "status": r.choice([1, 5, 9]), "mrn_prev": NO} for i, b in enumerate(r.sample(bls, 1500))],
          "bill")
    s.put("ais", [{"_id": s.oid(), "mmsi": r.choice(ships)["mmsi"] if r.random() < .75
                   else "%09d" % r.randrange(2 * 10**8, 7 * 10**8), "lat": round(r.uniform(53, 54), 4),
                   "lon": round(r.uniform(9, 10), 4),
                   "sog": r.randint(0, 20), "cog": r.randint(0, 359), "ts": s.day(990, 1000)} for _ in range(3000)],
          "mmsi,ts", "mmsi")
    s.ref("""
        vessels:operator carriers:_id
        vessels:sister_of vessels:imo
        port_calls:vessel_imo vessels:imo
        port_calls:berth berths:_id
        port_calls:last_port locodes:_id
        port_calls:next_port locodes:_id
        port_calls:agent_scac carriers:_id
        containers:owner carriers:_id
        containers:iso iso_types:_id
        bills:call port_calls:_id
        bills:pol locodes:_id
        bills:pod locodes:_id
        bills:shipper firms:eori
        bills:consignee firms:eori
        bills:notify firms:eori
        bills:boxes[] containers:_id
        bills:goods[].hs hs_codes:_id
        moves:box containers:_id
        moves:call_id port_calls:_id
        customs:bill bills:bl_no
        customs:declarant_eori firms:eori
        ais:mmsi vessels:mmsi""")


@data_set
def guild(s):
    """An online game: snowflakes of 64 bits, templates by number, bags of items, quests by their key."""
    r = s.r
    t0 = [175928847299117063]

    def flake():
        t0[0] += r.randrange(1 << 33, 1 << 38)
        return Long(t0[0])

    items = [{"_id": i, "key": "%s_%s" % tuple(s.few(WORD, 2, 2)), "slot": r.choice(["head", "hand", "bag"]),
              "ilvl": r.randint(1, 60), "stack": r.choice([1, 20, 200])}
             for i in sorted(r.sample(range(100, 40000), 380))]
    s.put("item_templates", items)
    maps_ = ["%s_%s" % (a, b) for a, b in zip(r.sample(WORD, 30), r.sample(WORD, 30))]
    s.put("zones", [{"_id": m, "min_level": r.randint(1, 50), "pvp": r.random() < .3, "exits": s.few(maps_, 1, 4)}
                    for m in maps_])
    npcs = [{"_id": i, "name": s.title(2), "zone": r.choice(maps_), "hp": r.randint(20, 9000),
             "loot": [{"item": x["_id"], "pct": r.randint(1, 100)} for x in s.few(items, 0, 6)]}
            for i in range(1, 261)]
    s.put("npcs", npcs, "zone")
    quests = [{"_id": "q_%s_%02d" % (s.words(1), i), "giver": r.choice(npcs)["_id"], "needs": [],
               "kill": [{"npc": n["_id"], "count": r.randint(1, 20)} for n in s.few(npcs, 0, 2)],
               "reward_items": [x["_id"] for x in s.few(items, 0, 3)], "xp": 50 * r.randint(1, 90)}
              for i in range(1, 150)]
    for i, q in enumerate(quests[10:], 10):
        q["needs"] = [x["_id"] for x in s.few(quests[:i], 0, 2)]
    s.put("quests", quests, "giver")
    acc = [{"_id": flake(), "region": r.choice(["eu", "us", "kr"]), "premium": r.random() < .3,
            "discord": s.maybe(.4, str(r.randrange(10**17, 10**18)))} for _ in range(520)]
    s.put("accounts", acc)
    chars = []
    for a in acc:
        for _ in range(r.randint(1, 3)):
            chars.append({"_id": flake(), "account": a["_id"], "name": r.choice(FIRST) + s.words(1),
                          "class": r.randint(1, 9), "level": r.randint(1, 60), "zone": s.skew(maps_),
                          "gold": r.randint(0, 90000),
                          "guild": NO, "bags": {str(x["_id"]): r.randint(1, 20) for x in s.few(items, 2, 12)},
                          "quests": [{"q": q["_id"], "step": r.randint(0, 5), "done": r.random() < .5}
                        for q in s.few(quests, 0, 9)]})
    guilds = []
    for i in range(48):
        m = r.choice(chars)
        guilds.append({"_id": flake(), "name": s.title(2), "leader": m["_id"], "founded": s.day(0, 500),
                       "ranks": [{"rank": k, "title": s.words(1)} for k in range(1, 5)], "bank": r.randint(0, 10**6)})
        m["guild"] = guilds[-1]["_id"]
    for c in chars:
        if c["guild"] is NO and r.random() < .6:
            c["guild"] = s.skew(guilds)["_id"]
    s.put("characters", chars, "account", "guild")
    s.maps.add("characters:bags")
    s.put("guilds", guilds)
    cid = [c["_id"] for c in chars]
    dead = [flake() for _ in range(140)]
    s.put("auctions", [{"_id": flake(), "seller": r.choice(cid) if r.random() > .15 else r.choice(dead),
                        "item_id": s.skew(items)["_id"], "qty": r.randint(1, 200), "buyout": r.randint(100, 90000),
                        "bids": [{"by": r.choice(cid), "amount": r.randint(50, 90000)}
                                 for _ in range(r.randint(0, 4))]} for _ in range(1300)], "seller", "item_id")
    s.put("mails", [{"_id": s.oid(), "sender": {"kind": "npc", "id": r.choice(npcs)["_id"]} if r.random() < .3
                     else {"kind": "character", "id": r.choice(cid)}, "recipient": r.choice(cid),
                     "attachments": [{"tpl": x["_id"], "n": r.randint(1, 20)} for x in s.few(items, 0, 3)],
                     "cod": r.randint(0, 300), "read": r.random() < .6} for _ in range(1600)], "recipient")
    s.put("kills", [{"_id": s.oid(), "killer": r.choice(cid), "npcId": s.skew(npcs)["_id"],
                     "zoneKey": s.skew(maps_), "dmg": r.randint(10, 9000), "build": r.choice([41020, 41213, 41460])}
                    for _ in range(3800)], "killer", "npcId")
    s.put("friends", [{"_id": s.oid(), "a": str(x), "b": str(y), "since": s.day(0, 900)} for x,
                      y in zip(r.choices(cid, k=900), r.choices(cid, k=900))], "a", "b")
    s.ref("""
        zones:exits[] zones:_id
        npcs:zone zones:_id
        npcs:loot[].item item_templates:_id
        quests:giver npcs:_id
        quests:needs[] quests:_id
        quests:kill[].npc npcs:_id
        quests:reward_items[] item_templates:_id
        characters:account accounts:_id
        characters:zone zones:_id
        characters:guild guilds:_id
        characters:bags.* item_templates:_id
        characters:quests[].q quests:_id
        guilds:leader characters:_id
        auctions:seller characters:_id
        auctions:item_id item_templates:_id
        auctions:bids[].by characters:_id
        mails:sender.id npcs:_id
        mails:sender.id characters:_id
        mails:recipient characters:_id
        mails:attachments[].tpl item_templates:_id
        kills:killer characters:_id
        kills:npcId npcs:_id
        kills:zoneKey zones:_id
        friends:a characters:_id
        friends:b characters:_id""")
