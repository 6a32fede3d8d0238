/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_walk.c - visits and rewrites the values of a document that patterns match, as raw bytes.
 *
 * As in an edit, `from` is the first source byte that is not in the output yet: nothing is copied before the first
 * change, and the output offset of any later byte is known in advance. A value is visited after its nested values. A
 * value whose contents changed is complete at the end of the output, and is truncated if the visit replaces it. The
 * names of a level change together at its end, when all of them are known. Levels are on a growing stack; there is no
 * recursion. */
#include "pattern.h"
#include "steps/kit/shape.h"
#include <stdio.h>
#include <stdlib.h>

enum { FEW = 24 };

struct pattern_level {
    struct mrs_elem e; /* the current field or element; for the document itself only its value */
    struct mrs_walk w;
    mrsi_states at;    /* parts that names in here may match */
    size_t start;      /* of the length in out */
    const char *name;  /* of the field that holds it, or holds its arrays */
    uint32_t name_len;
    uint32_t passed;   /* number of fields or elements so far */
    uint32_t renamed;  /* index of its first renamed field */
    bool visit;        /* visit it at its end */
    bool changed;
    bool crooked;      /* an array whose element names are not 0, 1, 2 ... */
};
struct pattern_renamed {
    uint32_t field; /* index in its level */
    uint32_t len;
    size_t name;    /* offset in names */
};
struct pattern_walk {
    const struct mrsi_pattern_run *how;
    const struct mrsi_pattern *p;
    uint64_t bit; /* of c->matched */
    struct mrs_ctx *c;
    struct mrs_buf *out, *raw;
    const uint8_t *from;
    struct pattern_level few[FEW], *level;
    uint32_t depth, cap;
    struct pattern_renamed *renamed;
    uint32_t n_renamed, renamed_cap;
    struct mrs_buf names;
    bool twice; /* a changed level has a duplicate name */
};

static void
copy_to(struct pattern_walk *x, const uint8_t *to)
{
    if (to > x->from) {
        mrs_buf_put(x->out, x->from, (size_t)(to - x->from));
        x->from = to;
    }
}

static void
mark(struct pattern_walk *x, struct pattern_level *l)
{
    if (!l->changed && l->e.v.type == MRS_DOCUMENT) {
        x->twice = x->twice || mrs_doc_has_duplicates(x->c->mem, mrs_val_view(l->e.v), true);
    }
    l->changed = true;
}

static enum mrs_status
grow(struct pattern_walk *x)
{
    MRS_ASSERT(x->depth == x->cap);
    struct pattern_level *more = mrs_alloc_array(x->c->mem, (size_t)x->cap * 2, sizeof *more);
    MRS_TRY(mrs_allocated(more, x->cap * sizeof *more, x->c->err));
    memcpy(more, x->level, x->depth * sizeof *more);
    if (x->level != x->few) {
        mrs_free(x->c->mem, x->level);
    }
    x->level = more;
    x->cap *= 2;
    return MRS_OK;
}

static enum mrs_status
push(struct pattern_walk *x, const struct mrs_elem *e, mrsi_states at, bool visit)
{
    MRS_ASSERT(x->depth <= x->cap);
    MRS_TRY(x->depth == x->cap ? grow(x) : MRS_OK);
    const struct pattern_level *up = x->depth ? &x->level[x->depth - 1] : NULL;
    struct pattern_level *l = &x->level[x->depth++];
    *l = (struct pattern_level){.e = *e, .at = at, .visit = visit, .name = e->name, .name_len = e->name_len};
    l->start = x->out->n + (size_t)(e->v.p - x->from);
    l->renamed = x->n_renamed;
    if (up && up->e.v.type == MRS_ARRAY) {
        l->name = up->name;
        l->name_len = up->name_len;
    }
    mrs_walk_init(&l->w, mrs_val_view(e->v));
    return MRS_OK;
}

/* ---- a visit ---- */
/* The name that the last star matched: of the field, or of a parent. */
static void
find_took(const struct pattern_walk *x, struct mrsi_pattern_place *at)
{
    MRS_ASSERT(x->depth > 0);
    uint32_t up = x->p->path.n - 1 - x->p->star, i = x->depth;
    at->took = at->name;
    at->took_len = at->len;
    for (; up && i > 1; i--) {
        if (x->level[i - 2].e.v.type != MRS_ARRAY) {
            at->took = x->level[i - 1].name;
            at->took_len = x->level[i - 1].name_len;
            up--;
        }
    }
}

