# SPDX-License-Identifier: Apache-2.0
"""tables.py - sets that are relational tables, imported one by one: running numbers, prefixes, join tables."""
import datetime

from truth import CITY, COUNTRY, FIRST, LAST, Cents, data_set, text_date


@data_set
def northwind(s):
    """Tables of a trading company, imported one by one: CamelCase keys beside an _id of the import."""
    r = s.r
    customers = ["".join(c).upper()
                         for c in sorted({tuple((s.words(1) + "xyz")[:3] + s.words(1)[:2]) for _ in range(97)})]
    s.put("categories", [{"_id": s.oid(), "CategoryID": i, "CategoryName": s.title(1), "Description": s.words(4, 9)}
                         for i in range(1, 9)], "!CategoryID")
    s.put("suppliers", [{"_id": s.oid(), "SupplierID": i, "CompanyName": s.title(2), "ContactName": s.person(),
                         "City": r.choice(CITY), "PostalCode": str(r.randrange(10000, 99999)),
                         "Phone": "(%d) 555-%04d" % (r.randrange(100, 999), r.randrange(9999))} for i in range(1, 30)],
          "!SupplierID")
    s.put("customers", [{"_id": s.oid(), "CustomerID": c, "CompanyName": s.title(2), "ContactName": s.person(),
                         "ContactTitle": r.choice(["Owner", "Sales Agent", "Buyer"]), "City": r.choice(CITY),
                         "Phone": "0%d-%06d" % (r.randrange(100, 999), r.randrange(999999))} for c in customers],
          "!CustomerID", "City", "CompanyName")
    boss = [None, 5, 2, 2, 2, 5, 5, 2, 5]
    boss[1], boss[4] = None, 2
    boss[0] = 2
    s.put("employees", [{"_id": s.oid(), "EmployeeID": i + 1, "LastName": LAST[i], "FirstName": FIRST[i],
                         "BirthDate": s.day(-25000, -9000), "ReportsTo": boss[i],
                         "Extension": str(r.randrange(300, 6000))}
                        for i in range(9)], "!EmployeeID", "LastName")
    s.put("shippers", [{"_id": s.oid(), "ShipperID": i, "CompanyName": s.title(2)} for i in (1, 2, 3)], "!ShipperID")
    s.put("products", [{"_id": s.oid(), "ProductID": i, "ProductName": s.title(2, 3), "SupplierID": r.randint(1, 29),
                        "CategoryID": r.randint(1, 8), "QuantityPerUnit": "%d boxes" % r.randint(1, 48),
                        "UnitPrice": r.randint(5, 400) / 4, "UnitsInStock": r.randrange(126),
                        "UnitsOnOrder": r.choice([0, 0, 10, 40, 70]), "ReorderLevel": r.randrange(0, 31, 5),
                        "Discontinued": int(r.random() < .1)} for i in range(1, 78)], "!ProductID", "CategoryID")
    orders, details = [], []
    for i in range(10248, 11078):
        when = s.day((i - 10248) * .8, (i - 10248) * .8 + 1)
        orders.append({"_id": s.oid(), "OrderID": i, "CustomerID": s.skew(customers, 1.3),
                       "EmployeeID": r.randint(1, 9),
                       "OrderDate": when, "ShippedDate": s.maybe(.97, when + datetime.timedelta(days=r.randint(1, 30))),
                       "ShipVia": r.randint(1, 3), "Freight": r.randrange(10, 90000) / 100, "ShipCity": r.choice(CITY),
                       "ShipPostalCode": str(r.randrange(10000, 99999))})
        for p in s.few(range(1, 78), 1, 5):
            details.append({"_id": s.oid(), "OrderID": i, "ProductID": p, "UnitPrice": r.randint(5, 400) / 4,
                            "Quantity": r.randint(1, 100), "Discount": r.choice([0, 0, .05, .1, .2])})
    s.put("orders", orders, "!OrderID", "CustomerID", "OrderDate", "ShippedDate", "ShipPostalCode")
    s.put("order_details", details, "OrderID", "OrderID,ProductID")
    regions = [{"_id": s.oid(), "RegionID": i, "RegionDescription": d} for i, d in
               enumerate(("Eastern", "Western", "Northern", "Southern"), 1)]
    s.put("regions", regions, "!RegionID")
    areas = sorted(r.sample(range(1581, 98104), 53))
    s.put("territories", [{"_id": s.oid(), "TerritoryID": a, "TerritoryDescription": s.title(1),
                           "RegionID": r.randint(1, 4)} for a in areas], "!TerritoryID")
    links = sorted({(r.randint(1, 9), a) for a in areas if a != areas[5]})
    s.put("employee_territories", [{"_id": s.oid(), "EmployeeID": e, "TerritoryID": a} for e, a in links])
    s.ref("""
        products:SupplierID suppliers:SupplierID
        products:CategoryID categories:CategoryID
        orders:CustomerID customers:CustomerID
        orders:EmployeeID employees:EmployeeID
        orders:ShipVia shippers:ShipperID
        order_details:OrderID orders:OrderID
        order_details:ProductID products:ProductID
        employees:ReportsTo employees:EmployeeID
        territories:RegionID regions:RegionID
        employee_territories:EmployeeID employees:EmployeeID
        employee_territories:TerritoryID territories:TerritoryID""")


