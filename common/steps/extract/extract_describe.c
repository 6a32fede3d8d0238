/* SPDX-License-Identifier: Apache-2.0 */
/* extract_describe.c - extract: its description, its effect on the catalog.
 *
 * Indexes below the path move to the extracted documents, where they lose unique and partial (two elements of one
 * parent may have been equal); they stay in the source only if copies stay there. Every new reference gets an index.
 * Losses are what embed, its inverse, cannot restore. */
#include "extract.h"
#include "steps/catalog/indexes.h"
#include "steps/kit/describe.h"
#include "mongoreshape/catalogue.h"

static const char *
path_text(struct mrsi_describe *t, const struct mrsi_extract *s)
{
    return s->path.n ? s->path.text : mrsi_describe_paths(t, s->listed.path, s->listed.n, 5);
}

/* ---- describe ---- */
/* Does the step add this field to the documents that it makes? */
static bool
is_added(const struct mrsi_extract *s, const char *name)
{
    return strcmp(name, s->value) == 0 || (s->parent_ref && strcmp(name, s->parent_ref) == 0);
}

/* What expressions on a part read of its document. The part itself is read anyway; $$ELEMENTS are around it. */
static void
describe_parent(struct mrsi_describe *t, const struct mrsi_extract *s)
{
    const struct mrsi_fields *maps[] = {&s->shape.fields, &s->leave.shape.fields};
    mrsi_describe_expr_var(t, 0, s->id_expr, EXT_PARENT);
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; maps[k]->map && i < maps[k]->n; i++) {
            mrsi_describe_expr_var(t, 0, maps[k]->expr[i], EXT_PARENT);
        }
    }
    if (s->reads_elements) {
        mrsi_describe_touch(t, 0, 'R', "");
    }
}

static void
describe_touches(struct mrsi_describe *t, const struct mrsi_extract *s)
{
    mrsi_describe_query(t, 0, s->where);
    if (s->path.n) {
        mrsi_describe_touch(t, 0, 'R', s->path.text);
        mrsi_describe_touch(t, 0, 'D', s->path.text);
    }
    for (uint32_t i = 0; i < s->listed.n; i++) {
        mrsi_describe_touch(t, 0, 'R', s->listed.path[i].text);
        mrsi_describe_touch(t, 0, 'D', s->listed.path[i].text);
    }
    mrsi_describe_touch(t, 0, 'R', "_id");
    if (s->to_parent || s->pages.present) {
        mrsi_describe_touch(t, 0, 'R', s->parent_key.text);
    }
    if (s->nested.present) {
        mrsi_describe_names(t, 0, s->path.text, &s->nested.path, 1);
    }
    if (s->path.n && !s->map) {
        const struct mrsi_fields *f = &s->shape.fields;
        mrsi_describe_shape(t, s->path.text, &s->shape, s->value);
        for (uint32_t i = 0; !f->map && i < s->unique.n; i++) {
            mrsi_describe_names(t, 0, s->path.text, &s->unique.path[i], !is_added(s, s->unique.path[i].text));
        }
        mrsi_describe_naming_below(t, s->path.text);
        mrsi_describe_sort(t, 0, s->leave.sort);
        mrsi_describe_naming(t, false);
    }
    describe_parent(t, s);
    const struct mrs_path *added[] = {&s->child_refs, &s->flag, &s->count};
    for (int i = 0; i < 3; i++) {
        if (added[i]->n) {
            mrsi_describe_touch(t, 0, 'A', added[i]->text);
        }
    }
    if (s->unique.n) {
        mrsi_describe_touch(t, 1, 'R', "");
    }
    mrsi_describe_touch(t, 1, 'A', "");
}

