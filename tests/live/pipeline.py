# SPDX-License-Identifier: Apache-2.0
"""pipeline.py [-v] OBJ CASE... - what `explain --pipeline` shows, run on the server at MONGODB_URI.

A case whose steps are all pipelines must leave the documents of the offline tool, byte for byte but with `_id` first as
servers keep it. Where the offline tool refuses documents, a filter beside the pipeline must find some, or the server
must end it: a pipeline that says nothing is wrong. Closes with the sums.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from urllib.parse import unquote


# What the server of the tests says where a server of MongoDB does it.
LACKS = ("not supported by Secantus", "the Rust server does not support", "internal server error", "cannot rename view",
         "An existing index has the same name as the requested")

DBREF = re.compile(r"\$\$\w+(\.\w+)*\.\$(id|ref|db)\b")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    return done.returncode, done.stdout, done.stderr


def canonical(line):
    pairs = json.loads(line, object_pairs_hook=lambda p: p)
    pairs.sort(key=lambda p: p[0] != "_id")
    return json.dumps(pairs)


class Case:
    def __init__(self, obj, folder, work):
        self.obj, self.folder, self.work = obj, folder, work

    def tool(self, *words):
        return run(f"{self.obj}/mongoreshape", *words)

    def ask(self, db, command):
        status, out, err = run(f"{self.obj}/ask", db, json.dumps(command))
        return status, json.loads(out) if out.strip() else {}, err

    def steps(self):
        plan, given = f"{self.folder}/plan.yaml", f"{self.work}/in"
        status, out, _ = self.tool("explain", plan, "--pipeline", "--json", "-i", given)
        return json.loads(out)["steps"] if status == 0 else None

    def found(self, part):
        """What a filter or a pipeline finds: (documents, None), or what keeps it from looking."""
        stages = part.get("pipeline") or [{"$match": part["filter"]}]
        look = {"aggregate": part["coll"], "pipeline": stages, "cursor": {"batchSize": 100000}, **part["options"]}
        status, reply, err = self.ask(part["db"], look)
        return ([], err) if status else (reply["cursor"]["firstBatch"], None)

    def step(self, s):
        """Runs one step: None, or what keeps a pipeline from doing it, and whether the server has ended it."""
        for c in s["counts"]:
            docs, err = self.found(c)
            if err or docs:
                return (err, True) if err else (f"{len(docs)} {c['why']}", False)
        for w in s["writes"]:
            status, _, err = self.ask(w["db"], {"aggregate": w["coll"], "pipeline": w["pipeline"], "cursor": {},
                                                  **w["options"]})
            if status:
                return err, True
        for r in s["removes"]:
            docs, err = self.found(r) if "pipeline" in r else (None, None)
            q = r["filter"] if docs is None else {"_id": {"$in": [d["_id"] for d in docs]}}
            if not err:
                delete = {"q": q, "limit": 0, **r["options"]}
                status, _, err = self.ask(r["db"], {"delete": r["coll"], "deletes": [delete]})
            if err:
                return err, True
        for c in s["commands"]:
            status, _, err = self.ask(c["db"], c["command"])
            if status:
                return err, True
        return None

    def wanted(self):
        found = {}
        for db in os.listdir(f"{self.work}/expect"):
            top = f"{self.work}/expect/{db}"
            for name in os.listdir(top) if os.path.isdir(top) else []:
                if name.endswith(".bson"):
                    out = run(f"{self.obj}/casetool", "show", f"{top}/{name}")[1]
                    found[f"{db}.{unquote(name[:-5])}"] = sorted(canonical(line) for line in out.splitlines())
        return found

    def there(self, names):
        found = {n: [] for n in names}
        for line in run(f"{self.obj}/ask", "--picture")[1].splitlines():
            name, _, rest = line.partition(" {")
            if rest and name in found:
                found[name].append(canonical("{" + rest))
        return {n: sorted(d) for n, d in found.items()}

    def told_of(self, db, renamed):
        """What the offline tool wrote of each collection, and what the server has: {name: (indexes, validator)}."""
        want, there = {}, {}
        for path in glob.glob(f"{self.work}/expect/{db}/*.metadata.json"):
            meta = json.load(open(path))
            want[meta["collectionName"]] = (meta.get("indexes", []), meta.get("options", {}))
        reply = self.ask(db, {"listCollections": 1})[1]
        for c in reply["cursor"]["firstBatch"]:
            listed = self.ask(db, {"listIndexes": c["name"]})[1]
            there[c["name"]] = (listed["cursor"]["firstBatch"], c.get("options", {}))

        def plain(pair): # a rename loses the validator on the server from PyPI
            rules = [pair[1].get(k) or "" for k in ("validator", "validationLevel", "validationAction")]
            rules = [] if renamed or not rules[0] else rules
            return sorted((i["name"], list(i["key"]), i.get("unique")) for i in pair[0]), rules

        views = [n for n, p in want.items() if "viewOn" in p[1]] # the server from PyPI makes collections of them
        return [{n: plain(p) for n, p in of.items() if n not in views} for of in (want, there)]

    def tells(self, steps):
        """Where all steps are commands, catalogues are compared as well."""
        for db in {s["db"] for s in steps} if all(s["commands"] for s in steps) else ():
            renamed = any("renameCollection" in c["command"] for s in steps for c in s["commands"])
            want, there = self.told_of(db, renamed)
            if want != there:
                return f"{db}\n  offline {want}\n  server  {there}"
        return None

    def differs(self):
        want = self.wanted()
        there = self.there(want)
        for name, docs in want.items():
            if docs != there[name]:
                return f"{name}\n  offline {[d for d in docs if d not in there[name]]}" \
                       f"\n  server  {[d for d in there[name] if d not in docs]}"
        return None

    def verdict(self):
        status, out, _ = run(f"{self.obj}/livetool", "load", self.folder, self.work)
        if status:
            return "skipped", out.strip()[:150]
        if any("timeseries" in open(f).read() for f in glob.glob(f"{self.work}/in/*/*.metadata.json")):
            return "skipped", "the server of the tests has no time series"
        if DBREF.search(open(f"{self.folder}/plan.yaml").read()) and os.environ.get("TEST_SERVER", "py") == "py":
            return "skipped", "the server from PyPI has no parts of a DBRef behind a variable"
        steps = self.steps()
        no = [s["reason"] for s in steps or [] if "reason" in s]
        if not steps or no:
            return "client", (no or ["its plan is wrong"])[0]
        status, _, err = self.tool("run", f"{self.folder}/plan.yaml", "-i", f"{self.work}/in", "--max-refused", "1000",
                                   "-o", f"{self.work}/expect", "--compress", "none")
        if status > 1:
            return "skipped", err.strip()[:150]
        for s in steps:
            why = self.step(s)
            if why and any(words in why[0] for words in LACKS):
                return "skipped", why[0].strip()[:150]
            if why:
                client = status or not why[1] or "E11000" in why[0] # two documents that are equal count once offline
                return "told" if client else "FAIL", why[0].strip()[:300]
        if status:
            return "FAIL", "the offline tool refuses documents, and the pipeline says nothing"
        why = self.differs() or self.tells(steps)
        return ("FAIL", why) if why else ("same", "")


def main(words):
    verbose = words[0] == "-v"
    obj, *cases = words[verbose:]
    count = {}
    for folder in cases:
        work = tempfile.mkdtemp()
        kind, why = Case(obj, folder, work).verdict()
        count[kind] = count.get(kind, 0) + 1
        if verbose or kind == "FAIL":
            print(kind, "/".join(folder.split("/")[-2:]), why)
        run(f"{obj}/livetool", "drop", folder)
        shutil.rmtree(work)
    same, told = count.get("same", 0), count.get("told", 0)
    print(f"pipelines: {same} with the documents of the offline tool, {told} that say why not, "
          f"{count.get('client', 0)} for the client")
    print(f"{same + told} passed, {count.get('FAIL', 0)} failed, {count.get('skipped', 0)} skipped")
    return count.get("FAIL", 0) > 0


sys.exit(main(sys.argv[1:]))
