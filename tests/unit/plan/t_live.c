/* SPDX-License-Identifier: Apache-2.0 */
/* t_live.c - the static rule over real steps: verdicts of plans, the reasons they give, and what steps tell engines
 * that read by index.
 *
 * The counterexamples are those for which deferring removals is known to go wrong: a list of removals cannot show a
 * change, deriving again must be a no-op, names of old and new must not meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "mongoreshape/ejson.h"
#include "mongoreshape/live.h"

#define TEXT 16384

static struct mrs_plan *
load(struct mrs_mem *mem, const char *steps, bool *dead)
{
    char text[TEXT];
    struct mrs_plan *p = NULL;
    struct mrs_err e;
    struct mrs_plan_opts o = {.file = "t.yaml", .default_db = "d", .now_ms = 1};
    mrs_err_clear(&e);
    snprintf(text, sizeof text, "version: 2\nsteps:\n%s", steps);
    enum mrs_status s = mrs_plan_load(mem, text, strlen(text), &o, &p, &e);
    *dead = s == MRS_DEAD;
    if (s == MRS_FAIL) {
        fail_msg("%s\n%s", steps, p->errors[0].msg);
    }
    return s == MRS_OK ? p : NULL;
}

/* ---- verdicts ---- */
struct verdict {
    const char *steps;
    const char *expand;  /* NULL: it may; else a part of the reason */
    const char *direct;
    const char *shape;   /* groups: '+' adds, '-' removes, 'c' contract alongside writers, 'v' after verified, ":a,b"
                            claims, "~x" gone */
};

