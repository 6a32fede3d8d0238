/* SPDX-License-Identifier: Apache-2.0 */
/* copy_invert.c - the inverse of copy: removes the copies and unwraps references. */
#include "copy.h"
#include "steps/kit/undo.h"
#include "mongoreshape/inverse.h"
#include <stdio.h>

/* Opens {$ifNull: ["$x.id", "$x"]} under the name if there is one, else as an array element. */
static void
bare(struct mrsi_undo *u, const char *name, const char *x, const char *wrap)
{
    char inner[400];
    snprintf(inner, sizeof inner, "%s.%.120s", x, wrap);
    if (name) {
        mrsi_undo_deeper(u, name, MRS_DOCUMENT);
    } else {
        mrs_build_item_open(&u->b, MRS_DOCUMENT);
    }
    mrsi_undo_deeper(u, "$ifNull", MRS_ARRAY);
    mrsi_undo_item_text(u, inner);
    mrsi_undo_item_text(u, x);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
}

/* {path: {$cond: [{$isArray: "$path"}, {$map: unwrap each element}, unwrap the value]}} */
static void
unwrap(const struct mrsi_copy *s, struct mrsi_undo *u, const struct mrs_path *ref)
{
    MRS_ASSERT(ref->n > 0);
    char x[260];
    snprintf(x, sizeof x, "$%.250s", ref->text);
    mrsi_undo_open(u, "set");
    mrsi_undo_take(u, "in", "into");
    mrsi_undo_deeper(u, "fields", MRS_DOCUMENT);
    mrsi_undo_deeper(u, ref->text, MRS_DOCUMENT);
    mrsi_undo_deeper(u, "$cond", MRS_ARRAY);
    mrs_build_item_open(&u->b, MRS_DOCUMENT);
    mrsi_undo_text(u, "$isArray", x);
    mrsi_undo_up(u);
    mrs_build_item_open(&u->b, MRS_DOCUMENT);
    mrsi_undo_deeper(u, "$map", MRS_DOCUMENT);
    mrsi_undo_text(u, "input", x);
    bare(u, "in", "$$this", s->wrap);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
    bare(u, NULL, x, s->wrap);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
    mrsi_undo_close(u);
    mrsi_undo_loss(u, MRS_LOSS_VALUES, "documents with a field %s that stood among the references of %s", s->wrap,
                   ref->text);
}

static void
take_out(const struct mrsi_copy *s, struct mrsi_undo *u)
{
    mrsi_undo_open(u, "unset");
    mrsi_undo_take(u, "in", "into");
    mrsi_undo_deeper(u, "fields", MRS_ARRAY);
    for (uint32_t i = 0; i < s->n_targets; i++) {
        mrsi_undo_item_path(u, &s->target[i]);
    }
    mrsi_undo_up(u);
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
    mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                   "values under the names of the copies in documents that received none");
}

enum mrs_status
mrsi_copy_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    const struct mrsi_copy *s = state;
    const struct mrs_path *ref = &s->join.pair[0].into.path;
    const char *from = s->join.from.ns;
    struct mrsi_undo u;
    mrsi_undo_begin(&u, inv, e);
    if (!s->wrap) {
        take_out(s, &u);
    } else if (ref->n == 1) {
        unwrap(s, &u, ref);
    } else {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES, "bare references in %s: they stay wrapped", ref->text);
    }
    if (s->orphans == COPY_ORPHANS_INTO) {
        mrsi_undo_move(&u, mrsi_undo_into(&u, "orphans"), mrsi_undo_body(&u, "from"));
        mrsi_undo_loss(&u, MRS_LOSS_ORDER | MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS | MRS_LOSS_COLLECTIONS,
                       "documents that %s held before; it stays, perhaps empty", s->orphans_into.ns);
    }
    if (s->drop_ref) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "references to %s", from);
    }
    if (s->take) {
        mrsi_undo_loss(&u, MRS_LOSS_DOCUMENTS, "documents of %s that were copied", from);
    }
    if (s->orphans == COPY_ORPHANS_DROP) {
        mrsi_undo_loss(&u, MRS_LOSS_DOCUMENTS, "orphans dropped: documents of %s without a match", from);
    }
    if (s->replace) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "values that the copies overwrote");
    }
    if (s->dangling == MRSI_DANGLING_DROP || s->dangling == MRSI_DANGLING_NULL) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "references without a match");
    }
    return mrsi_undo_end(&u);
}
