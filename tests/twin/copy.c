/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - fields of one document next to the references to it, naively: every reference is compared with every
 * source. */
#include "twin.h"

#include <string.h>

struct copy {
    struct join j;
    struct coll *from, *into;
    struct val *fields;
    struct path as, ref;
    const char *many, *dangling, *errors, *wrap;
    bool has_as, root, drop, replace, keep_none;
    struct val *sort;
    struct vals *keys; /* of the children, by which they are sorted */
    struct child *kids;
    uint32_t n;
};

struct target {
    struct val *old, *now;
    bool refused;
    const char *why;
    struct vals used; /* int32 numbers of the children that this document took */
};

static void
no(struct target *t, const char *why)
{
    if (!t->refused)
        t->why = why;
    t->refused = true;
}

static void
open_copy(struct world *w, struct copy *c)
{
    memset(c, 0, sizeof *c);
    tw_join_open(w, &c->j, true);
    c->from = tw_coll(w, tw_arg(w, "from"), false);
    c->into = tw_coll(w, tw_arg(w, "into"), false);
    c->fields = tw_arg(w, "fields");
    c->many = tw_word(w, "many", "refuse");
    c->dangling = tw_word(w, "dangling", "keep");
    c->errors = tw_word(w, "errors", "refuse");
    c->wrap = tw_word(w, "wrap", NULL);
    c->root = !strcmp(tw_word(w, "at", "reference"), "root") || !c->j.into_refers;
    c->drop = !strcmp(tw_word(w, "refs", "keep"), "drop");
    c->replace = tw_flag(w, "replace");
    c->ref = c->j.into[0].path;
    if (tw_arg(w, "as")) {
        c->has_as = true;
        c->as = tw_path(tw_arg(w, "as"));
    }
    if (c->j.n > 1 && !c->root)
        tw_unclear(w, "compound reference beside");
    if (c->drop && c->root)
        tw_unclear(w, "references dropped from the root");
}

static void
sort_keys(struct world *w, struct copy *c)
{
    c->sort = tw_arg(w, "sort");
    c->keys = tw_new((c->n + 1) * sizeof *c->keys);
    for (uint32_t i = 0; c->sort && i < c->n; i++)
        if (c->kids[i].part && tw_sort_key(c->kids[i].doc, c->sort, &c->keys[i])) {
            tw_unclear(w, "parallel arrays in the sort of a copy");
            c->sort = NULL;
        }
}

static bool
is_before(const struct copy *c, uint32_t a, uint32_t b)
{
    int r = c->sort ? tw_sort_compare(&c->keys[a], &c->keys[b], c->sort) : 0;
    return r < 0 || (!r && a < b);
}

/* The source of a value; -1: none, -2: refused. Several: `many`. */
static int
source_of(const struct copy *c, struct target *t, const struct val *ref)
{
    struct vals one = {0};
    int first = -1, last = -1;
    tw_add(&one, (struct val *)ref);
    for (uint32_t i = 0; i < c->n; i++) {
        if (!c->kids[i].part || !tw_any_equal(&c->j, &one, &c->kids[i].key[0]))
            continue;
        c->kids[i].matched = true;
        if (first < 0 || is_before(c, i, (uint32_t)first))
            first = (int)i;
        if (last < 0 || is_before(c, (uint32_t)last, i))
            last = (int)i;
    }
    if (first != last && !strcmp(c->many, "refuse")) {
        no(t, "many");
        return -2;
    }
    return !strcmp(c->many, "last") ? last : first;
}

static void
others_stay(const struct copy *c, const struct val *ref, int pick)
{
    struct vals one = {0};
    tw_add(&one, (struct val *)ref);
    for (uint32_t i = 0; i < c->n; i++)
        if ((int)i != pick && c->kids[i].part && tw_any_equal(&c->j, &one, &c->kids[i].key[0]))
            c->kids[i].stay = true;
}

/* ---- the copies */
static void
blocked(const struct copy *c, struct target *t, int kid, const char *why)
{
    c->kids[kid].stay = true;
    if (!strcmp(c->errors, "refuse"))
        no(t, why);
}

