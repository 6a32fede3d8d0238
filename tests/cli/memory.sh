#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# memory.sh MONGORESHAPE - the private memory of a run stays below --memory, on data that do not fit: tiny documents
# into buckets, an embed with one job, blocks of tiny documents that become hundreds of megabytes, tiny documents whose
# expressions make many megabytes, and documents of 16 MiB: few large values, a million numbers, a hundred documents. If
# one of them needs more, the run ends and reports how much. Pages of mapped files, which the system reclaims on demand, are no private memory, though they count in the
# resident size. The estimate of temporary files in `explain -i` is compared with those of the run.
set -u
. "$(dirname "$0")/../sanitized.bash"
tool=$(realpath "$1")
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
if [ ! -r /proc/self/status ] || ! grep -q RssAnon /proc/self/status || sanitized "$tool"; then
    echo "memory skipped: what a process holds cannot be told here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
cat > bucket.yaml << 'E'
database: d
steps:
  - bucket: { from: c, into: b, items: l, by: [s], max: 100, keep: none }
E
cat > embed.yaml << 'E'
database: d
steps:
  - embed: { from: c, into: p, match: { s: _id }, as: cs, sort: { v: 1 }, keep: none, orphans: drop }
E
{
    printf 'database: d\nsteps:\n  - set: { in: p, fields: { t: "'
    head -c 2000 /dev/zero | tr '\0' t
    printf '" } }\n'
} > grow.yaml
cat > running.yaml << 'E'
database: d
steps:
  - window: { in: w, sort: { _id: 1 }, fields: { l: { $push: "$_id", window: running } } }
E
plan() { # NAME STEP...
    local name=$1
    shift
    { printf 'database: d\nsteps:\n'; printf '  - %s\n' "$@"; } > "$name.yaml"
}
plan swell 'set: { in: p, where: { _id: { $mod: [9000, 0] } }, fields: { n: { $size: { $setUnion: [{ $range: [0, { $add: [600000, $_id] }] }, []] } } } }'
plan range 'set: { in: p, where: { _id: { $mod: [9000, 0] } }, fields: { n: { $size: { $map: { input: { $range: [0, { $add: [3000000, $_id] }] }, in: { a: $$this } } } } } }'
plan map 'set: { in: l, fields: { v: { $map: { input: $v, in: $$this } } } }'
plan filter 'set: { in: l, fields: { v: { $filter: { input: $v, cond: true } } } }'
plan concat 'set: { in: l, fields: { v: { $concatArrays: [$v, []] } } }'
plan sets 'set: { in: l, fields: { a: 1 } }' 'set: { in: l, fields: { b: 1 } }' 'set: { in: l, fields: { c: 1 } }'
plan extract 'extract: { from: l, path: v, into: x, parent_ref: p }'
plan pages 'extract: { from: l, path: v, into: x, pages: { size: 1000, ref: p, number: n, items: i } }'
plan unique 'extract: { from: k, path: v, into: x, parent_ref: p, unique: [n] }'
plan rename 'rename: { in: t, fields: { b: c } }' 'union: { from: [t], into: x, tag: u }'
plan push 'rollup: { from: t, into: x, by: { _id: $_id }, fields: { l: { $push: $a }, m: { $push: $b } } }'
python3 - "$tool" << 'P'
import json, os, random, re, struct, subprocess, sys, time
random.seed(3)
pack = struct.Struct('<i5si3si3siB').pack
os.makedirs('in/d')
N, P = 1500000, 150000
with open('in/d/c.bson', 'wb') as f:
    for at in range(0, N, 50000):
        f.write(b''.join(pack(28, b'\x10_id\0', i, b'\x10s\0', random.randrange(P), b'\x10v\0', i & 1023, 0)
                         for i in range(at, at + 50000)))
with open('in/d/p.bson', 'wb') as f:
    f.write(b''.join(struct.pack('<i5siB', 14, b'\x10_id\0', i, 0) for i in range(P)))
with open('in/d/w.bson', 'wb') as f:
    f.write(b''.join(struct.pack('<i5siB', 14, b'\x10_id\0', i, 0) for i in range(5000)))
def doc(*elements):
    body = b''.join(elements)
    return struct.pack('<i', len(body) + 5) + body + b'\0'
def number(name, n):
    return b'\x10%s\0%s' % (name, struct.pack('<i', n))
def text(name, n, byte):
    return b'\x02%s\0%s%s\0' % (name, struct.pack('<i', n + 1), byte * n)
def array(name, items):
    return b'\x04%s\0%s' % (name, doc(*items))
