/* SPDX-License-Identifier: Apache-2.0 */
/* links_read.c - reads both sides: keys, references and stored values of documents; then resolves the references. */
#include "links.h"
#include "mongoreshape/join_ops.h"

struct links_read_key {
    struct mrs_hash128 hash;
    uint64_t ord;
};
struct links_read_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_buf bits[2];        /* for each document */
    struct mrs_buf keys;           /* struct links_read_key: of documents with a key */
    struct mrs_buf owners[2];      /* for each reference: uint64_t */
    struct mrs_buf names[2];       /* for each: struct mrs_hash128; or the ordinal as uint64_t, if known */
    struct mrs_buf at[2], bytes[2];
    uint64_t seen;
    uint64_t guess;                /* estimated number of documents in the collection */
};

enum { BUFFERS = 11 };

static void
all_buffers(struct links_read_job *job, struct mrs_buf *out[BUFFERS])
{
    *out++ = &job->keys;
    for (int i = 0; i < 2; i++) {
        *out++ = &job->bits[i];
        *out++ = &job->owners[i];
        *out++ = &job->names[i];
        *out++ = &job->at[i];
        *out++ = &job->bytes[i];
    }
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_link_run *l = arg;
    struct links_read_job *job = p;
    struct mrs_buf *all[BUFFERS];
    all_buffers(job, all);
    if (!job->block.mem) {
        mrs_block_init(&job->block, l->en->mem);
        for (int i = 0; i < BUFFERS; i++) {
            mrs_buf_init(all[i], l->en->mem, SIZE_MAX);
        }
    }
    for (int i = 0; i < BUFFERS; i++) {
        mrs_buf_reset(all[i]);
    }
    job->seen = 0;
    enum mrs_status s = mrsi_scan_next(&l->scan, &job->block, &job->part, e);
    job->guess = mrsi_scan_guess(&l->scan);
    *big = mrsi_is_large(l->en, job->block.n);
    return s;
}

static void
clear(void *arg, void *p)
{
    struct links_read_job *job = p;
    struct mrs_buf *all[BUFFERS];
    (void)arg;
    all_buffers(job, all);
    for (int i = 0; job->block.mem && i < BUFFERS; i++) {
        mrs_buf_clear(all[i]);
    }
    if (job->block.mem) {
        mrs_block_clear(&job->block);
    }
}

/* ---- one document ---- */
static void
put_ref(struct links_read_job *job, uint32_t side, uint64_t owner, struct mrs_hash128 key)
{
    mrs_buf_put(&job->owners[side], &owner, sizeof owner);
    mrs_buf_put(&job->names[side], &key, sizeof key);
}

static void
put_refs(const struct mrsi_link_run *l, struct links_read_job *job, const struct mrs_keys *k, uint32_t side,
         uint64_t ordinal, enum mrs_link_shape shape)
{
    MRS_ASSERT(side < 2);
    bool list = shape == MRS_LINK_LIST;
    if (list && side == 1) {
        put_ref(job, side, ordinal | MRSI_REF_LIST | MRSI_REF_NONE, (struct mrs_hash128){0, 0});
    }
    for (uint32_t i = 1; i < k->n; i++) {
        if (!k->span[i].null) {
            put_ref(job, side, ordinal | (list ? MRSI_REF_LIST : 0), mrsi_link_hash(l, k, i));
        }
    }
}

/* Resolves references [from, to) to ordinals. named may be the memory of the keys: an ordinal is not longer than a
 * key. */
static void
look_up(const struct mrsi_index *ids, const uint64_t *owner, const struct mrs_hash128 *key, uint64_t from, uint64_t to,
        uint64_t *named)
{
    for (uint64_t i = from; i < to; i++) {
        if (i + 8 < to) {
            mrsi_index_fetch(ids, key[i + 8]);
        }
        uint64_t ord = owner[i] & MRSI_REF_NONE ? MRSI_NO_ORDINAL : mrsi_index_find(ids, key[i]);
        named[i] = ord == MRSI_NO_ORDINAL ? 0 : ord + 1;
    }
}

