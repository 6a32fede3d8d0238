# SPDX-License-Identifier: Apache-2.0
"""blind_fifth.py - five sets after open-source servers: CI, chats with models, flags, logs and notes."""
import datetime

from truth import FIRST, LAST, NO, WORD, Long, data_set, str_id

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
ZERO = "00000000-0000-0000-0000-000000000000"


@data_set
def buildfarm(s):
    """A CI server as Evergreen keeps it: ids are long texts of project, variant and hash; hosts, distros and events."""
    r = s.r

    def sha():
        return "%040x" % r.getrandbits(160)

    users = sorted({"%s.%s" % (a.lower(), b.lower()) for a, b in zip(r.choices(FIRST, k=90), r.choices(LAST, k=90))})
    users += ["mci", "github_merge_queue"]
    s.put("users",
          [{"_id": u, "first_name": u.split(".")[0].title(), "email": u + "@corp.example", "apikey": sha()[:32],
                     "only_api": len(u.split(".")) < 2, "settings": {"timezone": "America/New_York"},
                     "patch_number": r.randint(0, 400)} for u in users])
    distros = ["%s-%s" % (a, b) for a in ("rhel80", "rhel90", "ubuntu2204", "amazon2", "windows-vsCurrent",
                                          "macos-1100")
               for b in ("small", "medium", "large")]
    s.put("distro", [{"_id": d, "arch": "linux_amd64", "provider": "ec2-fleet", "user": "ec2-user", "aliases": [],
                      "host_allocator_settings": {"minimum_hosts": r.randint(0, 5), "maximum_hosts": r.randint(5, 900)}}
                     for d in distros])
    repos = [str_id(s.oid()) for _ in range(11)]
    s.put("repo_ref", [{"_id": x, "owner_name": "corp", "repo_name": s.words(1) + "-" + s.words(1), "enabled": True,
                        "admins": s.few(users[:-2], 1, 3)} for x in repos])
    refs = []
    for i in range(34):
        name = "corp-%s-%s-%d" % (r.choice(WORD), r.choice(["main", "master", "v7.0"]), i)
        refs.append({"_id": name if i < 20 else str_id(s.oid()), "identifier": name, "enabled": r.random() < .8,
                     "repo_ref_id": s.skew(repos), "branch_name": name.split("-")[2], "admins": s.few(users, 0, 3),
                     "batch_time": Long(60), "owner_name": "corp", "stepback_disabled": s.maybe(.2, True)})
    s.put("project_ref", refs, "!identifier")
    hosts = [{"_id": "i-0%016x" % r.getrandbits(64),
              "distro": {"_id": d, "arch": "linux_amd64", "provider": "ec2-fleet"},
              "started_by": "mci" if r.random() < .9 else r.choice(users), "zone": "us-east-1" + r.choice("abc"),
              "status": r.choice(["running", "terminated", "quarantined"]), "task_count": r.randint(0, 60),
              "creation_time": s.day(950, 1000)} for d in (r.choice(distros) for _ in range(640))]
    variants = ["enterprise-rhel-80-64-bit", "linux-64-debug", "ubuntu-lint", "windows-compile", "macos-arm64"]
    versions, builds, tasks, patches, order = [], [], [], [], {}
    for _ in range(520):
        p, when, h = s.skew(refs, 1.6), s.day(900, 1000), sha()
        patch = r.random() < .4
        n = order[p["_id"]] = order.get(p["_id"], r.randint(100, 900)) + 1
        who = r.choice(users)
        if patch:
            o = s.oid(when)
            h = r.choice([v["gitspec"] for v in versions]) if versions else h
            patches.append({"_id": o, "desc": s.words(3, 8), "branch": p["_id"], "githash": h, "author": who,
                            "patch_number": r.randint(1, 400), "version": s.maybe(.9, str_id(o)), "activated": True,
                            "build_variants": s.few(variants, 1, 3), "status": r.choice(["success", "failed"])})
        vid = str_id(o) if patch else "%s_%s" % (p["identifier"].replace("-", "_"), h)
        v = {"_id": vid, "identifier": p["_id"], "gitspec": h, "author": s.person(), "author_id": s.maybe(.8, who),
             "order": n, "r": "patch_request" if patch else "gitter_request", "create_time": when, "builds": []}
        versions.append(v)
        for bv in s.few(variants, 1, 4):
            b = {"_id": "%s_%s_%s_%s" % (p["identifier"], bv, vid[-24:], when.strftime("%y_%m_%d_%H_%M_%S")),
                 "version": vid, "branch": p["_id"], "build_variant": bv, "gitspec": h, "order": n, "r": v["r"],
                 "status": r.choice(["success", "failed", "started"]), "create_time": when, "tasks": []}
            builds.append(b)
            v["builds"].append(b["_id"])
            mine = []
            for k, name in enumerate(["compile", "lint", "unit_tests", "jsCore", "replica_sets", "fuzzer", "package"]):
                if k and r.random() < .45:
                    continue
                t = {"_id": "%s_%s" % (b["_id"].replace("-", "_"), name), "display_name": name, "version": vid,
                     "build_id": b["_id"], "branch": p["_id"], "build_variant": bv, "gitspec": h, "order": n,
                     "distro": r.choice(distros), "host_id": s.maybe(.9, r.choice(hosts)["_id"] if r.random() > .04
                                                                     else "i-0%016x" % r.getrandbits(64)),
                     "execution": r.choice([0, 0, 0, 1]), "priority": Long(r.choice([0, 0, 50])), "time_taken": Long(
                         r.randrange(10**9, 10**13)), "activated_by": who if patch else "mci",
                     "generated_by": mine[0]["_id"] if mine and name == "fuzzer" else NO, "status": b["status"],
                     "depends_on": [{"_id": mine[0]["_id"], "status": "success",
                                     "unattainable": False}] if k > 1 else []}
                mine.append(t)
            b["tasks"] = [{"id": t["_id"]} for t in mine]
            tasks += mine
    for h in hosts:
        t = r.choice(tasks)
        h["last_task"], h["running_task"] = s.maybe(.9, r.choice(tasks)["_id"]), s.maybe(.3, t["_id"])
    s.put("hosts", hosts, "status", "started_by,status", "distro._id,status", "?running_task")
    s.put("patches", patches, "branch", "author,-create_time", "version")
    s.put("versions", versions, "identifier,-order", "gitspec", "builds", "author_id")
    s.put("builds", builds, "version", "branch,build_variant", "gitspec")
    s.put("tasks", tasks, "build_id", "version,display_name", "branch,build_variant,-order", "host_id", "distro,status",
          "depends_on._id")
    kinds = (("TASK", tasks), ("HOST", hosts), ("BUILD", builds), ("VERSION", versions))
    s.put("event_log", [{"_id": s.oid(), "r_type": k, "r_id": r.choice(z)["_id"] if r.random() > .02 else
                         "%s_%s_%s" % (s.words(1), s.words(1), sha()[:24]), "ts": s.day(900, 1000),
                         "e_type": "%s_%s" % (
                             k, r.choice(["CREATED", "FINISHED", "STATUS_CHANGED"])), "data": {"s": r.choice(
                                 ["success", "failed"])}} for _ in range(11000) for k, z in [s.skew(kinds, 1.5)]],
          "r_id,ts", "r_type,ts")
    s.put("subscriptions", [{"_id": str_id(s.oid()), "owner": r.choice(users[:-2]) if k else r.choice(refs)["_id"],
                             "owner_type": "person" if k else "project", "type": "VERSION", "trigger": "outcome",
                             "filter": {"id": r.choice(versions)["_id"]}, "subscriber": {
                                 "type": "email", "target": "%s@corp.example" % r.choice(users)}}
                            for k in r.choices([1, 1, 0], k=420)], "owner")
    s.ref("""
        repo_ref:admins[] users:_id
        project_ref:repo_ref_id repo_ref:_id
        project_ref:admins[] users:_id
        hosts:distro._id distro:_id
        hosts:started_by users:_id
        hosts:last_task tasks:_id
        hosts:running_task tasks:_id
        patches:branch project_ref:_id
        patches:author users:_id
        patches:version versions:_id
        versions:identifier project_ref:_id
        versions:author_id users:_id
        versions:builds[] builds:_id
        builds:version versions:_id
        builds:branch project_ref:_id
        builds:tasks[].id tasks:_id
        tasks:build_id builds:_id
        tasks:version versions:_id
        tasks:branch project_ref:_id
        tasks:distro distro:_id
        tasks:host_id hosts:_id
        tasks:activated_by users:_id
        tasks:generated_by tasks:_id
        tasks:depends_on[]._id tasks:_id
        event_log:r_id tasks:_id
        event_log:r_id hosts:_id
        event_log:r_id builds:_id
        event_log:r_id versions:_id
        subscriptions:owner users:_id
        subscriptions:owner project_ref:_id
        subscriptions:filter.id versions:_id""")
    s.allow("""
        versions:_id patches:_id
        patches:version patches:_id
        patches:_id versions:_id
        builds:version patches:_id
        tasks:version patches:_id
        event_log:r_id patches:_id
        subscriptions:filter.id patches:_id
        subscriptions:subscriber.target users:email
        patches:githash versions:gitspec
        builds:gitspec versions:gitspec
        tasks:gitspec versions:gitspec
        project_ref:_id project_ref:identifier
        patches:branch project_ref:identifier
        versions:identifier project_ref:identifier
        builds:branch project_ref:identifier
        tasks:branch project_ref:identifier""")
    s.two_way("versions", "builds[]", "builds", "version")


