#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs.sh - the examples of the online tool in README.md and docs/LIVE.md are correct: runs their commands in their
# order, over the sample data, and compares the output of README's. Needs OBJ.
set -u
. "$(dirname "$0")/begin.bash"
needs "${OBJ:?}"/{mongoreshape-live,livetool,casetool}
[ "${1:-}" = --inside ] || { outside "no server"; exit; }
inside
umask 077

mkdir -p blog/in
cp "$root"/dumps/text/blog.*.jsonl blog/in/
cp "$root/dumps/sample/blog/comments.metadata.json" blog/in/blog.comments.metadata.json
cp "$root/dumps/plans/comments-into-posts.yaml" embed.yaml
cp embed.yaml comments-into-posts.yaml
cp embed.yaml plan.yaml
printf '%s\n' "$MONGODB_URI" > .shop
export HOME=$dir PATH=$OBJ:$PATH
fresh() {
    livetool drop blog > log 2>&1 || fail "drop: $(cat log)"
    rm -rf work && mkdir work
    livetool load blog work > log 2>&1 || fail "load: $(cat log)"
}

# ---- README: what is shown is what comes out ----
fresh
awk '/^```console/ { n++; on = n == 2; next } /^```/ { on = 0 } on' "$root/README.md" | grep -v '^\$ export' > want
while IFS= read -r line; do
    echo "$line"
    bash -c "${line#\$ }" 2>&1 < /dev/null
done < <(grep '^\$ ' want) > got
diff want got && ok || fail "README.md shows another session"

# ---- LIVE.md: each block of commands, over fresh data ----
awk '/^```(sh|console)$/ { n++; on = 1; next } /^```/ { on = 0 }
    on { sub(/^\$ /, ""); print > ("block." n) }' "$root/docs/LIVE.md"
for block in block.*; do
    fresh
    done="" # who throttles, pauses and resumes needs a run; of one that is done they may say so
    if grep -q ' pause ' "$block"; then
        mongoreshape-live apply embed.yaml --uri-file ~/.shop --execute > said 2>&1 || fail "apply: $(cat said)"
        done=yes
    fi
    while IFS= read -r line; do
        bash -c "${line% --watch}" > said 2>&1 < /dev/null
        status=$?
        if [ "$status" -eq 0 ] || { [ -n "$done" ] && [ "$status" -eq 2 ] && grep -q 'is done' said; }; then
            ok
        else
            fail "LIVE.md: status $status of: $line: $(cat said)"
        fi
    done < "$block"
done
# ---- make demo-live ----
livetool drop blog > log 2>&1
if [ "$MONGODB_SERVER_KIND" != own ]; then
    (cd "$root" && bash dumps/demo-live.sh "$OBJ/mongoreshape-live") > said 2>&1 &&
        grep -q 'is removed from' said && ok || fail "demo-live: $(cat said)"
fi
[ "$passed" -ge 10 ] && ok || fail "only $passed commands"
livetool drop blog > log 2>&1
finish
