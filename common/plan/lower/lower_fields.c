/* SPDX-License-Identifier: Apache-2.0 */
/* lower_fields.c - steps that change fields in place, as stages of a server.
 *
 * In place means `$merge` with `replace`: with `merge` fields that a step removes would stay. Names stand at the top of
 * the document: below, a server writes over what a step refuses to write over. */
#include "lower.h"

#define DEEP "a name below the top of the document: use the client engine"
#define ODD "a name that means something else in an expression ($, a dot): use the client engine"
#define ID "it changes `_id`, which a pipeline loses silently: use the client engine"
#define ERRORS \
    "`errors` other than refuse: a pipeline has one answer to a failing expression, it ends: use the client engine"

static bool
refuses_errors(const struct mrsi_lower *l)
{
    struct mrs_val v = mrsi_lower_key(l, "errors");
    return v.type == MRS_MISSING || mrs_val_is_text(v, "refuse");
}

/* Whether each field of a map is a plain name other than `_id`; the reason where not. */
static const char *
judge_names(struct mrs_val map)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(map));
    while (mrs_walk_next(&w, &el) == 1) {
        if (!mrsi_lower_plain(el.name, el.name_len)) {
            return memchr(el.name, '.', el.name_len) ? DEEP : ODD;
        }
        if (mrs_name_is(&el, "_id", 3)) {
            return ID;
        }
    }
    return NULL;
}

