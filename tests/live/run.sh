#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TOOL [SCRIPT...] - the tests of the online tool on the server for tests, and the sum of their results.
#
# Every script of this folder except lib.sh, facts.sh and this one is a test; SCRIPT: only these, named without `.sh`.
# It finds the programs by OBJ, gets its server from tests/server/with, lists skipped tests, and ends with "N passed, N
# failed, N skipped".
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
OBJ=$(cd "$(dirname "${1:?run.sh TOOL}")" && pwd) || exit 2
export OBJ
passed=0 failed=0 skipped=0
said=$(mktemp) || exit 2
trap 'rm -f "$said"' EXIT
shift
[ $# != 0 ] || set -- $(cd "$here" && ls ./*.sh)
scripts=$*
for t in $scripts; do
    t=$here/${t%.sh}.sh
    case ${t##*/} in
        run.sh | lib.sh | facts.sh) continue ;;
    esac
    begun=$SECONDS
    bash "$t" < /dev/null > "$said" 2>&1
    status=$?
    cat "$said"
    # shellcheck disable=SC2046
    set -- $(grep -E -o '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$said" | tail -n 1 | tr -dc '0-9 \n')
    [ $# = 3 ] || { echo "FAIL ${t##*/}: ended with $status and no figures"; set -- 0 1 0; }
    [ "$status" = 0 ] || [ "$2" != 0 ] || set -- "$1" 1 "$3"
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    echo "${t##*/}: $((SECONDS - begun)) seconds"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
