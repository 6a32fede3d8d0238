#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mutants.sh [--all] [MUTANT...] - each mistake that can be enabled in the test build is detected by its test.
#
# A safeguard without a test that fails when it is missing may get lost. So the code has switches for the mistakes that
# it avoids (LIVE_MUTANT), and for each of them this script runs a test that must fail with it, and pass without.
# `trial` is a tuple of live-writers, `unit` a program of unit tests, `script` a script of this folder; `inside` is a
# unit program that enables the mutant itself and requires that the checked result is then wrong: if the engine would
# correct everything in the end, only that is visible. Unit programs run with --all only; their own run is part of the
# unit tests. If a named fact is false, the server itself hides the mistake, and the mutant is skipped.
# Environment: OBJ, the folder of the programs; SAMPLE (sample.bash).
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
OBJ=$obj
export OBJ

table() {
    cat << 'END'
guard-off                trial  direct-cast/apply/after-read-range:1/all/contract/3
upsert                   trial  embed/apply/after-read-from:1/all/contract/1
gt-instead-of-min        trial  rename/apply/none:1/nothing/contract/1
verify-one-way           trial  extract/verify/after-state-update:2/delete-parent/contract/1
contract-without-check   trial  embed/contract/stale:1/update-child/contract/1
delete-first             trial  quiet-embed/apply/after-delete:1/kill/contract/3
derive-again             trial  quiet-embed/apply/after-update:1/kill/contract/3
apply-unsealed           trial  quiet-embed/apply/after-update:1/kill/contract/3
checkpoint-before-write  trial  quiet-embed/apply/after-checkpoint:1/kill/contract/3
no-digest                trial  quiet-embed/apply/after-seal:1/update-parent/contract/3
no-readback              trial  quiet-embed/apply/before-update:1/update-parent/contract/3
no-journal               script journal.sh
not-journaled            script journal.sh
follow-late              script one_walk.sh
token-before-write       script one_walk.sh
old-after-events         script one_walk.sh
worker-not-fenced        script workers.sh
range-at-takers-place    script workers.sh
follow-while-walking     script workers.sh
set-all-at-once          unit   t_write
once-is-enough           unit   t_unit
refusal-unheard          unit   t_unit
sources-before-target    unit   t_unit
lease-by-client-clock    unit   t_state
delete-before-insert     inside t_write
memory-after-reconnect   inside t_state
no-sweep                 unit   t_pass
END
}

# Every mutant of the code is in the table.
known() {
    local name
    for name in $(grep -rhoE 'LIVE_MUTANT\("[a-z-]+"\)' "$here/../../shell-ext/live" --include='*.c' |
        sed 's/.*("//; s/").*//' | sort -u); do
        if table | grep -q "^$name "; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL mutant $name: no test is named for it"
        fi
    done
}

# attempt KIND TEST: 0 passes, 77 cannot run
attempt() {
    case $1 in
        trial)
            mkdir -p "$tmp/work"
            timeout 900 "$obj/live-writers" "$obj/mongoreshape-live-test" "$obj/mongoreshape" "$tmp/work" one "$2"
            ;;
        unit | inside) timeout 900 "$obj/unit/live/$2" ;;
        script)
            (
                unset MONGODB_URI MONGODB_SERVER_DIR
                bash "$here/$2" > "$tmp/script" 2>&1
                status=$?
                cat "$tmp/script"
                ! grep -q ' skipped: ' "$tmp/script" || exit 77
                exit $status
            )
            ;;
    esac > "$tmp/said" 2>&1 < /dev/null
}

one() {
    local name=$1 kind=$2 test=$3 fact=${4:-} status
    if [ "$kind" = inside ] && ! grep -q "\"$name\"" "$here/../unit/live/$test.c"; then
        failed=$((failed + 1))
        echo "FAIL mutant $name: $test.c does not switch it on"
        return
    fi
    if [ "$kind" != trial ] && [ "$kind" != script ] && { [ $all = 0 ] || [ ! -x "$obj/unit/live/$test" ]; }; then
        return
    fi
    if [ -n "$fact" ] && ! needs_fact "$fact" "mutant $name by $test"; then
        skipped=$((skipped + 1))
        return
    fi
    attempt "$kind" "$test"
    status=$?
    if [ $status = 77 ]; then
        skipped=$((skipped + 1))
        echo "skipped: mutant $name by $test: $(grep -m 1 skipped "$tmp/said" | cut -c1-160)"
        return
    elif [ $status != 0 ]; then
        failed=$((failed + 1))
        echo "FAIL mutant $name: $test does not pass without it"
        head -n 40 "$tmp/said" | cut -c1-300 | sed 's/^/    | /'
        return
    fi
    if [ "$kind" = inside ]; then
        passed=$((passed + 1))
        return
    fi
    # A writer may come a moment too late for the mistake to show: it has three chances.
    if MRS_MUTANT=$name attempt "$kind" "$test" && MRS_MUTANT=$name attempt "$kind" "$test" &&
        MRS_MUTANT=$name attempt "$kind" "$test"; then
        failed=$((failed + 1))
        echo "FAIL mutant $name survives $kind $test"
    else
        passed=$((passed + 1))
        [ $all = 0 ] ||
            echo "caught: $name by $test: $(grep -a -m 1 -E 'FAIL|LAST ERROR|error:' "$tmp/said" | cut -c1-160)"
    fi
}

all=0
[ "${1:-}" != --all ] || { all=1; shift; }
if [ "${MUTANTS_INSIDE:-}" != yes ]; then
    wanted=()
    [ $all = 0 ] || wanted=(--all)
    MUTANTS_INSIDE=yes "$here/../server/with" bash "$0" "${wanted[@]}" "$@" < /dev/null
    status=$?
    if [ $status = 77 ]; then
        echo "mutants skipped: no server for tests"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    fi
    exit $status
fi
unset MUTANTS_INSIDE
# shellcheck source=tests/live/lib.sh
. "$here/lib.sh"
. "$here/../sample.bash"
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0
ask_facts "$obj/facts" || { echo "FAIL mutants: the facts cannot be asked"; failed=1; }
[ $# != 0 ] || known
number=0
while read -r name kind test fact; do
    sampled $((number++)) || continue
    case " ${*:-$name} " in
        *" $name "*) one "$name" "$kind" "$test" "$fact" ;;
    esac
done < <(table)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
