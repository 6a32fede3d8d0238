/* SPDX-License-Identifier: Apache-2.0 */
/* embed_describe.c - embed: its description, its effect on the catalog.
 *
 * The paths read, added and removed decide whether a plan may run while writers run; the losses are what extract, its
 * inverse, cannot restore. Indexes of the children are copied to the parent if they keep their meaning: there they are
 * multikey and lose unique, sparse and partial. One that expires documents is not copied: it would delete parents. */
#include "embed.h"
#include "steps/catalog/indexes.h"
#include "steps/kit/describe.h"
#include "mongoreshape/catalogue.h"

/* ---- describe ---- */
/* The fields of a document of `from` that its parent gets. */
static void
describe_shape(struct mrsi_describe *t, const struct mrsi_fields *f)
{
    if (!f->present) {
        mrsi_describe_touch(t, 0, 'R', "");
    } else if (!f->map && !f->without_id) {
        mrsi_describe_touch(t, 0, 'R', "_id");
    }
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->map) {
            mrsi_describe_expr(t, 0, f->expr[i]);
        } else {
            mrsi_describe_touch(t, 0, 'R', f->path[i].text);
        }
    }
}

static void
describe_touches(struct mrsi_describe *t, const struct mrsi_embed *s)
{
    mrsi_describe_match(t, s->join.pair, s->join.n);
    mrsi_describe_query(t, 0, s->join.where);
    mrsi_describe_sort(t, 0, s->sort);
    describe_shape(t, &s->shape.fields);
    mrsi_describe_names(t, 0, NULL, s->shape.drop.path, s->shape.fields.map ? 0 : s->shape.drop.n);
    if (s->keep != EMBED_KEEP_ALL || s->orphans != EMBED_ORPHANS_KEEP) {
        mrsi_describe_touch(t, 0, 'D', "");
    }
    if (s->in_place) {
        mrsi_describe_touch(t, 1, 'D', s->as.text);
    }
    mrsi_describe_touch(t, 1, 'A', s->as.text);
    if (s->count.n) {
        mrsi_describe_touch(t, 1, 'A', s->count.text);
    }
    if (s->flag.n) {
        mrsi_describe_touch(t, 1, 'A', s->flag.text);
    }
    if (s->ref_edit) {
        mrsi_describe_touch(t, 1, 'D', s->join.pair[0].into.path.text);
    }
    if (s->overflow.present) {
        mrsi_describe_touch(t, 1, 'R', "_id");
        mrsi_describe_touch(t, s->side_overflow, 'A', "");
    }
    if (s->side_orphans >= 0) {
        mrsi_describe_touch(t, s->side_orphans, 'A', "");
    }
}

static void
describe_losses(struct mrsi_describe *t, const struct mrsi_embed *s)
{
    const char *from = s->join.from.ns;
    if (s->orphans == EMBED_ORPHANS_DROP) {
        mrsi_describe_loss(t, "orphans dropped: documents of %s without a match", from);
    }
    if (s->orphans == EMBED_ORPHANS_INTO) {
        mrsi_describe_loss(t, "orphans of %s are in %s", from, s->orphans_into.ns);
    }
    if (s->keep == EMBED_KEEP_ALL) {
        return; /* `from` is unchanged */
    }
    if (s->shape.fields.present) {
        mrsi_describe_loss(t, "fields of %s that `fields` does not keep", from);
    }
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        bool key = false;
        for (uint32_t k = 0; k < s->join.n; k++) {
            key = key || (s->join.pair[k].from.path.n &&
                          mrs_path_equal(&s->shape.drop.path[i], &s->join.pair[k].from.path));
        }
        if (!key) {
            mrsi_describe_loss(t, "%s of %s, left out by `drop`", s->shape.drop.path[i].text, from);
        }
    }
    if (s->keep == EMBED_KEEP_NONE && s->limited && !s->overflow.present) {
        mrsi_describe_loss(t, "documents of %s past the limit", from);
    }
    mrsi_describe_loss(t, "order of %s across parents", from);
    if (s->join.into_points && s->dangling != MRSI_DANGLING_KEEP && s->dangling != MRSI_DANGLING_REFUSE) {
        mrsi_describe_loss(t, "references without a match");
    }
}

static void
describe_words(struct mrsi_describe *t, const struct mrsi_embed *s)
{
    if (s->in_place) {
        mrsi_describe_words(t, "every reference in %s of %s becomes the document of %s that it names", s->as.text,
                            s->join.into.ns, s->join.from.ns);
    } else {
        mrsi_describe_words(t, "documents of %s are put into the documents of %s that they match, as %s %s",
                            s->join.from.ns,
                            s->join.into.ns, s->one ? "one subdocument" : "an array", s->as.text);
    }
    if (s->limited) {
        mrsi_describe_words(t, "; at most %llu each", (unsigned long long)s->limit);
    }
    if (s->overflow.present) {
        mrsi_describe_words(t, ", the rest in pages of %llu in %s", (unsigned long long)s->overflow.size,
                            s->overflow.into.ns);
    }
    mrsi_describe_words(t, s->keep == EMBED_KEEP_ALL ? ". %s stays as it is" : ". Embedded documents leave %s",
                        s->join.from.ns);
}

