/* SPDX-License-Identifier: Apache-2.0 */
/* rekey.c - other `_id`s and references that follow, by comparing all with all. */
#include "twin.h"

#include <string.h>

struct one {
    struct val *doc, *now;
    bool part, refused;
    struct val *to;    /* its new `_id`, or that of who survives; NULL: it keeps its own */
    struct vals key;   /* arrays [number of the part, values] */
    int group;         /* the first of its group; -1: none */
    bool survives;
    struct vals sort, values, old;
};
struct rekey {
    struct coll *in, *into;
    struct one *x;
    uint32_t n;
    struct val *merge, *by;
    const char *dangling;
    bool distinct, again;
};
enum { KEEP, FOLLOW, CHANGE, CUT, REFUSE };

static bool
equal(const struct val *a, const struct val *b)
{
    return a && b && !tw_compare(a, b);
}

static struct val *
id_of(const struct one *x)
{
    return tw_get(x->doc, "_id");
}

static void
refuse(struct world *w, struct rekey *r, uint32_t i, const char *why)
{
    r->x[i].refused = true;
    tw_refuse(w, r->in, r->x[i].doc, why);
}

/* ---- keys and groups */
static bool
add_key(struct one *x, int32_t part, struct val **v, const bool *any, uint32_t n, struct val *element, uint32_t at)
{
    struct val *key = tw_array();
    if (tw_is_nullish(element))
        return false;
    tw_append(key, tw_int32(part));
    for (uint32_t i = 0; i < n; i++)
        tw_append(key, i == at ? element : any[i] ? tw_null() : v[i]);
    tw_add(&x->key, key);
    return true;
}

/* Not NULL: why it is refused. */
static const char *
read_keys(struct world *w, const struct rekey *r, struct one *x)
{
    struct vars vars = {.root = x->doc};
    struct val *any_list = tw_get(r->merge, "any"), *v[16];
    bool map = r->by->type == T_DOC && (!r->by->n || r->by->f[0].name[0] != '$'), any[16] = {false}, lacks = false;
    uint32_t n = map ? r->by->n : 1, anys = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; map && any_list && k < any_list->n; k++)
            any[i] |= !strcmp(tw_str(any_list->f[k].v), r->by->f[i].name);
        anys += any[i];
        if (tw_eval(w, map ? r->by->f[i].v : r->by, &vars, &v[i]))
            return "by fails";
        lacks |= tw_is_nullish(v[i]);
    }
    for (uint32_t i = 0; !lacks && i < n; i++)
        if (v[i]->type == T_ARRAY && !any[i])
            return "by is an array";
    if (!lacks && !anys)
        add_key(x, 0, v, any, n, v[0], 0);
    for (uint32_t i = 0; !lacks && i < n; i++) {
        if (any[i] && v[i]->type != T_ARRAY)
            add_key(x, (int32_t)i + 1, v, any, n, v[i], i);
        for (uint32_t k = 0; any[i] && v[i]->type == T_ARRAY && k < v[i]->n; k++)
            add_key(x, (int32_t)i + 1, v, any, n, v[i]->f[k].v, i);
    }
    return NULL;
}

static bool
share(const struct one *a, const struct one *b)
{
    for (uint32_t i = 0; i < a->key.n; i++)
        for (uint32_t k = 0; k < b->key.n; k++)
            if (equal(a->key.v[i], b->key.v[k]))
                return true;
    return false;
}

static void
find_groups(struct rekey *r)
{
    bool more = true;
    for (uint32_t i = 0; i < r->n; i++)
        r->x[i].group = r->x[i].key.n ? (int)i : -1;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < r->n; i++)
            for (uint32_t k = 0; k < r->n; k++)
                if (r->x[i].group > r->x[k].group && share(&r->x[i], &r->x[k])) {
                    r->x[i].group = r->x[k].group;
                    more = true;
                }
    }
}

/* A refused member refuses its group. */
static void
spread(struct world *w, struct rekey *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->n; k++)
            if (r->x[i].refused && r->x[i].group >= 0 && r->x[k].group == r->x[i].group && !r->x[k].refused)
                refuse(w, r, k, "another of its group is refused");
}

static int
before(const struct rekey *r, uint32_t a, uint32_t b)
{
    struct val *sort = tw_get(r->merge, "sort");
    int c = sort ? tw_sort_compare(&r->x[a].sort, &r->x[b].sort, sort) : 0;
    return c ? c < 0 : a < b;
}

