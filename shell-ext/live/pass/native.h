/* SPDX-License-Identifier: Apache-2.0 */
/* native.h - runs ranges of a group by pipelines of the server. */
#ifndef LIVE_NATIVE_H
#define LIVE_NATIVE_H

#include "mongoreshape/pipeline.h"
#include "range_pass.h"

struct native_part {
    const struct mrs_coll *on;
    struct mrs_view stages; /* an array; after the `$match` of the range */
    const char *why;        /* of a count: the condition that it counts */
};
struct live_native {
    struct live_job *job;
    struct mrs_arena life, each; /* for the group, for a range */
    const struct mrs_coll *coll; /* the main collection */
    const char *why;             /* why the client derives the whole group; NULL: the server may */
    struct native_part count[MRS_LOWERED_PARTS], once[MRS_LOWERED_PARTS], write[MRS_LOWERED_PARTS];
    uint32_t n_counts, n_once, n_writes;
    uint64_t ranges, by_client;
    char last[160];              /* why the client derived a range */
};
/* Makes the pipelines of a group on one of its main collections, and checks their preconditions; waits if the
 * connection is lost. OK, FAIL. */
enum mrs_status live_native_open(struct live_native *n, struct live_job *job, uint32_t group,
                                 const struct mrs_coll *main, int side, struct mrs_err *e);
void live_native_close(struct live_native *n);
/* Runs the pipelines on the documents of these `_id`s. *client: nothing, or only a part, was done, and the client must
 * derive all. OK; END: connection lost; FAIL: through a mongos also in place of *client. */
enum mrs_status live_native_range(struct live_native *n, const struct mrs_view *ids, uint32_t k, bool *client,
                                  struct mrs_err *e);
/* Reports for each group of a dry run whether the server or the client would process it, and why. */
enum mrs_status live_native_outlook(struct live_job *job, struct mrs_err *e);

#endif
