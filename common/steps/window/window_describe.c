/* SPDX-License-Identifier: Apache-2.0 */
/* window_describe.c - window: its description, its effect on the catalog, its inverse. */
#include "window.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/inverse.h"
#include "steps/catalog/indexes.h"
#include "steps/kit/describe.h"
#include "steps/kit/undo.h"

static void
describe_touches(struct mrsi_describe *t, const struct mrsi_window *s)
{
    mrsi_describe_query(t, 0, s->where);
    mrsi_describe_expr(t, 0, s->by.key);
    for (uint32_t i = 0; i < s->by.n_parts; i++) {
        mrsi_describe_expr(t, 0, s->by.part[i]);
    }
    mrsi_describe_sort(t, 0, s->sort);
    for (uint32_t i = 0; i < s->n_arg; i++) {
        mrsi_describe_acc(t, 0, s->arg[i].acc);
        mrsi_describe_expr(t, 0, s->arg[i].acc ? NULL : s->arg[i].x);
    }
    for (uint32_t i = 0; i < s->added.n; i++) {
        mrsi_describe_expr(t, 0, s->field[i].x);
        mrsi_describe_touch(t, 0, 'A', s->added.path[i].text);
    }
}

static void
describe_words(struct mrsi_describe *t, const struct mrsi_window *s)
{
    bool groups = s->by.key || s->by.n_parts;
    mrsi_describe_words(t, "computes %s in %s%s from %s", mrsi_describe_paths(t, s->added.path, s->added.n, 6),
                        s->where ? "those documents that `where` takes of " : "every document of ", s->in.ns,
                        groups ? "the documents of its group" : "all of them");
    for (uint32_t i = 0; i < s->n_op; i++) {
        if (mrsi_window_slides(&s->op[i])) {
            mrsi_describe_words(t,
                                ". %s over a window whose beginning moves is computed again for each document: its "
                                "cost grows with the width of the window", s->op[i].name);
        }
    }
}

enum mrs_status
mrsi_window_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct mrsi_window *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_WINDOW, e);
    mrsi_describe_side(&t, &s->in, MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN, "in");
    describe_touches(&t, s);
    describe_words(&t, s);
    mrsi_describe_quiet(&t, "a document that comes, goes or changes may change the values of all others of its "
                        "group" MRSI_DO_QUIET);
    if (!s->added.replace) {
        mrsi_describe_once(&t, "the fields that it adds would exist already; give `replace: true`");
    } else {
        mrsi_describe_loss(&t, "values that the computed ones overwrite");
        mrsi_describe_once_of_own(&t);
    }
    mrsi_describe_errors(&t, s->added.errors, s->added.path, s->added.n);
    return mrsi_describe_end(&t);
}

enum mrs_status
mrsi_window_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_window *s = state;
    struct mrs_cat_coll *cc = NULL;
    struct mrs_desc d;
    enum mrs_status st = mrsi_cat_need(cat, &s->in, true, "in", &cc, e);
    MRS_THEN(st, mrsi_window_describe(s, mrs_catalog_arena(cat), &d, e));
    if (st == MRS_OK && s->indexes) {
        mrsi_indexes_note_added(cat, cc, &d, 0);
    }
    MRS_THEN(st, mrsi_cat_validators(cat, &d, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}

enum mrs_status
mrsi_window_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    const struct mrsi_window *s = state;
    struct mrsi_undo u;
    mrsi_undo_begin(&u, inv, e);
    mrsi_undo_open(&u, "unset");
    mrsi_undo_take(&u, "in", "in");
    mrsi_undo_deeper(&u, "fields", MRS_ARRAY);
    for (uint32_t i = 0; i < s->added.n; i++) {
        mrsi_undo_item_path(&u, &s->added.path[i]);
    }
    mrsi_undo_up(&u);
    mrsi_undo_take(&u, "indexes", "indexes");
    mrsi_undo_close(&u);
    mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                   "values under the names of the computed fields in documents that received none, and documents made "
                   "on the way to them");
    if (s->added.replace) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "values that the computed fields overwrote");
    }
    return mrsi_undo_end(&u);
}
