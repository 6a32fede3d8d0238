/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - opens input and plan, and prints errors in the form of compilers: file:line:column: error: message.
 *
 * The input is opened first, because the plan's collections may be in its only database. Without an input the plan is
 * read alone. */
#include "job.h"
#include "mongoreshape/clock.h"
#include "mongoreshape/catalogue.h"

int
mrsi_limits_misused(const struct mrsi_cli *cli)
{
    if (cli->jobs > 1024 || (mrs_cli_given(&cli->line, "jobs") && cli->jobs == 0)) {
        return mrs_cli_misuse(&cli->line, "--jobs must be 1 to 1024");
    }
    if (mrs_cli_given(&cli->line, "memory") && cli->memory < 4096) {
        return mrs_cli_misuse(&cli->line, "--memory must be at least 64M (down to 4K for tests)");
    }
    return 0;
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

/* Files without a name of their own get the pattern's, if it is a name. */
void
mrsi_pattern_opts(const struct mrsi_cli *cli, struct mrs_input_opts *out)
{
    bool plain = cli->ns && !strpbrk(cli->ns, "*\\");
    *out = (struct mrs_input_opts){.include = cli->ns ? &cli->ns : NULL,
                                   .n_include = cli->ns != NULL,
                                   .unnamed = plain ? cli->ns : "input.documents",
                                   .tmp = cli->tmp};
}

/* ---- inputs that must be read completely before they are known ---- */
struct job_reading {
    struct mrs_cli_progress line;
    uint64_t done;
    const char *path;
};

static bool
is_due(void *arg, uint64_t bytes)
{
    struct job_reading *r = arg;
    char done[32], rate[32], text[256];
    r->done += bytes;
    if (mrs_cli_progress_due(&r->line, r->done)) {
        snprintf(text, sizeof text, "%s  %s/s  reading %.180s", mrs_text_size(r->done, done),
                 mrs_text_size((uint64_t)r->line.rate, rate), strcmp(r->path, "-") == 0 ? "standard input" : r->path);
        mrs_cli_progress_draw(&r->line, text);
    }
    return __atomic_load_n(mrs_signals_flag(), __ATOMIC_RELAXED) != 0;
}

static enum mrs_status
stop(void *arg, struct mrs_err *e)
{
    (void)arg;
    return mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted");
}

enum mrs_status
mrsi_job_read(const struct mrsi_cli *cli, const char *path, struct mrs_input_opts *opts, struct mrs_input **in,
              struct mrs_err *e)
{
    struct job_reading r = {.path = path};
    mrs_mem_set_budget(cli->line.mem, cli->memory                          ? cli->memory
                                      : mrs_cli_takes(&cli->line, "memory") ? mrs_memory_default()
                                                                            : UINT64_MAX);
    opts->pause = (struct mrs_pause){&r, is_due, stop};
    mrs_cli_progress_begin(&r.line, cli->progress, cli->quiet || cli->json);
    enum mrs_status s = mrs_input_open(cli->line.mem, path, opts, in, e);
    mrs_cli_progress_end(&r.line);
    return s;
}

static enum mrs_status
open_input(struct mrsi_job *job)
{
    struct mrsi_cli *cli = job->cli;
    struct mrs_input_opts opts = mrsi_job_input_opts(cli);
    return cli->input ? mrsi_job_read(cli, cli->input, &opts, &job->in, &job->err) : MRS_OK;
}

/* `$$NOW` of an inverse is that of the original run. */
static enum mrs_status
open_residue(struct mrsi_job *job)
{
    struct mrsi_cli *cli = job->cli;
    if (!cli->residue) {
        return MRS_OK;
    }
    enum mrs_status s = mrs_residue_open(cli->line.mem, cli->residue, &job->residue, &job->err);
    if (s == MRS_OK) {
        cli->now_ms = mrs_residue_now(job->residue);
    }
    return s;
}

/* `$$NOW` of a resumed run is that of the stopped run. */
static enum mrs_status
open_stopped(struct mrsi_job *job)
{
    struct mrsi_cli *cli = job->cli;
    struct mrs_err own;
    int64_t now;
    if (!cli->resume || job->residue) {
        return MRS_OK;
    }
    MRS_ASSERT(cli->output);
    mrs_err_clear(&own);
    enum mrs_status s = mrs_stopped_now(cli->line.mem, cli->output, &now, &own);
    if (s == MRS_OK && !mrs_cli_given(&cli->line, "now")) {
        cli->now_ms = now;
    }
    if (s != MRS_OK && own.code != MRS_E_MISSING) {
        job->err = own;
        return s;
    }
    return MRS_OK;
}

static enum mrs_status
load_plan(struct mrsi_job *job)
{
    struct mrsi_cli *cli = job->cli;
    char *text = NULL;
    size_t n = 0;
    struct mrs_plan_opts opts = {.file = cli->line.operand,
                                 .default_db = job->in ? mrs_input_only_db(job->in) : NULL,
                                 .any_db = !job->in,
                                 .now_ms = cli->now_ms};
    enum mrs_status s =
        mrs_file_read(cli->line.mem, cli->line.operand, (size_t)MRS_PLAN_BYTES_MAX + 1, &text, &n, &job->err);
    if (s == MRS_OK) {
        s = mrs_plan_load(cli->line.mem, text, n, &opts, &job->plan, &job->err);
        if (job->plan) {
            job->plan->notes_all = cli->verbose;
            job->plan->may_fit_none = job->residue != NULL;
        }
    }
    job->plan_text = text;
    return s;
}

/* Checks the plan against the collections of the input, so that errors have their line. */
static enum mrs_status
check_plan(struct mrsi_job *job)
{
    MRS_ASSERT(job->plan);
    struct mrs_catalog *cat = NULL;
    if (!job->in) {
        return MRS_OK;
    }
    enum mrs_status s = mrs_plan_fit_input(job->plan, job->in, &job->err);
    s = s == MRS_FAIL && job->plan->n_errors ? MRS_OK : s; /* reported with the other errors */
    MRS_THEN(s, mrs_catalog_new(job->cli->line.mem, &cat, &job->err));
    MRS_THEN(s, mrs_input_catalog(job->in, cat, &job->err));
    MRS_THEN(s, mrs_plan_check(job->plan, cat, &job->err));
    mrs_catalog_free(cat);
    return s;
}

static void
report_plan(const struct mrsi_job *job)
{
    const struct mrs_plan *p = job->plan;
    for (uint32_t i = 0; p && i < p->n_errors + p->n_warnings; i++) {
        const struct mrs_plan_error *e = &p->errors[i];
        mrs_cli_report_at(p->file, e->line, e->col, e->warning, e->msg);
    }
}

void
mrsi_job_report(const struct mrsi_job *job)
{
    if (job->err.code == MRS_E_PLAN && job->plan && job->plan->n_errors) {
        report_plan(job);
    } else {
        mrs_cli_report(&job->cli->line, &job->err);
    }
}

enum mrs_status
mrsi_job_open(struct mrsi_job *job, struct mrsi_cli *cli)
{
    memset(job, 0, sizeof *job);
    mrs_err_clear(&job->err);
    job->cli = cli;
    if (!mrs_cli_given(&cli->line, "now")) {
        cli->now_ms = mrs_clock_wall();
    }
    enum mrs_status s = open_input(job);
    MRS_THEN(s, open_residue(job));
    MRS_THEN(s, open_stopped(job));
    MRS_THEN(s, load_plan(job));
    MRS_THEN(s, check_plan(job));
    if (s != MRS_OK && !cli->json) {
        mrsi_job_report(job);
    } else if (s == MRS_OK && !cli->quiet && !cli->json) {
        report_plan(job);
    }
    return s;
}

void
mrsi_job_close(struct mrsi_job *job)
{
    mrs_residue_close(job->residue);
    mrs_plan_free(job->plan);
    mrs_input_close(job->in);
    mrs_free(job->cli->line.mem, job->plan_text);
    job->residue = NULL;
    job->plan = NULL;
    job->in = NULL;
    job->plan_text = NULL;
}

int
mrsi_job_exit(const struct mrsi_job *job)
{
    int number = mrs_signals_number();
    return job->err.code == MRS_E_CANCEL && number ? 128 + number : mrs_code_exit(job->err.code);
}
