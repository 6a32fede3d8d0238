#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# next.sh - the commands that the tool prints for the next step, also by `status`, work as they are: each is given to a
# shell, without MONGODB_URI, from `apply` with --allow-scan to the end of the run.
# Environment: OBJ, the folder of the programs.
set -u
. "$(dirname "$0")/begin.bash"
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
tool=$obj/mongoreshape-live ask=$obj/ask
export MONGOC_DISABLE_SHM=1
needs "$tool" "$ask"
within "$@"
export PATH=$obj:$PATH
umask 077
printf '%s\n' "$MONGODB_URI" > "the uri"
echo 'database: shop
steps:
- embed: { from: comments, into: posts, match: { post: _id }, as: comments }' > plan.yaml

# fill: posts, and comments without an index on `post`
fill() {
    local docs='{"_id": 1}, {"_id": 2}' coll
    for coll in posts comments; do
        "$ask" shop "{\"drop\": \"$coll\"}" > asked 2>&1
        "$ask" shop "{\"insert\": \"$coll\", \"documents\": [$docs]}" > asked || fail "insert: $(cat asked)"
        docs='{"_id": 1, "post": 1}, {"_id": 2, "post": 1}, {"_id": 3, "post": 2}'
    done
}
# gives LINE: runs it; its verb is added to `went`
gives() {
    went="$went $(cut -d' ' -f2 <<< "$1")"
    (unset MONGODB_URI && bash -c "$1") > said 2>&1 < /dev/null && ok || fail "status $? of: $1: $(cat said)"
}

fill
went=""
line="mongoreshape-live apply plan.yaml --uri-file 'the uri' --allow-scan --execute"
for ((n = 0; n < 9; n++)); do
    gives "$line"
    line=$(grep -A 1 '^next:' said | sed -n '2s/^  //p')
    [ -n "$line" ] || break
done
[ "$went" = " apply verify contract contract abort abort" ] && ok || fail "the next commands:$went"

# The dry run gives all its options again, whatever they hold.
fill
for options in "--max-refused any" "--max-refused 12" "--batch auto" "--batch 7" "--memory 64M" \
    "--max-lag 3s --hours 22:00-06:00 --docs 5 --bytes 2097152 --sleep 3" "--passes 2 --no-transactions" \
    "--on-success 'echo it'" "--now 2024-05-01T12:00:00.000Z"; do
    eval "'$tool' apply plan.yaml --uri-file 'the uri' --allow-scan $options" > said 2>&1 < /dev/null
    line=$(grep -A 1 '^next:' said | sed -n 2p)
    for word in ${options//--memory 64M/--memory 67108864}; do
        [[ " $line " == *" $word "* ]] || fail "the next command after $options: $line ($(tail -n 2 said))"
    done
    ok
done

fill
went=""
gives "mongoreshape-live apply plan.yaml --uri-file 'the uri' --allow-scan --execute"
for ((n = 0; n < 4; n++)); do
    "$tool" status --uri-file "the uri" > said 2>&1 || fail "status: $(cat said)"
    line=$(sed -n 's/^  next  *//p' said)
    gives "$line"
    case $line in *contract*) gives "$line --execute" ;; esac
done
[ "$went" = " apply verify contract contract abort abort" ] && ok || fail "the next commands of status:$went"
# A plan with stars that match one more collection by now has no run: it says how the run is named.
printf 'database: shop\nsteps: [{ set: { in: "log_*", fields: { n: 1 } } }]\n' > stars.yaml
"$ask" shop '{"insert": "log_a", "documents": [{"_id": 1}]}' > asked
"$tool" apply stars.yaml --uri-file "the uri" --execute > said 2>&1 < /dev/null || fail "stars: $(cat said)"
"$ask" shop '{"insert": "log_b", "documents": [{"_id": 1}]}' > asked
for verb in verify contract rollback; do
    "$tool" $verb stars.yaml --uri-file "the uri" > said 2>&1 < /dev/null
    [ $? = 2 ] && grep -qF '`status --list` lists the runs, `--run ID` selects one' said && ok ||
        fail "$verb: $(cat said)"
done
finish
