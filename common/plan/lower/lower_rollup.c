/* SPDX-License-Identifier: Apache-2.0 */
/* lower_rollup.c - converts rollup to stages: a group inside a join, or a group of the whole collection. */
#include "lower_join.h"

#define OTHERS "an accumulator whose order, or whose answer to nothing, is another on some servers: use the client"

/* The result of an accumulator without input; false: a server has another result, or another order. */
static bool
of_nothing(struct mrsi_lower *l, const struct mrs_elem *el, struct mrs_val *v)
{
    struct mrs_elem acc;
    struct mrs_walk w;
    mrs_walk_init(&w, el->v.type == MRS_DOCUMENT ? mrs_val_view(el->v) : mrs_empty_doc());
    if (mrs_walk_next(&w, &acc) != 1) {
        return false;
    }
    bool zero = strcmp(acc.name, "$sum") == 0 || strcmp(acc.name, "$count") == 0;
    bool list = strcmp(acc.name, "$push") == 0;
    bool null = strcmp(acc.name, "$avg") == 0 || strcmp(acc.name, "$min") == 0 || strcmp(acc.name, "$max") == 0;
    struct mrs_view d = zero   ? mrsi_lower_doc(l, "{v: 0}")
                        : list ? mrsi_lower_doc(l, "{v: []}")
                               : mrsi_lower_doc(l, "{v: null}");
    *v = mrs_doc_get(d, "v");
    return zero || list || null;
}

static const char *
in_group(struct mrsi_lower *l, const char *name)
{
    size_t n = strlen(name);
    char *path = mrs_arena_alloc(l->arena, n + 5);
    l->failed = l->failed || !path;
    if (!path) {
        return "";
    }
    memcpy(path, "$$g.", 4);
    memcpy(path + 4, name, n + 1);
    return path;
}

/* {a: {$sum: ...}, ...}: the values if nothing matches, and paths into the result of `$group`. */
static bool
read_values(struct mrsi_lower *l, struct mrs_view *nothing, struct mrs_view *values)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields"), v;
    struct mrs_view made[2];
    for (int pass = 0; pass < 2; pass++) {
        struct mrs_walk w;
        struct mrs_elem el;
        mrsi_lower_open(l);
        mrs_walk_init(&w, mrs_val_view(fields));
        while (mrs_walk_next(&w, &el) == 1) {
            if (!of_nothing(l, &el, &v)) {
                return false;
            }
            struct mrs_view path = mrsi_lower_doc(l,
                                                  "{v: {$arrayElemAt: [{$map: {input: '$__mrs_m', as: 'g', in: "
                                                  "%s}}, 0]}}",
                                                  in_group(l, el.name));
            mrs_build_val(&l->b, el.name, el.name_len, pass == 0 ? v : mrs_doc_get(path, "v"));
        }
        made[pass] = mrsi_lower_end(l);
    }
    *nothing = made[0];
    *values = made[1];
    return !l->failed;
}

/* {$group: {_id: key, fields}} */
static struct mrs_view
group(struct mrsi_lower *l, struct mrs_val key)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_lower_open(l);
    mrs_build_val(&l->b, "_id", 3, key);
    mrs_walk_init(&w, mrs_val_view(fields));
    while (mrs_walk_next(&w, &el) == 1) {
        mrs_build_elem(&l->b, &el);
    }
    struct mrs_view made = mrsi_lower_end(l);
    return mrsi_lower_doc(l, "{$group: %d}", made);
}

/* Writes the values into the document: below `as`, or one by one. */
static void
put_values(struct mrsi_lower *l, const char *as, struct mrs_view nothing, struct mrs_view values)
{
    MRS_ASSERT(mrs_view_is_framed(nothing) && mrs_view_is_framed(values));
    struct mrs_walk w;
    struct mrs_elem el;
    if (mrsi_lower_has_word(l, "empty", "absent")) {
        mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: '$__mrs_m'}, 0]}}}");
    }
    if (as) {
        mrsi_lower_stage(l, "{$set: {%s: {$cond: [{$eq: ['$__mrs_m', []]}, {$literal: %d}, %d]}}}", as, nothing,
                         values);
        return;
    }
    mrs_walk_init(&w, values);
    while (mrs_walk_next(&w, &el) == 1) {
        mrsi_lower_stage(l, "{$set: {%s: {$cond: [{$eq: ['$__mrs_m', []]}, {$literal: %v}, %v]}}}", el.name,
                         mrs_doc_get(nothing, el.name), el.v);
    }
}

/* With `match`: values in existing documents. */
static const char *
lower_values(struct mrsi_lower *l, const char *as)
{
    struct mrsi_lower_join j;
    struct mrs_view nothing, values, taken;
    const char *why = mrsi_join_lower_match(l, &j);
    why = why ? why : mrsi_join_lower_judge(l);
    why = why ? why : mrsi_lower_not_default(l, "keep", "all");
    if (why) {
        return why;
    }
    if (!read_values(l, &nothing, &values)) {
        return OTHERS;
    }
    taken = as ? mrsi_lower_doc(l, "{%s: {$exists: true}}", as) : mrsi_lower_have(l, mrsi_lower_key(l, "fields"));
    struct mrs_view by = group(l, mrs_null()), order = mrsi_join_lower_sort(l);
    j.lookup_pipeline = mrsi_lower_doc(l, "[%d, %d, %d]", mrsi_join_lower_where(l), order, by);
    bool room = mrsi_join_lower_count(l, &j, taken);
    mrsi_join_lower_put(l, &j);
    put_values(l, as, nothing, values);
    mrsi_join_lower_end(l);
    return room && mrsi_lower_write(l, j.into, NULL) ? NULL : MRSI_LOWER_MANY;
}

/* With `by`: each group becomes a document of another collection. */
static const char *
lower_groups(struct mrsi_lower *l, const char *as)
{
    const struct mrs_desc *d = &l->out->step->desc;
    struct mrs_view nothing, values;
    const char *why = mrsi_lower_not_default(l, "errors", "refuse");
    why = why ? why : mrsi_lower_not_default(l, "keep", "all");
    if (why || as) {
        return why ? why : mrsi_lower_no_stages(l, "as");
    }
    if (!read_values(l, &nothing, &values)) {
        return OTHERS;
    }
    struct mrs_val key = mrsi_lower_key(l, "by");
    if (key.type == MRS_DOCUMENT && !mrsi_lower_is_operator(key) && mrs_val_count(key) < 2) {
        return "a key of one part, where servers take missing and null for one or not: use the client engine";
    }
    struct mrs_view by = group(l, key), order = mrsi_join_lower_sort(l);
    bool room = mrsi_join_lower_count_keys(l, &d->sides[0].coll, key);
    mrsi_lower_begin(l, false);
    mrs_build_item(&l->b, mrs_view_val(order));
    mrs_build_item(&l->b, mrs_view_val(by));
    l->out->whole = true;
    return room && mrsi_lower_write(l, &d->sides[0].coll, &d->sides[1].coll) ? NULL : MRSI_LOWER_MANY;
}

const char *
mrsi_lower_rollup(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    const char *as = mrsi_lower_name(l, "as"), *why = mrsi_lower_judge_map(fields);
    if (why || (mrsi_lower_has_key(l, "as") && !as)) {
        return why ? why : MRSI_LOWER_DEEP;
    }
    return mrsi_lower_has_key(l, "match") ? lower_values(l, as) : lower_groups(l, as);
}
