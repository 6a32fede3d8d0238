/* SPDX-License-Identifier: Apache-2.0 */
/* native.h - runs ranges of a group by pipelines of the server. */
#ifndef LIVE_NATIVE_H
#define LIVE_NATIVE_H

#include "mongoreshape/pipeline.h"
#include "range_pass.h"

struct native_part {
    const struct mrs_coll *on;
    struct mrs_view stages; /* an array; behind the `$match` of the range */
    const char *why;        /* of a count: what it finds */
};
struct live_native {
    struct live_job *job;
    struct mrs_arena life, each; /* of the group, of a range */
    const struct mrs_coll *coll; /* the main collection */
    const char *why;             /* why the client does all of it; NULL: the server may */
    struct native_part count[MRS_LOWERED_PARTS], once[MRS_LOWERED_PARTS], write[MRS_LOWERED_PARTS];
    uint32_t n_counts, n_once, n_writes;
    uint64_t ranges, by_client;
    char last[160];              /* why a range was the client's */
};
/* What a group adds, as pipelines on one of its main collections, and what must hold for all of it looked up; a
 * connection that is lost is waited for. OK, FAIL. */
enum mrs_status live_native_open(struct live_native *n, struct live_job *job, uint32_t group,
                                 const struct mrs_coll *main, int side, struct mrs_err *e);
void live_native_close(struct live_native *n);
/* The documents of these `_id`s. *client: nothing, or only a part, was done, and the client has to do it all. OK; END:
 * connection lost; FAIL: through a mongos also where it would be the client's. */
enum mrs_status live_native_range(struct live_native *n, const struct mrs_view *ids, uint32_t k, bool *client,
                                  struct mrs_err *e);
/* A line for each group of a dry run: whether the server or the client would do it, and why. */
enum mrs_status live_native_outlook(struct live_job *job, struct mrs_err *e);

#endif
