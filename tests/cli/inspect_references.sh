#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspect_references.sh MONGORESHAPE - references that inspect finds in small dumps, each for one reason, and what it
# must not take for one.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool

# documents COLLECTION N JSON VALUES: the JSON is a format of awk, the values expressions of i, 0 and up
documents() {
    mkdir -p case/in
    awk -v n="$2" "BEGIN { for (i = 0; i < n; i++) printf \"$3\\n\", $4 }" > "case/in/t.$1.jsonl"
}
inspect() {
    rm -rf dump
    "$casetool" load case dump
    "$tool" inspect dump | grep -v '^ *?' > said # what is likely, but not certain
    rm -rf case
}
has() { is "$1" yes "$(grep -qF -- "$2" said && echo yes || echo "no: $(cat said)")"; }
lacks() { is "$1" no "$(grep -qF -- "$2" said && echo yes || echo no)"; }

# ---- unique values of another key ----
documents sensei 52 '{\"_id\":%d,\"shimei\":\"s%d\"}' '1001 + 7 * i, i'
documents gakkyuu 18 '{\"_id\":\"k%d\",\"tannin\":%d}' 'i, 1001 + 7 * (i * 5 % 52)'
documents invoices 60 '{\"_id\":%d,\"total\":%d}' '100001 + i, i'
documents receipts 40 '{\"_id\":{\"$oid\":\"%024d\"},\"no\":%d}' 'i, 100001 + i'
inspect
has "sparse numbers, one document each" "tannin  int  -> sensei._id  0 orphans"
lacks "two counters that begin alike" "no  int  -> invoices._id"

documents contacts 300 '{\"_id\":{\"$oid\":\"%024d\"},\"email\":\"person%d@mail.example\",\"lists\":[\"list-%d\",\"list-%d\"]}' \
    'i, i, i % 26, i % 7'
documents lists 26 '{\"_id\":{\"$oid\":\"%024d\"},\"slug\":\"list-%d\",\"owned\":\"person%d@mail.example\"}' 'i + 1000, i, i * 9'
documents blocked 60 '{\"_id\":\"person%d@mail.example\",\"reason\":\"r%d\"}' 'i * 7, i % 3'
inspect
has "texts of a collection that refers back" "owned  string  -> contacts.email  0 orphans"
has "a subset refers to all" "_id  string  -> contacts.email"
lacks "and not all to the subset" "-> blocked._id"

# ---- short codes, and numbers between extremes of their own ----
documents machines 42 '{\"_id\":\"%s-%02d\",\"model\":\"m%d\"}' 'i < 30 ? "TR" : "CO", i % 30, i'
documents harvests 400 '{\"_id\":{\"$oid\":\"%024d\"},\"colhedora\":\"CO-%02d\"}' 'i, i % 12'
documents crews 36 '{\"_id\":%d,\"lead\":\"p%d\"}' '101 + i, i'
documents outages 400 '{\"_id\":{\"$oid\":\"%024d\"},\"switched\":%d}' 'i + 5000, 101 + i % 36'
inspect
has "some codes of a list" "colhedora  string  -> machines._id  0 orphans"
has "numbers with the extremes of one key" "switched  int  -> crews._id  0 orphans"

documents members 200 '{\"_id\":{\"$oid\":\"%024d\"},\"nick\":\"n%d\"}' 'i, i'
documents visits 3000 '{\"_id\":%d,\"of\":{\"$oid\":\"%024d\"}}' 'i, i % 3 ? i % 200 : i + 5000'
documents questions 60 '{\"_id\":\"q%03d\",\"scale\":%d%s}' 'i, i % 3, i % 9 ? "" : sprintf(",\"after\":\"q%03d\"", i * 7 % 60)'
inspect
has "most values, though most different ones dangle" "of  objectId  -> members._id  1,000 orphans"
has "a few codes of the own collection" "after  string  in 11.7 %  -> questions._id  0 orphans"

documents klienci 2200 '{\"_id\":%d,\"wiek\":%d}' '30001 + i, i % 70'
documents zamowienia 3300 '{\"_id\":{\"$oid\":\"%024d\"},\"dla\":%d}' 'i, 30001 + i * 7 % 1500'
inspect
has "numbers without gaps whose count is an estimate" "dla  int  -> klienci._id  0 orphans"

