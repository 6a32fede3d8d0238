/* SPDX-License-Identifier: Apache-2.0 */
/* gen_bucket.c - random plans of bucket and unbucket, and the times that their readings need.
 *
 * Readings get a field `ts` near the edges of days, months and years, and near the nights in which clocks change. */
#include "gen.h"

#include <string.h>

static struct val *
list(const char *a, const char *b)
{
    struct val *l = tw_array();
    tw_append(l, tw_string(a));
    if (b)
        tw_append(l, tw_string(b));
    return l;
}

static struct val *
moment(void)
{
    static const int64_t near[] = {0, -86400000, 1704067200000, 1711839600000, 1711846800000, 1729980000000,
                                   1729990800000, 1714521600000, 951782400000, 946684800000, -2208988800000};
    static const int64_t step[] = {1, 1000, 60000, 1800000, 3600000, 86400000, 950400000};
    int64_t ms = near[gen_below(sizeof near / sizeof *near)];
    ms += ((int64_t)gen_below(7) - 3) * step[gen_below(sizeof step / sizeof *step)];
    if (gen_chance(92))
        return tw_leaf(T_DATE, &ms, 8);
    return gen_chance(50) ? tw_leaf(T_TIMESTAMP, &ms, 8) : gen_any(1);
}

static void
give_times(struct world *w, const char *coll)
{
    for (uint32_t i = 0; i < w->n; i++) {
        struct vals *docs = &w->c[i]->docs;
        for (uint32_t k = 0; !strcmp(w->c[i]->name, coll) && k < docs->n; k++) {
            if (tw_get(docs->v[k], "ts") || !gen_chance(95))
                continue;
            docs->v[k] = tw_copy(docs->v[k]);
            tw_insert(docs->v[k], gen_below(docs->v[k]->n + 1), "ts", moment());
        }
    }
}

static struct val *
series(void)
{
    struct val *d;
    switch (gen_below(9)) {
    case 0: return list("k", NULL);
    case 1: return list("k", "n");
    case 2: return list("e.k", gen_chance(50) ? "t" : NULL);
    case 3: return list("l.k", NULL);
    case 4: return gen_one("series", tw_string("$k"));
    case 5: d = gen_one("q.a", tw_string("$t")); tw_push(d, "q.b", tw_string("$e.k")); return d;
    case 6: {
        struct val *sum = tw_array();
        tw_append(sum, tw_string("$n"));
        tw_append(sum, tw_int32(1));
        d = gen_one("more", gen_one("$add", sum));
        tw_push(d, "t", tw_string("$t"));
        return d;
    }
    default: return list("t", NULL);
    }
}

static struct val *
every(void)
{
    struct val *d;
    if (gen_chance(40))
        return tw_string(gen_pick("1h 30m 6h 1d 2d 1w 2w 90s"));
    d = gen_one("unit", tw_string(gen_pick("day week month quarter year hour")));
    if (gen_chance(40))
        tw_push(d, "size", tw_int32(1 + (int32_t)gen_below(4)));
    if (gen_chance(70))
        tw_push(d, "timezone", tw_string(gen_pick("Europe/Berlin Europe/Berlin America/New_York UTC")));
    if (!strcmp(tw_str(tw_get(d, "unit")), "week") && gen_chance(60))
        tw_push(d, "startOfWeek", tw_string(gen_pick("monday mon sunday thu")));
    return d;
}

static struct val *
computed(void)
{
    struct val *pair = tw_array(), *d;
    switch (gen_below(10)) {
    case 0: return gen_one("$sum", tw_int32(1));
    case 1: return gen_one("$count", tw_doc());
    case 2: return gen_one("$push", tw_string(gen_pick("$n $k $e.n")));
    case 3: return gen_one(gen_pick("$first $last"), tw_string(gen_pick("$n $k $s")));
    case 4: return gen_one(gen_pick("$max $min"), tw_string(gen_pick("$n $k $ts")));
    case 5:
        tw_append(pair, tw_string("$n"));
        tw_append(pair, tw_int32(1));
        return gen_one(gen_pick("$push $last"), gen_one("$add", pair));
    case 6: return gen_one("$size", tw_string("$v"));
    case 7: return tw_string(gen_pick("$from $c1 $v.n $t $until"));
    case 8:
        tw_append(pair, tw_string("$c1"));
        tw_append(pair, tw_int32(1));
        return gen_one("$add", pair);
    default: d = gen_one("a", tw_string("$c1")); tw_push(d, "b", tw_string("fixed")); return d;
    }
}

