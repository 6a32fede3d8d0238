/* SPDX-License-Identifier: Apache-2.0 */
/* tree_ancestors.c - visits every path to the root once.
 *
 * From an unvisited node the path leads up to a node whose fate is known, to a root, or into a cycle. On the way up
 * each parent link is reversed to the node below, so that the way down needs no stack for any length. On the way down
 * the links are restored and the fates recorded. */
#include "tree_pass.h"

static uint32_t
size_of_id(const struct mrsi_tree_run *t, uint32_t i)
{
    return mrsi_node_id(t, i).n;
}

/* The fate of a node, from the known fate of its parent; MRSI_NONE: it is a root. */
static void
settle(struct mrsi_tree_run *t, uint32_t i, uint32_t parent)
{
    MRS_ASSERT(i < t->n);
    struct mrsi_tree_node *n = mrsi_node(t, i);
    const struct mrsi_tree_node *up = parent == MRSI_NONE ? NULL : mrsi_node(t, parent);
    n->parent = parent;
    if (up && up->fate != MRSI_TREE_IN) {
        n->fate = MRSI_TREE_BELOW;
        n->way = up->fate == MRSI_TREE_BELOW ? up->way : parent;
        return;
    }
    n->fate = MRSI_TREE_IN;
    n->depth = up ? up->depth + 1 : 0;
    n->unusable_above = up && (up->unusable_above || (up->bits & MRSI_NODE_UNUSABLE));
    if (up && up->unusable_above) {
        n->way = up->way;
    } else if (n->unusable_above) {
        n->way = parent;
    } else {
        uint64_t bytes = up ? (uint64_t)up->way + size_of_id(t, parent) : 0;
        n->way = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    }
}

/* The path has returned to `at`: the nodes from `from` down to it form a cycle. Returns the node below `at`, which is
 * next. */
static uint32_t
close_circle(struct mrsi_tree_run *t, uint32_t from, uint32_t at)
{
    MRS_ASSERT(from < t->n && at < t->n);
    uint32_t i = from, next;
    bool last;
    do {
        struct mrsi_tree_node *n = mrsi_node(t, i);
        last = i == at;
        next = n->parent;
        n->fate = MRSI_TREE_OUT;
        n->fault = MRS_FAULT_CIRCLE;
        n->way = MRSI_NONE;
        i = next;
    } while (!last);
    return next;
}

static enum mrs_status
walk(struct mrsi_tree_run *t, uint32_t from, uint64_t *steps, struct mrs_err *e)
{
    MRS_ASSERT(from < t->n && steps);
    uint32_t came = MRSI_NONE, at = from;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && at != MRSI_NONE && mrsi_node(t, at)->fate == MRSI_TREE_NEW) {
        struct mrsi_tree_node *n = mrsi_node(t, at);
        uint32_t up = n->parent;
        n->fate = MRSI_TREE_WALKED;
        n->parent = came;
        came = at;
        at = up;
        s = mrsi_tree_check_interrupt(t, ++*steps, e);
    }
    if (at != MRSI_NONE && mrsi_node(t, at)->fate == MRSI_TREE_WALKED) {
        came = close_circle(t, came, at);
    }
    while (s == MRS_OK && came != MRSI_NONE) {
        uint32_t down = mrsi_node(t, came)->parent;
        settle(t, came, at);
        at = came;
        came = down;
    }
    return s;
}

enum mrs_status
mrsi_tree_ways(struct mrsi_tree_run *t, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    uint64_t steps = 0;
    for (uint64_t i = 0; s == MRS_OK && i < t->n; i++) {
        const struct mrsi_tree_node *n = mrsi_node(t, (uint32_t)i);
        if ((n->bits & MRSI_NODE) && n->fate == MRSI_TREE_NEW) {
            s = walk(t, (uint32_t)i, &steps, e);
        }
        MRS_THEN(s, mrsi_tree_check_interrupt(t, i, e));
    }
    return s;
}
