#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# server.sh TOOL SO PROGRAMS - the stage of the extension beside the offline tool on one thread, over the same
# documents, in alternating pairs: documents a second, and the ratio.
#
# Environment: SCALE (0.2), PAIRS (5), BENCH_DIR. What either gives is compared byte for byte first. The stage gets
# documents from memory, in a host that plays the server; the tool reads and writes files, its sync at the end is not
# counted.
set -u
tool=$(realpath "$1") so=$(realpath "$2") programs=$(realpath "$3")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scale=${SCALE:-0.2} pairs=${PAIRS:-5}
work=${BENCH_DIR:-$programs/data}/server
mkdir -p "$work" && cd "$work" || exit 1
if [ "$(cat scale 2> /dev/null)" != "$scale" ]; then
    rm -rf all one many
    mkdir -p all one/bench many/bench
    "$programs/gen" all "$scale" && "$programs/naive" bucket all/bench/sensors.bson many/bench/hours.bson || exit 1
    ln all/bench/comments.bson one/bench && echo "$scale" > scale || exit 1
fi
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
failed=0

# against CLASS PLAN OF EMIT: pairs of the tool and the stage
against() {
    local class=$1 plan=$here/plans/$2.yaml of=$3 emit=$4 i wall sync s in out
    rm -f pairs.txt
    for ((i = 0; i <= pairs; i++)); do
        rm -rf out
        "$tool" run "$plan" -i "$class" -o out --jobs 1 --json > report.json 2> err || { cat err; exit 1; }
        wall=$(grep -o '"wallMs":[0-9]*' report.json | head -n 1 | cut -d: -f2)
        sync=$(grep -o '"syncMs":[0-9]*' report.json | head -n 1 | cut -d: -f2)
        if [ "$i" = 0 ]; then # the same documents, and everything warm
            "$programs/stage" "$so" "$plan" "$class/bench/$of.bson" bench "$of" "$emit" stage.bson > err || exit 1
            cmp stage.bson "out/bench/$emit.bson" || failed=1
            continue
        fi
        read -r s in out < <("$programs/stage" "$so" "$plan" "$class/bench/$of.bson" bench "$of" "$emit")
        awk -v w="$wall" -v y="${sync:-0}" -v s="$s" -v n="$in" -v o="$out" \
            'BEGIN { w = (w - y) / 1000; print n / w, n / s, w / s, o }' >> pairs.txt
    done
    printf '%-5s %-9s %9d in %9d out  tool %9.0f/s  stage %9.0f/s  ratio %.2f\n' "$class" "$2" "$in" "$out" \
        "$(awk '{ print $1 }' pairs.txt | median)" "$(awk '{ print $2 }' pairs.txt | median)" \
        "$(awk '{ print $3 }' pairs.txt | median)"
}
against one set comments comments
against many unbucket hours readings
[ $failed = 0 ] || { echo "the stage gives other documents"; exit 1; }
