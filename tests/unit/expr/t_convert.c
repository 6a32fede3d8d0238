/* SPDX-License-Identifier: Apache-2.0 */
/* t_convert.c - mrs_convert (the rules of `cast`), binary data as text, numbers between the types: what no
 * vector holds. */
#include "bench.h"

static void
converts(const char *from, const char *to, const char *want)
{
    struct bench b;
    struct mrs_val v = mrs_missing(), expected;
    char text[300];
    bench_open(&b, 0);
    snprintf(text, sizeof text, "{'v': %s, 'w': %s}", from, want ? want : "0");
    bench_doc(&b, text);
    enum mrs_status s = mrs_convert(&b.ev, mrs_doc_get(b.ev.root, "v"), to, &v);
    expected = mrs_doc_get(b.ev.root, "w");
    if (want ? s != MRS_OK || !mrs_identical(v, expected) : s != MRS_FAIL || b.err.code != MRS_E_EXPR) {
        fail_msg("%s to %s: status %d, %s, %s", from, to, s, mrs_type_name(v.type), b.err.msg);
    }
    bench_close(&b);
}

static void
casts_follow_convert(void **state)
{
    (void)state;
    converts("'42'", "int", "42");
    converts("' 42'", "int", NULL);
    converts("'9223372036854775808'", "long", NULL);
    converts("'-9223372036854775808'", "long", "{'$numberLong': '-9223372036854775808'}");
    converts("null", "int", "null");
    converts("1.9", "int", "1");
    converts("{'$numberDecimal': '1e400'}", "double", NULL);
    converts("{'$numberDouble': 'NaN'}", "long", NULL);
    converts("9223372036854775808.0", "long", NULL);
    converts("true", "decimal", "{'$numberDecimal': '1'}");
    converts("'1e5000'", "double", NULL);
    converts("'1.5e3'", "decimal", "{'$numberDecimal': '1.5E+3'}");
    converts("[1]", "string", NULL);
    converts("[1]", "bool", "true");
    converts("'x'", "binData", NULL);
    converts("0", "date", NULL);
    converts("'-0001-01-01T00:00:00Z'", "date", "{'$date': {'$numberLong': '-62198755200000'}}");
    converts("'+2024-02-29'", "date", "{'$date': {'$numberLong': '1709164800000'}}");
    converts("'-0001-02-29'", "date", NULL); /* no leap year */
    converts("'-0004-02-29T00:00:00Z'", "date", "{'$date': {'$numberLong': '-62288352000000'}}");
    converts("'--0001-01-01'", "date", NULL);
    converts("'+-0001-01-01'", "date", NULL);
    converts("{'$numberLong': '0'}", "date", "{'$date': {'$numberLong': '0'}}");
    converts("'64f0c0c0c0c0c0c0c0c0c0c0'", "objectId", "{'$oid': '64f0c0c0c0c0c0c0c0c0c0c0'}");
    converts("'64f0c0c0c0c0c0c0c0c0c0cg'", "objectId", NULL);
    converts("1", "regex", NULL);
    assert_true(mrs_convert_known("binData"));
    assert_true(mrs_convert_known("objectId"));
    assert_false(mrs_convert_known("regex"));
    assert_false(mrs_convert_known("integer"));
}

static void
binary_text_round_trips(void **state)
{
    static const char *const FORMATS[] = {"base64", "base64url", "hex", "uuid"};
    struct bench b;
    char text[400];
    (void)state;
    bench_open(&b, 0);
    for (size_t f = 0; f < sizeof FORMATS / sizeof *FORMATS; f++) {
        for (size_t n = 0; n < 20; n++) {
            static const uint8_t BYTES[20] = {0xfb, 0xff, 0,  1,    2,    3, 254, 127, 128, 9,
                                              10,   13,   0xaa, 0x55, 7, 200, 60,  61,  62,  63};
            bool uuid = strcmp(FORMATS[f], "uuid") == 0;
            bson_t d = BSON_INITIALIZER;
            struct mrs_val v;
            if (uuid && n != 16) {
                bson_destroy(&d);
                continue;
            }
            BSON_APPEND_BINARY(&d, "v", uuid ? BSON_SUBTYPE_UUID : BSON_SUBTYPE_BINARY, BYTES, (uint32_t)n);
            snprintf(text, sizeof text,
                     "{'$convert': {'input': {'$convert': {'input': '$v', 'to': 'string', 'format': '%s'}},"
                     " 'to': {'type': 'binData', 'subtype': %d}, 'format': '%s'}}",
                     FORMATS[f], uuid ? 4 : 0, FORMATS[f]);
            assert_int_equal(bench_compile(&b, text), MRS_OK);
            b.ev.root = bench_view(&d);
            assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
            assert_true(mrs_identical(v, mrs_doc_get(b.ev.root, "v")));
            bson_destroy(&d);
        }
    }
    bench_close(&b);
}

