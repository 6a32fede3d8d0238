/* cmd_explain.c - `mongoreshape explain PLAN [-i IN]`: the plan in words, with an input also what
 * becomes of indexes and options. */
#include "commands.h"
#include "job.h"
#include "report.h"

static enum mrs_status
explain(struct mrsi_job *job)
{
    struct mrs_buf out;
    mrs_buf_init(&out, job->cli->line.mem, (size_t)1 << 30);
    enum mrs_status s = mrs_plan_explain(job->plan, job->cli->json, &out, &job->err);
    if (s == MRS_OK) {
        fwrite(out.p, 1, out.n, stdout);
    }
    mrs_buf_clear(&out);
    return s;
}

int
mrsi_cmd_explain(struct mrs_cli *line)
{
    struct mrsi_cli *cli = (struct mrsi_cli *)line;
    struct mrsi_job job;
    enum mrs_status s = mrsi_job_open(&job, cli);
    if (s == MRS_OK) {
        s = explain(&job);
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
