#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi.sh LIBRARY [--write] - the symbols that the shared library shows are those of symbols.txt, and each stands in an
# installed header.
set -eu
library=$1
here=$(cd "$(dirname "$0")" && pwd)
shown=$(mktemp)
trap 'rm -f "$shown"' EXIT
nm -D --defined-only "$library" | awk '{ print $NF }' | LC_ALL=C sort > "$shown"
if [ "${2:-}" = --write ]; then
    cp "$shown" "$here/symbols.txt"
fi
failed=0
diff "$here/symbols.txt" "$shown" || { echo "FAILED: other symbols than packaging/symbols.txt"; failed=1; }
while read -r symbol; do
    grep -qw -- "$symbol" "$here"/../include/mongoreshape/*.h || { echo "FAILED: $symbol is in no header"; failed=1; }
done < "$shown"
if grep '^mrs_cli_\|^mrsi_' "$shown"; then
    echo "FAILED: symbols that are not public"
    failed=1
fi
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = "$(basename "$library")" ] || { echo "FAILED: the soname is $soname"; failed=1; }
echo "$((1 - failed)) passed, $failed failed, $(wc -l < "$shown") symbols"
[ "$failed" -eq 0 ]
