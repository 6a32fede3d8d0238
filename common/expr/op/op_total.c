/* SPDX-License-Identifier: Apache-2.0 */
/* op_total.c - $sum, $avg, $min, $max as expressions.
 *
 * For a single operand that is an array its elements count; of several operands each counts as one value. The
 * arithmetic is that of the accumulators (total.h). */
#include "expr/support.h"
#include "expr/acc/total.h"

enum mrs_status
mrsi_each_operand(const struct mrs_expr *x, struct mrs_eval *ev, mrsi_each_fn fn, void *arg)
{
    struct mrs_val v;
    if (x->n_args != 1) {
        for (uint32_t i = 0; i < x->n_args; i++) {
            MRS_TRY(mrsi_arg(x, i, ev, &v));
            MRS_TRY(fn(arg, v));
        }
        return MRS_OK;
    }
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (v.type != MRS_ARRAY) {
        return fn(arg, v);
    }
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &el) == 1) {
        MRS_TRY(mrsi_spend(ev, 1));
        MRS_TRY(fn(arg, el.v));
    }
    return MRS_OK;
}

/* ---- sums ---- */

static enum mrs_status
sum_one(void *arg, struct mrs_val v)
{
    mrsi_total_add(arg, v);
    return MRS_OK;
}

static enum mrs_status
op_sum(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrsi_total t;
    mrsi_total_init(&t);
    MRS_TRY(mrsi_each_operand(x, ev, sum_one, &t));
    return mrsi_total_sum(&t, ev, out);
}

static enum mrs_status
op_avg(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrsi_total t;
    mrsi_total_init(&t);
    MRS_TRY(mrsi_each_operand(x, ev, sum_one, &t));
    return mrsi_total_average(&t, false, ev, out);
}

/* ---- least and greatest ---- */

struct extreme {
    int expected; /* sign of compare(v, best) that replaces best */
    struct mrs_val best;
};

static enum mrs_status
extreme_one(void *arg, struct mrs_val v)
{
    MRS_ASSERT(((struct extreme *)arg)->expected);
    struct extreme *m = arg;
    if (mrsi_is_nullish(v)) {
        return MRS_OK;
    }
    int order = m->best.type == MRS_MISSING ? m->expected : mrs_compare(v, m->best);
    if ((order > 0) - (order < 0) == m->expected) {
        m->best = v;
    }
    return MRS_OK;
}

static enum mrs_status
extreme(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct extreme m = {x->op->variant, mrs_missing()};
    MRS_TRY(mrsi_each_operand(x, ev, extreme_one, &m));
    *out = m.best.type == MRS_MISSING ? mrs_null() : m.best;
    return MRS_OK;
}

#define ROW(n) .row = {"$" n, "total", ""}
const struct mrs_op mrsi_ops_total[] = {
    {ROW("sum"), .eval = op_sum, .n_min = 0, .n_max = 255},
    {ROW("avg"), .eval = op_avg, .n_min = 0, .n_max = 255},
    {ROW("min"), .eval = extreme, .variant = -1, .n_min = 0, .n_max = 255},
    {ROW("max"), .eval = extreme, .variant = 1, .n_min = 0, .n_max = 255},
    {.row = {NULL, NULL, NULL}},
};
