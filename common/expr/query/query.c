/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - matches documents with a compiled query predicate.
 *
 * A path of a query goes through arrays into their documents, uses a number both as a position and as a name, and ends
 * at the elements of an array as well as at the array itself. Each value found is tested at once; the first match
 * decides. Recursion follows the parts of a path and the nesting of the filter, never the nesting of data. */
#include "query.h"
#include "doc/decimal.h"
#include <math.h>

bool
mrsi_query_cut(struct mrs_val v, int64_t *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    switch (v.type) {
    case MRS_INT32:
        *out = mrs_val_i32(v);
        return true;
    case MRS_INT64:
        *out = mrs_val_i64(v);
        return true;
    case MRS_DOUBLE: {
        double d = mrs_val_double(v);
        if (!(d >= -0x1p63 && d < 0x1p63)) {
            return false;
        }
        *out = (int64_t)d;
        return true;
    }
    case MRS_DECIMAL128: {
        unsigned int flags = 0;
        *out = (int64_t)__bid128_to_int64_int(mrsi_dec_load(v.p), &flags);
        return !(flags & MRSI_DEC_INVALID);
    }
    default:
        return false;
    }
}

/* The subject of a test: a document or, inside a value $elemMatch, an element. */
struct query_input {
    struct mrs_eval *ev;
    struct mrs_view doc;
    struct mrs_val element;
};

static enum mrs_status match(const struct mrsi_query_node *n, const struct query_input *a, bool *yes);

/* ---- predicates on one value ---- */

static bool
is_nan(struct mrs_val v)
{
    if (v.type == MRS_DOUBLE) {
        return isnan(mrs_val_double(v));
    }
    return v.type == MRS_DECIMAL128 && (v.p[15] & 0x7C) == 0x7C;
}

/* Types do not mix in comparisons: a number is only compared with numbers. Null equals missing; MinKey and MaxKey
 * compare with everything. */
static bool
compares(const struct mrsi_query_node *n, struct mrs_val v)
{
    bool equal_counts = n->kind == Q_EQ || n->kind == Q_LTE || n->kind == Q_GTE;
    if (mrs_type_rank(v.type) != mrs_type_rank(n->v.type)) {
        if (n->v.type == MRS_NULL && v.type == MRS_MISSING) {
            return equal_counts;
        }
        if (n->v.type != MRS_MINKEY && n->v.type != MRS_MAXKEY) {
            return false;
        }
    } else if (is_nan(v) || is_nan(n->v)) {
        return equal_counts && is_nan(v) && is_nan(n->v);
    }
    int order = mrs_compare(v, n->v);
    return order == 0 ? equal_counts
         : order < 0  ? n->kind == Q_LT || n->kind == Q_LTE
                      : n->kind == Q_GT || n->kind == Q_GTE;
}

static enum mrs_status
matches_regex(const struct mrsi_query_node *n, const struct query_input *a, struct mrs_val v, bool *yes)
{
    *yes = false;
    if (v.type != MRS_STRING && v.type != MRS_SYMBOL && v.type != MRS_REGEX) {
        return MRS_OK;
    }
    for (uint32_t i = 0; !*yes && i < n->n_regex; i++) {
        if (v.type == MRS_REGEX) {
            *yes = mrs_compare(v, n->regex_val[i]) == 0;
        } else {
            MRS_TRY(mrsi_spend(a->ev, MRSI_REGEX_STEPS));
            MRS_TRY(mrsi_regex_test(n->regex[i], mrsi_text_of(v), yes, a->ev->err));
        }
    }
    return MRS_OK;
}

static bool
in_list(const struct mrsi_query_node *n, struct mrs_val v)
{
    if (v.type == MRS_MISSING) {
        v = mrs_null();
    } else if (v.type == MRS_UNDEFINED) {
        return false;
    }
    return mrsi_sorted_has(n->list, n->n_list, v);
}

static enum mrs_status
in_far_list(const struct mrsi_query_node *n, const struct query_input *a, struct mrs_val v, bool *yes)
{
    if (!a->ev->lists) {
        return mrs_err_set(a->ev->err, MRS_FAIL, MRS_E_EXPR, "the values of another collection are not known here");
    }
    return a->ev->lists->has(a->ev->lists, (uint32_t)n->number[0], v, yes, a->ev->err);
}

static bool
has_type(const struct mrsi_query_node *n, uint8_t type)
{
    uint32_t bit = type == MRS_MINKEY ? 31 : type == MRS_MAXKEY ? 30 : type;
    return type != MRS_MISSING && (n->types >> bit & 1);
}

