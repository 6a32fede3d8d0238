#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# order.sh MONGORESHAPE - documents that a join leaves in their collection keep their order, for any budget: with a key
# without a match, and without a key.
set -u
. "$(dirname "$0")/begin.bash" "$1"
python3 - <<'P'
import os, struct
i32 = lambda name, v: b'\x10' + name + b'\0' + struct.pack('<i', v)
doc = lambda *e: struct.pack('<i', 5 + sum(map(len, e))) + b''.join(e) + b'\0'
os.makedirs('in/d')
open('in/d/p.bson', 'wb').write(doc(i32(b'_id', 1)))
key = lambda i: [i32(b'p', 1)] if i < 900 else [i32(b'p', 9)] if i % 2 else []
open('in/d/c.bson', 'wb').write(b''.join(doc(i32(b'_id', i), *key(i)) for i in range(906)))
P
cat > plan.yaml << 'END'
database: d
steps:
  - embed: { from: c, into: p, match: { p: _id }, as: c, keep: none, orphans: keep }
END
for memory in 4K 8K 16K 32K 64M; do
    rm -rf out
    "$tool" run plan.yaml -i in -o out -q --memory $memory
    got=$("$tool" cat out --ns d.c --relaxed | grep -o '_id":[0-9]*' | tr -dc '0-9\n')
    if [ "$(echo "$got" | wc -l)" -eq 6 ] && [ "$got" = "$(echo "$got" | sort -n)" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL --memory $memory:" $got
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
