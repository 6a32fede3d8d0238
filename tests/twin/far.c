/* SPDX-License-Identifier: Apache-2.0 */
/* far.c - conditions on other collections: before a step runs they become lists of the existing values. */
#include "twin.h"

#include <string.h>

static struct val *with_lists(struct world *w, const struct val *v);

/* The values of one condition; a document on which its `where` fails is refused. */
static struct val *
values_of(struct world *w, const struct val *spec)
{
    struct val *list = tw_array(), *where = tw_get(spec, "where");
    struct path field = tw_path(tw_get(spec, "field"));
    where = where ? with_lists(w, where) : NULL;
    struct coll *c = tw_coll(w, tw_get(spec, "from"), false);
    struct vals kept = {0};
    for (uint32_t i = 0; i < c->docs.n; i++) {
        struct vals found = {0};
        bool yes;
        if (tw_query(w, where, c->docs.v[i], &yes)) {
            tw_refuse(w, c, c->docs.v[i], "where of a condition fails");
            continue;
        }
        tw_add(&kept, c->docs.v[i]);
        if (yes)
            tw_match_values(c->docs.v[i], &field, 0, &found);
        for (uint32_t k = 0; k < found.n; k++)
            if (found.v[k])
                tw_append(list, found.v[k]->type == T_UNDEFINED ? tw_null() : found.v[k]);
    }
    c->docs = kept;
    return list;
}

static struct val *
with_lists(struct world *w, const struct val *v)
{
    if (v->type != T_DOC && v->type != T_ARRAY)
        return (struct val *)v;
    struct val *out = v->type == T_DOC ? tw_doc() : tw_array();
    for (uint32_t i = 0; i < v->n; i++) {
        const char *name = v->f[i].name;
        bool in = v->type == T_DOC && (!strcmp(name, "$in") || !strcmp(name, "$nin"));
        struct val *x = v->f[i].v;
        tw_push(out, name, in && x->type == T_DOC ? values_of(w, x) : strcmp(name, "$expr") ? with_lists(w, x) : x);
    }
    return out;
}

void
tw_resolve_where(struct world *w)
{
    static const char *const keys[] = {"where", "references"}; /* entries of these have a `where` of their own */
    for (int i = 0; i < 2; i++)
        if (tw_arg(w, keys[i]))
            tw_put(w->args, keys[i], with_lists(w, tw_arg(w, keys[i])));
}
