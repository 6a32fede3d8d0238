/* SPDX-License-Identifier: Apache-2.0 */
/* op_logic.c - $and, $or, $not, $cond, $ifNull, $switch: lazy operators.
 *
 * Decisions by constants are made when the plan is read, as the server's optimizer does, since that is visible: an
 * unreachable branch of $switch may have failing constants, one of $cond may not. */
#include "expr/expr_internal.h"

static enum mrs_status
truth(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, bool *yes)
{
    struct mrs_val v;
    enum mrs_status s = mrsi_arg(x, i, ev, &v);
    *yes = s == MRS_OK && mrsi_truthy(v);
    return s;
}

/* $and and $or: the value `decides` ends the evaluation. */
static enum mrs_status
compile_junction(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, bool decides, struct mrs_err *e)
{
    static const uint8_t bytes[2] = {0, 1};
    enum mrs_status s = mrsi_compile_list(c, x, spec, 0, 255, e);
    for (uint32_t i = 0; s == MRS_OK && i < x->n_args; i++) {
        if (mrsi_is_constant(x->args[i]) && mrsi_truthy(x->args[i]->lit) == decides) {
            mrsi_compile_become(x, (struct mrs_val){&bytes[decides], 1, MRS_BOOL});
            break;
        }
    }
    return s;
}

static enum mrs_status
compile_and(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    return compile_junction(c, x, spec, false, e);
}

static enum mrs_status
compile_or(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    return compile_junction(c, x, spec, true, e);
}

static enum mrs_status
eval_junction(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    bool decides = x->op->variant;
    for (uint32_t i = 0; i < x->n_args; i++) {
        bool yes;
        MRS_TRY(truth(x, i, ev, &yes));
        if (yes == decides) {
            return mrsi_ret_bool(ev, decides, out);
        }
    }
    return mrsi_ret_bool(ev, !decides, out);
}

static enum mrs_status
op_not(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    bool yes;
    enum mrs_status s = truth(x, 0, ev, &yes);
    return s == MRS_OK ? mrsi_ret_bool(ev, !yes, out) : s;
}

/* ---- $cond, $ifNull ---- */

static enum mrs_status
compile_cond(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    enum mrs_status s = spec.type == MRS_DOCUMENT ? mrsi_compile_named(c, x, spec, "if,then,else", e)
                                                  : mrsi_compile_list(c, x, spec, 3, 3, e);
    if (s == MRS_OK && mrsi_is_constant(x->args[0])) {
        *x = *x->args[mrsi_truthy(x->args[0]->lit) ? 1 : 2];
    }
    return s;
}

static enum mrs_status
op_cond(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    bool yes;
    enum mrs_status s = truth(x, 0, ev, &yes);
    return s == MRS_OK ? mrsi_arg(x, yes ? 1 : 2, ev, out) : s;
}

static enum mrs_status
op_if_null(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args >= 2);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < x->n_args; i++) {
        s = mrsi_arg(x, i, ev, out);
        if (s != MRS_OK || !mrsi_is_nullish(*out)) {
            return s;
        }
    }
    return s;
}

/* ---- $switch: args are case, then, case, then, ..., default (or NULL) ---- */

static enum mrs_status
switch_parts(struct mrs_expr *x, struct mrs_val spec, struct mrs_val *branches, struct mrs_val *otherwise,
             struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    *branches = *otherwise = mrs_missing();
    if (spec.type != MRS_DOCUMENT) {
        return mrsi_expr_refuse(x, e, "takes a document {branches, default}");
    }
    mrs_walk_init(&w, mrs_val_view(spec));
    while (mrs_walk_next(&w, &el) == 1) {
        if (mrs_name_is(&el, "branches", 8)) {
            *branches = el.v;
        } else if (mrs_name_is(&el, "default", 7)) {
            *otherwise = el.v;
        } else {
            return mrsi_expr_refuse(x, e, "has no argument '%.60s' (branches, default)", el.name);
        }
    }
    if (branches->type != MRS_ARRAY || branches->n <= 5) {
        return mrsi_expr_refuse(x, e, "'branches' must be an array with something in it");
    }
    return MRS_OK;
}

