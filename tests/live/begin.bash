# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# begin.bash - what scripts of this folder begin with that call themselves again inside of tests/server/with, sourced.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/tests/wait.bash"
script=$(basename "$0" .sh)

# skipped WHY: ends the script
skipped() {
    echo "$script skipped: $*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

# needs PROGRAM...: those that have to be built
needs() {
    for need; do
        [ -x "$need" ] || skipped "${need##*/} is not built"
    done
}

# outside MISSING [OPTION...] [-- ARG...]: the script once more with such a server, as $0 --inside ARG...; it is skipped
# where there is none
outside() {
    local missing=$1 options=()
    shift
    while [ $# != 0 ]; do
        [ "$1" != -- ] || { shift; break; }
        options+=("$1")
        shift
    done
    "$root/tests/server/with" "${options[@]}" bash "$0" --inside "$@" < /dev/null
    status=$?
    [ $status != 77 ] || skipped "$missing"
    return $status
}

# inside: an empty folder to work in that goes at the end
inside() {
    dir=$(mktemp -d) || exit 2
    trap 'rm -rf "$dir"' EXIT
    cd "$dir" || exit 2
    passed=0 failed=0
}
# within ARG...: both, for a script that needs no more than a server and gives its own arguments
within() {
    [ "${1:-}" = --inside ] || { outside "no server for tests"; exit $?; }
    inside
}
ok() { passed=$((passed + 1)); }
fail() {
    printf 'FAIL %s: %s\n' "$script" "$*"
    failed=$((failed + 1))
    [ -z "${MRS_MUTANT:-}" ] || finish # the mistake is found
}
finish() {
    echo "$passed passed, $failed failed, ${skipped:-0} skipped"
    exit $((failed > 0))
}
is() { if [ "$2" = "$3" ]; then ok; else fail "$1: $2, not $3"; fi; }
