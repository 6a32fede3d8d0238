/* SPDX-License-Identifier: Apache-2.0 */
/* tree_pass.c - runs a tree step from its first pass to its last; see tree_pass.h. */
#include "run/pass/drivers.h"
#include "tree_pass.h"

struct mrs_val
mrsi_node_id(const struct mrsi_tree_run *t, uint32_t i)
{
    MRS_ASSERT(i < t->n);
    const uint64_t *at = (const uint64_t *)(const void *)t->id_at.p;
    uint64_t from = at[i], end = i + 1u < t->n ? at[i + 1u] : t->ids.n;
    if (end == from) {
        return mrs_missing();
    }
    return (struct mrs_val){t->ids.p + from + 1, (uint32_t)(end - from - 1), t->ids.p[from]};
}

enum mrs_status
mrsi_tree_check_interrupt(const struct mrsi_tree_run *t, uint64_t i, struct mrs_err *e)
{
    return (i & 0xffff) == 0 ? mrsi_interrupted(t->en, e) : MRS_OK;
}

void
mrsi_tree_fault(struct mrsi_tree_run *t, uint32_t i, enum mrs_tree_fault fault, uint32_t other)
{
    MRS_ASSERT(i < t->n);
    struct mrsi_tree_node *n = mrsi_node(t, i);
    if (n->fate == MRSI_TREE_NEW) {
        n->fate = MRSI_TREE_OUT;
        n->fault = (uint8_t)fault;
        n->way = other;
    }
}

static void
tree_init(struct mrsi_tree_run *t, struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    uint64_t share = en->memory / 16;
    memset(t, 0, sizeof *t);
    t->en = en;
    t->step = step;
    t->st = &en->plan->steps[step];
    t->ops = t->st->type->tree;
    t->needs = t->ops->needs(t->st->state);
    mrsi_file_array_init(&t->bits, en, 1, share / 2);
    mrsi_file_array_init(&t->id_at, en, sizeof(uint64_t), share);
    mrsi_file_array_init(&t->ids, en, 1, 2 * share);
    mrsi_file_array_init(&t->doc_at, en, sizeof(uint64_t), share);
    mrsi_file_array_init(&t->docs, en, 1, 2 * share);
    mrsi_file_array_init(&t->named, en, sizeof(struct mrsi_named), 2 * share);
    mrsi_file_array_init(&t->twice, en, sizeof(uint32_t), share / 4);
    mrsi_file_array_init(&t->childless, en, sizeof(struct mrsi_childless), share / 4);
    mrsi_index_init(&t->index, en, 4 * share);
    mrsi_sorter_init(&t->ends, en, 2 * share);
    mrsi_sorter_init(&t->orders, en, 2 * share);
    t->bits.kept = t->id_at.kept = t->ids.kept = t->named.kept = t->twice.kept = t->childless.kept = true;
    t->doc_at.kept = t->docs.kept = t->ends.kept = t->orders.kept = true;
}

static void
tree_clear(struct mrsi_tree_run *t)
{
    struct mrsi_file_array *arrays[] = {&t->bits,   &t->id_at, &t->ids,   &t->doc_at,
                                 &t->docs, &t->named, &t->twice, &t->childless};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        mrsi_file_array_clear(arrays[i]);
    }
    mrsi_index_clear(&t->index);
    mrsi_sorter_clear(&t->ends);
    mrsi_sorter_clear(&t->orders);
    mrsi_mapped_mem_clear(&t->node);
    mrsi_mapped_mem_clear(&t->shared);
    mrsi_mapped_mem_clear(&t->numbers);
}

static enum mrs_status
find_places(struct mrsi_tree_run *t, struct mrs_err *e)
{
    struct mrsi_file_array *arrays[] = {&t->bits, &t->id_at, &t->ids, &t->doc_at, &t->docs, &t->named, &t->twice};
    bool whole = t->needs & MRS_TREE_WHOLE;
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; s == MRS_OK && i < sizeof arrays / sizeof *arrays; i++) {
        s = mrsi_file_array_end(arrays[i], e);
    }
    t->n = t->bits.n;
    s = s == MRS_OK && t->resumed ? mrsi_tree_check_read(t, e) : s;
    MRS_THEN(s, mrsi_tree_parents(t, e));
    s = s == MRS_OK && t->intervals ? mrsi_tree_nest(t, e) : s;
    mrsi_index_clear(&t->index);
    mrsi_file_array_clear(&t->named);
    mrsi_sorter_clear(&t->ends);
    if (s == MRS_OK && whole) {
        mrsi_tree_childless(t);
    }
    MRS_THEN(s, mrsi_tree_ways(t, e));
    MRS_THEN(s, mrsi_tree_check_stated(t, e));
    s = s == MRS_OK && t->needs ? mrsi_tree_children(t, e) : s;
    return s == MRS_OK && whole ? mrsi_tree_weigh_all(t, e) : s;
}

enum mrs_status
mrsi_tree_open(struct mrsi_tree_run *t, struct mrs_err *e)
{
    MRS_ASSERT(!t->pass.n_wr);
    enum mrs_status s = mrsi_step_outputs_open(&t->sides, 0, e);
    t->pass.wr = t->sides.wr;
    t->pass.n_wr = t->sides.n_wr;
    return s;
}

/* One stage, and the preparation of the next. */
static enum mrs_status
one_stage(struct mrsi_tree_run *t, struct mrs_err *e)
{
    MRS_ASSERT(t->st && t->ops);
    enum mrs_status s = MRS_OK;
    switch (t->stage) {
    case MRSI_TREE_READ: s = mrsi_tree_read(t, e); break;
    case MRSI_TREE_PLACE:
        s = find_places(t, e);
        MRS_THEN(s, mrsi_tree_open(t, e));
        break;
    case MRSI_TREE_WRITE: s = mrsi_tree_write(t, e); break;
    case MRSI_TREE_DONE: break;
    }
    t->stage += s == MRS_OK;
    return s == MRS_OK && t->stage != MRSI_TREE_DONE ? mrsi_pass_between(&t->pass, e) : s;
}

static enum mrs_status
all_stages(struct mrsi_tree_run *t, struct mrs_err *e)
{
    enum mrs_status s = mrsi_pass_is_resumed(&t->pass) ? mrsi_tree_from_mark(t, e) : MRS_OK;
    while (s == MRS_OK && t->stage != MRSI_TREE_DONE) {
        s = one_stage(t, e);
    }
    return s;
}

enum mrs_status
mrsi_tree_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    struct mrsi_tree_run t;
    tree_init(&t, en, step);
    t.pass = (struct mrsi_pass){.en = en, .kind = "tree", .save = mrsi_tree_mark, .arg = &t};
    mrsi_ckpt_savepoint_for(&t.pass);
    enum mrs_status s = mrsi_step_outputs_init(&t.sides, en, step, e);
    t.sides.pass = &t.pass;
    mrsi_rows_begin(en);
    MRS_THEN(s, all_stages(&t, e));
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
    }
    tree_clear(&t);
    return mrsi_step_outputs_end(&t.sides, s, e);
}
