/* SPDX-License-Identifier: Apache-2.0 */
/* op_date_math.c - $dateAdd, $dateSubtract, $dateDiff, $dateTrunc.
 *
 * Two kinds of units: up to hours a unit is a number of milliseconds and zones hardly matter; from days on it is a step
 * in the calendar of the zone, where a day may have 23 or 25 hours. Truncation counts bins from 2000-01-01T00:00 of the
 * zone, as the server does; steps with time windows share it. */
#include "op_date.h"
#include <strings.h>

enum unit { MILLISECOND, SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER, YEAR, N_UNITS };

static const struct {
    const char *name;
    int64_t ms;     /* of the small units */
    int32_t months; /* of the large units */
} UNITS[N_UNITS] = {{"millisecond", 1, 0}, {"second", 1000, 0}, {"minute", 60000, 0},
                    {"hour", 3600000, 0},  {"day", 0, 0},       {"week", 0, 0},
                    {"month", 0, 1},       {"quarter", 0, 3},   {"year", 0, 12}};

static bool
unit_of(struct mrs_val v, enum unit *unit)
{
    if (v.type != MRS_STRING) {
        return false;
    }
    struct mrsi_text text = mrsi_text_of(v);
    for (int u = 0; u < N_UNITS; u++) {
        if (mrsi_text_is(text.p, text.n, UNITS[u].name)) {
            *unit = (enum unit)u;
            return true;
        }
    }
    return false;
}

bool
mrsi_unit_known(struct mrs_val v)
{
    enum unit unit;
    return unit_of(v, &unit);
}

enum mrs_status
mrsi_no_unit(const struct mrs_expr *x, struct mrs_eval *ev)
{
    return mrsi_eval_error(
        x, ev,
        "unit must be one of millisecond, second, minute, hour, day, week, month, quarter, year");
}

static enum mrs_status
no_date(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v)
{
    return mrsi_eval_error(x, ev, "%s is no date", mrs_type_name(v.type));
}

/* Monday or mon in any case; 0 Sunday .. 6 Saturday. */
static bool
weekday_of(struct mrs_val v, int32_t *weekday)
{
    static const char *const names[7] = {"sunday",   "monday", "tuesday", "wednesday",
                                         "thursday", "friday", "saturday"};
    if (v.type != MRS_STRING) {
        return false;
    }
    struct mrsi_text text = mrsi_text_of(v);
    for (int32_t d = 0; d < 7; d++) {
        if ((text.n == strlen(names[d]) || text.n == 3) &&
            strncasecmp(text.p, names[d], text.n) == 0) {
            *weekday = d;
            return true;
        }
    }
    return false;
}

