#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang.sh FLAG... - each source through clang with these flags, for whoever builds with that.
#
# Nothing is compiled. CLANG names another clang.
set -u
clang=${CLANG:-clang}
if ! command -v "$clang" >/dev/null 2>&1; then
    echo "no $clang"
    exit 77
fi
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
sources=$(find common migrate shell-ext tests bench docs dumps -name '*.c' ! -path 'tests/lint/dirty/*' | LC_ALL=C sort)
for source in $sources; do
    if "$clang" "$@" -fsyntax-only "$source"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "clang: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
