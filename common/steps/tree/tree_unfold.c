/* SPDX-License-Identifier: Apache-2.0 */
/* tree_unfold.c - splits a tree that is in one document: the root stays in place, then all nodes below it.
 *
 * The document contains everything about its nodes, so documents are processed one by one. The data decides how deep a
 * tree is nested, so the walk has an explicit stack. A part without `_id` gets one derived from the root's `_id` and
 * its position. */
#include "steps/kit/id_policy.h"
#include "steps/kit/shape.h"
#include "mongoreshape/context.h"
#include "tree.h"

#define NO_NODE UINT32_MAX
struct tree_unfold_node {
    struct mrs_view doc;
    struct mrs_val id, unusable;    /* unusable: the highest ancestor id that a path cannot contain; missing */
    uint32_t parent, child, last;   /* first and last of its children */
    uint32_t next, n_children;      /* next: next child of its parent */
    uint32_t depth, index;          /* index: among its siblings */
    bool made;                      /* its `_id` is generated */
};
struct tree_unfold_span {
    uint32_t off, len;
    bool made;
};
struct tree_unfold_frame {
    struct mrs_walk w; /* of the children of `node` */
    uint32_t node;
};
enum { N_BUFS = 6 };

struct tree_unfold {
    const struct mrsi_tree_args *s;
    struct mrs_ctx *c;
    struct mrsi_tree_work *w;
    struct mrs_view doc;
};

static void
bufs(struct mrsi_tree_work *w, struct mrs_buf *out[N_BUFS])
{
    struct mrs_buf *all[N_BUFS] = {&w->node, &w->frame, &w->made, &w->span, &w->part, &w->id};
    memcpy(out, all, sizeof all);
}

static void
start(struct mrsi_tree_work *w, struct mrs_ctx *c)
{
    struct mrs_buf *all[N_BUFS];
    bufs(w, all);
    for (int i = 0; i < N_BUFS; i++) {
        if (!w->ready) {
            mrs_buf_init(all[i], c->mem, 16u * MRS_DOC_READ_MAX);
        }
        mrs_buf_reset(all[i]);
    }
    w->ready = true;
    w->at = 0;
}

void
mrsi_tree_work_clear(struct mrs_ctx *c, void *work)
{
    struct mrsi_tree_work *w = work;
    struct mrs_buf *all[N_BUFS];
    (void)c;
    bufs(w, all);
    for (int i = 0; w->ready && i < N_BUFS; i++) {
        mrs_buf_clear(all[i]);
    }
    w->ready = false;
}

static struct tree_unfold_node *
node(const struct mrsi_tree_work *w, uint32_t i)
{
    return (struct tree_unfold_node *)(void *)w->node.p + i;
}

/* ---- find nodes ---- */
static enum mrs_status
new_id(struct tree_unfold *x, struct tree_unfold_node *n)
{
    const char *name = x->s->old.field[0].name;
    int64_t pos[MRS_DEPTH_READ];
    uint32_t i = n->parent;
    pos[n->depth - 1] = n->index;
    for (uint32_t d = n->depth - 1; d > 0; d--) {
        pos[d - 1] = node(x->w, i)->index;
        i = node(x->w, i)->parent;
    }
    struct mrs_val root = node(x->w, 0)->id, path = mrs_make_text(x->c->arena, name, x->s->old.field[0].len);
    uint8_t *room = mrs_arena_alloc(x->c->arena, 12);
    if (!room || path.type == MRS_MISSING) {
        return mrs_err_memory(x->c->err, 12);
    }
    struct mrs_new_id in = {x->s->in.ns, x->s->in.ns, root, path, pos, n->depth, mrsi_id_time(root)};
    n->id = (struct mrs_val){room, 12, MRS_OBJECTID};
    n->made = true;
    return mrsi_step_skip(x->c, mrs_id_make(&in, &x->w->id, room, x->c->err), "form");
}