@data_set
def assistants(s):
    """Chats with language models as LibreChat keeps them: UUIDs in text, users as ObjectId here and as text there."""
    r = s.r

    def nano(n):
        return "".join(r.choices(LETTERS + "_-", k=n))

    models = ["gpt-4o", "gpt-4o-mini", "claude-3-5-sonnet", "mistral-large", "llama-3-70b"]
    users = [{"_id": s.oid(), "name": s.person(), "email": "%s%d@mail.example" % (s.words(1), i), "provider": r.choice(
        ["local", "google"]), "role": "ADMIN" if i < 3 else "USER", "emailVerified": True, "plugins": [],
        "googleId": s.maybe(.3, "1%020d" % r.randrange(10**20)), "__v": 0} for i in range(560)]
    ids = [u["_id"] for u in users]
    s.put("users", users, "!email")
    s.put("roles", [{"_id": s.oid(), "name": n, "PROMPTS": {"USE": True, "CREATE": n == "ADMIN"}}
                    for n in ("ADMIN", "USER")], "!name")
    projects = [s.oid() for _ in range(12)]
    agents = []
    for _ in range(130):
        agents.append({"_id": s.oid(), "id": "agent_" + nano(21), "name": s.title(2), "author": s.skew(ids), "model":
                       r.choice(models), "provider": "openAI", "instructions": s.words(8, 40), "tools": s.few(
                           ["dalle", "web_search", "execute_code", "file_search"], 0, 3),
                       "agent_ids": [a["id"] for a in s.few(agents, 1, 3)] if agents and r.random() < .2 else [],
                       "projectIds": s.few(projects, 0, 2), "__v": 0})
    names = [a["id"] for a in agents]
    convs, messages, files, tx, calls = [], [], [], [], []
    for _ in range(1350):
        u, cid, last = s.skew(users, 1.5), str(s.uuid()), ZERO
        model, agent = r.choice(models), s.maybe(.3, s.skew(names))
        c = {"_id": s.oid(), "conversationId": cid, "title": s.title(3, 5), "user": str_id(u["_id"]),
             "endpoint": "agents"
             if agent is not NO else "openAI", "model": model, "agent_id": agent, "messages": [], "tags": s.few(
                 ["work", "code", "ideas"], 0, 1), "temperature": s.maybe(.2, .7), "files": []}
        for k in range(2 * r.randint(2, 8)):
            mid = str(s.uuid())
            m = {"_id": s.oid(), "messageId": mid, "conversationId": cid, "user": c["user"], "parentMessageId": last,
                 "sender": "AI" if k % 2 else "User", "isCreatedByUser": not k % 2, "model": model if k % 2 else NO,
                 "text": s.words(5, 60), "tokenCount": r.randint(3, 900), "error": False, "unfinished": False,
                 "feedback": s.maybe(.02, {"rating": r.choice(["thumbsUp", "thumbsDown"])})}
            if not k % 2 and r.random() < .09:
                f = {"_id": s.oid(), "user": u["_id"], "file_id": str(s.uuid()), "conversationId": cid,
                     "bytes": r.randint(
                    900, 10**6), "filename": s.words(1) + ".pdf", "type": "application/pdf", "source": "local",
                     "messageId": s.maybe(.8, mid), "usage": r.randint(1, 4)}
                files.append(f)
                c["files"].append(f["file_id"])
                m["files"] = [{"file_id": f["file_id"], "filename": f["filename"], "type": f["type"]}]
            if k % 2:
                for kind in ("prompt", "completion"):
                    n = r.randint(10, 4000)
                    tx.append({"_id": s.oid(), "user": u["_id"], "conversationId": cid, "tokenType": kind,
                               "model": model,
                               "context": "message", "rawAmount": -n, "rate": 15, "tokenValue": -15 * n})
                if r.random() < .06:
                    calls.append({"_id": s.oid(), "conversationId": cid, "messageId": mid, "toolId": r.choice(
                        ["execute_code", "web_search"]), "user": u["_id"], "result": s.words(4, 20), "blockIndex": 0})
            if r.random() > .003:
                messages.append(m)
                c["messages"].append(m["_id"])
                last = mid
        convs.append(c)
    for a in agents:
        own = [f["file_id"] for f in files if f["user"] == a["author"]][:4]
        a["tool_resources"] = {"file_search": {"file_ids": own}} if "file_search" in a["tools"] else {}
    s.put("projects", [{"_id": p, "name": s.words(2), "agentIds": [
        a["id"] for a in agents if p in a["projectIds"] and r.random() > .03]} for p in projects], "name")
    s.put("agents", agents, "!id", "author")
    s.put("conversations", convs, "!conversationId,user", "user,-updatedAt")
    s.put("messages", messages, "!messageId", "conversationId,createdAt", "user")
    s.put("files", files, "file_id", "user", "conversationId")
    s.put("transactions", tx, "user", "conversationId")
    s.put("toolcalls", calls, "messageId,conversationId")
    s.put("balances", [{"_id": s.oid(), "user": u, "tokenCredits": r.randint(0, 2 * 10**6)} for u in ids[:540]], "user")
    s.put("sessions", [{"_id": s.oid(), "user": s.skew(ids), "refreshTokenHash": "%064x" % r.getrandbits(256),
                        "expiration": s.day(1000, 1010)} for _ in range(800)], "user")
    s.put("tokens", [{"_id": s.oid(), "userId": s.skew(ids), "email": NO, "token": "$2a$10$" + nano(53), "createdAt":
                      s.day(990, 1000)} for _ in range(150)])
    s.put("presets", [{"_id": s.oid(), "presetId": str(s.uuid()), "user": str_id(s.skew(ids)), "title": s.title(2),
                       "model": r.choice(models), "agent_id": s.maybe(.4, r.choice(names)) if r.random() > .05 else
                       "agent_" + nano(21), "order": r.randint(0, 9)} for _ in range(310)], "!presetId")
    shared = []
    for c in r.sample(convs, 190):
        n = len(c["messages"]) // 2
        shared.append({"_id": s.oid(), "shareId": nano(21), "conversationId": c["conversationId"] if r.random() > .06
                       else str(s.uuid()), "user": c["user"], "messages": c["messages"][:n], "isPublic": True})
    s.put("sharedlinks", shared, "!shareId")
    groups, prompts = [], []
    for _ in range(160):
        u, g = s.skew(users), s.oid()
        mine = [{"_id": s.oid(), "groupId": g, "author": u["_id"], "prompt": s.words(9, 40), "type": "text"}
                for _ in range(r.randint(1, 5))]
        prompts += mine
        groups.append({"_id": g, "name": s.title(2), "author": u["_id"], "authorName": u["name"] if r.random() > .05
                       else s.person(), "productionId": mine[-1]["_id"], "numberOfGenerations": r.randint(0, 50)})
    s.put("promptgroups", groups, "author")
    s.put("prompts", prompts, "groupId,author")
    s.ref("""
        agents:author users:_id
        agents:agent_ids[] agents:id
        agents:projectIds[] projects:_id
        agents:tool_resources.file_search.file_ids[] files:file_id
        projects:agentIds[] agents:id
        conversations:user users:_id
        conversations:agent_id agents:id
        conversations:messages[] messages:_id
        conversations:files[] files:file_id
        messages:conversationId conversations:conversationId
        messages:user users:_id
        messages:parentMessageId messages:messageId
        messages:files[].file_id files:file_id
        files:user users:_id
        files:conversationId conversations:conversationId
        files:messageId messages:messageId
        transactions:user users:_id
        transactions:conversationId conversations:conversationId
        toolcalls:conversationId conversations:conversationId
        toolcalls:messageId messages:messageId
        toolcalls:user users:_id
        balances:user users:_id
        sessions:user users:_id
        tokens:userId users:_id
        presets:user users:_id
        presets:agent_id agents:id
        sharedlinks:conversationId conversations:conversationId
        sharedlinks:user users:_id
        sharedlinks:messages[] messages:_id
        promptgroups:author users:_id
        promptgroups:productionId prompts:_id
        prompts:groupId promptgroups:_id
        prompts:author users:_id""")
    s.allow("users:role roles:name")
    s.rules_allowed += [{"rule": "two-way-disagrees", "ns": s.name + "." + c} for c in ("agents", "projects")]
    s.rules_allowed += [{"rule": "two-way-disagrees", "ns": s.name + ".files"}]  # a file of a message that is gone
    s.copy("""
        promptgroups:author users:_id authorName name
        messages:files[].file_id files:file_id files[].filename filename""")


