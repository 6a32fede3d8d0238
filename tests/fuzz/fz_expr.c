/* SPDX-License-Identifier: Apache-2.0 */
/* fz_expr.c - any bytes as {doc, expr, filter, sort}: an expression, a filter and a sort key on a
 * document.
 *
 * What compiles is evaluated; nothing may crash, hang or leak. Bytes that are no BSON document are
 * not our business here (fz_bson has them), so they are dropped by the check that every reader
 * runs. */
#include "mongoreshape/expr.h"
#include "edits.h"

#define RANGE_MOST 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct mrs_view
document_at(struct mrs_view in, const char *name)
{
    struct mrs_val v = mrs_doc_get(in, name);
    return v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc();
}

static void
count_path(void *arg, const char *path)
{
    *(size_t *)arg += strlen(path);
}

/* What was said of a value before it was there must hold. */
static void
check_value(const struct mrs_expr *x, struct mrs_val v)
{
    struct mrs_types t;
    bool told = mrs_expr_types(x, &t);
    struct mrs_walk w;
    struct mrs_elem e;
    if ((v.type != MRS_MISSING && v.n > 0 && v.p == NULL) || (told && !(t.of & mrs_type_bit(v.type)))) {
        abort();
    }
    if (told && v.type == MRS_ARRAY) {
        for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &e) > 0;) {
            if (!(t.items & mrs_type_bit(e.v.type))) {
                abort();
            }
        }
    }
}

static void
try_expr(const struct mrs_expr_env *env, struct mrs_eval *ev, struct mrs_val spec)
{
    struct mrs_expr *x;
    struct mrs_val v;
    size_t paths = 0;
    mrs_err_clear(ev->err);
    if (mrs_expr_compile(env, spec, &x, ev->err) == MRS_OK) {
        struct mrs_expr_field f;
        mrs_expr_reads(x, count_path, &paths);
        for (uint32_t i = 0; mrs_expr_field(x, i, &f); i++) {
            paths += strlen(f.name);
        }
        if (mrs_expr_eval(x, ev, &v) == MRS_OK) {
            check_value(x, v);
        }
        mrs_expr_free(x);
    } else if (ev->err->code == MRS_E_NONE) {
        abort();
    }
}

static void
try_filter(const struct mrs_expr_env *env, struct mrs_eval *ev, struct mrs_view filter)
{
    struct mrs_query *q;
    size_t paths = 0;
    bool yes;
    mrs_err_clear(ev->err);
    if (mrs_query_compile(env, filter, &q, ev->err) == MRS_OK) {
        mrs_query_reads(q, count_path, &paths);
        mrs_query_match(q, ev, &yes);
        mrs_query_free(q);
    } else if (ev->err->code == MRS_E_NONE) {
        abort();
    }
}

static void
try_sort(const struct mrs_expr_env *env, struct mrs_eval *ev, struct mrs_view spec)
{
    struct mrs_sort *s;
    struct mrs_buf key;
    mrs_err_clear(ev->err);
    if (mrs_sort_compile(env, spec, false, &s, ev->err) == MRS_OK) {
        mrs_buf_init(&key, env->mem, MRS_KEY_MAX);
        mrs_sort_key(s, ev->root, &key, ev->err);
        mrs_buf_clear(&key);
        mrs_sort_free(s);
    } else if (ev->err->code == MRS_E_NONE) {
        abort();
    }
}

/* $range makes long work of few bytes, and $map or $reduce the square of it: hours that say nothing else. So where it
 * stands, numbers are small; how it takes large ones is for the unit tests. */
static bool
takes_hours(struct mrs_view in)
{
    struct edit_walk w = {.depth = 0};
    struct mrs_elem e;
    bool ranges = false, large = false;
    int closed;
    mrs_walk_init(&w.at[0], in);
    while (edit_next(&w, &e, &closed)) {
        double x = e.v.type == MRS_INT32    ? mrs_val_i32(e.v)
                   : e.v.type == MRS_INT64  ? (double)mrs_val_i64(e.v)
                   : e.v.type == MRS_DOUBLE ? mrs_val_double(e.v)
                                            : 0;
        ranges = ranges || strcmp(e.name, "$range") == 0;
        large = large || x > RANGE_MOST || x < -RANGE_MOST || e.v.type == MRS_DECIMAL128;
        edit_enter(&w, &e);
    }
    return ranges && large;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (mrs_doc_check(data, n, MRS_DEPTH_READ, NULL) != MRS_OK) {
        return 0;
    }
    struct mrs_view in = {data, mrs_le32(data)};
    if (takes_hours(in)) {
        return 0;
    }
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_expr_env env = {.mem = mem, .now_ms = 1700000000000};
    struct mrs_arena arena;
    struct mrs_err err;
    mrs_arena_init(&arena, mem);
    struct mrs_eval ev = {.arena = &arena, .root = document_at(in, "doc"), .err = &err};
    try_expr(&env, &ev, mrs_doc_get(in, "expr"));
    try_filter(&env, &ev, document_at(in, "filter"));
    try_sort(&env, &ev, document_at(in, "sort"));
    mrs_arena_clear(&arena);
    if (mrs_mem_close(mem) != 0) {
        abort();
    }
    return 0;
}
