/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - steps that make any number of documents from one; another driver can supply the sources. */
#ifndef MRS_RUN_SPREAD_H
#define MRS_RUN_SPREAD_H

#include "run/pass/pass.h"

/* Documents that are not in a collection, in blocks, equal in each pass. They count as created on side 0. */
struct mrsi_stream {
    enum mrs_status (*begin)(void *arg, struct mrs_err *e); /* prepares the stream */
    void (*rewind)(void *arg); /* before each pass */
    enum mrs_status (*next)(void *arg, struct mrs_block *b, struct mrs_err *e); /* under a lock; OK, END */
    /* The stream's state as fields of a savepoint; resume is called instead of begin. */
    enum mrs_status (*save)(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
    enum mrs_status (*resume)(void *arg, struct mrs_view saved, struct mrs_err *e);
    void *arg;
};
/* Like mrsi_spread_step, with the documents of a stream as sources on side 0. */
enum mrs_status mrsi_spread_stream(struct mrsi_engine *en, uint32_t step, const struct mrsi_stream *from,
                                   struct mrs_err *e);

#endif
