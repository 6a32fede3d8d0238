#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [PART...] - runs the tests, adds up what they report, and closes with one line of the sums.
#
# A part is a folder of tests and is found by what lies there: nothing has to be registered here. A program that says
# nothing of counts counts as one test, by its exit status; one that dies before its closing line as one failure.
# Called by `make check`, with MAKE and OBJ (where the programs are) in the environment. QUICK: no server, a case a
# step.
set -u
make=${MAKE:-make}
obj=${OBJ:?call me through make check}
parts=${*:-unit vectors cases scripts twin fuzz-replay fault cli lint}
logs=$(mktemp -d) || exit 2
trap 'rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0 begun=$(date +%s)

# add NAME P F S SECONDS: adds a program's figures and shows them
add() {
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    note=""
    [ "$3" -eq 0 ] || note="   <-- FAILED"
    printf '%-32s %6d passed %4d failed %4d skipped %5d s%s\n' "$1" "$2" "$3" "$4" "$5" "$note"
}

# skip NAME WHY: a test that cannot run here is named
skip() {
    skipped=$((skipped + 1))
    printf '%-32s skipped: %s\n' "$1" "$2"
}

# figures FILE STATUS: "P F S" from the closing line "N passed, N failed[, N skipped]", or from what cmocka prints
figures() {
    awk -v status="$2" '
        { line = $0 }
        match(line, /[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?/) {
            split(substr(line, RSTART, RLENGTH), w, /[^0-9]+/); p = w[1]; f = w[2]; s = w[3] + 0; counted = 1
        }
        match(line, /[0-9]+ agree, [0-9]+ differ/) {
            split(substr(line, RSTART, RLENGTH), w, /[^0-9]+/); p = w[1]; f = w[2]; s = 0; counted = 1
        }
        match(line, /^\[  PASSED  \] [0-9]+/) { split(line, w, /[^0-9]+/); cp += w[2]; cmocka = 1 }
        match(line, /^\[  FAILED  \] [0-9]+/) { split(line, w, /[^0-9]+/); cf += w[2] }
        match(line, /^\[  SKIPPED \] [0-9]+/) { split(line, w, /[^0-9]+/); cs += w[2] }
        END {
            if (cmocka) { p = cp; f = cf; s = cs; counted = 1 }
            if (!counted) { p = (status == 0); f = (status != 0); s = 0 }
            if (counted && status != 0 && f == 0) f = 1
            print p + 0, f + 0, s + 0
        }' "$1"
}

# run NAME COMMAND...: one program of tests; its output is shown only if something failed in it
run() {
    name=$1
    shift
    log=$logs/$(printf %s "$name" | tr '/ ' '__')
    from=$(date +%s)
    "$@" >"$log" 2>&1 </dev/null
    status=$?
    took=$(($(date +%s) - from))
    if [ "$status" -eq 77 ]; then
        skip "$name" "$(tail -n 1 "$log" | cut -c1-200)"
        return
    fi
    # shellcheck disable=SC2046
    set -- $(figures "$log" "$status")
    if [ "$2" -ne 0 ]; then
        echo "---- $name (exit status $status)"
        grep -v -E '^\[ *(RUN|OK) |^  (CC|AR|LD) ' "$log" | cut -c1-400 | tail -n 200
        echo "----"
    elif [ "$3" -ne 0 ]; then
        grep -i 'skip' "$log" | grep -v '^\[  SKIPPED \] [0-9]' | sort -u | head -n 20 | sed 's/^/    /'
    fi
    add "$name" "$1" "$2" "$3" "$took"
}

has_target() { grep -q "^$1:" Makefile; }

# live_unit FILE UNIT: with a server; a test that says what it does on a standalone one is run with that, too
live_unit() {
    if [ ! -x "$obj/unit/$2" ]; then
        skip "unit/$2" "not built: pkg-config finds no libmongoc-1.0"
    elif ! grep -q 'live_test_need_server\|MONGODB_URI' "$1"; then
        run "unit/$2" "$obj/unit/$2"
    elif ! grep -q live_test_replicated "$1"; then
        run "unit/$2" tests/server/with "$obj/unit/$2"
    else
        run "unit/$2" tests/server/with "$obj/unit/$2"
        run "unit/$2 --standalone" tests/server/with --standalone "$obj/unit/$2"
    fi
}

part_unit() {
    for t in tests/unit/*/t_*.c; do
        name=${t#tests/unit/} name=${name%.c}
        case $name in
        live/*) [ -n "${QUICK:-}" ] || live_unit "$t" "$name" ;;
        *) run "unit/$name" "$obj/unit/$name" ;;
        esac
    done
}

part_vectors() {
    dir=${VECTORS:-../shared/data/conformance}
    has_target vectors || return
    if [ -d "$dir" ]; then
        run vectors "$make" -s VECTORS="$dir" vectors
        sed -n '/^operator /,$p' "$logs/vectors" | sed 's/^/    /'
    else
        skip vectors "no folder of conformance vectors at $dir (VECTORS=DIR)"
    fi
}

part_cases() {
    has_target cases || return
    [ -z "${QUICK:-}" ] || CASE=$(for s in tests/cases/*/; do find "$s" -name plan.yaml | sort | head -n 1; done |
        sed 's|tests/cases/||; s|/plan.yaml||' | tr '\n' ' ')
    run cases "$make" -s cases CASE="${CASE:-}"
}