# ---- a type field ----
documents songs 200 '{\"_id\":\"AT%010d\",\"secs\":%d}' 'i, i'
documents jingles 70 '{\"_id\":{\"$oid\":\"%024d\"},\"file\":\"f%d\"}' 'i, i'
documents airlog 900 '{\"_id\":%d,\"kind\":\"%s\",\"ref\":\"%s\"}' \
    'i, i % 4 ? "song" : "jingle", i % 4 ? sprintf("AT%010d", i % 200) : sprintf("%024d", i % 70)'
inspect
has "ref of a kind, texts" "ref  string  -> songs._id"
has "ref of a kind, ids as text" "ref  string  -> jingles._id"

# ---- names ----
documents queues 18 '{\"_id\":%d,\"name\":\"q%d\",\"nOverflowQueueId\":%d}' 'i + 1, i, i % 5 + 1'
documents tarife 16 '{\"_id\":%d,\"text\":\"t%d\",\"nachfolger\":%d}' 'i + 1, i, i % 7 + 2'
documents mitarbeiter 30 '{\"_id\":%d,\"vorgesetzter\":%d}' 'i + 1, i % 3 + 1'
documents parkhaus 12 '{\"_id\":%d,\"plaetze\":%d}' 'i + 1, 500 + i'
documents schichten 480 '{\"_id\":{\"$oid\":\"%024d\"},\"haus\":%d,\"gemeldetVon\":%d,\"minuten\":%d}' \
    'i, i % 12 + 1, i % 30 + 1, i % 300 + 1'
documents vorgaenge 300 '{\"_id\":%d,\"summe\":%d}' 'i + 1, i'
inspect
has "a word before the collection's name" "nOverflowQueueId  int  -> queues._id"
has "what comes after, in German" "nachfolger  int  -> tarife._id"
has "a superior" "vorgesetzter  int  -> mitarbeiter._id"
has "the last part of a compound" "haus  int  -> parkhaus._id"
has "by whom" "gemeldetVon  int  -> mitarbeiter._id"
lacks "a measure is none" "minuten  int  ->"

# ---- keys of two fields ----
documents rooms 300 '{\"_id\":{\"$oid\":\"%024d\"},\"prop\":\"P%02d\",\"room\":\"%d\"}' 'i, i % 20, 101 + int(i / 20) + i % 20'
documents cleaning 297 '{\"_id\":{\"$oid\":\"%024d\"},\"prop\":\"P%02d\",\"room\":\"%d\"}' \
    'i + 1000, i % 20, 101 + int(i / 20) + i % 20'
documents stays 900 '{\"_id\":{\"$oid\":\"%024d\"},\"prop\":\"P%02d\",\"room\":\"%d\"}' \
    'i + 9000, i % 20, 101 + int(i % 300 / 20) + i % 20'
inspect
has "the collection that owns them" "prop, room  string  -> rooms.prop, room  0 orphans  each has p50 3"
lacks "not another one that refers to it" "-> cleaning."

documents wells 600 '{\"_id\":{\"plate\":\"PL%03d\",\"pos\":\"%s%d\"},\"ul\":%d}' \
    'int(i / 30), substr("ABCDE", i % 5 + 1, 1), int(i / 5) % 6, i % 40'
documents readings 2000 '{\"_id\":%d,\"well\":{\"plate\":\"PL%03d\",\"pos\":\"%s%d\"},\"ct\":%d}' \
    'i, int(i % 600 / 30), substr("ABCDE", i % 5 + 1, 1), int(i % 600 / 5) % 6, i % 37'
inspect
has "an \`_id\` that is a document" "well.plate, well.pos  string  -> wells._id.plate, _id.pos  0 orphans"