static void
policies(struct val *d, struct val *shape, struct val *where)
{
    for (uint32_t i = 0; i < shape->n; i++)
        tw_push(d, shape->f[i].name, shape->f[i].v);
    if (where)
        tw_push(d, "where", where);
    if (gen_chance(40))
        tw_push(d, "conflicts", tw_string(gen_pick("refuse first last")));
    if (gen_chance(40))
        tw_push(d, "errors", tw_string(gen_pick("refuse keep null drop")));
}

struct val *
gen_bucket(struct world *w, const char *from, const char *into, struct val *shape, struct val *where)
{
    struct val *d = tw_doc();
    bool timed = gen_chance(75), cut = timed && gen_chance(75);
    give_times(w, from);
    tw_push(d, "from", tw_string(from));
    tw_push(d, "into", tw_string(into));
    tw_push(d, "items", tw_string("v"));
    if (gen_chance(80))
        tw_push(d, "by", series());
    if (timed)
        tw_push(d, "time", tw_string(cut ? gen_pick("ts $ts") : gen_pick("ts n e.n $k $l.n")));
    if (cut)
        tw_push(d, "every", every());
    if (gen_chance(40))
        tw_push(d, "max", tw_int32(1 + (int32_t)gen_below(3)));
    if (timed && gen_chance(50))
        tw_push(d, "start", tw_string("from"));
    if (timed && gen_chance(40))
        tw_push(d, "end", tw_string("until"));
    if (gen_chance(50)) {
        struct val *set = gen_one("c1", computed());
        if (gen_chance(60))
            tw_push(set, gen_pick("c2 q.c c3.x"), computed());
        if (gen_chance(30))
            tw_push(set, gen_pick("c4 q.d c3.y"), computed());
        tw_push(d, "set", set);
    }
    if (gen_chance(15))
        tw_push(d, "id", gen_chance(50) ? tw_string(gen_pick("$k $t $c1 $from"))
                                        : gen_one("t", tw_string(gen_pick("$t $v"))));
    if (cut && gen_chance(40))
        tw_push(d, "untimed", tw_string(gen_pick("refuse keep")));
    if (shape->n || gen_chance(40))
        tw_push(d, "keep", tw_string(gen_pick("none none all")));
    policies(d, shape, where);
    return d;
}

/* Mostly the way back of a bucket; else out of an array that happens to be there. */
struct val *
gen_unbucket(const struct val *bucket, const char *from, const char *into, struct val *shape, struct val *where)
{
    struct val *d = tw_doc();
    bool back = bucket && gen_chance(90);
    tw_push(d, "from", tw_string(from));
    tw_push(d, "into", tw_string(into));
    tw_push(d, "items", tw_string(back ? "v" : gen_pick("l p e.l2 e.r x")));
    switch (gen_below(back ? 7 : 4)) {
    case 0: break;
    case 1: tw_push(d, "by", list("k", "e.n")); break;
    case 2: tw_push(d, "by", list("e.k", "e.s")); break;
    case 3: tw_push(d, "by", list("s", NULL)); break;
    case 4: tw_push(d, "by", list("q.a", "q.b")); break;
    default: tw_push(d, "by", list("t", gen_chance(50) ? "from" : NULL));
    }
    if (gen_chance(30))
        tw_push(d, "id", gen_chance(60) ? tw_string(gen_pick("keep new"))
                                        : tw_string(gen_pick("$k $$ITEM.n $$BUCKET.k $$POSITION")));
    if (gen_chance(40))
        tw_push(d, "keep", tw_string(gen_pick("none none all")));
    policies(d, shape, where);
    return d;
}
