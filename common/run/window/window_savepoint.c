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
    s = mrsi_mapped_mem_save(&r->place, "place", b, files, e);
    return s == MRS_OK ? mrsi_file_array_save(&r->given, "given", b, files, e) : s;
}

/* ---- tables lie in files, and a file may have come to harm ---- */
static bool
is_doc_at(const struct mrsi_window_run *r, uint64_t at)
{
    uint64_t left = at < r->given.n ? r->given.n - at : 0;
    return left >= MRS_DOC_MIN && mrs_le32(r->given.p + at) <= left &&
           mrsi_savepoint_is_doc(r->given.p + at, mrs_le32(r->given.p + at));
}

/* Whether something that can be read was given for each member of a group. */
static bool
all_given(const struct mrsi_window_run *r)
{
    uint64_t last = MRSI_WINDOW_ALONE;
    bool good = true;
    for (uint64_t i = 0; good && i < r->bits.n; i++) {
        uint64_t place = ((const uint64_t *)r->place.p)[i], alike;
        if (r->bits.p[i] != MRSI_WINDOW_IN) {
            continue;
        }
        good = place > 0 && place <= r->given.n && r->given.n - (place - 1) > sizeof alike &&
               is_doc_at(r, place - 1 + sizeof alike);
        if (good) {
            memcpy(&alike, r->given.p + place - 1, sizeof alike);
            good = alike == MRSI_WINDOW_ALONE || alike == last || is_doc_at(r, alike);
            last = alike;
        }
    }
    return good;
}

enum mrs_status
mrsi_window_check_given(const struct mrsi_window_run *r, struct mrs_err *e)
{
    return all_given(r) ? MRS_OK : mrsi_state_damaged("what was computed for documents", e);
}

static enum mrs_status
apply_given(struct mrsi_window_run *r, struct mrs_view saved, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_end(&r->bits, e);
    MRS_THEN(s, mrsi_mapped_mem_load(&r->place, r->en, mrsi_window_places(r), r->en->memory / 8, saved, "place", e));
    MRS_THEN(s, mrsi_file_array_load(&r->given, saved, "given", e));
    MRS_THEN(s, mrsi_file_array_end(&r->given, e));
    MRS_THEN(s, mrsi_window_check_given(r, e));
    return s == MRS_OK ? mrsi_window_open(r, e) : s;
}

enum mrs_status
mrsi_window_from_mark(struct mrsi_window_run *r, struct mrs_err *e)
{
    struct mrs_view saved = r->pass.from;
    bool bad = false;
    r->lists.on = false;
    r->resumed = true;
    r->stage = (enum mrsi_window_stage)mrsi_state_number(saved, "stage", MRSI_WINDOW_WRITE, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the step", e) : mrsi_file_array_load(&r->bits, saved, "bits", e);
    if (s == MRS_OK) {
        s = r->stage == MRSI_WINDOW_WRITE ? apply_given(r, saved, e)
                                          : mrsi_sorter_load(&r->members, saved, "members", e);
    }
    MRS_THEN(s, mrsi_pass_load(&r->pass, e));
    if (r->stage == MRSI_WINDOW_COMPUTE) {
        r->pass.from = mrs_empty_doc();
    }
    return s;
}
