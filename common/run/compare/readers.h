/* SPDX-License-Identifier: Apache-2.0 */
/* readers.h - several workers without a plan: for what only reads dumps.
 *
 * A namespace is read once, from its first document to its last: blocks are fetched under a lock, worked on in parallel
 * and handed on in their order. Temporary files and sorters work as they do in a run. */
#ifndef MRS_RUN_READERS_H
#define MRS_RUN_READERS_H

#include "run/pass/pass.h"

struct mrsi_readers {
    struct mrsi_engine en;
    struct mrs_run_opts opts;
};
/* Of opts are taken jobs, tmp, cancel and progress; memory: of the whole process, for the number of workers. Must be
 * ended, whatever it returns. */
enum mrs_status mrsi_readers_begin(struct mrsi_readers *c, struct mrs_mem *mem, const struct mrs_run_opts *opts,
                                   struct mrs_err *e);
void mrsi_readers_end(struct mrsi_readers *c);

struct mrsi_read_job {
    struct mrs_block block;
    struct mrs_buf out;   /* what comes of it; empty when it begins */
    struct mrs_docs docs; /* likewise */
    enum mrs_status failed;
    struct mrs_err why;
};
struct mrsi_reading {
    struct mrsi_engine *en;
    struct mrs_input *in;
    uint32_t index;
    bool checked; /* its documents were found good before */
    /* One document, on any worker; not OK: nothing behind it is read. */
    enum mrs_status (*doc)(void *arg, struct mrsi_worker *w, struct mrsi_read_job *job, struct mrs_view doc,
                           uint64_t ordinal, struct mrs_err *e);
    /* A block's documents, one block at a time, in order; also of a block that failed, up to where it did. OK; END: no
     * more is wanted. */
    enum mrs_status (*block)(void *arg, struct mrsi_read_job *job, struct mrs_err *e);
    void *arg;
    struct mrs_reader *reader; /* private, as all that follows */
    uint64_t progress;
    atomic_bool enough;
};
/* OK at the end of the namespace, or where no more was wanted. */
enum mrs_status mrsi_read_all(struct mrsi_reading *r, struct mrs_err *e);
/* How a namespace, or another file of documents in a dump, is called in messages. */
const char *mrsi_ns_or_path(const struct mrs_input_ns *in);

#endif
