/* SPDX-License-Identifier: Apache-2.0 */
/* heavy_parents.c - see heavy_parents.h. A parent with millions of children is handled here, alone and in bounded
 * memory. */
#include "heavy_parents.h"

/* Loads a mapped (far) record with its payload; *r is valid until the next load. */
static enum mrs_status
load_far(struct mrsi_heavy *h, const struct mrsi_rec **r, struct mrs_err *e)
{
    MRS_ASSERT((*r)->is_far);
    struct mrsi_rec near = **r;
    struct mrsi_rec_parts x = {mrsi_rec_verify(*r), mrsi_rec_sort(*r), NULL};
    near.is_far = near.gap = 0;
    near.total = mrsi_rec_total(&near);
    mrs_buf_reset(&h->near);
    mrs_buf_reset(&h->payload);
    uint8_t *p = mrs_buf_take(&h->near, near.total), *payload = mrs_buf_take(&h->payload, near.payload_len);
    if (!p || !payload) {
        return mrs_err_memory(e, near.total);
    }
    const uint8_t *doc = mrsi_far_find(h->j, *r);
    if (!doc) {
        return mrsi_state_damaged("what stays in the input", e);
    }
    mrsi_far_copy(*r, doc, payload);
    x.payload = payload;
    mrsi_rec_fill(p, &near, &x);
    *r = (const struct mrsi_rec *)(const void *)p;
    return MRS_OK;
}

/* Key of a record: its document, then the order that the step requires, then the order of from. */
static enum mrs_status
put_record(void *arg, const struct mrsi_rec *r, struct mrs_err *e)
{
    struct mrsi_heavy *h = arg;
    const struct mrs_desc *d = &h->j->st->desc;
    uint8_t be[8];
    mrs_buf_reset(&h->bytes);
    mrsi_put_be(be, r->ord, 8);
    mrs_buf_put(&h->bytes, be, 8);
    if (d->by_reference && !d->sorted) {
        mrsi_put_be(be, r->ref, 4);
        mrs_buf_put(&h->bytes, be, 4);
    }
    mrs_buf_put(&h->bytes, mrsi_rec_sort(r), r->sort_len);
    mrsi_put_be(be, r->order, 8);
    mrs_buf_put(&h->bytes, be, 8);
    mrsi_put_be(be, r->ref, 4);
    mrs_buf_put(&h->bytes, be, 4);
    if (h->bytes.bad) {
        return mrs_buf_status(&h->bytes, e);
    }
    enum mrs_status s = r->is_far ? load_far(h, &r, e) : MRS_OK;
    return s == MRS_OK ? mrsi_sorter_put(&h->sorter, h->bytes.p, (uint32_t)h->bytes.n, r, r->total, e) : s;
}

enum mrs_status
mrsi_heavy_begin(struct mrsi_heavy *h, struct mrsi_join_run *j, const struct mrsi_slice *slice, uint64_t lo,
                 uint64_t hi, struct mrs_err *e)
{
    MRS_ASSERT(lo <= hi);
    memset(h, 0, sizeof *h);
    h->j = j;
    mrsi_sorter_init(&h->sorter, j->en, j->en->memory / 10);
    mrs_buf_init(&h->bytes, j->en->mem, SIZE_MAX);
    mrs_buf_init(&h->near, j->en->mem, SIZE_MAX);
    mrs_buf_init(&h->payload, j->en->mem, SIZE_MAX);
    mrs_buf_init(&h->offs, j->en->mem, SIZE_MAX);
    mrs_buf_init(&h->matches, j->en->mem, SIZE_MAX);
    mrs_buf_init(&h->named, j->en->mem, SIZE_MAX);
    mrsi_match_file_init(&h->file, j->en);
    const struct mrsi_partition *p = &slice->spill->part[slice->partition];
    enum mrs_status s = mrsi_partition_each(slice->spill, p, lo, hi, put_record, h, e);
    return s == MRS_OK ? mrsi_sorter_rewind(&h->sorter, e) : s;
}

void
mrsi_heavy_end(struct mrsi_heavy *h)
{
    if (h->j) {
        mrsi_sorter_clear(&h->sorter);
        mrs_buf_clear(&h->bytes);
        mrs_buf_clear(&h->near);
        mrs_buf_clear(&h->payload);
        mrs_buf_clear(&h->offs);
        mrs_buf_clear(&h->matches);
        mrs_buf_clear(&h->named);
        mrsi_match_file_clear(&h->file);
        mrsi_temp_drop(h->j->en, h->pages);
        memset(h, 0, sizeof *h);
    }
}

