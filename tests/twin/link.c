/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - references of parents and children that complete each other, by comparing all with all. */
#include "twin.h"

#include <stdlib.h>
#include <string.h>

enum { NOTHING, SINGLE, LIST };
enum { NAMED, REFUSED, DANGLING, EMPTY };

struct node {
    struct val *doc, *now;
    bool broken;    /* no `_id` that can be named: it is not there for anybody */
    bool refused, late, orphan;
    int shape;
    struct vals refs;
    int *who;       /* for each of refs: who it names; -1: nobody */
    int first;      /* the first of its side with its `_id` */
    bool gains, leaves, takes; /* children */
};
struct link {
    struct coll *coll[2];
    struct path path[2];
    struct node *node[2];
    uint32_t n[2];
    bool self, lists, refs;
    const char *strip, *prefer, *dangling;
    struct val *sort;
    bool orphans_go;
};
struct item {
    struct val *v;
    int kind, who; /* who: index on the other side; -1 */
    bool fresh;
    struct vals key;
    bool keyed;
};

/* The value at a path that leads through documents only. */
static struct val *
straight(struct val *doc, const struct path *p)
{
    struct val *v = doc;
    for (uint32_t i = 0; v && i < p->n; i++)
        v = v->type == T_DOC ? tw_get(v, p->p[i]) : NULL;
    return v;
}

static void
read_refs(struct node *x, const struct path *p)
{
    struct val *v = straight(x->doc, p);
    memset(&x->refs, 0, sizeof x->refs);
    x->shape = NOTHING;
    if (v && v->type == T_ARRAY) {
        x->shape = LIST;
        for (uint32_t i = 0; i < v->n; i++)
            tw_add(&x->refs, v->f[i].v);
    } else if (v && !tw_is_nullish(v)) {
        x->shape = SINGLE;
        tw_add(&x->refs, v);
    } else if (!v && p->n > 1) {
        struct vals all = {0};
        tw_match_values(x->doc, p, 0, &all);
        for (uint32_t i = 0; i < all.n; i++)
            if (all.v[i])
                tw_add(&x->refs, all.v[i]);
        x->shape = x->refs.n ? LIST : NOTHING;
    }
}

/* Who on a side has this `_id`: the first; -1. */
static int
find(const struct link *l, int side, const struct val *id)
{
    for (uint32_t i = 0; i < l->n[side] && !tw_is_nullish(id); i++)
        if (!l->node[side][i].broken && !tw_compare(tw_get(l->node[side][i].doc, "_id"), id))
            return (int)i;
    return -1;
}

static bool
names(const struct link *l, int side, uint32_t who, uint32_t other)
{
    const struct node *x = &l->node[side][who];
    for (uint32_t i = 0; !x->broken && i < x->refs.n; i++)
        if (x->who[i] == (int)other)
            return true;
    return false;
}

static void
look_around(struct link *l, int side, uint32_t i)
{
    struct node *x = &l->node[side][i];
    x->first = x->broken ? -1 : find(l, side, tw_get(x->doc, "_id"));
    x->who = tw_new((x->refs.n + 1) * sizeof *x->who);
    for (uint32_t k = 0; k < x->refs.n; k++)
        x->who[k] = find(l, !side, x->refs.v[k]);
}

static bool
is_refused(const struct link *l, int side, uint32_t i)
{
    return l->node[side][i].refused || (l->self && l->node[!side][i].refused);
}

static bool
has_dangling(const struct node *x)
{
    for (uint32_t i = 0; i < x->refs.n; i++)
        if (!tw_is_nullish(x->refs.v[i]) && x->who[i] < 0)
            return true;
    return false;
}

static void
open_side(struct world *w, struct link *l, int side)
{
    struct coll *c = l->coll[side] = tw_coll(w, tw_arg(w, side ? "child" : "parent"), false);
    l->path[side] = tw_path(tw_arg(w, side ? "parent_ref" : "child_refs"));
    l->n[side] = c->docs.n;
    l->node[side] = tw_new((c->docs.n + 1) * sizeof *l->node[side]);
    for (uint32_t i = 0; i < c->docs.n; i++) {
        struct node *x = &l->node[side][i];
        x->doc = c->docs.v[i];
        struct val *id = tw_get(x->doc, "_id");
        x->broken = x->refused = tw_bad_id(id) || tw_is_nullish(id);
        read_refs(x, &l->path[side]);
    }
    for (uint32_t i = 0; i < c->docs.n; i++)
        for (uint32_t k = 0; k < c->docs.n; k++)
            if (i != k && !l->node[side][i].broken && !l->node[side][k].broken &&
                !tw_compare(tw_get(l->node[side][i].doc, "_id"), tw_get(l->node[side][k].doc, "_id")))
                l->node[side][i].refused = true;
}

