# SPDX-License-Identifier: Apache-2.0
"""blind_sixth.py - twelve sets of trades with naming habits of their own, written without regard to the rules."""
import datetime

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


@data_set
def callcentre(s):
    """A call centre in Hungarian notation: ids are 1, 2, 3 in every table; calls, queues, reasons, shifts."""
    r = s.r
    s.put("tbl_Sites", [{"_id": i, "sSiteName": s.title(1), "sCity": r.choice(CITY)} for i in range(1, 7)])
    s.put("tbl_Skills", [{"_id": i, "sSkillName": s.title(1), "bActive": r.random() < .9} for i in range(1, 23)])
    s.put("tbl_Queues", [{"_id": i, "sQueueName": s.title(2), "nSkillId": r.randint(1, 22),
                          "nOverflowQueueId": s.maybe(.3, r.randint(1, 18)), "nServiceLevelSec": r.choice([20, 30, 60])}
                         for i in range(1, 19)])
    s.put("tbl_Reasons", [{"_id": i, "sReason": s.title(2), "nParentReasonId": NO if i < 9 else r.randint(1, i - 1)}
                          for i in range(1, 75)])
    agents = list(range(1, 241))
    s.put("tbl_Agents", [{"_id": i, "sLogin": "%s%03d" % (r.choice(LAST)[:4].lower(), i), "sFullName": s.person(),
                          "nSiteId": r.randint(1, 6), "nTeamLeadId": NO if i < 12 else r.randint(1, 11),
                          "anSkillIds": s.few(range(1, 23), 1, 5), "dtHired": s.day(-900, 900)} for i in agents],
          "!sLogin", "nSiteId")
    s.put("tbl_Customers", [{"_id": i, "sPhone": "+43%09d" % r.randrange(10**9), "sName": s.person(),
                             "nTier": r.randint(1, 3)} for i in range(1, 3001)], "sPhone")
    calls = [{"_id": i,
              "dtStart": s.day(900,
                               1000),
              "nAgentId": s.skew(agents,
                                 1.2),
              "nQueueId": 1 + int( 18 * r.random() ** 1.5),
              "nCustomerId": s.maybe(.85,
                                     r.randint(1,
                                               3000)),
              "nReasonId": s.maybe( .9,
                                    r.randint(1,
                                              74)),
              "nTransferredToAgentId": s.maybe(.08,
                                               r.choice(agents)),
              "nWaitSec": r.randint(0,
                                    300),
              "nTalkSec": r.randint(10,
                                    1500),
              "bAbandoned": r.random() < .06} for i in range(1,
                                                             9001)]
    s.put("tbl_Calls", calls, "nAgentId,dtStart", "nCustomerId")
    s.put("tbl_Callbacks", [{"_id": i, "nCallId": c["_id"], "dtDue": s.day(950, 1010), "nAssignedAgentId": s.maybe(
        .7, r.choice(agents)), "sNote": s.words(2, 6)} for i, c in enumerate(r.sample(calls, 700), 1)], "nCallId")
    s.put("tbl_Surveys", [{"_id": i, "nCallId": c["_id"] if r.random() > .02 else 9000 + r.randint(1, 200),
                           "nScore": r.randint(1, 10), "sComment": s.maybe(.3, s.words(3, 9))}
                          for i, c in enumerate(r.sample(calls, 1800), 1)])
    s.put("tbl_Shifts", [{"_id": i, "nAgentId": r.choice(agents), "dtFrom": s.day(900, 1000), "nHours": r.choice(
        [4, 6, 8])} for i in range(1, 4801)], "nAgentId")
    s.ref("""
        tbl_Queues:nSkillId tbl_Skills:_id
        tbl_Queues:nOverflowQueueId tbl_Queues:_id
        tbl_Reasons:nParentReasonId tbl_Reasons:_id
        tbl_Agents:nSiteId tbl_Sites:_id
        tbl_Agents:nTeamLeadId tbl_Agents:_id
        tbl_Agents:anSkillIds[] tbl_Skills:_id
        tbl_Calls:nAgentId tbl_Agents:_id
        tbl_Calls:nQueueId tbl_Queues:_id
        tbl_Calls:nCustomerId tbl_Customers:_id
        tbl_Calls:nReasonId tbl_Reasons:_id
        tbl_Calls:nTransferredToAgentId tbl_Agents:_id
        tbl_Callbacks:nCallId tbl_Calls:_id
        tbl_Callbacks:nAssignedAgentId tbl_Agents:_id
        tbl_Surveys:nCallId tbl_Calls:_id
        tbl_Shifts:nAgentId tbl_Agents:_id""")


@data_set
def chess(s):
    """Chess: players by FIDE id, games name them by colour, openings by ECO code, pairings in rounds of an event."""
    r = s.r
    s.put("federation", [{"_id": a + b, "name": s.title(1), "zone": "%d.%d" % (r.randint(1, 4), r.randint(1, 9))}
                         for a, b in zip(COUNTRY, LETTERS * 3)])
    feds = [d["_id"] for d in s.docs["federation"]]
    fide = r.sample(range(1000000, 25000000), 1500)
    s.put("player", [{"_id": s.oid(), "fideId": f, "name": s.person(), "fed": s.skew(feds), "title": s.maybe(
        .2, r.choice(["GM", "IM", "FM", "WGM"])), "rating": {"std": r.randint(1400, 2750), "rapid": r.randint(
            1400, 2750)}, "born": r.randint(1940, 2010)} for f in fide], "!fideId")
    ecos = ["%s%02d" % (a, n) for a in "ABCDE" for n in range(100)]
    s.put("opening", [{"_id": e, "name": s.title(2), "moves": "1.e4 " + s.words(2)} for e in ecos])
    clubs = [{"_id": s.oid(), "short": "SK" + c[:4].upper(), "name": "SK " + c, "president": r.choice(fide)}
             for c in CITY]
    s.put("club", clubs)
    s.put("membership", [{"_id": {"club": r.choice(clubs)["_id"], "player": f}, "since": r.randint(1990, 2020)}
                         for f in fide[:1200]])
    arb = r.sample(fide, 60)
    events, games, seen = [], [], 0
    for i in range(48):
        field = s.few(fide, 16, 40)
        ev = {
            "_id": "%d-%s-open" %
            (2015 +
             i %
             6,
             s.words(1) +
             str(i)),
            "city": r.choice(CITY),
            "chiefArbiter": r.choice( arb),
            "deputies": s.few(
                arb,
                0,
                2),
            "hostClub": r.choice(clubs)["_id"],
            "standings": [
                {
                    "rank": k,
                    "player": f,
                    "points": r.randint(
                        0,
                        14) /
                    2} for k,
                f in enumerate(
                    field,
                    1)],
            "rounds": []}
        for n in range(1, 8):
            order = r.sample(field, len(field))
            pairs = []
            for w, b in zip(order[::2], order[1::2]):
                seen += 1
                games.append({"_id": s.oid(), "event": ev["_id"], "round": n, "white": w, "black": b, "eco": s.skew(
                    ecos), "result": r.choice(["1-0", "0-1", "1/2"]), "plies": r.randint(20, 180)})
                pairs.append({"board": len(pairs) + 1, "game": games[-1]["_id"]})
            ev["rounds"].append({"no": n, "pairings": pairs})
        events.append(ev)
    s.put("event", events)
    s.put("game", games, "event,round", "white", "black")
    s.put("comment", [{"_id": s.oid(), "game": s.skew(games)["_id"], "ply": r.randint(1, 80), "by": r.choice(fide),
                       "text": s.words(4, 15), "replyTo": NO} for _ in range(2100)], "game")
    for i, d in enumerate(s.docs["comment"]):
        if i > 50 and r.random() < .3:
            d["replyTo"] = r.choice(s.docs["comment"][:i])["_id"]
    s.ref("""
        player:fed federation:_id
        club:president player:fideId
        membership:_id.club club:_id
        membership:_id.player player:fideId
        event:chiefArbiter player:fideId
        event:deputies[] player:fideId
        event:hostClub club:_id
        event:standings[].player player:fideId
        event:rounds[].pairings[].game game:_id
        game:event event:_id
        game:white player:fideId
        game:black player:fideId
        game:eco opening:_id
        comment:game game:_id
        comment:by player:fideId
        comment:replyTo comment:_id""")


