/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - the kinds of path of the plan language, each written down on its own.
 *
 * Matching fans out over arrays, one level at each name. Writing goes through documents, and through arrays into their
 * documents; it creates missing objects and is blocked by anything else. Removing is never blocked. Sorting takes the
 * least (or greatest) tuple of an array on the path, as the server's index keys do. */
#include "twin.h"

#include <string.h>

struct path
tw_path_of(const char *text)
{
    struct path p = {.n = 0};
    for (const char *s = text;; s++) {
        const char *dot = strchr(s, '.');
        size_t n = dot ? (size_t)(dot - s) : strlen(s);
        if (p.n < PATH_MAX_PARTS)
            p.p[p.n++] = tw_text("%.*s", (int)n, s);
        if (!dot)
            return p;
        s = dot;
    }
}

struct path
tw_path(const struct val *spec)
{
    struct path p = {.n = 0};
    if (!spec)
        return p;
    if (spec->type == T_STRING)
        return tw_path_of(tw_str(spec));
    for (uint32_t i = 0; i < spec->n && p.n < PATH_MAX_PARTS; i++)
        p.p[p.n++] = tw_str(spec->f[i].v);
    return p;
}

struct path
tw_rest(const struct path *p, uint32_t skip)
{
    struct path r = {.n = 0};
    for (uint32_t i = skip; i < p->n; i++)
        r.p[r.n++] = p->p[i];
    return r;
}

bool
tw_path_same(const struct path *a, const struct path *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (strcmp(a->p[i], b->p[i]))
            return false;
    return true;
}

uint32_t
tw_common(const struct path *a, const struct path *b)
{
    uint32_t i = 0;
    while (i + 1 < a->n && i + 1 < b->n && !strcmp(a->p[i], b->p[i]))
        i++;
    return i;
}

/* ---- matching: NULL in the list is "missing" */
void
tw_match_values(struct val *doc, const struct path *p, uint32_t i, struct vals *out)
{
    struct val *v = tw_get(doc, p->p[i]);
    bool last = i + 1 == p->n;
    if (!v) {
        tw_add(out, NULL);
    } else if (v->type == T_ARRAY) {
        for (uint32_t k = 0; k < v->n; k++) {
            if (last)
                tw_add(out, v->f[k].v);
            else if (v->f[k].v->type == T_DOC)
                tw_match_values(v->f[k].v, p, i + 1, out);
        }
    } else if (last) {
        tw_add(out, v);
    } else if (v->type == T_DOC) {
        tw_match_values(v, p, i + 1, out);
    } else {
        tw_add(out, NULL);
    }
}

/* ---- writing */
struct count {
    uint32_t places, blocked, exists, duplicates;
};

static void
look(struct val *doc, const struct path *p, uint32_t i, struct count *c)
{
    struct val *v = tw_get(doc, p->p[i]);
    c->duplicates += tw_has_duplicates(doc);
    if (i + 1 == p->n) {
        c->places++;
        c->exists += v != NULL;
    } else if (!v) {
        c->places++;
    } else if (v->type == T_DOC) {
        look(v, p, i + 1, c);
    } else if (v->type == T_ARRAY) {
        for (uint32_t k = 0; k < v->n; k++) {
            if (v->f[k].v->type == T_DOC)
                look(v->f[k].v, p, i + 1, c);
            else
                c->blocked++;
        }
    } else {
        c->blocked++;
    }
}

enum put
tw_probe(struct val *doc, const struct path *p, bool replace)
{
    struct count c = {0};
    look(doc, p, 0, &c);
    if (c.blocked)
        return PUT_BLOCKED;
    if (!c.places)
        return PUT_NO_PLACE;
    if (c.exists && !replace)
        return PUT_EXISTS;
    return c.duplicates ? PUT_DUPLICATES : PUT_OK;
}

static bool
write_from(struct val *doc, const struct path *p, uint32_t i, struct val *v)
{
    struct val *here = tw_get(doc, p->p[i]);
    if (i + 1 == p->n) {
        tw_put(doc, p->p[i], tw_copy(v));
        return true;
    }
    if (!here) {
        here = tw_doc();
        tw_push(doc, p->p[i], here);
    }
    if (here->type == T_DOC)
        return write_from(here, p, i + 1, v);
    bool any = false;
    for (uint32_t k = 0; here->type == T_ARRAY && k < here->n; k++)
        if (here->f[k].v->type == T_DOC)
            any |= write_from(here->f[k].v, p, i + 1, v);
    if (any)
        tw_renumber(here);
    return any;
}

