/* SPDX-License-Identifier: Apache-2.0 */
/* scenes.c - the plans and dumps of the scenes: together they cover every path of the engine.
 *
 * A budget below 64 MiB limits only gathered data, so 4 KiB to 64 KiB lead small dumps through spills, merges and
 * parents larger than memory. */
#include "dumps.h"

#define EMBED_ALL                                                                                                    \
    "  - embed: { from: logs, into: hosts, match: { host: _id }, as: logs, sort: { day: -1 }, count: n, limit: 4,\n" \
    "             overflow: { into: more, size: 5, ref: host, number: page, items: logs, flag: hasMore },\n"         \
    "             orphans: { into: lost }, drop: [host] }\n"
#define WITH_LOSSES                                                                                                  \
    "steps:\n"                                                                                                       \
    "  - embed: { from: users, into: posts, match: { _id: owner }, as: owner }\n"                                    \
    "  - cast: { in: posts, fields: { n: string } }\n"                                                               \
    "  - drop_collection: { in: guests }\n"
#define EMBED_LARGE                                                                                                  \
    "steps:\n"                                                                                                       \
    "  - embed: { from: logs, into: hosts, match: { host: _id }, as: logs, sort: { day: 1 }, drop: [host] }\n"

#define SET_ALL                                                                                                      \
    "steps:\n"                                                                                                       \
    "  - set: { in: users, fields: { m: 1 } }\n"                                                                     \
    "  - set: { in: posts, fields: { m: 1 } }\n"                                                                     \
    "  - set: { in: guests, fields: { m: 1 } }\n"

