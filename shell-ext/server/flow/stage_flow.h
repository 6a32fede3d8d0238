/* SPDX-License-Identifier: Apache-2.0 */
/* stage_flow.h - documents through the steps of a stage, one after the other.
 *
 * Who has a document feeds it and then asks for what it became until there is no more; at the end what is still held
 * back is asked for. What is handed out lives until the next call. */
#ifndef EXT_STAGE_FLOW_H
#define EXT_STAGE_FLOW_H

#include "mongoreshape/context.h"
#include "server/spec/stage_spec.h"

struct ext_flow;
/* interrupted: asked now and then by long work, not 0 stops it. */
enum mrs_status ext_flow_open(struct ext_spec *spec, struct mrs_mem *mem, int (*interrupted)(void *), void *arg,
                              struct ext_flow **out, struct mrs_err *e);
void ext_flow_close(struct ext_flow *f);
uint64_t ext_flow_refused(const struct ext_flow *f);
/* The next document of the collection `of`; doc lives until the next one is fed. OK, FAIL (damaged), DEAD. */
enum mrs_status ext_flow_feed(struct ext_flow *f, struct mrs_view doc, struct mrs_err *e);
/* No more documents come. */
void ext_flow_end(struct ext_flow *f);
/* OK with a document; END: feed the next one; FAIL (also a document that is refused, where that is an error), DEAD. */
enum mrs_status ext_flow_next(struct ext_flow *f, struct mrs_view *out, struct mrs_err *e);

/* ---- what the files behind it share: stage_flow.c, flow_fold.c, flow_join.c ---- */
struct ext_item { /* what a hop made and has not handed out yet */
    int side;
    size_t at;
    uint32_t n;
};
struct ext_account {
    bool skip; /* refused documents are left out */
    uint64_t refused;
};
struct ext_node { /* a hop at work */
    const struct mrs_stage_hop *hop;
    const struct ext_spec *spec;
    struct ext_account *account;
    const struct mrs_val *field; /* joined: where the partners of the document in hand lie */
    void *work;
    struct mrs_arena arena;
    struct mrs_ctx ctx;
    struct mrs_buf out;      /* bytes of items */
    struct mrs_buf items;    /* of struct ext_item */
    uint32_t next;           /* item to be handed out */
    struct ext_groups *groups; /* flow_fold.c */
    struct ext_partners *partners; /* flow_join.c */
};
/* A document that a hop made: copied. */
enum mrs_status ext_node_put(struct ext_node *n, int side, struct mrs_view doc, struct mrs_err *e);

enum mrs_status ext_fold_open(struct ext_node *n, struct mrs_err *e);
void ext_fold_close(struct ext_node *n);
/* Takes a document; a group that has ended becomes items. OK, SKIP, FAIL (a key that goes back), DEAD. */
enum mrs_status ext_fold_take(struct ext_node *n, struct mrs_view doc, struct mrs_err *e);
/* The groups that are still open become items. */
enum mrs_status ext_fold_end(struct ext_node *n, struct mrs_err *e);

enum mrs_status ext_join_open(struct ext_node *n, struct mrs_err *e);
void ext_join_close(struct ext_node *n);
/* A document becomes items, with those of node->field that match it. OK, SKIP, FAIL, DEAD. */
enum mrs_status ext_join_take(struct ext_node *n, struct mrs_view doc, struct mrs_err *e);

#endif
