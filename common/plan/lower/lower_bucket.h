/* SPDX-License-Identifier: Apache-2.0 */
/* lower_bucket.h - the parameters of a bucket step for its stages. */
#ifndef MRSI_LOWER_BUCKET_H
#define MRSI_LOWER_BUCKET_H

#include "lower.h"

enum { MRSI_BUCKET_FOLDS = 32 };
struct mrsi_lower_bucket {
    const char *items, *start, *end;
    struct mrs_view time;  /* {v: its expression}; n 0: none */
    struct mrs_view by;    /* {name: expression, ...} */
    struct mrs_view every; /* {unit, binSize, startOfWeek}; n 0: none */
    int64_t max;           /* 0: none */
    struct mrs_elem fold[MRSI_BUCKET_FOLDS];
    uint32_t n_fold;
};

/* The reason why it is not a pipeline, or NULL. */
const char *mrsi_lower_read_bucket(struct mrsi_lower *l, struct mrsi_lower_bucket *b);

#endif
