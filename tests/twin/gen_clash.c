/* SPDX-License-Identifier: Apache-2.0 */
/* gen_clash.c - small worlds with as many conflicts as possible: `_id`s from a tiny set, documents and elements that
 * are copies of each other, a target that holds some of them already, conditions that fail, and any policy.
 *
 * A tag (a field `u` with a number of its own) identifies the contents of a document: run.c searches for all of them in
 * the output. */
#include "gen.h"

#include <string.h>

enum { POOL = 6, TAG_OF_ELEMENT = 100, TAG_OF_SOURCE = 200, TAG_OF_TARGET = 300 };

static uint32_t tags;

static struct val *
small_id(void)
{
    static const int32_t ids[] = {1, 2, 3, 5, 6};
    int32_t id = ids[gen_below(5)];
    return gen_chance(6) ? tw_double(id) : tw_int32(id);
}

static struct val *
tag(uint32_t kind)
{
    return tw_int32((int32_t)(kind + tags++ % 100));
}

static struct val *
element(void)
{
    struct val *d = tw_doc();
    if (gen_chance(60))
        tw_push(d, "_id", small_id());
    if (gen_chance(80))
        tw_push(d, "n", tw_string(gen_pick("k m")));
    tw_push(d, "u", tag(TAG_OF_ELEMENT));
    return d;
}

static struct val *
numbers(uint32_t most)
{
    struct val *a = tw_array();
    for (uint32_t n = gen_below(most + 1); n; n--)
        tw_append(a, small_id());
    return a;
}

static struct val *
source(struct val **pool)
{
    struct val *d = tw_doc(), *items = tw_array();
    if (gen_chance(90))
        tw_push(d, "_id", small_id());
    for (uint32_t n = gen_below(4); n; n--)
        tw_append(items, tw_copy(pool[gen_below(POOL)]));
    if (gen_chance(90))
        tw_push(d, "i", items);
    if (gen_chance(90))
        tw_push(d, "k", tw_int32(1 + (int32_t)gen_below(2)));
    tw_push(d, "n", gen_chance(85) ? tw_int32((int32_t)gen_below(2)) : tw_string("x"));
    if (gen_chance(70))
        tw_push(d, "r", numbers(3));
    if (gen_chance(70))
        tw_push(d, "h", small_id());
    if (gen_chance(15)) /* a sort key that cannot be made */
        tw_push(d, "p", gen_pair(gen_one("x", gen_pair(tw_int32(1), tw_int32(2))), tw_int32(1)));
    tw_push(d, "u", tag(TAG_OF_SOURCE));
    return d;
}

/* A collection of some documents, a few of them twice. */
static void
fill(struct world *w, const char *name, struct val **pool, uint32_t most)
{
    struct coll *c = tw_coll_named(w, "t", name, true);
    for (uint32_t n = 1 + gen_below(most); n; n--) {
        tw_add(&c->docs, source(pool));
        if (gen_chance(12))
            tw_add(&c->docs, tw_copy(c->docs.v[c->docs.n - 1]));
        if (gen_chance(12) && tw_get(c->docs.v[c->docs.n - 1], "_id")) { /* its contents under the _id it names */
            struct val *d = tw_copy(c->docs.v[c->docs.n - 1]), *h = tw_get(d, "h");
            tw_put(d, "_id", h ? tw_copy(h) : small_id());
            tw_add(&c->docs, d);
        }
    }
}

/* The target: elements, documents of a source, others; an `_id` twice only where the seed is for it. */
static void
fill_target(struct world *w, struct val **pool)
{
    struct coll *t = tw_coll_named(w, "t", "t", true), *a = tw_coll_named(w, "t", "a", false);
    bool twins = gen_chance(25);
    for (uint32_t n = gen_below(5); n; n--) {
        struct val *d = gen_chance(55) ? tw_copy(pool[gen_below(POOL)])
                        : gen_chance(50) ? tw_copy(a->docs.v[gen_below(a->docs.n)])
                                         : gen_one("_id", small_id());
        if (!tw_get(d, "u"))
            tw_push(d, "u", tag(TAG_OF_TARGET));
        if (tw_index(d, "_id") < 0)
            tw_insert(d, 0, "_id", small_id());
        bool there = false;
        for (uint32_t i = 0; i < t->docs.n; i++)
            there |= !tw_compare(tw_get(t->docs.v[i], "_id"), tw_get(d, "_id"));
        if (!there || twins)
            tw_add(&t->docs, d);
        if (twins && gen_chance(40))
            tw_add(&t->docs, tw_copy(d));
    }
}

/* ---- steps ---- */
static void
say(struct val *d, const char *key, const char *text)
{
    tw_push(d, key, tw_string(text));
}

