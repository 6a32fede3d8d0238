#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# many_collections.sh MONGORESHAPE - one step over more collections than a byte counts: which of the documents with one
# `_id` is in the result, and which one a refusal names.
set -u
. "$(dirname "$0")/begin.bash" "$1"
python3 - << 'P'
import os, struct
os.makedirs('in/d')
def doc(i, n): return struct.pack('<i', 21) + b'\x10_id\0' + struct.pack('<i', i) + b'\x10n\0' + struct.pack('<i', n) + b'\0'
for n in range(300): # one of its own, and one of all
    open('in/d/c_%03d.bson' % n, 'wb').write(doc(1000 + n, n) + doc(1, n))
P
for conflicts in first last refuse; do
    printf 'database: d\nsteps: [{ union: { from: c_*, into: all, conflicts: %s } }]\n' $conflicts > $conflicts.yaml
    rm -rf out out.*
    "$tool" run $conflicts.yaml -i in -o out -q --max-refused any 2> log
    status=$?
    is "status with $conflicts" $([ $conflicts = refuse ] && echo 1 || echo 0) $status
    is "documents with $conflicts" $([ $conflicts = refuse ] && echo 300 || echo 301) "$("$tool" cat out --ns d.all | wc -l)"
done
is "refused documents" 300 "$(wc -l < out.refused.bson.jsonl)"
is "of them with the place of another one" 300 "$(grep -c 'document 2 of d\.c_[0-9]* brings' out.refused.bson.jsonl)"
for conflicts in first last; do
    rm -rf out
    "$tool" run $conflicts.yaml -i in -o out -q 2> log
    is "the document with $conflicts" "{\"_id\":1,\"n\":$([ $conflicts = first ] && echo 0 || echo 299)}" \
        "$("$tool" cat out --ns d.all --where '{ _id: 1 }' --relaxed)"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