static void
describe_live(struct mrsi_describe *t, const struct mrsi_embed *s)
{
    mrsi_join_describe(&s->join, t);
    if (mrsi_coll_same(&s->join.from, &s->join.into)) {
        mrsi_describe_quiet(t, MRSI_ONE_COLLECTION);
    }
    if (s->in_place) {
        mrsi_describe_quiet(t, "`as` is the reference itself, which is still being read: give `as` another name, or "
                           "run the "
                           "plan with --quiet-by");
    }
    if (s->overflow.present) {
        mrsi_describe_quiet(t, "one document that comes or goes moves all pages after it" MRSI_DO_QUIET);
    }
    if (s->keep != EMBED_KEEP_ALL || s->orphans == EMBED_ORPHANS_DROP || s->orphans == EMBED_ORPHANS_INTO) {
        mrsi_describe_not_direct(t, MRSI_TAKES_DOCUMENTS);
    }
    if (s->orphans == EMBED_ORPHANS_REFUSE) {
        mrsi_describe_not_direct(t, MRSI_ORPHANS_MOVE);
    }
    if (s->dangling != MRSI_DANGLING_KEEP) {
        mrsi_describe_not_direct(t, MRSI_NAMES_LATER);
    }
}

/* A second run reads documents that stay in `from` again, but not those that left it. */
static void
describe_once(struct mrsi_describe *t, const struct mrsi_embed *s)
{
    bool leave = s->keep != EMBED_KEEP_ALL;
    bool some_kept = (s->limited && !s->overflow.present) || s->many || s->errors != MRSI_ERRORS_REFUSE;
    if (!s->replace && (!s->in_place || s->count.n)) {
        mrsi_describe_once(t, leave ? "the fields that it adds would exist already, and the documents would have left "
                                      "from; use `keep: all` and `replace: true`"
                                    : "the fields that it adds would exist already; give `replace: true`");
    } else if (leave && s->empty != EMBED_EMPTY_ABSENT && !s->in_place) {
        mrsi_describe_once(t, "a second run finds no documents left to embed and would overwrite the result; use "
                              "`keep: all` or `empty: absent`");
    } else if (leave && (s->count.n || s->flag.n)) {
        mrsi_describe_once(t, "a second run finds no documents left to count; use `keep: all`");
    } else if (leave && some_kept && !s->in_place) {
        mrsi_describe_once(t, "a second run would replace embedded documents by those that stay in from; use `keep: "
                              "all`");
    } else if (leave && s->dangling != MRSI_DANGLING_KEEP && !s->in_place) {
        mrsi_describe_once(t, "references to documents that have left from would be dangling; use `keep: all`");
    } else {
        mrsi_describe_once_of_one(t);
    }
}

enum mrs_status
mrsi_embed_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct mrsi_embed *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_JOIN, e);
    bool leave = s->keep != EMBED_KEEP_ALL || s->orphans != EMBED_ORPHANS_KEEP;
    mrsi_describe_side(&t, &s->join.from, MRS_ROLE_READ | MRS_ROLE_MAIN | (leave ? MRS_ROLE_TAKE : 0), "from");
    mrsi_describe_side(&t, &s->join.into, MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN, "into");
    if (s->side_overflow >= 0) {
        mrsi_describe_side(&t, &s->overflow.into, MRS_ROLE_ADD | (s->replace ? MRS_ROLE_OVERWRITE : 0),
                           "overflow.into");
    }
    if (s->side_orphans >= 0) {
        mrsi_describe_side(&t, &s->orphans_into, MRS_ROLE_ADD, "orphans.into");
    }
    describe_touches(&t, s);
    describe_losses(&t, s);
    describe_words(&t, s);
    out->sorted = s->sort != NULL;
    out->by_reference = s->join.refs;
    describe_live(&t, s);
    describe_once(&t, s);
    mrsi_describe_errors(&t, s->errors, s->shape.fields.path, s->shape.fields.map ? s->shape.fields.n : 0);
    return mrsi_describe_end(&t);
}

/* ---- catalogue ---- */
/* Where the fields of a child are in the parent. */
static enum mrs_status
moves_of(const struct mrsi_embed *s, struct mrs_catalog *cat, struct mrsi_moves *out, struct mrs_err *e)
{
    struct mrs_arena *a = mrs_catalog_arena(cat);
    const struct mrsi_fields *f = &s->shape.fields;
    uint32_t n = 0;
    struct mrsi_move *m = mrs_arena_alloc(a, (f->n + s->shape.drop.n + 2) * sizeof *m);
    MRS_TRY(mrs_allocated(m, 0, e));
    if (!f->present) {
        m[n++] = (struct mrsi_move){"", s->as.text};
    } else if (!f->map && !f->without_id) {
        m[n++] = (struct mrsi_move){"_id", mrsi_path_below(a, s->as.text, "_id")};
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const char *old = f->map ? mrs_expr_bare_path(f->expr[i]) : f->path[i].text;
        if (old && *old && !mrsi_shape_drops(&s->shape, &f->path[i])) {
            m[n++] = (struct mrsi_move){old, mrsi_path_below(a, s->as.text, f->path[i].text)};
        }
    }
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        if (!f->map) {
            m[n++] = (struct mrsi_move){s->shape.drop.path[i].text, NULL};
        }
    }
    for (uint32_t i = 0; i < n - (f->map ? 0 : s->shape.drop.n); i++) {
        MRS_TRY(mrs_allocated(m[i].to, 0, e));
    }
    *out = (struct mrsi_moves){.move = m, .n = n, .others_lost = true};
    return MRS_OK;
}

