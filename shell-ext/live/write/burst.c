/* SPDX-License-Identifier: Apache-2.0 */
/* burst.c - sends a batch of changes to the server: inserts, guarded updates, deletes, and then the checkpoint.
 *
 * Inserts go first and deletes last, so that at every instant each datum exists somewhere. On a replica set all of it
 * is one short transaction whose first statement moves the checkpoint: a process that lost the run cannot commit. If a
 * change in it is refused or missed, the transaction is aborted and the same changes are sent one bulk after the other,
 * which is correct without transactions, too: repeating a write has no further effect, and the checkpoint comes last.
 * Never an upsert: a deleted document stays deleted. A change of a unit is not made if an earlier one of the same unit
 * was refused. Nothing here depends on steps or on the content of documents. */
#include "burst.h"
#include "live/state/ranges.h"
#include "live/state/state_io.h"

enum { TRIES = 8 };

void
live_burst_init(struct live_burst *b, struct live_job *job)
{
    memset(b, 0, sizeof *b);
    b->job = job;
    mrs_arena_init(&b->arena, job->mem);
}

void
live_burst_clear(struct live_burst *b)
{
    mrs_free(b->job->mem, b->change);
    mrs_arena_clear(&b->arena);
    live_burst_init(b, b->job);
}

void
live_burst_reset(struct live_burst *b)
{
    mrs_arena_reset(&b->arena);
    b->n = 0;
    b->bytes = 0;
}

enum mrs_status
live_burst_add(struct live_burst *b, const struct live_change *c, struct mrs_err *e)
{
    MRS_ASSERT(b->n <= b->cap);
    void *more = mrs_more(b->job->mem, b->change, b->n, &b->cap, sizeof *b->change);
    MRS_TRY(mrs_allocated(more, sizeof *b->change, e));
    b->change = more;
    b->change[b->n] = *c;
    b->change[b->n].outcome = LIVE_MISSED;
    b->change[b->n++].why = NULL;
    b->bytes += c->after.n ? c->after.n : c->before.n;
    return MRS_OK;
}

/* ---- filters and pipelines ---- */

/* Adds the update and its guard: inside the update if nothing is removed, so that the filter is the `_id` alone. */
static enum mrs_status
put_update(struct live_send *s, struct live_write_op *p, const struct live_change *c, const struct live_delta *d,
           struct mrs_err *e)
{
    MRS_ASSERT(d->n <= LIVE_DELTA_OPS);
    struct mrs_view guard = {NULL, 0};
    bool whole = c->guard_whole || d->whole, inside = !c->locked && (d->whole || d->removed == 0);
    if (!whole) {
        mrs_buf_put(&s->names, c->guard, c->guard_n);
    }
    const char *names = whole ? NULL : (const char *)s->names.p;
    enum mrs_status st = mrs_buf_status(&s->names, e);
    if (!st && inside) {
        mrs_buf_reset(&s->guard);
        st = live_guard_condition(c->before, names, s->names.n, &s->guard, e);
        guard = (struct mrs_view){s->guard.p, (uint32_t)s->guard.n};
    }
    MRS_THEN(st, live_delta_put(d, guard, &s->buf, e));
    p->filter = s->buf.n;
    if (st || inside || c->locked) {
        return st ? st : live_guard_id(c->before, false, &s->buf, e);
    }
    return live_guard(c->before, names, s->names.n, &s->buf, e);
}

/* For a document whose guard does not fit next to its value: no guard, marked weak, and sent alone. */
static enum mrs_status
put_weak(struct live_send *s, struct live_write_op *p, const struct live_change *c, const struct live_delta *d,
         struct mrs_err *e)
{
    MRS_ASSERT(c->kind != LIVE_UPDATE || d->n <= LIVE_DELTA_OPS);
    enum mrs_status st = MRS_OK;
    s->buf.n = p->doc;
    if (c->kind == LIVE_UPDATE) {
        st = live_delta_put(d, (struct mrs_view){NULL, 0}, &s->buf, e);
    }
    p->filter = s->buf.n;
    p->weak = true;
    s->n_weak++;
    return st ? st : live_guard_id(c->before, true, &s->buf, e);
}

