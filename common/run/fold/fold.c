/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - runs a folding step from its first pass to its last; see fold.h.
 *
 * A step is a sequence of stages. Savepoints are taken inside stages and between them. Before a stage overwrites data
 * that a savepoint on disk refers to (the log of refused documents, the output of the optimistic phase), that savepoint
 * is replaced. */
#include "run/pass/drivers.h"
#include "fold.h"

/* ---- transitions between stages ---- */
/* Reads from once more, for records. */
static enum mrs_status
begin_reading(struct mrsi_fold *f, enum mrsi_fold_stage stage, struct mrsi_refused_position then, struct mrs_err *e)
{
    MRS_ASSERT(stage == MRSI_FOLD_READS || stage == MRSI_FOLD_READS_AGAIN);
    mrsi_fold_forget(f, then);
    f->stage = stage;
    f->pass.blank = true;
    return mrsi_pass_anew(&f->pass, e);
}

static enum mrs_status
begin_writing(struct mrsi_fold *f, enum mrsi_fold_stage stage, struct mrs_err *e)
{
    MRS_ASSERT(stage == MRSI_FOLD_OPTIMISTIC || stage == MRSI_FOLD_RESOLVES || stage == MRSI_FOLD_WRITES);
    bool again = stage != MRSI_FOLD_OPTIMISTIC;
    f->stage = stage;
    mrsi_sorter_clear(&f->late);
    mrsi_sorter_init(&f->late, f->en, f->en->memory / 16);
    f->late.kept = true;
    if (again) {
        mrsi_fates_clear_used(&f->fates);
    }
    f->next_part = f->next_group = 0;
    f->n_docs = 0;
    enum mrs_status s = mrsi_step_outputs_begin(&f->sides, f->read, again, e);
    return s == MRS_OK && !again ? mrsi_pass_between(&f->pass, e) : s;
}

/* All groups have been read. */
static enum mrs_status
begin_settling(struct mrsi_fold *f, struct mrs_err *e)
{
    MRS_ASSERT(f->stage == MRSI_FOLD_OPTIMISTIC || f->stage == MRSI_FOLD_WRITES);
    mrsi_fold_gather_clear(f);
    mrsi_fold_route_clear(f);
    f->stage = MRSI_FOLD_SETTLES;
    return mrsi_pass_between(&f->pass, e);
}

/* ---- stages ---- */
/* From has been read: remembers the counts, to which a repeated stage returns. */
static enum mrs_status
accept_reading(struct mrsi_fold *f, struct mrs_err *e)
{
    MRS_ASSERT(f->stage == MRSI_FOLD_GATHERS || f->stage == MRSI_FOLD_READS);
    mrsi_rows_accept(f->en);
    f->read = mrsi_refused_position(f->en);
    enum mrs_status s = mrsi_step_outputs_open(&f->sides, 1, e);
    f->pass.n_wr = f->sides.n_wr;
    return s == MRS_OK ? begin_writing(f, MRSI_FOLD_OPTIMISTIC, e) : s;
}

/* SKIP: groups cannot be gathered, so the step starts over with records; else s, the result of gathering. */
static enum mrs_status
restart_if_abandoned(struct mrsi_fold *f, enum mrs_status s, struct mrs_err *e)
{
    if (s != MRS_FAIL || !f->gather.abandoned || e->code != MRS_E_LIMIT) {
        return s;
    }
    mrs_err_clear(e);
    atomic_store(&f->en->done_bytes, f->begun.bytes);
    atomic_store(&f->en->done_docs, f->begun.docs);
    s = begin_reading(f, MRSI_FOLD_READS, f->begun.refused, e);
    return s == MRS_OK ? MRS_SKIP : s;
}

static enum mrs_status
read_from(struct mrsi_fold *f, struct mrs_err *e)
{
    enum mrs_status s = restart_if_abandoned(f, mrsi_fold_read(f, e), e);
    if (s == MRS_SKIP) {
        return MRS_OK;
    }
    if (s != MRS_OK || f->stage != MRSI_FOLD_READS_AGAIN) {
        return s == MRS_OK ? accept_reading(f, e) : s;
    }
    return begin_writing(f, MRSI_FOLD_RESOLVES, e); /* its notices were reported the first time */
}

/* No effect if the stopped run had done it. */
static enum mrs_status
write_groups(struct mrsi_fold *f, struct mrs_err *e)
{
    MRS_ASSERT(f->stage >= MRSI_FOLD_OPTIMISTIC && f->stage != MRSI_FOLD_READS_AGAIN && f->stage <= MRSI_FOLD_WRITES);
    if (mrsi_ids_is_between(&f->sides.ids)) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_step_outputs_existing(&f->sides, false, f->stage == MRSI_FOLD_WRITES, e);
    f->pass.from = mrs_empty_doc();
    return s == MRS_OK ? mrsi_fold_write(f, e) : s;
}

