/* SPDX-License-Identifier: Apache-2.0 */
/* t_operators.c - operators on text, arrays, sets, documents and dates: what the vectors of
 * tests/vectors do not reach (text that is not UTF-8, large inputs, depth, operators without
 * vectors), and every allocation failing in turn for each family. */
#include "bench.h"

struct row {
    const char *expression, *doc, *want;
};

static void
rows(const struct row *row, size_t n)
{
    struct bench b;
    bench_open(&b, 0);
    for (size_t i = 0; i < n; i++) {
        bench_is(&b, row[i].expression, row[i].doc, row[i].want);
        mrs_arena_reset(&b.arena);
    }
    bench_close(&b);
}

static void
operators_without_vectors(void **state)
{
    static const struct row ROWS[] = {
        {"{'$firstN': {'n': 2, 'input': '$a'}}", "{'a': [1, null, 3]}", "[1, null]"},
        {"{'$firstN': {'n': {'$numberLong': '9'}, 'input': '$a'}}", "{'a': [1]}", "[1]"},
        {"{'$lastN': {'n': 2, 'input': '$a'}}", "{'a': [1, 2, 3]}", "[2, 3]"},
        {"{'$minN': {'n': 2, 'input': '$a'}}", "{'a': [3, null, 'x', 1, 2]}", "[1, 2]"},
        {"{'$maxN': {'n': 2, 'input': '$a'}}", "{'a': [3, null, 'x', 1, 2]}", "['x', 3]"},
        {"{'$dateFromString': {'dateString': '$d', 'format': '%d.%m.%Y', 'onError': 'no'}}",
         "{'d': '31.02.2024'}", "'no'"},
        {"{'$dateFromString': {'dateString': '$d', 'format': '%d.%m.%Y'}}", "{'d': '9.2.2024'}",
         "{'$date': '2024-02-09T00:00:00Z'}"},
        {"{'$regexFindAll': {'input': '$t', 'regex': 'x*'}}", "{'t': 'é'}",
         "[{'match': '', 'idx': 0, 'captures': []}]"},
        {"{'$zip': {'inputs': ['$a', [1]], 'useLongestLength': true, 'defaults': ['-', '$d']}}",
         "{'a': [5, 6], 'd': 0}", "[[5, 1], [6, 0]]"},
        {"{'$sortArray': {'input': '$a', 'sortBy': {'x.y': 1}}}",
         "{'a': [{'x': {'y': 2}}, {'x.y': 1}, {'x': [{'y': 0}]}]}",
         "[{'x': [{'y': 0}]}, {'x.y': 1}, {'x': {'y': 2}}]"},
        {"{'$reduce': {'input': '$a', 'initialValue': '$$REMOVE', 'in': '$$this.x'}}", "{'a': [1]}",
         NULL},
        {"{'$add': ['$d', -0.5]}", "{'d': {'$date': '2026-01-01T00:00:00Z'}}", "{'$date': '2025-12-31T23:59:59.999Z'}"},
        {"{'$add': [0.5, '$d']}", "{'d': {'$date': '1960-01-01T00:00:00Z'}}", "{'$date': '1960-01-01T00:00:00.001Z'}"},
        {"{'$add': ['$d', 1, {'$numberDecimal': '-0.7'}]}", "{'d': {'$date': '2026-01-01T00:00:00Z'}}",
         "{'$date': '2026-01-01T00:00:00Z'}"},
        {"{'$subtract': ['$d', 0.5]}", "{'d': {'$date': '2026-01-01T00:00:00Z'}}",
         "{'$date': '2025-12-31T23:59:59.999Z'}"},
        {"{'$setDifference': ['$a', [2]]}", "{'a': [3, 2, 1.0, 3, 1]}", "[3, 1.0]"},
    };
    (void)state;
    rows(ROWS, sizeof ROWS / sizeof *ROWS);
}

