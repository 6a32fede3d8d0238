#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# index_paths.sh MONGORESHAPE - after a step of each family an index on its output: no path is reported as missing in
# all documents, except the misspelt one; in one thread and several, with much memory and little, in check too.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool
mkdir in
cat > plan.yaml << 'END'
plan: indexes on what steps make
steps:
  - embed: { from: c, into: p, match: { p: _id }, as: cs, drop: [p] }
  - index: { in: p, create: [{ key: { "cs.t": 1 } }, { key: { n: 1 } }] }
  - copy: { from: p, into: q, match: { _id: p }, fields: [n], as: pn }
  - index: { in: q, create: [{ key: { "pn.n": 1 } }] }
  - rollup: { from: q, into: r, by: "$p", fields: { s: { $sum: 1 } } }
  - index: { in: r, create: [{ key: { s: 1 } }] }
  - rekey: { in: k, id: "$no", old: was, references: { kr: [k] } }
  - index: { in: k, create: [{ key: { was: 1 } }] }
  - index: { in: kr, create: [{ key: { k: 1 } }] }
  - window: { in: w, sort: { a: 1 }, fields: { no: { $documentNumber: {} } } }
  - index: { in: w, create: [{ key: { no: 1 } }] }
  - tree: { in: tr, form: parent, to_form: path }
  - index: { in: tr, create: [{ key: { path: 1, x: 1 } }] }
  - bucket: { from: m, into: mb, by: [s], time: t, every: 1h, items: i, start: start, end: end, keep: none }
  - index: { in: mb, create: [{ key: { "i.v": 1 } }] }
  - extract: { from: e, path: parts, into: ep, refs: child, unique: [a], child_refs: parts }
  - index: { in: ep, create: [{ key: { a: 1 } }] }
  - index: { in: e, create: [{ key: { parts: 1 } }] }
  - split: { from: sp, fields: [big], into: sp2 }
  - index: { in: sp2, create: [{ key: { big: 1 } }] }
  - grid: { into: g, by: { x: [1, 2], y: [1] } }
  - index: { in: g, create: [{ key: { x: 1 } }] }
  - link: { parent: lp, child: lc, parent_ref: owner, child_refs: kids, derive: child_refs }
  - index: { in: lp, create: [{ key: { kids: 1 } }] }
  - copy_collection: { from: lp, into: lp2 }
  - index: { in: lp2, create: [{ key: { kids: 1, ok: 1 } }] }
  - union: { from: [u1, u2], into: u, tag: kind }
  - index: { in: u, create: [{ key: { kind: 1, a: 1 } }] }
  - partition: { from: u, by: kind, into: { u1: ua, u2: ub } }
  - index: { in: ua, create: [{ key: { a: 1, kind: 1 } }] }
  - set: { in: s, fields: { _id: { $add: ["$_id", 1] }, z: 1 } }
  - index: { in: s, create: [{ key: { z: 1 } }] }
  - rename_collection: { from: s, into: s2 }
  - index: { in: s2, create: [{ key: { y: 1 } }] }
  - index: { in: untouched, create: [{ key: { mail: 1 } }] }
  - index: { in: untouched, create: [{ key: { mial: 1 } }] }
END
documents() { printf '%s\n' "$2" > "in/t.$1.jsonl"; }
documents c '{"_id":1,"p":1,"t":2}'
documents p '{"_id":1,"n":2}'
documents q '{"_id":1,"p":1}'
documents k '{"_id":1,"no":5}'
documents kr '{"_id":1,"k":1}'
documents w '{"_id":1,"a":1}'
documents tr '{"_id":"a","parent":null,"x":1}'
documents m '{"_id":1,"s":1,"t":{"$date":"2020-01-01T00:00:00Z"},"v":1}'
documents e '{"_id":1,"parts":[{"a":1}]}'
documents sp '{"_id":1,"big":1}'
documents lp '{"_id":1,"ok":1}'
documents lc '{"_id":1,"owner":1}'
documents u1 '{"_id":1,"a":1}'
documents u2 '{"_id":2,"a":1}'
documents s '{"_id":1,"y":1}'
documents untouched '{"_id":1,"mail":1}'
"$casetool" load . dump
want='note: step 36, t.untouched: no document has `mial` (`mail`?)'
for how in "-j 1" "-j 3 --memory 4K"; do
    # shellcheck disable=SC2086
    "$tool" run plan.yaml -i dump -o out --force $how > log 2>&1
    is "$how" "0 $want" "$? $(grep 'no document has' log)"
done
"$tool" check plan.yaml -i dump > log 2>&1
is "check" "0 note: step 36, t.untouched: no document has \`mial\`; the nearest that is there: \`mail\`" "$? $(grep 'no document has' log)"

# _ids are compared without the collection's collation
mkdir -p collated/in
echo '{"_id":"a"}' > collated/in/t.c.jsonl
echo '{"_id":"A"}' > collated/in/t.k.jsonl
echo '{"options":{"collation":{"locale":"en","strength":2}},"indexes":[{"v":2,"key":{"_id":1},"name":"_id_"}],"collectionName":"k"}' > collated/in/t.k.metadata.json
printf 'steps:\n  - move: { from: c, into: k }\n' > collated/plan.yaml
"$casetool" load collated collated/dump
"$tool" check collated/plan.yaml -i collated/dump > log 2>&1
want='note: only a server can say whether the result fits unique index _id_ of t.k: its collation was not checked'
is "_id_ with a collation" "$want" "$(grep 'only a server' log)"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
