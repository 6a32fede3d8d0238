/* SPDX-License-Identifier: Apache-2.0 */
/* t_inspect.c - an inspection of documents in memory: rows that do not fit lie in a file and say the same; whichever
 * allocation fails, it ends with that and nothing stays behind. */
#include "inspect/relate/rows.h"
#include "mongoreshape/build.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/inspect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- rows ---- */
static void
rows(void **state)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err e;
    (void)state;
    mrs_err_clear(&e);
    for (uint64_t memory = 0; memory <= 1 << 30; memory += 1 << 30) { /* nothing may stay in memory; all may */
        struct mrsi_row_store store;
        struct mrsi_rowset r;
        struct mrsi_rowset_at *at = malloc(sizeof *at);
        uint64_t n = 0, count = 0, before = 0;
        enum mrs_status s = MRS_OK;
        mrsi_row_store_begin(&store, mem, NULL, memory, NULL);
        mrsi_rowset_begin(&r, &store, 2, memory ? 4 << 20 : 64 << 10);
        for (uint64_t i = 0; i < 50000; i++) {
            struct mrsi_hash_row row = {{i * 0x9E3779B97F4A7C15u % 20011 << 49, i % 3}, 1};
            assert_int_equal(mrsi_rowset_put(&r, &row, 1, &e), MRS_OK);
        }
        assert_int_equal(mrsi_rowset_seal(&r, &e), MRS_OK);
        assert_non_null(at);
        mrsi_rowset_read(at, &r);
        for (const struct mrsi_hash_row *x; (x = mrsi_rowset_next(at, &s, &e)) != NULL; n++) {
            assert_true(x->key[0] > before || n == 0 || (x->key[0] == before && x->key[1] > 0));
            before = x->key[0];
            count += x->count;
        }
        assert_int_equal(s, MRS_OK);
        assert_int_equal(count, 50000);
        assert_int_equal(r.count, 50000);
        assert_int_equal(n, r.total);
        assert_true((r.buf == NULL) == (memory == 0));
        mrsi_rowset_end(&r);
        mrsi_row_store_end(&store);
        free(at);
    }
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* ---- a whole inspection ---- */
struct memory_source {
    struct mrs_buf docs[3];
    const char *last; /* the phase in which the caller wants to stop; NULL: none */
    int cancel;
};
static const char *const names[] = {"t.orders", "t.customers", "t.nodes"};

static void
add(struct mrs_buf *b, const char *json)
{
    size_t used;
    assert_int_equal(mrs_ejson_read(json, strlen(json), MRS_EJSON_DATA, b, &used, NULL), MRS_OK);
}

static void
fill(struct memory_source *m, struct mrs_mem *mem)
{
    char json[512];
    for (int i = 0; i < 3; i++) {
        mrs_buf_init(&m->docs[i], mem, SIZE_MAX);
    }
    for (int i = 0; i < 120; i++) {
        snprintf(json, sizeof json,
                 "{\"_id\": %d, \"customerId\": \"%024x\", \"name\": \"c%d\", \"lines\": [{\"a\": %d}, {\"a\": 2}], "
                 "\"m\": {\"%d\": 1}, \"v\": 1.5, \"w\": {\"a%d\": \"x\", \"b%d\": {\"y\": [%d]}, \"c%d\": 1}}",
                 i, i % 40, i % 40, i, i, i, i, i, i); /* w: more names than a person gives */
        add(&m->docs[0], json);
        snprintf(json, sizeof json, "{\"_id\": {\"$oid\": \"%024x\"}, \"name\": \"c%d\"}", i, i);
        add(&m->docs[1], json);
        snprintf(json, sizeof json,
                 i ? "{\"_id\": \"node-%04d\", \"parent\": \"node-%04d\"}" : "{\"_id\": \"node-%04d\"}", i, i / 2);
        add(&m->docs[2], json);
    }
}

static enum mrs_status
describe(void *arg, uint32_t i, struct mrs_inspect_collection *out, struct mrs_err *e)
{
    (void)arg;
    (void)e;
    *out = (struct mrs_inspect_collection){.ns = names[i], .metadata = mrs_empty_doc(), .has_data = true};
    return MRS_OK;
}