@data_set
def formula1(s):
    """Race results: running numbers of every table overlap, and so do grids, laps, points and years."""
    r = s.r
    s.put("circuits", [{"_id": s.oid(), "circuitId": i, "circuitRef": s.words(2).replace(" ", "_"),
                        "name": s.title(2) + " Circuit",
                        "country": r.choice(COUNTRY), "lat": r.uniform(-40, 60),
                        "alt": r.randrange(0, 2200)} for i in range(1, 78)],
          "!circuitId")
    s.put("constructors", [{"_id": s.oid(), "constructorId": i, "constructorRef": s.words(1) + str(i),
                            "name": s.title(1),
                            "nationality": r.choice(["British", "Italian", "French", "German"])} for i in range(1, 60)],
          "!constructorId")
    s.put("drivers", [{"_id": s.oid(), "driverId": i, "driverRef": r.choice(LAST).lower() + str(i),
                       "number": s.maybe(.3, r.randint(2, 99)),
                       "code": s.maybe(.4, r.choice(LAST)[:3].upper()), "forename": r.choice(FIRST),
                       "surname": r.choice(LAST),
                       "dob": text_date(s.day(-30000, -8000))} for i in range(1, 241)], "!driverId")
    s.put("seasons", [{"_id": s.oid(), "year": y, "url": "http://wiki.example/%d_season" % y}
          for y in range(1996, 2022)], "!year")
    s.put("status", [{"_id": s.oid(), "statusId": i, "status": s.title(1) if i > 4 else "Finished"}
                     for i in range(1, 60)],
          "!statusId")
    races, results, grids, stops = [], [], [], []
    for i in range(1, 401):
        year = 1996 + (i - 1) // 16
        races.append({"_id": s.oid(), "raceId": i, "year": year, "round": (i - 1) % 16 + 1,
                      "circuitId": r.randint(1, 77),
                      "name": r.choice(CITY) + " Grand Prix", "date": text_date(s.day(0, 900))})
        field = r.sample(range(max(1, i // 2 - 20), min(240, i // 2 + 30)), 14)
        for pos, d in enumerate(field, 1):
            out = r.random() < .25
            results.append({"_id": s.oid(), "resultId": len(results) + 1, "raceId": i, "driverId": d,
                            "constructorId": d % 59 + 1,
                            "number": r.randint(1, 60), "grid": r.randrange(20), "position": None if out else pos,
                            "positionOrder": pos, "points": float(max(0, 11 - pos)), "laps": r.randint(10, 78),
                            "statusId": r.randint(5, 59) if out else r.randint(1, 4), "rank": r.randint(1, 14)})
            if pos <= 8:
                grids.append({"_id": s.oid(), "qualifyId": len(grids) + 1, "raceId": i, "driverId": d,
                              "constructorId": d % 59 + 1,
                              "position": r.randint(1, 20),
                              "q1": "1:%02d.%03d" % (r.randint(10, 40), r.randrange(1000))})
            if i > 350:
                stops += [{"_id": s.oid(), "raceId": i, "driverId": d, "stop": k, "lap": r.randint(4, 60),
                           "milliseconds": r.randint(18000, 40000)} for k in range(1, r.randint(2, 4))]
    s.put("races", races, "!raceId", "year,round", "year")
    s.put("results", results, "!resultId", "raceId,positionOrder", "driverId")
    s.put("qualifying", grids, "raceId", "driverId,raceId")
    s.put("pitStops", stops, "raceId,driverId")
    s.ref("""
        races:year seasons:year
        races:circuitId circuits:circuitId
        results:raceId races:raceId
        results:driverId drivers:driverId
        results:constructorId constructors:constructorId
        results:statusId status:statusId
        qualifying:raceId races:raceId
        qualifying:driverId drivers:driverId
        qualifying:constructorId constructors:constructorId
        pitStops:raceId races:raceId
        pitStops:driverId drivers:driverId""")
    s.allow("""
        qualifying:raceId+driverId results:raceId+driverId
        pitStops:raceId+driverId results:raceId+driverId
        pitStops:raceId+driverId qualifying:raceId+driverId""")


@data_set
def sakila(s):
    """Film rental: snake_case tables whose key became _id, join tables with two keys, last_update everywhere."""
    r = s.r
    stamp = s.day(-4000, -3999)
    s.put("country", [{"_id": i, "country": s.title(1), "last_update": stamp} for i in range(1, 110)])
    s.put("city", [{"_id": i, "city": s.title(1, 2), "country_id": r.randint(1, 109), "last_update": stamp}
                   for i in range(1, 601)], "country_id")
    s.put("address", [{"_id": i, "address": "%d %s Street" % (r.randint(1, 1999), s.title(1)), "address2": None,
                       "district": s.title(1), "city_id": r.randint(1, 600), "postal_code": str(r.randint(1000, 99999)),
                       "phone": str(r.randrange(10**10, 10**12)), "last_update": stamp} for i in range(1, 606)],
          "city_id")
    languages = ["English", "Italian", "Japanese", "Mandarin", "French", "German"]
    s.put("language", [{"_id": i, "name": n, "last_update": stamp} for i, n in enumerate(languages, 1)])
    groups = "Action Animation Children Classics Comedy Documentary Drama Family Foreign Games Horror Music New".split()
    s.put("category", [{"_id": i, "name": n, "last_update": stamp}
                       for i, n in enumerate(groups + ["SciFi", "Sports", "Travel"], 1)])
    s.put("actor", [{"_id": i, "first_name": r.choice(FIRST).upper(), "last_name": r.choice(LAST).upper(),
                     "last_update": stamp} for i in range(1, 201)], "last_name")
    s.put("film", [{"_id": i, "title": s.words(2).upper(), "description": s.words(8, 16), "release_year": 2006,
                    "language_id": 1 if r.random() < .95 else r.randint(2, 6), "original_language_id": None,
                    "rental_duration": r.randint(3, 7), "rental_rate": Cents(r.choice([99, 299, 499])),
                    "length": r.randint(46, 185), "replacement_cost": Cents(r.randrange(999, 2999, 100)),
                    "rating": r.choice("G PG PG-13 R NC-17".split()), "last_update": stamp} for i in range(1, 601)],
          "title", "language_id")
    s.put("film_actor", [{"_id": {"actor_id": a, "film_id": f}, "last_update": stamp} for f in range(1, 601)
                         for a in s.few(range(1, 201), 1, 6)], "_id.film_id")
    s.put("film_category", [{"_id": s.oid(), "film_id": f, "category_id": r.randint(1, 16), "last_update": stamp}
                            for f in range(1, 601)], "!film_id,category_id")
    s.put("store", [{"_id": i, "manager_staff_id": i, "address_id": i, "last_update": stamp} for i in (1, 2)])
    s.put("staff", [{"_id": i, "first_name": FIRST[i], "last_name": LAST[i], "address_id": i + 2, "store_id": i,
                     "email": FIRST[i].lower() + "@rent.example", "active": True, "username": FIRST[i],
                     "last_update": stamp} for i in (1, 2)])
    s.put("customer", [{"_id": i, "store_id": r.randint(1, 2), "first_name": r.choice(FIRST), "active": 1,
                        "last_name": r.choice(LAST), "email": "c%d@mail.example" % i, "address_id": i + 5,
                        "create_date": stamp} for i in range(1, 600)], "store_id", "address_id", "last_name")
    copies = [{"_id": i, "film_id": 1 + (i - 1) * 600 // 2400, "store_id": r.randint(1, 2), "last_update": stamp}
              for i in range(1, 2401)]
    s.put("inventory", copies, "film_id", "store_id,film_id")
    rentals, payments = [], []
    for i in range(1, 4501):
        when, customer, staff = s.day(-5000 + i / 60, -4999 + i / 60), r.randint(1, 599), r.randint(1, 2)
        rentals.append({"_id": i, "rental_date": when, "inventory_id": r.randint(1, 2400), "customer_id": customer,
                        "return_date": when + datetime.timedelta(hours=r.randint(20, 200)) if i % 50 else None,
                        "staff_id": staff, "last_update": stamp})
        payments.append({"_id": i, "customer_id": customer, "staff_id": staff, "rental_id": i,
                         "amount": Cents(r.choice([99, 299, 499, 599])), "payment_date": when})
    s.put("rental", rentals, "rental_date", "customer_id", "inventory_id")
    s.put("payment", payments[:4490], "customer_id", "rental_id")
    s.ref("""
        city:country_id country:_id
        address:city_id city:_id
        film:language_id language:_id
        film_actor:_id.actor_id actor:_id
        film_actor:_id.film_id film:_id
        film_category:film_id film:_id
        film_category:category_id category:_id
        store:manager_staff_id staff:_id either
        store:address_id address:_id
        staff:address_id address:_id
        staff:store_id store:_id either
        customer:store_id store:_id
        customer:address_id address:_id
        inventory:film_id film:_id
        inventory:store_id store:_id
        rental:inventory_id inventory:_id
        rental:customer_id customer:_id
        rental:staff_id staff:_id
        payment:customer_id customer:_id
        payment:staff_id staff:_id
        payment:rental_id rental:_id""")
    s.allow("inventory:store_id staff:store_id")


@data_set
def chinook(s):
    """A music shop in PascalCase; lists of tracks are long arrays of keys, some stored as doubles by a script."""
    r = s.r
    s.put("Artist", [{"_id": s.oid(), "ArtistId": i, "Name": s.title(1, 3)} for i in range(1, 276)], "!ArtistId")
    s.put("Album", [{"_id": s.oid(), "AlbumId": i, "Title": s.title(2, 4), "ArtistId": min(275, 1 + int(i * .79))}
                    for i in range(1, 348)], "!AlbumId", "ArtistId")
    genres = "Rock Jazz Metal Blues Latin Reggae Pop Soundtrack Classical Opera Drama Comedy World Samba".split()
    s.put("Genre", [{"_id": s.oid(), "GenreId": i, "Name": n} for i, n in enumerate(genres, 1)], "!GenreId")
    s.put("MediaType", [{"_id": s.oid(), "MediaTypeId": i, "Name": n} for i, n in
                        enumerate(("MPEG audio", "AAC audio", "Protected video", "AIFF", "FLAC"), 1)], "!MediaTypeId")
    s.put("Track", [{"_id": s.oid(), "TrackId": i, "Name": s.title(1, 5), "AlbumId": min(347, 1 + i * 347 // 2500),
                     "MediaTypeId": r.choice([1, 1, 1, 2, 3, 4, 5]), "GenreId": s.skew(range(1, 15)),
                     "Composer": s.maybe(.7, s.person()), "Milliseconds": r.randint(10**5, 5 * 10**5),
                     "Bytes": r.randint(10**6, 10**7), "UnitPrice": r.choice([.99, 1.99])} for i in range(1, 2501)],
          "!TrackId", "AlbumId", "GenreId")
    s.put("Playlist", [{"_id": s.oid(), "PlaylistId": i, "Name": s.title(1, 2),
                        "Tracks": [float(x) for x in s.few(range(1, 2501), *((5, 60) if i % 9 else (2050, 2300)))]}
                       for i in range(1, 121)], "!PlaylistId")
    s.put("Employee", [{"_id": s.oid(), "EmployeeId": i, "LastName": LAST[i], "FirstName": FIRST[i],
                        "Title": "Sales Support" if i > 2 else "Manager", "ReportsTo": None if i == 1 else 1 + (i > 3),
                        "HireDate": s.day(-6000, -5000), "PostalCode": "T2P %dM%d" % (i, i)} for i in range(1, 9)],
          "!EmployeeId")
    s.put("Customer", [{"_id": s.oid(), "CustomerId": i, "FirstName": r.choice(FIRST), "LastName": r.choice(LAST),
                        "Company": s.maybe(.3, s.title(2)), "City": r.choice(CITY), "Country": r.choice(COUNTRY),
                        "Phone": "+%d %d" % (r.randint(1, 99), r.randrange(10**8)),
                        "SupportRepId": r.randint(3, 5)} for i in range(1, 60)], "!CustomerId")
    invoices, lines = [], []
    for i in range(1, 701):
        invoices.append({"_id": s.oid(), "InvoiceId": i, "CustomerId": (i * 37) % 59 + 1,
                         "InvoiceDate": s.day(i, i + 1),
                         "BillingCity": r.choice(CITY), "BillingPostalCode": str(r.randrange(9999)),
                         "Total": r.randint(99, 2500) / 100})
        lines += [{"_id": s.oid(), "InvoiceLineId": len(lines) + k, "InvoiceId": i, "TrackId": t, "UnitPrice": .99,
                   "Quantity": 1} for k, t in enumerate(s.few(range(1, 2501), 1, 9), 1)]
    s.put("Invoice", invoices, "!InvoiceId", "CustomerId", "CustomerId,InvoiceDate")
    s.put("InvoiceLine", lines, "!InvoiceLineId", "InvoiceId")
    s.ref("""
        Album:ArtistId Artist:ArtistId
        Track:AlbumId Album:AlbumId
        Track:MediaTypeId MediaType:MediaTypeId
        Track:GenreId Genre:GenreId
        Playlist:Tracks[] Track:TrackId
        Employee:ReportsTo Employee:EmployeeId
        Customer:SupportRepId Employee:EmployeeId
        Invoice:CustomerId Customer:CustomerId
        InvoiceLine:InvoiceId Invoice:InvoiceId
        InvoiceLine:TrackId Track:TrackId""")


@data_set
def tpch(s):
    """A benchmark's tables: each field begins with a letter of its table, keys are dense numbers, once double."""
    r = s.r
    s.put("region", [{"_id": s.oid(), "r_regionkey": i, "r_name": s.words(1).upper()} for i in range(5)],
          "!r_regionkey")
    s.put("nation", [{"_id": s.oid(), "n_nationkey": i, "n_name": s.words(1).upper(), "n_regionkey": i % 5}
                     for i in range(25)], "!n_nationkey")
    s.put("supplier", [{"_id": s.oid(), "s_suppkey": i, "s_name": "Supplier#%09d" % i, "s_nationkey": r.randrange(25),
                        "s_phone": "%d-%03d-%04d" % (r.randint(10, 34), r.randrange(1000), r.randrange(10000)),
                        "s_acctbal": r.randrange(-99999, 999999) / 100} for i in range(1, 51)], "!s_suppkey")
    s.put("customer", [{"_id": s.oid(), "c_custkey": i, "c_name": "Customer#%09d" % i, "c_nationkey": r.randrange(25),
                        "c_acctbal": r.randrange(-99999, 999999) / 100, "c_comment": s.words(4, 9),
                        "c_mktsegment": r.choice(["BUILDING", "MACHINERY", "FURNITURE"])} for i in range(1, 601)],
          "!c_custkey", "c_nationkey")
    s.put("part", [{"_id": s.oid(), "p_partkey": i, "p_name": s.words(3), "p_brand": "Brand#%d" % r.randint(11, 55),
                    "p_size": r.randint(1, 50), "p_retailprice": 900 + i / 10} for i in range(1, 801)], "!p_partkey")
    stock = [(p, (p + k * 13) % 50 + 1) for p in range(1, 801) for k in range(3)]
    s.put("partsupp", [{"_id": s.oid(), "ps_partkey": p, "ps_suppkey": u, "ps_availqty": r.randint(1, 9999),
                        "ps_supplycost": r.randint(100, 99999) / 100} for p, u in stock], "!ps_partkey,ps_suppkey")
    orders, lines = [], []
    for i in range(1500):
        key = i // 8 * 32 + i % 8 + 1
        orders.append({"_id": s.oid(), "o_orderkey": key, "o_custkey": float(3 * r.randint(1, 200) - r.randint(1, 2)),
                       "o_orderstatus": r.choice("FOP"), "o_totalprice": r.randrange(10**5, 4 * 10**7) / 100,
                       "o_orderdate": s.day(-9500, -7200), "o_shippriority": 0,
                       "o_clerk": "Clerk#%09d" % r.randint(1, 9)})
        for n, (p, u) in enumerate(r.choices(stock, k=r.randint(1, 7)), 1):
            lines.append({"_id": s.oid(), "l_orderkey": key, "l_partkey": p, "l_suppkey": u, "l_linenumber": n,
                          "l_quantity": r.randint(1, 50), "l_discount": r.randrange(11) / 100, "l_tax": .04,
                          "l_returnflag": r.choice("ANR"), "l_shipdate": s.day(-9500, -7100),
                          "l_shipmode": r.choice("AIR RAIL SHIP TRUCK MAIL".split())})
    s.put("orders", orders, "!o_orderkey", "o_custkey")
    s.put("lineitem", lines, "l_orderkey", "l_orderkey,l_linenumber", "l_partkey,l_suppkey")
    s.ref("""
        nation:n_regionkey region:r_regionkey
        supplier:s_nationkey nation:n_nationkey
        customer:c_nationkey nation:n_nationkey
        partsupp:ps_partkey part:p_partkey
        partsupp:ps_suppkey supplier:s_suppkey
        orders:o_custkey customer:c_custkey
        lineitem:l_orderkey orders:o_orderkey
        lineitem:l_partkey part:p_partkey
        lineitem:l_suppkey supplier:s_suppkey
        lineitem:l_partkey+l_suppkey partsupp:ps_partkey+ps_suppkey""")


@data_set
def tpcds(s):
    """A warehouse of surrogate keys: facts with nulls for what is not known, dimensions that refer to others."""
    r = s.r
    days = range(2450815, 2450815 + 1100)
    s.put("date_dim", [{"d_date_sk": d, "d_date": text_date(s.day(d - 2458485, d - 2458484)), "d_year": 1998 + i // 365,
                        "d_moy": i % 365 // 31 + 1, "d_dow": d % 7, "d_week_seq": 5000 + i // 7, "_id": s.oid()}
                       for i, d in enumerate(days)], "!d_date_sk")
    s.put("customer_address", [{"_id": s.oid(), "ca_address_sk": i, "ca_city": r.choice(CITY), "ca_gmt_offset": -5,
                                "ca_zip": "%05d" % r.randrange(99999)} for i in range(1, 501)], "!ca_address_sk")
    s.put("customer_demographics", [{"_id": s.oid(), "cd_demo_sk": i, "cd_gender": "MF"[i % 2], "cd_dep_count": i % 7,
                                     "cd_purchase_estimate": 500 * (i % 20 + 1)} for i in range(1, 1401)],
          "!cd_demo_sk")
    s.put("household_demographics", [{"_id": s.oid(), "hd_demo_sk": i, "hd_income_band_sk": i % 20 + 1,
                                      "hd_vehicle_count": i % 5} for i in range(1, 361)], "!hd_demo_sk")
    s.put("income_band", [{"_id": s.oid(), "ib_income_band_sk": i, "ib_lower_bound": 10000 * i - 9999,
                           "ib_upper_bound": 10000 * i} for i in range(1, 21)], "!ib_income_band_sk")
    s.put("customer", [{"_id": s.oid(), "c_customer_sk": i, "c_customer_id": "AAAAAAAA%08X" % (i * 48271 % 10**9),
                        "c_current_cdemo_sk": r.randint(1, 1400), "c_current_hdemo_sk": r.randint(1, 360),
                        "c_current_addr_sk": r.randint(1, 500), "c_first_sales_date_sk": r.choice(days),
                        "c_birth_day": r.randint(1, 28), "c_birth_year": r.randint(1924, 1992),
                        "c_last_name": r.choice(LAST)} for i in range(1, 901)], "!c_customer_sk", "!c_customer_id")
    s.put("item", [{"_id": s.oid(), "i_item_sk": i, "i_item_id": "ITEM%06X" % (i // 2 * 7919),
                    "i_brand_id": 1001000 + i % 40,
                    "i_class_id": i % 15 + 1, "i_category_id": i % 10 + 1, "i_manufact_id": i % 90 + 1,
                    "i_current_price": r.randint(9, 9900) / 100} for i in range(1, 701)], "!i_item_sk")
    s.put("store", [{"_id": s.oid(), "s_store_sk": i, "s_store_name": s.words(1),
                     "s_number_employees": r.randint(200, 300),
                     "s_floor_space": r.randint(5 * 10**6, 10**7), "s_closed_date_sk": s.maybe(.4, r.choice(days))}
                    for i in range(1, 13)], "!s_store_sk")
    s.put("promotion", [{"_id": s.oid(), "p_promo_sk": i, "p_start_date_sk": r.choice(days),
                         "p_item_sk": r.randint(1, 700),
                         "p_end_date_sk": r.choice(days), "p_cost": 1000.0} for i in range(1, 151)], "!p_promo_sk")
    null = lambda v: None if r.random() < .04 else v
    sales = []
    for t in range(1, 2601):
        who, day = r.randint(1, 900), r.choice(days)
        for item in s.few(range(1, 701), 1, 2):
            sales.append({"_id": s.oid(), "ss_sold_date_sk": null(day), "ss_item_sk": item, "ss_customer_sk": null(who),
                          "ss_cdemo_sk": null(r.randint(1, 1400)), "ss_hdemo_sk": null(r.randint(1, 360)),
                          "ss_addr_sk": null(r.randint(1, 500)), "ss_store_sk": null(r.randint(1, 12)),
                          "ss_promo_sk": null(r.randint(1, 150)), "ss_ticket_number": t,
                          "ss_quantity": r.randint(1, 100),
                          "ss_net_paid": r.randint(1, 99999) / 100})
    s.put("store_sales", sales, "ss_sold_date_sk", "ss_item_sk,ss_ticket_number", "ss_customer_sk")
    s.put("store_returns", [{"_id": s.oid(), "sr_returned_date_sk": r.choice(days), "sr_item_sk": x["ss_item_sk"],
                             "sr_ticket_number": x["ss_ticket_number"], "sr_customer_sk": x["ss_customer_sk"],
                             "sr_return_quantity": r.randint(1, x["ss_quantity"])} for x in r.sample(sales, 400)],
          "sr_item_sk,sr_ticket_number", "sr_item_sk")
    s.ref("""
        household_demographics:hd_income_band_sk income_band:ib_income_band_sk
        customer:c_current_cdemo_sk customer_demographics:cd_demo_sk
        customer:c_current_hdemo_sk household_demographics:hd_demo_sk
        customer:c_current_addr_sk customer_address:ca_address_sk
        customer:c_first_sales_date_sk date_dim:d_date_sk
        promotion:p_start_date_sk date_dim:d_date_sk
        promotion:p_end_date_sk date_dim:d_date_sk
        promotion:p_item_sk item:i_item_sk
        store:s_closed_date_sk date_dim:d_date_sk
        store_sales:ss_sold_date_sk date_dim:d_date_sk
        store_sales:ss_item_sk item:i_item_sk
        store_sales:ss_customer_sk customer:c_customer_sk
        store_sales:ss_cdemo_sk customer_demographics:cd_demo_sk
        store_sales:ss_hdemo_sk household_demographics:hd_demo_sk
        store_sales:ss_addr_sk customer_address:ca_address_sk
        store_sales:ss_store_sk store:s_store_sk
        store_sales:ss_promo_sk promotion:p_promo_sk
        store_returns:sr_returned_date_sk date_dim:d_date_sk
        store_returns:sr_item_sk item:i_item_sk
        store_returns:sr_customer_sk customer:c_customer_sk
        store_returns:sr_item_sk+sr_ticket_number store_sales:ss_item_sk+ss_ticket_number""")
    s.allow("store_returns:sr_ticket_number store_sales:ss_ticket_number")


@data_set
def wordpress(s):
    """A weblog's tables as they were: prefixes on half of the fields, 0 where there is nothing."""
    r = s.r
    users = sorted(r.sample(range(1, 90), 40))
    s.put("wp_users", [{"_id": s.oid(), "ID": u, "user_login": r.choice(FIRST).lower() + str(u),
                        "user_email": "w%d@blog.example" % u,
                        "user_status": 0, "user_registered": s.day(0, 900)} for u in users], "!ID", "user_login")
    s.put("wp_usermeta", [{"_id": s.oid(), "umeta_id": 5 * i + k, "user_id": u, "meta_key": m, "meta_value": s.words(1)}
                          for i, u in enumerate(users)
                          for k, m in enumerate(("nickname", "locale", "wp_user_level"))], "user_id")
    ids = sorted(r.sample(range(3, 4000), 1300))
    posts = []
    for i in ids:
        kind = r.choice(["post", "page", "attachment", "revision", "revision"])
        posts.append({"_id": s.oid(), "ID": i, "post_author": s.skew(users), "post_date": s.day(i / 4, i / 4 + 1),
                      "post_title": s.title(2, 6),
                      "post_content": s.words(20, 60), "post_name": s.words(2).replace(" ", "-"), "post_type": kind,
                      "menu_order": r.choice([0, 0, 1, 2]),
                      "post_parent": r.choice(posts)["ID"] if posts and kind in ("attachment", "revision") else 0,
                      "comment_count": r.randrange(9),
                      "guid": "https://blog.example/?p=%d" % i,
                      "post_status": "inherit" if kind == "revision" else "publish"})
    s.put("wp_posts", posts, "!ID", "post_author", "post_parent", "post_type,post_date", "post_type")
    meta = []
    for p in posts:
        meta.append({"_id": s.oid(), "meta_id": 2 * len(meta) + 7, "post_id": p["ID"], "meta_key": "_edit_lock",
                     "meta_value": "15%08d:1" % r.randrange(10**8)})
        if r.random() < .4:
            meta.append({"_id": s.oid(), "meta_id": 2 * len(meta) + 7, "post_id": p["ID"], "meta_key": "_wp_file",
                         "meta_value": s.words(1) + ".jpg"})
    s.put("wp_postmeta", meta, "post_id", "meta_key")
    comments = []
    for i in range(1900):
        up = r.choice(comments[-200:]) if comments and r.random() < .3 else None
        comments.append({"_id": s.oid(), "comment_ID": 2 + 3 * i,
                         "comment_post_ID": up["comment_post_ID"] if up else s.skew(ids[::-1]),
                         "comment_author": s.person(), "comment_content": s.words(5, 20), "comment_karma": 0,
                         "comment_approved": "1",
                         "comment_parent": up["comment_ID"] if up else 0,
                         "user_id": r.choice(users) if r.random() < .2 else 0})
    s.put("wp_comments", comments, "!comment_ID", "comment_post_ID")
    s.put("wp_terms", [{"_id": s.oid(), "term_id": i, "name": s.title(1), "slug": s.words(1) + str(i),
                        "term_group": 0} for i in range(1, 121)], "!term_id")
    s.put("wp_term_taxonomy", [{"_id": s.oid(), "term_taxonomy_id": i + 4 * (i > 60), "term_id": i,
                                "taxonomy": r.choice(["category", "post_tag"]),
                                "parent": r.randint(1, 40) if i > 90 else 0,
                                "count": r.randrange(50)} for i in range(1, 121)],
          "!term_taxonomy_id", "term_id,taxonomy")
    s.put("wp_term_relationships", [{"_id": s.oid(), "object_id": i, "term_taxonomy_id": t + 4 * (t > 60),
                                     "term_order": 0}
                                    for i in ids for t in s.few(range(1, 121), 0, 3)], "object_id,term_taxonomy_id")
    s.ref("""
        wp_usermeta:user_id wp_users:ID
        wp_posts:post_author wp_users:ID
        wp_posts:post_parent wp_posts:ID
        wp_postmeta:post_id wp_posts:ID
        wp_comments:comment_post_ID wp_posts:ID
        wp_comments:comment_parent wp_comments:comment_ID
        wp_comments:user_id wp_users:ID
        wp_term_taxonomy:term_id wp_terms:term_id
        wp_term_taxonomy:parent wp_terms:term_id
        wp_term_relationships:object_id wp_posts:ID
        wp_term_relationships:term_taxonomy_id wp_term_taxonomy:term_taxonomy_id""")
    s.allow("wp_term_taxonomy:parent wp_term_taxonomy:term_id")
    s.unjudged.add("orphans")  # 0 says that there is none
