#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# governor.sh - a run slows down when the server requires it, reports the reason, and its knobs change while it works;
# metrics to a file and a port; hooks. The server for tests is behind proxies that simulate a replica set of two
# (governor.py): the replies of its members change while the tool works.
# Environment: OBJ, the folder of the programs.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
tool=$obj/mongoreshape-live ask=$obj/ask
export MONGOC_DISABLE_SHM=1 TZ=UTC
for need in "$tool" "$ask" python3 curl; do
    if ! command -v "$need" > /dev/null; then
        echo "governor skipped: there is no ${need##*/}"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    fi
done
if [ "${1:-}" = "" ]; then
    "$here/../server/with" bash "$here/governor.sh" --server < /dev/null
    status=$?
    [ $status = 77 ] || exit $status
    echo "governor skipped: no server for tests"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if [ "$1" = --server ]; then
    port=$(sed -n 's|^mongodb://[^/]*:\([0-9]*\)/.*|\1|p' <<< "$MONGODB_URI")
    SET=$(sed -n 's|.*replicaSet=\([^&]*\).*|\1|p' <<< "$MONGODB_URI")
    dir=$(mktemp -d) || exit 2
    trap 'rm -rf "$dir"' EXIT
    cd "$dir" || exit 2
    if [ -z "$port" ] || [ -z "$SET" ]; then
        echo "governor skipped: the server is none that a proxy can stand before"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    fi
    echo '{}' > says
    export SET DIRECT="$MONGODB_URI"
    python3 "$here/governor.py" "$port" says bash "$here/governor.sh" --inside
    exit $?
fi
. "$here/../wait.bash"
passed=0 failed=0
state=__mdb_internal_mongoreshape
ok() { passed=$((passed + 1)); }
fail() { printf 'FAIL governor: %s\n' "$*"; failed=$((failed + 1)); }
server() { MONGODB_URI=$DIRECT "$ask" "$@" || fail "the server: $*"; }
says() { echo "$1" > says.new && mv says.new says; }
echo 'steps: [set: { in: posts, fields: { b: { $add: [$a, 1] } } }]' > plan.yaml

fill() { # the same documents each time, no run, a server that is well
    local i docs=''
    says '{}'
    for db in shop $state; do server $db '{"dropDatabase": 1}' > /dev/null; done
    for ((i = 1; i <= 600; i++)); do docs="$docs,{\"_id\": $i, \"a\": $i}"; done
    server shop "{\"insert\": \"posts\", \"documents\": [${docs#,}]}" > /dev/null
}
documents() { MONGODB_URI=$DIRECT "$ask" --picture | grep '^shop\.'; }
done_right() { documents | cmp -s - want && ok || fail "$1: other documents"; }
go() { timeout 600 "$tool" "$@" plan.yaml --db shop; }
# begin OPTION...: apply, in the background; how long the server takes is no matter of these tests
begin() {
    go apply --batch 10 --execute --progress --max-latency 0 "$@" > out 2>&1 < /dev/null &
    worker=$!
}
# until_so WHAT COMMAND...
until_so() {
    local what=$1
    shift
    await "$@" && ok || fail "$what: never came: $(tail -3 out)"
}
shown() { go status 2>&1 | grep -q -- "$1"; }
line() { grep -q -- "$1" out; }
# ends STATUS
ends() {
    wait "$worker"
    local got=$?
    [ "$got" = "$1" ] && ok || fail "status $got, not $1: $(tail -4 out)"
}
refused() { # STATUS WORDS OPTION...
    local status=$1 words=$2 got
    shift 2
    go "$@" > said 2>&1 < /dev/null
    got=$?
    [ "$got" = "$status" ] && grep -qF -- "$words" said && ok ||
        fail "status $got, not $status, or no \"$words\": $(cat said)"
}

# ---- a server that is well: nothing is held back, and nothing is said
fill
begin
ends 0
line 'speed' && fail "held back without a reason: $(grep -m 1 speed out)" || ok
documents > want

