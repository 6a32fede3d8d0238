#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# state_move.sh - the state of an older version is read in place, and moved by the first command with --execute.
#
# This tool with --state-db mongoreshape simulates an older version: it knows no other place. Its unfinished runs are
# moved and finished, with the moving process killed meanwhile, at every EVERY-th stop.
# Environment: OBJ, the folder of the programs; EVERY, 1 for each stop (3).
set -u
. "$(dirname "$0")/begin.bash"
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
tool=$obj/mongoreshape-live-test ask=$obj/ask
needs "$tool" "$ask"
[ "${1:-}" = --inside ] || { outside "no server for tests"; exit; }
inside
old=mongoreshape new=__mdb_internal_mongoreshape
server() { "$ask" "$@" || fail "the server: $*"; }
count() {
    "$ask" "$1" "{\"count\": \"$2\"}" | grep -oE '"n" : (\{ "\$number[A-Za-z]+" : ")?[0-9]+' | grep -oE '[0-9]+$'
}
posts() { server shop '{"find": "posts", "sort": {"_id": 1}}' | sed 's/, "ok" : .*//'; }
picture() { server --picture > "$1"; }

# run STATUS WORDS ARGS...: the tool, what it ends with, and words that it says
run() {
    local status=$1 words=$2
    shift 2
    "$tool" "$@" --db shop > out 2> err < /dev/null
    local got=$?
    if [ "$got" != "$status" ]; then
        fail "status $got, not $status: $* ($(cat out err | head -8))"
    elif ! cat out err | grep -qF -- "$words"; then
        fail "no \"$words\" in: $(cat out err | head -8) (of: $*)"
    else
        ok
    fi
}

cat > expand.yaml << 'END'
steps:
- embed: { from: comments, into: posts, as: comments, match: { post: _id } }
END
cat > quiet.yaml << 'END'
steps:
- cast: { in: posts, fields: { n: int } }
END
cat > other.yaml << 'END'
steps:
- set: { in: posts, fields: { seen: true } }
END
fill() {
    local i docs='' more=''
    for db in shop $old $new; do server $db '{"dropDatabase": 1}' > /dev/null; done
    for ((i = 1; i <= 20; i++)); do
        docs="$docs,{\"_id\": $i, \"n\": \"$i\"}"
        more="$more,{\"_id\": $i, \"post\": $((i % 7 + 1))}"
    done
    server shop "{\"insert\": \"posts\", \"documents\": [${docs#,}, {\"_id\": 99, \"n\": \"none\"}]}" > /dev/null
    server shop "{\"insert\": \"comments\", \"documents\": [${more#,}]}" > /dev/null
    server shop '{"createIndexes": "comments", "indexes": [{"key": {"post": 1}, "name": "post_1"}]}' > /dev/null
}
# half PLAN STOP ARGS...: a run of the older tool, killed on its way
half() {
    local plan=$1 stop=$2
    shift 2
    (MRS_STOP=$stop=kill "$tool" apply "$plan" --db shop --state-db $old --lease 1000 --batch 5 --execute "$@") \
        > out 2> err < /dev/null
    [ $? = 137 ] || fail "an older run was not killed at $stop: $(cat out err | head -5)"
}
begin() { # KIND
    fill
    case $1 in
        expand) half expand.yaml after-update:2 ;;
        idle) half expand.yaml after-phase:1 ;; # no transaction is open
        quiet) half quiet.yaml after-update:1 --quiet-by word --keep-before --max-refused 5 ;;
    esac
}
options() { case $1 in quiet) echo "--quiet-by word --keep-before --max-refused 5" ;; esac; }
status_of() { case $1 in quiet) echo 1 ;; *) echo 0 ;; esac; } # one document is refused
gone() {
    local coll
    for coll in runs checkpoints refused; do is "$1: documents left in $old.$coll" "$(count $old $coll)" 0; done
}
empty() {
    is "$1: collections left in $old" \
        "$("$ask" $old '{"listCollections": 1, "nameOnly": true}' | grep -c '"name"')" 0
}

