#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bad_input.sh - errors in input, output or disk are reported with their place; the status shows the cause; no
# incomplete file stays.
# usage: bad_input.sh MONGORESHAPE
set -u
tool=$(realpath "$1")
dir=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$dir"; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0 failed=0 skipped=0

fail() { printf 'FAILED: %s\n' "$*"; failed=$((failed + 1)); }

# bytes FORMAT...: bytes by printf escapes
bytes() { printf '%b' "$*"; }
# le N: four bytes, little-endian
le() { printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)); }
# doc ID: { _id: ID }, 14 bytes
doc() { bytes "$(le 14)\x10_id\x00$(le "$1")\x00"; }
# nested N: { _id: 1, a: { a: ... } } of N levels below the top
nested() {
    local inner='\x05\x00\x00\x00\x00' n=5 i
    for ((i = 1; i < $1; i++)); do
        n=$((n + 8))
        inner="$(le $n)\\x03a\\x00$inner\\x00"
    done
    bytes "$(le $((n + 17)))\x10_id\x00$(le 1)\x03a\x00$inner\x00"
}
fresh() {
    rm -rf in out out.*
    mkdir -p in/d
}

# expect STATUS WORDS ARGS...: status and each of the words (split at |) on standard error; no output, input unchanged
expect() {
    local want=$1 words=$2 got word before after bad=$failed
    shift 2
    before=$(find in -type f -exec cksum {} + 2>/dev/null | sort)
    "$tool" run "$@" >stdout 2>err </dev/null
    got=$?
    after=$(find in -type f -exec cksum {} + 2>/dev/null | sort)
    [ "$got" -eq "$want" ] || fail "status $got, not $want: $* ($(head -n 1 err))"
    while IFS= read -r word; do
        [ -z "$word" ] || grep -qF -- "$word" err || fail "no \"$word\" in: $(cat err) (of: $*)"
    done <<<"${words//|/$'\n'}"
    [ "$before" = "$after" ] || fail "the input was changed: $*"
    if [ "$want" -ne 0 ] && [ "$want" -ne 1 ]; then
        [ ! -e out ] || fail "an output in spite of an error: $*"
    fi
    [ ! -e out.partial ] || fail "a partial output was left: $*"
    [ ! -s stdout ] || fail "standard output is not empty: $*"
    [ "$failed" -ne "$bad" ] || passed=$((passed + 1))
}

# both STATUS WORDS: as a collection that a step changes, and as one that passes through
both() {
    expect "$1" "$2" set.yaml -i in -o out
    expect "$1" "$2" copy.yaml -i in -o out
}

printf 'steps: []\n' >copy.yaml
printf 'steps:\n- set: { in: c, fields: { y: 1 } }\n' >set.yaml

# a collection under a name that nobody takes for one is told, and not lost
fresh
doc 1 >in/d/c.bson
bytes '\xfd7zXZ\x00' >in/d/x.bson.xz
echo text >in/d/notes.txt
expect 0 'note: d/x.bson.xz is copied as it is|mongorestore' set.yaml -i in -o out
cmp -s in/d/x.bson.xz out/d/x.bson.xz || fail "x.bson.xz is not in the output"
! grep -q notes.txt err || fail "a note on notes.txt"
fresh
doc 1 >in/d/c.bson
doc 1 >in/d/x.BSON
echo '{}' >in/d/c.metadata.JSON
cp in/d/c.bson 'in/d/$admin.system.users.bson'
expect 0 'note: d/x.BSON is copied as it is|note: d/c.metadata.JSON is copied as it is' set.yaml -i in -o out
! grep -q 'users.bson is copied' err || fail "a note on the users of a database"

# a metadata file of no bytes
fresh
doc 1 >in/d/c.bson
: >in/d/c.metadata.json
expect 0 'note: the metadata file of d.c holds nothing' set.yaml -i in -o out

# one that a copy has left behind; a dump without any is one of an old server, or a file that somebody made
fresh
doc 1 >in/d/c.bson
expect 0 '' set.yaml -i in -o out
! grep -q metadata err || fail "a note on metadata in a dump without any"
fresh
doc 1 >in/d/c.bson
doc 1 >in/d/e.bson
echo '{}' >in/d/e.metadata.json
expect 0 'note: the dump has metadata files, but none of d.c: its indexes' set.yaml -i in -o out
printf 'steps:\n- embed: { from: c, into: p, match: { k: _id }, as: cs }\n' >embed.yaml

