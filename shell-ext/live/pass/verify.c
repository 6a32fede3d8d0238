/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - compares the new schema with the derived one, in both directions.
 *
 * Source to target: every unit is derived again and compared with the target. Target to source: every document of a new
 * collection must be a product of a unit that its own key leads to; this finds the remains of deleted sources. While
 * writers run, a difference may be newer than the read, so each is derived again before it counts. A repair writes what
 * differs, and then the units that a change stream reports as written meanwhile: so it compares once. Memory is that of
 * a batch, whatever the size of collections. A result is valid for its moment: any later write by the run withdraws
 * it. */
#include "live/link/bson.h"
#include "block.h"
#include "follow.h"

#include "mongoreshape/value.h"

#include <stdio.h>

enum { REPAIR_ROUNDS = 3 };
static const uint32_t slice_first = 500;

struct verifying {
    struct live_batch b;
    struct live_scan t;
    struct live_pass_report *r;
    bool repair;
    int side; /* target to source: its side */
    struct live_follow *follow; /* concurrent writes */
};

/* ---- source to target ---- */

/* The units of events since the last call. If events do not identify their units, no unit is excepted: each difference
 * counts. */
static enum mrs_status
moving(void *arg, struct live_task *tasks, uint32_t n, struct mrs_err *e)
{
    struct verifying *v = arg;
    bool all;
    enum mrs_status st = live_follow_noted(v->follow, &all, e);
    for (uint32_t i = 0; i < n && !st && !all; i++) {
        tasks[i].moving = live_follow_named(v->follow, v->b.main, tasks[i].doc);
    }
    return st;
}

static enum mrs_status
compare(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    struct verifying *v = arg;
    struct live_task *tasks;
    uint32_t k;
    uint64_t before = v->r->differs, moving_before = v->r->moving;
    MRS_TRY(live_batch_compare(&v->b, docs, n, &tasks, &k, e));
    c->differs += v->r->differs - before;
    c->missed += v->r->moving - moving_before;
    if (!k || !v->repair) {
        return live_checkpoint_save(v->b.job, c, e);
    }
    for (uint32_t i = 0; i < k; i++) {
        tasks[i] = (struct live_task){.doc = tasks[i].doc, .deleted = tasks[i].deleted};
    }
    uint64_t foreign = v->r->foreign;
    enum mrs_status st = live_batch_settle(&v->b, tasks, k, c, e);
    v->r->foreign = foreign; /* the comparison counts them */
    v->t.wrote_docs = v->b.wrote_docs;
    v->t.wrote_bytes = v->b.wrote_bytes;
    return st;
}

static enum mrs_status
between(void *arg, bool *anew, struct mrs_err *e)
{
    struct verifying *v = arg;
    return live_follow_between(v->follow, v->b.patient, anew, e);
}

/* ---- target to source ---- */

/* Reads those of docs[0..n) that no unit makes again, and moves them to the front. */
static enum mrs_status
unmade(struct verifying *v, struct mrs_view *docs, uint32_t *n, bool *owned, struct mrs_err *e)
{
    struct live_batch *b = &v->b;
    bool *made = mrs_arena_alloc(&b->make, *n + 1);
    uint32_t k = 0;
    MRS_TRY(mrs_allocated(made, *n, e));
    enum mrs_status st = live_batch_expected(b, v->side, docs, *n, made, owned, e);
    for (uint32_t i = 0; i < *n && !st; i++) {
        if (!made[i]) {
            owned[k] = owned[i];
            docs[k++] = docs[i];
        }
    }
    *n = k;
    return st;
}

static enum mrs_status
note_unmade(struct verifying *v, struct mrs_view doc, bool owned, struct mrs_err *e)
{
    if (!owned) {
        v->r->foreign++;
        live_name(v->r, v->t.coll->ns, mrs_doc_get(doc, "_id"), "others wrote it");
        return MRS_OK;
    }
    v->r->differs++;
    live_name(v->r, v->t.coll->ns, mrs_doc_get(doc, "_id"), "belongs to no document of the source");
    struct live_change c = {.kind = LIVE_DELETE, .coll = *v->t.coll, .before = doc, .guard_whole = true};
    return v->repair ? live_burst_add(&v->b.burst, &c, e) : MRS_OK;
}

