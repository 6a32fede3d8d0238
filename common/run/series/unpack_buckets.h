/* SPDX-License-Identifier: Apache-2.0 */
/* unpack_buckets.h - the measurements of a time series as the documents of a collection.
 *
 * A step that reads a time series has a collection of its measurements as its side, which exists in the engine alone
 * and lies in a temporary file. Where steps only read it, the buckets go to the output as they are. Where a step takes
 * measurements away, or some were refused, what is left of them is the time series from then on: plain documents, which
 * a restore inserts. */
#ifndef MRSI_RUN_UNPACK_BUCKETS_H
#define MRSI_RUN_UNPACK_BUCKETS_H

#include "run/pass/checkpoint.h"

/* While the catalogue is taken through the plan: the collection of measurements, made where there is none yet, if that
 * is what the step reads in the place of this one; *coll stays what it is, if not. */
void mrsi_series_side(struct mrsi_engine *en, const struct mrs_step *st, const struct mrs_coll *name, uint32_t *coll);
/* Behind the step in the catalogue: a time series of which it has taken is measurements now. */
void mrsi_series_played(struct mrsi_engine *en, uint32_t step, const struct mrs_coll *name, uint32_t coll);
/* Before the step: fills those of its sides that nothing has filled yet; *some: there were such ones. */
enum mrs_status mrsi_series_unpack(struct mrsi_engine *en, uint32_t step, bool *some, struct mrs_err *e);
/* Behind the last step: time series that were only read, but not whole, become what is left of them. */
enum mrs_status mrsi_series_settle(struct mrsi_engine *en, struct mrs_err *e);

#endif
