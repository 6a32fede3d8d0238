/* SPDX-License-Identifier: Apache-2.0 */
/* lower_join.c - the join of embed, copy and rollup as stages: adds the matches of a document as an array.
 *
 * The keys of a document are added as an array, without missing values and null, since a `$lookup` pairs null with
 * missing; without keys, nothing matches. The result of the `$lookup` is sorted, ties by `_id`. Both fields are removed
 * again. An array inside keys is one value for a step and several for a server, and the order of an array of references
 * is no sort order: such documents are counted. */
#include "lower_join.h"

#define CLIENT_MATCH "`match` of several pairs, of expressions or below the top, and `nulls`: use the client engine"
#define SETTLE "{$cond: [{$eq: ['$__mrs_k', []]}, [], '$__mrs_m']}"

const char *
mrsi_join_lower_match(struct mrsi_lower *l, struct mrsi_lower_join *j)
{
    struct mrs_val match = mrsi_lower_key(l, "match");
    const struct mrs_desc *d = &l->out->step->desc;
    struct mrs_walk w;
    struct mrs_elem el, more;
    uint32_t n = 0;
    j->from = &d->sides[0].coll;
    j->into = &d->sides[1].coll;
    l->out->on = j->into;
    if (strcmp(j->from->ns, j->into->ns) == 0 || strcmp(j->from->db, j->into->db) != 0) {
        return "`$lookup` within one collection, or from another database: use the client engine";
    }
    mrs_walk_init(&w, match.type == MRS_DOCUMENT ? mrs_val_view(match) : mrs_empty_doc());
    if (mrs_walk_next(&w, &el) != 1 || mrs_walk_next(&w, &more) == 1 || el.v.type != MRS_STRING ||
        !mrsi_lower_is_default(l, "nulls", "ignore")) {
        return CLIENT_MATCH;
    }
    j->from_key = el.name;
    j->into_key = mrs_val_text(el.v, &n);
    j->by_id = strcmp(j->into_key, "_id") == 0;
    bool copy = strcmp(l->out->step->type->name, "copy") == 0;
    bool beside = copy && !mrsi_lower_has_word(l, "at", "root"); /* next to the reference: refuses an array of them */
    bool points = copy                                   ? !j->by_id
                  : mrsi_lower_has_key(l, "reference") ? mrsi_lower_has_word(l, "reference", "into")
                                                         : strcmp(el.name, "_id") == 0;
    j->single = j->by_id || (points && (beside || !mrsi_lower_has_key(l, "sort")));
    return mrsi_lower_plain(el.name, el.name_len) && mrsi_lower_plain(j->into_key, n) ? NULL : CLIENT_MATCH;
}

/* ---- the copy of a document of `from` ---- */
/* The names of a list as an array, with `_id` unless it has -_id. */
static struct mrs_view
names_of(struct mrsi_lower *l, struct mrs_val list, bool id)
{
    MRS_ASSERT(mrs_val_is_sized(list));
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_lower_open(l);
    mrs_walk_init(&w, mrs_val_view(list));
    while (mrs_walk_next(&w, &el) == 1) {
        id = id && !mrs_val_is_text(el.v, "-_id");
        mrs_build_item(&l->b, el.v);
    }
    if (id) {
        mrs_build_item(&l->b, mrs_make_text(l->arena, "_id", 3));
    }
    return mrsi_lower_end(l);
}

static const char *
judge_names(struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_walk w;
    struct mrs_elem el;
    const char *why = NULL;
    mrs_walk_init(&w, mrs_val_view(v));
    while (!why && mrs_walk_next(&w, &el) == 1) {
        uint32_t n = 0;
        const char *name = v.type == MRS_DOCUMENT ? el.name : el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        n = v.type == MRS_DOCUMENT ? el.name_len : n;
        why = mrsi_lower_plain(name, n) ? NULL : MRSI_LOWER_DEEP;
    }
    return why;
}

/* The stage that makes the copy; n 0: the document is copied unchanged. own_id: a list includes `_id`. */
const char *
mrsi_join_lower_shape(struct mrsi_lower *l, bool own_id, struct mrs_view *fields, struct mrs_view *drop)
{
    static const char keep[] = "{$replaceWith: {$arrayToObject: {$filter: {input: {$objectToArray: '$$ROOT'}, as: 'f', "
                               "cond: {$in: ['$$f.k', %a]}}}}}";
    static const char leave[] = "{$replaceWith: {$arrayToObject: {$filter: {input: {$objectToArray: '$$ROOT'}, as: "
                                "'f', cond: {$not: [{$in: ['$$f.k', %a]}]}}}}}";
    struct mrs_val f = mrsi_lower_key(l, "fields"), d = mrsi_lower_key(l, "drop");
    const char *why = f.type == MRS_MISSING ? NULL : judge_names(f);
    why = why || d.type == MRS_MISSING ? why : judge_names(d);
    *fields = *drop = (struct mrs_view){NULL, 0};
    if (why) {
        return why;
    }
    if (f.type == MRS_ARRAY) {
        *fields = mrsi_lower_doc(l, keep, names_of(l, f, own_id));
    } else if (f.type == MRS_DOCUMENT) {
        *fields = mrsi_lower_doc(l, "{$replaceWith: %v}", f);
    }
    if (d.type == MRS_ARRAY) {
        *drop = mrsi_lower_doc(l, leave, names_of(l, d, false));
    }
    return NULL;
}

