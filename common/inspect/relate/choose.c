/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - chooses one target for each path.
 *
 * A path whose values are in several keys refers to the one that owns them: an `_id`, a unique key, one named like its
 * collection. If two keys have each other's values, the same criteria decide which refers to which. */
#include "relate.h"
#include "mongoreshape/words.h"
#include <stdlib.h>

enum { TARGETS = 8 }; /* of one path */
#define REFERENCE .6
#define CANDIDATE .3
#define FITTING .62 /* by numbers that fit, without a name */

static int
titled(const struct mrsi_relating *x, const struct mrsi_path *key)
{
    return mrsi_name_is_title(key, &x->words);
}

static int
rank(const struct mrsi_path *key)
{
    return mrsi_path_is_id(key) ? 2 : key->lists ? -1 : mrsi_path_has_unique_index(key);
}

/* Whether a is the better target of one path. */
static bool
better(const struct mrsi_relating *x, const struct mrsi_reference *a, const struct mrsi_reference *b)
{
    MRS_ASSERT(a != b);
    if (a->hinted != b->hinted) {
        return a->hinted;
    }
    if (a->to[0] == b->to[0] && a->matched != b->matched) {
        return a->matched > b->matched; /* the same path read in two ways */
    }
    double d = a->score - b->score;
    if (d > .0001 || d < -.0001) {
        return d > 0;
    }
    if (a->n != b->n) {
        return a->n > b->n;
    }
    if (rank(a->to[0]) != rank(b->to[0])) {
        return rank(a->to[0]) > rank(b->to[0]);
    }
    if (titled(x, a->to[0]) != titled(x, b->to[0])) {
        return titled(x, a->to[0]);
    }
    uint32_t near_a = mrsi_name_shared(a->from[0]->in, a->to[0]->in, &x->words);
    uint32_t near_b = mrsi_name_shared(b->from[0]->in, b->to[0]->in, &x->words);
    return near_a != near_b ? near_a > near_b : a->cover > b->cover;
}

static struct mrsi_reference *
find(const struct mrsi_relating *x, const struct mrsi_path *from, const struct mrsi_path *to)
{
    for (uint32_t i = 0; i < x->pairs; i++) {
        struct mrsi_reference *r = &x->pair[i].r;
        if (r->from[0] == from && r->to[0] == to && !r->dropped) {
            return r;
        }
    }
    return NULL;
}

/* The number of other paths that refer to a collection by this key. */
static uint32_t
named_by(const struct mrsi_relating *x, const struct mrsi_path *key)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->pairs; i++) {
        n += x->pair[i].r.to[0] == key && x->pair[i].r.n >= .75 && x->pair[i].r.score >= REFERENCE;
    }
    return n;
}

static bool
has_all(const struct mrsi_reference *r)
{
    return r->contained >= .98;
}

/* Two keys have each other's values: whether a owns them. */
static bool
owns(const struct mrsi_relating *x, const struct mrsi_reference *to_a, const struct mrsi_reference *to_b)
{
    MRS_ASSERT(to_a->parts > 0 && to_b->parts > 0);
    const struct mrsi_path *a = to_a->to[0], *b = to_b->to[0];
    if (to_a->n >= .75 && to_b->n < .5) {
        return true;
    }
    if (to_b->n >= .75 && to_a->n < .5) {
        return false;
    }
    if (has_all(to_a) != has_all(to_b) && (to_a->contained < .8 || to_b->contained < .8)) {
        return has_all(to_a); /* and many more */
    }
    if (rank(a) != rank(b)) {
        return rank(a) > rank(b);
    }
    if (titled(x, a) != titled(x, b)) {
        return titled(x, a);
    }
    if (a->distinct != b->distinct) {
        return a->distinct > b->distinct;
    }
    if (named_by(x, a) != named_by(x, b)) {
        return named_by(x, a) > named_by(x, b);
    }
    return to_a->n != to_b->n ? to_a->n > to_b->n : a->in->no < b->in->no;
}

static void
settle_mutual(struct mrsi_relating *x)
{
    for (uint32_t i = 0; i < x->pairs; i++) {
        struct mrsi_reference *r = &x->pair[i].r;
        struct mrsi_reference *back = r->score >= CANDIDATE && !r->dropped ? find(x, r->to[0], r->from[0]) : NULL;
        if (back && back->score >= CANDIDATE) {
            *(owns(x, r, back) ? &back->dropped : &r->dropped) = true;
        }
    }
}

