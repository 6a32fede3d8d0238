/* SPDX-License-Identifier: Apache-2.0 */
/* t_unique.c - whether a result fits its unique indexes: the keys that a server makes of a document, whole documents
 * that stay beside the result, far more keys than fit memory, and a failing allocation anywhere. No server. */
#include "changes_test.h"

#define PLAN "plan: p\nsteps:\n- set: { in: posts, fields: { seen: true } }\n"
#define UNIQUE(key, more) "\"indexes\":[{\"key\":{\"_id\":1},\"name\":\"_id_\"},{\"key\":{" key "},\"name\":\"u\"," \
                          "\"unique\":true" more "}]"
#define PLAIN "\"options\":{},"
#define WITH_A(more) PLAIN UNIQUE("\"a\":1", more)
#define ON_A WITH_A("")
#define ON_B PLAIN UNIQUE("\"a.b\":1", "")

static char said[4096];

static void
say(void *arg, const char *line)
{
    size_t n = strlen(said);
    (void)arg;
    snprintf(said + n, sizeof said - n, "%s\n", line);
}

static enum mrs_status
check(struct desk *d, const char *refused, bool contract, live_keep keep)
{
    struct live_quiet_run q = {.job = &d->job, .contract = contract};
    said[0] = 0;
    d->job.print_line = say;
    mrs_err_clear(&d->e);
    must(d, live_compare_open(&d->job, d->in, d->out, refused, contract, &q.compare, &d->e));
    live_build_modes_decide(&d->job, q.compare);
    enum mrs_status s = live_unique_check(&q, keep, &d->e);
    live_compare_close(q.compare);
    return s;
}

