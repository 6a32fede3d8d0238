/* SPDX-License-Identifier: Apache-2.0 */
/* run_document.h - the data of a run on the server: run document, leases, checkpoints, refused documents, controls.
 *
 * All writes here are w: majority (replica set) or j: true (standalone). We make all ids, so writes may be repeated.
 * See DESIGN.md section 3 for the documents. */
#ifndef LIVE_STATE_H
#define LIVE_STATE_H

#include "course.h"
#include "live/govern/metrics.h"
#include "live/govern/pressure.h"
#include "live/link/connection.h"
#include "mongoreshape/clock.h"

/* mongodump skips databases with the first prefix; the second is the earlier name. */
#define LIVE_STATE_DB "__mdb_internal_mongoreshape"
#define LIVE_STATE_DB_OLD "mongoreshape"

struct live_control { /* changed by `pause`, `resume`, `throttle` during a run */
    bool pause;
    uint64_t docs_per_s, bytes_per_s; /* 0: no limit */
    int64_t sleep_ms;                 /* between batches */
    struct live_texts texts;
};
/* Parses the texts; FAIL MRS_E_USAGE with the valid forms. speed.c */
enum mrs_status live_knobs_read(const struct live_control *c, struct live_watched *out, struct mrs_err *e);
/* Minimum duration in ms of a batch of this size under these limits. */
int64_t live_control_due(const struct live_control *c, uint64_t docs, uint64_t bytes);
struct live_run {
    struct mrs_arena arena;
    char id[33];         /* plan id in hex: the `_id` of the run document */
    char short_id[13];   /* its first 12 digits, in names of collections */
    char owner[64];      /* of this process: host, pid, random */
    char leader[64];     /* the process that opened the run and holds its leases: the owner, except for a worker */
    bool worker;         /* a worker that joined the run, see ranges.h */
    bool shares;         /* there are ranges that workers may hold */
    char range[96];      /* `_id` of the current range; "": none */
    uint32_t sharers;    /* number of workers that share the limits */
    int64_t epoch;       /* of our leases */
    char phase[32];
    uint32_t group;      /* current group */
    struct mrs_buf doc;  /* the run document as last read or written */
    bool elsewhere;      /* the server or a collection is not the one that the run began with */
    bool keyed;          /* it has a secret; false: an older version began it */
    struct mrs_secret secret;
    struct live_control control;
    int64_t control_read_ms;
    uint64_t generation; /* link generation when leases and checkpoints were last read */
    uint64_t n_refused;
    uint64_t n_stale;    /* counted by this process */
    int64_t lease_checked_ms;
    struct mrs_coll state_runs, state_leases, state_checkpoints, state_refused, state_changes, state_stale;
    /* private to the files of the state */
    const char **lease;  /* sorted namespaces of our leases, n_leases */
    uint32_t n_leases;
    int64_t lease_ms;
    int64_t breathed_ms, uuid_checked_ms, reported_ms;
    bool throttled;      /* a limit delayed the last batch */
    bool governed;       /* the governor has measured at least once */
    struct live_governor governor;
    struct live_signals signals;
    char shown_why[160];
    uint64_t wrote_docs, wrote_bytes;  /* by this process, with the next two; for metrics */
    int64_t worked_ms, waited_ms;
    bool deaf;           /* metrics could not be written: reported once */
    bool leaving;        /* releasing the run: wait for nothing */
    struct live_course course;
    struct live_spent spent;
    struct live_progress shown;
    char shown_phase[96], shown_ns[256];
};

/* Opens the run of job->plan: the run document exists and fits (plan id, server version and FCV, topology, uuids of all
 * recorded collections; else FAIL with the reason and what to do) or, with create, is written now with phase "claimed".
 * create refuses a run that is `done` or `rolled back`, unless it was cleaned (MRS_E_EXISTS). Then leases are taken.
 * plan_text: the plan as read. */
enum mrs_status live_run_open(struct live_job *job, bool create, const char *plan_text, size_t n, struct mrs_err *e);
/* Whether live_run_open with create would be refused by the run or by another run on the same collections. Takes no
 * leases and writes nothing. */
enum mrs_status live_run_would_open(struct live_job *job, struct mrs_err *e);
/* Joins the run of job->plan as a worker: takes no leases and changes no phase. END: its phase is not shared. */
enum mrs_status live_run_join(struct live_job *job, struct mrs_err *e);
/* $$NOW of the run of job->plan; a plan that resumes must be loaded with it (mrs_plan_opts.now_ms) before
 * live_run_open. OK; END: no such run. Needs no job->run. */
enum mrs_status live_run_moment(struct live_job *job, int64_t *now_ms, struct mrs_err *e);
/* Reads a run without taking leases, for status and controls; id: hex digits, a prefix of them, or NULL if there is
 * only one (or only one unfinished). The plan's text is in run->doc. */
enum mrs_status live_run_find(struct live_job *job, const char *id, struct mrs_err *e);
/* What the run was begun with, --allow-scan and --allow-ttl, is allowed to every command on it. */
void live_run_allowed(struct live_job *job);
void live_run_close(struct live_job *job); /* releases leases; may be called twice */
/* Call once, before any run is opened: moves the state of an older version from job->opts.state_old to the state
 * database if writing was requested, else uses it in place. Reports either. state_move.c */
enum mrs_status live_state_place(struct live_job *job, struct mrs_err *e);
#define LIVE_SERVER_TIME "$currentDate"
/* Writes the phase (and group) and sets the fields of `set`, if any, in the run document: null removes a field, the
 * text LIVE_SERVER_TIME becomes the server's time. The filter holds our owner and epoch. A phase that begins with
 * "expand" sets `stale_since`. LIVE_STOPs "before-phase", "after-phase". While writers are blocked, a field `blocked`
 * holds what must be restored before live_clean. */
