/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - a workbench for the tests of common/expr: expressions and documents as JSON text, single quotes for
 * double ones. */
#ifndef EXPR_BENCH_H
#define EXPR_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mongoreshape/expr.h"
#include "mongoreshape/value.h"

#include <bson/bson.h>

#define BENCH_NOW 1700000000000

struct bench {
    struct mrs_mem *mem;
    struct mrs_arena arena;
    struct mrs_err err;
    struct mrs_expr_env env;
    struct mrs_eval ev;
    struct mrs_expr *x;
    bson_t *spec, *doc;
};

static inline bson_t *
bench_json(const char *text)
{
    static char copy[70000];
    bson_error_t error;
    size_t n = strlen(text);
    assert_true(n < sizeof copy);
    for (size_t i = 0; i < n; i++) {
        copy[i] = text[i] == '\'' ? '"' : text[i];
    }
    bson_t *b = bson_new_from_json((const uint8_t *)copy, (ssize_t)n, &error);
    if (!b) {
        fail_msg("%s: %s", text, error.message);
    }
    return b;
}

static inline struct mrs_view
bench_view(const bson_t *b)
{
    struct mrs_view d = {bson_get_data(b), b->len};
    return d;
}

/* fail_at as in mrs_mem_new. */
static inline void
bench_open(struct bench *b, uint64_t fail_at)
{
    memset(b, 0, sizeof *b);
    b->mem = mrs_mem_new(fail_at);
    assert_non_null(b->mem);
    mrs_arena_init(&b->arena, b->mem);
    mrs_err_clear(&b->err);
    b->env.mem = b->mem;
    b->env.now_ms = BENCH_NOW;
    b->ev.arena = &b->arena;
    b->ev.err = &b->err;
    b->ev.root = mrs_empty_doc();
}

/* Nothing may be live afterwards. */
static inline void
bench_close(struct bench *b)
{
    mrs_expr_free(b->x);
    mrs_arena_clear(&b->arena);
    if (b->spec) {
        bson_destroy(b->spec);
    }
    if (b->doc) {
        bson_destroy(b->doc);
    }
    assert_int_equal(mrs_mem_close(b->mem), 0);
}

/* Compiles the value of the field `e` of {'e': <expression>}. */
static inline enum mrs_status
bench_compile(struct bench *b, const char *expression)
{
    static char text[70000];
    snprintf(text, sizeof text, "{'e': %s}", expression);
    mrs_expr_free(b->x);
    b->x = NULL;
    if (b->spec) {
        bson_destroy(b->spec);
    }
    mrs_err_clear(&b->err);
    b->spec = bench_json(text);
    return mrs_expr_compile(&b->env, mrs_doc_get(bench_view(b->spec), "e"), &b->x, &b->err);
}

static inline void
bench_doc(struct bench *b, const char *doc)
{
    if (b->doc) {
        bson_destroy(b->doc);
    }
    b->doc = bench_json(doc);
    b->ev.root = bench_view(b->doc);
}

/* The value of an expression on a document must be what {'e': want} holds, byte for byte; NULL: missing. */
static inline void
bench_is(struct bench *b, const char *expression, const char *doc, const char *want)
{
    struct mrs_val got = mrs_missing(), expected = mrs_missing();
    bson_t *w = NULL;
    bench_doc(b, doc);
    if (bench_compile(b, expression) != MRS_OK || mrs_expr_eval(b->x, &b->ev, &got) != MRS_OK) {
        fail_msg("%s on %s: %s", expression, doc, b->err.msg);
    }
    if (want) {
        static char text[70000];
        snprintf(text, sizeof text, "{'e': %s}", want);
        w = bench_json(text);
        expected = mrs_doc_get(bench_view(w), "e");
    }
    if (!mrs_identical(got, expected)) {
        fail_msg("%s on %s: not %s (type %s)", expression, doc, want ? want : "missing", mrs_type_name(got.type));
    }
    if (w) {
        bson_destroy(w);
    }
}

/* The expression must be refused when it is compiled, with `words` in the message. */
static inline void
bench_refused(struct bench *b, const char *expression, const char *words)
{
    enum mrs_status s = bench_compile(b, expression);
    if (s != MRS_FAIL || !strstr(b->err.msg, words)) {
        fail_msg("%s: status %d, message '%s' without '%s'", expression, s, b->err.msg, words);
    }
    assert_null(b->x);
}

#endif
