/* SPDX-License-Identifier: Apache-2.0 */
/* t_names.c - names of files and collections, the hash of over-long ones, patterns. Vectors come
 * from real dumps. */
#include "io_test.h"

static void
hash(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } want[] = {{"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
                {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
                {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
                {"0123456701234567012345670123456701234567012345670123456701234567",
                 "e0c094e867ef46c350ef54a7f59dd60bed92ae83"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        uint8_t h[20];
        char hex[41];
        mrsi_sha1(want[i].text, strlen(want[i].text), h);
        for (int k = 0; k < 20; k++) {
            snprintf(hex + 2 * k, 3, "%02x", h[k]);
        }
        assert_string_equal(hex, want[i].hex);
    }
}

static const char *
back(struct mrs_arena *a, const char *stem, struct mrs_err *e)
{
    const char *coll = NULL;
    return mrsi_name_unescape(a, stem, strlen(stem), &coll, e) == MRS_OK ? coll : NULL;
}

static void
there_and_back(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_arena a;
    struct mrs_err err;
    char stem[MRSI_STEM_MAX + 1];
    mrs_arena_init(&a, mem);
    mrs_err_clear(&err);
    const char *odd = "caf\xc3\xa9 s+x/y%z.w:~*(a)";
    assert_int_equal(mrsi_name_escape(odd, strlen(odd), stem), 39);
    assert_string_equal(stem, "caf%C3%A9+s%2Bx%2Fy%25z.w%3A~%2A%28a%29");
    assert_string_equal(back(&a, stem, &err), odd);
    for (int c = 1; c < 256; c++) {
        char one[2] = {(char)c, 0};
        mrsi_name_escape(one, 1, stem);
        assert_string_equal(back(&a, stem, &err), one);
    }
    assert_string_equal(back(&a, "a+b", &err), "a b");
    assert_string_equal(back(&a, "a b", &err), "a b");
    assert_string_equal(back(&a, "%c3%a9%61", &err), "\xc3\xa9"
                                                     "a");
    static const char *const bad[] = {"a%zz", "a%4", "a%", "%", "%00", "x%2", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *coll;
        FAILS(mrsi_name_unescape(&a, bad[i], strlen(bad[i]), &coll, &err), MRS_E_FORMAT);
    }
    mrs_arena_clear(&a);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* The shipped fixture: 247 characters, and its hash. */
static void
over_long(void **state)
{
    (void)state;
    char name[400] = "a", stem[MRSI_STEM_MAX + 1];
    for (int i = 0; i < 46; i++) {
        memcpy(name + strlen(name), "Very", 5);
    }
    size_t n = strlen(name);
    memset(name + n, 'b', 300 - n);
    assert_int_equal(mrsi_name_escape(name, 238, stem), 238);
    assert_memory_equal(stem, name, 238);
    assert_false(mrsi_name_is_cut(stem, 238));
    assert_int_equal(mrsi_name_escape(name, 239, stem), 238);
    assert_memory_equal(stem, name, 208);
    assert_memory_equal(stem + 208, "%24", 3);
    assert_true(mrsi_name_is_cut(stem, 238));
    char other[400];
    memset(other, 'a', sizeof other);
    mrsi_name_escape(other, 239, stem); /* what mongodump 100.18 made of 239 times 'a' */
    assert_string_equal(stem + 208, "%24_cMIV897lX9H69gojV5ddCb0Q5Q");
    /* A cut in the middle of %XX is kept as it is. */
    memset(other, 'a', 207);
    memcpy(other + 207, "/////////////////////////////////////////", 41);
    assert_int_equal(mrsi_name_escape(other, 248, stem), 238);
    assert_memory_equal(stem + 200, "aaaaaaa%%24", 11);
}

static void
kinds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum mrsi_file_kind kind;
        size_t stem;
    } want[] = {{"a.bson", MRSI_FILE_DATA, 1},          {"a.bson.gz", MRSI_FILE_DATA, 1},
                {"a.bson.zst", MRSI_FILE_DATA, 1},      {"a.bin", MRSI_FILE_DATA, 1},
                {"a.metadata.json", MRSI_FILE_META, 1}, {"a.metadata.json.gz", MRSI_FILE_META, 1},
                {"a.json", MRSI_FILE_OTHER, 6},         {".bson", MRSI_FILE_OTHER, 5},
                {"a.bson.bak", MRSI_FILE_OTHER, 10},    {"metadata.json", MRSI_FILE_OTHER, 13},
                {"x.y.bson", MRSI_FILE_DATA, 3},        {"a.bson.bson", MRSI_FILE_DATA, 6}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct mrsi_file_name f = mrsi_file_name(want[i].name);
        assert_int_equal(f.kind, want[i].kind);
        assert_int_equal(f.stem_n, want[i].stem);
    }
    assert_null(mrs_db_wrong("shop", 4));
    assert_null(mrs_db_wrong("a<b>c:d|e?f*", 12)); /* refused by servers on Windows only */
    char longest[65];
    memset(longest, 'd', sizeof longest);
    assert_null(mrs_db_wrong(longest, 63));
    assert_non_null(mrs_db_wrong(longest, 64));
    static const char *const bad[] = {"", "a.b", "a b", "a/b", "a\\b", "a\"b", "$a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_non_null(mrs_db_wrong(bad[i], strlen(bad[i])));
    }
}

static void
patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool want;
    } t[] = {{"a.b", "a.b", true},       {"a.*", "a.b.c", true}, {"*", "", true},
             {"*.b", "a.b", true},       {"*.b", "a.bc", false}, {"a*c*e", "abcde", true},
             {"a*c*e", "abcdef", false}, {"**", "x", true},      {"a\\*", "a*", true},
             {"a\\*", "ab", false},      {"a\\\\", "a\\", true}, {"\\a", "a", true},
             {"", "a", false},           {"a", "", false},       {"*a", "aaab", false},
             {"*ab", "aaab", true},      {"a.b", "axb", false},  {"t*.c?", "t1.c2", false}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        if (mrs_ns_like(t[i].pattern, t[i].text) != t[i].want) {
            fail_msg("%s over %s", t[i].pattern, t[i].text);
        }
    }
    /* No explosion: 30 stars against a long text that does not match. */
    char many[200] = "", text[5000];
    for (int i = 0; i < 30; i++) {
        memcpy(many + 2 * i, "*a", 3);
    }
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 2] = 'b';
    text[sizeof text - 1] = 0;
    assert_false(mrs_ns_like(many, text));
    struct mrs_err err;
    mrs_err_clear(&err);
    const char *const in[] = {"shop.*", "a.b"}, *const out[] = {"*.tmp*"}, *const lone[] = {"a\\"},
                      *const none[] = {""};
    struct mrsi_filter f = {in, out, 2, 1}, bad = {lone, NULL, 1, 0}, empty = {NULL, none, 0, 1};
    OK(mrsi_filter_check(&f, &err));
    FAILS(mrsi_filter_check(&bad, &err), MRS_E_USAGE);
    FAILS(mrsi_filter_check(&empty, &err), MRS_E_USAGE);
    assert_true(mrsi_filter_takes(&f, "shop.orders"));
    assert_true(mrsi_filter_takes(&f, "a.b"));
    assert_false(mrsi_filter_takes(&f, "a.c"));
    assert_false(mrsi_filter_takes(&f, "shop.tmp1"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash),  cmocka_unit_test(there_and_back), cmocka_unit_test(over_long),
        cmocka_unit_test(kinds), cmocka_unit_test(patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
