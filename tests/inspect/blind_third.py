# SPDX-License-Identifier: Apache-2.0
"""blind_third.py - databases of open-source servers and of firms, written by one who had not read how references are
found: a kanban, a mail server, Wi-Fi, habits, API docs, LaTeX, a headless CMS, an airline, a chain, a garage, meals,
meters."""
import datetime

from truth import CITY, COUNTRY, FIRST, LAST, NO, WORD, Cents, Long, data_set, str_id, text_date

METEOR = "23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz"
HEX = "0123456789abcdef"


def code(s, n, letters=METEOR):
    return "".join(s.r.choices(letters, k=n))


@data_set
def kanban(s):
    """Boards of cards, as a Meteor application writes them: random texts of 17 letters, labels that live in boards."""
    r = s.r

    def ids(n):
        return [code(s, 17) for _ in range(n)]

    people, gone, boards, lanes, lists = ids(85), ids(3), [], [], []
    for i, b in enumerate(ids(60)):
        boards.append({"_id": b, "title": s.title(2), "slug": "-".join(s.words(2).split()), "sort": i,
                       "permission": r.choice(["private", "private", "public"]), "type": "board",
                       "stars": r.randrange(9),
                       "members": [{"userId": u, "isAdmin": k == 0, "isActive": r.random() < .9, "isCommentOnly": False}
                                   for k, u in enumerate(s.few(people, 2, 12))],
                       "labels": [{"_id": code(s, 6), "color": c, "name": s.maybe(.6, s.words(1))} for c in (
                           "green", "yellow", "orange", "red", "purple", "blue")],
                       "createdAt": s.day(0, 700), "archived": r.random() < .1})
        lanes += [{"_id": x, "title": s.title(1), "boardId": b, "sort": k, "archived": False}
                  for k, x in enumerate(ids(r.randint(1, 3)))]
        lists += [{"_id": x, "title": s.title(1), "boardId": b, "sort": k, "archived": False, "wipLimit": {
            "value": r.randint(1, 9), "enabled": False, "soft": False}} for k, x in enumerate(ids(r.randint(3, 7)))]
    s.put("boards", boards, "slug", "members.userId")
    s.put("swimlanes", lanes, "boardId")
    s.put("lists", lists, "boardId")
    s.put("users", [{"_id": u, "username": "%s%d" % (r.choice(FIRST).lower(), i), "createdAt": s.day(0, 500),
                     "emails": [{"address": "u%d@kanban.example" % i, "verified": r.random() < .8}],
                     "profile": {"fullname": s.person(), "starredBoards": [b["_id"] for b in s.few(boards, 0, 5)]},
                     "services": {"resume": {"loginTokens": [{"when": s.day(700, 900), "hashedToken": code(s, 43) + "="}
                                                             for _ in range(r.randint(0, 3))]}}}
                    for i, u in enumerate(people)], "!username")
    fields = [{"_id": f, "boardIds": [b["_id"] for b in s.few(boards, 1, 9)], "name": s.title(1), "type": t,
               "showOnCard": r.random() < .5, "settings": {"dropdownItems": [
                   {"_id": x, "name": s.words(1)} for x in ids(4)]} if t == "dropdown" else {}}
              for f, t in zip(ids(18), ["dropdown", "text", "number"] * 6)]
    s.put("customFields", fields, "boardIds")
    cards, files = [], []
    for x in ids(4200):
        b = s.skew(boards)
        team = [m["userId"] for m in b["members"]]
        own = [f for f in fields if b["_id"] in f["boardIds"]]
        before = [c for c in cards[-300:] if c["boardId"] == b["_id"]]
        cards.append({"_id": x, "title": s.title(2, 6), "boardId": b["_id"], "archived": r.random() < .2,
                      "listId": r.choice([y["_id"] for y in lists if y["boardId"] == b["_id"]]),
                      "swimlaneId": r.choice([y["_id"] for y in lanes if y["boardId"] == b["_id"]]),
                      "userId": r.choice(team), "members": s.few(team, 0, 3), "assignees": s.few(team, 0, 1),
                      "labelIds": [y["_id"] for y in s.few(b["labels"], 0, 2)], "sort": r.randrange(60),
                      "parentId": r.choice(before)["_id"] if before and r.random() < .12 else NO,
                      "customFields": [{"_id": f["_id"], "value": r.choice(f["settings"]["dropdownItems"])["_id"]
                                        if f["type"] == "dropdown" else s.words(1) if f["type"] == "text"
                                        else r.randint(1, 99)} for f in own if r.random() < .7],
                      "dueAt": s.maybe(.3, s.day(800, 1000)), "createdAt": s.day(500, 900), "coverId": NO})
        if r.random() < .15:
            files.append({"_id": code(s, 17), "name": s.words(1) + ".png", "size": r.randint(900, 10**6),
                          "meta": {"boardId": b["_id"], "cardId": x, "userId": r.choice(team)}, "type": "image/png"})
            cards[-1]["coverId"] = s.maybe(.5, files[-1]["_id"])
    s.put("cards", cards, "boardId", "boardId,createdAt", "listId", "parentId", "members")
    s.put("attachments", files, "meta.cardId")
    some = [s.skew(cards) for _ in range(1200)]
    checklists = [{"_id": x, "cardId": c["_id"], "title": s.title(1), "sort": 0} for x, c in zip(ids(1200), some)]
    s.put("checklists", checklists, "cardId")
    s.put("checklistItems", [{"_id": code(s, 17), "title": s.words(2, 5), "sort": k, "isFinished": r.random() < .5,
                              "checklistId": c["_id"], "cardId": c["cardId"]}
                             for c in checklists for k in range(r.randint(1, 7))], "checklistId")
    s.put("card_comments", [{"_id": x, "boardId": c["boardId"], "cardId": c["_id"], "text": s.words(4, 20),
                             "userId": r.choice(gone) if r.random() < .02 else r.choice(people),
                             "createdAt": s.day(600, 900)} for x, c in zip(ids(2500), r.choices(cards, k=2500))],
          "cardId,-createdAt")
    dead = ids(150)
    s.put("activities", [{"_id": x, "userId": r.choice(people), "boardId": c["boardId"], "listId": c["listId"],
                          "activityType": r.choice(["createCard", "moveCard", "joinMember", "addedLabel"]),
                          "cardId": r.choice(dead) if r.random() < .06 else c["_id"],
                          "memberId": s.maybe(.2, r.choice(people)), "createdAt": s.day(600, 900)}
                         for x, c in zip(ids(8000), r.choices(cards, k=8000))], "-createdAt", "cardId,-createdAt",
          "boardId,-createdAt")
    s.ref("""
        boards:members[].userId users:_id
        users:profile.starredBoards[] boards:_id
        swimlanes:boardId boards:_id
        lists:boardId boards:_id
        customFields:boardIds[] boards:_id
        cards:boardId boards:_id
        cards:listId lists:_id
        cards:swimlaneId swimlanes:_id
        cards:userId users:_id
        cards:members[] users:_id
        cards:assignees[] users:_id
        cards:labelIds[] boards:labels[]._id
        cards:parentId cards:_id
        cards:customFields[]._id customFields:_id
        cards:coverId attachments:_id
        attachments:meta.boardId boards:_id
        attachments:meta.cardId cards:_id
        attachments:meta.userId users:_id
        checklists:cardId cards:_id
        checklistItems:checklistId checklists:_id
        checklistItems:cardId cards:_id
        card_comments:boardId boards:_id
        card_comments:cardId cards:_id
        card_comments:userId users:_id
        activities:userId users:_id
        activities:boardId boards:_id
        activities:listId lists:_id
        activities:cardId cards:_id
        activities:memberId users:_id""")
    s.allow("cards:customFields[].value customFields:settings.dropdownItems[]._id")


@data_set
def mailserver(s):
    """A mail server on MongoDB: users, folders and messages by ObjectId, attachments by hash in GridFS, a journal."""
    r = s.r
    users = [s.oid() for _ in range(160)]
    mail = ["%s.%s%d@mx.example" % (r.choice(FIRST).lower(), r.choice(LAST).lower(), i) for i in range(160)]
    s.put("users", [{"_id": u, "username": m.split("@")[0], "unameview": m.split("@")[0].replace(".", ""), "address": m,
                     "name": s.maybe(.8, s.person()), "quota": 2**30 * r.choice([1, 5]),
                     "storageUsed": r.randrange(2**29),
                     "enabled2fa": s.few(["totp", "u2f"], 0, 1), "tags": s.few(["staff", "trial", "eu"], 0, 2),
                     "activated": True, "disabled": r.random() < .05, "created": s.day(0, 500)}
                    for u, m in zip(users, mail)], "!username", "!unameview")
    alias = [(r.choice(users), "%s%d@alias.example" % (s.words(1), i)) for i in range(90)]
    s.put("addresses", [{"_id": s.oid(), "user": u, "address": m, "addrview": m.replace(".", "", 1),
                         "created": s.day(0, 600)} for u, m in [*zip(users, mail), *alias]], "!addrview", "user")
    s.put("domainaliases", [{"_id": s.oid(), "alias": w + ".example", "domain": "mx.example", "created": s.day(0, 300)}
                            for w in r.sample(WORD, 8)], "!alias")
    boxes = [{"_id": s.oid(), "user": u, "path": p, "specialUse": t, "uidValidity": 1550000000 + r.randrange(10**7),
              "uidNext": r.randint(2, 9000), "modifyIndex": r.randint(1, 40000), "subscribed": True, "retention": 0}
             for u in users for p, t in [("INBOX", NO), ("Sent Mail", "\\Sent"), ("Trash", "\\Trash"), ("Junk",
                 "\\Junk")] +
             [(w.title(), NO) for w in s.few(WORD, 0, 4)]]
    s.put("mailboxes", boxes, "!user,path", "user")
    of = {u: [b["_id"] for b in boxes if b["user"] == u] for u in users}
    hashes = [code(s, 64, HEX) for _ in range(800)]
    s.put("attachments.files", [{"_id": h, "length": r.randint(300, 900), "chunkSize": 261120, "uploadDate": s.day(0,
        900),
                                 "contentType": r.choice(["image/png", "application/pdf"]), "metadata": {
                                     "c": r.randint(1, 5), "m": r.randrange(2**40), "cl": 4}} for h in hashes])
    s.put("attachments.chunks", [{"_id": s.oid(), "files_id": h, "n": 0, "data": bytes(r.randrange(256)
        for _ in range(90))}
                                 for h in hashes], "!files_id,n")
    threads = [{"_id": s.oid(), "user": s.skew(users), "ids": [code(s, 22) for _ in range(r.randint(1, 4))],
                "updated": s.day(600, 900)} for _ in range(2600)]
    for x in threads[700:703]:  # a cron job answers itself every hour
        x["ids"] += [code(s, 22) for _ in range(r.randint(2400, 3900))]
    s.put("threads", threads, "user,ids")
    messages, msgids = [], []
    for i in range(5600):
        t, me = r.choice(threads), s.oid()
        msgid = "<%s@%s.example>" % (code(s, 20), r.choice(WORD[:40]))
        reply = r.choice(msgids[-900:]) if msgids and r.random() < .3 else "<%s@mail.example>" % code(s, 24)
        messages.append({"_id": me, "root": me if i < 50 or r.random() < .94 else messages[r.randrange(i)]["root"],
                         "mailbox": r.choice(of[t["user"]]), "user": t["user"], "thread": t["_id"],
                         "uid": r.randint(1, 9000), "modseq": r.randint(1, 40000), "hdate": s.day(500, 900),
                         "idate": s.day(500, 900), "size": r.randint(900, 90000), "flags": s.few(["\\Seen",
                             "\\Flagged"], 0, 2),
                         "unseen": r.random() < .3, "subject": s.title(2, 6), "msgid": msgid, "mimeTree": {
                             "parsedHeader": {"message-id": msgid, "in-reply-to": s.maybe(.5, reply)}, "lineCount": 40},
                         "meta": {"source": "MX", "from": r.choice(mail) if r.random() < .3 else "%s@%s.example" % (
                             s.words(1), s.words(1)), "to": mail[users.index(t["user"])], "origin": "198.51.100.7"},
                         "attachments": [{"id": "ATT%05d" % k, "hash": h, "filename": s.words(1) + ".pdf"} for k, h in
                                         enumerate(s.few(hashes, 1, 3), 1)] if r.random() < .2 else []})
        msgids.append(msgid)
    s.put("messages", messages, "mailbox,-uid", "user,thread", "thread", "msgid")
    s.put("journal", [{"_id": s.oid(), "mailbox": m["mailbox"], "user": m["user"], "uid": m["uid"],
                       "modseq": m["modseq"],
                       "message": m["_id"] if r.random() > .09 else s.oid(), "created": s.day(890, 900),
                       "command": r.choice(["EXISTS", "FETCH", "EXPUNGE"])} for m in r.choices(messages, k=2800)],
          "mailbox,modseq", "created")
    s.put("filters", [{"_id": s.oid(), "user": u, "name": s.words(2), "query": {"headers": {"from": s.words(1)}},
                       "action": {
        "mailbox": s.maybe(.7, r.choice(of[u])), "seen": s.maybe(.4, True)}, "disabled": False}
                      for u in r.choices(users, k=140)], "user")
    asps = [{"_id": s.oid(), "user": r.choice(users), "description": s.words(2), "scopes": ["imap", "smtp"]}
            for _ in range(70)]
    s.put("asps", asps, "user")
    s.put("authlog", [{"_id": s.oid(), "user": r.choice(users) if r.random() < .9 else None, "source": "::1",
                       "protocol": r.choice(
        ["IMAP", "SMTP", "API"]), "action": "authentication", "result": r.choice(["success", "fail"]),
                       "asp": s.maybe(.1, r.choice(asps)["_id"]), "created": s.day(860, 900), "key": code(s, 12)}
                      for _ in range(3600)], "user,created")
    s.put("autoreplies", [{"_id": s.oid(), "user": u, "status": r.random() < .3, "subject": s.words(3),
                           "text": s.words(9, 20)}
                          for u in r.sample(users, 28)], "user")
    s.ref("""
        addresses:user users:_id
        mailboxes:user users:_id
        attachments.chunks:files_id attachments.files:_id
        threads:user users:_id
        messages:mailbox mailboxes:_id
        messages:user users:_id
        messages:thread threads:_id
        messages:attachments[].hash attachments.files:_id
        journal:mailbox mailboxes:_id
        journal:user users:_id
        journal:message messages:_id
        filters:user users:_id
        filters:action.mailbox mailboxes:_id
        asps:user users:_id
        authlog:user users:_id
        authlog:asp asps:_id
        autoreplies:user users:_id""")
    s.allow("""
        users:address addresses:address
        messages:root messages:_id
        messages:mimeTree.parsedHeader.in-reply-to messages:msgid
        messages:mimeTree.parsedHeader.in-reply-to messages:mimeTree.parsedHeader.message-id
        messages:mimeTree.parsedHeader.message-id messages:msgid
        messages:meta.from addresses:address
        messages:meta.from users:address
        messages:meta.to addresses:address
        messages:meta.to users:address""")
    s.unjudged.add("one-to-one-apart")  # chunks stand apart from files by the rules of GridFS


