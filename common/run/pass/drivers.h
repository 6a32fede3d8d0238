/* SPDX-License-Identifier: Apache-2.0 */
/* drivers.h - the driver of each family of steps: it runs a step from its first pass to its last. */
#ifndef MRSI_RUN_DRIVERS_H
#define MRSI_RUN_DRIVERS_H

#include "mongoreshape/run.h"
#include "run/store/store.h"

enum mrs_status mrsi_spread_step(struct mrsi_engine *en, uint32_t step,
                                 struct mrs_err *e); /* SPREAD, and MAP with new_ids */
enum mrs_status mrsi_join_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_group_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_tree_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_link_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_rekey_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_fold_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_window_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_grid_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);

/* The memory and files that a join will need, by the arithmetic of the run itself. */
struct mrsi_join_size {
    uint64_t from_bytes, from_docs, into_bytes, into_docs;
    uint64_t memory; /* for gathering */
    uint32_t jobs;
};
void mrsi_join_forecast(const struct mrs_desc *d, const struct mrsi_join_size *size, struct mrs_forecast *out);

#endif