static enum mrs_status
slice_back(struct verifying *v, const struct mrs_view *all, uint32_t n, struct mrs_err *e)
{
    struct live_batch *b = &v->b;
    mrs_arena_reset(&b->make);
    mrs_arena_reset(&b->batch_arena);
    struct mrs_view *docs = mrs_arena_copy(&b->make, all, n * sizeof *docs);
    struct live_read got = {.coll = v->t.coll, .bytes = UINT64_MAX, .a = &b->batch_arena};
    bool *owned = mrs_arena_alloc(&b->make, n + 1);
    if (!docs || !owned) {
        return mrs_err_memory(e, n * sizeof *docs);
    }
    live_burst_reset(&b->burst);
    enum mrs_status st = unmade(v, docs, &n, owned, e);
    if (st || !n) {
        return st;
    }
    st = live_ids_filter(&b->make, docs, n, &got.filter, e);
    MRS_THEN(st, live_read_all(b->job, &got, e));
    docs = got.docs;
    n = got.n;
    owned = st ? NULL : mrs_arena_alloc(&b->make, n + 1);
    MRS_THEN(st, owned ? unmade(v, docs, &n, owned, e) : mrs_err_memory(e, n));
    for (uint32_t i = 0; i < n && !st; i++) {
        st = note_unmade(v, docs[i], owned[i], e);
    }
    return st;
}

static enum mrs_status
back(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    struct verifying *v = arg;
    uint64_t before = v->r->differs;
    bool short_;
    for (struct live_slices s = {.n = n, .step = slice_first}; live_slices_next(&s);) {
        enum mrs_status st = slice_back(v, docs + s.at, s.k, &s.why);
        if (live_slices_halved(&s, st)) {
            continue;
        }
        MRS_THEN(st, live_batch_add_stale(&v->b, &s.why));
        st = st || !v->b.burst.n ? st : live_burst_write(&v->b.burst, NULL, &short_, &s.why);
        if (st) {
            return live_slices_failed(&s, st, e);
        }
        for (uint32_t i = 0; i < v->b.burst.n; i++) {
            bool done = v->b.burst.change[i].outcome == LIVE_WRITTEN;
            v->r->written += done;
            v->r->deleted += done;
            v->r->missed += !done;
            c->written += done;
            c->missed += !done;
        }
    }
    v->r->docs += n;
    c->differs += v->r->differs - before;
    return live_checkpoint_save(v->b.job, c, e);
}

/* ---- passes ---- */

struct which {
    const char *what;
    uint32_t no, group, main;
    int side; /* -1: source to target */
    enum live_repair repair;
    enum live_purpose purpose;
    struct live_follow *follow;
};

static enum mrs_status
one_range_scan(struct live_job *job, const struct which *w, struct live_pass_report *r, struct mrs_err *e)
{
    struct verifying v = {.r = r, .repair = w->repair != LIVE_REPAIR_NOTHING, .side = w->side,
                          .follow = w->follow};
    char name[48], phase[96];
    enum mrs_status st = live_batch_open(&v.b, job, w->group, w->main, w->purpose, r, e);
    const struct mrs_step *s = &job->plan->steps[job->live->group[w->group].first];
    uint32_t scan = w->side < 0 ? w->main : 1000 + (uint32_t)w->side;
    v.t = (struct live_scan){.job = job, .pass = live_pass_name(name, w->what, w->group, scan, w->no),
                             .phase = live_phase_name(job, phase, "verify", w->group),
                             .coll = w->side < 0 ? v.b.coll : &s->desc.sides[w->side].coll, .bounded = true,
                             .batch = w->side < 0 ? compare : back, .between = between, .arg = &v};
    v.b.record = v.repair;
    v.b.moving = w->follow && w->follow->on && !v.repair ? moving : NULL;
    v.b.moving_arg = &v;
    v.b.patient = w->repair == LIVE_REPAIR_PATIENTLY;
    uint64_t before = r->differs, moving_before = r->moving;
    MRS_THEN(st, live_scan_run(&v.t, e));
    r->differs = st ? r->differs : before + v.t.differs; /* including the count of a killed run */
    r->moving = st || v.repair ? r->moving : moving_before + v.t.missed;
    r->unsettled += v.t.missed > 0;
    live_batch_close(&v.b);
    return st;
}