static void
describe_losses(struct mrsi_describe *t, const struct mrsi_extract *s)
{
    const char *path = path_text(t, s);
    if (s->map) {
        mrsi_describe_loss(t, "the order of the fields of %s, and which of them were documents of one field %s", path,
                           s->value);
    } else if (!s->position && !s->unique.n && !s->listed.n && !s->pages.present && !s->to_child) {
        mrsi_describe_loss(t, "array order of %s: add `position`", path);
    }
    if (s->nested.present) {
        mrsi_describe_loss(t, "the places of %s inside of parts, and which of them were empty or missing",
                           s->nested.path.text);
    }
    if (!s->to_child && !s->leave.present) {
        mrsi_describe_loss(t, "place of %s in its parent%s", path,
                           s->map || s->nested.present ? "" : ": `refs: child` would keep it");
    }
    if (!s->to_parent && !s->to_child && !s->pages.present) {
        mrsi_describe_loss(t, "which parent an element came from: `refs` is none");
    }
    if (s->shape.fields.present) {
        mrsi_describe_loss(t, "fields of %s that `fields` does not keep", path);
    }
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        mrsi_describe_loss(t, "%s of %s, left out by `drop`", s->shape.drop.path[i].text, path);
    }
    if (s->unique.n) {
        mrsi_describe_loss(t, "1 and 1.0 merged in `unique`, and how often an element was repeated unless "
                          "references tell");
    }
    if (s->id != EXT_ID_KEEP && s->path.n) {
        mrsi_describe_loss(t, "the _ids that elements of %s had", path);
    }
}

static void
describe_words(struct mrsi_describe *t, const struct mrsi_extract *s)
{
    mrsi_describe_words(t, "%s%s of %s becomes documents of %s", s->map ? "each field of " : "", path_text(t, s),
                        s->from.ns, s->into.ns);
    if (s->map) {
        mrsi_describe_words(t, ", with its name in %s", s->map);
    }
    if (s->nested.present) {
        mrsi_describe_words(t, ", and what lies in %s of such a part, at any depth", s->nested.path.text);
    }
    if (s->pages.present) {
        mrsi_describe_words(t, ", in pages of %llu", (unsigned long long)s->pages.size);
    }
    if (s->unique.n) {
        mrsi_describe_words(t, ", one for each %s", mrsi_describe_paths(t, s->unique.path, s->unique.n, 5));
    }
    if (s->to_parent) {
        mrsi_describe_words(t, "; %s holds the %s of the parent", s->parent_ref, s->parent_key.text);
    }
    if (s->nested.parent_ref) {
        mrsi_describe_words(t, "; %s holds the _id of the part around", s->nested.parent_ref);
    }
    if (s->to_child) {
        mrsi_describe_words(t, "; the parent keeps their _ids in %s", s->child_refs.text);
    }
    if (s->leave.present) {
        mrsi_describe_words(t, ". Copies stay in %s", s->from.ns);
    }
}

/* The parent's extracted documents can be found again if they have its `_id`: two parents may share another key, and
 * then one would take the other's documents. */
static void
describe_live(struct mrsi_describe *t, const struct mrsi_extract *s)
{
    bool by_id = s->parent_key.n == 1 && strcmp(s->parent_key.text, "_id") == 0;
    const char *ref = s->pages.present ? s->pages.ref : s->to_parent ? s->parent_ref : NULL;
    if (s->unique.n) {
        mrsi_describe_quiet(t, "`unique` makes one document of parts of many, and the rest does not show which parts "
                               "are gone" MRSI_DO_QUIET);
    }
    if (s->map) {
        mrsi_describe_quiet(t, "a field that is renamed while it runs is another document" MRSI_DO_QUIET);
    }
    if (s->nested.present) {
        mrsi_describe_quiet(t, "one part that comes or goes moves all parts inside of those after it" MRSI_DO_QUIET);
    }
    if (s->pages.present) {
        mrsi_describe_quiet(t, "one element that comes or goes moves all pages after it" MRSI_DO_QUIET);
    }
    if (!ref) {
        mrsi_describe_quiet(t, "without `refs: parent` or `both` the documents that an element made are not found "
                               "again when it is gone: use `refs: parent`, or run the plan with --quiet-by");
    } else if (by_id) {
        mrsi_describe_listing(t, 1, ref, "_id");
    } else {
        mrsi_describe_quiet(t, "two documents may have one `parent_key`, then their parts cannot be distinguished: use "
                               "`parent_key: _id`, or run the plan with --quiet-by");
    }
    if (s->child_is_path) {
        mrsi_describe_quiet(t, "the ids would replace elements that are still being read: give `child_refs` a name of "
                               "its own, or run the plan with --quiet-by");
    }
    if (s->id != EXT_ID_EXPR && s->path.n) {
        t->d->live_note = "elements without an _id of their own get it from their place: where an application "
                          "takes one "
                          "out, the documents of those after it get other _ids";
    }
    mrsi_describe_conflicts(t);
    mrsi_describe_not_direct(t, "parts leave their document, a second pass would not find them" MRSI_DO_CONTRACT);
}

