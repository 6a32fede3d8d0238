/* SPDX-License-Identifier: Apache-2.0 */
/* window_ops.c - the operators of a window, naively: each reads its whole group again and checks for every document
 * whether it is in the window. */
#include "twin.h"

#include <math.h>
#include <string.h>
#include <time.h>

struct call_of { /* one operator for document i of its group */
    struct world *w;
    const struct group_of *g;
    const struct val *op, *arg;
    const char *name;
    uint32_t i;
};

static bool
one_of(const char *name, const char *list)
{
    return strstr(list, tw_text(" %s ", name)) != NULL;
}

bool
tw_is_window_op(const struct val *e, bool top)
{
    const char *name = e->type == T_DOC && e->n ? e->f[0].name : "";
    return one_of(name, " $documentNumber $rank $denseRank $shift $expMovingAvg $derivative $integral $locf "
                        "$linearFill $push $addToSet $count $top $topN $bottom $bottomN ") ||
           ((top || (*name && tw_get(e, "window"))) &&
            one_of(name, " $sum $avg $min $max $minN $maxN $first $last $firstN $lastN $stdDevPop $stdDevSamp $median "
                         "$percentile "));
}

/* ---- what is asked of a document */
static int
eval_at(const struct call_of *c, const struct val *e, uint32_t k, struct val **out)
{
    struct vars vars = {.root = c->g->doc[k]};
    return tw_eval(c->w, e, &vars, out);
}

static struct val *
x_of(const struct call_of *c, uint32_t k)
{
    struct val *x = NULL;
    eval_at(c, tw_string(tw_text("$%s", c->g->sort->f[0].name)), k, &x);
    return x;
}

static bool
is_date(const struct val *v)
{
    return v && v->type == T_DATE;
}

/* ---- windows */
static struct frame
frame_of(const struct call_of *c)
{
    const struct val *at = tw_get(c->op, "window"), *list = NULL;
    struct frame f = {.unit = NULL};
    const char *word = at && tw_str(at) ? tw_str(at) : c->g->over;
    if (at && at->type == T_DOC) {
        f.range = tw_get(at, "range") != NULL;
        list = tw_get(at, f.range ? "range" : "documents");
        f.unit = tw_str(tw_get(at, "unit"));
    }
    f.lo = list ? list->f[0].v : tw_string("unbounded");
    f.hi = list ? list->f[1].v : tw_string(!strcmp(word, "running") ? "current" : "unbounded");
    return f;
}

static int64_t
length_of(const char *unit)
{
    static const char *const names[] = {"week", "day", "hour", "minute", "second", "millisecond"};
    static const int64_t ms[] = {604800000, 86400000, 3600000, 60000, 1000, 1};
    for (int i = 0; i < 6; i++)
        if (!strcmp(unit, names[i]))
            return ms[i];
    return 0;
}

/* As $dateAdd: a day that the month does not have is its last. */
static struct val *
date_add(const struct val *date, int64_t n, const char *unit)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t ms;
    memcpy(&ms, date->raw, 8);
    if (length_of(unit)) {
        ms += n * length_of(unit);
        return tw_leaf(T_DATE, &ms, 8);
    }
    int64_t part = (ms % 1000 + 1000) % 1000;
    time_t seconds = (time_t)((ms - part) / 1000);
    struct tm t;
    gmtime_r(&seconds, &t);
    int64_t months = t.tm_year * 12LL + t.tm_mon + n * (!strcmp(unit, "year") ? 12 : !strcmp(unit, "quarter") ? 3 : 1);
    t.tm_mon = (int)((months % 12 + 12) % 12);
    t.tm_year = (int)((months - t.tm_mon) / 12);
    int year = t.tm_year + 1900, most = days[t.tm_mon];
    most += t.tm_mon == 1 && year % 4 == 0 && (year % 100 || year % 400 == 0);
    t.tm_mday = t.tm_mday > most ? most : t.tm_mday;
    ms = (int64_t)timegm(&t) * 1000 + part;
    return tw_leaf(T_DATE, &ms, 8);
}

/* sign -1: document k is not before the bound; 1: not behind it. */
static bool
within(const struct call_of *c, const struct frame *f, const struct val *bound, int sign, uint32_t k)
{
    const char *word = tw_str(bound);
    if (word && !strcmp(word, "unbounded"))
        return true;
    __int128 apart = (__int128)k - c->i;
    if (word)
        return apart * sign <= 0;
    if (!f->range)
        return (apart - tw_num_int64(bound)) * sign <= 0;
    struct val *mine = x_of(c, c->i), *other = x_of(c, k), *edge = NULL;
    if (f->unit) {
        edge = date_add(mine, tw_num_int64(bound), f->unit);
    } else {
        tw_arith(c->w, '+', tw_decimal(mine), tw_decimal(bound), &edge);
        other = tw_decimal(other);
    }
    return tw_compare(other, edge) * sign <= 0;
}