static const struct verdict verdicts[] = {
    {"- set: {in: a, fields: {x: $y}}\n", NULL, NULL, "+c:x"},
    {"- set: {in: a, fields: {n: {$add: [$n, 1]}}}\n", "reads what it writes", "reads what it writes", "-"},
    {"- set: {in: a, where: {v: {$ne: 2}}, fields: {n: {$add: [$n, 1]}, v: 2}}\n", NULL, NULL, "-c"},
    {"- set: {in: a, where: {v: {$ne: 2}}, fields: {n: 1, v: 2}}\n", NULL, NULL, "-c"},
    {"- set: {in: a, fields: {x: $$ROOT}}\n", "reads what it writes", "reads what it writes", "-"},
    {"- set: {in: a, fields: {p.q: 1}}\n", NULL, NULL, "+c:p.q"},
    {"- set: {in: a, fields: {p.q: $p.r}}\n", NULL, NULL, "+c:p.q"},
    {"- set: {in: a, fields: {p.q: $p}}\n", "reads what it writes", "", NULL},
    {"- rename: {in: a, fields: {x.a: x.b, y: x.c}}\n", NULL, "takes names away", "+-c:x.b,x.c~x.a,y"},
    {"- set: {in: a, fields: {p.q: 1}}\n- index: {in: b, create: [{key: {q: 1}}]}\n- set: {in: a, fields: {z: 1}}\n",
     NULL, NULL, "+c:p.q  +c:z"},
    {"- set: {in: a, fields: {_id: $k}}\n", "`_id` cannot change in place", "`_id` cannot", "+-:_id"},
    {"- set: {in: a, fields: {x: $$REMOVE, y: 1}}\n", NULL, "takes fields away", "+-c:y~x"},
    {"- unset: {in: a, fields: [x]}\n", NULL, "takes fields away", "-c~x"},
    {"- cast: {in: a, fields: {x: int}}\n", NULL, NULL, "-c"},
    {"- cast: {in: a, fields: {_id: int}}\n", "`_id` cannot", "`_id` cannot", "-"},
    {"- order: {in: a, fields: [x]}\n", NULL, NULL, "-c"},
    {"- rename: {in: a, fields: {x: y}}\n", NULL, "takes names away", "+-c:y~x"},
    {"- rename: {in: a, fields: {x: y, y: x}}\n", "which it adds itself", "takes names away", "+-c:y,x"},
    {"- pack: {in: a, fields: [x, y], as: l}\n", NULL, "takes fields away", "+-c:l~x,y"},
    {"- pack: {in: a, fields: [x, y], as: o.l}\n", NULL, "takes fields away", "+-c:o.l~x,y"},
    {"- pack: {in: a, fields: [x, y_*], as: l}\n", "a pattern takes", "a pattern takes", "+-:l~x,y_*"},
    /* names with a star that several collections may match */
    {"- set: {in: 'a*', fields: {x: 1}}\n", NULL, NULL, "+c:x"},
    {"- move: {from: 'a*', into: 'b*'}\n", NULL, "documents leave", NULL},
    {"- move: {from: 'a*', into: b}\n", "add to d.b only one may", "documents leave", NULL},
    {"- union: {from: 'a*', into: b}\n", NULL, "documents leave", NULL},
    {"- unpack: {in: a, as: l, prefix: x_}\n", "how the fields are called", "how the fields are called", "+-:x_*~l"},
    /* a step that leaves its own `where` false may meet its documents again */
#define X "in: a, where: {x: "
#define E "in: a, where: {$expr: "
#define ONCE "reads what it writes"
    {"- set: {" X "{$type: string}}, fields: {x: {$toInt: {$concat: [$x, '0']}}}}\n", NULL, NULL, NULL},
    {"- set: {" X "{$type: [string, 'null']}}, fields: {x: {$toInt: {$concat: [$x, '0']}}}}\n",
     ONCE, "migrated: { $ne: 1 }", NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$toInt: {$concat: [$x, '0']}}}, errors: 'null'}\n", NULL, NULL, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$toInt: {$concat: [$x, '0']}}}, errors: keep}\n",
     ONCE, "{ migrated: 1 }", NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$convert: {input: {$concat: [$x, '0']}, to: int}}}}\n",
     NULL, NULL, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$convert: {input: {$concat: [$x, '0']}, to: int, onError: $x}}}}\n",
     ONCE, ONCE, NULL},
    {"- set: {" X "{$type: number}}, fields: {x: {$toString: {$add: [$x, 1]}}}}\n", NULL, NULL, NULL},
    {"- set: {" X "{$type: int}}, fields: {x: {$toLong: {$add: [$x, 1]}}}}\n", NULL, NULL, NULL},
    {"- set: {" X "{$type: number}}, fields: {x: {$toLong: {$add: [$x, 1]}}}}\n", ONCE, ONCE, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$split: [$x, ',']}}}\n", ONCE, ONCE, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: [{$toInt: {$concat: [$x, '0']}}]}}\n", NULL, NULL, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: [$x]}}\n", ONCE, ONCE, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {first: $x}}}\n", NULL, NULL, NULL},
    {"- set: {" X "{$not: {$type: array}}}, fields: {x: [$x]}}\n", NULL, NULL, NULL},
    {"- set: {" X "{$not: {$type: array}}}, fields: {x: [$x]}, errors: 'null'}\n", ONCE, ONCE, NULL},
    {"- set: {" X "{$not: {$type: string}}}, fields: {x: {$toString: {$add: [$x, 1]}}}}\n", ONCE, ONCE, NULL},
    {"- set: {" X "{$not: {$type: string}}}, fields: {x: {$ifNull: [{$toString: {$add: [$x, 1]}}, '']}}}\n",
     NULL, NULL, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$multiply: [{$toInt: $x}, 100]}}}\n", NULL, NULL, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$let: {vars: {v: $x}, in: {a: $$v}}}}}\n", NULL, NULL, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$let: {vars: {v: $x}, in: $$v.a}}}}\n", ONCE, ONCE, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$switch: {branches: [{case: $y, then: 1}], default: {a: $x}}}}}\n",
     NULL, NULL, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$switch: {branches: [{case: $y, then: $x.a}], default: 1}}}}\n",
     ONCE, ONCE, NULL},
    /* of $expr the type is that of the value itself */
    {"- set: {" E "{$eq: [{$type: $x}, string]}}, fields: {x: {$split: [$x, ',']}}}\n", NULL, NULL, NULL},
    {"- set: {" E "{$eq: [{$type: $y}, string]}}, fields: {x: {$split: [$x, ',']}}}\n", ONCE, ONCE, NULL},
    {"- set: {" E "{$ne: [{$type: $x}, string]}}, fields: {x: {$split: [$x, ',']}}}\n", ONCE, ONCE, NULL},
    {"- set: {" E "{$not: [{$isArray: $x}]}}, fields: {x: [$x]}, errors: keep}\n", ONCE, ONCE, NULL},
    {"- set: {" E "{$in: [{$type: $x}, [string, 'null']]}}, fields: {x: {$split: [$x, ',']}}}\n", ONCE, ONCE, NULL},
    {"- set: {" E "{$not: [{$isArray: $x}]}}, fields: {x: [$x]}}\n", NULL, NULL, NULL},
    {"- set: {" E "{$and: [{$isNumber: $x}, {$lt: [$x, 9]}]}}, fields: {x: {$toString: {$add: [$x, 1]}}}}\n", NULL,
     NULL, NULL},
    {"- set: {" E "{$or: [{$isNumber: $x}, {$lt: [$x, 9]}]}}, fields: {x: {$toString: {$add: [$x, 1]}}}}\n", ONCE, ONCE,
     NULL},
    {"- set: {" E "{$eq: [{$type: $x.y}, string]}}, fields: {x.y: {$split: [$x.y, ',']}}}\n", ONCE, ONCE, NULL},
    /* patterns beside a mark, unless one ends at it */
    {"- set: {in: a, where: {m: {$ne: 1}}, fields: {m: 1, '**.x': [$$VALUE]}}\n", NULL, NULL, NULL},
    {"- set: {in: a, where: {m: {$ne: 1}}, fields: {m: 1, '**': [$$VALUE]}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {m: {$ne: 1}}, fields: {m: 1, 'm*': [$$VALUE]}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {m: {$ne: 1}}, fields: {m: 1, '**.m': [$$VALUE]}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {m: {$ne: 1}}, fields: {m: 1, 'm.*': [$$VALUE]}}\n", NULL, NULL, NULL},
    {"- set: {in: a, where: {m.x: {$exists: true}}, fields: {m: {y: [$m.x]}, 'm.*': {x: $$VALUE}}}\n", ONCE, ONCE,
     NULL},
    {"- set: {in: a, where: {m.n: {$type: string}}, fields: {m.n: 1, 'm.*': [$$VALUE]}}\n", ONCE, ONCE, NULL},
    /* a document that is written lacks the names that it does not have */
    {"- set: {in: a, where: {x.lat: {$gte: -90}}, fields: {x: {type: p, at: [$x.lng, $x.lat]}}}\n", NULL, NULL, NULL},
    {"- set: {in: a, where: {x.lat: {$gte: -90}}, fields: {x: {lat: $x.lng, lng: $x.lat}}}\n", ONCE, ONCE, NULL},
    {"- set: {" X "{$exists: true}}, fields: {x: {at: [$x]}}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {x.lat: {$ne: 5}}, fields: {x: {at: [$x.lng, $x.lat]}}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {x.lat: null}, fields: {x: {at: [$x.lng, $x.lat]}}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {x.lat.v: 1}, fields: {x: {latitude: $x.lat}}}\n", NULL, NULL, NULL},
    {"- set: {in: a, where: {x.lat.v: 1}, fields: {x: {lat: {v: [$x.lat.v]}}}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {x.lat: 1}, fields: {x: {$mergeObjects: [$x, {lat: [$x.lat]}]}}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {x.lat: 1}, fields: {x.p: {at: [$x.p.lat]}}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {y.lat: 1}, fields: {x: {at: [$x.lat]}}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {x.lat: 1}, fields: {x: {at: [$x.lat]}}, errors: drop}\n", NULL, NULL, NULL},
    {"- set: {in: a, where: {x.lat: 1}, fields: {x: {at: [$x.lat]}}, errors: keep}\n", ONCE, ONCE, NULL},
    {"- replace: {in: a, where: {x.lat: 1}, with: {$mergeObjects: [$$ROOT, {x: {at: [$x.lat]}}]}}\n", NULL, NULL,
     NULL},
    {"- replace: {in: a, where: {x.lat: 1}, with: {$mergeObjects: [$$ROOT, {x: {lat: [$x.lat]}}]}}\n", ONCE, ONCE,
     NULL},
    {"- set: {" X "{$exists: true}}, fields: {y: {$toUpper: $x}, x: $$REMOVE}}\n", NULL, NULL, NULL},
    {"- set: {in: a, where: {a.b: {$exists: true}}, fields: {a.c: {$ifNull: [$a.c, $a.b]}, a.b: $$REMOVE}}\n",
     NULL, NULL,
     NULL},
    {"- set: {in: a, where: {a.b: {$exists: true}}, fields: {a.c: [$a.c], a.b: $$REMOVE}, errors: drop}\n", ONCE, ONCE,
     NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$dateFromString: {dateString: $x}}}}\n", NULL, NULL, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$dateFromString: {dateString: $x, onError: $x}}}}\n", NULL, NULL,
     NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$dateFromString: {dateString: $x, timezone: $z, onError: $x}}}}\n",
     ONCE, ONCE, NULL},
    {"- set: {" X "{$type: string}}, fields: {x: {$dateFromString: {dateString: $x, onError: null}}}}\n", NULL, NULL,
     NULL},
    {"- set: {in: a, where: {m: {$exists: false}}, fields: {m: 1, x: [$x]}}\n", NULL, NULL, NULL},
    {"- set: {in: a, where: {m: {$exists: false}}, fields: {m: null, x: [$x]}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {m: {$ne: [1]}}, fields: {m: [1], x: [$x]}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {m: {$nin: [1, 2]}}, fields: {m: 1, x: [$x]}}\n", NULL, NULL, NULL},
    {"- set: {in: a, where: {m: {$nin: [3, 2]}}, fields: {m: 1, x: [$x]}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {m: {$ne: 1}}, fields: {m: 1, x: [$x]}, errors: keep}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {m.n: {$ne: 1}}, fields: {m.n: 1, x: [$x]}}\n", ONCE, ONCE, NULL},
    {"- set: {in: a, where: {a.b: {$type: string}}, fields: {a.b: {$toInt: {$concat: [$a.b, '0']}}}}\n",
     NULL, NULL, NULL},
    {"- set: {in: a, where: {a.b: {$type: string}}, fields: {a.b: {$toInt: {$concat: [$a.b, '0']}}}, errors: drop}\n",
     ONCE, ONCE, NULL},
    {"- set: {in: a, where: {$and: [{x: {$type: string}}, {y: 1}]}, fields: {x: {$toInt: {$concat: [$x, '0']}}}}\n",
     NULL, NULL, NULL},
    {"- set: {in: a, where: {$or: [{x: {$type: string}}, {y: 1}]}, fields: {x: {$toInt: {$concat: [$x, '0']}}}}\n",
     ONCE, ONCE, NULL},
    {"- replace: {in: a, with: {x: {$add: [$x, 1]}}}\n", ONCE, "`where: { migrated: { $ne: 1 } }`", NULL},
    {"- replace: {in: a, where: {m: {$ne: 1}}, with: {m: 1, x: {$add: [$x, 1]}}}\n", NULL, NULL, NULL},
    {"- replace: {in: a, where: {m: {$ne: 1}}, with: {m: 1, x: {$add: [$x, 1]}}, errors: keep}\n", ONCE, ONCE, NULL},
    {"- replace: {" X "{$exists: true}}, with: {y: $x}}\n", NULL, NULL, NULL},
    {"- replace: {" X "{$type: string}}, with: {x: {$toInt: {$concat: [$x, '0']}}}}\n", NULL, NULL, NULL},
    {"- replace: {in: a, where: {_id: {$exists: true}}, with: {y: $x}}\n", ONCE, ONCE, NULL},
    {"- replace: {in: a, where: {m: {$ne: 1}}, with: {$mergeObjects: [$$ROOT, {m: 1, x: [$x]}]}}\n", NULL, NULL, NULL},
    {"- replace: {" X "{$exists: true}}, with: {$mergeObjects: [$$ROOT, {m: 1, x: [$x]}]}}\n", ONCE, ONCE, NULL},
