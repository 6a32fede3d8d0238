/* SPDX-License-Identifier: Apache-2.0 */
/* governor.h - how fast a run may go: one law over all signals of the server.
 *
 * Pure: readings go in, a speed and the reason for it come out. Who asks the server is pressure.c, who waits is the
 * state (control.c). Speed is the share of time that a run works: 1 is as fast as it can, at 0.25 it rests three times
 * as long as a batch took. */
#ifndef LIVE_GOVERNOR_H
#define LIVE_GOVERNOR_H

#include "live/job_context.h"

enum live_signal {
    LIVE_SIGNAL_LATENCY, /* of a read by `_id`, ms */
    LIVE_SIGNAL_LAG,     /* of the slowest member that counts, s */
    LIVE_SIGNAL_FLOW,    /* the server holds writers back by itself: 1 */
    LIVE_SIGNAL_TICKETS, /* share in use while operations wait for one */
    LIVE_SIGNAL_LOAD,    /* of --max-load, the one that is nearest to its limit */
    LIVE_SIGNALS
};
struct live_reading {
    bool known;          /* then value and limit are finite numbers */
    double value, limit; /* limit > 0 */
};
struct live_readings {
    struct live_reading of[LIVE_SIGNALS];
    char load[96];       /* which one LIVE_SIGNAL_LOAD is */
    bool closed;         /* outside of the hours */
    const char *silent;  /* what has to be known and has not been for LIVE_SILENT_MS; NULL */
};
enum { LIVE_SILENT_MS = 5000, LIVE_LOOK_MS = 1000 };

/* What the greatest value / limit asks for: < 0.4 grow, < 0.7 hold, < 1 shed, < 2 halve, else pause. */
enum live_verdict { LIVE_GROW, LIVE_HOLD, LIVE_SHED, LIVE_HALVE, LIVE_PAUSE };
enum live_verdict live_law(double pressure);

struct live_governor {
    double speed;              /* LIVE_SPEED_MIN..1 */
    enum live_verdict verdict; /* of the last readings */
    struct live_readings seen; /* the last readings */
    int worst;                 /* the signal with the greatest pressure; -1: none is known */
    int blamed;                /* the one that last made it slower, as long as it is slower; -1 */
    double blamed_value, blamed_limit;
    char blamed_load[96];
};
#define LIVE_SPEED_MIN (1.0 / 64)
void live_governor_init(struct live_governor *g);
/* Once every LIVE_LOOK_MS. */
void live_governor_step(struct live_governor *g, const struct live_readings *r);
/* How long to rest after work of `took` milliseconds; 10 s at most. 0 at full speed. */
int64_t live_governor_rest(const struct live_governor *g, int64_t took);
/* No work at all until the next readings allow it. */
bool live_governor_stops(const struct live_governor *g);
/* How long one batch is meant to take: what its size aims at. 500 ms at full speed, shorter when held back. */
int64_t live_governor_batch_ms(const struct live_governor *g);
/* In a word what holds it back ("lag", "hours"), NULL: nothing does. */
const char *live_governor_limiting(const struct live_governor *g);
/* The same with figures, "7.0 s of 5.0 s, speed 42 %"; "" where nothing does. */
const char *live_governor_why(const struct live_governor *g, char out[160]);
/* "lag", "flow control"; of reports and metrics. */
const char *live_signal_name(enum live_signal s);

#endif
