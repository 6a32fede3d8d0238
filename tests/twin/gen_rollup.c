/* gen_rollup.c - random accumulators, matches and keys of groups. */
#include "gen.h"

#include <string.h>

static struct val *
one(const char *name, struct val *v)
{
    struct val *d = tw_doc();
    tw_push(d, name, v);
    return d;
}

static struct val *
pair(struct val *a, struct val *b)
{
    struct val *l = tw_array();
    tw_append(l, a);
    tw_append(l, b);
    return l;
}

struct val *
gen_accumulator(struct val *e)
{
    struct val *d = tw_doc();
    const char *op;
    struct val *alone = e->type == T_ARRAY ? one("a", e) : e; /* an accumulator takes no array literal */
    switch (gen_below(5)) {
    case 0: return one("$sum", gen_chance(60) ? tw_string("$n") : tw_int32(1));
    case 1:
        return one(gen_pick("$avg $min $max $stdDevPop $stdDevSamp $sum"),
                   gen_chance(70) ? tw_string(gen_pick("$n $n $k $e.n")) : alone);
    case 2:
        return one(gen_pick("$first $last $push $addToSet $addToSet $mergeObjects"),
                   gen_chance(50) ? tw_string(gen_pick("$_id $k $e $n")) : alone);
    case 3:
        op = gen_pick("$firstN $lastN $minN $maxN $count $median $percentile");
        if (!strcmp(op, "$count"))
            return one(op, d);
        tw_push(d, "input", gen_chance(50) ? tw_string(gen_pick("$n $k")) : e);
        if (!strcmp(op, "$median") || !strcmp(op, "$percentile"))
            tw_push(d, "method", tw_string("approximate"));
        else
            tw_push(d, "n", tw_int32(1 + (int32_t)gen_below(3)));
        if (!strcmp(op, "$percentile"))
            tw_push(d, "p", pair(tw_double(0.25), tw_int32(1)));
        return one(op, d);
    default:
        op = gen_pick("$top $topN $bottom $bottomN");
        tw_push(d, "sortBy", one(gen_pick("n n s k l.n"), tw_int32(gen_chance(50) ? 1 : -1)));
        tw_push(d, "output", gen_chance(50) ? tw_string("$_id") : e);
        if (op[strlen(op) - 1] == 'N')
            tw_push(d, "n", tw_int32(1 + (int32_t)gen_below(3)));
        return one(op, d);
    }
}

struct val *
gen_rollup_match(void)
{
    const char *path = gen_pick("r r p p k l.r e.r");
    struct val *m;
    switch (gen_below(8)) {
    case 0: case 1: case 2: m = one(gen_pick("k r p l.r e.k n"), tw_string("_id")); break;
    case 3: case 4: m = one("_id", tw_string(path)); break;
    case 5: m = one(gen_pick("k r e.k"), tw_string(path)); break;
    case 6:
        m = one(gen_pick("k r p"), tw_string(gen_pick("k r _id")));
        tw_push(m, "t", tw_string("t"));
        break;
    default:
        m = tw_array();
        tw_append(m, one("from", gen_chance(50) ? one("$toUpper", tw_string("$s")) : tw_string("$k")));
        tw_push(m->f[0].v, "into", gen_chance(50) ? one("$toUpper", tw_string("$s")) : tw_string("$r"));
    }
    return m;
}

struct val *
gen_rollup_key(void)
{
    struct val *d;
    switch (gen_below(8)) {
    case 0: return tw_null();
    case 1: return one("a", tw_string(gen_pick("$k $n $none")));
    case 2:
        d = one("a", tw_string(gen_pick("$k $n $t")));
        tw_push(d, "b", gen_chance(50) ? tw_string("$e.n") : one("$eq", pair(tw_string("$n"), tw_int32(1))));
        return d;
    case 3: return one("$ifNull", pair(tw_string("$k"), tw_string("none")));
    case 4: return one("$add", pair(tw_string("$n"), tw_int32(1)));
    case 5: return tw_string("$e");
    default: return tw_string(gen_pick("$k $r $n $t $s"));
    }
}
