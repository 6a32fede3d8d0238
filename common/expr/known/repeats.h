/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.h - shared by the files repeats*.c. */
#ifndef MRS_EXPR_REPEATS_H
#define MRS_EXPR_REPEATS_H

#include "outcome.h"

/* Effect of a missing value at the spot: the field is removed, null is written, or the old value stays. */
enum mrsi_absent { MRSI_ABSENT_REMOVED, MRSI_ABSENT_IS_NULL, MRSI_ABSENT_STAYS };
struct mrsi_repeat_rules {
    bool keeps;       /* on failure the old value stays */
    uint32_t instead; /* types of the value written on failure; 0: none */
    enum mrsi_absent absent;
    bool flat;        /* the result may contain no nested values */
};
/* Whether x, whose result is written to the spot, returns the same result again for it. */
bool mrsi_repeats_at(const struct mrs_expr *x, const struct mrsi_expr_spot *at, struct mrsi_repeat_rules rules);
/* mrsi_repeats_at for one node that returned a value of this type, and returns one again. */
bool mrsi_repeats_call(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, bool keeps);
/* mrsi_repeats_at for nested changes of text. */
bool mrsi_repeats_text(const struct mrs_expr *x, const struct mrsi_expr_spot *at);

#endif
