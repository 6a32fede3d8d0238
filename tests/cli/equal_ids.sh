#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# equal_ids.sh MONGORESHAPE - equal `_id`s in the input are counted and reported: in ascending collections, in those of
# several ascending runs (a dump of shards), in any order, with ids of several types, and beyond memory.
set -u
. "$(dirname "$0")/begin.bash" "$1"

# make KIND: a dump `in` of one collection; prints how many documents have the _id of an earlier one
make() {
    rm -rf in
    python3 - "$1" <<'P'
import os, random, struct, sys
kind = sys.argv[1]
random.seed(kind)
oid = lambda n: b'\x07_id\0' + n.to_bytes(12, 'big')
i32 = lambda n: b'\x10_id\0' + struct.pack('<i', n)
dbl = lambda n: b'\x01_id\0' + struct.pack('<d', n)
text = lambda n: b'\x02_id\0' + struct.pack('<i', len(str(n)) + 1) + str(n).encode() + b'\0'
n = 60000
ids = {
    'ascending': lambda: [oid(i) for i in range(n)],
    'one_pair': lambda: [oid(i) for i in range(n)] + [oid(7)],
    'neighbours': lambda: [oid(i // 2 if i < 10 else i) for i in range(n)],
    'shards': lambda: [oid(2 * i) for i in range(n // 2)] + [oid(2 * i + 1) for i in range(n // 2)] + [oid(4), oid(9)],
    'shuffled': lambda: random.sample([oid(i) for i in range(n)], n),
    'any_order': lambda: [oid(random.randrange(n)) for i in range(n)],
    'types': lambda: [random.choice((oid, i32, dbl, text))(random.randrange(9000)) for i in range(n)],
    'none': lambda: [b''] * 50,
}[kind]()
doc = lambda e: struct.pack('<i', len(e) + 5 + 106) + e + b'\x02pad\0' + struct.pack('<i', 97) + b'x' * 96 + b'\0\0'
os.makedirs('in/d')
open('in/d/c.bson', 'wb').write(b''.join(map(doc, ids)))
key = lambda e: (1, struct.unpack('<i', e[5:])[0]) if e[0] == 0x10 else (1, int(struct.unpack('<d', e[5:])[0])) \
    if e[0] == 1 else (e[0], e)
keys = [key(e) for e in ids if e]
print(len(keys) - len(set(keys)))
seen = set()
first = next((e for e, k in zip((e for e in ids if e), keys) if k in seen or seen.add(k)), b'')
open('first', 'w').write({0x07: lambda e: '{"$oid":"%s"}' % e[5:].hex(), 0x10: lambda e: '%d' % key(e)[1],
                          0x01: lambda e: '%d.0' % key(e)[1], 0x02: lambda e: '"%s"' % e[9:-1].decode()}[first[0]](first)
                         if first else '')
P
}
cat > rollup.yaml << 'END'
database: d
steps:
  - rollup: { from: c, into: r, by: null, fields: { n: { $sum: 1 } } }
END
cat > set.yaml << 'END'
database: d
steps:
  - set: { in: c, fields: { z: 1 } }
END

# told FILE: the documents that a note counts, 0 without one
told() { sed -n 's/^note:.*[^0-9,]\([0-9,]*\) documents\{0,1\} of d\.c in the input ha.* the _id of an earlier.*/\1/p' \
    "$1" | tr -d , | grep . || echo 0; }

for kind in ascending one_pair neighbours shards shuffled any_order types none; do
    want=$(make "$kind")
    for how in '--memory 64M' '--memory 256K --jobs 1' '--jobs 3'; do
        rm -rf out
        # shellcheck disable=SC2086
        "$tool" run rollup.yaml -i in -o out $how > log 2>&1
        is "$kind, run $how" "$want" "$(told log)"
        is "$kind, run $how: the first" "$(cat first)" "$(sed -n 's/^note:.*d\.c in the input.*(first: \(.*\)).*/\1/p' log)"
    done
    "$tool" check rollup.yaml -i in > log 2>&1
    is "$kind, check" "$want" "$(told log)"
    "$tool" check set.yaml -i in > log 2>&1
    is "$kind, check of a step that counts nothing" "$want" "$(told log)"
done
make one_pair > /dev/null
sed 's/rollup: .*/window: { in: c, fields: { n: { $documentNumber: {} } } }/' rollup.yaml > window.yaml
"$tool" run window.yaml -i in -o window.out > log 2>&1
is "a window counts each, too" 1 "$(told log)"
# A restore fails if the output still has them.
fails() { # STEP...: the status of check, and whether it says that
    { printf 'database: d\nsteps:\n'; printf '  - %s\n' "$@"; } > fails.yaml
    "$tool" check fails.yaml -i in > log 2>&1
    echo "$? $(told log) $(grep -c '^note: a restore will fail' log)"
}
is "one that stays" "1 1 1" "$(fails 'set: { in: c, fields: { z: 1 } }')"
is "one that moves, one of each" "0 1 0" "$(fails 'move: { from: c, into: m, conflicts: last }')"
is "one that is dropped behind the step that counts it" "0 1 0" \
    "$(fails 'rollup: { from: c, into: r, by: null, fields: { n: { $sum: 1 } } }' 'drop_collection: { in: c }')"
is "one that is refused" "1 1 0" "$(fails 'rekey: { in: c, id: new, references: {} }')"
"$tool" run rollup.yaml -i in -o json.out --json > log 2>&1
is "the report names collection, number and _id" \
    '"equalIds":[{"ns":"d.c","documents":1,"firstId":"{\"$oid\":\"000000000000000000000007\"}","inOutput":true}]' \
    "$(tr -d '\n' < log | sed 's/" *: */":/g; s/, *"/,"/g; s/\([[{]\) */\1/g; s/ *\([]}]\)/\1/g' | grep -o '"equalIds":[^]]*\]')"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
