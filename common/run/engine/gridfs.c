/* SPDX-License-Identifier: Apache-2.0 */
/* gridfs.c - notes files of GridFS of which the plan takes one half: drivers look for the contents of X.files in
 * X.chunks, next to it. */
#include "run_engine.h"
#include "mongoreshape/catalogue.h"

/* The first step that takes documents out of the collection; NULL: none. */
static const struct mrs_step *
step_that_takes(const struct mrs_plan *plan, const char *ns)
{
    MRS_ASSERT(ns);
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        const struct mrs_desc *d = &plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_touches; k++) {
            const struct mrs_touch *t = &d->touches[k];
            if (t->kind == 'D' && !t->path[0] && strcmp(d->sides[t->side].coll.ns, ns) == 0) {
                return &plan->steps[i];
            }
        }
    }
    return NULL;
}

static void
note_half(struct mrsi_engine *en, const char *taken, const char *other)
{
    const struct mrs_step *st = step_that_takes(en->plan, taken);
    if (st && !step_that_takes(en->plan, other)) {
        mrs_catalog_note(en->cat, "step %u (%s) takes documents out of %s, and no step out of %s: GridFS finds a file "
                                  "by both", st->no, st->type->name, taken, other);
    }
}

void
mrsi_note_gridfs(struct mrsi_engine *en)
{
    static const char chunks[] = ".chunks", files[] = ".files";
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        size_t n = in->kind == MRS_INPUT_DATA ? strlen(in->ns) : 0, k = n < sizeof chunks ? 0 : n - sizeof chunks + 1;
        char other[MRS_NS_MAX + 1];
        if (!k || k + sizeof files > sizeof other || strcmp(in->ns + k, chunks) != 0) {
            continue;
        }
        memcpy(other, in->ns, k);
        memcpy(other + k, files, sizeof files);
        if (mrsi_input_find(en->in, other) != MRSI_NONE) {
            note_half(en, other, in->ns);
            note_half(en, in->ns, other);
        }
    }
}
