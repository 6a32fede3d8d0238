/* SPDX-License-Identifier: Apache-2.0 */
/* bucket_enter.c - bucket: computes everything that depends on one reading alone: series, window, time, item,
 * accumulator arguments.
 *
 * This runs on any thread and before the sort; fold only concatenates bytes. A failed argument is passed on to fold,
 * because it is the bucket that fails, not the reading. */
#include "bucket.h"
#include "mongoreshape/value.h"
#include "mongoreshape/fold_ops.h"

/* ---- work ---- */
static void
make_ready(const struct mrsi_bucket *s, struct bucket_work *w, struct mrs_ctx *c)
{
    MRS_ASSERT(!w->ready);
    struct mrs_buf *const bufs[] = {&w->rest, &w->items, &w->head,  &w->last,
                                    &w->doc,  &w->other, &w->saved, &w->raw};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        mrs_buf_init(bufs[i], c->mem, BUCKET_BUF_MAX);
    }
    mrs_buf_init(&w->plain.names, c->mem, MRS_DOC_READ_MAX + 8u * BUCKET_LAYOUT);
    mrs_buf_init(&w->plain.known.heads, c->mem, MRS_TEMPLATE_MAX + 4u * BUCKET_LAYOUT + 8);
    mrs_buf_init(&w->tpl.heads, c->mem, MRS_TEMPLATE_MAX + 4u * BUCKET_LAYOUT);
    mrs_arena_init_as(&w->arena, c->arena);
    w->n_acc = s->n_set;
    w->ready = true;
}

void
mrsi_bucket_work_start(const struct mrsi_bucket *s, struct bucket_work *w, struct mrs_ctx *c)
{
    if (!w->ready) {
        make_ready(s, w, c);
    }
}

void
mrsi_bucket_work_clear(struct mrs_ctx *c, void *work)
{
    struct bucket_work *w = work;
    struct mrs_buf *const bufs[] = {&w->rest, &w->items, &w->head,  &w->last,
                                    &w->doc,  &w->other, &w->saved, &w->raw};
    if (!w->ready) {
        return;
    }
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        mrs_buf_clear(bufs[i]);
    }
    mrs_buf_clear(&w->plain.names);
    mrs_buf_clear(&w->plain.known.heads);
    mrs_buf_clear(&w->tpl.heads);
    mrs_arena_clear(&w->arena);
    for (uint32_t i = 0; w->acc && i < w->n_acc; i++) {
        mrs_acc_state_free(w->acc[i]);
    }
    mrs_free(c->mem, w->acc);
    mrs_free(c->mem, w->failed);
    w->acc = NULL;
    w->failed = NULL;
    w->ready = false;
}

/* ---- series, window, order ---- */
/* Missing and undefined compare equal as keys, but are two series. */
static void
put_key(struct mrs_buf *key, struct mrs_val v)
{
    mrs_key_append(key, v, false);
    if (v.type == MRS_MISSING || v.type == MRS_UNDEFINED) {
        mrs_buf_byte(key, v.type == MRS_UNDEFINED);
    }
}

static enum mrs_status
window(const struct mrsi_bucket *s, struct mrs_ctx *c, struct bucket_work *w, struct mrs_val time)
{
    MRS_ASSERT(s->every);
    int64_t ms = mrs_val_i64(time), end;
    if (ms >= w->from && ms < w->to) {
        w->start = w->from;
        return MRS_OK;
    }
    if (!mrs_window_start(s->every, ms, &w->start)) {
        return mrsi_step_refuse(c, "every", "its window begins at no date that can be stored");
    }
    if (s->end && !mrs_window_end(s->every, ms, &end)) {
        return mrsi_step_refuse(c, "end", "its window ends at no date that can be stored");
    }
    if (!mrs_window_whole(s->every, ms, &w->from, &w->to)) {
        w->from = w->to = 0;
    }
    return MRS_OK;
}

/* The time of the reading, if the fast path has not set it. *takes false: the reading has no time and stays in
 * `from`. */
static enum mrs_status
time_of(const struct mrsi_bucket *s, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_val *time, bool *takes)
{
    enum mrs_status st = MRS_OK;
    if (s->time && !s->plain) {
        st = mrsi_step_skip(c, mrs_expr_eval(s->time, ev, time), "time");
    }
    if (st != MRS_OK || !s->every || time->type == MRS_DATE) {
        return st;
    }
    if (s->untimed == BUCKET_UNTIMED_REFUSE) {
        return mrsi_step_refuse(c, "untimed", "its time is no date: %s", mrs_type_name(time->type));
    }
    *takes = false;
    return MRS_OK;
}

