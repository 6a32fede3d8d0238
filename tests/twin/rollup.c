/* SPDX-License-Identifier: Apache-2.0 */
/* rollup.c - computed values, naively: every parent, or every key, reads all documents. */
#include "twin.h"

#include <stdlib.h>
#include <string.h>

struct roll {
    struct coll *from, *into;
    const struct val *fields, *sort;
    const char *errors;
    bool replace, has_as;
    struct path as;
};

struct member {
    struct val *doc;
    uint32_t at;
    struct vals key; /* of sort */
};

struct result {
    struct val *v; /* NULL: nothing is written */
    bool failed;
};

static void
open_roll(struct world *w, struct roll *r)
{
    memset(r, 0, sizeof *r);
    r->fields = tw_arg(w, "fields");
    r->sort = tw_arg(w, "sort");
    r->errors = tw_word(w, "errors", "refuse");
    r->replace = tw_flag(w, "replace");
    if (tw_arg(w, "as")) {
        r->has_as = true;
        r->as = tw_path(tw_arg(w, "as"));
    }
}

static void
sort_members(const struct roll *r, struct member *m, uint32_t n)
{
    for (uint32_t i = 1; i < n && r->sort; i++)
        for (uint32_t k = i; k > 0; k--) {
            int c = tw_sort_compare(&m[k - 1].key, &m[k].key, r->sort);
            if (c < 0 || (!c && m[k - 1].at < m[k].at))
                break;
            struct member x = m[k];
            m[k] = m[k - 1];
            m[k - 1] = x;
        }
}

/* Not NULL: the reason why what they were computed for is refused. */
static const char *
compute(struct world *w, const struct roll *r, const struct member *m, uint32_t n, struct result *out)
{
    struct val **docs = tw_new((n + 1) * sizeof *docs);
    for (uint32_t i = 0; i < n; i++)
        docs[i] = m[i].doc;
    for (uint32_t i = 0; i < r->fields->n; i++) {
        out[i] = (struct result){NULL, false};
        if (!tw_accumulate(w, r->fields->f[i].v, docs, n, &out[i].v))
            continue;
        if (!strcmp(r->errors, "refuse"))
            return "an accumulator fails";
        out[i].failed = true;
        out[i].v = !strcmp(r->errors, "null") ? tw_null() : NULL;
    }
    return NULL;
}

/* ---- match */
struct parent {
    struct val *old, *now;
    bool refused;
    const char *why;
    struct member *m;
    uint32_t n;
};

static void
no(struct parent *p, const char *why)
{
    if (!p->refused)
        p->why = why;
    p->refused = true;
}

static void
gather(struct world *w, const struct join *j, const struct coll *from, const struct child *kids, struct parent *p)
{
    struct vals key[8];
    p->m = tw_new((from->docs.n + 1) * sizeof *p->m);
    p->n = 0;
    for (uint32_t i = 0; i < j->n; i++)
        if (tw_side_values(w, &j->into[i], p->old, &key[i])) {
            no(p, "match fails");
            return;
        }
    for (uint32_t i = 0; i < from->docs.n; i++) {
        bool all = kids[i].part;
        for (uint32_t k = 0; all && k < j->n; k++)
            all = tw_any_equal(j, &kids[i].key[k], &key[k]);
        if (all)
            p->m[p->n++] = (struct member){kids[i].doc, i, {0}};
    }
}

static bool
sort_keys(struct world *w, const struct roll *r, struct child *kids, struct parent *p, uint32_t n)
{
    bool again = false;
    for (uint32_t q = 0; q < n; q++)
        for (uint32_t i = 0; i < p[q].n; i++) {
            struct child *k = &kids[p[q].m[i].at];
            if (!k->part || !tw_sort_key(k->doc, r->sort, &p[q].m[i].key))
                continue;
            k->part = false;
            k->refused = again = true;
            tw_refuse(w, r->from, k->doc, "parallel arrays in sort");
        }
    return again;
}

static struct val *
old_at(struct world *w, struct val *doc, const struct path *p)
{
    for (uint32_t i = 0; doc && i < p->n; i++) {
        if (doc->type == T_ARRAY)
            tw_unclear(w, "an old value in one of several places");
        doc = doc->type == T_DOC ? tw_get(doc, p->p[i]) : NULL;
    }
    return doc;
}

