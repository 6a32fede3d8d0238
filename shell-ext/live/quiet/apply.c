/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - executes the change list, batch by batch, forwards or backwards.
 *
 * Before a change is made, the document is read and its digest compared: equal to the result, the change is done; equal
 * to the original, it is pending; else another client wrote although the run is quiet, and we stop with its name. So
 * nothing depends on the progress of a killed process: the checkpoint only saves work. All inserts of all collections
 * come before the first update, all updates before the first delete: each datum exists at least once at every
 * instant. */
#include "live/link/bson.h"
#include "mongoreshape/ejson.h"
#include "quiet.h"
#include "live/state/state_io.h"
#include "live/pass/work.h"

#include <stdarg.h>
#include <stdio.h>

enum { BATCH_BYTES = 4 << 20, TRIES = 5, NAMED_MOST = 1000 };

struct pass {
    struct live_job *job;
    struct live_pass_report *r;
    const char *name;
    int64_t from, n;     /* its entries */
    int64_t actions;     /* number of finished actions of the list: gives names of collections */
    bool back, check, strict; /* check: writes nothing, counts differences; strict: every change must be done */
    struct live_batches batches;
    int tries;
    uint64_t docs, bytes; /* of the preceding batch */
    struct mrs_view list;
    struct mrs_arena arena;
    struct live_burst burst;
    struct live_checkpoint c;
    struct mrs_err *e;
};
enum verdict { DONE, TO_DO, FOREIGN };

void
live_report_name(struct live_pass_report *r, const char *fmt, ...)
{
    MRS_ASSERT(r->n_named <= NAMED_MOST);
    char text[600];
    va_list ap;
    if (!r->arena || r->n_named >= NAMED_MOST) {
        return;
    }
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *copy = mrs_arena_copy(r->arena, text, strlen(text) + 1);
    if (!r->named) {
        r->named = mrs_arena_alloc(r->arena, NAMED_MOST * sizeof *r->named);
    }
    if (copy && r->named) {
        r->named[r->n_named++] = copy;
    }
}

/* ---- the run document ---- */
static struct mrs_view
blob(struct mrs_view run, const char *path)
{
    struct mrs_val v = live_at(run, path);
    bool good = v.type == MRS_BINARY && v.n > 5 && mrs_doc_check(v.p + 5, v.n - 5, MRS_DEPTH_READ, NULL) == MRS_OK;
    struct mrs_view d = {good ? v.p + 5 : NULL, good ? v.n - 5 : 0};
    return d;
}

enum mrs_status
live_change_totals_read(struct live_job *job, struct mrs_arena *a, struct live_change_totals *out, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    static const char *const counts[4] = {"changes.build", "changes.insert", "changes.update", "changes.delete"};
    struct mrs_view run = live_run_doc(job->run);
    struct mrs_view list = blob(run, "changes.actions"), back = blob(run, "changes.back");
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 4; i++) {
        out->n[i] = live_int_at(run, counts[i], -1);
        if (out->n[i] < 0 || !list.n) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the run document does not say what is in the change list");
        }
    }
    out->list = (struct mrs_view){mrs_arena_copy(a, list.p, list.n), list.n};
    out->back = (struct mrs_view){back.n ? mrs_arena_copy(a, back.p, back.n) : NULL, back.n};
    out->keep_before = live_bool_at(run, "changes.keep_before", false);
    return out->list.p && (out->back.p || !back.n) ? MRS_OK : mrs_err_memory(e, list.n + back.n);
}

/* ---- one entry ---- */
/* Backwards: inserted documents are deleted, before and after are swapped. */
static void
turn_round(struct live_journal_entry *en)
{
    uint8_t digest[16];
    memcpy(digest, en->before, 16);
    memcpy(en->before, en->after, 16);
    memcpy(en->after, digest, 16);
    en->kind = en->kind == LIVE_INSERT ? LIVE_DELETE : en->kind == LIVE_DELETE ? LIVE_INSERT : en->kind;
    en->doc = en->old;
}

static enum verdict
judge(const struct live_job *job, const struct live_journal_entry *en, struct mrs_view now)
{
    uint8_t digest[16];
    if (LIVE_MUTANT("no-digest")) {
        return en->kind == LIVE_INSERT || now.n ? TO_DO : DONE;
    }
    live_digest(job, now, digest);
    return memcmp(digest, en->after, 16) == 0 ? DONE : memcmp(digest, en->before, 16) == 0 ? TO_DO : FOREIGN;
}