enum mrs_status
mrsi_extract_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct mrsi_extract *s = state;
    struct mrsi_describe t;
    bool group = s->unique.n > 0;
    mrsi_describe_begin(&t, arena, out, group ? MRS_FAMILY_GROUP : MRS_FAMILY_SPREAD, e);
    mrsi_describe_side(&t, &s->from, MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN, "from");
    mrsi_describe_side(&t, &s->into, MRS_ROLE_ADD | (group ? MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN : 0),
                       "into");
    describe_touches(&t, s);
    describe_losses(&t, s);
    describe_words(&t, s);
    out->conflicts = (enum mrs_conflicts)s->conflicts;
    out->takes_away = !s->where && !s->leave.present && !s->child_is_path;
    out->own_ids = s->id == EXT_ID_NEW && s->path.n && !s->map && !s->nested.present;
    describe_live(&t, s);
    if (s->leave.present && (!s->rest || s->to_child || !s->replace)) {
        mrsi_describe_once(&t, "the copies that stay would be extracted again");
    } else if (s->to_child && s->child_is_path) {
        mrsi_describe_once(&t, "the ids that stay at the path would be extracted as elements");
    } else if (s->count.n) {
        mrsi_describe_once(&t, "the second run would count no elements");
    } else if (s->to_child && !s->replace) {
        mrsi_describe_once(&t, "the fields that it adds would exist already; give `replace: true`");
    } else if (s->flag.n && s->replace) {
        mrsi_describe_once(&t, "the second run would find no elements, and take the flag away");
    }
    mrsi_describe_errors(&t, s->errors, s->shape.fields.path, s->shape.fields.n);
    mrsi_describe_errors(&t, s->errors, s->leave.shape.fields.path, s->leave.shape.fields.n);
    return mrsi_describe_end(&t);
}

/* ---- catalogue ---- */
struct extract_describe_moving {
    struct mrs_arena *a;
    struct mrsi_move *m;
    uint32_t n;
    bool bad;
};

/* `to` NULL: gone. */
static void
add_move(struct extract_describe_moving *v, const char *from, const char *to)
{
    v->bad = v->bad || !from;
    v->m[v->n++] = (struct mrsi_move){from, to};
}

/* The paths below `base` of a source in the extracted documents, below `top`. */
static void
element_moves(const struct mrsi_extract *s, const char *base, const char *top, struct extract_describe_moving *v)
{
    const struct mrsi_fields *f = &s->shape.fields;
    if (s->nested.present) {
        add_move(v, mrsi_path_below(v->a, base, s->nested.path.text), NULL);
    }
    if (!f->present) {
        add_move(v, base, top);
    } else if (!f->map && !f->without_id) {
        add_move(v, mrsi_path_below(v->a, base, "_id"), mrsi_path_below(v->a, top, "_id"));
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const char *old = f->map ? mrs_expr_bare_path(f->expr[i]) : f->path[i].text;
        if (old && *old) {
            add_move(v, mrsi_path_below(v->a, base, old), mrsi_path_below(v->a, top, f->path[i].text));
        }
    }
    for (uint32_t i = 0; i < s->shape.drop.n && !f->map; i++) {
        add_move(v, mrsi_path_below(v->a, base, s->shape.drop.path[i].text), NULL);
    }
}

/* The named fields of the list form that `fields` and `drop` keep. */
static void
listed_moves(const struct mrsi_extract *s, struct extract_describe_moving *v)
{
    for (uint32_t i = 0; i < s->listed.n; i++) {
        const char *name = s->listed.path[i].text;
        add_move(v, name, mrsi_shape_path(&s->shape, v->a, name));
    }
}

