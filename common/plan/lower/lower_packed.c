/* SPDX-License-Identifier: Apache-2.0 */
/* lower_packed.c - converts pack and unpack to stages that map a document's list of names and values.
 *
 * In the form of a document, $objectToArray and $arrayToObject convert between it and such a list. */
#include "lower.h"

#define ROOM "what `as` names below the top of the document, or overwritten: use the client engine"

struct lower_packed {
    const char *as, *key, *value;
    bool document;
};

static const char *
text_key(const struct mrsi_lower *l, const char *key)
{
    struct mrs_val v = mrsi_lower_key(l, key);
    uint32_t n;
    return v.type == MRS_STRING ? mrs_val_text(v, &n) : "";
}

static bool
read_packed(const struct mrsi_lower *l, struct lower_packed *p)
{
    p->as = mrsi_lower_name(l, "as");
    p->document = strcmp(text_key(l, "form"), "document") == 0;
    p->key = !mrsi_lower_has_key(l, "key") ? "k" : mrsi_lower_name(l, "key");
    p->value = !mrsi_lower_has_key(l, "value") ? "v" : mrsi_lower_name(l, "value");
    return p->as && p->key && p->value && !mrsi_lower_is_true(l, "replace");
}

/* ---- pack ---- */
/* Is "$$f.k" one of the names? A text may end in `*`, a list is a literal name. */
static void
put_case(struct mrsi_lower *l, struct mrs_val v)
{
    struct mrs_elem el;
    struct mrs_walk w;
    uint32_t n = 0;
    bool as_it_is = v.type == MRS_ARRAY;
    mrs_walk_init(&w, as_it_is ? mrs_val_view(v) : mrs_empty_doc());
    v = as_it_is && mrs_walk_next(&w, &el) == 1 ? el.v : v;
    const char *name = v.type == MRS_STRING ? mrs_val_text(v, &n) : "";
    if (as_it_is || n == 0 || name[n - 1] != '*') {
        mrsi_lower_stage(l, "{$eq: ['$$f.k', {$literal: %s}]}", name);
        return;
    }
    struct mrs_val begins = mrs_make_text(l->arena, name, n - 1);
    l->failed = l->failed || begins.type == MRS_MISSING;
    mrsi_lower_stage(l, "{$eq: [{$indexOfBytes: ['$$f.k', {$literal: %v}]}, 0]}", begins);
}

/* {$and: [$$f.k is neither `_id` nor the array, one of the names]} */
static struct mrs_view
is_packed(struct mrsi_lower *l, const struct lower_packed *p)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_lower_open(l);
    mrs_walk_init(&w, mrs_val_view(mrsi_lower_key(l, "fields")));
    while (mrs_walk_next(&w, &el) == 1) {
        put_case(l, el.v);
    }
    struct mrs_view any = mrsi_lower_end(l);
    return mrsi_lower_doc(l, "{$and: [{$not: [{$in: ['$$f.k', ['_id', %s]]}]}, {$or: %a}]}", p->as, any);
}

/* The new name of "$$f". */
static struct mrs_view
stripped(struct mrsi_lower *l)
{
    const char *strip = text_key(l, "strip");
    return !*strip ? mrsi_lower_doc(l, "{$concat: ['$$f.k']}")
                   : mrsi_lower_doc(l,
                                    "{$cond: [{$eq: [{$indexOfBytes: ['$$f.k', {$literal: %s}]}, 0]}, {$substrBytes: "
                                    "['$$f.k', %i, -1]}, '$$f.k']}",
                                    strip, (int64_t)strlen(strip));
}

/* Counts the documents whose fields a document cannot hold: two of one name, or one without. */
static bool
count_names(struct mrsi_lower *l, struct mrs_view moved)
{
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$project: {_id: 1, n: {$map: {input: %d, as: 'q', in: '$$q.k'}}}}", moved);
    mrsi_lower_stage(l, "{$match: {$expr: {$or: [{$in: ['', '$n']}, {$ne: [{$size: '$n'}, {$size: {$setUnion: ['$n', "
                        "[]]}}]}]}}}");
    return mrsi_lower_count_stages(l, l->out->on, "documents with two fields of one new name, or one without");
}

const char *
mrsi_lower_pack(struct mrsi_lower *l)
{
    struct lower_packed p;
    if (!read_packed(l, &p)) {
        return ROOM;
    }
    struct mrs_view packed = is_packed(l, &p), all = mrsi_lower_doc(l, "{$objectToArray: '$$ROOT'}");
    struct mrs_view kept = mrsi_lower_doc(l, "{$filter: {input: %d, as: 'f', cond: {$not: [%d]}}}", all, packed);
    struct mrs_view taken = mrsi_lower_doc(l, "{$filter: {input: %d, as: 'f', cond: %d}}", all, packed);
    struct mrs_view moved = mrsi_lower_doc(l, "{$map: {input: %d, as: 'f', in: {%s: %d, %s: '$$f.v'}}}", taken, p.key,
                                           stripped(l), p.value);
    struct mrs_view any = mrsi_lower_doc(l, "{$expr: {$ne: [%d, []]}}", taken);
    struct mrs_view there = mrsi_lower_doc(l, "{%s: {$exists: true}}", p.as);
    if (p.document) {
        there = mrsi_lower_doc(l, "{$and: [%d, %d]}", there, any);
    }
    bool room = mrsi_lower_count(l, l->out->on, there, "documents in which `as` exists already") &&
                (!p.document || count_names(l, moved));
    mrsi_lower_begin(l, false);
    if (p.document) {
        mrsi_lower_stage(l, "{$match: %d}", any);
        moved = mrsi_lower_doc(l, "{$arrayToObject: %d}", moved);
    }
    mrsi_lower_stage(l, "{$replaceWith: {$arrayToObject: {$concatArrays: [%d, [{k: {$literal: %s}, v: %d}]]}}}", kept,
                     p.as, moved);
    return room && mrsi_lower_write(l, l->out->on, NULL) ? NULL : MRSI_LOWER_MANY;
}

