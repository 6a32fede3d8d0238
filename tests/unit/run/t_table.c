/* SPDX-License-Identifier: Apache-2.0 */
/* t_table.c - keys to entries: everything is found, in the order of the log, however many share a key. */
#include "mark_test.h"
#include "run/join/join.h"

static struct mrsi_key
key_of(uint64_t x)
{
    struct mrsi_key k = {x, (uint64_t)8 << 56 | (x & 1)}; /* a short key: its length in the last byte */
    return k;
}

static void
build(struct mrsi_table *t, struct mrs_mem *mem, const struct mrsi_logged *log, uint64_t n)
{
    struct mrs_err e;
    mrs_err_clear(&e);
    assert_int_equal(mrsi_table_build(t, mem, log, n, &e), MRS_OK);
}

static void
empty(void **state)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrsi_table t;
    (void)state;
    memset(&t, 0, sizeof t);
    assert_null(mrsi_table_find(&t, key_of(1))); /* never built */
    build(&t, mem, NULL, 0);
    assert_null(mrsi_table_find(&t, key_of(1)));
    mrsi_table_clear(&t);
    mrsi_table_clear(&t);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
one_key(void **state)
{
    enum { N = 1000000 };
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrsi_logged *log = calloc(N, sizeof *log);
    struct mrsi_table t;
    uint64_t i = 0;
    (void)state;
    for (uint32_t k = 0; k < N; k++) {
        log[k] = (struct mrsi_logged){key_of(77), k, k % 3, 0};
    }
    build(&t, mem, log, N);
    for (const struct mrsi_table_entry *x = mrsi_table_find(&t, key_of(77)); x; x = mrsi_table_next(&t, x), i++) {
        assert_int_equal(x->ord, i);
        assert_int_equal(x->ref, i % 3);
    }
    assert_int_equal(i, N);
    assert_null(mrsi_table_find(&t, key_of(78)));
    mrsi_table_clear(&t);
    free(log);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* Against a walk over the whole log. */
static void
random_keys(void **state)
{
    static const uint32_t sizes[][2] = {{1, 1}, {7, 2}, {500, 40}, {3000, 3000}, {3000, 900000}, {4000, 5}};
    uint64_t seed = 5;
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint32_t n = sizes[s][0], keys = sizes[s][1];
        struct mrs_mem *mem = mrs_mem_new(0);
        struct mrsi_logged *log = calloc(n, sizeof *log);
        struct mrsi_table t;
        for (uint32_t i = 0; i < n; i++) {
            log[i] = (struct mrsi_logged){key_of(roll(&seed) % keys), i, (uint32_t)(roll(&seed) % 9), 0};
        }
        build(&t, mem, log, n);
        for (uint32_t k = 0; k < 200; k++) {
            struct mrsi_key key = key_of(roll(&seed) % (keys * 2));
            const struct mrsi_table_entry *x = mrsi_table_find(&t, key);
            for (uint32_t i = 0; i < n; i++) {
                if (log[i].key.a == key.a && log[i].key.b == key.b) {
                    assert_non_null(x);
                    assert_int_equal(x->ord, i);
                    assert_int_equal(x->ref, log[i].ref);
                    x = mrsi_table_next(&t, x);
                }
            }
            assert_null(x);
        }
        mrsi_table_clear(&t);
        free(log);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
}

static void
memory_fails(void **state)
{
    struct mrsi_logged log[3] = {{key_of(1), 1, 0, 0}, {key_of(2), 2, 0, 0}, {key_of(1), 3, 0, 0}};
    (void)state;
    for (uint64_t n = 1; n < 3; n++) {
        struct mrs_mem *mem = mrs_mem_new(n);
        struct mrsi_table t;
        struct mrs_err e;
        mrs_err_clear(&e);
        is_memory(mrsi_table_build(&t, mem, log, 3, &e), &e);
        mrsi_table_clear(&t);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
}

static void
build_again(struct mrsi_table *t, struct mark *m, struct bare *b, const char *name)
{
    struct mrs_buf log;
    struct mrsi_savepoint_list list = {&b->en, &log, NULL, 0};
    mrs_buf_init(&log, b->mem, SIZE_MAX);
    assert_int_equal(mrsi_savepoint_list_load(&list, m->doc, name, &b->err), MRS_OK);
    build(t, b->mem, (const struct mrsi_logged *)(const void *)log.p, log.n / sizeof(struct mrsi_logged));
    mrsi_table_has(t, &list);
    mrs_buf_clear(&log);
}

/* A mark holds all entries, those of one key in their order; the file is written once, also by who goes on. */
static void
marks(void **state)
{
    enum { N = 30000 };
    struct mrsi_logged *log = calloc(N, sizeof *log);
    struct mrsi_table t, again, empty_again;
    struct bare b;
    struct mark m;
    (void)state;
    memset(&t, 0, sizeof t);
    bare_begin(&b, 0, 1 << 20, 1);
    assert_int_equal(mark_begin(&m, &b), MRS_OK);
    for (uint32_t k = 0; k < N; k++) {
        log[k] = (struct mrsi_logged){key_of(k % 3 ? k : 5), k, k % 7, 0};
    }
    build(&t, b.mem, log, N);
    enum mrs_status s = mrsi_table_save(&t, &b.en, "table", &m.b, &m.files, &b.err);
    uint32_t no = t.entries->no;
    s = s == MRS_OK ? mrsi_table_save(&t, &b.en, "twice", &m.b, &m.files, &b.err) : s;
    assert_int_equal(t.entries->no, no);
    struct mrsi_table none;
    build(&none, b.mem, NULL, 0);
    s = s == MRS_OK ? mrsi_table_save(&none, &b.en, "none", &m.b, &m.files, &b.err) : s;
    assert_int_equal(mark_finish(&m, &b, s), MRS_OK);
    build_again(&again, &m, &b, "table");
    build_again(&empty_again, &m, &b, "none");
    assert_null(mrsi_table_find(&empty_again, key_of(1)));
    for (uint32_t k = 0; k < N; k++) {
        const struct mrsi_table_entry *x = mrsi_table_find(&t, log[k].key), *y = mrsi_table_find(&again, log[k].key);
        for (; k == 0 ? x && y : k % 3 && x && y; x = mrsi_table_next(&t, x), y = mrsi_table_next(&again, y)) {
            assert_true(x->ord == y->ord && x->ref == y->ref);
        }
        assert_true(k == 0 || k % 3 ? !x && !y : x && y);
    }
    mrsi_table_clear(&t);
    mrsi_table_clear(&none);
    mrsi_table_clear(&again);
    mrsi_table_clear(&empty_again);
    free(log);
    mark_end(&m, &b);
    bare_end(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(empty), cmocka_unit_test(one_key),
                                       cmocka_unit_test(random_keys), cmocka_unit_test(memory_fails),
                                       cmocka_unit_test(marks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
