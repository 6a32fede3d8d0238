#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ns_patterns.sh MONGORESHAPE - --nsInclude, --nsExclude and --ns that fit no collection: an error if nothing is left,
# else a warning; views over collections that they leave out.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool

mkdir -p case/in
printf '{"_id":1,"x":1}\n' | tee case/in/d.a.jsonl > case/in/d.b.jsonl
echo '{"options":{"viewOn":"a","pipeline":[{"$lookup":{"from":"b","localField":"x","foreignField":"x","as":"q"}}]},"indexes":[],"type":"view"}' \
    > case/in/d.v.metadata.json
"$casetool" load case in || exit 2
cp -r in less
rm less/d/b.*
printf 'steps: []\n' > nothing.yaml

# says NAME STATUS PATTERN ARGUMENT...: the command's status, and a line that it prints
says() {
    local name=$1 status=$2 pattern=$3 got
    shift 3
    rm -rf out
    "$tool" "$@" > log 2>&1
    got=$?
    verdict "$name" "$([ $got = "$status" ] || echo "status $got"; grep -Eq -- "$pattern" log || cat log)"
}
run=(run nothing.yaml -i in -o out)
says 'a name that is not there' 2 'in: no collection is called like d\.aa; is `d\.a` meant\?$' "${run[@]}" --nsInclude d.aa
says 'a database alone' 2 'called like d: names are written DB\.COLLECTION' "${run[@]}" --nsInclude d
says 'all of it' 2 'in: --nsInclude and --nsExclude leave no collection' "${run[@]}" --nsExclude '*'
says 'one of two' 0 '^warning: --nsInclude: no collection is called like d\.bb; is `d\.b` meant\?$' "${run[@]}" --nsInclude d.a --nsInclude d.bb
says 'leaves out none' 0 '^warning: --nsExclude: no collection is called like d\.secret$' "${run[@]}" --nsExclude d.secret
says 'a view over what is left out' 0 'the view d\.v reads from d\.a, which is left out of the output' "${run[@]}" --nsInclude d.v
says 'a view that joins it' 0 'the view d\.v reads from d\.b, which is left out of the output' "${run[@]}" --nsExclude d.b
mkdir many
cp -r in/d many
for ((i = 10; i < 35; i++)); do cp in/d/a.bson "many/d/c$i.bson"; done
says 'one of many: those left out are not all named' 0 'note: 7 others were left out as well' \
    run nothing.yaml -i many -o out --nsInclude d.a
is 'twenty are' 20 "$(grep -c 'was left out' log)"
says 'check' 2 'is `d\.a` meant' check nothing.yaml -i in --nsInclude d.aa
says 'explain' 2 'is `d\.a` meant' explain nothing.yaml -i in --nsInclude d.aa
says 'cat' 2 'is `d\.a` meant' cat in --ns d.aa
says 'inspect' 2 'is `d\.b` meant' inspect in --ns dd.b
says 'diff' 2 'is `d\.b` meant' diff in less --ns d.bb
says 'diff of one that has it' 1 'd\.b: only in A' diff in less --ns d.b
says 'diff of one that has it, turned' 1 'd\.b: only in B' diff less in --ns d.b
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
