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

#define MRS_LOWERED_PARTS 16
struct mrs_lowered_count { /* must find nothing: a filter, or stages whose results are counted; the other has n 0 */
    const struct mrs_coll *on;
    struct mrs_view filter, stages;
    const char *why; /* what the documents it finds are */
};
struct mrs_lowered_write {
    const struct mrs_coll *on, *into;
    bool fresh;               /* into another collection, where the `_id` must be free; else in place */
    struct mrs_view stages;   /* an array: documents of `on` become those that are written */
    struct mrs_view pipeline; /* the same with the stage that writes them */
};
struct mrs_lowered_removal { /* once all is written: what a filter finds, or whose `_id`s the stages give */
    const struct mrs_coll *on;
    struct mrs_view filter, stages;
};
struct mrs_lowered_command { /* a command of the server, for the database db */
    const char *db;
    struct mrs_view doc;
};
struct mrs_lowered {
    const struct mrs_step *step;
    const char *reason;        /* why it is no pipeline, and what does it then; NULL: it is one */
    const struct mrs_coll *on; /* its first collection */
    bool whole;                /* it takes a collection at once: cut into ranges it would give other documents */
    uint32_t n_counts, n_writes, n_removals, n_commands;
    struct mrs_lowered_count count[MRS_LOWERED_PARTS];
    struct mrs_lowered_write write[MRS_LOWERED_PARTS]; /* in this order */
    struct mrs_lowered_removal removal[MRS_LOWERED_PARTS];
    struct mrs_lowered_command command[MRS_LOWERED_PARTS]; /* in this order, after all else */
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
