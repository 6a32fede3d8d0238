#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# own_result.sh MONGORESHAPE - a plan over what it wrote itself gets a warning, unless a second run changes nothing.
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

# warned PLAN COMMAND OPTION...: how often the command warns of its own result
warned() {
    local plan=$1
    shift
    "$tool" "$@" "$plan" -q > log 2>&1
    grep -c '^warning: .* is what this plan wrote, by its manifest' log
}
for plan in embed two; do
    "$tool" run $plan.yaml -i in -o $plan -q
    is "$plan again" 1 "$(warned $plan.yaml run -i $plan -o $plan.new)"
    is "$plan again, check" 1 "$(warned $plan.yaml check -i $plan)"
done
"$tool" run embed.yaml -i in -o file.archive -q
is "an archive and its manifest" 1 "$(warned embed.yaml run -i file.archive -o of.archive)"
is "another plan" 0 "$(warned set.yaml run -i embed -o new)"
for plan in set none; do
    "$tool" run $plan.yaml -i in -o $plan -q
    is "$plan again" 0 "$(warned $plan.yaml run -i $plan -o $plan.twice)"
done
mv embed/mongoreshape.manifest.json kept.json
is "without the manifest" 0 "$(warned embed.yaml run -i embed -o all.the.same)"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
