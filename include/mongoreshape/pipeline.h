/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.h - steps of a plan as pipelines that a server runs by itself: exact, or refused with the reason.
 *
 * A pipeline cannot refuse one document. Where a step can, there are filters beside it: each must find nothing on the
 * documents that the pipeline is to take, or a client has to do these. Read back from a plan alone, no server is
 * asked. */
#ifndef MONGORESHAPE_PIPELINE_H
#define MONGORESHAPE_PIPELINE_H

#include "mongoreshape/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MRS_LOWERED_COUNTS 8
struct mrs_lowered_count {
    struct mrs_view filter;
    const char *why; /* what the documents it finds are */
};
struct mrs_lowered {
    const struct mrs_step *step;
    const char *reason;          /* why it is no pipeline, and what does it then; NULL: it is one */
    const struct mrs_coll *on;   /* where all of it runs */
    struct mrs_lowered_count count[MRS_LOWERED_COUNTS];
    uint32_t n_counts;
    struct mrs_view pipeline;    /* an array of stages, the last one writes; n 0: none */
    struct mrs_view remove;      /* filter of those that are removed, once the pipeline is done; n 0: none are */
};
/* plan: frozen, without errors; i: from 0. All of *out lives in the arena or in the plan. OK, DEAD. */
enum mrs_status mrs_plan_lower(const struct mrs_plan *p, uint32_t i, struct mrs_arena *a, struct mrs_lowered *out,
                               struct mrs_err *e);
/* All steps so, for the shell or as one JSON object (canonical Extended JSON), appended to out. OK, DEAD. */
enum mrs_status mrs_plan_pipeline(const struct mrs_plan *p, bool json, struct mrs_buf *out, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
