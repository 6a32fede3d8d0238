/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - a run as callers know it: the engine, and the residue of its inverse if it is requested. */
#include "run/engine/run_engine.h"
#include "run/residue/residue.h"

enum mrs_status
mrs_run(struct mrs_mem *mem, struct mrs_plan *plan, struct mrs_input *in, const struct mrs_run_opts *opts,
        struct mrs_report *report, struct mrs_err *e)
{
    struct mrsi_run_of of = {mem, plan, in, mrsi_residue_write, mrsi_residue_is_ours};
    if (plan->n_errors) { /* its steps are not those of the text */
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s has errors, which mrs_plan_load reported: it is not run",
                           plan->file);
    }
    enum mrs_status s = mrs_plan_fit_input(plan, in, opts->cancel, e);
    return s == MRS_OK ? mrsi_run(&of, opts, report, e) : s;
}
