/* SPDX-License-Identifier: Apache-2.0 */
/* tree_whole.c - joins the documents of a tree into one: computes its size, and writes it.
 *
 * Documents were stored when they were read. The size of a tree is computed before any is written, by going down and up
 * along the links between children and parents: a tree that is too large is refused with all its nodes, wherever they
 * are in the collection. */
#include "tree_pass.h"
#include "mongoreshape/join_ops.h"

void
mrsi_tree_childless(struct mrsi_tree_run *t)
{
    const struct mrsi_childless *c = (const struct mrsi_childless *)(const void *)t->childless.p;
    for (uint64_t i = 0; i < t->childless.n; i++) {
        mrsi_tree_fault(t, c[i].who, MRS_FAULT_NO_CHILD, MRSI_NONE);
    }
}

static const struct mrsi_tree_child *
shared(const struct mrsi_tree_run *t, uint32_t i)
{
    return (const struct mrsi_tree_child *)t->shared.p + i;
}

struct mrs_view
mrsi_tree_doc(const struct mrsi_tree_run *t, uint32_t i, struct mrsi_weight *weight)
{
    MRS_ASSERT(i < t->n);
    const uint64_t *at = (const uint64_t *)(const void *)t->doc_at.p;
    uint64_t end = i + 1u < t->n ? at[i + 1u] : t->docs.n;
    const uint8_t *p = t->docs.p + at[i];
    memcpy(weight, p, sizeof *weight);
    return (struct mrs_view){p + sizeof *weight, (uint32_t)(end - at[i] - sizeof *weight)};
}

/* The next node of a tree in preorder; MRSI_NONE after the last. *level is updated. */
static uint32_t
next_node(const struct mrsi_tree_run *t, uint32_t root, uint32_t i, uint32_t *level)
{
    MRS_ASSERT(root < t->n && i < t->n);
    uint32_t next = shared(t, i)->child;
    if (next != MRSI_NONE) {
        ++*level;
        return next;
    }
    while (i != root && shared(t, i)->next == MRSI_NONE) {
        i = mrsi_node(t, i)->parent;
        --*level;
    }
    return i == root ? MRSI_NONE : shared(t, i)->next;
}

/* ---- sizes ---- */
static uint32_t
digits(uint32_t n)
{
    uint32_t d = 1;
    for (; n >= 10; n /= 10) {
        d++;
    }
    return d;
}

struct tree_whole_weight {
    uint64_t bytes;
    uint32_t deep;
};

/* Size of type, name and NUL of each node but the root; the name is its index among its siblings. */
static enum mrs_status
weigh(struct mrsi_tree_run *t, uint32_t root, struct tree_whole_weight *out, struct mrs_err *e)
{
    MRS_ASSERT(root < t->n);
    enum mrs_status s = MRS_OK;
    uint32_t level = 0;
    *out = (struct tree_whole_weight){0, 0};
    for (uint32_t i = root; s == MRS_OK && i != MRSI_NONE; i = next_node(t, root, i, &level)) {
        struct mrsi_weight one;
        uint32_t no = 0;
        mrsi_tree_doc(t, i, &one);
        out->bytes += one.own;
        out->deep = one.deep + 2 * level > out->deep ? one.deep + 2 * level : out->deep;
        for (uint32_t child = shared(t, i)->child; child != MRSI_NONE; child = shared(t, child)->next) {
            out->bytes += digits(no++) + 2u;
        }
        s = mrsi_tree_check_interrupt(t, i, e);
    }
    return s;
}

/* Excludes all nodes below one that now has an error. */
static void
take_out(struct mrsi_tree_run *t, uint32_t root)
{
    MRS_ASSERT(root < t->n);
    uint32_t level = 0;
    for (uint32_t i = next_node(t, root, root, &level); i != MRSI_NONE; i = next_node(t, root, i, &level)) {
        mrsi_node(t, i)->fate = MRSI_TREE_BELOW;
        mrsi_node(t, i)->way = root;
    }
}

enum mrs_status
mrsi_tree_weigh_all(struct mrsi_tree_run *t, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; s == MRS_OK && i < t->n; i++) {
        struct mrsi_tree_node *n = mrsi_node(t, (uint32_t)i);
        struct tree_whole_weight all;
        struct mrsi_weight root;
        if (n->fate != MRSI_TREE_IN || n->parent != MRSI_NONE) {
            continue;
        }
        s = weigh(t, (uint32_t)i, &all, e);
        mrsi_tree_doc(t, (uint32_t)i, &root);
        bool large = all.bytes > MRS_DOC_MAX, deep = all.deep > MRS_DEPTH_MAX && all.deep > root.deep;
        if (s == MRS_OK && (large || deep)) {
            n->fate = MRSI_TREE_OUT;
            n->fault = large ? MRS_FAULT_TOO_LARGE : MRS_FAULT_TOO_DEEP;
            n->way = MRSI_NONE;
            take_out(t, (uint32_t)i);
        }
    }
    return s;
}