/* Moves a value that is in the output out of the way. */
static enum mrs_status
set_aside(struct pattern_walk *x, struct mrs_val *v)
{
    if (!v->n || v->p < x->out->p || v->p >= x->out->p + x->out->n) {
        return MRS_OK;
    }
    mrs_buf_reset(x->raw);
    mrs_buf_put(x->raw, v->p, v->n);
    v->p = x->raw->p;
    return mrs_buf_status(x->raw, x->c->err);
}

/* Replaces the element by *put, or removes it if *put is missing. inside: its own bytes are in the output, from `head`
 * on. */
static enum mrs_status
replace(struct pattern_walk *x, struct pattern_level *l, const struct mrs_elem *e, struct mrs_val put, bool inside)
{
    MRS_ASSERT(l == &x->level[x->depth - 1]);
    enum mrs_status st = inside ? set_aside(x, &put) : MRS_OK;
    if (inside) {
        x->out->n = x->level[x->depth].start - e->name_len - 2;
    } else {
        copy_to(x, e->p);
    }
    if (put.type != MRS_MISSING) {
        mrsi_put_elem(x->out, e->name, e->name_len, put);
    }
    x->from = e->v.p + e->v.n;
    l->crooked = l->crooked || put.type == MRS_MISSING;
    mark(x, l);
    return st;
}

static enum mrs_status
note_name(struct pattern_walk *x, struct pattern_level *l, struct mrs_val text)
{
    struct pattern_renamed *more = mrs_more(x->c->mem, x->renamed, x->n_renamed, &x->renamed_cap, sizeof *more);
    uint32_t n;
    const char *name = mrs_val_text(text, &n);
    MRS_TRY(mrs_allocated(more, sizeof *more, x->c->err));
    x->renamed = more;
    x->renamed[x->n_renamed++] = (struct pattern_renamed){l->passed - 1, n, x->names.n};
    mrs_buf_put(&x->names, name, n);
    mrs_buf_byte(&x->names, 0);
    mark(x, l);
    return mrs_buf_status(&x->names, x->c->err);
}

/* Writes e of the top level with its new value v; inside: v is at the end of the output. */
static enum mrs_status
visit(struct pattern_walk *x, const struct mrs_elem *e, struct mrs_val v, bool inside)
{
    struct pattern_level *l = &x->level[x->depth - 1];
    struct mrs_arena_mark mark_at = mrs_arena_mark(x->c->arena);
    struct mrsi_pattern_place at = {.pattern = x->p, .name = e->name, .len = e->name_len, .v = v,
                                    .top = x->depth == 1};
    enum mrs_edit_verdict verdict = MRS_EDIT_KEEP;
    struct mrs_val put = mrs_missing();
    if (l->e.v.type == MRS_ARRAY) {
        at.name = l->name;
        at.len = l->name_len;
    }
    find_took(x, &at);
    enum mrs_status st = x->how->fn(x->how->arg, &at, &verdict, &put);
    if (st == MRS_OK && verdict == MRS_EDIT_SPLICE) {
        st = note_name(x, l, put);
    } else if (st == MRS_OK && (verdict == MRS_EDIT_REMOVE || (verdict == MRS_EDIT_PUT && !mrs_identical(put, v)))) {
        st = replace(x, l, e, verdict == MRS_EDIT_PUT ? put : mrs_missing(), inside);
    }
    mrs_arena_release(x->c->arena, mark_at);
    return st;
}

/* ---- names of a level ---- */
struct pattern_new_name {
    const char *name;
    uint32_t len;
};

