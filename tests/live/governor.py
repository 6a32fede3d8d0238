# SPDX-License-Identifier: Apache-2.0
"""governor.py PORT SAYS CMD... - a server on PORT as a replica set of two behind two proxies; MONGODB_URI of CMD names
it. What the members tell about themselves is in the file SAYS, as JSON, and may change at any time: `lag` of the
secondary and `majority` in seconds, `lagged` (flow control), `out`, `left` and `waiting` of write tickets, `active`
(connections.active), `denied` (serverStatus), `silent` (the secondary gives no answer), `uses` ($indexStats: of each
index what each member counted, [times, days])."""
import functools
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

import mongos

HELLO = {b"isWritablePrimary", b"ismaster", b"secondary", b"hosts", b"passives", b"primary", b"me", b"lastWrite"}


def element(kind, name, data):
    return bytes([kind]) + name.encode() + b"\0" + data


def text(name, value):
    return element(2, name, struct.pack("<i", len(value) + 1) + value.encode() + b"\0")


def boolean(name, value):
    return element(8, name, bytes([bool(value)]))


def number(name, value):
    return element(0x10, name, struct.pack("<i", value))


def date(name, value):
    return element(9, name, struct.pack("<q", value))


def document(*parts):
    body = b"".join(parts)
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def inner(name, *parts):
    return element(3, name, document(*parts))


def hello(parts, member, members, says):
    now = int(time.time() * 1000)
    first = member == members[0]
    mine = now - (0 if first else says.get("lag", 0) * 1000)
    kept = [raw for name, raw in parts if name not in HELLO]
    hosts = element(4, "hosts", document(*(text(str(i), m) for i, m in enumerate(members))))
    return document(*kept, boolean("isWritablePrimary", first), boolean("ismaster", first),
                    boolean("secondary", not first), hosts, text("primary", members[0]), text("me", member),
                    inner("lastWrite", date("lastWriteDate", mine),
                          date("majorityWriteDate", now - says.get("majority", 0) * 1000)))


def status(parts, says):
    if says.get("denied"):
        return document(element(1, "ok", struct.pack("<d", 0)), text("errmsg", "not authorized on admin"),
                        number("code", 13), text("codeName", "Unauthorized"))
    kept = [raw for name, raw in parts if name != b"connections"]
    tickets = inner("write", number("out", says.get("out", 0)), number("available", says.get("left", 128)))
    return document(*kept, inner("connections", number("active", says.get("active", 1))),
                    inner("flowControl", boolean("enabled", True), boolean("isLagged", says.get("lagged"))),
                    inner("globalLock", inner("currentQueue", number("writers", says.get("waiting", 0)))),
                    inner("queues", inner("execution", tickets)))


def index_uses(member, members, uses):
    now = int(time.time() * 1000)
    batch = []
    for name, told in uses.items():
        times, days = told[members.index(member)]
        since = date("since", now - days * 86400000)
        batch.append(inner(str(len(batch)), text("name", name), text("host", member),
                           inner("accesses", element(0x12, "ops", struct.pack("<q", times)), since)))
    cursor = inner("cursor", element(4, "firstBatch", document(*batch)), element(0x12, "id", struct.pack("<q", 0)),
                   text("ns", "db.coll"))
    return document(cursor, element(1, "ok", struct.pack("<d", 1)))


def as_told(reply, member, members, file):
    parts = list(mongos.elements(reply))
    names = {name for name, _ in parts}
    with open(file, encoding="utf-8") as f:
        says = json.load(f)
    if names & {b"isWritablePrimary", b"ismaster"} and b"maxWireVersion" in names:
        if says.get("silent") and member != members[0]:
            raise EOFError
        return hello(parts, member, members, says)
    if b"uptimeMillis" in names:
        return status(parts, says)
    if "uses" in says and b"\3accesses\0" in reply:
        return index_uses(member, members, says["uses"])
    return reply


def main(port, file, *command):
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    members = [f"127.0.0.1:{one.getsockname()[1]}" for one in listeners]
    for listener, member in zip(listeners, members):
        told = functools.partial(as_told, member=member, members=members, file=file)
        threading.Thread(target=mongos.serve, daemon=True,
                         args=(listener, int(port), functools.partial(mongos.changed, change=told))).start()
    uri = f"mongodb://{','.join(members)}/?replicaSet={os.environ.get('SET', 'secantus')}"
    return subprocess.run(command, env={**os.environ, "MONGODB_URI": uri}).returncode


sys.exit(main(*sys.argv[1:]))
