/* spread.h - steps that give any number of documents for one; their sources may also be made by another driver. */
#ifndef MRS_RUN_SPREAD_H
#define MRS_RUN_SPREAD_H

#include "internal.h"

/* Documents that lie in no collection, in blocks, the same ones in each pass. They count as created on side 0. */
struct mrsi_stream {
    enum mrs_status (*rewind)(void *arg, struct mrs_err *e);
    enum mrs_status (*next)(void *arg, struct mrs_block *b, struct mrs_err *e); /* under a lock; OK, END */
    void *arg;
};
/* As mrsi_spread_step, with the documents of a stream as sources on side 0. */
enum mrs_status mrsi_spread_stream(struct mrsi_engine *en, uint32_t step, const struct mrsi_stream *from,
                                   struct mrs_err *e);

#endif
