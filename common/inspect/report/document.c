/* SPDX-License-Identifier: Apache-2.0 */
/* document.c - the findings as one document for programs: {inspect: 1, ...}. Fields that do not apply are missing. */
#include "inspect_print.h"

#include "mongoreshape/ejson.h"

#include <math.h>

#include <stdio.h>

static void
text(struct mrs_build *b, const char *name, const char *value)
{
    if (value) {
        mrs_build_text(b, name, value, (uint32_t)strlen(value));
    }
}

static void
item(struct mrs_build *b, uint32_t i, const char *value)
{
    char name[12];
    mrs_index_name(name, i);
    text(b, name, value);
}

static void
count(struct mrs_build *b, const char *name, uint64_t n)
{
    mrs_build_count(b, name, (uint32_t)strlen(name), n);
}

static void
open(struct mrs_build *b, const char *name, uint8_t type)
{
    mrs_build_open(b, name, (uint32_t)strlen(name), type);
}

/* Up to four digits after the point: enough for people, and the same on every machine. */
static void
ratio(struct mrs_build *b, const char *name, double v)
{
    mrs_build_double(b, name, (double)(int64_t)(v * 1e4 + (v < 0 ? -.5 : .5)) / 1e4);
}

static void
spread(struct mrs_build *b, const struct mrsi_quantiles *s)
{
    if (s->n == 0) {
        return;
    }
    count(b, "min", s->min);
    mrs_build_double(b, "avg", (double)s->sum / (double)s->n);
    count(b, "p50", s->p50);
    count(b, "p99", s->p99);
    count(b, "max", s->max);
}

static void
histogram(struct mrs_build *b, const struct mrsi_quantiles *s)
{
    open(b, "histogram", MRS_ARRAY);
    for (uint32_t i = 0; i < s->pillars; i++) {
        if (s->pillar[i]) {
            uint8_t room[16], room2[16];
            mrs_build_item_open(b, MRS_ARRAY);
            mrs_build_item(b, mrs_make_count(room, i == 0 ? 1 : 1ull << i));
            mrs_build_item(b, mrs_make_count(room2, s->pillar[i]));
            mrs_build_close(b);
        }
    }
    mrs_build_close(b);
}

/* Makes a value of shortened text. */
static void
value(struct mrs_build *b, const char *name, struct mrs_val v)
{
    uint8_t room[160];
    if (v.type == MRS_STRING && v.n >= 4 && mrs_le32(v.p) + 4 != v.n && v.n < sizeof room) {
        memcpy(room, v.p, v.n);
        mrs_put32(room, v.n - 3);
        room[v.n] = 0;
        v = (struct mrs_val){room, v.n + 1, MRS_STRING};
    } else if (v.type != MRS_MISSING && mrs_value_size(v.type, v.p, v.n) != (int64_t)v.n) {
        return;
    }
    if (name) {
        mrs_build_val(b, name, (uint32_t)strlen(name), v);
    } else {
        mrs_build_item(b, v);
    }
}

/* ---- paths ---- */
static void
types(struct mrs_build *b, const struct mrsi_path *p)
{
    MRS_ASSERT(p->type || p->types == 0);
    open(b, "types", MRS_DOCUMENT);
    for (uint32_t i = 0; i < p->types; i++) {
        count(b, mrs_type_name(p->type[i].type), p->type[i].n);
    }
    mrs_build_close(b);
    for (int side = 0; side < 2; side++) {
        open(b, side ? "max" : "min", MRS_DOCUMENT);
        for (uint32_t i = 0; i < p->types; i++) {
            value(b, mrs_type_name(p->type[i].type), side ? p->type[i].max : p->type[i].min);
        }
        mrs_build_close(b);
    }
}

