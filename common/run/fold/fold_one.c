/* SPDX-License-Identifier: Apache-2.0 */
/* fold_one.c - folds one group, and decides the fate of its members.
 *
 * Documents that the step puts are held back until it has read the whole group: it may still refuse all of it. Above a
 * share of memory they are held in a file. This file must not know where members come from. */
#include "fold.h"
#include "mongoreshape/fold_ops.h"

enum { REFUSING = 64 }; /* estimated bytes of work to refuse a member */

void
mrsi_fold_one_init(struct mrsi_fold_one *o, struct mrsi_fold *f)
{
    struct mrsi_engine *en = f->en;
    memset(o, 0, sizeof *o);
    o->f = f;
    mrsi_file_array_init(&o->docs, en, sizeof(struct mrsi_fold_pending), en->memory / 32);
    mrsi_file_array_init(&o->alone, en, sizeof(uint64_t), en->memory / 32);
    mrs_buf_init(&o->bytes, en->mem, SIZE_MAX);
    mrs_buf_init(&o->room, en->mem, SIZE_MAX);
    mrs_buf_init(&o->made, en->mem, UINT32_MAX);
    o->live = true;
}

void
mrsi_fold_one_clear(struct mrsi_fold_one *o)
{
    if (o->live) {
        mrsi_file_array_clear(&o->docs);
        mrsi_file_array_clear(&o->alone);
        mrs_buf_clear(&o->bytes);
        mrs_buf_clear(&o->room);
        mrs_buf_clear(&o->made);
        mrsi_temp_drop(o->f->en, o->file);
        o->file = NULL;
        o->live = false;
    }
}

static uint64_t
share(const struct mrsi_fold *f)
{
    uint64_t n = f->en->memory / 16;
    return n < 4096 ? 4096 : n > MRSI_BIG ? MRSI_BIG : n;
}

enum mrs_status
mrsi_fold_hand_over(struct mrsi_fold *f, struct mrsi_worker *w, struct mrsi_fold_out *out, struct mrs_err *e)
{
    struct mrs_buf *list = &out->lists.members;
    for (size_t at = 0; at < list->n;) { /* members are numbered from the first document of the job */
        struct mrsi_id_member m;
        memcpy(&m, list->p + at, sizeof m);
        m.source += f->n_docs;
        memcpy(list->p + at, &m, sizeof m);
        at += sizeof m + m.body_len;
    }
    enum mrs_status s = mrsi_refused_commit(w, e); /* from fused steps */
    MRS_THEN(s, mrsi_step_outputs_take(&f->sides, &out->lists, e));
    MRS_THEN(s, mrsi_step_outputs_commit(&f->sides, out->outs, e));
    for (size_t at = 0; s == MRS_OK && at < out->late.n;) {
        uint8_t key[8];
        uint64_t ordinal;
        uint32_t n;
        memcpy(&ordinal, out->late.p + at, sizeof ordinal);
        memcpy(&n, out->late.p + at + sizeof ordinal, sizeof n);
        at += sizeof ordinal + sizeof n;
        mrsi_put_be(key, ordinal, 8);
        s = mrsi_sorter_put(&f->late, key, sizeof key, out->late.p + at, n, e);
        at += n;
    }
    mrs_buf_reset(&out->late);
    return s;
}

/* A job whose turn it is passes its output on at once. */
static enum mrs_status
relieve(struct mrsi_fold_one *o, struct mrs_err *e)
{
    const struct mrsi_fold_out *out = o->out;
    size_t n = o->w->refused.n + out->late.n + out->lists.members.n + out->lists.hashes.n +
               out->outs[o->f->sides.wr_of[1]].buf.n;
    return n < MRSI_BLOCK || !mrsi_pipe_turn(o->w) ? MRS_OK : mrsi_fold_hand_over(o->f, o->w, o->out, e);
}

/* ---- callbacks for the step ---- */
static enum mrs_status
next_member(struct mrs_members *m, struct mrs_view *payload, struct mrs_err *e)
{
    struct mrsi_fold_one *o = m->impl;
    MRS_ASSERT(o->source);
    enum mrs_status s = o->ended ? MRS_END : o->source->next(o->source, payload, e);
    m->shared = o->source->shared;
    m->same_shared = o->source->same_shared;
    o->n_returned += s == MRS_OK;
    o->ended = o->ended || s == MRS_END;
    return s;
}

static uint32_t
more_members(struct mrs_members *m, struct mrs_view *payload, uint32_t most)
{
    struct mrsi_fold_one *o = m->impl;
    uint32_t n = o->source->more(o->source, payload, most);
    o->n_returned += n;
    return n;
}