const struct scene scenes[] = {
    {.name = "copy", .plan = "steps: []\n"},
    {.name = "copy to gzip",
     .plan = "steps: []\n",
     .compress = {MRS_CODEC_GZIP, 1}},
    {.name = "one-document steps",
     .max_refused = 9,
     .plan = "steps:\n"
             "  - set: { in: users, fields: { first: { $arrayElemAt: [{ $split: [\"$name\", \" \"] }, 1] } } }\n"
             "  - cast: { in: users, fields: { age: int } }\n"
             "  - rename: { in: users, fields: { name: full } }\n"
             "  - unset: { in: users, fields: [tags] }\n"
             "  - order: { in: users, fields: [_id, full] }\n"},
    {.name = "one-document steps, zstd",
     .codec = MRS_CODEC_ZSTD,
     .jobs = 2,
     .compress = {MRS_CODEC_AS_INPUT, 0},
     .plan = "steps:\n  - set: { in: users, fields: { a: 1, \"city.b\": 2 } }\n"},
    {.name = "too many refused",
     .max_refused = 0,
     .meets = true,
     .plan = "steps:\n  - cast: { in: users, fields: { age: int } }\n  - unset: { in: posts, fields: [s] }\n"},
    {.name = "amended",
     .amend = "{\"ns\":\"d.users\",\"doc\":{\"_id\":5,\"name\":\"user 5\",\"age\":\"77\"}}\n"
              "{\"ns\":\"d.guests\",\"doc\":{\"_id\":4,\"name\":\"Eve\"}}\n",
     .plan = "steps:\n  - cast: { in: users, fields: { age: int } }\n"},
    {.name = "extract",
     .plan = "steps:\n  - extract: { from: posts, path: lines, into: parts, parent_ref: post, id: new, count: c }\n"},
    {.name = "extract, gzip",
     .codec = MRS_CODEC_GZIP,
     .compress = {MRS_CODEC_AS_INPUT, 0},
     .plan = "steps:\n"
             "  - extract: { from: posts, path: lines, into: parts, parent_ref: post, refs: both, child_refs: l }\n"},
    {.name = "extract, unique",
     .memory = 4096,
     .max_refused = 99,
     .plan = "steps:\n"
             "  - extract: { from: posts, path: lines, into: parts, refs: child, child_refs: parts, unique: [p],\n"
             "               id: new }\n"},
    {.name = "extract, unique, conflicts",
     .jobs = 2,
     .max_refused = 99,
     .plan = "steps:\n  - extract: { from: posts, path: lines, into: parts, refs: both, parent_ref: posts,\n"
             "               child_refs: parts, unique: [p] }\n"},
    {.name = "move",
     .plan = "steps:\n  - move: { from: posts, into: old, where: { n: { $lt: 2 } } }\n"
             "  - split: { from: posts, fields: [lines], into: details }\n"},
    {.name = "move, _ids in conflict",
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99,
     .plan = "steps:\n  - move: { from: guests, into: users, where: { _id: { $lt: 30 } } }\n"
             "  - move: { from: posts, into: users, where: { n: { $lt: 2 } }, conflicts: last }\n"},
    {.name = "union, _ids in conflict",
     .memory = 4096,
     .max_refused = 99,
     .plan = "steps:\n  - union: { from: { u: users, g: guests }, into: people, tag: kind }\n"},
    {.name = "union, the last wins",
     .memory = 4096,
     .plan = "steps:\n  - union: { from: { u: users, g: guests }, into: people, tag: kind, conflicts: last }\n"},
    {.name = "partition, delete",
     .jobs = 2,
     .max_refused = 99,
     .plan = "steps:\n"
             "  - partition: { from: posts, by: n, into: [{ value: 1, into: ones }, { value: 2, into: twos }] }\n"
             "  - delete: { in: posts, where: { n: 0 } }\n"},
    {.name = "pack, unpack",
     .max_refused = 9,
     .plan = "steps:\n"
             "  - pack: { in: users, fields: [n*, age], as: l }\n"
             "  - unpack: { in: users, as: l, prefix: x_ }\n"
             "  - pack: { in: posts, fields: [s], as: o.l }\n"
             "  - pack: { in: posts, fields: [\"*\"], as: p, form: document }\n"
             "  - unpack: { in: posts, as: p, prefix: p_, form: document }\n"},
    {.name = "link",
     .dump = dump_wide,
     .memory = 4096,
     .max_refused = 999,
     .plan = "steps:\n"
             "  - link: { parent: hosts, child: logs, parent_ref: host, child_refs: logs, derive: both,\n"
             "            sort: { day: -1 } }\n"
             "  - link: { parent: hosts, child: logs, parent_ref: host, child_refs: logs, derive: parent_ref,\n"
             "            strip: child_refs, dangling: refuse }\n"},
    {.name = "link, one collection",
     .jobs = 2,
     .max_refused = 999,
     .plan = "steps:\n"
             "  - link: { parent: posts, child: posts, parent_ref: n, child_refs: kids.list, derive: both,\n"
             "            prefer: child, dangling: drop }\n"},
    {.name = "link, written again", /* parents that cannot hold what they would gain */
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 999,
     .plan = "steps:\n"
             "  - link: { parent: hosts, child: logs, parent_ref: host, child_refs: three.list, derive: both }\n"},
    {.name = "link, orphans in conflict",
     .memory = 4096,
     .max_refused = 999,
     .plan = "steps:\n"
             "  - link: { parent: users, child: guests, parent_ref: boss, child_refs: tags, derive: parent_ref,\n"
             "            orphans: { into: posts } }\n"},
    {.name = "grid",
     .memory = 4096,
     .plan = "steps:\n"
             "  - grid: { into: cells, by: { n: { from: posts, field: n }, x: { $range: [0, 4] } },\n"
             "            id: { $concat: [{ $toString: \"$n\" }, { $toString: \"$x\" }] }, fields: { y: \"$n\" } }\n"},
    {.name = "grid, _ids in conflict",
     .jobs = 2,
     .max_refused = 999,
     .plan = "steps:\n"
             "  - grid: { into: posts, by: { x: [1, 2], n: { from: posts, field: n } }, id: $x }\n"},
    {.name = "set of _id",
     .max_refused = 99,
     .plan = "steps:\n  - set: { in: posts, fields: { _id: { $mod: [\"$_id\", 20] } } }\n"},
    {.name = "catalogue",
     .plan = "steps:\n  - index: { in: posts, create: [{ key: { n: 1 } }], drop: [owner_1] }\n"
             "  - options: { in: posts, validator: { n: { $gte: 0 } } }\n"
             "  - rename_collection: { from: users, into: people }\n"
             "  - drop_collection: { in: guests }\n"},
    {.name = "lookup", .dump = dump_wide, .plan = "steps:\n" EMBED_ALL},
    {.name = "route", .dump = dump_wide, .memory = 20000, .plan = "steps:\n" EMBED_ALL},
    {.name = "route, mapped",
     .dump = dump_wide,
     .memory = 40000,
     .max_refused = 99,
     .plan = "steps:\n"
             "  - embed: { from: logs, into: hosts, match: { host: _id }, as: logs, sort: { day: 1 }, keep: all }\n"
             "  - embed: { from: logs, into: hosts, match: { day: _id, k: two }, as: more, limit: 3 }\n"},
    {.name = "orphans in conflict",
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: users, into: posts, match: { age: n }, as: g, orphans: { into: guests } }\n"},
    {.name = "orphans in conflict, lookup",
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: guests, into: posts, match: { boss: n }, as: g, orphans: { into: users } }\n"
             "  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "merge", .dump = dump_wide, .memory = 4096, .plan = "steps:\n" EMBED_ALL},
    {.name = "merge, two workers", .dump = dump_wide, .memory = 4096, .jobs = 2, .plan = "steps:\n" EMBED_ALL},
    {.name = "route, two keys",
     .dump = dump_wide,
     .memory = 20000,
     .jobs = 2,
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: logs, into: hosts, match: { host: _id, k: two }, as: logs, keep: all }\n"},
    {.name = "heavy", .dump = dump_heavy, .memory = 65536, .plan = "steps:\n" EMBED_ALL},
    {.name = "heavy, in a file",
     .dump = dump_heavy,
     .memory = 16384,
     .plan = "steps:\n  - embed: { from: logs, into: hosts, match: { host: _id }, as: logs, sort: { day: 1 } }\n"},
    {.name = "heavy, mapped",
     .dump = dump_heavy_short,
     .memory = 26000,
     .jobs = 2,
     .plan = "steps:\n  - embed: { from: logs, into: hosts, match: { host: _id }, as: logs, drop: [host] }\n"},
    {.name = "sort fails",
     .dump = dump_wide,
     .memory = 20000,
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: hosts, into: logs, match: { _id: host }, as: hosts, sort: { two: 1, three: "
             "1 } }\n"},
    {.name = "sort fails, lookup",
     .dump = dump_wide,
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: hosts, into: logs, match: { _id: host }, as: hosts, sort: { two: 1, three: "
             "1 } }\n"},
    {.name = "into itself",
     .dump = dump_wide,
     .memory = 20000,
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: hosts, into: hosts, match: { two: _id }, as: same, keep: all,\n"
             "             sort: { two: 1, three: 1 } }\n"},
    {.name = "in place",
     .memory = 20000,
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: users, into: posts, match: { _id: owner }, as: owner, dangling: refuse, "
             "keep: all }\n"},
    {.name = "pages",
     .memory = 20000,
     .max_refused = 99,
     .plan = "steps:\n  - extract: { from: posts, path: lines, into: parts, leave: { limit: 1 }, count: c,\n"
             "               pages: { size: 2, ref: post, number: n2, items: l, flag: more } }\n"},
    {.name = "copy, wrapped",
     .max_refused = 99,
     .plan = "steps:\n  - copy: { from: users, into: posts, match: { _id: owner }, fields: [name], wrap: id }\n"
             "  - set: { in: users, fields: { _id: \"$name\" } }\n"},
    {.name = "copy fields",
     .dump = dump_wide,
     .max_refused = 999,
     .plan =
         "steps:\n"
         "  - copy: { from: hosts, into: logs, match: { _id: host }, fields: [name], as: h, dangling: refuse }\n"},
    {.name = "copy fields, spilled",
     .dump = dump_wide,
     .memory = 4096,
     .plan = "steps:\n  - copy: { from: hosts, into: logs, match: { _id: host }, fields: [name], as: h }\n"
             "  - set: { in: logs, fields: { z: 1 } }\n"},
    {.name = "a file",
     .dump = dump_single,
     .in = "in/d/one.bson",
     .out = "two.bson",
     .single_ns = "d.one",
     .plan = "steps:\n  - set: { in: one, fields: { m: 1 } }\n"},
    {.name = "a file, replaced",
     .dump = dump_single,
     .in = "in/d/one.bson",
     .out = "two.bson",
     .single_ns = "d.one",
     .force = true,
     .plan = "steps:\n  - set: { in: one, fields: { m: 1 } }\n"},
    {.name = "a stream",
     .dump = dump_single,
     .in = "in/d/one.bson",
     .out = "-",
     .single_ns = "d.one",
     .to_stdout = true,
     .plan = "steps:\n  - set: { in: one, fields: { m: 1 } }\n"},
    {.name = "a folder, replaced",
     .force = true,
     .exclude = "d.guests",
     .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "dry run",
     .memory = 4096,
     .dry_run = true,
     .max_refused = 99,
     .plan = "steps:\n  - union: { from: { u: users, g: guests }, into: people, tag: kind }\n"
             "  - set: { in: people, fields: { m: 1 } }\n"},
    {.name = "dry run with notices",
     .memory = 4096,
     .dry_run = true,
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: users, into: posts, match: { _id: owner }, reference: into,\n"
             "             as: user, one: true }\n"
             "  - cast: { in: posts, fields: { s: int } }\n"
             "  - index: { in: posts, create: [{ key: { n: 1 }, unique: true, partialFilterExpression:\n"
             "             { n: { $gt: 0 } } }] }\n"},
    {.name = "an archive",
     .form = FORM_ARCHIVE,
     .max_refused = 9,
     .plan = SET_ALL},
    {.name = "an archive, embedded",
     .form = FORM_ARCHIVE,
     .memory = 20000,
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: users, into: posts, match: { _id: owner }, as: owner, dangling: refuse, "
             "keep: all }\n"},
    {.name = "an archive, gzip, two workers",
     .form = FORM_ARCHIVE,
     .codec = MRS_CODEC_GZIP,
     .jobs = 2,
     .exclude = "d.guests",
     .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "an archive, piped",
     .form = FORM_ARCHIVE,
     .piped = true,
     .plan = SET_ALL},
    {.name = "an archive, gzip, piped",
     .form = FORM_ARCHIVE,
     .codec = MRS_CODEC_GZIP,
     .piped = true,
     .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "tar", .form = FORM_TAR, .plan = SET_ALL},
    {.name = "tar, zstd",
     .form = FORM_TAR,
     .codec = MRS_CODEC_ZSTD,
     .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "zip", .form = FORM_ZIP, .plan = SET_ALL},
    {.name = "7z", .form = FORM_7Z, .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "to an archive", .out = "out.archive", .max_refused = 9, .plan = SET_ALL},
    {.name = "archive to archive, gzip",
     .form = FORM_ARCHIVE,
     .codec = MRS_CODEC_GZIP,
     .out = "out.archive",
     .compress = {MRS_CODEC_GZIP, 1},
     .jobs = 2,
     .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "an archive, replaced",
     .form = FORM_ARCHIVE,
     .out = "out.archive",
     .force = true,
     .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "archive pipe to pipe",
     .form = FORM_ARCHIVE,
     .piped = true,
     .out = "-",
     .to_stdout = true,
     .made = MRS_FORMAT_ARCHIVE,
     .plan = SET_ALL},
    {.name = "archive, streamed",
     .form = FORM_ARCHIVE,
     .piped = true,
     .out = "-",
     .to_stdout = true,
     .stream = true,
     .made = MRS_FORMAT_ARCHIVE,
     .plan = SET_ALL},
    {.name = "archive, streamed, embedded",
     .form = FORM_ARCHIVE,
     .out = "-",
     .to_stdout = true,
     .stream = true,
     .made = MRS_FORMAT_ARCHIVE,
     .memory = 20000,
     .max_refused = 99,
     .plan = "steps:\n  - embed: { from: users, into: posts, match: { _id: owner }, as: owner, dangling: refuse, "
             "keep: all }\n"},
    {.name = "to tar", .out = "out.tar", .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "tar to tar, zstd",
     .form = FORM_TAR,
     .out = "out.tar",
     .jobs = 2,
     .compress = {MRS_CODEC_ZSTD, 1},
     .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "zip to zip",
     .form = FORM_ZIP,
     .out = "out.zip",
     .plan = "steps:\n  - set: { in: users, fields: { m: 1 } }\n"},
    {.name = "zstd, three workers",
     .dump = dump_thick,
     .codec = MRS_CODEC_ZSTD,
     .jobs = 3,
     .compress = {MRS_CODEC_ZSTD, 1},
     .plan = "steps:\n  - set: { in: one, fields: { m: 1 } }\n"},
    {.name = "gzip, three workers",
     .dump = dump_thick,
     .codec = MRS_CODEC_GZIP,
     .jobs = 3,
     .compress = {MRS_CODEC_GZIP, 1},
     .plan = "steps:\n  - set: { in: one, fields: { m: 1 } }\n"},
    {.name = "large",
     .dump = dump_large,
     .memory = 1 << 20,
     .jobs = 2,
     .killed = true,
     .max_refused = 9,
     .plan = "steps:\n"
             "  - embed: { from: logs, into: hosts, match: { host: _id }, as: logs, sort: { day: 1 }, keep: all,\n"
             "             limit: 9 }\n"
             "  - union: { from: [hosts], into: all, tag: kind }\n"},
    {.name = "large, archive to archive",
     .dump = dump_large,
     .form = FORM_ARCHIVE,
     .out = "out.archive",
     .memory = 1 << 20,
     .jobs = 2,
     .killed = true,
     .plan = EMBED_LARGE},
    {.name = "large, tar to zip",
     .dump = dump_large,
     .form = FORM_TAR,
     .codec = MRS_CODEC_ZSTD,
     .out = "out.zip",
     .memory = 1 << 20,
     .jobs = 2,
     .killed = true,
     .plan = EMBED_LARGE},
    {.name = "large, replaced",
     .dump = dump_large,
     .memory = 1 << 20,
     .jobs = 2,
     .killed = true,
     .force = true,
     .plan = "steps:\n  - embed: { from: logs, into: hosts, match: { host: _id }, as: logs, keep: all }\n"},
    {.name = "marks, one-document steps, zstd",
     .dump = dump_large,
     .codec = MRS_CODEC_ZSTD,
     .memory = 64 << 20,
     .jobs = 2,
     .max_refused = 99,
     .compress = {MRS_CODEC_AS_INPUT, 0},
     .marked = true,
     .plan = "steps:\n  - set: { in: logs, fields: { x: { $divide: [1, { $mod: [\"$_id\", 997] }] } } }\n"},
    {.name = "marks, an archive",
     .dump = dump_large,
     .out = "out.archive",
     .memory = 64 << 20,
     .jobs = 1,
     .compress = {MRS_CODEC_NONE, 0},
     .marked = true,
     .plan = "steps:\n  - move: { from: logs, into: old, where: { day: 3 } }\n"},
    {.name = "marks, copied to gzip",
     .dump = dump_large,
     .memory = 64 << 20,
     .jobs = 1,
     .compress = {MRS_CODEC_GZIP, 1},
     .marked = true,
     .plan = "steps: []\n"},
    {.name = "marks, the last wins",
     .dump = dump_large,
     .memory = 4096,
     .jobs = 2,
     .marked = true,
     .plan = "steps:\n  - union: { from: { l: logs, h: hosts }, into: all, tag: kind, conflicts: last }\n"},
    {.name = "marks, behind what is there",
     .dump = dump_large,
     .memory = 1 << 20,
     .jobs = 2,
     .max_refused = 9999,
     .compress = {MRS_CODEC_ZSTD, 1},
     .marked = true,
     .plan = "steps:\n"
             "  - set: { in: logs, fields: { x: { $divide: [1, { $mod: [\"$_id\", 997] }] } } }\n"
             "  - move: { from: hosts, into: logs, where: { _id: { $gte: 2900 } } }\n"
             "  - partition: { from: logs, by: day, into: { 1: ones }, others: keep }\n"},
    {.name = "marks, copied",
     .dump = dump_large,
     .jobs = 1,
     .marked = true,
     .plan = "steps: []\n"},
    {.name = "marks, a copied archive to gzip",
     .dump = dump_large,
     .form = FORM_ARCHIVE,
     .out = "out.archive",
     .jobs = 2,
     .compress = {MRS_CODEC_GZIP, 1},
     .marked = true,
     .plan = "steps:\n  - set: { in: hosts, fields: { m: 1 } }\n"},
    {.name = "marks, to tar",
     .dump = dump_large,
     .out = "out.tar",
     .jobs = 1,
     .marked = true,
     .plan = "steps:\n  - set: { in: hosts, fields: { m: 1 } }\n"},
    {.name = "marks, tar to zstd, replaced",
     .dump = dump_large,
     .form = FORM_TAR,
     .out = "out.tar",
     .jobs = 2,
     .force = true,
     .compress = {MRS_CODEC_ZSTD, 1},
     .marked = true,
     .plan = "steps:\n  - set: { in: hosts, fields: { m: 1 } }\n"},
    {.name = "marks, to zip",
     .dump = dump_large,
     .out = "out.zip",
     .jobs = 2,
     .marked = true,
     .plan = "steps:\n  - set: { in: hosts, fields: { m: 1 } }\n"},
    {.name = "marks, files aside",
     .dump = dump_large,
     .memory = 1 << 20,
     .jobs = 2,
     .aside = true,
     .marked = true,
     .plan = "steps:\n"
             "  - union: { from: { l: logs, h: hosts }, into: all, tag: kind, conflicts: last }\n"
             "  - move: { from: all, into: old, where: { day: 3 } }\n"
             "  - cast: { in: old, fields: { day: string } }\n"},
    {.name = "residue",
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99,
     .way = WAY_RESIDUE,
     .plan = WITH_LOSSES},
    {.name = "residue, way back",
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99,
     .way = WAY_BACK,
     .plan = WITH_LOSSES},
    {.name = "large, residue",
     .dump = dump_large,
     .memory = 1 << 20,
     .jobs = 2,
     .killed = true,
     .way = WAY_RESIDUE,
     .plan = EMBED_LARGE},
    {.name = "large, way back",
     .dump = dump_large,
     .memory = 1 << 20,
     .jobs = 2,
     .killed = true,
     .way = WAY_BACK,
     .plan = EMBED_LARGE},
    {.name = "bucket",
     .dump = dump_wide,
     .plan = "steps:\n"
             "  - bucket: { from: logs, into: days, by: [host], time: day, max: 4, items: l, drop: [_id], keep: none,\n"
             "              set: { n: { $sum: 1 }, last: { $max: \"$day\" } } }\n"
             "  - set: { in: days, fields: { m: { $size: \"$l\" } } }\n"},
    {.name = "bucket, sorted on disk, equal ids",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "steps:\n"
             "  - bucket: { from: logs, into: hosts, by: [host, day], max: 9, items: l, id: \"$host\", keep: none,\n"
             "              where: { day: { $ne: 3 } } }\n"},
    {.name = "rollup",
     .dump = dump_wide,
     .memory = 300000,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "steps:\n"
             "  - rollup: { from: logs, into: sums, by: \"$host\", sort: { day: -1 },\n"
             "              fields: { n: { $sum: 1 }, days: { $push: \"$day\" }, first: { $first: \"$$ROOT\" } } }\n"},
    {.name = "rollup, groups in memory",
     .dump = dump_wide,
     .jobs = 2,
     .plan = "steps:\n"
             "  - rollup: { from: logs, into: sums, by: \"$host\", keep: none, where: { day: { $ne: 3 } },\n"
             "              fields: { n: { $sum: 1 }, last: { $max: \"$day\" } } }\n"
             "  - set: { in: sums, fields: { m: { $add: [\"$n\", 1] } } }\n"},
    {.name = "rollup, groups outgrow memory",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .plan = "steps:\n"
             "  - rollup: { from: logs, into: sums, by: \"$host\", keep: none,\n"
             "              fields: { n: { $sum: 1 }, last: { $max: \"$text\" } } }\n"},
    {.name = "rollup, a group fails",
     .dump = dump_wide,
     .max_refused = 99999,
     .plan = "steps:\n"
             "  - cast: { in: logs, fields: { k: int } }\n"
             "  - rollup: { from: logs, into: sums, by: \"$host\", where: { k: { $ne: 4 } },\n"
             "              fields: { n: { $sum: 1 }, high: { $max: { $divide: [1, \"$day\"] } } } }\n"},
    {.name = "rollup, one group on disk",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .plan = "steps:\n"
             "  - rollup: { from: logs, into: sums, by: null, sort: { day: -1 }, keep: none,\n"
             "              fields: { n: { $sum: 1 }, days: { $addToSet: \"$day\" }, last: { $last: \"$$ROOT\" },\n"
             "              low: { $minN: { input: \"$text\", n: 3 } }, dev: { $stdDevPop: \"$k\" } } }\n"},
    {.name = "rollup, one group on disk fails",
     .dump = dump_wide,
     .memory = 4096,
     .max_refused = 99999,
     .plan = "steps:\n"
             "  - rollup: { from: logs, into: sums, by: { $gt: [\"$k\", 3] }, sort: { day: -1 },\n"
             "              fields: { n: { $sum: 1 },\n"
             "                        no: { $max: { $divide: [1, { $subtract: [\"$day\", 17] }] } } } }\n"},
    {.name = "marks, rollup",
     .dump = dump_large,
     .memory = 64 << 20,
     .jobs = 2,
     .marked = true,
     .plan = "steps:\n"
             "  - rollup: { from: logs, into: sums, by: \"$host\", keep: none,\n"
             "              fields: { n: { $sum: 1 }, last: { $max: \"$day\" } } }\n"},
    {.name = "bucket, nothing leaves",
     .dump = dump_wide,
     .memory = 65536,
     .jobs = 2,
     .plan = "steps:\n"
             "  - bucket: { from: logs, into: days, by: [host], time: day, max: 4, items: l, keep: all,\n"
             "              where: { k: { $ne: 2 } } }\n"},
    {.name = "bucket, a series outgrows memory",
     .dump = dump_heavy,
     .memory = 16384,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "steps:\n"
             "  - bucket: { from: logs, into: days, by: [host], time: { $divide: [60, { $mod: [\"$day\", 17] }] },\n"
             "              max: 7, items: l, keep: none }\n"},
    {.name = "bucket, one series on disk",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .plan = "steps:\n"
             "  - bucket: { from: logs, into: days, time: day, max: 7, items: l, start: since, end: to, keep: none,\n"
             "              set: { n: { $sum: 1 }, hosts: { $addToSet: \"$host\" }, m: { $size: \"$l\" } } }\n"},
    {.name = "bucket, one series on disk, equal ids",
     .dump = dump_wide,
     .memory = 4096,
     .max_refused = 99999,
     .plan = "steps:\n"
             "  - bucket: { from: logs, into: hosts, max: 7, items: l, id: { $mod: [{ $first: \"$l._id\" }, 40] } }\n"},
    {.name = "bucket, the last wins",
     .dump = dump_wide,
     .memory = 4096,
     .plan = "steps:\n"
             "  - bucket: { from: logs, into: hosts, by: [host, day], max: 2, items: l, id: \"$host\",\n"
             "              conflicts: last, keep: none }\n"},
    {.name = "marks, bucket",
     .dump = dump_large,
     .memory = 2 << 20,
     .jobs = 1,
     .marked = true,
     .plan = "steps:\n"
             "  - bucket: { from: logs, into: days, by: [day], max: 200, items: l, keep: none,\n"
             "              where: { day: { $ne: 3 } } }\n"},
    {.name = "tree",
     .dump = dump_wide,
     .plan = "steps:\n"
             "  - set: { in: hosts, fields: { parent: { $floor: { $divide: [\"$_id\", 3] } } } }\n"
             "  - tree: { in: hosts, form: parent, to_form: nested }\n"
             "  - tree: { in: hosts, form: nested, to_form: children }\n"
             "  - tree: { in: hosts, form: children, to_form: ancestors }\n"},
    {.name = "tree, on disk, with damage",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "steps:\n"
             "  - tree: { in: logs, form: nested, to_form: children, names: { left: k, right: day } }\n"
             "  - tree: { in: hosts, form: children, to_form: nested, names: { children: two, left: name },\n"
             "            replace: true }\n"},
    {.name = "tree, paths and ancestors",
     .dump = dump_wide,
     .memory = 20000,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "steps:\n"
             "  - set: { in: hosts, fields: { _id: { $toString: \"$_id\" } } }\n"
             "  - set: { in: hosts, fields: { parent: { $toString: { $toInt: { $floor: { $divide: [\n"
             "             { $toInt: \"$_id\" }, 3] } } } } } }\n"
             "  - tree: { in: hosts, form: parent, to_form: path }\n"
             "  - tree: { in: hosts, form: path, to_form: ancestors }\n"
             "  - tree: { in: hosts, form: ancestors, to_form: parent }\n"},
    {.name = "marks, link, tables in files",
     .dump = dump_large,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .marked = true,
     .plan = "steps:\n"
             "  - link: { parent: hosts, child: logs, parent_ref: host, child_refs: logs, derive: both,\n"
             "            sort: { day: -1 }, dangling: drop }\n"},
    {.name = "marks, tree, tables in files",
     .dump = dump_large,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .marked = true,
     .plan = "steps:\n"
             "  - set: { in: logs, fields: { parent: { $floor: { $divide: [\"$_id\", 3] } } } }\n"
             "  - tree: { in: logs, form: parent, to_form: nested }\n"},
    {.name = "window, in memory",
     .dump = dump_wide,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - window: { in: logs, by: $host, sort: { day: 1 }, fields: {\n"
             "      no: { $documentNumber: {} }, last: { $push: $text, window: { documents: [-2, 0] } },\n"
             "      mean: { $expMovingAvg: { input: $k, N: 3 } }, all: { $sum: $k, window: group },\n"
             "      near: { $max: $k, window: { range: [-3, 3] } }, gap: { $linearFill: $k } } }\n"},
    {.name = "window, on disk",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - window: { in: logs, by: { h: $host }, sort: { day: -1, _id: 1 }, where: { k: { $ne: 2 } },\n"
             "      fields: { texts: { $addToSet: $text, window: running },\n"
             "      mid: { $median: { input: $k, method: approximate } },\n"
             "      before: { $shift: { output: { $divide: [1, $k] }, by: -1 } } } }\n"},
    {.name = "rekey, references",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - rekey: { in: hosts, id: $name, old: was.id, dangling: drop,\n"
             "      references: { logs: host, hosts: two } }\n"},
    {.name = "rekey, merged",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - rekey: { in: logs, merge: { by: { h: $host, d: { $mod: [$day, 3] } }, sort: { text: -1 },\n"
             "      fields: { texts: { $push: $text } }, dropped: { into: gone } }, old: ids,\n"
             "      references: { hosts: [two] } }\n"
             "  - rekey: { in: hosts, merge: { by: { t: $two }, any: [t], dropped: drop } }\n"},
    {.name = "conditions on other collections",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - set: { in: logs, fields: { known: true }, where: { host: { $in: { from: hosts, field: two,\n"
             "      where: { $expr: { $gt: [{ $divide: [1, { $subtract: [$_id, 5] }] }, -1] } } } } } }\n"
             "  - delete: { in: hosts, where: { _id: { $nin: { from: logs, field: host,\n"
             "      where: { day: { $in: { from: hosts, field: _id } } } } } } }\n"},
    {.name = "paths with stars",
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - rename: { in: posts, fields: { \"**.p*\": \"part_*\" } }\n"
             "  - set: { in: posts, fields: { \"lines.*\": { $concat: [$$NAME, { $toString: $$VALUE }] } } }\n"
             "  - unset: { in: users, fields: [\"n*\"] }\n"
             "  - cast: { in: users, fields: { \"**\": string }, types: [int], errors: keep }\n"},
    {.name = "names with stars, whole documents",
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - copy_collection: { from: users, into: users_2 }\n"
             "  - replace: { in: \"users*\", with: { all: $$ROOT, n: { $divide: [1, $_id] } } }\n"
             "  - partition: { from: posts, by: n, into: { \"*\": \"posts_*\" } }\n"
             "  - union: { from: \"posts_*\", into: posts_again, tag: n_was, conflicts: last }\n"},
    {.name = "parts inside of parts",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - set: { in: hosts, fields: { parent: { $floor: { $divide: [$_id, 3] } } } }\n"
             "  - tree: { in: hosts, form: parent, to_form: embedded, names: { embedded: in } }\n"
             "  - extract: { from: hosts, path: in, into: inner, nested: { path: in, parent_ref: up },\n"
             "      parent_ref: top, refs: parent }\n"},
    {.name = "parts that are fields, trees in one document",
     .dump = dump_wide,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - set: { in: logs, fields: { m: { a: { x: $k }, b: { x: 1 } } }, where: { k: { $lt: 3 } } }\n"
             "  - extract: { from: logs, path: m, into: parts, parent_ref: log, map: letter, count: letters }\n"
             "  - set: { in: hosts, fields: { in: [{ name: $name }, { _id: { $add: [$_id, 500] },\n"
             "      in: { $cond: [{ $isArray: $three }, 3, [{ n: 1 }]] } }] } }\n"
             "  - tree: { in: hosts, form: embedded, to_form: ancestors, names: { embedded: in } }\n"},
    {.name = "time series",
     .dump = dump_series,
     .memory = 4096,
     .jobs = 2,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - rollup: { from: s, into: sums, by: $m, fields: { v: { $sum: $v }, n: { $sum: 1 } } }\n"
             "  - set: { in: devices, fields: { x: 1 }, where: { _id: { $in: { from: s, field: m } } } }\n"
             "  - delete: { in: s, where: { $expr: { $gt: [{ $multiply: [$v, 2] }, 13] } } }\n"},
    {.name = "time series that is only read",
     .dump = dump_series,
     .codec = MRS_CODEC_GZIP,
     .memory = 4096,
     .max_refused = 99999,
     .plan = "version: 2\n"
             "steps:\n"
             "  - rollup: { from: s, into: sums, by: { $add: [$v, 1] }, fields: { n: { $sum: 1 } } }\n"},
    {.name = "a million",
     .dump = dump_many,
     .memory = 65536,
     .jobs = 2,
     .slow = true,
     .plan = "steps:\n  - embed: { from: logs, into: hosts, match: { _id: _id }, as: logs }\n"},
};
const unsigned n_scenes = sizeof scenes / sizeof *scenes;
