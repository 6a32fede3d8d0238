#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pipeline.sh TOOL - `explain --pipeline`: every step of every case is a pipeline or has a reason, types are preserved,
# and the page shows the same script for the shell. tests/live/pipeline.sh checks the results.
set -u
tool=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
ok() { if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1"; fi; }

for plan in "$here"/../cases/*/*/plan.yaml; do
    "$tool" explain "$plan" --pipeline --json > "$tmp/json" 2> "$tmp/err"
    [ $? = 2 ] && continue # a plan with mistakes
    steps=$("$tool" explain "$plan" --json 2> "$tmp/err" | grep -o '"step":[0-9]*' | sort -u | wc -l)
    grep -q '^{"steps":\[.*\]}$' "$tmp/json" || [ "$steps" = 0 ]
    ok "$plan: one JSON object" $?
    said=$(grep -oE '"type":"[a-z_]+","(reason|db)":' "$tmp/json" | wc -l)
    [ "$said" = "$(grep -oE '"step":\{"\$numberInt":"[0-9]+"\}' "$tmp/json" | wc -l)" ]
    ok "$plan: each step is a pipeline or says why not" $?
done

cat > "$tmp/plan.yaml" << 'YAML'
database: shop
steps:
- rename: { in: orders, fields: { when: at } }
- set: { in: orders, where: { n: { $numberLong: "5" } }, fields: { m: { a: $n } } }
- move: { from: "odd\"name\e[2J\n", into: old }
- link: { parent: a, child: b, child_refs: x, parent_ref: y, derive: both }
YAML
"$tool" explain "$tmp/plan.yaml" --pipeline > "$tmp/text" 2>&1
sed -n '/^\/\/ must be 0/,/^db.*aggregate/p' "$here/../../docs/SERVER.md" > "$tmp/shown"
[ -s "$tmp/shown" ] && sed -n '2,4p' "$tmp/text" | cmp - "$tmp/shown"
ok "the lines that docs/SERVER.md shows" $?
grep -qF '{"$set":{"m":{"$mergeObjects":[{"a":"$n"}]}}}' "$tmp/text"
ok "a document is a value" $?
grep -qF '{"$match":{"n":{"$numberLong":"5"}}}, { relaxed: false })' "$tmp/text"
ok "types are kept" $?
grep -qF 'getCollection("odd\"name\x1b[2J\x0a").deleteMany(EJSON.deserialize({}), { collation: { locale: "simple" } })' "$tmp/text"
ok "names are quoted, strings compared byte by byte" $?
[ "$(grep -cF '], { collation: { locale: "simple" }, hint: { _id: 1 } })' "$tmp/text")" = 4 ]
ok "writes in place go along the index of _id" $?
[ "$(grep -cE '^\](\)|, \{ hint)' "$tmp/text")" = 0 ]
ok "no pipeline without a collation" $?
for sort in 'k.0: 1' 'a: 1, k.1.b: -1'; do
    cat > "$tmp/plan.yaml" << YAML
database: shop
steps:
- embed: { from: a, into: b, match: { p: _id }, as: c, sort: { $sort } }
- link: { parent: a, child: b, child_refs: x, parent_ref: y, derive: child_refs, sort: { $sort } }
- rollup: { from: a, into: b, match: { p: _id }, fields: { n: { \$sum: 1 } }, sort: { $sort } }
- window: { in: a, fields: { n: { \$documentNumber: {} } }, sort: { $sort } }
YAML
    [ "$("$tool" explain "$tmp/plan.yaml" --pipeline 2> "$tmp/err" | grep -c 'a number in a path of `sort`')" = 4 ] &&
        [ "$(grep -c 'is the name of a field, not a place in an array$' "$tmp/err")" = 4 ]
    ok "sort: { $sort }: servers would sort by elements of arrays" $?
done
# a reason names the key
reason() { # STEP KEY
    printf 'database: shop\nsteps:\n- %s\n' "$1" > "$tmp/plan.yaml"
    "$tool" explain "$tmp/plan.yaml" --pipeline 2> "$tmp/err" | grep -q "no pipeline: \`$2\`.*: use the client engine$"
    ok "the reason names $2" $?
}
embed='embed: { from: a, into: b, match: { p: _id }, as: c'
reason "$embed, limit: 3 }" limit
reason "$embed, limit: 3, overflow: { into: o, size: 1, ref: p, number: n, items: i } }" overflow
reason "$embed, orphans: drop }" orphans
reason "$embed, replace: true }" replace
reason 'copy: { from: a, into: b, match: { _id: p }, fields: [x], keep: none, orphans: keep }' keep
reason 'rollup: { from: a, into: g, by: $k, as: s, fields: { n: { $sum: 1 } } }' as
reason 'extract: { from: a, path: l, into: i, refs: child, child_refs: q, id: keep }' child_refs
reason 'bucket: { from: r, into: k, by: { s: $s }, time: t, items: l, id: { s: $s }, untimed: keep, keep: none }' untimed
# names of a document in the order of JavaScript, and not
said() { "$tool" explain "$tmp/plan.yaml" --pipeline | grep -c 'not in a shell'; }
printf 'database: d\nsteps:\n- set: { in: c, fields: { 2023: 1, 2024: 2, x: 3, "01": [4, 5] } }\n' > "$tmp/plan.yaml"
[ "$(said)" = 0 ]
ok "numbers first and in their order are as in JavaScript" $?
for fields in '{ x: 1, 2024: 2 }' '{ 2024: 1, 2023: 2 }' '{ x: { $literal: { a: 1, 0: 2 } } }' '{ __proto__: 1 }'; do
    printf 'database: d\nsteps:\n- set: { in: c, fields: %s }\n' "$fields" > "$tmp/plan.yaml"
    [ "$(said)" -gt 0 ]
    ok "a shell would change $fields" $?
done
printf 'version: 2\nsteps: []\n' > "$tmp/plan.yaml"
[ "$("$tool" explain "$tmp/plan.yaml" --pipeline)" = "// the plan has no steps" ]
ok "a plan without steps says so" $?
echo "$passed passed, $failed failed"
[ $failed = 0 ]
