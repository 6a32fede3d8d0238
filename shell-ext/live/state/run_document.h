/* SPDX-License-Identifier: Apache-2.0 */
/* run_document.h - what a run leaves on the server: run document, leases, checkpoints, refused documents, controls.
 *
 * All writes here are w: majority (replica set) or j: true (standalone). All ids are of our own making, so they may be
 * written again. See DESIGN.md section 3 for the documents. */
#ifndef LIVE_STATE_H
#define LIVE_STATE_H

#include "course.h"
#include "live/govern/metrics.h"
#include "live/govern/pressure.h"
#include "live/link/connection.h"
#include "mongoreshape/clock.h"

/* The first begins as databases do that mongodump leaves out; the second was the name before. */
#define LIVE_STATE_DB "__mdb_internal_mongoreshape"
#define LIVE_STATE_DB_OLD "mongoreshape"

struct live_control { /* changed by `pause`, `resume`, `throttle` during a run */
    bool pause;
    uint64_t docs_per_s, bytes_per_s; /* 0: no limit */
    int64_t sleep_ms;                 /* between batches */
    struct live_texts texts;
};
/* The texts, read; FAIL MRS_E_USAGE with what would have been right. speed.c */
enum mrs_status live_knobs_read(const struct live_control *c, struct live_watched *out, struct mrs_err *e);
/* How many milliseconds a batch of this size has to take under these limits. */
int64_t live_control_due(const struct live_control *c, uint64_t docs, uint64_t bytes);
struct live_run {
    struct mrs_arena arena;
    char id[33];         /* plan id in hex: the `_id` of the run document */
    char short_id[13];   /* its first 12 digits, in names of collections */
    char owner[64];      /* of this process: host, pid, random */
    char leader[64];     /* who opened the run and holds its leases: the owner, but of a worker */
    bool worker;         /* a worker that joined it, see ranges.h */
    bool shares;         /* there are ranges that workers may hold */
    char range[96];      /* the `_id` of the range in hand; "" none */
    uint32_t sharers;    /* workers that share the limits */
    int64_t epoch;       /* of our leases */
    char phase[32];
    uint32_t group;      /* the group in hand */
    struct mrs_buf doc;  /* the run document as last read or written */
    bool keyed;          /* it has a secret; an older version has begun it where it has none */
    struct mrs_secret secret;
    struct live_control control;
    int64_t control_read_ms;
    uint64_t generation; /* of the link, when leases and checkpoints were last read */
    uint64_t n_refused;
    uint64_t n_stale;    /* by this process */
    int64_t lease_checked_ms;
    struct mrs_coll state_runs, state_leases, state_checkpoints, state_refused, state_changes, state_stale;
    /* private to the files of the state */
    const char **lease;  /* namespaces of the leases that are ours, n_leases, sorted */
    uint32_t n_leases;
    int64_t lease_ms;
    int64_t breathed_ms, uuid_checked_ms, told_ms;
    bool throttled;      /* the last breath was held back by a limit */
    bool governed;       /* the governor has looked at least once */
    struct live_governor governor;
    struct live_signals signals;
    char told_why[160];
    uint64_t wrote_docs, wrote_bytes;  /* by this process, with the next two; for metrics */
    int64_t worked_ms, waited_ms;
    bool deaf;           /* metrics could not be written: said once */
    bool leaving;        /* giving back: nothing is worth waiting for */
    struct live_course course;
    struct live_spent spent;
    struct live_progress told;
    char told_phase[96], told_ns[256];
};

/* Opens the run of job->plan: the run document is there and fits (plan id, server version and FCV, topology, uuids of
 * all collections that were noted; else FAIL with the reason and what to do) or, with create, is written now with
 * phase "claimed". A run that is `done` or `rolled back` is refused by create unless it was cleaned (MRS_E_EXISTS).
 * Then leases are taken. plan_text: the plan as it was read. */
enum mrs_status live_run_open(struct live_job *job, bool create, const char *plan_text, size_t n, struct mrs_err *e);
/* Joins the run of job->plan as a worker: takes no leases and moves no phase. END: it is in no phase that is shared. */
enum mrs_status live_run_join(struct live_job *job, struct mrs_err *e);
/* $$NOW of the run of job->plan, for which a plan that goes on must be loaded (mrs_plan_opts.now_ms) before
 * live_run_open. OK; END: there is no such run. Needs no job->run. */
enum mrs_status live_run_moment(struct live_job *job, int64_t *now_ms, struct mrs_err *e);
/* Reads a run without taking leases, for status and controls; id: hex digits, a prefix of them, or NULL where there is
 * only one (or one that is not finished). The plan's text is in run->doc. */
enum mrs_status live_run_find(struct live_job *job, const char *id, struct mrs_err *e);
void live_run_close(struct live_job *job); /* gives leases back; harmless twice */
/* Once, before any run is looked for: what an older version left in job->opts.state_old is moved to the state database
 * where writing was asked for, else it is the state database of this job. Said either way. state_move.c */
enum mrs_status live_state_place(struct live_job *job, struct mrs_err *e);
#define LIVE_SERVER_TIME "$currentDate"
/* Writes the phase (and group) and, where not empty, sets the fields of `set` in the run document: null takes a field
 * away, the text LIVE_SERVER_TIME is the server's time. The filter asks for our owner and epoch. A phase that begins
 * with "expand" dates `stale_since`. LIVE_STOPs "before-phase", "after-phase". While writers are kept out, a field
 * `blocked` holds what must be undone: live_clean refuses as long as it is there. */
enum mrs_status live_run_phase(struct live_job *job, const char *phase, uint32_t group, struct mrs_view set,
                               struct mrs_err *e);
