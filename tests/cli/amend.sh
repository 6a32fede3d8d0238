#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# amend.sh MONGORESHAPE - --amend accepts the .jsonl of refused documents after edits as text; types are preserved, and
# an invalid line is reported.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool
mkdir -p case/in
printf '{"_id":1,"x":0,"n":{"$numberLong":"7"}}\n{"_id":2,"x":1}\n{"_id":3,"x":0}\n' > case/in/t.a.jsonl
"$casetool" load case in
printf 'database: t\nsteps: [{ set: { in: a, fields: { y: { $divide: [4, $x] } } } }]\n' > plan.yaml
"$tool" run plan.yaml -i in -o out --max-refused 5 -q
amended() {
    rm -rf new
    "$tool" run plan.yaml -i in -o new -q --amend mended.jsonl > log 2>&1 && "$tool" cat new
}
want=$(printf '%s\n' '{"_id":{"$numberInt":"1"},"x":{"$numberInt":"2"},"n":{"$numberLong":"7"},"y":{"$numberDouble":"2.0"}}' \
    '{"_id":{"$numberInt":"2"},"x":{"$numberInt":"1"},"y":{"$numberDouble":"4.0"}}' \
    '{"_id":{"$numberInt":"3"},"x":{"$numberInt":"2"},"y":{"$numberDouble":"2.0"}}')
sed 's/"x" *: *{ *"$numberInt" *: *"0" *}/"x":2/' out.refused.bson.jsonl > mended.jsonl
is "the edited file, relaxed numbers beside canonical ones" "$want" "$(amended)"
sed 's/$/\r/; 1s/^/\n  /' mended.jsonl > more && mv more mended.jsonl
is "blank lines, blanks and CRLF" "$want" "$(amended)"
{ printf '\357\273\277'; cat mended.jsonl; } > more && mv more mended.jsonl
is "a mark of UTF-8 in front" "$want" "$(amended)"

# The report says how the corrected documents differ, so that a file of an older dump is noticed.
printf '{"ns":"t.a","doc":{"_id":1,"x":2,"n":{"$numberLong":"8"},"z":1}}\n{"ns":"t.a","doc":{"_id":3,"x":2}}\n' > mended.jsonl
rm -rf new
is "fields that differ" "note: --amend replaced 2 documents of t.a; fields that differ from the input: x, n, z" \
    "$("$tool" run plan.yaml -i in -o new --amend mended.jsonl 2>&1 | grep -F -- --amend)"

# wrong NAME WORDS: mended.jsonl is refused
wrong() {
    amended
    is "$1, status" 2 "$("$tool" run plan.yaml -i in -o new -q --amend mended.jsonl > log 2>&1; echo $?)"
    is "$1" "$2" "$(grep -oF -- "$2" log)"
    is "$1, nothing written" "" "$(ls -d new* 2>&1 | grep -v 'No such\|cannot access')"
}
printf '{"ns":"t.a","doc":{"_id":1,"x":1}}\n\n{"ns":"t.a","doc":{"_id":3,"x":}}\n' > mended.jsonl
wrong "no JSON" "line 3 of the amend file"
printf '{"ns":"t.a","doc":{"_id":1,"x":1}}\n{"ns":"t.a","doc":{"_id":3' > mended.jsonl
wrong "cut" "line 2 of the amend file"
printf '{"ns":"t.a","doc":{"_id":9,"x":1}}\n' > mended.jsonl
wrong "an _id that is not there" "line 1 of the amend file: t.a has no document with the _id int 9"
printf '\n{"ns":"t.a","doc":{"_id":1,"x":1}}\n\n{"ns":"t.b","doc":{"_id":3}}\n' > mended.jsonl
wrong "an ns that is not there" "line 4 of the amend file: its \`ns\` is no namespace of the input"
printf '{"ns":"t.a","doc":{"_id":1,"x":1,"s":"caf\351"}}\n' > mended.jsonl
wrong "text in Latin-1" "line 1 of the amend file: a text that is not UTF-8"
printf '{"ns":"t.a","ns":"t.b","doc":{"_id":1,"x":1}}\n' > mended.jsonl
wrong "two namespaces" "line 1 of the amend file: a name is in it twice"
printf '{"ns":"t.a","doc":{"_id":1,"x":1},"doc":{"_id":3,"x":1}}\n' > mended.jsonl
wrong "two documents in a line" "line 1 of the amend file: a name is in it twice"
printf 'x' | gzip > mended.jsonl
wrong "a file of another format" "neither a line of Extended JSON"
printf '{"ns":"t.a","doc":{"_id":1}}\n{"ns":"t.a","doc":{"_id":1}}\n' > mended.jsonl
wrong "one document twice" "line 2 of the amend file: it corrects the document with _id int 1 of t.a, as another record does"
# A document that a later step refused has been changed by the steps before, which would change it again.
cp plan.yaml first.yaml
printf 'database: t\nsteps: [{ set: { in: a, fields: { x: { $add: [$x, 1] } } } }, { cast: { in: a, fields: { n: int } } }]\n' > plan.yaml
printf '{"ns":"t.a","step":1,"doc":{"_id":1,"x":0,"n":1}}\n' > mended.jsonl
is "refused by the first step" '{"_id":{"$numberInt":"1"},"x":{"$numberInt":"1"},"n":{"$numberInt":"1"}}' \
    "$(amended | head -n 1)"
printf '{"ns":"t.a","step":2,"doc":{"_id":1,"x":1,"n":1}}\n' > mended.jsonl
wrong "refused by the second step" "line 1 of the amend file: \`doc\` is as it entered step 2, changed by step 1, which would change it again"
"$tool" cat in --ns t.a --with-ns --where '{ "_id": 1 }' | sed 's/"n":.*}}}/"n":1}}/' > mended.jsonl
is "what the message says to do" '{"_id":{"$numberInt":"1"},"x":{"$numberInt":"1"},"n":{"$numberInt":"1"}}' \
    "$(amended | head -n 1)"
mv first.yaml plan.yaml
printf '\x17\0\0\0\x10_id\0\x09\0\0\0\x02x\0\2\0\0\0\xff\0\0' >> in/t/a.bson
printf '{"ns":"t.a","doc":{"_id":9,"x":1}}\n' > mended.jsonl
wrong "a text that JSON would change" "line 1 of the amend file: it corrects a document of t.a that JSON cannot hold"
printf '\x23\0\0\0\x10_id\0\x0a\0\0\0\x03x\0\x12\0\0\0\x10$minKey\0\1\0\0\0\0\0' >> in/t/a.bson
printf '{"ns":"t.a","doc":{"_id":10,"x":1}}\n' > mended.jsonl
wrong "a document that JSON would change" "(text that is not UTF-8, a document like { \$oid: ... }"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
