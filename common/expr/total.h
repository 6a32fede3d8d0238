/* total.h - the sum of many numbers, as $sum and $avg keep it, as expressions and as accumulators.
 *
 * Two doubles, with the rounding error of each addition in the second, so that long sums of doubles come out the same
 * to the last bit as a server's; decimals have a total of their own and take doubles with 34 digits. */
#ifndef MRS_EXPR_TOTAL_H
#define MRS_EXPR_TOTAL_H

#include "internal.h"
#include "../doc/decimal.h"

struct mrsi_total {
    uint8_t type; /* widest seen */
    uint64_t count;
    double total, error, naive; /* naive: what a total that overflowed in between is taken from */
    BID_UINT128 dec;
};

void mrsi_total_init(struct mrsi_total *t); /* of nothing */
void mrsi_total_add(struct mrsi_total *t, struct mrs_val v); /* what is no number is ignored */
/* The sum, of the widest type seen (an int32 that grows out of it: int64, then double). */
enum mrs_status mrsi_total_sum(const struct mrsi_total *t, struct mrs_eval *ev, struct mrs_val *out);
/* The average; null of nothing. exact: a sum of whole numbers is used to its last digit while 64 bits hold it. */
enum mrs_status mrsi_total_average(const struct mrsi_total *t, bool exact, struct mrs_eval *ev, struct mrs_val *out);

#endif
