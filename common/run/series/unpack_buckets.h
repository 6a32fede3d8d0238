/* SPDX-License-Identifier: Apache-2.0 */
/* unpack_buckets.h - the measurements of a time series as a collection.
 *
 * A step that reads a time series has a collection of its measurements as its side. It exists only in the engine, in a
 * temporary file. If steps only read it, the buckets are copied to the output unchanged. If a step removes
 * measurements, or some were refused, the remaining measurements replace the time series: plain documents, which a
 * restore inserts. */
#ifndef MRSI_RUN_UNPACK_BUCKETS_H
#define MRSI_RUN_UNPACK_BUCKETS_H

#include "run/pass/checkpoint.h"

/* While the catalog is taken through the plan: replaces *coll by the collection of measurements (made if missing), if
 * the step reads these; else *coll is unchanged. */
void mrsi_series_side(struct mrsi_engine *en, const struct mrs_step *st, const struct mrs_coll *name, uint32_t *coll);
/* After the step in the catalog: a time series from which it removed documents becomes its measurements. */
void mrsi_series_played(struct mrsi_engine *en, uint32_t step, const struct mrs_coll *name, uint32_t coll);
/* Before the step: fills those of its sides that are still empty; *some: there were any. */
enum mrs_status mrsi_series_unpack(struct mrsi_engine *en, uint32_t step, bool *some, struct mrs_err *e);
/* After the last step: time series that were only read, but lost refused documents, become their measurements. */
enum mrs_status mrsi_series_settle(struct mrsi_engine *en, struct mrs_err *e);

#endif