/* {$a: 1} is an expression, {a: 1} a document made of them. */
static bool
makes_document(struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (v.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    return mrs_walk_next(&w, &el) != 1 || el.name[0] != '$';
}

/* A document in `$set` is merged into the one that is there, and is no value: so it goes through an operator. */
static void
put_value(struct mrsi_lower *l, const struct mrs_elem *el)
{
    if (!makes_document(el->v)) {
        mrs_build_elem(&l->b, el);
        return;
    }
    mrs_build_open(&l->b, el->name, el->name_len, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$mergeObjects", 13, MRS_ARRAY);
    mrs_build_item(&l->b, el->v);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

const char *
mrsi_lower_set(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    const char *why = fields.type != MRS_DOCUMENT ? ODD : judge_names(fields);
    if (why || !refuses_errors(l)) {
        return why ? why : ERRORS;
    }
    mrsi_lower_pipeline(l);
    mrsi_lower_open(l, "$set", MRS_DOCUMENT);
    mrs_walk_init(&w, mrs_val_view(fields));
    while (mrs_walk_next(&w, &el) == 1) {
        put_value(l, &el);
    }
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    mrsi_lower_merge(l, l->out->on, false);
    return NULL;
}

const char *
mrsi_lower_unset(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_lower_pipeline(l);
    mrsi_lower_open(l, "$unset", MRS_ARRAY);
    mrs_walk_init(&w, mrs_val_view(fields));
    while (mrs_walk_next(&w, &el) == 1) {
        uint32_t n = 0;
        const char *name = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        if (!mrsi_lower_plain(name, n)) {
            return n && memchr(name, '.', n) ? DEEP : ODD;
        }
        mrs_build_item(&l->b, el.v);
    }
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    mrsi_lower_merge(l, l->out->on, false);
    return NULL;
}

/* ---- rename ---- */
static const char *
judge_renames(struct mrs_val fields)
{
    struct mrs_walk w;
    struct mrs_elem el, other;
    const char *why = judge_names(fields);
    mrs_walk_init(&w, mrs_val_view(fields));
    while (!why && mrs_walk_next(&w, &el) == 1) {
        uint32_t n = 0;
        const char *new = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        if (!mrsi_lower_plain(new, n)) {
            return n && memchr(new, '.', n) ? DEEP : ODD;
        }
        if (n == 3 && memcmp(new, "_id", 3) == 0) {
            return ID;
        }
        if (mrs_doc_find(mrs_val_view(fields), new, n, &other)) {
            return "a new name is also an old one: use the client engine";
        }
    }
    return why;
}

static void
put_exists(struct mrsi_lower *l, const char *name, uint32_t n)
{
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, name, n, MRS_DOCUMENT);
    mrs_build_bool(&l->b, "$exists", true);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

static const char *
count_taken(struct mrsi_lower *l, struct mrs_val fields)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(fields));
    while (mrs_walk_next(&w, &el) == 1) {
        uint32_t n;
        const char *new = mrs_val_text(el.v, &n);
        if (l->out->n_counts == MRS_LOWERED_COUNTS) {
            return "more than 8 names: write several steps, or use the client engine";
        }
        mrsi_lower_filter(l);
        put_exists(l, el.name, el.name_len);
        put_exists(l, new, n);
        mrsi_lower_count(l, "documents that have the new name already");
    }
    return NULL;
}

/* ---- field by field ---- */
static struct mrs_val
text(const struct mrsi_lower *l, const char *t)
{
    return mrs_make_text(l->arena, t, (uint32_t)strlen(t));
}

/* {case: {$eq: ["$$f.k", {$literal: name}]}, then: what follows */
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

/* What lies between MinKey and null stays as it is. */
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
    mrsi_lower_open(l, "$convert", MRS_DOCUMENT);
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

/* The document goes through its list of names and values: each field keeps its place, and what is missing is not
 * met. */
static void
lower_each(struct mrsi_lower *l, struct mrs_val fields, void (*name)(struct mrsi_lower *l, const struct mrs_elem *el),
           void (*value)(struct mrsi_lower *l, const struct mrs_elem *el))
{
    mrsi_lower_pipeline(l);
    mrsi_lower_open(l, "$replaceWith", MRS_DOCUMENT);
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
    mrsi_lower_merge(l, l->out->on, false);
}

const char *
mrsi_lower_rename(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields"), replace = mrsi_lower_key(l, "replace");
    const char *why = judge_renames(fields);
    if (why || (replace.type == MRS_BOOL && *replace.p)) {
        return why ? why : "`replace` takes another field away: use the client engine";
    }
    why = count_taken(l, fields);
    if (!why) {
        lower_each(l, fields, put_new_name, NULL);
    }
    return why;
}

/* ---- order, cast ---- */
/* {$replaceWith: {$mergeObjects: [{a: "$a", b: "$b"}, "$$ROOT"]}}: what is missing is left out. */
const char *
mrsi_lower_order(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_lower_pipeline(l);
    mrsi_lower_open(l, "$replaceWith", MRS_DOCUMENT);
    mrs_build_open(&l->b, "$mergeObjects", 13, MRS_ARRAY);
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_text(&l->b, "_id", "$_id", 4);
    mrs_walk_init(&w, mrs_val_view(fields));
    while (mrs_walk_next(&w, &el) == 1) {
        char value[300] = "$";
        uint32_t n = 0;
        const char *name = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        if (!mrsi_lower_plain(name, n) || n + 2 > sizeof value) {
            return n && memchr(name, '.', n) ? DEEP : ODD;
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
    mrsi_lower_merge(l, l->out->on, false);
    return NULL;
}

static const char *
count_arrays(struct mrsi_lower *l, const struct mrs_elem *el)
{
    if (l->out->n_counts == MRS_LOWERED_COUNTS) {
        return "more than 8 names: write several steps, or use the client engine";
    }
    char value[300] = "$";
    memcpy(value + 1, el->name, el->name_len + 1);
    mrsi_lower_filter(l);
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$expr", 5, MRS_DOCUMENT);
    mrs_build_text(&l->b, "$isArray", value, el->name_len + 1);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    mrsi_lower_count(l, "documents whose field is an array: its elements are cast one by one");
    return NULL;
}

const char *
mrsi_lower_cast(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    const char *why = judge_names(fields);
    if (why || !refuses_errors(l)) {
        return why ? why : ERRORS;
    }
    mrs_walk_init(&w, mrs_val_view(fields));
    while (!why && mrs_walk_next(&w, &el) == 1) {
        why = el.v.type != MRS_STRING || mrs_val_is_text(el.v, "binData") || el.name_len > 250 ? ODD
                                                         : count_arrays(l, &el);
    }
    if (!why) {
        lower_each(l, fields, NULL, put_new_type);
    }
    return why;
}
