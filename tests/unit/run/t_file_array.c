/* SPDX-License-Identifier: Apache-2.0 */
/* t_file_array.c - a list that is written once and searched: the same in memory and in a file, and again after a reset.
 * */
#include "run_test.h"
#include "run/store/file_array.h"

static int
by_u64(const void *pa, const void *pb)
{
    uint64_t a, b;
    memcpy(&a, pa, 8);
    memcpy(&b, pb, 8);
    return a < b ? -1 : a > b;
}

/* Items 0, 3, 6 ...; those between are not there. */
static enum mrs_status
fill(struct mrsi_file_array *t, uint64_t n, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; s == MRS_OK && i < n; i++) {
        uint64_t item[2] = {i * 3, ~i};
        s = mrsi_file_array_put(t, item, e);
    }
    s = s == MRS_OK ? mrsi_file_array_end(t, e) : s;
    for (uint64_t key = 0; s == MRS_OK && key < n * 3; key++) {
        const uint8_t *found = mrsi_file_array_find(t, &key, by_u64);
        assert_int_equal(found != NULL, key % 3 == 0);
        if (found) {
            uint64_t value;
            memcpy(&value, found + 8, 8);
            assert_int_equal(value, ~(key / 3));
        }
    }
    if (s == MRS_OK) {
        uint64_t last = n * 3;
        assert_int_equal(t->n, n);
        assert_null(mrsi_file_array_find(t, &last, by_u64));
    }
    return s;
}

static enum mrs_status
three_times(struct bare *b, uint64_t limit)
{
    struct mrsi_file_array t;
    mrsi_file_array_init(&t, &b->en, 16, limit);
    enum mrs_status s = fill(&t, 5000, &b->err);
    mrsi_file_array_reset(&t);
    s = s == MRS_OK ? fill(&t, 7, &b->err) : s; /* short behind long: nothing of the old is left */
    mrsi_file_array_reset(&t);
    s = s == MRS_OK ? fill(&t, 6000, &b->err) : s;
    assert_true(s != MRS_OK || (t.temp != NULL) == (limit < 80000));
    mrsi_file_array_clear(&t);
    mrsi_file_array_clear(&t);
    return s;
}

static void
in_memory_and_in_a_file(void **state)
{
    static const uint64_t limits[] = {0, 4096, 5000, 1 << 20};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct bare b;
        bare_begin(&b, 0, 1 << 20, 1);
        assert_int_equal(three_times(&b, limits[i]), MRS_OK);
        bare_end(&b);
    }
}

/* What is to be expected is taken at once, and no more than may lie in memory; more than there is does no harm. */
static void
expected(void **state)
{
    static const struct {
        uint64_t limit, n, room;
    } rows[] = {{1 << 30, 1 << 20, 1 << 24}, {1 << 23, 1 << 20, 1 << 23}, {1 << 20, 1 << 20, 0}, {1 << 30, 5000, 0},
                {UINT64_MAX, UINT64_MAX / 17, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mrsi_file_array t;
        struct bare b;
        bare_begin(&b, 0, 1 << 20, 1);
        mrsi_file_array_init(&t, &b.en, 16, rows[i].limit);
        mrsi_file_array_expect(&t, rows[i].n);
        assert_int_equal(t.buf.cap, rows[i].room);
        assert_int_equal(fill(&t, 5000, &b.err), MRS_OK);
        mrsi_file_array_clear(&t);
        bare_end(&b);
    }
}

static void
empty(void **state)
{
    struct mrsi_file_array t;
    struct bare b;
    uint64_t key = 0;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 1);
    mrsi_file_array_init(&t, &b.en, 8, 4096);
    assert_int_equal(mrsi_file_array_end(&t, &b.err), MRS_OK);
    assert_null(mrsi_file_array_find(&t, &key, by_u64));
    mrsi_file_array_clear(&t);
    bare_end(&b);
}

static void
memory_fails(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct bare b;
        bare_begin(&b, n, 1 << 20, 1);
        enum mrs_status s = three_times(&b, 4096);
        bool reached = mrs_mem_count(b.mem) >= n;
        if (reached) {
            is_memory(s, &b.err);
        }
        bare_end(&b);
        if (!reached) {
            assert_int_equal(s, MRS_OK);
            return;
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_memory_and_in_a_file), cmocka_unit_test(expected),
                                       cmocka_unit_test(empty),
                                       cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