/* ---- a single pair ---- */
static bool
other_key_fits(const struct mrsi_relating *x, const struct mrsi_reference *r)
{
    bool known, names = r->from[0]->names; /* names that are numbers: ids of something, and a complete set of them */
    for (uint32_t i = 0; i < x->keys; i++) {
        const struct mrsi_path *key = x->key[i];
        if (key != r->to[0] && key != r->from[0] && mrsi_path_is_key(key) && key->count.n[MRSI_NUMBER] &&
            mrsi_sample_contained(r->from[0], r->as_number, key, &known) >= (names ? .95 : .5) &&
            (!names || mrsi_sample_covered(r->from[0], r->as_number, key, &known) >= .9)) {
            return true;
        }
    }
    return false;
}

/* Hours, days, weeks, minutes. */
static bool
ends_a_period(uint64_t n)
{
    return n == 24 || n == 28 || n == 31 || n == 52 || n == 53 || n == 60 || n == 365 || n == 366;
}

static bool
is_round(uint64_t n)
{
    bool power_of_two = (n & (n - 1)) == 0;
    return power_of_two || n % (n < 100 ? 5 : n < 1000 ? 100 : n < 10000 ? 1000 : 10000) == 0;
}

/* Whether a second path has just the numbers of the key: two measures hardly end there. */
static bool
another_fits(const struct mrsi_relating *x, const struct mrsi_reference *r)
{
    for (uint32_t i = 0; i < x->pairs; i++) {
        const struct mrsi_reference *o = &x->pair[i].r;
        if (o->to[0] == r->to[0] && o->from[0] != r->from[0] && o->v == 0 && o->n == 0 && !o->self &&
            !mrsi_name_is_measure(o->from[0]) && mrsi_numbers_fit(o->from[0], o->to[0]) >= MRSI_FITS_PART) {
            return true;
        }
    }
    return false;
}

static bool
named_leads_there(const struct mrsi_relating *x, const struct mrsi_path *key)
{
    for (uint32_t i = 0; i < x->pairs; i++) {
        const struct mrsi_reference *r = &x->pair[i].r;
        if (r->to[0] == key && r->n >= .75 && r->score >= REFERENCE) {
            return true;
        }
    }
    return false;
}

/* Whether a path has just the numbers of this key, and of no other one. Measures end at round numbers, too: there a
 * second path must have them, or nothing else refers to the key. */
static bool
has_its_numbers(const struct mrsi_relating *x, const struct mrsi_reference *r)
{
    const struct mrsi_path *p = r->from[0], *key = r->to[0];
    enum mrsi_range_fit fit = mrsi_numbers_fit(p, key);
    uint64_t width = (uint64_t)key->count.most - (uint64_t)key->count.least + 1;
    bool few = width < 13, period = ends_a_period(width), odd = !few && !period && !is_round(width);
    if (p->fitting != key->in || fit == MRSI_NO_FIT || r->contained < 1) {
        return false;
    }
    if (mrsi_name_is_measure(p)) {
        return odd && key->distinct >= 50 && fit == MRSI_FITS_WHOLE;
    }
    if (fit == MRSI_FITS_END) {
        return odd && key->distinct >= 100;
    }
    return odd || key->count.least >= 10 || mrsi_name_has_id(p) || p->kind == MRSI_EACH ||
           (!few && another_fits(x, r)) || (!few && !period && fit == MRSI_FITS_WHOLE && !named_leads_there(x, key));
}

/* Numbers of earlier documents of the collection: each is below its document's own, some far below and some not, as no
 * counter is. */
static bool
are_of_earlier(const struct mrsi_ref_pair *pair)
{
    const struct mrsi_reference *r = &pair->r;
    const struct mrsi_own *o = &pair->own;
    return r->contained >= 1 && r->values >= 20 && o->below == r->values && o->far_below * 20 >= r->values &&
           o->far_below * 20 <= r->values * 19 && mrsi_numbers_span(r->from[0], r->to[0]) &&
           !mrsi_name_is_measure(r->from[0]);
}

