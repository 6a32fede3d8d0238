/* SPDX-License-Identifier: Apache-2.0 */
/* finished.c - what manifests say of earlier runs: `run --resume` after the run was completed (a kill between the
 * rename to OUT and the end of the program, or a loop that retries), and an input that the same plan wrote.
 *
 * OUT counts as the output of this run only if its manifest has the id of this plan and the digests of this input,
 * which is read once for that. If anything differs, the run starts, and reports that OUT exists. */
#include "finished.h"
#include "mongoreshape/compare.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/run.h"
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MANIFEST_MOST = 256 << 20 };

/* The manifest of a dump, in it or next to it. */
static enum mrs_status
read_manifest(const struct mrsi_cli *cli, const char *dump, struct mrs_buf *path, char **text, size_t *n,
              struct mrs_err *e)
{
    static const char *const where[] = {"/mongoreshape.manifest.json", ".manifest.json"};
    size_t len = strlen(dump);
    while (len > 1 && dump[len - 1] == '/') {
        len--;
    }
    for (size_t i = 0; i < 2; i++) {
        mrs_buf_reset(path);
        mrs_buf_printf(path, "%.*s%s", (int)len, dump, where[i]);
        mrs_buf_byte(path, 0);
        if (path->bad) {
            return mrs_buf_status(path, e);
        }
        if (access((const char *)path->p, F_OK) == 0) {
            return mrs_file_read(cli->line.mem, (const char *)path->p, MANIFEST_MOST, text, n, e);
        }
    }
    return MRS_END;
}

/* Reads the text of a manifest into bson. Is it one of this plan? */
static bool
is_of_plan(const struct mrsi_job *job, const char *text, size_t n, struct mrs_buf *bson)
{
    struct mrs_err own;
    char id[33];
    size_t used;
    uint32_t len = 0;
    mrs_err_clear(&own);
    mrs_plan_id_text(job->plan, id);
    if (mrs_ejson_read(text, n, MRS_EJSON_DATA, bson, &used, &own) != MRS_OK) {
        return false;
    }
    struct mrs_val plan = mrs_doc_get((struct mrs_view){bson->p, (uint32_t)bson->n}, "planId");
    const char *has = plan.type == MRS_STRING ? mrs_val_text(plan, &len) : "";
    return job->plan->id_known && len == 32 && memcmp(has, id, 32) == 0;
}

/* Is it a manifest of a complete run of this plan, with at most the allowed number of refused documents? *refused:
 * their number. */
static bool
is_complete(const struct mrsi_job *job, const char *text, size_t n, uint64_t *refused)
{
    struct mrs_buf bson;
    mrs_buf_init(&bson, job->cli->line.mem, MANIFEST_MOST);
    bool good = is_of_plan(job, text, n, &bson);
    if (good) {
        struct mrs_view m = {bson.p, (uint32_t)bson.n};
        struct mrs_val count = mrs_doc_get(m, "refused"), now = mrs_doc_get(m, "now");
        good = count.type == MRS_INT64 && now.type == MRS_DATE && mrs_doc_get(m, "sample").type == MRS_MISSING;
        *refused = good ? mrs_le64(count.p) : 0;
        good = good && *refused <= job->cli->max_refused &&
               (!mrs_cli_given(&job->cli->line, "now") || (int64_t)mrs_le64(now.p) == job->cli->now_ms);
    }
    mrs_buf_clear(&bson);
    return good;
}

/* OK: *same: the manifest is of this input. */
static enum mrs_status
is_of_input(const struct mrsi_job *job, const struct mrs_manifest_text *m, bool *same, struct mrs_err *e)
{
    const struct mrsi_cli *cli = job->cli;
    struct mrs_cli_progress progress;
    struct mrs_diff diff = {0};
    struct mrs_diff_opts opts = {.memory = cli->memory,
                                 .jobs = (uint32_t)cli->jobs,
                                 .tmp = cli->tmp,
                                 .cancel = mrs_signals_flag(),
                                 .progress = mrsi_progress_report,
                                 .progress_arg = &progress};
    mrs_arena_init(&diff.arena, cli->line.mem);
    mrs_cli_progress_begin(&progress, cli->progress, cli->quiet || cli->json);
    enum mrs_status s = mrs_diff_manifest(cli->line.mem, m, job->in, &opts, &diff, e);
    mrs_cli_progress_end(&progress);
    *same = s == MRS_OK && diff.n_differ == 0;
    mrs_diff_clear(&diff);
    return s;
}

bool
mrsi_finished(const struct mrsi_job *job, int *status)
{
    MRS_ASSERT(job->plan);
    const struct mrsi_cli *cli = job->cli;
    struct mrs_manifest_text m = {.input = true};
    struct mrs_buf path;
    struct mrs_err own;
    int64_t now;
    char *text = NULL;
    uint64_t refused = 0;
    bool same = false;
    mrs_err_clear(&own);
    if (!cli->resume || cli->force || cli->amend || cli->residue || cli->write_residue || cli->sample ||
        mrs_stopped_now(cli->line.mem, cli->output, &now, &own) == MRS_OK || own.code != MRS_E_MISSING) {
        return false;
    }
    mrs_err_clear(&own);
    mrs_buf_init(&path, cli->line.mem, MRS_DOC_MAX);
    if (read_manifest(cli, cli->output, &path, &text, &m.n, &own) == MRS_OK && is_complete(job, text, m.n, &refused)) {
        m.text = text;
        m.name = (const char *)path.p;
        if (is_of_input(job, &m, &same, &own) != MRS_OK) {
            same = false; /* the run fails in the same way, and reports it */
        }
    }
    mrs_free(cli->line.mem, text);
    mrs_buf_clear(&path);
    *status = refused > 0;
    if (same && !cli->quiet) {
        mrs_say(stderr, "%s is complete: this plan made it from this input, nothing is left to do\n", cli->output);
    }
    return same;
}

/* A plan of several repeatable steps may still change its own result: the first may find what the last has made. */
static bool
is_repeatable(const struct mrs_plan *plan)
{
    bool good = plan->n_written <= 1;
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        good = good && plan->steps[i].desc.repeatable;
    }
    return good;
}

void
mrsi_warn_own_result(const struct mrsi_job *job)
{
    MRS_ASSERT(job->plan);
    const struct mrsi_cli *cli = job->cli;
    struct mrs_buf path, bson;
    struct mrs_err own;
    char *text = NULL;
    size_t n;
    mrs_err_clear(&own);
    if (is_repeatable(job->plan) || job->residue) {
        return;
    }
    mrs_buf_init(&path, cli->line.mem, MRS_DOC_MAX);
    mrs_buf_init(&bson, cli->line.mem, MANIFEST_MOST);
    if (read_manifest(cli, cli->input, &path, &text, &n, &own) == MRS_OK && is_of_plan(job, text, n, &bson)) {
        mrs_say(stderr, "warning: %s is what this plan wrote, by its manifest: a second run may change it again. Give "
                "the dump that was its input\n", cli->input);
    }
    mrs_free(cli->line.mem, text);
    mrs_buf_clear(&path);
    mrs_buf_clear(&bson);
}