/* Adds the pipeline, then the filter, to one buffer by offsets. A change without a difference counts as made. */
static enum mrs_status
prepare_one(struct live_send *s, uint32_t i, struct mrs_err *e)
{
    MRS_ASSERT(i < s->b->n);
    struct live_change *c = &s->b->change[i];
    struct live_write_op *p = &s->piece[i];
    struct live_delta d;
    struct mrs_err why;
    enum mrs_status st = MRS_OK;
    mrs_err_clear(&why);
    p->doc = p->filter = p->end = s->buf.n;
    mrs_buf_reset(&s->names);
    if (c->kind == LIVE_UPDATE) {
        st = live_delta_find(c->before, c->after, &d, &s->names, e);
    }
    if (st == MRS_END) {
        c->outcome = LIVE_WRITTEN;
        p->done = true;
        return MRS_OK;
    }
    if (st || c->kind == LIVE_INSERT) {
        return st;
    }
    st = c->kind == LIVE_UPDATE ? put_update(s, p, c, &d, &why)
         : c->locked            ? live_guard_id(c->before, false, &s->buf, &why)
                                : live_guard(c->before, NULL, 0, &s->buf, &why);
    if ((st == MRS_FAIL && why.code == MRS_E_LIMIT) || (!st && s->buf.n - p->doc > MRS_DOC_MAX - (1u << 20))) {
        st = put_weak(s, p, c, &d, e);
    } else if (st && e) {
        *e = why;
    }
    p->end = s->buf.n;
    return st;
}

static enum mrs_status
prepare(struct live_send *s, struct mrs_err *e)
{
    struct live_burst *b = s->b;
    s->piece = mrs_zalloc(b->job->mem, (size_t)b->n * sizeof *s->piece + 1);
    s->ops = mrs_alloc_array(b->job->mem, b->n + 1, sizeof *s->ops);
    s->at = mrs_alloc_array(b->job->mem, b->n + 1, sizeof *s->at);
    if (!s->piece || !s->ops || !s->at) {
        return mrs_err_memory(e, (size_t)b->n * sizeof *s->ops);
    }
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < b->n && !st; i++) {
        b->change[i].outcome = LIVE_MISSED;
        b->change[i].why = NULL;
        st = prepare_one(s, i, e);
        s->payload += b->change[i].kind == LIVE_INSERT ? b->change[i].after.n : s->piece[i].filter - s->piece[i].doc;
    }
    b->bytes = s->payload;
    return st;
}

void
live_send_op(const struct live_send *s, uint32_t i, struct live_op *op)
{
    MRS_ASSERT(i < s->b->n);
    const struct live_change *c = &s->b->change[i];
    const struct live_write_op *p = &s->piece[i];
    op->kind = c->kind;
    op->filter = (struct mrs_view){s->buf.p + p->filter, (uint32_t)(p->end - p->filter)};
    op->doc = c->kind == LIVE_UPDATE ? (struct mrs_view){s->buf.p + p->doc, (uint32_t)(p->filter - p->doc)} : c->after;
    if (c->kind == LIVE_INSERT) {
        op->filter = mrs_empty_doc();
    }
}

/* Puts the next changes of this kind, all for one collection, into s->at and s->ops; 0: none. */
static uint32_t
next_bulk(struct live_send *s, enum live_op_kind kind, bool all)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->b->n; i++) {
        const struct live_change *c = &s->b->change[i];
        bool open = c->kind == kind && !s->piece[i].done && s->piece[i].part == s->part && (all || !s->piece[i].weak);
        if (open && (n == 0 || strcmp(s->b->change[s->at[0]].coll.ns, c->coll.ns) == 0)) {
            s->at[n] = i;
            live_send_op(s, i, &s->ops[n++]);
            s->piece[i].done = true;
        }
    }
    return n;
}

/* ---- the transaction ---- */

/* For updates the number of changed documents: one that matched by `_id` may have failed the guard inside. */
static uint64_t
sum_of(enum live_op_kind kind, const struct live_bulk_result *r)
{
    return kind == LIVE_INSERT ? r->inserted : kind == LIVE_DELETE ? r->deleted : r->modified;
}

static bool
bypass(const struct live_job *job)
{
    return job->opts.quiet == LIVE_BY_VALIDATOR;
}

/* Sends inserts, updates, deletes. SKIP: one was missed; FAIL with the fault. */
static enum mrs_status
statements(struct live_send *s, struct live_fault *f, struct mrs_err *e)
{
    static const enum live_op_kind order[3] = {LIVE_INSERT, LIVE_UPDATE, LIVE_DELETE};
    struct live_job *job = s->b->job;
    struct live_bulk_result r;
    for (int k = 0; k < 3; k++) {
        for (uint32_t n; (n = next_bulk(s, order[k], true)) > 0;) {
            enum mrs_status st = live_bulk(job->link, &s->b->change[s->at[0]].coll, s->ops, n,
                                           LIVE_WRITE | LIVE_IN_TXN, bypass(job), &s->b->arena, &r, f, e);
            s->refused = st == MRS_FAIL && r.n_errors;
            if (s->refused) {
                s->error = r.errors[0];
            }
            if (st || sum_of(order[k], &r) != n) {
                return st ? st : MRS_SKIP;
            }
        }
    }
    return MRS_OK;
}

