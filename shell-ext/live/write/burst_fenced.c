/* SPDX-License-Identifier: Apache-2.0 */
/* burst_fenced.c - sends the changes of a worker: all in transactions that its range fences, the last one with the
 * checkpoint.
 *
 * Several processes share a walk, and one that slept past its lease may resume at any time. So a worker never writes
 * outside a transaction, and each transaction begins with a write to its range that matches only while the worker owns
 * it. Changes are sent in the order of all bursts, inserts, updates, deletes, as many in one transaction as advisable.
 * A transaction with a missed or refused change is split in halves until a single change is left, whose result is then
 * evaluated; after that the size grows again. */
#include "burst.h"

enum { ALL = LIVE_TXN_DOCS - 1 };

struct fenced {
    struct live_send *s;
    uint32_t *order;      /* all changes */
    uint32_t at, k, most; /* the current ones, and their maximum number */
    bool made;            /* the current ones were made, in one transaction */
};

static void
put_order(struct fenced *f)
{
    static const enum live_op_kind order[3] = {LIVE_INSERT, LIVE_UPDATE, LIVE_DELETE};
    const struct live_burst *b = f->s->b;
    uint32_t n = 0;
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < b->n; i++) {
            if (b->change[i].kind == order[k]) {
                f->order[n++] = i;
            }
        }
    }
}

/* Selects the next changes for one transaction; a weak one alone. */
static void
choose(struct fenced *f)
{
    struct live_send *s = f->s;
    MRS_ASSERT(f->most > 0 && f->at < s->b->n);
    uint64_t bytes = 0;
    s->part++;
    for (f->k = 0; f->k < f->most && f->at + f->k < s->b->n; f->k++) {
        uint32_t i = f->order[f->at + f->k];
        struct live_write_op *p = &s->piece[i];
        const struct live_change *c = &s->b->change[i];
        bytes += (p->end - p->doc) + (c->kind == LIVE_INSERT ? c->after.n : 0);
        if (f->k && (p->weak || bytes > LIVE_TXN_BYTES)) {
            break;
        }
        bool bad = live_send_skips_unit(s, c->unit);
        p->part = p->done || bad ? p->part : s->part;
        p->done = p->done || bad;
        if (p->weak) {
            f->k = 1;
            break;
        }
    }
}

static void
written(struct fenced *f)
{
    for (uint32_t i = 0; i < f->k; i++) {
        uint32_t at = f->order[f->at + i];
        if (f->s->piece[at].part == f->s->part) {
            f->s->piece[at].done = true;
            f->s->b->change[at].outcome = LIVE_WRITTEN;
        }
    }
}

/* Evaluates the one change that was not made, from the current document and the server's error. */
static enum mrs_status
judge(struct fenced *f, struct mrs_err *e)
{
    MRS_ASSERT(f->k == 1);
    struct live_send *s = f->s;
    struct live_bulk_result r = {.errors = &s->error, .n_errors = s->refused};
    struct live_change *c = &s->b->change[f->order[f->at]];
    s->piece[f->order[f->at]].done = true;
    s->at[0] = f->order[f->at];
    c->outcome = LIVE_MISSED;
    if (s->fault.kind == LIVE_FAULT_TRANSIENT) {
        return MRS_OK;
    }
    if (s->fault.kind != LIVE_FAULT_NONE && !s->refused) { /* error not of the change */
        if (e) {
            *e = s->why;
        }
        return MRS_FAIL;
    }
    s->error.index = 0;
    enum mrs_status st = live_settle(s, c->kind, 1, 0, &r, e);
    if (!st && c->why) {
        c->why = mrs_arena_copy(&s->b->arena, c->why, strlen(c->why) + 1);
        st = mrs_allocated(c->why, sizeof s->error.msg, e);
    }
    return st;
}

/* Sends the current changes; with c if they are the last and all before were made. */
static enum mrs_status
send(struct fenced *f, struct live_checkpoint *c, struct mrs_err *e)
{
    MRS_ASSERT(f->k > 0);
    struct live_send *s = f->s;
    uint32_t first = f->order[f->at];
    f->made = false;
    if (s->piece[first].weak) {
        bool open = !s->piece[first].done;
        s->piece[first].done = true;
        return open ? live_send_alone(s, first, s->b->job->opts.quiet == LIVE_BY_VALIDATOR, e) : MRS_OK;
    }
    enum mrs_status st = live_send_in_transaction(s, c, e);
    if (st == MRS_OK) {
        f->made = true;
        written(f);
    }
    return st == MRS_SKIP && f->k == 1 ? judge(f, e) : st;
}

static bool
any_short(const struct live_burst *b, const uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (b->change[order[i]].outcome != LIVE_WRITTEN) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
send_all(struct fenced *f, struct live_checkpoint *c, bool *saved, struct mrs_err *e)
{
    struct live_burst *b = f->s->b;
    enum mrs_status st = MRS_OK;
    for (f->most = ALL; f->at < b->n && !st;) {
        choose(f);
        bool last = c && f->at + f->k == b->n && !any_short(b, f->order, f->at) && !f->s->piece[f->order[f->at]].weak;
        st = send(f, last ? c : NULL, e);
        if (st == MRS_SKIP) {
            f->most = f->k / 2;
            st = MRS_OK;
            continue;
        }
        f->at += f->k;
        f->most = f->most < ALL / 2 ? 2 * f->most : ALL;
        MRS_THEN(st, live_send_add_failed(f->s, e));
        *saved = last && f->made;
    }
    return st;
}

enum mrs_status
live_send_fenced(struct live_send *s, struct live_checkpoint *c, bool *short_, struct mrs_err *e)
{
    struct fenced f = {.s = s, .order = mrs_alloc_array(s->b->job->mem, s->b->n + 1, sizeof *f.order)};
    bool saved = false;
    MRS_TRY(mrs_allocated(f.order, s->b->n * sizeof *f.order, e));
    for (uint32_t i = 0; i < s->b->n; i++) {
        s->piece[i].part = UINT32_MAX;
    }
    put_order(&f);
    enum mrs_status st = send_all(&f, c, &saved, e);
    *short_ = !st && any_short(s->b, f.order, s->b->n);
    mrs_free(s->b->job->mem, f.order);
    return st || !c || saved || *short_ ? st : live_checkpoint_save(s->b->job, c, e);
}
