/* SPDX-License-Identifier: Apache-2.0 */
/* op_arithmetic.c - $add, $subtract, $multiply, $divide, $mod, and the roundings.
 *
 * Whole numbers stay whole until a double or a decimal joins, and become a double when 64 bits are not enough. Sums and
 * products are evaluated from left to right with that promotion at each operand, because there the server's results
 * differ from a plain fold: which operand decides (null or error), and where a double enters decimals with 15
 * digits. */
#include "expr/op_number.h"
#include <math.h>

/* ---- running sums and products ---- */

struct op_arithmetic_total {
    uint8_t type; /* widest so far */
    bool date;
    int64_t ms; /* the date: a server rounds the sum of the numbers, not the date */
    int64_t whole;
    double real;
    BID_UINT128 dec;
};

static BID_UINT128
decimal_of_total(const struct op_arithmetic_total *t)
{
    uint8_t bytes[16];
    if (t->type != MRS_DOUBLE) {
        return __bid128_from_int64(t->whole);
    }
    mrsi_double_to_decimal(t->real, bytes);
    return mrsi_dec_load(bytes);
}

/* The total becomes as wide as its next operand. */
static void
widen(struct op_arithmetic_total *t, uint8_t type)
{
    uint8_t wide = mrsi_wider(t->type, type);
    if (wide == t->type) {
        return;
    }
    if (wide == MRS_DECIMAL128) {
        t->dec = decimal_of_total(t);
    } else if (wide == MRS_DOUBLE) {
        t->real = (double)t->whole;
    }
    t->type = wide;
}

static enum mrs_status
ret_number(struct mrs_eval *ev, const struct op_arithmetic_total *t, struct mrs_val *out)
{
    uint8_t bytes[16];
    switch (t->type) {
    case MRS_INT32:
        return mrsi_ret_count(ev, t->whole, out);
    case MRS_INT64:
        return mrsi_ret_i64(ev, t->whole, out);
    case MRS_DOUBLE:
        return mrsi_ret_double(ev, t->real, out);
    default:
        mrsi_dec_store(bytes, t->dec);
        return mrsi_ret_decimal(ev, bytes, out);
    }
}

/* The date plus the numbers, rounded to whole milliseconds; false: no such date. */
static bool
whole_of(const struct op_arithmetic_total *t, int64_t *ms)
{
    unsigned int flags = 0;
    if (t->type == MRS_DECIMAL128) {
        *ms = __bid128_to_int64_rnint(__bid128_add(t->dec, __bid128_from_int64(t->ms), MRSI_DEC_EVEN, &flags), &flags);
        return !(flags & MRSI_DEC_INVALID);
    }
    if (t->type == MRS_DOUBLE && !(t->real >= -0x1p63 && t->real < 0x1p63)) {
        return false;
    }
    return !__builtin_add_overflow(t->ms, t->type == MRS_DOUBLE ? llround(t->real) : t->whole, ms);
}

static void
add_one(struct op_arithmetic_total *t, struct mrs_val v)
{
    unsigned int flags = 0;
    int64_t whole = 0, sum;
    bool integer = mrsi_is_integer(v, &whole);
    widen(t, v.type);
    if (t->type == MRS_DECIMAL128) {
        t->dec = __bid128_add(t->dec, mrsi_decimal_of(v), MRSI_DEC_EVEN, &flags);
    } else if (t->type == MRS_DOUBLE) {
        t->real += integer ? (double)whole : mrs_val_double(v);
    } else if (__builtin_add_overflow(t->whole, whole, &sum)) {
        t->real = (double)t->whole + (double)whole;
        t->type = MRS_DOUBLE;
    } else {
        t->whole = sum;
    }
}

static enum mrs_status
op_add(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct op_arithmetic_total t = {.type = MRS_INT32};
    for (uint32_t i = 0; i < x->n_args; i++) {
        struct mrs_val v;
        MRS_TRY(mrsi_arg(x, i, ev, &v));
        if (mrsi_is_nullish(v)) {
            return mrsi_ret_null(out);
        }
        if (v.type == MRS_DATE && t.date) {
            return mrsi_eval_error(x, ev, "takes one date only");
        }
        if (v.type != MRS_DATE && !mrs_is_number(v)) {
            return mrsi_eval_error(x, ev, "takes numbers and a date, not %s", mrs_type_name(v.type));
        }
        if (v.type == MRS_DATE) {
            t.date = true;
            t.ms = mrs_val_i64(v);
        } else {
            add_one(&t, v);
        }
    }
    int64_t ms;
    if (!t.date) {
        return ret_number(ev, &t, out);
    }
    return whole_of(&t, &ms) ? mrsi_ret_date(ev, ms, out) : mrsi_eval_error(x, ev, "the date is out of range");
}

