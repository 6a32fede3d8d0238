/* SPDX-License-Identifier: Apache-2.0 */
/* t_range.c - ranges of `_id`: nothing twice, nothing skipped, whatever the types, sizes and writers in between. */
#include "unit_test.h"

static const char *server;

#define MIXED \
    "{'_id':{'$minKey':1}} {'_id':null,'x':1} {'_id':{'$numberInt':'-5'}} {'_id':0} {'_id':1.5} " \
    "{'_id':{'$numberLong':'7'}} {'_id':{'$numberDouble':'Infinity'}} {'_id':''} {'_id':'a'} {'_id':'ab'} " \
    "{'_id':{}} {'_id':{'a':1}} {'_id':{'a':{'b':[1]}}} {'_id':{'$binary':{'base64':'AQI=','subType':'00'}}} " \
    "{'_id':{'$oid':'0123456789abcdef01234567'}} {'_id':false} {'_id':true} " \
    "{'_id':{'$date':{'$numberLong':'5'}}} {'_id':{'$timestamp':{'t':1,'i':1}}} {'_id':{'$maxKey':1}}"

static void
fill(struct bed *b, const char *text)
{
    struct docs docs;
    bed_open(b, "- set: { in: a, fields: { x: 1 } }\n", server, 0);
    docs_make(&docs, text);
    bed_fill(b, "a", &docs);
    free(docs.p);
}

static struct mrs_view
bound_of(const struct live_range *r)
{
    return (struct mrs_view){r->bound.p, (uint32_t)r->bound.n};
}

/* All ranges, one behind the other; *got: copies of the documents in the order in which they came. */
static uint32_t
walk_ranges(struct bed *b, uint32_t n, uint64_t bytes, struct docs *got)
{
    struct live_range r;
    struct mrs_coll c = bed_coll("a");
    struct mrs_view from = {NULL, 0};
    uint32_t ranges = 0;
    got->n = 0;
    live_range_init(&r, b->own);
    do {
        if (live_range_read(&b->job, &c, from, n, bytes, &r, &b->e) != MRS_OK) {
            fail_msg("range %u: %s", ranges, b->e.msg);
        }
        assert_true(r.n <= n);
        assert_int_equal(r.last, r.bound.n == 0);
        for (uint32_t i = 0; i < r.n; i++) {
            got->d[got->n++] = (struct mrs_view){mrs_arena_copy(&b->arena, r.docs[i].p, r.docs[i].n), r.docs[i].n};
        }
        struct mrs_view bound = bound_of(&r);
        from = (struct mrs_view){mrs_arena_copy(&b->arena, bound.p, bound.n), bound.n};
        ranges++;
        assert_true(ranges < 100);
    } while (!r.last);
    live_range_clear(&r);
    return ranges;
}

static void
in_order(const struct docs *got)
{
    for (uint32_t i = 1; i < got->n; i++) {
        assert_true(mrs_compare(mrs_doc_get(got->d[i - 1], "_id"), mrs_doc_get(got->d[i], "_id")) < 0);
    }
}

static void
all_types(void **state)
{
    struct bed b;
    struct docs got, all;
    (void)state;
    fill(&b, MIXED);
    docs_make(&all, MIXED);
    for (uint32_t n = 1; n < 25; n++) {
        uint32_t ranges = walk_ranges(&b, n, UINT64_MAX, &got);
        assert_int_equal(got.n, all.n);
        assert_int_equal(ranges, (all.n + n - 1) / n);
        in_order(&got);
        for (uint32_t i = 0; i < all.n; i++) {
            const struct mrs_view *d = docs_find(&got, all.d[i]);
            assert_non_null(d);
            same_bytes(*d, all.d[i], "document");
        }
    }
    free(all.p);
    bed_close(&b);
}

