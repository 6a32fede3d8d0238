/* SPDX-License-Identifier: Apache-2.0 */
/* t_windows.c - windows of time: each begins where `$dateTrunc` cuts, ends where the next begins, and holds what it
 * was asked for; over clock changes, before 1970, and at the ends of what a date can hold. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *unit;
    int64_t size;
    const char *zone, *week; /* NULL: none */
    int64_t at, start, end;
};

static struct mrs_val
text(struct mrs_arena *a, const char *s)
{
    return s ? mrs_make_text(a, s, (uint32_t)strlen(s)) : mrs_missing();
}

static enum mrs_status
make(struct bench *b, const char *unit, int64_t size, const char *zone, const char *week, struct mrs_windows **w)
{
    struct mrs_windows_spec spec = {text(&b->arena, unit), size, text(&b->arena, zone), text(&b->arena, week)};
    mrs_err_clear(&b->err);
    return mrs_windows_new(b->mem, &spec, w, &b->err);
}

/* Worked out with another program's calendar (`date -d` under TZ). */
static const struct row ROWS[] = {
    {"hour", 1, NULL, NULL, 1577836800123, 1577836800000, 1577840400000},
    {"hour", 1, NULL, NULL, -1, -3600000, 0},
    {"second", 30, NULL, NULL, -1, -30000, 0},
    {"millisecond", 500, NULL, NULL, 1, 0, 500},
    {"minute", 15, NULL, NULL, 1577837699999, 1577836800000, 1577837700000},
    {"day", 1, NULL, NULL, -86400001, -172800000, -86400000},
    {"week", 1, NULL, NULL, 946684800000, 946166400000, 946771200000},  /* 2000-01-01: Sunday 1999-12-26 */
    {"week", 1, NULL, "monday", 946684800000, 946252800000, 946857600000},
    {"month", 1, NULL, NULL, 951782400000, 949363200000, 951868800000}, /* 2000-02-29 */
    {"quarter", 1, NULL, NULL, 951782400000, 946684800000, 954547200000},
    {"year", 1, NULL, NULL, 951782400000, 946684800000, 978307200000},
    {"year", 100, NULL, NULL, -1, -2208988800000, 946684800000},        /* 1900 */
    /* Berlin: 2024-03-31 has 23 hours, 2024-10-27 has 25 */
    {"day", 1, "Europe/Berlin", NULL, 1711850400000, 1711839600000, 1711922400000},
    {"day", 1, "Europe/Berlin", NULL, 1730032200000, 1729980000000, 1730070000000},
    {"week", 1, "Europe/Berlin", "Mon", 1711850400000, 1711321200000, 1711922400000},
    {"month", 1, "Europe/Berlin", NULL, 1711850400000, 1709247600000, 1711922400000},
    {"quarter", 1, "Europe/Berlin", NULL, 1711922400000, 1711922400000, 1719784800000},
    /* units up to hours know no summer time: 24 hours begin at 05:00Z in New York all the year */
    {"hour", 24, "America/New_York", NULL, 1625140800000, 1625115600000, 1625202000000},
    {"hour", 1, "+05:30", NULL, 1577836800000, 1577835000000, 1577838600000},
};

static void
as_written_down(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct row *r = &ROWS[i];
        struct mrs_windows *w;
        int64_t start = 0, end = 0;
        if (make(&b, r->unit, r->size, r->zone, r->week, &w) != MRS_OK) {
            fail_msg("row %zu: %s", i, b.err.msg);
        }
        assert_true(mrs_window_start(w, r->at, &start) && mrs_window_end(w, r->at, &end));
        if (start != r->start || end != r->end) {
            fail_msg("row %zu: %lld to %lld, not %lld to %lld", i, (long long)start, (long long)end,
                     (long long)r->start, (long long)r->end);
        }
        mrs_windows_free(w);
    }
    bench_close(&b);
}

/* Whatever the moment: start <= moment < end, and the windows meet without a gap. (From 1950: where a clock was set
 * back at midnight, as in Berlin in 1916, `$dateTrunc` takes the second midnight, and an hour lies before its day.) */
