/* SPDX-License-Identifier: Apache-2.0 */
/* gen_fields.c - random lists and maps of fields for unset, rename and cast, and paths with stars. */
#include "gen.h"

#include <string.h>

struct val *
gen_words(const char *text)
{
    struct val *a = tw_array();
    for (const char *s = text; *s;) {
        const char *end = strchr(s, ' ');
        size_t n = end ? (size_t)(end - s) : strlen(s);
        tw_append(a, tw_string(tw_text("%.*s", (int)n, s)));
        s += n + (end != NULL);
    }
    return a;
}

/* ---- paths with stars */
static const char *
pattern(void)
{
    if (gen_chance(50))
        return gen_pick("** ** ** l.** e.** e*.** x.** p.**");
    return gen_pick("n* s* * k* **.n **.k* **.s **.l2 l.* e.* e.k* l.e* **.e.* l*.** *.n e*.n *.*");
}

static struct val *
pattern_value(void)
{
    struct val *c;
    switch (gen_below(10)) {
    case 0: return gen_one("$add", gen_pair(tw_string("$$VALUE"), tw_int32(1)));
    case 1: return gen_one("$toUpper", tw_string(gen_pick("$$VALUE $$NAME")));
    case 2: return gen_one("v", tw_string("$$VALUE"));
    case 3: return gen_one("$concat", gen_pair(tw_string("$$NAME"), tw_string(gen_pick("! $s"))));
    case 4: return gen_one("$ifNull", gen_pair(tw_string("$$VALUE"), tw_string(gen_pick("none $n $$NAME"))));
    case 5: return tw_string(gen_pick("$n $$REMOVE $$ROOT.k $$VALUE.k"));
    default:
        c = gen_pair(gen_key(), gen_chance(40) ? tw_array() : tw_null());
        tw_append(c, gen_chance(40) ? tw_doc() : tw_string("x"));
        c = gen_pair(gen_one("$in", gen_pair(tw_string("$$VALUE"), gen_one("$literal", c))),
                     tw_string(gen_pick("$$REMOVE $$REMOVE $k")));
        tw_append(c, tw_string("$$VALUE"));
        return gen_one("$cond", c);
    }
}

static struct val *
name_value(const char *path)
{
    bool star = path[strlen(path) - 1] == '*' && (strlen(path) < 2 || path[strlen(path) - 2] != '*');
    switch (gen_below(5)) {
    case 0: return gen_one("$toUpper", tw_string("$$NAME"));
    case 1: return gen_one("$concat", gen_pair(tw_string("z"), tw_string("$$NAME")));
    case 2: return tw_string(gen_pick("n z kind"));
    default: return star ? tw_string(gen_pick("z* k* *_id n*")) : gen_one("$toLower", tw_string("$$NAME"));
    }
}

static void
add_types(struct val *d, uint32_t percent)
{
    if (gen_chance(percent))
        tw_push(d, "types", gen_words(gen_pick("number string objectId object array int null double")));
    if (gen_chance(50) && tw_get(d, "types"))
        tw_append(tw_get(d, "types"), tw_string(gen_pick("undefined bool long")));
}

void
gen_set_patterns(struct val *d, struct val *fields)
{
    uint32_t n = gen_chance(30) ? 1 + gen_below(2) : 0;
    for (uint32_t i = 0; i < n; i++)
        tw_put(fields, pattern(), pattern_value());
    if (n)
        add_types(d, 40);
}

struct val *
gen_unset(const char *in, struct val *where)
{
    struct val *d = tw_doc(), *list = gen_words(gen_pick("k s l.r e.s l.l2.k"));
    if (gen_chance(40))
        tw_append(list, gen_words("e n"));
    else if (gen_chance(40))
        tw_append(list, tw_string("x"));
    tw_push(d, "in", tw_string(in));
    tw_push(d, "fields", list);
    if (gen_chance(30)) {
        tw_append(list, tw_string(gen_pick("n* s* **.n **.k* **.s **.l2 l.* e.* e.k* l.e* **.e.* *.n e*.n *.*")));
        add_types(d, 40);
    }
    if (where)
        tw_push(d, "where", where);
    return d;
}

struct val *
gen_rename(const char *in, struct val *where)
{
    struct val *d = tw_doc(), *f;
    switch (gen_below(9)) {
    case 0: f = gen_one("k", tw_string("kk")); break;
    case 1: f = gen_one("k", tw_string("r")); tw_push(f, "r", tw_string("k")); break;
    case 2: f = gen_one("e.k", tw_string("e.z")); break;
    case 3: f = gen_one("l.r", tw_string("l.n")); break;
    case 4: f = gen_one("e.k", tw_string(gen_pick("top s"))); break;
    case 5: f = gen_one("s", tw_string("e.z")); break;
    case 6: f = gen_one("l.e.k", tw_string(gen_pick("l.z l.n"))); break;
    case 7:
        f = gen_one("k", tw_string("s"));
        tw_push(f, "n", tw_string("m"));
        tw_push(f, "l.k", tw_string("l.kk"));
        break;
    default: f = gen_one("s", tw_string("n")); tw_push(f, "n", tw_string("x")); break;
    }
    if (gen_chance(35)) {
        const char *path = pattern();
        f = gen_chance(40) ? f : tw_doc();
        tw_put(f, path, name_value(path));
        add_types(d, 40);
    }
    tw_push(d, "in", tw_string(in));
    tw_push(d, "fields", f);
    if (gen_chance(40))
        tw_push(d, "replace", tw_bool(true));
    if (where)
        tw_push(d, "where", where);
    return d;
}

struct val *
gen_cast(const char *in, struct val *where)
{
    struct val *d = tw_doc();
    const char *types = "int long double string bool objectId date int double";
    struct val *f = gen_one(gen_pick("n s k p"), tw_string(gen_pick(types)));
    if (gen_chance(50))
        tw_push(f, gen_pick("l.n l.s e.n e.s l.l2.n x"), tw_string(gen_pick(types)));
    if (gen_chance(20))
        tw_push(f, "t", gen_one(gen_pick("uuid legacy_uuid"), tw_string(gen_pick("csharp java python"))));
    if (gen_chance(35))
        tw_put(f, pattern(), tw_string(gen_pick(types)));
    add_types(d, 25);
    tw_push(d, "in", tw_string(in));
    tw_push(d, "fields", f);
    if (gen_chance(60))
        tw_push(d, "errors", tw_string(gen_pick("refuse keep null drop")));
    if (where)
        tw_push(d, "where", where);
    return d;
}
