# SPDX-License-Identifier: Apache-2.0
"""truth.py - a set of collections in memory: written as a dump, described by figures counted from its documents.

A set says which references it holds, as the one who designed it knows them; nothing here infers. All figures are
counted over every document with plain dictionaries, and check() counts them a second time, from the bytes of the files.
"""
import datetime
import json
import os
import random
import re
import struct
import uuid
from collections import Counter, defaultdict

EPOCH = datetime.datetime(1970, 1, 1)
NO = object()  # a field that this document lacks
FIRST = """Anna Ben Carla David Elena Felix Grace Hugo Ines Jonas Karim Lena Mateo Nora Oscar Paula Quentin Rosa Samir
Tara Ugo Vera Walter Ximena Yusuf Zoe Amir Bianca Chen Daria Emil Fatima Goran Hana Ivan Julia Kofi
Lucia Marek Nadia""".split()
LAST = """Adler Berger Costa Dubois Eriksen Ferrari Garcia Haas Ivanova Jensen Kowalski Lopez Moreau Novak Okafor Petrov
Quinn Rossi Schmidt Tanaka Ueda Varga Weber Xu Yilmaz Zimmer Almeida Bauer Chavez Dimitrov Engel Fischer Gruber Huber
Ito Jansen Klein Lindgren Meyer Nguyen""".split()
CITY = """Lisbon Graz Porto Turin Lyon Ghent Malmo Cork Brno Split Gdansk Tartu Bergen Aarhus Leeds Utrecht Bilbao Basel
Trieste Nantes Ostrava Kaunas Tampere Uppsala Bremen Varna Zadar Cluj Pecs Patras""".split()
WORD = """alpha amber anchor apple arrow autumn basket beacon bridge brook candle canyon castle cedar circle clear cloud
coast copper coral crystal dawn delta desert dream drift early eagle echo ember falcon field flame forest frost garden
gentle glass golden grain granite green harbor hazel hidden hollow honey horizon indigo island ivory jade juniper lake
lantern lemon light linen lotus maple marble meadow mint mirror misty moon morning mountain north oak ocean olive orchid
pearl pepper pine planet prairie quiet rain raven river rocky sage sail salt shadow silver sky snow spring stone storm
summer sunny thunder tide timber valley velvet violet walnut water willow wind winter wood yellow""".split()
COUNTRY = """AT BE BG BR CA CH CL CN CY CZ DE DK EE ES FI FR GB GR HR HU IE IN IS IT JP KR LT LU LV MT MX NL NO NZ PE PL
PT RO SE SI SK TR UA US ZA""".split()


class Oid(bytes):
    """An ObjectId."""


class Long(int):
    """An integer that is written with 64 bits though 32 would do."""


class Cents(int):
    """A decimal with two places."""


SETS = {}


def data_set(make):
    """Makes a function that fills a Set known by its name."""
    assert make.__name__ not in SETS, "two sets are called %s" % make.__name__
    SETS[make.__name__] = make
    return make


def text_date(d):
    return d.strftime("%Y-%m-%d")


def str_id(v):
    return v.hex() if type(v) is Oid else str(v)


