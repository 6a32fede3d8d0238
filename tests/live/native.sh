#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# native.sh - apply --engine pipeline: the server's result equals that of the client, also if the tool or the server is
# killed meanwhile; documents that a pipeline cannot refuse are left to the client. Then every case of tests/cases that
# may run while writers run, by this engine (cases.sh).
# Environment: OBJ, the folder of the programs.
set -u
. "$(dirname "$0")/begin.bash"
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
tool=$obj/mongoreshape-live-test ask=$obj/ask
export MONGOC_DISABLE_SHM=1
needs "$tool" "$ask"
if [ "${1:-}" != --inside ]; then
    outside "no server for tests" --sync
    status=$?
    cases=$(OBJ=$obj bash "$here/cases.sh" --engine pipeline < /dev/null)
    grep -v '^cases: ' <<< "$cases"
    sum=$(sed -n 's/^cases: //p' <<< "$cases")
    echo "cases by pipelines: ${sum:-0 passed, 1 failed, 0 skipped}"
    [ $status = 0 ] && [ "$(sed -n 's/.* \([0-9]*\) failed.*/\1/p' <<< "${sum:-1 1 failed}")" = 0 ]
    exit $?
fi
inside
skipped=0
state=__mdb_internal_mongoreshape
server() { "$ask" "$@" || fail "the server: $*"; }

cat > plan.yaml << 'END'
steps:
- embed: { from: comments, into: posts, match: { post: _id }, as: comments, sort: { at: 1 }, count: n, keep: all }
- rollup: { from: comments, into: users, match: { by: _id }, as: all, fields: { n: { $sum: 1 }, last: { $max: $at } } }
- extract: { from: orders, path: lines, into: lines, parent_ref: order }
- set: { in: people, fields: { full: { $concat: [$first, " ", $last] } } }
- rename: { in: people, fields: { first: given } }
END

# fill [MORE]: the same documents each time; MORE: others that a pipeline cannot do
fill() {
    local i posts='' comments='' users='' orders='' people=''
    for db in shop $state; do server $db '{"dropDatabase": 1}' > /dev/null; done
    for ((i = 1; i <= 12; i++)); do
        posts="$posts,{\"_id\": $i, \"title\": \"post $i\"}"
        users="$users,{\"_id\": \"u$i\"}"
        orders="$orders,{\"_id\": $i, \"lines\": [{\"_id\": ${i}1, \"n\": 1}, {\"_id\": ${i}2}], \"k\": $i}"
        people="$people,{\"_id\": $i, \"first\": \"f$i\", \"last\": \"l$i\"}"
    done
    for ((i = 1; i <= 40; i++)); do
        comments="$comments,{\"_id\": $i, \"post\": $((i % 7 + 1)), \"by\": \"u$((i % 5 + 1))\", \"at\": $((i % 9))}"
    done
    server shop "{\"insert\": \"posts\", \"documents\": [${posts#,}]}" > /dev/null
    server shop "{\"insert\": \"users\", \"documents\": [${users#,}]}" > /dev/null
    server shop "{\"insert\": \"orders\", \"documents\": [${orders#,}]}" > /dev/null
    server shop "{\"insert\": \"people\", \"documents\": [${people#,}${1:-}]}" > /dev/null
    server shop "{\"insert\": \"comments\", \"documents\": [${comments#,}]}" > /dev/null
    for key in post by; do
        server shop "{\"createIndexes\": \"comments\", \"indexes\": [{\"key\": {\"$key\": 1}, \"name\": \"$key\"}]}"
    done > /dev/null
}

# run STATUS WORDS ARGS...: the tool, what it ends with, and words that it says
run() {
    local status=$1 words=$2
    shift 2
    "$tool" "$@" --db shop > out 2>&1 < /dev/null
    local got=$?
    if [ "$got" != "$status" ]; then
        fail "status $got, not $status: $* ($(head -8 out))"
    elif ! grep -qF -- "$words" out; then
        fail "no \"$words\" in: $(head -20 out) (of: $*)"
    else
        ok
    fi
}

documents() { server --picture | grep '^shop\.'; }
same() { documents > is; if cmp -s is "$1"; then ok; else fail "$2: $(diff "$1" is | head -6)"; fi; }
go() { run "$1" "$2" apply plan.yaml --engine pipeline --batch 5 --lease 1000 --allow-scan --execute "${@:3}"; }

# ---- the same documents as the client makes
fill
run 0 '' apply plan.yaml --batch 5 --allow-scan --execute
documents > want
fill
documents > before
run 0 'by pipelines of the server' apply plan.yaml --engine pipeline --allow-scan
same before "a dry run"
go 0 ', 0 put right, 0 differ'
! grep -q ' by the client' out && ok || fail "the client has worked: $(cat out)"
same want "by pipelines"
run 0 '' rollback plan.yaml --allow-scan --execute
same before "rolled back"

