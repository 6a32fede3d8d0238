/* SPDX-License-Identifier: Apache-2.0 */
/* t_zone.c - time zones: every offset against the system's own localtime, the edges of summer time
 * in both directions, rules for far years, and names that must not be looked for. */
#include "bench.h"

#include <stdlib.h>
#include <time.h>

static const char *const ZONES[] = {
    "America/New_York",    "America/Los_Angeles", "Europe/Berlin",
    "Europe/Dublin",       "Europe/London",       "Australia/Sydney",
    "Australia/Lord_Howe", "Asia/Kolkata",        "Asia/Kathmandu",
    "Asia/Tokyo",          "Pacific/Apia",        "Pacific/Chatham",
    "America/St_Johns",    "Africa/Casablanca",   "America/Sao_Paulo",
    "Antarctica/Troll",    "Asia/Tehran",         "EST",
    "America/Nuuk",        "Asia/Gaza",
};
#define N_ZONES (sizeof ZONES / sizeof *ZONES)

/* The text of a moment by our clock. */
static const char *
ours(struct bench *b, int64_t seconds)
{
    struct mrs_val v;
    uint32_t n;
    uint8_t room[16];
    struct mrs_buf buf;
    struct mrs_build build;
    struct mrs_view doc;
    mrs_buf_init(&buf, b->mem, 4096);
    mrs_build_init(&build, &buf);
    mrs_build_val(&build, "d", 1, mrs_make_i64(room, seconds * 1000, MRS_DATE));
    assert_int_equal(mrs_build_finish(&build, &doc, NULL), MRS_OK);
    b->ev.root = doc;
    if (mrs_expr_eval(b->x, &b->ev, &v) != MRS_OK) {
        fail_msg("%s", b->err.msg);
    }
    mrs_buf_clear(&buf);
    assert_int_equal(v.type, MRS_STRING);
    return mrs_val_text(v, &n);
}

static void
every_offset_is_the_system_s(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t z = 0; z < N_ZONES; z++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{'$dateToString': {'date': '$d', 'timezone': '%s', 'format': '%%Y-%%m-%%d "
                 "%%H:%%M:%%S %%z'}}",
                 ZONES[z]);
        assert_int_equal(bench_compile(&b, text), MRS_OK);
        setenv("TZ", ZONES[z], 1);
        tzset();
        /* some 2200 moments, 1890 to 2600, at odd distances so that all hours and seasons are met
         */
        for (int64_t t = -2524521600; t < 19880899200; t += 10234567) {
            char want[64];
            struct tm tm;
            time_t when = (time_t)t;
            assert_non_null(localtime_r(&when, &tm));
            strftime(want, sizeof want, "%Y-%m-%d %H:%M:%S %z", &tm);
            assert_string_equal(ours(&b, t), want);
        }
        mrs_arena_reset(&b.arena);
    }
    bench_close(&b);
}

static void
edges_of_summer_time_are_exact(void **state)
{
    static const struct {
        const char *zone;
        int64_t change; /* the first second of the new offset */
        const char *before, *after;
    } CASES[] = {
        {"America/New_York", 1710054000, "01:59:59 -0500", "03:00:00 -0400"},
        {"America/New_York", 1730613600, "01:59:59 -0400", "01:00:00 -0500"},
        {"Europe/Berlin", 1711846800, "01:59:59 +0100", "03:00:00 +0200"},
        {"Europe/Dublin", 1729990800, "01:59:59 +0100", "01:00:00 +0000"},
        {"Australia/Lord_Howe", 1712415600, "01:59:59 +1100", "01:30:00 +1030"},
        /* by the rule behind the table: second Sunday of March 2400, last Sunday of October 2400 */
        {"America/New_York", 13575625200, "01:59:59 -0500", "03:00:00 -0400"},
        {"Europe/Berlin", 13595562000, "02:59:59 +0200", "02:00:00 +0100"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{'$dateToString': {'date': '$d', 'timezone': '%s', 'format': '%%H:%%M:%%S %%z'}}",
                 CASES[i].zone);
        assert_int_equal(bench_compile(&b, text), MRS_OK);
        assert_string_equal(ours(&b, CASES[i].change - 1), CASES[i].before);
        assert_string_equal(ours(&b, CASES[i].change), CASES[i].after);
    }
    bench_close(&b);
}

