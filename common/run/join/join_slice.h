/* SPDX-License-Identifier: Apache-2.0 */
/* join_slice.h - a slice: consecutive documents of `into` with the partition that their records lie in. */
#ifndef MRS_RUN_JOIN_SLICE_H
#define MRS_RUN_JOIN_SLICE_H

#include "join.h"

struct mrsi_slice {
    struct mrs_block block;
    const struct mrsi_part *part;
    const struct mrsi_spill *spill;
    uint32_t partition;          /* of spill */
    bool is_large;               /* of many megabytes: worked on alone */
    bool is_heavy;               /* its records are: through heavy_parents.h */
    bool is_loaded;              /* recs are there already, as the partition will be gone when the slice has its turn */
    struct mrs_buf loaded, recs; /* as mrsi_partition_load has them */
};
void mrsi_slice_init(struct mrsi_slice *x, struct mrs_mem *mem);
void mrsi_slice_clear(struct mrsi_slice *x);
/* The next slice; one thread at a time. OK, END, FAIL, DEAD. */
enum mrs_status mrsi_slice_next(struct mrsi_join_run *j, struct mrsi_slice *x, struct mrs_err *e);
enum mrs_status mrsi_slice_load(struct mrsi_slice *x, struct mrs_err *e); /* recs, where they are not there */
void mrsi_slices_clear(struct mrsi_join_run *j);
/* The documents of the block that are in no slice yet, as fields of a savepoint (checkpoint.h). */
enum mrs_status mrsi_slices_save(const struct mrsi_join_run *j, struct mrs_build *b, struct mrs_buf *files,
                                 struct mrs_err *e);
enum mrs_status mrsi_slices_load(struct mrsi_join_run *j, struct mrs_err *e);

#endif
