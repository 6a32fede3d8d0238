# SPDX-License-Identifier: Apache-2.0
"""blind_fifth_firms.py - firms in Italian, Dutch, Swedish and Turkish and an ad manager, written as blind_fifth.py."""
import datetime

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, Oid, data_set, str_id


@data_set
def farmacia(s):
    """A pharmacy in Italian: drugs by AIC, prescriptions by NRE and tax code, ATC as a tree, two fridges' degrees."""
    r = s.r
    atc = []
    for a in "ABCJNRM":
        atc.append({"_id": a, "descrizione": s.title(1)})
        for b in ("01", "02", "05"):
            atc.append({"_id": a + b, "descrizione": s.title(2), "padre": a})
            for c in "AB":
                atc.append({"_id": a + b + c, "descrizione": s.title(2), "padre": a + b})
                for d in ("A", "E", "X"):
                    atc.append({"_id": a + b + c + d, "descrizione": s.title(2), "padre": a + b + c})
                    atc += [{"_id": "%s%02d" % (a + b + c + d, n), "descrizione": s.words(1), "padre": a + b + c + d}
                            for n in range(1, r.randint(2, 8))]
    s.put("atc", atc, "padre")
    leaves = [x["_id"] for x in atc if len(x["_id"]) == 7]
    ditte = sorted(r.sample(range(12, 4200), 140))
    s.put("ditte", [{"_id": d, "ragione_sociale": s.title(2) + " SpA", "partita_iva": "%011d" % r.randrange(10**11),
                     "cap": "%05d" % r.randint(10, 98168)} for d in ditte])
    aic = ["0%08d" % n for n in sorted(r.sample(range(10**7, 5 * 10**7), 1900))]
    s.put("farmaci",
          [{"_id": x, "denominazione": s.title(1) + " %d mg" % r.choice([10, 20, 50, 100, 500]), "atc": s.skew(
        leaves, 1.3) if r.random() > .01 else "V03AX99", "ditta": s.skew(ditte, 1.4), "classe": r.choice("ACH"),
        "prezzo": Cents(r.randint(180, 9000)), "pezzi": r.choice([10, 20, 28, 30]), "ricetta": r.random() < .6,
        "sostituisce": s.maybe(.04, r.choice(aic[:900]))} for x in aic], "atc", "ditta")
    medici = sorted(r.sample(range(100200, 109900), 120))
    s.put("medici",
          [{"_id": m, "nome": r.choice(FIRST), "cognome": r.choice(LAST), "tipo": r.choice(["MMG", "PLS", "SPEC"]),
                      "asl": r.randint(101, 112)} for m in medici])
    esen = ["E%02d" % i for i in range(1, 6)] + ["%03d" % i for i in range(2, 56, 2)]
    s.put("esenzioni", [{"_id": e, "descrizione": s.title(3), "ticket": e[0] != "E"} for e in esen])
    cf = []
    while len(cf) < 1500:
        cf.append("".join(r.choices("BCDFGLMNPRSTV", k=6)) + "%02d%s%02d%s%03d%s" % (r.randint(20, 99), r.choice(
            "ABCDEHLMPRST"), r.randint(1, 71), r.choice("ABCDEFGHI"), r.randint(100, 999),
                                                                                     r.choice("ABCDEFGHIKLMNOPQ")))
    clienti = [{"_id": s.oid(), "codice_fiscale": x, "nome": r.choice(FIRST), "cognome": r.choice(LAST),
                "curante": s.maybe(
        .8, s.skew(medici)), "allergie": s.few(leaves, 1, 2) if r.random() < .1 else [], "tessera": s.maybe(
            .5, Long(2900000000000 + 17 * i)), "esenzioni": s.few(esen, 0, 2), "punti": r.randint(0, 4000),
                "delegato": NO} for i, x in enumerate(cf)]
    for c in clienti:
        c["delegato"] = s.maybe(.05, str_id(r.choice(clienti)["_id"]))
    s.put("clienti", clienti, "!codice_fiscale", "?tessera")
    ricette = [{"_id": "030A4%010d" % n, "cf": s.skew(cf, 1.2) if r.random() > .07 else "XYZ" + r.choice(cf)[3:],
                "medico": s.skew(medici), "emissione": s.day(700, 1000), "esenzione": s.maybe(.4, r.choice(esen)),
                "righe": [{"aic": s.skew(aic), "quantita": r.randint(1, 3),
                           "nota": s.maybe(.1, r.choice([1, 13, 66, 96]))}
                          for _ in range(r.randint(1, 2))]} for n in sorted(r.sample(range(10**9, 4 * 10**9), 4200))]
    s.put("ricette", ricette, "cf")
    oper = ["MRO", "GBI", "LFE", "PDT", "SCA", "AVR", "CTR", "EMN", "FLO", "ZAN", "DRS", "BNC"]
    s.put("operatori", [{"_id": o, "nome": s.person(), "farmacista": r.random() < .7, "albo": s.maybe(.7, r.randint(
        1000, 9999))} for o in oper])
    sales = []
    for i in range(7800):
        x = r.choice(ricette) if r.random() < .35 else None
        c = s.skew(clienti) if r.random() < .4 else None
        rows = [w["aic"] for w in x["righe"]] if x else [s.skew(aic) for _ in range(r.randint(1, 4))]
        sales.append({"_id": 300001 + i, "operatore": s.skew(oper, 1.3), "cassa": r.randint(1, 3),
                      "data": s.day(700, 1000),
                      "righe": [{"aic": a, "qta": r.randint(1, 3), "prezzo": Cents(r.randint(180, 9000)),
                                 "lotto": s.maybe(
                          .3, "L%05d" % r.randrange(10**5))} for a in rows], "ricetta": x["_id"] if x else NO,
                      "cliente": c["_id"] if c else NO, "punti": r.randint(0, 90) if c else NO,
                      "reso_di": 300001 + r.randrange(i) if i > 50 and r.random() < .02 else NO})
    s.put("vendite", sales, "data", "righe.aic", "?cliente")
    cass = ["%s%02d" % (c, n) for c in "ABCDEF" for n in range(1, 11)]
    s.put("cassettiere", [{"_id": c, "robot": c[0] in "AB", "altezza_mm": r.choice([80, 120, 160])} for c in cass])
    s.put("giacenze", [{"_id": a, "cassetto": r.choice(cass), "qta": r.randint(0, 40), "minimo": r.randint(1, 5),
                        "scadenza": "2022-%02d" % r.randint(1, 12)} for a in aic[:1750]], "cassetto")
    gros = [{"_id": s.oid(), "codice": "GR%02d" % i, "nome": s.title(1) + " Distribuzione", "minimo_ordine": 50 * i}
            for i in range(1, 13)]
    s.put("grossisti", gros, "!codice")
    ordini = [{"_id": "%d/%05d" % (2020 + i // 700, 1 + i % 700), "grossista": s.skew(gros)["_id"],
               "fatto_da": r.choice(oper),
               "righe": [{"minsan": s.skew(aic), "qta": r.randint(1, 24), "sconto": r.choice([20, 30, 33])}
                         for _ in range(r.randint(1, 12))]} for i in range(1350)]
    s.put("ordini", ordini, "grossista")
    s.put("bolle",
          [{"_id": s.oid(), "numero": r.randint(1000, 99999), "fornitore": g["codice"], "ordine": o["_id"], "colli":
                     r.randint(1, 9),
            "righe": [{"minsan": w["minsan"], "lotto": "L%05d" % r.randrange(10**5), "qta": w["qta"]}
                                                for w in o["righe"] if r.random() < .9]}
                    for o in ordini for g in gros if g["_id"] == o["grossista"] and r.random() < .95], "ordine")
    sonde = ["frigo-vaccini", "frigo-banco", "magazzino"]
    s.put("sonde", [{"_id": x, "modello": "TL-20", "min": 2, "max": 8 if x[0] == "f" else 25} for x in sonde])
    s.put("temperature",
          [{"_id": s.oid(), "sonda": x, "ora": datetime.datetime(2021, 6, 1) + datetime.timedelta(minutes=15 * i),
                           "gradi": round(r.uniform(3, 7), 1)} for i in range(2100) for x in sonde], "sonda,ora")
    s.more["timeSeries"] = [{"ns": s.name + ".temperature", "time": "ora", "series": "sonda", "count": 3,
                             "stepSeconds": 900}]
    s.more["tree"] = s.tree_figures("atc", "padre")
    s.ref("""
        atc:padre atc:_id
        farmaci:atc atc:_id
        farmaci:ditta ditte:_id
        farmaci:sostituisce farmaci:_id
        clienti:curante medici:_id
        clienti:allergie[] atc:_id
        clienti:esenzioni[] esenzioni:_id
        clienti:delegato clienti:_id
        ricette:cf clienti:codice_fiscale
        ricette:medico medici:_id
        ricette:esenzione esenzioni:_id
        ricette:righe[].aic farmaci:_id
        vendite:operatore operatori:_id
        vendite:righe[].aic farmaci:_id
        vendite:ricetta ricette:_id
        vendite:cliente clienti:_id
        vendite:reso_di vendite:_id
        giacenze:_id farmaci:_id
        giacenze:cassetto cassettiere:_id
        ordini:grossista grossisti:_id
        ordini:fatto_da operatori:_id
        ordini:righe[].minsan farmaci:_id
        bolle:fornitore grossisti:codice
        bolle:ordine ordini:_id
        bolle:righe[].minsan farmaci:_id
        temperature:sonda sonde:_id""")
    s.allow("""
        farmaci:sostituisce giacenze:_id
        ricette:righe[].aic giacenze:_id
        vendite:righe[].aic giacenze:_id
        ordini:righe[].minsan giacenze:_id
        bolle:righe[].minsan giacenze:_id""")


@data_set
def woningen(s):
    """Social housing in Dutch: a dwelling is a complex and a number, tenants by number, papers of any kind."""
    r = s.r
    wijken = ["WK%04d%02d" % (344, i) for i in range(1, 17)]
    s.put("wijken", [{"_id": w, "naam": s.title(1), "inwoners": r.randint(900, 12000)} for w in wijken])
    typen = ["EGW", "GAL", "POR", "BOV", "BEN", "STU", "GAR", "BOG", "MIV", "SEN", "HAT", "PEN"]
    s.put("woningtypen", [{"_id": s.oid(), "code": t, "omschrijving": s.title(2), "zelfstandig": t != "STU"}
                          for t in typen], "!code")
    mw, boss = [s.uuid() for _ in range(75)], {}
    for i, m in enumerate(mw[6:], 6):
        boss[m] = str(mw[r.randrange(max(1, min(6, i)))])
    s.put("medewerkers", [{"_id": m, "personeelsnr": 2004 + 3 * i, "naam": s.person(), "functie": r.choice(
        ["opzichter", "vakman", "consulent", "incasso"]), "leidinggevende": boss.get(m, NO), "uren": r.choice(
            [24, 32, 36])} for i, m in enumerate(mw)], "!personeelsnr")
    nummers = sorted(r.sample(range(101, 320), 64))
    s.put("complexen",
          [{"_id": c, "naam": s.title(2), "wijkcode": s.skew(wijken, 1.3), "bouwjaar": r.randint(1921, 2019),
                         "opzichter": r.choice(mw), "gasloos": r.random() < .1} for c in nummers])
    vhe = []
    for c in nummers:
        for n in range(1, r.randint(12, 75)):
            vhe.append({"_id": s.oid(), "complexnr": c, "volgnr": n, "adres": {
                "straat": s.title(1) + "straat", "huisnr": 2 * n, "postcode": "%d%s" % (r.randint(3500, 3585), "".join(
                    r.choices("ABCDEFGHJK", k=2)))}, "woningtype": s.skew(typen), "energielabel": r.choice("ABCDEFG"),
                        "wws_punten": r.randint(70, 250), "streefhuur": Cents(r.randint(30000, 110000)),
                        "bag_id": "0344010%09d" % r.randrange(10**9)})
    s.put("vhe", vhe, "!complexnr,volgnr", "adres.postcode")
    rel = [600013 + 7 * i for i in range(3300)]
    firms = rel[:80]
    s.put("relaties", [{"_id": n, "soort": "leverancier" if i < 80 else "huurder", "naam": s.title(2) + " BV" if i < 80
                        else s.person(), "iban": "NL%02dRABO%010d" % (r.randint(10, 99), r.randrange(10**10)),
                        "geboortejaar": NO if i < 80 else r.randint(1930, 2002), "kvk": "%08d" % r.randrange(10**8)
                        if i < 80 else NO} for i, n in enumerate(rel)])
    con, rows = [], []
    for i in range(3100):
        v = r.choice(vhe)
        con.append({"_id": "HC-%d-%04d" % (2005 + i // 200, i % 200 + 1),
                    "vhe": {"complex": v["complexnr"], "volgnr": v[
            "volgnr"] if r.random() > .004 else 99}, "hoofdhuurder": r.choice(rel[80:]), "medehuurder": s.maybe(
                .3, r.choice(rel[80:])), "ingang": s.day(-2000, 900), "nettohuur": v["streefhuur"] if r.random() < .6
                    else Cents(r.randint(30000, 110000)), "betaaldag": r.choice([1, 15, 25])})
    for i in range(9200):
        c = s.skew(con[-400:], 1.1)
        rows.append({"_id": s.oid(), "contractnr": c["_id"], "relatie": c["hoofdhuurder"], "periode": 202001 + i % 12,
                     "bedrag": c["nettohuur"], "betaald": r.random() < .93,
                     "aanmaningen": s.maybe(.1, r.randint(1, 3))})
    s.put("huurcontracten", con, "vhe.complex,vhe.volgnr", "hoofdhuurder")
    s.put("huurposten", rows, "contractnr,periode", "relatie")
    elem = ["%02d%02d" % (a, b) for a in (21, 24, 27, 31, 37, 41, 47, 52, 53, 56, 61, 64) for b in (10, 20, 30)]
    s.put("elementen", [{"_id": e, "naam": s.title(2), "cyclus_jaren": r.choice([6, 12, 25, 40])} for e in elem])
    rep = []
    for i in range(4100):
        extern = r.random() < .4
        rep.append({"_id": 210001 + i, "vhe_id": s.skew(vhe, 1.3)["_id"],
                    "melder": r.choice(rel[80:]) if r.random() > .03 else
                    600012, "element": s.skew(elem), "omschrijving": s.words(3, 9), "spoed": r.random() < .1,
                    "vakman": NO if extern else str(r.choice(mw[20:])), "aannemer": s.skew(firms) if extern else NO,
                    "minuten": r.choice([15, 30, 45, 60, 90, 120, 180]), "cijfer": s.maybe(.4, r.randint(1, 10)),
                    "vervolg_op": 210001 + r.randrange(i) if i > 100 and r.random() < .05 else NO})
    s.put("reparatieverzoeken", rep, "vhe_id", "melder")
    s.put("onderhoudsbegroting",
          [{"_id": {"complex": c, "element": e, "jaar": y}, "bedrag": Cents(100 * r.randint(500, 90000)),
                                   "uitgevoerd": y < 2021} for c in nummers for e in s.few(elem, 4, 9)
                                  for y in s.few(range(2018, 2030), 1, 2)])
    zoek = [Long(3440000000123 + 9173 * i) for i in range(1400)]
    s.put("woningzoekenden",
          [{"_id": s.oid(), "inschrijfnummer": z, "naam": s.person(), "inkomen": 100 * r.randint(120, 480),
                               "huidig": s.maybe(.2, {"relatienr": r.choice(rel[80:])}),
            "gezinsgrootte": r.randint(1, 6)}
                              for z in zoek], "!inschrijfnummer")
    adv = [{"_id": 5001 + i, "eenheid": x["_id"], "sluit": s.day(800, 1000), "rekenhuur": x["streefhuur"],
            "contactpersoon": 2004 + 3 * r.randrange(75)} for i, x in enumerate(r.choices(vhe, k=330))]
    s.put("advertenties", adv, "eenheid")
    s.put("reacties", [{"_id": s.oid(), "advertentie": s.skew(adv, 1.2)["_id"], "zoeker": str(s.skew(zoek, 1.2))
                        if r.random() > .01 else "3449999%06d" % r.randrange(10**6), "positie": r.randint(1, 320),
                        "op": s.day(800, 1000)} for _ in range(8600)], "advertentie,positie", "zoeker")
    dossier = (("contract", con), ("verzoek", rep), ("eenheid", vhe))
    s.put("documenten",
          [{"_id": s.uuid(), "bij_soort": k, "bij_id": x if type(x) is not Oid else str_id(x), "bestand": s.words(
        1) + ".pdf", "kb": r.randint(20, 4000), "door": str(r.choice(mw))} for _ in range(2900)
                         for k, z in [r.choice(dossier)] for x in [r.choice(z)["_id"]]], "bij_soort,bij_id")
    s.unjudged.add("mixed-types")  # a dossier's id is a number or a text, by its kind
    s.ref("""
        medewerkers:leidinggevende medewerkers:_id
        complexen:wijkcode wijken:_id
        complexen:opzichter medewerkers:_id
        vhe:complexnr complexen:_id
        vhe:woningtype woningtypen:code
        huurcontracten:vhe.complex complexen:_id
        huurcontracten:vhe.complex+vhe.volgnr vhe:complexnr+volgnr
        huurcontracten:hoofdhuurder relaties:_id
        huurcontracten:medehuurder relaties:_id
        huurposten:contractnr huurcontracten:_id
        huurposten:relatie relaties:_id
        reparatieverzoeken:vhe_id vhe:_id
        reparatieverzoeken:melder relaties:_id
        reparatieverzoeken:element elementen:_id
        reparatieverzoeken:vakman medewerkers:_id
        reparatieverzoeken:aannemer relaties:_id
        reparatieverzoeken:vervolg_op reparatieverzoeken:_id
        onderhoudsbegroting:_id.complex complexen:_id
        onderhoudsbegroting:_id.element elementen:_id
        woningzoekenden:huidig.relatienr relaties:_id
        advertenties:eenheid vhe:_id
        advertenties:contactpersoon medewerkers:personeelsnr
        reacties:advertentie advertenties:_id
        reacties:zoeker woningzoekenden:inschrijfnummer
        documenten:bij_id huurcontracten:_id
        documenten:bij_id reparatieverzoeken:_id
        documenten:bij_id vhe:_id
        documenten:door medewerkers:_id""")


@data_set
def traning(s):
    """A chain of gyms in Swedish on Spring Data: UUIDs, DBRefs to kinds of classes, halls by gym and number, visits."""
    r = s.r
    orter = ["%s-%s" % (a.lower(), b) for a in CITY[:9] for b in ("centrum", "hamnen", "norra")][:26]
    s.put("anlaggningar",
          [{"_id": a, "namn": "Gym " + a.title(), "postnr": "%03d %02d" % (r.randint(100, 984), r.randint(
        10, 99)), "kvm": r.randint(600, 3000), "oppnad": r.randint(1998, 2020),
            "_class": "se.trana.Anlaggning"} for a in orter])
    salar = [{"_id": s.oid(), "anlaggning": a, "nr": n, "namn": s.title(1), "platser": 5 * r.randint(2, 9)}
             for a in orter for n in range(1, r.randint(3, 6))]
    s.put("salar", salar, "!anlaggning,nr")
    kort = ["BAS", "GULD12", "GULD24", "STUDENT", "SENIOR", "DAGTID", "AUTOGIRO", "FORETAG", "SOMMAR", "PROV",
            "KLIPP10"]
    s.put("korttyper",
          [{"_id": k, "pris": 100 * r.randint(2, 60), "bindningManader": r.choice([0, 12, 24])} for k in kort])
    folk = [{"_id": s.uuid(), "medlemsnr": 1040017 + 11 * i, "namn": s.person(), "fodd": r.randint(1940, 2005),
             "hemAnlaggning": s.skew(orter, 1.3), "epost": "%s%d@post.example" % (s.words(1), i),
             "nyhetsbrev": r.random() < .4,
             "_class": "se.trana.Medlem"} for i in range(3000)]
    for i, m in enumerate(folk[200:]):
        m["varvadAv"] = s.maybe(.12, folk[r.randrange(i + 1)]["_id"])
    s.put("medlemmar", folk, "!medlemsnr", "hemAnlaggning", "?varvadAv")
    s.put("medlemskap",
          [{"_id": s.oid(), "medlem": m["_id"], "korttyp": s.skew(kort), "start": s.day(0, 900), "slut": s.maybe(
        .4, s.day(900, 1300)), "foretag": s.maybe(.1, "5560%06d" % r.randrange(10**6)),
            "betalsatt": r.choice(["AG", "KORT"])}
                         for m in folk for _ in range(r.choice([1, 1, 1, 2]))], "medlem")
    ins = [3, 4, 6, *range(9, 47)]
    typer = [s.oid() for _ in range(34)]
    s.put("instruktorer", [{"_id": i, "namn": s.person(), "timlon": 5 * r.randint(30, 60), "kanLeda": [
        {"$ref": "passtyper", "$id": t} for t in s.few(typer, 2, 8)], "bas": r.choice(orter)} for i in ins])
    s.put("passtyper",
          [{"_id": t, "namn": s.title(1), "minuter": r.choice([30, 45, 55, 60, 75]), "intensitet": r.randint(
        1, 5), "farg": "#%06x" % r.getrandbits(24)} for t in typer])
    schema = []
    for i in range(2600):
        h = r.choice(salar)
        schema.append({"_id": 310007 + i + i // 9, "passtyp": {"$ref": "passtyper", "$id": s.skew(typer)},
                       "anlaggning": h[
            "anlaggning"], "sal": h["nr"], "instruktor": s.skew(ins, 1.2), "vikarie": s.maybe(.07, r.choice(ins)),
                       "start": s.day(900, 1000), "minuter": r.choice([30, 45, 55, 60, 75]), "platser": h["platser"],
                       "bokade": r.randint(0, 45), "_class": "se.trana.Pass"})
    s.put("pass", schema, "anlaggning,sal,start", "instruktor,start")
    s.put("bokningar",
          [{"_id": s.oid(), "pass": p["_id"] if r.random() > .005 else 309000 + r.randrange(900), "medlem": s.skew(
        folk, 1.4)["_id"], "status": s.skew(["BOKAD", "NARVARANDE", "AVBOKAD", "UTEBLIVEN", "RESERV"]),
            "koplats": s.maybe(
            .1, r.randint(1, 20)), "cykel": s.maybe(.15, r.randint(1, 30))} for p in r.choices(schema, k=15500)],
          "pass",
          "medlem,-_id")
    s.put("besok", [{"_id": s.oid(), "medlemsnr": s.skew(folk, 1.3)["medlemsnr"] if r.random() > .012 else r.randint(
        10**6, 1040000), "gym": s.skew(orter, 1.3), "grind": r.randint(1, 4), "in": s.day(900, 1000),
                     "minuterInne": s.maybe(
            .6, r.randint(12, 140))} for _ in range(9000)], "medlemsnr", "gym,in")
    modeller = ["%s-%d" % (a, n) for a in ("LB", "RM", "CT", "PRS") for n in (100, 220, 350, 700)]
    s.put("modeller", [{"_id": s.oid(), "artikelnr": m, "tillverkare": s.title(1), "serviceintervallDagar": r.choice(
        [90, 180, 365])} for m in modeller], "!artikelnr")
    utr = ["UT%05d" % (40 + 3 * i) for i in range(760)]
    s.put("utrustning",
          [{"_id": u, "modell": s.skew(modeller, 1.2), "plats": r.choice(orter), "inkopt": r.randint(2009, 2021),
                          "serienr": "%s%08X" % (r.choice("KLM"), r.getrandbits(32)), "timmar": r.randint(10, 9000)}
                         for u in utr], "plats")
    fel = []
    for i in range(540):
        typ = r.choice(["medlem", "medlem", "instruktor"])
        fel.append({"_id": s.oid(), "utrustning": r.choice(utr), "anmaldAv": {
            "typ": typ, "id": str(r.choice(folk)["_id"] if typ == "medlem" else r.choice(ins))},
                    "prio": r.randint(1, 3),
                    "text": s.words(3, 9), "klar": s.maybe(.7, s.day(900, 1000)),
                    "ersattMed": s.maybe(.06, r.choice(utr))})
    s.put("felanmalningar", fel, "utrustning")
    pt = [{"_id": s.oid(), "kund": str(m["_id"]), "tranare": r.choice(ins[:22]), "antal": r.choice([5, 10, 20]), "kvar":
           r.randint(0, 20), "pris": 100 * r.randint(25, 120)} for m in r.sample(folk, 330)]
    s.put("ptPaket", pt, "kund")
    s.put("ptTillfallen", [{"_id": s.oid(), "paket": str_id(r.choice(pt)["_id"]), "nr": r.randint(1, 20), "ovningar": [
        {"namn": s.words(1), "set": r.randint(2, 5), "reps": r.choice([6, 8, 10, 12]), "kg": r.randint(5, 90),
         "maskin": s.maybe(
            .5, r.choice(utr))} for _ in range(r.randint(2, 6))]} for _ in range(2100)], "paket")
    s.put("fakturor",
          [{"_id": "F%07d" % (2100500 + i), "medlemsnr": str(m["medlemsnr"]), "namn": m["namn"] if r.random() > .03
                        else s.person(), "ocr": "%014d" % r.randrange(10**14),
            "belopp": Cents(100 * r.randint(199, 899)),
                        "forfaller": s.day(990, 1020)} for i, m in enumerate(r.choices(folk[:2600], k=3600))],
          "medlemsnr")
    s.ref("""
        salar:anlaggning anlaggningar:_id
        medlemmar:hemAnlaggning anlaggningar:_id
        medlemmar:varvadAv medlemmar:_id
        medlemskap:medlem medlemmar:_id
        medlemskap:korttyp korttyper:_id
        instruktorer:kanLeda[].$id passtyper:_id
        instruktorer:bas anlaggningar:_id
        pass:passtyp.$id passtyper:_id
        pass:anlaggning anlaggningar:_id
        pass:anlaggning+sal salar:anlaggning+nr
        pass:instruktor instruktorer:_id
        pass:vikarie instruktorer:_id
        bokningar:pass pass:_id
        bokningar:medlem medlemmar:_id
        besok:medlemsnr medlemmar:medlemsnr
        besok:gym anlaggningar:_id
        utrustning:modell modeller:artikelnr
        utrustning:plats anlaggningar:_id
        felanmalningar:utrustning utrustning:_id
        felanmalningar:ersattMed utrustning:_id
        felanmalningar:anmaldAv.id medlemmar:_id
        felanmalningar:anmaldAv.id instruktorer:_id
        ptPaket:kund medlemmar:_id
        ptPaket:tranare instruktorer:_id
        ptTillfallen:paket ptPaket:_id
        ptTillfallen:ovningar[].maskin utrustning:_id
        fakturor:medlemsnr medlemmar:medlemsnr""")
    s.copy("fakturor:medlemsnr medlemmar:medlemsnr namn namn")


@data_set
def adserver(s):
    """Advertising after Google Ad Manager: 64-bit ids, lists of ids to aim at, ids as text, days in short names."""
    r = s.r
    used = set()

    def big(n, lo=4 * 10**9, hi=6 * 10**9):
        out = []
        while len(out) < n:
            x = r.randrange(lo, hi)
            if x not in used:
                used.add(x)
                out.append(Long(x))
        return out

    s.put("roles", [{"_id": -i, "name": n, "builtin": True} for i, n in enumerate(
        ["Administrator", "Trafficker", "Salesperson", "Executive", "Sales manager", "Creative", "Publisher", "Viewer",
         "Reporter", "Partner"], 1)])
    users = big(58, 2 * 10**8, 3 * 10**8)
    s.put("users",
          [{"_id": u, "name": s.person(), "email": "%s%d@pub.example" % (s.words(1), i), "roleId": -r.randint(1, 10),
                     "isActive": r.random() < .9} for i, u in enumerate(users)], "!email")
    labels = big(18, 10**5, 10**6)
    s.put("labels", [{"_id": x, "name": s.title(1), "types": ["COMPETITIVE_EXCLUSION"]} for x in labels])
    comp = big(310)
    s.put("companies",
          [{"_id": c, "type": "AGENCY" if i < 50 else "ADVERTISER", "name": s.title(2), "externalId": s.maybe(
        .4, "0015000%011d" % r.randrange(10**11)), "appliedLabels": [{"labelId": x, "isNegated": False} for x in s.few(
            labels, 0, 2)], "creditStatus": "ACTIVE"} for i, c in enumerate(comp)], "name")
    geo = []
    for i, c in enumerate(COUNTRY[:40]):
        geo.append({"_id": 2008 + 7 * i, "name": c, "countryCode": c, "type": "COUNTRY"})
        up = geo[-1]["_id"]
        geo += [{"_id": 1000000 + 523 * i + 13 * k, "name": s.title(1), "parentId": up, "countryCode": c,
                 "type": "CITY"}
                for k in range(r.randint(4, 22))]
    s.put("geo_targets", geo, "parentId")
    places = [g["_id"] for g in geo]
    units = []
    for i, x in enumerate(big(420, 2 * 10**10, 3 * 10**10)):
        up = NO if i == 0 else units[0] if i < 18 else s.skew(units[1:i], 1.4)
        units.append({"_id": x, "code": "%s_%d" % (s.words(1), i), "parentId": NO if i == 0 else up["_id"],
                      "parentPath": []
                      if i == 0 else up["parentPath"] + [{"id": str(up["_id"]), "code": up["code"]}], "sizes": [
                          {"w": w, "h": h} for w, h in s.few([(300, 250), (728, 90), (160, 600), (320, 50)], 1, 3)]})
    s.put("ad_units", units, "parentId", "!code")
    uids = [u["_id"] for u in units]
    places2 = big(46, 3 * 10**7, 4 * 10**7)
    s.put("placements", [{"_id": p, "name": s.title(2), "targetedAdUnitIds": [str(u) for u in s.few(uids, 2, 30)]}
                         for p in places2])
    keys = big(24, 10**7, 2 * 10**7)
    s.put("custom_keys", [{"_id": k, "name": "k_" + w, "type": "PREDEFINED"} for k, w in zip(keys, WORD)])
    values = {v: r.choice(keys) for v in big(700, 4 * 10**11, 5 * 10**11)}
    s.put("custom_values", [{"_id": v, "keyId": k, "name": s.words(1)} for v, k in values.items()], "keyId")
    orders = [{"_id": o, "name": s.title(3), "advertiserId": s.skew(comp[50:]),
               "agencyId": s.maybe(.4, s.skew(comp[:50])),
               "traffickerId": r.choice(users), "salespersonId": s.maybe(.8, r.choice(users[:20])), "poNumber": s.maybe(
                   .5, str(r.randint(10000, 99999))), "secondaryTraffickerIds": s.few(users, 0, 2),
               "currencyCode": "EUR"}
              for o in big(900, 2 * 10**9, 4 * 10**9)]
    s.put("orders", orders, "advertiserId", "agencyId")
    lines, licas, creatives, asso = [], [], [], set()
    for c in big(2100, 138 * 10**9, 140 * 10**9):
        w, h = r.choice([(300, 250), (728, 90), (160, 600)])
        creatives.append({"_id": c, "advertiserId": s.skew(comp[50:]), "name": s.title(2), "width": w, "height": h})
    gone = big(30)
    for x in big(3300, 5 * 10**9, 6 * 10**9):
        o, imp = s.skew(orders, 1.3), r.randint(1000, 900000)
        by = s.few(keys, 1, 2)
        lines.append({"_id": x, "orderId": o["_id"] if r.random() > .004 else r.choice(gone), "name": s.title(3),
                      "priority":
                      r.choice([4, 6, 8, 12, 16]), "lineItemType": "STANDARD", "unitsBought": Long(imp),
                      "microAmount": Long(
                          10000 * r.randint(10, 900)), "targeting": {
                              "geo": {"targeted": s.few(places, 0, 4), "excluded": s.few(places, 1, 2)
                                      if r.random() < .1 else NO},
                              "inventory": {"adUnits": s.few(uids, 1, 6), "placements":
                                                                                s.few(places2, 1, 2)
                                                                                if r.random() < .3 else NO},
                              "custom": [{"keyId": k, "valueIds": s.few([v for v, z in values.items() if z == k], 1, 4)}
                                         for k in by] if r.random() < .35 else NO},
                      "frequencyCap": s.maybe(.3, {"max": r.randint(1, 9), "unit": "DAY"}),
                      "lastModifiedBy": r.choice(users)})
        for c in s.few(creatives, 1, 3):
            asso.add((x, c["_id"]))
    for x, c in sorted(asso):
        licas.append({"_id": s.oid(), "lineItemId": x, "creativeId": c, "status": "ACTIVE"})
    s.put("line_items", lines, "orderId")
    s.put("creatives", creatives, "advertiserId")
    s.put("licas", licas, "!lineItemId,creativeId", "creativeId")
    s.put("delivery_daily",
          [{"_id": s.oid(), "d": 20210301 + i % 31, "li": p["lineItemId"], "cr": p["creativeId"], "au": s.skew(
        uids), "geo": s.skew(places[:200]), "imp": r.randint(1, 4000), "clk": r.randint(0, 60), "rev": Long(
            r.randrange(10**7))} for i, p in enumerate(r.choices(licas[:5200], k=17000))], "li,d", "au,d")
    s.put("forecasts",
          [{"_id": x["_id"], "at": s.day(990, 1000), "available": Long(r.randrange(10**6, 10**8)), "byUnit": {
        str(u): r.randrange(10**6) for u in s.few(uids, 4, 14)},
            "contending": [str(y["_id"]) for y in s.few(lines, 0, 4)]}
                        for x in r.sample(lines, 800)])
    s.maps.add("forecasts:byUnit")
    kinds = (("LINE_ITEM", lines), ("ORDER", orders), ("CREATIVE", creatives))
    s.put("change_history",
          [{"_id": str(s.uuid()), "entityType": k, "entityId": str(r.choice(z)["_id"]), "userId": s.skew(users),
                              "operation": r.choice(["CREATE", "UPDATE"]), "at": s.day(800, 1000)} for _ in range(5400)
                             for k, z in [s.skew(kinds, 1.3)]], "entityType,entityId", "userId")
    s.ref("""
        users:roleId roles:_id
        companies:appliedLabels[].labelId labels:_id
        geo_targets:parentId geo_targets:_id
        ad_units:parentId ad_units:_id
        ad_units:parentPath[].id ad_units:_id
        placements:targetedAdUnitIds[] ad_units:_id
        custom_values:keyId custom_keys:_id
        orders:advertiserId companies:_id
        orders:agencyId companies:_id
        orders:traffickerId users:_id
        orders:salespersonId users:_id
        orders:secondaryTraffickerIds[] users:_id
        line_items:orderId orders:_id
        line_items:targeting.geo.targeted[] geo_targets:_id
        line_items:targeting.geo.excluded[] geo_targets:_id
        line_items:targeting.inventory.adUnits[] ad_units:_id
        line_items:targeting.inventory.placements[] placements:_id
        line_items:targeting.custom[].keyId custom_keys:_id
        line_items:targeting.custom[].valueIds[] custom_values:_id
        line_items:lastModifiedBy users:_id
        creatives:advertiserId companies:_id
        licas:lineItemId line_items:_id
        licas:creativeId creatives:_id
        delivery_daily:li line_items:_id
        delivery_daily:cr creatives:_id
        delivery_daily:au ad_units:_id
        delivery_daily:geo geo_targets:_id
        forecasts:_id line_items:_id
        forecasts:byUnit.* ad_units:_id
        forecasts:contending[] line_items:_id
        change_history:entityId line_items:_id
        change_history:entityId orders:_id
        change_history:entityId creatives:_id
        change_history:userId users:_id""")
    s.allow("""
        ad_units:parentPath[].code ad_units:code
        delivery_daily:li+cr licas:lineItemId+creativeId
        forecasts:contending[] forecasts:_id""")
    s.copy("ad_units:parentPath[].id ad_units:_id parentPath[].code code")


@data_set
def dershane(s):
    """A school for entrance exams in Turkish: pupils by number, answers in a map by question, scores by subject."""
    r = s.r
    sube = list(range(1, 15))
    s.put("subeler",
          [{"_id": i, "ad": c + " Subesi", "telefon": "0212%07d" % r.randrange(10**7), "kapasite": 50 * r.randint(
        2, 12)} for i, c in zip(sube, CITY)])
    ders = ["MAT", "GEO", "FIZ", "KIM", "BIY", "TUR", "EDB", "TAR", "COG", "FEL"]
    s.put("dersler", [{"_id": d, "ad": s.title(1), "haftalik_saat": r.randint(1, 6)} for d in ders])
    ogr = [{"_id": s.oid(), "ad": r.choice(FIRST), "soyad": r.choice(LAST), "brans": r.choice(ders), "subeler": s.few(
        sube, 1, 3), "maas": Cents(100 * r.randint(7000, 19000)), "tc": "%011d" % r.randrange(10**10, 10**11)}
           for _ in range(118)]
    s.put("ogretmenler", ogr)
    sinif = ["%02d-%d%s" % (b, y, x) for b in sube for y in (11, 12) for x in "ABC"[:r.randint(1, 3)]]
    s.put("siniflar", [{"_id": x, "sube_id": int(x[:2]), "danisman": r.choice(ogr)["_id"], "derslik": r.randint(1, 24),
                        "alan": r.choice(["SAY", "EA", "SOZ"])} for x in sinif], "sube_id")
    kids = [{"_id": s.oid(), "no": 20001 + i + i // 6, "ad": r.choice(FIRST), "soyad": r.choice(LAST),
             "sinif": r.choice(sinif),
             "tc_kimlik": "%011d" % r.randrange(10**10, 10**11),
             "veli": {"ad": s.person(), "tel": "05%09d" % r.randrange(
                 10**9)}, "kayit_yili": r.randint(2018, 2021), "indirim": r.choice([0, 0, 10, 25, 50]), "kardes_no": NO}
            for i in range(1650)]
    for k in kids:
        k["kardes_no"] = s.maybe(.04, r.choice(kids)["no"])
    s.put("ogrenciler", kids, "!no", "sinif", "!tc_kimlik")
    konu = []
    for i in range(1, 241):
        up = r.choice(konu[:60]) if i > 60 else None
        konu.append({"_id": i, "ad": s.title(2), "ders": up["ders"] if up else ders[i % 10],
                     "ust_konu": up["_id"] if up else
                     NO, "sira": r.randint(1, 30)})
    s.put("konular", konu, "ders", "ust_konu")
    soru = [{"_id": s.oid(), "konu_id": r.randint(1, 240), "zorluk": r.randint(1, 5), "dogru": r.choice("ABCDE"),
             "yazar": str_id(s.skew(ogr)["_id"]),
             "kaynak": s.maybe(.4, {"yil": r.randint(2010, 2021), "soru_no": r.randint(
                 1, 40)}), "benzer": NO} for _ in range(2700)]
    for q in soru:
        q["benzer"] = [str_id(x["_id"]) for x in s.few(soru, 1, 3)] if r.random() < .1 else NO
    s.put("sorular", soru, "konu_id")
    deneme = [{"_id": s.oid(), "kod": "TYT-%02d" % i, "tarih": s.day(700, 990), "sure_dk": r.choice([135, 165, 180]),
               "sorular": [
        q["_id"] for q in s.few(soru, 24, 40)],
               "hazirlayan": [x["_id"] for x in s.few(ogr, 1, 4)]} for i in range(1, 43)]
    s.put("denemeler", deneme, "!kod")
    rows = []
    for d in deneme:
        for rank, k in enumerate(s.few(kids, 60, 110), 1):
            rows.append({"_id": s.oid(), "deneme_id": str_id(d["_id"]),
                         "ogrenci_no": k["no"] if r.random() > .009 else r.choice(
                [19000, 19001, 19017]),
                         "cevaplar": {str_id(q): r.choice("ABCDE") for q in d["sorular"] if r.random() < .8},
                         "netler": {x: r.randint(0, 40) / 4 for x in ders[:r.randint(8, 10)]}, "puan": round(
                             r.uniform(180, 490), 3), "siralama": rank, "kitapcik": r.choice("AB")})
    rows = list({(x["deneme_id"], x["ogrenci_no"]): x for x in rows}.values())  # as the unique index demands
    s.put("sonuclar", rows, "!deneme_id,ogrenci_no", "ogrenci_no")
    s.maps.add("sonuclar:cevaplar")
    s.put("taksitler",
          [{"_id": 1000 + i, "ogrenci_no": k["no"], "taksit_no": t, "tutar": Cents(100 * r.randint(800, 3000)),
                         "vade": s.day(700, 1100), "makbuz": s.maybe(.7, r.randint(10000, 99999))}
                        for i, (k, t) in enumerate((k, t) for k in kids[:1300] for t in range(1, r.choice([4, 6, 9])))],
          "ogrenci_no,taksit_no")
    s.put("devamsizlik",
          [{"_id": s.oid(), "ogrenci": s.skew(kids, 1.3)["no"], "ders": r.choice(ders), "gun": s.day(900, 1000),
                           "saat": r.randint(1, 8), "mazeret": s.maybe(.3, s.words(2))} for _ in range(5200)],
          "ogrenci,gun")
    etut = [{"_id": 1 + i, "ogretmen": r.choice(ogr)["_id"], "katilanlar": [k["_id"] for k in s.few(kids, 1, 8)],
             "konu": r.choice(
        konu)["_id"], "derslik": r.randint(1, 24), "dakika": r.choice([40, 60, 80]), "sube": r.choice(sube)}
            for i in range(1450)]
    s.put("etutler", etut, "ogretmen")
    s.put("ders_programi", [{"_id": "%s/%d/%d" % (x, g, h), "sinif": x, "gun": g, "saat": h, "ders": r.choice(ders),
                             "ogretmen_id": str_id(r.choice(ogr)["_id"]) if r.random() > .02 else str_id(s.oid())}
                            for x in sinif for g in range(1, 6) for h in range(1, 9)], "!sinif,gun,saat")
    taraf = (("ogrenci", kids), ("ogretmen", ogr))
    s.put("mesajlar", [{"_id": s.oid(), "gonderen_tur": a, "gonderen_id": r.choice(y)["_id"],
                        "alicilar": [x["_id"] for x in s.few(
        ogr if a == "ogrenci" else kids, 1, 5)], "metin": s.words(3, 14), "yanit": NO}
                       for _ in range(2600) for a, y in [r.choice(taraf)]], "gonderen_id")
    mail = s.docs["mesajlar"]
    for i, m in enumerate(mail[100:]):
        if r.random() < .3:
            m["yanit"] = mail[i]["_id"]
    s.put("rehberlik",
          [{"_id": s.oid(), "kim": k["no"], "uzman": s.skew(ogr[:12])["_id"], "hedef": {"uni_kodu": r.randint(
        101110000, 209990000), "siralama": r.randint(500, 90000)}, "not": s.words(5, 20)} for k in r.choices(kids,
                                                                                                             k=900)],
          "kim")
    s.rules_allowed += [{"rule": "names-are-data", "ns": s.name + ".sonuclar", "path": "netler.*"}]
    s.ref("""
        ogretmenler:brans dersler:_id
        ogretmenler:subeler[] subeler:_id
        siniflar:sube_id subeler:_id
        siniflar:danisman ogretmenler:_id
        ogrenciler:sinif siniflar:_id
        ogrenciler:kardes_no ogrenciler:no
        konular:ders dersler:_id
        konular:ust_konu konular:_id
        sorular:konu_id konular:_id
        sorular:yazar ogretmenler:_id
        sorular:benzer[] sorular:_id
        denemeler:sorular[] sorular:_id
        denemeler:hazirlayan[] ogretmenler:_id
        sonuclar:deneme_id denemeler:_id
        sonuclar:ogrenci_no ogrenciler:no
        sonuclar:cevaplar.* sorular:_id
        taksitler:ogrenci_no ogrenciler:no
        devamsizlik:ogrenci ogrenciler:no
        devamsizlik:ders dersler:_id
        etutler:ogretmen ogretmenler:_id
        etutler:katilanlar[] ogrenciler:_id
        etutler:konu konular:_id
        etutler:sube subeler:_id
        ders_programi:sinif siniflar:_id
        ders_programi:ders dersler:_id
        ders_programi:ogretmen_id ogretmenler:_id
        mesajlar:gonderen_id ogrenciler:_id
        mesajlar:gonderen_id ogretmenler:_id
        mesajlar:alicilar[] ogrenciler:_id
        mesajlar:alicilar[] ogretmenler:_id
        mesajlar:yanit mesajlar:_id
        rehberlik:kim ogrenciler:no
        rehberlik:uzman ogretmenler:_id""")
    s.allow("sonuclar:netler.* dersler:_id")
