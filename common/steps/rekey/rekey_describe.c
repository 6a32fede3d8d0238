/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_describe.c - rekey: its description, its effect on the catalog, its inverse. */
#include "rekey.h"
#include "steps/catalog/indexes.h"
#include "steps/kit/describe.h"
#include "steps/kit/undo.h"
#include "mongoreshape/catalogue.h"

/* ---- description ---- */
static void
see_read(void *arg, const char *path)
{
    mrsi_describe_touch(arg, 0, 'R', path);
}

static void
describe_sides(struct mrsi_describe *t, const struct mrsi_rekey *s)
{
    unsigned own = MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN;
    mrsi_describe_side(t, &s->in, own | (s->merge ? MRS_ROLE_TAKE : 0), "in");
    if (s->side_dropped >= 0) {
        mrsi_describe_side(t, &s->dropped_into, MRS_ROLE_ADD, "merge.dropped");
    }
    for (uint32_t i = 0; i < s->n_holders; i++) {
        if (s->holder[i].side) {
            mrsi_describe_side(t, &s->holder[i].coll, own, "references");
        }
    }
}

static void
describe_own(struct mrsi_describe *t, const struct mrsi_rekey *s)
{
    mrsi_describe_touch(t, 0, 'R', "_id");
    mrsi_describe_query(t, 0, s->where);
    if (!s->merge) {
        mrsi_describe_expr(t, 0, s->id);
        mrsi_describe_touch(t, 0, 'D', "_id");
    }
    for (uint32_t i = 0; i < s->n_parts; i++) {
        mrsi_describe_expr(t, 0, s->part[i]);
    }
    mrsi_describe_sort(t, 0, s->sort);
    for (uint32_t i = 0; i < s->n_fields; i++) {
        mrs_acc_reads(s->acc[i], see_read, t);
        mrsi_describe_touch(t, 0, 'A', s->field[i].text);
        mrsi_describe_touch(t, 0, 'D', s->field[i].text);
    }
    if (s->old.n) {
        mrsi_describe_touch(t, 0, 'A', s->old.text);
    }
    if (s->merge) {
        mrsi_describe_touch(t, 0, 'D', "");
    }
    if (s->side_dropped >= 0) {
        mrsi_describe_touch(t, s->side_dropped, 'A', "");
    }
}

