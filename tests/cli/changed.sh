#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# changed.sh MONGORESHAPE - another program changes an input while it is read: no output is written, and the file is
# reported.
#
# The tool lists its input, then opens its plan (or the other dump): a pipe, whose other end this script has. So changes
# of the input in between are deterministic.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool

mkdir -p case/in
printf '{"_id":1,"x":1}\n{"_id":2,"x":0}\n' > case/in/t.a.jsonl
printf '{"_id":1}\n' > case/in/t.untouched.jsonl
"$casetool" load case origin
echo '{}' > origin/prelude.json
printf 'steps: [{ set: { in: a, fields: { y: { $divide: [1, $x] } } } }]\n' > plan.yaml
mkfifo pipe

# changes NAME WORDS CHANGE ARGUMENT...: CHANGE is done once the input is listed; WORDS are told, with status 3
changes() {
    local name=$1 words=$2 change=$3 status pid
    shift 3
    rm -rf in out out.*
    cp -a origin in
    tar -C in -cf in.tar t prelude.json
    { "$tool" "$@" < "${stdin:-/dev/null}" > log 2>&1; echo $? > status; timeout 0.1 cat pipe > /dev/null; } &
    pid=$!
    exec 3> pipe # until the tool has opened it, or has ended
    eval "$change"
    cat "${sent:-plan.yaml}" 2> /dev/null >&3
    exec 3>&-
    wait $pid
    status=$(cat status)
    if [ "$status" = "${want:-3}" ] && grep -qF "$words" log && { [ "$status" != 3 ] || [ -z "$(ls -d out* 2>/dev/null)" ]; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name: status $status, $(ls -d out* 2>/dev/null)"
        sed 's/^/    | /' log
    fi
}
run=(run pipe -i in -o out --max-refused 5)
want=1 changes "nothing" "1 document was refused" true "${run[@]}"
changes "a file grows" "in/t/a.bson: it had 42 bytes when reading began and has 84 now" 'cat origin/t/a.bson >> in/t/a.bson' "${run[@]}"
changes "one that no step names" "in/t/untouched.bson" 'cat origin/t/untouched.bson >> in/t/untouched.bson' "${run[@]}"
changes "one that ends inside a document" "in/t/untouched.bson: it had" 'printf 12345678 >> in/t/untouched.bson' "${run[@]}"
changes "one becomes shorter" "in/t/a.bson" 'truncate -s 28 in/t/a.bson' "${run[@]}"
changes "the same size" "in/t/a.bson: it was changed while" 'printf "\\0" | dd of=in/t/a.bson bs=1 seek=30 conv=notrunc 2>/dev/null' "${run[@]}"
changes "the same size, its time put back" "in/t/a.bson: it was changed while" \
    'printf "\\0" | dd of=in/t/a.bson bs=1 seek=30 conv=notrunc 2>/dev/null; touch -r origin/t/a.bson in/t/a.bson' "${run[@]}"
changes "another file" "in/t/a.bson: another file has taken its place" 'cp -p origin/t/a.bson new; mv new in/t/a.bson' "${run[@]}"
changes "metadata" "in/t/a.metadata.json" 'echo >> in/t/a.metadata.json' "${run[@]}"
changes "a file that is no collection" "in/prelude.json" 'echo >> in/prelude.json' "${run[@]}"
changes "a collection more" "in/t/new.bson: it was added" 'cp origin/t/a.bson in/t/new.bson' "${run[@]}"
changes "a database more" "in/u: it was added" 'mkdir in/u' "${run[@]}"
changes "a collection less" "in/t/untouched.bson: it was removed" 'rm in/t/untouched.bson' "${run[@]}"
changes "a tar" "in.tar: it had" 'echo >> in.tar' run pipe -i in.tar -o out --max-refused 5
changes "a single file" "in/t/a.bson: it had" 'cat origin/t/a.bson >> in/t/a.bson' run pipe -i in/t/a.bson --ns t.a -o out.bson --max-refused 5
changes "its metadata" "in/t/a.metadata.json: it had" 'echo >> in/t/a.metadata.json' run pipe -i in/t/a.bson --ns t.a -o out.bson --max-refused 5
stdin=in.tar changes "standard input" "standard input: it had" 'echo >> in.tar' run pipe -i - -o out --max-refused 5
changes "into a tar" "in/t/a.bson" 'cat origin/t/a.bson >> in/t/a.bson' run pipe -i in -o out.tar --max-refused 5
changes "an archive to standard output" "in/t/untouched.bson" 'cat origin/t/untouched.bson >> in/t/untouched.bson' run pipe -i in -o - --max-refused 5 --refused refused
changes "a stream" "in/t/untouched.bson" 'cat origin/t/untouched.bson >> in/t/untouched.bson' run pipe -i in -o - --stream --max-refused 5 --refused refused
changes "check" "in/t/new.bson" 'cp origin/t/a.bson in/t/new.bson' check pipe -i in
changes "a dry run" "in/t/a.bson" 'cat origin/t/a.bson >> in/t/a.bson' run pipe -i in --dry-run
sent=origin/t/a.bson changes "diff" "in/t/a.bson" 'cat origin/t/a.bson >> in/t/a.bson' diff in pipe --ns t.a

# cat has its input open while nobody takes what it prints
rm -rf in
cp -a origin in
for _ in $(seq 12); do cat in/t/a.bson in/t/a.bson > more; mv more in/t/a.bson; done
"$tool" cat in > pipe 2> log &
pid=$!
exec 4< pipe
head -c 20 <&4 > /dev/null
cp origin/t/a.bson in/t/new.bson
cat <&4 > /dev/null
exec 4<&-
wait $pid
if [ $? = 3 ] && grep -qF "in/t/new.bson: it was added" log; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL cat: $(cat log)"
fi
echo "changed: $passed passed, $failed failed"
[ $failed = 0 ]
