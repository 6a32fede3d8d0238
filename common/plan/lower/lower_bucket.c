/* SPDX-License-Identifier: Apache-2.0 */
/* lower_bucket.c - converts bucket to stages: readings are sorted, numbered and grouped.
 *
 * The first stage replaces each reading by the values that later stages need, under names of ours: its series, its
 * time, its item, and arguments of accumulators. So names of the plan cannot collide with ours. */
#include "lower_bucket.h"
#include "lower_join.h"

#include <stdio.h>

/* ---- the values of a reading ---- */
/* The names that an item omits: those of `drop`, and unchanged fields of the key. */
static struct mrs_view
left_out(struct mrsi_lower *l, const struct mrsi_lower_bucket *b)
{
    MRS_ASSERT(mrs_view_is_framed(b->by));
    struct mrs_val drop = mrsi_lower_key(l, "drop");
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_lower_open(l);
    mrs_walk_init(&w, drop.type == MRS_ARRAY ? mrs_val_view(drop) : mrs_empty_doc());
    while (mrs_walk_next(&w, &el) == 1) {
        mrs_build_item(&l->b, el.v);
    }
    mrs_walk_init(&w, b->by);
    while (mrs_walk_next(&w, &el) == 1) {
        uint32_t n = 0;
        const char *path = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        if (n > 1 && path[0] == '$' && path[1] != '$') {
            mrs_build_item(&l->b, mrs_make_text(l->arena, path + 1, n - 1));
        }
    }
    return mrsi_lower_end(l);
}

static struct mrs_view
item(struct mrsi_lower *l, const struct mrsi_lower_bucket *b)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    if (fields.type == MRS_DOCUMENT) {
        return mrsi_lower_doc(l, "{v: {$mergeObjects: [%v]}}", fields);
    }
    return mrsi_lower_doc(l,
                          "{v: {$arrayToObject: {$filter: {input: {$objectToArray: '$$ROOT'}, as: 'f', cond: {$not: "
                          "[{$in: ['$$f.k', %a]}]}}}}}",
                          left_out(l, b));
}

