/* SPDX-License-Identifier: Apache-2.0 */
/* fold_savepoint.c - saves and loads an unfinished folding step: its stage, its data on documents of `from`, and its
 * progress in the stage. */
#include "fold.h"

static bool
writes(enum mrsi_fold_stage stage)
{
    return stage == MRSI_FOLD_OPTIMISTIC || stage == MRSI_FOLD_RESOLVES || stage == MRSI_FOLD_WRITES;
}

enum mrs_status
mrsi_fold_state_save(void *fold, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_fold *f = fold;
    mrs_build_i64(b, "stage", f->stage);
    mrs_build_bool(b, "gathers", f->gather.on);
    mrsi_save_log("logged", f->read, b);
    mrs_build_i64(b, "nextPart", f->next_part);
    mrs_build_i64(b, "nextGroup", f->next_group);
    mrs_build_i64(b, "docsPut", (int64_t)f->n_docs);
    enum mrs_status s = mrsi_fates_save(&f->fates, "fates", b, files, e);
    MRS_THEN(s, mrsi_sorter_save(&f->late, "late", b, files, e));
    MRS_THEN(s, mrsi_file_array_save(&f->serials, "serials", b, files, e));
    if (s == MRS_OK && f->gather.on) {
        s = mrsi_fold_gather_save(f, b, files, e);
    } else if (s == MRS_OK && f->stage != MRSI_FOLD_SETTLES) {
        s = mrsi_fold_route_save(f, b, files, e);
    }
    MRS_THEN(s, mrsi_fold_heavy_save(f, b, files, e));
    return s == MRS_OK ? mrsi_step_outputs_save(&f->sides, b, files, e) : s;
}

/* ---- load ---- */
static enum mrs_status
apply_head(struct mrsi_fold *f, struct mrs_view saved, struct mrs_err *e)
{
    bool bad = false, could = f->gather.on;
    struct mrs_val gathers = mrs_doc_get(saved, "gathers");
    f->stage = (enum mrsi_fold_stage)mrsi_state_number(saved, "stage", MRSI_FOLD_SETTLES, &bad);
    f->read = mrsi_load_log(saved, "logged", &bad);
    f->next_part = (uint32_t)mrsi_state_number(saved, "nextPart", UINT32_MAX, &bad);
    f->next_group = (uint32_t)mrsi_state_number(saved, "nextGroup", UINT32_MAX, &bad);
    f->n_docs = mrsi_state_number(saved, "docsPut", INT64_MAX, &bad);
    f->gather.on = gathers.type == MRS_BOOL && *gathers.p;
    bad = bad || gathers.type != MRS_BOOL || (f->gather.on && !could);
    bad = bad || (f->stage == MRSI_FOLD_GATHERS && !f->gather.on);
    bad = bad || (f->gather.on && f->stage != MRSI_FOLD_GATHERS && f->stage != MRSI_FOLD_OPTIMISTIC);
    return bad ? mrsi_state_damaged("the step", e) : MRS_OK;
}

/* The writers, open except for their files; that of from only inside the last pass. */
static enum mrs_status
open_sides(struct mrsi_fold *f, struct mrs_view saved, struct mrs_err *e)
{
    bool reads = f->stage == MRSI_FOLD_GATHERS || f->stage == MRSI_FOLD_READS;
    bool from = f->stage == MRSI_FOLD_SETTLES && mrs_doc_get(saved, "scan").type != MRS_MISSING;
    enum mrs_status s = reads ? MRS_OK : mrsi_step_outputs_open(&f->sides, 1, e);
    s = s == MRS_OK && from ? mrsi_step_outputs_open(&f->sides, 0, e) : s;
    f->pass.n_wr = f->sides.n_wr;
    return s;
}

static enum mrs_status
apply_groups(struct mrsi_fold *f, struct mrs_view saved, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (f->gather.on) {
        s = mrsi_fold_gather_load(f, saved, e);
    } else if (f->stage != MRSI_FOLD_SETTLES) {
        s = mrsi_fold_route_load(f, saved, !writes(f->stage), e);
    }
    if (s != MRS_OK || !writes(f->stage)) {
        return s;
    }
    bool bad = f->gather.on ? f->next_group > f->gather.groups.n_groups : f->next_part > f->spill.n_part;
    bad = bad || (f->stage == MRSI_FOLD_WRITES && !mrsi_fold_is_numbered(f));
    if (bad) {
        return mrsi_state_damaged("groups", e);
    }
    return f->gather.on ? MRS_OK : mrsi_fold_heavy_load(f, saved, e);
}

#define IN(phase) (1u << (phase))

/* Phases of the `_id` check in each stage. */
static bool
fits(const struct mrsi_fold *f)
{
    static const unsigned phases[] = {
        [MRSI_FOLD_GATHERS] = IN(MRSI_IDS_OPTIMISTIC),
        [MRSI_FOLD_READS] = IN(MRSI_IDS_OPTIMISTIC),
        [MRSI_FOLD_READS_AGAIN] = IN(MRSI_IDS_COLLECT),
        [MRSI_FOLD_OPTIMISTIC] = IN(MRSI_IDS_OPTIMISTIC) | IN(MRSI_IDS_FIND_DUPLICATES),
        [MRSI_FOLD_RESOLVES] = IN(MRSI_IDS_COLLECT) | IN(MRSI_IDS_DECIDE),
        [MRSI_FOLD_WRITES] = IN(MRSI_IDS_APPLY),
        [MRSI_FOLD_SETTLES] = IN(MRSI_IDS_COLLECT) | IN(MRSI_IDS_APPLY), /* without duplicates; after them */
    };
    return phases[f->stage] & IN(f->sides.ids.phase);
}

enum mrs_status
mrsi_fold_state_load(struct mrsi_fold *f, struct mrs_err *e)
{
    struct mrs_view saved = f->pass.from;
    enum mrs_status s = apply_head(f, saved, e);
    MRS_THEN(s, open_sides(f, saved, e));
    MRS_THEN(s, mrsi_pass_load(&f->pass, e));
    MRS_THEN(s, mrsi_step_outputs_load(&f->sides, saved, e));
    s = s == MRS_OK && !fits(f) ? mrsi_state_damaged("the step", e) : s;
    MRS_THEN(s, mrsi_fates_load(&f->fates, saved, "fates", e));
    MRS_THEN(s, mrsi_sorter_load(&f->late, saved, "late", e));
    MRS_THEN(s, mrsi_file_array_load(&f->serials, saved, "serials", e));
    if (f->stage == MRSI_FOLD_SETTLES && mrs_doc_get(saved, "scan").type == MRS_MISSING) {
        f->pass.from = mrs_empty_doc(); /* the last pass begins */
    }
    return s == MRS_OK ? apply_groups(f, saved, e) : s;
}
