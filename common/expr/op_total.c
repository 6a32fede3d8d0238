/* op_total.c - $sum, $avg, $min, $max as expressions.
 *
 * A single operand that is an array stands for its elements; several operands stand for themselves. Sums are
 * kept in two doubles, with the rounding error of each addition in the second, as the server does it, so that
 * long sums of doubles come out the same to the last bit; decimals have a total of their own and take doubles
 * with 34 digits. */
#include "op_number.h"
#include <math.h>

enum mrs_status
mrsi_each_operand(const struct mrs_expr *x, struct mrs_eval *ev, mrsi_each_fn fn, void *arg)
{
    struct mrs_val v;
    if (x->n_args != 1) {
        for (uint32_t i = 0; i < x->n_args; i++) {
            MRSI_TRY(mrsi_arg(x, i, ev, &v));
            MRSI_TRY(fn(arg, v));
        }
        return MRS_OK;
    }
    MRSI_TRY(mrsi_arg(x, 0, ev, &v));
    if (v.type != MRS_ARRAY) {
        return fn(arg, v);
    }
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &el) == 1) {
        MRSI_TRY(fn(arg, el.v));
    }
    return MRS_OK;
}

/* ---- sums ---- */

struct sum {
    uint8_t type; /* widest seen */
    uint32_t count;
    double total, error, naive;
    BID_UINT128 dec;
};

static double
two_sum(double a, double b, double *error)
{
    double s = a + b;
    double part = s - a;
    *error = (a - (s - part)) + (b - part);
    return s;
}

static void
add_double(struct sum *s, double d)
{
    double lost;
    s->naive += d;
    d = two_sum(d, s->error, &s->error);
    s->total = two_sum(s->total, d, &lost);
    s->error += lost;
}

static void
add_whole(struct sum *s, int64_t whole)
{
    int64_t high = whole / (1ll << 32) * (1ll << 32);
    add_double(s, (double)(whole - high));
    add_double(s, (double)high);
}

static enum mrs_status
sum_one(void *arg, struct mrs_val v)
{
    struct sum *s = arg;
    unsigned int flags = 0;
    if (!mrs_is_number(v)) {
        return MRS_OK;
    }
    s->type = mrsi_wider(s->type, v.type);
    s->count++;
    switch (v.type) {
    case MRS_DECIMAL128:
        s->dec = __bid128_add(s->dec, mrsi_dec_load(v.p), MRSI_DEC_EVEN, &flags);
        break;
    case MRS_DOUBLE:
        add_double(s, mrs_val_double(v));
        break;
    case MRS_INT64:
        add_whole(s, mrs_val_i64(v));
        break;
    default:
        add_double(s, mrs_val_i32(v));
    }
    return MRS_OK;
}

static double
sum_double(const struct sum *s)
{
    return isnan(s->total) ? s->naive : s->total;
}

static BID_UINT128
sum_decimal(const struct sum *s)
{
    unsigned int flags = 0;
    BID_UINT128 rest = __binary64_to_bid128(sum_double(s), MRSI_DEC_EVEN, &flags);
    if (isfinite(s->total)) { /* else the error is NaN */
        rest = __bid128_add(rest, __binary64_to_bid128(s->error, MRSI_DEC_EVEN, &flags), MRSI_DEC_EVEN, &flags);
    }
    return __bid128_add(s->dec, rest, MRSI_DEC_EVEN, &flags);
}

/* The sum of whole numbers, where 64 bits hold it. */
static bool
sum_whole(const struct sum *s, int64_t *whole)
{
    if (s->total == 0x1p63 && s->error < 0) {
        *whole = INT64_MAX + (int64_t)(s->error + 1);
        return true;
    }
    if (!(s->total >= -0x1p63 && s->total < 0x1p63) || (s->total == -0x1p63 && s->error < 0)) {
        return false;
    }
    *whole = (int64_t)s->total + (int64_t)s->error;
    return true;
}

static enum mrs_status
op_sum(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct sum s = {.type = MRS_INT32, .dec = __bid128_from_int64(0)};
    int64_t whole;
    MRSI_TRY(mrsi_each_operand(x, ev, sum_one, &s));
    if (s.type == MRS_DECIMAL128) {
        return mrsi_ret_dec(ev, sum_decimal(&s), out);
    }
    if (s.type == MRS_DOUBLE || !sum_whole(&s, &whole)) {
        return mrsi_ret_double(ev, sum_double(&s), out);
    }
    return s.type == MRS_INT32 ? mrsi_ret_count(ev, whole, out) : mrsi_ret_i64(ev, whole, out);
}

static enum mrs_status
op_avg(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct sum s = {.type = MRS_INT32, .dec = __bid128_from_int64(0)};
    unsigned int flags = 0;
    MRSI_TRY(mrsi_each_operand(x, ev, sum_one, &s));
    if (!s.count) {
        return mrsi_ret_null(out);
    }
    if (s.type == MRS_DECIMAL128) {
        return mrsi_ret_dec(ev, __bid128_div(sum_decimal(&s), __bid128_from_int64(s.count), MRSI_DEC_EVEN, &flags), out);
    }
    return mrsi_ret_double(ev, sum_double(&s) / s.count, out);
}

/* ---- least and greatest ---- */

struct extreme {
    int wanted; /* sign of compare(v, best) that replaces best */
    struct mrs_val best;
};

static enum mrs_status
extreme_one(void *arg, struct mrs_val v)
{
    struct extreme *m = arg;
    if (mrsi_is_nullish(v)) {
        return MRS_OK;
    }
    int order = m->best.type == MRS_MISSING ? m->wanted : mrs_compare(v, m->best);
    if ((order > 0) - (order < 0) == m->wanted) {
        m->best = v;
    }
    return MRS_OK;
}

static enum mrs_status
extreme(const struct mrs_expr *x, struct mrs_eval *ev, int wanted, struct mrs_val *out)
{
    struct extreme m = {wanted, mrs_missing()};
    MRSI_TRY(mrsi_each_operand(x, ev, extreme_one, &m));
    *out = m.best.type == MRS_MISSING ? mrs_null() : m.best;
    return MRS_OK;
}

static enum mrs_status
op_min(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    return extreme(x, ev, -1, out);
}

static enum mrs_status
op_max(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    return extreme(x, ev, 1, out);
}

#define ROW(n) .row = {"$" n, "total", ""}
const struct mrs_op mrsi_ops_total[] = {
    {ROW("sum"), .eval = op_sum, .n_min = 0, .n_max = 255},
    {ROW("avg"), .eval = op_avg, .n_min = 0, .n_max = 255},
    {ROW("min"), .eval = op_min, .n_min = 0, .n_max = 255},
    {ROW("max"), .eval = op_max, .n_min = 0, .n_max = 255},
    {.row = {NULL, NULL, NULL}},
};
