/* SPDX-License-Identifier: Apache-2.0 */
/* stage_pipeline.h - a stage between two collections: is it allowed, and its pipeline. */
#ifndef MRSI_STAGE_PIPELINE_H
#define MRSI_STAGE_PIPELINE_H

#include "mongoreshape/stage.h"

struct mrsi_stage_pair {
    const struct mrs_coll *of, *emit;
    struct mrs_stage_route route;
    bool admitted;            /* and a step uses the documents */
    struct mrs_buf why;       /* if not admitted: errors, one for each line */
    struct mrs_buf notes;     /* tasks for the user, one for each line */
    struct mrs_buf bytes;
    struct mrs_view pipeline; /* in bytes; an array of stages */
};
/* OK, DEAD. Clear it in any case. */
enum mrs_status mrsi_stage_pair_find(const struct mrs_plan *p, const struct mrs_coll *of, const struct mrs_coll *emit,
                                     struct mrs_arena *a, struct mrsi_stage_pair *out, struct mrs_err *e);
void mrsi_stage_pair_clear(struct mrsi_stage_pair *pair);

#endif
