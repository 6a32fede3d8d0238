/* SPDX-License-Identifier: Apache-2.0 */
/* lower_join.h - matches laid beside a document by stages of a server, for embed, copy and rollup; orders and keys of
 * groups. */
#ifndef MRSI_LOWER_JOIN_H
#define MRSI_LOWER_JOIN_H

#include "lower.h"

struct mrsi_lower_join {
    const struct mrs_coll *from, *into;
    const char *from_key, *into_key;
    bool points;          /* the reference lies in documents of `into` */
    bool by_id;           /* into_key is `_id`: neither missing nor an array, so it is its own key */
    struct mrs_view look; /* stages on what matches, an array */
};

/* Keys of the plan; the reason why not. */
const char *mrsi_join_lower_match(struct mrsi_lower *l, struct mrsi_lower_join *j);
const char *mrsi_join_lower_judge(const struct mrsi_lower *l);
/* The stages that make of a document of `from` what is taken of it; n 0: as it is. own_id: a list means `_id`, too. */
const char *mrsi_join_lower_shape(struct mrsi_lower *l, bool own_id, struct mrs_view *fields, struct mrs_view *drop);
struct mrs_view mrsi_join_lower_sort(struct mrsi_lower *l);  /* {$sort: ...}, `_id` last */
struct mrs_view mrsi_join_lower_where(struct mrsi_lower *l); /* {$match: where}; n 0: none */
/* Begins a pipeline: each document of `into` with what matches it in the array __mrs_m; and takes that out again. */
void mrsi_join_lower_put(struct mrsi_lower *l, const struct mrsi_lower_join *j);
void mrsi_join_lower_end(struct mrsi_lower *l);
/* Documents that a server would read otherwise, or that `taken` finds; those with several matches. */
bool mrsi_join_lower_count(struct mrsi_lower *l, const struct mrsi_lower_join *j, struct mrs_view taken);
/* Documents with arrays in two fields of `sort`; with parts of a key of groups that servers read otherwise. */
bool mrsi_join_lower_count_sort(struct mrsi_lower *l, const struct mrs_coll *from);
bool mrsi_join_lower_count_keys(struct mrsi_lower *l, const struct mrs_coll *from, struct mrs_val by);
bool mrsi_join_lower_count_many(struct mrsi_lower *l, const struct mrsi_lower_join *j);
/* Documents of `from` that have found their place leave it. */
bool mrsi_join_lower_remove(struct mrsi_lower *l, const struct mrsi_lower_join *j);

#endif