/* The argument of a field's accumulator; a missing one becomes null for $first and $last. */
static struct mrs_val
read_by_fold(struct mrsi_lower *l, const struct mrs_elem *field, struct mrs_elem *op)
{
    MRS_ASSERT(field->v.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_view d;
    mrs_walk_init(&w, mrs_val_view(field->v));
    (void)mrs_walk_next(&w, op);
    if (strcmp(op->name, "$count") == 0) {
        d = mrsi_lower_doc(l, "{v: 1}");
    } else if (mrsi_lower_is_one_of(" $first $last ", op->name)) {
        d = mrsi_lower_doc(l, "{v: {$ifNull: [%v, null]}}", op->v);
    } else {
        d = mrsi_lower_doc(l, "{v: %v}", op->v);
    }
    return mrs_doc_get(d, "v");
}

static void
put_reading(struct mrsi_lower *l, const struct mrsi_lower_bucket *b)
{
    MRS_ASSERT(b->n_fold <= MRSI_BUCKET_FOLDS);
    struct mrs_val in[MRSI_BUCKET_FOLDS], i = mrs_doc_get(item(l, b), "v");
    struct mrs_elem op;
    for (uint32_t k = 0; k < b->n_fold; k++) {
        in[k] = read_by_fold(l, &b->fold[k], &op);
    }
    mrsi_lower_begin(l, false);
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$replaceWith", 12, MRS_DOCUMENT);
    mrs_build_text(&l->b, "_id", "$_id", 4);
    if (b->time.n) {
        mrs_build_val(&l->b, "t", 1, mrs_doc_get(b->time, "v"));
    }
    mrs_build_open(&l->b, "b", 1, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$mergeObjects", 13, MRS_ARRAY);
    mrs_build_item(&l->b, mrs_view_val(b->by));
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    mrs_build_val(&l->b, "i", 1, i);
    for (uint32_t k = 0; k < b->n_fold; k++) {
        char name[16];
        int n = snprintf(name, sizeof name, "a%u", k);
        mrs_build_val(&l->b, name, (uint32_t)n, in[k]);
    }
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

/* ---- buckets ---- */
/* {$group: ...} for a window of a series, in time order. */
static void
put_group(struct mrsi_lower *l, const struct mrsi_lower_bucket *b)
{
    MRS_ASSERT(b->n_fold <= MRSI_BUCKET_FOLDS);
    struct mrs_view first = mrsi_lower_doc(l, "{k: {b: '$b', w: '$w', n: '$n'}, b: {$first: '$b'}, w: {$first: '$w'}, "
                                              "lo: {$first: '$t'}, hi: {$last: '$t'}, v: {$push: '$i'}}");
    struct mrs_walk w;
    struct mrs_elem el, op;
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$group", 6, MRS_DOCUMENT);
    mrs_walk_init(&w, first);
    while (mrs_walk_next(&w, &el) == 1) {
        bool key = strcmp(el.name, "k") == 0;
        mrs_build_val(&l->b, key ? "_id" : el.name, key ? 3 : el.name_len, el.v);
    }
    for (uint32_t k = 0; k < b->n_fold; k++) {
        char name[16], path[16];
        snprintf(name, sizeof name, "a%u", k);
        snprintf(path, sizeof path, "$a%u", k);
        (void)read_by_fold(l, &b->fold[k], &op);
        struct mrs_view d = mrsi_lower_doc(l, "{%s: {%s: %s}}", name,
                                           strcmp(op.name, "$count") == 0 ? "$sum" : op.name, path);
        mrs_build_val(&l->b, name, (uint32_t)strlen(name), mrs_doc_get(d, name));
    }
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

/* Windows, parts, groups: one document for each bucket, under names of ours. */
static void
put_buckets(struct mrsi_lower *l, const struct mrsi_lower_bucket *b)
{
    put_reading(l, b);
    if (b->every.n) {
        mrsi_lower_stage(l, "{$set: {w: {$dateTrunc: {date: '$t', unit: %v, binSize: %v, startOfWeek: %v}}}}",
                         mrs_doc_get(b->every, "unit"), mrs_doc_get(b->every, "binSize"),
                         mrs_doc_get(b->every, "startOfWeek"));
    }
    if (b->max) {
        mrsi_lower_stage(l, "{$setWindowFields: {partitionBy: {b: '$b', w: '$w'}, sortBy: {t: 1, _id: 1}, output: {n: "
                            "{$sum: 1, window: {documents: ['unbounded', 'current']}}}}}");
        mrsi_lower_stage(l, "{$set: {n: {$floor: {$divide: [{$subtract: ['$n', 1]}, %i]}}}}", b->max);
    }
    mrsi_lower_stage(l, "{$sort: {t: 1, _id: 1}}");
    put_group(l, b);
}

/* {$replaceWith: {$mergeObjects: ["$b", start, end, {items: "$v", __mrs_g: results of accumulators}]}} */
static void
put_head(struct mrsi_lower *l, const struct mrsi_lower_bucket *b, struct mrs_view start, struct mrs_view end)
{
    MRS_ASSERT(b->items && b->n_fold <= MRSI_BUCKET_FOLDS);
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$replaceWith", 12, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$mergeObjects", 13, MRS_ARRAY);
    mrs_build_item(&l->b, mrs_make_text(l->arena, "$b", 2));
    mrs_build_item(&l->b, start.n ? mrs_view_val(start) : mrs_missing());
    mrs_build_item(&l->b, end.n ? mrs_view_val(end) : mrs_missing());
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_text(&l->b, b->items, "$v", 2);
    mrs_build_open(&l->b, "__mrs_g", 7, MRS_DOCUMENT);
    for (uint32_t k = 0; k < b->n_fold; k++) {
        char path[16];
        int n = snprintf(path, sizeof path, "$a%u", k);
        mrs_build_text(&l->b, path + 1, path, (uint32_t)n);
    }
    for (int open = 0; open < 5; open++) { /* __mrs_g, its document, $mergeObjects, $replaceWith, the stage */
        mrs_build_close(&l->b);
    }
}

/* The fields of `set`, one stage each, so that each sees those before it. */
static void
put_set(struct mrsi_lower *l, const struct mrsi_lower_bucket *b)
{
    MRS_ASSERT(b->n_fold <= MRSI_BUCKET_FOLDS);
    struct mrs_val set = mrsi_lower_key(l, "set");
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t k = 0;
    mrs_walk_init(&w, set.type == MRS_DOCUMENT ? mrs_val_view(set) : mrs_empty_doc());
    while (mrs_walk_next(&w, &el) == 1) {
        char path[32];
        snprintf(path, sizeof path, "$__mrs_g.a%u", k);
        if (k < b->n_fold && strcmp(b->fold[k].name, el.name) == 0) {
            mrsi_lower_stage(l, "{$set: {%s: %s}}", el.name, path);
            k++;
        } else {
            mrs_build_item_open(&l->b, MRS_DOCUMENT);
            mrs_build_open(&l->b, "$set", 4, MRS_DOCUMENT);
            mrsi_lower_put_value(l, &el);
            mrs_build_close(&l->b);
            mrs_build_close(&l->b);
        }
    }
}

/* The final bucket: key, window, items, fields of `set`, and its `_id`. */
static void
put_finished(struct mrsi_lower *l, const struct mrsi_lower_bucket *b)
{
    struct mrs_view start = {NULL, 0}, end = start;
    if (b->start) {
        start = mrsi_lower_doc(l, "{%s: %s}", b->start, b->every.n ? "$w" : "$lo");
    }
    if (b->end && b->every.n) {
        end = mrsi_lower_doc(l, "{%s: {$dateAdd: {startDate: '$w', unit: %v, amount: %v}}}", b->end,
                             mrs_doc_get(b->every, "unit"), mrs_doc_get(b->every, "binSize"));
    } else if (b->end) {
        end = mrsi_lower_doc(l, "{%s: '$hi'}", b->end);
    }
    put_head(l, b, start, end);
    put_set(l, b);
    mrsi_lower_stage(l, "{$unset: ['__mrs_g']}");
    mrsi_lower_stage(l, "{$replaceWith: {$mergeObjects: [{_id: %v}, '$$ROOT']}}", mrsi_lower_key(l, "id"));
}

static bool
count_bucket(struct mrsi_lower *l, const struct mrsi_lower_bucket *b)
{
    const struct mrs_coll *from = l->out->on;
    bool room = true;
    if (b->time.n) {
        static const char date[] = "{$expr: {$ne: [{$type: %v}, 'date']}}";
        static const char any[] = "{$expr: {$in: [{$type: %v}, ['missing', 'undefined', 'array']]}}";
        struct mrs_view odd = mrsi_lower_doc(l, b->every.n ? date : any, mrs_doc_get(b->time, "v"));
        room = mrsi_lower_count(l, from, odd, "documents whose time is no date, or none at all");
    }
    room = room && mrsi_join_lower_count_keys(l, from, mrs_view_val(b->by));
    put_buckets(l, b);
    put_finished(l, b);
    mrsi_lower_stage(l, "{$match: {$expr: {$in: [{$type: '$_id'}, ['missing', 'null', 'undefined', 'array', "
                        "'regex']]}}}");
    mrsi_lower_stage(l, "{$project: {_id: 1}}");
    return room && mrsi_lower_count_stages(l, from, "buckets whose `id` gives nothing that an `_id` can be");
}

const char *
mrsi_lower_bucket(struct mrsi_lower *l)
{
    struct mrsi_lower_bucket b;
    const char *why = mrsi_lower_read_bucket(l, &b);
    if (why) {
        return why;
    }
    bool room = count_bucket(l, &b);
    put_buckets(l, &b);
    put_finished(l, &b);
    room = mrsi_lower_write(l, l->out->on, &l->out->step->desc.sides[1].coll) && room;
    if (mrsi_lower_is_default(l, "keep", "none")) {
        room = mrsi_lower_remove(l, l->out->on, (struct mrs_view){NULL, 0}) && room;
    }
    l->out->whole = true;
    return room ? NULL : MRSI_LOWER_MANY;
}