/* One `by` field of the fast path. */
static struct mrs_val
plain_by(const struct mrsi_bucket *s, struct mrs_view doc, uint32_t i)
{
    const struct bucket_template *tpl = &s->tpl[s->value[i]];
    struct mrs_elem e;
    mrs_doc_find(doc, tpl->name, tpl->len, &e);
    return e.v;
}

/* The fields that identify the series, as a document. */
static enum mrs_status
put_by(const struct mrsi_bucket *s, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_buf *by)
{
    const struct mrsi_fields *f = &s->by.fields;
    struct mrsi_shaping how = {.c = c};
    if (s->by.nested) {
        return mrsi_shape_run(&s->by, &how, ev->root, by);
    }
    size_t at = mrsi_put_open(by);
    for (uint32_t i = 0; i < f->n; i++) {
        struct mrs_val v = s->plain ? plain_by(s, ev->root, i) : mrs_missing();
        enum mrs_status st = s->plain ? MRS_OK : mrs_expr_eval(f->expr[i], ev, &v);
        if (st != MRS_OK) {
            if (st == MRS_FAIL && c->err && !c->err->where[0]) {
                mrs_err_at(c->err, "by.%s", f->path[i].text);
            }
            return st == MRS_FAIL ? MRS_SKIP : st;
        }
        if (v.type != MRS_MISSING) {
            mrsi_put_elem(by, f->path[i].part[0].name, f->path[i].part[0].len, v);
        }
    }
    mrsi_put_close(by, at);
    return mrsi_buf_end(by, at, c, "by");
}

static enum mrs_status
put_shared(const struct mrsi_bucket *s, struct mrs_ctx *c, struct bucket_work *w, struct mrs_eval *ev,
           struct mrs_buf *shared)
{
    MRS_ASSERT(w->ready);
    struct mrs_view none = mrs_empty_doc();
    enum mrs_status st = MRS_OK;
    if (s->by.fields.n) {
        st = put_by(s, c, ev, shared);
    } else {
        mrs_buf_put(shared, none.p, none.n);
    }
    if (st == MRS_OK && s->every) {
        mrs_buf_put(shared, &w->start, sizeof w->start);
    }
    return st == MRS_OK ? mrsi_buf_end(shared, 0, c, "by") : st;
}

/* Completes the key of a shared record on the fast path: the values of the series, which are self-delimiting, and the
 * start of the window. */
static enum mrs_status
put_name(const struct mrsi_bucket *s, struct mrs_ctx *c, const struct bucket_work *w, struct mrs_buf *name)
{
    for (uint32_t i = 0; !w->plain.named && i < s->by.fields.n; i++) {
        struct mrs_val v = mrsi_bucket_value(s, &w->plain, i);
        uint8_t *at = mrs_buf_take(name, 1u + v.n);
        if (at) {
            *at = v.type;
            mrs_copy_short(at + 1, v.p, v.n);
        }
    }
    mrs_buf_put(name, &w->start, sizeof w->start);
    return mrsi_buf_end(name, 0, c, "by");
}

enum mrs_status
mrsi_bucket_shared(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_view name,
                   struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_buf_is_sound(out));
    const struct mrsi_bucket *s = state;
    struct bucket_work *w = work;
    if (!s->plain) {
        mrs_buf_put(out, name.p, name.n);
        return mrsi_buf_end(out, 0, c, "by");
    }
    struct mrs_eval ev = mrsi_step_eval(c, doc);
    mrsi_bucket_put_heads(s, c, &w->plain, doc, out);
    return put_shared(s, c, w, &ev, out);
}

/* The part of a shared record before the `by` fields. */
static size_t
heads_bytes(const struct mrsi_bucket *s, struct mrs_view shared)
{
    return s->plain ? 8u + mrs_le32(shared.p + 4) : 0;
}

/* The `by` fields and the window, each field appended by put. */
static enum mrs_status
put_series(const struct mrsi_bucket *s, struct mrs_ctx *c, void (*put)(struct mrs_buf *out, struct mrs_val v),
           struct mrs_view shared, struct mrs_buf *out)
{
    MRS_ASSERT(shared.p && mrs_buf_is_sound(out));
    const struct mrsi_fields *f = &s->by.fields;
    const uint8_t *at = shared.p + heads_bytes(s, shared);
    struct mrs_view by = {at, mrs_le32(at)};
    int64_t start;
    uint8_t room[16];
    for (uint32_t i = 0; i < f->n; i++) {
        put(out, mrs_path_get(&f->path[i], by));
    }
    if (s->every) {
        memcpy(&start, at + by.n, sizeof start);
        mrs_key_append(out, mrs_make_i64(room, start, MRS_DATE), false);
    }
    return mrsi_buf_end(out, 0, c, "by");
}

