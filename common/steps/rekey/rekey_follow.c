/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_follow.c - replaces the references in one document by the new `_id`s.
 *
 * The value is the reference, or it is a DBRef to `in` whose `$id` is one. Any other value at the path counts as a
 * dangling reference. An array is rewritten only if an element changes. */
#include "rekey.h"
#include "mongoreshape/value.h"
#include <stdlib.h>

struct following {
    const struct mrsi_rekey *s;
    struct mrs_ctx *c;
    struct rekey_work *w;
    struct mrs_rekey_lookup *to;
    const struct rekey_holder *h;
    uint64_t entries; /* bits of the collection's entries whose condition the document meets */
    const char *path;
    bool documents;   /* a new `_id` is a document, which may be nested too deep */
};
struct rekey_outcome {
    enum { STAYS, FOLLOWS, BECOMES, GOES } what; /* BECOMES: null */
    struct mrs_val v;
};

/* ---- one value ---- */
/* Is a value a DBRef? *ours: to a document of `in`. */
static bool
is_dbref(const struct mrsi_rekey *s, struct mrs_val v, struct mrs_val *id, bool *ours)
{
    if (v.type != MRS_DOCUMENT) {
        return false;
    }
    struct mrs_view d = mrs_val_view(v);
    struct mrs_val ref = mrs_doc_get(d, "$ref"), db = mrs_doc_get(d, "$db");
    *id = mrs_doc_get(d, "$id");
    if (ref.type != MRS_STRING || id->type == MRS_MISSING) {
        return false;
    }
    *ours = mrs_val_is_text(ref, s->in.coll) && (db.type == MRS_MISSING || mrs_val_is_text(db, s->in.db));
    return true;
}

/* The same DBRef with a new `$id`. */
static enum mrs_status
point_dbref(struct following *x, struct mrs_val was, struct mrs_val to, struct mrs_val *out)
{
    MRS_ASSERT(mrs_val_is_sized(was) && mrs_val_is_sized(to));
    struct mrs_elem id;
    mrs_doc_find(mrs_val_view(was), "$id", 3, &id);
    size_t before = (size_t)(id.v.p - was.p), behind = was.n - before - id.v.n;
    uint64_t n = (uint64_t)before + to.n + behind;
    uint8_t *p = n <= 2u * MRS_DOC_READ_MAX ? mrs_arena_alloc(x->c->arena, n) : NULL;
    MRS_TRY(mrs_allocated(p, n, x->c->err));
    memcpy(p, was.p, before);
    p[id.p - was.p] = to.type;
    if (to.n) {
        memcpy(p + before, to.p, to.n);
    }
    memcpy(p + before + to.n, id.v.p + id.v.n, behind);
    mrs_put32(p, (uint32_t)n);
    *out = (struct mrs_val){p, (uint32_t)n, MRS_DOCUMENT};
    return MRS_OK;
}

static enum mrs_status
is_dangling(struct following *x, struct rekey_outcome *o)
{
    x->to->dangling++;
    switch (x->s->dangling) {
    case REKEY_DANGLING_DROP: o->what = GOES; break;
    case REKEY_DANGLING_NULL: *o = (struct rekey_outcome){BECOMES, mrs_null()}; break;
    case REKEY_DANGLING_REFUSE:
        return mrsi_step_refuse(x->c, "dangling", "a reference in %s names no document of %s", x->path, x->s->in.ns);
    default: break;
    }
    return MRS_OK;
}

static enum mrs_status
follow(struct following *x, struct mrs_val v, struct rekey_outcome *o)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    enum mrs_rekey_found found = MRS_REKEY_STAYS;
    struct mrs_val id = v, to;
    bool ours = true, dbref = is_dbref(x->s, v, &id, &ours);
    *o = (struct rekey_outcome){STAYS, v};
    id = dbref ? id : v;
    if (!ours || mrs_is_nullish(id)) {
        return MRS_OK;
    }
    enum mrs_status st = x->to->find(x->to->arg, id, &found, &to, x->c->err);
    if (st != MRS_OK || found == MRS_REKEY_STAYS) {
        return st;
    }
    if (found == MRS_REKEY_NOBODY) {
        return is_dangling(x, o);
    }
    x->to->references++;
    x->documents = x->documents || to.type == MRS_DOCUMENT;
    *o = (struct rekey_outcome){FOLLOWS, to};
    return dbref ? point_dbref(x, v, to, &o->v) : MRS_OK;
}

/* ---- arrays ---- */
struct rekey_element {
    const uint8_t *key;
    uint32_t len, at;
};

static int
by_key(const void *a, const void *b)
{
    const struct rekey_element *x = a, *y = b;
    int d = memcmp(x->key, y->key, x->len < y->len ? x->len : y->len);
    if (d == 0 && x->len != y->len) {
        d = x->len < y->len ? -1 : 1;
    }
    return d ? d : x->at < y->at ? -1 : x->at > y->at;
}

/* Sets elements that equal an earlier one to missing. */
static enum mrs_status
leave_distinct(struct rekey_work *w, struct mrs_err *e)
{
    struct mrs_val *v = (struct mrs_val *)(void *)w->item.p;
    uint32_t n = (uint32_t)(w->item.n / sizeof *v);
    mrs_buf_reset(&w->key);
    mrs_buf_reset(&w->span);
    struct rekey_element *el = (struct rekey_element *)(void *)mrs_buf_take(&w->span, (size_t)n * sizeof *el);
    MRS_TRY(mrs_allocated(el, (size_t)n * sizeof *el, e));
    for (uint32_t i = 0; i < n; i++) {
        size_t from = w->key.n;
        mrs_key_append(&w->key, v[i], false);
        el[i] = (struct rekey_element){NULL, (uint32_t)(w->key.n - from), i};
    }
    if (w->key.bad) {
        return mrs_buf_status(&w->key, e);
    }
    const uint8_t *at = w->key.p;
    for (uint32_t i = 0; i < n; at += el[i++].len) {
        el[i].key = at;
    }
    qsort(el, n, sizeof *el, by_key);
    for (uint32_t i = 1; i < n; i++) {
        if (el[i].len == el[i - 1].len && memcmp(el[i].key, el[i - 1].key, el[i].len) == 0) {
            v[el[i].at].type = MRS_MISSING;
        }
    }
    return MRS_OK;
}

