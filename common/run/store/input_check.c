/* SPDX-License-Identifier: Apache-2.0 */
/* input_check.c - validates a document of an input file; errors have its position. */
#include "store.h"

enum mrs_status
mrsi_bad_input(const struct mrs_input_ns *in, uint64_t ordinal, uint64_t off, enum mrs_status s, struct mrs_err *e)
{
    const char *file = in->data_path;
    char why[sizeof e->msg];
    if (!e) {
        return s;
    }
    memcpy(why, e->msg, sizeof why);
    snprintf(e->msg, sizeof e->msg, "%.300s%s%.200s", file ? file : "", file ? ": " : "", why);
    snprintf(e->ns, sizeof e->ns, "%.255s", in->kind == MRS_INPUT_DATA ? in->ns : in->rel_path);
    e->doc_no = ordinal + 1;
    e->byte_off = off + (e->byte_off == UINT64_MAX ? 0 : e->byte_off);
    return s;
}

enum mrs_status
mrsi_check_input(const struct mrs_input_ns *in, struct mrs_view doc, uint64_t ordinal, uint64_t off, struct mrs_err *e)
{
    enum mrs_status s = mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, e);
    return s == MRS_OK ? s : mrsi_bad_input(in, ordinal, off, s, e);
}