/* The first statement of a transaction: a write to the checkpoint, which conflicts if there are two owners. */
static enum mrs_status
check_first(struct live_burst *b, const struct live_op *check, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(b->job->run);
    struct live_job *job = b->job;
    struct live_bulk_result r;
    LIVE_STOP("before-checkpoint");
    MRS_TRY(live_bulk(job->link, &job->run->state_checkpoints, check, 1, LIVE_WRITE | LIVE_IN_TXN, false,
                      &b->arena, &r, f, e));
    LIVE_STOP("after-checkpoint");
    if (r.matched == 1 || LIVE_MUTANT("worker-not-fenced")) {
        return MRS_OK;
    }
    return mrs_err_set(e, MRS_DEAD, MRS_E_SERVER,
                       "the checkpoint is not as it was left: another process has taken over this run");
}

/* Before a transaction begins: stores its session's id, put into lsid, in the lease, so that a successor can end what a
 * dead owner left open. */
static enum mrs_status
record_session(struct live_burst *b, struct mrs_buf *lsid, struct mrs_err *e)
{
    struct live_link *l = b->job->link;
    uint64_t now = live_link_generation(l) + 1;
    mrs_buf_reset(lsid);
    enum mrs_status st = live_txn_session(l, lsid, e);
    struct mrs_view id = {lsid->p, (uint32_t)lsid->n};
    if (!st && b->session != now && b->job->run) {
        st = live_lease_session(b->job, id, e);
        b->session = st ? 0 : now;
    }
    return st;
}

enum mrs_status
live_burst_begin(struct live_burst *b, struct mrs_buf *lsid, struct live_fault *f, struct mrs_err *e)
{
    struct live_op fence;
    enum mrs_status st = record_session(b, lsid, e);
    MRS_THEN(st, live_txn_begin(b->job->link, e));
    if (st || !b->job->run || !b->job->run->worker || LIVE_MUTANT("worker-not-fenced")) {
        return st;
    }
    st = live_range_fence(b->job, &b->arena, &fence, e);
    return st ? st : check_first(b, &fence, f, e);
}

/* After an unknown commit: ends the session, then reads the checkpoint. OK: committed; END. */
static enum mrs_status
undecided(struct live_send *s, struct live_checkpoint *c, struct mrs_err *e)
{
    struct live_job *job = s->b->job;
    struct mrs_err quiet;
    mrs_err_clear(&quiet);
    if (live_kill_session(job->link, (struct mrs_view){s->lsid.p, (uint32_t)s->lsid.n}, &quiet) || !c) {
        return MRS_END;
    }
    struct live_checkpoint now;
    const char *pass = strchr(c->id, '/');
    memset(&now, 0, sizeof now);
    enum mrs_status st = live_checkpoint_open(job, pass ? pass + 1 : c->id, &now, &quiet);
    bool moved = !st && now.seq == c->seq + 1 && now.epoch == c->epoch;
    live_checkpoint_clear(&now);
    if (st == MRS_DEAD && e) {
        *e = quiet;
    }
    return st == MRS_DEAD ? st : moved ? MRS_OK : MRS_END;
}

static enum mrs_status
commit(struct live_send *s, struct live_checkpoint *c, struct live_fault *f, struct mrs_err *e)
{
    struct mrs_err quiet;
    for (int again = 0;; again++) {
        mrs_err_clear(&quiet);
        enum mrs_status st = live_txn_commit(s->b->job->link, f, &quiet);
        if (st != MRS_FAIL) {
            return st;
        }
        if (f->kind != LIVE_FAULT_UNKNOWN_COMMIT || again == 2) {
            break;
        }
        live_back_off(1);
    }
    if (f->kind == LIVE_FAULT_NETWORK || f->kind == LIVE_FAULT_UNKNOWN_COMMIT) {
        return undecided(s, c, e);
    }
    if (e) {
        *e = quiet;
    }
    return MRS_FAIL;
}

