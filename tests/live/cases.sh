#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cases.sh [-v] [--all] [--engine pipeline | --workers N] [CASE...] - runs every case of tests/cases with
# mongoreshape-live, on the server for tests.
#
# Each case runs quietly (writers stopped: the result must be that of the offline tool, for every case) and, if the plan
# may run while writers run, live: apply, verify, rollback (all data must be as before), apply again, contract. Without
# --all each case runs once, on a replica set or a standalone server, with options that depend on its number; --all
# tries all of them. Cases that a server cannot hold, and plans that the server's state does not permit while writers
# run, are skipped by name, with the reason. For documents in another order than that of `_id` the offline tool provides
# the result in that order. With --engine only the live run is made, on a replica set, by pipelines of the server where
# steps are pipelines; with --workers the same by N workers, document by document.
# Environment: OBJ, the folder of the programs.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cases=$(cd "$here/../cases" && pwd)
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
offline=$obj/mongoreshape tool=$obj/mongoreshape-live helper=$obj/livetool
export MONGOC_DISABLE_SHM=1 # counters that killed programs left in /dev/shm make the next one of that number warn
verbose=0 all=0 part="" engine=() native=0
while [ $# -gt 0 ]; do
    case $1 in
        -v) verbose=1 ;;
        --all) all=1 ;;
        --engine | --workers)
            engine=("$1" "$2")
            shift
            ;;
        --part) # inside of tests/server/with: a file of cases
            part=$2
            shift
            ;;
        *) break ;;
    esac
    shift
done

# ---- one server
# tell WORD TEXT: a line of the report
tell() {
    echo "$1 ${case#"$cases"/} ($label)${2:+: ${2}}"
}

fail() {
    failed=$((failed + 1))
    tell FAIL "${1:-}"
    sed 's/^/    | /' "$tmp/report" "$tmp/log"
}

skip() {
    skipped=$((skipped + 1))
    tell skipped "$1"
}

# fail_or_skip: what this server says it lacks is no failure, nor is a document that it takes for unlike itself
fail_or_skip() {
    local lacks
    "$helper" finds "$case" "$tmp/case" > "$tmp/lacks" 2>&1
    if [ $? = 77 ]; then
        skip "$(cut -c1-160 "$tmp/lacks")"
        return
    fi
    lacks=$(grep -m 1 -e 'not supported by SecantusDB' -e 'the Rust server does not support' \
        -e 'not supported by the Rust storage engine' "$tmp/log") || {
        fail
        return
    }
    skip "$(echo "$lacks" | cut -c1-160)"
}

pass() {
    passed=$((passed + 1))
    [ $verbose = 0 ] || tell ok
}

