/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.h - translates steps of a plan into pipelines that a server runs itself: exact, or refused with the reason.
 *
 * A pipeline cannot refuse one document. If a step can, filters accompany it: each must find no documents among those
 * that the pipeline is to process, or a client has to process these. Derived from a plan alone, without a server. */
#ifndef MONGORESHAPE_PIPELINE_H
#define MONGORESHAPE_PIPELINE_H

#include "mongoreshape/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MRS_LOWERED_PARTS 32
struct mrs_lowered_count { /* must find nothing: a filter, or stages whose results are counted; the other one has n 0 */
    const struct mrs_coll *on;
    struct mrs_view filter, stages;
    const char *why; /* a description of the documents it finds */
};
struct mrs_lowered_write {
    const struct mrs_coll *on, *into;
    bool fresh;               /* into another collection, which must not have the `_id` yet; else in place */
    struct mrs_view stages;   /* an array: from documents of `on` to the documents to write */
    struct mrs_view pipeline; /* the same stages and the stage that writes */
};
/* after all writes: removes the documents of a filter, or those with the `_id`s that the stages return */
struct mrs_lowered_removal {
    const struct mrs_coll *on;
    struct mrs_view filter, stages;
};
struct mrs_lowered_command { /* a command of the server, for the database db */
    const char *db;
    struct mrs_view doc;
};
struct mrs_lowered {
    const struct mrs_step *step;
    const char *reason;        /* why it has no pipeline, and the alternative; NULL: it has one */
    const struct mrs_coll *on; /* its first collection */
    bool whole;                /* it needs a whole collection at once: split into ranges, the result would differ */
    uint32_t n_counts, n_writes, n_removals, n_commands;
    struct mrs_lowered_count count[MRS_LOWERED_PARTS];
    struct mrs_lowered_write write[MRS_LOWERED_PARTS]; /* in this order */
    struct mrs_lowered_removal removal[MRS_LOWERED_PARTS];
    struct mrs_lowered_command command[MRS_LOWERED_PARTS]; /* in this order, after all else */
};
/* plan: frozen, without errors; i: from 0. All of *out lives in the arena or in the plan. OK, DEAD. */
enum mrs_status mrs_plan_lower(const struct mrs_plan *p, uint32_t i, struct mrs_arena *a, struct mrs_lowered *out,
                               struct mrs_err *e);
/* All steps of the plan, for the shell or as one JSON object (canonical Extended JSON), appended to out. OK, DEAD. */
enum mrs_status mrs_plan_pipeline(const struct mrs_plan *p, bool json, struct mrs_buf *out, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
