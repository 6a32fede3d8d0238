/* SPDX-License-Identifier: Apache-2.0 */
/* t_notices.c - what a report tells beside the account: all refused documents by kind, what is no refusal but worth a
 * look, how much disk is needed. */
#include "dump_test.h"

static void
expect(const struct mrs_ids *ids, const char *const *want)
{
    uint32_t n = 0;
    for (; want[n]; n++) {
        assert_true(n < ids->n);
        assert_string_equal(ids->at[n], want[n]);
    }
    assert_int_equal(ids->n, n);
}

static const struct mrs_notice *
notice(const struct mrs_report *r, uint32_t step, const char *ns, enum mrs_notice_kind kind)
{
    for (uint32_t i = 0; i < r->n_notice; i++) {
        const struct mrs_notice *x = &r->notice[i];
        if (x->step == step && x->kind == kind && strcmp(x->ns, ns) == 0) {
            return x;
        }
    }
    fail_msg("no notice %d of step %u, %s", (int)kind, step, ns);
    return NULL;
}

static struct mrs_run_opts
looking(uint64_t memory)
{
    struct mrs_run_opts o = defaults();
    o.memory = memory;
    o.dry_run = o.notices = true;
    o.max_refused = UINT64_MAX;
    o.ids = 2;
    return o;
}

static void
joins(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct mrs_run_opts o = looking(i ? 64 << 20 : 4096);
        begin();
        put_docs("in/d/posts.bson", "{'_id':1} {'_id':2,'no':true}");
        put_docs("in/d/comments.bson", "{'_id':1,'p':8} {'_id':2,'p':1} {'_id':3,'p':9} {'_id':4,'p':1} {'_id':5,'p':7}"
                                       "{'_id':6,'p':1}");
        put_docs("in/d/orders.bson", "{'_id':'a','lines':[{'k':'x'},{'k':'z'}]} {'_id':'b','lines':[{'k':'x'},{}]}"
                                     "{'_id':'c','lines':[{'k':'z'},{'k':'w'}]}");
        put_docs("in/d/products.bson", "{'_id':'x','name':'X'} {'_id':'y','name':'Y'}");
        struct ran r = run("- embed: { from: comments, into: posts, match: { p: _id }, as: c, limit: 2,\n"
                           "    orphans: drop }\n"
                           "- copy: { from: products, into: orders, match: { _id: lines.k }, fields: [name] }\n",
                           &o);
        assert_int_equal(r.status, MRS_OK);
        assert_int_equal(r.report.n_notice, 4);
        const struct mrs_notice *x = notice(&r.report, 1, "d.comments", MRS_NOTICE_ORPHAN);
        assert_int_equal(x->count, 3);
        expect(&x->ids, (const char *[]){"1", "3", NULL}); /* two are wanted */
        x = notice(&r.report, 1, "d.comments", MRS_NOTICE_CUT);
        assert_int_equal(x->count, 1);
        expect(&x->ids, (const char *[]){"6", NULL});
        x = notice(&r.report, 2, "d.orders", MRS_NOTICE_DANGLING);
        assert_int_equal(x->count, 2);
        expect(&x->ids, (const char *[]){"\"a\"", "\"c\"", NULL});
        x = notice(&r.report, 2, "d.products", MRS_NOTICE_ORPHAN);
        expect(&x->ids, (const char *[]){"\"y\"", NULL});
        ran_end(&r);
        o.notices = false;
        r = run("- embed: { from: comments, into: posts, match: { p: _id }, as: c, orphans: drop }\n", &o);
        assert_int_equal(notice(&r.report, 1, "d.comments", MRS_NOTICE_ORPHAN)->count, 3);
        assert_int_equal(notice(&r.report, 1, "d.comments", MRS_NOTICE_ORPHAN)->ids.n, 0); /* nobody is looked for */
        ran_end(&r);
    }
}