/* How many different parents list a child; *other: some of them it does not name. */
static uint32_t
listed(const struct link *l, uint32_t child, bool *other)
{
    uint32_t n = 0;
    *other = false;
    for (uint32_t p = 0; p < l->n[0]; p++) {
        bool lists = false;
        for (uint32_t q = p; l->node[0][p].first == (int)p && q < l->n[0]; q++) /* all with its `_id` count as one */
            lists |= l->node[0][q].first == (int)p && names(l, 0, q, child);
        n += lists;
        *other |= lists && !names(l, 1, child, p);
    }
    return n;
}

static void
judge(const struct link *l, uint32_t i)
{
    struct node *x = &l->node[1][i];
    bool other, dangling = has_dangling(x), some = false, fails = false;
    if (is_refused(l, 1, i))
        return;
    uint32_t n = listed(l, i, &other);
    for (uint32_t k = 0; k < x->refs.n; k++)
        some |= x->who[k] >= 0;
    if (l->sort) {
        struct vals key = {0};
        fails = l->lists && tw_sort_key(x->doc, l->sort, &key);
    }
    bool wants_refs = strcmp(l->strip, "parent_ref") && l->refs;
    if (dangling && !strcmp(l->dangling, "refuse"))
        x->refused = true;
    else if (x->shape == SINGLE && n && other) {
        if (!strcmp(l->prefer, "child")) {
            x->leaves = true;
            x->gains = some && l->lists;
        } else if (!strcmp(l->prefer, "parent") && n == 1) {
            x->takes = true;
        } else {
            x->refused = true;
        }
    } else if (!some && !dangling && !n) {
        x->orphan = true;
    } else if (x->shape == NOTHING && n > 1 && wants_refs) {
        x->refused = true;
    } else {
        x->gains = some && l->lists;
        x->takes = x->shape != SINGLE && n && wants_refs;
    }
    if (fails && (some || n))
        x->refused = true;
}

/* ---- what a document holds in the end */
static const struct val *sort_spec;

static int
by_key(const void *pa, const void *pb)
{
    const struct item *a = pa, *b = pb;
    int c = a->keyed && b->keyed ? tw_sort_compare(&a->key, &b->key, sort_spec) : 0;
    if (a->keyed != b->keyed)
        return a->keyed ? -1 : 1;
    if (!c && a->keyed)
        c = a->who - b->who;
    return c ? c : a->kind - b->kind;
}

static void
stable_sort(struct item *it, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0; k--) {
            int both = it[k].keyed || it[k - 1].keyed;
            if (!both || by_key(&it[k - 1], &it[k]) <= 0)
                break;
            struct item t = it[k];
            it[k] = it[k - 1];
            it[k - 1] = t;
        }
}

static uint32_t
collect(const struct link *l, int side, uint32_t me, struct item *it)
{
    const struct node *x = &l->node[side][me];
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->refs.n; i++) {
        int who = x->who[i];
        int kind = tw_is_nullish(x->refs.v[i]) ? EMPTY : who < 0 ? DANGLING : NAMED;
        if (kind == NAMED && is_refused(l, !side, (uint32_t)who))
            kind = REFUSED;
        if (side == 0 && who >= 0 && l->node[1][who].leaves && !is_refused(l, 1, (uint32_t)who) &&
            !names(l, 1, (uint32_t)who, me))
            continue;
        it[n++] = (struct item){x->refs.v[i], kind, who, false, {0}, false};
    }
    if (side == 1 && x->takes && x->shape != LIST) {
        for (uint32_t p = 0; p < l->n[0]; p++)
            if (names(l, 0, p, me) && !is_refused(l, 0, p)) {
                n = 0;
                it[n++] = (struct item){tw_get(l->node[0][p].doc, "_id"), NAMED, (int)p, true, {0}, false};
            }
        return n;
    }
    for (uint32_t o = 0; o < l->n[!side]; o++) {
        bool gains = side == 0 ? l->node[1][o].gains && names(l, 1, o, me) : x->takes && names(l, 0, o, me);
        for (uint32_t i = 0; i < n; i++)
            gains = gains && it[i].who != (int)o;
        if (gains && !is_refused(l, !side, o))
            it[n++] = (struct item){tw_get(l->node[!side][o].doc, "_id"), NAMED, (int)o, true, {0}, false};
    }
    if (side == 0 && l->sort && l->lists) {
        for (uint32_t i = 0; i < n; i++)
            it[i].keyed = it[i].who >= 0 && !tw_sort_key(l->node[1][it[i].who].doc, l->sort, &it[i].key);
        sort_spec = l->sort;
        stable_sort(it, n);
    }
    return n;
}

/* Puts v (NULL: nothing) at the path; false: it has no place. */
static bool
put(struct val *doc, const struct path *p, struct val *v)
{
    struct val *at = doc;
    for (uint32_t i = 0; v && at && i + 1 < p->n; i++) {
        at = tw_get(at, p->p[i]);
        if (at && at->type != T_DOC)
            return false;
    }
    if (v) {
        tw_write(doc, p, v);
        return true;
    }
    struct holders h;
    tw_holders(doc, p, p->n - 1, &h);
    for (uint32_t i = 0; i < h.n; i++)
        if (tw_get(h.h[i].doc, p->p[p->n - 1])) {
            if (h.h[i].npos)
                return false;
            tw_remove(doc, p);
            return true;
        }
    return true;
}

