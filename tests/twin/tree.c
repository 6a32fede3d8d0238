/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - nodes of trees: every question is answered by reading all documents again. */
#include "twin.h"

#include <string.h>

struct node {
    struct val *doc;
    bool part;    /* a node */
    bool refused; /* alone, or because it is out */
    bool out;     /* of the tree, with all that is below it */
    int parent;   /* -1: a root */
    int64_t left, right;
    const char *why;
};
struct trees {
    struct node *node;
    uint32_t n;
    const char *form, *to_form, *sep, *old[2], *made[2];
    uint32_t nold, nmade;
};

static void
field_names(struct world *w, const char *form, const char **name, uint32_t *n)
{
    struct val *names = tw_arg(w, "names");
    const char *own[2] = {form, NULL};
    *n = 1;
    if (!strcmp(form, "nested")) {
        own[0] = "left";
        own[1] = "right";
        *n = 2;
    }
    for (uint32_t i = 0; i < *n; i++) {
        struct val *other = names ? tw_get(names, own[i]) : NULL;
        name[i] = other ? tw_str(other) : own[i];
    }
}

static struct val *
id_of(const struct trees *t, uint32_t i)
{
    struct val *id = tw_get(t->node[i].doc, "_id");
    return tw_is_nullish(id) ? NULL : id;
}

static int
find(const struct trees *t, const struct val *key)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->node[i].part && id_of(t, i) && key && !tw_compare(id_of(t, i), key))
            return (int)i;
    return -1;
}

static void
fault(struct node *n, bool out, const char *why)
{
    n->refused = true;
    n->out |= out;
    n->why = why;
}

static void
names_parent(struct trees *t, uint32_t i, struct val *key)
{
    int p = tw_is_nullish(key) ? -1 : find(t, key);
    if (p < 0)
        fault(&t->node[i], true, "parent not there");
    t->node[i].parent = p == (int)i ? -1 : p;
}

/* The names of a path; false: it is none. */
static bool
split_path(const struct val *v, char sep, struct vals *names)
{
    const char *s = tw_str(v);
    size_t n = s ? strlen(s) : 0;
    if (!s || !n || s[0] != sep || s[n - 1] != sep || v->len != n + 5)
        return false;
    for (const char *at = s + 1; *at;) {
        const char *end = strchr(at, sep);
        if (end == at)
            return false;
        tw_add(names, tw_string(tw_text("%.*s", (int)(end - at), at)));
        at = end + 1;
    }
    return true;
}

/* The ids that a document names above itself, root first; false: it says so in a wrong way. */
static bool
above_said(const struct trees *t, uint32_t i, struct vals *out)
{
    struct val *v = tw_get(t->node[i].doc, t->old[0]);
    if (tw_is_nullish(v))
        return true;
    if (!strcmp(t->form, "path"))
        return split_path(v, *t->sep, out);
    if (v->type != T_ARRAY)
        return false;
    for (uint32_t k = 0; k < v->n; k++)
        tw_add(out, v->f[k].v);
    return true;
}

static void
read_up(struct trees *t, uint32_t i)
{
    struct val *v = tw_get(t->node[i].doc, t->old[0]);
    struct vals above = {0};
    if (!strcmp(t->form, "parent")) {
        if (!tw_is_nullish(v) && v->type == T_ARRAY)
            fault(&t->node[i], true, "an array");
        else if (!tw_is_nullish(v))
            names_parent(t, i, v);
    } else if (!above_said(t, i, &above)) {
        fault(&t->node[i], true, "not the form");
    } else if (above.n) {
        names_parent(t, i, above.v[above.n - 1]);
    }
}

static void
read_children(struct trees *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct val *v = t->node[i].part ? tw_get(t->node[i].doc, t->old[0]) : NULL, *list = v;
        if (tw_is_nullish(v))
            continue;
        if (v->type != T_ARRAY) {
            fault(&t->node[i], false, "no list");
            list = tw_array();
            tw_append(list, v);
        }
        for (uint32_t k = 0; k < list->n; k++) {
            int c = tw_is_nullish(list->f[k].v) ? -1 : find(t, list->f[k].v);
            if (c < 0)
                fault(&t->node[i], false, "child not there");
            else if (t->node[c].parent == -1)
                t->node[c].parent = (int)i;
            else if (t->node[c].parent != (int)i) {
                fault(&t->node[i], true, "two parents");
                fault(&t->node[t->node[c].parent], true, "two parents");
            }
        }
    }
    for (uint32_t i = 0; i < t->n; i++)
        if (t->node[i].parent == (int)i)
            t->node[i].parent = -1;
}