#undef X
#undef E
    /* a step that does not change again what it has made */
    {"- set: {in: a, fields: {x: {$toLower: $x}}}\n", NULL, NULL, "-c"},
    {"- set: {in: a, fields: {x: {$toLower: $x}, y: {$toUpper: $x}}}\n", "reads what it writes", "", NULL},
    {"- set: {in: a, fields: {x: {$toLower: $x}, y: {$max: [$z, $y]}}}\n", NULL, NULL, "-c"},
    {"- set: {in: a, fields: {x: {$toDate: $x}}, errors: 'null'}\n", NULL, NULL, "-c"},
    {"- set: {in: a, fields: {x: {$toDate: $x}}, errors: keep}\n", NULL, NULL, "-c"},
    {"- set: {in: a, fields: {x: {$dateFromString: {dateString: $x}}}, errors: keep}\n", NULL, NULL, "-c"},
    {"- set: {in: a, fields: {x: {$dateFromString: {dateString: $x}}}, errors: drop}\n", "reads what", "", NULL},
    {"- set: {in: a, fields: {'**': {$cond: [{$in: [$$VALUE, [null, '']]}, $$REMOVE, $$VALUE]}}}\n", NULL, NULL, "-c"},
    {"- set: {in: a, fields: {'**': {$cond: [{$isArray: [$$VALUE]}, {$slice: [$$VALUE, 1]}, $$VALUE]}}}\n",
     "reads what it writes", "reads what it writes", NULL},
    {"- set: {in: a, fields: {'**': {$ifNull: [$$VALUE, $z]}}}\n", "reads what it writes", "", NULL},
    {"- replace: {in: a, with: {x: $x, y: {z: $y.z}}}\n", NULL, NULL, "-c"},
    {"- replace: {in: a, with: {x: $y, y: $x}}\n", "reads what it writes", "reads what it writes", NULL},
    {"- set: {in: a, where: {y: 1}, fields: {y: 2, x: $$REMOVE}}\n", NULL, "takes fields away", "-c~x"},
    /* fused steps of one collection */
    {"- set: {in: a, fields: {x: $y}}\n- pack: {in: a, fields: [x], as: l}\n", NULL, "takes fields away",
     "+-c:x,l"},
    {"- pack: {in: a, fields: [x], as: l}\n- set: {in: a, fields: {x: 1}}\n", "which step 2 adds later",
     "takes fields away", "+-c:l,x"},
    {"- set: {in: a, fields: {x: $y}}\n- set: {in: a, fields: {z: $x}}\n", NULL, NULL, "+c:x,z"},
    {"- set: {in: a, fields: {z: $x}}\n- set: {in: a, fields: {x: $y}}\n", "reads `x` of d.a, which step 2 adds later",
     "changes `x` of d.a, which step 1 (set) reads", "+c:z,x"},
    {"- set: {in: a, fields: {c: $x}}\n- unset: {in: a, fields: [x]}\n", NULL, "takes fields away", "+-c:c~x"},
    {"- set: {in: a, fields: {c: {$type: $x}}}\n- cast: {in: a, fields: {x: int}}\n", NULL,
     "changes `x` of d.a, which step 1 (set) reads: done together twice", "+-:c"},
    {"- unset: {in: a, fields: [name]}\n- set: {in: a, fields: {name: 1}}\n", "removes or changes `name` of d.a, which "
     "step 2 adds later", "takes fields away", "+-c:name"},
    {"- rename: {in: a, fields: {a: b}}\n- set: {in: a, fields: {c: $b}}\n", NULL, "takes names away", "+-c:b,c~a"},
    {"- set: {in: a, fields: {x: 1}}\n- rename: {in: a, fields: {x: y}}\n", NULL, "takes names away", "+-c:x,y"},
    {"- cast: {in: a, fields: {v: int}}\n- set: {in: a, fields: {c: $v}}\n", NULL, NULL, "+-c:c"},
    {"- set: {in: a, fields: {x: $u}}\n- set: {in: a, fields: {x: $y}}\n", "and step 1 (set) adds it, too",
     "and step 1 (set) adds it, too", "+c:x"},
    {"- rename: {in: a, fields: {a: b}}\n- set: {in: a, fields: {b: 1}}\n", "adds `b` of d.a, and step 1 (rename) adds "
     "it, too", "takes names away", "+-c:b~a"},
    /* counterexamples: a change that is only made in contract is read, removed or met by a later group */
    {"- rename: {in: a, fields: {p: q}}\n- index: {in: a, create: [{key: {q: 1}}]}\n- set: {in: a, fields: {c: $p}}\n",
     "reads `p` of d.a, which is as step 1 (rename) makes it only after contract", "", NULL},
    {"- cast: {in: c, fields: {v: int}}\n- embed: {from: c, into: p, match: {k: _id}, as: cs, keep: all}\n",
     "step 2 (embed) reads `v` of d.c, which is as step 1 (cast)", "cannot be run twice", NULL},
    {"- cast: {in: c, fields: {v: int}}\n- embed: {from: c, into: p, match: {k: _id}, as: cs, fields: [w], keep: all, "
     "replace: true}\n", NULL, NULL, "-c +:cs"},
    {"- embed: {from: c, into: p, match: {k: _id}, as: cs}\n- copy: {from: c, into: l, match: {_id: h}, fields: [x]}\n",
     "reads", "documents leave", NULL},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: p}\n- set: {in: c2, fields: {x: 1}}\n",
     "step 2 (set) adds `x` of d.c2, and step 1 (extract) adds it, too", "", NULL},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: p}\n- unset: {in: c2, fields: [x]}\n",
     "removes or changes `x` of d.c2, which step 1 (extract) adds", "", NULL},
    {"- unset: {in: a, fields: [name]}\n- index: {in: b, create: [{key: {q: 1}}]}\n- set: {in: a, fields: {name: 1}}\n",
     "adds `name` of d.a, where step 1 (unset) leaves what was there until contract", "", NULL},
    {"- embed: {from: c, into: p, match: {k: _id}, as: cs}\n- extract: {from: p, path: top, into: c, parent_ref: r}\n",
     "adds documents of d.c, where step 1 (embed) leaves", "", NULL},
    {"- rename_collection: {from: a, into: b}\n- set: {in: b, fields: {x: 1}}\n", "the old one is gone", "", NULL},
    {"- copy: {from: h, into: l, match: {_id: h}, fields: [x], replace: true}\n- set: {in: h, fields: {x: 1}}\n",
     "adds `x` of d.h, which step 1 (copy) reads and would find", NULL, NULL},
    {"- embed: {from: c, into: p, match: {k: _id}, as: cs, orphans: {into: o}}\n- set: {in: o, fields: {x: 1}}\n",
     "adds `x` of d.o, where step 1 (embed) leaves", "", NULL},
    /* chains that are right: the next begins when the one before is verified */
    {"- set: {in: h, fields: {x: $y}}\n- copy: {from: h, into: l, match: {_id: h}, fields: [x], replace: true}\n", NULL,
     NULL, "+c:x v+:x"},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: p}\n- copy: {from: c2, into: l, match: {_id: h}, fields: "
     "[x]}\n", NULL, "", "+- v+:x"},
    {"- copy: {from: h, into: l, match: {_id: host}, fields: [ip], refs: drop, keep: none, orphans: drop}\n"
     "- drop_collection: {in: h}\n", NULL, "`refs: drop` takes away", "+-:ip -"},
    /* what steps say of themselves */
    {"- embed: {from: c, into: p, match: {k: _id}, as: cs}\n", NULL, "documents leave their collection", "+-:cs"},
    {"- embed: {from: c, into: p, match: {k: _id}, as: cs, keep: all, replace: true, count: n}\n", NULL, NULL,
     "+:cs,n"},
    {"- embed: {from: c, into: p, match: {k: _id}, as: cs, keep: all, replace: true, orphans: refuse}\n", NULL,
     "known only with writers stopped", "+-:cs"},
    {"- embed: {from: c, into: p, match: {_id: parts}, as: parts, keep: all}\n", "the reference itself",
     "the reference itself", "+-:parts"},
    {"- embed: {from: c, into: p, match: {_id: lines.c}, as: lines.doc, keep: all}\n", NULL, "exist already",
     "+:lines.doc"},
    {"- embed: {from: c, into: c, match: {k: _id}, as: cs, keep: all}\n", "one collection", "one collection", NULL},
    {"- embed: {from: c, into: p, match: {k: _id}, as: cs, overflow: {into: m, size: 3, ref: p, number: n, items: "
     "i}}\n", "moves all pages", "moves all pages", NULL},
    {"- rollup: {from: c, into: p, match: {k: _id}, fields: {n: {$sum: 1}, v: {$max: $v}}, replace: true}\n", NULL,
     NULL, "+:n,v"},
    {"- rollup: {from: c, into: p, match: {k: _id}, as: s, fields: {n: {$sum: 1}}}\n", NULL, "cannot be run twice",
     "+:s"},
    {"- rollup: {from: c, into: p, match: {k: _id}, fields: {n: {$sum: 1}}, keep: unmatched, replace: true}\n", NULL,
     "documents leave their collection", "+-:n"},
    {"- rollup: {from: c, into: p, match: {k: _id}, fields: {n: {$sum: 1}}, orphans: refuse, replace: true}\n", NULL,
     "known only with writers stopped", "+-:n"},
    {"- rollup: {from: c, into: c, match: {k: _id}, fields: {n: {$sum: 1}}}\n", "one collection", "one collection",
     NULL},
    {"- rollup: {from: c, into: g, by: $k, fields: {n: {$sum: 1}}}\n", "may belong to another group",
     "may belong to another group", NULL},
    {"- cast: {in: c, fields: {v: int}}\n- rollup: {from: c, into: p, match: {k: _id}, fields: {n: {$sum: $v}}}\n",
     "step 2 (rollup) reads `v` of d.c, which is as step 1 (cast)", "cannot be run twice", NULL},
    {"- rollup: {from: c, into: p, match: {k: _id}, fields: {n: {$sum: $v}}}\n- set: {in: c, fields: {v: 1}}\n",
     "adds `v` of d.c, which step 1 (rollup) reads and would find", "", NULL},
    {"- copy: {from: h, into: l, match: {_id: h}, fields: [x], wrap: id}\n", "`wrap` changes references", "`wrap`",
     NULL},
    {"- copy: {from: h, into: l, match: {_id: h}, fields: [x], replace: true, dangling: drop}\n", NULL,
     "a moment later", "+-:x"},
    {"- copy: {from: h, into: l, match: {_id: h.id}, fields: [x], replace: true}\n", NULL, NULL, "+:h.x"},
    {"- copy: {from: h, into: l, match: {_id: h}, fields: [x]}\n", NULL, "cannot be run twice", "+:x"},
    /* names that a dotted path of an update does not reach */
    {"- copy: {from: h, into: l, match: {_id: h}, fields: [x], as: [m, 'n.o'], replace: true}\n", "has a dot or begins",
     NULL, NULL},
    {"- copy: {from: h, into: l, match: {_id: h}, fields: [['x.y']], replace: true}\n", "has a dot or", NULL, NULL},
    {"- rollup: {from: c, into: p, match: {k: _id}, as: ['$t'], fields: {n: {$sum: 1}}}\n", "has a dot or",
     "run twice", NULL},
    {"- embed: {from: c, into: p, match: {k: _id}, as: cs, count: ['c.n'], keep: all}\n", "has a dot or",
     "run twice", NULL},
    {"- pack: {in: a, fields: [x], as: ['p.q']}\n", "has a dot or", "takes fields away", NULL},
    {"- rename: {in: a, fields: {x: ['y.z']}}\n", "has a dot or", "takes names away", NULL},
    {"- copy: {from: h, into: l, match: {_id: ['h.i']}, fields: [x], as: [m, n]}\n", NULL, "cannot be run", "+:m.n"},
    {"- split: {from: a, fields: [['x.y']], into: b}\n", NULL, "leave", NULL},
    {"- unset: {in: a, fields: [['x.y']]}\n", NULL, "takes fields away", NULL},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: p, count: n}\n", NULL, "parts leave their document",
     "+-:n"},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: p, count: n, id: {p: $$PARENT._id, n: $$POSITION}}\n", NULL,
     "parts leave", "+-:n"},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: p, count: n, id: {p: $$PARENT.n.x, n: $$POSITION}}\n",
     "reads `n.x` of d.p, which it adds itself", "", "+-:n"},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: p, count: n, fields: {n: $$ELEMENTS.n}}\n",
     "reads `n` of d.p, which it adds itself", "", "+-:n"},
