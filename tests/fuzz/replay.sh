#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# replay.sh PROGRAM... - each replay program over tests/fuzz/corpus/NAME; one that crashes counts as a failure, and the
# input that did it is named.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../sample.bash"
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
for program in "$@"; do
    name=$(basename "$program")
    inputs=() n=0
    for input in "$here/corpus/$name"/*; do
        sampled $((n++)) && inputs+=("$input")
    done
    if [ ! -f "${input:-}" ]; then
        echo "$name skipped: no inputs in tests/fuzz/corpus/$name"
        skipped=$((skipped + 1))
    elif [ ${#inputs[@]} = 0 ]; then
        continue
    elif "$program" "${inputs[@]}" >"$log" 2>&1; then
        passed=$((passed + ${#inputs[@]}))
    else
        echo "$name FAILED:"
        tail -n 40 "$log"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
