/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.c - `mongoreshape check PLAN [-i IN]`: checks the plan alone, or by a whole run that writes nothing and
 * accepts any number of refusals. */
#include "commands.h"
#include "engine.h"
#include "report.h"

static void
report_good(const struct mrsi_job *job, int status)
{
    if (job->cli->json) {
        mrsi_report_json(stdout, job, NULL, status, true);
    } else if (!job->cli->quiet) {
        mrs_say(stderr, "%s: %u step%s, no mistake found; `-i IN` checks it against a dump\n",
                job->plan->file, job->plan->n_written, job->plan->n_written == 1 ? "" : "s");
    }
}

int
mrsi_cmd_check(struct mrs_cli *line)
{
    struct mrsi_cli *cli = (struct mrsi_cli *)line;
    struct mrsi_job job;
    int status = mrsi_limits_misused(cli);
    if (status) {
        return status;
    }
    if (mrsi_job_open(&job, cli) != MRS_OK) {
        status = mrsi_job_exit(&job);
        if (cli->json) {
            mrsi_report_json(stdout, &job, NULL, status, true);
        }
    } else if (cli->input) {
        status = mrsi_engine_run(&job, true, true, UINT64_MAX);
    } else {
        report_good(&job, status);
    }
    mrsi_job_close(&job);
    return status;
}
