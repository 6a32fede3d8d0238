/* SPDX-License-Identifier: Apache-2.0 */
/* op_date_text.c - $dateToString and $dateFromString.
 *
 * Formats are the server's percent letters. Without a format a text must be a plain ISO 8601 date, as for $toDate; with
 * one it is read letter by letter. A text that does not match is a failed conversion, which onError catches; an invalid
 * format or zone is a separate error. */
#include "op_date.h"
#include <stdio.h>
#include <strings.h>

static const char *const MONTHS[12] = {"January",   "February", "March",    "April",
                                       "May",       "June",     "July",     "August",
                                       "September", "October",  "November", "December"};

/* ---- writing ---- */

static const char *
format_wrong(struct mrsi_text f, const char *letters)
{
    for (uint32_t i = 0; i < f.n; i++) {
        if (f.p[i] != '%') {
            continue;
        }
        if (++i == f.n) {
            return "the format ends in a single %";
        }
        if (!f.p[i] || !strchr(letters, f.p[i])) {
            return "the format has a letter after % that means nothing";
        }
    }
    return NULL;
}

#define TO_LETTERS "bBdGHjLmMSwuUVYzZ%"
#define FROM_LETTERS "bBdGHjLmMSuVYzZ%"

/* args: date, format, timezone, onNull */
enum { S_DATE, S_FORMAT, S_ZONE, S_NULL };

static enum mrs_status
compile_format(struct mrs_expr *x, uint32_t i, const char *letters, struct mrs_err *e)
{
    MRS_ASSERT(i < x->n_args);
    const struct mrs_expr *format = x->args[i];
    if (!format || !mrsi_is_constant(format) || mrsi_is_nullish(format->lit)) {
        return MRS_OK;
    }
    if (format->lit.type != MRS_STRING) {
        return mrsi_expr_refuse(x, e, "format must be a string, not %s",
                                mrs_type_name(format->lit.type));
    }
    const char *wrong = format_wrong(mrsi_text_of(format->lit), letters);
    return wrong ? mrsi_expr_refuse(x, e, "%s", wrong) : MRS_OK;
}

static enum mrs_status
eval_format(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, const char *letters,
            struct mrs_val *v)
{
    MRS_ASSERT(i < x->n_args);
    MRS_TRY(mrsi_arg(x, i, ev, v));
    if (mrsi_is_nullish(*v)) {
        return MRS_OK;
    }
    if (mrsi_is_constant(x->args[i])) {
        return MRS_OK; /* checked at compile time */
    }
    if (v->type != MRS_STRING) {
        return mrsi_eval_error(x, ev, "format must be a string, not %s", mrs_type_name(v->type));
    }
    const char *wrong = format_wrong(mrsi_text_of(*v), letters);
    return wrong ? mrsi_eval_error(x, ev, "%s", wrong) : MRS_OK;
}

enum mrs_status
mrsi_compile_date_to_string(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                            struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_named(c, x, spec, "date|format,timezone,onNull", e));
    MRS_TRY(compile_format(x, S_FORMAT, TO_LETTERS, e));
    return mrsi_compile_zone(c, x, S_ZONE, e);
}

static char *
put_text(char *at, const char *text, size_t n)
{
    memcpy(at, text, n);
    return at + n;
}

/* Week of the year by ISO 8601, or its year: computed only if needed, since it costs more than all else. */
static int32_t
iso_part(const struct mrsi_local *l, bool year)
{
    int64_t iso_year;
    int32_t week;
    mrsi_iso_week(mrsi_floor_div(l->local_seconds, MRSI_DAY_SECONDS), &iso_year, &week);
    return year ? (int32_t)iso_year : week;
}

static char *
put_offset(char *at, int32_t offset)
{
    int32_t minutes = offset / 60;
    *at++ = offset < 0 ? '-' : '+';
    minutes = minutes < 0 ? -minutes : minutes;
    at = mrsi_put_number(at, minutes / 60, 2);
    return mrsi_put_number(at, minutes % 60, 2);
}