/* Resolves all references of a job of the second side. */
static enum mrs_status
look_up_all(struct mrsi_link_run *l, struct links_read_job *job, uint32_t side, struct mrs_err *e)
{
    MRS_ASSERT(side < 2);
    struct mrs_buf *names = &job->names[side];
    uint64_t n = names->n / sizeof(struct mrs_hash128);
    enum mrs_status s = mrs_buf_status(names, e);
    MRS_THEN(s, mrs_buf_status(&job->owners[side], e));
    if (s == MRS_OK && n) {
        look_up(mrsi_link_ids(l, !side), (const uint64_t *)(const void *)job->owners[side].p,
                (const struct mrs_hash128 *)(const void *)names->p, 0, n, (uint64_t *)(void *)names->p);
        names->n = n * sizeof(uint64_t);
    }
    return s;
}

/* Stores its `_id` and sort key, for the references to it. */
static enum mrs_status
keep(const struct mrsi_link_run *l, struct mrsi_worker *w, struct links_read_job *job, uint32_t side,
     struct mrs_view doc, uint8_t *bits, struct mrs_err *e)
{
    MRS_ASSERT(side < 2 && mrs_view_is_framed(doc));
    struct mrs_val id = mrs_doc_get(doc, "_id");
    uint8_t head[MRSI_LINK_KEPT];
    mrs_buf_reset(&w->scratch);
    if (side == 1 && l->wants.sorted) {
        enum mrs_status s = l->ops->order(l->st->state, &w->ctx, doc, &w->scratch);
        if (s == MRS_SKIP) {
            *bits |= MRSI_LINK_SORTLESS;
            mrs_err_clear(&w->err);
            mrs_buf_reset(&w->scratch);
        } else if (s != MRS_OK) {
            return mrsi_kernel_failed(w, s, e);
        }
    }
    mrs_put32(head, id.n);
    mrs_put32(head + 4, (uint32_t)w->scratch.n);
    head[8] = id.type;
    mrs_buf_put(&job->bytes[side], head, sizeof head);
    mrs_buf_put(&job->bytes[side], id.p, id.n);
    mrs_buf_put(&job->bytes[side], w->scratch.p, w->scratch.n);
    return MRS_OK;
}

static enum mrs_status
one_side(struct mrsi_link_run *l, struct mrsi_worker *w, struct links_read_job *job, uint32_t side, uint64_t ordinal,
         struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(side < 2 && mrs_view_is_framed(doc));
    uint8_t *bits = job->bits[side].p + (ordinal - job->block.first_doc);
    enum mrs_link_shape shape = MRS_LINK_NONE;
    *bits = 0;
    mrs_keys_reset(&w->keys);
    mrs_err_clear(&w->err);
    enum mrs_status s = l->ops->read(l->st->state, &w->ctx, (int)side, doc, &w->keys, &shape);
    if (s < MRS_SKIP) {
        return mrsi_kernel_failed(w, s, e);
    }
    if (w->keys.n && side == l->now) {
        struct links_read_key key = {mrsi_link_hash(l, &w->keys, 0), ordinal};
        mrs_buf_put(&job->keys, &key, sizeof key);
    }
    if (s == MRS_SKIP) {
        *bits = MRSI_FATE_OUTSIDE | MRSI_FATE_REFUSED;
        return s;
    }
    put_refs(l, job, &w->keys, side, ordinal, shape);
    return l->side[side].keeps ? keep(l, w, job, side, doc, bits, e) : MRS_OK;
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrsi_link_run *l = arg;
    struct links_read_job *job = p;
    uint32_t last = l->self ? 1 : l->now;
    enum mrs_status s = MRS_OK;
    job->seen++;
    mrsi_row(w, l->step, l->now)->before++;
    for (uint32_t side = l->now; s == MRS_OK && side <= last; side++) {
        uint64_t at = job->bytes[side].n;
        memcpy(job->at[side].p + (ordinal - job->block.first_doc) * sizeof at, &at, sizeof at);
        s = one_side(l, w, job, side, ordinal, doc, e);
    }
    if (s != MRS_SKIP) {
        return s;
    }
    for (uint32_t side = l->now; side <= last; side++) {
        job->bits[side].p[ordinal - job->block.first_doc] = MRSI_FATE_OUTSIDE | MRSI_FATE_REFUSED;
    }
    mrsi_row(w, l->step, l->now)->refused++;
    return mrsi_refuse(w, l->step, l->now, l->en->side[l->step][l->now], ordinal, doc, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_link_run *l = arg;
    struct links_read_job *job = p;
    struct mrsi_cursor cur;
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t *bits = mrs_buf_take(&job->bits[i], job->block.n_docs);
        uint8_t *at = mrs_buf_take(&job->at[i], job->block.n_docs * sizeof(uint64_t));
        if (!bits || !at) {
            return mrs_err_memory(e, job->block.n_docs);
        }
        memset(bits, MRSI_FATE_OUTSIDE, job->block.n_docs);
        memset(at, 0, job->block.n_docs * sizeof(uint64_t));
    }
    mrsi_cursor_begin(&cur, &l->en->coll[l->en->side[l->step][l->now]], job->part, &job->block);
    cur.fields = true;
    enum mrs_status s = mrsi_cursor_each(&cur, one_document, l, w, job, e);
    return s == MRS_OK && mrsi_link_is_second(l, l->now) ? look_up_all(l, job, l->now, e) : s;
}

