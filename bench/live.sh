#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# live.sh OBJ PROGRAMS - the online tool beside a loop of bulks as people write it (bench/live.c) and native pipelines,
# on the server of tests/server/with; OBJ holds the tool, PROGRAMS the programs of bench/.
#
# In each round every contender does each job once, from data loaded anew, so that drift of the machine hits all alike.
# Figures are medians over the rounds; ratios are taken round by round. Times are of whole processes, from connecting to
# the end: the tool's with its look at the server before, and with the second pass that looks for what came meanwhile.
# All must leave the same documents. Environment: SCALE (1: a million documents), ROUNDS (3), ONLY ("backfill"),
# MODES ("expand pipeline direct quiet"), NATIVE=no, TEST_SERVER; MONGODB_URI names a server of your own, whose
# databases `bench` and `mongoreshape` are dropped.
set -u
export MONGOC_DISABLE_SHM=1 # the driver warns where other processes have left theirs
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
obj=$(realpath "$1") programs=$(realpath "$2")
if [ "${3:-}" != inside ]; then
    if [ -z "${MONGODB_URI:-}" ] && [ -z "${TEST_SERVER:-}" ]; then
        if command -v secantusd-rs > /dev/null || [ -x ~/.cargo/bin/secantusd-rs ]; then
            export TEST_SERVER=rust
        elif ! command -v mongod > /dev/null; then
            export TEST_SERVER=py SCALE=${SCALE_PY:-0.0005}
            echo "there is no secantusd-rs (docs/SERVERS.md tells how it is built), and SecantusDB scans the collection"
            echo "for each guarded update: what follows measures mostly that, with SCALE=$SCALE"
        fi
    fi
    exec "$here/../tests/server/with" bash "$0" "$obj" "$programs" inside
fi
scale=${SCALE:-1} rounds=${ROUNDS:-3} only=${ONLY:-backfill embed extract} modes=${MODES:-expand pipeline direct quiet}
documents=$(awk -v s="${scale:-1}" 'BEGIN { print int(s * 250000) * 4 }')
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mongoreshape-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
figures=$tmp/figures
failed=0

complain() {
    echo "$1" >&2
    failed=1
}

# line JOB MODE: plan and options of apply
line() {
    case $2 in
        expand) echo "$here/plans/live/$1.yaml" ;;
        pipeline) echo "$here/plans/live/$1.yaml --engine pipeline" ;;
        direct) echo "$here/plans/live/$1-direct.yaml --mode direct" ;;
        quiet) echo "$here/plans/live/$1.yaml --quiet-by word" ;;
    esac
}

# contend JOB WHO COMMAND...: from fresh data; figures into a file, digests into another
contend() {
    local job=$1 who=$2 wall user sys rss status
    shift 2
    "$programs/live" load "$job" "$documents" 2> /dev/null || { complain "$job: cannot be loaded"; return 1; }
    read -r wall user sys rss status < <("$programs/measure" -o "$tmp/said" "$@" 2> "$tmp/errors")
    if [ "$status" != 0 ]; then
        complain "$job, $who: exit status $status: $(tail -n 3 "$tmp/errors" "$tmp/said")"
        return 1
    fi
    echo "$job $who $wall $user $sys $rss" >> "$figures"
    "$programs/live" digest orders posts comments > "$tmp/$job.$who"
}

# same JOB WHO MODEL
same() {
    cmp -s "$tmp/$1.$2" "$tmp/$1.$3" || complain "$1: what $2 leaves differs from what $3 leaves:
$(diff "$tmp/$1.$2" "$tmp/$1.$3")"
}

# model JOB MODE: the loop that does the same; quietly, extract takes the old arrays away as well
model() {
    [ "$1 $2" = "extract quiet" ] && echo remove || echo naive
}

tool() {
    local job=$1 mode=$2
    # shellcheck disable=SC2046
    contend "$job" "$mode" "$obj/mongoreshape-live" apply $(line "$job" "$mode") --db bench --execute &&
        same "$job" "$mode" "$(model "$job" "$mode")"
}

# can JOB MODE: direct is for what may be done twice
can() {
    [[ " $modes " == *" $2 "* ]] && { [ "$2" != direct ] || [ "$1" = backfill ]; }
}

