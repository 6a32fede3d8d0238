/* SPDX-License-Identifier: Apache-2.0 */
/* op_angle.c - trigonometry: $sin to $atanh, $atan2, $degreesToRadians, $radiansToDegrees.
 *
 * A decimal is computed by the library in 34 digits and stays one, every other number becomes a double. Outside the
 * domain of a function the server fails instead of returning NaN; NaN itself is passed through. */
#include "expr/op_number.h"
#include <math.h>
#include <stdio.h>

enum angle_range {
    ANYWHERE,
    FINITE,
    WITHIN_ONE, /* -1 to 1 */
    FROM_ONE    /* 1 to infinity */
};

struct angle {
    const char *name; /* with its dollar */
    double (*plain)(double v);
    BID_UINT128 (*decimal)(BID_UINT128 v, _IDEC_round mode, _IDEC_flags *flags);
    enum angle_range range;
};

static const struct angle ANGLES[] = {
    {"$acos", acos, __bid128_acos, WITHIN_ONE},
    {"$acosh", acosh, __bid128_acosh, FROM_ONE},
    {"$asin", asin, __bid128_asin, WITHIN_ONE},
    {"$asinh", asinh, __bid128_asinh, ANYWHERE},
    {"$atan", atan, __bid128_atan, ANYWHERE},
    {"$atanh", atanh, __bid128_atanh, WITHIN_ONE},
    {"$cos", cos, __bid128_cos, FINITE},
    {"$cosh", cosh, __bid128_cosh, ANYWHERE},
    {"$sin", sin, __bid128_sin, FINITE},
    {"$sinh", sinh, __bid128_sinh, ANYWHERE},
    {"$tan", tan, __bid128_tan, FINITE},
    {"$tanh", tanh, __bid128_tanh, ANYWHERE},
};

static enum mrs_status
compile_angle(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    size_t i = 0;
    while (strcmp(ANGLES[i].name, x->op->row.name) != 0) {
        i++;
    }
    x->slot[0] = (int32_t)i;
    return mrsi_compile_list(c, x, spec, 1, 1, e);
}

/* Sign of v - whole, for v not NaN; exact for decimals too. */
static int
against(struct mrs_val v, int whole)
{
    uint8_t room[16];
    return mrs_compare(v, mrs_make_i32(room, whole));
}

static bool
is_nan(struct mrs_val v)
{
    return v.type == MRS_DECIMAL128 ? mrsi_dec_parts(v.p).nan : isnan(mrsi_to_double(v)) != 0;
}

static bool
is_infinite(struct mrs_val v)
{
    return v.type == MRS_DECIMAL128 ? mrsi_dec_parts(v.p).infinite : isinf(mrsi_to_double(v)) != 0;
}

static enum mrs_status
check_range(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v, enum angle_range range)
{
    if (is_nan(v)) {
        return MRS_OK;
    }
    if (range == FINITE && is_infinite(v)) {
        return mrsi_eval_error(x, ev, "has no value at infinity");
    }
    if (range == WITHIN_ONE && (against(v, -1) < 0 || against(v, 1) > 0)) {
        return mrsi_eval_error(x, ev, "takes a number from -1 to 1");
    }
    if (range == FROM_ONE && against(v, 1) < 0) {
        return mrsi_eval_error(x, ev, "takes a number from 1 on");
    }
    return MRS_OK;
}

static enum mrs_status
op_angle(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    const struct angle *a = &ANGLES[x->slot[0]];
    unsigned int flags = 0;
    struct mrs_val v;
    MRS_TRY(mrsi_number_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    MRS_TRY(check_range(x, ev, v, a->range));
    if (v.type == MRS_DECIMAL128) {
        return mrsi_ret_dec(ev, a->decimal(mrsi_dec_load(v.p), MRSI_DEC_EVEN, &flags), out);
    }
    return mrsi_ret_double(ev, a->plain(mrsi_to_double(v)), out);
}

static enum mrs_status
op_atan2(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val up, along;
    unsigned int flags = 0;
    MRS_TRY(mrsi_number_arg(x, 0, ev, &up));
    if (mrsi_is_nullish(up)) {
        return mrsi_ret_null(out);
    }
    MRS_TRY(mrsi_number_arg(x, 1, ev, &along));
    if (mrsi_is_nullish(along)) {
        return mrsi_ret_null(out);
    }
    if (up.type == MRS_DECIMAL128 || along.type == MRS_DECIMAL128) {
        BID_UINT128 d = __bid128_atan2(mrsi_decimal_of(up), mrsi_decimal_of(along), MRSI_DEC_EVEN, &flags);
        return mrsi_ret_dec(ev, d, out);
    }
    return mrsi_ret_double(ev, atan2(mrsi_to_double(up), mrsi_to_double(along)), out);
}

/* Argument 0 times a factor, which is known to 34 digits. */
static enum mrs_status
turned(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    static const struct {
        double factor;
        const char *digits;
    } by_variant[] = {{M_PI / 180, "0.01745329251994329576923690768488613"},
                      {180 / M_PI, "57.29577951308232087679815481410517"}};
    struct mrs_val v;
    unsigned int flags = 0;
    MRS_TRY(mrsi_number_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (v.type != MRS_DECIMAL128) {
        return mrsi_ret_double(ev, mrsi_to_double(v) * by_variant[x->op->variant].factor, out);
    }
    char text[48];
    snprintf(text, sizeof text, "%s", by_variant[x->op->variant].digits); /* the library needs a writable text */
    BID_UINT128 by = __bid128_from_string(text, MRSI_DEC_EVEN, &flags);
    return mrsi_ret_dec(ev, __bid128_mul(mrsi_dec_load(v.p), by, MRSI_DEC_EVEN, &flags), out);
}

#define ROW(n) .row = {"$" n, "trigonometry", "doubles come from the C library: the last digit may differ"}
#define ANGLE(n) {ROW(n), .eval = op_angle, .compile = compile_angle}
const struct mrs_op mrsi_ops_angle[] = {
    ANGLE("acos"),
    ANGLE("acosh"),
    ANGLE("asin"),
    ANGLE("asinh"),
    ANGLE("atan"),
    {ROW("atan2"), .eval = op_atan2, .n_min = 2, .n_max = 2},
    ANGLE("atanh"),
    ANGLE("cos"),
    ANGLE("cosh"),
    {.row = {"$degreesToRadians", "trigonometry", ""}, .eval = turned, .n_min = 1, .n_max = 1},
    {.row = {"$radiansToDegrees", "trigonometry", ""}, .eval = turned, .variant = 1, .n_min = 1, .n_max = 1},
    ANGLE("sin"),
    ANGLE("sinh"),
    ANGLE("tan"),
    ANGLE("tanh"),
    {.row = {NULL, NULL, NULL}},
};
