#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# old_dumps.sh MONGORESHAPE - a dump of a server before 3.0, whose indexes are in system.indexes.bson: they follow the
# plan, those of collections that no step names stay, and damage in that file is reported.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool
# keys FILE: the index keys and names of a metadata file
keys() { grep -o '"key":{[^}]*}}\|"name":"[^"]*"\|"unique":[a-z0-9]*' "$1" 2>&1 | tr -d '\n'; }

mkdir -p case/in
printf '{"_id":1,"a":1,"b":2}\n' | tee case/in/t.c.jsonl case/in/t.other.jsonl > case/in/t.bare.jsonl
cat > case/in/t.system.indexes.jsonl << 'END'
{"v":1,"key":{"_id":1},"ns":"t.c","name":"_id_"}
{"v":1,"key":{"_id":1},"ns":"t.other","name":"_id_"}
{"v":1,"key":{"a":1},"ns":"t.c","unique":true,"name":"a_1"}
{"v":1,"key":{"b":1},"ns":"t.other","name":"b_1"}
{"v":1,"key":{"b":1},"ns":"t.gone","name":"b_1"}
END
"$casetool" load case in
rm -f in/t/*.metadata.json
printf 'database: t\nsteps: [{ rename: { in: c, fields: { a: z } } }]\n' > plan.yaml
c='"key":{"_id":{"$numberInt":"1"}}"name":"_id_""key":{"z":{"$numberInt":"1"}}"unique":true"name":"z_1"'
other='"key":{"_id":{"$numberInt":"1"}}"name":"_id_""key":{"b":{"$numberInt":"1"}}"name":"b_1"'
"$tool" run plan.yaml -i in -o out -q
is "a collection that changes" "$c" "$(keys out/t/c.metadata.json)"
is "one that does not" "$other" "$(keys out/t/other.metadata.json)"
is "one without indexes" "no" "$([ -e out/t/bare.metadata.json ] && echo yes || echo no)"
cmp in/t/system.indexes.bson out/t/system.indexes.bson
is "the file itself stays" 0 $?
# Back, with a residue: one metadata file that was not there would make mongorestore pass over system.indexes.bson.
"$tool" run plan.yaml -i in -o there -q --write-residue residue
"$tool" invert plan.yaml > back.yaml
"$tool" run back.yaml -i there -o back -q --residue residue
is "the way back" "" "$(rm -f back/mongoreshape.manifest.json; diff -r in back 2>&1)"
cp -r in renamed
mv renamed/t renamed/live
"$tool" run <(sed 's/: t$/: live/' plan.yaml) -i renamed -o out2 -q
is "of a folder that was renamed" "$c$other" "$(keys out2/live/c.metadata.json)$(keys out2/live/other.metadata.json)"
tar -cf in.tar in
"$tool" run plan.yaml -i in.tar -o packed -q
is "from a container" "$c" "$(keys packed/t/c.metadata.json)"
for patterns in '--nsInclude t.c' '--nsExclude *.system.* --nsExclude t.other'; do
    rm -rf narrow
    # shellcheck disable=SC2086
    (set -f; "$tool" run plan.yaml -i in -o narrow -q $patterns)
    is "with $patterns" "$c" "$(keys narrow/t/c.metadata.json)"
    is "the file itself, with $patterns" no "$([ -e narrow/t/system.indexes.bson ] && echo yes || echo no)"
done
head -c 300 in/t/system.indexes.bson > cut && cp cut in/t/system.indexes.bson
"$tool" run plan.yaml -i in -o broken > log 2>&1
is "damage" 3 $?
is "damage is told with file and place" 1 "$(grep -c 'system.indexes.bson: byte [0-9]*: ' log)"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
