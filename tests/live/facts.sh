#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# facts.sh [--show] - checks on the server for tests, as replica set and as standalone, the behaviour that we rely on.
#
# Writes OBJ/facts-KIND-TOPOLOGY.txt, which needs_fact of lib.sh reads; --show prints false facts. False facts are no
# failures: they show which tests are useful. `facts.sh --table` contacts no server: it makes the table of
# docs/SERVERS.md from the existing files.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
facts=$(realpath "${OBJ:?the folder of the programs}/facts") || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

# One row a fact, one column a file.
table() {
    # shellcheck disable=SC2012
    "$facts" --list | awk -F'|' -v files="$(ls "$(dirname "$facts")"/facts-*.txt | tr '\n' ' ')" '
        BEGIN {
            n = split(files, file, " ")
            head = "| fact | what |"
            line = "|---|---|"
            for (i = 1; i <= n; i++) {
                name = file[i]
                gsub(/.*facts-|\.txt$/, "", name)
                head = head " " name " |"
                line = line "---|"
                while ((getline row < file[i]) > 0)
                    if (split(row, w, " ") > 2 && w[1] == "fact")
                        answer[i, w[2]] = w[3] == "true:" ? "yes" : w[3] == "false:" ? "**no**" : "error"
            }
            print head
            print line
        }
        {
            row = "| " $1 " | " $2 " |"
            for (i = 1; i <= n; i++)
                row = row " " answer[i, $1] " |"
            print row
        }'
}

[ "${1:-}" != --table ] || { table; exit; }

# ask TOPOLOGY [OPTION]: the facts of one server; its table goes to $tmp/TOPOLOGY
ask() {
    # shellcheck disable=SC2016
    "$here/../server/with" "${@:2}" bash -c '. "$1/lib.sh"
        rm -f "$(dirname "$2")"/facts-"$MONGODB_SERVER_KIND"-"$3".txt
        ask_facts "$2" && cp "$facts_file" "$4/$3.txt"' ask "$here" "$facts" "$1" "$tmp" 2>"$tmp/err"
    case $? in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)); echo "facts of a $1 skipped: $(cat "$tmp/err")" ;;
        *) failed=$((failed + 1)); echo "FAIL facts of a $1:"; cat "$tmp/err" ;;
    esac
}

ask replicaset
ask standalone --standalone
for file in "$tmp"/*.txt; do
    [ -f "$file" ] || continue
    name=$(basename "$file" .txt)
    if [ "${1:-}" = --show ]; then
        echo "$name: $(head -n 1 "$file")"
        grep -v -e ' true: ' -e '^server' "$file" | cut -c1-200
    fi
    echo "$name: $(grep -c ' true: ' "$file") facts are true, $(grep -c -E '^fact [^ ]* false' "$file") false"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
