/* SPDX-License-Identifier: Apache-2.0 */
/* copies.c - fields that repeat fields of the referenced document: copies, fresh or stale; if they are keys themselves,
 * aliases of the reference. */
#include "gather.h"
#include <strings.h>

enum { COPIES = 256 };

struct besides {
    struct mrsi_lookup_value child, parent;
};

static bool
is_text(const struct mrsi_path *p)
{
    return p->count.n[MRSI_TEXT] * 2 > p->present - p->null;
}

static bool
is_number(const struct mrsi_path *p)
{
    return (p->count.n[MRSI_NUMBER] + p->count.n[MRSI_FRACTION]) * 2 > p->present - p->null;
}

static bool
is_plain(const struct mrsi_path *p)
{
    return p->kind == MRSI_FIELD && !p->names && p->present > p->null && (is_text(p) || is_number(p));
}

/* Whether the samples allow one to be a copy of the other. */
static bool
may_copy(const struct mrsi_path *p, const struct mrsi_path *of)
{
    MRS_ASSERT(p != of);
    bool known;
    if (is_text(p) != is_text(of) || of->lists || p->distinct < 2 || (is_number(p) && p->distinct <= 20)) {
        return false;
    }
    if (is_number(p) && p->in == of->in && strcmp(p->last, of->last) != 0) {
        return false; /* begins where the previous one ended */
    }
    if (!p->hash || !of->hash) { /* mostly fractions: without a sample */
        return strcmp(p->last, of->last) == 0;
    }
    double part = mrsi_sample_contained(p, false, of, &known);
    return known ? part >= .3 : strcmp(p->last, of->last) == 0;
}

static enum mrs_status
propose_copy(struct mrsi_relating *x, struct mrsi_reference *r, struct mrsi_path *p, struct mrsi_path *of,
             struct mrs_err *e)
{
    struct mrsi_inspection *ins = x->x;
    struct mrsi_copied *more = mrs_arena_more(&ins->arena, ins->copy, ins->copies, &ins->copy_cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    ins->copy = more;
    ins->copy[ins->copies++] = (struct mrsi_copied){.from = p, .of = of, .beside = r};
    return MRS_OK;
}

static enum mrs_status
propose_beside(struct mrsi_relating *x, struct mrsi_reference *r, struct mrs_err *e)
{
    MRS_ASSERT(r->parts > 0);
    struct mrsi_path *key = r->to[0];
    struct mrsi_collection *from = r->from[0]->in, *to = key->in;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && !key->lists && i < from->paths; i++) {
        struct mrsi_path *p = &from->path[i];
        if (p == r->from[0] || !is_plain(p) || !mrsi_same_holder(p, r->from[0]) || mrsi_path_is_id(p)) {
            continue;
        }
        for (uint32_t k = 0; s == MRS_OK && k < to->paths && x->x->copies < COPIES; k++) {
            struct mrsi_path *of = &to->path[k];
            if (of != key && of != p && is_plain(of) && may_copy(p, of)) {
                s = propose_copy(x, r, p, of, e);
            }
        }
    }
    return s;
}

/* A reference to a third collection: it may differ from the parent's without being stale. */
static bool
has_own_target(const struct mrsi_inspection *x, const struct mrsi_copied *c)
{
    MRS_ASSERT(c->beside);
    const struct mrsi_reference *r = mrsi_reference_from(x, c->from);
    return r && r != c->beside && r->to[0] != c->of && r->to[0]->in != c->of->in;
}

/* Compares children, in the order of their parents' keys, with their parents. Each child is also compared with the
 * previous parent: fields that agree there agree by chance. */
static enum mrs_status
compare(struct mrsi_relating *x, const struct besides *b, struct mrsi_copied *c, struct mrs_err *e)
{
    MRS_ASSERT(c->from && c->of);
    struct mrsi_rowset_at *a = mrs_alloc(x->x->mem, sizeof *a), *k = mrs_alloc(x->x->mem, sizeof *k);
    enum mrs_status s = a && k ? MRS_OK : mrs_err_memory(e, sizeof *a);
    uint64_t equal = 0, by_chance = 0, before = 0;
    if (s == MRS_OK) {
        mrsi_rowset_read(a, &b->child.rows);
        mrsi_rowset_read(k, &b->parent.rows);
        const struct mrsi_hash_row *p = mrsi_rowset_next(a, &s, e), *q = mrsi_rowset_next(k, &s, e);
        while (s == MRS_OK && p && q) {
            if (p->key[0] < q->key[0]) {
                p = mrsi_rowset_next(a, &s, e);
            } else if (p->key[0] > q->key[0]) {
                before = q->key[1];
                q = mrsi_rowset_next(k, &s, e);
            } else {
                c->compared += p->count;
                equal += p->key[1] == q->key[1] ? p->count : 0;
                by_chance += p->key[1] == before ? p->count : 0;
                p = mrsi_rowset_next(a, &s, e);
            }
        }
    }
    c->stale = c->compared - equal;
    bool further = mrsi_path_is_unique(c->from) && c->beside->parents * 5 < c->beside->matched * 4; /* aliases, say */
    c->reported = c->compared >= 10 && equal * 2 >= c->compared && equal >= by_chance * 2 && !further &&
                  (!has_own_target(x->x, c) || equal * 20 >= c->compared * 19);
    mrs_free(x->x->mem, a);
    mrs_free(x->x->mem, k);
    return s;
}

