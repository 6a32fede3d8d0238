#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pages.sh TOOL OUTDIR - writes a page for each case below tests/cases/pattern, and their index.
#
# A page is what stands in the case's page.md (title, when to use it, limits, the way back), with the plan, the
# documents before and after, and the inverse plan put in: all of it runs in the tests, so no page can grow old.
set -eu
tool=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
cases=$here/../../tests/cases/pattern

# documents FOLDER: each collection of a case with its documents
documents() {
    local file name
    for file in "$1"/*.jsonl; do
        [ -e "$file" ] || continue
        name=$(basename "$file" .jsonl)
        if [ -s "$file" ]; then
            printf '`%s`\n```json\n' "$name"
            sed 's/^\(.\{4000\}\).*/\1 .../' "$file"
            printf '```\n'
        else
            printf '`%s` is empty.\n' "$name"
        fi
    done
}

# part CASE FROM TO: the lines of its page from one heading up to the next; no heading is its beginning, or its end
part() {
    awk -v from="$2" -v to="$3" '
        (from != "" && $0 == from) || (from == "" && NR == 1) { on = 1 }
        to != "" && $0 == to { on = 0 }
        on' "$1/page.md"
}

page() {
    part "$1" "" "## Limits"
    printf '## The plan\n```yaml\n'
    cat "$1/plan.yaml"
    printf '```\n\n## Before\n'
    documents "$1/in"
    printf '\n## After\n'
    documents "$1/out"
    printf '\n'
    part "$1" "## Limits" ""
    printf '\n`mongoreshape invert` says:\n```yaml\n'
    "$tool" invert "$1/plan.yaml"
    printf '```\n'
}

mkdir -p "$out"
{
    echo "# Patterns"
    echo "Schema designs by their usual names, each as a plan that runs, with documents before and after, its limits"
    echo "and its inverse. The plans are those of \`tests/cases/pattern\`."
    echo
    for case in "$cases"/*/; do
        name=$(basename "$case")
        page "${case%/}" > "$out/$name.md"
        echo "- [$(sed -n '1s/^# //p' "$case/page.md")]($name.md)"
    done
} > "$out/README.md"
