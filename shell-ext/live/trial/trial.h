/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - tries a plan on some documents of a server before anything is written: the findings of `check` on a
 * dump. */
#ifndef LIVE_TRIAL_H
#define LIVE_TRIAL_H

#include "live/survey/survey.h"

/* Reads at most 1,000 documents of each collection of the plan, and those that they refer to, into a dump in a
 * temporary folder, and runs the plan over it. The findings become notes of `out`, after a line with the number of
 * documents; *refused: documents that the plan would refuse. If a part of a collection is not conclusive (trees, links,
 * new `_id`s), or a server or disk fails, one note gives the reason. Writes nothing on the server. OK; FAIL
 * MRS_E_CANCEL; DEAD. */
enum mrs_status live_try_plan(struct live_job *job, struct live_preflight *out, uint64_t *refused, struct mrs_err *e);

/* ---- internal: trial_docs.c ---- */
struct live_trial_coll {
    const struct live_coll_info *info;
    struct mrs_buf docs; /* contiguous */
    uint64_t n;
    bool loaded, whole;
};
struct live_trial {
    struct live_job *job;
    struct mrs_arena arena;
    struct live_trial_coll *coll;
    uint32_t n;
    uint64_t bytes; /* maximum for one collection */
    bool whole;     /* every collection was read completely */
    bool *closed;   /* by step: a join in which each reference read would find its document */
};
/* Reads the documents. FAIL MRS_E_LIMIT: the plan cannot be tried on a part of them, with the reason. */
enum mrs_status live_trial_read(struct live_job *job, struct live_trial *out, struct mrs_err *e);
void live_trial_clear(struct live_trial *t);

#endif
