/* SPDX-License-Identifier: Apache-2.0 */
/* gen_tree.c - random trees in every form, and their possible errors. */
#include "gen.h"

#include <string.h>

enum { MOST = 400 };
static int32_t up[MOST];    /* parent of each; -1 */
static struct val *id[MOST];
static uint32_t left_of[MOST], right_of[MOST];
static const char *sep; /* of the names in a path */

static const char *const forms[] = {"parent", "children", "ancestors", "path", "embedded", "nested"};

static uint32_t
number_from(uint32_t i, uint32_t n, uint32_t count)
{
    left_of[i] = ++count;
    for (uint32_t k = 0; k < n; k++)
        if (up[k] == (int32_t)i && k != i)
            count = number_from(k, n, count);
    right_of[i] = ++count;
    return count;
}

static struct val *
as_number(uint32_t x)
{
    return gen_chance(70) ? tw_int32((int32_t)x) : gen_chance(50) ? tw_int64(x) : tw_double(x);
}

/* The same key, perhaps in another costume. */
static struct val *
named(uint32_t i)
{
    struct val *v = id[i];
    return v->type == T_INT32 && gen_chance(20) ? tw_double(tw_as_int(v, 0)) : tw_copy(v);
}

static struct val *
root_value(const char *form, uint32_t i)
{
    struct val *list = tw_array();
    switch (gen_below(4)) {
    case 0: return NULL;
    case 1: return tw_null();
    case 2:
        if (!strcmp(form, "parent"))
            return named(i);
        if (!strcmp(form, "path"))
            return tw_string(id[i]->type != T_STRING || !gen_chance(50) ? sep
                             : tw_text("%s%s%s", sep, tw_str(id[i]), sep));
        tw_append(list, named(i));
        return list;
    default: return !strcmp(form, "parent") ? NULL : !strcmp(form, "path") ? tw_string(sep) : list;
    }
}

static struct val *
above(const char *form, uint32_t i)
{
    uint32_t chain[64], n = 0;
    struct val *list = tw_array();
    const char *text = sep;
    if (up[i] < 0)
        return root_value(form, i);
    if (!strcmp(form, "parent"))
        return named((uint32_t)up[i]);
    for (int32_t at = up[i]; at >= 0 && n < 64; at = up[at])
        chain[n++] = (uint32_t)at;
    while (n-- > 0) {
        tw_append(list, named(chain[n]));
        text = id[chain[n]]->type == T_STRING ? tw_text("%s%s%s", text, tw_str(id[chain[n]]), sep) : text;
    }
    return !strcmp(form, "path") ? tw_string(text) : list;
}

static struct val *
below(uint32_t i, uint32_t n)
{
    struct val *list = tw_array();
    for (uint32_t k = 0; k < n; k++) {
        if (up[k] == (int32_t)i)
            tw_append(list, named(k));
        if (up[k] == (int32_t)i && gen_chance(3))
            tw_append(list, named(k));
    }
    return list->n ? list : gen_chance(50) ? list : gen_chance(50) ? NULL : tw_null();
}

