/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.h - kernels of the family TREE: each document of a collection is a node and states its position in one of
 * several ways; the engine computes all positions, and the step writes them into the documents.
 *
 * Every node has at most one parent; a node without one is a root. A node that no path of parents connects to a root is
 * outside the tree: it is refused with all nodes below it. A document may also be refused alone and keep its position.
 * Kernels are pure functions as in step.h, and values live as long as the document they point into. */
#ifndef MONGORESHAPE_NODES_H
#define MONGORESHAPE_NODES_H

#include "mongoreshape/context.h"
#include "mongoreshape/join_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mrs_node_state {
    MRS_NODE_STATE_NONE, /* no node */
    MRS_NODE_STATE_IN,   /* a node; if `read` refuses it: refused alone */
    MRS_NODE_STATE_OUT   /* a node outside the tree, with all nodes below it */
};
/* Keys of a node: `pair` of struct mrs_keyspan. */
enum mrs_node_key {
    MRS_NODE_SELF,   /* its `_id`: one, or none if no node can refer to it */
    MRS_NODE_PARENT, /* the key of its parent: at most one (its own: a root) */
    MRS_NODE_CHILD,  /* the keys of its children, in its order; `refuse` counts them from 0 */
    MRS_NODE_LEFT,   /* both or none: nodes with an interval inside are below it */
    MRS_NODE_RIGHT
};
struct mrs_node { /* the engine owns the buffers, empty before each call */
    enum mrs_node_state state;
    struct mrs_val id;    /* in the form for other documents; missing */
    bool unusable;        /* its id cannot be written as the id of an ancestor */
    struct mrs_keys keys;
    uint32_t own, deep;   /* MRS_TREE_WHOLE: bytes and levels of the document without children */
    struct mrs_buf order; /* among its siblings (memcmp); empty: after those with one, in input order */
};

/* Ids of nodes, in sequence. */
struct mrs_node_ids {
    uint64_t n;
    uint64_t bytes; /* of all their values; UINT32_MAX: that many or more */
    /* OK with *id, which lives as long as the place; END; DEAD. */
    enum mrs_status (*next)(struct mrs_node_ids *ids, struct mrs_val *id, struct mrs_err *e);
    void (*rewind)(struct mrs_node_ids *ids); /* back to the first */
    void *impl;
};
struct mrs_place {
    struct mrs_val parent;       /* missing: a root */
    struct mrs_node_ids above;   /* root first */
    struct mrs_val unusable;     /* the highest ancestor id that cannot be written; missing: none */
    struct mrs_node_ids children; /* by order, then input order; without `bytes` */
    uint64_t left, right;        /* counted from 1 through all trees, roots in input order */
};
/* Optional parts of a place, bits. WHOLE: no places, all documents of a tree become one. */
enum mrs_tree_needs {
    MRS_TREE_CHILDREN = 1,
    MRS_TREE_NUMBERS = 2,
    MRS_TREE_WHOLE = 4,
    MRS_TREE_STATED = 8 /* with WHOLE: documents state more than their parent, and the engine calls `agrees` */
};

enum mrs_tree_fault {
    MRS_FAULT_READ,        /* `read` refused it */
    MRS_FAULT_TWICE,       /* another node has the same `_id` */
    MRS_FAULT_NO_PARENT,   /* the parent does not exist */
    MRS_FAULT_TWO_PARENTS, /* another node also refers to its child `other` */
    MRS_FAULT_OVERLAP,     /* its interval and that of `other` overlap or share an end */
    MRS_FAULT_CIRCLE,      /* it is its own ancestor */
    MRS_FAULT_NO_CHILD, /* child number `child` does not exist; only this node is refused, except with MRS_TREE_WHOLE */
    MRS_FAULT_TOO_LARGE,   /* MRS_TREE_WHOLE: the root of a tree of more than 16 MiB */
    MRS_FAULT_OTHER_WAY,   /* MRS_TREE_STATED: its ancestors differ from those that it states */
    MRS_FAULT_TOO_DEEP     /* or of more than MRS_DEPTH_MAX levels */
};
struct mrs_tree_error {
    enum mrs_tree_fault fault;
    bool below;           /* the fault is in the ancestor `at` */
    struct mrs_val at;
    struct mrs_val other; /* missing: unknown */
    uint64_t child;       /* from 0 */
};

struct mrs_tree_ops {
    /* Reads what a document states about itself. OK; SKIP: it is refused, but its state, id and keys count for the
     * others; DEAD. */
    enum mrs_status (*read)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out);
    unsigned (*needs)(const void *state); /* enum mrs_tree_needs */
    /* Writes the document with its place to out, which is empty. OK with *fate: STAYS (the same bytes), CHANGED. SKIP:
     * it is refused alone. */
    enum mrs_status (*splice)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_place *place,
                              struct mrs_buf *out, enum mrs_fate *fate);
    /* MRS_TREE_STATED: OK: the place is the one that the document states; SKIP; DEAD. */
    enum mrs_status (*agrees)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_place *place);
    /* MRS_TREE_WHOLE: appends the part of the document before its children, up to the header of their array, or the
     * part after them, without the end of the document. OK, DEAD. */
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
