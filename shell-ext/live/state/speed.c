/* SPDX-License-Identifier: Apache-2.0 */
/* speed.c - the permitted speed of the run: the knobs of its document, the server's signals, and the law.
 *
 * The document is read again once a second anyway, by `_id` and from the majority: the time for that is the latency
 * that others have, too, independent of our batches. While writers are stopped, --hours does not apply, since waiting
 * would stop them longer. Work on this machine alone (deriving, listing) is not delayed. */
#include "state_io.h"

#include <stdio.h>
#include <time.h>

enum mrs_status
live_knobs_read(const struct live_control *c, struct live_watched *out, struct mrs_err *e)
{
    const char *option = "", *right = live_watched_read(&c->texts, out, &option);
    return right ? mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--%s must be %s", option, right) : MRS_OK;
}

static int
minute_of_day(void)
{
    time_t t = (time_t)(mrs_clock_wall() / 1000);
    struct tm tm;
    return localtime_r(&t, &tm) ? tm.tm_hour * 60 + tm.tm_min : 0;
}

enum mrs_status
live_speed_update(struct live_job *job, int64_t latency_ms, struct mrs_err *e)
{
    MRS_ASSERT(job->run && latency_ms >= 0);
    struct live_run *r = job->run;
    struct live_readings seen = {.closed = false};
    struct live_watched watched;
    enum mrs_status s = live_knobs_read(&r->control, &watched, e);
    if (s == MRS_OK && watched.latency_ms) {
        seen.of[LIVE_SIGNAL_LATENCY] =
            (struct live_reading){.known = true, .value = (double)latency_ms, .limit = (double)watched.latency_ms};
    }
    MRS_THEN(s, live_signals_read(job, &r->signals, &watched, &seen, e));
    if (s == MRS_OK) {
        seen.closed = job->opts.quiet == LIVE_NOT_QUIET && !live_hours_open(&watched.hours, minute_of_day());
        live_governor_step(&r->governor, &seen);
        r->governed = true;
    }
    return s;
}

/* Work without load on the server. */
static bool
works_alone(const struct live_run *r)
{
    return strcmp(r->phase, "deriving") == 0 || strcmp(r->phase, "listing") == 0;
}

int64_t
live_speed_wait(const struct live_run *r, const struct live_breath *b, int64_t now)
{
    MRS_ASSERT(b->came >= b->since);
    const struct live_control *c = &r->control;
    bool wrote = b->docs || b->bytes;
    int64_t sharers = r->sharers > 1 ? r->sharers : 1;
    int64_t by_limits = b->since + sharers * live_control_due(c, b->docs, b->bytes) - now;
    int64_t by_sleep = wrote ? b->came + c->sleep_ms - now : 0;
    int64_t by_law = works_alone(r) ? 0 : b->came + live_governor_rest(&r->governor, b->came - b->since) - now;
    int64_t wait = by_limits > by_sleep ? by_limits : by_sleep;
    if (c->pause || (live_governor_stops(&r->governor) && !works_alone(r))) {
        return INT64_MAX;
    }
    return wait > by_law ? wait : by_law;
}

void
live_run_wrote(struct live_run *r, uint64_t docs, uint64_t bytes)
{
    r->wrote_docs += docs;
    r->wrote_bytes += bytes;
}

enum mrs_status
live_run_publish(struct live_job *job, const int *status, struct mrs_err *e)
{
    static const struct live_progress nothing = {.phase = "", .ns = ""};
    const struct live_run *r = job->run;
    struct live_governor unbound;
    struct live_figures f = {.run = "", .command = job->command, .phase = "", .limiting = "", .progress = &nothing,
                             .over = status != NULL, .status = status ? *status : 0};
    live_governor_init(&unbound);
    f.governor = &unbound;
    if (r) {
        f.run = r->id;
        f.phase = r->phase;
        f.limiting = r->shown.limiting;
        f.progress = &r->shown;
        f.governor = &r->governor;
        f.written_docs = r->wrote_docs;
        f.written_bytes = r->wrote_bytes;
        f.refused = r->n_refused;
        f.connections_lost = live_link_generation(job->link);
        f.working_ms = r->worked_ms;
        f.waiting_ms = r->waited_ms;
    }
    return job->metrics ? live_metrics_put(job->metrics, &f, e) : MRS_OK;
}

void
live_speed_reason(struct live_run *r, int64_t now)
{
    MRS_ASSERT(r->governor.speed > 0);
    uint32_t share;
    const char *spent = live_spent_on(&r->spent, now, mrs_clock_worked(), &share);
    const char *limiting = live_governor_limiting(&r->governor);
    r->shown.speed = r->governor.speed;
    r->shown.why = "";
    if (r->control.pause) {
        r->shown.limiting = "paused";
    } else if (limiting && !works_alone(r)) {
        r->shown.limiting = limiting;
        r->shown.why = live_governor_why(&r->governor, r->shown_why);
    } else if (r->throttled) {
        r->shown.limiting = "throttle";
    } else {
        r->shown.limiting = spent;
        snprintf(r->shown_why, sizeof r->shown_why, "%u %% of the time", share);
        r->shown.why = *spent ? r->shown_why : "";
    }
}
