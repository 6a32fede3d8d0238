/* SPDX-License-Identifier: Apache-2.0 */
/* gen_fields.c - random lists and maps of the fields that unset, rename and cast are about. */
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
    tw_push(d, "in", tw_string(in));
    tw_push(d, "fields", f);
    if (gen_chance(60))
        tw_push(d, "errors", tw_string(gen_pick("refuse keep null drop")));
    if (where)
        tw_push(d, "where", where);
    return d;
}
