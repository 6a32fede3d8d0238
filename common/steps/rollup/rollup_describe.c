/* SPDX-License-Identifier: Apache-2.0 */
/* rollup_describe.c - rollup: its description, its effect on the catalog.
 *
 * Computed values need no index. With `by` the new collection has only the index on `_id`, and the old collection
 * stays. */
#include "steps/catalog/indexes.h"
#include "rollup.h"
#include "steps/kit/describe.h"
#include "mongoreshape/catalogue.h"

#define BY_QUIET                                                                                                      \
    "a document that comes, goes or changes may belong to another group, and the old one would have to be computed " \
    "anew" MRSI_DO_QUIET

static bool
leaves(const struct mrsi_rollup *s)
{
    return s->keep != ROLLUP_KEEP_ALL || s->orphans == ROLLUP_ORPHANS_DROP || s->orphans == ROLLUP_ORPHANS_INTO;
}

static void
describe_touches(struct mrsi_describe *t, const struct mrsi_rollup *s)
{
    mrsi_describe_match(t, s->join.pair, s->join.n);
    mrsi_describe_expr(t, 0, s->group.key);
    for (uint32_t i = 0; i < s->group.n_parts; i++) {
        mrsi_describe_expr(t, 0, s->group.part[i]);
    }
    mrsi_describe_query(t, 0, s->join.where);
    mrsi_describe_sort(t, 0, s->sort);
    for (uint32_t i = 0; i < s->n; i++) {
        mrsi_describe_acc(t, 0, s->acc[i]);
    }
    if (leaves(s) || s->orphans != ROLLUP_ORPHANS_KEEP) {
        mrsi_describe_touch(t, 0, 'D', "");
    }
    for (uint32_t i = 0; i < s->n && !s->by && !s->as.n; i++) {
        mrsi_describe_touch(t, 1, 'A', s->path[i].text);
    }
    if (s->by || s->as.n) {
        mrsi_describe_touch(t, 1, 'A', s->by ? "" : s->as.text);
    }
    if (s->side_orphans >= 0) {
        mrsi_describe_touch(t, s->side_orphans, 'A', "");
    }
}

static void
describe_losses(struct mrsi_describe *t, const struct mrsi_rollup *s)
{
    if (s->keep != ROLLUP_KEEP_ALL) {
        mrsi_describe_loss(t, "documents of %s that values were computed from", s->join.from.ns);
    }
    if (s->orphans == ROLLUP_ORPHANS_DROP) {
        mrsi_describe_loss(t, "orphans dropped: documents of %s without a match", s->join.from.ns);
    }
    if (s->replace) {
        mrsi_describe_loss(t, "values that the computed ones overwrite");
    }
}

static void
describe_live(struct mrsi_describe *t, const struct mrsi_rollup *s)
{
    if (s->by) {
        mrsi_describe_quiet(t, BY_QUIET);
        return;
    }
    mrsi_join_describe(&s->join, t);
    if (mrsi_coll_same(&s->join.from, &s->join.into)) {
        mrsi_describe_quiet(t, MRSI_ONE_COLLECTION);
    }
    if (leaves(s)) {
        mrsi_describe_not_direct(t, MRSI_TAKES_DOCUMENTS);
    }
    if (s->orphans == ROLLUP_ORPHANS_REFUSE) {
        mrsi_describe_not_direct(t, MRSI_ORPHANS_MOVE);
    }
}

static void
describe_words(struct mrsi_describe *t, const struct mrsi_rollup *s)
{
    const char *names = mrsi_describe_paths(t, s->path, s->n, 6);
    if (!s->by) {
        mrsi_describe_words(t, "computes %s of each document of %s from the documents of %s that match it", names,
                            s->join.into.ns, s->join.from.ns);
    } else if (s->group.key || s->group.n_parts) {
        mrsi_describe_words(t, "each group of documents of %s becomes a document of %s with %s", s->join.from.ns,
                            s->join.into.ns, names);
    } else {
        mrsi_describe_words(t, "all documents of %s become one document of %s with %s", s->join.from.ns,
                            s->join.into.ns, names);
    }
    if (s->as.n) {
        mrsi_describe_words(t, ", below %s", s->as.text);
    }
    if (s->keep != ROLLUP_KEEP_ALL) {
        mrsi_describe_words(t, ". What they were computed from leaves %s", s->join.from.ns);
    }
}

