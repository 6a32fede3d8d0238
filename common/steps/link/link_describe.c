/* SPDX-License-Identifier: Apache-2.0 */
/* link_describe.c - link: its description, its effect on the catalog.
 *
 * A derived reference gets an index; a removed one loses the indexes on it. */
#include "steps/catalog/indexes.h"
#include "link_step.h"
#include "steps/kit/describe.h"
#include "mongoreshape/catalogue.h"

/* Does the step complete the references of a side? */
static bool
derives(const struct mrsi_link_args *s, int side)
{
    return s->derive == LINK_DERIVE_BOTH || (s->derive == LINK_DERIVE_CHILD_REFS) == (side == 0);
}

static bool
orphans_leave(const struct mrsi_link_args *s)
{
    return s->orphans == LINK_ORPHANS_DROP || s->orphans == LINK_ORPHANS_INTO;
}

static void
describe_touches(struct mrsi_describe *t, const struct mrsi_link_args *s)
{
    for (int i = 0; i < 2; i++) {
        const char *path = s->path[i].text;
        mrsi_describe_touch(t, i, 'R', "_id");
        mrsi_describe_touch(t, i, 'R', path);
        if (derives(s, i)) {
            mrsi_describe_touch(t, i, 'A', path);
        }
        if (s->strips[i] || (mrsi_link_changes(s, i) && !derives(s, i)) || s->wants.kinds[i]) {
            mrsi_describe_touch(t, i, 'D', path);
        }
    }
    mrsi_describe_sort(t, 1, s->sort);
    if (orphans_leave(s)) {
        mrsi_describe_touch(t, 1, 'D', "");
    }
    if (s->orphans == LINK_ORPHANS_INTO) {
        mrsi_describe_touch(t, 2, 'A', "");
    }
}

static void
describe_losses(struct mrsi_describe *t, const struct mrsi_link_args *s)
{
    const char *lists = s->path[0].text, *refs = s->path[1].text;
    if (s->strips[0]) {
        mrsi_describe_loss(t, "the order of %s, and children that were listed twice", lists);
    }
    if (s->strips[1]) {
        mrsi_describe_loss(t, "which children of a list named their parent in %s", refs);
    }
    if (s->wants.sorted) {
        mrsi_describe_loss(t, "the order of %s as it was", lists);
    }
    if (s->prefer == LINK_PREFER_PARENT) {
        mrsi_describe_loss(t, "%s of children that another parent lists", refs);
    }
    if (s->prefer == LINK_PREFER_CHILD) {
        mrsi_describe_loss(t, "children in %s that name another parent", lists);
    }
    if (s->dangling == LINK_DANGLING_DROP || s->dangling == LINK_DANGLING_NULL) {
        mrsi_describe_loss(t, "dangling references");
    }
    if (s->orphans == LINK_ORPHANS_DROP) {
        mrsi_describe_loss(t, "orphans dropped: documents of %s that neither name nor are listed", s->coll[1].ns);
    }
}

static void
describe_words(struct mrsi_describe *t, const struct mrsi_link_args *s)
{
    const char *parent = s->coll[0].ns, *child = s->coll[1].ns;
    if (derives(s, 0)) {
        mrsi_describe_words(t, "each document of %s lists in %s the documents of %s that name it in %s", parent,
                            s->path[0].text, child, s->path[1].text);
    }
    if (derives(s, 1)) {
        mrsi_describe_words(t, "%seach document of %s names in %s the one of %s that lists it in %s",
                            derives(s, 0) ? "; " : "", child, s->path[1].text, parent, s->path[0].text);
    }
    if (s->strip != LINK_STRIP_NONE) {
        mrsi_describe_words(t, "; %s goes", s->path[s->strips[0] ? 0 : 1].text);
    }
    if (s->prefer != LINK_PREFER_NONE) {
        mrsi_describe_words(t, "; where they disagree %s is right", s->prefer == LINK_PREFER_PARENT ? parent : child);
    }
}

enum mrs_status
mrsi_link_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    static const char *const what[] = {"parent", "child"};
    const struct mrsi_link_args *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_LINK, e);
    for (int i = 0; i < 2; i++) {
        unsigned role = MRS_ROLE_READ | MRS_ROLE_MAIN;
        role |= mrsi_link_changes(s, i) ? MRS_ROLE_CHANGE : 0;
        role |= i == 1 && orphans_leave(s) ? MRS_ROLE_TAKE : 0;
        mrsi_describe_side(&t, &s->coll[i], role, what[i]);
    }
    if (s->orphans == LINK_ORPHANS_INTO) {
        mrsi_describe_side(&t, &s->orphans_into, MRS_ROLE_ADD, "orphans.into");
    }
    describe_touches(&t, s);
    describe_losses(&t, s);
    describe_words(&t, s);
    if (s->strip != LINK_STRIP_NONE && s->dangling == LINK_DANGLING_NULL) {
        mrsi_describe_once(&t, "a reference that is null now would go when it is run again");
    }
    if (s->orphans != LINK_ORPHANS_KEEP && (s->dangling == LINK_DANGLING_DROP || s->dangling == LINK_DANGLING_NULL)) {
        mrsi_describe_once(&t, "a child that loses its reference would be an orphan when it is run again");
    }
    out->sorted = s->wants.sorted;
    mrsi_describe_quiet(&t, "both sides must be read at one moment, to know which documents lack a reference"
                        MRSI_DO_QUIET);
    return mrsi_describe_end(&t);
}

static enum mrs_status
indexes(const struct mrsi_link_args *s, int side, struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_err *e)
{
    const char *path = s->path[side].text;
    struct mrsi_move m = {path, NULL};
    struct mrsi_moves moves = {.move = &m, .n = 1};
    if (derives(s, side) ? !mrsi_index_named(cat, &cc->coll, &s->path[side]) : !mrsi_index_plain(&s->path[side])) {
        return MRS_OK;
    }
    if (s->strips[side]) {
        return mrsi_indexes_rewrite(cat, cc, &moves, false, e);
    }
    if (mrsi_link_changes(s, side)) {
        mrsi_indexes_note_values(cat, cc, &path, 1);
    }
    return derives(s, side) ? mrsi_index_reference(cat, cc, &path, 1, e) : MRS_OK;
}

enum mrs_status
mrsi_link_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_link_args *s = state;
    struct mrs_cat_coll *cc[2], *more;
    struct mrs_desc d;
    enum mrs_status st = mrsi_cat_need(cat, &s->coll[0], mrsi_link_changes(s, 0), "parent", &cc[0], e);
    bool change = mrsi_link_changes(s, 1) || orphans_leave(s);
    MRS_THEN(st, mrsi_cat_need(cat, &s->coll[1], change, "child", &cc[1], e));
    if (st == MRS_OK && s->orphans == LINK_ORPHANS_INTO) {
        st = mrsi_cat_target(cat, &s->orphans_into, "orphans", &more, NULL, e);
    }
    for (int i = 0; st == MRS_OK && s->indexes && i < 2; i++) {
        st = indexes(s, i, cat, cc[i], e);
    }
    MRS_THEN(st, mrsi_link_describe(s, mrs_catalog_arena(cat), &d, e));
    MRS_THEN(st, mrsi_cat_validators(cat, &d, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}
