/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c - a walk over a collection, batch by batch.
 *
 * The checkpoint is authoritative: after a lost connection, everything in memory is discarded and the walk resumes from
 * the server's state. The size of batches adapts to the time they take. A `bounded` walk ends after the `_id` that was
 * the greatest when it began, so that writers who append documents cannot extend it without end; the next walk reads
 * those. The caller processes the documents; this file does not depend on how. */
#include "live/link/bson.h"
#include "live/server/server.h"
#include "work.h"

#include "mongoreshape/ejson.h"
#include "mongoreshape/value.h"

#include <stdio.h>
#include <time.h>

enum { LOST_MAX = 60, NAMED_MAX = 1000 };
static const uint64_t read_max = 16u << 20;

struct pass_walk {
    struct live_scan *t;
    struct live_checkpoint c;
    struct live_range range;
    struct mrs_buf upper;   /* {_id: greatest} */
    struct live_batches batches;
    uint32_t lost;          /* lost connections since the last complete batch */
};

const char *
live_pass_name(char out[48], const char *what, uint32_t group, uint32_t main, uint32_t no)
{
    snprintf(out, 48, "%s/%u/%u/%u", what, group, main, no);
    return out;
}

const char *
live_phase_name(const struct live_job *job, char out[96], const char *what, uint32_t group)
{
    MRS_ASSERT(group < job->live->n_groups);
    const struct mrs_step *s = &job->plan->steps[job->live->group[group].first];
    snprintf(out, 96, "%s %u %s", what, s->no, s->type->name);
    return out;
}

enum mrs_status
live_lost_since(const struct live_job *job, uint64_t gen, enum mrs_status st, struct mrs_err *e)
{
    if (st == MRS_FAIL && live_link_generation(job->link) != gen && (!e || e->code == MRS_E_SERVER)) {
        if (e) {
            mrs_err_clear(e);
        }
        return MRS_END;
    }
    return st;
}

enum mrs_status
live_scan_wait(struct live_job *job, uint32_t lost, struct mrs_err *e)
{
    MRS_ASSERT(lost <= LOST_MAX + 1);
    if (lost > LOST_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "the connection was lost %u times without any progress; the same command resumes the "
                           "run", lost);
    }
    int64_t ms = lost < 6 ? 50 << lost : 2000;
    for (int64_t slept = 0; slept < ms; slept += 50) {
        if (job->cancel && __atomic_load_n(job->cancel, __ATOMIC_RELAXED)) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted");
        }
        struct timespec t = {0, 50000000};
        nanosleep(&t, NULL);
    }
    return MRS_OK;
}

void
live_name(struct live_pass_report *r, const char *ns, struct mrs_val id, const char *what)
{
    MRS_ASSERT(what && r->n_named <= NAMED_MAX);
    if (!r->arena || r->n_named >= NAMED_MAX) {
        return;
    }
    if (!r->named && !(r->named = mrs_arena_alloc(r->arena, NAMED_MAX * sizeof *r->named))) {
        return;
    }
    struct mrs_buf b;
    mrs_buf_init(&b, r->arena->mem, 1u << 20);
    mrs_buf_printf(&b, "%s ", ns);
    mrs_ejson_write_val(id, false, &b);
    mrs_buf_printf(&b, ": %s", what);
    mrs_buf_byte(&b, 0);
    char *text = b.bad ? NULL : mrs_arena_copy(r->arena, b.p, b.n);
    if (text) {
        r->named[r->n_named++] = text;
    }
    mrs_buf_clear(&b);
}

/* ---- documents ---- */

static enum mrs_status
keep_read(struct live_read *r, struct mrs_view doc, uint64_t *sum, struct mrs_buf *list, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    *sum += doc.n;
    if (*sum > r->bytes) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "a batch reads more than %llu bytes of %s",
                           (unsigned long long)r->bytes, r->coll->ns);
    }
    doc.p = mrs_arena_copy(r->a, doc.p, doc.n);
    mrs_buf_put(list, &doc, sizeof doc);
    return doc.p ? mrs_buf_status(list, e) : mrs_err_memory(e, doc.n);
}

enum mrs_status
live_read_all(struct live_job *job, struct live_read *r, struct mrs_err *e)
{
    MRS_ASSERT(r->a && r->coll);
    struct mrs_buf list, room;
    struct live_cursor *cur = NULL;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    struct mrs_view doc, opts = mrs_empty_doc();
    uint64_t sum = 0;
    r->n = 0;
    mrs_buf_init(&list, job->mem, 1u << 30);
    mrs_buf_init(&room, job->mem, 1024);
    enum mrs_status st = r->ids ? live_doc(&room, &opts, e, "{projection: {_id: 1}}") : MRS_OK;
    MRS_THEN(st, live_find(job->link, r->coll, r->filter, opts, 0, &cur, e));
    while (!st && !(st = live_cursor_next(cur, &doc, &f, e))) {
        st = keep_read(r, doc, &sum, &list, e);
    }
    live_cursor_close(cur);
    st = st == MRS_END ? MRS_OK : live_lost(&f, st, e);
    if (!st) {
        r->bytes -= sum;
        r->n = (uint32_t)(list.n / sizeof doc);
        r->docs = mrs_arena_copy(r->a, list.n ? list.p : (const void *)"", list.n);
        st = mrs_allocated(r->docs, list.n, e);
    }
    mrs_buf_clear(&list);
    mrs_buf_clear(&room);
    return st;
}

