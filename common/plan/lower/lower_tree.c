/* SPDX-License-Identifier: Apache-2.0 */
/* lower_tree.c - converts tree to stages: ancestors by `$graphLookup`, children by `$lookup`.
 *
 * The new field is written into all documents before the old one is removed from any: a server that still reads the old
 * field finds it in all documents. A refusal affects other documents, so any error in a tree is counted and left to the
 * client. */
#include "lower.h"

#define FORMS "only parent, children, ancestors and path can be read, and written, by a server: use the client engine"
#define SAME "a form that is brought into shape, or two forms with fields of one name: use the client engine"
#define FILTER \
    "`where` of a tree by parent or children, which not every server heeds on the way up: use the client engine"
#define READS "`where` may read the field that is written: use the client engine"

enum lower_form { PARENT, CHILDREN, ANCESTORS, PATH, FORMS_KNOWN };
static const char *const form_names[FORMS_KNOWN] = {"parent", "children", "ancestors", "path"};
struct lower_tree {
    enum lower_form form, to;
    const char *old, *new;   /* names of the fields */
    const char *path;        /* "$parent" */
    const char *separator;   /* of names in a path */
    const struct mrs_coll *on;
    struct mrs_val where;
};

/* ---- reading ---- */
static bool
read_form(const struct mrsi_lower *l, const char *key, enum lower_form *form, const char **field)
{
    struct mrs_val names = mrsi_lower_key(l, "names"), v;
    uint32_t n = 0;
    for (int i = 0; i < FORMS_KNOWN; i++) {
        if (mrs_val_is_text(mrsi_lower_key(l, key), form_names[i])) {
            v = names.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(names), form_names[i]) : mrs_missing();
            *form = (enum lower_form)i;
            *field = v.type == MRS_STRING ? mrs_val_text(v, &n) : form_names[i];
            return true;
        }
    }
    return false;
}

/* Does each node have its complete list of ancestors? */
static bool
by_list(const struct lower_tree *t)
{
    return t->form == ANCESTORS || t->form == PATH;
}

static const char *
read_tree(struct mrsi_lower *l, struct lower_tree *t)
{
    t->on = l->out->on;
    t->where = mrsi_lower_key(l, "where");
    struct mrs_val separator = mrsi_lower_key(l, "separator");
    uint32_t n;
    t->separator = separator.type == MRS_STRING ? mrs_val_text(separator, &n) : ",";
    if (!read_form(l, "form", &t->form, &t->old) || !read_form(l, "to_form", &t->to, &t->new)) {
        return FORMS;
    }
    if (!mrsi_lower_plain(t->old, (uint32_t)strlen(t->old)) || !mrsi_lower_plain(t->new, (uint32_t)strlen(t->new))) {
        return MRSI_LOWER_SPECIAL_NAME;
    }
    if (t->where.type == MRS_DOCUMENT && !by_list(t)) {
        return FILTER;
    }
    if (t->where.type == MRS_DOCUMENT && memmem(t->where.p, t->where.n, t->new, strlen(t->new))) {
        return READS; /* the second pipeline would match other documents than the first */
    }
    t->path = mrsi_lower_path(l, t->old);
    return strcmp(t->old, t->new) == 0 ? SAME : NULL;
}

/* ---- ancestors ---- */
/* The ancestors in a node's own field p, as a list; for `children` its own `_id`, by which others list it. */
static struct mrs_view
own_ancestors(struct mrsi_lower *l, const struct lower_tree *t, const char *p)
{
    MRS_ASSERT(t->form < FORMS_KNOWN && p);
    switch (t->form) {
    case PARENT:
        return mrsi_lower_doc(l,
                              "{$cond: [{$or: [{$in: [{$type: %s}, ['missing', 'null']]}, {$eq: [%s, '$_id']}]}, [], "
                              "[%s]]}",
                              p, p, p);
    case CHILDREN:
        return mrsi_lower_doc(l, "{$concatArrays: [['$_id']]}");
    case ANCESTORS:
        return mrsi_lower_doc(l, "{$cond: [{$isArray: %s}, %s, []]}", p, p);
    default:
        return mrsi_lower_doc(l,
                              "{$filter: {input: {$cond: [{$eq: [{$type: %s}, 'string']}, {$split: [%s, %s]}, []]}, "
                              "as: 'i', cond: {$ne: ['$$i', '']}}}",
                              p, p, t->separator);
    }
}

