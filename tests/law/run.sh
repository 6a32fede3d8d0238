#!/usr/bin/env bash
# run.sh TOOL [CASE...] - the way back as a law: forward with --write-residue, `invert`, back with --residue, and every
# file of the input must be there again, byte for byte. What the residue holds must be named by a loss of the inverse.
#
# Over every case of tests/cases that publishes something (or those named), over the sample dumps and the real data sets
# of tests/examples where they lie beside the project (DATA). Environment: CASETOOL, LAW_KEEP=1 keeps the folder.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
tool=${1:-$root/build/current/mongoreshape}
shift
helper=${CASETOOL:-$root/build/current/casetool}
data=${DATA:-$root/../shared/data/examples}
[ -x "$tool" ] && [ -x "$helper" ] || { echo "law: no tool at $tool, or no casetool at $helper" >&2; exit 2; }
base=/tmp
[ -w /dev/shm ] && base=/dev/shm
tmp=$(mktemp -d "$base/mongoreshape-law.XXXXXX") || exit 2
[ "${LAW_KEEP:-0}" = 1 ] && echo "$tmp" || trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

fail() {
    echo "FAIL $1: $2"
    [ -s "$tmp/log" ] && head -n 8 "$tmp/log" | sed 's/^/    | /'
    failed=$((failed + 1))
    return 1
}

# same_dump IN BACK: every file but our manifest, in both directions
same_dump() {
    (cd "$1" && find . -type f ! -name mongoreshape.manifest.json | LC_ALL=C sort) > "$tmp/files.in"
    (cd "$2" && find . -type f ! -name mongoreshape.manifest.json | LC_ALL=C sort) > "$tmp/files.back"
    cmp -s "$tmp/files.in" "$tmp/files.back" || { diff "$tmp/files.in" "$tmp/files.back" > "$tmp/log"; return 1; }
    while IFS= read -r f; do
        cmp "$1/$f" "$2/$f" > "$tmp/log" 2>&1 || return 1
    done < "$tmp/files.in"
}

# there_and_back NAME PLAN IN OPTION...
there_and_back() {
    local name=$1 plan=$2 in=$3 got
    shift 3
    rm -rf "$tmp/out" "$tmp"/out.* "$tmp/back" "$tmp"/back.* "$tmp/residue"
    "$tool" run "$plan" -i "$in" -o "$tmp/out" --compress none --write-residue "$tmp/residue" --json "$@" \
        > "$tmp/json" 2> "$tmp/log" < /dev/null
    got=$?
    [ $got -le 1 ] || { cp "$tmp/json" "$tmp/log"; fail "$name" "the run forward ends with $got"; return; }
    grep -q '"notListed":\[\]' "$tmp/json" || {
        grep -o '"residue":{[^}]*}' "$tmp/json" > "$tmp/log"
        fail "$name" "the residue holds what no loss names"
        return
    }
    "$tool" invert "$plan" > "$tmp/inverse.yaml" 2> "$tmp/log" || { fail "$name" "no inverse"; return; }
    "$tool" run "$tmp/inverse.yaml" -i "$tmp/out" -o "$tmp/back" --compress none --residue "$tmp/residue" --quiet \
        --memory 4K --jobs 2 > "$tmp/log" 2>&1 < /dev/null || { fail "$name" "the way back ends with $?"; return; }
    same_dump "$in" "$tmp/back" || { fail "$name" "the input did not come back"; return; }
    [ ! -e "$tmp/back.inverse.partial" ] && [ ! -e "$tmp/out.inverse.partial" ] ||
        { fail "$name" "a temporary folder is left"; return; }
    passed=$((passed + 1))
}

law_of_case() {
    local case=$1 name=${1#"$root"/tests/cases/} args=(--max-refused 1000)
    [ -d "$case/out" ] || return 0
    [ -f "$case/skip" ] && { skipped=$((skipped + 1)); return; }
    [ -f "$case/args" ] && read -r -a args < "$case/args"
    case " ${args[*]} " in
    *" --oplog "* | *" --sample "*)
        echo "skip $name: its options leave data out for good"
        skipped=$((skipped + 1))
        return
        ;;
    esac
    rm -rf "$tmp/in"
    "$helper" load "$case" "$tmp/in" || { fail "$name" "its input cannot be loaded"; return; }
    there_and_back "$name" "$case/plan.yaml" "$tmp/in" "${args[@]}"
}

