/* SPDX-License-Identifier: Apache-2.0 */
/* op_date.c - parts of dates, dates from parts, and the table of the date operators.
 *
 * A date is milliseconds of UTC; the offset of a zone is looked up at that moment. Dates, timestamps and ObjectIds are
 * accepted alike. Parts work over the whole range of int64; only text is limited to the years 0 to 9999. */
#include "op_date.h"

/* ---- zones ---- */

static void
free_zones(struct mrs_expr *x)
{
    mrsi_zones_free(x->extra);
    x->extra = NULL;
}

enum mrs_status
mrsi_compile_zone(struct mrsi_compile *c, struct mrs_expr *x, uint32_t i, struct mrs_err *e)
{
    const struct mrs_expr *arg = x->args[i];
    if (!arg) {
        return MRS_OK;
    }
    x->extra = mrsi_zones_new(mrsi_compile_arena(c)->mem);
    MRS_TRY(mrs_allocated(x->extra, sizeof(struct mrsi_zones), e));
    if (!mrsi_is_constant(arg)) {
        return mrsi_zones_installed()
                   ? MRS_OK
                   : mrsi_expr_refuse(x, e, "time zones come from documents, and this system has no time zone "
                                            "data: install the package tzdata");
    }
    if (mrsi_is_nullish(arg->lit)) {
        return MRS_OK;
    }
    if (arg->lit.type != MRS_STRING) {
        return mrsi_expr_refuse(x, e, "timezone must be a string, not %s",
                                mrs_type_name(arg->lit.type));
    }
    struct mrsi_text name = mrsi_text_of(arg->lit);
    struct mrsi_tz tz;
    char why[160];
    enum mrs_status s = mrsi_zones_find(x->extra, name.p, name.n, &tz, why, e);
    return s == MRS_FAIL ? mrsi_expr_refuse(x, e, "%s", why) : s;
}

enum mrs_status
mrsi_zone_among(struct mrsi_zones *zones, const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v,
                struct mrsi_tz *tz)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    char why[160];
    if (v.type != MRS_STRING) {
        return mrsi_eval_error(x, ev, "timezone must be a string, not %s", mrs_type_name(v.type));
    }
    struct mrsi_text name = mrsi_text_of(v);
    enum mrs_status s = mrsi_zones_find(zones, name.p, name.n, tz, why, ev->err);
    return s == MRS_FAIL ? mrsi_eval_error(x, ev, "%s", why) : s;
}

enum mrs_status
mrsi_zone_value(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v, struct mrsi_tz *tz)
{
    return mrsi_zone_among(x->extra, x, ev, v, tz);
}

enum mrs_status
mrsi_zone_arg(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, struct mrsi_tz *tz,
              bool *null)
{
    struct mrs_val v;
    *null = false;
    tz->zone = NULL;
    tz->fixed = 0;
    if (i >= x->n_args || !x->args[i]) {
        return MRS_OK;
    }
    MRS_TRY(mrsi_arg(x, i, ev, &v));
    *null = mrsi_is_nullish(v);
    return *null ? MRS_OK : mrsi_zone_value(x, ev, v, tz);
}

bool
mrsi_join_ms(int64_t utc_seconds, int64_t ms, int64_t *out)
{
    return !__builtin_mul_overflow(utc_seconds, 1000, out) &&
           !__builtin_add_overflow(*out, ms, out);
}

/* ---- single parts ---- */

static bool
is_named(struct mrs_val spec)
{
    struct mrs_walk w;
    struct mrs_elem e;
    if (spec.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(spec));
    return mrs_walk_next(&w, &e) <= 0 || e.name[0] != '$';
}

/* args: date, timezone. Written as {date, timezone}, as a date, or as a list of one date. */
static enum mrs_status
compile_part(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    if (!is_named(spec)) {
        return mrsi_compile_list(c, x, spec, 1, 1, e);
    }
    MRS_TRY(mrsi_compile_named(c, x, spec, "date|timezone", e));
    return mrsi_compile_zone(c, x, 1, e);
}

/* The date of argument 0 by the clock of argument 1. *null: one is nullish. */
static enum mrs_status
local_date(const struct mrs_expr *x, struct mrs_eval *ev, struct mrsi_local *l, bool *null)
{
    MRS_ASSERT(x->n_args >= 1);
    struct mrs_val v;
    struct mrsi_tz tz;
    int64_t ms;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    *null = mrsi_is_nullish(v);
    if (*null) {
        return MRS_OK;
    }
    if (!mrsi_to_date(v, &ms)) {
        return mrsi_eval_error(x, ev, "%s is no date", mrs_type_name(v.type));
    }
    MRS_TRY(mrsi_zone_arg(x, 1, ev, &tz, null));
    *l = mrsi_local_of(&tz, ms);
    return MRS_OK;
}

enum op_date_part {
    YEAR,
    MONTH,
    DAY_OF_MONTH,
    HOUR,
    MINUTE,
    SECOND,
    MILLISECOND,
    DAY_OF_WEEK,
    DAY_OF_YEAR,
    WEEK,
    ISO_YEAR,
    ISO_WEEK,
    ISO_DAY
};

