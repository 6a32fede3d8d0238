/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c - documents into documents, naively: every parent is compared with every child.
 *
 * A parent is a list of targets: itself, or, if `as` shares an array with the reference, the documents in that array.
 * Each target gathers its matches, and all changes go into a copy of the parent that is discarded if the parent is
 * refused. */
#include "twin.h"

#include <string.h>

struct embed {
    struct join j;
    struct coll *from, *into, *more;
    struct path as, count, flag;
    struct val *sort, *overflow;
    struct shape shape;
    const char *empty, *many, *dangling, *errors, *keep;
    bool one, replace, has_count, has_flag, in_place, shared, count_shared;
    uint32_t prefix; /* names of `as` that are the way to the targets */
    int32_t limit, page;
    struct child *kids;
    struct vals *keys; /* sort keys of the children */
};

struct target {
    struct val *doc;
    struct path as; /* relative */
    uint32_t *m, n; /* matches, in order */
};

struct parent {
    struct val *old, *now;
    bool refused, blocked;
    const char *why;
    struct target *t;
    uint32_t nt;
    uint32_t nondoc;
    struct vals pages;
};

static void
no(struct parent *p, const char *why)
{
    if (!p->refused)
        p->why = why;
    p->refused = true;
}

static bool
into_path(const struct embed *e, uint32_t i)
{
    return !e->j.into[i].expr;
}

static void
open_embed(struct world *w, struct embed *e)
{
    memset(e, 0, sizeof *e);
    tw_join_open(w, &e->j, false);
    e->from = tw_coll(w, tw_arg(w, "from"), false);
    e->into = tw_coll(w, tw_arg(w, "into"), false);
    e->as = tw_path(tw_arg(w, "as"));
    e->one = tw_flag(w, "one");
    e->sort = tw_arg(w, "sort");
    e->overflow = tw_arg(w, "overflow");
    e->many = tw_word(w, "many", "refuse");
    e->dangling = tw_word(w, "dangling", "keep");
    e->errors = tw_word(w, "errors", "refuse");
    e->keep = tw_word(w, "keep", "unmatched");
    e->empty = tw_word(w, "empty", e->one ? "absent" : "array");
    e->replace = tw_flag(w, "replace");
    e->shape = (struct shape){tw_arg(w, "fields"), tw_arg(w, "drop"), e->errors, false};
    e->limit = tw_as_int(tw_arg(w, "limit"), -1);
    if (tw_arg(w, "count")) {
        e->has_count = true;
        e->count = tw_path(tw_arg(w, "count"));
    }
    if (e->overflow) {
        e->more = tw_coll(w, tw_get(e->overflow, "into"), true);
        e->page = tw_as_int(tw_get(e->overflow, "size"), 1);
        if (e->limit < 0)
            e->limit = e->page;
        if (tw_get(e->overflow, "flag")) {
            e->has_flag = true;
            e->flag = tw_path(tw_get(e->overflow, "flag"));
        }
    }
    const struct val *orphans = tw_arg(w, "orphans");
    if (e->more && orphans && orphans->type == T_DOC && tw_coll(w, tw_get(orphans, "into"), true) == e->more)
        tw_unclear(w, "pages and orphans in one collection");
    for (uint32_t i = 0; i < e->j.n; i++) {
        if (!into_path(e, i))
            continue;
        uint32_t k = tw_common(&e->as, &e->j.into[i].path);
        if (e->j.into_refers && tw_path_same(&e->as, &e->j.into[i].path)) {
            e->in_place = true;
            k = e->as.n - 1;
        }
        if (k > e->prefix)
            e->prefix = k;
    }
    e->shared = e->prefix > 0 || e->in_place;
    if (e->shared && e->j.n > 1)
        tw_unclear(w, "compound key in a shared array");
    e->count_shared = e->has_count && e->shared && tw_common(&e->count, &e->as) >= e->prefix;
}

/* ---- who belongs to a target */
static void
add_match(struct target *t, uint32_t kid)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->m[i] == kid)
            return;
    t->m[t->n++] = kid;
}

