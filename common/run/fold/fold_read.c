/* SPDX-License-Identifier: Apache-2.0 */
/* fold_read.c - the reading pass of a fold: makes the entry of each document of `from`.
 *
 * Each document gets a byte of flags; documents that the step refuses at once are recorded here. */
#include "fold.h"
#include "mongoreshape/fold_ops.h"

enum { WAITING = 8 };
struct waiting { /* a document after enter_fast, while the cache entry of its shared record is prefetched */
    struct mrs_view doc;
    uint64_t ordinal;
    const struct mrs_template *tpl; /* template of the document, while this is its number */
    uint64_t tpl_no;
    struct mrs_fold_fast seen;
    struct mrs_buf name; /* key of the shared record */
    uint64_t shared; /* hash of it */
};
struct fold_read_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_fold_entry entry;
    struct mrs_buf shared; /* a computed shared record */
    struct mrs_buf bits;  /* one byte for each document */
    struct mrs_buf found; /* struct mrsi_fold_input; struct mrsi_rec while the ranges of partitions are unknown */
    struct waiting waiting[WAITING];
    uint32_t n_waiting;
    struct mrs_eval_fields known; /* fields of one of them, from its template */
    bool waits;           /* documents may be queued: the ranges are known, and documents live as long as the block */
    bool routes;          /* the ranges are known; checked once a job, so that a worker's records stay in order */
    void *work;           /* of the step, and the row of the account: both the worker's */
    struct mrsi_row *row;
};

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_fold *f = arg;
    struct fold_read_job *job = p;
    if (!job->block.mem) {
        mrs_block_init(&job->block, f->en->mem);
        mrs_buf_init(&job->entry.group, f->en->mem, MRS_KEY_MAX);
        mrs_buf_init(&job->entry.order, f->en->mem, MRS_KEY_MAX);
        mrs_buf_init(&job->entry.payload, f->en->mem, MRSI_PAYLOAD_MAX);
        mrs_buf_init(&job->entry.shared, f->en->mem, 2u * MRSI_PAYLOAD_MAX);
        mrs_buf_init(&job->shared, f->en->mem, 2u * MRSI_PAYLOAD_MAX);
        mrs_buf_init(&job->bits, f->en->mem, SIZE_MAX);
        mrs_buf_init(&job->found, f->en->mem, SIZE_MAX);
        for (int i = 0; i < WAITING; i++) {
            mrs_buf_init(&job->waiting[i].name, f->en->mem, 2u * MRSI_PAYLOAD_MAX);
        }
    }
    enum mrs_status s = mrsi_scan_next(&f->scan, &job->block, &job->part, e);
    *big = mrsi_is_large(f->en, job->block.n);
    return s;
}

static struct mrs_view
view_of(const struct mrs_buf *b)
{
    return (struct mrs_view){b->p, (uint32_t)b->n};
}

/* Appends the entry for a gathered group. */
static enum mrs_status
put_group_value(const struct mrsi_fold *f, struct fold_read_job *job, struct mrs_err *e)
{
    const struct mrs_fold_entry *x = &job->entry;
    struct mrsi_fold_input b = {.shared = (uint32_t)x->shared.n, .payload = (uint32_t)x->payload.n};
    size_t total = (sizeof b + x->shared.n + x->payload.n + 7) & ~(size_t)7;
    uint8_t *p = mrs_buf_take(&job->found, total);
    MRS_TRY(mrs_allocated(p, total, e));
    b.total = (uint32_t)total;
    b.ref = (uint32_t)mrs_hash64(x->shared.p, x->shared.n, f->en->secret.seed);
    memcpy(p, &b, sizeof b);
    mrs_copy_short(p + sizeof b, x->shared.p, x->shared.n);
    mrs_copy_short(p + sizeof b + x->shared.n, x->payload.p, x->payload.n);
    return MRS_OK;
}

