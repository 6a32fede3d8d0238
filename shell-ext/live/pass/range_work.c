/* SPDX-License-Identifier: Apache-2.0 */
/* range_work.c - a worker: takes and processes ranges of the walks of a run that another process leads.
 *
 * It reads all about the run from its documents, so it may work on any machine, and come and go: a range is resumed
 * where its last owner left it. If it finds that it lost the range, or the run its leader, it discards its memory and
 * joins again; its unfinished writes cannot succeed (burst_fenced.c). It derives only its range, and nothing after the
 * walk is over. */
#include "live/state/ranges.h"
#include "live/state/state_io.h"
#include "work.h"

enum { IDLE_MS = 100, IDLE_MORE_MS = 50, IDLE_MAX_MS = 1000, LEADERLESS_MS = 600000 };

struct worker {
    struct live_job *job;
    struct live_range_task range;
    struct live_pass_report *r;
    int64_t leaderless; /* start of the time without a leader; 0: there is one */
    int64_t nap;        /* duration of the next pause without work */
    uint64_t docs, bytes; /* written since the last breath */
};

/* Does another process, or none, lead the run now? Then a failure here is not conclusive. */
static enum mrs_status
led_by_others(struct live_job *job, bool *others, struct mrs_err *e)
{
    struct live_run *r = job->run;
    char owner[64];
    enum mrs_status st = live_run_load(job, e);
    live_text_at(live_run_doc(r), "owner", owner, sizeof owner);
    *others = st == MRS_END || strcmp(owner, r->leader) != 0 || live_int_at(live_run_doc(r), "epoch", 0) != r->epoch;
    return st == MRS_END ? MRS_OK : st;
}

/* Status of a worker after an error: END if it only lost its range. */
static enum mrs_status
judge(struct worker *w, enum mrs_status st, struct mrs_err *e)
{
    struct mrs_err quiet;
    bool others = false, ours = false;
    mrs_err_clear(&quiet);
    if (st >= MRS_OK || e->code != MRS_E_SERVER) {
        return st;
    }
    if (led_by_others(w->job, &others, &quiet) ||
        (!others && w->job->run->range[0] && live_range_ours(w->job, &ours, &quiet))) {
        return st;
    }
    if (others || (w->job->run->range[0] && !ours) || st == MRS_DEAD) {
        mrs_err_clear(e);
        return MRS_END;
    }
    return st;
}

/* Processes the current range to its end. */
static enum mrs_status
do_range(struct worker *w, struct mrs_err *e)
{
    struct live_walk walk = {.purpose = LIVE_FOR_EXPAND, .group = w->range.group, .main = w->range.main,
                             .range = &w->range};
    MRS_ASSERT(w->job->run->range[0]);
    if (walk.group >= w->job->live->n_groups) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "a range in the state database is damaged: group");
    }
    enum mrs_status st = live_refused_count(w->job, &w->job->run->n_refused, e);
    MRS_THEN(st, live_walk_main(w->job, &walk, w->r, e));
    w->docs = walk.last_docs;
    w->bytes = walk.last_bytes;
    st = judge(w, st, e);
    live_range_leave(w->job);
    return st;
}

/* No range to take: waits, also for a leader, for a limited time. */
static enum mrs_status
idle(struct worker *w, bool lives, struct mrs_err *e)
{
    int64_t now = mrs_clock_asleep();
    w->leaderless = lives ? 0 : w->leaderless ? w->leaderless : now;
    if (w->leaderless && now - w->leaderless > LEADERLESS_MS) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "no process has led the run for ten minutes: `apply --execute` resumes it");
    }
    live_nap(w->nap);
    w->nap += w->nap < IDLE_MAX_MS ? IDLE_MORE_MS : 0;
    return live_cancelled(w->job) ? live_cancel_err(e) : MRS_OK;
}

/* Processes ranges while the run expands. OK: expand is over; END: join again. */
static enum mrs_status
work(struct worker *w, struct mrs_err *e)
{
    struct live_job *job = w->job;
    enum mrs_status st = MRS_OK;
    while (!st && live_run_in(job, "expand")) {
        bool lives = true;
        st = live_run_breathe(job, w->docs, w->bytes, e);
        w->docs = w->bytes = 0;
        st = st == MRS_END ? MRS_OK : judge(w, st, e);
        MRS_THEN(st, live_leader_lives(job, &lives, e));
        enum mrs_status taken = st || !lives ? MRS_END : live_range_take(job, &w->range, e);
        if (!st && taken == MRS_END) {
            st = idle(w, lives, e);
        } else if (!st) {
            w->nap = IDLE_MS;
            st = taken ? taken : do_range(w, e);
        }
    }
    return st;
}

enum mrs_status
live_work(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(!job->workers);
    struct worker w = {.job = job, .r = r, .nap = IDLE_MS};
    enum mrs_status st = MRS_END;
    mrs_buf_init(&w.range.end, job->mem, MRS_DOC_READ_MAX);
    while (st == MRS_END) {
        st = live_run_join(job, e);
        if (st == MRS_END && live_run_in(job, "claimed")) {
            st = idle(&w, true, e);
            st = st == MRS_OK ? MRS_END : st;
        } else if (st == MRS_END) {
            st = MRS_OK; /* expand is over */
            break;
        } else if (st == MRS_OK) {
            st = work(&w, e);
        }
    }
    mrs_buf_clear(&w.range.end);
    return st;
}
