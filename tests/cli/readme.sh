#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh MONGORESHAPE - the examples in README.md show the actual output of the tool.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tool=$(realpath "$1")
samples=$(dirname "$tool")/samples
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0
ok() { passed=$((passed + 1)); }
fail() { echo "FAILED: $*"; failed=$((failed + 1)); }

# block LANGUAGE: the first such block of README.md
block() { awk -v lang="$1" '$0 == "```" lang { on = 1; next } on && $0 == "```" { exit } on' "$root/README.md"; }
# Times differ from run to run.
timeless() { sed -E 's/[0-9]+\.[0-9]+ s/T s/g'; }

ln -s "$root/dumps" "$dir/dumps"
cd "$dir" || exit 2
block console | timeless > want
{ head -n 1 want; PATH=$(dirname "$tool"):$PATH bash -c "$(sed -n '1s/^\$ //p' want)" 2>&1; } | timeless > got
if diff want got; then ok; else fail "README.md shows another output"; fi
block json > want
"$samples" show new/blog/posts.bson | awk '/^{$/ { n++ } n == 2' > got
if diff want got; then ok; else fail "README.md shows another document"; fi
block yaml > want
grep -v '^#' dumps/plans/comments-into-posts.yaml > got
if diff want got; then ok; else fail "README.md shows another plan"; fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
