# SPDX-License-Identifier: Apache-2.0
"""blind_trades.py - courts, laboratories, registers, games and services, written without a look at the code that
finds references: as their applications write them, with numbers of systems that are not in the dump."""
import datetime
from collections import defaultdict

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, text_date


@data_set
def courts(s):
    """Federal dockets: ids of a big database, numbers of entries that start again, opinions that cite opinions."""
    r = s.r
    names = "nysd nyed cand cacd txsd ilnd flsd mad paed njd ca2 ca9 scotus ded".split()
    s.put("courts", [{"_id": c, "full_name": s.title(3), "jurisdiction": "F" if len(c) > 3 else "FD",
                      "position": round(r.random() * 500, 1), "in_use": True} for c in names])
    people = [{"_id": 40 + 23 * i + r.randrange(20), "name_first": r.choice(FIRST), "name_last": r.choice(LAST),
               "fjc_id": r.choice([None, r.randint(1, 4000)]), "court_id": r.choice(names),
               "date_dob": text_date(s.day(-25000, -15000)), "gender": r.choice("mf")} for i in range(160)]
    s.put("people", people)
    suits = [{"_id": n, "title": s.title(2)} for n in (110, 140, 190, 220, 290, 360, 365, 370, 410, 440, 442, 530,
                                                       555,
                                                       710, 791, 820, 830, 840, 863, 890, 893, 895)]
    s.put("nature_of_suit", suits)
    lawyers = [{"_id": s.oid(), "bar_no": "%s%06d" % (r.choice(["NY", "CA", "TX"]), 100213 + 37 * i),
                "name": s.person(), "firm": s.maybe(.8, s.title(2) + " LLP"),
                "phone": "212-555-%04d" % r.randrange(10**4)}
               for i in range(420)]
    s.put("attorneys", lawyers, "!bar_no")
    dockets = []
    for i in range(1100):
        judge = s.skew(people, 1.3)
        dockets.append({"_id": 4200000 + 613 * i + r.randrange(600), "court_id": s.skew(names, 1.2),
                        "docket_number": "1:%02d-cv-%05d" % (r.randint(15, 21), r.randint(1, 12000)),
                        "pacer_case_id": str(r.randint(300000, 590000)), "assigned_to_id": judge["_id"],
                        "assigned_to_str": judge["name_first"] + " " + judge["name_last"],
                        "referred_to_id": r.choice(people)["_id"] if r.random() < .3 else None,
                        "case_name": "%s v. %s" % (r.choice(LAST), r.choice(LAST)), "nos": s.skew(suits)["_id"],
                        "jury_demand": r.choice(["None", "Plaintiff", "Both"]), "view_count": r.randrange(900),
                        "date_filed": text_date(s.day(-1200, 900)), "source": r.choice([0, 1, 3, 9])})
    s.put("dockets", dockets, "court_id,docket_number", "court_id", "assigned_to_id")
    s.put("parties", [{"_id": s.oid(), "docket": d["_id"], "name": s.person(),
                       "type": r.choice(["Plaintiff", "Defendant"]),
                       "counsel": [{"attorney": a["_id"], "role": r.choice([1, 2, 5, 10]),
                                    "date": text_date(s.day(0, 900))}
                                   for a in s.few(lawyers, 0, 3)]} for d in dockets for _ in range(r.randint(2, 5))],
          "docket")
    entries = []
    for d in dockets:
        for k in range(1, 1 + int(26 * r.random() ** 2)):
            entries.append({"_id": s.oid(), "docket_id": d["_id"], "entry_number": k, "description": s.words(4, 20),
                            "date_filed": s.day(0, 900), "filed_by_bar_no": s.maybe(.7, s.skew(lawyers)["bar_no"]),
                            "recap_documents": [{"document_number": k, "attachment_number": a,
                                                 "page_count": r.randint(1, 60),
                                                 "pacer_doc_id": "%017d" % r.randrange(10**15),
                                                 "sha1": "%040x" % r.getrandbits(160)}
                                                for a in range(r.randint(0, 2))]})
    s.put("docket_entries", entries, "docket_id,entry_number")
    ops = [{"_id": 2100000 + 97 * i, "docket_id": d["_id"], "author_id": s.maybe(.8, d["assigned_to_id"]),
            "panel_ids": [p["_id"] for p in s.few(people, 3, 3)] if r.random() < .2 else [],
            "type": r.choice(["010combined", "020lead", "040dissent"]), "citation_count": r.randrange(90),
            "citations": [{"volume": r.randint(80, 600), "reporter": r.choice(["F.3d", "U.S."]),
                           "page": r.randint(1, 1400)}],
            "text": s.words(30, 60)} for i, d in enumerate(r.sample(dockets, 700))]
    s.put("opinions", ops, "docket_id")
    cites = {}
    for i, o in enumerate(ops[1:], 1):
        for c in s.few(ops[max(0, i - 200):i], 0, 5):
            cites[o["_id"], c["_id"]] = r.randint(1, 9)
    s.put("opinions_cited", [{"_id": s.oid(), "citing_opinion": a, "cited_opinion": b, "depth": n}
                             for (a, b), n in cites.items()], "citing_opinion", "cited_opinion")
    s.put("alerts", [{"_id": s.oid(), "user": 7000 + r.randrange(300), "docket": s.skew(dockets)["_id"]
                      if r.random() > .04 else 990000 + i, "rate": r.choice(["rt", "dly", "wly"]),
                      "secret_key": "%032x" % r.getrandbits(128)} for i in range(900)], "docket")
    s.ref("""
        people:court_id courts:_id
        dockets:court_id courts:_id
        dockets:assigned_to_id people:_id
        dockets:referred_to_id people:_id
        dockets:nos nature_of_suit:_id
        parties:docket dockets:_id
        parties:counsel[].attorney attorneys:_id
        docket_entries:docket_id dockets:_id
        docket_entries:filed_by_bar_no attorneys:bar_no
        opinions:docket_id dockets:_id
        opinions:author_id people:_id
        opinions:panel_ids[] people:_id
        opinions_cited:citing_opinion opinions:_id
        opinions_cited:cited_opinion opinions:_id
        alerts:docket dockets:_id""")


