/* SPDX-License-Identifier: Apache-2.0 */
/* t_server_8_3.c - the operators and arguments that came with MongoDB 8.3, which no vector holds, and how they are
 * refused under the rules of 8.2. Digests: test vectors of RFC 1321 and FIPS 180-4, and ends of a message around the
 * length of a block. */
#include "bench.h"

struct row {
    const char *expression, *doc, *want; /* want NULL: the evaluation fails */
};

static void
fails(struct bench *b, const char *expression, const char *doc)
{
    struct mrs_val got;
    bench_doc(b, doc);
    enum mrs_status s = bench_compile(b, expression);
    s = s == MRS_OK ? mrs_expr_eval(b->x, &b->ev, &got) : s;
    if (s != MRS_FAIL) {
        fail_msg("%s on %s: status %d, should fail", expression, doc, s);
    }
}

static void
rows(const struct row *row, size_t n)
{
    struct bench b;
    bench_open(&b, 0);
    for (size_t i = 0; i < n; i++) {
        if (row[i].want) {
            bench_is(&b, row[i].expression, row[i].doc, row[i].want);
        } else {
            fails(&b, row[i].expression, row[i].doc);
        }
        mrs_arena_reset(&b.arena);
    }
    bench_close(&b);
}
#define ROWS(r) rows(r, sizeof(r) / sizeof *(r))

static void
digests_of(const char *text, const char *md5, const char *sha256)
{
    char doc[1400], want[80];
    struct bench b;
    bench_open(&b, 0);
    snprintf(doc, sizeof doc, "{'t': '%s'}", text);
    snprintf(want, sizeof want, "'%s'", md5);
    bench_is(&b, "{'$hexHash': {'input': '$t', 'algorithm': 'md5'}}", doc, want);
    snprintf(want, sizeof want, "'%s'", sha256);
    bench_is(&b, "{'$hexHash': {'input': '$t', 'algorithm': 'sha256'}}", doc, want);
    bench_close(&b);
}

