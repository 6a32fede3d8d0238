/* SPDX-License-Identifier: Apache-2.0 */
/* bucket_fold.c - bucket: turns the sorted readings of one series and window into one or more buckets.
 *
 * A bucket ends before the first reading with which it would exceed `max` readings or 16 MiB. The size of items is
 * known exactly, and accumulators grow at most by their arguments, but expressions of `set` and `id` may produce
 * anything. So the complete bucket is built and measured, but only when readings may have used half of the space that
 * the last measurement left. Near the end each reading is tried alone, with the accumulators saved before. */
#include "bucket.h"
#include "mongoreshape/value.h"
#include "mongoreshape/fold_ops.h"

#define MARGIN 512u /* by which values of fixed size may grow */
enum { TOGETHER = 64 }; /* readings that are appended in one piece */
#define ID_ROOM 128u /* space before the bucket for an `_id` that is computed from the finished bucket */

struct fold {
    const struct mrsi_bucket *s;
    struct mrs_ctx *c;
    struct bucket_work *w;
    const struct mrs_fold_put *put;
    struct mrsi_shape_items items;
    size_t at;           /* offset of the bucket in w->doc */
    int64_t part;
    int64_t start;       /* of the window */
    size_t items_name, end_name; /* lengths */
    uint64_t n;          /* readings of the bucket; 0: none is open */
    size_t known;        /* its size at the last measurement, or without readings */
    size_t grown;        /* bytes added since then */
    size_t factor;       /* upper bound of the growth of the bucket for each byte added */
    bool values_only;    /* members of this shared record are items of one size, and nothing else is needed */
    uint8_t id[12];
};

/* ---- start ---- */
static enum mrs_status
accumulators(struct fold *f)
{
    MRS_ASSERT(f->s->n_set == 0 || f->s->set);
    const struct mrsi_bucket *s = f->s;
    struct bucket_work *w = f->w;
    if (!w->acc) {
        w->acc = mrs_zalloc(f->c->mem, (s->n_set + 1u) * sizeof *w->acc);
    }
    if (!w->failed) {
        w->failed = mrs_zalloc(f->c->mem, s->n_set + 1u);
    }
    if (!w->acc || !w->failed) {
        return mrs_err_memory(f->c->err, s->n_set);
    }
    for (uint32_t i = 0; i < s->n_set; i++) {
        enum mrs_status st = MRS_OK;
        if (s->set[i].acc && !w->acc[i]) {
            st = mrs_acc_state_new(s->set[i].acc, f->c->mem, BUCKET_BUF_MAX, &w->acc[i], f->c->err);
            w->shared.most = 2u * MRS_DOC_READ_MAX;
        }
        if (w->acc[i]) {
            mrs_acc_share(w->acc[i], &w->shared);
        }
        if (st != MRS_OK) {
            return mrsi_step_skip(f->c, st, s->set[i].where);
        }
    }
    return MRS_OK;
}

static void
put_elem(struct mrs_buf *b, const char *name, struct mrs_val v)
{
    if (v.type != MRS_MISSING) {
        mrsi_put_elem(b, name, (uint32_t)strlen(name), v);
    }
}

static enum mrs_status
new_id(struct fold *f, const struct bucket_reading *r)
{
    const struct mrsi_bucket *s = f->s;
    uint8_t room[16];
    int64_t secs = r->shared->start / 1000 - (r->shared->start % 1000 < 0);
    struct mrs_new_id in = {s->into.ns, s->from.ns, mrs_view_val(r->shared->by), mrs_null(), &f->part, 1, 0};
    if (s->every) {
        in.path = mrs_make_i64(room, r->shared->start, MRS_DATE);
        in.time_secs = secs < 0 ? 0 : secs > UINT32_MAX ? UINT32_MAX : (uint32_t)secs;
    }
    return mrsi_step_skip(f->c, mrs_id_make(&in, &f->w->raw, f->id, f->c->err), "id");
}

