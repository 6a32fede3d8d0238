#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# interrupt.sh MONGORESHAPE - Ctrl-C (or SIGTERM) at random points of runs, check, diff, cat, inspect, of unpacking and
# of packing: within two seconds of processor time the command ends with the status of an interruption, no output is
# written, no temporary file is left, and --resume gives the same bytes. INTERRUPT_SEED and INTERRUPTS (6, of a sample
# 3) select the points and their number for each command; of a sample the dump is a third, too.
set -u
tool=$(realpath "$1")
. "$(dirname "$0")/../wait.bash"
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
RANDOM=${INTERRUPT_SEED:-7}
n=${INTERRUPTS:-$([ "${SAMPLE:-}" ] && echo 3 || echo 6)} INTERRUPTS=$n
passed=0 failed=0 interrupted=0 resumed=0
mkdir -p in/d tmp
N=$([ "${SAMPLE:-}" ] && echo 20000 || echo 60000) python3 - << 'P'
import os, random, struct
random.seed(5)
def i32(name, n): return b'\x10' + name + b'\0' + struct.pack('<i', n)
def text(name, s): return b'\x02' + name + b'\0' + struct.pack('<i', len(s) + 1) + s + b'\0'
def doc(*e): return struct.pack('<i', sum(map(len, e)) + 5) + b''.join(e) + b'\0'
N = int(os.environ["N"])
order = random.sample(range(N), N)
open('in/d/p.bson', 'wb').write(b''.join(doc(i32(b'_id', i), text(b't', b'parent %d' % i)) for i in order))
open('in/d/c.bson', 'wb').write(b''.join(
    doc(i32(b'_id', i), i32(b'p', random.randrange(N)), text(b's', b'%d' % random.randrange(10 ** 9)), i32(b'v', i % 97))
    for i in range(3 * N)))
P
cat > embed.yaml << 'E'
database: d
steps:
  - embed: { from: c, into: p, match: { p: _id }, as: cs, sort: { s: 1 }, keep: none, orphans: drop }
E
cat > bucket.yaml << 'E'
database: d
steps:
  - bucket: { from: c, into: b, items: l, by: [v], max: 500, keep: none }
  - set: { in: p, fields: { n: { $strLenCP: "$t" } } }
E
cat > move.yaml << 'E'
database: d
steps:
  - move: { from: c, into: p, conflicts: first }
  - extract: { from: p, path: l, into: x, parent_ref: p }
E
(cd in && tar -czf ../in.tar.gz d)
cp -r in other && printf '\005' | dd of=other/d/c.bson bs=1 seek=30 conv=notrunc 2> dd.err

