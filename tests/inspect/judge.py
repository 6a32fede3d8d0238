# SPDX-License-Identifier: Apache-2.0
"""judge.py - which rules of thumb the documents of a set break, counted path by path.

What two people could read differently (a share at the edge, a second parent of few children) goes to rulesAllowed:
a report of it is neither asked for nor wrong.
"""
import re
from collections import Counter, defaultdict

from truth import CLASS, canon, encode, get, plain, rank

STEPS = {"long-array": "extract", "long-reference-array": "extract", "outlier-array": "extract",
         "near-limit": "extract", "repeated-parts": "extract", "one-to-one-apart": "embed",
         "one-to-few-apart": "embed", "reference-without-index": "index", "redundant-index": "index",
         "too-many-indexes": "index", "stale-copies": "copy", "two-way-disagrees": "link",
         "time-series-single": "bucket", "attribute-fields": "pack", "names-are-data": "pack", "mixed-types": "cast",
         "reference-type-differs": "cast", "deep-tree": "tree", "large-field": "split"}
MIB = 1 << 20


class Verdict:
    def __init__(self, s):
        self.s, self.rules, self.allowed = s, [], list(s.rules_allowed)

    def put(self, sure, rule, coll, path=None, index=None):
        r = {"rule": rule, "ns": self.s.name + "." + coll}
        r.update({"path": path} if path else {"index": index} if index else {})
        where = self.rules if sure else self.allowed
        if r not in where:
            where.append(r)


def walk(doc, maps, coll):
    """Every value below a document with its path; names that are data become *."""
    stack = [("", doc)]
    while stack:
        path, v = stack.pop()
        if path:
            yield path, v
        if type(v) is dict:
            star = coll + ":" + path in maps
            stack += [(path + "." * bool(path) + ("*" if star else k), x) for k, x in v.items()]
        elif type(v) is list:
            stack += [(path + "[]", x) for x in v]


def first_word(name):
    return re.match(r"[A-Z]*[a-z]*|[^A-Za-z]", name).group(0)


def by_path(s, coll, t, out):
    """Mixed types, lengths of arrays, repeated parts, large fields, names that are data, families of fields."""
    types, lengths, parts, fields, size = defaultdict(Counter), defaultdict(list), defaultdict(list), {}, Counter()
    docs = s.docs[coll]
    for d in docs:
        for path, v in [("", d), *walk(d, s.maps, coll)]:
            if v is None:
                continue
            types[path][CLASS[type(v)]] += 1
            if type(v) is list:
                lengths[path].append(len(v))
            elif type(v) is dict and coll + ":" + path not in s.maps:
                if path.endswith("[]"):
                    parts[path].append(encode(v))
                for k, x in v.items():
                    fields.setdefault(path, {}).setdefault(k, Counter())[type(x)] += 1
            elif type(v) in (str, bytes):
                size[path] += len(v)
    total = sum(len(encode(d)) for d in docs)
    for path, n in types.items():
        common, second = (n.most_common() + [(0, 0)])[:2]
        if second[1]:
            share = second[1] / sum(n.values())
            out.put(second[1] >= 10 or share >= .0015, "mixed-types", coll, path)
    for path, z in lengths.items():
        z.sort()
        elements = types[path + "[]"]
        limit = 200 if elements["document"] else 2000
        p99 = rank(z, 99)
        name = "long-array" if elements["document"] else "long-reference-array"
        if p99 > limit:
            out.put(True, name, coll, path)
        elif z[-1] > limit:
            out.put(z[-1] > 10 * p99, "outlier-array", coll, path)
        if z[-1] > 1:
            t["lengths"].append({"ns": s.name + "." + coll, "path": plain(path), "min": z[0], "avg": sum(z) / len(z),
                                 "p50": rank(z, 50), "p99": p99, "max": z[-1], "arrays": len(z)})
    used = [p for r in s.refs + s.allowed for c, ps in (r["from"], r["to"]) if c == coll for p in ps]
    for path, z in parts.items():
        two = len(fields[path]) >= 2 and len(z) >= 100
        if two and len(set(z)) <= .25 * len(z):
            out.put(len(set(z)) <= .15 * len(z) and not any(p.startswith(path + ".") for p in used),
                    "repeated-parts", coll, path[:-2])
    for path, n in size.items():
        if n / len(docs) >= 10240 and n >= .75 * total:
            out.put(n >= .85 * total, "large-field", coll, path)
    for path, names in fields.items():
        families(s, coll, path, names, types[path]["document"], out)
    for m in sorted(s.maps):
        if m.split(":")[0] == coll:
            out.put(True, "names-are-data", coll, m.split(":")[1] + ".*")


