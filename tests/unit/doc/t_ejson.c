/* SPDX-License-Identifier: Apache-2.0 */
/* t_ejson.c - Extended JSON.
 *
 * Each wrapper in each mode by hand, text that must be refused, and round trips of random documents with libbson as
 * the second opinion (on shallow documents, where it can be trusted). */
#include "json.h"

#include "mongoreshape/ejson.h"

static struct mrs_mem *mem;

/* Reads `text` (single quotes for double ones) in a mode; the buffer is the caller's. */
static enum mrs_status
read_text(const char *text, enum mrs_ejson_mode mode, struct mrs_buf *out, struct mrs_err *e)
{
    char copy[4096];
    size_t n = strlen(text), used = 0;
    assert_true(n < sizeof copy);
    for (size_t i = 0; i < n; i++) {
        copy[i] = text[i] == '\'' ? '"' : text[i];
    }
    mrs_buf_init(out, mem, 1 << 24);
    mrs_err_clear(e);
    enum mrs_status s = mrs_ejson_read(copy, n, mode, out, &used, e);
    if (s == MRS_OK) {
        assert_int_equal(used, n);
        assert_int_equal(mrs_doc_check(out->p, out->n, MRS_DEPTH_READ, NULL), MRS_OK);
    } else {
        assert_int_equal(out->n, 0);
    }
    return s;
}

/* in, read in a mode, is written as `canonical` and `relaxed` (NULL: not looked at). */
static void
written(const char *in, enum mrs_ejson_mode mode, const char *canonical, const char *relaxed)
{
    struct mrs_buf b, text;
    struct mrs_err e;
    const char *want[2] = {relaxed, canonical};
    if (read_text(in, mode, &b, &e) != MRS_OK) {
        fail_msg("%s: %s", in, e.msg);
    }
    struct mrs_view d = {b.p, (uint32_t)b.n};
    for (int k = 0; k < 2; k++) {
        mrs_buf_init(&text, mem, 1 << 20);
        mrs_ejson_write(d, k == 1, &text);
        mrs_buf_byte(&text, 0);
        for (char *p = (char *)text.p; *p; p++) {
            *p = *p == '"' ? '\'' : *p;
        }
        if (want[k]) {
            assert_string_equal((char *)text.p, want[k]);
        }
        mrs_buf_clear(&text);
    }
    mrs_buf_clear(&b);
}

static void
wrappers(void **state)
{
    (void)state;
    static const char *const same[] = {"{'a':{'$oid':'0123456789abcdef01234567'}}", "{'a':{'$symbol':'x'}}",
                                       "{'a':{'$numberInt':'-2147483648'}}",
                                       "{'a':{'$numberLong':'-9223372036854775808'}}",
                                           "{'a':{'$numberDouble':'0.1'}}", "{'a':{'$numberDouble':'3.0'}}",
                                       "{'a':{'$numberDouble':'-0.0'}}", "{'a':{'$numberDouble':'NaN'}}",
                                           "{'a':{'$numberDouble':'-Infinity'}}",
                                       "{'a':{'$numberDouble':'1e+16'}}", "{'a':{'$numberDecimal':'1.00E+9'}}",
                                           "{'a':{'$numberDecimal':'NaN'}}",
                                       "{'a':{'$binary':{'base64':'','subType':'00'}}}",
                                           "{'a':{'$binary':{'base64':'AQ==','subType':'80'}}}",
                                       "{'a':{'$binary':{'base64':'AQI=','subType':'02'}}}",
                                           "{'a':{'$binary':{'base64':'AQID','subType':'05'}}}",
                                       "{'a':{'$code':'f()'}}",
                                           "{'a':{'$code':'f()','$scope':{'x':{'$numberInt':'1'},'y':[{}]}}}",
                                       "{'a':{'$timestamp':{'t':4294967295,'i':0}}}",
                                           "{'a':{'$regularExpression':{'pattern':'^a','options':'imx'}}}",
                                       "{'a':{'$dbPointer':{'$ref':'d.c','$id':{'$oid':'0123456789abcdef01234567'}}}}",
                                       "{'a':{'$date':{'$numberLong':'-1'}}}",
                                           "{'a':{'$minKey':1},'b':{'$maxKey':1},'c':{'$undefined':true}}",
                                       "{'a':[null,true,false,{},[],'']}", "{'$a':{'$or':[]},'a':{'$regex':'x'}}",
                                       "{'a':{'$ref':'c','$id':{'$numberInt':'1'},'$db':'d'}}",
                                           "{'$oid':'0123456789abcdef01234567'}"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        written(same[i], MRS_EJSON_DATA, same[i], NULL);
        written(same[i], MRS_EJSON_STRICT, same[i], NULL);
    }
    written("{'a':{'$uuid':'c8edabc3-f738-4ca3-b68d-ab92a91478a3'}}", MRS_EJSON_STRICT,
            "{'a':{'$binary':{'base64':'yO2rw/c4TKO2jauSqRR4ow==','subType':'04'}}}", NULL);
    written("{'a':{'$regularExpression':{'pattern':'a','options':'xmi'}}}", MRS_EJSON_DATA,
            "{'a':{'$regularExpression':{'pattern':'a','options':'imx'}}}", NULL);
}

