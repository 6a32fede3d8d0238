/* total.h - what is known of many numbers, as expressions and as accumulators: their sum ($sum, $avg), how far they
 * spread ($stdDevPop, $stdDevSamp), and which of them has a rank ($percentile).
 *
 * A sum is two doubles, with the rounding error of each addition in the second, so that long sums of doubles come out
 * the same to the last bit as a server's; decimals have a total of their own and take doubles with 34 digits. */
#ifndef MRS_EXPR_TOTAL_H
#define MRS_EXPR_TOTAL_H

#include "internal.h"
#include "../doc/decimal.h"

struct mrsi_total {
    uint64_t count : 56, type : 8; /* type: widest seen. States are kept by the million: they share a word */
    double total, error, naive; /* naive: what a total that overflowed in between is taken from */
    BID_UINT128 dec;
};

void mrsi_total_init(struct mrsi_total *t); /* of nothing */
void mrsi_total_add(struct mrsi_total *t, struct mrs_val v); /* what is no number is ignored */
/* The sum, of the widest type seen (an int32 that grows out of it: int64, then double). */
enum mrs_status mrsi_total_sum(const struct mrsi_total *t, struct mrs_eval *ev, struct mrs_val *out);
/* The average; null of nothing. exact: a sum of whole numbers is used to its last digit while 64 bits hold it. */
enum mrs_status mrsi_total_average(const struct mrsi_total *t, bool exact, struct mrs_eval *ev, struct mrs_val *out);

/* Mean and squares in one pass (Welford), decimals as doubles. */
struct mrsi_spread {
    uint64_t count;
    double mean, squares;
};

void mrsi_spread_add(struct mrsi_spread *s, struct mrs_val v); /* what is no number is ignored */
/* The deviation; null of too few. less: 1 of a sample, 0 of all there is. */
enum mrs_status mrsi_spread_value(const struct mrsi_spread *s, uint64_t less, struct mrs_eval *ev,
                                  struct mrs_val *out);
/* Which of n sorted values (n > 0), from 0, is the least that at least the share p of them does not exceed. */
size_t mrsi_percentile_rank(size_t n, double p);

#endif