static enum mrs_status
to_file(struct mrsi_heavy *h, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    h->in_file = true;
    mrsi_match_file_begin(&h->file, h->j->st->desc.by_reference);
    for (size_t i = 0; s == MRS_OK && i < h->offs.n; i += sizeof(size_t)) {
        size_t off;
        memcpy(&off, h->offs.p + i, sizeof off);
        s = mrsi_match_file_put(&h->file, (const struct mrsi_rec *)(const void *)(h->bytes.p + off), e);
    }
    mrs_buf_clear(&h->bytes);
    mrs_buf_reset(&h->offs);
    return s;
}

static enum mrs_status
take(struct mrsi_heavy *h, const struct mrsi_hashed *into, struct mrs_err *e)
{
    size_t off = h->bytes.n;
    /* The size of a record is a multiple of 8: aligned here, but not in the sorter. */
    uint8_t *p = mrs_buf_take(&h->bytes, h->next.n);
    if (!p) {
        return mrs_buf_status(&h->bytes, e);
    }
    memcpy(p, h->next.p, h->next.n);
    const struct mrsi_rec *r = (const struct mrsi_rec *)(const void *)p;
    if (r->failed >= MRSI_REC_UNSORTED) {
        h->bytes.n = off;
        return mrsi_match_no(h->j, r, r->ref, into, &h->named, e);
    }
    if (h->in_file) {
        enum mrs_status s = mrsi_match_file_put(&h->file, (const struct mrsi_rec *)(const void *)p, e);
        mrs_buf_reset(&h->bytes);
        return s;
    }
    mrs_buf_put(&h->offs, &off, sizeof off);
    if (h->offs.bad) {
        return mrs_buf_status(&h->offs, e);
    }
    return h->bytes.n > h->j->en->memory / 12 ? to_file(h, e) : MRS_OK;
}

/* Does the current record match the pairs that are not hashed? */
static enum mrs_status
verify(struct mrsi_heavy *h, const struct mrsi_hashed *into, bool *meets, struct mrs_err *e)
{
    MRS_ASSERT(h->next.n >= sizeof(struct mrsi_rec));
    struct mrs_buf *room = &h->file.window;
    *meets = true;
    if (h->j->n_hashed == h->j->st->desc.n_pairs) {
        return MRS_OK;
    }
    mrs_buf_reset(room);
    uint8_t *p = mrs_buf_take(room, h->next.n);
    if (!p) {
        return mrs_buf_status(room, e);
    }
    memcpy(p, h->next.p, h->next.n);
    *meets = mrsi_verified(h->j, (const struct mrsi_rec *)(const void *)p, into);
    return MRS_OK;
}

static enum mrs_status
make_matches(struct mrsi_heavy *h, struct mrs_err *e)
{
    mrs_buf_reset(&h->matches);
    for (size_t i = 0; i < h->offs.n; i += sizeof(size_t)) {
        size_t off;
        memcpy(&off, h->offs.p + i, sizeof off);
        struct mrsi_match_record m = {(const struct mrsi_rec *)(const void *)(h->bytes.p + off), NULL, 0};
        m.ref = m.rec->ref;
        mrs_buf_put(&h->matches, &m, sizeof m);
    }
    return mrs_buf_status(&h->matches, e);
}

enum mrs_status
mrsi_heavy_gather(struct mrsi_heavy *h, uint64_t ord, const struct mrsi_hashed *into, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    h->in_file = false;
    mrs_buf_reset(&h->bytes);
    mrs_buf_reset(&h->offs);
    mrs_buf_reset(&h->named);
    while (s == MRS_OK) {
        if (!h->have) {
            s = mrsi_sorter_next(&h->sorter, &h->next, e);
            h->have = s == MRS_OK;
            if (s != MRS_OK) {
                break;
            }
        }
        uint64_t owner = mrsi_get_be(h->next.key, 8);
        if (owner > ord) {
            break;
        }
        h->have = false;
        if (owner == ord) {
            bool meets;
            s = verify(h, into, &meets, e);
            s = s == MRS_OK && meets ? take(h, into, e) : s;
        }
    }
    if (s < MRS_OK) {
        return s;
    }
    s = h->in_file ? mrsi_match_file_end(&h->file, into, e) : make_matches(h, e);
    h->file.m.named = h->named.n ? h->named.p : NULL;
    return s;
}

enum mrs_status
mrsi_heavy_put_pages(struct mrsi_heavy *h, struct mrs_buf *pages, struct mrs_err *e)
{
    enum mrs_status s = h->pages ? MRS_OK : mrsi_temp_new(h->j->en, &h->pages, e);
    MRS_THEN(s, mrs_write_at(h->pages->fd, pages->p, pages->n, h->page_bytes, e));
    h->page_bytes += pages->n;
    mrs_buf_reset(pages);
    return s;
}