static bool
is_end(const struct val *v)
{
    return tw_is_number(v) && tw_compare(v, tw_double(0.0 / 0.0));
}

static void
read_nested(struct trees *t)
{
    bool *is = tw_new(t->n + 1);
    for (uint32_t i = 0; i < t->n; i++) {
        struct val *l = tw_get(t->node[i].doc, t->old[0]), *r = tw_get(t->node[i].doc, t->old[1]);
        is[i] = t->node[i].part && l && r && is_end(l) && is_end(r) && tw_compare(l, r) < 0;
        if (t->node[i].part && !is[i])
            fault(&t->node[i], true, "no interval");
    }
    for (uint32_t i = 0; i < t->n; i++) {
        struct val *l = tw_get(t->node[i].doc, t->old[0]), *r = tw_get(t->node[i].doc, t->old[1]), *best = NULL;
        for (uint32_t k = 0; is[i] && k < t->n; k++) {
            struct val *a = tw_get(t->node[k].doc, t->old[0]), *b = tw_get(t->node[k].doc, t->old[1]);
            if (!is[k] || k == i)
                continue;
            bool apart = tw_compare(b, l) < 0 || tw_compare(r, a) < 0;
            bool inside = tw_compare(a, l) < 0 && tw_compare(r, b) < 0;
            bool around = tw_compare(l, a) < 0 && tw_compare(b, r) < 0;
            if (!apart && !inside && !around)
                fault(&t->node[i], true, "overlap");
            if (inside && (!best || tw_compare(a, best) > 0)) {
                best = a;
                t->node[i].parent = (int)k;
            }
        }
    }
}

/* All that has somebody above it who is out, or never comes to an end. */
static void
refuse_below(struct trees *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        int at = (int)i;
        uint32_t steps = 0;
        while (t->node[i].part && at >= 0 && !t->node[at].out && steps++ <= t->n)
            at = t->node[at].parent;
        if (t->node[i].part && at >= 0) {
            t->node[i].refused = true;
            t->node[i].why = t->node[i].why ? t->node[i].why : "below";
        }
    }
    /* those out are now all whose way ends badly; kept apart until here so that every way was judged alike */
    for (uint32_t i = 0; i < t->n; i++) {
        int at = (int)i;
        uint32_t steps = 0;
        while (at >= 0 && !t->node[at].out && steps++ <= t->n)
            at = t->node[at].parent;
        if (at >= 0 && t->node[i].part)
            t->node[i].left = -1; /* marked */
    }
    for (uint32_t i = 0; i < t->n; i++)
        t->node[i].out |= t->node[i].left == -1;
}

static void
way_up(const struct trees *t, uint32_t i, struct vals *out)
{
    struct vals up = {0};
    for (int at = t->node[i].parent; at >= 0; at = t->node[at].parent)
        tw_add(&up, id_of(t, (uint32_t)at));
    for (uint32_t k = up.n; k-- > 0;)
        tw_add(out, up.v[k]);
}

static void
check_above(struct trees *t, uint32_t i)
{
    struct vals said = {0}, is = {0};
    above_said(t, i, &said);
    way_up(t, i, &is);
    bool same = said.n == is.n;
    for (uint32_t k = 0; same && k < said.n; k++)
        same = !tw_compare(said.v[k], is.v[k]);
    if (!is.n && said.n == 1) /* itself */
        same = true;
    if (!same)
        fault(&t->node[i], false, "not the way up");
}

/* ---- writing */
static bool
goes_before(const struct trees *t, uint32_t a, uint32_t b)
{
    struct val *x = tw_get(t->node[a].doc, t->made[0]), *y = tw_get(t->node[b].doc, t->made[0]);
    bool has_x = x && is_end(x), has_y = y && is_end(y);
    if (has_x != has_y)
        return has_x;
    int c = has_x ? tw_compare(x, y) : 0;
    return c ? c < 0 : a < b;
}

