/* SPDX-License-Identifier: Apache-2.0 */
/* links.c - runs a linking step from its first pass to its last; see links.h. */
#include "run/pass/drivers.h"
#include "links.h"

static void
begin(struct mrsi_link_run *l)
{
    struct mrsi_engine *en = l->en;
    l->ops->wants(l->st->state, &l->wants);
    for (int i = 0; i < 2; i++) {
        struct mrsi_link_side *sd = &l->side[i];
        mrsi_index_init(&sd->ids, en, en->memory / 4);
        mrsi_fates_init(&sd->fates, en);
        mrsi_file_array_init(&sd->owners, en, sizeof(uint64_t), en->memory / 32);
        mrsi_file_array_init(&sd->keys, en, sizeof(struct mrs_hash128), en->memory / 32);
        mrsi_file_array_init(&sd->found, en, sizeof(uint64_t), en->memory / 32);
        mrsi_file_array_init(&sd->at, en, sizeof(uint64_t), en->memory / 16);
        mrsi_file_array_init(&sd->bytes, en, 1, en->memory / 16);
        sd->owners.kept = sd->keys.kept = sd->found.kept = sd->at.kept = sd->bytes.kept = true;
        sd->keeps = i == 0 ? l->wants.refs : l->wants.lists;
    }
}

/* Frees results of decisions. */
static void
clear_references(struct mrsi_link_run *l)
{
    for (int i = 0; i < 2; i++) {
        struct mrsi_link_side *sd = &l->side[i];
        mrsi_file_array_clear(&sd->owners);
        mrsi_file_array_clear(&sd->keys);
        mrsi_file_array_clear(&sd->found);
        mrsi_mapped_mem_clear(&sd->named);
    }
}

static void
clear(struct mrsi_link_run *l)
{
    clear_references(l);
    for (int i = 0; i < 2; i++) {
        struct mrsi_link_side *sd = &l->side[i];
        mrsi_index_clear(&sd->ids);
        mrsi_fates_clear(&sd->fates);
        mrsi_file_array_clear(&sd->at);
        mrsi_file_array_clear(&sd->bytes);
        mrsi_mapped_mem_clear(&sd->gains.start);
        mrsi_mapped_mem_clear(&sd->gains.to);
    }
    mrsi_mapped_mem_clear(&l->listed);
    mrsi_mapped_mem_clear(&l->parent);
}

/* One stage, and the preparation of the next. */
static enum mrs_status
one_stage(struct mrsi_link_run *l, struct mrs_err *e)
{
    MRS_ASSERT(l->st && l->ops);
    enum mrs_status s = MRS_OK;
    switch (l->stage) {
    case MRSI_LINK_READ:
        s = mrsi_link_read(l, e);
        mrsi_rows_accept(l->en);
        l->log = mrsi_refused_position(l->en);
        break;
    case MRSI_LINK_DECIDE:
        s = mrsi_link_name(l, e);
        MRS_THEN(s, mrsi_link_decide(l, e));
        MRS_THEN(s, mrsi_link_open(l, e));
        clear_references(l);
        l->now = 0;
        break;
    case MRSI_LINK_WRITE: s = mrsi_link_write(l, e); break;
    case MRSI_LINK_DONE: break;
    }
    l->stage += s == MRS_OK;
    return s == MRS_OK && l->stage != MRSI_LINK_DONE ? mrsi_pass_between(&l->pass, e) : s;
}

static enum mrs_status
all_stages(struct mrsi_link_run *l, struct mrs_err *e)
{
    enum mrs_status s = mrsi_pass_is_resumed(&l->pass) ? mrsi_link_from_mark(l, e) : MRS_OK;
    while (s == MRS_OK && l->stage != MRSI_LINK_DONE) {
        s = one_stage(l, e);
    }
    return s;
}

enum mrs_status
mrsi_link_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_step *st = &en->plan->steps[step];
    struct mrsi_link_run l = {
        .en = en, .step = step, .st = st, .ops = st->type->link, .self = en->side[step][0] == en->side[step][1]};
    begin(&l);
    l.pass = (struct mrsi_pass){.en = en, .kind = "link", .save = mrsi_link_mark, .arg = &l};
    mrsi_ckpt_savepoint_for(&l.pass);
    enum mrs_status s = mrsi_step_outputs_init(&l.sides, en, step, e);
    l.sides.pass = &l.pass;
    MRS_THEN(s, all_stages(&l, e));
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
        s = mrsi_notices_name(en, step, e);
        MRS_THEN(s, mrsi_match_reasons(en, step, NULL, e));
    }
    clear(&l);
    return mrsi_step_outputs_end(&l.sides, s, e);
}
