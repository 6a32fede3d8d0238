/* SPDX-License-Identifier: Apache-2.0 */
/* join_slice.h - a slice: consecutive documents of `into` with the partition of their records. */
#ifndef MRS_RUN_JOIN_SLICE_H
#define MRS_RUN_JOIN_SLICE_H

#include "join.h"

struct mrsi_slice {
    struct mrs_block block;
    const struct mrsi_part *part;
    const struct mrsi_spill *spill;
    uint32_t partition;          /* index in spill */
    bool is_large;               /* many megabytes: processed alone */
    bool is_heavy;               /* too many records for memory: heavy_parents.h */
    bool is_loaded;              /* recs are loaded already, because the partition is freed before the slice's turn */
    struct mrs_buf loaded, recs; /* as in mrsi_partition_load */
};
void mrsi_slice_init(struct mrsi_slice *x, struct mrs_mem *mem);
void mrsi_slice_clear(struct mrsi_slice *x);
/* The next slice; one thread at a time. OK, END, FAIL, DEAD. */
enum mrs_status mrsi_slice_next(struct mrsi_join_run *j, struct mrsi_slice *x, struct mrs_err *e);
enum mrs_status mrsi_slice_load(struct mrsi_slice *x, struct mrs_err *e); /* loads recs if they are missing */
void mrsi_slices_clear(struct mrsi_join_run *j);
/* The documents of the block without a slice, as fields of a savepoint (checkpoint.h). */
enum mrs_status mrsi_slices_save(const struct mrsi_join_run *j, struct mrs_build *b, struct mrs_buf *files,
                                 struct mrs_err *e);
enum mrs_status mrsi_slices_load(struct mrsi_join_run *j, struct mrs_err *e);

#endif