static void
digests_are_those_of_the_standards(void **state)
{
    static const struct {
        const char *text, *md5, *sha256;
    } KNOWN[] = {
        {"", "D41D8CD98F00B204E9800998ECF8427E", "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"},
        {"abc", "900150983CD24FB0D6963F7D28E17F72",
         "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"},
        {"message digest", "F96B697D7CB7938D525A2F31AAF161D0",
         "F7846F55CF23E14EEBEAB5B4E1550CAD5B509E3348FBC4EFA3A1413D393CB650"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "8215EF0796A20BCAAAE116D3876C664A",
         "248D6A61D20638B8E5C026930C3E6039A33CE45964FF2167F6ECEDD419DB06C1"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57EDF4A22BE3C955AC49DA2E2107B67A", "F371BC4A311F2B009EEF952DD83CA80E2B60026C8E935592D0F9C308453C813E"},
    };
    static const struct {
        int n;
        const char *md5, *sha256;
    } OF_A[] = {
        {55, "EF1772B6DFF9A122358552954AD0DF65", "9F4390F8D30C2DD92EC9F095B65E2B9AE9B0A925A5258E241C9F1E910F734318"},
        {56, "3B0C8AC703F828B04C6C197006D17218", "B35439A4AC6F0948B6D6F9E3C6AF0F5F590CE20F1BDE7090EF7970686EC6738A"},
        {64, "014842D480B571495A4A0363793F7367", "FFE054FE7AE0CB6DC65C3AF9B61D5209F439851DB43D0BA5997337DF154668EB"},
        {119, "8A7BD0732ED6A28CE75F6DABC90E1613", "31EBA51C313A5C08226ADF18D4A359CFDFD8D2E816B13F4AF952F7EA6584DCFB"},
        {120, "5F61C0CCAD4CAC44C75FF505E1F1E537", "2F3D335432C70B580AF0E8E1B3674A7C020D683AA5F73AAAEDFDC55AF904C21C"},
        {1000, "CABE45DCC9AE5B66BA86600CCA6B8BA8", "41EDECE42D63E8D9BF515A9BA6932E1C20CBC9F5A5D134645ADB5DB1B9737EA3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        digests_of(KNOWN[i].text, KNOWN[i].md5, KNOWN[i].sha256);
    }
    for (size_t i = 0; i < sizeof OF_A / sizeof *OF_A; i++) {
        char text[1001];
        memset(text, 'a', sizeof text);
        text[OF_A[i].n] = 0;
        digests_of(text, OF_A[i].md5, OF_A[i].sha256);
    }
}

static void
hashes_take_text_and_binary(void **state)
{
    static const struct row HASH[] = {
        {"{'$hash': {'input': '$t', 'algorithm': 'md5'}}", "{'t': ''}",
         "{'$binary': {'base64': '1B2M2Y8AsgTpgAmY7PhCfg==', 'subType': '00'}}"},
        {"{'$hexHash': {'input': '$t', 'algorithm': 'xxh64'}}", "{'t': ''}", "'EF46DB3751D8E999'"},
        {"{'$hexHash': {'input': '$t', 'algorithm': 'xxh64'}}", "{'t': 'Hello World'}", "'6334D20719245BC2'"},
        {"{'$hexHash': {'input': '$t', 'algorithm': 'md5'}}",
         "{'t': {'$binary': {'base64': 'YWJj', 'subType': '80'}}}", "'900150983CD24FB0D6963F7D28E17F72'"},
        {"{'$hexHash': {'input': '$t', 'algorithm': '$a'}}", "{'t': 'abc', 'a': 'md5'}",
         "'900150983CD24FB0D6963F7D28E17F72'"},
        {"{'$hexHash': {'input': '$t', 'algorithm': 'md5'}}", "{}", "null"},
        {"{'$hash': {'input': '$t', 'algorithm': '$a'}}", "{'t': null, 'a': 5}", "null"},
        {"{'$hash': {'input': '$t', 'algorithm': '$a'}}", "{'t': 'x', 'a': 'sha1'}", NULL},
        {"{'$hash': {'input': '$t', 'algorithm': '$a'}}", "{'t': 'x', 'a': 'MD5'}", NULL},
        {"{'$hash': {'input': '$t', 'algorithm': '$a'}}", "{'t': 'x'}", NULL},
        {"{'$hash': {'input': '$t', 'algorithm': 'md5'}}", "{'t': 5}", NULL},
        {"{'$hash': {'input': '$t', 'algorithm': 'md5'}}", "{'t': ['x']}", NULL},
        {"{'$subtype': '$b'}", "{'b': {'$binary': {'base64': '', 'subType': '00'}}}", "0"},
        {"{'$subtype': '$b'}", "{'b': {'$binary': {'base64': 'YWJj', 'subType': '80'}}}", "128"},
        {"{'$subtype': '$b'}", "{}", "null"},
        {"{'$subtype': '$b'}", "{'b': 'x'}", NULL},
    };
    (void)state;
    ROWS(HASH);
    struct bench b;
    bench_open(&b, 0);
    b.env.strict = true;
    bench_refused(&b, "{'$hash': {'input': '$t', 'algorithm': 'sha1'}}", "one of md5, sha256, xxh64");
    bench_refused(&b, "{'$hash': {'input': '$t'}}", "'algorithm' is missing");
    bench_close(&b);
}

static void
json_becomes_documents_and_arrays(void **state)
{
#define OBJECT "{'$toObject': '$t'}"
#define ARRAY "{'$toArray': '$t'}"
    static const struct row JSON[] = {
        {OBJECT, "{'t': '{}'}", "{}"},
        {OBJECT, "{'t': ' {\\'a\\': [1, 2.0, 1e2, null, true, \\'x\\']}\\n'}",
         "{'a': [1, 2.0, 100.0, null, true, 'x']}"},
        {OBJECT, "{'t': '{\\'a\\': 2147483648, \\'b\\': -2147483648}'}",
         "{'a': {'$numberLong': '2147483648'}, 'b': -2147483648}"},
        {OBJECT, "{'t': '{\\'a\\': 9223372036854775808, \\'b\\': -9223372036854775808}'}",
         "{'a': {'$numberDouble': '9223372036854775808'}, 'b': {'$numberLong': '-9223372036854775808'}}"},
        {OBJECT, "{'t': '{\\'a\\': 1, \\'b\\': 2, \\'a\\': {\\'c\\': 3}}'}", "{'a': {'c': 3}, 'b': 2}"},
        {OBJECT, "{'t': '{\\'x\\': {\\'a\\': 1, \\'a\\': 2, \\'a\\': 3}, \\'y\\': [{\\'b\\': 1, \\'b\\': null}]}'}",
         "{'x': {'a': 3}, 'y': [{'b': null}]}"},
        {"{'$type': {'$getField': {'field': 'i', 'input': {'$toObject': '$t'}}}}",
         "{'t': '{\\'i\\': {\\'$oid\\': \\'0123456789abcdef01234567\\'}}'}", "'object'"},
        {OBJECT, "{'t': '{\\'a\\': \\'x\\\\u0000y\\'}'}", "{'a': 'x\\u0000y'}"},
        {OBJECT, "{'t': '{\\'a\\\\u0000\\': 1}'}", NULL},
        {OBJECT, "{}", "null"},
        {OBJECT, "{'t': '[]'}", NULL},
        {OBJECT, "{'t': '{\\'a\\': 1,}'}", NULL},
        {OBJECT, "{'t': '{a: 1}'}", NULL},
        {OBJECT, "{'t': '{} {}'}", NULL},
        {OBJECT, "{'t': '\\'x\\''}", NULL},
        {OBJECT, "{'t': ''}", NULL},
        {OBJECT, "{'t': {'a': 1}}", NULL},
        {OBJECT, "{'t': 5}", NULL},
        {ARRAY, "{'t': '[]'}", "[]"},
        {ARRAY, "{'t': ' [[1], {\\'a\\': {}}] '}", "[[1], {'a': {}}]"},
        {ARRAY, "{'t': '{}'}", NULL},
        {ARRAY, "{'t': '[1,]'}", NULL},
        {ARRAY, "{'t': [1]}", NULL},
        {ARRAY, "{'t': null}", "null"},
        {"{'$convert': {'input': '$t', 'to': 'object', 'onError': 'no'}}", "{'t': '{'}", "'no'"},
        {"{'$convert': {'input': '$t', 'to': 'object', 'onError': 'no'}}", "{'t': 7}", "'no'"},
        {"{'$convert': {'input': '$t', 'to': 4, 'onError': 'no'}}", "{'t': '[2]'}", "[2]"},
        {"{'$convert': {'input': '$t', 'to': '$k'}}", "{'t': '{\\'a\\': 1}', 'k': 'object'}", "{'a': 1}"},
    };
    (void)state;
    ROWS(JSON);
}

/* So many brackets, the outermost one counts. */
static void
json_depth(uint32_t levels, bool good)
{
    char doc[700];
    struct bench b;
    struct mrs_val got;
    bench_open(&b, 0);
    int n = snprintf(doc, sizeof doc, "{'t': '");
    memset(doc + n, '[', levels);
    memset(doc + n + levels, ']', levels);
    strcpy(doc + n + 2 * levels, "'}");
    bench_doc(&b, doc);
    assert_int_equal(bench_compile(&b, "{'$toArray': '$t'}"), MRS_OK);
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &got), good ? MRS_OK : MRS_FAIL);
    bench_close(&b);
}

