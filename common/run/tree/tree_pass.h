/* SPDX-License-Identifier: Apache-2.0 */
/* tree_pass.h - the documents of one collection as the nodes of trees; for tree*.c.
 *
 * A first pass records the relations of each document: its `_id` and its parent or children. Then, without documents:
 * names become ordinals, each node gets its parent, and every path to the root is visited once, in loops, for any
 * depth. A second pass writes each document with its position in the tree. A node takes some dozens of bytes and its
 * `_id`, in memory within the budget and then in mapped temporary files. */
#ifndef MRS_RUN_NODES_H
#define MRS_RUN_NODES_H

#include "run/pass/checkpoint.h"
#include "run/store/ordinal_index.h"
#include "mongoreshape/nodes.h"
#include "run/pass/step_outputs.h"
#include "run/store/sorter.h"
#include "run/store/file_array.h"

/* Bits of a document from the first pass. */
enum {
    MRSI_NODE = 1,
    MRSI_NODE_REFUSED = 2, /* its kernel refuses it, now and in the second pass */
    MRSI_NODE_OUT = 4,     /* excluded from the tree by its own error */
    MRSI_NODE_UNUSABLE = 8,
    MRSI_NODE_ORDERED = 16 /* it has an order among its siblings */
};

/* The result for a node. */
enum mrsi_node_fate { MRSI_TREE_NEW, MRSI_TREE_WALKED, MRSI_TREE_IN, MRSI_TREE_OUT, MRSI_TREE_BELOW };
struct mrsi_tree_node {
    uint32_t parent; /* ordinal; MRSI_NONE */
    uint32_t depth;  /* number of ancestors */
    /* In the tree: size of the ancestors' ids, or with unusable_above the node whose id cannot be in a path. Out: the
     * node of the error reported for it, or MRSI_NONE; below: the node that has the error. */
    uint32_t way;
    uint8_t fate;    /* enum mrsi_node_fate */
    uint8_t fault;   /* enum mrs_tree_fault, of nodes with an error of their own */
    bool unusable_above;
    uint8_t bits;    /* from the first pass */
};
struct mrsi_tree_child { /* of a node: its first child, and its next sibling */
    uint32_t child, next;
};
struct mrsi_numbers {
    uint64_t left, right;
};
struct mrsi_weight { /* of a node that is embedded in another one; its document follows */
    uint32_t own, deep;
};
struct mrsi_named { /* a reference between nodes */
    struct mrs_hash128 key;
    uint32_t who, child; /* child: index in the list; MRSI_NONE: a reference to its parent */
};
struct mrsi_childless { /* a document with a dangling reference to a child */
    uint32_t who, child;
};

/* The stages of a step. Savepoints are possible while documents are read and written; a resumed run computes positions
 * again. */
enum mrsi_tree_stage { MRSI_TREE_READ, MRSI_TREE_PLACE, MRSI_TREE_WRITE, MRSI_TREE_DONE };

struct mrsi_tree_run {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_tree_ops *ops;
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_tree_stage stage;
    bool resumed;                 /* tables are from the stopped run */
    unsigned needs;
    uint64_t n; /* documents */
    /* from the first pass, by ordinal unless stated otherwise */
    struct mrsi_file_array bits, id_at, ids; /* id_at: offset in ids; ids: type and bytes, contiguous */
    struct mrsi_file_array doc_at, docs;    /* MRS_TREE_WHOLE: offset in docs; struct mrsi_weight, the document */
    struct mrsi_file_array named, twice;    /* in input order; twice: ordinals of nodes with a duplicate `_id` */
    struct mrsi_index index;
    struct mrsi_sorter ends;                /* of intervals */
    struct mrsi_sorter orders;              /* of siblings, backwards */
    uint64_t intervals;
    /* computed between the passes */
    struct mrsi_mapped_mem node, shared, numbers;
    struct mrsi_file_array childless;       /* by ordinal */
};

static inline struct mrsi_tree_node *
mrsi_node(const struct mrsi_tree_run *t, uint32_t i)
{
    return (struct mrsi_tree_node *)t->node.p + i;
}

/* The `_id` of a node; missing if it has none. */
struct mrs_val mrsi_node_id(const struct mrsi_tree_run *t, uint32_t i);
/* Checks for interrupts in long loops over all nodes. */
enum mrs_status mrsi_tree_check_interrupt(const struct mrsi_tree_run *t, uint64_t i, struct mrs_err *e);

enum mrs_status mrsi_tree_read(struct mrsi_tree_run *t, struct mrs_err *e);    /* tree_read.c: reads all relations */
enum mrs_status mrsi_tree_parents(struct mrsi_tree_run *t, struct mrs_err *e); /* tree_parents.c: by reference */
enum mrs_status mrsi_tree_nest(struct mrsi_tree_run *t, struct mrs_err *e);    /* tree_intervals.c: by interval */
enum mrs_status mrsi_tree_ways(struct mrsi_tree_run *t, struct mrs_err *e);    /* tree_ancestors.c: paths */
enum mrs_status mrsi_tree_children(struct mrsi_tree_run *t, struct mrs_err *e); /* tree_children.c: children, numbers */
enum mrs_status mrsi_tree_write(struct mrsi_tree_run *t, struct mrs_err *e);   /* tree_write.c */
/* ---- tree_whole.c: MRS_TREE_WHOLE ---- */
/* A dangling child excludes everything below its parent. */
void mrsi_tree_childless(struct mrsi_tree_run *t);
/* MRS_TREE_STATED: excludes nodes whose list of ancestors contradicts the resolved tree, with all below. In
 * tree_write.c. */
enum mrs_status mrsi_tree_check_stated(struct mrsi_tree_run *t, struct mrs_err *e);
/* The stored document of a node, with its sizes. */
struct mrs_view mrsi_tree_doc(const struct mrsi_tree_run *t, uint32_t i, struct mrsi_weight *weight);
/* Excludes complete trees that would be too large or too deep. */
enum mrs_status mrsi_tree_weigh_all(struct mrsi_tree_run *t, struct mrs_err *e);
/* Writes the tree below a root as one document into out. frames: scratch. Returns like kernels. */
enum mrs_status mrsi_tree_assemble(const struct mrsi_tree_run *t, struct mrsi_worker *w, uint32_t root,
                                   struct mrs_buf *frames, struct mrs_buf *out);
enum mrs_status mrsi_tree_check_docs(const struct mrsi_tree_run *t, struct mrs_err *e); /* validates resumed tables */
/* tree_savepoint.c: for struct mrsi_pass; and back. */
enum mrs_status mrsi_tree_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_tree_from_mark(struct mrsi_tree_run *t, struct mrs_err *e);
enum mrs_status mrsi_tree_check_read(const struct mrsi_tree_run *t, struct mrs_err *e); /* validates resumed tables */
enum mrs_status mrsi_tree_open(struct mrsi_tree_run *t, struct mrs_err *e); /* the writer */
/* Sets an error of a node, if it has none yet. */
void mrsi_tree_fault(struct mrsi_tree_run *t, uint32_t i, enum mrs_tree_fault fault, uint32_t other);

#endif
