#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# workers.sh [PART...] - several workers share a walk (--workers), and after any failure of them the result is that of
# one.
#
# fenced: a worker that sleeps past its lease, one that dies in the middle of its range, one that is still working when
# the others are done (W1 to W3; each has a mutant). same: 1, 2 and 4 workers leave the same documents, including
# refused ones. run: status, pause, limits, a worker on another machine, a leader that dies, rollback. harassed: workers
# are killed and stopped at random. swarm: the same, with concurrent writers (live-writers with a tool whose workers are
# harassed).
# Environment: OBJ, the folder of the programs; HARASSED, number of runs (6); SWARMS (6); WRITERS_SEED (1).
set -u
. "$(dirname "$0")/begin.bash"
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
tool=$obj/mongoreshape-live-test ask=$obj/ask
needs "$tool" "$ask" "$obj/live-writers"
[ "${1:-}" = --inside ] || { outside "no server for tests" -- "$@"; exit; }
shift
[ $# != 0 ] || set -- fenced same run harassed swarm
inside
. "$here/lib.sh"
killed=0 stopped=0
state=__mdb_internal_mongoreshape

# fill [N]: N posts (60) with two items each, two comments to each
fill() {
    local p="" c="" i n=${1:-60}
    server shop '{"dropDatabase": 1}' && server $state '{"dropDatabase": 1}'
    for ((i = 1; i <= n; i++)); do
        p+="{\"_id\": $i, \"t\": \"t$i\", \"items\": [{\"_id\": ${i}01, \"q\": 1}, {\"_id\": ${i}02, \"q\": 2}]},"
        c+="{\"_id\": $i, \"post\": $i, \"n\": $i},{\"_id\": $((i + n)), \"post\": $i, \"n\": 0},"
    done
    server shop "{\"insert\": \"posts\", \"documents\": [${p%,}]}"
    server shop "{\"insert\": \"comments\", \"documents\": [${c%,}]}"
    server shop '{"createIndexes": "comments", "indexes": [{"key": {"post": 1}, "name": "post"}]}'
}

# apply [OPTION...]: the tool; `status` is what it ended with
apply() {
    "$tool" apply plan.yaml --db shop --execute --batch "${batch:-5}" --lease "${lease:-1000}" "$@" \
        > out 2> err < /dev/null
    status=$?
}
right() {
    verify
    ends "$1: verify" 0
}
# stands COLL: its documents by `_id`
stands() { "$ask" shop "{\"find\": \"$1\", \"sort\": {\"_id\": 1}, \"batchSize\": 100000}" | sed 's/"id" : 0.*//'; }
refused() {
    "$ask" $state '{"aggregate": "refused", "cursor": {"batchSize": 100000}, "pipeline": [{"$sort": {"_id": 1}},
        {"$project": {"_id": {"ns": "$_id.ns", "id": "$_id.id"}}}]}' | sed 's/"id" : 0.*//'
}
extract='- extract: { from: posts, path: items, into: lines, refs: parent, parent_ref: post, id: new, count: lines }'
embed='- embed: { from: comments, into: posts, match: { post: _id }, keep: all, as: comments, sort: { n: 1 } }'

# held SCRIPT: what stop a worker that comes there first stands still for, while SCRIPT runs
held() { echo "run:mkdir '$PWD/once' 2> '$PWD/not' || exit 0; $1"; }
# until_phase PHASE: shell words that wait until the run is there
until_phase() {
    echo "for i in \$(seq 3000); do"
    echo "    '$ask' $state '{\"find\": \"runs\"}' | grep -q '\"phase\" : \"$1\"' && break; sleep 0.1"
    echo "done"
}
pull='{"update": "posts", "updates": [{"q": {}, "u": {"$set": {"items": []}}, "multi": true}]}'

# ---- W1 to W3
part_fenced() {
    # nothing is written to a post, so that no guard but the fence stands between what was read once and now
    plan <<< "steps:
- extract: { from: posts, path: items, into: lines, refs: parent, parent_ref: post, id: new }"
    # the sleeper read its documents, then slept; what it means to write is old when it wakes, and not its to write
    fill
    rm -rf once
    MRS_STOP="after-read-range:2=$(held "'$ask' shop '$pull' > '$PWD/said'; $(until_phase expanded)")" apply --workers 2
    ends "W1, asleep past the lease" 0
    [ -d once ] || fail "W1: nobody slept"
    right "W1, asleep past the lease"
    # one that dies in its range: whoever takes it goes on where that one stood
    fill 200
    rm -rf once
    MRS_STOP="after-commit:2=$(held 'kill -9 $PPID')" batch=1 apply --workers 2
    ends "W2, killed in its range" 0
    [ -d once ] || fail "W2: nobody died"
    right "W2, killed in its range"
    # one that is at work still, by right: what writers did meanwhile is not derived before it is done
    fill
    rm -rf once
    MRS_STOP="after-read-range:2=$(held "'$ask' shop '$pull' > '$PWD/said'; sleep 2; $([ -z "${MRS_MUTANT:-}" ] ||
        until_phase expanded)")" lease=30000 apply --workers 2
    ends "W3, at work when the others are done" 0
    [ -d once ] || fail "W3: nobody was at work"
    right "W3, at work when the others are done"
}