# What the server holds of the user's after a run that nobody moved.
for kind in expand quiet; do
    begin $kind
    # shellcheck disable=SC2046
    run "$(status_of $kind)" "" apply $kind.yaml --state-db $old --execute --lease 1000 $(options $kind)
    posts > want.$kind
done

for kind in expand quiet; do
    more=$(options $kind) status=$(status_of $kind)
    # Who only looks reads the state where it is, and writes nothing.
    begin $kind
    picture before
    run 0 "lie in the database $old" status
    grep -qE 'run [0-9a-f]{12}' out || fail "$kind: status does not show the run"
    run 0 "was begun before" apply $kind.yaml
    run 0 "has these limits now" throttle --docs 1000000
    run 0 "any more" throttle
    "$tool" status --db shop | grep -q "state-db" && fail "$kind: status names --state-db"
    picture after
    knobs='s/, "(max_lag|max_latency|max_load|critical_load|hours)" : ""//g' # servers differ in their order
    sed -E -e 's/"docs" : [^,}]*//' -e "$knobs" before > before.1
    sed -E -e 's/"docs" : [^,}]*//' -e "$knobs" after > after.1
    cmp -s before.1 after.1 && ok || fail "$kind: a look wrote: $(diff before.1 after.1 | head -5)"
    # The first that writes moves it and goes on; names of stops on the way.
    rm -f stops
    refused=$(count $old refused)
    # shellcheck disable=SC2086
    MRS_STOP_LIST=$dir/stops run "$status" "moved the state of 1 run" apply $kind.yaml --execute --lease 1000 $more
    posts | cmp -s - want.$kind && ok || fail "$kind: other documents"
    is "$kind: refused documents" "$(count $new refused)" "$refused"
    gone $kind
    empty $kind
    server $new '{"find": "runs"}' | grep -q '"moved"' && fail "$kind: a run is left sealed"
    n=$(grep -n 'after-state-copy' stops | head -1 | cut -d: -f1)
    last=$(awk -v n="$n" 'NR > n && /lease-take/ { print NR; exit }' stops) # of the run itself
    last=${last:-$((n + 12))}
    every=${EVERY:-3}
    [ $kind = expand ] || every=$((5 * every)) # the way is the same, but for the list of changes
    [ "$last" -gt 20 ] || fail "$kind: only $last stops on the way"
    for ((i = 1; i <= last; i += every)); do
        begin $kind
        MRS_STOP="*:$i=kill" "$tool" apply $kind.yaml --db shop --execute --lease 1000 $more > out 2> err < /dev/null
        is "$kind: killed at stop $i" $? 137
        # shellcheck disable=SC2086
        run "$status" "" apply $kind.yaml --execute --lease 1000 $more
        posts | cmp -s - want.$kind && ok ||
            fail "$kind: killed at stop $i ($(sed -n ${i}p stops)): other documents"
        is "$kind: refused documents after a kill at stop $i" "$(count $new refused)" "$refused"
        gone "$kind, stop $i"
    done
done

# A list of changes of an older version has digests without a secret; one whose secret is lost fits no document.
rename_secret() { # FROM TO
    local update="{\"q\": {}, \"u\": {\"\$rename\": {\"$1\": \"$2\"}}}"
    server $new "{\"update\": \"runs\", \"updates\": [$update]}" > /dev/null
}
quiet_to() { # STOP
    # shellcheck disable=SC2046
    MRS_STOP=$1=kill "$tool" apply quiet.yaml --db shop --execute --lease 1000 $(options quiet) > out 2> err < /dev/null
    is "killed $1" $? 137
}
fill
quiet_to before-seal
rename_secret secret was
quiet_to after-seal
run 1 "" apply quiet.yaml --execute --lease 1000 $more
posts | cmp -s - want.quiet && ok || fail "a list without a secret: other documents"
fill
quiet_to after-seal
rename_secret secret was
run 6 "is missing or damaged" apply quiet.yaml --execute --lease 1000 $more
rename_secret was secret
run 1 "" apply quiet.yaml --execute --lease 1000 $more
posts | cmp -s - want.quiet && ok || fail "a list with its secret: other documents"

