/* SPDX-License-Identifier: Apache-2.0 */
/* live_inspect.c - `mongoreshape-live inspect`: the data of a server, their relations, and future problems.
 *
 * The report is that of `mongoreshape inspect`; only the source of documents differs (survey.h). */
#include "live_commands.h"
#include "live_job.h"

#include "live/survey/survey.h"
#include "mongoreshape/version.h"

enum { FILE_MOST = 4 << 20 };

struct live_inspecting {
    struct live_call call;
    struct live_survey survey;
    struct mrsi_inspection *found;
    char *hints, *workload;
};

static int
misuse(const struct live_cli *cli)
{
    bool sample = mrs_cli_given(&cli->line, "sample");
    if (sample && cli->whole) {
        return mrs_cli_misuse(&cli->line, "--sample looks at some documents, --whole at all: give one of them");
    }
    if (sample && (cli->sample < 100 || cli->sample > LIVE_SAMPLE_MAX)) {
        return mrs_cli_misuse(&cli->line, "--sample must be 100 to %d", LIVE_SAMPLE_MAX);
    }
    if (cli->sleep_ms > 3600000) {
        return mrs_cli_misuse(&cli->line, "--sleep must be at most 3600000 (milliseconds)");
    }
    return 0;
}

static enum mrs_status
read_file(struct live_inspecting *k, const char *path, char **text)
{
    size_t n;
    return path ? mrs_file_read(k->call.job.mem, path, FILE_MOST, text, &n, &k->call.err) : MRS_OK;
}

/* The database of the URI is often only for authentication: `admin` has no user data. */
static enum mrs_status
open_survey(struct live_inspecting *k)
{
    struct live_call *c = &k->call;
    const struct live_cli *cli = c->cli;
    bool all = !*c->db || (!cli->db && strcmp(c->db, "admin") == 0);
    struct live_survey_opts how = {.db = all ? NULL : c->db,
                                   .like = cli->ns,
                                   .whole = cli->whole,
                                   .sample = mrs_cli_given(&cli->line, "sample") ? cli->sample : LIVE_SAMPLE,
                                   .tmp = cli->tmp,
                                   .limits = {.docs_per_s = cli->docs_per_s,
                                              .bytes_per_s = cli->bytes_per_s,
                                              .sleep_ms = (int64_t)cli->sleep_ms}};
    enum mrs_status s = live_link_open_read_only(c->job.mem, c->uri, &c->job.link, &c->err);
    if (s == MRS_OK) {
        live_link_mark(c->job.link, "mongoreshape inspect");
        s = live_survey_open(&c->job, &how, &k->survey, &c->err);
    }
    return s;
}

static enum mrs_status
inspect(struct live_inspecting *k)
{
    MRS_ASSERT(!k->found);
    struct live_call *c = &k->call;
    struct mrs_inspect_source source;
    struct mrs_inspect_opts opts = {.name = c->shown,
                                    .kind = "server",
                                    .tool = "mongoreshape-live " MRS_VERSION,
                                    .tmp = c->cli->tmp,
                                    .hints = k->hints,
                                    .workload = k->workload,
                                    .cancel = c->job.cancel};
    live_survey_source(&k->survey, &source);
    enum mrs_status s = mrs_inspect(c->job.mem, &source, &opts, &k->found, &c->err);
    mrs_cli_progress_end(&c->progress);
    return s;
}

static enum mrs_status
report(struct live_inspecting *k, const struct mrs_cli_inspected *to)
{
    struct live_call *c = &k->call;
    enum mrs_status s = mrs_cli_inspect_report(c->job.mem, k->found, to, &c->err);
    if (s == MRS_OK && to->suggest && !to->json && !mrs_file_is_stream(to->suggest) && mrs_inspect_steps(k->found)) {
        c->cli->line.operand = to->suggest;
        live_call_next(c, "apply", "");
    }
    if (s == MRS_OK && k->survey.uses_denied) {
        mrs_say(stderr, "%s: note: the user may not ask how often indexes are used (indexStats): unused ones are not "
                "named\n", c->cli->line.tool->name);
    }
    if (s == MRS_OK && k->survey.profile_denied) {
        mrs_say(stderr, "%s: note: the user may not read system.profile (find): reads and writes are not counted\n",
                c->cli->line.tool->name);
    }
    return s;
}

int
live_cmd_inspect(struct mrs_cli *line)
{
    struct live_cli *cli = (struct live_cli *)line;
    struct live_inspecting k = {.found = NULL};
    struct mrs_cli_inspected to = {
        .suggest = cli->suggest, .html = cli->html, .json = cli->json, .all = cli->all};
    int status = misuse(cli);
    status = status ? status : mrs_cli_inspect_check(line, &to, NULL);
    cli->json = false; /* its output is the inspection, not the report of a run */
    if (status || !live_call_begin(&k.call, cli, &status)) {
        return status;
    }
    enum mrs_status s = read_file(&k, cli->hints, &k.hints);
    MRS_THEN(s, read_file(&k, cli->workload, &k.workload));
    MRS_THEN(s, open_survey(&k));
    MRS_THEN(s, inspect(&k));
    MRS_THEN(s, report(&k, &to));
    mrs_inspect_free(k.found);
    live_survey_close(&k.survey);
    mrs_free(line->mem, k.hints);
    mrs_free(line->mem, k.workload);
    return live_call_end(&k.call, s, 0);
}
