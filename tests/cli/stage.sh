#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stage.sh TOOL - `explain --stage`: its text on steps, the stages before and after the stage, and what the reader has
# to do. tests/host/run.sh checks that the extension accepts each stage shown.
set -u
tool=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
ok() { if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1"; fi; }

# plan YAML: what is said of these steps of database shop, in $tmp/text and $tmp/json
plan() {
    printf 'database: shop\nsteps:\n%s\n' "$1" > "$tmp/plan.yaml"
    "$tool" explain "$tmp/plan.yaml" --stage > "$tmp/text" 2> "$tmp/err" || cat "$tmp/err"
    "$tool" explain "$tmp/plan.yaml" --stage --json > "$tmp/json" 2> "$tmp/err" || cat "$tmp/err"
}
says() { grep -qF -- "$1" "$tmp/${2:-text}"; ok "$1: $(cat "$tmp/text")" $?; }
never() { ! grep -qF -- "$1" "$tmp/text"; ok "not said: $1: $(cat "$tmp/text")" $?; }

plan '- embed: { from: comments, into: posts, match: { postId: _id }, as: comments, limit: 20 }'
sed -n '/^\/\/ step 1: embed/,/^\])$/p' "$here/../../docs/SERVER.md" > "$tmp/shown"
[ -s "$tmp/shown" ] && diff "$tmp/shown" "$tmp/text"
ok "what docs/SERVER.md shows" $?
plan '- set: { in: orders, where: { n: { $numberLong: "5" } }, fields: { m: 1 } }'
says '// step 1: set: class one'
says 'db.getSiblingDB("shop").getCollection("orders").aggregate(['
says '{"$numberLong":"5"}'
says '"whenMatched":[{"$replaceWith":"$$new"}],"whenNotMatched":"discard"'
says '"of":"shop.orders","emit":"shop.orders","class":"one","notes":[],"pipeline":[{"$reshape"' json
plan '- move: { from: { db: "o", coll: "odd\"name" }, into: old }'
says 'getSiblingDB("o").getCollection("odd\"name")'
says '"of":{"db":"o","coll":"odd\"name"}'
says '"into":{"db":"shop","coll":"old"}'
says '"whenMatched":"fail","whenNotMatched":"insert"'
says 'what it takes out of o.odd"name has to be removed there'
plan '- extract: { from: posts, path: comments, into: comments, parent_ref: postId }'
says 'documents of shop.posts come out as those of shop.posts: class many'
says 'documents of shop.posts come out as those of shop.comments: class many'

# ---- what stands before ----
plan '- bucket: { from: readings, into: days, items: r, by: [sensor], time: at, every: 1d }'
says '{"$sort":{"sensor":1,"at":1,"_id":1}}'
says 'class grouped'
plan '- rollup: { from: orders, into: totals, by: { c: $customer }, fields: { l: { $last: $n } }, sort: { when: -1 } }'
says '{"$sort":{"customer":1,"when":-1,"_id":1}}'
plan '- rollup: { from: orders, into: totals, by: { $toLower: $customer }, fields: { n: { $sum: 1 } } }'
says 'it groups by an expression: put a $sort before'
never '{"$sort"'
plan '- rename: { in: orders, fields: { customer: c } }
- rollup: { from: orders, into: totals, by: { c: $c }, fields: { n: { $sum: 1 } } }'
says 'it groups what earlier steps made: put a $sort before'
plan '- embed: { from: { db: other, coll: c }, into: p, match: { p: _id }, as: c }'
says 'lie in another database, which a $lookup does not reach'
plan '- embed: { from: c, into: p, match: [ { from: { $toLower: $p }, into: name } ], as: c }'
says 'are matched by an expression: bring those that may match in the field __mrs_c'
plan '- rename: { in: p, fields: { n: k } }
- embed: { from: c, into: p, match: { p: k }, as: c }'
says 'are matched by what an earlier step changes'
never '{"$lookup"'
plan '- embed: { from: c.d, into: p, match: { p: _id }, as: c }
- rollup: { from: c.d, into: p, match: { p: _id }, fields: { n: { $sum: 1 } } }'
[ "$(grep -c '"as":"__mrs_c_d"' "$tmp/text")" = 1 ]
ok "one \$lookup for two steps: $(cat "$tmp/text")" $?

plan '- rollup: { from: o, into: t, by: { c: $c, d: $d }, sort: { d: -1, _id: -1 }, fields: { n: { $push: $x } } }'
says '{"$sort":{"c":1,"d":1,"_id":-1}}'
plan '- bucket: { from: o, into: t, by: [c, t], time: t, max: 9, items: i }'
says '{"$sort":{"c":1,"t":1,"_id":1}}'

# ---- what is no stage ----
plan '- set: { in: a, fields: { x: 1 } }
- link: { parent: a, child: b, child_refs: x, parent_ref: y, derive: both }'
says '// step 1: set: class one'
says '// step 2: link: no stage: the step needs whole collections at once'
says '// the plan as a whole is no stage'
never 'aggregate'
says '"stages":[]' json
plan '- index: { in: a, create: [ { key: { x: 1 } } ] }'
says 'no stage: the step changes a collection'
plan '- rollup: { from: o, into: t, by: { c: $c }, fields: { n: { $sum: 1 } } }
- rollup: { from: t, into: u, by: { n: $n }, fields: { k: { $sum: 1 } } }'
says 'a stage can group once: make two plans of it'
plan '- set: { in: "order*", fields: { m: 1 } }'
says 'names with stars stand for the collections of an input'
never aggregate
printf 'steps:\n- set: { in: orders, fields: { m: 1 } }\n' > "$tmp/plan.yaml"
"$tool" explain "$tmp/plan.yaml" --stage > "$tmp/text"
says 'getSiblingDB("db")'
never '"database"'
echo "$passed passed, $failed failed"
[ $failed = 0 ]
