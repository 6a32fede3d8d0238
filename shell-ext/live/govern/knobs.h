/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.h - parses the texts of --max-lag, --max-latency, --max-load, --critical-load and --hours.
 *
 * The run document holds the original texts, so that users find there what they wrote. */
#ifndef LIVE_KNOBS_H
#define LIVE_KNOBS_H

#include "live/job_context.h"

enum { LIVE_LOADS = 8, LIVE_HOURS = 8 };
struct live_load { /* a number of serverStatus and its limit */
    char path[96];
    double limit;
};
struct live_loads {
    struct live_load of[LIVE_LOADS];
    uint32_t n;
};
struct live_hours { /* minutes of the day, from <= now < to; from > to: past midnight */
    struct {
        int from, to;
    } of[LIVE_HOURS];
    uint32_t n;
};

/* NULL, or the valid forms. */
const char *live_time_read(const char *text, int64_t *ms);              /* "5", "5s", "1500ms"; 0: not watched */
const char *live_loads_read(const char *text, struct live_loads *out);  /* "connections.active=200,a.b=3"; "": none */
const char *live_hours_read(const char *text, struct live_hours *out);  /* "22:00-06:00,12:00-13:00"; "": all */

struct live_texts { /* original texts; "": option not given */
    char max_lag[16], max_latency[16], max_load[256], critical_load[256], hours[96];
};
#define LIVE_LAG_DEFAULT "5s"
#define LIVE_LATENCY_DEFAULT "500ms"
struct live_watched { /* the same, parsed */
    int64_t lag_ms, latency_ms; /* 0: not watched */
    struct live_loads load, critical;
    struct live_hours hours;
};
/* NULL, or the valid forms for one of these texts; *option: which. */
const char *live_watched_read(const struct live_texts *t, struct live_watched *out, const char **option);
/* Is minute (0..1439) of the day in the hours? */
bool live_hours_open(const struct live_hours *h, int minute);

#endif
