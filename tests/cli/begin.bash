# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# begin.bash MONGORESHAPE [casetool] - what scripts of this folder begin with, sourced: the tool by its path, the program
# beside it that is named, an empty folder to work in that goes at the end, and how a test is counted.
tool=$(realpath "$1")
casetool=$(dirname "$tool")/casetool
if [ "${2:-}" = casetool ] && [ ! -x "$casetool" ]; then
    echo "$(basename "$0" .sh): no program at $casetool" >&2
    exit 2
fi
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
passed=0 failed=0 skipped=0

# is NAME WANT GOT
is() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n  want %s\n  got  %s\n' "$1" "$2" "$3"
    fi
}

# verdict NAME COMPLAINTS: one test; whatever was said counts as its failure
verdict() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n%s\n' "$1" "$2" | sed '2,$s/^/    /'
    fi
}
