/* SPDX-License-Identifier: Apache-2.0 */
/* t_families.c - the families that the vectors do not reach: trigonometry, bits, sizes, deviations and percentiles,
 * $toUUID; null and missing, wrong types and edges of each, and what is refused by name. Expected values are worked
 * out by hand from the server's manual. */
#include "bench.h"

struct row {
    const char *expression, *doc, *want;
};

#define NULL_ON(op) {"{'" op "': '$none'}", "{}", "null"}, {"{'" op "': '$n'}", "{'n': null}", "null"}
#define DEC(text) "{'$numberDecimal': '" text "'}"
#define DOUBLE(text) "{'$numberDouble': '" text "'}"
#define LONG(text) "{'$numberLong': '" text "'}"

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

struct bad {
    const char *expression, *doc, *words;
};

/* Each compiles and fails on its document. */
static void
failures(const struct bad *bad, size_t n)
{
    struct bench b;
    struct mrs_val v;
    bench_open(&b, 0);
    for (size_t i = 0; i < n; i++) {
        bench_doc(&b, bad[i].doc);
        if (bench_compile(&b, bad[i].expression) != MRS_OK) {
            fail_msg("%s: %s", bad[i].expression, b.err.msg);
        }
        enum mrs_status s = mrs_expr_eval(b.x, &b.ev, &v);
        if (s != MRS_FAIL || b.err.code != MRS_E_EXPR || !strstr(b.err.msg, bad[i].words)) {
            fail_msg("%s on %s: status %d, '%s' without '%s'", bad[i].expression, bad[i].doc, s, b.err.msg,
                     bad[i].words);
        }
        mrs_arena_reset(&b.arena);
    }
    bench_close(&b);
}

#define ROWS(list) rows(list, sizeof list / sizeof *list)
#define FAILURES(list) failures(list, sizeof list / sizeof *list)

