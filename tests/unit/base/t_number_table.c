/* SPDX-License-Identifier: Apache-2.0 */
/* t_number_table.c - numbers found again, however many came between; emptied, refilled, and out of memory. */
#include "mongoreshape/number_table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { MANY = 5000 };

/* Numbers next to each other, far apart, and such that differ in their high bits only. */
static uint64_t
number(uint64_t i)
{
    return i % 3 == 0 ? i + 1 : i % 3 == 1 ? (i + 1) << 44 : UINT64_MAX - i;
}

static void
fill(struct mrs_number_table *t)
{
    for (uint64_t i = 0; i < MANY; i++) {
        struct mrs_number_slot *at = mrs_number_table_put(t, number(i));
        assert_non_null(at);
        assert_int_equal(at->value, 0);
        at->value = i + 1;
        assert_int_equal(t->n, i + 1);
    }
}

static void
finds_again(void **state)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_number_table t = {.n = 0};
    uint64_t slots, taken = 0;
    (void)state;
    mrs_buf_init(&t.slots, mem, SIZE_MAX);
    for (int round = 0; round < 3; round++) {
        fill(&t);
        for (uint64_t i = 0; i < MANY; i++) {
            assert_int_equal(mrs_number_table_put(&t, number(i))->value, i + 1);
        }
        assert_int_equal(t.n, MANY);
        if (round == 0) {
            mrs_number_table_forget(&t);
        } else if (round == 1) {
            assert_true(mrs_number_table_begin(&t, 3));
        }
    }
    const struct mrs_number_slot *x = mrs_number_table_slots(&t, &slots);
    for (uint64_t i = 0; i < slots; i++) {
        taken += x[i].key != 0;
    }
    assert_int_equal(taken, MANY);
    assert_true(slots >= 2 * taken && (slots & (slots - 1)) == 0);
    mrs_buf_clear(&t.slots);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* With room from the beginning nothing is allocated later. */
static void
has_room(void **state)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_number_table t = {.n = 0};
    (void)state;
    mrs_buf_init(&t.slots, mem, SIZE_MAX);
    assert_true(mrs_number_table_begin(&t, MANY));
    uint64_t before = mrs_mem_count(mem);
    fill(&t);
    assert_int_equal(mrs_mem_count(mem), before);
    mrs_buf_clear(&t.slots);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* Each allocation fails once: what was there before is still found. */
static void
without_memory(void **state)
{
    (void)state;
    for (uint64_t fail = 1, failed = 1; failed; fail++) {
        struct mrs_mem *mem = mrs_mem_new(fail);
        struct mrs_number_table t = {.n = 0};
        uint64_t n = 0;
        mrs_buf_init(&t.slots, mem, SIZE_MAX);
        while (n < 100 && mrs_number_table_put(&t, number(n))) {
            n++;
        }
        failed = n < 100;
        assert_int_equal(t.slots.bad, (int)failed);
        assert_int_equal(t.n, n);
        for (uint64_t i = 0; i < n; i++) {
            assert_non_null(mrs_number_table_put(&t, number(i)));
        }
        assert_int_equal(t.n, n);
        mrs_buf_clear(&t.slots);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_again), cmocka_unit_test(has_room),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
