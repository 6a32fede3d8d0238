/* SPDX-License-Identifier: Apache-2.0 */
/* governor.h - the permitted speed of a run: one law over all signals of the server.
 *
 * Pure: the input is readings, the output a speed and its reason. pressure.c queries the server, the state (control.c)
 * waits. Speed is the share of time that a run works: 1 is maximum speed, at 0.25 it rests three times as long as a
 * batch took. */
#ifndef LIVE_GOVERNOR_H
#define LIVE_GOVERNOR_H

#include "live/job_context.h"

enum live_signal {
    LIVE_SIGNAL_LATENCY, /* of a read by `_id`, ms */
    LIVE_SIGNAL_LAG,     /* of the slowest member that counts, s */
    LIVE_SIGNAL_FLOW,    /* the server throttles writers itself: 1 */
    LIVE_SIGNAL_TICKETS, /* share in use while operations wait for one */
    LIVE_SIGNAL_LOAD,    /* of --max-load: the one nearest to its limit */
    LIVE_SIGNALS
};
struct live_reading {
    bool known;          /* then value and limit are finite numbers */
    double value, limit; /* limit > 0 */
};
struct live_readings {
    struct live_reading of[LIVE_SIGNALS];
    char load[96];       /* the name for LIVE_SIGNAL_LOAD */
    bool closed;         /* outside the hours */
    const char *silent;  /* a required figure, unknown for LIVE_SILENT_MS; NULL: none */
};
enum { LIVE_SILENT_MS = 5000, LIVE_LOOK_MS = 1000 };

/* By the greatest value / limit: < 0.4 grow, < 0.7 hold, < 1 shed, < 2 halve, else pause. */
enum live_verdict { LIVE_GROW, LIVE_HOLD, LIVE_SHED, LIVE_HALVE, LIVE_PAUSE };

struct live_governor {
    double speed;              /* LIVE_SPEED_MIN..1 */
    enum live_verdict verdict; /* of the last readings */
    struct live_readings seen; /* the last readings */
    int worst;                 /* the signal with the greatest pressure; -1: none is known */
    int blamed;                /* the signal that last reduced the speed, while it is reduced; -1 */
    double blamed_value, blamed_limit;
    char blamed_load[96];
};
#define LIVE_SPEED_MIN (1.0 / 64)
void live_governor_init(struct live_governor *g);
/* Call every LIVE_LOOK_MS. */
void live_governor_step(struct live_governor *g, const struct live_readings *r);
/* Time to rest after work of `took` milliseconds; at most 10 s. 0 at full speed. */
int64_t live_governor_rest(const struct live_governor *g, int64_t took);
/* No work until the next readings permit it. */
bool live_governor_stops(const struct live_governor *g);
/* Target duration of a batch, which determines its size. 500 ms at full speed, shorter when throttled. */
int64_t live_governor_batch_ms(const struct live_governor *g);
/* The limiting signal in a word ("lag", "hours"), NULL: none. */
const char *live_governor_limiting(const struct live_governor *g);
/* The same with figures, "7.0 s of 5.0 s, speed 42 %"; "" if none. */
const char *live_governor_why(const struct live_governor *g, char out[160]);
/* "lag", "flow control"; for reports and metrics. */
const char *live_signal_name(enum live_signal s);

#endif