# ---- what is no dump is named, in a folder and by itself, before the plan is looked at ----
foreign() { # WORDS, content from standard input
    fresh
    cat >in/d/other
    cp in/d/other in/d/c.bson
    expect 3 "in/d/other: no documents of a dump|$1" set.yaml -i in/d/other -o out
    rm in/d/other
    expect 3 "in/d/c.bson: no documents of a dump|$1" set.yaml -i in -o out
    expect 3 "in/d/c.bson: no documents of a dump|$1" copy.yaml -i in -o out
}
foreign 'JSON text, as mongoexport writes it' < <(printf '{"_id":1,"a":2}\n{"_id":2}\n')
foreign 'JSON text' < <(printf '\357\273\277 [\n{"_id":1}]')
foreign 'CSV' < <(printf '_id,a\n1,2\n')
foreign 'UTF-16' < <(printf '\377\376{\0"\0_\0i\0d\0"\0')
foreign 'SQLite' < <(printf 'SQLite format 3\0........')
foreign 'rar' < <(printf 'Rar!\032\7\1\0.........')
foreign 'a mongod keeps its data: give what mongodump writes' < <(printf 'A\330\1\0\1\0\0\0.........')
foreign 'a Parquet file' < <(printf 'PAR1\25\0\25........')
foreign 'an Avro file' < <(printf 'Obj\1\4\24avro.codec')
foreign 'a dump of PostgreSQL' < <(printf 'PGDMP\1\16\0\4\10......')
foreign 'decrypt it' < <(printf 'Salted__\1\2\3\4\5\6\7\370')
# ---- what a mongod keeps its data in ----
fresh
doc 1 >in/d/storage.bson
: >in/d/mongod.lock
expect 3 "in/d/mongod.lock: a mongod keeps its data in this folder: it is no dump" set.yaml -i in/d -o out
expect 3 "in/d/mongod.lock: a mongod keeps its data" set.yaml -i in -o out
mv in/d/mongod.lock in/d/WiredTiger.wt
tar -C in -cf data.tar d
expect 3 "WiredTiger.wt: a mongod keeps its data" set.yaml -i data.tar -o out
fresh
printf '\1\2\3\4\5\6\7\370' >in/d/c.enc
expect 3 'in/d/c.enc: no documents of a dump: from byte 0 on it is encrypted, or' set.yaml -i in/d/c.enc -o out
# Their first four bytes could be a length: the type of a first field could not.
for bytes in 'ORC\0\0\0\0\0' '\377\6\0\0sNaPpY' '\37\235\220\0\0\0'; do
    printf "$bytes" >in/d/c.odd
    expect 3 'in/d/c.odd: no documents of a dump: from byte 0 on it is encrypted, or' set.yaml -i in/d/c.odd -o out
done
if command -v zstd >/dev/null; then
    fresh
    doc 1 | zstd -qc | gzip -c >in/d/c.bson.gz
    expect 3 "in/d/c.bson.gz: no documents of a dump: from byte 0 on it is zstd inside another packing: unpack it once" set.yaml -i in -o out
    expect 3 "inside another packing: unpack it once" set.yaml -i in/d/c.bson.gz --ns d.c -o out.bson
else
    skipped=$((skipped + 1))
fi

# ---- damaged documents: file, namespace, number and offset ----
fresh
{ doc 1; doc 2; doc 3 | head -c 9; } >in/d/c.bson
both 3 'd.c: document 3, offset 28|in/d/c.bson|truncated'
fresh
{ doc 1; bytes "$(le 4)garbage"; } >in/d/c.bson
both 3 'd.c: document 2, offset 14|in/d/c.bson|impossible length 4'
fresh
{ doc 1; bytes "$(le -1)garbage"; } >in/d/c.bson
both 3 'd.c: document 2, offset 14|in/d/c.bson|impossible length -1'
fresh
{ doc 1; bytes "$(le 16793601)garbage"; } >in/d/c.bson
both 3 'd.c: document 2, offset 14|in/d/c.bson|impossible length 16793601'
fresh
{ doc 1; bytes "$(le 14)\x77_id\x00$(le 2)\x00"; } >in/d/c.bson
both 3 'd.c: document 2, offset 18|in/d/c.bson|type 0x77'
fresh
{ doc 1; bytes "$(le 16)\x02_id\x00$(le 9)x\x00\x00"; } >in/d/c.bson
both 3 'd.c: document 2, offset 18|in/d/c.bson'
fresh
{ doc 1; bytes "$(le 14)\x10_id\x00$(le 2)\x01"; } >in/d/c.bson
both 3 'd.c: document 2, offset|in/d/c.bson'
fresh
for i in 1 2 3 4 5 6 7 8 9; do doc $i; done | gzip -n | head -c 40 >in/d/c.bson.gz
both 3 'd.c: document|in/d/c.bson.gz|truncated'
fresh
: >in/d/c.bson.gz
expect 3 'in/d/c.bson.gz' set.yaml -i in -o out

