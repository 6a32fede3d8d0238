/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h - a walk that several processes share: ranges of `_id`, each leased to one worker.
 *
 * The bounds of all ranges are in the checkpoint of the walk (`cuts`), in one write; each range is a checkpoint of its
 * own, with bounds, owner and the end of its lease. The process that leads the run makes them, sees that all are done,
 * and removes them. The filter of every update that moves or fences a range holds its owner and the epoch of the run,
 * so that a worker that lost its range, or whose run got another leader, matches nothing. */
#ifndef LIVE_RANGES_H
#define LIVE_RANGES_H

#include "run_document.h"

enum { LIVE_RANGES_MAX = 64 };

struct live_cut { /* a walk to be shared */
    const char *pass;         /* the name of its checkpoint */
    uint32_t group, main;
    const struct mrs_coll *coll;
    uint64_t docs;            /* about so many in one range; 0: it is not cut, but resumes if it was */
};
struct live_ranges_sum {
    uint32_t all, done, held; /* held: by workers whose lease runs */
    uint64_t docs, written, missed, refused;
};

/* ---- by the leader ---- */
/* Cuts the walk, or finds it cut. c: its checkpoint, opened; n: how many ranges there are, 0: it is not shared. */
enum mrs_status live_ranges_open(struct live_job *job, const struct live_cut *cut, struct live_checkpoint *c,
                                 uint32_t *n, struct mrs_err *e);
/* pass NULL: of whatever walk of the run is cut. */
enum mrs_status live_ranges_sum(struct live_job *job, const char *run, const char *pass, struct live_ranges_sum *out,
                                struct mrs_err *e);
/* All are done: the walk's checkpoint says so, with their sums, and they go. */
enum mrs_status live_ranges_close(struct live_job *job, const char *pass, struct live_checkpoint *c,
                                  struct mrs_err *e);
/* Nobody holds a range of the run any more: what its workers still have on the server is ended, and what they send
 * comes too late. Before the leases of the run are taken over or given back. */
enum mrs_status live_ranges_seal(struct live_job *job, const char *run, struct mrs_err *e);

/* ---- by a worker ---- */
struct live_held { /* the range in hand */
    char pass[96];            /* the name of its checkpoint */
    uint32_t group, main;
    struct mrs_buf end;       /* {_id: v}, where it ends before; empty: it has no end */
    bool open;                /* result: there are ranges that are not done */
};
/* The next without an owner: under its checkpoint's name in out. Its owner before, if it had one, is fenced off. END:
 * none at the moment. */
enum mrs_status live_range_take(struct live_job *job, struct live_held *out, struct mrs_err *e);
/* Its lease, and any change of it. FAIL: lost to another process. */
enum mrs_status live_range_renew(struct live_job *job, struct mrs_err *e);
enum mrs_status live_range_change(struct live_job *job, const char *what, struct mrs_view u, struct mrs_err *e);
/* Whether the range in hand is ours, by the server. */
enum mrs_status live_range_ours(struct live_job *job, bool *ours, struct mrs_err *e);
/* The update that matches only as long as the range is ours: the first statement of a transaction. */
enum mrs_status live_range_fence(struct live_job *job, struct mrs_arena *a, struct live_op *op, struct mrs_err *e);
/* Done with it, or given back. */
void live_range_leave(struct live_job *job);
/* How many workers share the run's limits. */
enum mrs_status live_range_sharers(struct live_job *job, uint32_t *n, struct mrs_err *e);
/* Whether the leader's lease runs. */
enum mrs_status live_leader_lives(struct live_job *job, bool *lives, struct mrs_err *e);

#endif