def element(name, v):
    key = name.encode() + b"\0"
    t = type(v)
    if t is int:
        return b"\x10" + key + struct.pack("<i", v) if -2**31 <= v < 2**31 else b"\x12" + key + struct.pack("<q", v)
    if t is str:
        raw = v.encode() + b"\0"
        return b"\x02" + key + struct.pack("<i", len(raw)) + raw
    if t is Oid:
        return b"\x07" + key + v
    if t is dict:
        return b"\x03" + key + encode(v)
    if t is list:
        return b"\x04" + key + encode({str(i): x for i, x in enumerate(v)})
    if t is float:
        return b"\x01" + key + struct.pack("<d", v)
    if t is datetime.datetime:
        return b"\x09" + key + struct.pack("<q", (v - EPOCH) // datetime.timedelta(milliseconds=1))
    if t is bool:
        return b"\x08" + key + (b"\1" if v else b"\0")
    if v is None:
        return b"\x0a" + key
    if t is Long:
        return b"\x12" + key + struct.pack("<q", v)
    if t is Cents:
        return b"\x13" + key + struct.pack("<QQ", abs(v), (6176 - 2) << 49 | (v < 0) << 63)
    raw, kind = (v.bytes, 4) if t is uuid.UUID else (v, 0)
    return b"\x05" + key + struct.pack("<iB", len(raw), kind) + raw


def encode(doc):
    body = b"".join([element(k, v) for k, v in doc.items()])
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def strip(v):
    """The value without the fields that are NO."""
    if type(v) is dict:
        return {k: strip(x) for k, x in v.items() if x is not NO}
    return [strip(x) for x in v if x is not NO] if type(v) is list else v


def get(doc, path):
    """All values at a path such as lines[].productId; a last name * gives the names of the fields there."""
    nodes = [doc]
    for part in path.split("."):
        name = part.replace("[]", "")
        nodes = [n for n in nodes if type(n) is dict]
        if name == "*":
            nodes = [k for n in nodes for k in n]
        else:
            nodes = [n[name] for n in nodes if name in n]
        for _ in range(part.count("[]")):
            nodes = [x for n in nodes if type(n) is list for x in n]
    return nodes


def canon(v):
    """What makes two values the same one, or None for what is no value of a reference."""
    t = type(v)
    if t in (int, Long):
        return "n", int(v)
    if t is float or t is Cents:
        v = v / 100 if t is Cents else v
        return ("n", int(v)) if v == int(v) else None
    if t is Oid:
        return "o", bytes(v)
    if t is uuid.UUID or t is bytes:
        return "b", v.bytes if t is uuid.UUID else v
    if t is not str or len(v.encode()) > 128:
        return None
    if re.fullmatch("[0-9a-fA-F]{24}", v):
        return "o", bytes.fromhex(v)
    if re.fullmatch("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", v):
        return "b", uuid.UUID(v).bytes
    return ("n", int(v)) if re.fullmatch("-?[1-9][0-9]{0,17}|0", v) else ("s", v)


CLASS = {int: "number", Long: "number", float: "number", Cents: "number", str: "string", Oid: "id", bool: "bool",
         datetime.datetime: "date", dict: "document", list: "array", uuid.UUID: "binary", bytes: "binary"}


def kind_of(a, b):
    """How a value and the key it equals differ in type."""
    if type(a) is type(b):
        return "equal"
    kinds = {CLASS[type(a)], CLASS[type(b)]}
    if kinds == {"number"}:
        return "number"
    kinds.discard("string")
    return {"id": "objectIdString", "binary": "uuidString", "number": "numberString"}[kinds.pop()]


def rank(values, p):
    """The value at rank ceil(p/100 * n)."""
    return values[-(-len(values) * p // 100) - 1]


def spread(values):
    z = sorted(values)
    return {"min": z[0], "avg": sum(z) / len(z), "p50": rank(z, 50), "p99": rank(z, 99), "max": z[-1]}


def plain(path):
    return path.replace("[]", "")


class Set:
    """Collections, their indexes, and what is true of them."""

    def __init__(self, name):
        self.name, self.r = name, random.Random("inspect " + name)
        self.docs, self.indexes, self.maps = {}, {}, set()
        self.refs, self.allowed, self.copies, self.pairs = [], [], [], []
        self.more, self.rules_allowed, self.unjudged = {}, [], set()
        self.machine, self.count = bytes(self.r.randrange(256) for _ in range(5)), self.r.randrange(1 << 22)

    # Values as applications write them.
    def day(self, lo, hi):
        """A moment between two days, counted from 2019-01-01."""
        span = self.r.randrange(int((hi - lo) * 86400000))
        return datetime.datetime(2019, 1, 1) + datetime.timedelta(days=lo, milliseconds=span)

    def oid(self, when=None):
        self.count += 1
        seconds = int(((when or self.day(0, 1500)) - EPOCH).total_seconds())
        return Oid(struct.pack(">I", seconds) + self.machine + struct.pack(">I", self.count)[1:])

    def uuid(self):
        return uuid.UUID(int=self.r.getrandbits(128), version=4)

    def person(self):
        return self.r.choice(FIRST) + " " + self.r.choice(LAST)

    def words(self, lo, hi=None):
        return " ".join(self.r.choices(WORD, k=self.r.randint(lo, hi or lo)))

    def title(self, lo, hi=None):
        return self.words(lo, hi).title()

    def few(self, values, lo, hi):
        """Different values in random order, at most as many as there are."""
        return self.r.sample(values, min(len(values), self.r.randint(lo, hi)))

    def skew(self, values, a=2.0):
        """The first values far more often than the last."""
        return values[int(len(values) * self.r.random() ** a)]

    def maybe(self, p, v):
        return v if self.r.random() < p else NO

    # What is in the set.
    def put(self, name, docs, *indexes):
        """Documents of a collection, and its indexes: 'a,-b'; a first ! says unique, ? sparse."""
        self.docs[name] = [strip(d) for d in docs]
        self.indexes[name] = [("_id_", {"_id": 1}, {})]
        for text in indexes:
            fields = [f for f in text.strip("!?").split(",")]
            key = {f.strip("-"): -1 if f[0] == "-" else 1 for f in fields}
            options = {"unique": True} if text[0] == "!" else {"sparse": True} if text[0] == "?" else {}
            self.indexes[name].append(("_".join("%s_%d" % kv for kv in key.items()), key, options))

    @staticmethod
    def lines(text):
        """collection:path+path collection:path [word], one reference a line."""
        for line in text.strip().splitlines():
            (f, fp), (t, tp), words = *(x.split(":") for x in line.split()[:2]), line.split()[2:]
            yield {"from": (f, fp.split("+")), "to": (t, tp.split("+")), "words": words}

    def ref(self, text):
        self.refs += self.lines(text)

    def allow(self, text):
        self.allowed += self.lines(text)

    def copy(self, text):
        """collection:path-of-the-reference parent:key path-of-the-copy parent's-field, one a line."""
        for line in text.strip().splitlines():
            a, b, path, field = line.split()
            self.copies.append((*a.split(":"), *b.split(":"), path, field))

    def two_way(self, parent, array, child, path):
        self.pairs.append((parent, array, child, path))

    # The truth.
    def side(self, s):
        return {"ns": self.name + "." + s[0], "paths": s[1]}

    def elements(self, coll, path):
        """The innermost array elements (or documents) that hold a path, each with the rest of the path."""
        if "[]." in path:
            outer, rest = path.rsplit("[].", 1)
            return [e for d in self.docs[coll] for e in get(d, outer + "[]")], rest
        return self.docs[coll], path

    def tuples(self, coll, paths):
        """Pairs (what is compared, the value itself) of a side; of a composite only whole ones."""
        if len(paths) == 1:
            found = [(canon(v), v) for d in self.docs[coll] for v in get(d, paths[0])]
            return [x for x in found if x[0] is not None]
        split = [self.elements(coll, p) for p in paths]
        assert all(s[0] == split[0][0] for s in split), "parts of a composite lie in one element"
        out = []
        for e in split[0][0]:
            values = [get(e, s[1]) for s in split]
            if all(len(v) == 1 and canon(v[0]) for v in values):
                out.append((tuple(canon(v[0]) for v in values), tuple(v[0] for v in values)))
        return out

    def figures(self, ref):
        keys = {}
        for c, v in self.tuples(*ref["to"]):
            keys.setdefault(c, v)
        values = self.tuples(*ref["from"])
        per = Counter(c for c, _ in values if c in keys)
        distinct = {c for c, _ in values}
        matched = sum(per.values())
        kinds = {kind_of(a, b) for c, v in values if c in keys for a, b in
                 (zip(v, keys[c]) if len(ref["from"][1]) > 1 else [(v, keys[c])])}
        assert matched, "a reference that nothing follows: %s" % ref
        out = {"from": self.side(ref["from"]), "to": self.side(ref["to"]), "values": len(values),
               "distinct": len(distinct), "matched": matched, "orphans": len(values) - matched,
               "orphanDistinct": len(distinct) - len(per), "keys": len(keys),
               "perParent": dict(spread(per.values()), parents=len(per), none=len(keys) - len(per))}
        if ref["from"][1][0].endswith("$id"):
            out["match"] = "dbref"
        elif not ref["from"][1][0].endswith("*") and kinds != {"equal", "number"}:
            out["match"] = kinds.pop() if len(kinds) == 1 else "mixed"
        same = [r for r in self.refs if r["from"] == ref["from"]]
        if len(same) > 1:
            out["polymorphic"] = True
        for word in ref["words"]:
            out[word] = True
        return out

    def copy_figures(self, c):
        coll, path, parent, key, copy, field = c
        # The reference and the copy stand in one element, or the copy stands at the root beside a path without arrays.
        elements, rest = self.elements(coll, path)
        rest_copy = copy[len(path) - len(rest):] if "[]." in path else copy
        parents = {canon(get(d, key)[0]): d for d in self.docs[parent] if get(d, key)}
        compared = stale = 0
        for e in elements:
            k, v = get(e, rest), get(e, rest_copy)
            if not k or not v or canon(k[0]) not in parents:
                continue
            of = get(parents[canon(k[0])], field)
            if of and v[0] is not None and of[0] is not None:
                compared += 1
                stale += v[0] != of[0]
        return {"from": {"ns": self.name + "." + coll, "path": copy},
                "of": {"ns": self.name + "." + parent, "path": field}, "compared": compared, "stale": stale}

    def names_parent(self, c):
        """Whether the copied field could be a key itself: then the copy is as much a second reference."""
        values = [v for d in self.docs[c[2]] for v in get(d, c[5])]
        return len(set(values)) >= .99 * len(values)

    def two_way_figures(self, pair):
        parent, array, child, path = pair
        listed = defaultdict(set)
        for d in self.docs[parent]:
            for v in get(d, array):
                listed[canon(v)].add(canon(d["_id"]))
        n = Counter()
        for d in self.docs[child]:
            for v in get(d, path):
                if canon(v):
                    by = listed.get(canon(d["_id"]), ())
                    n["agree" if canon(v) in by else "disagree" if by else "gaps"] += 1
        return {"a": {"ns": self.name + "." + parent, "path": array},
                "b": {"ns": self.name + "." + child, "path": path},
                "agree": n["agree"], "gaps": n["gaps"], "disagree": n["disagree"]}

    def tree_figures(self, coll, path, key="_id"):
        up = {canon(d[key]): canon(get(d, path)[0]) if get(d, path) else None for d in self.docs[coll]}
        depth = cycles = 0
        on_cycle = set()
        for start in up:
            seen, at = [], start
            while up.get(at) in up and at not in seen:
                seen.append(at)
                at = up[at]
            if at in seen:
                ring = frozenset(seen[seen.index(at):])
                cycles += ring not in on_cycle
                on_cycle.add(ring)
            else:
                depth = max(depth, len(seen))
        roots = sum(1 for v in up.values() if v is None)
        return {"ns": self.name + "." + coll, "path": path, "roots": roots, "depth": depth, "cycles": cycles}

    def truth(self):
        import judge
        sizes = {c: [len(encode(d)) for d in docs] for c, docs in self.docs.items()}
        copies = [c for c in self.copies if not self.names_parent(c)]
        for c in self.copies:
            if c not in copies:
                self.rules_allowed.append({"rule": "stale-copies", "ns": self.name + "." + c[0], "path": c[4]})
        t = {"set": self.name, "truth": 1, "fresh": True,
             "collections": {self.name + "." + c: {"documents": len(z), "bytes": sum(z),
                                                   "size": spread(z) if z else None}
                             for c, z in sizes.items()},
             "references": [self.figures(r) for r in self.refs],
             "allowed": [{"from": self.side(r["from"]), "to": self.side(r["to"])} for r in self.allowed],
             "lengths": [], "copies": [self.copy_figures(c) for c in copies], **self.more}
        if self.pairs:
            t["twoWay"] = [self.two_way_figures(p) for p in self.pairs]
        judge.judge(self, t)
        return t

    def write(self, out):
        """The dump and its truth, below out."""
        folder = os.path.join(out, self.name, "dump", self.name)
        os.makedirs(folder, exist_ok=True)
        for coll, docs in self.docs.items():
            with open(os.path.join(folder, coll + ".bson"), "wb") as f:
                f.write(b"".join(encode(d) for d in docs))
            meta = {"indexes": [dict(v=2, key=key, name=name, **options) for name, key, options in self.indexes[coll]],
                    "collectionName": coll, "type": "collection"}
            with open(os.path.join(folder, coll + ".metadata.json"), "w") as f:
                json.dump(meta, f, separators=(",", ":"))
        with open(os.path.join(out, self.name, "truth.json"), "w") as f:
            json.dump(self.truth(), f, indent=1)
            f.write("\n")