#define THEN_EXTRACT "- extract: {from: p, path: cs, into: c2, parent_ref: p}\n"
    {"- cast: {in: p, fields: {cs.n: int}}\n" THEN_EXTRACT, NULL, "parts leave", "+-"},
    {"- set: {in: p, fields: {cs: {$objectToArray: $cs}}}\n" THEN_EXTRACT, NULL, "", "+-"},
    {"- set: {in: p, fields: {cs: {$objectToArray: $m}, m: $$REMOVE}}\n" THEN_EXTRACT, NULL, "", "+-"},
    {"- set: {in: p, fields: {cs: [{a: $a}]}}\n" THEN_EXTRACT, NULL, "", "+-:cs"},
    {"- set: {in: p, fields: {x: [{a: $a}]}}\n" THEN_EXTRACT, NULL, "", "+c:x +-"},
    {"- set: {in: p, fields: {cs: {$objectToArray: $cs}, n: {$add: [$n, 1]}}}\n" THEN_EXTRACT,
     "reads what it writes", "", "+-"},
    {"- set: {in: p, fields: {'**.x': {$add: [$$VALUE, 1]}}}\n" THEN_EXTRACT, "reads what it writes", "", "+-"},
    {"- set: {in: p, fields: {cs.x: {$add: [$cs.y, 1]}, 'c*': {$add: [$$VALUE, 1]}}}\n" THEN_EXTRACT,
     "reads what it writes", "", NULL},
    {"- replace: {in: p, with: {cs: [$$ROOT]}}\n" THEN_EXTRACT, "reads what it writes", "", "+-"},
    {"- replace: {in: p, with: {a: [$$ROOT]}}\n- move: {from: p, into: q}\n", NULL, "", "+-"},
    /* documents that stay keep what it changes */
