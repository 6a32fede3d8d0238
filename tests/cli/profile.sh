#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# profile.sh MONGORESHAPE - reads and writes recorded by a profiler (system.profile in a dump), and the resulting
# advice.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool

# has NAME TEXT FILE
has() { is "$1" yes "$(grep -qF -- "$2" "$3" && echo yes || echo "no: $(head -c 2000 "$3")")"; }

mkdir -p noted/in
for ((i = 0; i < 120; i++)); do
    printf '{"_id":%d,"name":"customer %03d","mail":"c%d@example.org"}\n' $((i + 1)) $i $i
done > noted/in/t.customers.jsonl
for ((i = 0; i < 400; i++)); do
    printf '{"_id":%d,"customerId":%d,"customerName":"customer %03d","lines":[{"no":1,"qty":%d}]}\n' \
        $((i + 1000)) $((i % 120 + 1)) $((i % 120)) "$i"
done > noted/in/t.orders.jsonl
cat > notes.py << 'P'
import json

at = 0


def note(n, op, coll, command, **more):
    global at
    for _ in range(n):
        at += 1
        print(json.dumps({"op": op, "ns": "t." + coll, "command": command, "millis": 0,
                          "ts": {"$date": {"$numberLong": str(1700000000000 + at * 1000)}}, "appName": "shop", **more}))


def reads(n, coll, **find):
    note(n, "query", coll, {"find": coll, **find})


def aggregate(n, coll, *pipeline):
    note(n, "command", coll, {"aggregate": coll, "pipeline": list(pipeline), "cursor": {}})


aggregate(60, "orders", {"$match": {"_id": 1}}, {"$lookup": {"from": "customers", "localField": "customerId"}})
reads(7, "orders", filter={"$and": [{"customerId": 3}, {"total": 1}]})
reads(2, "orders", filter={}, projection={"lines.no": 1, "lines.qty": 1, "_id": 0})
reads(2, "orders", filter={"total": 1}, projection={"lines": 0})
reads(1, "orders", filter={"total": 1}, projection={"lines": {"$slice": 3}})
note(5, "command", "orders", {"count": "orders", "query": {"lines.0.no": 1}})
aggregate(40, "orders", {"$unwind": "$lines"},
          {"$group": {"_id": "$customerId", "all": {"$sum": "$lines.qty"}, "n": {"$sum": 1}}})
aggregate(1, "orders", {"$project": {"x": "$total"}}, {"$group": {"_id": 1, "s": {"$sum": "$x"}}})
note(3, "insert", "orders", {"insert": "orders"}, ninserted=4)
note(2, "update", "orders", {"q": {}, "u": {"$set": {"lines.$[].qty": 1, "total": 2}}}, nModified=5)
note(1, "update", "orders", {"q": {"_id": 1}, "u": {"$set": {"total": 2}}}, nModified=0)
note(9, "update", "customers", {"q": {}, "u": [{"$set": {"name": "$mail"}}]}, nModified=1)
note(1, "command", "customers", {"findAndModify": "customers", "query": {}, "update": {"name": 1}})
note(1, "remove", "customers", {"q": {}, "limit": 0}, ndeleted=3)
# Of these nothing is counted.
reads(5, "elsewhere", filter={"x": 1})
note(5, "query", "orders", {"find": "orders", "filter": {}}, appName="mongodump")
note(5, "query", "orders", {"find": "orders", "comment": "mongoreshape inspect"})
note(5, "query", "orders", {"find": "orders", "filter": {"x": 1}}, errMsg="no")
note(5, "getmore", "orders", {"getMore": 1})
note(5, "command", "orders", {"explain": {}})
note(5, "command", "orders", {})
P
python3 notes.py > notes
cp notes noted/in/t.system.profile.jsonl
"$casetool" load noted noted.dump