void
tw_write(struct val *doc, const struct path *p, struct val *v)
{
    write_from(doc, p, 0, v);
}

static bool remove_from(struct val *doc, const struct path *p, uint32_t i);

/* Removing enters arrays inside arrays too, as the server's $unset does. */
static bool
remove_in(struct val *v, const struct path *p, uint32_t i)
{
    bool any = false;
    if (v->type == T_DOC)
        return remove_from(v, p, i);
    for (uint32_t k = 0; v->type == T_ARRAY && k < v->n; k++)
        any |= remove_in(v->f[k].v, p, i);
    if (any)
        tw_renumber(v);
    return any;
}

static bool
remove_from(struct val *doc, const struct path *p, uint32_t i)
{
    int at = tw_index(doc, p->p[i]);
    if (at < 0)
        return false;
    if (i + 1 == p->n) {
        tw_cut(doc, (uint32_t)at);
        return true;
    }
    return remove_in(doc->f[at].v, p, i + 1);
}

void
tw_remove(struct val *doc, const struct path *p)
{
    remove_from(doc, p, 0);
}

static bool
remove_dup(struct val *doc, const struct path *p, uint32_t i, bool *dup)
{
    struct val *here = tw_get(doc, p->p[i]);
    bool any = false;
    if (!here)
        return false;
    if (i + 1 == p->n) {
        any = true;
    } else if (here->type == T_DOC) {
        any = remove_dup(here, p, i + 1, dup);
    } else if (here->type == T_ARRAY) {
        for (uint32_t k = 0; k < here->n; k++)
            if (here->f[k].v->type == T_DOC)
                any |= remove_dup(here->f[k].v, p, i + 1, dup);
    }
    *dup |= any && tw_has_duplicates(doc);
    return any;
}

bool
tw_remove_needs_duplicates(struct val *doc, const struct path *p)
{
    bool dup = false;
    remove_dup(doc, p, 0, &dup);
    return dup;
}

/* ---- the documents on a path */
static void
add_holder(struct holder **list, uint32_t *n, uint32_t *cap, const struct holder *h)
{
    if (*n == *cap) {
        struct holder *more = tw_new((*cap * 2 + 8) * sizeof *more);
        if (*n)
            memcpy(more, *list, *n * sizeof *more);
        *list = more;
        *cap = *cap * 2 + 8;
    }
    (*list)[(*n)++] = *h;
}

static void
walk(struct holder h, const struct path *p, uint32_t names, struct holders *out)
{
    h.chain[h.at] = h.doc;
    if (h.at == names) {
        add_holder(&out->h, &out->n, &out->cap, &h);
        return;
    }
    struct val *v = tw_get(h.doc, p->p[h.at]);
    if (!v) {
        add_holder(&out->lack, &out->nlack, &out->caplack, &h);
        return;
    }
    h.at++;
    if (v->type == T_DOC) {
        h.doc = v;
        walk(h, p, names, out);
    } else if (v->type == T_ARRAY) {
        out->arrays++;
        h.npos++;
        for (uint32_t i = 0; i < v->n; i++) {
            h.pos[h.npos - 1] = (int32_t)i;
            h.doc = v->f[i].v;
            if (h.doc->type == T_DOC)
                walk(h, p, names, out);
            else
                out->blocked++;
        }
    } else {
        out->blocked++;
    }
}

void
tw_holders(struct val *doc, const struct path *p, uint32_t names, struct holders *out)
{
    struct holder h = {.doc = doc};
    memset(out, 0, sizeof *out);
    walk(h, p, names, out);
}

/* ---- `fields` as a list: the server's inclusion projection */
static struct val *include(const struct val *v, const struct path *p, uint32_t n, uint32_t depth);

static struct val *
include_value(const struct val *v, const struct path *p, uint32_t n, uint32_t depth)
{
    if (v->type == T_DOC)
        return include(v, p, n, depth);
    if (v->type != T_ARRAY)
        return NULL;
    struct val *out = tw_array();
    for (uint32_t i = 0; i < v->n; i++) {
        struct val *e = include_value(v->f[i].v, p, n, depth);
        if (e)
            tw_append(out, e);
    }
    return out;
}

