/* SPDX-License-Identifier: Apache-2.0 */
/* t_query.c - query predicates: what paths find, what matches, what is refused, and every
 * allocation failing. */
#include "bench.h"

/* A filter as JSON, where %type and %options stand for $type and $options, which the JSON reader
 * keeps for itself. */
static bson_t *
filter_of(const char *text)
{
    bson_t *f = bench_json(text);
    uint8_t *p = (uint8_t *)(uintptr_t)bson_get_data(f), *at;
    while ((at = memmem(p, f->len, "%type", sizeof "%type")) ||
           (at = memmem(p, f->len, "%options", sizeof "%options"))) {
        *at = '$';
    }
    return f;
}

/* Whether the filter matches; fails the test where it does not compile or fails. */
static bool
asked(struct bench *b, const char *filter, const char *doc)
{
    struct mrs_query *q;
    bool yes = false;
    bson_t *f = filter_of(filter);
    bench_doc(b, doc);
    if (mrs_query_compile(&b->env, bench_view(f), &q, &b->err) != MRS_OK ||
        mrs_query_match(q, &b->ev, &yes) != MRS_OK) {
        fail_msg("%s on %s: %s", filter, doc, b->err.msg);
    }
    mrs_query_free(q);
    bson_destroy(f);
    return yes;
}

struct row {
    const char *filter, *doc;
    bool yes;
};

static void
rows(const struct row *row, size_t n)
{
    struct bench b;
    bench_open(&b, 0);
    for (size_t i = 0; i < n; i++) {
        if (asked(&b, row[i].filter, row[i].doc) != row[i].yes) {
            fail_msg("%s on %s: not %s", row[i].filter, row[i].doc, row[i].yes ? "true" : "false");
        }
    }
    bench_close(&b);
}

static void
paths_go_through_arrays_by_name_and_position(void **state)
{
    static const struct row ROWS[] = {
        {"{'a.b': 1}", "{'a': [{'b': 2}, {'b': 1}]}", true},
        {"{'a.b': 1}", "{'a': [[{'b': 1}]]}", false},
        {"{'a.0.b': 1}", "{'a': [{'b': 1}, {'b': 2}]}", true},
        {"{'a.1.b': 1}", "{'a': [{'b': 1}, {'b': 2}]}", false},
        {"{'a.0.b': 1}", "{'a': [{'0': {'b': 1}}]}", true},
        {"{'a.0.b': 1}", "{'a': {'0': {'b': 1}}}", true},
        {"{'a.0.b': 1}", "{'a': [[{'b': 1}]]}", true},
        {"{'a.0.0.b': 1}", "{'a': [[{'b': 1}]]}", true},
        {"{'a.0': 5}", "{'a': [5, 6]}", true},
        {"{'a.1': 5}", "{'a': [5, 6]}", false},
        {"{'a.1': 6}", "{'a': [5, {'1': 6}]}", true},
        {"{'a.0': [1, 2]}", "{'a': [[1, 2], 3]}", true},
        {"{'a.0': 1}", "{'a': [[1, 2], 3]}", false},
        {"{'a.00': 5}", "{'a': [5]}", false},
        {"{'a': 2}", "{'a': [1, 2]}", true},
        {"{'a': [1, 2]}", "{'a': [1, 2]}", true},
        {"{'a': [1, 2]}", "{'a': [[1, 2]]}", true},
        {"{'a': [1, 2]}", "{'a': [1, 2, 3]}", false},
        {"{'a.b': {'$gt': 3, '$lt': 2}}", "{'a': [{'b': 5}, {'b': 1}]}", true},
        {"{'a': {'$elemMatch': {'b': {'$gt': 3, '$lt': 2}}}}", "{'a': [{'b': 5}, {'b': 1}]}",
         false},
        {"{'': 1}", "{'': 1}", true},
        {"{'a.': 1}", "{'a': {'': 1}}", true},
        {"{'a.$id': 7}", "{'a': {'$ref': 'x', '$id': 7}}", true},
    };
    (void)state;
    rows(ROWS, sizeof ROWS / sizeof *ROWS);
}