static void
angles(void **state)
{
    static const struct row LIST[] = {
        NULL_ON("$sin"), NULL_ON("$cos"), NULL_ON("$tan"), NULL_ON("$asin"), NULL_ON("$acos"), NULL_ON("$atan"),
        NULL_ON("$sinh"), NULL_ON("$cosh"), NULL_ON("$tanh"), NULL_ON("$asinh"), NULL_ON("$acosh"),
        NULL_ON("$atanh"), NULL_ON("$degreesToRadians"), NULL_ON("$radiansToDegrees"),
        {"{'$sin': '$v'}", "{'v': 0}", "0.0"},
        {"{'$sin': ['$v']}", "{'v': -0.0}", "-0.0"},
        {"{'$cos': '$v'}", "{'v': " LONG("0") "}", "1.0"},
        {"{'$tan': '$v'}", "{'v': 0.0}", "0.0"},
        {"{'$asin': '$v'}", "{'v': 1}", "1.5707963267948966"},
        {"{'$acos': '$v'}", "{'v': -1}", "3.141592653589793"},
        {"{'$acos': '$v'}", "{'v': " DEC("-1") "}", DEC("3.141592653589793238462643383279503")},
        {"{'$asin': '$v'}", "{'v': " DEC("1") "}", DEC("1.570796326794896619231321691639751")},
        {"{'$atan': '$v'}", "{'v': " DEC("1") "}", DEC("0.7853981633974483096156608458198757")},
        {"{'$atan': '$v'}", "{'v': " DOUBLE("Infinity") "}", "1.5707963267948966"},
        {"{'$sinh': '$v'}", "{'v': 0}", "0.0"},
        {"{'$cosh': '$v'}", "{'v': " DOUBLE("-Infinity") "}", DOUBLE("Infinity")},
        {"{'$tanh': '$v'}", "{'v': " DOUBLE("Infinity") "}", "1.0"},
        {"{'$asinh': '$v'}", "{'v': 0}", "0.0"},
        {"{'$acosh': '$v'}", "{'v': 1}", "0.0"},
        {"{'$acosh': '$v'}", "{'v': " DOUBLE("Infinity") "}", DOUBLE("Infinity")},
        {"{'$atanh': '$v'}", "{'v': 1}", DOUBLE("Infinity")},
        {"{'$atanh': '$v'}", "{'v': " DEC("-1") "}", DEC("-Infinity")},
        {"{'$sin': '$v'}", "{'v': " DOUBLE("NaN") "}", DOUBLE("NaN")},
        {"{'$acos': '$v'}", "{'v': " DEC("NaN") "}", DEC("NaN")},
        {"{'$atan2': ['$y', '$x']}", "{'y': 1, 'x': -0.0}", "1.5707963267948966"},
        {"{'$atan2': ['$y', '$x']}", "{'y': 0, 'x': -1}", "3.141592653589793"},
        {"{'$atan2': ['$y', '$x']}", "{'y': " DEC("1") ", 'x': 1}", DEC("0.7853981633974483096156608458198757")},
        {"{'$atan2': ['$y', '$x']}", "{'x': 'x'}", "null"},
        {"{'$atan2': ['$y', '$x']}", "{'y': 1}", "null"},
        {"{'$degreesToRadians': '$v'}", "{'v': 180}", "3.141592653589793"},
        {"{'$degreesToRadians': '$v'}", "{'v': " DEC("180") "}", DEC("3.141592653589793238462643383279503")},
        {"{'$radiansToDegrees': '$v'}", "{'v': 1.5707963267948966}", "90.0"},
        {"{'$radiansToDegrees': '$v'}", "{'v': " DEC("1") "}", DEC("57.29577951308232087679815481410517")},
    };
    static const struct bad BAD[] = {
        {"{'$sin': '$v'}", "{'v': " DOUBLE("Infinity") "}", "$sin: has no value at infinity"},
        {"{'$cos': '$v'}", "{'v': " DEC("-Infinity") "}", "$cos: has no value at infinity"},
        {"{'$tan': '$v'}", "{'v': '1'}", "$tan: takes numbers, not string"},
        {"{'$asin': '$v'}", "{'v': 1.0000000000000002}", "from -1 to 1"},
        {"{'$acos': '$v'}", "{'v': " DEC("-1.000000000000000000000000000000001") "}", "from -1 to 1"},
        {"{'$atanh': '$v'}", "{'v': 2}", "from -1 to 1"},
        {"{'$acosh': '$v'}", "{'v': 0}", "from 1 on"},
        {"{'$atan2': ['$y', '$x']}", "{'y': true, 'x': 1}", "takes numbers, not bool"},
        {"{'$atan2': ['$y', '$x']}", "{'y': 1, 'x': 'x'}", "takes numbers, not string"},
        {"{'$degreesToRadians': '$v'}", "{'v': {}}", "takes numbers, not object"},
    };
    (void)state;
    ROWS(LIST);
    FAILURES(BAD);
}

static void
bits(void **state)
{
    static const struct row LIST[] = {
        NULL_ON("$bitNot"),
        {"{'$bitAnd': ['$a', '$b']}", "{'a': 12, 'b': 10}", "8"},
        {"{'$bitOr': ['$a', '$b']}", "{'a': 12, 'b': 10}", "14"},
        {"{'$bitXor': ['$a', '$b']}", "{'a': 12, 'b': 10}", "6"},
        {"{'$bitAnd': ['$a', '$b']}", "{'a': -1, 'b': " LONG("4294967296") "}", LONG("4294967296")},
        {"{'$bitOr': ['$a', '$b']}", "{'a': -1, 'b': " LONG("0") "}", LONG("-1")},
        {"{'$bitXor': ['$a']}", "{'a': " LONG("7") "}", LONG("7")},
        {"{'$bitAnd': []}", "{}", "-1"},
        {"{'$bitOr': []}", "{}", "0"},
        {"{'$bitXor': []}", "{}", "0"},
        {"{'$bitAnd': '$a'}", "{'a': -2147483648}", "-2147483648"},
        {"{'$bitAnd': ['$a', null, '$b']}", "{'a': 1, 'b': 'x'}", "null"},
        {"{'$bitOr': ['$none', '$b']}", "{'b': 'x'}", "null"},
        {"{'$bitNot': '$a'}", "{'a': 0}", "-1"},
        {"{'$bitNot': '$a'}", "{'a': " LONG("9223372036854775807") "}", LONG("-9223372036854775808")},
    };
    static const struct bad BAD[] = {
        {"{'$bitAnd': ['$a', 1]}", "{'a': 1.0}", "takes int and long only, not double"},
        {"{'$bitOr': ['$a', null]}", "{'a': true}", "takes int and long only, not bool"},
        {"{'$bitXor': [1, '$a']}", "{'a': '1'}", "takes int and long only, not string"},
        {"{'$bitNot': '$a'}", "{'a': " DEC("1") "}", "takes int and long only, not decimal"},
        {"{'$bitAnd': '$a'}", "{'a': [1, 2]}", "takes int and long only, not array"},
    };
    (void)state;
    ROWS(LIST);
    FAILURES(BAD);
}

