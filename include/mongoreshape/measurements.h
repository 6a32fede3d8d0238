/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.h - a bucket of a time series as the documents that a query of the collection gives.
 *
 * A server stores a time series as buckets: documents that hold the fields of many measurements as columns. Version 1
 * has them as documents of values by index, versions 2 and 3 (in order of time, or not) as compressed columns, binary
 * data of subtype 7. Threads: one at a time for each struct mrs_measurements. */
#ifndef MONGORESHAPE_MEASUREMENTS_H
#define MONGORESHAPE_MEASUREMENTS_H

#include "mongoreshape/doc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the option `timeseries` says of the fields; the texts lie in the options. meta NULL: there is none. */
struct mrs_series {
    const char *time, *meta;
};
/* False: there is no such option, or none with a timeField. */
bool mrs_series_of(struct mrs_view options, struct mrs_series *out);

/* Whether a collection of this metadata ({options, type}) is a time series whose documents are buckets. */
bool mrs_series_has_buckets(struct mrs_view metadata, struct mrs_series *out);

struct mrs_measurements;
/* The texts of `of` outlive it. OK, DEAD. */
enum mrs_status mrs_measurements_new(struct mrs_mem *mem, const struct mrs_series *of, struct mrs_measurements **out,
                                     struct mrs_err *e);
void mrs_measurements_free(struct mrs_measurements *m);
/* The documents of this bucket from here on; it has been checked, and outlives them. FAIL MRS_E_BSON: it is none, or
 * its parts contradict each other (e->where: the field); MRS_E_LIMIT; DEAD. */
enum mrs_status mrs_measurements_begin(struct mrs_measurements *m, struct mrs_view bucket, struct mrs_err *e);
/* The next one, checked: the time, the meta field, then the others in the order of the bucket. It lives until the next
 * call. OK; END, and all that the bucket says of its measurements has turned out to be so; as begin. */
enum mrs_status mrs_measurements_next(struct mrs_measurements *m, struct mrs_view *doc, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