os.makedirs('large/d')
numbers = array(b'v', [number(b'%d' % i, i) for i in range(1300000)])
for name, of in (('l', lambda i: numbers), ('t', lambda i: text(b'a', 8000000, b'%d' % i) + text(b'b', 8000000, b'b')),
                 ('k', lambda i: array(b'v', [b'\x03%d\0%s' % (k, doc(number(b'n', 100 * i + k), text(b't', 160000, b't')))
                                              for k in range(100)]))):
    with open('large/d/%s.bson' % name, 'wb') as f:
        f.write(b''.join(doc(number(b'_id', i), of(i)) for i in range(4)))
failed = tried = 0
def once(plan, source, memory, jobs):
    run = subprocess.Popen([sys.argv[1], 'run', plan + '.yaml', '-i', source, '-o', 'out', '--force', '--memory', memory,
                            '--jobs', jobs], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most = 0
    while run.poll() is None:
        own = re.search(r'RssAnon:\s+(\d+)', open('/proc/%d/status' % run.pid).read())
        most = max(most, int(own.group(1)) if own else 0)
        time.sleep(0.005)
    return run.returncode, most, run.stderr.read()
def hold(*what): # looked at too seldom, where this script had to wait for a processor: once more
    for _ in range(20):
        status, most, said = once(*what)
        if most > 4096:
            break
    return status, most, said
small = ['bucket', 'embed', 'grow', 'running', 'swell']
large = ['map', 'filter', 'concat', 'sets', 'extract', 'pages', 'unique', 'rename']
for plan in small + large:
    for jobs in '1', '2':
        status, most, said = hold(plan, 'in' if plan in small else 'large', '64M', jobs)
        tried += 1
        if status != 0 or not 4096 < most <= 65536:
            failed += 1
            print('FAIL memory: %s with %s jobs: status %d, %.1f MiB of its own: %s'
                  % (plan, jobs, status, most / 1024, said[-200:]))
        else:
            print('%s with %s jobs: %.1f MiB' % (plan, jobs, most / 1024))
for plan, source, document in ('push', 'large', '1 of d.t'), ('range', 'in', '[0-9]+ of d.p'):
    status, most, said = hold(plan, source, '64M', '2')
    told = re.search('document ' + document + r' takes more memory than --memory 64M leaves: give more, as --memory (\d+M)', said)
    enough = hold(plan, source, told.group(1), '2')[0] if told else -1
    tried += 1
    if status != 5 or most > 65536 + 32768 or not told or enough != 0 or os.path.exists('out.partial'):
        failed += 1
        print('FAIL memory: %s with a document that needs more: status %d, %.1f MiB, then %d: %s'
              % (plan, status, most / 1024, enough, said))
UNITS = {'B': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30}
for memory in '64M', '128M':
    options = ['embed.yaml', '-i', 'in', '--memory', memory, '--jobs', '2']
    said = subprocess.run([sys.argv[1], 'explain'] + options, capture_output=True, text=True).stdout
    told = re.search(r'partitions.*: ([\d.]+) (\w+) at one time', said)
    run = subprocess.run([sys.argv[1], 'run'] + options + ['-o', 'out', '--force', '--json'], capture_output=True)
    made = json.loads(run.stdout)['temporaryBytes']
    foretold = float(told.group(1)) * UNITS[told.group(2)] if told else 0
    if not 0.6 < made / (foretold or 1) < 1.4:
        failed += 1
        print('FAIL memory: explain foretells %d bytes of temporary files with %s, the run makes %d: %s'
              % (foretold, memory, made, said[-200:]))
# What a step leaves out cannot be known, nor how large compressed data are.
part = 'database: d\nsteps: [{ embed: { from: c, into: p, match: { s: _id }, as: cs, fields: [v], where: { v: 7 } } }]\n'
open('part.yaml', 'w').write(part)
for plan, source, words in (('part', 'in', 'step 1  gathers at most '), ('embed', 'packed', 'guessed: its files are compressed')):
    subprocess.run('cp -r in packed; gzip -1 packed/d/c.bson', shell=True) if source == 'packed' else None
    said = subprocess.run([sys.argv[1], 'explain', plan + '.yaml', '-i', source, '--memory', '64M'], capture_output=True, text=True).stdout
    tried += 1
    if words not in said:
        failed += 1
        print('FAIL memory: explain of %s does not say "%s": %s' % (plan, words, said[-200:]))
print('%d passed, %d failed, 0 skipped' % (tried + 2 - failed, failed))
sys.exit(failed != 0)
P