/* The document that goes to `as`. */
static struct val *
together(struct world *w, const struct roll *r, struct val *now, const struct result *res)
{
    struct val *d = tw_doc(), *old = r->has_as && !strcmp(r->errors, "keep") ? old_at(w, now, &r->as) : NULL;
    for (uint32_t i = 0; i < r->fields->n; i++) {
        struct path path = tw_path_of(r->fields->f[i].name);
        struct val *v = res[i].v;
        if (res[i].failed && !strcmp(r->errors, "keep") && old && old->type == T_DOC)
            v = old_at(w, old, &path);
        if (v)
            tw_write(d, &path, tw_copy(v));
    }
    return d;
}

/* One write; true: it is blocked, and that is let be. */
static bool
write_one(const struct roll *r, struct parent *p, const struct path *path, const struct result *res)
{
    enum put put = tw_probe(p->now, path, r->replace);
    bool keeps = res->failed && !strcmp(r->errors, "keep");
    if (put == PUT_BLOCKED && !strcmp(r->errors, "refuse"))
        no(p, "blocked");
    if (put == PUT_EXISTS)
        no(p, "exists");
    if (put == PUT_DUPLICATES &&
        (res->v || (res->failed && !keeps && tw_remove_needs_duplicates(p->now, path))))
        no(p, "duplicate names");
    if (put == PUT_OK && res->v)
        tw_write(p->now, path, tw_copy(res->v));
    else if (put == PUT_OK && res->failed && !keeps)
        tw_remove(p->now, path);
    return put == PUT_BLOCKED;
}

static void
one_parent(struct world *w, const struct roll *r, struct child *kids, struct parent *p)
{
    struct result *res = tw_new((r->fields->n + 1) * sizeof *res);
    bool blocked = false, was = p->refused;
    for (uint32_t i = 0; i < p->n; i++)
        kids[p->m[i].at].matched = true;
    if (!p->n && !strcmp(tw_word(w, "empty", "values"), "absent"))
        return;
    const char *why = compute(w, r, p->m, p->n, res);
    if (why) {
        no(p, why);
        return;
    }
    if (r->has_as) {
        struct result all = {together(w, r, p->now, res), false};
        blocked = write_one(r, p, &r->as, &all);
    }
    for (uint32_t i = 0; i < r->fields->n && !r->has_as; i++) {
        struct path path = tw_path_of(r->fields->f[i].name);
        blocked |= write_one(r, p, &path, &res[i]);
    }
    if (blocked && p->refused && !was && strcmp(r->errors, "refuse"))
        tw_unclear(w, "blocked and refused at once");
    for (uint32_t i = 0; i < p->n && blocked; i++)
        kids[p->m[i].at].stay = true;
    if (tw_has_duplicates(p->old) && !tw_same_bytes(p->old, p->now))
        no(p, "duplicate names");
}

static void
by_match(struct world *w, struct roll *r)
{
    struct join j;
    tw_join_open(w, &j, false);
    r->from = tw_coll(w, tw_arg(w, "from"), false);
    r->into = tw_coll(w, tw_arg(w, "into"), false);
    uint32_t n = r->into->docs.n;
    struct child *kids = tw_children(w, &j, r->from);
    struct parent *p = tw_new((n + 1) * sizeof *p);
    struct vals out = {0};
    for (uint32_t q = 0; q < n; q++) {
        p[q].old = r->into->docs.v[q];
        p[q].now = tw_copy(p[q].old);
        gather(w, &j, r->from, kids, &p[q]);
    }
    while (r->sort && sort_keys(w, r, kids, p, n))
        for (uint32_t q = 0; q < n; q++)
            gather(w, &j, r->from, kids, &p[q]);
    for (uint32_t q = 0; q < n; q++) {
        sort_members(r, p[q].m, p[q].n);
        if (r->from == r->into && kids[q].refused)
            no(&p[q], "refused as a child");
        one_parent(w, r, kids, &p[q]);
    }
    for (uint32_t q = 0; q < n; q++) {
        for (uint32_t i = 0; i < p[q].n && p[q].refused; i++)
            kids[p[q].m[i].at].stay = true;
        if (p[q].refused) {
            tw_refuse(w, r->into, p[q].old, p[q].why);
        } else {
            tw_fix_names(p[q].old, p[q].now);
            tw_add(&out, p[q].now);
        }
    }
    if (r->from != r->into)
        tw_settle(w, r->from, kids, r->from->docs.n, tw_word(w, "keep", "all"));
    r->into->docs = out;
}

