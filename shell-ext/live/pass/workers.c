/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - a walk shared by several processes, seen from the leader of the run.
 *
 * The walk is cut into ranges, workers take them (range_work.c), and the leader derives nothing: it renews the leases
 * of the run, keeps the workers going, reports their progress, and closes the walk when all ranges are done. Only then
 * anything else is derived, by the leader alone: a unit has one deriver at a time. If two documents could make one
 * `_id`, or some write of a worker could not be fenced, the walk is not shared, and a message says so. */
#include "live/state/ranges.h"
#include "live/state/state_io.h"
#include "work.h"

#include <stdio.h>

enum { LOOK_MS = 40, LOOK_MORE_MS = 20, LOOK_MAX_MS = 1000 };

/* Do the products of a document have `_id`s of their own, in any order? */
static bool
makes_apart(const struct mrs_desc *d)
{
    for (uint32_t side = 0; side < d->n_sides && d->family != MRS_FAMILY_MAP; side++) {
        bool apart = !(d->sides[side].role & MRS_ROLE_ADD) || d->own_ids;
        for (uint32_t i = 0; i < d->n_listings && !apart; i++) {
            const struct mrs_listing *l = &d->listings[i];
            apart = l->side == (int)side && strcmp(l->field, "_id") == 0 && strcmp(l->key, "_id") == 0;
        }
        if (!apart) {
            return false;
        }
    }
    return true;
}

/* Why this walk is not shared; NULL: it is shared. */
static const char *
why_not(const struct live_job *job, const struct live_walk *w)
{
    MRS_ASSERT(w->group < job->live->n_groups);
    const struct mrs_live_group *g = &job->live->group[w->group];
    if (!live_link_replicated(job->link)) {
        return "a standalone server has no transactions to fence workers with";
    }
    if (job->opts.no_transactions) {
        return "without transactions workers cannot be fenced";
    }
    if (job->opts.native) {
        return "pipelines of the server are not fenced";
    }
    if (!makes_apart(&job->plan->steps[g->first].desc)) {
        return "two documents could make one _id, and which comes first must not be left to chance";
    }
    return NULL;
}

static void
report_single_worker(struct live_job *job, const struct live_walk *w, const char *why)
{
    char line[300], phase[96];
    if (job->print_line && why && job->workers && job->workers->n > 1) {
        snprintf(line, sizeof line, "%s: by one worker: %s", live_phase_name(job, phase, "step", w->group), why);
        job->print_line(job->arg, line);
    }
}

struct leading {
    struct live_job *job;
    struct live_cut cut;
    const char *phase;
    struct live_checkpoint c; /* of the walk */
    struct live_ranges_sum sum;
};

/* Loads the checkpoint of the walk, and its ranges. END: connection lost. */
static enum mrs_status
open_ranges(struct leading *l, uint32_t *n, struct mrs_err *e)
{
    uint64_t gen = live_link_generation(l->job->link);
    live_checkpoint_clear(&l->c);
    enum mrs_status st = live_checkpoint_open(l->job, l->cut.pass, &l->c, e);
    MRS_THEN(st, live_ranges_open(l->job, &l->cut, &l->c, n, e));
    return live_lost_since(l->job, gen, st, e);
}

static enum mrs_status
report(struct leading *l, struct mrs_err *e)
{
    struct live_progress p = {.phase = l->phase, .ns = l->cut.coll->ns, .done = l->c.docs + l->sum.docs,
                              .estimated = live_estimated(l->job, l->cut.coll)};
    return live_run_report(l->job, &p, e);
}

