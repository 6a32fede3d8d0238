#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# one_walk.sh - on a replica set a collection is walked over once, and concurrent writes are applied all the same.
#
# A writer runs at every EVERY-th stop before the mark that ends a walk, and makes every kind of change to parents and
# children; the tool is killed there, too, and called again. `verify`, which repairs nothing, must find no difference.
# Then the changes that only another walk can find, groups that cannot be followed, and the number of documents written.
# At every other stop events are applied after each batch, not once a second.
# Environment: OBJ, the folder of the programs; EVERY, 1 for each stop (4).
set -u
. "$(dirname "$0")/begin.bash"
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
tool=$obj/mongoreshape-live-test ask=$obj/ask
needs "$tool" "$ask"
[ "${1:-}" = --inside ] || { outside "no server for tests"; exit; }
inside
. "$here/lib.sh"
every=${EVERY:-4}
figure() { grep -o "\"$1\":[0-9]*" out | tail -n 1 | sed 's/.*://'; }

# fill: 12 posts with two items each, 24 comments, 12 notes
fill() {
    local p="" c="" n="" i
    server shop '{"dropDatabase": 1}' && server __mdb_internal_mongoreshape '{"dropDatabase": 1}'
    for ((i = 1; i <= 12; i++)); do
        p+="{\"_id\": $i, \"t\": \"t$i\", \"k\": $i, \"parts\": [$i, $((i + 12))], "
        p+="\"items\": [{\"_id\": ${i}01, \"q\": 1}, {\"_id\": ${i}02, \"q\": 2}]},"
        c+="{\"_id\": $i, \"post\": $i, \"n\": $i},{\"_id\": $((i + 12)), \"post\": $i, \"n\": 0},"
        n+="{\"_id\": \"n$i\", \"t\": \"n$i\"},"
    done
    server shop "{\"insert\": \"posts\", \"documents\": [${p%,}]}"
    server shop "{\"insert\": \"comments\", \"documents\": [${c%,}]}"
    server shop "{\"insert\": \"notes\", \"documents\": [${n%,}]}"
    server shop '{"createIndexes": "comments", "indexes": [{"key": {"post": 1}, "name": "post"}]}'
    server shop '{"createIndexes": "posts", "indexes": [{"key": {"parts": 1}, "name": "parts"}]}'
}

# writer NAME COMMAND...: a program that sends these to the database
writer() {
    local name=$1
    shift
    {
        echo 'set -e'
        printf "'$ask' shop '%s' > /dev/null\n" "$@"
    } > "$name.sh"
}
# What is told by the keys that are there: inserts before and behind the cursor, changes, a child that comes.
writer gentle \
    '{"insert": "comments", "documents": [{"_id": "new", "post": 2, "n": 7}, {"_id": 99, "post": -1, "n": 1}]}' \
    '{"insert": "posts", "documents": [{"_id": -1, "t": "low", "parts": [99], "items": [{"_id": 9901}]}]}' \
    '{"insert": "posts", "documents": [{"_id": 77, "t": "high", "parts": [], "items": []}]}' \
    '{"update": "posts", "updates": [{"q": {"_id": 3}, "u": {"$set": {"t": "changed", "parts": [4, 5]}}}]}' \
    '{"update": "posts", "updates": [{"q": {"_id": 4}, "u": {"_id": 4, "t": "other", "items": [{"_id": 402}]}}]}' \
    '{"update": "posts", "updates": [{"q": {"_id": 5}, "u": {"$pull": {"items": {"_id": 501}}}}]}' \
    '{"update": "posts", "updates": [{"q": {"_id": 6}, "u": {"$push": {"items": {"_id": 603, "q": 3}}}}]}' \
    '{"update": "comments", "updates": [{"q": {"_id": 6}, "u": {"$set": {"n": 66}}}]}' \
    '{"insert": "notes", "documents": [{"_id": -3, "t": "low"}, {"_id": 300, "t": "high"}]}' \
    '{"delete": "posts", "deletes": [{"q": {"_id": 12}, "limit": 1}]}' \
    '{"insert": "posts", "documents": [{"_id": 12, "t": "anew", "parts": [1], "items": [{"_id": 1201, "q": 5}]}]}'
