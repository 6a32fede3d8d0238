/* SPDX-License-Identifier: Apache-2.0 */
/* lower_spread.c - converts steps that move documents to other collections.
 *
 * Each target has a pipeline of its own, which fails at an existing `_id`; moved documents are removed after all
 * pipelines. So a server that stops in between has written too much, never too little. */
#include "lower.h"

#define NEW_IDS "its documents get `_id`s that are made: use the client engine"
#define NOT_OWN "elements without an `_id` of their own, or that are no documents, or that hold a field that is added"

static bool
refuses_conflicts(const struct mrsi_lower *l)
{
    return l->out->step->desc.conflicts == MRS_CONFLICTS_REFUSE;
}

static const struct mrs_coll *
side(const struct mrsi_lower *l, uint32_t i)
{
    return &l->out->step->desc.sides[i].coll;
}

/* ---- whole documents ---- */
const char *
mrsi_lower_move(struct mrsi_lower *l)
{
    if (!refuses_conflicts(l)) {
        return MRSI_LOWER_CONFLICTS;
    }
    mrsi_lower_begin(l, false);
    (void)mrsi_lower_write(l, side(l, 0), side(l, 1));
    (void)mrsi_lower_remove(l, side(l, 0), (struct mrs_view){NULL, 0});
    return NULL;
}

const char *
mrsi_lower_delete(struct mrsi_lower *l)
{
    (void)mrsi_lower_remove(l, side(l, 0), (struct mrs_view){NULL, 0});
    return NULL;
}

/* The name must be free: counts existing documents. */
const char *
mrsi_lower_copy_collection(struct mrsi_lower *l)
{
    mrsi_lower_begin(l, true);
    mrsi_lower_stage(l, "{$limit: 1}");
    (void)mrsi_lower_count_stages(l, side(l, 1), "documents where the copy is to be");
    mrsi_lower_begin(l, false);
    (void)mrsi_lower_write(l, side(l, 0), side(l, 1));
    l->out->whole = true;
    return NULL;
}

/* One source of a union; named: by the key of the map, else by its own name. */
static bool
add_source(struct mrsi_lower *l, uint32_t i, const struct mrs_elem *el, bool named, const char *tag)
{
    MRS_ASSERT(el->name);
    const struct mrs_coll *from = side(l, i), *into = side(l, l->out->step->desc.n_sides - 1u);
    bool room = true;
    if (tag) {
        struct mrs_view there = mrsi_lower_doc(l, "{%s: {$exists: true}}", tag);
        room = mrsi_lower_count(l, from, there, "documents that have the field of `tag` already");
    }
    mrsi_lower_begin(l, false);
    if (tag) {
        mrsi_lower_stage(l, "{$set: {%s: {$literal: %s}}}", tag, named ? el->name : from->coll);
    }
    return room && mrsi_lower_write(l, from, into) && mrsi_lower_remove(l, from, (struct mrs_view){NULL, 0});
}

const char *
mrsi_lower_union(struct mrsi_lower *l)
{
    struct mrs_val from = mrsi_lower_key(l, "from");
    const char *tag = mrsi_lower_name(l, "tag");
    struct mrs_walk w;
    struct mrs_elem el;
    bool room = true;
    if (!refuses_conflicts(l) || mrsi_lower_is_true(l, "replace")) {
        return MRSI_LOWER_CONFLICTS;
    }
    if (mrsi_lower_has_key(l, "tag") && !tag) {
        return MRSI_LOWER_DEEP;
    }
    mrs_walk_init(&w, mrs_val_view(from));
    for (uint32_t i = 0; room && mrs_walk_next(&w, &el) == 1; i++) {
        room = add_source(l, i, &el, from.type == MRS_DOCUMENT, tag);
    }
    return room ? NULL : MRSI_LOWER_MANY;
}

