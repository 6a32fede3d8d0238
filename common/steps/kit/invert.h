/* SPDX-License-Identifier: Apache-2.0 */
/* invert.h - `invert` hooks of steps without a header of their own; defined in undo_*.c. */
#ifndef MRSI_INVERT_H
#define MRSI_INVERT_H

#include "mongoreshape/step.h"
#include "mongoreshape/inverse.h"

enum mrs_status mrsi_set_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_unset_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_rename_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_cast_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_replace_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_order_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_split_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_move_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_union_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_partition_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_index_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_options_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_rename_collection_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_copy_collection_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_drop_collection_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_delete_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_rollup_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_bucket_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_grid_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_link_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_pack_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_unpack_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);

#endif
