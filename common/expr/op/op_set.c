/* SPDX-License-Identifier: Apache-2.0 */
/* op_set.c - arrays as sets.
 *
 * A set is a sorted list of values without equals; of equal values (1 and 1.0) the first is kept, as in the server.
 * Results are sorted, except for $setDifference, which keeps the order of its left side. */
#include "expr/support.h"

static int
cmp_values(const void *arg, uint32_t a, uint32_t b)
{
    const struct mrs_val *v = arg;
    return mrs_compare(v[a], v[b]);
}

/* Turns l into a set. */
static enum mrs_status
make_set(struct mrs_eval *ev, struct mrsi_list *l)
{
    MRS_ASSERT(l->n <= l->cap);
    size_t size = (2 * (size_t)l->n + 1) * sizeof(uint32_t);
    uint32_t *at = mrs_arena_alloc(ev->arena, size);
    if (!at) {
        return mrsi_eval_memory(ev, size);
    }
    for (uint32_t i = 0; i < l->n; i++) {
        at[i] = i;
    }
    MRS_TRY(mrsi_sort_stable(ev, at, at + l->n, l->n, cmp_values, l->v));
    struct mrsi_list set = {0};
    for (uint32_t i = 0; i < l->n; i++) {
        if (!set.n || mrs_compare(set.v[set.n - 1], l->v[at[i]]) != 0) {
            MRS_TRY(mrsi_list_add(ev, &set, l->v[at[i]]));
        }
    }
    *l = set;
    return MRS_OK;
}

static enum mrs_status
no_array(const struct mrs_expr *x, struct mrs_eval *ev, uint32_t i, struct mrs_val v)
{
    return mrsi_eval_error(x, ev, "argument %u must be an array, not %s", i + 1,
                           mrs_type_name(v.type));
}

/* Argument i as a set. null: a nullish one is allowed and sets *null; else it is an error. */
static enum mrs_status
set_arg(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, struct mrsi_list *set,
        bool *null)
{
    MRS_ASSERT(i < x->n_args);
    struct mrs_val v;
    memset(set, 0, sizeof *set);
    MRS_TRY(mrsi_arg(x, i, ev, &v));
    if (null) {
        *null = mrsi_is_nullish(v);
        if (*null) {
            return MRS_OK;
        }
    }
    if (v.type != MRS_ARRAY) {
        return no_array(x, ev, i, v);
    }
    MRS_TRY(mrsi_list_of(ev, v, set));
    return make_set(ev, set);
}

/* The server moves constant operands of $setUnion and $setIntersection after the others, which decides whether a null
 * or an error comes first. */
static enum mrs_status
compile_constants_last(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                       struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_list(c, x, spec, 0, 255, e));
    struct mrs_expr **sorted =
        mrs_arena_alloc(mrsi_compile_arena(c), (x->n_args + 1) * sizeof(struct mrs_expr *));
    MRS_TRY(mrs_allocated(sorted, x->n_args * sizeof(struct mrs_expr *), e));
    uint32_t n = 0;
    for (int constant = 0; constant < 2; constant++) {
        for (uint32_t i = 0; i < x->n_args; i++) {
            if (mrsi_is_constant(x->args[i]) == constant) {
                sorted[n++] = x->args[i];
            }
        }
    }
    x->args = sorted;
    return MRS_OK;
}

static enum mrs_status
eval_union(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrsi_list all = {0};
    for (uint32_t i = 0; i < x->n_args; i++) {
        struct mrs_val v;
        MRS_TRY(mrsi_arg(x, i, ev, &v));
        if (mrsi_is_nullish(v)) {
            return mrsi_ret_null(out);
        }
        if (v.type != MRS_ARRAY) {
            return no_array(x, ev, i, v);
        }
        MRS_TRY(mrsi_list_of(ev, v, &all));
    }
    MRS_TRY(make_set(ev, &all));
    return mrsi_ret_array(ev, all.v, all.n, out);
}

static enum mrs_status
eval_intersection(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrsi_list now = {0};
    for (uint32_t i = 0; i < x->n_args; i++) {
        struct mrsi_list next;
        bool null;
        MRS_TRY(set_arg(x, i, ev, &next, &null));
        if (null) {
            return mrsi_ret_null(out);
        }
        if (i == 0) {
            now = next;
        }
        if (now.n > next.n) { /* the result takes representations (1 or 1.0) from the smaller set */
            struct mrsi_list swap = now;
            now = next;
            next = swap;
        }
        uint32_t kept = 0;
        for (uint32_t k = 0; k < now.n; k++) {
            if (mrsi_sorted_has(next.v, next.n, now.v[k])) {
                now.v[kept++] = now.v[k];
            }
        }
        now.n = kept;
        if (!kept) {
            break;
        }
    }
    return mrsi_ret_array(ev, now.v, now.n, out);
}