static void
reopen(struct live_send *s)
{
    for (uint32_t i = 0; i < s->b->n; i++) {
        if (s->piece[i].part == s->part) {
            s->piece[i].done = s->b->change[i].outcome == LIVE_WRITTEN;
        }
    }
}

/* One attempt: begin, check, send, commit. */
static enum mrs_status
try_transaction(struct live_send *s, const struct live_op *check, struct live_checkpoint *c, struct mrs_err *e)
{
    MRS_ASSERT(s->n_weak == 0);
    enum mrs_status st;
    reopen(s);
    s->fault.kind = LIVE_FAULT_NONE;
    s->refused = false;
    if (check) {
        st = record_session(s->b, &s->lsid, e);
        MRS_THEN(st, live_txn_begin(s->b->job->link, e));
        MRS_THEN(st, check_first(s->b, check, &s->fault, e));
    } else {
        st = live_burst_begin(s->b, &s->lsid, &s->fault, e);
    }
    MRS_THEN(st, statements(s, &s->fault, e));
    MRS_THEN(st, commit(s, c, &s->fault, e));
    if (st) {
        live_txn_abort(s->b->job->link);
    }
    return live_lost(&s->fault, st, e);
}

enum mrs_status
live_send_in_transaction(struct live_send *s, struct live_checkpoint *c, struct mrs_err *e)
{
    struct live_op check;
    enum mrs_status st = c ? live_checkpoint_op(s->b->job, c, &s->b->arena, &check, e) : MRS_OK;
    for (uint32_t again = 1; !st; again++) {
        mrs_err_clear(&s->why);
        st = try_transaction(s, c ? &check : NULL, c, &s->why);
        if (st == MRS_OK) {
            if (c) {
                c->seq++;
            }
            return MRS_OK;
        }
        if (st == MRS_FAIL && s->fault.kind == LIVE_FAULT_TRANSIENT && again < TRIES) {
            live_back_off(again);
            st = MRS_OK;
        }
    }
    reopen(s);
    if (st == MRS_DEAD || (st == MRS_FAIL && s->fault.kind == LIVE_FAULT_NONE)) { /* not reported by the server */
        if (e) {
            *e = s->why;
        }
        return st;
    }
    return st == MRS_FAIL ? MRS_SKIP : st;
}

/* ---- without a transaction ---- */

/* Journaled on a standalone: the checkpoint after it may be repeated over another connection, and the writes that it
 * covers must not be lost in between. */
static enum mrs_status
bulk_plain(struct live_send *s, uint32_t n, struct live_bulk_result *r, struct mrs_err *e)
{
    struct live_job *job = s->b->job;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    for (uint32_t again = 1;; again++) {
        enum mrs_status st = live_bulk(job->link, &s->b->change[s->at[0]].coll, s->ops, n, LIVE_WRITE | LIVE_JOURNALED,
                                       bypass(job), &s->b->arena, r, &f, e);
        if (st != MRS_FAIL || f.kind != LIVE_FAULT_TRANSIENT || again == TRIES) {
            return live_lost(&f, st, e);
        }
        if (e) {
            mrs_err_clear(e);
        }
        live_back_off(again);
    }
}

bool
live_send_skips_unit(const struct live_send *s, uint32_t unit)
{
    MRS_ASSERT(s->n_bad <= s->b->n);
    for (uint32_t i = 0; i < s->n_bad; i++) {
        if (s->bad[i] == unit) {
            return true;
        }
    }
    return false;
}

/* Skips the later changes of a unit with a refused one. */
static void
skip_later_changes(struct live_send *s)
{
    for (uint32_t i = 0; s->n_bad && i < s->b->n; i++) {
        if (!s->piece[i].done && live_send_skips_unit(s, s->b->change[i].unit)) {
            s->piece[i].done = true;
        }
    }
}

enum mrs_status
live_send_add_failed(struct live_send *s, struct mrs_err *e)
{
    s->n_bad = 0;
    for (uint32_t i = 0; i < s->b->n; i++) {
        const struct live_change *c = &s->b->change[i];
        if (!s->piece[i].done || c->outcome == LIVE_WRITTEN || live_send_skips_unit(s, c->unit)) {
            continue;
        }
        if (!s->bad && !(s->bad = mrs_alloc_array(s->b->job->mem, s->b->n, sizeof *s->bad))) {
            return mrs_err_memory(e, s->b->n * sizeof *s->bad);
        }
        s->bad[s->n_bad++] = c->unit;
    }
    skip_later_changes(s);
    return MRS_OK;
}