/* {$sort: ...} with `_id` last. */
struct mrs_view
mrsi_join_lower_sort(struct mrsi_lower *l)
{
    struct mrs_val by = mrsi_lower_key(l, "sort");
    struct mrs_elem id;
    mrsi_lower_open(l);
    mrs_build_open(&l->b, "$sort", 5, MRS_DOCUMENT);
    if (by.type == MRS_DOCUMENT) {
        struct mrs_walk w;
        mrs_walk_init(&w, mrs_val_view(by));
        while (mrs_walk_next(&w, &id) == 1) {
            mrs_build_elem(&l->b, &id);
        }
    }
    if (by.type != MRS_DOCUMENT || !mrs_doc_find(mrs_val_view(by), "_id", 3, &id)) {
        mrs_build_i32(&l->b, "_id", 1);
    }
    mrs_build_close(&l->b);
    return mrsi_lower_end(l);
}

struct mrs_view
mrsi_join_lower_where(struct mrsi_lower *l)
{
    struct mrs_val where = mrsi_lower_key(l, "where");
    return where.type == MRS_DOCUMENT ? mrsi_lower_doc(l, "{$match: %v}", where) : (struct mrs_view){NULL, 0};
}

/* ---- the join ---- */
static void
put_keys(struct mrsi_lower *l, const char *name)
{
    const char *path = mrsi_lower_path(l, name);
    mrsi_lower_stage(l,
                     "{$set: {__mrs_k: {$filter: {input: {$cond: [{$isArray: %s}, %s, [%s]]}, as: 'k', cond: {$not: "
                     "[{$in: [{$type: '$$k'}, ['missing', 'null', 'undefined']]}]}}}}}",
                     path, path, path);
}

/* Adds the matches of each document of `into` as __mrs_m. */
void
mrsi_join_lower_put(struct mrsi_lower *l, const struct mrsi_lower_join *j)
{
    MRS_ASSERT(j->from && j->into);
    mrsi_lower_begin(l, true);
    if (!j->single) {
        put_keys(l, j->into_key);
    }
    mrsi_lower_stage(l, "{$lookup: {from: %s, localField: %s, foreignField: %s, pipeline: %a, as: '__mrs_m'}}",
                     j->from->coll, j->single ? j->into_key : "__mrs_k", j->from_key, j->lookup_pipeline);
    if (j->single && !j->by_id) {
        mrsi_lower_stage(l,
                         "{$set: {__mrs_m: {$cond: [{$in: [{$type: %s}, ['missing', 'null', 'undefined']]}, [], "
                         "'$__mrs_m']}}}",
                         mrsi_lower_path(l, j->into_key));
    } else if (!j->single) {
        mrsi_lower_stage(l, "{$set: {__mrs_m: " SETTLE "}}");
    }
}

void
mrsi_join_lower_end(struct mrsi_lower *l)
{
    mrsi_lower_stage(l, "{$unset: ['__mrs_k', '__mrs_m']}");
}

/* Counts documents with arrays in several sort fields, which some servers accept. */
bool
mrsi_join_lower_count_sort(struct mrsi_lower *l, const struct mrs_coll *from)
{
    MRS_ASSERT(from->ns);
    struct mrs_val by = mrsi_lower_key(l, "sort");
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    mrsi_lower_open(l);
    mrs_walk_init(&w, by.type == MRS_DOCUMENT ? mrs_val_view(by) : mrs_empty_doc());
    for (; mrs_walk_next(&w, &el) == 1; n++) {
        mrs_build_item(&l->b, mrs_make_text(l->arena, mrsi_lower_path(l, el.name), el.name_len + 1));
    }
    struct mrs_view keys = mrsi_lower_end(l);
    return n < 2 || mrsi_lower_count(l, from,
                                     mrsi_lower_doc(l,
                                                    "{$expr: {$gt: [{$size: {$filter: {input: %a, as: 'k', cond: "
                                                    "{$isArray: '$$k'}}}}, 1]}}",
                                                    keys),
                                     "documents with arrays in two fields of `sort`");
}