# Children that leave their parent, so that no key names it any more: they move, go, and move before they go.
writer rough \
    '{"update": "comments", "updates": [{"q": {"_id": 7}, "u": {"$set": {"post": 1}}}]}' \
    '{"delete": "comments", "deletes": [{"q": {"_id": 8}, "limit": 1}]}' \
    '{"update": "comments", "updates": [{"q": {"_id": 9}, "u": {"_id": 9, "post": 11, "n": 1}}]}' \
    '{"update": "comments", "updates": [{"q": {"_id": 10}, "u": {"$set": {"post": 2}}}]}' \
    '{"delete": "comments", "deletes": [{"q": {"_id": 10}, "limit": 1}]}'

# apply: the tool; `status` is what it ended with
apply() {
    "$tool" apply plan.yaml --db shop --execute --batch 5 --lease 1000 --json > out 2> err < /dev/null
    status=$?
}
right() {
    cp out applied
    verify
    ends "$1: verify" 0
    mv applied out
}

# disturb WHAT WRITER: at stops before the mark that lie in no transaction (it would be waited for), and with a kill
disturb() {
    local stop n=0
    fill
    MRS_STOP_LIST=$PWD/list apply
    ends "$1 undisturbed" 0
    right "$1 undisturbed"
    sed '/^before-mark$/q' list | grep -xE 'after-read-range|after-read-from|after-commit|before-mark' |
        awk '{ print $0 ":" ++n[$0] }' > stops
    rm -f list
    grep -q before-mark stops || { fail "$1: no mark"; return; }
    while read -r stop <&8; do
        n=$((n + 1))
        [ $((n % every)) = 0 ] || continue
        [ $((n / every % 2)) = 0 ] && unset MRS_PERIOD || export MRS_PERIOD=0
        fill
        MRS_STOP="$stop=run:sh $PWD/$2.sh" apply
        ends "$1, $2 at $stop" 0
        right "$1, $2 at $stop"
        fill
        MRS_STOP="$stop=run:sh $PWD/$2.sh; kill -9 \$PPID" apply
        ends "$1, killed at $stop" 137
        apply
        ends "$1, called again" 0
        right "$1, $2 and killed at $stop"
    done 8< stops
    unset MRS_PERIOD
}

embed='- embed: { from: comments, into: posts, match: { post: _id }, keep: all, as: comments, sort: { n: 1 } }'
plan <<< "steps:
$embed"
disturb embed gentle
disturb embed rough
plan << 'END'
steps:
- embed: { from: comments, into: posts, match: { _id: parts }, keep: all, as: partDocs }
END
disturb embed-refs gentle
disturb embed-refs rough
plan << 'END'
steps:
- rollup: { from: comments, into: posts, match: { post: _id }, fields: { many: { $sum: 1 }, most: { $max: $n } } }
END
disturb rollup rough
plan << 'END'
steps:
- extract: { from: posts, path: items, into: lines, refs: parent, parent_ref: post, id: keep, count: lines }
END
disturb extract gentle
plan << 'END'
steps:
- union: { from: { p: posts, n: notes }, into: all, tag: kind }
END
disturb union gentle
plan << 'END'
steps:
- set: { in: posts, fields: { u: { $concat: [$t, '!'] } } }
- copy: { from: posts, into: comments, match: { _id: post }, fields: { u: $u } }
END
disturb chain gentle

# ---- one walk, where that is enough; else one more
plan <<< "steps:
$embed"
fill
MRS_STOP="after-read-range:2=run:sh $PWD/gentle.sh" apply
is "read at most once, and what changed" "$(($(figure documents) < 12 + 12))" 1
fill
MRS_STOP="after-read-range:2=run:sh $PWD/rough.sh" apply
is "read twice, and what changed" "$(($(figure documents) >= 24 && $(figure documents) < 24 + 12))" 1