/* Who is where, and sometimes a circle. */
static void
make_tree(uint32_t n, bool strings, uint32_t damage)
{
    for (uint32_t i = 0; i < n; i++) {
        up[i] = i == 0 || gen_chance(20) ? -1 : (int32_t)gen_below(i);
        id[i] = strings || gen_chance(30) ? tw_string(tw_text("n%u", i)) : tw_int32((int32_t)i);
        if (strings && gen_chance(damage) && gen_chance(30))
            id[i] = gen_chance(50) ? tw_string(tw_text("a%s%u", gen_pick(", /"), i)) : gen_key();
        if (i && gen_chance(damage) && gen_chance(15))
            id[i] = tw_copy(id[gen_below(i)]);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (up[i] < 0)
            count = number_from(i, n, count);
}

static void
harm(struct val *d, const char *form, const char *name, uint32_t n)
{
    struct val *v = tw_get(d, name), *list;
    switch (gen_below(6)) {
    case 0: tw_put(d, name, gen_any(1)); break;
    case 1: tw_put(d, name, gen_chance(50) ? gen_key() : named(gen_below(n))); break;
    case 2:
        list = tw_array();
        tw_append(list, named(gen_below(n)));
        if (gen_chance(50))
            tw_append(list, gen_chance(50) ? gen_key() : named(gen_below(n)));
        tw_put(d, name, list);
        break;
    case 3:
        if (v)
            tw_cut(d, (uint32_t)tw_index(d, name));
        break;
    case 4: tw_put(d, name, tw_string(gen_pick(", ,n0, ,n1,n2, n0 ,,n0, ,n0"))); break;
    default: tw_put(d, name, as_number(gen_below(2 * n))); break;
    }
    if (!strcmp(form, "nested") && gen_chance(70))
        tw_put(d, name, as_number(gen_below(2 * n + 2)));
}

static struct val *
node(const char *form, const char *const *name, uint32_t i, uint32_t n)
{
    struct val *d = tw_doc(), *v;
    bool late = gen_chance(30);
    if (!late)
        tw_push(d, "_id", id[i]);
    if (gen_chance(40))
        tw_push(d, "n", tw_int32((int32_t)gen_below(3)));
    if (!strcmp(form, "nested")) {
        tw_push(d, name[0], as_number(left_of[i]));
        tw_push(d, name[1], as_number(right_of[i]));
    } else {
        v = !strcmp(form, "children") ? below(i, n) : above(form, i);
        if (v)
            tw_push(d, name[0], v);
    }
    if (late)
        tw_push(d, "_id", id[i]);
    if (gen_chance(40))
        tw_push(d, "t", tw_string(gen_pick("car truck")));
    return d;
}

/* A node with all below it; some have no _id of their own. */
static struct val *
nest(const char *name, uint32_t i, uint32_t n, uint32_t damage, const char *other)
{
    struct val *d = tw_doc(), *list = tw_array();
    if (up[i] < 0 || gen_chance(70))
        tw_push(d, "_id", id[i]);
    if (gen_chance(40))
        tw_push(d, "n", tw_int32((int32_t)gen_below(3)));
    for (uint32_t k = 0; k < n; k++)
        if (up[k] == (int32_t)i)
            tw_append(list, nest(name, k, n, damage, other));
    if (list->n || gen_chance(50))
        tw_push(d, name, list);
    else if (gen_chance(30))
        tw_push(d, name, tw_null());
    if (gen_chance(40))
        tw_push(d, "t", tw_string(gen_pick("car truck")));
    if (gen_chance(damage) && gen_chance(20))
        tw_put(d, name, gen_any(1));
    if (gen_chance(damage) && gen_chance(10))
        tw_append(list, gen_any(1));
    if (other && gen_chance(20))
        tw_push(d, other, as_number(gen_below(50)));
    return d;
}

static void
fill(struct world *w, const char *coll, const char *form, const char *const *name, const char *other)
{
    struct coll *c = tw_coll_named(w, w->database, coll, true);
    uint32_t n = gen_chance(6) ? 60 + gen_below(MOST - 60) : 1 + gen_below(12), damage = gen_chance(50) ? 0 : 12;
    make_tree(n, !strcmp(form, "path") || gen_chance(40), damage);
    uint32_t *order = tw_new((n + 1) * sizeof *order);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = gen_below(i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; i < n && !strcmp(form, "embedded"); i++)
        if (up[order[i]] < 0)
            tw_add(&c->docs, nest(name[0], order[i], n, damage, other));
    for (uint32_t i = 0; i < n && strcmp(form, "embedded"); i++) {
        struct val *d = node(form, name, order[i], n);
        if (gen_chance(damage))
            harm(d, form, name[gen_below(!strcmp(form, "nested") ? 2 : 1)], n);
        if (other && gen_chance(20))
            tw_push(d, other, as_number(gen_below(50)));
        if (gen_chance(damage) && gen_chance(10))
            tw_push(d, "n", tw_int32(1));
        tw_add(&c->docs, d);
    }
}

struct val *
gen_tree(struct world *w, const char *coll, struct val *where)
{
    struct val *d = tw_doc(), *names = tw_doc();
    const char *form = forms[gen_below(6)], *to_form = forms[gen_below(!strcmp(form, "embedded") ? 4 : 6)];
    const char *name[2] = {form, NULL}, *other = NULL;
    bool fresh = !coll || gen_chance(85), paths = !strcmp(form, "path") || !strcmp(to_form, "path");
    sep = paths && gen_chance(25) ? "/" : ",";
    if (!strcmp(form, "nested")) {
        name[0] = "left";
        name[1] = gen_chance(80) ? "right" : "rgt";
        if (strcmp(name[1], "right"))
            tw_push(names, "right", tw_string(name[1]));
    } else if (gen_chance(30) || !fresh) {
        name[0] = fresh ? gen_pick("p up x") : gen_pick("r k p l e");
        tw_push(names, form, tw_string(name[0]));
    }
    if (strcmp(form, to_form) && strcmp(to_form, "nested") && gen_chance(30))
        tw_push(names, to_form, tw_string(gen_pick("p q n t")));
    if (gen_chance(15))
        other = !strcmp(to_form, "nested") ? "left" : to_form;
    if (other && (!strcmp(other, name[0]) || (name[1] && !strcmp(other, name[1]))))
        other = NULL;
    if (fresh) {
        coll = "nodes";
        while (tw_coll_named(w, w->database, coll, false))
            coll = tw_text("%ss", coll);
        fill(w, coll, form, name, other);
    }
    tw_push(d, "in", tw_string(coll));
    tw_push(d, "form", tw_string(form));
    tw_push(d, "to_form", tw_string(to_form));
    if (names->n)
        tw_push(d, "names", names);
    if (*sep != ',' || (paths && gen_chance(5)))
        tw_push(d, "separator", tw_string(sep));
    if (where)
        tw_push(d, "where", where);
    if (other ? gen_chance(80) : gen_chance(25))
        tw_push(d, "replace", tw_bool(true));
    return d;
}
