/* SPDX-License-Identifier: Apache-2.0 */
/* gen_rollup.c - random accumulators, matches and keys of groups. */
#include "gen.h"

#include <string.h>

struct val *
gen_accumulator(struct val *e)
{
    struct val *d = tw_doc();
    const char *op;
    struct val *alone = e->type == T_ARRAY ? gen_one("a", e) : e; /* an accumulator takes no array literal */
    switch (gen_below(5)) {
    case 0: return gen_one("$sum", gen_chance(60) ? tw_string("$n") : tw_int32(1));
    case 1:
        return gen_one(gen_pick("$avg $min $max $stdDevPop $stdDevSamp $sum"),
                   gen_chance(70) ? tw_string(gen_pick("$n $n $k $e.n")) : alone);
    case 2:
        return gen_one(gen_pick("$first $last $push $addToSet $addToSet $mergeObjects"),
                   gen_chance(50) ? tw_string(gen_pick("$_id $k $e $n")) : alone);
    case 3:
        op = gen_pick("$firstN $lastN $minN $maxN $count $median $percentile");
        if (!strcmp(op, "$count"))
            return gen_one(op, d);
        tw_push(d, "input", gen_chance(50) ? tw_string(gen_pick("$n $k")) : e);
        if (!strcmp(op, "$median") || !strcmp(op, "$percentile"))
            tw_push(d, "method", tw_string("approximate"));
        else
            tw_push(d, "n", tw_int32(1 + (int32_t)gen_below(3)));
        if (!strcmp(op, "$percentile"))
            tw_push(d, "p", gen_pair(tw_double(0.25), tw_int32(1)));
        return gen_one(op, d);
    default:
        op = gen_pick("$top $topN $bottom $bottomN");
        tw_push(d, "sortBy", gen_one(gen_pick("n n s k l.n"), tw_int32(gen_chance(50) ? 1 : -1)));
        tw_push(d, "output", gen_chance(50) ? tw_string("$_id") : e);
        if (op[strlen(op) - 1] == 'N')
            tw_push(d, "n", tw_int32(1 + (int32_t)gen_below(3)));
        return gen_one(op, d);
    }
}

struct val *
gen_rollup_match(void)
{
    const char *path = gen_pick("r r p p k l.r e.r");
    struct val *m;
    switch (gen_below(8)) {
    case 0: case 1: case 2: m = gen_one(gen_pick("k r p l.r e.k n"), tw_string("_id")); break;
    case 3: case 4: m = gen_one("_id", tw_string(path)); break;
    case 5: m = gen_one(gen_pick("k r e.k"), tw_string(path)); break;
    case 6:
        m = gen_one(gen_pick("k r p"), tw_string(gen_pick("k r _id")));
        tw_push(m, "t", tw_string("t"));
        break;
    default:
        m = tw_array();
        tw_append(m, gen_one("from", gen_chance(50) ? gen_one("$toUpper", tw_string("$s")) : tw_string("$k")));
        tw_push(m->f[0].v, "into", gen_chance(50) ? gen_one("$toUpper", tw_string("$s")) : tw_string("$r"));
    }
    return m;
}

struct val *
gen_rollup_key(void)
{
    struct val *d;
    switch (gen_below(8)) {
    case 0: return tw_null();
    case 1: return gen_one("a", tw_string(gen_pick("$k $n $none")));
    case 2:
        d = gen_one("a", tw_string(gen_pick("$k $n $t")));
        tw_push(d, "b", gen_chance(50) ? tw_string("$e.n") : gen_one("$eq", gen_pair(tw_string("$n"), tw_int32(1))));
        return d;
    case 3: return gen_one("$ifNull", gen_pair(tw_string("$k"), tw_string("none")));
    case 4: return gen_one("$add", gen_pair(tw_string("$n"), tw_int32(1)));
    case 5: return tw_string("$e");
    default: return tw_string(gen_pick("$k $r $n $t $s"));
    }
}
