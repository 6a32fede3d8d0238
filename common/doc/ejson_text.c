/* SPDX-License-Identifier: Apache-2.0 */
/* ejson_text.c - the formats inside Extended JSON: numbers, hexadecimal, base64, dates, UTF-8.
 *
 * Each is read completely or refused; nothing is skipped, guessed or cut except where the header says so. Numbers do
 * not depend on the locale: the decimal point is removed from the text before the C library reads it. It must not know
 * JSON or BSON. */
#include "ejson_inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool
mrsi_i64_from_text(const char *text, size_t n, int64_t *out)
{
    MRS_ASSERT(text || n == 0);
    bool minus = n > 0 && *text == '-';
    uint64_t v = 0;
    size_t i = minus;
    if (i == n) {
        return false;
    }
    for (; i < n; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (!is_digit(text[i]) || v > ((uint64_t)INT64_MAX + minus - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    *out = (int64_t)(minus ? 0 - v : v);
    return true;
}

uint32_t
mrsi_i64_write(int64_t v, char text[24])
{
    char turned[24];
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    uint32_t n = 0, at = 0;
    do {
        turned[n++] = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (v < 0) {
        text[at++] = '-';
    }
    while (n) {
        text[at++] = turned[--n];
    }
    text[at] = 0;
    return at;
}

/* ---- doubles ---- */
enum { KEPT = 800 }; /* more significant digits than any double needs to differ from its neighbors */

struct number {
    char digit[KEPT + 40];
    size_t n;
    int64_t exp;
    bool any, nonzero;
};

static size_t
take_digits(struct number *num, const char *text, size_t n)
{
    bool point = false;
    size_t i = 0;
    for (; i < n; i++) {
        if (text[i] == '.' && !point && num->any) {
            point = true;
            continue;
        }
        if (!is_digit(text[i])) {
            break;
        }
        num->any = true;
        num->nonzero |= text[i] != '0';
        if (!num->nonzero || num->n >= KEPT) {
            if (num->n >= KEPT && text[i] != '0') {
                num->digit[KEPT - 1] = '1'; /* a sticky digit: the value is slightly larger */
            }
            num->exp += num->nonzero && !point;
            num->exp -= !num->nonzero && point;
            continue;
        }
        num->digit[num->n++] = text[i];
        num->exp -= point;
    }
    return point && !is_digit(text[i - 1]) ? 0 : i;
}

static bool
take_exponent(struct number *num, const char *text, size_t n)
{
    int64_t v = 0;
    bool minus = n > 1 && text[1] == '-';
    size_t i = n > 1 && (text[1] == '-' || text[1] == '+') ? 2 : 1;
    if (n == 0) {
        return true;
    }
    if ((*text != 'e' && *text != 'E') || i == n) {
        return false;
    }
    for (; i < n; i++) {
        if (!is_digit(text[i])) {
            return false;
        }
        v = v < 1000000000 ? v * 10 + (text[i] - '0') : v;
    }
    num->exp += minus ? -v : v;
    return true;
}

static bool
special(const char *text, size_t n, double *out)
{
    static const struct {
        const char *word;
        double value;
    } row[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    for (size_t i = 0; i < 3; i++) {
        if (strlen(row[i].word) == n && memcmp(text, row[i].word, n) == 0) {
            *out = row[i].value;
            return true;
        }
    }
    return false;
}

bool
mrsi_double_from_text(const char *text, size_t n, double *out)
{
    MRS_ASSERT(text || n == 0);
    struct number num;
    bool minus = n > 0 && *text == '-';
    num.n = 0;
    num.exp = 0;
    num.any = num.nonzero = false;
    if (special(text, n, out)) {
        return true;
    }
    if (n > 0 && (*text == '-' || *text == '+')) {
        text++;
        n--;
    }
    size_t used = take_digits(&num, text, n);
    if (!num.any || used == 0 || !take_exponent(&num, text + used, n - used)) {
        return false;
    }
    if (num.n == 0) {
        num.digit[num.n++] = '0';
    }
    int64_t exp = num.exp < -100000 ? -100000 : num.exp > 100000 ? 100000 : num.exp;
    snprintf(num.digit + num.n, 40, "e%d", (int)exp);
    double d = strtod(num.digit, NULL);
    *out = minus ? -d : d;
    return true;
}

/* ---- hexadecimal and base64 ---- */
static int
hex_value(char c)
{
    return is_digit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

bool
mrs_hex_bytes(const char *text, size_t n, uint8_t *out)
{
    MRS_ASSERT(text || n == 0);
    for (size_t i = 0; i < n; i += 2) {
        int hi = hex_value(text[i]), lo = i + 1 < n ? hex_value(text[i + 1]) : -1;
        if (hi < 0 || lo < 0) {
            return false;
        }
        out[i / 2] = (uint8_t)(hi << 4 | lo);
    }
    return n % 2 == 0;
}

static int
base64_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    return is_digit(c) ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool
mrsi_base64_read(const char *text, size_t n, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    for (size_t i = 0; i < n; i += 4) {
        uint32_t v = 0;
        size_t pad = i + 4 == n ? (size_t)(text[n - 1] == '=') + (text[n - 1] == '=' && text[n - 2] == '=') : 0;
        if (n - i < 4) {
            return false;
        }
        for (size_t k = 0; k < 4; k++) {
            int digit = k >= 4 - pad ? 0 : base64_value(text[i + k]);
            if (digit < 0) {
                return false;
            }
            v = v << 6 | (uint32_t)digit;
        }
        if (pad && (v & ((1u << (8 * pad)) - 1))) {
            return false;
        }
        uint8_t byte[3] = {(uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
        mrs_buf_put(out, byte, 3 - pad);
    }
    return true;
}

void
mrsi_base64_write(const uint8_t *p, size_t n, struct mrs_buf *out)
{
    MRS_ASSERT(p || n == 0);
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        size_t k = n - i < 3 ? n - i : 3;
        uint32_t v = (uint32_t)p[i] << 16 | (k > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (k > 2 ? p[i + 2] : 0u);
        char four[4] = {digit[v >> 18], digit[v >> 12 & 63], k > 1 ? digit[v >> 6 & 63] : '=',
                        k > 2 ? digit[v & 63] : '='};
        mrs_buf_put(out, four, 4);
    }
}

/* ---- dates ---- */
/* Days since 1970-01-01, proleptic Gregorian; years begin in March, so that the leap day is the last of its year. */
static int64_t
days_of(int64_t y, int m, int d)
{
    MRS_ASSERT(m >= 1 && m <= 12);
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400, year = y - era * 400;
    int64_t day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468;
}

static void
civil_of(int64_t days, int64_t *y, int *m, int *d)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, day = days - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t rest = day - (365 * year + year / 4 - year / 100), month = (5 * rest + 2) / 153;
    *d = (int)(rest - (153 * month + 2) / 5 + 1);
    *m = (int)(month < 10 ? month + 3 : month - 9);
    *y = year + era * 400 + (*m <= 2);
}

static bool
fixed_digits(const char **p, const char *end, int n, int *out)
{
    MRS_ASSERT(*p <= end && n > 0);
    *out = 0;
    for (int i = 0; i < n; i++, ++*p) {
        if (*p == end || !is_digit(**p)) {
            return false;
        }
        *out = *out * 10 + (**p - '0');
    }
    return true;
}

static bool
mark(const char **p, const char *end, char c)
{
    MRS_ASSERT(*p <= end);
    if (*p == end || **p != c) {
        return false;
    }
    ++*p;
    return true;
}

static bool
read_day(const char **p, const char *end, int64_t *days)
{
    MRS_ASSERT(*p <= end);
    static const int8_t length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int y, m, d;
    if (!fixed_digits(p, end, 4, &y) || !mark(p, end, '-') || !fixed_digits(p, end, 2, &m) || !mark(p, end, '-') ||
        !fixed_digits(p, end, 2, &d) || m < 1 || m > 12 || d < 1) {
        return false;
    }
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    *days = days_of(y, m, d);
    return d <= length[m - 1] + (m == 2 && leap);
}

static bool
read_time(const char **p, const char *end, bool strict, int64_t *ms)
{
    MRS_ASSERT(*p <= end);
    int h, m, s = 0, digits = 0;
    int64_t fraction = 0;
    if (!fixed_digits(p, end, 2, &h) || !mark(p, end, ':') || !fixed_digits(p, end, 2, &m) || h > 23 || m > 59) {
        return false;
    }
    if (mark(p, end, ':')) {
        if (!fixed_digits(p, end, 2, &s) || s > 59) {
            return false;
        }
        if (mark(p, end, '.')) {
            for (; *p < end && is_digit(**p); ++*p) {
                fraction = digits++ < 3 ? fraction * 10 + (**p - '0') : fraction;
            }
            if (digits == 0 || digits > (strict ? 3 : 9)) {
                return false;
            }
            fraction *= digits == 1 ? 100 : digits == 2 ? 10 : 1;
        }
    }
    *ms = ((h * 60 + m) * 60 + s) * (int64_t)1000 + fraction;
    return true;
}

static bool
read_zone(const char **p, const char *end, bool strict, int64_t *ms)
{
    MRS_ASSERT(*p <= end);
    int h, m;
    *ms = 0;
    if (*p == end || mark(p, end, 'Z')) {
        return true;
    }
    bool minus = **p == '-';
    if (!minus && **p != '+') {
        return false;
    }
    ++*p;
    if (!fixed_digits(p, end, 2, &h) || (!mark(p, end, ':') && strict) || !fixed_digits(p, end, 2, &m) || h > 23 ||
        m > 59) {
        return false;
    }
    *ms = (h * 60 + m) * (minus ? -60000 : 60000);
    return true;
}

bool
mrsi_date_read(const char *text, size_t n, bool strict, int64_t *ms)
{
    const char *p = text, *end = text + n;
    int64_t days, time = 0, zone;
    if (!read_day(&p, end, &days) || (mark(&p, end, 'T') && !read_time(&p, end, strict, &time)) ||
        !read_zone(&p, end, strict, &zone)) {
        return false;
    }
    *ms = days * 86400000 + time - zone;
    return p == end;
}

uint32_t
mrs_date_write(int64_t ms, char text[32])
{
    int64_t days = (ms >= 0 ? ms : ms - 86399999) / 86400000, rest = ms - days * 86400000, y;
    int m, d, sec = (int)(rest / 1000), fraction = (int)(rest % 1000);
    civil_of(days, &y, &m, &d);
    int n = snprintf(text, 32, "%04d-%02d-%02dT%02d:%02d:%02d", (int)y, m, d, sec / 3600, sec / 60 % 60, sec % 60);
    n += fraction ? snprintf(text + n, 32 - (size_t)n, ".%03dZ", fraction) : snprintf(text + n, 32 - (size_t)n, "Z");
    return (uint32_t)n;
}

/* ---- UTF-8 ---- */
uint32_t
mrs_utf8_length(const uint8_t *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t c = p[0];
    uint32_t len = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (len <= 1) {
        return len;
    }
    uint32_t v = c & (0x7fu >> len);
    if (len > n) {
        return 0;
    }
    for (uint32_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
        v = v << 6 | (p[i] & 0x3f);
    }
    return v < least[len] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? 0 : len;
}
