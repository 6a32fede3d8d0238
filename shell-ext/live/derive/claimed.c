/* SPDX-License-Identifier: Apache-2.0 */
/* claimed.c - removes claimed fields of a run from documents, and adds them.
 *
 * A claimed field is at the top level, inside an application's subdocuments, or inside each document of an array.
 * Recursion follows the names of the plan, never the nesting of data. */
#include "claimed.h"

#include "mongoreshape/value.h"

struct claimed_level { /* a level of documents; its path is the first n bytes of `path`, with their dots */
    struct live_claimed k;
    const char *path;
    size_t n;
};
enum claimed_kind { FREE, CLAIMED, HOLDS };

/* The kind of a field of the level; HOLDS: claimed fields may be inside it, at the level *below. */
static enum claimed_kind
kind_of(const struct claimed_level *l, const struct mrs_elem *e, struct claimed_level *below)
{
    enum claimed_kind kind = FREE;
    bool plain = !memchr(e->name, '.', e->name_len); /* a name that contains a dot is an application's */
    for (uint32_t i = 0; i < l->k.n && plain && kind == FREE; i++) {
        const char *name = l->k.name[i], *rest = name + l->n;
        if (strncmp(name, l->path, l->n) != 0 || strncmp(rest, e->name, e->name_len) != 0) {
            continue;
        }
        kind = rest[e->name_len] == 0 ? CLAIMED : rest[e->name_len] == '.' ? HOLDS : FREE;
        *below = (struct claimed_level){l->k, name, l->n + e->name_len + 1};
    }
    return kind;
}

static bool
is_document(struct mrs_val v)
{
    return v.type == MRS_DOCUMENT;
}

static struct mrs_view
inside(struct mrs_val v)
{
    return is_document(v) ? mrs_val_view(v) : mrs_empty_doc();
}

static void check_doc(const struct claimed_level *l, struct mrs_view d, bool *claimed, bool *other);

/* A value that may contain claimed fields; an array itself is other content. */
static void
check_value(const struct claimed_level *below, struct mrs_val v, bool *claimed, bool *other)
{
    struct mrs_walk w;
    struct mrs_elem e;
    if (is_document(v) && v.n > MRS_DOC_MIN) {
        check_doc(below, mrs_val_view(v), claimed, other);
        return;
    }
    *other = true;
    if (v.type != MRS_ARRAY) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &e) == 1;) {
        check_doc(below, inside(e.v), claimed, other);
    }
}

/* Does a document have a claimed field, and does it have other content? */
static void
check_doc(const struct claimed_level *l, struct mrs_view d, bool *claimed, bool *other)
{
    struct claimed_level below;
    struct mrs_walk w;
    struct mrs_elem e;
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) == 1;) {
        enum claimed_kind kind = kind_of(l, &e, &below);
        *claimed = *claimed || kind == CLAIMED;
        *other = *other || kind == FREE;
        if (kind == HOLDS) {
            check_value(&below, e.v, claimed, other);
        }
    }
}

static bool
only_claimed(const struct claimed_level *below, struct mrs_val v)
{
    bool claimed = false, other = false;
    check_value(below, v, &claimed, &other);
    return claimed && !other;
}

static bool
has_claimed(const struct claimed_level *below, struct mrs_val v)
{
    bool claimed = false, other = false;
    check_value(below, v, &claimed, &other);
    return claimed;
}

bool
live_claimed_any(struct live_claimed k, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct claimed_level top = {k, "", 0};
    bool claimed = false, other = false;
    check_doc(&top, doc, &claimed, &other);
    return claimed;
}

/* ---- remove ---- */
static void put_out(const struct claimed_level *l, struct mrs_view d, struct mrs_build *b);

/* A value that may contain claimed fields: a document, or an array of documents. */
static void
put_out_of(const struct claimed_level *below, const struct mrs_elem *e, struct mrs_build *b)
{
    struct mrs_walk w;
    struct mrs_elem item;
    mrs_build_open(b, e->name, e->name_len, e->v.type);
    if (is_document(e->v)) {
        put_out(below, mrs_val_view(e->v), b);
    }
    mrs_walk_init(&w, e->v.type == MRS_ARRAY ? mrs_val_view(e->v) : mrs_empty_doc());
    while (mrs_walk_next(&w, &item) == 1) {
        if (is_document(item.v)) {
            put_out_of(below, &item, b);
        } else {
            mrs_build_elem(b, &item);
        }
    }
    mrs_build_close(b);
}

