/* SPDX-License-Identifier: Apache-2.0 */
/* t_yaml.c - what words of YAML mean, and every way a text can be no plan: syntax, tags, anchors,
 * depth, size. */
#include "fake.h"

#include <time.h>

static void
words(void **state)
{
    (void)state;
    static const char *const strings[] = {
        "no",  "on",    "True",     "FALSE",      "Null", "NULL", "yes", "off", "y",
        "0b1", "1_000", "12:30:45", "2020-01-01", "+",    ".",    "-.",  "1e",  "1.5.2",
        "0o8", "0xg",   "-0x1",     ".infinity",  "<<",   "e5",   "0o",  "1e+"};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        char json[64];
        snprintf(json, sizeof json, "\"%s\"", strings[i]);
        is_value(strings[i], true, json);
    }
    is_value("true", true, "true");
    is_value("false", true, "false");
    is_value("null", true, "null");
    is_value("~", true, "null");
    is_value("", true, "null");
    is_value("'null'", true, "\"null\"");
    is_value("\"5\"", true, "\"5\"");
    is_value("!!str 5", true, "\"5\"");
    is_value("!!int 5", true, "{\"$numberInt\":\"5\"}");
    is_value("!!float 5", true, "{\"$numberDouble\":\"5.0\"}");
    is_value("!!bool true", true, "true");
    is_value("!!null null", true, "null");
    is_value("!!map { a: 1 }", true, "{\"a\":{\"$numberInt\":\"1\"}}");
    is_value("!!seq [1]", true, "[{\"$numberInt\":\"1\"}]");
}

static void
numbers(void **state)
{
    (void)state;
    is_value("0", true, "{\"$numberInt\":\"0\"}");
    is_value("-0", true, "{\"$numberInt\":\"0\"}");
    is_value("+7", true, "{\"$numberInt\":\"7\"}");
    is_value("007", true, "{\"$numberInt\":\"7\"}");
    is_value("0o17", true, "{\"$numberInt\":\"15\"}");
    is_value("0xfF", true, "{\"$numberInt\":\"255\"}");
    is_value("2147483647", true, "{\"$numberInt\":\"2147483647\"}");
    is_value("2147483648", true, "{\"$numberLong\":\"2147483648\"}");
    is_value("-2147483648", true, "{\"$numberInt\":\"-2147483648\"}");
    is_value("-2147483649", true, "{\"$numberLong\":\"-2147483649\"}");
    is_value("9223372036854775807", true, "{\"$numberLong\":\"9223372036854775807\"}");
    is_value("-9223372036854775808", true, "{\"$numberLong\":\"-9223372036854775808\"}");
    is_value("0x7fffffffffffffff", true, "{\"$numberLong\":\"9223372036854775807\"}");
    is_bad_value("9223372036854775808", 12, "number 9223372036854775808 is too large");
    is_bad_value("-9223372036854775809", 12, "too large");
    is_bad_value("0xffffffffffffffff", 12, "too large");
    is_bad_value("100000000000000000000000000000000000000000", 12, "too large");
    is_bad_value("1e999", 12, "too large");
    is_value("1.5", true, "{\"$numberDouble\":\"1.5\"}");
    is_value("1.", true, "{\"$numberDouble\":\"1.0\"}");
    is_value(".5", true, "{\"$numberDouble\":\"0.5\"}");
    is_value("-.5e1", true, "{\"$numberDouble\":\"-5.0\"}");
    is_value("1e3", true, "{\"$numberDouble\":\"1000.0\"}");
    is_value("1E-2", true, "{\"$numberDouble\":\"0.01\"}");
    is_value("-0.0", true, "{\"$numberDouble\":\"-0.0\"}");
    is_value(".inf", true, "{\"$numberDouble\":\"Infinity\"}");
    is_value("-.Inf", true, "{\"$numberDouble\":\"-Infinity\"}");
    is_value("+.INF", true, "{\"$numberDouble\":\"Infinity\"}");
    is_value(".nan", true, "{\"$numberDouble\":\"NaN\"}");
    is_value("1e-999", true, "{\"$numberDouble\":\"0.0\"}");
}

static void
texts_and_keys(void **state)
{
    (void)state;
    is_value("{ 1: a, true: b, ~: c, 1.50: d }", true,
             "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\",\"1.50\":\"d\"}");
    is_value("\"a\\0b\"", true, "\"a\\u0000b\"");
    is_value("{\"a\":[1,{\"b\":null}]}", true, "{\"a\":[{\"$numberInt\":\"1\"},{\"b\":null}]}");
    is_value("|\n      one\n      two\n", true, "\"one\\ntwo\\n\"");
    is_bad_value("{ \"a\\0b\": 1 }", 14, "U+0000");
}

