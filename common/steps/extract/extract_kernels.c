/* SPDX-License-Identifier: Apache-2.0 */
/* extract_kernels.c - the kernels of extract: one document to many (SPREAD), or parts of many documents to one (GROUP).
 *
 * Both do the same: find the elements, make documents from them, rewrite the source. With `unique` the engine works
 * between the second and the third, since only it knows which parts are equal and which `_id` they share. */
#include "extract.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/group_ops.h"

static struct ext_doc
same_doc(const struct mrsi_extract *s, struct mrs_ctx *c, struct ext_work *w, struct mrs_view doc)
{
    return (struct ext_doc){s, c, w, doc, mrs_doc_get(doc, "_id")};
}

static struct ext_doc
begin_doc(const struct mrsi_extract *s, struct mrs_ctx *c, struct ext_work *w, struct mrs_view doc)
{
    mrsi_extract_work_start(w, c->mem);
    return same_doc(s, c, w, doc);
}

/* ---- SPREAD ---- */
/* Appends the document of a part to work.made, and releases the arena that it used. */
static enum mrs_status
child(struct ext_doc *x, struct ext_part *part, struct ext_span *span)
{
    struct ext_work *w = x->w;
    struct mrs_arena_mark then = mrs_arena_mark(x->c->arena);
    *span = (struct ext_span){(uint32_t)w->made.n, 0, false};
    enum mrs_status st = mrsi_extract_inner_key(x, part);
    MRS_THEN(st, mrsi_extract_child(x, part, false, &w->made, &span->made, NULL));
    span->len = (uint32_t)w->made.n - span->off;
    mrs_arena_release(x->c->arena, then);
    return st;
}

/* Restores the state from which children are made, so that limits for one document count its children once. */
static void
make_later(struct ext_doc *x)
{
    x->w->elements_list = x->w->elements_around = EXT_NONE;
    x->w->elements_made = 0;
    x->c->arena->steps = 0;
}

/* If the children need much memory, only the first of them are stored. The others are made once to check that they can
 * be made, and again when the engine asks for them; with `nested` all are stored, because inner parts use outer
 * ones. */
static enum mrs_status
children(struct ext_doc *x)
{
    struct ext_work *w = x->w;
    bool needs_ids = x->s->to_child || x->s->leave.id;
    struct ext_each each = {.at = 0}, before = each;
    struct ext_part *part;
    enum mrs_status st = MRS_OK;
    struct mrsi_shape_items ids;
    mrsi_items_open(&ids, &w->ids);
    for (; st == MRS_OK && (part = mrsi_extract_next(x, &each)) != NULL; before = each) {
        struct ext_span span;
        if (!part->out) {
            continue;
        }
        if (!w->later && w->made.n > EXT_AT_ONCE && !x->s->nested.present) {
            w->later = true;
            w->rest = before;
        }
        st = child(x, part, &span);
        if (st == MRS_OK && needs_ids) {
            struct mrs_view d = {w->made.p + span.off, span.len};
            mrsi_items_add(&ids, mrs_doc_get(d, "_id"));
        }
        if (w->later) {
            w->made.n = span.off;
        } else {
            mrs_buf_put(&w->span, &span, sizeof span);
            MRS_THEN(st, mrsi_buf_end(&w->span, w->span.n, x->c, "path")); /* an inner part reads it */
        }
    }
    mrsi_items_close(&ids);
    if (w->later) {
        make_later(x);
    }
    return st == MRS_OK ? mrsi_buf_end(&w->ids, 0, x->c, "id") : st;
}

static enum mrs_status
spread_begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    const struct mrsi_extract *s = state;
    struct ext_work *w = work;
    struct ext_doc x = begin_doc(s, c, w, doc);
    bool takes;
    (void)side;
    w->self = w->doc = doc;
    *fate = MRS_FATE_STAYS;
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &takes);
    if (st != MRS_OK || !takes) {
        return st;
    }
    st = mrsi_extract_find(&x);
    MRS_THEN(st, s->pages.present ? mrsi_extract_pages(&x) : children(&x));
    struct mrs_view ids = s->pages.present ? mrs_empty_doc() : mrsi_buf_view(&w->ids, 0);
    MRS_THEN(st, mrsi_extract_source(&x, ids, &w->source));
    if (st == MRS_OK && (w->source.n != doc.n || memcmp(w->source.p, doc.p, doc.n) != 0)) {
        *fate = MRS_FATE_CHANGED;
        w->self = mrsi_buf_view(&w->source, 0);
    }
    return st;
}

