/* SPDX-License-Identifier: Apache-2.0 */
/* tree_parents.c - resolves names to ordinals: the parent of each node, if nodes refer to each other. */
#include "tree_pass.h"

static enum mrs_status
make_nodes(struct mrsi_tree_run *t, struct mrs_err *e)
{
    uint64_t share = t->en->memory / 8;
    enum mrs_status s = mrsi_mapped_mem_new(&t->node, t->en, t->n * sizeof(struct mrsi_tree_node), share, e);
    for (uint64_t i = 0; s == MRS_OK && i < t->n; i++) {
        struct mrsi_tree_node *n = mrsi_node(t, (uint32_t)i);
        *n = (struct mrsi_tree_node){.parent = MRSI_NONE, .bits = t->bits.p[i]};
        if (n->bits & MRSI_NODE_OUT) {
            mrsi_tree_fault(t, (uint32_t)i, MRS_FAULT_READ, MRSI_NONE);
        }
        s = mrsi_tree_check_interrupt(t, i, e);
    }
    const uint32_t *twice = (const uint32_t *)(const void *)t->twice.p;
    for (size_t i = 0; s == MRS_OK && i < t->twice.n; i++) {
        mrsi_tree_fault(t, twice[i], MRS_FAULT_TWICE, MRSI_NONE);
    }
    return s;
}

static void
names_parent(struct mrsi_tree_run *t, const struct mrsi_named *x, uint64_t found)
{
    if (found == MRSI_NO_ORDINAL) {
        mrsi_tree_fault(t, x->who, MRS_FAULT_NO_PARENT, MRSI_NONE);
    } else {
        mrsi_node(t, x->who)->parent = (uint32_t)found;
    }
}

/* A document that lists itself is its own parent only if others list it, too. */
static enum mrs_status
names_child(struct mrsi_tree_run *t, const struct mrsi_named *x, uint64_t found, uint32_t *last, struct mrs_err *e)
{
    MRS_ASSERT(x->who < t->n);
    if (found == MRSI_NO_ORDINAL) {
        struct mrsi_childless c = {x->who, x->child};
        enum mrs_status s = *last == x->who ? MRS_OK : mrsi_file_array_put(&t->childless, &c, e);
        *last = x->who;
        return s;
    }
    struct mrsi_tree_node *child = mrsi_node(t, (uint32_t)found);
    if (child->parent == MRSI_NONE) {
        child->parent = x->who;
    } else if (child->parent != x->who) {
        mrsi_tree_fault(t, x->who, MRS_FAULT_TWO_PARENTS, (uint32_t)found);
        mrsi_tree_fault(t, child->parent, MRS_FAULT_TWO_PARENTS, (uint32_t)found);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_tree_parents(struct mrsi_tree_run *t, struct mrs_err *e)
{
    const struct mrsi_named *named = (const struct mrsi_named *)(const void *)t->named.p;
    uint32_t last = MRSI_NONE;
    enum mrs_status s = make_nodes(t, e);
    for (uint64_t i = 0; s == MRS_OK && i < t->named.n; i++) {
        if (i + 8 < t->named.n) {
            mrsi_index_fetch(&t->index, named[i + 8].key);
        }
        uint64_t found = mrsi_index_find(&t->index, named[i].key);
        if (named[i].child == MRSI_NONE) {
            names_parent(t, &named[i], found);
        } else {
            s = names_child(t, &named[i], found, &last, e);
        }
        MRS_THEN(s, mrsi_tree_check_interrupt(t, i, e));
    }
    for (uint64_t i = 0; s == MRS_OK && i < t->n; i++) {
        struct mrsi_tree_node *n = mrsi_node(t, (uint32_t)i);
        n->parent = n->parent == i ? MRSI_NONE : n->parent;
    }
    return s == MRS_OK ? mrsi_file_array_end(&t->childless, e) : s;
}