static void
json_has_200_levels(void **state)
{
    (void)state;
    json_depth(200, true);
    json_depth(201, false);
}

/* Wide levels go another way than narrow ones. */
static void
json_of_many_equal_names(void **state)
{
    static char doc[60000], want[60000];
    size_t n = (size_t)sprintf(doc, "{'t': '{"), w = (size_t)sprintf(want, "{");
    struct bench b;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        n += (size_t)sprintf(doc + n, "%s\\'k%d\\': %d", i ? "," : "", i % 1000, i);
    }
    strcpy(doc + n, "}'}");
    for (int i = 0; i < 1000; i++) {
        w += (size_t)sprintf(want + w, "%s'k%d': %d", i ? "," : "", i, 2000 + i);
    }
    strcpy(want + w, "}");
    bench_open(&b, 0);
    bench_is(&b, OBJECT, doc, want);
    bench_close(&b);
}

static void
bases_are_for_whole_numbers(void **state)
{
#define BASE(to, base) "{'$convert': {'input': '$t', 'to': '" to "', 'base': " base "}}"
    static const struct row CONVERT[] = {
        {BASE("string", "2"), "{'t': 10}", "'1010'"},
        {BASE("string", "16"), "{'t': -10.0}", "'-A'"},
        {BASE("string", "8"), "{'t': {'$numberDecimal': '10.0'}}", "'12'"},
        {BASE("string", "16"), "{'t': {'$numberLong': '-9223372036854775808'}}", "'-8000000000000000'"},
        {BASE("string", "2"), "{'t': {'$numberLong': '9223372036854775807'}}",
         "'111111111111111111111111111111111111111111111111111111111111111'"},
        {BASE("string", "10"), "{'t': -0.0}", "'0'"},
        {BASE("string", "10"), "{'t': 10.5}", NULL},
        {BASE("string", "10"), "{'t': 1e300}", NULL},
        {BASE("string", "16"), "{'t': {'$numberDouble': 'NaN'}}", NULL},
        {BASE("string", "16"), "{'t': 'text'}", "'text'"},
        {BASE("int", "2"), "{'t': '-1010'}", "-10"},
        {BASE("double", "8"), "{'t': '12'}", "10.0"},
        {BASE("long", "16"), "{'t': 'a'}", "{'$numberLong': '10'}"},
        {BASE("decimal", "16"), "{'t': '+0A'}", "{'$numberDecimal': '10'}"},
        {BASE("int", "16"), "{'t': '80000000'}", NULL},
        {BASE("int", "16"), "{'t': '-80000000'}", "-2147483648"},
        {BASE("double", "16"), "{'t': '8000000000000000'}", NULL},
        {BASE("long", "16"), "{'t': '0xa'}", NULL},
        {BASE("long", "2"), "{'t': '2'}", NULL},
        {BASE("long", "10"), "{'t': 'A'}", NULL},
        {BASE("long", "10"), "{'t': '1.5'}", NULL},
        {BASE("long", "16"), "{'t': ''}", NULL},
        {BASE("double", "2"), "{'t': 1.9}", "1.9"},
        {BASE("bool", "2"), "{'t': 'x'}", "true"},
        {BASE("string", "null"), "{'t': 10}", "'10'"},
        {BASE("string", "null"), "{'t': 10.5}", "'10.5'"},
        {BASE("string", "'$b'"), "{'t': 255, 'b': 16}", "'FF'"},
        {BASE("string", "'$b'"), "{'t': 255, 'b': 7}", NULL},
        {BASE("double", "'$b'"), "{'t': 255, 'b': 2.5}", NULL},
        {BASE("string", "'$b'"), "{'t': null, 'b': 7}", "null"},
        {"{'$convert': {'input': '$t', 'to': 'long', 'base': 16, 'onError': 'no'}}", "{'t': 'xyz'}", "'no'"},
    };
    (void)state;
    ROWS(CONVERT);
    struct bench b;
    bench_open(&b, 0);
    b.env.strict = true;
    bench_refused(&b, BASE("string", "3"), "one of 2, 8, 10, 16");
    bench_close(&b);
}

