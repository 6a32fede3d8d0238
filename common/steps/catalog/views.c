/* SPDX-License-Identifier: Apache-2.0 */
/* views.c - finds views that read from a collection that a plan drops, renames or changes.
 *
 * A view names collections in `viewOn` and, at any depth of its pipeline, in $lookup, $graphLookup and $unionWith;
 * views of such a view depend on them, too. None is rewritten: only its owner knows what it is to show. A restore
 * accepts a view without its collection, and the view is then always empty, so the report names each. */
#include "indexes.h"
#include "mongoreshape/value.h"
#include "mongoreshape/catalogue.h"

struct views_reader {
    const struct mrs_cat_coll *view;
    const struct mrs_coll *on; /* the collection that it names, or a view of it; NULL: none of these */
};
struct readers {
    struct views_reader *at;
    uint32_t n;
};

/* Does v, of a view or its pipeline, name the collection: as text, or {db, coll}? */
static bool
names_coll(const struct mrs_cat_coll *view, struct mrs_val v, const struct mrs_coll *coll)
{
    if (v.type != MRS_DOCUMENT) {
        return mrs_val_is_text(v, coll->coll) && strcmp(view->coll.db, coll->db) == 0;
    }
    struct mrs_val db = mrs_doc_get(mrs_val_view(v), "db");
    bool same_db = db.type == MRS_MISSING ? strcmp(view->coll.db, coll->db) == 0 : mrs_val_is_text(db, coll->db);
    return same_db && mrs_val_is_text(mrs_doc_get(mrs_val_view(v), "coll"), coll->coll);
}

static bool
stage_names(const struct mrs_cat_coll *view, const struct mrs_elem *stage, const struct mrs_coll *coll)
{
    bool join = strcmp(stage->name, "$lookup") == 0 || strcmp(stage->name, "$graphLookup") == 0;
    if (join && stage->v.type == MRS_DOCUMENT) {
        return names_coll(view, mrs_doc_get(mrs_val_view(stage->v), "from"), coll);
    }
    return strcmp(stage->name, "$unionWith") == 0 && names_coll(view, stage->v, coll);
}

static bool
reads_from(const struct mrs_cat_coll *view, const struct mrs_coll *coll)
{
    MRS_ASSERT(coll->coll);
    struct mrs_walk stack[MRS_DEPTH_MAX];
    struct mrs_val pipeline = mrs_doc_get(view->options, "pipeline");
    struct mrs_elem e;
    int depth = 0;
    if (names_coll(view, mrs_doc_get(view->options, "viewOn"), coll)) {
        return true;
    }
    if (pipeline.type == MRS_ARRAY) {
        mrs_walk_init(&stack[depth++], mrs_val_view(pipeline));
    }
    while (depth) {
        if (mrs_walk_next(&stack[depth - 1], &e) != 1) {
            depth--;
        } else if (stage_names(view, &e, coll)) {
            return true;
        } else if ((e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY) && depth < MRS_DEPTH_MAX) {
            mrs_walk_init(&stack[depth++], mrs_val_view(e.v));
        }
    }
    return false;
}

/* Collects the views that read from the collection: first those that name it, then those that name one of them. */
static enum mrs_status
find_readers(struct mrs_catalog *cat, const struct mrs_coll *coll, struct readers *out, struct mrs_err *e)
{
    uint32_t n = 0;
    *out = (struct readers){NULL, 0};
    for (uint32_t i = 0; i < mrs_catalog_count(cat); i++) {
        const struct mrs_cat_coll *cc = mrs_catalog_at(cat, i);
        n += cc->exists && cc->kind == MRS_COLL_VIEW;
    }
    if (!n) {
        return MRS_OK;
    }
    out->at = mrs_arena_alloc(mrs_catalog_arena(cat), n * sizeof *out->at);
    MRS_TRY(mrs_allocated(out->at, n * sizeof *out->at, e));
    n = 0;
    for (uint32_t i = 0; i < mrs_catalog_count(cat); i++) {
        const struct mrs_cat_coll *cc = mrs_catalog_at(cat, i);
        if (cc->exists && cc->kind == MRS_COLL_VIEW) {
            out->at[n++] = (struct views_reader){cc, NULL};
        }
    }
    const struct mrs_coll *on = coll;
    for (uint32_t next = 0;; on = &out->at[next++].view->coll) {
        for (uint32_t i = out->n; i < n; i++) {
            if (reads_from(out->at[i].view, on)) {
                struct views_reader found = {out->at[i].view, on};
                out->at[i] = out->at[out->n];
                out->at[out->n++] = found;
            }
        }
        if (next == out->n) {
            return MRS_OK;
        }
    }
}