static enum mrs_status
foreign(struct pass *p, const struct live_journal_entry *en, struct mrs_view now)
{
    char text[120];
    p->r->foreign++;
    return mrs_err_set(p->e, MRS_FAIL, MRS_E_SERVER,
                       "%s, _id %s, %s neither the old nor the new form: it was written to although writers are "
                       "stopped. Nothing is lost: stop the writers, restore one of the two forms of the document "
                       "(entry %lld of %s) and give the same command again",
                       en->coll.ns, mrs_val_picture(en->id, text, sizeof text), now.n ? "is" : "is gone, which is",
                       (long long)en->seq, p->job->run->state_changes.ns);
}

/* Adds the change that replaces the current document, whatever it is, by the wanted one. */
static enum mrs_status
add(struct pass *p, const struct live_journal_entry *en, struct mrs_view now)
{
    enum live_op_kind kind = !now.n ? LIVE_INSERT : !en->doc.n ? LIVE_DELETE : LIVE_UPDATE;
    struct live_change c = {.kind = LIVE_MUTANT("no-digest") ? en->kind : kind, .coll = en->coll,
                            .after = en->doc, .before = now, .guard_whole = true};
    if (c.kind == LIVE_INSERT) {
        c.before = (struct mrs_view){NULL, 0};
    } else if (c.kind == LIVE_DELETE) {
        c.after = (struct mrs_view){NULL, 0};
    }
    c.unit = p->burst.n;
    return live_burst_add(&p->burst, &c, p->e);
}

/* Undoes a run over later writes, as the user requested: exports those first. */
static enum mrs_status
discard(struct pass *p, const struct live_journal_entry *en, struct mrs_view now)
{
    struct mrs_err why;
    uint64_t most = p->job->opts.max_refused;
    enum mrs_status s = MRS_OK;
    char id[120];
    if (now.n && !live_refused_fits(now)) {
        return mrs_err_set(p->e, MRS_FAIL, MRS_E_LIMIT,
                           "%s, _id %s, was written since the run and is too large for a copy of it to be kept: save "
                           "it, remove it, then call rollback again", en->coll.ns,
                           mrs_val_picture(en->id, id, sizeof id));
    }
    mrs_err_clear(&why);
    why.code = MRS_E_REFUSED;
    snprintf(why.msg, sizeof why.msg, "rollback: written since the run");
    p->job->opts.max_refused = UINT64_MAX;
    s = now.n ? live_refused_put(p->job, 0, en->coll.ns, now, &why, p->e) : MRS_OK;
    p->job->opts.max_refused = most;
    return s == MRS_OK && (now.n || en->doc.n) ? add(p, en, now) : s;
}

/* ---- a batch ---- */
static enum mrs_status
name_now(struct pass *p, const struct mrs_coll *was, struct mrs_coll *now)
{
    enum mrs_status s = live_coll_of(&p->arena, live_actions_name(p->list, p->actions, was->ns), now, p->e);
    return s == MRS_END ? mrs_err_memory(p->e, 0) : s;
}

static enum mrs_status
judge_all(struct pass *p, struct live_journal_entry *en, const struct mrs_view *now, uint32_t n)
{
    enum mrs_status s = MRS_OK;
    char text[120];
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        if (p->back) {
            turn_round(&en[i]);
        }
        enum verdict v = judge(p->job, &en[i], now[i]);
        if (p->check && (v == FOREIGN || (v == TO_DO && p->strict))) {
            p->r->differs++;
            live_report_name(p->r, "%s %s: %s", en[i].coll.ns, mrs_val_picture(en[i].id, text, sizeof text),
                             v == TO_DO ? "as it was before the run" : "neither as it was nor as it is to be");
        } else if (v == FOREIGN && p->back && p->job->opts.discard_new_writes) {
            s = discard(p, &en[i], now[i]);
        } else if (v == FOREIGN && !p->check) {
            s = foreign(p, &en[i], now[i]);
        } else if (v == TO_DO && !p->check) {
            s = add(p, &en[i], now[i]);
        }
    }
    p->r->docs += p->check ? n : 0;
    return s;
}

/* Changes that a burst could not write. MISSED ones are checked again, by digest. */
static enum mrs_status
not_written(struct pass *p)
{
    char text[120];
    for (uint32_t i = 0; i < p->burst.n; i++) {
        const struct live_change *c = &p->burst.change[i];
        struct mrs_view doc = c->after.n ? c->after : c->before;
        const char *id = mrs_val_picture(mrs_doc_get(doc, "_id"), text, sizeof text);
        if (c->outcome == LIVE_CLASH) {
            return mrs_err_set(p->e, MRS_FAIL, MRS_E_SERVER,
                               "%s, _id %s, is refused by the server: %.200s. Nothing is lost: remove the cause and "
                               "give the same command again", c->coll.ns, id, c->why ? c->why : "");
        }
    }
    p->r->missed++;
    return ++p->tries < TRIES ? MRS_OK
                              : mrs_err_set(p->e, MRS_FAIL, MRS_E_SERVER,
                                            "documents of %s change while they are being written: stop the writers and "
                                            "give the same command again", p->burst.change[0].coll.ns);
}