static void
multiply_one(struct op_arithmetic_total *t, struct mrs_val v)
{
    MRS_ASSERT(mrs_is_number(v));
    unsigned int flags = 0;
    int64_t whole = 0, product;
    widen(t, v.type);
    if (t->type == MRS_DECIMAL128) {
        t->dec = __bid128_mul(t->dec, mrsi_decimal_of(v), MRSI_DEC_EVEN, &flags);
    } else if (t->type == MRS_DOUBLE) {
        t->real *= mrsi_to_double(v);
    } else if (mrsi_is_integer(v, &whole) && __builtin_mul_overflow(t->whole, whole, &product)) {
        t->real = (double)t->whole * (double)whole;
        t->type = MRS_DOUBLE;
    } else {
        t->whole *= whole;
    }
}

static enum mrs_status
op_multiply(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct op_arithmetic_total t = {.type = MRS_INT32, .whole = 1};
    for (uint32_t i = 0; i < x->n_args; i++) {
        struct mrs_val v;
        MRS_TRY(mrsi_arg(x, i, ev, &v));
        if (mrsi_is_nullish(v)) {
            return mrsi_ret_null(out);
        }
        if (!mrs_is_number(v)) {
            return mrsi_eval_error(x, ev, "takes numbers, not %s", mrs_type_name(v.type));
        }
        multiply_one(&t, v);
    }
    return ret_number(ev, &t, out);
}

/* ---- two operands ---- */

static enum mrs_status
two(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *a, struct mrs_val *b)
{
    enum mrs_status s = mrsi_arg(x, 0, ev, a);
    return s == MRS_OK ? mrsi_arg(x, 1, ev, b) : s;
}

static enum mrs_status
not_numbers(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val a, struct mrs_val b)
{
    return mrsi_eval_error(x, ev, "takes two numbers, not %s and %s", mrs_type_name(a.type), mrs_type_name(b.type));
}

static void
subtract_number(struct op_arithmetic_total *t, struct mrs_val b)
{
    MRS_ASSERT(mrs_is_number(b));
    unsigned int flags = 0;
    int64_t whole = 0, difference;
    widen(t, b.type);
    if (t->type == MRS_DECIMAL128) {
        t->dec = __bid128_sub(t->dec, mrsi_decimal_of(b), MRSI_DEC_EVEN, &flags);
    } else if (t->type == MRS_DOUBLE) {
        t->real -= mrsi_to_double(b);
    } else if (mrsi_is_integer(b, &whole) && __builtin_sub_overflow(t->whole, whole, &difference)) {
        t->real = (double)t->whole - (double)whole;
        t->type = MRS_DOUBLE;
    } else {
        t->whole -= whole;
    }
}

static struct op_arithmetic_total
total_of(struct mrs_val v)
{
    struct op_arithmetic_total t = {.type = v.type};
    if (v.type == MRS_DECIMAL128) {
        t.dec = mrsi_dec_load(v.p);
    } else if (!mrsi_is_integer(v, &t.whole)) {
        t.real = mrs_val_double(v);
    }
    return t;
}

static enum mrs_status
subtract_from_date(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val a, struct mrs_val b,
                   struct mrs_val *out)
{
    int64_t from = mrs_val_i64(a), by, ms;
    if (b.type == MRS_DATE) {
        by = mrs_val_i64(b);
        return __builtin_sub_overflow(from, by, &ms) ? mrsi_eval_error(x, ev, "the dates are too far apart")
                                                     : mrsi_ret_i64(ev, ms, out);
    }
    if (!mrs_is_number(b)) {
        return mrsi_eval_error(x, ev, "takes a date or a number from a date, not %s", mrs_type_name(b.type));
    }
    struct op_arithmetic_total t = total_of(b);
    if (!whole_of(&t, &by) || __builtin_sub_overflow(from, by, &ms)) {
        return mrsi_eval_error(x, ev, "the date is out of range");
    }
    return mrsi_ret_date(ev, ms, out);
}

