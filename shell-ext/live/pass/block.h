/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - writers kept out of the collections of a plan, and a watch for those who write all the same. */
#ifndef LIVE_BLOCK_H
#define LIVE_BLOCK_H

#include "range_pass.h"
#include "live/server/server.h"

struct live_block; /* the watch */
/* By opts.quiet over all collections that the plan touches and that are there; what must be undone (old validators)
 * is written into the run document's field `blocked` first. Again is the same. Opens a change stream (replica set) or
 * reads the write counters (standalone). */
enum mrs_status live_block_enter(struct live_job *job, struct live_block **out, struct mrs_err *e);
/* FAIL MRS_E_SERVER, naming collection and, where it is known, `_id`, where another client wrote since enter. Only
 * before the first write of our own. */
enum mrs_status live_block_check(struct live_job *job, struct live_block *b, struct mrs_err *e);
void live_block_free(struct live_block *b); /* the watch ends, writers stay out; NULL: nothing */
/* Lets writers in again, as the run document says; needs no watch; nothing to do is fine. For `abort` too. */
enum mrs_status live_block_leave(struct live_job *job, struct mrs_err *e);
/* The options of a collection as they were before it was blocked; `now` where it is not blocked. In the arena. */
enum mrs_status live_block_options(struct live_job *job, const char *ns, struct mrs_view now, struct mrs_arena *a,
                                   struct mrs_view *options, struct mrs_err *e);
/* Collections that the plan names, each once, in its order: names of all sides, in the arena. */
enum mrs_status live_plan_colls(const struct live_job *job, struct mrs_arena *a, const struct mrs_coll ***out,
                                uint32_t *n, struct mrs_err *e);

#endif
