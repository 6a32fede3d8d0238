#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# containers.sh MONGORESHAPE - dumps packed as tar, zip, 7z and cpio: the same plan gives the same documents, a plan
# without steps gives every byte back, and an incomplete dump is refused with its reason.
#
# Containers are made by tests/cases/repack.c, so that no test depends on the tools of the machine.
set -u
tool=$(realpath "$1")
objects=$(dirname "$tool")
casetool=$objects/casetool repack=$objects/repack
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../wait.bash"
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
passed=0 failed=0 skipped=0
for program in "$casetool" "$repack"; do
    [ -x "$program" ] || { echo "containers: no program at $program" >&2; exit 2; }
done
manifest=mongoreshape.manifest.json
printf 'plan: nothing\nsteps: []\n' > nothing.yaml
kinds="tar tar.gz tar.zst tar.xz tar.bz2 tar.lz4 gnutar zip 7z cpio odc"

# verdict NAME COMPLAINTS: one test; whatever was said counts as its failure
verdict() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n%s\n' "$1" "$2" | sed '2,$s/^/    /'
    fi
}

# go STATUS OPTION...: the plan without steps; what it said is in log
go() {
    local want=$1 got
    shift
    "$tool" run nothing.yaml "$@" > log 2>&1 < "${stdin:-/dev/null}"
    got=$?
    [ $got = "$want" ] || { echo "exit status $got, not $want"; cat log; }
}
says() { grep -Eq -- "$1" log || { echo "not said: $1"; cat log; }; }
same() { diff -r -x $manifest "$1" "$2"; }
absent() { for f in "$@"; do [ -e "$f" ] && echo "$f is there"; done; }

# a dump of everything: an empty collection, a view, an over-long name, packed files, an oplog, files of no tool
mkdir -p case/in
for i in 1 2 3 4 5 6 7 8 9; do
    echo "{\"_id\":$i,\"text\":\"some text that can be packed, some text that can be packed\"}"
done > case/in/shop.orders.jsonl
cp case/in/shop.orders.jsonl "case/in/shop.with space.jsonl"
cp case/in/shop.orders.jsonl case/in/other.things.jsonl
: > case/in/shop.empty.jsonl
echo '{"options":{"viewOn":"orders","pipeline":[]},"indexes":[],"collectionName":"v","type":"view"}' \
    > case/in/shop.v.metadata.json
"$casetool" load case dump || exit 2
gzip -n dump/other/things.bson
cp dump/shop/orders.bson dump/shop/\$admin.system.users.bson
: > dump/oplog.bson
echo '{"ServerVersion":"7.0.14","ToolVersion":"100.18.0"}' > dump/prelude.json
mkdir -p dump/shop/folder/deeper
echo 'kept' | tee dump/notes.txt > dump/shop/folder/deeper/notes.txt
stem=$(printf 'n%.0s' $(seq 208))%24$(printf 'x%.0s' $(seq 27))
cp dump/shop/orders.bson "dump/shop/$stem.bson"
printf '{"indexes":[],"collectionName":"%s","type":"collection"}' "$(printf 'n%.0s' $(seq 230))" \
    > "dump/shop/$stem.metadata.json"

# files of an output are packed in one way: as most bytes of the input
cp -r dump flat
gzip -d flat/other/things.bson.gz

go 0 -i dump -o plain > complaints
verdict "the directory itself" "$(cat complaints; same flat plain)"
for kind in $kinds; do
    "$repack" $kind dump c || continue
    verdict "$kind gives every byte back" "$(go 0 -i c -o out; same flat out)"
    rm -rf out
    verdict "$kind on standard input" "$(stdin=c go 0 -i - -o out; same flat out)"
    rm -rf out
    verdict "$kind through a pipe" "$(cat c | "$tool" run nothing.yaml -i - -o out > log 2>&1 || cat log; same flat out)"
    rm -rf out
    verdict "$kind holds what the directory holds" "$("$tool" diff dump c > log 2>&1 || cat log)"
    "$repack" $kind dump c "a wrapping.folder/2024/"
    verdict "$kind in folders" "$(go 0 -i c -o out --nsExclude 'shop.*'; absent out/shop/orders.bson out/other/things.metadata.json
        for f in things.bson things.metadata.json; do zcat out/other/$f.gz | cmp - flat/other/$f 2>&1; done)"
    rm -rf out c