static int
by_name(const void *a, const void *b)
{
    const struct pattern_new_name *x = a, *y = b;
    int c = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* Sorts the new names of a level; duplicates are refused. */
static enum mrs_status
sort_names(struct pattern_walk *x, const struct pattern_level *l, struct pattern_new_name **out)
{
    uint32_t n = x->n_renamed - l->renamed;
    struct pattern_new_name *list = mrs_arena_alloc(x->c->arena, n * sizeof *list);
    *out = list;
    MRS_TRY(mrs_allocated(list, n * sizeof *list, x->c->err));
    for (uint32_t i = 0; i < n; i++) {
        const struct pattern_renamed *r = &x->renamed[l->renamed + i];
        list[i] = (struct pattern_new_name){(const char *)x->names.p + r->name, r->len};
    }
    qsort(list, n, sizeof *list, by_name);
    for (uint32_t i = 1; i < n; i++) {
        if (by_name(&list[i - 1], &list[i]) == 0) {
            return mrsi_step_refuse(x->c, "fields", "two fields would be called `%.200s`", list[i].name);
        }
    }
    return MRS_OK;
}

/* Copies the level, complete at the end of the output, to raw with its new names. */
static enum mrs_status
put_names(struct pattern_walk *x, const struct pattern_level *l, const struct pattern_new_name *sorted)
{
    uint32_t next = l->renamed, n = x->n_renamed - l->renamed;
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_buf_reset(x->raw);
    size_t at = mrsi_put_open(x->raw);
    mrs_walk_init(&w, mrsi_buf_view(x->out, l->start));
    for (uint32_t i = 0; mrs_walk_next(&w, &e) == 1; i++) {
        if (next < x->n_renamed && x->renamed[next].field == i) {
            const struct pattern_renamed *r = &x->renamed[next++];
            mrsi_put_elem(x->raw, (const char *)x->names.p + r->name, r->len, e.v);
            continue;
        }
        struct pattern_new_name own = {e.name, e.name_len};
        if (!bsearch(&own, sorted, n, sizeof *sorted, by_name)) {
            mrs_buf_put(x->raw, e.p, (size_t)(e.v.p + e.v.n - e.p));
        } else if (!x->how->replace) {
            return mrsi_step_refuse(x->c, "fields", "%.200s exists already", e.name);
        }
    }
    mrsi_put_close(x->raw, at);
    return mrs_buf_status(x->raw, x->c->err);
}

static enum mrs_status
rename_level(struct pattern_walk *x, struct pattern_level *l)
{
    MRS_ASSERT(l->renamed > 0 || x->n_renamed > 0);
    struct mrs_arena_mark mark_at = mrs_arena_mark(x->c->arena);
    struct pattern_new_name *sorted;
    enum mrs_status st = sort_names(x, l, &sorted);
    MRS_THEN(st, put_names(x, l, sorted));
    if (st == MRS_OK) {
        x->out->n = l->start;
        mrs_buf_put(x->out, x->raw->p, x->raw->n);
        x->names.n = x->renamed[l->renamed].name;
        x->n_renamed = l->renamed;
        st = mrs_buf_status(x->out, x->c->err);
    }
    mrs_arena_release(x->c->arena, mark_at);
    return st;
}

/* ---- the walk ---- */
/* Renumbers the elements of a changed array: 0, 1, 2 ... */
static void
renumber(struct pattern_walk *x, const struct pattern_level *l)
{
    MRS_ASSERT(l->start < x->out->n);
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrsi_shape_items items;
    mrs_buf_reset(x->raw);
    mrsi_items_open(&items, x->raw);
    mrs_walk_init(&w, mrsi_buf_view(x->out, l->start));
    while (mrs_walk_next(&w, &e) == 1) {
        mrsi_items_add(&items, e.v);
    }
    mrsi_items_close(&items);
    x->out->n = l->start;
    mrs_buf_put(x->out, x->raw->p, x->raw->n);
}

/* Completes a changed level. */
static enum mrs_status
finish(struct pattern_walk *x, struct pattern_level *l)
{
    copy_to(x, l->w.end + 1);
    if (x->out->bad) {
        return mrs_buf_status(x->out, x->c->err);
    }
    mrs_put32(x->out->p + l->start, (uint32_t)(x->out->n - l->start));
    if (x->n_renamed > l->renamed) {
        return rename_level(x, l);
    }
    if (l->e.v.type == MRS_ARRAY && l->crooked) {
        renumber(x, l);
    }
    return mrs_buf_status(x->out, x->c->err);
}

static enum mrs_status
leave(struct pattern_walk *x)
{
    MRS_ASSERT(x->depth > 0);
    struct pattern_level *l = &x->level[--x->depth];
    enum mrs_status st = l->changed ? finish(x, l) : MRS_OK;
    if (st != MRS_OK || x->depth == 0) {
        return st;
    }
    struct mrs_val v = l->e.v;
    if (l->changed) {
        mark(x, &x->level[x->depth - 1]);
        v.p = x->out->p + l->start;
        v.n = (uint32_t)(x->out->n - l->start);
    }
    return l->visit ? visit(x, &l->e, v, l->changed) : MRS_OK;
}

/* Reports a field of the top level. */
static void
report(const struct pattern_walk *x, const struct mrs_elem *e)
{
    MRS_ASSERT(x->depth > 0);
    char path[200];
    size_t n = 0;
    for (uint32_t i = 1; i <= x->depth && n < sizeof path; i++) {
        const struct mrs_elem *f = i < x->depth ? &x->level[i].e : e;
        if (x->level[i - 1].e.v.type != MRS_ARRAY) {
            n += (size_t)snprintf(path + n, sizeof path - n, "%s%s", n ? "." : "", f->name);
        }
    }
    uint32_t no = (uint32_t)(x->p - x->how->patterns->item);
    x->c->reached->field(x->c->reached, no, path, n < sizeof path ? n : sizeof path - 1);
}

/* Walks one field or element of the top level. */
static enum mrs_status
enter(struct pattern_walk *x, const struct mrs_elem *e)
{
    MRS_ASSERT(x->depth > 0);
    struct pattern_level *l = &x->level[x->depth - 1];
    const struct mrsi_pattern *p = x->p;
    bool array = l->e.v.type == MRS_ARRAY, ends = p->deep + 1 == p->path.n;
    mrsi_states deep = p->deep < p->path.n ? (mrsi_states)1 << p->deep : 0, at = l->at;
    bool reached = x->how->items && ends && (at & deep);
    if (array) {
        char name[12];
        uint32_t len = mrs_index_name(name, l->passed);
        l->crooked = l->crooked || !mrs_name_is(e, name, len);
    } else {
        bool id = x->depth == 1 && mrs_name_is(e, "_id", 3);
        at = id ? 0 : mrsi_pattern_step(p, at, e->name, e->name_len);
        reached = mrsi_pattern_reached(p, at);
    }
    l->passed++;
    x->c->matched |= reached ? x->bit : 0;
    if (reached && !array && x->bit && x->c->reached) {
        report(x, e);
    }
    if (array && e->v.type == MRS_ARRAY && !x->how->inner) {
        at = at & deep ? mrsi_pattern_step(p, deep, "", 0) : 0;
    }
    at &= ~((mrsi_states)1 << p->path.n);
    bool whole = x->how->lists && !ends && e->v.type == MRS_ARRAY;
    bool takes = reached && (whole || x->how->patterns->types & mrs_type_bit(e->v.type));
    bool opens = at && (e->v.type == MRS_DOCUMENT || e->v.type == MRS_ARRAY);
    if (opens && !(takes && x->how->first)) {
        return push(x, e, at, takes);
    }
    return takes ? visit(x, e, e->v, false) : MRS_OK;
}

static enum mrs_status
walk(struct pattern_walk *x, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_elem e = {.name = "", .v = mrs_view_val(d)};
    enum mrs_status st = push(x, &e, mrsi_pattern_begin(x->p), false);
    while (st == MRS_OK && x->depth) {
        int more = mrs_walk_next(&x->level[x->depth - 1].w, &e);
        st = more > 0    ? enter(x, &e)
             : more == 0 ? leave(x)
                         : mrs_err_set(x->c->err, MRS_FAIL, MRS_E_BSON, "damaged document");
    }
    if (st == MRS_OK && x->twice) {
        st = mrs_err_set(x->c->err, MRS_FAIL, MRS_E_REFUSED,
                         "duplicate field: a document that must be rewritten holds a name twice");
    }
    return st;
}

static enum mrs_status
run_one(const struct mrsi_pattern_run *how, const struct mrsi_pattern *p, struct mrs_ctx *c, struct mrsi_work *w,
        struct mrs_view d, bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct pattern_walk x = {.how = how, .p = p, .c = c, .out = &w->out[1], .raw = &w->raw, .from = d.p, .cap = FEW};
    size_t no = (size_t)(p - how->patterns->item);
    x.bit = no < MRS_PATTERNS ? 1ull << no : 0;
    x.level = x.few;
    mrs_buf_reset(x.out);
    mrs_buf_init(&x.names, c->mem, 2u * MRS_DOC_READ_MAX);
    enum mrs_status st = walk(&x, d);
    *changed = st == MRS_OK && x.level[0].changed;
    if (x.level != x.few) {
        mrs_free(c->mem, x.level);
    }
    mrs_free(c->mem, x.renamed);
    mrs_buf_clear(&x.names);
    return st;
}

enum mrs_status
mrsi_patterns_run(const struct mrsi_pattern_run *how, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d,
                  bool *changed)
{
    struct mrs_view now = *changed ? mrsi_buf_view(&w->out[0], 0) : d;
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < how->patterns->n && st == MRS_OK; i++) {
        bool other = false;
        st = run_one(how, &how->patterns->item[i], c, w, now, &other);
        if (other) {
            struct mrs_buf was = w->out[0];
            w->out[0] = w->out[1];
            w->out[1] = was;
            now = mrsi_buf_view(&w->out[0], 0);
            *changed = true;
        }
    }
    *changed = *changed && !(now.n == d.n && memcmp(now.p, d.p, d.n) == 0);
    return st;
}
