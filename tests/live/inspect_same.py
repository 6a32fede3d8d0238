# SPDX-License-Identifier: Apache-2.0
"""inspect_same.py same|sample DUMP SERVER - what an inspection of a server says, held against that of its dump.

same: every figure, but for what depends on the order in which documents were met (the dump of a test is in the order
in which it was made, a server is read in that of `_id`): which of equally large documents is named, which of two
forms of a value is shown, in which order paths stand, and references and rules with them.
sample: the references are those of the dump, each that
looked values up with bounds, and no rule is there that the dump does not break.
"""
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def without_order(d):
    del d["tool"], d["input"]
    for c in d["collections"]:
        c.get("size", {}).pop("maxId", None)
        c.get("indexes", []).sort(key=lambda index: index["name"])
        for index in c.get("indexes", []): # only a server knows how often an index was used, and not each says it
            index.pop("used", None)
            index.pop("usedSince", None)
        c.get("paths", []).sort(key=lambda p: p["path"])
        for p in c.get("paths", []):
            for f in p.get("frequent", []):
                f["value"] = len(str(f["value"])) > 0
    for part in ("references", "candidates", "copies"):
        d[part].sort(key=lambda r: json.dumps([r["from"], r.get("to", r.get("of"))], sort_keys=True))
    d["rules"].sort(key=lambda r: json.dumps([r["ns"], r["rule"], r.get("path"), r.get("index")]))
    d["suggestions"].sort(key=lambda x: json.dumps(x, sort_keys=True))
    return d


def differences(a, b, at=""):
    if type(a) is not type(b):
        yield "%s: %r, %r" % (at, a, b)
    elif isinstance(a, dict):
        for name in sorted(set(a) | set(b)):
            yield from differences(a.get(name), b.get(name), at + "." + name)
    elif isinstance(a, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, "%s[%d]" % (at, i))
    elif a != b:
        yield "%s: %r, %r" % (at, a, b)


def reference(r):
    return (r["from"]["ns"], tuple(r["from"]["paths"]), r["to"]["ns"], tuple(r["to"]["paths"]))


def rule(r):
    return (r["rule"], r["ns"], r.get("path"))


def looked_up(d):
    """References into a sampled collection say what was looked up, and that lies within its own bounds."""
    some = {c["ns"] for c in d["collections"] if "share" in c}
    for r in d["references"]:
        said = r.get("lookedUp")
        if (said is not None) != (r["to"]["ns"] in some):
            yield "lookedUp: %s" % (reference(r),)
        elif said:
            low, high = said["orphanShare"]
            if not 0 <= low <= said["orphanDistinct"] / said["distinct"] <= high <= 1:
                yield "bounds: %s" % (reference(r),)


def main(how, dump, server):
    a, b = load(dump), load(server)
    if how == "same":
        said = [] if not b["input"]["sampled"] else ["sampled"]
        said += list(differences(without_order(a), without_order(b)))
    else:
        said = [] if b["input"]["sampled"] and 0 < b["input"]["share"] < 1 else ["not sampled"]
        whole, some = set(map(reference, a["references"])), set(map(reference, b["references"]))
        said += ["lost: %s" % (r,) for r in whole - some] + ["new: %s" % (r,) for r in some - whole]
        said += ["rule: %s" % (r,) for r in set(map(rule, b["rules"])) - set(map(rule, a["rules"]))]
        said += looked_up(b)
    print("; ".join(map(str, said[:5])))
    return 1 if said else 0


sys.exit(main(*sys.argv[1:]))