/* ---- by */
struct group {
    struct val *key; /* of the first member that came */
    struct member *m;
    struct val **keys;
    uint32_t n;
};

static bool
is_map(const struct val *by)
{
    return by->type == T_DOC && by->n && by->f[0].name[0] != '$';
}

int
tw_group_key(struct world *w, struct val *doc, struct val **out)
{
    const struct val *by = tw_arg(w, "by");
    struct vars vars = {.root = doc};
    if (!is_map(by)) {
        if (tw_eval(w, by, &vars, out))
            return 1;
        *out = *out ? tw_copy(*out) : tw_null();
        return 0;
    }
    *out = tw_doc();
    for (uint32_t i = 0; i < by->n; i++) {
        struct val *v = NULL;
        if (tw_eval(w, by->f[i].v, &vars, &v))
            return 1;
        if (v || by->n == 1)
            tw_push(*out, by->f[i].name, v ? tw_copy(v) : tw_null());
    }
    return 0;
}

static struct group *
group_of(struct group *g, uint32_t *n, struct val *key, uint32_t most)
{
    for (uint32_t i = 0; i < *n; i++)
        if (!tw_compare(g[i].key, key))
            return &g[i];
    g[*n] = (struct group){key, tw_new((most + 1) * sizeof *g->m), tw_new((most + 1) * sizeof *g->keys), 0};
    return &g[(*n)++];
}

static int
by_key(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return tw_compare(x->key, y->key);
}

static void
finish(struct world *w, struct roll *r, struct group *g, bool *leaves)
{
    struct result *res = tw_new((r->fields->n + 1) * sizeof *res);
    sort_members(r, g->m, g->n);
    const char *why = compute(w, r, g->m, g->n, res);
    for (uint32_t i = 0; i < g->n; i++) {
        leaves[g->m[i].at] = why || strcmp(tw_word(w, "keep", "all"), "all");
        if (why)
            tw_refuse(w, r->from, g->m[i].doc, why);
    }
    if (why)
        return;
    struct val *d = tw_doc(), *values = together(w, r, d, res);
    tw_push(d, "_id", g->keys[g->m[0].at]);
    if (r->has_as)
        tw_write(d, &r->as, values);
    for (uint32_t i = 0; i < values->n && !r->has_as; i++)
        tw_push(d, values->f[i].name, values->f[i].v);
    tw_add(&r->into->docs, d);
}

static void
by_groups(struct world *w, struct roll *r)
{
    r->from = tw_coll(w, tw_arg(w, "from"), false);
    r->into = tw_coll(w, tw_arg(w, "into"), true);
    uint32_t n = r->from->docs.n, groups = 0;
    struct group *g = tw_new((n + 1) * sizeof *g);
    bool *leaves = tw_new(n + 1);
    struct vals left = {0};
    for (uint32_t i = 0; i < n; i++) {
        struct val *doc = r->from->docs.v[i], *key = NULL;
        struct member m = {doc, i, {0}};
        bool part = true;
        const char *why = tw_query(w, tw_arg(w, "where"), doc, &part) ? "where fails" : NULL;
        if (!why && !part)
            continue;
        why = why ? why : tw_group_key(w, doc, &key) ? "the key fails" : tw_bad_id(key) ? "a key that is no _id" : NULL;
        if (!why && r->sort && tw_sort_key(doc, r->sort, &m.key))
            why = "parallel arrays in sort";
        if (why) {
            leaves[i] = true;
            tw_refuse(w, r->from, doc, why);
            continue;
        }
        struct group *to = group_of(g, &groups, key, n);
        to->keys[i] = key;
        to->m[to->n++] = m;
    }
    qsort(g, groups, sizeof *g, by_key);
    for (uint32_t i = 0; i < groups; i++)
        finish(w, r, &g[i], leaves);
    for (uint32_t i = 0; i < n; i++)
        if (!leaves[i])
            tw_add(&left, r->from->docs.v[i]);
    r->from->docs = left;
}

void
tw_step_rollup(struct world *w)
{
    struct roll r;
    open_roll(w, &r);
    if (tw_arg(w, "match"))
        by_match(w, &r);
    else
        by_groups(w, &r);
}