static void
numbers(void **state)
{
    (void)state;
    written("{'v':2,'w':2147483648,'x':9223372036854775808,'y':1.0,'z':-1E2}", MRS_EJSON_DATA,
            "{'v':{'$numberInt':'2'},'w':{'$numberLong':'2147483648'},'x':{'$numberDouble':'9.223372036854776e+18'}"
            ",'y':{'$numberDouble':'1.0'},"
            "'z':{'$numberDouble':'-100.0'}}",
            "{'v':2,'w':2147483648,'x':9.223372036854776e+18,'y':1.0,'z':-100.0}");
    written("{'v':0.30000000000000004,'w':123456789012345678901234567890,'x':1e-400,'y':-9223372036854775808}",
            MRS_EJSON_DATA, NULL,
            "{'v':0.30000000000000004,'w':1.2345678901234568e+29,'x':0.0,'y':-9223372036854775808}");
    written("{'a':{'$numberDouble':'Infinity'}}", MRS_EJSON_DATA, NULL, "{'a':{'$numberDouble':'Infinity'}}");
    written("{'a':2.22507385850720113605740979670913197593481954635164564802342610972482222202107694551652952390813"
            "50879141491589130396211068700864386945946455"
            "276572074078206217433799881410632673292535522868813721490129811224514518898490572223072852551331557550"
            "1591439747639798341180199932396254e-308}",
            MRS_EJSON_DATA, NULL, "{'a':2.225073858507201e-308}");
}

static void
dates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        long long ms;
        bool strict;
    } row[] = {{"2020-01-01", 1577836800000, true},       {"1970-01-01T00:00:00Z", 0, true},
               {"2012-12-24T12:15:30.501Z", 1356351330501, true},
               {"2020-02-29T23:59", 1583020740000, true}, {"2020-01-01T01:30:00+01:30", 1577836800000, true},
               {"2020-01-01T00:00:00.5-00:30", 1577838600500, true}, {"0001-01-01", -62135596800000, true},
               {"9999-12-31T23:59:59.999Z", 253402300799999, true},  {"2020-01-01T00:00:00.123456789Z",
                                                                      1577836800123, false},
               {"2020-01-01T01:00:00+0100", 1577836800000, false},   {"1969-12-31T23:59:59.999Z", -1, true}};
    static const char *const bad[] = {"2020-13-01", "2021-02-29", "2020-01-32", "2020-1-1", "2020-01-01T24:00",
                                      "2020-01-01T00:60", "2020-01-01T", "2020-01-01X",
                                      "2020-01-01T00:00:60Z", "2020-01-01T00:00:00.Z", "2020-01-01T00:00:00ZZ", "",
                                          "today", "2020-01-01T00:00+1", " 2020-01-01",
                                      "20200-01-01", "2020-00-10", "2020-01-00"};
    char in[128], want[128];
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(in, sizeof in, "{'a':{'$date':'%s'}}", row[i].text);
        snprintf(want, sizeof want, "{'a':{'$date':{'$numberLong':'%lld'}}}", row[i].ms);
        written(in, MRS_EJSON_DATA, want, NULL);
        struct mrs_buf b;
        struct mrs_err e;
        assert_int_equal(read_text(in, MRS_EJSON_STRICT, &b, &e), row[i].strict ? MRS_OK : MRS_FAIL);
        mrs_buf_clear(&b);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct mrs_buf b;
        struct mrs_err e;
        snprintf(in, sizeof in, "{'a':{'$date':'%s'}}", bad[i]);
        assert_int_equal(read_text(in, MRS_EJSON_DATA, &b, &e), MRS_FAIL);
        mrs_buf_clear(&b);
    }
    written("{'a':{'$date':1356351330501}}", MRS_EJSON_DATA, NULL, "{'a':{'$date':'2012-12-24T12:15:30.501Z'}}");
    written("{'a':{'$date':{'$numberLong':'253402300800000'}}}", MRS_EJSON_DATA, NULL,
            "{'a':{'$date':{'$numberLong':'253402300800000'}}}");
}

