#!/usr/bin/env bash
# run.sh TOOL [CASE...] - `check` as a law: what it says of a run is what the run then does. The same refused records,
# byte for byte; the same account; the same documents and bytes of each collection; the size of the files and of
# temporary files within 10 % (of the files also within 4 KiB, the least that a file system gives away).
#
# Over every case of tests/cases (or those named), the sample dumps, and the real data sets of tests/examples where they
# lie beside the project (DATA). What `run` finds wrong before it begins, `check` must find as well. Environment:
# CASETOOL, PREDICT_KEEP=1 keeps the folder.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
tool=${1:-$root/build/current/mongoreshape}
shift
helper=${CASETOOL:-$root/build/current/casetool}
data=${DATA:-$root/../shared/data/examples}
[ -x "$tool" ] && [ -x "$helper" ] || { echo "predict: no tool at $tool, or no casetool at $helper" >&2; exit 2; }
base=/tmp
[ -w /dev/shm ] && base=/dev/shm
tmp=$(mktemp -d "$base/mongoreshape-predict.XXXXXX") || exit 2
[ "${PREDICT_KEEP:-0}" = 1 ] && echo "$tmp" || trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

fail() {
    echo "FAIL $1: $2"
    [ -s "$tmp/log" ] && head -n 8 "$tmp/log" | cut -c1-300 | sed 's/^/    | /'
    failed=$((failed + 1))
    return 1
}

# number FILE KEY: a figure of a report
number() { grep -o "\"$2\":[0-9]*" "$1" | head -n 1 | grep -o '[0-9]*$'; }

# results FILE: what both reports must agree on, a line each
results() {
    sed -E 's/,"largest":[0-9]+,"largestId":("([^"\\]|\\.)*"|null)//g; s/"ids":\[[^]]*\]/"ids":[]/g' "$1" |
        grep -oE -e '"(account|written|refusals)":\[[^]]*(\[\][^]]*)*\]' -e '"outputBytes":[0-9]+' \
            -e '"notes":\[.*\],"refused":[0-9]+'
}

# near WHAT FORETOLD FOUND SLACK: within 10 %, or SLACK bytes
near() {
    awk -v a="${2:-0}" -v b="${3:-0}" -v slack="$4" 'BEGIN {
        d = a > b ? a - b : b - a
        exit !(d <= slack || d <= b / 10)
    }' && return 0
    echo "$1: foretold ${2:-nothing}, found ${3:-nothing}" > "$tmp/log"
    return 1
}

bytes_of() { find "$@" -type f -printf '%s\n' 2> /dev/null | awk '{ n += $1 } END { print n + 0 }'; }

# compare NAME: the reports of check and run, and the files
compare() {
    results "$tmp/check.json" > "$tmp/foretold"
    results "$tmp/run.json" > "$tmp/found"
    cmp -s "$tmp/foretold" "$tmp/found" || {
        diff "$tmp/foretold" "$tmp/found" > "$tmp/log"
        fail "$1" "check and run tell different things"
        return
    }
    for f in bson bson.jsonl; do
        [ -e "$tmp/check.refused.$f" ] || [ -e "$tmp/out.refused.$f" ] || continue
        cmp "$tmp/check.refused.$f" "$tmp/out.refused.$f" > "$tmp/log" 2>&1 ||
            { fail "$1" "check and run refuse other documents"; return; }
    done
    near "files of refused documents" "$(number "$tmp/check.json" refusedBytes)" \
        "$(bytes_of "$tmp" -maxdepth 1 -name 'out.refused.*')" 0 || { fail "$1" "refusedBytes"; return; }
    near "temporary files" "$(number "$tmp/check.json" temporaryBytes)" "$(number "$tmp/run.json" temporaryBytes)" 0 ||
        { fail "$1" "temporaryBytes"; return; }
    near "files of the output" "$(number "$tmp/check.json" diskBytes)" "$(bytes_of "$tmp/out")" 4096 ||
        { fail "$1" "diskBytes"; return; }
    near "documents" "$(number "$tmp/check.json" outputBytes)" \
        "$(bytes_of "$tmp/out" -name '*.bson' ! -name oplog.bson)" 0 || { fail "$1" "outputBytes"; return; }
    passed=$((passed + 1))
}

# law NAME PLAN IN OPTION...: check, then run
law() {
    local name=$1 plan=$2 in=$3 foretold got
    shift 3
    rm -rf "$tmp/out" "$tmp"/out.* "$tmp"/check.*
    "$tool" check "$plan" -i "$in" --json --refused "$tmp/check.refused.bson" --tmp "$tmp" "$@" \
        > "$tmp/check.json" 2> "$tmp/log" < /dev/null
    foretold=$?
    "$tool" run "$plan" -i "$in" -o "$tmp/out" --compress none --json --max-refused 1000000 --tmp "$tmp" "$@" \
        > "$tmp/run.json" 2> "$tmp/log" < /dev/null
    got=$?
    if [ "$got" != "$foretold" ]; then
        cat "$tmp/run.json" > "$tmp/log"
        fail "$name" "check ends with $foretold, run with $got"
    elif [ "$got" -gt 1 ]; then
        passed=$((passed + 1))
    else
        compare "$name"
    fi
}

law_of_case() {
    local case=$1 name=${1#"$root"/tests/cases/}
    [ -f "$case/skip" ] && { skipped=$((skipped + 1)); return; }
    rm -rf "$tmp/in"
    "$helper" load "$case" "$tmp/in" || { fail "$name" "its input cannot be loaded"; return; }
    law "$name" "$case/plan.yaml" "$tmp/in" --now 2024-05-01T00:00:00Z --memory 4K --jobs 1
}

# law_of_plans DATABASE DUMP PLAN...: every plan for this database
law_of_plans() {
    local database=$1 dump=$2 plan
    shift 2
    for plan in "$@"; do
        grep -q "^database: $database\$" "$plan" || continue
        law "$(basename "$(dirname "$plan")")/$(basename "$plan")" "$plan" "$dump" --memory 64M
    done
}

dumps_and_data() {
    local set database before=$passed
    for database in $(ls "$root/dumps/sample"); do
        law_of_plans "$database" "$root/dumps/sample" "$root"/dumps/plans/*.yaml
    done
    [ $passed -gt "$before" ] || [ $failed -gt 0 ] || fail "sample dumps" "no plan was tried"
    for set in northwind:northwind palbum:palbum us_weather:usweather conlang_stackexchange:conlang; do
        database=${set#*:} set=$data/${set%:*}/dump
        if [ -d "$set" ]; then
            rm -rf "$tmp/plain" # some lie there packed, and foretold is what is not
            printf 'steps: []\n' > "$tmp/copy.yaml"
            "$tool" run "$tmp/copy.yaml" -i "$set" -o "$tmp/plain" --compress none -q
            law_of_plans "$database" "$tmp/plain" "$root"/tests/examples/*.yaml
        else
            echo "skip $database: no data set at $set (DATA=DIR)"
            skipped=$((skipped + 1))
        fi
    done
}

if [ $# -gt 0 ]; then
    for c in "$@"; do
        law_of_case "$root/tests/cases/${c#"$root"/tests/cases/}"
    done
else
    while IFS= read -r c; do
        law_of_case "$(dirname "$c")"
    done < <(find "$root/tests/cases" -mindepth 3 -maxdepth 3 -name plan.yaml | LC_ALL=C sort)
    dumps_and_data
fi
echo "predict: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
