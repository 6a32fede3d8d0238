#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# diff.sh - `mongoreshape diff`: equal in any order and packing, differences are listed and counted, statuses; the
# manifests of runs against their input and output; memory.
# usage: diff.sh MONGORESHAPE
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tool=$(realpath "$1")
data=${MRS_DATA:-$root/../shared/data}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0 skipped=0

fail() { printf 'FAILED: %s\n' "$*"; failed=$((failed + 1)); }
skip() { printf 'skipped: %s\n' "$*"; skipped=$((skipped + 1)); }

# ends STATUS WORDS ARGS...: the status, the words on standard output or error
ends() {
    status=$1 words=$2
    shift 2
    "$tool" diff "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$status" ] || fail "status $got, not $status: diff $*: $(cat out err)"
    [ -z "$words" ] || cat out err | grep -qF -- "$words" || fail "no \"$words\" in: $(cat out err) (of: diff $*)"
}

sample=$root/dumps/sample
cp -r "$sample" b
ends 0 'hold the same: 26 namespaces' "$sample" b
[ ! -s out ] || fail "equal dumps have something on standard output"
ends 0 '' "$sample" b -q
[ ! -s out ] && [ ! -s err ] || fail "-q says: $(cat out err)"
find b -name '*.bson' -exec gzip {} +
ends 0 'hold the same' "$sample" b --memory 4K -j 1
printf 'steps:\n- set: { in: { db: blog, coll: posts }, fields: { seen: 1 } }\n- drop_collection: { in: { db: cinema, coll: halls } }\n' >plan.yaml
"$tool" run plan.yaml -i "$sample" -o out.d -q || fail "run"
ends 1 'blog.posts: 8 differ (8 documents in A, 8 in B)' "$sample" out.d
grep -qF '    seen: nothing in A, {"$numberInt":"1"} in B' out || fail "the value that differs: $(cat out)"
grep -qF 'cinema.halls: only in A (2 documents)' out || fail "a collection that is gone: $(cat out)"
grep -qF '2 of 26 namespaces differ' err || fail "the sum: $(cat err)"
ends 1 'and 7 more' "$sample" out.d --limit 1
ends 1 'blog.posts: 8 differ' "$sample" out.d --limit 0 --ns blog.posts
[ "$(wc -l <out)" -eq 1 ] || fail "--limit 0 names documents: $(cat out)"
ends 0 'hold the same: 1 namespace' "$sample" out.d --ns blog.comments
ends 1 '"changed":8,"onlyA":0,"onlyB":0' "$sample" out.d --json
[ ! -s err ] || fail "--json says on standard error: $(cat err)"

# ---- single files, standard input ----
ends 0 'hold the same: 1 namespace, 8 documents' "$sample/blog/posts.bson" b/blog/posts.bson.gz
"$tool" diff "$sample/blog/posts.bson" - <b/blog/posts.bson.gz >out 2>&1 || fail "standard input: $(cat out)"

# ---- misuse, damage ----
ends 2 'two dumps are needed' "$sample"
ends 2 'two dumps are needed'
ends 2 'only one of the dumps can be standard input' - -
ends 2 'an unexpected argument' a b c
ends 2 '-i IN goes with --manifest only' a b -i c
ends 2 'there is no such file' "$sample" nowhere
printf '\016\0\0\0\020_id\0' >b/blog/short.bson
ends 3 'blog.short: document 1' "$sample" b
ends 3 'blog.short' b b

# Long options show the place where they differ.
mkdir -p long/a/d long/b/d
for side in a b; do
    : >long/$side/d/c.bson
    printf '{"options":{"validator":{"$jsonSchema":{"required":["%0200d","%s"]}}},"indexes":[]}' 0 $side \
        >long/$side/d/c.metadata.json
done
ends 1 '0000","a"]}} in A, ...' long/a long/b
grep -qF '0000","b"]}} in B' out || fail "the end of the long option of B: $(cat out)"

# ---- manifests ----
manifest=out.d/mongoreshape.manifest.json
ends 0 'hold the same: 25 namespaces' --manifest "$manifest" out.d
ends 0 'hold the same: 26 namespaces' --manifest "$manifest" -i "$sample"
ends 1 'cinema.halls: only in the dump (2 documents)' --manifest "$manifest" "$sample"
cp -r "$sample" c
rm c/blog/members.*
cat c/blog/posts.bson >>c/shop/extra.bson
printf '\016\0\0\0\020_id\0\001\0\0\0\0' >c/cinema/movies.bson
ends 1 'blog.members: only in the manifest (5 documents)' --manifest "$manifest" -i c
grep -qF 'cinema.movies: other documents (4 documents in the manifest, 1 in the dump)' out || fail "$(cat out)"
grep -qF 'shop.extra: only in the dump (8 documents)' out || fail "$(cat out)"
[ "$(wc -l <out)" -eq 3 ] || fail "other collections differ as well: $(cat out)"
ends 2 'needs one dump' --manifest "$manifest" a b
ends 2 'needs one dump' --manifest "$manifest"
ends 2 'needs one dump' --manifest "$manifest" a -i b
ends 2 'do not go together' --manifest "$manifest" a --ns x
ends 3 'this is no manifest' --manifest plan.yaml out.d
ends 3 'no manifest that tells' --manifest "$sample/blog/posts.metadata.json" out.d
now=2024-05-01T00:00:00Z
"$tool" run plan.yaml -i "$sample" -o one -q --now $now && "$tool" run plan.yaml -i "$sample" -o two -q --now $now -j 1 \
    --memory 4K || fail "two runs"
