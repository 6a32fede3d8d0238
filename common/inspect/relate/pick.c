/* SPDX-License-Identifier: Apache-2.0 */
/* pick.c - finds the values at a path of a document, and reads a collection once more. */
#include "relate.h"

struct step {
    struct mrs_walk walk;
    uint32_t way; /* the next part from here */
};

static bool
leads_on(const struct mrsi_way *w, const struct mrs_elem *x)
{
    MRS_ASSERT(x->name);
    switch (w->kind) {
    case MRSI_EACH:
        return true;
    case MRSI_ANY:
        return w->n || mrsi_name_is_data(x->name, x->name_len);
    case MRSI_FIELD:
        return x->name_len == w->n && mrs_same_short(x->name, w->name, w->n);
    }
    return false;
}

/* The next element below a step on the way; false: no more. */
static bool
next(struct step *s, const struct mrsi_way *w, struct mrs_elem *x)
{
    while (mrs_walk_next(&s->walk, x) > 0) {
        if (leads_on(w, x)) {
            if (w->once && w->kind == MRSI_FIELD) {
                s->walk.at = s->walk.end;
            }
            return true;
        }
    }
    return false;
}

static bool
continues(struct mrs_val v, const struct mrsi_way *w)
{
    return v.type == (w->kind == MRSI_EACH ? MRS_ARRAY : MRS_DOCUMENT);
}

enum mrs_status
mrsi_pick(struct mrs_val in, const struct mrsi_way *way, uint32_t ways, bool names, mrsi_pick_fn *fn, void *arg,
          struct mrs_err *e)
{
    MRS_ASSERT(fn && (way || ways == 0));
    struct step step[MRSI_DEPTH + 1];
    uint8_t text[MRSI_NAME_MAX + 5];
    int n = 0;
    enum mrs_status s = MRS_OK;
    if (ways == 0) {
        return fn(arg, &in, e);
    }
    if (continues(in, &way[0])) {
        step[0].way = 0;
        mrs_walk_init(&step[n++].walk, mrs_val_view(in));
    }
    while (s == MRS_OK && n) {
        struct mrs_elem x;
        uint32_t at = step[n - 1].way;
        if (!next(&step[n - 1], &way[at], &x)) {
            n--;
        } else if (at + 1 == ways) {
            if (names && x.name_len <= MRSI_NAME_MAX) {
                x.v = mrsi_name_value(x.name, x.name_len, text);
            }
            s = fn(arg, &x.v, e);
        } else if (continues(x.v, &way[at + 1])) {
            step[n].way = at + 1;
            mrs_walk_init(&step[n++].walk, mrs_val_view(x.v));
        }
    }
    return s;
}

struct mrs_val
mrsi_pick_one(struct mrs_val in, const struct mrsi_way *way, uint32_t ways)
{
    MRS_ASSERT(way || ways == 0);
    struct mrs_elem x = {.v = in};
    for (uint32_t i = 0; i < ways; i++) {
        if (x.v.type != MRS_DOCUMENT || !mrs_doc_find(mrs_val_view(x.v), way[i].name, way[i].n, &x)) {
            return mrs_missing();
        }
    }
    return x.v;
}

uint32_t
mrsi_holder_ways(const struct mrsi_path *p)
{
    uint32_t n = p->ways;
    while (n && p->way[n - 1].kind == MRSI_FIELD) {
        n--;
    }
    return n;
}

bool
mrsi_same_holder(const struct mrsi_path *a, const struct mrsi_path *b)
{
    MRS_ASSERT(a->in && b->in);
    uint32_t n = mrsi_holder_ways(a);
    if (a->in != b->in || n != mrsi_holder_ways(b)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (a->way[i].kind != b->way[i].kind || a->way[i].n != b->way[i].n ||
            memcmp(a->way[i].name, b->way[i].name, a->way[i].n) != 0) {
            return false;
        }
    }
    return true;
}

enum mrs_status
mrsi_scan(struct mrsi_relating *x, const struct mrsi_collection *c, bool in_order,
          enum mrs_status (*doc)(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e),
          void *arg, struct mrs_err *e)
{
    MRS_ASSERT(doc && c->no < x->source->collections);
    struct mrs_inspect_sink to = {.doc = doc, .arg = arg, .in_order = in_order, .again = !c->cut};
    double share = 1;
    struct mrs_err own;
    mrs_err_clear(&own);
    enum mrs_status s = x->source->scan(x->source->arg, c->no, &to, &share, &own);
    if (s != MRS_OK && c->cut && own.code != MRS_E_CANCEL && own.code != MRS_E_MEMORY) {
        return MRS_OK; /* damage already reported in the first pass, at the same place */
    }
    if (s != MRS_OK && e) {
        *e = own;
    }
    return s;
}
