#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# operators.sh MONGORESHAPE - docs/OPERATORS.md is what the operator table says (make docs writes it anew).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
if "$(dirname "$(realpath "$1")")/operators" | diff "$root/docs/OPERATORS.md" -; then
    echo "1 passed, 0 failed"
else
    echo "FAILED: docs/OPERATORS.md is not what the table says: make docs"
    echo "0 passed, 1 failed"
    exit 1
fi
