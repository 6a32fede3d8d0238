/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - the step `tree` between its files. */
#ifndef MRSI_STEPS_TREE_H
#define MRSI_STEPS_TREE_H

#include "steps/kit/kernel.h"
#include "mongoreshape/nodes.h"
#include "mongoreshape/inverse.h"

enum mrsi_tree_form { /* in the order of the key's choices */
    MRSI_TREE_PARENT,
    MRSI_TREE_CHILDREN,
    MRSI_TREE_ANCESTORS,
    MRSI_TREE_PATH,
    MRSI_TREE_NESTED
};
struct mrsi_tree_field {
    const char *name;
    uint32_t len;
};
struct mrsi_tree_fields {
    struct mrsi_tree_field field[2];
    uint32_t n; /* 2: left and right */
};
struct mrsi_tree_args {
    struct mrsi_owned keep;
    struct mrs_coll in;
    struct mrs_query *where;
    int form, to_form; /* enum mrsi_tree_form */
    struct mrsi_tree_fields old, made;
    bool replace, indexes;
};

extern const struct mrs_tree_ops mrsi_tree_ops; /* tree_kernels.c */
/* tree_invert.c */
enum mrs_status mrsi_tree_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);

#endif