/* An empty bucket for the series and window (or first time) of this reading. */
static enum mrs_status
begin(struct fold *f, const struct bucket_reading *r)
{
    const struct mrsi_bucket *s = f->s;
    struct bucket_work *w = f->w;
    uint8_t room[16];
    enum mrs_status st = s->id ? MRS_OK : new_id(f, r);
    mrs_buf_reset(&w->items);
    mrs_buf_reset(&w->head);
    mrs_buf_reset(&w->last);
    mrsi_items_open(&f->items, &w->items);
    if (!s->id) {
        put_elem(&w->head, "_id", (struct mrs_val){f->id, 12, MRS_OBJECTID});
    }
    mrs_buf_put(&w->head, r->shared->by.p + 4, r->shared->by.n - 5);
    if (s->start) {
        put_elem(&w->head, s->start, s->every ? mrs_make_i64(room, r->shared->start, MRS_DATE) : r->time);
    }
    for (uint32_t i = 0; i < s->n_set; i++) {
        w->failed[i] = false;
        if (w->acc[i]) {
            mrs_acc_reset(w->acc[i]);
        }
    }
    f->n = 0;
    f->start = r->shared->start;
    f->known = w->head.n + f->items_name + 16 + s->n_set * 64u;
    f->grown = 0;
    f->factor = s->has_exprs ? 16 : 1;
    return st == MRS_OK ? mrsi_buf_end(&w->head, 0, f->c, NULL) : st;
}

/* ---- build and measure ---- */
/* Appends v as the next element; v may lie in the document itself. */
static void
append(struct mrs_buf *doc, const struct mrs_part *name, struct mrs_val v)
{
    bool inside = v.p && v.p >= doc->p && v.p < doc->p + doc->n;
    size_t off = inside ? (size_t)(v.p - doc->p) : 0;
    mrs_buf_grow(doc, (size_t)name->len + v.n + 3);
    if (inside && !doc->bad) {
        v.p = doc->p + off;
    }
    mrsi_put_elem(doc, name->name, name->len, v);
}

static enum mrs_status
put_nested(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
           struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    (void)raw;
    (void)e;
    *verdict = site->blocked ? MRS_EDIT_KEEP : MRS_EDIT_PUT;
    *put = *(const struct mrs_val *)arg;
    return MRS_OK;
}

/* Appends one entry of `set` to the open document: its terminator is not written yet. */
static enum mrs_status
put_set(struct fold *f, uint32_t i)
{
    MRS_ASSERT(i < f->s->n_set);
    const struct bucket_set *set = &f->s->set[i];
    struct bucket_work *w = f->w;
    struct mrs_val v = mrs_missing();
    struct mrs_err local;
    bool refuses = f->s->errors == MRSI_ERRORS_REFUSE, changed;
    enum mrs_status st = MRS_FAIL;
    mrs_err_clear(&local);
    mrsi_put_close(&w->doc, f->at);
    if (w->doc.bad) {
        return MRS_OK;
    }
    if (!w->failed[i] && set->acc) {
        st = mrs_acc_value(w->acc[i], &w->arena, &v, refuses ? f->c->err : &local);
    } else if (!w->failed[i]) {
        struct mrs_eval ev = {.arena = &w->arena, .root = mrsi_buf_view(&w->doc, f->at)};
        ev.err = refuses ? f->c->err : &local;
        st = mrs_expr_eval(set->expr, &ev, &v);
    }
    if (st == MRS_DEAD) {
        return mrs_err_memory(f->c->err, 0);
    }
    if (st != MRS_OK) {
        if (refuses) {
            return mrsi_step_skip(f->c, st, set->where);
        }
        mrsi_step_eased(f->c, f->s->shape.fields.n + i);
        v = f->s->errors == MRSI_ERRORS_NULL ? mrs_null() : mrs_missing();
    }
    if (set->edit && v.type != MRS_MISSING) {
        struct mrs_edit_run how = {.fn = put_nested, .arg = &v, .visit_missing = true};
        mrs_buf_reset(&w->other);
        st = mrs_edit_run(set->edit, &how, mrsi_buf_view(&w->doc, f->at), &w->other, &changed, f->c->err);
        if (st != MRS_OK) {
            return mrsi_step_skip(f->c, st, set->where);
        }
        struct mrs_buf swap = w->doc;
        w->doc = w->other;
        w->other = swap;
        f->at = 0;
    }
    w->doc.n--; /* open again */
    if (!set->edit && v.type != MRS_MISSING) {
        append(&w->doc, &set->path.part[0], v);
    }
    return MRS_OK;
}

