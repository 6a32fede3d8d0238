# SPDX-License-Identifier: Apache-2.0
"""apps.py - sets that web and mobile applications keep: users, what they write and own, who did what."""
import datetime

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, data_set, str_id


@data_set
def mflix(s):
    """Films with comments apart: people are known by e-mail in one place and by ObjectId in none."""
    r = s.r
    genres = "Drama Comedy Romance Crime Thriller Action Documentary Horror Short War Western Family".split()
    people = [s.person() for _ in range(400)]
    mails = ["%s_%s%d@%s.example" % (*p.lower().split(), i, s.words(1)) for i, p in enumerate(people)]
    s.put("users", [{"_id": s.oid(), "name": p, "email": m,
                     "password": "$2b$12$" + "".join(r.choices("abcXYZ0189./", k=53))}
                    for p, m in zip(people, mails)], "!email")
    movies = []
    for i in range(900):
        year = r.randint(1915, 2016)
        movies.append({"_id": s.oid(), "plot": s.words(8, 20), "genres": s.few(genres, 1, 3),
                       "runtime": r.randint(1, 200),
                       "cast": [s.person() for _ in range(4)], "title": s.title(1, 4),
                       "rated": s.maybe(.5, r.choice("PG R G".split())),
                       "released": s.day(-30000, -1000), "directors": [s.person() for _ in range(r.randint(1, 2))],
                       "year": "%d\u00e8" % year if i % 80 == 7 else year,
                       "imdb": {"rating": r.choice(["",
                                                    r.randint(20, 95) / 10]) if i % 50 == 3 else r.randint(20, 95) / 10,
                                "votes": r.randrange(9, 900000), "id": 5 + i * 137 + r.randrange(130)},
                       "awards": {"wins": r.randrange(9), "nominations": r.randrange(12)}, "type": "movie",
                       "lastupdated": "2015-08-%02d 00:%02d:12.%09d" % (r.randint(1, 31), r.randrange(60),
                                                                        r.getrandbits(29)),
                       "num_mflix_comments": 0,
                       "tomatoes": s.maybe(.8, {"viewer": {"rating": r.randint(10, 50) / 10,
                                                           "numReviews": r.randrange(5000)}})})
    comments, best = [], movies[:]
    r.shuffle(best)
    for _ in range(4200):
        m, i = s.skew(best, 3), r.randrange(400)
        m["num_mflix_comments"] += 1
        comments.append({"_id": s.oid(), "name": people[i], "email": mails[i], "movie_id": m["_id"],
                         "text": s.words(6, 25), "date": s.day(-9000, 400)})
    for c in r.sample(comments, 60):
        c["movie_id"] = s.oid()
    s.put("movies", movies, "year,title", "year", "genres")
    s.put("comments", comments, "movie_id")
    s.put("sessions", [{"_id": s.oid(), "user_id": m, "jwt": "eyJ" + "".join(r.choices("abcDEF123", k=90))}
                       for m in mails[:150]], "!user_id")
    s.put("theaters", [{"_id": s.oid(), "theaterId": 1000 + i, "location": {"address": {
        "street1": "%d %s St" % (r.randrange(1, 900), s.title(1)), "city": r.choice(CITY), "state": r.choice(COUNTRY),
        "zipcode": "%05d" % r.randrange(501, 99950)},
        "geo": {"type": "Point", "coordinates": [r.uniform(-120, -70), r.uniform(25, 48)]}}}
                       for i in range(300)], "!theaterId")
    s.ref("""
        comments:movie_id movies:_id
        comments:email users:email
        sessions:user_id users:email""")
    s.copy("comments:email users:email name name")


