/* SPDX-License-Identifier: Apache-2.0 */
/* indexes.c - rewrites indexes when the paths of their fields change.
 *
 * The plan decides, never the data. An index that could fail during a restore (a unique index that would become
 * multikey or find documents without its field), or would expire other documents than before, loses that option or is
 * not copied, and the report says so. A default name is regenerated only if the old one was the default; names and keys
 * stay unique in the collection. index_paths.c rewrites the paths of one index, catalog.c handles collections. */
#include "index_paths.h"
#include "mongoreshape/value.h"
#include "mongoreshape/catalogue.h"

bool
mrsi_index_plain(const struct mrs_path *path)
{
    MRS_ASSERT(path->part || path->n == 0);
    for (uint32_t i = 0; i < path->n; i++) {
        if (path->part[i].name[0] == '$' || strchr(path->part[i].name, '.')) {
            return false;
        }
    }
    return path->n > 0;
}

/* Does a field of its key have this kind ("hashed", "text")? "text" only before the index is built: listIndexes shows
 * other keys. */
static bool
has_kind(struct mrs_view index, const char *kind)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_val key = mrs_doc_get(index, "key");
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, key.type == MRS_DOCUMENT ? mrs_val_view(key) : mrs_empty_doc());
    while (mrs_walk_next(&w, &e) == 1) {
        if (mrs_val_is_text(e.v, kind)) {
            return true;
        }
    }
    return false;
}

/* Its name; NULL: none in the list. */
const char *
mrsi_index_text_of(const struct mrs_view *list, uint32_t n)
{
    MRS_ASSERT(list || n == 0);
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].p && has_kind(list[i], "text")) {
            return mrsi_index_name(list[i]);
        }
    }
    return NULL;
}

/* ---- names and equality ---- */
static void
put_part(struct mrs_buf *out, const char *name, struct mrs_val v)
{
    int64_t n;
    char text[48];
    mrs_buf_printf(out, "%s%s_", out->n ? "_" : "", name);
    if (mrs_val_integral(v, &n)) {
        mrs_buf_printf(out, "%lld", (long long)n);
    } else if (v.type == MRS_STRING) {
        mrs_buf_put(out, v.p + 4, v.n - 5);
    } else if (v.type == MRS_DOUBLE) {
        mrs_double_to_text(mrs_val_double(v), text);
        mrs_buf_put(out, text, strlen(text));
    } else if (v.type == MRS_BOOL) {
        mrs_buf_printf(out, "%s", v.p[0] ? "true" : "false");
    }
}

void
mrs_index_default_name(struct mrs_view index, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(index) && mrs_buf_is_sound(out));
    struct mrs_val key = mrs_doc_get(index, "key"), weights = mrs_doc_get(index, "weights");
    struct mrs_walk w, v;
    struct mrs_elem e, f;
    static const char text[] = "\5\0\0\0text";
    struct mrs_val is_text = {(const uint8_t *)text, sizeof text, MRS_STRING};
    if (key.type != MRS_DOCUMENT) {
        return;
    }
    mrs_walk_init(&w, mrs_val_view(key));
    while (mrs_walk_next(&w, &e) == 1) {
        if (strcmp(e.name, "_fts") == 0 && weights.type == MRS_DOCUMENT) {
            mrs_walk_init(&v, mrs_val_view(weights));
            while (mrs_walk_next(&v, &f) == 1) {
                put_part(out, f.name, is_text);
            }
        } else if (strcmp(e.name, "_ftsx") != 0) {
            put_part(out, e.name, e.v);
        }
    }
}

static bool
same_part(struct mrs_view a, struct mrs_view b, const char *name)
{
    return mrs_compare(mrs_doc_get(a, name), mrs_doc_get(b, name)) == 0;
}

/* Do two index documents define the same index: key, collation, filter, weights? */
static bool
are_equal(struct mrs_view a, struct mrs_view b)
{
    return same_part(a, b, "key") && same_part(a, b, "collation") && same_part(a, b, "partialFilterExpression") &&
           same_part(a, b, "weights") && same_part(a, b, "wildcardProjection");
}

/* ---- making index documents ---- */
struct shop { /* one operation on the indexes of a collection */
    struct mrs_catalog *cat;
    struct mrs_cat_coll *cc;
    struct mrs_err *err;
    struct mrs_buf buf, name;
};

