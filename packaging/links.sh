#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# links.sh DIR - the pages installed in DIR: each file that one of them links to lies there, too.
set -eu
cd "$1"
passed=0 failed=0
for page in $(find . -name '*.md' | LC_ALL=C sort); do
    for link in $(grep -o ']([^)]*)' "$page" | sed 's/^](//; s/)$//; s/#.*//; s/ .*//' | LC_ALL=C sort -u); do
        case $link in *:*) continue ;; esac
        if [ -e "${page%/*}/$link" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAILED: $page links to $link, which is not installed"
        fi
    done
done
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
