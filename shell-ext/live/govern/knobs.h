/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.h - the texts of --max-lag, --max-load, --critical-load and --hours, read.
 *
 * They stand in the run document as they were given, so that people read there what they wrote. */
#ifndef LIVE_KNOBS_H
#define LIVE_KNOBS_H

#include "live/job_context.h"

enum { LIVE_LOADS = 8, LIVE_HOURS = 8, LIVE_LAG_MS = 5000 };
struct live_load { /* a number of serverStatus and what it may be */
    char path[96];
    double limit;
};
struct live_loads {
    struct live_load of[LIVE_LOADS];
    uint32_t n;
};
struct live_hours { /* minutes of the day, from <= now < to; from > to: over midnight */
    struct {
        int from, to;
    } of[LIVE_HOURS];
    uint32_t n;
};

/* NULL, or what would have been right. */
const char *live_lag_read(const char *text, int64_t *ms);               /* "5", "5s", "1500ms"; 0: not watched */
const char *live_loads_read(const char *text, struct live_loads *out);  /* "connections.active=200,a.b=3"; "": none */
const char *live_hours_read(const char *text, struct live_hours *out);  /* "22:00-06:00,12:00-13:00"; "": all */
/* Whether minute (0..1439) of the day lies in them. */
bool live_hours_open(const struct live_hours *h, int minute);

#endif
