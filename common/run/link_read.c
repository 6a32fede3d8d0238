/* link_read.c - the documents of both sides: their keys, their references, what is to be kept of them; then what each
 * reference names. */
#include "link.h"

struct key {
    struct mrs_hash128 hash;
    uint64_t ord;
};
struct job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_buf bits[2];        /* of each document */
    struct mrs_buf keys;           /* struct key: of documents that have one */
    struct mrs_buf refs[2];        /* struct mrsi_link_ref */
    struct mrs_buf at[2], bytes[2];
    uint64_t seen;
    uint64_t guess;                /* documents of the collection */
};

static void
all_buffers(struct job *job, struct mrs_buf *out[9])
{
    out[0] = &job->keys;
    for (int i = 0; i < 2; i++) {
        out[1 + i * 4] = &job->bits[i];
        out[2 + i * 4] = &job->refs[i];
        out[3 + i * 4] = &job->at[i];
        out[4 + i * 4] = &job->bytes[i];
    }
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_link *l = arg;
    struct job *job = p;
    struct mrs_buf *all[9];
    all_buffers(job, all);
    if (!job->block.mem) {
        mrs_block_init(&job->block, l->en->mem);
        for (int i = 0; i < 9; i++) {
            mrs_buf_init(all[i], l->en->mem, SIZE_MAX);
        }
    }
    for (int i = 0; i < 9; i++) {
        mrs_buf_reset(all[i]);
    }
    job->seen = 0;
    enum mrs_status s = mrsi_scan_next(&l->scan, &job->block, &job->part, e);
    job->guess = mrsi_scan_guess(&l->scan);
    *big = job->block.n > MRSI_BIG;
    return s;
}

static void
clear(void *arg, void *p)
{
    struct job *job = p;
    struct mrs_buf *all[9];
    (void)arg;
    all_buffers(job, all);
    for (int i = 0; job->block.mem && i < 9; i++) {
        mrs_buf_clear(all[i]);
    }
    if (job->block.mem) {
        mrs_block_clear(&job->block);
    }
}

/* ---- one document ---- */
static void
put_refs(const struct mrsi_link *l, struct job *job, const struct mrs_keys *k, uint32_t side, uint64_t ordinal,
         enum mrs_link_shape shape)
{
    bool list = shape == MRS_LINK_LIST;
    if (list && side == 1) {
        struct mrsi_link_ref r = {{0, 0}, ordinal | MRSI_REF_LIST | MRSI_REF_NONE};
        mrs_buf_put(&job->refs[side], &r, sizeof r);
    }
    for (uint32_t i = 1; i < k->n; i++) {
        if (!k->span[i].null) {
            struct mrsi_link_ref r = {mrsi_link_hash(l, k, i), ordinal | (list ? MRSI_REF_LIST : 0)};
            mrs_buf_put(&job->refs[side], &r, sizeof r);
        }
    }
}

/* Its `_id` and sort key, for whoever will refer to it. */
static enum mrs_status
keep(const struct mrsi_link *l, struct mrsi_worker *w, struct job *job, uint32_t side, struct mrs_view doc,
     uint8_t *bits, struct mrs_err *e)
{
    struct mrs_val id = mrs_doc_get(doc, "_id");
    struct mrsi_link_kept head = {id.n, 0, id.type, {0}};
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
    head.sort_len = (uint32_t)w->scratch.n;
    mrs_buf_put(&job->bytes[side], &head, sizeof head);
    mrs_buf_put(&job->bytes[side], id.p, id.n);
    mrs_buf_put(&job->bytes[side], w->scratch.p, w->scratch.n);
    return MRS_OK;
}

static enum mrs_status
one_side(struct mrsi_link *l, struct mrsi_worker *w, struct job *job, uint32_t side, uint64_t ordinal,
         struct mrs_view doc, struct mrs_err *e)
{
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
        struct key key = {mrsi_link_hash(l, &w->keys, 0), ordinal};
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
one_document(struct mrsi_link *l, struct mrsi_worker *w, struct job *job, uint64_t ordinal, struct mrs_view doc,
             struct mrs_err *e)
{
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
    struct mrsi_link *l = arg;
    struct job *job = p;
    struct mrsi_cursor cur;
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
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
    while (s == MRS_OK || s == MRS_SKIP) {
        s = mrsi_cursor_next(&cur, w, &doc, e);
        if (s == MRS_OK) {
            s = one_document(l, w, job, cur.ordinal, doc, e);
        }
    }
    return s == MRS_END ? MRS_OK : s;
}

/* ---- a job's results, in order ---- */
/* References of a document whose `_id` another one has count as that one's: both are refused, and all that matters is
 * which `_id` it was. */
static void
charge_to(struct mrs_buf *refs, uint64_t ordinal, uint64_t first)
{
    struct mrsi_link_ref *r = (struct mrsi_link_ref *)(void *)refs->p;
    for (size_t i = 0; i < refs->n / sizeof *r; i++) {
        if ((r[i].whose & MRSI_REF_WHOSE) == ordinal) {
            r[i].whose = (r[i].whose & ~MRSI_REF_WHOSE) | first;
        }
    }
}

static enum mrs_status
take_keys(struct mrsi_link *l, struct job *job, struct mrs_err *e)
{
    struct mrsi_index *ids = mrsi_link_ids(l, l->now);
    const struct key *key = (const struct key *)(const void *)job->keys.p;
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
            charge_to(&job->refs[0], key[i].ord, first);
        }
    }
    return s;
}

