/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.h - what the files repeats*.c share. */
#ifndef MRS_EXPR_REPEATS_H
#define MRS_EXPR_REPEATS_H

#include "outcome.h"

/* What a missing value does at the spot: it is written as null, or what is there stays; else the field goes. */
enum mrsi_absent { MRSI_ABSENT_GOES, MRSI_ABSENT_IS_NULL, MRSI_ABSENT_STAYS };
struct mrsi_repeat_rules {
    bool keeps;       /* where it fails, what is there stays */
    uint32_t instead; /* types of what is written where it fails; 0: nothing is */
    enum mrsi_absent absent;
    bool flat;        /* nothing that holds other values may be made */
};
/* Whether x, written to the spot, gives what it gave when it sees that. */
bool mrsi_repeats_at(const struct mrs_expr *x, const struct mrsi_expr_spot *at, struct mrsi_repeat_rules rules);
/* The same of one node that gave a value of this type, and gives one again. */
bool mrsi_repeats_call(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, bool keeps);
/* The same of changes of text, one made in another. */
bool mrsi_repeats_text(const struct mrs_expr *x, const struct mrsi_expr_spot *at);

#endif
