/* SPDX-License-Identifier: Apache-2.0 */
/* composites.c - references by two or three fields together, between collections without another link.
 *
 * Fields are compared if they have one name or refer to the same collection. Those of the target must be unique
 * together and not alone. */
#include "gather.h"
#include <stdio.h>

enum { ALIGNED = 6, TRIES = 64 };

struct aligned {
    struct mrsi_path *a[ALIGNED], *b[ALIGNED];
    uint32_t n, own; /* own: the first ones have the words of the group before their names; the others none */
    struct mrsi_reference best; /* parts 0: none yet. The one whose fields exclude most combinations */
    double fill;
};

/* Whether one refers to the other by a path with a name or values of its own: a number that only fits says nothing of
 * the other fields. */
static bool
linked(const struct mrsi_inspection *x, const struct mrsi_collection *a, const struct mrsi_collection *b)
{
    for (uint32_t i = 0; i < x->refs; i++) {
        const struct mrsi_reference *r = x->ref[i];
        if (!r->candidate && !r->dropped && r->parts == 1 && (r->v > 0 || r->n > 0) &&
            ((r->from[0]->in == a && r->to[0]->in == b) || (r->from[0]->in == b && r->to[0]->in == a))) {
            return true;
        }
    }
    return false;
}

static bool
is_part(const struct mrsi_path *p, const struct mrsi_path *parent)
{
    return p->hash && p->parent == parent && p->kind == MRSI_FIELD && !p->names && !mrsi_path_is_id(p) &&
           p->distinct >= 2;
}

/* A field of the document, or of an `_id` that is a document. */
static bool
is_key_part(const struct mrsi_path *q)
{
    return is_part(q, NULL) || (q->parent && mrsi_path_is_id(q->parent) && is_part(q, q->parent));
}

/* At least so many fifths of the objects of a field have it. */
static bool
is_in(const struct mrsi_path *p, unsigned fifths)
{
    MRS_ASSERT(fifths <= 5);
    uint64_t objects = p->parent ? p->parent->count.n[MRSI_OBJECT] : p->in->documents;
    return (p->present - p->null) * 5 >= objects * fifths;
}

enum { GROUPS = 8, FRONT = 48 };
/* Fields of `a` in one object compared with fields of `b`, by the words before their common name. */
struct alignment {
    char front[GROUPS][FRONT];
    struct aligned group[GROUPS];
    uint32_t groups;
};

static struct aligned *
group_of(struct alignment *l, const char *front)
{
    MRS_ASSERT(l->groups <= GROUPS && front);
    for (uint32_t i = 0; i < l->groups; i++) {
        if (strcmp(l->front[i], front) == 0) {
            return &l->group[i];
        }
    }
    if (l->groups == GROUPS) {
        return NULL;
    }
    snprintf(l->front[l->groups], FRONT, "%s", front);
    return &l->group[l->groups++];
}

static bool
is_exactly_unique(const struct mrsi_path *p)
{
    return p->distinct >= p->present - p->null;
}

/* Whether a unique index, or `_id`, has this field besides others: it is not unique by itself. */
static bool
is_in_key(const struct mrsi_path *q)
{
    if (q->parent) {
        return true; /* of `_id` */
    }
    for (uint32_t i = 0; i < q->in->indexes; i++) {
        const struct mrsi_seen_index *x = &q->in->index[i];
        if (x->unique && mrs_doc_get(x->key, q->text).type != MRS_MISSING) {
            return true;
        }
    }
    return false;
}

static bool
is_aligned(const struct aligned *al, const struct mrsi_path *p)
{
    for (uint32_t i = 0; i < al->n; i++) {
        if (al->a[i] == p || al->b[i] == p) {
            return true;
        }
    }
    return false;
}

static void
align_pair(struct aligned *al, struct mrsi_path *p, struct mrsi_path *q)
{
    if (al->n < ALIGNED && !is_aligned(al, p) && !is_aligned(al, q)) {
        al->a[al->n] = p;
        al->b[al->n++] = q;
    }
}

