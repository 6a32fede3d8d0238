# SPDX-License-Identifier: Apache-2.0
"""styles.py - ways of writing a schema: languages, camelCase and snake_case, ids as text, DBRefs, lists of references,
references to several collections, keys of two fields."""
from truth import CITY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date


@data_set
def loja(s):
    """A Portuguese shop: camelCase, codes as ids, DBRefs beside plain references, a category below another."""
    r = s.r
    clientes = [{"_id": "CLI-%05d" % (i * 7 + 3), "nome": s.person(), "cidade": r.choice(CITY),
                 "email": "c%d@exemplo.pt" % i, "criadoEm": s.day(0, 900)} for i in range(420)]
    s.put("clientes", clientes, "!email")
    categorias = [{"_id": "CAT%03d" % i, "nome": s.title(1, 2),
                   "categoriaPai": "CAT%03d" % r.randrange(max(1, i // 4 + 1)) if i > 5 else NO} for i in range(60)]
    s.put("categorias", categorias)
    fornecedores = [{"_id": s.oid(), "razaoSocial": s.title(2), "pais": r.choice(["PT", "ES", "BR"])}
                    for _ in range(35)]
    s.put("fornecedores", fornecedores)
    produtos = [{"_id": "SKU-%s-%04d" % (r.choice("ABCDEF"), i), "titulo": s.title(2, 4),
                 "categoriaId": s.skew(categorias)["_id"], "fornecedor": s.skew(fornecedores)["_id"],
                 "preco": Cents(r.randint(199, 89900)), "emEstoque": r.randrange(400)} for i in range(640)]
    s.put("produtos", produtos, "categoriaId")
    vendedores = [{"_id": s.oid(), "nomeCompleto": s.person(), "matricula": 4000 + 13 * i,
                   "chefe": NO if i < 3 else 4000 + 13 * r.randrange(i)} for i in range(45)]
    s.put("vendedores", vendedores, "!matricula")
    pedidos = []
    for i in range(1900):
        pedidos.append({"_id": s.oid(), "numero": 100000 + i, "clienteId": s.skew(clientes)["_id"],
                        "vendedor": {"$ref": "vendedores", "$id": s.skew(vendedores)["_id"]},
                        "dataPedido": s.day(900, 1500), "situacao": r.choice(["aberto", "pago", "enviado"]),
                        "itens": [{"produtoSku": s.skew(produtos)["_id"], "quantidade": r.randint(1, 5),
                                   "precoUnitario": Cents(r.randint(199, 89900))} for _ in range(r.randint(1, 6))]})
    s.put("pedidos", pedidos, "!numero", "clienteId", "vendedor.$id")
    s.put("avaliacoes", [{"_id": s.oid(), "sku": s.skew(produtos)["_id"], "autor": s.skew(clientes)["_id"],
                          "nota": r.randint(1, 5), "texto": s.words(3, 20)} for _ in range(800)], "sku")
    s.put("devolucoes", [{"_id": s.oid(), "numeroPedido": s.skew(pedidos)["numero"], "motivo": s.words(2, 6)}
                         for _ in range(170)], "numeroPedido")
    s.ref("""
        categorias:categoriaPai categorias:_id
        produtos:categoriaId categorias:_id
        produtos:fornecedor fornecedores:_id
        vendedores:chefe vendedores:matricula
        pedidos:clienteId clientes:_id
        pedidos:vendedor.$id vendedores:_id
        pedidos:itens[].produtoSku produtos:_id
        avaliacoes:sku produtos:_id
        avaliacoes:autor clientes:_id
        devolucoes:numeroPedido pedidos:numero""")


@data_set
def biblioteka(s):
    """A Polish library, snake_case: running numbers from an import, loans of copies by two fields, ids in text."""
    r = s.r
    autorzy = [{"_id": i + 1, "imie": r.choice(FIRST), "nazwisko": r.choice(LAST)} for i in range(230)]
    s.put("autorzy", autorzy)
    wydawcy = [{"_id": i + 1, "nazwa": s.title(2), "miasto": r.choice(CITY)} for i in range(40)]
    s.put("wydawcy", wydawcy)
    ksiazki = [{"_id": i + 1, "tytul": s.title(2, 5), "id_wydawcy": s.skew(wydawcy)["_id"],
                "autorzy_ids": [a["_id"] for a in s.few(autorzy, 1, 3)],
                "isbn": "978%010d" % r.randrange(10**10), "rok": r.randint(1950, 2023)} for i in range(900)]
    s.put("ksiazki", ksiazki, "!isbn", "id_wydawcy")
    egzemplarze = [{"_id": s.oid(), "ksiazka_id": k["_id"], "nr_egz": n + 1, "stan": r.choice(["ok", "zly"])}
                   for k in ksiazki for n in range(r.randint(1, 4))]
    s.put("egzemplarze", egzemplarze, "!ksiazka_id,nr_egz")
    czytelnicy = [{"_id": s.oid(), "nr_karty": "K%07d" % (31 * i + 1000), "imie": r.choice(FIRST),
                   "nazwisko": r.choice(LAST), "polecony_przez": NO} for i in range(600)]
    for i in range(200, 600):
        if r.random() < .3:
            czytelnicy[i]["polecony_przez"] = czytelnicy[r.randrange(i)]["nr_karty"]
    s.put("czytelnicy", czytelnicy, "!nr_karty")
    s.put("wypozyczenia", [dict({"_id": s.oid()}, **{"ksiazka_id": e["ksiazka_id"], "nr_egz": e["nr_egz"]},
                                id_czytelnika=str_id(s.skew(czytelnicy)["_id"]), od=s.day(100, 1400),
                                do=s.maybe(.9, s.day(1400, 1500)))
                           for e in (s.skew(egzemplarze) for _ in range(2600))], "id_czytelnika")
    s.put("rezerwacje", [{"_id": s.oid(), "nr_karty": s.skew(czytelnicy)["nr_karty"],
                          "isbn": s.skew(ksiazki)["isbn"], "data": text_date(s.day(1300, 1500))}
                         for _ in range(420)])
    s.ref("""
        ksiazki:id_wydawcy wydawcy:_id
        ksiazki:autorzy_ids[] autorzy:_id
        egzemplarze:ksiazka_id ksiazki:_id
        czytelnicy:polecony_przez czytelnicy:nr_karty
        wypozyczenia:ksiazka_id+nr_egz egzemplarze:ksiazka_id+nr_egz
        wypozyczenia:id_czytelnika czytelnicy:_id
        rezerwacje:nr_karty czytelnicy:nr_karty
        rezerwacje:isbn ksiazki:isbn""")
    s.allow("wypozyczenia:ksiazka_id ksiazki:_id")


@data_set
def helpdesk(s):
    """A service with tenants: references to several collections beside a kind, watchers in lists, keys by tenant."""
    r = s.r
    tenants = [{"_id": w + str(r.randint(2, 99)), "plan": r.choice(["free", "team", "corp"])}
               for w in r.sample(WORD, 25)]
    s.put("tenants", tenants)
    agents = [{"_id": s.uuid(), "tenant": s.skew(tenants)["_id"], "displayName": s.person(),
               "managerId": NO} for _ in range(160)]
    for i in range(20, 160):
        agents[i]["managerId"] = agents[r.randrange(20)]["_id"]
    s.put("agents", agents, "tenant")
    companies = [{"_id": s.uuid(), "tenant": s.skew(tenants)["_id"], "name": s.title(2)} for _ in range(210)]
    s.put("companies", companies)
    contacts = [{"_id": s.uuid(), "tenant": s.skew(tenants)["_id"], "fullName": s.person(),
                 "companyId": s.maybe(.8, s.skew(companies)["_id"])} for _ in range(700)]
    s.put("contacts", contacts)
    tickets, numbers = [], {}
    for i in range(1500):
        t = s.skew(tenants)["_id"]
        numbers[t] = numbers.get(t, 0) + 1
        kind, who = r.choice([("contact", contacts), ("company", companies)])
        tickets.append({"_id": s.oid(), "tenant": t, "number": numbers[t], "title": s.title(3, 6),
                        "requester": {"kind": kind, "id": s.skew(who)["_id"]},
                        "assignee": s.maybe(.85, s.skew(agents)["_id"]),
                        "watchers": [a["_id"] for a in s.few(agents, 0, 4)],
                        "mergedInto": NO})
    for i in range(100, 1500):
        if r.random() < .06:
            tickets[i]["mergedInto"] = tickets[r.randrange(i)]["_id"]
    s.put("tickets", tickets, "!tenant,number", "assignee")
    s.put("messages", [{"_id": s.oid(), "ticketId": s.skew(tickets)["_id"], "body": s.words(5, 40),
                        "author": s.skew(r.choice([agents, contacts]))["_id"]} for _ in range(4000)], "ticketId")
    s.put("worklog", [{"_id": s.oid(), "tenant": t["tenant"], "ticketNumber": t["number"], "minutes": r.randint(5, 240),
                       "agent": s.skew(agents)["_id"]} for t in (s.skew(tickets) for _ in range(1700))])
    s.ref("""
        agents:tenant tenants:_id
        agents:managerId agents:_id
        companies:tenant tenants:_id
        contacts:tenant tenants:_id
        contacts:companyId companies:_id
        tickets:tenant tenants:_id
        tickets:requester.id contacts:_id
        tickets:requester.id companies:_id
        tickets:assignee agents:_id
        tickets:watchers[] agents:_id
        tickets:mergedInto tickets:_id
        messages:ticketId tickets:_id
        messages:author agents:_id
        messages:author contacts:_id
        worklog:tenant+ticketNumber tickets:tenant+number
        worklog:agent agents:_id""")
    s.allow("worklog:tenant tenants:_id")


@data_set
def topluluk(s):
    """A Turkish forum: replies to replies, votes in maps by member, tags by slug, an import that left ids as text."""
    r = s.r
    uyeler = [{"_id": Long(70000 + 17 * i), "kullanici_adi": (r.choice(FIRST) + r.choice(WORD)).lower() + str(i),
               "sehir": r.choice(CITY)} for i in range(500)]
    s.put("uyeler", uyeler, "!kullanici_adi")
    etiketler = [{"_id": s.oid(), "slug": w + "-" + r.choice(WORD), "ad": w.title()} for w in r.sample(WORD, 70)]
    s.put("etiketler", etiketler, "!slug")
    bolumler = [{"_id": s.oid(), "baslik": s.title(2), "ust_bolum": NO} for _ in range(24)]
    for i in range(6, 24):
        bolumler[i]["ust_bolum"] = bolumler[r.randrange(6)]["_id"]
    s.put("bolumler", bolumler)
    konular = [{"_id": s.oid(), "baslik": s.title(3, 7), "bolum": s.skew(bolumler)["_id"],
                "acan_uye": s.skew(uyeler)["_id"], "etiketler": [e["slug"] for e in s.few(etiketler, 0, 4)],
                "tarih": s.day(200, 1400)} for _ in range(1100)]
    s.put("konular", konular, "bolum")
    mesajlar = []
    for i in range(5200):
        konu = s.skew(konular)
        mesajlar.append({"_id": s.oid(), "konu_id": str_id(konu["_id"]), "yazar": s.skew(uyeler)["_id"],
                         "yanit": s.maybe(.3, mesajlar[r.randrange(i)]["_id"]) if i > 50 else NO,
                         "metin": s.words(4, 30),
                         "oylar": {str(u["_id"]): r.choice([1, -1]) for u in s.few(uyeler, 0, 3)}})
    s.put("mesajlar", mesajlar, "konu_id", "yazar")
    s.maps.add("mesajlar:oylar")
    s.put("ozel_mesajlar", [{"_id": s.oid(), "gonderen": s.skew(uyeler)["kullanici_adi"],
                             "alici": s.skew(uyeler)["kullanici_adi"], "metin": s.words(3, 12)}
                            for _ in range(900)], "alici")
    s.put("takip", [{"_id": s.oid(), "uye": u["_id"], "konu": k["_id"]} for u, k in
                    {(a["_id"], b["_id"]): (a, b) for a, b in
                     ((s.skew(uyeler), s.skew(konular)) for _ in range(1300))}.values()], "!uye,konu")
    s.ref("""
        bolumler:ust_bolum bolumler:_id
        konular:bolum bolumler:_id
        konular:acan_uye uyeler:_id
        konular:etiketler[] etiketler:slug
        mesajlar:konu_id konular:_id
        mesajlar:yazar uyeler:_id
        mesajlar:yanit mesajlar:_id
        mesajlar:oylar.* uyeler:_id
        ozel_mesajlar:gonderen uyeler:kullanici_adi
        ozel_mesajlar:alici uyeler:kullanici_adi
        takip:uye uyeler:_id
        takip:konu konular:_id""")
