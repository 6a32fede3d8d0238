#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# many_indexes.sh MONGORESHAPE - a metadata file with far more indexes than a server supports: read in time that grows
# with their number, copied byte by byte if no step names the collection, refused with the number if one does.
set -u
. "$(dirname "$0")/begin.bash" "$1"
# indexes N: a metadata file with _id_ and N more
indexes() {
    seq "$1" | awk 'BEGIN { printf "{\"options\":{},\"indexes\":[{\"v\":2,\"key\":{\"_id\":1},\"name\":\"_id_\"}" }
                    { printf ",{\"v\":2,\"key\":{\"a%d\":1},\"name\":\"i%d\"}", $1, $1 } END { print "]}" }'
}

mkdir -p in/t
for c in f g; do # { _id: 1, x: 1 }
    printf '\025\0\0\0\020_id\0\001\0\0\0\020x\0\001\0\0\0\0' > in/t/$c.bson
done
indexes 100000 > in/t/g.metadata.json
printf 'database: t\nsteps: [{ unset: { in: f, fields: [x] } }]\n' > plan.yaml
# a time that grew with the square would be minutes of the processor
(ulimit -t 60; exec "$tool" run plan.yaml -i in -o out -q --memory 64M -j 1 > log 2>&1)
is "a collection that no step names" 0 $?
cmp -s in/t/g.metadata.json out/t/g.metadata.json
is "its metadata stays" 0 $?
grep -q 'note: a restore fails at t\.g, which has 100001 indexes, and a server takes 64' <("$tool" check plan.yaml -i in 2>&1)
is "its number is told" 0 $?
"$tool" check plan.yaml -i in > log 2>&1
is "a check ends as the restore fails" 1 $?
indexes 40 | tee in/t/f.metadata.json | sed 's/"a/"b/g; s/"i/"j/g; s/"jndexes/"indexes/' > in/t/g.metadata.json
printf 'database: t\nsteps: [{ move: { from: f, into: g, conflicts: first } }]\n' > move.yaml
"$tool" check move.yaml -i in > log 2>&1
is "a check of a move that carries too many" 1 $?
is "too many are told" 1 "$(grep -c 'a restore fails at t\.g, which has 81 indexes' log)"
indexes 1000 > in/t/f.metadata.json
"$tool" run plan.yaml -i in -o named -q > log 2>&1
is "a collection that a step names" 2 $?
is "the number is told" 1 "$(grep -c 't\.f has 1001 indexes' log)"
is "nothing is written" no "$([ -e named ] && echo yes || echo no)"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