static int64_t
part_of(const struct mrsi_civil *c, int64_t local_seconds, enum op_date_part which)
{
    MRS_ASSERT(c->month >= 1 && c->month <= 12);
    int64_t iso_year = 0;
    int32_t iso_week = 0;
    if (which == ISO_YEAR || which == ISO_WEEK) {
        mrsi_iso_week(mrsi_floor_div(local_seconds, MRSI_DAY_SECONDS), &iso_year, &iso_week);
    }
    switch (which) {
    case YEAR:
        return c->year;
    case MONTH:
        return c->month;
    case DAY_OF_MONTH:
        return c->day;
    case HOUR:
        return c->hour;
    case MINUTE:
        return c->minute;
    case SECOND:
        return c->second;
    case MILLISECOND:
        return c->ms;
    case DAY_OF_WEEK:
        return c->weekday + 1;
    case DAY_OF_YEAR:
        return c->yearday + 1;
    case WEEK:
        return (c->yearday - c->weekday + 7) / 7;
    case ISO_YEAR:
        return iso_year;
    case ISO_WEEK:
        return iso_week;
    case ISO_DAY:
        break;
    }
    return c->weekday ? c->weekday : 7;
}

static enum mrs_status
part(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    enum op_date_part which = (enum op_date_part)x->op->variant;
    struct mrsi_local l;
    bool null;
    MRS_TRY(local_date(x, ev, &l, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    struct mrsi_civil c = mrsi_civil_of(l.local_seconds, l.ms);
    int64_t v = part_of(&c, l.local_seconds, which);
    return which == ISO_YEAR ? mrsi_ret_i64(ev, v, out) : mrsi_ret_i32(ev, (int32_t)v, out);
}

/* ---- $dateToParts ---- */

/* args: date, timezone, iso8601 */
static enum mrs_status
compile_to_parts(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_named(c, x, spec, "date|timezone,iso8601", e));
    return mrsi_compile_zone(c, x, 1, e);
}

static enum mrs_status
eval_to_parts(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    static const struct {
        const char *name;
        enum op_date_part part;
    } fields[] = {{"year", YEAR},        {"month", MONTH},
                  {"day", DAY_OF_MONTH}, {"isoWeekYear", ISO_YEAR},
                  {"isoWeek", ISO_WEEK}, {"isoDayOfWeek", ISO_DAY},
                  {"hour", HOUR},        {"minute", MINUTE},
                  {"second", SECOND},    {"millisecond", MILLISECOND}};
    struct mrsi_local l;
    struct mrs_val iso;
    bool null;
    MRS_TRY(local_date(x, ev, &l, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    MRS_TRY(mrsi_arg(x, 2, ev, &iso));
    if (x->args[2] && mrsi_is_nullish(iso)) {
        return mrsi_ret_null(out);
    }
    if (x->args[2] && iso.type != MRS_BOOL) {
        return mrsi_eval_error(x, ev, "iso8601 must be true or false, not %s",
                               mrs_type_name(iso.type));
    }
    struct mrsi_civil c = mrsi_civil_of(l.local_seconds, l.ms);
    bool weeks = x->args[2] && iso.p[0];
    struct mrsi_expr_out o;
    mrsi_out_begin(ev, &o);
    for (uint32_t i = weeks ? 3 : 0; i < sizeof fields / sizeof *fields;
         i += !weeks && i == 2 ? 4 : 1) {
        mrs_build_i32(&o.build, fields[i].name,
                      (int32_t)part_of(&c, l.local_seconds, fields[i].part));
    }
    return mrsi_out_end(ev, &o, MRS_DOCUMENT, out);
}

/* ---- $dateFromParts ---- */

enum {
    P_YEAR,
    P_MONTH,
    P_DAY,
    P_HOUR,
    P_MINUTE,
    P_SECOND,
    P_MS,
    P_ISO_YEAR,
    P_ISO_WEEK,
    P_ISO_DAY,
    P_ZONE
};

static const char PARTS[] =
    "|year,month,day,hour,minute,second,millisecond,isoWeekYear,isoWeek,isoDayOfWeek,timezone";

static enum mrs_status
compile_from_parts(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                   struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_named(c, x, spec, PARTS, e));
    bool civil = x->args[P_YEAR] || x->args[P_MONTH] || x->args[P_DAY];
    bool iso = x->args[P_ISO_YEAR] || x->args[P_ISO_WEEK] || x->args[P_ISO_DAY];
    if ((civil && iso) || (!x->args[P_YEAR] && !x->args[P_ISO_YEAR])) {
        return mrsi_expr_refuse(x, e,
                                "takes either year, month, day or isoWeekYear, isoWeek, "
                                "isoDayOfWeek; the year must be there");
    }
    return mrsi_compile_zone(c, x, P_ZONE, e);
}

/* Local seconds for the parts; false: beyond int64. */
static bool
seconds_of_parts(const int64_t v[P_ZONE], bool iso, int64_t *seconds)
{
    int64_t days;
    if (iso) {
        days = mrsi_iso_year_start(v[P_ISO_YEAR]) + (v[P_ISO_WEEK] - 1) * 7 + v[P_ISO_DAY] - 1;
    } else {
        int64_t months = v[P_YEAR] * 12 + v[P_MONTH] - 1;
        int64_t year = mrsi_floor_div(months, 12);
        days = mrsi_days_of(year, (int32_t)(months - year * 12) + 1, v[P_DAY]);
    }
    return !__builtin_add_overflow(days * MRSI_DAY_SECONDS + v[P_HOUR] * 3600 + v[P_MINUTE] * 60,
                                   v[P_SECOND], seconds);
}

static enum mrs_status
eval_from_parts(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args > P_ZONE);
    static const char *const names[] = {"year",    "month",       "day",         "hour",
                                        "minute",  "second",      "millisecond", "isoWeekYear",
                                        "isoWeek", "isoDayOfWeek"};
    int64_t v[P_ZONE] = {0, 1, 1, 0, 0, 0, 0, 0, 1, 1}, seconds, ms;
    struct mrsi_tz tz;
    bool null;
    MRS_TRY(mrsi_zone_arg(x, P_ZONE, ev, &tz, &null));
    for (uint32_t i = 0; !null && i < P_ZONE; i++) {
        struct mrs_val arg;
        if (!x->args[i]) {
            continue;
        }
        MRS_TRY(mrsi_arg(x, i, ev, &arg));
        null = mrsi_is_nullish(arg);
        if (!null && !mrs_val_integral(arg, &v[i])) {
            return mrsi_eval_error(x, ev, "%s must be a whole number", names[i]);
        }
        bool year = i == P_YEAR || i == P_ISO_YEAR, free = i == P_SECOND || i == P_MS;
        if (!null && !free && (v[i] < (year ? 1 : INT16_MIN) || v[i] > (year ? 9999 : INT16_MAX))) {
            return mrsi_eval_error(x, ev, "%s is out of range: %lld", names[i], (long long)v[i]);
        }
    }
    if (null) {
        return mrsi_ret_null(out);
    }
    bool fits = seconds_of_parts(v, x->args[P_ISO_YEAR] != NULL, &seconds) &&
                seconds < INT64_MAX / 1000 && seconds > INT64_MIN / 1000;
    fits = fits && mrsi_join_ms(mrsi_tz_to_utc(&tz, seconds, mrsi_tz_at(&tz, 0).dst), v[P_MS], &ms);
    return fits ? mrsi_ret_date(ev, ms, out)
                : mrsi_eval_error(x, ev, "the parts give a date that cannot be stored");
}

#define OWNING_ROW(name, note, fn, hook, free)                                                     \
    {                                                                                              \
        .row = {name, "date", note}, .eval = fn, .compile = hook, .free_extra = free               \
    }
#define ROW(name, note, fn, hook) OWNING_ROW(name, note, fn, hook, free_zones)
#define PART_ROW(name, which)                                                                      \
    {                                                                                              \
        .row = {name, "date", ""}, .eval = part, .variant = which, .compile = compile_part,        \
        .free_extra = free_zones                                                                   \
    }

const struct mrs_op mrsi_ops_date[] = {
    ROW("$dateAdd", "", mrsi_eval_date_math, mrsi_compile_date_math),
    ROW("$dateDiff", "", mrsi_eval_date_diff, mrsi_compile_date_diff),
    ROW("$dateFromParts", "", eval_from_parts, compile_from_parts),
    ROW("$dateFromString", "without a format only ISO 8601 texts are read",
             mrsi_eval_date_from_string, mrsi_compile_date_from_string),
    {.row = {"$dateSubtract", "date", ""}, .eval = mrsi_eval_date_math, .variant = true,
     .compile = mrsi_compile_date_math, .free_extra = free_zones},
    ROW("$dateToParts", "", eval_to_parts, compile_to_parts),
    ROW("$dateToString", "", mrsi_eval_date_to_string, mrsi_compile_date_to_string),
    OWNING_ROW("$dateTrunc", "", mrsi_eval_date_trunc, mrsi_compile_date_trunc, mrsi_free_trunc),
    PART_ROW("$dayOfMonth", DAY_OF_MONTH),
    PART_ROW("$dayOfWeek", DAY_OF_WEEK),
    PART_ROW("$dayOfYear", DAY_OF_YEAR),
    PART_ROW("$hour", HOUR),
    PART_ROW("$isoDayOfWeek", ISO_DAY),
    PART_ROW("$isoWeek", ISO_WEEK),
    PART_ROW("$isoWeekYear", ISO_YEAR),
    PART_ROW("$millisecond", MILLISECOND),
    PART_ROW("$minute", MINUTE),
    PART_ROW("$month", MONTH),
    PART_ROW("$second", SECOND),
    PART_ROW("$week", WEEK),
    PART_ROW("$year", YEAR),
    {.row = {NULL, NULL, NULL}},
};