static void
sorting_is_stable_and_large(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    bson_t doc = BSON_INITIALIZER, array, item;
    BSON_APPEND_ARRAY_BEGIN(&doc, "a", &array);
    for (uint32_t i = 0; i < 3000; i++) {
        char name[12];
        mrs_index_name(name, i);
        BSON_APPEND_DOCUMENT_BEGIN(&array, name, &item);
        BSON_APPEND_INT32(&item, "k", (int32_t)(i * 7919 % 13));
        BSON_APPEND_INT32(&item, "i", (int32_t)i);
        bson_append_document_end(&array, &item);
    }
    bson_append_array_end(&doc, &array);
    assert_int_equal(bench_compile(&b, "{'$sortArray': {'input': '$a', 'sortBy': {'k': -1}}}"),
                     MRS_OK);
    b.ev.root = bench_view(&doc);
    struct mrs_val v;
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
    struct mrs_walk w;
    struct mrs_elem e;
    int32_t last_k = 13, last_i = -1;
    uint32_t n = 0;
    mrs_walk_init(&w, mrs_val_view(v));
    for (; mrs_walk_next(&w, &e) > 0; n++) {
        int32_t k = mrs_val_i32(mrs_doc_get(mrs_val_view(e.v), "k")),
                i = mrs_val_i32(mrs_doc_get(mrs_val_view(e.v), "i"));
        assert_true(k < last_k || (k == last_k && i > last_i));
        last_k = k;
        last_i = i;
    }
    assert_int_equal(n, 3000);
    bson_destroy(&doc);
    bench_close(&b);
}

/* 20000 pairs over 10000 names: first place, last value, in linear time. */
static void
large_documents_are_put_together(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    bson_t doc = BSON_INITIALIZER, array, pair;
    BSON_APPEND_ARRAY_BEGIN(&doc, "a", &array);
    for (uint32_t i = 0; i < 20000; i++) {
        char name[12], key[16];
        mrs_index_name(name, i);
        snprintf(key, sizeof key, "key%u", i % 10000);
        BSON_APPEND_DOCUMENT_BEGIN(&array, name, &pair);
        BSON_APPEND_UTF8(&pair, "k", key);
        BSON_APPEND_INT32(&pair, "v", (int32_t)i);
        bson_append_document_end(&array, &pair);
    }
    bson_append_array_end(&doc, &array);
    assert_int_equal(bench_compile(&b, "{'$arrayToObject': '$a'}"), MRS_OK);
    b.ev.root = bench_view(&doc);
    struct mrs_val v;
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
    struct mrs_walk w;
    struct mrs_elem e;
    int32_t n = 0;
    mrs_walk_init(&w, mrs_val_view(v));
    for (; mrs_walk_next(&w, &e) > 0; n++) {
        assert_int_equal(mrs_val_i32(e.v), n + 10000);
    }
    assert_int_equal(n, 10000);
    bson_destroy(&doc);
    bench_close(&b);
}

/* Text as servers store it: lone bytes count as characters, nothing is read behind the end. */
static void
text_that_is_not_utf8(void **state)
{
    static const char *const TEXTS[] = {"\xFF",         "\xE2\x82",     "a\xC3",       "\x80\x80",
                                        "\xF0\x9F\x98", "\xC3\xA9\xFF", "\xED\xA0\x80"};
    static const char *const EXPRESSIONS[] = {
        "{'$strLenCP': '$t'}",
        "{'$substrCP': ['$t', 0, 1]}",
        "{'$substrCP': ['$t', 1, 5]}",
        "{'$indexOfCP': ['$t', 'zz']}",
        "{'$trim': {'input': '$t', 'chars': '$t'}}",
        "{'$ltrim': {'input': '$t', 'chars': 'é'}}",
        "{'$replaceAll': {'input': '$t', 'find': '', 'replacement': 'x'}}",
        "{'$split': ['$t', '\xC3']}",
        "{'$toUpper': '$t'}",
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t x = 0; x < sizeof EXPRESSIONS / sizeof *EXPRESSIONS; x++) {
        if (!strstr(EXPRESSIONS[x], "\xC3'")) {
            assert_int_equal(bench_compile(&b, EXPRESSIONS[x]), MRS_OK);
        }
        for (size_t t = 0; t < sizeof TEXTS / sizeof *TEXTS; t++) {
            bson_t doc = BSON_INITIALIZER;
            struct mrs_val v;
            bson_append_utf8(&doc, "t", 1, TEXTS[t], -1);
            b.ev.root = bench_view(&doc);
            assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
            bson_destroy(&doc);
        }
    }
    bson_t doc = BSON_INITIALIZER;
    bson_append_utf8(&doc, "t", 1, "ab\xFF", -1);
    b.ev.root = bench_view(&doc);
    struct mrs_val v;
    assert_int_equal(bench_compile(&b, "{'$strLenCP': '$t'}"), MRS_OK);
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
    assert_int_equal(mrs_val_i32(v), 3);
    assert_int_equal(bench_compile(&b, "{'$regexMatch': {'input': '$t', 'regex': 'a'}}"), MRS_OK);
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_FAIL);
    assert_int_equal(b.err.code, MRS_E_EXPR);
    bson_destroy(&doc);
    bench_close(&b);
}

