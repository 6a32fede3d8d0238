/* SPDX-License-Identifier: Apache-2.0 */
/* t_changes.c - two dumps compared: by `_id` as a server takes it, in parts, with refused documents, renames, and a
 * budget far smaller than the data. No server. */
#include "changes_test.h"

#define PLAN "plan: p\nsteps:\n- set: { in: posts, fields: { seen: true } }\n"
#define RENAMES \
    "plan: p\nsteps:\n- set: { in: posts, fields: { seen: true } }\n" \
    "- rename_collection: { from: posts, into: articles }\n"

static enum mrs_status
see(void *arg, const struct live_planned_change *c, struct mrs_err *e)
{
    struct desk *d = arg;
    struct mrs_buf b;
    (void)e;
    mrs_buf_init(&b, d->mem, SIZE_MAX);
    mrs_buf_printf(&b, "%c %s ", "iurd"[c->kind], c->coll.ns);
    if (c->before.n) {
        mrs_ejson_write(c->before, false, &b);
    }
    mrs_buf_printf(&b, "|");
    if (c->after.n) {
        mrs_ejson_write(c->after, false, &b);
    }
    size_t n = strlen(d->seen);
    snprintf(d->seen + n, sizeof d->seen - n, "%.*s\n", (int)b.n, (const char *)b.p);
    mrs_buf_clear(&b);
    d->n_seen++;
    return MRS_OK;
}

static void
changes(struct desk *d, const char *refused, const char *want)
{
    struct live_compare *c = NULL;
    static const enum live_op_kind kinds[] = {LIVE_INSERT, LIVE_UPDATE, LIVE_DELETE};
    d->seen[0] = 0;
    must(d, live_compare_open(&d->job, d->in, d->out, refused, false, &c, &d->e));
    for (int i = 0; i < 3; i++) {
        must(d, live_compare_each(c, kinds[i], LIVE_BUILD_INPLACE, see, d, &d->e));
    }
    assert_string_equal(d->seen, want);
    live_compare_close(c);
}

static void
differences_in_order(void **state)
{
    struct desk d;
    (void)state;
    sit(&d, PLAN);
    begin(&d, d.in);
    add(&d, "posts", NULL, "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":2}{\"_id\":3,\"a\":3}");
    add(&d, "same", NULL, "{\"_id\":1}");
    end(&d);
    begin(&d, d.out);
    add(&d, "new", NULL, "{\"_id\":9}");
    add(&d, "posts", NULL, "{\"_id\":4}{\"_id\":2,\"a\":5}{\"_id\":1,\"a\":1}");
    add(&d, "same", NULL, "{\"_id\":1}");
    end(&d);
    changes(&d, NULL,
            "i db.posts |{\"_id\":4}\ni db.new |{\"_id\":9}\n"
            "u db.posts {\"_id\":2,\"a\":2}|{\"_id\":2,\"a\":5}\n"
            "d db.posts {\"_id\":3,\"a\":3}|\n");
    rise(&d);
}

static void
ids_as_a_server_takes_them(void **state)
{
    struct desk d;
    struct live_compare *c = NULL;
    (void)state;
    sit(&d, PLAN);
    begin(&d, d.in);
    add(&d, "posts", NULL, "{\"_id\":1}{\"_id\":{\"a\":2}}{\"_id\":null}");
    end(&d);
    begin(&d, d.out);
    add(&d, "posts", NULL, "{\"_id\":1.0}{\"_id\":{\"a\":2.0},\"x\":1}{\"_id\":null}");
    end(&d);
    must(&d, live_compare_open(&d.job, d.in, d.out, NULL, false, &c, &d.e));
    const struct live_tally *t = live_compare_at(c, 0);
    assert_int_equal(t->n[LIVE_UPDATE], 2);
    assert_int_equal(t->n[LIVE_INSERT] + t->n[LIVE_DELETE], 0);
    assert_int_equal(t->kept, 1);
    assert_true(t->id_changed);
    live_build_modes_decide(&d.job, c);
    assert_int_equal(t->turn, LIVE_BUILD_BESIDE);
    live_compare_close(c);
    rise(&d);
}

