/* SPDX-License-Identifier: Apache-2.0 */
/* tree_children.c - orders children, and numbers nested sets.
 *
 * Children are linked from the last to the first: those with an order of their own, which the sorter returns backwards,
 * come before those without. Numbers are assigned in a loop by going down and up along these links, tree after tree in
 * input order. */
#include "tree_pass.h"

static struct mrsi_tree_child *
shared_of(const struct mrsi_tree_run *t, uint32_t i)
{
    return (struct mrsi_tree_child *)t->shared.p + i;
}

static void
link_child(struct mrsi_tree_run *t, uint32_t i)
{
    MRS_ASSERT(i < t->n);
    const struct mrsi_tree_node *n = mrsi_node(t, i);
    if (n->fate == MRSI_TREE_IN && n->parent != MRSI_NONE) {
        shared_of(t, i)->next = shared_of(t, n->parent)->child;
        shared_of(t, n->parent)->child = i;
    }
}

static enum mrs_status
link_ordered(struct mrsi_tree_run *t, struct mrs_err *e)
{
    struct mrsi_sorted r;
    uint64_t n = 0;
    enum mrs_status s = mrsi_sorter_rewind(&t->orders, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(&t->orders, &r, e)) == MRS_OK) {
        uint32_t one = MRSI_NONE;
        memcpy(&one, r.p, r.n < sizeof one ? r.n : sizeof one);
        if (one >= t->n) { /* only if the resumed state is wrong */
            return mrsi_state_damaged("what was sorted", e);
        }
        link_child(t, one);
        s = mrsi_tree_check_interrupt(t, n++, e);
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
link_all(struct mrsi_tree_run *t, struct mrs_err *e)
{
    uint64_t share = t->en->memory / 4;
    enum mrs_status s = mrsi_mapped_mem_new(&t->shared, t->en, t->n * sizeof(struct mrsi_tree_child), share, e);
    if (s == MRS_OK && t->n) {
        memset(t->shared.p, 0xff, t->n * sizeof(struct mrsi_tree_child)); /* MRSI_NONE */
    }
    for (uint64_t i = t->n; s == MRS_OK && i-- > 0;) {
        if (!(mrsi_node(t, (uint32_t)i)->bits & MRSI_NODE_ORDERED)) {
            link_child(t, (uint32_t)i);
        }
        s = mrsi_tree_check_interrupt(t, i, e);
    }
    return s == MRS_OK ? link_ordered(t, e) : s;
}

static enum mrs_status
number_tree(struct mrsi_tree_run *t, uint32_t root, uint64_t *count, struct mrs_err *e)
{
    MRS_ASSERT(root < t->n);
    struct mrsi_numbers *numbers = t->numbers.p;
    uint32_t i = root;
    enum mrs_status s = MRS_OK;
    numbers[i].left = ++*count;
    while (s == MRS_OK) {
        uint32_t next = shared_of(t, i)->child;
        while (next == MRSI_NONE) {
            numbers[i].right = ++*count;
            if (i == root) {
                return MRS_OK;
            }
            next = shared_of(t, i)->next;
            i = next == MRSI_NONE ? mrsi_node(t, i)->parent : i;
        }
        i = next;
        numbers[i].left = ++*count;
        s = mrsi_tree_check_interrupt(t, i, e);
    }
    return s;
}

static enum mrs_status
number_all(struct mrsi_tree_run *t, struct mrs_err *e)
{
    uint64_t count = 0;
    enum mrs_status s =
        mrsi_mapped_mem_new(&t->numbers, t->en, t->n * sizeof(struct mrsi_numbers), t->en->memory / 4, e);
    for (uint64_t i = 0; s == MRS_OK && i < t->n; i++) {
        const struct mrsi_tree_node *n = mrsi_node(t, (uint32_t)i);
        if (n->fate == MRSI_TREE_IN && n->parent == MRSI_NONE) {
            s = number_tree(t, (uint32_t)i, &count, e);
        }
        MRS_THEN(s, mrsi_tree_check_interrupt(t, i, e));
    }
    return s;
}

enum mrs_status
mrsi_tree_children(struct mrsi_tree_run *t, struct mrs_err *e)
{
    enum mrs_status s = link_all(t, e);
    s = s == MRS_OK && (t->needs & MRS_TREE_NUMBERS) ? number_all(t, e) : s;
    if (s == MRS_OK && !(t->needs & MRS_TREE_CHILDREN)) {
        mrsi_mapped_mem_clear(&t->shared);
    }
    return s;
}