# ---- findings on paths with several targets ----
documents runs 120 '{\"_id\":%d,\"dag\":\"d%d\",\"run\":\"r%d\"}' 'i, i % 10, i % 10 + int(i / 10)'
documents tasks 60 '{\"_id\":%d,\"dag\":\"d%d\",\"task\":\"t%d\"}' 'i, i % 10, i % 10 * 2 + int(i / 10)'
documents tries 1200 '{\"_id\":%d,\"dag\":\"d%d\",\"run\":\"r%d\",\"task\":\"t%d\"}' \
    'i, i % 10, i % 100 == 5 ? 0 : i % 10 + int(i / 10) % 12, i % 60 == 7 ? 0 : i % 10 * 2 + int(i / 10) % 6'
inspect
has "orphans of one key" "orphans  dag: 12 of 1,200 values name no runs.dag, run"
has "and of another one with the same first field" "orphans  dag: 20 of 1,200 values name no tasks.dag, task"
is "one index for both" 1 "$(grep -c 'reference-without-index  dag' said)"
documents posts 60 '{\"_id\":{\"$oid\":\"%024d\"},\"t\":%d}' 'i, i % 7'
documents users 60 '{\"_id\":{\"$oid\":\"%024d\"},\"n\":%d}' 'i + 500, i % 5'
documents reports 300 '{\"_id\":%d,\"what\":\"%s\",\"of\":\"%024d\"}' \
    'i, i % 2 ? "post" : "user", i % 2 ? i % 60 : 500 + i % 60'
inspect
is "one cast for both" 1 "$(grep -c 'reference-type-differs  of' said)"
documents stays 900 '{\"_id\":%d,\"hotel\":\"P%02d\",\"room\":\"%d\"}' 'i, i % 20, 101 + int(i % 300 / 20) + i % 20'
documents rooms 300 '{\"_id\":%d,\"hotel\":\"P%02d\",\"room\":\"%d\"}' 'i, i % 20, 101 + int(i / 20) + i % 20'
inspect
"$tool" inspect dump -q --suggest plan.yaml
is "an index of all fields" 1 "$(grep -cF 'create: [{ key: { hotel: 1, room: 1 } }]' plan.yaml)"

# ---- numbers from 1 on whose names say nothing ----
documents huts 74 '{\"_id\":%d,\"beds\":%d}' 'i + 1, 20 + i * 7 % 300'
documents paths 900 '{\"_id\":{\"$oid\":\"%024d\"},\"start\":%d}' 'i, i * 31 % 74 + 1'
documents calls 170 '{\"_id\":{\"$oid\":\"%024d\"},\"came\":%d,\"hours\":%d}' 'i + 5000, i * i * 7 % 73 + 1 + (i % 50 == 9), i % 24 + 1'
inspect
has "all numbers of one key" "start  int  -> huts._id  0 orphans"
lacks "hours" "hours  int"
documents huts 74 '{\"_id\":%d,\"beds\":%d}' 'i + 1, 20 + i * 7 % 300'
documents beams 90 '{\"_id\":{\"$oid\":\"%024d\"},\"width\":%d,\"bears\":%d}' 'i + 9000, i * 37 % 73 + 2, i * 41 % 73 + 2'
inspect
has "numbers near the ends of one key" "bears  int  -> huts._id  0 orphans"
lacks "a measure" "width  int"
documents rooms 20 '{\"_id\":%d,\"floor\":%d}' 'i + 1, i % 3'
documents owners 20 '{\"_id\":%d,\"floor\":%d}' 'i + 1, i % 3'
documents keys 400 '{\"_id\":{\"$oid\":\"%024d\"},\"opens\":%d}' 'i, i % 20 + 1'
inspect
lacks "all numbers of two keys" "opens  int"
documents rooms 20 '{\"_id\":%d,\"floor\":%d}' 'i + 1, i % 3'
documents keys 400 '{\"_id\":{\"$oid\":\"%024d\"},\"opens\":%d}' 'i, i % 20 + 1'
inspect
has "a round number of them, if nothing else refers to the key" "opens  int  -> rooms._id  0 orphans"
documents rooms 20 '{\"_id\":%d,\"floor\":%d}' 'i + 1, i % 3'
documents keys 400 '{\"_id\":{\"$oid\":\"%024d\"},\"roomId\":%d,\"cuts\":%d,\"teeth\":%d}' 'i, i % 20 + 1, i * 3 % 20 + 1, i % 7'
inspect
lacks "else it may be a measure" "cuts  int"
documents devices 64 '{\"_id\":%d,\"rack\":%d}' 'i + 1, i % 3'
documents frames 640 '{\"_id\":{\"$oid\":\"%024d\"},\"deviceId\":%d,\"channel\":%d}' 'i, i % 64 + 1, i * 3 % 64 + 1'
inspect
lacks "and so at a power of two" "channel  int"
documents crates 44 '{\"_id\":%d,\"wood\":\"w%d\"}' 'i + 1, i'
documents apples 900 '{\"_id\":{\"$oid\":\"%024d\"},\"weight\":%d}' 'i, i % 44 + 1'
inspect
lacks "what is named as a measure" "weight  int"
documents letters 900 '{\"_id\":%d%s,\"sofar\":%d}' \
    'i + 1, i % 4 == 3 ? sprintf(",\"answers\":%d", (i * 7919 + int(i / 7) * 131) % i + 1) : "", int(i * .7)'
