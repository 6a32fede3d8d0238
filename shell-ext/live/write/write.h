/* SPDX-License-Identifier: Apache-2.0 */
/* write.h - changes to user data: one update from before and after, its guard, a batch written.
 *
 * update_delta.c, guard.c, burst.c. The only writer of user data in the live and the quiet engine. */
#ifndef LIVE_WRITE_H
#define LIVE_WRITE_H

#include "live/state/run_document.h"

/* ---- update_delta.c ---- */
enum { LIVE_DELTA_OPS = 64 };
/* The changes of a document by top-level field, in the order of `after`. Names and values are in the documents. */
struct live_delta {
    struct live_delta_op {
        struct mrs_elem e;
        enum { LIVE_REMOVED, LIVE_CHANGED, LIVE_ADDED } kind;
    } op[LIVE_DELTA_OPS];
    uint32_t n, removed;   /* number of LIVE_REMOVED */
    bool whole;            /* cannot be expressed field by field: the document is replaced, and must be guarded as a
                            * whole */
    struct mrs_view after;
};
/* The `_id`s are equal. END: no change. touched: appends the names of the fields, contiguous and NUL-ended; none if
 * whole. */
enum mrs_status live_delta_find(struct mrs_view before, struct mrs_view after, struct live_delta *d,
                                struct mrs_buf *touched, struct mrs_err *e);
/* Appends the pipeline (array document) that turns before into `after`, byte for byte in fields and order: `$unset` for
 * removed fields, one `$set` stage with $literal for each changed or added field; or `$replaceWith`. With a guard, a
 * condition of live_guard_condition: `$replaceWith`, which leaves the document unchanged if the condition is false;
 * only for a delta that removes nothing, or is whole. */
enum mrs_status live_delta_put(const struct live_delta *d, struct mrs_view guard, struct mrs_buf *pipeline,
                               struct mrs_err *e);

/* ---- guard.c ---- */
/* {$and: [{_id: id}, {$expr: {$and: [...]}}]} over the top-level fields `names` (NUL-ended, n bytes) with their
 * values in doc, missing ones by $type "missing"; names NULL: the whole document ($$ROOT and $bsonSize). Appended to
 * out. FAIL MRS_E_LIMIT beyond 15 MiB. */
enum mrs_status live_guard(struct mrs_view doc, const char *names, size_t n, struct mrs_buf *out, struct mrs_err *e);
/* The same condition as an expression, {$and: [...]}, for an update whose filter is the `_id` alone: servers find a
 * document directly by such a filter, and plan a query for any other. */
enum mrs_status live_guard_condition(struct mrs_view doc, const char *names, size_t n, struct mrs_buf *out,
                                     struct mrs_err *e);
/* {_id: id} alone, or with the document's size: if the document cannot have changed since it was compared
 * (inside a transaction that read it; while writers are stopped), or the update contains the condition. */
enum mrs_status live_guard_id(struct mrs_view doc, bool size, struct mrs_buf *out, struct mrs_err *e);

/* ---- burst.c ---- */
enum live_outcome {
    LIVE_WRITTEN,   /* now, or earlier */
    LIVE_MISSED,    /* the guard failed: the document was changed or deleted; nothing written */
    LIVE_FOREIGN,   /* insert: another document with other bytes has this `_id` */
    LIVE_CLASH,     /* refused by a unique index other than `_id`, or by a validator: `why` */
};
struct live_change {
    enum live_op_kind kind;      /* INSERT, UPDATE, DELETE */
    struct mrs_coll coll;
    struct mrs_view before, after; /* bytes of the caller, valid until the burst is written; INSERT: after, DELETE:
                                    * before, UPDATE: both */
    const char *guard;           /* names, each NUL-terminated, in addition to those that the delta changes */
    uint32_t guard_n;
    bool guard_whole;            /* the whole of before (always for DELETE) */
    bool locked;                 /* the open transaction holds the document: `_id` is a sufficient guard */
    uint32_t unit;               /* the caller's number */
    enum live_outcome outcome;   /* set by live_burst_write */
    const char *why;
};
struct live_burst {
    struct live_job *job;
    struct mrs_arena arena;
    struct live_change *change;
    uint32_t n, cap;
    uint64_t bytes;              /* size of the writes: estimated, until they are written */
    uint64_t session;            /* link generation + 1 at which the lease got our session; 0: never */
};
void live_burst_init(struct live_burst *b, struct live_job *job);
void live_burst_clear(struct live_burst *b);
void live_burst_reset(struct live_burst *b);
/* Adds a change. OK, DEAD. */
enum mrs_status live_burst_add(struct live_burst *b, const struct live_change *c, struct mrs_err *e);
/* Writes inserts, updates, deletes, then the checkpoint c in its present state (NULL: none); in one transaction if the
 * burst fits and transactions are on. OK: every change has its outcome and the checkpoint is written, unless some
 * change was MISSED, FOREIGN or CLASH: then `*short_` is set and the checkpoint is NOT written; the caller derives
 * those again, or refuses them, and writes another burst with the checkpoint. END: connection lost or transaction
 * undecided: discard memory, resume at the checkpoint. FAIL: see e. Transient faults are retried inside (bounded). */
enum mrs_status live_burst_write(struct live_burst *b, struct live_checkpoint *c, bool *short_, struct mrs_err *e);
/* Begins a transaction, its session recorded. For a worker it begins with a write to its range, which fails if the
 * worker has lost the range (DEAD). */
enum mrs_status live_burst_begin(struct live_burst *b, struct mrs_buf *lsid, struct live_fault *f, struct mrs_err *e);
/* Sends the same changes inside the open transaction, without a checkpoint. OK; SKIP: a change was missed; FAIL with
 * the fault. The caller that began the transaction ends it. */
enum mrs_status live_burst_in_transaction(struct live_burst *b, struct live_fault *f, struct mrs_err *e);

/* ---- burst_back.c: the current documents; used by burst.c ---- */
enum live_there { LIVE_GONE, LIVE_THERE_AFTER, LIVE_THERE_OTHER };
/* Reads the documents of changes at[0..n) (of one collection) back by `_id` and calls report for each: deleted, equal
 * to `after`, different. OK; END: connection lost; FAIL. */
enum mrs_status live_read_back(struct live_burst *b, const uint32_t *at, uint32_t n,
                               void (*report)(void *arg, struct live_change *c, enum live_there there), void *arg,
                               struct mrs_err *e);
/* END if the fault means that nothing is known (clears e), else st. */
enum mrs_status live_lost(const struct live_fault *f, enum mrs_status st, struct mrs_err *e);
/* Sleeps before the n-th attempt (from 1), longer each time. */
void live_back_off(uint32_t n);
/* Reads the current document of a change, in the transaction or not (flags): OK and *same: equal to `before`; END:
 * connection lost. Deleted: not the same. */
enum mrs_status live_same_as_before(struct live_job *job, const struct live_change *c, unsigned flags, bool *same,
                                    struct live_fault *f, struct mrs_err *e);

#endif