static void
measures(void **state)
{
    static const struct row LIST[] = {
        NULL_ON("$binarySize"), NULL_ON("$bsonSize"), NULL_ON("$tsSecond"), NULL_ON("$tsIncrement"),
        {"{'$binarySize': '$v'}", "{'v': ''}", "0"},
        {"{'$binarySize': '$v'}", "{'v': 'é'}", "2"},
        {"{'$binarySize': '$v'}", "{'v': {'$binary': {'base64': 'AAEC', 'subType': '00'}}}", "3"},
        {"{'$bsonSize': '$v'}", "{'v': {}}", "5"},
        {"{'$bsonSize': '$$ROOT'}", "{'v': 1}", "12"},
        {"{'$tsSecond': '$v'}", "{'v': {'$timestamp': {'t': 4294967295, 'i': 7}}}", LONG("4294967295")},
        {"{'$tsIncrement': '$v'}", "{'v': {'$timestamp': {'t': 1, 'i': 4294967295}}}", LONG("4294967295")},
    };
    static const struct bad BAD[] = {
        {"{'$binarySize': '$v'}", "{'v': 1}", "takes a string or binary data, not int"},
        {"{'$bsonSize': '$v'}", "{'v': []}", "takes a document, not array"},
        {"{'$tsSecond': '$v'}", "{'v': {'$date': '2024-01-01T00:00:00Z'}}", "takes a timestamp, not date"},
        {"{'$tsIncrement': '$v'}", "{'v': 1}", "takes a timestamp, not int"},
    };
    (void)state;
    ROWS(LIST);
    FAILURES(BAD);
}

