/* job.c - opening input and plan, and telling errors as compilers do: file:line:column: error:
 * what.
 *
 * The input comes first, because the plan's collections may be those of its only database. Without
 * an input the plan is read for itself. */
#include "job.h"
#include "signals.h"
#include "text.h"

#include <stdio.h>
#include <time.h>

static int64_t
clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct mrs_input_opts
mrsi_job_input_opts(const struct mrsi_cli *cli)
{
    return (struct mrs_input_opts){.include = cli->include.at,
                                   .n_include = cli->include.n,
                                   .exclude = cli->exclude.at,
                                   .n_exclude = cli->exclude.n,
                                   .ns = cli->ns,
                                   .tmp = cli->tmp};
}

static enum mrs_status
open_input(struct mrsi_job *job)
{
    struct mrsi_cli *cli = job->cli;
    struct mrs_input_opts opts = mrsi_job_input_opts(cli);
    return cli->input ? mrs_input_open(cli->mem, cli->input, &opts, &job->in, &job->err) : MRS_OK;
}

static enum mrs_status
load_plan(struct mrsi_job *job)
{
    struct mrsi_cli *cli = job->cli;
    char *text = NULL;
    size_t n = 0;
    struct mrs_plan_opts opts = {.file = cli->operand,
                                 .default_db = job->in ? mrs_input_only_db(job->in) : NULL,
                                 .any_db = !job->in,
                                 .now_ms = cli->now_ms};
    enum mrs_status s =
        mrs_file_read(cli->mem, cli->operand, (size_t)MRS_PLAN_BYTES_MAX + 1, &text, &n, &job->err);
    if (s == MRS_OK) {
        s = mrs_plan_load(cli->mem, text, n, &opts, &job->plan, &job->err);
    }
    mrs_free(cli->mem, text);
    return s;
}

/* Holds the plan against the collections of the input, so that what is wrong gets its line. */
static enum mrs_status
check_plan(struct mrsi_job *job)
{
    struct mrs_catalog *cat = NULL;
    if (!job->in) {
        return MRS_OK;
    }
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

static void
tell_plan(const struct mrsi_job *job, bool warnings)
{
    const struct mrs_plan *p = job->plan;
    bool colour = mrsi_text_colour(stderr);
    for (uint32_t i = 0; p && i < p->n_errors + p->n_warnings; i++) {
        const struct mrs_plan_error *e = &p->errors[i];
        if (e->warning && !warnings) {
            continue;
        }
        const char *on = !colour ? "" : e->warning ? "\x1b[35m" : "\x1b[31m";
        fprintf(stderr, "%s:%u:%u: %s%s:%s %s\n", p->file, e->line, e->col, on,
                e->warning ? "warning" : "error", colour ? "\x1b[0m" : "", e->msg);
    }
}

void
mrsi_job_tell(const struct mrsi_job *job)
{
    char text[1200];
    bool colour = mrsi_text_colour(stderr);
    if (job->err.code == MRS_E_PLAN && job->plan && job->plan->n_errors) {
        tell_plan(job, true);
        return;
    }
    fprintf(stderr, "mongoreshape: %s%s%s\n", colour ? "\x1b[31m" : "",
            mrs_err_text(&job->err, text, sizeof text), colour ? "\x1b[0m" : "");
}

enum mrs_status
mrsi_job_open(struct mrsi_job *job, struct mrsi_cli *cli)
{
    memset(job, 0, sizeof *job);
    mrs_err_clear(&job->err);
    job->cli = cli;
    if (!mrsi_cli_given(cli, "now")) {
        cli->now_ms = clock_now();
    }
    enum mrs_status s = open_input(job);
    s = s == MRS_OK ? load_plan(job) : s;
    s = s == MRS_OK ? check_plan(job) : s;
    if (s != MRS_OK && !cli->json) {
        mrsi_job_tell(job);
    } else if (s == MRS_OK && !cli->quiet && !cli->json) {
        tell_plan(job, true);
    }
    return s;
}

void
mrsi_job_close(struct mrsi_job *job)
{
    mrs_plan_free(job->plan);
    mrs_input_close(job->in);
    job->plan = NULL;
    job->in = NULL;
}

int
mrsi_job_exit(const struct mrsi_job *job)
{
    int number = mrsi_signals_number();
    return job->err.code == MRS_E_CANCEL && number ? 128 + number : mrs_code_exit(job->err.code);
}
