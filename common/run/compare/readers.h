/* SPDX-License-Identifier: Apache-2.0 */
/* readers.h - several workers without a plan, for commands that only read dumps.
 *
 * A namespace is read once, from its first document to its last: blocks are fetched under a lock, processed in parallel
 * and passed on in order. Temporary files and sorters work as in a run. */
#ifndef MRS_RUN_READERS_H
#define MRS_RUN_READERS_H

#include "run/pass/pass.h"

struct mrsi_readers {
    struct mrsi_engine en;
    struct mrs_run_opts opts;
};
/* Uses jobs, tmp, cancel and progress of opts; memory: of the whole process, decides the number of workers. Must be
 * ended for every result. */
enum mrs_status mrsi_readers_begin(struct mrsi_readers *c, struct mrs_mem *mem, const struct mrs_run_opts *opts,
                                   struct mrs_err *e);
void mrsi_readers_end(struct mrsi_readers *c);

struct mrsi_read_job {
    struct mrs_block block;
    struct mrs_buf out;   /* output of the block; initially empty */
    struct mrs_docs docs; /* the same */
    enum mrs_status failed;
    struct mrs_err why;
};
struct mrsi_reading {
    struct mrsi_engine *en;
    struct mrs_input *in;
    uint32_t index;
    bool checked; /* its documents were validated before */
    /* Processes one document, on any worker; if not OK, the rest is not read. */
    enum mrs_status (*doc)(void *arg, struct mrsi_worker *w, struct mrsi_read_job *job, struct mrs_view doc,
                           uint64_t ordinal, struct mrs_err *e);
    /* Receives the output of a block, one block at a time, in order; for a failed block, the output up to the failure.
     * OK; END: stop reading. */
    enum mrs_status (*block)(void *arg, struct mrsi_read_job *job, struct mrs_err *e);
    void *arg;
    struct mrs_reader *reader; /* private, like all that follows */
    uint64_t progress;
    atomic_bool enough;
};
/* OK at the end of the namespace, or after END. */
enum mrs_status mrsi_read_all(struct mrsi_reading *r, struct mrs_err *e);
/* The name of a namespace, or of another file of a dump, for messages. */
const char *mrsi_ns_or_path(const struct mrs_input_ns *in);

#endif