static void
null_and_missing(void **state)
{
    static const struct row ROWS[] = {
        {"{'a': null}", "{}", true},
        {"{'a': null}", "{'a': null}", true},
        {"{'a': null}", "{'a': 1}", false},
        {"{'a': null}", "{'a': [1, null]}", true},
        {"{'a': null}", "{'a': []}", false},
        {"{'a.b': null}", "{'a': 1}", true},
        {"{'a.b': null}", "{'a': [1, 2]}", false},
        {"{'a.b': null}", "{'a': [{}]}", true},
        {"{'a.b': null}", "{'a': []}", false},
        {"{'a': {'$ne': null}}", "{}", false},
        {"{'a': {'$ne': null}}", "{'a': 0}", true},
        {"{'a': {'$exists': false}}", "{'a': null}", false},
        {"{'a': {'$exists': false}}", "{}", true},
        {"{'a.b': {'$exists': true}}", "{'a': [{'c': 1}, {'b': null}]}", true},
        {"{'a': {'%type': 10}}", "{}", false},
        {"{'a': {'$in': [null, 3]}}", "{}", true},
        {"{'a': {'$nin': [null, 3]}}", "{}", false},
        {"{'a': {'$gte': null}}", "{}", true},
        {"{'a': {'$gt': null}}", "{}", false},
        {"{'$expr': {'$eq': ['$a', null]}}", "{}", false},
    };
    (void)state;
    rows(ROWS, sizeof ROWS / sizeof *ROWS);
}

static void
comparisons_stay_within_a_type(void **state)
{
    static const struct row ROWS[] = {
        {"{'a': {'$lt': 5}}", "{'a': 'x'}", false},
        {"{'a': {'$gt': 5}}", "{'a': 'x'}", false},
        {"{'a': {'$lt': 5}}", "{'a': {'$numberDecimal': '4.5'}}", true},
        {"{'a': {'$lte': 5}}", "{'a': {'$numberDouble': 'NaN'}}", false},
        {"{'a': {'$lte': {'$numberDouble': 'NaN'}}}", "{'a': {'$numberDecimal': 'NaN'}}", true},
        {"{'a': {'$gt': {'$minKey': 1}}}", "{'a': 'x'}", true},
        {"{'a': {'$lt': {'$maxKey': 1}}}", "{'a': 'x'}", true},
        {"{'a': {'$gt': {'$maxKey': 1}}}", "{'a': 'x'}", false},
        {"{'a': {'$gte': [1]}}", "{'a': [2]}", true},
        {"{'a': {'$gte': [3]}}", "{'a': [2]}", false},
        {"{'a': {'x': 1, 'y': 2}}", "{'a': {'x': 1, 'y': 2}}", true},
        {"{'a': {'x': 1, 'y': 2}}", "{'a': {'y': 2, 'x': 1}}", false},
        {"{'a': {'$eq': {'$numberLong': '1'}}}", "{'a': 1.0}", true},
        {"{'$expr': {'$lt': [5, '$a']}}", "{'a': 'x'}", true},
    };
    (void)state;
    rows(ROWS, sizeof ROWS / sizeof *ROWS);
}

