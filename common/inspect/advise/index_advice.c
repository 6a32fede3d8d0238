/* SPDX-License-Identifier: Apache-2.0 */
/* index_advice.c - unnecessary indexes, which cost writes. */
#include "advise.h"
#include "mongoreshape/walk.h"
#include <stdio.h>

enum { MANY = 10 };

static bool
is_id_index(const struct mrsi_seen_index *x)
{
    struct mrs_walk w;
    struct mrs_elem a, b;
    mrs_walk_init(&w, x->key);
    return mrs_walk_next(&w, &a) > 0 && mrs_walk_next(&w, &b) <= 0 && strcmp(a.name, "_id") == 0;
}

static int
direction(struct mrs_val v)
{
    int64_t n;
    return mrs_val_integral(v, &n) ? (n < 0 ? -1 : 1) : 0;
}

/* Whether a's keys are a proper prefix of b's, in the same directions or all reversed. */
static bool
is_prefix(const struct mrsi_seen_index *a, const struct mrsi_seen_index *b)
{
    MRS_ASSERT(a != b);
    struct mrs_walk wa, wb;
    struct mrs_elem x, y;
    int same = 0;
    mrs_walk_init(&wa, a->key);
    mrs_walk_init(&wb, b->key);
    while (mrs_walk_next(&wa, &x) > 0) {
        if (mrs_walk_next(&wb, &y) <= 0 || strcmp(x.name, y.name) != 0) {
            return false;
        }
        int d = direction(x.v) * direction(y.v);
        if (d == 0 || (same && d != same)) {
            return false;
        }
        same = d;
    }
    return same && mrs_walk_next(&wb, &y) > 0;
}

static void
redundant(struct mrsi_advice *y, struct mrsi_collection *c, const struct mrsi_seen_index *a)
{
    MRS_ASSERT(a->name);
    for (uint32_t i = 0; i < c->indexes && a->plain && !a->unique && !is_id_index(a); i++) {
        const struct mrsi_seen_index *b = &c->index[i];
        if (a != b && b->plain && is_prefix(a, b)) {
            struct mrsi_rule_found *r = mrsi_note(y, c, "redundant-index", NULL,
                                                  "all it can do %s does as well; each write pays for both", b->name);
            r->index = a->name;
            r->step = "index";
            return;
        }
    }
}

void
mrsi_rules_of_indexes(struct mrsi_advice *y, struct mrsi_collection *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->indexes; i++) {
        const struct mrsi_seen_index *x = &c->index[i];
        n += !is_id_index(x);
        redundant(y, c, x);
        if (x->used == 0 && !is_id_index(x) && !x->unique) {
            char since[40];
            struct mrsi_rule_found *r = mrsi_note(
                y, c, "unused-index", NULL, "no query used it in %lld days, since %s ($indexStats of %s); each write "
                "pays for it", (long long)x->used_days, mrsi_iso_time(x->used_since, since), x->used_on);
            r->index = x->name;
            r->step = "index";
            mrsi_add_figures(y, (struct mrsi_figure[]){{"uses", 0}, {"days", (double)x->used_days}}, 2);
        }
    }
    if (n > MANY) {
        struct mrsi_rule_found *r = mrsi_note(y, c, "too-many-indexes", NULL,
                                              "%u indexes besides _id: each write changes all of them", n);
        r->step = "index";
        mrsi_add_figures(y, (struct mrsi_figure[]){{"indexes", n}}, 1);
    }
}