/* Inserts an `_id` in the space before the bucket; id may lie in the bucket. */
static void
put_in_room(struct fold *f, struct mrs_val id)
{
    static const uint8_t name[] = "_id";
    uint8_t *elem = f->w->doc.p + f->at + 4 - (1 + sizeof name + id.n);
    if (id.n) {
        memmove(elem + 1 + sizeof name, id.p, id.n);
    }
    *elem = id.type;
    memcpy(elem + 1, name, sizeof name);
    f->at = (size_t)(elem - 4 - f->w->doc.p);
    mrs_put32(elem - 4, (uint32_t)(f->w->doc.n - f->at));
}

static void
put_in_copy(struct fold *f, struct mrs_val id)
{
    struct bucket_work *w = f->w;
    mrs_buf_reset(&w->other);
    mrsi_put_open(&w->other);
    put_elem(&w->other, "_id", id);
    mrs_buf_put(&w->other, w->doc.p + f->at + 4, w->doc.n - f->at - 4);
    if (!w->other.bad) {
        mrs_put32(w->other.p, (uint32_t)w->other.n);
    }
    struct mrs_buf swap = w->doc;
    w->doc = w->other;
    w->other = swap;
    f->at = 0;
}

/* With `id`: inserts the `_id`, computed from the finished bucket. */
static enum mrs_status
put_id(struct fold *f)
{
    struct bucket_work *w = f->w;
    struct mrs_eval ev = {.arena = &w->arena, .root = mrsi_buf_view(&w->doc, f->at), .err = f->c->err};
    struct mrs_val id;
    MRS_TRY(mrsi_step_skip(f->c, mrs_expr_eval(f->s->id, &ev, &id), "id"));
    const char *fault = mrsi_step_id_fault(id);
    if (fault) {
        return mrsi_step_refuse(f->c, "id", "%s cannot be an _id", fault);
    }
    if (id.n <= ID_ROOM && f->at > 0) {
        put_in_room(f, id);
    } else {
        put_in_copy(f, id);
    }
    return MRS_OK;
}

/* Builds the current bucket in w->doc; last: its last time, if timed. *size SIZE_MAX: far too large. */
static enum mrs_status
tpl(struct fold *f, struct mrs_val last, size_t *size)
{
    const struct mrsi_bucket *s = f->s;
    struct bucket_work *w = f->w;
    uint8_t room[16];
    int64_t end;
    enum mrs_status st = MRS_OK;
    mrs_arena_reset(&w->arena);
    mrs_buf_reset(&w->doc);
    if (s->id) {
        mrs_buf_take(&w->doc, ID_ROOM + 8);
    }
    f->at = mrsi_put_open(&w->doc);
    mrs_buf_put(&w->doc, w->head.p, w->head.n);
    if (s->end && s->every && mrs_window_end(s->every, f->start, &end)) {
        put_elem(&w->doc, s->end, mrs_make_i64(room, end, MRS_DATE));
    } else if (s->end && !s->every) {
        put_elem(&w->doc, s->end, last);
    }
    mrsi_items_close(&f->items);
    put_elem(&w->doc, s->items, mrsi_items_val(&f->items));
    w->items.n--; /* open again */
    for (uint32_t i = 0; i < s->n_set && st == MRS_OK; i++) {
        st = put_set(f, i);
    }
    if (st == MRS_OK) {
        mrsi_put_close(&w->doc, f->at);
    }
    if (st == MRS_OK && s->id && !w->doc.bad) {
        st = put_id(f);
    }
    if (st == MRS_OK && w->doc.bad == 1) {
        st = mrs_err_memory(f->c->err, 0);
    }
    *size = w->doc.bad ? SIZE_MAX : w->doc.n - f->at;
    return st;
}

/* ---- readings ---- */
static enum mrs_status
save(const struct fold *f, struct mrs_buf *out)
{
    for (uint32_t i = 0; i < f->s->n_set; i++) {
        struct mrs_acc_state *acc = f->w->acc[i];
        enum mrs_status st = acc ? mrsi_step_put_acc(acc, f->w->failed[i], out, f->c->err) : MRS_OK;
        if (st != MRS_OK) {
            return mrsi_step_skip(f->c, st, f->s->set[i].where);
        }
    }
    return mrsi_buf_end(out, 0, f->c, "set");
}

static enum mrs_status
restore(struct fold *f, struct mrs_view *from)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < f->s->n_set; i++) {
        if (f->w->acc[i]) {
            st = mrsi_step_get_acc(f->w->acc[i], &f->w->failed[i], from, f->c->err);
        }
    }
    return st;
}

