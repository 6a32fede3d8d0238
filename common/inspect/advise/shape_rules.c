/* SPDX-License-Identifier: Apache-2.0 */
/* shape_rules.c - rules on the structure of documents: growing arrays, mixed types, names that are data. */
#include "advise.h"
#include "inspect/relate/field_names.h"
#include <stdio.h>

enum { DOCUMENTS = 200, SCALARS = 2000, FAMILY = 5, PARTS = 100 };
#define YEAR_MS (365ll * 86400000)

static const struct mrsi_path *
elements_of(const struct mrsi_path *p)
{
    for (const struct mrsi_path *q = p + 1; q < p->in->path + p->in->paths && q->ways > p->ways; q++) {
        if (q->parent == p && q->kind == MRSI_EACH) {
            return q;
        }
    }
    return NULL;
}

/* The reference of a path; NULL: none. */
static struct mrsi_reference *
refers(const struct mrsi_inspection *x, const struct mrsi_path *p)
{
    for (uint32_t i = 0; i < x->refs; i++) {
        if (x->ref[i]->from[0] == p && !x->ref[i]->candidate) {
            return x->ref[i];
        }
    }
    return NULL;
}

/* Whether a path below an array's elements is a reference. */
static bool
refers_below(const struct mrsi_inspection *x, const struct mrsi_path *p)
{
    for (const struct mrsi_path *q = p; q < p->in->path + p->in->paths && (q == p || q->ways > p->ways); q++) {
        if (refers(x, q)) {
            return true;
        }
    }
    return false;
}

static void
one_array(struct mrsi_advice *y, struct mrsi_collection *c, struct mrsi_path *p)
{
    MRS_ASSERT(p->in == c);
    const struct mrsi_path *each = elements_of(p);
    bool documents = each && each->count.n[MRSI_OBJECT] * 2 > each->count.all;
    uint64_t most = documents ? DOCUMENTS : SCALARS;
    const struct mrsi_quantiles *l = p->length;
    char p99[32], max[32], bound[32];
    mrs_text_count(l->p99, p99);
    mrs_text_count(l->max, max);
    mrs_text_count(most, bound);
    const char *what = documents ? "documents" : "values";
    struct mrsi_rule_found *r = NULL;
    if (l->p99 > most) {
        r = mrsi_note(y, c, documents ? "long-array" : "long-reference-array", p->text,
                      "p99 %s, max %s %s in one array; more than %s make documents slow to read and write", p99, max,
                      what, bound);
        r->step = "extract";
        r->severity = 3;
    } else if (l->max > most && l->max > 10 * l->p99) {
        r = mrsi_note(y, c, "outlier-array", p->text,
                      "p99 %s, but max %s %s: a few documents hold far more than the others", p99, max, what);
        r->step = "extract";
        r->severity = 2;
    }
    if (r) {
        r->at = p;
        r->reference = each ? refers(y->x, each) : NULL;
        mrsi_add_figures(
            y, (struct mrsi_figure[]){{"p99", (double)l->p99}, {"max", (double)l->max}, {"limit", (double)most}}, 3);
    }
}

static void
near_limit(struct mrsi_advice *y, struct mrsi_collection *c)
{
    MRS_ASSERT(c->name);
    int64_t when = 0;
    char size[32], rate[32], date[40];
    bool grows = mrsi_limit_date(&c->limit, &when) && when - c->limit.newest <= YEAR_MS;
    if (c->size.max < (8u << 20) && !grows) {
        return;
    }
    const char *path = c->limit.path[0] ? c->limit.path : NULL;
    mrsi_bytes_text((double)c->size.max, size);
    mrsi_bytes_text(c->limit.bytes_a_day, rate);
    struct mrsi_rule_found *r;
    if (grows) {
        mrsi_iso_time(when, date);
        date[10] = 0;
        r = mrsi_note(y, c, "near-limit", path,
                      "the largest document has %s and gains %s a day: it reaches 16 MiB about %s", size, rate, date);
    } else {
        r = mrsi_note(y, c, "near-limit", path, "the largest document has %s of at most 16 MiB", size);
    }
    r->step = path ? "extract" : NULL;
    r->severity = 3;
    for (uint32_t i = 0; path && i < c->paths; i++) {
        r->at = strcmp(c->path[i].text, path) == 0 ? &c->path[i] : r->at;
    }
    mrsi_add_figures(
        y, (struct mrsi_figure[]){{"max", (double)c->size.max}, {"bytesPerDay", (double)(int64_t)c->limit.bytes_a_day}},
        c->limit.timed ? 2 : 1);
}