static int64_t
number(struct trees *t, uint32_t i, int64_t count)
{
    bool *done = tw_new(t->n + 1);
    t->node[i].left = ++count;
    for (;;) {
        int next = -1;
        for (uint32_t k = 0; k < t->n; k++)
            if (t->node[k].part && !t->node[k].out && t->node[k].parent == (int)i && !done[k] &&
                (next < 0 || goes_before(t, k, (uint32_t)next)))
                next = (int)k;
        if (next < 0)
            break;
        done[next] = true;
        count = number(t, (uint32_t)next, count);
    }
    t->node[i].right = ++count;
    return count;
}

/* NULL: refused. */
static struct val *
field_value(struct trees *t, uint32_t i, uint32_t no)
{
    struct val *list = tw_array();
    struct vals up = {0};
    const char *text = t->sep;
    if (!strcmp(t->to_form, "parent"))
        return t->node[i].parent < 0 ? tw_null() : tw_copy(id_of(t, (uint32_t)t->node[i].parent));
    if (!strcmp(t->to_form, "nested")) {
        int64_t x = no ? t->node[i].right : t->node[i].left;
        return tw_int32((int32_t)x);
    }
    if (!strcmp(t->to_form, "children")) {
        for (uint32_t k = 0; k < t->n; k++)
            if (t->node[k].part && !t->node[k].out && t->node[k].parent == (int)i)
                tw_append(list, tw_copy(id_of(t, k)));
        return list;
    }
    way_up(t, i, &up);
    for (uint32_t k = 0; k < up.n; k++) {
        const char *s = up.v[k]->type == T_STRING ? tw_str(up.v[k]) : NULL;
        tw_append(list, tw_copy(up.v[k]));
        if (!strcmp(t->to_form, "path") && (!s || !*s || strchr(s, *t->sep)))
            return NULL;
        text = s ? tw_text("%s%s%s", text, s, t->sep) : text;
    }
    return !strcmp(t->to_form, "path") ? tw_string(text) : list;
}

static void
write_one(struct world *w, struct trees *t, uint32_t i, struct vals *out)
{
    struct node *n = &t->node[i];
    struct val *now = tw_copy(n->doc);
    for (uint32_t k = 0; k < t->nold; k++)
        while (tw_index(now, t->old[k]) >= 0)
            tw_cut(now, (uint32_t)tw_index(now, t->old[k]));
    for (uint32_t k = 0; k < t->nmade && !n->refused; k++) {
        struct val *v = field_value(t, i, k);
        if (!v)
            fault(n, false, "an id that cannot be in a path");
        else if (tw_get(now, t->made[k]) && !tw_flag(w, "replace"))
            fault(n, false, "exists already");
        else
            tw_put(now, t->made[k], v);
    }
    if (!n->refused && tw_has_duplicates(n->doc) && !tw_same_bytes(n->doc, now))
        fault(n, false, "duplicate names");
    if (!n->refused)
        tw_add(out, now);
}

/* ---- to embedded: the documents of a tree become one */
static struct val *
whole(const struct trees *t, uint32_t i)
{
    struct val *now = tw_copy(t->node[i].doc), *list = tw_array();
    for (uint32_t k = 0; k < t->nold; k++)
        while (tw_index(now, t->old[k]) >= 0)
            tw_cut(now, (uint32_t)tw_index(now, t->old[k]));
    for (uint32_t k = 0; k < t->n; k++)
        if (t->node[k].part && !t->node[k].out && t->node[k].parent == (int)i)
            tw_append(list, whole(t, k));
    tw_put(now, t->made[0], list);
    return now;
}

static void
write_whole(struct world *w, struct trees *t, struct coll *c)
{
    struct vals out = {0};
    for (uint32_t i = 0; i < t->n; i++) {
        struct node *n = &t->node[i];
        if (n->part && n->out)
            n->refused = true;
        if (n->refused)
            tw_refuse(w, c, n->doc, n->why ? n->why : "below");
        else if (!n->part)
            tw_add(&out, n->doc);
        else if (n->parent < 0)
            tw_add(&out, whole(t, i));
    }
    c->docs = out;
}

/* Who is refused takes all below along, so all that can be wrong is looked for before. */
static void
all_faults(struct world *w, struct trees *t)
{
    bool says = !strcmp(t->form, "ancestors") || !strcmp(t->form, "path");
    for (uint32_t i = 0; i < t->n; i++) {
        struct node *n = &t->node[i];
        bool is_old = !strcmp(t->made[0], t->old[0]) || (t->nold == 2 && !strcmp(t->made[0], t->old[1]));
        if (n->part && tw_get(n->doc, t->made[0]) && !is_old && !tw_flag(w, "replace"))
            fault(n, true, "exists already");
        if (n->part && tw_has_duplicates(n->doc))
            fault(n, true, "duplicate names");
        n->out |= n->part && n->refused;
    }
    refuse_below(t);
    for (uint32_t i = 0; i < t->n && says; i++)
        if (t->node[i].part && !t->node[i].out)
            check_above(t, i);
    for (uint32_t i = 0; i < t->n; i++)
        t->node[i].out |= t->node[i].part && t->node[i].refused;
    refuse_below(t);
}