# ---- lag of a member: stopped, and on again when it has caught up
fill
says '{"lag": 20}'
begin --metrics run.prom
until_so 'stopped by lag' shown 'limited by  lag: 2[0-9.]* s of 5 s, stopped'
until_so 'lag in the progress line' line '\[lag: 2[0-9.]* s of 5 s, stopped\]'
grep -q '^mongoreshape_limiting{reason="lag"} 1$' run.prom && grep -q '^mongoreshape_speed_ratio 0' run.prom &&
    grep -q '^mongoreshape_signal_limit{signal="lag"} 5$' run.prom && ok || fail "metrics: $(cat run.prom)"
says '{"lag": 0}'
ends 0
done_right 'after lag'
grep -q '^mongoreshape_over 1$' run.prom && grep -q '^mongoreshape_exit_status 0$' run.prom &&
    grep -q '^mongoreshape_written_documents_total 600$' run.prom && [ "$(tail -n 1 run.prom)" = '# EOF' ] &&
    [ "$(ls run.prom*)" = run.prom ] && ok || fail "metrics at the end: $(cat run.prom)"

# ---- slower, not stopped; a knob that is turned while it works
fill
says '{"lag": 7}'
begin --docs 50
until_so 'slower by lag' line '\[lag: [78][0-9.]* s of 5 s, speed'
go throttle --max-lag 30s > said && grep -q 'has these limits now' said && ok || fail "throttle: $(cat said)"
ends 0
shown 'max-lag 30s' && ok || fail "the knob is not shown: $(go status)"
done_right 'slower by lag'