static void
shop_open(struct shop *s, struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_mem *mem, struct mrs_err *e)
{
    memset(s, 0, sizeof *s);
    s->cat = cat;
    s->cc = cc;
    s->err = e;
    mrs_buf_init(&s->buf, mem, MRS_METADATA_MAX);
    mrs_buf_init(&s->name, mem, MRS_METADATA_MAX);
}

static enum mrs_status
shop_close(struct shop *s, enum mrs_status st)
{
    mrs_buf_clear(&s->buf);
    mrs_buf_clear(&s->name);
    return st == MRS_OK ? mrsi_cat_status(s->cat, s->err) : st;
}

/* The document of index with new parts and without the lost options. name NULL: keep its name. */
static enum mrs_status
assemble(struct shop *s, struct mrs_view index, const struct mrsi_index_parts *p, unsigned lose, const char *name,
         struct mrs_view *out)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrs_build b;
    struct mrs_view built;
    mrs_buf_reset(&s->buf);
    mrs_build_init(&b, &s->buf);
    mrs_walk_init(&w, index);
    while (mrs_walk_next(&w, &e) == 1) {
        struct mrs_val v = e.v;
        v = p && strcmp(e.name, "key") == 0 ? p->key : v;
        v = p && strcmp(e.name, "weights") == 0 ? p->weights : v;
        v = p && strcmp(e.name, "wildcardProjection") == 0 ? p->projection : v;
        v = p && strcmp(e.name, "language_override") == 0 ? p->override : v;
        v = p && strcmp(e.name, "partialFilterExpression") == 0 ? p->filter : v;
        bool lost = strcmp(e.name, "ns") == 0 || (lose & MRSI_LOSE_UNIQUE && strcmp(e.name, "unique") == 0) ||
                    (lose & MRSI_LOSE_UNIQUE && strcmp(e.name, "prepareUnique") == 0) ||
                    (lose & MRSI_LOSE_SPARSE && strcmp(e.name, "sparse") == 0) ||
                    (lose & MRSI_LOSE_PARTIAL && strcmp(e.name, "partialFilterExpression") == 0);
        if (name && strcmp(e.name, "name") == 0) {
            mrs_build_text(&b, "name", name, (uint32_t)strlen(name));
        } else if (!lost) {
            mrs_build_val(&b, e.name, e.name_len, v);
        }
    }
    enum mrs_status st = mrs_build_finish(&b, &built, s->err);
    *out = st == MRS_OK ? mrsi_cat_copy(s->cat, built) : built;
    return st == MRS_OK && !out->p ? mrs_err_memory(s->err, built.n) : st;
}

static bool
name_taken(const struct mrs_view *list, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].p && strcmp(mrsi_index_name(list[i]), name) == 0) {
            return true;
        }
    }
    return false;
}

/* The index with a name that is free in the list: its own if that was no default name, else the default of its new key
 * (before: the index before the change); `_` is appended until the name is free. */
static enum mrs_status
rename_free(struct shop *s, struct mrs_view before, struct mrs_view *index, const struct mrs_view *list, uint32_t n)
{
    MRS_ASSERT(list || n == 0);
    MRS_ASSERT(mrs_view_is_framed(before));
    mrs_buf_reset(&s->name);
    mrs_index_default_name(before, &s->name);
    mrs_buf_byte(&s->name, 0);
    MRS_TRY(mrs_buf_status(&s->name, s->err));
    bool by_default = strcmp((const char *)s->name.p, mrsi_index_name(before)) == 0;
    mrs_buf_reset(&s->name);
    if (by_default) {
        mrs_index_default_name(*index, &s->name);
    } else {
        mrs_buf_printf(&s->name, "%s", mrsi_index_name(*index));
    }
    mrs_buf_byte(&s->name, 0);
    while (!s->name.bad && name_taken(list, n, (const char *)s->name.p)) {
        s->name.p[s->name.n - 1] = '_';
        mrs_buf_byte(&s->name, 0);
    }
    enum mrs_status st = mrs_buf_status(&s->name, s->err);
    if (st != MRS_OK || strcmp((const char *)s->name.p, mrsi_index_name(*index)) == 0) {
        return st;
    }
    return assemble(s, *index, NULL, 0, (const char *)s->name.p, index);
}

static bool
has_equal(const struct mrs_view *list, uint32_t n, struct mrs_view index, const char **name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].p && are_equal(list[i], index)) {
            *name = mrsi_index_name(list[i]);
            return true;
        }
    }
    return false;
}