#define ADD_ONE "- set: {in: p, fields: {cs: {$concatArrays: [$cs, [{a: 1}]]}}}\n"
    {ADD_ONE "- move: {from: p, into: q}\n", NULL, "", "+-"},
    {ADD_ONE "- move: {from: p, into: q, where: {k: 1}}\n", ONCE, "", "+-"},
    {ADD_ONE "- union: {from: [p], into: q, where: {k: 1}}\n", ONCE, "", "+-"},
    {ADD_ONE "- split: {from: p, into: q, fields: [cs]}\n", NULL, "", "+-"},
    {ADD_ONE "- split: {from: p, into: q, fields: [cs], where: {k: 1}}\n", ONCE, "", "+-"},
    {ADD_ONE "- delete: {in: p, where: {cs.a: 1}}\n", ONCE, "", "-"},
    {ADD_ONE "- partition: {from: p, by: cs.a, into: {v: q}, others: drop}\n", NULL, "", "+-"},
    {ADD_ONE "- partition: {from: p, by: cs.a, into: {v: q}}\n", ONCE, "", "+-"},
    {ADD_ONE "- partition: {from: p, by: cs.a, into: {v: q}, others: drop, where: {k: 1}}\n", ONCE, "", "+-"},
    {ADD_ONE "- extract: {from: p, path: cs, into: c2, parent_ref: p, where: {k: 1}}\n", ONCE, "", "+-"},
    {ADD_ONE "- extract: {from: p, path: cs, into: c2, parent_ref: p, leave: {limit: 1}}\n", ONCE, "", "+-"},
    {"- set: {in: p, fields: {_id: $k, cs: $m}}\n" THEN_EXTRACT, "`_id` cannot change in place", "", NULL},
    {"- set: {in: p, where: {k: {$in: {from: h, field: _id}}}, fields: {cs: {$objectToArray: $cs}}}\n" THEN_EXTRACT,
     "", "", NULL},
    {"- set: {in: a, fields: {x: {$toInt: $x}}}\n- union: {from: [a, b], into: c}\n",
     "which is as step 1 (set) makes it only after contract", "", NULL},
    {"- extract: {from: p, path: cs, into: c2, refs: none}\n", "are not found again", "are not found again", "+-"},
    {"- extract: {from: p, path: cs, into: c2, refs: child, child_refs: ids}\n", "are not found again", "", "+-:ids"},
    {"- extract: {from: p, path: cs, into: c2, refs: both, parent_ref: p, child_refs: ids}\n", NULL, "parts leave",
     "+-:ids"},
    {"- extract: {from: p, path: cs, into: c2, refs: both, parent_ref: p}\n", "are still being read", "", "+-:cs"},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: p, parent_key: mail}\n", "may have one `parent_key`", "",
     "+-"},
    {"- extract: {from: p, path: cs, into: c2, refs: none, unique: [k]}\n", "`unique` makes one", "`unique`", "+-"},
    {"- extract: {from: p, path: cs, into: c2, pages: {size: 2, ref: p, number: n, items: i}}\n", "moves all pages",
     "moves", "+-"},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: p, conflicts: first}\n", "`conflicts: first`", "", "+-"},
    {"- move: {from: a, into: b, where: {x: 1}}\n", NULL, "documents leave", "+-"},
    {"- move: {from: a, into: b, conflicts: last}\n", "`conflicts: first` or `last`", "`conflicts", "+-"},
    {"- split: {from: a, fields: [x], into: b}\n", NULL, "fields leave", "+-"},
    {"- partition: {from: a, by: t, into: {x: b, y: c}, others: {into: o}}\n", NULL, "documents leave", "+-"},
    {"- union: {from: {x: a, y: b}, into: c, tag: t}\n", NULL, "documents leave", "+-"},
    {"- bucket: {from: r, into: b, items: v, by: [s]}\n", "changes its bucket", "changes its bucket", "+-"},
    {"- unbucket: {from: b, into: r, items: v}\n", "are not found again", "are not found again", "+-"},
    {"- link: {parent: p, child: c, parent_ref: owner, child_refs: tasks, derive: child_refs}\n", "at one moment",
     "at one moment", NULL},
    {"- link: {parent: p, child: c, parent_ref: owner, child_refs: tasks, derive: child_refs, strip: parent_ref}\n",
     "at one moment", "at one moment", NULL},
    {"- tree: {in: c, form: parent, to_form: children}\n", "follows from all the others",
     "follows from all the others", NULL},
    /* steps that keep writers out keep them out of the whole plan */
    {"- set: {in: p, fields: {x: 1}}\n- bucket: {from: r, into: b, items: v, by: [s]}\n", "changes its bucket",
     "changes its bucket", "+c:x +-"},
    {"- grid: {into: a, by: {x: [1], y: {from: b, field: z}}}\n", "belongs to no document", "belongs to no document",
     "+"},
    {"- delete: {in: a, where: {x: 1}}\n", NULL, "for good", "-"},
    {"- index: {in: a, create: [{key: {x: 1}}]}\n", NULL, NULL, ""},
    {"- options: {in: a, validator: {x: 1}}\n", NULL, NULL, ""},
    {"- options: {in: a, capped: true, size: 4096}\n", "capped", "capped", ""},
};