static void
damaged_text_is_refused(void **state)
{
    static const char *const CASES[][2] = {
        {"base64", "YR=="}, /* bits left over */
        {"base64", "YQ="},
        {"base64", "Y==="},
        {"base64", "YQ==YQ=="},
        {"base64", "=YQ="},
        {"base64url", "Y"},
        {"hex", "a"},
        {"hex", "0g"},
        {"uuid", "00000000-0000-0000-0000-00000000000"},
        {"uuid", "00000000-0000-0000-00000-0000000000000"},
    };
    struct bench b;
    char text[400];
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        snprintf(text, sizeof text,
                 "{'$convert': {'input': '%s', 'to': {'type': 'binData', 'subtype': 4}, 'format': '%s',"
                 " 'onError': 'no'}}",
                 CASES[i][1], CASES[i][0]);
        bench_is(&b, text, "{}", "'no'");
    }
    static const char *const FORMATS[] = {"base64", "base64url", "hex", "utf8"}; /* a UUID has one of its own */
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        for (int subtype = 0; subtype <= 4; subtype += 4) {
            snprintf(text, sizeof text,
                     "{'$type': {'$convert': {'input': 'ABCD', 'to': {'type': 'binData', 'subtype': %d}, 'format': "
                     "'%s', 'onError': 'no'}}}", subtype, FORMATS[i]);
            bench_is(&b, text, "{}", subtype ? "'string'" : "'binData'");
        }
    }
    bench_refused(&b, "{'$convert': {'input': 5, 'to': {'type': 'binData', 'subtype': null}, 'onError': 'no'}}",
                  "'subtype' must be");
    bench_is(&b, "{'$convert': {'input': 5, 'to': {'type': 'binData', 'subtype': '$none'}}}", "{}",
             "{'$binary': {'base64': 'BQAAAA==', 'subType': '00'}}");
    bench_is(&b,
             "{'$convert': {'input': {'$binary': {'base64': '7aCA', 'subType': '00'}}, 'to': 'string',"
             " 'format': 'utf8', 'onError': 'surrogate'}}",
             "{}", "'surrogate'");
    bench_close(&b);
}

static void
numbers_widen_where_the_server_does(void **state)
{
    static const char *const CASES[][2] = {
        {"{'$add': [2147483647, 1]}", "{'$numberLong': '2147483648'}"},
        {"{'$add': [{'$numberLong': '9223372036854775807'}, 1]}", "9223372036854775808.0"},
        {"{'$add': [{'$numberLong': '9223372036854775807'}, 1, {'$numberLong': '-9223372036854775807'}]}", "0.0"},
        {"{'$multiply': [65536, 65536]}", "{'$numberLong': '4294967296'}"},
        {"{'$subtract': [{'$numberLong': '-9223372036854775808'}, 1]}", "-9223372036854775809.0"},
        {"{'$add': [0.1, {'$numberDecimal': '0'}]}", "{'$numberDecimal': '0.100000000000000'}"},
        {"{'$sum': [0.1, {'$numberDecimal': '0'}]}", "{'$numberDecimal': '0.1000000000000000055511151231257827'}"},
        {"{'$sum': [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]}", "1.0"},
        {"{'$sum': [1e16, 1, -1e16]}", "0.0"},
        {"{'$sum': [{'$numberLong': '9223372036854775807'}, {'$numberLong': '1'}]}", "9223372036854775808.0"},
        {"{'$sum': [{'$numberLong': '9223372036854775807'}, 0]}", "{'$numberLong': '9223372036854775807'}"},
        {"{'$mod': [{'$numberLong': '-9223372036854775808'}, -1]}", "{'$numberLong': '0'}"},
        {"{'$pow': [-1, 1000001]}", "-1"},
        {"{'$pow': [2, 63]}", "9223372036854775808.0"},
        {"{'$round': [0.15, 1]}", "0.1"},
        {"{'$round': [2147483647, -1]}", "{'$numberLong': '2147483650'}"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        bench_is(&b, CASES[i][0], "{}", CASES[i][1]);
    }
    bench_close(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(casts_follow_convert),
        cmocka_unit_test(binary_text_round_trips),
        cmocka_unit_test(damaged_text_is_refused),
        cmocka_unit_test(numbers_widen_where_the_server_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
