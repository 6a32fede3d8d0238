/* SPDX-License-Identifier: Apache-2.0 */
/* live_checkpoint.c - the progress of a pass: one document, updated by compare and set.
 *
 * The filter of every update holds owner, epoch and the sequence number that was read, so only the owner of the run can
 * move a checkpoint, and only from the position that it knows. The same update is the first statement of a burst's
 * transaction (live_checkpoint_op). If the reply to an update is lost, the document itself shows whether it was made:
 * no other process writes under our epoch. Does not depend on the work of a pass. */
#include "state_io.h"

#include <stdio.h>

enum { TRIES_MAX = 10 };

void
live_checkpoint_clear(struct live_checkpoint *c)
{
    if (c->last.mem) {
        mrs_buf_clear(&c->last);
    }
    if (c->token.mem) {
        mrs_buf_clear(&c->token);
    }
}

static void
init(struct live_job *job, struct live_checkpoint *c)
{
    mrs_buf_init(&c->last, job->mem, 2 * MRS_DOC_READ_MAX);
    mrs_buf_init(&c->token, job->mem, MRS_DOC_READ_MAX);
}

static enum mrs_status
lost(const struct live_checkpoint *c, struct mrs_err *e)
{
    MRS_ASSERT(c->id[0]);
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                       "checkpoint %s was taken over by another process, nothing more is "
                       "written here",
                       c->id);
}

/* END: it does not exist. owner: buffer of 64 bytes. */
static enum mrs_status
read_one(struct live_job *job, struct live_checkpoint *c, char *owner, struct mrs_err *e)
{
    MRS_ASSERT(c->id[0]);
    struct mrs_arena a;
    struct mrs_buf buf;
    struct mrs_view q;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&buf, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc_in(&a, &q, e, "{_id: {$eq: %s}}", c->id);
    MRS_THEN(s, live_state_read(job, &job->run->state_checkpoints, q, &buf, e));
    if (s == MRS_OK) {
        struct mrs_view d = {buf.p, (uint32_t)buf.n};
        struct mrs_val last = live_at(d, "last"), token = live_at(d, "token");
        live_text_at(d, "owner", owner, 64);
        c->epoch = live_int_at(d, "epoch", 0);
        c->seq = live_int_at(d, "seq", 0);
        c->done = live_bool_at(d, "done", false);
        c->at = live_int_at(d, "at", 0);
        c->docs = (uint64_t)live_int_at(d, "docs", 0);
        c->written = (uint64_t)live_int_at(d, "written", 0);
        c->missed = (uint64_t)live_int_at(d, "missed", 0);
        c->refused = (uint64_t)live_int_at(d, "refused", 0);
        c->differs = (uint64_t)live_int_at(d, "differs", 0);
        mrs_buf_reset(&c->last);
        if (last.type == MRS_DOCUMENT) {
            mrs_buf_put(&c->last, last.p, last.n);
        }
        mrs_buf_reset(&c->token);
        if (token.type == MRS_DOCUMENT) {
            mrs_buf_put(&c->token, token.p, token.n);
        }
        s = mrs_buf_status(&c->last, e);
        MRS_THEN(s, mrs_buf_status(&c->token, e));
    }
    mrs_buf_clear(&buf);
    mrs_arena_clear(&a);
    return s;
}

static enum mrs_status
make_one(struct live_job *job, struct live_checkpoint *c, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view doc;
    bool there;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &doc, e,
                                    "{_id: %s, run: %s, owner: %s, epoch: %I, seq: %I, done: false, at: %I, docs: %I, "
                                    "written: %I, missed: %I, refused: %I, differs: %I}",
                                    c->id, r->id, r->owner, r->epoch, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0,
                                    (int64_t)0, (int64_t)0, (int64_t)0);
    MRS_THEN(s, live_state_insert(job, &r->state_checkpoints, doc, &there, e));
    mrs_arena_clear(&a);
    return s;
}

