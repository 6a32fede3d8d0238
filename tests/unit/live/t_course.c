/* SPDX-License-Identifier: Apache-2.0 */
/* t_course.c - how far a command is on its whole way, and what its time goes to, by a clock of the test's.
 *
 * Walks that are longer or shorter than foreseen, one more than foreseen, a command that goes on after a crash; the
 * share never goes back, the time left does not start over with a walk. No server is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/link/bson.h"
#include "live/state/run_document.h"

static struct mrs_mem *mem;
static struct live_run run;
static struct live_job job;

static int
fresh(void **state)
{
    (void)state;
    mem = mrs_mem_new(0);
    memset(&run, 0, sizeof run);
    mrs_buf_init(&run.doc, mem, 1 << 20);
    job = (struct live_job){.mem = mem, .run = &run};
    return 0;
}

static int
gone(void **state)
{
    (void)state;
    mrs_buf_clear(&run.doc);
    return mrs_mem_close(mem) == 0 ? 0 : -1;
}

static struct live_progress
at(uint64_t done, uint64_t estimated, int64_t ms)
{
    struct live_progress p = {.done = done, .estimated = estimated};
    live_course_report(&run.course, &p, ms);
    return p;
}

/* 1,000 documents written in 40 s, looked at once more in 10 s. */
static void
two_walks(void **state)
{
    (void)state;
    struct live_progress p;
    live_course_begin(&job, "apply", false);
    live_course_foresee(&job, 1000 * (LIVE_WRITES + LIVE_READS), 2);
    live_course_walk(&job, 1000, LIVE_WRITES);
    for (int64_t s = 0; s <= 40; s++) {
        p = at((uint64_t)s * 25, 1000, s * 1000);
        assert_int_equal(p.percent, s * 2);
        assert_int_equal(p.seconds_left, s ? 50 - s + 1 : -1);
        assert_int_equal(p.walk, 1);
        assert_int_equal(p.walks, 2);
    }
    assert_in_range((int64_t)p.docs_per_s, 25, 25);
    live_course_walked(&job, 1000);
    live_course_walk(&job, 1000, LIVE_READS);
    for (int64_t s = 0; s < 10; s++) {
        p = at((uint64_t)s * 100, 1000, (s + 40) * 1000);
        assert_int_equal(p.percent, 80 + s * 2);
        assert_int_equal(p.seconds_left, 10 - s + 1);
        assert_int_equal(p.walk, 2);
    }
    p = at(1000, 1000, 50000);
    assert_int_equal(p.percent, 99);
}

/* More documents than the server had counted, and a walk more. */
static void
never_back(void **state)
{
    (void)state;
    uint32_t last = 0;
    live_course_begin(&job, "apply", false);
    live_course_foresee(&job, 100 * (LIVE_WRITES + LIVE_READS), 2);
    for (uint32_t walk = 0; walk < 4; walk++) {
        live_course_walk(&job, 100, walk ? LIVE_READS : LIVE_WRITES);
        for (uint64_t done = 0; done <= 300; done += 50) {
            struct live_progress p = at(done, 100, (int64_t)(walk * 10 + done / 50) * 1000);
            assert_true(p.percent >= last && p.percent <= 99);
            assert_int_equal(p.walk, walk + 1);
            assert_int_equal(p.walks, walk < 2 ? 2 : walk + 1);
            last = p.percent;
        }
        live_course_walked(&job, 300);
    }
    assert_int_equal(last, 99);
}

/* What is followed is walked over once. */
static void
spared(void **state)
{
    (void)state;
    live_course_begin(&job, "apply", false);
    live_course_foresee(&job, 1000 * (LIVE_WRITES + LIVE_READS), 2);
    live_course_spare(&job, 1000 * LIVE_READS, 1);
    live_course_walk(&job, 1000, LIVE_WRITES);
    struct live_progress p = at(500, 1000, 1000);
    assert_int_equal(p.percent, 50);
    assert_int_equal(p.walks, 1);
    live_course_spare(&job, 9000, 9);
    p = at(500, 1000, 2000);
    assert_int_equal(p.percent, 50);
    assert_int_equal(p.walk, 1);
    assert_int_equal(p.walks, 1);
}

static void
goes_on(void **state)
{
    (void)state;
    struct mrs_view doc;
    struct mrs_err e;
    mrs_err_clear(&e);
    assert_int_equal(live_doc(&run.doc, &doc, &e, "{course: {of: 'apply', percent: %I}}", (int64_t)57), MRS_OK);
    live_course_begin(&job, "apply", true);
    live_course_past(&job, 400, 2);
    live_course_foresee(&job, 600, 2);
    live_course_walk(&job, 100, LIVE_WRITES);
    struct live_progress p = at(10, 100, 1000);
    assert_int_equal(p.percent, 57);
    assert_int_equal(p.walk, 3);
    assert_int_equal(p.walks, 4);
    p = at(90, 100, 2000);
    assert_int_equal(p.percent, 76);
    live_course_begin(&job, "apply", false);
    p = at(0, 0, 3000);
    assert_int_equal(p.percent, 0);
    live_course_begin(&job, "verify", true);
    p = at(0, 0, 3000);
    assert_int_equal(p.percent, 0);
}

/* Of what no way is known of, a rate is told all the same. */
static void
no_course(void **state)
{
    (void)state;
    at(0, 0, 1000);
    struct live_progress p = at(500, 0, 2000);
    assert_null(p.course);
    assert_in_range((int64_t)p.docs_per_s, 500, 500);
}

static void
is(struct live_spent *s, int64_t now, int64_t cpu, const char *what, uint32_t share)
{
    uint32_t got;
    assert_string_equal(live_spent_on(s, now, cpu, &got), what);
    assert_int_equal(got, share);
}

static void
time_goes_to(void **state)
{
    (void)state;
    struct live_spent s = {0};
    is(&s, 1000, 500, "", 0);
    is(&s, 1900, 600, "", 0);
    is(&s, 2000, 600, "server latency", 90);
    live_spent_again(&s, 600);
    is(&s, 2500, 650, "server latency", 90);
    is(&s, 3000, 700, "contention", 60);
    live_spent_throttled(&s, 300);
    live_spent_throttled(&s, 300);
    is(&s, 4000, 800, "throttle", 60);
    is(&s, 5000, 1600, "our own CPU", 80);
    is(&s, 6000, 4600, "our own CPU", 100); /* several threads */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_walks, fresh, gone),
        cmocka_unit_test_setup_teardown(never_back, fresh, gone),
        cmocka_unit_test_setup_teardown(spared, fresh, gone),
        cmocka_unit_test_setup_teardown(goes_on, fresh, gone),
        cmocka_unit_test_setup_teardown(no_course, fresh, gone),
        cmocka_unit_test_setup_teardown(time_goes_to, fresh, gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
