/* SPDX-License-Identifier: Apache-2.0 */
/* acc.c - accumulators, naively: all documents of a group are in memory, every result is computed from all of them at
 * once.
 *
 * Decimals are added as 128-bit integers over a power of ten, which is enough for the small ones of random data; others
 * are unclear. */
#include "twin.h"

#include <bson/bson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct input {
    struct world *w;
    const char *op;
    const struct val *spec;
    struct val **doc;
    struct val **v; /* one a document, NULL is missing */
    uint32_t n;
};

/* ---- decimals: whole / 10^-exp */
struct dec {
    __int128 whole;
    int exp;
    bool nan, fits;
};

static struct dec
dec_of(const struct val *v)
{
    struct dec d = {.fits = true};
    char text[BSON_DECIMAL128_STRING + 400];
    if (v->type == T_DECIMAL) {
        bson_decimal128_t raw;
        memcpy(&raw.low, v->raw, 8);
        memcpy(&raw.high, v->raw + 8, 8);
        bson_decimal128_to_string(&raw, text);
    } else if (v->type != T_DOUBLE) {
        bson_snprintf(text, sizeof text, "%lld", (long long)tw_num_int64(v));
    } else { /* all its digits, one for each bit behind the point: 0.5 is 0.5 and not 0.50 */
        double x = tw_num_double(v);
        int places = 0;
        while (places < 20 && x == x && fabs(x) < 1e15 && ldexp(x, places) != floor(ldexp(x, places)))
            places++;
        d.fits = places < 20;
        bson_snprintf(text, sizeof text, "%.*f", places, x);
    }
    const char *s = text;
    bool neg = *s == '-';
    s += neg;
    d.nan = *s == 'N' || *s == 'n';
    d.fits &= *s != 'I' && *s != 'i';
    for (bool point = false; *s && *s != 'E' && *s != 'e'; s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        d.whole = d.whole * 10 + (*s - '0');
        d.exp -= point;
    }
    if (*s)
        d.exp += (int)strtol(s + 1, NULL, 10);
    d.whole = neg ? -d.whole : d.whole;
    return d;
}

static const __int128 LIMIT = (__int128)10000000000000000 * 10000000000000000; /* 32 digits */

static bool
lower_to(struct dec *d, int exp)
{
    for (; d->exp > exp; d->exp--) {
        if (d->whole > LIMIT || d->whole < -LIMIT)
            return false;
        d->whole *= 10;
    }
    return true;
}

static struct val *
dec_value(struct dec d)
{
    char digits[64], text[100];
    int at = 63;
    __int128 x = d.whole < 0 ? -d.whole : d.whole;
    digits[at] = 0;
    do
        digits[--at] = (char)('0' + (int)(x % 10));
    while ((x /= 10));
    bson_decimal128_t raw;
    uint8_t bytes[16];
    bson_snprintf(text, sizeof text, "%s%sE%d", d.whole < 0 ? "-" : "", digits + at, d.exp);
    bson_decimal128_from_string(d.nan ? "NaN" : text, &raw);
    memcpy(bytes, &raw.low, 8);
    memcpy(bytes + 8, &raw.high, 8);
    return tw_leaf(T_DECIMAL, bytes, 16);
}

static void
dec_add(struct dec *sum, struct dec d)
{
    sum->nan |= d.nan;
    sum->fits &= d.fits;
    if (sum->nan || !sum->fits)
        return;
    int exp = d.exp < sum->exp ? d.exp : sum->exp;
    sum->fits = lower_to(&d, exp) && lower_to(sum, exp);
    sum->whole += d.whole;
}

/* The sum of all numbers where a decimal is among them: the others are added up first, and their sum has no zeros
 * behind. */
static struct dec
dec_sum(const struct input *in)
{
    struct dec sum = {.fits = true}, others = {.fits = true};
    for (uint32_t i = 0; i < in->n; i++)
        if (in->v[i] && tw_is_number(in->v[i]))
            dec_add(in->v[i]->type == T_DECIMAL ? &sum : &others, dec_of(in->v[i]));
    for (; others.exp < 0 && others.whole % 10 == 0; others.exp++)
        others.whole /= 10;
    dec_add(&sum, others);
    if (sum.nan)
        sum.fits = true;
    if (!sum.fits)
        tw_unclear(in->w, "a sum of decimals that does not fit");
    return sum;
}

/* 34 digits, ties to even; as few zeros as the dividend has. */
static struct val *
dec_ratio(const struct input *in, struct dec d, int64_t by)
{
    static const __int128 most = (__int128)10000000000000000 * 10000000000000000 * 100; /* 34 digits */
    __int128 x = d.whole < 0 ? -d.whole : d.whole;
    if (by > 1000)
        tw_unclear(in->w, "an average of many decimals");
    while (x % by && x / by < most / 10) {
        x *= 10;
        d.exp--;
    }
    __int128 q = x / by, rest = x % by;
    q += rest * 2 > by || (rest * 2 == by && q % 2);
    d.whole = d.whole < 0 ? -q : q;
    return dec_value(d);
}

