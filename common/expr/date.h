/* SPDX-License-Identifier: Apache-2.0 */
/* date.h - the calendar: days, civil dates, weeks; proleptic Gregorian, over all of int64 milliseconds. */
#ifndef MRS_EXPR_DATE_H
#define MRS_EXPR_DATE_H

#include "support.h"

#define MRSI_DAY_SECONDS 86400

/* The parts of a moment. weekday: 0 Sunday .. 6 Saturday; yearday from 0. */
struct mrsi_civil {
    int64_t year;
    int32_t month, day, hour, minute, second, ms; /* month and day from 1 */
    int32_t weekday, yearday;
};

static inline int64_t
mrsi_floor_div(int64_t a, int64_t b) /* b > 0 */
{
    return a / b - (a % b < 0);
}

/* Days since 1970-01-01 of a civil date; any day number, month 1..12. */
int64_t mrsi_days_of(int64_t year, int32_t month, int64_t day);
void mrsi_civil_of_days(int64_t days, int64_t *year, int32_t *month, int32_t *day);
int32_t mrsi_month_days(int64_t year, int32_t month);
/* Days to weekday (0 Sunday). */
int32_t mrsi_weekday(int64_t days);
/* ISO 8601 week (1..53) and its year of a day. */
void mrsi_iso_week(int64_t days, int64_t *iso_year, int32_t *week);
/* Days of the Monday of ISO week 1 of a year. */
int64_t mrsi_iso_year_start(int64_t iso_year);
/* All parts of a local time given in seconds since the epoch of that place, and the milliseconds.
 */
struct mrsi_civil mrsi_civil_of(int64_t local_seconds, int32_t ms);

/* v in decimal digits, with leading zeros up to the width (at most ten; a sign counts); returns the end of the text. */
char *mrsi_put_number(char *at, int32_t v, int width);

/* A parsed date: local seconds, and the zone in the text. */
struct mrsi_date_text {
    int64_t local_seconds;
    int32_t ms;
    bool zoned; /* the text has a zone: `offset` seconds east of UTC */
    int32_t offset;
};
bool mrsi_date_parse(const char *text, uint32_t n, struct mrsi_date_text *out);

#endif
