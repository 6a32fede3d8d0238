/* cmd_invert.c - `mongoreshape invert PLAN [-i IN]`: the plan that undoes a plan, and what it cannot bring back. */
#include "commands.h"
#include "job.h"
#include "report.h"

static enum mrs_status
invert(struct mrsi_job *job)
{
    struct mrs_inverse_plan inv;
    struct mrs_buf out;
    mrs_buf_init(&out, job->cli->line.mem, (size_t)1 << 30);
    enum mrs_status s = mrs_plan_invert(job->plan, &inv, &job->err);
    if (s == MRS_OK && job->cli->json) {
        s = mrs_inverse_json(&inv, &out, &job->err);
    } else if (s == MRS_OK) {
        mrs_inverse_yaml(&inv, &out);
    }
    s = s == MRS_OK ? mrs_buf_status(&out, &job->err) : s;
    if (s == MRS_OK) {
        fwrite(out.p, 1, out.n, stdout);
    }
    mrs_inverse_plan_clear(&inv);
    mrs_buf_clear(&out);
    return s;
}

int
mrsi_cmd_invert(struct mrs_cli *line)
{
    struct mrsi_cli *cli = (struct mrsi_cli *)line;
    struct mrsi_job job;
    enum mrs_status s = mrsi_job_open(&job, cli);
    if (s == MRS_OK) {
        s = invert(&job);
        if (s != MRS_OK && !cli->json) {
            mrsi_job_tell(&job);
        }
    }
    int status = s == MRS_OK ? 0 : mrsi_job_exit(&job);
    if (s != MRS_OK && cli->json) {
        mrsi_report_json(stdout, &job, NULL, status, true);
    }
    mrsi_job_close(&job);
    return status;
}
