/* SPDX-License-Identifier: Apache-2.0 */
/* t_eval.c - evaluation: paths, variables, where values live, what is allocated, and every allocation failing
 * in turn. */
#include "bench.h"

static void
paths_go_through_documents_and_arrays(void **state)
{
    static const char *const CASES[][3] = {
        /* document, expression, value */
        {"{'a': {'b': {'c': 1}}}", "'$a.b.c'", "1"},
        {"{'a': {'b': 1}}", "'$a.x'", NULL},
        {"{'a': 5}", "'$a.b'", NULL},
        {"{}", "'$a.b'", NULL},
        {"{'a': null}", "'$a'", "null"},
        {"{'a': [{'b': 1}, {}, [{'b': 2}], 3]}", "'$a.b'", "[1]"},
        {"{'a': []}", "'$a.b'", "[]"},
        {"{'a': [5]}", "'$a.0'", "[]"},
        {"{'a': {'0': 7}}", "'$a.0'", "7"},
        {"{'a': [{'b': [{'c': 1}, {'c': 2}]}, {'b': {'c': 3}}, {'b': 4}]}", "'$a.b.c'", "[[1, 2], 3]"},
        {"{'a': [{'b': null}, {'b': 1}]}", "'$a.b'", "[null, 1]"},
        {"{'a': [1, [2]]}", "'$a'", "[1, [2]]"},
        {"{'a': 1}", "'$$ROOT'", "{'a': 1}"},
        {"{'a': 1}", "'$$CURRENT.a'", "1"},
        {"{'a': 1}", "['$a', '$b', '$$REMOVE']", "[1, null, null]"},
        {"{'a': 1}", "{'x': '$a', 'y': '$b', 'z': {'w': '$$REMOVE'}}", "{'x': 1, 'z': {}}"},
        {"{'v': [{'a': 1}, {'a': 2}]}", "{'$let': {'vars': {'x': '$v'}, 'in': '$$x.a'}}", "[1, 2]"},
        {"{'v': {'a': 1}}", "{'$let': {'vars': {'x': '$v.a'}, 'in': '$$x.a'}}", NULL},
        {"{'a': 1, 'b': {'a': 2}}", "{'$let': {'vars': {'CURRENT': '$b'}, 'in': ['$a', '$$ROOT.a']}}", "[2, 1]"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        bench_is(&b, CASES[i][1], CASES[i][0], CASES[i][2]);
    }
    bench_close(&b);
}

static void
variables_nest_and_shadow(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    bench_is(&b,
             "{'$let': {'vars': {'x': '$a', 'y': {'$let': {'vars': {'x': 10}, 'in': {'$add': ['$$x', '$a']}}}},"
             " 'in': ['$$x', '$$y', {'$let': {'vars': {'x': '$$y'}, 'in': '$$x'}}, '$$x']}}",
             "{'a': 1}", "[1, 11, 11, 1]");
    bench_is(&b,
             "{'$map': {'input': '$v', 'in': {'$map': {'input': '$$this', 'as': 'w',"
             " 'in': {'$add': ['$$w', {'$size': '$$this'}]}}}}}",
             "{'v': [[1, 2], [3], []]}", "[[3, 4], [4], []]");
    bench_close(&b);
}

static void
many_variables_have_room(void **state)
{
    static char text[8000];
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    size_t at = (size_t)snprintf(text, sizeof text, "{'$let': {'vars': {");
    for (int i = 0; i < 40; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s'v%d': {'$add': ['$a', %d]}", i ? ", " : "", i, i);
    }
    snprintf(text + at, sizeof text - at, "}, 'in': ['$$v0', '$$v39']}}");
    bench_is(&b, text, "{'a': 100}", "[100, 139]");
    bench_close(&b);
}

static void
variables_of_the_step_are_read(void **state)
{
    static const char *const VARS[] = {"PARENT", "ITEM"};
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    bson_t *parent = bench_json("{'p': [{'q': 1}, {'q': 2}]}");
    struct mrs_val values[2] = {mrs_view_val(bench_view(parent)), mrs_missing()};
    b.env.vars = VARS;
    b.env.n_vars = 2;
    b.ev.vars = values;
    bench_is(&b, "['$$PARENT.p.q', '$$ITEM', {'$type': '$$ITEM.x'}]", "{}", "[[1, 2], null, 'missing']");
    bson_destroy(parent);
    bench_close(&b);
}

static void
found_values_are_not_copied(void **state)
{
    static const char *const CASES[] = {
        "'$a.b'",
        "{'$ifNull': ['$none', '$a.b']}",
        "{'$cond': [{'$gt': ['$n', 1]}, '$a.b', 0]}",
        "{'$let': {'vars': {'v': '$a'}, 'in': '$$v.b'}}",
        "{'$max': ['$a.b', '$n']}",
    };
    struct bench b;
    struct mrs_val v;
    (void)state;
    bench_open(&b, 0);
    bench_doc(&b, "{'n': 2, 'a': {'b': 'text'}}");
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_int_equal(bench_compile(&b, CASES[i]), MRS_OK);
        assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
        assert_int_equal(v.type, MRS_STRING);
        assert_true(v.p > b.ev.root.p && v.p < b.ev.root.p + b.ev.root.n);
    }
    bench_close(&b);
}

