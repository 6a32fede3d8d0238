/* SPDX-License-Identifier: Apache-2.0 */
/* lower_link.c - converts link to stages: lists of children from the children's references, and the other way round.
 *
 * Elements of a list keep their positions, and missing children are appended. Only the completed field is written, and
 * no pipeline reads a field after another has written it, except lists that now contain the children's references as
 * well. */
#include "lower_join.h"

#define ONE_WAY "`strip`, `prefer`, or `dangling` and `orphans` other than keep: use the client engine"
#define ORDER "documents that `sort` puts last where a server puts them first, and arrays in a field of it"

struct lower_link {
    const struct mrs_coll *parent, *child;
    const char *ref, *refs; /* names: in child, in parent */
    const char *ref_path, *refs_path;
    bool lists, names; /* which side is completed */
};

static const char *
read_link(struct mrsi_lower *l, struct lower_link *k)
{
    const struct mrs_desc *d = &l->out->step->desc;
    k->parent = &d->sides[0].coll;
    k->child = d->n_sides > 1 ? &d->sides[1].coll : k->parent;
    k->ref = mrsi_lower_name(l, "parent_ref");
    k->refs = mrsi_lower_name(l, "child_refs");
    k->names = mrsi_lower_is_default(l, "derive", "both") || mrsi_lower_has_word(l, "derive", "parent_ref");
    k->lists = mrsi_lower_is_default(l, "derive", "both") || mrsi_lower_has_word(l, "derive", "child_refs");
    if (!k->ref || !k->refs) {
        return MRSI_LOWER_DEEP;
    }
    k->ref_path = mrsi_lower_path(l, k->ref);
    k->refs_path = mrsi_lower_path(l, k->refs);
    bool plain = mrsi_lower_is_default(l, "strip", "none") && mrsi_lower_is_default(l, "prefer", "none") &&
                 mrsi_lower_is_default(l, "dangling", "keep") && mrsi_lower_is_default(l, "orphans", "keep");
    return !plain                                      ? ONE_WAY
           : strcmp(k->parent->db, k->child->db) != 0 ? "collections of two databases: use the client engine"
                                                       : NULL;
}

/* ---- counts ---- */
/* Fields that servers read differently from the step: lists that are not arrays, and arrays inside arrays. */
static bool
count_odd(struct mrsi_lower *l, const struct lower_link *k)
{
    static const char inner[] = "{$expr: {$cond: [{$isArray: %s}, {$anyElementTrue: [{$map: {input: %s, as: 'k', in: "
                                "{$isArray: '$$k'}}}]}, {$in: [{$type: %s}, %d]}]}}";
    struct mrs_view no = mrsi_lower_doc(l, "{$literal: ['regex', 'undefined']}");
    struct mrs_view list = mrsi_lower_doc(l,
                                          "{$expr: {$cond: [{$isArray: %s}, {$anyElementTrue: [{$map: {input: %s, as: "
                                          "'k', in: {$isArray: '$$k'}}}]}, {$not: [{$in: [{$type: %s}, ['missing', "
                                          "'null']]}]}]}}",
                                          k->refs_path, k->refs_path, k->refs_path);
    struct mrs_view ref = k->names ? mrsi_lower_doc(l, "{$expr: {$in: [{$type: %s}, ['array', 'regex', 'undefined']]}}",
                                                    k->ref_path)
                                   : mrsi_lower_doc(l, inner, k->ref_path, k->ref_path, k->ref_path, no);
    struct mrs_view none = mrsi_lower_doc(l, "{_id: null}");
    struct mrs_view added = mrsi_lower_doc(l, "{$or: [{__mrs_l: {$exists: true}}, {__mrs_m: {$exists: true}}]}");
    return mrsi_lower_count(l, k->parent, list, "documents whose list of children is none, or holds arrays") &&
           mrsi_lower_count(l, k->child, ref, "documents whose reference to a parent is an array where one is written, "
                                              "or no reference") &&
           mrsi_lower_count(l, k->parent, none, "documents whose `_id` is null") &&
           mrsi_lower_count(l, k->child, none, "documents whose `_id` is null") &&
           mrsi_lower_count(l, k->parent, added, "documents that have a field of the pipeline's own") &&
           mrsi_lower_count(l, k->child, added, "documents that have a field of the pipeline's own");
}

/* The list of a document, or an empty one, in __mrs_l. */
static void
put_list(struct mrsi_lower *l, const struct lower_link *k)
{
    mrsi_lower_begin(l, true);
    mrsi_lower_stage(l, "{$set: {__mrs_l: {$cond: [{$isArray: %s}, %s, []]}}}", k->refs_path, k->refs_path);
}