static enum mrs_status
scans(struct live_job *job, struct which w, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(w.group < job->live->n_groups);
    struct live_units *u;
    enum mrs_status st = live_units_open(job, w.group, w.purpose, &u, e);
    uint32_t mains = st ? 0 : live_units_mains(u);
    live_units_close(st ? NULL : u);
    w.side = -1;
    for (w.main = 0; w.main < mains && !st; w.main++) {
        st = one_range_scan(job, &w, r, e);
    }
    const struct mrs_step *s = &job->plan->steps[job->live->group[w.group].first];
    w.main = 0;
    for (uint32_t side = 0; side < s->desc.n_sides && !st && !LIVE_MUTANT("verify-one-way"); side++) {
        if (w.purpose == LIVE_FOR_EXPAND && live_side_listed(job, w.group, side)) {
            w.side = (int)side;
            st = one_range_scan(job, &w, r, e);
        }
    }
    return st;
}

/* A repair also applies concurrent writes; without --repair such units are only compared again. */
static enum mrs_status
one_group(struct live_job *job, struct which w, struct live_pass_report *r, struct mrs_err *e)
{
    struct live_follow f;
    const struct live_follow_of of = {.what = w.what, .group = w.group, .no = w.no, .purpose = w.purpose,
                                      .targets = true, .note_only = w.repair == LIVE_REPAIR_NOTHING};
    bool again = true;
    enum mrs_status st = live_follow_begin(&f, job, &of, r, e);
    w.follow = &f;
    MRS_THEN(st, scans(job, w, r, e));
    if (w.repair == LIVE_REPAIR_NOTHING) {
        again = r->moving > 0;
    } else if (f.on) {
        MRS_THEN(st, live_follow_apply(&f, w.repair == LIVE_REPAIR_PATIENTLY, false, &again, e));
    }
    r->unsettled += again;
    live_follow_end(&f);
    return st;
}

static bool
direct_run(const struct live_job *job)
{
    char mode[16];
    live_text_at((struct mrs_view){job->run->doc.p, (uint32_t)job->run->doc.n}, "mode", mode, sizeof mode);
    return strcmp(mode, "direct") == 0;
}

enum mrs_status
live_verify_groups(struct live_job *job, const char *what, uint32_t no, uint32_t first, uint32_t last,
                   enum live_repair repair, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(first <= last && last <= job->live->n_groups);
    enum live_purpose purpose = direct_run(job) ? LIVE_FOR_DIRECT : LIVE_FOR_EXPAND;
    enum mrs_status st = MRS_OK;
    for (uint32_t g = first; g < last && !st; g++) {
        if (live_works(job, g, purpose)) {
            struct which w = {.what = what, .no = no, .group = g, .repair = repair, .purpose = purpose};
            st = one_group(job, w, r, e);
        }
    }
    return st;
}

bool
live_verify_settled(const struct live_pass_report *r)
{
    return r->unsettled == 0 && r->missed == 0 && r->foreign == 0;
}

enum mrs_status
live_next_number(struct live_job *job, const char *field, uint32_t *no, struct mrs_err *e)
{
    MRS_ASSERT(job->run && field);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view set, doc = {job->run->doc.p, (uint32_t)job->run->doc.n};
    *no = (uint32_t)live_int_at(doc, field, 0) + 1;
    mrs_buf_init(&buf, job->mem, 4096);
    mrs_build_init(&b, &buf);
    mrs_build_i64(&b, field, *no);
    enum mrs_status st = mrs_build_finish(&b, &set, e);
    MRS_THEN(st, live_run_set(job, set, e));
    mrs_buf_clear(&buf);
    return st;
}

