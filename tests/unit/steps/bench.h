/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - a step on the bench: compiled from a text, run on texts, its outcome as one text.
 *
 * Cases are rows of texts, so that adding one is adding a line. Single quotes stand for double ones everywhere. */
#ifndef BENCH_H
#define BENCH_H

#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mongoreshape/ejson.h"
#include "mongoreshape/step.h"

#define BENCH_TEXT 65536

static inline void
bench_quotes(const char *in, char *out)
{
    size_t n = strlen(in);
    assert_true(n < BENCH_TEXT);
    for (size_t i = 0; i <= n; i++) {
        out[i] = in[i] == '\'' ? '"' : in[i];
    }
}

/* A document of a text; bytes live until free(). */
static inline uint8_t *
bench_doc(const char *text, struct mrs_view *out)
{
    static char copy[BENCH_TEXT];
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    struct mrs_err e;
    size_t used;
    bench_quotes(text, copy);
    mrs_buf_init(&b, mem, 64u << 20);
    mrs_err_clear(&e);
    if (mrs_ejson_read(copy, strlen(copy), MRS_EJSON_STRICT, &b, &used, &e) != MRS_OK) {
        fail_msg("%s: %s", text, e.msg);
    }
    uint8_t *p = malloc(b.n);
    assert_non_null(p);
    memcpy(p, b.p, b.n);
    *out = (struct mrs_view){p, (uint32_t)b.n};
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
    return p;
}

struct bench {
    struct mrs_mem *mem;
    struct mrs_arena plan; /* the plan's */
    struct mrs_arena arena;
    struct mrs_args args;
    const struct mrs_step_type *type;
    struct mrs_view body;
    uint8_t *body_bytes;
    void *state;
    void *work;
    struct mrs_layout *layout; /* not NULL: documents come with their fields, as from an engine that looks for them */
    char errors[8192]; /* "key/sub: msg\n" each, warnings with "warn " before */
    enum mrs_status status;
    struct mrs_err err;
};

static inline void
bench_add(struct bench *b, const char *what, const char *key, const char *sub, const char *msg)
{
    size_t n = strlen(b->errors);
    snprintf(b->errors + n, sizeof b->errors - n, "%s%s%s%s: %s\n", what, key ? key : "", sub ? "/" : "",
             sub ? sub : "", msg);
}

static inline void
bench_report(void *arg, const char *key, const char *sub, const char *msg)
{
    struct bench *b = arg;
    b->args.n_errors++;
    bench_add(b, "", key, sub, msg);
}

static inline void
bench_warn(void *arg, const char *key, const char *sub, const char *msg)
{
    bench_add(arg, "warn ", key, sub, msg);
}

static inline const struct mrs_step_type *
bench_type(const char *name)
{
    const struct mrs_step_type *t = mrs_step_type_find(name);
    if (!t) {
        fail_msg("no step %s", name);
    }
    return t;
}

/* Compiles a step; collections named by a string are of the database shop. */
static inline void
bench_open_type(struct bench *b, const struct mrs_step_type *type, const char *body, uint64_t fail_at)
{
    memset(b, 0, sizeof *b);
    b->type = type;
    b->body_bytes = bench_doc(body, &b->body);
    b->mem = mrs_mem_new(fail_at);
    mrs_arena_init(&b->plan, b->mem);
    mrs_arena_init(&b->arena, b->mem);
    mrs_err_clear(&b->err);
    b->args = (struct mrs_args){.mem = b->mem, .arena = &b->plan, .body = b->body, .default_db = "shop",
                                .now_ms = 1577836800000, .type = b->type, .report = bench_report, .warn = bench_warn,
                                .arg = b};
    b->status = b->type->compile(&b->args, &b->state, &b->err);
    assert_true((b->status == MRS_OK) == (b->state != NULL));
    if (b->status == MRS_FAIL) {
        assert_int_equal(b->err.code, MRS_E_PLAN);
    }
}

static inline void
bench_open(struct bench *b, const char *step, const char *body, uint64_t fail_at)
{
    bench_open_type(b, bench_type(step), body, fail_at);
}