static bool
any_null(const struct mrs_val *v, uint32_t n, const struct mrs_expr *x)
{
    for (uint32_t i = 0; i < n; i++) {
        if (x->args[i] && mrsi_is_nullish(v[i])) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
all_args(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *v)
{
    for (uint32_t i = 0; i < x->n_args; i++) {
        MRS_TRY(mrsi_arg(x, i, ev, &v[i]));
    }
    return MRS_OK;
}

/* ---- $dateAdd, $dateSubtract ---- */

enum { A_START, A_UNIT, A_AMOUNT, A_ZONE, A_N };

enum mrs_status
mrsi_compile_date_math(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                       struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_named(c, x, spec, "startDate,unit,amount|timezone", e));
    return mrsi_compile_zone(c, x, A_ZONE, e);
}

/* ms moved by `amount` units; false: out of range. */
static bool
add_units(const struct mrsi_tz *tz, int64_t ms, enum unit unit, int64_t amount, int64_t *out)
{
    if (unit < DAY) {
        int64_t by;
        return !__builtin_mul_overflow(amount, UNITS[unit].ms, &by) &&
               !__builtin_add_overflow(ms, by, out);
    }
    int64_t most = unit < MONTH ? 300000000000
                                : 10000000000; /* larger amounts always leave int64 milliseconds */
    if (amount > most || amount < -most) {
        return false;
    }
    struct mrsi_local l = mrsi_local_of(tz, ms);
    int64_t days = mrsi_floor_div(l.local_seconds, MRSI_DAY_SECONDS);
    int64_t clock = l.local_seconds - days * MRSI_DAY_SECONDS;
    if (unit < MONTH) {
        days += unit == WEEK ? 7 * amount : amount;
    } else {
        struct mrsi_civil c = mrsi_civil_of(l.local_seconds, 0);
        int64_t months = c.year * 12 + c.month - 1 + amount * UNITS[unit].months;
        int64_t year = mrsi_floor_div(months, 12);
        int32_t month = (int32_t)(months - year * 12) + 1;
        int32_t last = mrsi_month_days(year, month);
        days = mrsi_days_of(year, month, c.day < last ? c.day : last);
    }
    return mrsi_join_ms(mrsi_tz_to_utc(tz, days * MRSI_DAY_SECONDS + clock, l.dst), l.ms, out);
}

enum mrs_status
mrsi_eval_date_math(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    bool back = x->op->variant;
    struct mrs_val v[A_N];
    struct mrsi_tz tz = {NULL, 0};
    enum unit unit;
    int64_t ms, amount;
    MRS_TRY(all_args(x, ev, v));
    if (any_null(v, A_N, x)) {
        return mrsi_ret_null(out);
    }
    if (!mrsi_to_date(v[A_START], &ms)) {
        return no_date(x, ev, v[A_START]);
    }
    if (!unit_of(v[A_UNIT], &unit)) {
        return mrsi_no_unit(x, ev);
    }
    if (!mrs_val_integral(v[A_AMOUNT], &amount)) {
        return mrsi_eval_error(x, ev, "amount must be a whole number of 64 bits");
    }
    if (x->args[A_ZONE]) {
        MRS_TRY(mrsi_zone_value(x, ev, v[A_ZONE], &tz));
    }
    bool fits = !back || amount != INT64_MIN;
    if (!fits || !add_units(&tz, ms, unit, back ? -amount : amount, &ms)) {
        return mrsi_eval_error(x, ev, "the result is a date that cannot be stored");
    }
    return mrsi_ret_date(ev, ms, out);
}

/* ---- $dateDiff ---- */

enum { D_START, D_END, D_UNIT, D_ZONE, D_WEEK, D_N };

enum mrs_status
mrsi_compile_date_diff(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                       struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_named(c, x, spec, "startDate,endDate,unit|timezone,startOfWeek", e));
    return mrsi_compile_zone(c, x, D_ZONE, e);
}

/* The number of boundaries of the unit before a moment, counted from a fixed one. */
static int64_t
boundaries(const struct mrsi_local *l, enum unit unit, int32_t week_start)
{
    MRS_ASSERT(week_start >= 0 && week_start < 7);
    struct mrsi_civil c = mrsi_civil_of(l->local_seconds, l->ms);
    int64_t days = mrsi_floor_div(l->local_seconds, MRSI_DAY_SECONDS);
    switch (unit) {
    case YEAR:
        return c.year;
    case QUARTER:
        return c.year * 4 + (c.month - 1) / 3;
    case MONTH:
        return c.year * 12 + c.month;
    case WEEK:
        return mrsi_floor_div(days + 4 - week_start, 7); /* day -4 was a Sunday */
    case DAY:
        return days;
    case HOUR:
        return l->utc_seconds - c.minute * 60 - c.second;
    case MINUTE:
        return l->utc_seconds - c.second;
    default:
        return l->utc_seconds;
    }
}

enum mrs_status
mrsi_eval_date_diff(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v[D_N];
    struct mrsi_tz tz = {NULL, 0};
    enum unit unit;
    int64_t from, to, diff;
    int32_t week_start = 0;
    MRS_TRY(all_args(x, ev, v));
    bool week = unit_of(v[D_UNIT], &unit) && unit == WEEK;
    if (any_null(v, D_WEEK, x) || (week && x->args[D_WEEK] && mrsi_is_nullish(v[D_WEEK]))) {
        return mrsi_ret_null(out);
    }
    if (!mrsi_to_date(v[D_START], &from) || !mrsi_to_date(v[D_END], &to)) {
        return no_date(x, ev, mrsi_to_date(v[D_START], &from) ? v[D_END] : v[D_START]);
    }
    if (!unit_of(v[D_UNIT], &unit)) {
        return mrsi_no_unit(x, ev);
    }
    if (x->args[D_ZONE]) {
        MRS_TRY(mrsi_zone_value(x, ev, v[D_ZONE], &tz));
    }
    if (week && x->args[D_WEEK] && !weekday_of(v[D_WEEK], &week_start)) {
        return mrsi_eval_error(x, ev, "startOfWeek must be the name of a weekday");
    }
    if (unit == MILLISECOND) {
        return __builtin_sub_overflow(to, from, &diff)
                 ? mrsi_eval_error(x, ev, "the difference does not fit 64 bits")
                 : mrsi_ret_i64(ev, diff, out);
    }
    struct mrsi_local a = mrsi_local_of(&tz, from), b = mrsi_local_of(&tz, to);
    diff = boundaries(&b, unit, week_start) - boundaries(&a, unit, week_start);
    return mrsi_ret_i64(ev, unit == HOUR ? diff / 3600 : unit == MINUTE ? diff / 60 : diff, out);
}

