#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dumps.sh MONGORESHAPE - samples.c makes the sample dump; every plan of dumps/plans runs and refuses nothing, and its
# result is that in dumps.expected: for each collection that is new, removed or changed, documents, cksum of its file,
# and indexes other than _id_; below it some of its documents. A cksum changes only after a check of the reason.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
expected=$root/tests/cli/dumps.expected
tool=$(realpath "$1")
bin=$(dirname "$tool")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
passed=0 failed=0
for program in "$bin/samples" "$bin/casetool"; do
    [ -x "$program" ] || { echo "dumps: no program at $program" >&2; exit 2; }
done

# verdict NAME COMPLAINTS: one test; whatever was said counts as its failure
verdict() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n%s\n' "$1" "$2"
    fi
}

# over PLAN: the dump it is for: the sample, or what another plan made of it
over() {
    local before
    before=$(sed -n 's/^#.* over the result of \([a-z-]*\)\.yaml.*/\1/p' "$root/dumps/plans/$1.yaml")
    echo "${before:-sample}"
}

# made NAME: runs a plan, and the one before it, unless that has been done
made() {
    [ "$1" = sample ] || [ -e "ran.$1" ] && return
    touch "ran.$1"
    made "$(over "$1")"
    "$tool" run "$root/dumps/plans/$1.yaml" -i "$(over "$1")" -o "$1" > log 2>&1 < /dev/null
    verdict "$1 runs, and refuses nothing" "$([ $? = 0 ] || cat log)"
}

# differences NAME: the collections that it changed, as dumps.expected has them
differences() {
    local in name=$1 file coll
    in=$(over "$name")
    for file in $(cd "$dir" && ls -d "$in"/*/*.bson "$name"/*/*.bson | cut -d/ -f2- | LC_ALL=C sort -u); do
        coll=$(echo "${file%.bson}" | tr / .)
        if [ ! -e "$name/$file" ]; then
            echo "$coll: gone"
        elif ! cmp -s "$in/$file" "$name/$file" ||
            ! cmp -s "$in/${file%.bson}.metadata.json" "$name/${file%.bson}.metadata.json"; then
            "$bin/casetool" show "$name/$file" > shown
            echo "$coll: $(wc -l < shown) documents, $(cksum < "$name/$file" | cut -d ' ' -f 1)," \
                indexes "$(grep -o '"name":"[^"]*"' "$name/${file%.bson}.metadata.json" | cut -d '"' -f 4 |
                    grep -vx _id_ | tr '\n' ' ')" | sed 's/, indexes *$//; s/ $//'
            found "$name" "$coll"
        fi
    done
}

# found NAME COLL: of the documents that are expected in a collection those that `shown` holds
found() {
    mkdir -p case/in
    rm -rf loaded case/in/*
    awk -v name="== $1" -v coll="$2:" '/^==/ { here = $0 == name; next } here && !/^{/ { on = $1 == coll; next }
        here && on' "$expected" > "case/in/$2.jsonl"
    "$bin/casetool" load case loaded
    "$bin/casetool" show "loaded/$(echo "$2" | sed 's|\.|/|').bson" > wanted
    awk 'FILENAME == "shown" { have[$0]; next } FILENAME == "wanted" { there[++n] = $0 in have; next }
        there[++m]' shown wanted "case/in/$2.jsonl"
}

"$bin/samples" make text sample
for folder in text sample; do
    verdict "dumps/$folder is what samples.c makes" "$(diff -r $folder "$root/dumps/$folder")"
done
for plan in "$root"/dumps/plans/*.yaml; do
    name=$(basename "$plan" .yaml)
    made "$name"
    verdict "$name" "$(diff <(awk -v name="== $name" '/^==/ { on = $0 == name; next } on' "$expected") \
        <(differences "$name") 2>&1)"
    verdict "$name stands in dumps/README.md" "$(grep -qF "\`$name\`" "$root/dumps/README.md" || echo "not there")"
done
verdict "no plan too many in dumps.expected" "$(diff <(sed -n 's/^== //p' "$expected") \
    <(cd "$root/dumps/plans" && ls | sed 's/\.yaml$//' | LC_ALL=C sort))"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
