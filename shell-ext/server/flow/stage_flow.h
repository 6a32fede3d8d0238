/* SPDX-License-Identifier: Apache-2.0 */
/* stage_flow.h - passes documents through the steps of a stage, one after the other.
 *
 * The caller feeds a document and then reads its products until there are no more; at the end it reads the held-back
 * ones. A product lives until the next call. */
#ifndef EXT_STAGE_FLOW_H
#define EXT_STAGE_FLOW_H

#include "mongoreshape/context.h"
#include "server/spec/stage_spec.h"

struct ext_flow;
/* interrupted: called at times during long work, not 0 stops it. */
enum mrs_status ext_flow_open(struct ext_spec *spec, struct mrs_mem *mem, int (*interrupted)(void *), void *arg,
                              struct ext_flow **out, struct mrs_err *e);
void ext_flow_close(struct ext_flow *f);
uint64_t ext_flow_refused(const struct ext_flow *f);
/* The next document of the collection `of`; doc lives until the next feed. OK, FAIL (damaged), DEAD. */
enum mrs_status ext_flow_feed(struct ext_flow *f, struct mrs_view doc, struct mrs_err *e);
/* End of input. */
void ext_flow_end(struct ext_flow *f);
/* OK with a document; END: feed the next one; FAIL (also a refused document, if that is an error), DEAD. */
enum mrs_status ext_flow_next(struct ext_flow *f, struct mrs_view *out, struct mrs_err *e);

/* ---- internal: stage_flow.c, flow_fold.c, flow_join.c ---- */
struct ext_item { /* output of a hop that is not returned yet */
    int side;
    size_t at;
    uint32_t n;
};
struct ext_account {
    bool skip; /* leave out refused documents */
    uint64_t refused;
};
struct ext_node { /* a hop and its state */
    const struct mrs_stage_hop *hop;
    const struct ext_spec *spec;
    struct ext_account *account;
    const struct mrs_val *field; /* joined: the partners of the current document */
    void *work;
    struct mrs_arena arena;
    struct mrs_ctx ctx;
    struct mrs_buf out;      /* bytes of items */
    struct mrs_buf items;    /* of struct ext_item */
    uint32_t next;           /* next item to return */
    struct ext_groups *groups; /* flow_fold.c */
    struct ext_partners *partners; /* flow_join.c */
};
/* Copies an output document of a hop. */
enum mrs_status ext_node_put(struct ext_node *n, int side, struct mrs_view doc, struct mrs_err *e);

enum mrs_status ext_fold_open(struct ext_node *n, struct mrs_err *e);
void ext_fold_close(struct ext_node *n);
/* Reads a document; an ended group becomes items. OK, SKIP, FAIL (a smaller key than before), DEAD. */
enum mrs_status ext_fold_take(struct ext_node *n, struct mrs_view doc, struct mrs_err *e);
/* Makes items of the groups that are still open. */
enum mrs_status ext_fold_end(struct ext_node *n, struct mrs_err *e);

enum mrs_status ext_join_open(struct ext_node *n, struct mrs_err *e);
void ext_join_close(struct ext_node *n);
/* Makes items of a document and those of node->field that match it. OK, SKIP, FAIL, DEAD. */
enum mrs_status ext_join_take(struct ext_node *n, struct mrs_view doc, struct mrs_err *e);

#endif