static void
operators_do_what_they_say(void **state)
{
    static const struct row ROWS[] = {
        {"{}", "{'a': 1}", true},
        {"{'$comment': 'x', 'a': 1}", "{'a': 1}", true},
        {"{'$or': [{'a': 1}, {'b': 2}]}", "{'b': 2}", true},
        {"{'$nor': [{'a': 1}, {'b': 2}]}", "{'b': 2}", false},
        {"{'$nor': [{'a': 1}, {'b': 2}]}", "{'b': 3}", true},
        {"{'$and': [{'a': 1}, {'$or': [{'b': 2}, {'b': 3}]}]}", "{'a': 1, 'b': 3}", true},
        {"{'a': {'$not': {'$gt': 3}}}", "{}", true},
        {"{'a': {'$not': {'$gt': 3, '$lt': 9}}}", "{'a': 5}", false},
        {"{'a': {'$all': [1, 2]}}", "{'a': [2, 3, 1]}", true},
        {"{'a': {'$all': [1, 2]}}", "{'a': [2]}", false},
        {"{'a': {'$all': []}}", "{'a': []}", false},
        {"{'a': {'$all': [[1]]}}", "{'a': [1]}", true},
        {"{'a': {'$all': [{'$elemMatch': {'x': 1}}, {'$elemMatch': {'x': 2}}]}}",
         "{'a': [{'x': 1}, {'x': 2}]}", true},
        {"{'a': {'$size': 2}}", "{'a': [1, [2, 3]]}", true},
        {"{'a': {'$size': 2}}", "{'a': [[1, 2]]}", false},
        {"{'a': {'$elemMatch': {'$gte': 2, '$lt': 4}}}", "{'a': [1, 5, 3]}", true},
        {"{'a': {'$elemMatch': {'$gte': 2, '$lt': 4}}}", "{'a': 3}", false},
        {"{'a': {'$elemMatch': {'$elemMatch': {'$gt': 2}}}}", "{'a': [[1], [3]]}", true},
        {"{'a': {'$elemMatch': {'0': 7}}}", "{'a': [[7]]}", true},
        {"{'a': {'$elemMatch': {'$or': [{'x': 1}, {'y': 2}]}}}", "{'a': [{'y': 2}]}", true},
        {"{'a': {'$elemMatch': {}}}", "{'a': [1, {}]}", true},
        {"{'a': {'$elemMatch': {}}}", "{'a': [1]}", false},
        {"{'a': {'$elemMatch': {'$not': {'$gt': 2}}}}", "{'a': [3, 1]}", true},
        {"{'a': {'$mod': [4, 1]}}", "{'a': -3}", false},
        {"{'a': {'$mod': [4, -3]}}", "{'a': -3}", true},
        {"{'a': {'$mod': [4.9, 1]}}", "{'a': 5.9}", true},
        {"{'a': {'$mod': [-1, 0]}}", "{'a': {'$numberLong': '-9223372036854775808'}}", true},
        {"{'a': {'$mod': [2, 0]}}", "{'a': {'$numberDouble': 'Infinity'}}", false},
        {"{'a': {'$in': [3, 1, 2]}}", "{'a': 2.0}", true},
        {"{'a': {'$in': [[1, 2], 'x']}}", "{'a': [1, 2]}", true},
        {"{'a': {'$nin': [1, 2]}}", "{'a': [3, 2]}", false},
        {"{'a': {'%type': ['string', 'array']}}", "{'a': []}", true},
        {"{'a': {'%type': 'number'}}", "{'a': [{'$numberDecimal': '1'}]}", true},
        {"{'a': {'%type': -1}}", "{'a': {'$minKey': 1}}", true},
        {"{'a': {'$bitsAllSet': 5}}", "{'a': 7}", true},
        {"{'a': {'$bitsAllSet': [1, 200]}}", "{'a': -1}", true},
        {"{'a': {'$bitsAnyClear': [200]}}", "{'a': 5}", true},
        {"{'a': {'$bitsAllClear': 2}}", "{'a': 1.5}", false},
        {"{'a': {'$bitsAllSet': [9]}}", "{'a': {'$binary': {'base64': 'AAI=', 'subType': '00'}}}",
         true},
        {"{'a': {'$not': {'%type': 'string'}}}", "{'a': ['x']}", false},
        {"{'a': {'$ref': 'c', '$id': 1}}", "{'a': {'$ref': 'c', '$id': 1}}", true},
    };
    (void)state;
    rows(ROWS, sizeof ROWS / sizeof *ROWS);
}

/* {name: {$regex: pattern, $options: options}}, made by hand: the JSON reader takes it for a value.
 */
static enum mrs_status
regex_query(struct bench *b, const char *pattern, const char *options, bool value,
            struct mrs_query **q)
{
    bson_t filter = BSON_INITIALIZER, inner;
    if (value) {
        BSON_APPEND_REGEX(&filter, "a", pattern, options);
    } else {
        BSON_APPEND_DOCUMENT_BEGIN(&filter, "a", &inner);
        BSON_APPEND_UTF8(&inner, "$regex", pattern);
        if (options) {
            BSON_APPEND_UTF8(&inner, "$options", options);
        }
        bson_append_document_end(&filter, &inner);
    }
    mrs_err_clear(&b->err);
    enum mrs_status s = mrs_query_compile(&b->env, bench_view(&filter), q, &b->err);
    bson_destroy(&filter);
    return s;
}