/* Adds one reading to the accumulators. *over: they exceed the limit. */
static enum mrs_status
feed(struct fold *f, const struct bucket_reading *r, bool *over)
{
    MRS_ASSERT(f->w->n_acc == 0 || f->w->acc);
    const uint8_t *at = r->args;
    bool refuses = f->s->errors == MRSI_ERRORS_REFUSE;
    for (uint32_t i = 0; i < f->s->n_set; i++) {
        struct mrs_err e;
        enum mrs_status st = MRS_OK;
        if (!f->w->acc[i]) {
            continue;
        }
        struct mrs_val v = {at + 5, mrs_le32(at + 1), *at};
        at += 5 + v.n;
        mrs_err_clear(&e);
        if (v.type == BUCKET_FAILED) {
            st = mrs_err_set(&e, MRS_FAIL, MRS_E_EXPR, "%s", (const char *)v.p);
        } else if (!f->w->failed[i]) {
            st = mrs_acc_feed(f->w->acc[i], v, &e);
        }
        if (st == MRS_DEAD) {
            return mrs_err_memory(f->c->err, 0);
        }
        *over = *over || e.code == MRS_E_LIMIT;
        f->w->failed[i] = f->w->failed[i] || st != MRS_OK;
        if (st != MRS_OK && e.code != MRS_E_LIMIT && refuses) {
            return mrsi_step_skip(f->c, mrs_err_set(f->c->err, MRS_FAIL, e.code, "%s", e.msg), f->s->set[i].where);
        }
    }
    return MRS_OK;
}

static void
put_last(struct mrs_buf *last, struct mrs_val time)
{
    mrs_buf_reset(last);
    mrs_buf_byte(last, time.type);
    mrs_buf_put(last, time.p, time.n);
}

/* Size of the bucket without `set` and `id`. */
static size_t
plain_size(const struct fold *f, struct mrs_val last)
{
    size_t end = f->s->every ? 8 : last.n;
    end = f->s->end && (f->s->every || last.type != MRS_MISSING) ? f->end_name + 2 + end : 0;
    return 4 + f->w->head.n + end + f->items_name + 2 + f->w->items.n + 1 + 1;
}

/* Adds a reading whose item is in the array already, and measures the complete bucket. *fits false: all as before,
 * except the array. */
static enum mrs_status
try_it(struct fold *f, const struct bucket_reading *r, bool *fits)
{
    size_t size = SIZE_MAX;
    bool over = false;
    mrs_buf_reset(&f->w->saved);
    enum mrs_status st = save(f, &f->w->saved);
    MRS_THEN(st, feed(f, r, &over));
    st = st == MRS_OK && !over ? tpl(f, r->time, &size) : st;
    *fits = st == MRS_OK && size <= MRS_DOC_MAX;
    if (st == MRS_OK && !*fits) {
        struct mrs_view from = mrsi_buf_view(&f->w->saved, 0);
        return mrsi_step_skip(f->c, restore(f, &from), "set");
    }
    size_t plain = plain_size(f, r->time);
    f->known = size;
    f->grown = 0;
    f->factor = f->s->has_exprs ? 1 + (2 * (size - plain) + plain - 1) / plain : 1;
    return st;
}

/* Reserves an item of this size in the array and writes its name; NULL: out of memory. */
static inline uint8_t *
open_item(struct fold *f, size_t size)
{
    struct mrs_buf *b = f->items.buf;
    size_t head = (size_t)f->items.name_len + 2;
    mrs_buf_grow(b, head + size + BUCKET_CHUNK);
    if (b->bad) {
        return NULL;
    }
    uint8_t *at = b->p + b->n;
    b->n += head + size;
    *at = MRS_DOCUMENT;
    memcpy(at + 1, f->items.name, sizeof f->items.name); /* the bytes after the name are written next */
    mrsi_items_step(&f->items);
    return at + head;
}

static void
add_item(struct fold *f, const struct bucket_reading *r)
{
    uint8_t *at = open_item(f, r->item_size);
    if (at) {
        mrsi_bucket_put_item(r, &f->w->tpl, at);
    }
}

