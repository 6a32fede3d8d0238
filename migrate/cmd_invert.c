/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_invert.c - `mongoreshape invert PLAN [-i IN]`: the plan that undoes a plan, and what it cannot restore. */
#include "commands.h"
#include "text.h"

static enum mrs_status
invert(struct mrsi_job *job, struct mrs_buf *out)
{
    MRS_ASSERT(job->plan);
    struct mrs_inverse_plan inv;
    enum mrs_status s = mrs_plan_invert(job->plan, &inv, &job->err);
    if (s == MRS_OK && job->cli->json) {
        s = mrs_inverse_json(&inv, out, &job->err);
    } else if (s == MRS_OK) {
        mrs_inverse_yaml(&inv, out);
    }
    mrs_inverse_plan_clear(&inv);
    return s;
}

int
mrsi_cmd_invert(struct mrs_cli *line)
{
    return mrsi_text_command(line, invert);
}