inspect
has "numbers of earlier documents" "answers  int  in 25.0 %  -> letters._id  0 orphans"
lacks "a counter" "sofar  int"

# ---- keys of subdocuments in arrays ----
documents halls 12 '{\"_id\":%d,\"plan\":[{\"seat\":\"S%05d\",\"row\":1},{\"seat\":\"S%05d\",\"row\":2},{\"seat\":\"S%05d\",\"row\":2}]}' \
    'i, i * 21, i * 21 + 7, i * 21 + 14'
documents bookings 300 '{\"_id\":{\"$oid\":\"%024d\"},\"places\":[\"S%05d\"]}' 'i, i * 5 % 36 * 7'
inspect
has "a text" "places[]  string  -> halls.plan[].seat  0 orphans"
lacks "that nothing can be embedded in" "apart"
echo '!bookings.places[] -> halls.plan[].seat' > hints
"$tool" inspect dump --hints hints > said
lacks "a hint on the elements of a list" "places[]  string  ->"
echo 'bookings.places -> halls.plan.row' > hints
"$tool" inspect dump --hints hints > said
has "in either form" "places[]  string  -> halls.plan[].row"
documents boards 20 '{\"_id\":{\"$oid\":\"%024d\"},\"labels\":[{\"_id\":{\"$oid\":\"%024d\"},\"t\":\"a\"},{\"_id\":{\"$oid\":\"%024d\"},\"t\":\"b\"}]}' \
    'i, i * 2 + 700, i * 2 + 701'
documents cards 200 '{\"_id\":{\"$oid\":\"%024d\"},\"tag\":{\"$oid\":\"%024d\"},\"n\":%d}' 'i + 9000, i % 40 + 700, i'
inspect
has "an id" "tag  objectId  -> boards.labels[]._id  0 orphans"
documents tasks 90 '{\"_id\":{\"$oid\":\"%024d\"},\"t\":\"t%d\"}' 'i, i'
documents people 30 '{\"_id\":{\"$oid\":\"%024d\"},\"todo\":[{\"task\":{\"$oid\":\"%024d\"}},{\"task\":{\"$oid\":\"%024d\"}}]}' \
    'i + 5000, i * 3, i * 3 + 1'
inspect
has "a list of other documents is no key of theirs" "todo[].task  objectId  -> tasks._id  0 orphans"
lacks "nor are they its" "-> people.todo"

# ---- plurals ----
documents taxa 40 '{\"_id\":%d,\"name\":\"n%d\"}' 'i + 1, i'
documents redlist 25 '{\"_id\":{\"$oid\":\"%024d\"},\"taxon\":%d}' 'i, i % 9 + 3'
inspect
has "taxon of taxa" "taxon  int  -> taxa._id  0 orphans"

# ---- what follows another document of its collection ----
documents samples 400 '{\"_id\":\"S%07d\",\"from\":%d,\"to\":%d,\"after\":\"S%07d\"}' \
    '1000000 + 3 * i, i * 3 + (i % 4 == 0), i * 3 + 3, 1000000 + 3 * (i ? i - 1 : 0)'
inspect
has "a reference to it" "after  string  -> samples._id"
lacks "where one ends and the next begins" "stale-copies"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
