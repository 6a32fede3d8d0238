/* SPDX-License-Identifier: Apache-2.0 */
/* two_way.c - parents that list their children whose children refer to their parent: whether both agree. */
#include "gather.h"

struct two_sides {
    struct mrsi_lookup_value listed, named; /* {child, parent} by the parents' arrays; by the children */
};

/* The array in which the parents of r list their children. */
static struct mrsi_reference *
list_of(const struct mrsi_inspection *x, const struct mrsi_reference *r)
{
    for (uint32_t i = 0; i < x->refs; i++) {
        struct mrsi_reference *l = x->ref[i];
        if (!l->candidate && !l->dropped && l->parts == 1 && l->from[0]->in == r->to[0]->in &&
            l->to[0]->in == r->from[0]->in && l->from[0]->lists == 1 && !l->to[0]->lists && !l->self &&
            !l->from[0]->names) {
            return l;
        }
    }
    return NULL;
}

/* All rows of one child on both sides. */
static enum mrs_status
one_child(struct mrsi_rowset_at *a, struct mrsi_rowset_at *b, const struct mrsi_hash_row **p,
          const struct mrsi_hash_row **q, struct mrsi_two_way *w, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    uint64_t child = (*p)->key[0], parent = (*p)->key[1];
    bool any = false, same = false;
    while (s == MRS_OK && *q && (*q)->key[0] < child) {
        *q = mrsi_rowset_next(b, &s, e);
    }
    while (s == MRS_OK && *q && (*q)->key[0] == child) {
        any = true;
        same |= (*q)->key[1] == parent;
        *q = mrsi_rowset_next(b, &s, e);
    }
    w->agree += same;
    w->gaps += !any;
    w->disagree += any && !same;
    while (s == MRS_OK && *p && (*p)->key[0] == child) {
        *p = mrsi_rowset_next(a, &s, e);
    }
    return s;
}

static enum mrs_status
compare(struct mrsi_relating *x, const struct two_sides *t, struct mrsi_two_way *w, struct mrs_err *e)
{
    struct mrsi_rowset_at *a = mrs_alloc(x->x->mem, sizeof *a), *b = mrs_alloc(x->x->mem, sizeof *b);
    enum mrs_status s = a && b ? MRS_OK : mrs_err_memory(e, sizeof *a);
    if (s == MRS_OK) {
        mrsi_rowset_read(a, &t->named.rows);
        mrsi_rowset_read(b, &t->listed.rows);
        const struct mrsi_hash_row *p = mrsi_rowset_next(a, &s, e), *q = mrsi_rowset_next(b, &s, e);
        while (s == MRS_OK && p) {
            s = one_child(a, b, &p, &q, w, e);
        }
    }
    mrs_free(x->x->mem, a);
    mrs_free(x->x->mem, b);
    return s;
}

static enum mrs_status
one_pair(struct mrsi_relating *x, struct mrsi_reference *r, struct mrsi_reference *list, struct mrs_err *e)
{
    MRS_ASSERT(r != list);
    struct two_sides t = {
        .listed = {.path = {list->from[0], r->to[0]}, .n = 2, .of_root = true, .as_number = {list->as_number}},
        .named = {.path = {list->to[0], r->from[0]}, .n = 2, .as_number = {false, r->as_number}}};
    struct mrsi_lookup_value *lookup[2] = {&t.listed, &t.named};
    r->two_way = mrs_arena_alloc(&x->x->arena, sizeof *r->two_way);
    MRS_TRY(mrs_allocated(r->two_way, sizeof *r->two_way, e));
    *r->two_way = (struct mrsi_two_way){.list = list};
    enum mrs_status s = mrsi_gather(x, lookup, 2, e);
    MRS_THEN(s, compare(x, &t, r->two_way, e));
    mrsi_rowset_end(&t.listed.rows);
    mrsi_rowset_end(&t.named.rows);
    if (s == MRS_OK && r->two_way->agree * 2 < r->from[0]->present - r->from[0]->null) {
        r->two_way = NULL; /* two different relations between the collections, not one stored twice */
    }
    return s;
}

enum mrs_status
mrsi_two_ways(struct mrsi_relating *x, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < x->x->refs; i++) {
        struct mrsi_reference *r = x->x->ref[i];
        bool lists = r->from[0]->lists || r->to[0]->lists;
        bool sampled = mrsi_is_sampled(r->from[0]->in) || mrsi_is_sampled(r->to[0]->in);
        bool plain = !r->candidate && !r->dropped && r->parts == 1 && !lists && !r->from[0]->names && !sampled;
        struct mrsi_reference *list = plain ? list_of(x->x, r) : NULL;
        if (list) {
            s = one_pair(x, r, list, e);
        }
    }
    return s;
}