static void
lift_fit(struct mrsi_relating *x)
{
    for (uint32_t i = 0; i < x->pairs; i++) {
        struct mrsi_reference *r = &x->pair[i].r;
        if (r->v > 0 || r->score >= REFERENCE) {
            continue;
        }
        if (r->self) {
            r->score = are_of_earlier(&x->pair[i]) ? FITTING : r->score;
            continue;
        }
        bool only = r->f >= .5 && r->n == 0 && r->to[0]->distinct >= 100 && r->cover >= .95 &&
                    !mrsi_name_is_measure(r->from[0]) && !named_leads_there(x, r->to[0]) && !other_key_fits(x, r);
        r->score = only || has_its_numbers(x, r) ? FITTING : r->score;
    }
}

/* ---- one target ---- */
static struct mrsi_reference *
best_of(const struct mrsi_relating *x, const struct mrsi_path *p)
{
    struct mrsi_reference *best = NULL;
    for (uint32_t i = 0; i < x->pairs; i++) {
        struct mrsi_reference *r = &x->pair[i].r;
        if (r->from[0] == p && !r->dropped && r->score >= CANDIDATE && (!best || better(x, r, best))) {
            best = r;
        }
    }
    return best;
}

/* If a key itself refers to another key, its references are passed on to that key, unless too few match. */
static struct mrsi_reference *
pass_up(const struct mrsi_relating *x, struct mrsi_reference *r)
{
    for (int turns = 0; turns < 8; turns++) {
        struct mrsi_reference *next = best_of(x, r->to[0]);
        struct mrsi_reference *up = next && next->score >= REFERENCE && !next->self ? find(x, r->from[0], next->to[0])
                                                                                    : NULL;
        uint32_t mine = x->words.title[r->to[0]->in->no].n, its = up ? x->words.title[up->to[0]->in->no].n : 0;
        bool named = up && r->n >= 1 && (up->n < .96 || mine > its); /* its name matches its target */
        if (!up || up == r || named || up->score < CANDIDATE || (double)up->matched < .98 * (double)r->matched) {
            return r;
        }
        up->score = up->score < r->score ? r->score : up->score;
        r = up;
    }
    return r;
}

/* Whether each document of its target refers to another one here: then both keys are a name of the same thing. */
static bool
refers_back(const struct mrsi_relating *x, const struct mrsi_reference *r)
{
    for (uint32_t i = 0; i < x->pairs; i++) {
        const struct mrsi_reference *o = &x->pair[i].r;
        if (o->from[0]->in == r->to[0]->in && o->to[0]->in == r->from[0]->in && o->score >= REFERENCE && !o->dropped &&
            mrsi_path_is_unique(o->from[0]) && !o->from[0]->lists) {
            return true;
        }
    }
    return false;
}

/* A second name of the same document; where each document ends with what the next one begins with, the order. */
static bool
is_no_reference(const struct mrsi_relating *x, const struct mrsi_reference *r)
{
    const struct mrsi_path *p = r->from[0];
    bool one_to_one = mrsi_path_is_unique(p) && !p->lists && p->count.n[MRSI_TEXT] * 2 > p->present && r->n < .8 &&
                      !mrsi_path_is_id(r->to[0]);
    return one_to_one && (r->self ? r->cover >= .5 : refers_back(x, r));
}

static enum mrs_status
add(struct mrsi_relating *x, const struct mrsi_reference *r, struct mrs_err *e)
{
    return mrsi_reference_add(x->x, r) ? MRS_OK : mrs_err_memory(e, sizeof *r);
}

/* Whether the values or a type field show this target; dense integers match by chance. */
static bool
is_evident(const struct mrsi_reference *r)
{
    const struct mrsi_path *p = r->from[0];
    bool integers = r->to[0]->count.n[MRSI_NUMBER] > 0;
    return (r->v >= .6 || r->by_kind) && (!integers || r->n >= .9 || p->type_field);
}

/* Whether a key has exactly the values that others lack: then even numbers without gaps do not match by chance. */
static bool
has_the_rest(const struct mrsi_relating *x, const struct mrsi_reference *r, uint64_t others)
{
    MRS_ASSERT(r->parts > 0);
    struct mrsi_reference rest = *r;
    if (!others || others + r->matched_distinct != r->distinct) {
        return false;
    }
    rest.distinct = r->matched_distinct;
    rest.contained = 1;
    mrsi_judge(x, &rest);
    return rest.v >= .85;
}

/* A path with values of several collections: targets without common values that together cover almost all. Values found
 * in the first ones are no orphans of the others. */