# ---- the same with 1, 2 and 4
# same NAME COLL...: the plan in hand leaves the same in these collections
same() {
    local name=$1 n c
    shift
    for n in 1 2 4; do
        fill
        server shop '{"update": "posts", "updates": [{"q": {"_id": {"$in": [7, 31]}},
            "u": {"$set": {"items": 1, "t": 5}}}]}'
        server shop '{"insert": "posts", "documents": [{"_id": "x", "t": "t", "items": [{"_id": 101}]},
            {"_id": 2.5, "items": []}, {"_id": {"a": 1}, "t": "u"}, {"_id": true, "t": "v", "items": [{"q": null}]}]}'
        apply --workers $n --max-refused any
        ends "$name by $n" $((1 - (0 == status)))
        for c in "$@"; do stands "$c"; done > "stands$n"
        refused > "refused$n"
        [ $n = 1 ] || { cmp -s stands1 stands$n || fail "$name: $n leave something else than 1"; }
        [ $n = 1 ] || { cmp -s refused1 refused$n || fail "$name: $n refuse something else than 1"; }
        ok
        verify
        [ "$status" -le 1 ] || fail "$name by $n: verify $status"
    done
    grep -q '"t"' stands1 || fail "$name: nothing to compare"
}
part_same() {
    plan <<< "steps:
$extract"
    same extract posts lines
    plan <<< "steps:
$embed"
    same embed posts
    plan <<< "steps:
- set: { in: posts, fields: { u: { \$concat: [\$t, '!'] } } }"
    same set posts
    plan <<< "steps:
- split: { from: posts, into: titles, fields: [t] }"
    same split posts titles
    plan <<< "steps:
- union: { from: { p: posts, c: comments }, into: both, tag: kind }"
    same union both
    # element 101 of post 1 and of post "x": by one worker, so that it is the same that is refused
    plan <<< "steps:
- extract: { from: posts, path: items, into: lines, refs: parent, parent_ref: post, id: keep }"
    same extract-keep posts lines
    fill
    apply --workers 2
    grep -q 'by one worker: two documents could make one _id' out || fail "extract-keep: why one worker is not said"
}

# ---- a run, and who turns its knobs
# checkpoints QUERY: how many ranges
ranges() { "$ask" $state "{\"count\": \"checkpoints\", \"query\": $1}" | grep -o '"n" : [0-9]*' | grep -o '[0-9]*$'; }
begin() {
    "$tool" apply plan.yaml --db shop --execute --batch 5 --lease 1000 "$@" > leader.out 2> leader.err < /dev/null &
    leader=$!
}
until_some_done() {
    await more_done "${1:-0}"
    over "$leader" && fail "no range was done: $(cat leader.out leader.err)"
}
done_ranges() { ranges '{"walk": {"$exists": true}, "done": true}'; }
more_done() { over "$leader" || [ "$(done_ranges)" -gt "$1" ] 2> not; }
nobody_works() { [ "$(ranges '{"walk": {"$exists": true}, "owner": {"$ne": ""}}')" = 0 ]; }
part_run() {
    plan <<< "steps:
$embed"
    fill 200
    begin --workers 2 --sleep 1000
    until_some_done
    "$tool" status plan.yaml --db shop > said
    grep -qE '^  ranges +[0-9]+ of 4[0-9] done, [0-2] workers?$' said || fail "status: $(cat said)"
    "$tool" status plan.yaml --db shop --json > said
    grep -qE '"ranges":[0-9]+,"ranges_done":[0-9]+,"workers":[0-9]' said || fail "status --json: $(cat said)"
    "$tool" pause plan.yaml --db shop > said
    for _ in {1..20}; do # the batches in hand are ended first, however slow the machine is
        before=$(done_ranges)
        sleep 2
        after=$(done_ranges)
        [ "$before" != "$after" ] || break
    done
    is "paused" "$after" "$before"
    "$tool" resume plan.yaml --db shop > said
    # one from elsewhere; the leader dies, and the next one has one worker
    "$tool" apply plan.yaml --db shop --execute --worker --batch 5 --lease 1000 > joined 2>&1 < /dev/null &
    helper=$!
    until_some_done "$before"
    kill -9 "$leader"
    wait "$leader" 2> not
    "$tool" throttle plan.yaml --db shop > said
    apply
    ends "led again, by one" 0
    wait "$helper"
    is "who helped ($(cat joined))" $? 0
    right "led again, by one"
    is "ranges are gone" "$(ranges '{"walk": {"$exists": true}}')" 0
    # begun by one, gone on by four
    fill 200
    MRS_STOP="after-commit:3=kill" apply
    apply --workers 4
    ends "begun by one" 0
    right "begun by one"
    # limits are for all of them
    fill 200
    now=$(date +%s%N)
    apply --workers 4 --docs 40
    ends "limited" 0
    now=$((($(date +%s%N) - now) / 1000000))
    is "200 documents at 40 a second ($now ms)" "$((now > 3500))" 1
    # what is refused ends all of them
    plan <<< "steps:
- set: { in: posts, fields: { u: { \$toInt: \$t } } }"
    fill
    apply --workers 2
    ends "refused" 7
    grep -q 'refused, more than --max-refused 0' err || fail "refused: $(cat err)"
    # interrupted, then back: what workers left is taken away
    plan <<< "steps:
$extract"
    fill 200
    begin --workers 2 --sleep 1000
    until_some_done
    kill -TERM "$leader"
    wait "$leader"
    is "interrupted" $? 143
    await nobody_works && ok || fail "somebody holds a range"
    "$tool" rollback plan.yaml --db shop --execute --lease 1000 > out 2> err
    status=$?
    ends "rollback" 0
    is "nothing new is left" "$(stands posts | grep -c '"lines"')$(stands lines | grep -c '"post"')" 00
    "$tool" abort plan.yaml --db shop --clean --execute > out 2> err
    status=$?
    ends "abort" 0
    is "no ranges are left" "$(ranges '{}')" 0
    # what cannot be
    "$tool" apply plan.yaml --db shop --worker --execute > out 2> err < /dev/null
    status=$?
    ends "nobody to help" 2
    "$tool" apply plan.yaml --db shop --worker > out 2> err < /dev/null
    status=$?
    ends "--worker without --execute" 2
    "$tool" apply plan.yaml --db shop --execute --workers 17 > out 2> err < /dev/null
    status=$?
    ends "--workers 17" 2
}

