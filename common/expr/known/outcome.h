/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - what an expression can come to when it sees one value of a known type: that value, others, a failure. */
#ifndef MRS_EXPR_OUTCOME_H
#define MRS_EXPR_OUTCOME_H

#include "expr/expr_internal.h"

/* Where the value is: a base of paths (MRSI_ROOT, a slot, a variable of the step) and names below it. */
struct mrsi_expr_spot {
    int32_t base;
    uint32_t n; /* names */
    const struct mrsi_expr_spot *up; /* the spot that holds it; NULL: n is 0 */
    const char *name;
};
enum mrsi_meets { MRSI_APART, MRSI_SPOT, MRSI_MEETS };
/* How a path lies to the spot: it is that, it leads to or through it, or neither. */
enum mrsi_meets mrsi_expr_spot_meets(const struct mrsi_expr_spot *at, const struct mrs_expr *path);
/* Whether anything that an expression reads meets the spot. */
bool mrsi_expr_spot_read(const struct mrsi_expr_spot *at, const struct mrs_expr *x);

#define MRSI_ALL_TYPES UINT32_MAX
#define MRSI_NUMBERS                                                                                                 \
    (mrs_type_bit(MRS_INT32) | mrs_type_bit(MRS_INT64) | mrs_type_bit(MRS_DOUBLE) | mrs_type_bit(MRS_DECIMAL128))
#define MRSI_NULLISH (mrs_type_bit(MRS_NULL) | mrs_type_bit(MRS_UNDEFINED) | mrs_type_bit(MRS_MISSING))

enum mrsi_outcome_kind {
    MRSI_SAME,  /* the value at the spot */
    MRSI_FAILS,
    MRSI_GIVES  /* what `from` gives: a value of these types */
};
struct mrsi_outcome {
    enum mrsi_outcome_kind kind;
    const struct mrs_expr *from;
    uint32_t types;
};
#define MRSI_OUTCOMES_MAX 32
struct mrsi_outcomes {
    struct mrsi_outcome item[MRSI_OUTCOMES_MAX];
    uint32_t n;
    bool more; /* there are others, of which nothing is known */
};
/* Adds what x can come to where the value at the spot has this one type (mrs_type_bit). */
void mrsi_outcomes_of(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type,
                      struct mrsi_outcomes *out);
/* Whether that is the value itself, and nothing else. */
bool mrsi_only_same(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type);
/* Whether it is null, or missing, and does not fail. */
bool mrsi_gives_null(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type);
bool mrsi_is_call(const struct mrs_expr *x, const char *op);
bool mrsi_is_one_of(const struct mrs_expr *x, const char *const *ops); /* ends in NULL */

#endif
