/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.h - conditions of a `where` on other collections, as a step's entry is read. */
#ifndef MRSI_CONDITIONS_H
#define MRSI_CONDITIONS_H

#include "args.h"
#include "mongoreshape/condition.h"

struct mrsi_far_reader {
    struct mrs_far far;
    struct mrsi_read *r;
    const char *key; /* of the step: the one that the query is at */
    const struct mrs_expr_env *env; /* of the query */
    const char *of;                 /* the collection whose documents are asked; NULL: one of the step */
};
/* For a query of the step's entry; NULL: the plan may not have such conditions. env: with `far` set to what is
 * returned. */
const struct mrs_far *mrsi_far_begin(struct mrsi_far_reader *f, struct mrsi_read *r, const char *key,
                                     const struct mrs_expr_env *env);

#endif