/* Elements of several fields that often repeat. */
static void
repeated_parts(struct mrsi_advice *y, struct mrsi_collection *c, struct mrsi_path *p)
{
    MRS_ASSERT(p->in == c);
    const struct mrsi_path *each = elements_of(p);
    uint32_t fields = 0;
    char n[32], d[32];
    if (!each || each->count.n[MRSI_OBJECT] < PARTS || each->count.n[MRSI_OBJECT] < each->count.all) {
        return;
    }
    for (const struct mrsi_path *q = each + 1; q < c->path + c->paths && q->ways > each->ways; q++) {
        fields += q->parent == each && !q->names;
    }
    if (fields < 2 || refers_below(y->x, each) || each->distinct * 5 > each->count.n[MRSI_OBJECT]) {
        return;
    }
    struct mrsi_rule_found *r = mrsi_note(y, c, "repeated-parts", p->text, "%s elements, but only %s different ones",
                                          mrs_text_count(each->count.n[MRSI_OBJECT], n),
                                          mrs_text_count(each->distinct, d));
    r->step = "extract";
    r->at = p;
    mrsi_add_figures(
        y,
        (struct mrsi_figure[]){{"elements", (double)each->count.n[MRSI_OBJECT]}, {"distinct", (double)each->distinct}},
        2);
}

void
mrsi_rules_of_arrays(struct mrsi_advice *y, struct mrsi_collection *c)
{
    MRS_ASSERT(c->path || c->paths == 0);
    for (uint32_t i = 0; i < c->paths; i++) {
        if (c->path[i].length && c->path[i].length->n) {
            one_array(y, c, &c->path[i]);
            repeated_parts(y, c, &c->path[i]);
        }
    }
    near_limit(y, c);
    if (c->series.time) {
        char n[32];
        struct mrsi_rule_found *r = mrsi_note(
            y, c, "time-series-single", c->series.time->text,
            "one document for each measurement: %s series by %s, one every %.3g s; buckets take a fraction of "
            "the room and of the index entries",
            mrs_text_count(c->series.count, n), c->series.series->text, c->series.step_seconds);
        r->step = "bucket";
        r->severity = 2;
        mrsi_add_figures(y,
                         (struct mrsi_figure[]){{"documents", (double)c->documents},
                                                {"series", (double)c->series.count},
                                                {"stepSeconds", c->series.step_seconds}},
                         3);
    }
}

/* ---- fields ---- */
enum kind { K_NUMBER, K_STRING, K_ID, K_DATE, K_BOOL, K_DOCUMENT, K_ARRAY, K_BINARY, KINDS };

static int
kind_of(uint8_t type)
{
    switch (type) {
    case MRS_INT32:
    case MRS_INT64:
    case MRS_DOUBLE:
    case MRS_DECIMAL128:
        return K_NUMBER;
    case MRS_STRING:
    case MRS_SYMBOL:
        return K_STRING;
    case MRS_OBJECTID:
        return K_ID;
    case MRS_DATE:
        return K_DATE;
    case MRS_BOOL:
        return K_BOOL;
    case MRS_DOCUMENT:
        return K_DOCUMENT;
    case MRS_ARRAY:
        return K_ARRAY;
    case MRS_BINARY:
        return K_BINARY;
    default:
        return -1;
    }
}

static void
mixed_types(struct mrsi_advice *y, struct mrsi_collection *c, struct mrsi_path *p)
{
    MRS_ASSERT(p->in == c);
    static const char *const names[] = {"numbers",  "text",      "ObjectIds", "dates",
                                        "booleans", "documents", "arrays",    "binary"};
    uint64_t n[KINDS] = {0}, all = 0;
    int first = 0, second = -1;
    char a[32], b[32];
    for (uint32_t i = 0; i < p->types; i++) {
        int k = kind_of(p->type[i].type);
        if (k >= 0) {
            n[k] += p->type[i].n;
            all += p->type[i].n;
        }
    }
    for (int k = 1; k < KINDS; k++) {
        first = n[k] > n[first] ? k : first;
    }
    for (int k = 0; k < KINDS; k++) {
        second = k != first && n[k] && (second < 0 || n[k] > n[second]) ? k : second;
    }
    if (second < 0 || (n[second] < 10 && n[second] * 1000 < all)) {
        return;
    }
    struct mrsi_rule_found *r = mrsi_note(y, c, "mixed-types", p->text, "%s %s among %s %s",
                                          mrs_text_count(n[second], a), names[second], mrs_text_count(n[first], b),
                                          names[first]);
    r->step = "cast";
    r->at = p;
    r->severity = 2;
    mrsi_add_figures(y, (struct mrsi_figure[]){{"first", (double)n[first]}, {"second", (double)n[second]}}, 2);
}