static struct val *
names(const char *a, const char *b)
{
    struct val *list = tw_array();
    tw_append(list, tw_string(a));
    if (b)
        tw_append(list, tw_string(b));
    return list;
}

/* It fails where n is a text. */
static struct val *
failing(void)
{
    struct val *sum = gen_one("$add", gen_pair(tw_string("$n"), tw_int32(1)));
    return gen_one("$expr", gen_one(gen_pick("$gt $lt"), gen_pair(sum, tw_int32((int32_t)gen_below(2)))));
}

static void
where(struct val *d, uint32_t percent)
{
    if (gen_chance(percent))
        tw_push(d, "where", gen_chance(60) ? failing() : gen_one("k", tw_int32(1)));
}

static void
policy(struct val *d)
{
    if (gen_chance(45))
        say(d, "conflicts", gen_pick("refuse first last"));
}

static struct val *
id_of_element(void)
{
    return gen_chance(50) ? tw_string(gen_pick("$n $u")) : gen_one("$literal", tw_int32(5));
}

static struct val *
extract(void)
{
    struct val *d = gen_one("from", tw_string("a"));
    bool unique = gen_chance(40), pages = !unique && gen_chance(25);
    say(d, "path", "i");
    say(d, "into", "t");
    if (pages) {
        struct val *p = gen_one("size", tw_int32(1 + (int32_t)gen_below(2)));
        say(p, "ref", "ref");
        say(p, "number", "no");
        say(p, "items", "j");
        tw_push(d, "pages", p);
    } else {
        const char *refs = gen_pick("none none child parent both");
        say(d, "refs", refs);
        if (*refs == 'p' || *refs == 'b')
            say(d, "parent_ref", "pid");
    }
    if (unique)
        tw_push(d, "unique", names("n", NULL));
    else if (!pages && gen_chance(40))
        tw_push(d, "id", gen_chance(50) ? tw_string("new") : id_of_element());
    where(d, 25);
    policy(d);
    return gen_one("extract", d);
}

static struct val *
bucket(void)
{
    struct val *d = gen_one("from", tw_string("a"));
    say(d, "into", "t");
    say(d, "items", "j");
    if (gen_chance(60))
        tw_push(d, "by", names("k", NULL));
    if (gen_chance(70))
        tw_push(d, "max", tw_int32(1 + (int32_t)gen_below(2)));
    if (gen_chance(70))
        tw_push(d, "id", gen_chance(50) && tw_get(d, "by") ? tw_string("$k") : gen_one("$literal", tw_int32(5)));
    if (gen_chance(50))
        tw_push(d, "fields", gen_one("n", tw_string("$n")));
    say(d, "keep", gen_pick("none all"));
    where(d, 20);
    policy(d);
    return gen_one("bucket", d);
}

static struct val *
unbucket(void)
{
    struct val *d = gen_one("from", tw_string("a"));
    say(d, "into", "t");
    say(d, "items", "i");
    if (gen_chance(40))
        tw_push(d, "by", names(gen_pick("k h"), NULL));
    if (gen_chance(50))
        tw_push(d, "id", gen_chance(60) ? tw_string(gen_pick("keep new")) : id_of_element());
    if (gen_chance(30))
        say(d, "keep", "all");
    where(d, 20);
    policy(d);
    return gen_one("unbucket", d);
}

/* A sort that fails where both are arrays. */
static struct val *
parallel(void)
{
    struct val *d = gen_one("p", tw_int32(1));
    tw_push(d, "r", tw_int32(1));
    return d;
}

static struct val *
embed(void)
{
    struct val *d = gen_one("from", tw_string("b"));
    bool refers = gen_chance(50), place = refers && gen_chance(30);
    say(d, "into", "a");
    tw_push(d, "match", refers ? gen_one("_id", tw_string("r"))
                               : gen_one(gen_pick("k h"), tw_string(gen_pick("k _id"))));
    say(d, "as", place ? "r" : "z");
    if (!place && gen_chance(60)) {
        struct val *o = gen_one("into", tw_string("t"));
        tw_push(o, "size", tw_int32(1));
        say(o, "ref", "ref");
        say(o, "number", "no");
        say(o, "items", "j");
        tw_push(d, "overflow", o);
    } else if (gen_chance(60)) {
        tw_push(d, "orphans", gen_one("into", tw_string("t")));
    }
    if (refers)
        say(d, "dangling", gen_pick("keep drop null refuse drop null"));
    if (place)
        say(d, "many", gen_pick("refuse first last"));
    if (!place && gen_chance(40))
        tw_push(d, "sort", gen_chance(40) ? gen_one("n", tw_int32(1)) : parallel());
    if (gen_chance(40))
        tw_push(d, "replace", tw_bool(true));
    if (gen_chance(40))
        say(d, "keep", gen_pick("all unmatched"));
    where(d, 50);
    return gen_one("embed", d);
}

