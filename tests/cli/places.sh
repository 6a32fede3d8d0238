#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# places.sh MONGORESHAPE - no file that a command writes replaces a file of the user; devices, pipes and descriptors are
# written into and never replaced; a resumed run finds its own files.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool

mkdir -p case/in
printf '{"_id":1,"x":"no number"}\n{"_id":2,"x":"7"}\n' > case/in/t.a.jsonl
"$casetool" load case in
"$casetool" load case in2
printf 'steps: [{ cast: { in: a, fields: { x: int } } }]\n' > plan.yaml
printf 'steps: [{ unset: { in: a, fields: [x] } }]\n' > unset.yaml

# run ARGUMENT...: the status, and whether there is an output
run() {
    rm -rf out out.partial out.checkpoint
    "$tool" run "$@" -i in -q > log 2>&1
    echo "$? $([ -e out ] && echo out || echo none)"
}
# stays NAME FILE WORDS ARGUMENT...: refused before anything is read, the file is as it was, the message says what to do
stays() {
    local name=$1 file=$2 words=$3
    shift 3
    cp "$file" before
    is "$name" "2 none" "$(run "$@")"
    is "$name: the message" 1 "$(grep -cF -- "$words" log)"
    is "$name: the file" "" "$(cmp "$file" before 2>&1)"
}
way="name another file, move it away, or --force replaces it"
echo 'mine' > mine
echo 'mine' > text.jsonl
stays "refused documents" mine "--refused mine: it is there and no refused documents as a run wrote them; $way" \
    plan.yaml -o out --max-refused 1 --refused mine
stays "their text" text.jsonl "--refused text.jsonl: it is there and" plan.yaml -o out --max-refused 1 --refused text
is "and not the other of the two" "" "$(ls text 2> /dev/null)"
stays "a residue" mine "--write-residue mine: it is there and nothing of this run" unset.yaml -o out --write-residue mine
"$tool" check plan.yaml -i in --refused mine > log 2>&1
is "check" "2 mine" "$? $(cat mine)"
cp mine out.tar.manifest.json
stays "the manifest of a file" out.tar.manifest.json "no manifest of mongoreshape" unset.yaml -o out.tar
rm -f out.tar*
ln -s mine link
stays "a soft link" mine "--refused link: it is there and a soft link, which is not replaced; name the file that it leads to" \
    plan.yaml -o out --max-refused 1 --refused link
stays "a soft link, by force" mine "a soft link" plan.yaml -o out --max-refused 1 --refused link --force
is "no folder" "2 none" "$(run plan.yaml -o out --refused no/such)"
is "no folder: the message" 1 "$(grep -cF -- '--refused no/such: there is no folder no/' log)"
is "a folder" "2 none" "$(run plan.yaml -o out --refused case)"
is "a folder: the message" 1 "$(grep -cF -- '--refused case: it is there and a folder; name a file' log)"

# ---- what is ours ----
is "by force" "1 out" "$(run plan.yaml -o out --max-refused 1 --refused mine --force)"
is "its bytes" 1 "$(grep -c '"x":"no number"' mine.jsonl)"
is "an empty file" "1 out" "$(: > new; run plan.yaml -o out --max-refused 1 --refused new)"
is "the same run again, more allowed" "7 none 1 out" "$(run plan.yaml -o out) $(run plan.yaml -o out --max-refused 1)"
is "refused documents of another plan" "7 none" "$(rm -f out.refused.bson.jsonl; run plan.yaml -o out)"
sed -i 's/no number/8/' out.refused.bson.jsonl
stays "an edited text" out.refused.bson.jsonl "--refused out.refused.bson.jsonl: it is there and not the text of the refused documents next to it (edited?); $way" \
    plan.yaml -o out
rm out.refused.bson*
printf 'more' >> mine
stays "more behind the records" mine "no refused documents as a run" plan.yaml -o out --refused mine
truncate -s 60 mine
stays "cut records" mine "no refused documents as a run" plan.yaml -o out --refused mine
cp in/t/a.bson mine
stays "documents that are no records" mine "no refused documents as a run" plan.yaml -o out --refused mine

# ---- the way back of another run ----
is "a residue is written" "0 out" "$(run unset.yaml -o out --write-residue way)"
stays "the same plan, another run" way "--write-residue way: it is there and nothing of this run" unset.yaml -o out --write-residue way
for format in tar archive zip bson; do
    is "no residue beside $format" "2 none" "$(run unset.yaml -o out --write-residue new.residue --format $format)"
    is "and told why: $format" 1 "$(grep -cF -- "--write-residue: OUT must be a folder" log)"
