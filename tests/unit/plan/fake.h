/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h - a step table of four made-up steps, so that the tests of common/plan depend on no real
 * one.
 *
 * The table is found before the real one because the linker takes what the program defines itself.
 * State is a copy of the body that the step was given, so that a test can look at it. */
#ifndef FAKE_H
#define FAKE_H

#include "mongoreshape/catalogue.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

struct fake_state {
    struct mrs_mem *mem;
    struct mrs_view body;
    struct mrs_side side[2];
    uint8_t bytes[];
};

static const struct mrs_key join_keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "what is put in, as in `from: comments`"},
    {"into", MRS_ARG_COLL, true, NULL, "what receives"},
    {"match", MRS_ARG_MATCH, true, NULL, "parent reference, as in { postId: _id }"},
    {"as", MRS_ARG_PATH, true, NULL, "where the result goes"},
    {"one", MRS_ARG_BOOL, false, NULL, "a single subdocument"},
    {"fields", MRS_ARG_FIELDS, false, NULL, "shape of each copy"},
    {"sort", MRS_ARG_SORT, false, NULL, "as in { createdAt: -1 }"},
    {"limit", MRS_ARG_COUNT, false, NULL, "at most so many per parent, as in `limit: 50`"},
    {"overflow", MRS_ARG_MAP, false, NULL, NULL},
    {"keep", MRS_ARG_CHOICE, false, "unmatched|all|none", NULL},
    {"where", MRS_ARG_QUERY, false, NULL, NULL},
    {"orphans", MRS_ARG_CHOICE_OR_COLL, false, "keep|drop|refuse", NULL},
    {"errors", MRS_ARG_CHOICE, false, "refuse|keep|null|drop", NULL},
};
static const struct mrs_key set_keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, NULL},      {"fields", MRS_ARG_FIELDS, true, NULL, NULL},
    {"where", MRS_ARG_QUERY, false, NULL, NULL}, {"value", MRS_ARG_EXPR, false, NULL, NULL},
    {"tag", MRS_ARG_NAME, false, NULL, NULL},    {"text", MRS_ARG_TEXT, false, NULL, NULL},
    {"paths", MRS_ARG_PATHS, false, NULL, NULL}, {"list", MRS_ARG_LIST, false, NULL, NULL},
};
static const struct mrs_key union_keys[] = {
    {"from", MRS_ARG_COLLS, true, NULL, NULL},
    {"into", MRS_ARG_COLL, true, NULL, NULL},
};
static const struct mrs_key grown_keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, NULL},
    {"most", MRS_ARG_COUNT, false, NULL, NULL},
};
static const struct mrs_key drop_keys[] = {{"in", MRS_ARG_COLL, true, NULL, NULL}};

static enum mrs_status
fake_compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    (void)e;
    *state = NULL;
    struct mrs_val match = mrs_doc_get(args->body, "match"),
                   limit = mrs_doc_get(args->body, "limit");
    if (match.type == MRS_DOCUMENT &&
        mrs_doc_get(mrs_val_view(match), "wrong").type != MRS_MISSING) {
        args->report(args->arg, "match", "wrong", "no such path");
    }
    if (limit.type == MRS_INT32 && mrs_val_i32(limit) == 13) {
        args->report(args->arg, "limit", NULL, "13 is unlucky");
        args->report(args->arg, NULL, NULL, "the step is unlucky");
    }
    if (mrs_doc_get(args->body, "one").type != MRS_MISSING) {
        args->warn(args->arg, "one", NULL, "one is lonely");
    }
    if (args->n_errors) {
        return MRS_FAIL;
    }
    struct fake_state *s = mrs_alloc(args->mem, sizeof *s + args->body.n);
    if (!s) {
        return MRS_DEAD;
    }
    memset(s, 0, sizeof *s);
    s->mem = args->mem;
    memcpy(s->bytes, args->body.p, args->body.n);
    s->body = (struct mrs_view){s->bytes, args->body.n};
    *state = s;
    return MRS_OK;
}

__attribute__((unused)) static void
fake_free(struct mrs_mem *mem, void *state)
{
    mrs_free(mem, state);
}

