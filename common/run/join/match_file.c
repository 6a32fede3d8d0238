/* SPDX-License-Identifier: Apache-2.0 */
/* match_file.c - see match_file.h. Records are written contiguously and read through a buffer; only one byte for each
 * match stays in memory. */
#include "match_file.h"
#include "mongoreshape/join_ops.h"

enum { WINDOW = 1 << 20 };

void
mrsi_match_file_init(struct mrsi_match_file *f, struct mrsi_engine *en)
{
    memset(f, 0, sizeof *f);
    f->en = en;
    mrs_buf_init(&f->tail, en->mem, SIZE_MAX);
    mrs_buf_init(&f->useds, en->mem, SIZE_MAX);
    mrs_buf_init(&f->window, en->mem, SIZE_MAX);
}

void
mrsi_match_file_clear(struct mrsi_match_file *f)
{
    if (f->en) {
        mrs_buf_clear(&f->tail);
        mrs_buf_clear(&f->useds);
        mrs_buf_clear(&f->window);
        mrsi_temp_drop(f->en, f->temp);
        f->temp = NULL;
    }
}

void
mrsi_match_file_begin(struct mrsi_match_file *f, bool by_reference)
{
    mrs_buf_reset(&f->tail);
    mrs_buf_reset(&f->useds);
    f->bytes = f->n = 0;
    f->any = false;
    f->by_reference = by_reference;
}

static enum mrs_status
flush(struct mrsi_match_file *f, struct mrs_err *e)
{
    enum mrs_status s = f->temp ? MRS_OK : mrsi_temp_new(f->en, &f->temp, e);
    MRS_THEN(s, mrs_buf_status(&f->tail, e));
    MRS_THEN(s, mrs_write_at(f->temp->fd, f->tail.p, f->tail.n, f->bytes, e));
    f->bytes += f->tail.n;
    mrs_buf_reset(&f->tail);
    return s;
}

enum mrs_status
mrsi_match_file_put(struct mrsi_match_file *f, const struct mrsi_rec *r, struct mrs_err *e)
{
    MRS_ASSERT(r->total >= sizeof *r);
    if (f->any && r->order == f->last_order && (!f->by_reference || r->ref == f->last_ref)) {
        return MRS_OK;
    }
    f->any = true;
    f->last_order = r->order;
    f->last_ref = r->ref;
    f->n++;
    mrs_buf_put(&f->tail, r, r->total);
    mrs_buf_byte(&f->useds, 0);
    if (f->useds.bad) {
        return mrs_buf_status(&f->useds, e);
    }
    return f->tail.n > WINDOW || f->tail.bad ? flush(f, e) : MRS_OK;
}

/* The complete record at f->at in the buffer; NULL: failure. */
static const struct mrsi_rec *
load(struct mrsi_match_file *f, struct mrs_err *e)
{
    MRS_ASSERT(f->at < f->bytes && f->window_at <= f->window.n);
    size_t have = f->window.n - f->window_at, need = sizeof(struct mrsi_rec);
    if (have >= need) {
        need = ((const struct mrsi_rec *)(const void *)(f->window.p + f->window_at))->total;
    }
    while (have < need) {
        uint64_t left = f->bytes - f->at;
        size_t len = need > WINDOW ? need : WINDOW;
        len = len < left ? len : (size_t)left;
        mrs_buf_reset(&f->window);
        uint8_t *p = mrs_buf_take(&f->window, len);
        if (!p || mrs_read_at(f->temp->fd, p, len, f->at, e) != MRS_OK) {
            mrs_err_memory(e, len);
            return NULL;
        }
        f->window_at = 0;
        have = len;
        need = ((const struct mrsi_rec *)(const void *)p)->total;
    }
    return (const struct mrsi_rec *)(const void *)(f->window.p + f->window_at);
}

static enum mrs_status
rewind_file(struct mrs_matches *m, struct mrs_err *e)
{
    struct mrsi_match_file *f = m->impl;
    (void)e;
    mrs_buf_reset(&f->window);
    f->window_at = 0;
    f->at = f->n_returned = 0;
    return MRS_OK;
}

static const struct mrsi_rec *
next_record(struct mrsi_match_file *f, struct mrs_err *e)
{
    MRS_ASSERT(f->n_returned < f->n);
    const struct mrsi_rec *r = load(f, e);
    if (r) {
        f->window_at += r->total;
        f->at += r->total;
        f->n_returned++;
    }
    return r;
}

static enum mrs_status
next(struct mrs_matches *m, struct mrs_match *out, struct mrs_err *e)
{
    struct mrsi_match_file *f = m->impl;
    if (f->n_returned == f->n) {
        return MRS_END;
    }
    const struct mrsi_rec *r = next_record(f, e);
    if (!r) {
        return MRS_DEAD;
    }
    struct mrsi_match_record match = {r, NULL, r->ref};
    mrsi_match_from(&match, out);
    return MRS_OK;
}

static void
used(struct mrs_matches *m, unsigned bits)
{
    struct mrsi_match_file *f = m->impl;
    if (f->n_returned) {
        f->useds.p[f->n_returned - 1] |= (uint8_t)(0x80 | bits);
    }
}

enum mrs_status
mrsi_match_file_end(struct mrsi_match_file *f, const struct mrsi_hashed *into, struct mrs_err *e)
{
    MRS_ASSERT(f->useds.n == f->n);
    f->m.n = f->n;
    f->m.next = next;
    f->m.rewind = rewind_file;
    f->m.used = used;
    f->m.impl = f;
    f->m.same_ref = (const uint32_t *)(const void *)into->same.p;
    f->m.n_refs = (uint32_t)(into->same.n / sizeof(uint32_t));
    enum mrs_status s = flush(f, e);
    return s == MRS_OK ? rewind_file(&f->m, e) : s;
}

enum mrs_status
mrsi_match_file_settle(struct mrsi_match_file *f, struct mrsi_join_run *j, bool refused, uint64_t *placed,
                       struct mrs_err *e)
{
    MRS_ASSERT(f->m.impl == f);
    rewind_file(&f->m, e);
    while (f->n_returned < f->n) {
        const struct mrsi_rec *r = next_record(f, e);
        if (!r) {
            return MRS_DEAD;
        }
        uint8_t used = f->useds.p[f->n_returned - 1];
        unsigned bits = refused ? MRS_USED_LEFT : used ? used & MRSI_FATE_USED : MRS_USED_PLACED;
        *placed += bits & MRS_USED_PLACED;
        mrsi_fates_add(&j->fates, r->order, bits);
    }
    return MRS_OK;
}