/* The same as a record, for the sample. */
static enum mrs_status
put_found(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_read_job *job, uint64_t ordinal, struct mrs_view doc,
          struct mrs_err *e)
{
    struct mrs_fold_entry *x = &job->entry;
    struct mrs_buf *shared = f->ops->shared ? &job->shared : &x->shared;
    enum mrs_status s = f->ops->shared ? mrsi_fold_shared_record(f, w, doc, view_of(&x->shared), shared, e) : MRS_OK;
    s = s == MRS_OK && f->ops->group ? mrsi_fold_group_key(f, w, view_of(shared), &x->group, e) : s;
    if (s != MRS_OK) {
        return s;
    }
    size_t n_shared = shared->n;
    const struct mrs_buf *all = n_shared ? shared : &x->payload;
    if (n_shared) {
        mrs_buf_put(shared, x->payload.p, x->payload.n);
    }
    struct mrsi_rec_parts parts = {x->group.p, x->order.p, all->p};
    size_t total = (sizeof(struct mrsi_rec) + x->group.n + x->order.n + all->n + 7) & ~(size_t)7;
    uint8_t *p = all->bad ? NULL : mrs_buf_take(&job->found, total);
    MRS_TRY(mrs_allocated(p, total, e));
    struct mrsi_rec r = {.total = (uint32_t)total,
                         .ref = (uint32_t)mrs_hash(x->group.p, x->group.n, f->en->secret.seed).lo,
                         .ord = n_shared,
                         .order = ordinal,
                         .verify_len = (uint32_t)x->group.n,
                         .sort_len = (uint32_t)x->order.n,
                         .payload_len = (uint32_t)all->n};
    mrsi_rec_fill(p, &r, &parts);
    return MRS_OK;
}

static enum mrs_status
put_member(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_read_job *job, uint64_t ordinal, struct mrs_view doc,
           struct mrs_err *e)
{
    const struct mrs_fold_entry *x = &job->entry;
    if (f->gather.on) {
        return put_group_value(f, job, e);
    }
    if (!job->routes) {
        return put_found(f, w, job, ordinal, doc, e);
    }
    struct mrsi_fold_parts parts = {.order = view_of(&x->order), .payload = view_of(&x->payload), .shared =
            view_of(&x->shared),
                                    .ordinal = ordinal};
    if (!f->ops->group) {
        parts.group = view_of(&x->group);
    }
    if (f->ops->shared) {
        parts.doc = doc;
    }
    return mrsi_fold_route(f, w, &parts, e);
}

/* Handles the result of enter_fast like that of enter. */
static void
fill_entry(struct mrs_fold_entry *x, const struct mrs_fold_fast *g, const uint8_t *doc)
{
    uint8_t room[16];
    mrs_buf_put(&x->shared, g->shared->p, g->shared->n);
    mrs_key_append(&x->order, mrs_make_i64(room, g->date, MRS_DATE), false);
    for (uint32_t i = 0; i < g->n_spans; i++) {
        mrs_buf_put(&x->payload, doc + g->payload[i].at, g->payload[i].n);
    }
    x->takes_part = true;
}

/* A key that outgrew its buffer refuses its document. */
static enum mrs_status
entry_status(const struct mrs_fold_entry *x, struct mrsi_worker *w, struct mrs_err *e)
{
    if (!x->takes_part || !(x->group.bad | x->order.bad | x->payload.bad | x->shared.bad)) {
        return MRS_OK;
    }
    if (x->group.bad == 1 || x->order.bad == 1 || x->payload.bad || x->shared.bad) {
        return mrs_err_memory(e, x->payload.n);
    }
    return mrs_err_set(&w->err, MRS_SKIP, MRS_E_LIMIT, "a key of more than %u bytes", MRS_KEY_MAX);
}

