/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - tries a plan on some documents of a server: they become a dump in a temporary folder, the offline engine
 * runs over it without output, and its findings become notes. */
#include "trial.h"

#include "live/link/bson.h"
#include "live/quiet/quiet.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/report_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAMED = 4, LINE = 1 << 16, NOTES = 40, IDS = 5 };

struct trial_report {
    const struct live_trial *t;
    struct live_preflight *out;
    struct mrs_buf line;
    uint32_t n_notes;
};

/* Makes a note of the line, if there are not too many. */
static enum mrs_status
note(struct trial_report *x, struct mrs_err *e)
{
    struct live_preflight *p = x->out;
    MRS_ASSERT(x->line.bad || x->line.n > 0);
    uint32_t cap = p->n;
    mrs_buf_byte(&x->line, 0);
    if (x->line.bad) {
        return mrs_buf_status(&x->line, e);
    }
    struct live_finding *more = mrs_arena_more(&p->arena, p->finding, p->n, &cap, sizeof *more);
    const char *text = more ? mrs_arena_copy(&p->arena, x->line.p, x->line.n) : NULL;
    MRS_TRY(mrs_allocated(text, x->line.n, e));
    p->finding = more;
    if (x->n_notes++ < NOTES) {
        p->finding[p->n++] = (struct live_finding){false, text};
    }
    mrs_buf_reset(&x->line);
    return MRS_OK;
}

/* ---- the dump ---- */
static enum mrs_status
write_coll(struct mrs_output *to, struct mrs_mem *mem, const struct live_trial_coll *c, struct mrs_err *e)
{
    struct mrs_buf doc, json;
    struct mrs_sink *sink = NULL;
    struct mrs_err late;
    const struct mrs_coll *coll = &c->info->coll;
    mrs_buf_init(&doc, mem, MRS_METADATA_MAX);
    mrs_buf_init(&json, mem, MRS_METADATA_MAX);
    enum mrs_status s = live_server_metadata(c->info, &doc, e);
    if (s == MRS_OK) {
        mrs_ejson_write((struct mrs_view){doc.p, (uint32_t)doc.n}, true, &json);
        s = mrs_buf_status(&json, e);
    }
    MRS_THEN(s, mrs_output_coll(to, coll->db, coll->coll, (const char *)json.p, json.n, true, &sink, e));
    for (size_t at = 0; s == MRS_OK && at < c->docs.n;) {
        uint32_t n = mrs_le32(c->docs.p + at);
        s = mrs_sink_write(sink, c->docs.p + at, n, e);
        at += n;
    }
    mrs_err_clear(&late);
    enum mrs_status closed = mrs_sink_close(sink, c->n, NULL, s == MRS_OK ? e : &late);
    mrs_buf_clear(&doc);
    mrs_buf_clear(&json);
    return s == MRS_OK ? closed : s;
}

static enum mrs_status
write_dump(const struct live_trial *t, const char *dir, struct mrs_err *e)
{
    struct mrs_output *to = NULL;
    struct mrs_output_opts opts = {.default_codec = MRS_CODEC_NONE, .tmp = t->job->opts.tmp};
    enum mrs_status s = mrs_output_open(t->job->mem, dir, &opts, &to, e);
    for (uint32_t i = 0; s == MRS_OK && i < t->n; i++) {
        s = write_coll(to, t->job->mem, &t->coll[i], e);
    }
    MRS_THEN(s, mrs_output_commit(to, mrs_empty_doc(), NULL, e));
    if (to) {
        mrs_output_abort(to);
        mrs_output_free(to);
    }
    return s;
}

static enum mrs_status
run(struct live_job *job, const char *dir, const char *tmp, struct mrs_report *report, struct mrs_err *e)
{
    struct mrs_input_opts how = {0};
    struct mrs_input *in = NULL;
    struct mrs_run_opts o = {.input = dir, .memory = job->opts.memory, .jobs = 1, .tmp = tmp, .max_refused = UINT64_MAX,
                             .now_ms = job->plan->now_ms, .cancel = job->cancel, .dry_run = true, .notices = true,
                             .ids = IDS};
    enum mrs_status s = mrs_input_open(job->mem, dir, &how, &in, e);
    MRS_THEN(s, mrs_run(job->mem, job->plan, in, &o, report, e));
    mrs_input_close(in);
    return s;
}

/* ---- findings ---- */
/* "tried on 1,000 of ~30,000 documents of shop.people, all 50 of shop.posts" */
static enum mrs_status
report_what(struct trial_report *x, struct mrs_err *e)
{
    char some[32], of[32];
    const struct live_trial *t = x->t;
    MRS_ASSERT(t->n > 0);
    mrs_buf_printf(&x->line, "tried on ");
    for (uint32_t i = 0; i < t->n && i < NAMED; i++) {
        const struct live_trial_coll *c = &t->coll[i];
        bool one = c->whole && c->n == 1;
        mrs_text_count(c->n, some);
        mrs_buf_printf(&x->line, "%s%s%s", i ? ", " : "", c->whole && !one ? "all " : "", some);
        if (!c->whole && c->info->count) {
            mrs_buf_printf(&x->line, " of ~%s", mrs_text_count(c->info->count, of));
        }
        mrs_buf_printf(&x->line, "%s of %s", i ? "" : one ? " document" : " documents", c->info->coll.ns);
    }
    if (t->n > NAMED) {
        mrs_buf_printf(&x->line, " and some of %u more collection%s", t->n - NAMED, t->n == NAMED + 1 ? "" : "s");
    }
    return note(x, e);
}

