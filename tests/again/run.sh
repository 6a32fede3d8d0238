#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TOOL [CASE...] - "run twice is run once" as a law: where `explain` says that of a plan of one step, a second
# run over what the first one wrote changes no document, and refuses none.
#
# Over every case of tests/cases that refuses nothing (or those named), the sample dumps, and the real data sets of
# tests/examples where they lie beside the project. tests/law/ground.sh says what the environment may hold.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../law/ground.sh" again "$@"

# repeatable PLAN: whether it has one step, of which that is said
repeatable() {
    "$tool" explain "$1" --json > "$tmp/json" 2> /dev/null || return 1
    ! grep -q '"step":2' "$tmp/json" && grep -q '"repeatable":true' "$tmp/json"
}

# one_run PLAN IN OUT OPTION...
one_run() {
    local plan=$1 in=$2 out=$3
    shift 3
    rm -rf "$out" "$out".*
    "$tool" run "$plan" -i "$in" -o "$out" --compress none --quiet "$@" > "$tmp/log" 2>&1 < /dev/null
}

# law NAME PLAN IN OPTION...
law() {
    local name=$1 plan=$2 in=$3 file
    shift 3
    repeatable "$plan" && one_run "$plan" "$in" "$tmp/once" "$@" || return 0 # the law does not speak of it
    one_run "$plan" "$tmp/once" "$tmp/twice" "$@" || { fail "$name" "run again it ends with $?"; return; }
    while IFS= read -r file; do
        cmp -s "$tmp/once/$file" "$tmp/twice/$file" || {
            "$tool" diff "$tmp/once" "$tmp/twice" > "$tmp/log" 2>&1
            fail "$name" "run again it changes $file"
            return
        }
    done < <(cd "$tmp/once" && find . -name '*.bson')
    passed=$((passed + 1))
}

one_case() { law "$1" "$2/plan.yaml" "$tmp/in" --now 2024-05-01T00:00:00Z; }

one_plan() { law "$1" "$2" "$3"; }

over_everything