/* Adds an index document (at least key and name) with a free name, unless the list has one with the same key, collation
 * and filter. */
static enum mrs_status
add_index(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_view index, struct mrs_err *e)
{
    struct shop s;
    const char *name;
    if (has_equal(cc->index, cc->n_index, index, &name)) {
        return MRS_OK;
    }
    shop_open(&s, cat, cc, mrs_catalog_arena(cat)->mem, e);
    enum mrs_status st = rename_free(&s, index, &index, cc->index, cc->n_index);
    MRS_THEN(st, mrsi_cat_add_index(cat, cc, index, e));
    return shop_close(&s, st);
}

enum mrs_status
mrsi_index_reference(struct mrs_catalog *cat, struct mrs_cat_coll *cc, const char *const *path, uint32_t n,
                     struct mrs_err *e)
{
    MRS_ASSERT(n > 0 && path);
    struct mrs_buf buf, name;
    struct mrs_build b;
    struct mrs_view doc;
    if (n == 1 && strcmp(path[0], "_id") == 0) {
        return MRS_OK;
    }
    mrs_buf_init(&buf, mrs_catalog_arena(cat)->mem, MRS_METADATA_MAX);
    mrs_buf_init(&name, mrs_catalog_arena(cat)->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_i32(&b, "v", 2);
    mrs_build_open(&b, "key", 3, MRS_DOCUMENT);
    for (uint32_t i = 0; i < n; i++) {
        mrs_build_i32(&b, path[i], 1);
        mrs_buf_printf(&name, "%s%s_1", i ? "_" : "", path[i]);
    }
    mrs_build_close(&b);
    enum mrs_status s = mrs_buf_status(&name, e);
    if (s == MRS_OK) {
        mrs_build_text(&b, "name", (const char *)name.p, (uint32_t)name.n);
        s = mrs_build_finish(&b, &doc, e);
    }
    MRS_THEN(s, add_index(cat, cc, doc, e));
    mrs_buf_clear(&buf);
    mrs_buf_clear(&name);
    return s;
}

/* ---- in place ---- */
struct rewriting {
    struct shop shop;
    const struct mrsi_moves *m;
    bool keep_old;
    struct mrs_view *fresh;    /* the new version of each index; p NULL: none */
    struct mrs_view *old_kept; /* the old version that stays in addition; p NULL: none */
};

/* Two documents without the path are duplicates in a unique index, unless it is sparse on a single key and skips them.
 * An index that skipped documents may now find equal values in them. */
static unsigned
may_clash(const struct rewriting *r, struct mrs_view index)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    bool sparse = mrsi_index_option(index, "sparse");
    bool partial = mrs_doc_get(index, "partialFilterExpression").type != MRS_MISSING;
    const char *why = NULL;
    if ((r->keep_old || r->m->holes) && !(sparse && mrsi_index_keys(index) == 1)) {
        why = "some documents do not have its fields now";
    } else if (r->m->fills && (sparse || partial)) {
        why = "documents that it passed over have its fields now, perhaps with equal values";
    }
    if (!why || !mrsi_index_unique(index)) {
        return 0;
    }
    mrs_catalog_note(r->shop.cat, "index %s of %s is no longer unique: %s", mrsi_index_name(index),
                     r->shop.cc->coll.ns, why);
    return MRSI_LOSE_UNIQUE;
}

static enum mrs_status
rewrite_one(struct rewriting *r, uint32_t i)
{
    MRS_ASSERT(i < r->shop.cc->n_index);
    struct shop *s = &r->shop;
    struct mrs_view old = s->cc->index[i];
    struct mrsi_index_parts p;
    enum mrs_status st = mrsi_index_parts(mrs_catalog_arena(s->cat), &s->buf, r->m, old, &p, s->err);
    bool lost = p.key_lost || p.filter_lost || p.why;
    r->old_kept[i] = old;
    if (st != MRS_OK || (!lost && !p.moved && !(p.shrunk && !r->keep_old))) {
        return st;
    }
    if (!lost && p.shrunk) {
        mrs_catalog_note(s->cat, "index %s of %s takes in fewer fields: some are gone", mrsi_index_name(old),
                         s->cc->coll.ns);
    }
    unsigned lose = may_clash(r, old);
    r->old_kept[i].p = NULL;
    if (r->keep_old) {
        st = assemble(s, old, NULL, lose, NULL, &r->old_kept[i]);
    } else if (lost && !(r->m->reported && r->m->reported[i])) {
        bool named = !p.why && p.lost;
        mrs_catalog_note(s->cat, "index %s of %s left out: %s%s%s", mrsi_index_name(old), s->cc->coll.ns,
                         p.why ? p.why : "a path it needs is gone", named ? ": " : "", named ? p.lost : "");
    }
    return st == MRS_OK && !lost ? assemble(s, old, &p, lose, NULL, &r->fresh[i]) : st;
}

