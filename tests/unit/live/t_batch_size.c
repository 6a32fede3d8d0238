/* SPDX-License-Identifier: Apache-2.0 */
/* t_batch_size.c - how many documents the next batch asks for: by the last, and where that settles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "live/govern/governor.h"
#include "live/pass/work.h"

/* The size behind a batch of that size, of which n documents came. */
static uint32_t
sized(const struct live_job *j, uint32_t size, uint32_t n, int64_t ms, uint64_t bytes)
{
    struct live_batches b = {.size = size};
    live_batches_took(j, &b, n, ms, bytes);
    return b.size;
}

/* Half a second by the time that each document took, by half or double at most. */
static void
sizes(void **state)
{
    (void)state;
    struct live_run run = {.group = 0};
    struct live_job j = {.run = &run};
    struct live_batches b;
    live_governor_init(&run.governor);
    static const struct {
        uint32_t asked, n;
        int64_t ms;
        uint64_t bytes;
        uint32_t next;
    } t[] = {
        {1000, 1000, 500, 1, 1000}, {1000, 1000, 400, 1, 1250}, {1000, 1000, 10, 1, 2000}, {1000, 1000, 0, 1, 2000},
        {1000, 1000, 800, 1, 625}, {1000, 1000, 90000, 1, 500}, {8000, 8000, 100, 1, 10000}, {1, 1, 90000, 1, 1},
        {4000, 300, 20, 1, 4000}, {4000, 0, 20, 1, 4000}, {4000, 300, 600, 1, 250}, {1000, 1000, 100, 8u << 20, 500},
        {4000, 300, 100, 5u << 20, 240},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(sized(&j, t[i].asked, t[i].n, t[i].ms, t[i].bytes), t[i].next);
    }
    run.governor.speed = 0.5; /* half the time */
    assert_int_equal(sized(&j, 1000, 1000, 400, 1), 625);
    assert_int_equal(sized(&j, 4000, 300, 300, 1), 250);
    live_batches_begin(&j, &b);
    assert_int_equal(b.size, LIVE_BATCH_FIRST);
    j.opts.batch = 7;
    live_batches_begin(&j, &b);
    live_batches_took(&j, &b, 7, 90000, 1);
    assert_int_equal(b.size, 7);
}

/* Where a batch takes so long whatever it holds, and each document so many microseconds more: the least and the most
 * that the last thirty of fifty batches ask for, their times up to a tenth longer or shorter. */
static void
sizes_settle(void **state)
{
    static const struct {
        int64_t fixed_ms, each_us;
        uint32_t least, most;
    } t[] = {{0, 500, 700, 1500},     {5, 500, 700, 1500},    {100, 400, 700, 1500}, {570, 170, 300, 10000},
             {5000, 100, 10000, 10000}, {300, 3000, 40, 350}, {0, 20, 10000, 10000}, {2000, 100000, 2, 100}};
    struct live_run run = {.group = 0};
    struct live_job j = {.run = &run};
    unsigned noise = 1;
    (void)state;
    live_governor_init(&run.governor);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct live_batches b;
        live_batches_begin(&j, &b);
        for (int k = 0; k < 50; k++) {
            int64_t ms = t[i].fixed_ms + t[i].each_us * b.size / 1000;
            noise = noise * 1103515245u + 12345u;
            live_batches_took(&j, &b, b.size, ms * (900 + (noise >> 16) % 201) / 1000, 1);
            if (k >= 20 && (b.size < t[i].least || b.size > t[i].most)) {
                fail_msg("%zu: %u after %d", i, b.size, k);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(sizes_settle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
