/* SPDX-License-Identifier: Apache-2.0 */
/* falsified.c - does a step that reads what it writes make its own `where` false?
 *
 * Each condition is evaluated on a document of the constants that the step writes; what a written document lacks is
 * missing there. A condition on a field's type is evaluated on one sample for each type that the written value can
 * have; of an `$expr` it is known which types it excludes. If the result is unknown, the document counts as matching
 * again. */
#include "falsified.h"
#include "mongoreshape/context.h"

/* Only out of memory is an error; anything else that fails is unknown. */
static enum mrs_status
ok(struct mrsi_read *r, enum mrs_status st)
{
    if (st == MRS_DEAD) {
        r->status = mrs_err_memory(r->err, 0);
    }
    return st;
}

/* ---- constants ---- */
/* Can a condition rely on the constant? Not on arrays, whose elements a query also sees, nor on null, which equals
 * missing. */
static bool
counts(const struct mrsi_written *f)
{
    bool scalar = !mrs_is_nullish(f->v) && f->v.type != MRS_ARRAY && f->v.type != MRS_DOCUMENT;
    return f->constant && !strchr(f->path, '.') && (scalar || f->v.type == MRS_MISSING);
}

/* Is the document that is written known to lack what a path names in it? rest: the path behind the field's name. */
static bool
lacks(const struct mrsi_written *f, const char *rest)
{
    size_t n = *rest == '.' ? strcspn(++rest, ".") : 0;
    struct mrs_expr_field field;
    bool none = n && f->doc;
    for (uint32_t i = 0; none && mrs_expr_field(f->doc, i, &field); i++) {
        none = strlen(field.name) != n || memcmp(field.name, rest, n) != 0;
    }
    return none;
}

struct falsified_query {
    const struct mrsi_writes *w;
    bool outside; /* the condition reads an unknown field */
};

static void
see_read(void *arg, const char *path)
{
    struct falsified_query *a = arg;
    size_t n = strcspn(path, ".");
    bool known = a->w->whole && n && !(n == 3 && memcmp(path, "_id", 3) == 0);
    for (uint32_t i = 0; i < a->w->n; i++) {
        const struct mrsi_written *f = &a->w->item[i];
        if (strcspn(f->path, ".") == n && memcmp(f->path, path, n) == 0) {
            known = counts(f) || (!strchr(f->path, '.') && lacks(f, path + n)); /* both read as missing */
        }
    }
    a->outside = a->outside || !known;
}

static bool
constant_fails(struct mrsi_read *r, const struct mrsi_writes *w, struct mrs_view cond, struct mrs_view constants)
{
    MRS_ASSERT(mrs_view_is_framed(cond) && mrs_view_is_framed(constants));
    struct mrs_expr_env env = {
        .mem = r->args->mem, .now_ms = r->args->now_ms, .server_8_2 = r->args->server_8_2};
    struct mrs_query *q = NULL;
    struct falsified_query a = {w, false};
    bool yes = true;
    if (ok(r, mrs_query_compile(&env, cond, &q, NULL)) != MRS_OK) {
        return false;
    }
    mrs_query_reads(q, see_read, &a);
    struct mrs_eval ev = {.arena = r->args->arena, .root = constants};
    bool known = !a.outside && ok(r, mrs_query_match(q, &ev, &yes)) == MRS_OK;
    mrs_query_free(q);
    return known && !yes;
}

static enum mrs_status
constants_of(const struct mrsi_writes *w, struct mrs_buf *buf, struct mrs_view *out)
{
    struct mrs_build b;
    mrs_build_init(&b, buf);
    for (uint32_t i = 0; i < w->n; i++) {
        if (counts(&w->item[i])) {
            mrs_build_val(&b, w->item[i].path, (uint32_t)strlen(w->item[i].path), w->item[i].v);
        }
    }
    return mrs_build_finish(&b, out, NULL);
}

/* ---- types ---- */
static const uint8_t TEXT[] = {1, 0, 0, 0, 0}, EMPTY[] = {5, 0, 0, 0, 0}, ZERO[16] = {0},
                     POINTER[17] = {1}, SCOPE[] = {14, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0};
