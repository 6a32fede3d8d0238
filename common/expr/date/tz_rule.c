/* SPDX-License-Identifier: Apache-2.0 */
/* tz_rule.c - the rule at the end of a TZif file, for all years after its table.
 *
 * The text is the TZ variable of POSIX with the extensions of RFC 8536 (hours from -167 to 167). A rule defines two
 * moments a year, start and end of summer time; south of the equator and in Ireland the start is later in the year than
 * the end. */
#include "expr/date.h"
#include "tz.h"

struct tz_rule_reader {
    const char *at, *end;
};

static bool
mark(struct tz_rule_reader *r, char c)
{
    bool there = r->at < r->end && *r->at == c;
    r->at += there;
    return there;
}

static bool
number(struct tz_rule_reader *r, int32_t most, int32_t *v)
{
    MRS_ASSERT(r->at <= r->end && most > 0);
    const char *from = r->at;
    *v = 0;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        *v = *v * 10 + *r->at++ - '0';
        if (*v > most) {
            return false;
        }
    }
    return r->at > from;
}

/* [+-]h[:mm[:ss]] in seconds. */
static bool
clock_time(struct tz_rule_reader *r, int32_t *seconds)
{
    MRS_ASSERT(r->at <= r->end);
    int32_t h, m = 0, s = 0;
    bool minus = mark(r, '-');
    if (!minus) {
        mark(r, '+');
    }
    if (!number(r, 167, &h) || (mark(r, ':') && !number(r, 59, &m)) ||
        (m >= 0 && mark(r, ':') && !number(r, 59, &s))) {
        return false;
    }
    *seconds = (h * 3600 + m * 60 + s) * (minus ? -1 : 1);
    return true;
}

/* Letters, or anything in <>. */
static bool
name(struct tz_rule_reader *r)
{
    MRS_ASSERT(r->at <= r->end);
    const char *from = r->at;
    if (mark(r, '<')) {
        while (r->at < r->end && *r->at != '>') {
            r->at++;
        }
        return mark(r, '>');
    }
    while (r->at < r->end && ((*r->at | 32) >= 'a' && (*r->at | 32) <= 'z')) {
        r->at++;
    }
    return r->at - from >= 3;
}

static bool
rule_day(struct tz_rule_reader *r, struct mrsi_rule_day *d)
{
    MRS_ASSERT(r->at <= r->end);
    d->seconds = 7200;
    if (mark(r, 'M')) {
        d->kind = 'M';
        if (!number(r, 12, &d->month) || d->month < 1 || !mark(r, '.') || !number(r, 5, &d->week) ||
            d->week < 1 || !mark(r, '.') || !number(r, 6, &d->day)) {
            return false;
        }
    } else {
        d->kind = mark(r, 'J') ? 'J' : 'N';
        if (!number(r, 365, &d->day) || (d->kind == 'J' && d->day < 1)) {
            return false;
        }
    }
    return !mark(r, '/') || clock_time(r, &d->seconds);
}

bool
mrsi_rule_read(const char *text, uint32_t n, struct mrsi_rule *rule)
{
    MRS_ASSERT(text || n == 0);
    struct tz_rule_reader r = {text, text + n};
    int32_t west;
    memset(rule, 0, sizeof *rule);
    if (!name(&r) || !clock_time(&r, &west)) {
        return false;
    }
    rule->offset = -west;
    rule->there = true;
    if (r.at == r.end) {
        return true;
    }
    rule->has_dst = true;
    rule->dst_offset = rule->offset + 3600;
    if (!name(&r)) {
        return false;
    }
    if (r.at < r.end && *r.at != ',') {
        if (!clock_time(&r, &west)) {
            return false;
        }
        rule->dst_offset = -west;
    }
    return mark(&r, ',') && rule_day(&r, &rule->start) && mark(&r, ',') &&
           rule_day(&r, &rule->end) && r.at == r.end;
}

/* Seconds of the day's local clock in a year, as if it were UTC. */
static int64_t
moment(const struct mrsi_rule_day *d, int64_t year)
{
    MRS_ASSERT(d->month <= 12 && d->week <= 5);
    int64_t days;
    if (d->kind == 'M') {
        int64_t first = mrsi_days_of(year, d->month, 1);
        int32_t day = 1 + (d->day - mrsi_weekday(first) + 7) % 7 + 7 * (d->week - 1);
        while (day > mrsi_month_days(year, d->month)) {
            day -= 7;
        }
        days = first + day - 1;
    } else {
        days = mrsi_days_of(year, 1, 1) + d->day;
        if (d->kind == 'J') {
            days -= !(mrsi_month_days(year, 2) == 29 && d->day >= 60);
        }
    }
    return days * MRSI_DAY_SECONDS + d->seconds;
}

struct mrsi_tz_span
mrsi_rule_at(const struct mrsi_rule *rule, int64_t utc_seconds)
{
    MRS_ASSERT(rule->there);
    struct mrsi_tz_span span = {rule->offset, false, INT64_MIN};
    if (!rule->has_dst) {
        return span;
    }
    int64_t year;
    int32_t month, day;
    mrsi_civil_of_days(mrsi_floor_div(utc_seconds + rule->offset, MRSI_DAY_SECONDS), &year, &month,
                       &day);
    for (int64_t y = year - 1; y <= year + 1;
         y++) { /* the last past moment decides */
        int64_t start = moment(&rule->start, y) - rule->offset;
        int64_t end = moment(&rule->end, y) - rule->dst_offset;
        if (start <= utc_seconds && start >= span.since) {
            span = (struct mrsi_tz_span){rule->dst_offset, true, start};
        }
        if (end <= utc_seconds && end > span.since) {
            span = (struct mrsi_tz_span){rule->offset, false, end};
        }
    }
    return span;
}