/* ---- one index, some documents ---- */
static const struct row {
    const char *meta, *docs;
    const char *clash; /* in the message; NULL: none */
    const char *left;  /* in what is said; NULL: nothing is said */
} rows[] = {
    {ON_A, "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":2}", NULL, NULL},
    {ON_A, "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":1}",
     "db.posts: the result does not fit unique index u: documents _id int 1 and _id int 2 have the same key; change",
     NULL},
    {PLAIN UNIQUE("\"a\":-1", ""), "{\"_id\":1,\"a\":1}"
     "{\"_id\":2,\"a\":{\"$numberDouble\":\"1.0\"}}", "_id int 2", NULL},
    {ON_A, "{\"_id\":1,\"a\":\"x\"}{\"_id\":2,\"a\":\"X\"}", NULL, NULL},
    {ON_A, "{\"_id\":1,\"a\":\"x\"}{\"_id\":2,\"a\":{\"$symbol\":\"x\"}}", "_id int 2", NULL},
    /* missing is null, unless the index is sparse, which leaves out documents that lack all fields */
    {ON_A, "{\"_id\":1}{\"_id\":2,\"a\":null}", "_id int 1 and _id int 2", NULL},
    {WITH_A(",\"sparse\":true"), "{\"_id\":1}{\"_id\":2}{\"_id\":3,\"a\":null}", NULL, NULL},
    {WITH_A(",\"sparse\":true"), "{\"_id\":1,\"a\":null}{\"_id\":2,\"a\":null}", "_id int 2", NULL},
    {PLAIN UNIQUE("\"a\":1,\"b\":1", ",\"sparse\":1"), "{\"_id\":1}{\"_id\":2}{\"_id\":3,\"a\":1}", NULL, NULL},
    {PLAIN UNIQUE("\"a\":1,\"b\":1", ",\"sparse\":true"), "{\"_id\":2,\"a\":1}{\"_id\":3,\"a\":1}", "_id int 3", NULL},
    {PLAIN UNIQUE("\"a\":1,\"b\":1", ""), "{\"_id\":1,\"a\":1,\"b\":2}{\"_id\":2,\"a\":2,\"b\":1}"
     "{\"_id\":3,\"a\":1}", NULL, NULL},
    {PLAIN UNIQUE("\"a\":1,\"b\":1", ""), "{\"_id\":1,\"b\":2,\"a\":1}{\"_id\":2,\"a\":1,\"b\":2}", "_id int 2", NULL},
    /* paths */
    {ON_B, "{\"_id\":1,\"a\":{\"b\":1}}{\"_id\":2,\"a\":{\"b\":1,\"c\":2}}", "_id int 2", NULL},
    {ON_B, "{\"_id\":1,\"a\":5}{\"_id\":2}", "_id int 2", NULL},
    {ON_A, "{\"_id\":1,\"a\":{\"b\":1,\"c\":2}}{\"_id\":2,\"a\":{\"c\":2,\"b\":1}}", NULL, NULL},
    {ON_A, "{\"_id\":1,\"a\":{\"b\":1}}{\"_id\":2,\"a\":{\"b\":{\"$numberLong\":\"1\"}}}", "_id int 2", NULL},
    {PLAIN UNIQUE("\"a.0\":1", ""), "{\"_id\":1,\"a\":{\"0\":1}}{\"_id\":2,\"a\":{\"0\":1}}", "_id int 2", NULL},
    /* arrays: each element a key; equal keys of one document are one; elements within elements are values */
    {ON_A, "{\"_id\":1,\"a\":[1,2]}{\"_id\":2,\"a\":[3,2]}", "_id int 2", NULL},
    {ON_A, "{\"_id\":1,\"a\":[1,1,2]}{\"_id\":2,\"a\":[3,3]}", NULL, NULL},
    {ON_A, "{\"_id\":1,\"a\":[1,2]}{\"_id\":2,\"a\":2}", "_id int 2", NULL},
    {ON_A, "{\"_id\":1,\"a\":[[1,2]]}{\"_id\":2,\"a\":[1,2]}", NULL, NULL},
    {ON_A, "{\"_id\":1,\"a\":[[1,2]]}{\"_id\":2,\"a\":[0,[1,2]]}", "_id int 2", NULL},
    {ON_A, "{\"_id\":1,\"a\":[]}{\"_id\":2,\"a\":null}{\"_id\":3,\"a\":[null]}", "_id int 3", NULL},
    {ON_A, "{\"_id\":1,\"a\":[]}{\"_id\":2,\"a\":null}{\"_id\":3,\"a\":[]}", "_id int 1 and _id int 3", NULL},
    {ON_B, "{\"_id\":1,\"a\":[{\"b\":1},{\"b\":2}]}{\"_id\":2,\"a\":{\"b\":2}}", "_id int 2", NULL},
    {ON_B, "{\"_id\":1,\"a\":[]}{\"_id\":2,\"a\":[{\"c\":1}]}", "_id int 2", NULL},
    {ON_B, "{\"_id\":1,\"a\":[7]}{\"_id\":2}", "_id int 2", NULL},
    {ON_B, "{\"_id\":1,\"a\":[[{\"b\":1}]]}{\"_id\":2,\"a\":{\"b\":1}}", NULL, NULL},
    {ON_B, "{\"_id\":1,\"a\":[{\"b\":[1,2]}]}{\"_id\":2,\"a\":{\"b\":2}}", "_id int 2", NULL},
    {PLAIN UNIQUE("\"a.b\":1", ",\"sparse\":true"), "{\"_id\":1,\"a\":[{},{\"b\":1}]}"
     "{\"_id\":2,\"a\":[{\"b\":2},{}]}", NULL, NULL},
    {PLAIN UNIQUE("\"a.b\":1", ",\"sparse\":true"), "{\"_id\":1,\"a\":[]}{\"_id\":2,\"a\":[]}", NULL, NULL},
    {PLAIN UNIQUE("\"a.b\":1,\"a.c\":1", ""), "{\"_id\":1,\"a\":[{\"b\":1,\"c\":2},{\"b\":2,\"c\":1}]}"
     "{\"_id\":2,\"a\":[{\"b\":1,\"c\":1},{\"b\":2,\"c\":2}]}", NULL, NULL},
    {PLAIN UNIQUE("\"a.b\":1,\"a.c\":1", ""), "{\"_id\":1,\"a\":[{\"b\":1,\"c\":2}]}"
     "{\"_id\":2,\"a\":[{\"b\":1,\"c\":2}]}", "_id int 2", NULL},
    {PLAIN UNIQUE("\"a.b\":1,\"c\":1", ""), "{\"_id\":1,\"a\":[{\"b\":1},{\"b\":2}],\"c\":1}"
     "{\"_id\":2,\"a\":[{\"b\":2}],\"c\":2}", NULL, NULL},
    {PLAIN UNIQUE("\"a\":1,\"b\":1", ""), "{\"_id\":1,\"a\":[1],\"b\":[1]}", "arrays in two of its fields", NULL},
    /* many at once: the first, and how many */
    {ON_A, "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":2}{\"_id\":3,\"a\":2}{\"_id\":4,\"a\":1}{\"_id\":5,\"a\":2}",
     "documents _id int 2 and _id int 3 have the same key (3 such keys in all)", NULL},
    /* filters */
    {WITH_A(",\"partialFilterExpression\":{\"t\":{\"$gt\":1}}"), "{\"_id\":1,\"a\":1,\"t\":2}"
     "{\"_id\":2,\"a\":1,\"t\":1}{\"_id\":3,\"a\":1}", NULL, NULL},
    {WITH_A(",\"partialFilterExpression\":{\"t\":{\"$exists\":true}}"), "{\"_id\":1,\"a\":1,\"t\":2}"
     "{\"_id\":2,\"a\":1,\"t\":1}", "_id int 2", NULL},
    {WITH_A(",\"partialFilterExpression\":{\"t\":{\"$unheard\":1}}"), "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":1}",
     NULL, "db.posts: whether the result fits unique index u is left to the server: "},
    /* what is the server's */
    {PLAIN UNIQUE("\"a.0\":1", ""), "{\"_id\":1,\"a\":[1,2]}{\"_id\":2,\"a\":[1,3]}", NULL, "positions in arrays"},
    {PLAIN UNIQUE("\"a\":\"hashed\"", ""), "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":1}", NULL, "only it can make the keys"},
    {PLAIN UNIQUE("\"a.$**\":1", ""), "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":1}", NULL, "only it can make the keys"},
    {WITH_A(",\"collation\":{\"locale\":\"en\"}"), "{\"_id\":1,\"a\":\"x\"}{\"_id\":2,\"a\":\"X\"}", NULL,
     "its collation"},
    {WITH_A(",\"collation\":{\"locale\":\"en\"}"), "{\"_id\":1,\"a\":\"x\"}{\"_id\":2,\"a\":\"x\"}",
     "_id int 2", "its collation"},
    {WITH_A(",\"collation\":{\"locale\":\"simple\"}"), "{\"_id\":1}", NULL, NULL},
    {"\"options\":{\"collation\":{\"locale\":\"de\"}}," UNIQUE("\"a\":1", ",\"partialFilterExpression\":{\"t\":\"x\"}"),
     "{\"_id\":1,\"a\":1,\"t\":\"x\"}{\"_id\":2,\"a\":1,\"t\":\"x\"}", NULL, "filter"},
    /* an index that is not unique, and that of `_id` */
    {PLAIN "\"indexes\":[{\"key\":{\"_id\":1},\"name\":\"_id_\",\"unique\":true},{\"key\":{\"a\":1},\"name\":\"a\","
           "\"unique\":false}]", "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":1}", NULL, NULL},
};