/* Bits of a whole number are sign-extended without end; those of binary data end with it. */
static bool
bits_fit(const struct mrsi_query_node *n, struct mrs_val v)
{
    MRS_ASSERT(n->n_bits == 0 || n->bit);
    int64_t number = 0;
    bool bytes = v.type == MRS_BINARY;
    if (!bytes && (!mrs_is_number(v) || !mrs_val_integral(v, &number))) {
        return false;
    }
    bool any = n->how == BITS_ANY_SET || n->how == BITS_ANY_CLEAR;
    bool expected = n->how == BITS_ALL_SET || n->how == BITS_ANY_SET;
    for (uint32_t i = 0; i < n->n_bits; i++) {
        uint32_t at = n->bit[i];
        bool set = bytes ? at / 8 < v.n - 5 && (v.p[5 + at / 8] >> at % 8 & 1)
                         : number >> (at < 63 ? at : 63) & 1;
        if ((set == expected) == any) {
            return any;
        }
    }
    return !any;
}

/* ---- predicates on an array ---- */

static enum mrs_status
matches_array(const struct mrsi_query_node *n, const struct query_input *a, struct mrs_val array, bool *yes)
{
    MRS_ASSERT(mrs_val_is_sized(array));
    struct mrs_walk w;
    struct mrs_elem e;
    *yes = false;
    if (array.type != MRS_ARRAY) {
        return MRS_OK;
    }
    mrs_walk_init(&w, mrs_val_view(array));
    if (n->kind == Q_SIZE) {
        int64_t size = 0;
        while (mrs_walk_next(&w, &e) > 0) {
            size++;
        }
        *yes = size == n->number[0];
        return MRS_OK;
    }
    while (!*yes && mrs_walk_next(&w, &e) > 0) {
        struct query_input inner = {a->ev, a->doc, e.v};
        if (n->kind == Q_ELEM_OBJECT) {
            if (e.v.type != MRS_DOCUMENT && e.v.type != MRS_ARRAY) {
                continue;
            }
            inner.doc = mrs_val_view(e.v);
        }
        MRS_TRY(match(n->kid[0], &inner, yes));
    }
    return MRS_OK;
}

static enum mrs_status
matches(const struct mrsi_query_node *n, const struct query_input *a, struct mrs_val v, bool *yes)
{
    int64_t number;
    switch (n->kind) {
    case Q_IN:
        *yes = in_list(n, v);
        return *yes || !n->n_regex ? MRS_OK : matches_regex(n, a, v, yes);
    case Q_FAR:
        return in_far_list(n, a, v, yes);
    case Q_EXISTS:
        *yes = v.type != MRS_MISSING;
        return MRS_OK;
    case Q_TYPE:
        *yes = has_type(n, v.type);
        return MRS_OK;
    case Q_MOD:
        *yes = mrsi_query_cut(v, &number) &&
               (n->number[0] == -1 ? 0 : number % n->number[0]) == n->number[1];
        return MRS_OK;
    case Q_REGEX:
        return matches_regex(n, a, v, yes);
    case Q_BITS:
        *yes = bits_fit(n, v);
        return MRS_OK;
    case Q_SIZE:
    case Q_ELEM_OBJECT:
    case Q_ELEM_VALUE:
        return matches_array(n, a, v, yes);
    default:
        *yes = compares(n, v);
        return MRS_OK;
    }
}

/* ---- paths ---- */

static enum mrs_status each(const struct mrsi_query_node *n, const struct query_input *a, uint32_t at,
                            struct mrs_view doc, bool *yes);

/* Tests the parts from `at` on, below the elements of an array. */
static enum mrs_status
each_element(const struct mrsi_query_node *n, const struct query_input *a, uint32_t at,
             struct mrs_val array, bool *yes)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    const struct mrsi_query_part *part = &n->path->part[at];
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, mrs_val_view(array));
    for (int64_t i = 0; !*yes && mrs_walk_next(&w, &e) > 0; i++) {
        if (e.v.type == MRS_DOCUMENT) {
            MRS_TRY(each(n, a, at, mrs_val_view(e.v), yes));
        }
        if (*yes || i != part->index) {
            continue;
        }
        if (at + 1 == n->path->n) {
            MRS_TRY(matches(n, a, e.v, yes));
        } else if (e.v.type == MRS_DOCUMENT) {
            MRS_TRY(each(n, a, at + 1, mrs_val_view(e.v), yes));
        } else if (e.v.type == MRS_ARRAY) {
            MRS_TRY(each_element(n, a, at + 1, e.v, yes));
        }
    }
    return MRS_OK;
}