/* Makes the next child that was not stored. */
static enum mrs_status
next_child(const struct mrsi_extract *s, struct mrs_ctx *c, struct ext_work *w, struct mrs_product *out)
{
    struct ext_doc x = same_doc(s, c, w, w->doc);
    struct ext_part *part;
    struct ext_span span;
    do {
        part = mrsi_extract_next(&x, &w->rest);
    } while (part && !part->out);
    if (!part) {
        return MRS_END;
    }
    mrs_buf_reset(&w->made);
    enum mrs_status st = child(&x, part, &span);
    if (st != MRS_OK) { /* it succeeded before */
        return MRS_DEAD;
    }
    *out = (struct mrs_product){1, false, span.made, mrsi_buf_view(&w->made, 0)};
    return MRS_OK;
}

static enum mrs_status
spread_next(const void *state, struct mrs_ctx *c, void *work, struct mrs_product *out)
{
    struct ext_work *w = work;
    const struct ext_span *span = (const struct ext_span *)(const void *)w->span.p;
    if (w->at == 0) {
        *out = (struct mrs_product){0, true, false, w->self};
    } else if (w->at <= w->span.n / sizeof *span) {
        struct mrs_view d = {w->made.p + span[w->at - 1].off, span[w->at - 1].len};
        *out = (struct mrs_product){1, false, span[w->at - 1].made, d};
    } else {
        return w->later ? next_child(state, c, w, out) : MRS_END;
    }
    w->at++;
    return MRS_OK;
}

const struct mrs_spread_ops mrsi_extract_spread = {.begin = spread_begin, .next = spread_next};

/* ---- GROUP ---- */
static enum mrs_status
add_part(struct mrs_ctx *c, struct mrs_parts *out, struct mrs_part_doc p)
{
    struct mrs_part_doc *more = mrs_more(c->mem, out->part, out->n, &out->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, c->err));
    out->part = more;
    out->part[out->n++] = p;
    return MRS_OK;
}

/* {"": value} */
static void
put_ref(struct mrs_buf *b, struct mrs_val v)
{
    size_t at = mrsi_put_open(b);
    mrsi_put_elem(b, "", 0, v);
    mrsi_put_close(b, at);
}

static enum mrs_status
source_part(struct ext_doc *x, const struct ext_part *part, struct mrs_parts *out)
{
    struct mrs_buf *b = &out->bytes;
    struct mrs_part_doc p = {.key_off = (uint32_t)b->n};
    bool made = false;
    struct mrs_buf *key = &x->w->keys;
    mrs_buf_reset(key);
    x->w->made.n = 0;
    MRS_TRY(mrsi_extract_child(x, part, true, &x->w->made, &made, key));
    MRS_TRY(mrsi_buf_end(key, 0, x->c, "unique"));
    p.made_id = made;
    p.key_len = (uint32_t)key->n;
    mrs_buf_put(b, key->p, key->n);
    p.doc_off = (uint32_t)b->n;
    p.doc_len = (uint32_t)x->w->made.n;
    mrs_buf_put(b, x->w->made.p, x->w->made.n);
    p.ref_off = (uint32_t)b->n;
    if (x->s->parent_ref) {
        put_ref(b, part->key);
    }
    p.ref_len = (uint32_t)b->n - p.ref_off;
    enum mrs_status st = mrsi_buf_end(b, p.key_off, x->c, "unique");
    return st == MRS_OK ? add_part(x->c, out, p) : st;
}