static void
json_pairs(void **state)
{
    (void)state;
    const char *text = "{\"steps\": [{\"set\": {\"in\": \"a\", \"fields\": {\"x\": \"a\\\\ud83d "
                       "\\ud83d\\ude00 \\uD83D\\uDE01\"}}}]}";
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, text, strlen(text), MRS_OK);
    struct fake_state *s = p->steps[0].state;
    struct mrs_val v = mrs_doc_get(mrs_val_view(mrs_doc_get(s->body, "fields")), "x");
    assert_string_equal((const char *)v.p + 4, "a\\ud83d \xF0\x9F\x98\x80 \xF0\x9F\x98\x81");
    close_plan(mem, p);
    EXPECT("{\"steps\": \"\\ud83d\"}", {1, 14, "not valid YAML"});
}

static void
syntax(void **state)
{
    (void)state;
    EXPECT("", {1, 1, "the plan is empty"});
    EXPECT("# only this\n", {1, 1, "the plan is empty"});
    EXPECT("steps: []\n---\nsteps: []\n", {2, 1, "a second document"});
    EXPECT("steps:\n\t- set: 1\n", {2, 1, "a tab cannot indent"});
    EXPECT("steps: [1, 2\n", {2, 1, "a bracket is not closed"});
    EXPECT("plan: a: b\nsteps: []\n", {1, 8, "needs quotes"});
    EXPECT("steps: []\n plan: x\n", {2, 2, "check the indentation"});
    EXPECT("steps: []\nplan\nserver: 1\n", {2, 1, "a key needs `: ` after it"});
    EXPECT("plan: @x\n", {1, 7, "put quotes around this text"});
    EXPECT("plan: \"x\nsteps: []\n", {3, 1, "a quote is not closed"});
    expect_n("plan: \xff\n", 8, (const struct at[]){{1, 7, "UTF-8"}}, 1);
    expect_n("plan: x\nb: \0\n", 13, (const struct at[]){{2, 4, "UTF-8"}}, 1);
    EXPECT("- set: {}\n", {1, 1, "write `steps:` above the list"});
    EXPECT("plan\n", {1, 1, "a plan is a map"});
    EXPECT("? [a, b]\n: 1\nsteps: []\n", {1, 3, "a key must be text"});
    EXPECT("steps: [{{x: 1}: 2}]\n", {1, 10, "a key must be text"});
}

static void
repeated_keys_and_tags(void **state)
{
    (void)state;
    EXPECT("steps: []\nplan: a\nplan: b\nsteps: []\n",
           {3, 1, "`plan` occurs twice in this map, first at line 2, column 1"},
           {4, 1, "`steps` occurs twice in this map, first at line 1, column 1"});
    EXPECT("{\"steps\": [{\"set\": {\"in\": \"a\", \"fields\": {\"a\": 1, \"b\": 2, \"a\": 3}}}]}",
           {1, 59, "`a` occurs twice in this map, first at line 1, column 43"});
    is_bad_value("!oid 5", 12, "tag `!oid` is not known");
    is_bad_value("!!binary aGk=", 12, "tag `!!binary`");
    is_bad_value("!!int x", 12, "`!!int` does not go with `x`");
    is_bad_value("!!bool yes", 12, "`!!bool`");
    is_bad_value("!!set { a: 1 }", 12, "is not known for a map");
    is_bad_value("!!map [1]", 12, "is not known for a list");
}

static void
anchors(void **state)
{
    (void)state;
    is_value("[&a { x: 1 }, *a, *a]", false, "[{\"x\":1},{\"x\":1},{\"x\":1}]");
    is_value("{ &k key: 1, b: *k }", false, "{\"key\":1,\"b\":\"key\"}");
    is_value("[&k 007, { *k : 1 }]", false, "[7,{\"007\":1}]");
    is_value("[&a 1, *a, &a 2, *a]", false, "[1,1,2,2]");
    is_bad_value("&a [*a]", 16, "`*a` is inside its own anchor");
    is_bad_value("&a { x: { y: [*a] } }", 26, "`*a` is inside");
    is_bad_value("*nobody", 12, "`*nobody` names no anchor");
    is_bad_value("[&a [1], { *a : 1 }]", 23, "names a map or a list");
}