done

# what is packed anew, and what is left out
"$repack" tar dump c
verdict "members are packed anew" "$(go 0 -i c -o out --compress gzip; absent out/shop/orders.bson
    zcat out/shop/orders.bson.gz | cmp - dump/shop/orders.bson 2>&1)"
rm -rf out
verdict "cat" "$("$tool" cat c --ns shop.orders 2>&1 | cmp - <("$tool" cat dump --ns shop.orders 2>&1) 2>&1)"
verdict "a container is a whole dump" "$(go 2 -i c -o out --ns a.b; says 'whole dump'; absent out)"

# out: there and back, the same every time, compressed as a whole where the name or an option says so
for kind in tar tar.gz tgz tar.zst tzst zip; do
    verdict "dump to $kind and back" "$(go 0 -i dump -o o.$kind; go 0 -i o.$kind -o out --compress none
        absent o.$kind.partial; zcat dump/other/things.bson.gz > things 2> /dev/null
        for f in shop/orders.bson shop/empty.bson shop/v.metadata.json "shop/$stem.bson" "shop/$stem.metadata.json" \
            oplog.bson prelude.json notes.txt shop/folder/deeper/notes.txt; do
            cmp "dump/$f" "out/$f" 2>&1
        done
        "$tool" diff dump o.$kind > log 2>&1 || cat log
        "$tool" diff --manifest o.$kind.manifest.json o.$kind > log 2>&1 || cat log)"
    rm -rf out
    verdict "$kind again" "$(mv o.$kind was; go 0 -i plain -o o.$kind; go 0 -i plain -o o.$kind --force --jobs 1
        mv o.$kind one; go 0 -i plain -o o.$kind --force --jobs 2; cmp one o.$kind 2>&1; go 2 -i plain -o o.$kind
        says 'is there already')"
done
for kind in tar zip; do
    verdict "$kind keeps every byte" "$(go 0 -i flat -o same.$kind; go 0 -i same.$kind -o out; same flat out)"
    rm -rf out
done
verdict "how to restore a tar" "$(go 0 -i plain -o r.tar.gz; says "mkdir 'r.tar.gz.d' && tar -xf 'r.tar.gz' -C 'r.tar.gz.d' && mongorestore")"
verdict "how to restore a zip" "$(go 0 -i dump -o r.zip; says "mkdir 'r.zip.d' && unzip -q 'r.zip' -d 'r.zip.d' && mongorestore")"
verdict "tar by option" "$(go 0 -i dump -o opt.tar --compress zstd:1; od -An -tx1 -N4 opt.tar | grep -q '28 b5 2f fd' ||
    echo 'no zstd')"
verdict "a folder is not replaced by a tar" "$(mkdir there.tar; go 2 -i dump -o there.tar --force; says 'not a regular file')"
verdict "no zstd in a zip" "$(go 2 -i dump -o no.zip --compress zstd; says 'gzip or none'; absent no.zip no.zip.partial)"
verdict "a tar on standard output" "$("$tool" run nothing.yaml -i flat -o - --format tar 2> log > piped || cat log
    cmp piped same.tar 2>&1)"

# what xz and the like stand around
for way in xz bz2 lz4 lz; do
    "$repack" raw.$way dump/shop/orders.bson c
    verdict "documents in $way" "$(go 0 -i c -o out.bson --ns shop.orders; cmp out.bson dump/shop/orders.bson 2>&1)"
    rm -f out.*