@data_set
def fazenda(s):
    """Farms in Portuguese: fields, seasons by year, inputs by registration, harvests; ids of ObjectIds as text."""
    r = s.r
    produtores = [{"_id": s.oid(), "cpf": "%011d" % r.randrange(10**10, 10**11), "nome": s.person(), "municipio":
                   r.choice(CITY)} for _ in range(260)]
    s.put("produtores", produtores, "!cpf")
    s.put("culturas", [{"_id": c, "nome": s.title(1), "ciclo_dias": r.randint(80, 200)} for c in (
        "SOJA", "MILHO", "ALGODAO", "CAFE", "CANA", "FEIJAO", "TRIGO", "SORGO")])
    cult = [d["_id"] for d in s.docs["culturas"]]
    faz = [{"_id": s.oid(), "nome": "Fazenda " + s.title(1), "proprietario": p["cpf"], "area_ha": r.randint(40, 5000),
            "arrendatarios": [x["cpf"] for x in s.few(produtores, 0, 2)]} for p in produtores for _ in range(
                r.choice([1, 1, 2]))]
    s.put("fazendas", faz, "proprietario")
    talhoes = [{"_id": s.oid(), "fazenda_id": str_id(f["_id"]), "codigo": "T%02d" % n, "hectares": r.randint(5, 200),
                "solo": r.choice(["argiloso", "arenoso", "misto"])} for f in faz for n in range(1, r.randint(3, 9))]
    s.put("talhoes", talhoes, "fazenda_id,codigo")
    safras = ["%d/%02d" % (y, (y + 1) % 100) for y in range(2012, 2022)]
    s.put("safras", [{"_id": x, "inicio": s.day(0, 900), "encerrada": True} for x in safras])
    plantios = [{"_id": s.oid(), "talhao": str_id(t["_id"]), "safra": x, "cultura": s.skew(cult), "data_plantio": s.day(
        500, 900), "populacao": 1000 * r.randint(50, 350)} for t in talhoes for x in s.few(safras, 1, 4)]
    s.put("plantios", plantios, "talhao,safra")
    ins = [{"_id": r.randrange(10000, 99999) + 100000 * i, "nome_comercial": s.title(2), "classe": r.choice(
        ["herbicida", "fungicida", "adubo"]), "fabricante": s.title(1)} for i in range(1, 141)]
    s.put("insumos", ins)
    maq = ["TR-%02d" % i for i in range(1, 31)] + ["CO-%02d" % i for i in range(1, 13)]
    s.put("maquinas", [{"_id": m, "modelo": s.title(1), "ano": r.randint(1998, 2020)} for m in maq])
    s.put("aplicacoes", [{"_id": s.oid(), "plantio": p["_id"], "data": s.day(600, 1000), "itens": [
        {"registro": i["_id"], "dose_l_ha": r.randint(1, 90) / 10} for i in s.few(ins, 1, 4)], "operador": s.person(),
        "maquina": r.choice(maq)} for p in plantios for _ in range(r.randint(0, 3))], "plantio")
    s.put("colheitas", [{"_id": p["_id"], "sacas": r.randint(500, 20000), "umidade": r.randint(110, 180) / 10,
                         "colhedora": r.choice(maq[30:])} for p in plantios if r.random() < .9])
    s.put("contratos_venda", [{"_id": "CV%05d" % i, "vendedor": r.choice(produtores)["cpf"] if r.random() > .05 else
                               "%011d" % r.randrange(10**10, 10**11), "cultura": s.skew(cult),
                                   "safra": r.choice(safras),
                               "preco_saca": Cents(r.randint(5000, 18000))} for i in range(900)], "vendedor")
    s.ref("""
        fazendas:proprietario produtores:cpf
        fazendas:arrendatarios[] produtores:cpf
        talhoes:fazenda_id fazendas:_id
        plantios:talhao talhoes:_id
        plantios:safra safras:_id
        plantios:cultura culturas:_id
        aplicacoes:plantio plantios:_id
        aplicacoes:itens[].registro insumos:_id
        aplicacoes:maquina maquinas:_id
        colheitas:_id plantios:_id
        colheitas:colhedora maquinas:_id
        contratos_venda:vendedor produtores:cpf
        contratos_venda:cultura culturas:_id
        contratos_venda:safra safras:_id""")
    s.allow("""
        aplicacoes:plantio colheitas:_id""")