static enum mrs_status
scan(void *arg, uint32_t i, const struct mrs_inspect_sink *to, double *share, struct mrs_err *e)
{
    const struct memory_source *m = arg;
    enum mrs_status s = MRS_OK;
    uint64_t no = 0;
    *share = 1;
    for (size_t at = 0; s == MRS_OK && at < m->docs[i].n; no++) {
        struct mrs_view doc = {m->docs[i].p + at, mrs_le32(m->docs[i].p + at)};
        s = to->doc(to->arg, to->in_order ? 0 : (uint32_t)(no % 2), doc, no, e);
        at += doc.n;
    }
    return s == MRS_END ? MRS_OK : s;
}

static void
enter_phase(void *arg, const char *phase)
{
    struct memory_source *m = arg;
    m->cancel |= m->last && strcmp(m->last, phase) == 0;
}

static enum mrs_status
inspect(struct memory_source *m, struct mrs_mem *mem, struct mrs_buf *out)
{
    struct mrs_inspect_source source = {
        .collections = 3, .workers = 2, .describe = describe, .scan = scan, .phase = enter_phase, .arg = m};
    struct mrs_inspect_opts opts = {.name = "memory", .kind = "test", .tool = "test", .cancel = &m->cancel};
    struct mrsi_inspection *x = NULL;
    struct mrs_buf text;
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_buf_init(&text, mem, SIZE_MAX);
    enum mrs_status s = mrs_inspect(mem, &source, &opts, &x, &e);
    assert_true(!m->cancel || e.code == MRS_E_CANCEL);
    MRS_THEN(s, mrs_inspect_plan(x, &text, &e));
    MRS_THEN(s, mrs_inspect_text(x, 80, true, false, &text, &e));
    MRS_THEN(s, mrs_inspect_document(x, out, &e));
    mrs_buf_clear(&text);
    mrs_inspect_free(x);
    return s;
}

/* The source here does not look at the flag: what comes after its scans does. */
static void
cancelled(void **state)
{
    static const char *const phases[] = {"reading documents", "counting references", "finding lists"};
    struct mrs_mem *mem = mrs_mem_new(0);
    (void)state;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        struct memory_source m = {.last = phases[i]};
        struct mrs_buf out;
        fill(&m, mem);
        mrs_buf_init(&out, mem, SIZE_MAX);
        assert_int_equal(inspect(&m, mem, &out), MRS_FAIL);
        assert_int_equal(m.cancel, 1);
        mrs_buf_clear(&out);
        for (int k = 0; k < 3; k++) {
            mrs_buf_clear(&m.docs[k]);
        }
    }
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
every_allocation(void **state)
{
    struct memory_source m = {.last = NULL};
    struct mrs_mem *own = mrs_mem_new(0), *mem = mrs_mem_new(0);
    struct mrs_buf want, got;
    (void)state;
    fill(&m, own);
    mrs_buf_init(&want, own, SIZE_MAX);
    assert_int_equal(inspect(&m, mem, &want), MRS_OK);
    uint64_t n = mrs_mem_count(mem), ended = 0;
    assert_int_equal(mrs_mem_close(mem), 0);
    for (uint64_t fail = 1; fail <= n + 1; fail += 1 + fail / 200) {
        mem = mrs_mem_new(fail);
        mrs_buf_init(&got, own, SIZE_MAX);
        enum mrs_status s = inspect(&m, mem, &got);
        ended += s != MRS_OK;
        assert_true(s == MRS_OK || s == MRS_DEAD);
        if (s == MRS_OK && fail > n) {
            assert_int_equal(got.n, want.n);
            assert_memory_equal(got.p, want.p, got.n);
        }
        assert_int_equal(mrs_mem_close(mem), 0);
        mrs_buf_clear(&got);
    }
    assert_true(ended > 50);
    for (int i = 0; i < 3; i++) {
        mrs_buf_clear(&m.docs[i]);
    }
    mrs_buf_clear(&want);
    assert_int_equal(mrs_mem_close(own), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(cancelled),
                                       cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
