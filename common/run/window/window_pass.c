/* SPDX-License-Identifier: Apache-2.0 */
/* window_pass.c - a step of the family WINDOW from its first pass to its last; the idea is in window_pass.h. */
#include "run/pass/drivers.h"
#include "window_pass.h"

static void
window_init(struct mrsi_window_run *r, struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    memset(r, 0, sizeof *r);
    r->en = en;
    r->step = step;
    r->st = &en->plan->steps[step];
    r->ops = r->st->type->window;
    mrsi_file_array_init(&r->bits, en, 1, en->memory / 16);
    mrsi_window_lists_init(&r->lists, en, en->memory / 4);
    mrsi_sorter_init(&r->members, en, en->memory / 2);
    r->bits.kept = r->members.kept = true;
}

static void
window_clear(struct mrsi_window_run *r)
{
    mrsi_file_array_clear(&r->bits);
    mrsi_window_lists_clear(&r->lists);
    mrsi_sorter_clear(&r->members);
    mrsi_window_results_clear(&r->results);
}

enum mrs_status
mrsi_window_open(struct mrsi_window_run *r, struct mrs_err *e)
{
    MRS_ASSERT(!r->pass.n_wr);
    enum mrs_status s = mrsi_step_outputs_open(&r->sides, 0, e);
    r->pass.wr = r->sides.wr;
    r->pass.n_wr = r->sides.n_wr;
    return s;
}

static enum mrs_status
compute(struct mrsi_window_run *r, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_end(&r->bits, e);
    MRS_THEN(s, mrsi_window_compute(r, e));
    mrsi_window_lists_clear(&r->lists);
    mrsi_sorter_clear(&r->members);
    return s == MRS_OK ? mrsi_window_open(r, e) : s;
}

static enum mrs_status
one_stage(struct mrsi_window_run *r, struct mrs_err *e)
{
    MRS_ASSERT(r->st && r->ops);
    enum mrs_status s = MRS_OK;
    switch (r->stage) {
    case MRSI_WINDOW_READ: s = mrsi_window_read(r, e); break;
    case MRSI_WINDOW_COMPUTE: s = compute(r, e); break;
    case MRSI_WINDOW_WRITE: s = mrsi_window_write(r, e); break;
    case MRSI_WINDOW_DONE: break;
    }
    r->stage += s == MRS_OK;
    return s == MRS_OK && r->stage != MRSI_WINDOW_DONE ? mrsi_pass_between(&r->pass, e) : s;
}

static enum mrs_status
all_stages(struct mrsi_window_run *r, struct mrs_err *e)
{
    enum mrs_status s = mrsi_pass_is_resumed(&r->pass) ? mrsi_window_from_mark(r, e) : MRS_OK;
    while (s == MRS_OK && r->stage != MRSI_WINDOW_DONE) {
        s = one_stage(r, e);
    }
    return s;
}

enum mrs_status
mrsi_window_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    struct mrsi_window_run r;
    window_init(&r, en, step);
    r.pass = (struct mrsi_pass){.en = en, .kind = "window", .save = mrsi_window_mark, .arg = &r};
    mrsi_ckpt_savepoint_for(&r.pass);
    enum mrs_status s = mrsi_step_outputs_init(&r.sides, en, step, e);
    r.sides.pass = &r.pass;
    mrsi_rows_begin(en);
    MRS_THEN(s, all_stages(&r, e));
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
    }
    window_clear(&r);
    return mrsi_step_outputs_end(&r.sides, s, e);
}