@data_set
def gakkou(s):
    """A Japanese school, romanised: pupils by number, classes by year and letter, a timetable, marks, club rooms."""
    r = s.r
    kyoka = [("KOK", "Kokugo"), ("SUG", "Suugaku"), ("EIG", "Eigo"), ("RIK", "Rika"), ("SHA", "Shakai"),
             ("TAI", "Taiiku"), ("ONG", "Ongaku"), ("BIJ", "Bijutsu"), ("GIJ", "Gijutsu"), ("JOH", "Jouhou")]
    s.put("kyoka", [{"_id": a, "namae": b, "tani": r.randint(1, 5)} for a, b in kyoka])
    kamoku = [a for a, _ in kyoka]
    sensei = [1001 + 7 * i for i in range(52)]
    s.put("sensei", [{"_id": n, "shimei": s.person(), "tantou": s.few(kamoku, 1, 2), "nyuusha": r.randint(1985, 2020)}
                     for n in sensei])
    kyoushitsu = ["%d%02d" % (f, n) for f in (1, 2, 3, 4) for n in range(1, 13)]
    s.put("kyoushitsu", [{"_id": k, "teiin": r.choice([20, 36, 40])} for k in kyoushitsu])
    kumi = ["%d-%s" % (y, c) for y in (1, 2, 3) for c in "ABCDEF"]
    s.put("gakkyuu", [{"_id": k, "tannin": t, "fukutannin": s.maybe(.5, r.choice(sensei)), "heya": h}
                      for k, t, h in zip(kumi, r.sample(sensei, 18), r.sample(kyoushitsu, 18))])
    seito = [{"_id": "%02d%04d" % (18 + i // 240, 1 + i % 240), "shimei": s.person(), "kumi": kumi[i // 40],
              "shusseki_bangou": 1 + i % 40, "hogosha": {"namae": s.person(), "denwa": "090%08d" % r.randrange(10**8)}}
             for i in range(720)]
    s.put("seito", seito, "kumi,shusseki_bangou")
    s.put("jikanwari", [{"_id": {"kumi": k, "youbi": y, "jigen": j}, "kyoka": r.choice(kamoku), "sensei": r.choice(
        sensei), "kyoushitsu": r.choice(kyoushitsu)} for k in kumi for y in "月火水木金" for j in range(1, 7)])
    bukatsu = [{"_id": s.oid(), "namae": s.title(1) + "-bu", "komon": r.choice(sensei),
        "buchou": r.choice(seito)["_id"],
                "buin": [x["_id"] for x in s.few(seito, 8, 30)], "basho": s.maybe(.8, r.choice(kyoushitsu))}
               for _ in range(28)]
    s.put("bukatsu", bukatsu)
    s.put("seiseki", [{"_id": s.oid(), "seito": x["_id"], "kyoka": k, "gakki": g, "tensuu": r.randint(20, 100),
                       "hyoutei": r.randint(1, 5)} for x in seito for k in kamoku for g in (1, 2)], "seito,gakki")
    s.put("kesseki", [{"_id": s.oid(), "seito": s.skew(seito)["_id"] if r.random() > .03 else "17%04d" % r.randint(
        1, 240), "hizuke": s.day(800, 1000), "riyuu": r.choice(["byouki", "kibiki", "chikoku"])} for _ in range(2400)])
    hon = [s.oid() for _ in range(1400)]
    s.put("tosho", [{"_id": h, "daimei": s.title(2, 4), "chosha": s.person()} for h in hon])
    s.put("kashidashi", [{"_id": s.oid(), "tosho": r.choice(hon), "karita": s.skew(seito)["_id"], "kashita_bi": s.day(
        700, 1000), "henkyaku_bi": s.maybe(.9, s.day(800, 1100))} for _ in range(3300)], "tosho", "karita")
    s.ref("""
        sensei:tantou[] kyoka:_id
        gakkyuu:tannin sensei:_id
        gakkyuu:fukutannin sensei:_id
        gakkyuu:heya kyoushitsu:_id
        seito:kumi gakkyuu:_id
        jikanwari:_id.kumi gakkyuu:_id
        jikanwari:kyoka kyoka:_id
        jikanwari:sensei sensei:_id
        jikanwari:kyoushitsu kyoushitsu:_id
        bukatsu:komon sensei:_id
        bukatsu:buchou seito:_id
        bukatsu:buin[] seito:_id
        bukatsu:basho kyoushitsu:_id
        seiseki:seito seito:_id
        seiseki:kyoka kyoka:_id
        kesseki:seito seito:_id
        kashidashi:tosho tosho:_id
        kashidashi:karita seito:_id""")


@data_set
def siniestros(s):
    """Insurance claims in Spanish: policies by number, parties in arrays, DBRefs to papers, states with a history."""
    r = s.r
    ramos = ["AUT", "HOG", "VID", "COM", "SAL", "MAS"]
    s.put("ramo", [{"_id": x, "descripcion": s.title(1)} for x in ramos])
    med = ["M%04d" % (17 * i) for i in range(1, 66)]
    s.put("mediador", [{"_id": m, "razon_social": s.title(2), "comision": r.randint(5, 20)} for m in med])
    per = [{"_id": s.oid(), "nif": "%08d%s" % (r.randrange(10**8), r.choice(LETTERS)), "nombre": s.person(), "email":
            s.maybe(.7, "%s%d@correo.example" % (s.words(1), i))} for i in range(2400)]
    s.put("persona", per, "!nif")
    nif = [p["nif"] for p in per]
    pol = [{"_id": s.oid(), "num_poliza": "%s%09d" % (x, r.randrange(10**9)), "cod_ramo": x, "tomador": s.skew(nif,
        1.2),
            "asegurados": s.few(nif, 1, 3), "cod_mediador": s.skew(med), "fec_efecto": s.day(0, 900),
            "prima": Cents(r.randint(9000, 250000)), "anulada": r.random() < .1} for x in r.choices(ramos, k=3000)]
    s.put("poliza", pol, "!num_poliza", "tomador")
    per_i = [s.oid() for _ in range(40)]
    s.put("perito", [{"_id": x, "nombre": s.person(), "num_colegiado": r.randrange(1000, 99999)} for x in per_i])
    tal = [s.oid() for _ in range(120)]
    s.put("taller", [{"_id": x, "nombre": s.title(2), "concertado": r.random() < .6} for x in tal])
    docs = [s.oid() for _ in range(3800)]
    est = ["ABI", "PER", "VAL", "PAG", "CER", "REH"]
    s.put("estado_siniestro", [{"_id": e, "descripcion": s.title(1)} for e in est])
    sin = []
    for i in range(2600):
        p = r.choice(pol)
        sin.append({"_id": Long(20210000001 + i), "poliza": p["num_poliza"] if r.random() > .01 else "XXX000000000",
                    "fec_ocurrencia": s.day(300, 1000), "estado": r.choice(est), "perito_id": s.maybe(.6,
                        r.choice(per_i)),
                    "taller_id": s.maybe(.4, s.skew(tal)) if p["cod_ramo"] == "AUT" else NO,
                    "historico": [{"estado": e, "fecha": s.day(900, 1000)} for e in est[:r.randint(1, 5)]],
                    "contrario": s.maybe(.2, {"nif": r.choice(nif), "matricula": "%04d%s" % (r.randrange(10**4),
                        "BCD")}),
                    "reserva": Cents(r.randint(0, 900000)),
                        "siniestro_vinculado": NO if i < 100 or r.random() > .03 else
                    Long(20210000001 + r.randrange(i)), "adjuntos": [{"$ref": "documento", "$id": d}
                                                                     for d in s.few(docs, 0, 3)]})
    s.put("siniestro", sin, "poliza", "estado")
    s.put("documento", [{"_id": d, "nombre": s.words(1) + ".pdf", "bytes": r.randint(10**4, 10**6)} for d in docs])
    s.put("pago", [{"_id": s.oid(), "num_siniestro": s.skew(sin)["_id"], "beneficiario": r.choice(nif),
        "importe": Cents(
        r.randint(1000, 500000)), "fec_pago": s.day(900, 1000), "tipo": r.choice(["IND", "REP", "HON"])}
        for _ in range(3900)], "num_siniestro")
    s.ref("""
        poliza:cod_ramo ramo:_id
        poliza:tomador persona:nif
        poliza:asegurados[] persona:nif
        poliza:cod_mediador mediador:_id
        siniestro:poliza poliza:num_poliza
        siniestro:estado estado_siniestro:_id
        siniestro:historico[].estado estado_siniestro:_id
        siniestro:perito_id perito:_id
        siniestro:taller_id taller:_id
        siniestro:contrario.nif persona:nif
        siniestro:siniestro_vinculado siniestro:_id
        siniestro:adjuntos[].$id documento:_id
        pago:num_siniestro siniestro:_id
        pago:beneficiario persona:nif""")


@data_set
def gridops(s):
    """A power grid in PascalCase: GUIDs as binary, a network of nodes and lines, meters as a time series, outages."""
    r = s.r
    regions = [s.uuid() for _ in range(9)]
    s.put("Region", [{"_id": x, "RegionName": s.title(1), "ControlCenter": r.choice(CITY)} for x in regions])
    subs = [s.uuid() for _ in range(140)]
    s.put("Substation", [{"_id": x, "SubstationCode": "SS%03d" % i, "RegionGuid": r.choice(regions),
        "VoltageKv": r.choice(
        [110, 220, 380]), "Commissioned": r.randint(1955, 2020)} for i, x in enumerate(subs)], "!SubstationCode")
    codes = ["SS%03d" % i for i in range(140)]
    lines = [s.uuid() for _ in range(310)]
    s.put("Line", [{"_id": x, "FromSubstationGuid": a, "ToSubstationGuid": b, "LengthKm": round(r.uniform(2, 90), 1),
                    "Circuit": r.randint(1, 2)} for x in lines for a, b in [r.sample(subs, 2)]])
    trafo = [s.uuid() for _ in range(420)]
    s.put("Transformer", [{"_id": t, "Substation": s.skew(codes, 1.1), "RatedMva": r.choice(
        [25, 40, 63]), "SerialNumber": "T%07d" % r.randrange(10**7)} for t in trafo])
    feeders = [s.uuid() for _ in range(900)]
    s.put("Feeder", [{"_id": f, "TransformerGuid": r.choice(trafo), "FeederNo": r.randint(
        1, 12), "Customers": r.randint( 10, 900)} for f in feeders], "TransformerGuid")
    crew = list(range(101, 137))
    s.put("Crew", [{"_id": c, "LeadName": s.person(), "HomeSubstation": r.choice(codes)} for c in crew])
    outs, assets = [], [("Line", lines), ("Transformer", trafo), ("Feeder", feeders)]
    for i in range(1500):
        k, z = r.choice(assets)
        outs.append({"_id": s.uuid(), "AssetType": k, "AssetGuid": r.choice(z), "StartUtc": s.day(500, 1000), "Minutes":
                     r.randint(1, 900), "CauseCode": r.choice(["TREE", "ANIMAL", "STORM", "AGE"]), "CrewIds": s.few(
                         crew, 1, 3), "SwitchedBy": r.choice(crew)})
    s.put("Outage", outs, "StartUtc", "AssetGuid")
    s.put(
        "CustomerImpact", [
            {
                "_id": s.oid(), "OutageGuid": str(
                    o["_id"]), "FeederGuid": str(
                    r.choice(feeders)), "Affected": r.randint(
                        1, 900)} for o in outs for _ in range(
                            r.randint(
                                1, 4))], "OutageGuid")
    when = datetime.datetime(2021, 3, 1)
    s.put("Telemetry", [{"_id": s.oid(), "TransformerGuid": t, "Ts": when + datetime.timedelta(minutes=10 * i),
                         "LoadMva": round(r.uniform(1, 60), 2), "OilC": round(r.uniform(20, 85), 1)}
                        for i in range(160) for t in trafo[:40]], "TransformerGuid,Ts")
    s.more["timeSeries"] = [{"ns": "gridops.Telemetry", "time": "Ts", "series": "TransformerGuid", "count": 40,
                             "stepSeconds": 600}]
    s.ref("""
        Substation:RegionGuid Region:_id
        Line:FromSubstationGuid Substation:_id
        Line:ToSubstationGuid Substation:_id
        Transformer:Substation Substation:SubstationCode
        Feeder:TransformerGuid Transformer:_id
        Crew:HomeSubstation Substation:SubstationCode
        Outage:AssetGuid Line:_id
        Outage:AssetGuid Transformer:_id
        Outage:AssetGuid Feeder:_id
        Outage:CrewIds[] Crew:_id
        Outage:SwitchedBy Crew:_id
        CustomerImpact:OutageGuid Outage:_id
        CustomerImpact:FeederGuid Feeder:_id
        Telemetry:TransformerGuid Transformer:_id""")


@data_set
def genealogie(s):
    """A family tree from GEDCOM in French: persons @I1@, families @F1@, sources and notes, children in lists."""
    r = s.r
    places = [s.oid() for _ in range(160)]
    s.put("lieux", [{"_id": p, "nom": r.choice(CITY) + " " + s.words(1), "dept": "%02d" % r.randint(1, 95)}
                    for p in places])
    src = ["@S%d@" % i for i in range(1, 120)]
    depots = ["@R%d@" % i for i in range(1, 15)]
    s.put("depots", [{"_id": d, "nom": "Archives " + r.choice(CITY)} for d in depots])
    s.put("sources", [{"_id": x, "titre": s.title(3), "depot": r.choice(depots), "cote": "%dE%d" % (r.randint(1, 9),
                                                                                                    r.randint(1, 900))}
                      for x in src])
    people, fams = [], []
    for i in range(1, 3201):
        people.append({"_id": "@I%d@" % i, "prenom": r.choice(FIRST), "nom": r.choice(LAST), "sexe": r.choice("MF"),
                       "naissance": {"annee": 1600 + i // 9, "lieu": s.maybe(.8, s.skew(places)), "sources": s.few(
                           src, 0, 2)}, "deces": s.maybe(.6, {"annee": 1660 + i // 9, "lieu": r.choice(places)}),
                       "conjoint_dans": []})
    for i in range(1, 1101):
        lo = 2 * i
        m, f = r.sample(people[lo:lo + 60], 2)
        kids = s.few(people[min(3140, lo + 150):lo + 260] or people[3000:], 0, 6)
        fam = {"_id": "@F%d@" % i, "mari": m["_id"], "femme": s.maybe(.95, f["_id"]), "enfants": [], "mariage": s.maybe(
            .7, {"annee": 1620 + lo // 9, "lieu": s.skew(places), "temoins": [x["_id"] for x in s.few(
                people[lo:lo + 90], 0, 3)]})}
        for k in kids:
            if "famille" not in k:
                k["famille"] = fam["_id"]
                fam["enfants"].append(k["_id"])
        for x in (m, f)[:1 if fam["femme"] is NO else 2]:
            x["conjoint_dans"].append(fam["_id"])
        fams.append(fam)
    for k in r.sample([p for p in people if "famille" in p], 30):
        k["famille"] = r.choice(fams)["_id"]
    s.put("individus", people, "nom,prenom", "famille")
    s.put("familles", fams, "mari", "femme")
    s.put("notes", [{"_id": "@N%d@" % i, "sur": r.choice(r.choice([people, fams]))["_id"], "texte": s.words(5, 30),
                     "auteur": r.choice(["marie", "jean", "luc"])} for i in range(1, 800)])
    s.put("medias", [{"_id": s.oid(), "fichier": "photo_%04d.jpg" % i, "personnes": [p["_id"] for p in s.few(
        people, 1, 5)], "lieu": s.maybe(.3, str_id(r.choice(places)))} for i in range(420)], "personnes")
    s.ref("""
        sources:depot depots:_id
        individus:naissance.lieu lieux:_id
        individus:naissance.sources[] sources:_id
        individus:deces.lieu lieux:_id
        individus:famille familles:_id
        individus:conjoint_dans[] familles:_id
        familles:mari individus:_id
        familles:femme individus:_id
        familles:enfants[] individus:_id
        familles:mariage.lieu lieux:_id
        familles:mariage.temoins[] individus:_id
        notes:sur individus:_id
        notes:sur familles:_id
        medias:personnes[] individus:_id
        medias:lieu lieux:_id""")
    s.two_way("familles", "enfants[]", "individus", "famille")
    s.rules_allowed.append({"rule": "two-way-disagrees", "ns": "genealogie.familles"})