# ---- what is counted, and what is said by it ----
"$tool" inspect noted.dump > said
source='135 operations in system.profile, 2023-11-14T22:13:21Z to 2023-11-14T22:15:35Z'
sed 's/^  *//' said | tr '\n' ' ' > flat
has "where figures come from" "how often they are read and written: $source" flat
has "heavy joins" "! join-heavy  customerId: 60 reads want customers as well, 58 do not: " flat
has "with their source" "would spare the join (by system.profile)" flat
has "sums" "! sum-on-read  lines.qty: summed up 40 times for 22 writes: a stored sum costs less (by system.profile)" flat
has "worn copies" "! copy-worn  customerName: its original is written 9 times for 58 reads" flat
"$tool" inspect noted.dump --json > noted.json
"$tool" inspect noted.dump --json --jobs 1 > one.json
is "the same for any number of threads" same "$(cmp noted.json one.json && echo same)"
python3 - > said << 'P'
import json

w = json.load(open("noted.json"))["workload"]
print(json.dumps(w["collections"], sort_keys=True))
json.dump({k: w[k] for k in ("workload", "collections")}, open("told", "w"))
P
want='{"t.customers": {"delete": 3, "update": {"name": 9}, "writes": 10}, "t.orders": {"find": {"*": 41, "customerId": 7, '
want+='"lines": 2, "lines.no": 5, "total": 3}, "insert": 12, "sum": {"lines.qty": 40}, "together": {"t.customers": 60}, '
want+='"update": {"lines.qty": 10, "total": 10}, "writes": 10}}'
is "what is counted" "$want" "$(cat said)"
"$tool" inspect noted.dump --workload told > said
has "what is told goes before what is measured" "(by --workload)" said
is "and is not read" 0 "$(grep -c system.profile said)"
"$tool" inspect noted.dump --ns 't.orders' > said
is "a profile that is not asked for" 0 "$(grep -c system.profile said)"

# ---- what it cannot tell ----
sed 's/"millis": 0/"millis": 150/' notes > noted/in/t.system.profile.jsonl
"$casetool" load noted slow.dump
"$tool" inspect slow.dump > said
sed 's/^  *//' said | tr '\n' ' ' > flat
has "of slow operations alone" "none quicker than 150 ms: it does not note those" flat
head -n 99 notes > noted/in/t.system.profile.jsonl
"$casetool" load noted few.dump
"$tool" inspect few.dump > said
has "too few" "system.profile has 99 operations on these collections: too few to tell" said
is "no advice by too few" 0 "$(grep -c join-heavy said)"
python3 - > noted/in/t.system.profile.jsonl << 'P'
import json

for i in range(9000):
    print(json.dumps({"op": "query", "ns": "t.orders", "command": {"filter": {"field%d" % i: 1}}, "millis": 0}))
P
"$casetool" load noted many.dump
"$tool" inspect many.dump > said
has "more paths than are counted" "not looked at: of the operations in system.profile " said
{ cat notes; printf '{"op":1,"ns":2,"command":3}\n{"op":"query","ns":"t.orders","command":[1]}\n{}\n'
  printf '{"op":"command","ns":"t.orders","command":{"aggregate":"orders","pipeline":[1,{},{"$lookup":7},{"$group":3}]}}\n'
  for _ in 1 2 3; do printf '{"op":"insert","ns":"t.orders","ninserted":{"$numberLong":"9223372036854775807"}}\n'; done
  printf '{"op":"update","ns":"t.orders","command":{"u":[7,{},{"$set":1}],"updates":[1,{"u":{"$inc":{"a.0.$":1}}}]}}\n'
} > noted/in/t.system.profile.jsonl
"$casetool" load noted odd.dump
"$tool" inspect odd.dump > said
has "odd notes" "141 operations in system.profile" said
"$tool" inspect odd.dump --json > odd.json
has "no number goes over" "9223372036854775807" odd.json

# ---- damage ----
head -c 9000 noted.dump/t/system.profile.bson > cut && mv cut noted.dump/t/system.profile.bson
"$tool" inspect noted.dump > said 2>&1
is "damage" 3 $?
has "has its place" "t.system.profile: document" said
"$tool" inspect noted.dump --keep-going > said 2>&1
is "going on behind it" 1 $?
sed 's/^  *//' said | tr '\n' ' ' > flat
has "which is said" "since system.profile is damaged: t.system.profile" flat
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