# ---- each document is written once, and once more where it had to be
: > writes
cat > beside.sh << END
n=\$(wc -l < '$PWD/writes')
'$ask' shop '{"insert": "comments", "documents": [{"_id": "b'\$n'", "post": 1, "n": 1}]}' > '$PWD/said' &&
'$ask' shop '{"update": "comments", "updates": [{"q": {"_id": 2}, "u": {"\$set": {"n": '\$n'}}}]}' > '$PWD/said' &&
echo >> '$PWD/writes'
END
fill
MRS_STOP="after-read-range:0=run:sh $PWD/beside.sh" apply
ends "alongside writers" 0
right "alongside writers"
is "writes at each batch" "$(($(wc -l < writes) >= 3))" 1
is "12 documents, and two of them once more: $(figure written) written" "$(($(figure written) * 10 <= 14 * 12))" 1

# ---- a token is never ahead of what is written: killed while the events of an earlier call are applied
waiting() { fill; MRS_STOP="after-read-range:2=run:sh $PWD/gentle.sh; kill -9 \$PPID" apply; }
waiting
MRS_STOP_LIST=$PWD/list apply
stops=$(wc -l < list)
rm -f list
for stop in before-update:1 $(seq -f '*:%g' 1 $((every + 2)) "$stops"); do # the first one: the events' own write
    waiting
    MRS_STOP="$stop=kill" apply # it may come to its end by fewer stops: then this is an error of use
    [ "$status" = 0 ] || apply
    ends "called again" 0
    right "killed at stop $stop"
done

# ---- verify: what is written while it is looked at says nothing yet; what stays different counts
fill
apply
MRS_STOP="after-read-range:1=run:sh $PWD/beside.sh" verify
ends "verify, written once meanwhile" 1
grep -q 'written each time' out && fail "it stands still by now: $(cat out)"
fill
apply
sh beside.sh
MRS_STOP="after-read-from:0=run:sh $PWD/beside.sh" verify
ends "verify, written all the time" 0
grep -q 'documents were written each time' out || fail "nothing is said of them: $(cat out)"
fill
apply
sh gentle.sh
sh rough.sh
verify
ends "verify, stale" 1
MRS_STOP="after-read-from:2=run:sh $PWD/beside.sh" verify --repair --execute --json --batch 5
ends "repair" 0
is "it looks once: $(figure documents)" "$(($(figure documents) < 2 * 14))" 1
right "repaired"

# ---- events are applied during the walk, and what it read before them is read again
plan << 'END'
steps:
- extract: { from: posts, path: items, into: lines, refs: parent, parent_ref: post, id: keep }
END
writer ahead \
    '{"update": "posts", "updates": [{"q": {"_id": 6}, "u": {"$pull": {"items": {"_id": 601}}}}]}' \
    '{"update": "posts", "updates": [{"q": {"_id": 2}, "u": {"$set": {"items": [{"_id": 203}]}}}]}'
fill
MRS_PERIOD=0 MRS_STOP="after-read-range:1=run:sh $PWD/ahead.sh" apply
ends "events between batches" 0
right "events between batches"
fill
MRS_PERIOD=0 MRS_STOP_LIST=$PWD/list MRS_STOP="after-read-range:2=run:sh $PWD/ahead.sh" apply
ends "events before the mark" 0
is "what an event made stale is deleted before the walk ends" "$(sed '/^before-mark$/q' list | grep -c before-delete)" 1
rm -f list

# ---- what cannot be followed is said, and walked over again
fill
server shop '{"dropIndexes": "posts", "index": "parts"}'
plan << 'END'
steps:
- embed: { from: comments, into: posts, match: { _id: parts }, keep: all, as: partDocs }
END
MRS_STOP="after-read-range:2=run:sh $PWD/rough.sh" apply
ends "no index" 0
grep -q 'another walk: no index of shop.posts begins with parts' out || fail "no reason: $(cat out)"
right "no index"

# ---- a token that the server does not know any more
plan <<< "steps:
$embed"
fill
MRS_STOP="before-mark:1=run:sh $PWD/gentle.sh; kill -9 \$PPID" apply
ends "killed before the mark" 137
server __mdb_internal_mongoreshape '{"update": "checkpoints", "updates": [{"q": {"token": {"$exists": true}},
    "u": {"$set": {"token": {"_data": "00"}}}}]}'
apply
ends "history lost" 0
grep -q 'another walk: change stream: ' out || fail "history lost, and nothing said: $(cat out)"
right "history lost"

finish
