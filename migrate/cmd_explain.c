/* cmd_explain.c - `mongoreshape explain PLAN [-i IN]`: the plan in words, with an input also what
 * becomes of indexes and options. */
#include "commands.h"
#include "job.h"
#include "report.h"

static enum mrs_status
take_catalog(struct mrsi_job *job)
{
    struct mrs_catalog *cat = NULL;
    enum mrs_status s = mrs_catalog_new(job->cli->mem, &cat, &job->err);
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(job->in); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(job->in, i);
        if (ns->kind == MRS_INPUT_DATA) {
            s = mrs_catalog_add(cat, ns->db, ns->coll, ns->metadata, &job->err);
        }
    }
    s = s == MRS_OK ? mrs_plan_check(job->plan, cat, &job->err) : s;
    mrs_catalog_free(cat);
    return s;
}

static enum mrs_status
explain(struct mrsi_job *job)
{
    struct mrs_buf out;
    mrs_buf_init(&out, job->cli->mem, (size_t)1 << 30);
    enum mrs_status s = mrs_plan_explain(job->plan, job->cli->json, &out, &job->err);
    if (s == MRS_OK) {
        fwrite(out.p, 1, out.n, stdout);
    }
    mrs_buf_clear(&out);
    return s;
}

int
mrsi_cmd_explain(struct mrsi_cli *cli)
{
    struct mrsi_job job;
    enum mrs_status s = mrsi_job_open(&job, cli);
    bool told = s != MRS_OK && !cli->json;
    if (s == MRS_OK && job.in) {
        s = take_catalog(&job);
    }
    if (s == MRS_OK) {
        s = explain(&job);
    }
    if (s != MRS_OK && cli->json) {
        mrsi_report_json(stdout, &job, NULL, mrsi_job_exit(&job), true);
    } else if (s != MRS_OK && !told) {
        mrsi_job_tell(&job);
    }
    int status = s == MRS_OK ? 0 : mrsi_job_exit(&job);
    mrsi_job_close(&job);
    return status;
}