@data_set
def mobilegame(s):
    """A mobile game: uid in text, bags as maps by item, guilds by tag, friend lists, purchases, daily ranks."""
    r = s.r
    items = ["%s_%s_%d" % (r.choice(["sword", "shield", "potion", "gem"]), w, i) for i, w in enumerate(WORD[:90])]
    s.put("item_defs", [{"_id": i, "rarity": r.randint(1, 5), "maxStack": r.choice([1, 20, 99])} for i in items])
    heroes = list(range(10001, 10064))
    s.put("hero_defs", [{"_id": h, "cls": r.choice(["tank", "mage"]), "unlockItem": s.maybe(.6, r.choice(items))}
                        for h in heroes])
    uid = ["u" + "".join(r.choices("0123456789abcdefghijkmnpqrstuvwxyz", k=11)) for _ in range(2600)]
    tags = ["#" + "".join(r.choices("0289CGJLPQRUVY", k=7)) for _ in range(130)]
    s.put("clans", [{"_id": t, "name": s.title(2), "leader": r.choice(uid), "elders": s.few(uid, 0, 6), "trophies":
                     r.randint(0, 50000)} for t in tags])
    s.put("players", [{"_id": u, "nick": s.words(1) + str(i), "clan": s.maybe(.6, s.skew(tags)), "bag": {
        x: r.randint(1, 40) for x in s.few(items, 0, 9)}, "heroes": [{"hid": h, "lvl": r.randint(1, 60), "gear": s.few(
            items, 0, 3)} for h in s.few(heroes, 1, 7)], "friends": s.few(uid, 0, 8), "gold": Long(r.randint(0, 10**6)),
        "referrer": s.maybe(.15, r.choice(uid[:i] or uid))} for i, u in enumerate(uid)], "clan")
    s.maps.add("players:bag")
    s.put("battles", [{"_id": s.oid(), "attacker": {"uid": s.skew(uid, 1.3), "team": s.few(heroes, 3, 3)}, "defender": {
        "uid": r.choice(uid), "team": s.few(heroes, 3, 3)}, "stars": r.randint(0, 3), "ts": Long(
            1600000000000 + r.randrange(10**10)), "loot": s.maybe(.5, {"item": s.skew(items), "n": r.randint(1, 3)})}
        for _ in range(7000)], "attacker.uid,ts")
    skus = ["com.game.pack%d" % i for i in range(1, 26)]
    s.put("store_skus", [{"_id": s.oid(), "sku": k, "usd": Cents(99 * i), "gives": [{"item": x, "n": r.randint(1, 50)}
                                                                                    for x in s.few(items, 1, 3)]}
                         for i, k in enumerate(skus, 1)], "!sku")
    s.put("purchases", [{"_id": "GPA.%04d-%04d-%04d" % tuple(r.randrange(10**4) for _ in range(3)), "uid": s.skew(uid),
                         "sku": s.skew(skus), "at": s.day(800, 1000), "refunded": r.random() < .02}
                        for _ in range(2200)], "uid")
    s.put("gifts", [{"_id": s.oid(), "from_uid": r.choice(uid), "to_uid": r.choice(uid) if r.random() > .12 else "u" +
                     "".join(r.choices("0123456789abc", k=11)), "item_id": s.skew(items), "claimed": r.random() < .8}
                    for _ in range(3000)], "to_uid")
    s.put("mail", [{"_id": s.oid(), "uid": r.choice(uid), "subject": s.title(2), "attach": [
          {"id": x, "cnt": 1} for x in s.few(items, 0, 2)]} for _ in range(4100)], "uid")
    s.ref("""
        hero_defs:unlockItem item_defs:_id
        clans:leader players:_id
        clans:elders[] players:_id
        players:clan clans:_id
        players:bag.* item_defs:_id
        players:heroes[].hid hero_defs:_id
        players:heroes[].gear[] item_defs:_id
        players:friends[] players:_id
        players:referrer players:_id
        battles:attacker.uid players:_id
        battles:attacker.team[] hero_defs:_id
        battles:defender.uid players:_id
        battles:defender.team[] hero_defs:_id
        battles:loot.item item_defs:_id
        store_skus:gives[].item item_defs:_id
        purchases:uid players:_id
        purchases:sku store_skus:sku
        gifts:from_uid players:_id
        gifts:to_uid players:_id
        gifts:item_id item_defs:_id
        mail:uid players:_id
        mail:attach[].id item_defs:_id""")