static void
align_one(const struct mrsi_relating *y, struct mrsi_path *p, struct mrsi_path *q, struct alignment *out)
{
    char front[FRONT];
    bool known;
    const struct mrsi_reference *rp = mrsi_reference_from(y->x, p), *rq = mrsi_reference_from(y->x, q);
    int before = mrsi_name_before(p, q, &y->words, front, sizeof front);
    if (before < 0 && rp && rq && rp->to[0] == rq->to[0]) {
        before = 0;
        *front = 0;
    }
    double least = strcmp(p->last, q->last) == 0 && is_in_key(q) ? .1 : .8; /* values may belong to others' documents */
    if (before < 0 || (mrsi_sample_contained(p, false, q, &known) < least && known)) {
        return;
    }
    struct aligned *al = group_of(out, front);
    if (al) {
        align_pair(al, p, q);
    }
}

static void
align(const struct mrsi_relating *y, const struct mrsi_collection *a, const struct mrsi_path *parent,
      const struct mrsi_collection *b, struct alignment *out)
{
    MRS_ASSERT(a != b || parent);
    for (uint32_t i = 0; i < a->paths; i++) {
        struct mrsi_path *p = &a->path[i];
        for (uint32_t k = 0; is_part(p, parent) && is_in(p, 1) && k < b->paths; k++) {
            struct mrsi_path *q = &b->path[k];
            if (is_key_part(q) && is_in(q, 4) && !is_exactly_unique(q)) {
                align_one(y, p, q, out);
            }
        }
    }
}

/* `saleId` and `buyerPaddle` for saleId and paddle: each group may also use the fields without such words. */
static void
share_plain(struct alignment *l)
{
    MRS_ASSERT(l->groups <= GROUPS);
    const struct aligned *plain = NULL;
    for (uint32_t g = 0; g < l->groups; g++) {
        l->group[g].own = l->group[g].n;
        plain = *l->front[g] ? plain : &l->group[g];
    }
    for (uint32_t g = 0; plain && g < l->groups; g++) {
        struct aligned *al = &l->group[g];
        for (uint32_t i = 0; al != plain && i < plain->own; i++) {
            align_pair(al, plain->a[i], plain->b[i]);
        }
    }
}

static double
product(struct mrsi_path *const *p, uint32_t n)
{
    double all = 1;
    for (uint32_t i = 0; i < n; i++) {
        all *= (double)p[i]->distinct;
    }
    return all;
}

/* Whether a field is named like the target, as `round` of (tournament, round) for rounds. */
static bool
names_target(const struct mrsi_relating *x, const struct mrsi_reference *r)
{
    for (uint32_t i = 0; i < r->parts; i++) {
        if (mrsi_name_score(r->from[i], r->to[i], &x->words, 1, false) >= 1) {
            return true;
        }
    }
    return false;
}

/* Positions in a list repeat in many lists. */
static bool
has_position(const struct mrsi_reference *r)
{
    for (uint32_t i = 0; i < r->parts; i++) {
        if (mrsi_name_is_measure(r->from[i]) && !mrsi_name_has_id(r->from[i])) {
            return true;
        }
    }
    return false;
}

/* A key that a unique index declares, by the names of its fields. */
static bool
is_named_key(const struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 1);
    for (uint32_t i = 0; i < r->parts; i++) {
        if (strcmp(r->from[i]->last, r->to[i]->last) != 0) {
            return false;
        }
    }
    return mrsi_paths_have_unique_index((const struct mrsi_path *const *)r->to, r->parts);
}

/* Such a key, from documents that it does not number itself. */
static bool
is_declared(const struct mrsi_reference *r)
{
    return is_named_key(r) && r->contained >= .98 && r->matched_distinct >= 50 &&
           !mrsi_paths_have_unique_index((const struct mrsi_path *const *)r->from, r->parts) &&
           r->distinct * 100 < r->values * 95;
}

