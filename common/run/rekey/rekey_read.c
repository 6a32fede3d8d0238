/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_read.c - the first pass over the documents: the old and new `_id` of each, or its group keys. Nothing is
 * refused here: the writing pass reads the document again and finds the same error. */
#include "rekey_pass.h"

struct rekey_self { /* an `_id`, or a key of a group */
    struct mrs_hash128 key;
    uint64_t who;
};
struct rekey_read_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_rekey_entry entry;
    struct mrs_buf bits, name_n, names; /* name_n: size of each in names, uint32_t */
    struct mrs_buf hashes;              /* struct mrs_hash128 for each */
    struct mrs_buf selves, keys;        /* struct rekey_self */
    uint64_t guess;
};
enum { BUFFERS = 6 };

static void
all_buffers(struct rekey_read_job *job, struct mrs_buf *out[BUFFERS])
{
    struct mrs_buf *all[BUFFERS] = {&job->bits, &job->name_n, &job->names, &job->hashes, &job->selves, &job->keys};
    memcpy(out, all, sizeof all);
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_read_job *job = p;
    struct mrs_buf *all[BUFFERS];
    all_buffers(job, all);
    if (!job->block.mem) {
        mrs_block_init(&job->block, k->en->mem);
        mrs_keys_init(&job->entry.keys, k->en->mem);
        for (int i = 0; i < BUFFERS; i++) {
            mrs_buf_init(all[i], k->en->mem, SIZE_MAX);
        }
    }
    for (int i = 0; i < BUFFERS; i++) {
        mrs_buf_reset(all[i]);
    }
    enum mrs_status s = mrsi_scan_next(&k->scan, &job->block, &job->part, e);
    job->guess = mrsi_scan_guess(&k->scan);
    *big = mrsi_is_large(k->en, job->block.n);
    return s;
}

static void
clear(void *arg, void *p)
{
    struct rekey_read_job *job = p;
    struct mrs_buf *all[BUFFERS];
    (void)arg;
    all_buffers(job, all);
    if (job->block.mem) {
        for (int i = 0; i < BUFFERS; i++) {
            mrs_buf_clear(all[i]);
        }
        mrs_keys_clear(&job->entry.keys);
        mrs_block_clear(&job->block);
    }
}

/* ---- one document ---- */
static enum mrs_status
take_id(const struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_read_job *job, uint64_t who,
        struct mrs_err *e)
{
    struct rekey_self self = {{0, 0}, who};
    if (job->entry.id.type == MRS_MISSING) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_rekey_hash(k, job->entry.id, &w->scratch, &self.key, e);
    if (s == MRS_OK) {
        mrs_buf_put(&job->selves, &self, sizeof self);
    }
    return s;
}

static enum mrs_status
take_name(const struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_read_job *job, uint32_t at,
          struct mrs_err *e)
{
    struct mrs_val v = k->wants.merge ? job->entry.id : job->entry.to;
    uint32_t size = v.n + 1;
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    memcpy(job->name_n.p + at * sizeof size, &size, sizeof size);
    mrs_buf_byte(&job->names, v.type);
    mrs_buf_put(&job->names, v.p, v.n);
    if (k->wants.merge) {
        return MRS_OK;
    }
    struct mrs_hash128 h;
    enum mrs_status s = mrsi_rekey_hash(k, v, &w->scratch, &h, e);
    if (s == MRS_OK) {
        memcpy(job->hashes.p + at * sizeof h, &h, sizeof h);
    }
    return s;
}

static void
take_keys(const struct mrsi_rekey_run *k, struct rekey_read_job *job, uint64_t who)
{
    const struct mrs_keys *keys = &job->entry.keys;
    for (uint32_t i = 0; i < keys->n; i++) {
        const struct mrs_keyspan *span = &keys->span[i];
        struct rekey_self one = {
            mrs_hash_secret(&k->en->secret, span->pair, keys->bytes.p + span->off, span->len), who};
        mrs_buf_put(&job->keys, &one, sizeof one);
    }
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_read_job *job = p;
    struct mrs_rekey_entry *en = &job->entry;
    uint32_t at = (uint32_t)(ordinal - job->block.first_doc);
    void *work = mrsi_work_of(w, k->step, e);
    if (!work) {
        return MRS_DEAD;
    }
    en->takes_part = false;
    en->id = en->to = mrs_missing();
    mrs_keys_reset(&en->keys);
    mrs_err_clear(&w->err);
    mrsi_remarks_begin(w);
    enum mrs_status s = k->ops->read(k->st->state, &w->ctx, work, doc, en);
    if (s != MRS_OK && s != MRS_SKIP) {
        return mrsi_kernel_failed(w, s, e);
    }
    job->bits.p[at] = s == MRS_SKIP ? MRSI_FATE_REFUSED : en->takes_part ? 0 : MRSI_FATE_OUTSIDE;
    enum mrs_status st = take_id(k, w, job, ordinal, e);
    if (en->takes_part) {
        mrsi_remark(mrsi_row(w, k->step, 0), s == MRS_OK ? w->ctx.remarks : 0);
        MRS_THEN(st, take_name(k, w, job, at, e));
        take_keys(k, job, ordinal);
    }
    return st;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_read_job *job = p;
    struct mrsi_cursor cur;
    size_t n = job->block.n_docs;
    uint8_t *bits = mrs_buf_take(&job->bits, n);
    uint8_t *sizes = mrs_buf_take(&job->name_n, n * sizeof(uint32_t));
    uint8_t *hashes = k->wants.merge ? NULL : mrs_buf_take(&job->hashes, n * sizeof(struct mrs_hash128));
    if (!bits || !sizes || (!k->wants.merge && !hashes)) {
        return mrs_err_memory(e, n);
    }
    memset(bits, MRSI_FATE_OUTSIDE, n);
    memset(sizes, 0, job->name_n.n);
    if (hashes) {
        memset(hashes, 0, job->hashes.n);
    }
    mrsi_cursor_begin(&cur, k->scan.coll, job->part, &job->block);
    return mrsi_cursor_each(&cur, one_document, k, w, job, e);
}