# Folders with a run.sh of their own: run.sh TOOL. (Cases and their twin have targets, since they need programs.)
part_scripts() {
    for t in tests/*/run.sh; do
        name=$(basename "$(dirname "$t")")
        [ -f "$t" ] && [ "$name" != cases ] || continue
        CASETOOL=$obj/casetool run "$name" bash "$t" "$obj/mongoreshape"
    done
}

# The extension alone, which is a script like the others: for builds with sanitizers.
part_host() {
    CASETOOL=$obj/casetool run host bash tests/host/run.sh "$obj/mongoreshape"
}

part_twin() {
    has_target twin || return
    run twin "$make" -s SEEDS="${SEEDS:-2000}" twin
    grep ' agree, ' "$logs/twin" | tail -n 1 | sed 's/^/    /'
    run clash "$make" -s STEP=clash SEEDS="${SEEDS:-2500}" twin
    grep ' agree, ' "$logs/clash" | tail -n 1 | sed 's/^/    /'
    run killed "$make" -s SEEDS="${KILLED:-400}" killed
    grep ' agree, ' "$logs/killed" | tail -n 1 | sed 's/^/    /'
    run weak "$make" -s SEEDS="${WEAK:-200}" weak
    grep ' agree, ' "$logs/weak" | tail -n 1 | sed 's/^/    /'
}

part_fuzz_replay() {
    run fuzz-replay "$make" -s fuzz-replay
}

part_fault() {
    has_target fault || return
    run fault "$make" -s fault
}

part_cli() {
    for t in tests/cli/*.sh; do
        [ -f "$t" ] || continue
        name=$(basename "$t" .sh)
        case $(head -n 1 "$t") in
        *bash*) run "cli/$name" bash "$t" "$obj/mongoreshape" ;;
        *) run "cli/$name" sh "$t" "$obj/mongoreshape" ;;
        esac
    done
}

part_lint() {
    run lint "$make" -s lint
    run "lint itself" sh tests/lint/test.sh
}

times=""
for part in $parts; do
    part_begun=$(date +%s)
    case $part in
    unit | vectors | cases | scripts | host | twin | fault | cli | lint) "part_$part" ;;
    fuzz-replay) part_fuzz_replay ;;
    *)
        echo "check.sh: no part called $part" >&2
        exit 2
        ;;
    esac
    times="$times $part $(($(date +%s) - part_begun)) s,"
done
echo "times:${times%,}"
echo "in $(($(date +%s) - begun)) seconds"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