/* Whether `parts` of the aligned fields form a key of b that a refers to. */
static enum mrs_status
attempt(struct mrsi_relating *x, struct aligned *al, const uint32_t *part, uint32_t parts, bool *unique,
        struct mrs_err *e)
{
    MRS_ASSERT(parts > 1 && parts <= MRSI_PARTS && unique);
    struct mrsi_reference r = {.parts = parts};
    struct mrsi_lookup_value from = {.n = parts}, to = {.n = parts};
    struct mrsi_lookup_value *lookup[2] = {&from, &to};
    for (uint32_t i = 0; i < parts; i++) {
        r.from[i] = from.path[i] = al->a[part[i]];
        r.to[i] = to.path[i] = al->b[part[i]];
    }
    *unique = false;
    if (product(r.to, parts) < (double)r.to[0]->in->documents * .995) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_gather(x, &lookup[1], 1, e);
    *unique = s == MRS_OK && to.rows.count && (double)to.rows.total >= .995 * (double)to.rows.count &&
              to.rows.count * 10 >= r.to[0]->in->documents * 9;
    if (*unique) {
        s = mrsi_gather(x, lookup, 1, e);
        r.values = from.rows.count;
        r.distinct = from.rows.total;
        r.keys = to.rows.total;
        MRS_THEN(s, mrsi_join(x, &from.rows, &to.rows, &r, e));
        if (s == MRS_OK) {
            r.match = "equal";
            r.v = .9;
            r.n = 1;
            double fill = (double)r.keys / product(r.to, parts);
            bool many = r.contained >= .9 || (is_named_key(&r) && r.matched * 10 >= r.values * 9);
            r.score = many && r.contained < .9 ? .9 : r.contained;
            bool apart = (1 - fill) * (double)r.distinct >= 5; /* some combinations do not exist */
            bool key = (apart && !has_position(&r)) || names_target(x, &r) || is_declared(&r);
            bool better = !al->best.parts || fill < al->fill || (fill == al->fill && r.contained > al->best.contained);
            if (many && key && r.matched_distinct >= 5 && better) {
                al->best = r;
                al->fill = fill;
            }
        }
    }
    mrsi_rowset_end(&from.rows);
    mrsi_rowset_end(&to.rows);
    return s;
}

/* Tries the fields of a unique index first: other fields may be unique together by chance. */
static enum mrs_status
declared(struct mrsi_relating *x, struct aligned *al, uint32_t *tries, struct mrs_err *e)
{
    MRS_ASSERT(al->n <= ALIGNED && tries);
    enum mrs_status s = MRS_OK;
    for (uint32_t set = 0; s == MRS_OK && *tries && set < 1u << al->n && !al->best.parts; set++) {
        uint32_t part[ALIGNED], n = 0;
        const struct mrsi_path *key[ALIGNED];
        for (uint32_t i = 0; i < al->n; i++) {
            if (set >> i & 1) {
                key[n] = al->b[i];
                part[n++] = i;
            }
        }
        if (n > 1 && n <= MRSI_PARTS && part[0] < al->own && mrsi_paths_have_unique_index(key, n)) {
            bool unique;
            --*tries;
            s = attempt(x, al, part, n, &unique, e);
        }
    }
    return s;
}

/* Whether the target's name, or an index that begins with these fields, shows that they belong together. */
static bool
belong_together(const struct mrsi_relating *x, const struct aligned *al, const uint32_t *part, uint32_t parts)
{
    MRS_ASSERT(parts > 1 && parts <= MRSI_PARTS);
    const struct mrsi_path *from[MRSI_PARTS], *q = al->b[part[parts - 1]];
    for (uint32_t i = 0; i < parts; i++) {
        from[i] = al->a[part[i]];
    }
    const struct mrsi_collection *c = from[0]->in;
    bool shown = mrsi_name_score(from[parts - 1], q, &x->words, 1, false) >= .75;
    for (uint32_t i = 0; !shown && i < c->indexes; i++) {
        shown = mrsi_index_starts_with(&c->index[i], from, parts);
    }
    return shown;
}