/* The same text means different things in data and in plans. */
static void
modes(void **state)
{
    (void)state;
    static const char *const regex = "{'a':{'$regex':'^x','$options':'i'}}",
        *const binary = "{'a':{'$binary':'AQI=','$type':'00'}}";
    written(regex, MRS_EJSON_DATA, "{'a':{'$regularExpression':{'pattern':'^x','options':'i'}}}", NULL);
    written(regex, MRS_EJSON_STRICT, regex, NULL);
    written(binary, MRS_EJSON_DATA, "{'a':{'$binary':{'base64':'AQI=','subType':'00'}}}", NULL);
    written("{'a':{'$type':'string','$regex':{'$oid':'0123456789abcdef01234567'}}}", MRS_EJSON_STRICT,
            "{'a':{'$type':'string','$regex':{'$oid':'0123456789abcdef01234567'}}}", NULL);
    written("{'a':{'$oid':'x','b':1}}", MRS_EJSON_STRICT, NULL, "{'a':{'$oid':'x','b':1}}");
    written("{'a':{'$oid':5}}", MRS_EJSON_PLAIN, NULL, "{'a':{'$oid':5}}");
    written("{'a':{'$date':{'$numberLong':'1'}}}", MRS_EJSON_PLAIN, NULL, "{'a':{'$date':{'$numberLong':'1'}}}");
}

static void
refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "  ", "[]", "5", "{", "{'a'", "{'a':", "{'a':1", "{'a':1,}", "{,}", "{'a':1 'b':2}", "{a:1}", "{'a':01}",
            "{'a':1.}", "{'a':.5}", "{'a':+1}",
        "{'a':1e}", "{'a':-}", "{'a':tru}", "{'a':nul}", "{'a':NaN}", "{'a':1e999}", "{'a':[1,]}", "{'a':[1 2]}",
            "{'a':[}", "{'a':]}", "{'a':'\n'}",
        "{'a':'\\x'}", "{'a':'\\u12'}", "{'a':'\\ud800'}", "{'a':'\\ud800\\u0041'}", "{'a':'\\udc00'}",
            "{'a\\u0000':1}", "{'a':'x", "{'a':'\\",
        "{'a':{'$oid':'012345678'}}", "{'a':{'$oid':'0123456789abcdef0123456g'}}", "{'a':{'$oid':5}}",
            "{'a':{'$numberInt':'2147483648'}}",
        "{'a':{'$numberInt':5}}", "{'a':{'$numberLong':'9223372036854775808'}}", "{'a':{'$numberLong':''}}",
            "{'a':{'$numberLong':'-'}}",
        "{'a':{'$numberLong':'1.0'}}", "{'a':{'$numberDouble':'x'}}", "{'a':{'$numberDouble':''}}",
            "{'a':{'$numberDecimal':'1e'}}",
        "{'a':{'$numberDecimal':'12345678901234567890123456789012345'}}",
            "{'a':{'$binary':{'base64':'A','subType':'00'}}}",
        "{'a':{'$binary':{'base64':'AB==','subType':'00'}}}", "{'a':{'$binary':{'base64':'A=B=','subType':'00'}}}",
        "{'a':{'$binary':{'base64':'AQ==','subType':'000'}}}", "{'a':{'$binary':{'base64':'AQ=='}}}",
            "{'a':{'$binary':'AQ=='}}", "{'a':{'$uuid':'c8edabc3'}}",
        "{'a':{'$timestamp':{'t':-1,'i':0}}}", "{'a':{'$timestamp':{'t':4294967296,'i':0}}}",
            "{'a':{'$timestamp':{'t':1}}}",
        "{'a':{'$regularExpression':{'pattern':'a'}}}",
            "{'a':{'$regularExpression':{'pattern':'a\\u0000','options':''}}}", "{'a':{'$date':true}}",
        "{'a':{'$minKey':2}}", "{'a':{'$undefined':false}}", "{'a':{'$code':5}}", "{'a':{'$code':'x','$scope':5}}",
            "{'a':{'$dbPointer':{'$ref':'x'}}}",
        "{'a':{'$dbPointer':{'$ref':'x','$id':5}}}", "{'a':{'$oid':'0123456789abcdef01234567','x':1}}",
            "{'a':{'$symbol':1}}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct mrs_buf b;
        struct mrs_err e;
        if (read_text(bad[i], MRS_EJSON_DATA, &b, &e) != MRS_FAIL || e.code != MRS_E_FORMAT ||
            e.byte_off > strlen(bad[i])) {
            fail_msg("%s was taken, or refused without a place", bad[i]);
        }
        mrs_buf_clear(&b);
    }
}

