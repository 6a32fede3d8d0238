#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspect.sh MONGORESHAPE - the report of inspect on a dump, on damage, on hints and workloads, within its memory.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../sanitized.bash"
. "$(dirname "$0")/begin.bash" "$1" casetool

# has NAME TEXT FILE
has() { is "$1" yes "$(grep -qF -- "$2" "$3" && echo yes || echo "no: $(head -c 2000 "$3")")"; }
# lacks NAME TEXT FILE
lacks() { is "$1" no "$(grep -qF -- "$2" "$3" && echo yes || echo no)"; }

# ---- what the page shows ----
ln -s "$root/dumps" dumps
awk '$0 == "```console" { on = 1; next } on && $0 == "```" { exit } on' "$root/docs/INSPECT.md" > want
{ head -n 1 want; PATH=$(dirname "$tool"):$PATH bash -c "$(sed -n '1s/^\$ //p' want)" 2>&1; } > got
is "docs/INSPECT.md shows it" "$(cat want)" "$(cat got)"

# ---- a small design with mistakes ----
mkdir -p case/in
for ((i = 0; i < 120; i++)); do
    printf '{"_id":%d,"name":"customer %03d","mail":"c%d@example.org"}\n' $((i + 1)) $i $i
done > case/in/t.customers.jsonl
for ((i = 0; i < 400; i++)); do
    kind='"total":'$((i * 7))
    [ $((i % 20)) = 0 ] && kind='"total":"'$((i * 7))'"'
    printf '{"_id":%d,"customerId":%d,"customerName":"customer %03d",%s,"stars":{"65a1006%017d":1,"65a1007%017d":2}}\n' \
        $((i + 1000)) $((i % 125 + 1)) $((i % 125 - (i % 40 == 0))) "$kind" $i $i
done > case/in/t.orders.jsonl
"$casetool" load case in
"$tool" inspect in > said
is "it is inspected" 0 $?
has "the reference" "customerId  int  -> customers._id  15 orphans" said
has "orphans" "! orphans  customerId: 15 of 400 values name no customers._id" said
has "no index" "! reference-without-index  customerId" said
has "stale copies" "! stale-copies  customerName: 9 of 385 copies of customers.name differ from it  [copy]" said
has "types" "! mixed-types  total: 20 text among 380 numbers  [cast]" said
has "names" "! names-are-data  stars.*: 800 different field names hold data" said
"$tool" inspect in -q > said 2>&1
is "quiet" "" "$(cat said)"
"$tool" run <(printf 'steps: []\n') -i in -o - -q | "$tool" inspect - --json > from-pipe
"$tool" inspect in --json > from-folder
is "a pipe has the same" "$(sed 's/"input":{[^}]*}//' from-folder | cksum)" "$(sed 's/"input":{[^}]*}//' from-pipe | cksum)"
"$tool" inspect in -q --suggest plan.yaml
cp in/t/orders.bson kept
"$tool" inspect in -q --suggest in/t/orders.bson > said 2>&1
is "a plan over a file that is there" 2 $?
has "is refused by name" "in/t/orders.bson: it is there and no plan as inspect wrote it; name another file" said
cmp -s kept in/t/orders.bson
is "which stays as it is" 0 $?
"$tool" inspect in -q --suggest plan.yaml
is "a suggested plan is replaced" 0 $?

# ---- UUIDs of old drivers: the same bytes are no equal values ----
mkdir -p uuids/in
for ((i = 0; i < 60; i++)); do
    bytes=$(printf '%032x' $((i * 7919 + 1)) | sed 's/../\\x&/g')
    text=$(printf '%b' "$bytes" | base64)
    [ $i -lt 30 ] && printf '{"_id":{"$binary":{"base64":"%s","subType":"04"}}}\n' "$text" >> uuids/in/t.users.jsonl
    printf '{"_id":%d,"userId":{"$binary":{"base64":"%s","subType":"03"}}}\n' $i "$text" >> uuids/in/t.orders.jsonl
done
"$casetool" load uuids uuids.in
"$tool" inspect uuids.in --suggest uuids.yaml > said 2>&1
has "they differ" "! reference-type-differs  userId: UUIDs of another binary subtype (3, 4) than users._id has" said
is "nothing is joined by them" no "$(grep -q 'embed:' uuids.yaml && echo yes || echo no)"
cp -r in "a dump"
"$tool" inspect "a dump" --suggest "a plan.yaml" > said 2> next
is "the next command can be pasted" "  mongoreshape check 'a plan.yaml' -i 'a dump'" "$(tail -n 1 next)"

