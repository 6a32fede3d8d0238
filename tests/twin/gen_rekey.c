/* SPDX-License-Identifier: Apache-2.0 */
/* gen_rekey.c - random new `_id`s, merged documents, and references to them. */
#include "gen.h"

#include <string.h>

static struct val *
id_expression(void)
{
    switch (gen_below(6)) {
    case 0: return tw_string("$n");
    case 1: return tw_string("$k");
    case 2: return gen_one("$ifNull", gen_pair(tw_string("$n"), tw_string("$_id")));
    case 3: return gen_one("a", tw_string("$_id"));
    case 4: return gen_one("$add", gen_pair(tw_string("$_id"), tw_int32(1)));
    default: return tw_string("new");
    }
}

static struct val *
merge(const char *into)
{
    struct val *d = tw_doc(), *by = tw_doc(), *any = tw_array();
    const char *one = gen_pick("k r p l.k t e.n");
    switch (gen_below(4)) {
    case 0: tw_push(d, "by", tw_string(tw_text("$%s", one))); break;
    case 1: tw_push(d, "by", gen_one("$toString", tw_string(tw_text("$%s", one)))); break;
    default:
        tw_push(by, "a", tw_string(gen_pick("$k $t $n $p")));
        if (gen_chance(60))
            tw_push(by, "b", tw_string(gen_pick("$p $l.k $r")));
        tw_push(d, "by", by);
        for (uint32_t i = 0; i < by->n; i++)
            if (gen_chance(60))
                tw_append(any, tw_string(by->f[i].name));
        if (any->n)
            tw_push(d, "any", any);
    }
    if (gen_chance(50))
        tw_push(d, "sort", gen_one(gen_pick("n k l.k s"), tw_int32(gen_chance(50) ? 1 : -1)));
    if (gen_chance(60)) {
        struct val *fields = gen_one(gen_pick("n f1 h.a"), gen_accumulator(tw_string(gen_pick("$n $k $s"))));
        if (gen_chance(30))
            tw_push(fields, "f2", gen_one("$push", tw_string("$_id")));
        tw_push(d, "fields", fields);
    }
    tw_push(d, "dropped", into ? gen_one("into", tw_string(into)) : tw_string("drop"));
    return d;
}

static struct val *
paths(void)
{
    const char *some = gen_pick("k r p l.k e.k e.r l.r l2.id");
    if (gen_chance(40))
        return tw_string(some);
    struct val *a = tw_array();
    tw_append(a, tw_string(some));
    if (gen_chance(50))
        tw_append(a, tw_string(gen_pick("x z s.q")));
    return a;
}

static struct val *
entry(const char *coll, struct val *where)
{
    struct val *e = gen_one("in", tw_string(coll)), *fields = paths();
    if (fields->type != T_ARRAY) {
        struct val *a = tw_array();
        tw_append(a, fields);
        fields = a;
    }
    tw_push(e, "fields", fields);
    if (where)
        tw_push(e, "where", where);
    return e;
}

struct val *
gen_rekey(const char *in, const char *other, const char *into, struct val *where, struct val *condition)
{
    struct val *d = gen_one("in", tw_string(in)), *refs = gen_chance(50) ? tw_doc() : tw_array();
    bool merges = gen_chance(50);
    tw_push(d, merges ? "merge" : "id", merges ? merge(into) : id_expression());
    if (refs->type == T_DOC) {
        if (gen_chance(70))
            tw_push(refs, other, paths());
        if (gen_chance(50))
            tw_push(refs, in, paths());
    } else {
        for (uint32_t n = 1 + gen_below(3); n > 0; n--)
            tw_append(refs, entry(gen_chance(60) ? other : in, gen_chance(50) ? tw_copy(condition) : NULL));
    }
    if (refs->n)
        tw_push(d, "references", refs);
    if (gen_chance(50))
        tw_push(d, "old", tw_string(gen_pick("was h.b k x.y")));
    if (where)
        tw_push(d, "where", where);
    if (gen_chance(60))
        tw_push(d, "dangling", tw_string(gen_pick("keep drop null refuse")));
    if (gen_chance(40))
        tw_push(d, "distinct", tw_bool(true));
    if (gen_chance(40))
        tw_push(d, "replace", tw_bool(gen_chance(70)));
    return d;
}
