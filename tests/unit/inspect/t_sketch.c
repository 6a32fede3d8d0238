/* SPDX-License-Identifier: Apache-2.0 */
/* t_sketch.c - what inspect keeps of values: the same in whatever order they come and however they are split among
 * workers, counts exact for what is kept, estimates within their bounds. */
#include "inspect/figures/figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

static uint64_t
hash_of(uint64_t i)
{
    uint64_t h = mrs_hash64(&i, sizeof i, 7);
    return h ? h : 1;
}

static int
by_hash(const void *a, const void *b)
{
    uint64_t x = ((const struct mrsi_sketch_slot *)a)->hash, y = ((const struct mrsi_sketch_slot *)b)->hash;
    return (x > y) - (x < y);
}

/* The slots in order, in a list to be freed. */
static struct mrsi_sketch_slot *
slots(const struct mrsi_sketch *s, uint32_t *n)
{
    struct mrsi_sketch_slot *list = malloc((s->n + 1) * sizeof *list);
    *n = 0;
    assert_non_null(list);
    for (uint32_t i = 0; i < s->cap; i++) {
        if (s->slot[i].hash) {
            list[(*n)++] = s->slot[i];
        }
    }
    qsort(list, *n, sizeof *list, by_hash);
    return list;
}

static void
same(const struct mrsi_sketch *a, const struct mrsi_sketch *b)
{
    uint32_t na, nb;
    struct mrsi_sketch_slot *x = slots(a, &na), *y = slots(b, &nb);
    assert_int_equal(na, nb);
    for (uint32_t i = 0; i < na; i++) {
        assert_true(x[i].hash == y[i].hash && x[i].count == y[i].count);
    }
    assert_int_equal(mrsi_sketch_distinct(a), mrsi_sketch_distinct(b));
    free(x);
    free(y);
}

static void
split_among_workers(void **state)
{
    static const uint64_t sizes[] = {1, 5, 1023, 1024, 1025, 1536, 1537, 5000, 60000};
    struct mrs_mem *mem = mrs_mem_new(0);
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct mrsi_sketch whole = {0}, part[3] = {{0}}, all = {0};
        for (uint64_t i = 0; i < 3 * sizes[k]; i++) {
            uint64_t h = hash_of(i * 7919 % sizes[k]);
            assert_true(mrsi_sketch_add(&whole, mem, MRSI_SAMPLE, h, mrs_missing()));
            assert_true(mrsi_sketch_add(&part[i % 7 % 3], mem, MRSI_SAMPLE, h, mrs_missing()));
        }
        for (int i = 2; i >= 0; i--) {
            assert_true(mrsi_sketch_merge(&all, mem, MRSI_SAMPLE, &part[i]));
            mrsi_sketch_clear(&part[i], mem);
        }
        assert_true(mrsi_sketch_shrink(&whole, mem, MRSI_SAMPLE));
        same(&whole, &all);
        double error = fabs((double)mrsi_sketch_distinct(&whole) - (double)sizes[k]) / (double)sizes[k];
        assert_true(sizes[k] <= MRSI_SAMPLE ? error == 0 : error < .05);
        mrsi_sketch_clear(&whole, mem);
        mrsi_sketch_clear(&all, mem);
    }
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
quantiles(void **state)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_arena a;
    (void)state;
    mrs_arena_init(&a, mem);
    for (int large = 0; large < 2; large++) {
        struct mrsi_tally one = {0}, two = {0};
        struct mrsi_quantiles q;
        uint64_t n = large ? 100000 : 1000;
        for (uint64_t i = 1; i <= n; i++) {
            assert_true(mrsi_tally_add(i % 2 ? &one : &two, mem, i * (large ? 13 : 1), 1));
        }
        assert_true(mrsi_tally_merge(&one, mem, &two));
        assert_true(mrsi_tally_spread(&one, mem, &a, &q));
        uint64_t step = large ? 13 : 1, p50 = (n + 1) / 2 * step, p99 = (n * 99 + 99) / 100 * step;
        assert_int_equal(q.n, n);
        assert_int_equal(q.min, step);
        assert_int_equal(q.max, n * step);
        assert_int_equal(q.sum, n * (n + 1) / 2 * step);
        assert_true(fabs((double)q.p50 - (double)p50) <= (large ? .01 * (double)p50 : 0));
        assert_true(fabs((double)q.p99 - (double)p99) <= (large ? .01 * (double)p99 : 0));
        uint64_t all = 0;
        for (uint32_t i = 0; i < q.pillars; i++) {
            all += q.pillar[i];
        }
        assert_int_equal(all, n);
        mrsi_tally_clear(&one, mem);
        mrsi_tally_clear(&two, mem);
    }
    mrs_arena_clear(&a);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static struct mrs_val
text(uint8_t room[64], const char *t)
{
    uint32_t n = (uint32_t)strlen(t);
    mrs_put32(room, n + 1);
    memcpy(room + 4, t, n + 1);
    return (struct mrs_val){room, n + 5, MRS_STRING};
}

/* Equal values in other clothes have one hash. */
static void
canon_of(struct mrs_val v, struct mrsi_canon *out)
{
    mrsi_canon(&v, out);
}

static void
canonical(void **state)
{
    static const uint8_t id[] = {0x65, 0xa1, 0, 0x61, 0x5a, 0x3c, 0x91, 0x70, 0, 0, 0, 1};
    struct mrsi_canon a, b;
    uint8_t room[64], number[16];
    (void)state;
    canon_of((struct mrs_val){id, 12, MRS_OBJECTID}, &a);
    canon_of(text(room, "65a100615a3c917000000001"), &b);
    assert_true(a.hash == b.hash && a.is == b.is && b.from_text && !a.from_text);
    canon_of(mrs_make_i32(number, 42), &a);
    canon_of(mrs_make_double(room, 42.0), &b);
    assert_true(a.hash == b.hash && b.is == MRSI_NUMBER);
    canon_of(mrs_make_double(room, 42.5), &b);
    assert_int_equal(b.is, MRSI_FRACTION);
    canon_of(text(room, "42"), &b);
    assert_true(b.is == MRSI_TEXT && b.digits && b.number == 42 && b.hash != a.hash);
    assert_true(mrsi_number_hash(b.number) == a.hash);
    static const char *const none[] = {"042", "", "-", "4 2", "1234567890123456789", "65a100615a3c91700000000g"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        canon_of(text(room, none[i]), &b);
        assert_true(b.is == MRSI_TEXT && !b.digits);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(split_among_workers), cmocka_unit_test(quantiles),
                                       cmocka_unit_test(canonical)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
