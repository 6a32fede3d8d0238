/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.h - expands a bucket of a time series into the documents that a query of the collection returns.
 *
 * A server stores a time series as buckets: documents with the fields of many measurements as columns. In version 1
 * columns are documents of values by index, in versions 2 and 3 (in order of time, or not) they are compressed binary
 * data of subtype 7. Threads: one at a time for each struct mrs_measurements. */
#ifndef MONGORESHAPE_MEASUREMENTS_H
#define MONGORESHAPE_MEASUREMENTS_H

#include "mongoreshape/doc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fields of the option `timeseries`; the texts are in the options. meta NULL: there is none. */
struct mrs_series {
    const char *time, *meta;
};
/* False: there is no such option, or none with a timeField. */
bool mrs_series_of(struct mrs_view options, struct mrs_series *out);

/* Whether a collection of this metadata ({options, type}) is a time series whose documents are buckets. */
bool mrs_series_has_buckets(struct mrs_view metadata, struct mrs_series *out);

struct mrs_measurements;
/* The texts of `of` must outlive it. OK, DEAD. */
enum mrs_status mrs_measurements_new(struct mrs_mem *mem, const struct mrs_series *of, struct mrs_measurements **out,
                                     struct mrs_err *e);
void mrs_measurements_free(struct mrs_measurements *m);
/* Starts with the documents of this bucket, which was checked and must outlive them. FAIL MRS_E_BSON: it is no bucket,
 * or its parts contradict each other (e->where: the field); MRS_E_LIMIT; DEAD. */
enum mrs_status mrs_measurements_begin(struct mrs_measurements *m, struct mrs_view bucket, struct mrs_err *e);
/* The next one, checked: the time, the meta field, then the others in the order of the bucket. It lives until the next
 * call. OK; END: also all statements of the bucket about its measurements were verified; as begin. */
enum mrs_status mrs_measurements_next(struct mrs_measurements *m, struct mrs_view *doc, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