static void
keys_as_a_server_makes_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct desk d;
        sit(&d, PLAN);
        begin(&d, d.in);
        add(&d, "posts", NULL, "{\"_id\":1}");
        end(&d);
        begin(&d, d.out);
        add(&d, "posts", r->meta, r->docs);
        end(&d);
        enum mrs_status s = check(&d, NULL, false, NULL);
        bool good = r->clash ? s == MRS_FAIL && d.e.code == MRS_E_REFUSED && strstr(d.e.msg, r->clash) &&
                                   strstr(d.e.msg, "nothing was changed")
                             : s == MRS_OK;
        if (!good || (r->left ? !strstr(said, r->left) : *said)) {
            fail_msg("%s %s: status %d: %s: said %s", r->meta, r->docs, s, d.e.msg, said);
        }
        rise(&d);
    }
}

/* ---- what is next to the result ---- */
#define REFUSED(doc) "{\"ns\":\"db.posts\",\"step\":1,\"reason\":\"r\",\"place\":null,\"doc\":" doc "}"

static bool
no_deletes(struct live_quiet_run *q, const struct live_planned_change *c)
{
    (void)q;
    return c->kind != LIVE_DELETE;
}

static void
what_stays_counts(void **state)
{
    struct desk d;
    (void)state;
    sit(&d, PLAN);
    begin(&d, d.in);
    add(&d, "posts", NULL, "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":2}{\"_id\":3,\"a\":9}");
    end(&d);
    begin(&d, d.out);
    add(&d, "posts", ON_A, "{\"_id\":1,\"a\":5}");
    end(&d);
    assert_int_equal(check(&d, NULL, false, NULL), MRS_OK);
    /* refused documents stay, in the shape in which they were refused */
    refuse(&d, REFUSED("{\"_id\":2,\"a\":5}") REFUSED("{\"_id\":3,\"a\":9}"));
    assert_int_equal(check(&d, d.refused, false, NULL), MRS_FAIL);
    assert_non_null(strstr(d.e.msg, "documents _id int 1 and _id int 2 have the same key; "));
    /* in contract as they stand */
    assert_int_equal(check(&d, d.refused, true, NULL), MRS_OK);
    refuse(&d, REFUSED("{\"_id\":2,\"a\":7}") REFUSED("{\"_id\":3,\"a\":7}"));
    assert_int_equal(check(&d, d.refused, true, NULL), MRS_OK);
    assert_int_equal(check(&d, d.refused, false, NULL), MRS_FAIL);
    /* what the list does not remove stays, too */
    drop_tree(d.out);
    begin(&d, d.out);
    add(&d, "other", ON_A, "{\"_id\":4,\"a\":9}");
    add(&d, "posts", ON_A, "{\"_id\":1,\"a\":9}");
    end(&d);
    assert_int_equal(check(&d, NULL, false, NULL), MRS_OK);
    assert_int_equal(check(&d, NULL, false, no_deletes), MRS_FAIL);
    assert_non_null(strstr(d.e.msg, "db.posts: the result does not fit unique index u: documents _id int 1 and "
                                    "_id int 3"));
    rise(&d);
}