/* ---- sums */
struct sum {
    double high, low, plain;
    __int128 whole;
    uint32_t count;
    int widest; /* 0 int32, 1 int64, 2 double, 3 decimal */
};

static void
split_add(double *a, double b, double *rest) /* a + b exactly, in two doubles */
{
    double s = *a + b, t = s - *a;
    *rest = (*a - (s - t)) + (b - t);
    *a = s;
}

static void
put_double(struct sum *s, double x)
{
    double rest;
    s->plain += x;
    split_add(&x, s->low, &s->low);
    split_add(&s->high, x, &rest);
    s->low += rest;
}

static struct sum
sum_of(const struct input *in)
{
    struct sum s = {0};
    for (uint32_t i = 0; i < in->n; i++) {
        const struct val *v = in->v[i];
        if (!v || !tw_is_number(v))
            continue;
        int width = v->type == T_INT32 ? 0 : v->type == T_INT64 ? 1 : v->type == T_DOUBLE ? 2 : 3;
        s.widest = width > s.widest ? width : s.widest;
        s.count++;
        if (width == 2) {
            put_double(&s, tw_num_double(v));
        } else if (width < 2) {
            int64_t x = tw_num_int64(v), low = x % 4294967296;
            s.whole += x;
            if (width)
                put_double(&s, (double)low);
            put_double(&s, (double)(width ? x - low : x));
        }
    }
    return s;
}

static struct val *
total(const struct input *in)
{
    struct sum s = sum_of(in);
    if (s.widest == 3)
        return dec_value(dec_sum(in));
    if (s.widest == 2 || s.whole > INT64_MAX || s.whole < INT64_MIN)
        return tw_double(isnan(s.high) ? s.plain : s.high);
    if (s.widest || s.whole > INT32_MAX || s.whole < INT32_MIN)
        return tw_int64((int64_t)s.whole);
    return tw_int32((int32_t)s.whole);
}

static struct val *
average(const struct input *in)
{
    struct sum s = sum_of(in);
    if (!s.count)
        return tw_null();
    if (s.widest == 3) {
        struct dec d = dec_sum(in);
        return d.nan || !d.fits ? dec_value(d) : dec_ratio(in, d, s.count);
    }
    if (s.widest < 2 && s.whole <= INT64_MAX && s.whole >= INT64_MIN)
        return tw_double((double)(int64_t)s.whole / s.count);
    return tw_double((isnan(s.high) ? s.plain : s.high) / s.count);
}

static struct val *
deviation(const struct input *in, uint32_t less)
{
    double mean = 0, squares = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        if (!in->v[i] || !tw_is_number(in->v[i]))
            continue;
        double x = tw_num_double(in->v[i]), off = x - mean;
        n++;
        if (off != 0) {
            mean += off / n;
            squares += off * (x - mean);
        }
    }
    return n <= less ? tw_null() : tw_double(sqrt(squares / (n - less)));
}

/* ---- order of values */
static struct val *
extreme(const struct input *in, int sign)
{
    struct val *best = NULL;
    for (uint32_t i = 0; i < in->n; i++)
        if (!tw_is_nullish(in->v[i]) && (!best || tw_compare(in->v[i], best) * sign > 0))
            best = in->v[i];
    return best ? tw_copy(best) : tw_null();
}

static int
ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : (signbit(y) != 0) - (signbit(x) != 0);
}

static struct val *
quantile(const double *x, uint32_t n, double p)
{
    if (!n)
        return tw_null();
    double at = ceil(n * p);
    return tw_double(x[at < 1 ? 0 : at > n ? n - 1 : (uint32_t)at - 1]);
}

static struct val *
quantiles(const struct input *in)
{
    double *x = tw_new((in->n + 1) * sizeof *x);
    uint32_t n = 0;
    const struct val *p = tw_get(in->spec, "p");
    for (uint32_t i = 0; i < in->n; i++)
        if (in->v[i] && tw_is_number(in->v[i]) && !isnan(tw_num_double(in->v[i])))
            x[n++] = tw_num_double(in->v[i]);
    qsort(x, n, sizeof *x, ascending);
    if (!p)
        return quantile(x, n, 0.5);
    struct val *list = tw_array();
    for (uint32_t i = 0; i < p->n; i++)
        tw_append(list, quantile(x, n, tw_num_double(p->f[i].v)));
    return list;
}

/* ---- lists */
static struct val *
list_of(const struct input *in, bool once)
{
    struct val *list = tw_array();
    for (uint32_t i = 0; i < in->n; i++) {
        bool there = !in->v[i];
        for (uint32_t k = 0; once && !there && k < list->n; k++)
            there = !tw_compare(list->f[k].v, in->v[i]);
        if (!there)
            tw_append(list, tw_copy(in->v[i]));
    }
    return list;
}