@data_set
def genlab(s):
    """A laboratory of genetics: barcodes, flow cells, genes by symbol, variants by place, files by their hash."""
    r = s.r
    staff = sorted({r.choice(FIRST)[0].lower() + x.lower() for x in LAST[:26]})
    s.put("users", [{"_id": u, "full": s.person(), "role": r.choice(["tech", "scientist", "director"])}
                    for u in staff])
    patients = [{"_id": s.oid(), "mrn": "%07d" % (41003 + 311 * i), "sex": r.choice("MFU"),
                 "yob": r.randint(1935, 2020),
                 "consent": r.random() < .9} for i in range(520)]
    s.put("patients", patients, "!mrn")
    symbols = sorted({"".join(r.choices("ABCDEFGHKLMNPRSTXZ", k=r.randint(3, 5))) + str(r.randint(1, 14))
                      for _ in range(340)})
    genes = [{"_id": s.oid(), "symbol": g, "hgnc": "HGNC:%d" % (60 + 97 * i),
              "ensembl": "ENSG%011d" % (139618 + 7151 * i),
              "chrom": str(r.randint(1, 22)), "strand": r.choice([1, -1])} for i, g in enumerate(symbols)]
    s.put("genes", genes, "!symbol", "!hgnc")
    panels = [{"_id": s.oid(), "code": c, "version": "v%d.%d" % (r.randint(1, 4), r.randint(0, 9)),
               "genes": [g["hgnc"] for g in s.few(genes, 8, 60)]} for c in
              "CARD EPIL HCAN RETI DEAF MITO NEUR SKEL RENL IMMU LIPD MUSC".split()]
    s.put("panels", panels, "!code")
    npis = [str(1003000126 + 9091 * i) for i in range(80)]
    orders = [{"_id": s.oid(), "mrn": s.skew(patients, 1.2)["mrn"], "panelCode": s.skew(panels)["code"],
               "priority": r.choice(["stat", "routine"]), "icd10": s.few(["G40.9", "I42.1", "C50.9", "H90.3",
                   "E78.0"], 1, 2),
               "npi": r.choice(npis), "received": s.day(700, 1000)} for i in range(760)]
    s.put("orders", orders, "mrn")
    samples = []
    for i, o in enumerate(orders):
        top = {"_id": "S20-%05d" % (3 * i + 101), "order": o["_id"], "type": r.choice(["blood", "saliva", "FFPE"]),
               "parent": NO, "volume_ul": r.randint(50, 4000), "freezer": "F%d" % r.randint(1, 6),
               "rack": r.randint(1, 20)}
        samples.append(top)
        for k in range(r.choice([1, 1, 2])):
            samples.append(dict(top, _id=top["_id"] + ".%d" % (k + 1), type="DNA", parent=top["_id"], order=NO,
                                conc=round(r.uniform(4, 90), 1)))
    s.put("samples", samples, "order", "?parent")
    dna = [x["_id"] for x in samples if x["type"] == "DNA"]
    adapters = ["UDI%04d" % i for i in range(1, 97)]
    s.put("adapters", [{"_id": a, "i7": "".join(r.choices("ACGT", k=8)), "i5": "".join(r.choices("ACGT", k=8))}
                       for a in adapters])
    machines = [{"_id": x, "model": m, "installed": s.day(0, 300)} for x, m in (("A00512", "NovaSeq"),
        ("NB501047", "NextSeq"),
                                                                                ("M04389", "MiSeq"))]
    s.put("instruments", machines)
    runs = []
    for i in range(90):
        x, day = s.skew(machines)["_id"], s.day(700 + 3 * i, 702 + 3 * i)
        runs.append({"_id": "%s_%s_%04d_AH%s" % (day.strftime("%y%m%d"), x, 210 + i,
                                                 "".join(r.choices("BCDFGHJKX123", k=5))),
                     "instrument": x, "run_number": 210 + i, "cycles": r.choice([101, 151]), "started": day,
                     "operator": r.choice(staff), "q30": round(r.uniform(80, 96), 1)})
    s.put("runs", runs)
    libs = [{"_id": s.oid(), "barcode": "LB%08d" % (10007 * i + 31), "sampleId": x, "adapter": r.choice(adapters),
             "run": r.choice(runs)["_id"], "lane": r.randint(1, 4), "insert_size": r.randint(180, 420)}
            for i, x in enumerate(dna)]
    s.put("libraries", libs, "sampleId", "run")
    variants = {}
    while len(variants) < 1500:
        g = r.choice(genes)
        k = "%s-%d-%s-%s" % (g["chrom"], r.randint(10**5, 2 * 10**8), *r.sample("ACGT", 2))
        variants[k] = {"_id": k, "gene": g["symbol"], "rsid": s.maybe(.6, "rs%d" % r.randint(10**5, 10**9)),
                       "clinvar": s.maybe(.4, r.randint(2000, 900000)), "gnomad_af": r.random() ** 6,
                       "consequence": r.choice(["missense", "stop_gained", "synonymous", "splice"])}
    s.put("variants", list(variants.values()), "gene")
    keys = list(variants)
    s.put("calls", [{"_id": s.oid(), "sample": x, "variant": v, "gt": r.choice(["0/1", "1/1"]),
                     "dp": r.randint(12, 300),
                     "gq": r.randint(20, 99)} for x in r.sample(dna, 700) for v in s.few(keys, 4, 14)], "sample",
          "variant,sample")
    s.put("reports", [{"_id": s.oid(), "orderId": str(o["_id"].hex()), "status": r.choice(["draft", "final",
        "amended"]),
                       "findings": [{"variantKey": v, "acmg": r.randint(1, 5), "phenotype": s.words(2)}
                                    for v in s.few(keys, 0, 4)],
                       "signed": {"by": r.choice(staff), "at": s.day(900, 1000)}, "revision": r.randint(1, 3)}
                      for o in r.sample(orders, 600)], "orderId")
    s.put("files", [{"_id": "%064x" % r.getrandbits(256), "kind": k, "library": x["barcode"], "run": x["run"],
                     "bytes": Long(r.randrange(10**6, 10**10)), "md5": "%032x" % r.getrandbits(128)}
                    for x in libs for k in ("fastq", "bam")], "library")
    s.ref("""
        panels:genes[] genes:hgnc
        orders:mrn patients:mrn
        orders:panelCode panels:code
        samples:order orders:_id
        samples:parent samples:_id
        runs:instrument instruments:_id
        runs:operator users:_id
        libraries:sampleId samples:_id
        libraries:adapter adapters:_id
        libraries:run runs:_id
        variants:gene genes:symbol
        calls:sample samples:_id
        calls:variant variants:_id
        reports:orderId orders:_id
        reports:findings[].variantKey variants:_id
        reports:signed.by users:_id
        files:library libraries:barcode
        files:run runs:_id""")


