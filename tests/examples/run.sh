#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [TOOL] [CASETOOL] [DATA] - plans over real data sets, there and back, with counts and documents pinned.
#
# Figures that were counted by other means (the data sets' own notes, a script in another language) stand here as
# numbers; whole documents and metadata, looked at by eye, stand in pinned/. The way back must give every document
# back, byte for byte. The data sets have licences of their own and are not kept here: where they are missing, all of
# this is skipped.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
tool=$(realpath -m "${1:-${MONGORESHAPE:-$root/build/current/mongoreshape}}")
helper=$(realpath -m "${2:-${CASETOOL:-$root/build/current/casetool}}")
data=$(realpath -m "${3:-${SHARED_DATA:-$root/../shared/data}}")/examples
passed=0 failed=0 skipped=0
for program in "$tool" "$helper"; do
    [ -x "$program" ] || { echo "examples: no program at $program" >&2; exit 2; }
done
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2

# verdict NAME COMPLAINTS: one test; whatever was said counts as its failure
verdict() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n%s\n' "$1" "$2" | sed '2,$s/^/    /'
    fi
}

# here_is FOLDER: whether a data set is there
here_is() {
    [ -d "$data/$1/dump" ] && return 0
    echo "SKIP $1: no folder $data/$1/dump (third argument, or SHARED_DATA)"
    skipped=$((skipped + 1))
    return 1
}

# go PLAN IN OUT OPTION...: `check` foretells, then the run, twice with other memory and threads: the same bytes
go() {
    local plan=$1 in=$2 out=$3 options=(--compress none "${@:4}") foretold
    "$tool" check "$here/$plan.yaml" -i "$in" > "$plan.check" 2>&1 < /dev/null
    foretold=$?
    "$tool" run "$here/$plan.yaml" -i "$in" -o "$out" "${options[@]}" > "$plan.log" 2>&1 < /dev/null
    verdict "$plan runs" "$([ $? = 0 ] && { [ $foretold = 0 ] || grep -q 'a restore will fail' "$plan.check"; } ||
        cat "$plan.log")"
    "$tool" run "$here/$plan.yaml" -i "$in" -o "$out.again" --memory 64M --jobs 1 "${options[@]}" > again.log 2>&1
    verdict "$plan with one thread and little memory" \
        "$(diff -rq -x mongoreshape.manifest.json "$out" "$out.again" 2>&1)"
    rm -rf "$out.again"
    # what `check` foretold is what `run` did
    verdict "$plan as foretold" "$(diff <(sed -n '/^step/,/^would/p' "$plan.check" | sed '$d') \
        <(sed -n '/^step/,/^written/p' "$plan.log" | sed '$d') 2>&1)"
}

show() { "$helper" show "$1"; }

