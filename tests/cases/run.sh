#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [-v] [CASE...] - puts every case below this folder through the tool and compares.
#
# A case is a folder STEP/NAME with plan.yaml, in/ (db.coll.jsonl, db.coll.metadata.json), out/ (the same; none when
# nothing may be published), and where it matters refused.jsonl, exit, args (one line), stderr (one extended regular
# expression a line, each must be found). Each case runs with three memory budgets (4K drives small data through the
# ways of large: merged keys, sorts on disk, with one thread and with two).
# Environment: MONGORESHAPE (the tool), CASETOOL, TWIN (optional: the naive twin is held to the same expectations).
# CASES_CONTAINERS (optional: "tar.gz zip ..."): the input is packed in each of these ways instead, by REPACK.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/tests/sample.bash"
tool=${MONGORESHAPE-$root/build/current/mongoreshape}
helper=${CASETOOL:-$root/build/current/casetool}
twin=${TWIN:-}
verbose=0
[ "${1:-}" = -v ] && { verbose=1; shift; }
[ -x "$helper" ] || { echo "cases: no casetool at $helper" >&2; exit 2; }
base=/tmp
[ -w /dev/shm ] && base=/dev/shm
tmp=$(mktemp -d "${CASES_TMP:-$base}/mongoreshape-cases.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0 runs=0
input=$tmp/in

# one_run CASE LABEL OPTION...: runs the tool once and compares everything
one_run() {
    local case=$1 label=$2 want=0 got args=(--max-refused 1000) out bad=0
    shift 2
    out=$tmp/out.$((++runs))
    [ -f "$case/exit" ] && read -r want < "$case/exit"
    [ -f "$case/args" ] && read -r -a args < "$case/args"
    "$tool" run "$case/plan.yaml" -i "$input" -o "$out" --compress none "${args[@]}" "$@" > "$tmp/log" 2>&1 < /dev/null
    got=$?
    [ "$got" = "$want" ] || { echo "    exit status: want $want, got $got"; bad=1; } > "$tmp/status"
    "$helper" check "$case" "$out" "$out.refused.bson" "$tmp/log" > "$tmp/report" || bad=1
    [ $bad = 0 ] && return 0
    echo "FAIL ${case#"$here"/} ($label)"
    cat "$tmp/status" "$tmp/report"
    [ "$got" = "$want" ] || sed 's/^/    | /' "$tmp/log"
    return 1
}

# twin_run CASE: the naive twin against the same documents; exit status 3 is "not settled"
twin_run() {
    local case=$1 got out=$tmp/twin.$((++runs))
    "$helper" plan "$case/plan.yaml" > "$tmp/plan.json"
    "$twin" "$tmp/plan.json" "$tmp/in" "$out" > "$tmp/log" 2>&1
    got=$?
    [ $got = 2 ] && { echo "SKIP ${case#"$here"/} (twin: $(tail -n 1 "$tmp/log"))"; return 0; }
    [ $got = 3 ] && echo "note ${case#"$here"/} ($(tail -n 1 "$tmp/log"))"
    "$helper" twin "$case" "$out" > "$tmp/report" && return 0
    [ $got = 3 ] && return 0
    echo "FAIL ${case#"$here"/} (twin)"
    cat "$tmp/report" "$tmp/log"
    return 1
}

run_case() {
    local case=$1 ok=1 how memory jobs kind
    if [ -f "$case/skip" ]; then
        echo "SKIP ${case#"$here"/} ($(head -n 1 "$case/skip"))"
        skipped=$((skipped + 1))
        return
    fi
    rm -rf "$tmp/in" "$tmp"/out.* "$tmp"/twin.*
    : > "$tmp/status"
    "$helper" load "$case" "$tmp/in" || { echo "FAIL ${case#"$here"/} (its input cannot be loaded)"; ok=0; }
    if [ -n "${CASES_CONTAINERS:-}" ]; then
        input=$tmp/packed
        for kind in $CASES_CONTAINERS; do
            rm -f "$input"
            [ $ok = 1 ] && { "$REPACK" "$kind" "$tmp/in" "$input" || ok=0; }
            [ $ok = 1 ] && { one_run "$case" "$kind" --memory 64M || ok=0; }
        done
    elif [ -n "$tool" ] && [ $ok = 1 ]; then
        for how in "64M 2" "4K 1" "4K 2" "1G 1"; do
            memory=${how% *} jobs=${how#* }
            [ $ok = 1 ] && { one_run "$case" "$memory, $jobs threads" --memory "$memory" --jobs "$jobs" || ok=0; }
        done
    fi
    [ -n "$twin" ] && [ -d "$case/out" ] && { twin_run "$case" || ok=0; }
    if [ $ok = 1 ]; then
        passed=$((passed + 1))
        [ $verbose = 0 ] || echo "ok   ${case#"$here"/}"
    else
        failed=$((failed + 1))
    fi
}

if [ $# -gt 0 ]; then
    for c in "$@"; do
        [ -f "$here/$c/plan.yaml" ] && c=$here/$c
        run_case "${c%/}"
    done
else
    n=0
    while IFS= read -r c; do
        sampled $((n++)) && run_case "${c%/plan.yaml}"
    done < <(find "$here" -mindepth 3 -maxdepth 3 -name plan.yaml | LC_ALL=C sort)
fi
echo "cases: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
