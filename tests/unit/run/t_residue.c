/* SPDX-License-Identifier: Apache-2.0 */
/* t_residue.c - the way back: the inverse as text that reads back to the same values, what a residue is made of, memory
 * that runs out anywhere. That every input comes back byte for byte is the law of tests/law. */
#include "mongoreshape/inverse.h"
#include "run/residue/residue.h"
#include "dump_test.h"

static struct mrs_plan *
load(struct mrs_mem *mem, const char *text, size_t n, const char *db, struct mrs_err *e)
{
    struct mrs_plan *p = NULL;
    struct mrs_plan_opts o = {.file = "p", .default_db = db};
    enum mrs_status s = mrs_plan_load(mem, text, n, &o, &p, e);
    if (s != MRS_OK && s != MRS_DEAD) {
        fail_msg("%.*s\n%s", (int)n, text, p && p->n_errors ? p->errors[0].msg : e->msg);
    }
    return p;
}

/* ---- the inverse as text ---- */
static const char *const values[] = {
    "x",
    "''",
    "'5'",
    "'true'",
    "'null'",
    "'~'",
    "'no'",
    "'-'",
    "'a: b'",
    "'#c'",
    "' x '",
    "'{'",
    "\"a\\nb\"",
    "\"\\t\"",
    "\"\\x7f\\x85\\0\"",
    "\"\\u2028\\u2029\\ufeff\"",
    "'\\'",
    "\"'\"",
    "'\"'",
    "'\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80'",
    "1",
    "-1",
    "2147483648",
    "{ $numberLong: '5' }",
    "{ $numberLong: '-9223372036854775808' }",
    "1.5",
    "3.0",
    "{ $numberDouble: NaN }",
    "{ $numberDouble: '-0.0' }",
    "{ $numberDecimal: '1.10' }",
    "true",
    "null",
    "{ $oid: 5f5e1000a1b2c3d4e5f60718 }",
    "{ $date: '1969-12-31T23:59:59.999Z' }",
    "{ $date: '2024-05-01T00:00:00Z' }",
    "{ $binary: { base64: 'AAE=', subType: '05' } }",
    "{ $regularExpression: { pattern: 'a/\"', options: i } }",
    "{ $timestamp: { t: 1, i: 2 } }",
    "{ $minKey: 1 }",
    "[1, [2, { a: [] }], {}]",
    "{ a b: { 'c.d': 1 }, '': 2, '1': x }",
    "{ a: { $numberLong: '1' }, b: [true, null] }",
};

/* Each value goes through partition's inverse, which sets it as a literal. */
static void
values_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct mrs_mem *mem = mrs_mem_new(0);
        struct mrs_inverse_plan inv;
        struct mrs_buf text;
        struct mrs_err e;
        char plan[1024];
        mrs_err_clear(&e);
        int n = snprintf(plan, sizeof plan,
                         "plan: \"a\\tname\\u2028\"\nsteps:\n- partition: { from: a, by: t, into: [{ value: %s, "
                         "into: b }], "
                         "drop: true }\n",
                         values[i]);
        struct mrs_plan *p = load(mem, plan, (size_t)n, "d", &e);
        assert_int_equal(mrs_plan_invert(p, &inv, &e), MRS_OK);
        mrs_buf_init(&text, mem, SIZE_MAX);
        mrs_inverse_yaml(&inv, &text);
        assert_int_equal(inv.n_entries, 2);
        struct mrs_plan *q = load(mem, (const char *)text.p, text.n, NULL, &e);
        assert_string_equal(q->name, "inverse of a\tname\xE2\x80\xA8");
        assert_string_equal(q->database, "d");
        /* the value as the plan has it, and as the inverse has it */
        struct mrs_val a = mrs_doc_get(p->canonical, "steps"), b = mrs_doc_get(q->canonical, "steps");
        static const char *const there[] = {"0", "partition", "into", "0", "value"};
        static const char *const back[] = {"0", "set", "fields", "t", "$literal"};
        for (size_t k = 0; k < 5; k++) {
            a = mrs_doc_get(mrs_val_view(a), there[k]);
            b = mrs_doc_get(mrs_val_view(b), back[k]);
        }
        if (a.type == MRS_MISSING || !mrs_identical(a, b)) {
            fail_msg("%s comes back otherwise:\n%.*s", values[i], (int)text.n, (const char *)text.p);
        }
        /* the same plan as JSON */
        uint8_t id[16];
        memcpy(id, q->id, sizeof id);
        mrs_plan_free(q);
        mrs_buf_reset(&text);
        assert_int_equal(mrs_inverse_json(&inv, &text, &e), MRS_OK);
        mrs_buf_byte(&text, 0);
        const char *json = (const char *)text.p + strlen("{\"inverse\":"), *end = strstr(json, ",\"losses\":[{");
        assert_non_null(end);
        q = load(mem, json, (size_t)(end - json), NULL, &e);
        assert_memory_equal(q->id, id, sizeof id);
        mrs_plan_free(q);
        mrs_plan_free(p);
        mrs_inverse_plan_clear(&inv);
        mrs_buf_clear(&text);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
}