/* Resumes an interrupted comparison under its number. */
static enum mrs_status
begin(struct live_job *job, uint32_t *no, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_view set, doc = {job->run->doc.p, (uint32_t)job->run->doc.n};
    bool open = live_bool_at(doc, "verifying", false);
    *no = (uint32_t)live_int_at(doc, "verify_no", 0) + (open ? 0 : 1);
    if (open) {
        return MRS_OK;
    }
    mrs_buf_init(&buf, job->mem, 4096);
    enum mrs_status st = live_doc(&buf, &set, e, "{verifying: true, verify_no: %i, verified: null}", (int64_t)*no);
    MRS_THEN(st, live_run_set(job, set, e));
    mrs_buf_clear(&buf);
    return st;
}

static enum mrs_status
finish(struct live_job *job, bool clean, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_view set;
    mrs_buf_init(&buf, job->mem, 4096);
    enum mrs_status st = clean ? live_doc(&buf, &set, e, "{verifying: null, verified: %s}", LIVE_SERVER_TIME)
                               : live_doc(&buf, &set, e, "{verifying: null, verified: null}");
    MRS_THEN(st, live_run_set(job, set, e));
    mrs_buf_clear(&buf);
    return st;
}

/* Compares everything once; *right: no differences left, and nothing postponed. */
static enum mrs_status
one_round(struct live_job *job, enum live_repair repair, bool over, bool *right, struct live_pass_report *r,
          struct mrs_err *e)
{
    uint32_t no, groups = over ? job->live->n_groups : job->run->group;
    uint64_t missed = r->missed;
    r->differs = r->foreign = r->refused = r->unsettled = r->missed = r->moving = 0;
    r->n_named = 0;
    enum live_purpose purpose = direct_run(job) ? LIVE_FOR_DIRECT : LIVE_FOR_EXPAND;
    enum mrs_status st = live_foresee_verify(job, purpose, groups, e);
    MRS_THEN(st, begin(job, &no, e));
    MRS_THEN(st, live_verify_groups(job, "verify", no, 0, groups, repair, r, e));
    if (!st && repair != LIVE_REPAIR_NOTHING && live_verify_settled(r)) {
        r->differs = 0; /* no longer */
        r->n_named = 0;
    }
    if (!st && r->moving && job->print_line) {
        char line[160];
        snprintf(line, sizeof line, "%llu document%s written each time that verify looked: whether they differ cannot "
                 "be told", (unsigned long long)r->moving, r->moving == 1 ? " was" : "s were");
        job->print_line(job->arg, line);
    }
    *right = !st && r->differs == 0 && r->moving == 0 && (repair != LIVE_REPAIR_PATIENTLY || r->missed == 0);
    r->missed += missed;
    return st ? st : finish(job, over && *right, e);
}

/* Repeats patiently while that changes something; the last two rounds are not patient: one refuses and withdraws the
 * products of refused units, and one reads the result. */
static enum mrs_status
repair_in_rounds(struct live_job *job, bool over, struct live_pass_report *r, struct mrs_err *e)
{
    enum live_repair repair = LIVE_REPAIR_PATIENTLY;
    uint32_t rounds = 1 + (job->opts.passes ? job->opts.passes : REPAIR_ROUNDS);
    enum mrs_status st = MRS_OK;
    bool right = false;
    for (uint32_t round = 0; round < rounds && !right && !st; round++) {
        uint64_t written = r->written;
        repair = round + 2 < rounds ? repair : LIVE_REPAIR_ALL;
        st = one_round(job, repair, over, &right, r, e);
        repair = r->written != written ? repair : LIVE_REPAIR_ALL;
    }
    return st;
}

enum mrs_status
live_verify(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->live);
    bool over = live_run_in(job, "expanded") || (live_run_in(job, "done") && direct_run(job));
    if (!over && !live_run_in(job, "expand") && !live_run_in(job, "direct")) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                           "run %s is in phase \"%s\": only one of the two schemas is left, nothing can be compared",
                           job->run->short_id, job->run->phase);
    }
    bool right;
    enum mrs_status st = live_block_leave(job, e); /* of a contract that was killed before it removed anything */
    if (!st && job->opts.repair && !job->opts.dry_run) {
        return repair_in_rounds(job, over, r, e);
    }
    return st ? st : one_round(job, LIVE_REPAIR_NOTHING, over, &right, r, e);
}