/* Is the index only on the reference to the parent? The parent's `_id` replaces it. */
static bool
is_reference(const struct mrsi_embed *s, struct mrs_view index)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_val key = mrs_doc_get(index, "key");
    struct mrs_walk w;
    struct mrs_elem e, more;
    if (key.type != MRS_DOCUMENT || s->join.into_points) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(key));
    if (mrs_walk_next(&w, &e) != 1 || mrs_walk_next(&w, &more) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < s->join.n; i++) {
        const struct mrs_path *p = &s->join.pair[i].from.path;
        if (p->n && strcmp(e.name, p->text) == 0) {
            return true;
        }
    }
    return false;
}

/* The children's indexes, without those that the parent does not need. */
static enum mrs_status
carried(const struct mrsi_embed *s, struct mrs_catalog *cat, const struct mrs_cat_coll *from,
        struct mrs_cat_coll *out, struct mrs_err *e)
{
    *out = *from;
    out->n_index = 0;
    out->index = mrs_arena_alloc(mrs_catalog_arena(cat), (from->n_index + 1u) * sizeof *out->index);
    MRS_TRY(mrs_allocated(out->index, 0, e));
    for (uint32_t i = 0; i < from->n_index; i++) {
        if (!is_reference(s, from->index[i])) {
            out->index[out->n_index++] = from->index[i];
        } else if (!mrsi_index_is_id(from->index[i])) {
            mrs_catalog_note(cat, "index %s of %s is not copied to %s: the documents that it found together are in one "
                                  "document now", mrsi_index_name(from->index[i]), from->coll.ns, s->join.into.ns);
        }
    }
    return MRS_OK;
}

static enum mrs_status
indexes(const struct mrsi_embed *s, struct mrs_catalog *cat, const struct mrs_cat_coll *from,
        struct mrs_cat_coll *into, struct mrs_err *e)
{
    if (s->in_place) {
        const char *to = mrsi_path_below(mrs_catalog_arena(cat), s->as.text, "_id");
        struct mrsi_moves moves = {.exact_from = s->as.text, .exact_to = to, /* existing fields below it do not move */
                                   .holes = s->dangling != MRSI_DANGLING_REFUSE};
        return to ? mrsi_indexes_rewrite(cat, into, &moves, false, e) : mrs_err_memory(e, 0);
    }
    struct mrsi_moves moves;
    struct mrs_cat_coll children;
    enum mrs_status st = moves_of(s, cat, &moves, e);
    MRS_THEN(st, carried(s, cat, from, &children, e));
    if (st != MRS_OK || !mrsi_index_named(cat, &into->coll, &s->as)) {
        return st;
    }
    unsigned lose = MRSI_LOSE_UNIQUE | MRSI_LOSE_SPARSE | MRSI_LOSE_PARTIAL | MRSI_LEAVE_TTL | MRSI_LEAVE_HASHED |
                    (s->keep == EMBED_KEEP_ALL ? 0u : MRSI_WHOLE);
    struct mrsi_carry how = {.moves = &moves, .lose = lose, .why = "its documents are now embedded in others"};
    return mrsi_indexes_carry(cat, &children, into, &how, e);
}

enum mrs_status
mrsi_embed_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_embed *s = state;
    struct mrs_cat_coll *from, *into, *more;
    struct mrs_desc d;
    bool leave = s->keep != EMBED_KEEP_ALL || s->orphans == EMBED_ORPHANS_DROP || s->orphans == EMBED_ORPHANS_INTO;
    enum mrs_status st = mrsi_cat_need(cat, &s->join.from, leave, "from", &from, e);
    MRS_THEN(st, mrsi_cat_need(cat, &s->join.into, true, "into", &into, e));
    if (st == MRS_OK && s->overflow.present) {
        st = mrsi_cat_target(cat, &s->overflow.into, "overflow", &more, NULL, e);
        if (st == MRS_OK && s->indexes) {
            st = mrsi_index_reference(cat, more, &s->overflow.ref, 1, e);
        }
    }
    if (st == MRS_OK && s->side_orphans >= 0) {
        st = mrsi_cat_target(cat, &s->orphans_into, "orphans", &more, NULL, e);
    }
    MRS_THEN(st, mrsi_embed_describe(s, mrs_catalog_arena(cat), &d, e));
    if (st == MRS_OK && s->indexes) {
        mrsi_indexes_note_added(cat, into, &d, 1);
        st = indexes(s, cat, from, into, e);
    }
    MRS_THEN(st, mrsi_cat_validators(cat, &d, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}