static void
shape_of(const struct mrs_live *l, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < l->n_groups; i++) {
        const struct mrs_live_group *g = &l->group[i];
        n += (size_t)snprintf(out + n, size - n, "%s%s%s%s%s", i ? " " : "", g->after_verified ? "v" : "",
                              g->adds ? "+" : "", g->removes ? "-" : "", g->contract_live ? "c" : "");
        for (uint32_t k = 0; k < g->n_claims; k++) {
            n += (size_t)snprintf(out + n, size - n, "%s%s", k ? "," : ":", g->claims[k]);
        }
        for (uint32_t k = 0; k < g->n_gone; k++) {
            n += (size_t)snprintf(out + n, size - n, "%s%s", k ? "," : "~", g->gone[k]);
        }
    }
}

static bool
same(const char *what, const struct verdict *v, bool may, const char *why, const char *want)
{
    if (may == !want && (may ? !why : why && strstr(why, want) && (strchr(why, ';') || strstr(why, "run")))) {
        return true;
    }
    print_error("%s%s: %s %s\n wanted %s\n", v->steps, what, may ? "yes" : "no", why ? why : "", want ? want : "yes");
    return false;
}

static void
verdict_table(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        const struct verdict *v = &verdicts[i];
        struct mrs_mem *mem = mrs_mem_new(0);
        struct mrs_live l;
        struct mrs_err e;
        char shape[TEXT];
        bool dead;
        struct mrs_plan *p = load(mem, v->steps, &dead);
        assert_int_equal(mrs_live_judge(p, &p->arena, &l, &e), MRS_OK);
        wrong += !same("expand", v, l.expand, l.expand_why, v->expand);
        wrong += !same("direct", v, l.direct, l.direct_why, v->direct);
        shape_of(&l, shape, sizeof shape);
        if (v->shape && strcmp(shape, v->shape) != 0) {
            print_error("%s groups %s\n wanted %s\n", v->steps, shape, v->shape);
            wrong++;
        }
        mrs_plan_free(p);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
    assert_int_equal(wrong, 0);
}