/* ---- commit ---- */
/* References of a document with a duplicate `_id` count as those of the first one: both are refused, and only the `_id`
 * matters. */
static void
charge_to(struct mrs_buf *refs, uint64_t ordinal, uint64_t first)
{
    uint64_t *owner = (uint64_t *)(void *)refs->p;
    for (size_t i = 0; i < refs->n / sizeof *owner; i++) {
        if ((owner[i] & MRSI_REF_OWNER) == ordinal) {
            owner[i] = (owner[i] & ~MRSI_REF_OWNER) | first;
        }
    }
}

static enum mrs_status
take_keys(struct mrsi_link_run *l, struct links_read_job *job, struct mrs_err *e)
{
    struct mrsi_index *ids = mrsi_link_ids(l, l->now);
    const struct links_read_key *key = (const struct links_read_key *)(const void *)job->keys.p;
    size_t n = job->keys.n / sizeof *key;
    enum mrs_status s = MRS_OK;
    ids->guess = job->guess;
    for (size_t i = 0; s == MRS_OK && i < n; i++) {
        uint64_t first;
        if (i + 8 < n) {
            mrsi_index_fetch(ids, key[i + 8].hash);
        }
        s = mrsi_index_put(ids, key[i].hash, key[i].ord, &first, e);
        if (s != MRS_OK || first == key[i].ord) {
            continue;
        }
        for (uint32_t side = l->now; side <= (l->self ? 1 : l->now); side++) {
            mrsi_fates_add(&l->side[side].fates, first, MRSI_LINK_TWICE | MRSI_FATE_REFUSED);
            mrsi_fates_add(&l->side[side].fates, key[i].ord, MRSI_LINK_TWICE | MRSI_FATE_REFUSED);
        }
        if (l->now == 0) {
            charge_to(&job->owners[0], key[i].ord, first);
        }
    }
    return s;
}

/* Estimated number of items for all documents, with a small reserve, if the job has `n`. */
static enum mrs_status
take_items(const struct links_read_job *job, struct mrsi_file_array *t, const void *items, size_t n, struct mrs_err *e)
{
    double each = job->block.n_docs ? (double)n / job->block.n_docs : 0;
    mrsi_file_array_expect(t, (uint64_t)(each * 1.0625 * (double)job->guess));
    return mrsi_file_array_put_n(t, items, n, e);
}