static const struct mrs_val SAMPLES[] = {
    {ZERO, 8, MRS_DOUBLE},    {TEXT, 5, MRS_STRING},      {EMPTY, 5, MRS_DOCUMENT}, {EMPTY, 5, MRS_ARRAY},
    {ZERO, 5, MRS_BINARY},    {NULL, 0, MRS_UNDEFINED},   {ZERO, 12, MRS_OBJECTID}, {ZERO, 1, MRS_BOOL},
    {ZERO, 8, MRS_DATE},      {NULL, 0, MRS_NULL},        {ZERO, 2, MRS_REGEX},     {POINTER, 17, MRS_DBPOINTER},
    {TEXT, 5, MRS_CODE},      {TEXT, 5, MRS_SYMBOL},      {SCOPE, 14, MRS_CODE_W_SCOPE}, {ZERO, 4, MRS_INT32},
    {ZERO, 8, MRS_TIMESTAMP}, {ZERO, 8, MRS_INT64},       {ZERO, 16, MRS_DECIMAL128}, {NULL, 0, MRS_MAXKEY},
    {NULL, 0, MRS_MINKEY},    {NULL, 0, MRS_MISSING},
};
#define N_SAMPLES (sizeof SAMPLES / sizeof *SAMPLES)

/* Opens documents for all names but the last; returns the last. */
static const char *
open_parents(struct mrs_build *b, const char *path, uint32_t *depth)
{
    const char *dot;
    for (*depth = 0; (dot = strchr(path, '.')); ++*depth, path = dot + 1) {
        mrs_build_open(b, path, (uint32_t)(dot - path), MRS_DOCUMENT);
    }
    return path;
}

/* A document with v at the path; items: v is an array with one element of each of these types. */
static enum mrs_status
sample_document(const char *path, struct mrs_val v, uint32_t items, struct mrs_buf *buf, struct mrs_view *out)
{
    MRS_ASSERT(path && mrs_val_is_sized(v));
    struct mrs_build b;
    uint32_t depth;
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    const char *name = open_parents(&b, path, &depth);
    if (items) {
        mrs_build_open(&b, name, (uint32_t)strlen(name), MRS_ARRAY);
        for (size_t i = 0; i < N_SAMPLES; i++) {
            if (items & mrs_type_bit(SAMPLES[i].type) && SAMPLES[i].type != MRS_MISSING) {
                mrs_build_item(&b, SAMPLES[i]);
            }
        }
        mrs_build_close(&b);
    } else {
        mrs_build_val(&b, name, (uint32_t)strlen(name), v);
    }
    while (depth--) {
        mrs_build_close(&b);
    }
    return mrs_build_finish(&b, out, NULL);
}

static bool
takes(struct mrsi_read *r, const struct mrs_query *q, struct mrs_view d)
{
    struct mrs_eval ev = {.arena = r->args->arena, .root = d};
    bool yes = true;
    return ok(r, mrs_query_match(q, &ev, &yes)) != MRS_OK || yes;
}

/* Does the query match no value of these types? For arrays: neither an empty one nor one with all elements. */
static bool
takes_none(struct mrsi_read *r, const struct mrs_query *q, const struct mrsi_written *f)
{
    MRS_ASSERT(f->path);
    struct mrs_buf buf;
    bool none = true;
    mrs_buf_init(&buf, r->args->mem, MRS_METADATA_MAX);
    for (size_t i = 0; i < N_SAMPLES && none; i++) {
        struct mrs_view d;
        if (!(f->types.of & mrs_type_bit(SAMPLES[i].type))) {
            continue;
        }
        none = ok(r, sample_document(f->path, SAMPLES[i], 0, &buf, &d)) == MRS_OK && !takes(r, q, d);
        if (none && SAMPLES[i].type == MRS_ARRAY && f->types.items) {
            none = ok(r, sample_document(f->path, SAMPLES[i], f->types.items, &buf, &d)) == MRS_OK && !takes(r, q, d);
        }
    }
    mrs_buf_clear(&buf);
    return none;
}

/* Does an operator read only the type of the field (for a removed field: only its existence)? */
static bool
about_types(const struct mrs_elem *op, const struct mrsi_written *f)
{
    MRS_ASSERT(f->path && op->name);
    struct mrs_walk w;
    struct mrs_elem e;
    if (strcmp(op->name, "$exists") == 0) {
        return f->types.of == mrs_type_bit(MRS_MISSING);
    }
    if (strcmp(op->name, "$not") == 0 && op->v.type == MRS_DOCUMENT) {
        mrs_walk_init(&w, mrs_val_view(op->v));
        return mrs_walk_next(&w, &e) == 1 && strcmp(e.name, "$type") == 0 && mrs_walk_next(&w, &e) != 1;
    }
    return strcmp(op->name, "$type") == 0;
}

