/* SPDX-License-Identifier: Apache-2.0 */
/* join_read.c - the reading passes of a join: the keys of `into`, and the payloads of `from`.
 *
 * In a route every from document is looked up at once, and its payload goes to the partitions of its into documents; in
 * a lookup it is stored with its keys. Both create one byte of flags for each from document. Refusals of from documents
 * are recorded here. */
#include "join.h"
#include "mongoreshape/join_ops.h"

/* ---- keys of into ---- */
struct key_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrsi_hashed h;
    struct mrs_buf log;
};

static enum mrs_status
key_fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct key_job *k = job;
    if (!k->block.mem) {
        mrs_block_init(&k->block, j->en->mem);
        mrsi_hashed_init(&k->h, j->en->mem);
        mrs_buf_init(&k->log, j->en->mem, SIZE_MAX);
    }
    enum mrs_status s = mrsi_scan_next(&j->scan, &k->block, &k->part, e);
    *big = mrsi_is_large(j->en, k->block.n);
    return s;
}

enum mrs_status
mrsi_join_into_keys(struct mrsi_join_run *j, struct mrsi_worker *w, struct mrs_view doc)
{
    w->ctx.remarks = 0;
    enum mrs_status s = j->ops->keys(j->st->state, &w->ctx, 1, doc, &w->keys);
    if (w->ctx.remarks & MRS_REMARK_EMPTY_KEY) {
        mrsi_row(w, j->step, 1)->empty_into = 1;
    }
    return s;
}

/* Reads the keys of one into document into w->keys; none if it is not processed or is refused (which is recorded when
 * it is written). */
static enum mrs_status
into_keys(struct mrsi_join_run *j, struct mrsi_worker *w, struct mrs_view doc, struct mrs_err *e)
{
    bool part = true;
    mrs_keys_reset(&w->keys);
    mrs_err_clear(&w->err);
    enum mrs_status s = j->ops->takes_part(j->st->state, &w->ctx, 1, doc, &part);
    if (s == MRS_OK && part) {
        s = mrsi_join_into_keys(j, w, doc);
    }
    if (s == MRS_SKIP || !part) {
        mrs_keys_reset(&w->keys);
        s = MRS_OK;
    }
    return s == MRS_OK ? s : mrsi_kernel_failed(w, s, e);
}

static enum mrs_status
key_document(void *arg, struct mrsi_worker *w, void *job, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct key_job *k = job;
    enum mrs_status s = into_keys(j, w, doc, e);
    MRS_THEN(s, mrsi_hash_keys(j, w, true, &k->h, e));
    struct mrsi_logged *l = (struct mrsi_logged *)(void *)k->h.list.p;
    for (size_t i = 0; s == MRS_OK && i < k->h.list.n / sizeof *l; i++) {
        l[i].ord = ordinal;
        mrs_buf_put(&k->log, &l[i], sizeof *l);
    }
    return s;
}

static enum mrs_status
key_work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct key_job *k = job;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, &j->en->coll[j->en->side[j->step][1]], k->part, &k->block);
    cur.quiet = true;
    enum mrs_status s = mrsi_cursor_each(&cur, key_document, j, w, k, e);
    return s == MRS_OK ? mrs_buf_status(&k->log, e) : s;
}

static enum mrs_status
key_commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct key_job *k = job;
    (void)w;
    if (k->block.first_doc != j->n_into) {
        return mrsi_state_damaged("the documents that were read", e);
    }
    j->n_into += k->block.n_docs;
    j->into_read += k->block.n;
    enum mrs_status s = MRS_OK;
    if (!j->lookup && !__atomic_load_n(&j->multi, __ATOMIC_RELAXED)) {
        s = mrsi_by_key_into(j, (const struct mrsi_logged *)(const void *)k->log.p,
                             k->log.n / sizeof(struct mrsi_logged), e);
    }
    mrs_buf_reset(&k->log);
    return s;
}

static void
key_clear(void *arg, void *job)
{
    struct key_job *k = job;
    (void)arg;
    if (k->block.mem) {
        mrs_block_clear(&k->block);
        mrsi_hashed_clear(&k->h);
        mrs_buf_clear(&k->log);
    }
}

void
mrsi_join_choose_hashed(struct mrsi_join_run *j)
{
    j->n_hashed = 0;
    for (uint32_t p = 0; p < j->st->desc.n_pairs; p++) {
        if (p == 0 || (j->is_hashed[p] && j->n_hashed < 8)) {
            j->hashed[j->n_hashed++] = p;
        } else {
            j->is_hashed[p] = false;
        }
    }
}

