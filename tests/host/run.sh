#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TOOL [CASE...] - the extension in a host that plays the server.
#
# The library is what SERVER.md says of it (what it shows, needs and never calls), each sentence there is tried, and
# every case of tests/cases that can be a stage gives the bytes of the offline tool. Beside TOOL lie host,
# libmongoreshape_ext.so and casetool (make host builds them). Closes with the sums.
set -u
tool=$1
shift
obj=$(dirname "$tool")
so=$(cd "$obj" && pwd)/libmongoreshape_ext.so
host=$obj/host
casetool=${CASETOOL:-$obj/casetool}
cases=$(cd "$(dirname "${BASH_SOURCE[0]}")/../cases" && pwd)
base=/tmp
[ -w /dev/shm ] && base=/dev/shm
tmp=$(mktemp -d "$base/mongoreshape-host.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT
for f in "$so" "$host" "$casetool"; do
    [ -e "$f" ] || { echo "host: $f is not built (make host)"; exit 77; }
done
passed=0 failed=0 skipped=0

ok() { # ok WHAT STATUS: counts a check
    if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1"; fi
}

# ---- the library ----
banned='abort|_?exit|__assert_fail|v?f?printf|__v?f?printf_chk|f?puts|perror|raise|signal|sigaction|setlocale|setenv'
banned=$banned'|putenv|getenv|system|popen|fork|exec.*|socket|connect|atexit|__cxa_atexit|_*(sig)?setjmp'
banned=$banned'|_*longjmp(_chk)?|localtime(_r)?|s?rand|random|pthread_create|dlopen|bson_.*|mongoc_.*'

library() {
    local imports names
    imports=$(nm -D --undefined-only "$so" | awk '{ sub(/@.*/, "", $2); print $2 }')
    names=$(nm -D --defined-only "$so" | awk '{ print $3 }' | LC_ALL=C sort | tr '\n' ' ')
    [ "$names" = "get_mongodb_extension get_mongodb_extension_versions " ]
    ok "exported: $names" $?
    if nm -D --undefined-only "$so" | grep -q '__asan\|__tsan'; then
        echo "skipped: what the library imports, in a build with sanitizers"
        skipped=$((skipped + 1))
        return
    fi
    ! readelf -d "$so" | grep NEEDED | grep -vE '\[lib(c|m)\.so\.6\]' | grep .
    ok "needs libc and libm only" $?
    ! readelf -d "$so" | grep -E 'TEXTREL|RPATH|RUNPATH' | grep .
    ok "no text relocations, no paths" $?
    ! readelf -lW "$so" | grep -E ' TLS |GNU_STACK.*E' | grep .
    ok "no thread-local data, no executable stack" $?
    if [ "$(getconf GNU_LIBC_VERSION | awk -F'[ .]' '{ print $2 * 1000 + $3 }')" -gt 2036 ]; then
        echo "skipped: whether glibc 2.34 is enough, which is for who builds on an old system"
        skipped=$((skipped + 1))
    else
        older_glibc
    fi
    if nm "$so" | grep -q mrs_assert_failed; then
        echo "skipped: calls that a guest must not make, in a build with assertions, which abort"
        skipped=$((skipped + 1))
        return
    fi
    ! echo "$imports" | grep -xE "$banned" | grep .
    ok "calls that a guest must not make" $?
}

older_glibc() {
    ! readelf -VW "$so" | grep -o 'GLIBC_[0-9.]*' | sort -uV | awk -F'[_.]' '$2 > 2 || $3 > 34' | grep .
    ok "nothing newer than glibc 2.34" $?
}

# ---- the cases ----
# Each stage that `explain --stage` shows is one that the extension takes.
shown_stages() {
    "$tool" explain "$cases/$1/plan.yaml" -i "$tmp/in" --stage --json > "$tmp/stages" 2> "$tmp/said" &&
        "$host" "$so" stages "$tmp/stages" t > "$tmp/said" 2>&1 || cat "$tmp/said"
    grep -q ' passed, 0 failed$' "$tmp/said"
    ok "$1: what explain --stage shows" $?
}

one_case() {
    local case=$1 args=() line
    rm -rf "$tmp"/in "$tmp"/out*
    "$casetool" load "$cases/$case" "$tmp/in" > "$tmp/log" 2>&1 || { ok "$case: its input" 1; return; }
    # A server gives a stage measurements, the host has buckets.
    if grep -qs timeseries "$tmp"/in/*/*.metadata.json; then
        skipped=$((skipped + 1))
        return
    fi
    args=(--max-refused 1000)
    [ -f "$cases/$case/args" ] && read -r -a args < "$cases/$case/args"
    "$tool" run "$cases/$case/plan.yaml" -i "$tmp/in" -o "$tmp/out" --compress none "${args[@]}" > "$tmp/log" 2>&1 \
        < /dev/null
    if [ ! -d "$tmp/out" ]; then
        skipped=$((skipped + 1))
        return
    fi
    shown_stages "$case"
    "$host" "$so" case "$cases/$case/plan.yaml" "$tmp/in" "$tmp/out" "$tmp/out.refused.bson" > "$tmp/log" 2>&1
    line=$?
    grep -E '^(same|sorted|differs|refused|merge|client|untouched)' "$tmp/log" | sed "s|^|$case: |" >> "$tmp/verdicts"
    missing=$(sed -n 's/^\(same\|sorted\|merged\) \([^ ]*\) .*/\2/p' "$tmp/log" | sort -u | while read -r ns; do
        grep -qF "\"emit\":\"$ns\"" "$tmp/stages" || echo "$ns"
    done)
    [ -z "$missing" ]
    ok "$case: explain --stage shows no pipeline to $missing" $?
    if [ $line -ne 0 ]; then
        sed "s|^|    |" "$tmp/log"
        ok "$case" 1
    elif grep -qE '^(same|sorted)' "$tmp/log"; then
        ok "$case" 0
    else
        skipped=$((skipped + 1))
    fi
}

library
# said ARGUMENT...: the host says what it finds and adds up
said() {
    local p="" f=""
    "$host" "$so" "$@" > "$tmp/said" 2>&1 || cat "$tmp/said"
    read -r p f < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$tmp/said" | tail -n 1)
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1}))
}
said
said shown "$cases/../../docs/SERVER.md"
[ $# -gt 0 ] || set -- $(cd "$cases" && find . -name plan.yaml | sed 's|^\./||; s|/plan.yaml$||' | LC_ALL=C sort)
for c in "$@"; do
    one_case "$c"
done
[ -z "${VERDICTS:-}" ] || cp "$tmp/verdicts" "$VERDICTS"
verdicts() { grep -cE ": $1 " "$tmp/verdicts"; }
echo "cases: $(verdicts same) collections with the same bytes, $(verdicts 'sorted|merged') once sorted or merged," \
    "$(verdicts refused) that can be no stage"
echo "host: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
