/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - sums, differences, products and quotients of two values, with decimals as rows of digits. */
#include "twin.h"

#include <bson/bson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 34, ROOM = 300 };

struct row { /* d[0] d[1] ... d[n-1], times 10^exp; no zero in front */
    bool neg, nan, big; /* big: infinite, or of too many digits for ROOM */
    int n, exp;
    int d[ROOM];
};

static void
strip(struct row *r)
{
    int zeros = 0;
    while (zeros < r->n && !r->d[zeros])
        zeros++;
    memmove(r->d, r->d + zeros, (size_t)(r->n - zeros) * sizeof *r->d);
    r->n -= zeros;
}

static struct row
row_of(const struct val *v)
{
    struct row r = {.n = 0};
    char text[BSON_DECIMAL128_STRING + 400];
    bson_decimal128_t raw;
    if (v->type == T_DECIMAL) {
        memcpy(&raw.low, v->raw, 8);
        memcpy(&raw.high, v->raw + 8, 8);
        bson_decimal128_to_string(&raw, text);
    } else if (v->type == T_DOUBLE) {
        bson_snprintf(text, sizeof text, tw_num_double(v) == 0 ? "%.0f" : "%.14e", tw_num_double(v));
    } else {
        bson_snprintf(text, sizeof text, "%lld", (long long)tw_num_int64(v));
    }
    const char *s = text;
    r.neg = *s == '-';
    s += r.neg;
    r.nan = *s == 'N' || *s == 'n';
    r.big = *s == 'I' || *s == 'i';
    for (bool point = false; !r.nan && !r.big && *s && *s != 'E' && *s != 'e'; s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        r.d[r.n++] = *s - '0';
        r.exp -= point;
    }
    if (!r.nan && !r.big && *s)
        r.exp += (int)strtol(s + 1, NULL, 10);
    strip(&r);
    return r;
}

/* To 34 digits, ties to even. */
static void
fit(struct row *r)
{
    strip(r);
    if (r->n <= PLACES)
        return;
    bool more = false;
    for (int i = PLACES + 1; i < r->n; i++)
        more |= r->d[i] != 0;
    bool up = r->d[PLACES] > 5 || (r->d[PLACES] == 5 && (more || r->d[PLACES - 1] % 2));
    r->exp += r->n - PLACES;
    r->n = PLACES;
    for (int i = PLACES - 1; up && i >= 0; i--) {
        up = r->d[i] == 9;
        r->d[i] = up ? 0 : r->d[i] + 1;
    }
    if (up) {
        r->d[0] = 1;
        r->exp++;
    }
}

static struct val *
value_of(struct row r)
{
    char text[ROOM + 50];
    int n = 0;
    bson_decimal128_t raw;
    uint8_t bytes[16];
    fit(&r);
    if (r.neg)
        text[n++] = '-';
    for (int i = 0; i < r.n; i++)
        text[n++] = (char)('0' + r.d[i]);
    bson_snprintf(text + n, sizeof text - (size_t)n, "%sE%d", r.n ? "" : "0", r.exp);
    bson_decimal128_from_string(r.nan ? "NaN" : text, &raw);
    memcpy(bytes, &raw.low, 8);
    memcpy(bytes + 8, &raw.high, 8);
    return tw_leaf(T_DECIMAL, bytes, 16);
}

struct val *
tw_decimal(const struct val *number)
{
    return number->type == T_DECIMAL ? tw_copy(number) : value_of(row_of(number));
}

const char *
tw_whole_text(const struct val *number)
{
    double x = tw_num_double(number);
    if (number->type == T_DOUBLE)
        return isfinite(x) && x == floor(x) ? tw_text("%.0f", x == 0 ? 0.0 : x) : NULL;
    struct row r = row_of(number);
    const char *text = r.neg && r.n ? "-" : "";
    for (; r.n && r.exp < 0 && !r.d[r.n - 1]; r.exp++)
        r.n--;
    if (r.nan || r.big || (r.n && r.exp < 0))
        return NULL;
    for (int i = 0; i < r.n + r.exp && r.n; i++)
        text = tw_text("%s%d", text, i < r.n ? r.d[i] : 0);
    return r.n ? text : "0";
}

/* The digits of r down to 10^exp, in `width` places. */
static void
spread(const struct row *r, int exp, int width, int *out)
{
    memset(out, 0, (size_t)width * sizeof *out);
    for (int i = 0; i < r->n; i++)
        out[width - (r->exp - exp) - r->n + i] = r->d[i];
}

