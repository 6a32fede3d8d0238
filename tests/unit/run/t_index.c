/* SPDX-License-Identifier: Apache-2.0 */
/* t_index.c - flat memory and keys to ordinals: the same in memory and in a file, and across the move from one to the
 * other. */
#include "run_test.h"
#include "run/store/ordinal_index.h"

static struct mrs_hash128
key_of(uint64_t i)
{
    return mrs_hash(&i, sizeof i, 7);
}

/* Keys 0, 2, 4 ... with the ordinals 10, 11, 12 ...; the odd ones are not there. */
static enum mrs_status
fill(struct mrsi_index *x, uint64_t n, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    uint64_t first;
    for (uint64_t i = 0; s == MRS_OK && i < n; i++) {
        mrsi_index_fetch(x, key_of(i * 2));
        s = mrsi_index_put(x, key_of(i * 2), i + 10, &first, e);
        assert_true(s != MRS_OK || first == i + 10);
    }
    if (s == MRS_OK && n) { /* a key keeps its first ordinal */
        s = mrsi_index_put(x, key_of(0), 5, &first, e);
        assert_true(s != MRS_OK || first == 10);
    }
    for (uint64_t i = 0; s == MRS_OK && i < n * 2; i++) {
        assert_int_equal(mrsi_index_find(x, key_of(i)), i % 2 ? MRSI_NO_ORDINAL : i / 2 + 10);
    }
    assert_true(s != MRS_OK || x->n == n);
    return s;
}

static void
in_memory_and_in_a_file(void **state)
{
    static const uint64_t limits[] = {0, 4096, 100000, 1 << 22};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct mrsi_index x;
        struct bare b;
        bare_begin(&b, 0, 1 << 20, 1);
        mrsi_index_init(&x, &b.en, limits[i]);
        assert_int_equal(mrsi_index_find(&x, key_of(1)), MRSI_NO_ORDINAL);
        assert_int_equal(fill(&x, 20000, &b.err), MRS_OK);
        assert_int_equal(x.slots.temp != NULL, limits[i] < 1 << 20);
        mrsi_index_clear(&x);
        mrsi_index_clear(&x);
        assert_int_equal(fill(&x, 0, &b.err), MRS_OK);
        bare_end(&b);
    }
}

/* Keys that all begin at one slot, the last: they go round the end, and a whole key decides, not its half. */
static void
one_slot(void **state)
{
    struct mrsi_index x;
    struct bare b;
    uint64_t first;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 1);
    mrsi_index_init(&x, &b.en, 1 << 20);
    for (uint64_t i = 0; i < 40; i++) {
        struct mrs_hash128 k = {UINT64_MAX, i};
        assert_int_equal(mrsi_index_put(&x, k, i, &first, &b.err), MRS_OK);
        assert_int_equal(first, i);
    }
    for (uint64_t i = 0; i < 50; i++) {
        struct mrs_hash128 k = {UINT64_MAX, i};
        assert_int_equal(mrsi_index_find(&x, k), i < 40 ? i : MRSI_NO_ORDINAL);
    }
    mrsi_index_clear(&x);
    bare_end(&b);
}

/* What was guessed only sets how large the tables are: right, far too small, far too large or unknown. */
static void
guesses(void **state)
{
    static const struct {
        uint64_t guess, most; /* most: slots in the end */
    } of[] = {{0, 131072}, {20000, 28400}, {100, 131072}, {UINT64_MAX, 131072}, {1 << 30, 524288}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct mrsi_index x;
        struct bare b;
        bare_begin(&b, 0, 1 << 20, 1);
        mrsi_index_init(&x, &b.en, 1 << 24);
        x.guess = of[i].guess;
        assert_int_equal(fill(&x, 20000, &b.err), MRS_OK);
        assert_true(x.n_slot / 4 * 3 >= 20000 && x.n_slot <= of[i].most);
        mrsi_index_clear(&x);
        assert_int_equal(x.guess, 0);
        bare_end(&b);
    }
}

static void
mapped_memory(void **state)
{
    (void)state;
    for (uint64_t limit = 0; limit <= 10000; limit += 10000) {
        struct mrsi_mapped_mem a;
        struct bare b;
        bare_begin(&b, 0, 1 << 20, 1);
        assert_int_equal(mrsi_mapped_mem_new(&a, &b.en, 9000, limit, &b.err), MRS_OK);
        assert_int_equal(a.temp != NULL, limit == 0);
        uint8_t *p = a.p;
        for (int i = 0; i < 9000; i++) {
            assert_int_equal(p[i], 0);
            p[i] = (uint8_t)i;
        }
        mrsi_mapped_mem_clear(&a);
        mrsi_mapped_mem_clear(&a);
        assert_int_equal(mrsi_mapped_mem_new(&a, &b.en, 0, limit, &b.err), MRS_OK);
        assert_non_null(a.p);
        mrsi_mapped_mem_clear(&a);
        bare_end(&b);
    }
}

static void
memory_fails(void **state)
{
    (void)state;
    for (uint64_t limit = 0; limit <= 10000; limit += 10000) {
        for (uint64_t n = 1;; n++) {
            struct mrsi_index x;
            struct bare b;
            bare_begin(&b, n, 1 << 20, 1);
            mrsi_index_init(&x, &b.en, limit);
            enum mrs_status s = fill(&x, 1000, &b.err);
            bool reached = mrs_mem_count(b.mem) >= n;
            if (reached) {
                is_memory(s, &b.err);
            }
            mrsi_index_clear(&x);
            bare_end(&b);
            if (!reached) {
                assert_int_equal(s, MRS_OK);
                break;
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_memory_and_in_a_file), cmocka_unit_test(one_slot),
                                       cmocka_unit_test(guesses), cmocka_unit_test(mapped_memory),
                                       cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