/* ---- what engines read by ---- */
static const struct telling {
    const char *steps, *want; /* pairs "from=into", listings "side field<key" */
} tellings[] = {
    {"- embed: {from: c, into: p, match: {k: _id, t: tenant}, as: cs}\n", "k=_id t=tenant"},
    {"- embed: {from: c, into: p, match: [{from: {$toLower: $k}, into: $u}], as: cs}\n", "-=u"},
    {"- embed: {from: c, into: p, match: [{from: $k.l, into: {$toLower: $u}}], as: cs}\n", "k.l=-"},
    {"- embed: {from: c, into: p, match: {_id: lines.c, t: lines.t, z: z}, as: lines.doc}\n", "_id=lines.c z=z"},
    {"- copy: {from: h, into: l, match: {_id: host}, fields: [x]}\n", "_id=host"},
    {"- rollup: {from: c, into: p, match: {k: _id, t: l.t}, fields: {n: {$sum: 1}}}\n", "k=_id t=l.t"},
    {"- extract: {from: p, path: cs, into: c2, parent_ref: post}\n", "1 post<_id"},
    {"- extract: {from: p, path: cs, into: c2, pages: {size: 2, ref: post, number: n, items: i}}\n", "1 post<_id"},
    {"- extract: {from: p, path: cs, into: c2, refs: none}\n", ""},
    {"- move: {from: a, into: b}\n", "1 _id<_id"},
    {"- split: {from: a, fields: [x], into: b}\n", "1 _id<_id"},
    {"- partition: {from: a, by: t, into: {x: b, y: c}, others: {into: o}}\n", "1 _id<_id 2 _id<_id 3 _id<_id"},
    {"- union: {from: [a, b], into: c}\n", "2 _id<_id"},
};

static void
told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tellings / sizeof *tellings; i++) {
        struct mrs_mem *mem = mrs_mem_new(0);
        char text[TEXT] = "";
        bool dead;
        struct mrs_plan *p = load(mem, tellings[i].steps, &dead);
        const struct mrs_desc *d = &p->steps[0].desc;
        size_t n = 0;
        for (uint32_t k = 0; k < d->n_pairs; k++) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s=%s", n ? " " : "",
                                  d->pairs[k].from ? d->pairs[k].from : "-", d->pairs[k].into ? d->pairs[k].into : "-");
        }
        for (uint32_t k = 0; k < d->n_listings; k++) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%d %s<%s", n ? " " : "", d->listings[k].side,
                                  d->listings[k].field, d->listings[k].key);
        }
        assert_string_equal(text, tellings[i].want);
        mrs_plan_free(p);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
}