/* ---- dividing time into bins ---- */

struct bins {
    struct mrsi_tz tz;
    enum unit unit;
    int32_t week_start;
    int64_t size;   /* in units */
    int64_t origin; /* the first moment of 2000 in the zone, in seconds */
};

enum { FIRST_DAY = 10957 }; /* days up to 2000-01-01 */

static void
find_origin(struct bins *b)
{
    const int64_t first = FIRST_DAY * (int64_t)MRSI_DAY_SECONDS;
    b->origin = mrsi_tz_to_utc(&b->tz, first, mrsi_tz_at(&b->tz, first).dst);
}

/* Days and more: steps in the calendar. */
static bool
truncate_days(const struct bins *b, int64_t ms, int64_t ahead, int64_t *out)
{
    MRS_ASSERT(b->size > 0);
    struct mrsi_local l = mrsi_local_of(&b->tz, ms);
    int64_t days = mrsi_floor_div(l.local_seconds, MRSI_DAY_SECONDS);
    if (b->unit < MONTH) {
        bool weeks = b->unit == WEEK;
        int64_t start = weeks ? FIRST_DAY + (b->week_start - mrsi_weekday(FIRST_DAY) + 7) % 7 : FIRST_DAY;
        int64_t size = weeks ? 7 * b->size : b->size;
        days = start + (mrsi_floor_div(days - start, size) + ahead) * size;
    } else {
        struct mrsi_civil c = mrsi_civil_of(l.local_seconds, 0);
        int64_t size = b->size * UNITS[b->unit].months;
        int64_t months = (mrsi_floor_div((c.year - 2000) * 12 + c.month - 1, size) + ahead) * size;
        int64_t year = mrsi_floor_div(months, 12);
        if (year < -400000000 || year > 400000000) {
            return false;
        }
        days = mrsi_days_of(2000 + year, (int32_t)(months - year * 12) + 1, 1);
    }
    bool dst = mrsi_tz_at(&b->tz, b->origin).dst;
    return mrsi_join_ms(mrsi_tz_to_utc(&b->tz, days * MRSI_DAY_SECONDS, dst), 0, out);
}

/* The start of the bin that contains ms, or with `ahead` 1 of the next one; false: out of range. */
static bool
truncate_date(const struct bins *b, int64_t ms, int64_t ahead, int64_t *out)
{
    MRS_ASSERT(b->size > 0);
    int64_t size, distance;
    if (b->unit >= DAY) {
        return truncate_days(b, ms, ahead, out);
    }
    if (__builtin_mul_overflow(b->size, UNITS[b->unit].ms, &size) ||
        __builtin_sub_overflow(ms, b->origin * 1000, &distance)) {
        return false;
    }
    return !__builtin_mul_overflow(mrsi_floor_div(distance, size) + ahead, size, out) &&
           !__builtin_add_overflow(*out, b->origin * 1000, out);
}

/* ---- $dateTrunc ---- */

enum { T_DATE, T_UNIT, T_BIN, T_ZONE, T_WEEK, T_N };

/* Cached by a call: its zones, and the bins if all their arguments are constant. */
struct trunc {
    struct mrsi_zones *zones;
    struct bins bins;
    bool fixed;
};

void
mrsi_free_trunc(struct mrs_expr *x)
{
    struct trunc *t = x->extra; /* t itself is in the arena */
    mrsi_zones_free(t->zones);
    t->zones = NULL;
}

