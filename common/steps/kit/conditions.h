/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.h - reads conditions of a `where` on other collections. */
#ifndef MRSI_CONDITIONS_H
#define MRSI_CONDITIONS_H

#include "args.h"
#include "mongoreshape/condition.h"

struct mrsi_far_reader {
    struct mrs_far far;
    struct mrsi_read *r;
    const char *key; /* key of the step with the query */
    const struct mrs_expr_env *env; /* of the query */
    const char *of;                 /* collection whose documents are tested; NULL: one of the step */
};
/* For a query of the step's entry; NULL: the plan does not allow such conditions. env: set its `far` to the result. */
const struct mrs_far *mrsi_far_begin(struct mrsi_far_reader *f, struct mrsi_read *r, const char *key,
                                     const struct mrs_expr_env *env);

#endif