static enum mrs_status
put_array(struct rekey_work *w, struct mrs_val *put, struct mrs_err *e)
{
    const struct mrs_val *v = (const struct mrs_val *)(const void *)w->item.p;
    struct mrsi_shape_items it;
    mrs_buf_reset(&w->array);
    mrsi_items_open(&it, &w->array);
    for (size_t i = 0; i < w->item.n / sizeof *v; i++) {
        if (v[i].type != MRS_MISSING) {
            mrsi_items_add(&it, v[i]);
        }
    }
    mrsi_items_close(&it);
    if (w->array.bad) {
        return mrs_buf_status(&w->array, e);
    }
    *put = mrsi_items_val(&it);
    return MRS_OK;
}

static enum mrs_status
follow_array(struct following *x, struct mrs_val array, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    struct mrs_buf *items = &x->w->item;
    struct mrs_walk walk;
    struct mrs_elem el;
    struct rekey_outcome o;
    bool changed = false, followed = false;
    enum mrs_status st = MRS_OK;
    mrs_buf_reset(items);
    mrs_walk_init(&walk, mrs_val_view(array));
    while (st == MRS_OK && mrs_walk_next(&walk, &el) == 1) {
        st = follow(x, el.v, &o);
        changed = changed || o.what != STAYS;
        followed = followed || o.what == FOLLOWS;
        if (o.what != GOES) {
            mrs_buf_put(items, &o.v, sizeof o.v);
        }
    }
    MRS_THEN(st, mrs_buf_status(items, x->c->err));
    if (st != MRS_OK || !changed) {
        return st;
    }
    st = followed && x->s->distinct ? leave_distinct(x->w, x->c->err) : MRS_OK;
    MRS_THEN(st, put_array(x->w, put, x->c->err));
    *verdict = MRS_EDIT_PUT;
    return st;
}

/* ---- a document ---- */
static enum mrs_status
follow_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
            struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct following *x = arg;
    const struct rekey_ref_path *p = &x->h->path[site->path_no];
    struct rekey_outcome o;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (site->blocked || !(p->entries & x->entries)) {
        return MRS_OK;
    }
    x->path = p->path.text;
    if (site->old.type == MRS_ARRAY) {
        return follow_array(x, site->old, verdict, put);
    }
    enum mrs_status st = follow(x, site->old, &o);
    if (st == MRS_OK && o.what != STAYS) {
        *verdict = o.what == GOES ? MRS_EDIT_REMOVE : MRS_EDIT_PUT;
        *put = o.v;
    }
    return st;
}

/* The entries whose condition the document meets. */
static enum mrs_status
conditions(struct following *x, struct mrs_view doc)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < x->h->n_entries; i++) {
        bool yes;
        st = mrsi_step_where(x->h->where[i], x->c, doc, &yes);
        x->entries |= st == MRS_OK && yes ? 1ull << i : 0;
    }
    return st == MRS_SKIP ? mrsi_step_failed(x->c, MRS_FAIL, "references.where") : st;
}

static const struct rekey_holder *
holder_of(const struct mrsi_rekey *s, int side)
{
    uint32_t i = 0;
    while (i < s->n_holders && s->holder[i].side != side) {
        i++;
    }
    return i < s->n_holders ? &s->holder[i] : NULL;
}

enum mrs_status
mrsi_rekey_point(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                 struct mrs_rekey_lookup *to, struct mrs_buf *out, bool *changed)
{
    MRS_ASSERT(to->find && changed);
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_buf_is_sound(out));
    const struct mrsi_rekey *s = state;
    struct following x = {.s = s, .c = c, .w = work, .to = to, .h = holder_of(s, side)};
    *changed = false;
    if (!x.h) {
        return MRS_OK;
    }
    mrsi_rekey_work_begin(x.w, c);
    struct mrs_edit_run how = {.fn = follow_site, .arg = &x, .raw = &x.w->raw};
    enum mrs_status st = conditions(&x, doc);
    if (st != MRS_OK || !x.entries) {
        return st;
    }
    st = mrsi_step_skip(c, mrs_edit_run(x.h->edit, &how, doc, out, changed, c->err), "references");
    st = st == MRS_OK && *changed ? mrsi_step_size(c, out) : st;
    return st == MRS_OK && *changed && x.documents ? mrsi_step_depth(c, "references", doc, mrsi_buf_view(out, 0)) : st;
}

struct rekey_visit {
    void (*fn)(void *arg, struct mrs_val id);
    void *arg;
};

static enum mrs_status
put_reference(void *arg, struct mrs_val v)
{
    struct rekey_visit *x = arg;
    if (!mrs_is_nullish(v) && v.type != MRS_DOCUMENT) { /* a document may be a DBRef */
        x->fn(x->arg, v);
    }
    return MRS_OK;
}

void
mrsi_rekey_references(const void *state, int side, struct mrs_view doc, void (*fn)(void *arg, struct mrs_val id),
                      void *arg)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct rekey_holder *h = holder_of(state, side);
    struct rekey_visit x = {fn, arg};
    for (uint32_t i = 0; h && i < h->n_paths; i++) {
        mrs_path_each(&h->path[i].path, doc, false, put_reference, &x);
    }
}