static void
merge_group(struct world *w, struct rekey *r, uint32_t first)
{
    struct val *fields = tw_get(r->merge, "fields"), **docs = tw_new((r->n + 1) * sizeof *docs);
    uint32_t n = 0, *at = tw_new((r->n + 1) * sizeof *at);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->x[i].group == (int)first)
            at[n++] = i;
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && before(r, at[k], at[k - 1]); k--) {
            uint32_t x = at[k];
            at[k] = at[k - 1];
            at[k - 1] = x;
        }
    for (uint32_t i = 0; i < n; i++)
        docs[i] = r->x[at[i]].doc;
    struct one *s = &r->x[at[0]];
    s->survives = true;
    for (uint32_t i = 1; i < n; i++) {
        r->x[at[i]].to = id_of(s);
        tw_add(&s->old, id_of(&r->x[at[i]]));
    }
    for (uint32_t i = 0; fields && i < fields->n; i++) {
        struct val *v;
        if (tw_accumulate(w, fields->f[i].v, docs, n, &v)) {
            refuse(w, r, at[0], "an accumulator fails");
            return;
        }
        tw_add(&s->values, v);
    }
}

static void
check_dropped(struct world *w, struct rekey *r)
{
    struct cand *c = tw_new((r->n + 1) * sizeof *c);
    bool *no = tw_new(r->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->x[i].group >= 0 && !r->x[i].refused && !r->x[i].survives)
            c[n++] = (struct cand){r->x[i].doc, i, GIVEN};
    tw_conflicts(&r->into->docs, c, n, "refuse", no, false);
    for (uint32_t i = 0; i < r->n; i++)
        if (no[i])
            refuse(w, r, i, "its _id is taken where it goes");
    spread(w, r);
}

static void
judge_merge(struct world *w, struct rekey *r)
{
    struct val *sort = tw_get(r->merge, "sort");
    find_groups(r);
    for (uint32_t i = 0; i < r->n; i++)
        if (sort && r->x[i].group >= 0 && !r->x[i].refused && tw_sort_key(r->x[i].doc, sort, &r->x[i].sort))
            refuse(w, r, i, "sort fails");
    spread(w, r);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->x[i].group == (int)i && !r->x[i].refused)
            merge_group(w, r, i);
    spread(w, r);
    if (r->into)
        check_dropped(w, r);
}

/* ---- new ids */
static void
judge_ids(struct world *w, struct rekey *r)
{
    bool *hit = tw_new(r->n + 1);
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->n && r->x[i].part && !r->x[i].refused; k++) {
            const struct one *o = &r->x[k];
            if (k != i && !o->refused)
                hit[i] |= o->part ? equal(o->to, r->x[i].to) : equal(id_of(o), r->x[i].to);
        }
    for (uint32_t i = 0; i < r->n; i++)
        if (hit[i])
            refuse(w, r, i, "its new _id is another's");
}

static const char *
make_id(struct world *w, const struct rekey *r, struct one *x)
{
    struct val *spec = tw_arg(w, "id");
    struct vars vars = {.root = x->doc};
    if (tw_str(spec) && !strcmp(tw_str(spec), "new")) {
        x->to = tw_new_id(r->in->ns, r->in->ns, id_of(x), tw_string("_id"), tw_array(), true);
        return NULL;
    }
    if (tw_eval(w, spec, &vars, &x->to))
        return "id fails";
    return tw_bad_id(x->to) ? "no _id" : NULL;
}

static const char *
read_one(struct world *w, struct rekey *r, struct one *x)
{
    if (tw_query(w, tw_arg(w, "where"), x->doc, &x->part))
        return "where fails";
    if (!x->part)
        return NULL;
    const char *why = r->merge ? read_keys(w, r, x) : NULL;
    x->part = why || !r->merge || x->key.n;
    if (why || !x->part)
        return why;
    if (!id_of(x))
        return "no _id";
    return r->merge ? NULL : make_id(w, r, x);
}

static void
judge(struct world *w, struct rekey *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const char *why = read_one(w, r, &r->x[i]);
        for (uint32_t k = 0; !why && r->x[i].part && k < r->n; k++)
            why = k != i && equal(tw_get(r->in->docs.v[k], "_id"), id_of(&r->x[i])) ? "its _id is there twice" : NULL;
        if (why)
            refuse(w, r, i, why);
    }
    if (r->merge)
        judge_merge(w, r);
    else
        judge_ids(w, r);
}

/* ---- references */
static int
names(const struct rekey *r, struct val *id, struct val **to)
{
    if (tw_is_nullish(id))
        return KEEP;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct one *x = &r->x[i];
        if (!equal(id_of(x), id))
            continue;
        if (x->refused || !x->part || !x->to || tw_same_bytes(x->to, id))
            return KEEP;
        *to = x->to;
        return FOLLOW;
    }
    for (uint32_t i = 0; i < r->n; i++)
        if (r->x[i].part && !r->x[i].refused && equal(r->x[i].to, id))
            return KEEP;
    return !strcmp(r->dangling, "drop")   ? CUT
           : !strcmp(r->dangling, "null") ? CHANGE
           : !strcmp(r->dangling, "keep") ? KEEP
                                          : REFUSE;
}

