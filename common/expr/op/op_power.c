/* SPDX-License-Identifier: Apache-2.0 */
/* op_power.c - $pow, $sqrt, $exp, $ln, $log, $log10, $sigmoid.
 *
 * Decimals are computed by the library in 34 digits, all other numbers by the C library in doubles; whole powers of
 * whole numbers stay whole while 64 bits hold them. */
#include "expr/op_number.h"
#include <math.h>

static int
sign(struct mrs_val v) /* of a number; 1 for NaN */
{
    if (v.type == MRS_DECIMAL128) {
        struct mrsi_dec d = mrsi_dec_parts(v.p);
        return d.nan || (!d.negative && (d.coef || d.infinite)) ? 1 : d.coef || d.infinite ? -1 : 0;
    }
    double d = mrsi_to_double(v);
    return d < 0 ? -1 : d == 0 ? 0 : 1;
}

static bool
whole_power(int64_t base, int64_t exponent, int64_t *power)
{
    if (base == 1 || base == -1 || (base == 0 && exponent > 0)) {
        *power = base == -1 && exponent % 2 == 0 ? 1 : base;
        return true;
    }
    if (exponent < 0 || exponent > 63) {
        return false;
    }
    for (*power = 1; exponent > 0; exponent--) {
        if (__builtin_mul_overflow(*power, base, power)) {
            return false;
        }
    }
    return true;
}

static enum mrs_status
op_pow(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val base, exponent;
    unsigned int flags = 0;
    int64_t b, e, power;
    MRS_TRY(mrsi_arg(x, 0, ev, &base));
    MRS_TRY(mrsi_arg(x, 1, ev, &exponent));
    if (mrsi_is_nullish(base) || mrsi_is_nullish(exponent)) {
        return mrsi_ret_null(out);
    }
    if (!mrs_is_number(base) || !mrs_is_number(exponent)) {
        return mrsi_eval_error(x, ev, "takes two numbers, not %s and %s", mrs_type_name(base.type),
                               mrs_type_name(exponent.type));
    }
    if (sign(base) == 0 && sign(exponent) < 0) {
        return mrsi_eval_error(x, ev, "zero has no negative powers");
    }
    if (base.type == MRS_DECIMAL128 || exponent.type == MRS_DECIMAL128) {
        static const uint8_t LEAST_ZERO[16]; /* 0E-6176: adding it keeps all digits */
        BID_UINT128 d = __bid128_pow(mrsi_decimal_of(base), mrsi_decimal_of(exponent), MRSI_DEC_EVEN, &flags);
        return mrsi_ret_dec(ev, __bid128_add(d, mrsi_dec_load(LEAST_ZERO), MRSI_DEC_EVEN, &flags), out);
    }
    if (mrsi_is_integer(base, &b) && mrsi_is_integer(exponent, &e) && whole_power(b, e, &power)) {
        bool narrow = base.type == MRS_INT32 && exponent.type == MRS_INT32;
        return narrow ? mrsi_ret_count(ev, power, out) : mrsi_ret_i64(ev, power, out);
    }
    return mrsi_ret_double(ev, pow(mrsi_to_double(base), mrsi_to_double(exponent)), out);
}

static enum mrs_status
op_sqrt(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 1);
    struct mrs_val v;
    unsigned int flags = 0;
    MRS_TRY(mrsi_number_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (sign(v) < 0) {
        return mrsi_eval_error(x, ev, "negative numbers have no square root");
    }
    if (v.type == MRS_DECIMAL128) {
        return mrsi_ret_dec(ev, __bid128_sqrt(mrsi_dec_load(v.p), MRSI_DEC_EVEN, &flags), out);
    }
    return mrsi_ret_double(ev, sqrt(mrsi_to_double(v)), out);
}

static enum mrs_status
op_exp(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 1);
    struct mrs_val v;
    unsigned int flags = 0;
    MRS_TRY(mrsi_number_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (v.type == MRS_DECIMAL128) {
        return mrsi_ret_dec(ev, __bid128_exp(mrsi_dec_load(v.p), MRSI_DEC_EVEN, &flags), out);
    }
    return mrsi_ret_double(ev, exp(mrsi_to_double(v)), out);
}