static enum mrs_status
find_duplicates(struct mrsi_fold *f, struct mrs_err *e)
{
    MRS_ASSERT(f->stage == MRSI_FOLD_OPTIMISTIC);
    bool clash = false;
    enum mrs_status s = mrsi_ids_find_duplicates(&f->sides.ids, &f->pass, &clash, e);
    if (s != MRS_OK || !clash) {
        return s == MRS_OK ? begin_settling(f, e) : s;
    }
    if (f->gather.on) { /* documents with a duplicate `_id` are refused with all their members */
        return begin_reading(f, MRSI_FOLD_READS_AGAIN, f->read, e);
    }
    return begin_writing(f, MRSI_FOLD_RESOLVES, e);
}

/* Begins to write by the verdicts. The numbers of groups may be missing only if the resumed state is wrong. */
static enum mrs_status
begin_applying(struct mrsi_fold *f, struct mrs_err *e)
{
    MRS_ASSERT(f->stage == MRSI_FOLD_RESOLVES);
    return mrsi_fold_is_numbered(f) ? begin_writing(f, MRSI_FOLD_WRITES, e) : mrsi_state_damaged("groups", e);
}

static enum mrs_status
one_stage(struct mrsi_fold *f, struct mrs_err *e)
{
    enum mrs_status s;
    switch (f->stage) {
    case MRSI_FOLD_GATHERS:
    case MRSI_FOLD_READS:
    case MRSI_FOLD_READS_AGAIN: return read_from(f, e);
    case MRSI_FOLD_OPTIMISTIC:
        s = write_groups(f, e);
        return s == MRS_OK ? find_duplicates(f, e) : s;
    case MRSI_FOLD_RESOLVES:
        s = write_groups(f, e);
        MRS_THEN(s, mrsi_ids_decide(&f->sides.ids, &f->pass, e));
        return s == MRS_OK ? begin_applying(f, e) : s;
    case MRSI_FOLD_WRITES:
        s = write_groups(f, e);
        return s == MRS_OK ? begin_settling(f, e) : s;
    case MRSI_FOLD_SETTLES:
        s = mrsi_fold_settle(f, e);
        f->stage = MRSI_FOLD_IS_DONE;
        return s;
    case MRSI_FOLD_IS_DONE: break;
    }
    return MRS_OK;
}

/* ---- entry point ---- */
static enum mrs_status
init(struct mrsi_fold *f, struct mrs_err *e)
{
    struct mrsi_engine *en = f->en;
    mrs_buf_init(&f->unrouted, en->mem, SIZE_MAX);
    mrs_buf_init(&f->cuts, en->mem, SIZE_MAX);
    mrs_buf_init(&f->cut_at, en->mem, SIZE_MAX);
    mrs_buf_init(&f->top, en->mem, SIZE_MAX);
    mrsi_sorter_init(&f->late, en, en->memory / 16);
    mrsi_file_array_init(&f->serials, en, sizeof(uint64_t), en->memory / 32);
    f->late.kept = f->serials.kept = true;
    mrsi_fates_init(&f->fates, en);
    mrsi_fold_gather_begin(f);
    f->stage = f->gather.on ? MRSI_FOLD_GATHERS : MRSI_FOLD_READS;
    f->begun.refused = mrsi_refused_position(en);
    f->begun.bytes = atomic_load(&en->done_bytes);
    f->begun.docs = atomic_load(&en->done_docs);
    enum mrs_status s = mrsi_step_outputs_init(&f->sides, en, f->step, e);
    f->pass = (struct mrsi_pass){.en = en, .kind = "step", .wr = f->sides.wr, .save = mrsi_fold_state_save, .arg = f};
    f->sides.pass = &f->pass;
    mrsi_ckpt_savepoint_for(&f->pass);
    return s;
}

enum mrs_status
mrsi_fold_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    const struct mrs_step *st = &en->plan->steps[step];
    struct mrsi_fold f = {.en = en, .step = step, .st = st, .ops = st->type->fold};
    enum mrs_status s = init(&f, e);
    if (s == MRS_OK && mrsi_pass_is_resumed(&f.pass)) {
        s = restart_if_abandoned(&f, mrsi_fold_state_load(&f, e), e);
        s = s == MRS_SKIP ? MRS_OK : s;
    }
    while (s == MRS_OK && f.stage != MRSI_FOLD_IS_DONE) {
        s = one_stage(&f, e);
    }
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
    }
    mrsi_fold_gather_clear(&f);
    mrsi_fold_route_clear(&f);
    mrsi_fold_heavy_clear(&f);
    mrsi_sorter_clear(&f.late);
    mrsi_file_array_clear(&f.serials);
    mrsi_fates_clear(&f.fates);
    return mrsi_step_outputs_end(&f.sides, s, e);
}
