/* SPDX-License-Identifier: Apache-2.0 */
/* The plans that writers disturb: every step that may run alongside writers, alone and in company. */
#include "writers.h"

const struct scenario writers_scenarios[] = {
    {.name = "set", .live_contract = true, .claims = {{"c", "d2"}},
     .steps = "  - set: { in: posts, fields: { d2: \"$d\", c: { $concat: [\"$a\", \"-\", \"$b\"] } } }\n"},
    {.name = "rename", .new_fields = true, .live_contract = true, .claims = {{"z", "y"}},
     .steps = "  - rename: { in: posts, fields: { a: z, d: y } }\n"},
    {.name = "nested", .new_fields = true, .live_contract = true, .claims = {{"s.d", "s.z", "s.w", "m"}},
     .steps = "  - rename: { in: posts, fields: { d: s.d, s.t: s.z, a: m.a } }\n"
              "  - set: { in: posts, fields: { s.w: { $concat: [\"$b\", \"!\"] } } }\n"},
    {.name = "fused", .new_fields = true, .live_contract = true, .claims = {{"c", "y"}},
     .steps = "  - set: { in: posts, fields: { c: { $concat: [\"$a\", \"-\", \"$b\"] } } }\n"
              "  - rename: { in: posts, fields: { d: y } }\n"
              "  - unset: { in: posts, fields: [a] }\n"},
    {.name = "pack", .new_fields = true, .live_contract = true, .claims = {{"attrs"}},
     .steps = "  - pack: { in: posts, fields: [a, d], as: attrs }\n"},
    {.name = "cast-order", .live_contract = true,
     .steps = "  - cast: { in: posts, fields: { d: string } }\n"
              "  - order: { in: posts, fields: [_id, d, b] }\n"},
    {.name = "embed", .new_fields = true, .claims = {{"comments", "many"}},
     .steps = "  - embed: { from: comments, into: posts, match: { postId: _id }, as: comments, drop: [postId],\n"
              "             sort: { n: 1, _id: 1 }, count: many }\n"},
    {.name = "embed-one", .new_fields = true, .claims = {{"top"}},
     .steps = "  - embed: { from: comments, into: posts, match: { postId: _id }, as: top, one: true, many: last,\n"
              "             sort: { n: 1, _id: 1 } }\n"},
    {.name = "embed-refs", .children = BY_REFS, .claims = {{"partDocs"}},
     .steps = "  - embed: { from: comments, into: posts, match: { _id: parts }, as: partDocs, keep: all }\n"},
    {.name = "extract", .new_fields = true, .children = BY_ITEMS, .claims = {{"itemCount"}},
     .steps = "  - extract: { from: posts, path: items, into: items, parent_ref: postId, position: pos,\n"
              "               count: itemCount }\n"},
    {.name = "prepared", .new_fields = true, .children = BY_ITEMS, .claims = {{"itemCount"}},
     .steps = "  - set: { in: posts, fields: { items: { $map: { input: $items, in: { $mergeObjects: [ $$this,\n"
              "           { n: { $add: [ { $ifNull: [ $$this.n, 0 ] }, 1 ] }, of: $b } ] } } } } }\n"
              "  - extract: { from: posts, path: items, into: items, parent_ref: postId, position: pos,\n"
              "               count: itemCount }\n"},
    {.name = "prepared-move", .new_fields = true, .claims = {{"c"}},
     .steps = "  - cast: { in: posts, fields: { d: string } }\n"
              "  - set: { in: posts, fields: { c: { $concat: [\"$a\", \"-\", \"$b\"] } } }\n"
              "  - move: { from: posts, into: archive, where: { d: { $gte: \"5\" } } }\n"},
    {.name = "prepared-where", .new_fields = true, .children = BY_ITEMS, .claims = {{"c", "itemCount"}},
     .steps = "  - cast: { in: posts, fields: { d: string } }\n"
              "  - set: { in: posts, fields: { c: { $concat: [\"$a\", \"-\", \"$b\"] } } }\n"
              "  - extract: { from: posts, path: items, into: items, parent_ref: postId, position: pos,\n"
              "               count: itemCount, where: { d: { $gte: \"5\" } } }\n"},
    {.name = "prepared-split", .new_fields = true, .claims = {{"c", "y"}},
     .steps = "  - set: { in: posts, fields: { c: { $concat: [\"$a\", \"-\", \"$b\"] } } }\n"
              "  - rename: { in: posts, fields: { d: y } }\n"
              "  - split: { from: posts, fields: [b, c, a], into: cold, where: { b: { $in: [b1, b3] } } }\n"},
    {.name = "prepared-partition", .new_fields = true,
     .steps = "  - cast: { in: posts, fields: { d: string } }\n"
              "  - set: { in: posts, fields: { b: { $toLower: $b } } }\n"
              "  - partition: { from: posts, by: b, into: { b1: ones, b2: twos }, others: keep }\n"},
    {.name = "copy", .claims = {{0}, {"post"}},
     .steps = "  - copy: { from: posts, into: comments, match: { _id: postId }, fields: [a, b], as: post,\n"
              "            at: root }\n"},
    {.name = "rollup", .claims = {{"many", "most", "first"}},
     .steps = "  - rollup: { from: comments, into: posts, match: { postId: _id }, sort: { n: 1, _id: 1 },\n"
              "              fields: { many: { $sum: 1 }, most: { $max: \"$n\" }, first: { $first: \"$text\" } } }\n"},
    {.name = "rollup-take", .new_fields = true, .claims = {{"many"}},
     .steps = "  - rollup: { from: comments, into: posts, match: { postId: _id }, fields: { many: { $sum: 1 } },\n"
              "              keep: unmatched }\n"},
    {.name = "move", .new_fields = true,
     .steps = "  - move: { from: posts, into: archive, where: { b: { $in: [b1, b3] } } }\n"},
    {.name = "union", .new_fields = true,
     .steps = "  - union: { from: { p: posts, c: comments }, into: all, tag: kind }\n"},
    {.name = "partition", .new_fields = true,
     .steps = "  - partition: { from: posts, by: b, into: { b1: ones, b2: twos }, others: keep }\n"},
    {.name = "split", .new_fields = true, .children = BY_ITEMS,
     .steps = "  - split: { from: posts, fields: [b, items], into: cold }\n"},
    {.name = "two-steps", .children = BY_ITEMS, .claims = {{0}, {"body"}},
     .steps = "  - extract: { from: posts, path: items, into: items, parent_ref: postId, position: pos }\n"
              "  - rename: { in: comments, fields: { text: body } }\n"},
    {.name = "chain", .claims = {{"c"}, {"copied"}},
     .steps = "  - set: { in: posts, fields: { c: { $concat: [\"$a\", \"-\", \"$b\"] } } }\n"
              "  - copy: { from: posts, into: comments, match: { _id: postId }, fields: { copied: \"$c\" } }\n"},
    {.name = "direct-set", .direct = true,
     .steps = "  - set: { in: posts, fields: { c: { $concat: [\"$a\", \"-\", \"$b\"] } } }\n"},
    {.name = "direct-copy", .direct = true, .claims = {{0}, {"pa"}},
     .steps = "  - copy: { from: posts, into: comments, match: { _id: postId }, fields: { pa: \"$a\" },\n"
              "            replace: true }\n"},
    {.name = "in-place", .live_contract = true,
     .steps = "  - set: { in: posts, fields: { a: { $toUpper: $a }, d: { $toString: $d },\n"
              "           items: { $map: { input: $items, in: { $mergeObjects: [ $$this, { kind: part } ] } } } } }\n"
              "  - set: { in: posts, where: { b: { $not: { $type: array } } }, fields: { b: [ $b ] } }\n"},
    {.name = "direct-in-place", .direct = true,
     .steps = "  - set: { in: posts, fields: { a: { $toUpper: $a }, d: { $toString: $d },\n"
              "           items: { $map: { input: $items, in: { $mergeObjects: [ $$this, { kind: part } ] } } } } }\n"
              "  - set: { in: posts, where: { b: { $not: { $type: array } } }, fields: { b: [ $b ] } }\n"},
    {.name = "direct-replace", .direct = true,
     .steps = "  - replace: { in: posts, with: { $mergeObjects: [ $$ROOT, { a: { $toUpper: $a }, kind: post } ] } }\n"},
    {.name = "direct-cast", .direct = true,
     .steps = "  - cast: { in: posts, fields: { d: string, b: string } }\n"},
    {.name = "quiet-embed", .quiet = true,
     .steps = "  - embed: { from: comments, into: posts, match: { postId: _id }, as: comments, drop: [postId],\n"
              "             sort: { n: 1, _id: 1 }, count: many }\n"},
    {.name = "quiet-extract", .quiet = true,
     .steps = "  - extract: { from: posts, path: items, into: items, parent_ref: postId, position: pos,\n"
              "               count: itemCount }\n"
              "  - set: { in: posts, fields: { d: { $add: [\"$d\", 1] } } }\n"
              "  - move: { from: posts, into: archive, where: { b: b1 } }\n"},
    {.name = NULL}};