/* Several of each kind, so that ranges end inside kinds, at their edges and beyond. */
static void
kinds(void **state)
{
    static const char text[] =
        "{'_id':null} {'_id':{'$numberDouble':'NaN'}} {'_id':{'$numberDouble':'-Infinity'}} {'_id':-7} "
        "{'_id':{'$numberDouble':'-0.5'}} {'_id':{'$numberLong':'0'}} {'_id':1} {'_id':{'$numberDouble':'1.5'}} "
        "{'_id':{'$numberDecimal':'1.75'}} {'_id':{'$numberLong':'9007199254740992'}} "
        "{'_id':{'$numberDouble':'Infinity'}} {'_id':''} {'_id':'Z'} {'_id':'a'} {'_id':'a$'} {'_id':{}} "
        "{'_id':{'a':1}} "
        "{'_id':{'$binary':{'base64':'AAAAAAAAAAAAAAAAAAAAAA==','subType':'04'}}} "
        "{'_id':{'$binary':{'base64':'AAAAAAAAAAAAAAAAAAAAAQ==','subType':'04'}}} "
        "{'_id':{'$binary':{'base64':'/////////////////////w==','subType':'04'}}} "
        "{'_id':{'$oid':'000000000000000000000000'}} {'_id':{'$oid':'000000000000000000000001'}} "
        "{'_id':{'$oid':'ffffffffffffffffffffffff'}} {'_id':false} {'_id':true} "
        "{'_id':{'$date':{'$numberLong':'-5'}}} {'_id':{'$date':{'$numberLong':'0'}}} "
        "{'_id':{'$date':{'$numberLong':'5'}}} {'_id':{'$timestamp':{'t':1,'i':1}}}";
    struct bed b;
    struct docs got, all;
    (void)state;
    fill(&b, text);
    docs_make(&all, text);
    for (uint32_t n = 1; n < 8; n++) {
        uint32_t ranges = walk_ranges(&b, n, UINT64_MAX, &got);
        assert_int_equal(ranges, (all.n + n - 1) / n);
        assert_int_equal(got.n, all.n);
        for (uint32_t i = 0; i < all.n; i++) {
            same_bytes(got.d[i], all.d[i], "document");
        }
    }
    free(all.p);
    bed_close(&b);
}

/* Lengths and subtypes, of which servers make different orders: none is lost in whichever it is. */
static void
binaries(void **state)
{
    static const char text[] =
        "{'_id':{'$binary':{'base64':'','subType':'00'}}} {'_id':{'$binary':{'base64':'/w==','subType':'80'}}} "
        "{'_id':{'$binary':{'base64':'AAAAAAAAAAAAAAAAAAAAAA==','subType':'04'}}} "
        "{'_id':{'$binary':{'base64':'AAAAAAAAAAAAAAAAAAAAAQ==','subType':'00'}}} "
        "{'_id':{'$binary':{'base64':'gAAAAAAAAAAAAAAAAAAAAA==','subType':'04'}}} "
        "{'_id':{'$binary':{'base64':'gQAAAAAAAAAAAAAAAAAAAA==','subType':'05'}}} "
        "{'_id':{'$binary':{'base64':'AQIDBAUGBwgJCgsMDQ4PEBE=','subType':'00'}}} "
        "{'_id':{'$oid':'000000000000000000000000'}}";
    struct bed b;
    struct docs got, all;
    (void)state;
    fill(&b, text);
    docs_make(&all, text);
    for (uint32_t n = 1; n < 5; n++) {
        walk_ranges(&b, n, UINT64_MAX, &got);
        assert_int_equal(got.n, all.n);
        for (uint32_t i = 0; i < all.n; i++) {
            assert_non_null(docs_find(&got, all.d[i]));
        }
    }
    free(all.p);
    bed_close(&b);
}

/* Symbols stand among strings. (A server that makes strings of them is asked about strings.) */
static void
symbols(void **state)
{
    struct bed b;
    struct docs got;
    const char *kind = getenv("MONGODB_SERVER_KIND");
    (void)state;
    if (kind && strcmp(kind, "secantus-rs") == 0) {
        skip(); /* it takes none as an _id */
    }
    fill(&b, "{'_id':'a'} {'_id':{'$symbol':'b'}} {'_id':'c'} {'_id':{'$symbol':'d'}} {'_id':{'$symbol':'e'}} "
             "{'_id':'f'} {'_id':true}");
    for (uint32_t n = 1; n < 6; n++) {
        walk_ranges(&b, n, UINT64_MAX, &got);
        assert_int_equal(got.n, 7);
        in_order(&got);
    }
    bed_close(&b);
}