/* Children of one reference; in place a document also counts by its `_id`. */
static void
kids_of(const struct embed *e, const struct val *ref, uint32_t *m, uint32_t *n)
{
    struct vals one = {0};
    *n = 0;
    tw_add(&one, (struct val *)ref);
    for (uint32_t i = 0; i < e->from->docs.n; i++)
        if (e->kids[i].part && tw_any_equal(&e->j, &one, &e->kids[i].key[0]))
            m[(*n)++] = i;
    if (*n || !e->in_place || !ref || ref->type != T_DOC || !tw_get(ref, "_id"))
        return;
    for (uint32_t i = 0; i < e->from->docs.n; i++) {
        const struct val *id = tw_get(e->kids[i].doc, "_id");
        if (e->kids[i].part && id && !tw_compare(id, tw_get(ref, "_id")))
            m[(*n)++] = i;
    }
}

static void
by_references(const struct embed *e, struct target *t, const struct vals *refs)
{
    uint32_t *m = tw_new((e->from->docs.n + 1) * sizeof *m), n;
    for (uint32_t r = 0; r < refs->n; r++) {
        if (e->in_place && !refs->v[r]) /* a missing field stays missing: nothing could be put there */
            continue;
        kids_of(e, refs->v[r], m, &n);
        for (uint32_t i = 0; i < n; i++)
            add_match(t, m[i]);
    }
}

static int
gather(struct world *w, const struct embed *e, struct parent *p, struct target *t)
{
    struct vals key[8];
    t->m = tw_new((e->from->docs.n + 1) * sizeof *t->m);
    for (uint32_t i = 0; i < e->j.n; i++) {
        struct side s = e->j.into[i];
        struct val *doc = p->now;
        if (e->shared && !s.expr && (tw_common(&s.path, &e->as) >= e->prefix || e->in_place)) {
            s.path = tw_rest(&s.path, e->prefix);
            doc = t->doc;
        }
        if (tw_side_values(w, &s, doc, &key[i]))
            return 1;
    }
    if (e->j.into_refers && (!e->sort || e->in_place) && e->j.n == 1) {
        by_references(e, t, &key[0]);
        return 0;
    }
    if (e->j.into_refers && !e->sort)
        tw_unclear(w, "order of a compound reference");
    for (uint32_t i = 0; i < e->from->docs.n; i++) {
        bool all = e->kids[i].part;
        for (uint32_t k = 0; all && k < e->j.n; k++)
            all = tw_any_equal(&e->j, &e->kids[i].key[k], &key[k]);
        if (all)
            t->m[t->n++] = i;
    }
    return 0;
}

static void
targets(const struct embed *e, struct parent *p)
{
    struct holders h = {0};
    if (!e->shared) {
        p->t = tw_new(sizeof *p->t);
        p->t[0] = (struct target){.doc = p->now, .as = e->as};
        p->nt = 1;
        return;
    }
    tw_holders(p->now, &e->as, e->prefix, &h);
    p->nondoc = h.blocked;
    p->t = tw_new((h.n + 1) * sizeof *p->t);
    for (uint32_t i = 0; i < h.n; i++)
        p->t[p->nt++] = (struct target){.doc = h.h[i].doc, .as = tw_rest(&e->as, e->prefix)};
}

/* Children whose sort key cannot be made leave the step before anything is decided. */
static bool
sort_keys(struct world *w, struct embed *e, struct parent *p, uint32_t n)
{
    bool again = false;
    e->keys = tw_new((e->from->docs.n + 1) * sizeof *e->keys);
    for (uint32_t i = 0; i < e->from->docs.n; i++) {
        struct child *k = &e->kids[i];
        bool wanted = false;
        for (uint32_t q = 0; k->part && q < n; q++)
            for (uint32_t t = 0; t < p[q].nt; t++)
                for (uint32_t m = 0; m < p[q].t[t].n; m++)
                    wanted |= p[q].t[t].m[m] == i;
        if (!wanted || !tw_sort_key(k->doc, e->sort, &e->keys[i]))
            continue;
        k->part = false;
        k->refused = k->named = true;
        again = true;
        tw_refuse(w, e->from, k->doc, "parallel arrays in sort");
    }
    return again;
}

static void
sort_target(const struct embed *e, struct target *t)
{
    uint32_t k;
    for (uint32_t i = 1; i < t->n; i++)
        for (k = i; k > 0; k--) {
            int r = tw_sort_compare(&e->keys[t->m[k - 1]], &e->keys[t->m[k]], e->sort);
            if (r < 0 || (!r && t->m[k - 1] < t->m[k]))
                break;
            uint32_t x = t->m[k];
            t->m[k] = t->m[k - 1];
            t->m[k - 1] = x;
        }
}