/* ---- unpack ---- */
/* Is an element "$$e" {key: text, value}, in this order? */
static struct mrs_view
is_pair(struct mrsi_lower *l, const struct lower_packed *p)
{
    return mrsi_lower_doc(l,
                          "{$cond: [{$eq: [{$type: '$$e'}, 'object']}, {$and: [{$eq: [{$map: {input: {$objectToArray: "
                          "'$$e'}, as: 'q', in: '$$q.k'}}, [%s, %s]]}, {$eq: [{$type: {$arrayElemAt: [{$map: {input: "
                          "{$objectToArray: '$$e'}, as: 'q', in: '$$q.v'}}, 0]}}, 'string']}]}, false]}",
                          p->key, p->value);
}

/* "$$e" as {k, v} of a field. */
static struct mrs_view
as_field(struct mrsi_lower *l)
{
    return mrsi_lower_doc(l,
                          "{k: {$concat: [{$literal: %s}, {$arrayElemAt: [{$map: {input: {$objectToArray: '$$e'}, as: "
                          "'q', in: '$$q.v'}}, 0]}]}, v: {$arrayElemAt: [{$map: {input: {$objectToArray: '$$e'}, as: "
                          "'q', in: '$$q.v'}}, 1]}}",
                          text_key(l, "prefix"));
}

/* Is there something to open? A document, or an array. */
static struct mrs_view
is_open(struct mrsi_lower *l, const struct lower_packed *p, const char *path)
{
    return p->document ? mrsi_lower_doc(l, "{$eq: [{$type: %s}, 'object']}", path)
                       : mrsi_lower_doc(l, "{$isArray: %s}", path);
}

/* The document as a list of names and values, with what is opened instead of `as`. */
static struct mrs_view
opened(struct mrsi_lower *l, const struct lower_packed *p, const char *path)
{
    struct mrs_view items =
        p->document ? mrsi_lower_doc(l,
                                     "{$map: {input: {$objectToArray: %s}, as: 'e', in: {k: {$concat: [{$literal: %s}, "
                                     "'$$e.k']}, v: '$$e.v'}}}",
                                     path, text_key(l, "prefix"))
                    : mrsi_lower_doc(l, "{$map: {input: %s, as: 'e', in: %d}}", path, as_field(l));
    return mrsi_lower_doc(l,
                          "{$reduce: {input: {$objectToArray: '$$ROOT'}, initialValue: [], in: {$concatArrays: "
                          "['$$value', {$cond: [{$eq: ['$$this.k', {$literal: %s}]}, %d, ['$$this']]}]}}}",
                          p->as, items);
}

static bool
count_odd(struct mrsi_lower *l, const struct lower_packed *p, const char *path)
{
    struct mrs_view odd = mrsi_lower_doc(l,
                                         "{$expr: {$cond: [{$isArray: %s}, {$anyElementTrue: [{$map: {input: %s, as: "
                                         "'e', in: {$not: [%d]}}}]}, false]}}",
                                         path, path, is_pair(l, p));
    return p->document ||
           mrsi_lower_count(l, l->out->on, odd, "documents with elements that are not exactly key and value");
}

const char *
mrsi_lower_unpack(struct mrsi_lower *l)
{
    struct lower_packed p;
    if (!read_packed(l, &p)) {
        return ROOM;
    }
    const char *path = mrsi_lower_path(l, p.as);
    struct mrs_view fields = opened(l, &p, path), open = is_open(l, &p, path);
    struct mrs_view other = mrsi_lower_doc(l,
                                           "{$expr: {$not: [{$or: [%d, {$in: [{$type: %s}, ['missing', 'null']]}]}]}}",
                                           open, path);
    bool room = mrsi_lower_count(l, l->out->on, other, p.document ? "documents where it is no document"
                                                                  : "documents where it is no array") &&
                count_odd(l, &p, path);
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$match: {$expr: %d}}", open);
    mrsi_lower_stage(l, "{$project: {_id: 1, n: {$map: {input: %d, as: 'f', in: '$$f.k'}}}}", fields);
    mrsi_lower_stage(l, "{$match: {$expr: {$ne: [{$size: '$n'}, {$size: {$setUnion: ['$n', []]}}]}}}");
    room = room && mrsi_lower_count_stages(l, l->out->on, "documents that would hold a name twice");
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$match: {$expr: %d}}", open);
    mrsi_lower_stage(l, "{$replaceWith: {$arrayToObject: %d}}", fields);
    return room && mrsi_lower_write(l, l->out->on, NULL) ? NULL : MRSI_LOWER_MANY;
}