@data_set
def pms(s):
    """Hotels in kebab-case: a room is a property and a number; confirmations in text, folios, rates, guests."""
    r = s.r
    props = ["%s%s" % (c[:3].upper(), n) for c in CITY[:14] for n in ("1", "2")]
    s.put("property", [{"_id": p, "city": r.choice(CITY), "stars": r.randint(2, 5), "brand": r.choice(["in", "ho"])}
                       for p in props])
    types = ["SGL", "DBL", "TWN", "STE", "FAM", "ACC"]
    s.put("room-type", [{"_id": s.oid(), "code": t, "max-guests": i} for i, t in enumerate(types, 1)], "!code")
    rooms = [{"_id": s.oid(), "prop": p, "room-no": "%d%02d" % (f, n), "room-type": s.skew(types), "floor": f}
             for p in props for f in range(1, 5) for n in range(1, r.randint(8, 14))]
    s.put("room", rooms, "!prop,room-no")
    prof = [Long(50000000 + 31 * i) for i in range(2800)]
    s.put("guest-profile", [{"_id": s.oid(), "profile-no": n, "full-name": s.person(), "nationality": r.choice(COUNTRY),
                             "vip": s.maybe(.05, r.randint(1, 3)), "merged-into": s.maybe(.02, r.choice(prof))}
                            for n in prof], "!profile-no")
    comp = [s.oid() for _ in range(95)]
    s.put("company", [{"_id": c, "name": s.title(2) + " Ltd", "credit": r.random() < .5} for c in comp])
    rates = ["BAR", "CORP", "AAA", "PKG1", "PKG2", "GOV", "OTA", "LONG"]
    s.put("rate-plan", [{"_id": x, "text": s.title(2), "refundable": r.random() < .5} for x in rates])
    res = []
    for i in range(5200):
        rm = r.choice(rooms)
        res.append({"_id": s.oid(), "conf-no": "%s%07d" % (r.choice(LETTERS), 100003 + 7 * i), "prop": rm["prop"],
                    "room-no": s.maybe(.85, rm["room-no"]), "type": rm["room-type"], "rate": s.skew(rates), "booker":
                    s.skew(prof, 1.3), "sharers": s.few(prof, 0, 2), "company": s.maybe(.3, s.skew(comp)),
                    "arrive": s.day(700, 1000), "nights": r.randint(1, 9)})
    s.put("reservation", res, "!conf-no", "booker", "prop,room-no")
    fol = [{"_id": 700001 + i,
            "conf-no": x["conf-no"],
            "window": 1,
            "bill-to": r.choice(comp) if r.random() < .2 else NO,
            "open": r.random() < .1} for i,
           x in enumerate(res) if r.random() < .95]
    s.put("folio", fol, "conf-no")
    trx = [1000 + 10 * i for i in range(34)]
    s.put("trx-code", [{"_id": t, "text": s.title(1), "tax": r.choice([0, 7, 19])} for t in trx])
    s.put("posting", [{"_id": s.oid(), "folio": s.skew(fol, 1.1)["_id"], "trx": s.skew(trx), "amount": Cents(
        r.randint(-5000, 40000)), "business-date": text_date(s.day(700, 1000))} for _ in range(13000)], "folio")
    s.put("housekeeping", [{"_id": s.oid(), "prop": x["prop"], "room-no": x["room-no"], "status": r.choice(
        ["CL", "DI", "IP", "OO"]), "maid": r.choice(FIRST)} for x in rooms if r.random() < .97], "prop,room-no")
    s.ref("""
        room:prop property:_id
        room:room-type room-type:code
        guest-profile:merged-into guest-profile:profile-no
        reservation:prop property:_id
        reservation:prop+room-no room:prop+room-no
        reservation:type room-type:code
        reservation:rate rate-plan:_id
        reservation:booker guest-profile:profile-no
        reservation:sharers[] guest-profile:profile-no
        reservation:company company:_id
        folio:conf-no reservation:conf-no
        folio:bill-to company:_id
        posting:folio folio:_id
        posting:trx trx-code:_id
        housekeeping:prop property:_id
        housekeeping:prop+room-no room:prop+room-no""")


