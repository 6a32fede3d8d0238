/* SPDX-License-Identifier: Apache-2.0 */
/* trees.c - collections whose documents refer to a parent in the same collection: roots, depth, cycles.
 *
 * Every path of parents is walked once, in a loop, whatever its depth. */
#include "gather.h"

enum { MOST = 2 << 20 }; /* documents of a tree: 24 bytes each */
enum { NO_PARENT = UINT32_MAX };

struct forest {
    uint64_t *id; /* hashes, sorted */
    uint32_t *up; /* NO_PARENT: a root, or its parent is missing */
    uint32_t *depth; /* 0: unknown; 1: a root. During a walk: the number of the walk, with MARK */
    uint32_t n;
};
#define MARK 0x80000000u

static uint32_t
find(const struct forest *f, uint64_t id)
{
    uint32_t lo = 0, hi = f->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->id[mid] < id) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < f->n && f->id[lo] == id ? lo : NO_PARENT;
}

static enum mrs_status
read_ids(struct forest *f, const struct mrsi_lookup_value *w, struct mrsi_rowset_at *at, struct mrs_err *e)
{
    const struct mrsi_hash_row *r;
    enum mrs_status s = MRS_OK;
    mrsi_rowset_read(at, &w->rows);
    while ((r = mrsi_rowset_next(at, &s, e)) != NULL && f->n < w->rows.total) {
        f->up[f->n] = NO_PARENT;
        f->id[f->n++] = r->key[0];
    }
    return s;
}

static enum mrs_status
read_parents(struct forest *f, const struct mrsi_lookup_value *w, struct mrsi_rowset_at *at, struct mrs_err *e)
{
    const struct mrsi_hash_row *r;
    enum mrs_status s = MRS_OK;
    mrsi_rowset_read(at, &w->rows);
    while ((r = mrsi_rowset_next(at, &s, e)) != NULL) {
        uint32_t child = find(f, r->key[0]);
        if (child != NO_PARENT) {
            f->up[child] = find(f, r->key[1]);
        }
    }
    return s;
}

/* Walks up from one node to a known node, a root or a node of this walk; then assigns depths in a second walk. */
static void
walk(struct forest *f, uint32_t from, struct mrsi_tree_figures *out)
{
    uint32_t at = from, steps = 0;
    while (f->depth[at] == 0) {
        f->depth[at] = MARK;
        steps++;
        if (f->up[at] == NO_PARENT) {
            break;
        }
        at = f->up[at];
    }
    uint32_t base = 0; /* depth of the node above the walked ones */
    if (f->depth[at] == MARK && f->up[at] != NO_PARENT) {
        out->cycles++; /* reached again in its own walk */
    } else if (f->depth[at] != MARK) {
        base = f->depth[at];
    }
    for (at = from; f->depth[at] == MARK; at = f->up[at]) {
        f->depth[at] = base + steps--;
        if (f->depth[at] - 1 > out->depth) {
            out->depth = f->depth[at] - 1;
        }
        if (f->up[at] == NO_PARENT) {
            break;
        }
    }
}

static void
measure(struct forest *f, struct mrsi_tree_figures *out)
{
    for (uint32_t i = 0; i < f->n; i++) {
        out->roots += f->up[i] == NO_PARENT;
        walk(f, i, out);
    }
}

static enum mrs_status
one_tree(struct mrsi_relating *x, const struct mrsi_reference *r, struct mrsi_tree_figures *out, struct mrs_err *e)
{
    MRS_ASSERT(r->parts > 0 && out);
    struct mrs_mem *mem = x->x->mem;
    struct mrsi_lookup_value ids = {.path = {r->to[0]}, .n = 1};
    struct mrsi_lookup_value up = {.path = {r->to[0], r->from[0]}, .n = 2, .as_number = {false, r->as_number}};
    struct mrsi_lookup_value *lookup[2] = {&ids, &up};
    struct forest f = {0};
    struct mrsi_rowset_at *at = mrs_alloc(mem, sizeof *at);
    enum mrs_status s = at ? mrsi_gather(x, lookup, 2, e) : mrs_err_memory(e, sizeof *at);
    size_t n = s == MRS_OK ? ids.rows.total + 1 : 1;
    f.id = mrs_alloc_array(mem, n, sizeof *f.id);
    f.up = mrs_alloc_array(mem, n, sizeof *f.up);
    f.depth = mrs_zalloc(mem, n * sizeof *f.depth);
    if (s == MRS_OK && (!f.id || !f.up || !f.depth)) {
        s = mrs_err_memory(e, n * sizeof *f.id);
    }
    MRS_THEN(s, read_ids(&f, &ids, at, e));
    MRS_THEN(s, read_parents(&f, &up, at, e));
    if (s == MRS_OK) {
        *out = (struct mrsi_tree_figures){.path = r->from[0]};
        measure(&f, out);
    }
    mrs_free(mem, f.id);
    mrs_free(mem, f.up);
    mrs_free(mem, f.depth);
    mrs_free(mem, at);
    mrsi_rowset_end(&ids.rows);
    mrsi_rowset_end(&up.rows);
    return s;
}

enum mrs_status
mrsi_trees(struct mrsi_relating *x, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < x->x->refs; i++) {
        const struct mrsi_reference *r = x->x->ref[i];
        struct mrsi_collection *c = r->from[0]->in;
        bool better = !c->tree.path || (!strstr(c->tree.path->text, "arent") && strstr(r->from[0]->text, "arent"));
        bool lists = r->from[0]->lists || r->to[0]->lists;
        if (!r->self || r->candidate || r->dropped || lists || r->from[0]->names || r->parts > 1 ||
            mrsi_is_sampled(c) || !better) {
            continue;
        }
        if (c->documents > MOST) {
            s = mrsi_model_leave(x->x, e, "%s: the depth of its tree, which has more than %d documents", c->ns, MOST);
        } else {
            s = one_tree(x, r, &c->tree, e);
        }
    }
    return s;
}
