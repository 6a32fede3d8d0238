#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# time_series.sh MONGORESHAPE - time series as input beyond the cases: buckets that become many times as large,
# residues, samples, archives and streams, and the report of inspect on them.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool

# run STATUS PLAN IN OUT OPTION...
run() {
    local want=$1 got
    rm -rf "$4"
    printf '%s\n' "$2" > plan.yaml
    "$tool" run plan.yaml -i "$3" -o "$4" "${@:5}" > log 2>&1
    got=$?
    [ $got = "$want" ] || { echo "exit status $got, not $want"; cat log; }
}

says() { grep -Eq -- "$1" log || { echo "not said: $1"; cat log; }; }

# le32 N, base64 of a file, for a column
le32() { printf "\\x$(printf %02x $(($1 & 255)))\\x$(printf %02x $(($1 >> 8 & 255)))\\x$(printf %02x $(($1 >> 16)))\\x00"; }
binary() { printf '{"$binary":{"base64":"%s","subType":"07"}}' "$(base64 -w 0 "$1")"; }

# ---- nine buckets of 60 KB: a text and 120 times the same once more, 7 MB of measurements each ----
text=60000
{ printf '\x02\x00'; le32 $((text + 1)); head -c $text /dev/zero | tr '\0' x
  printf '\x00\x80\x0f\x00\x00\x00\x00\x00\x00\x00\x00'; } > v
printf '\x09\x00\x00\x00\x00\x00\x01\x00\x00\x00\x80\x0f\x00\x00\x00\x00\x00\x00\x00\x00' > t
mkdir -p case/in
for i in 1 2 3 4 5 6 7 8 9; do
    printf '{"_id":%s,"control":{"version":2,"count":121},"meta":%s,"data":{"t":%s,"v":%s}}\n' $i $i "$(binary t)" "$(binary v)"
done > case/in/t.system.buckets.s.jsonl
echo '{"options":{"timeseries":{"timeField":"t","metaField":"m"}},"indexes":[],"collectionName":"s","type":"timeseries"}' \
    > case/in/t.s.metadata.json
"$casetool" load case in || exit 2

sums='steps: [{ rollup: { from: s, into: n, by: $m, fields: { n: { $sum: 1 }, bytes: { $sum: { $strLenBytes: $v } } } } }]'
for i in 1 2 3 4 5 6 7 8 9; do
    echo "{\"_id\":$i,\"n\":121,\"bytes\":$((121 * text))}"
done > want
for jobs in 1 2 4; do
    verdict "buckets that become large, $jobs threads" "$(run 0 "$sums" in out --memory 64M --jobs $jobs
        "$tool" cat out/t/n.bson --relaxed 2>&1 | cmp - want
        cmp in/t/system.buckets.s.bson out/t/system.buckets.s.bson)"
done

copy='steps: [{ copy_collection: { from: s, into: c } }]'
verdict "in the order of the buckets" "$(run 0 "$copy" in out --jobs 4
    "$tool" cat out/t/c.bson --relaxed 2>&1 | sed 's/.*"m":\([0-9]\).*/\1/' | uniq -c | tr -s ' \n' ' ' > order
    [ "$(cat order)" = " 121 1 121 2 121 3 121 4 121 5 121 6 121 7 121 8 121 9 " ] || cat order)"

# ---- the way back of a plan that only reads; what a plan takes away has none ----
verdict "a residue is written" "$(run 0 "$sums" in out --write-residue residue)"
verdict "the way back" "$("$tool" invert plan.yaml > back.yaml
    run 0 "$(cat back.yaml)" out again --residue residue
    cmp in/t/system.buckets.s.bson again/t/system.buckets.s.bson
    cmp in/t/s.metadata.json again/t/s.metadata.json)"
verdict "no way back" "$(run 2 'steps: [{ move: { from: s, into: r } }]' in out --write-residue none
    says 'the inverse of this plan cannot be run.*t\.s is a time series')"

# ---- a sample, an archive, a stream ----
verdict "a sample" "$(run 0 'steps: [{ delete: { in: s, where: { m: 9 } } }]' in out --sample 130
    [ "$("$tool" cat out/t/s.bson 2>&1 | grep -c .)" = 130 ] || echo "not 130 measurements")"
verdict "an archive" "$(run 0 'steps: [{ delete: { in: s, where: { m: { $gt: 1 } } } }]' in out.archive --format archive
    [ "$("$tool" cat out.archive 2>&1 | grep -c .)" = 121 ] || echo "not 121 measurements")"
verdict "an archive as input" "$(run 0 'steps: [{ rename_collection: { from: s, into: z } }]' in in.archive --format archive
    run 0 "$(printf '%s' "$sums" | sed 's/from: s/from: z/')" in.archive out
    "$tool" cat out/t/n.bson --relaxed 2>&1 | cmp - want)"
verdict "a stream that only reads" "$(printf '%s\n' "$sums" > plan.yaml
    "$tool" run plan.yaml -i in -o - --stream > out.archive 2> log || cat log
    [ "$("$tool" cat out.archive 2>&1 | grep -c .)" = 18 ] || echo "not 9 buckets and 9 sums")"
verdict "refused measurements on standard output" "$(
    printf '%s\n' 'steps: [{ rollup: { from: s, into: n, by: { $add: [ $v, 1 ] }, fields: { n: { $sum: 1 } } } }]' > plan.yaml
    "$tool" run plan.yaml -i in -o - --max-refused 2000 > out.archive 2> log
    [ $? = 1 ] || echo "status 1 is due"
    says 'see mongoreshape\.refused\.bson')"
verdict "a stream and refused measurements" "$(
    "$tool" run plan.yaml -i in -o - --stream --max-refused 2000 > out.archive 2> log
    [ $? = 2 ] || echo "status 2 is due"
    says 'measurements were refused, and a stream cannot change its buckets')"

# ---- inspect ----
verdict "inspect" "$("$tool" inspect in > log 2>&1; says 't\.s  a time series: its measurements are not read')"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