static void
refused_documents_stay(void **state)
{
    struct desk d;
    struct live_compare *c = NULL;
    (void)state;
    sit(&d, RENAMES);
    begin(&d, d.in);
    add(&d, "posts", NULL, "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":2}{\"_id\":3}");
    add(&d, "gone", NULL, "{\"_id\":1}{\"_id\":2}");
    end(&d);
    begin(&d, d.out);
    add(&d, "articles", NULL, "{\"_id\":3}");
    end(&d);
    refuse(&d, "{\"ns\":\"db.posts\",\"step\":1,\"reason\":\"r\",\"place\":null,\"doc\":{\"_id\":1,\"a\":1}}"
               "{\"ns\":\"db.articles\",\"step\":3,\"reason\":\"r\",\"place\":null,\"doc\":{\"_id\":2,\"a\":2,\"b\":3}}"
               "{\"ns\":\"db.gone\",\"step\":1,\"reason\":\"r\",\"place\":null,\"doc\":{\"_id\":2}}"
               "{\"ns\":\"db.made\",\"step\":1,\"reason\":\"r\",\"place\":null,\"doc\":{\"_id\":7}}");
    /* as it was, as an earlier step left it, alone in a collection that would go, in one that was never there */
    changes(&d, d.refused,
            "i db.made |{\"_id\":7}\nu db.posts {\"_id\":2,\"a\":2}|{\"_id\":2,\"a\":2,\"b\":3}\n"
            "d db.gone {\"_id\":1}|\n");
    must(&d, live_compare_open(&d.job, d.in, d.out, NULL, false, &c, &d.e));
    assert_int_equal(live_compare_count(c), 2);
    assert_string_equal(live_compare_at(c, 1)->old.ns, "db.posts");
    assert_string_equal(live_compare_at(c, 1)->now.ns, "db.articles");
    assert_null(live_compare_at(c, 0)->now.ns);
    live_compare_close(c);
    refuse(&d, "{\"ns\":\"db.posts\",\"step\":1,\"reason\":\"r\",\"place\":null,\"doc\":{\"_id\":3.0,\"a\":1}}");
    assert_int_equal(live_compare_open(&d.job, d.in, d.out, d.refused, false, &c, &d.e), MRS_FAIL);
    assert_int_equal(d.e.code, MRS_E_REFUSED);
    rise(&d);
}

/* With --keep-before documents of a collection that the plan drops are listed, too; a refused one of another collection
 * is none of theirs. */
static void
dropped_beside_a_refused_one(void **state)
{
    struct desk d;
    (void)state;
    sit(&d, RENAMES);
    begin(&d, d.in);
    add(&d, "posts", NULL, "{\"_id\":1,\"a\":1}");
    add(&d, "gone", NULL, "{\"_id\":1}");
    end(&d);
    begin(&d, d.out);
    add(&d, "articles", NULL, "");
    end(&d);
    refuse(&d, "{\"ns\":\"db.posts\",\"step\":1,\"reason\":\"r\",\"place\":null,\"doc\":{\"_id\":1,\"a\":1}}");
    d.job.opts.keep_before = true;
    changes(&d, d.refused, "d db.gone {\"_id\":1}|\n");
    rise(&d);
}

