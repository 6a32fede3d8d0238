/* SPDX-License-Identifier: Apache-2.0 */
/* reference_rules.c - rules on references: orphans, references without an index, documents that should be embedded. */
#include "advise.h"
#include "mongoreshape/walk.h"
#include "mongoreshape/words.h"
#include <stdio.h>

enum { FEW = 20, FEW_MOST = 200, PARENTS = 20, DEEP = 4, BUCKET_ITEMS = 5 };

static bool
has_index(const struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 0 && r->parts <= MRSI_PARTS);
    const struct mrsi_collection *c = r->from[0]->in;
    for (uint32_t part = 0; part < r->parts; part++) {
        if (strcmp(r->from[part]->text, "_id") == 0) {
            return true;
        }
        for (uint32_t i = 0; i < c->indexes; i++) {
            if (mrsi_index_starts_with(&c->index[i], (const struct mrsi_path *const *)&r->from[part], 1)) {
                return true;
            }
        }
    }
    return false;
}

static void
format_target(const struct mrsi_reference *r, char *out, size_t size)
{
    int n = snprintf(out, size, "%s.%s", mrsi_target_name(r->to[0]->in, r->from[0]->in), r->to[0]->text);
    for (uint32_t i = 1; i < r->parts && n >= 0 && (size_t)n < size; i++) {
        n += snprintf(out + n, size - (size_t)n, ", %s", r->to[i]->text);
    }
}

/* Whether both have the same paths, but other targets. */
static bool
has_paths_of(const struct mrsi_reference *o, const struct mrsi_reference *r)
{
    bool same = o->parts == r->parts && !o->candidate && !o->dropped;
    for (uint32_t i = 0; same && i < r->parts; i++) {
        same = o->from[i] == r->from[i];
    }
    return same;
}

/* Whether no earlier reference is from these paths. match: with this match; NULL: with any. */
static bool
is_first_of_paths(const struct mrsi_inspection *x, const struct mrsi_reference *r, const char *match)
{
    for (uint32_t i = 0; i < x->refs; i++) {
        const struct mrsi_reference *o = x->ref[i];
        if (has_paths_of(o, r) && (!match || strcmp(o->match, match) == 0)) {
            return o == r;
        }
    }
    return false;
}

/* Whether an index for an earlier reference would do for this one, too. */
static bool
shares_index(const struct mrsi_inspection *x, const struct mrsi_reference *r)
{
    for (uint32_t i = 0; i < x->refs && x->ref[i] != r; i++) {
        const struct mrsi_reference *o = x->ref[i];
        if (o->from[0] == r->from[0] && !o->candidate && !o->dropped) {
            return true;
        }
    }
    return false;
}

/* One side has text and the other the value that the text represents, or both have UUIDs of different subtypes. */
static void
differ_in(const struct mrsi_reference *r, const char *target, char *out, size_t size)
{
    MRS_ASSERT(r->parts > 0 && target);
    bool text = r->from[0]->types && r->from[0]->type[0].type == MRS_STRING;
    const char *what = r->match[0] == 'o' ? "ObjectIds" : r->match[0] == 'u' ? "UUIDs" : "numbers";
    if (strcmp(r->match, "mixed") == 0) {
        snprintf(out, size, "some values are text and some are not: $lookup finds only those of the type of %s",
                 target);
    } else if (strcmp(r->match, "uuidSubtype") == 0) {
        snprintf(out, size, "UUIDs of another binary subtype (3, 4) than %s has: $lookup does not match them; a cast "
                 "to { uuid: python } makes 4 of 3, one to { legacy_uuid: python } 3 of 4", target);
    } else if (text) {
        snprintf(out, size, "%s as text, which %s has not as text: $lookup does not match them", what, target);
    } else {
        snprintf(out, size, "%s, which %s has as text: $lookup does not match them", what, target);
    }
}

static void
type_differs(struct mrsi_advice *y, struct mrsi_reference *r, const char *target)
{
    char how[900];
    differ_in(r, target, how, sizeof how);
    struct mrsi_rule_found *f = mrsi_note(y, r->from[0]->in, "reference-type-differs", r->from[0]->text, "%s", how);
    f->step = "cast";
    f->reference = r;
    f->severity = 2;
    mrsi_add_figures(y, (struct mrsi_figure[]){{"values", (double)r->values}}, 1);
}

