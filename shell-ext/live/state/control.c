/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - the checks between two batches: cancel, pause, throttle, ownership, identity of server and collections.
 *
 * One function is called before every batch and reads everything that may have changed outside: it sleeps in short
 * intervals and reads the run document at least every second, so a limit that is changed while it waits takes effect at
 * once. After a lost connection it returns END, and the caller resumes at the checkpoint, since its last writes may not
 * have been executed. Counters for `status` are written here too, once a second. Does not depend on the content of a
 * batch. */
#include "ranges.h"
#include "state_io.h"

#include <stdio.h>

enum { SLICE_MS = 200, CONTROL_MS = 1000, UUID_MS = 60000, REPORT_MS = 1000 };

/* ---- report progress ---- */
static void
remember(struct live_run *r, const struct live_progress *p)
{
    if (p != &r->shown) {
        snprintf(r->shown_phase, sizeof r->shown_phase, "%s", p->phase ? p->phase : "");
        snprintf(r->shown_ns, sizeof r->shown_ns, "%s", p->ns ? p->ns : "");
        r->shown = *p;
        r->shown.phase = r->shown_phase;
        r->shown.ns = r->shown_ns;
        r->shown.why = "";
    }
}

/* The progress over all walks for the run document; missing if unknown. */
static enum mrs_status
course_doc(const struct live_progress *p, struct mrs_arena *a, struct mrs_val *out, struct mrs_err *e)
{
    MRS_ASSERT(p->percent <= 100);
    struct mrs_view d;
    *out = mrs_missing();
    if (!p->course) {
        return MRS_OK;
    }
    enum mrs_status s = live_doc_in(a, &d, e, "{of: %s, percent: %I, walk: %I, walks: %I, left: %I}", p->course,
                                    (int64_t)p->percent, (int64_t)p->walk, (int64_t)p->walks, p->seconds_left);
    *out = s == MRS_OK ? mrs_view_val(d) : *out;
    return s;
}

static enum mrs_status
report_server(struct live_job *job, const struct live_progress *p, struct mrs_err *e)
{
    MRS_ASSERT(job->run && !job->run->worker);
    struct live_run *r = job->run;
    struct live_state_change c = {0};
    struct mrs_arena a;
    struct mrs_view u;
    struct mrs_val course = mrs_missing();
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &c.q, e, "{_id: {$eq: %s}, epoch: %I}", r->id, r->epoch);
    MRS_THEN(s, course_doc(p, &a, &course, e));
    if (s == MRS_OK) {
        s = live_doc_in(&a, &u, e,
                        "{$set: {doing: %s, ns: %s, done: %I, estimated: %I, bytes: %I, rate: %f, limiting: %s, "
                        "why: %s, speed: %f, course: %v, refused: %I}, $currentDate: {updated: true}}",
                        p->phase, p->ns, (int64_t)p->done, (int64_t)p->estimated, (int64_t)p->bytes, p->docs_per_s,
                        p->limiting, p->why, p->speed, course, (int64_t)r->n_refused);
    }
    if (s == MRS_OK) {
        c.u = mrs_view_val(u);
        s = live_state_update(job, &r->state_runs, &c, NULL, e); /* other functions check ownership */
    }
    mrs_arena_clear(&a);
    return s;
}

/* A failure to write metrics does not stop the run: it is reported once, and each write is tried again. */
static void
publish(struct live_job *job)
{
    MRS_ASSERT(job->run);
    struct mrs_err e;
    char line[700];
    mrs_err_clear(&e);
    if (live_run_publish(job, NULL, &e) != MRS_OK && !job->run->deaf && job->print_line) {
        job->run->deaf = true;
        snprintf(line, sizeof line, "note: metrics are not written: %.600s", e.msg);
        job->print_line(job->arg, line);
    }
}

enum mrs_status
live_run_report(struct live_job *job, const struct live_progress *p, struct mrs_err *e)
{
    MRS_ASSERT(p);
    struct live_run *r = job->run;
    int64_t now = mrs_clock_asleep();
    if (!r) {
        if (job->progress) {
            job->progress(job->arg, p);
        }
        return MRS_OK;
    }
    remember(r, p);
    live_course_report(&r->course, &r->shown, now);
    live_speed_reason(r, now);
    if (job->progress) {
        job->progress(job->arg, &r->shown);
    }
    if (r->worker || (r->reported_ms && now - r->reported_ms < REPORT_MS)) { /* the leader reports for all */
        return MRS_OK;
    }
    r->reported_ms = now;
    publish(job);
    return report_server(job, &r->shown, e);
}

/* ---- before each batch ---- */
/* Reloads the run document: controls, ownership, and speed. */
static enum mrs_status
reload_run(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    char owner[64];
    int64_t sent = mrs_clock_asleep();
    enum mrs_status s = live_run_load(job, e);
    int64_t latency = mrs_clock_asleep() - sent;
    if (s < MRS_OK) {
        return s;
    }
    live_text_at(live_run_doc(r), "owner", owner, sizeof owner);
    if (s == MRS_END || strcmp(owner, r->leader) != 0 || live_int_at(live_run_doc(r), "epoch", 0) != r->epoch) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "run %s was taken over by another process, nothing more is written "
                           "here",
                           r->short_id);
    }
    bool limited = r->worker && (r->control.docs_per_s || r->control.bytes_per_s);
    s = limited ? live_range_sharers(job, &r->sharers, e) : MRS_OK;
    return s == MRS_OK ? live_speed_update(job, latency, e) : s;
}

