/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - the probability that a path refers to a key: by its values, its name, and its match rate.
 *
 * Values alone are strong evidence if they are sparse (ObjectIds, codes, sparse numbers), and none if every key has
 * them (1, 2, 3): then the name must decide. */
#include "relate.h"
#include <math.h>

/* Integers: keys per number in their range. */
static double
density(const struct mrsi_path *key)
{
    double width = (double)key->count.most - (double)key->count.least + 1;
    return width > 0 ? fmin((double)key->distinct / key->in->share / width, 1) : 1; /* `distinct` may be an estimate */
}

/* For a path that has the numbers 10, 20, 30 as positions: keys per number in such steps. */
static double
density_for(const struct mrsi_path *p, const struct mrsi_path *key)
{
    MRS_ASSERT(p->in && key->in);
    double step = (double)p->count.step;
    bool positions = step > 1 && p->count.least >= 0 && (double)p->count.least <= step && density(p) * step > .8;
    bool same = positions && key->count.step && p->count.step % key->count.step == 0;
    return same ? density(key) * (double)key->count.step : density(key);
}

/* Integers that begin far above their number: not every counter has such values. */
static bool
is_far_from_zero(const struct mrsi_path *key)
{
    MRS_ASSERT(key->in && key->in->share > 0);
    double least = (double)key->count.least, width = (double)key->count.most - least + 1;
    return least > 10 * width || (least > 1000 && least > 10 * (double)key->distinct / key->in->share);
}

static double
by_integers(const struct mrsi_reference *r, double n)
{
    MRS_ASSERT(r->parts > 0);
    const struct mrsi_path *key = r->to[0];
    double by_chance = density_for(r->from[0], key);
    bool no_chance = by_chance < .01 && r->matched_distinct >= 20; /* too many matches for chance */
    bool kinds = r->from[0]->type_field != NULL;
    if (n < .5 && (mrsi_name_is_measure(r->from[0]) ||
                   (r->contained < by_chance + .5 * (1 - by_chance) && !no_chance && !kinds))) {
        return 0;
    }
    if ((1 - by_chance) * (double)r->matched_distinct >= 10) {
        return .9;
    }
    if (r->self && r->contained >= 1 && pow(by_chance, (double)r->matched_distinct) < .001) {
        return .65;
    }
    return is_far_from_zero(key) && r->matched_distinct >= 3 ? .85 : 0;
}

static double
by_text(const struct mrsi_reference *r, double n)
{
    MRS_ASSERT(r->parts > 0);
    const struct mrsi_path *p = r->from[0], *key = r->to[0];
    uint64_t texts = p->count.n[MRSI_TEXT];
    double mean = texts ? (double)p->count.text_bytes / (double)texts : 0;
    if (p->count.digits * 10 > texts * 9) { /* digits as text: actually numbers */
        return key->count.digits * 2 > key->present && key->count.digits ? by_integers(r, n) : 0;
    }
    if (r->matched_distinct < 50 && mean < 4 && r->cover < .05 && n < .5) {
        return 0;
    }
    bool listed = mrsi_path_is_id(key) || mrsi_path_has_unique_index(key);
    uint64_t least = mean >= 8 ? 5 : listed && r->contained >= 1 ? 10 : 20;
    if (r->matched_distinct >= least && mean >= 4) {
        return .9;
    }
    if (r->self && mrsi_path_is_id(key) && r->matched_distinct >= 3 && r->contained >= 1) {
        return .65; /* any text may be in another collection, but what else is called like its own documents */
    }
    if ((listed || mrsi_name_has_id(key)) && key->distinct >= 3 && key->distinct <= 1000 && r->contained >= 1 &&
        r->cover >= .5) {
        return listed ? .65 : .62;
    }
    return r->matched_distinct >= 20 ? .6 : 0;
}

/* The most frequent class among the matches. */
static double
by_values(const struct mrsi_reference *r, double n)
{
    MRS_ASSERT(r->parts > 0);
    const uint64_t *p = r->from[0]->count.n, *k = r->to[0]->count.n;
    if (r->as_number) {
        return by_integers(r, n);
    }
    if ((p[MRSI_OID] && k[MRSI_OID]) || (p[MRSI_UUID] && k[MRSI_UUID]) || (p[MRSI_BINARY] && k[MRSI_BINARY])) {
        return .97;
    }
    if (p[MRSI_NUMBER] && k[MRSI_NUMBER]) {
        return by_integers(r, n);
    }
    return p[MRSI_TEXT] && k[MRSI_TEXT] ? by_text(r, n) : 0;
}

