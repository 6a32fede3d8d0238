/* SPDX-License-Identifier: Apache-2.0 */
/* write.h - changes on their way to the server: one update made of before and after, its guard, a batch written.
 *
 * update_delta.c, guard.c, burst.c. The only writer of user data in the live and the quiet engine. */
#ifndef LIVE_WRITE_H
#define LIVE_WRITE_H

#include "live/state/run_document.h"

/* ---- update_delta.c ---- */
enum { LIVE_DELTA_OPS = 64 };
/* How a document changes, top-level field by field, in the order of `after`. Names and values lie in the documents. */
struct live_delta {
    struct live_delta_op {
        struct mrs_elem e;
        enum { LIVE_REMOVED, LIVE_CHANGED, LIVE_ADDED } kind;
    } op[LIVE_DELTA_OPS];
    uint32_t n, removed;   /* how many are LIVE_REMOVED */
    bool whole;            /* cannot be said field by field: the document is replaced, and must be guarded as a whole */
    struct mrs_view after;
};
/* The `_id`s are equal. END: nothing to do. touched: the names of the fields, appended NUL-ended one behind the other;
 * none if whole. */
enum mrs_status live_delta_find(struct mrs_view before, struct mrs_view after, struct live_delta *d,
                                struct mrs_buf *touched, struct mrs_err *e);
/* The pipeline (array document) that makes `after` out of `before`, byte for byte in fields and order, appended:
 * `$unset` for the removed, one `$set` stage a field with $literal for changed and added; or `$replaceWith`. With a
 * guard, a condition of live_guard_condition: `$replaceWith`, which leaves the document alone where the condition does
 * not hold; only for a delta that removes nothing, or is whole. */
enum mrs_status live_delta_put(const struct live_delta *d, struct mrs_view guard, struct mrs_buf *pipeline,
                               struct mrs_err *e);

/* ---- guard.c ---- */
/* {$and: [{_id: {$eq: id}}, {$expr: {$and: [...]}}]} over the top-level fields `names` (NUL-ended, n bytes) as they
 * are in doc, absent ones by $type "missing"; names NULL: the whole document ($$ROOT and $bsonSize). Appended to out.
 * FAIL MRS_E_LIMIT past 15 MiB. */
enum mrs_status live_guard(struct mrs_view doc, const char *names, size_t n, struct mrs_buf *out, struct mrs_err *e);
/* The same condition as an expression, {$and: [...]}, for an update whose filter is the `_id` alone: servers look a
 * document up by its `_id` if nothing else is asked, and plan a query for anything more. */
enum mrs_status live_guard_condition(struct mrs_view doc, const char *names, size_t n, struct mrs_buf *out,
                                     struct mrs_err *e);
/* {_id: {$eq: id}} alone, or with the document's size: where the document cannot have changed since it was compared
 * (inside a transaction that read it; while writers are kept out), or the update has the condition inside. */
enum mrs_status live_guard_id(struct mrs_view doc, bool size, struct mrs_buf *out, struct mrs_err *e);

/* ---- burst.c ---- */
enum live_outcome {
    LIVE_WRITTEN,   /* now, or it was there already */
    LIVE_MISSED,    /* the guard did not hold: the document was changed or is gone; nothing written */
    LIVE_FOREIGN,   /* insert: another document has this `_id`; its bytes differ */
    LIVE_CLASH,     /* a unique index other than `_id`, or a validator, refuses it: `why` */
};
struct live_change {
    enum live_op_kind kind;      /* INSERT, UPDATE, DELETE */
    struct mrs_coll coll;
    struct mrs_view before, after; /* bytes of the caller's, until the burst is written; INSERT: after, DELETE: before,
                                      UPDATE: both */
    const char *guard;           /* names, each NUL-terminated, in addition to those that the delta touches */
    uint32_t guard_n;
    bool guard_whole;            /* before as a whole (always for DELETE) */
    bool locked;                 /* the open transaction holds the document: `_id` is guard enough */
    uint32_t unit;               /* the caller's number */
    enum live_outcome outcome;   /* set by live_burst_write */
    const char *why;
};
struct live_burst {
    struct live_job *job;
    struct mrs_arena arena;
    struct live_change *change;
    uint32_t n, cap;
    uint64_t bytes;              /* of what is written: roughly, until it is written */
    uint64_t session;            /* generation of the link, and 1, at which the lease got our session; 0: never */
};
void live_burst_init(struct live_burst *b, struct live_job *job);
void live_burst_clear(struct live_burst *b);
void live_burst_reset(struct live_burst *b);
/* Notes a change. OK, DEAD. */
enum mrs_status live_burst_add(struct live_burst *b, const struct live_change *c, struct mrs_err *e);
/* Writes inserts, updates, deletes, then the checkpoint c as it is (NULL: none); in one transaction where the
 * burst fits and transactions are on. OK: every change has its outcome and the checkpoint is written, unless some
 * change was MISSED, FOREIGN or CLASH: then `*short_` is set and the checkpoint is NOT written; the caller derives
 * those again, or refuses them, and writes another burst with the checkpoint. END: connection lost or transaction
 * undecided: throw memory away, begin again at the checkpoint. FAIL: as said. Transient faults are tried again inside
 * (bounded). */
enum mrs_status live_burst_write(struct live_burst *b, struct live_checkpoint *c, bool *short_, struct mrs_err *e);
/* Before a transaction is begun: its session's id, put into lsid, is in the lease, so that its successor can
 * end what a dead owner left open. */
enum mrs_status live_burst_session(struct live_burst *b, struct mrs_buf *lsid, struct mrs_err *e);
/* A transaction, its session noted. That of a worker begins with a write to his range, which fails where that is not
 * his any more (DEAD). */
enum mrs_status live_burst_begin(struct live_burst *b, struct mrs_buf *lsid, struct live_fault *f, struct mrs_err *e);
/* The same changes inside the open transaction, without a checkpoint. OK; SKIP: something fell short; FAIL with the
 * fault. The caller that began the transaction ends it. */
enum mrs_status live_burst_in_transaction(struct live_burst *b, struct live_fault *f, struct mrs_err *e);

/* ---- burst_back.c: what really is there; used by burst.c ---- */
enum live_there { LIVE_GONE, LIVE_THERE_AFTER, LIVE_THERE_OTHER };
/* Reads the documents of changes at[0..n) (of one collection) back by `_id` and calls tell for each: gone, equal to
 * `after`, other. OK; END: connection lost; FAIL. */
enum mrs_status live_read_back(struct live_burst *b, const uint32_t *at, uint32_t n,
                               void (*tell)(void *arg, struct live_change *c, enum live_there there), void *arg,
                               struct mrs_err *e);
/* END where the fault means that nothing is known (and e is empty again), else st. */
enum mrs_status live_lost(const struct live_fault *f, enum mrs_status st, struct mrs_err *e);
/* Sleeps before the n-th try (from 1), longer each time. */
void live_back_off(uint32_t n);
/* The document of a change as it is now, in the transaction or not (flags): OK and *same: equal to `before`; END:
 * connection lost. Gone: not the same. */
enum mrs_status live_same_as_before(struct live_job *job, const struct live_change *c, unsigned flags, bool *same,
                                    struct live_fault *f, struct mrs_err *e);

#endif
