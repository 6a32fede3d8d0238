/* SPDX-License-Identifier: Apache-2.0 */
/* hot.c - finishes a contended document in one transaction.
 *
 * The transaction first writes a marker field into the document, so that every other writer waits for it or makes it
 * fail; then it reads the document, derives, and writes without a guard, removing the marker. Other documents that the
 * derivation reads are read outside the transaction: they need not be current. Only for replica sets, and only after
 * several ordinary attempts have missed, because writers wait for it. */
#include "live/link/bson.h"
#include "live/write/burst.h"
#include "work.h"

enum { TRIES = 10 };
static const char mark[] = "mongoreshape_touch";

static enum mrs_status
touch(struct live_batch *b, struct live_task *t, bool *there, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(t->doc));
    struct mrs_buf q, u;
    struct live_bulk_result r;
    struct live_op op = {.kind = LIVE_UPDATE};
    mrs_buf_init(&q, b->job->mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&u, b->job->mem, 4096);
    memset(&r, 0, sizeof r);
    enum mrs_status st = live_guard_id(t->doc, false, &q, e);
    op.filter = (struct mrs_view){q.p, (uint32_t)q.n};
    MRS_THEN(st, live_doc(&u, &op.doc, e, "[{$set: {mongoreshape_touch: {$literal: %I}}}]", mrs_clock_asleep()));
    MRS_THEN(st, live_bulk(b->job->link, b->coll, &op, 1, LIVE_WRITE | LIVE_IN_TXN, false, &b->burst.arena, &r, f, e));
    *there = r.matched == 1;
    mrs_buf_clear(&q);
    mrs_buf_clear(&u);
    return st;
}

/* Reads the document in the transaction, with and without the marker, into the batch's memory. */
static enum mrs_status
read_marked(struct live_batch *b, const struct live_task *t, struct mrs_view *marked, struct mrs_view *doc,
            struct live_fault *f, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct live_cursor *cur = NULL;
    struct mrs_view got;
    mrs_buf_init(&buf, b->job->mem, MRS_DOC_READ_MAX + 4096);
    enum mrs_status st = live_guard_id(t->doc, false, &buf, e);
    struct mrs_view filter = {buf.p, (uint32_t)buf.n};
    MRS_THEN(st, live_find(b->job->link, b->coll, filter, mrs_empty_doc(), LIVE_IN_TXN, &cur, e));
    MRS_THEN(st, live_cursor_next(cur, &got, f, e));
    if (!st) {
        marked->n = got.n;
        marked->p = mrs_arena_copy(&b->batch_arena, got.p, got.n);
        struct mrs_build w;
        struct mrs_walk walk;
        struct mrs_elem el;
        mrs_buf_reset(&buf);
        mrs_build_init(&w, &buf);
        mrs_walk_init(&walk, got);
        while (mrs_walk_next(&walk, &el) == 1) {
            if (strcmp(el.name, mark) != 0) {
                mrs_build_elem(&w, &el);
            }
        }
        st = mrs_build_finish(&w, doc, e);
        doc->p = st ? NULL : mrs_arena_copy(&b->batch_arena, doc->p, doc->n);
        MRS_THEN(st, marked->p && doc->p ? MRS_OK : mrs_err_memory(e, got.n));
    }
    live_cursor_close(cur);
    mrs_buf_clear(&buf);
    return st == MRS_END ? MRS_SKIP : st;
}

/* Makes changes of the document relative to the marked one; it is locked, so its `_id` is a sufficient guard. */
static enum mrs_status
relate(struct live_batch *b, struct mrs_view doc, struct mrs_view marked, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_view_is_framed(marked));
    bool any = false;
    for (uint32_t i = 0; i < b->burst.n; i++) {
        struct live_change *c = &b->burst.change[i];
        if (c->kind == LIVE_UPDATE && c->before.p == doc.p) {
            c->before = marked;
            c->locked = any = true;
        }
    }
    struct live_change c = {.kind = LIVE_UPDATE, .coll = *b->coll, .before = marked, .after = doc, .locked = true};
    return any ? MRS_OK : live_burst_add(&b->burst, &c, e);
}

/* SKIP: not possible in a transaction. */
static enum mrs_status
attempt(struct live_batch *b, struct live_task *t, bool *done, struct live_fault *f, struct mrs_err *e)
{
    bool there = false;
    struct mrs_view marked = {NULL, 0}, doc = {NULL, 0};
    struct mrs_buf lsid;
    mrs_buf_init(&lsid, b->job->mem, 4096);
    live_burst_reset(&b->burst);
    enum mrs_status st = live_burst_begin(&b->burst, &lsid, f, e);
    mrs_buf_clear(&lsid);
    MRS_THEN(st, touch(b, t, &there, f, e));
    if (!st && !there) {
        *done = true;
        return MRS_SKIP;
    }
    MRS_THEN(st, read_marked(b, t, &marked, &doc, f, e));
    if (!st) {
        t->doc = doc;
        t->again = false;
        st = live_batch_make(b, t, 1, e);
    }
    if (!st && (t->refuse || b->unit[0].refused) && b->burst.n == 0) {
        *done = true; /* recorded as refused by an earlier round or the next walk */
        return MRS_SKIP;
    }
    MRS_THEN(st, live_batch_add_stale(b, e));
    MRS_THEN(st, relate(b, doc, marked, e));
    MRS_THEN(st, live_burst_in_transaction(&b->burst, f, e));
    MRS_THEN(st, live_txn_commit(b->job->link, f, e));
    *done = st == MRS_OK;
    return st;
}

enum mrs_status
live_batch_contended(struct live_batch *b, struct live_task *t, bool *done, struct mrs_err *e)
{
    MRS_ASSERT(live_link_replicated(b->job->link));
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    struct mrs_err why;
    *done = false;
    for (uint32_t again = 1; again <= TRIES; again++) {
        mrs_err_clear(&why);
        f.kind = LIVE_FAULT_NONE;
        enum mrs_status st = attempt(b, t, done, &f, &why);
        if (st == MRS_OK) {
            b->r->written += b->burst.n;
            return MRS_OK;
        }
        live_txn_abort(b->job->link);
        st = live_lost(&f, st, &why);
        if (st == MRS_END || st == MRS_DEAD) {
            if (e && st == MRS_DEAD) {
                *e = why;
            }
            return st;
        }
        if (st == MRS_SKIP || f.kind != LIVE_FAULT_TRANSIENT) {
            return MRS_OK; /* left to the next walk */
        }
        live_back_off(again);
    }
    return MRS_OK;
}
