/* SPDX-License-Identifier: Apache-2.0 */
/* live_report.c - the output of the commands: the outlook of a dry run, findings, the account of a pass; as text and as
 * JSON.
 *
 * Reports are the requested output, so they go to standard output; warnings, errors and progress go to standard error.
 * The server's own counts are estimates and are marked `~`. Decides nothing. */
#include "live_job.h"

#include "mongoreshape/ejson.h"
#include "live/server/server.h"

static const char *
quiet_word(enum live_quiet q)
{
    static const char *const words[] = {NULL, "block", "validator", "word"};
    return words[q];
}

const char *
live_report_mode(const struct live_call *c)
{
    const struct live_opts *o = &c->job.opts;
    enum live_quiet quiet = c->known ? c->quiet : o->quiet;
    enum live_mode mode = c->known ? c->mode : o->mode;
    return quiet != LIVE_NOT_QUIET ? "quiet" : mode == LIVE_DIRECT ? "direct" : "expand";
}

/* ---- the outlook ---- */
static void
about_plan(const struct live_call *c)
{
    MRS_ASSERT(c->job.plan);
    char id[33];
    const struct mrs_plan *p = c->job.plan;
    const struct live_server *s = c->job.server;
    mrs_plan_id_text(p, id);
    mrs_say(stdout, "plan %s%s%s%s, %u step%s, id %.12s\n", c->file, *p->name ? " (" : "", p->name, *p->name ? ")" : "",
            p->n_steps, p->n_steps == 1 ? "" : "s", id);
    mrs_say(stdout, "server %s, MongoDB %s, %s%s\n", c->shown, s->version,
            s->replicated ? "replica set " : "standalone", s->replicated ? s->set_name : "");
}

static void
about_mode(const struct live_call *c)
{
    MRS_ASSERT((unsigned)c->job.opts.quiet <= LIVE_BY_WORD);
    static const char *const how[] = {"", "blocking writes of the whole cluster", "validators that refuse writes",
                                      "your word"};
    const struct live_opts *o = &c->job.opts;
    if (o->quiet != LIVE_NOT_QUIET) {
        mrs_say(stdout, "mode: writers stopped by %s; the whole change is made\n", how[o->quiet]);
    } else if (o->mode == LIVE_DIRECT) {
        mrs_say(stdout, "mode: while writers run; documents are changed in place\n");
    } else {
        mrs_say(stdout, "mode: while writers run; the new schema is added, nothing is removed\n");
    }
}

static void
about_collections(const struct live_call *c)
{
    char docs[32], bytes[32];
    const struct mrs_plan *p = c->job.plan;
    const struct live_server *s = c->job.server;
    mrs_say(stdout, "collections\n");
    for (uint32_t i = 0; i < s->n_coll; i++) {
        const struct live_coll_info *info = &s->coll[i];
        bool touched = false;
        for (uint32_t k = 0; k < p->n_steps && !touched; k++) {
            for (uint32_t side = 0; side < p->steps[k].desc.n_sides && !touched; side++) {
                touched = strcmp(p->steps[k].desc.sides[side].coll.ns, info->coll.ns) == 0;
            }
        }
        if (touched) {
            mrs_say(stdout, "  %s: ~%s document%s, %s\n", info->coll.ns, mrs_text_count(info->count, docs),
                   info->count == 1 ? "" : "s", mrs_text_size(info->bytes, bytes));
        }
    }
}

/* Describes the steps: while writers run by the live rule, else as the offline tool reports them. */
static bool
explained(struct live_call *c, bool json, struct mrs_buf *out)
{
    bool quiet = c->job.opts.quiet != LIVE_NOT_QUIET;
    enum mrs_status s = quiet ? mrs_plan_explain(c->job.plan, json, out, NULL)
                              : mrs_live_explain(c->job.plan, &c->live, json, out, NULL);
    return s == MRS_OK && !out->bad;
}

