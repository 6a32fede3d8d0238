/* SPDX-License-Identifier: Apache-2.0 */
/* window.c - values of a group in its documents, naively: every document reads all of its group again. */
#include "twin.h"

#include <string.h>

struct member_of { /* of a group, or of none */
    struct val *doc, *key;
    struct vals sort;
    bool part;
    const char *why; /* not NULL: refused */
};

static void
enter(struct world *w, struct val *doc, struct member_of *m)
{
    const struct val *by = tw_arg(w, "by"), *sort = tw_arg(w, "sort");
    m->doc = doc;
    m->key = tw_null();
    if (tw_query(w, tw_arg(w, "where"), doc, &m->part))
        m->why = "where fails";
    else if (!m->part)
        return;
    else if (by && tw_group_key(w, doc, &m->key))
        m->why = "the key fails";
    else if (m->key->type == T_ARRAY)
        m->why = "the key is an array";
    else if (sort && tw_sort_key(doc, sort, &m->sort))
        m->why = "parallel arrays in sort";
    m->part = !m->why;
}

/* The group of m[i], in its order; the place of m[i] in it. */
static uint32_t
gather(struct world *w, struct member_of *m, uint32_t n, uint32_t i, struct group_of *g)
{
    uint32_t at = 0, *from = tw_new((n + 1) * sizeof *from);
    g->doc = tw_new((n + 1) * sizeof *g->doc);
    g->key = tw_new((n + 1) * sizeof *g->key);
    g->sort = tw_arg(w, "sort");
    g->over = tw_word(w, "over", "group");
    g->n = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (!m[k].part || tw_compare(m[k].key, m[i].key))
            continue;
        uint32_t to = g->n++;
        for (; to > 0 && g->sort && tw_sort_compare(&m[from[to - 1]].sort, &m[k].sort, g->sort) > 0; to--)
            from[to] = from[to - 1];
        from[to] = k;
    }
    for (uint32_t k = 0; k < g->n; k++) {
        g->doc[k] = m[from[k]].doc;
        g->key[k] = m[from[k]].sort;
        at = from[k] == i ? k : at;
    }
    return at;
}

/* e with the values of its operators in their places. */
static int
put_in(struct world *w, const struct group_of *g, const struct val *e, uint32_t i, bool top, struct val **out)
{
    struct val *v = NULL;
    if (tw_is_window_op(e, top)) {
        if (tw_window_op(w, g, e, i, &v))
            return 1;
        *out = tw_doc();
        tw_push(*out, "$literal", v ? tw_copy(v) : tw_null());
        return 0;
    }
    *out = tw_copy(e);
    if (e->type == T_DOC && e->n && !strcmp(e->f[0].name, "$literal"))
        return 0;
    for (uint32_t k = 0; k < e->n; k++) {
        if (put_in(w, g, e->f[k].v, i, false, &v))
            return 1;
        (*out)->f[k].v = v;
    }
    return 0;
}

static const char *
write_field(struct world *w, struct val *now, const char *name, struct val *v, bool failed)
{
    const char *errors = tw_word(w, "errors", "refuse");
    struct path path = tw_path_of(name);
    enum put put = tw_probe(now, &path, tw_flag(w, "replace"));
    bool keeps = failed && !strcmp(errors, "keep");
    if (failed && !strcmp(errors, "refuse"))
        return "an operator or expression fails";
    if (failed)
        v = !strcmp(errors, "null") ? tw_null() : NULL;
    if (put == PUT_BLOCKED && !strcmp(errors, "refuse"))
        return "blocked";
    if (put == PUT_EXISTS)
        return "exists";
    if (put == PUT_DUPLICATES && v && path.n == 1 && tw_get(now, name) && tw_same_bytes(tw_get(now, name), v))
        return NULL; /* it stays as it is */
    if (put == PUT_DUPLICATES && (v || (!keeps && tw_remove_needs_duplicates(now, &path))))
        return "duplicate names";
    if (put == PUT_OK && v)
        tw_write(now, &path, tw_copy(v));
    else if (put == PUT_OK && !keeps)
        tw_remove(now, &path);
    return NULL;
}

static const char *
one_field(struct world *w, const struct group_of *g, uint32_t i, const struct field *field, struct val *now)
{
    struct val *e = NULL, *v = NULL;
    struct vars vars = {.root = g->doc[i]};
    bool failed = put_in(w, g, field->v, i, true, &e) || tw_eval(w, e, &vars, &v);
    return write_field(w, now, field->name, v, failed);
}

/* Fields below one name are where the plan names the first of them, though that one may come to nothing. */
static const char *
one_document(struct world *w, const struct group_of *g, uint32_t i, struct val *now)
{
    const struct val *fields = tw_arg(w, "fields");
    const char *why = NULL;
    for (uint32_t k = 0; k < fields->n; k++)
        for (uint32_t j = k; j < fields->n && !why; j++) {
            struct path a = tw_path_of(fields->f[k].name), b = tw_path_of(fields->f[j].name);
            bool before = false;
            for (uint32_t f = 0; f < k; f++)
                before |= !strcmp(tw_path_of(fields->f[f].name).p[0], a.p[0]);
            if (!before && !strcmp(a.p[0], b.p[0]))
                why = one_field(w, g, i, &fields->f[j], now);
        }
    if (!why && tw_has_duplicates(g->doc[i]) && !tw_same_bytes(g->doc[i], now))
        why = "duplicate names";
    return why;
}

void
tw_step_window(struct world *w)
{
    struct coll *c = tw_coll(w, tw_arg(w, "in"), false);
    uint32_t n = c->docs.n;
    struct member_of *m = tw_new((n + 1) * sizeof *m);
    struct vals out = {0};
    for (uint32_t i = 0; i < n; i++)
        enter(w, c->docs.v[i], &m[i]);
    for (uint32_t i = 0; i < n; i++) {
        struct val *now = tw_copy(m[i].doc);
        struct group_of g;
        if (m[i].part) {
            uint32_t at = gather(w, m, n, i, &g);
            m[i].why = one_document(w, &g, at, now);
            tw_fix_names(m[i].doc, now);
        }
        if (m[i].why)
            tw_refuse(w, c, m[i].doc, m[i].why);
        else
            tw_add(&out, now);
    }
    c->docs = out;
}