/* The bins for arguments, which must exist and not be null (except startOfWeek if unused). FAIL: in ev->err. */
static enum mrs_status
make_bins(const struct mrs_expr *x, struct mrs_eval *ev, const struct mrs_val v[T_N], struct bins *b)
{
    const struct trunc *t = x->extra;
    *b = (struct bins){.size = 1};
    if (!unit_of(v[T_UNIT], &b->unit)) {
        return mrsi_no_unit(x, ev);
    }
    if (x->args[T_BIN] && (!mrs_val_integral(v[T_BIN], &b->size) || b->size <= 0 ||
                           (b->unit >= DAY && b->size > 100000000000))) {
        return mrsi_eval_error(
            x, ev, "binSize must be a whole number greater than 0 (of days and more at most 1e11)");
    }
    if (x->args[T_ZONE]) {
        MRS_TRY(mrsi_zone_among(t->zones, x, ev, v[T_ZONE], &b->tz));
    }
    if (b->unit == WEEK && x->args[T_WEEK] && !weekday_of(v[T_WEEK], &b->week_start)) {
        return mrsi_eval_error(x, ev, "startOfWeek must be the name of a weekday");
    }
    find_origin(b);
    return MRS_OK;
}

/* Whether an argument makes the result null. */
static bool
null_bins(const struct mrs_expr *x, const struct mrs_val v[T_N])
{
    enum unit unit;
    bool week = unit_of(v[T_UNIT], &unit) && unit == WEEK;
    return any_null(v, T_WEEK, x) || (week && x->args[T_WEEK] && mrsi_is_nullish(v[T_WEEK]));
}

/* Invalid constants are reported at the first date, as the server does. */
static enum mrs_status
fix_bins(struct mrsi_compile *c, struct mrs_expr *x, struct trunc *t, struct mrs_err *e)
{
    struct mrs_err why;
    struct mrs_eval ev = {.arena = mrsi_compile_arena(c), .err = &why};
    struct mrs_val v[T_N] = {mrs_make_i64((uint8_t[16]){0}, 0, MRS_DATE)};
    mrs_err_clear(&why);
    for (uint32_t i = T_UNIT; i < T_N; i++) {
        if (x->args[i] && !mrsi_is_constant(x->args[i])) {
            return MRS_OK;
        }
        v[i] = x->args[i] ? x->args[i]->lit : mrs_missing();
    }
    if (null_bins(x, v)) {
        return MRS_OK;
    }
    enum mrs_status s = make_bins(x, &ev, v, &t->bins);
    t->fixed = s == MRS_OK;
    return s == MRS_DEAD ? mrs_err_set(e, s, why.code, "%s", why.msg) : MRS_OK;
}

enum mrs_status
mrsi_compile_date_trunc(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                        struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(spec));
    struct trunc *t = mrs_arena_alloc(mrsi_compile_arena(c), sizeof *t);
    MRS_TRY(mrs_allocated(t, sizeof *t, e));
    MRS_TRY(mrsi_compile_named(c, x, spec, "date,unit|binSize,timezone,startOfWeek", e));
    enum mrs_status s = mrsi_compile_zone(c, x, T_ZONE, e);
    *t = (struct trunc){.zones = x->extra};
    x->extra = t;
    MRS_TRY(s);
    MRS_TRY(fix_bins(c, x, t, e));
    const struct mrs_expr *week = x->args[T_WEEK];
    bool constant = true;
    for (uint32_t i = 0; i < T_WEEK; i++) {
        constant = constant && (!x->args[i] || mrsi_is_constant(x->args[i]));
    }
    if (week && mrsi_is_constant(week) && mrsi_is_nullish(week->lit) && !constant) {
        mrsi_compile_become(x, mrs_null()); /* the server's rule, for every unit */
    }
    return MRS_OK;
}

enum mrs_status
mrsi_eval_date_trunc(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    const struct trunc *t = x->extra;
    struct mrs_val v[T_N];
    struct bins made;
    int64_t ms;
    if (t->fixed) {
        MRS_TRY(mrsi_arg(x, T_DATE, ev, &v[T_DATE]));
    } else {
        MRS_TRY(all_args(x, ev, v));
    }
    if (t->fixed ? mrsi_is_nullish(v[T_DATE]) : null_bins(x, v)) {
        return mrsi_ret_null(out);
    }
    if (!mrsi_to_date(v[T_DATE], &ms)) {
        return no_date(x, ev, v[T_DATE]);
    }
    if (!t->fixed) {
        MRS_TRY(make_bins(x, ev, v, &made));
    }
    if (!truncate_date(t->fixed ? &t->bins : &made, ms, 0, &ms)) {
        return mrsi_eval_error(x, ev, "the result is a date that cannot be stored");
    }
    return mrsi_ret_date(ev, ms, out);
}

