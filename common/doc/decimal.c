/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.c - decimal128 as bytes, as parts and as text.
 *
 * Comparing and printing need the parts of a decimal, not arithmetic: sign, coefficient and exponent are extracted from
 * the sixteen bytes with shifts, and a 128-bit integer holds any coefficient. The library in decimal.h is only used for
 * the conversion to a double, which it rounds correctly. Text is read here, digit by digit, because exactness must be
 * decided for any number of digits. It must not know about expressions, which define the rules of $convert and of
 * arithmetic. */
#include "decimal.h"

#include "mongoreshape/value.h"

#include <math.h>

#define BIAS 6176
#define POW64(n) ((mrsi_u128)(n))
#define E19 POW64(10000000000000000000u)

mrsi_u128
mrsi_pow10(int n)
{
    MRS_ASSERT(n >= 0);
    static const uint64_t small[20] = {1u,
                                       10u,
                                       100u,
                                       1000u,
                                       10000u,
                                       100000u,
                                       1000000u,
                                       10000000u,
                                       100000000u,
                                       1000000000u,
                                       10000000000u,
                                       100000000000u,
                                       1000000000000u,
                                       10000000000000u,
                                       100000000000000u,
                                       1000000000000000u,
                                       10000000000000000u,
                                       100000000000000000u,
                                       1000000000000000000u,
                                       10000000000000000000u};
    return n <= 19 ? POW64(small[n]) : E19 * small[n - 19];
}

int
mrsi_dec_digits(mrsi_u128 coef)
{
    int n = 0;
    while (n < 38 && coef >= mrsi_pow10(n)) {
        n++;
    }
    return n;
}

struct mrsi_dec
mrsi_dec_parts(const uint8_t p[16])
{
    uint64_t lo = mrs_le64(p), hi = mrs_le64(p + 8);
    struct mrsi_dec d = {0, 0, (hi >> 63) != 0, false, false};
    if ((hi >> 58 & 0x1f) == 0x1f) {
        d.nan = true;
    } else if ((hi >> 58 & 0x1f) == 0x1e) {
        d.infinite = true;
    } else if ((hi >> 61 & 3) == 3) {
        d.exp = (int)(hi >> 47 & 0x3fff) - BIAS;
    } else {
        d.exp = (int)(hi >> 49 & 0x3fff) - BIAS;
        d.coef = (mrsi_u128)(hi & 0x1ffffffffffffu) << 64 | lo;
        if (d.coef >= mrsi_pow10(MRSI_DEC_DIGITS)) {
            d.coef = 0;
        }
    }
    return d;
}

void
mrsi_dec_pack(const struct mrsi_dec *d, uint8_t out[16])
{
    MRS_ASSERT(d->nan || d->infinite || (d->exp >= MRSI_DEC_EXP_MIN && d->exp <= MRSI_DEC_EXP_MAX));
    uint64_t hi = (uint64_t)(d->coef >> 64) | (uint64_t)(d->exp + BIAS) << 49 | (uint64_t)d->negative << 63;
    mrs_put64(out, (uint64_t)d->coef);
    mrs_put64(out + 8, hi);
}

double
mrsi_dec_floor(const uint8_t p[16], bool *exact)
{
    _IDEC_flags flags = 0;
    double d = __bid128_to_binary64(mrsi_dec_load(p), MRSI_DEC_DOWN, &flags);
    *exact = !(flags & MRSI_DEC_INEXACT);
    return d;
}

void
mrsi_dec_from_i64(int64_t v, uint8_t out[16])
{
    struct mrsi_dec d = {v < 0 ? -(mrsi_u128)v : (mrsi_u128)v, 0, v < 0, false, false};
    mrsi_dec_pack(&d, out);
}