static void
regular_expressions(void **state)
{
    static const struct {
        const char *pattern, *options, *text;
        bool yes;
    } ROWS[] = {
        {"^ab+c", NULL, "abbcd", true},
        {"^ab+c", "i", "ABC", true},
        {"^b", NULL, "a\nb", false},
        {"^b", "m", "a\nb", true},
        {"a.b", "s", "a\nb", true},
        {"a b", "x", "ab", true},
        {"\\d", NULL, "٣", false},
        {"^.$", NULL, "\xE2\x82\xAC", true},
        {"a", "u", "xa", true},
        {"a", NULL,
         "\xFF"
         "a",
         false}, /* no UTF-8: no match, no error */
    };
    struct bench b;
    struct mrs_query *q;
    bool yes;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        bson_t doc = BSON_INITIALIZER;
        bson_append_utf8(&doc, "a", 1, ROWS[i].text, -1);
        b.ev.root = bench_view(&doc);
        for (int value = 0; value < (ROWS[i].options ? 2 : 1); value++) {
            if (regex_query(&b, ROWS[i].pattern, ROWS[i].options, value, &q) != MRS_OK) {
                fail_msg("/%s/: %s", ROWS[i].pattern, b.err.msg);
            }
            assert_int_equal(mrs_query_match(q, &b.ev, &yes), MRS_OK);
            if (yes != ROWS[i].yes) {
                fail_msg("/%s/ on '%s'", ROWS[i].pattern, ROWS[i].text);
            }
            mrs_query_free(q);
        }
        bson_destroy(&doc);
    }
    assert_int_equal(regex_query(&b, "a(", NULL, false, &q), MRS_FAIL);
    assert_non_null(strstr(b.err.msg, "$regex"));
    assert_int_equal(regex_query(&b, "a", "g", false, &q), MRS_FAIL);
    /* needs more steps than anybody has */
    assert_int_equal(regex_query(&b, "(a|a)*(a|a)*(a|a)*(a|a)*(a|a)*[bd]$", NULL, false, &q),
                     MRS_OK);
    bench_doc(&b, "{'a': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac'}");
    assert_int_equal(mrs_query_match(q, &b.ev, &yes), MRS_FAIL);
    assert_int_equal(b.err.code, MRS_E_EXPR);
    mrs_query_free(q);
    bench_close(&b);
}

