#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# patterns.sh MONGORESHAPE - the pages of docs/patterns match their cases and `invert` (make docs writes them).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tool=$(realpath "$1")
pages=$(mktemp -d) || exit 2
trap 'rm -rf "$pages"' EXIT
passed=0 failed=0
bash "$root/docs/patterns/pages.sh" "$tool" "$pages" || failed=1
for page in "$pages"/*.md; do
    if diff "$root/docs/patterns/$(basename "$page")" "$page"; then
        passed=$((passed + 1))
    else
        echo "FAILED: docs/patterns/$(basename "$page"): make docs"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