static void
bombs(void **state)
{
    (void)state;
    char text[8192];
    int n = snprintf(text, sizeof text,
                     "steps:\n- set:\n    in: a\n    fields: { x: 1 }\n    value:\n    - &a0 [lol, "
                     "lol, lol, lol]\n");
    for (int i = 1; i < 20; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "    - &a%d [*a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i - 1, i - 1, i - 1, i - 1,
                      i - 1);
    }
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, text, (size_t)n, MRS_FAIL);
    assert_int_equal(p->n_errors, 1);
    assert_non_null(strstr(p->errors[0].msg, "16 MiB"));
    assert_true(mrs_mem_peak(mem) < 1 << 20);
    close_plan(mem, p);

    n = snprintf(text, sizeof text,
                 "steps:\n- set:\n    in: a\n    fields: { x: 1 }\n    value:\n    - &a0 "
                 "[[[[[[[[[[1]]]]]]]]]]\n");
    for (int i = 1; i < 12; i++) { /* ten levels each: more than 100 only through aliases */
        n += snprintf(text + n, sizeof text - (size_t)n, "    - &a%d [[[[[[[[[*a%d]]]]]]]]]\n", i,
                      i - 1);
    }
    mem = mrs_mem_new(0);
    p = load_n(mem, text, (size_t)n, MRS_FAIL);
    assert_int_equal(p->n_errors, 1);
    assert_non_null(strstr(p->errors[0].msg, "nested more than 100 deep"));
    close_plan(mem, p);

    struct mrs_buf many;
    mem = mrs_mem_new(0);
    mrs_buf_init(&many, mem, 1 << 20);
    mrs_buf_printf(&many, "steps:\n");
    for (int i = 0; i < 1001; i++) {
        mrs_buf_printf(&many, "- &a%d x\n", i);
    }
    p = load_n(mem, (char *)many.p, many.n, MRS_FAIL);
    assert_non_null(strstr(p->errors[0].msg, "more than 1000 anchors"));
    assert_int_equal(p->errors[0].line, 1002);
    mrs_buf_clear(&many);
    close_plan(mem, p);
}

static void
expect_quick(const char *unit, size_t times, const char *part)
{
    size_t un = strlen(unit), n = un * times;
    char *text = malloc(n + 1);
    struct timespec a, b;
    for (size_t i = 0; i < times; i++) {
        memcpy(text + i * un, unit, un);
    }
    text[n] = '\0';
    struct mrs_mem *mem = mrs_mem_new(0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    struct mrs_plan *p = load_n(mem, text, n, MRS_FAIL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    assert_non_null(strstr(p->errors[0].msg, part));
    assert_true(b.tv_sec - a.tv_sec < 10);
    close_plan(mem, p);
    free(text);
}

static void
quick(void **state)
{
    (void)state;
    expect_quick("[", 200000, "nested more than 100 deep");
    expect_quick("{a: ", 200000, "nested more than 100 deep");
    expect_quick("- ", 200000, "nested more than 100 deep");
    expect_quick("%TAG !a! b\n", 200000, "directives");
    expect_quick("? ", 200000, "");
    expect_quick("k: 1\n", 200000, "occurs twice");
    expect_quick("x", 4u << 20, "a plan is a map");
    expect_quick("x\n", 3u << 20, "passes the 4 MiB");
    expect_quick("\"", 200001, "not valid YAML");
    expect_quick("!", 200000, "");
}

static void
depth(void **state)
{
    (void)state;
    char text[400] = "steps: []\nplan: ";
    size_t head = strlen(text);
    for (int deep = 99; deep <= 100; deep++) {
        memset(text + head, '[', (size_t)deep);
        memset(text + head + deep, ']', (size_t)deep);
        text[head + 2 * (size_t)deep] = '\0';
        struct at want = {2, deep == 99 ? 1 : 106,
                          deep == 99 ? "`plan` must be a text" : "nested more than 100 deep"};
        expect_n(text, strlen(text), &want, 1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),          cmocka_unit_test(numbers),
        cmocka_unit_test(texts_and_keys), cmocka_unit_test(json_pairs),
        cmocka_unit_test(syntax),         cmocka_unit_test(repeated_keys_and_tags),
        cmocka_unit_test(anchors),        cmocka_unit_test(bombs),
        cmocka_unit_test(quick),          cmocka_unit_test(depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
