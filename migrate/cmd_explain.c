/* cmd_explain.c - `mongoreshape explain PLAN [-i IN]`: the plan in words, with an input also what
 * becomes of indexes and options; with `--live` how it may run beside writers. */
#include "commands.h"
#include "job.h"
#include "mongoreshape/live.h"
#include "report.h"

static enum mrs_status
explain_live(struct mrsi_job *job, struct mrs_buf *out)
{
    struct mrs_live live;
    struct mrs_arena arena;
    mrs_arena_init(&arena, job->cli->line.mem);
    enum mrs_status s = mrs_live_judge(job->plan, &arena, &live, &job->err);
    s = s == MRS_OK ? mrs_live_explain(job->plan, &live, job->cli->json, out, &job->err) : s;
    mrs_arena_clear(&arena);
    return s;
}

static enum mrs_status
explain(struct mrsi_job *job)
{
    struct mrs_buf out;
    mrs_buf_init(&out, job->cli->line.mem, (size_t)1 << 30);
    enum mrs_status s = job->cli->live ? explain_live(job, &out)
                                       : mrs_plan_explain(job->plan, job->cli->json, &out, &job->err);
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