static void
match_all(struct world *w, struct embed *e, struct parent *p, uint32_t n)
{
    for (uint32_t q = 0; q < n; q++) {
        p[q].nt = 0;
        targets(e, &p[q]);
        for (uint32_t t = 0; t < p[q].nt; t++)
            if (gather(w, e, &p[q], &p[q].t[t]))
                no(&p[q], "match fails");
    }
}

/* ---- writing */
static struct val *
shaped(struct world *w, const struct embed *e, struct parent *p, uint32_t kid)
{
    struct vars vars = {.root = e->kids[kid].doc};
    struct val *v = NULL;
    if (tw_shape(w, &e->shape, &vars, &v)) {
        no(p, "a child fails");
        return tw_null();
    }
    return v;
}

struct occurrence {
    struct val *box; /* document or array that holds the reference */
    uint32_t i;
};

static uint32_t
occurrences(struct val *doc, const struct path *path, uint32_t i, struct occurrence *out, uint32_t n)
{
    int at = tw_index(doc, path->p[i]);
    struct val *v = at < 0 ? NULL : doc->f[at].v;
    bool last = i + 1 == path->n;
    if (!v)
        return n;
    if (v->type == T_ARRAY) {
        for (uint32_t k = 0; k < v->n; k++) {
            if (last)
                out[n++] = (struct occurrence){v, k};
            else if (v->f[k].v->type == T_DOC)
                n = occurrences(v->f[k].v, path, i + 1, out, n);
        }
    } else if (last) {
        out[n++] = (struct occurrence){doc, (uint32_t)at};
    } else if (v->type == T_DOC) {
        n = occurrences(v, path, i + 1, out, n);
    }
    return n;
}

static void
dangling(struct world *w, const struct embed *e, struct parent *p)
{
    struct occurrence *o = tw_new(1000 * sizeof *o);
    if (!e->j.into_refers || !strcmp(e->dangling, "keep"))
        return;
    if (e->j.n > 1 || e->j.into[0].expr) {
        tw_unclear(w, "dangling of a compound or computed reference");
        return;
    }
    uint32_t n = occurrences(p->now, &e->j.into[0].path, 0, o, 0), *m = tw_new((e->from->docs.n + 1) * sizeof *m), c;
    for (uint32_t i = n; i-- > 0;) { /* from behind, so that places in arrays hold */
        struct val *ref = o[i].box->f[o[i].i].v;
        kids_of(e, ref, m, &c);
        if (c || tw_is_nullish(ref) || (e->in_place && ref->type == T_DOC) ||
            tw_named(&e->j, e->kids, e->from->docs.n, ref))
            continue;
        if (!strcmp(e->dangling, "refuse")) {
            no(p, "dangling");
        } else if (!strcmp(e->dangling, "null")) {
            if (tw_has_duplicates(o[i].box))
                no(p, "duplicate names");
            o[i].box->f[o[i].i].v = tw_null();
            if (o[i].box->type == T_ARRAY)
                tw_renumber(o[i].box);
        } else {
            if (tw_has_duplicates(o[i].box))
                no(p, "duplicate names");
            tw_cut(o[i].box, o[i].i);
            if (o[i].box->type == T_ARRAY)
                tw_renumber(o[i].box);
        }
    }
}

static void
in_place(struct world *w, const struct embed *e, struct parent *p, struct target *t)
{
    struct occurrence *o = tw_new(1000 * sizeof *o);
    uint32_t n = occurrences(t->doc, &t->as, 0, o, 0), *m = tw_new((e->from->docs.n + 1) * sizeof *m), c;
    for (uint32_t i = 0; i < n; i++) {
        kids_of(e, o[i].box->f[o[i].i].v, m, &c);
        if (!c)
            continue;
        if (c > 1 && !strcmp(e->many, "refuse"))
            no(p, "many");
        if (tw_has_duplicates(o[i].box))
            no(p, "duplicate names");
        uint32_t pick = !strcmp(e->many, "last") ? c - 1 : 0;
        for (uint32_t k = 0; k < c; k++)
            if (k != pick)
                e->kids[m[k]].stay = true;
        o[i].box->f[o[i].i].v = shaped(w, e, p, m[pick]);
        if (o[i].box->type == T_ARRAY)
            tw_renumber(o[i].box);
    }
}