static void
strings(void **state)
{
    (void)state;
    written("{'a':'\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\n\\/'}", MRS_EJSON_DATA, NULL,
            "{'a':'A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\\n/'}");
    written("{'a':'x\\u0000y','b':1,'b':2}", MRS_EJSON_DATA, NULL, "{'a':'x\\u0000y','b':1,'b':2}");
    written("{'a\xff\xc3':'\xed\xa0\x80\xc3\xa9\xf5'}", MRS_EJSON_DATA, NULL,
            "{'a\xef\xbf\xbd\xef\xbf\xbd':'\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd'}");
}

static void
lines(void **state)
{
    (void)state;
    const char *text = "{\"a\":1}\n {\"b\":2}x";
    struct mrs_buf b;
    size_t used;
    mrs_buf_init(&b, mem, 1 << 20);
    assert_int_equal(mrs_ejson_read(text, strlen(text), MRS_EJSON_DATA, &b, &used, NULL), MRS_OK);
    assert_int_equal(used, 7);
    size_t first = b.n;
    assert_int_equal(mrs_ejson_read(text + 7, strlen(text) - 7, MRS_EJSON_DATA, &b, &used, NULL), MRS_OK);
    assert_int_equal(used, 9);
    struct mrs_view d = {b.p + first, (uint32_t)(b.n - first)};
    json_check(d, "{'b':2}");
    mrs_buf_clear(&b);
}

static void
depth(void **state)
{
    (void)state;
    for (int n = MRS_DEPTH_READ; n <= MRS_DEPTH_READ + 1; n++) {
        struct mrs_buf text, b, again;
        struct mrs_err e;
        size_t used;
        mrs_buf_init(&text, mem, 1 << 20);
        mrs_buf_init(&again, mem, 1 << 20);
        mrs_buf_init(&b, mem, 1 << 24);
        for (int i = 1; i < n; i++) {
            mrs_buf_put(&text, i % 2 ? "{\"a\":" : "[", i % 2 ? 5 : 1);
        }
        mrs_buf_put(&text, n % 2 ? "{}" : "[]", 2);
        for (int i = n - 1; i > 0; i--) {
            mrs_buf_byte(&text, i % 2 ? '}' : ']');
        }
        mrs_err_clear(&e);
        enum mrs_status s = mrs_ejson_read((char *)text.p, text.n, MRS_EJSON_DATA, &b, &used, &e);
        assert_int_equal(s, n > MRS_DEPTH_READ ? MRS_FAIL : MRS_OK);
        if (s == MRS_OK) {
            struct mrs_view d = {b.p, (uint32_t)b.n};
            assert_int_equal(mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL), MRS_OK);
            mrs_ejson_write(d, true, &again);
            assert_int_equal(again.n, text.n);
            assert_memory_equal(again.p, text.p, text.n);
        } else {
            assert_int_equal(e.code, MRS_E_LIMIT);
        }
        mrs_buf_clear(&text);
        mrs_buf_clear(&again);
        mrs_buf_clear(&b);
    }
}

static void
check_same(struct mrs_view d, const char *text, size_t n, const char *who)
{
    struct mrs_buf b;
    struct mrs_err e;
    size_t used;
    mrs_buf_init(&b, mem, 1 << 24);
    mrs_err_clear(&e);
    if (mrs_ejson_read(text, n, MRS_EJSON_DATA, &b, &used, &e) != MRS_OK || b.n != d.n || memcmp(b.p, d.p, d.n) != 0) {
        struct mrs_buf ours;
        mrs_buf_init(&ours, mem, 1 << 24);
        mrs_ejson_write(d, true, &ours);
        fail_msg("%s: %s: %.*s\nfrom %.*s", who, e.msg, (int)n, text, (int)ours.n, (char *)ours.p);
    }
    mrs_buf_clear(&b);
}

