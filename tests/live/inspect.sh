#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspect.sh - mongoreshape-live inspect reports the same for a server as mongoreshape for its dump; a sample preserves
# as much as possible; nothing is written, and a user who may only read may inspect. Needs OBJ.
set -u
. "$(dirname "$0")/begin.bash"
tool=${OBJ:?}/mongoreshape-live offline=$OBJ/mongoreshape ask=$OBJ/ask
needs "$tool" "$offline" "$ask"
if [ "${1:-}" = members ]; then # between the proxies of governor.py
    "$tool" inspect --ns northwind.orders --whole
    exit
fi
[ "${1:-}" = --inside ] || { outside "no server"; exit; }
inside
port=${MONGODB_URI##*:} port=${port%%/*}

# expect STATUS WORDS ARGS...: the status, the words on standard output or standard error
expect() {
    status=$1 words=$2
    shift 2
    "$tool" inspect "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" -ne "$status" ]; then
        fail "status $got, not $status: $* ($(cat out err))"
    elif ! cat out err | grep -qF -- "$words"; then
        fail "no \"$words\" in: $(cat out err) (of: $*)"
    else
        ok
    fi
}

names="northwind mflix"
# shellcheck disable=SC2086
python3 "$root/tests/inspect/sets.py" sets $names >log 2>&1 || fail "sets: $(cat log)"
for name in $names; do
    python3 "$here/restore.py" "$port" "sets/$name/dump" >log 2>&1 || fail "restore of $name: $(cat log)"
done
"$ask" --picture >before || fail "no picture"

# ---- whole: what the dump says; of a sample: the same references, and nothing that only the whole could tell ----
for name in $names; do
    "$offline" inspect "sets/$name/dump" --json >dump.json 2>log || fail "$name, dump: $(cat log)"
    "$tool" inspect --db "$name" --whole --json >server.json 2>log || fail "$name, server: $(cat log)"
    if said=$(python3 "$here/inspect_same.py" same dump.json server.json); then ok; else fail "$name: $said"; fi
    "$tool" inspect --db "$name" --sample 500 --json >some.json 2>log || fail "$name, sample: $(cat log)"
    if said=$(python3 "$here/inspect_same.py" sample dump.json some.json); then ok; else fail "$name, sample: $said"; fi
done

# ---- which collections ----
expect 0 "northwind.orders" --ns 'northwind.*'
if grep -q "mflix" out; then fail "--ns takes others, too"; else ok; fi
expect 0 "mflix.movies"
expect 2 "there is no collection like nobody.*" --ns 'nobody.*'
expect 2 "there is no collection in the database nobody" --db nobody
expect 2 "give one of them" --whole --sample 1000
expect 2 "--sample must be 100 to" --sample 5
expect 2 "hints" --hints /nonexistent/hints

# ---- the plan that it suggests holds ----
expect 0 "  mongoreshape-live apply better.yaml --db northwind" --db northwind --whole --suggest better.yaml
"$offline" check better.yaml -i sets/northwind/dump >log 2>&1 && ok || fail "the plan: $(cat log)"

# ---- the page holds what --json says of the same inspection, and is never written over anything else ----
# shellcheck source=../pages.sh
. "$root/tests/pages.sh"
for page in whole sampled; do
    how=--whole
    [ $page = whole ] || how="--sample 500"
    # shellcheck disable=SC2086
    "$tool" inspect --db northwind $how --json --html $page.html >$page.json 2>log || fail "$page.html: $(cat log)"
    python3 embedded.py $page.html $page.json 2>said && ok || fail "$page.html: $(tail -n 1 said)"
    [ -z "$browser" ] || shown $page inspect
done
[ -n "$browser" ] || echo "skipped: no Chromium to look at the pages (apt-get install chromium)"
echo mine >mine.html
expect 2 "mine.html: it is there and no page" --db northwind --html mine.html
expect 2 "a page is written to a file" --db northwind --html -
[ "$(cat mine.html)" = mine ] && ok || fail "a file that is no page was replaced"