static void
windows_meet(void **state)
{
    static const char *const units[] = {"millisecond", "second", "minute", "hour", "day", "week", "month", "quarter",
                                        "year"};
    static const char *const zones[] = {NULL, "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe",
                                        "Asia/Kathmandu", "-09:30"};
    static const int64_t sizes[] = {1, 2, 3, 7, 24, 90};
    struct bench b;
    uint64_t z = 1;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < 9 * 6 * 6; i++) {
        struct mrs_windows *w;
        assert_int_equal(make(&b, units[i % 9], sizes[i / 9 % 6], zones[i / 54], i & 1 ? "thu" : NULL, &w), MRS_OK);
        for (int k = 0; k < 500; k++) {
            int64_t start, end = 0, again;
            z = z * 6364136223846793005u + 1442695040888963407u;
            int64_t at = (int64_t)(z >> 20) % 5000000000000 - 631152000000;
            assert_true(mrs_window_start(w, at, &start) && mrs_window_end(w, at, &end));
            if (start > at || end <= at) {
                fail_msg("%s x %lld in %s: %lld is not between %lld and %lld", units[i % 9],
                         (long long)sizes[i / 9 % 6], zones[i / 54], (long long)at, (long long)start, (long long)end);
            }
            assert_true(mrs_window_start(w, end - 1, &again));
            assert_int_equal(again, start);
            assert_true(mrs_window_start(w, end, &again));
            assert_int_equal(again, end);
            int64_t from = 0, to = 0;
            bool steady = !zones[i / 54] || zones[i / 54][0] == '-', whole = i % 9 < 4 || steady;
            assert_int_equal(mrs_window_whole(w, at, &from, &to), whole); /* days are not, where clocks are changed */
            assert_true(!whole || (from == start && to == end));
        }
        mrs_windows_free(w);
    }
    bench_close(&b);
}

static void
ends_of_time(void **state)
{
    struct bench b;
    struct mrs_windows *w;
    int64_t out;
    (void)state;
    bench_open(&b, 0);
    assert_int_equal(make(&b, "day", 1, NULL, NULL, &w), MRS_OK);
    assert_false(mrs_window_start(w, INT64_MIN, &out));
    assert_true(mrs_window_start(w, INT64_MAX, &out));
    assert_false(mrs_window_end(w, INT64_MAX, &out));
    mrs_windows_free(w);
    assert_int_equal(make(&b, "year", 100000000000, "Europe/Berlin", NULL, &w), MRS_OK);
    assert_true(mrs_window_start(w, 946684800000, &out));
    assert_false(mrs_window_end(w, 946684800000, &out));
    assert_false(mrs_window_start(w, 0, &out));
    mrs_windows_free(w);
    assert_int_equal(make(&b, "hour", INT64_MAX / 3600000, NULL, NULL, &w), MRS_OK);
    assert_true(mrs_window_start(w, INT64_MAX, &out));
    assert_false(mrs_window_end(w, INT64_MAX, &out));
    assert_false(mrs_window_whole(w, INT64_MAX, &out, &out));
    mrs_windows_free(w);
    bench_close(&b);
}

static void
wrong_ones(void **state)
{
    static const struct {
        const char *unit;
        int64_t size;
        const char *zone, *week, *where;
    } rows[] = {{"days", 1, NULL, NULL, "unit"},
                {"Day", 1, NULL, NULL, "unit"},
                {"day", 0, NULL, NULL, "size"},
                {"day", -1, NULL, NULL, "size"},
                {"day", 100000000001, NULL, NULL, "size"},
                {"hour", INT64_MAX / 3600000 + 1, NULL, NULL, "size"},
                {"day", 1, "Europe/Nowhere", NULL, "timezone"},
                {"day", 1, "EDT", NULL, "timezone"},
                {"week", 1, NULL, "moonday", "startOfWeek"}};
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mrs_windows *w = NULL;
        assert_int_equal(make(&b, rows[i].unit, rows[i].size, rows[i].zone, rows[i].week, &w), MRS_FAIL);
        assert_null(w);
        assert_int_equal(b.err.code, MRS_E_PLAN);
        assert_string_equal(b.err.where, rows[i].where);
        assert_true(b.err.msg[0] != 0);
    }
    bench_close(&b);
}

static void
without_memory(void **state)
{
    (void)state;
    for (uint64_t at = 1;; at++) {
        struct mrs_mem *mem = mrs_mem_new(at);
        struct mrs_arena a;
        struct mrs_windows *w = NULL;
        struct mrs_err e;
        mrs_arena_init(&a, mem);
        mrs_err_clear(&e);
        struct mrs_windows_spec spec = {text(&a, "week"), 1, text(&a, "Europe/Berlin"), text(&a, "monday")};
        bool texts = spec.unit.type && spec.timezone.type && spec.start_of_week.type;
        enum mrs_status s = texts ? mrs_windows_new(mem, &spec, &w, &e) : MRS_DEAD;
        assert_true(s == MRS_OK || (s == MRS_DEAD && !w));
        mrs_windows_free(w);
        mrs_arena_clear(&a);
        assert_int_equal(mrs_mem_close(mem), 0);
        if (s == MRS_OK) {
            break;
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_written_down), cmocka_unit_test(windows_meet), cmocka_unit_test(ends_of_time),
        cmocka_unit_test(wrong_ones),      cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
