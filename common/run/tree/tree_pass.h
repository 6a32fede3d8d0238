/* SPDX-License-Identifier: Apache-2.0 */
/* tree_pass.h - the documents of one collection as the nodes of trees; for tree*.c.
 *
 * A first pass records what each document says of itself: its `_id` and its parent or children. Then, without
 * documents: names become ordinals, each node gets its parent, and every path to the root is visited once, in loops,
 * however deep it is. A second pass writes each document with its place in the tree. A node takes some dozens of bytes
 * and its `_id`, in memory within the budget and then in mapped temporary files. */
#ifndef MRS_RUN_NODES_H
#define MRS_RUN_NODES_H

#include "run/pass/checkpoint.h"
#include "run/store/ordinal_index.h"
#include "mongoreshape/nodes.h"
#include "run/pass/step_outputs.h"
#include "run/store/sorter.h"
#include "run/store/file_array.h"

/* What the first pass found of a document: bits. */
enum {
    MRSI_NODE = 1,
    MRSI_NODE_REFUSED = 2, /* its kernel refuses it, as it will again */
    MRSI_NODE_OUT = 4,     /* it is out of the tree by its own fault */
    MRSI_NODE_UNUSABLE = 8,
    MRSI_NODE_ORDERED = 16 /* it has an order among its siblings */
};

/* What becomes of a node. */
enum mrsi_node_fate { MRSI_TREE_NEW, MRSI_TREE_WALKED, MRSI_TREE_IN, MRSI_TREE_OUT, MRSI_TREE_BELOW };
struct mrsi_tree_node {
    uint32_t parent; /* ordinal; MRSI_NONE */
    uint32_t depth;  /* how many are above it */
    /* In: bytes of the ids above it, or with unusable_above whose id does not fit. Out: to which node its fault
     * belongs, or MRSI_NONE; below: the node that has the fault. */
    uint32_t way;
    uint8_t fate;    /* enum mrsi_node_fate */
    uint8_t fault;   /* enum mrs_tree_fault, of those that are out themselves */
    bool unusable_above;
    uint8_t bits;    /* of the first pass */
};
struct mrsi_tree_child { /* of a node: its first child and the next one of its own parent */
    uint32_t child, next;
};
struct mrsi_numbers {
    uint64_t left, right;
};
struct mrsi_weight { /* of a node that becomes part of another one, its document behind it */
    uint32_t own, deep;
};
struct mrsi_named { /* one node names another */
    struct mrs_hash128 key;
    uint32_t who, child; /* child: number of the entry; MRSI_NONE: it names its parent */
};
struct mrsi_childless { /* a document that names a child which is not there */
    uint32_t who, child;
};

/* Where a step is. Savepoints can be taken while documents are read and written; places are found again by who goes
 * on. */
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
    bool went_on;                           /* tables are of another run */
    unsigned needs;
    uint64_t n; /* documents */
    /* of the first pass, by ordinal where nothing else is said */
    struct mrsi_file_array bits, id_at, ids; /* id_at: where in ids; ids: type and bytes, one behind the other */
    struct mrsi_file_array doc_at, docs;    /* MRS_TREE_WHOLE: where in docs; struct mrsi_weight, the document */
    struct mrsi_file_array named, twice;    /* in input order; twice: ordinals of nodes whose `_id` came before */
    struct mrsi_index index;
    struct mrsi_sorter ends;                /* of intervals */
    struct mrsi_sorter orders;              /* of siblings, backwards */
    uint64_t intervals;
    /* between the passes */
    struct mrsi_mapped_mem node, shared, numbers;
    struct mrsi_file_array childless;       /* by ordinal */
};

static inline struct mrsi_tree_node *
mrsi_node(const struct mrsi_tree_run *t, uint32_t i)
{
    return (struct mrsi_tree_node *)t->node.p + i;
}

/* The `_id` of a node; missing where it has none. */
struct mrs_val mrsi_node_id(const struct mrsi_tree_run *t, uint32_t i);
/* In long loops over all nodes. */
enum mrs_status mrsi_tree_go_on(const struct mrsi_tree_run *t, uint64_t i, struct mrs_err *e);

enum mrs_status mrsi_tree_read(struct mrsi_tree_run *t, struct mrs_err *e);    /* tree_read.c: what all say */
enum mrs_status mrsi_tree_parents(struct mrsi_tree_run *t, struct mrs_err *e); /* tree_parents.c: parents by name */
enum mrs_status mrsi_tree_nest(struct mrsi_tree_run *t, struct mrs_err *e);    /* tree_intervals.c: the same by
                                                                                  intervals */
enum mrs_status mrsi_tree_ways(struct mrsi_tree_run *t, struct mrs_err *e);    /* tree_ancestors.c: every way up */
enum mrs_status mrsi_tree_children(struct mrsi_tree_run *t, struct mrs_err *e); /* tree_children.c: children, numbers */
enum mrs_status mrsi_tree_write(struct mrsi_tree_run *t, struct mrs_err *e);   /* tree_write.c */
/* ---- tree_whole.c: MRS_TREE_WHOLE ---- */
/* A child that is not there takes all below its parent with it. */
void mrsi_tree_childless(struct mrsi_tree_run *t);
/* MRS_TREE_SAID: who says another way up than the others do goes, with all below. In tree_write.c. */
enum mrs_status mrsi_tree_said(struct mrsi_tree_run *t, struct mrs_err *e);
/* The document that was kept of a node, and what it weighs. */
struct mrs_view mrsi_tree_doc(const struct mrsi_tree_run *t, uint32_t i, struct mrsi_weight *weight);
/* Trees that would be too large or too deep go, whole. */
enum mrs_status mrsi_tree_weigh_all(struct mrsi_tree_run *t, struct mrs_err *e);
/* The tree below a root as one document, into out. frames: scratch. Statuses as kernels. */
enum mrs_status mrsi_tree_assemble(const struct mrsi_tree_run *t, struct mrsi_worker *w, uint32_t root,
                                   struct mrs_buf *frames, struct mrs_buf *out);
enum mrs_status mrsi_tree_check_docs(const struct mrsi_tree_run *t, struct mrs_err *e); /* tables of another run */
/* tree_savepoint.c: for struct mrsi_pass; and back. */
enum mrs_status mrsi_tree_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_tree_from_mark(struct mrsi_tree_run *t, struct mrs_err *e);
enum mrs_status mrsi_tree_check_read(const struct mrsi_tree_run *t, struct mrs_err *e); /* tables of another run */
enum mrs_status mrsi_tree_open(struct mrsi_tree_run *t, struct mrs_err *e); /* the writer */
/* A fault of its own, if it has none yet. */
void mrsi_tree_fault(struct mrsi_tree_run *t, uint32_t i, enum mrs_tree_fault fault, uint32_t other);

#endif