/* Sets fields of the run document and leaves it in the phase that it is in. */
enum mrs_status live_run_set(struct live_job *job, struct mrs_view set, struct mrs_err *e);
bool live_run_in(const struct live_job *job, const char *phase);
/* The hash by which a document is known again that lies on the server: under the secret of the run, or as the version
 * that began it made it (XXH3, which a writer of documents can aim at); without a run under that of the process. */
struct mrs_hash128 live_run_hash(const struct live_job *job, struct mrs_view doc);
/* The run document as last read; the empty document before. */
struct mrs_view live_run_doc(const struct live_run *r);
/* on: notes the uuid that the collection has now (after we made it). Else forgets it: before we drop or rename it, so
 * that our own doing is not taken for a stranger's. */
enum mrs_status live_run_watch(struct live_job *job, const struct mrs_coll *coll, bool on, struct mrs_err *e);
/* Before every batch: cancel, pause and throttle (sleeps), lease renewed by server time and still ours, uuids each
 * minute. docs, bytes: what the last batch wrote. END: the link's generation changed: throw memory away and begin again
 * at the checkpoint. */
enum mrs_status live_run_breathe(struct live_job *job, uint64_t docs, uint64_t bytes, struct mrs_err *e);
/* The figures of now to job->metrics, where there is one; status: the exit status, once all is over. Before there is a
 * run, too. */
enum mrs_status live_run_publish(struct live_job *job, const int *status, struct mrs_err *e);
/* What a batch has written, for metrics. */
void live_run_wrote(struct live_run *r, uint64_t docs, uint64_t bytes);
/* Counters for `status` (at most once a second on the server) and job->progress. */
enum mrs_status live_run_tell(struct live_job *job, const struct live_progress *p, struct mrs_err *e);

/* ---- leases: lease.c ---- */
/* All namespaces or none (in sorted order). Held by another process: FAIL MRS_E_SERVER naming run, owner, since when;
 * where it is this very run, whose owner may have died, only after it was seen to be renewed. A lease past its time
 * is taken over: a whole lease is waited on a standalone, its session killed, its operations found
 * by our comment and ended. */
enum mrs_status live_lease_take(struct live_job *job, const struct mrs_coll *const *colls, uint32_t n,
                                struct mrs_err *e);
enum mrs_status live_lease_renew(struct live_job *job, struct mrs_err *e); /* FAIL: lost to another process */
enum mrs_status live_lease_session(struct live_job *job, struct mrs_view lsid, struct mrs_err *e);
void live_lease_release(struct live_job *job);

/* ---- checkpoints ---- */
struct live_checkpoint {
    char id[96];           /* "<run>/<pass>" */
    int64_t epoch, seq;
    bool done;
    struct mrs_buf last;   /* {_id: bound} of the last range that is done; empty: none */
    struct mrs_buf token;  /* resume token of the stream that the pass follows; empty: none */
    int64_t at;            /* sequence number, for passes over the change list; of a pass that follows: number of the
                              walk that is under way */
    uint64_t docs, written, missed, refused, differs; /* counters of the pass */
};
/* Reads it, makes it where it is not there. buf of last: of job->mem; live_checkpoint_clear. */
enum mrs_status live_checkpoint_open(struct live_job *job, const char *pass, struct live_checkpoint *c,
                                     struct mrs_err *e);
/* The update that moves it to what c holds now, from c->seq to c->seq + 1: for a burst. Views live in the arena. */
enum mrs_status live_checkpoint_op(struct live_job *job, const struct live_checkpoint *c, struct mrs_arena *a,
                                   struct live_op *op, struct mrs_err *e);
/* Writes it alone (and counts seq up). A checkpoint that does not match: FAIL, another process owns the run. */
enum mrs_status live_checkpoint_save(struct live_job *job, struct live_checkpoint *c, struct mrs_err *e);
void live_checkpoint_clear(struct live_checkpoint *c);

/* ---- refused documents ---- */
/* Recorded under {run, step, ns, _id}: again is the same. Past --max-refused: FAIL MRS_E_TOO_MANY. */
enum mrs_status live_refused_put(struct live_job *job, uint32_t step, const char *ns, struct mrs_view doc,
                                 const struct mrs_err *why, struct mrs_err *e);
/* A copy of a target that no source makes (any more), before it is removed: whether an application wrote it, is not
 * known. Said once a run. FAIL where it is too large to be copied. */
enum mrs_status live_stale_put(struct live_job *job, const char *ns, struct mrs_view doc, struct mrs_err *e);
/* Whether a record of this document surely holds it: before it is taken away. */
bool live_refused_fits(struct mrs_view doc);
/* Takes back what was recorded of this document by this step (it was derived again and is well now). */
enum mrs_status live_refused_drop(struct live_job *job, uint32_t step, const char *ns, struct mrs_val id,
                                  struct mrs_err *e);
/* How many documents of a collection steps before `step` (from 1) have refused. */
enum mrs_status live_refused_before(struct live_job *job, uint32_t step, const char *ns, uint64_t *n,
                                    struct mrs_err *e);

/* ---- commands on the state: status.c ---- */
enum mrs_status live_status_text(struct live_job *job, bool json, bool list, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status live_control_set(struct live_job *job, const struct live_control *c, bool pause_only,
                                 struct mrs_err *e);
/* abort --clean: removes everything of the run from the state database; refuses where that would lose something. */
enum mrs_status live_clean(struct live_job *job, struct mrs_err *e);
/* What that would remove, said; blocked: writers would be let in before. */
enum mrs_status live_clean_preview(struct live_job *job, bool blocked, struct mrs_err *e);

#endif
