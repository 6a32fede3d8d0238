#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""restore_model.py OPTIONS - does with files what mongorestore 100.x does, and notes what would come to the server.

Each line of the file that RESTORED names is a namespace: its name, documents, bytes of BSON, names of indexes. Files
are found by name alone, as mongorestore finds them; what it passes over without a word is passed over here, too, so
that a test sees it missing. What it refuses ends with status 1, and so does a second restore of a namespace, whose
documents would clash. A server is not needed, so the lines that a run prints can be tried in every place.
"""
import gzip
import json
import os
import struct
import sys
import urllib.parse

OPLOG = "oplog.bson"


def stop(why):
    sys.exit("model of mongorestore: " + why)


def options(args):
    o = {"target": None}
    flags = {"--gzip", "--oplogReplay", "--restoreDbUsersAndRoles", "--archive"}
    valued = {"--archive", "--dir", "--db", "--collection", "--nsExclude"}
    for a in args:
        name, eq, value = a.partition("=")
        if eq and name in valued:
            o.setdefault(name, []).append(value)
        elif not eq and name in flags:
            o[name] = [None]
        elif a == "-" or not a.startswith("-"):
            if o["target"] is not None:
                stop("too many arguments: " + a)
            o["target"] = a
        else:
            stop("unknown option " + a)
    narrow = "--db" in o or "--collection" in o or "--nsExclude" in o
    if "--oplogReplay" in o and narrow:
        stop("cannot use --oplogReplay with namespace filters")
    if "--restoreDbUsersAndRoles" in o and o.get("--db", ["admin"]) == ["admin"]:
        stop("--restoreDbUsersAndRoles needs a --db other than admin")
    if "--archive" in o and ("--dir" in o or o["target"]):
        stop("cannot use --archive with a target")
    return o


def unpacked(data, gz):
    if not gz:
        return data
    if data[:2] != b"\x1f\x8b":
        stop("gzip: invalid header")
    return gzip.decompress(data)


def slurp(path, gz):
    with open(path, "rb") as f:
        return unpacked(f.read(), gz)


def documents(data, where):
    n = at = 0
    while at < len(data):
        size = struct.unpack_from("<i", data, at)[0] if at + 4 <= len(data) else 0
        if size < 5 or at + size > len(data):
            stop(where + ": invalid BSONSize")
        at += size
        n += 1
    return n


class Server:
    """What has been restored: on disk, since a printed line may have several calls."""

    def __init__(self, o):
        self.path = os.environ["RESTORED"]
        self.excluded = [pattern(p) for p in o.get("--nsExclude", [])]
        self.lines = []

    def add(self, ns, data, meta):
        if any(test(ns) for test in self.excluded):
            return
        indexes = ["_id_"]
        if meta:
            try:
                found = json.loads(meta)
            except ValueError:
                stop(ns + ": metadata are no JSON")
            indexes = [i["name"] for i in found.get("indexes", [])]
            if found.get("options", {}).get("viewOn"):
                indexes = ["view"]
        self.lines.append((ns, documents(data, ns), len(data), ",".join(indexes)))

    def close(self):
        there = set()
        if os.path.exists(self.path):
            with open(self.path) as f:
                there = {line.split("\t")[0] for line in f}
        with open(self.path, "a") as f:
            for line in self.lines:
                if line[0] in there:
                    stop(line[0] + ": E11000 duplicate key")
                there.add(line[0])
                f.write("\t".join(map(str, line)) + "\n")


def pattern(text):
    """A test of names: * stands for any characters, \\ takes a character as it is."""
    parts, at = [""], 0
    while at < len(text):
        if text[at] == "*":
            parts.append("")
        else:
            at += text[at] == "\\"
            parts[-1] += text[at:at + 1]
        at += 1

    def test(name):
        if len(parts) == 1:
            return name == parts[0]
        if not name.startswith(parts[0]) or not name.endswith(parts[-1]):
            return False
        rest = name[len(parts[0]):len(name) - len(parts[-1])]
        for p in parts[1:-1]:
            i = rest.find(p)
            if i < 0:
                return False
            rest = rest[i + len(p):]
        return len(parts[0]) + len(parts[-1]) <= len(name)
    return test


def split_name(name, gz):
    """(base, kind) of a file's name; kind None: passed over."""
    if gz:
        if not name.endswith(".gz"):
            return name, None
        name = name[:-3]
    for end, kind in ((".metadata.json", "meta"), (".bson", "data"), (".bin", "data")):
        if name.endswith(end):
            return name[:-len(end)], kind
    return name, None


def collection_of(base, meta):
    if len(base.encode()) == 238 and "%24" in base:
        if not meta:
            stop(base + ": no metadata with the collection's name")
        base = json.loads(meta)["collectionName"]
    return urllib.parse.unquote_plus(base, errors="surrogateescape")


def database(server, path, db, o, users):
    gz = "--gzip" in o
    files = {"meta": {}, "data": {}}
    for name in sorted(os.listdir(path)):
        full = os.path.join(path, name)
        base, kind = split_name(name, gz)
        if kind and os.path.isfile(full):
            files[kind][base] = full
    for base in sorted(set(files["meta"]) | set(files["data"])):
        if base.startswith("$admin."):
            if users and base != "$admin.system.version":
                server.add(db + "/" + base, slurp(files["data"][base], gz), None)
            continue
        meta = slurp(files["meta"][base], gz) if base in files["meta"] else None
        name = collection_of(base, meta)
        buckets = "system.buckets." + base
        if name == "system.profile" or (name == "system.indexes" and files["meta"]):
            continue
        if buckets in files["data"]:
            meta, name = slurp(files["meta"][base], gz), "system.buckets." + name
            base = buckets
        elif name.startswith("system.buckets.") and base[15:] in files["meta"]:
            continue
        server.add(db + "." + name, slurp(files["data"][base], gz) if base in files["data"] else b"", meta)


