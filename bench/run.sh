#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TOOL PROGRAMS - the benchmark: tool against bench/naive.c in alternating pairs, so that drift of the machine
# cancels.
#
# Figures are medians. The time of the tool goes to its last write; the final sync stands beside it. Input is in the
# page cache, output goes to new files, what is left to write back is synced before each run. Environment: SCALE (1),
# BENCH_LONG=1, PAIRS (5), JOBS (2), BENCH_DIR (where the data lie), ONLY ("embed set": only these jobs).
set -u
tool=$(realpath "$1") programs=$(realpath "$2")
scale=${SCALE:-1} pairs=${PAIRS:-5} jobs=${JOBS:-2}
all_jobs='embed embed-kept embed-64M extract copy set link rekey rekey-64M bucket bucket-64M rollup rollup-64M'
all_jobs+=' window window-64M unbucket'
packed_jobs='same-zstd:1 same-gzip set-zstd:1 embed-zstd:1 set-gzip'
only=${ONLY:-$all_jobs $packed_jobs}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${BENCH_DIR:-$programs/data}
mkdir -p "$work" || exit 1
cd "$work" || exit 1
failed=0

wanted() { [[ " $only " == *" $1 "* ]]; }

# The data, and a folder for each job with links to the files that it reads.
make_data() {
    local at=$1 factor=$2
    if [ "$(cat "$at/scale" 2> /dev/null)" != "$factor" ] || [ ! -d "$at/window" ]; then
        rm -rf "$at"
        mkdir -p "$at/all"
        "$programs/gen" "$at/all" "$factor" || exit 1
        "$programs/naive" embed "$at/all/bench/posts.bson" "$at/all/bench/comments.bson" "$at/embedded.bson" || exit 1
        "$programs/naive" bucket "$at/all/bench/sensors.bson" "$at/hours.bson" || exit 1
        mkdir -p "$at"/{embed,extract,copy,set,link,rekey,bucket,rollup,window,unbucket}/bench
        ln "$at"/all/bench/{posts,comments}.bson "$at/embed/bench"
        ln "$at"/all/bench/{posts,comments}.bson "$at/link/bench"
        ln "$at"/all/bench/{posts,comments}.bson "$at/rekey/bench"
        ln "$at/embedded.bson" "$at/extract/bench/posts.bson"
        ln "$at"/all/bench/{products,parts}.bson "$at/copy/bench"
        ln "$at/all/bench/comments.bson" "$at/set/bench"
        ln "$at/all/bench/sensors.bson" "$at/bucket/bench"
        ln "$at/all/bench/sensors.bson" "$at/rollup/bench"
        ln "$at/all/bench/sensors.bson" "$at/window/bench"
        ln "$at/hours.bson" "$at/unbucket/bench"
        sync
        echo "$factor" > "$at/scale"
    fi
}

# The command lines. Each leaves its documents in out/bench (tool) or naive.out (naive).
run_tool() {
    local job=$1 data=$2 options=(--jobs "$jobs")
    case $job in
    *-64M) set -- "${job%-64M}.yaml" "${job%-64M}"; options+=(--memory 64M) ;;
    embed-kept) set -- embed-kept.yaml embed ;;
    set) set -- set.yaml set; options=(--jobs 1) ;;
    *) set -- "$job.yaml" "$job" ;;
    esac
    rm -rf out
    sync
    "$programs/measure" -o report.json -w "$tool" run "$here/plans/$1" -i "$data/$2" -o out --json "${options[@]}"
}
run_naive() {
    local job=$1 data=$2
    rm -rf naive.out
    mkdir naive.out
    sync
    case $job in
    embed*) set -- embed "$data"/embed/bench/{posts,comments}.bson naive.out/posts.bson ;;
    extract) set -- extract "$data/extract/bench/posts.bson" naive.out/{posts,comments}.bson ;;
    link) set -- link "$data"/link/bench/{posts,comments}.bson naive.out/posts.bson ;;
    rekey*) set -- rekey "$data"/rekey/bench/{posts,comments}.bson naive.out/{posts,comments}.bson ;;
    copy) set -- copy "$data"/copy/bench/{products,parts}.bson naive.out/products.bson ;;
    set) set -- set "$data/set/bench/comments.bson" naive.out/comments.bson ;;
    window*) set -- window "$data/window/bench/sensors.bson" naive.out/sensors.bson ;;
    unbucket) set -- unbucket "$data/unbucket/bench/hours.bson" naive.out/readings.bson ;;
    bucket* | rollup*) set -- "${job%%-*}" "$data/bucket/bench/sensors.bson" naive.out/hours.bson ;;
    esac
    "$programs/measure" -w "$programs/naive" "$@"
}

