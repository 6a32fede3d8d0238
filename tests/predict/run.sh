#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TOOL [CASE...] - `check` as a law: what it says of a run is what the run then does. The same refused records,
# byte for byte; the same account; the same documents and bytes of each collection; the size of the files and of
# temporary files within 10 % (of the files also within 4 KiB, the least that a file system gives away; of temporary
# files within some records, since the most there is at a time depends on which thread is first).
#
# Over every case of tests/cases (or those named), the sample dumps, and the real data sets of tests/examples where they
# lie beside the project. What `run` finds wrong before it begins, `check` must find as well. tests/law/ground.sh says
# what the environment may hold.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../law/ground.sh" predict "$@"

# number FILE KEY: a figure of a report
number() { grep -o "\"$2\":[0-9]*" "$1" | head -n 1 | grep -o '[0-9]*$'; }

# results FILE: what both reports must agree on, a line each
results() {
    sed -E 's/,"largest":[0-9]+,"largestId":("([^"\\]|\\.)*"|null)//g; s/"ids":\[[^]]*\]/"ids":[]/g
        s/,"longest":[0-9]+,"longestPath":"([^"\\]|\\.)*","longestId":"([^"\\]|\\.)*"//g' "$1" |
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
    near "temporary files" "$(number "$tmp/check.json" temporaryBytes)" \
        "$(number "$tmp/run.json" temporaryBytes)" 256 || { fail "$1" "temporaryBytes"; return; }
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
    # what no server could restore is found by check alone, which then ends with 1
    [ "$got" = 0 ] && grep -Eq '"kind":"(clash|arrays)"|"a restore fails at |"inOutput":true' "$tmp/check.json" && got=1
    if [ "$got" != "$foretold" ]; then
        cat "$tmp/run.json" > "$tmp/log"
        fail "$name" "check ends with $foretold, run with $got"
    elif [ "$got" -gt 1 ]; then
        passed=$((passed + 1))
    else
        compare "$name"
    fi
}

one_case() { law "$1" "$2/plan.yaml" "$tmp/in" --now 2024-05-01T00:00:00Z --memory 4K --jobs 1; }

one_plan() { law "$1" "$2" "$3" --memory 64M; }

over_everything