static void
begin_keys(struct mrsi_join_run *j)
{
    j->multi = false;
    j->n_into = j->into_read = 0;
    mrsi_by_key_clear(j);
    mrsi_join_choose_hashed(j);
    mrs_buf_reset(&j->log);
    mrsi_savepoint_list_clear(&j->log_kept);
}

enum mrs_status
mrsi_join_read_into_keys(struct mrsi_join_run *j, struct mrs_err *e)
{
    struct mrsi_pipe p = {j->en, sizeof(struct key_job), key_fetch, key_work, key_commit, key_clear, j};
    enum mrs_status s;
    do {
        if (!mrsi_pass_is_resumed(&j->pass)) {
            begin_keys(j);
        }
        s = mrsi_pass_scan(&j->pass, &p, &j->en->coll[j->en->side[j->step][1]], &j->scan, e);
    } while (s == MRS_OK && j->multi);
    return s;
}

/* ---- payloads of from ---- */
enum { BATCH = 16 };
struct from_waiting {      /* a document with one key, whose slot in the table is being prefetched */
    struct mrs_view doc;
    uint64_t ordinal;
    struct mrsi_key key;
    struct mrs_eval_fields fields;
};
struct from_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrsi_hashed h;
    struct mrs_buf bits;   /* one byte for each document */
    struct mrs_buf payload, sort;
    struct mrs_buf meets;  /* struct mrsi_table_entry: the into documents of one from document */
    struct mrs_buf recs, log; /* lookup */
    struct mrs_buf left;   /* as in mrsi_join_run */
    uint64_t n_left;
    struct from_waiting waiting[BATCH];
    uint32_t n_waiting;
    const uint8_t *map;    /* the mapped bytes of the block; NULL: not mapped */
    uint64_t map_at;       /* and their offset, for struct mrsi_far */
};

static enum mrs_status
from_fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct from_job *f = job;
    if (!f->block.mem) {
        mrs_block_init(&f->block, j->en->mem);
        mrsi_hashed_init(&f->h, j->en->mem);
        struct mrs_buf *all[] = {&f->bits, &f->meets, &f->recs, &f->log, &f->left};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            mrs_buf_init(all[i], j->en->mem, SIZE_MAX);
        }
        mrs_buf_init(&f->sort, j->en->mem, MRS_KEY_MAX);
        mrs_buf_init(&f->payload, j->en->mem, MRSI_PAYLOAD_MAX);
    }
    if (__atomic_load_n(&j->multi, __ATOMIC_RELAXED)) {
        return MRS_END; /* everything is read again */
    }
    enum mrs_status s = mrsi_scan_next(&j->scan, &f->block, &f->part, e);
    *big = mrsi_is_large(j->en, f->block.n);
    return s == MRS_OK ? mrsi_far_block(j, &f->block, &f->map, &f->map_at, e) : s;
}

/* Keys of a refused document, by which references may name it; none if they cannot be computed. */
static enum mrs_status
keys_of_refused(struct mrsi_join_run *j, struct mrsi_worker *w, struct mrs_view doc, struct mrs_err *e)
{
    mrs_err_clear(&w->err);
    enum mrs_status s = j->ops->keys(j->st->state, &w->ctx, 0, doc, &w->keys);
    if (s == MRS_SKIP) {
        mrs_keys_reset(&w->keys);
        return MRS_OK;
    }
    return s == MRS_OK ? s : mrsi_kernel_failed(w, s, e);
}

/* Keys of one from document; sets *bits if it is not processed or refused. */
static enum mrs_status
from_keys(struct mrsi_join_run *j, struct mrsi_worker *w, struct mrs_view doc, uint64_t ordinal, uint8_t *bits,
          struct mrs_err *e)
{
    bool part = true;
    mrs_keys_reset(&w->keys);
    mrs_err_clear(&w->err);
    enum mrs_status s = j->ops->takes_part(j->st->state, &w->ctx, 0, doc, &part);
    bool named = s == MRS_SKIP && j->st->desc.by_reference;
    if (s == MRS_OK && part) {
        w->ctx.remarks = 0;
        s = j->ops->keys(j->st->state, &w->ctx, 0, doc, &w->keys);
        mrsi_row(w, j->step, 0)->empty_from += (w->ctx.remarks & MRS_REMARK_EMPTY_KEY) != 0;
    }
    *bits = part ? 0 : MRSI_FATE_OUTSIDE;
    if (s == MRS_SKIP) {
        *bits = MRSI_FATE_REFUSED;
        mrs_keys_reset(&w->keys);
        if (!j->self) {
            mrsi_row(w, j->step, 0)->refused++;
        }
        s = mrsi_refuse(w, j->step, 0, j->en->side[j->step][0], ordinal, doc, e);
        return s == MRS_OK && named ? keys_of_refused(j, w, doc, e) : s;
    }
    return s == MRS_OK ? s : mrsi_kernel_failed(w, s, e);
}

