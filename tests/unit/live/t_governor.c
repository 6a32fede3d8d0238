/* SPDX-License-Identifier: Apache-2.0 */
/* t_governor.c - the law by which a run goes faster and slower, and the texts of its knobs.
 *
 * A table of situations, each with the verdict and the words for it; then a simulated replica set: a secondary that
 * applies less than the primary can write, with other writers who come and go. No server is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/govern/governor.h"
#include "live/govern/knobs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the law ---- */
static const struct {
    struct live_readings seen;
    double from, speed; /* before and after */
    bool stops;
    const char *limiting, *why;
} situations[] = {
#define LAG(v) .of[LIVE_SIGNAL_LAG] = {true, v, 5}
#define LATENCY(v) .of[LIVE_SIGNAL_LATENCY] = {true, v, 500}
    {{.closed = false}, 1, 1, false, NULL, ""},
    {{.closed = false}, 0.5, 0.625, false, NULL, ""}, /* nothing is known: nothing speaks against it */
    {{LAG(0)}, 1, 1, false, NULL, ""},
    {{LAG(1.9)}, 0.5, 0.625, false, NULL, ""},
    {{LAG(2)}, 0.5, 0.5, false, NULL, ""},
    {{LAG(3.4)}, 0.5, 0.5, false, NULL, ""},
    {{LAG(3.5)}, 1, 0.85, false, "lag", "3.5 s of 5 s, speed 85 %"},
    {{LAG(4.9)}, 1, 0.85, false, "lag", "4.9 s of 5 s, speed 85 %"},
    {{LAG(5)}, 1, 0.5, false, "lag", "5 s of 5 s, speed 50 %"},
    {{LAG(9.9)}, 1, 0.5, false, "lag", "9.9 s of 5 s, speed 50 %"},
    {{LAG(10)}, 1, 0.5, true, "lag", "10 s of 5 s, stopped"},
    {{LAG(3600)}, LIVE_SPEED_MIN, LIVE_SPEED_MIN, true, "lag", "3600 s of 5 s, stopped"},
    {{LAG(1), LATENCY(450)}, 1, 0.85, false, "latency", "450 ms of 500 ms, speed 85 %"},
    {{LAG(6), LATENCY(450)}, 1, 0.5, false, "lag", "6 s of 5 s, speed 50 %"},
    {{.of[LIVE_SIGNAL_FLOW] = {true, 0, 1}}, 1, 1, false, NULL, ""},
    {{.of[LIVE_SIGNAL_FLOW] = {true, 1, 1}}, 1, 0.5, false, "flow control", "speed 50 %"},
    {{.of[LIVE_SIGNAL_TICKETS] = {true, 1, 0.9}}, 0.5, 0.25, false, "tickets", "100 % of 90 %, speed 25 %"},
    {{.of[LIVE_SIGNAL_LOAD] = {true, 120, 100}, .load = "connections.active"},
     1, 0.5, false, "load", "connections.active 120 of 100, speed 50 %"},
    {{LAG(0), .closed = true}, 0.5, 0.5, true, "hours", "outside of them"},
    {{LAG(0), .silent = "lag"}, 0.5, 0.5, true, "no signal", "lag is not known any more"},
};

static void
law(void **state)
{
    char why[160];
    (void)state;
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        struct live_governor g;
        live_governor_init(&g);
        g.speed = situations[i].from;
        live_governor_step(&g, &situations[i].seen);
        if (fabs(g.speed - situations[i].speed) > 1e-9 || live_governor_stops(&g) != situations[i].stops) {
            fail_msg("situation %zu: speed %g, %s", i, g.speed, live_governor_stops(&g) ? "stops" : "goes on");
        }
        const char *limiting = live_governor_limiting(&g);
        assert_string_equal(limiting ? limiting : "", situations[i].limiting ? situations[i].limiting : "");
        assert_string_equal(live_governor_why(&g, why), situations[i].why);
    }
}

/* Who made it slower is named until it is as fast as before. */
static void
blamed(void **state)
{
    const struct live_readings slow = {LAG(6)}, well = {LAG(0)};
    struct live_governor g;
    int looks = 0;
    (void)state;
    live_governor_init(&g);
    live_governor_step(&g, &slow);
    live_governor_step(&g, &slow);
    while (g.speed < 1) {
        assert_string_equal(live_governor_limiting(&g), "lag");
        live_governor_step(&g, &well);
        assert_true(++looks < 10);
    }
    assert_null(live_governor_limiting(&g));
    assert_int_equal(looks, 7); /* 0.25 * 1.25^7 */
}

static void
pauses(void **state)
{
    struct live_governor g;
    (void)state;
    live_governor_init(&g);
    assert_int_equal(live_governor_rest(&g, 1000), 0);
    assert_int_equal(live_governor_batch_ms(&g), 500);
    g.speed = 0.5;
    assert_int_equal(live_governor_rest(&g, 1000), 1000);
    assert_int_equal(live_governor_rest(&g, 0), 0);
    assert_int_equal(live_governor_rest(&g, -5), 0);
    assert_int_equal(live_governor_batch_ms(&g), 250);
    g.speed = LIVE_SPEED_MIN;
    assert_int_equal(live_governor_rest(&g, 100), 6300);
    assert_int_equal(live_governor_rest(&g, INT64_MAX), 10000);
    assert_int_equal(live_governor_batch_ms(&g), 50);
}