/* ---- from embedded */
struct inside {
    struct val *doc, *id;
    uint32_t tree, index;
    int parent;
};
struct insides {
    struct inside *in;
    uint32_t n, cap;
};

static bool
collect(struct world *w, const struct trees *t, const struct coll *c, struct insides *all, struct val *d, uint32_t tree,
        int parent, uint32_t index)
{
    if (all->n == all->cap) {
        struct inside *more = tw_new((all->cap * 2 + 16) * sizeof *more);
        if (all->n)
            memcpy(more, all->in, all->n * sizeof *more);
        all->in = more;
        all->cap = all->cap * 2 + 16;
    }
    int me = (int)all->n;
    struct val *id = tw_get(d, "_id"), *list = tw_get(d, t->old[0]);
    all->in[all->n++] = (struct inside){d, id, tree, index, parent};
    if (parent >= 0 && !id) {
        struct val *pos = tw_array(), *root;
        int32_t way[64];
        uint32_t n = 0;
        int at = me;
        for (; all->in[at].parent >= 0; at = all->in[at].parent) {
            if (n == 64) {
                tw_unclear(w, "too deep for the twin");
                return false;
            }
            way[n++] = (int32_t)all->in[at].index;
        }
        root = all->in[at].id;
        while (n-- > 0)
            tw_append(pos, tw_int64(way[n]));
        all->in[me].id = tw_new_id(c->ns, c->ns, root, tw_string(t->old[0]), pos, true);
    } else if (tw_is_nullish(id) || tw_bad_id(id)) {
        return false;
    }
    if (tw_is_nullish(list))
        return true;
    if (list->type != T_ARRAY)
        return false;
    for (uint32_t k = 0; k < list->n; k++)
        if (list->f[k].v->type != T_DOC || !collect(w, t, c, all, list->f[k].v, tree, me, k))
            return false;
    return true;
}

static struct val *
inside_value(const struct trees *t, const struct insides *all, uint32_t i)
{
    struct val *list = tw_array();
    struct vals up = {0};
    const char *text = t->sep;
    if (!strcmp(t->to_form, "parent"))
        return all->in[i].parent < 0 ? tw_null() : tw_copy(all->in[all->in[i].parent].id);
    if (!strcmp(t->to_form, "children")) {
        for (uint32_t k = i; k < all->n; k++)
            if (all->in[k].parent == (int)i && k != i)
                tw_append(list, tw_copy(all->in[k].id));
        return list;
    }
    for (int at = all->in[i].parent; at >= 0; at = all->in[at].parent)
        tw_add(&up, all->in[at].id);
    for (uint32_t k = up.n; k-- > 0;) {
        const char *s = up.v[k]->type == T_STRING ? tw_str(up.v[k]) : NULL;
        tw_append(list, tw_copy(up.v[k]));
        if (!strcmp(t->to_form, "path") && (!s || !*s || strchr(s, *t->sep)))
            return NULL;
        text = s ? tw_text("%s%s%s", text, s, t->sep) : text;
    }
    return !strcmp(t->to_form, "path") ? tw_string(text) : list;
}

static struct val *
unfolded(struct world *w, const struct trees *t, const struct insides *all, uint32_t i)
{
    struct val *now = tw_copy(all->in[i].doc), *v = inside_value(t, all, i);
    if (!v || tw_has_duplicates(all->in[i].doc))
        return NULL;
    if (tw_index(now, t->old[0]) >= 0)
        tw_cut(now, (uint32_t)tw_index(now, t->old[0]));
    if (!tw_get(now, "_id"))
        tw_insert(now, 0, "_id", tw_copy(all->in[i].id));
    if (tw_get(now, t->made[0]) && !tw_flag(w, "replace"))
        return NULL;
    tw_put(now, t->made[0], v);
    return now;
}