/* An index that was there holds as long as nobody takes other values; it is not looked at again. */
static void
unchanged_values_are_not_read(void **state)
{
    static const struct {
        const char *out;
        bool clash;
    } row[] = {
        {"{\"_id\":1,\"a\":1,\"b\":1}{\"_id\":2,\"a\":1}", false}, {"{\"_id\":1,\"a\":1}", false},
        {"{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":1}{\"_id\":3}", true},
        {"{\"_id\":1,\"a\":3}{\"_id\":2,\"a\":{\"$numberLong\":\"3\"}}", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct desk d;
        sit(&d, PLAN);
        begin(&d, d.in);
        add(&d, "posts", ON_A, "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":1}"); /* no server would hold this */
        end(&d);
        begin(&d, d.out);
        add(&d, "posts", ON_A, row[i].out);
        end(&d);
        assert_int_equal(check(&d, NULL, false, NULL), row[i].clash ? MRS_FAIL : MRS_OK);
        rise(&d);
    }
}

/* ---- many keys, little memory ---- */
static void
fill(struct desk *d, uint32_t docs, uint32_t keys, bool clash)
{
    struct mrs_buf buf;
    begin(d, d->out);
    struct mrs_sink *s = coll(d, "posts", ON_A);
    mrs_buf_init(&buf, d->mem, SIZE_MAX);
    for (uint32_t i = 0; i < docs; i++) {
        struct mrs_build b;
        struct mrs_view doc;
        mrs_buf_reset(&buf);
        mrs_build_init(&b, &buf);
        mrs_build_i32(&b, "_id", (int32_t)i);
        mrs_build_open(&b, "a", 1, MRS_ARRAY);
        for (uint32_t k = 0; k < keys; k++) {
            uint8_t room[16];
            uint32_t v = i * keys + k;
            mrs_build_item(&b, mrs_make_i32(room, (int32_t)(clash && v == docs * keys - 1 ? 3 : v)));
        }
        mrs_build_close(&b);
        must(d, mrs_build_finish(&b, &doc, &d->e));
        must(d, mrs_sink_write(s, doc.p, doc.n, &d->e));
    }
    must(d, mrs_sink_close(s, docs, NULL, &d->e));
    end(d);
    mrs_buf_clear(&buf);
}

static void
in_bounded_memory(void **state)
{
    (void)state;
    for (int clash = 0; clash < 2; clash++) {
        for (uint64_t memory = 1 << 20; memory <= 64 << 20; memory *= 64) {
            struct desk d;
            sit(&d, PLAN);
            begin(&d, d.in);
            add(&d, "posts", NULL, "{\"_id\":1}");
            end(&d);
            fill(&d, 5000, 40, clash); /* 200,000 keys, 6.4 MB of hashes */
            d.job.opts.memory = memory;
            struct live_quiet_run q = {.job = &d.job};
            must(&d, live_compare_open(&d.job, d.in, d.out, NULL, false, &q.compare, &d.e));
            live_build_modes_decide(&d.job, q.compare);
            uint64_t before = mrs_mem_bytes(d.mem);
            enum mrs_status s = live_unique_check(&q, NULL, &d.e);
            assert_int_equal(s, clash ? MRS_FAIL : MRS_OK);
            assert_true(!clash || strstr(d.e.msg, "documents _id int 0 and _id int 4999 have the same key; "));
            live_compare_close(q.compare);
            /* windows of spool and stream and the reader's block come on top of the budget */
            if (mrs_mem_peak(d.mem) - before > memory + (2u << 20)) {
                fail_msg("%llu bytes", (unsigned long long)(mrs_mem_peak(d.mem) - before));
            }
            rise(&d);
        }
    }
}

/* ---- failures ---- */
static void
without_memory(void **state)
{
    static const char meta[] = PLAIN UNIQUE("\"a\":1,\"b.c\":1", ",\"partialFilterExpression\":{\"t\":{\"$gt\":0}}");
    struct desk d;
    (void)state;
    sit(&d, PLAN);
    begin(&d, d.in);
    add(&d, "posts", NULL, "{\"_id\":1}");
    end(&d);
    begin(&d, d.out);
    add(&d, "posts", meta, "{\"_id\":1,\"a\":[1,2],\"t\":1}{\"_id\":2,\"a\":2,\"t\":1}"
     "{\"_id\":3,\"a\":4,\"t\":1,\"b\":{}}");
    end(&d);
    enum mrs_status s = MRS_DEAD;
    uint64_t at = 0, began = 0;
    for (; s != MRS_FAIL && at < 3000; at++) {
        struct live_quiet_run q = {.job = &d.job};
        struct mrs_mem *mine = d.job.mem;
        d.job.mem = mrs_mem_new(at + 1);
        d.job.opts.memory = 1;
        mrs_err_clear(&d.e);
        s = live_compare_open(&d.job, d.in, d.out, NULL, false, &q.compare, &d.e);
        began += s == MRS_OK;
        s = s == MRS_OK ? live_unique_check(&q, NULL, &d.e) : MRS_DEAD;
        assert_int_equal(d.e.code, s == MRS_FAIL ? MRS_E_REFUSED : MRS_E_MEMORY);
        live_compare_close(q.compare);
        assert_int_equal(mrs_mem_close(d.job.mem), 0);
        d.job.mem = mine;
    }
    assert_int_equal(s, MRS_FAIL);
    assert_non_null(strstr(d.e.msg, "_id int 1 and _id int 2"));
    assert_true(began > 10);
    rise(&d);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_as_a_server_makes_them), cmocka_unit_test(what_stays_counts),
        cmocka_unit_test(unchanged_values_are_not_read), cmocka_unit_test(in_bounded_memory),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests_name("unique", tests, NULL, NULL);
}