static const char *
fake_text(struct mrs_view body, const char *key)
{
    struct mrs_val v = mrs_doc_get(body, key);
    return v.type == MRS_STRING ? (const char *)v.p + 4 : "elsewhere";
}

static enum mrs_status
describe_two(const void *state, enum mrs_family family, const char *first, unsigned first_role,
             const char *second, unsigned second_role, struct mrs_arena *arena,
             struct mrs_desc *out)
{
    const struct fake_state *s = state;
    struct mrs_side *side = mrs_arena_alloc(arena, 2 * sizeof *side);
    static const struct mrs_touch touches[] = {{0, 'R', "postId"}, {0, 'D', ""}};
    static const char *const losses[] = {"the order of things"};
    if (!side) {
        return MRS_DEAD;
    }
    memset(side, 0, 2 * sizeof *side);
    side[0] = (struct mrs_side){
        {"d", fake_text(s->body, first), fake_text(s->body, first)}, first_role, first};
    out->n_sides = 1;
    if (second) {
        side[1] = (struct mrs_side){
            {"d", fake_text(s->body, second), fake_text(s->body, second)}, second_role, second};
        out->n_sides = 2;
    }
    out->family = family;
    out->sides = side;
    out->touches = touches;
    out->n_touches = 2;
    out->losses = losses;
    out->n_losses = 1;
    out->words = "does what it does";
    out->repeatable = family == MRS_FAMILY_MAP;
    out->not_repeatable = "it is a fake";
    return MRS_OK;
}

static enum mrs_status
join_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    (void)e;
    return describe_two(state, MRS_FAMILY_JOIN, "from",
                        MRS_ROLE_READ | MRS_ROLE_TAKE | MRS_ROLE_MAIN, "into",
                        MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN, arena, out);
}

static enum mrs_status
set_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    (void)e;
    return describe_two(state, MRS_FAMILY_MAP, "in",
                        MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN, NULL, 0, arena, out);
}

static enum mrs_status
union_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    (void)e;
    return describe_two(state, MRS_FAMILY_SPREAD, "from",
                        MRS_ROLE_READ | MRS_ROLE_TAKE | MRS_ROLE_MAIN, "into", MRS_ROLE_ADD, arena,
                        out);
}

static enum mrs_status
drop_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    (void)e;
    return describe_two(state, MRS_FAMILY_CATALOG, "in", MRS_ROLE_TAKE, NULL, 0, arena, out);
}

/* Fails where a collection is called "missing"; else leaves a note. */
static enum mrs_status
fake_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct fake_state *s = state;
    if (strcmp(fake_text(s->body, "from"), "missing") == 0) {
        mrs_err_at(e, "from");
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "collection missing is not there");
    }
    if (strcmp(fake_text(s->body, "in"), "missing") == 0) {
        mrs_err_at(e, "in");
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "collection missing is not there");
    }
    mrs_catalog_note(cat, "looked at %s", fake_text(s->body, "into"));
    return MRS_OK;
}

static const struct mrs_step_type fake_types[] = {
    {.name = "embed", .summary = "", .keys = join_keys, .n_keys = sizeof join_keys / sizeof *join_keys,
     .compile = fake_compile, .free_state = fake_free, .describe = join_describe, .catalog = fake_catalog},
    {.name = "set", .summary = "", .keys = set_keys, .n_keys = sizeof set_keys / sizeof *set_keys,
     .compile = fake_compile, .free_state = fake_free, .describe = set_describe, .catalog = fake_catalog},
    {.name = "union", .summary = "", .keys = union_keys, .n_keys = 2, .compile = fake_compile,
     .free_state = fake_free, .describe = union_describe, .catalog = fake_catalog},
    {.name = "drop_collection", .summary = "", .keys = drop_keys, .n_keys = 1, .compile = fake_compile,
     .free_state = fake_free, .describe = drop_describe, .catalog = fake_catalog},
    {.name = "later", .since = 2, .summary = "", .keys = drop_keys, .n_keys = 1, .compile = fake_compile,
     .free_state = fake_free, .describe = drop_describe, .catalog = fake_catalog},
    {.name = "grown", .since_2 = "least|most", .summary = "", .keys = grown_keys, .n_keys = 2, .compile = fake_compile,
     .free_state = fake_free, .describe = drop_describe, .catalog = fake_catalog},
};
#define N_FAKES (sizeof fake_types / sizeof *fake_types)