static enum mrs_status
kind_plain(struct live_send *s, enum live_op_kind kind, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t n; !st && (n = next_bulk(s, kind, false)) > 0;) {
        struct live_bulk_result r;
        memset(&r, 0, sizeof r);
        st = bulk_plain(s, n, &r, e);
        MRS_THEN(st, live_settle(s, kind, n, sum_of(kind, &r), &r, e));
    }
    for (uint32_t i = 0; i < s->b->n && !st && s->n_weak; i++) {
        if (s->b->change[i].kind == kind && s->piece[i].weak && !s->piece[i].done) {
            s->piece[i].done = true;
            st = live_send_alone(s, i, bypass(s->b->job), e);
        }
    }
    return st ? st : live_send_add_failed(s, e);
}

static enum mrs_status
plain_way(struct live_send *s, struct live_checkpoint *c, bool *short_, struct mrs_err *e)
{
    static const enum live_op_kind right[3] = {LIVE_INSERT, LIVE_UPDATE, LIVE_DELETE};
    static const enum live_op_kind wrong[3] = {LIVE_DELETE, LIVE_INSERT, LIVE_UPDATE};
    const enum live_op_kind *order = LIVE_MUTANT("delete-before-insert") ? wrong : right;
    bool early = c && LIVE_MUTANT("checkpoint-before-write");
    enum mrs_status st = early ? live_checkpoint_save(s->b->job, c, e) : MRS_OK;
    for (int k = 0; k < 3 && !st; k++) {
        st = kind_plain(s, order[k], e);
    }
    for (uint32_t i = 0; i < s->b->n && !st; i++) {
        *short_ = *short_ || s->b->change[i].outcome != LIVE_WRITTEN;
    }
    return st || !c || early || *short_ ? st : live_checkpoint_save(s->b->job, c, e);
}

static bool
fits_transaction(const struct live_send *s, const struct live_checkpoint *c)
{
    const struct live_burst *b = s->b;
    return c && b->n && !s->n_weak && b->n < LIVE_TXN_DOCS && s->payload < LIVE_TXN_BYTES &&
           s->buf.n < 4 * (size_t)LIVE_TXN_BYTES &&
           live_link_replicated(b->job->link) && !b->job->opts.no_transactions &&
           !LIVE_MUTANT("checkpoint-before-write") && !LIVE_MUTANT("delete-before-insert");
}

static enum mrs_status
begin(struct live_send *s, struct live_burst *b, struct mrs_err *e)
{
    *s = (struct live_send){.b = b};
    mrs_buf_init(&s->buf, b->job->mem, 3u << 30);
    mrs_buf_init(&s->names, b->job->mem, 64u << 20);
    mrs_buf_init(&s->guard, b->job->mem, 64u << 20);
    mrs_buf_init(&s->lsid, b->job->mem, 1u << 20);
    return prepare(s, e);
}

static void
end(struct live_send *s)
{
    struct mrs_mem *mem = s->b->job->mem;
    mrs_buf_clear(&s->buf);
    mrs_buf_clear(&s->names);
    mrs_buf_clear(&s->guard);
    mrs_buf_clear(&s->lsid);
    mrs_free(mem, s->piece);
    mrs_free(mem, s->ops);
    mrs_free(mem, s->at);
    mrs_free(mem, s->bad);
}

static void
all_written(struct live_burst *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        b->change[i].outcome = LIVE_WRITTEN;
    }
}

enum mrs_status
live_burst_write(struct live_burst *b, struct live_checkpoint *c, bool *short_, struct mrs_err *e)
{
    struct live_send s;
    *short_ = false;
    enum mrs_status st = begin(&s, b, e);
    if (!st && b->job->run && b->job->run->worker) {
        st = live_send_fenced(&s, c, short_, e);
        end(&s);
        return st;
    }
    bool whole = !st && fits_transaction(&s, c);
    if (whole) {
        st = live_send_in_transaction(&s, c, e);
    }
    if (whole && st == MRS_OK) {
        all_written(b);
    } else if (st == MRS_SKIP || (st == MRS_OK && !whole)) {
        st = plain_way(&s, c, short_, e);
    }
    end(&s);
    return st;
}

enum mrs_status
live_burst_in_transaction(struct live_burst *b, struct live_fault *f, struct mrs_err *e)
{
    struct live_send s;
    enum mrs_status st = begin(&s, b, e);
    MRS_THEN(st, s.n_weak ? MRS_SKIP : statements(&s, f, e));
    if (!st) {
        all_written(b);
    }
    end(&s);
    return st;
}
