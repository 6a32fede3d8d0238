#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nasty.sh MONGORESHAPE - no shipped plan loses anything: those of dumps/plans, of docs/patterns (tests/cases/pattern)
# run over their own data with additional values that their authors did not think of.
#
# The first two documents of each collection are copied for each field and each nasty value of it. A copy has its own
# _id and a witness, a field that no plan names; its values are strings and numbers that occur once. Each of them must
# be in the output or among the refused documents, except for those in `gives_up`.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tool=$(realpath "$1")
bin=$(dirname "$tool")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
passed=0 failed=0
[ -x "$bin/casetool" ] || { echo "nasty: no program at $bin/casetool" >&2; exit 2; }

# gives_up PLAN: what the plan itself says that it does not keep, as the beginning of marks
gives_up() {
    case $1 in
        page-views) echo 'site.views:[0-9]+:(witness|user|timestamp|user_agent|geo):' ;; # a counter holds no view
        sensor-readings) echo 'iot.hours:[0-9]+:witness:' ;; # fields of the bucket itself, as `unbucket` says
        *) echo - ;;
    esac
}

# nasty NS: standard input, documents as lines of Extended JSON, and their nasty copies
nasty() {
    awk -v ns="$1" '
        # the top-level fields of a line into name[1..n] and text[1..n]
        function fields(line,    i, c, depth, quoted, from) {
            n = 0
            from = 2
            for (i = 2; i <= length(line); i++) {
                c = substr(line, i, 1)
                if (quoted) {
                    if (c == "\\") i++
                    else if (c == "\"") quoted = 0
                } else if (c == "\"") quoted = 1
                else if (c == "{" || c == "[") depth++
                else if ((c == "}" || c == "]") && depth) depth--
                else if ((c == "," || c == "}") && !depth && i > from) {
                    text[++n] = substr(line, from, i - from)
                    match(text[n], /^"[^"]*"/)
                    name[n] = substr(text[n], 2, RLENGTH - 2)
                    from = i + 1
                }
            }
        }
        function copy(skip, value,    i, s, no) {
            no = sprintf("%s:%d", ns, ++made)
            gsub(/@/, no ":" name[skip] ":", value)
            gsub(/#/, sprintf("%d", 700000000 + NR * 1000 + made), value)
            s = "{\"_id\":\"_" no "_\",\"witness\":\"" no ":witness:\""
            for (i = 1; i <= n; i++) {
                if (name[i] != "_id" && i != skip) s = s "," text[i]
            }
            return s (value == "" ? "" : ",\"" name[skip] "\":" value) "}"
        }
        BEGIN {
            values = split("|null|true|\"\"|\"@\"|\"@a  @b @c\"|\" @a \"|[]|[\"@a\",\"@b c\"]|[[\"@\"],null]" \
                "|{\"x\":\"@\"}|{\"$numberLong\":\"92233720#\"}|{\"$numberDecimal\":\"#E+6000\"}|{\"$numberDouble\":\"NaN\"}" \
                "|{\"$date\":{\"$numberLong\":\"-9223372036854775808\"}}|\"\xf0\x9d\x92\xb3@ \xf0\x9f\x98\x80@b\"", value, "|")
        }
        { print }
        NR <= 2 {
            fields($0)
            for (f = 1; f <= n; f++) {
                for (v = 1; v <= values && name[f] != "_id"; v++) print copy(f, value[v])
            }
        }'
}

# nasty_dump DUMP OUT: the dump with nasty copies in each collection
nasty_dump() {
    local file ns
    rm -rf case "$2"
    mkdir -p case/in
    for file in "$1"/*/*.bson; do
        ns=$(echo "${file#"$1"/}" | sed 's|/|.|; s|\.bson$||')
        "$tool" cat "$1" --ns "$ns" | nasty "$ns" > "case/in/$ns.jsonl"
    done
    "$bin/casetool" load case "$2"
}

# marks: the texts and numbers that occur once, of what is read, each with its place
marks() {
    grep -oE '[a-z_]+\.[A-Za-z_]+:[0-9]+:[A-Za-z_]+:|[0-9]*7000?[0-9]{6}' | sort -u
}

# holds NAME PLAN DUMP OUT: the plan runs over the dump made nasty, and all marks are there
holds() {
    local status lost
    [ -d "$3.nasty" ] || nasty_dump "$3" "$3.nasty"
    "$tool" run "$2" -i "$3.nasty" -o "$4" --max-refused 1000000 > log 2>&1 < /dev/null
    status=$?
    "$tool" cat "$3.nasty" | marks > before
    {
        "$tool" cat "$4"
        [ ! -e "$4.refused.bson.jsonl" ] || cat "$4.refused.bson.jsonl"
    } | marks > after
    lost=$(comm -23 before after | grep -vE "^($(gives_up "$1"))")
    if [ $status -le 1 ] && [ -s before ] && [ -z "$lost" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s: status %s, %s lost\n' "$1" $status "$(echo "$lost" | grep -c .)"
        [ $status -le 1 ] || cat log
        echo "$lost" | head -20
    fi
}

cp -r "$root/dumps/sample" sample
for plan in "$root"/dumps/plans/*.yaml; do
    name=$(basename "$plan" .yaml)
    before=$(sed -n 's/^#.* over the result of \([a-z-]*\)\.yaml.*/\1/p' "$plan")
    input=sample
    if [ -n "$before" ]; then
        rm -rf base base.nasty
        "$tool" run "$root/dumps/plans/$before.yaml" -i "$input" -o base > log 2>&1 < /dev/null || cat log
        input=base
    fi
    holds "$name" "$plan" "$input" "out.$name"
done
for case in "$root"/tests/cases/pattern/*/; do
    name=pattern/$(basename "$case")
    rm -rf load base base.nasty
    mkdir -p load
    cp -r "$case/in" load/in
    "$bin/casetool" load load base
    "$bin/casetool" plan "$case/plan.yaml" > plan.yaml 2> /dev/null || cp "$case/plan.yaml" plan.yaml
    holds "$name" plan.yaml base "out.$(basename "$case")"
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