static struct val *
include(const struct val *v, const struct path *p, uint32_t n, uint32_t depth)
{
    struct val *out = tw_doc();
    for (uint32_t i = 0; i < v->n; i++) {
        struct path *deeper = tw_new((n + 1) * sizeof *deeper);
        uint32_t m = 0;
        bool whole = false;
        for (uint32_t k = 0; k < n; k++) {
            if (p[k].n <= depth || strcmp(p[k].p[depth], v->f[i].name))
                continue;
            whole |= p[k].n == depth + 1;
            deeper[m++] = p[k];
        }
        if (whole) {
            tw_push(out, v->f[i].name, tw_copy(v->f[i].v));
        } else if (m) {
            struct val *e = include_value(v->f[i].v, deeper, m, depth + 1);
            if (e)
                tw_push(out, v->f[i].name, e);
        }
    }
    return out;
}

struct val *
tw_include(const struct val *doc, const struct val *list, bool id)
{
    struct path *p = tw_new((list->n + 1) * sizeof *p);
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const char *s = tw_str(list->f[i].v);
        if (s && !strcmp(s, "-_id"))
            id = false;
        else
            p[n++] = tw_path(list->f[i].v);
    }
    if (id)
        p[n++] = tw_path_of("_id");
    return include(doc, p, n, 0);
}

/* ---- sort keys: all tuples that a document yields */
struct tuple {
    struct vals list; /* of tuples, as arrays */
    uint32_t n;
};

/* Where a path leads without entering an array: the value, or the array and the names that are left. */
static struct val *
lead(struct val *doc, const struct path *p, uint32_t *at, struct val **array)
{
    *array = NULL;
    for (;;) {
        struct val *v = tw_get(doc, p->p[*at]);
        (*at)++;
        if (v && v->type == T_ARRAY) {
            *array = v;
            return NULL;
        }
        if (!v || *at == p->n)
            return v;
        if (v->type != T_DOC)
            return NULL;
        doc = v;
    }
}

static int
expand(struct val *doc, const struct path *p, const uint32_t *from, struct val **fixed, const bool *done,
       struct tuple *t)
{
    struct val *now[32], *array[32], *the = NULL;
    uint32_t at[32];
    bool ready[32];
    for (uint32_t i = 0; i < t->n; i++) {
        now[i] = fixed[i];
        ready[i] = done[i];
        array[i] = NULL;
        at[i] = from[i];
        if (ready[i])
            continue;
        struct val *v = lead(doc, &p[i], &at[i], &array[i]);
        if (!array[i]) {
            now[i] = v ? v : tw_null();
            ready[i] = true;
        } else if (the && the != array[i]) {
            return 1;
        } else {
            the = array[i];
        }
    }
    if (!the) {
        struct val *tuple = tw_array();
        for (uint32_t i = 0; i < t->n; i++)
            tw_append(tuple, now[i]);
        tw_add(&t->list, tuple);
        return 0;
    }
    for (uint32_t k = 0; k < the->n || (!k && !the->n); k++) {
        struct val *e = the->n ? the->f[k].v : NULL, *fix[32];
        bool have[32];
        for (uint32_t i = 0; i < t->n; i++) {
            have[i] = true;
            fix[i] = now[i];
            if (ready[i])
                continue;
            if (at[i] == p[i].n)
                fix[i] = e ? e : tw_leaf(T_UNDEFINED, NULL, 0);
            else if (e && e->type == T_DOC)
                have[i] = false;
            else
                fix[i] = tw_null();
        }
        if (expand(e && e->type == T_DOC ? e : tw_doc(), p, at, fix, have, t))
            return 1;
    }
    return 0;
}

int
tw_sort_compare(const struct vals *a, const struct vals *b, const struct val *spec)
{
    for (uint32_t i = 0; i < spec->n; i++) {
        int r = tw_compare(a->v[i], b->v[i]);
        if (r)
            return tw_num_double(spec->f[i].v) < 0 ? -r : r;
    }
    return 0;
}

int
tw_sort_key(struct val *doc, const struct val *spec, struct vals *key)
{
    struct path p[32];
    struct val *fixed[32] = {0};
    uint32_t from[32] = {0};
    bool done[32] = {false};
    struct tuple t = {.n = spec->n};
    for (uint32_t i = 0; i < spec->n; i++)
        p[i] = tw_path_of(spec->f[i].name);
    if (expand(doc, p, from, fixed, done, &t))
        return 1;
    for (uint32_t k = 0; k < t.list.n; k++) {
        struct vals one = {0};
        for (uint32_t i = 0; i < t.n; i++)
            tw_add(&one, t.list.v[k]->f[i].v);
        if (!k || tw_sort_compare(&one, key, spec) < 0)
            *key = one;
    }
    return 0;
}
