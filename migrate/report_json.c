/* SPDX-License-Identifier: Apache-2.0 */
/* report_json.c - the summary as one JSON object, for programs: the same figures, always all of them, and the errors
 * with their places. */
#include "report.h"
#include "html/shapes.h"
#include "mongoreshape/inverse.h"

static void
plan_errors(struct mrs_cli_json *j, const struct mrs_plan *p)
{
    mrs_cli_json_open(j, "planErrors", MRS_ARRAY);
    for (uint32_t i = 0; p && i < p->n_errors + p->n_warnings; i++) {
        const struct mrs_plan_error *e = &p->errors[i];
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_text(j, "file", p->file);
        mrs_cli_json_count(j, "line", e->line);
        mrs_cli_json_count(j, "column", e->col);
        mrs_cli_json_text(j, "kind", e->warning ? "warning" : "error");
        mrs_cli_json_text(j, "message", e->msg);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

static void
account(struct mrs_cli_json *j, const struct mrsi_job *job, const struct mrs_report *r)
{
    mrs_cli_json_open(j, "account", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_account; i++) {
        const struct mrs_account *a = &r->account[i];
        const struct mrs_step *step = mrsi_report_step(job, a->step);
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_count(j, "step", a->step);
        mrs_cli_json_text(j, "name", step ? step->type->name : NULL);
        mrs_cli_json_text(j, "ns", a->ns);
        mrs_cli_json_count(j, "before", a->before);
        mrs_cli_json_count(j, "created", a->created);
        mrs_cli_json_count(j, "entered", a->entered);
        mrs_cli_json_count(j, "after", a->after);
        mrs_cli_json_count(j, "taken", a->taken);
        mrs_cli_json_count(j, "dropped", a->dropped);
        mrs_cli_json_count(j, "refused", a->refused);
        mrs_cli_json_count(j, "placed", a->placed);
        mrs_cli_json_count(j, "changed", a->changed);
        mrs_cli_json_count(j, "failed", a->failed);
        mrs_cli_json_count(j, "merged", a->merged);
        mrs_cli_json_count(j, "references", a->references);
        mrs_cli_json_count(j, "dangling", a->dangling);
        mrs_cli_json_count(j, "groups", a->groups);
        mrs_cli_json_count(j, "once", a->once);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

static void
written(struct mrs_cli_json *j, const struct mrs_report *r)
{
    mrs_cli_json_open(j, "written", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_written; i++) {
        const struct mrs_written *w = &r->written[i];
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_text(j, "ns", w->ns);
        mrs_cli_json_count(j, "documents", w->docs);
        mrs_cli_json_count(j, "bytes", w->bytes);
        mrs_cli_json_bool(j, "unchanged", w->copied);
        mrs_cli_json_bool(j, "emptyNow", w->empty_now);
        if (w->largest_id) {
            mrs_cli_json_count(j, "largest", w->largest);
            mrs_cli_json_text(j, "largestId", w->largest_id);
        }
        if (w->longest_id) {
            mrs_cli_json_count(j, "longest", w->longest);
            mrs_cli_json_text(j, "longestPath", w->longest_path);
            mrs_cli_json_text(j, "longestId", w->longest_id);
        }
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

static void
refusals(struct mrs_cli_json *j, const struct mrs_report *r)
{
    mrs_cli_json_open(j, "refusals", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_refusal; i++) {
        const struct mrs_refusal *k = &r->refusal[i];
        MRS_ASSERT(k->count >= k->ids.n);
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_count(j, "step", k->step);
        mrs_cli_json_text(j, "ns", k->ns);
        mrs_cli_json_text(j, "reason", k->reason);
        mrs_cli_json_text(j, "firstMore", *k->more ? k->more + 2 : NULL);
        mrs_cli_json_text(j, "place", *k->place ? k->place : NULL);
        mrs_cli_json_count(j, "documents", k->count);
        mrs_cli_json_text(j, "firstId", k->ids.n ? k->ids.at[0] : NULL);
        mrs_cli_json_texts(j, "ids", k->ids.at, k->ids.n);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

static void
unmet(struct mrs_cli_json *j, const struct mrs_report *r)
{
    mrs_cli_json_open(j, "unmetPaths", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_unmet; i++) {
        const struct mrs_unmet *x = &r->unmet[i];
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_count(j, "step", x->step);
        mrs_cli_json_text(j, "ns", x->ns);
        mrs_cli_json_text(j, "path", x->path);
        mrs_cli_json_text(j, "nearest", x->nearest);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

static void
patterns(struct mrs_cli_json *j, const struct mrs_report *r)
{
    mrs_cli_json_open(j, "patterns", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_patterns; i++) {
        const struct mrs_pattern_fields *x = &r->patterns[i];
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_count(j, "step", x->step);
        mrs_cli_json_text(j, "ns", x->ns);
        mrs_cli_json_text(j, "pattern", x->pattern);
        mrs_cli_json_texts(j, "fields", x->path, x->n);
        mrs_cli_json_bool(j, "more", x->more);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

/* `_id`s only in `check`. */
static void
notices(struct mrs_cli_json *j, const struct mrs_report *r)
{
    static const char *const words[MRS_NOTICE_KINDS] = {[MRS_NOTICE_ORPHAN] = "orphan",
                                                        [MRS_NOTICE_DANGLING] = "dangling",
                                                        [MRS_NOTICE_DISAGREES] = "disagrees",
                                                        [MRS_NOTICE_CUT] = "cut",
                                                        [MRS_NOTICE_LEFT] = "left",
                                                        [MRS_NOTICE_CLASH] = "clash",
                                                        [MRS_NOTICE_ARRAYS] = "arrays",
                                                        [MRS_NOTICE_UNSURE] = "unsure"};
    if (!r->notice) {
        return;
    }
    mrs_cli_json_open(j, "notices", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_notice; i++) {
        const struct mrs_notice *x = &r->notice[i];
        MRS_ASSERT(x->kind < MRS_NOTICE_KINDS);
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_text(j, "kind", words[x->kind]);
        mrs_cli_json_count(j, "step", x->step);
        mrs_cli_json_text(j, "ns", x->ns);
        mrs_cli_json_count(j, "documents", x->count);
        mrs_cli_json_texts(j, "ids", x->ids.at, x->ids.n);
        if (x->index) {
            mrs_cli_json_text(j, "index", x->index);
        }
        if (x->why) {
            mrs_cli_json_text(j, "why", x->why);
        }
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

static void
twins(struct mrs_cli_json *j, const struct mrs_report *r)
{
    mrs_cli_json_open(j, "equalIds", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_twins; i++) {
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_text(j, "ns", r->twins[i].ns);
        mrs_cli_json_count(j, "documents", r->twins[i].count);
        mrs_cli_json_text(j, "firstId", r->twins[i].id);
        mrs_cli_json_bool(j, "inOutput", r->twins[i].stay);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

static void
kinds(struct mrs_cli_json *j, const char *name, unsigned bits)
{
    MRS_ASSERT(bits < 1u << MRS_LOSS_KINDS);
    mrs_cli_json_open(j, name, MRS_ARRAY);
    for (uint32_t i = 0; i < MRS_LOSS_KINDS; i++) {
        if (bits & 1u << i) {
            mrs_cli_json_text(j, NULL, mrs_loss_word(i));
        }
    }
    mrs_cli_json_close(j);
}

/* Only if one was written. */
static void
residue(struct mrs_cli_json *j, const struct mrs_report *r)
{
    if (!r->residue) {
        return;
    }
    mrs_cli_json_open(j, "residue", MRS_DOCUMENT);
    mrs_cli_json_text(j, "file", r->residue);
    mrs_cli_json_count(j, "bytes", r->residue_bytes);
    kinds(j, "kinds", r->residue_kinds);
    kinds(j, "notListed", r->residue_unlisted);
    mrs_cli_json_close(j);
}

/* The time of each part of the run. */
static void
phases(struct mrs_cli_json *j, const struct mrsi_phases *p)
{
    MRS_ASSERT(p->n <= MRSI_PHASES_MOST);
    mrs_cli_json_open(j, "phases", MRS_ARRAY);
    for (uint32_t i = 0; i < p->n; i++) {
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_text(j, "phase", p->at[i].name);
        mrs_cli_json_count(j, "ms", p->at[i].ms);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

static void
report(struct mrs_cli_json *j, const struct mrsi_job *job, const struct mrs_report *r)
{
    account(j, job, r);
    written(j, r);
    mrs_cli_json_texts(j, "notes", r->notes, r->n_notes);
    mrs_cli_json_count(j, "refused", r->refused);
    refusals(j, r);
    notices(j, r);
    twins(j, r);
    unmet(j, r);
    patterns(j, r);
    mrs_cli_json_text(j, "refusedFile", r->refused_file);
    residue(j, r);
    mrs_cli_json_count(j, "inputBytes", r->in_bytes);
    mrs_cli_json_count(j, "outputBytes", r->out_bytes);
    mrs_cli_json_count(j, "diskBytes", r->disk_bytes);
    mrs_cli_json_count(j, "refusedBytes", r->refused_bytes);
    mrs_cli_json_count(j, "temporaryBytes", r->temp_bytes);
    mrs_cli_json_count(j, "wallMs", r->wall_ms);
    mrs_cli_json_count(j, "syncMs", r->sync_ms);
    phases(j, &job->phases);
    mrs_cli_json_texts(j, "dropFirst", r->drop_first, r->n_drop_first);
    mrs_cli_json_text(j, "restore", r->restore);
}

static void
all(struct mrs_cli_json *j, const struct mrsi_job *job, const struct mrs_report *r, int exit_status,
    bool dry)
{
    MRS_ASSERT(exit_status >= 0);
    char id[33];
    mrs_build_i32(&j->b, "exitStatus", exit_status);
    mrs_cli_json_bool(j, "published", r ? r->published : job->finished);
    if (r && r->resumed) {
        mrs_cli_json_bool(j, "resumed", true);
    }
    if (r && r->stopped) {
        mrs_cli_json_bool(j, "resume", true); /* resumes it */
    }
    mrs_cli_json_bool(j, "dryRun", dry);
    mrs_cli_json_text(j, "input", job->cli->input);
    mrs_cli_json_text(j, "output", job->cli->output);
    if (job->plan && job->plan->id_known) {
        mrs_plan_id_text(job->plan, id);
    }
    mrs_cli_json_text(j, "planId", job->plan && job->plan->id_known ? id : NULL);
    if (job->err.code) {
        mrs_cli_json_error(j, "error", &job->err);
    }
    plan_errors(j, job->plan);
    if (r) {
        report(j, job, r);
    }
}

bool
mrsi_report_json(FILE *f, const struct mrsi_job *job, const struct mrs_report *r, int exit_status,
                 bool dry)
{
    struct mrs_cli_json j;
    mrs_cli_json_begin(&j, job->cli->line.mem);
    all(&j, job, r, exit_status, dry);
    return mrs_cli_json_end(&j, f);
}

/* The output is read again, like any dump; if it went to a pipe, or was not written, there are no shapes. */
static void
shapes(struct mrs_cli_json *j, const struct mrsi_job *job, const struct mrs_report *r)
{
    MRS_ASSERT(job->in && job->plan);
    struct mrs_input *after = NULL;
    struct mrs_input_opts o = mrsi_job_input_opts(job->cli);
    if (r && r->published && strcmp(job->cli->output, "-") != 0 &&
        mrs_input_open(job->cli->line.mem, job->cli->output, &o, &after, NULL) == MRS_OK) {
        mrsi_shapes(j, job->in, after, r);
        mrs_input_close(after);
    }
}

enum mrs_status
mrsi_report_page(const struct mrsi_job *job, const struct mrs_report *r, int exit_status, bool dry, struct mrs_err *e)
{
    struct mrs_cli_json j;
    struct mrs_buf text;
    mrs_buf_init(&text, job->cli->line.mem, SIZE_MAX);
    mrs_cli_json_begin(&j, job->cli->line.mem);
    all(&j, job, r, exit_status, dry);
    shapes(&j, job, r);
    mrs_cli_json_take(&j, &text);
    enum mrs_status s = mrs_cli_page_write(job->cli->html, "run", &text, job->plan_text, e);
    mrs_buf_clear(&text);
    return s;
}
