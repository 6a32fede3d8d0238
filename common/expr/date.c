/* SPDX-License-Identifier: Apache-2.0 */
/* date.c - the calendar, and dates as ISO 8601 text.
 *
 * Days are counted from 1970-01-01 and converted to years by whole cycles of 400 years, so that every int64 of
 * milliseconds has its civil date without overflow. Texts are read strictly: the server's reader also guesses at many
 * forms that no plan should depend on; any other text fails here. Knows nothing of zones but fixed offsets. */
#include "date.h"
#include <stdio.h>

enum { CYCLE_YEARS = 400, CYCLE_DAYS = 146097 };

int32_t
mrsi_month_days(int64_t year, int32_t month)
{
    MRS_ASSERT(month >= 1 && month <= 12);
    static const uint8_t days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month] + (month == 2 && leap);
}

/* Years are shifted to begin in March, so that the leap day is the last one. */
int64_t
mrsi_days_of(int64_t year, int32_t month, int64_t day)
{
    MRS_ASSERT(month >= 1 && month <= 12);
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t cycle = mrsi_floor_div(y, CYCLE_YEARS);
    int64_t in_cycle = y - cycle * CYCLE_YEARS;
    int64_t yearday = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5;
    return cycle * CYCLE_DAYS + in_cycle * 365 + in_cycle / 4 - in_cycle / 100 + yearday + day - 1 -
           719468;
}

void
mrsi_civil_of_days(int64_t days, int64_t *year, int32_t *month, int32_t *day)
{
    int64_t z = days + 719468; /* from 0000-03-01 */
    int64_t cycle = mrsi_floor_div(z, CYCLE_DAYS);
    int64_t in_cycle = z - cycle * CYCLE_DAYS;
    int64_t y = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    int64_t yearday = in_cycle - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * yearday + 2) / 153;
    *day = (int32_t)(yearday - (153 * m + 2) / 5 + 1);
    *month = (int32_t)(m < 10 ? m + 3 : m - 9);
    *year = cycle * CYCLE_YEARS + y + (*month <= 2);
}

int32_t
mrsi_weekday(int64_t days)
{
    int64_t d = (days + 4) % 7;
    return (int32_t)(d < 0 ? d + 7 : d);
}

int64_t
mrsi_iso_year_start(int64_t iso_year)
{
    int64_t fourth = mrsi_days_of(iso_year, 1, 4); /* always in week 1 */
    return fourth - (mrsi_weekday(fourth) + 6) % 7;
}

void
mrsi_iso_week(int64_t days, int64_t *iso_year, int32_t *week)
{
    int32_t month, day;
    mrsi_civil_of_days(days - (mrsi_weekday(days) + 6) % 7 + 3, iso_year, &month,
                       &day); /* the Thursday determines the year */
    *week = (int32_t)((days - mrsi_iso_year_start(*iso_year)) / 7 + 1);
}

struct mrsi_civil
mrsi_civil_of(int64_t local_seconds, int32_t ms)
{
    MRS_ASSERT(ms >= 0 && ms < 1000);
    struct mrsi_civil c;
    int64_t days = mrsi_floor_div(local_seconds, MRSI_DAY_SECONDS);
    int32_t rest = (int32_t)(local_seconds - days * MRSI_DAY_SECONDS);
    mrsi_civil_of_days(days, &c.year, &c.month, &c.day);
    c.hour = rest / 3600;
    c.minute = rest / 60 % 60;
    c.second = rest % 60;
    c.ms = ms;
    c.weekday = mrsi_weekday(days);
    c.yearday = (int32_t)(days - mrsi_days_of(c.year, 1, 1));
    return c;
}

char *
mrsi_put_number(char *at, int32_t v, int width)
{
    MRS_ASSERT(width >= 0);
    char digit[12];
    uint32_t rest = v < 0 ? 0 - (uint32_t)v : (uint32_t)v;
    int n = 0;
    if (v < 0) {
        *at++ = '-';
        width--;
    }
    for (; rest || n < width; rest /= 10) {
        digit[n++] = (char)('0' + rest % 10);
    }
    while (n) {
        *at++ = digit[--n];
    }
    return at;
}

bool
mrsi_to_date(struct mrs_val v, int64_t *ms)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    switch (v.type) {
    case MRS_DATE:
        *ms = mrs_val_i64(v);
        return true;
    case MRS_TIMESTAMP:
        *ms = (int64_t)mrs_le32(v.p + 4) * 1000;
        return true;
    case MRS_OBJECTID: /* big-endian, and the server reads it as signed */
        *ms = (int64_t)(int32_t)__builtin_bswap32(mrs_le32(v.p)) * 1000;
        return true;
    default:
        return false;
    }
}

/* ---- text ---- */

struct date_reader {
    const char *at, *end;
};

/* Length of a blank at p (NUL and the no-break space count), or 0. */
static uint32_t
blank(const char *p, const char *end)
{
    if (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == 0)) {
        return 1;
    }
    return end - p >= 2 && memcmp(p, "\xC2\xA0", 2) == 0 ? 2 : 0;
}

static bool
skip_blanks(struct date_reader *r)
{
    const char *from = r->at;
    for (uint32_t n; (n = blank(r->at, r->end)) > 0; r->at += n) {
    }
    return r->at > from;
}

