/* SPDX-License-Identifier: Apache-2.0 */
/* tree_write.c - the second pass over a tree's documents: writes each with its position. */
#include "run/pass/checkpoint.h"
#include "tree_pass.h"
#include "mongoreshape/join_ops.h"

struct tree_write_job {
    struct mrsi_step_outputs_job io;
    struct mrs_node node; /* of the document read again */
    struct mrs_buf bytes;
    struct mrs_buf way;   /* ordinals of the ancestors, nearest first */
    /* of the document being written */
    const struct mrsi_tree_run *t;
    uint32_t who, child;
    size_t at;            /* index in way */
    bool gathered;
};

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_tree_run *t = arg;
    struct tree_write_job *job = p;
    bool fresh;
    enum mrs_status s = mrsi_step_outputs_job_next(&t->sides, &t->scan, &job->io, &fresh, big, e);
    if (fresh) {
        mrs_keys_init(&job->node.keys, t->en->mem);
        mrs_buf_init(&job->node.order, t->en->mem, SIZE_MAX);
        mrs_buf_init(&job->bytes, t->en->mem, SIZE_MAX);
        mrs_buf_init(&job->way, t->en->mem, SIZE_MAX);
        job->t = t;
    }
    return s;
}

static void
clear(void *arg, void *p)
{
    struct mrsi_tree_run *t = arg;
    struct tree_write_job *job = p;
    if (job->io.out) {
        mrs_keys_clear(&job->node.keys);
        mrs_buf_clear(&job->node.order);
        mrs_buf_clear(&job->bytes);
        mrs_buf_clear(&job->way);
        mrsi_step_outputs_job_clear(&t->sides, &job->io);
    }
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_tree_run *t = arg;
    struct tree_write_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    if (job->bytes.cap > MRSI_BIG) {
        mrs_buf_clear(&job->bytes);
    }
    if (job->way.cap > MRSI_BIG) {
        mrs_buf_clear(&job->way);
    }
    return s == MRS_OK ? mrsi_step_outputs_commit(&t->sides, job->io.out, e) : s;
}

/* ---- callbacks for the kernel on a position ---- */
static enum mrs_status
next_child(struct mrs_node_ids *ids, struct mrs_val *id, struct mrs_err *e)
{
    struct tree_write_job *job = ids->impl;
    const struct mrsi_tree_child *shared = job->t->shared.p;
    (void)e;
    if (job->child == MRSI_NONE) {
        return MRS_END;
    }
    *id = mrsi_node_id(job->t, job->child);
    job->child = shared[job->child].next;
    return MRS_OK;
}

static void
first_child(struct mrs_node_ids *ids)
{
    struct tree_write_job *job = ids->impl;
    job->child = job->t->shared.p ? ((const struct mrsi_tree_child *)job->t->shared.p)[job->who].child : MRSI_NONE;
}

/* The path to the root is collected on demand. */
static enum mrs_status
next_above(struct mrs_node_ids *ids, struct mrs_val *id, struct mrs_err *e)
{
    struct tree_write_job *job = ids->impl;
    uint32_t i = mrsi_node(job->t, job->who)->parent;
    if (!job->gathered) {
        mrs_buf_reset(&job->way);
        for (; i != MRSI_NONE; i = mrsi_node(job->t, i)->parent) {
            mrs_buf_put(&job->way, &i, sizeof i);
        }
        job->gathered = true;
        job->at = job->way.n;
    }
    if (job->way.bad) {
        return mrs_buf_status(&job->way, e);
    }
    if (job->at == 0) {
        return MRS_END;
    }
    job->at -= sizeof i;
    memcpy(&i, job->way.p + job->at, sizeof i);
    *id = mrsi_node_id(job->t, i);
    return MRS_OK;
}

static void
first_above(struct mrs_node_ids *ids)
{
    struct tree_write_job *job = ids->impl;
    job->at = job->way.n;
}

