# SPDX-License-Identifier: Apache-2.0
"""recount.py - counts a written set a second time, from its bytes, and compares with its truth.json.

Nothing is shared with truth.py but the files: the documents are decoded from BSON into rows of a path and a value, and
values are compared as text in sorted lists, so an error of the writer or of the first count does not repeat itself.
"""
import json
import os
import struct
from collections import Counter

WIDTH = {1: 8, 7: 12, 8: 1, 9: 8, 10: 0, 16: 4, 18: 8, 19: 16}


def same_text(kind, raw):
    """A text that equal values share, whatever their types."""
    if kind == 16 or kind == 18:
        return "n%d" % int.from_bytes(raw, "little", signed=True)
    if kind == 1:
        d = struct.unpack("<d", raw)[0]
        return "n%d" % d if d.is_integer() else None
    if kind == 19:
        low, high = struct.unpack("<QQ", raw)
        return None if low % 100 else "n%s%d" % ("-" if high >> 63 else "", low // 100)
    if kind == 7:
        return "o" + raw.hex()
    if kind == 5:
        return "b" + raw.hex()
    if kind != 2 or len(raw) > 128:
        return None
    text = raw.decode()
    bare = text.replace("-", "").lower()
    if len(text) == 24 and all(c in "0123456789abcdefABCDEF" for c in text):
        return "o" + text.lower()
    if len(text) == 36 and len(bare) == 32 and all(c in "0123456789abcdef" for c in bare):
        return "b" + bare
    digits = text[1:] if text[:1] == "-" else text
    if digits.isascii() and digits.isdigit() and len(digits) <= 18 and (digits[0] != "0" or text == "0"):
        return "n" + text
    return "s" + text


def rows(data, at, path, array, holder, out):
    """Appends (path, type, text, holder, name) of all below the document at an offset; holder: an offset."""
    end = at + struct.unpack_from("<i", data, at)[0] - 1
    at += 4
    while at < end:
        kind, stop = data[at], data.index(0, at + 1)
        name, at = data[at + 1:stop].decode(), stop + 1
        here = path + "[]" if array else path + "." * (path != "") + name
        skip = 4 if kind == 2 else 5 if kind == 5 else 0
        size = struct.unpack_from("<i", data, at)[0] if kind in (2, 3, 4, 5) else WIDTH[kind]
        text = None if kind in (3, 4) else same_text(kind, data[at + skip:at + skip + size - (kind == 2)])
        out.append((here, kind, text, holder, name, path))
        if kind == 3 or kind == 4:
            rows(data, at, here, kind == 4, at if kind == 3 else holder, out)
        at += skip + size


class Collection:
    """All rows of a file by path, and the sizes of its documents."""

    def __init__(self, file):
        with open(file, "rb") as f:
            data = f.read()
        self.sizes, self.by_path, self.names, at = [], {}, {}, 0
        while at < len(data):
            out = []
            rows(data, at, "", False, at, out)
            for path, kind, text, holder, name, below in out:
                self.by_path.setdefault(path, []).append((kind, text, holder))
                self.names.setdefault(below, []).append(name)
            self.sizes.append(struct.unpack_from("<i", data, at)[0])
            at += self.sizes[-1]

    def values(self, paths):
        """The values of a side as texts; of a composite those whose parts one document holds."""
        if paths[0].endswith(".*"):
            return [same_text(2, n.encode()) for n in self.names[paths[0][:-2]]]
        held = [{h: t for _, t, h in self.by_path.get(p, []) if t} for p in paths]
        if len(paths) == 1:
            return [t for _, t, _ in self.by_path.get(paths[0], []) if t]
        return [" ".join(x[h] for x in held) for h in held[0] if all(h in x for x in held)]

    def beside(self, path, other):
        """Pairs of values of two paths that one document holds."""
        held = {h: t for _, t, h in self.by_path.get(other, []) if t}
        return [(t, held[h]) for _, t, h in self.by_path.get(path, []) if t and h in held]

    def lengths(self, path):
        """How many elements each array has at a path that is written without []."""
        full = [p for p, z in self.by_path.items() if p.replace("[]", "") == path and any(k == 4 for k, _, _ in z)]
        arrays = sum(k == 4 for k, _, _ in self.by_path[full[0]])
        return arrays, len(self.by_path.get(full[0] + "[]", []))


def copies(colls, references, c):
    """How many values of a copy can be compared with their parent's, and how many differ."""
    for r in references:
        key, path = r["from"]["paths"][0], c["from"]["path"]
        if r["from"]["ns"] == c["from"]["ns"] and r["to"]["ns"] == c["of"]["ns"] and \
                key.rpartition(".")[0] == path.rpartition(".")[0]:
            of = dict(colls[c["of"]["ns"]].beside(r["to"]["paths"][0], c["of"]["path"]))
            both = [v == of[k] for k, v in colls[c["from"]["ns"]].beside(key, path) if k in of]
            return len(both), both.count(False)
    return None


def check(folder):
    """The number of figures of a set that differ."""
    with open(os.path.join(folder, "truth.json")) as f:
        truth = json.load(f)
    db, bad = truth["set"], []
    dump = os.path.join(folder, "dump", db)
    colls = {"%s.%s" % (db, f[:-5]): Collection(os.path.join(dump, f)) for f in os.listdir(dump) if f.endswith(".bson")}

    def same(what, a, b):
        if a != b:
            bad.append("%s: %s counted again, %s said" % (what, a, b))

    same("collections", sorted(colls), sorted(truth["collections"]))
    for ns, c in truth["collections"].items():
        z = colls[ns].sizes
        same(ns, (len(z), sum(z), max(z)), (c["documents"], c["bytes"], c["size"]["max"]))
    for r in truth["references"]:
        values = sorted(v for v in colls[r["from"]["ns"]].values(r["from"]["paths"]) if v)
        keys = set(colls[r["to"]["ns"]].values(r["to"]["paths"]))
        hits = sorted(Counter(v for v in values if v in keys).values())
        p = r["perParent"]
        same("%s %s" % (r["from"]["ns"], r["from"]["paths"]),
             (len(values), sum(hits), len(set(values)), len(keys), len(hits), hits[0],
              hits[len(hits) // 2 - 1 + len(hits) % 2],
              hits[-1]), (r["values"], r["matched"], r["distinct"], r["keys"], p["parents"], p["min"], p["p50"],
                          p["max"]))
    for x in truth["lengths"]:
        arrays, elements = colls[x["ns"]].lengths(x["path"])
        same("%s %s" % (x["ns"], x["path"]), (arrays, elements), (x["arrays"], round(x["avg"] * x["arrays"])))
    for c in truth["copies"]:
        same("copy %s" % c["from"]["path"], copies(colls, truth["references"], c), (c["compared"], c["stale"]))
    for p in truth.get("twoWay", []):
        a, b = colls[p["a"]["ns"]], colls[p["b"]["ns"]]
        listed = {(i, k) for i, k in a.beside(p["a"]["path"], "_id")}
        held = [((c, k) in listed, any(c == x for x, _ in listed)) for k, c in b.beside(p["b"]["path"], "_id")]
        same("two-way %s" % p["b"]["path"], (held.count((True, True)), held.count((False, False)),
                                             held.count((False, True))),
             (p["agree"], p["gaps"], p["disagree"]))
    for r in truth["rules"]:
        if r["rule"] == "mixed-types" and "*" not in r["path"]:
            kinds = {1 if k in (16, 18, 19) else k for k, _, _ in colls[r["ns"]].by_path[r["path"]]} - {10}
            same("mixed %s %s" % (r["ns"], r["path"]), len(kinds) > 1, True)
    for b in bad:
        print("%s: %s" % (db, b))
    return len(bad)
