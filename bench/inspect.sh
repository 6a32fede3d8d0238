#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspect.sh TOOL PROGRAMS - inspect beside scripts that count types and lengths of the same dump, in alternating pairs.
#
# Environment: SCALE (0.2), PAIRS (5), JOBS (2), BENCH_DIR, PYTHON (one that has pymongo's bson), NODE_PATH (where npm's
# bson is). A script whose library is not there is skipped by name.
set -u
tool=$(realpath "$1") programs=$(realpath "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scale=${SCALE:-0.2} pairs=${PAIRS:-5} jobs=${JOBS:-2} python=${PYTHON:-python3}
work=${BENCH_DIR:-$programs/data}/inspect
mkdir -p "$work" && cd "$work" || exit 1
if [ "$(cat scale 2> /dev/null)" != "$scale" ]; then
    rm -rf in
    "$programs/gen" in "$scale" && echo "$scale" > scale || exit 1
fi
files=(in/bench/*.bson)
mb=$(cat "${files[@]}" | wc -c | awk '{ print $1 / 1e6 }')
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# against NAME COMMAND ...: pairs of inspect and the command
against() {
    local name=$1 i wall user sys rss status w
    shift
    rm -f pairs.txt
    for ((i = 0; i < pairs; i++)); do
        read -r wall user sys rss status < <("$programs/measure" "$tool" inspect in -q --jobs "$jobs")
        [ "$status" = 0 ] || { echo "inspect: exit status $status" >&2; exit 1; }
        w="$wall $user $sys $rss"
        read -r wall user sys rss status < <("$programs/measure" "$@")
        [ "$status" = 0 ] || { echo "$name: exit status $status" >&2; exit 1; }
        echo "$w $wall $rss" >> pairs.txt
    done
    printf '%-8s %6.0f MB  inspect %6.2f s  %5.0f MB/s  %5.1f MiB   %s %7.2f s  %6.1f MiB   %5.1fx\n' "against" "$mb" \
        "$(awk '{ print $1 }' pairs.txt | median)" "$(awk -v mb="$mb" '{ print mb / $1 }' pairs.txt | median)" \
        "$(awk '{ print $4 }' pairs.txt | sort -n | tail -n 1)" "$name" "$(awk '{ print $5 }' pairs.txt | median)" \
        "$(awk '{ print $6 }' pairs.txt | median)" "$(awk '{ print $5 / $1 }' pairs.txt | median)"
}

if "$python" -c 'import bson; bson.decode_file_iter' 2> /dev/null; then
    against python "$python" "$here/count_types.py" "${files[@]}"
else
    echo "python skipped: no pymongo for $python"
fi
if command -v node > /dev/null && node -e 'require("bson")' 2> /dev/null; then
    against node node "$here/count_types.js" "${files[@]}"
else
    echo "node skipped: no npm package bson (NODE_PATH)"
fi