/* The aligned fields of a unique index; *rest: the only one of its fields that is not aligned. 0: it does not fit. */
static uint32_t
all_but_one(const struct mrsi_collection *b, const struct mrsi_seen_index *index, const struct aligned *al,
            uint32_t part[MRSI_PARTS], struct mrsi_path **rest)
{
    MRS_ASSERT(index->key.p && al->n <= ALIGNED);
    struct mrs_walk w;
    struct mrs_elem field;
    uint32_t n = 0, fields = 0;
    bool own = false;
    mrs_walk_init(&w, index->key);
    for (; mrs_walk_next(&w, &field) > 0; fields++) {
        uint32_t k = 0;
        while (k < al->n && strcmp(field.name, al->b[k]->text) != 0) {
            k++;
        }
        if (k < al->n && n < MRSI_PARTS) {
            part[n++] = k;
            own |= k < al->own;
        }
        for (uint32_t i = 0; k == al->n && i < b->paths; i++) {
            *rest = strcmp(field.name, b->path[i].text) == 0 ? &b->path[i] : *rest;
        }
    }
    bool fits = index->unique && fields <= MRSI_PARTS && n > 0 && n + 1 == fields && *rest && is_part(*rest, NULL);
    return fits && own ? n : 0;
}

/* Completes a unique key by a field with the values of the one that has no counterpart by name. */
static enum mrs_status
complete(struct mrsi_relating *x, const struct mrsi_collection *a, const struct mrsi_path *parent,
         const struct mrsi_collection *b, struct aligned *al, uint32_t *tries, struct mrs_err *e)
{
    MRS_ASSERT(a != b || parent);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; al->n < ALIGNED && i < b->indexes; i++) {
        uint32_t part[MRSI_PARTS] = {0};
        struct mrsi_path *q = NULL;
        uint32_t n = all_but_one(b, &b->index[i], al, part, &q);
        for (uint32_t k = 0; s == MRS_OK && n && *tries && k < a->paths; k++) {
            struct mrsi_path *p = &a->path[k];
            bool known, unique;
            if (!is_part(p, parent) || !is_in(p, 1) || is_aligned(al, p) ||
                (mrsi_sample_contained(p, false, q, &known) < .95 && known)) {
                continue;
            }
            al->a[al->n] = p;
            al->b[al->n] = q;
            part[n] = al->n++;
            if (belong_together(x, al, part, n + 1)) {
                --*tries;
                s = attempt(x, al, part, n + 1, &unique, e);
            }
            al->n--;
        }
    }
    return s;
}

static enum mrs_status
pairs_and_triples(struct mrsi_relating *x, struct aligned *al, uint32_t *tries, struct mrs_err *e)
{
    MRS_ASSERT(al->n <= ALIGNED && tries);
    enum mrs_status s = MRS_OK;
    bool pair[ALIGNED][ALIGNED] = {{false}};
    for (uint32_t i = 0; i < al->own; i++) {
        for (uint32_t k = i + 1; s == MRS_OK && k < al->n && *tries; k++) {
            --*tries;
            s = attempt(x, al, (uint32_t[]){i, k}, 2, &pair[i][k], e);
        }
    }
    for (uint32_t i = 0; i < al->own; i++) {
        for (uint32_t k = i + 1; k < al->n; k++) {
            for (uint32_t m = k + 1; s == MRS_OK && m < al->n && *tries; m++) {
                bool unique;
                if (!pair[i][k] && !pair[i][m] && !pair[k][m]) {
                    --*tries;
                    s = attempt(x, al, (uint32_t[]){i, k, m}, 3, &unique, e);
                }
            }
        }
    }
    return s;
}

/* Two collections that refer to each other by the same fields: the one with more of them is the target. */
static void
drop_backward(struct mrsi_inspection *x, uint32_t from)
{
    for (uint32_t i = from; i < x->refs; i++) {
        for (uint32_t k = i + 1; k < x->refs; k++) {
            struct mrsi_reference *a = x->ref[i], *b = x->ref[k];
            if (a->from[0]->in == b->to[0]->in && b->from[0]->in == a->to[0]->in && !a->dropped && !b->dropped) {
                (a->keys >= b->keys ? b : a)->dropped = true;
            }
        }
    }
}