/* Closes it; the number of blocks that leaked. */
static inline uint64_t
bench_close(struct bench *b)
{
    struct mrs_ctx c = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    if (b->work && b->type->work_clear) {
        b->type->work_clear(&c, b->work);
    }
    free(b->work);
    if (b->state) {
        b->type->free_state(b->mem, b->state);
    }
    mrs_arena_clear(&b->plan);
    mrs_arena_clear(&b->arena);
    free(b->body_bytes);
    uint64_t live = mrs_mem_live(b->mem);
    mrs_mem_close(b->mem);
    return live;
}

static inline void
bench_put_doc(char *out, struct mrs_view d, bool canonical)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf t;
    size_t n = strlen(out);
    mrs_buf_init(&t, mem, 64u << 20);
    mrs_ejson_write(d, canonical, &t);
    snprintf(out + n, BENCH_TEXT - n, "%.*s", (int)t.n, t.p ? (const char *)t.p : "");
    mrs_buf_clear(&t);
    mrs_mem_close(mem);
}

/* What becomes of a document: "changed *0 {...} 1 {...}" (* the document itself), "refused KEY: reason", "dead". */
static inline enum mrs_status
bench_push(struct bench *b, int side, struct mrs_view doc, bool canonical, char *out)
{
    static const char *const fates[] = {"stays", "changed", "taken", "dropped", "refused"};
    const struct mrs_spread_ops *ops = b->type->spread;
    struct mrs_ctx c = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    struct mrs_eval_fields fields;
    struct mrs_product p;
    enum mrs_fate fate = MRS_FATE_REFUSED;
    if (!b->work) {
        b->work = calloc(1, b->type->work_size);
    }
    if (b->layout && mrs_doc_check_fields(doc.p, doc.n, MRS_DEPTH_READ, &fields, b->layout, NULL) == MRS_OK) {
        c.fields = &fields;
        c.fields_of = doc.p;
    }
    mrs_arena_reset(&b->arena);
    mrs_err_clear(&b->err);
    enum mrs_status s = ops->begin(b->state, &c, b->work, side, doc, &fate);
    out[0] = 0;
    if (s == MRS_SKIP) {
        assert_int_not_equal(b->err.code, MRS_E_NONE);
        snprintf(out, BENCH_TEXT, "refused %s: %s", b->err.where, b->err.msg);
        return s;
    }
    if (s != MRS_OK) {
        assert_int_equal(s, MRS_DEAD);
        assert_int_equal(b->err.code, MRS_E_MEMORY);
        strcpy(out, "dead");
        return s;
    }
    strcpy(out, fates[fate]);
    while ((s = ops->next(b->state, &c, b->work, &p)) == MRS_OK) {
        size_t n = strlen(out);
        assert_int_equal(mrs_doc_check(p.doc.p, p.doc.n, MRS_DEPTH_READ, NULL), MRS_OK);
        if (p.self && fate == MRS_FATE_STAYS) {
            assert_ptr_equal(p.doc.p, doc.p);
        }
        snprintf(out + n, BENCH_TEXT - n, " %s%d ", p.self ? "*" : "", p.side);
        bench_put_doc(out, p.doc, canonical);
    }
    assert_int_equal(s, MRS_END);
    return MRS_OK;
}

/* One case: a step, a document of one side, what becomes of it. `want` may end in "..." (a beginning is enough); with
 * `=` in front of the document all types are written out (canonical). */
struct bench_case {
    const char *step, *body;
    int side;
    const char *doc, *want;
};

static inline bool
bench_like(const char *got, const char *want)
{
    size_t n = strlen(want);
    if (n >= 3 && strcmp(want + n - 3, "...") == 0) {
        return strncmp(got, want, n - 3) == 0;
    }
    return strcmp(got, want) == 0;
}