done
for way in xz bz2 lz4 lz; do
    "$repack" raw.$way dump/shop/orders.bson c
    { cat c; echo more; } > d
    verdict "$way and more" "$(go 3 -i d -o out.bson --ns shop.orders; says 'd: damaged.* near byte'; absent out.bson)"
    { cat c; printf X; tail -c +2 c; } > d
    verdict "two $way streams, one of them damaged" "$(go 3 -i d -o out.bson --ns shop.orders; absent out.bson)"
    cat c c > d
    verdict "two $way streams" "$(go 0 -i d -o out.bson --ns shop.orders
        cat dump/shop/orders.bson dump/shop/orders.bson | cmp - out.bson 2>&1)"
    rm -f out.*
done
"$repack" raw.xz dump/shop/orders.bson c
"$repack" raw.xz c d
verdict "xz in xz" "$(go 3 -i d -o out --ns a.b; says 'packed twice'; absent out out.partial)"

# refused
"$repack" tar dump c
head -c 5000 c > d
verdict "a cut tar" "$(go 3 -i d -o out; says 'd: .*truncated'; absent out out.partial)"
"$repack" zip dump c
head -c 2000 c > d
verdict "a cut zip" "$(go 3 -i d -o out; says 'd: truncated or empty'; absent out out.partial)"
"$repack" 7z dump d
cat d d > e
verdict "two 7z" "$(go 3 -i e -o out; says "e: there is something at byte $(stat -c %s d)"; absent out out.partial)"
cat c c > d
verdict "two zips" "$(go 3 -i d -o out; says 'd: there is something at byte'; absent out out.partial)"
{ cat c; echo more; } > d
verdict "a zip and more" "$(go 3 -i d -o out; says "d: there is something at byte $(stat -c %s c), after its end"; absent out out.partial)"
"$repack" tar.xz dump c
head -c 500 c > d
verdict "a cut tar.xz" "$(go 3 -i d -o out; says 'd: damaged, truncated'; absent out out.partial)"
mkdir -p two/a/x two/b/x
cp dump/shop/orders.bson two/a/x
cp dump/shop/orders.bson two/b/x
"$repack" tar two c
verdict "two dumps" "$(go 3 -i c -o out; says 'more than one dump'; absent out out.partial)"
"$repack" zip dump/shop c ""
verdict "a database without a name" "$(go 3 -i c -o out; says 'no folder'; absent out)"
"$repack" tar dump c ../
verdict "names that climb out" "$(go 3 -i c -o out; says 'climbs out'; absent out)"

# while one is read: a line about it, and the first signal ends it
mkdir tmp
mkfifo slow
"$repack" tar.gz dump c
exec 7<>slow # no end comes as long as this is open
head -c 3000 c >&7
: >log
"$tool" run nothing.yaml -i - -o out --tmp tmp --progress <slow >/dev/null 2>>log 7>&- &
pid=$!
await grep -q 'reading standard input' log
kill -TERM $pid
ended $pid
got=$?
exec 7>&-
verdict "reading is interrupted" "$([ $got = 143 ] || echo "exit status $got"; says 'reading standard input'
    says 'interrupted'; absent out out.partial; ls tmp)"

# the cases of the steps, the first of each, from containers
for folder in "$here"/../cases/*/; do
    find "$folder" -mindepth 2 -maxdepth 2 -name plan.yaml | LC_ALL=C sort | head -n 1
done | while read -r plan; do dirname "$plan"; done > chosen
mapfile -t chosen < chosen
MONGORESHAPE=$tool CASETOOL=$casetool REPACK=$repack TWIN='' CASES_CONTAINERS="tar tar.gz tar.zst tar.xz zip 7z cpio" \
    "$here/../cases/run.sh" "${chosen[@]}" > log 2>&1
verdict "cases from containers" "$(grep -Eq '^cases: [1-9][0-9]* passed, 0 failed' log || cat log)"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