/* The path of a list of names: ",a,b,". */
static struct mrs_view
path_of(struct mrsi_lower *l, const struct lower_tree *t, struct mrs_val list)
{
    return mrsi_lower_doc(l, "{$reduce: {input: %v, initialValue: %s, in: {$concat: ['$$value', '$$this', %s]}}}",
                          list, t->separator, t->separator);
}

/* "$$n.ancestors" */
static const char *
node_path(struct mrsi_lower *l, const struct lower_tree *t)
{
    MRS_ASSERT(*t->path == '$');
    size_t n = strlen(t->path);
    char *path = mrs_arena_alloc(l->arena, n + 4);
    l->failed = l->failed || !path;
    if (!path) {
        return "";
    }
    memcpy(path, "$$n.", 4);
    memcpy(path + 4, t->path + 1, n);
    return path;
}

/* The processed nodes of the list __mrs_l, in __mrs_a, unordered; bare: only their `_id`s. */
static void
put_nodes(struct mrsi_lower *l, const struct lower_tree *t, bool bare)
{
    struct mrs_view none = {NULL, 0};
    struct mrs_view match = t->where.type == MRS_DOCUMENT ? mrsi_lower_doc(l, "{$match: %v}", t->where) : none;
    struct mrs_view less = bare ? mrsi_lower_doc(l, "{$project: {_id: 1}}") : none;
    mrsi_lower_stage(l,
                     "{$lookup: {from: %s, localField: '__mrs_l', foreignField: '_id', pipeline: [%d, %d], as: "
                     "'__mrs_a'}}",
                     t->on->coll, match, less);
    mrsi_lower_stage(l, "{$set: {__mrs_a: {$cond: [{$eq: ['$__mrs_l', []]}, [], '$__mrs_a']}}}");
}

/* Stages that add to each processed node its own relations (__mrs_l), its ancestors (__mrs_a, with their distance
 * __mrs_d), and their `_id`s from the root down (__mrs_u). */
static void
put_up(struct mrsi_lower *l, const struct lower_tree *t)
{
    static const char by_depth[] =
        "{$set: {__mrs_u: {$map: {input: {$range: [{$subtract: [{$size: '$__mrs_u'}, 1]}, -1, -1]}, as: 'i', in: "
        "{$arrayElemAt: [{$map: {input: {$filter: {input: '$__mrs_u', as: 'n', cond: {$eq: ['$$n.__mrs_d', '$$i']}}}, "
        "as: 'n', in: '$$n._id'}}, 0]}}}}}";
    static const char in_order[] =
        "{$set: {__mrs_u: {$map: {input: '$__mrs_l', as: 'i', in: {$arrayElemAt: [{$map: {input: {$filter: {input: "
        "'$__mrs_a', as: 'n', cond: {$eq: ['$$n._id', '$$i']}}}, as: 'n', in: '$$n._id'}}, 0]}}}}}";
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$set: {__mrs_l: %d}}", own_ancestors(l, t, t->path));
    if (by_list(t)) {
        put_nodes(l, t, false);
        mrsi_lower_stage(l, in_order);
    } else {
        mrsi_lower_stage(l,
                         "{$graphLookup: {from: %s, startWith: '$__mrs_l', connectFromField: %s, connectToField: %s, "
                         "as: '__mrs_a', depthField: '__mrs_d'}}",
                         t->on->coll, t->form == PARENT ? t->old : "_id", t->form == CHILDREN ? t->old : "_id");
        mrsi_lower_stage(l, "{$set: {__mrs_u: {$filter: {input: '$__mrs_a', as: 'n', cond: {$ne: ['$$n._id', "
                            "'$_id']}}}}}");
        mrsi_lower_stage(l, by_depth);
    }
}

