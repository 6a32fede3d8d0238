#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspect_sets.sh MONGORESHAPE - inspect on data sets with known properties (tests/inspect): references and rules above
# the bar, figures exact, the same bytes for any number of threads; the suggested plan of each set passes check and
# runs, with the predicted number of documents. Of a share of the sets (sample.bash) each must be good by itself.
set -u
here=$(cd "$(dirname "$0")/../inspect" && pwd)
. "$(dirname "$0")/begin.bash" "$1"
. "$here/../sample.bash"
if ! command -v python3 > /dev/null; then
    echo "inspect_sets skipped: no python3"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

# the fields of `survey` are numbers of questions: without its codebook no name tells anything
names="" number=0
for name in $(python3 "$here/sets.py" --list | grep -vx survey); do
    ! sampled $((number++)) || names="$names $name"
done
# shellcheck disable=SC2086
python3 "$here/sets.py" sets survey $names || { echo "inspect_sets: no sets" >&2; exit 2; }
mkdir results
for set in sets/*; do
    name=$(basename "$set")
    "$tool" inspect "$set/dump" --json -j 1 > "results/$name.json"
    is "$name is inspected" 0 $?
    is "$name with three threads" "$(cksum < "results/$name.json")" "$("$tool" inspect "$set/dump" --json -j 3 | cksum)"
    "$tool" inspect "$set/dump" -q --suggest "$name.yaml"
    "$tool" check "$name.yaml" -i "$set/dump" > log 2>&1
    is "the plan suggested for $name passes check" 0 $?
    "$tool" run "$name.yaml" -i "$set/dump" -o "$name.new" -q > log 2>&1
    is "the plan suggested for $name runs" 0 $?
    rm -rf "$name.new"
done
rm -rf sets/survey
how=--bar
[[ ${SAMPLE:-} != [0-9]* ]] || how=--each
python3 "$here/score.py" "$how" sets results > scores
is "references and rules are above the bar" 0 $?
tail -1 scores
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