/* Exactly `digits` digits; -1: not found. */
static int32_t
number(struct date_reader *r, int digits)
{
    MRS_ASSERT(r->at <= r->end && digits > 0);
    int32_t v = 0;
    if (r->end - r->at < digits) {
        return -1;
    }
    for (int i = 0; i < digits; i++) {
        if (r->at[i] < '0' || r->at[i] > '9') {
            return -1;
        }
        v = v * 10 + r->at[i] - '0';
    }
    r->at += digits;
    return v;
}

static bool
mark(struct date_reader *r, char c)
{
    bool there = r->at < r->end && *r->at == c;
    r->at += there;
    return there;
}

static bool
is_digit(const struct date_reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

/* [+-]YYYY-MM-DD: with a sign, as in servers, years before 0 can be read, though date texts are never written with
 * them. */
static bool
read_day(struct date_reader *r, int64_t *days)
{
    MRS_ASSERT(r->at <= r->end);
    bool before = mark(r, '-');
    if (!before) {
        mark(r, '+');
    }
    int32_t year = number(r, 4);
    if (year < 0 || !mark(r, '-')) {
        return false;
    }
    year = before ? -year : year;
    int32_t month = number(r, 2);
    if (month < 1 || month > 12 || !mark(r, '-')) {
        return false;
    }
    int32_t day = number(r, 2);
    if (day < 1 || day > mrsi_month_days(year, month) || is_digit(r)) {
        return false;
    }
    *days = mrsi_days_of(year, month, day);
    return true;
}

/* HH:MM[:SS[.fff...]]; digits after the third are dropped. */
static bool
read_clock(struct date_reader *r, int32_t *seconds, int32_t *ms)
{
    MRS_ASSERT(r->at <= r->end);
    int32_t hour = number(r, 2), minute = -1, second = 0;
    if (hour < 0 || hour > 24 || !mark(r, ':')) {
        return false;
    }
    minute = number(r, 2);
    if (minute < 0 || minute > 59) {
        return false;
    }
    *ms = 0;
    if (mark(r, ':')) {
        second = number(r, 2);
        if (second < 0 || second > 59) {
            return false;
        }
        if (mark(r, '.')) {
            int32_t scale = 100;
            if (!is_digit(r)) {
                return false;
            }
            for (; is_digit(r); r->at++, scale /= 10) {
                *ms += (*r->at - '0') * scale;
            }
        }
    }
    *seconds = hour * 3600 + minute * 60 + second;
    return hour < 24 || *seconds == MRSI_DAY_SECONDS;
}

/* Z, +HH, +HHMM or +HH:MM. */
static bool
read_zone(struct date_reader *r, int32_t *offset)
{
    MRS_ASSERT(r->at <= r->end);
    *offset = 0;
    if (mark(r, 'Z') || mark(r, 'z')) {
        return true;
    }
    bool west = r->at < r->end && *r->at == '-';
    if (!west && !(r->at < r->end && *r->at == '+')) {
        return false;
    }
    r->at++;
    int32_t hours = number(r, 2), minutes = 0;
    if (hours < 0) {
        return false;
    }
    if (mark(r, ':') || is_digit(r)) {
        minutes = number(r, 2);
    }
    if (minutes < 0) {
        return false;
    }
    *offset = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

bool
mrsi_date_parse(const char *text, uint32_t n, struct mrsi_date_text *out)
{
    MRS_ASSERT(text || n == 0);
    struct date_reader r = {text, text + n};
    int64_t days;
    int32_t seconds = 0;
    memset(out, 0, sizeof *out);
    skip_blanks(&r);
    if (!read_day(&r, &days)) {
        return false;
    }
    bool clock = mark(&r, 'T') || mark(&r, 't');
    bool gap = !clock && skip_blanks(&r);
    if (clock || (gap && is_digit(&r))) {
        if (!read_clock(&r, &seconds, &out->ms)) {
            return false;
        }
        skip_blanks(&r);
    }
    if (r.at < r.end) {
        out->zoned = read_zone(&r, &out->offset);
        if (!out->zoned) {
            return false;
        }
    }
    skip_blanks(&r);
    out->local_seconds = days * MRSI_DAY_SECONDS + seconds;
    return r.at == r.end;
}

bool
mrsi_date_from_text(const char *text, uint32_t n, int64_t *ms)
{
    MRS_ASSERT(text || n == 0);
    struct mrsi_date_text t;
    if (!mrsi_date_parse(text, n, &t)) {
        return false;
    }
    *ms = (t.local_seconds - t.offset) * 1000 + t.ms;
    return true;
}

enum mrs_status
mrsi_date_to_text(const struct mrs_expr *x, struct mrs_eval *ev, int64_t ms, struct mrs_val *out)
{
    int64_t seconds = mrsi_floor_div(ms, 1000);
    int32_t rest = (int32_t)((uint64_t)ms - (uint64_t)seconds * 1000u); /* unsigned: the product may not fit */
    struct mrsi_civil c = mrsi_civil_of(seconds, rest);
    if (c.year < 0 || c.year > 9999) {
        return mrsi_eval_error(x, ev,
                               "a date of the year %lld cannot be written as text (0 to 9999 can)",
                               (long long)c.year);
    }
    const int32_t part[] = {(int32_t)c.year, c.month, c.day, c.hour, c.minute, c.second, c.ms};
    static const char behind[] = "--T::.Z";
    char text[64], *at = text;
    for (int i = 0; i < 7; i++) {
        at = mrsi_put_number(at, part[i], i == 0 ? 4 : i == 6 ? 3 : 2);
        *at++ = behind[i];
    }
    return mrsi_ret_text(ev, text, (size_t)(at - text), out);
}