/* ---- errors of a tree ---- */
/* Counts relations of another type than the representation has. */
static struct mrs_view
wrong_type(struct mrsi_lower *l, const struct lower_tree *t)
{
    MRS_ASSERT(t->form < FORMS_KNOWN);
    const char *p = t->path;
    switch (t->form) {
    case PARENT:
        return mrsi_lower_doc(l, "{$expr: {$in: [{$type: %s}, ['array', 'undefined', 'regex']]}}", p);
    case CHILDREN:
        return mrsi_lower_doc(l, "{$expr: {$not: [{$in: [{$type: %s}, ['missing', 'array']]}]}}", p);
    case ANCESTORS:
        return mrsi_lower_doc(l, "{$expr: {$not: [{$in: [{$type: %s}, ['missing', 'null', 'array']]}]}}", p);
    default:
        return mrsi_lower_doc(l,
                              "{$expr: {$cond: [{$eq: [{$type: %s}, 'string']}, {$ne: [%d, %s]}, {$not: [{$in: "
                              "[{$type: %s}, ['missing', 'null']]}]}]}}",
                              p, path_of(l, t, mrs_view_val(own_ancestors(l, t, p))), p, p);
    }
}

/* Counts nodes whose ancestors, found by put_up, do not end at a root. */
static struct mrs_view
wrong_ancestors(struct mrsi_lower *l, const struct lower_tree *t)
{
    MRS_ASSERT(t->form < FORMS_KNOWN);
    static const char circle[] = "{$gt: [{$size: {$filter: {input: '$__mrs_a', as: 'n', cond: {$and: [{$eq: "
                                 "['$$n._id', '$_id']}, {$gt: ['$$n.__mrs_d', 0]}]}}}}, 0]}";
    static const char above[] = "{$filter: {input: '$__mrs_a', as: 'n', cond: {$eq: ['$$n._id', {$arrayElemAt: "
                                "['$__mrs_l', -1]}]}}}";
    if (t->form == PARENT) {
        return mrsi_lower_doc(l,
                              "{$expr: {$or: [%d, {$and: [{$gt: [{$size: '$__mrs_l'}, 0]}, {$eq: [{$size: "
                              "'$__mrs_a'}, 0]}]}]}}",
                              mrsi_lower_doc(l, circle));
    }
    if (t->form == CHILDREN) {
        return mrsi_lower_doc(l,
                              "{$expr: {$or: [%d, {$gt: [{$size: {$filter: {input: '$__mrs_a', as: 'n', cond: {$eq: "
                              "['$$n.__mrs_d', 0]}}}}, 1]}]}}",
                              mrsi_lower_doc(l, circle));
    }
    struct mrs_view so = mrsi_lower_doc(l, "{$eq: [{$concatArrays: [%d, ['$$n._id']]}, '$__mrs_l']}",
                                        own_ancestors(l, t, node_path(l, t)));
    return mrsi_lower_doc(l,
                          "{$expr: {$and: [{$gt: [{$size: '$__mrs_l'}, 0]}, {$or: [{$in: ['$_id', '$__mrs_l']}, {$ne: "
                          "[{$map: {input: %d, as: 'n', in: %d}}, [true]]}]}]}}",
                          mrsi_lower_doc(l, above), so);
}

/* Counts nodes that list a missing child, or one twice. */
static bool
count_lost(struct mrsi_lower *l, const struct lower_tree *t)
{
    MRS_ASSERT(t->form == CHILDREN);
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$set: {__mrs_l: {$cond: [{$isArray: %s}, %s, []]}}}", t->path, t->path);
    put_nodes(l, t, true);
    mrsi_lower_stage(l, "{$match: {$expr: {$ne: [{$size: '$__mrs_l'}, {$size: '$__mrs_a'}]}}}");
    return mrsi_lower_count_stages(l, t->on, "nodes that list a child that is not there, or one twice");
}

/* Counts ancestors whose `_id` a path cannot contain. */
static bool
count_names(struct mrsi_lower *l, const struct lower_tree *t)
{
    MRS_ASSERT(t->to == PATH);
    put_up(l, t);
    mrsi_lower_stage(l, "{$match: {$expr: {$anyElementTrue: [{$map: {input: '$__mrs_u', as: 'i', in: {$cond: [{$eq: "
                        "[{$type: '$$i'}, 'string']}, {$or: [{$eq: ['$$i', '']}, {$gte: [{$indexOfBytes: ['$$i', "
                        "%s]}, 0]}]}, true]}}}]}}}", t->separator);
    return mrsi_lower_count_stages(l, t->on, "nodes below one whose `_id` is no text, is empty or has a separator");
}

