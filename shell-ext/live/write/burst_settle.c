/* SPDX-License-Identifier: Apache-2.0 */
/* burst_settle.c - determines the result of each change of a bulk, from sums, write errors and reading back.
 *
 * Errors have an index, misses do not: if sums and errors do not account for all changes, the rest is read back. A
 * duplicate `_id` is compared with the document that has it: equal bytes are an earlier write of ours, others are
 * foreign. A change too large for a guard is sent from here, alone. The caller decides the effect of a miss or a
 * duplicate on its unit. */
#include "live/link/bson.h"
#include "burst.h"

enum { CODE_DUPLICATE = 11000, CODE_CONFLICT = 112, CODE_LOCK = 24, TRIES = 8 };

/* The error of the i-th operation of a bulk; NULL: none. */
static const struct live_op_error *
error_of(const struct live_bulk_result *r, uint32_t i)
{
    for (uint32_t k = 0; k < r->n_errors; k++) {
        if (r->errors[k].index == i) {
            return &r->errors[k];
        }
    }
    return NULL;
}

static void
report_insert(void *arg, struct live_change *c, enum live_there there)
{
    (void)arg;
    if (there == LIVE_GONE) {
        c->outcome = c->why ? LIVE_CLASH : LIVE_MISSED;
    } else {
        c->outcome = there == LIVE_THERE_AFTER ? LIVE_WRITTEN : LIVE_FOREIGN;
    }
}

static void
report_update(void *arg, struct live_change *c, enum live_there there)
{
    (void)arg;
    c->outcome = there == LIVE_THERE_AFTER ? LIVE_WRITTEN : LIVE_MISSED;
}

static void
report_delete(void *arg, struct live_change *c, enum live_there there)
{
    (void)arg;
    c->outcome = there == LIVE_GONE ? LIVE_WRITTEN : LIVE_MISSED;
}

/* Only for the mutant: does what an upsert would do to a deleted document. */
static enum mrs_status
resurrect(struct live_send *s, uint32_t n, struct mrs_err *e)
{
    struct live_bulk_result r;
    struct live_fault f;
    for (uint32_t i = 0; i < n; i++) {
        struct live_change *c = &s->b->change[s->at[i]];
        struct live_op op = {LIVE_INSERT, mrs_empty_doc(), c->after};
        if (c->outcome != LIVE_WRITTEN && !live_bulk(s->b->job->link, &c->coll, &op, 1, LIVE_WRITE, false,
                                                     &s->b->arena, &r, &f, e) && r.inserted == 1) {
            c->outcome = LIVE_WRITTEN;
        }
    }
    return MRS_OK;
}

/* Sets the outcome of changes with errors; moves those to read back to the front of s->at. Returns their number. */
static uint32_t
sort_out(struct live_send *s, enum live_op_kind kind, uint32_t n, bool all, const struct live_bulk_result *r)
{
    MRS_ASSERT(n <= s->b->n);
    uint32_t rest = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct live_change *c = &s->b->change[s->at[i]];
        const struct live_op_error *oe = r->n_errors ? error_of(r, i) : NULL;
        bool read_again = oe ? kind == LIVE_INSERT && oe->code == CODE_DUPLICATE : !all;
        c->outcome = LIVE_WRITTEN;
        if (oe) {
            c->why = oe->msg;
            c->outcome = oe->code == CODE_CONFLICT || oe->code == CODE_LOCK ? LIVE_MISSED : LIVE_CLASH;
        }
        if (read_again) {
            s->at[rest++] = s->at[i];
        }
    }
    return rest;
}

enum mrs_status
live_settle(struct live_send *s, enum live_op_kind kind, uint32_t n, uint64_t sum, const struct live_bulk_result *r,
            struct mrs_err *e)
{
    MRS_ASSERT(n <= s->b->n);
    bool all = sum + r->n_errors == n || LIVE_MUTANT("no-readback");
    uint32_t rest = sort_out(s, kind, n, all, r);
    if (rest == 0) {
        return MRS_OK;
    }
    enum mrs_status st = live_read_back(s->b, s->at, rest,
                                        kind == LIVE_INSERT   ? report_insert
                                        : kind == LIVE_UPDATE ? report_update
                                                              : report_delete,
                                        NULL, e);
    return !st && kind == LIVE_UPDATE && LIVE_MUTANT("upsert") ? resurrect(s, rest, e) : st;
}