static void
path(struct mrs_build *b, const struct mrsi_path *p, const struct mrsi_path *names)
{
    MRS_ASSERT(p->text);
    mrs_build_item_open(b, MRS_DOCUMENT);
    text(b, "path", p->text);
    count(b, "of", p->of);
    count(b, "present", p->present);
    count(b, "null", p->null);
    types(b, p);
    if (p->count.all > p->count.n[MRSI_OBJECT] + p->count.n[MRSI_LIST] + p->count.n[MRSI_NOTHING]) {
        count(b, "distinct", p->distinct);
        mrs_build_double(b, "distinctError", p->exact ? 0 : .016);
    }
    if (names) {
        count(b, "names", names->distinct);
    }
    if (p->n_frequent) {
        open(b, "frequent", MRS_ARRAY);
        for (uint32_t i = 0; i < p->n_frequent; i++) {
            if (p->frequent[i].value.type == MRS_MISSING) {
                continue;
            }
            mrs_build_item_open(b, MRS_DOCUMENT);
            value(b, "value", p->frequent[i].value);
            count(b, "n", p->frequent[i].n);
            mrs_build_close(b);
        }
        mrs_build_close(b);
    }
    count(b, "bytes", p->bytes);
    if (p->length) {
        open(b, "length", MRS_DOCUMENT);
        spread(b, p->length);
        count(b, "arrays", p->length->n);
        histogram(b, p->length);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

/* ---- collections ---- */
static void
limit(struct mrs_build *b, const struct mrsi_limit *l)
{
    int64_t ms;
    char when[40];
    if (!l->path[0]) {
        return;
    }
    open(b, "limit", MRS_DOCUMENT);
    text(b, "path", l->path);
    if (l->timed) {
        ratio(b, "bytesPerDay", l->bytes_a_day);
    }
    if (mrsi_limit_date(l, &ms)) {
        text(b, "reaches16MiB", mrsi_iso_time(ms, when));
    }
    mrs_build_close(b);
}

static void
shapes(struct mrs_build *b, const struct mrsi_collection *c)
{
    open(b, "shapes", MRS_ARRAY);
    for (uint32_t i = 0; i < c->shapes; i++) {
        struct mrs_val names = c->shape[i].names;
        mrs_build_item_open(b, MRS_DOCUMENT);
        open(b, "names", MRS_ARRAY);
        for (uint32_t at = 0; at < names.n;) {
            uint32_t n = (uint32_t)strnlen((const char *)names.p + at, names.n - at);
            uint8_t room[MRSI_SHOWN + 8];
            mrs_put32(room, n + 1);
            memcpy(room + 4, names.p + at, n);
            room[4 + n] = 0;
            mrs_build_item(b, (struct mrs_val){room, n + 5, MRS_STRING});
            at += n + 1;
        }
        mrs_build_close(b);
        count(b, "n", c->shape[i].n);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static void
special(struct mrs_build *b, const struct mrsi_collection *c)
{
    if (c->series.time) {
        open(b, "timeSeries", MRS_DOCUMENT);
        text(b, "time", c->series.time->text);
        text(b, "series", c->series.series->text);
        count(b, "count", c->series.count);
        mrs_build_double(b, "stepSeconds", c->series.step_seconds);
        mrs_build_close(b);
    }
    if (c->tree.path) {
        open(b, "tree", MRS_DOCUMENT);
        text(b, "path", c->tree.path->text);
        count(b, "roots", c->tree.roots);
        count(b, "depth", c->tree.depth);
        count(b, "cycles", c->tree.cycles);
        mrs_build_close(b);
    }
    if (c->versions.path) {
        open(b, "versions", MRS_DOCUMENT);
        text(b, "path", c->versions.path->text);
        count(b, "n", c->versions.n);
        mrs_build_close(b);
    }
}

static void
indexes(struct mrs_build *b, const struct mrsi_collection *c)
{
    open(b, "indexes", MRS_ARRAY);
    for (uint32_t i = 0; i < c->indexes; i++) {
        const struct mrsi_seen_index *x = &c->index[i];
        uint8_t room[16];
        mrs_build_item_open(b, MRS_DOCUMENT);
        text(b, "name", x->name);
        mrs_build_val(b, "key", 3, mrs_view_val(x->key));
        if (x->unique) {
            mrs_build_bool(b, "unique", true);
        }
        if (x->used != UINT64_MAX) {
            count(b, "used", x->used);
            mrs_build_val(b, "usedSince", 9, mrs_make_i64(room, x->used_since, MRS_DATE));
        }
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static void
collection(struct mrs_build *b, const struct mrsi_collection *c)
{
    MRS_ASSERT(c->ns);
    mrs_build_item_open(b, MRS_DOCUMENT);
    text(b, "ns", c->ns);
    if (c->view) {
        mrs_build_bool(b, "view", true);
    }
    count(b, "documents", c->documents);
    if (mrsi_is_sampled(c)) {
        ratio(b, "share", c->share);
    }
    count(b, "bytes", c->bytes);
    if (c->documents) {
        open(b, "size", MRS_DOCUMENT);
        spread(b, &c->size);
        value(b, "maxId", c->max_id);
        histogram(b, &c->size);
        mrs_build_close(b);
        count(b, "nameBytes", c->name_bytes);
        shapes(b, c);
    }
    if (c->twice) {
        count(b, "namesTwice", c->twice);
    }
    if (c->growth >= 0) {
        ratio(b, "growth", c->growth);
    }
    limit(b, &c->limit);
    special(b, c);
    indexes(b, c);
    open(b, "paths", MRS_ARRAY);
    for (uint32_t i = 0; i < c->paths; i++) {
        if (!c->path[i].names) {
            path(b, &c->path[i], i + 1 < c->paths && c->path[i + 1].names ? &c->path[i + 1] : NULL);
        }
    }
    mrs_build_close(b);
    mrs_build_close(b);
}

/* ---- references ---- */
static void
side(struct mrs_build *b, const char *name, struct mrsi_path *const *p, uint32_t parts)
{
    open(b, name, MRS_DOCUMENT);
    text(b, "ns", p[0]->in->ns);
    open(b, "paths", MRS_ARRAY);
    for (uint32_t i = 0; i < parts; i++) {
        item(b, i, p[i]->text);
    }
    mrs_build_close(b);
    mrs_build_close(b);
}

static void
per_parent(struct mrs_build *b, const struct mrsi_reference *r)
{
    open(b, "perParent", MRS_DOCUMENT);
    spread(b, &r->per_parent);
    count(b, "parents", r->parents);
    count(b, "none", r->none);
    histogram(b, &r->per_parent);
    mrs_build_close(b);
}

static void
evidence(struct mrs_build *b, const struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 0);
    open(b, "evidence", MRS_DOCUMENT);
    ratio(b, "values", r->v);
    ratio(b, "name", r->n);
    ratio(b, "fit", r->f);
    ratio(b, "contained", r->contained);
    ratio(b, "cover", r->cover);
    if (r->hinted) {
        mrs_build_bool(b, "hint", true);
    }
    mrs_build_close(b);
}

static void
aliases(struct mrs_build *b, const struct mrsi_inspection *x, const struct mrsi_reference *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->refs; i++) {
        n += x->ref[i]->alias_of == r;
    }
    if (!n) {
        return;
    }
    open(b, "aliases", MRS_ARRAY);
    n = 0;
    for (uint32_t i = 0; i < x->refs; i++) {
        if (x->ref[i]->alias_of == r) {
            item(b, n++, x->ref[i]->from[0]->text);
        }
    }
    mrs_build_close(b);
}

/* The looked-up values, and the bounds of the orphans' share, with 95 % confidence (Wilson). */
static void
put_lookups(struct mrs_build *b, const struct mrsi_reference *r)
{
    double n = (double)r->probed, z = 1.96, p = 1 - (double)r->found / n;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
    open(b, "lookedUp", MRS_DOCUMENT);
    count(b, "distinct", r->probed);
    count(b, "orphanDistinct", r->probed - r->found);
    open(b, "orphanShare", MRS_ARRAY);
    for (int side = -1; side < 2; side += 2) {
        double bound = middle + side * half;
        ratio(b, side < 0 ? "0" : "1", bound < 0 || (side < 0 && r->found == r->probed) ? 0 : bound > 1 ? 1 : bound);
    }
    mrs_build_close(b);
    mrs_build_close(b);
}

static void
reference(struct mrs_build *b, const struct mrsi_inspection *x, const struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 0 && r->parts <= MRSI_PARTS);
    mrs_build_item_open(b, MRS_DOCUMENT);
    side(b, "from", r->from, r->parts);
    side(b, "to", r->to, r->parts);
    ratio(b, "score", r->score);
    text(b, "match", r->match);
    count(b, "values", r->values);
    count(b, "distinct", r->distinct);
    count(b, "matched", r->matched);
    count(b, "orphans", r->orphans);
    count(b, "orphanDistinct", r->orphan_distinct);
    if (r->probed) {
        put_lookups(b, r);
    }
    if (!mrsi_is_sampled(r->from[0]->in)) {
        per_parent(b, r);
    }
    text(b, "cardinality", mrsi_cardinality(r));
    mrs_build_bool(b, "self", r->self);
    if (r->two_way) {
        open(b, "twoWay", MRS_DOCUMENT);
        count(b, "agree", r->two_way->agree);
        count(b, "gaps", r->two_way->gaps);
        count(b, "disagree", r->two_way->disagree);
        mrs_build_close(b);
    }
    evidence(b, r);
    aliases(b, x, r);
    mrs_build_close(b);
}

static void
references(struct mrs_build *b, const struct mrsi_inspection *x, bool candidates)
{
    open(b, candidates ? "candidates" : "references", MRS_ARRAY);
    for (uint32_t i = 0; i < x->refs; i++) {
        if (x->ref[i]->candidate == candidates && !x->ref[i]->dropped) {
            reference(b, x, x->ref[i]);
        }
    }
    mrs_build_close(b);
}

static void
copies(struct mrs_build *b, const struct mrsi_inspection *x)
{
    open(b, "copies", MRS_ARRAY);
    for (uint32_t i = 0; i < x->copies; i++) {
        const struct mrsi_copied *c = &x->copy[i];
        if (!c->reported) {
            continue;
        }
        mrs_build_item_open(b, MRS_DOCUMENT);
        for (int of = 0; of < 2; of++) {
            const struct mrsi_path *p = of ? c->of : c->from;
            open(b, of ? "of" : "from", MRS_DOCUMENT);
            text(b, "ns", p->in->ns);
            text(b, "path", p->text);
            mrs_build_close(b);
        }
        count(b, "compared", c->compared);
        count(b, "stale", c->stale);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static void
rules(struct mrs_build *b, const struct mrsi_inspection *x)
{
    open(b, "rules", MRS_ARRAY);
    for (uint32_t i = 0; i < x->rules; i++) {
        const struct mrsi_rule_found *r = &x->rule[i];
        mrs_build_item_open(b, MRS_DOCUMENT);
        text(b, "rule", r->rule);
        text(b, "ns", r->in->ns);
        text(b, "path", r->path);
        text(b, "index", r->index);
        mrs_build_val(b, "figures", 7, mrs_view_val(r->figures));
        text(b, "text", r->text);
        text(b, "step", r->step);
        text(b, "plan", r->plan);
        text(b, "why", r->step && !r->planned ? r->why : NULL);
        mrs_build_i32(b, "severity", r->severity);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

/* Steps and the rules that they correct; suggest.c writes the plan itself. */
static void
suggestions(struct mrs_build *b, const struct mrsi_inspection *x)
{
    open(b, "suggestions", MRS_ARRAY);
    for (uint32_t i = 0; i < x->rules; i++) {
        const struct mrsi_rule_found *r = &x->rule[i];
        if (!r->step || !r->planned) {
            continue;
        }
        mrs_build_item_open(b, MRS_DOCUMENT);
        text(b, "step", r->step);
        text(b, "ns", r->in->ns);
        open(b, "rules", MRS_ARRAY);
        item(b, 0, r->rule);
        mrs_build_close(b);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

/* The rules that steps correct are known only after writing the plan. */
static enum mrs_status
find_steps(struct mrsi_inspection *x, struct mrs_err *e)
{
    struct mrs_buf plan;
    mrs_buf_init(&plan, x->mem, SIZE_MAX);
    enum mrs_status s = mrs_inspect_plan(x, &plan, e);
    mrs_buf_clear(&plan);
    return s;
}

enum mrs_status
mrs_inspect_document(struct mrsi_inspection *x, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct mrs_build b;
    struct mrs_view doc;
    MRS_TRY(find_steps(x, e));
    mrs_build_init(&b, out);
    mrs_build_i32(&b, "inspect", 1);
    text(&b, "tool", x->tool);
    open(&b, "input", MRS_DOCUMENT);
    text(&b, "kind", x->kind);
    text(&b, "name", x->name);
    mrs_build_bool(&b, "sampled", x->sampled);
    if (x->sampled) {
        ratio(&b, "share", x->share);
    }
    mrs_build_close(&b);
    open(&b, "collections", MRS_ARRAY);
    for (uint32_t i = 0; i < x->colls; i++) {
        collection(&b, &x->coll[i]);
    }
    mrs_build_close(&b);
    references(&b, x, false);
    references(&b, x, true);
    copies(&b, x);
    rules(&b, x);
    suggestions(&b, x);
    if (x->measured) {
        mrs_build_val(&b, "workload", 8, mrs_view_val(x->workload));
    }
    open(&b, "left", MRS_ARRAY);
    for (uint32_t i = 0; i < x->lefts; i++) {
        item(&b, i, x->left[i]);
    }
    mrs_build_close(&b);
    return mrs_build_finish(&b, &doc, e);
}

enum mrs_status
mrs_inspect_json(struct mrsi_inspection *x, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct mrs_buf doc;
    mrs_buf_init(&doc, x->mem, SIZE_MAX);
    enum mrs_status s = mrs_inspect_document(x, &doc, e);
    if (s == MRS_OK) {
        mrs_ejson_write((struct mrs_view){doc.p, (uint32_t)doc.n}, false, out);
        mrs_buf_byte(out, '\n');
        s = mrs_buf_status(out, e);
    }
    mrs_buf_clear(&doc);
    return s;
}
