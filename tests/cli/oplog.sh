#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# oplog.sh MONGORESHAPE - an oplog in the dump: it may stay if it concerns no collection of the plan, it is removed on
# request, and the mongorestore line at the end has the options that shell and mongorestore need.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool

# dump ENTRY...: a dump of t.a and t.b whose oplog has these entries
dump() {
    rm -rf case in
    mkdir -p case/in
    echo '{"_id":1,"x":1}' > case/in/t.a.jsonl
    echo '{"_id":2,"x":2}' > case/in/t.b.jsonl
    printf '%s\n' "$@" > case/in/x.oplog.jsonl
    "$casetool" load case in
    mv in/x/oplog.bson in/oplog.bson
    rm -r in/x
}

# run STATUS OPTION...: the plan over t.a
run() {
    local want=$1 got
    shift
    rm -rf out
    printf 'database: t\nsteps: [{ unset: { in: a, fields: [x] } }]\n' > plan.yaml
    "$tool" run plan.yaml -i in -o out "$@" > log 2>&1
    got=$?
    [ $got = "$want" ] || { echo "exit status $got, not $want"; cat log; }
}

says() { grep -Eq -- "$1" log || { echo "not said: $1"; cat log; }; }

# entries that concern t.a, whatever they look like
while read -r no entry; do
    dump '{"op":"n","ns":"","o":{}}' "$entry"
    verdict "entry $no concerns the plan" "$(run 2; says 'entry 2 of oplog\.bson'; ls -d out 2> /dev/null)"
    verdict "entry $no goes when told to" "$(run 0 --oplog drop; says 'oplog\.bson was left out'
        ls out/oplog.bson 2> /dev/null)"
done << 'END'
1 {"op":"i","ns":"t.a","o":{"_id":9}}
2 {"op":"u","ns":"t.a","o":{"$v":2,"diff":{}},"o2":{"_id":1}}
3 {"op":"d","ns":"t.a","o":{"_id":1}}
4 {"op":"c","ns":"t.$cmd","o":{"drop":"a"}}
5 {"op":"c","ns":"t.$cmd","o":{"createIndexes":"a","key":{"x":1}}}
6 {"op":"c","ns":"t.$cmd","o":{"dropDatabase":1}}
7 {"op":"c","ns":"t.$cmd","o":{"renameCollection":"t.b","to":"t.a"}}
8 {"op":"c","ns":"admin.$cmd","o":{"renameCollection":"t.a","to":"u.a"}}
9 {"op":"c","ns":"admin.$cmd","o":{"applyOps":[{"op":"i","ns":"t.b","o":{}},{"op":"i","ns":"t.a","o":{"_id":9}}]}}
10 {"op":"c","ns":"admin.$cmd","o":{"applyOps":[{"op":"c","ns":"x","o":{"applyOps":[{"op":"d","ns":"t.a"}]}}]}}
11 {"op":"u","ns":"t.system.buckets.a","o":{"$v":2,"diff":{}},"o2":{"_id":1}}
12 {"op":"i","ns":"t.system.indexes","o":{"ns":"t.a","key":{"x":1},"name":"x_1"}}
END

# entries that do not
while read -r no entry; do
    dump "$entry"
    verdict "entry $no concerns others" "$(run 0; cmp in/oplog.bson out/oplog.bson
        says "mongorestore --oplogReplay --dir='out'")"
done << 'END'
1 {"op":"n","ns":"","o":{"msg":"t.a"}}
2 {"op":"i","ns":"t.b","o":{"_id":9,"ns":"t.a"}}
3 {"op":"i","ns":"t.ab","o":{"_id":9}}
4 {"op":"i","ns":"s.t.a","o":{"_id":9}}
5 {"op":"c","ns":"t.$cmd","o":{"drop":"b"}}
6 {"op":"c","ns":"u.$cmd","o":{"dropDatabase":1}}
7 {"op":"c","ns":"admin.$cmd","o":{"commitTransaction":1}}
8 {"op":"c","ns":"admin.$cmd","o":{"applyOps":[{"op":"i","ns":"t.b","o":{"_id":1}},{"op":"n","ns":""}]}}
9 {"op":"i","ns":"t.system.indexes","o":{"ns":"t.b","key":{"x":1},"name":"x_1"}}
END

# a damaged one
dump '{"op":"n","ns":"","o":{}}' '{"op":"n","ns":"","o":{}}'
size=$(stat -c %s in/oplog.bson)
head -c $((size - 1)) in/oplog.bson > cut
mv cut in/oplog.bson
verdict "an oplog cut short" "$(run 3; says 'oplog\.bson: document 2, offset [0-9]+: '; ls -d out 2> /dev/null)"

# the line that people copy into a shell
dump '{"op":"n","ns":"","o":{}}'
rm in/oplog.bson
printf 'steps: []\n' > plan.yaml
"$tool" run plan.yaml -i in -o "it's" --compress gzip > log 2>&1
verdict "a name with a quote, gzip" "$(says "mongorestore --gzip --dir='it'\\\\''s'")"
"$tool" run plan.yaml -i in -o packed --compress zstd > log 2>&1
if command -v zstd > /dev/null; then
    line=$(sed -n '/^restore with/{n;s/^  //;p;}' log)
    mongorestore() { printf '%s\n' "$*" > restored; }
    eval "$line" 2> /dev/null
    verdict "zstd is unpacked before" "$(cmp in/t/a.bson packed.d/t/a.bson 2>&1; diff <(echo "--dir=packed.d") restored
        [ -e packed/t/a.bson.zst ] || echo "the output was changed")"
else
    echo "SKIP zstd is unpacked before: there is no program zstd"
    skipped=$((skipped + 1))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
