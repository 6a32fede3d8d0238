#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# live_server.sh - the commands of mongoreshape-live on a server: a dry run writes nothing, the usual sequences from
# apply to abort, refusals and their messages.
# usage: live_server.sh MONGORESHAPE (mongoreshape-live is in the same folder); gets its server from tests/server/with
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tool=$(realpath "$1")-live
. "$root/tests/wait.bash"
if [ ! -x "$tool" ]; then
    echo "cli/live_server skipped: mongoreshape-live is not built"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if [ "${2:-}" != inside ]; then
    log=$(mktemp) || exit 1
    trap 'rm -f "$log"' EXIT
    passed=0 failed=0 skipped=0
    for topology in replicaset standalone; do
        option=""
        [ "$topology" = replicaset ] || option=--standalone
        # shellcheck disable=SC2086
        "$root/tests/server/with" $option bash "$here/live_server.sh" "$1" inside >"$log" 2>&1
        status=$?
        if [ "$status" -eq 77 ]; then
            echo "cli/live_server on a $topology skipped: $(tail -n 1 "$log")"
            skipped=$((skipped + 1))
            continue
        fi
        sed '$d' "$log"
        p=$(sed -n '$s/^\([0-9]*\) passed, .*/\1/p' "$log") f=$(sed -n '$s/.* \([0-9]*\) failed, .*/\1/p' "$log")
        passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1}))
        [ -n "$p" ] || tail -n 5 "$log"
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0 failed=0
address=${MONGODB_URI#*://}
address=${address##*@}
port=${address%%/*}
port=${port##*:}

ok() { passed=$((passed + 1)); }
fail() { printf 'FAILED: %s\n' "$*"; failed=$((failed + 1)); }

# server DB COMMAND: one command, the reply as JSON
server() { python3 -S "$root/tests/server/wire.py" --port "$port" "$@" || fail "the server: $*"; }

# expect STATUS WORDS ARGS...: the status, the words on standard output or standard error
expect() {
    status=$1 words=$2
    shift 2
    "$tool" "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" -ne "$status" ]; then
        fail "status $got, not $status: $* ($(cat out err))"
    elif ! cat out err | grep -qF -- "$words"; then
        fail "no \"$words\" in: $(cat out err) (of: $*)"
    else
        ok
    fi
}

# everything: names of databases and collections, and all documents of the user's
everything() {
    server admin '{"listDatabases": 1, "nameOnly": true}' | python3 -S -c '
import json, sys
print(sorted(d["name"] for d in json.load(sys.stdin)["databases"]))'
    server live_cli '{"listCollections": 1}' | python3 -S -c '
import json, sys
def options(o):  # a validator that was lifted leaves the defaults behind
    bare = {"validator": {}, "validationLevel": "strict", "validationAction": "error"}
    return str(sorted((k, v) for k, v in o.items() if bare.get(k) != v))
print(sorted((c["name"], options(c["options"])) for c in json.load(sys.stdin)["cursor"]["firstBatch"]))'
    for coll in posts comments; do
        server live_cli "{\"find\": \"$coll\", \"sort\": {\"_id\": 1}, \"batchSize\": 10000}" | python3 -S -c '
import json, sys
for d in json.load(sys.stdin)["cursor"]["firstBatch"]: print(d)'
        server live_cli "{\"listIndexes\": \"$coll\"}" 2>/dev/null | grep -o '"name": "[^"]*"'
    done
}
same() { if cmp -s "$1" "$2"; then ok; else fail "$3: $(diff "$1" "$2" | head -5)"; fi; }
count() {
    server live_cli "{\"count\": \"$1\", \"query\": $2}" | python3 -S -c 'import json, sys; print(int(json.load(sys.stdin)["n"]))'
}
is() { if [ "$2" = "$3" ]; then ok; else fail "$1: $2, not $3"; fi; }

# ---- 40 posts, 120 comments, one of them without a post ----
fill() {
    server live_cli '{"dropDatabase": 1}' >/dev/null
    server __mdb_internal_mongoreshape '{"dropDatabase": 1}' >/dev/null
    python3 -S - >commands <<'P'
import json
print(json.dumps({"insert": "posts", "documents": [{"_id": i, "title": "t%d" % i} for i in range(40)]}))
print(json.dumps({"insert": "comments", "documents": [{"_id": 1000 + i, "post": i % 40, "text": "c%d" % i} for i in range(119)]
                  + [{"_id": 2000, "post": 999, "text": "nobody's"}]}))
print(json.dumps({"createIndexes": "comments", "indexes": [{"key": {"post": 1}, "name": "post_1"}]}))
P
    while read -r command; do
        server live_cli "$command" >/dev/null
    done <commands
}
cat >embed.yaml <<'P'
plan: comments into posts
database: live_cli
steps:
- embed: { from: comments, into: posts, match: { post: _id }, as: comments, drop: [post], sort: { _id: 1 }, keep: unmatched }
P
fill
everything >before

# ---- nothing there yet ----
expect 0 'there are no runs' status
expect 0 '{"runs":[]}' status --json
expect 0 'no runs' status --list
expect 2 'there is no run of this plan' status embed.yaml
expect 2 'there is no such run' status --run 00
expect 2 'there is no such run' pause embed.yaml
expect 2 'no run of this plan' verify embed.yaml
expect 2 'apply --execute' contract embed.yaml
expect 2 'nothing to roll back' rollback embed.yaml
expect 2 'there is no such run' abort embed.yaml --clean

# ---- a dry run says what would be done and writes nothing ----
expect 2 "--db other: the plan names the database live_cli" apply embed.yaml --db other --execute
expect 0 'mongoreshape-live apply embed.yaml --execute' apply embed.yaml
grep -q 'live_cli.comments: ~120 documents' out || fail "no collections in: $(cat out)"
grep -q 'mode: while writers run' out || fail "no mode in: $(cat out)"
expect 0 'mode: writers stopped by' apply embed.yaml --quiet-by word
expect 0 '"dryRun":true' apply embed.yaml --json
everything >after
same before after "a dry run wrote"
printf 'database: live_cli\nsteps:\n- set: { in: nobody, fields: { a: 1 } }\n' >absent.yaml
expect 2 'absent.yaml:3:10: error: set: `in`' apply absent.yaml
printf 'database: live_cli\nsteps:\n- set: { in: posts, fields: { n: { $add: ["$_id", 1] } } }\n- set: { in: posts, fields: { n: { $add: ["$n", 1] } } }\n' >chain.yaml
printf 'database: live_cli\nsteps:\n- set: { in: posts, fields: { title: { $concat: ["$title", "x"] } } }\n' >self.yaml
expect 2 '--quiet-by' apply self.yaml --execute
expect 2 'nosuch' apply embed.yaml --max-load nosuch=1
expect 2 'a folder that exists' apply embed.yaml --quiet-by word --tmp nosuch
everything >after
same before after "a refused plan wrote"

# ---- alongside writers: expand, verify, rollback ----
expect 0 'mongoreshape-live verify embed.yaml --repair' apply embed.yaml --execute
is "posts with comments" "$(count posts '{"comments": {"$exists": true}}')" 40
is "comments after expand" "$(count comments '{}')" 120
expect 0 'expanded' status embed.yaml
expect 0 'comments into posts' status --list
expect 0 '' verify embed.yaml
server live_cli '{"update": "posts", "updates": [{"q": {"_id": 3}, "u": {"$set": {"comments": []}}}]}' >/dev/null
expect 1 'live_cli.posts 3' verify embed.yaml
everything >wrong
expect 1 'mongoreshape-live verify embed.yaml --repair --execute' verify embed.yaml --repair
everything >after
same wrong after "verify --repair wrote without --execute"
expect 0 '' verify embed.yaml --repair --execute
is "repaired" "$(count posts '{"_id": 3, "comments": {"$size": 3}}')" 1
expect 2 '--quiet-by validator' contract embed.yaml
printf 'database: live_cli\nsteps:\n- set: { in: posts, fields: { other: 1 } }\n' >other.yaml
expect 2 'of another plan uses some of these collections' apply other.yaml
expect 2 'of another plan uses some of these collections' apply other.yaml --execute
expect 2 'rollback' abort embed.yaml --clean
expect 0 'pauses before its next batch' pause embed.yaml
expect 0 ' continues' resume embed.yaml
expect 0 'has these limits now' throttle embed.yaml --docs 5000 --bytes 10M
expect 0 'has no limits' throttle embed.yaml
run=$("$tool" status embed.yaml --json | grep -o '"run":"[0-9a-f]*' | cut -c8-19)
expect 0 "run $run" status --run "$run"
everything >expanded
expect 0 "mongoreshape-live rollback --run $run --execute" rollback --run "$run"
grep -q '40 would be written' out || fail "rollback does not say how many: $(cat out)"
grep -q 'live_cli.posts 0: would lose field comments' out || fail "rollback names none: $(cat out)"
everything >after
same expanded after "rollback wrote without --execute"
expect 0 '' rollback --run "$run" --execute
everything >after
grep -v "'__mdb_internal_mongoreshape'" before | sed 1d >before.user
sed 1d after >after.user
same before.user after.user "a rollback is not the beginning"
expect 0 'mongoreshape-live abort embed.yaml --clean --execute' abort embed.yaml --clean
grep -q 'would remove from .*\.runs: 1 document' out || fail "abort does not say what goes: $(cat out)"
expect 0 'rolled back' status embed.yaml
expect 2 'abort embed.yaml --clean' contract embed.yaml --quiet-by word
expect 2 'is rolled back already' apply embed.yaml
expect 2 'no process works on it any more' pause embed.yaml
expect 0 'is removed' abort embed.yaml --clean --execute
expect 0 'there are no runs' status

# ---- a collection is another one meanwhile: the run cannot be rolled back, so it can be removed ----
expect 0 '' apply embed.yaml --execute
server live_cli '{"drop": "posts"}' >/dev/null
server live_cli '{"insert": "posts", "documents": [{"_id": 0}]}' >/dev/null
expect 6 'remove this run with `abort --clean`' verify embed.yaml
expect 6 'remove this run with `abort --clean`' rollback embed.yaml --execute
expect 6 'remove this run with `abort --clean`' apply embed.yaml
expect 0 'what it has added or changed stays' abort embed.yaml --clean
expect 0 'is removed' abort embed.yaml --clean --execute
expect 0 'there are no runs' status
fill

# ---- alongside writers to the end ----
expect 0 '' apply embed.yaml --execute
expect 0 'contract embed.yaml' verify embed.yaml
everything >expanded
expect 0 'contract embed.yaml --quiet-by validator --keep-before --execute' \
    contract embed.yaml --quiet-by validator --keep-before
grep -q '^119 would be deleted' out || fail "contract does not say how many: $(cat out)"
grep -q 'live_cli.comments 1000: would be deleted' out || fail "contract names none: $(cat out)"
everything >after
same expanded after "contract wrote without --execute"
expect 0 '' contract embed.yaml --quiet-by word --execute
is "comments after contract" "$(count comments '{}')" 1
is "posts after contract" "$(count posts '{"comments.2": {"$exists": true}, "comments.post": {"$exists": false}}')" 39
everything >contracted
expect 0 'is removed' abort embed.yaml --clean --execute

# ---- quiet: the same documents ----
fill
expect 0 '' apply embed.yaml --quiet-by word --keep-before --execute
everything >quiet
sed 1d contracted >contracted.user
sed 1d quiet >quiet.user
same contracted.user quiet.user "quiet and live differ"
expect 0 'nothing is left to do' contract embed.yaml
expect 0 '' verify embed.yaml
expect 0 'done' status embed.yaml
expect 0 'live_cli.posts 0: would be as it was before' rollback embed.yaml
grep -q '^40 would be written, 119 would be inserted$' out || fail "rollback does not say what it would do: $(cat out)"
everything | sed 1d >after.user
same quiet.user after.user "a quiet rollback wrote without --execute"
expect 0 '' rollback embed.yaml --execute
everything | sed 1d >after.user
same before.user after.user "a quiet rollback is not the beginning"
expect 0 '' abort embed.yaml --clean --execute
fill
expect 0 '' apply embed.yaml --quiet-by validator --execute --json
grep -q '"exitStatus":0' out && [ ! -s err ] || fail "apply --json: $(cat out err)"
everything | sed 1d >quiet.user
same contracted.user quiet.user "quiet by validator and live differ"
expect 2 'is done already' apply embed.yaml

# ---- a quiet run that is interrupted: writers stay out, and verify does not take a part for the whole ----
fill
env --default-signal=INT "$tool" apply embed.yaml --quiet-by validator --execute --batch 1 --sleep 1000 \
    >bg.out 2>bg.err </dev/null &
pid=$!
applies() { over "$pid" || "$tool" status embed.yaml --json 2>/dev/null | grep -q '"phase":"applying".*"done":[1-9]'; }
await applies
kill -INT "$pid"
wait "$pid"
is "status of an interrupted quiet run" "$?" 130
grep -q 'writers are still kept out' bg.out || fail "an interrupted quiet run does not say that writers wait: $(cat bg.out)"
expect 2 'its changes are not complete' verify embed.yaml
expect 0 '' apply embed.yaml --execute --sleep 0
expect 0 'no difference' verify embed.yaml
everything | sed 1d >quiet.user
same contracted.user quiet.user "an interrupted quiet run differs"

# ---- Ctrl-C, kill -9, pause: the same command goes on ----
# begin LEASE: an apply in the background that holds the lease and is far from its end; $pid
begin() {
    env --default-signal=INT "$tool" apply embed.yaml --execute --batch 1 --sleep 300 --lease "$1" >bg.out 2>bg.err \
        </dev/null &
    pid=$!
    await holds
}
holds() { over "$pid" || "$tool" status embed.yaml 2>/dev/null | grep -q ":$pid:"; }
fill
begin 12000
kill -INT "$pid"
wait "$pid"
is "status of an interrupted run" "$?" 130
grep -q 'apply embed.yaml --execute' bg.out || fail "an interrupted run does not say how resume with: $(cat bg.out bg.err)"
begin 1000
kill -9 "$pid"
wait "$pid" 2>/dev/null
begin 12000
expect 0 'pauses before its next batch' pause embed.yaml
one=- two=+
for _ in 1 2 3 4 5 6 7 8 9 10; do # the batch in hand is ended first, however slow the machine is
    one=$("$tool" status embed.yaml --json | grep -o '"done":[0-9]*')
    sleep 1
    two=$("$tool" status embed.yaml --json | grep -o '"done":[0-9]*')
    [ "$one" != "$two" ] || break
done
is "documents done while it is paused" "$two" "$one"
expect 0 'paused' status embed.yaml
expect 6 'is leased to another process of this run' apply embed.yaml --execute
kill -0 "$pid" || fail "a paused run ended: $(cat bg.out bg.err)"
expect 0 'has no limits' throttle embed.yaml
expect 0 ' continues' resume embed.yaml
wait "$pid"
is "status of a run that was paused" "$?" 0
expect 0 'contract embed.yaml' verify embed.yaml
expect 0 '' contract embed.yaml --quiet-by word --execute
everything | sed 1d >after.user
same contracted.user after.user "stopped and gone on differs from an unbroken run"

# ---- a password is not shown ----
"$tool" status --uri "${MONGODB_URI/:\/\//:\/\/nobody:s3cret@}" >out 2>err
grep -q s3cret out err && fail "the password is shown: $(cat out err)"

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