@data_set
def accesspoints(s):
    """A controller of Wi-Fi in Java: ObjectIds are kept as text, devices and clients are known by MAC, logs by both."""
    r = s.r

    def mac(oui):
        return oui + "".join(":%02x" % r.randrange(256) for _ in range(3))

    sites = [{"_id": s.oid(), "name": "default" if i == 0 else code(s, 8, "abcdefgh0123456789"), "desc": c,
              "role_hotspot": r.random() < .3} for i, c in enumerate(CITY[:24])]
    s.put("site", sites, "!name")
    at = [str_id(x["_id"]) for x in sites]
    admins = [{"_id": s.oid(), "name": r.choice(FIRST).lower() + str(i), "email": "a%d@net.example" % i, "time_created":
               1550000000 + 1000 * i, "x_shadow": "$6$" + code(s, 40)} for i in range(19)]
    s.put("admin", admins, "!name")
    s.put("privilege", [{"_id": s.oid(), "admin_id": str_id(a["_id"]), "site_id": x, "role": r.choice(["admin",
        "readonly"]),
                         "permissions": []} for a in admins for x in s.few(at, 1, 9)])
    ugs, wgs, nets, wlans, ports = {}, {}, {}, {}, {}
    for x in at:
        ugs[x] = [{"_id": s.oid(), "site_id": x, "name": n, "qos_rate_max_down": q} for n, q in
                  [("Default", -1), ("Guests", 2000)][:r.randint(1, 2)]]
        wgs[x] = [{"_id": s.oid(), "site_id": x, "name": n} for n in ["Default", "Off"]]
        nets[x] = [{"_id": s.oid(), "site_id": x, "name": n, "purpose": p, "vlan": NO if v == 1 else v,
                    "ip_subnet": "10.%d.%d.1/24" % (at.index(x), v)} for n, p, v in
                   [("LAN", "corporate", 1), ("Voice", "vlan-only", 20), ("Guest", "guest", 30)][:r.randint(2, 3)]]
        wlans[x] = [{"_id": s.oid(), "site_id": x, "name": s.title(1) + "-" + n, "security": "wpapsk",
                     "x_passphrase": code(s, 12),
                     "usergroup_id": str_id(r.choice(ugs[x])["_id"]), "wlangroup_id": str_id(wgs[x][0]["_id"]),
                     "networkconf_id": str_id(r.choice(nets[x])["_id"])} for n in ["Office", "Guest",
                         "IoT"][:r.randint(2, 3)]]
        ports[x] = [{"_id": s.oid(), "site_id": x, "name": n, "poe_mode": "auto", "native_networkconf_id": str_id(
            r.choice(nets[x])["_id"]), "tagged_networkconf_ids": [str_id(y["_id"]) for y in s.few(nets[x], 0, 2)]}
                    for n in ["All", "Phones", "Cameras"]]
    for name, of in ("usergroup", ugs), ("wlangroup", wgs), ("networkconf", nets), ("wlanconf", wlans), ("portconf",
        ports):
        s.put(name, [y for x in at for y in of[x]], *["site_id"] * (name == "wlanconf"))
    devices = []
    for i in range(260):
        x, t = s.skew(at, 1.3), r.choice(["uap", "uap", "usw"])
        up = [d["mac"] for d in devices if d["site_id"] == x and d["type"] == "usw"]
        devices.append({"_id": s.oid(), "mac": mac("78:8a:20"), "type": t, "site_id": x, "model": r.choice(["U7PG2",
            "US8P60"]),
                        "name": "%s-%03d" % (t.upper(), i), "serial": code(s, 12, "0123456789ABCDEF"), "adopted": True,
                        "ip": "10.0.%d.%d" % (i // 250, i % 250), "uplink": {"uplink_mac": r.choice(up) if up else NO,
                            "speed": 1000},
                        "wlangroup_id_ng": str_id(r.choice(wgs[x])["_id"]) if t == "uap" else NO,
                        "wlangroup_id_na": str_id(
                            wgs[x][0]["_id"]) if t == "uap" else NO, "port_table": [
                                {"port_idx": k, "portconf_id": str_id(r.choice(ports[x])["_id"]), "up": r.random() < .6}
                                for k in range(1, 9)] if t == "usw" else NO, "inform_port": 8080,
                                "uptime": r.randrange(10**7)})
    s.put("device", devices, "!mac", "site_id")
    aps, old = [d for d in devices if d["type"] == "uap"], [mac("78:8a:20") for _ in range(9)]
    users = [{"_id": s.oid(), "mac": mac(r.choice(["f0:18:98", "a4:83:e7", "00:1b:44"])), "site_id": s.skew(at, 1.3),
              "oui": r.choice(["Apple", "SanDisk"]), "hostname": s.maybe(.7, "%s-%s" % (s.words(1), s.words(1))),
              "first_seen": 1570000000 + r.randrange(10**7), "last_seen": 1590000000 + r.randrange(10**7),
              "is_guest": False}
             for _ in range(1300)]
    for u in users:
        net = r.choice(nets[u["site_id"]])
        u.update({"usergroup_id": s.maybe(.3, str_id(ugs[u["site_id"]][0]["_id"])), "network_id": s.maybe(.2,
            str_id(net["_id"]))})
    s.put("user", users, "!mac", "site_id")
    s.put("event", [{"_id": s.oid(), "site_id": d["site_id"], "key": "EVT_WU_Connected", "user": s.skew(users)["mac"],
                     "ap": d["mac"] if r.random() > .04 else r.choice(old),
                     "ssid": r.choice(wlans[d["site_id"]])["name"],
                     "channel": r.choice([1, 6, 11, 36, 44]), "radio": r.choice(["ng", "na"]), "subsystem": "wlan",
                     "time": Long(1595000000000 + 40000 * k), "datetime": "2020-07-%02dT08:00:00Z" % (1 + k // 200)}
                    for k, d in enumerate(r.choices(aps, k=5600))], "time", "site_id,time", "ap", "user")
    s.put("session", [{"_id": s.oid(), "site_id": u["site_id"], "mac": u["mac"], "user_id": str_id(u["_id"]),
                       "ap_mac": r.choice(aps)["mac"],
                       "assoc_time": 1595000000 + 60 * k, "duration": r.randint(10, 40000),
                       "rx_bytes": r.randrange(10**9),
                       "tx_bytes": r.randrange(10**8), "roam_count": r.randrange(9)} for k,
                       u in enumerate(r.choices(users, k=3000))],
          "mac,assoc_time", "ap_mac")
    s.put("alarm", [{"_id": s.oid(), "site_id": d["site_id"], "ap": d["mac"], "ap_name": d["name"] if r.random() > .1
                     else "old-ap",
                     "key": "EVT_AP_Lost_Contact", "archived": r.random() < .7, "handled_admin_id": s.maybe(.6,
                         str_id(r.choice(admins)["_id"])),
                     "time": Long(1595000000000 + r.randrange(10**8))} for d in r.choices(devices, k=420)],
                     "site_id,archived")
    vouchers = [{"_id": s.oid(), "site_id": r.choice(at), "code": code(s, 10, "0123456789"), "quota": r.choice([0, 1]),
                 "duration": r.choice(
        [480, 1440]), "create_time": 1590000000 + 300 * (k // 10),
        "admin_name": r.choice(admins)["name"]} for k in range(400)]
    s.put("voucher", vouchers, "!code")
    s.put("guest", [{"_id": s.oid(), "site_id": v["site_id"], "mac": u["mac"], "user_id": str_id(u["_id"]),
                     "ap_mac": r.choice(aps)["mac"],
                     "voucher_id": str_id(v["_id"]), "start": 1595000000 + r.randrange(10**6),
                     "authorized_by": "voucher"}
                    for v, u in zip(r.choices(vouchers, k=620), r.choices(users, k=620))])
    s.ref("""
        privilege:admin_id admin:_id
        wlanconf:usergroup_id usergroup:_id
        wlanconf:wlangroup_id wlangroup:_id
        wlanconf:networkconf_id networkconf:_id
        portconf:native_networkconf_id networkconf:_id
        portconf:tagged_networkconf_ids[] networkconf:_id
        device:uplink.uplink_mac device:mac
        device:wlangroup_id_ng wlangroup:_id
        device:wlangroup_id_na wlangroup:_id
        device:port_table[].portconf_id portconf:_id
        user:usergroup_id usergroup:_id
        user:network_id networkconf:_id
        event:user user:mac
        event:ap device:mac
        session:mac user:mac
        session:user_id user:_id
        session:ap_mac device:mac
        alarm:ap device:mac
        alarm:handled_admin_id admin:_id
        guest:mac user:mac
        guest:user_id user:_id
        guest:ap_mac device:mac
        guest:voucher_id voucher:_id""")
    for c in ("privilege usergroup wlangroup networkconf wlanconf portconf device user event session alarm voucher "
              "guest").split():
        s.ref("%s:site_id site:_id" % c)
    s.copy("alarm:ap device:mac ap_name name")
    s.allow("""
        alarm:ap_name device:name
        voucher:admin_name admin:name
        event:ssid wlanconf:name""")


@data_set
def habits(s):
    """A game of tasks on Mongoose: UUIDs as text everywhere, gear and pets as names of fields, votes by player."""
    r = s.r

    def ids(n):
        return [str(s.uuid()) for _ in range(n)]

    people, parties, guilds, chals, gone = ids(480), ids(70), ids(36), ids(64), ids(12)
    gear = ["%s_%s_%d" % (a, b, k) for a in ("weapon", "armor", "head", "shield") for b in ("warrior", "wizard",
        "rogue", "healer")
            for k in range(1, 6)]
    pets = ["%s-%s" % (a, b) for a in ("Wolf", "Tiger", "Fox", "Dragon", "Cactus", "Lion") for b in ("Base", "White",
        "Red", "Zombie")]
    party = {u: r.choice(parties) if r.random() < .6 else None for u in people}
    s.put("challenges", [{"_id": c, "name": s.title(2, 4), "shortName": s.words(1), "leader": s.skew(people),
                          "group": r.choice(
        guilds + parties[:10]), "prize": r.randrange(0, 50, 5), "memberCount": r.randint(1, 90), "tasksOrder": {
            "habits": [], "dailys": [], "todos": [], "rewards": []}, "createdAt": s.day(300, 900)} for c in chals],
            "group", "leader")
    tasks, of = [], {}
    for c in s.docs["challenges"]:
        for k, t in zip(r.choices(["habit", "daily", "todo"], k=r.randint(1, 5)), ids(5)):
            tasks.append({"_id": t, "type": k, "text": s.words(2, 5), "value": 0.0, "priority": 1, "challenge": {
                "id": c["_id"], "shortName": c["shortName"]}, "tags": [], "createdAt": s.day(300, 900)})
            c["tasksOrder"][k + "s"].append(t)
            of.setdefault(c["_id"], []).append(tasks[-1])
    users = []
    for i, u in enumerate(people):
        tags = [{"id": t, "name": s.words(1)} for t in ids(r.randint(0, 5))]
        joined, order = s.few(chals, 0, 3), {"habits": [], "dailys": [], "todos": [], "rewards": []}
        copies = [x for c in joined for x in of[c]]
        for k in range(r.randint(3, 12) + len(copies)):
            x = copies[k] if k < len(copies) else None
            kind, t = x["type"] if x else r.choice(["habit", "daily", "todo", "reward"]), str(s.uuid())
            tasks.append({"_id": t, "userId": u, "type": kind, "text": x["text"] if x else s.words(2, 5),
                          "value": round(r.uniform(-20, 30), 3), "priority": r.choice([.1, 1, 1.5, 2]),
                          "tags": [y["id"] for y in s.few(tags, 0, 2)], "challenge": {
                              "id": x["challenge"]["id"], "taskId": x["_id"],
                              "shortName": x["challenge"]["shortName"]} if x else {},
                          "checklist": [{"id": str(s.uuid()), "text": s.words(2), "completed": r.random() < .5}
                                        for _ in range(r.choice([0, 0, 0, 3]))], "history": [
                              {"date": Long(1546300800000 + 86400000 * d), "value": round(r.uniform(-9, 9), 2)}
                              for d in range(r.randint(0, 9))], "createdAt": s.day(300, 900)})
            if r.random() > .01:
                order[kind + "s"].append(t)
        users.append({"_id": u, "auth": {"local": {"username": "%s%d" % (s.words(1), i),
                                                   "email": "h%d@mail.example" % i}},
                      "profile": {"name": s.person()}, "party": {"_id": party[u],
                          "order": "level"} if party[u] else {"order": "level"},
                      "guilds": s.few(guilds, 0, 4), "challenges": joined, "tags": tags, "tasksOrder": order,
                      "inbox": {"blocks": s.few(people, 0, 1) if r.random() < .1 else [],
                                "newMessages": r.randrange(4)},
                      "stats": {"lvl": r.randint(1, 90), "hp": float(r.randint(1, 50)), "exp": r.randrange(400),
                                "gp": round(
                          r.uniform(0, 900), 2), "class": r.choice(["warrior", "wizard", "rogue", "healer"])},
                      "items": {"gear": {"owned": dict.fromkeys(s.few(gear, 2, 30), True),
                                         "equipped": {"weapon": r.choice(gear)}},
                                "pets": {p: r.randint(-1, 50) for p in s.few(pets, 0, 14)}}, "balance": r.randrange(0,
                                    9) / 4})
    s.put("users", users, "!auth.local.username", "guilds", "party._id")
    s.put("tasks", tasks, "userId", "challenge.id")
    s.maps |= {"users:items.gear.owned", "users:items.pets"}
    s.put("groups", [{"_id": g, "name": s.title(2), "leader": s.skew(people) if g in guilds else next(
        (u for u in people if party[u] == g), people[0]), "type": "guild" if g in guilds else "party",
        "privacy": "private",
                      "memberCount": r.randint(1, 30), "balance": 1, "quest": {"key": r.choice(["atom1", "vice1",
                          "whale"]), "active": True,
                                                                               "members": {u: True for u in people
                                                                                   if party[u] == g}}
                      if g in parties[:55] else {}} for g in guilds + parties])
    s.maps.add("groups:quest.members")
    names = {u["_id"]: u["profile"]["name"] for u in users}
    s.put("chats", [{"_id": x, "groupId": g, "uuid": u, "text": s.words(3, 20), "user": names.get(u, "Removed")
                     if r.random() > .08
                     else s.person(), "flagCount": 0, "likes": {u: True for u in s.few(people, 0, 3)},
                     "timestamp": s.day(600, 900)}
                    for x, g, u in zip(ids(4200), r.choices(guilds + parties, k=4200), [
                        s.skew(people) if r.random() > .03 else r.choice(gone) for _ in range(4200)])],
                        "groupId,-timestamp")
    s.maps.add("chats:likes")
    s.put("inboxes", [{"_id": x, "ownerId": a, "uuid": b, "sent": r.random() < .5, "text": s.words(3, 12),
                       "uniqueMessageId": str(s.uuid()),
                       "timestamp": s.day(600, 900)} for x, a, b in zip(ids(900), r.choices(people, k=900),
                           r.choices(people, k=900))],
          "ownerId")
    s.put("transactions", [{"_id": x, "userId": s.skew(people), "currency": "gems", "transactionType": k,
                            "amount": r.choice([-1, .5, 2]),
                            "reference": r.choice(chals) if k == "create_challenge" else r.choice(guilds),
                            "createdAt": s.day(600, 900)}
                           for x, k in zip(ids(700), r.choices(["create_challenge", "create_guild"], k=700))], "userId")
    s.put("coupons", [{"_id": code(s, 12), "event": "wondercon", "user": s.maybe(.6, r.choice(people)),
                       "createdAt": s.day(1, 300)}
                      for _ in range(240)])
    s.ref("""
        challenges:leader users:_id
        challenges:group groups:_id
        challenges:tasksOrder.habits[] tasks:_id
        challenges:tasksOrder.dailys[] tasks:_id
        challenges:tasksOrder.todos[] tasks:_id
        users:party._id groups:_id
        users:guilds[] groups:_id
        users:challenges[] challenges:_id
        users:tasksOrder.habits[] tasks:_id
        users:tasksOrder.dailys[] tasks:_id
        users:tasksOrder.todos[] tasks:_id
        users:tasksOrder.rewards[] tasks:_id
        users:inbox.blocks[] users:_id
        tasks:userId users:_id
        tasks:tags[] users:tags[].id
        tasks:challenge.id challenges:_id
        tasks:challenge.taskId tasks:_id
        groups:leader users:_id
        groups:quest.members.* users:_id
        chats:groupId groups:_id
        chats:uuid users:_id
        chats:likes.* users:_id
        inboxes:ownerId users:_id
        inboxes:uuid users:_id
        transactions:userId users:_id
        transactions:reference challenges:_id
        transactions:reference groups:_id
        coupons:user users:_id""")
    s.rules_allowed.append({"rule": "stale-copies", "ns": "habits.chats", "path": "user"})
    s.unjudged.add("two-way-disagrees")  # the order of tasks is kept by kind, and those of challenges have no user


@data_set
def apidocs(s):
    """Documentation of APIs in teams: every collection counts from 11 in random steps, seconds as dates."""
    r = s.r

    def ids(n):
        out = [11]
        while len(out) < n:
            out.append(out[-1] + r.randint(1, 10))
        return out

    def when(lo=0):
        return 1550000000 + 86400 * r.randint(lo, 600) + r.randrange(86400)

    users = [{"_id": u, "username": s.person(), "email": "dev%d@api.example" % i, "passsalt": code(s, 11),
              "role": "member", "type": "site",
              "study": r.random() < .5, "add_time": when()} for i, u in enumerate(ids(130))]
    s.put("user", users, "!email", "username")

    def team(lo, hi):
        return [{"uid": u["_id"], "username": u["username"] if r.random() > .06 else u["email"].split("@")[0],
                 "email": u["email"],
                 "role": r.choice(["owner", "dev", "guest"]), "email_notice": True} for u in s.few(users, lo, hi)]

    groups = [{"_id": g, "uid": s.skew(users)["_id"], "group_name": s.title(2), "type": "public", "members": team(2,
        12),
               "custom_field1": {"enable": False}, "add_time": when(), "up_time": when(300)} for g in ids(45)]
    s.put("group", groups, "uid")
    projects = [{"_id": p, "uid": s.skew(users)["_id"], "name": s.title(2), "basepath": "/" + s.words(1),
                 "group_id": s.skew(groups)["_id"],
                 "members": team(0, 6), "env": [{"_id": s.oid(), "name": n, "domain": "https://%s.example" % n}
                                                for n in ("local", "test")],
                 "color": r.choice(["blue", "green", "red"]), "switch_notice": True,
                 "add_time": when()} for p in ids(170)]
    s.put("project", projects, "uid", "name", "group_id")
    cats = [{"_id": c, "name": s.title(1), "project_id": r.choice(projects)["_id"], "uid": s.skew(users)["_id"],
             "index": r.randrange(9),
             "add_time": when()} for c in ids(640)]
    s.put("interface_cat", cats, "uid", "project_id")
    apis = []
    for i in ids(3200):
        c = s.skew(cats, 1.3)
        apis.append({"_id": i, "title": s.title(2), "path": "/" + "/".join(s.words(1, 3).split()),
                     "method": r.choice(["GET", "POST", "PUT"]),
                     "project_id": c["project_id"], "catid": c["_id"], "uid": s.skew(users)["_id"],
                     "edit_uid": 0 if r.random() < .98
                     else r.choice(users)["_id"], "status": r.choice(["done", "undone"]), "index": r.randrange(30),
                     "tag": [],
                     "req_query": [{"_id": s.oid(), "name": s.words(1), "required": r.choice(["0", "1"]),
                                    "example": str(r.randint(1, 99))}
                                   for _ in range(r.randrange(4))],
                                   "res_body": '{"type":"object","title":"%s"}' % s.words(2, 20),
                     "add_time": when(), "up_time": when(300)})
    s.put("interface", apis, "uid", "project_id", "catid", "path,method")
    cols = [{"_id": c, "name": s.title(1), "uid": s.skew(users)["_id"], "project_id": r.choice(projects)["_id"],
             "add_time": when()}
            for c in ids(150)]
    s.put("interface_col", cols, "uid", "project_id")
    by = {}
    for a in apis:
        by.setdefault(a["project_id"], []).append(a["_id"])
    s.put("interface_case", [{"_id": i, "casename": s.words(2), "uid": s.skew(users)["_id"], "col_id": c["_id"],
                              "project_id": c["project_id"],
                              "interface_id": r.choice(by.get(c["project_id"],
                                  [11])) if r.random() > .03 else 90000 + i,
                              "case_env": "local", "index": r.randrange(40), "add_time": when()}
                             for i, c in zip(ids(1500), r.choices(cols, k=1500))], "uid", "col_id", "project_id")
    s.put("follow", [{"_id": i, "uid": r.choice(users)["_id"], "projectid": p["_id"], "projectname": p["name"]
                      if r.random() > .08
                      else s.title(2), "color": p["color"]} for i, p in zip(ids(420), r.choices(projects, k=420))],
                      "uid", "projectid")
    names = {u["_id"]: u["username"] for u in users}
    kinds = [("project", p["_id"]) for p in projects] * 3 + [("group", g["_id"]) for g in groups]
    s.put("log", [{"_id": i, "uid": u["_id"], "username": names[u["_id"]], "type": k, "typeid": x,
                   "content": "<a>%s</a> %s" % (
        u["username"], s.words(3, 9)), "add_time": when()} for i, u, (k, x) in zip(ids(4600), r.choices(users, k=4600),
                                                                                   r.choices(kinds, k=4600))], "uid",
                                                                                   "typeid,type")
    s.put("token", [{"_id": i, "project_id": p["_id"], "token": code(s, 20, HEX)} for i, p in zip(ids(110),
        r.sample(projects, 110))],
          "project_id")
    s.put("wiki", [{"_id": i, "project_id": p["_id"], "uid": s.skew(users)["_id"], "markdown": s.words(20, 90),
                    "add_time": when()}
                   for i, p in zip(ids(70), r.sample(projects, 70))], "project_id")
    picked = r.sample(apis, 320)
    s.put("adv_mock_case", [{"_id": i, "interface_id": a["_id"], "project_id": a["project_id"], "uid": str(a["uid"]),
                             "name": s.words(2),
                             "code": r.choice([200, 200, 404, 500]), "delay": r.choice([0, 0, 100]),
                             "case_enable": True}
                            for i, a in zip(ids(320), picked)])
    groups_of = {p["_id"]: p["group_id"] for p in projects}
    s.put("statis_mock", [{"_id": i, "interface_id": a["_id"], "project_id": a["project_id"],
                           "group_id": groups_of[a["project_id"]],
                           "time": when(500), "ip": "10.1.0.%d" % r.randrange(255), "date": "2020-%02d-%02d" % (
                               r.randint(6, 9), r.randint(1, 28))} for i, a in zip(ids(3400), r.choices(apis, k=3400))],
                               "date")
    s.put("identitycounters", [{"_id": s.oid(), "model": m, "field": "_id", "count": s.docs[m][-1]["_id"], "__v": 0}
                               for m in list(s.docs)])
    s.ref("""
        group:uid user:_id
        group:members[].uid user:_id
        project:uid user:_id
        project:members[].uid user:_id
        project:group_id group:_id
        interface_cat:project_id project:_id
        interface_cat:uid user:_id
        interface:project_id project:_id
        interface:catid interface_cat:_id
        interface:uid user:_id
        interface_col:uid user:_id
        interface_col:project_id project:_id
        interface_case:uid user:_id
        interface_case:col_id interface_col:_id
        interface_case:project_id project:_id
        interface_case:interface_id interface:_id
        follow:uid user:_id
        follow:projectid project:_id
        log:uid user:_id
        log:typeid project:_id
        log:typeid group:_id
        token:project_id project:_id
        wiki:project_id project:_id
        wiki:uid user:_id
        adv_mock_case:interface_id interface:_id
        adv_mock_case:project_id project:_id
        adv_mock_case:uid user:_id
        statis_mock:interface_id interface:_id
        statis_mock:project_id project:_id
        statis_mock:group_id group:_id""")
    s.copy("""
        group:members[].uid user:_id members[].username username
        project:members[].uid user:_id members[].username username
        follow:projectid project:_id projectname name""")
    s.allow("""
        interface:edit_uid user:_id
        group:members[].email user:email
        project:members[].email user:email
        group:members[].username user:username
        project:members[].username user:username
        log:username user:username
        follow:projectname project:name""")


@data_set
def latex(s):
    """An editor of LaTeX: a tree of folders inside of each project, threads in comments, contacts keyed by user."""
    r = s.r
    users = [s.oid() for _ in range(420)]
    s.put("users", [{"_id": u, "email": "%s%d@uni.example" % (s.words(1), i), "emails": [{"_id": s.oid(),
        "email": "x%d@uni.example" % i}],
                     "first_name": r.choice(FIRST), "last_name": r.choice(LAST), "signUpDate": s.day(0, 600),
                     "loginCount": r.randint(1, 400),
                     "features": {"collaborators": r.choice([1, 6, -1]), "dropbox": r.random() < .2},
                     "referal_id": code(s, 12, HEX),
                     "refered_users": s.few(users[i + 1:], 1, 3) if r.random() < .1 else [],
                     "overleaf": {"id": 1000000 + 37 * i},
                     "hashedPassword": "$2b$12$" + code(s, 53), "ace": {"theme": "textmate", "fontSize": r.choice([12,
                         14])}}
                    for i, u in enumerate(users)], "!email")
    projects, docs, rooms = [], [], []
    for i in range(520):
        me, owner, mine = s.oid(), s.skew(users, 1.4), []

        def folder(name, deep):
            here = [{"_id": s.oid(), "name": n + ".tex"} for n in s.few(WORD, 1, 4)]
            mine.extend(here)
            return {"_id": s.oid(), "name": name, "docs": here, "fileRefs": [
                {"_id": s.oid(), "name": s.words(1) + ".pdf", "hash": code(s, 40, HEX), "rev": r.randrange(3),
                 "linkedFileData": s.maybe(
                    .2, {"provider": "project_file", "source_project_id": str_id(r.choice(projects)["_id"]),
                         "source_entity_path": "/a.pdf"})
                 if projects else NO} for _ in range(r.randint(0, 2))],
                    "folders": [folder(s.words(1), deep - 1) for _ in range(r.randint(0, 2))] if deep else []}

        tree = folder("rootFolder", 1)
        projects.append({"_id": me, "name": s.title(2, 5), "owner_ref": owner, "collaberator_refs": s.few(users, 0, 4),
                         "readOnly_refs": s.few(users, 0, 1), "tokenAccessReadAndWrite_refs": s.few(users, 0,
                             2) if r.random() < .3 else [],
                         "rootDoc_id": tree["docs"][0]["_id"], "rootFolder": [tree], "lastUpdated": s.day(600, 900),
                         "lastUpdatedBy": s.maybe(.8, owner), "publicAccesLevel": "private",
                         "compiler": r.choice(["pdflatex", "xelatex"]),
                         "version": r.randint(1, 300), "tokens": {"readOnly": code(s, 12, "bcdfghjkmnpqrstvwxyz")},
                         "overleaf": {"history": {"id": 500 + 3 * i, "display": True}},
                         "trashed": [owner] if r.random() < .05 else []})
        for d in mine:
            threads = [s.oid() for _ in range(r.choice([0, 0, 0, 1, 2]))]
            docs.append({"_id": d["_id"], "project_id": me, "lines": [s.words(3, 9) for _ in range(r.randint(5, 40))],
                         "rev": r.randint(1, 80),
                         "version": r.randint(1, 900), "ranges": {"comments": [{"id": code(s, 24, HEX), "op": {
                             "c": s.words(2), "p": r.randrange(900), "t": str_id(t)},
                             "metadata": {"user_id": str_id(r.choice(users))}}
                                                                              for t in threads]} if threads else {}})
            rooms += [{"_id": s.oid(), "project_id": me, "thread_id": t} for t in threads]
        rooms += [{"_id": s.oid(), "project_id": me}] * (r.random() < .4)
    s.put("projects", projects, "owner_ref", "collaberator_refs", "readOnly_refs")
    s.put("docs", docs, "project_id")
    s.put("rooms", rooms, "project_id", "?thread_id")
    s.put("messages", [{"_id": s.oid(), "room_id": m["_id"], "user_id": r.choice(users), "content": s.words(2, 20),
                        "timestamp": float(1590000000000 + r.randrange(10**9))} for m in r.choices(rooms, k=2400)],
                        "room_id,-timestamp")
    s.put("docHistory", [{"_id": s.oid(), "doc_id": d["_id"], "project_id": d["project_id"], "v": r.randint(1, 90),
                          "v_end": r.randint(90, 400),
                          "n": 3, "sz": r.randint(200, 4000), "meta": {"start_ts": 1590000000000,
                              "end_ts": 1590000900000}, "pack": [
                              {"v": k, "meta": {"user_id": str_id(r.choice(users)), "start_ts": 1590000000000 + k},
                               "op": [
                                  {"p": r.randrange(999), "i": s.words(1)}]} for k in range(r.randint(1, 9)
                                      if r.random() > .03 else r.randint(300, 900))]}
                         for d in r.choices(docs, k=1300)], "doc_id,v", "project_id")
    s.put("tags", [{"_id": s.oid(), "user_id": str_id(r.choice(users)), "name": s.words(1), "project_ids": [
        str_id(p["_id"]) if r.random() > .04 else str_id(s.oid()) for p in s.few(projects, 1, 9)]} for _ in range(240)],
        "user_id")
    s.put("projectInvites", [{"_id": s.oid(), "email": "new%d@lab.example" % i, "token": code(s, 48, HEX),
                              "sendingUserId": p["owner_ref"],
                              "projectId": p["_id"], "privileges": "readAndWrite", "expires": s.day(900, 930)}
                             for i, p in enumerate(r.choices(projects, k=130))], "projectId")
    s.put("contacts", [{"_id": s.oid(), "user_id": u, "contacts": {str_id(x): {"n": r.randint(1, 20), "ts": s.day(600,
        900)}
                                                                    for x in s.few(users, 1, 12)}}
                                        for u in r.sample(users, 260)], "!user_id")
    s.maps.add("contacts:contacts")
    s.put("notifications", [{"_id": s.oid(), "user_id": r.choice(users), "key": "project-invite-" + str_id(s.oid()),
                             "templateKey":
                             "notification_project_invite", "messageOpts": {"projectName": s.title(2),
                                 "userName": s.person()}}
                            for _ in range(220)], "user_id")
    s.put("subscriptions", [{"_id": s.oid(), "admin_id": a, "manager_ids": [a] + s.few(users, 0, 1),
                             "member_ids": s.few(users, 0, 25),
                             "recurlySubscription_id": code(s, 32, HEX), "planCode": r.choice(["group_20", "pro",
                                 "student"]),
                             "groupPlan": True, "membersLimit": r.choice([5, 20, 50])} for a in r.sample(users, 30)])
    lost = [(s.oid(), r.choice(users)) for _ in range(45)]
    s.put("deletedProjects", [{"_id": s.oid(), "project": {"_id": p, "name": s.title(2), "owner_ref": u,
                                                           "version": r.randint(1, 90)},
                               "deleterData": {"deletedProjectId": p, "deletedProjectOwnerId": u, "deleterId": u,
                                               "deletedAt": s.day(800, 900)}}
                              for p, u in lost])
    s.put("spellingPreferences", [{"_id": s.oid(), "token": str_id(u), "learnedWords": s.few(WORD, 1, 9)}
                                  for u in r.sample(users, 120)],
          "!token")
    s.ref("""
        users:refered_users[] users:_id
        projects:owner_ref users:_id
        projects:collaberator_refs[] users:_id
        projects:readOnly_refs[] users:_id
        projects:tokenAccessReadAndWrite_refs[] users:_id
        projects:lastUpdatedBy users:_id
        projects:trashed[] users:_id
        projects:rootDoc_id docs:_id
        projects:rootFolder[].docs[]._id docs:_id
        projects:rootFolder[].folders[].docs[]._id docs:_id
        projects:rootFolder[].fileRefs[].linkedFileData.source_project_id projects:_id
        projects:rootFolder[].folders[].fileRefs[].linkedFileData.source_project_id projects:_id
        docs:project_id projects:_id
        docs:ranges.comments[].op.t rooms:thread_id either
        docs:ranges.comments[].metadata.user_id users:_id
        rooms:project_id projects:_id
        messages:room_id rooms:_id
        messages:user_id users:_id
        docHistory:doc_id docs:_id
        docHistory:project_id projects:_id
        docHistory:pack[].meta.user_id users:_id
        tags:user_id users:_id
        tags:project_ids[] projects:_id
        projectInvites:sendingUserId users:_id
        projectInvites:projectId projects:_id
        contacts:user_id users:_id
        contacts:contacts.* users:_id
        notifications:user_id users:_id
        subscriptions:admin_id users:_id
        subscriptions:manager_ids[] users:_id
        subscriptions:member_ids[] users:_id
        deletedProjects:project.owner_ref users:_id
        deletedProjects:deleterData.deletedProjectOwnerId users:_id
        deletedProjects:deleterData.deleterId users:_id
        spellingPreferences:token users:_id""")
    s.allow("""
        deletedProjects:deleterData.deletedProjectId deletedProjects:project._id
        projects:rootDoc_id projects:rootFolder[].docs[]._id""")
    s.unjudged.add("two-way-disagrees")  # a document stands in one of two places of the tree


@data_set
def headless(s):
    """A headless CMS on Mongoose: pages of components, each a kind and a ref; files know what they illustrate."""
    r = s.r

    def stamp(d, by=None):
        d.update({"createdAt": s.day(300, 800), "updatedAt": s.day(800, 900), "__v": r.randrange(4)})
        d.update({"created_by": r.choice(by), "updated_by": s.skew(by)} if by else {})
        return d

    roles = [{"_id": s.oid(), "name": n.title(), "code": "strapi-" + n} for n in ("super-admin", "editor", "author")]
    s.put("strapi_role", roles)
    admins = [s.oid() for _ in range(26)]
    s.put("strapi_administrator", [{"_id": a, "firstname": r.choice(FIRST), "lastname": r.choice(LAST),
                                    "email": "ed%d@press.example" % i,
                                    "roles": [s.skew(roles)["_id"]], "isActive": True, "blocked": False} for i,
                                    a in enumerate(admins)])
    s.put("strapi_permission", [stamp({"_id": s.oid(), "action": "plugins::content-manager.explorer." + a,
                                       "subject": "application::%s" % t,
                                       "conditions": [], "role": x["_id"]}) for x in roles for t in ("article",
                                           "category", "tag", "writer")
                                for a in ("create", "read", "update", "delete")])
    members = [{"_id": s.oid(), "name": n, "type": n.lower()} for n in ("Authenticated", "Public")]
    s.put("users-permissions_role", members)
    s.put("users-permissions_user", [stamp({"_id": s.oid(), "username": "%s%d" % (s.words(1), i),
                                            "email": "r%d@mail.example" % i, "provider":
                                            "local", "confirmed": True, "role": members[i % 50 == 0]["_id"]})
                                        for i in range(640)], "!username")
    s.put("users-permissions_permission", [{"_id": s.oid(), "type": "application", "controller": c, "action": a,
                                            "enabled": r.random() < .5,
                                            "role": m["_id"]} for m in members for c in s.few(WORD, 20,
                                                20) for a in ("find", "create", "delete")])
    locales = [{"_id": s.oid(), "code": c, "name": n} for c, n in (("en", "English"), ("fr-FR", "French"),
        ("de", "German"))]
    s.put("i18n_locales", locales, "!code")
    tags = [stamp({"_id": s.oid(), "name": w}, admins) for w in WORD[:55]]
    s.put("tags", tags)
    files = []

    def file(kind, ref, field):
        files.append(stamp({"_id": s.oid(), "name": s.words(1) + ".jpg", "hash": "%s_%s" % (s.words(1), code(s, 10,
            HEX)), "ext": ".jpg",
                            "mime": "image/jpeg", "size": round(r.uniform(9, 900), 2), "width": r.choice([800, 1200]),
                            "provider": "local",
                            "formats": {k: {"width": w, "url": "/uploads/%s.jpg" % code(s, 10, HEX)} for k,
                                        w in (("small", 500), ("thumb", 156))},
                            "related": [{"_id": s.oid(), "kind": kind, "ref": ref, "field": field}] if ref else []},
                            admins))
        return files[-1]["_id"]

    cats = [stamp({"_id": s.oid(), "name": s.title(1), "slug": w}, admins) for w in WORD[60:80]]
    s.put("categories", cats)
    writers = []
    for i in range(44):
        w = s.oid()
        writers.append(stamp({"_id": w, "name": s.person(), "email": "w%d@press.example" % i, "picture": file("Writer",
            w, "picture")}, admins))
    s.put("writers", writers)
    parts, articles, seos = {"rich_text": [], "quote": [], "slider": []}, [], []
    for i in range(900):
        me, content = s.oid(), []
        for k in r.choices(["rich_text", "rich_text", "quote", "slider"], k=r.randint(1, 5)):
            p = {"_id": s.oid(), "__v": 0}
            p.update({"body": s.words(20, 80)} if k == "rich_text" else {"body": s.words(5, 12), "title": s.person()}
                     if k == "quote" else
                     {"files": [file("ComponentSharedSlider", p["_id"], "files") for _ in range(r.randint(1, 3))]})
            parts[k].append(p)
            content.append({"_id": s.oid(), "kind": "ComponentShared" + k.title().replace("_", ""), "ref": p["_id"]})
        seos.append({"_id": s.oid(), "metaTitle": s.title(3), "metaDescription": s.words(8), "__v": 0})
        articles.append(stamp({"_id": me, "title": s.title(3, 6), "slug": "-".join(s.words(3).split()) + "-%d" % i,
                               "content": content,
                               "seo": [{"_id": s.oid(), "kind": "ComponentSharedSeo", "ref": seos[-1]["_id"]}],
                               "tags": [
                                   t["_id"] for t in s.few(tags, 0, 4)], "category": s.skew(cats)["_id"],
                                   "author": s.skew(writers)["_id"],
                               "image": file("Article", me, "image") if r.random() < .8 else None,
                               "locale": s.skew(["en", "en", "fr-FR", "de"]),
                               "localizations": [r.choice(articles)["_id"]] if articles and r.random() < .25 else [],
                               "published_at": s.day(500, 900) if r.random() < .85 else None}, admins))
    s.put("articles", articles, "!slug", "category", "author")
    for k, z in parts.items():
        s.put("components_shared_%ss" % k, z)
    s.put("components_shared_seos", seos)
    for _ in range(140):
        file(None, None, None)
    s.put("upload_file", files)
    s.put("core_store", [{"_id": s.oid(), "key": "model_def_application::" + w,
                          "value": '{"uid":"%s","attributes":{}}' % w, "type": "object"}
                         for w in ("article", "category", "tag", "writer", "seo", "quote", "slider", "rich-text",
                                   "user", "role", "file", "menu")])
    s.ref("""
        strapi_administrator:roles[] strapi_role:_id
        strapi_permission:role strapi_role:_id
        users-permissions_user:role users-permissions_role:_id
        users-permissions_permission:role users-permissions_role:_id
        writers:picture upload_file:_id
        articles:content[].ref components_shared_rich_texts:_id
        articles:content[].ref components_shared_quotes:_id
        articles:content[].ref components_shared_sliders:_id
        articles:seo[].ref components_shared_seos:_id
        articles:tags[] tags:_id
        articles:category categories:_id
        articles:author writers:_id
        articles:image upload_file:_id
        articles:locale i18n_locales:code
        articles:localizations[] articles:_id
        components_shared_sliders:files[] upload_file:_id
        upload_file:related[].ref articles:_id
        upload_file:related[].ref writers:_id
        upload_file:related[].ref components_shared_sliders:_id""")
    for c in "tags categories writers articles upload_file".split():
        s.ref("%s:created_by strapi_administrator:_id\n%s:updated_by strapi_administrator:_id" % (c, c))
    s.unjudged |= {"two-way-disagrees", "one-to-one-apart"}  # the CMS writes components and files apart


@data_set
def airline(s):
    """Bookings of an airline: a flight is a carrier, a number and a date; records by locator, tickets by 13 digits."""
    r = s.r
    ports = sorted({code(s, 3, "ABCDEFGHIKLMNOPRSTUVWZ") for _ in range(74)})
    s.put("airports", [{"_id": p, "city": r.choice(CITY), "ctry": r.choice(COUNTRY), "utc": r.randint(-5, 9),
                        "mct": r.choice([25, 45, 60])}
                       for p in ports])
    lines = "OS VO LH LX SN TP LO TK SK A3 UA AC NH SQ OU EW".split()
    s.put("carriers", [{"_id": c, "name": s.title(1) + " Air", "acctCode": 100 + 37 * i, "alliance": "S*"} for i,
                       c in enumerate(lines)])
    kinds = "319 320 321 32N 738 763 77W 788 E95 DH4 CR9 AT7".split()
    s.put("acTypes", [{"_id": k, "seats": r.choice([76, 120, 180, 306]), "cabins": s.few(["C", "Y", "E"], 1, 3),
                       "mtow": 1000 * r.randint(28, 297)}
                      for k in kinds])
    tails = [{"_id": "OE-L" + code(s, 2, "ABCDEFGHIJKLMNOP") + chr(65 + i % 26), "type": s.skew(kinds),
              "delivered": r.randint(1998, 2020),
              "msn": r.randint(1000, 9000)} for i in range(66)]
    tails = list({t["_id"]: t for t in tails}.values())
    s.put("aircraft", tails)
    agencies = ["%08d" % (6491000 + 117 * i) for i in range(140)]
    s.put("agencies", [{"_id": a, "name": s.title(2) + " Reisen", "gds": r.choice(["1A", "1G", "1B"]),
                        "commPct": r.choice([0, 1, 5])}
                       for a in agencies])
    crew = [{"_id": 20011 + 13 * i, "name": s.person(), "base": s.skew(ports), "rank": r.choice(["CPT", "FO", "PU",
        "CC", "CC"]),
             "quals": s.few(kinds, 1, 3), "seniority": i + 1} for i in range(190)]
    s.put("crew", crew)
    flights, delays, reasons = [], [], s.few([i for i in range(1, 100) if i % 7 < 5], 24, 24)
    for k in range(70):
        a, b = r.sample(ports, 2)
        c, no, equip = ("VO" if k % 4 == 0 else "OS"), 101 + 6 * k, s.skew(kinds)
        for d in range(18):
            day = datetime.datetime(2021, 6, 1) + datetime.timedelta(days=d)
            flights.append({"_id": s.oid(day), "carrier": c, "fltNo": no, "depDate": text_date(day), "orig": a,
                            "dest": b, "equip": equip,
                            "tail": s.maybe(.9, r.choice(tails)["_id"]),
                            "std": day + datetime.timedelta(minutes=5 * r.randrange(280)),
                            "status": r.choice(["DEP", "ARR", "CNL"]), "avail": {x: r.randint(0, 9) for x in "JCYBM"}})
            if r.random() < .4:
                delays.append({"_id": s.oid(day), "flight": flights[-1]["_id"], "minutes": r.randint(3, 240),
                               "code": s.skew(reasons)})
    s.put("flights", flights, "!carrier,fltNo,depDate", "orig,depDate", "orig")
    s.put("delays", delays, "flight")
    s.put("delayCodes", [{"_id": i, "text": s.words(2)} for i in range(1, 100) if i % 7 < 5])
    members = [{"_id": 992001000000 + 7919 * i, "name": s.person(), "tier": s.skew(["BASE", "FTL", "SEN"]),
                "miles": r.randrange(200000),
                "enrolled": text_date(s.day(-3000, 800)), "accruals": [{"carrier": f["carrier"], "fltNo": f["fltNo"],
                    "depDate": f["depDate"],
                                                                        "miles": r.choice([125, 500, 750])}
                                                            for f in s.few(flights, 0, 4)]}
               for i in range(650)]
    s.put("members", members)
    pnrs, tickets, bags = [], [], []
    for i in range(3000):
        loc, n, legs = code(s, 6, "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"), r.choice([1, 1, 2, 3]), []
        for f in s.few(flights, 1, 3):
            own = r.random() > .08
            legs.append({"carrier": f["carrier"] if own else r.choice(lines[2:]), "fltNo": f["fltNo"] if own
                         else r.randint(2000, 8000),
                         "depDate": f["depDate"], "cls": r.choice("YBMJ"), "orig": f["orig"], "dest": f["dest"],
                         "status": "HK"})
        pnrs.append({"_id": loc, "created": s.day(800, 880), "agency": s.maybe(.7, s.skew(agencies)),
                     "office": "%sOS2%03d" % (
            r.choice(ports), r.randrange(300)), "pax": [{"no": k, "last": r.choice(LAST).upper(),
                                                         "first": r.choice(FIRST).upper(), "type": "ADT",
                                                         "ffn": s.maybe(.3, r.choice(members)["_id"] if r.random() > .06
                                                                        else 222000000000 + r.randrange(10**9))}
                                                            for k in range(1, n + 1)],
                     "segs": legs, "ssr": [{"code": r.choice(["VGML", "WCHR", "BSCT"]), "pax": r.randint(1, n),
                                            "text": s.words(2, 5)}] if r.random() < .2 else [],
                     "splitFrom": r.choice(pnrs)["_id"] if pnrs and r.random() < .06 else None,
                     "tkTL": text_date(s.day(880, 890))})
        for k in range(1, n + 1):
            t = "257240%07d" % (1000019 + 113 * len(tickets))
            tickets.append({"_id": t, "pnr": loc, "paxNo": k, "iata": pnrs[-1]["agency"], "fare": Cents(r.randint(4900,
                99000)), "cur": "EUR",
                            "coupons": [{"no": j, "status": r.choice("OFR"), **{x: g[x] for x in ("carrier", "fltNo",
                                "depDate")}}
                                        for j, g in enumerate(legs, 1)],
                            "exchFor": tickets[r.randrange(len(tickets))]["_id"]
                                        if tickets and r.random() < .05 else None})
            if r.random() < .5:
                bags.append({"_id": "0257%06d" % (100003 + 17 * len(bags)), "tkt": t, "pnr": loc, "kg": r.randint(4,
                    32), "from": legs[0]["orig"],
                             "to": legs[-1]["dest"], "belt": s.maybe(.7, r.randint(1, 12))})
    s.put("pnrs", pnrs, "pax.last", "agency", "created", "office", "pax.ffn", "segs.carrier", "segs.fltNo",
          "segs.depDate", "segs.orig",
          "segs.dest", "splitFrom", "tkTL")
    s.put("tickets", tickets, "pnr")
    s.put("bags", bags, "pnr")
    s.put("rosters", [{"_id": {"crew": c["_id"], "day": text_date(datetime.datetime(2021, 6,
        1) + datetime.timedelta(days=d))}, "duties": [
        {"flight": f["_id"], "pos": c["rank"]} for f in s.few(flights[d::18], 1, 3)], "fdpMin": r.randint(200, 780)}
                      for c in crew for d in r.sample(range(18), 7)], "duties.flight")
    s.ref("""
        aircraft:type acTypes:_id
        crew:base airports:_id
        crew:quals[] acTypes:_id
        flights:carrier carriers:_id
        flights:orig airports:_id
        flights:dest airports:_id
        flights:equip acTypes:_id
        flights:tail aircraft:_id
        delays:flight flights:_id
        delays:code delayCodes:_id
        members:accruals[].carrier+accruals[].fltNo+accruals[].depDate flights:carrier+fltNo+depDate
        pnrs:agency agencies:_id
        pnrs:pax[].ffn members:_id
        pnrs:segs[].carrier+segs[].fltNo+segs[].depDate flights:carrier+fltNo+depDate
        pnrs:segs[].carrier carriers:_id
        pnrs:segs[].orig airports:_id
        pnrs:segs[].dest airports:_id
        pnrs:splitFrom pnrs:_id
        tickets:pnr pnrs:_id
        tickets:iata agencies:_id
        tickets:coupons[].carrier+coupons[].fltNo+coupons[].depDate flights:carrier+fltNo+depDate
        tickets:coupons[].carrier carriers:_id
        tickets:exchFor tickets:_id
        bags:tkt tickets:_id
        bags:pnr pnrs:_id
        bags:from airports:_id
        bags:to airports:_id
        rosters:_id.crew crew:_id
        rosters:duties[].flight flights:_id""")
    s.allow("""
        members:accruals[].carrier carriers:_id
        tickets:pnr+paxNo pnrs:_id+pax[].no""")


@data_set
def explorer(s):
    """An explorer of a blockchain: blocks by height and hash, addresses as text, transfers of tokens by transaction."""
    r = s.r

    def word(n):
        return "0x" + code(s, n, HEX)

    first, empty = 4183000, "0x1dcc4de8" + "0" * 56
    addresses, pools = [word(40) for _ in range(1700)], [word(40) for _ in range(11)]
    tokens = addresses[200:290]
    s.put("pools", [{"_id": s.oid(), "address": p, "label": s.title(1) + "Pool", "fee": r.choice([.5, 1.0]),
                     "url": "https://%s.example" % s.words(1)}
                    for p in pools], "!address")
    blocks, txs, transfers, contracts, parent = [], [], [], [], word(64)
    for i in range(2600):
        h, when = word(64), 1590000000 + 13 * i + r.randrange(9)
        n = r.choice([0, 1, 2, 3, 5, 8])
        blocks.append({"_id": s.oid(), "number": first + i, "hash": h, "parentHash": parent, "nonce": word(16),
                       "sha3Uncles": empty,
                       "transactionsRoot": word(64), "miner": s.skew(pools), "difficulty": str(r.randrange(10**12,
                           2 * 10**12)),
                       "size": r.randint(500, 40000), "gasLimit": 8000000, "gasUsed": 21000 * n, "timestamp": when,
                       "uncles": [word(64)] if r.random() < .06 else [], "extraData": "0x", "transactionCount": n})
        parent = h
        for k in range(n):
            a, b, kind = s.skew(addresses), s.skew(addresses, 1.3), r.random()
            new = len(contracts) < 90 and kind < .03
            t = {"_id": s.oid(), "hash": word(64), "nonce": r.randrange(900), "blockHash": h, "blockNumber": first + i,
                 "transactionIndex": k,
                 "from": a, "to": None if new else tokens[r.randrange(90)] if kind > .7 else b,
                 "value": str(r.randrange(10**18)),
                 "gas": 90000, "gasUsed": 21000, "gasPrice": str(10**9 * r.randint(1, 60)), "timestamp": when,
                 "input": "0x", "status": 1}
            if new:
                t["creates"] = tokens[len(contracts)]
                contracts.append({"_id": s.oid(), "address": t["creates"], "creationTransaction": t["hash"], "owner": a,
                                  "blockNumber": first + i,
                                  "ERC": r.choice([0, 2, 2, 3]), "tokenName": s.title(1),
                                  "symbol": s.words(1)[:4].upper(), "decimals": 18,
                                  "totalSupply": float(10**r.randint(6, 12)), "verified": r.random() < .3,
                                  "compilerVersion": "v0.4.24",
                                  "sourceCode": s.maybe(.7, s.words(2000, 9000))})
            elif kind > .7 and contracts:
                transfers.append({"_id": s.oid(), "hash": t["hash"], "blockNumber": first + i,
                                  "contract": r.choice(contracts)["address"],
                                  "method": "transfer", "from": a, "to": b if r.random() > .02 else word(40),
                                  "value": float(r.randrange(10**9)),
                                  "timestamp": when})
            txs.append(t)
    s.put("blocks", blocks, "!number", "!hash", "miner", "-timestamp", "miner,-timestamp")
    s.put("transactions", txs, "!hash", "blockNumber", "-timestamp", "from,-blockNumber", "to,-blockNumber", "from",
          "creates")
    s.put("contracts", contracts, "!address", "ERC")
    s.put("tokentransfers", transfers, "blockNumber", "hash,contract", "contract")
    seen = sorted({a for t in txs for a in (t["from"], t["to"], t.get("creates")) if a})
    s.put("accounts", [{"_id": s.oid(), "address": a, "balance": round(r.uniform(0, 10**4), 6),
                        "type": int(a in tokens), "blockNumber":
                        first + r.randrange(2600)} for a in seen + pools if r.random() > .01], "!address", "-balance",
                        "blockNumber")
    s.put("blockstats", [{"_id": s.oid(), "number": b["number"], "timestamp": b["timestamp"], "blockTime": r.randint(9,
        21), "hashrate":
                          r.uniform(9e10, 2e11), "uncleCount": len(b["uncles"]), "txCount": r.randint(0,
                              50)} for b in blocks[::5]], "!number")
    s.put("markets", [{"_id": s.oid(), "symbol": x, "timestamp": datetime.datetime(2020, 5,
        20) + datetime.timedelta(hours=h), "quoteUSD": round(
        r.uniform(.1, 9), 4), "volume": round(r.uniform(1, 999), 2)} for h in range(240) for x in ("PIRL", "ETC",
            "UBQ")], "symbol,timestamp")
    s.more["timeSeries"] = [{"ns": "explorer.markets", "time": "timestamp", "series": "symbol", "count": 3,
                             "stepSeconds": 3600}]
    s.ref("""
        blocks:parentHash blocks:hash
        transactions:blockHash blocks:hash
        transactions:blockNumber blocks:number
        transactions:from accounts:address
        transactions:to accounts:address
        transactions:creates contracts:address either
        contracts:creationTransaction transactions:hash
        contracts:owner accounts:address
        contracts:blockNumber blocks:number
        tokentransfers:hash transactions:hash
        tokentransfers:blockNumber blocks:number
        tokentransfers:contract contracts:address
        tokentransfers:from accounts:address
        tokentransfers:to accounts:address
        accounts:blockNumber blocks:number
        blockstats:number blocks:number""")
    s.allow("""
        blocks:miner pools:address
        blocks:miner accounts:address
        pools:address accounts:address
        contracts:address accounts:address
        transactions:creates accounts:address
        transactions:to contracts:address
        accounts:address contracts:address
        tokentransfers:contract accounts:address""")
    s.unjudged |= {"one-to-one-apart", "deep-tree"}  # the chain is no tree; figures of a block are computed apart


@data_set
def werkstatt(s):
    """A German garage on Spring Data: customers by number, cars by VIN or plate, DBRefs, accounts of a bookkeeper."""
    r = s.r
    kunden = [{"_id": s.oid(), "kdnr": 10001 + 3 * i, "anrede": r.choice(["Herr", "Frau", "Firma"]), "name": s.person(),
               "plz": "%05d" % r.randint(
        1067, 99998), "ort": r.choice(CITY), "tel": s.maybe(.8, "0%d" % r.randrange(10**9, 10**10)),
        "_class": "de.kfz.Kunde"} for i in range(820)]
    s.put("kunden", kunden, "!kdnr", "name")
    modelle = [{"_id": s.oid(), "hsn": "%04d" % h, "tsn": t, "handelsname": s.title(1), "kw": r.randint(44, 210),
                "ccm": r.randint(999, 2998)}
               for h in (5, 588, 600, 603, 1313, 7593) for t in sorted({code(s, 3, "ABCDEFGH") for _ in range(24)})]
    s.put("modelle", modelle, "!hsn,tsn")
    autos = []
    for i in range(1050):
        m, k = s.skew(modelle), r.choice(kunden)
        autos.append({"_id": s.oid(), "fin": "WVW%s%06d" % (code(s, 8, "ABCDEFGHJKLMNPRSTUVWXYZ"), 991 * i),
                      "kennz": "%s-%s %d" % (
            code(s, 2, "ABDEFGHKLM"), code(s, 2, "ABCDEFXY"), 1 + 9 * i), "halter": {"$ref": "kunden", "$id": k["_id"]},
            "hsn": m["hsn"],
                      "tsn": m["tsn"], "ez": "%02d.%02d.%d" % (r.randint(1, 28), r.randint(1, 12), r.randint(2001,
                          2020)),
                      "kmStand": r.randint(9000, 220000), "_class": "de.kfz.Fahrzeug"})
    s.put("fahrzeuge", autos, "!fin", "!kennz", "halter.$id", "hsn,tsn")
    besitzer = {k["_id"]: k["kdnr"] for k in kunden}
    leute = sorted({x[:3].upper() for x in LAST})[:28]
    s.put("mitarbeiter", [{"_id": k, "name": s.person(), "rolle": r.choice(["Mechaniker", "Annahme", "Azubi"]),
                           "stdSatz": r.randint(60, 120),
                           "vorgesetzter": NO if i < 2 else s.skew(leute[:i])} for i, k in enumerate(leute)])
    s.put("lieferanten", [{"_id": 70001 + 10 * i, "firma": s.title(2) + " GmbH", "skonto": r.choice([0, 2, 3]),
                           "zielTage": r.choice([14, 30])}
                          for i in range(34)])
    teile = []
    for i in range(1400):
        n = "%d%s%d %03d %03d" % (r.randint(1, 9), code(s, 1, "JKLNQ"), r.randrange(10), r.randint(100, 999), i % 1000)
        teile.append({"_id": n + ("" if i < 1000 else " B"), "bez": s.title(1, 2),
                      "lief": s.skew(s.docs["lieferanten"])["_id"], "vk": Cents(
            r.randint(150, 49900)), "bestand": r.randrange(40), "minBestand": r.randrange(5),
            "platz": "R%02d/%d" % (r.randint(1, 20), r.randint(1, 6)),
                      "ersetztDurch": r.choice(teile)["_id"] if i > 99 and r.random() < .05 else NO})
    s.put("teile", teile, "lief")
    arbeiten = ["%08d" % (10000000 + 190300 * i) for i in range(150)]
    s.put("arbeiten", [{"_id": a, "text": s.words(2, 4), "aw": r.randint(2, 90)} for a in arbeiten])
    auftraege = []
    for i in range(2100):
        a = s.skew(autos)
        auftraege.append({"_id": "A%d-%05d" % (2019 + i // 900, i + 1), "kdnr": besitzer[a["halter"]["$id"]]
                          if r.random() > .06 else r.choice(
            kunden)["kdnr"], "fin": a["fin"], "km": r.randint(9000, 220000), "annahme": s.skew(leute),
            "termin": s.day(0, 900), "positionen": [
                {"pos": k, "nr": s.skew(arbeiten) if k % 2 else s.skew(teile)["_id"], "art": "AW" if k % 2 else "ET",
                 "menge": r.randint(1, 8),
                 "ep": Cents(r.randint(150, 30000)), "mech": s.maybe(.5,
                     r.choice(leute)) if k % 2 else NO} for k in range(1, r.randint(2, 8))],
                          "status": r.choice([10, 20, 90]), "_class": "de.kfz.Auftrag"})
    s.put("auftraege", auftraege, "kdnr", "fin", "kdnr,termin", "annahme")
    rechnungen = [{"_id": 2019000001 + i, "auftrag": a["_id"], "kdnr": a["kdnr"], "netto": Cents(r.randint(5000,
        200000)), "ust": 19,
                   "mahnstufe": r.choice([0, 0, 0, 1, 2]), "bezahlt": s.maybe(.9, s.day(100, 930))} for i,
                   a in enumerate(auftraege[:1950])]
    s.put("rechnungen", rechnungen, "auftrag", "kdnr")
    konten = sorted(r.sample(range(1000, 9000, 10), 56) + [8400, 1200, 1000, 3400])
    konten = sorted(set(konten))
    s.put("konten", [{"_id": k, "bez": s.title(1, 2), "art": r.choice("AEB"), "ustSchl": r.choice([0, 3, 9])}
                     for k in konten])
    buchungen = []
    for x in rechnungen:
        buchungen.append({"_id": s.oid(), "konto": r.choice([8400, 8400, r.choice(konten)]), "gegen": x["kdnr"],
                          "beleg": x["_id"], "betrag": x["netto"],
                          "bu": 3, "datum": s.day(100, 900)})
    for k in range(1700):
        buchungen.append({"_id": s.oid(), "konto": 3400 if k % 3 else r.choice(konten),
                          "gegen": s.skew(s.docs["lieferanten"])["_id"], "betrag": Cents(
            r.randint(900, 90000)), "extBeleg": "ER%d" % r.randrange(10**6), "bu": 9, "datum": s.day(100, 900)})
    s.put("buchungen", buchungen, "konto,datum", "konto", "gegen")
    s.put("termine", [{"_id": s.oid(), "fahrzeug": {"$ref": "fahrzeuge", "$id": a["_id"]}, "buehne": r.randint(1, 6),
                       "von": s.day(890, 930),
                       "dauerMin": r.choice([30, 60, 120]), "mech": r.choice(leute), "auftrag": s.maybe(.4,
                           r.choice(auftraege)["_id"])}
                      for a in r.choices(autos, k=640)], "fahrzeug.$id")
    s.put("reifenhotel", [{"_id": s.oid(), "kdnr": besitzer[a["halter"]["$id"]], "kennz": a["kennz"] if r.random() > .05
                           else "ALT-X %d" % r.randrange(
        999), "fach": "F%03d" % i, "saison": r.choice(["S", "W"]), "profilMm": r.randint(2, 8)} for i,
        a in enumerate(r.sample(autos, 380))])
    s.put("leihwagen", [{"_id": "LW%d" % i, "fin": a["fin"], "verleih": [{"kdnr": r.choice(kunden)["kdnr"],
        "von": s.day(500, 900), "km": r.randint(
        5, 400)} for _ in range(r.randint(3, 40))]} for i, a in enumerate(autos[:12])])
    s.ref("""
        fahrzeuge:halter.$id kunden:_id
        fahrzeuge:hsn+tsn modelle:hsn+tsn
        mitarbeiter:vorgesetzter mitarbeiter:_id
        teile:lief lieferanten:_id
        teile:ersetztDurch teile:_id
        auftraege:kdnr kunden:kdnr
        auftraege:fin fahrzeuge:fin
        auftraege:annahme mitarbeiter:_id
        auftraege:positionen[].nr arbeiten:_id
        auftraege:positionen[].nr teile:_id
        auftraege:positionen[].mech mitarbeiter:_id
        rechnungen:auftrag auftraege:_id
        rechnungen:kdnr kunden:kdnr
        buchungen:konto konten:_id
        buchungen:gegen kunden:kdnr
        buchungen:gegen lieferanten:_id
        buchungen:beleg rechnungen:_id
        termine:fahrzeug.$id fahrzeuge:_id
        termine:mech mitarbeiter:_id
        termine:auftrag auftraege:_id
        reifenhotel:kdnr kunden:kdnr
        reifenhotel:kennz fahrzeuge:kennz
        leihwagen:fin fahrzeuge:fin
        leihwagen:verleih[].kdnr kunden:kdnr""")


@data_set
def comida(s):
    """Meals to the door, in Spanish, on Laravel: ids of others as text, both sides of many-to-many, morphs by class."""
    r = s.r

    def base(**more):
        return {"_id": s.oid(), **more, "updated_at": s.day(800, 900), "created_at": s.day(200, 800)}

    zonas = [base(nombre=s.title(1), ciudad=r.choice(CITY[:5]), tarifa_envio=Cents(r.randint(99, 499)))
             for _ in range(38)]
    cocinas = [base(nombre=w.title(), restaurante_ids=[]) for w in WORD[:26]]
    usuarios = [base(nombre=s.person(), email="c%d@correo.example" % i, telefono="6%08d" % r.randrange(10**8),
                     rol="cliente", password="$2y$10$" +
                     code(s, 53), direcciones=[{"id": code(s, 13, HEX), "calle": s.title(2), "numero": r.randint(1,
                         120), "zona_id": str_id(
                         s.skew(zonas)["_id"])} for _ in range(r.randint(1, 3))], favoritos=[],
                         cupon_ids=[]) for i in range(900)]
    dueños = usuarios[:90]
    for d in dueños:
        d["rol"] = "restaurante"
    restaurantes = [base(nombre=s.title(2), slug="%s-%d" % (s.words(1), i), dueno_id=str_id(r.choice(dueños)["_id"]),
                         cocina_ids=[str_id(
        c["_id"]) for c in s.few(cocinas, 1, 3)], zona_ids=[str_id(z["_id"]) for z in s.few(zonas, 1, 5)],
        calificacion=round(r.uniform(2, 5), 1),
                         pedido_minimo=r.choice([0, 10, 15]), horario={d: {"abre": "12:00", "cierra": "23:30"}
                             for d in (
                             "lun", "mar", "mie", "jue", "vie", "sab", "dom")},
                             abierto=r.random() < .8) for i in range(180)]
    for x in restaurantes:
        for c in cocinas:
            if str_id(c["_id"]) in x["cocina_ids"]:
                c["restaurante_ids"].append(str_id(x["_id"]))
    cupones = [base(codigo=s.words(1).upper() + str(10 + i), descuento=r.choice([5, 10, 20]), usuario_ids=[],
                    vence=text_date(s.day(850, 1000)))
               for i in range(48)]
    for u in usuarios:
        u["favoritos"] = [str_id(x["_id"]) for x in s.few(restaurantes, 0, 4)]
        for c in s.few(cupones, 0, 2):
            u["cupon_ids"].append(str_id(c["_id"]))
            c["usuario_ids"].append(str_id(u["_id"]))
    s.put("zonas", zonas)
    s.put("cocinas", cocinas)
    s.put("usuarios", usuarios, "!email")
    s.put("restaurantes", restaurantes, "!slug", "dueno_id")
    s.put("cupones", cupones, "!codigo")
    carta = {}
    for x in restaurantes:
        carta[x["_id"]] = [base(restaurante_id=str_id(x["_id"]), nombre=s.title(2), precio=Cents(r.randint(300, 2500)),
                                seccion=r.choice(
            ["Entrantes", "Principales", "Postres"]), alergenos=s.few(["gluten", "soja", "huevo", "leche"], 0, 2),
            opciones=[
                {"nombre": s.words(1), "extra": Cents(r.choice([0, 50, 150]))} for _ in range(r.randint(0, 4))],
                orden=k) for k in range(r.randint(6, 16))]
    s.put("platos", [p for z in carta.values() for p in z], "restaurante_id")
    motos = [base(usuario_id=str_id(u["_id"]), vehiculo=r.choice(["bici", "moto"]), matricula=s.maybe(.5,
        "%04d%s" % (r.randrange(9999), code(
        s, 3, "BCDFGHJKL"))), zona_id=str_id(s.skew(zonas)["_id"]), activo=r.random() < .7) for u in usuarios[90:230]]
    s.put("repartidores", motos, "zona_id")
    pedidos, borrados = [], [str_id(s.oid()) for _ in range(60)]
    for i in range(3600):
        u, x = s.skew(usuarios[230:], 1.3), s.skew(restaurantes)
        pedidos.append(base(numero=500001 + i, usuario_id=str_id(u["_id"]), restaurante_id=str_id(x["_id"]),
                            restaurante_nombre=x["nombre"] if
                            r.random() > .05 else s.title(2),
                            repartidor_id=str_id(r.choice(motos)["_id"]) if r.random() < .9 else None,
                            direccion=r.choice(u["direcciones"]), lineas=[{"plato_id": str_id(p["_id"])
                                if r.random() > .03 else r.choice(borrados),
                                                                           "nombre": p["nombre"],
                                                            "cantidad": r.randint(1, 4), "precio": p["precio"]}
                                                                          for p in s.few(carta[x["_id"]], 1, 5)],
                                                                          estado=r.choice(
                                ["entregado", "entregado", "cancelado", "en_camino"]), cupon=s.maybe(.15,
                                    r.choice(cupones)["codigo"]), pago={
                                    "metodo": r.choice(["tarjeta", "efectivo"]), "stripe_id": "pi_" + code(s, 24)},
                                    propina=r.choice([0, 0, 1, 2])))
    s.put("pedidos", pedidos, "!numero", "usuario_id", "restaurante_id", "repartidor_id", "restaurante_id,estado")
    s.put("resenas", [base(resenable_type="App\\Models\\" + k, resenable_id=p[f], usuario_id=p["usuario_id"],
                           pedido_id=str_id(p["_id"]),
                           estrellas=r.randint(1, 5), comentario=s.maybe(.6, s.words(3, 20))) for p in r.sample(pedidos,
                               1500)
                      for k, f in (("Restaurante", "restaurante_id"), ("Repartidor",
                          "repartidor_id")) if p[f] and r.random() < .6],
          "resenable_type,resenable_id")
    s.put("incidencias", [base(pedido=p["numero"], motivo=r.choice(["frio", "tarde", "falta"]), reembolso=s.maybe(.4,
        Cents(r.randint(100, 3000))),
                               agente=r.choice(["ana", "luis", "eva"])) for p in r.sample(pedidos, 260)])
    s.put("posiciones", [{"_id": s.oid(), "repartidor_id": str_id(s.skew(motos)["_id"]), "loc": {"type": "Point",
        "coordinates": [
        round(r.uniform(-4, -3), 5), round(r.uniform(40, 41), 5)]}, "t": s.day(899, 900), "bateria": r.randint(1,
            100)} for _ in range(3000)],
          "repartidor_id,t")
    s.put("migrations", [{"_id": s.oid(), "migration": "2021_%02d_01_000000_create_%s" % (i, w), "batch": 1 + i // 5}
                         for i, w in
                         enumerate(list(s.docs)[:10], 1)])
    s.ref("""
        cocinas:restaurante_ids[] restaurantes:_id
        usuarios:direcciones[].zona_id zonas:_id
        usuarios:favoritos[] restaurantes:_id
        usuarios:cupon_ids[] cupones:_id
        restaurantes:dueno_id usuarios:_id
        restaurantes:cocina_ids[] cocinas:_id
        restaurantes:zona_ids[] zonas:_id
        cupones:usuario_ids[] usuarios:_id
        platos:restaurante_id restaurantes:_id
        repartidores:usuario_id usuarios:_id
        repartidores:zona_id zonas:_id
        pedidos:usuario_id usuarios:_id
        pedidos:restaurante_id restaurantes:_id
        pedidos:repartidor_id repartidores:_id
        pedidos:direccion.zona_id zonas:_id
        pedidos:direccion.id usuarios:direcciones[].id
        pedidos:lineas[].plato_id platos:_id
        pedidos:cupon cupones:codigo
        resenas:resenable_id restaurantes:_id
        resenas:resenable_id repartidores:_id
        resenas:usuario_id usuarios:_id
        resenas:pedido_id pedidos:_id
        incidencias:pedido pedidos:numero
        posiciones:repartidor_id repartidores:_id""")
    s.copy("pedidos:restaurante_id restaurantes:_id restaurante_nombre nombre")
    s.allow("pedidos:restaurante_nombre restaurantes:nombre")


@data_set
def compteurs(s):
    """Smart meters in French: delivery points of 14 digits, load curves with the number, outages that list points."""
    r = s.r
    insee = sorted({"%05d" % (31001 + 7 * i) for i in range(70)})
    s.put("communes", [{"_id": c, "nom": s.title(1), "cp": "31%03d" % r.randrange(0, 999, 10),
                        "habitants": r.randint(90, 40000)} for c in insee])
    postes = [{"_id": "%sP%04d" % (c, 3 * k + 1), "departHTA": s.title(1).upper(), "puissanceKva": r.choice([100, 250,
        400, 630]), "insee": c,
               "misEnService": r.randint(1965, 2019)} for c in insee for k in range(r.randint(1, 5))]
    s.put("postes", postes, "insee")
    modeles = ["MONO-G1", "MONO-G3", "TRI-G1", "TRI-G3", "BLEU-ELEC", "CBE-2P", "SAPHIR"]
    s.put("modeles", [{"_id": m, "fabricant": s.title(1), "phases": 3 if "TRI" in m else 1, "obsolete": "G1" in m}
                      for m in modeles])
    relais = [{"_id": "K%07d" % (2000003 + 77 * i), "poste": p["_id"], "firmware": r.choice(["5.1.2", "5.2.0"]),
               "liaison": r.choice(["GPRS", "4G"])}
              for i, p in enumerate(r.sample(postes, 130))]
    s.put("concentrateurs", relais, "poste")
    fourn = [{"_id": i, "nom": s.title(1) + " Energie", "ean": "301%010d" % r.randrange(10**10)} for i in (1, 2, 3, 5,
        8, 9, 12, 14, 17, 21, 22, 30)]
    s.put("fournisseurs", fourn)
    tarifs = ["BASE", "HPHC", "TEMPO", "EJP", "WEEKEND", "VERT"]
    s.put("offres", [{"_id": s.oid(), "code": t, "fournisseur": f["_id"], "prixAbo": Cents(r.randint(700, 2500)),
                      "heures": r.choice([0, 8])}
                     for f in fourn for t in s.few(tarifs, 2, 5)], "!fournisseur,code")
    pdl, boitiers = [], []
    for i in range(1600):
        p, n, m = r.choice(postes), "%014d" % (30001000000007 + 70000041 * i), 21861000001 + 1009 * i
        pdl.append({"_id": n, "adresse": {"num": r.randint(1, 200), "voie": "rue " + s.title(1), "insee": p["insee"]},
                    "poste": p["_id"], "segment":
                    s.skew(["C5", "C5", "C4"]), "puissSousc": r.choice([3, 6, 9, 12]), "matricule": m,
                    "etat": s.skew(["SERVC", "RESIL"])})
        boitiers.append({"_id": m, "modele": s.skew(modeles), "annee": r.randint(2015, 2021), "k": s.maybe(.8,
            r.choice(relais)["_id"]), "posele":
                         text_date(s.day(-700, 600)), "disjoncteur": r.choice([15, 30, 45])})
    boitiers += [{"_id": 31861000001 + 13 * i, "modele": s.skew(modeles), "annee": 2021} for i in range(120)]
    s.put("pdl", pdl, "poste", "!matricule")
    s.put("compteurs", boitiers, "k")
    clients = [{"_id": s.oid(), "civ": r.choice(["M", "MME", "STE"]), "nom": r.choice(LAST).upper(),
                "prenom": r.choice(FIRST), "refClient": 6000000011 +
                9973 * i, "conjoint": NO, "courriel": s.maybe(.7, "t%d@courrier.example" % i)} for i in range(1250)]
    s.put("titulaires", clients, "!refClient")
    contrats = []
    for i, p in enumerate(pdl + r.choices(pdl, k=500)):
        o = s.skew(s.docs["offres"])
        contrats.append({"_id": "CT-%07d" % (400009 + 31 * i), "pdl": p["_id"],
                         "client": r.choice(clients)["refClient"], "frn": o["fournisseur"], "offre":
                         o["code"], "debut": s.day(0, 600), "fin": None if i < 1600 else s.day(600, 900),
                         "mensualite": r.randint(20, 300)})
    s.put("contrats", contrats, "pdl", "client")
    agents = ["%s%05d" % (code(s, 1, "ABCDEFGH"), 10007 + 131 * i) for i in range(46)]
    s.put("agents", [{"_id": a, "nom": s.person(), "base": s.skew(insee), "chef": NO if i < 5 else agents[i % 5],
                      "habil": s.few(["B1", "B2", "BR"], 1, 2)}
                     for i, a in enumerate(agents)])
    s.put("interventions", [{"_id": 8800001 + 3 * i, "pdl": p["_id"], "nni": s.skew(agents), "type": r.choice(["F120",
        "F140", "F185"]), "date": text_date(
        s.day(500, 900)), "depose": s.maybe(.3, 11861000001 + r.randrange(10**6)),
        "pose": p["matricule"] if r.random() < .4 else NO, "duree":
        r.randint(10, 120)} for i, p in enumerate(r.choices(pdl, k=1300))], "pdl")
    s.put("coupures", [{"_id": s.oid(), "poste": x["_id"], "debut": s.day(600, 900), "minutes": r.randint(1, 600),
                        "cause": r.choice([1, 2, 5, 9]),
                        "touches": [p["_id"] if r.random() > .01 else "%014d" % r.randrange(10**13, 2 * 10**13)
                                    for p in pdl if p["poste"] == x["_id"]]}
                       for x in r.choices(postes, k=380)], "poste")
    s.put("courbes", [{"_id": s.oid(), "prm": Long(p["_id"]), "horodate": datetime.datetime(2021, 6,
        1) + datetime.timedelta(minutes=30 * k), "w": r.randint(
        40, 6000), "src": "R"} for k in range(192) for p in pdl[:42]], "prm,horodate")
    s.more["timeSeries"] = [{"ns": "compteurs.courbes", "time": "horodate", "series": "prm", "count": 42,
                             "stepSeconds": 1800}]
    s.put("factures", [{"_id": "F%09d" % (210000001 + 7 * i), "contrat": c["_id"], "periode": "2021%02d" % r.randint(1,
        8), "indexDebut": 90 * i, "indexFin":
                        90 * i + r.randint(50, 900), "lignes": [{"rub": x, "qte": r.randint(1, 900),
                            "pu": round(r.uniform(.05, .3), 4)} for x in (
                            "ABO", "CONSO", "CSPE", "CTA")[:r.randint(2, 4)]], "ttc": Cents(r.randint(1500, 40000)),
                            "relance": r.randrange(3)}
                       for i, c in enumerate(s.skew(contrats, 1.2) for _ in range(3800))], "contrat", "contrat,periode")
    s.ref("""
        postes:insee communes:_id
        concentrateurs:poste postes:_id
        offres:fournisseur fournisseurs:_id
        pdl:adresse.insee communes:_id
        pdl:poste postes:_id
        pdl:matricule compteurs:_id
        compteurs:modele modeles:_id
        compteurs:k concentrateurs:_id
        contrats:pdl pdl:_id
        contrats:client titulaires:refClient
        contrats:frn+offre offres:fournisseur+code
        contrats:frn fournisseurs:_id
        agents:base communes:_id
        agents:chef agents:_id
        interventions:pdl pdl:_id
        interventions:nni agents:_id
        interventions:pose compteurs:_id
        coupures:poste postes:_id
        coupures:touches[] pdl:_id
        courbes:prm pdl:_id
        factures:contrat contrats:_id""")
    s.allow("interventions:pose pdl:matricule")