static enum mrs_status
op_subtract(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val a, b;
    MRS_TRY(two(x, ev, &a, &b));
    if (mrsi_is_nullish(a) || mrsi_is_nullish(b)) {
        return mrsi_ret_null(out);
    }
    if (a.type == MRS_DATE) {
        return subtract_from_date(x, ev, a, b, out);
    }
    if (!mrs_is_number(a) || !mrs_is_number(b)) {
        return not_numbers(x, ev, a, b);
    }
    struct op_arithmetic_total t = total_of(a);
    subtract_number(&t, b);
    return ret_number(ev, &t, out);
}

/* A number and its divisor; *done: one of them is null. */
static enum mrs_status
fraction(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *a, struct mrs_val *b, bool *done)
{
    MRS_ASSERT(x->n_args == 2);
    enum mrs_status s = two(x, ev, a, b);
    *done = s == MRS_OK && (mrsi_is_nullish(*a) || mrsi_is_nullish(*b));
    if (s != MRS_OK || *done) {
        return s;
    }
    if (!mrs_is_number(*a) || !mrs_is_number(*b)) {
        return not_numbers(x, ev, *a, *b);
    }
    return mrsi_truthy(*b) ? MRS_OK : mrsi_eval_error(x, ev, "division by zero"); /* of any kind of number */
}

static enum mrs_status
op_divide(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val a, b;
    bool done;
    enum mrs_status s = fraction(x, ev, &a, &b, &done);
    if (s != MRS_OK || done) {
        return s == MRS_OK ? mrsi_ret_null(out) : s;
    }
    if (a.type != MRS_DECIMAL128 && b.type != MRS_DECIMAL128) {
        return mrsi_ret_double(ev, mrsi_to_double(a) / mrsi_to_double(b), out);
    }
    unsigned int flags = 0;
    uint8_t bytes[16];
    mrsi_dec_store(bytes, __bid128_div(mrsi_decimal_of(a), mrsi_decimal_of(b), MRSI_DEC_EVEN, &flags));
    return mrsi_ret_decimal(ev, bytes, out);
}

static enum mrs_status
op_mod(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val a, b;
    bool done;
    enum mrs_status s = fraction(x, ev, &a, &b, &done);
    if (s != MRS_OK || done) {
        return s == MRS_OK ? mrsi_ret_null(out) : s;
    }
    struct op_arithmetic_total t = {.type = mrsi_wider(a.type, b.type)};
    unsigned int flags = 0;
    int64_t whole_a = 0, whole_b = 0;
    if (t.type == MRS_DECIMAL128) {
        t.dec = __bid128_fmod(mrsi_decimal_of(a), mrsi_decimal_of(b), &flags);
    } else if (mrsi_is_integer(a, &whole_a) && mrsi_is_integer(b, &whole_b)) {
        t.whole = whole_b == -1 ? 0 : whole_a % whole_b;
    } else {
        t.real = fmod(mrsi_to_double(a), mrsi_to_double(b));
    }
    return ret_number(ev, &t, out);
}

/* ---- one operand, and roundings ---- */

/* The number; *done: it is null. */
static enum mrs_status
one_number(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *v, bool *done)
{
    MRS_ASSERT(x->n_args >= 1);
    enum mrs_status s = mrsi_arg(x, 0, ev, v);
    *done = s == MRS_OK && mrsi_is_nullish(*v);
    if (s != MRS_OK || *done) {
        *v = mrs_null();
        return s;
    }
    return mrs_is_number(*v) ? MRS_OK : mrsi_eval_error(x, ev, "takes a number, not %s", mrs_type_name(v->type));
}

static enum mrs_status
op_abs(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 1);
    bool done;
    enum mrs_status s = one_number(x, ev, out, &done);
    if (s != MRS_OK || done) {
        return s;
    }
    struct op_arithmetic_total t = total_of(*out);
    if (t.type == MRS_DECIMAL128) {
        t.dec = __bid128_abs(t.dec);
    } else if (t.type == MRS_DOUBLE) {
        t.real = fabs(t.real);
    } else if (t.whole == INT64_MIN) {
        return mrsi_eval_error(x, ev, "the least long has no absolute value");
    } else {
        t.whole = t.whole < 0 ? -t.whole : t.whole;
    }
    return ret_number(ev, &t, out);
}

/* Rounds to a multiple of 10^-place; NaN if that needs more than 34 digits. */
static BID_UINT128
quantize(BID_UINT128 v, int place, unsigned int mode)
{
    unsigned int flags = 0;
    uint8_t bytes[16];
    struct mrsi_dec unit = {.coef = 1, .exp = -place};
    mrsi_dec_pack(&unit, bytes);
    return __bid128_quantize(v, mrsi_dec_load(bytes), mode, &flags);
}