# ---- words that do not go together
run 2 'it excludes --quiet-by' apply plan.yaml --engine pipeline --quiet-by word
run 2 'and --mode direct' apply plan.yaml --engine pipeline --mode direct

# ---- the tool dies, wherever it is
for stop in before-aggregate:1 after-aggregate:1 after-aggregate:4 before-aggregate:6 after-aggregate:7 \
    before-aggregate:9 after-aggregate:11 after-read-range:5 before-state-update:6; do
    fill
    MRS_STOP=$stop=kill "$tool" apply plan.yaml --db shop --engine pipeline --batch 5 --lease 1000 --allow-scan \
        --execute > out 2>&1 < /dev/null
    [ $? = 137 ] || fail "not killed at $stop: $(head -5 out)"
    go 0 ', 0 put right, 0 differ'
    same want "killed at $stop"
done

# ---- the server dies
if [ -n "${MONGODB_SERVER_DIR:-}" ]; then
    for stop in before-aggregate:2 after-aggregate:5 after-aggregate:8; do
        fill
        MRS_STOP="$stop=run:$here/../server/ctl kill9 && $here/../server/ctl start" go 0 ', 0 put right, 0 differ'
        same want "server killed at $stop"
    done
else
    skipped=$((skipped + 1))
    echo "skipped: native with a server that dies (it is the caller's)"
fi

# ---- what a pipeline cannot refuse
more=',{"_id": 50, "first": 5, "last": "x"}, {"_id": 51, "first": "a", "last": "b", "given": 1}'
fill "$more"
run 6 'given' apply plan.yaml --engine pipeline --batch 5 --allow-scan --execute
fill ',{"_id": 50, "first": 5, "last": "x"}'
go 7 ''
go 1 'by the client, the last one because of: ' --max-refused 1
run 0 '' status plan.yaml
fill ',{"_id": 50, "first": 5, "last": "x"}'
run 1 '' apply plan.yaml --batch 5 --allow-scan --execute --max-refused 1
documents > refused
fill ',{"_id": 50, "first": 5, "last": "x"}'
go 1 'by the client' --max-refused 1
same refused "with a refused document"

# ---- through a mongos, as far as a proxy can play one
port=$(sed -n 's|^mongodb://[^/]*:\([0-9]*\)/.*|\1|p' <<< "$MONGODB_URI")
mongos() { # STATUS WORDS ARGS...
    local status=$1 words=$2
    shift 2
    python3 "$here/mongos.py" "$port" "$tool" "$@" --db shop > out 2>&1 < /dev/null
    local got=$?
    if [ "$got" = "$status" ] && grep -qF -- "$words" out; then
        ok
    else
        fail "mongos: status $got, not $status, or no \"$words\": $* ($(head -12 out))"
    fi
}
if [ -n "$port" ] && command -v python3 > /dev/null; then
    fill
    mongos 6 'the server is a mongos' apply plan.yaml --execute
    mongos 6 'the server is a mongos' apply plan.yaml --quiet-by word --execute
    mongos 0 'by pipelines of the server' apply plan.yaml --engine pipeline --allow-scan
    same before "a dry run through a mongos"
    # posts are sharded by a field of theirs: it is merged, too, and changes nothing
    "$ask" config '{"insert": "collections", "documents": [{"_id": "shop.posts", "key": {"title": 1}}]}' \
        > /dev/null 2>&1
    mongos 0 ', 0 put right, 0 differ' apply plan.yaml --engine pipeline --batch 5 --allow-scan --execute
    same want "through a mongos"
    mongos 0 '' verify plan.yaml --allow-scan
    mongos 6 'the server is a mongos' verify plan.yaml --allow-scan --repair --execute
    mongos 6 'the server is a mongos' rollback plan.yaml --allow-scan --execute
    fill ',{"_id": 50, "first": 5, "last": "x"}'
    mongos 6 'through a mongos only pipelines work' apply plan.yaml --engine pipeline --batch 5 --allow-scan --execute
    echo 'steps: [embed: { from: comments, into: posts, match: { post: _id }, as: two, limit: 2 }]' > deep.yaml
    fill
    mongos 6 'through a mongos a step must be a pipeline' apply deep.yaml --engine pipeline --allow-scan --execute
    "$ask" config '{"delete": "collections", "deletes": [{"q": {"_id": "shop.posts"}, "limit": 0}]}' \
        > /dev/null 2>&1
else
    skipped=$((skipped + 1))
    echo "skipped: native through a mongos (no port of a server, or no python3)"
fi
finish
