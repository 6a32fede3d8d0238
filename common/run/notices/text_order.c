/* SPDX-License-Identifier: Apache-2.0 */
/* text_order.c - texts that look like numbers or dates, and are sorted as texts.
 *
 * Numbers of the same length sort alike as texts, and so do dates that begin with the year; a text of another form says
 * that the path holds names. So one bit each is collected for these, and for each length. */
#include "text_order.h"
#include "mongoreshape/assert.h"
#include <string.h>

enum { LONGEST = 28, MINUS = 29, DATE = 30, OTHER = 31 };

static uint32_t
digits(const char *p, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && p[i] >= '0' && p[i] <= '9') {
        i++;
    }
    return i;
}

/* 1/12/2024, 01.12.2024 10:00 */
static bool
is_day_first(const char *p, uint32_t n)
{
    uint32_t day = digits(p, n);
    if (day < 1 || day > 2 || n < day + 4 || !strchr("/.-", p[day])) {
        return false;
    }
    uint32_t month = digits(p + day + 1, n - day - 1), year = day + month + 2;
    return month >= 1 && month <= 2 && year < n && p[year - 1] == p[day] && digits(p + year, n - year) == 4;
}

/* The length of the whole part of a number; 0: the text is none. */
static uint32_t
whole_digits(const char *p, uint32_t n)
{
    uint32_t whole = digits(p, n);
    bool point = whole < n && p[whole] == '.';
    uint32_t more = point ? digits(p + whole + 1, n - whole - 1) : 0;
    return whole + point + more == n && (!point || more) ? whole : 0;
}

uint32_t
mrsi_text_forms(struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (v.type != MRS_STRING) {
        return 0;
    }
    uint32_t n;
    const char *p = mrs_val_text(v, &n);
    bool minus = n && *p == '-';
    uint32_t whole = whole_digits(p + minus, n - minus);
    if (is_day_first(p, n)) {
        return 1u << DATE;
    }
    return whole && whole <= LONGEST ? 1u << whole | (uint32_t)minus << MINUS : 1u << OTHER;
}

const char *
mrsi_text_order(uint32_t forms)
{
    if (forms == 1u << DATE) {
        return "dates that do not begin with the year (01/12/2024 before 02/01/2024): sort by a date that `set` "
               "makes with $dateFromString";
    }
    bool alike = (forms & (forms - 1)) == 0; /* not even a sign */
    return alike || forms >> DATE ? NULL : "numbers (\"10\" before \"9\"): `cast` them before this step";
}
