# SPDX-License-Identifier: Apache-2.0
# ground.sh - what a law that is tried over all cases and all data stands on; sourced with the law's name and the
# arguments of the script: TOOL [CASE...].
#
# The script defines one_case NAME FOLDER and one_plan NAME PLAN DUMP, says in more_plans which plans beside those of
# tests/examples are for the real data sets, and calls over_everything. Environment: CASETOOL, DATA (where the real data
# sets lie), LAW_KEEP=1 keeps the folder.
. "$(dirname "${BASH_SOURCE[0]}")/../sample.bash"
law=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tool=${2:-$root/build/current/mongoreshape}
shift $(($# > 1 ? 2 : 1))
only=("$@")
helper=${CASETOOL:-$root/build/current/casetool}
data=${DATA:-$root/../shared/data/examples}
[ -x "$tool" ] && [ -x "$helper" ] || { echo "$law: no tool at $tool, or no casetool at $helper" >&2; exit 2; }
base=/tmp
[ -w /dev/shm ] && base=/dev/shm
tmp=$(mktemp -d "$base/mongoreshape-$law.XXXXXX") || exit 2
[ "${LAW_KEEP:-0}" = 1 ] && echo "$tmp" || trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0
more_plans=()

fail() {
    echo "FAIL $1: $2"
    [ -s "$tmp/log" ] && head -n 8 "$tmp/log" | cut -c1-300 | sed 's/^/    | /'
    failed=$((failed + 1))
    return 1
}

# A case of tests/cases, its input loaded into $tmp/in.
case_of() {
    local name=${1#"$root"/tests/cases/}
    [ -f "$1/skip" ] && { skipped=$((skipped + 1)); return; }
    rm -rf "$tmp/in"
    "$helper" load "$1" "$tmp/in" || { fail "$name" "its input cannot be loaded"; return; }
    one_case "$name" "$1"
}

# plans_of DATABASE DUMP PLAN...: every plan for this database
plans_of() {
    local database=$1 dump=$2 plan
    shift 2
    for plan in "$@"; do
        grep -q "^database: $database\$" "$plan" || continue
        one_plan "$(basename "$(dirname "$plan")")/$(basename "$plan")" "$plan" "$dump"
    done
}

# The sample dumps, and the data sets that are not kept here.
dumps_and_data() {
    local set database before=$passed
    for database in $(ls "$root/dumps/sample"); do
        plans_of "$database" "$root/dumps/sample" "$root"/dumps/plans/*.yaml
    done
    [ $passed -gt "$before" ] || [ $failed -gt 0 ] || fail "sample dumps" "no plan was tried"
    for set in northwind:northwind palbum:palbum us_weather:usweather conlang_stackexchange:conlang; do
        database=${set#*:} set=$data/${set%:*}/dump
        if [ -d "$set" ]; then
            rm -rf "$tmp/plain" # some lie there packed, and what is made of them is not
            printf 'steps: []\n' > "$tmp/copy.yaml"
            "$tool" run "$tmp/copy.yaml" -i "$set" -o "$tmp/plain" --compress none -q
            plans_of "$database" "$tmp/plain" "$root"/tests/examples/*.yaml "${more_plans[@]}"
        else
            echo "skip $database: no data set at $set (DATA=DIR)"
            skipped=$((skipped + 1))
        fi
    done
}

# The cases named, or all of them (of which SAMPLE takes a share) and the data; ends the script.
over_everything() {
    local c n=0
    for c in "${only[@]}"; do
        case_of "$root/tests/cases/${c#"$root"/tests/cases/}"
    done
    if [ ${#only[@]} = 0 ]; then
        while IFS= read -r c; do
            sampled $((n++)) && case_of "$(dirname "$c")"
        done < <(find "$root/tests/cases" -mindepth 3 -maxdepth 3 -name plan.yaml | LC_ALL=C sort)
        [[ ${SAMPLE:-} == -* ]] || dumps_and_data
    fi
    echo "$law: $passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ]
    exit
}