@data_set
def newsletters(s):
    """Mail campaigns keyed by address: contacts by email in small letters, lists by slug, bounces of unknown ones."""
    r = s.r
    mails = ["%s.%s%d@%s.example" % (a.lower(), b.lower(), i, r.choice(WORD)) for i, (a, b) in enumerate(
        zip(r.choices(FIRST, k=3000), r.choices(LAST, k=3000)))]
    slugs = ["%s-%s" % (a, b) for a, b in zip(WORD[:26], WORD[30:56])]
    s.put("list", [{"_id": s.oid(), "slug": x, "title": x.replace("-", " ").title(), "ownerMail": r.choice(mails)}
                   for x in slugs], "!slug")
    s.put("contact",
          [{"_id": s.oid(),
            "email": m,
            "lists": s.few(slugs,
                           1,
                           4),
            "attr_city": s.maybe(.3,
                                 r.choice(CITY)),
            "attr_birthday": s.maybe(.2,
                                     text_date(s.day(-9000,
                                                     -5000))),
            "attr_company": s.maybe( .25,
                                     s.title(1)),
            "attr_job": s.maybe(.15,
                                s.words(1)),
            "attr_phone": s.maybe( .2,
                                   "+49%09d" % r.randrange(10**9)),
            "attr_language": s.maybe(.5,
                                     r.choice(["de",
                                               "en"])),
            "optin": s.day(0,
                           900)} for m in mails],
          "!email")
    tpl = ["tpl_%s" % w for w in r.sample(WORD, 24)]
    s.put("template", [{"_id": t, "html": "<p>%s</p>" % s.words(30, 60), "basedOn": s.maybe(.3, r.choice(tpl))}
                       for t in tpl])
    camps = [{"_id": s.oid(), "subject": s.title(4), "template": s.skew(tpl), "audience": {"include": s.few(slugs, 1,
        3),
                                                                                           "exclude": s.few(slugs, 0,
                                                                                               1)},
              "sentAt": s.day(600, 1000), "replyTo": r.choice(mails[:40]), "stats": {"sent": r.randint(100, 3000)}}
             for _ in range(240)]
    s.put("campaign", camps)
    links = [{"_id": "".join(r.choices("abcdefghijk0123456789", k=8)), "campaign": c["_id"],
              "url": "https://x.example/" + s.words(1)} for c in camps for _ in range(r.randint(1, 6))]
    s.put("link", links, "campaign")
    s.put("delivery", [{"_id": s.oid(), "campaign": str_id(r.choice(camps)["_id"]), "rcpt": s.skew(mails, 1.1),
        "status":
                        r.choice(["delivered", "opened", "clicked", "bounced"])} for _ in range(12000)], "campaign",
                            "rcpt")
    s.put("click", [{"_id": s.oid(), "l": s.skew(links)["_id"], "e": s.skew(mails, 1.2), "t": s.day(800, 1000)}
                    for _ in range(5000)], "l")
    s.put("suppression", [{"_id": m, "reason": r.choice(["bounce", "complaint", "manual"]), "source": s.maybe(
        .7, r.choice(camps)["_id"])} for m in r.sample(mails, 150) + ["gone%d@old.example" % i for i in range(90)]])
    s.put("segment", [{"_id": s.oid(), "name": s.title(2), "list": r.choice(slugs), "members": s.few(mails, 5, 60),
                       "createdBy": r.choice(mails[:40])} for _ in range(60)])
    s.ref("""
        list:ownerMail contact:email
        contact:lists[] list:slug
        template:basedOn template:_id
        campaign:template template:_id
        campaign:audience.include[] list:slug
        campaign:audience.exclude[] list:slug
        campaign:replyTo contact:email
        link:campaign campaign:_id
        delivery:campaign campaign:_id
        delivery:rcpt contact:email
        click:l link:_id
        click:e contact:email
        suppression:_id contact:email
        suppression:source campaign:_id
        segment:list list:slug
        segment:members[] contact:email
        segment:createdBy contact:email""")
    s.allow("""
        contact:email suppression:_id""")