static void
cut_pages(struct world *w, const struct embed *e, struct parent *p, const struct target *t)
{
    struct val *id = tw_get(p->old, "_id");
    if (!id)
        tw_unclear(w, "overflow of a parent without _id");
    for (uint32_t at = (uint32_t)e->limit, number = 2; at < t->n; number++) {
        struct val *page = tw_doc(), *items = tw_array(), *pos = tw_array();
        for (int32_t i = 0; i < e->page && at < t->n; i++)
            tw_append(items, shaped(w, e, p, t->m[at++]));
        tw_append(pos, tw_int64(number));
        tw_push(page, "_id", tw_new_id(e->more->ns, e->into->ns, id, tw_copy(tw_arg(w, "as")), pos, true));
        if (id)
            tw_push(page, tw_str(tw_get(e->overflow, "ref")), tw_copy(id));
        tw_push(page, tw_str(tw_get(e->overflow, "number")), tw_int32((int32_t)number));
        tw_push(page, tw_str(tw_get(e->overflow, "items")), items);
        tw_add(&p->pages, page);
    }
}

/* The value of one target, or NULL when nothing is to be written. */
static struct val *
result(struct world *w, const struct embed *e, struct parent *p, struct target *t)
{
    if (!t->n && !strcmp(e->empty, "absent"))
        return NULL;
    if (!t->n)
        return !strcmp(e->empty, "null") ? tw_null() : tw_array();
    if (e->one) {
        uint32_t pick = !strcmp(e->many, "last") ? t->n - 1 : 0;
        if (t->n > 1 && !strcmp(e->many, "refuse"))
            no(p, "many");
        for (uint32_t i = 0; i < t->n; i++)
            if (i != pick)
                e->kids[t->m[i]].stay = true;
        return shaped(w, e, p, t->m[pick]);
    }
    struct val *list = tw_array();
    uint32_t n = e->limit >= 0 && (uint32_t)e->limit < t->n ? (uint32_t)e->limit : t->n;
    for (uint32_t i = 0; i < n; i++)
        tw_append(list, shaped(w, e, p, t->m[i]));
    return list;
}

static void
stay_all(const struct embed *e, const struct parent *p)
{
    for (uint32_t t = 0; t < p->nt; t++)
        for (uint32_t i = 0; i < p->t[t].n; i++)
            e->kids[p->t[t].m[i]].stay = true;
}

static void
write_as(struct world *w, const struct embed *e, struct parent *p)
{
    struct val **v = tw_new((p->nt + 1) * sizeof *v);
    bool blocked = e->shared && p->nondoc && strcmp(e->empty, "absent"), noplace = false, exists = false, dup = false;
    for (uint32_t t = 0; t < p->nt; t++) {
        v[t] = result(w, e, p, &p->t[t]);
        if (!v[t])
            continue;
        enum put r = tw_probe(p->t[t].doc, &p->t[t].as, e->replace);
        blocked |= r == PUT_BLOCKED;
        noplace |= r == PUT_NO_PLACE;
        exists |= r == PUT_EXISTS;
        dup |= r == PUT_DUPLICATES;
        if (!e->shared && e->overflow && e->limit >= 0 && p->t[t].n > (uint32_t)e->limit && r != PUT_BLOCKED)
            cut_pages(w, e, p, &p->t[t]);
        if (e->shared && e->overflow && p->t[t].n > (uint32_t)e->limit)
            no(p, "overflow in a shared array");
    }
    if (blocked && (exists || noplace) && strcmp(e->errors, "refuse"))
        tw_unclear(w, "blocked and refused at once");
    if (exists || noplace || (dup && !blocked) || (blocked && !strcmp(e->errors, "refuse")))
        no(p, blocked ? "blocked" : exists ? "exists" : noplace ? "no place" : "duplicate names");
    p->blocked = blocked;
    if (blocked) {
        stay_all(e, p);
        p->pages.n = 0;
    }
    for (uint32_t t = 0; t < p->nt && !blocked; t++)
        if (v[t])
            tw_write(p->t[t].doc, &p->t[t].as, v[t]);
}

static void
computed(const struct embed *e, struct parent *p, struct val *doc, const struct path *path, struct val *v)
{
    switch (tw_probe(doc, path, e->replace)) {
    case PUT_EXISTS: no(p, "count or flag exists"); break;
    case PUT_DUPLICATES: no(p, "duplicate names"); break;
    case PUT_BLOCKED:
        if (!strcmp(e->errors, "refuse"))
            no(p, "count or flag blocked");
        break;
    case PUT_NO_PLACE: break;
    case PUT_OK: tw_write(doc, path, v); break;
    }
}

