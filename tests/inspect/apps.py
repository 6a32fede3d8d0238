# SPDX-License-Identifier: Apache-2.0
"""apps.py - sets that web and mobile applications keep: users, what they write and own, who did what."""
from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date


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
                       "imdb": {"rating": "" if i % 60 == 3 else r.randint(20, 95) / 10,
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


@data_set
def stackoverflow(s):
    """The public dump of a question site: numbers of posts and users with gaps, small numbers of kinds beside them."""
    r = s.r
    users = sorted(r.sample(range(1, 3000), 600))
    posts, kinds, t = [], {}, 0
    ids = sorted(r.sample(range(4, 9000), 2200))
    asked = []
    for i in ids:
        t += r.random()
        question = not asked or r.random() < .45
        p = {"_id": i, "PostTypeId": 1 if question else 2, "ParentId": NO if question else s.skew(asked[::-1])["_id"],
             "CreationDate": s.day(t, t + 1), "Score": r.randint(-5, 60),
             "ViewCount": s.maybe(question, r.randrange(40000)),
             "Body": "<p>" + s.words(15, 60) + "</p>", "OwnerUserId": s.maybe(.97, s.skew(users, 1.5)),
             "LastEditorUserId": s.maybe(.4, r.choice(users)), "Title": s.title(4, 8) if question else NO,
             "Tags": s.few(WORD[:60], 1, 5) if question else NO, "AnswerCount": 0 if question else NO,
             "CommentCount": 0, "ContentLicense": "CC BY-SA 4.0"}
        if question:
            asked.append(p)
        posts.append(p)
        kinds[i] = p
    for p in posts:
        q = kinds.get(p["ParentId"])
        if q:
            q["AnswerCount"] += 1
            if "AcceptedAnswerId" not in q and r.random() < .4:
                q["AcceptedAnswerId"] = p["_id"]
    s.put("Posts", posts, "PostTypeId,CreationDate", "ParentId", "OwnerUserId", "Tags")
    s.put("Users", [{"_id": u, "Reputation": r.randrange(1, 50000), "DisplayName": s.person(),
                     "AccountId": 3 * u + 7 * r.randrange(900),
                     "CreationDate": s.day(0, 900), "Location": s.maybe(.5, r.choice(CITY)), "Views": r.randrange(2000),
                     "UpVotes": r.randrange(900), "DownVotes": r.randrange(50)} for u in [-1] + users])
    comments, gone = [], sorted(set(range(4, 9000)) - set(ids))  # deleted posts leave their comments
    for i in range(3000):
        p = s.skew(posts, 1.5)
        p["CommentCount"] += 1
        comments.append({"_id": 10 + 3 * i, "PostId": p["_id"] if r.random() > .05 else r.choice(gone),
                         "Score": r.randrange(9),
                         "Text": s.words(4, 20), "CreationDate": s.day(0, 1500), "UserId": s.maybe(.98, s.skew(users))})
    s.put("Comments", comments, "PostId", "UserId")
    s.put("Votes", [{"_id": i, "PostId": r.choice(ids), "VoteTypeId": r.choice([2, 2, 2, 1, 3, 5, 8, 10]),
                     "UserId": s.maybe(.1, r.choice(users)), "CreationDate": s.day(0, 1500),
                     "BountyAmount": s.maybe(.02, r.choice([50, 100, 250]))} for i in range(1, 4500)], "PostId")
    s.put("Badges",
          [{"_id": i, "UserId": s.skew(users), "Name": s.skew(["Teacher", "Student", "Editor", "Scholar", "Guru"]),
                      "Date": s.day(0, 1500), "Class": r.randint(1, 3), "TagBased": False} for i in range(1, 1800)],
                      "UserId")
    s.put("PostLinks", [{"_id": 19 + 2 * i, "CreationDate": s.day(0, 1500), "PostId": r.choice(ids),
                         "RelatedPostId": r.choice(ids),
                         "LinkTypeId": r.choice([1, 1, 1, 3])} for i in range(400)])
    s.put("Tags", [{"_id": i, "TagName": w, "Count": r.randrange(1, 900), "ExcerptPostId": s.maybe(.7, r.choice(ids))}
                   for i, w in enumerate(WORD[:60], 1)], "!TagName")
    s.ref("""
        Posts:ParentId Posts:_id
        Posts:AcceptedAnswerId Posts:_id
        Posts:OwnerUserId Users:_id
        Posts:LastEditorUserId Users:_id
        Posts:Tags[] Tags:TagName
        Comments:PostId Posts:_id
        Comments:UserId Users:_id
        Votes:PostId Posts:_id
        Votes:UserId Users:_id
        Badges:UserId Users:_id
        PostLinks:PostId Posts:_id
        PostLinks:RelatedPostId Posts:_id
        Tags:ExcerptPostId Posts:_id""")
    s.more["tree"] = s.tree_figures("Posts", "ParentId")


@data_set
def github(s):
    """A code host's API, mirrored: large numbers as ids, the user copied into everything, some copies out of date."""
    r = s.r
    users = [{"_id": s.oid(), "id": 583231 + 7919 * i + r.randrange(5000),
              "login": (r.choice(FIRST) + r.choice(["", "-"]) + s.words(1)).lower() + str(i),
              "type": "User", "site_admin": False, "name": s.maybe(.7, s.person()),
              "followers": r.randrange(900)} for i in range(500)]

    def brief(u, old=.05):
        return {"login": u["login"] + "-old" * (r.random() < old), "id": u["id"], "type": "User"}

    repos = []
    for i in range(260):
        o, name = s.skew(users), s.words(1, 2).replace(" ", "-")
        source = r.choice(repos) if repos and r.random() < .3 else None
        repos.append({"_id": s.oid(), "id": 1296269 + 104729 * i, "name": name,
                      "full_name": o["login"] + "/%s%d" % (name, i),
                      "owner": brief(o), "fork": source is not None, "language": r.choice(["C", "Go", "Python", None]),
                      "parent": {"id": source["id"], "full_name": source["full_name"]} if source else NO,
                      "stargazers_count": r.randrange(9000), "topics": s.few(WORD, 0, 4), "default_branch": "main",
                      "license": s.maybe(.7, {"key": r.choice(["mit", "apache-2.0", "gpl-3.0"]), "spdx_id": "X"})})
    issues = []
    for i in range(2200):
        repo = s.skew(repos)
        pr = r.random() < .3
        issues.append({"_id": s.oid(), "id": 2 * 10**9 + 7 * i * 911, "number": r.randrange(1, 900),
                       "repository_id": repo["id"],
                       "title": s.title(3, 7), "user": brief(r.choice(users)), "state": r.choice(["open", "closed"]),
                       "labels": [{"name": w, "color": "%06x" % (len(w) * 991 * 211)}
                                  for w in s.few(["bug", "docs", "question", "wontfix", "help"], 0, 2)],
                       "assignees": [brief(u, 0) for u in s.few(users, 0, 2)], "comments": r.randrange(12),
                       "pull_request": {"merged_by": brief(r.choice(users), 0),
                                        "head": {"sha": "%040x" % r.getrandbits(160)}} if pr else NO,
                       "created_at": s.day(0, 1500), "closed_at": None, "locked": False})
    commits = []
    for i in range(1500):
        near = commits[-40:]
        commits.append({"_id": "%040x" % r.getrandbits(160), "repo": s.skew(repos)["full_name"],
                        "message": s.words(4, 12),
                        "author": {"email": "%s@mail.example" % s.words(1), "login": r.choice(users)["login"]},
                        "parents": [c["_id"] for c in s.few(near, 1, 2)] if near else [], "additions": r.randrange(900),
                        "date": s.day(i, i + 1)})
    s.put("users", users, "!id", "!login")
    s.put("repos", repos, "!id", "!full_name", "owner.id")
    s.put("issues", issues, "!id", "repository_id,number", "user.id", "labels.name")
    s.put("commits", commits, "repo,-date", "repo", "parents")
    stars = [{"_id": {"user": u["id"], "repo": x["id"]}, "starred_at": s.day(0, 1500)} for u in users
             for x in s.few(repos, 0, 5)]
    s.put("stars", stars)
    s.ref("""
        repos:owner.id users:id
        repos:parent.id repos:id
        issues:repository_id repos:id
        issues:user.id users:id
        issues:assignees[].id users:id
        issues:pull_request.merged_by.id users:id
        commits:repo repos:full_name
        commits:author.login users:login
        commits:parents[] commits:_id
        stars:_id.user users:id
        stars:_id.repo repos:id""")
    s.allow("""
        repos:owner.login users:login
        issues:user.login users:login
        issues:assignees[].login users:login
        issues:pull_request.merged_by.login users:login
        repos:parent.full_name repos:full_name""")
    s.copy("""
        repos:owner.id users:id owner.login login
        issues:user.id users:id user.login login
        issues:assignees[].id users:id assignees[].login login
        issues:pull_request.merged_by.id users:id pull_request.merged_by.login login
        repos:parent.id repos:id parent.full_name full_name""")


@data_set
def saas(s):
    """Many tenants in one database: tenantId everywhere, binary UUIDs that an older service writes as text."""
    r = s.r
    tenants = [s.uuid() for _ in range(60)]
    plans = [{"_id": "plan_free", "price": 0}, {"_id": "plan_starter", "price": 19}, {"_id": "plan_team", "price": 99},
             {"_id": "plan_business", "price": 249}, {"_id": "plan_enterprise", "price": 999}]
    s.put("plans", plans)
    users, of = [], {t: [] for t in tenants}
    for i in range(900):
        t = s.skew(tenants, 1.6)
        users.append({"_id": s.uuid(), "tenantId": t, "email": "user%d@%s.example" % (i, s.words(1)),
                      "displayName": s.person(),
                      "roles": s.few(["admin", "editor", "viewer", "billing"], 1, 2),
                      "locale": r.choice(["en-US", "de-DE", "fr-FR"]),
                      "lastLoginAt": s.maybe(.9, s.day(900, 1400)), "mfa": r.random() < .3})
        of[t].append(users[-1]["_id"])
    filled = [t for t in tenants if of[t]]
    s.put("tenants", [{"_id": t, "slug": s.words(1) + "-%d" % i, "planId": s.skew(plans)["_id"],
                       "region": r.choice(["eu-west-1", "us-east-1"]),
                       "ownerId": r.choice(of[t]) if of[t] else NO, "createdAt": s.day(0, 900),
                       "seats": r.choice([5, 10, 50])}
                      for i, t in enumerate(tenants)], "!slug")
    s.put("users", users, "!tenantId,email", "tenantId")
    projects = []
    for _ in range(500):
        t = s.skew(filled, 1.4)
        projects.append({"_id": s.uuid(), "tenantId": t, "name": s.title(2), "createdBy": r.choice(of[t]),
                         "members": s.few(of[t], 1, 8),
                         "visibility": r.choice(["private", "public"]), "archived": r.random() < .1})
    s.put("projects", projects, "tenantId,name", "members")
    docs = []
    for i in range(3000):
        p = s.skew(projects)
        old = r.random() < .2
        docs.append({"_id": s.uuid(), "tenantId": str(p["tenantId"]) if old else p["tenantId"], "projectId": p["_id"],
                     "title": s.title(3),
                     "createdBy": r.choice(of[p["tenantId"]]), "updatedBy": s.maybe(.5, r.choice(of[p["tenantId"]])),
                     "approver": s.maybe(.2, r.choice(of[p["tenantId"]])), "revision": r.randint(1, 40),
                     "createdAt": s.day(0, 1400)})
    s.put("documents", docs, "tenantId,projectId", "createdBy")
    s.put("auditLog", [{"_id": s.oid(), "tenant": str(d["tenantId"]),
                        "actor": str(d["createdBy"]) if r.random() > .02 else str(s.uuid()),
                        "action": r.choice(["create", "update", "delete", "share"]),
                        "target": {"type": "document", "id": str(d["_id"])},
                        "ip": "10.%d.%d.%d" % (r.randrange(256), r.randrange(256), r.randrange(256)),
                        "at": s.day(900, 1400)}
                       for d in r.choices(docs, k=2500)], "tenant,-at")
    s.put("invoices", [{"_id": "INV-%d-%05d" % (2019 + i // 300, i), "tenantId": s.skew(filled),
                        "plan": s.skew(plans)["_id"],
                        "amount": Cents(r.choice([1900, 9900, 24900])),
                        "period": "%d-%02d" % (2019 + i // 300, i // 25 % 12 + 1),
                        "paid": r.random() < .95} for i in range(700)], "tenantId,period", "tenantId", "plan")
    s.ref("""
        tenants:planId plans:_id
        tenants:ownerId users:_id
        users:tenantId tenants:_id
        projects:tenantId tenants:_id
        projects:createdBy users:_id
        projects:members[] users:_id
        documents:tenantId tenants:_id
        documents:projectId projects:_id
        documents:createdBy users:_id
        documents:updatedBy users:_id
        documents:approver users:_id
        auditLog:tenant tenants:_id
        auditLog:actor users:_id
        auditLog:target.id documents:_id
        invoices:tenantId tenants:_id
        invoices:plan plans:_id""")


@data_set
def forum(s):
    """Boards, threads and posts; answers below answers many levels deep; names of authors are copied, some changed."""
    r = s.r
    members = [{"_id": s.oid(), "username": (r.choice(FIRST) + s.words(1)).lower() + str(i), "joined": s.day(0, 900),
                "postCount": r.randrange(999),
                "signature": s.maybe(.4, s.words(3, 9)), "birthYear": s.maybe(.6, r.randint(1950, 2005)),
                "location": s.maybe(.5, r.choice(CITY))} for i in range(500)]
    boards = [{"_id": w, "title": w.title(), "position": i, "moderators": [m["_id"] for m in s.few(members[:30], 1, 3)]}
              for i, w in enumerate(r.sample(WORD, 24), 1)]
    now = {id(m): m["username"] for m in members}
    threads, posts = [], []
    for i in range(350):
        starter = s.skew(members)
        t = {"_id": s.oid(), "board": s.skew(boards)["_id"], "subject": s.title(3, 7), "startedBy": starter["_id"],
             "sticky": i % 50 == 0,
             "views": r.randrange(20000), "slug": "t%d-%s" % (i, s.words(2).replace(" ", "-"))}
        here = []
        for k in range(1 + int(90 * r.random() ** 5)):
            who = s.skew(members)
            up = here[-1 - int(len(here) * r.random() ** 3)] if here else None
            here.append({"_id": s.oid(), "threadId": t["_id"], "parentPost": up["_id"] if up else None,
                         "body": s.words(6, 30),
                         "author": {"id": who["_id"], "name": now[id(who)]},
                         "likes": [m["_id"] for m in s.few(members, 0, 4)],
                         "quoted": s.maybe(.2, up["_id"]) if up else NO, "seq": k + 1,
                         "postedAt": s.day(2 * i, 2 * i + 30)})
        t["lastPost"] = here[-1]["_id"]
        posts += here
        threads.append(t)
    for m in members[::17]:
        m["username"] += "_new"
    s.put("members", members, "!username")
    s.put("boards", boards)
    s.put("threads", threads, "board", "!slug", "lastPost")
    s.put("posts", posts, "threadId,seq", "threadId", "author.id", "parentPost")
    s.put("reports", [{"_id": s.oid(), "post": str_id(r.choice(posts)["_id"]), "reporter": r.choice(members)["_id"],
                       "reason": r.choice(
        ["spam", "insult", "other"]), "handledBy": s.maybe(.6, r.choice(members[:30])["_id"])} for _ in range(180)])
    s.put("bans", [{"_id": m["_id"], "reason": s.words(2, 5), "until": s.day(900, 2000)}
                   for m in r.sample(members, 45)])
    s.ref("""
        boards:moderators[] members:_id
        threads:board boards:_id
        threads:startedBy members:_id
        threads:lastPost posts:_id
        posts:threadId threads:_id
        posts:parentPost posts:_id
        posts:author.id members:_id
        posts:likes[] members:_id
        posts:quoted posts:_id
        reports:post posts:_id
        reports:reporter members:_id
        reports:handledBy members:_id
        bans:_id members:_id""")
    s.allow("posts:author.name members:username")
    s.copy("posts:author.id members:_id author.name username")
    s.more["tree"] = s.tree_figures("posts", "parentPost")


@data_set
def chat(s):
    """Messages with receipts and mentions, files in GridFS, versions of the schema side by side."""
    r = s.r
    users = [{"_id": s.oid(), "handle": "@" + s.words(1) + str(i), "tz": r.choice(["UTC", "CET", "PST"]),
              "schemaVersion": 2,
              "avatarFileId": NO, "phone": "+1%010d" % r.randrange(10**10)} for i in range(220)]
    files = [{"_id": s.oid(), "length": Long(r.randint(100, 6000)), "chunkSize": 261120, "uploadDate": s.day(0, 900),
              "filename": s.words(1) + ".png",
              "metadata": {"uploader": str_id(r.choice(users)["_id"])}} for _ in range(120)]
    for u in users:
        u["avatarFileId"] = s.maybe(.3, r.choice(files)["_id"])
    rooms = [{"_id": s.oid(), "type": "direct" if i % 3 else "group", "name": s.maybe(.4, s.title(1)),
              "createdBy": r.choice(users)["_id"],
              "members": [u["_id"] for u in s.few(users, 2, 2 if i % 3 else 40)], "unread": {}} for i in range(130)]
    for x in rooms:
        x["unread"] = {str_id(m): r.randrange(1, 30) for m in s.few(x["members"], 0, 6)}
    s.maps.add("rooms:unread")
    messages = []
    for i in range(4500):
        room, new = s.skew(rooms), r.random() < .6
        near = messages[-30:]
        messages.append({"_id": s.oid(s.day(i / 4, i / 4 + .2)), "schemaVersion": 2 if new else 1,
                         "room": room["_id"], "text": s.words(1, 14),
                         "sender": r.choice(room["members"]),
                         "replyTo": s.maybe(.15, r.choice(near)["_id"]) if near else NO,
                         "mentions": s.few(room["members"], 0, 2) if new else NO,
                         "attachment": s.maybe(.05, {"fileId": r.choice(files)["_id"], "w": 640}),
                         "readBy": [{"user": m, "at": s.day(900, 1200)}
                                    for m in s.few(room["members"], 0, 3)] if new else NO,
                         "edited": r.random() < .03})
    s.put("users", users, "!handle")
    s.put("rooms", rooms, "members")
    s.put("messages", messages, "room,_id", "sender")
    s.put("fs.files", files, "filename,uploadDate")
    s.put("fs.chunks", [{"_id": s.oid(), "files_id": f["_id"], "n": 0,
                         "data": bytes(r.getrandbits(8) for _ in range(f["length"]))} for f in files],
          "!files_id,n")
    s.put("devices", [{"_id": s.uuid(), "userId": str_id(r.choice(users)["_id"]) if i % 3 else r.choice(users)["_id"],
                       "platform": r.choice(["ios", "android", "web"]),
                       "pushToken": "%064x" % r.getrandbits(256), "build": r.randint(100, 180)} for i in range(420)],
                       "userId")
    s.ref("""
        users:avatarFileId fs.files:_id
        rooms:createdBy users:_id
        rooms:members[] users:_id
        rooms:unread.* users:_id
        messages:room rooms:_id
        messages:sender users:_id
        messages:replyTo messages:_id
        messages:mentions[] users:_id
        messages:readBy[].user users:_id
        messages:attachment.fileId fs.files:_id
        fs.files:metadata.uploader users:_id
        fs.chunks:files_id fs.files:_id
        devices:userId users:_id""")
    s.unjudged.add("one-to-one-apart")  # chunks stand apart from files by the rules of GridFS


@data_set
def airbnb(s):
    """Stays with reviews inside, ids kept as text of digits; a calendar that an import wrote with numbers."""
    r = s.r
    hosts = [{"_id": str(20000 + i * 7 * 911), "name": r.choice(FIRST), "since": s.day(-3000, 0),
              "superhost": r.random() < .2, "responseRate": r.randint(0, 100),
              "languages": s.few(["en", "pt", "es", "fr"], 1, 3)} for i in range(260)]
    parts = [c + " " + w for c in ("Old Town", "North Bank", "Harbor") for w in r.sample([x.title() for x in WORD], 9)]
    s.put("neighbourhoods", [{"_id": s.oid(), "name": p, "group": p.split()[0],
                              "center": [r.uniform(38, 41), r.uniform(-9, -8)]} for p in parts], "!name")
    guests = [{"_id": str(5 * 10**6 + i * 13577), "first_name": r.choice(FIRST), "verified": r.random() < .7}
              for i in range(900)]
    listings = []
    for i in range(420):
        h, me = s.skew(hosts, 1.5), str(10006546 + 4177 * i)
        listings.append({"_id": me, "listing_url": "https://rooms.example/" + me, "name": s.title(3, 6),
                         "summary": s.words(15, 50),
                         "property_type": r.choice(["House", "Apartment", "Loft"]),
                         "minimum_nights": str(r.randint(1, 5)),
                         "accommodates": r.randint(1, 9), "bedrooms": r.randint(0, 5),
                         "price": Cents(r.randint(20, 400) * 100),
                         "amenities": s.few(["TV", "Wifi", "Kitchen", "Heating", "Washer", "Dryer", "Iron"], 1, 7),
                         "host": {"host_id": h["_id"], "host_name": h["name"], "host_is_superhost": h["superhost"]},
                         "address": {"street": s.title(2), "neighbourhood": r.choice(parts), "country_code": "PT"},
                         "review_scores": s.maybe(.8, {"rating": r.randint(60, 100), "value": r.randint(6, 10)}),
                         "reviews": [{"_id": str(58000000 + i * 400 + k), "date": s.day(-500, 100), "listing_id": me,
                                      "reviewer_id": g["_id"],
                                      "reviewer_name": g["first_name"] if r.random() > .06 else r.choice(FIRST),
                                      "comments": s.words(6, 25)}
                                     for k, g in enumerate(s.few(guests, 0, int(40 * r.random() ** 4)))]})
    s.put("hosts", hosts)
    s.put("guests", guests)
    s.put("listings", listings, "property_type,accommodates", "host.host_id", "reviews.reviewer_id",
          "address.neighbourhood")
    s.put("calendar", [{"_id": s.oid(), "listing_id": int(x["_id"]), "date": text_date(s.day(100 + d, 101 + d)),
                        "available": r.random() < .6,
                        "price": r.randint(20, 400)} for x in listings for d in range(9)], "listing_id,date")
    s.put("bookings", [{"_id": "HM%08X" % r.getrandbits(32), "listing": r.choice(listings)["_id"],
                        "guest": r.choice(guests)["_id"], "nights": r.randint(1, 14),
                        "checkIn": s.day(0, 300), "status": s.skew([1, 2, 4, 9])} for _ in range(1600)], "listing",
                        "guest")
    s.ref("""
        listings:host.host_id hosts:_id
        listings:address.neighbourhood neighbourhoods:name
        listings:reviews[].reviewer_id guests:_id
        calendar:listing_id listings:_id
        bookings:listing listings:_id
        bookings:guest guests:_id""")
    s.allow("listings:reviews[].listing_id listings:_id")
    s.copy("""
        listings:host.host_id hosts:_id host.host_name name
        listings:reviews[].reviewer_id guests:_id reviews[].reviewer_name first_name""")


@data_set
def salesforce(s):
    """A customer database as its API exports it: ids are texts of 18 letters, two fields point to many kinds."""
    r = s.r

    def ids(prefix, n):
        mixed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        return ["%s5e%s%sAA%s" % (prefix, "00000", "".join(r.choices(mixed, k=5)), r.choice("UQAEIM"))
                for _ in range(n)]

    users, kinds = ids("005", 45), ids("012", 4)
    accounts, people, leads, deals, cases = (ids(p, n)
                                             for p, n in (("001", 380), ("003", 800), ("00Q", 260), ("006", 620),
                                                   ("500", 700)))

    def common(doc):
        made = s.day(0, 1400)
        return dict(doc, OwnerId=s.skew(users), CreatedById=r.choice(users), CreatedDate=made.isoformat() + "Z",
                    LastModifiedById=r.choice(users), IsDeleted=False, SystemModstamp=made)

    s.put("User", [{"_id": u, "Username": "u%d@crm.example" % i, "Name": s.person(),
                    "ManagerId": users[i // 8] if i > 7 else None,
                    "Department": r.choice(["Sales", "Support"]), "IsActive": i % 9 > 0} for i, u in enumerate(users)])
    s.put("RecordType", [{"_id": k, "DeveloperName": s.title(1), "SobjectType": "Account"} for k in kinds])
    s.put("Account", [common({"_id": a, "Name": s.title(2), "ParentId": r.choice(accounts[:i]) if i % 6 == 5 else None,
                              "RecordTypeId": r.choice(kinds), "BillingCountry": r.choice(COUNTRY),
                              "NumberOfEmployees": r.randrange(9000),
                              "Sic": str(r.randint(1000, 9999)),
                              "Phone": "(%d) 555-%04d" % (r.randint(200, 999), r.randrange(9999))})
                      for i, a in enumerate(accounts)], "OwnerId", "ParentId")
    s.put("Contact", [common({"_id": p, "AccountId": s.maybe(.95, s.skew(accounts, 1.5)), "LastName": r.choice(LAST),
                              "Email": "c%d@mail.example" % i,
                              "ReportsToId": r.choice(people[:i]) if i % 7 == 6 else None,
                              "MailingPostalCode": "%05d" % r.randrange(99999)})
                      for i, p in enumerate(people)], "AccountId", "Email")
    s.put("Lead", [common({"_id": x, "Company": s.title(2), "Status": r.choice(["Open", "Working", "Closed"]),
                           "ConvertedAccountId": s.maybe(.3, r.choice(accounts)),
                           "Rating": r.choice(["Hot", "Cold", None])}) for x in leads])
    s.put("Opportunity", [common({"_id": d, "AccountId": s.skew(accounts, 1.5), "Name": s.title(3),
                                  "StageName": r.choice(["Prospecting", "Won", "Lost"]),
                                  "Amount": float(r.randrange(1000, 90000)), "Probability": r.choice([10, 50, 90]),
                                  "FiscalYear": r.randint(2019, 2022)})
                          for d in deals], "AccountId,StageName")
    s.put("Case", [common({"_id": c, "CaseNumber": "%08d" % (1000 + i), "AccountId": s.skew(accounts),
                           "ContactId": s.maybe(.8, r.choice(people)),
                           "Origin": r.choice(["Web", "Phone"]),
                           "ParentId": r.choice(cases[:i]) if i % 11 == 10 else None})
                   for i, c in enumerate(cases)], "!CaseNumber", "ContactId")
    s.put("Task", [common({"_id": x, "Subject": s.title(3),
                           "WhatId": s.maybe(.9, r.choice([accounts, deals, deals, cases])[r.randrange(380)]),
                           "WhoId": r.choice(people if r.random() < .7 else leads), "Priority": "Normal",
                           "Status": r.choice(["Open", "Done"])})
                   for x in ids("00T", 2200)], "WhatId", "WhoId", "OwnerId")
    names = ("Account", "Contact", "Lead", "Opportunity", "Case", "Task")
    s.ref("\n".join("%s:%s User:_id" % (n, f) for n in names for f in ("OwnerId", "CreatedById", "LastModifiedById")))
    s.ref("""
        User:ManagerId User:_id
        Account:ParentId Account:_id
        Account:RecordTypeId RecordType:_id
        Contact:AccountId Account:_id
        Contact:ReportsToId Contact:_id
        Lead:ConvertedAccountId Account:_id
        Opportunity:AccountId Account:_id
        Case:AccountId Account:_id
        Case:ContactId Contact:_id
        Case:ParentId Case:_id
        Task:WhatId Account:_id
        Task:WhatId Opportunity:_id
        Task:WhatId Case:_id
        Task:WhoId Contact:_id
        Task:WhoId Lead:_id""")