static void
find_place(const struct mrsi_tree_run *t, struct tree_write_job *job, uint32_t who, struct mrs_place *out)
{
    MRS_ASSERT(who < t->n);
    const struct mrsi_tree_node *n = mrsi_node(t, who);
    const struct mrsi_numbers *numbers = t->numbers.p;
    memset(out, 0, sizeof *out);
    job->who = who;
    job->gathered = false;
    out->parent = n->parent == MRSI_NONE ? mrs_missing() : mrsi_node_id(t, n->parent);
    out->unusable = n->unusable_above ? mrsi_node_id(t, n->way) : mrs_missing();
    out->above = (struct mrs_node_ids){n->depth, n->unusable_above ? 0 : n->way, next_above, first_above, job};
    out->children = (struct mrs_node_ids){0, 0, next_child, first_child, job};
    first_child(&out->children);
    if (numbers) {
        out->left = numbers[who].left;
        out->right = numbers[who].right;
    }
}

/* ---- compare documents with the resolved tree, before any is written ---- */
/* Visits all paths to the root again, without nodes that are excluded themselves. */
static enum mrs_status
visit_ancestors_again(struct mrsi_tree_run *t, struct mrs_err *e)
{
    for (uint64_t i = 0; i < t->n; i++) {
        struct mrsi_tree_node *n = mrsi_node(t, (uint32_t)i);
        if (n->fate == MRSI_TREE_IN || n->fate == MRSI_TREE_BELOW) {
            n->fate = MRSI_TREE_NEW;
            n->unusable_above = false;
            n->depth = n->way = 0;
        }
    }
    return mrsi_tree_ways(t, e);
}

static enum mrs_status
compare_node(struct mrsi_tree_run *t, struct mrsi_worker *w, struct tree_write_job *job, uint32_t who, bool *again,
             struct mrs_err *e)
{
    MRS_ASSERT(who < t->n);
    struct mrsi_weight weight;
    struct mrs_place place;
    find_place(t, job, who, &place);
    mrs_err_clear(&w->err);
    enum mrs_status s = t->ops->agrees(t->st->state, &w->ctx, mrsi_tree_doc(t, who, &weight), &place);
    if (s == MRS_SKIP) {
        mrsi_node(t, who)->fate = MRSI_TREE_NEW;
        mrsi_tree_fault(t, who, MRS_FAULT_OTHER_WAY, MRSI_NONE);
        *again = true;
    }
    return s == MRS_OK || s == MRS_SKIP ? mrsi_tree_check_interrupt(t, who, e) : mrsi_kernel_failed(w, s, e);
}

/* Paths are visited again afterwards: a document is compared while its ancestors are still in place. */
enum mrs_status
mrsi_tree_check_stated(struct mrsi_tree_run *t, struct mrs_err *e)
{
    struct tree_write_job job = {.t = t};
    enum mrs_status s = MRS_OK;
    bool again = false;
    mrs_buf_init(&job.way, t->en->mem, SIZE_MAX);
    for (uint64_t i = 0; s == MRS_OK && (t->needs & MRS_TREE_STATED) && i < t->n; i++) {
        if (mrsi_node(t, (uint32_t)i)->fate == MRSI_TREE_IN) {
            s = compare_node(t, &t->en->worker[0], &job, (uint32_t)i, &again, e);
        }
    }
    mrs_buf_clear(&job.way);
    return s == MRS_OK && again ? visit_ancestors_again(t, e) : s;
}

/* ---- refuse ---- */
static int
by_who(const void *a, const void *b)
{
    const struct mrsi_childless *x = a, *y = b;
    return x->who < y->who ? -1 : x->who > y->who;
}