/* Waits until all ranges are done. first: number written before. */
static enum mrs_status
lead(struct leading *l, uint64_t first, struct mrs_err *e)
{
    struct live_job *job = l->job;
    MRS_ASSERT(job->workers && l->cut.coll);
    enum mrs_status st = MRS_OK;
    int64_t nap = LOOK_MS;
    for (uint64_t before = 0, written = first; !st; nap += nap < LOOK_MAX_MS ? LOOK_MORE_MS : 0) {
        st = live_run_breathe(job, 0, 0, e);
        st = st == MRS_END ? MRS_OK : st; /* no state in memory to discard */
        MRS_THEN(st, live_ranges_sum(job, job->run->id, l->cut.pass, &l->sum, e));
        MRS_THEN(st, report(l, e));
        uint32_t waived = LIVE_MUTANT("follow-while-walking") ? l->sum.leased : 0;
        if (st || l->sum.done + waived == l->sum.all) {
            break;
        }
        st = job->workers->keep(job->workers, l->sum.docs + l->sum.done != before, e);
        before = l->sum.docs + l->sum.done;
        live_run_wrote(job->run, l->sum.written - written, 0);
        written = l->sum.written;
        live_nap(nap);
    }
    return st;
}

/* Adds up their counters in the walk's checkpoint; refused documents of all workers count. */
static enum mrs_status
close_walk(struct leading *l, struct mrs_err *e)
{
    MRS_ASSERT(l->sum.done == l->sum.all);
    enum mrs_status st = MRS_END;
    for (uint32_t lost = 0; st == MRS_END;) {
        uint64_t gen = live_link_generation(l->job->link);
        live_checkpoint_clear(&l->c);
        st = live_checkpoint_open(l->job, l->cut.pass, &l->c, e);
        MRS_THEN(st, l->c.done ? MRS_OK : live_ranges_close(l->job, l->cut.pass, &l->c, e));
        MRS_THEN(st, live_refused_count(l->job, &l->job->run->n_refused, e));
        st = live_lost_since(l->job, gen, st, e);
        if (st == MRS_END) {
            st = live_scan_wait(l->job, ++lost, e);
            st = st == MRS_OK ? MRS_END : st;
        }
    }
    return st;
}

static enum mrs_status
share(struct leading *l, struct live_walk *w, bool *shared, struct live_pass_report *r, struct mrs_err *e)
{
    struct live_ranges_sum first;
    uint32_t n = 0, lost = 0;
    enum mrs_status st;
    while ((st = open_ranges(l, &n, e)) == MRS_END) {
        st = live_scan_wait(l->job, ++lost, e);
        if (st) {
            return st;
        }
    }
    if (st || n == 0) {
        return st;
    }
    *shared = true;
    live_course_walk(l->job, live_estimated(l->job, l->cut.coll), LIVE_WRITES);
    st = live_ranges_sum(l->job, l->job->run->id, l->cut.pass, &first, e);
    MRS_THEN(st, lead(l, first.written, e));
    MRS_THEN(st, LIVE_MUTANT("follow-while-walking") ? MRS_OK : close_walk(l, e));
    live_course_walked(l->job, l->c.docs);
    r->docs += l->sum.docs - first.docs;
    r->written += l->sum.written - first.written;
    r->missed += l->sum.missed - first.missed;
    w->wrote = w->wrote || l->c.written;
    w->missed = w->missed || l->c.missed;
    return st;
}

enum mrs_status
live_walk_shared(struct live_job *job, struct live_walk *w, bool *shared, struct live_pass_report *r,
                 struct mrs_err *e)
{
    MRS_ASSERT(w->group < job->live->n_groups);
    struct leading l;
    struct live_units *u;
    char name[48], phase[96];
    int side;
    *shared = false;
    if (w->purpose != LIVE_FOR_EXPAND || w->no > 0 || !job->workers) {
        return MRS_OK;
    }
    const char *why = why_not(job, w);
    report_single_worker(job, w, why);
    MRS_TRY(live_units_open(job, w->group, w->purpose, &u, e));
    memset(&l, 0, sizeof l);
    l.job = job;
    l.phase = live_phase_name(job, phase, "expand", w->group);
    l.cut = (struct live_cut){.pass = live_pass_name(name, "expand", w->group, w->main, 0), .group = w->group,
                              .main = w->main, .coll = live_units_main(u, w->main, &side)};
    if (!why && job->workers->n > 1) {
        l.cut.docs = job->opts.batch ? job->opts.batch : LIVE_BATCH_FIRST;
    }
    enum mrs_status st = live_link_replicated(job->link) ? share(&l, w, shared, r, e) : MRS_OK;
    live_checkpoint_clear(&l.c);
    live_units_close(u);
    return st;
}