static void
local_times_become_moments(void **state)
{
    static const char *const CASES[][2] = {
        /* skipped by the clock: an hour later */
        {"'year': 2024, 'month': 3, 'day': 10, 'hour': 2, 'minute': 30, 'timezone': "
         "'America/New_York'",
         "2024-03-10T07:30:00Z"},
        {"'year': 2024, 'month': 3, 'day': 31, 'hour': 2, 'minute': 30, 'timezone': "
         "'Europe/Berlin'",
         "2024-03-31T01:30:00Z"},
        /* around it */
        {"'year': 2024, 'month': 3, 'day': 10, 'hour': 1, 'minute': 59, 'timezone': "
         "'America/New_York'",
         "2024-03-10T06:59:00Z"},
        {"'year': 2024, 'month': 3, 'day': 10, 'hour': 3, 'timezone': 'America/New_York'",
         "2024-03-10T07:00:00Z"},
        /* shown twice: by winter time */
        {"'year': 2024, 'month': 11, 'day': 3, 'hour': 1, 'minute': 30, 'timezone': "
         "'America/New_York'",
         "2024-11-03T06:30:00Z"},
        {"'year': 2024, 'month': 10, 'day': 27, 'hour': 2, 'minute': 30, 'timezone': "
         "'Europe/Berlin'",
         "2024-10-27T01:30:00Z"},
        {"'year': 2024, 'month': 11, 'day': 3, 'hour': 0, 'minute': 59, 'timezone': "
         "'America/New_York'",
         "2024-11-03T04:59:00Z"},
        {"'year': 2024, 'month': 11, 'day': 3, 'hour': 2, 'timezone': 'America/New_York'",
         "2024-11-03T07:00:00Z"},
        /* a day that Samoa left out: a day later */
        {"'year': 2011, 'month': 12, 'day': 31, 'timezone': 'Pacific/Apia'",
         "2011-12-30T10:00:00Z"},
        {"'year': 2500, 'month': 7, 'day': 1, 'timezone': 'Europe/Berlin'", "2500-06-30T22:00:00Z"},
        {"'year': 2500, 'month': 1, 'day': 1, 'timezone': 'Australia/Sydney'",
         "2499-12-31T13:00:00Z"},
        {"'year': 2024, 'month': 1, 'day': 1, 'timezone': '-99:99'", "2024-01-05T04:39:00Z"},
        {"'year': 2024, 'month': 1, 'day': 1, 'timezone': '+0530'", "2023-12-31T18:30:00Z"},
        {"'isoWeekYear': 2020, 'isoWeek': 53, 'isoDayOfWeek': 7, 'timezone': 'UTC'",
         "2021-01-03T00:00:00Z"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[300], want[80];
        snprintf(text, sizeof text, "{'$dateFromParts': {%s}}", CASES[i][0]);
        snprintf(want, sizeof want, "{'$date': '%s'}", CASES[i][1]);
        bench_is(&b, text, "{}", want);
    }
    bench_close(&b);
}

/* Parts of a moment put together again show the same clock, in every zone. */
static void
parts_go_there_and_back(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t z = 0; z < N_ZONES; z++) {
        char text[600];
        snprintf(
            text, sizeof text,
            "{'$dateToString': {'timezone': '%s', 'format': '%%Y-%%m-%%d %%H:%%M:%%S', 'date':"
            " {'$let': {'vars': {'p': {'$dateToParts': {'date': '$d', 'timezone': '%s'}}}, 'in':"
            " {'$dateFromParts': {'year': '$$p.year', 'month': '$$p.month', 'day': '$$p.day', "
            "'hour': '$$p.hour',"
            " 'minute': '$$p.minute', 'second': '$$p.second', 'timezone': '%s'}}}}}}",
            ZONES[z], ZONES[z], ZONES[z]);
        struct mrs_expr *whole, *plain;
        assert_int_equal(bench_compile(&b, text), MRS_OK);
        whole = b.x;
        b.x = NULL;
        snprintf(text, sizeof text,
                 "{'$dateToString': {'timezone': '%s', 'format': '%%Y-%%m-%%d %%H:%%M:%%S', "
                 "'date': '$d'}}",
                 ZONES[z]);
        assert_int_equal(bench_compile(&b, text), MRS_OK);
        plain = b.x;
        for (int64_t t = 946684800; t < 7258118400; t += 3456789) {
            b.x = whole;
            const char *there = ours(&b, t);
            b.x = plain;
            assert_string_equal(there, ours(&b, t));
        }
        b.x = plain;
        mrs_expr_free(whole);
        mrs_arena_reset(&b.arena);
    }
    bench_close(&b);
}

