/* SPDX-License-Identifier: Apache-2.0 */
/* path_tree.c - a set of paths as a tree of names.
 *
 * Rewriting looks up every field of a level by name in this tree: few children are compared one by one, many are in a
 * hash table. A leaf is the end of a path; no path may end inside another, because then the order of two writes would
 * affect the result. It must not know documents. Trees are as deep as paths are long (MRS_PATH_PARTS_MAX), so freeing
 * may recurse. */
#include "path_tree.h"

#include "doc_internal.h"

#define PLAIN 8 /* children that are compared one by one */

static inline bool
is_named(const struct mrsi_path_node *node, const char *name, uint32_t len)
{
    return node->len == len && memcmp(node->name, name, len) == 0;
}

/* A separate kind of table: it compares names, and few children need none. */
int64_t
mrsi_tree_lookup(const struct mrsi_path_node *node, const char *name, uint32_t len)
{
    MRS_ASSERT(name && node->n_child <= node->cap);
    if (!node->slot) {
        for (uint32_t i = 0; i < node->n_child; i++) {
            if (is_named(&node->child[i], name, len)) {
                return i;
            }
        }
        return -1;
    }
    uint32_t at = mrsi_name_hash(name, len) & (node->slots - 1);
    while (node->slot[at]) {
        uint32_t i = node->slot[at] - 1;
        if (is_named(&node->child[i], name, len)) {
            return i;
        }
        at = (at + 1) & (node->slots - 1);
    }
    return -1;
}

static void
enter_slot(struct mrsi_path_node *node, uint32_t i)
{
    MRS_ASSERT(i < node->n_child && (node->slots & (node->slots - 1)) == 0);
    uint32_t at = mrsi_name_hash(node->child[i].name, node->child[i].len) & (node->slots - 1);
    while (node->slot[at]) {
        at = (at + 1) & (node->slots - 1);
    }
    node->slot[at] = i + 1;
}

/* Makes room for one more child, and for its slot. */
static bool
make_room(struct mrs_mem *mem, struct mrsi_path_node *node)
{
    MRS_ASSERT(node->n_child <= node->cap);
    struct mrsi_path_node *child = mrs_more(mem, node->child, node->n_child, &node->cap, sizeof *child);
    if (!child) {
        return false;
    }
    node->child = child;
    if (node->n_child < PLAIN || node->slots >= 4 * (node->n_child + 1)) {
        return true;
    }
    uint32_t slots = node->slots ? node->slots * 4 : 64;
    uint32_t *slot = mrs_zalloc(mem, (size_t)slots * sizeof *slot);
    if (!slot) {
        return false;
    }
    mrs_free(mem, node->slot);
    node->slot = slot;
    node->slots = slots;
    for (uint32_t i = 0; i < node->n_child; i++) {
        enter_slot(node, i);
    }
    return true;
}

static struct mrsi_path_node *
add_child(struct mrsi_path_tree *t, struct mrsi_path_node *node, const struct mrs_part *part)
{
    MRS_ASSERT(!node->leaf);
    if (!make_room(t->mem, node)) {
        return NULL;
    }
    struct mrsi_path_node *child = &node->child[node->n_child++];
    memset(child, 0, sizeof *child);
    child->name = part->name;
    child->len = part->len;
    if (node->slot) {
        enter_slot(node, node->n_child - 1);
    }
    t->n_nodes++;
    return child;
}

/* Whether the path can be added: no leaf on its way, and nothing at its end. */
static bool
is_free(const struct mrsi_path_tree *t, const struct mrs_path *path)
{
    const struct mrsi_path_node *node = &t->root;
    for (uint32_t i = 0; i < path->n; i++) {
        int64_t at = mrsi_tree_lookup(node, path->part[i].name, path->part[i].len);
        if (at < 0) {
            return true;
        }
        node = &node->child[at];
        if (node->leaf) {
            return false;
        }
    }
    return false;
}

enum mrs_status
mrsi_tree_add(struct mrsi_path_tree *t, const struct mrs_path *path, struct mrs_err *e)
{
    MRS_ASSERT(path->part || path->n == 0);
    struct mrsi_path_node *node = &t->root;
    if (!is_free(t, path)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "path %.200s is named twice, or lies inside another one",
                           path->text);
    }
    for (uint32_t i = 0; i < path->n; i++) {
        int64_t at = mrsi_tree_lookup(node, path->part[i].name, path->part[i].len);
        node = at < 0 ? add_child(t, node, &path->part[i]) : &node->child[at];
        MRS_TRY(mrs_allocated(node, sizeof *node, e));
    }
    node->leaf = true;
    node->path_no = t->n_paths++;
    return MRS_OK;
}

static void
clear_node(struct mrs_mem *mem, struct mrsi_path_node *node)
{
    for (uint32_t i = 0; i < node->n_child; i++) {
        clear_node(mem, &node->child[i]);
    }
    mrs_free(mem, node->child);
    mrs_free(mem, node->slot);
}

void
mrsi_tree_clear(struct mrsi_path_tree *t)
{
    clear_node(t->mem, &t->root);
    memset(&t->root, 0, sizeof t->root);
}