int
mrsi_dec_compare(const uint8_t a[16], const uint8_t b[16])
{
    struct mrsi_dec x = mrsi_dec_parts(a), y = mrsi_dec_parts(b);
    if (x.nan || y.nan) {
        return y.nan - x.nan;
    }
    int sx = x.coef || x.infinite ? (x.negative ? -1 : 1) : 0;
    int sy = y.coef || y.infinite ? (y.negative ? -1 : 1) : 0;
    if (sx != sy || sx == 0) {
        return sx < sy ? -1 : sx > sy;
    }
    if (x.infinite || y.infinite) {
        return sx * (x.infinite - y.infinite);
    }
    int nx = mrsi_dec_digits(x.coef), ny = mrsi_dec_digits(y.coef);
    if (x.exp + nx != y.exp + ny) {
        return x.exp + nx < y.exp + ny ? -sx : sx;
    }
    x.coef *= mrsi_pow10(MRSI_DEC_DIGITS - nx);
    y.coef *= mrsi_pow10(MRSI_DEC_DIGITS - ny);
    return x.coef < y.coef ? -sx : x.coef > y.coef ? sx : 0;
}

/* ---- text ---- */
static uint32_t
put_text(char *at, const char *text)
{
    size_t n = strlen(text);
    memcpy(at, text, n + 1);
    return (uint32_t)n;
}

/* The digits of coef, most significant first; 0 gives "0". */
static int
digits_of(mrsi_u128 coef, char digit[40])
{
    char turned[40];
    int n = 0;
    do {
        turned[n++] = (char)('0' + (int)(coef % 10));
        coef /= 10;
    } while (coef);
    for (int i = 0; i < n; i++) {
        digit[i] = turned[n - 1 - i];
    }
    return n;
}

/* "d.dddE+x" */
static uint32_t
put_scientific(char *at, const char *digit, int n, int exponent)
{
    MRS_ASSERT(n > 0 && n <= MRSI_DEC_DIGITS);
    char *p = at, number[12];
    *p++ = digit[0];
    if (n > 1) {
        *p++ = '.';
        memcpy(p, digit + 1, (size_t)n - 1);
        p += n - 1;
    }
    *p++ = 'E';
    *p++ = exponent < 0 ? '-' : '+';
    uint32_t m = mrs_index_name(number, (uint32_t)(exponent < 0 ? -exponent : exponent));
    memcpy(p, number, m + 1);
    return (uint32_t)(p - at) + m;
}

/* "ddd", "dd.d" or "0.00ddd"; places: digits after the point. */
static uint32_t
put_plain(char *at, const char *digit, int n, int places)
{
    MRS_ASSERT(n > 0 && n <= MRSI_DEC_DIGITS && places >= 0);
    char *p = at;
    int before = n - places;
    if (before > 0) {
        memcpy(p, digit, (size_t)before);
        p += before;
        digit += before;
        n -= before;
    } else {
        *p++ = '0';
    }
    if (places > 0) {
        *p++ = '.';
        for (int i = before; i < 0; i++) {
            *p++ = '0';
        }
        memcpy(p, digit, (size_t)n);
        p += n;
    }
    *p = 0;
    return (uint32_t)(p - at);
}

uint32_t
mrs_decimal_to_text(const uint8_t dec[16], char text[48])
{
    struct mrsi_dec d = mrsi_dec_parts(dec);
    char digit[40];
    uint32_t at = 0;
    if (d.nan) {
        return put_text(text, "NaN");
    }
    if (d.negative) {
        text[at++] = '-';
    }
    if (d.infinite) {
        return at + put_text(text + at, "Infinity");
    }
    int n = digits_of(d.coef, digit);
    int exponent = d.exp + n - 1;
    if (d.exp > 0 || exponent < -6) {
        return at + put_scientific(text + at, digit, n, exponent);
    }
    return at + put_plain(text + at, digit, n, -d.exp);
}

struct decimal_reading {
    const char *at, *end;
    mrsi_u128 coef;
    int64_t exp;
    bool any;
    bool lost; /* a digit other than 0 did not fit */
};