/* The text of one letter: at most nine bytes (the name of a month). */
static char *
put_letter(char *at, char letter, const struct mrsi_local *l, const struct mrsi_civil *c)
{
    MRS_ASSERT(c->month >= 1 && c->month <= 12);
    int32_t offset = (int32_t)(l->local_seconds - l->utc_seconds);
    switch (letter) {
    case 'Y': return mrsi_put_number(at, (int32_t)c->year, 4);
    case 'm': return mrsi_put_number(at, c->month, 2);
    case 'd': return mrsi_put_number(at, c->day, 2);
    case 'H': return mrsi_put_number(at, c->hour, 2);
    case 'M': return mrsi_put_number(at, c->minute, 2);
    case 'S': return mrsi_put_number(at, c->second, 2);
    case 'L': return mrsi_put_number(at, c->ms, 3);
    case 'b': return put_text(at, MONTHS[c->month - 1], 3);
    case 'B': return put_text(at, MONTHS[c->month - 1], strlen(MONTHS[c->month - 1]));
    case 'j': return mrsi_put_number(at, c->yearday + 1, 3);
    case 'w': return mrsi_put_number(at, c->weekday + 1, 1);
    case 'u': return mrsi_put_number(at, c->weekday ? c->weekday : 7, 1);
    case 'U': return mrsi_put_number(at, (c->yearday - c->weekday + 7) / 7, 2);
    case 'G': return mrsi_put_number(at, iso_part(l, true), 4);
    case 'V': return mrsi_put_number(at, iso_part(l, false), 2);
    case 'z': return put_offset(at, offset);
    case 'Z': return mrsi_put_number(at, offset / 60, 1);
    default: return put_text(at, "%", 1);
    }
}

static enum mrs_status
write_date(const struct mrs_expr *x, struct mrs_eval *ev, struct mrsi_text format,
           const struct mrsi_local *l, struct mrs_val *out)
{
    struct mrsi_civil c = mrsi_civil_of(l->local_seconds, l->ms);
    char few[160], *text = few;
    size_t room = (size_t)format.n * 5; /* at most nine bytes for two */
    if (room > sizeof few) {
        text = mrs_arena_alloc(ev->arena, room);
        if (!text) {
            return mrsi_eval_memory(ev, room);
        }
    }
    char *at = text;
    for (uint32_t i = 0; i < format.n; i++) {
        if (format.p[i] != '%') {
            *at++ = format.p[i];
            continue;
        }
        char letter = format.p[++i];
        if ((letter == 'Y' || letter == 'G') && (c.year < 0 || c.year > 9999)) {
            return mrsi_eval_error(x, ev, "the year %lld cannot be written (0 to 9999 can)",
                                   (long long)c.year);
        }
        at = put_letter(at, letter, l, &c);
    }
    if (at - text > MRS_DOC_READ_MAX) {
        return mrsi_eval_error(x, ev, "the text would be too long");
    }
    return mrsi_ret_text(ev, text, (size_t)(at - text), out);
}

enum mrs_status
mrsi_eval_date_to_string(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val date, format;
    struct mrsi_tz tz;
    bool null;
    int64_t ms;
    MRS_TRY(mrsi_arg(x, S_DATE, ev, &date));
    MRS_TRY(eval_format(x, S_FORMAT, ev, TO_LETTERS, &format));
    MRS_TRY(mrsi_zone_arg(x, S_ZONE, ev, &tz, &null));
    if (mrsi_is_nullish(date)) {
        return x->args[S_NULL] ? mrsi_arg(x, S_NULL, ev, out) : mrsi_ret_null(out);
    }
    if (null || (x->args[S_FORMAT] && mrsi_is_nullish(format))) {
        return mrsi_ret_null(out);
    }
    if (!mrsi_to_date(date, &ms)) {
        return mrsi_eval_error(x, ev, "%s is no date", mrs_type_name(date.type));
    }
    struct mrsi_local l = mrsi_local_of(&tz, ms);
    static const char with_z[] = "%Y-%m-%dT%H:%M:%S.%LZ";
    bool utc = !tz.zone && !tz.fixed;
    struct mrsi_text text = {with_z, (uint32_t)sizeof with_z - (utc ? 1 : 2)};
    return write_date(x, ev, x->args[S_FORMAT] ? mrsi_text_of(format) : text, &l, out);
}

/* ---- reading ---- */

enum { F_STRING, F_FORMAT, F_ZONE, F_ERROR, F_NULL };