@data_set
def experiments(s):
    """Flags and A/B tests as GrowthBook keeps them: an id with a prefix beside _id, rules by environment, audits."""
    r, used = s.r, set()

    def uid(prefix):
        return prefix + "".join(r.choices(BASE36, k=16))

    users = [{"_id": s.oid(), "id": uid("u_"), "name": s.person(), "email": "%s%d@firm.example" % (s.words(1), i),
              "verified": True} for i in range(210)]
    orgs = [{"_id": s.oid(), "id": uid("org_"), "name": s.title(2), "dateCreated": s.day(300, 700), "members": [
        {"id": u["id"], "role": r.choice(["admin", "analyst", "engineer"])} for u in s.few(users, 3, 20)]}
            for _ in range(24)]
    for o in orgs:
        o["ownerEmail"] = next(u["email"] for u in users if u["id"] == o["members"][0]["id"])
    s.put("users", users, "!id", "!email")
    s.put("organizations", orgs, "!id", "members.id")
    by = {u["id"]: u for u in users}
    made = {k: [] for k in ("projects", "datasources", "segments", "dimensions", "metrics", "experiments", "features")}
    snaps, queries, audits, talks, sdk = [], [], [], [], []
    for o in orgs:
        def doc(prefix, o=o, **rest):
            return {"_id": s.oid(), "id": uid(prefix), "organization": o["id"], "dateCreated": s.day(700, 900), **rest}

        def who(o=o):
            return r.choice(o["members"])["id"]

        prj = [doc("prj_", name=s.title(1)) for _ in range(r.randint(1, 4))]
        ds = [doc("ds_", type=r.choice(["bigquery", "snowflake", "postgres"]), name=s.title(1), projects=[
            p["id"] for p in s.few(prj, 0, 2)], params=s.words(2)) for _ in range(r.randint(1, 3))]
        seg = [doc("seg_", datasource=r.choice(ds)["id"], name=s.title(1), owner=by[who()]["name"], sql="SELECT 1")
               for _ in range(r.randint(1, 4))]
        dim = [doc("dim_", datasource=r.choice(ds)["id"], name=s.title(1), sql="SELECT 2", userIdType="user_id")
               for _ in range(r.randint(1, 3))]
        met = []
        for _ in range(r.randint(8, 28)):
            met.append(doc("met_", datasource=s.skew(ds)["id"], name=s.title(2), type=r.choice(["binomial", "revenue"]),
                           segment=s.maybe(.1, r.choice(seg)["id"]), owner=by[who()]["name"], tags=s.few(WORD, 0, 2),
                           denominator=s.maybe(.15, r.choice(met)["id"]) if met else NO, winRisk=.0025,
                           projects=[p["id"] for p in s.few(prj, 0, 2)]))
        exps, feats = [], []
        for _ in range(r.randint(6, 26)):
            d = r.choice(ds)
            pool = [m["id"] for m in met]
            exps.append(doc("exp_", name=s.title(3), trackingKey="-".join(s.words(3).split()), datasource=d["id"],
                            project=s.maybe(.7, r.choice(prj)["id"]), owner=who(), goalMetrics=s.few(pool, 1, 4),
                            guardrailMetrics=s.few(pool, 0, 2), activationMetric=s.maybe(.1, r.choice(pool)),
                            exposureQueryId=r.choice(["user_id", "anonymous_id"]),
                            status=r.choice(["running", "stopped"]),
                            segment=s.maybe(.1, r.choice(seg)["id"]), linkedFeatures=[], phases=[
                                {"name": "Main", "coverage": 1, "dateStarted": s.day(700, 900)}], hashVersion=2,
                            variations=[{"id": uid("var_"), "key": str(k), "name": n} for k, n in
                                        enumerate(["Control", "Treatment"])]))
        for _ in range(r.randint(10, 45)):
            key = "-".join(s.words(2, 3).split())
            while key in used:
                key += "-" + r.choice(WORD)
            used.add(key)
            f = {"_id": s.oid(), "id": key, "organization": o["id"], "owner": by[who()]["name"], "valueType": "boolean",
                 "project": s.maybe(.7, r.choice(prj)["id"]), "defaultValue": "false", "version": r.randint(1, 40),
                 "tags": s.few(WORD, 0, 2), "environmentSettings": {}, "linkedExperiments": []}
            for env in ("production", "dev"):
                rules = []
                for _ in range(r.choice([0, 0, 1, 1, 2])):
                    e = r.choice(exps)
                    exp = r.random() < .6
                    rules.append({"id": uid("fr_"), "type": "experiment-ref" if exp else "force", "enabled": True,
                                  "experimentId": e["id"] if exp else NO, "value": NO if exp else "true"})
                    if exp and e["id"] not in f["linkedExperiments"] and r.random() > .04:
                        f["linkedExperiments"].append(e["id"])
                        e["linkedFeatures"].append(key)
                f["environmentSettings"][env] = {"enabled": r.random() < .7, "rules": rules}
            feats.append(f)
        for e in exps:
            for k in range(r.randint(1, 12)):
                qs = [doc("qry_", datasource=e["datasource"], language="sql", status="succeeded", query=s.words(8, 30),
                          rows=r.randint(2, 80)) for _ in e["goalMetrics"]]
                queries += qs
                snaps.append(doc("snp_", experiment=e["id"], phase=0, dimension=s.maybe(.1, r.choice(dim)["id"]),
                                 queries=[{"name": m, "query": q["id"], "status": "succeeded"}
                                          for m, q in zip(e["goalMetrics"], qs)], manual=False))
        for _ in range(r.randint(60, 160)):
            kind, z = s.skew((("feature", feats), ("experiment", exps), ("metric", met), ("datasource", ds)), 1.4)
            u = by[who()]
            audits.append({"_id": s.oid(), "id": uid("aud_"), "organization": o["id"], "event": kind + ".update",
                           "user": {
                "id": u["id"], "email": u["email"], "name": u["name"] if r.random() > .03 else s.person()}, "entity": {
                    "object": kind, "id": r.choice(z)["id"] if r.random() > .05 else uid("exp_")}})
        for kind, z in (("experiment", exps), ("feature", feats)):
            for x in s.few(z, 1, 6):
                talks.append(doc("com_", parentType=kind, parentId=x["id"], comments=[
                    {"date": s.day(900, 999), "userId": who(),
                     "content": s.words(3, 12)} for _ in range(r.randint(1, 5))]))
        sdk += [doc("sdk_", name=s.title(1), key="sdk-" + uid(""), environment=r.choice(["production", "dev"]),
                    projects=[
            p["id"] for p in s.few(prj, 0, 2)], languages=["react"]) for _ in range(r.randint(1, 4))]
        for k, z in zip(made, (prj, ds, seg, dim, met, exps, feats)):
            made[k] += z
    for k, z in made.items():
        s.put(k, z, "!id,organization" if k in ("features", "metrics") else "!id", "organization")
    s.put("experimentsnapshots", snaps, "!id", "experiment,-dateCreated")
    s.put("queries", queries, "!id", "organization", "datasource")
    s.put("audits", audits, "!id", "organization", "user.id,organization", "entity.object,entity.id")
    s.put("discussions", talks, "!id", "organization,parentType,parentId")
    s.put("sdkconnections", sdk, "!id", "!key", "organization")
    s.ref("\n".join("%s:organization organizations:id" % k for k in [
        *made, "experimentsnapshots", "queries", "audits", "discussions", "sdkconnections"]))
    s.ref("""
        organizations:members[].id users:id
        organizations:ownerEmail users:email
        datasources:projects[] projects:id
        segments:datasource datasources:id
        dimensions:datasource datasources:id
        metrics:datasource datasources:id
        metrics:segment segments:id
        metrics:denominator metrics:id
        metrics:projects[] projects:id
        experiments:datasource datasources:id
        experiments:project projects:id
        experiments:owner users:id
        experiments:goalMetrics[] metrics:id
        experiments:guardrailMetrics[] metrics:id
        experiments:activationMetric metrics:id
        experiments:segment segments:id
        experiments:linkedFeatures[] features:id
        features:project projects:id
        features:linkedExperiments[] experiments:id
        features:environmentSettings.production.rules[].experimentId experiments:id
        features:environmentSettings.dev.rules[].experimentId experiments:id
        experimentsnapshots:experiment experiments:id
        experimentsnapshots:dimension dimensions:id
        experimentsnapshots:queries[].query queries:id
        experimentsnapshots:queries[].name metrics:id
        queries:datasource datasources:id
        audits:user.id users:id
        audits:entity.id features:id
        audits:entity.id experiments:id
        audits:entity.id metrics:id
        audits:entity.id datasources:id
        discussions:parentId experiments:id
        discussions:parentId features:id
        discussions:comments[].userId users:id
        sdkconnections:projects[] projects:id""")
    s.allow("""
        audits:user.email users:email
        segments:owner users:name
        metrics:owner users:name
        features:owner users:name""")
    s.copy("""
        audits:user.id users:id user.email email
        audits:user.id users:id user.name name""")


