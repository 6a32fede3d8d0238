/* SPDX-License-Identifier: Apache-2.0 */
/* fit_input.c - the collections of an input, and a plan with stars fitted to them. */
#include "run_engine.h"
#include "mongoreshape/catalogue.h"

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

enum mrs_status
mrs_plan_fit_input(struct mrs_plan *plan, struct mrs_input *in, struct mrs_err *e)
{
    struct mrs_catalog *cat = NULL;
    if (!plan->stars || plan->fitted) {
        return MRS_OK;
    }
    enum mrs_status s = mrs_catalog_new(plan->mem, &cat, e);
    MRS_THEN(s, mrs_input_catalog(in, cat, e));
    MRS_THEN(s, mrs_plan_fit(plan, cat, e));
    mrs_catalog_free(cat);
    return s;
}
