/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_inspect.c - `mongoreshape inspect IN`: the contents of a dump, its relations, and future problems. */
#include "commands.h"
#include "job.h"
#include "mongoreshape/files.h"
#include "mongoreshape/inspect.h"
#include "mongoreshape/measurements.h"
#include "mongoreshape/scan.h"
#include "mongoreshape/version.h"
#include "progress.h"

enum { HINTS_MOST = 4 << 20 };

struct inspecting {
    struct mrsi_cli *cli;
    struct mrs_input *in;
    uint32_t *at; /* of a collection, in the input */
    uint32_t n;
    uint32_t *profile; /* of the profilers' records */
    uint32_t profiles;
    struct mrs_scanner *scanner;
    struct mrsi_inspection *found;
    char *hints, *workload;
    uint64_t bytes; /* of all files */
};

/* ---- the dump as a source ---- */
static enum mrs_status
describe(void *arg, uint32_t i, struct mrs_inspect_collection *out, struct mrs_err *e)
{
    MRS_ASSERT(i < ((struct inspecting *)arg)->n);
    const struct inspecting *x = arg;
    const struct mrs_input_ns *ns = mrs_input_at(x->in, x->at[i]);
    struct mrs_val type = mrs_doc_get(ns->metadata, "type"), options = mrs_doc_get(ns->metadata, "options");
    (void)e;
    struct mrs_series of;
    bool buckets = mrs_series_has_buckets(ns->metadata, &of); /* buckets are not documents of the collection */
    *out = (struct mrs_inspect_collection){
        .ns = ns->ns, .metadata = ns->metadata, .has_data = ns->data_path && !buckets};
    out->is_view = mrs_val_is_text(type, "view") ||
                   (options.type == MRS_DOCUMENT && mrs_doc_get(mrs_val_view(options), "viewOn").type == MRS_STRING);
    return MRS_OK;
}

static enum mrs_status
scan(void *arg, uint32_t i, const struct mrs_inspect_sink *to, double *share, struct mrs_err *e)
{
    const struct inspecting *x = arg;
    struct mrs_scan_doc doc = {.doc = to->doc, .arg = to->arg, .in_order = to->in_order, .checked = to->again};
    *share = 1;
    return mrs_scanner_scan(x->scanner, x->at[i], &doc, e);
}

static enum mrs_status
profile(void *arg, const struct mrs_inspect_sink *to, struct mrs_err *e)
{
    const struct inspecting *x = arg;
    struct mrs_scan_doc doc = {.doc = to->doc, .arg = to->arg, .in_order = true};
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < x->profiles; i++) {
        s = mrs_scanner_scan(x->scanner, x->profile[i], &doc, e);
    }
    return s;
}

static void
phase(void *arg, const char *what)
{
    struct inspecting *x = arg;
    mrs_scanner_phase(x->scanner, what, x->bytes * 2);
}

static enum mrs_status
list(struct inspecting *x, struct mrs_err *e)
{
    uint32_t n = mrs_input_count(x->in);
    x->at = mrs_alloc_array(x->cli->line.mem, n + 1, sizeof *x->at);
    x->profile = mrs_alloc_array(x->cli->line.mem, n + 1, sizeof *x->profile);
    if (!x->at || !x->profile) {
        return mrs_err_memory(e, n * sizeof *x->at);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct mrs_input_ns *ns = mrs_input_at(x->in, i);
        const char *coll = strchr(ns->ns, '.');
        if (ns->kind == MRS_INPUT_DATA && ns->data_path && coll && strcmp(coll, ".system.profile") == 0) {
            x->profile[x->profiles++] = i;
        } else if (ns->kind == MRS_INPUT_DATA && !strstr(ns->ns, ".system.")) {
            x->at[x->n++] = i;
            x->bytes += ns->file_bytes;
        }
    }
    return MRS_OK;
}

static enum mrs_status
read_file(struct inspecting *x, const char *path, char **text, struct mrs_err *e)
{
    size_t n;
    return path ? mrs_file_read(x->cli->line.mem, path, HINTS_MOST, text, &n, e) : MRS_OK;
}