static enum mrs_status
note_late(struct mrsi_fold_one *o, uint64_t ordinal, const struct mrs_err *why, struct mrs_err *e)
{
    struct mrs_buf *late = &o->out->late;
    uint32_t place = (uint32_t)strlen(why->where) + 1, all = (uint32_t)strlen(why->msg),
             kind = why->kind_len ? why->kind_len : all, n = place + all + 2;
    if (o->f->sides.ids.phase == MRSI_IDS_COLLECT) {
        return MRS_OK;
    }
    mrsi_fates_add(&o->f->fates, ordinal, MRSI_FOLD_LATE);
    mrs_buf_put(late, &ordinal, sizeof ordinal);
    mrs_buf_put(late, &n, sizeof n);
    mrs_buf_put(late, why->where, place);
    mrs_buf_put(late, why->msg, kind);
    mrs_buf_byte(late, 0);
    mrs_buf_put(late, why->msg + kind, all - kind + 1);
    return late->bad ? mrs_buf_status(late, e) : relieve(o, e);
}

static enum mrs_status
refuse_member(struct mrs_members *m, struct mrs_err *e)
{
    MRS_ASSERT(((struct mrsi_fold_one *)m->impl)->n_returned > 0);
    struct mrsi_fold_one *o = m->impl;
    struct mrs_err why = o->w->err;
    uint64_t i = o->n_returned - 1;
    mrs_err_clear(&o->w->err); /* e may be the same */
    enum mrs_status s = mrsi_file_array_put(&o->alone, &i, e);
    return s == MRS_OK ? note_late(o, o->source->at, &why, e) : s;
}

static enum mrs_status
to_file(struct mrsi_fold_one *o, const uint8_t *p, size_t n, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (!o->file) {
        s = o->kept ? mrsi_ckpt_temp(o->f->en, &o->file, e) : mrsi_temp_new(o->f->en, &o->file, e);
    }
    MRS_THEN(s, mrsi_temp_append(o->file, p, n, o->filed, e));
    o->filed += n;
    return s;
}

enum mrs_status
mrsi_fold_flush_docs(struct mrsi_fold_one *o, struct mrs_err *e)
{
    enum mrs_status s = o->bytes.n ? to_file(o, o->bytes.p, o->bytes.n, e) : MRS_OK;
    mrs_buf_reset(&o->bytes);
    return s;
}

static enum mrs_status
put_document(void *arg, struct mrs_view doc, bool but_last, struct mrs_err *e)
{
    struct mrsi_fold_one *o = arg;
    MRS_ASSERT(o->n_returned >= but_last);
    struct mrsi_fold_pending h = {o->n_returned - but_last, o->filed + o->bytes.n, doc.n, o->w->ctx.eased};
    o->w->ctx.eased = 0;
    if (mrsi_is_large(o->f->en, doc.n)) {
        enum mrs_status filed = mrsi_fold_flush_docs(o, e);
        MRS_THEN(filed, to_file(o, doc.p, doc.n, e));
        return filed == MRS_OK ? mrsi_file_array_put(&o->docs, &h, e) : filed;
    }
    mrs_buf_put(&o->bytes, doc.p, doc.n);
    enum mrs_status s = o->bytes.bad ? mrs_buf_status(&o->bytes, e) : mrsi_file_array_put(&o->docs, &h, e);
    return s == MRS_OK && o->bytes.n > share(o->f) ? mrsi_fold_flush_docs(o, e) : s;
}

/* ---- the end of a group ---- */
static enum mrs_status
rest(struct mrsi_fold_one *o, uint64_t bytes, struct mrs_err *e)
{
    return o->source && o->source->rest ? o->source->rest(o->source, bytes, e) : MRS_OK;
}

static uint64_t
alone_at(const struct mrsi_fold_one *o, size_t at)
{
    MRS_ASSERT(at < o->alone.n);
    uint64_t i;
    memcpy(&i, o->alone.p + at * sizeof i, sizeof i);
    return i;
}

/* Number of members before the i-th that were refused alone. */
static size_t
alone_before(const struct mrsi_fold_one *o, uint64_t i)
{
    size_t lo = 0, hi = o->alone.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        bool before = alone_at(o, mid) < i;
        lo = before ? mid + 1 : lo;
        hi = before ? hi : mid;
    }
    return lo;
}

static bool
was_alone(const struct mrsi_fold_one *o, size_t *at, uint64_t i)
{
    MRS_ASSERT(*at <= o->alone.n);
    bool is = *at < o->alone.n && alone_at(o, *at) == i;
    *at += is;
    return is;
}