@data_set
def logserver(s):
    """A log server as Graylog keeps its settings: hex text for ObjectIds, users by name, maps keyed by node."""
    r = s.r
    nodes = [str(s.uuid()) for _ in range(12)]
    s.put("nodes", [{"_id": s.oid(), "node_id": n, "hostname": "log%02d.dc.example" % i, "is_leader": i == 0,
                     "transport_address": "http://10.0.%d.%d:9000/api/" % (i, i + 3), "type": "SERVER"}
                    for i, n in enumerate(nodes)], "!node_id")
    roles = [{"_id": s.oid(), "name": n, "name_lower": n.lower(), "permissions": ["%s:read" % n.lower()],
              "read_only": True}
             for n in """Admin Reader Dashboard Stream Sidecar Alerts Inputs Lookup Pipeline Archive Cluster
             Search""".split()]
    s.put("roles", roles, "!name_lower")
    names = sorted({"%s%s" % (a[0].lower(), b.lower()) for a, b in zip(r.choices(FIRST, k=70), r.choices(LAST, k=70))})
    names.insert(0, "admin")
    users = [{"_id": s.oid(), "username": n, "full_name": s.person(), "email": n + "@ops.example", "roles": [
        x["_id"] for x in s.few(roles, 1, 3)], "session_timeout_ms": 28800000, "external_user": r.random() < .3,
              "auth_service_uid": s.maybe(.3, "%024x" % r.getrandbits(96))} for n in names]
    s.put("users", users, "!username")

    def one(z):
        return str_id(r.choice(z)["_id"])

    sets = [{"_id": s.oid(), "title": s.title(2), "index_prefix": "%s_%d" % (s.words(1), i), "shards": 4, "replicas": 1,
             "rotation_strategy": "time", "max_number_of_indices": r.randint(5, 90)} for i in range(22)]
    s.put("index_sets", sets, "!index_prefix")
    outputs = [{"_id": s.oid(), "title": s.title(2), "type": "GELFOutput", "creator_user_id": s.skew(names),
                "configuration": {"hostname": "10.1.2.%d" % i, "port": 12201}} for i in range(26)]
    s.put("outputs", outputs)
    streams = [{"_id": s.oid(), "title": s.title(2, 3), "index_set_id": str_id(s.skew(sets)["_id"]), "disabled": False,
                "creator_user_id": s.skew(names) if r.random() > .05 else "jformer", "matching_type": "AND",
                "outputs": [x["_id"] for x in s.few(outputs, 1, 2)] if r.random() < .3 else [], "is_editable": True}
               for _ in range(190)]
    s.put("streams", streams, "index_set_id")
    s.put("streamrules", [{"_id": s.oid(), "stream_id": x["_id"], "field": r.choice(["source", "facility", "app"]),
                           "type": r.randint(1, 7), "value": s.words(1), "inverted": r.random() < .1}
                          for x in r.choices(streams[:180], k=520)], "stream_id")
    s.put("inputs", [{"_id": s.oid(), "title": s.title(2), "type": "org.graylog2.inputs.syslog.udp.SyslogUDPInput",
                      "creator_user_id": r.choice(names), "global": g, "node_id": NO if g else r.choice(nodes),
                      "configuration": {"bind_address": "0.0.0.0", "port": r.choice([514, 1514, 5044, 12201])},
                      "extractors": [{"id": str(s.uuid()), "title": s.words(1), "order": k, "type": "regex",
                                      "creator_user_id": s.skew(names)} for k in range(r.choice([0, 0, 1, 3]))]}
                     for g in r.choices([True, False], k=58)])
    pipes = [{"_id": s.oid(), "title": s.title(2), "source": "pipeline \"%s\" stage 0 match either end" % s.words(2)}
             for _ in range(36)]
    s.put("pipeline_processor_pipelines", pipes)
    s.put("pipeline_processor_pipelines_streams", [{"_id": s.oid(), "stream_id": str_id(x["_id"]), "pipeline_ids": [
        str_id(p["_id"]) for p in s.few(pipes, 1, 4)]} for x in r.sample(streams, 74)], "!stream_id")
    notes = [{"_id": s.oid(), "title": s.title(2), "config": {"type": "email-notification-v1", "user_recipients":
                                                              s.few(names, 1, 4)}} for _ in range(31)]
    s.put("event_notifications", notes)
    defs = [{"_id": s.oid(), "title": s.title(3), "priority": r.randint(1, 3), "alert": True, "config": {
        "type": "aggregation-v1", "query": s.words(2), "streams": [str_id(x["_id"]) for x in s.few(streams, 1, 4)],
        "search_within_ms": 60000 * r.randint(1, 60), "execute_every_ms": 60000}, "notifications": [
            {"notification_id": str_id(n["_id"])} for n in s.few(notes, 0, 3)]} for _ in range(210)]
    s.put("event_definitions", defs)
    s.put("event_processor_state", [{"_id": s.oid(), "event_definition_id": str_id(d["_id"]), "min_processed_timestamp":
                                     s.day(900, 950), "max_processed_timestamp": s.day(950, 1000)} for d in defs[:200]],
          "!event_definition_id")
    jobs = [{"_id": s.oid(), "title": d["title"], "config": {"type": "event-processor-execution-v1",
                                                            "event_definition_id": str_id(d["_id"])}} for d in defs]
    s.put("scheduler_job_definitions", jobs)
    s.put("scheduler_triggers", [{"_id": s.oid(), "job_definition_id": str_id(s.skew(jobs)["_id"]), "status": r.choice(
        ["runnable", "complete"]), "lock": {"owner": s.maybe(.5, r.choice(nodes)), "clock": r.randint(0, 9)},
                                     "next_time": s.day(990, 1001)} for _ in range(900)], "job_definition_id")
    searches = [{"_id": s.oid(), "owner": s.skew(names), "created_at": s.day(800, 1000), "queries": [
        {"id": str(s.uuid()), "query": {"type": "elasticsearch", "query_string": s.words(1, 3)}, "filter": {
            "type": "or", "filters": [{"type": "stream", "id": one(streams)} for _ in range(r.randint(0, 2))]}}]}
                for _ in range(2600)]
    s.put("searches", searches, "owner")
    s.put("views", [{"_id": s.oid(), "type": r.choice(["SEARCH", "DASHBOARD"]), "title": s.title(3), "search_id": one(
        searches) if r.random() > .02 else "%024x" % r.getrandbits(96), "owner": r.choice(names), "requires": {}}
                    for _ in range(410)], "search_id")
    caches = [{"_id": s.oid(), "name": "%s-cache-%d" % (w, i)} for i, w in enumerate(r.sample(WORD, 14))]
    adapters = [{"_id": s.oid(), "name": "%s-csv-%d" % (w, i)} for i, w in enumerate(r.sample(WORD, 29))]
    s.put("lut_caches", caches, "!name")
    s.put("lut_data_adapters", adapters, "!name")
    s.put("lut_tables",
          [{"_id": s.oid(), "name": "%s-%d" % (s.words(1), i), "cache_id": one(caches), "data_adapter_id": one(
        adapters), "default_single_value": ""} for i in range(40)], "!name")
    colls = [{"_id": s.oid(), "name": n, "service_type": "exec", "node_operating_system": os} for n in (
        "filebeat", "winlogbeat", "nxlog", "auditbeat", "fluentd") for os in ("linux", "windows", "darwin")]
    s.put("sidecar_collectors", colls)
    confs = [{"_id": s.oid(), "collector_id": str_id(c["_id"]), "name": s.words(2), "color": "#00bcd4",
              "template": s.words(
        5)} for c in r.choices(colls, k=64)]
    s.put("sidecar_configurations", confs)
    s.put("sidecars",
          [{"_id": s.oid(), "node_id": str(s.uuid()), "node_name": "srv-%s-%d" % (s.words(1), i), "assignments": [
        {"collector_id": c["collector_id"], "configuration_id": str_id(c["_id"])} for c in s.few(confs, 1, 3)],
        "sidecar_version": "1.5.0"} for i in range(730)], "!node_id")
    s.put("access_tokens",
          [{"_id": s.oid(), "username": r.choice(names) if r.random() > .06 else "jformer", "NAME": s.words(
        1), "token": "".join(r.choices(BASE36, k=52))} for _ in range(140)], "username")
    s.put("cluster_events", [{"_id": s.oid(), "timestamp": Long(1640000000000 + 977 * i), "producer": s.skew(nodes),
                              "consumers": s.few(nodes, 8, 12), "event_class": "org.graylog2.events.%s" % s.title(1)}
                             for i in range(3200)], "timestamp,producer")
    s.put("traffic", [{"_id": s.oid(), "bucket": datetime.datetime(2021, 3, 1) + datetime.timedelta(hours=i), **{
        k: {n: Long(r.randrange(10**9)) for n in s.few(nodes, 9, 12)} for k in ("input", "output", "decoded")}}
                      for i in range(1400)], "!bucket")
    s.maps |= {"traffic:input", "traffic:output", "traffic:decoded"}
    s.put("grants",
          [{"_id": s.oid(), "grantee": "grn::::user:" + one(users), "capability": "own", "target": "grn::::" + x}
                     for x in ["stream:" + one(streams) for _ in range(600)]], "grantee", "target")
    s.ref("""
        users:roles[] roles:_id
        outputs:creator_user_id users:username
        streams:index_set_id index_sets:_id
        streams:creator_user_id users:username
        streams:outputs[] outputs:_id
        streamrules:stream_id streams:_id
        inputs:creator_user_id users:username
        inputs:node_id nodes:node_id
        inputs:extractors[].creator_user_id users:username
        pipeline_processor_pipelines_streams:stream_id streams:_id
        pipeline_processor_pipelines_streams:pipeline_ids[] pipeline_processor_pipelines:_id
        event_notifications:config.user_recipients[] users:username
        event_definitions:config.streams[] streams:_id
        event_definitions:notifications[].notification_id event_notifications:_id
        event_processor_state:event_definition_id event_definitions:_id
        scheduler_job_definitions:config.event_definition_id event_definitions:_id
        scheduler_triggers:job_definition_id scheduler_job_definitions:_id
        scheduler_triggers:lock.owner nodes:node_id
        searches:owner users:username
        searches:queries[].filter.filters[].id streams:_id
        views:search_id searches:_id
        views:owner users:username
        lut_tables:cache_id lut_caches:_id
        lut_tables:data_adapter_id lut_data_adapters:_id
        sidecar_configurations:collector_id sidecar_collectors:_id
        sidecars:assignments[].collector_id sidecar_collectors:_id
        sidecars:assignments[].configuration_id sidecar_configurations:_id
        access_tokens:username users:username
        cluster_events:producer nodes:node_id
        cluster_events:consumers[] nodes:node_id
        traffic:input.* nodes:node_id
        traffic:output.* nodes:node_id
        traffic:decoded.* nodes:node_id""")
    s.allow("""
        grants:grantee users:_id
        grants:target streams:_id""")
    s.copy("scheduler_job_definitions:config.event_definition_id event_definitions:_id title title")


