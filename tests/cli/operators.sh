#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# operators.sh MONGORESHAPE - docs/OPERATORS.md and KEYS.md match the tables (make docs writes them).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
passed=0 failed=0
for page in operators keys; do
    if "$(dirname "$(realpath "$1")")/$page" | diff "$root/docs/${page^^}.md" -; then
        passed=$((passed + 1))
    else
        echo "FAILED: docs/${page^^}.md is not what the table says: make docs"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