/* Runs a case with the fail_at-th allocation failing; true when all went through. */
static inline bool
bench_one(const struct bench_case *k, uint64_t fail_at)
{
    static char got[BENCH_TEXT], want[BENCH_TEXT];
    struct mrs_layout layout = {0};
    struct bench b;
    struct mrs_view d;
    bool canonical = k->doc[0] == '=';
    uint8_t *bytes = bench_doc(k->doc + canonical, &d);
    bench_open(&b, k->step, k->body, fail_at);
    bool whole = b.status == MRS_OK;
    if (!whole && fail_at == 0) {
        fail_msg("%s %s: %s", k->step, k->body, b.errors);
    }
    if (!whole) {
        assert_int_equal(b.status, MRS_DEAD);
        assert_int_equal(b.err.code, MRS_E_MEMORY);
    }
    for (int i = 0; i < 5 && whole; i++) { /* again: the work must not remember, but for what fields are called */
        b.layout = i > 1 ? &layout : NULL;
        if (bench_push(&b, k->side, d, canonical, got) == MRS_DEAD) {
            whole = false;
            break;
        }
        bench_quotes(k->want, want);
        if (!bench_like(got, want)) {
            fail_msg("%s %s\n   of %s\n  got %s\n want %s", k->step, k->body, k->doc, got, want);
        }
    }
    free(bytes);
    assert_int_equal(bench_close(&b), 0);
    return whole;
}

static inline void
bench_cases(const struct bench_case *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(bench_one(&k[i], 0));
    }
}

/* Every allocation of every case fails once. */
static inline void
bench_torture(const struct bench_case *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t at = 1;
        while (!bench_one(&k[i], at)) {
            at++;
            assert_true(at < 5000);
        }
    }
}

/* Wrong plans: all of `want`'s lines must be reported, and nothing else ("*": anything more). */
struct bench_wrong {
    const char *step, *body, *want;
};

static inline void
bench_wrong(const struct bench_wrong *k, size_t n)
{
    static char want[BENCH_TEXT];
    for (size_t i = 0; i < n; i++) {
        struct bench b;
        bench_open(&b, k[i].step, k[i].body, 0);
        bench_quotes(k[i].want, want);
        if (!bench_like(b.errors, want)) {
            fail_msg("%s %s\n  got %s\n want %s", k[i].step, k[i].body, b.errors, want);
        }
        assert_int_equal(b.status, strncmp(want, "warn", 4) == 0 ? MRS_OK : MRS_FAIL);
        assert_int_equal(bench_close(&b), 0);
    }
}

/* ---- catalogue ---- */
struct bench_catalog {
    const char *step, *body;
    const char *const *colls; /* "name", "metadata", ..., NULL; all of the database shop */
    const char *want; /* metadata of touched collections, a line each, then "- note"; "! where: msg" for an error */
};

static inline void
bench_catalog_text(struct mrs_catalog *cat, char *out)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    mrs_buf_init(&b, mem, 64u << 20);
    for (uint32_t i = 0; i < mrs_catalog_count(cat); i++) {
        struct mrs_cat_coll *cc = mrs_catalog_at(cat, i);
        size_t n = strlen(out);
        if (!cc->exists) {
            snprintf(out + n, BENCH_TEXT - n, "gone %s\n", cc->coll.ns);
        } else if (cc->touched) {
            mrs_buf_reset(&b);
            mrs_catalog_metadata(cc, &b);
            assert_int_equal(mrs_doc_check(b.p, b.n, 200, NULL), MRS_OK);
            bench_put_doc(out, (struct mrs_view){b.p, (uint32_t)b.n}, false);
            strcat(out, "\n");
        }
    }
    for (uint32_t i = 0; i < mrs_catalog_notes(cat); i++) {
        size_t n = strlen(out);
        snprintf(out + n, BENCH_TEXT - n, "- %s\n", mrs_catalog_note_at(cat, i));
    }
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
}

static inline bool
bench_catalog_one(const struct bench_catalog *k, uint64_t fail_at)
{
    static char got[BENCH_TEXT], want[BENCH_TEXT];
    struct bench b;
    struct mrs_catalog *cat = NULL;
    bench_open(&b, k->step, k->body, fail_at);
    if (b.status == MRS_FAIL) {
        fail_msg("%s %s: %s", k->step, k->body, b.errors);
    }
    enum mrs_status s = b.status == MRS_OK ? mrs_catalog_new(b.mem, &cat, &b.err) : MRS_DEAD;
    for (const char *const *c = k->colls; *c && s == MRS_OK; c += 2) {
        struct mrs_view d;
        uint8_t *bytes = bench_doc(c[1], &d);
        s = mrs_catalog_add(cat, "shop", c[0], d, &b.err);
        free(bytes);
    }
    s = s == MRS_OK ? b.type->catalog(b.state, cat, &b.err) : s;
    got[0] = 0;
    if (s == MRS_FAIL) {
        assert_int_equal(b.err.code, MRS_E_PLAN);
        snprintf(got, sizeof got, "! %s: %s", b.err.where, b.err.msg);
    } else if (s == MRS_OK) {
        bench_catalog_text(cat, got);
    }
    bench_quotes(k->want, want);
    if (s != MRS_DEAD && !bench_like(got, want)) {
        fail_msg("%s %s\n got\n%s\n want\n%s", k->step, k->body, got, want);
    }
    if (s == MRS_DEAD) {
        assert_int_equal(b.err.code, MRS_E_MEMORY);
    }
    mrs_catalog_free(cat);
    assert_int_equal(bench_close(&b), 0);
    return s != MRS_DEAD;
}