static enum mrs_status
choose_id(struct tree_unfold *x, struct tree_unfold_node *n)
{
    MRS_ASSERT(x->s);
    n->id = mrs_doc_get(n->doc, "_id");
    if (n->parent != NO_NODE && n->id.type == MRS_MISSING) {
        return new_id(x, n);
    }
    if (mrs_is_nullish(n->id)) {
        return mrsi_step_refuse(x->c, "form", "a node has no _id by which another one could name it");
    }
    const char *fault = mrsi_step_id_fault(n->id);
    return fault ? mrsi_step_refuse(x->c, "form", "%s cannot be an _id", fault) : MRS_OK;
}

static void
link_child(struct mrsi_tree_work *w, uint32_t parent, uint32_t i)
{
    struct tree_unfold_node *p = node(w, parent);
    if (p->n_children++) {
        node(w, p->last)->next = i;
    } else {
        p->child = i;
    }
    p->last = i;
}

/* Adds a node, and opens the list of its children. */
static enum mrs_status
add(struct tree_unfold *x, struct mrs_view d, uint32_t parent)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrsi_tree_work *w = x->w;
    uint32_t i = (uint32_t)(w->node.n / sizeof(struct tree_unfold_node));
    const struct tree_unfold_node *up = parent == NO_NODE ? NULL : node(w, parent);
    struct tree_unfold_node n = {.doc = d, .parent = parent, .child = NO_NODE, .next = NO_NODE};
    n.unusable = mrs_missing();
    if (up) {
        n.depth = up->depth + 1;
        n.index = up->n_children;
        n.unusable = up->unusable.type != MRS_MISSING || mrsi_tree_fits_path(x->s, up->id) ? up->unusable : up->id;
    }
    MRS_TRY(choose_id(x, &n));
    mrs_buf_put(&w->node, &n, sizeof n);
    if (up && !w->node.bad) {
        link_child(w, parent, i);
    }
    struct mrs_val list = mrs_doc_get(d, x->s->old.field[0].name);
    if (list.type == MRS_ARRAY) {
        struct tree_unfold_frame f = {.node = i};
        mrs_walk_init(&f.w, mrs_val_view(list));
        mrs_buf_put(&w->frame, &f, sizeof f);
    } else if (!mrs_is_nullish(list)) {
        return mrsi_step_refuse(x->c, "form", "%s is no array", x->s->old.field[0].name);
    }
    enum mrs_status st = mrsi_buf_end(&w->node, 0, x->c, "form");
    return st == MRS_OK ? mrsi_buf_end(&w->frame, 0, x->c, "form") : st;
}

static enum mrs_status
find_all(struct tree_unfold *x)
{
    struct mrs_buf *frames = &x->w->frame;
    struct mrs_elem el;
    enum mrs_status st = add(x, x->doc, NO_NODE);
    while (st == MRS_OK && frames->n) {
        struct tree_unfold_frame *f =
            (struct tree_unfold_frame *)(void *)(frames->p + frames->n - sizeof *f);
        if (mrs_walk_next(&f->w, &el) != 1) {
            frames->n -= sizeof *f;
        } else if (el.v.type == MRS_DOCUMENT) {
            st = add(x, mrs_val_view(el.v), f->node);
        } else {
            st = mrsi_step_refuse(x->c, "form", "%s holds %s, no document", x->s->old.field[0].name,
                                  mrs_type_name(el.v.type));
        }
    }
    return st;
}

/* ---- positions ---- */
static enum mrs_status
next_above(struct mrs_node_ids *ids, struct mrs_val *id, struct mrs_err *e)
{
    struct mrsi_tree_work *w = ids->impl;
    (void)e;
    if (!w->at_way) {
        return MRS_END;
    }
    *id = node(w, w->way[--w->at_way])->id;
    return MRS_OK;
}

static void
first_above(struct mrs_node_ids *ids)
{
    struct mrsi_tree_work *w = ids->impl;
    w->at_way = w->n_way;
}

static enum mrs_status
next_child(struct mrs_node_ids *ids, struct mrs_val *id, struct mrs_err *e)
{
    struct mrsi_tree_work *w = ids->impl;
    (void)e;
    if (w->at_child == NO_NODE) {
        return MRS_END;
    }
    *id = node(w, w->at_child)->id;
    w->at_child = node(w, w->at_child)->next;
    return MRS_OK;
}

static void
first_child(struct mrs_node_ids *ids)
{
    (void)ids; /* no kernel reads children twice */
}