/* Refuses the members [from, to), except those refused alone, with a reason. */
static enum mrs_status
refuse_members(struct mrsi_fold_one *o, uint64_t from, uint64_t to, const struct mrs_err *why, struct mrs_err *e)
{
    MRS_ASSERT(from <= to && to <= o->n_returned);
    enum mrs_status s = MRS_OK;
    o->reported = o->reported < from ? from : o->reported;
    for (size_t alone = alone_before(o, o->reported); s == MRS_OK && o->reported < to;) {
        s = rest(o, REFUSING, e);
        if (s == MRS_OK && !was_alone(o, &alone, o->reported)) {
            s = note_late(o, o->source->ordinal(o->source, o->reported), why, e);
        }
        o->reported += s == MRS_OK;
    }
    return s;
}

static enum mrs_status
pending_document(struct mrsi_fold_one *o, const struct mrsi_fold_pending *h, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(h->off <= o->filed + o->bytes.n);
    doc->n = (uint32_t)h->len;
    if (h->off >= o->filed) {
        doc->p = o->bytes.p + (h->off - o->filed);
        return MRS_OK;
    }
    mrs_buf_reset(&o->room);
    uint8_t *p = mrs_buf_take(&o->room, h->len);
    doc->p = p;
    enum mrs_status s = p ? mrs_read_at(o->file->fd, p, h->len, h->off, e) : mrs_buf_status(&o->room, e);
    bool good = s != MRS_OK || h->off >= o->foreign || mrsi_savepoint_is_doc(p, h->len);
    return good ? s : mrsi_state_damaged("documents of a group", e);
}

/* Writes a document without a duplicate `_id`; members: number of its members. */
static enum mrs_status
write_document(struct mrsi_fold_one *o, const struct mrsi_fold_pending *h, uint64_t source, uint64_t members,
               struct mrs_err *e)
{
    struct mrsi_step_outputs *sides = &o->f->sides;
    struct mrsi_row *row = mrsi_row(o->w, o->f->step, 1);
    struct mrsi_candidate c = {o->f->en->side[o->f->step][1], source, 0, false, true};
    struct mrs_view doc;
    bool write = false;
    enum mrs_status s = pending_document(o, h, &doc, e);
    MRS_THEN(s, mrsi_step_outputs_admit(sides, o->w, &o->out->lists, &c, &doc, &write, e));
    if (s == MRS_OK && write) {
        row->created++;
        mrsi_eased(row, h->eased, doc);
        mrs_arena_reset(&o->w->arena);
        s = mrsi_step_outputs_write(sides, o->w, o->out->outs, 1, doc, e);
    }
    row->placed += members;
    if (s == MRS_OK && !write && sides->ids.phase == MRSI_IDS_APPLY) {
        row->placed--; /* members are counted as placed here; the fates of its own documents are recorded */
    }
    return s == MRS_OK ? relieve(o, e) : s;
}

/* Its members begin with `from`. */
static enum mrs_status
one_document(struct mrsi_fold_one *o, const struct mrsi_fold_pending *h, uint64_t from, struct mrs_err *e)
{
    MRS_ASSERT(from <= h->end && h->end <= o->n_returned);
    uint64_t source = mrsi_source(0, o->out->first_doc + o->out->n_docs);
    const struct mrsi_rejected *rejected = mrsi_step_outputs_rejected(&o->f->sides, source);
    enum mrs_status s;
    if (rejected) {
        struct mrs_view doc;
        s = pending_document(o, h, &doc, e);
        MRS_THEN(s, mrsi_step_outputs_clash(&o->f->sides, o->w, rejected, mrs_doc_get(doc, "_id"), "conflicts",
                                            "several documents would have the same _id", e));
        if (s == MRS_SKIP) {
            struct mrs_err why = o->w->err;
            s = refuse_members(o, from, h->end, &why, e);
        }
    } else {
        s = write_document(o, h, source, h->end - from - (alone_before(o, h->end) - alone_before(o, from)), e);
    }
    o->out->n_docs += s == MRS_OK;
    return s;
}

static struct mrsi_fold_pending
pending_at(const struct mrsi_fold_one *o, uint64_t i)
{
    MRS_ASSERT(i < o->docs.n);
    struct mrsi_fold_pending h;
    memcpy(&h, o->docs.p + i * sizeof h, sizeof h);
    return h;
}

static enum mrs_status
release(struct mrsi_fold_one *o, struct mrs_err *e)
{
    MRS_ASSERT(o->docs.ended && (o->alone.ended || o->alone.n == 0));
    enum mrs_status s = MRS_OK;
    uint64_t from = o->released ? pending_at(o, o->released - 1).end : 0;
    while (s == MRS_OK && o->released < o->docs.n) {
        struct mrsi_fold_pending h = pending_at(o, o->released);
        s = rest(o, h.len, e);
        MRS_THEN(s, one_document(o, &h, from, e));
        from = h.end;
        o->released += s == MRS_OK;
    }
    size_t alone = alone_before(o, from);
    for (uint64_t i = from; s == MRS_OK && i < o->n_returned && o->f->sides.ids.phase != MRSI_IDS_COLLECT; i++) {
        if (!was_alone(o, &alone, i)) {
            mrsi_fates_add(&o->f->fates, o->source->ordinal(o->source, i), MRSI_FOLD_UNUSED);
        }
    }
    return s;
}