# A residue is for one plan and one output: anything else is an error before something is written.
wrong_ones() {
    local case=$root/tests/cases/embed/basic got
    [ -d "$case" ] || case=$(dirname "$(find "$root/tests/cases/embed" -name plan.yaml | LC_ALL=C sort | head -n 1)")
    rm -rf "$tmp/in" "$tmp/out" "$tmp/back" "$tmp"/back.*
    "$helper" load "$case" "$tmp/in"
    "$tool" run "$case/plan.yaml" -i "$tmp/in" -o "$tmp/out" --compress none --write-residue "$tmp/residue" -q \
        --max-refused 1000 > "$tmp/log" 2>&1
    "$tool" invert "$case/plan.yaml" > "$tmp/inverse.yaml"
    expect() {
        "$tool" run "$2" -i "$3" -o "$tmp/back" --residue "$4" -q > "$tmp/log" 2>&1
        got=$?
        if [ $got = "$5" ] && [ ! -e "$tmp/back" ] && [ -z "$(find "$tmp" -maxdepth 1 -name 'back*')" ]; then
            passed=$((passed + 1))
        else
            fail "$1" "ends with $got, not $5, or leaves something behind"
            rm -rf "$tmp/back"
        fi
    }
    expect "another plan" "$case/plan.yaml" "$tmp/out" "$tmp/residue" 2
    expect "another input" "$tmp/inverse.yaml" "$tmp/in" "$tmp/residue" 3
    expect "no residue" "$tmp/inverse.yaml" "$tmp/out" "$case/plan.yaml" 3
    local size
    size=$(wc -c < "$tmp/residue")
    head -c $((size / 2)) "$tmp/residue" > "$tmp/cut"
    expect "a cut residue" "$tmp/inverse.yaml" "$tmp/out" "$tmp/cut" 3
    head -c $((size - 1)) "$tmp/residue" > "$tmp/cut"
    expect "a residue without its last byte" "$tmp/inverse.yaml" "$tmp/out" "$tmp/cut" 3
    { cat "$tmp/residue"; echo; } > "$tmp/cut"
    expect "a residue with something behind it" "$tmp/inverse.yaml" "$tmp/out" "$tmp/cut" 3
    for at in 9 40 $((size / 2)) $((size - 5)); do
        { head -c $at "$tmp/residue"; printf '\377\001'; tail -c +$((at + 3)) "$tmp/residue"; } > "$tmp/cut"
        expect "a residue damaged at $at" "$tmp/inverse.yaml" "$tmp/out" "$tmp/cut" 3
    done
}

# law_of_plans DATABASE DUMP PLAN...: every plan that runs on this dump as it is
law_of_plans() {
    local database=$1 dump=$2 plan
    shift 2
    for plan in "$@"; do
        grep -q "^database: $database\$" "$plan" || continue
        "$tool" check "$plan" -i "$dump" -q > "$tmp/log" 2>&1
        # 2: it is a plan for what another one has made
        [ $? = 2 ] || there_and_back "$(basename "$(dirname "$plan")")/$(basename "$plan")" "$plan" "$dump" \
            --max-refused 1000000
    done
}

# The sample dumps, and the data sets that are not kept here.
dumps_and_data() {
    local set database before=$passed
    for database in $(ls "$root/dumps/sample"); do
        law_of_plans "$database" "$root/dumps/sample" "$root"/dumps/plans/*.yaml
    done
    [ $passed -gt "$before" ] || [ $failed -gt 0 ] || fail "sample dumps" "no plan was tried"
    for set in northwind:northwind palbum:palbum us_weather:usweather conlang_stackexchange:conlang; do
        database=${set#*:} set=$data/${set%:*}/dump
        if [ -d "$set" ]; then
            rm -rf "$tmp/plain" # some lie there packed, and what comes back is not
            printf 'steps: []\n' > "$tmp/copy.yaml"
            "$tool" run "$tmp/copy.yaml" -i "$set" -o "$tmp/plain" --compress none -q
            law_of_plans "$database" "$tmp/plain" "$root"/tests/examples/*.yaml "$here"/*.yaml
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
    wrong_ones
    dumps_and_data
fi
echo "law: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