static bool
put_list(struct world *w, const struct copy *c, struct target *t, struct val *doc, const struct val *src, bool replace)
{
    for (uint32_t i = 0; i < c->fields->n; i++) {
        const char *name = tw_str(c->fields->f[i].v);
        if (!name || strchr(name, '.') || !strcmp(name, c->ref.p[c->ref.n - 1]))
            tw_unclear(w, "bare copy of such a field");
        if (name && tw_get(doc, name) && !replace) {
            no(t, "a copied field exists");
            return false;
        }
    }
    for (uint32_t i = 0; i < c->fields->n; i++) {
        struct path p = tw_path(c->fields->f[i].v);
        if (p.n == 1 && !tw_get(src, p.p[0]))
            tw_remove(doc, &p);
    }
    struct val *some = tw_include(src, c->fields, false);
    for (uint32_t i = 0; i < some->n; i++)
        tw_put(doc, some->f[i].name, some->f[i].v);
    return true;
}

static bool
put_map(struct world *w, const struct copy *c, struct target *t, struct val *doc, int kid, bool replace)
{
    struct vars vars = {.root = c->kids[kid].doc};
    for (uint32_t i = 0; i < c->fields->n; i++) {
        struct path p = tw_path_of(c->fields->f[i].name);
        struct val *v;
        bool keep = false;
        if (c->ref.n && !strcmp(p.p[0], c->ref.p[c->ref.n - 1]))
            tw_unclear(w, "bare copy of such a field");
        if (tw_eval(w, c->fields->f[i].v, &vars, &v)) {
            if (!strcmp(c->errors, "refuse"))
                no(t, "fields fail");
            keep = !strcmp(c->errors, "keep");
            v = !strcmp(c->errors, "null") ? tw_null() : NULL;
        }
        enum put r = tw_probe(doc, &p, replace);
        if (p.n > 1 && tw_get(doc, p.p[0]))
            tw_unclear(w, "a bare copy into a document that is there");
        bool level = v || (!keep && tw_remove_needs_duplicates(doc, &p)); /* is it written? */
        if (r == PUT_EXISTS || (r == PUT_DUPLICATES && level)) {
            no(t, "a copied field exists");
        } else if (keep) {
            continue;
        } else if (!v) {
            tw_remove(doc, &p);
        } else if (r == PUT_BLOCKED) {
            blocked(c, t, kid, "blocked");
        } else if (r == PUT_NO_PLACE) {
            no(t, "no place");
        } else {
            tw_write(doc, &p, v);
        }
    }
    return true;
}

/* True: the copies are there, so the reference may go. */
static bool
put_copies(struct world *w, const struct copy *c, struct target *t, struct val *doc, int kid, bool replace)
{
    const struct val *src = c->kids[kid].doc;
    if (tw_has_duplicates(src))
        tw_unclear(w, "copy from a document with duplicate names");
    if (!c->has_as)
        return c->fields->type == T_ARRAY ? put_list(w, c, t, doc, src, replace)
                                          : put_map(w, c, t, doc, kid, replace);
    struct shape s = {c->fields, NULL, c->errors, false};
    struct vars vars = {.root = (struct val *)src};
    struct val *sub = NULL;
    if (c->fields->type == T_ARRAY)
        sub = tw_include(src, c->fields, false);
    else if (tw_shape(w, &s, &vars, &sub)) {
        no(t, "fields fail");
        return false;
    }
    switch (tw_probe(doc, &c->as, replace)) {
    case PUT_OK: tw_write(doc, &c->as, sub); return true;
    case PUT_BLOCKED: blocked(c, t, kid, "blocked"); return false;
    default: no(t, "as"); return false;
    }
}

/* ---- references */
static bool
none(struct world *w, const struct copy *c, struct target *t, struct val *box, uint32_t i, bool wrapped)
{
    if (tw_is_nullish(box->f[i].v) || !strcmp(c->dangling, "keep") || tw_named(&c->j, c->kids, c->n, box->f[i].v))
        return false;
    if (!strcmp(c->dangling, "refuse")) {
        no(t, "dangling");
        return false;
    }
    if (wrapped)
        tw_unclear(w, "a wrapped reference that dangles");
    if (!strcmp(c->dangling, "null"))
        box->f[i].v = tw_null();
    else
        tw_cut(box, i);
    return !strcmp(c->dangling, "drop");
}

