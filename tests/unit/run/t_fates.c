/* SPDX-License-Identifier: Apache-2.0 */
/* t_fates.c - a byte for each document: in memory, then in a file, told by several threads at once. */
#include "mark_test.h"
#include "run/join/join.h"

enum { CHUNK = 1 << 20 };

static void
put(struct mrsi_fates *f, struct bare *b, uint64_t n, uint8_t bits)
{
    uint8_t *p = malloc(n);
    memset(p, bits, n);
    assert_int_equal(mrsi_fates_append(f, p, n, &b->err), MRS_OK);
    free(p);
}

static void
over_chunks(void **state)
{
    struct mrsi_fates f;
    struct bare b;
    uint64_t counts[MRSI_FATES];
    (void)state;
    bare_begin(&b, 0, 4096, 1);
    mrsi_fates_init(&f, &b.en);
    put(&f, &b, CHUNK - 1, 0);
    assert_null(f.temp);
    put(&f, &b, 2, MRSI_FATE_OUTSIDE); /* across an end of a chunk */
    put(&f, &b, 2 * CHUNK, MRSI_FATE_REFUSED);
    assert_non_null(f.temp);
    assert_int_equal(mrsi_fates_get(&f, CHUNK - 2), 0);
    assert_int_equal(mrsi_fates_get(&f, CHUNK - 1), MRSI_FATE_OUTSIDE);
    assert_int_equal(mrsi_fates_get(&f, CHUNK), MRSI_FATE_OUTSIDE);
    assert_int_equal(mrsi_fates_get(&f, CHUNK + 1), MRSI_FATE_REFUSED);
    assert_int_equal(mrsi_fates_get(&f, 3 * CHUNK), MRSI_FATE_REFUSED);
    mrsi_fates_add(&f, 0, 1);
    mrsi_fates_add(&f, 0, 4);
    mrsi_fates_add(&f, 3 * CHUNK, 2);
    mrsi_fates_count(&f, counts);
    assert_int_equal(counts[0], CHUNK - 2);
    assert_int_equal(counts[5], 1);
    assert_int_equal(counts[MRSI_FATE_OUTSIDE], 2);
    assert_int_equal(counts[MRSI_FATE_REFUSED], 2 * CHUNK - 1);
    assert_int_equal(counts[MRSI_FATE_REFUSED | 2], 1);
    mrsi_fates_clear(&f);
    mrsi_fates_clear(&f);
    bare_end(&b);
}

static void
unsorted(void **state)
{
    struct mrsi_fates f;
    struct bare b;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 1);
    mrsi_fates_init(&f, &b.en);
    put(&f, &b, 10, 0);
    mrsi_fates_add(&f, 3, MRSI_FATE_UNSORTED | 1);
    mrsi_fates_add(&f, 4, 2);
    assert_int_equal(mrsi_fates_refuse_unsorted(&f), 1);
    assert_int_equal(mrsi_fates_refuse_unsorted(&f), 0);
    mrsi_fates_add(&f, 5, MRSI_FATE_UNSORTED);
    mrsi_fates_clear_used(&f);
    assert_int_equal(mrsi_fates_get(&f, 3), MRSI_FATE_UNSORTED | MRSI_FATE_REFUSED);
    assert_int_equal(mrsi_fates_get(&f, 4), 0);
    assert_int_equal(mrsi_fates_get(&f, 5), 0); /* it may be met by nobody next time */
    mrsi_fates_clear(&f);
    bare_end(&b);
}

struct teller {
    struct mrsi_fates *f;
    unsigned bit;
};

static void *
tell(void *arg)
{
    struct teller *t = arg;
    for (uint64_t i = 0; i < 50000; i++) {
        mrsi_fates_add(t->f, i, t->bit);
        (void)mrsi_fates_get(t->f, i);
    }
    return NULL;
}

static void
several_threads(void **state)
{
    struct mrsi_fates f;
    struct bare b;
    pthread_t id[3];
    struct teller t[3] = {{&f, 1}, {&f, 2}, {&f, 4}};
    (void)state;
    bare_begin(&b, 0, 1 << 20, 3);
    mrsi_fates_init(&f, &b.en);
    put(&f, &b, 50000, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&id[i], NULL, tell, &t[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(id[i], NULL);
    }
    for (uint64_t i = 0; i < 50000; i++) {
        assert_int_equal(mrsi_fates_get(&f, i), 7);
    }
    mrsi_fates_clear(&f);
    bare_end(&b);
}

static void
memory_fails(void **state)
{
    static uint8_t bits[CHUNK];
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct mrsi_fates f;
        struct bare b;
        enum mrs_status s = MRS_OK;
        bare_begin(&b, n, 4096, 1);
        mrsi_fates_init(&f, &b.en);
        for (int i = 0; s == MRS_OK && i < 3; i++) {
            s = mrsi_fates_append(&f, bits, sizeof bits, &b.err);
        }
        bool reached = mrs_mem_count(b.mem) >= n;
        if (reached) {
            is_memory(s, &b.err);
        }
        mrsi_fates_clear(&f);
        bare_end(&b);
        if (!reached) {
            assert_int_equal(s, MRS_OK);
            return;
        }
    }
}

/* A mark holds the bits as they were, in memory and in the file, whatever becomes of them; with other memory. */
static void
marks(void **state)
{
    static const uint64_t memory[][2] = {{4096, 1 << 30}, {1 << 30, 4096}, {4096, 4096}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct mrsi_fates f, again;
        struct bare b;
        struct mark m;
        bare_begin(&b, 0, memory[i][0], 1);
        assert_int_equal(mark_begin(&m, &b), MRS_OK);
        mrsi_fates_init(&f, &b.en);
        put(&f, &b, 3 * CHUNK - 7, 3);
        mrsi_fates_add(&f, 2 * CHUNK + 5, MRSI_FATE_REFUSED);
        enum mrs_status s = mrsi_fates_save(&f, "fates", &m.b, &m.files, &b.err);
        assert_int_equal(mark_finish(&m, &b, s), MRS_OK);
        mrsi_fates_add(&f, 2 * CHUNK + 6, 4);
        mrsi_fates_clear_used(&f);
        b.en.memory = memory[i][1];
        mrsi_fates_init(&again, &b.en);
        assert_int_equal(mrsi_fates_load(&again, m.doc, "fates", &b.err), MRS_OK);
        assert_int_equal(again.n, 3 * CHUNK - 7);
        for (uint64_t k = 0; k < again.n; k++) {
            assert_int_equal(mrsi_fates_get(&again, k), k == 2 * CHUNK + 5 ? 3 | MRSI_FATE_REFUSED : 3);
        }
        mrsi_fates_clear(&again);
        b.en.memory = memory[i][0];
        mrsi_fates_clear(&f);
        mark_end(&m, &b);
        bare_end(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(over_chunks), cmocka_unit_test(unsorted),
                                       cmocka_unit_test(several_threads), cmocka_unit_test(memory_fails),
                                       cmocka_unit_test(marks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
