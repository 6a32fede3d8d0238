#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi.sh LIBRARY [--write | --whole] - what the shared library shows: all symbols of symbols.txt are there, each stands
# in an installed header, and none is private. --whole: there are no others than those of symbols.txt, as a release
# wants it.
set -eu
library=$1 how=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
shown=$(mktemp)
trap 'rm -f "$shown"' EXIT
passed=0 failed=0
verdict() { if [ -z "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1: $2"; fi; }
nm -D --defined-only "$library" | awk '{ print $NF }' | LC_ALL=C sort > "$shown"
if [ "$how" = --write ]; then
    cp "$shown" "$here/symbols.txt"
fi
verdict "symbols that are gone" "$(LC_ALL=C comm -23 "$here/symbols.txt" "$shown" | tr '\n' ' ')"
new=$(LC_ALL=C comm -13 "$here/symbols.txt" "$shown" | tr '\n' ' ')
if [ "$how" = --whole ]; then
    verdict "symbols that packaging/symbols.txt lacks (make abi WRITE=1)" "$new"
elif [ -n "$new" ]; then
    echo "new: $new"
fi
verdict "symbols in no header" "$(while read -r symbol; do
    grep -qw -- "$symbol" "$here"/../include/mongoreshape/*.h || echo "$symbol"
done < "$shown")"
verdict "symbols that are not public" "$(grep '^mrs_cli_\|^mrsi_' "$shown" || true)"
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
verdict "the soname" "$([ "$soname" = "$(basename "$library")" ] || echo "$soname")"
echo "$passed passed, $failed failed, 0 skipped; $(wc -l < "$shown") symbols"
[ "$failed" -eq 0 ]
