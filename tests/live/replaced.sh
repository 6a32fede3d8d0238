#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# replaced.sh - a quiet run is killed, and a collection of it is dropped and made again: nothing can finish the run, and
# `abort --clean` removes it and lets writers in, if what it may hold is given up by name, also where the server does
# not know the block that the run notes. And where a refused document
# is what keeps `contract` from ending, it says so. And `verify` of a run that refused too many to come to its end.
# Environment: OBJ, the folder of the programs.
set -u
. "$(dirname "$0")/begin.bash"
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
tool=$obj/mongoreshape-live-test ask=$obj/ask
export MONGOC_DISABLE_SHM=1
needs "$tool" "$ask"
within "$@"
printf 'database: shop\nsteps:\n- embed: { from: comments, into: posts, match: { post: _id }, as: all }\n' > plan.yaml
again='[{"_id": 1}, {"_id": 2}]'

fill() {
    for db in shop __mdb_internal_mongoreshape; do "$ask" $db '{"dropDatabase": 1}' > asked || fail "$(cat asked)"; done
    "$ask" shop '{"insert": "posts", "documents": '"$again"'}' > asked &&
        "$ask" shop '{"insert": "comments", "documents": [{"_id": 1, "post": 1}, {"_id": 2, "post": 2}]}' > asked &&
        "$ask" shop '{"createIndexes": "comments", "indexes": [{"key": {"post": 1}, "name": "post"}]}' > asked ||
        fail "fill: $(cat asked)"
}

# expect STATUS TEXT WORD...: a command of the tool ends so, and says that
expect() {
    local status=$1 text=$2 got
    shift 2
    "$tool" "$@" > out 2> err < /dev/null
    got=$?
    [ "$got" = "$status" ] && grep -qF -- "$text" out err && ok ||
        fail "$*: $got, not $status \"$text\": $(cat out err)"
}
killed_at() {
    MRS_STOP=$1=kill "$tool" apply plan.yaml --quiet-by validator --execute > out 2>&1 < /dev/null
    [ $? = 137 ] && ok || fail "not killed at $1: $(cat out)"
}
replace() {
    "$ask" shop '{"drop": "posts"}' > asked &&
        "$ask" shop '{"insert": "posts", "documents": '"$again"'}' > asked || fail "replace: $(cat asked)"
}
# writers YES|NO: may an application insert a comment?
writers() {
    local may=NO
    "$ask" shop '{"insert": "comments", "documents": [{"post": 1}]}' > asked 2>&1 && grep -q '"n"' asked &&
        ! grep -q writeErrors asked && may=YES
    [ $may = "$1" ] && ok || fail "writers: $may, not $1: $(cat asked)"
}

fill
killed_at after-seal
expect 2 'finish it with `apply --execute`' abort plan.yaml --clean --discard-changes --execute
replace
expect 6 'remove this run with `abort --clean`' apply plan.yaml --quiet-by validator --execute
"$ask" --picture > before
expect 2 'then remove it with --discard-changes' abort plan.yaml --clean
expect 2 'then remove it with --discard-changes' abort plan.yaml --clean --execute
writers NO
expect 0 'this run still keeps writers out' abort plan.yaml --clean --discard-changes
expect 0 'abort plan.yaml --clean --discard-changes --execute' abort plan.yaml --clean --discard-changes
"$ask" --picture > after
cmp -s before after && ok || fail "a refused or shown removal wrote: $(diff before after)"
expect 0 'is removed' abort plan.yaml --clean --discard-changes --execute
writers YES
expect 0 'there are no runs' status
expect 0 '' apply plan.yaml --quiet-by validator --execute

fill
killed_at blocked
replace
writers NO
expect 0 'is removed' abort plan.yaml --clean --execute
writers YES

# A run that notes a block which the server does not know, as one of before the dry run asked for that.
fill
killed_at blocked
"$ask" __mdb_internal_mongoreshape \
    '{"update": "runs", "updates": [{"q": {}, "u": {"$set": {"blocked": {"by": "block"}}}}]}' > asked
expect 0 'is removed from' abort plan.yaml --clean --execute

fill
printf 'database: shop\nsteps: [{ extract: { from: posts, path: s, into: t, parent_ref: p } }]\n' > plan.yaml
zero='{"_id": 3, "s": {"at": {"$timestamp": {"t": 0, "i": 0}}}}'
"$ask" shop '{"insert": "posts", "documents": ['"$zero"']}' > asked
expect 7 'more than --max-refused 0' apply plan.yaml --execute
expect 1 'the run is not complete' verify plan.yaml --repair --execute
expect 1 'apply plan.yaml --execute' verify plan.yaml
expect 1 '1 refused' apply plan.yaml --execute --max-refused any
expect 6 'correct the refused documents, which may be the cause' contract plan.yaml --quiet-by word --execute
"$ask" shop '{"update": "posts", "updates": [{"q": {"_id": 3}, "u": {"$set": {"s.at": 1}}}]}' > asked
expect 0 '' verify plan.yaml --repair --execute
expect 0 '' contract plan.yaml --quiet-by word --execute

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