static void
attach(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out, struct mrsi_fold_source *source)
{
    MRS_ASSERT(o->live);
    o->w = w;
    o->out = out;
    o->source = source;
    o->ended = false;
    mrs_arena_reset(&w->arena);
    mrs_err_clear(&w->err);
}

void
mrsi_fold_group_begin(struct mrsi_fold_one *o)
{
    MRS_ASSERT(o->live);
    o->n_returned = o->filed = o->released = o->reported = o->foreign = 0;
    o->way = MRSI_FOLD_FEEDS;
    o->fails = false;
    mrsi_file_array_reset(&o->docs);
    mrsi_file_array_reset(&o->alone);
    mrs_buf_reset(&o->bytes);
    mrs_buf_reset(&o->made);
    if (o->named) { /* data of a savepoint does not change */
        mrsi_temp_drop(o->f->en, o->file);
        o->file = NULL;
        o->named = false;
    }
}

enum mrs_status
mrsi_fold_small_group(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                      const struct mrs_fold_small *x, struct mrs_err *e)
{
    const struct mrsi_fold *f = o->f;
    struct mrs_fold_put put = {put_document, o};
    void *work = mrsi_work_of(w, f->step, e);
    if (!work) {
        return MRS_DEAD;
    }
    mrsi_fold_group_begin(o);
    attach(o, w, out, NULL);
    o->n_returned = x->n;
    enum mrs_status s = f->ops->small_end(f->st->state, &w->ctx, work, x, &put);
    if (s != MRS_OK) { /* it did not fail when it was tried before */
        return mrsi_kernel_failed(w, s == MRS_SKIP ? MRS_FAIL : s, e);
    }
    s = mrsi_file_array_end(&o->docs, e);
    return s == MRS_OK ? release(o, e) : s;
}

static enum mrs_status
feed(struct mrsi_fold_one *o, struct mrs_err *e)
{
    MRS_ASSERT(o->way == MRSI_FOLD_FEEDS);
    struct mrsi_fold *f = o->f;
    struct mrs_members members = {.next = next_member, .refuse = refuse_member, .impl = o};
    struct mrs_fold_put put = {put_document, o};
    void *work = mrsi_work_of(o->w, f->step, e);
    members.more = o->source->more ? more_members : NULL;
    if (!work) {
        return MRS_DEAD;
    }
    members.from = (struct mrs_view){o->made.p, (uint32_t)o->made.n};
    mrsi_remarks_begin(o->w);
    enum mrs_status folded = f->ops->fold(f->st->state, &o->w->ctx, work, &members, &put);
    if (folded < MRS_SKIP) {
        return mrsi_kernel_failed(o->w, folded, e);
    }
    o->fails = folded == MRS_SKIP;
    if (o->fails) {
        o->why = o->w->err;
    }
    o->way = MRSI_FOLD_DRAINS;
    return MRS_OK;
}

/* Counts the members that the step did not read. */
static enum mrs_status
drain(struct mrsi_fold_one *o, struct mrs_err *e)
{
    MRS_ASSERT(o->way == MRSI_FOLD_DRAINS);
    struct mrs_members members = {.impl = o};
    struct mrs_view payload;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK) {
        s = next_member(&members, &payload, e);
    }
    s = s == MRS_END ? mrsi_file_array_end(&o->alone, e) : s;
    MRS_THEN(s, mrsi_file_array_end(&o->docs, e));
    o->way = s == MRS_OK ? MRSI_FOLD_ENDS : o->way;
    return s;
}

static enum mrs_status
advance(struct mrsi_fold_one *o, struct mrs_err *e)
{
    MRS_ASSERT(o->source);
    enum mrs_status s = o->way == MRSI_FOLD_FEEDS ? feed(o, e) : MRS_OK;
    if (s == MRS_OK && o->way == MRSI_FOLD_DRAINS) {
        s = drain(o, e);
    }
    if (s == MRS_OK) {
        s = o->fails ? refuse_members(o, 0, o->n_returned, &o->why, e) : release(o, e);
        mrs_err_clear(&o->w->err);
    }
    return s;
}

enum mrs_status
mrsi_fold_group_on(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                   struct mrsi_fold_source *source, struct mrs_err *e)
{
    attach(o, w, out, source);
    return advance(o, e);
}

enum mrs_status
mrsi_fold_group(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                struct mrsi_fold_source *source, struct mrs_err *e)
{
    mrsi_fold_group_begin(o);
    return mrsi_fold_group_on(o, w, out, source, e);
}