/* Adds a reading to a bucket that may be near the limit; *fits false: all as before. */
static enum mrs_status
take_last(struct fold *f, const struct bucket_reading *r, bool *fits)
{
    struct mrsi_shape_items before = f->items;
    size_t n = f->w->items.n;
    add_item(f, r);
    enum mrs_status st = f->w->items.bad ? mrs_err_memory(f->c->err, r->item_size) : try_it(f, r, fits);
    if (st == MRS_OK && !*fits) {
        f->items = before;
        f->w->items.n = n;
    }
    return st;
}

/* Adds a reading that certainly fits. */
static enum mrs_status
take_more(struct fold *f, const struct bucket_reading *r, size_t more)
{
    MRS_ASSERT(more > 0);
    bool over = false;
    add_item(f, r);
    f->grown += more;
    if (f->w->items.bad) {
        return mrs_err_memory(f->c->err, r->item_size);
    }
    enum mrs_status st = f->s->n_set ? feed(f, r, &over) : MRS_OK;
    if (st == MRS_OK && over) {
        st = mrsi_step_refuse(f->c, "set", "accumulators hold more than a document can");
    }
    return st;
}

/* Minimum number of readings of this shared record that the open bucket takes without a measurement. */
static uint64_t
sure_of(const struct fold *f)
{
    const size_t item = f->w->tpl.size + sizeof f->items.name + 1u, plain = plain_size(f, mrs_missing());
    const size_t known = (f->known + f->grown * f->factor) + MARGIN;
    uint64_t n = f->s->max - f->n, fit;
    if (!f->values_only || !f->n || plain > MRS_DOC_MAX || (f->s->id && known > MRS_DOC_MAX)) {
        return 0;
    }
    fit = (MRS_DOC_MAX - plain) / item;
    n = n < fit ? n : fit;
    fit = f->s->id ? (MRS_DOC_MAX - known) / f->factor / item : n;
    return n < fit ? n : fit;
}

/* Writes items while their indexes differ only in the last digit; returns their number. at: where they go. An index in
 * 16 MiB has at most seven digits, so with its NUL it is a number of eight bytes. */
static uint32_t
write_items(const struct bucket_item_template *tpl, struct mrsi_shape_items *items, const struct mrs_view *v,
            uint32_t n, uint8_t **at)
{
    MRS_ASSERT(v || n == 0);
    const size_t head = (size_t)items->name_len + 2, item = head + tpl->size;
    char *digit = &items->name[items->name_len - 1];
    const uint32_t left = (uint32_t)('9' - *digit) + 1;
    uint64_t name, one = 1ull << 8 * (items->name_len - 1);
    uint8_t *to = *at;
    memcpy(&name, items->name, sizeof name);
    n = n < left ? n : left;
    for (uint32_t i = 0; i < n; i++, to += item, name += one) {
        *to = MRS_DOCUMENT;
        mrs_put64(to + 1, name); /* the bytes after the name are written next */
        mrsi_bucket_fill_item_template(tpl, v[i].p, to + head);
    }
    *digit = (char)(*digit + n - 1);
    mrsi_items_step(items);
    *at = to;
    return n;
}

/* Adds members from this one on in one piece as far as possible; *sure: how many certainly fit. */
static enum mrs_status
take_values(struct fold *f, struct mrs_members *m, struct mrs_view values, uint64_t *sure)
{
    MRS_ASSERT(values.p && sure);
    struct mrs_buf *b = f->items.buf;
    const uint32_t most = (uint32_t)(*sure < TOGETHER ? *sure : TOGETHER);
    struct mrs_view all[TOGETHER];
    all[0] = values;
    const uint32_t n = 1 + (m->more ? m->more(m, all + 1, most - 1) : 0);
    mrs_buf_grow(b, n * (sizeof f->items.name + 1 + f->w->tpl.size) + BUCKET_CHUNK);
    if (b->bad) {
        return mrs_err_memory(f->c->err, f->w->tpl.size);
    }
    uint8_t *at = b->p + b->n;
    for (uint32_t i = 0; i < n;) {
        i += write_items(&f->w->tpl, &f->items, all + i, n - i, &at);
    }
    f->grown += (size_t)(at - b->p) - b->n;
    b->n = (size_t)(at - b->p);
    f->n += n;
    *sure -= n;
    return MRS_OK;
}

