/* report_json.c - the summary as one JSON object, for programs: the same figures, always all of
 * them, and the errors with their places. */
#include "report.h"

#include "mongoreshape/ejson.h"

struct json {
    struct mrs_build b;
    struct mrs_arena arena;
};

static void
text(struct json *j, const char *name, const char *value)
{
    if (value) {
        mrs_build_text(&j->b, name, value, (uint32_t)strlen(value));
    } else {
        mrs_build_null(&j->b, name, (uint32_t)strlen(name));
    }
}

static void
count(struct json *j, const char *name, uint64_t n)
{
    mrs_build_count(&j->b, name, (uint32_t)strlen(name), n);
}

static void
open(struct json *j, const char *name, uint8_t type)
{
    mrs_build_open(&j->b, name, (uint32_t)strlen(name), type);
}

static void
texts(struct json *j, const char *name, const char *const *at, uint32_t n)
{
    open(j, name, MRS_ARRAY);
    for (uint32_t i = 0; i < n; i++) {
        struct mrs_val v = mrs_make_text(&j->arena, at[i], (uint32_t)strlen(at[i]));
        if (v.type == MRS_MISSING) {
            j->b.buf->bad = 1;
        }
        mrs_build_item(&j->b, v);
    }
    mrs_build_close(&j->b);
}

static void
plan_errors(struct json *j, const struct mrs_plan *p)
{
    open(j, "planErrors", MRS_ARRAY);
    for (uint32_t i = 0; p && i < p->n_errors + p->n_warnings; i++) {
        const struct mrs_plan_error *e = &p->errors[i];
        mrs_build_item_open(&j->b, MRS_DOCUMENT);
        text(j, "file", p->file);
        count(j, "line", e->line);
        count(j, "column", e->col);
        text(j, "kind", e->warning ? "warning" : "error");
        text(j, "message", e->msg);
        mrs_build_close(&j->b);
    }
    mrs_build_close(&j->b);
}

static void
error(struct json *j, const struct mrs_err *e)
{
    open(j, "error", MRS_DOCUMENT);
    text(j, "name", mrs_code_name(e->code));
    text(j, "message", e->msg);
    text(j, "ns", *e->ns ? e->ns : NULL);
    text(j, "where", *e->where ? e->where : NULL);
    if (e->doc_no) {
        count(j, "document", e->doc_no);
    }
    if (e->byte_off != UINT64_MAX) {
        count(j, "offset", e->byte_off);
    }
    mrs_build_close(&j->b);
}

static void
account(struct json *j, const struct mrs_report *r)
{
    open(j, "account", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_account; i++) {
        const struct mrs_account *a = &r->account[i];
        mrs_build_item_open(&j->b, MRS_DOCUMENT);
        count(j, "step", a->step);
        text(j, "ns", a->ns);
        count(j, "before", a->before);
        count(j, "created", a->created);
        count(j, "entered", a->entered);
        count(j, "after", a->after);
        count(j, "taken", a->taken);
        count(j, "dropped", a->dropped);
        count(j, "refused", a->refused);
        count(j, "placed", a->placed);
        mrs_build_close(&j->b);
    }
    mrs_build_close(&j->b);
}

static void
written(struct json *j, const struct mrs_report *r)
{
    open(j, "written", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_written; i++) {
        const struct mrs_written *w = &r->written[i];
        mrs_build_item_open(&j->b, MRS_DOCUMENT);
        text(j, "ns", w->ns);
        count(j, "documents", w->docs);
        count(j, "bytes", w->bytes);
        mrs_build_bool(&j->b, "unchanged", w->copied);
        mrs_build_bool(&j->b, "emptyNow", w->empty_now);
        mrs_build_close(&j->b);
    }
    mrs_build_close(&j->b);
}

static void
refusals(struct json *j, const struct mrs_report *r)
{
    open(j, "refusals", MRS_ARRAY);
    for (uint32_t i = 0; i < r->n_refusal; i++) {
        const struct mrs_refusal *k = &r->refusal[i];
        mrs_build_item_open(&j->b, MRS_DOCUMENT);
        count(j, "step", k->step);
        text(j, "ns", k->ns);
        text(j, "reason", k->reason);
        text(j, "place", *k->place ? k->place : NULL);
        count(j, "documents", k->count);
        text(j, "firstId", k->first);
        mrs_build_close(&j->b);
    }
    mrs_build_close(&j->b);
}

static void
report(struct json *j, const struct mrs_report *r)
{
    account(j, r);
    written(j, r);
    texts(j, "notes", r->notes, r->n_notes);
    count(j, "refused", r->refused);
    refusals(j, r);
    text(j, "refusedFile", r->refused_file);
    count(j, "inputBytes", r->in_bytes);
    count(j, "outputBytes", r->out_bytes);
    count(j, "wallMs", r->wall_ms);
    count(j, "syncMs", r->sync_ms);
    texts(j, "dropFirst", r->drop_first, r->n_drop_first);
    text(j, "restore", r->restore);
}

static void
all(struct json *j, const struct mrsi_job *job, const struct mrs_report *r, int exit_status,
    bool dry)
{
    char id[33];
    mrs_build_i32(&j->b, "exitStatus", exit_status);
    mrs_build_bool(&j->b, "published", r && r->published);
    mrs_build_bool(&j->b, "dryRun", dry);
    text(j, "input", job->cli->input);
    text(j, "output", job->cli->output);
    if (job->plan && job->plan->id_known) {
        mrs_plan_id_text(job->plan, id);
    }
    text(j, "planId", job->plan && job->plan->id_known ? id : NULL);
    if (job->err.code) {
        error(j, &job->err);
    }
    plan_errors(j, job->plan);
    if (r) {
        report(j, r);
    }
}

bool
mrsi_report_json(FILE *f, const struct mrsi_job *job, const struct mrs_report *r, int exit_status,
                 bool dry)
{
    struct json j;
    struct mrs_buf buf, out;
    struct mrs_view doc;
    mrs_arena_init(&j.arena, job->cli->mem);
    mrs_buf_init(&buf, job->cli->mem, (size_t)1 << 30);
    mrs_buf_init(&out, job->cli->mem, (size_t)1 << 31);
    mrs_build_init(&j.b, &buf);
    all(&j, job, r, exit_status, dry);
    bool good = mrs_build_finish(&j.b, &doc, NULL) == MRS_OK;
    if (good) {
        mrs_ejson_write(doc, false, &out);
        mrs_buf_byte(&out, '\n');
        good = !out.bad;
        fwrite(out.p, 1, good ? out.n : 0, f);
    }
    mrs_buf_clear(&out);
    mrs_buf_clear(&buf);
    mrs_arena_clear(&j.arena);
    return good;
}