static enum mrs_status
ceil_or_floor(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 1);
    bool up = x->op->variant;
    bool done;
    enum mrs_status s = one_number(x, ev, out, &done);
    if (s != MRS_OK || done || out->type == MRS_INT32 || out->type == MRS_INT64) {
        return s;
    }
    struct op_arithmetic_total t = total_of(*out);
    if (t.type == MRS_DOUBLE) {
        t.real = up ? ceil(t.real) : floor(t.real);
    } else {
        t.dec = quantize(t.dec, 0, up ? MRSI_DEC_UP : MRSI_DEC_DOWN);
    }
    return ret_number(ev, &t, out);
}

/* As quantize, but a number without such a multiple in 34 digits stays unchanged. */
static BID_UINT128
round_decimal(BID_UINT128 v, int place, unsigned int mode)
{
    uint8_t bytes[16];
    BID_UINT128 rounded = quantize(v, place, mode);
    mrsi_dec_store(bytes, rounded);
    return mrsi_dec_parts(bytes).nan ? v : rounded;
}

static enum mrs_status
round_whole(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v, int place, unsigned int mode,
            struct mrs_val *out)
{
    struct op_arithmetic_total t = total_of(v);
    unsigned int flags = 0;
    if (place < 0) {
        t.whole = __bid128_to_int64_int(quantize(__bid128_from_int64(t.whole), place, mode), &flags);
        if (flags & MRSI_DEC_INVALID) {
            return mrsi_eval_error(x, ev, "the result does not fit a long");
        }
    }
    return ret_number(ev, &t, out);
}

static enum mrs_status
round_or_trunc(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 1 || x->n_args == 2);
    unsigned int mode = (unsigned int)x->op->variant;
    struct mrs_val v, where = mrs_missing();
    int64_t place = 0;
    enum mrs_status s = mrsi_arg(x, 0, ev, &v);
    if (s == MRS_OK && x->n_args > 1) {
        s = mrsi_arg(x, 1, ev, &where);
    }
    if (s != MRS_OK || mrsi_is_nullish(v)) {
        *out = mrs_null();
        return s;
    }
    if (!mrs_is_number(v)) {
        return mrsi_eval_error(x, ev, "takes a number, not %s", mrs_type_name(v.type));
    }
    if (x->n_args > 1 && mrsi_is_nullish(where)) {
        return mrsi_ret_null(out);
    }
    if (x->n_args > 1 && (!mrs_val_integral(where, &place) || place < -20 || place > 100)) {
        return mrsi_eval_error(x, ev, "the place must be a whole number from -20 to 100");
    }
    struct op_arithmetic_total t = total_of(v);
    if (t.type == MRS_INT32 || t.type == MRS_INT64) {
        return round_whole(x, ev, v, (int)place, mode, out);
    }
    if (t.type == MRS_DECIMAL128) {
        t.dec = round_decimal(t.dec, (int)place, mode);
    } else if (isfinite(t.real)) {
        unsigned int flags = 0;
        BID_UINT128 dec = __binary64_to_bid128(t.real, MRSI_DEC_EVEN, &flags);
        t.real = __bid128_to_binary64(round_decimal(dec, (int)place, mode), MRSI_DEC_EVEN, &flags);
    }
    return ret_number(ev, &t, out);
}

#define ROW(n) .row = {"$" n, "arithmetic", ""}
const struct mrs_op mrsi_ops_arithmetic[] = {
    {ROW("add"), .eval = op_add, .n_min = 0, .n_max = 255},
    {ROW("subtract"), .eval = op_subtract, .n_min = 2, .n_max = 2},
    {ROW("multiply"), .eval = op_multiply, .n_min = 0, .n_max = 255},
    {ROW("divide"), .eval = op_divide, .n_min = 2, .n_max = 2},
    {ROW("mod"), .eval = op_mod, .n_min = 2, .n_max = 2},
    {ROW("abs"), .eval = op_abs, .n_min = 1, .n_max = 1},
    {ROW("ceil"), .eval = ceil_or_floor, .variant = true, .n_min = 1, .n_max = 1},
    {ROW("floor"), .eval = ceil_or_floor, .n_min = 1, .n_max = 1},
    {ROW("round"), .eval = round_or_trunc, .variant = MRSI_DEC_EVEN, .n_min = 1, .n_max = 2},
    {ROW("trunc"), .eval = round_or_trunc, .variant = MRSI_DEC_ZERO, .n_min = 1, .n_max = 2},
    {.row = {NULL, NULL, NULL}},
};