# ---- killed and stopped at random
cat > harass << END
#!/usr/bin/env bash
# The tool with workers of which now and then one is killed, or stopped for longer than its lease.
if [ "\$1" != apply ]; then exec '$tool' "\$@"; fi
n=(1 2 4)
'$tool' "\$@" --lease 1000 --workers \${WORKERS:-\${n[RANDOM % 3]}} < /dev/null &
pid=\$!
while sleep 0.0\$((RANDOM % 9 + 1)) && kill -0 \$pid 2> '$dir/not'; do
    children=(\$(pgrep -P \$pid))
    [ \${#children[@]} != 0 ] || continue
    one=\${children[RANDOM % \${#children[@]}]}
    if [ \$((RANDOM % 3)) != 0 ]; then
        kill -9 \$one 2> '$dir/not' && echo killed >> '$dir/harassed'
        sleep 0.\$((RANDOM % 5))
    else
        kill -STOP \$one 2> '$dir/not' && echo stopped >> '$dir/harassed'
        (sleep 1.\$((RANDOM % 9)); kill -CONT \$one 2> '$dir/not') &
    fi
done
wait \$pid
END
chmod +x harass
count() {
    killed=$((killed + $(grep -c killed harassed))) stopped=$((stopped + $(grep -c stopped harassed)))
    : > harassed
}
part_harassed() {
    local k
    : > harassed
    for ((k = 0; k < ${HARASSED:-6}; k++)); do
        case $((k % 3)) in
            0) plan <<< "steps:
$extract" ;;
            1) plan <<< "steps:
$embed
$extract" ;;
            2) plan <<< "steps:
- split: { from: posts, into: titles, fields: [t] }
- copy: { from: posts, into: comments, match: { _id: post }, fields: { u: \$items } }" ;;
        esac
        fill 200
        "$tool" apply plan.yaml --db shop --execute --batch 5 > out 2> err < /dev/null
        for c in posts comments lines titles; do stands $c; done > stands1
        fill 200
        WORKERS=$((2 + k % 3)) ./harass apply plan.yaml --db shop --execute --batch 5 --sleep 20 > out 2> err
        status=$?
        ends "harassed $k" 0
        for c in posts comments lines titles; do stands $c; done > stands2
        cmp -s stands1 stands2 || fail "harassed $k: it is not what one leaves"
        right "harassed $k"
    done
    count
}
part_swarm() {
    : > harassed
    mkdir -p swarm
    "$obj/live-writers" "$dir/harass" "$obj/mongoreshape" "$dir/swarm" swarm "${WRITERS_SEED:-1}" "${SWARMS:-6}" \
        > swarmed 2>&1
    grep -E ' FAIL|^FAIL|said:' swarmed
    # shellcheck disable=SC2046
    set -- $(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' swarmed | tr -dc '0-9 \n')
    [ $# = 3 ] || { fail "live-writers: $(tail -n 5 swarmed)"; set -- 0 0 0; }
    passed=$((passed + $1)) failed=$((failed + $2))
    grep -v '^ok' swarmed | tail -n 3 | head -n 2
    count
}

for part; do
    "part_$part"
done
[ "$killed$stopped" = 00 ] || echo "workers killed: $killed, stopped: $stopped"
finish
