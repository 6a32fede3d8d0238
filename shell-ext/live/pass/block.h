/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - keeps writers out of the collections of a plan, and detects those that write anyway. */
#ifndef LIVE_BLOCK_H
#define LIVE_BLOCK_H

#include "range_pass.h"
#include "live/server/server.h"

struct live_block; /* the watch */
/* Blocks as opts.quiet says, for all existing collections of the plan; the old validators are written into the run
 * document's field `blocked` first. May be called again. Opens a change stream (replica set) or reads the write
 * counters (standalone). */
enum mrs_status live_block_enter(struct live_job *job, struct live_block **out, struct mrs_err *e);
/* FAIL MRS_E_SERVER with the collection and, if known, the `_id`: another client wrote since enter. Only before our own
 * first write. */
enum mrs_status live_block_check(struct live_job *job, struct live_block *b, struct mrs_err *e);
void live_block_free(struct live_block *b); /* ends the watch, writers stay blocked; NULL: no effect */
/* Removes the block recorded in the run document; needs no watch; no block is no error. Also for `abort`. */
enum mrs_status live_block_leave(struct live_job *job, struct mrs_err *e);
/* The options of a collection before it was blocked; if it is not blocked, `now`. In the arena. */
enum mrs_status live_block_options(struct live_job *job, const char *ns, struct mrs_view now, struct mrs_arena *a,
                                   struct mrs_view *options, struct mrs_err *e);
/* The collections of the plan, without duplicates, in plan order: names of all sides, in the arena. */
enum mrs_status live_plan_colls(const struct live_job *job, struct mrs_arena *a, const struct mrs_coll ***out,
                                uint32_t *n, struct mrs_err *e);

#endif