/* ---- a simulated replica set ---- */
struct replica_set {
    double writes, applies; /* documents a second: by us at full speed, by the secondary at most */
    double backlog, lag;
    double lag_most, used, could;
};

/* One second: other writers take `others` of what the secondary can apply. */
static void
second(struct replica_set *s, struct live_governor *g, double others)
{
    struct live_readings r = {.of[LIVE_SIGNAL_LAG] = {true, floor(s->lag), 5}}; /* servers tell whole seconds */
    live_governor_step(g, &r);
    double ours = live_governor_stops(g) ? 0 : s->writes * g->speed;
    s->backlog += ours + others;
    double applied = s->backlog < s->applies ? s->backlog : s->applies;
    s->backlog -= applied;
    s->lag = s->backlog / s->applies;
    s->lag_most = s->lag > s->lag_most ? s->lag : s->lag_most;
    s->used += ours;
    double free = s->applies - others;
    s->could += free < s->writes ? free : s->writes;
}

static void
simulated(void **state)
{
    static const struct {
        double writes, applies, others, busy; /* busy: others every other minute */
    } sets[] = {{10000, 20000, 0, 0},      {10000, 5000, 0, 0},     {10000, 9000, 1000, 1000}, {10000, 2000, 500, 500},
                {10000, 6000, 1000, 4000}, {40000, 6000, 500, 3000}, {10000, 1000, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct replica_set s = {.writes = sets[i].writes, .applies = sets[i].applies};
        struct live_governor g;
        live_governor_init(&g);
        for (int t = 0; t < 1800; t++) {
            if (t == 30) { /* it has found its speed */
                s.lag_most = s.used = s.could = 0;
            }
            second(&s, &g, t / 60 % 2 ? sets[i].busy : sets[i].others);
        }
        printf("set %zu: %.0f %% of what is free, lag %.1f s at most\n", i, 100 * s.used / s.could, s.lag_most);
        assert_true(s.used >= 0.95 * s.could);
        assert_true(s.lag_most <= 7);
    }
}

/* ---- texts ---- */
static void
lags(void **state)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: refused */
    } rows[] = {{"5", 5000},   {"5s", 5000}, {"1500ms", 1500},   {"0", 0},       {"3600", 3600000}, {"3601", -1},
                {"", -1},      {"s", -1},    {"5 s", -1},        {"-1", -1},     {"1.5", -1},       {"5m", -1},
                {"5msx", -1},  {"ms", -1},   {"3600001ms", -1},  {"99999999999999999999", -1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t ms = -1;
        const char *right = live_time_read(rows[i].text, &ms);
        assert_int_equal(right == NULL, rows[i].ms >= 0);
        assert_int_equal(ms, rows[i].ms);
    }
}

static void
loads(void **state)
{
    static const char *const wrong[] = {"a", "=5", "a=", "a=0", "a=-1", "a=1,", ",a=1", "a=1,,b=2", "a=x", "a=1x",
                                        "a=0.0", "a=1.", "a=1e3", "a=1,b", "a=9999999999999",
                                        "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1"};
    struct live_loads l;
    char longest[200];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_non_null(live_loads_read(wrong[i], &l));
    }
    snprintf(longest, sizeof longest, "%0*d=1", 96, 0);
    assert_non_null(live_loads_read(longest, &l));
    assert_null(live_loads_read(longest + 1, &l)); /* 95 characters */
    assert_null(live_loads_read("", &l));
    assert_int_equal(l.n, 0);
    assert_null(live_loads_read("connections.active=200,wiredTiger.cache.bytes currently in the cache=0.25", &l));
    assert_int_equal(l.n, 2);
    assert_string_equal(l.of[0].path, "connections.active");
    assert_string_equal(l.of[1].path, "wiredTiger.cache.bytes currently in the cache");
    assert_true(l.of[0].limit == 200 && l.of[1].limit == 0.25);
}

static void
hours(void **state)
{
    static const char *const wrong[] = {"22", "22:00", "22:00-", "-06:00", "22:00-22:00", "25:00-26:00", "24:01-06:00",
                                        "22:60-23:00", "22:0-23:00", "22:00-23:00,", "22:00 - 23:00", "a:00-b:00",
                                        ("1:00-2:00,1:00-2:00,1:00-2:00,1:00-2:00,1:00-2:00,1:00-2:00,1:00-2:00,"
                                         "1:00-2:00,1:00-2:00")};
    static const struct {
        const char *text;
        int minute;
        bool open;
    } rows[] = {{"", 0, true},
                {"22:00-06:00", 22 * 60 - 1, false}, {"22:00-06:00", 22 * 60, true}, {"22:00-06:00", 0, true},
                {"22:00-06:00", 6 * 60 - 1, true},   {"22:00-06:00", 6 * 60, false}, {"0:00-24:00", 1439, true},
                {"12:00-13:00", 720, true},          {"12:00-13:00", 780, false},
                {"1:30-2:00,12:00-13:00", 720, true},
                {"1:30-2:00,12:00-13:00", 100, true}, {"1:30-2:00,12:00-13:00", 121, false}};
    struct live_hours h;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_non_null(live_hours_read(wrong[i], &h));
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_null(live_hours_read(rows[i].text, &h));
        assert_int_equal(live_hours_open(&h, rows[i].minute), rows[i].open);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law),  cmocka_unit_test(blamed), cmocka_unit_test(pauses), cmocka_unit_test(simulated),
        cmocka_unit_test(lags), cmocka_unit_test(loads),  cmocka_unit_test(hours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
