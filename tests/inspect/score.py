#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""score.py [--bar|--each] [-v] SETS RESULTS - how much of what is true of the sets RESULTS/NAME.json says.

RESULTS/NAME.json is the output of `mongoreshape inspect --json` on SETS/NAME/dump. Counted over all sets: recall and
precision of references and of broken rules (those that a set judges), and figures that are not exact. What a truth
allows is neither asked for nor wrong. -v names each miss. --bar ends with 1 unless recall is 0.95 and precision 0.9 of
references and of rules, no set is below 0.8 in either of its references, and every figure is exact; --each asks for the
last two alone, as is right for a share of the sets.
"""
import datetime
import json
import os
import sys


def bare(path):
    """A path without the marks of arrays, and without what follows names that are data or a family of names."""
    return (path or "").replace("[]", "").split(".*")[0].rstrip("*").rstrip("_")


def link(ref):
    """A reference as something to compare: composite keys in any order of their parts."""
    a, b = ref["from"], ref["to"]
    parts = sorted(zip([p.replace("[]", "") for p in a["paths"]], [p.replace("[]", "") for p in b["paths"]]))
    return a["ns"], b["ns"], tuple(parts)


def turned(key):
    return key[1], key[0], tuple(sorted((b, a) for a, b in key[2]))


def shown(key):
    return "%s.%s -> %s.%s" % (key[0], "+".join(a for a, _ in key[2]), key[1], "+".join(b for _, b in key[2]))


def rule_key(r):
    return r["rule"], r["ns"], r.get("index") or bare(r.get("path"))


class Figures:
    """Figures compared so far, and a line for each that differs."""

    def __init__(self):
        self.total, self.wrong = 0, []

    def exact(self, what, got, want):
        self.total += 1
        if got != want:
            self.wrong.append("%s: %s, not %s" % (what, got, want))

    def close(self, what, got, want):
        """Averages and quantiles: within 1 %; a quantile of small whole numbers within 1."""
        number = isinstance(got, (int, float))
        step = 1 if isinstance(want, int) and want < 100 else 1e-6
        self.total += 1
        if not number or abs(got - want) > max(abs(want) / 100, step):
            self.wrong.append("%s: %s, not %s" % (what, got, want))

    def spread(self, what, got, want):
        for k, v in (want or {}).items():
            compare = self.close if k in ("avg", "p50", "p99") else self.exact
            compare("%s %s" % (what, k), (got or {}).get(k), v)

    def some(self, what, got, want, names):
        for k in names:
            self.exact("%s %s" % (what, k), (got or {}).get(k), want[k])


def by_path(entries, ns, path, field):
    """The first entry of a namespace and a path that has a field."""
    for e in entries:
        if e["ns"] == ns and bare(e["path"]) == bare(path) and e.get(field) is not None:
            return e[field]
    return None


def references(truth, got, fig):
    """Found, missed and wrong references; figures of those found."""
    want = {link(r): r for r in truth["references"]}
    either = {turned(k): k for k, r in want.items() if r.get("either")}
    allowed = {link(r) for r in truth["allowed"]}
    found, wrong = set(), []
    for r in got["references"]:
        key = link(r)
        if key in want and key not in found:
            found.add(key)
            w = want[key]
            names = ["values", "distinct", "matched"] + ([] if w.get("polymorphic") else ["orphans", "orphanDistinct"])
            fig.some(shown(key), r, w, names + ["match"] * ("match" in w))
            fig.spread(shown(key) + " per parent", r.get("perParent"), w["perParent"])
        elif key in either:
            found.add(either[key])
        elif key not in allowed and turned(key) not in allowed:
            wrong.append(("twice  " if key in found else "wrong  ") + shown(key))
    return len(want), len(found), ["missed " + shown(k) for k in want if k not in found], wrong


def date_of(text):
    return datetime.date.fromisoformat(str(text)[:10])


def special(truth, got, cols, fig):
    """Copies, two-way references, growth, time series and trees."""
    for c in truth["copies"]:
        same = [g for g in got.get("copies", []) if g["from"]["ns"] == c["from"]["ns"] and
                bare(g["from"]["path"]) == bare(c["from"]["path"])]
        fig.some("copy %s" % c["from"]["path"], same[0] if same else None, c, ("compared", "stale"))
    for t in truth.get("twoWay", []):
        same = [r["twoWay"] for r in got["references"] if r.get("twoWay") and r["from"]["ns"] == t["b"]["ns"] and
                r["from"]["paths"] == [t["b"]["path"]]]
        fig.some("two-way %s" % t["b"]["path"], same[0] if same else None, t, ("agree", "gaps", "disagree"))
    if "growth" in truth:
        t = truth["growth"]
        limit = cols.get(t["ns"], {}).get("limit") or {}
        fig.exact("growth of %s by" % t["ns"], bare(limit.get("path")), bare(t["path"]))
        day = limit.get("reaches16MiB")
        off = abs((date_of(day) - date_of(t["reaches16MiB"])).days) if day else None
        fig.exact("%s: 16 MiB within the tolerance of %s" % (t["ns"], t["reaches16MiB"]),
                  off is not None and off <= t["toleranceDays"], True)
    for t in truth.get("timeSeries", []):
        series = cols.get(t["ns"], {}).get("timeSeries")
        fig.some("time series of %s" % t["ns"], series, t, ("time", "series", "count"))
        fig.close("time series step", (series or {}).get("stepSeconds"), t["stepSeconds"])
    if "tree" in truth:
        t = truth["tree"]
        fig.some("tree of %s" % t["ns"], cols.get(t["ns"], {}).get("tree"), t, ("path", "roots", "depth", "cycles"))


def rules(truth, got):
    """Broken rules asked for, found, and a line for each missed or wrong one."""
    judged = set(truth["judged"])
    want = {rule_key(r) for r in truth["rules"] if r["rule"] in judged}
    said = {rule_key(r) for r in got.get("rules", []) if r["rule"] in judged}
    wrong = [r for r in said - want if not any(
        a["rule"] == r[0] and a.get("ns", r[1]) == r[1] and ("path" not in a or bare(a["path"]) == r[2])
        for a in truth["rulesAllowed"])]
    text = ["rule missed %s %s %s" % r for r in sorted(want - said)]
    return len(want), len(want & said), text, ["rule wrong  %s %s %s" % r for r in sorted(wrong)]


def score(truth, got):
    assert got.get("inspect") == 1, "not the output of inspect, format 1"
    fig = Figures()
    refs = references(truth, got, fig)
    cols = {c["ns"]: c for c in got["collections"]}
    paths = [dict(p, ns=ns) for ns, c in cols.items() for p in c.get("paths", [])]
    for ns, c in truth["collections"].items():
        fig.some(ns, cols.get(ns), c, ("documents", "bytes"))
        fig.spread(ns + " size", cols.get(ns, {}).get("size"), c["size"])
    for x in truth["lengths"]:
        wanted = {k: x[k] for k in ("min", "avg", "p50", "p99", "max", "arrays")}
        fig.spread("%s.%s length" % (x["ns"], x["path"]), by_path(paths, x["ns"], x["path"], "length"), wanted)
    special(truth, got, cols, fig)
    return refs, rules(truth, got), fig


def share(a, b):
    return a / b if b else 1.0


def main():
    args = [a for a in sys.argv[1:] if a[:1] != "-"]
    if len(args) != 2:
        sys.exit("usage: score.py [--bar|--each] [-v] SETS RESULTS")
    low, total, sets = [], [0] * 8, sorted(os.listdir(args[0]))
    for name in [s for s in sets if os.path.exists(os.path.join(args[0], s, "truth.json"))]:
        with open(os.path.join(args[0], name, "truth.json")) as f:
            truth = json.load(f)
        try:
            with open(os.path.join(args[1], name + ".json")) as f:
                refs, broken, fig = score(truth, json.load(f))
        except (OSError, ValueError, AssertionError, KeyError) as e:
            sys.exit("score.py: no result of %s: %s" % (name, repr(e)))
        n = [refs[0], refs[1], len(refs[3]), broken[0], broken[1], len(broken[3]), fig.total, len(fig.wrong)]
        total = [a + b for a, b in zip(total, n)]
        if min(share(n[1], n[0]), share(n[1], n[1] + n[2])) < .8:
            low.append(name)
        print("%-14s references %3d of %3d, %2d wrong; rules %3d of %3d, %2d wrong; figures %4d, %2d wrong" %
              (name, n[1], n[0], n[2], n[4], n[3], n[5], n[6], n[7]))
        if "-v" in sys.argv:
            print("".join("    %s\n" % x for x in refs[2] + refs[3] + broken[2] + broken[3] + fig.wrong), end="")
    t = total
    marks = share(t[1], t[0]), share(t[1], t[1] + t[2]), share(t[4], t[3]), share(t[4], t[4] + t[5])
    print("references: recall %.3f precision %.3f; rules: recall %.3f precision %.3f; " % marks +
          "figures: %d of %d exact" % (t[6] - t[7], t[6]) + ("; under 0.8: " + " ".join(low)) * bool(low))
    each = not low and not t[7]
    good = marks[0] >= .95 and marks[1] >= .9 and marks[2] >= .95 and marks[3] >= .9 and each
    sys.exit(("--bar" in sys.argv and not good) or ("--each" in sys.argv and not each))


if __name__ == "__main__":
    main()