/* Moves the documents with one value to its collection. */
static bool
add_branch(struct mrsi_lower *l, const struct mrs_coll *into, struct mrs_val value, const char *by, bool drop)
{
    struct mrs_view mine = mrsi_lower_doc(l, "{$expr: {$eq: [%s, {$literal: %v}]}}", mrsi_lower_path(l, by), value);
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$match: %d}", mine);
    if (drop) {
        mrsi_lower_stage(l, "{$unset: [%s]}", by);
    }
    return mrsi_lower_write(l, l->out->on, into) && mrsi_lower_remove(l, l->out->on, mine);
}

/* The collection of an entry {value, into} or name: collection, searched among the sides by its name. */
static const struct mrs_coll *
target(const struct mrsi_lower *l, struct mrs_val into)
{
    MRS_ASSERT(mrs_val_is_sized(into));
    const struct mrs_desc *d = &l->out->step->desc;
    uint32_t n = 0;
    const char *name = into.type == MRS_STRING ? mrs_val_text(into, &n) : "";
    for (uint32_t i = 1; i < d->n_sides; i++) {
        const struct mrs_coll *c = &d->sides[i].coll;
        if (strcmp(c->coll, name) == 0 || strcmp(c->ns, name) == 0) {
            return c;
        }
    }
    return NULL;
}

const char *
mrsi_lower_partition(struct mrsi_lower *l)
{
    struct mrs_val into = mrsi_lower_key(l, "into");
    const char *by = mrsi_lower_name(l, "by");
    struct mrs_walk w;
    struct mrs_elem el;
    bool room = true;
    if (!by || strcmp(by, "_id") == 0) {
        return by ? MRSI_LOWER_ID : MRSI_LOWER_DEEP;
    }
    if (!refuses_conflicts(l) || !mrsi_lower_is_default(l, "others", "keep")) {
        return refuses_conflicts(l) ? "`others` other than keep: use the client engine" : MRSI_LOWER_CONFLICTS;
    }
    mrs_walk_init(&w, mrs_val_view(into));
    while (room && mrs_walk_next(&w, &el) == 1) {
        bool listed = into.type == MRS_ARRAY;
        struct mrs_view entry = listed && el.v.type == MRS_DOCUMENT ? mrs_val_view(el.v) : mrs_empty_doc();
        const struct mrs_coll *to = target(l, listed ? mrs_doc_get(entry, "into") : el.v);
        struct mrs_val value = listed ? mrs_doc_get(entry, "value") : mrs_make_text(l->arena, el.name, el.name_len);
        if (!to) {
            return "a collection of another database: use the client engine";
        }
        room = add_branch(l, to, value, by, mrsi_lower_is_true(l, "drop"));
    }
    return room ? NULL : MRSI_LOWER_MANY;
}

/* {$project: {a: 1, b: 1}} keeps the order of the document. */
static void
put_projection(struct mrsi_lower *l, struct mrs_val list)
{
    MRS_ASSERT(mrs_val_is_sized(list));
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$project", 8, MRS_DOCUMENT);
    mrs_walk_init(&w, mrs_val_view(list));
    while (mrs_walk_next(&w, &el) == 1) {
        uint32_t n;
        mrs_build_i32(&l->b, mrs_val_text(el.v, &n), 1);
    }
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

const char *
mrsi_lower_split(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    const char *why = mrsi_lower_judge_list(fields);
    if (why || !refuses_conflicts(l)) {
        return why ? why : MRSI_LOWER_CONFLICTS;
    }
    struct mrs_view have = mrsi_lower_have(l, fields);
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$match: %d}", have);
    put_projection(l, fields);
    (void)mrsi_lower_write(l, l->out->on, side(l, 1));
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$match: %d}", have);
    mrsi_lower_stage(l, "{$unset: %v}", fields);
    (void)mrsi_lower_write(l, l->out->on, NULL);
    return NULL;
}

/* ---- parts of documents ---- */
struct lower_parts {
    const char *path;           /* "$comments" */
    const char *ref, *position; /* fields added to a part; NULL: none */
    const char *key;            /* "$_id": the value of ref */
};

