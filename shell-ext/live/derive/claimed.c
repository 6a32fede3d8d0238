/* SPDX-License-Identifier: Apache-2.0 */
/* claimed.c - documents without the fields that a run has claimed, and with them.
 *
 * A claimed field stands at the top or inside documents that are an application's. Recursion follows the names of the
 * plan, never the nesting of data. */
#include "claimed.h"

struct claimed_level { /* of documents; the names that lead to it are the first n bytes of `path`, with their dots */
    struct live_claimed k;
    const char *path;
    size_t n;
};
enum claimed_kind { FREE, CLAIMED, HOLDS };

/* What a field of the level is; HOLDS: claimed fields may lie inside it, at the level *below. */
static enum claimed_kind
kind_of(const struct claimed_level *l, const struct mrs_elem *e, struct claimed_level *below)
{
    enum claimed_kind kind = FREE;
    bool plain = !memchr(e->name, '.', e->name_len); /* a name that has a dot itself is an application's */
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

/* Whether a document has a claimed field, and whether it has anything else. */
static void
look(const struct claimed_level *l, struct mrs_view d, bool *claimed, bool *other)
{
    struct claimed_level below;
    struct mrs_walk w;
    struct mrs_elem e;
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) == 1;) {
        enum claimed_kind kind = kind_of(l, &e, &below);
        bool deeper = kind == HOLDS && is_document(e.v) && e.v.n > MRS_DOC_MIN;
        *claimed = *claimed || kind == CLAIMED;
        *other = *other || (kind != CLAIMED && !deeper);
        if (deeper) {
            look(&below, mrs_val_view(e.v), claimed, other);
        }
    }
}

static bool
only_claimed(const struct claimed_level *l, struct mrs_view d)
{
    bool claimed = false, other = false;
    look(l, d, &claimed, &other);
    return claimed && !other;
}

static bool
has_claimed(const struct claimed_level *l, struct mrs_view d)
{
    bool claimed = false, other = false;
    look(l, d, &claimed, &other);
    return claimed;
}

static void
put_out(const struct claimed_level *l, struct mrs_view d, struct mrs_build *b)
{
    struct claimed_level below;
    struct mrs_walk w;
    struct mrs_elem e;
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) == 1;) {
        enum claimed_kind kind = kind_of(l, &e, &below);
        if (kind == FREE || (kind == HOLDS && !has_claimed(&below, inside(e.v)))) {
            mrs_build_elem(b, &e);
        } else if (kind == HOLDS && !only_claimed(&below, inside(e.v))) {
            mrs_build_open(b, e.name, e.name_len, MRS_DOCUMENT);
            put_out(&below, inside(e.v), b);
            mrs_build_close(b);
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
    if (!k.n || !has_claimed(&top, doc)) {
        return MRS_OK;
    }
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    put_out(&top, doc, &b);
    return mrs_build_finish(&b, out, e);
}

/* ---- with them ---- */
/* Whether the claimed fields that stand in doc come first among those of `after`, in its order: then they stay where
 * they are, and what is missing goes behind. */
static bool
begin_alike(const struct claimed_level *l, struct mrs_view doc, struct mrs_view after)
{
    struct claimed_level below;
    struct mrs_walk there, wanted;
    struct mrs_elem el, next;
    mrs_walk_init(&wanted, after);
    mrs_walk_init(&there, doc);
    while (mrs_walk_next(&there, &el) == 1) {
        if (kind_of(l, &el, &below) != CLAIMED || mrs_doc_get(after, el.name).type == MRS_MISSING) {
            continue;
        }
        do {
            if (mrs_walk_next(&wanted, &next) != 1) {
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

static void
put_in(const struct claimed_level *l, struct mrs_view doc, struct mrs_view after, struct mrs_build *b)
{
    struct claimed_level below;
    struct mrs_walk w;
    struct mrs_elem e;
    bool stay = begin_alike(l, doc, after);
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &e) == 1;) {
        enum claimed_kind kind = kind_of(l, &e, &below);
        struct mrs_view made = inside(mrs_doc_get(after, e.name));
        if (kind == CLAIMED && stay) {
            mrs_build_val(b, e.name, e.name_len, mrs_doc_get(after, e.name));
        } else if (kind == HOLDS && is_document(e.v)) {
            if (has_claimed(&below, made) || !only_claimed(&below, inside(e.v))) {
                put_inside(&below, &e, inside(e.v), made, b);
            }
        } else if (kind != CLAIMED) {
            mrs_build_elem(b, &e);
        }
    }
    for (mrs_walk_init(&w, after); mrs_walk_next(&w, &e) == 1;) {
        enum claimed_kind kind = kind_of(l, &e, &below);
        bool missing = mrs_doc_get(doc, e.name).type == MRS_MISSING;
        if (kind == CLAIMED && (!stay || missing)) {
            mrs_build_elem(b, &e);
        } else if (kind == HOLDS && missing && has_claimed(&below, inside(e.v))) {
            put_inside(&below, &e, mrs_empty_doc(), inside(e.v), b);
        }
    }
}

enum mrs_status
live_claimed_in(struct live_claimed k, struct mrs_view doc, struct mrs_view after, struct mrs_buf *buf,
                struct mrs_view *out, struct mrs_err *e)
{
    struct claimed_level top = {k, "", 0};
    struct mrs_build b;
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    put_in(&top, doc, after, &b);
    return mrs_build_finish(&b, out, e);
}

/* ---- where they cannot be ---- */
static const char *
find_array(const struct claimed_level *l, struct mrs_view d)
{
    struct claimed_level below;
    struct mrs_walk w;
    struct mrs_elem e;
    const char *found = NULL;
    for (mrs_walk_init(&w, d); !found && mrs_walk_next(&w, &e) == 1;) {
        if (kind_of(l, &e, &below) == HOLDS) {
            found = e.v.type == MRS_ARRAY ? below.path : find_array(&below, inside(e.v));
        }
    }
    return found;
}

const char *
live_claimed_array(struct live_claimed k, struct mrs_view doc)
{
    struct claimed_level top = {k, "", 0};
    return find_array(&top, doc);
}
