/* SPDX-License-Identifier: Apache-2.0 */
/* op_compare.c - $eq, $ne, $gt, $gte, $lt, $lte, $cmp: the canonical order over all types.
 *
 * There is no type bracketing here, unlike in queries: every value compares with every other, a missing one
 * below null. */
#include "expr/expr_internal.h"

static enum mrs_status
compare(const struct mrs_expr *x, struct mrs_eval *ev, int *order)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val a, b;
    enum mrs_status s = mrsi_arg(x, 0, ev, &a);
    MRS_THEN(s, mrsi_arg(x, 1, ev, &b));
    if (s == MRS_OK) {
        *order = mrs_compare(a, b);
    }
    return s;
}

static enum mrs_status
op_eq(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int order;
    enum mrs_status s = compare(x, ev, &order);
    return s == MRS_OK ? mrsi_ret_bool(ev, order == 0, out) : s;
}

static enum mrs_status
op_ne(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int order;
    enum mrs_status s = compare(x, ev, &order);
    return s == MRS_OK ? mrsi_ret_bool(ev, order != 0, out) : s;
}

static enum mrs_status
op_gt(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int order;
    enum mrs_status s = compare(x, ev, &order);
    return s == MRS_OK ? mrsi_ret_bool(ev, order > 0, out) : s;
}

static enum mrs_status
op_gte(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int order;
    enum mrs_status s = compare(x, ev, &order);
    return s == MRS_OK ? mrsi_ret_bool(ev, order >= 0, out) : s;
}

static enum mrs_status
op_lt(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int order;
    enum mrs_status s = compare(x, ev, &order);
    return s == MRS_OK ? mrsi_ret_bool(ev, order < 0, out) : s;
}

static enum mrs_status
op_lte(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int order;
    enum mrs_status s = compare(x, ev, &order);
    return s == MRS_OK ? mrsi_ret_bool(ev, order <= 0, out) : s;
}

static enum mrs_status
op_cmp(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int order;
    enum mrs_status s = compare(x, ev, &order);
    return s == MRS_OK ? mrsi_ret_i32(ev, (order > 0) - (order < 0), out) : s;
}

#define ROW(n) .row = {"$" n, "comparison", ""}
const struct mrs_op mrsi_ops_compare[] = {
    {ROW("eq"), .eval = op_eq, .n_min = 2, .n_max = 2},
    {ROW("ne"), .eval = op_ne, .n_min = 2, .n_max = 2},
    {ROW("gt"), .eval = op_gt, .n_min = 2, .n_max = 2},
    {ROW("gte"), .eval = op_gte, .n_min = 2, .n_max = 2},
    {ROW("lt"), .eval = op_lt, .n_min = 2, .n_max = 2},
    {ROW("lte"), .eval = op_lte, .n_min = 2, .n_max = 2},
    {ROW("cmp"), .eval = op_cmp, .n_min = 2, .n_max = 2},
    {.row = {NULL, NULL, NULL}},
};
