#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh ROOT LIBS - the rules of the house, checked by machine: a rule without a script drifts.
#
# ROOT is a tree laid out like this project, LIBS the folder with libROOM.a of its rooms. Prints every violation as
# FILE:LINE: RULE: what, and closes with the number of rules that hold and that do not. tests/lint/test.sh proves it
# on a dirty tree. CC names the C compiler; C++ is g++ or clang++.
set -u
root=$1
libs=$2
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc}
ladder=${LADDER:-$here/ladder.txt}
found=$(mktemp) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$found" "$tmp"' EXIT
rooms="base doc expr io inspect cli steps plan run"
rules="layers ladder face climb circle licence opening file-length header-length folder-size name-twice tag-twice
line-length trailing-space unfinished own-machine tab loud raw-memory outside-world unsafe function-length assertions
undocumented header-c header-c++ symbol-name symbol-twice error-table door-plate private-word
left-behind exports"

sources() {
    (cd "$root" && find include common migrate shell-ext tests bench docs dumps packaging .ci Makefile -type f \
        2>/dev/null) | grep -E '\.(c|h|sh|awk|py)$|^shell-ext/.*\.[jt]s$|^Makefile$|^\.ci/' |
        grep -v '^tests/lint/dirty/' | LC_ALL=C sort
}

text_rules() {
    sources | sed "s|^|$root/|" | tr '\n' '\0' |
        LC_ALL=C xargs -0 awk -v root="$root" -v ladder_file="$ladder" -f "$here/lint.awk" >>"$found"
}

# Folders of the product: at most 20 sources in each; no file name repeats.
folders() {
    (cd "$root" && find common migrate shell-ext include -name '*.[ch]' 2>/dev/null) |
        LC_ALL=C sort >"$tmp/product"
    sed -n 's|/[^/]*\.c$||p' "$tmp/product" | uniq -c |
        awk '$1 > 20 { printf "%s:1: folder-size: %d sources, 20 are allowed\n", $2, $1 }' >>"$found"
    awk -F/ '$NF in at { printf "%s:1: name-twice: %s has this name too\n", $0, at[$NF] }
             { at[$NF] = $0 }' "$tmp/product" >>"$found"
}

# What calls what, by the symbols of the objects: no arrow climbs the ladder, circles are small and stay in a folder.
arrows() {
    sed -n 's|\.c$|.o|p' "$tmp/product" | while read -r o; do [ ! -f "$libs/$o" ] || echo "$o"; done >"$tmp/objects"
    [ -s "$tmp/objects" ] || return 0
    (cd "$libs" && xargs nm -A -g <"$tmp/objects") | awk -v ladder_file="$ladder" -f "$here/arrows.awk" >>"$found"
}

# Public headers must be usable alone, by C11 and by C++.
headers() {
    for h in "$root"/include/mongoreshape/*.h; do
        name=${h#"$root"/}
        printf '#include "mongoreshape/%s"\n' "$(basename "$h")" | tee "$tmp/h.c" >"$tmp/h.cc"
        "$cc" -std=c11 -Wall -Wextra -Werror -I"$root/include" -fsyntax-only "$tmp/h.c" 2>"$tmp/log" ||
            echo "$name:1: header-c: $(grep -m1 error "$tmp/log")" >>"$found"
        if [ -n "$cxx" ]; then
            "$cxx" -std=c++11 -Wall -Wextra -Werror -I"$root/include" -fsyntax-only "$tmp/h.cc" 2>"$tmp/log" ||
                echo "$name:1: header-c++: $(grep -m1 error "$tmp/log")" >>"$found"
        fi
    done
}

# Global symbols: all begin with mrs; what crosses files inside a room is no other room's name.
symbols() {
    for room in $rooms; do
        [ -f "$libs/lib$room.a" ] || continue
        nm -g --defined-only "$libs/lib$room.a" 2>/dev/null |
            awk -v room="$room" 'NF == 3 { print room, $3 }'
    done | LC_ALL=C sort -u >"$tmp/symbols"
    awk '$2 !~ /^mrs/ { printf "common/%s:1: symbol-name: %s is global and does not begin with mrs\n", $1, $2 }' \
        "$tmp/symbols" >>"$found"
    awk '$2 in room { printf "common/%s:1: symbol-twice: %s is in common/%s too\n", $1, $2, room[$2] }
         { room[$2] = $1 }' "$tmp/symbols" >>"$found"
}

# Error codes: number, name, words and exit status in the header, the code and the table for people.
errors() {
    sed -n 's/^ *\(MRS_E_[A-Z_]*\) = \([0-9]*\).*/\2 \1/p' "$root/include/mongoreshape/err.h" |
        LC_ALL=C sort >"$tmp/codes"
    sed -n 's/^ *\[\(MRS_E_[A-Z_]*\)\] = {"\(.*\)", \([0-9]*\)}.*/\1 \3 \2/p' "$root/common/base/err.c" |
        LC_ALL=C sort >"$tmp/names"
    awk 'NR == FNR { no[$2] = $1; next } { n = no[$1]; sub(/^/, n " "); print }' "$tmp/codes" "$tmp/names" |
        LC_ALL=C sort >"$tmp/code-side"
    sed -n 's/^| *\([0-9][0-9]*\) *| *`*\(MRS_E_[A-Z_]*\)`* *| *\([^|]*[^ |]\) *| *\([0-9][0-9]*\) *|.*/\1 \2 \4 \3/p' \
        "$root/docs/ERRORS.md" 2>/dev/null | LC_ALL=C sort >"$tmp/doc-side"
    diff "$tmp/code-side" "$tmp/doc-side" | sed -n 's/^\([<>]\) \(.*\)/docs\/ERRORS.md:1: error-table: \1 \2/p' |
        sed 's/: < /: in the code only: /; s/: > /: in the table only: /' >>"$found"
    [ "$(wc -l <"$tmp/codes")" -eq "$(wc -l <"$tmp/names")" ] ||
        echo "common/base/err.c:1: error-table: err.h and err.c do not have the same codes" >>"$found"
}