/* One attempt in its own transaction: read, compare, write. SKIP: the document has changed. */
static enum mrs_status
alone_in_txn(struct live_send *s, const struct live_op *op, uint32_t i, bool bypass, struct live_fault *f,
             struct mrs_err *e)
{
    MRS_ASSERT(i < s->b->n);
    struct live_job *job = s->b->job;
    struct live_change *c = &s->b->change[i];
    struct live_bulk_result r;
    bool same = false;
    enum mrs_status st = live_burst_begin(s->b, &s->lsid, f, e);
    MRS_THEN(st, live_same_as_before(job, c, LIVE_IN_TXN, &same, f, e));
    MRS_THEN(st, same ? MRS_OK : MRS_SKIP);
    MRS_THEN(st, live_bulk(job->link, &c->coll, op, 1, LIVE_WRITE | LIVE_IN_TXN, bypass, &s->b->arena, &r, f, e));
    MRS_THEN(st, r.matched + r.deleted == 1 ? live_txn_commit(job->link, f, e) : MRS_SKIP);
    if (st) {
        live_txn_abort(job->link);
    }
    return st;
}

static enum mrs_status
alone_txn(struct live_send *s, const struct live_op *op, uint32_t i, bool bypass, struct mrs_err *e)
{
    MRS_ASSERT(i < s->b->n);
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    enum mrs_status st;
    for (uint32_t again = 1; (st = alone_in_txn(s, op, i, bypass, &f, e)) == MRS_FAIL; again++) {
        if (f.kind == LIVE_FAULT_INVALID || f.kind == LIVE_FAULT_DUPLICATE || f.kind == LIVE_FAULT_TOO_LARGE) {
            s->b->change[i].outcome = LIVE_CLASH;
            s->b->change[i].why = "the server refuses the document";
            mrs_err_clear(e);
            return MRS_OK;
        }
        if (f.kind != LIVE_FAULT_TRANSIENT || again == TRIES) {
            return live_lost(&f, st, e);
        }
        mrs_err_clear(e);
        live_back_off(again);
    }
    s->b->change[i].outcome = st ? LIVE_MISSED : LIVE_WRITTEN;
    return st == MRS_SKIP ? MRS_OK : st;
}

static enum mrs_status
alone_quiet(struct live_send *s, const struct live_op *op, uint32_t i, bool bypass, struct mrs_err *e)
{
    MRS_ASSERT(i < s->b->n);
    struct live_change *c = &s->b->change[i];
    struct live_bulk_result r;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    bool same;
    memset(&r, 0, sizeof r);
    enum mrs_status st = live_same_as_before(s->b->job, c, 0, &same, &f, e);
    if (st) {
        return st;
    }
    if (same) {
        st = live_bulk(s->b->job->link, &c->coll, op, 1, LIVE_WRITE | LIVE_JOURNALED, bypass, &s->b->arena, &r, &f, e);
        st = live_lost(&f, st, e);
    }
    s->at[0] = i;
    return st ? st : live_settle(s, c->kind, 1, r.matched + r.deleted, &r, e);
}

enum mrs_status
live_send_alone(struct live_send *s, uint32_t i, bool bypass, struct mrs_err *e)
{
    MRS_ASSERT(i < s->b->n);
    struct live_op op;
    struct mrs_err own;
    mrs_err_clear(&own);
    e = e ? e : &own;
    live_send_op(s, i, &op);
    if (live_link_replicated(s->b->job->link) && !s->b->job->opts.no_transactions) {
        return alone_txn(s, &op, i, bypass, e);
    }
    if (s->b->job->opts.quiet != LIVE_NOT_QUIET) {
        return alone_quiet(s, &op, i, bypass, e);
    }
    s->b->change[i].outcome = LIVE_CLASH;
    s->b->change[i].why = "too large to be changed alongside writers without a transaction";
    return MRS_OK;
}