/* One place that holds a reference with `wrap`; true: it was cut out. */
static bool
wrap_one(struct world *w, const struct copy *c, struct target *t, struct val *box, uint32_t i)
{
    struct val *x = box->f[i].v;
    struct val *id = x->type == T_DOC ? tw_get(x, c->wrap) : NULL;
    const struct val *ref = id ? id : x;
    if (id && id->type == T_ARRAY)
        tw_unclear(w, "a wrapped reference that is an array");
    int kid = source_of(c, t, ref);
    if (kid == -1)
        return none(w, c, t, box, i, id != NULL);
    if (kid < 0)
        return false;
    others_stay(c, ref, kid);
    struct val *d = tw_doc();
    if (id) {
        d = tw_copy(x);
        put_copies(w, c, t, d, kid, true);
        if (tw_has_duplicates(x))
            no(t, "duplicate names");
    } else {
        tw_push(d, c->wrap, tw_copy(x));
        put_copies(w, c, t, d, kid, false);
    }
    struct path p = {.p = {c->wrap}, .n = 1};
    if (c->drop)
        tw_remove(d, &p);
    box->f[i].v = d;
    return false;
}

static bool
has_reference(const struct copy *c, const struct val *array)
{
    for (uint32_t i = 0; i < array->n; i++)
        if (!tw_is_nullish(array->f[i].v) || c->j.nulls)
            return true;
    return false;
}

static void
beside(struct world *w, const struct copy *c, struct target *t, struct val *doc)
{
    const char *name = c->ref.p[c->ref.n - 1];
    int at = tw_index(doc, name);
    struct val *v = at < 0 ? NULL : doc->f[at].v;
    if (!v && (!c->j.nulls || c->wrap))
        return;
    if (v && v->type == T_ARRAY && c->wrap) {
        for (uint32_t i = 0; i < v->n;)
            i += !wrap_one(w, c, t, v, i);
        return;
    }
    if (v && v->type == T_ARRAY) {
        if (v->n && !has_reference(c, v))
            tw_unclear(w, "an array of nulls without wrap");
        if (has_reference(c, v)) {
            no(t, "an array of bare references needs wrap");
            for (uint32_t i = 0; i < v->n; i++)
                source_of(c, t, v->f[i].v);
        }
        return;
    }
    if (c->wrap) {
        wrap_one(w, c, t, doc, (uint32_t)at);
        return;
    }
    int kid = source_of(c, t, v);
    if (kid == -1 && v)
        none(w, c, t, doc, (uint32_t)at, false);
    if (kid < 0)
        return;
    others_stay(c, v, kid);
    if (!put_copies(w, c, t, doc, kid, c->replace) || !c->drop || !v)
        return;
    struct path p = {.p = {name}, .n = 1};
    tw_remove(doc, &p);
}

/* Every place below doc that holds a reference which matches nobody. */
static void
dangling_at_root(struct world *w, const struct copy *c, struct target *t, struct val *doc, uint32_t i)
{
    int at = tw_index(doc, c->ref.p[i]);
    struct val *v = at < 0 ? NULL : doc->f[at].v;
    bool last = i + 1 == c->ref.n;
    if (v && !last && v->type == T_DOC)
        dangling_at_root(w, c, t, v, i + 1);
    if (v && last && v->type != T_ARRAY && !tw_known(&c->j, c->kids, c->n, v))
        none(w, c, t, doc, (uint32_t)at, false);
    for (uint32_t k = 0; v && v->type == T_ARRAY && k < v->n;) {
        bool cut = false;
        if (!last && v->f[k].v->type == T_DOC)
            dangling_at_root(w, c, t, v->f[k].v, i + 1);
        else if (last && !tw_known(&c->j, c->kids, c->n, v->f[k].v))
            cut = none(w, c, t, v, k, false);
        k += !cut;
    }
}

/* The sources of all references of a document, in the order of the references, or sorted, each once. */
static uint32_t
in_order(const struct copy *c, const struct vals *refs, uint32_t *m)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < (c->j.n == 1 ? refs[0].n : 1); r++) {
        for (uint32_t i = 0; i < c->n; i++) {
            struct vals one = {0};
            bool all = c->kids[i].part;
            if (c->j.n == 1)
                tw_add(&one, refs[0].v[r]);
            for (uint32_t k = 0; all && k < c->j.n; k++)
                all = tw_any_equal(&c->j, &c->kids[i].key[k], c->j.n == 1 ? &one : &refs[k]);
            for (uint32_t k = 0; all && k < n; k++)
                all = m[k] != i;
            if (all)
                m[n++] = i;
        }
    }
    for (uint32_t i = 1; c->sort && i < n; i++)
        for (uint32_t k = i; k > 0 && is_before(c, m[k], m[k - 1]); k--) {
            uint32_t x = m[k];
            m[k] = m[k - 1];
            m[k - 1] = x;
        }
    return n;
}

