/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.c - parses the texts of --max-lag, --max-latency, --max-load, --critical-load and --hours.
 *
 * Each parser accepts the complete text or returns the valid forms; a text with errors has no effect. Numbers are
 * parsed here instead of by the C library, whose decimal point depends on the locale. */
#include "knobs.h"

enum { DIGITS_MAX = 12, DAY_MIN = 1440 };

/* Digits from *at on; false: none, or too many. */
static bool
number(const char **at, int64_t *n)
{
    const char *from = *at;
    for (*n = 0; **at >= '0' && **at <= '9' && *at - from < DIGITS_MAX; (*at)++) {
        *n = 10 * *n + (**at - '0');
    }
    return *at != from && !(**at >= '0' && **at <= '9');
}

const char *
live_time_read(const char *text, int64_t *ms)
{
    static const char right[] = "seconds up to 3600, as 5 or 5s, or milliseconds, as 1500ms; 0: not watched";
    const char *at = text;
    int64_t n;
    if (!number(&at, &n)) {
        return right;
    }
    bool thousandths = strcmp(at, "ms") == 0;
    if ((*at && !thousandths && strcmp(at, "s") != 0) || n > (thousandths ? 3600000 : 3600)) {
        return right;
    }
    *ms = thousandths ? n : n * 1000;
    return NULL;
}

/* "12", "0.8"; greater than 0. */
static bool
positive(const char **at, double *out)
{
    int64_t n, part = 0;
    double scale = 1;
    if (!number(at, &n)) {
        return false;
    }
    if (**at == '.') {
        const char *from = ++*at;
        if (!number(at, &part)) {
            return false;
        }
        for (; from < *at; from++) {
            scale *= 10;
        }
    }
    *out = (double)n + (double)part / scale;
    return *out > 0;
}

const char *
live_loads_read(const char *text, struct live_loads *out)
{
    MRS_ASSERT(text && out);
    static const char right[] = "names of serverStatus with a number greater than 0, at most 8, as "
                                "globalLock.activeClients.total=100,connections.active=200";
    memset(out, 0, sizeof *out);
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "=,");
        struct live_load *load = &out->of[out->n];
        if (out->n == LIVE_LOADS || n == 0 || n >= sizeof load->path || at[n] != '=') {
            return right;
        }
        memcpy(load->path, at, n);
        at += n + 1;
        out->n++;
        if (!positive(&at, &load->limit) || (*at == ',' && !at[1]) || (*at && *at != ',')) {
            return right;
        }
        at += *at == ',';
    }
    return NULL;
}

/* "22:00"; 24:00 is the end of the day. */
static bool
minute(const char **at, int *out)
{
    int64_t h, m;
    if (!number(at, &h) || *(*at)++ != ':') {
        return false;
    }
    const char *from = *at;
    if (!number(at, &m) || *at - from != 2 || h > 24 || m > 59 || 60 * h + m > DAY_MIN) {
        return false;
    }
    *out = (int)(60 * h + m);
    return true;
}

const char *
live_hours_read(const char *text, struct live_hours *out)
{
    MRS_ASSERT(text && out);
    static const char right[] = "times of the day, at most 8 pairs, as 22:00-06:00 or 00:30-05:00,12:00-13:00";
    memset(out, 0, sizeof *out);
    for (const char *at = text; *at;) {
        int from, to;
        if (out->n == LIVE_HOURS || !minute(&at, &from) || *at != '-') {
            return right;
        }
        at++;
        if (!minute(&at, &to) || from == to || (*at == ',' && !at[1]) || (*at && *at != ',')) {
            return right;
        }
        at += *at == ',';
        out->of[out->n].from = from;
        out->of[out->n++].to = to;
    }
    return NULL;
}

bool
live_hours_open(const struct live_hours *h, int minute_of_day)
{
    MRS_ASSERT(minute_of_day >= 0 && minute_of_day < DAY_MIN);
    for (uint32_t i = 0; i < h->n; i++) {
        int from = h->of[i].from, to = h->of[i].to;
        bool after = minute_of_day >= from, before = minute_of_day < to;
        if (from < to ? after && before : after || before) {
            return true;
        }
    }
    return h->n == 0;
}

const char *
live_watched_read(const struct live_texts *t, struct live_watched *out, const char **option)
{
    MRS_ASSERT(option);
    const char *wrong = NULL;
    memset(out, 0, sizeof *out);
    if ((wrong = live_time_read(t->max_lag[0] ? t->max_lag : LIVE_LAG_DEFAULT, &out->lag_ms))) {
        *option = "max-lag";
    } else if ((wrong = live_time_read(t->max_latency[0] ? t->max_latency : LIVE_LATENCY_DEFAULT, &out->latency_ms))) {
        *option = "max-latency";
    } else if ((wrong = live_loads_read(t->max_load, &out->load))) {
        *option = "max-load";
    } else if ((wrong = live_loads_read(t->critical_load, &out->critical))) {
        *option = "critical-load";
    } else if ((wrong = live_hours_read(t->hours, &out->hours))) {
        *option = "hours";
    }
    return wrong;
}
