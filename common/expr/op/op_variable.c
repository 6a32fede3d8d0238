/* SPDX-License-Identifier: Apache-2.0 */
/* op_variable.c - $let and $literal. */
#include "expr/expr_internal.h"

static enum mrs_status
compile_literal(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    (void)c;
    (void)e;
    mrsi_compile_become(x, spec);
    return MRS_OK;
}

/* vars and in, and no other keys. */
static enum mrs_status
let_parts(struct mrs_expr *x, struct mrs_val spec, struct mrs_val *vars, struct mrs_val *in, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    *vars = *in = mrs_missing();
    if (spec.type != MRS_DOCUMENT) {
        return mrsi_expr_refuse(x, e, "takes a document {vars, in}");
    }
    mrs_walk_init(&w, mrs_val_view(spec));
    while (mrs_walk_next(&w, &el) == 1) {
        if (mrs_name_is(&el, "vars", 4)) {
            *vars = el.v;
        } else if (mrs_name_is(&el, "in", 2)) {
            *in = el.v;
        } else {
            return mrsi_expr_refuse(x, e, "has no argument '%.60s' (vars, in)", el.name);
        }
    }
    if (vars->type != MRS_DOCUMENT) {
        return mrsi_expr_refuse(x, e, "'vars' must be there, and a document");
    }
    return in->type == MRS_MISSING ? mrsi_expr_refuse(x, e, "the argument 'in' is missing") : MRS_OK;
}

/* args: the values of the variables, in order, then the body. A variable is not in scope for the others, so they are
 * bound after the last. */
static enum mrs_status
compile_let(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    struct mrs_val vars, in;
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    MRS_TRY(let_parts(x, spec, &vars, &in, e));
    n = mrs_val_count(vars);
    enum mrs_status s = mrsi_compile_args(c, x, n + 1, e);
    mrs_walk_init(&w, mrs_val_view(vars));
    for (uint32_t i = 0; s == MRS_OK && i < n && mrs_walk_next(&w, &el) == 1; i++) {
        s = mrsi_compile_sub(c, el.v, &x->args[i], e);
    }
    uint32_t bound = 0;
    mrs_walk_init(&w, mrs_val_view(vars));
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        int32_t slot;
        s = mrsi_compile_bind(c, el.name, el.name_len, &slot, e);
        x->slot[0] = bound == 0 ? slot : x->slot[0];
        bound += s == MRS_OK;
    }
    MRS_THEN(s, mrsi_compile_sub(c, in, &x->args[n], e));
    mrsi_compile_unbind(c, bound);
    return s;
}

static enum mrs_status
eval_let(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    uint32_t n = x->n_args - 1;
    for (uint32_t i = 0; i < n; i++) {
        MRS_TRY(mrsi_arg(x, i, ev, &ev->slots[x->slot[0] + (int32_t)i]));
    }
    return mrsi_arg(x, n, ev, out);
}

const struct mrs_op mrsi_ops_variable[] = {
    {.row = {"$let", "variable", ""}, .eval = eval_let, .compile = compile_let},
    {.row = {"$literal", "variable", ""}, .compile = compile_literal},
    {.row = {"$const", "variable", "another name of $literal"}, .compile = compile_literal},
    {.row = {NULL, NULL, NULL}},
};