# ---- limits: 500 documents at 250 a second take two seconds a pass ----
begun=$SECONDS
expect 0 "northwind.orders" --ns northwind.orders --sample 500 --docs 250
[ $((SECONDS - begun)) -ge 2 ] && ok || fail "--docs does not hold back"
env --default-signal=INT "$tool" inspect --db northwind --whole --docs 10 >out 2>err </dev/null &
pid=$!
await catches $pid "$tool"
kill -INT $pid
wait $pid
[ $? -eq 130 ] && grep -q interrupted err && ok || fail "not interrupted: $(cat err)"

# ---- a connection that is lost on the way changes nothing ----
cut_off() { # same|sample RULE ARGS...: what the dump says, through a proxy that follows the rule
    how=$1 rule=$2
    shift 2
    rm -f proxy.log
    "$OBJ/proxy" 0 "127.0.0.1:$port" "$rule" >proxy.log 2>&1 &
    proxy=$!
    await grep -q -s '^listening' proxy.log
    over="mongodb://127.0.0.1:$(sed -n 's/^listening //p' proxy.log)/?directConnection=true"
    "$tool" inspect --db northwind --json --uri "$over" "$@" >server.json 2>log || fail "$rule $*: $(cat log)"
    kill "$proxy"
    wait "$proxy" 2>/dev/null
    grep -q '^cut' proxy.log || fail "nothing was cut: $rule $*"
    if said=$(python3 "$here/inspect_same.py" "$how" dump.json server.json); then ok; else fail "$rule $*: $said"; fi
}
if [ -x "$OBJ/proxy" ]; then
    "$offline" inspect sets/northwind/dump --json >dump.json 2>log || fail "northwind: $(cat log)"
    cut_off same 'cut-reply find 9' --whole
    cut_off same 'cut-reply getMore 2' --whole
    cut_off sample 'cut-reply find 15' --sample 500
    cut_off sample 'cut-reply getMore 1' --sample 500
    cut_off sample 'cut-reply aggregate 6' --sample 500
fi

# ---- nothing was written ----
"$ask" --picture >after || fail "no picture"
if cmp -s before after; then ok; else fail "inspect wrote: $(diff before after | head -5)"; fi

# ---- how often: what the profiler noted, but for what tools do ----
did() { "$ask" northwind "$1" >>log 2>&1; } # COMMAND
if did '{"profile": 2}'; then
    for i in $(seq 110); do
        did '{"aggregate": "orders", "cursor": {}, "pipeline": [{"$match": {"_id": '"$i"'}},
            {"$lookup": {"from": "customers", "localField": "CustomerID", "foreignField": "_id", "as": "c"}}]}'
    done
    expect 0 "join-heavy" --ns 'northwind.*' --sample 500
    did '{"profile": 0}'
    expect 0 "110 operations in system.profile" --ns 'northwind.*'
    cat out err | grep -q 'join-heavy' && ok || fail "no join-heavy: $(cat out)"
else
    echo "skipped: the server has no profiler"
fi

# ---- unused indexes: on all members that are asked, and for a week at least ----
SET=$("$ask" admin '{"hello": 1}' | grep -o '"setName"[^,}]*' | cut -d'"' -f4)
if [ -n "$SET" ]; then
    for name in City Country Region; do
        did '{"createIndexes": "orders", "indexes": [{"name": "by'$name'", "key": {"Ship'$name'": 1}}]}' || fail "index"
    done
    echo '{"uses": {"_id_": [[9, 40], [9, 40]], "byCity": [[0, 40], [0, 12]], "byCountry": [[7, 40], [0, 40]],
        "byRegion": [[0, 3], [0, 40]]}}' >says
    SET=$SET python3 "$here/governor.py" "$port" says bash "$here/inspect.sh" members >out 2>log ||
        fail "members: $(cat log)"
    tr '\n' ' ' <out | sed 's/   */ /g' >flat
    grep -Eq 'unused-index byCity: no query used it in 12 days, since 2[0-9-]*T[0-9:]*Z \(\$indexStats of '\
'127[0-9.:]*, 127[0-9.:]*\)' flat && ok || fail "byCity is not unused: $(cat flat log)"
    grep -q 'unused-index by[^C]' flat && fail "one that has not been counted for a week: $(cat flat)" || ok
    grep -q 'unused-index byCountry' flat && fail "one that is used on the primary: $(cat flat)" || ok
else
    echo "skipped: no replica set, so no members to ask"
fi
finish
