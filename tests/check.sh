#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh [PART...] - runs the tests, adds up what they report, and closes with one line of the sums.
#
# A part is a folder of tests and is found by what lies there: nothing has to be registered here. A program that says
# nothing of counts counts as one test, by its exit status; one that dies before its closing line as one failure.
# Four more programs run at a time than there are cores, since those with a server wait for it (LANES=N); each shows its
# lines when it has ended. Of what is tried over hundreds of cases an eighth is taken, which moves with the commit
# (SAMPLE=: all; sample.bash); the part `long` is the rest, and more random plans, with the seed SEED. OTHERS=K: of the
# rest only K eighths, half of the faults and of the seeds of kills, K eighths of the mutants. Called by `make check`,
# with MAKE and OBJ (where the programs are) in the environment. QUICK: no server, a case a step.
set -u
make=${MAKE:-make}
obj=${OBJ:?call me through make check}
parts=${*:-fault scripts cases cli twin fuzz-replay lint vectors unit}
lanes=${LANES:-$(($(nproc) + 4))}
commit=$(git rev-parse --verify --quiet --short=6 HEAD 2> /dev/null)
settled=${SEED:-10001} # of kills, where another seed may also find a test that asks too much
seed=${SEED:-$((0x${commit:-2711} % 1000000))}
export SAMPLE=${SAMPLE-$((seed % 8))/8}
rest=${SAMPLE:+-${SAMPLE/\//${OTHERS:++$OTHERS}/}}
logs=$(mktemp -d) || exit 2
. tests/sample.bash
trap 'rm -rf "$logs"' EXIT
# Where python3 is a script that looks for its interpreter, each start would cost ten times as much.
python=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2> /dev/null) && PATH=$python:$PATH
# shellcheck disable=SC2046
trap 'kill $(jobs -p) 2> "$logs/kill"; exit 130' INT TERM
begun=$SECONDS
: > "$logs/sums"

# add NAME P F S SECONDS CPU: keeps a program's figures, with the part it belongs to, and shows them
add() {
    local note=""
    [ "$3" -eq 0 ] || note="   <-- FAILED"
    echo "$part $2 $3 $4 $5 $6" >> "$logs/sums"
    printf '%-32s %6d passed %4d failed %4d skipped %5d s %7.1f s cpu%s\n' "$1" "$2" "$3" "$4" "$5" "$6" "$note"
}

# skip NAME WHY: a test that cannot run here is named
skip() {
    echo "$part 0 0 1 0 0" >> "$logs/sums"
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

# one LOG NAME COMMAND...: one program of tests; its output is shown only if something failed in it, lines that fit
# SHOW always
one() {
    local log=$1 name=$2 from=$SECONDS status took cpu TIMEFORMAT='%U %S'
    shift 2
    { time "$@" > "$log" 2>&1 < /dev/null; } 2> "$log.cpu"
    status=$?
    took=$((SECONDS - from))
    cpu=$(awk 'END { print $1 + $2 }' "$log.cpu")
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
    add "$name" "$1" "$2" "$3" "$took" "$cpu"
    [ -z "${SHOW:-}" ] || grep -E "$SHOW" "$log" | sed 's/^/    /'
}

# run NAME COMMAND...: one program of tests, beside others
run() {
    local log
    log=$logs/$(printf %s "$1" | tr '/ ' '__')
    while [ "$(jobs -rp | wc -l)" -ge "$lanes" ]; do
        wait -n
    done
    { one "$log" "$@" > "$log.said" 2>&1; flock "$logs/sums" cat "$log.said"; } &
}

has_target() { grep -q "^$1:" Makefile; }

# standalone_unit UNIT: sampled by its number, `standalone`
standalone_unit() {
    sampled $((standalone++)) || return
    run "unit/$1 --standalone" tests/server/with --standalone "$obj/unit/$1"
}

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
        standalone_unit "$2"
    fi
}

part_unit() {
    local standalone=0
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

# Folders with a run.sh of their own: run.sh TOOL. (Cases and their twin have targets, since they need programs.) Those
# of the online tool wait for servers most of their time, so each of its scripts is one of its own.
part_scripts() {
    local t name script
    for t in tests/*/run.sh; do
        name=$(basename "$(dirname "$t")")
        case $name in
        cases) ;;
        live)
            for script in $(scripts_of_live); do
                run "live/$script" bash "$t" "$obj/mongoreshape" "$script"
            done ;;
        *) CASETOOL=$obj/casetool run "$name" bash "$t" "$obj/mongoreshape" ;;
        esac
    done
}

# The scripts of tests/live; kills, writers and mutants belong to the part `long`.
scripts_of_live() {
    local all=tests/live
    for t in "$all"/*.sh; do
        case ${t##*/}:$part in
        run.sh:* | lib.sh:* | facts.sh:*) ;;
        mutants.sh:long | matrix.sh:long | writers.sh:long) basename "$t" .sh ;;
        mutants.sh:* | matrix.sh:* | writers.sh:*) ;;
        *:long) ;;
        *) basename "$t" .sh ;;
        esac
    done
}