@data_set
def mine(s):
    """A mine: drill holes by name, intervals by hole and depth, assays by sample number, lithology by short code."""
    r = s.r
    proj = ["NRD", "KBL", "SVR", "ELK"]
    s.put("PROJECT", [{"_id": p, "LEASE": "M%d/%d" %
                       (r.randint(10, 80), r.randint(1, 900)), "COUNTRY": r.choice(COUNTRY)} for p in proj])
    lith = ["BIF", "SHL", "GNS", "DOL", "QTZ", "BAS", "GRN", "SCH", "CLY", "LAT", "DIO", "GAB", "CHT", "UMF"]
    s.put("LITH_CODE", [{"_id": x, "DESC": s.title(2), "COLOUR": "#%06x" % r.getrandbits(24)} for x in lith])
    rigs = ["RIG%02d" % i for i in range(1, 15)]
    s.put("RIG", [{"_id": x, "CONTRACTOR": s.title(1), "TYPE": r.choice(["DD", "RC", "AC"])} for x in rigs])
    geo = sorted({a[0] + b[:3].upper() for a, b in zip(FIRST, LAST)})[:22]
    s.put("GEOLOGIST", [{"_id": g, "FULL_NAME": s.person()} for g in geo])
    holes = [{"_id": s.oid(), "HOLE_ID": "%s%s%04d" % (p, r.choice(["DD", "RC"]), i), "PROJ": p,
        "EAST": round(r.uniform(
        4e5, 5e5), 1), "NORTH": round(r.uniform(6e6, 7e6), 1), "DEPTH": r.randint(30, 600), "RIG": s.skew(rigs),
            "LOGGED_BY":
        r.choice(geo), "PARENT_HOLE": NO} for i, p in enumerate(r.choices(proj, k=620))]
    for i, h in enumerate(holes):
        if i > 60 and r.random() < .08:
            h["PARENT_HOLE"] = r.choice(holes[:i])["HOLE_ID"]
    s.put("COLLAR", holes, "!HOLE_ID", "PROJ")
    logs, samples, labs = [], [], ["ALS", "SGS", "BVL"]
    s.put("LAB", [{"_id": x, "NAME": s.title(2)} for x in labs])
    disp = [{"_id": "D%05d" % (20000 + i), "LAB": r.choice(labs), "SENT": s.day(500, 1000), "GEO": r.choice(geo)}
            for i in range(180)]
    s.put("DESPATCH", disp)
    for h in holes:
        d = 0
        for _ in range(r.randint(4, 14)):
            n = d + r.randint(1, 9)
            logs.append({"_id": {"HOLE_ID": h["HOLE_ID"], "FROM_M": d}, "TO_M": n, "LITH1": s.skew(
                lith), "LITH2": s.maybe( .3, r.choice(lith)), "WEATH": r.randint(1, 5)})
            if r.random() < .7:
                samples.append({"_id": s.oid(), "SAMPLE_NO": "S%07d" % (1000001 + 3 * len(samples)), "HOLE_ID":
                                h["HOLE_ID"], "FROM_M": d, "TO_M": n, "DESPATCH": r.choice(disp)["_id"], "DUP_OF": NO})
            d = n
    for i, x in enumerate(samples):
        if i > 30 and r.random() < .05:
            x["DUP_OF"] = samples[i - 1]["SAMPLE_NO"]
    s.put("LITHOLOGY", logs)
    s.put("SAMPLE", samples, "!SAMPLE_NO", "HOLE_ID,FROM_M", "DESPATCH")
    s.put("ASSAY", [{"_id": s.oid(),
        "SAMPLE_NO": x["SAMPLE_NO"] if r.random() > .01 else "STD%04d" % r.randrange(10**4),
                     "ELEM": e, "PPM": round(r.expovariate(.01), 2), "METHOD": r.choice(["FA50", "ICP41"])}
                    for x in samples for e in ("Au", "Fe", "Cu")], "SAMPLE_NO,ELEM")
    s.put("SURVEY", [{"_id": s.oid(), "BHID": h["HOLE_ID"], "AT": a, "AZI": r.randint(0, 359),
          "DIP": -r.randint(50, 90)} for h in holes for a in range(0, h["DEPTH"], 60)], "BHID,AT")
    s.put("BLAST", [{"_id": 4001 + i, "PROJ": r.choice(proj), "HOLES": [h["HOLE_ID"] for h in s.few(holes, 2, 9)],
                     "FIRED": s.day(800, 1000), "TONNES": r.randint(500, 9000)} for i in range(260)], "PROJ")
    s.ref("""
        COLLAR:PROJ PROJECT:_id
        COLLAR:RIG RIG:_id
        COLLAR:LOGGED_BY GEOLOGIST:_id
        COLLAR:PARENT_HOLE COLLAR:HOLE_ID
        DESPATCH:LAB LAB:_id
        DESPATCH:GEO GEOLOGIST:_id
        LITHOLOGY:_id.HOLE_ID COLLAR:HOLE_ID
        LITHOLOGY:LITH1 LITH_CODE:_id
        LITHOLOGY:LITH2 LITH_CODE:_id
        SAMPLE:HOLE_ID COLLAR:HOLE_ID
        SAMPLE:DESPATCH DESPATCH:_id
        SAMPLE:DUP_OF SAMPLE:SAMPLE_NO
        ASSAY:SAMPLE_NO SAMPLE:SAMPLE_NO
        SURVEY:BHID COLLAR:HOLE_ID
        BLAST:PROJ PROJECT:_id
        BLAST:HOLES[] COLLAR:HOLE_ID""")
    s.allow("""
        SAMPLE:HOLE_ID+FROM_M LITHOLOGY:_id.HOLE_ID+_id.FROM_M""")