# ---- sizes and depths ----
fresh
{ bytes "$(le 16777216)\x10_id\x00$(le 1)\x02s\x00$(le 16777195)"; head -c 16777194 /dev/zero | tr '\0' x; bytes '\x00\x00'; } >in/d/c.bson
expect 0 '' copy.yaml -i in -o out
cmp -s in/d/c.bson out/d/c.bson || fail "16 MiB are not copied as they are"
rm -rf out
expect 7 'refused' set.yaml -i in -o out
rm -f out.*
expect 1 'refused' set.yaml -i in -o out --max-refused 1
fresh
nested 179 >in/d/c.bson
expect 0 '' set.yaml -i in -o out
fresh
nested 500 >in/d/c.bson
expect 0 '' copy.yaml -i in -o out
cmp -s in/d/c.bson out/d/c.bson || fail "500 levels are not copied as they are"

# ---- values that are odd, not wrong ----
fresh
bytes "$(le 28)\x10_id\x00$(le 1)\x10x\x00$(le 1)\x10x\x00$(le 2)\x00" >in/d/c.bson
expect 0 '' copy.yaml -i in -o out
cmp -s in/d/c.bson out/d/c.bson || fail "a double field is not copied as it is"
rm -rf out
expect 7 'twice' set.yaml -i in -o out
fresh
bytes "$(le 25)\x10_id\x00$(le 1)\x01k\x00\x01\x00\x00\x00\x00\x00\xf8\xff\x00" >in/d/c.bson
bytes "$(le 18)\x01_id\x00\x00\x00\x00\x00\x00\x00\xf8\x7f\x00" >in/d/p.bson
expect 0 '' embed.yaml -i in -o out
[ "$(wc -c <out/d/p.bson)" -gt 40 ] || fail "one NaN is not the other"
[ ! -s out/d/c.bson ] || fail "what was embedded is there still"

# ---- plans ----
fresh
doc 1 >in/d/c.bson
printf 'steps:\n- set: { in: "c\\0d", fields: { y: 1 } }\n' >nul.yaml
expect 2 'nul.yaml:2:|NUL' nul.yaml -i in -o out
printf 'steps:\n- set: { in: c, fields: { "y\\0z": 1 } }\n' >nul.yaml
expect 2 'nul.yaml:2:|U+0000' nul.yaml -i in -o out
printf 'steps: []\n\0' >nul.yaml
expect 2 'nul.yaml:' nul.yaml -i in -o out
expect 2 'none.yaml' none.yaml -i in -o out
expect 2 'it is a folder, not a file' . -i in -o out

# ---- inputs that are none ----
expect 2 'nowhere' set.yaml -i nowhere -o out
mkdir -p empty/d
expect 2 'empty: no dump here: no .bson and no .metadata.json file' copy.yaml -i empty -o out
mkdir -p backup/monday && cp -r in backup/monday/dump
expect 2 'file; backup/monday/dump is one' copy.yaml -i backup -o out
expect 2 'backup/monday/dump is one' copy.yaml -i backup/monday -o out
rm -r backup
: >in/d/c.bson
expect 0 '' set.yaml -i in -o out
[ -e out/d/c.bson ] && [ ! -s out/d/c.bson ] || fail "an empty collection is not there"
fresh
doc 1 >in/d/c.bson
doc 2 | gzip -n >in/d/c.bson.gz
expect 3 'two files for one namespace d.c|in/d/c.bson|in/d/c.bson.gz' set.yaml -i in -o out
fresh
doc 1 >in/d/c.bson
printf '{"options":{},"indexes":[' >in/d/c.metadata.json
expect 3 'in/d/c.metadata.json' set.yaml -i in -o out
printf '{"options":1,"indexes":{}}' >in/d/c.metadata.json
expect 3 'in/d/c.metadata.json' set.yaml -i in -o out
rm in/d/c.metadata.json
mv in/d/c.bson 'in/d/c%zz.bson'
expect 3 'c%zz.bson' copy.yaml -i in -o out
ln -s nothing in/d/e.bson
mv 'in/d/c%zz.bson' in/d/c.bson
expect 3 'in/d/e.bson: a soft link' copy.yaml -i in -o out

