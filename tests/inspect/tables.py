# SPDX-License-Identifier: Apache-2.0
"""tables.py - sets that are relational tables, imported one by one: running numbers in every table, prefixes, join tables."""
import datetime

from truth import CITY, COUNTRY, FIRST, LAST, NO, Cents, data_set, text_date


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
