/* fold.c - a folding step from its first pass to its last; the idea is in fold.h. */
#include "fold.h"

static enum mrs_status
one_pass(struct mrsi_fold *f, struct mrsi_refused_mark mark, struct mrs_err *e)
{
    enum mrsi_ids_phase phase = f->sides.ids.phase;
    mrsi_refused_rewind(f->en, mark);
    mrsi_rows_begin(f->en);
    mrsi_sorter_clear(&f->late);
    mrsi_sorter_init(&f->late, f->en, f->en->memory / 16);
    if (phase != MRSI_IDS_HOPE) {
        mrsi_fates_forget_used(&f->fates);
    }
    enum mrs_status s = mrsi_sides_there(&f->sides, e);
    if (s == MRS_OK && phase != MRSI_IDS_RESOLVE) {
        s = mrsi_sides_copy(&f->sides, phase == MRSI_IDS_VERDICT, e);
    }
    return s == MRS_OK ? mrsi_fold_write(f, e) : s;
}

static enum mrs_status
all_passes(struct mrsi_fold *f, struct mrs_err *e)
{
    struct mrsi_refused_mark mark = mrsi_refused_mark(f->en);
    bool clash = false;
    enum mrs_status s = one_pass(f, mark, e);
    if (s == MRS_OK) {
        s = mrsi_ids_look(&f->sides.ids, &clash, e);
    }
    if (s != MRS_OK || !clash) {
        return s;
    }
    if (f->gather.on) { /* documents that clash are refused with all that they were made of */
        mrsi_refused_rewind(f->en, mark);
        s = mrsi_fold_read_again(f, e);
    }
    s = s == MRS_OK ? one_pass(f, mark, e) : s;
    if (s == MRS_OK) {
        s = mrsi_ids_judge(&f->sides.ids, e);
    }
    return s == MRS_OK ? one_pass(f, mark, e) : s;
}

enum mrs_status
mrsi_fold_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    const struct mrs_step *st = &en->plan->steps[step];
    struct mrsi_fold f = {.en = en, .step = step, .st = st, .ops = st->type->fold};
    mrs_buf_init(&f.early, en->mem, SIZE_MAX);
    mrs_buf_init(&f.cuts, en->mem, SIZE_MAX);
    mrs_buf_init(&f.cut_at, en->mem, SIZE_MAX);
    mrs_buf_init(&f.top, en->mem, SIZE_MAX);
    mrsi_sorter_init(&f.late, en, en->memory / 16);
    mrsi_tape_init(&f.serials, en, sizeof(uint64_t), en->memory / 32);
    mrsi_fates_init(&f.fates, en);
    enum mrs_status s = mrsi_sides_init(&f.sides, en, step, e);
    s = s == MRS_OK ? mrsi_fold_read(&f, e) : s;
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
        s = mrsi_sides_open(&f.sides, 1, e);
    }
    s = s == MRS_OK ? all_passes(&f, e) : s;
    s = s == MRS_OK ? mrsi_fold_settle(&f, e) : s;
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
    }
    mrsi_fold_gather_clear(&f);
    mrsi_fold_route_clear(&f);
    mrsi_sorter_clear(&f.late);
    mrsi_tape_clear(&f.serials);
    mrsi_fates_clear(&f.fates);
    return mrsi_sides_end(&f.sides, s, e);
}