/* Parents that list a child which refers to another one; children without a reference that several parents list. */
static bool
count_disagreement(struct mrsi_lower *l, const struct lower_link *k)
{
    MRS_ASSERT(k->ref && k->refs);
    put_list(l, k);
    mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: '$__mrs_l'}, 0]}}}");
    mrsi_lower_stage(l,
                     "{$lookup: {from: %s, localField: '__mrs_l', foreignField: '_id', let: {p: '$_id'}, pipeline: "
                     "[{$match: {$expr: {$not: [{$or: [{$in: [{$type: %s}, ['missing', 'null', 'array']]}, {$eq: [%s, "
                     "'$$p']}]}]}}}, {$project: {_id: 1}}], as: '__mrs_m'}}",
                     k->child->coll, k->ref_path, k->ref_path);
    mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: '$__mrs_m'}, 0]}}}");
    mrsi_lower_stage(l, "{$project: {_id: 1}}");
    if (!mrsi_lower_count_stages(l, k->parent, "parents that list a child which names another parent")) {
        return false;
    }
    if (!k->names) {
        return true;
    }
    mrsi_lower_begin(l, true);
    mrsi_lower_stage(l, "{$match: {%s: null}}", k->ref);
    mrsi_lower_stage(l,
                     "{$lookup: {from: %s, localField: '_id', foreignField: %s, pipeline: [{$project: {_id: 1}}], as: "
                     "'__mrs_m'}}",
                     k->parent->coll, k->refs);
    mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: '$__mrs_m'}, 1]}}}");
    mrsi_lower_stage(l, "{$project: {_id: 1}}");
    return mrsi_lower_count_stages(l, k->child, "children that several parents list, and that name none");
}

/* `sort` reorders lists: existing lists, and keys that servers sort differently, are left to the client. */
static bool
count_order(struct mrsi_lower *l, const struct lower_link *k)
{
    MRS_ASSERT(k->refs_path);
    struct mrs_val sort = mrsi_lower_key(l, "sort");
    struct mrs_walk w;
    struct mrs_elem el;
    if (sort.type != MRS_DOCUMENT || !k->lists) {
        return true;
    }
    struct mrs_view full = mrsi_lower_doc(l, "{$expr: {$cond: [{$isArray: %s}, {$gt: [{$size: %s}, 0]}, false]}}",
                                          k->refs_path, k->refs_path);
    bool room = mrsi_lower_count(l, k->parent, full, "parents with a list already, which `sort` orders anew");
    mrs_walk_init(&w, mrs_val_view(sort));
    while (room && mrs_walk_next(&w, &el) == 1) {
        struct mrs_view odd = mrsi_lower_doc(l, "{$expr: {$in: [{$type: %s}, ['missing', 'null', 'undefined', "
                                                "'array']]}}",
                                             mrsi_lower_path(l, el.name));
        room = mrsi_lower_count(l, k->child, odd, ORDER);
    }
    return room;
}

/* ---- writes ---- */
static bool
write_lists(struct mrsi_lower *l, const struct lower_link *k)
{
    MRS_ASSERT(k->lists);
    struct mrs_view order = mrsi_join_lower_sort(l);
    put_list(l, k);
    mrsi_lower_stage(l,
                     "{$lookup: {from: %s, localField: '_id', foreignField: %s, pipeline: [%d, {$project: {_id: 1}}], "
                     "as: '__mrs_m'}}",
                     k->child->coll, k->ref, order);
    mrsi_lower_stage(l,
                     "{$set: {%s: {$concatArrays: ['$__mrs_l', {$filter: {input: {$map: {input: '$__mrs_m', as: 'c', "
                     "in: '$$c._id'}}, as: 'i', cond: {$not: [{$in: ['$$i', '$__mrs_l']}]}}}]}}}",
                     k->refs);
    mrsi_lower_stage(l, "{$unset: ['__mrs_l', '__mrs_m']}");
    return mrsi_lower_write(l, k->parent, NULL);
}

static bool
write_names(struct mrsi_lower *l, const struct lower_link *k)
{
    MRS_ASSERT(k->names);
    mrsi_lower_begin(l, true);
    mrsi_lower_stage(l, "{$match: {%s: null}}", k->ref);
    mrsi_lower_stage(l,
                     "{$lookup: {from: %s, localField: '_id', foreignField: %s, pipeline: [{$project: {_id: 1}}], as: "
                     "'__mrs_m'}}",
                     k->parent->coll, k->refs);
    mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: '$__mrs_m'}, 0]}}}");
    mrsi_lower_stage(l, "{$set: {%s: {$arrayElemAt: [{$map: {input: '$__mrs_m', as: 'p', in: '$$p._id'}}, 0]}}}",
                     k->ref);
    mrsi_lower_stage(l, "{$unset: ['__mrs_m']}");
    return mrsi_lower_write(l, k->child, NULL);
}

const char *
mrsi_lower_link(struct mrsi_lower *l)
{
    struct lower_link k;
    const char *why = read_link(l, &k);
    if (why) {
        return why;
    }
    bool room = count_odd(l, &k) && count_disagreement(l, &k) && count_order(l, &k);
    room = room && (!k.lists || write_lists(l, &k)) && (!k.names || write_names(l, &k));
    l->out->whole = true;
    return room ? NULL : MRSI_LOWER_MANY;
}