int64_t
live_control_due(const struct live_control *c, uint64_t docs, uint64_t bytes)
{
    double ms = 0, by_docs = 0, by_bytes = 0;
    if (docs || bytes) {
        by_docs = c->docs_per_s ? (double)docs * 1000 / (double)c->docs_per_s : 0;
        by_bytes = c->bytes_per_s ? (double)bytes * 1000 / (double)c->bytes_per_s : 0;
        ms = by_docs > by_bytes ? by_docs : by_bytes;
    }
    return ms < 1e12 ? (int64_t)ms : (int64_t)1e12;
}

/* The checks that are made with or without a wait. */
static enum mrs_status
check_all(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    enum mrs_status s = live_cancelled(job) ? live_cancel_err(e) : MRS_OK;
    MRS_THEN(s, live_lease_keep(job, e));
    if (s == MRS_OK && (!r->governed || mrs_clock_asleep() - r->control_read_ms >= CONTROL_MS)) {
        s = reload_run(job, e);
    }
    if (s == MRS_OK && !live_phase_over(r->phase) && mrs_clock_asleep() - r->uuid_checked_ms >= UUID_MS) {
        s = live_run_uuids(job, e);
    }
    return s;
}

/* Waits as limits, pause and governor require. */
static enum mrs_status
throttle(struct live_job *job, uint64_t docs, uint64_t bytes, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    const struct live_breath b = {.docs = docs, .bytes = bytes, .since = r->breathed_ms, .came = mrs_clock_asleep()};
    r->throttled = false;
    for (;;) {
        int64_t wait = live_speed_wait(r, &b, mrs_clock_asleep());
        if (wait <= 0) {
            return MRS_OK;
        }
        r->throttled = true;
        MRS_TRY(live_run_report(job, &r->shown, e));
        int64_t before = mrs_clock_asleep();
        live_nap(wait > SLICE_MS ? SLICE_MS : wait);
        live_spent_throttled(&r->spent, mrs_clock_asleep() - before);
        MRS_TRY(check_all(job, e));
    }
}

/* A new connection: earlier commands may or may not have been executed, and may still be running. */
static enum mrs_status
after_reconnect(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(live_link_generation(job->link) != job->run->generation);
    struct live_run *r = job->run;
    uint64_t generation = live_link_generation(job->link);
    enum mrs_status s = live_lease_renew(job, e);
    MRS_THEN(s, live_lease_quell(job, r->id, r->owner, e));
    MRS_THEN(s, reload_run(job, e));
    if (s == MRS_OK && !live_phase_over(r->phase)) {
        s = live_run_uuids(job, e);
    }
    if (s == MRS_OK) {
        r->generation = generation;
        s = MRS_END;
    }
    return s;
}

enum mrs_status
live_run_breathe(struct live_job *job, uint64_t docs, uint64_t bytes, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->link);
    struct live_run *r = job->run;
    int64_t came = mrs_clock_asleep();
    enum mrs_status s = check_all(job, e);
    MRS_THEN(s, throttle(job, docs, bytes, e));
    r->worked_ms += came - r->breathed_ms;
    r->breathed_ms = mrs_clock_asleep();
    r->waited_ms += r->breathed_ms - came;
    if (s == MRS_OK && live_link_generation(job->link) != r->generation) {
        if (LIVE_MUTANT("memory-after-reconnect")) {
            r->generation = live_link_generation(job->link);
            return MRS_OK;
        }
        return after_reconnect(job, e);
    }
    return s;
}

/* ---- controls ---- */
enum mrs_status
live_control_set(struct live_job *job, const struct live_control *c, bool pause_only, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    struct live_state_change change = {0};
    struct mrs_arena a;
    struct mrs_view u;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &change.q, e, "{_id: {$eq: %s}}", r->id);
    if (s == MRS_OK) {
        s = pause_only ? live_doc_in(&a, &u, e, "{$set: {control.pause: %b}}", c->pause)
                       : live_doc_in(&a, &u, e,
                                     "{$set: {control.pause: %b, control.docs: %I, control.bytes: %I, control.sleep: "
                                     "%I, control.max_lag: %s, control.max_latency: %s, control.max_load: %s, "
                                     "control.critical_load: %s, control.hours: %s}}",
                                     c->pause, (int64_t)c->docs_per_s, (int64_t)c->bytes_per_s, c->sleep_ms,
                                     c->texts.max_lag, c->texts.max_latency, c->texts.max_load,
                                     c->texts.critical_load, c->texts.hours);
    }
    if (s == MRS_OK) {
        change.u = mrs_view_val(u);
        s = live_state_update(job, &r->state_runs, &change, NULL, e);
    }
    mrs_arena_clear(&a);
    if (s == MRS_OK && change.matched != 1) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "run %s is not there any more", r->short_id);
    }
    MRS_THEN(s, live_run_load(job, e));
    return s;
}