static enum mrs_status
branch_parts(struct mrs_expr *x, struct mrs_val branch, struct mrs_val *when, struct mrs_val *then, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    *when = *then = mrs_missing();
    if (branch.type != MRS_DOCUMENT) {
        return mrsi_expr_refuse(x, e, "a branch must be a document {case, then}");
    }
    mrs_walk_init(&w, mrs_val_view(branch));
    while (mrs_walk_next(&w, &el) == 1) {
        if (mrs_name_is(&el, "case", 4)) {
            *when = el.v;
        } else if (mrs_name_is(&el, "then", 4)) {
            *then = el.v;
        } else {
            return mrsi_expr_refuse(x, e, "a branch has no '%.60s' (case, then)", el.name);
        }
    }
    if (when->type == MRS_MISSING || then->type == MRS_MISSING) {
        return mrsi_expr_refuse(x, e, "a branch needs both 'case' and 'then'");
    }
    return MRS_OK;
}

struct branch {
    struct mrs_expr *when, *then;
    bool never;  /* unreachable */
    bool always; /* later ones are unreachable */
};

/* past: an earlier branch takes every document. An unreachable branch is compiled, but its constants may fail. */
static enum mrs_status
compile_branch(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, bool past, struct branch *b,
               struct mrs_err *e)
{
    struct mrs_val when, then;
    enum mrs_status s = branch_parts(x, spec, &when, &then, e);
    mrsi_compile_lenient(c, past);
    MRS_THEN(s, mrsi_compile_sub(c, when, &b->when, e));
    mrsi_compile_lenient(c, -(int)past);
    bool known = s == MRS_OK && mrsi_is_constant(b->when);
    b->never = past || (known && !mrsi_truthy(b->when->lit));
    b->always = known && !b->never;
    mrsi_compile_lenient(c, b->never);
    MRS_THEN(s, mrsi_compile_sub(c, then, &b->then, e));
    mrsi_compile_lenient(c, -(int)b->never);
    return s;
}

static enum mrs_status
compile_switch(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    struct mrs_val branches, otherwise;
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0, kept_n = 0;
    MRS_TRY(switch_parts(x, spec, &branches, &otherwise, e));
    n = mrs_val_count(branches);
    bool past = false;
    enum mrs_status s = mrsi_compile_args(c, x, 2 * n + 1, e);
    mrs_walk_init(&w, mrs_val_view(branches));
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        struct branch b = {0};
        s = compile_branch(c, x, el.v, past, &b, e);
        past = past || b.always;
        if (s == MRS_OK && !b.never) {
            x->args[2 * kept_n] = b.when;
            x->args[2 * kept_n++ + 1] = b.then;
        }
    }
    struct mrs_expr *last = NULL;
    if (s == MRS_OK && otherwise.type != MRS_MISSING) {
        s = mrsi_compile_sub(c, otherwise, &last, e);
    }
    if (s != MRS_OK) {
        return s;
    }
    x->args[2 * kept_n] = last;
    x->n_args = 2 * kept_n + 1;
    if (kept_n && mrsi_is_constant(x->args[0])) {
        *x = *x->args[1];
    } else if (!kept_n && last) {
        *x = *last;
    }
    return MRS_OK;
}

static enum mrs_status
op_switch(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    uint32_t last = x->n_args - 1;
    for (uint32_t i = 0; i < last; i += 2) {
        bool yes;
        enum mrs_status s = truth(x, i, ev, &yes);
        if (s != MRS_OK || yes) {
            return s == MRS_OK ? mrsi_arg(x, i + 1, ev, out) : s;
        }
    }
    if (!x->args[last]) {
        return mrsi_eval_error(x, ev, "no branch matches and there is no default");
    }
    return mrsi_arg(x, last, ev, out);
}

#define ROW(n, f) .row = {"$" n, f, ""}
const struct mrs_op mrsi_ops_logic[] = {
    {ROW("and", "boolean"), .eval = eval_junction, .compile = compile_and},
    {ROW("or", "boolean"), .eval = eval_junction, .variant = true, .compile = compile_or},
    {ROW("not", "boolean"), .eval = op_not, .n_min = 1, .n_max = 1},
    {ROW("cond", "conditional"), .eval = op_cond, .compile = compile_cond},
    {ROW("ifNull", "conditional"), .eval = op_if_null, .n_min = 2, .n_max = 255},
    {ROW("switch", "conditional"), .eval = op_switch, .compile = compile_switch},
    {.row = {NULL, NULL, NULL}},
};
