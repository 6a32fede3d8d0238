/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - the possible outcomes of an expression for one value of a known type: that value, others, a failure. */
#ifndef MRS_EXPR_OUTCOME_H
#define MRS_EXPR_OUTCOME_H

#include "expr/expr_internal.h"

/* The place of the value: a base of paths (MRSI_ROOT, a slot, a variable of the step) and names below it. */
struct mrsi_expr_spot {
    int32_t base;
    uint32_t n; /* number of names */
    const struct mrsi_expr_spot *up; /* the spot that contains it; NULL: n is 0 */
    const char *name;
    const struct mrs_val *value; /* the value itself, if it is known */
};
enum mrsi_meets { MRSI_APART, MRSI_SPOT, MRSI_MEETS };
/* The relation of a path to the spot: equal, a prefix or extension, or unrelated. */
enum mrsi_meets mrsi_expr_spot_meets(const struct mrsi_expr_spot *at, const struct mrs_expr *path);
/* Whether anything that an expression reads overlaps the spot. */
bool mrsi_expr_spot_read(const struct mrsi_expr_spot *at, const struct mrs_expr *x);

#define MRSI_ALL_TYPES UINT32_MAX
#define MRSI_NUMBERS                                                                                                 \
    (mrs_type_bit(MRS_INT32) | mrs_type_bit(MRS_INT64) | mrs_type_bit(MRS_DOUBLE) | mrs_type_bit(MRS_DECIMAL128))
#define MRSI_NULLISH (mrs_type_bit(MRS_NULL) | mrs_type_bit(MRS_UNDEFINED) | mrs_type_bit(MRS_MISSING))

enum mrsi_outcome_kind {
    MRSI_SAME,  /* the value at the spot */
    MRSI_FAILS,
    MRSI_GIVES  /* a result of `from`: a value of these types */
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
    bool more; /* there are further, unknown outcomes */
};
/* Adds the possible outcomes of x if the value at the spot has this one type (mrs_type_bit). */
void mrsi_outcomes_of(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type,
                      struct mrsi_outcomes *out);
/* Whether the only outcome is the value itself. */
bool mrsi_only_same(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type);
/* Whether the only outcome is null or missing, and no failure. */
bool mrsi_returns_null(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type);
bool mrsi_is_call(const struct mrs_expr *x, const char *op);
bool mrsi_is_one_of(const struct mrs_expr *x, const char *const *ops); /* ends in NULL */

#endif