static void
put_failure(struct from_job *f, struct mrsi_worker *w)
{
    mrs_buf_reset(&f->payload);
    mrs_buf_put(&f->payload, w->err.where, strlen(w->err.where) + 1);
    mrs_buf_put(&f->payload, w->err.msg, strlen(w->err.msg) + 1);
    mrs_err_clear(&w->err);
}

static bool
in_block(const struct from_job *f, struct mrs_view doc)
{
    return doc.p >= f->block.p && doc.p < f->block.p + f->block.n;
}

/* Leaves the payload in its file if possible. */
static void
leave_payload(struct from_job *f, struct mrs_view doc, struct mrsi_rec *r)
{
    MRS_ASSERT(in_block(f, doc));
    struct mrs_view payload = {f->payload.p, r->payload_len};
    struct mrsi_far far;
    if (mrsi_far_note(doc, f->map_at + (uint64_t)(doc.p - f->block.p), payload, r, &far)) {
        memcpy(f->payload.p, &far, sizeof far);
    }
}

static bool
is_refused(const struct from_job *f, uint64_t ordinal)
{
    MRS_ASSERT(ordinal - f->block.first_doc < f->block.n_docs);
    return f->bits.p[ordinal - f->block.first_doc] == MRSI_FATE_REFUSED;
}