static void
index_and_type(struct mrsi_advice *y, struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 0);
    struct mrsi_collection *c = r->from[0]->in;
    char target[512], n[32];
    format_target(r, target, sizeof target);
    if (c->documents >= 100 && !r->from[0]->names && !c->view && !has_index(r) && !shares_index(y->x, r)) {
        struct mrsi_rule_found *f = mrsi_note(y, c, "reference-without-index", r->from[0]->text,
                                              "refers to %s; a query for what belongs to one of them reads all %s",
                                              target, mrs_text_count(mrsi_all_documents(c), n));
        f->step = "index";
        f->reference = r;
        f->severity = 2;
        mrsi_add_figures(y, (struct mrsi_figure[]){{"documents", (double)mrsi_all_documents(c)}}, 1);
    }
    static const char *const equal[] = {"equal", "number", "dbref"};
    if (!MRS_IS_ONE_OF(r->match, equal) && is_first_of_paths(y->x, r, r->match)) {
        type_differs(y, r, target);
    }
}

/* Values of r's path without a target. false: none, or unknown for a sample. If only a sample of the targets was read,
 * the results of lookups count. */
static bool
count_orphans(const struct mrsi_inspection *x, const struct mrsi_reference *r, uint64_t *orphans, uint64_t *of)
{
    *orphans = *of = r->probed ? r->probed_values : r->values;
    for (uint32_t i = 0; i < x->refs; i++) {
        const struct mrsi_reference *o = x->ref[i];
        if (!has_paths_of(o, r)) {
            continue;
        }
        if ((o->probed != 0) != (r->probed != 0) || (mrsi_is_sampled(o->to[0]->in) && !o->probed)) {
            return false;
        }
        uint64_t matched = o->probed ? o->found_values : o->matched;
        *orphans -= matched < *orphans ? matched : *orphans;
    }
    return *orphans > 0;
}

static void
orphans(struct mrsi_advice *y, struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 0);
    uint64_t left, of;
    char n[32], all[32], target[512];
    if (!is_first_of_paths(y->x, r, NULL) || !count_orphans(y->x, r, &left, &of)) {
        return;
    }
    format_target(r, target, sizeof target);
    struct mrsi_rule_found *f = mrsi_note(y, r->from[0]->in, "orphans", r->from[0]->text,
                                          "%s of %s values%s name no %s", mrs_text_count(left, n),
                                          mrs_text_count(of, all), r->probed ? " that were looked up" : "", target);
    f->reference = r;
    f->severity = 2;
    mrsi_add_figures(y, (struct mrsi_figure[]){{"orphans", (double)left}, {"values", (double)of}}, 2);
}

static bool
is_referred_to(const struct mrsi_inspection *x, const struct mrsi_collection *c)
{
    for (uint32_t i = 0; i < x->refs; i++) {
        if (x->ref[i]->to[0]->in == c && !x->ref[i]->candidate && !x->ref[i]->dropped) {
            return true;
        }
    }
    return false;
}

/* Buckets of measurements are separate on purpose: they have a start, an end, and many items with their own times. */
static bool
is_of_buckets(const struct mrsi_collection *c)
{
    uint32_t dates = 0;
    bool items = false;
    for (uint32_t i = 0; i < c->paths; i++) {
        const struct mrsi_path *p = &c->path[i];
        bool date = p->present && p->count.n[MRSI_DATE] * 100 >= p->present * 99;
        dates += date && !p->parent && p->present * 100 >= c->documents * 99;
        items = items || (date && p->lists == 1 && p->present >= c->documents * BUCKET_ITEMS);
    }
    return dates >= 2 && items;
}

static bool
could_be_embedded(const struct mrsi_inspection *x, const struct mrsi_reference *r)
{
    const struct mrsi_collection *c = r->from[0]->in;
    bool lists = r->from[0]->lists || r->to[0]->lists;
    return r->parts == 1 && !r->self && !lists && !r->from[0]->names && !c->view && !mrsi_is_sampled(c) &&
           r->parents >= PARENTS && r->values * 100 >= c->documents * 95 && r->matched * 100 >= r->values * 95 &&
           (r->per_parent.max <= 1 || (r->per_parent.p99 <= FEW && r->per_parent.max <= FEW_MOST)) &&
           !is_referred_to(x, c) && !is_of_buckets(c);
}

