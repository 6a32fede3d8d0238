#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pattern_fields.sh MONGORESHAPE - check lists the fields that names with stars match; a run
# does not; a step with a star is one step.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool

# lists NAME WANT STEP: the notes of check on the fields of STEP, the same for any number of threads
lists() {
    printf 'database: t\nsteps:\n  - %s\n' "$3" > plan.yaml
    for jobs in 1 3; do
        is "$1, $jobs threads" "$2" \
            "$("$tool" check plan.yaml -i in -j $jobs 2>&1 | grep '^note: .* fits ' | grep -v 'fits no field')"
    done
}

mkdir -p case/in
printf '%s\n' '{"_id":{"tmp_0":1},"tmp_b":1,"tmp_a":2,"x":{"tmp_c":1}}' \
    '{"_id":2,"x":{"l":[{"tmp_d":1},[{"tmp_e":1,"tmp_d":2}]]},"tmp_b":"\u001b[31m"}' > case/in/t.a.jsonl
for ((i = 0; i < 3000; i++)); do
    printf '{"_id":%d,"n%02d":1}\n' $i $((i * 7 % 30))
done > case/in/t.many.jsonl
"$casetool" load case in

note="note: step 1, t.a:"
lists "one level" "$note \`tmp_*\` fits \`tmp_a\`, \`tmp_b\`" 'unset: { in: a, fields: ["tmp_*"] }'
lists "any level" "$note \`**.tmp_*\` fits \`tmp_a\`, \`tmp_b\`, \`x.l.tmp_d\`, \`x.l.tmp_e\`, \`x.tmp_c\`" \
    'rename: { in: a, fields: { "**.tmp_*": "t_*" } }'
lists "values" "$note \`x.**\` fits \`x\`, \`x.l\`, \`x.l.tmp_d\`, \`x.l.tmp_e\`, \`x.tmp_c\`" \
    'set: { in: a, fields: { "x.**": $$VALUE } }'
lists "names alone" "$note \`tmp_*\` fits \`tmp_a\`, \`tmp_b\`" 'pack: { in: a, fields: [tmp_*], as: list }'
lists "new ids" "$note \`tmp_*\` fits \`tmp_a\`, \`tmp_b\`" 'set: { in: a, fields: { _id: { n: $_id }, "tmp_*": 1 } }'
lists "none" "" 'unset: { in: a, fields: ["no_*"] }'
lists "many" "note: step 1, t.many: \`n*\` fits$(printf ' `n%02d`,' {0..19} | sed 's/,$//') and others" \
    'unset: { in: many, fields: ["n*"] }'
is "as JSON" '"patterns":[{"step":1,"ns":"t.a","pattern":"tmp_*","fields":["tmp_a","tmp_b"],"more":false}]' \
    "$(printf 'steps:\n  - unset: { in: a, fields: ["tmp_*"] }\n' > plan.yaml
    "$tool" check plan.yaml -i in --json | grep -o '"patterns":[^]]*][^]]*]')"
is "the steps of a plan are those that it has" "Plan: 1 step, by the rules of MongoDB 8.3" "$(
    printf 'database: t\nsteps:\n  - set: { in: "*", fields: { y: 1 } }\n' > stars.yaml
    "$tool" explain stars.yaml -i in | head -n 1)"
"$tool" run plan.yaml -i in -o out > log 2>&1
is "a run" "0 0" "$? $(grep -c ' fits ' log)"
echo "pattern_fields: $passed passed, $failed failed"
[ $failed = 0 ]