# load: the case onto the server, and what the offline tool makes of it; gives 1 where it is not to be run
load() {
    local status
    rm -rf "$tmp/case"
    : > "$tmp/log"
    "$helper" load "$case" "$tmp/case" > "$tmp/report" 2>&1
    status=$?
    if [ $status = 77 ]; then
        skip "$(cut -c1-160 "$tmp/report")"
        return 1
    elif [ $status != 0 ]; then
        fail "its input cannot be loaded"
        return 1
    elif grep -qs timeseries "$tmp"/case/in/*/*.metadata.json; then
        skip "a time series is not reshaped on a server"
        return 1
    fi
    "$offline" run "$case/plan.yaml" -i "$tmp/case/in" -o "$tmp/case/expect" --compress none \
        --refused "$tmp/case/expect.refused.bson" "${args[@]}" > "$tmp/case/offline.log" 2>&1 < /dev/null
    want=$?
    if [ $want -le 1 ] && [ "$("$helper" wants "$case" "$tmp/case")" = refusal ]; then
        want=refusal
    fi
}

# does STATUS COMMAND...: mongoreshape-live must end with this status; "0 1" is one of the two
does() {
    local status=$1
    shift
    echo "\$ $*" >> "$tmp/log"
    timeout 600 "$tool" "$@" "${database[@]}" > "$tmp/said" 2>&1 < /dev/null
    got=$?
    cat "$tmp/said" >> "$tmp/log"
    case " $status " in
        *" $got "*) ;;
        *) echo "$1: exit status $got, not $status" >> "$tmp/report"; return 1 ;;
    esac
}

# named_run: how the run that was begun is named: by its plan, or where this has stars by the id that is said
named_run() {
    run=("$case/plan.yaml")
    local id
    id=$(grep -o -m 1 -e ' --run [0-9a-f]*' "$tmp/said") && run=(--run "${id##* }")
    return 0
}

says() {
    grep -q "$1" "$tmp/said" || { echo "it does not say: $1" >> "$tmp/report"; return 1; }
}

# stands STAGE: what is on the server is what it should be
stands() {
    "$helper" check "$case" "$tmp/case" "$1" >> "$tmp/report" 2>&1
}

# quietly OPTION...: the whole change, writers kept out
quietly() {
    load || return
    : > "$tmp/report"
    case $want in
        0 | 1)
            if does "$want" apply "$case/plan.yaml" --execute --allow-ttl "${args[@]}" "$@" && named_run &&
                does 0 verify "${run[@]}" && does 0 contract "${run[@]}" &&
                says 'nothing is left to do' && stands quiet; then
                pass
                return
            fi
            ;;
        refusal) # a refused document stays where the result needs another one: refused before anything is touched
            if does 7 apply "$case/plan.yaml" --execute --allow-ttl "${args[@]}" "$@" &&
                says 'nothing was changed' && stands before; then
                pass
                return
            fi
            ;;
        *)
            if does "$want" apply "$case/plan.yaml" --execute --allow-ttl "${args[@]}" "$@" && stands before; then
                pass
                return
            fi
            ;;
    esac
    forbidden || fail_or_skip
}

# forbidden: what the offline tool does and a server cannot is refused before anything is touched; and what a validator
# that stays does not take ends the run half-way, as it would end a restore
forbidden() {
    local why
    case $got in
        2) why=$(grep -m 1 -E 'can name one for each tag|names collections by values' "$tmp/said") && stands before ;;
        6) if why=$(grep -m 1 -E '^refused: .* (is a view,|is capped:|has a default collation|would be made )' \
            "$tmp/said"); then
            says 'must be corrected first; nothing was written' && stands before
        else
            says '^note: .* has a validator: ' &&
                why=$(grep -m 1 'is refused by the server: Document failed validation. Nothing is lost' "$tmp/said")
        fi ;;
        *) false ;;
    esac || return 1
    : > "$tmp/report"
    skip "$(echo "${why#*plan.yaml:}" | cut -c1-160)"
}

# admitted KEY: expand, direct: what the static rule says of the plan
admitted() {
    [ "$("$offline" explain --live --json "$case/plan.yaml" 2> /dev/null < /dev/null |
        grep -o "\"$1\":[a-z]*" | head -n 1)" = "\"$1\":true" ]
}

# expands OPTION...: apply and verify alongside writers; what is refused is refused here or by contract
expands() {
    local some="0"
    [ "$want" = 0 ] || some="0 1"
    does "$some" apply "$case/plan.yaml" --execute --allow-scan --allow-ttl "${engine[@]}" "${args[@]}" "$@" || return
    refused=$got
    named_run
    [ "${engine[0]:-}" != --engine ] || [ "$want" != 0 ] || says ', 0 put right, 0 differ' || return
    ! grep -q ' by pipelines' "$tmp/said" || by_pipelines=1
    does "$some" verify "${run[@]}" --allow-scan "$@"
}

contracts() {
    local some="0"
    [ "$want" = 0 ] || some="0 1"
    does "$some" contract "${run[@]}" --execute --allow-scan --quiet-by word "$@" || return
    [ "$want" = $((refused | got)) ] || { echo "nothing was refused" >> "$tmp/report"; return 1; }
}

# beside OPTION...: both ways alongside writers
beside() {
    by_pipelines=0
    load || return
    : > "$tmp/report"
    run=("$case/plan.yaml")
    if ! expands "$@"; then
        if [ "$got" = 6 ] && says 'must be corrected first; nothing was written' && stands before; then
            : > "$tmp/report"
            skip "$(grep -m 1 '^refused:' "$tmp/said" | cut -c1-160)"
        elif [ "$got" = 7 ] && says 'that an earlier step refused'; then
            cp "$tmp/said" "$tmp/why"
            does 0 rollback "${run[@]}" --execute --allow-scan "$@" && stands before || { fail_or_skip; return; }
            : > "$tmp/report"
            skip "$(grep -m 1 'that an earlier step refused' "$tmp/why" | cut -c1-160)"
        else
            forbidden || fail_or_skip
        fi
        return
    fi
    if does 0 rollback "${run[@]}" --execute --allow-scan "$@" && stands before &&
        does 0 abort "${run[@]}" --clean --discard-refused --execute &&
        expands "$@" && contracts "$@" && stands live; then
        native=$((native + by_pipelines))
        pass
    else
        fail_or_skip
    fi
}

# directly OPTION...: backfills, in place
directly() {
    load || return
    : > "$tmp/report"
    if does "$want" apply "$case/plan.yaml" --mode direct --execute --allow-scan --allow-ttl "${args[@]}" "$@" &&
        stands live; then
        pass
    else
        fail_or_skip
    fi
}

# not_beside: a plan that may not run alongside writers is refused, and nothing is written
not_beside() {
    by_pipelines=0
    load || return
    : > "$tmp/report"
    if does 2 apply "$case/plan.yaml" --execute "${args[@]}" && stands before; then
        pass
    else
        fail
    fi
}

quiet_with() {
    label="$MONGODB_TOPOLOGY quiet $*"
    quietly "$@"
}

live_with() {
    case $want in # of the quiet run
        0 | 1) ;;
        *) return ;;
    esac
    if admitted expand; then
        label="$MONGODB_TOPOLOGY live $*"
        beside "$@"
    else
        label="$MONGODB_TOPOLOGY not live"
        not_beside
    fi
    if admitted direct; then
        label="$MONGODB_TOPOLOGY direct $*"
        directly "$@"
    fi
}

one_case() {
    local how=(validator word) batch=(1 auto) a b c databases plain lacks
    database=()
    args=(--max-refused 1000)
    [ ! -f "$case/args" ] || read -r -a args < "$case/args"
    # a dump of one database is a default for plans that name none; on a server it is said
    mapfile -t databases < <("$helper" databases "$case")
    [ ${#databases[@]} != 1 ] || database=(--db "${databases[0]}")
    want=""
    for lacks in "$case/skip" "$case/skip_live"; do
        if [ -f "$lacks" ]; then
            label=$MONGODB_TOPOLOGY
            skip "$(head -n 1 "$lacks")"
            return
        fi
    done
    for c in 0 1; do
        [ "$c" = 0 ] || [ "$MONGODB_TOPOLOGY" != standalone ] || continue
        plain=()
        [ "$c" = 0 ] || plain=(--no-transactions)
        if [ ${#engine[@]} != 0 ]; then
            label=${engine[*]}
            [ "${engine[0]}" = --engine ] || batch=(1 1)
            if [ "$c" = 0 ] && admitted expand && load; then
                case $want in
                    0 | 1) beside --batch "${batch[number % 2]}" ;;
                esac
            fi
            continue
        fi
        for b in 0 1; do
            for a in 0 1; do
                [ $all = 1 ] || [ $((number / 3 % 8)) = $((4 * c + 2 * b + a)) ] ||
                    { [ "$MONGODB_TOPOLOGY" = standalone ] && [ $((number / 3 % 4)) = $((2 * b + a)) ]; } || continue
                quiet_with --quiet-by "${how[a]}" --batch "${batch[b]}" "${plain[@]}"
            done
            [ -z "$want" ] || live_with --batch "${batch[b]}" "${plain[@]}"
            want=""
        done
    done
}

# Whose server it is: databases of somebody else are not dropped.
vacant() {
    [ "$MONGODB_SERVER_KIND" = own ] || return 0
    "$helper" foreign "$@" > "$tmp/report" || {
        echo "skipped: cases on the server at MONGODB_URI ($(head -n 1 "$tmp/report"))"
        return 1
    }
}

if [ -n "$part" ]; then
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/mongoreshape-live-cases.XXXXXX") || exit 2
    trap 'rm -rf "$tmp"' EXIT
    export TMPDIR=$tmp
    passed=0 failed=0 skipped=0 number=0
    mapfile -t list < "$part"
    set -- "${list[@]}"
    vacant "$@" || { echo "cases: 0 passed, 0 failed, 1 skipped"; exit 0; }
    for case in "$@"; do
        number=$((number + 1))
        if [ $all = 0 ] && [ $# -gt 1 ] && [ "$MONGODB_SERVER_KIND" != own ]; then
            # every third case meets a standalone server
            case $MONGODB_TOPOLOGY${engine[*]} in
                replicaset?*) ;;
                standalone) [ $((number % 3)) = 0 ] || continue ;;
                *) [ $((number % 3)) != 0 ] || continue ;;
            esac
        fi
        one_case
    done
    "$helper" drop "$@"
    [ "${engine[0]:-}" != --engine ] || echo "by pipelines: $native cases"
    echo "cases: $passed passed, $failed failed, $skipped skipped"
    exit 0
fi

# ---- both servers, side by side
for program in "$offline" "$tool" "$helper"; do
    [ -x "$program" ] && continue
    echo "skipped: cases ($program is not built)"
    echo "cases: 0 passed, 0 failed, 1 skipped"
    exit 0
done
list=()
for c in "$@"; do
    [ -f "$cases/${c%/}/plan.yaml" ] || { echo "there is no case $c in tests/cases" >&2; exit 2; }
    list+=("$cases/${c%/}")
done
if [ $# = 0 ]; then
    . "$here/../sample.bash"
    n=0
    while IFS= read -r c; do
        sampled $((n++)) && list+=("$(dirname "$c")")
    done < <(find "$cases" -mindepth 3 -maxdepth 3 -name plan.yaml | LC_ALL=C sort)
fi
reports=$(mktemp -d) || exit 2
trap 'rm -rf "$reports"' EXIT
printf '%s\n' "${list[@]}" > "$reports/list"
flags=(--part "$reports/list")
[ $verbose = 0 ] || flags+=(-v)
[ $all = 0 ] || flags+=(--all)
if [ ${#engine[@]} != 0 ]; then
    exec "$here/../server/with" "$here/cases.sh" "${flags[@]}" "${engine[@]}"
fi
"$here/../server/with" "$here/cases.sh" "${flags[@]}" > "$reports/replicaset" 2>&1 &
first=$!
"$here/../server/with" --standalone "$here/cases.sh" "${flags[@]}" > "$reports/standalone" 2>&1
second=$?
wait $first
first=$?
passed=0 failed=0 skipped=0
add() {
    if [ "$2" = 77 ]; then
        echo "skipped: cases on a $1 ($(tail -n 1 "$reports/$1"))"
        skipped=$((skipped + 1))
        return
    fi
    grep -v '^cases: ' "$reports/$1"
    set -- "$(sed -n 's/^cases: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$reports/$1")"
    # shellcheck disable=SC2086
    set -- $1
    [ $# = 3 ] || set -- 0 1 0
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}
add replicaset $first
add standalone $second
echo "cases: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
