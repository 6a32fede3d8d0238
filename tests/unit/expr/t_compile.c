/* SPDX-License-Identifier: Apache-2.0 */
/* t_compile.c - reading expressions: what is refused and in which words, what is constant, what is read. */
#include "bench.h"

static void
unknown_operators_name_the_nearest(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    bench_refused(&b, "{'$concta': ['a', 'b']}", "no operator $concta: the nearest known one is $concat");
    bench_refused(&b, "{'$toint': 1}", "the nearest known one is $toInt");
    bench_refused(&b, "{'$isarray': 1}", "the nearest known one is $isArray");
    bench_refused(&b, "{'$adde': [1]}", "the nearest known one is $add");
    bench_refused(&b, "{'$xyzzyplugh': 1}", "no operator $xyzzyplugh");
    assert_null(strstr(b.err.msg, "nearest"));
    assert_int_equal(b.err.code, MRS_E_PLAN);
    char long_name[200];
    snprintf(long_name, sizeof long_name, "{'$%0150d': 1}", 7);
    bench_refused(&b, long_name, "no operator $000");
    bench_close(&b);
}

static void
errors_say_where(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    bench_refused(&b, "{'a': {'$cond': [true, 1, {'$add': [1, '$$X']}]}}", "no variable $$X");
    assert_string_equal(b.err.where, "a.$cond[2].$add[1]");
    bench_refused(&b, "{'$convert': {'input': {'$ad': 1}, 'to': 'int'}}", "$ad");
    assert_string_equal(b.err.where, "$convert.input");
    bench_refused(&b, "[1, {'b': {'$abs': 'x'}}]", "$abs: takes a number, not string (a constant part always fails)");
    assert_string_equal(b.err.where, "[1].b.$abs");
    bench_refused(&b, "'$a..b'", "empty part");
    assert_string_equal(b.err.where, "");
    bench_close(&b);
}