static void
steps_in_the_calendar_know_the_zone(void **state)
{
    static const char *const CASES[][2] = {
        {"{'$dateAdd': {'startDate': {'$date': '2024-03-09T17:30:00Z'}, 'unit': 'day', 'amount': 1,"
         " 'timezone': 'America/New_York'}}",
         "2024-03-10T16:30:00Z"},
        {"{'$dateAdd': {'startDate': {'$date': '2024-03-09T17:30:00Z'}, 'unit': 'hour', 'amount': "
         "24,"
         " 'timezone': 'America/New_York'}}",
         "2024-03-10T17:30:00Z"},
        {"{'$dateSubtract': {'startDate': {'$date': '2024-03-31T00:00:00Z'}, 'unit': 'month', "
         "'amount': 1}}",
         "2024-02-29T00:00:00Z"},
        {"{'$dateAdd': {'startDate': {'$date': '2023-11-30T00:00:00.123Z'}, 'unit': 'quarter', "
         "'amount': 1}}",
         "2024-02-29T00:00:00.123Z"},
        /* semantics of the server: hours count from 2000-01-01 of the zone, days from its midnight
         */
        {"{'$dateTrunc': {'date': {'$date': '2021-07-01T12:00:00Z'}, 'unit': 'hour', 'binSize': 24,"
         " 'timezone': 'America/New_York'}}",
         "2021-07-01T05:00:00Z"},
        {"{'$dateTrunc': {'date': {'$date': '2021-07-01T12:00:00Z'}, 'unit': 'day', 'timezone': "
         "'America/New_York'}}",
         "2021-07-01T04:00:00Z"},
        {"{'$dateTrunc': {'date': {'$date': '2020-05-18T14:10:30Z'}, 'unit': 'week', 'binSize': 2,"
         " 'timezone': 'America/Los_Angeles', 'startOfWeek': 'Monday'}}",
         "2020-05-11T07:00:00Z"},
        {"{'$dateTrunc': {'date': {'$date': '1999-12-31T23:59:59.999Z'}, 'unit': 'month', "
         "'binSize': 6}}",
         "1999-07-01T00:00:00Z"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char want[80];
        snprintf(want, sizeof want, "{'$date': '%s'}", CASES[i][1]);
        bench_is(&b, CASES[i][0], "{}", want);
    }
    bench_is(&b,
             "{'$dateDiff': {'startDate': {'$date': '2024-03-09T23:59:59Z'}, 'endDate': {'$date': "
             "'2024-03-10T04:00:00Z'},"
             " 'unit': 'day', 'timezone': 'America/New_York'}}",
             "{}", "{'$numberLong': '0'}");
    bench_is(&b,
             "{'$dateDiff': {'startDate': {'$date': '2024-01-06T00:00:00Z'}, 'endDate': {'$date': "
             "'2024-01-08T00:00:00Z'},"
             " 'unit': 'week', 'startOfWeek': 'mon'}}",
             "{}", "{'$numberLong': '1'}");
    bench_close(&b);
}

static void
names_that_are_no_zones_are_refused(void **state)
{
    static const char *const NAMES[] = {
        "../../../etc/passwd",
        "/etc/localtime",
        "America/../UTC",
        "posix/UTC",
        "right/UTC",
        "posixrules",
        "localtime",
        "america/new_york",
        "",
        "Z",
        "EDT",
        "+5",
        "+05:3",
        "+05-30",
        "America",
        "America/",
        "tzdata.zi",
        "zone.tab",
        "UTC ",
        "Europe//Berlin",
        "5:30",
        "+053",
        "+ABCD",
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        char text[200];
        struct mrs_val v;
        snprintf(text, sizeof text, "{'$year': {'date': '$d', 'timezone': '%s'}}", NAMES[i]);
        bench_refused(&b, text, "time zone");
        snprintf(text, sizeof text, "{'d': {'$date': '2024-01-01T00:00:00Z'}, 'z': '%s'}",
                 NAMES[i]);
        bench_doc(&b, text);
        assert_int_equal(bench_compile(&b, "{'$year': {'date': '$d', 'timezone': '$z'}}"), MRS_OK);
        assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_FAIL);
        assert_int_equal(b.err.code, MRS_E_EXPR);
        assert_non_null(strstr(b.err.msg, "time zone"));
    }
    bench_close(&b);
}

