/* SPDX-License-Identifier: Apache-2.0 */
/* index_fit.c - finds values of the result for which a server refuses to build an index: an array in a hashed index, an
 * invalid point in 2d and 2dsphere, an unknown language in a text index, arrays in two fields of a compound index.
 *
 * mongorestore would fail after the data is loaded, and build no index of the collection. Documents are checked as they
 * are written, and only for indexes that are not in the input, on a path that the plan changes, or of a collection that
 * receives documents: others were valid on the server of the dump. Partial filters count, except one that compares with
 * a collation: its index is checked for arrays only. */
#include "notices.h"
#include "mongoreshape/unique.h"
#include "mongoreshape/value.h"
#include "mongoreshape/catalogue.h"
#include <strings.h>

enum index_fit_kind { ARRAYS, HASHED, FLAT, SPHERE, TEXT };

struct index_fit_special { /* one field of an index with special rules */
    const char *name, *path;
    enum index_fit_kind kind;
    double min, max; /* FLAT */
    struct mrs_index_filter *filter; /* NULL: all documents */
};
struct index_fit_found {
    uint64_t count;
    const char *why; /* reason for the first; NULL: arrays in two fields */
    char id[80];
};
struct mrsi_fit {
    struct mrs_buf metadata, room; /* metadata contains texts of the specials */
    struct index_fit_special *special;
    uint32_t n;
    struct mrs_unique *arrays;
    struct index_fit_found *found; /* for the specials, then for the indexes of arrays */
};

/* ---- which indexes ---- */
struct index_fit_query {
    const struct mrsi_engine *en;
    uint32_t coll;
    struct mrs_view there; /* the indexes of the collection in the input */
    bool fresh;            /* the current index is not in the input */
};

static bool
is_fresh(struct mrs_view there, struct mrs_view index)
{
    struct mrs_walk w;
    struct mrs_elem e;
    bool same = false;
    for (mrs_walk_init(&w, there); !same && mrs_walk_next(&w, &e) == 1;) {
        same = e.v.type == MRS_DOCUMENT && e.v.n == index.n && memcmp(e.v.p, index.p, index.n) == 0;
    }
    return !same;
}

/* Is the index new, or does the plan change values at its paths, or add documents to the collection? */
static bool
changes(const struct index_fit_query *a, const char *path)
{
    MRS_ASSERT(a->coll < a->en->n_coll);
    if (a->fresh) {
        return true;
    }
    for (uint32_t i = 0; i < a->en->plan->n_steps; i++) {
        const struct mrs_desc *d = &a->en->plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_touches; k++) {
            const struct mrs_touch *t = &d->touches[k];
            size_t n = strlen(t->path), m = strlen(path), least = n < m ? n : m;
            bool begins = memcmp(t->path, path, least) == 0;
            bool meets = !n || (begins && (n == m || (n > m ? t->path : path)[least] == '.'));
            if (t->kind == 'A' && a->en->side[i][t->side] == a->coll && meets) {
                return true;
            }
        }
    }
    return false;
}

static bool
key_changes(const struct index_fit_query *a, struct mrs_view key)
{
    struct mrs_walk w;
    struct mrs_elem e;
    bool yes = false;
    for (mrs_walk_init(&w, key); !yes && mrs_walk_next(&w, &e) == 1;) {
        yes = changes(a, e.name);
    }
    return yes;
}

/* Compound indexes. */
static bool
needs_arrays(void *arg, struct mrs_elem index)
{
    struct index_fit_query *a = arg;
    struct mrs_view spec = index.v.type == MRS_DOCUMENT ? mrs_val_view(index.v) : mrs_empty_doc();
    struct mrs_val key = mrs_doc_get(spec, "key");
    struct mrs_elem first;
    struct mrs_walk w;
    if (key.type != MRS_DOCUMENT) {
        return false;
    }
    a->fresh = is_fresh(a->there, spec);
    mrs_walk_init(&w, mrs_val_view(key));
    return mrs_walk_next(&w, &first) == 1 && mrs_walk_next(&w, &first) == 1 && key_changes(a, mrs_val_view(key));
}

static enum index_fit_kind
kind_of(struct mrs_val v)
{
    static const char *const words[] = {[HASHED] = "hashed", [FLAT] = "2d", [SPHERE] = "2dsphere", [TEXT] = "text"};
    for (int k = HASHED; k <= TEXT; k++) {
        if (mrs_val_is_text(v, words[k])) {
            return (enum index_fit_kind)k;
        }
    }
    return ARRAYS;
}

