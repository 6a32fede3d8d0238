/* SPDX-License-Identifier: Apache-2.0 */
/* total.c - aggregates of many numbers. Knows no operator. */
#include "expr/op_number.h"
#include "total.h"
#include <math.h>

void
mrsi_total_init(struct mrsi_total *t)
{
    *t = (struct mrsi_total){.type = MRS_INT32, .dec = __bid128_from_int64(0)};
}

static double
as_double(const struct mrsi_total *t)
{
    return isnan(t->total) ? t->naive : t->total;
}

static BID_UINT128
as_decimal(const struct mrsi_total *t)
{
    unsigned int flags = 0;
    BID_UINT128 rest = __binary64_to_bid128(as_double(t), MRSI_DEC_EVEN, &flags);
    if (isfinite(t->total)) { /* else the error is NaN */
        rest = __bid128_add(rest, __binary64_to_bid128(t->error, MRSI_DEC_EVEN, &flags), MRSI_DEC_EVEN, &flags);
    }
    return __bid128_add(t->dec, rest, MRSI_DEC_EVEN, &flags);
}

/* The sum of whole numbers, if 64 bits hold it. (The rounding error of such a sum is small; that of a damaged saved
 * state may be anything.) */
static bool
as_whole(const struct mrsi_total *t, int64_t *whole)
{
    if (!(t->error > -0x1p62 && t->error < 0x1p62)) {
        return false;
    }
    if (t->total == 0x1p63 && t->error < 0) {
        *whole = INT64_MAX + (int64_t)(t->error + 1);
        return true;
    }
    if (!(t->total >= -0x1p63 && t->total < 0x1p63) || (t->total == -0x1p63 && t->error < 0)) {
        return false;
    }
    return !__builtin_add_overflow((int64_t)t->total, (int64_t)t->error, whole);
}

enum mrs_status
mrsi_total_sum(const struct mrsi_total *t, struct mrs_eval *ev, struct mrs_val *out)
{
    int64_t whole;
    if (t->type == MRS_DECIMAL128) {
        return mrsi_ret_dec(ev, as_decimal(t), out);
    }
    if (t->type == MRS_DOUBLE || !as_whole(t, &whole)) {
        return mrsi_ret_double(ev, as_double(t), out);
    }
    return t->type == MRS_INT32 ? mrsi_ret_count(ev, whole, out) : mrsi_ret_i64(ev, whole, out);
}

enum mrs_status
mrsi_total_average(const struct mrsi_total *t, bool exact, struct mrs_eval *ev, struct mrs_val *out)
{
    unsigned int flags = 0;
    int64_t whole;
    if (!t->count) {
        return mrsi_ret_null(out);
    }
    if (t->type == MRS_DECIMAL128) {
        BID_UINT128 count = __bid128_from_uint64(t->count);
        return mrsi_ret_dec(ev, __bid128_div(as_decimal(t), count, MRSI_DEC_EVEN, &flags), out);
    }
    if (exact && t->type != MRS_DOUBLE && as_whole(t, &whole)) {
        return mrsi_ret_double(ev, (double)whole / (double)t->count, out);
    }
    return mrsi_ret_double(ev, as_double(t) / (double)t->count, out);
}

void
mrsi_spread_add(struct mrsi_spread *s, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (!mrs_is_number(v)) {
        return;
    }
    double d = mrsi_to_double(v), off = d - s->mean;
    s->count++;
    if (off != 0) {
        s->mean += off / (double)s->count;
        s->squares += off * (d - s->mean);
    }
}

enum mrs_status
mrsi_spread_value(const struct mrsi_spread *s, uint64_t less, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(less <= 1);
    if (s->count <= less) {
        return mrsi_ret_null(out);
    }
    return mrsi_ret_double(ev, sqrt(s->squares / (double)(s->count - less)), out);
}

size_t
mrsi_percentile_rank(size_t n, double p)
{
    MRS_ASSERT(n > 0 && p >= 0 && p <= 1);
    double rank = ceil((double)n * p);
    return rank < 1 ? 0 : rank >= (double)n ? n - 1 : (size_t)rank - 1;
}
