/* write.h - changes on their way to the server: one update made of before and after, its guard, a batch written.
 *
 * delta.c, guard.c, burst.c. The only writer of user data in the live and the quiet engine. */
#ifndef LIVE_WRITE_H
#define LIVE_WRITE_H

#include "state.h"

/* ---- delta.c ---- */
/* The pipeline (array document) that makes `after` out of `before`, byte for byte in fields and order: `$unset` for the
 * removed, one `$set` stage a field with $literal for changed and added; `[{$replaceWith: {$literal: after}}]` where
 * that would give another order, or names hold `.` or begin with `$`. The `_id`s are equal. END: nothing to do.
 * touched: names of the top-level fields that it changes, adds or removes, appended NUL-ended one behind the other. */
enum mrs_status live_delta(struct mrs_view before, struct mrs_view after, struct mrs_buf *pipeline,
                           struct mrs_buf *touched, struct mrs_err *e);

/* ---- guard.c ---- */
/* {$and: [{_id: {$eq: id}}, {$expr: {$and: [...]}}]} over the top-level fields `names` (NUL-ended, n bytes) as they
 * stand in doc, absent ones by $type "missing"; names NULL: the whole document ($$ROOT and $bsonSize). Appended to out.
 * FAIL MRS_E_LIMIT past 15 MiB. */
enum mrs_status live_guard(struct mrs_view doc, const char *names, size_t n, struct mrs_buf *out, struct mrs_err *e);

/* ---- burst.c ---- */
enum live_outcome {
    LIVE_WRITTEN,   /* now, or it stood there already */
    LIVE_MISSED,    /* the guard did not match: the document was changed or is gone; nothing written */
    LIVE_FOREIGN,   /* insert: another document has this `_id`; its bytes differ */
    LIVE_CLASH,     /* a unique index beside `_id`, or a validator, refuses it: `why` */
};
struct live_change {
    enum live_op_kind kind;      /* INSERT, UPDATE, DELETE */
    struct mrs_coll coll;
    struct mrs_view before, after; /* bytes of the caller's, until the burst is written; INSERT: after, DELETE: before,
                                      UPDATE: both */
    const char *guard;           /* names, NUL-ended one behind the other, beside those that the delta touches */
    uint32_t guard_n;
    bool guard_whole;            /* before as a whole (always for DELETE) */
    uint32_t unit;               /* the caller's number */
    enum live_outcome outcome;   /* set by live_burst_write */
    const char *why;
};
struct live_burst {
    struct live_job *job;
    struct mrs_arena arena;
    struct live_change *change;
    uint32_t n, cap;
    uint64_t bytes;
};
void live_burst_init(struct live_burst *b, struct live_job *job);
void live_burst_clear(struct live_burst *b);
void live_burst_reset(struct live_burst *b);
/* Notes a change. OK, DEAD. */
enum mrs_status live_burst_add(struct live_burst *b, const struct live_change *c, struct mrs_err *e);
/* Writes inserts, updates, deletes, then the checkpoint c as it stands (NULL: none); in one transaction where the
 * burst fits and transactions are on. OK: every change has its outcome and the checkpoint is written, unless some
 * change was MISSED, FOREIGN or CLASH: then `*short_` is set and the checkpoint is NOT written; the caller derives
 * those again, or refuses them, and writes another burst with the checkpoint. END: connection lost or transaction
 * undecided: throw memory away, begin again at the checkpoint. FAIL: as said. Transient faults are tried again inside
 * (bounded). */
enum mrs_status live_burst_write(struct live_burst *b, struct live_checkpoint *c, bool *short_, struct mrs_err *e);

#endif