def prelude(o, path):
    name = "prelude.json.gz" if "--gzip" in o else "prelude.json"
    for place in (path, os.path.dirname(os.path.abspath(path))):
        full = os.path.join(place, name)
        if os.path.exists(full):
            try:
                json.loads(slurp(full, "--gzip" in o))["ServerVersion"]
            except (ValueError, KeyError):
                stop(full + ": no version of a server")
            return


def folder(server, path, o):
    gz, db = "--gzip" in o, o.get("--db", [None])[0]
    prelude(o, path)
    if db is not None:
        database(server, path, db, o, "--restoreDbUsersAndRoles" in o)
        return
    for name in sorted(os.listdir(path)):
        if os.path.isdir(os.path.join(path, name)):
            if not name or set(name) & set('/\\. "$'):
                stop(name + ": invalid database name")
            database(server, os.path.join(path, name), name, o, False)
    if "--oplogReplay" in o:
        full = os.path.join(path, OPLOG)
        if not os.path.exists(full):
            stop("no oplog file to replay")
        server.add("oplog", slurp(full, gz), None)


def single(server, path, o):
    db, coll, gz = o.get("--db"), o.get("--collection"), "--gzip" in o
    if path == "-":
        if not db or not coll or gz:
            stop("standard input needs --db and --collection, and is not unpacked")
        server.add(db[0] + "." + coll[0], sys.stdin.buffer.read(), None)
        return
    base, kind = split_name(os.path.basename(path), gz)
    if kind != "data":
        stop("file " + path + " does not have .bson" + (".gz" if gz else "") + " extension")
    prelude(o, os.path.dirname(path) or ".")
    if not db:
        stop(path + ": a file needs --db")
    meta = os.path.join(os.path.dirname(path), base + ".metadata.json" + (".gz" if gz else ""))
    name = coll[0] if coll else collection_of(base, None)
    server.add(db[0] + "." + name, slurp(path, gz), slurp(meta, gz) if os.path.exists(meta) else None)


def fields(doc):
    """Top-level texts and booleans of a document; other types have a fixed size here or are skipped."""
    out, at = {}, 4
    while doc[at]:
        kind, end = doc[at], doc.index(0, at + 1)
        name, at = doc[at + 1:end].decode(), end + 1
        if kind == 2:
            size = struct.unpack_from("<i", doc, at)[0]
            out[name] = doc[at + 4:at + 3 + size].decode(errors="surrogateescape")
            at += 4 + size
        elif kind in (8, 16, 18):
            out[name] = doc[at]
            at += {8: 1, 16: 4, 18: 8}[kind]
        else:
            stop("archive: field %s of type %d" % (name, kind))
    return out


def archive(server, o):
    path = o["--archive"][0]
    data = slurp(path, "--gzip" in o) if path else unpacked(sys.stdin.buffer.read(), "--gzip" in o)
    if data[:4] != struct.pack("<I", 0x8199e26d):
        stop("stream or file does not appear to be a mongodump archive")
    sections, section, at = [], [], 4
    while at < len(data):
        size = struct.unpack_from("<i", data, at)[0]
        if size == -1:
            sections.append(section)
            section, at = [], at + 4
            continue
        section.append(data[at:at + size])
        at += size
    if section:
        stop("archive: the end is missing")
    metas, bodies, closed = {}, {}, set()
    for doc in sections[0][1:]:
        f = fields(doc)
        metas[f["db"], f["collection"]] = f["metadata"]
    for head, *docs in sections[1:]:
        f = fields(head)
        key = f["db"], f["collection"]
        if key in closed:
            stop("archive: namespace header for already opened namespace")
        if f["EOF"]:
            closed.add(key)
        bodies[key] = bodies.get(key, b"") + b"".join(docs)
    for (db, coll), data in bodies.items():
        meta = metas.get((db, coll))
        if meta is None and coll.startswith("system.buckets."):
            meta = metas.get((db, coll[15:]))
        if meta is None:
            stop("archive: no intent for " + db + "." + coll)
        users = coll.startswith("$admin.")
        if db == "" and coll == "oplog":
            if "--oplogReplay" in o:
                server.add("oplog", data, None)
        elif users or ("--db" in o and o["--db"] != [db]):
            if users and "--restoreDbUsersAndRoles" in o and o["--db"] == [db]:
                server.add(db + "/" + coll, data, None)
        elif coll != "system.profile":
            server.add(db + "." + coll, data, meta)


def main():
    o = options(sys.argv[1:])
    server = Server(o)
    if "--archive" in o:
        archive(server, o)
    else:
        target = o["--dir"][0] if "--dir" in o else o["target"] or "dump"
        if target == "-" or os.path.isfile(target):
            single(server, target, o)
        elif os.path.isdir(target):
            folder(server, target, o)
        else:
            stop("file " + target + " does not exist")
    server.close()


main()