/* Does content follow that is not the run's? The run appends its additions at the end, so a document that is empty
 * without them and comes before other content existed before. */
static bool
other_behind(const struct claimed_level *l, struct mrs_walk w)
{
    struct claimed_level below;
    struct mrs_elem e;
    bool other = false;
    while (!other && mrs_walk_next(&w, &e) == 1) {
        enum claimed_kind kind = kind_of(l, &e, &below);
        other = kind == FREE || (kind == HOLDS && !only_claimed(&below, e.v));
    }
    return other;
}

static void
put_out(const struct claimed_level *l, struct mrs_view d, struct mrs_build *b)
{
    struct claimed_level below;
    struct mrs_walk w;
    struct mrs_elem e;
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) == 1;) {
        enum claimed_kind kind = kind_of(l, &e, &below);
        if (kind == FREE || (kind == HOLDS && !has_claimed(&below, e.v))) {
            mrs_build_elem(b, &e);
        } else if (kind == HOLDS && (!only_claimed(&below, e.v) || other_behind(l, w))) {
            put_out_of(&below, &e, b);
        }
    }
}

enum mrs_status
live_claimed_out(struct live_claimed k, struct mrs_view doc, struct mrs_buf *buf, struct mrs_view *out,
                 struct mrs_err *e)
{
    struct claimed_level top = {k, "", 0};
    struct mrs_build b;
    *out = doc;
    if (!k.n || !live_claimed_any(k, doc)) {
        return MRS_OK;
    }
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    put_out(&top, doc, &b);
    return mrs_build_finish(&b, out, e);
}

/* ---- add ---- */
/* Are the claimed fields in doc the first ones of `after`, in its order? Then they keep their position, and missing
 * ones are appended. */
static bool
same_order(const struct claimed_level *l, struct mrs_view doc, struct mrs_view after)
{
    struct claimed_level below;
    struct mrs_walk there, target;
    struct mrs_elem el, next;
    mrs_walk_init(&target, after);
    mrs_walk_init(&there, doc);
    while (mrs_walk_next(&there, &el) == 1) {
        if (kind_of(l, &el, &below) != CLAIMED || mrs_doc_get(after, el.name).type == MRS_MISSING) {
            continue;
        }
        do {
            if (mrs_walk_next(&target, &next) != 1) {
                return false;
            }
        } while (kind_of(l, &next, &below) != CLAIMED);
        if (strcmp(el.name, next.name) != 0) {
            return false;
        }
    }
    return true;
}

static void put_in(const struct claimed_level *l, struct mrs_view doc, struct mrs_view after, struct mrs_build *b);

static void
put_inside(const struct claimed_level *below, const struct mrs_elem *e, struct mrs_view doc, struct mrs_view after,
           struct mrs_build *b)
{
    mrs_build_open(b, e->name, e->name_len, MRS_DOCUMENT);
    put_in(below, doc, after, b);
    mrs_build_close(b);
}

/* Element by element. */
static void
put_items(const struct claimed_level *below, const struct mrs_elem *e, struct mrs_val after, struct mrs_build *b)
{
    struct mrs_walk there, target;
    struct mrs_elem item, next;
    mrs_walk_init(&there, mrs_val_view(e->v));
    mrs_walk_init(&target, after.type == MRS_ARRAY ? mrs_val_view(after) : mrs_empty_doc());
    mrs_build_open(b, e->name, e->name_len, MRS_ARRAY);
    while (mrs_walk_next(&there, &item) == 1) {
        struct mrs_view made = mrs_walk_next(&target, &next) == 1 ? inside(next.v) : mrs_empty_doc();
        if (is_document(item.v)) {
            put_inside(below, &item, mrs_val_view(item.v), made, b);
        } else {
            mrs_build_elem(b, &item);
        }
    }
    mrs_build_close(b);
}