/* Sorts places of documents, first by rank, equal ones as they come. */
struct rank {
    uint32_t at;
    struct vals key;
};

static int
compare_ranks(const struct input *in, const struct rank *a, const struct rank *b)
{
    const struct val *by = tw_get(in->spec, "sortBy");
    return by ? tw_sort_compare(&a->key, &b->key, by) : tw_compare(in->v[a->at], in->v[b->at]);
}

static void
sort_ranks(const struct input *in, struct rank *r, uint32_t n, int sign)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0; k--) {
            int c = compare_ranks(in, &r[k - 1], &r[k]) * sign;
            if (c < 0 || (!c && r[k - 1].at < r[k].at))
                break;
            struct rank x = r[k];
            r[k] = r[k - 1];
            r[k - 1] = x;
        }
}

static int
some(const struct input *in, struct val **out)
{
    const struct val *by = tw_get(in->spec, "sortBy");
    struct rank *r = tw_new((in->n + 1) * sizeof *r);
    uint32_t n = 0, most = (uint32_t)tw_as_int(tw_get(in->spec, "n"), 1);
    bool last = strstr(in->op, "max") || strstr(in->op, "bottom") || strstr(in->op, "last");
    bool place = strstr(in->op, "first") || strstr(in->op, "last");
    for (uint32_t i = 0; i < in->n; i++) {
        if (!by && !place && tw_is_nullish(in->v[i]))
            continue;
        r[n].at = i;
        if (by && tw_sort_key(in->doc[i], by, &r[n].key))
            return 1;
        n++;
    }
    uint32_t from = 0, kept = n < most ? n : most;
    if (place)
        from = last ? n - kept : 0;
    else
        sort_ranks(in, r, n, last ? -1 : 1);
    if (by && last)
        sort_ranks(in, r, kept, 1);
    struct val *list = tw_array();
    for (uint32_t i = from; i < from + kept; i++)
        tw_append(list, in->v[r[i].at] ? tw_copy(in->v[r[i].at]) : tw_null());
    bool one = !strcmp(in->op, "$top") || !strcmp(in->op, "$bottom");
    *out = !one ? list : list->n ? list->f[0].v : tw_null();
    return 0;
}

static int
merge(const struct input *in, struct val **out)
{
    *out = tw_doc();
    for (uint32_t i = 0; i < in->n; i++) {
        if (tw_is_nullish(in->v[i]))
            continue;
        if (in->v[i]->type != T_DOC)
            return 1;
        for (uint32_t k = 0; k < in->v[i]->n; k++)
            tw_put(*out, in->v[i]->f[k].name, tw_copy(in->v[i]->f[k].v));
    }
    return 0;
}

static int
answer(const struct input *in, struct val **out)
{
    const char *op = in->op;
    if (!strcmp(op, "$sum"))
        *out = total(in);
    else if (!strcmp(op, "$avg"))
        *out = average(in);
    else if (!strcmp(op, "$count"))
        *out = tw_int32((int32_t)in->n);
    else if (!strcmp(op, "$min") || !strcmp(op, "$max"))
        *out = extreme(in, op[2] == 'i' ? -1 : 1);
    else if (!strcmp(op, "$first") || !strcmp(op, "$last")) {
        struct val *v = in->n ? in->v[op[1] == 'f' ? 0 : in->n - 1] : NULL;
        *out = v ? tw_copy(v) : tw_null();
    } else if (!strcmp(op, "$push") || !strcmp(op, "$addToSet"))
        *out = list_of(in, op[1] == 'a');
    else if (!strcmp(op, "$stdDevPop") || !strcmp(op, "$stdDevSamp"))
        *out = deviation(in, op[7] == 'S');
    else if (!strcmp(op, "$median") || !strcmp(op, "$percentile"))
        *out = quantiles(in);
    else
        return !strcmp(op, "$mergeObjects") ? merge(in, out) : some(in, out);
    return 0;
}

int
tw_accumulate(struct world *w, const struct val *acc, struct val **docs, uint32_t n, struct val **out)
{
    struct input in = {.w = w, .op = acc->f[0].name, .spec = acc->f[0].v, .doc = docs, .n = n};
    const struct val *x = in.spec;
    if (x->type == T_DOC && tw_get(x, "input"))
        x = tw_get(x, "input");
    else if (x->type == T_DOC && tw_get(x, "output"))
        x = tw_get(x, "output");
    in.v = tw_new((n + 1) * sizeof *in.v);
    for (uint32_t i = 0; i < n && strcmp(in.op, "$count"); i++) {
        struct vars vars = {.root = docs[i]};
        if (tw_eval(w, x, &vars, &in.v[i]))
            return 1;
    }
    return answer(&in, out);
}