/* The record of a from document, without the ordinal of its into document. */
static enum mrs_status
make_record(struct mrsi_join_run *j, struct mrsi_worker *w, struct from_job *f, struct mrs_view doc, uint64_t ordinal,
            struct mrsi_rec *r, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    memset(r, 0, sizeof *r);
    mrs_buf_reset(&f->payload);
    mrs_buf_reset(&f->sort);
    mrs_err_clear(&w->err);
    if (is_refused(f, ordinal)) {
        r->failed = MRSI_REC_REFUSED;
    } else if (j->st->desc.sorted) {
        s = j->ops->order(j->st->state, &w->ctx, doc, &f->sort);
    }
    if (s == MRS_SKIP) {
        mrs_buf_reset(&f->sort);
        mrs_err_clear(&w->err);
        r->failed = MRSI_REC_UNSORTED;
        s = MRS_OK;
    } else if (s == MRS_OK && !r->failed) {
        mrsi_remarks_begin(w);
        s = j->ops->payload(j->st->state, &w->ctx, doc, &f->payload);
        mrsi_remark(mrsi_row(w, j->step, 0), s == MRS_OK ? w->ctx.remarks : 0);
        if (s == MRS_OK && w->ctx.eased) { /* counted when it is known who is placed */
            f->bits.p[ordinal - f->block.first_doc] |= MRSI_FATE_TOLERATED;
        }
    }
    if (s == MRS_SKIP) {
        put_failure(f, w);
        r->failed = MRSI_REC_NO_PAYLOAD;
    } else if (s != MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    s = mrs_buf_status(&f->payload, e);
    MRS_THEN(s, mrs_buf_status(&f->sort, e));
    r->order = ordinal;
    r->sort_len = (uint32_t)f->sort.n;
    r->payload_len = (uint32_t)f->payload.n;
    r->verify_len = (uint32_t)f->h.verify.n;
    if (s == MRS_OK && !r->failed && f->map && in_block(f, doc)) {
        leave_payload(f, doc, r);
    }
    r->total = mrsi_rec_total(r);
    return s;
}

static void
add_meeting(struct from_job *f, const struct mrsi_table_entry *x, bool by_reference)
{
    const struct mrsi_table_entry *m = (const struct mrsi_table_entry *)(const void *)f->meets.p;
    size_t n = f->meets.n / sizeof *m;
    for (size_t i = n > 8 ? n - 8 : 0; i < n; i++) {
        if (m[i].ord == x->ord && (!by_reference || m[i].ref == x->ref)) {
            return; /* the usual duplicates; others are removed when the partition is sorted */
        }
    }
    mrs_buf_put(&f->meets, x, sizeof *x);
}

/* Stores a document without a match while there are few: then from need not be read again to write them. */
static enum mrs_status
keep_left(struct mrsi_join_run *j, struct from_job *f, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e)
{
    if (__atomic_load_n(&j->left_over, __ATOMIC_RELAXED)) {
        return MRS_OK;
    }
    mrs_buf_put(&f->left, &ordinal, sizeof ordinal);
    mrs_buf_put(&f->left, doc.p, doc.n);
    f->n_left++;
    return mrs_buf_status(&f->left, e);
}

static enum mrs_status
route_to(struct mrsi_join_run *j, struct mrsi_worker *w, struct from_job *f, struct mrs_view doc, uint64_t ordinal,
         struct mrs_err *e)
{
    MRS_ASSERT(w->local);
    const struct mrsi_table_entry *m = (const struct mrsi_table_entry *)(const void *)f->meets.p;
    size_t n = f->meets.n / sizeof *m;
    struct mrsi_spiller *out = w->local;
    struct mrsi_rec r;
    if (!n || f->meets.bad) {
        return f->meets.bad              ? mrs_buf_status(&f->meets, e)
               : is_refused(f, ordinal) ? MRS_OK
                                        : keep_left(j, f, doc, ordinal, e);
    }
    enum mrs_status s = make_record(j, w, f, doc, ordinal, &r, e);
    struct mrsi_rec_parts x = {f->h.verify.p, f->sort.p, f->payload.p};
    for (size_t i = 0; s == MRS_OK && i < n; i++) {
        r.ord = m[i].ord;
        r.ref = m[i].ref;
        s = mrsi_spiller_put(out, &r, &x, e);
    }
    return s;
}

static void
meet_key(struct mrsi_join_run *j, struct from_job *f, struct mrsi_key key)
{
    for (const struct mrsi_table_entry *x = mrsi_table_find(&j->table, key); x; x = mrsi_table_next(&j->table, x)) {
        add_meeting(f, x, j->st->desc.by_reference);
    }
}

static enum mrs_status
route_waiting(struct mrsi_join_run *j, struct mrsi_worker *w, struct from_job *f, struct mrs_err *e)
{
    MRS_ASSERT(f->n_waiting <= BATCH);
    enum mrs_status s = MRS_OK;
    mrs_buf_reset(&f->h.verify);
    for (uint32_t i = 0; s == MRS_OK && i < f->n_waiting; i++) {
        w->ctx.fields = &f->waiting[i].fields;
        w->ctx.fields_of = f->waiting[i].doc.p;
        mrs_buf_reset(&f->meets);
        meet_key(j, f, f->waiting[i].key);
        s = route_to(j, w, f, f->waiting[i].doc, f->waiting[i].ordinal, e);
    }
    w->ctx.fields = NULL;
    f->n_waiting = 0;
    return s;
}

/* The known fields of a document are queued with it. */
static void
keep_fields(const struct mrs_ctx *c, struct mrs_view doc, struct mrs_eval_fields *to)
{
    const struct mrs_eval_fields *found = c->fields_of == doc.p ? c->fields : NULL;
    to->tpl = NULL;
    to->all = found && found->all;
    to->n = to->all ? found->n : 0;
    to->names = to->all ? found->names : 0;
    if (to->n) {
        memcpy(to->e, found->e, to->n * sizeof *to->e);
    }
}

/* Documents with one key are queued, so that the cache misses of a batch overlap; others are handled at once, after the
 * queue. */
static enum mrs_status
route(struct mrsi_join_run *j, struct mrsi_worker *w, struct from_job *f, struct mrs_view doc, uint64_t ordinal,
      struct mrs_err *e)
{
    MRS_ASSERT(f->n_waiting < BATCH);
    const struct mrsi_logged *l = (const struct mrsi_logged *)(const void *)f->h.list.p;
    size_t n = f->h.list.n / sizeof *l;
    enum mrs_status s = MRS_OK;
    if (n == 1 && !f->h.verify.n && in_block(f, doc)) {
        mrsi_table_fetch(&j->table, l->key);
        struct from_waiting *x = &f->waiting[f->n_waiting++];
        x->doc = doc;
        x->ordinal = ordinal;
        x->key = l->key;
        keep_fields(&w->ctx, doc, &x->fields);
        return f->n_waiting == BATCH ? route_waiting(j, w, f, e) : MRS_OK;
    }
    if (f->n_waiting) { /* h.verify, which it overwrites, is empty before and after: pairs are verified for all
                         * documents or for none */
        s = route_waiting(j, w, f, e);
    }
    mrs_buf_reset(&f->meets);
    for (size_t i = 0; i < n; i++) {
        meet_key(j, f, l[i].key);
    }
    return s == MRS_OK ? route_to(j, w, f, doc, ordinal, e) : s;
}

/* Lookup: stores the record; its keys refer to it by its offset in the job's records. */
static enum mrs_status
keep(struct mrsi_join_run *j, struct mrsi_worker *w, struct from_job *f, struct mrs_view doc, uint64_t ordinal,
     struct mrs_err *e)
{
    MRS_ASSERT(j->lookup);
    struct mrsi_logged *l = (struct mrsi_logged *)(void *)f->h.list.p;
    size_t n = f->h.list.n / sizeof *l, at = f->recs.n;
    struct mrsi_rec r;
    if (!n) {
        return MRS_OK;
    }
    enum mrs_status s = make_record(j, w, f, doc, ordinal, &r, e);
    uint8_t *p = s == MRS_OK ? mrs_buf_take(&f->recs, r.total) : NULL;
    if (!p) {
        return s == MRS_OK ? mrs_buf_status(&f->recs, e) : s;
    }
    struct mrsi_rec_parts x = {f->h.verify.p, f->sort.p, f->payload.p};
    mrsi_rec_fill(p, &r, &x);
    for (size_t i = 0; i < n; i++) {
        l[i].ord = at;
        mrs_buf_put(&f->log, &l[i], sizeof *l);
    }
    return mrs_buf_status(&f->log, e);
}

/* Partitions by key: writes the record with each of its keys. */
static enum mrs_status
keep_keyed(struct mrsi_join_run *j, struct mrsi_worker *w, struct from_job *f, struct mrs_view doc, uint64_t ordinal,
           struct mrs_err *e)
{
    MRS_ASSERT(j->by_key && w->local);
    const struct mrsi_logged *l = (const struct mrsi_logged *)(const void *)f->h.list.p;
    size_t n = f->h.list.n / sizeof *l;
    struct mrsi_rec r;
    enum mrs_status s = n ? make_record(j, w, f, doc, ordinal, &r, e) : MRS_OK;
    struct mrsi_rec_parts x = {f->h.verify.p, f->sort.p, f->payload.p};
    for (size_t i = 0; s == MRS_OK && i < n; i++) {
        s = mrsi_by_key_from(w->local, l[i].key, &r, &x, e);
    }
    return s;
}

static enum mrs_status
from_document(struct mrsi_join_run *j, struct mrsi_worker *w, struct from_job *f, struct mrs_view doc, uint64_t ordinal,
              struct mrs_err *e)
{
    if (!j->self) {
        mrsi_row(w, j->step, 0)->before++;
    }
    enum mrs_status s = from_keys(j, w, doc, ordinal, &f->bits.p[ordinal - f->block.first_doc], e);
    if (s == MRS_OK && w->keys.n) {
        s = mrsi_hash_keys(j, w, false, &f->h, e);
    }
    if (s != MRS_OK || (!w->keys.n && is_refused(f, ordinal))) {
        return s;
    }
    if (!w->keys.n) { /* after the queue: unmatched documents keep their order */
        s = f->n_waiting ? route_waiting(j, w, f, e) : MRS_OK;
        return s == MRS_OK ? keep_left(j, f, doc, ordinal, e) : s;
    }
    return j->lookup  ? keep(j, w, f, doc, ordinal, e)
           : j->by_key ? keep_keyed(j, w, f, doc, ordinal, e)
                      : route(j, w, f, doc, ordinal, e);
}

static enum mrs_status
from_work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct from_job *f = job;
    struct mrsi_cursor cur;
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    mrs_buf_reset(&f->bits);
    uint8_t *bits = mrs_buf_take(&f->bits, f->block.n_docs);
    if (!bits) {
        return mrs_buf_status(&f->bits, e);
    }
    memset(bits, MRSI_FATE_OUTSIDE | MRSI_FATE_REFUSED, f->block.n_docs);
    if (f->map && !mrs_map_fetch(f->map, f->block.n)) {
        f->map = NULL;
    }
    mrsi_cursor_begin(&cur, &j->en->coll[j->en->side[j->step][0]], f->part, &f->block);
    cur.quiet = j->self;
    cur.fields = true;
    while (s == MRS_OK || s == MRS_SKIP) {
        s = mrsi_cursor_next(&cur, w, &doc, e);
        if (w->ctx.fields && w->fields.tpl) { /* kernels use fields */
            mrs_template_fields(w->fields.tpl, w->ctx.fields_of, &w->fields);
            w->fields.tpl = NULL;
        }
        MRS_THEN(s, from_document(j, w, f, doc, cur.ordinal, e));
    }
    return s == MRS_END ? route_waiting(j, w, f, e) : s;
}