static bool
finish(const struct link *l, int side, uint32_t me, struct val *doc)
{
    const struct node *x = &l->node[side][me];
    struct item *it = tw_new((x->refs.n + l->n[!side] + 1) * sizeof *it);
    uint32_t n = collect(l, side, me, it);
    bool strip = !strcmp(l->strip, side ? "parent_ref" : "child_refs"), array = side == 0 && l->lists;
    bool same = n == x->refs.n;
    struct val *left = tw_array();
    for (uint32_t i = 0; i < n; i++) {
        bool drop = (it[i].kind == NAMED && strip) || (it[i].kind == DANGLING && !strcmp(l->dangling, "drop"));
        bool null = it[i].kind == DANGLING && !strcmp(l->dangling, "null");
        same = same && !drop && !null && it[i].v == x->refs.v[i];
        if (!drop)
            tw_append(left, null ? tw_null() : it[i].v);
    }
    if (strip && !left->n)
        return put(doc, &l->path[side], NULL);
    if (x->shape == NOTHING ? !left->n && !array : same)
        return true;
    if (x->shape == SINGLE && !left->n && !array)
        return put(doc, &l->path[side], NULL);
    return put(doc, &l->path[side], x->shape == LIST || array ? left : left->f[0].v);
}

/* false: somebody could not be written, and is refused from now on. */
static bool
write_all(const struct link *l)
{
    bool good = true;
    for (int side = 0; side < (l->self ? 1 : 2); side++) {
        for (uint32_t i = 0; i < l->n[side]; i++) {
            struct node *x = &l->node[side][i];
            x->now = tw_copy(x->doc);
            if (is_refused(l, side, i) || (side == 1 && x->orphan && l->orphans_go))
                continue;
            bool fits = finish(l, side, i, x->now) && (!l->self || finish(l, 1, i, x->now));
            if (!fits || (tw_has_duplicates(x->doc) && !tw_same_bytes(x->doc, x->now))) {
                x->late = true;
                good = false;
            }
        }
    }
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < l->n[side]; i++)
            l->node[side][i].refused |= l->node[side][i].late;
    return good;
}

static void
settle(struct world *w, struct link *l)
{
    const struct val *o = tw_arg(w, "orphans");
    const char *policy = o && tw_str(o) ? tw_str(o) : "keep";
    struct coll *other = o && o->type == T_DOC ? tw_coll(w, tw_get(o, "into"), true) : NULL;
    for (int side = 0; side < (l->self ? 1 : 2); side++) {
        struct vals left = {0};
        struct cand *c = tw_new((l->n[side] + 1) * sizeof *c);
        bool *bad = tw_new(l->n[side] + 1);
        uint32_t nc = 0;
        for (uint32_t i = 0; side && other && i < l->n[1]; i++)
            if (l->node[1][i].orphan)
                c[nc++] = (struct cand){l->node[1][i].doc, i, GIVEN};
        if (nc)
            tw_conflicts(&other->docs, c, nc, "refuse", bad, false);
        for (uint32_t i = 0; i < l->n[side]; i++) {
            struct node *x = &l->node[side][i];
            bool orphan = side && x->orphan;
            if (is_refused(l, side, i) || (orphan && (bad[i] || !strcmp(policy, "refuse"))))
                tw_refuse(w, l->coll[side], x->doc, "link");
            else if (!orphan || (!other && !strcmp(policy, "keep")))
                tw_add(&left, x->now);
        }
        if (nc)
            tw_admit(&other->docs, c, nc, "refuse", bad, false);
        l->coll[side]->docs = left;
    }
}

void
tw_step_link(struct world *w)
{
    struct link l = {.strip = tw_word(w, "strip", "none"), .prefer = tw_word(w, "prefer", "none"),
                     .dangling = tw_word(w, "dangling", "keep"), .sort = tw_arg(w, "sort")};
    const char *derive = tw_word(w, "derive", "both");
    l.lists = strcmp(derive, "parent_ref");
    l.refs = strcmp(derive, "child_refs");
    open_side(w, &l, 0);
    open_side(w, &l, 1);
    l.self = l.coll[0] == l.coll[1];
    l.orphans_go = tw_arg(w, "orphans") && strcmp(tw_word(w, "orphans", ""), "keep");
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < l.n[side]; i++)
            look_around(&l, side, i);
    for (uint32_t i = 0; i < l.n[0]; i++)
        if (!l.node[0][i].broken && !strcmp(l.dangling, "refuse") && has_dangling(&l.node[0][i]))
            l.node[0][i].refused = true;
    for (uint32_t i = 0; i < l.n[1]; i++)
        judge(&l, i);
    for (uint32_t i = 0; l.self && i < l.n[1]; i++)
        l.node[1][i].orphan = false;
    while (!write_all(&l)) {
    }
    settle(w, &l);
}
