/* SPDX-License-Identifier: Apache-2.0 */
/* gen_window.c - random windows, and rows that mostly fit them: a group `g`, a time or number `at` and a value `n`. */
#include "gen.h"

#include <bson/bson.h>
#include <math.h>
#include <string.h>

static bool dates;  /* `at` of the rows is mostly one */
static bool sorted; /* by one key, ascending or not */
static bool upward;
static bool running;

static struct val *
number(uint32_t strange)
{
    int32_t x = (int32_t)gen_below(9) - 2;
    if (gen_chance(strange))
        return gen_chance(40) ? tw_null() : gen_chance(50) ? gen_any(0) : tw_double(NAN);
    switch (gen_below(8)) {
    case 0: return tw_int64(x);
    case 1: return tw_double(x / 4.0);
    case 2: return gen_chance(50) ? tw_double(x / 10.0) : tw_double(-0.0);
    case 3: return gen_chance(strange * 2) ? gen_decimal(tw_text("%d.%u0", x, gen_below(10))) : tw_double(x);
    default: return tw_int32(x);
    }
}

static struct val *
moment(uint32_t strange)
{
    static const int64_t near[] = {1709164800000, 1711843200000, 1704067200000, -1};
    static const int64_t step[] = {1, 1000, 1800000, 86400000, 86400000, 2678400000};
    int64_t ms = near[gen_below(gen_chance(70) ? 1 : 4)];
    ms += ((int64_t)gen_below(9) - 4) * step[gen_below(6)];
    return gen_chance(strange) ? number(50) : tw_leaf(T_DATE, &ms, 8);
}

static void
fill(struct world *w, const char *coll)
{
    struct coll *c = tw_coll_named(w, w->database, coll, true);
    uint32_t n = gen_chance(8) ? 40 + gen_below(80) : 1 + gen_below(14), strange = gen_below(4) * 4;
    uint32_t groups = 1 + gen_below(5);
    for (uint32_t i = 0; i < n; i++) {
        struct val *d = gen_one("_id", tw_int32((int32_t)i));
        if (gen_chance(95))
            tw_push(d, "g", gen_chance(strange) ? gen_any(1) : tw_int32((int32_t)gen_below(groups)));
        if (!gen_chance(strange))
            tw_push(d, "at", dates ? moment(strange) : number(strange));
        if (!gen_chance(strange + 5))
            tw_push(d, "n", number(strange));
        if (gen_chance(50))
            tw_push(d, "k", gen_key());
        if (gen_chance(strange))
            tw_push(d, gen_pick("f1 f2 e"), gen_any(1));
        if (gen_chance(15)) /* now and then of a different size */
            tw_push(d, "s", tw_string("a text that makes the row longer than the others are"));
        tw_add(&c->docs, d);
    }
}

/* An argument. $toInt fails on texts, $divide where `n` is 0. */
static struct val *
argument(void)
{
    switch (gen_below(14)) {
    case 5: return gen_one("$divide", gen_pair(tw_int32(4), tw_string("$n")));
    case 6: return gen_one(gen_pick("$multiply $subtract"), gen_pair(tw_string("$n"), tw_int32(3)));
    case 0: return gen_one("$add", gen_pair(tw_string("$n"), tw_int32(1)));
    case 1: return gen_one("$toInt", tw_string(gen_pick("$n $k")));
    case 2: return gen_one("$ifNull", gen_pair(tw_string("$k"), tw_string("$n")));
    case 3: return gen_one("a", tw_string("$k"));
    case 4: return tw_string(gen_pick("$_id $k $e.n $at"));
    default: return tw_string("$n");
    }
}

static struct val *
bound(bool fraction)
{
    int32_t x = (int32_t)gen_below(9) - 4;
    if (gen_chance(15))
        return tw_string("current");
    return fraction && gen_chance(30) ? tw_double(x / 10.0) : tw_int32(x);
}

/* In the order that the plan asks for: neither bound is behind the other. */
static struct val *
bounds(bool fraction)
{
    struct val *a = bound(fraction), *b = bound(fraction);
    double x = tw_str(a) ? 0 : tw_num_double(a), y = tw_str(b) ? 0 : tw_num_double(b);
    struct val *list = x <= y ? gen_pair(a, b) : gen_pair(b, a);
    if (gen_chance(20))
        list->f[0].v = tw_string("unbounded");
    if (gen_chance(20))
        list->f[1].v = tw_string("unbounded");
    return list;
}

static void
add_window(struct val *op, bool need)
{
    struct val *o;
    uint32_t kind = gen_below(upward ? 6 : 3);
    if (!need && gen_chance(20))
        return;
    if (kind == 0) {
        o = tw_string(gen_pick("running running group"));
    } else if (kind < 3) {
        o = gen_one("documents", bounds(false));
    } else {
        o = gen_one("range", bounds(!dates));
        if (dates)
            tw_push(o, "unit", tw_string(gen_pick("millisecond second hour day day week month quarter year")));
    }
    tw_push(op, "window", o);
}