@data_set
def notebooks(s):
    """Notes in Go as Leanote keeps them: PascalCase, a note and its text share an _id, shares to people or groups."""
    r = s.r
    users = [{"_id": s.oid(), "Email": "%s%d@mail.example" % (s.words(1), i),
              "Username": "%s%d" % (r.choice(FIRST).lower(),
                                                                                                  i), "Verified": True,
              "NotebookWidth": 160, "NoteListWidth": 384, "FullSyncAfter": s.day(900, 999), "Usn": r.randint(1, 900),
              "ThirdUserId": s.maybe(.1, "%d" % r.randrange(10**6, 10**8)), "FromUserId": NO} for i in range(720)]
    for i, u in enumerate(users[60:]):
        u["FromUserId"] = s.maybe(.15, users[i]["_id"])
    ids = [u["_id"] for u in users]
    s.put("users", users, "!Email", "!Username")
    books, notes, texts, old, files, albums, atts, imgs = [], [], [], [], [], [], [], []
    for u in ids[:650]:
        mine, pics = [], []
        for k in range(r.randint(2, 9)):
            mine.append({"_id": s.oid(), "UserId": u, "ParentNotebookId": r.choice(mine)["_id"] if mine and
                         r.random() < .4 else NO, "Seq": -1 if k else 0, "Title": s.title(1, 2), "NumberNotes": 0,
                         "IsBlog": r.random() < .1, "Usn": r.randint(1, 900), "IsDeleted": False})
        albums += [{"_id": s.oid(), "UserId": u, "Name": s.title(1), "Type": 0,
                    "Seq": k} for k in range(r.choice([0, 0, 2]))]
        own = [a for a in albums[-2:] if a["UserId"] == u]
        for k in range(r.randint(0, 6)):
            pics.append({"_id": s.oid(), "UserId": u, "AlbumId": s.maybe(.6, r.choice(own)["_id"]) if own else NO,
                         "Name": "%024x.png" % r.getrandbits(96), "Title": s.words(1),
                         "Size": Long(r.randint(900, 10**6)),
                         "Path": "files/%s/images/%d.png" % (str_id(u), k), "IsDefaultAlbum": not own,
                         "FromFileId": s.maybe(.1, r.choice(files)["_id"]) if files else NO})
        for k in range(int(24 * r.random() ** 2)):
            n, b, by = s.oid(), s.skew(mine), u if r.random() > .04 else r.choice(ids)
            b["NumberNotes"] += 1
            notes.append({"_id": n, "UserId": u, "CreatedUserId": s.maybe(.2, u),
                          "NotebookId": b["_id"] if r.random() > .01
                          else s.oid(), "Title": s.title(2, 4), "Desc": s.words(5, 12), "ImgSrc": "", "Tags": s.few(
                              WORD[:30], 0, 2), "IsTrash": r.random() < .06, "IsBlog": r.random() < .15,
                          "ReadNum": r.randint(
                                  0, 99), "LikeNum": 0, "CommentNum": 0, "AttachNum": 0, "Usn": r.randint(1, 900),
                          "UpdatedUserId": by, "UpdatedTime": s.day(600, 1000)})
            texts.append({"_id": n, "UserId": u, "IsBlog": notes[-1]["IsBlog"], "Content": s.words(30, 200),
                          "Abstract": s.words(
                8), "UpdatedUserId": by})
            if r.random() < .35:
                old.append({"_id": n, "UserId": u, "Histories": [{"UpdatedUserId": u, "UpdatedTime": s.day(500, 900),
                                                                  "Content": s.words(20, 80)}
                                                                 for _ in range(r.randint(1, 5))]})
            for p in s.few(pics, 0, 2) if r.random() < .3 else []:
                imgs.append({"_id": s.oid(), "NoteId": n, "ImageId": p["_id"]})
            for _ in range(r.choice([0, 0, 0, 0, 1, 2])):
                atts.append({"_id": s.oid(), "NoteId": n, "UploadUserId": by, "Name": "%s.pdf" % s.words(1),
                             "Title": s.words(
                    2), "Size": Long(r.randint(900, 10**7)), "Path": "files/%s/attachs/x.pdf" % str_id(u)})
                notes[-1]["AttachNum"] += 1
        books += mine
        files += pics
    blogs = [n for n in notes if n["IsBlog"]]
    comments, likes = [], []
    for n in blogs:
        mine = []
        for _ in range(int(9 * r.random() ** 2)):
            up = r.choice(mine) if mine and r.random() < .4 else None
            mine.append({"_id": s.oid(), "NoteId": n["_id"], "UserId": s.skew(ids, 1.3), "Content": s.words(3, 15),
                         "ToCommentId": up["_id"] if up else NO, "ToUserId": up["UserId"] if up else NO,
                         "LikeUserIds": s.few(ids, 1, 4) if r.random() < .2 else [], "CreatedTime": s.day(700, 1000)})
            mine[-1]["LikeNum"] = len(mine[-1]["LikeUserIds"])
        n["CommentNum"] = len(mine)
        comments += mine
        for u in s.few(ids, 0, 5):
            likes.append({"_id": s.oid(), "NoteId": n["_id"] if r.random() > .015 else s.oid(), "UserId": u})
    groups = [{"_id": s.oid(), "UserId": s.skew(ids), "Title": s.title(1),
               "UserCount": r.randint(1, 9)} for _ in range(85)]
    s.put("notebooks", books, "UserId,Title", "ParentNotebookId")
    s.put("notes", notes, "UserId,IsTrash,-UpdatedTime", "NotebookId")
    s.put("note_contents", texts, "UserId")
    s.put("note_content_histories", old)
    s.put("albums", albums, "UserId")
    s.put("files", files, "UserId,AlbumId")
    s.put("attachs", atts, "NoteId")
    s.put("note_images", imgs, "NoteId", "ImageId")
    s.put("blog_comments", comments, "NoteId,-CreatedTime")
    s.put("blog_likes", likes, "!NoteId,UserId")
    s.put("groups", groups)
    s.put("group_users", [{"_id": s.oid(), "GroupId": g["_id"], "UserId": u} for g in groups for u in s.few(ids, 1, 9)],
          "GroupId,UserId", "UserId")
    for name, z, field in (("share_notes", notes, "NoteId"), ("share_notebooks", books, "NotebookId")):
        rows = []
        for _ in range(640):
            x, g = r.choice(z), r.random() < .2
            rows.append({"_id": s.oid(), "UserId": x["UserId"], "ToUserId": NO if g else r.choice(ids), field: x["_id"],
                         "ToGroupId": r.choice(groups)["_id"] if g else NO, "Perm": r.randint(0, 1)})
        s.put(name, rows, "UserId,ToUserId", "ToUserId")
    s.put("themes",
          [{"_id": s.oid(), "Name": s.title(1), "Author": "leanote", "Version": "1.%d" % i, "Style": s.words(1)}
                     for i in range(15)])
    themes = [t["_id"] for t in s.docs["themes"]]
    public = {}
    for b in books:
        if b["IsBlog"]:
            public.setdefault(b["UserId"], []).append(str_id(b["_id"]))
    s.put("user_blogs",
          [{"_id": u, "Title": s.title(2), "SubTitle": s.words(3), "CateIds": z, "PerPageSize": 10, "ThemeId":
                          s.skew(themes), "CanComment": True} for u, z in public.items()])
    s.put("sessions",
          [{"_id": s.oid(), "SessionId": str_id(s.oid()) if r.random() < .5 else "%032x" % r.getrandbits(128),
                        "LoginTimes": r.choice([0, 0, 1, 3]), "UserId": str_id(s.skew(ids))} for _ in range(1100)],
          "!SessionId")
    s.unjudged.add("attribute-fields")
    s.ref("\n".join("%s:UserId users:_id" % k for k in """notebooks notes note_contents note_content_histories albums
        files blog_comments blog_likes groups group_users share_notes share_notebooks sessions""".split()))
    s.ref("""
        users:FromUserId users:_id
        notebooks:ParentNotebookId notebooks:_id
        notes:CreatedUserId users:_id
        notes:UpdatedUserId users:_id
        notes:NotebookId notebooks:_id
        note_contents:_id notes:_id either
        note_contents:UpdatedUserId users:_id
        note_content_histories:_id notes:_id
        note_content_histories:Histories[].UpdatedUserId users:_id
        files:AlbumId albums:_id
        files:FromFileId files:_id
        attachs:NoteId notes:_id
        attachs:UploadUserId users:_id
        note_images:NoteId notes:_id
        note_images:ImageId files:_id
        blog_comments:NoteId notes:_id
        blog_comments:ToCommentId blog_comments:_id
        blog_comments:ToUserId users:_id
        blog_comments:LikeUserIds[] users:_id
        blog_likes:NoteId notes:_id
        group_users:GroupId groups:_id
        share_notes:NoteId notes:_id
        share_notes:ToUserId users:_id
        share_notes:ToGroupId groups:_id
        share_notebooks:NotebookId notebooks:_id
        share_notebooks:ToUserId users:_id
        share_notebooks:ToGroupId groups:_id
        user_blogs:_id users:_id
        user_blogs:CateIds[] notebooks:_id
        user_blogs:ThemeId themes:_id""")
    s.allow("""
        note_content_histories:_id note_contents:_id
        attachs:NoteId note_contents:_id
        note_images:NoteId note_contents:_id
        blog_comments:NoteId note_contents:_id
        blog_likes:NoteId note_contents:_id
        share_notes:NoteId note_contents:_id""")