cmp -s one/mongoreshape.manifest.json two/mongoreshape.manifest.json || fail "two runs of the same have other manifests"
grep -q '"input":\[{"ns":"blog.comments","docs":{"$numberLong":"40"}' one/mongoreshape.manifest.json ||
    fail "the manifest has no input"
for plan in "$root"/dumps/plans/*.yaml; do
    rm -rf o
    "$tool" run "$plan" -i "$sample" -o o -q >/dev/null 2>&1 || continue # it is for the result of another
    ends 0 '' --manifest o/mongoreshape.manifest.json o
    ends 0 '' --manifest o/mongoreshape.manifest.json -i "$sample"
done

# ---- what mongodump wrote: one dump as a folder and as an archive ----
if [ -d "$data/mongodump-100.18" ]; then
    a=$data/mongodump-100.18
    ends 0 'hold the same' "$a/dir" "$a/full.archive.gz"
    ends 0 'hold the same' "$a/dir-gzip-oplog" "$a/full-oplog.archive"
    ends 0 'hold the same' "$a/ts-8.3-dir" "$a/ts-8.3.archive"
    ends 1 'oplog.bson: only in B (5 documents)' "$a/dir" "$a/full-oplog.archive"
else
    skip "no dumps of mongodump 100.18 (set MRS_DATA)"
fi

# ---- documents with one hash ----
# Two that XXH3-128 with the seed 0 takes for one (tests/cases/union/same_hash says how they are made) are two: between
# dumps, among others, and beside a manifest.
one_doc() { # SIDE: the document of t.a or t.b
    printf '\006\001\000\000\020_id\000\001\000\000\000\005x\000\360\000\000\000\000'
    sed -n '1s/.*"base64":"\([^"]*\)".*/\1/p' "$root/tests/cases/union/same_hash/in/t.$1.jsonl" | base64 -d
    printf '\000'
}
mkdir -p same/a/t same/b/t
for side in a b; do
    one_doc $side >same/$side/t/c.bson
    [ "$(wc -c <same/$side/t/c.bson)" -eq 262 ] || fail "the document of $side has not 262 bytes"
done
ends 1 't.c: 1 differ' same/a same/b
grep -qF 'x: ' out || fail "the value that differs: $(cat out)"
one_doc b >>same/a/t/c.bson # both in one collection, in either order
one_doc a >>same/b/t/c.bson
ends 0 'hold the same' same/a same/b
one_doc a >>same/a/t/c.bson
one_doc b >>same/b/t/c.bson
ends 1 't.c: 1 differ' same/a same/b
ends 1 't.c: 1 differ' same/a same/b --memory 4K -j 1
printf 'steps:\n- set: { in: { db: t, coll: c }, where: { _id: 2 }, fields: { y: 1 } }\n' >same.yaml
"$tool" run same.yaml -i same/a -o same/out -q || fail "run over documents with one hash"
ends 0 'hold the same' --manifest same/out/mongoreshape.manifest.json -i same/a
ends 1 't.c: the digest differs' --manifest same/out/mongoreshape.manifest.json -i same/b
ends 1 't.c: the digest differs' --manifest same/out/mongoreshape.manifest.json same/b
sed 's/"digests":"[^"]*",//' same/out/mongoreshape.manifest.json >old.json
ends 3 'another version of mongoreshape wrote it' --manifest old.json same/out

# ---- memory: the documents of two large collections, all of them other ----
i=0
cp "$sample/blog/comments.bson" large.bson
while [ "$(wc -c <large.bson)" -lt 100000000 ]; do
    cat large.bson large.bson large.bson large.bson >more && mv more large.bson
done
mkdir -p big.a/d big.b/d && mv large.bson big.a/d/c.bson
printf 'database: d\nsteps:\n- set: { in: c, fields: { one: more } }\n' >more.yaml
"$tool" run more.yaml -i big.a -o big.o -q && mv big.o/d/c.bson big.b/d/c.bson || fail "run of the large collection"
if [ -x /usr/bin/time ]; then
    /usr/bin/time -f %M -o peak "$tool" diff big.a big.b --limit 3 --memory 64M >out 2>err
    [ $? -eq 1 ] && grep -q ' differ (' out || fail "large: $(cat out err)"
    kib=$(tail -n 1 peak)
    [ "$kib" -le 65536 ] || [ -n "${SAN:-}" ] || fail "$kib KiB of memory, 64M were allowed"
else
    skip "the memory of a large diff: /usr/bin/time is not here"
fi

if [ "$failed" -ne 0 ]; then
    echo "cli/diff: $failed failed"
    exit 1
fi
echo "cli/diff: ok, $skipped skipped"
