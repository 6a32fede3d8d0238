/* SPDX-License-Identifier: Apache-2.0 */
/* t_refused.c - refused documents: their order, how many are too many, and how they are mended. */
#include "dump_test.h"

/* Records as "step ns _id place" lines. */
static const char *
records(void)
{
    static char text[TEXT_MAX];
    static uint8_t p[TEXT_MAX];
    size_t n = get_file("out.refused.bson", p, sizeof p), out = 0;
    text[0] = 0;
    for (size_t k = 0; k < n; k += mrs_le32(p + k)) {
        struct mrs_view rec = {p + k, mrs_le32(p + k)};
        struct mrs_val ns = mrs_doc_get(rec, "ns"), step = mrs_doc_get(rec, "step"), place = mrs_doc_get(rec, "place");
        struct mrs_val doc = mrs_doc_get(rec, "doc"), why = mrs_doc_get(rec, "reason");
        uint32_t ns_n, place_n = 4, why_n;
        assert_int_equal(mrs_doc_check(rec.p, rec.n, 100, NULL), MRS_OK);
        assert_int_equal(ns.type, MRS_STRING);
        assert_int_equal(step.type, MRS_INT32);
        assert_int_equal(why.type, MRS_STRING);
        assert_int_equal(doc.type, MRS_DOCUMENT);
        assert_true(mrs_val_text(why, &why_n)[0] != 0);
        const char *name = mrs_val_text(ns, &ns_n);
        const char *where = place.type == MRS_STRING ? mrs_val_text(place, &place_n) : "null";
        struct mrs_val id = mrs_doc_get(mrs_val_view(doc), "_id");
        out += (size_t)snprintf(text + out, sizeof text - out, "%d %.*s %d %.*s\n", (int)mrs_le32(step.p), (int)ns_n,
                                name, (int)mrs_le32(id.p), (int)place_n, where);
    }
    return text;
}

#define SET(coll, to, field) "- set: { in: " coll ", fields: { " to ": { $add: [\"$" field "\", 1] } } }\n"

#define EMBED "- embed: { from: a, into: b, match: { _id: r }, as: as, keep: all, orphans: refuse }\n"
#define THREE SET("a", "z", "x") SET("b", "z", "x") SET("a", "w", "y")

static void
order(void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs < 4; jobs++) {
        struct mrs_run_opts o = defaults();
        begin();
        /* step 1 refuses in a; step 2: from before into, each in input order; step 3 on what is left */
        put_docs("in/d/a.bson", "{'_id':1,'x':'s'} {'_id':2,'x':1} {'_id':3,'x':'t'} {'_id':4,'x':4}");
        put_docs("in/d/b.bson", "{'_id':9,'r':2,'as':1} {'_id':8,'r':77} {'_id':7,'r':4,'as':0} "
                                "{'_id':6,'r':{},'y':'u'}");
        o.jobs = jobs;
        o.max_refused = 100;
        struct ran r = run(SET("a", "z", "x") EMBED SET("b", "z", "y"), &o);
        assert_int_equal(r.status, MRS_OK);
        assert_int_equal(r.report.refused, 5);
        assert_string_equal(r.report.refused_file, at("out.refused.bson"));
        ran_end(&r);
        assert_string_equal(records(), "1 d.a 1 fields.z\n1 d.a 3 fields.z\n2 d.b 9 as\n2 d.b 7 as\n"
                                       "3 d.b 6 fields.z\n");
        assert_string_equal(docs_of("out/d/b.bson"), "{'_id':8,'r':77,'as':[],'z':null}\n");
        assert_true(there("out.refused.bson.jsonl"));
    }
}

/* A refused document is in the record as it entered the step that refused it. */
static void
as_it_entered(void **state)
{
    static uint8_t p[4096];
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1,'x':'s'}");
    o.max_refused = 1;
    runs("- set: { in: a, fields: { y: 5 } }\n" SET("a", "z", "x"), &o);
    size_t n = get_file("out.refused.bson.jsonl", p, sizeof p - 1);
    p[n] = 0;
    assert_non_null(strstr((char *)p, "\"doc\":{\"_id\":{\"$numberInt\":\"1\"},\"x\":\"s\",\"y\":{\"$numberInt\":\"5\"}"
                                      "}}\n"));
}

/* Past N the file holds the steps up to the one that went past it, each with all it had to say; nothing is published.
 */