static void
simple_expressions_do_not_touch_the_heap(void **state)
{
    static const char *const CASES[] = {
        "'$a.b'",
        "{'$eq': ['$n', 2]}",
        "{'$cond': [{'$gt': ['$n', 1]}, {'$add': ['$n', 1]}, null]}",
        "{'$concat': ['$a.b', '-', '$a.b']}",
        "{'$toLower': '$a.b'}",
        "{'x': '$n', 'y': ['$a.b', {'z': '$n'}]}",
        "'$l.x'",
        "{'$switch': {'branches': [{'case': {'$eq': ['$n', 1]}, 'then': 1}], 'default': {'$multiply': ['$n', 2.5]}}}",
        "{'$toString': '$n'}",
        "{'$toInt': '7'}",
    };
    struct bench b;
    struct mrs_val v;
    (void)state;
    bench_open(&b, 0);
    bench_doc(&b, "{'n': 2, 'a': {'b': 'Text'}, 'l': [{'x': 1}, {'x': 2}, {}]}");
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        uint64_t before = 0;
        assert_int_equal(bench_compile(&b, CASES[i]), MRS_OK);
        for (int run = 0; run < 100; run++) {
            mrs_arena_reset(&b.arena);
            assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
            before = run == 0 ? mrs_mem_count(b.mem) : before;
        }
        if (mrs_mem_count(b.mem) != before) {
            fail_msg("%s allocates: %d", CASES[i], (int)(mrs_mem_count(b.mem) - before));
        }
    }
    bench_close(&b);
}

static void
failures_name_operator_and_reason(void **state)
{
    static const char *const CASES[][2] = {
        {"{'$add': ['$s', 1]}", "$add: takes numbers and a date, not string"},
        {"{'$divide': [1, '$zero']}", "$divide: division by zero"},
        {"{'$switch': {'branches': [{'case': '$zero', 'then': 1}]}}", "$switch: no branch matches"},
        {"{'$toInt': '$s'}", "$toInt: the text 'x?y' is no int"},
        {"{'$convert': {'input': '$s', 'to': '$s'}}", "$convert: there is no type"},
        {"{'$toDate': '$zero'}", "$toDate: cannot convert int to date"},
    };
    struct bench b;
    struct mrs_val v;
    (void)state;
    bench_open(&b, 0);
    bench_doc(&b, "{'s': 'x\\ny', 'zero': 0}");
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_int_equal(bench_compile(&b, CASES[i][0]), MRS_OK);
        assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_FAIL);
        assert_int_equal(b.err.code, MRS_E_EXPR);
        if (!strstr(b.err.msg, CASES[i][1])) {
            fail_msg("%s: %s", CASES[i][0], b.err.msg);
        }
    }
    b.ev.err = NULL;
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_FAIL);
    bench_close(&b);
}

/* ---- every allocation fails once, and every one from the n-th on ---- */

