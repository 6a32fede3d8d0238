/* SPDX-License-Identifier: Apache-2.0 */
/* tree_invert.c - the inverse of the step `tree`: the same step with both representations exchanged. */
#include "tree.h"
#include "steps/kit/undo.h"
#include "mongoreshape/inverse.h"

struct tree_invert_query {
    const struct mrsi_tree_args *s;
    bool hit;
};

static bool
leads_to(const char *path, const struct mrsi_tree_fields *f)
{
    bool hit = !*path;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t n = f->field[i].len;
        hit = hit || (strncmp(path, f->field[i].name, n) == 0 && (path[n] == 0 || path[n] == '.'));
    }
    return hit;
}

static void
read_path(void *arg, const char *path)
{
    struct tree_invert_query *a = arg;
    a->hit = a->hit || leads_to(path, &a->s->old) || leads_to(path, &a->s->made);
}

static void
describe_losses(struct mrsi_undo *u, const struct mrsi_tree_args *s)
{
    const char *old = s->old.field[0].name;
    if (s->to_form == MRSI_TREE_EMBEDDED) {
        mrsi_undo_loss(u, MRS_LOSS_ORDER, "the order of documents of %s, whose nodes lie together", s->in.ns);
    }
    if (s->form == MRSI_TREE_EMBEDDED) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                       "which nodes had no _id, whether %s of a leaf was empty, null or missing, and its place", old);
    } else if (s->form == MRSI_TREE_NESTED) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_TYPES, "the numbers in %s and %s%s", old, s->old.field[1].name,
                       s->to_form == MRSI_TREE_NESTED ? "" : ", and with them the order of siblings");
    } else if (s->form == MRSI_TREE_CHILDREN) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES, "the order of %s, what is in it twice, and whether a leaf had an empty list",
                       old);
    } else {
        mrsi_undo_loss(u, MRS_LOSS_VALUES, "whether the %s of a root was null, not there or the root itself", old);
    }
    if (s->form != MRSI_TREE_NESTED && s->form != MRSI_TREE_PATH && s->form != MRSI_TREE_EMBEDDED) {
        mrsi_undo_loss(u, MRS_LOSS_TYPES, "types of numbers in %s that were not those of the `_id` (1 and 1.0)", old);
    }
    mrsi_undo_loss(u, MRS_LOSS_PLACES, "the place of %s among the fields", old);
    if (s->replace) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "%s where it was there already", s->made.field[0].name);
    }
}

enum mrs_status
mrsi_tree_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    const struct mrsi_tree_args *s = state;
    struct tree_invert_query a = {s, false};
    struct mrsi_undo u;
    mrsi_undo_begin(&u, inv, e);
    if (s->where) {
        mrs_query_reads(s->where, read_path, &a);
    }
    if (a.hit) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES | MRS_LOSS_TYPES,
                       "the old form: `where` would find other documents now");
        return mrsi_undo_end(&u);
    }
    if (s->form != s->to_form) {
        mrsi_undo_open(&u, "tree");
        mrsi_undo_take(&u, "in", "in");
        mrsi_undo_take(&u, "form", "to_form");
        mrsi_undo_take(&u, "to_form", "form");
        mrsi_undo_take(&u, "names", "names");
        mrsi_undo_take(&u, "separator", "separator");
        mrsi_undo_take(&u, "where", "where");
        mrsi_undo_take(&u, "indexes", "indexes");
        mrsi_undo_close(&u);
    }
    describe_losses(&u, s);
    return mrsi_undo_end(&u);
}