static int
follow(const struct rekey *r, struct val *v, struct val **now)
{
    struct val *ref = v && v->type == T_DOC ? tw_get(v, "$ref") : NULL, *to = NULL;
    bool dbref = ref && tw_str(ref) && tw_get(v, "$id");
    if (dbref) {
        struct val *db = tw_get(v, "$db");
        if (strcmp(tw_str(ref), r->in->name) || (db && (!tw_str(db) || strcmp(tw_str(db), r->in->db))))
            return KEEP;
    }
    int what = names(r, dbref ? tw_get(v, "$id") : v, &to);
    *now = what == CHANGE ? tw_null() : to;
    if (what == FOLLOW && dbref) {
        *now = tw_copy(v);
        tw_put(*now, "$id", to);
    }
    return what;
}

/* false: refused. */
static bool
follow_array(const struct rekey *r, struct val *a)
{
    bool followed = false, changed = false;
    for (uint32_t i = 0; i < a->n;) {
        struct val *now = NULL;
        int what = follow(r, a->f[i].v, &now);
        if (what == REFUSE)
            return false;
        followed |= what == FOLLOW;
        changed |= what != KEEP;
        if (what == CUT) {
            tw_cut(a, i);
            continue;
        }
        if (what != KEEP)
            a->f[i].v = now;
        i++;
    }
    for (uint32_t i = 0; followed && r->distinct && i < a->n; i++)
        for (uint32_t k = i + 1; k < a->n;)
            if (equal(a->f[i].v, a->f[k].v))
                tw_cut(a, k);
            else
                k++;
    if (changed)
        tw_renumber(a);
    return true;
}

static bool
follow_path(const struct rekey *r, struct val *d, const struct path *p, uint32_t i)
{
    int at = tw_index(d, p->p[i]);
    struct val *v = at < 0 ? NULL : d->f[at].v, *now = NULL;
    if (!v)
        return true;
    if (i + 1 == p->n && v->type == T_ARRAY)
        return follow_array(r, v);
    if (i + 1 == p->n) {
        int what = follow(r, v, &now);
        if (what == CUT)
            tw_cut(d, (uint32_t)at);
        else if (what == FOLLOW || what == CHANGE)
            d->f[at].v = now;
        return what != REFUSE;
    }
    if (v->type == T_DOC)
        return follow_path(r, v, p, i + 1);
    for (uint32_t k = 0; v->type == T_ARRAY && k < v->n; k++)
        if (v->f[k].v->type == T_DOC && !follow_path(r, v->f[k].v, p, i + 1))
            return false;
    return true;
}

/* All paths of an entry; done: those that were followed in this document already. */
static const char *
follow_entry(const struct rekey *r, struct val *d, const struct val *paths, struct path *done, uint32_t *n)
{
    uint32_t many = paths->type == T_ARRAY ? paths->n : 1;
    for (uint32_t i = 0; i < many; i++) {
        struct path p = tw_path(paths->type == T_ARRAY ? paths->f[i].v : paths);
        bool before = false;
        for (uint32_t k = 0; k < *n; k++)
            before |= tw_path_same(&done[k], &p);
        if (!before && !follow_path(r, d, &p, 0))
            return "dangling";
        if (!before && *n < 64)
            done[(*n)++] = p;
    }
    return NULL;
}

/* The references of a document; not NULL: why it is refused. */
static const char *
follow_all(struct world *w, const struct rekey *r, const struct coll *c, struct val *d)
{
    struct val *refs = tw_arg(w, "references"), *was = tw_copy(d);
    struct path done[64];
    uint32_t n = 0;
    const char *why = NULL;
    for (uint32_t i = 0; refs && !why && i < refs->n; i++) {
        struct val *e = refs->f[i].v;
        bool list = refs->type == T_ARRAY, yes = true;
        struct coll *in = tw_coll(w, list ? tw_get(e, "in") : tw_string(refs->f[i].name), false);
        if (in != c)
            continue;
        if (list && tw_query(w, tw_get(e, "where"), was, &yes))
            return "where fails";
        if (yes)
            why = follow_entry(r, d, list ? tw_get(e, "fields") : e, done, &n);
    }
    if (!tw_same_bytes(was, d) && tw_has_duplicates(was))
        tw_unclear(w, "references in a document with duplicate names");
    tw_fix_names(was, d);
    return why;
}