static void
patterns_replace_and_split(void **state)
{
#define RE(p) "{'$regularExpression': {'pattern': '" p "', 'options': ''}}"
#define ALL(p, by) "{'$replaceAll': {'input': '$t', 'find': " RE(p) ", 'replacement': '" by "'}}"
#define ONE(p, by) "{'$replaceOne': {'input': '$t', 'find': " RE(p) ", 'replacement': '" by "'}}"
#define SPLIT(p) "{'$split': ['$t', " RE(p) "]}"
    static const struct row PATTERNS[] = {
        {ALL("\\\\d{3}", "xxx"), "{'t': '123-456-7890'}", "'xxx-xxx-xxx0'"},
        {ONE("\\\\d", "X"), "{'t': 'a1b2'}", "'aXb2'"},
        {ALL("x*", "-"), "{'t': 'aéx'}", "'-a-é-'"},
        {ALL("(b)", "<1>"), "{'t': 'abc'}", "'a<1>c'"},
        {ALL(".*", "all"), "{'t': ''}", "'all'"},
        {ALL("x", "y"), "{'t': ''}", "''"},
        {ONE("x", "y"), "{'t': 'abc'}", "'abc'"},
        {ALL("^", ">"), "{'t': 'ab'}", "'>ab'"},
        {ALL("b", "y"), "{'t': null}", "null"},
        {ALL("b", "y"), "{'t': 5}", NULL},
        {"{'$replaceAll': {'input': '$t', 'find': '$f', 'replacement': '$b'}}",
         "{'t': 'aAb', 'f': {'$regularExpression': {'pattern': 'a', 'options': 'i'}}, 'b': '.'}", "'..b'"},
        {"{'$replaceAll': {'input': '$t', 'find': '$f', 'replacement': '$b'}}",
         "{'t': null, 'f': {'$regularExpression': {'pattern': 'a', 'options': ''}}, 'b': 5}", NULL},
        {"{'$replaceOne': {'input': '$t', 'find': '$f', 'replacement': '$b'}}",
         "{'t': 'a', 'f': {'$regularExpression': {'pattern': '(', 'options': ''}}, 'b': 'x'}", NULL},
        {"{'$replaceOne': {'input': '$t', 'find': '$f', 'replacement': '$b'}}", "{'t': 'a', 'f': 7, 'b': 'x'}", NULL},
        {SPLIT(", *"), "{'t': 'a,b,   c'}", "['a', 'b', 'c']"},
        {SPLIT("(-+)"), "{'t': 'f7--4-b'}", "['f7', '--', '4', '-', 'b']"},
        {SPLIT("(x)|(y)"), "{'t': 'axb'}", "['a', 'x', '', 'b']"},
        {SPLIT("a"), "{'t': 'aa'}", "['', '', '']"},
        {SPLIT("a"), "{'t': ''}", "['']"},
        {SPLIT("z"), "{'t': 'abc'}", "['abc']"},
        {SPLIT("x*"), "{'t': 'abc'}", NULL},
        {SPLIT("x*"), "{'t': ''}", NULL},
        {SPLIT("x"), "{'t': null}", "null"},
        {SPLIT("x"), "{'t': 5}", NULL},
        {"{'$split': ['$t', '$s']}", "{'t': 'a1b', 's': {'$regularExpression': {'pattern': '[0-9]', 'options': ''}}}",
         "['a', 'b']"},
        {"{'$split': ['$t', '$s']}", "{'t': 5}", "null"},
        {"{'$arrayElemAt': [" SPLIT("[,;]") ", -1]}", "{'t': 'a,b;c'}", "'c'"},
        {"{'$arrayElemAt': [" SPLIT("[,;]") ", 1]}", "{'t': 'a,b;c'}", "'b'"},
        {"{'$arrayElemAt': [" SPLIT("[,;]") ", 3]}", "{'t': 'a,b;c'}", NULL},
    };
    (void)state;
    size_t n = sizeof PATTERNS / sizeof *PATTERNS - 1;
    rows(PATTERNS, n);
    struct bench b;
    bench_open(&b, 0);
    bench_is(&b, PATTERNS[n].expression, PATTERNS[n].doc, NULL); /* nothing there */
    bench_refused(&b, "{'$split': ['$t', " RE("(") "]}", "the pattern is wrong");
    bench_close(&b);
}