/* Reserves n bytes for records, eight-byte aligned; NULL: out of memory. */
static uint8_t *
slab_room(struct mrsi_join_run *j, size_t n)
{
    MRS_ASSERT(n % 8 == 0);
    enum { SLAB = 4 << 20 };
    if (j->slab_left < n) {
        size_t size = n > SLAB || j->n_from_bytes < SLAB ? n : SLAB;
        uint8_t *p = mrs_alloc(j->en->mem, size);
        if (!p) {
            return NULL;
        }
        mrs_buf_put(&j->slabs, &p, sizeof p);
        if (j->slabs.bad) {
            mrs_free(j->en->mem, p);
            return NULL;
        }
        mrsi_advise_huge(p, size); /* random access */
        j->slab_at = p;
        j->slab_left = size;
    }
    uint8_t *at = j->slab_at;
    j->slab_at += n;
    j->slab_left -= n;
    return at;
}

/* Lookup: moves the job's records to their final place. */
static enum mrs_status
keep_records(struct mrsi_join_run *j, struct from_job *f, struct mrs_err *e)
{
    MRS_ASSERT(f->recs.n == 0 || j->lookup);
    struct mrsi_logged *l = (struct mrsi_logged *)(void *)f->log.p;
    if (!f->recs.n) {
        return MRS_OK;
    }
    uint8_t *p = slab_room(j, f->recs.n);
    MRS_TRY(mrs_allocated(p, f->recs.n, e));
    memcpy(p, f->recs.p, f->recs.n);
    for (size_t i = 0; i < f->log.n / sizeof *l; i++) {
        l[i].ord += (uintptr_t)p;
    }
    mrs_buf_put(&j->log, f->log.p, f->log.n);
    mrs_buf_reset(&f->recs);
    mrs_buf_reset(&f->log);
    return mrs_buf_status(&j->log, e);
}