/* ---- which steps are left out ---- */
static void
what_is_gone(void **state)
{
    static const struct {
        const char *steps, *entries;
    } rows[] = {
        {"- rename: { in: a, fields: { x: y } }\n", "rename "},
        {"- rename: { in: a, fields: { x: y } }\n- drop_collection: { in: a }\n", ""},
        {"- drop_collection: { in: a }\n- move: { from: b, into: a }\n- rename: { in: a, fields: { x: y } }\n",
         "rename move "},
        {"- rename_collection: { from: a, into: b }\n", "rename_collection "},
        {"- rename_collection: { from: a, into: b }\n- move: { from: c, into: a }\n", "move "},
        {"- rename_collection: { from: a, into: b }\n- rename: { in: b, fields: { x: y } }\n",
         "rename rename_collection "},
        {"- move: { from: a, into: b }\n- options: { in: b, capped: true, size: 4096 }\n", ""},
        {"- embed: { from: a, into: b, match: { x: _id }, as: c }\n- drop_collection: { in: a }\n", "extract unset "},
        {"- embed: { from: a, into: b, match: { x: _id }, as: c }\n- drop_collection: { in: b }\n", ""},
        {"- copy: { from: a, into: b, match: { _id: x }, fields: [n] }\n- rename_collection: { from: b, into: c }\n",
         "rename_collection unset "},
        {"- delete: { in: a, where: { x: 1 } }\n- unset: { in: a, fields: [x] }\n", ""},
        {"- index: { in: a, create: [{ key: { x: 1 }, name: n }] }\n", "index "},
        {"- index: { in: a, create: [{ key: { x: 1 }, name: n }] }\n- unset: { in: a, fields: [x] }\n", ""},
        {"- union: { from: { p: a, q: b }, into: c, tag: t }\n", "partition "},
        {"- union: { from: [a, b], into: c }\n", ""},
        {"- rollup: { from: a, into: r, by: $k, fields: { n: { $sum: 1 } } }\n", "drop_collection "},
        {"- pack: { in: a, fields: [x, y], as: l }\n", "unpack "},
        {"- link: { parent: a, child: b, parent_ref: p, child_refs: c, derive: child_refs, strip: parent_ref }\n",
         "link "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mrs_mem *mem = mrs_mem_new(0);
        struct mrs_inverse_plan inv;
        struct mrs_err e;
        char plan[1024], names[256] = "";
        mrs_err_clear(&e);
        int n = snprintf(plan, sizeof plan, "steps:\n%s", rows[i].steps);
        struct mrs_plan *p = load(mem, plan, (size_t)n, "d", &e);
        assert_int_equal(mrs_plan_invert(p, &inv, &e), MRS_OK);
        for (uint32_t k = 0; k < inv.n_entries; k++) {
            strcat(strcat(names, (const char *)inv.entry[k].entry.p + 5), " ");
        }
        if (strcmp(names, rows[i].entries) != 0) {
            fail_msg("%s: %s, not %s", rows[i].steps, names, rows[i].entries);
        }
        mrs_inverse_plan_clear(&inv);
        mrs_plan_free(p);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
}

/* ---- kinds ---- */
static void
kinds_of_differences(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned kinds;
    } rows[] = {
        {"{'a':1,'b':2}", "{'b':2,'a':1}", MRS_LOSS_PLACES},
        {"{'a':1}", "{'a':1.0}", MRS_LOSS_TYPES},
        {"{'a':1}", "{'a':'1'}", MRS_LOSS_VALUES},
        {"{'a':1}", "{'a':1,'b':2}", MRS_LOSS_VALUES},
        {"{'a':1,'b':2}", "{'a':1}", MRS_LOSS_VALUES},
        {"{'a':1,'b':2,'c':3}", "{'a':1,'c':3}", MRS_LOSS_VALUES},
        {"{'a':{'x':1,'y':2}}", "{'a':{'y':2,'x':1}}", MRS_LOSS_PLACES},
        {"{'a':[1,2]}", "{'a':[2,1]}", MRS_LOSS_VALUES},
        {"{'a':[1]}", "{'a':{'0':1}}", MRS_LOSS_VALUES},
        {"{'a':[{'x':1}]}", "{'a':[{'x':1.0}]}", MRS_LOSS_TYPES},
        {"{'a':null}", "{}", MRS_LOSS_VALUES},
        {"{'a':1,'b':{'c':'x'}}", "{'b':{'c':'y'},'a':1.0}", MRS_LOSS_PLACES | MRS_LOSS_TYPES | MRS_LOSS_VALUES},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mrs_mem *mem = mrs_mem_new(0);
        struct mrs_buf scratch;
        struct mrs_err e;
        unsigned kinds;
        size_t n, m;
        uint8_t *a = to_bson(rows[i].a, &n), *b = to_bson(rows[i].b, &m);
        mrs_err_clear(&e);
        mrs_buf_init(&scratch, mem, SIZE_MAX);
        struct mrs_view x = {a, (uint32_t)n}, y = {b, (uint32_t)m};
        assert_int_equal(mrsi_residue_kinds(x, y, &scratch, &kinds, &e), MRS_OK);
        if (kinds != rows[i].kinds) {
            fail_msg("%s and %s: %x, not %x", rows[i].a, rows[i].b, kinds, rows[i].kinds);
        }
        mrs_buf_clear(&scratch);
        free(a);
        free(b);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
}

static void
numbers(void **state)
{
    static const uint64_t rows[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    uint64_t v;
    (void)state;
    mrs_buf_init(&b, mem, SIZE_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mrs_buf_reset(&b);
        mrsi_put_varint(&b, rows[i]);
        const uint8_t *p = b.p;
        assert_true(mrsi_get_varint(&p, b.p + b.n, &v));
        assert_true(v == rows[i] && p == b.p + b.n);
        p = b.p;
        assert_false(mrsi_get_varint(&p, b.p + b.n - 1, &v));
    }
    mrs_buf_clear(&b);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* ---- there and back, with memory that runs out ---- */
static const char steps[] = "steps:\n- embed: { from: c, into: p, match: { p: _id }, as: l, drop: [p, x] }\n"
                            "- set: { in: p, fields: { t: 1 } }\n- drop_collection: { in: e }\n";

static enum mrs_status
forward(struct mrs_mem *mem, struct mrs_err *e)
{
    struct mrs_run_opts o = defaults();
    struct mrs_input *in = NULL;
    struct mrs_plan *plan = NULL;
    struct mrs_report report = {0};
    struct mrs_plan_opts po = {.file = "p", .default_db = "d"};
    o.input = at("in");
    o.output = at("out");
    o.jobs = 1;
    o.write_residue = at("other");
    enum mrs_status s = mrs_input_open(mem, o.input, NULL, &in, e);
    s = s == MRS_OK ? mrs_plan_load(mem, steps, strlen(steps), &po, &plan, e) : s;
    if (s == MRS_OK) {
        s = mrs_run(mem, plan, in, &o, &report, e);
        assert_int_equal(report.published, s == MRS_OK);
        assert_true(s != MRS_OK || (report.residue_bytes && !report.residue_unlisted));
        mrs_report_clear(&report);
    }
    mrs_plan_free(plan);
    mrs_input_close(in);
    return s;
}

static enum mrs_status
back(struct mrs_mem *mem, struct mrs_err *e)
{
    struct mrs_run_opts o = defaults();
    struct mrs_report report = {0};
    o.input = at("out");
    o.output = at("amend");
    o.jobs = 1;
    enum mrs_status s = run_back(mem, steps, &o, &report, e);
    assert_int_equal(report.published, s == MRS_OK);
    mrs_report_clear(&report);
    return s;
}

static void
make_input(void)
{
    begin();
    put_docs("in/d/p.bson", "{'_id':2} {'_id':1,'a':{'b':1}} {'_id':3}");
    put_docs("in/d/c.bson", "{'x':1,'_id':1,'p':1} {'_id':2,'p':2} {'_id':3,'p':9} {'_id':4,'x':'s','p':1.0}");
    put_docs("in/d/e.bson", "{'_id':1,'text':'gone'}");
}

static bool
same_file(const char *a, const char *b)
{
    uint8_t x[4096], y[4096];
    size_t n = get_file(a, x, sizeof x), m = get_file(b, y, sizeof y);
    return n == m && memcmp(x, y, n) == 0;
}

/* Every seventh allocation in turn: a status, nothing published, nothing left, no leak; in the end all of it. */
static void
memory_runs_out(void **state)
{
    enum mrs_status (*const ways[])(struct mrs_mem *, struct mrs_err *) = {forward, back};
    static const char *const outs[] = {"out", "amend"};
    (void)state;
    make_input();
    for (size_t way = 0; way < 2; way++) {
        enum mrs_status s = MRS_DEAD;
        for (uint64_t at_n = 1; s != MRS_OK; at_n += 7) {
            struct mrs_mem *mem = mrs_mem_new(at_n);
            struct mrs_err e;
            mrs_err_clear(&e);
            s = ways[way](mem, &e);
            assert_int_equal(mrs_mem_close(mem), 0);
            if (s != MRS_OK) {
                assert_int_equal(e.code, MRS_E_MEMORY);
                assert_false(there(outs[way]));
            }
            assert_false(there("out.inverse.partial") || there("amend.inverse.partial") || there("amend.partial"));
        }
    }
    assert_true(same_file("in/d/p.bson", "amend/d/p.bson"));
    assert_true(same_file("in/d/c.bson", "amend/d/c.bson"));
    assert_true(same_file("in/d/e.bson", "amend/d/e.bson"));
}

/* Enough documents for several records, in another order, most of them changed, a few large. */
static void
many_records(void **state)
{
    char *text = malloc(TEXT_MAX);
    size_t n = 0;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err e;
    (void)state;
    begin();
    for (int i = 0; i < 9000; i++) {
        n += (size_t)snprintf(text + n, TEXT_MAX - n, "{'_id':%d,'p':%d,'x':'%d'}\n", i * 7919 % 9000, i % 5,
                              i * 31 % 977);
    }
    put_docs("in/d/c.bson", text);
    put_docs("in/d/p.bson", "{'_id':0} {'_id':1} {'_id':2} {'_id':3}");
    memset(text, 'y', 600000);
    text[snprintf(text, 64, "{'_id':1,'z':'%0*d", 10, 0)] = 'y';
    snprintf(text + 600000, 8, "'}");
    put_docs("in/d/e.bson", text);
    mrs_err_clear(&e);
    assert_int_equal(forward(mem, &e), MRS_OK);
    drop("amend");
    assert_int_equal(back(mem, &e), MRS_OK);
    assert_int_equal(mrs_mem_close(mem), 0);
    uint8_t *a = malloc(2 * TEXT_MAX), *b = malloc(2 * TEXT_MAX);
    size_t k = get_file("in/d/c.bson", a, 2 * TEXT_MAX), m = get_file("amend/d/c.bson", b, 2 * TEXT_MAX);
    assert_true(k == m && memcmp(a, b, k) == 0);
    k = get_file("in/d/e.bson", a, 2 * TEXT_MAX);
    m = get_file("amend/d/e.bson", b, 2 * TEXT_MAX);
    assert_true(k == m && memcmp(a, b, k) == 0);
    free(a);
    free(b);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_read_back), cmocka_unit_test(what_is_gone),    cmocka_unit_test(kinds_of_differences),
        cmocka_unit_test(numbers),          cmocka_unit_test(memory_runs_out), cmocka_unit_test(many_records),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