static void
read_digits(struct decimal_reading *r)
{
    MRS_ASSERT(r->at <= r->end);
    bool point = false;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '.' && !point) {
            point = true;
            continue;
        }
        if (*r->at < '0' || *r->at > '9') {
            break;
        }
        int digit = *r->at - '0';
        r->any = true;
        if (r->coef < mrsi_pow10(MRSI_DEC_DIGITS - 1)) {
            r->coef = r->coef * 10 + (unsigned)digit;
            r->exp -= point;
        } else {
            r->exp += !point;
            r->lost |= digit != 0;
        }
    }
}

static bool
read_exponent(struct decimal_reading *r)
{
    MRS_ASSERT(r->at <= r->end);
    if (r->at == r->end) {
        return true;
    }
    if (*r->at != 'e' && *r->at != 'E') {
        return false;
    }
    r->at++;
    bool minus = r->at < r->end && *r->at == '-';
    r->at += r->at < r->end && (*r->at == '-' || *r->at == '+');
    if (r->at == r->end) {
        return false;
    }
    int64_t n = 0;
    for (; r->at < r->end; r->at++) {
        if (*r->at < '0' || *r->at > '9') {
            return false;
        }
        n = n < 1000000000000 ? n * 10 + (*r->at - '0') : n;
    }
    r->exp += minus ? -n : n;
    return true;
}

/* Moves the exponent into range by zeros at the end of the coefficient; false: too large or too small. */
static bool
fit(struct decimal_reading *r)
{
    if (r->coef == 0) {
        r->exp = r->exp < MRSI_DEC_EXP_MIN ? MRSI_DEC_EXP_MIN : r->exp > MRSI_DEC_EXP_MAX ? MRSI_DEC_EXP_MAX : r->exp;
    }
    while (r->exp < MRSI_DEC_EXP_MIN && r->coef % 10 == 0) {
        r->coef /= 10;
        r->exp++;
    }
    while (r->exp > MRSI_DEC_EXP_MAX && r->coef < mrsi_pow10(MRSI_DEC_DIGITS - 1)) {
        r->coef *= 10;
        r->exp--;
    }
    return r->exp >= MRSI_DEC_EXP_MIN && r->exp <= MRSI_DEC_EXP_MAX;
}

static bool
word_is(const char *text, size_t n, const char *word)
{
    MRS_ASSERT(text || n == 0);
    if (strlen(word) != n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if ((text[i] | 0x20) != word[i]) {
            return false;
        }
    }
    return true;
}

/* NaN and infinities, by their names in any case. */
static bool
special(const char *text, size_t n, bool negative, uint8_t out[16])
{
    uint64_t hi;
    if (word_is(text, n, "nan")) {
        hi = 0x7c00000000000000u;
    } else if (word_is(text, n, "inf") || word_is(text, n, "infinity")) {
        hi = negative ? 0xf800000000000000u : 0x7800000000000000u;
    } else {
        return false;
    }
    mrs_put64(out, 0);
    mrs_put64(out + 8, hi);
    return true;
}

enum mrs_status
mrs_decimal_from_text(const char *text, uint32_t n, bool exact, uint8_t out[16], struct mrs_err *e)
{
    struct decimal_reading r = {text, text + n, 0, 0, false, false};
    bool negative = n > 0 && *text == '-';
    r.at += n > 0 && (*text == '-' || *text == '+');
    if (special(r.at, (size_t)(r.end - r.at), negative, out)) {
        return MRS_OK;
    }
    read_digits(&r);
    if (!r.any || !read_exponent(&r)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "not a decimal number");
    }
    if (!fit(&r)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "number is too large or too small for decimal128");
    }
    if (exact && r.lost) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "decimal128 cannot hold this number exactly");
    }
    struct mrsi_dec d = {r.coef, (int)r.exp, negative, false, false};
    mrsi_dec_pack(&d, out);
    return MRS_OK;
}