/* ---- write ---- */
struct tree_whole_frame { /* an open document */
    size_t doc, array; /* offsets of their lengths */
    uint32_t no;       /* index of the next child */
};

static struct tree_whole_frame *
top(const struct mrs_buf *frames)
{
    return (struct tree_whole_frame *)(void *)(frames->p + frames->n - sizeof(struct tree_whole_frame));
}

static enum mrs_status
open_node(const struct mrsi_tree_run *t, struct mrsi_worker *w, uint32_t i, struct mrs_buf *frames, struct mrs_buf *out)
{
    MRS_ASSERT(i < t->n);
    struct mrsi_weight weight;
    struct tree_whole_frame f = {0};
    char name[12];
    if (frames->n) {
        uint32_t len = mrs_index_name(name, top(frames)->no++);
        mrs_buf_byte(out, MRS_DOCUMENT);
        mrs_buf_put(out, name, len + 1);
    }
    f.doc = out->n;
    enum mrs_status s = t->ops->part(t->st->state, &w->ctx, mrsi_tree_doc(t, i, &weight), false, out);
    f.array = out->n;
    mrs_buf_put(out, "\0\0\0\0", 4);
    mrs_buf_put(frames, &f, sizeof f);
    MRS_THEN(s, mrs_buf_status(out, w->ctx.err));
    return s == MRS_OK ? mrs_buf_status(frames, w->ctx.err) : s;
}

static void
close_at(struct mrs_buf *out, size_t at)
{
    MRS_ASSERT(out->bad || at + sizeof(uint32_t) <= out->n);
    mrs_buf_byte(out, 0);
    if (!out->bad) {
        mrs_put32(out->p + at, (uint32_t)(out->n - at));
    }
}

static enum mrs_status
close_node(const struct mrsi_tree_run *t, struct mrsi_worker *w, uint32_t i, struct mrs_buf *frames,
           struct mrs_buf *out)
{
    struct mrsi_weight weight;
    struct tree_whole_frame f = *top(frames);
    frames->n -= sizeof f;
    close_at(out, f.array);
    enum mrs_status s = t->ops->part(t->st->state, &w->ctx, mrsi_tree_doc(t, i, &weight), true, out);
    close_at(out, f.doc);
    return s == MRS_OK ? mrs_buf_status(out, w->ctx.err) : s;
}

enum mrs_status
mrsi_tree_assemble(const struct mrsi_tree_run *t, struct mrsi_worker *w, uint32_t root, struct mrs_buf *frames,
                   struct mrs_buf *out)
{
    MRS_ASSERT(root < t->n);
    uint32_t i = root;
    mrs_buf_reset(frames);
    enum mrs_status s = open_node(t, w, i, frames, out);
    while (s == MRS_OK) {
        uint32_t next = shared(t, i)->child;
        while (s == MRS_OK && next == MRSI_NONE) {
            s = close_node(t, w, i, frames, out);
            if (i == root) {
                return s;
            }
            next = shared(t, i)->next;
            i = next == MRSI_NONE ? mrsi_node(t, i)->parent : i;
        }
        i = next;
        MRS_THEN(s, open_node(t, w, i, frames, out));
    }
    return s;
}

/* ---- validate resumed tables ---- */
/* Does each node that may be embedded have its document? */
enum mrs_status
mrsi_tree_check_docs(const struct mrsi_tree_run *t, struct mrs_err *e)
{
    const uint64_t *at = (const uint64_t *)(const void *)t->doc_at.p;
    uint64_t n = t->doc_at.n;
    bool good = n == t->id_at.n;
    struct mrs_buf room;
    mrs_buf_init(&room, t->en->mem, SIZE_MAX);
    for (uint64_t i = 0; good && i < n; i++) {
        uint64_t end = i + 1 < n ? at[i + 1] : t->docs.n, head = sizeof(struct mrsi_weight);
        good = at[i] <= end && end <= t->docs.n && end - at[i] <= UINT32_MAX;
        if (good && end > at[i]) {
            good = end - at[i] > head && mrsi_savepoint_is_value(MRS_DOCUMENT, t->docs.p + at[i] + head,
                                                           (uint32_t)(end - at[i] - head), &room);
        } else if (good && t->node.p) {
            good = mrsi_node(t, (uint32_t)i)->fate != MRSI_TREE_IN;
        }
    }
    bool bad = room.bad;
    enum mrs_status s = bad ? mrs_buf_status(&room, e) : MRS_OK;
    mrs_buf_clear(&room);
    return s == MRS_OK && !good ? mrsi_state_damaged("a document", e) : s;
}