def families(s, coll, path, names, of, out):
    """Siblings that begin with the same word and have one type, most of them absent in most documents."""
    groups = defaultdict(list)
    for name, n in names.items():
        kinds = {CLASS[k] for k in n if k is not type(None)}
        word = first_word(name)
        if word and word != name and len(kinds) == 1 and word.lower() not in coll.lower():
            groups[word.lower(), kinds.pop()].append((name, sum(n.values())))
    for z in groups.values():
        share = sum(n for _, n in z) / of / len(z)
        if len(z) >= 4 and share <= .8:
            out.put(len(z) >= 5 and share <= .65, "attribute-fields", coll,
                    (path + "." if path else "") + first_word(z[0][0]) + "_*")


def indexes(s, coll, out):
    all_ = s.indexes[coll]
    if len(all_) > 11:
        out.put(True, "too-many-indexes", coll)
    for name, key, options in all_[1:]:
        k = list(key.items())
        longer = [list(o.items()) for n, o, opts in all_ if len(o) > len(k) and not opts.get("sparse")]
        same = any(o[:len(k)] == k for o in longer)
        turned = any(o[:len(k)] == [(f, -d) for f, d in k] for o in longer)
        if not options and (same or turned):
            out.put(True, "redundant-index", coll, index=name)


def of_references(s, t, out):
    """Indexes, orphans and types of references."""
    for r, f in zip(s.refs, t["references"]):
        (coll, paths), doubtful = r["from"], set(r["words"]) - {"polymorphic"}
        special = any("*" in p or "$" in p for p in paths)
        first = plain(paths[0])
        led = any(next(iter(key)) in [plain(p) for p in paths] for _, key, _ in s.indexes[coll])
        parts = any(len(o["from"][1]) == 1 and o["from"][0] == coll and o["from"][1][0] in paths for o in s.refs)
        if not led and len(s.docs[coll]) >= 100:
            out.put(not special and not doubtful and (len(paths) == 1 or not parts), "reference-without-index", coll,
                    paths[0])
        if len(paths) > 1 and parts:
            out.put(False, "reference-without-index", coll, first)
        if f.get("match", "") == "mixed" or f.get("match", "").endswith("String"):
            out.put(not f.get("polymorphic") and not doubtful and len(paths) == 1, "reference-type-differs", coll,
                    paths[0])
        if special:
            out.put(False, "reference-type-differs", coll, paths[0])
        if f["orphans"]:
            alone = not f.get("polymorphic")
            out.put(alone and not doubtful and len(paths) == 1, "orphans", coll, paths[0])
            if len(paths) > 1:
                for p in paths:
                    out.put(False, "orphans", coll, p)
        if f.get("polymorphic"):
            keys = {canon(v) for o in s.refs if o["from"] == r["from"] for d in s.docs[o["to"][0]]
                    for v in get(d, o["to"][1][0])}
            if any(canon(v) and canon(v) not in keys for d in s.docs[coll] for v in get(d, paths[0])):
                out.put(True, "orphans", coll, paths[0])
    for r in s.allowed:
        for rule in ("reference-without-index", "orphans", "reference-type-differs", "one-to-one-apart",
                     "one-to-few-apart"):
            for side in ("from", "to"):
                out.put(False, rule, r[side][0], r[side][1][0])