enum mrs_status
mrsi_views_note_removed(struct mrs_catalog *cat, const struct mrs_coll *coll, const char *what, struct mrs_err *e)
{
    struct readers all;
    enum mrs_status s = find_readers(cat, coll, &all, e);
    for (uint32_t i = 0; s == MRS_OK && i < all.n; i++) {
        const struct views_reader *r = &all.at[i];
        if (r->on == coll) {
            mrs_catalog_note(cat, "the view %s reads from %s, which is %s", r->view->coll.ns, coll->ns, what);
        } else {
            mrs_catalog_note(cat, "the view %s reads from the view %s, which depends on %s, which is %s",
                             r->view->coll.ns, r->on->ns, coll->ns, what);
        }
    }
    return s;
}

/* Does a path, also "$as.a", contain the first name of the other one? */
static bool
has_part(const char *text, const char *path)
{
    size_t n = strcspn(path, ".");
    for (const char *p = text; *p; p += *p == '.') {
        size_t m;
        p += strspn(p, "$");
        m = strcspn(p, ".");
        if (m == n && memcmp(p, path, n) == 0) {
            return true;
        }
        p += m;
    }
    return false;
}

/* Like mrsi_names_path, for a pipeline that finds the documents below some field. */
static bool
names_below(struct mrs_view pipeline, const char *path)
{
    MRS_ASSERT(mrs_view_is_framed(pipeline));
    struct mrs_walk stack[MRS_DEPTH_MAX];
    struct mrs_elem e;
    int depth = 1;
    mrs_walk_init(&stack[0], pipeline);
    while (depth) {
        if (mrs_walk_next(&stack[depth - 1], &e) != 1) {
            depth--;
        } else if (has_part(e.name, path) || (e.v.type == MRS_STRING && has_part((const char *)e.v.p + 4, path))) {
            return true;
        } else if ((e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY) && depth < MRS_DEPTH_MAX) {
            mrs_walk_init(&stack[depth++], mrs_val_view(e.v));
        }
    }
    return false;
}

/* The change of the side that concerns the view's pipeline: a path, or all that documents have; NULL: none. */
static const struct mrs_touch *
change_for(const struct mrs_cat_coll *view, const struct mrs_desc *d, uint32_t side)
{
    struct mrs_val pipeline = mrs_doc_get(view->options, "pipeline");
    struct mrs_view stages = pipeline.type == MRS_ARRAY ? mrs_val_view(pipeline) : mrs_empty_doc();
    bool over = names_coll(view, mrs_doc_get(view->options, "viewOn"), &d->sides[side].coll);
    for (uint32_t k = 0; k < d->n_touches; k++) {
        const struct mrs_touch *t = &d->touches[k];
        bool whole = !t->path[0] && t->kind == 'D';
        bool named = t->path[0] && t->kind != 'R' &&
                     (mrsi_names_path(stages, t->path) || (!over && names_below(stages, t->path)));
        if (t->side == (int)side && (whole || named)) {
            return t;
        }
    }
    return NULL;
}

enum mrs_status
mrsi_views_note_changes(struct mrs_catalog *cat, const struct mrs_desc *d, uint32_t side, struct mrs_err *e)
{
    MRS_ASSERT(side < d->n_sides);
    const struct mrs_coll *coll = &d->sides[side].coll;
    struct readers all;
    enum mrs_status s = find_readers(cat, coll, &all, e);
    for (uint32_t i = 0; s == MRS_OK && i < all.n; i++) {
        const struct mrs_cat_coll *view = all.at[i].view;
        const struct mrs_touch *t = change_for(view, d, side);
        if (t && t->path[0]) {
            mrs_catalog_note(cat, "the view %s reads from %s and may concern %s, which changes: look at its "
                                  "pipeline", view->coll.ns, coll->ns, t->path);
        } else if (t) {
            mrs_catalog_note(cat, "the view %s reads from %s, %s: look at what it shows", view->coll.ns, coll->ns,
                             d->family == MRS_FAMILY_MAP ? "whose documents get other fields"
                                                         : "which documents leave");
        }
    }
    return s;
}