static void
elements_have_an_index(void **state)
{
    static const struct row INDEX[] = {
        {"{'$map': {'input': '$a', 'in': '$$IDX'}}", "{'a': [7, null, 'x']}", "[0, 1, 2]"},
        {"{'$map': {'input': '$a', 'arrayIndexAs': 'i', 'in': {'$add': ['$$i', '$$this']}}}", "{'a': [7, 8]}",
         "[7, 9]"},
        {"{'$map': {'input': '$a', 'in': {'$map': {'input': '$a', 'arrayIndexAs': 'i', 'in': ['$$IDX', '$$i']}}}}",
         "{'a': [0, 0]}", "[[[0, 0], [0, 1]], [[1, 0], [1, 1]]]"},
        {"{'$map': {'input': '$a', 'in': {'$map': {'input': '$a', 'in': '$$IDX'}}}}", "{'a': [0, 0]}",
         "[[0, 1], [0, 1]]"},
        {"{'$filter': {'input': '$a', 'cond': {'$ne': ['$$IDX', 1]}}}", "{'a': [7, 8, 9]}", "[7, 9]"},
        {"{'$filter': {'input': '$a', 'as': 'e', 'arrayIndexAs': 'i', 'limit': 1, 'cond': {'$gt': ['$$i', 0]}}}",
         "{'a': [7, 8, 9]}", "[8]"},
        {"{'$reduce': {'input': '$a', 'initialValue': 0, 'in': {'$add': ['$$value', {'$multiply': ['$$this', "
         "'$$IDX']}]}}}", "{'a': [1, 2, 3]}", "8"},
        {"{'$reduce': {'input': '$a', 'initialValue': '', 'as': 'e', 'valueAs': 'v', 'arrayIndexAs': 'i', 'in': "
         "{'$concat': ['$$v', {'$toString': '$$i'}, '$$e']}}}", "{'a': ['x', 'y']}", "'0x1y'"},
    };
    (void)state;
    ROWS(INDEX);
    struct bench b;
    bench_open(&b, 0);
    bench_refused(&b, "{'$map': {'input': '$a', 'arrayIndexAs': 'i', 'in': '$$IDX'}}", "no variable $$IDX");
    bench_refused(&b, "{'$map': {'input': '$$IDX', 'in': 1}}", "no variable $$IDX");
    bench_refused(&b, "{'$map': {'input': '$a', 'arrayIndexAs': 'IDX', 'in': 1}}", "cannot name a variable");
    bench_refused(&b, "{'$map': {'input': '$a', 'arrayIndexAs': 5, 'in': 1}}", "must be the name of a variable");
    bench_refused(&b, "{'$map': {'input': '$a', 'as': 'i', 'arrayIndexAs': 'i', 'in': 1}}", "one name");
    bench_refused(&b, "{'$reduce': {'input': '$a', 'initialValue': 0, 'as': 'e', 'in': '$$this'}}",
                  "no variable $$this");
    bench_refused(&b, "{'$reduce': {'input': '$a', 'initialValue': 0, 'as': 'e', 'valueAs': 'e', 'in': 1}}",
                  "one name");
    bench_refused(&b, "{'$reduce': {'input': '$a', 'initialValue': 0, 'valueAs': 'this', 'in': 1}}", "one name");
    bench_close(&b);
}

