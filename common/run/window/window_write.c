/* SPDX-License-Identifier: Apache-2.0 */
/* window_write.c - the second pass: each document with what was given for it. */
#include "window_pass.h"

struct window_write_job {
    struct mrsi_step_outputs_job io;
    struct mrs_window_entry entry; /* of one that is read again */
    struct mrsi_window_taken taken; /* what its documents receive; if that is large, of the next ones */
    struct mrs_buf bytes;
};

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_window_run *r = arg;
    struct window_write_job *job = p;
    bool fresh;
    enum mrs_status s = mrsi_step_outputs_job_next(&r->sides, &r->scan, &job->io, &fresh, big, e);
    if (fresh) {
        mrs_buf_init(&job->entry.group, r->en->mem, MRS_KEY_MAX);
        mrs_buf_init(&job->entry.order, r->en->mem, MRS_KEY_MAX);
        mrs_buf_init(&job->entry.payload, r->en->mem, SIZE_MAX);
        mrs_buf_init(&job->taken.at, r->en->mem, SIZE_MAX);
        mrs_buf_init(&job->taken.bytes, r->en->mem, SIZE_MAX);
        mrs_buf_init(&job->bytes, r->en->mem, SIZE_MAX);
    }
    if (s == MRS_OK) {
        job->taken.first = job->io.block.first_doc;
        s = mrsi_window_take(&r->results, &job->taken, job->taken.first + job->io.block.n_docs, e);
        *big = *big || job->taken.n < job->io.block.n_docs; /* no other job takes results until this one is committed */
    }
    return s;
}

static void
clear(void *arg, void *p)
{
    struct mrsi_window_run *r = arg;
    struct window_write_job *job = p;
    if (job->io.out) {
        mrs_buf_clear(&job->entry.group);
        mrs_buf_clear(&job->entry.order);
        mrs_buf_clear(&job->entry.payload);
        mrs_buf_clear(&job->taken.at);
        mrs_buf_clear(&job->taken.bytes);
        mrs_buf_clear(&job->bytes);
        mrsi_step_outputs_job_clear(&r->sides, &job->io);
    }
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_window_run *r = arg;
    struct window_write_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    if (job->bytes.cap > MRSI_BIG) {
        mrs_buf_clear(&job->bytes);
    }
    return s == MRS_OK ? mrsi_step_outputs_commit(&r->sides, job->io.out, e) : s;
}

/* *result: the result of a document: a uint64_t for mrsi_window_shared, and a document. */
static enum mrs_status
find_result(struct mrsi_window_run *r, struct window_write_job *job, uint64_t ordinal, const uint8_t **result,
            struct mrs_err *e)
{
    struct mrsi_window_taken *t = &job->taken;
    enum mrs_status s = MRS_OK;
    MRS_ASSERT(ordinal >= t->first);
    if (ordinal >= t->first + t->n) {
        t->first = ordinal;
        s = mrsi_window_take(&r->results, t, job->io.block.first_doc + job->io.block.n_docs, e);
    }
    if (s != MRS_OK) {
        return s;
    }
    const uint64_t place = ((const uint64_t *)(const void *)t->at.p)[ordinal - t->first];
    if (!place) { /* only where the state of another run says so */
        return mrsi_state_damaged("what was computed for documents", e);
    }
    *result = t->bytes.p + place - 1;
    return MRS_OK;
}

/* Splices a member with its result. */
static enum mrs_status
splice(struct mrsi_window_run *r, struct mrsi_worker *w, struct window_write_job *job, uint64_t ordinal,
       struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(r->bits.p[ordinal] == MRSI_WINDOW_IN && mrs_view_is_framed(doc));
    const uint8_t *result = NULL;
    uint64_t shared;
    MRS_TRY(find_result(r, job, ordinal, &result, &w->err));
    void *work = mrsi_work_of(w, r->step, &w->err);
    if (!work) {
        return MRS_DEAD;
    }
    memcpy(&shared, result, sizeof shared);
    mrs_buf_reset(&job->bytes);
    mrsi_remarks_begin(w);
    enum mrs_status s = r->ops->splice(r->st->state, &w->ctx, work, doc, mrsi_window_shared(&r->results, shared),
                                       mrsi_window_doc_at(result + sizeof shared), &job->bytes, fate);
    mrsi_eased(mrsi_row(w, r->step, 0), s == MRS_OK ? w->ctx.eased : 0, doc);
    return s;
}

static enum mrs_status
read_again(struct mrsi_window_run *r, struct mrsi_worker *w, struct window_write_job *job, struct mrs_view doc)
{
    mrs_buf_reset(&job->entry.group);
    mrs_buf_reset(&job->entry.order);
    mrs_buf_reset(&job->entry.payload);
    return r->ops->enter(r->st->state, &w->ctx, doc, &job->entry);
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrsi_window_run *r = arg;
    struct window_write_job *job = p;
    enum mrs_fate fate = MRS_FATE_STAYS;
    enum mrs_status s = MRS_OK;
    if (ordinal >= r->bits.n) { /* only where the state of another run says so */
        return mrsi_state_damaged("the step", e);
    }
    mrsi_row(w, r->step, 0)->before++;
    mrs_err_clear(&w->err);
    switch (r->bits.p[ordinal]) {
    case MRSI_WINDOW_REFUSED: s = read_again(r, w, job, doc); break;
    case MRSI_WINDOW_IN: s = splice(r, w, job, ordinal, doc, &fate); break;
    default: break;
    }
    if (s == MRS_SKIP) {
        mrsi_row(w, r->step, 0)->refused++;
        return mrsi_refuse(w, r->step, 0, r->en->side[r->step][0], ordinal, doc, e);
    }
    if (s != MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    if (fate == MRS_FATE_CHANGED) {
        mrsi_row(w, r->step, 0)->changed++;
        doc = (struct mrs_view){job->bytes.p, (uint32_t)job->bytes.n};
    }
    return mrsi_step_outputs_write(&r->sides, w, job->io.out, 0, doc, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_window_run *r = arg;
    struct window_write_job *job = p;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, r->scan.coll, job->io.part, &job->io.block);
    cur.quiet = cur.checked = true;
    return mrsi_cursor_each(&cur, one_document, r, w, job, e);
}

enum mrs_status
mrsi_window_write(struct mrsi_window_run *r, struct mrs_err *e)
{
    MRS_ASSERT(r->stage == MRSI_WINDOW_WRITE);
    struct mrsi_pipe p = {r->en, sizeof(struct window_write_job), fetch, work, commit, clear, r};
    struct mrsi_coll *coll = &r->en->coll[r->en->side[r->step][0]];
    return mrsi_pass_scan(&r->pass, &p, coll, &r->scan, e);
}