void
live_report_findings(const struct live_call *c)
{
    for (uint32_t i = 0; i < c->preflight.n; i++) {
        const struct live_finding *f = &c->preflight.finding[i];
        mrs_say(stdout, "%s: %s\n", f->refuses ? "refused" : "note", f->text);
    }
}

static void
roughly(uint64_t s)
{
    if (s < 2) {
        mrs_say(stdout, "a second or two\n");
    } else if (s < 90) {
        mrs_say(stdout, "roughly %u seconds\n", (unsigned)s);
    } else if (s < 5400) {
        mrs_say(stdout, "roughly %u minutes\n", (unsigned)((s + 30) / 60));
    } else {
        mrs_say(stdout, "roughly %u hours\n", (unsigned)((s + 1800) / 3600));
    }
}

void
live_report_outlook(struct live_call *c)
{
    MRS_ASSERT(c->job.server);
    char docs[32], bytes[32];
    struct mrs_buf words;
    mrs_buf_init(&words, c->job.mem, (size_t)64 << 20);
    about_plan(c);
    about_mode(c);
    if (explained(c, false, &words)) {
        fwrite(words.p, 1, words.n, stdout);
    }
    mrs_buf_clear(&words);
    about_collections(c);
    if (c->preflighted) {
        mrs_say(stdout, "to read: ~%s document%s, %s; ", mrs_text_count(c->preflight.docs, docs),
               c->preflight.docs == 1 ? "" : "s", mrs_text_size(c->preflight.bytes, bytes));
        roughly(c->preflight.seconds);
        live_report_findings(c);
    }
}

/* ---- a pass ---- */
/* before: what separates it from the figure before it; many NULL: as one. */
static void
figure(const char **before, uint64_t n, const char *one, const char *many)
{
    char text[32];
    if (n) {
        mrs_say(stdout, "%s%s %s", *before, mrs_text_count(n, text), n == 1 || !many ? one : many);
        *before = ", ";
    }
}

void
live_report_pass(const struct live_call *c)
{
    const struct live_pass_report *r = &c->report;
    const char *before = "";
    bool compared = strcmp(c->cli->line.command->name, "verify") == 0 && c->err.code == MRS_E_NONE;
    bool dry = c->job.opts.dry_run; /* then these are planned changes, which may be known without reading again */
    if (r->docs || !r->written) {
        char text[32];
        mrs_say(stdout, "%s document%s read", mrs_text_count(r->docs, text), r->docs == 1 ? "" : "s");
        before = ", ";
    }
    MRS_ASSERT(r->written >= r->inserted + r->deleted);
    figure(&before, r->written - r->inserted - r->deleted, dry ? "would be written" : "written", NULL);
    figure(&before, r->inserted, dry ? "would be inserted" : "inserted", NULL);
    figure(&before, r->deleted, dry ? "would be deleted" : "deleted", NULL);
    figure(&before, r->missed, "changed by others meanwhile and derived again", NULL);
    figure(&before, r->refused, "refused", NULL);
    figure(&before, r->differs, "differs", "differ");
    figure(&before, r->foreign, "foreign in new collections", NULL);
    mrs_say(stdout, "%s\n", compared && !r->differs && !r->foreign ? ": no difference" : "");
    for (uint32_t i = 0; i < r->n_named; i++) {
        mrs_say(stdout, "  %s\n", r->named[i]);
    }
    if (r->refused) {
        mrs_say(stdout, "refused documents stay in their collections; %s.refused holds each with its reason\n",
                c->job.opts.state_db);
    }
}

