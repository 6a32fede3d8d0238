/* SPDX-License-Identifier: Apache-2.0 */
/* total.h - aggregates of many numbers, for expressions and accumulators: their sum ($sum, $avg), deviation
 * ($stdDevPop, $stdDevSamp), and rank ($percentile).
 *
 * A sum is two doubles, with the rounding error of each addition in the second, so that long sums of doubles equal a
 * server's to the last bit; decimals have a separate total and receive doubles with 34 digits. */
#ifndef MRS_EXPR_TOTAL_H
#define MRS_EXPR_TOTAL_H

#include "expr/expr_internal.h"
#include "doc/decimal.h"

struct mrsi_total {
    uint64_t count : 56, type : 8; /* type: widest seen. There are millions of states: the two share a word */
    double total, error, naive; /* naive: the result after a total overflowed in between */
    BID_UINT128 dec;
};

void mrsi_total_init(struct mrsi_total *t); /* of no numbers */
static inline double
mrsi_two_sum(double a, double b, double *error)
{
    double s = a + b;
    double part = s - a;
    *error = (a - (s - part)) + (b - part);
    return s;
}

static inline void
mrsi_total_add_double(struct mrsi_total *t, double d)
{
    double lost;
    t->naive += d;
    d = mrsi_two_sum(d, t->error, &t->error);
    t->total = mrsi_two_sum(t->total, d, &lost);
    t->error += lost;
}

static inline void
mrsi_total_add_whole(struct mrsi_total *t, int64_t whole)
{
    int64_t high = whole / (1ll << 32) * (1ll << 32);
    mrsi_total_add_double(t, (double)(whole - high));
    mrsi_total_add_double(t, (double)high);
}

/* Ignores values that are not numbers. Inline: called millions of times. */
static inline void
mrsi_total_add(struct mrsi_total *t, struct mrs_val v)
{
    unsigned int flags = 0;
    if (!mrs_is_number(v)) {
        return;
    }
    t->type = mrsi_wider(t->type, v.type);
    t->count++;
    switch (v.type) {
    case MRS_DECIMAL128:
        t->dec = __bid128_add(t->dec, mrsi_dec_load(v.p), MRSI_DEC_EVEN, &flags);
        break;
    case MRS_DOUBLE:
        mrsi_total_add_double(t, mrs_val_double(v));
        break;
    case MRS_INT64:
        mrsi_total_add_whole(t, mrs_val_i64(v));
        break;
    default:
        mrsi_total_add_double(t, mrs_val_i32(v));
    }
}

/* The sum, of the widest type seen (an int32 that grows out of it: int64, then double). */
enum mrs_status mrsi_total_sum(const struct mrsi_total *t, struct mrs_eval *ev, struct mrs_val *out);
/* The average; null of no numbers. exact: a sum of whole numbers is used to its last digit while 64 bits hold it. */
enum mrs_status mrsi_total_average(const struct mrsi_total *t, bool exact, struct mrs_eval *ev, struct mrs_val *out);

/* Mean and squares in one pass (Welford), decimals as doubles. */
struct mrsi_spread {
    uint64_t count;
    double mean, squares;
};

void mrsi_spread_add(struct mrsi_spread *s, struct mrs_val v); /* ignores values that are not numbers */
/* The deviation; null of too few numbers. less: 1 for a sample, 0 for all. */
enum mrs_status mrsi_spread_value(const struct mrsi_spread *s, uint64_t less, struct mrs_eval *ev,
                                  struct mrs_val *out);
/* The rank, from 0, in n sorted values (n > 0) of the smallest one that at least the share p of them does not
 * exceed. */
size_t mrsi_percentile_rank(size_t n, double p);

#endif