static bool
joins_in(const struct mrsi_relating *x, const struct mrsi_reference *r, const struct mrsi_path *p,
         struct mrsi_reference *const *taken, uint32_t n)
{
    MRS_ASSERT(n < TARGETS);
    uint64_t others = 0;
    bool probed = r->probed > 0, typed = r->by_kind; /* a type field names the target: numbers may be in several */
    if (r->from[0] != p || r->dropped || r->matched_distinct < 3) {
        return false;
    }
    const struct mrsi_reference *up = best_of(x, r->to[0]);
    if (up && up->score >= REFERENCE) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (taken[i]->to[0]->in == r->to[0]->in) {
            return false;
        }
        others += taken[i]->matched_distinct;
        probed |= taken[i]->probed > 0;
        typed &= taken[i]->by_kind;
    }
    uint64_t error = r->distinct / (probed ? 10 : 100); /* results of lookups are estimates */
    return (is_evident(r) || has_the_rest(x, r, others)) &&
           (typed || others + r->matched_distinct <= r->distinct + error);
}

static uint32_t
several(const struct mrsi_relating *x, const struct mrsi_path *p, struct mrsi_reference *first,
        struct mrsi_reference **out)
{
    MRS_ASSERT(!first || first->parts > 0);
    uint32_t n = 0;
    if (first) {
        out[n++] = first;
    }
    while (n < TARGETS) {
        struct mrsi_reference *best = NULL;
        for (uint32_t i = 0; i < x->pairs; i++) {
            struct mrsi_reference *r = &x->pair[i].r;
            if (joins_in(x, r, p, out, n) &&
                (!best || r->matched_distinct > best->matched_distinct ||
                 (r->matched_distinct == best->matched_distinct && rank(r->to[0]) > rank(best->to[0])))) {
                best = r;
            }
        }
        if (!best) {
            break;
        }
        out[n++] = best;
    }
    return n;
}

/* Whether a path has several targets; false: only one, or together they cover too little. */
static bool
is_polymorphic(struct mrsi_reference *const *list, uint32_t n)
{
    uint64_t matched = 0;
    for (uint32_t i = 0; i < n; i++) {
        matched += list[i]->matched_distinct;
    }
    return n > 1 && matched * 10 >= list[0]->distinct * 8;
}

static enum mrs_status
add_several(struct mrsi_relating *x, struct mrsi_reference **list, uint32_t n, struct mrs_err *e)
{
    static const char *const by_type[] = {"number", "uuidSubtype"};
    MRS_ASSERT(list && n > 1);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        double least = list[i]->v * .9 < REFERENCE ? REFERENCE : list[i]->v * .9;
        list[i]->score = list[i]->score < REFERENCE ? least : list[i]->score;
        if (MRS_IS_ONE_OF(list[i]->match, by_type) && list[i]->among_types) {
            list[i]->match = "equal"; /* other types belong to other targets */
        }
        list[i]->candidate = false;
        s = add(x, list[i], e);
    }
    return s;
}

static enum mrs_status
one_path(struct mrsi_relating *x, const struct mrsi_path *p, bool candidates, struct mrs_err *e)
{
    struct mrsi_reference *list[TARGETS], *r = best_of(x, p);
    r = r && r->score >= REFERENCE && !r->hinted ? pass_up(x, r) : r;
    if (r && !r->hinted && is_no_reference(x, r)) {
        return MRS_OK;
    }
    bool found = r && r->score >= REFERENCE;
    uint32_t n = candidates ? 0 : several(x, p, found ? r : NULL, list);
    if (!candidates && is_polymorphic(list, n)) {
        return add_several(x, list, n, e);
    }
    if (!r || found == candidates) {
        return MRS_OK;
    }
    r->candidate = candidates;
    return add(x, r, e);
}

enum mrs_status
mrsi_choose(struct mrsi_relating *x, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    lift_fit(x);
    settle_mutual(x);
    for (int candidates = 0; candidates < 2; candidates++) {
        for (uint32_t i = 0; s == MRS_OK && i < x->columns; i++) {
            s = mrsi_check_cancel(&x->store, e);
            if (s == MRS_OK && (!candidates || !mrsi_reference_from(x->x, x->column[i].path))) {
                s = one_path(x, x->column[i].path, candidates, e);
            }
        }
    }
    return s;
}