static void
nothing_there(void **state)
{
    struct bed b;
    struct docs got;
    (void)state;
    fill(&b, "");
    assert_int_equal(walk_ranges(&b, 5, UINT64_MAX, &got), 1);
    assert_int_equal(got.n, 0);
    bed_close(&b);
}

static void
few_bytes(void **state)
{
    struct bed b;
    struct docs got;
    (void)state;
    fill(&b, "{'_id':1,'t':'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'} {'_id':2} {'_id':3} {'_id':4,'t':'xxxxxxxxxxxxxxxxxxxx'} "
             "{'_id':5}");
    assert_int_equal(walk_ranges(&b, 5, 1, &got), 5); /* one at least */
    assert_int_equal(got.n, 5);
    assert_int_equal(walk_ranges(&b, 5, 30, &got), 4); /* 1 | 2 3 -> 28 bytes | 4 | 5 */
    assert_int_equal(got.n, 5);
    in_order(&got);
    bed_close(&b);
}

/* The bound goes away, and documents come before it and behind it: none is skipped, none comes twice. */
static void
writers_between(void **state)
{
    struct bed b;
    struct live_range r;
    struct docs more, got;
    struct mrs_coll c = bed_coll("a");
    (void)state;
    fill(&b, "{'_id':10} {'_id':20} {'_id':30} {'_id':40}");
    live_range_init(&r, b.own);
    assert_int_equal(live_range_read(&b.job, &c, (struct mrs_view){NULL, 0}, 2, UINT64_MAX, &r, &b.e), MRS_OK);
    assert_int_equal(r.n, 2);
    assert_int_equal(mrs_val_i32(mrs_doc_get(bound_of(&r), "_id")), 30);
    docs_make(&more, "{'_id':10} {'_id':20} {'_id':25} {'_id':31} {'_id':32} {'_id':33} {'_id':'k'}");
    bed_fill(&b, "a", &more);
    struct mrs_view bound = bound_of(&r);
    struct mrs_view from = {mrs_arena_copy(&b.arena, bound.p, bound.n), bound.n};
    live_range_clear(&r); /* another process, say, or after half a minute */
    live_range_init(&r, b.own);
    assert_int_equal(live_range_read(&b.job, &c, from, 3, UINT64_MAX, &r, &b.e), MRS_OK);
    assert_int_equal(r.n, 3);
    assert_int_equal(mrs_val_i32(mrs_doc_get(r.docs[0], "_id")), 31);
    assert_false(r.last);
    bound = bound_of(&r);
    from = (struct mrs_view){mrs_arena_copy(&b.arena, bound.p, bound.n), bound.n};
    assert_int_equal(live_range_read(&b.job, &c, from, 3, UINT64_MAX, &r, &b.e), MRS_OK);
    assert_int_equal(r.n, 1);
    assert_true(r.last);
    assert_int_equal(mrs_doc_get(r.docs[0], "_id").type, MRS_STRING);
    live_range_clear(&r);
    free(more.p);
    assert_int_equal(walk_ranges(&b, 2, UINT64_MAX, &got), 4);
    bed_close(&b);
}

/* A walk goes on with its cursor, whatever is written ahead of it and even where the server has closed it: what was
 * there from beginning to end comes once, nothing comes twice. */