/* Stores the entry. seen: from enter_fast. */
static enum mrs_status
one_document(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_read_job *job, uint64_t ordinal,
             const struct mrs_view *doc, const struct mrs_fold_fast *seen, struct mrs_err *e)
{
    struct mrs_fold_entry *x = &job->entry;
    uint8_t *bits = job->bits.p + (ordinal - job->block.first_doc);
    enum mrs_status s = MRS_OK;
    x->takes_part = false;
    mrs_buf_reset(&x->group);
    mrs_buf_reset(&x->order);
    mrs_buf_reset(&x->payload);
    mrs_buf_reset(&x->shared);
    mrs_err_clear(&w->err);
    mrsi_remarks_begin(w);
    if (seen) {
        fill_entry(x, seen, doc->p);
    } else {
        s = f->ops->enter(f->st->state, &w->ctx, job->work, *doc, x);
    }
    if (s < MRS_SKIP) {
        return mrsi_kernel_failed(w, s, e);
    }
    MRS_THEN(s, entry_status(x, w, e));
    if (s == MRS_OK && x->takes_part) {
        s = put_member(f, w, job, ordinal, *doc, e);
        mrsi_remark(job->row, s == MRS_OK ? w->ctx.remarks : 0);
        mrsi_eased(job->row, s == MRS_OK ? w->ctx.eased : 0, *doc);
    }
    if (s == MRS_SKIP) {
        *bits = MRSI_FATE_REFUSED;
        job->row->refused++;
        return mrsi_refuse(w, f->step, 0, f->en->side[f->step][0], ordinal, *doc, e);
    }
    *bits = x->takes_part ? 0 : MRSI_FATE_OUTSIDE;
    return s;
}

/* A queued document, with its known fields. */
static enum mrs_status
one_waiting(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_read_job *job, const struct waiting *x,
            struct mrs_err *e)
{
    const struct mrs_eval_fields *fields = w->ctx.fields;
    const uint8_t *fields_of = w->ctx.fields_of;
    job->known.tpl = x->tpl;
    w->ctx.fields = x->tpl && x->tpl->no == x->tpl_no ? &job->known : NULL;
    w->ctx.fields_of = x->doc.p;
    enum mrs_status s = one_document(f, w, job, x->ordinal, &x->doc, &x->seen, e);
    w->ctx.fields = fields;
    w->ctx.fields_of = fields_of;
    return s;
}

/* Most need no new entry, since a document with the same shared record was just stored. */
static enum mrs_status
route_waiting(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_read_job *job, struct mrs_err *e)
{
    const uint32_t n = job->n_waiting;
    enum mrs_status s = MRS_OK;
    job->n_waiting = 0;
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        const struct waiting *x = &job->waiting[i];
        if (mrsi_fold_route_fast(f, w, x->shared, &x->seen, x->doc.p, x->ordinal)) {
            job->bits.p[x->ordinal - job->block.first_doc] = 0;
        } else {
            s = one_waiting(f, w, job, x, e);
        }
    }
    return s;
}

/* One document. Documents of the fast path are queued, so that some of their cache misses overlap; a document of the
 * slow path first empties the queue. */
static enum mrs_status
fast_first(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_read_job *job, uint64_t ordinal,
           const struct mrs_view *doc, struct mrs_err *e)
{
    struct waiting *x = &job->waiting[job->n_waiting];
    x->seen.shared = &x->name;
    mrs_buf_reset(&x->name);
    const bool fast = f->ops->enter_fast(f->st->state, &w->ctx, job->work, *doc, &x->seen);
    if (fast && job->waits) {
        x->doc = *doc;
        x->ordinal = ordinal;
        x->tpl = w->ctx.fields ? w->ctx.fields->tpl : NULL;
        x->tpl_no = x->tpl ? x->tpl->no : 0;
        x->shared = mrsi_fold_route_prefetch(f, w, view_of(&x->name));
        return ++job->n_waiting < WAITING ? MRS_OK : route_waiting(f, w, job, e);
    }
    enum mrs_status s = job->n_waiting ? route_waiting(f, w, job, e) : MRS_OK;
    return s == MRS_OK ? one_document(f, w, job, ordinal, doc, fast ? &x->seen : NULL, e) : s;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_fold *f = arg;
    struct fold_read_job *job = p;
    struct mrsi_cursor cur;
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    mrs_buf_reset(&job->bits);
    job->routes = atomic_load(&f->routed);
    job->waits = job->routes && !job->part->n_pend && !f->en->amend;
    job->n_waiting = 0;
    job->row = mrsi_row(w, f->step, 0);
    job->work = mrsi_work_of(w, f->step, e);
    uint8_t *bits = mrs_buf_take(&job->bits, job->block.n_docs);
    if (!bits || !job->work) {
        return job->work ? mrs_buf_status(&job->bits, e) : MRS_DEAD;
    }
    memset(bits, MRSI_FATE_REFUSED | MRSI_FATE_OUTSIDE, job->block.n_docs); /* an earlier step refused it */
    mrsi_cursor_begin(&cur, &f->en->coll[f->en->side[f->step][0]], job->part, &job->block);
    cur.fields = true;
    while (s == MRS_OK || s == MRS_SKIP) {
        s = mrsi_cursor_next(&cur, w, &doc, e);
        if (s != MRS_OK) {
            continue;
        }
        job->row->before++;
        s = f->ops->enter_fast ? fast_first(f, w, job, cur.ordinal, &doc, e)
                           : one_document(f, w, job, cur.ordinal, &doc, NULL, e);
    }
    return s == MRS_END ? route_waiting(f, w, job, e) : s;
}