/* ---- commit ---- */
static enum mrs_status
keep_names(struct mrsi_rekey_run *k, const struct rekey_read_job *job, struct mrs_err *e)
{
    uint64_t at = k->names.n;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < job->block.n_docs; i++) {
        uint32_t size;
        s = mrsi_file_array_put(&k->name_at, &at, e);
        memcpy(&size, job->name_n.p + i * sizeof size, sizeof size);
        at += size;
    }
    MRS_THEN(s, mrsi_file_array_put_n(&k->names, job->names.p, job->names.n, e));
    if (s == MRS_OK && !k->wants.merge) {
        s = mrsi_file_array_put_n(&k->hashes, job->hashes.p, job->hashes.n / sizeof(struct mrs_hash128), e);
    }
    return s;
}

/* The first of several documents with one `_id` represents all. */
static enum mrs_status
keep_selves(struct mrsi_rekey_run *k, const struct rekey_read_job *job, struct mrs_err *e)
{
    const struct rekey_self *self = (const struct rekey_self *)(const void *)job->selves.p;
    size_t n = job->selves.n / sizeof *self;
    enum mrs_status s = MRS_OK;
    k->ids.guess = job->guess;
    for (size_t i = 0; s == MRS_OK && i < n; i++) {
        uint64_t first;
        if (i + 8 < n) {
            mrsi_index_fetch(&k->ids, self[i + 8].key);
        }
        s = mrsi_index_put(&k->ids, self[i].key, self[i].who, &first, e);
        if (s == MRS_OK && first != self[i].who) {
            unsigned both = mrsi_fates_get(&k->fates, first) | mrsi_fates_get(&k->fates, self[i].who);
            mrsi_fates_add(&k->fates, self[i].who, MRSI_REKEY_TWICE);
            mrsi_fates_add(&k->fates, first, MRSI_REKEY_TWICE | (both & MRSI_FATE_OUTSIDE ? MRSI_REKEY_HELD : 0));
        }
    }
    return s;
}

static enum mrs_status
keep_keys(struct mrsi_rekey_run *k, const struct rekey_read_job *job, struct mrs_err *e)
{
    const struct rekey_self *key = (const struct rekey_self *)(const void *)job->keys.p;
    size_t n = job->keys.n / sizeof *key;
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; s == MRS_OK && i < n; i++) {
        uint64_t pair[2] = {key[i].who, 0};
        if (i + 8 < n) {
            mrsi_index_fetch(&k->keys, key[i + 8].key);
        }
        s = mrsi_index_put(&k->keys, key[i].key, key[i].who, &pair[1], e);
        if (s == MRS_OK && pair[1] != pair[0]) {
            s = mrsi_file_array_put(&k->joins, pair, e);
        }
    }
    return s;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_read_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e); /* documents refused by earlier fused steps */
    struct mrs_buf *all[BUFFERS];
    all_buffers(job, all);
    for (int i = 0; s == MRS_OK && i < BUFFERS; i++) {
        s = mrs_buf_status(all[i], e);
    }
    MRS_THEN(s, mrsi_fates_take(&k->fates, &job->block, &job->bits, e));
    MRS_THEN(s, keep_names(k, job, e));
    MRS_THEN(s, keep_selves(k, job, e));
    MRS_THEN(s, keep_keys(k, job, e));
    for (int i = 0; i < BUFFERS; i++) {
        if (all[i]->cap > MRSI_BIG) {
            mrs_buf_clear(all[i]);
        }
    }
    return s;
}

enum mrs_status
mrsi_rekey_read(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->stage == MRSI_REKEY_READ);
    struct mrsi_pipe p = {k->en, sizeof(struct rekey_read_job), fetch, work, commit, clear, k};
    return mrsi_pass_scan(&k->pass, &p, &k->en->coll[k->en->side[k->step][0]], &k->scan, e);
}