static void
spreads(void **state)
{
    static const struct row LIST[] = {
        NULL_ON("$stdDevPop"), NULL_ON("$stdDevSamp"),
        {"{'$stdDevPop': '$a'}", "{'a': [2, 4, 4, 4, 5, 5, 7, 9]}", "2.0"},
        {"{'$stdDevPop': ['$x', '$y']}", "{'x': 1, 'y': " DEC("3") "}", "1.0"},
        {"{'$stdDevPop': '$a'}", "{'a': [7, 'x', null, [1]]}", "0.0"},
        {"{'$stdDevPop': ['$a', '$a']}", "{'a': [1, 2]}", "null"},
        {"{'$stdDevPop': '$a'}", "{'a': []}", "null"},
        {"{'$stdDevPop': '$a'}", "{'a': 'x'}", "null"},
        {"{'$stdDevSamp': '$a'}", "{'a': [1]}", "null"},
        {"{'$stdDevSamp': '$a'}", "{'a': [1, 3, 5]}", "2.0"},
        {"{'$median': {'input': '$a', 'method': 'approximate'}}", "{'a': [5, 1, " DEC("3") "]}", "3.0"},
        {"{'$median': {'input': '$a', 'method': 'approximate'}}", "{'a': [4, 1, 3, 2]}", "2.0"},
        {"{'$median': {'input': '$a', 'method': 'approximate'}}", "{'a': " LONG("7") "}", "7.0"},
        {"{'$median': {'input': '$a', 'method': 'approximate'}}", "{'a': ['x', null]}", "null"},
        {"{'$median': {'input': '$a', 'method': 'approximate'}}", "{'a': 'x'}", "null"},
        {"{'$median': {'input': ['$x', '$y'], 'method': 'approximate'}}", "{'x': 9}", "9.0"},
        {"{'$percentile': {'input': '$a', 'p': [0, 0.1, 0.11, 0.5, 0.95, 1], 'method': 'approximate'}}",
         "{'a': [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]}", "[1.0, 1.0, 2.0, 5.0, 10.0, 10.0]"},
        {"{'$percentile': {'input': '$a', 'p': [0.5, 0.9], 'method': 'approximate'}}", "{'a': []}", "[null, null]"},
        {"{'$percentile': {'input': '$none', 'p': [0.5], 'method': 'approximate'}}", "{}", "[null]"},
        {"{'$percentile': {'input': '$a', 'p': [1], 'method': 'approximate'}}",
         "{'a': [" DOUBLE("NaN") ", " DOUBLE("-Infinity") "]}", "[" DOUBLE("-Infinity") "]"},
        {"{'$percentile': {'input': '$a', 'p': {'$concatArrays': [[" DEC("0.5") "], [1]]}, 'method': 'approximate'}}",
         "{'a': [1, 2]}", "[1.0, 2.0]"},
    };
    static const char *const REFUSED[][2] = {
        {"{'$median': {'input': '$a'}}", "'method' is missing"},
        {"{'$median': {'method': 'approximate'}}", "'input' is missing"},
        {"{'$median': {'input': '$a', 'method': 'exact'}}", "must be \"approximate\""},
        {"{'$median': {'input': '$a', 'method': 'approximate', 'p': [0.5]}}", "'p'"},
        {"{'$median': '$a'}", "$median"},
        {"{'$percentile': {'input': '$a', 'method': 'approximate'}}", "'p' is missing"},
        {"{'$percentile': {'input': '$a', 'p': [], 'method': 'approximate'}}", "must not be empty"},
        {"{'$percentile': {'input': '$a', 'p': [1.1], 'method': 'approximate'}}", "from 0 to 1"},
        {"{'$percentile': {'input': '$a', 'p': ['x'], 'method': 'approximate'}}", "from 0 to 1"},
        {"{'$percentile': {'input': '$a', 'p': 0.5, 'method': 'approximate'}}", "constant array"},
        {"{'$percentile': {'input': '$a', 'p': ['$b'], 'method': 'approximate'}}", "constant array"},
    };
    struct bench b;
    (void)state;
    ROWS(LIST);
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        bench_refused(&b, REFUSED[i][0], REFUSED[i][1]);
    }
    bench_close(&b);
}

static void
uuids(void **state)
{
    static const struct row LIST[] = {
        NULL_ON("$toUUID"),
        {"{'$toUUID': '$v'}", "{'v': '00112233-4455-6677-8899-AABBCCDDEEFF'}",
         "{'$binary': {'base64': 'ABEiM0RVZneImaq7zN3u/w==', 'subType': '04'}}"},
        {"{'$toUUID': '$v'}", "{'v': {'$binary': {'base64': 'ABEiM0RVZneImaq7zN3u/w==', 'subType': '04'}}}",
         "{'$binary': {'base64': 'ABEiM0RVZneImaq7zN3u/w==', 'subType': '04'}}"},
    };
    static const struct bad BAD[] = {
        {"{'$toUUID': '$v'}", "{'v': '00112233445566778899aabbccddeeff'}", "$toUUID"},
        {"{'$toUUID': '$v'}", "{'v': {'$binary': {'base64': 'AA==', 'subType': '00'}}}", "$toUUID"},
        {"{'$toUUID': '$v'}", "{'v': true}", "$toUUID"},
    };
    (void)state;
    ROWS(LIST);
    FAILURES(BAD);
}