/* Whether two lists have the same fields, in any order. */
static bool
are_same(struct mrsi_path *const *a, struct mrsi_path *const *b, uint32_t n)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < n * n; i++) {
        same += a[i / n] == b[i % n];
    }
    return same == n;
}

/* The reference of these fields to that collection; NULL: none. */
static struct mrsi_reference *
find(const struct mrsi_inspection *x, struct mrsi_path *const *from, uint32_t parts, const struct mrsi_collection *to)
{
    MRS_ASSERT(parts > 1);
    for (uint32_t i = 0; i < x->refs; i++) {
        struct mrsi_reference *r = x->ref[i];
        if (r->parts == parts && r->to[0]->in == to && !r->dropped && are_same(r->from, from, parts)) {
            return r;
        }
    }
    return NULL;
}

/* If the fields of a key themselves refer to a third collection, so do those that have their values, unless too few
 * match there. */
static void
drop_detours(struct mrsi_inspection *x, uint32_t from)
{
    for (uint32_t i = from; i < x->refs; i++) {
        struct mrsi_reference *r = x->ref[i];
        for (uint32_t k = from; k < x->refs; k++) {
            const struct mrsi_reference *next = x->ref[k];
            if (next->parts != r->parts || next->dropped || !are_same(next->from, r->to, r->parts)) {
                continue;
            }
            const struct mrsi_reference *direct = find(x, r->from, r->parts, next->to[0]->in);
            r->dropped |= direct && (double)direct->matched >= .98 * (double)r->matched;
        }
    }
}

/* Tries every object of `a` that could refer to documents of `b`: the root, and nested ones. */
static enum mrs_status
one_pair(struct mrsi_relating *x, const struct mrsi_collection *a, const struct mrsi_collection *b, uint32_t *tries,
         struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i <= a->paths; i++) {
        const struct mrsi_path *parent = i ? &a->path[i - 1] : NULL;
        if (parent && (parent->kind == MRSI_ANY || !parent->count.n[MRSI_OBJECT])) {
            continue;
        }
        struct alignment *l = mrs_zalloc(x->x->mem, sizeof *l);
        s = mrs_allocated(l, sizeof *l, e);
        if (l) {
            align(x, a, parent, b, l);
            share_plain(l);
        }
        for (uint32_t g = 0; s == MRS_OK && g < l->groups; g++) {
            struct aligned *al = &l->group[g];
            s = declared(x, al, tries, e);
            if (s == MRS_OK && al->best.contained < .98) {
                s = complete(x, a, parent, b, al, tries, e);
            }
            if (s == MRS_OK && al->n >= 2 && !al->best.parts) {
                s = pairs_and_triples(x, al, tries, e);
            }
            const struct mrsi_reference *r = &al->best;
            bool added = s == MRS_OK && r->parts && !find(x->x, r->from, r->parts, r->to[0]->in);
            if (added && !mrsi_reference_add(x->x, r)) {
                s = mrs_err_memory(e, sizeof *r);
            }
        }
        mrs_free(x->x->mem, l);
    }
    return s;
}

enum mrs_status
mrsi_composites(struct mrsi_relating *x, struct mrs_err *e)
{
    struct mrsi_inspection *ins = x->x;
    enum mrs_status s = MRS_OK;
    uint32_t tries = TRIES, before = ins->refs;
    for (uint32_t i = 0; s == MRS_OK && tries && i < ins->colls; i++) {
        for (uint32_t k = 0; s == MRS_OK && tries && k < ins->colls; k++) {
            const struct mrsi_collection *a = &ins->coll[i], *b = &ins->coll[k];
            if (i == k || !mrsi_same_db(a, b) || linked(ins, a, b)) {
                continue;
            }
            s = mrsi_check_cancel(&x->store, e);
            MRS_THEN(s, one_pair(x, a, b, &tries, e));
        }
    }
    drop_backward(ins, before);
    drop_detours(ins, before);
    return s == MRS_OK && tries == 0
               ? mrsi_model_leave(ins, e, "references by several fields: only the first %d combinations were tried",
                                  TRIES)
               : s;
}
