/* SPDX-License-Identifier: Apache-2.0 */
/* t_damage.c - a dump with one bit turned, or cut at any byte: an output that is whole, or an error that says where. */
#include "dump_test.h"

#define STEPS                                                                                                          \
    "- embed: { from: c, into: p, match: { r: _id }, as: cs, sort: { n: 1 }, limit: 2, keep: all }\n"                  \
    "- extract: { from: p, path: xs, into: x, refs: both, parent_ref: p, child_refs: xs, unique: [k], id: new }\n"     \
    "- set: { in: c, fields: { up: { $toUpper: \"$t\" } }, errors: drop }\n"

static const char CHILDREN[] = "{'_id':1,'r':1,'n':2.5,'t':'abc'} "
                               "{'_id':{'$oid':'5f5e1000a1b2c3d4e5f60718'},'r':[1,2],'n':{'$numberLong':'7'}}"
                               "{'_id':3,'r':{'a':1},'n':{'$numberDecimal':'1.50'},'t':null,'b':{'$binary':{'base64':'"
                               "AAEC','subType':'02'}}}"
                               "{'_id':4,'d':{'$date':{'$numberLong':'86400000'}},'re':{'$regularExpression':{'pattern'"
                               ":'a','options':'i'}}}"
                               "{'_id':5,'c':{'$code':'f()','$scope':{'z':true}},'ts':{'$timestamp':{'t':1,'i':2}},'m':"
                               "{'$minKey':1}}";
static const char PARENTS[] = "{'_id':1,'xs':[{'k':1,'v':'a'},{'k':2}]} {'_id':2,'xs':[{'k':1,'v':'a'},{'v':3}]}";

static const char METADATA[] = "{\"options\":{},\"indexes\":[{\"v\":{\"$numberInt\":\"2\"},\"key\":{\"r\":{\"$"
                               "numberInt\":\"1\"}},\"name\":\"r_1\"}],"
                               "\"uuid\":\"00112233445566778899aabbccddeeff\",\"collectionName\":\"c\"}";

static unsigned long good, wrong[32];

/* Whatever it was, a run ends well or says what is wrong; and the input is not touched. */
static void
try(const char *name, const uint8_t *bytes, size_t n)
{
    static uint8_t after[8192];
    struct mrs_run_opts o = defaults();
    o.max_refused = 100;
    o.jobs = 1;
    put_file(name, bytes, n);
    struct ran r = run(STEPS, &o);
    if (r.status == MRS_OK) {
        static const char *const files[] = {"out/d/c.bson", "out/d/p.bson", "out/d/x.bson"};
        good++;
        for (int i = 0; i < 3; i++) {
            if (there(files[i])) { /* reads it to its end, checking lengths; the output holds what was checked */
                docs_of(files[i]);
            }
        }
    } else {
        char text[1200];
        mrs_err_text(&r.err, text, sizeof text);
        enum mrs_code c = r.err.code;
        wrong[c]++;
        if (c != MRS_E_BSON && c != MRS_E_FORMAT && c != MRS_E_LIMIT && c != MRS_E_PLAN && c != MRS_E_USAGE) {
            fail_msg("%s: %s", mrs_code_name(c), text);
        }
        if (c == MRS_E_BSON && (!strstr(text, name) || !r.err.doc_no || r.err.byte_off == UINT64_MAX)) {
            fail_msg("no place in: %s", text);
        }
        if (c == MRS_E_FORMAT && !strstr(text, name)) {
            fail_msg("no file in: %s", text);
        }
        assert_false(there("out"));
    }
    assert_false(there("out.partial"));
    ran_end(&r);
    assert_int_equal(get_file(name, after, sizeof after), n);
    assert_memory_equal(after, bytes, n);
    if (there("out")) {
        drop("out");
    }
    if (there("out.refused.bson")) {
        drop("out.refused.bson");
        drop("out.refused.bson.jsonl");
    }
}

static void
begin_with(const char *ends)
{
    char name[64];
    begin();
    snprintf(name, sizeof name, "in/d/c.bson%s", ends);
    put_docs(name, CHILDREN);
    put_docs("in/d/p.bson", PARENTS);
    put_file("in/d/c.metadata.json", METADATA, strlen(METADATA));
    good = 0;
    memset(wrong, 0, sizeof wrong);
}

static void
turn_bits(const char *ends, const char *name, unsigned step)
{
    static uint8_t p[8192];
    begin_with(ends);
    size_t n = get_file(name, p, sizeof p);
    assert_true(n > 50);
    for (size_t i = 0; i < n * 8; i += step) {
        p[i / 8] ^= (uint8_t)(1u << i % 8);
        try(name, p, n);
        p[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    print_message("%s: %lu good, %lu documents, %lu files, %lu others\n", name, good, wrong[MRS_E_BSON],
                  wrong[MRS_E_FORMAT], wrong[MRS_E_LIMIT] + wrong[MRS_E_PLAN] + wrong[MRS_E_USAGE]);
    assert_true(wrong[MRS_E_BSON] + wrong[MRS_E_FORMAT] > 5);
}

static void
cut(const char *ends, const char *name)
{
    static uint8_t p[8192];
    begin_with(ends);
    size_t n = get_file(name, p, sizeof p);
    for (size_t i = 0; i < n; i++) {
        try(name, p, i);
    }
    assert_true(good <= 6); /* between documents, or nothing at all */
    try(name, p, n);
    assert_true(good >= 1);
}

static void
turned(void **state)
{
    (void)state;
    turn_bits("", "in/d/c.bson", 3);
    turn_bits("", "in/d/p.bson", 3);
    turn_bits(".gz", "in/d/c.bson.gz", 5);
    turn_bits(".zst", "in/d/c.bson.zst", 5);
    turn_bits("", "in/d/c.metadata.json", 5);
}

static void
cut_short(void **state)
{
    (void)state;
    cut("", "in/d/c.bson");
    cut(".gz", "in/d/c.bson.gz");
    cut(".zst", "in/d/c.bson.zst");
    cut("", "in/d/c.metadata.json");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(turned), cmocka_unit_test(cut_short)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