/* An orphan whose `_id` is in its target makes the pass begin again: nothing may be counted twice. */
static void
begun_again(void **state)
{
    struct mrs_run_opts o = looking(4096);
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1,'rs':[5,6,9]} {'_id':2,'rs':[5,7,8]}");
    put_docs("in/d/b.bson", "{'_id':5} {'_id':6} {'_id':7} {'_id':8}");
    put_docs("in/d/lost.bson", "{'_id':3}");
    struct ran r = run("- embed: { from: b, into: a, match: { _id: rs }, reference: into, as: bs, keep: none,\n"
                       "    orphans: drop }\n"
                       "- rename: { in: a, fields: { bs: cs } }\n",
                       &o);
    assert_int_equal(r.status, MRS_OK);
    const struct mrs_notice *x = notice(&r.report, 1, "d.a", MRS_NOTICE_DANGLING);
    assert_int_equal(x->count, 1);
    expect(&x->ids, (const char *[]){"1", NULL});
    assert_int_equal(r.report.n_notice, 1);
    ran_end(&r);
    put_docs("in/d/b.bson", "{'_id':5,'p':0} {'_id':3,'p':0} {'_id':4,'p':1} {'_id':6,'p':0}");
    r = run("- embed: { from: b, into: a, match: { p: _id }, as: bs, orphans: { into: lost } }\n", &o);
    x = notice(&r.report, 1, "d.b", MRS_NOTICE_ORPHAN); /* one of them is refused: its `_id` is there */
    assert_int_equal(x->count, 3);
    assert_int_equal(r.report.refused, 1);
    ran_end(&r);
}

static void
links(void **state)
{
    struct mrs_run_opts o = looking(4096);
    (void)state;
    begin();
    put_docs("in/d/p.bson", "{'_id':1,'cs':[11,12]} {'_id':2,'cs':[13,99]}");
    put_docs("in/d/c.bson", "{'_id':11,'p':1} {'_id':12,'p':2} {'_id':13} {'_id':14} {'_id':15,'p':77}");
    struct ran r = run("- link: { parent: p, child: c, child_refs: cs, parent_ref: p, derive: both,"
                       " prefer: child }\n",
                       &o);
    if (r.status != MRS_OK) {
        fail_msg("%s", r.err.msg);
    }
    expect(&notice(&r.report, 1, "d.p", MRS_NOTICE_DANGLING)->ids, (const char *[]){"2", NULL});
    expect(&notice(&r.report, 1, "d.c", MRS_NOTICE_DANGLING)->ids, (const char *[]){"15", NULL});
    expect(&notice(&r.report, 1, "d.c", MRS_NOTICE_DISAGREES)->ids, (const char *[]){"12", NULL});
    expect(&notice(&r.report, 1, "d.c", MRS_NOTICE_ORPHAN)->ids, (const char *[]){"14", NULL});
    assert_int_equal(r.report.n_notice, 4);
    ran_end(&r);
}

/* Every refused document is counted, whatever their number, and more kinds than the report has are no harm. */
static void
counts(void **state)
{
    struct mrs_run_opts o = looking(4096);
    enum { MANY = 12345 };
    char *text = malloc(MANY * 40u), *p = text;
    (void)state;
    begin();
    for (int i = 0; i < MANY; i++) {
        p += sprintf(p, "{'_id':%d,'x':%s}", i, i % 3 ? "'no'" : "{'a':1}");
    }
    put_docs("in/d/a.bson", text);
    free(text);
    o.refused = at("other");
    struct ran r = run("- cast: { in: a, fields: { x: int } }\n", &o);
    assert_int_equal(r.status, MRS_OK);
    assert_int_equal(r.report.refused, MANY);
    assert_int_equal(r.report.n_refusal, 2);
    assert_int_equal(r.report.refusal[0].count, MANY / 3);
    assert_int_equal(r.report.refusal[1].count, MANY - MANY / 3);
    expect(&r.report.refusal[0].ids, (const char *[]){"0", "3", NULL});
    expect(&r.report.refusal[1].ids, (const char *[]){"1", "2", NULL});
    struct stat bson, lines;
    assert_int_equal(stat(at("other"), &bson), 0);
    assert_int_equal(stat(at("other.jsonl"), &lines), 0);
    assert_int_equal(r.report.refused_bytes, bson.st_size + lines.st_size);
    assert_true(r.report.temp_bytes >= (uint64_t)MANY * 20); /* the log of refused documents is one */
    ran_end(&r);
    unlink(at("other"));
    unlink(at("other.jsonl"));
}