/* A number that counts the documents of its own collection. */
static bool
is_running(const struct mrsi_path *p)
{
    return p->count.n[MRSI_NUMBER] * 2 > p->present && mrsi_path_is_unique(p) && !p->lists && density(p) > .8;
}

static bool
is_position(const struct mrsi_reference *r)
{
    const struct mrsi_path *p = r->from[0], *key = r->to[0];
    double middle = ((double)key->count.least + (double)key->count.most) / 2;
    return !mrsi_name_has_id(p) && p->count.n[MRSI_NUMBER] && (double)p->count.most < middle;
}

/* A number named after what it measures or counts. */
static bool
is_amount(const struct mrsi_reference *r, double n)
{
    const struct mrsi_path *p = r->from[0];
    return p->count.n[MRSI_NUMBER] * 2 > p->present && !mrsi_name_has_id(p) && p->kind != MRSI_EACH &&
           ((mrsi_name_is_measure(p) && n < .95) || mrsi_name_is_plural(p));
}

/* The target has a field of that name that is no key and has the values, too: both are a part of something. */
static bool
is_field_of_target(const struct mrsi_reference *r)
{
    const struct mrsi_path *p = r->from[0], *key = r->to[0];
    for (uint32_t i = 0; !r->self && i < key->in->paths; i++) {
        const struct mrsi_path *q = &key->in->path[i];
        bool known, numbers = q->count.n[MRSI_NUMBER] || q->count.digits;
        if (q != key && q->ways == 1 && strcmp(q->last, p->last) == 0 && numbers && !mrsi_path_is_unique(q) &&
            mrsi_sample_contained(p, r->as_number, q, &known) >= .8) {
            return true;
        }
    }
    return false;
}

/* How far from its ends numbers may end that are drawn from a range at random: no farther in 99 of 100 cases. */
static double
reach(const struct mrsi_path *p, double values)
{
    MRS_ASSERT(values > 0);
    double width = (double)p->count.most - (double)p->count.least + 1;
    bool even = (double)p->distinct >= .5 * width * (1 - exp(-values / width)); /* not a few of them again and again */
    return even ? width * (1 - pow(.01, 1 / values)) : -1;
}

bool
mrsi_numbers_span(const struct mrsi_path *p, const struct mrsi_path *key)
{
    MRS_ASSERT(p != key);
    const struct mrsi_counted *a = &p->count, *b = &key->count;
    double range = (double)b->most - (double)b->least, part = (double)a->most - (double)b->least;
    return p->in == key->in && mrsi_path_is_id(key) && a->n[MRSI_NUMBER] && b->n[MRSI_NUMBER] &&
           key->distinct >= 50 && part >= .5 * range && part <= range;
}

enum mrsi_range_fit
mrsi_numbers_fit(const struct mrsi_path *p, const struct mrsi_path *key)
{
    MRS_ASSERT(p && key);
    const struct mrsi_counted *a = &p->count, *b = &key->count;
    uint64_t values = a->n[MRSI_NUMBER] + a->digits;
    bool numbers = (b->n[MRSI_NUMBER] || b->digits) && values > 0 && a->n[MRSI_FRACTION] == 0;
    bool whole_key = !mrsi_is_sampled(key->in) && key->distinct >= 8;
    if (!numbers || !whole_key || a->least < b->least || a->most > b->most) {
        return MRSI_NO_FIT;
    }
    if (mrsi_path_is_unique(p) && !p->lists && p->distinct * 10 >= key->distinct * 8) {
        return MRSI_NO_FIT; /* it counts its own documents */
    }
    if (a->least == b->least && a->most == b->most && (double)p->distinct >= .95 * (double)key->distinct) {
        return MRSI_FITS_WHOLE;
    }
    double far = reach(p, (double)values);
    if (values < 50 || key->distinct < 50 || (double)b->most - (double)a->most > far) {
        return MRSI_NO_FIT;
    }
    return (double)a->least - (double)b->least <= far ? MRSI_FITS_PART : MRSI_FITS_END;
}

static double
by_fit(const struct mrsi_reference *r)
{
    const struct mrsi_path *p = r->from[0];
    bool unique = mrsi_path_is_unique(p) && (!p->lists || p->kind == MRSI_FIELD); /* also ids of subdocuments */
    if (!unique && r->contained >= 1 && r->matched_distinct >= 50 && r->cover >= .9) {
        return .5;
    }
    bool all = r->to[0]->distinct >= 2 && r->to[0]->distinct < 50 && r->contained >= 1 && r->cover >= 1 && !unique;
    return all ? mrsi_name_has_id(p) && r->to[0]->distinct >= 8 ? .3 : .2 : 0;
}