static enum mrs_status
take_side(struct mrsi_link *l, struct job *job, uint32_t side, struct mrs_err *e)
{
    struct mrsi_link_side *sd = &l->side[side];
    uint64_t *at = (uint64_t *)(void *)job->at[side].p;
    uint64_t base = sd->bytes.n;
    size_t n = job->refs[side].n / sizeof(struct mrsi_link_ref);
    enum mrs_status s = mrsi_tape_put_n(&sd->refs, job->refs[side].p, n, e);
    if (s == MRS_OK && sd->keeps) {
        for (size_t i = 0; i < job->at[side].n / sizeof *at; i++) {
            at[i] += base;
        }
        s = mrsi_tape_put_n(&sd->at, at, job->at[side].n / sizeof *at, e);
        s = s == MRS_OK ? mrsi_tape_put_n(&sd->bytes, job->bytes[side].p, job->bytes[side].n, e) : s;
    }
    sd->seen += job->seen;
    return s;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_link *l = arg;
    struct job *job = p;
    uint32_t last = l->self ? 1 : l->now;
    enum mrs_status s = mrsi_refused_commit(w, e);
    struct mrs_buf *all[9];
    all_buffers(job, all);
    for (int i = 0; s == MRS_OK && i < 9; i++) {
        s = mrs_buf_status(all[i], e);
    }
    for (uint32_t side = l->now; s == MRS_OK && side <= last; side++) {
        s = mrsi_fates_append(&l->side[side].fates, job->bits[side].p, job->bits[side].n, e);
    }
    s = s == MRS_OK ? take_keys(l, job, e) : s;
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
    struct mrsi_link *l;
    uint32_t side;
    uint64_t next;
};

static enum mrs_status
fetch_range(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct naming *nm = arg;
    struct range *r = p;
    uint64_t n = nm->l->side[nm->side].refs.n;
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
    const struct mrsi_link_ref *ref = (const struct mrsi_link_ref *)(const void *)sd->refs.p;
    const struct mrsi_index *ids = mrsi_link_ids(nm->l, !nm->side);
    uint64_t *named = mrsi_area_u64(&sd->named);
    (void)w;
    (void)e;
    for (uint64_t i = r->from; i < r->to; i++) {
        if (i + 8 < r->to) {
            mrsi_index_fetch(ids, ref[i + 8].key);
        }
        uint64_t ord = ref[i].whose & MRSI_REF_NONE ? MRSI_NO_ORDINAL : mrsi_index_find(ids, ref[i].key);
        named[i] = ord == MRSI_NO_ORDINAL ? 0 : ord + 1;
    }
    return MRS_OK;
}

static void
clear_range(void *arg, void *p)
{
    (void)arg;
    (void)p;
}

static enum mrs_status
name_all(struct mrsi_link *l, uint32_t side, struct mrs_err *e)
{
    struct naming nm = {l, side, 0};
    struct mrsi_pipe p = {l->en, sizeof(struct range), fetch_range, name_range, NULL, clear_range, &nm};
    struct mrsi_link_side *sd = &l->side[side];
    enum mrs_status s = mrsi_area_new(&sd->named, l->en, sd->refs.n * 8, l->en->memory / 16, e);
    return s == MRS_OK ? mrsi_pipe_run(&p, e) : s;
}

enum mrs_status
mrsi_link_read(struct mrsi_link *l, struct mrs_err *e)
{
    struct mrsi_pipe p = {l->en, sizeof(struct job), fetch, work, commit, clear, l};
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < (l->self ? 1 : 2); i++) {
        l->now = i;
        mrsi_scan_begin(l->en, &l->en->coll[l->en->side[l->step][i]], &l->scan);
        s = mrsi_pipe_run(&p, e);
        mrsi_scan_end(&l->scan);
    }
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        struct mrsi_tape *t[] = {&l->side[i].refs, &l->side[i].at, &l->side[i].bytes};
        for (int k = 0; s == MRS_OK && k < 3; k++) {
            s = mrsi_tape_end(t[k], e);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        s = name_all(l, i, e);
    }
    return s;
}
