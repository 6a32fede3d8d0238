/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.h - kernels of the family TREE: each document of a collection is a node and says in its own way where it
 * is; from what all of them say an engine finds the place of each, and the step writes it down.
 *
 * Every node has at most one parent; one without is a root. A node whose way up does not reach a root is out of the
 * tree: it is refused with all that is below it. A document may also be refused alone and keep its place. Kernels are
 * pure functions as in step.h, and values live as long as the document they point into. */
#ifndef MONGORESHAPE_NODES_H
#define MONGORESHAPE_NODES_H

#include "mongoreshape/context.h"
#include "mongoreshape/join_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mrs_node_state {
    MRS_NODE_STATE_NONE, /* no node */
    MRS_NODE_STATE_IN,   /* a node; refused by `read`: alone */
    MRS_NODE_STATE_OUT   /* a node out of the tree, with all that is below it */
};
/* Keys of a node: `pair` of struct mrs_keyspan. */
enum mrs_node_key {
    MRS_NODE_SELF,   /* its `_id`: one, or none where it has no `_id` that others could name */
    MRS_NODE_PARENT, /* that of its parent: one at most (its own: a root) */
    MRS_NODE_CHILD,  /* those of its children, in its order; the n-th is told as n-th to `refuse` */
    MRS_NODE_LEFT,   /* both or none: nodes whose interval lies inside are below it */
    MRS_NODE_RIGHT
};
struct mrs_node { /* the buffers are the engine's, empty before each call */
    enum mrs_node_state state;
    struct mrs_val id;    /* as it is written into other documents; missing */
    bool unusable;        /* its id cannot be written down as one above another node */
    struct mrs_keys keys;
    uint32_t own, deep;   /* MRS_TREE_WHOLE: bytes of the document without children, and levels of it */
    struct mrs_buf order; /* among its siblings (memcmp); nothing: behind those that have one, in input order */
};

/* Ids of nodes, one after the other. */
struct mrs_node_ids {
    uint64_t n;
    uint64_t bytes; /* of all their values; UINT32_MAX: that many or more */
    /* OK with *id, which lives as long as the place; END; DEAD. */
    enum mrs_status (*next)(struct mrs_node_ids *ids, struct mrs_val *id, struct mrs_err *e);
    void (*rewind)(struct mrs_node_ids *ids); /* from the first again */
    void *impl;
};
struct mrs_place {
    struct mrs_val parent;       /* missing: a root */
    struct mrs_node_ids above;   /* root first */
    struct mrs_val unusable;     /* the highest of those above whose id is unfit; missing: none is */
    struct mrs_node_ids children; /* by order, then input order; without `bytes` */
    uint64_t left, right;        /* counted from 1 through all trees, roots in input order */
};
/* What of a place is not always there, bits. WHOLE: no place is asked for, all documents of a tree become one. */
enum mrs_tree_needs {
    MRS_TREE_CHILDREN = 1,
    MRS_TREE_NUMBERS = 2,
    MRS_TREE_WHOLE = 4,
    MRS_TREE_SAID = 8 /* with WHOLE: documents say more than their parent, and `agrees` is to be asked */
};

enum mrs_tree_fault {
    MRS_FAULT_READ,        /* `read` refused it */
    MRS_FAULT_TWICE,       /* another node has the same `_id` */
    MRS_FAULT_NO_PARENT,   /* there is no such node */
    MRS_FAULT_TWO_PARENTS, /* its child `other` is named by another node, too */
    MRS_FAULT_OVERLAP,     /* its interval and that of `other` overlap or share an end */
    MRS_FAULT_CIRCLE,      /* its way up comes back to it */
    MRS_FAULT_NO_CHILD,    /* child no. `child` is not there; it alone is refused, but with MRS_TREE_WHOLE */
    MRS_FAULT_TOO_LARGE,   /* MRS_TREE_WHOLE: the root of a tree of more than 16 MiB */
    MRS_FAULT_OTHER_WAY,   /* MRS_TREE_SAID: its way up is not what it says */
    MRS_FAULT_TOO_DEEP     /* or of more than MRS_DEPTH_MAX levels */
};
struct mrs_tree_error {
    enum mrs_tree_fault fault;
    bool below;           /* the fault is that of the node `at`, further up */
    struct mrs_val at;
    struct mrs_val other; /* missing: not known */
    uint64_t child;       /* from 0 */
};

struct mrs_tree_ops {
    /* What a document says of itself. OK; SKIP: it is refused, and what it said all the same (standing, id, keys)
     * counts for the others; DEAD. */
    enum mrs_status (*read)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out);
    unsigned (*needs)(const void *state); /* enum mrs_tree_needs */
    /* The document with its place written down, into out, which is empty. OK with *fate: STAYS (the same bytes),
     * CHANGED. SKIP: it is refused alone. */
    enum mrs_status (*splice)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_place *place,
                              struct mrs_buf *out, enum mrs_fate *fate);
    /* MRS_TREE_SAID: OK where the place is what the document says of it; SKIP; DEAD. */
    enum mrs_status (*agrees)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_place *place);
    /* MRS_TREE_WHOLE: appends what is in front of the document's children, up to the head of their array, or
     * behind them, without the end of the document. OK, DEAD. */
    enum mrs_status (*part)(const void *state, struct mrs_ctx *c, struct mrs_view doc, bool behind,
                            struct mrs_buf *out);
    /* Puts the reason why the engine refuses a document into c->err. SKIP. */
    enum mrs_status (*refuse)(const void *state, struct mrs_ctx *c, struct mrs_view doc,
                              const struct mrs_tree_error *t);
};

#ifdef __cplusplus
}
#endif
#endif