static void
unique_indexes_decide(void **state)
{
    static const char unique[] = "\"options\":{},\"indexes\":[{\"v\":2,\"key\":{\"_id\":1},\"name\":\"_id_\"},"
                                 "{\"v\":2,\"key\":{\"m.x\":1},\"name\":\"m\",\"unique\":true}]";
    static const struct {
        const char *in, *out;
        enum live_build_mode turn;
    } row[] = {
        {"{\"_id\":1,\"m\":1}", "{\"_id\":1,\"m\":1,\"b\":1}", LIVE_BUILD_INPLACE},
        {"{\"_id\":1,\"m\":1}", "{\"_id\":1,\"m\":2}", LIVE_BUILD_BESIDE},
        {"{\"_id\":1,\"m\":1}", "{\"_id\":1,\"m\":1}{\"_id\":2}", LIVE_BUILD_INPLACE},
        {"{\"_id\":1,\"m\":1}{\"_id\":2}", "{\"_id\":2}", LIVE_BUILD_INPLACE},
        {"{\"_id\":1,\"m\":1}", "{\"_id\":2,\"m\":1}", LIVE_BUILD_BESIDE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct desk d;
        struct live_compare *c = NULL;
        sit(&d, PLAN);
        begin(&d, d.in);
        add(&d, "posts", unique, row[i].in);
        end(&d);
        begin(&d, d.out);
        add(&d, "posts", unique, row[i].out);
        end(&d);
        must(&d, live_compare_open(&d.job, d.in, d.out, NULL, false, &c, &d.e));
        live_build_modes_decide(&d.job, c);
        assert_int_equal(live_compare_at(c, 0)->turn, row[i].turn);
        live_compare_close(c);
        rise(&d);
    }
}

/* ---- much data, little memory ---- */
static void
fill(struct desk *d, const char *dir, uint32_t from, uint32_t to, uint32_t changed)
{
    struct mrs_buf buf;
    char pad[200];
    memset(pad, 'x', sizeof pad);
    begin(d, dir);
    struct mrs_sink *s = coll(d, "posts", NULL);
    mrs_buf_init(&buf, d->mem, SIZE_MAX);
    for (uint32_t i = from; i < to; i++) {
        struct mrs_build b;
        struct mrs_view doc;
        uint32_t k = from + (uint32_t)((i - from) * 7919ull % (to - from)); /* another order on the other side */
        mrs_buf_reset(&buf);
        mrs_build_init(&b, &buf);
        mrs_build_i32(&b, "_id", (int32_t)k);
        mrs_build_text(&b, "pad", pad, k % 200);
        mrs_build_i32(&b, "n", k % 10 == 0 ? (int32_t)changed : 0);
        must(d, mrs_build_finish(&b, &doc, &d->e));
        must(d, mrs_sink_write(s, doc.p, doc.n, &d->e));
    }
    must(d, mrs_sink_close(s, to - from, NULL, &d->e));
    end(d);
    mrs_buf_clear(&buf);
}

static enum mrs_status
tally(void *arg, const struct live_planned_change *c, struct mrs_err *e)
{
    uint64_t *n = arg;
    (void)e;
    n[c->kind]++;
    n[3 + 1] += (uint64_t)mrs_val_i32(mrs_doc_get(c->after.n ? c->after : c->before, "_id"));
    return MRS_OK;
}

static void
in_bounded_memory(void **state)
{
    struct desk d;
    struct live_compare *c = NULL;
    uint64_t n[5] = {0};
    (void)state;
    sit(&d, PLAN);
    fill(&d, d.in, 0, 100003, 0);
    fill(&d, d.out, 1000, 101003, 1);
    uint64_t before = mrs_mem_bytes(d.mem);
    d.job.opts.memory = 1 << 20;
    must(&d, live_compare_open(&d.job, d.in, d.out, NULL, false, &c, &d.e));
    must(&d, live_compare_each(c, LIVE_INSERT, LIVE_BUILD_INPLACE, tally, n, &d.e));
    must(&d, live_compare_each(c, LIVE_UPDATE, LIVE_BUILD_INPLACE, tally, n, &d.e));
    must(&d, live_compare_each(c, LIVE_DELETE, LIVE_BUILD_INPLACE, tally, n, &d.e));
    assert_int_equal(n[LIVE_INSERT], 1000);
    assert_int_equal(n[LIVE_DELETE], 1000);
    assert_int_equal(n[LIVE_UPDATE], 9901);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 101003; i++) {
        sum += i < 1000 || i >= 100003 || i % 10 == 0 ? i : 0;
    }
    assert_int_equal(n[4], sum);
    live_compare_close(c);
    /* 14 MB of data; blocks of the readers and three spools come on top of the budget */
    assert_true(mrs_mem_peak(d.mem) - before < 6u << 20);
    rise(&d);
}