done
is "a residue in the output" "2 none" "$(run unset.yaml -o out --write-residue out/residue)"
is "by its name" 1 "$(grep -cF "out/residue cannot be written: it is, or lies in, out, which" log)"
is "by force, a residue" "0 out" "$(run unset.yaml -o out --write-residue way --force)"

# ---- files of one command ----
# Neither is there yet, so only their names tell: the second would replace the first, or end the run when all is done.
shared() { # NAME WORDS ARGUMENT...
    local name=$1 words=$2
    shift 2
    rm -rf one*
    "$tool" "$@" -q > log 2>&1
    is "$name" "2 no output" "$? $([ -e one.bson ] && echo an output || echo no output)"
    is "$name: the message" 1 "$(grep -cF -- "$words" log)"
}
single() { shared "$1" "$2" run unset.yaml -i in/t/a.bson -o one.bson "${@:3}"; }
printf '{"options":{},"indexes":[]}' > in/t/a.metadata.json
single "refused documents as metadata" "one.metadata.json cannot be written" --refused one.metadata.json --force
single "a page as metadata" "name another file with --html" --html one.metadata.json
single "a page as the output" "name another file with --html" --html one.bson
single "a page as the manifest" "name another file with --html" --html one.bson.manifest.json
single "a page as refused documents" "name another file with --refused" --html one.x --refused one.x
shared "temporary files in the input" "--tmp in/t: it is, or lies in, the input" run unset.yaml -i in -o one.bson --tmp in/t
shared "a page as the suggested plan" "--suggest and --html name the same file" inspect in --suggest one.x --html one.x
is "all to a device" "0 out" "$(run unset.yaml -o out --refused /dev/null --html /dev/null)"
rm in/t/a.metadata.json

# ---- a run that goes on ----
# Killed between its two files, of which older ones were there: no older text stands beside other records.
is "before" "7 none" "$(rm -f out.refused.bson*; run plan.yaml -o out)"
cp out.refused.bson older
rm out.refused.bson.jsonl
is "one of the two" "7 none" "$(run plan.yaml -o out)"
is "is made whole" "" "$(cmp older out.refused.bson; [ -e out.refused.bson.jsonl ] || echo no text)"
is "metadata" "" "$(rm -rf out; "$tool" run unset.yaml -i in -o out.tar -q 2>&1)"
rm out.tar
is "a manifest without its file" "0" "$("$tool" run unset.yaml -i in -o out.tar -q > log 2>&1; echo $?)"

# ---- what is written into ----
is "to /dev/null" "1 out" "$(run plan.yaml -o out --max-refused 1 --refused /dev/null)"
is "which is there still" "character special file, no /dev/null.jsonl" \
    "$(stat -c %F /dev/null), $([ -e /dev/null.jsonl ] && echo a || echo no) /dev/null.jsonl"
run plan.yaml -o out > log
bytes=$(stat -c %s out.refused.bson)
rm -rf out
"$tool" run plan.yaml -i in -o out --max-refused 1 --refused /dev/stdout -q 2> log | cat > piped
is "to a pipe" "$bytes" "$(stat -c %s piped)"
rm -rf out
{ echo first; "$tool" run plan.yaml -i in -o out --max-refused 1 --refused /dev/stdout -q 2> log; } > piped
is "to a file by its descriptor" "$((bytes + 6))" "$(stat -c %s piped)"
rm -rf out
"$tool" run plan.yaml -i in -o out --max-refused 1 --refused /dev/fd/3 -q 3> piped 2> log
is "to another descriptor" "$bytes" "$(stat -c %s piped)"
rm -rf out
mkfifo fifo
cat fifo > piped &
"$tool" run plan.yaml -i in -o out --max-refused 1 --refused fifo -q 2> log
wait $!
is "to a named pipe" "$bytes p" "$(stat -c %s piped) $([ -p fifo ] && echo p)"
rm -rf out
"$tool" run plan.yaml -i in -o out --max-refused 1 --refused /dev/fd/9 -q > log 2>&1 9>&-
is "to a descriptor that is closed" "4 none" "$? $([ -e out ] && echo out || echo none)"
"$tool" inspect in -q --html /dev/stdout 2> log | grep -q -i '^<!doctype html>' && "$tool" inspect in -q --suggest /dev/fd/1 2> log | grep -q 'as inspect wrote it'
is "a page and a plan to a pipe" 0 $?
is "a residue to a device, failing and not" "0 out" "$(run unset.yaml -o out --write-residue /dev/null)"
is "and that is there still" "character special file" "$(stat -c %F /dev/null)"
echo "places: $passed passed, $failed failed"
[ $failed = 0 ]