static void
write_count(const struct embed *e, struct parent *p)
{
    int32_t sum = 0;
    if (!e->has_count)
        return;
    for (uint32_t t = 0; t < p->nt; t++)
        sum += (int32_t)p->t[t].n;
    if (!e->count_shared || !e->prefix) {
        computed(e, p, p->now, &e->count, tw_int32(sum));
        return;
    }
    for (uint32_t t = 0; t < p->nt; t++) {
        struct path rel = tw_rest(&e->count, e->prefix);
        computed(e, p, p->t[t].doc, &rel, tw_int32((int32_t)p->t[t].n));
    }
}

static void
one_parent(struct world *w, const struct embed *e, struct parent *p)
{
    for (uint32_t t = 0; t < p->nt; t++)
        for (uint32_t i = 0; i < p->t[t].n; i++) {
            struct child *k = &e->kids[p->t[t].m[i]];
            k->matched = true;
            if (e->limit >= 0 && !e->overflow && i >= (uint32_t)e->limit)
                k->cut = true;
        }
    if (e->in_place)
        for (uint32_t t = 0; t < p->nt; t++)
            in_place(w, e, p, &p->t[t]);
    if (!p->refused)
        dangling(w, e, p);
    if (!e->in_place)
        write_as(w, e, p);
    write_count(e, p);
    if (e->has_flag && p->pages.n)
        computed(e, p, p->now, &e->flag, tw_bool(true));
    else if (e->has_flag && e->replace)
        tw_remove(p->now, &e->flag);
    if (tw_has_duplicates(p->old) && !tw_same_bytes(p->old, p->now))
        no(p, "duplicate names");
}

static void
pages(struct embed *e, struct parent *p, uint32_t n)
{
    uint32_t total = 0, k = 0;
    bool *refused = tw_new(n + 1);
    for (uint32_t q = 0; q < n; q++) {
        refused[q] = p[q].refused;
        total += p[q].pages.n;
    }
    struct cand *c = tw_new((total + 1) * sizeof *c);
    for (uint32_t q = 0; q < n; q++)
        for (uint32_t i = 0; i < p[q].pages.n; i++)
            c[k++] = (struct cand){p[q].pages.v[i], q, MADE};
    tw_conflicts(&e->more->docs, c, total, "refuse", refused, e->replace);
    for (uint32_t q = 0; q < n; q++)
        if (refused[q])
            no(&p[q], "pages disagree");
    tw_admit(&e->more->docs, c, total, "refuse", refused, e->replace);
}

void
tw_step_embed(struct world *w)
{
    struct embed e;
    open_embed(w, &e);
    uint32_t n = e.into->docs.n;
    e.kids = tw_children(w, &e.j, e.from);
    struct parent *p = tw_new((n + 1) * sizeof *p);
    for (uint32_t q = 0; q < n; q++) {
        p[q].old = e.into->docs.v[q];
        p[q].now = tw_copy(p[q].old);
    }
    match_all(w, &e, p, n);
    if (e.sort && sort_keys(w, &e, p, n))
        match_all(w, &e, p, n);
    for (uint32_t q = 0; q < n; q++) {
        for (uint32_t t = 0; e.sort && t < p[q].nt; t++)
            sort_target(&e, &p[q].t[t]);
        if (e.from == e.into && e.kids[q].refused)
            no(&p[q], "refused as a child");
        one_parent(w, &e, &p[q]);
    }
    if (e.more)
        pages(&e, p, n);
    struct vals out = {0};
    for (uint32_t q = 0; q < n; q++) {
        if (p[q].refused) {
            stay_all(&e, &p[q]);
            tw_refuse(w, e.into, p[q].old, p[q].why);
        } else {
            tw_fix_names(p[q].old, p[q].now);
            tw_add(&out, p[q].now);
        }
    }
    uint32_t kids = e.from->docs.n;
    if (e.from == e.into) {
        for (uint32_t i = 0; i < kids; i++)
            if (e.kids[i].part && !e.kids[i].matched && strcmp(tw_word(w, "orphans", "keep"), "keep"))
                tw_unclear(w, "orphans of a collection that embeds itself");
    } else {
        tw_settle(w, e.from, e.kids, kids, e.keep);
    }
    e.into->docs = out;
}
