/* SPDX-License-Identifier: Apache-2.0 */
/* state_io.h - commands on the state database that may be repeated: private to the files behind state.h.
 *
 * Repeating any of these calls has no further effect (an `_id` of our own, an absolute value, a filter with the bytes
 * that were read), so a lost connection is awaited for a minute before it becomes an error. */
#ifndef LIVE_STATE_IO_H
#define LIVE_STATE_IO_H

#include "live/link/bson.h"
#include "run_document.h"

bool live_cancelled(const struct live_job *job);
enum mrs_status live_cancel_err(struct mrs_err *e);
void live_nap(int64_t ms);
/* The name of the state database. */
const char *live_state_db(const struct live_job *job);
/* A date; fallback if the value is none. */
int64_t live_date_at(struct mrs_view d, const char *path, int64_t fallback);

/* "2026-01-31 23:59:59 UTC"; "" if not representable. */
void live_date_text(int64_t ms, char out[32]);

/* Appends the reply to out (may be NULL). Like live_command, and FAIL with the first writeError. */
enum mrs_status live_state_command(struct live_job *job, const char *db, struct mrs_view cmd, unsigned flags,
                                   struct mrs_buf *out, struct live_fault *f, struct mrs_err *e);
/* The server's own clock (hello.localTime), in milliseconds. */
enum mrs_status live_state_now(struct live_job *job, int64_t *ms, struct mrs_err *e);
struct live_state_change {
    struct mrs_view q;
    struct mrs_val u;  /* operators; never a pipeline: the state needs no special server feature */
    bool many;
    int64_t matched;   /* result */
};
enum mrs_status live_state_update(struct live_job *job, const struct mrs_coll *coll, struct live_state_change *c,
                                  struct live_fault *f, struct mrs_err *e);
/* *there: its `_id` exists, nothing was written. */
enum mrs_status live_state_insert(struct live_job *job, const struct mrs_coll *coll, struct mrs_view doc, bool *there,
                                  struct mrs_err *e);
/* Deletes all matches; *n (may be NULL): their number. */
enum mrs_status live_state_delete(struct live_job *job, const struct mrs_coll *coll, struct mrs_view q, int64_t *n,
                                  struct mrs_err *e);
/* The same with a filter from its template (bson.h). */
enum mrs_status live_state_delete_where(struct live_job *job, const struct mrs_coll *coll, struct mrs_err *e,
                                        const char *template, ...);
/* A missing collection is no error. */
enum mrs_status live_state_drop(struct live_job *job, const char *db, const char *coll, struct mrs_err *e);
/* Appends the one document to out; END: none. */
enum mrs_status live_state_read(struct live_job *job, const struct mrs_coll *coll, struct mrs_view q,
                                struct mrs_buf *out, struct mrs_err *e);
/* Number of matches. */
enum mrs_status live_state_count(struct live_job *job, const struct mrs_coll *coll, struct mrs_view query,
                                 uint64_t *n, struct mrs_err *e);
/* The first document of a cursor reply; missing if there is none. */
struct mrs_val live_first_of(const struct mrs_buf *reply);
/* The results of a pipeline, as contiguous documents in out. */
enum mrs_status live_state_list(struct live_job *job, const struct mrs_coll *coll, struct mrs_view pipeline,
                                struct mrs_buf *out, struct mrs_err *e);
/* The next of contiguous documents from *at on; false: none. */
bool live_state_next(const struct mrs_buf *docs, size_t *at, struct mrs_view *doc);

/* ---- internal to the files of the state ---- */
/* Makes job->run with names and owner, for this id (32 hex digits). */
enum mrs_status live_run_new(struct live_job *job, const char *id, struct mrs_err *e);
/* Has it the form of a run's id, or of its first digits? */
bool live_run_is_id(const char *id);
/* Reads the run document into run->doc and the fields of struct live_run; END: none. */
enum mrs_status live_run_load(struct live_job *job, struct mrs_err *e);
/* The collections that the plan touches, without duplicates. */
struct live_touched {
    const struct mrs_coll **coll;
    uint32_t n;
};
/* The run's namespaces as collections, in the run's arena. */
enum mrs_status live_run_namespaces(struct live_job *job, const struct mrs_coll *const **out, uint32_t *n,
                                    struct mrs_err *e);
/* Writes our epoch into the run document and its checkpoints; the leases are ours. */
enum mrs_status live_run_fence(struct live_job *job, struct mrs_err *e);
/* Removes all documents of the run from a database except the run document. */
enum mrs_status live_run_clear(struct live_job *job, const char *db, struct mrs_err *e);
/* Removes all documents of the run from the state database, and our leases. */
enum mrs_status live_run_forget(struct live_job *job, struct mrs_err *e);
/* Writes the run document, and reads it. FAIL MRS_E_EXISTS: another run uses a collection. */
enum mrs_status live_run_create(struct live_job *job, const struct live_touched *t, const char *text, size_t n,
                                struct mrs_err *e);
/* FAIL MRS_E_EXISTS: an unfinished run of another plan uses a collection. */
enum mrs_status live_run_alone(struct live_job *job, const struct live_touched *t, struct mrs_err *e);
/* As in the run document. */
const char *live_mode_name(enum live_mode m);
const char *live_quiet_name(enum live_quiet q);
const char *live_topology_name(const struct live_job *job);
/* Compares the recorded uuids with the current ones; FAIL: names the collection. */
enum mrs_status live_run_uuids(struct live_job *job, struct mrs_err *e);
/* here: server and collections are those that the run began with; else no command can resume it or roll it back. */
enum mrs_status live_run_here(struct live_job *job, bool *here, struct mrs_err *e);
/* Renews a lease after a sixth of it. */
enum mrs_status live_lease_keep(struct live_job *job, struct mrs_err *e);
/* Ends the server operations with the comment of an owner. */
enum mrs_status live_lease_quell(struct live_job *job, const char *run, const char *owner, struct mrs_err *e);
/* The comment of an owner's operations. */
void live_lease_comment(const char *run, const char *owner, char out[128]);
/* ---- speed.c ---- */
/* Reads the server's signals and applies the law; latency_ms: of the last read of the run document. FAIL: critical
 * load. */
enum mrs_status live_speed_update(struct live_job *job, int64_t latency_ms, struct mrs_err *e);
struct live_breath {
    uint64_t docs, bytes; /* written since the last call */
    int64_t since, came;  /* start and end of the work */
};
/* Remaining wait by limits, sleep and law; INT64_MAX: until something changes. */
int64_t live_speed_wait(const struct live_run *r, const struct live_breath *b, int64_t now);
/* Puts the reason for throttling into r->shown. */
void live_speed_reason(struct live_run *r, int64_t now);
/* Number of refused documents of the run on the server. */
enum mrs_status live_refused_count(struct live_job *job, uint64_t *n, struct mrs_err *e);

#endif
