#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reproducible.sh BUILD - the committed sources, built in two folders with names of other lengths, give the same bytes.
set -eu
build=$(cd "$1" && pwd)
top=$(git rev-parse --show-toplevel)
export CCACHE_DISABLE=1
rm -rf "$build/repro"
trap 'rm -rf "$build/repro"' EXIT
for place in a a-much/longer/name; do
    mkdir -p "$build/repro/$place"
    git clone -q "$top" "$build/repro/$place/src"
    make -s -C "$build/repro/$place/src" -j"$(nproc)" install PREFIX=/usr DESTDIR="$build/repro/$place/out" \
        > "$build/repro.log" 2>&1 || { tail -n 20 "$build/repro.log"; exit 1; }
    (cd "$build/repro/$place/out" && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2) \
        > "$build/repro.$(basename "$place")"
done
rm -f "$build/repro.log"
diff "$build/repro.a" "$build/repro.name" || { echo "not reproducible"; exit 1; }
echo "$(wc -l < "$build/repro.a") files of an installation, the same bytes in both"