/* Adds one reading if it fits. */
static enum mrs_status
take(struct fold *f, const struct bucket_reading *r, bool *fits)
{
    size_t item = r->item_size + f->items.name_len + 2u, more = item + r->n_args + f->s->n_set * 16u;
    enum mrs_status st = MRS_OK;
    *fits = f->n < f->s->max && plain_size(f, r->time) + item <= MRS_DOC_MAX;
    if (!*fits) {
        return MRS_OK;
    }
    if ((f->s->n_set || f->s->id) && f->known + (f->grown + more) * f->factor + MARGIN > MRS_DOC_MAX) {
        st = take_last(f, r, fits);
    } else {
        st = take_more(f, r, more);
    }
    if (st != MRS_OK || !*fits) {
        return st;
    }
    f->n++;
    if (f->s->timed) {
        put_last(&f->w->last, r->time);
        st = mrsi_buf_end(&f->w->last, 0, f->c, "time");
    }
    return st;
}

static enum mrs_status
finish(struct fold *f, bool but_last)
{
    MRS_ASSERT(f->w->ready);
    const struct mrs_buf *last = &f->w->last;
    struct mrs_val time = mrs_missing();
    size_t size;
    if (f->s->timed) {
        time = (struct mrs_val){last->p + 1, (uint32_t)last->n - 1, last->p[0]};
    }
    enum mrs_status st = tpl(f, time, &size);
    if (st == MRS_OK && size > MRS_DOC_MAX) {
        st = mrsi_step_refuse(f->c, "set", "a bucket would exceed 16 MiB with its computed fields");
    }
    MRS_THEN(st, f->put->put(f->put->arg, mrsi_buf_view(&f->w->doc, f->at), but_last, f->c->err));
    f->n = 0;
    f->part++;
    return st;
}

/* Adds the reading to the open bucket or to a new one; a reading that fits into none is refused alone. */
static enum mrs_status
place(struct fold *f, struct mrs_members *m, const struct bucket_reading *r)
{
    bool fits = false;
    enum mrs_status st = MRS_OK;
    if (f->n) {
        st = take(f, r, &fits);
        if (st != MRS_OK || fits) {
            return st;
        }
        st = finish(f, true);
    }
    MRS_THEN(st, begin(f, r));
    MRS_THEN(st, take(f, r, &fits));
    if (st != MRS_OK || fits) {
        return st;
    }
    mrsi_step_refuse(f->c, NULL, "a bucket with this reading alone would pass 16 MiB");
    st = m->refuse(m, f->c->err);
    if (st == MRS_OK && f->c->err) {
        mrs_err_clear(f->c->err);
    }
    return st;
}

/* ---- save and resume inside a group ---- */
static void
put_open_bucket(struct fold *f, struct mrs_build *b)
{
    const struct bucket_work *w = f->w;
    mrs_build_i64(b, "start", f->start);
    mrs_build_i64(b, "known", (int64_t)f->known);
    mrs_build_i64(b, "grown", (int64_t)f->grown);
    mrs_build_i64(b, "factor", (int64_t)f->factor);
    mrs_build_open(b, "head", 4, MRS_DOCUMENT);
    mrs_build_raw(b, w->head.p, w->head.n);
    mrs_build_close(b);
    if (f->s->timed) {
        struct mrs_val last = {w->last.p + 1, (uint32_t)w->last.n - 1, w->last.p[0]};
        mrs_build_val(b, "last", 4, last);
    }
}

/* Saves the counts and the elements before the items; of an open bucket also the items and the accumulators. */
enum mrs_status
mrsi_bucket_save(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct bucket_work *w = work;
    struct fold *f = w->now;
    struct mrs_build b;
    struct mrs_view d;
    (void)state;
    mrs_build_init(&b, out);
    mrs_build_i64(&b, "n", (int64_t)f->n);
    mrs_build_i64(&b, "part", f->part);
    if (f->n) {
        put_open_bucket(f, &b);
    }
    enum mrs_status st = mrs_build_finish(&b, &d, c->err);
    if (st != MRS_OK || !f->n) {
        return st;
    }
    mrs_buf_put(out, w->items.p, w->items.n);
    mrsi_put_close(out, out->n - w->items.n);
    return save(f, out);
}

static int64_t
number(struct mrs_view d, const char *name, bool *bad)
{
    struct mrs_val v = mrs_doc_get(d, name);
    *bad = *bad || v.type != MRS_INT64;
    return *bad ? 0 : mrs_val_i64(v);
}