/* The elements of the array, or the single document, as an array; else an empty array. */
static struct mrs_view
elements(struct mrsi_lower *l, const struct lower_parts *p)
{
    return mrsi_lower_doc(l,
                          "{$switch: {branches: [{case: {$isArray: %s}, then: %s}, {case: {$eq: [{$type: %s}, "
                          "'object']}, then: [%s]}], default: []}}",
                          p->path, p->path, p->path, p->path);
}

static struct mrs_val
text_or_none(const struct mrsi_lower *l, const char *text)
{
    return text ? mrs_make_text(l->arena, text, (uint32_t)strlen(text)) : mrs_missing();
}

/* Counts elements that a server would treat differently from the step. Names are searched in the list of names, because
 * servers differ in the type of a missing field. */
static bool
count_parts(struct mrsi_lower *l, const struct lower_parts *p)
{
    MRS_ASSERT(p->path);
    struct mrs_view names = mrsi_lower_doc(l, "{l: [%v, %v]}", text_or_none(l, p->ref), text_or_none(l, p->position));
    struct mrs_view taken = mrsi_lower_doc(l,
                                           "{$gt: [{$size: {$setIntersection: [{$map: {input: {$objectToArray: '$$e'}, "
                                           "as: 'q', in: '$$q.k'}}, %v]}}, 0]}",
                                           mrs_doc_get(names, "l"));
    struct mrs_view odd = mrsi_lower_doc(l,
                                         "{$cond: [{$eq: [{$type: '$$e'}, 'object']}, {$or: [{$in: [{$type: "
                                         "'$$e._id'}, ['missing', 'null', 'undefined', 'array', 'regex']]}, %d]}, "
                                         "true]}",
                                         taken);
    struct mrs_view any =
        mrsi_lower_doc(l, "{$expr: {$anyElementTrue: [{$map: {input: %d, as: 'e', in: %d}}]}}", elements(l, p), odd);
    return mrsi_lower_count(l, l->out->on, any, NOT_OWN);
}

/* "$comments._id" */
static const char *
own_id(struct mrsi_lower *l, const char *path)
{
    size_t n = strlen(path);
    char *own = mrs_arena_alloc(l->arena, n + 5);
    l->failed = l->failed || !own;
    if (!own) {
        return "";
    }
    memcpy(own, path, n);
    memcpy(own + n, "._id", 5);
    return own;
}

/* The documents that have parts; others stay unchanged. */
static void
match_parts(struct mrsi_lower *l, const struct lower_parts *p)
{
    mrsi_lower_stage(l, "{$match: {$expr: {$gt: [{$size: [%d]}, 0]}}}", elements(l, p));
}

static void
put_part(struct mrsi_lower *l, const struct lower_parts *p)
{
    const char *own = own_id(l, p->path);
    struct mrs_view head = !p->position ? mrsi_lower_doc(l, "{_id: %s, %s: %s}", own, p->ref, p->key)
                                        : mrsi_lower_doc(l,
                                                         "{_id: %s, %s: %s, %s: {$cond: [{$eq: [{$type: '$__mrs_i'}, "
                                                         "'null']}, "
                                                         "'$$REMOVE', {$toInt: '$__mrs_i'}]}}",
                                                         own, p->ref, p->key, p->position);
    mrsi_lower_stage(l, "{$unwind: {path: %s, includeArrayIndex: '__mrs_i'}}", p->path);
    mrsi_lower_stage(l, "{$replaceWith: {$mergeObjects: [%d, %s]}}", head, p->path);
}

static const char *
judge_extract(struct mrsi_lower *l)
{
    if (!refuses_conflicts(l)) {
        return MRSI_LOWER_CONFLICTS;
    }
    const char *why = mrsi_lower_not_default(l, "refs", "parent");
    why = why ? why : mrsi_lower_not_default(l, "extracted", "all");
    if (why) {
        return why;
    }
    return mrsi_lower_is_default(l, "id", "keep") ? NULL : NEW_IDS;
}

