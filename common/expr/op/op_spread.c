/* SPDX-License-Identifier: Apache-2.0 */
/* op_spread.c - $stdDevPop, $stdDevSamp, $median, $percentile as expressions.
 *
 * Values that are no numbers are ignored, decimals are converted to doubles, the result is a double. A percentile is
 * always one of the values: the smallest one that at least that share of them does not exceed. */
#include "expr/support.h"
#include "expr/acc/total.h"
#include <math.h>
#include <stdlib.h>

/* ---- deviations ---- */

static enum mrs_status
spread_one(void *arg, struct mrs_val v)
{
    mrsi_spread_add(arg, v);
    return MRS_OK;
}

static enum mrs_status
deviation(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    uint64_t less = (uint64_t)x->op->variant;
    struct mrsi_spread s = {0};
    MRS_TRY(mrsi_each_operand(x, ev, spread_one, &s));
    return mrsi_spread_value(&s, less, ev, out);
}

/* ---- percentiles ---- */

struct shares {
    uint32_t n;
    bool one; /* $median: the value itself, no array */
    double p[];
};

static enum mrs_status
read_share(const struct mrs_expr *x, struct mrs_val v, double *p, struct mrs_err *e)
{
    *p = mrs_is_number(v) ? mrsi_to_double(v) : -1;
    if (!(*p >= 0 && *p <= 1)) {
        return mrsi_expr_refuse(x, e, "'p' must be an array of numbers from 0 to 1");
    }
    return MRS_OK;
}

static enum mrs_status
read_shares(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_expr *p;
    uint32_t n = 0;
    MRS_TRY(mrsi_compile_sub(c, spec, &p, e));
    if (!mrsi_is_constant(p) || p->lit.type != MRS_ARRAY) {
        return mrsi_expr_refuse(x, e, "'p' must be a constant array");
    }
    n = mrs_val_count(p->lit);
    if (!n) {
        return mrsi_expr_refuse(x, e, "'p' must not be empty");
    }
    struct shares *s = mrs_arena_alloc(mrsi_compile_arena(c), sizeof *s + n * sizeof *s->p);
    MRS_TRY(mrs_allocated(s, sizeof *s + n * sizeof *s->p, e));
    s->n = n;
    s->one = false;
    x->extra = s;
    mrs_walk_init(&w, mrs_val_view(p->lit));
    for (uint32_t i = 0; mrs_walk_next(&w, &el) == 1; i++) {
        MRS_TRY(read_share(x, el.v, &s->p[i], e));
    }
    return MRS_OK;
}

static enum mrs_status
read_resumed(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_err *e)
{
    struct shares *s = mrs_arena_alloc(mrsi_compile_arena(c), sizeof *s + sizeof *s->p);
    MRS_TRY(mrs_allocated(s, sizeof *s + sizeof *s->p, e));
    s->n = 1;
    s->one = true;
    s->p[0] = 0.5;
    x->extra = s;
    return MRS_OK;
}

static enum mrs_status
compile_quantile(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    static const char *const NAMES[] = {"input", "method", "p"};
    bool median = strcmp(x->op->row.name, "$median") == 0;
    struct mrs_val v[3] = {0};
    uint32_t n, n_args = median ? 2 : 3;
    MRS_TRY(mrsi_compile_pick(x, spec, NAMES, n_args, v, e));
    for (uint32_t i = 0; i < n_args; i++) {
        if (v[i].type == MRS_MISSING) {
            return mrsi_expr_refuse(x, e, "the argument '%s' is missing", NAMES[i]);
        }
    }
    const char *method = v[1].type == MRS_STRING ? mrs_val_text(v[1], &n) : NULL;
    if (!method || !mrsi_text_is(method, n, "approximate")) {
        return mrsi_expr_refuse(x, e, "'method' must be \"approximate\"");
    }
    MRS_TRY(median ? read_resumed(c, x, e) : read_shares(c, x, v[2], e));
    MRS_TRY(mrsi_compile_args(c, x, 1, e));
    return mrsi_compile_sub(c, v[0], &x->args[0], e);
}

static int
ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left == right ? (signbit(right) != 0) - (signbit(left) != 0) : left > right ? 1 : -1;
}

/* The sortable numbers of an array, sorted. */
static enum mrs_status
sorted_numbers(struct mrs_eval *ev, struct mrs_val array, double **numbers, uint32_t *n)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem el;
    size_t room = array.n / 3 * sizeof **numbers; /* an element has at least three bytes */
    *n = 0;
    *numbers = mrs_arena_alloc(ev->arena, room);
    if (!*numbers) {
        return mrsi_eval_memory(ev, room);
    }
    mrs_walk_init(&w, mrs_val_view(array));
    while (mrs_walk_next(&w, &el) == 1) {
        double d = mrs_is_number(el.v) ? mrsi_to_double(el.v) : NAN;
        if (!isnan(d)) {
            (*numbers)[(*n)++] = d;
        }
    }
    qsort(*numbers, *n, sizeof **numbers, ascending);
    return MRS_OK;
}

static enum mrs_status
op_quantile(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->extra);
    const struct shares *s = x->extra;
    struct mrsi_list list = {0};
    struct mrs_val input, v;
    double alone = 0, *sorted = &alone;
    uint32_t n = 0;
    MRS_TRY(mrsi_arg(x, 0, ev, &input));
    if (mrs_is_number(input)) {
        alone = mrsi_to_double(input);
        n = 1;
    } else if (input.type == MRS_ARRAY) {
        MRS_TRY(sorted_numbers(ev, input, &sorted, &n));
    }
    for (uint32_t i = 0; i < s->n; i++) {
        MRS_TRY(n ? mrsi_ret_double(ev, sorted[mrsi_percentile_rank(n, s->p[i])], &v) : mrsi_ret_null(&v));
        if (s->one) {
            *out = v;
            return MRS_OK;
        }
        MRS_TRY(mrsi_list_add(ev, &list, v));
    }
    return mrsi_ret_array(ev, list.v, list.n, out);
}

#define ROW(n) .row = {"$" n, "total", ""}
const struct mrs_op mrsi_ops_spread[] = {
    {ROW("median"), .eval = op_quantile, .compile = compile_quantile},
    {ROW("percentile"), .eval = op_quantile, .compile = compile_quantile},
    {ROW("stdDevPop"), .eval = deviation, .n_min = 0, .n_max = 255},
    {ROW("stdDevSamp"), .eval = deviation, .variant = 1, .n_min = 0, .n_max = 255},
    {.row = {NULL, NULL, NULL}},
};