static const char *
kind_of(enum mrs_format format)
{
    static const char *const names[] = {"", "directory", "bson", "archive", "tar", "zip", "container"};
    return names[format];
}

static enum mrs_status
inspect(struct inspecting *x, struct mrs_err *e)
{
    const struct mrsi_cli *cli = x->cli;
    struct mrs_cli_progress progress;
    struct mrs_scan_opts how = {.jobs = (uint32_t)cli->jobs,
                                .tmp = cli->tmp,
                                .cancel = mrs_signals_flag(),
                                .progress = mrsi_progress_report,
                                .progress_arg = &progress};
    struct mrs_inspect_opts opts = {.name = cli->line.operand,
                                    .tool = "mongoreshape " MRS_VERSION,
                                    .tmp = cli->tmp,
                                    .hints = x->hints,
                                    .workload = x->workload,
                                    .keep_going = cli->keep_going,
                                    .cancel = mrs_signals_flag()};
    mrs_cli_progress_begin(&progress, cli->progress, cli->quiet || cli->json);
    enum mrs_status s = mrs_scanner_open(cli->line.mem, x->in, &how, &x->scanner, e);
    if (s == MRS_OK) {
        struct mrs_inspect_source source = {.collections = x->n,
                                            .workers = mrs_scanner_workers(x->scanner),
                                            .describe = describe,
                                            .scan = scan,
                                            .profile = profile,
                                            .phase = phase,
                                            .arg = x};
        opts.kind = kind_of(mrs_input_format(x->in));
        s = mrs_inspect(cli->line.mem, &source, &opts, &x->found, e);
        MRS_THEN(s, mrs_input_unchanged(x->in, e));
    }
    mrs_cli_progress_end(&progress);
    return s;
}

static enum mrs_status
run(struct inspecting *x, const struct mrs_cli_inspected *to, struct mrs_err *e)
{
    const struct mrsi_cli *cli = x->cli;
    struct mrs_input_opts how;
    mrsi_pattern_opts(cli, &how);
    enum mrs_status s = read_file(x, cli->hints, &x->hints, e);
    MRS_THEN(s, read_file(x, cli->workload, &x->workload, e));
    MRS_THEN(s, mrsi_job_read(cli, cli->line.operand, &how, &x->in, e));
    MRS_THEN(s, list(x, e));
    MRS_THEN(s, inspect(x, e));
    MRS_THEN(s, mrs_cli_inspect_report(cli->line.mem, x->found, to, e));
    return s;
}

int
mrsi_cmd_inspect(struct mrs_cli *line)
{
    struct mrsi_cli *cli = (struct mrsi_cli *)line;
    struct inspecting x = {.cli = cli};
    struct mrs_err e;
    mrs_err_clear(&e);
    int wrong = mrsi_limits_misused(cli);
    if (wrong) {
        return wrong;
    }
    struct mrs_cli_inspected to = {
        .suggest = cli->suggest, .html = cli->html, .input = line->operand, .json = cli->json, .all = cli->all,
        .quiet = cli->quiet};
    int status = mrs_cli_inspect_check(line, &to, line->operand);
    if (status) {
        return status;
    }
    enum mrs_status s = run(&x, &to, &e);
    bool cut = s == MRS_OK && mrs_inspect_is_cut(x.found);
    mrs_inspect_free(x.found);
    mrs_scanner_close(x.scanner);
    mrs_input_close(x.in);
    mrs_free(line->mem, x.at);
    mrs_free(line->mem, x.profile);
    mrs_free(line->mem, x.hints);
    mrs_free(line->mem, x.workload);
    if (s == MRS_OK) {
        return cut; /* 1: the report lists what was not read */
    }
    mrs_cli_report(line, &e);
    return e.code == MRS_E_CANCEL && mrs_signals_number() ? 128 + mrs_signals_number() : mrs_code_exit(e.code);
}