static void
wrong_shapes_are_refused(void **state)
{
    static const char *const CASES[][2] = {
        {"{'$divide': [1]}", "$divide: takes exactly 2 arguments, not 1"},
        {"{'$divide': '$a'}", "takes exactly 2 arguments, not 1"},
        {"{'$not': [1, 2]}", "takes exactly 1 argument, not 2"},
        {"{'$round': [1, 2, 3]}", "takes 1 to 2 arguments, not 3"},
        {"{'$ifNull': ['$a']}", "takes at least 2 arguments, not 1"},
        {"{'$cond': {'if': 1, 'then': 2}}", "the argument 'else' is missing"},
        {"{'$cond': {'if': 1, 'then': 2, 'else': 3, 'otherwise': 4}}", "has no argument 'otherwise'"},
        {"{'$cond': {'if': 1, 'if': 1, 'then': 2, 'else': 3}}", "given twice"},
        {"{'$cond': [1, 2]}", "takes exactly 3 arguments"},
        {"{'$convert': 1}", "takes a document of named arguments"},
        {"{'$convert': {'input': 1}}", "the argument 'to' is missing"},
        {"{'$let': {'vars': {}}}", "the argument 'in' is missing"},
        {"{'$let': {'in': 1}}", "'vars' must be there"},
        {"{'$let': {'vars': {'X': 1}, 'in': 1}}", "'X' cannot name a variable"},
        {"{'$let': {'vars': {'ROOT': 1}, 'in': 1}}", "cannot name a variable"},
        {"{'$let': {'vars': {'': 1}, 'in': 1}}", "cannot name a variable"},
        {"{'$let': {'vars': {'a': 1, 'b': '$$a'}, 'in': 1}}", "no variable $$a"},
        {"{'$switch': {'branches': []}}", "with something in it"},
        {"{'$switch': {'branches': [{'case': 1}]}}", "needs both"},
        {"{'$switch': {'branches': [{'case': 1, 'then': 1, 'x': 1}]}}", "a branch has no 'x'"},
        {"{'$switch': {'branches': [{'case': 1, 'then': 1}], 'defualt': 1}}", "has no argument 'defualt'"},
        {"{'$add': [1], '$subtract': [1, 2]}", "an operator must be the only key"},
        {"{'$if': '$a', '$then': 1}", "no operator $if in an expression: write $cond"},
        {"{'a': 1, '$add': [1]}", "begins with a dollar sign"},
        {"{'a.b': 1}", "has a dot"},
        {"{'': 1}", "is empty"},
        {"{'a': 1, 'a': 2}", "occurs twice"},
        {"'$'", "empty part"},
        {"'$$'", "names no variable"},
        {"'$$.a'", "names no variable"},
        {"'$a.'", "empty part"},
        {"'$a.$b'", "begins with a dollar sign"},
        {"'$a\\u0000b'", "NUL"},
        {"'$$REMOVE..a'", "empty part"},
        {"'$$now'", "no variable $$now here (known: $$ROOT, $$NOW, $$REMOVE)"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        bench_refused(&b, CASES[i][0], CASES[i][1]);
        assert_int_equal(b.err.code, MRS_E_PLAN);
    }
    bench_close(&b);
}

/* {$not: {$not: ... "$a"}} of n operators. */
static bson_t *
nested_not(int n)
{
    bson_t *inner = bson_new();
    BSON_APPEND_UTF8(inner, "$not", "$a");
    for (int i = 1; i < n; i++) {
        bson_t *outer = bson_new();
        BSON_APPEND_DOCUMENT(outer, "$not", inner);
        bson_destroy(inner);
        inner = outer;
    }
    return inner;
}

static void
nesting_is_bounded(void **state)
{
    struct bench b;
    struct mrs_val v;
    (void)state;
    bench_open(&b, 0);
    bson_t *fits = nested_not(MRS_DEPTH_MAX - 1), *deep = nested_not(MRS_DEPTH_MAX), *far = nested_not(2000);
    assert_int_equal(mrs_expr_compile(&b.env, mrs_view_val(bench_view(fits)), &b.x, &b.err), MRS_OK);
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
    assert_int_equal(v.type, MRS_BOOL);
    mrs_expr_free(b.x);
    assert_int_equal(mrs_expr_compile(&b.env, mrs_view_val(bench_view(deep)), &b.x, &b.err), MRS_FAIL);
    assert_int_equal(b.err.code, MRS_E_LIMIT);
    mrs_err_clear(&b.err);
    assert_int_equal(mrs_expr_compile(&b.env, mrs_view_val(bench_view(far)), &b.x, &b.err), MRS_FAIL);
    assert_int_equal(b.err.code, MRS_E_LIMIT);
    bson_destroy(fits);
    bson_destroy(deep);
    bson_destroy(far);
    char path[300] = "'$a";
    for (int i = 0; i < 100; i++) {
        strcat(path, ".a");
    }
    bench_refused(&b, strcat(path, "'"), "too many parts");
    bench_close(&b);
}

static void
is_constant(struct bench *b, const char *expression, const char *want)
{
    struct mrs_val v = mrs_missing();
    char text[400];
    snprintf(text, sizeof text, "{'e': %s}", want ? want : "0");
    bson_t *w = bench_json(text);
    if (bench_compile(b, expression) != MRS_OK) {
        fail_msg("%s: %s", expression, b->err.msg);
    }
    bool constant = mrs_expr_constant(b->x, &v);
    if (constant != (want != NULL) || (want && !mrs_identical(v, mrs_doc_get(bench_view(w), "e")))) {
        fail_msg("%s: constant %d, type %s", expression, constant, mrs_type_name(v.type));
    }
    bson_destroy(w);
}

static void
constants_are_folded(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    is_constant(&b, "{'$add': [1, {'$multiply': [2, 3]}]}", "7");
    is_constant(&b, "[1, {'a': {'$not': [0]}}]", "[1, {'a': true}]");
    is_constant(&b, "'$$NOW'", "{'$date': {'$numberLong': '1700000000000'}}");
    is_constant(&b, "{'$let': {'vars': {'a': 2}, 'in': {'$add': [1, 2]}}}", "3");
    is_constant(&b, "{'$literal': {'$add': [1, 2]}}", "{'$add': [1, 2]}");
    is_constant(&b, "{'$cond': [{'$gt': [2, 1]}, 'y', '$a']}", "'y'");
    is_constant(&b, "{'$cond': [true, '$a', 'n']}", NULL);
    is_constant(&b, "{'$or': ['$a', 1]}", "true");
    is_constant(&b, "{'$and': ['$a', 0]}", "false");
    is_constant(&b, "{'$and': ['$a', 1]}", NULL);
    is_constant(&b, "{'$switch': {'branches': [{'case': false, 'then': '$a'}], 'default': 5}}", "5");
    is_constant(&b, "{'$switch': {'branches': [{'case': 1, 'then': 4}, {'case': '$a', 'then': 2}]}}", "4");
    is_constant(&b, "'$a'", NULL);
    is_constant(&b, "{'a': '$b'}", NULL);
    is_constant(&b, "{}", "{}");
    is_constant(&b, "[]", "[]");
    struct mrs_val v;
    assert_int_equal(bench_compile(&b, "'$$REMOVE.a'"), MRS_OK);
    assert_true(mrs_expr_constant(b.x, &v));
    assert_int_equal(v.type, MRS_MISSING);
    bench_close(&b);
}

static void
constants_that_fail_refuse_the_plan(void **state)
{
    static const char *const BAD = "{'$divide': [1, 0]}";
    static const char *const REFUSED[] = {
        "%s",
        "{'$ifNull': ['$a', %s]}",
        "{'$cond': [true, 1, %s]}",
        "{'$or': [true, %s]}",
        "{'$let': {'vars': {'unused': %s}, 'in': 1}}",
        "{'$switch': {'branches': [{'case': true, 'then': 1}], 'default': %s}}",
        "{'$switch': {'branches': [{'case': '$a', 'then': %s}], 'default': 1}}",
        "{'$convert': {'input': '$a', 'to': 'int', 'onError': %s}}",
    };
    static const char *const TAKEN[] = {
        "{'$switch': {'branches': [{'case': false, 'then': %s}], 'default': 1}}",
        "{'$switch': {'branches': [{'case': true, 'then': 1}, {'case': %s, 'then': 2}]}}",
        "{'$switch': {'branches': [{'case': true, 'then': 1}, {'case': '$a', 'then': %s}]}}",
    };
    struct bench b;
    char text[400];
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        const char *at = strstr(REFUSED[i], "%s");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - REFUSED[i]), REFUSED[i], BAD, at + 2);
        bench_refused(&b, text, "division by zero");
    }
    for (size_t i = 0; i < sizeof TAKEN / sizeof *TAKEN; i++) {
        const char *at = strstr(TAKEN[i], "%s");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - TAKEN[i]), TAKEN[i], BAD, at + 2);
        is_constant(&b, text, "1");
    }
    bench_refused(&b, "{'$switch': {'branches': [{'case': 0, 'then': {'$nope': 1}}], 'default': 1}}", "no operator");
    bench_close(&b);
}

