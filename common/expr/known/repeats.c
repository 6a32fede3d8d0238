/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.c - whether an expression is idempotent: f(f(x)) = f(x) for every x.
 *
 * Types first: for each type of a value, the possible outcomes of the expression; then, for each type of these, its
 * outcomes. That must be the value itself, or a call that is known (repeats_call.c) not to change its own result.
 * Unknown counts as a change. */
#include "repeats.h"

#include "mongoreshape/path.h"

struct made { /* by the expression, from a value of one type */
    struct mrsi_outcome first;
    uint32_t type; /* of the result */
};

/* Types with only one value. */
static bool
only_one(uint32_t type)
{
    return type & (MRSI_NULLISH | mrs_type_bit(MRS_MINKEY) | mrs_type_bit(MRS_MAXKEY));
}

/* Whether the result stays the same if the expression has the outcome `now` for it. */
static bool
repeats(const struct made *m, const struct mrsi_outcome *now, const struct mrsi_expr_spot *at,
        struct mrsi_repeat_rules r)
{
    const struct mrs_expr *a = m->first.from, *b = now->from;
    if (now->kind == MRSI_SAME) {
        return true;
    }
    if (now->kind == MRSI_FAILS) {
        return r.keeps || r.instead == m->type;
    }
    if (only_one(m->type) && now->types == m->type && mrsi_returns_null(b, at, m->type)) {
        return true;
    }
    if (a && a->kind == MRSI_LITERAL && b->kind == MRSI_LITERAL && mrs_identical(a->lit, b->lit)) {
        return true;
    }
    return a == b && mrsi_repeats_call(a, at, m->type, r.keeps);
}

static bool
made_repeats(const struct mrs_expr *x, const struct mrsi_expr_spot *at, const struct made *m,
             struct mrsi_repeat_rules r)
{
    struct mrsi_outcomes again = {.n = 0};
    const struct mrs_expr *from = m->first.from;
    bool constant = from && from->kind == MRSI_LITERAL && mrs_type_bit(from->lit.type) == m->type;
    struct mrsi_expr_spot now = {at->base, at->n, at->up, at->name, constant ? &from->lit : NULL};
    mrsi_outcomes_of(x, &now, m->type, &again);
    bool all = !again.more;
    for (uint32_t i = 0; i < again.n && all; i++) {
        all = repeats(m, &again.item[i], &now, r);
    }
    return all;
}

/* Types that count. Values of the type undefined, which servers no longer make, become null in most operators and are
 * not null for `$type`: callers that rely on a result also check each document (check_again in live/derive). */
#define COUNTS (MRSI_ALL_TYPES & ~mrs_type_bit(MRS_UNDEFINED))

/* Collects all results of x for values of all types, without duplicates. */
static void
everything(const struct mrs_expr *x, const struct mrsi_expr_spot *at, struct mrsi_repeat_rules r,
           struct mrsi_outcomes *all)
{
    for (uint32_t i = 0; i < 32; i++) {
        if (COUNTS >> i & 1) {
            mrsi_outcomes_of(x, at, 1u << i, all);
        }
    }
    if (r.instead && all->n < MRSI_OUTCOMES_MAX) {
        all->item[all->n++] = (struct mrsi_outcome){MRSI_GIVES, NULL, r.instead};
    }
}

bool
mrsi_repeats_at(const struct mrs_expr *x, const struct mrsi_expr_spot *at, struct mrsi_repeat_rules r)
{
    uint32_t missing = mrs_type_bit(MRS_MISSING);
    struct mrsi_outcomes all = {.n = 0};
    everything(x, at, r, &all);
    uint32_t excluded = r.flat ? mrs_type_bit(MRS_DOCUMENT) | mrs_type_bit(MRS_ARRAY) : 0;
    bool known = !all.more && all.n < MRSI_OUTCOMES_MAX;
    for (uint32_t i = 0; i < all.n && known; i++) {
        uint32_t types = all.item[i].kind == MRSI_GIVES ? all.item[i].types & COUNTS : 0;
        if (types & missing && r.absent != MRSI_ABSENT_REMOVED) {
            types = (types & ~missing) | (r.absent == MRSI_ABSENT_IS_NULL ? mrs_type_bit(MRS_NULL) : 0);
        }
        known = !(types & excluded);
        for (uint32_t k = 0; k < 32 && known; k++) {
            struct made m = {all.item[i], 1u << k};
            known = !(types & m.type) || made_repeats(x, at, &m, r);
        }
    }
    return known;
}

/* ---- interface ---- */
/* Whether it fails for every array: the value of a dotted path with an array on its way. */
static bool
fails_at_arrays(const struct mrs_expr *x, const struct mrsi_expr_spot *at)
{
    static const char *const scalar[] = {"$toLower", "$toUpper", "$trim", "$ltrim", "$rtrim", "$replaceAll", "$toInt",
                                         "$toLong", "$toDouble", "$toDecimal", "$toDate", "$toObjectId", "$toUUID",
                                         "$abs", "$ceil", "$floor", "$round", "$trunc", NULL};
    bool fails = false;
    while (!fails && mrsi_is_one_of(x, scalar)) {
        x = x->args[0];
        fails = x->kind == MRSI_PATH && mrsi_expr_spot_meets(at, x) == MRSI_SPOT;
    }
    return fails;
}

static bool
repeats_below(const struct mrs_expr *x, const struct mrs_path *path, uint32_t n, const struct mrsi_expr_spot *up,
              struct mrsi_repeat_rules r)
{
    if (n < path->n) {
        struct mrsi_expr_spot at = {up->base, n + 1, up, path->part[n].name, NULL};
        return repeats_below(x, path, n + 1, &at, r);
    }
    return (n < 2 || fails_at_arrays(x, up)) && mrsi_repeats_at(x, up, r);
}

bool
mrs_expr_repeats(const struct mrs_expr *x, const struct mrs_expr_self *self)
{
    struct mrsi_repeat_rules r = {self->keeps, self->instead, MRSI_ABSENT_REMOVED, self->flat};
    struct mrsi_expr_spot top = {.base = self->path || self->var < 0 ? MRSI_ROOT : MRSI_STEP_VAR(self->var)};
    return self->path ? repeats_below(x, self->path, 0, &top, r) : mrsi_repeats_at(x, &top, r);
}