enum mrs_status
mrsi_bucket_group(const void *state, struct mrs_ctx *c, void *work, struct mrs_view shared, struct mrs_buf *out)
{
    (void)work;
    return put_series(state, c, put_key, shared, out);
}

enum mrs_status
mrsi_bucket_place(const void *state, struct mrs_ctx *c, struct mrs_view shared, struct mrs_buf *out)
{
    return put_series(state, c, mrsi_place_append, shared, out);
}

/* ---- the item ---- */
static enum mrs_status
take_out(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
         struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    (void)arg;
    (void)put;
    (void)raw;
    (void)e;
    *verdict = site->blocked ? MRS_EDIT_KEEP : MRS_EDIT_REMOVE;
    return MRS_OK;
}

/* The reading without the fields that `by` has unchanged. */
static enum mrs_status
without_by(const struct mrsi_bucket *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out)
{
    struct mrsi_shaping how = {.c = c};
    struct mrs_edit_run run = {.fn = take_out};
    bool changed;
    if (!s->less) {
        return mrsi_shape_run(&s->rest, &how, doc, out);
    }
    return mrsi_step_skip(c, mrs_edit_run(s->less, &run, doc, out, &changed, c->err), "by");
}

static enum mrs_status
make_item(const struct mrsi_bucket *s, struct mrs_ctx *c, struct bucket_work *w, struct mrs_view doc,
          struct mrs_buf *out)
{
    struct mrsi_shaping how = {.c = c, .errors = (enum mrsi_errors)s->errors};
    enum mrs_status st = MRS_OK;
    bool less = s->omitted.n && !s->shape.fields.present, shaped = mrsi_shape_is_set(&s->shape) && !s->both;
    if (less) {
        mrs_buf_reset(&w->rest);
        st = without_by(s, c, doc, shaped ? &w->rest : out);
        doc = shaped && st == MRS_OK ? mrsi_buf_view(&w->rest, 0) : doc;
    }
    if (st == MRS_OK && shaped) {
        st = mrsi_shape_run(&s->shape, &how, doc, out);
    } else if (st == MRS_OK && !less) {
        mrs_buf_put(out, doc.p, doc.n);
    }
    return st;
}

/* Is the item nested deeper than a bucket can store? */
static enum mrs_status
check_depth(const struct mrsi_bucket *s, struct mrs_ctx *c, struct bucket_work *w, struct mrs_view doc,
            const struct mrs_buf *payload)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_view item = mrsi_buf_view(payload, s->tail ? 4 : 0);
    if ((s->plain ? doc.n : item.n) <= 7u * (MRS_DEPTH_MAX - 2)) {
        return MRS_OK;
    }
    if (s->plain && mrs_doc_depth(doc) > MRS_DEPTH_MAX - 2) { /* the depth may be that of an omitted field */
        mrs_buf_reset(&w->other);
        MRS_TRY(make_item(s, c, w, doc, &w->other));
        item = mrsi_buf_view(&w->other, 0);
    } else if (s->plain) {
        return MRS_OK;
    }
    return mrs_doc_depth(item) <= MRS_DEPTH_MAX - 2
               ? MRS_OK
               : mrsi_step_refuse(c, "items", "the bucket would be nested more than %d deep", MRS_DEPTH_MAX);
}

static enum mrs_status
put_item(const struct mrsi_bucket *s, struct mrs_ctx *c, struct bucket_work *w, struct mrs_view doc,
         struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    enum mrs_status st = MRS_OK;
    if (!s->plain) {
        st = make_item(s, c, w, doc, out);
    } else if (w->plain.gap) {
        st = mrsi_name_set_check(&w->plain.seen, c, doc);
    }
    MRS_THEN(st, mrsi_buf_end(out, 0, c, "items"));
    if (st == MRS_OK && s->tail) {
        mrs_put32(out->p, (uint32_t)out->n - 4);
    }
    return st;
}

/* ---- arguments ---- */
static void
put_val(struct mrs_buf *out, uint8_t type, const void *p, uint32_t n)
{
    uint8_t size[4];
    mrs_put32(size, n);
    mrs_buf_byte(out, type);
    mrs_buf_put(out, size, 4);
    mrs_buf_put(out, p, n);
}