/* Keeps, of several possible originals of a field, the one that agrees most. */
static void
keep_best(struct mrsi_inspection *x)
{
    MRS_ASSERT(x->copies <= x->copy_cap);
    for (uint32_t i = 0; i < x->copies; i++) {
        struct mrsi_copied *a = &x->copy[i];
        for (uint32_t j = 0; a->reported && j < x->copies; j++) {
            struct mrsi_copied *b = &x->copy[j];
            if (i == j || !b->reported || a->from != b->from) {
                continue;
            }
            uint64_t ea = a->compared - a->stale, eb = b->compared - b->stale;
            if (eb > ea ||
                (eb == ea && (strcmp(b->from->last, b->of->last) == 0) > (strcmp(a->from->last, a->of->last) == 0)) ||
                (eb == ea && strcmp(a->from->last, a->of->last) != 0 && strcmp(b->from->last, b->of->last) != 0 &&
                 j < i)) {
                a->reported = false;
            }
        }
    }
}

/* A second reference to the same parent, by another key, is an alias of the first; a copy of what the parent itself
 * refers to (the previous revision of this one) is none. */
static void
find_aliases(struct mrsi_inspection *x)
{
    for (uint32_t i = 0; i < x->copies; i++) {
        struct mrsi_copied *c = &x->copy[i];
        struct mrsi_reference *other = c->reported ? mrsi_reference_from(x, c->from) : NULL;
        bool key = other && (other->to[0] == c->of ||
                             (other->to[0]->in == c->of->in && !mrsi_reference_from(x, c->of)));
        if (key && other != c->beside && !c->beside->dropped && !other->dropped) {
            other->dropped = true;
            other->alias_of = c->beside;
        }
    }
}

/* Of two aliases the better key comes first: `_id`, one named as an id, one with a unique index. */
static int
worth(const struct mrsi_path *key)
{
    bool id = strcasecmp(key->last, "id") == 0; /* not a code or a key */
    return mrsi_path_is_id(key) * 8 + mrsi_name_has_id(key) * 2 + id * 2 + mrsi_path_has_unique_index(key);
}

static bool
sorts_before(const struct mrsi_reference *a, const struct mrsi_reference *b)
{
    int wa = worth(a->to[0]), wb = worth(b->to[0]);
    return wa != wb ? wa > wb : a->score > b->score;
}

static enum mrs_status
propose_all(struct mrsi_relating *x, struct mrs_err *e)
{
    struct mrsi_inspection *ins = x->x;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < ins->refs; i++) {
        struct mrsi_reference *r = ins->ref[i];
        s = mrsi_check_cancel(&x->store, e);
        bool beaten = false; /* by another one from the same object to the same collection */
        for (uint32_t j = 0; j < ins->refs; j++) {
            struct mrsi_reference *o = ins->ref[j];
            beaten |= o != r && !o->candidate && o->to[0]->in == r->to[0]->in && o->to[0] != r->to[0] &&
                      mrsi_same_holder(o->from[0], r->from[0]) && sorts_before(o, r) && o->from[0] != r->from[0];
        }
        bool chosen = !r->candidate && !r->dropped && !beaten;
        if (s == MRS_OK && chosen && !r->from[0]->names && r->from[0]->kind == MRSI_FIELD) {
            s = propose_beside(x, r, e);
        }
    }
    return s;
}

enum mrs_status
mrsi_copies(struct mrsi_relating *x, struct mrs_err *e)
{
    struct mrsi_inspection *ins = x->x;
    enum mrs_status s = propose_all(x, e);
    struct besides *b = mrs_zalloc(ins->mem, (ins->copies + 1) * sizeof *b);
    struct mrsi_lookup_value **lookup = mrs_alloc_array(ins->mem, ins->copies * 2 + 1,
                                                        sizeof(struct mrsi_lookup_value *));
    if (s == MRS_OK && (!b || !lookup)) {
        s = mrs_err_memory(e, ins->copies * sizeof *b);
    }
    for (uint32_t i = 0; s == MRS_OK && i < ins->copies; i++) {
        const struct mrsi_copied *c = &ins->copy[i];
        b[i].child =
            (struct mrsi_lookup_value){.path = {c->beside->from[0], c->from}, .n = 2, .as_number =
                    {c->beside->as_number}};
        b[i].parent = (struct mrsi_lookup_value){.path = {c->beside->to[0], c->of}, .n = 2};
        lookup[i * 2] = &b[i].child;
        lookup[i * 2 + 1] = &b[i].parent;
    }
    MRS_THEN(s, mrsi_gather(x, lookup, ins->copies * 2, e));
    for (uint32_t i = 0; s == MRS_OK && i < ins->copies; i++) {
        s = compare(x, &b[i], &ins->copy[i], e);
    }
    for (uint32_t i = 0; b && i < ins->copies; i++) {
        mrsi_rowset_end(&b[i].child.rows);
        mrsi_rowset_end(&b[i].parent.rows);
    }
    keep_best(ins);
    find_aliases(ins);
    mrs_free(ins->mem, b);
    mrs_free(ins->mem, lookup);
    return s;
}