# Every folder has its door plate, which says what each of its files is for.
door_plates() {
    for d in tests bench dumps $(sed 's|/[^/]*$||' "$tmp/product" | uniq); do
        [ -d "$root/$d" ] || continue
        if [ ! -f "$root/$d/README.md" ]; then
            echo "$d:1: door-plate: no README.md" >>"$found"
            continue
        fi
        grep "^$d/[^/]*\$" "$tmp/product" | sed 's|.*/||' | while read -r f; do
            grep -qF "\`$f\`" "$root/$d/README.md" || echo "$d/README.md:1: door-plate: says nothing of $f" >>"$found"
        done
    done
}

# What a script run by hand wrote at the top: the project's own files there begin with a capital letter or a dot.
left_behind() {
    (cd "$root" && find . -maxdepth 1 -type f ! -name '[A-Z.]*') |
        sed 's|^\./\(.*\)|\1:1: left-behind: no file of the project|' >>"$found"
}

# The list of exported symbols is compared with comm.
exports() {
    [ -f "$root/packaging/symbols.txt" ] || return 0
    LC_ALL=C sort -c "$root/packaging/symbols.txt" 2>&1 |
        sed 's|.*:\([0-9]*\): [^:]*: |packaging/symbols.txt:\1: exports: out of order: |' >>"$found"
}

# Waivers: "FILE-PREFIX|RULE|WORDS|REASON" takes back what begins with the prefix, is of the rule and holds the words.
waive() {
    [ -f "$root/tests/lint/waivers.txt" ] || return 0
    awk -F'|' 'NR == FNR { if ($0 !~ /^#/ && NF == 4) { n++; prefix[n] = $1; rule[n] = $2; words[n] = $3 }; next }
        {
            for (i = 1; i <= n; i++)
                if (index($0, prefix[i]) == 1 && index($0, ": " rule[i] ": ") && index($0, words[i])) next
            print
        }' "$root/tests/lint/waivers.txt" "$found" >"$tmp/kept"
    cp "$tmp/kept" "$found"
}

cxx=""
for c in g++ clang++; do
    if command -v "$c" >/dev/null 2>&1; then cxx=$c; break; fi
done
text_rules
folders
arrows
headers
symbols
errors
door_plates
left_behind
exports
waive

LC_ALL=C sort -t: -k1,1 -k2,2n "$found"
passed=0 failed=0 skipped=0
for rule in $rules; do
    if grep -q "^[^:]*:[0-9]*: $rule: " "$found"; then
        failed=$((failed + 1))
    elif [ "$rule" = header-c++ ] && [ -z "$cxx" ]; then
        echo "header-c++ skipped: no C++ compiler"
        skipped=$((skipped + 1))
    else
        passed=$((passed + 1))
    fi
done
echo "lint: $(wc -l <"$found" | tr -d ' ') violations in $(sources | wc -l | tr -d ' ') files"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
