/* SPDX-License-Identifier: Apache-2.0 */
/* fit_input.c - the collections of an input, and a plan with stars fitted to them. */
#include "run_engine.h"
#include "mongoreshape/catalogue.h"

struct fit_documents {
    struct mrs_mem *mem;
    struct mrs_input *in;
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

/* Each document of a collection of the input. */
static enum mrs_status
documents(void *arg, const char *ns, enum mrs_status (*take)(void *to, struct mrs_view doc), void *to,
          struct mrs_err *e)
{
    struct fit_documents *x = arg;
    struct mrs_reader *reader = NULL;
    struct mrs_block b;
    uint32_t i = 0;
    while (i < mrs_input_count(x->in) && strcmp(mrs_input_at(x->in, i)->ns, ns) != 0) {
        i++;
    }
    if (i == mrs_input_count(x->in) || !mrs_input_at(x->in, i)->data_path) {
        return MRS_OK;
    }
    mrs_block_init(&b, x->mem);
    enum mrs_status s = mrs_reader_open(x->in, i, MRSI_BLOCK, &reader, e);
    while (s == MRS_OK) {
        s = mrs_reader_next(reader, &b, e);
        for (size_t at = 0; s == MRS_OK && at < b.n;) {
            struct mrs_view doc = {b.p + at, mrs_le32(b.p + at)};
            bool whole = mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, NULL) == MRS_OK; /* else the run reports it */
            s = whole ? take(to, doc) : MRS_OK;
            at += doc.n;
        }
    }
    mrs_reader_close(reader);
    mrs_block_clear(&b);
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
mrs_plan_fit_input(struct mrs_plan *plan, struct mrs_input *in, struct mrs_err *e)
{
    struct mrs_catalog *cat = NULL;
    struct fit_documents from = {plan->mem, in};
    const struct mrs_fit_look look = {documents, &from};
    if (!plan->stars || plan->fitted) {
        return MRS_OK;
    }
    enum mrs_status s = mrs_catalog_new(plan->mem, &cat, e);
    MRS_THEN(s, mrs_input_catalog(in, cat, e));
    MRS_THEN(s, mrs_plan_fit(plan, cat, &look, e));
    mrs_catalog_free(cat);
    return s;
}