static enum mrs_status
put_args(const struct mrsi_bucket *s, struct mrs_ctx *c, const struct mrs_eval *of, struct mrs_buf *out)
{
    for (uint32_t i = 0; i < s->n_set && !out->bad; i++) {
        struct mrs_err e;
        struct mrs_val v;
        struct mrs_eval ev = *of;
        if (!s->set[i].acc) {
            continue;
        }
        mrs_err_clear(&e);
        ev.err = &e;
        enum mrs_status st = mrs_acc_argument(s->set[i].acc, &ev, &v);
        if (st == MRS_DEAD) {
            return mrs_err_memory(c->err, 0);
        }
        mrsi_total_remark(c, i, s->set[i].acc, st == MRS_OK ? v : mrs_null());
        if (st != MRS_OK) {
            put_val(out, BUCKET_FAILED, e.msg, (uint32_t)strlen(e.msg) + 1);
        } else {
            put_val(out, v.type, v.p, v.n);
        }
    }
    return MRS_OK;
}

/* ---- enter ---- */
static enum mrs_status
put_entry(const struct mrsi_bucket *s, struct mrs_ctx *c, struct bucket_work *w, struct mrs_eval *ev,
          struct mrs_val time, struct mrs_fold_entry *out)
{
    w->start = 0;
    enum mrs_status st = s->every ? window(s, c, w, time) : MRS_OK;
    MRS_THEN(st, s->plain ? put_name(s, c, w, &out->shared) : put_shared(s, c, w, ev, &out->shared));
    if (st == MRS_OK && s->time) {
        mrs_key_append(&out->order, time, false);
        st = mrsi_buf_end(&out->order, 0, c, "time");
    }
    MRS_THEN(st, put_item(s, c, w, ev->root, &out->payload));
    MRS_THEN(st, check_depth(s, c, w, ev->root, &out->payload));
    if (st == MRS_OK && s->timed) {
        put_val(&out->payload, time.type, time.p, time.n);
    }
    st = st == MRS_OK && s->n_set ? put_args(s, c, ev, &out->payload) : st;
    return st == MRS_OK ? mrsi_buf_end(&out->payload, 0, c, "set") : st;
}

enum mrs_status
mrsi_bucket_enter(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_fold_entry *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_bucket *s = state;
    struct bucket_work *w = work;
    struct mrs_eval_fields room;
    struct mrs_val time = mrs_missing();
    bool takes;
    mrsi_bucket_work_start(s, w, c);
    out->takes_part = false;
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &takes);
    if (st != MRS_OK || !takes) {
        return st;
    }
    struct mrs_eval ev = mrsi_step_eval(c, doc);
    if (s->tail) {
        mrs_buf_put(&out->payload, "\0\0\0\0", 4); /* the length of the rest */
    }
    if (s->plain) {
        mrsi_bucket_plain(s, c, &ev, &room, &w->plain, &out->shared, &out->payload);
        st = mrsi_buf_end(&out->shared, 0, c, "items");
        MRS_THEN(st, mrsi_buf_end(&out->payload, 0, c, "items"));
        time = mrsi_bucket_value(s, &w->plain, s->by.fields.n);
    }
    if (!ev.fields && (!s->plain || s->n_set)) {
        mrsi_step_fields(c, &ev, &room);
    }
    MRS_THEN(st, time_of(s, c, &ev, &time, &takes));
    if (st != MRS_OK || !takes) {
        return st;
    }
    out->takes_part = true;
    return put_entry(s, c, w, &ev, time, out);
}

/* ---- read back ---- */
struct bucket_shared
mrsi_bucket_read_shared(const struct mrsi_bucket *s, struct mrs_view shared)
{
    MRS_ASSERT(shared.p);
    struct bucket_shared k = {.start = 0};
    if (s->plain) {
        k.n_heads = mrs_le32(shared.p);
        k.heads = (struct mrs_view){shared.p + 8, mrs_le32(shared.p + 4)};
    }
    shared.p += heads_bytes(s, shared);
    k.by = (struct mrs_view){shared.p, mrs_le32(shared.p)};
    if (s->every) {
        memcpy(&k.start, shared.p + k.by.n, 8);
    }
    return k;
}

struct bucket_reading
mrsi_bucket_read(const struct mrsi_bucket *s, const struct bucket_shared *shared, struct mrs_view payload)
{
    MRS_ASSERT(payload.p);
    struct bucket_reading r = {.shared = shared, .item = payload, .time = mrs_missing(), .packed = s->plain};
    const uint8_t *at = payload.p, *end = payload.p + payload.n;
    if (s->tail) {
        r.item = (struct mrs_view){at + 4, mrs_le32(at)};
    }
    r.item_size = r.item.n;
    if (s->plain) {
        r.item_size += 5 + shared->heads.n - 4 * shared->n_heads;
    }
    at = r.item.p + r.item.n;
    if (s->timed && at < end) {
        r.time = (struct mrs_val){at + 5, mrs_le32(at + 1), *at};
        at += 5 + r.time.n;
    }
    r.args = at;
    r.n_args = (size_t)(end - at);
    return r;
}
