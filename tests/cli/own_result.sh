#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# own_result.sh MONGORESHAPE - a plan over what it wrote itself is refused, unless a second run changes nothing.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool
mkdir -p case/in
printf '{"_id":1,"n":1}\n{"_id":2,"n":2}\n' > case/in/t.a.jsonl
printf '{"_id":7,"a":1}\n' > case/in/t.b.jsonl
"$casetool" load case in
cat > embed.yaml << 'Y'
database: t
steps: [{ embed: { from: b, into: a, match: { a: _id }, as: bs, replace: true } }]
Y
cat > two.yaml << 'Y'
database: t
steps: [{ rename: { in: a, fields: { n: m } } }, { set: { in: a, fields: { n: 1 } } }]
Y
printf 'database: t\nsteps: [{ set: { in: a, fields: { n: 1 } } }]\n' > set.yaml
printf 'database: t\nsteps: []\n' > none.yaml

# again PLAN COMMAND OPTION...: the status over its own result
again() {
    local plan=$1
    shift
    "$tool" "$@" "$plan" > log 2>&1
    echo $?
}
for plan in embed two; do
    "$tool" run $plan.yaml -i in -o $plan -q
    is "$plan again" 2 "$(again $plan.yaml run -i $plan -o new)"
    is "$plan again, words" "$plan is what this plan wrote, by its manifest" "$(grep -o "$plan is what .* manifest" log)"
    is "$plan again, output" no "$([ -e new ] && echo yes || echo no)"
    is "$plan again, check" 2 "$(again $plan.yaml check -i $plan)"
done
"$tool" run embed.yaml -i in -o file.archive -q
is "an archive and its manifest" 2 "$(again embed.yaml run -i file.archive -o new)"
is "another plan" 0 "$(again set.yaml run -i embed -o new)"
for plan in set none; do
    "$tool" run $plan.yaml -i in -o $plan -q
    is "$plan again" 0 "$(again $plan.yaml run -i $plan -o $plan.twice)"
done
mv embed/mongoreshape.manifest.json kept.json
is "without the manifest" 0 "$(again embed.yaml run -i embed -o all.the.same)"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