# ---- the majority, flow control, tickets, load
for signal in 'majority:{"majority": 12}:lag: 12 s of 5 s, stopped' 'flow:{"lagged": true}:flow control: speed' \
    'tickets:{"out": 128, "left": 0, "waiting": 3}:tickets: 100 % of 90 %, speed' \
    'load:{"active": 250}:load: connections.active 250 of 200, speed'; do
    words=${signal##*\}:}
    told=${signal#*:}
    fill
    says "${told%:"$words"}"
    begin --docs 50 --max-load connections.active=200
    until_so "${signal%%:*}" line "\[$words"
    says '{}'
    go throttle > said
    ends 0
    done_right "${signal%%:*}"
done

# ---- a member that falls silent is no lag; tickets that nobody waits for are none either
fill
says '{"silent": true, "out": 128, "left": 0}'
begin
ends 0
line 'speed' && fail "held back: $(grep -m 1 speed out)" || ok

# ---- critical load ends the run, and the same command goes on
fill
says '{"active": 500}'
begin --docs 20 --critical-load connections.active=400 # two looks, a second apart, come to an end before it does
ends 6
line 'under critical load: connections.active of serverStatus is 500' && ok || fail "$(cat out)"
shown 'at work     nobody' && ok || fail "leases are kept"
says '{}'
begin
ends 0
done_right 'critical load'
says '{"active": 500}'
refused 0 'has these limits now' throttle --critical-load none
says '{}'

# ---- hours
fill
minute=$(date -u +%H:%M)
begin --hours "$(date -u -d "$minute 2 hours" +%H:%M)-$(date -u -d "$minute 3 hours" +%H:%M)"
until_so 'outside of the hours' shown 'limited by  hours: outside of them'
refused 0 'has these limits now' throttle --hours all
ends 0
done_right 'hours'

# ---- what the user may not see is said once; what the server does not tell cannot be a limit
fill
says '{"denied": true}'
begin
ends 0
[ "$(grep -c 'flow control and tickets of the server are not known' out)" = 1 ] && ok ||
    fail "not said once: $(cat out)"
refused 6 'does not let this user run it' verify --max-load connections.active=5
says '{}'
refused 2 'has no number at `no.such`' verify --max-load no.such=5
refused 2 'has no number at `no.such`' throttle --critical-load connections.active=5,no.such=5
refused 2 '--max-lag must be seconds' verify --max-lag soon
refused 2 '--max-latency must be seconds' throttle --max-latency 5m
refused 2 '--max-lag must be seconds' throttle --max-lag none
refused 2 '--max-load must be names' throttle --max-load all
refused 2 '--max-load must be names' verify --max-load 5
refused 2 '--hours must be times' throttle --hours night
refused 2 'must be shorter than 16' throttle --max-lag 00000000000000005
refused 2 'a port on a loopback address' verify --metrics 0.0.0.0:9216
refused 2 'a port on a loopback address' verify --metrics :9216
refused 2 'there is no folder' verify --metrics no/such/folder
shown 'max-load\|critical' && fail "a knob that was refused is kept" || ok

# ---- metrics on a port, to this machine alone
fill
says '{"lag": 20}'
begin --metrics 127.0.0.1:0
until_so 'the port' line '^metrics: http://127.0.0.1:'
url=$(sed -n 's/^metrics: //p' out)
code() { curl -s -o body -w '%{http_code} %{content_type}' "$@"; }
until_so 'lag on the port' eval 'curl -s "$url" | grep -q "^mongoreshape_limiting{reason=\"lag\"} 1"'
[ "$(code "$url")" = '200 application/openmetrics-text; version=1.0.0; charset=utf-8' ] &&
    [ "$(tail -n 1 body)" = '# EOF' ] && ok || fail "port: $(cat body)"
[ "$(code -H 'Host: elsewhere.example' "$url" | cut -c1-3)" = 403 ] && ok || fail "asked under another name"
[ "$(code -X POST "$url" | cut -c1-3)" = 405 ] && [ "$(code "${url%metrics}" | cut -c1-3)" = 404 ] && ok ||
    fail "other requests"
says '{}'
ends 0
curl -s "$url" | grep -q '^mongoreshape_' && fail "the port is open behind the end" || ok

# ---- hooks
fill
go apply --on-success 'echo hook' --on-failure 'echo hook' 2>&1 | grep -q '^hook' && fail "a dry run runs hooks" || ok
MONGORESHAPE_OLD=1 go apply --execute --json --on-failure 'echo wrong >> told' --on-success '
    env | grep ^MONGORESHAPE_ > told; "$TOOL" status plan.yaml --db shop >> told; echo printed; exit 3' \
    > report 2> said < /dev/null
status=$?
[ $status = 0 ] && grep -q 'the command of --on-success ended with status 3' said && grep -q '^printed' said &&
    [ "$(wc -l < report)" = 1 ] && ok || fail "a hook that fails: $status $(cat report said)"
TOOL=$tool go verify --on-success 'env > told; "$TOOL" status plan.yaml --db shop >> told' > report 2>&1 < /dev/null
for want in MONGORESHAPE_COMMAND=verify MONGORESHAPE_STATUS=0 MONGORESHAPE_DOCUMENTS=600 MONGORESHAPE_PLAN=plan.yaml \
    MONGORESHAPE_PHASE=expanded MONGORESHAPE_ERROR= 'at work     nobody' 'next        mongoreshape-live contract'; do
    grep -q -- "$want" told && ok || fail "a hook is not told $want: $(cat told)"
done
server shop '{"update": "posts", "updates": [{"q": {"_id": 7}, "u": {"$set": {"a": 0}}}]}' > /dev/null
go verify --on-success 'echo wrong > told' --on-failure 'echo "$MONGORESHAPE_STATUS $MONGORESHAPE_DIFFERS" > told' \
    > report 2>&1 < /dev/null
[ $? = 1 ] && [ "$(cat told)" = '1 1' ] && ok || fail "a hook of a failure: $(cat told report)"
go verify --max-load no.such=5 --on-failure 'echo "$MONGORESHAPE_ERROR" > told' > report 2>&1 < /dev/null
[ $? = 2 ] && grep -q 'has no number at `no.such`' told && ok || fail "a hook is not told why: $(cat told report)"
go verify --on-failure 'kill -9 $$' --on-success 'kill -9 $$' > report 2>&1 < /dev/null
[ $? = 1 ] && grep -q 'was ended by signal 9' report && ok || fail "a hook that is killed: $(cat report)"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
