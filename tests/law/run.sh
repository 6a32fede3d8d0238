#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TOOL [CASE...] - the way back as a law: forward with --write-residue, `invert`, back with --residue, and every
# file of the input must be there again, byte for byte. What the residue holds must be named by a loss of the inverse.
#
# Over every case of tests/cases that publishes something (or those named), over the sample dumps and the real data sets
# of tests/examples where they lie beside the project. ground.sh says what the environment may hold.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/ground.sh" law "$@"

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
    if [ $got = 2 ] && grep -q 'the inverse of this plan cannot be run' "$tmp/json"; then
        echo "skip $name: $(grep -o -m 1 'the inverse of this plan cannot be run[^"]*' "$tmp/json" | cut -c1-160)"
        skipped=$((skipped + 1))
        return
    fi
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

one_case() {
    local args=(--max-refused 1000)
    [ -d "$2/out" ] || return 0
    [ -f "$2/args" ] && read -r -a args < "$2/args"
    case " ${args[*]} " in
    *" --oplog "* | *" --sample "*)
        echo "skip $1: its options leave data out for good"
        skipped=$((skipped + 1))
        return
        ;;
    esac
    there_and_back "$1" "$2/plan.yaml" "$tmp/in" "${args[@]}"
}

one_plan() {
    "$tool" check "$2" -i "$3" -q > "$tmp/log" 2>&1
    # 2: it is a plan for what another one has made
    [ $? = 2 ] || there_and_back "$1" "$2" "$3" --max-refused 1000000
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

more_plans=("$root"/tests/law/*.yaml)
[ ${#only[@]} -gt 0 ] || wrong_ones
over_everything
