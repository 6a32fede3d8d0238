/* SPDX-License-Identifier: Apache-2.0 */
/* lower_join.h - the join of embed, copy and rollup as stages; sort orders and group keys. */
#ifndef MRSI_LOWER_JOIN_H
#define MRSI_LOWER_JOIN_H

#include "lower.h"

struct mrsi_lower_join {
    const struct mrs_coll *from, *into;
    const char *from_key, *into_key;
    bool by_id;           /* into_key is `_id`: never missing */
    bool single;          /* into_key is one value, used directly: `_id`, or documents with an array are counted */
    struct mrs_view lookup_pipeline; /* an array of stages on the matches */
};

/* Reads the keys of the plan; returns the reason why it cannot be a pipeline, or NULL. */
const char *mrsi_join_lower_match(struct mrsi_lower *l, struct mrsi_lower_join *j);
const char *mrsi_join_lower_judge(struct mrsi_lower *l);
/* The stages that make the copy of a document of `from`; n 0: unchanged. own_id: a list includes `_id`. */
const char *mrsi_join_lower_shape(struct mrsi_lower *l, bool own_id, struct mrs_view *fields, struct mrs_view *drop);
struct mrs_view mrsi_join_lower_sort(struct mrsi_lower *l);  /* {$sort: ...}, `_id` last */
struct mrs_view mrsi_join_lower_where(struct mrsi_lower *l); /* {$match: where}; n 0: none */
/* Begins a pipeline that adds the matches of each document of `into` as the array __mrs_m; and removes it again. */
void mrsi_join_lower_put(struct mrsi_lower *l, const struct mrsi_lower_join *j);
void mrsi_join_lower_end(struct mrsi_lower *l);
/* Counts documents that a server would read differently, or that match `taken`; and those with several matches. */
bool mrsi_join_lower_count(struct mrsi_lower *l, const struct mrsi_lower_join *j, struct mrs_view taken);
/* Counts documents with arrays in two fields of `sort`; and with group keys that servers read differently. */
bool mrsi_join_lower_count_sort(struct mrsi_lower *l, const struct mrs_coll *from);
bool mrsi_join_lower_count_keys(struct mrsi_lower *l, const struct mrs_coll *from, struct mrs_val by);
bool mrsi_join_lower_count_many(struct mrsi_lower *l, const struct mrsi_lower_join *j);
/* Which of several matches `many` takes, for $arrayElemAt. */
int64_t mrsi_join_lower_taken(const struct mrsi_lower *l);
/* Removes the matched documents of `from`. */
bool mrsi_join_lower_remove(struct mrsi_lower *l, const struct mrsi_lower_join *j);

#endif