enum mrs_status
live_ids_filter(struct mrs_arena *a, const struct mrs_view *docs, uint32_t n, struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || docs);
    struct mrs_buf buf;
    struct mrs_build w;
    mrs_buf_init(&buf, a->mem, 1u << 28);
    mrs_build_init(&w, &buf);
    mrs_build_open(&w, "_id", 3, MRS_DOCUMENT);
    mrs_build_open(&w, "$in", 3, MRS_ARRAY);
    for (uint32_t i = 0; i < n; i++) {
        mrs_build_item(&w, mrs_doc_get(docs[i], "_id"));
    }
    mrs_build_close(&w);
    mrs_build_close(&w);
    enum mrs_status st = mrs_build_finish(&w, out, e);
    if (!st) {
        out->p = mrs_arena_copy(a, out->p, out->n);
        st = mrs_allocated(out->p, out->n, e);
    }
    mrs_buf_clear(&buf);
    return st;
}

struct live_claimed
live_claims_of(const struct live_job *job, uint32_t group, int side)
{
    MRS_ASSERT(group < job->live->n_groups);
    const struct mrs_live_group *g = &job->live->group[group];
    return (struct live_claimed){g->claims, g->claims_side == side ? g->n_claims : 0};
}

enum mrs_status
live_less_claims(const struct live_job *job, uint32_t group, int side, struct mrs_view doc, struct mrs_arena *a,
                 struct mrs_view *out, struct mrs_err *e)
{
    struct mrs_buf buf;
    mrs_buf_init(&buf, a->mem, MRS_DOC_READ_MAX);
    enum mrs_status st = live_claimed_out(live_claims_of(job, group, side), doc, &buf, out, e);
    if (!st && out->p != doc.p) {
        out->p = mrs_arena_copy(a, out->p, out->n);
        st = mrs_allocated(out->p, out->n, e);
    }
    mrs_buf_clear(&buf);
    return st;
}

/* ---- slices ---- */
bool
live_slices_next(struct live_slices *s)
{
    MRS_ASSERT(s->at <= s->n);
    s->at += s->k;
    s->k = s->n - s->at < s->step ? s->n - s->at : s->step;
    mrs_err_clear(&s->why);
    return s->at < s->n;
}

bool
live_slices_halved(struct live_slices *s, enum mrs_status st)
{
    MRS_ASSERT(s->step > 0);
    if (st != MRS_FAIL || s->why.code != MRS_E_LIMIT || s->k <= 1) {
        return false;
    }
    s->step = s->k / 2;
    s->k = 0;
    return true;
}

enum mrs_status
live_slices_failed(const struct live_slices *s, enum mrs_status st, struct mrs_err *e)
{
    MRS_ASSERT(s->step > 0);
    if (e && st < 0) {
        *e = s->why;
    }
    return st;
}

/* ---- the walk ---- */

static enum mrs_status
find_upper(struct pass_walk *w, struct mrs_err *e)
{
    struct mrs_buf opts;
    struct mrs_view o;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    if (!w->t->bounded || w->upper.n) {
        return MRS_OK;
    }
    mrs_buf_init(&opts, w->t->job->mem, 1024);
    enum mrs_status st = live_doc(&opts, &o, e, "{sort: {_id: -1}, projection: {_id: 1}, limit: 1}");
    MRS_THEN(st, live_find_one(w->t->job->link, w->t->coll, mrs_empty_doc(), o, &w->upper, &f, e));
    mrs_buf_clear(&opts);
    if (st == MRS_END) { /* empty collection: nothing to do in this walk */
        mrs_buf_put(&w->upper, mrs_empty_bytes, 5);
        return MRS_OK;
    }
    return live_lost(&f, st, e);
}

static bool
beyond(const struct pass_walk *w)
{
    if (!w->t->bounded || w->range.n == 0) {
        return false;
    }
    struct mrs_view upper = {w->upper.p, (uint32_t)w->upper.n};
    return mrs_compare(mrs_doc_get(w->range.docs[0], "_id"), mrs_doc_get(upper, "_id")) > 0;
}

/* Reloads the checkpoint from the server, and discards the one in memory. */
static enum mrs_status
reload(struct pass_walk *w, struct mrs_err *e)
{
    struct live_job *job = w->t->job;
    if (w->c.id[0] && LIVE_MUTANT("memory-after-reconnect")) {
        return MRS_OK;
    }
    live_checkpoint_clear(&w->c);
    memset(&w->c, 0, sizeof w->c);
    uint64_t gen = live_link_generation(job->link);
    return live_lost_since(job, gen, live_checkpoint_open(job, w->t->pass, &w->c, e), e);
}