static void
count(struct pass *p)
{
    for (uint32_t i = 0; i < p->burst.n; i++) {
        enum live_op_kind k = p->burst.change[i].kind;
        p->r->written++;
        p->r->inserted += k == LIVE_INSERT;
        p->r->deleted += k == LIVE_DELETE;
    }
}

static enum mrs_status
reopen(struct pass *p)
{
    live_checkpoint_clear(&p->c);
    return live_checkpoint_open(p->job, p->name, &p->c, p->e);
}

static enum mrs_status
write_batch(struct pass *p, uint32_t n)
{
    MRS_ASSERT(n > 0);
    bool short_ = false;
    int64_t at = p->c.at;
    p->c.at += n;
    p->c.docs += n;
    p->c.written += p->burst.n;
    p->c.done = p->c.at == p->n;
    enum mrs_status s = live_burst_write(&p->burst, &p->c, &short_, p->e);
    if (s == MRS_OK && short_) {
        p->c.at = at;
        p->c.docs -= n;
        p->c.written -= p->burst.n;
        p->c.done = false;
        return not_written(p);
    }
    if (s == MRS_OK) {
        p->tries = 0;
        p->docs = p->burst.n;
        p->bytes = p->burst.bytes;
        p->r->docs += n;
        count(p);
    }
    return s;
}

static enum mrs_status
batch(struct pass *p)
{
    struct live_journal_entry *en = NULL;
    struct mrs_coll now = {NULL, NULL, NULL};
    uint32_t n = 0;
    int64_t start = mrs_clock_asleep(), from = p->from + p->c.at, to = from + p->batches.size;
    mrs_arena_reset(&p->arena);
    live_burst_reset(&p->burst);
    to = to > p->from + p->n ? p->from + p->n : to;
    enum mrs_status s = live_journal_read(p->job, from, to, BATCH_BYTES, &p->arena, &en, &n, p->e);
    struct mrs_view *doc = s == MRS_OK ? mrs_arena_alloc(&p->arena, (n + 1) * sizeof *doc) : NULL;
    s = s == MRS_OK && !doc ? mrs_err_memory(p->e, n * sizeof *doc) : s;
    MRS_THEN(s, name_now(p, &en[0].coll, &now));
    MRS_THEN(s, live_current_read(p->job, &now, en, n, &p->arena, doc, p->e));
    MRS_THEN(s, judge_all(p, en, doc, n));
    if (s == MRS_OK && p->check) {
        p->c.at += n;
    } else if (s == MRS_OK) {
        s = write_batch(p, n);
    }
    live_batches_took(p->job, &p->batches, n, mrs_clock_asleep() - start, p->bytes);
    return s;
}

static enum mrs_status
run_pass(struct pass *p)
{
    struct live_progress progress = {.phase = p->name, .ns = p->job->run->state_changes.ns,
                                     .estimated = (uint64_t)p->n};
    live_batches_begin(p->job, &p->batches);
    mrs_arena_init(&p->arena, p->job->mem);
    live_burst_init(&p->burst, p->job);
    uint32_t lost = 0;
    live_course_walk(p->job, (uint64_t)p->n, LIVE_WRITES);
    enum mrs_status s = p->check ? MRS_OK : reopen(p);
    while (s == MRS_OK && p->c.at < p->n) {
        uint64_t gen = live_link_generation(p->job->link);
        s = live_run_breathe(p->job, p->docs, p->bytes, p->e);
        p->docs = p->bytes = 0;
        if (s == MRS_END) {
            s = p->check ? MRS_OK : reopen(p);
            continue;
        }
        MRS_THEN(s, live_lost_since(p->job, gen, batch(p), p->e));
        if (s == MRS_END) { /* writers are blocked: waits for another primary instead of failing */
            s = live_scan_wait(p->job, ++lost, p->e);
            s = s == MRS_OK && !p->check ? reopen(p) : s;
            continue;
        }
        lost = 0;
        progress.done = (uint64_t)p->c.at;
        progress.bytes += p->bytes;
        live_run_wrote(p->job->run, p->docs, p->bytes);
        MRS_THEN(s, live_run_report(p->job, &progress, p->e));
    }
    live_course_walked(p->job, (uint64_t)p->c.at);
    live_burst_clear(&p->burst);
    mrs_arena_clear(&p->arena);
    if (!p->check) {
        live_checkpoint_clear(&p->c);
    }
    return s;
}

/* ---- the list ---- */
struct apply_list {
    struct live_job *job;
    const char *prefix;
    bool back;
    struct live_change_totals sealed;
    struct mrs_arena arena;
    struct live_pass_report *r;
    struct mrs_err *e;
};

