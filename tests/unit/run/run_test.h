/* SPDX-License-Identifier: Apache-2.0 */
/* run_test.h - an engine without a plan, for tests of the parts that the engine is made of. */
#ifndef RUN_TEST_H
#define RUN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "run/engine/run_engine.h"

struct bare {
    struct mrs_mem *mem;
    struct mrs_plan plan;
    struct mrs_run_opts opts;
    struct mrs_report report;
    struct mrsi_engine en;
    struct mrs_err err;
};

__attribute__((unused)) static void
bare_begin(struct bare *b, uint64_t fail_at, uint64_t memory, uint32_t jobs)
{
    memset(b, 0, sizeof *b);
    b->mem = mrs_mem_new(fail_at);
    assert_non_null(b->mem);
    mrs_err_clear(&b->err);
    b->en.mem = b->mem;
    b->en.plan = &b->plan;
    b->en.opts = &b->opts;
    b->en.report = &b->report;
    b->en.memory = memory;
    b->en.jobs = jobs;
    mrsi_secret_take(&b->en, (const uint8_t *)"fifteen and one");
    mrs_arena_init(&b->en.arena, b->mem);
    pthread_mutex_init(&b->en.lock, NULL);
    pthread_mutex_init(&b->en.temp_lock, NULL);
    b->en.worker = calloc(jobs, sizeof *b->en.worker);
    for (uint32_t i = 0; i < jobs; i++) {
        struct mrsi_worker *w = &b->en.worker[i];
        w->en = &b->en;
        w->no = i;
        mrs_arena_init(&w->arena, b->mem);
        mrs_buf_init(&w->refused, b->mem, SIZE_MAX);
        mrs_buf_init(&w->scratch, b->mem, MRS_KEY_MAX);
    }
}

/* Nothing may be left but the engine's own. */
__attribute__((unused)) static void
bare_end(struct bare *b)
{
    for (uint32_t i = 0; i < b->en.jobs; i++) {
        mrs_arena_clear(&b->en.worker[i].arena);
        mrs_buf_clear(&b->en.worker[i].refused);
        mrs_buf_clear(&b->en.worker[i].scratch);
    }
    free(b->en.worker);
    mrs_arena_clear(&b->en.arena);
    pthread_mutex_destroy(&b->en.temp_lock);
    pthread_mutex_destroy(&b->en.lock);
    assert_int_equal(mrs_mem_close(b->mem), 0);
}

/* A generator of its own: the same numbers everywhere. */
__attribute__((unused)) static uint64_t
roll(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15ull;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

/* Memory failed: a status, and this code. */
__attribute__((unused)) static void
is_memory(enum mrs_status s, const struct mrs_err *e)
{
    assert_int_equal(s, MRS_DEAD);
    assert_int_equal(e->code, MRS_E_MEMORY);
}

#endif