enum mrs_status live_run_phase(struct live_job *job, const char *phase, uint32_t group, struct mrs_view set,
                               struct mrs_err *e);
/* Sets fields of the run document without changing its phase. */
enum mrs_status live_run_set(struct live_job *job, struct mrs_view set, struct mrs_err *e);
bool live_run_in(const struct live_job *job, const char *phase);
bool live_phase_over(const char *phase); /* does this phase end a run? */
/* The hash that identifies a document stored on the server: keyed with the secret of the run, or as the version that
 * began the run made it (XXH3, for which a writer can construct collisions); without a run, keyed with the process's
 * secret. */
struct mrs_hash128 live_run_hash(const struct live_job *job, struct mrs_view doc);
/* The run document as last read; empty before the first read. */
struct mrs_view live_run_doc(const struct live_run *r);
/* on: records the current uuid of the collection (after we created it). Else removes it: before we drop or rename the
 * collection, so that our own change is not reported as another client's. */
enum mrs_status live_run_watch(struct live_job *job, const struct mrs_coll *coll, bool on, struct mrs_err *e);
/* Before every batch: cancel, pause and throttle (sleeps), renews the leases by server time and checks ownership,
 * checks uuids each minute. docs, bytes: written by the last batch. END: the link's generation changed: discard memory
 * and resume at the checkpoint. */
enum mrs_status live_run_breathe(struct live_job *job, uint64_t docs, uint64_t bytes, struct mrs_err *e);
/* Writes the current figures to job->metrics, if set; status: the exit status, at the end. Also before there is a
 * run. */
enum mrs_status live_run_publish(struct live_job *job, const int *status, struct mrs_err *e);
/* Adds the writes of a batch, for metrics. */
void live_run_wrote(struct live_run *r, uint64_t docs, uint64_t bytes);
/* Updates counters for `status` (at most once a second on the server) and job->progress. */
enum mrs_status live_run_report(struct live_job *job, const struct live_progress *p, struct mrs_err *e);

/* ---- leases: lease.c ---- */
/* Takes the leases of all namespaces or none (in sorted order). Held by another process: FAIL MRS_E_SERVER with run,
 * owner and time; if it is this same run, whose owner may have died, only after a renewal was seen. An expired lease is
 * taken over: waits for a whole lease on a standalone, kills its session, finds its operations by our comment and ends
 * them. */
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
    struct mrs_buf last;   /* {_id: bound} of the last finished range; empty: none */
    struct mrs_buf token;  /* resume token of the pass's change stream; empty: none */
    int64_t at;            /* sequence number, for passes over the change list; of a pass with a change stream: number
                            * of the current walk */
    uint64_t docs, written, missed, refused, differs; /* counters of the pass */
};
/* Reads it, or creates it. buf of last: of job->mem; live_checkpoint_clear. */
enum mrs_status live_checkpoint_open(struct live_job *job, const char *pass, struct live_checkpoint *c,
                                     struct mrs_err *e);
/* The update that moves it to the present content of c, from c->seq to c->seq + 1: for a burst. Views live in the
 * arena. */
enum mrs_status live_checkpoint_op(struct live_job *job, const struct live_checkpoint *c, struct mrs_arena *a,
                                   struct live_op *op, struct mrs_err *e);
/* Writes it alone (and increments seq). If the checkpoint does not match: FAIL, another process owns the run. */
enum mrs_status live_checkpoint_save(struct live_job *job, struct live_checkpoint *c, struct mrs_err *e);
void live_checkpoint_clear(struct live_checkpoint *c);

/* ---- refused documents ---- */
/* Recorded under {run, step, ns, _id}: repeatable. Beyond --max-refused: FAIL MRS_E_TOO_MANY. */
enum mrs_status live_refused_put(struct live_job *job, uint32_t step, const char *ns, struct mrs_view doc,
                                 const struct mrs_err *why, struct mrs_err *e);
/* Copies a target that no source makes (any more), before it is removed: an application may have written it. Reported
 * once for each run. FAIL if it is too large to be copied. */
enum mrs_status live_stale_put(struct live_job *job, const char *ns, struct mrs_view doc, struct mrs_err *e);
/* Does a record of this document certainly contain it? Checked before it is removed. */
bool live_refused_fits(struct mrs_view doc);
/* The `_id` of that record, in a. */
enum mrs_status live_refused_id(struct live_job *job, uint32_t step, const char *ns, struct mrs_val id,
                                struct mrs_arena *a, struct mrs_view *out, struct mrs_err *e);
/* Removes this step's record of the document (it was derived again, now successfully). */
enum mrs_status live_refused_drop(struct live_job *job, uint32_t step, const char *ns, struct mrs_val id,
                                  struct mrs_err *e);
/* Number of documents of a collection that steps before `step` (from 1) have refused. */
enum mrs_status live_refused_before(struct live_job *job, uint32_t step, const char *ns, uint64_t *n,
                                    struct mrs_err *e);

/* ---- commands on the state: status.c ---- */
enum mrs_status live_status_text(struct live_job *job, bool json, bool list, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status live_control_set(struct live_job *job, const struct live_control *c, bool pause_only,
                                 struct mrs_err *e);
/* abort --clean. begin: takes the run's leases; refuses if data would be lost with its state. Then, when no writers are
 * blocked any more, live_clean removes all of it from the state database. preview: reports what that would remove. */
enum mrs_status live_clean_begin(struct live_job *job, struct mrs_err *e);
enum mrs_status live_clean(struct live_job *job, struct mrs_err *e);
enum mrs_status live_clean_preview(struct live_job *job, struct mrs_err *e);

#endif
