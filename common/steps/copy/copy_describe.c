/* SPDX-License-Identifier: Apache-2.0 */
/* copy_describe.c - copy: its description, its effect on the catalog.
 *
 * Copies add no index. The index of a wrapped reference follows it; a wrapped reference without one gets one. A removed
 * reference loses its index. */
#include "copy.h"
#include "steps/catalog/indexes.h"
#include "steps/kit/describe.h"
#include "mongoreshape/catalogue.h"

static void
describe_touches(struct mrsi_describe *t, const struct mrsi_copy *s)
{
    const struct mrsi_fields *f = &s->shape.fields;
    const char *ref = s->join.pair[0].into.path.n ? s->join.pair[0].into.path.text : "";
    mrsi_describe_match(t, s->join.pair, s->join.n);
    mrsi_describe_query(t, 0, s->join.where);
    mrsi_describe_sort(t, 0, s->sort);
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->map) {
            mrsi_describe_expr(t, 0, f->expr[i]);
        } else {
            mrsi_describe_touch(t, 0, 'R', f->path[i].text);
        }
    }
    if (s->take || s->orphans != COPY_ORPHANS_KEEP) {
        mrsi_describe_touch(t, 0, 'D', "");
    }
    if (s->wrap) {
        mrsi_describe_touch(t, 1, 'D', ref);
        mrsi_describe_touch(t, 1, 'A', ref);
    }
    for (uint32_t i = 0; i < s->n_targets; i++) {
        mrsi_describe_touch(t, 1, 'A', s->target[i].text);
    }
    if (s->ref_edit) {
        mrsi_describe_touch(t, 1, 'D', ref);
    }
    if (s->side_orphans >= 0) {
        mrsi_describe_touch(t, s->side_orphans, 'A', "");
    }
}

static void
describe_losses(struct mrsi_describe *t, const struct mrsi_copy *s)
{
    const char *from = s->join.from.ns;
    if (s->drop_ref) {
        mrsi_describe_loss(t, "references to %s", from);
    }
    if (s->take) {
        mrsi_describe_loss(t, "documents of %s, but for the fields that were copied", from);
    }
    if (s->orphans == COPY_ORPHANS_DROP) {
        mrsi_describe_loss(t, "orphans dropped: documents of %s without a match", from);
    }
    if (s->replace) {
        mrsi_describe_loss(t, "values that the copies overwrite");
    }
    if (s->dangling == MRSI_DANGLING_DROP || s->dangling == MRSI_DANGLING_NULL) {
        mrsi_describe_loss(t, "references without a match");
    }
}

static void
describe_live(struct mrsi_describe *t, const struct mrsi_copy *s)
{
    mrsi_join_describe(&s->join, t);
    if (mrsi_coll_same(&s->join.from, &s->join.into)) {
        mrsi_describe_quiet(t, MRSI_ONE_COLLECTION);
    }
    if (s->wrap) {
        mrsi_describe_quiet(t, "`wrap` changes references under their own name, where they are still being read"
                           MRSI_DO_QUIET);
    }
    if (s->drop_ref) {
        mrsi_describe_not_direct(t, "`refs: drop` takes away what a second pass would need" MRSI_DO_CONTRACT);
    }
    if (s->take || s->orphans == COPY_ORPHANS_DROP || s->orphans == COPY_ORPHANS_INTO) {
        mrsi_describe_not_direct(t, MRSI_TAKES_DOCUMENTS);
    }
    if (s->orphans == COPY_ORPHANS_REFUSE) {
        mrsi_describe_not_direct(t, MRSI_ORPHANS_MOVE);
    }
    if (s->dangling != MRSI_DANGLING_KEEP) {
        mrsi_describe_not_direct(t, MRSI_NAMES_LATER);
    }
}