static struct val *
accumulator(bool top)
{
    struct val *op;
    do /* what only rollup has */
        op = gen_accumulator(argument());
    while (!strcmp(op->f[0].name, "$mergeObjects"));
    bool whole = !strcmp(op->f[0].name, "$median") || !strcmp(op->f[0].name, "$percentile");
    if (whole && (running || !top || gen_chance(50)))
        tw_push(op, "window", tw_string("group"));
    else if (!whole)
        add_window(op, !top);
    return op;
}

static struct val *
with_unit(struct val *d)
{
    if (dates)
        tw_push(d, "unit", tw_string(gen_pick("millisecond second minute hour day week")));
    return d;
}

static struct val *
place_or_shift(void)
{
    struct val *d = tw_doc();
    if (gen_chance(50))
        return gen_one(sorted ? gen_pick("$documentNumber $rank $denseRank") : "$documentNumber", d);
    if (gen_chance(30))
        return gen_one("$locf", argument());
    tw_push(d, "output", argument());
    tw_push(d, "by", tw_int32((int32_t)gen_below(7) - 3));
    if (gen_chance(40))
        tw_push(d, "default", tw_string("none"));
    return gen_one("$shift", d);
}

static struct val *
operation(bool top)
{
    struct val *d = tw_doc();
    uint32_t kind = gen_below(sorted ? 10 : 6);
    if (kind < 4)
        return accumulator(top);
    if (kind < 6)
        return place_or_shift();
    if (kind < 7)
        return gen_one("$linearFill", argument());
    tw_push(d, "input", argument());
    if (kind < 8) {
        if (gen_chance(50))
            tw_push(d, "N", tw_int32(1 + (int32_t)gen_below(6)));
        else
            tw_push(d, "alpha", tw_double((1 + gen_below(9)) / 10.0));
        return gen_one("$expMovingAvg", d);
    }
    d = gen_one(kind < 9 ? "$derivative" : "$integral", with_unit(d));
    add_window(d, kind < 9);
    return d;
}

static struct val *
field(void)
{
    switch (gen_below(12)) {
    case 0: return gen_one(gen_pick("$add $subtract"), gen_pair(operation(false), tw_int32(1)));
    case 1: return gen_pair(operation(false), tw_string("$k"));
    case 2: return gen_one("a", operation(false));
    case 3: return gen_one("$eq", gen_pair(operation(false), operation(false)));
    case 4: return gen_one("$ifNull", gen_pair(operation(false), tw_string("$$REMOVE")));
    case 5: {
        struct val *three = gen_pair(gen_one("$eq", gen_pair(tw_string("$n"), tw_int32(1))), operation(false));
        tw_append(three, gen_chance(50) ? operation(false) : tw_string("$$REMOVE"));
        return gen_one("$cond", three);
    }
    default: return operation(true);
    }
}

static struct val *
order_of(bool fresh)
{
    uint32_t kind = gen_below(10);
    struct val *d;
    sorted = kind < 9;
    upward = kind < 6;
    if (!sorted)
        return NULL;
    d = gen_one(fresh ? "at" : gen_pick("n k l.n e.n"), tw_int32(upward ? 1 : -1));
    return d;
}

struct val *
gen_window(struct world *w, const char *coll, struct val *where)
{
    struct val *d = tw_doc(), *fields = tw_doc(), *sort;
    bool fresh = gen_chance(85);
    dates = fresh && gen_chance(40);
    running = gen_chance(25);
    if (fresh) {
        coll = "rows";
        while (tw_coll_named(w, w->database, coll, false))
            coll = tw_text("%ss", coll);
        fill(w, coll);
    }
    tw_push(d, "in", tw_string(coll));
    if (gen_chance(80))
        tw_push(d, "by", fresh && gen_chance(80) ? tw_string("$g") : gen_rollup_key());
    sort = order_of(fresh);
    if (sort)
        tw_push(d, "sort", sort);
    tw_push(fields, gen_pick("f1 f1 f1 e.f h.a n l.f"), field());
    for (uint32_t i = gen_below(3); i > 0; i--)
        tw_push(fields, tw_text("%s%u", gen_pick("f g h.b"), i + 1), field());
    tw_push(d, "fields", fields);
    if (where)
        tw_push(d, "where", where);
    if (running)
        tw_push(d, "over", tw_string("running"));
    if (gen_chance(60))
        tw_push(d, "errors", tw_string(gen_pick("refuse keep null drop")));
    if (gen_chance(50))
        tw_push(d, "replace", tw_bool(true));
    return d;
}