/* Builds the new list: a changed index stays at the position of its old version, so unchanged indexes keep their
 * names. */
static enum mrs_status
put_together(struct rewriting *r, uint32_t n)
{
    MRS_ASSERT(n == r->shop.cc->n_index);
    struct shop *s = &r->shop;
    struct mrs_view *list = mrs_arena_alloc(mrs_catalog_arena(s->cat), (2 * (size_t)n + 1) * sizeof *list);
    const char *twin;
    MRS_TRY(mrs_allocated(list, n * sizeof *list, s->err));
    for (uint32_t i = 0; i < n; i++) {
        list[2 * i] = r->old_kept[i];
        list[2 * i + 1] = (struct mrs_view){NULL, 0};
    }
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < n && st == MRS_OK; i++) {
        struct mrs_view one = r->fresh[i];
        if (!one.p) {
            continue;
        }
        if (has_equal(list, 2 * n, one, &twin)) {
            mrs_catalog_note(s->cat, "index %s of %s left out: %s has the same key now",
                             mrsi_index_name(s->cc->index[i]), s->cc->coll.ns, twin);
            continue;
        }
        if (has_kind(one, "text") && mrsi_index_text_of(list, 2 * n)) {
            mrs_catalog_note(s->cat, "index %s of %s stays on the old paths only: a collection has one text index at "
                                     "most", mrsi_index_name(s->cc->index[i]), s->cc->coll.ns);
            continue;
        }
        st = rename_free(s, s->cc->index[i], &one, list, 2 * n);
        list[2 * i + 1] = one;
    }
    uint32_t m = 0;
    for (uint32_t i = 0; i < 2 * n; i++) {
        if (list[i].p) {
            list[m++] = list[i];
        }
    }
    if (st == MRS_OK) {
        s->cc->index = list;
        s->cc->n_index = m;
    }
    return st;
}

enum mrs_status
mrsi_indexes_rewrite(struct mrs_catalog *cat, struct mrs_cat_coll *cc, const struct mrsi_moves *m, bool keep_old,
                     struct mrs_err *e)
{
    MRS_ASSERT(cc->exists);
    struct rewriting r = {.m = m, .keep_old = keep_old};
    uint32_t n = cc->n_index;
    struct mrs_view *both = mrs_arena_alloc(mrs_catalog_arena(cat), (2 * (size_t)n + 1) * sizeof *both);
    MRS_TRY(mrs_allocated(both, n * sizeof *both, e));
    memset(both, 0, 2 * (size_t)n * sizeof *both);
    r.fresh = both;
    r.old_kept = both + n;
    shop_open(&r.shop, cat, cc, mrs_catalog_arena(cat)->mem, e);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < n && st == MRS_OK; i++) {
        st = rewrite_one(&r, i);
    }
    MRS_THEN(st, put_together(&r, n));
    return shop_close(&r.shop, st);
}

/* ---- to another collection ---- */
static void
note_lost(struct shop *s, const struct mrs_cat_coll *from, struct mrs_view index, unsigned lost, const char *why)
{
    static const char *const words[] = {"", "unique", "sparse", "unique and sparse", "partial", "unique and partial",
                                        "sparse and partial", "unique, sparse and partial"};
    mrs_catalog_note(s->cat, "index %s of %s, carried to %s, is no longer %s: %s", mrsi_index_name(index),
                     from->coll.ns, s->cc->coll.ns, words[lost & 7], why);
}

/* The lost options that the index really has. */
static unsigned
losses_of(struct mrs_view index, const struct mrsi_index_parts *p, unsigned lose)
{
    unsigned lost = 0;
    lost |= mrsi_index_unique(index) ? lose & MRSI_LOSE_UNIQUE : 0;
    lost |= mrsi_index_option(index, "sparse") ? lose & MRSI_LOSE_SPARSE : 0;
    lost |= p->filter.type != MRS_MISSING ? lose & MRSI_LOSE_PARTIAL : 0;
    return lost;
}

