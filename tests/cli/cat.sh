#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cat.sh - `mongoreshape cat`: its output equals that of bsondump, or reads back as the same documents; options; damage
# is reported with its place after the intact documents; a reader that closes the pipe ends it without a message.
# usage: cat.sh MONGORESHAPE
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tool=$(realpath "$1")
casetool=${CASETOOL:-$(dirname "$tool")/casetool}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0 skipped=0

fail() { printf 'FAILED: %s\n' "$*"; failed=$((failed + 1)); }

# lines WANTED ARGS...: standard output, with status 0 and nothing on standard error
lines() {
    printf '%s' "$1" >wanted
    shift
    "$tool" cat "$@" >out 2>err </dev/null || fail "status $? of: cat $*: $(cat err)"
    cmp -s wanted out && [ ! -s err ] || fail "cat $*: $(cat out err), wanted: $(cat wanted)"
}

# refused STATUS WORDS ARGS...
refused() {
    status=$1 words=$2
    shift 2
    "$tool" cat "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$status" ] || fail "status $got, not $status: cat $*"
    grep -qF -- "$words" err || fail "no \"$words\" in: $(cat err) (of: cat $*)"
}

mkdir -p in/d in/e
printf '\016\0\0\0\020_id\0\001\0\0\0\0\016\0\0\0\020_id\0\002\0\0\0\0' >in/d/c.bson
printf '\026\0\0\0\020_id\0\003\0\0\0\020x"\0\n\0\0\0\0' >in/e/x.bson
gzip -c in/d/c.bson >in/e/y.bson.gz
one='{"_id":{"$numberInt":"1"}}' two='{"_id":{"$numberInt":"2"}}'
lines "$one
$two
" in/d/c.bson
lines "{\"_id\":1}
{\"_id\":2}
{\"_id\":3,\"x\\\"\":10}
{\"_id\":1}
{\"_id\":2}
" in --relaxed
lines "{\"ns\":\"d.c\",\"doc\":$one}
" in --with-ns --limit 1
lines "{\"ns\":\"e.y\",\"doc\":{\"_id\":2}}
" in --with-ns --relaxed --ns 'e.*' --where '{"_id": {"$lt": 3, "$ne": 1}}'
lines "$one
$two
$one
" in --where '{"$or": [{"$expr": {"$eq": ["$_id", 2]}}, {"_id": 1}]}' --limit 3 -j 1
lines "$one
$one
" in --where '{ $expr: { $eq: [$_id, 1] } }'
says() { "$tool" cat in --where "$1" >out 2>err; [ ! -s out ] && grep -qF -- "$2" err || fail "$1: $(cat out err)"; }
says '{ nothing: true }' 'note: no document matches the query of --where'
says '{ _id: { $gt: "2024-01-01" } }' 'a text compares with texts only'
"$tool" cat - --with-ns <in/e/y.bson.gz >out 2>err && grep -q '"ns":"input.documents"' out || fail "unnamed: $(cat out err)"
"$tool" cat - --ns d.c <in/e/y.bson.gz >out 2>err && [ "$(wc -l <out)" -eq 2 ] || fail "from standard input: $(cat out err)"
refused 2 '--where:1:4: not valid YAML' in --where '{} {}'
refused 2 'there is no query operator $nope' in --where '{"a": {"$nope": 1}}'
refused 2 '--where: $nope: there is no query operator $nope' in --where '{"$nope": 1}'
refused 2 'is a literal of the shell or of a driver' in --where '{ a: ISODate("2024-01-01") }'
refused 2 '--where:1:8: key `a` occurs twice' in --where '{"a":1,"a":2}'
refused 2 'a map is expected' in --where '[1]'
refused 2 '--where' in --where '{"a"'
refused 2 'IN is missing' --relaxed
refused 2 'no collection is called like f.*' in --ns 'f.*'
refused 2 'called like c: names are written DB.COLLECTION' in --ns c
refused 2 '--limit must be at least 1' in --limit 0
refused 2 'there is no such file' nowhere

# ---- damage: what is whole before it has been printed ----
cp in/d/c.bson bad.bson
printf '\016\0\0\0\125_id\0\003\0\0\0\0' >>bad.bson
refused 3 'document 3, offset 32' bad.bson
[ "$(cat out)" = "$one
$two" ] || fail "before the damage: $(cat out)"
head -c 20 in/d/c.bson >short.bson
refused 3 'document 2' short.bson
[ "$(cat out)" = "$one" ] || fail "before the end: $(cat out)"

# ---- nobody reads ----
i=0
while [ $i -lt 15 ]; do
    cat in/d/c.bson in/d/c.bson in/d/c.bson in/d/c.bson >more
    mv more in/d/c.bson
    [ "$(wc -c <in/d/c.bson)" -gt 4000000 ] && break
    i=$((i + 1))
done
{ "$tool" cat in/d/c.bson 2>err; echo $? >status; } | head -n 1 >out
[ "$(cat out)" = "$one" ] && [ ! -s err ] && [ "$(cat status)" -eq 141 ] || fail "head: $(cat status err)"
"$tool" cat in/d/c.bson >all && [ "$(wc -l <all)" -eq "$(($(wc -c <in/d/c.bson) / 14))" ] || fail "lines of a large file"
if [ -w /dev/full ]; then
    "$tool" cat in/e/x.bson >/dev/full 2>err
    [ $? -eq 4 ] && grep -q 'standard output' err || fail "a full disk behind standard output: $(cat err)"
fi

# ---- every sample, beside the two other ways of saying what is in it ----
# doubles: some versions of bsondump write an exponent as E
plain() { sed 's/\("\$numberDouble":"[-0-9.]*\)E/\1e/g' "$@"; }
bsondump=$(command -v bsondump || true)
[ -n "$bsondump" ] || { echo "skipped: bsondump is not here"; skipped=1; }
n=0
for file in "$root"/dumps/sample/*/*.bson "${MRS_DATA:-$root/../shared/data}"/examples/*/dump/*/*.bson \
    "${MRS_DATA:-$root/../shared/data}"/mongodump-100.18/dir*/*/*.bson; do
    [ -f "$file" ] || continue
    n=$((n + 1))
    "$tool" cat "$file" >ours 2>err || { fail "$file: $(cat err)"; continue; }
    if [ -n "$bsondump" ]; then
        "$bsondump" --quiet "$file" 2>err | plain >theirs
        plain ours | cmp -s - theirs || fail "$file is other text than bsondump has"
    fi
    if [ -x "$casetool" ] && [ "$(wc -c <"$file")" -lt 1000000 ]; then
        rm -rf case loaded && mkdir -p case/in && cp ours case/in/d.c.jsonl
        "$casetool" load case loaded >err 2>&1 && cmp -s loaded/d/c.bson "$file" || fail "$file does not read back: $(cat err)"
    fi
done
[ $n -gt 20 ] || fail "only $n sample files"

if [ "$failed" -ne 0 ]; then
    echo "cli/cat: $failed failed"
    exit 1
fi
echo "cli/cat: ok, $n sample files, $skipped skipped"
