/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - the steps of the dirty tree. */
static const struct mrs_step_type *const steps[] = {
    &mrsi_step_embed,
    &mrsi_step_rename,
    &mrsi_step_rename_collection,
};