/* Makes a unique index partial on the tag, so that it applies to the documents of one source. A sparse one also becomes
 * partial on its field, because a server accepts only one of both options; sparse on several keys cannot be expressed
 * as a filter. */
static enum mrs_status
tagged(struct shop *s, struct mrs_view *index, const struct mrsi_carry *how, bool *can)
{
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrs_build b;
    struct mrs_view built;
    bool sparse = mrsi_index_option(*index, "sparse");
    struct mrs_val filter = mrs_doc_get(*index, "partialFilterExpression"), key = mrs_doc_get(*index, "key");
    *can = !(sparse && mrsi_index_keys(*index) != 1) && !mrsi_index_is_id(*index);
    if (!*can) {
        return MRS_OK;
    }
    mrs_buf_reset(&s->buf);
    mrs_build_init(&b, &s->buf);
    mrs_walk_init(&w, *index);
    while (mrs_walk_next(&w, &e) == 1) {
        if (strcmp(e.name, "sparse") != 0 && strcmp(e.name, "partialFilterExpression") != 0) {
            mrs_build_elem(&b, &e);
        }
    }
    mrs_build_open(&b, "partialFilterExpression", 23, MRS_DOCUMENT);
    mrs_build_val(&b, how->tag, (uint32_t)strlen(how->tag), how->tag_value);
    if (sparse) {
        mrs_walk_init(&w, mrs_val_view(key));
        if (mrs_walk_next(&w, &e) == 1) {
            mrs_build_open(&b, e.name, e.name_len, MRS_DOCUMENT);
            mrs_build_bool(&b, "$exists", true);
            mrs_build_close(&b);
        }
    }
    if (filter.type == MRS_DOCUMENT && filter.n > 5) {
        mrs_build_raw(&b, filter.p + 4, filter.n - 5);
    }
    mrs_build_close(&b);
    enum mrs_status st = mrs_build_finish(&b, &built, s->err);
    *index = st == MRS_OK ? mrsi_cat_copy(s->cat, built) : *index;
    return st == MRS_OK && !index->p ? mrs_err_memory(s->err, built.n) : st;
}

static const char needs_paths[] = "it needs paths that are not there";

/* Why the index is not copied; NULL: it is, or needs no note. */
static const char *
obstacle(struct mrs_view index, const struct mrsi_index_parts *p, const struct mrsi_carry *how, bool *copied)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    bool partial = p->filter_lost && !(how->lose & MRSI_LOSE_PARTIAL);
    *copied = false;
    if (p->all && p->key_lost) {
        return "it covers all fields there: make one with the step `index` where it is wanted";
    }
    if (p->live == 0) {
        return how->lose & MRSI_WHOLE ? needs_paths : NULL;
    }
    if (p->key_lost || partial) {
        return how->lose & MRSI_QUIET ? NULL : needs_paths;
    }
    if (p->why) {
        return p->why;
    }
    if (mrsi_index_expires(index) && how->lose & MRSI_LEAVE_TTL) {
        return "it would expire other documents than before";
    }
    if (has_kind(index, "hashed") && how->lose & MRSI_LEAVE_HASHED) {
        return "a hashed index cannot hold an array";
    }
    if (has_kind(index, "text") && mrsi_index_keys(index) > 2 && how->lose & MRSI_LEAVE_HASHED) {
        return "a text index takes no array among its other keys";
    }
    *copied = true;
    return NULL;
}

static void
note_not_copied(struct shop *s, const struct mrs_cat_coll *from, struct mrs_view index, const char *why)
{
    mrs_catalog_note(s->cat, "index %s of %s is not copied to %s: %s", mrsi_index_name(index), from->coll.ns,
                     s->cc->coll.ns, why);
}

/* Like note_not_copied, with the missing paths. */
static void
note_needs(struct shop *s, const struct mrs_cat_coll *from, struct mrs_view index, const char *lost)
{
    mrs_catalog_note(s->cat, "index %s of %s is not copied to %s: %s%s%s", mrsi_index_name(index), from->coll.ns,
                     s->cc->coll.ns, needs_paths, lost ? ": " : "", lost ? lost : "");
}

/* Adds the index to the collection with a free name, unless there is an equal one; then the report says which of its
 * options that one lacks. */