static enum mrs_status
carry(const struct mrsi_extract *s, struct mrs_catalog *cat, const struct mrs_cat_coll *from,
      struct mrs_cat_coll *into, bool *reported, struct mrs_err *e)
{
    struct extract_describe_moving v = {mrs_catalog_arena(cat), NULL, 0, false};
    v.m = mrs_arena_alloc(v.a, (s->shape.fields.n + s->shape.drop.n + s->listed.n + 4) * sizeof *v.m);
    MRS_TRY(mrs_allocated(v.m, 0, e));
    if (s->listed.n) {
        listed_moves(s, &v);
    } else {
        element_moves(s, s->path.text, s->pages.present ? s->pages.items : "", &v);
    }
    if (v.bad) {
        return mrs_err_memory(e, 0);
    }
    struct mrsi_moves moves = {.move = v.m, .n = v.n, .others_lost = true};
    if (s->value_present && s->path.n && !s->pages.present) {
        moves.exact_from = s->path.text;
        moves.exact_to = mrsi_shape_path(&s->shape, v.a, s->value);
    }
    unsigned quiet = s->leave.present || s->where ? 0 : MRSI_QUIET; /* the source's own index is dropped with a note */
    struct mrsi_carry how = {.moves = &moves, .lose = MRSI_LOSE_UNIQUE | MRSI_LOSE_PARTIAL | MRSI_LEAVE_TTL | quiet,
                             .why = "elements of one document may be equal", .reported = reported};
    return mrsi_indexes_carry(cat, from, into, &how, e);
}

/* Are the values left at child_refs the elements' `_id`s? Then an index on them stays valid. */
static bool
keeps_ids(const struct mrsi_extract *s)
{
    bool same = s->to_child && s->path.n && s->id == EXT_ID_KEEP && !s->shape.fields.map && !s->shape.fields.without_id;
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        same = same && strcmp(s->shape.drop.path[i].text, "_id") != 0;
    }
    return same && !s->leave.present && mrsi_index_plain(&s->child_refs);
}

static enum mrs_status
indexes(const struct mrsi_extract *s, struct mrs_catalog *cat, struct mrs_cat_coll *from, struct mrs_cat_coll *into,
        struct mrs_err *e)
{
    struct mrs_arena *a = mrs_catalog_arena(cat);
    uint32_t n = s->path.n ? 1 : s->listed.n;
    struct mrsi_move *moved = mrs_arena_alloc(a, (n + 1u) * sizeof *moved);
    bool *reported = mrs_arena_alloc(a, (from->n_index + 1u) * sizeof *reported);
    enum mrs_status st = moved && reported ? MRS_OK : mrs_err_memory(e, 0);
    for (uint32_t i = 0; i < n && st == MRS_OK; i++) {
        moved[i] = (struct mrsi_move){s->path.n ? s->path.text : s->listed.path[i].text, NULL};
    }
    if (st == MRS_OK && keeps_ids(s)) {
        moved[n++] = (struct mrsi_move){mrsi_path_below(a, s->path.text, "_id"), s->child_refs.text};
        st = moved[n - 1].from ? MRS_OK : mrs_err_memory(e, 0);
    }
    if (st == MRS_OK && (s->listed.n || mrsi_index_plain(&s->path))) {
        struct mrsi_moves moves = {.move = moved, .n = n, .fills = s->unique.n > 0};
        if (!s->map) { /* below a map the names are data */
            moves.reported = reported;
            st = carry(s, cat, from, into, reported, e);
        }
        MRS_THEN(st, mrsi_indexes_rewrite(cat, from, &moves, s->leave.present || s->where, e));
    }
    const char *ref = s->pages.present ? s->pages.ref : s->parent_ref;
    if (st == MRS_OK && ref) {
        st = mrsi_index_reference(cat, into, &ref, 1, e);
    }
    if (st == MRS_OK && s->nested.parent_ref) {
        st = mrsi_index_reference(cat, into, &s->nested.parent_ref, 1, e);
    }
    if (st == MRS_OK && s->to_child && mrsi_index_named(cat, &from->coll, &s->child_refs)) {
        st = mrsi_index_reference(cat, from, &s->child_refs.text, 1, e);
    }
    return st;
}

enum mrs_status
mrsi_extract_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_extract *s = state;
    struct mrs_cat_coll *from, *into;
    struct mrs_desc d;
    enum mrs_status st = mrsi_cat_need(cat, &s->from, true, "from", &from, e);
    MRS_THEN(st, mrsi_cat_target(cat, &s->into, "into", &into, NULL, e));
    MRS_THEN(st, mrsi_extract_describe(s, mrs_catalog_arena(cat), &d, e));
    if (st == MRS_OK && s->indexes) {
        mrsi_indexes_note_added(cat, from, &d, 0);
        st = indexes(s, cat, from, into, e);
    }
    MRS_THEN(st, mrsi_cat_validators(cat, &d, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}