# ---- long arrays of values: those of references get a collection between the two, a vector is left to its owner ----
mkdir -p long/in
for ((i = 0; i < 2001; i++)); do
    printf '{"_id":%d,"name":"member %d"}\n' $((i * 7 + 1000)) $i
done > long/in/t.members.jsonl
members=$(seq -s , 1000 7 15000) vector=$(seq -s , 1 2001)
for ((i = 0; i < 3; i++)); do
    printf '{"_id":%d,"members":[%s],"vector":[%s],"few":[%s]}\n' $i "$members" "$vector" \
        "$([ $i != 0 ] || seq -s , 1 2000)" >> long/in/t.teams.jsonl
done
"$casetool" load long long.in
"$tool" inspect long.in --suggest long.yaml > said 2>&1
has "references" "! long-reference-array  members: p99 2,001, max 2,001 values in one array" said
has "other values" "! long-reference-array  vector: p99 2,001, max 2,001 values in one array" said
lacks "2,000 are not too many" "-array  few" said
has "their cure" "[extract]" said
is "one of them is extracted" "path: members" "$(grep -o 'path: .*' long.yaml)"
has "the other one is not" "#   a cure: extract (decide what to do with it)" long.yaml
"$tool" run long.yaml -i long.in -o long.new -q > said 2>&1
is "the plan runs" 0 $?
is "each value is a document" 6003 "$("$tool" cat long.new/t/teams_members.bson | grep -c '"value"')"

# ---- names that YAML would take apart ----
for name in 'q\"q' 'l\u2028 l'; do # as JSON writes them
    rm -rf names names.in
    mkdir -p names/in
    for ((i = 0; i < 400; i++)); do
        printf '{"_id":%d,"%s":{"k%d":{"v":1}}}\n' $i "$name" $i
    done > names/in/t.c.jsonl
    "$casetool" load names names.in
    "$tool" inspect names.in -q --suggest names.yaml
    "$tool" check names.yaml -i names.in > said 2>&1
    is "a suggested plan with such a name can be read" 0 $?
    is "it has a step" 1 "$(grep -c objectToArray names.yaml)"
done
mkdir -p dollar/in
parts=$(printf '{"n":1},%.0s' {1..300})
for ((i = 0; i < 9; i++)); do
    printf '{"_id":%d,"$list":[%s]}\n' $i "${parts%,}"
done > dollar/in/t.c.jsonl
"$casetool" load dollar dollar.in
"$tool" inspect dollar.in -q --suggest dollar.yaml
has "why an array is not extracted" "extract (a name in its path holds a dot, a dollar or a star" dollar.yaml
mkdir -p stars/d
for c in 'x%2A' xy; do
    : > "stars/d/$c.bson"
    echo '{"indexes":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"a":1},"name":"a"},{"v":2,"key":{"a":1,"b":1},"name":"ab"}]}' \
        > "stars/d/$c.metadata.json"
done
"$tool" inspect stars -q --suggest stars.yaml
is "a step for a collection with a star in its name is left out" 1 "$(grep -c 'drop:' stars.yaml)"
has "and told" "the star in a collection's name would stand for others in a plan" stars.yaml
{ cat plan.yaml; echo '# mine'; } > edited.yaml
cp edited.yaml kept
"$tool" inspect in -q --suggest edited.yaml > said 2>&1
is "but not one that was changed" 2 $?
cmp -s kept edited.yaml
is "which is left alone" 0 $?
for option in --suggest --html; do
    "$tool" inspect in -q $option in/t/new.file > said 2>&1
    is "$option within the input" 2 $?
    has "is refused" "it is in the input, which must not change; name another file" said
    is "and is not written" no "$([ -e in/t/new.file ] && echo yes || echo no)"
done
"$tool" inspect in -q --html page.html
truncate -s 3G page.html
"$tool" inspect in -q --html page.html
is "of a page only the beginning is read" "0 yes" "$? $([ "$(stat -c %s page.html)" -lt 1000000 ] && echo yes)"
"$tool" run plan.yaml -i in -o page -q --html in/page.html > said 2>&1
is "a page of a run within its input" 2 $?
"$tool" run plan.yaml -i in -o new -q
is "the plan runs" 0 $?
"$tool" inspect new > said
lacks "and mends the copies" "stale-copies" said
lacks "and the types" "mixed-types" said
lacks "and the names" "names-are-data" said
lacks "and the index" "reference-without-index" said