/* Values that are made on the way are forgotten where there are many: the index is one of them. */
static void
an_index_outlives_its_element(void **state)
{
    struct bench b;
    struct mrs_val got;
    (void)state;
    bench_open(&b, 0);
    bench_doc(&b, "{'n': 20000}");
    enum mrs_status s = bench_compile(&b, "{'$map': {'input': {'$range': [0, '$n']}, 'in': ['$$IDX', '$$this']}}");
    assert_int_equal(s, MRS_OK);
    assert_int_equal(mrs_expr_eval(b.x, &b.ev, &got), MRS_OK);
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n = 0;
    for (mrs_walk_init(&w, mrs_val_view(got)); mrs_walk_next(&w, &e) > 0; n++) {
        struct mrs_val i = mrs_doc_get(mrs_val_view(e.v), "0"), v = mrs_doc_get(mrs_val_view(e.v), "1");
        assert_true(mrs_identical(i, v) && mrs_val_i32(i) == (int32_t)n);
    }
    assert_int_equal(n, 20000);
    bench_close(&b);
}

static void
under_8_2_it_is_refused(void **state)
{
    static const char *const LATER[] = {
        "{'$toObject': '$t'}",
        "{'$toArray': '$t'}",
        "{'$hash': {'input': '$t', 'algorithm': 'md5'}}",
        "{'$hexHash': {'input': '$t', 'algorithm': 'md5'}}",
        "{'$subtype': '$t'}",
        BASE("int", "2"),
        "{'$convert': {'input': '$t', 'to': 'object'}}",
        "{'$convert': {'input': '{}', 'to': 'object'}}",
        "{'$convert': {'input': '$t', 'to': 'array', 'onError': null}}",
        "{'$map': {'input': '$a', 'arrayIndexAs': 'i', 'in': 1}}",
        "{'$filter': {'input': '$a', 'arrayIndexAs': 'i', 'cond': 1}}",
        "{'$reduce': {'input': '$a', 'initialValue': 0, 'as': 'i', 'in': 1}}",
        "{'$map': {'input': '$a', 'in': '$$IDX'}}",
        SPLIT("x"),
        ALL("x", "y"),
        ONE("x", "y"),
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    b.env.server_8_2 = b.env.strict = true;
    for (size_t i = 0; i < sizeof LATER / sizeof *LATER; i++) {
        bench_refused(&b, LATER[i], "8.3");
    }
    fails(&b, "{'$split': ['$t', '$s']}", "{'t': 'a', 's': {'$regularExpression': {'pattern': 'a', 'options': ''}}}");
    fails(&b, "{'$convert': {'input': '$t', 'to': '$k'}}", "{'t': '{}', 'k': 'object'}");
    bench_is(&b, "{'$convert': {'input': '$t', 'to': '$k', 'onError': 1}}", "{'t': '{}', 'k': 'object'}", "1");
    bench_close(&b);
}

static void
chance_names_what_to_do(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    bench_refused(&b, "{'$rand': {}}",
                  "{ $hexHash: { input: { $concat: [\"salt\", { $toString: $_id }] }, algorithm: sha256 } }");
    bench_close(&b);
}

static void
every_allocation_may_fail(void **state)
{
    static const char *const MANY =
        "[{'$toObject': '$t'}, {'$hexHash': {'input': '$t', 'algorithm': 'md5'}}, " ALL("a", "xyz") ", " SPLIT("a")
        ", {'$split': ['$t', '$r']}, {'$map': {'input': '$a', 'in': '$$IDX'}}, " BASE("string", "16") "]";
    bool done = false;
    (void)state;
    for (uint64_t n = 1; !done; n++) {
        struct bench b;
        struct mrs_val v;
        bench_open(&b, n);
        bench_doc(&b, "{'t': '{\\'a\\': 1, \\'b\\': 2, \\'a\\': 3}', 'a': [1, 2], "
                      "'r': {'$regularExpression': {'pattern': 'b', 'options': ''}}}");
        enum mrs_status s = bench_compile(&b, MANY);
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
        cmocka_unit_test(digests_are_those_of_the_standards),
        cmocka_unit_test(hashes_take_text_and_binary),
        cmocka_unit_test(json_becomes_documents_and_arrays),
        cmocka_unit_test(json_has_200_levels),
        cmocka_unit_test(json_of_many_equal_names),
        cmocka_unit_test(bases_are_for_whole_numbers),
        cmocka_unit_test(patterns_replace_and_split),
        cmocka_unit_test(elements_have_an_index),
        cmocka_unit_test(an_index_outlives_its_element),
        cmocka_unit_test(under_8_2_it_is_refused),
        cmocka_unit_test(chance_names_what_to_do),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("server_8_3", tests, NULL, NULL);
}