uint64_t
live_estimated(const struct live_job *job, const struct mrs_coll *coll)
{
    const struct live_coll_info *info = job->server ? live_server_coll(job->server, coll) : NULL;
    return info ? info->count : 0;
}

static enum mrs_status
report(struct pass_walk *w, struct mrs_err *e)
{
    struct live_scan *t = w->t;
    struct live_progress p = {.phase = t->phase, .ns = t->coll->ns, .done = w->c.docs,
                              .estimated = live_estimated(t->job, t->coll), .bytes = t->wrote_bytes};
    return live_run_report(t->job, &p, e);
}

static bool
before_end(struct mrs_view doc, struct mrs_view end)
{
    return mrs_compare(mrs_doc_get(doc, "_id"), mrs_doc_get(end, "_id")) < 0;
}

/* Drops documents after the end of the scan. */
static void
cut_at_end(struct pass_walk *w)
{
    struct mrs_view end = w->t->end, bound = {w->range.bound.p, (uint32_t)w->range.bound.n};
    struct live_range *r = &w->range;
    if (end.n == 0) {
        return;
    }
    r->last = r->last || !before_end(bound, end);
    while (r->n && !before_end(r->docs[r->n - 1], end)) {
        r->n--;
        r->last = true;
    }
}

static enum mrs_status
move_to_bound(struct pass_walk *w, struct mrs_err *e)
{
    MRS_ASSERT(w->range.last || w->range.bound.n > 0);
    mrs_buf_reset(&w->c.last);
    mrs_buf_put(&w->c.last, w->range.bound.p, w->range.bound.n);
    w->c.done = w->range.last;
    w->c.docs += w->range.n;
    return mrs_buf_status(&w->c.last, e);
}

static enum mrs_status
between_batches(struct pass_walk *w, struct mrs_err *e)
{
    struct live_scan *t = w->t;
    bool anew = false;
    enum mrs_status st = live_run_breathe(t->job, t->wrote_docs, t->wrote_bytes, e);
    t->wrote_docs = t->wrote_bytes = 0;
    if (!st && t->between) {
        st = t->between(t->arg, &anew, e);
    }
    if (anew) {
        live_range_forget(&w->range);
    }
    return st;
}

static enum mrs_status
one_batch(struct pass_walk *w, struct mrs_err *e)
{
    MRS_ASSERT(!w->c.done);
    struct live_scan *t = w->t;
    enum mrs_status st = between_batches(w, e);
    MRS_THEN(st, find_upper(w, e));
    int64_t start = mrs_clock_asleep();
    struct mrs_view from = {w->c.last.p, (uint32_t)w->c.last.n};
    MRS_THEN(st, live_range_read(t->job, t->coll, from, w->batches.size, read_max, &w->range, e));
    if (st) {
        return st;
    }
    cut_at_end(w);
    if (beyond(w)) {
        w->c.done = true;
        return live_checkpoint_save(t->job, &w->c, e);
    }
    st = move_to_bound(w, e);
    MRS_THEN(st, t->batch(t->arg, w->range.docs, w->range.n, &w->c, e));
    if (!st) {
        live_batches_took(t->job, &w->batches, w->range.n, mrs_clock_asleep() - start, t->wrote_bytes);
        w->lost = 0;
        live_run_wrote(t->job->run, t->wrote_docs, t->wrote_bytes);
        st = report(w, e);
    }
    return st;
}

static void
sum_up(struct pass_walk *w)
{
    w->t->docs = w->c.docs;
    w->t->written = w->c.written;
    w->t->missed = w->c.missed;
    w->t->refused = w->c.refused;
    w->t->differs = w->c.differs;
}

enum mrs_status
live_scan_run(struct live_scan *t, struct mrs_err *e)
{
    MRS_ASSERT(t->batch && t->pass && t->job->run);
    struct pass_walk w = {.t = t};
    live_batches_begin(t->job, &w.batches);
    mrs_buf_init(&w.upper, t->job->mem, MRS_DOC_READ_MAX);
    live_range_init(&w.range, t->job->mem);
    w.range.ids = t->ids;
    w.range.end = t->end;
    live_course_walk(t->job, live_estimated(t->job, t->coll), t->writes ? LIVE_WRITES : LIVE_READS);
    enum mrs_status st = reload(&w, e);
    while (st >= 0 && (st == MRS_END || !w.c.done)) {
        uint64_t gen = live_link_generation(t->job->link);
        MRS_THEN(st, live_lost_since(t->job, gen, one_batch(&w, e), e));
        if (st == MRS_END) {
            st = live_scan_wait(t->job, ++w.lost, e);
            MRS_THEN(st, reload(&w, e));
        }
    }
    live_course_walked(t->job, w.c.docs);
    sum_up(&w);
    live_checkpoint_clear(&w.c);
    live_range_clear(&w.range);
    mrs_buf_clear(&w.upper);
    return st;
}