/* ---- writing */
static const char *
write_one(struct world *w, struct rekey *r, struct one *x)
{
    struct val *fields = r->merge ? tw_get(r->merge, "fields") : NULL, *old = NULL;
    x->now = tw_copy(x->doc);
    if (x->part && !r->merge) {
        tw_put(x->now, "_id", x->to);
        old = id_of(x);
    }
    for (uint32_t i = 0; i < x->values.n; i++) {
        struct path p = tw_path_of(fields->f[i].name);
        enum put put = tw_probe(x->now, &p, true);
        if (put == PUT_BLOCKED)
            return "a field is blocked";
        if (put == PUT_OK || put == PUT_DUPLICATES)
            tw_write(x->now, &p, x->values.v[i]);
    }
    if (x->old.n) {
        old = tw_array();
        for (uint32_t i = 0; i < x->old.n; i++)
            tw_append(old, x->old.v[i]);
    }
    if (old && tw_arg(w, "old")) {
        struct path p = tw_path(tw_arg(w, "old"));
        enum put put = tw_probe(x->now, &p, tw_flag(w, "replace"));
        if (put != PUT_OK && put != PUT_DUPLICATES)
            return "old has no place";
        tw_write(x->now, &p, old);
    }
    if (!tw_same_bytes(x->doc, x->now) && tw_has_duplicates(x->doc))
        return "duplicate names";
    tw_fix_names(x->doc, x->now);
    return follow_all(w, r, r->in, x->now);
}

static bool
stays(const struct rekey *r, const struct one *x)
{
    return !x->refused && (!r->merge || x->group < 0 || x->survives);
}

static void
write_in(struct world *w, struct rekey *r)
{
    bool again = true;
    while (again) {
        const char **why = tw_new((r->n + 1) * sizeof *why);
        again = false;
        for (uint32_t i = 0; i < r->n; i++)
            why[i] = stays(r, &r->x[i]) ? write_one(w, r, &r->x[i]) : NULL;
        for (uint32_t i = 0; i < r->n; i++)
            if (why[i]) {
                refuse(w, r, i, why[i]);
                again = true;
            }
        spread(w, r);
    }
    struct vals out = {0};
    for (uint32_t i = 0; i < r->n; i++) {
        if (stays(r, &r->x[i]))
            tw_add(&out, r->x[i].now);
    }
    struct cand *c = tw_new((r->n + 1) * sizeof *c);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->into && !r->x[i].refused && !stays(r, &r->x[i]))
            c[n++] = (struct cand){r->x[i].doc, i, GIVEN};
    if (r->into)
        tw_admit(&r->into->docs, c, n, "refuse", tw_new(r->n + 1), false);
    r->in->docs = out;
}

static void
write_others(struct world *w, struct rekey *r)
{
    struct val *refs = tw_arg(w, "references");
    struct coll *done[64];
    uint32_t n = 0;
    for (uint32_t i = 0; refs && i < refs->n && n < 64; i++) {
        bool list = refs->type == T_ARRAY, before = false;
        struct coll *c = tw_coll(w, list ? tw_get(refs->f[i].v, "in") : tw_string(refs->f[i].name), false);
        for (uint32_t k = 0; k < n; k++)
            before |= done[k] == c;
        if (before || c == r->in)
            continue;
        done[n++] = c;
        struct vals out = {0};
        for (uint32_t k = 0; k < c->docs.n; k++) {
            struct val *now = tw_copy(c->docs.v[k]);
            const char *why = follow_all(w, r, c, now);
            if (why)
                tw_refuse(w, c, c->docs.v[k], why);
            else
                tw_add(&out, now);
        }
        c->docs = out;
    }
}

void
tw_step_rekey(struct world *w)
{
    struct rekey r = {.in = tw_coll(w, tw_arg(w, "in"), false), .merge = tw_arg(w, "merge")};
    struct val *dropped = r.merge ? tw_get(r.merge, "dropped") : NULL;
    r.by = r.merge ? tw_get(r.merge, "by") : NULL;
    r.into = dropped && dropped->type == T_DOC ? tw_coll(w, tw_get(dropped, "into"), true) : NULL;
    r.dangling = tw_word(w, "dangling", "keep");
    r.distinct = tw_flag(w, "distinct");
    r.n = r.in->docs.n;
    r.x = tw_new((r.n + 1) * sizeof *r.x);
    for (uint32_t i = 0; i < r.n; i++) {
        r.x[i].doc = r.in->docs.v[i];
        r.x[i].group = -1;
    }
    judge(w, &r);
    write_in(w, &r);
    write_others(w, &r);
}
