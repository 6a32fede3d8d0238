/* SPDX-License-Identifier: Apache-2.0 */
/* query_compile.c - compiles the BSON of a filter to a tree of predicates: fields, paths, and logical operators.
 *
 * The tree is built in the arena of the query from a copy of the filter, so names and values are pointers into that
 * copy. Recursion follows the filter and is bounded. */
#include "query_build.h"

enum { QUERY_PARTS_MAX = 200 };

void *
mrsi_query_room(struct mrsi_query_builder *b, size_t n, struct mrs_err *e)
{
    void *p = mrs_arena_alloc(&b->q->arena, n ? n : 1);
    if (!p) {
        mrs_err_memory(e, n);
        return NULL;
    }
    memset(p, 0, n);
    return p;
}

struct mrsi_query_node *
mrsi_query_new(struct mrsi_query_builder *b, enum mrsi_query_kind kind,
               const struct mrsi_query_path *path, struct mrs_err *e)
{
    struct mrsi_query_node *n = mrsi_query_room(b, sizeof *n, e);
    if (n) {
        n->kind = kind;
        n->path = path;
    }
    return n;
}

/* A node of this kind over n kids. */
enum mrs_status
mrsi_query_tree(struct mrsi_query_builder *b, enum mrsi_query_kind kind, uint32_t n,
                struct mrsi_query_node **out, struct mrs_err *e)
{
    MRS_ASSERT(out);
    *out = mrsi_query_new(b, kind, NULL, e);
    if (!*out) {
        return MRS_DEAD;
    }
    (*out)->kid = mrsi_query_room(b, n * sizeof(struct mrsi_query_node *), e);
    return (*out)->kid ? MRS_OK : MRS_DEAD;
}

void
mrsi_query_own(struct mrsi_query_builder *b, struct mrsi_query_node *n)
{
    MRS_ASSERT(!n->next_owned);
    n->next_owned = b->q->owned;
    b->q->owned = n;
}

bool
mrsi_query_first(struct mrs_val v, struct mrs_elem *el)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_walk w;
    if (v.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    return mrs_walk_next(&w, el) > 0;
}

/* A document of operators: its first name has a dollar, and it is no DBRef. */
bool
mrsi_query_is_ops(struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_elem el, id;
    if (!mrsi_query_first(v, &el) || el.name[0] != '$') {
        return false;
    }
    return !(mrs_doc_find(mrs_val_view(v), "$ref", 4, &el) &&
             mrs_doc_find(mrs_val_view(v), "$id", 3, &id));
}

const struct mrs_op_row mrsi_query_rows[] = {
    {"$all", "query", ""},        {"$and", "query", ""},          {"$bitsAllClear", "query", ""},
    {"$bitsAllSet", "query", ""}, {"$bitsAnyClear", "query", ""}, {"$bitsAnySet", "query", ""},
    {"$comment", "query", ""},    {"$elemMatch", "query", ""},    {"$eq", "query", ""},
    {"$exists", "query", ""},     {"$expr", "query", ""},         {"$gt", "query", ""},
    {"$gte", "query", ""},        {"$in", "query", ""},           {"$lt", "query", ""},
    {"$lte", "query", ""},        {"$mod", "query", ""},          {"$ne", "query", ""},
    {"$nin", "query", ""},        {"$nor", "query", ""},          {"$not", "query", ""},
    {"$options", "query", ""},    {"$or", "query", ""},           {"$regex", "query", ""},
    {"$size", "query", ""},       {"$type", "query", ""},         {NULL, NULL, NULL},
};

/* ---- paths ---- */

static int64_t
index_of(const char *p, uint32_t n)
{
    MRS_ASSERT(p || n == 0);
    int64_t v = 0;
    if (!n || n > 9 || (n > 1 && p[0] == '0')) {
        return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') {
            return -1;
        }
        v = v * 10 + p[i] - '0';
    }
    return v;
}

static enum mrs_status
new_path(struct mrsi_query_builder *b, const char *text, uint32_t n,
         const struct mrsi_query_path **out, struct mrs_err *e)
{
    MRS_ASSERT(text || n == 0);
    size_t before = strlen(b->prefix);
    struct mrsi_query_path *path = mrsi_query_room(b, sizeof *path, e);
    char *whole = path ? mrsi_query_room(b, before + n + 2, e) : NULL;
    if (!whole) {
        return MRS_DEAD;
    }
    memcpy(whole, b->prefix, before);
    whole[before] = '.';
    char *own_text = whole + before + (before > 0);
    memcpy(own_text, text, n);
    own_text[n] = 0;
    path->text = whole;
    path->n = 1;
    for (uint32_t i = 0; i < n; i++) {
        path->n += text[i] == '.';
    }
    if (path->n > QUERY_PARTS_MAX) {
        return REFUSE(e, "the path '%.100s' has more than %d parts", own_text, QUERY_PARTS_MAX);
    }
    path->part = mrsi_query_room(b, path->n * sizeof *path->part, e);
    if (!path->part) {
        return MRS_DEAD;
    }
    const char *at = own_text;
    for (uint32_t i = 0; i < path->n; i++) {
        const char *dot = strchr(at, '.');
        uint32_t len = dot ? (uint32_t)(dot - at) : (uint32_t)strlen(at);
        path->part[i] = (struct mrsi_query_part){at, len, index_of(at, len)};
        at += len + 1;
    }
    *out = path;
    return MRS_OK;
}