static void
too_many(void **state)
{
    static const struct {
        uint64_t most;
        const char *want;
    } rows[] = {{0, "1 d.a 1 fields.z\n"},
                {1, "1 d.a 1 fields.z\n2 d.b 1 fields.z\n2 d.b 2 fields.z\n2 d.b 3 fields.z\n"},
                {3, "1 d.a 1 fields.z\n2 d.b 1 fields.z\n2 d.b 2 fields.z\n2 d.b 3 fields.z\n"},
                {4, "1 d.a 1 fields.z\n2 d.b 1 fields.z\n2 d.b 2 fields.z\n2 d.b 3 fields.z\n3 d.a 2 fields.w\n3 d.a 3 "
                    "fields.w\n"}};
    (void)state;
    for (int hard = 0; hard < 2; hard++) { /* hard: a join comes before the last step, so nothing is fused */
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct mrs_run_opts o = defaults();
            begin();
            put_docs("in/d/a.bson", "{'_id':1,'x':'s'} {'_id':2,'x':1,'y':'t'} {'_id':3,'x':1,'y':'t'}");
            put_docs("in/d/b.bson", "{'_id':1,'x':'s'} {'_id':2,'x':'s'} {'_id':3,'x':'s'}");
            put_docs("in/d/c.bson", "{'_id':1}");
            o.max_refused = rows[i].most;
            struct ran r = run(hard ? THREE "- embed: { from: c, into: a, match: { _id: _id }, as: c }\n" : THREE, &o);
            assert_int_equal(r.status, MRS_FAIL);
            assert_int_equal(r.err.code, MRS_E_TOO_MANY);
            assert_non_null(strstr(r.err.msg, "--max-refused"));
            assert_int_equal(mrs_code_exit(r.err.code), 7);
            assert_false(r.report.published);
            ran_end(&r);
            assert_string_equal(records(), rows[i].want);
            assert_false(there("out") || there("out.partial"));
        }
    }
}

/* A step that is past the limit stops later ones, also where those would fail otherwise. */
static void
later_steps_are_not_begun(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1,'x':[1],'y':[1]} {'_id':2}");
    put_docs("in/d/b.bson", "{'_id':1,'x':'s'}");
    struct ran r = run(
        "- extract: { from: a, path: x, into: c, parent_ref: value, value: value, id: new }\n" SET("b", "z", "x"), &o);
    if (r.status == MRS_FAIL && r.err.code == MRS_E_TOO_MANY) {
        assert_true(strncmp(records(), "1 d.a 1", 7) == 0 || strncmp(records(), "2 d.b 1", 7) == 0);
    }
    assert_false(there("out"));
    ran_end(&r);
}

static void
distinct(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin(); /* both parts of each source are in conflict: each source counts once */
    put_docs("in/d/a.bson", "{'_id':1,'x':[{'_id':1,'v':1},{'_id':2,'v':1}]} "
                            "{'_id':2,'x':[{'_id':1,'v':2},{'_id':2,'v':2}]}");
    o.max_refused = 2;
    struct ran r = run("- extract: { from: a, path: x, into: c, refs: none }\n", &o);
    assert_int_equal(r.status, MRS_OK);
    assert_int_equal(r.report.refused, 2);
    assert_int_equal(row(&r.report, 1, "d.a")->refused, 2);
    ran_end(&r);
    o.max_refused = 1;
    drop("out");
    fails("- extract: { from: a, path: x, into: c, refs: none }\n", &o, MRS_E_TOO_MANY, "2 documents");
}

static void
dry_runs_tell_the_same(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1,'x':'s'} {'_id':2,'x':1}");
    o.dry_run = true;
    o.max_refused = 5;
    struct ran r = run(SET("a", "z", "x"), &o);
    assert_int_equal(r.status, MRS_OK);
    assert_int_equal(r.report.refused, 1);
    assert_null(r.report.refused_file);
    ran_end(&r);
    assert_false(there("out.refused.bson"));
}

/* ---- amending ---- */
static void
amended(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1,'x':'s'} {'_id':2,'x':1} {'_id':3.0,'x':3}");
    put_docs("in/d/b.bson", "{'_id':1,'x':'untouched by steps'} {'_id':2}");
    put_docs("amend", "{'ns':'d.a','doc':{'_id':1,'x':10},'step':1} {'ns':'d.b','doc':{'_id':1,'new':true}}"
                      "{'ns':'d.a','doc':{'_id':3,'x':30}}");
    o.amend = at("amend");
    runs(SET("a", "z", "x"), &o);
    assert_string_equal(docs_of("out/d/a.bson"), "{'_id':1,'x':10,'z':11}\n{'_id':2,'x':1,'z':2}\n{'_id':3,'x':30,'z':"
                                                 "31}\n");
    assert_string_equal(docs_of("out/d/b.bson"), "{'_id':1,'new':true}\n{'_id':2}\n");
}