static uint64_t
sample_bytes(const struct mrsi_fold *f)
{
    uint64_t n = f->en->memory / 16;
    return n > MRSI_BIG ? MRSI_BIG : n;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_fold *f = arg;
    struct fold_read_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    MRS_THEN(s, mrsi_fates_take(&f->fates, &job->block, &job->bits, e));
    if (s == MRS_OK && f->gather.on) {
        s = mrsi_fold_gather_all(f, w, &job->found, e);
    } else if (s == MRS_OK && job->found.n && f->routed) { /* the ranges were computed meanwhile */
        s = mrsi_fold_route_all(f, w, &job->found, e);
    } else if (s == MRS_OK && !f->routed) {
        f->seen_bytes += job->block.n;
        mrs_buf_put(&f->unrouted, job->found.p, job->found.n);
        s = mrs_buf_status(&f->unrouted, e);
        s = s == MRS_OK && f->unrouted.n > sample_bytes(f) ? mrsi_fold_route_begin(f, w, e) : s;
    }
    if (job->found.cap && f->routed) {
        mrs_buf_clear(&job->found);
    }
    mrs_buf_reset(&job->found);
    return s;
}

static void
clear(void *arg, void *p)
{
    struct fold_read_job *job = p;
    (void)arg;
    if (job->block.mem) {
        mrs_buf_clear(&job->entry.group);
        mrs_buf_clear(&job->entry.order);
        mrs_buf_clear(&job->entry.payload);
        mrs_buf_clear(&job->entry.shared);
        mrs_buf_clear(&job->shared);
        mrs_buf_clear(&job->bits);
        mrs_buf_clear(&job->found);
        for (int i = 0; i < WAITING; i++) {
            mrs_buf_clear(&job->waiting[i].name);
        }
        mrs_block_clear(&job->block);
    }
}

enum mrs_status
mrsi_fold_read(struct mrsi_fold *f, struct mrs_err *e)
{
    struct mrsi_pipe p = {f->en, sizeof(struct fold_read_job), fetch, work, commit, clear, f};
    struct mrsi_coll *from = &f->en->coll[f->en->side[f->step][0]];
    MRS_TRY(mrsi_pass_scan(&f->pass, &p, from, &f->scan, e));
    return f->gather.on ? mrsi_fold_gather_end(f, e) : mrsi_fold_route_end(f, e);
}

void
mrsi_fold_forget(struct mrsi_fold *f, struct mrsi_refused_position then)
{
    mrsi_fold_gather_clear(f);
    mrsi_refused_rewind(f->en, then);
    mrsi_rows_begin(f->en);
    for (uint32_t i = 0; i < f->en->jobs; i++) {
        mrs_buf_reset(&f->en->worker[i].refused);
    }
    mrsi_fates_clear(&f->fates);
    mrsi_fates_init(&f->fates, f->en);
}