static void
sizes(void **state)
{
    struct mrs_run_opts o = looking(64 << 20);
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1,'x':1} {'_id':2,'x':1,'y':'long, longer'} {'_id':3}");
    put_docs("in/d/rest.bson", "{'_id':1,'x':1}");
    struct ran r = run("- set: { in: a, fields: { z: 1 } }\n", &o);
    assert_int_equal(r.status, MRS_OK);
    assert_string_equal(r.report.written[0].ns, "d.a");
    assert_string_equal(r.report.written[0].largest_id, "2");
    assert_int_equal(r.report.written[0].largest, 5 + 9 + 7 + 20 + 7);
    assert_null(r.report.written[1].largest_id);
    assert_true(r.report.disk_bytes > r.report.out_bytes);
    ran_end(&r);
}

/* Unique indexes: carried and made, sparse, partial, over arrays; what was written before a pass began again is not
 * counted. */
static void
unique_indexes(void **state)
{
    static const char meta[] = "{\"options\":{},\"indexes\":[{\"v\":2,\"key\":{\"_id\":1},\"name\":\"_id_\"},"
                               "{\"v\":2,\"key\":{\"u\":1},\"name\":\"u_1\",\"unique\":true}]}";
    static const char steps[] =
        "- set: { in: p, fields: { u: { $toLower: $u } } }\n"
        "- index: { in: p, create: [{ key: { tags: 1 }, unique: true, sparse: true, name: t },\n"
        "    { key: { n: 1 }, unique: true, name: part, partialFilterExpression: { n: { $gt: 5 } } },\n"
        "    { key: { n: 1, 'c.d': 1 }, unique: true, name: fits },\n"
        "    { key: { h.0: 1 }, unique: true, name: place }] }\n"
        "- move: { from: q, into: p, conflicts: last }\n";
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct mrs_run_opts o = looking(i ? 64 << 20 : 4096);
        begin();
        put_file("in/d/p.metadata.json", meta, strlen(meta));
        put_docs("in/d/p.bson", "{'_id':1,'u':'A','tags':['x','y'],'n':1} {'_id':2,'u':'a','n':1,'c':{'d':1}}"
                                "{'_id':3,'u':'b','tags':['y'],'n':7,'h':[1]} {'_id':4,'u':'B','n':8}"
                                "{'_id':5,'u':'a','tags':['z','z'],'n':9,'c':[{'d':1},{'d':2}],'h':[2]}");
        put_docs("in/d/q.bson", "{'_id':4,'u':'c','n':7,'c':{'d':1},'h':{'0':1}}");
        struct ran r = run(steps, &o);
        if (r.status != MRS_OK) {
            fail_msg("%s", r.err.msg);
        }
        uint32_t found = 0;
        for (uint32_t k = 0; k < r.report.n_notice; k++) {
            const struct mrs_notice *x = &r.report.notice[k];
            found += x->step == 0;
            if (x->kind == MRS_NOTICE_UNSURE) {
                assert_string_equal(x->index, "place");
                continue;
            }
            assert_int_equal(x->kind, MRS_NOTICE_CLASH);
            if (strcmp(x->index, "u_1") == 0) {
                assert_int_equal(x->count, 2);
                expect(&x->ids, (const char *[]){"1", "2", NULL});
            } else if (strcmp(x->index, "t") == 0) {
                assert_int_equal(x->count, 1);
                expect(&x->ids, (const char *[]){"1", "3", NULL});
            } else {
                assert_string_equal(x->index, "part");
                assert_int_equal(x->count, 1);
                expect(&x->ids, (const char *[]){"3", "4", NULL});
            }
        }
        assert_int_equal(found, 4);
        ran_end(&r);
    }
}

static void
two_arrays(void **state)
{
    struct mrs_run_opts o = looking(4096);
    (void)state;
    begin();
    put_docs("in/d/p.bson", "{'_id':1,'a':[1],'b':2} {'_id':2,'a':[1,2],'b':[]} {'_id':3}");
    struct ran r = run("- index: { in: p, create: [{ key: { a: 1, b: 1 }, unique: true, name: i }] }\n", &o);
    assert_int_equal(r.status, MRS_OK);
    assert_int_equal(r.report.n_notice, 1);
    assert_int_equal(r.report.notice[0].kind, MRS_NOTICE_ARRAYS);
    assert_int_equal(r.report.notice[0].count, 1);
    expect(&r.report.notice[0].ids, (const char *[]){"2", NULL});
    ran_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins), cmocka_unit_test(begun_again), cmocka_unit_test(links),
                                       cmocka_unit_test(counts), cmocka_unit_test(sizes),
                                       cmocka_unit_test(unique_indexes), cmocka_unit_test(two_arrays)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