/* One part of a split is found without the array; with an index that is not constant the array is made. */
static void
parts_of_a_split(void **state)
{
    static const struct row LIST[] = {
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, 0]}", "{'t': 'a b  c'}", "'a'"},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, 2]}", "{'t': 'a b  c'}", "''"},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, 3]}", "{'t': 'a b  c'}", "'c'"},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, 4]}", "{'t': 'a b  c'}", NULL},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, -1]}", "{'t': 'a b  c'}", "'c'"},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, -4]}", "{'t': 'a b  c'}", "'a'"},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, -5]}", "{'t': 'a b  c'}", NULL},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, '$i']}", "{'t': 'a b  c', 'i': -1}", "'c'"},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, 1.0]}", "{'t': 'a b'}", "'b'"},
        {"{'$arrayElemAt': [{'$split': ['$none', ' ']}, 0]}", "{}", "null"},
        {"{'$arrayElemAt': [{'$split': ['$t', null]}, 0]}", "{'t': 'a'}", "null"},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, null]}", "{'t': 'a'}", "null"},
        {"{'$first': {'$split': ['$t', ', ']}}", "{'t': ''}", "''"},
        {"{'$first': {'$split': ['$t', ', ']}}", "{'t': ', x'}", "''"},
        {"{'$last': {'$split': ['$t', ', ']}}", "{'t': 'x, y, '}", "''"},
        {"{'$last': {'$split': ['$t', ', ']}}", "{'t': 'x,, y'}", "'y'"},
        {"{'$split': ['$t', 'aa']}", "{'t': 'aaaaa'}", "['', '', 'a']"},
        {"{'$split': ['$t', '-']}", "{'t': '0-1-2-3-4-5-6-7-8-9-10-11'}",
         "['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11']"},
    };
    static const struct bad BAD[] = {
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, 0]}", "{'t': 1}", "$split: the text and the separator"},
        {"{'$first': {'$split': ['$t', '$s']}}", "{'t': 'a', 's': ''}", "$split: the separator is empty"},
        {"{'$arrayElemAt': [{'$split': ['$t', ' ']}, 'x']}", "{'t': 'a'}", "$arrayElemAt: the index"},
    };
    (void)state;
    ROWS(LIST);
    FAILURES(BAD);
}

static void
dates_as_text(void **state)
{
#define TO_TEXT(format, date, want) \
    {"{'$dateToString': {'date': '$d', 'format': '" format "'}}", "{'d': {'$date': '" date "'}}", want}
#define IN_ZONE(zone, want) \
    {"{'$dateToString': {'date': '$d', 'format': '%H:%M %z %Z', 'timezone': '" zone "'}}", \
     "{'d': {'$date': '2024-01-01T00:00:00Z'}}", want}
    static const struct row LIST[] = {
        TO_TEXT("%Y-%m-%dT%H:%M:%S.%LZ", "2024-03-05T06:07:08.009Z", "'2024-03-05T06:07:08.009Z'"),
        TO_TEXT("%j %w %u %U %V %G", "2023-01-01T00:00:00Z", "'001 1 7 01 52 2022'"),
        TO_TEXT("%b %B %%", "2024-09-30T00:00:00Z", "'Sep September %'"),
        TO_TEXT("%B%B%B%B", "2024-09-30T00:00:00Z", "'SeptemberSeptemberSeptemberSeptember'"),
        TO_TEXT("", "2024-09-30T00:00:00Z", "''"),
        IN_ZONE("+05:30", "'05:30 +0530 330'"),
        IN_ZONE("-00:30", "'23:30 -0030 -30'"),
        IN_ZONE("UTC", "'00:00 +0000 0'"),
        {"{'$toString': '$d'}", "{'d': {'$date': {'$numberLong': '-1'}}}", "'1969-12-31T23:59:59.999Z'"},
        {"{'$toString': '$d'}", "{'d': {'$date': {'$numberLong': '-62167219200000'}}}", "'0000-01-01T00:00:00.000Z'"},
    };
    static const struct bad BAD[] = {
        {"{'$dateToString': {'date': '$d', 'format': '%Y %L'}}",
         "{'d': {'$date': {'$numberLong': '-62167219200001'}}}", "the year -1 cannot be written"},
    };
    (void)state;
    ROWS(LIST);
    FAILURES(BAD);
}

