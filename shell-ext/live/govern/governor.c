/* SPDX-License-Identifier: Apache-2.0 */
/* governor.c - the law: grow, hold, shed, halve, pause.
 *
 * Once a second the signal that is nearest to its limit decides. Speed grows slowly and falls fast; between the two is
 * a band in which it stays, so that it does not oscillate. A required figure that is unknown stops the run: a server
 * that does not answer is not idle. Queries no server, and remembers only the last readings. */
#include "governor.h"

#include <stdio.h>

enum { REST_MAX_MS = 10000, BATCH_MS = 500, BATCH_MIN_MS = 50 };

static const struct {
    const char *name, *unit;
    double scale; /* factor from the reading to its unit */
} signals[LIVE_SIGNALS] = {
    [LIVE_SIGNAL_LATENCY] = {"latency", " ms", 1},
    [LIVE_SIGNAL_LAG] = {"lag", " s", 1},
    [LIVE_SIGNAL_FLOW] = {"flow control", "", 1},
    [LIVE_SIGNAL_TICKETS] = {"tickets", " %", 100},
    [LIVE_SIGNAL_LOAD] = {"load", "", 1},
};

const char *
live_signal_name(enum live_signal s)
{
    MRS_ASSERT((unsigned)s < LIVE_SIGNALS);
    return signals[s].name;
}

static enum live_verdict
verdict_on(double pressure)
{
    return pressure < 0.4 ? LIVE_GROW
         : pressure < 0.7 ? LIVE_HOLD
         : pressure < 1   ? LIVE_SHED
         : pressure < 2   ? LIVE_HALVE
                          : LIVE_PAUSE;
}

void
live_governor_init(struct live_governor *g)
{
    memset(g, 0, sizeof *g);
    g->speed = 1;
    g->worst = g->blamed = -1;
}

static double
greatest(const struct live_readings *r, int *worst)
{
    double most = 0;
    *worst = -1;
    for (int i = 0; i < LIVE_SIGNALS; i++) {
        const struct live_reading *one = &r->of[i];
        double p = one->known ? one->value / one->limit : 0;
        if (one->known && (*worst < 0 || p > most)) {
            most = p;
            *worst = i;
        }
    }
    return most;
}

void
live_governor_step(struct live_governor *g, const struct live_readings *r)
{
    MRS_ASSERT(g->speed > 0 && g->speed <= 1);
    static const double factor[] = {
        [LIVE_GROW] = 1.25, [LIVE_HOLD] = 1, [LIVE_SHED] = 0.85, [LIVE_HALVE] = 0.5, [LIVE_PAUSE] = 0.5};
    g->seen = *r;
    if (r->closed || r->silent) {
        return; /* continues at the present speed */
    }
    g->verdict = verdict_on(greatest(r, &g->worst));
    g->speed *= factor[g->verdict];
    g->speed = g->speed > 1 ? 1 : g->speed < LIVE_SPEED_MIN ? LIVE_SPEED_MIN : g->speed;
    if (g->verdict >= LIVE_SHED) {
        g->blamed = g->worst;
        g->blamed_value = r->of[g->worst].value;
        g->blamed_limit = r->of[g->worst].limit;
        snprintf(g->blamed_load, sizeof g->blamed_load, "%s", r->load);
    } else if (g->speed >= 1) {
        g->blamed = -1;
    }
}

bool
live_governor_stops(const struct live_governor *g)
{
    return g->seen.closed || g->seen.silent || g->verdict == LIVE_PAUSE;
}

int64_t
live_governor_rest(const struct live_governor *g, int64_t took)
{
    MRS_ASSERT(g->speed > 0 && g->speed <= 1);
    double ms = took > 0 && g->speed < 1 ? (double)took * (1 / g->speed - 1) : 0;
    return ms < REST_MAX_MS ? (int64_t)ms : REST_MAX_MS;
}

int64_t
live_governor_batch_ms(const struct live_governor *g)
{
    MRS_ASSERT(g->speed > 0 && g->speed <= 1);
    int64_t ms = (int64_t)(BATCH_MS * g->speed);
    return ms < BATCH_MIN_MS ? BATCH_MIN_MS : ms;
}

const char *
live_governor_limiting(const struct live_governor *g)
{
    MRS_ASSERT(g->blamed >= -1 && g->blamed < LIVE_SIGNALS);
    return g->seen.closed   ? "hours"
           : g->seen.silent ? "no signal"
           : g->blamed >= 0 ? signals[g->blamed].name
                            : NULL;
}

const char *
live_governor_why(const struct live_governor *g, char out[160])
{
    MRS_ASSERT(g->blamed >= -1 && g->blamed < LIVE_SIGNALS);
    int i = g->blamed;
    out[0] = '\0';
    if (g->seen.closed) {
        snprintf(out, 160, "outside of them");
    } else if (g->seen.silent) {
        snprintf(out, 160, "%.96s is not known any more", g->seen.silent);
    } else if (i >= 0) {
        char figures[140], speed[32];
        snprintf(figures, sizeof figures, "%.95s%s%.4g%s of %.4g%s", i == LIVE_SIGNAL_LOAD ? g->blamed_load : "",
                 i == LIVE_SIGNAL_LOAD ? " " : "", g->blamed_value * signals[i].scale, signals[i].unit,
                 g->blamed_limit * signals[i].scale, signals[i].unit);
        snprintf(speed, sizeof speed, g->verdict == LIVE_PAUSE ? "stopped" : "speed %.0f %%", g->speed * 100);
        snprintf(out, 160, "%.120s%s%s", i == LIVE_SIGNAL_FLOW ? "" : figures, i == LIVE_SIGNAL_FLOW ? "" : ", ",
                 speed);
    }
    return out;
}