static inline void
bench_catalogs(const struct bench_catalog *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(bench_catalog_one(&k[i], 0));
    }
}

static inline void
bench_catalog_torture(const struct bench_catalog *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t at = 1;
        while (!bench_catalog_one(&k[i], at)) {
            at++;
            assert_true(at < 5000);
        }
    }
}

/* ---- description ---- */
struct bench_telling {
    const char *step, *body;
    const char *want; /* words, then lines: "R0 path", "loss: ...", "once: ...", "side 0 shop.a RCTAM what" */
};

static inline void
bench_desc_text(const struct mrs_desc *d, char *out)
{
    size_t n = (size_t)snprintf(out, BENCH_TEXT, "%s\n", d->words);
    for (uint32_t i = 0; i < d->n_sides; i++) {
        unsigned r = d->sides[i].role;
        n += (size_t)snprintf(out + n, BENCH_TEXT - n, "side %u %s %s%s%s%s%s %s\n", i, d->sides[i].coll.ns,
                              r & 1 ? "R" : "", r & 2 ? "C" : "", r & 4 ? "T" : "", r & 8 ? "A" : "",
                              r & 16 ? "M" : "", d->sides[i].what);
    }
    for (uint32_t i = 0; i < d->n_touches; i++) {
        const struct mrs_touch *t = &d->touches[i];
        n += (size_t)snprintf(out + n, BENCH_TEXT - n, "%c%d %s\n", t->kind, t->side, t->path);
    }
    for (uint32_t i = 0; i < d->n_losses; i++) {
        n += (size_t)snprintf(out + n, BENCH_TEXT - n, "loss: %s\n", d->losses[i]);
    }
    if (d->new_ids) {
        n += (size_t)snprintf(out + n, BENCH_TEXT - n, "new ids\n");
    }
    if (!d->repeatable) {
        snprintf(out + n, BENCH_TEXT - n, "once: %s\n", d->not_repeatable);
    }
}

static inline bool
bench_tell_one(const struct bench_telling *k, uint64_t fail_at)
{
    static char got[BENCH_TEXT], want[BENCH_TEXT];
    struct bench b;
    struct mrs_desc d;
    bench_open(&b, k->step, k->body, fail_at);
    if (b.status == MRS_FAIL) {
        fail_msg("%s %s: %s", k->step, k->body, b.errors);
    }
    enum mrs_status s = b.status == MRS_OK ? b.type->describe(b.state, &b.plan, &d, &b.err) : MRS_DEAD;
    if (s == MRS_OK) {
        bench_desc_text(&d, got);
        bench_quotes(k->want, want);
        if (!bench_like(got, want)) {
            fail_msg("%s %s\n got\n%s\n want\n%s", k->step, k->body, got, want);
        }
    }
    assert_int_equal(bench_close(&b), 0);
    return s == MRS_OK;
}

static inline void
bench_tells(const struct bench_telling *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(bench_tell_one(&k[i], 0));
        for (uint64_t at = 1; !bench_tell_one(&k[i], at); at++) {
            assert_true(at < 5000);
        }
    }
}

#define BENCH_N(rows) (sizeof(rows) / sizeof *(rows))
/* A test of the name `test` that hands a table of rows to one of the functions above. */
#define BENCH_ROWS(test, run, rows)                                                                                    \
    static void test(void **arg)                                                                                       \
    {                                                                                                                  \
        (void)arg;                                                                                                     \
        run(rows, BENCH_N(rows));                                                                                      \
    }

#endif