static enum mrs_status
take_left(struct mrsi_join_run *j, struct from_job *f, struct mrs_err *e)
{
    if (j->left_over || j->left.n + f->left.n > j->en->memory / 16) {
        __atomic_store_n(&j->left_over, true, __ATOMIC_RELAXED);
        mrs_buf_clear(&j->left);
        mrsi_savepoint_list_clear(&j->left_kept);
    } else {
        mrs_buf_put(&j->left, f->left.p, f->left.n);
        j->n_left += f->n_left;
    }
    mrs_buf_reset(&f->left);
    f->n_left = 0;
    return mrs_buf_status(&j->left, e);
}

static enum mrs_status
from_commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct from_job *f = job;
    enum mrs_status s = mrsi_refused_commit(w, e);
    MRS_THEN(s, mrsi_fates_take(&j->fates, &f->block, &f->bits, e));
    MRS_THEN(s, take_left(j, f, e));
    return s == MRS_OK ? keep_records(j, f, e) : s;
}

static void
from_clear(void *arg, void *job)
{
    struct from_job *f = job;
    (void)arg;
    if (f->block.mem) {
        struct mrs_buf *all[] = {&f->bits, &f->payload, &f->sort, &f->meets, &f->recs, &f->log, &f->left};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            mrs_buf_clear(all[i]);
        }
        mrsi_hashed_clear(&f->h);
        mrs_block_clear(&f->block);
    }
}

static enum mrs_status
read_from(void *arg, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct mrsi_pipe p = {j->en, sizeof(struct from_job), from_fetch, from_work, from_commit, from_clear, j};
    struct mrsi_pass *pass = j->lookup ? NULL : &j->pass; /* small: reading again is cheaper than writing */
    return mrsi_pass_scan(pass, &p, &j->en->coll[j->en->side[j->step][0]], &j->scan, e);
}

enum mrs_status
mrsi_join_read_from(struct mrsi_join_run *j, struct mrs_err *e)
{
    return j->lookup ? read_from(j, e)
                     : mrsi_spill_pass(j->by_key ? &j->by_key->records : &j->spill, read_from, j, e);
}