# has DUMP COLL=N...: numbers of documents, and that no other collection is there
has() {
    local dump=$1 pair complaints=""
    shift
    for pair; do
        [ "$(show "$dump"/*/"${pair%=*}".bson | wc -l)" = "${pair#*=}" ] ||
            complaints="$complaints ${pair%=*}: $(show "$dump"/*/"${pair%=*}".bson | wc -l), not ${pair#*=};"
    done
    [ "$(ls "$dump"/*/*.bson | wc -l)" = $# ] || complaints="$complaints other collections: $(ls "$dump"/*)"
    verdict "$dump has the documents" "$complaints"
}

# pin NAME FILE: FILE is the text kept under NAME. PIN=1 keeps it anew: look at what git says of it
pin() {
    [ -z "${PIN:-}" ] || cp "$2" "$here/pinned/$1"
    verdict "$1 is as pinned" "$(diff <(one_blank "$here/pinned/$1") <(one_blank "$2") 2>&1)"
}

# Empty arrays and documents have two blanks from libbson 1.23, and one from 1.30.
one_blank() { sed 's/\[  \]/[ ]/g; s/{  }/{ }/g' "$1"; }

# one_doc FILE.bson ID: the document with this _id
one_doc() { show "$1" | awk -v begin="{ \"_id\" : $2," 'index($0, begin) == 1'; }

# pin_doc NAME FILE.bson ID: that document
pin_doc() {
    one_doc "$2" "$3" > one
    pin "$1" one
}

# back WANT GOT: the same collections with the same documents, in any order; `exactly`: in the same order
back() {
    local want=$1 got=$2 file complaints=""
    for file in "$want"/*/*.bson; do
        file=${file#"$want"/}
        cmp -s "$want/$file" "$got/$file" && continue
        if [ "${3:-}" = exactly ] ||
            ! cmp -s <(show "$want/$file" | LC_ALL=C sort) <(show "$got/$file" | LC_ALL=C sort); then
            complaints="$complaints $file differs;"
        fi
    done
    complaints="$complaints$(diff <(cd "$want" && ls -- */*.bson) <(cd "$got" && ls -- */*.bson))"
    verdict "$got is $want again" "$complaints"
}

# says LOG PATTERN...: each is found in what a run said
says() {
    local log=$1 pattern complaints=""
    shift
    for pattern; do
        grep -Eq -- "$pattern" "$log" || complaints="$complaints lacks: $pattern"
    done
    [ -z "$complaints" ] || complaints="$complaints
$(cat "$log")"
    verdict "$log" "$complaints"
}

# indexes DUMP COLL: the metadata, an index a line
indexes() {
    sed 's/},{"v"/},\n{"v"/g; s/\],"collectionName"/],\n"collectionName"/' "$1"/*/"$2".metadata.json
}

# plain FOLDER OUT: a data set as a dump without compression, through a plan without steps
plain() {
    printf 'steps: []\n' > nothing.yaml
    "$tool" run nothing.yaml -i "$data/$1/dump" -o "$2" --compress none -q
}

northwind() {
    here_is northwind || return
    plain northwind nw
    go northwind-indexes nw nw.ix
    back nw nw.ix exactly
    for coll in orders products invoices customers; do
        indexes nw.ix $coll
    done > all
    pin northwind-indexes.txt all

    go northwind-orders-whole nw.ix nw.whole
    has nw.whole orders=48 products=21 orders_status=1 shippers=0 customers=14 employees=1 invoices=0 \
        inventory_transaction_types=4 inventory_transactions=102 order_details_status=6 orders_tax_status=2 \
        privileges=1 purchase_order_status=4 purchase_orders=28 sales_reports=5 strings=62 suppliers=10
    pin_doc northwind-order-30.json nw.whole/northwind/orders.bson '{ "$numberInt" : "30" }'
    indexes nw.whole orders > all
    pin northwind-orders-whole.txt all
    says northwind-orders-whole.log 'northwind.products +45 +24 +21 +0' 'northwind.orders +48 +0 +48 +58' \
        'northwind.shippers: 0 documents, 0 bytes, empty now' 'is no longer unique and sparse' \
        'northwind.invoices is not copied to northwind.orders: it would expire' \
        'the validator of northwind.orders left out' \
        'drop at the target: northwind.customers, northwind.employees, northwind.invoices, northwind.orders' \
        "mongorestore --dir='nw.whole'"
    "$tool" explain "$here/northwind-orders-whole.yaml" -i nw.ix > explained
    sed -n '/^Indexes and options/,$p' explained > all
    pin northwind-explained.txt all
    go northwind-orders-apart nw.whole nw.apart
    back nw nw.apart
    indexes nw.apart orders > all
    pin northwind-orders-apart.txt all

    go northwind-details-out nw.ix nw.out
    verdict "58 order lines" "$(show nw.out/northwind/order_details.bson | wc -l | sed '/^58$/d')"
    show nw.out/northwind/order_details.bson | head -n 3 > all
    pin northwind-lines.json all
    indexes nw.out order_details > all
    pin northwind-lines.txt all
    go northwind-details-in nw.out nw.in
    back nw nw.in exactly

    go northwind-products nw.ix nw.products
    show nw.products/northwind/categories.bson > all
    pin northwind-categories.json all
    pin_doc northwind-product-14.json nw.products/northwind/products.bson '{ "$numberInt" : "14" }'
    says northwind-products.log 'northwind.products +45 +0 +45 +50' 'northwind.categories +0 +16 +16 +29'
    go northwind-products-back nw.products nw.again
    back nw nw.again
}

stack() {
    here_is conlang_stackexchange || return
    plain conlang_stackexchange se
    go stack-embed se se.whole
    has se.whole posts=8 questions=54 comments=0 users=272 votes=1119 badges=612 tags=71 postlinks=20
    says stack-embed.log 'conlang.comments +230 +230 +0 +0' 'conlang.posts +177 +0 +177 +230' \
        'conlang.posts +177 +177 +171' 'conlang.questions +0 +54 +0 +54' 'conlang.questions +54 +0 +54 +115'
    # its texts and names are other people's
    one_doc se.whole/conlang/questions.bson '{ "$numberInt" : "3" }' |
        sed -E 's/"(Body|Text|Title|name|[A-Za-z]*DisplayName)" : "([^"\\]|\\.)*"/"\1" : ""/g' > all
    pin stack-question-3.json all
    # the data count their comments and answers themselves
    show se.whole/conlang/questions.bson > all
    verdict "as many answers as the data say" "$(sed -E -n '
        s/.*"AnswerCount" : \{ ("[^}]*) \}.*"answersHere" : \{ ("[^}]*) \}.*/\1 \2/p' all |
        awk '{ n++; if ($3 != $6) print "a question:", $0 } END { if (n != 54) print n, "questions" }')"
    go stack-extract se.whole se.apart
    back se se.apart

    go stack-tags se se.tags
    has se.tags posts=177 comments=230 users=272 votes=1119 badges=612 tags=71 postlinks=20
    verdict "tags stay what they were" "$(cmp se/conlang/tags.bson se.tags/conlang/tags.bson 2>&1)"
    verdict "106 references to tags" "$(show se.tags/conlang/posts.bson | grep -o '"Tags" : \[[^]]*\]' |
        grep -o numberInt | wc -l | sed '/^106$/d')"
    go stack-tags-back se.tags se.text
    back se se.text exactly
}