const char *
mrsi_lower_extract(struct mrsi_lower *l)
{
    const char *path = mrsi_lower_name(l, "path"), *why = judge_extract(l);
    const char *key = mrsi_lower_has_key(l, "parent_key") ? mrsi_lower_name(l, "parent_key") : "_id";
    struct lower_parts p = {.ref = mrsi_lower_name(l, "parent_ref"), .position = mrsi_lower_name(l, "position")};
    if (why) {
        return why;
    }
    if (!path || !key || !p.ref || (mrsi_lower_has_key(l, "position") && !p.position)) {
        return MRSI_LOWER_DEEP;
    }
    p.path = mrsi_lower_path(l, path);
    p.key = mrsi_lower_path(l, key);
    struct mrs_view none = mrsi_lower_doc(l, "{%s: {$exists: false}}", key);
    bool room =
        strcmp(key, "_id") == 0 || mrsi_lower_count(l, l->out->on, none, "documents without the field of `parent_key`");
    if (!count_parts(l, &p) || !room) {
        return MRSI_LOWER_MANY;
    }
    mrsi_lower_begin(l, false);
    match_parts(l, &p);
    put_part(l, &p);
    (void)mrsi_lower_write(l, l->out->on, side(l, 1));
    mrsi_lower_begin(l, false);
    match_parts(l, &p);
    mrsi_lower_stage(l, "{$unset: [%s]}", path);
    (void)mrsi_lower_write(l, l->out->on, NULL);
    return NULL;
}

/* ---- buckets ---- */
/* {_id: "$items._id", by fields...}: the item's own fields take precedence, in their positions. */
static void
put_item(struct mrsi_lower *l, const char *path, struct mrs_val by)
{
    MRS_ASSERT(path && mrs_val_is_sized(by));
    struct mrs_walk w;
    struct mrs_elem el;
    const char *own = own_id(l, path);
    mrsi_lower_stage(l, "{$unwind: %s}", path);
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$replaceWith", 12, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$mergeObjects", 13, MRS_ARRAY);
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_text(&l->b, "_id", own, (uint32_t)strlen(own));
    if (by.type == MRS_ARRAY) {
        mrs_walk_init(&w, mrs_val_view(by));
        while (mrs_walk_next(&w, &el) == 1) {
            uint32_t m;
            const char *name = mrs_val_text(el.v, &m);
            mrs_build_text(&l->b, name, mrsi_lower_path(l, name), m + 1);
        }
    }
    mrs_build_close(&l->b);
    mrs_build_item(&l->b, mrs_make_text(l->arena, path, (uint32_t)strlen(path)));
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

const char *
mrsi_lower_unbucket(struct mrsi_lower *l)
{
    const char *items = mrsi_lower_name(l, "items");
    struct mrs_val by = mrsi_lower_key(l, "by");
    const char *why = by.type == MRS_MISSING ? NULL : mrsi_lower_judge_list(by);
    if (why || !items) {
        return why ? why : MRSI_LOWER_DEEP;
    }
    if (!refuses_conflicts(l)) {
        return MRSI_LOWER_CONFLICTS;
    }
    if (!mrsi_lower_is_default(l, "id", "keep") || mrsi_lower_names(by, items)) {
        return NEW_IDS;
    }
    struct lower_parts p = {.path = mrsi_lower_path(l, items)};
    struct mrs_view full =
        mrsi_lower_doc(l, "{$expr: {$cond: [{$isArray: %s}, {$gt: [{$size: %s}, 0]}, false]}}", p.path, p.path);
    struct mrs_view other = mrsi_lower_doc(l,
                                           "{$expr: {$not: [{$or: [{$isArray: %s}, {$in: [{$type: %s}, ['missing', "
                                           "'null']]}]}]}}",
                                           p.path, p.path);
    if (!count_parts(l, &p) || !mrsi_lower_count(l, l->out->on, other, "buckets whose items are no array")) {
        return MRSI_LOWER_MANY;
    }
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$match: %d}", full);
    put_item(l, p.path, by);
    (void)mrsi_lower_write(l, l->out->on, side(l, 1));
    if (mrsi_lower_is_default(l, "keep", "none")) {
        (void)mrsi_lower_remove(l, l->out->on, full);
    }
    return NULL;
}