/* A zone from the document is read once and kept with the expression. */
static void
zones_of_documents_are_kept(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    const char *expression =
        "{'$hour': {'date': {'$date': '2024-01-01T00:00:00Z'}, 'timezone': '$z'}}";
    bench_is(&b, expression, "{'z': 'Asia/Tokyo'}", "9");
    struct mrs_val v;
    uint64_t before = mrs_mem_count(b.mem);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(mrs_expr_eval(b.x, &b.ev, &v), MRS_OK);
        mrs_arena_reset(&b.arena);
    }
    assert_int_equal(mrs_mem_count(b.mem), before);
    bench_close(&b);
}

static void
every_allocation_may_fail(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct bench b;
        struct mrs_val v;
        bench_open(&b, n);
        bench_doc(&b, "{'d': {'$date': '2024-07-01T00:00:00Z'}, 'z': 'Europe/Berlin'}");
        enum mrs_status s =
            bench_compile(&b, "[{'$hour': {'date': '$d', 'timezone': 'America/New_York'}},"
                              " {'$dateToString': {'date': '$d', 'timezone': '$z'}},"
                              " {'$dateToParts': {'date': '$d', 'timezone': '$z'}}]");
        s = s == MRS_OK ? mrs_expr_eval(b.x, &b.ev, &v) : s;
        assert_true(s == MRS_OK || (s == MRS_DEAD && b.err.code == MRS_E_MEMORY));
        done = mrs_mem_count(b.mem) < n;
        assert_true(!done || s == MRS_OK);
        bench_close(&b);
    }
}

/* The linker sends the one look for the folder of zones here. */
static bool no_zones;
int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int
__wrap_access(const char *path, int mode)
{
    return no_zones && strncmp(path, "/usr/share/zoneinfo", 19) == 0 ? -1 : __real_access(path, mode);
}

/* What the system lacks is said when the plan is read, with the package that has it. */
static void
missing_zones_are_named_before_any_document(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    bench_refused(&b, "{'$year': {'date': '$d', 'timezone': 'Atlantis/Capital'}}", "tzdata-legacy");
    no_zones = true;
    bench_refused(&b, "{'$year': {'date': '$d', 'timezone': '$z'}}", "install the package tzdata");
    bench_refused(&b, "{'$year': {'date': '$d', 'timezone': 'Atlantis/Capital'}}", "install the package tzdata");
    assert_int_equal(bench_compile(&b, "{'$year': {'date': '$d', 'timezone': '+02:00'}}"), MRS_OK);
    no_zones = false;
    bench_close(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_offset_is_the_system_s),
        cmocka_unit_test(edges_of_summer_time_are_exact),
        cmocka_unit_test(local_times_become_moments),
        cmocka_unit_test(parts_go_there_and_back),
        cmocka_unit_test(steps_in_the_calendar_know_the_zone),
        cmocka_unit_test(names_that_are_no_zones_are_refused),
        cmocka_unit_test(zones_of_documents_are_kept),
        cmocka_unit_test(missing_zones_are_named_before_any_document),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("zone", tests, NULL, NULL);
}