# number NAME: a figure of the tool's report
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" report.json; }

# of EXPRESSION: its median over the pairs
of() { awk "{ print $1 }" pairs.txt | median; }
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

compare() {
    local job=$1 f
    for f in naive.out/*.bson; do
        if ! cmp -s "$f" "out/bench/$(basename "$f")"; then
            echo "$job: $(basename "$f") differs from naive's" >&2
            failed=1
        fi
    done
}

# job NAME: pairs of runs, one line of medians
job() {
    local name=$1 data=data in=0 out=0 i status wall user sys rss nwall nuser nsys nrss
    wanted "$name" || return
    for i in "$data/${name%%-*}"/bench/*.bson; do
        cat "$i" > /dev/null
        in=$((in + $(stat -c %s "$i")))
    done
    rm -f pairs.txt
    for ((i = 0; i < pairs; i++)); do
        read -r wall user sys rss status < <(run_tool "$name" "$data")
        if [ "$status" != 0 ]; then
            echo "$name: exit status $status: $(cat report.json)" >&2
            failed=1
            return
        fi
        sync_ms=$(number syncMs)
        read -r nwall nuser nsys nrss status < <(run_naive "$name" "$data")
        [ "$i" -gt 0 ] || compare "$name"
        echo "$wall $user $sys $rss $sync_ms $nwall $nuser $nsys $nrss" >> pairs.txt
    done
    out=$(du -cb out/bench/*.bson | tail -n 1 | cut -f1)
    rm -rf out naive.out
    local time user all nall top ntop
    time=$(of '$1 - $5 / 1000') user=$(of '$2') all=$(of '$2 + $3') nall=$(of '$7 + $8')
    top=$(awk '{ print $4 }' pairs.txt | sort -n | tail -n 1) ntop=$(of '$9')
    awk -v name="$name" -v in_mb="$((in / 1000))e-3" -v out_mb="$((out / 1000))e-3" -v figures="$time $(of '$6') \
        $(of '$6 / ($1 - $5 / 1000)') $user $all $nall $top $ntop $(of '$5 / 1000')" 'BEGIN {
            split(figures, f, " ")
            printf "%-11s %7.0f %7.0f %7.3f %8.0f %7.3f %6.1fx", name, in_mb, out_mb, f[1], in_mb / f[1], f[2], f[3]
            printf " %6.2f %6.2f %6.2f %7.1f %7.1f %6.2f\n", f[4], f[5], f[6], f[7], f[8], f[9] }'
    echo "$name $time $user $top" >> once.txt
}

# long NAME: once with ten times the data, against the median above
long() {
    local name=$1 wall user sys rss status
    wanted "$name" || return
    cat "ten/${name%%-*}"/bench/*.bson > /dev/null
    read -r wall user sys rss status < <(run_tool "$name" ten)
    if [ "$status" != 0 ]; then
        echo "$name, ten times the data: exit status $status: $(cat report.json)" >&2
        failed=1
        return
    fi
    awk -v name="$name" -v wall="$wall" -v sync_ms="$(number syncMs)" -v user="$user" -v rss="$rss" '$1 == name {
        time = wall - sync_ms / 1000
        printf "%-11s %7.3f s to %7.3f s (x %.1f), user CPU %.2f s to %.2f s (x %.2f), ", name, $2, time, time / $2, $3,
            user, user / $3
        printf "peak RSS %.1f to %.1f MiB\n", $4, rss }' once.txt
    rm -rf out
}

# packed JOB-COMPRESSION: from compressed to compressed, in pairs with a thread that only unpacks the input and packs it
# again; MB are those of the BSON that comes in
packed() {
    local name=$1 plan=${1%%-*} codec=${1#*-} i in=0 wall user sys rss status library level cwall cuser csys crss
    local of=${plan/same/set} # whose data they are
    wanted "$name" || return
    library=${codec%:*} level=${codec#*:}
    [ "$library" = zstd ] || level=2 # ISA-L's own, which stands for gzip's levels 4 to 6
    for i in "data/$of"/bench/*.bson; do in=$((in + $(stat -c %s "$i"))); done
    if [ ! -d "data/$of-$codec" ]; then
        "$tool" run "$here/plans/same.yaml" -i "data/$of" -o "data/$of-$codec" --compress "$codec" --quiet || exit 1
    fi
    cat "data/$of-$codec"/bench/* > /dev/null
    rm -f pairs.txt
    for ((i = 0; i < pairs; i++)); do
        rm -rf out codec.out
        mkdir codec.out
        sync
        read -r cwall cuser csys crss status < <("$programs/measure" -w "$programs/recode" "$library" "$level" \
            "data/$of-$codec"/bench/*.bson.* codec.out)
        if [ "$status" != 0 ]; then
            echo "$name: recode: exit status $status" >&2
            failed=1
            return
        fi
        sync
        read -r wall user sys rss status < <("$programs/measure" -o report.json -w "$tool" run \
            "$here/plans/$plan.yaml" -i "data/$of-$codec" -o out --compress "$codec" --json --jobs "$jobs")
        if [ "$status" != 0 ]; then
            echo "$name: exit status $status: $(cat report.json)" >&2
            failed=1
            return
        fi
        echo "$wall $user $sys $rss $(number syncMs) $cwall $cuser $csys" >> pairs.txt
    done
    rm -rf out codec.out
    awk -v name="$name" -v in_mb="$((in / 1000))e-3" -v figures="$(of '$1 - $5 / 1000') $(of '$2 + $3') $(of '$4') \
        $(of '$7 + $8') $(of '$6 / ($1 - $5 / 1000)')" 'BEGIN {
            split(figures, f, " ")
            printf "%-13s %6.0f MB %7.3f s %6.0f MB/s, CPU %.2f s: %.2f cores busy, %.1f MiB; ", name, in_mb, f[1],
                in_mb / f[1], f[2], f[2] / f[1], f[3]
            printf "the codec alone: CPU %.2f s, tool %.1fx as fast\n", f[4], f[5] }'
}

# What mongodump does to a file by itself, over 50 MB of it.
as_mongodump() {
    local wall rest
    wanted set-gzip || return
    head -c 50000000 data/set/bench/comments.bson > sample.bson
    read -r wall rest < <("$programs/measure" gzip -6 -c sample.bson)
    awk -v mb="$(($(stat -c %s sample.bson) / 1000))e-3" -v wall="$wall" '
        BEGIN {
            printf "%-13s %6.0f MB %7.3f s %6.0f MB/s, compressing alone, one core\n", "gzip -6", mb, wall, mb / wall }'
    rm -f sample.bson
}

echo "data of scale $scale in $work; $pairs pairs; --jobs $jobs (set: 1); $(nproc) processors"
"$programs/machine"
make_data data "$scale"
rm -f once.txt
echo
echo "            ------ MB ----- ------ tool ---- naive   ratio  ----- CPU s ------ --- peak MiB -- sync"
echo "job              in     out       s     MB/s       s  (time)   user    all  naive    tool   naive      s"
for j in $all_jobs; do job "$j"; done
echo
echo "from compressed to compressed:"
for j in $packed_jobs; do packed "$j"; done
as_mongodump
if [ "${BENCH_LONG:-}" = 1 ]; then
    echo
    echo "ten times the data:"
    make_data ten "$(awk -v s="$scale" 'BEGIN { print s * 10 }')" > /dev/null
    for j in $all_jobs; do long "$j"; done
    rm -rf ten
fi
[ "$failed" = 0 ]
