/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - runs a grouping step from its first pass to its last, stage by stage; see group.h. */
#include "run/pass/drivers.h"
#include "group.h"

static enum mrs_status
open_writers(struct mrsi_group_run *g, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        s = mrsi_step_outputs_open(&g->sides, i, e);
    }
    g->pass.wr = g->sides.wr;
    g->pass.n_wr = g->sides.n_wr;
    return s;
}

/* Remembers the counts, to which a repeated decision returns. */
static void
begin_deciding(struct mrsi_group_run *g)
{
    mrsi_refused_rewind(g->en, g->log);
    mrsi_rows_begin(g->en);
    mrsi_group_decided(g);
    g->again = false;
}

/* A document could not be written: decides again without its sources. */
static enum mrs_status
begin_again(struct mrsi_group_run *g, struct mrs_err *e)
{
    MRS_ASSERT(g->again);
    begin_deciding(g);
    g->pass.blank = true;
    enum mrs_status s = mrsi_pass_anew(&g->pass, e);
    for (uint32_t i = 0; s == MRS_OK && i < g->sides.n_wr; i++) {
        s = mrsi_writer_restart(&g->sides.wr[i], e);
    }
    g->pass.blank = false;
    return s;
}

/* One stage, and the preparation of the next. */
static enum mrs_status
one_stage(struct mrsi_group_run *g, struct mrs_err *e)
{
    MRS_ASSERT(g->stage < MRSI_GROUP_DONE);
    enum mrs_status s = MRS_OK;
    switch (g->stage) {
    case MRSI_GROUP_READ:
        s = mrsi_group_read(g, e);
        mrsi_rows_accept(g->en);
        g->log = mrsi_refused_position(g->en);
        break;
    case MRSI_GROUP_JUDGE_KEYS: s = mrsi_group_judge_keys(g, e); break;
    case MRSI_GROUP_JUDGE_IDS:
        s = mrsi_group_judge_ids(g, e);
        MRS_THEN(s, open_writers(g, e));
        begin_deciding(g);
        break;
    case MRSI_GROUP_DECIDE: s = mrsi_group_decide(g, e); break;
    case MRSI_GROUP_WRITE_INTO: s = mrsi_group_write_side(g, 1, e); break;
    case MRSI_GROUP_WRITE_NEW: s = mrsi_group_write_new(g, e); break;
    case MRSI_GROUP_WRITE_FROM: s = mrsi_group_write_side(g, 0, e); break;
    case MRSI_GROUP_DONE: break;
    }
    if (s != MRS_OK) {
        return s;
    }
    g->reading = false;
    g->stage++;
    if (g->stage == MRSI_GROUP_DONE && g->again) {
        g->stage = MRSI_GROUP_DECIDE;
        return begin_again(g, e);
    }
    return g->stage == MRSI_GROUP_DONE ? MRS_OK : mrsi_pass_between(&g->pass, e);
}

static enum mrs_status
all_stages(struct mrsi_group_run *g, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (mrsi_pass_is_resumed(&g->pass)) {
        bool bad = false;
        g->stage = (enum mrsi_group_stage)mrsi_state_number(g->pass.from, "stage", MRSI_GROUP_DONE - 1, &bad);
        s = g->stage >= MRSI_GROUP_DECIDE ? open_writers(g, e) : MRS_OK;
        s = bad ? mrsi_state_damaged("the step", e) : s == MRS_OK ? mrsi_group_from_mark(g, e) : s;
    }
    while (s == MRS_OK && g->stage != MRSI_GROUP_DONE) {
        s = one_stage(g, e);
    }
    return s;
}

enum mrs_status
mrsi_group_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    const struct mrs_step *st = &en->plan->steps[step];
    struct mrsi_group_run g = {.en = en, .step = step, .st = st, .ops = st->type->group, .side = 1};
    mrsi_sorter_init(&g.members, en, en->memory / 3);
    mrsi_sorter_init(&g.bars, en, en->memory / 32);
    mrsi_file_array_init(&g.rejected, en, sizeof(struct mrsi_rejected), en->memory / 32);
    g.members.kept = g.bars.kept = true;
    mrsi_group_forget_ids(&g);
    mrsi_group_decided(&g);
    mrsi_fates_init(&g.from, en);
    mrsi_fates_init(&g.there, en);
    g.pass = (struct mrsi_pass){.en = en, .kind = "group", .save = mrsi_group_mark, .arg = &g};
    mrsi_ckpt_savepoint_for(&g.pass);
    enum mrs_status s = mrsi_step_outputs_init(&g.sides, en, step, e);
    g.sides.pass = &g.pass;
    MRS_THEN(s, all_stages(&g, e));
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
    }
    struct mrsi_sorter *all[] = {&g.members, &g.ids, &g.bars, &g.made, &g.gains, &g.refs};
    mrsi_file_array_clear(&g.rejected);
    for (int i = 0; i < 6; i++) {
        mrsi_sorter_clear(all[i]);
    }
    mrsi_fates_clear(&g.from);
    mrsi_fates_clear(&g.there);
    return mrsi_step_outputs_end(&g.sides, s, e);
}
