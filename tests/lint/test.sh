#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh - the lint's own test: in a dirty tree every rule must find what was put there for it, and nothing else.
#
# dirty/ is laid out like the project; dirty.expected has "FILE: RULE" for each violation in it, once for each line.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

# What would be tedious to keep: a folder of 21 sources with functions that assert nothing, a header of 251 lines.
cp -r "$here/dirty" "$tmp/dirty" && mkdir "$tmp/dirty/common/plan/many" || exit 2
echo '# common/plan/many' >"$tmp/dirty/common/plan/many/README.md"
n=0
while [ $((n += 1)) -le 21 ]; do
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* many_%s.c - one more. */\nstatic int\nf(void)\n{\n}\n' $n \
        >"$tmp/dirty/common/plan/many/many_$n.c"
    echo "| \`many_$n.c\` | |" >>"$tmp/dirty/common/plan/many/README.md"
done
awk 'BEGIN { print "/* SPDX-License-Identifier: Apache-2.0 */"; for (i = 2; i <= 251; i++) print "/* ... */" }' \
    >"$tmp/dirty/common/plan/long_header.h"
echo '| `long_header.h` | |' >>"$tmp/dirty/common/plan/README.md"

: >"$tmp/dirty/driver.js"

for room in doc expr; do
    "$cc" -w -c "$here/dirty/common/$room/symbols.c" -o "$tmp/$room.o" && ar rcs "$tmp/lib$room.a" "$tmp/$room.o"
done
for f in common/io/file/low common/io/input/high; do
    mkdir -p "$tmp/$(dirname $f)" && "$cc" -c "$here/dirty/$f.c" -o "$tmp/$f.o"
done
if sh "$here/lint.sh" "$tmp/dirty" "$tmp" >"$tmp/out" 2>&1; then
    echo "FAILED: the lint is content with the dirty tree"
    failed=$((failed + 1))
fi
sed -n 's/^\([^:]*\):[0-9]*: \([a-z+-]*\): .*/\1: \2/p' "$tmp/out" | LC_ALL=C sort >"$tmp/got"
LC_ALL=C sort "$here/dirty.expected" >"$tmp/want"
if ! diff "$tmp/want" "$tmp/got" >"$tmp/diff"; then
    echo "FAILED: < was not found, > was found without being there"
    cat "$tmp/diff" "$tmp/out"
    failed=$((failed + 1))
fi
for rule in $(sed -n '/^rules="/,/"$/p' "$here/lint.sh" | tr -d '"' | sed 's/^rules=//'); do
    if grep -q ": $rule\$" "$tmp/got"; then
        passed=$((passed + 1))
    else
        echo "FAILED: nothing proves the rule $rule"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
