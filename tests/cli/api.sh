#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# api.sh MONGORESHAPE - the program of docs/API.md compiles against the files of `make install`, shared and static, and
# prints the output in the page; the shared library exports the symbols of packaging/symbols.txt; no installed page has
# a broken link; uninstall leaves nothing.
set -u
. "$(dirname "$0")/../sanitized.bash"
root=$(cd "$(dirname "$0")/../.." && pwd)
tool=$(realpath "$1")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0
ok() { passed=$((passed + 1)); }
fail() { echo "FAILED: $*"; failed=$((failed + 1)); }
case $(basename "$(dirname "$(realpath "$1")")") in
"$(basename "$(realpath "$root/build/current")")") ;;
*) echo "skipped: build/current is another build"; exit 77 ;;
esac
! sanitized "$tool" || { echo "skipped: plain programs do not link with a build with sanitizers"; exit 77; }
make -s -C "$root" install install-docs PREFIX="$dir/usr" > "$dir/log" 2>&1 || { tail -n 5 "$dir/log"; echo "0 passed, 1 failed"; exit 1; }
cd "$dir" || exit 2
sh "$root/packaging/links.sh" usr/share/doc/mongoreshape > log && ok || fail "$(cat log)"
for library in usr/lib/libmongoreshape.so.*; do
    sh "$root/packaging/abi.sh" "$library" > log && ok || fail "$(cat log)"
done
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$root/docs/API.md" > apply.c
awk '/^```console/ { on = 1; next } /^```/ { on = 0 } on && !/^\$ /' "$root/docs/API.md" > want
cp -r "$root/dumps/sample" dump
cp "$root/dumps/plans/comments-into-posts.yaml" plan.yaml
export PKG_CONFIG_PATH=$dir/usr/lib/pkgconfig LD_LIBRARY_PATH=$dir/usr/lib
for way in shared static; do
    rm -rf dump.new apply
    flags=$(pkg-config --cflags --libs $([ $way = shared ] || echo --static) mongoreshape) || fail "pkg-config, $way"
    [ $way = shared ] || flags=$(sed "s|-lmongoreshape|$dir/usr/lib/libmongoreshape.a|" <<< "$flags")
    # shellcheck disable=SC2086
    "${CC:-cc}" -Wall -Wextra -Werror apply.c $flags -o apply > log 2>&1 && ok || { fail "$way: $(tail -n 5 log)"; continue; }
    ./apply plan.yaml dump dump.new > got 2>&1
    diff want got && ok || fail "$way: the program of API.md says something else"
    "$tool" diff dump.new dump > log 2>&1
    [ $? -eq 1 ] && ok || fail "$way: the program wrote no dump: $(tail -n 3 log)"
done
./apply nothing.yaml dump dump.other > got 2>&1
[ $? -eq 2 ] && grep -q 'nothing.yaml' got && ok || fail "a plan that is not there: $(cat got)"
make -s -C "$root" uninstall PREFIX="$dir/usr" > log 2>&1 || fail "make uninstall: $(tail -n 3 log)"
left=$(find usr ! -type d)
[ -z "$left" ] && ok || fail "make uninstall leaves: $left"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