/* Calls fn for each value of parent_ref in a document of into. */
static void
put_refs(struct mrs_buf *b, struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem e;
    size_t at = mrsi_put_open(b);
    if (v.type == MRS_ARRAY) {
        mrs_walk_init(&w, mrs_val_view(v));
        while (mrs_walk_next(&w, &e) == 1) {
            mrsi_put_elem(b, "", 0, e.v);
        }
    } else {
        mrsi_put_elem(b, "", 0, v);
    }
    mrsi_put_close(b, at);
}

static enum mrs_status
target_part(struct ext_doc *x, struct mrs_parts *out)
{
    struct mrs_buf *b = &out->bytes;
    struct mrs_part_doc p = {.key_off = (uint32_t)b->n};
    struct mrs_elem ref = {.v = mrs_missing()};
    const uint8_t *at = x->doc.p + 4, *end = x->doc.p + x->doc.n - 1;
    bool whole;
    MRS_TRY(mrsi_extract_key(x->s, x->c, x->doc, b, &whole));
    p.key_len = (uint32_t)b->n - p.key_off;
    p.doc_off = (uint32_t)b->n;
    mrsi_put_open(b);
    if (x->s->parent_ref && mrs_doc_find(x->doc, x->s->parent_ref, (uint32_t)strlen(x->s->parent_ref), &ref)) {
        mrs_buf_put(b, at, (size_t)(ref.p - at));
        at = ref.v.p + ref.v.n;
    }
    mrs_buf_put(b, at, (size_t)(end - at));
    mrsi_put_close(b, p.doc_off);
    p.doc_len = (uint32_t)b->n - p.doc_off;
    p.ref_off = (uint32_t)b->n;
    if (!mrs_is_nullish(ref.v)) {
        put_refs(b, ref.v);
    }
    p.ref_len = (uint32_t)b->n - p.ref_off;
    enum mrs_status st = mrsi_buf_end(b, p.key_off, x->c, "unique");
    return st == MRS_OK ? add_part(x->c, out, p) : st;
}

/* Makes the next parts of a source, as many as are stored at once. */
static enum mrs_status
source_parts(struct ext_doc *x, struct mrs_parts *out)
{
    const struct ext_part *p;
    size_t start = out->bytes.n;
    enum mrs_status st = MRS_OK;
    while (st == MRS_OK && !out->more && (p = mrsi_extract_next(x, &x->w->rest)) != NULL) {
        struct mrs_arena_mark then = mrs_arena_mark(x->c->arena);
        st = p->out ? source_part(x, p, out) : MRS_OK;
        mrs_arena_release(x->c->arena, then);
        out->more = out->bytes.n - start > EXT_AT_ONCE;
    }
    return st;
}

static enum mrs_status
group_parts(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, struct mrs_parts *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_extract *s = state;
    struct ext_work *w = work;
    struct ext_doc x = out->more ? same_doc(s, c, w, doc) : begin_doc(s, c, w, doc);
    out->no_ids = !s->to_child && !s->leave.id;
    if (side == 1) {
        return target_part(&x, out);
    }
    bool takes = true;
    enum mrs_status st = out->more ? MRS_OK : mrsi_step_where(s->where, c, doc, &takes);
    if (st == MRS_OK && takes && !out->more) {
        w->rest = (struct ext_each){.at = 0};
        st = mrsi_extract_find(&x);
    }
    out->more = false;
    return st == MRS_OK && takes ? source_parts(&x, out) : st;
}

static bool
agree(const void *state, struct mrs_view a, bool a_made, struct mrs_view b, bool b_made)
{
    struct mrs_elem x, y;
    (void)state;
    if (!a_made && !b_made) {
        return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
    }
    bool has_x = mrs_doc_find(a, "_id", 3, &x), has_y = mrs_doc_find(b, "_id", 3, &y);
    const uint8_t *xp = has_x ? x.p : a.p + 4, *xq = has_x ? x.v.p + x.v.n : xp;
    const uint8_t *yp = has_y ? y.p : b.p + 4, *yq = has_y ? y.v.p + y.v.n : yp;
    size_t before = (size_t)(xp - a.p), after = (size_t)(a.p + a.n - xq);
    return before == (size_t)(yp - b.p) && after == (size_t)(b.p + b.n - yq) &&
        memcmp(a.p + 4, b.p + 4, before - 4) == 0 &&
           memcmp(xq, yq, after) == 0;
}

