/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - the table of steps: the one place that knows them all.
 *
 * In the order of the plan language. A new step is a file of its own and a line here; help, checks, explain and
 * the manual read its struct. */
#include "mongoreshape/step.h"

extern const struct mrs_step_type mrsi_step_embed, mrsi_step_extract, mrsi_step_copy, mrsi_step_link,
    mrsi_step_rollup, mrsi_step_bucket, mrsi_step_unbucket, mrsi_step_set, mrsi_step_replace, mrsi_step_unset,
    mrsi_step_rename, mrsi_step_cast, mrsi_step_pack, mrsi_step_unpack, mrsi_step_split, mrsi_step_order,
    mrsi_step_move, mrsi_step_union, mrsi_step_partition, mrsi_step_tree, mrsi_step_grid, mrsi_step_index,
    mrsi_step_options, mrsi_step_rename_collection, mrsi_step_drop_collection,
    mrsi_step_copy_collection, mrsi_step_delete,
    mrsi_step_rekey, mrsi_step_window;

static const struct mrs_step_type *const steps[] = {
    &mrsi_step_embed, &mrsi_step_extract, &mrsi_step_copy, &mrsi_step_link, &mrsi_step_rollup,
    &mrsi_step_bucket, &mrsi_step_unbucket,
    &mrsi_step_set, &mrsi_step_replace, &mrsi_step_unset, &mrsi_step_rename,
    &mrsi_step_cast, &mrsi_step_pack, &mrsi_step_unpack, &mrsi_step_split, &mrsi_step_order, &mrsi_step_move,
    &mrsi_step_union, &mrsi_step_partition, &mrsi_step_tree, &mrsi_step_grid, &mrsi_step_index, &mrsi_step_options,
    &mrsi_step_rename_collection, &mrsi_step_drop_collection,
    &mrsi_step_copy_collection, &mrsi_step_delete, &mrsi_step_rekey,
    &mrsi_step_window,
};

const struct mrs_step_type *
mrs_step_type_at(uint32_t i)
{
    return i < sizeof steps / sizeof *steps ? steps[i] : NULL;
}

const struct mrs_step_type *
mrs_step_type_find(const char *name)
{
    MRS_ASSERT(name);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (strcmp(steps[i]->name, name) == 0) {
            return steps[i];
        }
    }
    return NULL;
}