/* Ours reads ours and libbson's; libbson reads ours. */
static void
round_trips(void **state)
{
    (void)state;
    nasty_clean = true;
    for (int round = 0; round < 2000; round++) {
        struct mrs_buf buf, text;
        bson_t theirs;
        bson_error_t error;
        mrs_buf_init(&buf, mem, 1 << 22);
        mrs_buf_init(&text, mem, 1 << 24);
        struct mrs_view d = nasty_document(&buf, 3, 5);
        mrs_ejson_write(d, true, &text);
        check_same(d, (char *)text.p, text.n, "ours");
        assert_true(bson_init_static(&theirs, d.p, d.n));
        char *json = bson_as_canonical_extended_json(&theirs, NULL);
        if (json && !strstr(json, "$numberDecimal\" : \"-NaN")) {
            check_same(d, json, strlen(json), "libbson's");
        }
        bson_free(json);
        mrs_buf_byte(&text, 0);
        /* libbson's reader spoils these inside arrays */
        bool spoilt = strstr((char *)text.p, "$code") || strstr((char *)text.p, "$dbPointer");
        bson_t *back = bson_new_from_json(spoilt ? (const uint8_t *)"{}" : text.p, -1, &error);
        if (spoilt) {
            bson_destroy(back);
            back = bson_copy(&theirs);
        }
        if (!back || back->len != d.n || memcmp(bson_get_data(back), d.p, d.n) != 0) {
            fail_msg("libbson reads otherwise: %s: %s", error.message, (char *)text.p);
        }
        bson_destroy(back);
        mrs_buf_clear(&buf);
        mrs_buf_clear(&text);
    }
    nasty_clean = false;
}

/* Anything that is a document can be written, and what is written can be read. */
static void
nasty_is_written(void **state)
{
    (void)state;
    for (int round = 0; round < 1000; round++) {
        struct mrs_buf buf, text, again;
        size_t used;
        mrs_buf_init(&buf, mem, 1 << 22);
        mrs_buf_init(&text, mem, 1 << 24);
        mrs_buf_init(&again, mem, 1 << 24);
        struct mrs_view d = nasty_document(&buf, 4, 5);
        for (int k = 0; k < 2; k++) {
            mrs_buf_reset(&text);
            mrs_ejson_write(d, k, &text);
            assert_int_equal(mrs_ejson_read((char *)text.p, text.n, MRS_EJSON_PLAIN, &again, &used, NULL), MRS_OK);
            assert_int_equal(used, text.n);
        }
        mrs_buf_clear(&buf);
        mrs_buf_clear(&text);
        mrs_buf_clear(&again);
    }
}