@data_set
def parafia(s):
    """Registers of a parish in Polish: acts by year and number, people of three generations, numbers from one on."""
    r = s.r
    wsie = [{"_id": i, "nazwa": c, "gmina": r.choice(CITY), "dymy": r.randint(5, 90)} for i, c in
            enumerate(["Lipa", "Brzezina", "Dolna", "Gorki", "Zalesie", "Olszyny", "Kuznia", "Wola", "Podlas",
                       "Stawy", "Rudy",
                       "Borek", "Jasien", "Klin", "Laski", "Mostki", "Nowiny", "Pniaki"], 1)]
    s.put("miejscowosci", wsie)
    s.put("ksieza", [{"_id": i, "imie": r.choice(FIRST), "nazwisko": r.choice(LAST), "od_roku": 1790 + 9 * i,
                      "do_roku": 1799 + 9 * i, "funkcja": r.choice(["proboszcz", "wikary"])} for i in range(1, 14)])
    osoby = []
    for i in range(1, 1901):
        rok = 1770 + i // 17
        mlode = i > 400
        osoby.append({"_id": i, "imie": r.choice(FIRST), "nazwisko": r.choice(LAST), "plec": r.choice("MK"),
                      "rok_urodzenia": rok, "miejscowosc_id": r.randint(1, 18),
                      "ojciec_id": r.randint(i - 390, i - 250) if mlode and r.random() < .9 else NO,
                      "matka_id": r.randint(i - 390, i - 250) if mlode and r.random() < .8 else NO,
                      "zawod": s.maybe(.5, r.choice(["rolnik", "kowal", "mlynarz", "tkacz"]))})
    s.put("osoby", osoby, "ojciec_id", "matka_id", "nazwisko")
    nr, chrzty = defaultdict(int), []
    for o in osoby[400:]:
        rok = o["rok_urodzenia"]
        nr[rok] += 1
        chrzty.append({"_id": s.oid(), "rok": rok, "nr_aktu": nr[rok], "dziecko_id": o["_id"],
                       "ksiadz_id": r.randint(1, 13),
                       "chrzestni": s.few(range(1, o["_id"] - 100), 2, 2), "strona": r.randint(1, 220),
                       "data_chrztu": text_date(datetime.datetime(rok, r.randint(1, 12), r.randint(1, 28))),
                       "uwagi": s.maybe(.2, s.words(3, 8))})
    s.put("chrzty", chrzty, "!rok,nr_aktu", "dziecko_id")
    sluby, nr = [], defaultdict(int)
    for i in range(1, 480):
        rok = 1795 + i // 6
        nr[rok] += 1
        a = r.randint(1, 400 + 3 * i)
        sluby.append({"_id": i, "rok": rok, "nr_aktu": nr[rok], "maz_id": a,
                      "zona_id": r.randint(max(1, a - 60), a + 60),
                      "ksiadz_id": r.randint(1, 13), "swiadkowie": [r.randint(1, 1200), r.randint(1, 1200)],
                      "zapowiedzi": r.choice([0, 1, 3]), "miejscowosc_id": r.randint(1, 18)})
    s.put("malzenstwa", sluby, "!rok,nr_aktu", "maz_id", "zona_id")
    zmarli = r.sample(osoby, 1100)
    s.put("zgony", [{"_id": s.oid(), "rok": o["rok_urodzenia"] + r.randint(0, 80), "nr_aktu": i // 40 + 1,
                     "osoba_id": o["_id"],
                     "przyczyna": r.choice(["febra", "starosc", "suchoty", "ospa"]), "wiek": r.randint(0, 90),
                     "ksiadz_id": s.maybe(.9, r.randint(1, 13)), "grob": s.maybe(.3,
                         "%c-%d" % (r.choice("ABCD"), r.randint(1, 80)))}
                    for i, o in enumerate(zmarli)], "osoba_id")
    s.put("odpisy", [{"_id": s.oid(), "rok": c["rok"], "nr_aktu": c["nr_aktu"], "zamawiajacy": s.person(),
                      "oplata": Cents(r.choice([1500, 2200])), "data": s.day(300, 900),
                      "jezyk": r.choice(["pl", "de", "la"])}
                     for c in r.choices(chrzty, k=400)], "rok,nr_aktu")
    s.ref("""
        osoby:miejscowosc_id miejscowosci:_id
        osoby:ojciec_id osoby:_id
        osoby:matka_id osoby:_id
        chrzty:dziecko_id osoby:_id
        chrzty:ksiadz_id ksieza:_id
        chrzty:chrzestni[] osoby:_id
        malzenstwa:maz_id osoby:_id
        malzenstwa:zona_id osoby:_id
        malzenstwa:ksiadz_id ksieza:_id
        malzenstwa:swiadkowie[] osoby:_id
        malzenstwa:miejscowosc_id miejscowosci:_id
        zgony:osoba_id osoby:_id
        zgony:ksiadz_id ksieza:_id
        odpisy:rok+nr_aktu chrzty:rok+nr_aktu""")


