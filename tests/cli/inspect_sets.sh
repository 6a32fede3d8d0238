#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspect_sets.sh MONGORESHAPE - inspect on data sets with known properties (tests/inspect): references and rules above
# the bar, figures exact, the same bytes for any number of threads; the suggested plan of each set passes check and
# runs, with the predicted number of documents. The plans are tried on a share of the sets (sample.bash).
set -u
here=$(cd "$(dirname "$0")/../inspect" && pwd)
. "$(dirname "$0")/begin.bash" "$1"
. "$here/../sample.bash"
if ! command -v python3 > /dev/null; then
    echo "inspect_sets skipped: no python3"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

python3 "$here/sets.py" sets || { echo "inspect_sets: no sets" >&2; exit 2; }
mkdir results
number=0
for set in sets/*; do
    name=$(basename "$set")
    "$tool" inspect "$set/dump" --json -j 1 > "results/$name.json"
    is "$name is inspected" 0 $?
    sampled $((number++)) || continue
    is "$name with three threads" "$(cksum < "results/$name.json")" "$("$tool" inspect "$set/dump" --json -j 3 | cksum)"
    "$tool" inspect "$set/dump" -q --suggest "$name.yaml"
    "$tool" check "$name.yaml" -i "$set/dump" > log 2>&1
    is "the plan suggested for $name passes check" 0 $?
    "$tool" run "$name.yaml" -i "$set/dump" -o "$name.new" -q > log 2>&1
    is "the plan suggested for $name runs" 0 $?
    rm -rf "$name.new"
done
# the fields of this set are numbers of questions: without its codebook no name tells anything
rm -rf sets/survey
python3 "$here/score.py" --bar sets results > scores
is "references and rules are above the bar" 0 $?
tail -1 scores
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