now() { date +%s%N; }
# spend: sets spent, the milliseconds of processors that all ended commands have taken
spend() {
    local m s ms sys_m sys_s sys_ms
    times > times.txt
    IFS=' ms.' read -r m s ms sys_m sys_s sys_ms < <(sed -n '2s/s / /p' times.txt)
    spent=$(((m + sys_m) * 60000 + (s + sys_s) * 1000 + 10#$ms + 10#${sys_ms%s}))
}
# end PID: signals it and waits for it; sets status and took, the milliseconds of processors that it went on for: what
# else the machine has to do does not change them
end() {
    local used
    spend
    used=$(sed 's/.*) //' "/proc/$1/stat" 2> kill.err |
        awk -v hz="$(getconf CLK_TCK)" '{ used = ($12 + $13) * 1000 / hz } END { print used + 0 }')
    kill -"$signal" "$1" 2> kill.err
    took=$((-spent - used))
    wait "$1"
    status=$?
    spend
    took=$((took + spent))
}
# interrupt COMMAND...: begins it and ends it at a random point of its own time
interrupt() {
    local wait=$((RANDOM * 32768 + RANDOM))
    wait=$((1 + wait % (span / 1000000 + 1)))
    env --default-signal=INT,TERM "$@" > out.txt 2> err.txt < /dev/null &
    sleep "$(printf '%d.%03d' $((wait / 1000)) $((wait % 1000)))"
    end $!
}
fail() { failed=$((failed + 1)); printf 'FAIL interrupt: %s\n' "$*"; sed 's/^/  | /' err.txt | head -5; }
made=out signal=INT ends=130
# tries NAME COMMAND...: how long it takes, then signals; what is left is looked at by `left NAME`. The command makes
# `made`, and the signal ends it with the status `ends`.
tries() {
    local name=$1 i before
    shift
    rm -rf out out.*
    before=$(now)
    "$@" > out.txt 2> err.txt < /dev/null
    want=$?
    span=$(($(now) - before))
    [ $want = 0 ] || [ $want = 1 ] || fail "$name ends with $want"
    rm -rf whole
    [ ! -e $made ] || mv $made whole
    for ((i = 0; i < INTERRUPTS; i++)); do
        rm -rf out out.*
        interrupt "$@"
        left "$name" "$@"
    done
}
left() {
    local name=$1 good=$failed
    shift
    if [ $status = $want ]; then # it was done before
        passed=$((passed + 1))
        return
    fi
    interrupted=$((interrupted + 1))
    [ $status = $ends ] || fail "$name: status $status"
    [ $took -lt 2000 ] || fail "$name: $took ms of processors after the signal"
    [ ! -e $made ] || fail "$name: something was published"
    case $name in
        run*)
            if [ -e $made.checkpoint ]; then # its large files lie in tmp
                resumed=$((resumed + 1))
                "$@" --resume > out.txt 2> err.txt < /dev/null || fail "$name: --resume ends with $?"
                diff -rq whole $made > diff.txt || fail "$name: --resume gives other bytes: $(head -3 diff.txt)"
            elif [ -e $made.partial ]; then
                fail "$name: half an output is left, and nothing to go on with"
            fi ;;
    esac
    [ -z "$(ls -A tmp)" ] || fail "$name: temporary files are left: $(ls -A tmp)"
    [ $failed != "$good" ] || passed=$((passed + 1))
}

rules=(--tmp tmp --max-refused any --now 2026-01-02T03:04:05Z)
run=("$tool" run -i in -o out --compress none --checkpoint 0 "${rules[@]}")
for jobs in 1 2; do
    for plan in embed bucket move; do
        tries "run $plan, $jobs" "${run[@]}" $plan.yaml --memory 4K --jobs $jobs
    done
done
tries "run embed in memory" "${run[@]}" embed.yaml
tries "run of a tar" "$tool" run embed.yaml -i in.tar.gz -o out --compress none "${rules[@]}"
# ---- inside of one document ----
mkdir -p text/d wide/d
python3 - << 'P'
import struct
s = b'a' * 30000 + b'\0'
l = b''.join(b'\x10%d\0' % i + struct.pack('<i', i) for i in range(20000))
l = struct.pack('<i', len(l) + 5) + l + b'\0'
e = b'\x02s\0' + struct.pack('<i', len(s)) + s + b'\x04l\0' + l
open('text/d/c.bson', 'wb').write(struct.pack('<i', len(e) + 5) + e + b'\0')
o = b''.join(b'\x10f%d\0' % i + struct.pack('<i', i) for i in range(500000))
e = b'\x03o\0' + struct.pack('<i', len(o) + 5) + o + b'\0\x04l\0' + l
open('wide/d/c.bson', 'wb').write(struct.pack('<i', len(e) + 5) + e + b'\0')
P
# midway SECONDS ARGUMENT...: Ctrl-C that long behind its begin; once more where it has ended by then
midway() {
    local begun=$1 try
    shift
    signal=INT
    for try in {1..20}; do
        rm -rf out out.*
        env --default-signal=INT "$tool" "$@" > out.txt 2> err.txt < /dev/null &
        await catches $! "$tool"
        sleep "$begun"
        end $!
        [ $status = 0 ] || break
    done
}
source=text
# within EXPRESSION: for each of 20,000 elements; a second later Ctrl-C ends it at once
within() {
    printf 'steps: [{ set: { in: c, fields: { y: { $sum: { $map: { input: $l, in: { $size: %s } } } } } } }]\n' "$1" > within.yaml
    midway 1 run within.yaml -i $source -o out -q
    [ $status = 130 ] && [ $took -lt 1000 ] && passed=$((passed + 1)) || fail "$1: status $status, $took ms of processors after the signal"
}
within '{ $split: ["$s", "a"] }'
within '[[{ $replaceAll: { input: "$s", find: a, replacement: bb } }]]'
within '[[{ $trim: { input: { $concat: ["$s", "$s"] }, chars: ba } }]]'
within '{ $setUnion: ["$l", { $reverseArray: "$l" }] }'
within '[[{ $indexOfCP: [{ $concat: ["$s", "$s", "$s", "$s", "$s", "$s"] }, aab] }]]'
# 30,000 characters, each looked for among as many
within '[[{ $trim: { input: "$s", chars: { $concat: [{ $replaceAll: { input: "$s", find: a, replacement: b } }, a] } } }]]'
# few elements, each with a large document
source=wide
within '{ $objectToArray: "$o" }'
within '[[{ $eq: ["$o.none", "$$this"] }]]'
# one document, and a query of many conditions on each of its fields
{
    printf 'steps: [{ delete: { in: c, where: { $or: [{ l: -1 }'
    printf ', { l: { $all: [-2, -1] } }%.0s' {1..30000}
    printf '] } } }]\n'
} > query.yaml
midway 1 run query.yaml -i text -o out -q
[ $status = 130 ] && [ $took -lt 1000 ] && passed=$((passed + 1)) || fail "a query: status $status, $took ms of processors after the signal"

# ---- before the run, while values of documents are read for names of collections ----
python3 - << 'P'
import os, struct
os.makedirs('values/d')
d = b'\x10_id\0' + struct.pack('<i', 1) + b'\x02t\0' + struct.pack('<i', 2) + b'a\0'
open('values/d/c.bson', 'wb').write((struct.pack('<i', len(d) + 5) + d + b'\0') * 6000000)
P
printf 'steps: [{ partition: { from: c, by: t, into: { "*": "c_*" } } }]\n' > values.yaml
midway 0.3 check values.yaml -i values -q
[ $status = 130 ] && [ $took -lt 500 ] && passed=$((passed + 1)) || fail "names by values: status $status, $took ms of processors after the signal"
rm -rf values

# What is packed at the end, or while it is written: each kind once, by the other signal too.
packed() {
    made=$1
    shift
    tries "run into $made ($signal)" "$tool" run bucket.yaml -i in -o $made "${rules[@]}" --checkpoint 1 "$@"
    made=out
}
INTERRUPTS=$(((n + 1) / 2))
packed out.tar
packed out.tar.gz
packed out.archive --memory 4K
signal=TERM ends=143
packed out.zip
packed out.tar.zst --compress zstd:12
packed out.archive.zst --jobs 1
packed out --compress gzip:9
tries "stdin to stdout" sh -c 'exec "$1" run bucket.yaml -i - -o - --tmp tmp --max-refused any < in.tar.gz' sh "$tool"
signal=INT ends=130 INTERRUPTS=$n
tries "inspect" "$tool" inspect in --tmp tmp
tries "check" "$tool" check embed.yaml -i in --tmp tmp --memory 4K
tries "diff" "$tool" diff in other --tmp tmp --memory 4K
tries "cat" "$tool" cat in --where '{"v": {"$gt": 50}}'
tries "cat of a tar" "$tool" cat in.tar.gz
[ $interrupted -ge $((3 * n)) ] || fail "only $interrupted of the commands were interrupted"
[ $resumed -ge "$n" ] || fail "only $resumed were gone on with"
echo "interrupted: $interrupted commands, gone on with: $resumed"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
