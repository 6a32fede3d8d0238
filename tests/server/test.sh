#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh PROXY - the server for tests itself: it starts, ends without a trace, keeps what it acknowledged through
# kill -9, and the proxy cuts where it was told to.
set -u
proxy=$(realpath "$1") || exit 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../wait.bash"
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
unset MONGODB_URI MONGODB_SERVER_DIR
passed=0 failed=0 skipped=0

# same NAME WANTED GOT
same() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s: wanted %s, got %s\n' "$1" "$2" "$3"
    fi
}

close() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

# nothing_left NAME: neither folder nor process of the server whose folder and number are in $tmp
nothing_left() {
    await [ ! -d "$(cat "$tmp/dir")" ]
    same "$1: no folder is left" no "$([ -d "$(cat "$tmp/dir")" ] && echo yes || echo no)"
    left=$(tr '\0' ' ' 2>/dev/null <"/proc/$(cat "$tmp/pid")/cmdline" | grep -c -F "$(cat "$tmp/dir")")
    same "$1: no process is left" 0 "$left"
}

note='"$0"/ctl pid >"$1/pid"; echo "$MONGODB_SERVER_DIR" >"$1/dir"; : >"$1/up"'

"$here/with" bash -c "$note; exit 3" "$here" "$tmp" 2>"$tmp/err"
status=$?
if [ "$status" -eq 77 ]; then
    sed 's/^/tests\/server skipped: /' "$tmp/err"
    skipped=$((skipped + 1))
    close
fi
same "the status of the command" 3 "$status"
nothing_left "a command that ends"

for signal in TERM KILL; do
    rm -f "$tmp/up"
    "$here/with" --standalone bash -c "$note; exec sleep 600" "$here" "$tmp" 2>/dev/null &
    with=$!
    await [ -f "$tmp/up" ]
    sleeper=$(pgrep -P "$with" sleep 2>/dev/null)
    kill -"$signal" "$with"
    wait "$with" 2>/dev/null
    status=$?
    [ "$signal" = TERM ] && same "TERM: the status" 143 "$status"
    nothing_left "$signal"
    [ "$signal" = TERM ] || [ -z "$sleeper" ] || kill "$sleeper" 2>/dev/null
done

# kill -9: ten acknowledged inserts, killed at once, all there after the start.
"$here/with" --sync bash -s "$here" >"$tmp/out" <<'KILLS'
here=$1
port=$(cat "$MONGODB_SERVER_DIR/port")
for i in 1 2 3 4 5 6 7 8 9 10; do
    python3 -S "$here/wire.py" --port "$port" t "{\"insert\": \"c\", \"documents\": [{\"_id\": $i}],
        \"writeConcern\": {\"w\": \"majority\", \"j\": true}}" >/dev/null &&
        echo "$i" >>"$MONGODB_SERVER_DIR/acknowledged"
done
old=$("$here/ctl" pid)
"$here/ctl" kill9
"$here/ctl" pid || echo "killed"
"$here/ctl" start
[ "$("$here/ctl" pid)" != "$old" ] && echo "another process"
wc -l <"$MONGODB_SERVER_DIR/acknowledged"
python3 -S "$here/wire.py" --port "$port" t '{"count": "c"}' | grep -o '"n": [0-9]*'
"$here/ctl" restart
python3 -S "$here/wire.py" --port "$port" t '{"count": "c"}' | grep -o '"n": [0-9]*'
KILLS
same "kill9, start, restart" 'killed|another process|10|"n": 10|"n": 10|' "$(tr '\n' '|' <"$tmp/out")"

# With a user and TLS nobody comes in without them.
"$here/with" --auth --tls bash -s "$here" >"$tmp/out" 2>&1 <<'LOCKED'
port=$(cat "$MONGODB_SERVER_DIR/port")
python3 -S "$1/wire.py" --port "$port" t '{"find": "c"}' >/dev/null 2>&1 || echo "no plain text"
python3 -S "$1/wire.py" --port "$port" --tls "$MONGODB_TLS_CA" t '{"find": "c"}' | grep -o '"code": 13'
case $MONGODB_URI in *s3cret*authSource=admin*tls=true*) echo uri ;; esac
LOCKED
same "auth and tls" 'no plain text|"code": 13|uri|' "$(tr '\n' '|' <"$tmp/out")"

cat >"$tmp/proxy.sh" <<'RULES'
here=$1 proxy=$2 tmp=$3
. "$here/../wait.bash"
server=$(cat "$MONGODB_SERVER_DIR/port")
"$proxy" 0 "127.0.0.1:$server" --control 0 "cut-reply insert 2" >"$tmp/proxy.log" &
pid=$!
trap 'kill "$pid"' EXIT
await grep -q control "$tmp/proxy.log"
read -r _ port <"$tmp/proxy.log"
control=$(sed -n 's/^control //p' "$tmp/proxy.log")
tell() { exec 3<>"/dev/tcp/127.0.0.1/$control"; echo "$1" >&3; cat <&3; exec 3>&-; }
insert() {
    python3 -S "$here/wire.py" --port "$1" t "{\"insert\": \"c\", \"documents\": [{\"_id\": $2}]}" 2>&1 |
        grep -o -e '"n": 1' -e 'closed.*' -e 'reset.*'
}
find() { python3 -S "$here/wire.py" --port "$server" t '{"count": "c"}' | grep -o '"n": [0-9]*'; }
insert "$port" 1
insert "$port" 2
find
insert "$port" 3
tell "cut-request insert 1"
insert "$port" 4 >/dev/null
find
tell "cut-bytes from 40"
insert "$port" 5
find
tell "delay insert 300"
begun=$(date +%s%N)
insert "$port" 6
[ $((($(date +%s%N) - begun) / 1000000)) -ge 300 ] && echo late
tell clear
tell refuse
insert "$port" 7
tell cuts
tell "count insert"
tell "cut-reply"
RULES
"$here/with" --standalone bash "$tmp/proxy.sh" "$here" "$proxy" "$tmp" >"$tmp/out" 2>"$tmp/err"
sed 's/closed.*/cut/; s/reset.*/cut/' "$tmp/out" | tr '\n' '|' >"$tmp/got"
same "the proxy" '"n": 1|cut|"n": 2|"n": 1|ok|"n": 3|ok|cut|"n": 4|ok|"n": 1|late|ok|ok|cut|3|6|error: no such rule|' \
    "$(cat "$tmp/got")"
close
