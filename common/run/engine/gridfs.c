/* SPDX-License-Identifier: Apache-2.0 */
/* gridfs.c - notes files of GridFS of which the plan takes one half: drivers look for the contents of X.files in
 * X.chunks, next to it. */
#include "run_engine.h"
#include "mongoreshape/catalogue.h"

static void
note_half(struct mrsi_engine *en, const struct mrs_input_ns *taken, const struct mrs_input_ns *other)
{
    MRS_ASSERT(taken->kind == MRS_INPUT_DATA && other->kind == MRS_INPUT_DATA);
    const struct mrs_step *st = mrsi_step_that_takes(en->plan, taken->db, taken->coll, false);
    if (st && !mrsi_step_that_takes(en->plan, other->db, other->coll, false)) {
        mrs_catalog_note(en->cat, "step %u (%s) takes documents out of %s, and no step out of %s: GridFS finds a file "
                                  "by both", st->no, st->type->name, taken->ns, other->ns);
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
        uint32_t of = mrsi_input_find(en->in, other);
        if (of != MRSI_NONE) {
            note_half(en, mrs_input_at(en->in, of), in);
            note_half(en, in, mrs_input_at(en->in, of));
        }
    }
}
