#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# memory.sh MONGORESHAPE - what a run holds in memory of its own stays below --memory, on data that do not fit: tiny
# documents into buckets, an embed with one job, and blocks of tiny documents that become hundreds of megabytes. Pages of mapped files, which the system takes back when it wants
# them, are no memory of its own, though they count in the resident size. What `explain -i` says of temporary files is held
# against those of the run.
set -u
tool=$(realpath "$1")
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
if [ ! -r /proc/self/status ] || ! grep -q RssAnon /proc/self/status || nm -D "$tool" 2> nm.err | grep -q __asan_init; then
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
failed = 0
for plan in 'bucket', 'embed', 'grow', 'running':
    for jobs in '1', '2':
        run = subprocess.Popen([sys.argv[1], 'run', plan + '.yaml', '-i', 'in', '-o', 'out', '--force', '--memory', '64M',
                                '--jobs', jobs], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        most = 0
        while run.poll() is None:
            own = re.search(r'RssAnon:\s+(\d+)', open('/proc/%d/status' % run.pid).read())
            most = max(most, int(own.group(1)) if own else 0)
            time.sleep(0.005)
        if run.returncode != 0 or not 4096 < most <= 65536:
            failed += 1
            print('FAIL memory: %s with %s jobs: status %d, %.1f MiB of its own' % (plan, jobs, run.returncode, most / 1024))
        else:
            print('%s with %s jobs: %.1f MiB' % (plan, jobs, most / 1024))
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
print('%d passed, %d failed, 0 skipped' % (10 - failed, failed))
sys.exit(failed != 0)
P
