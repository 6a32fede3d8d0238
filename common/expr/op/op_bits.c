/* SPDX-License-Identifier: Apache-2.0 */
/* op_bits.c - $bitAnd, $bitOr, $bitXor, $bitNot on int and long.
 *
 * Operands are checked from left to right: the first null makes null, the first that is neither int nor long fails. The
 * result is a long if any operand is. Without operands: the neutral element (all bits for $bitAnd, none for the
 * others), as an int. */
#include "expr/support.h"

enum bits { BITS_AND, BITS_OR, BITS_XOR };

static enum mrs_status
fold_bits(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    enum bits how = (enum bits)x->op->variant;
    int64_t bits = how == BITS_AND ? -1 : 0, more;
    bool wide = false;
    for (uint32_t i = 0; i < x->n_args; i++) {
        struct mrs_val v;
        MRS_TRY(mrsi_arg(x, i, ev, &v));
        if (mrsi_is_nullish(v)) {
            return mrsi_ret_null(out);
        }
        if (!mrsi_is_integer(v, &more)) {
            return mrsi_eval_error(x, ev, "takes int and long only, not %s", mrs_type_name(v.type));
        }
        wide = wide || v.type == MRS_INT64;
        bits = how == BITS_AND ? bits & more : how == BITS_OR ? bits | more : bits ^ more;
    }
    return wide ? mrsi_ret_i64(ev, bits, out) : mrsi_ret_i32(ev, (int32_t)bits, out);
}

static enum mrs_status
op_not(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 1);
    struct mrs_val v;
    int64_t bits;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (!mrsi_is_integer(v, &bits)) {
        return mrsi_eval_error(x, ev, "takes int and long only, not %s", mrs_type_name(v.type));
    }
    return v.type == MRS_INT64 ? mrsi_ret_i64(ev, ~bits, out) : mrsi_ret_i32(ev, (int32_t)~bits, out);
}

#define ROW(n) .row = {"$" n, "bits", ""}
const struct mrs_op mrsi_ops_bits[] = {
    {ROW("bitAnd"), .eval = fold_bits, .variant = BITS_AND, .n_min = 0, .n_max = 255},
    {ROW("bitNot"), .eval = op_not, .n_min = 1, .n_max = 1},
    {ROW("bitOr"), .eval = fold_bits, .variant = BITS_OR, .n_min = 0, .n_max = 255},
    {ROW("bitXor"), .eval = fold_bits, .variant = BITS_XOR, .n_min = 0, .n_max = 255},
    {.row = {NULL, NULL, NULL}},
};
