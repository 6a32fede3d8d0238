/* SPDX-License-Identifier: Apache-2.0 */
/* window_savepoint.c - a step of the family WINDOW in words, and going on from there: the tables that the stage
 * needs. */
#include "window_pass.h"

enum mrs_status
mrsi_window_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct mrsi_window_run *r = arg;
    mrs_build_i64(b, "stage", r->stage);
    enum mrs_status s = mrsi_file_array_save(&r->bits, "bits", b, files, e);
    if (s != MRS_OK || r->stage != MRSI_WINDOW_WRITE) {
        MRS_THEN(s, mrsi_window_to_sorter(r, e));
        return s == MRS_OK ? mrsi_sorter_save(&r->members, "members", b, files, e) : s;
    }
    return mrsi_window_results_save(&r->results, b, files, e);
}

static enum mrs_status
load_results(struct mrsi_window_run *r, struct mrs_view saved, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_end(&r->bits, e);
    MRS_THEN(s, mrsi_window_results_init(&r->results, r->en, r->bits.n, 0, e));
    MRS_THEN(s, mrsi_window_results_load(&r->results, saved, e));
    return s == MRS_OK ? mrsi_window_open(r, e) : s;
}

enum mrs_status
mrsi_window_from_mark(struct mrsi_window_run *r, struct mrs_err *e)
{
    struct mrs_view saved = r->pass.from;
    bool bad = false;
    r->lists.on = false;
    r->stage = (enum mrsi_window_stage)mrsi_state_number(saved, "stage", MRSI_WINDOW_WRITE, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the step", e) : mrsi_file_array_load(&r->bits, saved, "bits", e);
    if (s == MRS_OK) {
        s = r->stage == MRSI_WINDOW_WRITE ? load_results(r, saved, e)
                                          : mrsi_sorter_load(&r->members, saved, "members", e);
    }
    MRS_THEN(s, mrsi_pass_load(&r->pass, e));
    if (r->stage == MRSI_WINDOW_COMPUTE) {
        r->pass.from = mrs_empty_doc();
    }
    return s;
}