# The extension alone, which is a script like the others: for builds with sanitizers.
part_host() {
    CASETOOL=$obj/casetool run host bash tests/host/run.sh "$obj/mongoreshape"
}

part_twin() {
    has_target twin || return
    SHOW=' agree, ' run twin "$make" -s SEED=1 SEEDS="${SEEDS:-2000}" twin
    SHOW=' agree, ' run clash "$make" -s SEED=1 STEP=clash SEEDS="${SEEDS:-2500}" twin
    SHOW=' agree, ' run killed "$make" -s SEED=1 SEEDS="${KILLED:-150}" killed
    SHOW=' agree, ' run weak "$make" -s SEED=1 SEEDS="${WEAK:-30}" weak
}

part_fuzz_replay() {
    run fuzz-replay "$make" -s fuzz-replay
}

# faults OPTION...: each kind of failure is a program of its own
faults() {
    has_target fault || return
    for kind in resume calls memory flips; do
        run "fault $kind" "$obj/fault" --only "$kind" "$@"
    done
}

part_fault() {
    faults --few --scenes $((seed % 6))/6 --seed "$settled"
}

# What the other parts have left out of their cases.
others() {
    local t standalone=0
    for t in again law predict; do
        CASETOOL=$obj/casetool run "$t, others" bash "tests/$t/run.sh" "$obj/mongoreshape"
    done
    OBJ=$obj run "live/cases, others" bash tests/live/cases.sh
    OBJ=$obj run "live/native, others" bash tests/live/cases.sh --engine pipeline
    run "cli/restore_lines, others" bash tests/cli/restore_lines.sh "$obj/mongoreshape"
    INTERRUPT_SEED=$seed INTERRUPTS=6 run "cli/interrupt from $seed" bash tests/cli/interrupt.sh "$obj/mongoreshape"
    run "fuzz-replay, others" "$make" -s fuzz-replay
    for t in $(grep -l live_test_replicated tests/unit/live/t_*.c); do
        t=${t#tests/unit/}
        [ ! -x "$obj/unit/${t%.c}" ] || standalone_unit "${t%.c}"
    done
}

# A build with assertions; of the sets for inspect those that the part cli has left out.
asserted() {
    "$make" -s BUILD=build/asserted ASSERT=1 SEED="$seed" SEEDS=300 all cases host twin fuzz-replay &&
        SAMPLE=$rest bash tests/cli/inspect_sets.sh build/asserted/current/mongoreshape
}

# The rest of what the parts fault, scripts and twin sample.
part_long() {
    run clang "$make" -s clang
    [ -z "$SAMPLE" ] || SAMPLE=$rest others
    faults --seed "$settled" ${OTHERS:+--scenes $((seed % 2))/2}
    for script in $(scripts_of_live); do
        SAMPLE=${OTHERS:+$rest} SEEDS=${OTHERS:+150} SEED=$settled WRITERS_SEED=$settled \
            run "live/$script" bash tests/live/run.sh "$obj/mongoreshape" "$script"
    done
    has_target twin || return
    run "with assertions" asserted
    SHOW=' agree, ' run "twin from $seed" "$make" -s SEED="$seed" SEEDS=2000 twin
    SHOW=' agree, ' run "killed from $seed" "$make" -s SEED="$seed" SEEDS=300 killed
    SAMPLE=$rest SHOW=' agree, ' run "weak from $seed" "$make" -s SEED="$seed" SEEDS=150 weak
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

for part in $parts; do
    case $part in
    unit | vectors | cases | scripts | host | twin | fault | cli | lint | long) "part_$part" ;;
    fuzz-replay) part_fuzz_replay ;;
    *)
        echo "check.sh: no part called $part" >&2
        exit 2
        ;;
    esac
done
wait
awk -v lanes="$lanes" -v took=$((SECONDS - begun)) '
    { if (!($1 in time)) order[++n] = $1; time[$1] += $5; cpu[$1] += $6; all += $6; p += $2; f += $3; s += $4 }
    END {
        printf "times:"
        for (i = 1; i <= n; i++)
            printf " %s %d s (%d s cpu)%s", order[i], time[order[i]], cpu[order[i]], i < n ? "," : "\n"
        printf "in %d seconds, %d of the processors, %d programs at a time\n", took, all, lanes
        printf "%d passed, %d failed, %d skipped\n", p, f, s
        exit f > 0
    }' "$logs/sums"
