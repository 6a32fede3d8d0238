/* SPDX-License-Identifier: Apache-2.0 */
/* t_plan.c - a loaded plan: its id, its check against a catalogue, and what explain says. */
#include "mongoreshape/catalogue.h"
#include "fake.h"

static void
id_of(const char *text, char id[33])
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, text, strlen(text), MRS_OK);
    mrs_plan_id_text(p, id);
    close_plan(mem, p);
}

static void
same_id(const char *a, const char *b, bool same)
{
    char x[33], y[33];
    id_of(a, x);
    id_of(b, y);
    if (same != (strcmp(x, y) == 0)) {
        print_error("%s\n%s\n%s and %s\n", a, b, x, y);
    }
    assert_int_equal(strcmp(x, y) == 0, same);
}

static void
canonical(void **state)
{
    (void)state;
    const char *text = "plan: n\nsteps:\n- set: { fields: { y: 1, x: 2 }, in: a }\nversion: 1\n";
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, text, strlen(text), MRS_OK);
    struct mrs_buf out;
    mrs_buf_init(&out, mem, 1 << 20);
    mrs_ejson_write(p->canonical, true, &out);
    mrs_buf_byte(&out, 0);
    assert_string_equal(
        (char *)out.p,
        "{\"version\":{\"$numberInt\":\"1\"},\"server\":\"8.2\",\"database\":\"d\",\"steps\":[{"
        "\"set\":{\"in\":\"a\","
        "\"fields\":{\"y\":{\"$numberInt\":\"1\"},\"x\":{\"$numberInt\":\"2\"}}}}]}");
    struct mrs_hash128 h = mrs_hash(p->canonical.p, p->canonical.n, 0);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(p->id[i], (h.hi >> (56 - 8 * i)) & 255);
        assert_int_equal(p->id[8 + i], (h.lo >> (56 - 8 * i)) & 255);
    }
    mrs_buf_clear(&out);
    close_plan(mem, p);
}

static void
ids(void **state)
{
    (void)state;
    const char *a = "version: 1\nsteps:\n- embed: { from: a, into: b, match: { x: _id, y: z }, as: "
                    "c, sort: { p: 1, q: -1 } }\n";
    same_id(a,
            "# other layout\nplan: a name\nversion: 1\ndatabase: d\nserver: \"8.2\"\nsteps:\n  - "
            "embed:\n      sort:\n        p: 1 # first\n        q: -1\n      as: c\n"
            "      match: { x: _id, y: z }\n      into: \"b\"\n      from: 'a'\n",
            true);
    same_id(a,
            "{\"steps\":[{\"embed\":{\"as\":\"c\",\"from\":\"a\",\"into\":\"b\",\"match\":{\"x\":"
            "\"_id\",\"y\":\"z\"},\"sort\":{\"p\":1,\"q\":-1}}}],\"version\":1}",
            true);
    same_id(a,
            "version: 1\nsteps:\n- embed: { from: a, into: b, match: { y: z, x: _id }, as: c, "
            "sort: { p: 1, q: -1 } }\n",
            false);
    same_id(a,
            "version: 1\nsteps:\n- embed: { from: a, into: b, match: { x: _id, y: z }, as: c, "
            "sort: { q: -1, p: 1 } }\n",
            false);
    same_id(a,
            "steps:\n- embed: { from: a, into: b, match: { x: _id, y: z }, as: c, sort: { p: 1, q: "
            "-1 } }\n",
            false); /* absent keys absent */
    same_id(a,
            "version: 1\ndatabase: e\nsteps:\n- embed: { from: a, into: b, match: { x: _id, y: z "
            "}, as: c, sort: { p: 1, q: -1 } }\n",
            false);
    same_id("steps:\n- set: { in: a, fields: { x: 1 } }\n- set: { in: a, fields: { y: 1 } }\n",
            "steps:\n- set: { in: a, fields: { y: 1 } }\n- set: { in: a, fields: { x: 1 } }\n",
            false);
    same_id("steps:\n- set: { in: a, fields: { x: 1 } }\n",
            "steps:\n- set: { in: a, fields: { x: 1.0 } }\n", false);
    same_id("steps:\n- set: { in: a, fields: { x: 1 } }\n",
            "steps:\n- set: { in: a, fields: { x: { $numberInt: \"1\" } } }\n", true);
    same_id("steps:\n- set: { in: a, fields: { x: 1 } }\n",
            "steps:\n- set: { in: a, fields: { x: 1 }, where: {} }\n", false);
    same_id("steps:\n- set: { in: &n a, fields: { x: 1 } }\n- set: { in: *n, fields: [] }\n",
            "steps:\n- set: { in: a, fields: { x: 1 } }\n- set: { in: a, fields: [] }\n", true);
}

/* The id of a plan must not change from one version of the program to the next: checkpoints hold
 * it. */
static void
id_vector(void **state)
{
    (void)state;
    char id[33];
    id_of("version: 1\nserver: \"8.2\"\ndatabase: blog\nsteps: []\n", id);
    assert_string_equal(id, "c03f2a3786fc543cbd401d6fd6ada940");
}