static struct val *
copy(void)
{
    struct val *d = gen_one("from", tw_string("b"));
    bool wrap = gen_chance(50);
    say(d, "into", "a");
    tw_push(d, "match", gen_one("_id", tw_string(wrap ? "r" : "h")));
    tw_push(d, "fields", gen_one("c", tw_string("$n")));
    if (wrap)
        say(d, "wrap", "id");
    say(d, "dangling", gen_pick("keep drop null refuse drop null"));
    say(d, "many", gen_pick("refuse first last"));
    if (gen_chance(30)) {
        say(d, "keep", "none");
        tw_push(d, "orphans", gen_chance(50) ? tw_string("keep") : gen_one("into", tw_string("t")));
    }
    where(d, 70);
    return gen_one("copy", d);
}

static struct val *
whole(const char *step)
{
    struct val *d = tw_doc();
    if (!strcmp(step, "union")) {
        tw_push(d, "from", names("a", "b"));
        if (gen_chance(30))
            say(d, "tag", "type");
    } else {
        say(d, "from", "a");
    }
    if (!strcmp(step, "split"))
        tw_push(d, "fields", names("i", gen_chance(50) ? "n" : NULL));
    if (!strcmp(step, "partition")) {
        struct val *one = gen_one("value", tw_int32(1)), *two = gen_one("value", tw_int32(2));
        say(d, "by", "k");
        say(one, "into", "t");
        say(two, "into", gen_pick("t c"));
        tw_push(d, "into", gen_pair(one, two));
        if (gen_chance(40))
            tw_push(d, "others", gen_one("into", tw_string("c")));
    } else {
        say(d, "into", "t");
    }
    if (!strcmp(step, "move") && gen_chance(40))
        tw_push(d, "drop", names("u", NULL));
    where(d, 25);
    policy(d);
    return gen_one(step, d);
}

static struct val *
set_id(void)
{
    struct val *d = gen_one("in", tw_string("a"));
    struct val *five = gen_one("$literal", tw_int32(5));
    struct val *f = gen_one("_id", gen_chance(35) ? five : tw_string(gen_pick("$h $h $k $_id")));
    if (gen_chance(30))
        tw_push(f, "u", tw_string("$$REMOVE"));
    tw_push(d, "fields", f);
    if (gen_chance(50))
        tw_push(d, "where", gen_one("_id", gen_one(gen_pick("$lt $gt"), tw_int32(3))));
    else
        where(d, 40);
    policy(d);
    return gen_one("set", d);
}

static struct val *
grid(void)
{
    struct val *d = gen_one("into", tw_string("t")), *by = gen_one(gen_pick("k _id"), numbers(3));
    if (gen_chance(40))
        tw_push(by, "h", numbers(2));
    tw_push(d, "by", by);
    if (gen_chance(60))
        tw_push(d, "id", gen_chance(30) ? tw_string("new") : gen_chance(50) ? tw_string("$h") : tw_string("$k"));
    policy(d);
    return gen_one("grid", d);
}

static struct val *
link_refs(void)
{
    struct val *d = gen_one("parent", tw_string("a"));
    say(d, "child", "b");
    say(d, "parent_ref", "h");
    say(d, "child_refs", "r");
    say(d, "derive", gen_pick("child_refs parent_ref both"));
    if (gen_chance(60))
        say(d, "dangling", gen_pick("keep refuse"));
    if (gen_chance(50))
        say(d, "prefer", gen_pick("parent child"));
    if (gen_chance(50))
        tw_push(d, "orphans", gen_one("into", tw_string("t")));
    return gen_one("link", d);
}

static struct val *
step(void)
{
    switch (gen_below(20)) {
    case 0: case 1: case 2: case 3: case 4: return extract();
    case 5: case 6: return bucket();
    case 7: case 8: return unbucket();
    case 9: case 10: case 11: return embed();
    case 12: case 13: return copy();
    case 14: return whole("move");
    case 15: return whole(gen_pick("union split"));
    case 16: return whole("partition");
    case 17: return gen_chance(70) ? set_id() : grid();
    case 18: return set_id();
    default: return link_refs();
    }
}

struct val *
gen_clash(struct world *w)
{
    struct val *pool[POOL], *plan = tw_doc(), *steps = tw_array();
    tags = 0;
    for (uint32_t i = 0; i < POOL; i++)
        pool[i] = element();
    fill(w, "a", pool, 6);
    fill(w, "b", pool, 5);
    fill_target(w, pool);
    say(plan, "plan", "clash");
    tw_push(plan, "version", tw_int32(1));
    for (uint32_t n = gen_chance(75) ? 1 : 2; n; n--)
        tw_append(steps, step());
    tw_push(plan, "steps", steps);
    return plan;
}
