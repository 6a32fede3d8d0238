/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - calls mrs_run and reports the result.
 *
 * The summary goes to standard error, so that `-o -` stays clean; --json goes to standard output, or to standard error
 * if documents go to standard output. */
#include "engine.h"
#include "finished.h"
#include "progress.h"
#include "report.h"
#include "sample.h"
#include "mongoreshape/catalogue.h"


static bool
to_stdout(const struct mrsi_cli *cli)
{
    return cli->output && strcmp(cli->output, "-") == 0;
}

static void
settings(const struct mrsi_job *job, const struct mrs_run_opts *o)
{
    char id[33];
    mrs_plan_id_text(job->plan, id);
    mrs_say(stderr, "plan %s, %u step%s, id %s\n", job->plan->file, job->plan->n_written,
            job->plan->n_written == 1 ? "" : "s", job->plan->id_known ? id : "not known");
    mrs_say(stderr, "input %s, %u namespace%s\n", o->input, mrs_input_count(job->in),
            mrs_input_count(job->in) == 1 ? "" : "s");
}

/* Prints the command that resumes a stopped run. After the word `--` nothing is an option. */
static void
print_resume_command(const struct mrsi_cli *cli)
{
    bool last = true;
    for (char **at = cli->argv; *at; at++) {
        last = last && strcmp(*at, "--") != 0;
    }
    struct mrs_buf line;
    mrs_buf_init(&line, cli->line.mem, SIZE_MAX);
    for (char **at = cli->argv; *at; at++) {
        mrs_buf_word(&line, *at);
        mrs_buf_printf(&line, at == cli->argv + 1 && !last && !cli->resume ? " --resume " : " ");
    }
    mrs_buf_printf(&line, last && !cli->resume ? "--resume" : "");
    if (line.bad) {
        fputs("resume with: the same command with --resume\n", stderr);
    } else {
        fprintf(stderr, "resume with:\n  %.*s\n", (int)line.n, (const char *)line.p);
    }
    mrs_buf_clear(&line);
}

static void
print_result(struct mrsi_job *job, const struct mrs_report *r, int status, bool dry)
{
    struct mrsi_cli *cli = job->cli;
    if (cli->json) {
        if (!mrsi_report_json(to_stdout(cli) ? stderr : stdout, job, r, status, dry)) {
            fputs("mongoreshape: no memory for the report\n", stderr);
        }
        return;
    }
    if (job->err.code) {
        mrsi_job_report(job);
    }
    bool complete = job->err.code == MRS_E_NONE || job->err.code == MRS_E_TOO_MANY;
    if (complete && !cli->quiet) {
        mrsi_report_text(stderr, job, r, dry);
        if (cli->sample && r->published) {
            mrsi_sample_show(job);
        }
    } else if (!complete && !dry) {
        fputs("output not written\n", stderr);
    }
    if (r->stopped) {
        print_resume_command(cli);
    }
}

/* Does OUT hold one collection and nothing else? */
static bool
is_single(const struct mrsi_job *job)
{
    const struct mrsi_cli *cli = job->cli;
    if (!cli->output || cli->format != MRS_FORMAT_AUTO) {
        return cli->format == MRS_FORMAT_BSON;
    }
    if (strcmp(cli->output, "-") == 0) {
        return cli->ns || mrs_input_format(job->in) == MRS_FORMAT_BSON;
    }
    static const char *const ends[] = {".bson", ".bson.gz", ".bson.zst"};
    size_t n = strlen(cli->output);
    bool found = false;
    for (size_t i = 0, k; i < sizeof ends / sizeof *ends; i++) {
        k = strlen(ends[i]);
        found = found || (n >= k && strcmp(cli->output + n - k, ends[i]) == 0);
    }
    return found;
}

/* The one namespace that it can hold: --ns, else the only one there is. */
static const char *
single_ns(const struct mrsi_job *job)
{
    MRS_ASSERT(job->in);
    const char *only = NULL;
    if (!is_single(job)) {
        return NULL;
    }
    for (uint32_t i = 0; i < mrs_input_count(job->in) && !job->cli->ns; i++) {
        const struct mrs_input_ns *ns = mrs_input_at(job->in, i);
        if (ns->kind == MRS_INPUT_DATA) {
            if (only) {
                return NULL;
            }
            only = ns->ns;
        }
    }
    return job->cli->ns ? job->cli->ns : only;
}

static uint32_t
checkpoint_ms(uint64_t seconds)
{
    return seconds > 1000000 ? 1000000000 : (uint32_t)seconds * 1000;
}