static uint32_t
n_values(struct mrs_val v)
{
    return v.type == MRS_ARRAY ? mrs_val_count(v) : !mrs_is_nullish(v);
}

/* Puts parent_ref into d: in place of an existing one, else after `_id` (new document) or at the end (document of
 * into). */
static void
put_parent_ref(const struct mrsi_extract *s, struct mrs_view d, bool at_end, struct mrs_val refs, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    uint32_t len = (uint32_t)strlen(s->parent_ref);
    const uint8_t *at = d.p + 4, *end = d.p + d.n - 1;
    struct mrs_elem e;
    size_t start = mrsi_put_open(out);
    if (mrs_doc_find(d, s->parent_ref, len, &e)) {
        mrs_buf_put(out, at, (size_t)(e.p - at));
        at = e.v.p + e.v.n;
    } else if (at_end || !mrs_doc_find(d, "_id", 3, &e)) {
        mrs_buf_put(out, at, (size_t)(end - at));
        at = end;
    } else {
        mrs_buf_put(out, at, (size_t)(e.v.p + e.v.n - at));
        at = e.v.p + e.v.n;
    }
    mrsi_put_elem(out, s->parent_ref, len, refs);
    mrs_buf_put(out, at, (size_t)(end - at));
    mrsi_put_close(out, start);
}

static enum mrs_status
finish(const void *state, struct mrs_ctx *c, struct mrs_view first, bool theirs, struct mrs_view refs,
       struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(refs));
    const struct mrsi_extract *s = state;
    size_t start = out->n;
    struct mrs_val v = {refs.p, refs.n, MRS_ARRAY};
    bool same = !s->parent_ref || refs.n <= 5 || (theirs && n_values(mrs_doc_get(first, s->parent_ref)) == n_values(v));
    if (same) {
        mrs_buf_put(out, first.p, first.n);
        return mrsi_buf_end(out, start, c, NULL);
    }
    if (theirs && mrs_doc_has_duplicates(c->mem, first, true)) {
        return mrsi_step_refuse(c, "unique", "duplicate field: a document that must be rewritten holds a name twice");
    }
    put_parent_ref(s, first, theirs, v, out);
    if (!out->bad && out->n - start > MRS_DOC_MAX) {
        enum mrs_status st = mrsi_step_too_large(c, "parent_ref", "the document would pass 16 MiB", out, start);
        out->n = start;
        return st;
    }
    return mrsi_buf_end(out, start, c, "parent_ref");
}

static enum mrs_status
group_source(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_view ids,
             struct mrs_buf *out,
             enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(ids) && mrs_buf_is_sound(out));
    struct ext_doc x = begin_doc(state, c, work, doc);
    size_t start = out->n;
    bool takes;
    enum mrs_status st = mrsi_step_where(x.s->where, c, doc, &takes);
    if (st == MRS_OK && !takes) {
        mrs_buf_put(out, doc.p, doc.n);
        st = mrsi_buf_end(out, start, c, NULL);
    } else if (st == MRS_OK) {
        st = mrsi_extract_find(&x);
        MRS_THEN(st, mrsi_extract_source(&x, ids, out));
    }
    return mrsi_step_end(st, doc, out, start, fate);
}

static enum mrs_status
group_key(const void *state, struct mrs_ctx *c, struct mrs_view part, struct mrs_buf *out)
{
    const struct mrsi_extract *s = state;
    size_t at = mrsi_put_open(out);
    for (uint32_t i = 0; i < s->unique.n; i++) {
        const char *path = s->unique.path[i].text;
        mrsi_put_elem(out, path, (uint32_t)strlen(path), mrs_path_get(&s->unique.path[i], part));
    }
    mrsi_put_close(out, at);
    return mrsi_buf_end(out, at, c, "unique");
}

const struct mrs_group_ops mrsi_extract_group = {group_key, group_parts, agree, finish, group_source};