static bool
count_damage(struct mrsi_lower *l, const struct lower_tree *t)
{
    MRS_ASSERT(t->on);
    struct mrs_view there = mrsi_lower_doc(l,
                                           "{$or: [{%s: {$exists: true}}, {__mrs_l: {$exists: true}}, {__mrs_a: "
                                           "{$exists: true}}, {__mrs_u: {$exists: true}}, {__mrs_d: {$exists: true}}]}",
                                           t->new);
    bool room = mrsi_lower_count(l, t->on, there, "documents that have a field that is written already") &&
                mrsi_lower_count(l, t->on, mrsi_lower_doc(l, "{_id: null}"), "documents whose `_id` is null") &&
                mrsi_lower_count(l, t->on, wrong_type(l, t), "relations of another kind than the form has") &&
                (t->form != CHILDREN || count_lost(l, t)) && (t->to != PATH || count_names(l, t));
    put_up(l, t);
    mrsi_lower_stage(l, "{$match: %d}", wrong_ancestors(l, t));
    mrsi_lower_stage(l, "{$project: {_id: 1}}");
    return room && mrsi_lower_count_stages(l, t->on, "nodes whose way up does not end at a root, or is said otherwise "
                                                     "by others");
}

/* ---- writes ---- */
/* The children of each node, in __mrs_u, in the order of `_id`. */
static void
put_children(struct mrsi_lower *l, const struct lower_tree *t)
{
    MRS_ASSERT(t->form == PARENT || t->form == ANCESTORS || t->form == PATH);
    struct mrs_view match = {NULL, 0}, last = match;
    const char *key = "_id";
    if (t->where.type == MRS_DOCUMENT) {
        match = mrsi_lower_doc(l, "{$match: %v}", t->where);
    }
    mrsi_lower_begin(l, false);
    if (t->form == ANCESTORS) {
        last = mrsi_lower_doc(l, "{$match: {$expr: {$eq: [{$arrayElemAt: [%s, -1]}, '$$i']}}}", t->path);
    } else if (t->form == PATH) {
        key = "__mrs_l";
        mrsi_lower_stage(l,
                         "{$set: {__mrs_l: {$cond: [{$eq: [{$type: '$_id'}, 'string']}, {$concat: [{$ifNull: [%s, "
                         "%s]}, '$_id', %s]}, '']}}}",
                         t->path, t->separator, t->separator);
    }
    mrsi_lower_stage(l,
                     "{$lookup: {from: %s, localField: %s, foreignField: %s, let: {i: '$_id'}, pipeline: [%d, %d, "
                     "{$match: {$expr: {$ne: ['$_id', '$$i']}}}, {$sort: {_id: 1}}, {$project: {_id: 1}}], as: "
                     "'__mrs_a'}}",
                     t->on->coll, key, t->old, match, last);
    mrsi_lower_stage(l, "{$set: {__mrs_u: {$map: {input: '$__mrs_a', as: 'n', in: '$$n._id'}}}}");
}

/* The value of the new field, from __mrs_u. */
static struct mrs_view
new_value(struct mrsi_lower *l, const struct lower_tree *t)
{
    MRS_ASSERT(t->to < FORMS_KNOWN);
    switch (t->to) {
    case PARENT:
        return mrsi_lower_doc(l, "{$cond: [{$eq: ['$__mrs_u', []]}, null, {$arrayElemAt: ['$__mrs_u', -1]}]}");
    case PATH:
        return path_of(l, t, mrs_make_text(l->arena, "$__mrs_u", 8));
    default:
        return mrsi_lower_doc(l, "{$concatArrays: ['$__mrs_u']}");
    }
}

const char *
mrsi_lower_tree(struct mrsi_lower *l)
{
    struct lower_tree t;
    const char *why = read_tree(l, &t);
    if (why) {
        return why;
    }
    bool room = count_damage(l, &t);
    if (t.to == CHILDREN) {
        put_children(l, &t);
    } else {
        put_up(l, &t);
    }
    mrsi_lower_stage(l, "{$set: {%s: %d}}", t.new, new_value(l, &t));
    mrsi_lower_stage(l, "{$unset: ['__mrs_l', '__mrs_a', '__mrs_u']}");
    room = mrsi_lower_write(l, t.on, NULL) && room;
    mrsi_lower_begin(l, false);
    mrsi_lower_stage(l, "{$unset: [%s]}", t.old);
    l->out->whole = true;
    return mrsi_lower_write(l, t.on, NULL) && room ? NULL : MRSI_LOWER_MANY;
}