@data_set
def bank(s):
    """Accounts that belong to persons or to companies, known by UUID; transfers by account number."""
    r = s.r
    currencies = "EUR USD GBP CHF SEK NOK DKK PLN CZK HUF JPY AUD".split()
    s.put("currencies", [{"_id": c, "name": s.title(1), "decimals": 2} for c in currencies])
    s.put("countries", [{"_id": c, "name": s.title(1), "currency": r.choice(currencies),
                         "phonePrefix": r.randint(30, 420)}
                        for c in COUNTRY])
    branches = ["%s%03d" % (c, i) for i, c in enumerate(COUNTRY[:36], 100)]
    s.put("branches", [{"_id": b, "city": r.choice(CITY), "country": b[:2], "manager": s.person()} for b in branches])
    persons, firms = [s.uuid() for _ in range(700)], [s.uuid() for _ in range(150)]
    s.put("individuals", [{"_id": p, "fullName": s.person(), "dateOfBirth": s.day(-25000, -7000),
                           "nationality": s.skew(COUNTRY), "taxNo": str(r.randrange(10**9, 10**10)),
                           "riskClass": r.randint(1, 5)}
                          for p in persons], "nationality")
    s.put("legalEntities", [{"_id": f, "legalName": s.title(2) + " Ltd", "registeredIn": s.skew(COUNTRY),
                             "directors": s.few(persons, 1, 4), "foundedYear": r.randint(1950, 2018)} for f in firms],
          "directors")
    accounts = []
    for i in range(1100):
        firm = r.random() < .25
        accounts.append({"_id": "%s%02dBANK%014d" % (r.choice(COUNTRY[:9]), r.randrange(10, 99), 4711000 + i * 97),
                         "holder": {"kind": "legal" if firm else "natural", "id": r.choice(firms if firm else persons)},
                         "branch": r.choice(branches), "currency": s.skew(currencies, 3), "opened": s.day(-2000, 900),
                         "balance": Cents(r.randrange(-10**5, 10**8)),
                         "status": r.choice(["open", "open", "closed", "frozen"])})
    numbers = [a["_id"] for a in accounts]
    s.put("accounts", accounts, "holder.id", "branch", "branch,status")
    transfers = []
    for i in range(6000):
        far = r.random() < .04
        transfers.append({"_id": s.uuid(), "debit": {"account": s.skew(numbers)}, "currency": s.skew(currencies, 3),
                          "credit": {"account": "XX%020d" % r.getrandbits(60) if far else r.choice(numbers)},
                          "amount": Cents(r.randrange(100, 10**7)), "valueDate": s.day(900, 1300),
                          "state": s.skew([3, 2, 9, 1], 4),
                          "channel": r.choice(["web", "branch", "mobile"])})
    s.put("transfers", transfers, "debit.account,valueDate", "credit.account", "state")
    s.put("cards", [{"_id": s.oid(), "pan": "4%015d" % (i * 7919 + 10**12), "accountNo": a,
                     "holderId": str(r.choice(persons)),
                     "expires": "%02d/%02d" % (r.randint(1, 12), r.randint(24, 29)),
                     "dailyLimit": r.choice([500, 1000, 2000])}
                    for i, a in enumerate(r.choices(numbers, k=800))], "!pan", "accountNo")
    s.ref("""
        countries:currency currencies:_id
        branches:country countries:_id
        individuals:nationality countries:_id
        legalEntities:registeredIn countries:_id
        legalEntities:directors[] individuals:_id
        accounts:holder.id individuals:_id
        accounts:holder.id legalEntities:_id
        accounts:branch branches:_id
        accounts:currency currencies:_id
        transfers:debit.account accounts:_id
        transfers:credit.account accounts:_id
        transfers:currency currencies:_id
        cards:accountNo accounts:_id
        cards:holderId individuals:_id""")


@data_set
def company(s):
    """People of a company: both sides keep the reference, and they have drifted apart."""
    r = s.r
    people, teams, projects = [s.oid() for _ in range(450)], [s.oid() for _ in range(38)], [s.oid() for _ in range(160)]
    docs, of_team = [], {t: [] for t in teams}
    for i, p in enumerate(people):
        team = r.choice(teams)
        docs.append({"_id": p, "employeeNo": "E%05d" % (10000 + 7 * i),
                     "name": {"first": r.choice(FIRST), "last": r.choice(LAST)},
                     "team": team, "manager": people[(i - 1) // 6] if i else NO,
                     "salary": r.randrange(28000, 140000, 500), "grade": r.randint(1, 9),
                     "hired": s.day(0, 1500), "phone": "+49 30 %07d" % r.getrandbits(23),
                     "zip": "%05d" % r.randrange(10115, 14199)})
        if r.random() > .03:
            of_team[team if r.random() > .04 else r.choice(teams)].append(p)
    s.put("employees", docs, "!employeeNo", "team", "manager", "name.last,name.first", "name.last")
    s.put("teams", [{"_id": t, "name": s.title(2), "members": of_team[t], "lead": r.choice(people),
                     "costCenter": 4000 + 10 * i}
                    for i, t in enumerate(teams)])
    s.put("projects", [{"_id": p, "key": "".join(r.sample("ABCDEFGHKLMNPRSTUVW", 3)) + str(i), "title": s.title(3),
                        "staff": [{"who": e, "percent": r.choice([20, 40, 50, 100]), "since": s.day(900, 1500)}
                                  for e in s.few(people, 2, 9)], "sponsor": s.maybe(.8, str_id(r.choice(people[:40]))),
                        "status": r.choice(["draft", "running", "done"])} for i, p in enumerate(projects)], "!key",
                        "staff.who")
    s.put("timesheets", [{"_id": s.oid(), "employee": r.choice(people), "project": s.skew(projects, 1.4),
                          "week": r.randint(1, 52),
                          "year": r.choice([2020, 2021]), "hours": r.randint(1, 40),
                          "approvedBy": s.maybe(.9, r.choice(people[:75])),
                          "note": s.maybe(.3, s.words(3, 8))} for _ in range(5000)], "employee,year,week", "project")
    s.put("profiles", [{"_id": s.oid(), "employeeId": p, "bio": s.words(20, 50),
                        "photo": "/img/%d.jpg" % r.getrandbits(30),
                        "skills": s.few(WORD[:30], 1, 6)} for p in people], "!employeeId")
    s.put("vacations", [{"_id": s.oid(), "requester": r.choice(people), "approver": r.choice(people[:75]),
                         "from": s.day(900, 1400),
                         "days": r.randint(1, 20),
                         "state": r.choice("pending granted denied".split())} for _ in range(900)], "requester")
    s.ref("""
        employees:team teams:_id
        employees:manager employees:_id
        teams:members[] employees:_id
        teams:lead employees:_id
        projects:staff[].who employees:_id
        projects:sponsor employees:_id
        timesheets:employee employees:_id
        timesheets:project projects:_id
        timesheets:approvedBy employees:_id
        profiles:employeeId employees:_id
        vacations:requester employees:_id
        vacations:approver employees:_id""")
    s.two_way("teams", "members[]", "employees", "team")
    s.more["tree"] = s.tree_figures("employees", "manager")
    s.unjudged.add("deep-tree")
