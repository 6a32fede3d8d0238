/* SPDX-License-Identifier: Apache-2.0 */
/* lower_fields.c - converts steps that change fields in place to stages.
 *
 * In place means `$merge` with `replace`: with `merge`, fields that a step removes would stay. Only top-level names: in
 * nested ones a server overwrites values that the step refuses to overwrite. */
#include "lower.h"

#define NEW_TYPE "a type that `$convert` does not know on every server: use the client engine"

static bool
refuses_errors(const struct mrsi_lower *l)
{
    return mrsi_lower_is_default(l, "errors", "refuse");
}

/* A stage or operator with one key, open until mrs_build_close twice. */
static void
open_stage(struct mrsi_lower *l, const char *name, uint8_t type)
{
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, name, (uint32_t)strlen(name), type);
}

const char *
mrsi_lower_set(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    const char *why = mrsi_lower_judge_map(fields);
    if (why || !refuses_errors(l)) {
        return why ? why : MRSI_LOWER_ERRORS;
    }
    mrsi_lower_begin(l, false);
    open_stage(l, "$set", MRS_DOCUMENT);
    mrs_walk_init(&w, mrs_val_view(fields));
    while (mrs_walk_next(&w, &el) == 1) {
        mrsi_lower_put_value(l, &el);
    }
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    (void)mrsi_lower_write(l, l->out->on, NULL);
    return NULL;
}

const char *
mrsi_lower_unset(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    const char *why = mrsi_lower_judge_list(fields);
    if (!why) {
        mrsi_lower_begin(l, false);
        mrsi_lower_stage(l, "{$unset: %v}", fields);
        (void)mrsi_lower_write(l, l->out->on, NULL);
    }
    return why;
}

/* Replaces the document by the result of `with`, with its own `_id` first. */
const char *
mrsi_lower_replace(struct mrsi_lower *l)
{
    struct mrs_val with = mrsi_lower_key(l, "with");
    if (!refuses_errors(l)) {
        return MRSI_LOWER_ERRORS;
    }
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$replaceWith: {o: '$_id', v: %v}}", with);
    mrsi_lower_stage(l, "{$match: {$expr: {$or: [{$ne: [{$type: '$v'}, 'object']}, {$and: [{$ne: [{$type: '$v._id'}, "
                        "'missing']}, {$ne: ['$v._id', '$o']}]}]}}}");
    mrsi_lower_stage(l, "{$project: {o: 1}}");
    (void)mrsi_lower_count_stages(l, l->out->on, "documents for which `with` gives no document, or another `_id`");
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$replaceWith: {$mergeObjects: [{_id: '$_id'}, %v, {_id: '$_id'}]}}", with);
    (void)mrsi_lower_write(l, l->out->on, NULL);
    return NULL;
}

