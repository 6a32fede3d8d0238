/* SPDX-License-Identifier: Apache-2.0 */
/* window_read.c - the first pass: what each document brings to its group. Nothing is refused here: who reads it again
 * to write it hears the same. */
#include "window_pass.h"

struct window_head { /* the key and the payload lie behind it */
    uint32_t key_len, n;
};
struct window_read_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_window_entry entry;
    struct mrs_buf bits;
    struct mrs_buf records; /* struct window_head, key, payload */
};

enum { JOB_BUFS = 5 };

static void
bufs_of(struct window_read_job *job, struct mrs_buf *out[JOB_BUFS])
{
    struct mrs_buf *all[JOB_BUFS] = {&job->entry.group, &job->entry.order, &job->entry.payload, &job->bits,
                                     &job->records};
    memcpy(out, all, sizeof all);
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_window_run *r = arg;
    struct window_read_job *job = p;
    if (!job->block.mem) {
        struct mrs_buf *bufs[JOB_BUFS];
        bufs_of(job, bufs);
        mrs_block_init(&job->block, r->en->mem);
        for (size_t i = 0; i < JOB_BUFS; i++) {
            mrs_buf_init(bufs[i], r->en->mem, SIZE_MAX);
        }
        job->entry.group.ceiling = job->entry.order.ceiling = MRS_KEY_MAX;
    }
    enum mrs_status s = mrsi_scan_next(&r->scan, &job->block, &job->part, e);
    *big = mrsi_is_large(r->en, job->block.n);
    return s;
}

static void
clear(void *arg, void *p)
{
    struct window_read_job *job = p;
    struct mrs_buf *bufs[JOB_BUFS];
    (void)arg;
    bufs_of(job, bufs);
    if (job->block.mem) {
        for (size_t i = 0; i < JOB_BUFS; i++) {
            mrs_buf_clear(bufs[i]);
        }
        mrs_block_clear(&job->block);
    }
}

static enum mrs_status
keep(const struct mrsi_window_run *r, struct window_read_job *job, uint64_t ordinal, struct mrs_err *e)
{
    const struct mrs_window_entry *x = &job->entry;
    struct mrs_hash128 h = mrs_hash_secret(&r->en->secret, 0, x->group.p, x->group.n);
    struct window_head head = {(uint32_t)(sizeof h + x->order.n), (uint32_t)(sizeof ordinal + x->payload.n)};
    mrs_buf_put(&job->records, &head, sizeof head);
    mrs_buf_put(&job->records, &h, sizeof h);
    mrs_buf_put(&job->records, x->order.p, x->order.n);
    mrs_buf_put(&job->records, &ordinal, sizeof ordinal);
    mrs_buf_put(&job->records, x->payload.p, x->payload.n);
    return mrs_buf_status(&job->records, e);
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrsi_window_run *r = arg;
    struct window_read_job *job = p;
    MRS_ASSERT(ordinal - job->block.first_doc < job->bits.n);
    uint8_t *bit = job->bits.p + (ordinal - job->block.first_doc);
    mrs_buf_reset(&job->entry.group);
    mrs_buf_reset(&job->entry.order);
    mrs_buf_reset(&job->entry.payload);
    mrs_err_clear(&w->err);
    mrsi_remarks_begin(w);
    enum mrs_status s = r->ops->enter(r->st->state, &w->ctx, doc, &job->entry);
    if (s != MRS_OK && s != MRS_SKIP) {
        return mrsi_kernel_failed(w, s, e);
    }
    if (s == MRS_SKIP || !job->entry.takes_part) {
        *bit = s == MRS_SKIP ? MRSI_WINDOW_REFUSED : MRSI_WINDOW_OUT;
        return MRS_OK;
    }
    *bit = MRSI_WINDOW_IN;
    mrsi_remark(mrsi_row(w, r->step, 0), w->ctx.remarks);
    return keep(r, job, ordinal, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_window_run *r = arg;
    struct window_read_job *job = p;
    struct mrsi_cursor cur;
    mrs_buf_reset(&job->bits);
    uint8_t *bits = mrs_buf_take(&job->bits, job->block.n_docs);
    if (!bits) {
        return mrs_buf_status(&job->bits, e);
    }
    memset(bits, MRSI_WINDOW_OUT, job->bits.n);
    mrsi_cursor_begin(&cur, r->scan.coll, job->part, &job->block);
    cur.fields = r->st->type->fields;
    return mrsi_cursor_each(&cur, one_document, r, w, job, e);
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_window_run *r = arg;
    struct window_read_job *job = p;
    struct mrs_buf *bufs[JOB_BUFS];
    enum mrs_status s = mrsi_refused_commit(w, e); /* what steps before this one refuse on the way */
    MRS_THEN(s, mrsi_file_array_put_n(&r->bits, job->bits.p, job->bits.n, e));
    for (size_t at = 0; s == MRS_OK && at < job->records.n;) {
        struct window_head head;
        memcpy(&head, job->records.p + at, sizeof head);
        const uint8_t *key = job->records.p + at + sizeof head;
        s = mrsi_window_put(r, key, head.key_len, key + head.key_len, head.n, e);
        at += sizeof head + head.key_len + head.n;
    }
    bufs_of(job, bufs);
    for (size_t i = 0; i < JOB_BUFS; i++) {
        if (bufs[i]->cap > MRSI_BIG) {
            mrs_buf_clear(bufs[i]);
        }
        mrs_buf_reset(bufs[i]);
    }
    return s;
}

enum mrs_status
mrsi_window_read(struct mrsi_window_run *r, struct mrs_err *e)
{
    MRS_ASSERT(r->stage == MRSI_WINDOW_READ);
    struct mrsi_pipe p = {r->en, sizeof(struct window_read_job), fetch, work, commit, clear, r};
    struct mrsi_coll *coll = &r->en->coll[r->en->side[r->step][0]];
    return mrsi_pass_scan(&r->pass, &p, coll, &r->scan, e);
}