/* Counts documents of `into` whose keys a server reads differently, or that have one of the written names. */
bool
mrsi_join_lower_count(struct mrsi_lower *l, const struct mrsi_lower_join *j, struct mrs_view taken)
{
    MRS_ASSERT(j->from && j->into);
    const char *into = mrsi_lower_path(l, j->into_key), *from = mrsi_lower_path(l, j->from_key);
    static const char inner[] = "{$expr: {$cond: [{$isArray: %s}, {$anyElementTrue: [{$map: {input: %s, as: 'k', in: "
                                "{$isArray: '$$k'}}}]}, false]}}";
    struct mrs_view odd = j->by_id ? mrsi_lower_doc(l, "{_id: null}")
                          : j->single
                              ? mrsi_lower_doc(l, "{$expr: {$isArray: %s}}", into)
                              : mrsi_lower_doc(l, inner, into, into);
    struct mrs_view body = l->body;
    struct mrs_view there =
        mrsi_lower_doc(l, "{$or: [%d, {__mrs_k: {$exists: true}}, {__mrs_m: {$exists: true}}]}", taken);
    l->body = mrs_empty_doc(); /* `where` applies to `from` */
    bool room = mrsi_lower_count(l, j->into, odd,
                                 j->by_id ? "documents whose `_id` is null" : "documents whose key is an array") &&
                mrsi_lower_count(l, j->into, there, "documents that have a field that is written already");
    l->body = body;
    return room && mrsi_join_lower_count_sort(l, j->from) &&
           (strcmp(j->from_key, "_id") == 0 || /* never an array */
            mrsi_lower_count(l, j->from, mrsi_lower_doc(l, inner, from, from), "documents with arrays in their key"));
}

/* A text that is not a path is literal. */
static bool
count_key(struct mrsi_lower *l, const struct mrs_coll *from, struct mrs_val part)
{
    MRS_ASSERT(from->ns);
    uint32_t n;
    bool constant = part.type == MRS_NULL || (part.type == MRS_STRING && *mrs_val_text(part, &n) != '$');
    struct mrs_view odd = mrsi_lower_doc(l, "{$expr: {$in: [{$type: %v}, ['object', 'array', 'undefined', 'regex']]}}",
                                         part);
    return constant || mrsi_lower_count(l, from, odd, "documents whose key is a document, an array or nothing that an "
                                                      "`_id` can be");
}

/* Is each part of the key a value that all servers treat equally? No document, no array, only valid `_id`s. */
bool
mrsi_join_lower_count_keys(struct mrsi_lower *l, const struct mrs_coll *from, struct mrs_val by)
{
    MRS_ASSERT(from->ns);
    struct mrs_walk w;
    struct mrs_elem el;
    bool room = true;
    if (by.type != MRS_DOCUMENT || mrsi_lower_is_operator(by)) {
        return count_key(l, from, by);
    }
    mrs_walk_init(&w, mrs_val_view(by));
    while (room && mrs_walk_next(&w, &el) == 1) {
        room = count_key(l, from, el.v);
    }
    return room;
}

int64_t
mrsi_join_lower_taken(const struct mrsi_lower *l)
{
    return mrsi_lower_has_word(l, "many", "last") ? -1 : 0;
}

bool
mrsi_join_lower_count_many(struct mrsi_lower *l, const struct mrsi_lower_join *j)
{
    if (j->single && strcmp(j->from_key, "_id") == 0) {
        return true; /* one value meets one `_id` */
    }
    mrsi_join_lower_put(l, j);
    mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: '$__mrs_m'}, 1]}}}");
    return mrsi_lower_count_stages(l, j->into, "documents that match several where one is meant");
}

/* Removes the matched documents of `from`. */
bool
mrsi_join_lower_remove(struct mrsi_lower *l, const struct mrsi_lower_join *j)
{
    MRS_ASSERT(j->from && j->into);
    mrsi_lower_begin(l, false);
    put_keys(l, j->from_key);
    mrsi_lower_stage(l,
                     "{$lookup: {from: %s, localField: '__mrs_k', foreignField: %s, pipeline: [{$project: {_id: 1}}], "
                     "as: '__mrs_m'}}",
                     j->into->coll, j->into_key);
    mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: [" SETTLE "]}, 0]}}}");
    mrsi_lower_stage(l, "{$project: {_id: 1}}");
    return mrsi_lower_remove_stages(l, j->from);
}

const char *
mrsi_join_lower_judge(struct mrsi_lower *l)
{
    static const char *const needed[][2] = {
        {"errors", "refuse"}, {"orphans", "keep"}, {"dangling", "keep"}, {"oversize", "refuse"}};
    const char *why = mrsi_lower_is_true(l, "replace") ? mrsi_lower_no_stages(l, "replace") : NULL;
    for (size_t i = 0; !why && i < sizeof needed / sizeof *needed; i++) {
        why = mrsi_lower_not_default(l, needed[i][0], needed[i][1]);
    }
    return why;
}