/* Do groups depend on references in the collection itself? Called before these are described. */
static bool
groups_by_references(const struct mrsi_describe *t, const struct mrsi_rekey *s)
{
    MRS_ASSERT(t->d->n_touches > 0);
    for (uint32_t i = 0; i < s->n_holders; i++) {
        const struct rekey_holder *h = &s->holder[i];
        for (uint32_t k = 0; h->side == 0 && k < h->n_paths; k++) {
            for (uint32_t r = 0; r < t->d->n_touches; r++) {
                if (t->touch[r].kind == 'R' && mrs_path_texts_meet(t->touch[r].path, h->path[k].path.text)) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void
describe_references(struct mrsi_describe *t, const struct mrsi_rekey *s)
{
    for (uint32_t i = 0; i < s->n_holders; i++) {
        const struct rekey_holder *h = &s->holder[i];
        for (uint32_t k = 0; k < h->n_paths; k++) {
            mrsi_describe_touch(t, h->side, 'R', h->path[k].path.text);
            mrsi_describe_touch(t, h->side, 'D', h->path[k].path.text);
        }
        for (uint32_t k = 0; k < h->n_entries; k++) {
            mrsi_describe_query(t, h->side, h->where[k]);
        }
    }
}

static void
describe_losses(struct mrsi_describe *t, const struct mrsi_rekey *s)
{
    if (s->merge) {
        mrsi_describe_loss(t, s->side_dropped >= 0 ? "which document a reference named before its group became one"
                                               : "documents of %s that were merged into another", s->in.ns);
    } else if (!s->old.n) {
        mrsi_describe_loss(t, "the _ids as they were: add `old`");
    }
    if (s->n_fields) {
        mrsi_describe_loss(t, "old values of %s, where there were any", mrsi_describe_paths(t, s->field, s->n_fields,
                                                                                            6));
    }
    if (s->dangling == REKEY_DANGLING_DROP || s->dangling == REKEY_DANGLING_NULL) {
        mrsi_describe_loss(t, "dangling references");
    }
    if (s->distinct) {
        mrsi_describe_loss(t, "elements of arrays that are equal to an earlier one");
    }
}

static void
describe_words(struct mrsi_describe *t, const struct mrsi_rekey *s)
{
    const char *those = s->where ? "those documents that `where` takes of " : "every document of ";
    if (s->merge) {
        mrsi_describe_words(t, "documents of %s%s with a key in common become one, the first%s", s->in.ns,
                            s->where ? " that `where` takes" : "", s->sort ? " by `sort`" : "");
        if (s->side_dropped >= 0) {
            mrsi_describe_words(t, "; the others go to %s", s->dropped_into.ns);
        } else {
            mrsi_describe_words(t, "; the others are dropped");
        }
    } else {
        mrsi_describe_words(t, "%s%s gets %s", those, s->in.ns, s->fresh ? "a new _id" : "a computed _id");
    }
    for (uint32_t i = 0; i < s->n_holders; i++) {
        mrsi_describe_words(t, "%s%s", i ? ", " : "; references follow in ", s->holder[i].coll.ns);
    }
    if (!s->n_holders) {
        mrsi_describe_words(t, "; no references are named, so none follow");
    }
}

enum mrs_status
mrsi_rekey_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct mrsi_rekey *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_REKEY, e);
    describe_sides(&t, s);
    describe_own(&t, s);
    bool regroups = !t.bad && groups_by_references(&t, s);
    describe_references(&t, s);
    describe_losses(&t, s);
    describe_words(&t, s);
    out->sorted = s->sort != NULL;
    if (!s->merge) {
        mrsi_describe_once(&t, "each document would get another _id once more");
    } else if (s->n_fields || s->old.n || regroups) {
        mrsi_describe_once(&t, "it would compute from what it has written");
    }
    mrsi_describe_quiet(&t, "documents and all references to them must change at one moment" MRSI_DO_QUIET);
    return mrsi_describe_end(&t);
}

/* ---- catalogue ---- */
static enum mrs_status
rewrite_holder(const struct mrsi_rekey *s, struct mrs_catalog *cat, const struct rekey_holder *h, struct mrs_err *e)
{
    struct mrs_cat_coll *cc = NULL;
    const char **path = mrs_arena_alloc(mrs_catalog_arena(cat), (h->n_paths + 1) * sizeof *path);
    MRS_TRY(mrs_allocated(path, h->n_paths * sizeof *path, e));
    enum mrs_status st = mrsi_cat_need(cat, &h->coll, true, "references", &cc, e);
    for (uint32_t i = 0; i < h->n_paths; i++) {
        path[i] = h->path[i].path.text;
    }
    if (st == MRS_OK && s->indexes) {
        mrsi_indexes_note_values(cat, cc, path, h->n_paths);
    }
    return st;
}

enum mrs_status
mrsi_rekey_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_rekey *s = state;
    struct mrs_cat_coll *cc = NULL, *more;
    struct mrs_desc d;
    enum mrs_status st = mrsi_cat_need(cat, &s->in, true, "in", &cc, e);
    if (st == MRS_OK && s->side_dropped >= 0) {
        st = mrsi_cat_target(cat, &s->dropped_into, "merge", &more, NULL, e);
    }
    MRS_THEN(st, mrsi_rekey_describe(s, mrs_catalog_arena(cat), &d, e));
    for (uint32_t i = 0; st == MRS_OK && i < s->n_holders; i++) {
        st = rewrite_holder(s, cat, &s->holder[i], e);
    }
    if (st == MRS_OK && s->indexes) {
        mrsi_indexes_note_added(cat, cc, &d, 0);
    }
    MRS_THEN(st, mrsi_cat_validators(cat, &d, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}

/* ---- inverse ---- */
/* The field `old` as an expression; NULL: impossible. */
static const char *
old_field(const struct mrsi_rekey *s, struct mrsi_undo *u)
{
    size_t n = strlen(s->old.text) + 2;
    char *text = mrsi_index_plain(&s->old) ? mrs_arena_alloc(u->inv->arena, n) : NULL;
    if (text) {
        text[0] = '$';
        memcpy(text + 1, s->old.text, n - 1);
    }
    return text;
}

static void
undo_ids(const struct mrsi_rekey *s, struct mrsi_undo *u)
{
    const char *old = s->old.n ? old_field(s, u) : NULL;
    const struct mrs_path *field = &s->old;
    if (!old) {
        mrsi_undo_loss(u, MRSI_UNDO_MOVED | MRS_LOSS_VALUES | MRS_LOSS_TYPES | MRS_LOSS_PLACES,
                       "the _ids of %s as they were, and references to them: add `old`", s->in.ns);
        return;
    }
    mrsi_undo_open(u, "rekey");
    mrsi_undo_take(u, "in", "in");
    mrsi_undo_text(u, "id", old);
    mrsi_undo_take(u, "references", "references");
    mrsi_undo_deeper(u, "where", MRS_DOCUMENT);
    mrsi_undo_deeper(u, s->old.text, MRS_DOCUMENT);
    mrsi_undo_bool(u, "$exists", true);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
    mrsi_undo_close(u);
    mrsi_undo_unset(u, mrsi_undo_body(u, "in"), &field, 1);
    mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_TYPES,
                   "references that were equal to an _id of another type, or held a new _id before");
}

static void
undo_merge(const struct mrsi_rekey *s, struct mrsi_undo *u)
{
    struct mrs_val merge = mrsi_undo_body(u, "merge"), dropped = mrs_missing();
    const struct mrs_path *field = &s->old;
    if (merge.type == MRS_DOCUMENT) {
        dropped = mrs_doc_get(mrs_val_view(merge), "dropped");
    }
    if (s->side_dropped >= 0 && dropped.type == MRS_DOCUMENT) {
        mrsi_undo_move(u, mrs_doc_get(mrs_val_view(dropped), "into"), mrsi_undo_body(u, "in"));
        mrsi_undo_loss(u, MRSI_UNDO_MOVED | MRS_LOSS_COLLECTIONS,
                       "documents that %s held before; it stays, perhaps empty", s->dropped_into.ns);
    } else {
        mrsi_undo_loss(u, MRS_LOSS_DOCUMENTS, "documents of %s that were merged into another", s->in.ns);
    }
    if (s->old.n) {
        mrsi_undo_unset(u, mrsi_undo_body(u, "in"), &field, 1);
    }
    mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                   "which document a reference named before its group became one");
}

enum mrs_status
mrsi_rekey_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    const struct mrsi_rekey *s = state;
    struct mrsi_undo u;
    mrsi_undo_begin(&u, inv, e);
    if (s->merge) {
        undo_merge(s, &u);
    } else {
        undo_ids(s, &u);
    }
    if (s->n_fields || (s->old.n && s->replace)) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "values that were written over");
    }
    if (s->dangling == REKEY_DANGLING_DROP || s->dangling == REKEY_DANGLING_NULL || s->distinct) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                       "dangling references, and equal elements of arrays");
    }
    return mrsi_undo_end(&u);
}
