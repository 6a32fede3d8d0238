#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# writers.sh [--all] - applications write while mongoreshape-live works: no acknowledged write is lost, and the result
# is that of the offline tool on their final data.
#
# Every plan of writers_plans.c, single operations at named stops and swarms of writers, on a replica set and on a
# standalone server, both at the same time. Seeds start at WRITERS_SEED (default 1), and are printed; `live-writers ...
# one TUPLE` repeats a failed trial. --all: every stop, with all operations at once, and 300 swarms.
# Environment: OBJ, the folder of the programs; WRITERS_SEED.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
seed=${WRITERS_SEED:-1}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0

# part NAME OPTIONS WORDS...: live-writers with a server of its own, in the background
part() {
    local name=$1 options=$2
    shift 2
    mkdir -p "$tmp/$name"
    # shellcheck disable=SC2086
    "$here/../server/with" $options "$obj/live-writers" "$obj/mongoreshape-live-test" "$obj/mongoreshape" \
        "$tmp/$name" "$@" > "$tmp/$name.said" 2>&1 < /dev/null
    echo $? > "$tmp/$name.status"
}

# sum NAME: what a part reported
sum() {
    local status
    status=$(cat "$tmp/$1.status")
    if [ "$status" = 77 ]; then
        skipped=$((skipped + 1))
        echo "writers ($1) skipped: $(tail -n 1 "$tmp/$1.said")"
        return
    fi
    grep -v ' skipped$' "$tmp/$1.said" | head -n 200 | sed "s/^/$1: /"
    # shellcheck disable=SC2046
    set -- "$1" $(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$tmp/$1.said" | tr -dc '0-9 \n')
    [ $# = 4 ] || { echo "FAIL writers ($1): ended with $status and no figures"; set -- "$1" 0 1 0; }
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
}

echo "seed $seed"
if [ "${1:-}" = --all ]; then
    swarms=300
    for scenario in $(MONGODB_URI=mongodb://localhost "$obj/live-writers" - - "$tmp" list); do
        part "stops-$scenario" "" stops "$scenario" &
        part "stops-alone-$scenario" --standalone stops "$scenario"
        wait
        sum "stops-$scenario"
        sum "stops-alone-$scenario"
    done
else
    swarms=14
    part stops "" sample "$seed" 40 &
    part stops-alone --standalone sample "$((seed + 1))" 20
    wait
    sum stops
    sum stops-alone
fi
export MRS_PERIOD=0 # events are applied after each batch
part swarms "" swarm "$seed" "$swarms" &
part swarms-alone --standalone swarm "$((seed + 9))" "$swarms"
wait
sum swarms
sum swarms-alone
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