static struct mrs_run_opts
options(const struct mrsi_job *job, bool dry, bool notices, uint64_t max_refused)
{
    MRS_ASSERT(job->cli);
    /* a dry run reads everything, with any number of refusals */
    const struct mrsi_cli *cli = job->cli;
    return (struct mrs_run_opts){.input = cli->input,
                                 .output = cli->output,
                                 .in = mrsi_job_input_opts(cli),
                                 .memory = cli->memory,
                                 .jobs = (uint32_t)cli->jobs,
                                 .tmp = cli->tmp,
                                 .compress = cli->compress,
                                 .refused = cli->refused,
                                 .max_refused = dry ? UINT64_MAX : max_refused,
                                 .amend = cli->amend,
                                 .write_residue = cli->write_residue,
                                 .page = cli->html,
                                 .sample = cli->sample,
                                 .force = cli->force,
                                 .checkpoints = cli->output && !to_stdout(cli) && !dry,
                                 .resume = cli->resume,
                                 .checkpoint_ms = cli->checkpoint ? checkpoint_ms(cli->checkpoint) : 1,
                                 .dry_run = dry,
                                 .oplog_drop = cli->oplog != NULL,
                                 .single_ns = single_ns(job),
                                 .format = cli->format,
                                 .stream = cli->stream,
                                 .now_ms = cli->now_ms,
                                 .ids = notices ? 100 : 0,
                                 .notices = notices,
                                 .progress = mrsi_progress_watch,
                                 .cancel = mrs_signals_flag()};
}

/* Would mongorestore fail to load the result, as far as a check knows? */
static bool
fails_restore(const struct mrs_report *r)
{
    for (uint32_t i = 0; i < r->n_notice; i++) {
        if (r->notice[i].kind == MRS_NOTICE_CLASH || r->notice[i].kind == MRS_NOTICE_ARRAYS) {
            return true;
        }
    }
    for (uint32_t i = 0; i < r->n_notes; i++) {
        if (strncmp(r->notes[i], MRS_NOTE_RESTORE_FAILS, sizeof MRS_NOTE_RESTORE_FAILS - 1) == 0) {
            return true;
        }
    }
    for (uint32_t i = 0; i < r->n_twins; i++) {
        if (r->twins[i].stay) {
            return true;
        }
    }
    return false;
}

int
mrsi_engine_page(const struct mrsi_job *job, const struct mrs_report *r, int status, bool dry)
{
    struct mrs_err e;
    mrs_err_clear(&e);
    bool none = !job->cli->html || job->err.code == MRS_E_USAGE; /* its name may be that of a file which must stay */
    if (none || mrsi_report_page(job, r, status, dry, &e) == MRS_OK) {
        return status;
    }
    mrs_cli_report(&job->cli->line, &e);
    return status > 1 ? status : mrs_code_exit(e.code);
}

int
mrsi_engine_run(struct mrsi_job *job, bool dry, bool notices, uint64_t max_refused)
{
    MRS_ASSERT(job->in && job->plan);
    struct mrsi_cli *cli = job->cli;
    struct mrsi_watch progress = {.phases = &job->phases};
    struct mrs_report report;
    struct mrs_run_opts opts = options(job, dry, notices, max_refused);
    memset(&report, 0, sizeof report);
    opts.progress_arg = &progress;
    if (cli->verbose && !cli->json) {
        settings(job, &opts);
    }
    mrsi_warn_own_result(job);
    mrs_cli_progress_begin(&progress.line, cli->progress, cli->quiet || cli->json);
    enum mrs_status s =
        job->residue ? mrs_run_back(cli->line.mem, job->plan, job->in, &opts, job->residue, &report, &job->err)
                     : mrs_run(cli->line.mem, job->plan, job->in, &opts, &report, &job->err);
    mrsi_progress_over(&progress);
    if (report.resumed && !cli->quiet && !cli->json) {
        fputs("resumed the interrupted run\n", stderr);
    }
    if (report.anew && !cli->quiet && !cli->json) {
        fputs("nothing to resume: started over\n", stderr);
    }
    int status = s == MRS_OK ? report.refused > 0 || (notices && fails_restore(&report)) : mrsi_job_exit(job);
    if (s == MRS_OK && report.refused > max_refused) { /* of a dry run */
        status = mrs_code_exit(MRS_E_TOO_MANY);
    }
    print_result(job, &report, status, dry);
    status = mrsi_engine_page(job, &report, status, dry);
    mrs_report_clear(&report);
    return status;
}