enum mrs_status
mrsi_copy_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct mrsi_copy *s = state;
    const struct mrsi_fields *f = &s->shape.fields;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_JOIN, e);
    bool leave = s->take || s->orphans != COPY_ORPHANS_KEEP;
    mrsi_describe_side(&t, &s->join.from, MRS_ROLE_READ | MRS_ROLE_MAIN | (leave ? MRS_ROLE_TAKE : 0), "from");
    mrsi_describe_side(&t, &s->join.into, MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN, "into");
    if (s->side_orphans >= 0) {
        mrsi_describe_side(&t, &s->orphans_into, MRS_ROLE_ADD, "orphans.into");
    }
    describe_touches(&t, s);
    describe_losses(&t, s);
    mrsi_describe_words(&t, "%s of %s copied into the documents of %s that refer to it%s%s",
                        mrsi_describe_paths(&t, f->path, f->n, 5),
                        s->join.from.ns, s->join.into.ns, s->wrap ? ", each reference becoming a document with it "
                                                                "in " : "",
                        s->wrap ? s->wrap : "");
    if (s->many != MRSI_MANY_REFUSE) {
        mrsi_describe_words(&t, "; of several matches the %s%s", s->many == MRSI_MANY_FIRST ? "first" : "last",
                            s->sort ? " by `sort`" : " in input order");
    }
    if (s->drop_ref) {
        mrsi_describe_words(&t, "; the references go");
    }
    out->sorted = s->sort != NULL;
    out->by_reference = s->join.refs;
    describe_live(&t, s);
    if (s->take) {
        mrsi_describe_once(&t, "the documents that it copies from are gone afterwards");
    } else if (!s->wrap && !s->replace) {
        mrsi_describe_once(&t, "the fields that it adds would exist already; give `replace: true`");
    } else {
        mrsi_describe_once_of_one(&t);
    }
    mrsi_describe_errors(&t, s->errors, s->shape.fields.path, s->shape.fields.map ? s->shape.fields.n : 0);
    return mrsi_describe_end(&t);
}

static enum mrs_status
indexes(const struct mrsi_copy *s, struct mrs_catalog *cat, struct mrs_cat_coll *into, struct mrs_err *e)
{
    const struct mrs_path *ref = &s->join.pair[0].into.path;
    struct mrsi_move m = {ref->n ? ref->text : NULL, NULL};
    struct mrsi_moves moves = {.move = &m, .n = 1, .holes = s->dangling != MRSI_DANGLING_REFUSE};
    if (!ref->n || (!s->wrap && !s->drop_ref)) {
        return MRS_OK;
    }
    if (s->drop_ref ? !mrsi_index_plain(ref) : !mrsi_index_named(cat, &into->coll, ref)) {
        return MRS_OK;
    }
    if (s->drop_ref) {
        return mrsi_indexes_rewrite(cat, into, &moves, s->dangling == MRSI_DANGLING_KEEP, e);
    }
    const char *to = mrsi_path_below(mrs_catalog_arena(cat), ref->text, s->wrap);
    MRS_TRY(mrs_allocated(to, 0, e));
    moves.n = 0;
    moves.exact_from = ref->text; /* existing fields below it do not move */
    moves.exact_to = to;
    enum mrs_status st = mrsi_indexes_rewrite(cat, into, &moves, false, e);
    return st == MRS_OK ? mrsi_index_reference(cat, into, &to, 1, e) : st;
}

enum mrs_status
mrsi_copy_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_copy *s = state;
    struct mrs_cat_coll *from, *into, *more;
    struct mrs_desc d;
    bool leave = s->take || s->orphans == COPY_ORPHANS_DROP || s->orphans == COPY_ORPHANS_INTO;
    enum mrs_status st = mrsi_cat_need(cat, &s->join.from, leave, "from", &from, e);
    MRS_THEN(st, mrsi_cat_need(cat, &s->join.into, true, "into", &into, e));
    if (st == MRS_OK && s->side_orphans >= 0) {
        st = mrsi_cat_target(cat, &s->orphans_into, "orphans", &more, NULL, e);
    }
    MRS_THEN(st, mrsi_copy_describe(s, mrs_catalog_arena(cat), &d, e));
    if (st == MRS_OK && s->indexes) {
        mrsi_indexes_note_added(cat, into, &d, 1);
        st = indexes(s, cat, into, e);
    }
    MRS_THEN(st, mrsi_cat_validators(cat, &d, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}