# ---- what people know ----
printf '# known\n!orders.customerId -> t.customers._id\n' > hints
"$tool" inspect in --hints hints > said
lacks "a hint takes a reference away" "-> customers._id" said
printf '!orders.customerId -> customers._id   # not this one #1\n' > hints
"$tool" inspect in --hints hints > said
lacks "and so does one with a comment" "-> customers._id" said
printf 't.orders.total -> customers._id\n' > hints
"$tool" inspect in --hints hints > said
has "a hint brings one" "total  string" said
printf '\norders.nothing -> customers._id\n' > hints
"$tool" inspect in --hints hints > said 2>&1
is "a path that is not there" 2 $?
has "is told with its line" "--hints, line 2: the input has no path orders.nothing" said
printf '{"workload":1,"collections":{"t.orders":{"find":{"total":10},"sum":{"total":9},"together":{"t.customers":50}}}}' > load
"$tool" inspect in --workload load > said
has "heavy joins" "! join-heavy  customerId: 50 reads want customers as well" said
has "sums" "! sum-on-read  total" said
printf '{"workload":1,"collections":{"t.orders":{"finds":{}}}}' > load
"$tool" inspect in --workload load > said 2>&1
is "a key that is not known" 2 $?
has "gets the nearest" "unknown key finds; did you mean find?" said
for n in -1 '"10"' '{"$numberDouble":"NaN"}' null; do
    printf '{"workload":1,"collections":{"t.orders":{"find":{"total":%s}}}}' "$n" > load
    "$tool" inspect in --workload load > said 2>&1
    is "$n reads" 2 $?
    has "are named" "--workload: a number from 0 on is expected at find: total" said
done

# ---- from a dump to a plan: what is said on the way ----
mkdir -p way/in
for ((i = 0; i < 150; i++)); do
    printf '{"_id":{"$oid":"65a1006100000000%08x"},"name":"member %d"}\n' $((i * 7919 + 5)) $i
done > way/in/f.members.jsonl
awk -F'"' 'NR % 4 == 0 { printf "{\"_id\":{\"$oid\":\"%s\"},\"reason\":\"r%d\"}\n", $6, NR }' way/in/f.members.jsonl > way/in/f.bans.jsonl
awk -F'"' '{ for (k = 0; k < 3; k++) printf "{\"_id\":%d,\"memberId\":\"%s\"}\n", NR * 3 + k, $6 }' way/in/f.members.jsonl > way/in/f.posts.jsonl
"$casetool" load way forum
"$tool" inspect forum --suggest way.yaml > said 2> log
has "types are told in words" "memberId: ObjectIds as text, which members._id has not as text: \$lookup" said
has "and the reference" "(ObjectId as text)" said
is "what comes next" "way.yaml has 3 steps: read it, then
  mongoreshape check way.yaml -i forum" "$(cat log)"
"$tool" inspect forum --suggest /dev/stdout 2> log > said
is "nothing comes next where the plan is no file" "" "$(cat log)"
has "one to one by _id: who points is said" "reference: from" way.yaml
"$tool" check way.yaml -i forum > said 2>&1
is "the plan is right" 0 $?
lacks "and nobody is told that members without a ban name none" "references that name none" said
"$tool" inspect forum --ns f.members --suggest none.yaml 2>&1 > said | cat > log
is "a plan without steps is told" "none.yaml has no steps: nothing was found that a step mends without a decision of yours" "$(cat log)"

mkdir -p time/in
awk 'BEGIN { for (i = 0; i < 6000; i++) printf "{\"_id\":%d,\"deviceId\":\"d%d\",\"ts\":{\"$date\":{\"$numberLong\":\"%.0f\"}},\"v\":%d}\n", i, i % 10, 1617235200000 + i * 30000, i % 7 }' \
    > time/in/s.readings.jsonl
"$casetool" load time series
"$tool" inspect series -q --suggest series.yaml
has "a series keeps the name of its field" 'by: { deviceId: $deviceId }' series.yaml

# ---- buckets stay apart ----
mkdir -p buckets/in
awk 'BEGIN { for (i = 0; i < 25; i++) printf "{\"_id\":%d,\"name\":\"d%d\"}\n", i, i }' > buckets/in/s.devices.jsonl
awk 'function at(ms) { return sprintf("{\"$date\":{\"$numberLong\":\"%.0f\"}}", 1617235200000 + ms) }
    BEGIN { for (i = 0; i < 75; i++) {
        printf "{\"_id\":%d,\"device\":%d,\"start\":%s,\"end\":%s,\"items\":[", i, i % 25, at(i * 3600000), at((i + 1) * 3600000)
        for (k = 0; k < 6; k++) printf "%s{\"ts\":%s,\"v\":%d}", k ? "," : "", at(i * 3600000 + k * 1000), k
        print "]}" } }' > buckets/in/s.hours.jsonl