@data_set
def radio(s):
    """A radio station: singular collections behind prod_, songs by ISRC, slots of a week, presenters by nick, a log."""
    r = s.r
    isrc = [
        "%s%s%02d%05d" %
        (r.choice(COUNTRY), "".join(
            r.choices(
                LETTERS, k=3)), r.randint(
            60, 99), r.randrange(
                    10**5)) for _ in range(1900)]
    artists = [s.oid() for _ in range(420)]
    s.put("prod_artist", [{"_id": a, "name": s.person(), "similar": s.few(artists, 0, 4), "country": r.choice(COUNTRY)}
                          for a in artists])
    labels = [{"_id": i, "name": s.title(2), "parentLabel": NO if i < 8 else s.maybe(.5, r.randint(1, i - 1))}
              for i in range(1, 61)]
    s.put("prod_label", labels)
    s.put("prod_song", [{"_id": x, "title": s.title(1, 3), "artist": s.skew(artists), "featuring": s.few(artists, 0, 2),
                         "label": r.randint(1, 60), "secs": r.randint(120, 400), "genre": r.choice(WORD[:12])}
                        for x in isrc], "artist")
    nicks = [a.lower() + b[0].lower() for a, b in zip(FIRST[:26], LAST[5:31])]
    s.put("prod_presenter", [{"_id": s.oid(), "nick": n, "fullName": s.person(),
          "staff": r.random() < .5} for n in nicks], "!nick")
    shows = [{"_id": s.oid(), "slug": "%s-%s" % (WORD[i], WORD[i + 40]), "host": r.choice(nicks), "cohosts": s.few(
        nicks, 0, 2), "jingle": NO} for i in range(44)]
    jing = [s.oid() for _ in range(70)]
    for x in shows:
        x["jingle"] = s.maybe(.8, r.choice(jing))
    s.put("prod_show", shows, "!slug")
    s.put("prod_jingle", [{"_id": j, "file": s.words(1) + ".wav", "secs": r.randint(3, 20)} for j in jing])
    s.put("prod_slot", [{"_id": "%s-%02d" % (d, h), "show": s.skew(shows)["slug"], "standin": s.maybe(.1,
          r.choice(nicks))} for d in ("mon", "tue", "wed", "thu", "fri", "sat", "sun") for h in range(24)])
    slots = [d["_id"] for d in s.docs["prod_slot"]]
    s.put("prod_playlist", [{"_id": s.oid(), "show": x["slug"], "week": "2021-W%02d" % w, "songs": [{"isrc": s.skew(
        isrc), "pos": k} for k in range(1, r.randint(6, 18))], "madeBy": x["host"]} for x in shows for w in s.few(
            range(1, 53), 8, 20)], "show")
    s.put("prod_airlog", [{"_id": s.oid(), "at": s.day(900, 1000), "slot": r.choice(slots), "kind": k, "ref": v}
                          for k, v in ((k, s.skew(isrc,
                              1.3) if k == "song" else str_id(r.choice(jing))) for k in r.choices(
                              ["song", "song", "song", "jingle"], k=9000))], "at", "slot")
    ads = [{"_id": 8001 + i, "client": s.title(2), "booked": [{"slot": x, "times": r.randint(1, 9)} for x in s.few(
        slots, 1, 6)], "spot": "spot_%04d.mp3" % i} for i in range(150)]
    s.put("prod_advert", ads)
    s.put("prod_request",
          [{"_id": s.oid(),
            "song": s.skew(isrc) if r.random() > .25 else "XXYYY%07d" % r.randrange(10**7),
            "listener": s.person(),
            "presenter": s.maybe(.6,
                                 r.choice(nicks)),
            "played": s.maybe( .4,
                               s.day(900,
                                     1000))} for _ in range(1300)],
          "song")
    s.ref("""
        prod_artist:similar[] prod_artist:_id
        prod_label:parentLabel prod_label:_id
        prod_song:artist prod_artist:_id
        prod_song:featuring[] prod_artist:_id
        prod_song:label prod_label:_id
        prod_show:host prod_presenter:nick
        prod_show:cohosts[] prod_presenter:nick
        prod_show:jingle prod_jingle:_id
        prod_slot:show prod_show:slug
        prod_slot:standin prod_presenter:nick
        prod_playlist:show prod_show:slug
        prod_playlist:songs[].isrc prod_song:_id
        prod_playlist:madeBy prod_presenter:nick
        prod_airlog:slot prod_slot:_id
        prod_airlog:ref prod_song:_id
        prod_airlog:ref prod_jingle:_id
        prod_advert:booked[].slot prod_slot:_id
        prod_request:song prod_song:_id
        prod_request:presenter prod_presenter:nick""")