static void
results_have_a_ceiling(void **state)
{
    static const char *const EXPRESSIONS[] = {
        "{'$range': [0, 2147483647, '$one']}",
        "{'$reduce': {'input': {'$range': [0, 40]}, 'initialValue': '$t', 'in': {'$concat': "
        "['$$value', '$$value']}}}",
        "{'$reduce': {'input': {'$range': [0, 40]}, 'initialValue': ['$t'], 'in': "
        "{'$concatArrays': ['$$value', '$$value']}}}",
        "{'$replaceAll': {'input': '$t', 'find': 'a', 'replacement': {'$reduce': {'input': "
        "{'$range': [0, 19]},"
        " 'initialValue': '$t', 'in': {'$concat': ['$$value', '$$value']}}}}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof EXPRESSIONS / sizeof *EXPRESSIONS; i++) {
        struct bench b;
        struct mrs_val v;
        bench_open(&b, 0);
        bench_doc(&b, "{'t': 'aaaaaaaa', 'one': 1}");
        assert_int_equal(bench_compile(&b, EXPRESSIONS[i]), MRS_OK);
        assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_FAIL);
        assert_int_equal(b.err.code, MRS_E_EXPR);
        bench_close(&b);
    }
}

/* A long chain of growing values keeps the last one only. */
static void
a_long_reduce_forgets(void **state)
{
    struct bench b;
    struct mrs_val v;
    struct mrs_walk w;
    struct mrs_elem el;
    (void)state;
    bench_open(&b, 0);
    bench_doc(&b, "{'n': 6000, 'x': 7}");
    assert_int_equal(bench_compile(&b, "{'$reduce': {'input': {'$range': [0, '$n']}, 'initialValue': ['$x'], 'in': "
                                       "{'$cond': [{'$eq': [{'$mod': ['$$this', 3]}, 0]}, '$$value', "
                                       "{'$concatArrays': ['$$value', ['$$this']]}]}}}"),
                     MRS_OK);
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
    assert_true(b.ev.arena == &b.arena);
    mrs_walk_init(&w, mrs_val_view(v));
    for (int i = 0; i < 6000; i++) {
        if (i == 0 || i % 3) {
            assert_int_equal(mrs_walk_next(&w, &el), 1);
            assert_int_equal(mrs_val_i32(el.v), i ? i : 7);
        }
    }
    assert_int_equal(mrs_walk_next(&w, &el), 0);
    assert_in_range(mrs_mem_peak(b.mem), v.n, 4 << 20); /* all values together: 90 MB */
    bench_close(&b);
}

static void
check_range(int32_t from, int32_t to, int32_t step)
{
    struct bench b;
    struct mrs_val v;
    struct mrs_walk w;
    struct mrs_elem el;
    char text[100];
    snprintf(text, sizeof text, "{'$range': [%d, '$to', %d]}", from, step);
    bench_open(&b, 0);
    assert_int_equal(bench_compile(&b, text), MRS_OK);
    snprintf(text, sizeof text, "{'to': %d}", to);
    bench_doc(&b, text);
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
    mrs_walk_init(&w, mrs_val_view(v));
    for (int64_t i = from; step > 0 ? i < to : i > to; i += step) {
        assert_int_equal(mrs_walk_next(&w, &el), 1);
        assert_int_equal(el.v.type, MRS_INT32);
        assert_int_equal((int32_t)mrs_le32(el.v.p), i);
    }
    assert_int_equal(mrs_walk_next(&w, &el), 0);
    bench_close(&b);
}