static double
bound(struct mrs_view index, const char *name, double none)
{
    struct mrs_val v = mrs_doc_get(index, name);
    int64_t n;
    return mrs_val_integral(v, &n) ? (double)n : v.type == MRS_DOUBLE ? mrs_val_double(v) : none;
}

static enum mrs_status
add_specials(struct mrsi_fit *f, const struct index_fit_query *a, struct mrs_view index, struct mrs_err *err)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_val key = mrs_doc_get(index, "key"), name = mrs_doc_get(index, "name");
    struct mrs_val language = mrs_doc_get(index, "language_override");
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrs_err why;
    enum mrs_status s = MRS_OK;
    bool text = false;
    for (mrs_walk_init(&w, key.type == MRS_DOCUMENT ? mrs_val_view(key) : mrs_empty_doc());
         s == MRS_OK && mrs_walk_next(&w, &e) == 1;) {
        struct index_fit_special *x = &f->special[f->n];
        *x = (struct index_fit_special){.name = name.type == MRS_STRING ? (const char *)name.p + 4 : "?",
                                        .path = e.name,
                                        .kind = kind_of(e.v),
                                        .min = bound(index, "min", -180),
                                        .max = bound(index, "max", 180)};
        if (x->kind == TEXT) { /* one field for all texts of the index */
            x->path = language.type == MRS_STRING ? (const char *)language.p + 4 : "language";
        }
        if (x->kind != ARRAYS && !(x->kind == TEXT && text) && changes(a, x->path)) {
            text = text || x->kind == TEXT;
            mrs_err_clear(&why);
            s = mrs_index_filter_new(a->en->mem, index, a->en->plan->now_ms, &x->filter, &why);
            f->n += s == MRS_OK;
        }
    }
    if (s == MRS_DEAD) {
        *err = why;
        return s;
    }
    return MRS_OK;
}

static uint32_t
most_fields(struct mrs_view indexes)
{
    MRS_ASSERT(mrs_view_is_framed(indexes));
    struct mrs_walk w, v;
    struct mrs_elem e, field;
    uint32_t n = 1;
    for (mrs_walk_init(&w, indexes); mrs_walk_next(&w, &e) == 1;) {
        struct mrs_val key = e.v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(e.v), "key") : mrs_missing();
        if (key.type == MRS_DOCUMENT) {
            for (mrs_walk_init(&v, mrs_val_view(key)); mrs_walk_next(&v, &field) == 1;) {
                n++;
            }
        }
    }
    return n;
}

static void
fit_free(struct mrsi_engine *en, struct mrsi_fit *f)
{
    if (f) {
        mrs_unique_free(f->arrays);
        for (uint32_t i = 0; i < f->n; i++) {
            mrs_index_filter_free(f->special[i].filter);
        }
        mrs_buf_clear(&f->metadata);
        mrs_buf_clear(&f->room);
        mrs_free(en->mem, f->special);
        mrs_free(en->mem, f->found);
        mrs_free(en->mem, f);
    }
}

static enum mrs_status
fit_new(struct mrsi_engine *en, uint32_t coll, struct mrsi_fit **out, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    struct mrsi_fit *f = *out = mrs_zalloc(en->mem, sizeof *f);
    const struct mrsi_coll *c = &en->coll[coll];
    struct mrs_view before = c->in_index == MRSI_NONE ? mrs_empty_doc() : mrs_input_at(en->in, c->in_index)->metadata;
    struct mrs_val there = mrs_doc_get(before, "indexes");
    struct index_fit_query a = {.en = en, .coll = coll, .there = mrs_empty_doc()};
    struct mrs_walk w;
    struct mrs_elem el;
    MRS_TRY(mrs_allocated(f, sizeof *f, e));
    mrs_buf_init(&f->metadata, en->mem, MRS_METADATA_MAX);
    mrs_buf_init(&f->room, en->mem, SIZE_MAX);
    if (there.type == MRS_ARRAY) {
        a.there = mrs_val_view(there);
    }
    mrs_catalog_metadata(en->coll[coll].cat, &f->metadata);
    MRS_TRY(mrs_buf_status(&f->metadata, e));
    struct mrs_view all = {f->metadata.p, (uint32_t)f->metadata.n};
    struct mrs_view indexes = mrs_val_view(mrs_doc_get(all, "indexes"));
    struct mrs_unique_spec spec = {
        .metadata = all, .now_ms = en->plan->now_ms, .any = true, .wants = needs_arrays, .arg = &a};
    enum mrs_status s = mrs_unique_new(en->mem, &spec, &f->arrays, e);
    f->special = mrs_alloc_array(en->mem, most_fields(indexes), sizeof *f->special);
    if (s != MRS_OK || !f->special) {
        return s != MRS_OK ? s : mrs_err_memory(e, sizeof *f->special);
    }
    for (mrs_walk_init(&w, indexes); s == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        a.fresh = is_fresh(a.there, mrs_val_view(el.v));
        s = add_specials(f, &a, mrs_val_view(el.v), e);
    }
    if (s != MRS_OK) {
        return s;
    }
    uint32_t n = f->n + mrs_unique_count(f->arrays);
    if (!n) {
        fit_free(en, f);
        *out = NULL;
        return MRS_OK;
    }
    f->found = mrs_zalloc(en->mem, n * sizeof *f->found);
    return mrs_allocated(f->found, n * sizeof *f->found, e);
}