static enum mrs_status
open_list(struct apply_list *l)
{
    mrs_arena_init(&l->arena, l->job->mem);
    enum mrs_status s = live_change_totals_read(l->job, &l->arena, &l->sealed, l->e);
    if (s == MRS_OK && l->back && !l->sealed.back.n) {
        s = mrs_err_set(l->e, MRS_FAIL, MRS_E_USAGE, "the run was made without --keep-before: it cannot be undone");
    }
    return s;
}

static enum mrs_status
stage(struct apply_list *l, enum live_stage up_to, int64_t *at)
{
    MRS_ASSERT(l->prefix);
    struct live_checkpoint c;
    char name[40];
    snprintf(name, sizeof name, "%scatalogue", l->prefix);
    enum mrs_status s = live_checkpoint_open(l->job, name, &c, l->e);
    if (s == MRS_OK && up_to != (enum live_stage)-1) {
        s = live_actions_do(l->job, l->back ? l->sealed.back : l->sealed.list, up_to, &c, l->e);
    }
    if (at) {
        *at = s == MRS_OK ? c.at : 0;
    }
    live_checkpoint_clear(&c);
    return s;
}

static enum mrs_status
pass(struct apply_list *l, int which, bool check, int64_t actions)
{
    MRS_ASSERT(which >= LIVE_PASS_BUILD && which <= LIVE_PASS_DELETE);
    static const char *const names[] = {"build", "insert", "update", "delete"};
    char name[40];
    struct pass p = {.job = l->job, .r = l->r, .name = name, .n = l->sealed.n[which], .back = l->back, .check = check,
                     .strict = live_run_in(l->job, "done"), .actions = actions, .list = l->sealed.list, .e = l->e};
    snprintf(name, sizeof name, "%s%s", l->prefix, names[which]);
    for (int i = 0; i < which; i++) {
        p.from += l->sealed.n[i];
    }
    return run_pass(&p);
}

/* Now the number of documents to write is known. */
static void
foresee(const struct apply_list *l)
{
    uint64_t n = 0;
    for (int i = LIVE_PASS_BUILD; i <= LIVE_PASS_DELETE; i++) {
        n += (uint64_t)l->sealed.n[i];
    }
    if (l->job->run->course.weight) { /* making the list was the part before */
        live_course_walked(l->job, l->job->run->course.estimated);
    }
    live_course_foresee(l->job, n * LIVE_WRITES, 0);
}

enum mrs_status
live_list_apply(struct live_job *job, const char *prefix, bool back, struct live_pass_report *r, struct mrs_err *e)
{
    struct apply_list l = {.job = job, .prefix = prefix, .back = back, .r = r, .e = e};
    static const int forwards[] = {LIVE_PASS_INSERT, LIVE_PASS_UPDATE, LIVE_PASS_DELETE};
    static const int backwards[] = {LIVE_PASS_DELETE, LIVE_PASS_UPDATE, LIVE_PASS_INSERT};
    const int *order = back || LIVE_MUTANT("delete-first") ? backwards : forwards;
    enum mrs_status s = open_list(&l);
    if (s == MRS_OK) {
        foresee(&l);
    }
    MRS_THEN(s, stage(&l, LIVE_STAGE_BEFORE, NULL));
    s = s == MRS_OK && !back ? pass(&l, LIVE_PASS_BUILD, false, 0) : s;
    MRS_THEN(s, stage(&l, LIVE_STAGE_BUILT, NULL));
    for (int i = 0; s == MRS_OK && i < 3; i++) {
        s = pass(&l, order[i], false, 0);
    }
    s = s == MRS_OK && back ? pass(&l, LIVE_PASS_BUILD, false, 0) : s;
    MRS_THEN(s, stage(&l, LIVE_STAGE_AFTER, NULL));
    mrs_arena_clear(&l.arena);
    return s;
}

enum mrs_status
live_list_last(struct live_job *job, const char *prefix, bool back, struct mrs_err *e)
{
    struct apply_list l = {.job = job, .prefix = prefix, .back = back, .e = e};
    enum mrs_status s = open_list(&l);
    MRS_THEN(s, stage(&l, LIVE_STAGE_LAST, NULL));
    mrs_arena_clear(&l.arena);
    return s;
}

enum mrs_status
live_list_verify(struct live_job *job, const char *prefix, struct live_pass_report *r, struct mrs_err *e)
{
    struct apply_list l = {.job = job, .prefix = prefix, .r = r, .e = e};
    int64_t actions = 0;
    enum mrs_status s = open_list(&l);
    MRS_THEN(s, stage(&l, (enum live_stage)-1, &actions));
    for (int i = LIVE_PASS_BUILD; s == MRS_OK && i <= LIVE_PASS_DELETE; i++) {
        s = pass(&l, i, true, actions);
    }
    mrs_arena_clear(&l.arena);
    return s;
}