static struct row
plus(struct row a, struct row b)
{
    struct row sum = {.exp = a.exp < b.exp ? a.exp : b.exp};
    int over = (a.n + a.exp > b.n + b.exp ? a.n + a.exp : b.n + b.exp) - sum.exp;
    if (over < 0)
        over = 0;
    if (over >= ROOM - 1) {
        sum.big = true;
        return sum;
    }
    int x[ROOM], y[ROOM], width = sum.n = over + 1;
    spread(&a, sum.exp, width, x);
    spread(&b, sum.exp, width, y);
    int sign = a.neg == b.neg ? 1 : -1, which = 0;
    for (int i = 0; i < width && !which; i++)
        which = x[i] - y[i];
    const int *high = which < 0 ? y : x, *low = which < 0 ? x : y;
    sum.neg = which < 0 ? b.neg : a.neg;
    if (!which && sign < 0)
        sum.neg = false;
    for (int i = width - 1, carry = 0; i >= 0; i--) {
        int d = high[i] + sign * low[i] + carry;
        carry = d > 9 ? 1 : d < 0 ? -1 : 0;
        sum.d[i] = d - 10 * carry;
    }
    return sum;
}

static struct row
times(const struct row *a, const struct row *b)
{
    struct row p = {.neg = a->neg != b->neg, .n = a->n + b->n, .exp = a->exp + b->exp};
    for (int i = a->n - 1; i >= 0; i--)
        for (int k = b->n - 1; k >= 0; k--)
            p.d[i + k + 1] += a->d[i] * b->d[k];
    for (int i = p.n - 1; i > 0; i--) {
        p.d[i - 1] += p.d[i] / 10;
        p.d[i] %= 10;
    }
    return p;
}

/* b is not zero. As few digits as it takes; what is left beyond 36 only says that there is something left. */
static struct row
over(const struct row *a, const struct row *b)
{
    struct row q = {.neg = a->neg != b->neg, .exp = a->exp - b->exp};
    unsigned __int128 by = 0, rest = 0;
    int told = 0;
    for (int i = 0; i < b->n; i++)
        by = by * 10 + (unsigned)b->d[i];
    for (int i = 0; i < a->n || (rest && told < PLACES + 2); i++) {
        rest = rest * 10 + (i < a->n ? (unsigned)a->d[i] : 0);
        q.d[q.n] = (int)(rest / by);
        rest %= by;
        told += told || q.d[q.n];
        q.n++;
        q.exp -= i >= a->n;
    }
    if (rest) {
        q.d[q.n++] = 1;
        q.exp--;
    }
    return q;
}

static int
of_decimals(struct world *w, char op, const struct val *a, const struct val *b, struct val **out)
{
    struct row x = row_of(a), y = row_of(b), z = {.nan = true};
    if (x.big || y.big)
        tw_unclear(w, "infinite decimals");
    bool nan = x.nan || y.nan || x.big || y.big;
    if (op == '/' && !nan && !y.n)
        return 1;
    if (op == '+' && a->type != b->type && (a->type == T_DOUBLE || b->type == T_DOUBLE))
        tw_unclear(w, "a double and a decimal in $add");
    /* $add begins with 0, so that 1E+3 has a place for each digit and no sum of zeros a sign. */
    y.neg = op == '-' ? !y.neg : y.neg;
    if (!nan)
        z = op == '*' ? times(&x, &y) : op == '/' ? over(&x, &y) : plus(op == '+' ? plus((struct row){0}, x) : x, y);
    if (z.big)
        tw_unclear(w, "decimals that are far from each other");
    *out = value_of(z);
    return 0;
}

static int
of_wholes(struct world *w, char op, const struct val *a, const struct val *b, struct val **out)
{
    int64_t x = tw_num_int64(a), y = tw_num_int64(b), z;
    bool far = op == '*' ? __builtin_mul_overflow(x, y, &z) : op == '+' ? __builtin_add_overflow(x, y, &z)
                                                                       : __builtin_sub_overflow(x, y, &z);
    if (far)
        tw_unclear(w, "whole numbers beyond 64 bits");
    *out = a->type == T_INT32 && b->type == T_INT32 && z == (int32_t)z ? tw_int32((int32_t)z) : tw_int64(z);
    return 0;
}

int
tw_arith(struct world *w, char op, const struct val *a, const struct val *b, struct val **out)
{
    int64_t x, y;
    *out = tw_null();
    if (tw_is_nullish(a) || tw_is_nullish(b))
        return 0;
    if (op == '-' && a->type == T_DATE && b->type == T_DATE) {
        memcpy(&x, a->raw, 8);
        memcpy(&y, b->raw, 8);
        *out = tw_int64(x - y);
        return 0;
    }
    if ((a->type == T_DATE || b->type == T_DATE) && (op == '+' || op == '-')) {
        tw_unclear(w, "a date and a number");
        return 0;
    }
    if (!tw_is_number(a) || !tw_is_number(b))
        return 1;
    if (a->type == T_DECIMAL || b->type == T_DECIMAL)
        return of_decimals(w, op, a, b, out);
    if (op != '/' && a->type != T_DOUBLE && b->type != T_DOUBLE)
        return of_wholes(w, op, a, b, out);
    double p = tw_num_double(a), q = tw_num_double(b);
    if (op == '/' && q == 0)
        return 1;
    *out = tw_double(op == '+' ? p + q : op == '-' ? p - q : op == '*' ? p * q : p / q);
    return 0;
}