const struct mrs_step_type *
mrs_step_type_at(uint32_t i)
{
    return i < N_FAKES ? &fake_types[i] : NULL;
}

const struct mrs_step_type *
mrs_step_type_find(const char *name)
{
    for (size_t i = 0; i < N_FAKES; i++) {
        if (strcmp(fake_types[i].name, name) == 0) {
            return &fake_types[i];
        }
    }
    return NULL;
}

/* ---- loading in tests ---- */
struct at {
    uint32_t line, col;
    const char *part; /* of the message */
};

static struct mrs_plan_opts fake_opts = {.file = "p.yaml", .default_db = "d"};

__attribute__((unused)) static struct mrs_plan *
load_n(struct mrs_mem *mem, const char *text, size_t n, enum mrs_status expected)
{
    struct mrs_plan *p = NULL;
    struct mrs_err e;
    mrs_err_clear(&e);
    enum mrs_status s = mrs_plan_load(mem, text, n, &fake_opts, &p, &e);
    assert_non_null(p);
    if (s != expected) {
        for (uint32_t i = 0; i < p->n_errors + p->n_warnings; i++) {
            print_error("%u:%u: %s\n", p->errors[i].line, p->errors[i].col, p->errors[i].msg);
        }
    }
    assert_int_equal(s, expected);
    assert_int_equal(e.code, s == MRS_OK ? MRS_E_NONE : MRS_E_PLAN);
    return p;
}

__attribute__((unused)) static void
close_plan(struct mrs_mem *mem, struct mrs_plan *p)
{
    mrs_plan_free(p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* The plan has exactly these errors and warnings, in this order. */
__attribute__((unused)) static void
expect_n(const char *text, size_t n, const struct at *want, uint32_t n_want)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, text, n, MRS_FAIL);
    uint32_t got = p->n_errors + p->n_warnings;
    bool same = got == n_want;
    for (uint32_t i = 0; i < n_want && same; i++) {
        same = p->errors[i].line == want[i].line && p->errors[i].col == want[i].col &&
               strstr(p->errors[i].msg, want[i].part);
    }
    if (!same) {
        print_error("for the plan\n%.500s\n", text);
        for (uint32_t i = 0; i < n_want; i++) {
            print_error("wanted %u:%u: %s\n", want[i].line, want[i].col, want[i].part);
        }
        for (uint32_t i = 0; i < got; i++) {
            print_error("got    %u:%u: %s\n", p->errors[i].line, p->errors[i].col,
                        p->errors[i].msg);
        }
    }
    assert_true(same);
    close_plan(mem, p);
}
#define EXPECT(text, ...)                                                                          \
    do {                                                                                           \
        const struct at want[] = {__VA_ARGS__};                                                    \
        expect_n(text, strlen(text), want, sizeof want / sizeof *want);                            \
    } while (0)

/* `fields` of the first step of a plan made of one `set`, as relaxed or canonical Extended JSON. */
__attribute__((unused)) static void
is_value(const char *yaml, bool canonical, const char *json)
{
    char text[4096];
    snprintf(text, sizeof text, "steps:\n- set:\n    in: a\n    fields: { x: 1 }\n    value: %s\n",
             yaml);
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, text, strlen(text), MRS_OK);
    struct fake_state *s = p->steps[0].state;
    struct mrs_buf out;
    mrs_buf_init(&out, mem, 1 << 20);
    mrs_ejson_write_val(mrs_doc_get(s->body, "value"), canonical, &out);
    mrs_buf_byte(&out, 0);
    assert_string_equal((char *)out.p, json);
    mrs_buf_clear(&out);
    close_plan(mem, p);
}

/* The same value, which must be an error at line 5. */
__attribute__((unused)) static void
is_bad_value(const char *yaml, uint32_t col, const char *part)
{
    char text[4096];
    snprintf(text, sizeof text, "steps:\n- set:\n    in: a\n    fields: { x: 1 }\n    value: %s\n",
             yaml);
    struct at want = {5, col, part};
    expect_n(text, strlen(text), &want, 1);
}

#endif