enum mrs_status
mrsi_rollup_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct mrsi_rollup *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, s->by ? MRS_FAMILY_FOLD : MRS_FAMILY_JOIN, e);
    bool take = leaves(s) || s->orphans != ROLLUP_ORPHANS_KEEP;
    mrsi_describe_side(&t, &s->join.from, MRS_ROLE_READ | MRS_ROLE_MAIN | (take ? MRS_ROLE_TAKE : 0), "from");
    mrsi_describe_side(&t, &s->join.into, s->by ? MRS_ROLE_ADD : MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN,
                       "into");
    if (s->side_orphans >= 0) {
        mrsi_describe_side(&t, &s->orphans_into, MRS_ROLE_ADD, "orphans.into");
    }
    describe_touches(&t, s);
    describe_losses(&t, s);
    describe_words(&t, s);
    out->sorted = s->sort != NULL;
    describe_live(&t, s);
    if (s->by) {
        mrsi_describe_once(&t, "the collection that it makes would exist already");
    } else if (!s->replace) {
        mrsi_describe_once(&t, s->keep == ROLLUP_KEEP_ALL
                                   ? "the fields that it adds would exist already; give `replace: true`"
                                   : "the fields that it adds would exist already, and the documents would have left "
                                     "from; use `keep: all` and `replace: true`");
    } else if (s->keep != ROLLUP_KEEP_ALL && s->empty != ROLLUP_EMPTY_ABSENT) {
        mrsi_describe_once(&t, "a second run finds nothing left to compute from and would overwrite the result; use "
                               "`keep: all` or `empty: absent`");
    } else if (s->keep != ROLLUP_KEEP_ALL && s->errors != MRSI_ERRORS_REFUSE) {
        mrsi_describe_once(&t, "a second run would compute only from documents that `errors` has left in from; use "
                               "`keep: all`");
    } else {
        mrsi_describe_once_of_one(&t);
    }
    mrsi_describe_errors(&t, s->errors, s->path, s->n);
    return mrsi_describe_end(&t);
}

/* ---- catalogue ---- */

/* With `by`, into is a new collection. */
static enum mrs_status
new_target(const struct mrsi_rollup *s, struct mrs_catalog *cat, struct mrs_err *e)
{
    struct mrs_cat_coll *into = mrs_catalog_find(cat, s->join.into.db, s->join.into.coll);
    if (into && into->exists) {
        mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s exists already: with `by`, `into` is a new collection",
                    s->join.into.ns);
        mrs_err_at(e, "into");
        return MRS_FAIL;
    }
    return mrsi_cat_target(cat, &s->join.into, "into", &into, NULL, e);
}

enum mrs_status
mrsi_rollup_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_rollup *s = state;
    struct mrs_cat_coll *from, *into = NULL, *more;
    struct mrs_desc d;
    enum mrs_status st = mrsi_cat_need(cat, &s->join.from, leaves(s), "from", &from, e);
    MRS_THEN(st, s->by ? new_target(s, cat, e) : mrsi_cat_need(cat, &s->join.into, true, "into", &into, e));
    if (st == MRS_OK && s->side_orphans >= 0) {
        st = mrsi_cat_target(cat, &s->orphans_into, "orphans", &more, NULL, e);
    }
    MRS_THEN(st, mrsi_rollup_describe(s, mrs_catalog_arena(cat), &d, e));
    if (st == MRS_OK && s->indexes && !s->by) {
        mrsi_indexes_note_added(cat, into, &d, 1);
    }
    MRS_THEN(st, mrsi_cat_validators(cat, &d, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}