/* ---- the filter ---- */

static enum mrs_status
build_list(struct mrsi_query_builder *b, enum mrsi_query_kind kind, const struct mrs_elem *el,
           struct mrsi_query_node **out, struct mrs_err *e)
{
    MRS_ASSERT(el->v.type != MRS_MISSING);
    struct mrs_walk w;
    struct mrs_elem item;
    uint32_t n = el->v.type == MRS_ARRAY ? mrs_val_count(el->v) : 0;
    if (!n) {
        return REFUSE(e, "%s needs an array of filters that is not empty", el->name);
    }
    MRS_TRY(mrsi_query_tree(b, kind, n, out, e));
    mrs_walk_init(&w, mrs_val_view(el->v));
    while (mrs_walk_next(&w, &item) > 0) {
        if (item.v.type != MRS_DOCUMENT) {
            return REFUSE(e, "%s holds something that is no filter", el->name);
        }
        MRS_TRY(mrsi_query_filter(b, mrs_val_view(item.v), &(*out)->kid[(*out)->n_kids], e));
        (*out)->n_kids++;
    }
    return MRS_OK;
}

static enum mrs_status
build_expr(struct mrsi_query_builder *b, struct mrs_val v, struct mrsi_query_node **out,
           struct mrs_err *e)
{
    if (b->in_elem) {
        return REFUSE(e, "$expr is not allowed inside $elemMatch");
    }
    *out = mrsi_query_new(b, Q_EXPR, NULL, e);
    if (!*out) {
        return MRS_DEAD;
    }
    MRS_TRY(mrs_expr_compile(b->env, v, &(*out)->expr, e));
    mrsi_query_own(b, *out);
    return MRS_OK;
}

static enum mrs_status
build_field(struct mrsi_query_builder *b, const struct mrs_elem *el, struct mrsi_query_node **out,
            struct mrs_err *e)
{
    const struct mrsi_query_path *path = NULL;
    MRS_TRY(new_path(b, el->name, el->name_len, &path, e));
    if (mrsi_query_is_ops(el->v)) {
        return mrsi_query_ops(b, path, mrs_val_view(el->v), out, e);
    }
    return mrsi_query_equals(b, path, el->v, out, e);
}

/* One entry of a filter; *out NULL: no condition ($comment). */
static enum mrs_status
build_entry(struct mrsi_query_builder *b, const struct mrs_elem *el, struct mrsi_query_node **out,
            struct mrs_err *e)
{
    *out = NULL;
    if (el->name[0] != '$') {
        return build_field(b, el, out, e);
    }
    if (mrs_name_is(el, "$and", 4)) {
        return build_list(b, Q_AND, el, out, e);
    }
    if (mrs_name_is(el, "$or", 3)) {
        return build_list(b, Q_OR, el, out, e);
    }
    if (mrs_name_is(el, "$nor", 4)) {
        return build_list(b, Q_NOR, el, out, e);
    }
    if (mrs_name_is(el, "$expr", 5)) {
        return build_expr(b, el->v, out, e);
    }
    if (mrs_name_is(el, "$comment", 8)) {
        return MRS_OK;
    }
    /* inside $elemMatch a DBRef's own fields may be tested */
    bool dbref = b->in_elem && (mrs_name_is(el, "$ref", 4) || mrs_name_is(el, "$id", 3) ||
                                mrs_name_is(el, "$db", 3));
    return dbref ? build_field(b, el, out, e) : mrsi_query_unknown(el, true, e);
}

enum mrs_status
mrsi_query_filter(struct mrsi_query_builder *b, struct mrs_view filter,
                  struct mrsi_query_node **out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(filter));
    MRS_ASSERT(b->depth >= 0);
    struct mrs_walk w;
    struct mrs_elem el;
    if (b->depth >= MRSI_QUERY_DEPTH_MAX) {
        return REFUSE(e, "the filter is nested too deeply");
    }
    MRS_TRY(mrsi_query_tree(b, Q_AND, mrs_doc_count(filter), out, e));
    b->depth++;
    mrs_walk_init(&w, filter);
    while (mrs_walk_next(&w, &el) > 0) {
        struct mrsi_query_node *kid;
        enum mrs_status s = build_entry(b, &el, &kid, e);
        if (s != MRS_OK) {
            mrs_err_at(e, "%.60s", el.name);
            return s;
        }
        if (kid) {
            (*out)->kid[(*out)->n_kids++] = kid;
        }
    }
    b->depth--;
    return MRS_OK;
}

enum mrs_status
mrsi_query_build(const struct mrs_expr_env *env, struct mrs_query *q, struct mrs_view filter,
                 struct mrs_err *e)
{
    struct mrsi_query_builder b = {.env = env, .q = q, .prefix = ""};
    return mrsi_query_filter(&b, filter, &q->root, e);
}