static enum mrs_status
take_side(struct mrsi_link_run *l, struct links_read_job *job, uint32_t side, struct mrs_err *e)
{
    MRS_ASSERT(side < 2);
    struct mrsi_link_side *sd = &l->side[side];
    uint64_t *at = (uint64_t *)(void *)job->at[side].p;
    uint64_t base = sd->bytes.n;
    struct mrsi_file_array *names = mrsi_link_is_second(l, side) ? &sd->found : &sd->keys;
    enum mrs_status s = take_items(job, &sd->owners, job->owners[side].p, job->owners[side].n / sizeof(uint64_t), e);
    MRS_THEN(s, take_items(job, names, job->names[side].p, job->names[side].n / names->item, e));
    if (s == MRS_OK && sd->keeps) {
        for (size_t i = 0; i < job->at[side].n / sizeof *at; i++) {
            at[i] += base;
        }
        s = take_items(job, &sd->at, at, job->at[side].n / sizeof *at, e);
        MRS_THEN(s, take_items(job, &sd->bytes, job->bytes[side].p, job->bytes[side].n, e));
    }
    sd->seen += job->seen;
    return s;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_link_run *l = arg;
    struct links_read_job *job = p;
    uint32_t last = l->self ? 1 : l->now;
    enum mrs_status s = mrsi_refused_commit(w, e);
    struct mrs_buf *all[BUFFERS];
    all_buffers(job, all);
    for (int i = 0; s == MRS_OK && i < BUFFERS; i++) {
        s = mrs_buf_status(all[i], e);
    }
    for (uint32_t side = l->now; s == MRS_OK && side <= last; side++) {
        s = mrsi_fates_take(&l->side[side].fates, &job->block, &job->bits[side], e);
    }
    MRS_THEN(s, take_keys(l, job, e));
    for (uint32_t side = l->now; s == MRS_OK && side <= last; side++) {
        s = take_side(l, job, side, e);
    }
    return s;
}

/* ---- keys to ordinals ---- */
enum { SOME = 1 << 14 };
struct range {
    uint64_t from, to;
};
struct naming {
    struct mrsi_link_run *l;
    uint32_t side;
    uint64_t next;
};

static enum mrs_status
fetch_range(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct naming *nm = arg;
    struct range *r = p;
    uint64_t n = nm->l->side[nm->side].owners.n;
    (void)e;
    *big = false;
    r->from = nm->next;
    r->to = n - r->from < SOME ? n : r->from + SOME;
    nm->next = r->to;
    return r->from < n ? MRS_OK : MRS_END;
}

static enum mrs_status
name_range(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct naming *nm = arg;
    const struct range *r = p;
    const struct mrsi_link_side *sd = &nm->l->side[nm->side];
    (void)w;
    (void)e;
    look_up(mrsi_link_ids(nm->l, !nm->side), mrsi_file_array_u64(&sd->owners),
            (const struct mrs_hash128 *)(const void *)sd->keys.p, r->from, r->to, mrsi_mapped_mem_u64(&sd->named));
    return MRS_OK;
}

static void
clear_range(void *arg, void *p)
{
    (void)arg;
    (void)p;
}

static enum mrs_status
name_all(struct mrsi_link_run *l, uint32_t side, struct mrs_err *e)
{
    struct naming nm = {l, side, 0};
    struct mrsi_pipe p = {l->en, sizeof(struct range), fetch_range, name_range, NULL, clear_range, &nm};
    struct mrsi_link_side *sd = &l->side[side];
    enum mrs_status s = mrsi_mapped_mem_new(&sd->named, l->en, sd->owners.n * 8, l->en->memory / 16, e);
    MRS_THEN(s, mrsi_pipe_run(&p, e));
    mrsi_file_array_clear(&sd->keys);
    return s;
}

enum mrs_status
mrsi_link_read(struct mrsi_link_run *l, struct mrs_err *e)
{
    struct mrsi_pipe p = {l->en, sizeof(struct links_read_job), fetch, work, commit, clear, l};
    uint32_t last = l->self ? 0 : 1;
    enum mrs_status s = MRS_OK;
    for (; s == MRS_OK; l->now++) {
        struct mrsi_coll *coll = &l->en->coll[l->en->side[l->step][l->now]];
        s = mrsi_pass_scan(&l->pass, &p, coll, &l->scan, e);
        if (l->now == last) {
            return s;
        }
    }
    return s;
}

enum mrs_status
mrsi_link_name(struct mrsi_link_run *l, struct mrs_err *e)
{
    MRS_ASSERT(l->st);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        struct mrsi_link_side *sd = &l->side[i];
        struct mrsi_file_array *t[] = {&sd->owners, &sd->keys, &sd->found, &sd->at, &sd->bytes};
        for (int k = 0; s == MRS_OK && k < 5; k++) {
            s = mrsi_file_array_end(t[k], e);
        }
    }
    s = s == MRS_OK && l->resumed ? mrsi_link_check(l, e) : s;
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        s = mrsi_link_is_second(l, i) ? MRS_OK : name_all(l, i, e);
    }
    return s;
}