/* Does the engine refuse the document, and why? */
static bool
in_error(const struct mrsi_tree_run *t, uint32_t who, struct mrs_tree_error *out)
{
    MRS_ASSERT(who < t->n);
    const struct mrsi_tree_node *n = mrsi_node(t, who);
    struct mrsi_childless key = {who, 0};
    const struct mrsi_childless *c;
    memset(out, 0, sizeof *out);
    switch (n->fate) {
    case MRSI_TREE_OUT:
        out->fault = (enum mrs_tree_fault)n->fault;
        out->other = n->way == MRSI_NONE ? mrs_missing() : mrsi_node_id(t, n->way);
        c = out->fault == MRS_FAULT_NO_CHILD ? mrsi_file_array_find(&t->childless, &key, by_who) : NULL;
        out->child = c ? c->child : 0;
        return true;
    case MRSI_TREE_BELOW:
        out->fault = (enum mrs_tree_fault)mrsi_node(t, n->way)->fault;
        out->below = true;
        out->at = mrsi_node_id(t, n->way);
        return true;
    default: break;
    }
    c = mrsi_file_array_find(&t->childless, &key, by_who);
    out->fault = MRS_FAULT_NO_CHILD;
    out->child = c ? c->child : 0;
    return c != NULL;
}

static enum mrs_status
read_again(struct mrsi_tree_run *t, struct mrsi_worker *w, struct tree_write_job *job, struct mrs_view doc)
{
    mrs_keys_reset(&job->node.keys);
    mrs_buf_reset(&job->node.order);
    return t->ops->read(t->st->state, &w->ctx, doc, &job->node);
}

/* ---- write ---- */
static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrsi_tree_run *t = arg;
    struct tree_write_job *job = p;
    uint32_t who = (uint32_t)ordinal;
    if (ordinal >= t->n) { /* only if the resumed state is wrong */
        return mrsi_state_damaged("the step", e);
    }
    unsigned bits = mrsi_node(t, who)->bits;
    struct mrs_tree_error trouble;
    struct mrs_place place;
    enum mrs_fate fate = MRS_FATE_STAYS;
    enum mrs_status s = MRS_OK;
    mrsi_row(w, t->step, 0)->before++;
    mrs_err_clear(&w->err);
    if (bits & MRSI_NODE_REFUSED) {
        s = read_again(t, w, job, doc);
    } else if ((bits & MRSI_NODE) && in_error(t, who, &trouble)) {
        s = t->ops->refuse(t->st->state, &w->ctx, doc, &trouble);
    } else if ((bits & MRSI_NODE) && (t->needs & MRS_TREE_WHOLE)) {
        if (mrsi_node(t, who)->parent != MRSI_NONE) { /* it is inside its root's document */
            mrsi_row(w, t->step, 0)->taken++;
            return MRS_OK;
        }
        mrs_buf_reset(&job->bytes);
        s = mrsi_tree_assemble(t, w, who, &job->way, &job->bytes);
        fate = MRS_FATE_CHANGED;
    } else if (bits & MRSI_NODE) {
        mrs_buf_reset(&job->bytes);
        find_place(t, job, who, &place);
        s = t->ops->splice(t->st->state, &w->ctx, doc, &place, &job->bytes, &fate);
    }
    if (s == MRS_SKIP) {
        mrsi_row(w, t->step, 0)->refused++;
        return mrsi_refuse(w, t->step, 0, t->en->side[t->step][0], who, doc, e);
    }
    if (s != MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    if (fate == MRS_FATE_CHANGED) {
        doc = (struct mrs_view){job->bytes.p, (uint32_t)job->bytes.n};
    }
    return mrsi_step_outputs_write(&t->sides, w, job->io.out, 0, doc, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_tree_run *t = arg;
    struct tree_write_job *job = p;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, t->scan.coll, job->io.part, &job->io.block);
    cur.quiet = cur.checked = true;
    return mrsi_cursor_each(&cur, one_document, t, w, job, e);
}

enum mrs_status
mrsi_tree_write(struct mrsi_tree_run *t, struct mrs_err *e)
{
    struct mrsi_pipe p = {t->en, sizeof(struct tree_write_job), fetch, work, commit, clear, t};
    struct mrsi_coll *coll = &t->en->coll[t->en->side[t->step][0]];
    return mrsi_pass_scan(&t->pass, &p, coll, &t->scan, e);
}