@data_set
def esports(s):
    """A league of games: UUIDs as text, scores keyed by the team, a bracket of matches that lead to matches."""
    r = s.r
    games = [{"_id": g, "name": g.upper(), "team_size": n} for g, n in (("lol", 5), ("csgo", 5), ("dota2", 5),
        ("rl", 3),
                                                                        ("val", 5), ("ow", 6))]
    s.put("games", games)
    players = [{"_id": str(s.uuid()), "handle": s.words(1) + str(r.randint(1, 999)), "country": r.choice(COUNTRY),
                "steam_id": str(76561197960265728 + r.randrange(10**9)), "mmr": r.randint(900, 3400),
                "born": r.randint(1992, 2005)} for _ in range(640)]
    s.put("players", players, "country")
    pool = [p["_id"] for p in players]
    teams, at = [], 0
    for i in range(110):
        g = s.skew(games)
        cut = r.sample(pool, g["team_size"] + r.randint(0, 2))
        teams.append({"_id": str(s.uuid()), "slug": "-".join(s.few(WORD, 2, 2)) + str(i),
                      "tag": s.words(1)[:3].upper(),
                      "game": g["_id"], "captain": cut[0], "elo": r.randint(1200, 2400),
                      "roster": [{"player": p, "role": r.choice(["top", "mid", "adc", "sup"]),
                                  "joined": s.day(0, 700)}
                                 for p in cut]})
    s.put("teams", teams, "!slug", "game")
    cups = [{"_id": str(s.uuid()), "slug": "cup-%d" % i, "game": s.skew(games)["_id"], "season": r.randint(3, 9),
             "prize": {"amount": 500 * r.randint(1, 90), "currency": r.choice(["EUR", "USD", "KRW"])},
             "invited": [t["slug"] for t in s.few(teams, 4, 12)], "tier": r.choice("SABC")} for i in range(60)]
    s.put("tournaments", cups, "game")
    matches = []
    for c in cups:
        deep = []
        for rnd in (3, 2, 1):
            new = []
            for k in range(2 ** (rnd - 1) if rnd < 3 else 1):
                up = NO if rnd == 3 else (deep[k // 2]["_id"] if deep else NO)
                a, b = s.few(teams, 2, 2)
                done = r.random() < .9
                new.append({"_id": str(s.uuid()), "tournament_id": c["_id"], "round": rnd, "seq": k + 1,
                            "teams": [a["_id"], b["_id"]], "best_of": r.choice([1, 3, 5]), "next_match_id": up,
                            "winner_team_id": a["_id"] if done else NO, "status": "finished" if done else "scheduled",
                            "scores": {a["_id"]: r.randint(0, 3), b["_id"]: r.randint(0, 3)} if done else {},
                            "scheduled_at": s.day(700, 1000), "patch": "%d.%d" % (r.randint(9, 11),
                                r.randint(1, 24))})
            matches += new
            deep = new
        for _ in range(14):
            a, b = s.few(teams, 2, 2)
            matches.append(dict(matches[-1], _id=str(s.uuid()), teams=[a["_id"], b["_id"]], next_match_id=NO,
                                winner_team_id=b["_id"], scores={a["_id"]: 0, b["_id"]: r.randint(1, 3)}))
    s.put("matches", matches, "tournament_id", "teams", "next_match_id")
    s.maps.add("matches:scores")
    s.put("stats", [{"_id": s.oid(), "matchId": m["_id"], "map": k, "playerId": p, "kills": r.randint(0, 30),
                     "deaths": r.randint(0, 20), "assists": r.randint(0, 25)} for m in r.sample(matches, 500)
                    for k in range(1, r.randint(2, 4)) for p in s.few(pool, 3, 6)], "matchId", "playerId")
    s.put("transfers", [{"_id": s.oid(), "player": r.choice(pool), "from_team": s.maybe(.8, r.choice(teams)["_id"]),
                         "to_team": r.choice(teams)["_id"] if r.random() > .15 else str(s.uuid()),
                         "fee": s.maybe(.3, r.randint(1, 90) * 1000),
                         "date": text_date(s.day(0, 900))} for _ in range(420)], "player")
    s.put("follows", [{"_id": s.oid(), "user": "u%06d" % r.randrange(4000), "kind": k, "target": r.choice(z)["_id"]}
                      for k, z in r.choices((("team", teams), ("player", players), ("tournament", cups)), k=1800)],
          "target")
    s.ref("""
        teams:game games:_id
        teams:captain players:_id
        teams:roster[].player players:_id
        tournaments:game games:_id
        tournaments:invited[] teams:slug
        matches:tournament_id tournaments:_id
        matches:teams[] teams:_id
        matches:next_match_id matches:_id
        matches:winner_team_id teams:_id
        matches:scores.* teams:_id
        stats:matchId matches:_id
        stats:playerId players:_id
        transfers:player players:_id
        transfers:from_team teams:_id
        transfers:to_team teams:_id
        follows:target teams:_id
        follows:target players:_id
        follows:target tournaments:_id""")


@data_set
def wiki(s):
    """A wiki's tables: pages and revisions by number, links by namespace and title, bodies by their hash."""
    r = s.r
    actors = [{"_id": i, "actor_user": s.maybe(.7, 3 * i), "actor_name": "%s%d" % (r.choice(FIRST), i)}
              for i in range(1, 380)]
    s.put("actor", actors, "!actor_name")
    titles = sorted({(s.skew([0, 0, 0, 1, 2, 4, 10, 14]), "_".join(s.few(WORD, 1, 3)).capitalize())
                     for _ in range(900)})
    r.shuffle(titles)
    pages, revs, bodies = [], [], {}
    rev = 20
    slots = []
    for i, (ns, t) in enumerate(titles, 1):
        parent = 0
        for _ in range(r.randint(1, 7)):
            rev += r.randint(1, 3)
            sha = "%031x" % r.getrandbits(122)
            bodies[sha] = {"_id": sha, "old_text": s.words(10, 30), "old_flags": "utf-8"}
            revs.append({"_id": rev, "rev_page": i, "rev_actor": s.skew(actors)["_id"], "rev_parent_id": parent,
                         "rev_len": r.randint(20, 9000), "rev_minor_edit": r.randint(0, 1), "rev_sha1": sha,
                         "rev_timestamp": s.day(0, 1000).strftime("%Y%m%d%H%M%S")})
            parent = rev
        pages.append({"_id": i, "page_namespace": ns, "page_title": t, "page_latest": rev,
                      "page_len": r.randint(20, 9000),
                      "page_is_redirect": int(r.random() < .1), "page_random": r.random()})
    s.put("page", pages, "!page_namespace,page_title", "page_len")
    s.put("revision", revs, "rev_page,rev_timestamp", "rev_actor")
    s.put("text", list(bodies.values()))
    links = []
    for p in pages:
        for q in s.few(pages, 0, 9):
            links.append({"_id": s.oid(), "pl_from": p["_id"], "pl_namespace": q["page_namespace"],
                          "pl_title": q["page_title"]})
    s.put("pagelinks", links, "pl_from", "pl_namespace,pl_title")
    s.put("redirect", [{"_id": s.oid(), "rd_from": p["_id"], "rd_namespace": q["page_namespace"],
                        "rd_title": q["page_title"]}
                       for p, q in zip([p for p in pages if p["page_is_redirect"]], r.sample(pages, 200))], "rd_from")
    s.put("watchlist", [{"_id": i, "wl_user": r.choice(actors[:90])["_id"], "wl_namespace": p["page_namespace"],
                         "wl_title": p["page_title"]} for i, p in enumerate(r.choices(pages, k=1300), 1)], "wl_user")
    s.put("recentchanges", [{"_id": 40000 + i, "rc_cur_id": x["rev_page"], "rc_this_oldid": x["_id"],
                             "rc_actor": x["rev_actor"],
                             "rc_last_oldid": x["rev_parent_id"], "rc_type": r.choice([0, 1, 3]),
                             "rc_bot": r.randint(0, 1),
                             "rc_old_len": r.randint(0, 9000)} for i, x in enumerate(revs[-700:])], "rc_cur_id")
    s.put("change_tag_def", [{"_id": i, "ctd_name": w, "ctd_count": r.randint(1, 900)} for i, w in
                             enumerate("mobile visual rollback undo bot blank new-redirect".split(), 1)])
    s.put("change_tag", [{"_id": i, "ct_rev_id": r.choice(revs)["_id"], "ct_tag_id": s.skew([1, 2, 3, 4, 5, 6, 7])}
                         for i in range(1, 1500)], "ct_rev_id")
    s.put("logging", [{"_id": i, "log_type": k, "log_actor": r.choice(actors[:25])["_id"],
                       "log_page": r.choice(pages)["_id"],
                       "log_params": {"oldid": str(r.choice(revs)["_id"])} if k == "delete"
                       else {"duration": "%d days" % r.randint(1, 90)}}
                      for i, k in enumerate(r.choices(["delete", "block", "protect", "move"], k=900), 1)], "log_page")
    s.ref("""
        page:page_latest revision:_id
        revision:rev_page page:_id
        revision:rev_actor actor:_id
        revision:rev_parent_id revision:_id
        revision:rev_sha1 text:_id
        pagelinks:pl_from page:_id
        pagelinks:pl_namespace+pl_title page:page_namespace+page_title
        redirect:rd_from page:_id
        redirect:rd_namespace+rd_title page:page_namespace+page_title
        watchlist:wl_user actor:_id
        watchlist:wl_namespace+wl_title page:page_namespace+page_title
        recentchanges:rc_cur_id page:_id
        recentchanges:rc_this_oldid revision:_id
        recentchanges:rc_last_oldid revision:_id
        recentchanges:rc_actor actor:_id
        change_tag:ct_rev_id revision:_id
        change_tag:ct_tag_id change_tag_def:_id
        logging:log_actor actor:_id
        logging:log_page page:_id""")
    s.allow("""
        logging:log_params.oldid revision:_id
        pagelinks:pl_title page:page_title
        redirect:rd_title page:page_title
        watchlist:wl_title page:page_title""")
    s.unjudged.add("orphans")  # the first revision of a page has the parent 0


@data_set
def building(s):
    """Automation of buildings: controllers by instance, objects by controller and number, points that point to both."""
    r = s.r
    sites = [{"_id": c, "label": s.title(2), "tz": "Europe/Berlin", "gfa_m2": r.randint(900, 60000)} for c in
             "HQ1 HQ2 LAB PLT WHS DC1 DC2 SHP".split()]
    s.put("sites", sites)
    zones = [{"_id": "%s-%02d-%03d" % (x["_id"], f, n), "site": x["_id"], "floor": f,
              "use": r.choice(["office", "lab", "hall"]),
              "area": r.randint(12, 400)} for x in sites for f in range(0, 5) for n in range(1, r.randint(4, 9))]
    s.put("zones", zones, "site")
    keys = [z["_id"] for z in zones]
    ctl = [{"_id": s.oid(), "instance": 2000 + i + r.randrange(10), "vendor_id": r.choice([5, 8, 36, 222]),
            "zone": r.choice(keys),
            "mac": ":".join("%02x" % r.randrange(256) for _ in range(6)), "firmware": "%d.%d.%d" % (r.randint(1, 5),
                r.randint(0, 9), r.randint(0, 40)),
            "net": 2000 + r.randrange(9)} for i in range(0, 1200, 10)]
    s.put("controllers", ctl, "!instance")
    ahus = [{"_id": "AHU-%02d" % i, "site": s.skew(sites)["_id"], "serves": s.few(keys, 3, 14),
             "design_flow": 100 * r.randint(10, 90),
             "controller": r.choice(ctl)["instance"]} for i in range(1, 36)]
    s.put("ahus", ahus)
    points = []
    for c in ctl:
        for k in range(1, r.randint(6, 16)):
            points.append({"_id": s.oid(), "dev": c["instance"], "obj": 10 * k,
                           "kind": r.choice(["AI", "AO", "BI", "AV"]),
                           "name": s.words(2).replace(" ", "_"), "zone": c["zone"] if r.random() < .8
                           else r.choice(keys),
                           "units": r.choice([62, 95, 98]), "equip": s.maybe(.3, r.choice(ahus)["_id"])})
    s.put("points", points, "!dev,obj", "zone")
    hist = []
    for p in points[:24]:
        v, t = r.uniform(18, 24), datetime.datetime(2021, 3, 1)
        for k in range(260):
            v += r.uniform(-.3, .3)
            hist.append({"_id": s.oid(t), "point": p["_id"], "t": t + datetime.timedelta(minutes=15 * k),
                         "v": round(v, 2), "q": 0})
    hist.sort(key=lambda x: x["t"])
    s.put("history", hist, "point,t")
    s.more["timeSeries"] = [{"ns": "building.history", "time": "t", "series": "point", "count": 24, "stepSeconds": 900}]
    s.put("alarms", [{"_id": s.oid(), "dev": p["dev"], "obj": p["obj"], "prio": r.choice([16, 32, 96, 200]),
                      "class_no": r.randint(1, 9),
                      "raised": s.day(800, 1000), "ack": s.maybe(.6, {"by": r.choice(["ops", "night", "guard"]),
                                                                      "note": s.words(3)}),
                      "count": r.randint(1, 60)} for p in r.choices(points, k=1500)], "dev,obj")
    s.put("schedules", [{"_id": 10 * i, "title": s.title(1), "targets": [p["_id"] for p in s.few(points, 2, 9)],
                         "overrides": {k: r.randint(17, 25) for k in s.few(keys, 2, 7)},
                         "weekly": [{"day": d, "on": "0%d:00" % r.randint(5, 8),
                                     "off": "%d:30" % r.randint(17, 21)} for d in range(1, 6)]}
                        for i in range(1, 61)])
    s.maps.add("schedules:overrides")
    s.put("work_orders", [{"_id": "WO%06d" % (71000 + 3 * i), "zone_id": r.choice(keys) if r.random() > .12
                           else "OLD-%02d-%03d" % (i % 5, i % 30),
                           "ahu": s.maybe(.4, r.choice(ahus)["_id"]), "controller_instance": s.maybe(.3,
                               r.choice(ctl)["instance"]),
                           "minutes": r.randint(10, 480), "year": r.choice([2019, 2020, 2021]),
                           "sap_order": str(4000000 + r.randrange(10**6))}
                          for i in range(640)], "zone_id")
    s.put("tariff_periods", [{"_id": s.oid(), "site_code": x["_id"], "year": y, "ct_kwh": Cents(r.randint(1200, 3400))}
                             for x in sites for y in range(2015, 2022)])
    s.ref("""
        zones:site sites:_id
        controllers:zone zones:_id
        ahus:site sites:_id
        ahus:serves[] zones:_id
        ahus:controller controllers:instance
        points:dev controllers:instance
        points:zone zones:_id
        points:equip ahus:_id
        history:point points:_id
        alarms:dev+obj points:dev+obj
        schedules:targets[] points:_id
        schedules:overrides.* zones:_id
        work_orders:zone_id zones:_id
        work_orders:ahu ahus:_id
        work_orders:controller_instance controllers:instance
        tariff_periods:site_code sites:_id""")
    s.allow("alarms:dev controllers:instance")


@data_set
def museum(s):
    """Loans of museums in Dutch: accession numbers, lenders that are institutions or persons, conditions and crates."""
    r = s.r
    inst = [{"_id": 100 + i, "naam": "Museum " + s.title(1), "plaats": r.choice(CITY), "land": r.choice(COUNTRY),
             "isil": "NL-%s%d" % (s.words(1)[:3].upper(), i)} for i in range(90)]
    s.put("instellingen", inst)
    pers = [{"_id": s.oid(), "relatienr": 50010 + 10 * i, "naam": s.person(),
             "rol": r.choice(["verzamelaar", "conservator", "koerier"]),
             "telefoon": "06%08d" % r.randrange(10**8)} for i in range(210)]
    s.put("relaties", pers, "!relatienr")
    makers = [{"_id": "m%05d" % (31 * i + 7), "naam": s.person(), "geboren": r.randint(1550, 1960),
               "rkd": r.randint(100, 99999)}
              for i in range(180)]
    s.put("vervaardigers", makers)
    zalen = ["%d.%02d" % (v, z) for v in (0, 1, 2) for z in range(1, 16)]
    s.put("standplaatsen", [{"_id": z, "soort": r.choice(["zaal", "depot"]), "rv_pct": r.randint(40, 60)}
                            for z in zalen])
    obj = []
    for i in range(1300):
        obj.append({"_id": s.oid(), "inventarisnr": "%d.%d" % (1890 + i // 10, i % 10 * 7 + 1), "titel": s.title(2, 4),
                    "vervaardiger": s.maybe(.85, s.skew(makers)["_id"]), "standplaats": s.skew(zalen),
                    "jaar": r.randint(1580, 1990),
                    "afmetingen": {"h": r.randint(5, 300), "b": r.randint(5, 300)}, "waarde": 1000 * r.randint(1, 900),
                    "onderdeel_van": NO, "aat": s.few([300033618, 300041273, 300047090, 300026877], 1, 2)})
    for i in range(300, 1300, 9):
        obj[i]["onderdeel_van"] = obj[i - r.randint(1, 200)]["inventarisnr"]
    s.put("objecten", obj, "!inventarisnr", "vervaardiger", "onderdeel_van")
    expo = [{"_id": "T%03d" % (5 * i), "titel": s.title(2), "zalen": s.few(zalen, 1, 6),
             "conservator": r.choice(pers)["relatienr"],
             "van": s.day(100, 900), "bezoekers": r.randint(900, 90000)} for i in range(1, 46)]
    s.put("tentoonstellingen", expo)
    loans = []
    for i in range(620):
        own = r.random() < .3
        loans.append({"_id": s.oid(), "bruikleennr": "BL%d-%03d" % (2014 + i // 90, i % 90 + 1),
                      "tentoonstelling": s.maybe(.8, r.choice(expo)["_id"]),
                      "gever": {"soort": "relatie", "nr": r.choice(pers)["relatienr"]} if own else
                      {"soort": "instelling", "nr": r.choice(inst)["_id"]},
                      "nemer": r.choice(inst)["_id"], "stuks": [{"inv": o["inventarisnr"], "verzekerd": o["waarde"],
                                                                 "krat": r.randint(1, 40)}
                                                               for o in s.few(obj, 1, 6)],
                      "koerier": s.maybe(.5, r.choice(pers)["relatienr"]), "status": r.choice([10, 20, 30, 90]),
                      "dagen": r.randint(20, 400)})
    s.put("bruiklenen", loans, "!bruikleennr", "nemer", "stuks.inv")
    s.put("conditierapporten", [{"_id": s.oid(), "bruikleen": x["bruikleennr"], "object_id": r.choice(obj)["_id"],
                                 "opsteller": r.choice(pers)["_id"],
                                 "cijfer": r.randint(1, 5), "fotos": ["img_%04d.tif" % r.randrange(10**4)
                                                                      for _ in range(r.randint(0, 4))]}
                                for x in r.choices(loans, k=900)], "bruikleen", "object_id")
    s.put("verzekeringen", [{"_id": s.oid(), "polis": "P%08d" % r.randrange(10**8), "bruikleen": x["bruikleennr"],
                             "bedrag": 1000 * r.randint(5, 9000),
                             "maatschappij": r.choice(["NN", "AXA", "HDI"])} for x in r.sample(loans, 500)],
          "bruikleen")
    s.put("verplaatsingen", [{"_id": i, "object": r.choice(obj)["inventarisnr"], "van": r.choice(zalen),
                              "naar": r.choice(zalen),
                              "datum": s.day(0, 900), "door": r.choice(pers)["naam"]} for i in range(1, 1500)],
          "object")
    s.ref("""
        objecten:vervaardiger vervaardigers:_id
        objecten:standplaats standplaatsen:_id
        objecten:onderdeel_van objecten:inventarisnr
        tentoonstellingen:zalen[] standplaatsen:_id
        tentoonstellingen:conservator relaties:relatienr
        bruiklenen:tentoonstelling tentoonstellingen:_id
        bruiklenen:gever.nr instellingen:_id
        bruiklenen:gever.nr relaties:relatienr
        bruiklenen:nemer instellingen:_id
        bruiklenen:stuks[].inv objecten:inventarisnr
        bruiklenen:koerier relaties:relatienr
        conditierapporten:bruikleen bruiklenen:bruikleennr
        conditierapporten:object_id objecten:_id
        conditierapporten:opsteller relaties:_id
        verzekeringen:bruikleen bruiklenen:bruikleennr
        verplaatsingen:object objecten:inventarisnr
        verplaatsingen:van standplaatsen:_id
        verplaatsingen:naar standplaatsen:_id""")
