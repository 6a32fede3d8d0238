#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mutants.sh OBJ [WORDS] - the extension broken on purpose, once for each line of mutants.tsv: the host must find it.
#
# EXT_COMPILE and EXT_LINK are the commands of the Makefile (make host-mutants), OBJ is where its objects lie. WORDS:
# only the lines that hold them.
set -u
obj=$1
words=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.." || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
objects=$(find shell-ext/server common/plan/stage -name '*.c' | LC_ALL=C sort)

# mutant FILE PATTERN REPLACEMENT WHAT
mutant() {
    local file=shell-ext/server/$1 list="" o
    [ -f "$file" ] || file=common/plan/$1
    rm -rf "$tmp/shell-ext" "$tmp/common"
    mkdir -p "$tmp/shell-ext" "$tmp/common/plan"
    cp -r shell-ext/server "$tmp/shell-ext/"
    cp -r common/plan/stage "$tmp/common/plan/"
    OLD=$2 NEW=$3 awk '
        BEGIN { old = ENVIRON["OLD"]; new = ENVIRON["NEW"]; rest = sub(/\.\.\.$/, "", old) }
        !done && (at = index($0, old)) {
            done = 1
            $0 = substr($0, 1, at - 1) new (rest ? "" : substr($0, at + length(old)))
        }
        { print }' "$file" > "$tmp/$file"
    if cmp -s "$file" "$tmp/$file"; then
        echo "FAIL $1: nothing was broken: $4"
        return 1
    fi
    for o in $objects; do
        if [ "$o" = "$file" ] || [ "${file%.h}" != "$file" ]; then
            $EXT_COMPILE -w -I"$tmp/shell-ext" -c "$tmp/$o" -o "$tmp/$(basename "$o").o" || {
                echo "FAIL $1: does not compile: $4"
                return 1
            }
            list="$list $tmp/$(basename "$o").o"
        else
            list="$list $obj/ext/${o%.c}.o"
        fi
    done
    # shellcheck disable=SC2086
    $EXT_LINK $list "$obj/ext/libcore.a" $EXT_LIBS -o "$tmp/libmongoreshape_ext.so" || return 1
    if (timeout 60 "$obj/host" "$tmp/libmongoreshape_ext.so"; exit $?) > "$tmp/log" 2>&1; then
        echo "FAIL $1: not found out: $4"
        return 1
    fi
}

while IFS=$'\t' read -r file old new what; do
    case $file in '#'* | '') continue ;; esac
    case "$file $what" in *"$words"*) ;; *) continue ;; esac
    if mutant "$file" "$old" "$new" "$what"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done < "$here/mutants.tsv"
echo "mutants: $passed passed, $failed failed"
[ $failed = 0 ]