enum mrs_status
mrsi_compile_date_from_string(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                              struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_named(c, x, spec, "dateString|format,timezone,onError,onNull", e));
    MRS_TRY(compile_format(x, F_FORMAT, FROM_LETTERS, e));
    return mrsi_compile_zone(c, x, F_ZONE, e);
}

/* The fields read so far; -1: not given. */
struct op_date_text_fields {
    int32_t year, month, day, yearday, iso_year, iso_week, iso_day, hour, minute, second, ms;
    bool zoned;
    int32_t offset;
};

struct op_date_text_reader {
    const char *at, *end;
};

/* Reads between least and most digits, as many as possible; -1: fewer. */
static int32_t
digits(struct op_date_text_reader *r, int least, int most)
{
    int32_t v = 0;
    int n = 0;
    for (; n < most && r->at < r->end && *r->at >= '0' && *r->at <= '9'; n++) {
        v = v * 10 + *r->at++ - '0';
    }
    return n < least ? -1 : v;
}

static bool
bounded(struct op_date_text_reader *r, int least, int most, int32_t low, int32_t high, int32_t *to)
{
    *to = digits(r, least, most);
    return *to >= low && *to <= high;
}

static bool
month_name(struct op_date_text_reader *r, int32_t *month)
{
    MRS_ASSERT(r->at <= r->end);
    for (int32_t m = 0; m < 12; m++) { /* long names first: "March" before "Mar" */
        size_t n = strlen(MONTHS[m]);
        bool whole = (size_t)(r->end - r->at) >= n && strncasecmp(r->at, MONTHS[m], n) == 0;
        bool shorter = r->end - r->at >= 3 && strncasecmp(r->at, MONTHS[m], 3) == 0;
        if (whole || shorter) {
            r->at += whole ? n : 3;
            *month = m + 1;
            return true;
        }
    }
    return false;
}

/* %z: Z, +HH, +HHMM, +HH:MM; %Z: a number of minutes with its sign. */
static bool
zone_letter(struct op_date_text_reader *r, char letter, struct op_date_text_fields *f)
{
    MRS_ASSERT(r->at <= r->end);
    bool west = r->at < r->end && *r->at == '-';
    if (letter == 'z' && r->at < r->end && (*r->at | 32) == 'z') {
        r->at++;
        f->zoned = true;
        return true;
    }
    if (!west && !(r->at < r->end && *r->at == '+')) {
        return false;
    }
    r->at++;
    int32_t minutes;
    if (letter == 'Z') {
        minutes = digits(r, 1, 4);
    } else {
        int32_t hours = digits(r, 2, 2), rest = 0;
        bool colon = r->at < r->end && *r->at == ':';
        r->at += colon;
        if (colon || (r->at < r->end && *r->at >= '0' && *r->at <= '9')) {
            rest = digits(r, 2, 2);
        }
        minutes = hours < 0 || rest < 0 ? -1 : hours * 60 + rest;
    }
    f->zoned = true;
    f->offset = minutes * 60 * (west ? -1 : 1);
    return minutes >= 0;
}

static bool
read_letter(struct op_date_text_reader *r, char letter, struct op_date_text_fields *f)
{
    MRS_ASSERT(r->at <= r->end);
    const char *from = r->at;
    switch (letter) {
    case 'Y':
        return bounded(r, 4, 4, 0, 9999, &f->year);
    case 'G':
        return bounded(r, 4, 4, 0, 9999, &f->iso_year);
    case 'm':
        return bounded(r, 1, 2, 1, 12, &f->month);
    case 'b':
    case 'B':
        return month_name(r, &f->month);
    case 'd':
        return bounded(r, 1, 2, 1, 31, &f->day);
    case 'j':
        return bounded(r, 1, 3, 1, 366, &f->yearday);
    case 'V':
        return bounded(r, 1, 2, 1, 53, &f->iso_week);
    case 'u':
        return bounded(r, 1, 1, 1, 7, &f->iso_day);
    case 'H':
        return bounded(r, 1, 2, 0, 24, &f->hour);
    case 'M':
        return bounded(r, 2, 2, 0, 59, &f->minute);
    case 'S':
        return bounded(r, 2, 2, 0, 59, &f->second);
    case 'L':
        f->ms = digits(r, 1, 3);
        for (int64_t n = r->at - from; n < 3 && f->ms > 0; n++) {
            f->ms *= 10;
        }
        return f->ms >= 0;
    default:
        return zone_letter(r, letter, f);
    }
}

