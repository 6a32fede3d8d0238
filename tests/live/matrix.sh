#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh [long|seeds] - kills, cut replies, dead servers, suspended processes: live-matrix on servers of both kinds.
#
# Without an argument as much as `make check` has time for: kills after every kind of write for every kind of step, and
# 20 seeds of everything else. long: every stop, every reply, 300 seeds (SEEDS=N: their number); seeds: only these.
# SEED=N is the first seed (seeds are printed); SCENE and WAY select one. The servers of the seeds are killed, so they
# write acknowledged data to the disk.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
obj=${OBJ:?the folder of the programs}
seed=${SEED:-$((RANDOM * 1000 + 1))}
programs=("$obj/mongoreshape-live-test" "$obj/mongoreshape" "$obj/proxy" "$here/../server/ctl")
chosen=()
[ -z "${SCENE:-}" ] || chosen+=(--scene "$SCENE")
[ -z "${WAY:-}" ] || chosen+=(--way "$WAY")
if [ ! -x "$obj/live-matrix" ] || [ ! -x "${programs[0]}" ]; then
    echo "skipped: the matrix of kills (libmongoc is not there)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

# part NAME OF_WITH... -- OF_MATRIX...: one server, one call; what it says goes to $tmp/NAME
part() {
    name=$1 with=()
    shift
    while [ "$1" != -- ]; do with+=("$1"); shift; done
    shift
    "$here/../server/with" "${with[@]}" "$obj/live-matrix" "${programs[@]}" "${chosen[@]}" "$@" >"$tmp/$name" 2>&1
    status=$?
    [ "$status" -ne 77 ] || echo "0 passed, 0 failed, 1 skipped" >>"$tmp/$name"
    grep -q ' passed, ' "$tmp/$name" || echo "0 passed, 1 failed, 0 skipped" >>"$tmp/$name"
}

few=$((${SEEDS:-300} / 3))
if [ "${1:-}" = seeds ]; then
    part seeds-set --sync -- --no-stops --seeds "$seed" $((2 * few)) --workers 1 &
    part seeds-alone --standalone --sync -- --no-stops --seeds $((seed + 2 * few)) $few --workers 1
    wait
elif [ "${1:-}" = long ]; then
    part set-1 -- --long --workers 2 --share 0 2 &
    MRS_PERIOD=0 part set-2 -- --long --workers 2 --share 1 2
    wait
    part alone --standalone -- --long --workers 6
    part seeds-set --sync -- --no-stops --seeds "$seed" $((2 * few)) --workers 1
    part seeds-alone --standalone --sync -- --no-stops --seeds $((seed + 2 * few)) $few --workers 1
else
    part set-1 -- --workers 1 --share 0 2 &
    MRS_PERIOD=0 part set-2 -- --workers 1 --share 1 2 & # events are applied after each batch
    part seeds-set --sync -- --no-stops --seeds "$seed" 14 --workers 1
    part seeds-alone --standalone --sync -- --no-stops --seeds $((seed + 14)) 6 --workers 1
    wait
fi
for name in set-1 set-2 alone seeds-set seeds-alone; do
    [ -f "$tmp/$name" ] || continue
    sed "s/^/$name: /" "$tmp/$name" | grep -v ' passed, [0-9]* failed, '
done
cat "$tmp"/* | awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5 }
    END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