/* How many numbers there are is foretold: from each end, over all 32 bits. */
static void
ranges(void **state)
{
    static const int32_t edges[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
    (void)state;
    for (int32_t from = -4; from <= 4; from++) {
        for (int32_t to = -4; to <= 4; to++) {
            for (int32_t step = -3; step <= 3; step++) {
                if (step) {
                    check_range(from, to, step);
                }
            }
        }
    }
    for (size_t i = 0; i < 49; i++) {
        check_range(edges[i / 7], edges[i % 7], INT32_MAX);
        check_range(edges[i / 7], edges[i % 7], INT32_MIN);
        check_range(edges[i / 7], edges[i % 7], -1000000007);
        check_range(edges[i / 7], edges[i % 7], 1000003);
    }
    check_range(0, 1000001, 1);
}

/* A value nested as deep as documents may be passes through as bytes. */
static void
deep_values_are_copied(void **state)
{
    enum { DEPTH = 150 };
    struct bench b;
    struct mrs_val v;
    bson_t level[DEPTH], doc = BSON_INITIALIZER;
    (void)state;
    bench_open(&b, 0);
    BSON_APPEND_DOCUMENT_BEGIN(&doc, "a", &level[0]);
    for (int i = 1; i < DEPTH; i++) {
        BSON_APPEND_DOCUMENT_BEGIN(&level[i - 1], "a", &level[i]);
    }
    for (int i = DEPTH - 1; i > 0; i--) {
        bson_append_document_end(&level[i - 1], &level[i]);
    }
    bson_append_document_end(&doc, &level[0]);
    assert_int_equal(
        bench_compile(&b,
                      "{'$arrayToObject': {'$objectToArray': {'$mergeObjects': ['$$ROOT', {}]}}}"),
        MRS_OK);
    b.ev.root = bench_view(&doc);
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
    assert_true(mrs_identical(v, mrs_view_val(b.ev.root)));
    bson_destroy(&doc);
    bench_close(&b);
}

static void
wrong_arguments_are_refused_by_the_plan(void **state)
{
    static const char *const ROWS[][2] = {
        {"{'$map': {'input': '$a'}}", "in"},
        {"{'$map': {'input': '$a', 'in': 1, 'x': 1}}", "'x'"},
        {"{'$map': {'input': '$a', 'as': 'ROOT', 'in': 1}}", "ROOT"},
        {"{'$map': {'input': '$$this', 'in': 1}}", "$$this"},
        {"{'$reduce': {'input': '$a', 'initialValue': '$$value', 'in': 1}}", "$$value"},
        {"{'$sortArray': {'input': '$a', 'sortBy': {}}}", "sortBy"},
        {"{'$sortArray': {'input': '$a', 'sortBy': 2}}", "sortBy"},
        {"{'$zip': {'inputs': '$a'}}", "inputs"},
        {"{'$zip': {'inputs': ['$a'], 'defaults': [1]}}", "defaults"},
        {"{'$setField': {'field': '$f', 'input': {}, 'value': 1}}", "field"},
        {"{'$setField': {'field': {'$concat': ['a', 'b']}, 'input': {}, 'value': 1}}", "field"},
        {"{'$regexMatch': {'input': '$a', 'regex': '('}}", "pattern"},
        {"{'$regexMatch': {'input': '$a', 'regex': 'a', 'options': 'g'}}", "option"},
        {"{'$dateToString': {'date': '$d', 'format': '%q'}}", "format"},
        {"{'$dateFromParts': {'month': 1}}", "year"},
        {"{'$dateFromParts': {'year': 1, 'isoWeek': 1}}", "either"},
        {"{'$year': {'date': '$d', 'zone': 'UTC'}}", "zone"},
        {"{'$slice': ['$a']}", "arguments"},
        {"{'$filter': {'input': '$a', 'cond': {'$divide': [1, 0]}}}", "constant"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        bench_refused(&b, ROWS[i][0], ROWS[i][1]);
    }
    bench_close(&b);
}

static const char DOC[] = "{'t': 'some text, some more text of a length', 'a': [3, 1, {'x': 2}, "
                          "'b', 1.0, null], 'd': {'$date': '2024-07-01T00:00:00Z'},"
                          " 'o': {'p': 1, 'q': [1, 2]}, 'n': 2, 'r': 'o[mt]', 'f': '%Y %j'}";

static const char *const FAMILIES[] = {
    "[{'$concat': ['$t', '$r']}, {'$split': ['$t', ' ']}, {'$toUpper': '$t'}, {'$trim': {'input': "
    "'$t'}}, {'$substrCP': ['$t', 1, 9]},"
    " {'$replaceAll': {'input': '$t', 'find': 'e', 'replacement': '$r'}}, {'$indexOfCP': ['$t', "
    "'x']}, {'$toLower': '$n'}]",
    "[{'$regexFindAll': {'input': '$t', 'regex': '(s)om'}}, {'$regexFind': {'input': '$t', "
    "'regex': '$r', 'options': 'i'}},"
    " {'$regexMatch': {'input': '$t', 'regex': '$r'}}]",
    "[{'$map': {'input': '$a', 'in': ['$$this', '$n']}}, {'$filter': {'input': '$a', 'cond': "
    "{'$gt': ['$$this', 1]}}},"
    " {'$reduce': {'input': '$a', 'initialValue': [], 'in': {'$concatArrays': ['$$value', "
    "['$$this']]}}}, {'$slice': ['$a', 1, 2]},"
    " {'$reduce': {'input': {'$range': [0, 1100]}, 'initialValue': '$a', 'in': {'$concatArrays': ['$$value', "
    "['$$this']]}}},"
    " {'$range': [0, '$n']}, {'$reverseArray': '$a'}, {'$sortArray': {'input': '$a', 'sortBy': "
    "{'x': 1}}},"
    " {'$zip': {'inputs': ['$a', '$a']}}, {'$maxN': {'n': 2, 'input': '$a'}}, {'$lastN': {'n': 1, "
    "'input': '$a'}}]",
    "[{'$setUnion': ['$a', [1, 9]]}, {'$setIntersection': ['$a', [1, 9]]}, {'$setDifference': "
    "['$a', [1]]}, {'$setEquals': ['$a', '$a']},"
    " {'$setIsSubset': ['$a', '$a']}, {'$anyElementTrue': ['$a']}]",
    "[{'$mergeObjects': ['$o', {'z': '$n'}]}, {'$objectToArray': '$o'}, {'$arrayToObject': "
    "{'$objectToArray': '$$ROOT'}},"
    " {'$setField': {'field': 'p', 'input': '$o', 'value': '$t'}}, {'$getField': 'o'}, "
    "{'$unsetField': {'field': 'q', 'input': '$o'}}]",
    "[{'$dateToString': {'date': '$d', 'format': '$f'}}, {'$dateToParts': {'date': '$d'}}, "
    "{'$dateTrunc': {'date': '$d', 'unit': 'year'}},"
    " {'$dateAdd': {'startDate': '$d', 'unit': 'month', 'amount': '$n'}}, {'$dateFromParts': "
    "{'year': 2024, 'day': '$n'}},"
    " {'$dateFromString': {'dateString': {'$dateToString': {'date': '$d'}}}}, {'$isoWeekYear': "
    "'$d'}]",
};

static void
every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++) {
        bool done = false;
        for (uint64_t n = 1; !done; n++) {
            struct bench b;
            struct mrs_val v;
            bench_open(&b, n);
            bench_doc(&b, DOC);
            enum mrs_status s = bench_compile(&b, FAMILIES[i]);
            s = s == MRS_OK ? mrs_expr_eval(b.x, &b.ev, &v) : s;
            if (s != MRS_OK && (s != MRS_DEAD || b.err.code != MRS_E_MEMORY)) {
                fail_msg("%s: allocation %d: %s", FAMILIES[i], (int)n, b.err.msg);
            }
            done = mrs_mem_count(b.mem) < n;
            assert_true(!done || s == MRS_OK);
            bench_close(&b);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_without_vectors),
        cmocka_unit_test(sorting_is_stable_and_large),
        cmocka_unit_test(large_documents_are_put_together),
        cmocka_unit_test(text_that_is_not_utf8),
        cmocka_unit_test(results_have_a_ceiling),
        cmocka_unit_test(a_long_reduce_forgets),
        cmocka_unit_test(ranges),
        cmocka_unit_test(deep_values_are_copied),
        cmocka_unit_test(wrong_arguments_are_refused_by_the_plan),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}
