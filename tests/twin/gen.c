/* SPDX-License-Identifier: Apache-2.0 */
/* gen.c - random nasty data.
 *
 * Few distinct keys, each with many types (int32, int64, double, decimal), so that matches, orphans, duplicates and
 * dangling references all happen; arrays where a scalar is expected and the reverse; documents between scalars and
 * nulls; existing fields; duplicate names. A seed has a degree of nastiness, because if everything is broken,
 * everything is refused and nothing is tested. */
#include "gen.h"

#include <bson/bson.h>
#include <math.h>
#include <string.h>

static uint64_t state;
static uint32_t nasty; /* 0..3 */
static uint32_t keys;  /* distinct keys of this seed */

static uint64_t
draw(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t
gen_below(uint32_t n)
{
    return (uint32_t)(draw() >> 33) % n;
}

bool
gen_chance(uint32_t percent)
{
    return gen_below(100) < percent;
}

static bool
evil(uint32_t percent)
{
    return gen_below(300) < percent * nasty;
}

const char *
gen_pick(const char *list)
{
    uint32_t n = 1, i;
    for (const char *s = list; *s; s++)
        n += *s == ' ';
    i = gen_below(n);
    const char *s = list;
    while (i--)
        s = strchr(s, ' ') + 1;
    const char *end = strchr(s, ' ');
    return tw_text("%.*s", (int)(end ? (size_t)(end - s) : strlen(s)), s);
}

struct val *
gen_decimal(const char *text)
{
    bson_decimal128_t d;
    uint8_t raw[16];
    bson_decimal128_from_string(text, &d);
    memcpy(raw, &d.low, 8);
    memcpy(raw + 8, &d.high, 8);
    return tw_leaf(T_DECIMAL, raw, 16);
}

static struct val *
number(int64_t x)
{
    switch (gen_below(nasty ? 6 : 3)) {
    case 0: case 1: case 2: return x == (int32_t)x ? tw_int32((int32_t)x) : tw_int64(x);
    case 3: return tw_int64(x);
    case 4: return tw_double(x || gen_chance(50) ? (double)x : -0.0);
    default: return gen_decimal(tw_text(gen_chance(50) ? "%lld" : "%lld.0", (long long)x));
    }
}

static struct val *
oid(uint8_t last)
{
    uint8_t raw[12] = {0x5f, 0x5e, 0x10, 0, 1, 2, 3, 4, 5, 6, 7, last};
    return tw_leaf(T_OID, raw, 12);
}

static struct val *
odd_key(void)
{
    static const int64_t date = 1577836800000;
    struct val *d = tw_doc();
    switch (gen_below(10)) {
    case 0: return gen_chance(50) ? tw_double(NAN) : gen_decimal("NaN");
    case 1: return gen_chance(50) ? tw_double(0.5) : gen_decimal("0.50");
    case 2: return gen_chance(50) ? tw_double(0.1) : gen_decimal("0.1");
    case 3: return gen_chance(50) ? tw_int64(9007199254740993) : tw_double(9007199254740992.0);
    case 4: tw_push(d, "a", number(1)); return d;
    case 5: return tw_leaf(T_DATE, &date, 8);
    case 6: return tw_leaf(T_BINARY, "\2\0\0\0\0ab", 7);
    case 7: return tw_bool(gen_chance(50));
    case 8: return tw_leaf(T_SYMBOL, "\2\0\0\0x", 6);
    default: return tw_leaf(T_TIMESTAMP, &date, 8);
    }
}

struct val *
gen_key(void)
{
    uint32_t i = gen_below(keys);
    if (evil(8))
        return odd_key();
    switch (i) {
    case 0: return number(1);
    case 1: return tw_string("x");
    case 2: return oid(1);
    case 3: return number(2);
    case 4: return number(0);
    case 5: return tw_string("y");
    case 6: return oid(2);
    default: return number(3 + i); /* the _id of document i - 7 */
    }
}

static struct val *
reference(uint32_t arrays)
{
    if (gen_chance(arrays) || evil(15)) {
        struct val *a = tw_array();
        for (uint32_t n = gen_below(4); n; n--) {
            struct val *inner = tw_array();
            if (evil(6)) {
                tw_append(inner, gen_key());
                tw_append(a, inner);
            } else {
                tw_append(a, evil(6) ? tw_null() : gen_key());
            }
        }
        return a;
    }
    if (evil(8))
        return gen_chance(70) ? tw_null() : tw_leaf(T_UNDEFINED, NULL, 0);
    return evil(6) ? gen_any(1) : gen_key();
}

static struct val *
text(void)
{
    return evil(12) ? gen_any(1) : tw_string(gen_pick("red green Blue 17 -3 4.5 x y"));
}

static struct val *
amount(void)
{
    if (evil(12))
        return gen_any(1);
    if (evil(10))
        return gen_chance(50) ? tw_double(NAN) : gen_decimal("1E+3");
    return number((int64_t)gen_below(5) - 1);
}

static struct val *element(int depth);

static struct val *
list(int depth)
{
    struct val *a = tw_array();
    for (uint32_t n = gen_below(4); n; n--)
        tw_append(a, evil(10) ? gen_any(0) : element(depth));
    if (evil(4))
        for (uint32_t i = 0; i < a->n; i++)
            a->f[i].name = tw_text("%u", i * 3 + 1);
    return a;
}

/* A document inside another. */
static struct val *
element(int depth)
{
    struct val *d = tw_doc();
    if (gen_chance(40))
        tw_push(d, "_id", evil(10) ? gen_any(0) : gen_chance(50) ? gen_key() : tw_int32((int32_t)gen_below(60)));
    if (gen_chance(70))
        tw_push(d, "r", reference(15));
    if (gen_chance(60))
        tw_push(d, "k", reference(10));
    if (gen_chance(60))
        tw_push(d, "n", amount());
    if (gen_chance(50))
        tw_push(d, "s", text());
    if (gen_chance(30))
        tw_push(d, "id", gen_key());
    if (depth > 0 && gen_chance(40))
        tw_push(d, "l2", list(depth - 1));
    if (depth > 0 && gen_chance(40))
        tw_push(d, "e", element(depth - 1));
    if (evil(5))
        tw_push(d, "z", gen_any(0));
    return d;
}

struct val *
gen_one(const char *name, struct val *v)
{
    struct val *d = tw_doc();
    tw_push(d, name, v);
    return d;
}

struct val *
gen_pair(struct val *a, struct val *b)
{
    struct val *l = tw_array();
    tw_append(l, a);
    tw_append(l, b);
    return l;
}

struct val *
gen_any(int depth)
{
    struct val *a;
    switch (gen_below(depth > 0 ? 12 : 8)) {
    case 0: return tw_null();
    case 1: return tw_leaf(T_UNDEFINED, NULL, 0);
    case 2: return tw_string("");
    case 3: return number(3);
    case 4: return tw_leaf(gen_chance(50) ? T_MINKEY : T_MAXKEY, NULL, 0);
    case 5: return tw_leaf(T_REGEX, "a\0i", 4);
    case 6: return odd_key();
    case 7: return gen_chance(50) ? tw_array() : tw_doc();
    case 8: return element(depth - 1);
    case 9: return list(depth - 1);
    default:
        a = tw_array();
        tw_append(a, list(depth - 1));
        tw_append(a, gen_key());
        return a;
    }
}

static struct val *
document(uint32_t no)
{
    struct val *d = tw_doc(), *id;
    static const char *const names[] = {"k", "r", "p", "n", "s", "t", "l", "e", "x"};
    id = gen_chance(60) && no < keys && no < 7 ? NULL : tw_int32((int32_t)(10 + no));
    if (!id) { /* the key with this number, so that references find it and ids stay unique */
        switch (no) {
        case 0: id = number(1); break;
        case 1: id = tw_string("x"); break;
        case 2: id = oid(1); break;
        case 3: id = number(2); break;
        case 4: id = number(0); break;
        case 5: id = tw_string("y"); break;
        default: id = oid(2); break;
        }
    }
    if (evil(5))
        id = gen_key();
    if (!evil(2))
        tw_push(d, "_id", id);
    uint32_t first = gen_below(9);
    for (uint32_t i = 0; i < 9; i++) {
        const char *f = names[(first + i) % 9];
        if (gen_chance(35))
            continue;
        switch (*f) {
        case 'k': tw_push(d, f, reference(5)); break;
        case 'r': tw_push(d, f, reference(20)); break;
        case 'p': tw_push(d, f, reference(75)); break;
        case 'n': tw_push(d, f, amount()); break;
        case 's': tw_push(d, f, text()); break;
        case 't': tw_push(d, f, evil(20) ? gen_any(0) : gen_chance(80) ? tw_string(gen_pick("car truck bus"))
                                                                     : number(1)); break;
        case 'l': tw_push(d, f, evil(15) ? gen_any(1) : list(2)); break;
        case 'e': tw_push(d, f, evil(15) ? gen_any(1) : element(2)); break;
        default: tw_push(d, f, gen_any(2));
        }
    }
    if (evil(2) && d->n > 1)
        tw_push(d, d->f[1 + gen_below(d->n - 1)].name, gen_key());
    return d;
}

struct val *
gen_seed(uint64_t seed, const char *only, struct world *w)
{
    static const char *const names[] = {"a", "b", "c", "d.e", "f g"};
    state = seed * 0x2545f4914f6cdd1du + 12345;
    nasty = gen_below(4);
    keys = 3 + gen_below(5);
    memset(w, 0, sizeof *w);
    w->database = "t";
    if (only && !strcmp(only, "clash"))
        return gen_clash(w);
    uint32_t colls = 3 + gen_below(3);
    bool many = gen_chance(2); /* enough documents for blocks, ranges and threads */
    if (many)
        keys = 20 + gen_below(100);
    for (uint32_t i = 0; i < colls; i++) {
        struct coll *c = tw_coll_named(w, "t", names[i], true);
        for (uint32_t n = gen_chance(8) ? 0 : 1 + gen_below(many ? 300 : 8), k = 0; k < n; k++) {
            tw_add(&c->docs, document(k));
            if (evil(4))
                tw_add(&c->docs, tw_copy(c->docs.v[c->docs.n - 1]));
        }
    }
    return gen_plan(w, only);
}