/* One operator of a condition on the field f. */
static bool
type_fails(struct mrsi_read *r, const struct mrsi_written *f, const struct mrs_elem *op)
{
    MRS_ASSERT(f->path && op->name);
    struct mrs_expr_env env = {
        .mem = r->args->mem, .now_ms = r->args->now_ms, .server_8_2 = r->args->server_8_2};
    struct mrs_query *q = NULL;
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view cond;
    mrs_buf_init(&buf, r->args->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_open(&b, f->path, (uint32_t)strlen(f->path), MRS_DOCUMENT);
    mrs_build_elem(&b, op);
    mrs_build_close(&b);
    bool fails = ok(r, mrs_build_finish(&b, &cond, NULL)) == MRS_OK &&
                 ok(r, mrs_query_compile(&env, cond, &q, NULL)) == MRS_OK && takes_none(r, q, f);
    mrs_query_free(q);
    mrs_buf_clear(&buf);
    return fails;
}

static bool
types_fail(struct mrsi_read *r, const struct mrsi_writes *w, const struct mrs_elem *cond)
{
    struct mrs_walk walk;
    struct mrs_elem op;
    bool found = false;
    for (uint32_t i = 0; i < w->n && cond->v.type == MRS_DOCUMENT; i++) {
        if (!w->item[i].typed || strcmp(w->item[i].path, cond->name) != 0) {
            continue;
        }
        for (mrs_walk_init(&walk, mrs_val_view(cond->v)); !found && mrs_walk_next(&walk, &op) == 1;) {
            found = about_types(&op, &w->item[i]) && type_fails(r, &w->item[i], &op);
        }
    }
    return found;
}

/* Is an `$expr` false for all types that a written field can have? It may ask for the type of the value itself, where
 * `$type` of a query also accepts that of an element. */
static bool
expr_fails(struct mrsi_read *r, const struct mrsi_writes *w, const struct mrs_elem *cond)
{
    struct mrs_expr_env env = {
        .mem = r->args->mem, .now_ms = r->args->now_ms, .server_8_2 = r->args->server_8_2};
    struct mrs_expr *x = NULL;
    bool found = false;
    if (strcmp(cond->name, "$expr") != 0 || ok(r, mrs_expr_compile(&env, cond->v, &x, NULL)) != MRS_OK) {
        return false;
    }
    for (uint32_t i = 0; i < w->n && !found; i++) {
        const struct mrsi_written *f = &w->item[i];
        found = f->typed && !strchr(f->path, '.') && mrs_expr_excludes(x, f->path, f->types.of);
    }
    mrs_expr_free(x);
    return found;
}

/* ---- the conditions ---- */
static bool
any_fails(struct mrsi_read *r, const struct mrsi_writes *w, struct mrs_view where, struct mrs_view constants)
{
    MRS_ASSERT(mrs_view_is_framed(where) && mrs_view_is_framed(constants));
    struct mrs_walk walk;
    struct mrs_elem e;
    struct mrs_buf buf;
    bool found = false;
    mrs_buf_init(&buf, r->args->mem, MRS_METADATA_MAX);
    mrs_walk_init(&walk, where);
    while (!found && mrs_walk_next(&walk, &e) == 1) {
        struct mrs_build b;
        struct mrs_view one;
        mrs_buf_reset(&buf);
        mrs_build_init(&b, &buf);
        mrs_build_elem(&b, &e);
        found = ok(r, mrs_build_finish(&b, &one, NULL)) == MRS_OK && constant_fails(r, w, one, constants);
        found = found || types_fail(r, w, &e) || expr_fails(r, w, &e);
    }
    mrs_buf_clear(&buf);
    return found;
}

bool
mrsi_falsifies(struct mrsi_read *r, const struct mrsi_writes *w)
{
    struct mrs_val where = mrsi_slot(r, "where").v, list;
    struct mrs_buf buf;
    struct mrs_view constants;
    struct mrs_walk walk;
    struct mrs_elem e;
    if (where.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_buf_init(&buf, r->args->mem, MRS_METADATA_MAX);
    bool known = ok(r, constants_of(w, &buf, &constants)) == MRS_OK;
    bool found = known && any_fails(r, w, mrs_val_view(where), constants);
    list = mrs_doc_get(mrs_val_view(where), "$and");
    if (known && !found && list.type == MRS_ARRAY) {
        for (mrs_walk_init(&walk, mrs_val_view(list)); !found && mrs_walk_next(&walk, &e) == 1;) {
            found = e.v.type == MRS_DOCUMENT && any_fails(r, w, mrs_val_view(e.v), constants);
        }
    }
    mrs_buf_clear(&buf);
    return found;
}