/* Tests the predicate of n on each value that its path, from part `at` on, has in doc; ends at the first match. */
static enum mrs_status
each(const struct mrsi_query_node *n, const struct query_input *a, uint32_t at, struct mrs_view doc,
     bool *yes)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    MRS_ASSERT(at <= n->path->n);
    struct mrs_elem e;
    struct mrs_walk w;
    for (;; at++) {
        if (!mrs_doc_find(doc, n->path->part[at].name, n->path->part[at].len, &e)) {
            e.v = mrs_missing();
        }
        if (at + 1 == n->path->n || e.v.type != MRS_DOCUMENT) {
            break;
        }
        doc = mrs_val_view(e.v);
    }
    if (at + 1 < n->path->n) {
        return e.v.type == MRS_ARRAY ? each_element(n, a, at + 1, e.v, yes)
                                     : matches(n, a, mrs_missing(), yes);
    }
    if (e.v.type == MRS_ARRAY && n->kind < Q_SIZE) {
        struct mrs_elem item;
        mrs_walk_init(&w, mrs_val_view(e.v));
        while (!*yes && mrs_walk_next(&w, &item) > 0) {
            MRS_TRY(matches(n, a, item.v, yes));
        }
    }
    return *yes ? MRS_OK : matches(n, a, e.v, yes);
}

/* ---- the tree ---- */

static enum mrs_status
match_expr(const struct mrsi_query_node *n, const struct query_input *a, bool *yes)
{
    struct mrs_val v;
    MRS_TRY(mrs_expr_eval(n->expr, a->ev, &v));
    *yes = mrsi_truthy(v);
    return MRS_OK;
}

static enum mrs_status
match(const struct mrsi_query_node *n, const struct query_input *a, bool *yes)
{
    *yes = false;
    switch (n->kind) {
    case Q_AND:
    case Q_OR:
    case Q_NOR:
        *yes = n->kind == Q_AND;
        for (uint32_t i = 0; i < n->n_kids; i++) {
            bool kid;
            MRS_TRY(match(n->kid[i], a, &kid));
            if (kid != (n->kind == Q_AND)) {
                *yes = n->kind == Q_OR;
                return MRS_OK;
            }
        }
        *yes = n->kind != Q_OR;
        return MRS_OK;
    case Q_NOT:
        MRS_TRY(match(n->kid[0], a, yes));
        *yes = !*yes;
        return MRS_OK;
    case Q_NEVER:
        return MRS_OK;
    case Q_EXPR:
        return match_expr(n, a, yes);
    default:
        MRS_TRY(mrsi_look(a->ev, a->doc.n));
        return n->path ? each(n, a, 0, a->doc, yes) : matches(n, a, a->element, yes);
    }
}

/* ---- interface ---- */

enum mrs_status
mrs_query_compile(const struct mrs_expr_env *env, struct mrs_view filter, struct mrs_query **out,
                  struct mrs_err *e)
{
    MRS_ASSERT(env->mem && mrs_view_is_framed(filter));
    *out = NULL;
    struct mrs_query *q = mrs_zalloc(env->mem, sizeof *q);
    MRS_TRY(mrs_allocated(q, sizeof *q, e));
    q->mem = env->mem;
    mrs_arena_init(&q->arena, env->mem);
    struct mrs_view copy = {mrs_arena_copy(&q->arena, filter.p, filter.n), filter.n};
    enum mrs_status s = copy.p ? mrsi_query_build(env, q, copy, e) : mrs_err_memory(e, filter.n);
    if (s != MRS_OK) {
        mrs_query_free(q);
        return s;
    }
    *out = q;
    return MRS_OK;
}

void
mrs_query_free(struct mrs_query *q)
{
    if (!q) {
        return;
    }
    for (struct mrsi_query_node *n = q->owned; n; n = n->next_owned) {
        for (uint32_t i = 0; i < n->n_regex; i++) {
            mrsi_regex_free(n->regex[i]);
        }
        mrs_expr_free(n->expr);
    }
    mrs_arena_clear(&q->arena);
    mrs_free(q->mem, q);
}

enum mrs_status
mrs_query_match(const struct mrs_query *q, struct mrs_eval *ev, bool *yes)
{
    MRS_ASSERT(q->root && mrs_view_is_framed(ev->root));
    struct query_input a = {ev, ev->root, mrs_missing()};
    return match(q->root, &a, yes);
}

static void
reads(const struct mrsi_query_node *n, void (*fn)(void *arg, const char *path), void *arg)
{
    if (n->path) {
        fn(arg, n->path->text);
    }
    if (n->expr) {
        mrs_expr_reads(n->expr, fn, arg);
    }
    for (uint32_t i = 0; i < n->n_kids; i++) {
        reads(n->kid[i], fn, arg);
    }
}

void
mrs_query_reads(const struct mrs_query *q, void (*fn)(void *arg, const char *path), void *arg)
{
    MRS_ASSERT(fn);
    reads(q->root, fn, arg);
}