static void
check(void **state)
{
    (void)state;
    const char *text = "steps:\n- set: { in: a, fields: [x] }\n- embed: { into: b, from: missing, "
                       "match: { x: _id }, as: c }\n- set: { in: b, fields: [x] }\n"
                       "- set: { fields: [x], in: missing }\n- embed: { into: k, from: q, match: { "
                       "x: _id }, as: c }\n";
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, text, strlen(text), MRS_OK);
    struct mrs_catalog *cat;
    struct mrs_err e;
    mrs_err_clear(&e);
    assert_int_equal(mrs_catalog_new(mem, &cat, &e), MRS_OK);
    assert_int_equal(mrs_plan_check(p, cat, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_PLAN);
    assert_int_equal(p->n_errors,
                     1); /* the two steps behind it on the same collections would only echo it */
    assert_int_equal(p->errors[0].line, 3);
    assert_int_equal(p->errors[0].col, 21);
    assert_string_equal(p->errors[0].msg, "embed: `from`: collection missing is not there");
    struct mrs_buf out;
    mrs_buf_init(&out, mem, 1 << 20);
    assert_int_equal(mrs_plan_explain(p, false, &out, &e), MRS_OK);
    mrs_buf_byte(&out, 0);
    assert_non_null(strstr((char *)out.p, "looked at k"));
    mrs_buf_clear(&out);
    mrs_catalog_free(cat);
    close_plan(mem, p);
}

static const char *const story =
    "plan: tale\nsteps:\n- set: { in: a, fields: [x] }\n- embed: { from: a, into: b, match: { x: "
    "_id }, as: c }\n- set: { in: b, fields: [x] }\n"
    "- set: { in: z, fields: [x] }\n- drop_collection: { in: a }\n";

static void
explain_text(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, story, strlen(story), MRS_OK);
    struct mrs_buf out;
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_buf_init(&out, mem, 1 << 20);
    assert_int_equal(mrs_plan_explain(p, false, &out, &e), MRS_OK);
    mrs_buf_byte(&out, 0);
    static const char *const parts[] = {"Plan tale: 5 steps, by the rules of MongoDB 8.3\n",
                                        "Step 2: embed (line 4)\n",
                                        "does what it does\n",
                                        "a (from): read, documents may leave\n",
                                        "b (into): read, changed in place\n",
                                        "a: none of its own, it shares the pass of step 2\n",
                                        "b: twice, its keys",
                                        "b: none of its own, it shares the pass of step 2\n",
                                        "z: once\n",
                                        "yes: run twice is run once",
                                        "no: it is a fake",
                                        "loses       the order of things",
                                        "reads (R)   a postId",
                                        "removes (D) a (whole document)",
                                        "    2 x  a\n    2 x  b\n    1 x  z\n",
                                        "none: no document changes"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr((char *)out.p, parts[i])) {
            print_error("no \"%s\" in\n%s", parts[i], (char *)out.p);
        }
        assert_non_null(strstr((char *)out.p, parts[i]));
    }
    mrs_buf_clear(&out);
    close_plan(mem, p);
}

static void
explain_json(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, story, strlen(story), MRS_OK);
    struct mrs_buf out, back;
    struct mrs_err e;
    size_t used;
    mrs_err_clear(&e);
    mrs_buf_init(&out, mem, 1 << 20);
    mrs_buf_init(&back, mem, 1 << 20);
    assert_int_equal(mrs_plan_explain(p, true, &out, &e), MRS_OK);
    assert_int_equal(mrs_ejson_read((char *)out.p, out.n, MRS_EJSON_PLAIN, &back, &used, &e),
                     MRS_OK);
    struct mrs_view doc = {back.p, (uint32_t)back.n};
    assert_string_equal(fake_text(doc, "plan"), "tale");
    struct mrs_view steps = mrs_val_view(mrs_doc_get(doc, "steps"));
    struct mrs_view second = mrs_val_view(mrs_doc_get(steps, "1"));
    assert_string_equal(fake_text(second, "type"), "embed");
    assert_string_equal(fake_text(second, "family"), "join");
    struct mrs_view pass =
        mrs_val_view(mrs_doc_get(mrs_val_view(mrs_doc_get(second, "passes")), "0"));
    assert_string_equal(fake_text(pass, "ns"), "b");
    assert_int_equal(mrs_val_i32(mrs_doc_get(pass, "times")), 2);
    assert_int_equal(mrs_doc_get(steps, "5").type, MRS_MISSING);
    mrs_buf_clear(&out);
    mrs_buf_clear(&back);
    close_plan(mem, p);
}

static void
failing_memory(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct mrs_mem *mem = mrs_mem_new(n);
        struct mrs_plan *p = NULL;
        struct mrs_catalog *cat = NULL;
        struct mrs_buf out;
        struct mrs_err e;
        mrs_err_clear(&e);
        mrs_buf_init(&out, mem, 1 << 20);
        enum mrs_status s = mrs_plan_load(mem, story, strlen(story), &fake_opts, &p, &e);
        s = s == MRS_OK ? mrs_catalog_new(mem, &cat, &e) : s;
        s = s == MRS_OK ? mrs_plan_check(p, cat, &e) : s;
        s = s == MRS_OK ? mrs_plan_explain(p, false, &out, &e) : s;
        s = s == MRS_OK ? mrs_plan_explain(p, true, &out, &e) : s;
        assert_true(s == MRS_OK || s == MRS_DEAD);
        done = mrs_mem_count(mem) < n;
        assert_true(!done || s == MRS_OK);
        mrs_buf_clear(&out);
        mrs_catalog_free(cat);
        mrs_plan_free(p);
        assert_int_equal(mrs_mem_close(mem), 0);
        assert_true(n < 5000);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical),      cmocka_unit_test(ids),
        cmocka_unit_test(id_vector),      cmocka_unit_test(check),
        cmocka_unit_test(explain_text),   cmocka_unit_test(explain_json),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
