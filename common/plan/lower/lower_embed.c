/* SPDX-License-Identifier: Apache-2.0 */
/* lower_embed.c - converts embed and copy to stages. */
#include "lower_join.h"

/* ---- embed ---- */
struct lower_embed {
    const char *as, *count;
    int64_t limit; /* 0: none */
    bool one, absent, many; /* many: of several matches the first or the last is taken */
};

static const char *
read_embed(struct mrsi_lower *l, const struct mrsi_lower_join *j, struct lower_embed *m)
{
    struct mrs_val limit = mrsi_lower_key(l, "limit");
    m->as = mrsi_lower_name(l, "as");
    m->count = mrsi_lower_name(l, "count");
    m->one = mrsi_lower_is_true(l, "one");
    m->absent = mrsi_lower_has_key(l, "empty") ? mrsi_lower_has_word(l, "empty", "absent") : m->one;
    m->limit = 0;
    if (limit.type != MRS_MISSING && (!mrs_val_integral(limit, &m->limit) || m->limit < 1)) {
        return mrsi_lower_no_stages(l, "limit");
    }
    if (!m->as || (mrsi_lower_has_key(l, "count") && !m->count)) {
        return MRSI_LOWER_DEEP;
    }
    m->many = !mrsi_lower_is_default(l, "many", "refuse");
    bool unmatched = mrsi_lower_is_default(l, "keep", "unmatched"), all = mrsi_lower_has_word(l, "keep", "all");
    if (m->limit && unmatched) {
        return "`limit` without `keep: all`, since documents that are left out would stay: use the client engine";
    }
    if (!(all || unmatched) || (m->many && !(all && m->one))) {
        return mrsi_lower_no_stages(l, m->many ? "many" : "keep");
    }
    if (!(m->absent ? !m->count && !m->limit : mrsi_lower_is_default(l, "empty", "array"))) {
        return mrsi_lower_no_stages(l, "empty");
    }
    if (strcmp(m->as, j->into_key) == 0) {
        return mrsi_lower_no_stages(l, "as");
    }
    return m->count && strcmp(m->count, m->as) == 0 ? mrsi_lower_no_stages(l, "count") : NULL;
}

static void
put_embed(struct mrsi_lower *l, const struct mrsi_lower_join *j, const struct lower_embed *m)
{
    mrsi_join_lower_put(l, j);
    if (m->absent) {
        mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: '$__mrs_m'}, 0]}}}");
    }
    if (m->one) {
        mrsi_lower_stage(l, "{$set: {%s: {$arrayElemAt: ['$__mrs_m', %i]}}}", m->as, mrsi_join_lower_taken(l));
    } else if (m->limit) {
        mrsi_lower_stage(l, "{$set: {%s: {$slice: ['$__mrs_m', %i]}}}", m->as, m->limit);
    } else {
        mrsi_lower_stage(l, "{$set: {%s: '$__mrs_m'}}", m->as);
    }
    if (m->count) {
        mrsi_lower_stage(l, "{$set: {%s: {$size: '$__mrs_m'}}}", m->count);
    }
    mrsi_join_lower_end(l);
}

const char *
mrsi_lower_embed(struct mrsi_lower *l)
{
    struct mrsi_lower_join j;
    struct lower_embed m;
    struct mrs_view fields, drop;
    const char *why = mrsi_join_lower_match(l, &j);
    why = why ? why : mrsi_join_lower_judge(l);
    why = why ? why : read_embed(l, &j, &m);
    why = why ? why : mrsi_join_lower_shape(l, true, &fields, &drop);
    if (why) {
        return why;
    }
    j.lookup_pipeline = mrsi_lower_doc(l, "[%d, %d, %d, %d]", mrsi_join_lower_where(l), mrsi_join_lower_sort(l), fields,
                                       drop);
    struct mrs_view taken =
        m.count ? mrsi_lower_doc(l, "{$or: [{%s: {$exists: true}}, {%s: {$exists: true}}]}", m.as, m.count)
                : mrsi_lower_doc(l, "{%s: {$exists: true}}", m.as);
    bool room = mrsi_join_lower_count(l, &j, taken) && (!m.one || m.many || mrsi_join_lower_count_many(l, &j));
    put_embed(l, &j, &m);
    room = room && mrsi_lower_write(l, j.into, NULL);
    if (mrsi_lower_is_default(l, "keep", "unmatched")) {
        room = room && mrsi_join_lower_remove(l, &j);
    }
    return room ? NULL : MRSI_LOWER_MANY;
}

/* ---- copy ---- */
const char *
mrsi_lower_copy(struct mrsi_lower *l)
{
    struct mrsi_lower_join j;
    struct mrs_view fields, drop;
    struct mrs_val list = mrsi_lower_key(l, "fields");
    const char *as = mrsi_lower_name(l, "as"), *why = mrsi_join_lower_match(l, &j);
    why = why ? why : mrsi_join_lower_judge(l);
    why = why ? why : mrsi_join_lower_shape(l, false, &fields, &drop);
    if (!why) {
        why = list.type == MRS_ARRAY ? mrsi_lower_judge_list(list) : mrsi_lower_judge_map(list);
    }
    why = why ? why : mrsi_lower_not_default(l, "refs", "keep");
    why = why ? why : mrsi_lower_not_default(l, "keep", "all");
    if (why) {
        return why;
    }
    if (mrsi_lower_has_key(l, "as") && !as) {
        return MRSI_LOWER_DEEP;
    }
    j.lookup_pipeline = mrsi_lower_doc(l, "[%d, %d, %d]", mrsi_join_lower_where(l), mrsi_join_lower_sort(l), fields);
    struct mrs_view taken = as ? mrsi_lower_doc(l, "{%s: {$exists: true}}", as) : mrsi_lower_have(l, list);
    int64_t at = mrsi_join_lower_taken(l);
    bool room = mrsi_join_lower_count(l, &j, taken) &&
                (!mrsi_lower_is_default(l, "many", "refuse") || mrsi_join_lower_count_many(l, &j));
    mrsi_join_lower_put(l, &j);
    mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: '$__mrs_m'}, 0]}}}");
    if (as) {
        mrsi_lower_stage(l, "{$set: {%s: {$arrayElemAt: ['$__mrs_m', %i]}}}", as, at);
    } else {
        mrsi_lower_stage(l, "{$replaceWith: {$mergeObjects: ['$$ROOT', {$arrayElemAt: ['$__mrs_m', %i]}]}}", at);
    }
    mrsi_join_lower_end(l);
    return room && mrsi_lower_write(l, j.into, NULL) ? NULL : MRSI_LOWER_MANY;
}