enum mrs_status
mrsi_fit_begin(struct mrsi_engine *en, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    en->fit = mrs_zalloc(en->mem, (en->n_coll + 1) * sizeof(struct mrsi_fit *));
    MRS_TRY(mrs_allocated(en->fit, en->n_coll, e));
    for (uint32_t i = 0; s == MRS_OK && i < en->n_coll; i++) {
        const struct mrsi_coll *c = &en->coll[i];
        if (c->cat && (c->content || c->cat->touched) && c->dropped_at == MRSI_NONE && c->cat->kind == MRS_COLL_PLAIN) {
            s = fit_new(en, i, &en->fit[i], e);
        }
    }
    return s;
}

void
mrsi_fit_end(struct mrsi_engine *en)
{
    for (uint32_t i = 0; en->fit && i < en->n_coll; i++) {
        fit_free(en, en->fit[i]);
    }
    mrs_free(en->mem, en->fit);
    en->fit = NULL;
}

/* ---- values: the reason why a server refuses one, or NULL ---- */
static bool
number_in(struct mrs_val v, double min, double max)
{
    int64_t n;
    double d = mrs_val_integral(v, &n) ? (double)n : v.type == MRS_DOUBLE ? mrs_val_double(v) : 0;
    return mrs_is_number(v) && d >= min && d <= max;
}

/* Are the first two elements of an array or a document a point? */
static const char *
point(struct mrs_view pair, double min_x, double max_x, double min_y, double max_y)
{
    struct mrs_walk w;
    struct mrs_elem x, y;
    mrs_walk_init(&w, pair);
    bool both = mrs_walk_next(&w, &x) == 1 && mrs_walk_next(&w, &y) == 1 && mrs_is_number(x.v) && mrs_is_number(y.v);
    if (!both) {
        return "what is no place";
    }
    return number_in(x.v, min_x, max_x) && number_in(y.v, min_y, max_y) ? NULL : "a place out of bounds";
}

static const char *
place(const struct index_fit_special *x, struct mrs_val v)
{
    static const char *const kinds[] = {"LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon"};
    struct mrs_val type = v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(v), "type") : mrs_missing();
    if ((v.type != MRS_DOCUMENT && v.type != MRS_ARRAY) || x->kind == FLAT || type.type == MRS_MISSING) {
        return v.type != MRS_DOCUMENT && v.type != MRS_ARRAY ? "what is no place"
               : x->kind == FLAT ? point(mrs_val_view(v), x->min, x->max, x->min, x->max)
                                 : point(mrs_val_view(v), -180, 180, -90, 90);
    }
    struct mrs_val at = mrs_doc_get(mrs_val_view(v), "coordinates");
    if (mrs_val_is_text(type, "Point")) {
        return at.type == MRS_ARRAY ? point(mrs_val_view(at), -180, 180, -90, 90) : "what is no place";
    }
    if (mrs_val_is_text(type, "GeometryCollection")) {
        return mrs_doc_get(mrs_val_view(v), "geometries").type == MRS_ARRAY ? NULL : "what is no place";
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (mrs_val_is_text(type, kinds[i])) {
            return at.type == MRS_ARRAY ? NULL : "what is no place";
        }
    }
    return "what is no place";
}

/* A point, or an array of points. */
static const char *
places(const struct index_fit_special *x, struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem e;
    const char *why = NULL;
    if (v.type == MRS_MISSING || v.type == MRS_NULL || v.type == MRS_UNDEFINED ||
        ((v.type == MRS_ARRAY || v.type == MRS_DOCUMENT) && v.n <= 5)) {
        return NULL;
    }
    if (v.type != MRS_ARRAY) {
        return place(x, v);
    }
    mrs_walk_init(&w, mrs_val_view(v));
    if (mrs_walk_next(&w, &e) == 1 && mrs_is_number(e.v)) {
        return place(x, v);
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); !why && mrs_walk_next(&w, &e) == 1;) {
        why = place(x, e.v);
    }
    return why;
}