/* ---- JSON ---- */
static void
json_findings(struct mrs_cli_json *j, const struct live_preflight *p)
{
    mrs_cli_json_open(j, "findings", MRS_ARRAY);
    for (uint32_t i = 0; i < p->n; i++) {
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_bool(j, "refuses", p->finding[i].refuses);
        mrs_cli_json_text(j, "text", p->finding[i].text);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
    mrs_cli_json_open(j, "estimate", MRS_DOCUMENT);
    mrs_cli_json_count(j, "documents", p->docs);
    mrs_cli_json_count(j, "bytes", p->bytes);
    mrs_cli_json_count(j, "seconds", p->seconds);
    mrs_cli_json_close(j);
}

static void
json_pass(struct mrs_cli_json *j, const struct live_pass_report *r)
{
    mrs_cli_json_count(j, "documents", r->docs);
    mrs_cli_json_count(j, "written", r->written);
    mrs_cli_json_count(j, "inserted", r->inserted);
    mrs_cli_json_count(j, "deleted", r->deleted);
    mrs_cli_json_count(j, "missed", r->missed);
    mrs_cli_json_count(j, "refused", r->refused);
    mrs_cli_json_count(j, "differs", r->differs);
    mrs_cli_json_count(j, "foreign", r->foreign);
    mrs_cli_json_texts(j, "named", r->named, r->n_named);
}

static void
json_plan(struct mrs_cli_json *j, struct live_call *c)
{
    const struct mrs_plan *p = c->job.plan;
    mrs_cli_json_open(j, "planErrors", MRS_ARRAY);
    for (uint32_t i = 0; p && i < p->n_errors + p->n_warnings; i++) {
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_text(j, "file", p->file);
        mrs_cli_json_count(j, "line", p->errors[i].line);
        mrs_cli_json_count(j, "column", p->errors[i].col);
        mrs_cli_json_text(j, "kind", p->errors[i].warning ? "warning" : "error");
        mrs_cli_json_text(j, "message", p->errors[i].msg);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
    if (!c->job.live || c->worked) {
        return;
    }
    struct mrs_buf text, doc;
    size_t used = 0;
    mrs_buf_init(&text, c->job.mem, (size_t)64 << 20);
    mrs_buf_init(&doc, c->job.mem, (size_t)64 << 20);
    if (explained(c, true, &text) &&
        mrs_ejson_read((const char *)text.p, text.n, MRS_EJSON_STRICT, &doc, &used, NULL) == MRS_OK) {
        struct mrs_view v = {doc.p, (uint32_t)doc.n};
        mrs_build_val(&j->b, "explain", 7, mrs_view_val(v));
    }
    mrs_buf_clear(&doc);
    mrs_buf_clear(&text);
}

void
live_report_json(struct live_call *c, int status)
{
    struct mrs_cli_json j;
    char id[33];
    bool plan = c->job.plan && c->job.plan->id_known;
    mrs_cli_json_begin(&j, c->job.mem);
    mrs_cli_json_text(&j, "command", c->cli->line.command->name);
    mrs_cli_json_count(&j, "exitStatus", (uint64_t)status);
    mrs_cli_json_text(&j, "uri", c->shown);
    if (plan) {
        mrs_plan_id_text(c->job.plan, id);
    }
    mrs_cli_json_text(&j, "planId", plan ? id : NULL);
    mrs_cli_json_text(&j, "mode", live_report_mode(c));
    mrs_cli_json_text(&j, "quietBy", quiet_word(c->known ? c->quiet : c->job.opts.quiet));
    mrs_cli_json_text(&j, "run", *c->run ? c->run : NULL);
    mrs_cli_json_text(&j, "phase", *c->phase ? c->phase : NULL);
    static const char *const dry[] = {"apply", "verify", "contract", "rollback", "abort"};
    for (size_t i = 0; i < sizeof dry / sizeof *dry; i++) {
        if (strcmp(c->cli->line.command->name, dry[i]) != 0) {
            continue;
        }
        mrs_cli_json_bool(&j, "dryRun", !c->cli->execute);
    }
    if (c->err.code) {
        mrs_cli_json_error(&j, "error", &c->err);
    }
    json_plan(&j, c);
    if (c->preflighted) {
        json_findings(&j, &c->preflight);
    }
    if (c->worked) {
        json_pass(&j, &c->report);
    }
    mrs_cli_json_texts(&j, "said", c->lines, c->n_lines);
    mrs_cli_json_text(&j, "next", c->next);
    if (!mrs_cli_json_end(&j, stdout)) {
        mrs_say(stderr, "%s: no memory for the report\n", c->cli->line.tool->name);
    }
}