albums() {
    here_is palbum || return
    plain palbum pa
    go albums-embed pa pa.in
    has pa.in albums=1000 images=10263
    says albums-embed.log 'palbum.images +100,000 +89,737 +10,263' 'palbum.albums +1,000 +0 +1,000 +89,737'
    go albums-extract pa.in pa.out
    back pa pa.out
    go albums-both-ways pa pa.both
    verdict "89737 images know their album" "$(show pa.both/palbum/images.bson | grep -c '"album"' | sed '/^89737$/d')"
    verdict "albums keep their lists" "$(cmp pa/palbum/albums.bson pa.both/palbum/albums.bson 2>&1)"
    show pa.both/palbum/images.bson | head -n 3 > all
    pin albums-images.json all
    go albums-one-way pa.both pa.one
    back pa pa.one exactly
    go albums-pages pa pa.pages
    has pa.pages albums=1000 images=100000 album_pages=1982 tags=7
    verdict "349595 links to tags" "$(show pa.pages/palbum/images.bson | grep -o '"\$oid"' | wc -l | sed '/^349595$/d')"
    show pa.pages/palbum/tags.bson > all
    pin albums-tags.json all
    verdict "no page is larger than 50" "$(show pa.pages/palbum/album_pages.bson |
        awk '{ n = gsub(/"_id"/, ""); if (n > 51) print n }')"
}

weather() {
    here_is us_weather || return
    plain us_weather we
    go weather-stations we we.stations
    has we.stations charlotte=365 los_angeles=365 houston=365 indianapolis=365 jacksonville=365 chicago=365 \
        new_york=365 philadelphia=365 phoenix=365 seattle=365 stations=10
    show we.stations/usweather/phoenix.bson | head -n 1 > all
    pin weather-phoenix.json all
    # the hottest day of the year: 116 at Phoenix, 2014-7-24
    verdict "the hottest day" "$(show we.stations/usweather/phoenix.bson |
        grep '"actual_max_temp" : { "$numberInt" : "116" }' | grep -c '"$numberLong" : "1406160000000"' | sed '/^1$/d')"
    # one null year in each of two columns, both at Chicago
    verdict "null years stay null" "$(show we.stations/usweather/chicago.bson | grep -o '"year" : null' | wc -l |
        sed '/^2$/d')"
    go weather-daily we.stations we.daily
    back we we.daily exactly

    go weather-months we we.months
    has we.months months=120
    # what fell at each station in the year, as the notes of the data have it, summed over its months
    show we.months/usweather/months.bson | awk '
        { station = $0; sub(/.*"station" : "/, "", station); rain = $0; sub(/.*"rain" : [^:]*: "/, "", rain)
          sum[substr(station, 1, 4)] += rain + 0 }
        END { for (s in sum) printf "%s %.2f\n", s, sum[s] }' | LC_ALL=C sort > all
    verdict "rain of the year" "$(printf '%s %s\n' KCLT 37.38 KCQT 8.52 KHOU 64.60 KIND 38.59 KJAX 43.91 KMDW 36.04 \
        KNYC 46.05 KPHL 45.46 KPHX 10.12 KSEA 37.43 | diff - all)"
    verdict "the hottest month" "$(show we.months/usweather/months.bson |
        grep '"hottest" : { "$numberInt" : "116" }' |
        grep -c '"station" : "KPHX", "from" : { "$date" : { "$numberLong" : "1404172800000"' | sed '/^1$/d')"
    indexes we.months months > all
    show we.months/usweather/months.bson | sed -n '8s/"days" : .*], "n"/"days" : [...], "n"/p' >> all
    pin weather-months.txt all
    go weather-months-back we.months we.again
    back we we.again exactly

    go weather-days we we.days
    has we.days days=3650
    # days of 23 and of 25 hours, one of each at each station
    show we.days/usweather/days.bson |
        sed -E 's/.*"from" : [^0-9]*"([0-9]+)" \} \}, "until" : [^0-9]*"([0-9]+)".*/\1 \2/' |
        awk '{ n[($2 - $1) / 3600000]++ } END { print n[23], n[24], n[25] }' > all
    verdict "short and long days" "$(echo 10 3630 10 | diff - all)"
    go weather-days-back we.days we.back
    back we we.back exactly
}

northwind
stack
albums
weather
echo "examples: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