def apart(s, t, out):
    """Children that could live in their one parent: few each, all of them referring, none referred to."""
    near = defaultdict(list)
    for r, f in zip(s.refs, t["references"]):
        coll, paths = r["from"]
        p = f["perParent"]
        if "[]" in paths[0] or p["p99"] > 20 or p["max"] > 200:
            continue
        share = f["matched"] / len(s.docs[coll])
        referred = any(o["to"][0] == coll for o in s.refs)
        maybe = any(coll in (o["to"][0], o["from"][0]) for o in s.allowed)
        if p["parents"] < 18 or share < .92 or referred:
            continue
        sure = p["parents"] + p["none"] >= 22 and p["parents"] >= 20 and share >= .96 and not maybe
        sure = sure and "[]" not in r["to"][1][0]  # a part of a document, which nothing can be embedded in
        sure = sure and len(paths) == 1 and not r["words"] and not f.get("polymorphic") and "*" not in paths[0]
        near[coll].append((p["max"] > 1, p["p99"], p["avg"], paths[0], sure))
    for coll, z in near.items():
        z.sort()
        tie = len(z) > 1 and z[0][0] == z[1][0]  # which of two parents is nearer, people decide by meaning
        for i, (many, _, _, path, sure) in enumerate(z):
            out.put(sure and not tie and i == 0, "one-to-few-apart" if many else "one-to-one-apart", coll, path)
    for r in s.refs:  # an array of references to what nothing else refers to, or the way back of either
        if "either" in r["words"]:
            for side in ("from", "to"):
                for rule in ("one-to-one-apart", "one-to-few-apart", "reference-without-index"):
                    out.put(False, rule, r[side][0], r[side][1][0])


def judge(s, t):
    """Adds rules, rulesAllowed, judged and suggest to a truth."""
    out = Verdict(s)
    for coll in s.docs:
        if not s.docs[coll]:
            continue
        by_path(s, coll, t, out)
        indexes(s, coll, out)
        if max(len(encode(d)) for d in s.docs[coll]) >= 8 * MIB:
            out.put(True, "near-limit", coll, t["growth"]["path"] if "growth" in t else None)
    if "growth" in t:
        out.put(True, "near-limit", t["growth"]["ns"].split(".", 1)[1], t["growth"]["path"])
    of_references(s, t, out)
    apart(s, t, out)
    for c in t["copies"]:
        if c["stale"]:
            out.put(True, "stale-copies", c["from"]["ns"].split(".", 1)[1], c["from"]["path"])
    for p in t.get("twoWay", []):
        if p["gaps"] or p["disagree"]:
            out.put(True, "two-way-disagrees", p["b"]["ns"].split(".", 1)[1], p["b"]["path"])
    if "tree" in t and t["tree"]["depth"] >= 4:
        out.put(True, "deep-tree", t["tree"]["ns"].split(".", 1)[1], t["tree"]["path"])
    for r in s.refs:  # whether a chain of replies or of managers is a tree to walk, people decide
        if r["from"][0] == r["to"][0] and len(r["from"][1]) == 1:
            out.put(False, "deep-tree", r["from"][0], r["from"][1][0])
    for x in t.get("timeSeries", []):
        out.put(True, "time-series-single", x["ns"].split(".", 1)[1], x["time"])
    judged = set(STEPS) | {"orphans"}
    judged -= s.unjudged | (set() if "timeSeries" in t else {"time-series-single"}) | {"mixed-versions"}
    t["rules"] = out.rules
    t["rulesAllowed"] = [r for r in out.allowed if r not in out.rules]
    t["judged"] = sorted(judged)
    t["suggest"] = [dict(step=a, ns=b) for a, b in sorted({(STEPS[r["rule"]], r["ns"]) for r in out.rules
                                                            if r["rule"] in STEPS})]