static void
at_root(struct world *w, const struct copy *c, struct target *t)
{
    struct vals refs[8];
    for (uint32_t i = 0; i < c->j.n; i++)
        if (tw_side_values(w, &c->j.into[i], t->now, &refs[i])) {
            no(t, "match fails");
            return;
        }
    uint32_t *m = tw_new((c->n + 1) * sizeof *m), count = in_order(c, refs, m);
    for (uint32_t i = 0; i < count; i++)
        c->kids[m[i]].matched = true;
    if (count > 1 && !strcmp(c->many, "refuse"))
        no(t, "many");
    if (c->j.into_refers && c->j.n == 1 && !c->j.into[0].expr)
        dangling_at_root(w, c, t, t->now, 0);
    if (!count)
        return;
    int pick = (int)m[!strcmp(c->many, "last") ? count - 1 : 0];
    for (uint32_t i = 0; i < count; i++)
        if ((int)m[i] != pick)
            c->kids[m[i]].stay = true;
    put_copies(w, c, t, t->now, pick, c->replace);
}

/* A refused document leaves its sources where they are: those that its references, where copies would be, name. */
static void
give_back(struct world *w, const struct copy *c, const struct target *t)
{
    struct vals refs = {0};
    struct holders h = {0};
    if (c->root && tw_side_values(w, &c->j.into[0], t->old, &refs))
        return;
    if (!c->root)
        tw_holders(t->old, &c->ref, c->ref.n - 1, &h);
    for (uint32_t k = 0; k < h.n; k++) {
        int at = tw_index(h.h[k].doc, c->ref.p[c->ref.n - 1]);
        struct val *v = at < 0 ? NULL : h.h[k].doc->f[at].v;
        for (uint32_t i = 0; v && v->type == T_ARRAY && i < v->n; i++)
            tw_add(&refs, v->f[i].v);
        if (!v || v->type != T_ARRAY)
            tw_add(&refs, v);
    }
    for (uint32_t r = 0; r < refs.n; r++) {
        struct val *v = refs.v[r];
        if (c->wrap && v && v->type == T_DOC && tw_get(v, c->wrap))
            refs.v[r] = tw_get(v, c->wrap);
    }
    for (uint32_t i = 0; i < c->n; i++)
        if (c->kids[i].part && tw_any_equal(&c->j, &c->kids[i].key[0], &refs))
            c->kids[i].stay = true;
}

void
tw_step_copy(struct world *w)
{
    struct copy c;
    struct vals out = {0};
    open_copy(w, &c);
    c.kids = tw_children(w, &c.j, c.from);
    c.n = c.from->docs.n;
    sort_keys(w, &c);
    for (uint32_t i = 0; i < c.into->docs.n; i++) {
        struct target t = {.old = c.into->docs.v[i], .now = tw_copy(c.into->docs.v[i])};
        struct holders h;
        if (c.root) {
            at_root(w, &c, &t);
        } else {
            tw_holders(t.now, &c.ref, c.ref.n - 1, &h);
            for (uint32_t k = 0; k < h.n; k++)
                beside(w, &c, &t, h.h[k].doc);
        }
        if (tw_has_duplicates(t.old) && !tw_same_bytes(t.old, t.now))
            no(&t, "duplicate names");
        if (c.from == c.into && c.kids[i].refused)
            no(&t, "refused as a source");
        if (t.refused) {
            give_back(w, &c, &t);
            tw_refuse(w, c.into, t.old, t.why);
        } else {
            tw_fix_names(t.old, t.now);
            tw_add(&out, t.now);
        }
    }
    if (c.from != c.into)
        tw_settle(w, c.from, c.kids, c.n, tw_word(w, "keep", "all"));
    else if (tw_arg(w, "orphans"))
        tw_unclear(w, "orphans of a collection that copies into itself");
    c.into->docs = out;
}