round() {
    local job=$1 mode
    contend "$job" naive "$programs/live" naive "$job" || return
    if [ "$job" = extract ] && can extract quiet; then
        contend "$job" remove "$programs/live" naive remove || return
    fi
    for mode in expand pipeline direct quiet; do
        ! can "$job" "$mode" || tool "$job" "$mode"
    done
}

# native JOB: once; servers for tests take very long for some
native() {
    [ "${NATIVE:-}" != no ] || return
    local most
    most=$(awk -v job="$1" '$1 == job && $2 == "naive" { print int($3 * 5) + 20; exit }' "$figures")
    if contend "$1" native timeout "$most" "$programs/live" native "$1" 2> "$tmp/late"; then
        same "$1" native naive
    else
        failed=$failed_before
        echo "$1: native: not done within $most s, or not by this server"
    fi
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
# of JOB WHO EXPRESSION: its median
of() { awk -v job="$1" -v who="$2" "\$1 == job && \$2 == who { print $3 }" "$figures" | median; }
# ratio JOB WHO MODEL: median of the times, round by round
ratio() {
    paste <(awk -v j="$1" -v w="$2" '$1 == j && $2 == w { print $3 }' "$figures") \
        <(awk -v j="$1" -v w="$3" '$1 == j && $2 == w { print $3 }' "$figures") |
        awk 'NF == 2 { print $1 / $2 }' | median
}

row() {
    local job=$1 who=$2 model=$3
    grep -q "^$job $who " "$figures" || return
    awk -v job="$job" -v who="$who" -v n="$documents" -v s="$(of "$job" "$who" '$3')" \
        -v share="$(of "$job" "$who" '100 * ($4 + $5) / $3')" -v rss="$(of "$job" "$who" '$6')" \
        -v ratio="$(ratio "$job" "$who" "$model")" 'BEGIN {
            printf "%-9s %-8s %8.2f %12.0f %8.2f %9.1f %8.1f\n", job, who, s, n / s, ratio, share, rss }'
}

# overhead JOB MODE: one run of the test build, whose named stops are timed
overhead() {
    can "$1" "$2" || return
    "$programs/live" load "$1" "$documents" 2> /dev/null
    # shellcheck disable=SC2046
    "$programs/live" stamp "$obj/mongoreshape-live-test" apply $(line "$1" "$2") --db bench --execute \
        > "$tmp/stamps"
    awk -v job="$1" -v mode="$2" '{ if ($1 == "wall") wall = $2; else { n[$1] = $2; s[$1] = $3 } } END {
        printf "%-9s %-8s %8d %9.3f %8.2f %9d %9.3f %8.2f %9d %9.3f %8.2f\n", job, mode, n["checkpoint"],
            s["checkpoint"], 100 * s["checkpoint"] / wall, n["commit"], s["commit"], 100 * s["commit"] / wall,
            n["aggregate"], s["aggregate"], 100 * s["aggregate"] / wall }' "$tmp/stamps" \
        >> "$tmp/overheads"
}

: > "$figures"
: > "$tmp/overheads"
echo "$documents documents, ${MONGODB_SERVER_KIND:-a server of your own}, ${MONGODB_TOPOLOGY:-}; $rounds rounds;" \
    "$(nproc) processors"
for job in $only; do
    for ((i = 0; i < rounds; i++)); do round "$job"; done
    for mode in expand pipeline direct quiet; do overhead "$job" "$mode"; done
done
failed_before=$failed
for job in $only; do native "$job"; done # last: a server may go on with one whose client has given up
echo
echo "job       who             s  documents/s  x naive  CPU share  MiB"
echo "                              per second   (time)          %  peak"
for job in $only; do
    for who in naive expand pipeline direct remove quiet native; do
        row "$job" "$who" "$([ "$who" = remove ] && echo remove || model "$job" "$who")"
    done
done
echo
echo "                    checkpoints                   commits                    pipelines"
echo "job       mode            n         s   % time         n         s   % time         n         s   % time"
cat "$tmp/overheads"
[ "$failed" = 0 ]