static enum mrs_status
logarithm(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    bool ten = x->op->variant;
    struct mrs_val v;
    unsigned int flags = 0;
    MRS_TRY(mrsi_number_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (sign(v) <= 0) {
        return mrsi_eval_error(x, ev, "takes a number above zero");
    }
    if (v.type == MRS_DECIMAL128) {
        BID_UINT128 d = mrsi_dec_load(v.p);
        d = ten ? __bid128_log10(d, MRSI_DEC_EVEN, &flags) : __bid128_log(d, MRSI_DEC_EVEN, &flags);
        return mrsi_ret_dec(ev, d, out);
    }
    return mrsi_ret_double(ev, ten ? log10(mrsi_to_double(v)) : log(mrsi_to_double(v)), out);
}

static enum mrs_status
op_log(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val v, base;
    unsigned int flags = 0;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    MRS_TRY(mrsi_arg(x, 1, ev, &base));
    if (mrsi_is_nullish(v) || mrsi_is_nullish(base)) {
        return mrsi_ret_null(out);
    }
    if (!mrs_is_number(v) || !mrs_is_number(base)) {
        return mrsi_eval_error(x, ev, "takes two numbers, not %s and %s", mrs_type_name(v.type),
                               mrs_type_name(base.type));
    }
    if (sign(v) <= 0 || sign(base) <= 0 || mrsi_to_double(base) == 1) {
        return mrsi_eval_error(x, ev, "takes a number above zero and a base above zero that is not 1");
    }
    if (v.type == MRS_DECIMAL128 || base.type == MRS_DECIMAL128) {
        BID_UINT128 top = __bid128_log(mrsi_decimal_of(v), MRSI_DEC_EVEN, &flags);
        BID_UINT128 bottom = __bid128_log(mrsi_decimal_of(base), MRSI_DEC_EVEN, &flags);
        return mrsi_ret_dec(ev, __bid128_div(top, bottom, MRSI_DEC_EVEN, &flags), out);
    }
    return mrsi_ret_double(ev, log(mrsi_to_double(v)) / log(mrsi_to_double(base)), out);
}

/* ---- $sigmoid: 1 / (1 + e^-x); its argument is one expression, never a list ---- */

static enum mrs_status
compile_sigmoid(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_args(c, x, 1, e));
    return mrsi_compile_sub(c, spec, &x->args[0], e);
}

static enum mrs_status
op_sigmoid(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v;
    unsigned int flags = 0;
    MRS_TRY(mrsi_number_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (v.type != MRS_DECIMAL128) {
        return mrsi_ret_double(ev, 1 / (1 + exp(-mrsi_to_double(v))), out);
    }
    BID_UINT128 one = __bid128_from_int64(1);
    BID_UINT128 minus = __bid128_mul(__bid128_from_int64(-1), mrsi_dec_load(v.p), MRSI_DEC_EVEN, &flags);
    BID_UINT128 below = __bid128_add(one, __bid128_exp(minus, MRSI_DEC_EVEN, &flags), MRSI_DEC_EVEN, &flags);
    return mrsi_ret_dec(ev, __bid128_div(one, below, MRSI_DEC_EVEN, &flags), out);
}

#define ROW(n) .row = {"$" n, "arithmetic", ""}
const struct mrs_op mrsi_ops_power[] = {
    {.row = {"$pow", "arithmetic", "the greatest decimal to the power 1 is itself, not Infinity"},
     .eval = op_pow, .n_min = 2, .n_max = 2},
    {ROW("sqrt"), .eval = op_sqrt, .n_min = 1, .n_max = 1},
    {ROW("exp"), .eval = op_exp, .n_min = 1, .n_max = 1},
    {ROW("ln"), .eval = logarithm, .n_min = 1, .n_max = 1},
    {ROW("log"), .eval = op_log, .n_min = 2, .n_max = 2},
    {ROW("log10"), .eval = logarithm, .variant = true, .n_min = 1, .n_max = 1},
    {ROW("sigmoid"), .eval = op_sigmoid, .compile = compile_sigmoid},
    {.row = {NULL, NULL, NULL}},
};