static void
find_place(struct mrsi_tree_work *w, uint32_t i, struct mrs_place *out)
{
    const struct tree_unfold_node *n = node(w, i);
    uint64_t bytes = 0;
    *out = (struct mrs_place){.parent = n->parent == NO_NODE ? mrs_missing() : node(w, n->parent)->id};
    w->n_way = 0;
    for (uint32_t up = n->parent; up != NO_NODE; up = node(w, up)->parent) {
        w->way[w->n_way++] = up;
        bytes += node(w, up)->id.n;
    }
    w->at_way = w->n_way;
    w->at_child = n->child;
    out->unusable = n->unusable;
    out->above = (struct mrs_node_ids){n->depth, bytes, next_above, first_above, w};
    out->children = (struct mrs_node_ids){n->n_children, 0, next_child, first_child, w};
}

/* ---- write ---- */
/* The node as a document with its `_id`. */
static enum mrs_status
with_id(struct tree_unfold *x, const struct tree_unfold_node *n, struct mrs_view *out)
{
    struct mrs_buf *b = &x->w->part;
    *out = n->doc;
    if (!n->made) {
        return MRS_OK;
    }
    mrs_buf_reset(b);
    mrsi_put_open(b);
    mrsi_put_elem(b, "_id", 3, n->id);
    mrs_buf_put(b, n->doc.p + 4, n->doc.n - MRS_DOC_MIN);
    mrsi_put_close(b, 0);
    *out = mrsi_buf_view(b, 0);
    return mrsi_buf_end(b, 0, x->c, "form");
}

static enum mrs_status
write_node(struct tree_unfold *x, uint32_t i)
{
    MRS_ASSERT(x->w->at <= i + 1);
    struct mrsi_tree_work *w = x->w;
    struct tree_unfold_span span = {(uint32_t)w->made.n, 0, node(w, i)->made};
    struct mrs_place place;
    struct mrs_view d;
    bool deeper = false;
    MRS_TRY(with_id(x, node(w, i), &d));
    find_place(w, i, &place);
    enum mrs_status st = mrsi_tree_put(x->s, x->c, d, &place, &w->made, &deeper);
    MRS_THEN(st, mrsi_buf_end(&w->made, span.off, x->c, "to_form"));
    span.len = (uint32_t)w->made.n - span.off;
    if (st == MRS_OK && span.len > MRS_DOC_MAX && span.len > d.n) {
        return mrsi_step_too_large(x->c, "to_form", "a node would pass 16 MiB", &w->made, span.off);
    }
    if (st == MRS_OK && deeper) {
        st = mrsi_step_depth(x->c, "to_form", x->doc, (struct mrs_view){w->made.p + span.off, span.len});
    }
    mrs_buf_put(&w->span, &span, sizeof span);
    return st == MRS_OK ? mrsi_buf_end(&w->span, 0, x->c, "to_form") : st;
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_tree_args *s = state;
    struct tree_unfold x = {s, c, work, doc};
    bool takes;
    (void)side;
    start(x.w, c);
    *fate = MRS_FATE_STAYS;
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &takes);
    if (st != MRS_OK || !takes) {
        return st;
    }
    st = find_all(&x);
    uint32_t n = (uint32_t)(x.w->node.n / sizeof(struct tree_unfold_node));
    for (uint32_t i = 0; st == MRS_OK && i < n; i++) {
        st = write_node(&x, i);
    }
    *fate = MRS_FATE_CHANGED; /* its `_id` belongs to a node, so it counts as changed even without changed bytes */
    return st;
}

static enum mrs_status
next(const void *state, struct mrs_ctx *c, void *work, struct mrs_product *out)
{
    struct mrsi_tree_work *w = work;
    const struct tree_unfold_span *span = (const struct tree_unfold_span *)(const void *)w->span.p + w->at;
    (void)state;
    (void)c;
    if (w->at >= w->span.n / sizeof *span) {
        return MRS_END;
    }
    *out = (struct mrs_product){0, w->at == 0, true, {w->made.p + span->off, span->len}};
    w->at++;
    return MRS_OK;
}

const struct mrs_spread_ops mrsi_tree_unfold_ops = {.begin = begin, .next = next};