static enum mrs_status
eval_difference(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val left, right;
    MRS_TRY(mrsi_arg(x, 0, ev, &left));
    MRS_TRY(mrsi_arg(x, 1, ev, &right));
    if (mrsi_is_nullish(left) || mrsi_is_nullish(right)) {
        return mrsi_ret_null(out);
    }
    if (left.type != MRS_ARRAY || right.type != MRS_ARRAY) {
        return left.type != MRS_ARRAY ? no_array(x, ev, 0, left) : no_array(x, ev, 1, right);
    }
    struct mrsi_list l = {0}, r = {0}, kept = {0};
    MRS_TRY(mrsi_list_of(ev, left, &l));
    MRS_TRY(mrsi_list_of(ev, right, &r));
    MRS_TRY(make_set(ev, &r));
    size_t size = (2 * (size_t)l.n + 1) * sizeof(uint32_t);
    uint32_t *at = mrs_arena_alloc(ev->arena, size);
    if (!at) {
        return mrsi_eval_memory(ev, size);
    }
    for (uint32_t i = 0; i < l.n; i++) {
        at[i] = i;
    }
    MRS_TRY(mrsi_sort_stable(ev, at, at + l.n, l.n, cmp_values, l.v));
    for (uint32_t i = 1, first = 0; i < l.n;
         i++) { /* of equal ones only the first in the array's order is kept */
        if (mrs_compare(l.v[at[first]], l.v[at[i]]) == 0) {
            l.v[at[i]] = mrs_missing();
        } else {
            first = i;
        }
    }
    for (uint32_t i = 0; i < l.n; i++) {
        if (l.v[i].type != MRS_MISSING && !mrsi_sorted_has(r.v, r.n, l.v[i])) {
            MRS_TRY(mrsi_list_add(ev, &kept, l.v[i]));
        }
    }
    return mrsi_ret_array(ev, kept.v, kept.n, out);
}

static enum mrs_status
eval_equals(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrsi_list first, other;
    MRS_TRY(set_arg(x, 0, ev, &first, NULL));
    for (uint32_t i = 1; i < x->n_args; i++) {
        MRS_TRY(set_arg(x, i, ev, &other, NULL));
        bool equal = first.n == other.n;
        for (uint32_t k = 0; equal && k < first.n; k++) {
            equal = mrs_compare(first.v[k], other.v[k]) == 0;
        }
        if (!equal) {
            return mrsi_ret_bool(ev, false, out);
        }
    }
    return mrsi_ret_bool(ev, true, out);
}

static enum mrs_status
eval_subset(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrsi_list small, large;
    MRS_TRY(set_arg(x, 0, ev, &small, NULL));
    MRS_TRY(set_arg(x, 1, ev, &large, NULL));
    for (uint32_t i = 0; i < small.n; i++) {
        if (!mrsi_sorted_has(large.v, large.n, small.v[i])) {
            return mrsi_ret_bool(ev, false, out);
        }
    }
    return mrsi_ret_bool(ev, true, out);
}

/* Whether any element's truth value equals `expected`. */
static enum mrs_status
some_element(const struct mrs_expr *x, struct mrs_eval *ev, bool expected, bool *found)
{
    struct mrs_val v;
    struct mrs_walk w;
    struct mrs_elem e;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (v.type != MRS_ARRAY) {
        return no_array(x, ev, 0, v);
    }
    *found = false;
    mrs_walk_init(&w, mrs_val_view(v));
    while (!*found && mrs_walk_next(&w, &e) > 0) {
        MRS_TRY(mrsi_spend(ev, 1));
        *found = mrsi_truthy(e.v) == expected;
    }
    return MRS_OK;
}

static enum mrs_status
eval_any(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    bool found;
    MRS_TRY(some_element(x, ev, true, &found));
    return mrsi_ret_bool(ev, found, out);
}

static enum mrs_status
eval_all(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    bool found;
    MRS_TRY(some_element(x, ev, false, &found));
    return mrsi_ret_bool(ev, !found, out);
}

#define BY_COUNT(name, fn, least, most) {.row = {name, "set", ""}, .eval = fn, .n_min = least, .n_max = most}

const struct mrs_op mrsi_ops_set[] = {
    BY_COUNT("$allElementsTrue", eval_all, 1, 1),
    BY_COUNT("$anyElementTrue", eval_any, 1, 1),
    BY_COUNT("$setDifference", eval_difference, 2, 2),
    BY_COUNT("$setEquals", eval_equals, 2, 255),
    {.row = {"$setIntersection", "set", ""},
     .eval = eval_intersection,
     .compile = compile_constants_last},
    BY_COUNT("$setIsSubset", eval_subset, 2, 2),
    {.row = {"$setUnion", "set", ""}, .eval = eval_union, .compile = compile_constants_last},
    {.row = {NULL, NULL, NULL}},
};