/* Local seconds for the fields; false: incomplete, or an invalid day. */
static bool
seconds_of_fields(const struct op_date_text_fields *f, int64_t *seconds)
{
    int64_t days;
    bool iso = f->iso_year >= 0;
    if (iso && f->year < 0) {
        days = mrsi_iso_year_start(f->iso_year) + ((f->iso_week < 0 ? 1 : f->iso_week) - 1) * 7 +
               (f->iso_day < 0 ? 1 : f->iso_day) - 1;
    } else if (f->year >= 0 && f->yearday >= 0) {
        days = mrsi_days_of(f->year, 1, 1) + f->yearday; /* off by one, as in the server */
    } else if (f->year >= 0 && f->month >= 0 && f->day >= 0) {
        if (f->day > mrsi_month_days(f->year, f->month)) {
            return false;
        }
        days = mrsi_days_of(f->year, f->month, f->day);
    } else {
        return false;
    }
    int32_t hour = f->hour < 0 ? 0 : f->hour, minute = f->minute < 0 ? 0 : f->minute,
            second = f->second < 0 ? 0 : f->second;
    *seconds = days * MRSI_DAY_SECONDS + hour * 3600 + minute * 60 + second;
    return true;
}

static bool
read_by_format(struct mrsi_text text, struct mrsi_text format, struct mrsi_date_text *out)
{
    struct op_date_text_reader r = {text.p, text.p + text.n};
    struct op_date_text_fields f = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, false, 0};
    for (uint32_t i = 0; i < format.n; i++) {
        bool letter = format.p[i] == '%' && format.p[i + 1] != '%';
        i += format.p[i] == '%';
        if (letter ? !read_letter(&r, format.p[i], &f)
                   : (r.at == r.end || *r.at++ != format.p[i])) {
            return false;
        }
    }
    out->ms = f.ms < 0 ? 0 : f.ms;
    out->zoned = f.zoned;
    out->offset = f.offset;
    return r.at == r.end && seconds_of_fields(&f, &out->local_seconds);
}

/* Why the text is no date, or NULL and *ms. */
static const char *
read_date(struct mrs_val v, struct mrs_val format, const struct mrsi_tz *tz, int64_t *ms)
{
    struct mrsi_date_text t;
    if (v.type != MRS_STRING) {
        return "dateString is not a string";
    }
    struct mrsi_text text = mrsi_text_of(v);
    if (format.type == MRS_STRING ? !read_by_format(text, mrsi_text_of(format), &t)
                                  : !mrsi_date_parse(text.p, text.n, &t)) {
        return format.type == MRS_STRING ? "the text does not fit the format"
                                         : "the text is no ISO 8601 date";
    }
    if (t.zoned && (tz->zone || tz->fixed)) {
        return "the text has a zone, and timezone is another";
    }
    int64_t utc = t.zoned ? t.local_seconds - t.offset
                          : mrsi_tz_to_utc(tz, t.local_seconds, mrsi_tz_at(tz, 0).dst);
    return mrsi_join_ms(utc, t.ms, ms) ? NULL : "the date cannot be stored";
}

enum mrs_status
mrsi_eval_date_from_string(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v, format;
    struct mrsi_tz tz;
    bool null;
    int64_t ms;
    MRS_TRY(mrsi_arg(x, F_STRING, ev, &v));
    MRS_TRY(eval_format(x, F_FORMAT, ev, FROM_LETTERS, &format));
    MRS_TRY(mrsi_zone_arg(x, F_ZONE, ev, &tz, &null));
    if (mrsi_is_nullish(v)) {
        return x->args[F_NULL] ? mrsi_arg(x, F_NULL, ev, out) : mrsi_ret_null(out);
    }
    if (null || (x->args[F_FORMAT] && mrsi_is_nullish(format))) {
        return mrsi_ret_null(out);
    }
    const char *wrong = read_date(v, format, &tz, &ms);
    if (!wrong) {
        return mrsi_ret_date(ev, ms, out);
    }
    return x->args[F_ERROR] ? mrsi_arg(x, F_ERROR, ev, out) : mrsi_eval_error(x, ev, "%s", wrong);
}