static enum mrs_status
put_carried(struct shop *s, const struct mrs_cat_coll *from, struct mrs_view old, struct mrs_view one, bool reported)
{
    MRS_ASSERT(mrs_view_is_framed(old) && mrs_view_is_framed(one));
    const char *twin;
    for (uint32_t i = 0; i < s->cc->n_index; i++) {
        struct mrs_view is = s->cc->index[i];
        bool weaker = (mrsi_index_unique(one) && !mrsi_index_unique(is)) ||
                      mrs_compare(mrs_doc_get(one, "expireAfterSeconds"), mrs_doc_get(is, "expireAfterSeconds")) != 0;
        if (!reported && weaker && are_equal(is, one)) {
            mrs_catalog_note(s->cat, "index %s of %s is not copied to %s: %s has the same key there, with other "
                                     "options", mrsi_index_name(old), from->coll.ns, s->cc->coll.ns,
                             mrsi_index_name(is));
        }
    }
    if (has_equal(s->cc->index, s->cc->n_index, one, &twin)) {
        return MRS_OK;
    }
    const char *why = has_kind(one, "text") && mrsi_index_text_of(s->cc->index, s->cc->n_index)
                          ? "a collection has one text index at most" : NULL;
    if (why) {
        note_not_copied(s, from, old, why);
        return MRS_OK;
    }
    enum mrs_status st = rename_free(s, old, &one, s->cc->index, s->cc->n_index);
    return st == MRS_OK ? mrsi_cat_add_index(s->cat, s->cc, one, s->err) : st;
}

static enum mrs_status
carry_one(struct shop *s, const struct mrs_cat_coll *from, struct mrs_view old, const struct mrsi_carry *how,
          bool *reported)
{
    MRS_ASSERT(mrs_view_is_framed(old));
    struct mrsi_index_parts p;
    struct mrs_view one;
    bool kept = false, copied = false;
    enum mrs_status st = mrsi_index_parts(mrs_catalog_arena(s->cat), &s->buf, how->moves, old, &p, s->err);
    if (st != MRS_OK) {
        return st;
    }
    const char *why = obstacle(old, &p, how, &copied);
    *reported = copied || why;
    if (why == needs_paths) {
        note_needs(s, from, old, p.lost);
    } else if (why) {
        note_not_copied(s, from, old, why);
    }
    if (!copied) {
        return MRS_OK;
    }
    unsigned lose = losses_of(old, &p, how->lose);
    if (how->tag && mrsi_index_unique(old)) {
        st = assemble(s, old, &p, 0, NULL, &one);
        MRS_THEN(st, tagged(s, &one, how, &kept));
        lose = kept ? 0 : lose;
    }
    if (st == MRS_OK && kept) {
        mrs_catalog_note(s->cat, "index %s of %s, carried to %s, is unique only among documents whose %s says that "
                                 "they are from there", mrsi_index_name(old), from->coll.ns, s->cc->coll.ns, how->tag);
    } else if (st == MRS_OK) {
        st = assemble(s, old, &p, lose, NULL, &one);
    }
    if (p.shrunk && how->lose & MRSI_WHOLE) {
        mrs_catalog_note(s->cat, "index %s of %s, carried to %s, takes in fewer fields: some are not there",
                         mrsi_index_name(old), from->coll.ns, s->cc->coll.ns);
    }
    if (st == MRS_OK && lose) {
        note_lost(s, from, old, lose, how->why);
    }
    return st == MRS_OK ? put_carried(s, from, old, one, lose != 0) : st;
}

enum mrs_status
mrsi_indexes_carry(struct mrs_catalog *cat, const struct mrs_cat_coll *from, struct mrs_cat_coll *into,
                   const struct mrsi_carry *how, struct mrs_err *e)
{
    MRS_ASSERT(from != into && how->moves);
    struct shop s;
    enum mrs_status st = MRS_OK;
    uint32_t n = from->n_index;
    const struct mrs_view *index = from->index;
    shop_open(&s, cat, into, mrs_catalog_arena(cat)->mem, e);
    for (uint32_t i = 0; i < n && st == MRS_OK; i++) {
        bool reported = false;
        if (!mrsi_index_is_id(index[i])) {
            st = carry_one(&s, from, index[i], how, &reported);
        }
        if (how->reported) {
            how->reported[i] = reported;
        }
    }
    return shop_close(&s, st);
}