"$casetool" load buckets hours
"$tool" inspect hours > said
has "buckets name their device" "device  int  -> devices._id  0 orphans" said
lacks "and are not to be part of it" "one-to-few-apart" said
sed -i 's/"ts":/"x":/g; s/{"$date":{"$numberLong":"\([0-9]*\)"}}/"\1"/g' buckets/in/s.hours.jsonl
rm -rf hours && "$casetool" load buckets hours
"$tool" inspect hours > said
has "others could be" "one-to-few-apart" said
has "which a plan says" '`--suggest FILE` writes a plan' said
"$tool" inspect hours --suggest few.yaml > said 2> log
lacks "unless there is one" '`--suggest FILE` writes a plan' said

# ---- damage ----
mkdir -p bad/t
head -c 1000 in/t/orders.bson > bad/t/orders.bson
cp in/t/customers.bson bad/t
"$tool" inspect bad > said 2>&1
is "damage" 3 $?
has "has its place" "t.orders: document" said
"$tool" inspect bad --keep-going > said 2> log
is "going on behind it" 1 $?
has "is said" "not looked at: t.orders ends before its end: t.orders: document" said
"$tool" inspect in --jobs 0 > said 2>&1
is "no threads" 2 $?

# ---- DBRefs within a database and to another one; glob is as long as blog ----
mkdir -p dbrefs/in
for ((i = 0; i < 40; i++)); do
    printf '{"_id":%d,"author":{"$ref":"users","$id":%d,"$db":"identity"},"note":{"$ref":"notes","$id":%d}}\n' \
        $((i + 5000)) $((i % 20)) $((i % 15 + 300))
done > dbrefs/in/blog.posts.jsonl
for ((i = 0; i < 20; i++)); do printf '{"_id":%d,"a":1}\n' $i; done > dbrefs/in/identity.users.jsonl
for ((i = 300; i < 315; i++)); do printf '{"_id":%d,"b":1}\n' $i; done > dbrefs/in/blog.notes.jsonl
for ((i = 300; i < 307; i++)); do printf '{"_id":%d,"b":1}\n' $i; done > dbrefs/in/glob.notes.jsonl
"$casetool" load dbrefs in3
"$tool" inspect in3 > said
has "the collection of \$db" '  author.$id  int  -> identity.users._id' said
has "the collection of its own database" '  note.$id  int  -> notes._id  0 orphans' said
lacks "not one of a database as long" 'glob.notes._id' said

# ---- hostile names ----

printf '{"_id":1,"\\u001b[31mred":1,"a\\nb":{"x":[1,2]},"":3,"$ref":4}\n' > case/in/t.odd.jsonl
rm -rf in2 && "$casetool" load case in2
"$tool" inspect in2 --all > said
is "no control character is printed" 0 "$(LC_ALL=C tr -d '\n -~\200-\377' < said | wc -c)"
"$tool" inspect in2 -q --suggest odd.yaml
"$tool" check odd.yaml -i in2 -q
is "the plan is one" 0 $?

# ---- memory, and the same for any number of threads ----
printf '%s\n' 'database: g' 'steps:' \
    '  - grid: { into: items, by: { a: { $range: [0, 1500] }, b: { $range: [0, 1000] } }, fields: { ref: { $add: [{ $multiply: ["$a", 7919] }, "$b"] }, half: { $multiply: ["$b", 3] }, a: $a } }' \
    '  - grid: { into: keys, by: { k: { $range: [0, 400000] } }, id: { $multiply: ["$k", 3] }, fields: { code: { $concat: ["K-", { $toString: "$k" }] } } }' \
    > grid.yaml
"$tool" run grid.yaml -i in -o big -q || { echo "inspect: no large dump" >&2; exit 2; }
want=$("$tool" inspect big --json -j 1 | cksum)
is "two threads" "$want" "$("$tool" inspect big --json -j 2 | cksum)"
is "five threads" "$want" "$("$tool" inspect big --json -j 5 | cksum)"
if [ -x /usr/bin/time ] && ! sanitized "$tool"; then
    most=$(/usr/bin/time -f %M "$tool" inspect big -q -j 2 2>&1 | tail -n 1)
    is "1.9 million documents in 64 MiB ($most KiB)" yes "$([ "$most" -le 65536 ] && echo yes || echo no)"
else
    echo "inspect: memory skipped: no /usr/bin/time, or a build with sanitizers"
    skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