/* The new form of a value that may contain claimed fields. */
static void
put_holder(const struct claimed_level *below, const struct mrs_elem *e, struct mrs_val after, struct mrs_build *b)
{
    bool target = has_claimed(below, after);
    if (e->v.type == MRS_ARRAY && (target || has_claimed(below, e->v))) {
        put_items(below, e, after, b);
    } else if (!is_document(e->v)) {
        mrs_build_elem(b, e);
    } else if (target || !only_claimed(below, e->v)) {
        put_inside(below, e, mrs_val_view(e->v), inside(after), b);
    }
}

static void
put_in(const struct claimed_level *l, struct mrs_view doc, struct mrs_view after, struct mrs_build *b)
{
    struct claimed_level below;
    struct mrs_walk w;
    struct mrs_elem e;
    bool keep_places = same_order(l, doc, after);
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &e) == 1;) {
        enum claimed_kind kind = kind_of(l, &e, &below);
        if (kind == CLAIMED && keep_places) {
            mrs_build_val(b, e.name, e.name_len, mrs_doc_get(after, e.name));
        } else if (kind == HOLDS) {
            put_holder(&below, &e, mrs_doc_get(after, e.name), b);
        } else if (kind != CLAIMED) {
            mrs_build_elem(b, &e);
        }
    }
    for (mrs_walk_init(&w, after); mrs_walk_next(&w, &e) == 1;) {
        enum claimed_kind kind = kind_of(l, &e, &below);
        bool missing = mrs_doc_get(doc, e.name).type == MRS_MISSING;
        if (kind == CLAIMED && (!keep_places || missing)) {
            mrs_build_elem(b, &e);
        } else if (kind == HOLDS && missing && is_document(e.v) && has_claimed(&below, e.v)) {
            put_inside(&below, &e, mrs_empty_doc(), mrs_val_view(e.v), b);
        }
    }
}

enum mrs_status
live_claimed_in(struct live_claimed k, struct mrs_view doc, struct mrs_view after, struct mrs_buf *buf,
                struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_view_is_framed(after));
    struct claimed_level top = {k, "", 0};
    struct mrs_build b;
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    put_in(&top, doc, after, &b);
    return mrs_build_finish(&b, out, e);
}

/* ---- compare ---- */
static bool site_differs(const char *path, struct mrs_view a, struct mrs_view b, bool within);

static bool
items_differ(const char *path, struct mrs_val a, struct mrs_val b, bool within)
{
    struct mrs_walk wa, wb;
    struct mrs_elem x, y;
    bool differ = false, more_a = true, more_b = true;
    mrs_walk_init(&wa, a.type == MRS_ARRAY ? mrs_val_view(a) : mrs_empty_doc());
    mrs_walk_init(&wb, b.type == MRS_ARRAY ? mrs_val_view(b) : mrs_empty_doc());
    while (!differ && (more_a || more_b)) {
        more_a = mrs_walk_next(&wa, &x) == 1;
        more_b = mrs_walk_next(&wb, &y) == 1;
        differ = site_differs(path, more_a ? inside(x.v) : mrs_empty_doc(), more_b ? inside(y.v) : mrs_empty_doc(),
                              within);
    }
    return differ;
}

static bool
site_differs(const char *path, struct mrs_view a, struct mrs_view b, bool within)
{
    uint32_t n = (uint32_t)strcspn(path, ".");
    struct mrs_elem x, y;
    mrs_doc_find(a, path, n, &x);
    mrs_doc_find(b, path, n, &y);
    if (!path[n]) {
        return !(within && x.v.type == MRS_MISSING) && !mrs_identical(x.v, y.v);
    }
    return x.v.type == MRS_ARRAY || y.v.type == MRS_ARRAY
               ? items_differ(path + n + 1, x.v, y.v, within)
               : site_differs(path + n + 1, inside(x.v), inside(y.v), within);
}

const char *
live_claimed_differs(struct live_claimed k, struct mrs_view a, struct mrs_view b, bool within)
{
    const char *name = NULL;
    for (uint32_t i = 0; i < k.n && !name; i++) {
        name = site_differs(k.name[i], a, b, within) ? k.name[i] : NULL;
    }
    return name;
}