/* What a run refused is what the next one reads, mended. */
static void
refused_file_is_an_amend_file(void **state)
{
    static uint8_t p[4096];
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1,'x':'s'} {'_id':2,'x':1}");
    o.max_refused = 1;
    runs(SET("a", "z", "x"), &o);
    size_t n = get_file("out.refused.bson", p, sizeof p);
    for (size_t i = 0; i + 8 < n; i++) { /* 'x': "s" becomes 'x': int32 7 and a string keeps its length */
        if (memcmp(p + i, "\x02x\0\x02\0\0\0s\0", 9) == 0) {
            memcpy(p + i, "\x0fx\0\x02\0\0\0s\0", 9);
            p[i] = 0x02;
            p[i + 7] = '7';
        }
    }
    put_file("amend", p, n);
    drop("out");
    o.amend = at("amend");
    runs("- cast: { in: a, fields: { x: int } }\n", &o);
    assert_string_equal(docs_of("out/d/a.bson"), "{'_id':1,'x':7}\n{'_id':2,'x':1}\n");
}

static void
wrong_amendments(void **state)
{
    static const struct {
        const char *records, *words;
    } rows[] = {{"{'ns':'d.a','doc':{'_id':7}}", "record 1 of the amend file: d.a has no document with the _id int 7"},
                {"{'ns':'d.a','doc':{'_id':2}}", "d.a has several documents with the _id int 2"},
                {"{'ns':'d.a','doc':{'_id':1}} {'ns':'d.a','doc':{'_id':{'$numberLong':'1'}}}",
                 "record 2 of the amend file: it corrects the document with _id long 1 of d.a, as another record does"},
                {"{'ns':'d.x','doc':{'_id':1}}", "no namespace"},
                {"{'doc':{'_id':1}}", "no namespace"},
                {"{'ns':'d.a'}", "no document `doc`"},
                {"{'ns':'d.a','doc':[1]}", "no document `doc`"},
                {"{'ns':'d.a','doc':{'x':1}}", "no usable _id"}};
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1} {'_id':2} {'_id':2}");
    o.amend = at("amend");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_docs("amend", rows[i].records);
        fails("- set: { in: a, fields: { z: 1 } }\n", &o, MRS_E_PLAN, rows[i].words);
        assert_false(there("out"));
    }
    put_file("amend", "\x20\0\0\0\x10_id\0", 9);
    fails("- set: { in: a, fields: { z: 1 } }\n", &o, MRS_E_PLAN, "record 1");
    put_file("amend", "\x10\0\0\0\x10_id\0\1\0\0\0\7\0\0", 16);
    fails("- set: { in: a, fields: { z: 1 } }\n", &o, MRS_E_PLAN, "");
    assert_int_equal(unlink(at("amend")), 0);
    fails("- set: { in: a, fields: { z: 1 } }\n", &o, MRS_E_MISSING, "amend");
    put_file("in/d/a.bson", "\x0e\0\0\0\x10_id\0\1\0\0\0\0\x0e\0\0\0\x10_id\0\1\0", 25);
    put_docs("amend", "{'ns':'d.a','doc':{'_id':1}}");
    fails("- set: { in: a, fields: { z: 1 } }\n", &o, MRS_E_BSON, "document 2");
}

/* Whichever allocation fails. */
static void
nothing_new_in_the_input(void **state)
{
    struct mrs_run_opts o = defaults();
    bool refused = false;
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1,'x':1} {'_id':2,'x':2}");
    o.write_residue = at("in/d/residue");
    for (uint64_t n = 1; n < 100; n++) {
        struct ran r = run_in(mrs_mem_new(n), SET("a", "z", "x"), &o);
        assert_int_not_equal(r.status, MRS_OK);
        refused = r.err.code == MRS_E_USAGE;
        ran_end(&r);
        assert_false(there("out"));
        assert_false(there("in/d/residue"));
    }
    assert_true(refused);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order),
                                       cmocka_unit_test(as_it_entered),
                                       cmocka_unit_test(too_many),
                                       cmocka_unit_test(distinct),
                                       cmocka_unit_test(later_steps_are_not_begun),
                                       cmocka_unit_test(dry_runs_tell_the_same),
                                       cmocka_unit_test(amended),
                                       cmocka_unit_test(refused_file_is_an_amend_file),
                                       cmocka_unit_test(wrong_amendments),
                                       cmocka_unit_test(nothing_new_in_the_input)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