/* ---- what is read ---- */

static void
note_path(void *arg, const char *path)
{
    strcat(arg, "[");
    strcat(arg, path);
    strcat(arg, "]");
}

static void
reads_are_the_paths_of_the_document(void **state)
{
    static const char *const VARS[] = {"PARENT", "ITEM"};
    static const char *const CASES[][2] = {
        {"'$a.b'", "[a.b]"},
        {"'$$ROOT'", "[]"},
        {"'$$ROOT.x'", "[x]"},
        {"'$$CURRENT.x.y'", "[x.y]"},
        {"{'$add': ['$a', '$$PARENT.b', {'c': ['$d.e', 1]}]}", "[a][d.e]"},
        {"{'$let': {'vars': {'v': '$a'}, 'in': '$$v.b'}}", "[a]"},
        {"{'$let': {'vars': {'CURRENT': '$a'}, 'in': '$b'}}", "[a]"},
        {"{'$literal': '$a'}", ""},
        {"{'$cond': ['$a', '$b', '$$REMOVE']}", "[a][b]"},
        {"'$$ITEM.a'", ""},
    };
    struct bench b;
    char seen[200];
    (void)state;
    bench_open(&b, 0);
    b.env.vars = VARS;
    b.env.n_vars = 2;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_int_equal(bench_compile(&b, CASES[i][0]), MRS_OK);
        seen[0] = 0;
        mrs_expr_reads(b.x, note_path, seen);
        assert_string_equal(seen, CASES[i][1]);
    }
    bench_refused(&b, "'$$PARNT'", "known: $$ROOT, $$NOW, $$REMOVE, $$PARENT, $$ITEM");
    bench_close(&b);
}

static void
bare_paths_are_known(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    assert_int_equal(bench_compile(&b, "'$a.b.c'"), MRS_OK);
    assert_string_equal(mrs_expr_bare_path(b.x), "a.b.c");
    static const char *const NOT[] = {"'$$ROOT.a'", "'a'", "'$$ROOT'", "{'$abs': '$a'}", "['$a']", "'$$NOW'"};
    for (size_t i = 0; i < sizeof NOT / sizeof *NOT; i++) {
        assert_int_equal(bench_compile(&b, NOT[i]), MRS_OK);
        assert_null(mrs_expr_bare_path(b.x));
    }
    bench_close(&b);
}

/* Where an operator may stand. */
static int
kind(const struct mrs_op_row *row)
{
    bool query = strcmp(row->family, "query") == 0 || strcmp(row->family, "refused query") == 0;
    return query ? 1 : strcmp(row->family, "accumulator") == 0 ? 2 : 0;
}

static void
the_table_names_each_operator_once(void **state)
{
    const struct mrs_op_row *row, *other;
    (void)state;
    uint32_t n = 0;
    for (; (row = mrs_op_rows(n)); n++) {
        assert_int_equal(row->name[0], '$');
        assert_non_null(row->family);
        assert_non_null(row->note);
        for (uint32_t i = 0; i < n; i++) {
            other = mrs_op_rows(i);
            assert_true(strcmp(other->name, row->name) != 0 || kind(other) != kind(row));
        }
    }
    assert_true(n > 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_operators_name_the_nearest), cmocka_unit_test(errors_say_where),
        cmocka_unit_test(wrong_shapes_are_refused),           cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(constants_are_folded),               cmocka_unit_test(constants_that_fail_refuse_the_plan),
        cmocka_unit_test(reads_are_the_paths_of_the_document), cmocka_unit_test(bare_paths_are_known),
        cmocka_unit_test(the_table_names_each_operator_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