/* ---- in words ---- */
static const char some[] = "- set: {in: h, fields: {x: $y}}\n"
                           "- unset: {in: h, fields: [y]}\n"
                           "- extract: {from: p, path: cs, into: c2, parent_ref: post, count: n}\n"
                           "- copy: {from: h, into: l, match: {_id: h}, fields: [y], refs: drop}\n";

static char *
explained(struct mrs_mem *mem, const char *steps, bool json, char *text, bool *dead)
{
    struct mrs_buf out;
    struct mrs_err e;
    struct mrs_live l;
    text[0] = 0;
    struct mrs_plan *p = load(mem, steps, dead);
    if (!p) {
        return text;
    }
    mrs_buf_init(&out, mem, TEXT - 1);
    enum mrs_status s = mrs_live_judge(p, &p->arena, &l, &e);
    s = s == MRS_OK ? mrs_live_explain(p, &l, json, &out, &e) : s;
    *dead = s == MRS_DEAD;
    assert_true(s == MRS_OK || s == MRS_DEAD);
    if (s == MRS_OK) {
        snprintf(text, TEXT, "%.*s", (int)out.n, (const char *)out.p);
    }
    mrs_buf_clear(&out);
    mrs_plan_free(p);
    return text;
}

static void
words(void **state)
{
    (void)state;
    static char text[TEXT];
    struct mrs_mem *mem = mrs_mem_new(0);
    bool dead;
    explained(mem, some, false, text, &dead);
    assert_string_equal(
        text,
        "Alongside writers: no; run it with --quiet-by\n"
        "  expand      no: step 4 (copy) reads `y` of d.h, which is as step 2 (unset) makes it only after\n"
        "              contract; run the plan with --quiet-by, or use another name for the field\n"
        "  direct      no: step 2 (unset): it takes fields away that are still being read; use `apply` and\n"
        "              then `contract`\n"
        "\nGroup 1\n"
        "  Step 1: set (line 3)\n"
        "  reads (R)   d.h y\n"
        "  adds (A)    d.h x\n"
        "  Step 2: unset (line 4)\n"
        "  removes (D) d.h y\n"
        "  claims      x (must not be in any document before)\n"
        "  expand      yes\n"
        "  direct      no: step 2 (unset): it takes fields away that are still being read; use `apply` and\n"
        "              then `contract`\n"
        "  contract    alongside writers\n"
        "\nGroup 2\n"
        "  Step 3: extract (line 5)\n"
        "  reads (R)   d.p cs, d.p _id\n"
        "  adds (A)    d.p n, d.c2 (whole document)\n"
        "  removes (D) d.p cs\n"
        "  note        elements without an _id of their own get it from their place: where an application\n"
        "              takes one out, the documents of those after it get other _ids\n"
        "  claims      n (must not be in any document before)\n"
        "  expand      yes\n"
        "  direct      no: step 3 (extract): parts leave their document, a second pass would not find them;\n"
        "              use `apply` and then `contract`\n"
        "  contract    with writers kept out (--quiet-by)\n"
        "\nGroup 3\n"
        "  Step 4: copy (line 6)\n"
        "  reads (R)   d.h _id, d.l h, d.h y\n"
        "  adds (A)    d.l y\n"
        "  removes (D) d.l h\n"
        "  expand      no: step 4 (copy) reads `y` of d.h, which is as step 2 (unset) makes it only after\n"
        "              contract; run the plan with --quiet-by, or use another name for the field\n"
        "  direct      no: step 4 (copy): `refs: drop` takes away what a second pass would need; use `apply`\n"
        "              and then `contract`\n");
    explained(mem, "- set: {in: h, fields: {x: $y}}\n- copy: {from: h, into: l, match: {_id: h}, fields: [x]}\n", true,
              text, &dead);
    assert_string_equal(
        text,
        "{\"plan\":\"\",\"expand\":true,\"direct\":false,\"directWhy\":\"step 2 (copy): it cannot be run twice: the "
        "fields that it adds would exist already; give `replace: true`\",\"groups\":[{\"steps\":[{\"step\":1,"
        "\"type\":\"set\",\"line\":3,\"reads\":[{\"ns\":\"d.h\",\"path\":\"y\"}],\"adds\":[{\"ns\":\"d.h\",\"path\":"
        "\"x\"}],\"removes\":[]}],\"claims\":[\"x\"],\"expand\":true,\"direct\":true,\"adds\":true,\"removes\":false,"
        "\"afterVerified\":false,\"contractBesideWriters\":true},{\"steps\":[{\"step\":2,\"type\":\"copy\",\"line\":4,"
        "\"reads\":[{\"ns\":\"d.h\",\"path\":\"_id\"},{\"ns\":\"d.l\",\"path\":\"h\"},{\"ns\":\"d.h\",\"path\":\"x\"}],"
        "\"adds\":[{\"ns\":\"d.l\",\"path\":\"x\"}],\"removes\":[]}],\"claims\":[\"x\"],\"expand\":true,\"direct\":"
        "false,\"directWhy\":\"step 2 (copy): it cannot be run twice: the fields that it adds would exist already; "
        "give `replace: true`\",\"adds\":true,\"removes\":false,\"afterVerified\":true,\"contractBesideWriters\":false"
        "}]}\n");
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* Every allocation fails once: a status, nothing lost. */
static void
no_memory(void **state)
{
    (void)state;
    static char text[TEXT];
    for (int json = 0; json < 2; json++) {
        bool dead = true;
        for (uint64_t n = 1; dead; n++) {
            struct mrs_mem *mem = mrs_mem_new(n);
            explained(mem, some, json, text, &dead);
            assert_int_equal(text[0] == 0, dead);
            assert_int_equal(mrs_mem_close(mem), 0);
            assert_true(n < 100000);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_table),
        cmocka_unit_test(told),
        cmocka_unit_test(words),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