/* Whether all dates between start and end of a bin are in it: without a zone whose clocks change, always. */
static bool
whole_bin(const struct bins *b, int64_t ms, int64_t *start, int64_t *end)
{
    return (b->unit < DAY || !b->tz.zone) && truncate_date(b, ms, 0, start) && truncate_date(b, ms, 1, end);
}

const char *
mrs_expr_truncated_path(const struct mrs_expr *x)
{
    if (x->kind != MRSI_CALL || x->op->eval != mrsi_eval_date_trunc) {
        return NULL;
    }
    const struct trunc *t = x->extra;
    return t->fixed ? mrs_expr_bare_path(x->args[T_DATE]) : NULL;
}

bool
mrs_expr_truncates(const struct mrs_expr *x, int64_t ms, int64_t *start, int64_t *end)
{
    MRS_ASSERT(mrs_expr_truncated_path(x));
    const struct trunc *t = x->extra;
    return whole_bin(&t->bins, ms, start, end);
}

/* ---- time windows of steps, with the rules of $dateTrunc ---- */

struct mrs_windows {
    struct mrs_mem *mem;
    struct mrsi_zones *zones;
    struct bins bins;
};

/* FAIL MRS_E_PLAN with the invalid key of the description. */
static enum mrs_status
wrong_windows(struct mrs_err *e, const char *key, const char *why)
{
    mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s", why);
    mrs_err_at(e, "%s", key);
    return MRS_FAIL;
}

static enum mrs_status
read_windows(struct mrs_windows *w, const struct mrs_windows_spec *spec, struct mrs_err *e)
{
    struct bins *b = &w->bins;
    int64_t ms;
    char why[160];
    b->size = spec->size;
    if (!unit_of(spec->unit, &b->unit)) {
        return wrong_windows(e, "unit",
                             "must be one of millisecond, second, minute, hour, day, week, month, quarter, year");
    }
    bool fits = b->unit >= DAY ? b->size <= 100000000000 : !__builtin_mul_overflow(b->size, UNITS[b->unit].ms, &ms);
    if (b->size <= 0 || !fits) {
        return wrong_windows(e, "size", b->size <= 0 ? "must be a whole number greater than 0"
                                                     : "no date that can be stored is so far from another");
    }
    if (spec->start_of_week.type != MRS_MISSING && !weekday_of(spec->start_of_week, &b->week_start)) {
        return wrong_windows(e, "startOfWeek", "must be the name of a weekday");
    }
    if (spec->timezone.type == MRS_MISSING) {
        return MRS_OK;
    }
    if (spec->timezone.type != MRS_STRING) {
        return wrong_windows(e, "timezone", "must be a text");
    }
    struct mrsi_text name = mrsi_text_of(spec->timezone);
    enum mrs_status s = mrsi_zones_find(w->zones, name.p, name.n, &b->tz, why, e);
    return s == MRS_FAIL ? wrong_windows(e, "timezone", why) : s;
}

enum mrs_status
mrs_windows_new(struct mrs_mem *mem, const struct mrs_windows_spec *spec, struct mrs_windows **out,
                struct mrs_err *e)
{
    struct mrs_windows *w = mrs_zalloc(mem, sizeof *w);
    *out = NULL;
    MRS_TRY(mrs_allocated(w, sizeof *w, e));
    w->mem = mem;
    w->zones = mrsi_zones_new(mem);
    enum mrs_status s = w->zones ? read_windows(w, spec, e) : mrs_err_memory(e, sizeof *w->zones);
    if (s != MRS_OK) {
        mrs_windows_free(w);
        return s;
    }
    find_origin(&w->bins);
    *out = w;
    return MRS_OK;
}

void
mrs_windows_free(struct mrs_windows *w)
{
    if (w) {
        if (w->zones) {
            mrsi_zones_free(w->zones);
        }
        mrs_free(w->mem, w);
    }
}

bool
mrs_window_start(const struct mrs_windows *w, int64_t ms, int64_t *start)
{
    MRS_ASSERT(w->bins.size > 0);
    return truncate_date(&w->bins, ms, 0, start);
}

bool
mrs_window_end(const struct mrs_windows *w, int64_t ms, int64_t *end)
{
    MRS_ASSERT(w->bins.size > 0);
    return truncate_date(&w->bins, ms, 1, end);
}

bool
mrs_window_whole(const struct mrs_windows *w, int64_t ms, int64_t *start, int64_t *end)
{
    MRS_ASSERT(w->bins.size > 0);
    return whole_bin(&w->bins, ms, start, end);
}