static bool
measured(const struct frame *f, const struct val *x)
{
    return !f->range || (f->unit ? is_date(x) : x && tw_is_number(x));
}

/* Places of those in the window; 1: the document has none. */
static int
window_of(const struct call_of *c, uint32_t *place, uint32_t *n)
{
    struct frame f = frame_of(c);
    *n = 0;
    if (f.range && !measured(&f, x_of(c, c->i)))
        return 1;
    for (uint32_t k = 0; k < c->g->n; k++)
        if ((!f.range || measured(&f, x_of(c, k))) && within(c, &f, f.lo, -1, k) &&
            within(c, &f, f.hi, 1, k))
            place[(*n)++] = k;
    return 0;
}

/* ---- places */
static int
place_of(const struct call_of *c, struct val **out)
{
    int32_t no = 1;
    if (!strcmp(c->name, "$documentNumber")) {
        *out = tw_int32((int32_t)c->i + 1);
        return 0;
    }
    for (uint32_t k = 0; k < c->i; k++) {
        bool before = tw_sort_compare(&c->g->key[k], &c->g->key[c->i], c->g->sort) < 0;
        bool first = k == 0 || tw_sort_compare(&c->g->key[k - 1], &c->g->key[k], c->g->sort) < 0;
        no += before && (first || !strcmp(c->name, "$rank"));
    }
    *out = tw_int32(no);
    return 0;
}

static int
shift(const struct call_of *c, struct val **out)
{
    __int128 k = (__int128)c->i + tw_num_int64(tw_get(c->arg, "by"));
    if (k >= 0 && k < c->g->n)
        return eval_at(c, tw_get(c->arg, "output"), (uint32_t)k, out);
    return tw_get(c->arg, "default") ? eval_at(c, tw_get(c->arg, "default"), c->i, out) : 0;
}

static int
last_there(const struct call_of *c, struct val **out)
{
    for (uint32_t k = 0; k <= c->i; k++) {
        struct val *v = NULL;
        if (eval_at(c, c->arg, k, &v))
            return 1;
        if (!tw_is_nullish(v))
            *out = v;
    }
    return 0;
}

/* ---- averages */
static struct val *
calc(const struct call_of *c, const struct val *a, char op, const struct val *b)
{
    struct val *v = NULL;
    if (tw_arith(c->w, op, a, b, &v))
        tw_unclear(c->w, "a formula that fails");
    return v;
}

static int
moving_average(const struct call_of *c, struct val **out)
{
    struct val *N = tw_get(c->arg, "N"), *alpha, *last = NULL;
    bool decimal = false;
    alpha = N ? calc(c, tw_decimal(tw_int32(2)), '/', calc(c, N, '+', tw_int32(1)))
              : tw_decimal(tw_get(c->arg, "alpha"));
    struct val *rest = calc(c, tw_decimal(tw_int32(1)), '-', alpha);
    for (uint32_t k = 0; k <= c->i; k++) {
        struct val *v = NULL;
        if (eval_at(c, tw_get(c->arg, "input"), k, &v))
            return 1;
        if (!v || !tw_is_number(v))
            continue;
        decimal |= v->type == T_DECIMAL;
        last = last ? calc(c, calc(c, v, '*', alpha), '+', calc(c, last, '*', rest)) : v;
    }
    *out = !last ? NULL : decimal ? tw_decimal(last) : tw_double(tw_num_double(last));
    return 0;
}

/* ---- rates, areas, gaps */
struct points {
    struct val **x, **y;
    uint32_t n;
};

static int
points_of(const struct call_of *c, struct points *p)
{
    uint32_t *place = tw_new((c->g->n + 1) * sizeof *place);
    p->x = tw_new((c->g->n + 1) * sizeof *p->x);
    p->y = tw_new((c->g->n + 1) * sizeof *p->y);
    if (window_of(c, place, &p->n))
        return 1;
    for (uint32_t k = 0; k < p->n; k++) {
        p->x[k] = x_of(c, place[k]);
        if (eval_at(c, tw_get(c->arg, "input"), place[k], &p->y[k]))
            return 1;
    }
    return 0;
}

static bool
is_point(const struct val *x, const struct val *y, const char *unit)
{
    return y && tw_is_number(y) && (unit ? is_date(x) : x && tw_is_number(x));
}

static int
derivative(const struct call_of *c, struct val **out)
{
    const char *unit = tw_str(tw_get(c->arg, "unit"));
    struct points p;
    if (points_of(c, &p))
        return 1;
    if (!p.n)
        return 0;
    uint32_t z = p.n - 1;
    if (!is_point(p.x[0], p.y[0], unit) || !is_point(p.x[z], p.y[z], unit))
        return 1;
    if (!tw_compare(p.x[0], p.x[z]))
        return 0;
    *out = calc(c, calc(c, p.y[z], '-', p.y[0]), '/', calc(c, p.x[z], '-', p.x[0]));
    if (unit)
        *out = calc(c, *out, '*', tw_int64(length_of(unit)));
    return 0;
}