/* ---- failures ---- */
static void
without_memory(void **state)
{
    struct desk d;
    (void)state;
    sit(&d, PLAN);
    begin(&d, d.in);
    add(&d, "posts", NULL, "{\"_id\":1,\"a\":1}{\"_id\":2,\"a\":2}{\"_id\":3,\"a\":3}");
    end(&d);
    begin(&d, d.out);
    add(&d, "posts", NULL, "{\"_id\":4}{\"_id\":2,\"a\":5}");
    end(&d);
    refuse(&d, "{\"ns\":\"db.posts\",\"step\":1,\"reason\":\"r\",\"place\":null,\"doc\":{\"_id\":1,\"a\":1}}");
    for (uint64_t memory = 0; memory < 2; memory++) {
        enum mrs_status s = MRS_DEAD;
        uint64_t at = 0;
        for (; s != MRS_OK && at < 2000; at++) {
            struct live_job job = d.job;
            struct live_compare *c = NULL;
            job.mem = mrs_mem_new(at + 1);
            job.opts.memory = memory;
            mrs_err_clear(&d.e);
            s = live_compare_open(&job, d.in, d.out, d.refused, false, &c, &d.e);
            if (s != MRS_OK) {
                assert_int_equal(d.e.code, MRS_E_MEMORY);
            }
            live_compare_close(c);
            assert_int_equal(mrs_mem_close(job.mem), 0);
        }
        assert_true(at > 20 && at < 2000);
    }
    rise(&d);
}

static void
parts_hold_whole_documents(void **state)
{
    struct live_split s;
    struct live_stream st;
    struct mrs_view doc;
    struct mrs_err e;
    struct mrs_mem *mem = mrs_mem_new(0);
    uint8_t bytes[9000];
    uint64_t seen[3] = {0};
    (void)state;
    mrs_err_clear(&e);
    assert_int_equal(live_split_open(&s, mem, NULL, 3, 1, &e), MRS_OK);
    for (uint32_t i = 0; i < 500; i++) {
        uint32_t n = 5 + i * 17 % 8900;
        memset(bytes, (int)(i % 251), n);
        mrs_put32(bytes, n);
        doc = (struct mrs_view){bytes, n};
        assert_int_equal(live_split_put(&s, i % 3, doc, &e), MRS_OK);
    }
    assert_int_equal(live_split_end(&s, &e), MRS_OK);
    for (uint32_t part = 0; part < 3; part++) {
        live_stream_part(&st, &s, part);
        enum mrs_status got;
        for (uint32_t i = part; (got = live_stream_doc(&st, &doc, &e)) == MRS_OK; i += 3) {
            assert_int_equal(doc.n, 5 + i * 17 % 8900);
            assert_int_equal(doc.p[doc.n - 1], i % 251);
            seen[part]++;
        }
        assert_int_equal(got, MRS_END);
        live_stream_close(&st);
    }
    assert_int_equal(seen[0] + seen[1] + seen[2], 500);
    live_split_close(&s);
    assert_int_equal(mrs_mem_close(mem), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_in_order), cmocka_unit_test(ids_as_a_server_takes_them),
        cmocka_unit_test(refused_documents_stay), cmocka_unit_test(dropped_beside_a_refused_one),
        cmocka_unit_test(unique_indexes_decide),
        cmocka_unit_test(parts_hold_whole_documents), cmocka_unit_test(in_bounded_memory),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
