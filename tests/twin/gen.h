/* SPDX-License-Identifier: Apache-2.0 */
/* gen.h - random nasty data and random plans, by seed. */
#ifndef TWIN_GEN_H
#define TWIN_GEN_H

#include "twin.h"

/* Fills w with collections of database "t" and returns a plan for them; equal seeds give equal results.
 * only: name of the step that every plan shall hold, NULL: all. */
struct val *gen_seed(uint64_t seed, const char *only, struct world *w);
bool gen_check_vectors(void);
/* laws.c: of a world of gen_clash.c that a run took from `in` to `got`; prints what does not hold. */
bool laws_hold(const struct coll *in, uint32_t n_in, const struct val *plan, const struct world *got,
               const struct vals *refused, const struct val *report);

/* ---- between gen.c and gen_plan.c */
uint32_t gen_below(uint32_t n);
bool gen_chance(uint32_t percent);
const char *gen_pick(const char *list); /* one of the words of "a b c" */
struct val *gen_key(void);
struct val *gen_any(int depth);
struct val *gen_decimal(const char *text);
struct val *gen_one(const char *name, struct val *v);   /* {name: v} */
struct val *gen_pair(struct val *a, struct val *b);      /* [a, b] */
struct val *gen_plan(struct world *w, const char *only);
/* ---- gen_clash.c: a small world in which all meet, and a plan for it */
struct val *gen_clash(struct world *w);
/* ---- gen_tree.c: mostly on a new collection, which it fills; else on coll. where may be NULL. */
struct val *gen_tree(struct world *w, const char *coll, struct val *where);
/* ---- gen_fields.c: where may be NULL */
struct val *gen_words(const char *list); /* [a, b] of "a b" */
void gen_set_patterns(struct val *d, struct val *fields); /* now and then some, at the end of fields of d */
struct val *gen_unset(const char *in, struct val *where);
struct val *gen_rename(const char *in, struct val *where);
struct val *gen_cast(const char *in, struct val *where);
/* ---- gen_window.c: mostly on a new collection, which it fills; else on coll. where may be NULL. */
struct val *gen_window(struct world *w, const char *coll, struct val *where);
/* ---- gen_rollup.c: e is an expression that may be used */
struct val *gen_accumulator(struct val *e);
struct val *gen_rollup_match(void);
struct val *gen_rollup_key(void);
/* ---- gen_rekey.c: into NULL: what is merged in is dropped; where may be NULL */
struct val *gen_rekey(const char *in, const char *other, const char *into, struct val *where, struct val *condition);
/* ---- gen_bucket.c: shape holds `fields` and `drop`, where may be NULL; bucket: the step that it undoes, or NULL */
struct val *gen_bucket(struct world *w, const char *from, const char *into, struct val *shape, struct val *where);
struct val *gen_unbucket(const struct val *bucket, const char *from, const char *into, struct val *shape,
                         struct val *where);

#endif