static void
refused_operators_say_why(void **state)
{
    static const char *const REFUSED[][2] = {
        {"{'$rand': {}}", "$rand: cannot be used in a plan: it gives another value each time"},
        {"{'$function': {'body': 'x', 'args': [], 'lang': 'js'}}", "$function: cannot be used in a plan: it runs Java"},
        {"{'$meta': 'textScore'}", "$meta: cannot be used in a plan: it reads what a search"},
        {"{'$sampleRate': 0.5}", "$sampleRate: cannot be used in a plan"},
        {"{'$push': '$a'}", "$push is an accumulator: it belongs in the fields of a group"},
        {"{'$topN': 1}", "$topN is an accumulator"},
        {"{'$rnad': {}}", "there is no operator $rnad"},
        {"{'$bitorr': 1}", "the nearest known one is $bitOr"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        bench_refused(&b, REFUSED[i][0], REFUSED[i][1]);
    }
    bench_close(&b);
}

static void
refused_queries_say_why(void **state)
{
    static const char *const REFUSED[][2] = {
        {"{'$where': 'this.a'}", "$where cannot be used in a plan: it runs JavaScript"},
        {"{'$text': {'$search': 'a'}}", "$text cannot be used in a plan: it needs a text index"},
        {"{'a': {'$near': [1, 2]}}", "$near cannot be used in a plan: it needs the geometry"},
        {"{'$jsonSchema': {}}", "$jsonSchema cannot be used in a plan: only a server checks"},
        {"{'a': {'$geoWithin': {}}}", "$geoWithin cannot be used in a plan"},
        {"{'$sampleRate': 0.5}", "$sampleRate cannot be used in a plan: it takes documents by chance"},
        {"{'a': {'$exsits': true}}", "there is no query operator $exsits at a field: the nearest known one is $exists"},
        {"{'$orr': []}", "there is no query operator $orr here: the nearest known one is $or"},
        {"{'$gt': 1}", "$gt stands at a field"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        struct mrs_query *q;
        bson_t *filter = bench_json(REFUSED[i][0]);
        mrs_err_clear(&b.err);
        enum mrs_status s = mrs_query_compile(&b.env, bench_view(filter), &q, &b.err);
        if (s != MRS_FAIL || !strstr(b.err.msg, REFUSED[i][1])) {
            fail_msg("%s: status %d, '%s' without '%s'", REFUSED[i][0], s, b.err.msg, REFUSED[i][1]);
        }
        bson_destroy(filter);
    }
    bench_close(&b);
}

static void
every_allocation_may_fail(void **state)
{
    static const char *const TEXT =
        "[{'$sin': '$d'}, {'$atan2': ['$n', '$d']}, {'$bitAnd': ['$n', 3]}, {'$bitNot': '$n'},"
        " {'$bsonSize': '$$ROOT'}, {'$stdDevPop': '$a'}, {'$median': {'input': '$a', 'method': 'approximate'}},"
        " {'$percentile': {'input': '$a', 'p': [0.1, 0.9], 'method': 'approximate'}}, {'$toUUID': '$u'},"
        " {'$split': ['$u', '-']}, {'$last': {'$split': ['$u', '-']}}]";
    bool done = false;
    (void)state;
    for (uint64_t n = 1; !done; n++) {
        struct bench b;
        struct mrs_val v;
        bench_open(&b, n);
        bench_doc(&b, "{'n': 5, 'd': " DEC("0.5") ", 'a': [3, 1, 2], 'u': '00112233-4455-6677-8899-aabbccddeeff'}");
        enum mrs_status s = bench_compile(&b, TEXT);
        s = s == MRS_OK ? mrs_expr_eval(b.x, &b.ev, &v) : s;
        if (s != MRS_OK && (s != MRS_DEAD || b.err.code != MRS_E_MEMORY)) {
            fail_msg("allocation %d: %s", (int)n, b.err.msg);
        }
        done = mrs_mem_count(b.mem) < n;
        assert_true(!done || s == MRS_OK);
        bench_close(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angles),
        cmocka_unit_test(bits),
        cmocka_unit_test(measures),
        cmocka_unit_test(spreads),
        cmocka_unit_test(uuids),
        cmocka_unit_test(parts_of_a_split),
        cmocka_unit_test(dates_as_text),
        cmocka_unit_test(refused_operators_say_why),
        cmocka_unit_test(refused_queries_say_why),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
