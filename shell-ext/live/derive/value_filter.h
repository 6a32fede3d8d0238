/* SPDX-License-Identifier: Apache-2.0 */
/* value_filter.h - a filter for the documents whose field has one of many values. */
#ifndef LIVE_VALUE_FILTER_H
#define LIVE_VALUE_FILTER_H

#include "mongoreshape/build.h"

struct live_value_filter {
    const char *path;
    struct mrs_buf in, rest;
    struct mrs_build in_list, clauses;
    uint32_t n_in, n_clauses;
};
void live_value_filter_init(struct live_value_filter *a, struct mrs_mem *mem, const char *path);
void live_value_filter_clear(struct live_value_filter *a);
void live_value_filter_reset(struct live_value_filter *a);
void live_value_filter_add(struct live_value_filter *a, struct mrs_val v); /* not null, not undefined, not missing */
void live_value_filter_add_nulls(struct live_value_filter *a);                 /* null, undefined and missing */
size_t live_value_filter_bytes(const struct live_value_filter *a);
/* Appends the filter to out; after it call only live_value_filter_reset and _clear. */
enum mrs_status live_value_filter_finish(struct live_value_filter *a, struct mrs_buf *out, struct mrs_view *filter,
                                          struct mrs_err *e);

#endif