static void
goes_on(void **state)
{
    struct bed b;
    struct live_range r;
    struct docs more;
    struct mrs_coll c = bed_coll("a");
    int seen[10] = {0}, last = 0;
    struct mrs_view from = {NULL, 0};
    (void)state;
    fill(&b, "{'_id':1} {'_id':2} {'_id':3} {'_id':4} {'_id':5} {'_id':6} {'_id':7}");
    docs_make(&more, "{'_id':1} {'_id':2} {'_id':3} {'_id':5} {'_id':6} {'_id':7} {'_id':8} {'_id':9}");
    live_range_init(&r, b.own);
    for (int round = 0; round == 0 || !r.last; round++) {
        assert_true(round < 20);
        assert_int_equal(live_range_read(&b.job, &c, from, round == 2 ? 1 : 2, UINT64_MAX, &r, &b.e), MRS_OK);
        for (uint32_t i = 0; i < r.n; i++) {
            int id = mrs_val_i32(mrs_doc_get(r.docs[i], "_id"));
            assert_true(id > last && id < 10);
            last = id;
            seen[id]++;
        }
        if (round == 0) {
            bed_fill(&b, "a", &more); /* drops the collection, and with it the cursor */
        }
        struct mrs_view bound = bound_of(&r);
        from = (struct mrs_view){mrs_arena_copy(&b.arena, bound.p, bound.n), bound.n};
    }
    assert_true(seen[1] == 1 && seen[2] == 1 && seen[3] == 1 && seen[5] == 1 && seen[6] == 1 && seen[7] == 1);
    live_range_clear(&r);
    free(more.p);
    bed_close(&b);
}

/* Had the lower end been set by $gt, the bound and other types would be lost. */
static void
mutant_is_seen(void **state)
{
    struct bed b;
    struct docs got;
    (void)state;
    fill(&b, MIXED);
    setenv("MRS_MUTANT", "gt-instead-of-min", 1);
    walk_ranges(&b, 3, UINT64_MAX, &got);
    unsetenv("MRS_MUTANT");
    assert_true(got.n < 20);
    bed_close(&b);
}

static void
no_memory(void **state)
{
    struct bed b;
    struct live_range r;
    struct mrs_coll c = bed_coll("a");
    enum mrs_status s = MRS_DEAD;
    uint64_t at = 0;
    (void)state;
    fill(&b, MIXED);
    bed_close(&b);
    while (s != MRS_OK) {
        assert_true(++at < 100);
        bed_open(&b, "- set: { in: a, fields: { x: 1 } }\n", server, at);
        live_range_init(&r, b.own);
        s = live_range_read(&b.job, &c, (struct mrs_view){NULL, 0}, 5, UINT64_MAX, &r, &b.e);
        assert_int_equal(b.e.code, s == MRS_OK ? MRS_E_NONE : MRS_E_MEMORY);
        live_range_clear(&r);
        bed_close(&b);
    }
    assert_true(at > 4);
}

/* A lost connection is not the end of the collection. */
static void
connection_lost(void **state)
{
    struct bed b;
    struct live_range r;
    struct mrs_coll c = bed_coll("a");
    (void)state;
    if (!getenv("MONGODB_SERVER_DIR")) {
        skip(); /* the server is not ours to kill */
    }
    fill(&b, MIXED);
    live_range_init(&r, b.own);
    assert_int_equal(live_range_read(&b.job, &c, (struct mrs_view){NULL, 0}, 5, UINT64_MAX, &r, &b.e), MRS_OK);
    assert_int_equal(system("tests/server/ctl kill9"), 0);
    assert_int_equal(live_range_read(&b.job, &c, (struct mrs_view){NULL, 0}, 5, UINT64_MAX, &r, &b.e), MRS_END);
    assert_int_equal(b.e.code, MRS_E_NONE);
    assert_int_equal(system("tests/server/ctl start"), 0);
    live_range_clear(&r);
    bed_close(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types),       cmocka_unit_test(kinds),          cmocka_unit_test(binaries),
        cmocka_unit_test(symbols),         cmocka_unit_test(nothing_there),  cmocka_unit_test(few_bytes),
        cmocka_unit_test(writers_between), cmocka_unit_test(goes_on),
        cmocka_unit_test(mutant_is_seen), cmocka_unit_test(no_memory),
        cmocka_unit_test(connection_lost),
    };
    server = live_test_need_server("t_range");
    live_link_setup();
    int failed = cmocka_run_group_tests(tests, make_top, drop_top);
    live_link_teardown();
    return failed;
}
