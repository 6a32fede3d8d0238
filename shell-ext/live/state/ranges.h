/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h - a walk shared by several processes: ranges of `_id`, each leased to one worker.
 *
 * The bounds of all ranges are in the checkpoint of the walk (`cuts`), in one write; each range is a checkpoint of its
 * own, with bounds, owner and the end of its lease. The leader of the run makes the ranges, waits until all are done,
 * and removes them. The filter of every update that moves or fences a range holds its owner and the epoch of the run,
 * so that a worker that lost its range, or whose run got another leader, matches nothing. */
#ifndef LIVE_RANGES_H
#define LIVE_RANGES_H

#include "run_document.h"

enum { LIVE_RANGES_MAX = 64 };

struct live_cut { /* a walk to share */
    const char *pass;         /* name of its checkpoint */
    uint32_t group, main;
    const struct mrs_coll *coll;
    uint64_t docs;            /* approximate size of a range; 0: does not divide the walk, but resumes if it was
                               * divided */
};
struct live_ranges_sum {
    uint32_t all, done, leased; /* leased: by workers whose lease is valid */
    uint64_t docs, written, missed, refused;
};

/* ---- for the leader ---- */
/* Divides the walk, or finds its ranges. c: its checkpoint, opened; n: number of ranges, 0: not shared. */
enum mrs_status live_ranges_open(struct live_job *job, const struct live_cut *cut, struct live_checkpoint *c,
                                 uint32_t *n, struct mrs_err *e);
/* pass NULL: any divided walk of the run. */
enum mrs_status live_ranges_sum(struct live_job *job, const char *run, const char *pass, struct live_ranges_sum *out,
                                struct mrs_err *e);
/* All are done: stores that and their sums in the walk's checkpoint, and removes the ranges. */
enum mrs_status live_ranges_close(struct live_job *job, const char *pass, struct live_checkpoint *c,
                                  struct mrs_err *e);
/* Ends the ownership of all ranges of the run: ends the sessions of its workers, and makes their later writes match
 * nothing. Before the leases of the run are taken over or released. */
enum mrs_status live_ranges_seal(struct live_job *job, const char *run, struct mrs_err *e);

/* ---- for a worker ---- */
struct live_range_task { /* the current range */
    char pass[96];            /* name of its checkpoint */
    uint32_t group, main;
    struct mrs_buf end;       /* {_id: v}, exclusive end; empty: no end */
    bool open;                /* result: there are unfinished ranges */
};
/* Takes the next range without an owner: under its checkpoint's name in out. An earlier owner is fenced off. END: none
 * at the moment. */
enum mrs_status live_range_take(struct live_job *job, struct live_range_task *out, struct mrs_err *e);
/* Renews its lease; any other change of it. FAIL: lost to another process. */
enum mrs_status live_range_renew(struct live_job *job, struct mrs_err *e);
enum mrs_status live_range_change(struct live_job *job, const char *what, struct mrs_view u, struct mrs_err *e);
/* Is the current range ours, by the server? */
enum mrs_status live_range_ours(struct live_job *job, bool *ours, struct mrs_err *e);
/* An update that matches only while the range is ours: the first statement of a transaction. */
enum mrs_status live_range_fence(struct live_job *job, struct mrs_arena *a, struct live_op *op, struct mrs_err *e);
/* Releases the range, done or not. */
void live_range_leave(struct live_job *job);
/* Number of workers that share the run's limits. */
enum mrs_status live_range_sharers(struct live_job *job, uint32_t *n, struct mrs_err *e);
/* Is the leader's lease valid? */
enum mrs_status live_leader_lives(struct live_job *job, bool *lives, struct mrs_err *e);

#endif