static void
wrong_filters_are_refused(void **state)
{
    static const char *const ROWS[][2] = {
        {"{'$foo': 1}", "$foo"},
        {"{'a': {'$foo': 1}}", "$foo"},
        {"{'a': {'$gt': 1, 'b': 2}}", "b"},
        {"{'$and': []}", "$and"},
        {"{'$or': {'a': 1}}", "$or"},
        {"{'$nor': [1]}", "$nor"},
        {"{'a': {'$in': 1}}", "$in"},
        {"{'a': {'$in': [{'$gt': 1}]}}", "$in"},
        {"{'a': {'$not': 1}}", "$not"},
        {"{'a': {'$not': {}}}", "$not"},
        {"{'a': {'$size': -1}}", "$size"},
        {"{'a': {'$size': 1.5}}", "$size"},
        {"{'a': {'$mod': [0, 1]}}", "$mod"},
        {"{'a': {'$mod': [2]}}", "$mod"},
        {"{'a': {'$mod': [{'$numberDouble': 'NaN'}, 1]}}", "$mod"},
        {"{'a': {'%type': 'strin'}}", "$type"},
        {"{'a': {'%type': []}}", "$type"},
        {"{'a': {'$all': 1}}", "$all"},
        {"{'a': {'$all': [1, {'$elemMatch': {}}]}}", "$all"},
        {"{'a': {'$elemMatch': 1}}", "$elemMatch"},
        {"{'a': {'$elemMatch': {'$expr': true}}}", "$expr"},
        {"{'a': {'$bitsAllSet': -1}}", "$bitsAllSet"},
        {"{'a': {'%options': 'i'}}", "$options"},
        {"{'a': {'$gt': {'$undefined': true}}}", "undefined"},
        {"{'a': {'$gt': {'$regularExpression': {'pattern': 'a', 'options': ''}}}}",
         "regular expression"},
        {"{'$expr': {'$foo': 1}}", "$foo"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct mrs_query *q;
        bson_t *f = filter_of(ROWS[i][0]);
        mrs_err_clear(&b.err);
        enum mrs_status s = mrs_query_compile(&b.env, bench_view(f), &q, &b.err);
        if (s != MRS_FAIL || b.err.code != MRS_E_PLAN || !strstr(b.err.msg, ROWS[i][1])) {
            fail_msg("%s: status %d, '%s'", ROWS[i][0], s, b.err.msg);
        }
        assert_null(q);
        bson_destroy(f);
    }
    bench_close(&b);
}

static void
deep_filters_are_refused_and_deep_documents_matched(void **state)
{
    struct bench b;
    struct mrs_query *q;
    (void)state;
    bench_open(&b, 0);
    for (int deep = 0; deep < 2; deep++) {
        char text[8000] = "";
        int n = deep ? 300 : 40;
        for (int i = 0; i < n; i++) {
            strcat(text, "{'$and': [");
        }
        strcat(text, "{'a': 1}");
        for (int i = 0; i < n; i++) {
            strcat(text, "]}");
        }
        bson_t *f = NULL;
        bson_error_t error;
        for (char *p = text; *p; p++) {
            *p = *p == '\'' ? '"' : *p;
        }
        f = bson_new_from_json((const uint8_t *)text, -1, &error);
        if (f) { /* the JSON reader gives up at some depth of its own */
            enum mrs_status s = mrs_query_compile(&b.env, bench_view(f), &q, &b.err);
            assert_int_equal(s, n < 100 ? MRS_OK : MRS_FAIL);
            mrs_query_free(q);
            bson_destroy(f);
        }
    }
    bench_close(&b);
}

static void
collect(void *arg, const char *path)
{
    strcat(arg, path);
    strcat(arg, " ");
}

static void
paths_that_are_read_are_told(void **state)
{
    struct bench b;
    struct mrs_query *q;
    char got[200] = "";
    (void)state;
    bench_open(&b, 0);
    bson_t *f = bench_json("{'a.b': 1, '$or': [{'c': 2}, {'d': {'$elemMatch': {'e.f': 3, 'g': "
                           "{'$elemMatch': {'h': 1}}}}}],"
                           " 'i': {'$elemMatch': {'$gt': 1}}, '$expr': {'$gt': ['$x.y', '$z']}}");
    assert_int_equal(mrs_query_compile(&b.env, bench_view(f), &q, &b.err), MRS_OK);
    mrs_query_reads(q, collect, got);
    assert_string_equal(got, "a.b c d d.e.f d.g d.g.h i x.y z ");
    mrs_query_free(q);
    bson_destroy(f);
    bench_close(&b);
}

static void
failing_expressions_fail_the_match(void **state)
{
    struct bench b;
    struct mrs_query *q;
    bool yes;
    (void)state;
    bench_open(&b, 0);
    bson_t *f = bench_json("{'$expr': {'$divide': [1, '$a']}}");
    assert_int_equal(mrs_query_compile(&b.env, bench_view(f), &q, &b.err), MRS_OK);
    bench_doc(&b, "{'a': 0}");
    assert_int_equal(mrs_query_match(q, &b.ev, &yes), MRS_FAIL);
    assert_int_equal(b.err.code, MRS_E_EXPR);
    mrs_query_free(q);
    bson_destroy(f);
    bench_close(&b);
}

static void
every_allocation_may_fail(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct bench b;
        struct mrs_query *q;
        bool yes = false;
        bench_open(&b, n);
        bench_doc(&b, "{'a': [1, 'xyz', {'b': 7}], 'c': 'abc'}");
        bson_t *f =
            bench_json("{'$or': [{'a.b': {'$in': [5, 6, {'$regularExpression': {'pattern': 'q', "
                       "'options': 'i'}}]}},"
                       " {'c': {'$not': {'$regularExpression': {'pattern': 'b', 'options': ''}}}},"
                       " {'a': {'$all': [{'$elemMatch': {'b': {'$bitsAllSet': 7}}}], '$size': 3, "
                       "'$mod': [2, 0]}},"
                       " {'$expr': {'$eq': [{'$concat': ['$c', 'd']}, 'abcd']}}]}");
        enum mrs_status s = mrs_query_compile(&b.env, bench_view(f), &q, &b.err);
        s = s == MRS_OK ? mrs_query_match(q, &b.ev, &yes) : s;
        assert_true(s == MRS_OK || (s == MRS_DEAD && b.err.code == MRS_E_MEMORY));
        assert_true(s != MRS_OK || yes);
        done = mrs_mem_count(b.mem) < n;
        assert_true(!done || s == MRS_OK);
        mrs_query_free(q);
        bson_destroy(f);
        bench_close(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_go_through_arrays_by_name_and_position),
        cmocka_unit_test(null_and_missing),
        cmocka_unit_test(comparisons_stay_within_a_type),
        cmocka_unit_test(operators_do_what_they_say),
        cmocka_unit_test(regular_expressions),
        cmocka_unit_test(wrong_filters_are_refused),
        cmocka_unit_test(deep_filters_are_refused_and_deep_documents_matched),
        cmocka_unit_test(paths_that_are_read_are_told),
        cmocka_unit_test(failing_expressions_fail_the_match),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
