/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.c - conversions of numbers: integral values, and doubles as text.
 *
 * A double is printed with the fewest digits that read back as the same double. Fifteen digits suffice for most and are
 * computed directly (trailing zeros are dropped), sixteen or seventeen for the rest; only subnormal numbers are
 * searched from one digit up. The C library rounds correctly in both directions, so it does the arithmetic; its text is
 * reformatted, because its decimal point depends on the locale. It must not know its callers: `$toString`, Extended
 * JSON and messages show the same digits. */
#include "decimal.h"
#include "ejson_inner.h"

#include "mongoreshape/value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- integral values ---- */
static bool
integral_decimal(const uint8_t *p, int64_t *out)
{
    struct mrsi_dec d = mrsi_dec_parts(p);
    if (d.nan || d.infinite) {
        return false;
    }
    while (d.exp < 0 && d.coef && d.coef % 10 == 0) {
        d.coef /= 10;
        d.exp++;
    }
    if (d.coef && (d.exp < 0 || d.exp + mrsi_dec_digits(d.coef) > 19)) {
        return false;
    }
    mrsi_u128 size = d.coef ? d.coef * mrsi_pow10(d.exp) : 0;
    if (size > (mrsi_u128)INT64_MAX + d.negative) {
        return false;
    }
    *out = (int64_t)(d.negative ? 0 - (uint64_t)size : (uint64_t)size);
    return true;
}

bool
mrs_val_integral(struct mrs_val v, int64_t *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    double d;
    switch (v.type) {
    case MRS_INT32:
        *out = mrs_val_i32(v);
        return true;
    case MRS_INT64:
        *out = mrs_val_i64(v);
        return true;
    case MRS_DOUBLE:
        d = mrs_val_double(v);
        if (!(d >= -0x1p63 && d < 0x1p63) || d != floor(d)) {
            return false;
        }
        *out = (int64_t)d;
        return true;
    case MRS_DECIMAL128:
        return integral_decimal(v.p, out);
    default:
        return false;
    }
}

/* ---- doubles as text ---- */
struct digits {
    char d[20];
    int n;        /* digits, without trailing zeros */
    int exponent; /* of the first digit */
};

/* d > 0 rounded to n digits. */
static void
take_digits(double d, int n, struct digits *out)
{
    MRS_ASSERT(n > 0 && n <= 17);
    char text[40];
    snprintf(text, sizeof text, "%.*e", n - 1, d);
    const char *p = text;
    out->n = 0;
    for (; *p && *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9') {
            out->d[out->n++] = *p;
        }
    }
    out->exponent = (int)strtol(p + 1, NULL, 10);
    while (out->n > 1 && out->d[out->n - 1] == '0') {
        out->n--;
    }
}

/* Whether the digits read as d; written without a point, to be independent of the locale. */
static bool
reads_back(const struct digits *t, double d)
{
    char text[40];
    snprintf(text, sizeof text, "%.*se%d", t->n, t->d, t->exponent - t->n + 1);
    return strtod(text, NULL) == d;
}

/* Increments the last of n digits. Just above a power of two the gaps are twice as wide, so that the larger number may
 * read back where the nearer number below does not. */
static bool
try_above(double d, int n, struct digits *t)
{
    MRS_ASSERT(n > 0 && n <= 17);
    int power;
    struct digits up;
    if (frexp(d, &power) != 0.5) {
        return false;
    }
    take_digits(d, n, &up);
    while (up.n < n) {
        up.d[up.n++] = '0';
    }
    int i = n - 1;
    while (i > 0 && up.d[i] == '9') {
        i--;
    }
    if (up.d[i] == '9') {
        return false;
    }
    up.d[i]++;
    up.n = i + 1;
    if (!reads_back(&up, d)) {
        return false;
    }
    *t = up;
    return true;
}

static void
shortest(double d, struct digits *t)
{
    for (int n = d < DBL_MIN ? 1 : 15; n < 17; n++) {
        take_digits(d, n, t);
        if (reads_back(t, d) || try_above(d, n, t)) {
            return;
        }
    }
    take_digits(d, 17, t);
}

static uint32_t
plain(const struct digits *t, char *text)
{
    MRS_ASSERT(t->n > 0);
    char *p = text;
    int before = t->exponent + 1; /* digits before the point */
    if (before <= 0) {
        *p++ = '0';
        *p++ = '.';
        for (int i = before; i < 0; i++) {
            *p++ = '0';
        }
    }
    for (int i = 0; i < t->n || i < before; i++) {
        if (i == before && before > 0) {
            *p++ = '.';
        }
        *p++ = i < t->n ? t->d[i] : '0';
    }
    *p = 0;
    return (uint32_t)(p - text);
}

static uint32_t
scientific(const struct digits *t, char *text)
{
    MRS_ASSERT(t->n > 0);
    char sign = t->exponent < 0 ? '-' : '+';
    int n = snprintf(text, 32, "%c%s%.*se%c%02d", t->d[0], t->n > 1 ? "." : "", t->n - 1, t->d + 1, sign,
                     abs(t->exponent));
    return (uint32_t)n;
}

uint32_t
mrs_double_to_text(double d, char text[40])
{
    struct digits t;
    uint32_t at = 0;
    if (isnan(d)) {
        memcpy(text, "NaN", 4);
        return 3;
    }
    if (signbit(d)) {
        text[at++] = '-';
        d = -d;
    }
    if (isinf(d) || d == 0) {
        const char *word = d == 0 ? "0" : "Infinity";
        size_t n = strlen(word);
        memcpy(text + at, word, n + 1);
        return at + (uint32_t)n;
    }
    if (d < 0x1p53 && d == floor(d)) {
        return at + mrsi_i64_write((int64_t)d, text + at);
    }
    shortest(d, &t);
    return at + (t.exponent < -4 || t.exponent >= 16 ? scientific(&t, text + at) : plain(&t, text + at));
}