/* ---- rename ---- */
static const char *
judge_renames(struct mrs_val fields)
{
    MRS_ASSERT(fields.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_elem el, other;
    const char *why = mrsi_lower_judge_map(fields);
    mrs_walk_init(&w, mrs_val_view(fields));
    while (!why && mrs_walk_next(&w, &el) == 1) {
        uint32_t n = 0;
        const char *new = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        if (!mrsi_lower_plain(new, n)) {
            return n && memchr(new, '.', n) ? MRSI_LOWER_DEEP : MRSI_LOWER_SPECIAL_NAME;
        }
        if (n == 3 && memcmp(new, "_id", 3) == 0) {
            return MRSI_LOWER_ID;
        }
        if (mrs_doc_find(mrs_val_view(fields), new, n, &other)) {
            return "a new name is also an old one: use the client engine";
        }
    }
    return why;
}

static const char *
count_taken(struct mrsi_lower *l, struct mrs_val fields)
{
    MRS_ASSERT(fields.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(fields));
    while (mrs_walk_next(&w, &el) == 1) {
        uint32_t n;
        const char *new = mrs_val_text(el.v, &n);
        struct mrs_view both = mrsi_lower_doc(l, "{$and: [{%s: {$exists: true}}, {%s: {$exists: true}}]}", el.name,
                                              new);
        if (!mrsi_lower_count(l, l->out->on, both, "documents that have the new name already")) {
            return MRSI_LOWER_MANY;
        }
    }
    return NULL;
}

/* ---- field by field ---- */
static struct mrs_val
text(const struct mrsi_lower *l, const char *t)
{
    return mrs_make_text(l->arena, t, (uint32_t)strlen(t));
}

/* {case: {$eq: ["$$f.k", {$literal: name}]}, then: the replacement} */
static void
begin_branch(struct mrsi_lower *l, const struct mrs_elem *el)
{
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, "case", 4, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$eq", 3, MRS_ARRAY);
    mrs_build_item(&l->b, text(l, "$$f.k"));
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_text(&l->b, "$literal", el->name, el->name_len);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

static void
put_new_name(struct mrsi_lower *l, const struct mrs_elem *el)
{
    begin_branch(l, el);
    mrs_build_open(&l->b, "then", 4, MRS_DOCUMENT);
    mrs_build_val(&l->b, "$literal", 8, el->v);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

static void
put_compared(struct mrsi_lower *l, const char *operator, struct mrs_val with)
{
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, operator, (uint32_t)strlen(operator), MRS_ARRAY);
    mrs_build_item(&l->b, text(l, "$$f.v"));
    mrs_build_item(&l->b, with);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

/* Values between MinKey and null stay unchanged. */
static void
put_new_type(struct mrsi_lower *l, const struct mrs_elem *el)
{
    struct mrs_val least = {NULL, 0, MRS_MINKEY};
    begin_branch(l, el);
    mrs_build_open(&l->b, "then", 4, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$cond", 5, MRS_ARRAY);
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$and", 4, MRS_ARRAY);
    put_compared(l, "$lte", mrs_null());
    put_compared(l, "$gt", least);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    mrs_build_item(&l->b, text(l, "$$f.v"));
    open_stage(l, "$convert", MRS_DOCUMENT);
    mrs_build_text(&l->b, "input", "$$f.v", 5);
    mrs_build_val(&l->b, "to", 2, el->v);
    for (int open = 0; open < 5; open++) { /* $convert and its document, $cond, then, the branch */
        mrs_build_close(&l->b);
    }
}

static void
put_switch(struct mrsi_lower *l, const char *key, const char *same, struct mrs_val fields,
           void (*put)(struct mrsi_lower *l, const struct mrs_elem *el))
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (!put) {
        mrs_build_text(&l->b, key, same, 5);
        return;
    }
    mrs_build_open(&l->b, key, 1, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$switch", 7, MRS_DOCUMENT);
    mrs_build_open(&l->b, "branches", 8, MRS_ARRAY);
    mrs_walk_init(&w, mrs_val_view(fields));
    while (mrs_walk_next(&w, &el) == 1) {
        put(l, &el);
    }
    mrs_build_close(&l->b);
    mrs_build_text(&l->b, "default", same, 5);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

/* Maps the document's list of names and values: each field keeps its position, and missing fields do not occur. */
static void
lower_each(struct mrsi_lower *l, struct mrs_val fields, void (*name)(struct mrsi_lower *l, const struct mrs_elem *el),
           void (*value)(struct mrsi_lower *l, const struct mrs_elem *el))
{
    mrsi_lower_begin(l, false);
    open_stage(l, "$replaceWith", MRS_DOCUMENT);
    mrs_build_open(&l->b, "$arrayToObject", 14, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$map", 4, MRS_DOCUMENT);
    mrs_build_open(&l->b, "input", 5, MRS_DOCUMENT);
    mrs_build_text(&l->b, "$objectToArray", "$$ROOT", 6);
    mrs_build_close(&l->b);
    mrs_build_text(&l->b, "as", "f", 1);
    mrs_build_open(&l->b, "in", 2, MRS_DOCUMENT);
    put_switch(l, "k", "$$f.k", fields, name);
    put_switch(l, "v", "$$f.v", fields, value);
    for (int open = 0; open < 5; open++) { /* in, $map, $arrayToObject, $replaceWith, the stage */
        mrs_build_close(&l->b);
    }
    (void)mrsi_lower_write(l, l->out->on, NULL);
}

const char *
mrsi_lower_rename(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    const char *why = judge_renames(fields);
    if (why || mrsi_lower_is_true(l, "replace")) {
        return why ? why : "`replace` takes another field away: use the client engine";
    }
    why = count_taken(l, fields);
    if (!why) {
        lower_each(l, fields, put_new_name, NULL);
    }
    return why;
}

/* ---- order, cast ---- */
/* {$replaceWith: {$mergeObjects: [{a: "$a", b: "$b"}, "$$ROOT"]}}: missing fields are omitted. */
const char *
mrsi_lower_order(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_lower_begin(l, false);
    open_stage(l, "$replaceWith", MRS_DOCUMENT);
    mrs_build_open(&l->b, "$mergeObjects", 13, MRS_ARRAY);
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_text(&l->b, "_id", "$_id", 4);
    mrs_walk_init(&w, mrs_val_view(fields));
    while (mrs_walk_next(&w, &el) == 1) {
        char value[300] = "$";
        uint32_t n = 0;
        const char *name = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        if (!mrsi_lower_plain(name, n) || n + 2 > sizeof value) {
            return n && memchr(name, '.', n) ? MRSI_LOWER_DEEP : MRSI_LOWER_SPECIAL_NAME;
        }
        if (n == 3 && memcmp(name, "_id", 3) == 0) {
            return "`_id` among the names: a server puts it first anyway: use the client engine";
        }
        memcpy(value + 1, name, n + 1);
        mrs_build_text(&l->b, name, value, n + 1);
    }
    mrs_build_close(&l->b);
    mrs_build_item(&l->b, text(l, "$$ROOT"));
    for (int open = 0; open < 3; open++) {
        mrs_build_close(&l->b);
    }
    (void)mrsi_lower_write(l, l->out->on, NULL);
    return NULL;
}

static const char *
count_arrays(struct mrsi_lower *l, const struct mrs_elem *el)
{
    struct mrs_view arrays = mrsi_lower_doc(l, "{$expr: {$isArray: %s}}", mrsi_lower_path(l, el->name));
    bool room = mrsi_lower_count(l, l->out->on, arrays,
                                 "documents whose field is an array: its elements are cast one by one");
    return room ? NULL : MRSI_LOWER_MANY;
}

/* Does `$convert` know the type on every server, with the same rules? */
static bool
converts(struct mrs_val to)
{
    static const char *const known[] = {"double", "string", "objectId", "bool", "date", "int", "long", "decimal"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof known / sizeof *known; i++) {
        found = mrs_val_is_text(to, known[i]);
    }
    return found;
}

const char *
mrsi_lower_cast(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    const char *why = mrsi_lower_judge_map(fields);
    if (why || !refuses_errors(l)) {
        return why ? why : MRSI_LOWER_ERRORS;
    }
    mrs_walk_init(&w, mrs_val_view(fields));
    while (!why && mrs_walk_next(&w, &el) == 1) {
        why = converts(el.v) ? count_arrays(l, &el) : NEW_TYPE;
    }
    if (!why) {
        lower_each(l, fields, NULL, put_new_type);
    }
    return why;
}