# ---- input and output in one place ----
fresh
doc 1 >in/d/c.bson
for out in in in/ in/d in/new in/d/c.bson ./in/../in/x; do
    expect 2 'overlap|must stay as it is' set.yaml -i in -o "$out" --force
done
expect 2 'overlap' set.yaml -i in/d -o in --force
ln -s in link
expect 2 'overlap' set.yaml -i link -o in/other
[ "$(find in | sort | tr '\n' ' ')" = "in in/d in/d/c.bson " ] || fail "something was written into the input"
mkdir out
echo mine >out/thesis.txt
expect_there() {
    "$tool" run set.yaml -i in -o out "$@" >/dev/null 2>err
    [ $? -eq 2 ] && [ -s out/thesis.txt ] || fail "somebody's folder: $(cat err)"
}
expect_there
expect_there --force
rm -rf out

# ---- a full disk, and files that may not grow ----
fresh
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do doc $i; done >sixteen
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat sixteen; done >many
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat many; done >lots
cp lots in/d/c.bson
doc 1 >in/d/p.bson
printf 'steps:\n- embed: { from: c, into: p, match: { _id: _id }, as: cs }\n' >large.yaml
(
    ulimit -f 40
    "$tool" run large.yaml -i in -o out --memory 64K >/dev/null 2>err
    echo $? >status
)
[ "$(cat status)" = 4 ] && grep -q 'File too large' err || fail "a limit on files: status $(cat status), $(cat err)"
[ ! -e out ] && [ ! -e out.partial ] || fail "a limit on files left something"
"$tool" run copy.yaml -i in/d/p.bson -o - --ns d.p >/dev/full 2>err
[ $? -eq 4 ] && grep -q 'No space left' err || fail "a full disk behind standard output: $(cat err)"
if mkdir small && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
    expect 4 'No space left on device|small' large.yaml -i in -o out --tmp small --memory 16K
    "$tool" run copy.yaml -i in -o small/out >/dev/null 2>err
    got=$?
    [ $got -eq 4 ] && grep -q 'No space left' err && [ -z "$(ls -A small)" ] || fail "a full disk: status $got, $(cat err) $(ls -A small)"
    umount small
else
    echo "skipped: a full disk (no tmpfs can be mounted here)"
    skipped=$((skipped + 1))
fi

# ---- permissions; root has all of them, so it becomes somebody else ----
fresh
doc 1 >in/d/c.bson
mkdir -p none ok
chmod 755 "$dir"
chmod 777 ok
as=()
if [ "$(id -u)" = 0 ]; then
    command -v setpriv >/dev/null && as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
if [ "$(id -u)" != 0 ] || [ ${#as[@]} -gt 0 ]; then
    tried() {
        local want=$1 words=$2 got
        shift 2
        "${as[@]}" "$tool" run "$@" >/dev/null 2>err
        got=$?
        [ $got -eq "$want" ] && grep -qF -- "$words" err || fail "status $got, not $want: $(cat err) (of: $*)"
        [ -z "$(ls -A ok)" ] || fail "left in the folder: $(ls -A ok)"
    }
    if "${as[@]}" "$tool" --version >/dev/null 2>&1; then
        chmod 000 in/d/c.bson
        tried 4 'in/d/c.bson: Permission denied' set.yaml -i in -o ok/out
        chmod 644 in/d/c.bson
        chmod 000 in/d
        tried 4 'in/d: Permission denied' set.yaml -i in -o ok/out
        chmod 755 in/d
        chmod 555 none
        tried 4 'none/out.partial: Permission denied' set.yaml -i in -o none/out
        cp in/d/c.bson in/d/p.bson
        cp lots in/d/c.bson
        tried 4 'none: Permission denied' large.yaml -i in -o ok/out --tmp none --memory 4K
        chmod 000 set.yaml
        tried 4 'set.yaml: Permission denied' set.yaml -i in -o ok/out
        chmod 644 set.yaml
        tried 2 'nowhere/out: the folder that it would be in does not exist' set.yaml -i in -o ok/nowhere/out
    else
        echo "skipped: permissions (another user cannot reach the tool)"
        skipped=$((skipped + 1))
    fi
else
    echo "skipped: permissions (root without setpriv)"
    skipped=$((skipped + 1))
fi

echo "cli/bad_input: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