static bool
same_family(const struct mrsi_path *a, const struct mrsi_path *b, const char *word)
{
    struct mrsi_name n;
    if (a->parent != b->parent || a->kind != MRSI_FIELD || b->kind != MRSI_FIELD || a->names || b->names || !a->types ||
        !b->types || kind_of(a->type[0].type) != kind_of(b->type[0].type) || kind_of(b->type[0].type) < 0) {
        return false;
    }
    mrsi_name_split(b->last, NULL, true, &n);
    return n.n > 1 && strcmp(n.word[0], word) == 0;
}

/* `release_US`, `release_FR`, ...: one attribute in many fields. */
static void
attribute_family(struct mrsi_advice *y, struct mrsi_collection *c, struct mrsi_path *p)
{
    MRS_ASSERT(p->in == c);
    struct mrsi_name n, own;
    double presence = 0;
    uint32_t members = 0;
    char path[512];
    mrsi_name_split(p->last, NULL, true, &n);
    mrsi_name_split(c->name, NULL, true, &own);
    if (n.n < 2 || p->kind != MRSI_FIELD || (own.n && strcmp(n.word[0], own.word[0]) == 0)) {
        return;
    }
    for (struct mrsi_path *q = c->path; q < c->path + c->paths; q++) {
        if (same_family(p, q, n.word[0])) {
            if (q < p) {
                return; /* reported for the first of them */
            }
            members++;
            presence += q->of ? (double)q->present / (double)q->of : 0;
        }
    }
    if (members < FAMILY || presence / members > .7) {
        return;
    }
    size_t head = strlen(n.word[0]); /* the word as written, with its separator */
    const char *last = p->last;
    while (last[head] && !strchr("_-. ", last[head]) && head < strlen(n.word[0])) {
        head++;
    }
    head += last[head] && strchr("_-. ", last[head]) ? 1 : 0;
    snprintf(path, sizeof path, "%.*s%.*s*", (int)(strlen(p->text) - strlen(p->last)), p->text, (int)head, last);
    struct mrsi_rule_found *r = mrsi_note(y, c, "attribute-fields", path,
                                          "%u fields of one kind, each in %.0f %% of the documents on average: one "
                                          "index cannot serve them",
                                          members, 100 * presence / members);
    r->step = "pack";
    r->at = p;
    mrsi_add_figures(y,
                     (struct mrsi_figure[]){{"fields", members},
                                            {"presence", (double)(int64_t)(presence / members * 1e4 + .5) / 1e4}},
                     2);
}

static void
large_field(struct mrsi_advice *y, struct mrsi_collection *c, struct mrsi_path *p)
{
    MRS_ASSERT(p->in == c);
    char mean[32];
    if (p->ways != 1 || p->present == 0 || p->length || p->bytes / p->present < 10240 || p->bytes * 5 < c->bytes * 4) {
        return;
    }
    double each = (double)p->bytes / (double)p->present;
    struct mrsi_rule_found *r = mrsi_note(y, c, "large-field", p->text,
                                          "%s on average, %.0f %% of all bytes: who reads the rest reads it too",
                                          mrsi_bytes_text(each, mean), 100 * (double)p->bytes / (double)c->bytes);
    r->step = "split";
    r->at = p;
    mrsi_add_figures(y, (struct mrsi_figure[]){{"meanBytes", (double)(int64_t)each}, {"bytes", (double)p->bytes}}, 2);
}

static void
names_are_data(struct mrsi_advice *y, struct mrsi_collection *c, struct mrsi_path *p)
{
    MRS_ASSERT(p->in == c);
    char n[32];
    uint64_t names = p + 1 < c->path + c->paths && p[1].names ? p[1].distinct : 0;
    if (names < 3) {
        return;
    }
    struct mrsi_rule_found *r = mrsi_note(y, c, "names-are-data", p->text,
                                          "%s different field names hold data: no index can find a value by them",
                                          mrs_text_count(names, n));
    r->step = "pack";
    r->at = p;
    r->severity = 2;
    mrsi_add_figures(y, (struct mrsi_figure[]){{"names", (double)names}}, 1);
}

void
mrsi_rules_of_fields(struct mrsi_advice *y, struct mrsi_collection *c)
{
    MRS_ASSERT(c->path || c->paths == 0);
    for (uint32_t i = 0; i < c->paths; i++) {
        struct mrsi_path *p = &c->path[i];
        if (p->names) {
            continue;
        }
        if (p->kind == MRSI_ANY) {
            names_are_data(y, c, p);
        }
        mixed_types(y, c, p);
        attribute_family(y, c, p);
        large_field(y, c, p);
    }
    if (c->versions.path && c->versions.differs) {
        struct mrsi_rule_found *r = mrsi_note(y, c, "mixed-versions", c->versions.path->text,
                                              "%u versions of the design at once; %s is in some and not in others",
                                              c->versions.n, c->versions.differs->text);
        r->step = "set";
        mrsi_add_figures(y, (struct mrsi_figure[]){{"versions", c->versions.n}}, 1);
    }
}