static void
unwrapping(void **state)
{
    (void)state;
    struct mrs_arena a;
    struct mrs_buf b;
    struct mrs_err e;
    mrs_arena_init(&a, mem);
    assert_int_equal(read_text("{'d':{'$date':{'$numberLong':'5'}},'n':{'x':1},'o':{'$oid':'1'},'p':{'$dbPointer':{"
                               "'$ref':'a','$id':{'$oid':"
                               "'0123456789abcdef01234567'}}},'r':{'$regex':'a','$options':''},'m':{'$minKey':1}}",
                               MRS_EJSON_PLAIN, &b, &e),
                     MRS_OK);
    struct mrs_view d = {b.p, (uint32_t)b.n};
    struct mrs_val v = mrs_doc_get(d, "d");
    assert_int_equal(mrs_ejson_unwrap(&a, MRS_EJSON_STRICT, &v, &e), MRS_OK);
    assert_true(v.type == MRS_DATE && mrs_val_i64(v) == 5);
    v = mrs_doc_get(d, "n");
    const uint8_t *p = v.p;
    assert_int_equal(mrs_ejson_unwrap(&a, MRS_EJSON_STRICT, &v, &e), MRS_OK);
    assert_true(v.type == MRS_DOCUMENT && v.p == p);
    v = mrs_doc_get(d, "p");
    assert_int_equal(mrs_ejson_unwrap(&a, MRS_EJSON_STRICT, &v, &e), MRS_OK);
    assert_true(v.type == MRS_DBPOINTER && v.n == 18);
    v = mrs_doc_get(d, "r");
    assert_int_equal(mrs_ejson_unwrap(&a, MRS_EJSON_STRICT, &v, &e), MRS_OK);
    assert_int_equal(v.type, MRS_DOCUMENT);
    v = mrs_doc_get(d, "m");
    assert_int_equal(mrs_ejson_unwrap(&a, MRS_EJSON_STRICT, &v, &e), MRS_OK);
    assert_true(v.type == MRS_MINKEY && v.n == 0);
    v = mrs_doc_get(d, "o");
    assert_int_equal(mrs_ejson_unwrap(&a, MRS_EJSON_STRICT, &v, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_FORMAT);
    mrs_buf_clear(&b);
    mrs_arena_clear(&a);
}

static void
pictures(void **state)
{
    (void)state;
    static const char *const row[][2] = {{"{'a':'abc'}", "string \"abc\""}, {"{'a':[1,2,3]}", "array of 3"},
                                         {"{'a':{'x':1}}", "document of 1"}, {"{'a':5}", "int 5"},
                                         {"{'a':1.5}", "double 1.5"}, {"{'a':null}", "null"}, {"{'a':true}", "true"},
                                             {"{'b':1}", "missing"},
                                         {"{'a':{'$oid':'0123456789abcdef01234567'}}",
                                          "objectId 0123456789abcdef01234567"},
                                         {"{'a':{'$date':'2020-01-01'}}", "date 2020-01-01T00:00:00Z"},
                                             {"{'a':{'$numberDecimal':'1.0'}}", "decimal 1.0"},
                                         {"{'a':'0123456789012345678901234567890123456789012345678901234567890'}",
                                          "string \"0123456789012345678901234567890123456789012...\""},
                                         {"{'a':'\\u0001\\n\\u0000z'}", "string \"???z\""}, {"{'a':{'$minKey':1}}",
                                                                                             "minKey"}};
    char text[128];
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct mrs_buf b;
        struct mrs_err e;
        assert_int_equal(read_text(row[i][0], MRS_EJSON_DATA, &b, &e), MRS_OK);
        struct mrs_view d = {b.p, (uint32_t)b.n};
        assert_string_equal(mrs_val_picture(mrs_doc_get(d, "a"), text, sizeof text), row[i][1]);
        for (uint32_t n = 1; n < 64; n++) {
            assert_true(strlen(mrs_val_picture(mrs_doc_get(d, "a"), text, n)) < n);
        }
        mrs_buf_clear(&b);
    }
}

static void
without_memory(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"$binary\":{\"base64\":\"AQID\",\"subType\":\"00\"}},\"b\":[\"some text to"
                               " fill a buffer\",{\"$date\":\"2020-01-01\"}],"
                               "\"c\":\"012345678901234567890123456789012345678901234567890123456789012345678901234"
                               "5678901234567890123456789012345678901234567890123456789\","
                               "\"d\":\"012345678901234567890123456789012345678901234567890123456789012345678901234"
                               "567890123456789012345678901234567890123456789012345678\"}";
    for (uint64_t n = 1;; n++) {
        struct mrs_mem *m = mrs_mem_new(n);
        struct mrs_buf b;
        struct mrs_arena a;
        struct mrs_err e;
        size_t used;
        mrs_err_clear(&e);
        mrs_arena_init(&a, m);
        mrs_buf_init(&b, m, 1 << 20);
        enum mrs_status s = mrs_ejson_read(text, sizeof text - 1, MRS_EJSON_PLAIN, &b, &used, &e);
        if (s == MRS_OK) {
            struct mrs_view d = {b.p, (uint32_t)b.n};
            struct mrs_val v = mrs_doc_get(d, "a");
            s = mrs_ejson_unwrap(&a, MRS_EJSON_DATA, &v, &e);
        }
        mrs_buf_clear(&b);
        mrs_arena_clear(&a);
        assert_int_equal(mrs_mem_close(m), 0);
        if (s == MRS_OK) {
            assert_true(n > 4);
            break;
        }
        assert_int_equal(s, MRS_DEAD);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrappers), cmocka_unit_test(numbers), cmocka_unit_test(dates),      cmocka_unit_test(modes),
        cmocka_unit_test(refused),  cmocka_unit_test(strings), cmocka_unit_test(lines),      cmocka_unit_test(depth),
        cmocka_unit_test(round_trips), cmocka_unit_test(nasty_is_written), cmocka_unit_test(unwrapping),
            cmocka_unit_test(pictures),
        cmocka_unit_test(without_memory),
    };
    mem = mrs_mem_new(0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (mrs_mem_close(mem) != 0);
}