/* No count exceeds the bytes of two documents, so sums and products of them do not overflow. */
static size_t
size_in(struct mrs_view d, const char *name, bool *bad)
{
    int64_t n = number(d, name, bad);
    *bad = *bad || n < 0 || n > 2 * (int64_t)MRS_DOC_READ_MAX;
    return *bad ? 0 : (size_t)n;
}

/* Reopens the saved array of items. */
static void
get_items(struct fold *f, struct mrs_view items)
{
    mrs_buf_reset(&f->w->items);
    mrsi_items_open(&f->items, &f->w->items);
    f->items.name_len = mrs_index_name(f->items.name, (uint32_t)f->n);
    mrs_buf_put(&f->w->items, items.p + 4, items.n - MRS_DOC_MIN);
}

static enum mrs_status
get_open_bucket(struct fold *f, struct mrs_view d, struct mrs_view *from)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct bucket_work *w = f->w;
    bool bad = false;
    struct mrs_val head = mrs_doc_get(d, "head");
    struct mrs_view items = mrsi_step_get_doc(from);
    f->start = number(d, "start", &bad);
    f->known = size_in(d, "known", &bad);
    f->grown = size_in(d, "grown", &bad);
    f->factor = size_in(d, "factor", &bad);
    if (bad || !f->factor || f->n > f->s->max || head.type != MRS_DOCUMENT || mrs_doc_count(items) != f->n) {
        return mrsi_step_damaged(f->c->err);
    }
    mrs_buf_reset(&w->head);
    mrs_buf_put(&w->head, head.p + 4, head.n - MRS_DOC_MIN);
    put_last(&w->last, mrs_doc_get(d, "last"));
    get_items(f, items);
    memset(w->failed, 0, f->s->n_set);
    return w->head.bad || w->last.bad || w->items.bad ? mrs_err_memory(f->c->err, items.n) : restore(f, from);
}

/* Loads what save wrote. The contents of the bucket are not validated. */
static enum mrs_status
take_back(struct fold *f, struct mrs_view from)
{
    bool bad = false;
    struct mrs_view d = mrsi_step_get_doc(&from);
    f->n = size_in(d, "n", &bad);
    f->part = number(d, "part", &bad);
    if (bad || f->part < 0 || f->part > INT64_MAX / 2) {
        return mrsi_step_damaged(f->c->err);
    }
    enum mrs_status st = f->n ? get_open_bucket(f, d, &from) : MRS_OK;
    return st == MRS_OK && from.n ? mrsi_step_damaged(f->c->err) : st;
}

/* ---- entry points ---- */
static void
next_shared(struct fold *f, struct mrs_view shared, struct bucket_shared *out)
{
    *out = mrsi_bucket_read_shared(f->s, shared);
    mrsi_bucket_make_item_template(out, &f->w->tpl);
    f->values_only = f->s->plain && f->w->tpl.size && !f->s->timed && !f->s->n_set;
}

static enum mrs_status
fold_members(struct fold *f, struct mrs_members *m)
{
    struct bucket_shared shared = {.start = 0};
    struct mrs_view payload;
    uint64_t sure = 0;
    enum mrs_status st = accumulators(f);
    st = st == MRS_OK && m->from.n ? take_back(f, m->from) : st;
    while (st == MRS_OK && (st = m->next(m, &payload, f->c->err)) == MRS_OK) {
        if (!m->same_shared) {
            next_shared(f, m->shared, &shared);
            sure = 0;
        }
        sure = sure ? sure : sure_of(f);
        if (sure) {
            st = take_values(f, m, payload, &sure);
        } else {
            struct bucket_reading r = mrsi_bucket_read(f->s, &shared, payload);
            st = place(f, m, &r);
        }
    }
    if (st != MRS_END) {
        return st;
    }
    return f->n ? finish(f, false) : MRS_OK;
}

enum mrs_status
mrsi_bucket_fold(const void *state, struct mrs_ctx *c, void *work, struct mrs_members *m,
                 const struct mrs_fold_put *put)
{
    struct fold f = {.s = state, .c = c, .w = work, .put = put};
    f.items_name = strlen(f.s->items);
    f.end_name = f.s->end ? strlen(f.s->end) : 0;
    mrsi_bucket_work_start(f.s, f.w, c);
    f.w->now = &f;
    enum mrs_status st = fold_members(&f, m);
    f.w->now = NULL;
    return st;
}