static int
integral(const struct call_of *c, struct val **out)
{
    const char *unit = tw_str(tw_get(c->arg, "unit"));
    struct points p;
    bool nan = false;
    if (points_of(c, &p))
        return 1;
    for (uint32_t k = 0; k < p.n; k++) {
        if (!is_point(p.x[k], p.y[k], unit))
            return 1;
        nan |= isnan(tw_num_double(p.y[k])) || (!unit && isnan(tw_num_double(p.x[k])));
    }
    if (!p.n)
        return 0;
    if (nan) {
        *out = tw_double(NAN);
        return 0;
    }
    struct val **terms = tw_new((p.n + 1) * sizeof *terms), *sum = tw_doc();
    for (uint32_t k = 1; k < p.n; k++) {
        struct val *area = calc(c, calc(c, p.y[k], '+', p.y[k - 1]), '*', calc(c, p.x[k], '-', p.x[k - 1]));
        terms[k - 1] = tw_doc();
        tw_push(terms[k - 1], "t", calc(c, area, '/', tw_double(2.0)));
    }
    tw_push(sum, "$sum", tw_string("$t"));
    tw_accumulate(c->w, sum, terms, p.n - 1, out);
    if (unit)
        *out = calc(c, *out, '/', tw_int64(length_of(unit)));
    return 0;
}

/* The nearest value in one direction; 1: on the way an argument fails. */
static int
nearest(const struct call_of *c, int step, uint32_t *at, struct val **out)
{
    for (int64_t k = (int64_t)c->i + step; k >= 0 && k < c->g->n; k += step) {
        *at = (uint32_t)k;
        if (eval_at(c, c->arg, *at, out))
            return 1;
        if (!tw_is_nullish(*out))
            return 0;
    }
    *out = NULL;
    return 0;
}

static int
fill(const struct call_of *c, struct val **out)
{
    struct val *own = NULL, *x = x_of(c, c->i), *y1 = NULL, *y2 = NULL;
    uint32_t k1 = 0, k2 = 0;
    bool dates = is_date(x);
    if (eval_at(c, c->arg, c->i, &own) || !x || (!dates && !tw_is_number(x)) ||
        (c->i && !tw_compare(x, x_of(c, c->i - 1))))
        return 1;
    if (!tw_is_nullish(own)) {
        *out = own;
        return !tw_is_number(own);
    }
    int no1 = nearest(c, -1, &k1, &y1), no2 = nearest(c, 1, &k2, &y2);
    struct val *x1 = x_of(c, k1), *x2 = x_of(c, k2);
    no1 = no1 || (y1 && !is_point(x1, y1, dates ? "" : NULL));
    no2 = no2 || (y2 && !is_point(x2, y2, dates ? "" : NULL));
    if ((no1 && !no2 && !y2) || (no2 && !no1 && !y1))
        tw_unclear(c->w, "a gap with one neighbour, which is no number");
    if (no1 || no2)
        return 1;
    if (!y1 || !y2)
        return 0;
    struct val *slope = calc(c, calc(c, y2, '-', y1), '/', calc(c, x2, '-', x1));
    *out = calc(c, y1, '+', calc(c, calc(c, x, '-', x1), '*', slope));
    return 0;
}

/* ---- accumulators */
static int
accumulate(const struct call_of *c, struct val **out)
{
    uint32_t n, *place = tw_new((c->g->n + 1) * sizeof *place);
    struct val **docs = tw_new((c->g->n + 1) * sizeof *docs);
    if (window_of(c, place, &n))
        return 1;
    for (uint32_t k = 0; k < n; k++)
        docs[k] = c->g->doc[place[k]];
    return tw_accumulate(c->w, c->op, docs, n, out);
}

int
tw_window_op(struct world *w, const struct group_of *g, const struct val *op, uint32_t i, struct val **out)
{
    static const struct {
        const char *name;
        int (*fn)(const struct call_of *c, struct val **out);
    } fns[] = {{"$documentNumber", place_of}, {"$rank", place_of}, {"$denseRank", place_of}, {"$shift", shift},
               {"$expMovingAvg", moving_average}, {"$derivative", derivative}, {"$integral", integral},
               {"$locf", last_there}, {"$linearFill", fill}};
    struct call_of c = {w, g, op, op->f[0].v, op->f[0].name, i};
    *out = NULL;
    for (size_t k = 0; k < sizeof fns / sizeof *fns; k++)
        if (!strcmp(fns[k].name, c.name))
            return fns[k].fn(&c, out);
    return accumulate(&c, out);
}