/* Recursive, once for each part of the path: bounded for every document. */
static const char *
check_below(const struct index_fit_special *x, struct mrs_view d, const char *path)
{
    MRS_ASSERT(mrs_view_is_framed(d) && path);
    struct mrs_elem e;
    uint32_t n = (uint32_t)strcspn(path, ".");
    mrs_doc_find(d, path, n, &e);
    if (x->kind == HASHED && e.v.type == MRS_ARRAY) {
        return "an array";
    }
    if (!path[n]) {
        return x->kind == TEXT ? mrs_text_language_fault(e.v) : x->kind == HASHED ? NULL : places(x, e.v);
    }
    if (e.v.type == MRS_DOCUMENT) {
        return check_below(x, mrs_val_view(e.v), path + n + 1);
    }
    struct mrs_walk w;
    struct mrs_elem one;
    const char *why = NULL;
    if (e.v.type == MRS_ARRAY) {
        for (mrs_walk_init(&w, mrs_val_view(e.v)); !why && mrs_walk_next(&w, &one) == 1;) {
            why = one.v.type == MRS_DOCUMENT ? check_below(x, mrs_val_view(one.v), path + n + 1) : NULL;
        }
    }
    return why;
}

static enum mrs_status
count(struct mrsi_fit *f, struct index_fit_found *x, struct mrs_view doc, const char *why, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    if (x->count++) {
        return MRS_OK;
    }
    x->why = why;
    size_t n = mrsi_id_write(mrs_doc_get(doc, "_id"), sizeof x->id - 1, &f->room);
    enum mrs_status s = mrs_buf_status(&f->room, e);
    if (s == MRS_OK) {
        memcpy(x->id, f->room.p, n);
        x->id[n] = 0;
    }
    return s;
}

enum mrs_status
mrsi_fit_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    struct mrsi_fit *f = en->fit ? en->fit[coll] : NULL;
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; f && s == MRS_OK && at < n;) {
        struct mrs_view doc = {p + at, mrs_le32(p + at)};
        uint32_t bad;
        at += doc.n;
        for (uint32_t i = 0; s == MRS_OK && i < f->n; i++) {
            const char *why = check_below(&f->special[i], doc, f->special[i].path);
            s = why && mrs_index_filter_takes(f->special[i].filter, doc) ? count(f, &f->found[i], doc, why, e) : MRS_OK;
        }
        s = s == MRS_OK && mrs_unique_count(f->arrays) ? mrs_unique_keys(f->arrays, doc, NULL, &bad, e) : s;
        s = s == MRS_SKIP ? count(f, &f->found[f->n + bad], doc, NULL, e) : s;
    }
    return s;
}

void
mrsi_fit_restart(struct mrsi_engine *en, uint32_t coll)
{
    MRS_ASSERT(coll < en->n_coll);
    struct mrsi_fit *f = en->fit ? en->fit[coll] : NULL;
    if (f) {
        memset(f->found, 0, (f->n + mrs_unique_count(f->arrays)) * sizeof *f->found);
    }
}

uint32_t
mrsi_fit_most(const struct mrsi_engine *en)
{
    uint32_t n = 0;
    for (uint32_t i = 0; en->fit && i < en->n_coll; i++) {
        n += en->fit[i] ? en->fit[i]->n + mrs_unique_count(en->fit[i]->arrays) : 0;
    }
    return n;
}

bool
mrsi_fit_line(const struct mrsi_engine *en, uint32_t no, char *line, size_t size)
{
    MRS_ASSERT(size > 0);
    for (uint32_t i = 0; i < en->n_coll; i++) {
        const struct mrsi_fit *f = en->fit[i];
        uint32_t n = f ? f->n + mrs_unique_count(f->arrays) : 0;
        if (no >= n) {
            no -= n;
            continue;
        }
        const struct index_fit_found *x = &f->found[no];
        const char *name = no < f->n ? f->special[no].name : mrs_unique_at(f->arrays, no - f->n)->name;
        char place[300];
        snprintf(place, sizeof place, "%s at %.200s", x->why ? x->why : "", no < f->n ? f->special[no].path : "");
        snprintf(line, size, MRS_NOTE_RESTORE_FAILS "index %.200s of %.260s: %llu document%s %s, the first is _id %s",
                 name, en->coll[i].last.ns, (unsigned long long)x->count, x->count == 1 ? " has" : "s have",
                 x->why ? place : "arrays in two of its fields", x->id);
        return x->count > 0 && en->coll[i].written && !en->coll[i].copied;
    }
    return false;
}
