/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - a plan tried on some documents of a server before anything is written: what `check` finds in a dump. */
#ifndef LIVE_TRIAL_H
#define LIVE_TRIAL_H

#include "live/survey/survey.h"

/* Reads at most 1,000 documents of each collection that the plan names, and those that they refer to, into a dump in a
 * temporary folder, and runs the plan over it. What that finds becomes notes of `out`, behind a line that says on how
 * many documents it was tried; *refused: documents that the plan would refuse. Where some of a collection say nothing
 * of all (trees, links, new `_id`s), or a server or disk fails, one note says why nothing was tried. Writes nothing on
 * the server. OK; FAIL MRS_E_CANCEL; DEAD. */
enum mrs_status live_try_plan(struct live_job *job, struct live_preflight *out, uint64_t *refused, struct mrs_err *e);

/* ---- of the inside: trial_docs.c ---- */
struct live_trial_coll {
    const struct live_coll_info *info;
    struct mrs_buf docs; /* one behind the other */
    uint64_t n;
    bool loaded, whole;
};
struct live_trial {
    struct live_job *job;
    struct mrs_arena arena;
    struct live_trial_coll *coll;
    uint32_t n;
    uint64_t bytes; /* most of one collection */
    bool whole;     /* all of every collection was read */
    bool *closed;   /* by steps: a join in which each reference that was read would find its document */
};
/* Reads the documents. FAIL MRS_E_LIMIT: the plan cannot be tried on some of them, with the reason. */
enum mrs_status live_trial_read(struct live_job *job, struct live_trial *out, struct mrs_err *e);
void live_trial_clear(struct live_trial *t);

#endif