static const char *const ALLOCATING[] = {
    "'$a.b.c'",
    "{'$let': {'vars': {'x': '$n', 'y': [1, '$n']}, 'in': {'$concatArrays': ['$$y', ['$$x']]}}}",
    "{'a': {'$map': {'input': '$l', 'as': 'e', 'in': {'$mergeObjects': ['$$e', {'k': {'$toString': '$n'}}]}}}}",
    "{'$reduce': {'input': '$l.x', 'initialValue': '', 'in': {'$concat': ['$$value', {'$toString': '$$this'}]}}}",
    ("{'$switch': {'branches': [{'case': false, 'then': {'$divide': [1, 0]}},"
     " {'case': '$n', 'then': {'$range': [0, 40]}}]}}"),
    "{'$regexMatch': {'input': '$s', 'regex': '^t', 'options': 'i'}}",
    "{'$sortArray': {'input': '$l', 'sortBy': {'x': -1}}}",
    "{'$arrayToObject': {'$objectToArray': '$$ROOT'}}",
    "{'$setUnion': ['$l', [1, 2, 3]]}",
    "{'$dateToString': {'date': '$$NOW', 'format': '%Y'}}",
    "{'$convert': {'input': '$s', 'to': 'binData', 'format': 'utf8', 'onError': 0}}",
    "{'$filter': {'input': '$l', 'cond': {'$gt': ['$$this.x', 1]}}}",
    "{'$split': ['$s', 'e']}",
    "{'$replaceAll': {'input': '$s', 'find': 't', 'replacement': '$s'}}",
    "{'$add': ['$s', 1]}",
    "{'$unknown': 1}",
};

static void
every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ALLOCATING / sizeof *ALLOCATING; i++) {
        for (int onwards = 0; onwards < 2; onwards++) {
            uint64_t n = 1;
            for (bool failed = true; failed; n++) {
                struct bench b;
                struct mrs_val v;
                bench_open(&b, onwards ? UINT64_MAX - n : n);
                bench_doc(&b, "{'n': 3, 's': 'text', 'a': [{'b': {'c': 1}}], 'l': [{'x': 1}, {'x': 2}]}");
                enum mrs_status s = bench_compile(&b, ALLOCATING[i]);
                s = s == MRS_OK ? mrs_expr_eval(b.x, &b.ev, &v) : s;
                failed = mrs_mem_count(b.mem) >= n;
                if (s == MRS_DEAD) {
                    assert_int_equal(b.err.code, MRS_E_MEMORY);
                }
                if (failed && s == MRS_OK) {
                    fail_msg("%s: allocation %d failed unseen", ALLOCATING[i], (int)n);
                }
                bench_close(&b);
                assert_true(n < 500);
            }
        }
    }
}

/* With the fields of the root at hand a path gives what it gives without them. */
static void
fields_at_hand_change_nothing(void **state)
{
    static const char *const PATHS[] = {"'$a'", "'$a.b'", "'$f23'", "'$f24'", "'$f30.x'", "'$none'", "'$l.b'",
                                        "'$$ROOT.a.b'", "'$$ROOT'", "{'$let': {'vars': {'v': '$a'}, 'in': '$$v.b'}}"};
    static const uint32_t WIDTHS[] = {0, 21, 22, 23, 40}; /* fields beside `a` and `l`: 24 fit */
    static struct mrs_eval_fields fields;
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t k = 0; k < sizeof WIDTHS / sizeof *WIDTHS; k++) {
        bson_t *doc = bench_json("{'a': {'b': 1}, 'l': [{'b': 2}, {'b': 3}]}");
        for (uint32_t i = 0; i < WIDTHS[k]; i++) {
            char name[12];
            snprintf(name, sizeof name, "f%u", i);
            BSON_APPEND_INT32(doc, name, (int32_t)i);
        }
        b.ev.root = bench_view(doc);
        for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
            struct mrs_val with, without;
            assert_int_equal(bench_compile(&b, PATHS[i]), MRS_OK);
            b.ev.fields = NULL;
            assert_int_equal(mrs_expr_eval(b.x, &b.ev, &without), MRS_OK);
            mrs_eval_fields(&b.ev, &fields);
            assert_int_equal(fields.all, WIDTHS[k] + 2 < MRS_EVAL_FIELDS_MAX);
            assert_int_equal(mrs_expr_eval(b.x, &b.ev, &with), MRS_OK);
            assert_true(mrs_identical(with, without));
        }
        b.ev.fields = NULL;
        bson_destroy(doc);
    }
    bench_close(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_go_through_documents_and_arrays),
        cmocka_unit_test(variables_nest_and_shadow),
        cmocka_unit_test(many_variables_have_room),
        cmocka_unit_test(variables_of_the_step_are_read),
        cmocka_unit_test(found_values_are_not_copied),
        cmocka_unit_test(simple_expressions_do_not_touch_the_heap),
        cmocka_unit_test(failures_name_operator_and_reason),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(fields_at_hand_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