# A run that is sealed is not opened by an older tool, nor is one in the hands of the mover.
begin expand
MRS_STOP='after-state-seal=kill' "$tool" apply expand.yaml --db shop --execute --lease 1000 > out 2> err
run 6 "whose state lies in $new" apply expand.yaml --state-db $old --execute --lease 1000
begin expand
cat > older << 'END'
! "$T" apply other.yaml --db shop --state-db mongoreshape --execute --lease 1000 > older.out 2>&1
END
MRS_STOP='after-lease-take=run:. ./older' T=$tool \
    "$tool" apply expand.yaml --db shop --execute --lease 60000 > out 2> err
is "the mover" $? 0
grep -q 'is leased to' older.out && ok || fail "an older tool beside the mover: $(head -3 older.out)"

# An older tool at work: nothing is moved. Far: a lease that lasts.
far='{"$date": "2099-01-01T00:00:00Z"}'
begin idle
sleep 1.2
server $old "{\"update\": \"leases\", \"updates\": [{\"q\": {\"_id\": \"shop.posts\"}, \"u\": {\"\$set\":
    {\"run\": \"x\", \"owner\": \"older:1:2\", \"until\": $far}}}]}" > /dev/null
picture before
run 6 "older:1:2" apply expand.yaml --execute --lease 1000
is "runs in $old" "$(count $old runs)" 1
is "runs in $new" "$(count $new runs)" 0

# One that begins while a run of today is at work, and one that is there already.
fill
MRS_STOP='after-update:1=asleep:"$ASK" mongoreshape "$DOC" >/dev/null' ASK=$ask \
    DOC="{\"insert\": \"leases\", \"documents\": [{\"_id\": \"shop.posts\", \"run\": \"x\",
        \"owner\": \"older:1:2\", \"epoch\": {\"\$numberLong\": \"1\"}, \"until\": $far}]}" \
    "$tool" apply expand.yaml --db shop --execute --batch 5 --lease 1000 > out 2> err < /dev/null
is "a run that an older tool disturbs" $? 6
grep -q 'another mongoreshape-live (older:1:2) works on shop.posts' out err && ok ||
    fail "not noticed: $(cat out err | head)"
run 6 "works on shop.posts" apply expand.yaml --execute --lease 1000
server $old '{"drop": "leases"}' > /dev/null
run 0 "" apply expand.yaml --execute --lease 1000

# A caller with a state database of its own sees the leases in the usual one, at the beginning and on the way.
fill
lease="{\"insert\": \"leases\", \"documents\": [{\"_id\": \"shop.posts\", \"run\": \"x\",
    \"owner\": \"usual:1:2\", \"epoch\": {\"\$numberLong\": \"1\"}, \"until\": $far}]}"
MRS_STOP='after-update:1=asleep:"$ASK" '$new' "$DOC" >/dev/null' ASK=$ask DOC=$lease \
    "$tool" apply expand.yaml --db shop --state-db own --execute --batch 5 --lease 1000 > out 2> err < /dev/null
is "a run with a state database of its own, disturbed" $? 6
run 6 "keeps its state in the database $new" apply expand.yaml --state-db own --execute --lease 1000
server $new '{"drop": "leases"}' > /dev/null
run 0 "" apply expand.yaml --state-db own --execute --lease 1000
server own '{"dropDatabase": 1}' > /dev/null

# Begun once more by an older tool after it was moved.
fill
run 0 "" apply expand.yaml --execute --lease 1000
server shop '{"update": "posts", "updates": [{"q": {}, "u": {"$unset": {"comments": ""}}, "multi": true}]}' > /dev/null
run 0 "" apply expand.yaml --state-db $old --execute --lease 1000
run 6 "lies in $new and" apply expand.yaml --execute
run 0 "are not shown" status
is "runs in $old" "$(count $old runs)" 1

# A database of the user's that is called like that.
fill
server $old '{"insert": "runs", "documents": [{"_id": 1, "km": 10}]}' > /dev/null
server $old '{"insert": "refused", "documents": [{"_id": 1}]}' > /dev/null
run 0 "" apply expand.yaml --execute
grep -q moved out && fail "a database of the user's was moved"
is "the user's runs" "$(count $old runs)" 1
is "the user's refused" "$(count $old refused)" 1
finish
