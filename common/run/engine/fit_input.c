/* SPDX-License-Identifier: Apache-2.0 */
/* fit_input.c - the collections of an input, and the expansion of a plan with stars. */
#include "run_engine.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/measurements.h"
#include <stdio.h>

struct fit_documents {
    struct mrs_mem *mem;
    struct mrs_input *in;
    const int *cancel;
};

struct fit_rows {
    struct mrs_measurements *m; /* NULL: documents are used unchanged */
    enum mrs_status (*take)(void *to, struct mrs_view doc);
    void *to;
};

enum mrs_status
mrs_input_catalog(struct mrs_input *in, struct mrs_catalog *cat, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(in); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(in, i);
        if (ns->kind == MRS_INPUT_DATA) {
            s = mrs_catalog_add(cat, ns->db, ns->coll, ns->metadata, e);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_excluded(in); i++) {
        s = mrs_catalog_leave_out(cat, mrs_input_excluded_at(in, i), e);
    }
    return s;
}

uint32_t
mrsi_input_find(const struct mrs_input *in, const char *ns)
{
    for (uint32_t i = 0; i < mrs_input_count(in); i++) {
        const struct mrs_input_ns *at = mrs_input_at(in, i);
        if (at->kind == MRS_INPUT_DATA && strcmp(at->ns, ns) == 0) {
            return i;
        }
    }
    return MRSI_NONE;
}

/* For a time series: the entry with its buckets, and the decoder of measurements. *i MRSI_NONE: none. */
static enum mrs_status
find_series(struct fit_documents *x, uint32_t *i, struct mrs_measurements **m, struct mrs_err *e)
{
    const struct mrs_input_ns *in = mrs_input_at(x->in, *i);
    char ns[2 * MRS_NS_MAX + sizeof "." MRS_BUCKETS];
    struct mrs_series of;
    if (!mrs_series_has_buckets(in->metadata, &of)) {
        return MRS_OK;
    }
    if (!in->data_path) {
        snprintf(ns, sizeof ns, "%.255s." MRS_BUCKETS "%.255s", in->db, in->coll);
        *i = mrsi_input_find(x->in, ns);
    }
    return mrs_measurements_new(x->mem, &of, m, e);
}

/* Passes on the document, or all measurements of a bucket; damage is skipped, since the run reports it. */
static enum mrs_status
put_rows(const struct fit_rows *g, struct mrs_view doc)
{
    struct mrs_view row;
    if (mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, NULL) != MRS_OK) {
        return MRS_OK;
    }
    if (!g->m) {
        return g->take(g->to, doc);
    }
    enum mrs_status s = MRS_OK, read = mrs_measurements_begin(g->m, doc, NULL);
    while (s == MRS_OK && read == MRS_OK && (read = mrs_measurements_next(g->m, &row, NULL)) == MRS_OK) {
        s = g->take(g->to, row);
    }
    return read == MRS_DEAD ? read : s;
}

/* Reads each document of a collection of the input. */
static enum mrs_status
documents(void *arg, const char *ns, enum mrs_status (*take)(void *to, struct mrs_view doc), void *to,
          struct mrs_err *e)
{
    struct fit_documents *x = arg;
    struct mrs_reader *reader = NULL;
    struct mrs_block b;
    struct fit_rows g = {NULL, take, to};
    uint32_t i = mrsi_input_find(x->in, ns);
    enum mrs_status s = i == MRSI_NONE ? MRS_OK : find_series(x, &i, &g.m, e);
    if (s != MRS_OK || i == MRSI_NONE || !mrs_input_at(x->in, i)->data_path) {
        mrs_measurements_free(g.m);
        return s;
    }
    mrs_block_init(&b, x->mem);
    s = mrs_reader_open(x->in, i, MRSI_BLOCK, &reader, e);
    while (s == MRS_OK) {
        bool cancelled = x->cancel && __atomic_load_n(x->cancel, __ATOMIC_RELAXED);
        s = cancelled ? mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted") : mrs_reader_next(reader, &b, e);
        for (size_t at = 0; s == MRS_OK && at < b.n;) {
            struct mrs_view doc = {b.p + at, mrs_le32(b.p + at)};
            s = put_rows(&g, doc);
            at += doc.n;
        }
    }
    mrs_measurements_free(g.m);
    mrs_reader_close(reader);
    mrs_block_clear(&b);
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
mrs_plan_fit_input(struct mrs_plan *plan, struct mrs_input *in, const int *cancel, struct mrs_err *e)
{
    struct mrs_catalog *cat = NULL;
    struct fit_documents from = {plan->mem, in, cancel};
    const struct mrs_fit_documents docs = {documents, &from};
    if (!plan->stars || plan->fitted) {
        return MRS_OK;
    }
    enum mrs_status s = mrs_catalog_new(plan->mem, &cat, e);
    MRS_THEN(s, mrs_input_catalog(in, cat, e));
    MRS_THEN(s, mrs_plan_fit(plan, cat, &docs, e));
    mrs_catalog_free(cat);
    return s;
}
