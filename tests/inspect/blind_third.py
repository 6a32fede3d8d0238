# SPDX-License-Identifier: Apache-2.0
"""blind_third.py - databases of open-source servers, written by one who had not read how references are found: a
kanban, a mail server, Wi-Fi, habits, API docs, LaTeX."""
import datetime

from truth import CITY, FIRST, LAST, NO, WORD, Long, data_set, str_id

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