/* Takes over the checkpoint of an earlier epoch. */
static enum mrs_status
inherit(struct live_job *job, const struct live_checkpoint *c, struct mrs_err *e)
{
    MRS_ASSERT(c->epoch < job->run->epoch);
    struct live_run *r = job->run;
    struct live_state_change change = {0};
    struct mrs_arena a;
    struct mrs_view u;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &change.q, e, "{_id: {$eq: %s}, epoch: %I, seq: %I}", c->id, c->epoch, c->seq);
    if (s == MRS_OK) {
        s = live_doc_in(&a, &u, e, "{$set: {owner: %s, epoch: %I}}", r->owner, r->epoch);
    }
    if (s == MRS_OK) {
        change.u = mrs_view_val(u);
        s = live_state_update(job, &r->state_checkpoints, &change, NULL, e); /* no match: it is read again */
    }
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_checkpoint_open(struct live_job *job, const char *pass, struct live_checkpoint *c, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    int n;
    memset(c, 0, sizeof *c);
    init(job, c);
    n = snprintf(c->id, sizeof c->id, "%s/%s", r->id, pass);
    if (n < 0 || (size_t)n >= sizeof c->id) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "the name of pass \"%s\" is too long", pass);
    }
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        char owner[64] = "";
        enum mrs_status s = read_one(job, c, owner, e);
        if (s == MRS_OK && c->epoch > r->epoch) {
            return lost(c, e);
        }
        if (s == MRS_OK && c->epoch == r->epoch) {
            return strcmp(owner, r->owner) == 0 ? MRS_OK : lost(c, e);
        }
        if (r->worker && (s == MRS_END || (s == MRS_OK && c->epoch != r->epoch))) {
            return lost(c, e); /* the walk is over, or sealed */
        }
        s = s == MRS_OK ? inherit(job, c, e) : s == MRS_END ? make_one(job, c, e) : s;
        if (s != MRS_OK) {
            return s;
        }
    }
    return lost(c, e);
}

enum mrs_status
live_checkpoint_op(struct live_job *job, const struct live_checkpoint *c, struct mrs_arena *a, struct live_op *op,
                   struct mrs_err *e)
{
    MRS_ASSERT(c->id[0] && c->epoch == job->run->epoch);
    struct mrs_view last = {c->last.p, (uint32_t)c->last.n};
    struct mrs_view token = {c->token.p, (uint32_t)c->token.n};
    struct mrs_val set = c->last.n ? mrs_view_val(last) : mrs_missing(), unset = mrs_missing();
    struct mrs_val follow = c->token.n ? mrs_view_val(token) : mrs_missing();
    struct mrs_view none;
    enum mrs_status s = mrs_buf_status(&c->last, e);
    MRS_THEN(s, mrs_buf_status(&c->token, e));
    op->kind = LIVE_UPDATE;
    if (s == MRS_OK) {
        s = LIVE_MUTANT("worker-not-fenced")
                ? live_doc_in(a, &op->filter, e, "{_id: {$eq: %s}}", c->id)
                : live_doc_in(a, &op->filter, e, "{_id: {$eq: %s}, owner: %s, epoch: %I, seq: %I}", c->id,
                              job->run->owner, c->epoch, c->seq);
    }
    if (s == MRS_OK) {
        s = live_doc_in(a, &none, e, "{last: ''}");
        unset = s == MRS_OK && !c->last.n ? mrs_view_val(none) : unset;
    }
    if (s == MRS_OK) {
        s = live_doc_in(a, &op->doc, e,
                        "{$set: {last: %v, token: %v, seq: %I, done: %b, at: %I, docs: %I, written: %I, missed: %I, "
                        "refused: %I, differs: %I}, $currentDate: {updated: true}, $unset: %v}",
                        set, follow, c->seq + 1, c->done, c->at, (int64_t)c->docs, (int64_t)c->written,
                        (int64_t)c->missed, (int64_t)c->refused, (int64_t)c->differs, unset);
    }
    return s;
}

/* Is the document at the position that a lost reply would have confirmed? */
static enum mrs_status
moved(struct live_job *job, const struct live_checkpoint *c, struct mrs_err *e)
{
    MRS_ASSERT(c->id[0]);
    struct live_checkpoint there = {.epoch = 0};
    char owner[64] = "";
    memcpy(there.id, c->id, sizeof there.id);
    init(job, &there);
    enum mrs_status s = read_one(job, &there, owner, e);
    if (s >= MRS_OK) {
        bool ours = s == MRS_OK && strcmp(owner, job->run->owner) == 0 && there.epoch == c->epoch &&
                    there.seq == c->seq + 1;
        s = ours ? MRS_OK : lost(c, e);
    }
    live_checkpoint_clear(&there);
    return s;
}

enum mrs_status
live_checkpoint_save(struct live_job *job, struct live_checkpoint *c, struct mrs_err *e)
{
    struct mrs_arena a;
    struct live_op op;
    struct live_state_change change = {0};
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_checkpoint_op(job, c, &a, &op, e);
    if (s == MRS_OK) {
        change.q = op.filter;
        change.u = mrs_view_val(op.doc);
        LIVE_STOP("before-checkpoint");
        s = live_state_update(job, &job->run->state_checkpoints, &change, NULL, e);
        LIVE_STOP("after-checkpoint");
    }
    if (s == MRS_OK && change.matched != 1) {
        s = moved(job, c, e);
    }
    if (s == MRS_OK) {
        c->seq++;
    }
    mrs_arena_clear(&a);
    return s;
}