/* The parent with the fewest children each. */
static bool
is_tightest(const struct mrsi_inspection *x, const struct mrsi_reference *r)
{
    for (uint32_t i = 0; i < x->refs; i++) {
        const struct mrsi_reference *o = x->ref[i];
        if (o == r || o->candidate || o->dropped || o->from[0]->in != r->from[0]->in || !could_be_embedded(x, o)) {
            continue;
        }
        if (o->per_parent.p99 < r->per_parent.p99 ||
            (o->per_parent.p99 == r->per_parent.p99 &&
             (o->parents > r->parents || (o->parents == r->parents && o->from[0] < r->from[0])))) {
            return false;
        }
    }
    return true;
}

static void
apart(struct mrsi_advice *y, struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 0);
    char p99[32], max[32], n[32];
    if (!could_be_embedded(y->x, r) || !is_tightest(y->x, r)) {
        return;
    }
    bool one = r->per_parent.max <= 1;
    struct mrsi_rule_found *f = mrsi_note(
        y, r->from[0]->in, one ? "one-to-one-apart" : "one-to-few-apart", r->from[0]->text,
        one ? "each of %s %s has at most one (p99 %s, max %s): it could be part of it"
            : "each of %s %s has few (p99 %s, max %s), and nothing else refers to them: they could be part of it",
        mrs_text_count(r->parents, n), mrsi_target_name(r->to[0]->in, r->from[0]->in),
        mrs_text_count(r->per_parent.p99, p99), mrs_text_count(r->per_parent.max, max));
    f->step = "embed";
    f->reference = r;
    mrsi_add_figures(y,
                     (struct mrsi_figure[]){{"p99", (double)r->per_parent.p99},
                                            {"max", (double)r->per_parent.max},
                                            {"parents", (double)r->parents}},
                     3);
}

static void
two_way(struct mrsi_advice *y, struct mrsi_reference *r)
{
    char gaps[32], dis[32];
    const struct mrsi_two_way *w = r->two_way;
    if (!w || w->gaps + w->disagree == 0) {
        return;
    }
    struct mrsi_rule_found *f = mrsi_note(y, r->from[0]->in, "two-way-disagrees", r->from[0]->text,
                                          "%s.%s refers back: %s are in no list, %s only in another document's",
                                          mrsi_target_name(w->list->from[0]->in, r->from[0]->in),
                                          w->list->from[0]->text, mrs_text_count(w->gaps, gaps),
                                          mrs_text_count(w->disagree, dis));
    f->step = "link";
    f->reference = r;
    f->severity = 2;
    mrsi_add_figures(y,
                     (struct mrsi_figure[]){{"agree", (double)w->agree},
                                            {"gaps", (double)w->gaps},
                                            {"disagree", (double)w->disagree}},
                     3);
}

static void
stale(struct mrsi_advice *y, struct mrsi_copied *c)
{
    MRS_ASSERT(c->from && c->of);
    char n[32], all[32];
    if (!c->reported || c->stale == 0) {
        return;
    }
    struct mrsi_rule_found *f = mrsi_note(y, c->from->in, "stale-copies", c->from->text,
                                          "%s of %s copies of %s.%s differ from it", mrs_text_count(c->stale, n),
                                          mrs_text_count(c->compared, all), mrsi_target_name(c->of->in, c->from->in),
                                          c->of->text);
    f->step = "copy";
    f->copy = c;
    f->severity = 2;
    mrsi_add_figures(y, (struct mrsi_figure[]){{"compared", (double)c->compared}, {"stale", (double)c->stale}}, 2);
}

void
mrsi_rules_of_references(struct mrsi_advice *y)
{
    struct mrsi_inspection *x = y->x;
    for (uint32_t i = 0; i < x->refs; i++) {
        struct mrsi_reference *r = x->ref[i];
        if (!r->candidate && !r->dropped) {
            index_and_type(y, r);
            orphans(y, r);
            apart(y, r);
            two_way(y, r);
        }
    }
    for (uint32_t i = 0; i < x->copies; i++) {
        stale(y, &x->copy[i]);
    }
    for (uint32_t i = 0; i < x->colls; i++) {
        const struct mrsi_tree_figures *t = &x->coll[i].tree;
        if (t->path && t->depth >= DEEP) {
            struct mrsi_rule_found *f = mrsi_note(y, &x->coll[i], "deep-tree", t->path->text,
                                                  "a tree %llu levels deep: the way to the root takes as many queries",
                                                  (unsigned long long)t->depth);
            f->step = "tree";
            mrsi_add_figures(y,
                             (struct mrsi_figure[]){{"depth", (double)t->depth},
                                                    {"roots", (double)t->roots},
                                                    {"cycles", (double)t->cycles}},
                             3);
        }
    }
}