/* Does a finding of a step in some documents hold for all? */
static bool
counts(const struct live_trial *t, uint32_t no)
{
    const struct mrs_plan *p = t->job->plan;
    for (uint32_t i = 0; i < p->n_steps && !t->whole; i++) {
        if (p->steps[i].no == no && p->steps[i].desc.family == MRS_FAMILY_JOIN && !t->closed[i]) {
            return false;
        }
    }
    return true;
}

/* For a join of a partial read: only whether references find their document. */
static bool
notice_counts(const struct live_trial *t, const struct mrs_notice *n)
{
    const struct mrs_plan *p = t->job->plan;
    for (uint32_t i = 0; i < p->n_steps && !t->whole; i++) {
        const struct mrs_desc *d = &p->steps[i].desc;
        if (p->steps[i].no == n->step && d->family == MRS_FAMILY_JOIN) {
            return t->closed[i] && n->kind == (d->by_reference ? MRS_NOTICE_DANGLING : MRS_NOTICE_ORPHAN);
        }
    }
    return n->step > 0;
}

static enum mrs_status
report_steps(struct trial_report *x, const struct mrs_report *r, struct mrs_err *e)
{
    const struct live_trial *t = x->t;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < r->n_notes; i++) {
        unsigned no;
        if (sscanf(r->notes[i], "step %u,", &no) == 1 && counts(t, no)) {
            mrs_buf_printf(&x->line, "%s", r->notes[i]);
            s = note(x, e);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < r->n_unmet; i++) {
        mrs_text_unmet(&r->unmet[i], &x->line);
        mrs_buf_printf(&x->line, "%s", t->whole ? "" : " (of those tried)");
        s = note(x, e);
    }
    for (uint32_t i = 0; s == MRS_OK && i < r->n_notice; i++) {
        if (notice_counts(t, &r->notice[i]) && r->notice[i].step) {
            mrs_text_notice(&r->notice[i], &x->line);
            s = note(x, e);
        }
    }
    return s;
}

static enum mrs_status
report_refused(struct trial_report *x, const struct mrs_report *r, uint64_t *refused, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < r->n_refusal; i++) {
        if (counts(x->t, r->refusal[i].step)) {
            mrs_buf_printf(&x->line, "would be refused: ");
            mrs_text_refusal(&r->refusal[i], &x->line);
            *refused += r->refusal[i].count;
            s = note(x, e);
        }
    }
    return s;
}

static enum mrs_status
report_result(const struct live_trial *t, const struct mrs_report *r, struct live_preflight *out, uint64_t *refused,
              struct mrs_err *e)
{
    struct trial_report x = {.t = t, .out = out};
    MRS_ASSERT(*refused == 0);
    mrs_buf_init(&x.line, t->job->mem, LINE);
    enum mrs_status s = report_what(&x, e);
    MRS_THEN(s, report_refused(&x, r, refused, e));
    MRS_THEN(s, report_steps(&x, r, e));
    if (s == MRS_OK && x.n_notes > NOTES) {
        mrs_buf_printf(&x.line, "and %u more notes", x.n_notes - NOTES);
        x.n_notes = 0;
        s = note(&x, e);
    }
    mrs_buf_clear(&x.line);
    return s;
}

/* ---- entry point ---- */
static enum mrs_status
try_on(const struct live_trial *t, struct live_preflight *out, uint64_t *refused, struct mrs_err *e)
{
    char dir[4096], dump[4096 + 8];
    struct mrs_report report;
    const char *tmp = t->job->opts.tmp ? t->job->opts.tmp : getenv("TMPDIR");
    tmp = tmp && *tmp ? tmp : "/tmp";
    errno = 0;
    int n = snprintf(dir, sizeof dir, "%s/mongoreshape-try-XXXXXX", tmp);
    if (n < 0 || (size_t)n >= sizeof dir || !mkdtemp(dir)) {
        return mrs_err_sys(e, errno ? errno : ENAMETOOLONG, "cannot make a temporary folder in %s", tmp);
    }
    snprintf(dump, sizeof dump, "%s/dump", dir);
    memset(&report, 0, sizeof report);
    enum mrs_status s = write_dump(t, dump, e);
    MRS_THEN(s, run(t->job, dump, dir, &report, e));
    MRS_THEN(s, report_result(t, &report, out, refused, e));
    mrs_report_clear(&report);
    live_folder_remove(dir);
    return s;
}

enum mrs_status
live_try_plan(struct live_job *job, struct live_preflight *out, uint64_t *refused, struct mrs_err *e)
{
    struct live_trial t;
    struct mrs_err why;
    mrs_err_clear(&why);
    *refused = 0;
    enum mrs_status s = live_trial_read(job, &t, &why);
    s = s == MRS_OK && t.n ? try_on(&t, out, refused, &why) : s;
    bool folder = why.code == MRS_E_IO && job->opts.quiet != LIVE_NOT_QUIET; /* --execute needs it, too */
    if (s == MRS_FAIL && why.code != MRS_E_CANCEL && !folder) {
        struct trial_report x = {.t = &t, .out = out};
        mrs_buf_init(&x.line, job->mem, LINE);
        mrs_buf_printf(&x.line, "the plan was not tried on documents: %s", why.msg);
        s = note(&x, e);
        mrs_buf_clear(&x.line);
    } else if (s != MRS_OK) {
        *e = why;
    }
    live_trial_clear(&t);
    return s;
}
