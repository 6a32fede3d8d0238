/* SPDX-License-Identifier: Apache-2.0 */
/* path_tree.h - a set of paths as a tree of names, for edit.c and path_tree.c. */
#ifndef MRS_DOC_TREE_H
#define MRS_DOC_TREE_H

#include "mongoreshape/path.h"

struct mrsi_path_node {
    const char *name; /* in the path's memory */
    uint32_t len;
    uint32_t path_no; /* of a leaf */
    bool leaf;
    uint32_t n_child, cap;
    struct mrsi_path_node *child; /* in the order of mrsi_tree_add */
    uint32_t *slot;          /* many children: hash table of 1 + index, else NULL */
    uint32_t slots;
};

struct mrsi_path_tree {
    struct mrs_mem *mem;
    struct mrsi_path_node root;
    uint32_t n_paths, n_nodes;
};

/* FAIL MRS_E_PLAN: the path equals, contains or lies inside an existing one; DEAD MRS_E_MEMORY. */
enum mrs_status mrsi_tree_add(struct mrsi_path_tree *t, const struct mrs_path *path, struct mrs_err *e);
void mrsi_tree_clear(struct mrsi_path_tree *t);
/* Index of the child of this name, or -1. */
int64_t mrsi_tree_lookup(const struct mrsi_path_node *node, const char *name, uint32_t len);

#endif
