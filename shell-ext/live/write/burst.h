/* SPDX-License-Identifier: Apache-2.0 */
/* burst.h - shared by burst.c, which sends, and burst_settle.c, which evaluates the results. */
#ifndef LIVE_BURST_H
#define LIVE_BURST_H

#include "write.h"

struct live_write_op { /* for one change: pipeline [doc, filter) and filter [filter, end) in live_send.buf */
    size_t doc, filter, end;
    bool weak; /* the guard is `_id` and size: sent alone, after a comparison */
    bool done; /* sent, or not to send */
    uint32_t part;
};
struct live_send {
    struct live_burst *b;
    struct mrs_buf buf, names, guard, lsid;
    struct live_write_op *piece;
    struct live_op *ops; /* the current bulk, and its changes */
    uint32_t *at;
    uint32_t *bad, n_bad; /* units with a refused or missed change */
    uint32_t n_weak;
    uint64_t payload;     /* bytes of documents and pipelines */
    uint32_t part;        /* only ops of this part are sent: all, except for a worker */
    struct live_fault fault; /* of the refused transaction; and the reason */
    struct mrs_err why;
    bool refused;         /* one of its changes was refused: error */
    struct live_op_error error;
};
enum { LIVE_TXN_DOCS = 1000, LIVE_TXN_BYTES = 4 << 20 };
/* Sends the part in one transaction, the checkpoint (may be NULL) first. OK: committed; SKIP: a change was missed (no
 * fault), or is refused; END, FAIL, DEAD. */
enum mrs_status live_send_in_transaction(struct live_send *s, struct live_checkpoint *c, struct mrs_err *e);
bool live_send_skips_unit(const struct live_send *s, uint32_t unit);
/* Records units with a change that was sent and not made; their other changes are skipped. */
enum mrs_status live_send_add_failed(struct live_send *s, struct mrs_err *e);
/* For a worker: sends all in transactions that its range fences. burst_fenced.c */
enum mrs_status live_send_fenced(struct live_send *s, struct live_checkpoint *c, bool *short_, struct mrs_err *e);
void live_send_op(const struct live_send *s, uint32_t i, struct live_op *op);
/* Evaluates the bulk s->at[0..n), of which `sum` changes were made. OK, END, FAIL. */
enum mrs_status live_settle(struct live_send *s, enum live_op_kind kind, uint32_t n, uint64_t sum,
                            const struct live_bulk_result *r, struct mrs_err *e);
/* Sends a change whose guard does not fit: compares in a transaction, or, while writers are stopped, just before. */
enum mrs_status live_send_alone(struct live_send *s, uint32_t i, bool bypass, struct mrs_err *e);

#endif