/* Where values do not match by chance, many rare ones may dangle. */
static double
quality(const struct mrsi_reference *r)
{
    double c = r->contained, of_all = r->values ? (double)r->matched / (double)r->values : 0;
    if (r->v >= .85) {
        c = fmax(c, of_all);
        return c >= .95 ? 1 : c >= .3 ? 1 - (.95 - c) / .65 * .4 : 0;
    }
    double named = r->n < .75 ? 0 : of_all >= .95 ? .9 : .8;
    return c >= .95 ? 1 : c >= .9 ? .9 : c >= .8 ? named : 0;
}

/* A name that says nothing: of a number that counts its own documents, measures, or orders something. */
static bool
is_idle_name(const struct mrsi_reference *r, double n, bool same_ids)
{
    const struct mrsi_path *p = r->from[0];
    /* a common number in several tables */
    bool shared = strcmp(p->last, r->to[0]->last) == 0 && n >= .95 && r->contained >= .95;
    /* an id of persons, say, that does not begin with 1 */
    bool some_of_them = n >= .7 && mrsi_name_has_id(p) && p->count.least > 1 && r->contained >= 1;
    bool all_ids = same_ids && r->cover >= .95 && n >= .7;
    bool counts_own = is_running(p) && n < 1 && !r->namesake && !shared && !some_of_them && !all_ids;
    return counts_own || is_amount(r, n) || is_field_of_target(r) || (is_position(r) && n < .65) ||
           (r->self && n < .85);
}

/* Integers as text on one side may be zip codes or sizes, unless they are long, or all codes of a table; field names,
 * which have no descriptive name, are rather ids. */
static bool
may_be_other_digits(const struct mrsi_reference *r, double n, double v)
{
    MRS_ASSERT(r->parts > 0);
    const struct mrsi_path *p = r->from[0], *key = r->to[0];
    bool wide_apart = density(key) < (p->names && r->contained >= .95 ? .25 : .01) && r->matched_distinct >= 20;
    bool all_codes = v >= .9 && r->contained >= .95 && r->cover >= 1 && mrsi_path_is_id(key);
    return r->as_number && n < .65 && !wide_apart && !all_codes;
}

/* Whether a path named like its own collection has ids of another one: own ids are unique, and not some of others'. */
static bool
has_ids_of_others(const struct mrsi_reference *r, double v, bool unique)
{
    MRS_ASSERT(r->parts > 0);
    const struct mrsi_counted *p = &r->from[0]->count;
    bool digits = r->as_number || p->digits || p->n[MRSI_NUMBER];
    bool texts = v >= .9 && !digits && r->contained >= .95 && r->matched_distinct >= 50;
    bool sparse = v >= .9 && digits && r->contained >= .95 && r->cover >= .95 && r->matched_distinct >= 20;
    return unique ? texts && r->cover < .9 : texts || sparse || v >= .95;
}

/* Whether running numbers are those of another collection, and not equal by chance: ids of both, or all of both. */
static bool
are_equal_ids(const struct mrsi_reference *r, double v, bool same_ids)
{
    bool all = r->contained >= 1 && r->cover >= 1 && r->matched_distinct >= 50;
    return v >= .85 && (same_ids || (mrsi_path_is_id(r->to[0]) && all));
}

void
mrsi_judge(const struct mrsi_relating *x, struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 0 && r->from[0] != r->to[0]);
    const struct mrsi_path *p = r->from[0], *key = r->to[0];
    bool unique = mrsi_path_is_unique(p) && !p->lists;
    double n = r->by_kind ? 1 : r->namesake ? .95 : mrsi_name_score(p, key, &x->words, r->cover, unique);
    double v = by_values(r, n);
    bool same_ids = mrsi_path_is_id(p) && mrsi_path_is_id(key) && r->contained >= .95;
    if (v == 0 && is_idle_name(r, n, same_ids)) {
        n = 0;
    }
    if (may_be_other_digits(r, n, v)) {
        v = n = 0;
    }
    bool others = has_ids_of_others(r, v, unique);
    bool own = mrsi_name_is_own(p, &x->words) && !mrsi_path_is_id(p) && n < 1 && !others;
    bool both_unique = unique && mrsi_path_is_unique(key) && n < .5 && v < .9 && !(r->self && p->count.n[MRSI_TEXT]);
    if (own || (both_unique && !others && !are_equal_ids(r, v, same_ids))) {
        v *= .4;
    }
    bool constant = r->matched_distinct < 2 && r->contained > 0 && !mrsi_path_is_id(key) && !r->by_kind;
    r->v = constant ? 0 : v;
    r->n = constant || n < .5 ? 0 : n;
    r->f = r->v == 0 ? by_fit(r) : 0;
    r->score = quality(r) * (1 - (1 - r->v) * (1 - .9 * r->n) * (1 - r->f));
}