static void
unfold(struct world *w, struct trees *t, struct coll *c)
{
    struct insides all = {0};
    struct vals out = {0}, *made = tw_new((t->n + 1) * sizeof *made);
    bool *bad = tw_new(t->n + 1), *clash = tw_new(t->n + 1);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t before = all.n;
        if (!t->node[i].part)
            continue;
        bad[i] = !collect(w, t, c, &all, t->node[i].doc, i, -1, 0);
        for (uint32_t k = before; k < all.n && !bad[i]; k++) {
            struct val *v = unfolded(w, t, &all, k);
            bad[i] = !v;
            if (v)
                tw_add(&made[i], v);
        }
        all.n = bad[i] ? before : all.n;
    }
    for (uint32_t a = 0; a < all.n; a++) {
        for (uint32_t b = 0; b < all.n; b++)
            clash[all.in[a].tree] |= a != b && !tw_compare(all.in[a].id, all.in[b].id);
        for (uint32_t i = 0; i < t->n; i++)
            clash[all.in[a].tree] |= !t->node[i].part && !t->node[i].refused && tw_get(t->node[i].doc, "_id") &&
                                     !tw_compare(tw_get(t->node[i].doc, "_id"), all.in[a].id);
    }
    for (uint32_t i = 0; i < t->n; i++) {
        if (bad[i] || clash[i] || t->node[i].refused)
            tw_refuse(w, c, t->node[i].doc, clash[i] ? "two of one _id" : "not the form");
        else if (!t->node[i].part)
            tw_add(&out, t->node[i].doc);
        for (uint32_t k = 0; k < made[i].n && !bad[i] && !clash[i]; k++)
            tw_add(&out, made[i].v[k]);
    }
    c->docs = out;
}

void
tw_step_tree(struct world *w)
{
    struct coll *c = tw_coll(w, tw_arg(w, "in"), false);
    struct trees t = {.n = c->docs.n, .form = tw_word(w, "form", ""), .to_form = tw_word(w, "to_form", ""),
                      .sep = tw_word(w, "separator", ",")};
    struct vals out = {0};
    int64_t count = 0;
    t.node = tw_new((t.n + 1) * sizeof *t.node);
    field_names(w, t.form, t.old, &t.nold);
    field_names(w, t.to_form, t.made, &t.nmade);
    for (uint32_t i = 0; i < t.n; i++) {
        struct node *n = &t.node[i];
        *n = (struct node){.doc = c->docs.v[i], .parent = -1};
        if (tw_query(w, tw_arg(w, "where"), n->doc, &n->part)) {
            n->part = false;
            fault(n, false, "where fails");
        }
    }
    if (!strcmp(t.form, "embedded")) {
        unfold(w, &t, c);
        return;
    }
    for (uint32_t i = 0; i < t.n; i++) {
        if (t.node[i].part && !id_of(&t, i))
            fault(&t.node[i], true, "no _id");
        for (uint32_t k = 0; k < t.n; k++)
            if (k != i && t.node[i].part && t.node[k].part && id_of(&t, i) && id_of(&t, k) &&
                !tw_compare(id_of(&t, i), id_of(&t, k)))
                fault(&t.node[i], true, "two of one _id");
    }
    if (!strcmp(t.form, "nested"))
        read_nested(&t);
    else if (!strcmp(t.form, "children"))
        read_children(&t);
    for (uint32_t i = 0; i < t.n && strcmp(t.form, "nested") && strcmp(t.form, "children"); i++)
        if (t.node[i].part)
            read_up(&t, i);
    if (!strcmp(t.to_form, "embedded")) {
        all_faults(w, &t);
        write_whole(w, &t, c);
        return;
    }
    refuse_below(&t);
    for (uint32_t i = 0; i < t.n; i++)
        if (t.node[i].part && !t.node[i].out && (!strcmp(t.form, "ancestors") || !strcmp(t.form, "path")))
            check_above(&t, i);
    for (uint32_t i = 0; i < t.n && !strcmp(t.to_form, "nested"); i++)
        if (t.node[i].part && !t.node[i].out && t.node[i].parent < 0)
            count = number(&t, i, count);
    for (uint32_t i = 0; i < t.n; i++) {
        if (t.node[i].part)
            write_one(w, &t, i, &out);
        else if (!t.node[i].refused)
            tw_add(&out, t.node[i].doc);
        if (t.node[i].refused)
            tw_refuse(w, c, t.node[i].doc, t.node[i].why);
    }
    c->docs = out;
}
