/* SPDX-License-Identifier: Apache-2.0 */
/* t_pressure.c - what servers say of themselves, read: lag of hello and replSetGetStatus, flow control, tickets and
 * load of serverStatus as several versions have them; and the figures as OpenMetrics text, to a file.
 *
 * Replies are written here as servers give them, whole and with parts missing or of another kind. No server is
 * needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/govern/metrics.h"
#include "live/govern/pressure.h"

#include "mongoreshape/ejson.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mrs_mem *mem;
static struct mrs_buf docs;

static int
fresh(void **state)
{
    (void)state;
    mem = mrs_mem_new(0);
    mrs_buf_init(&docs, mem, 1 << 20);
    return 0;
}

static int
gone(void **state)
{
    (void)state;
    mrs_buf_clear(&docs);
    assert_int_equal(mrs_mem_close(mem), 0);
    return 0;
}

/* Appended to docs. */
static void
add(const char *text)
{
    size_t used;
    assert_int_equal(mrs_ejson_read(text, strlen(text), MRS_EJSON_STRICT, &docs, &used, NULL), MRS_OK);
}

static struct mrs_view
only(const char *text)
{
    mrs_buf_reset(&docs);
    add(text);
    return (struct mrs_view){docs.p, (uint32_t)docs.n};
}

/* ---- lag ---- */
#define AT(s) "{\"$date\": {\"$numberLong\": \"" #s "000\"}}"
#define PRIMARY(hosts, wrote, majority) \
    "{\"isWritablePrimary\": true, \"me\": \"a:1\", \"hosts\": [" hosts "], \"lastWrite\": {\"lastWriteDate\": " wrote \
    ", \"majorityWriteDate\": " majority "}}"
#define MEMBER(me, wrote) "{\"secondary\": true, \"me\": \"" me "\", \"lastWrite\": {\"lastWriteDate\": " wrote "}}"
#define HOSTS "\"a:1\", \"b:1\", \"c:1\""

static void
lag_of_hellos(void **state)
{
    static const struct {
        const char *docs[4];
        double lag; /* -1: not known */
        uint32_t missing;
    } rows[] = {
        {{NULL}, -1, 0},
        {{MEMBER("b:1", AT(100))}, -1, 0},
        {{"{\"isWritablePrimary\": true}"}, -1, 0},
        {{"{\"ismaster\": true, \"lastWrite\": {\"lastWriteDate\": 5}}"}, -1, 0},
        {{"{\"ismaster\": true, \"lastWrite\": {\"lastWriteDate\": " AT(100) "}}"}, 0, 0},
        {{PRIMARY(HOSTS, AT(100), AT(97))}, 3, 2},
        {{PRIMARY(HOSTS, AT(100), AT(100)), MEMBER("b:1", AT(93)), MEMBER("c:1", AT(99))}, 7, 0},
        {{MEMBER("b:1", AT(93)), PRIMARY(HOSTS, AT(100), AT(100))}, 7, 1},
        {{PRIMARY(HOSTS, AT(100), AT(100)), MEMBER("delayed:1", AT(10)), MEMBER("c:1", AT(99))}, 1, 1},
        {{PRIMARY(HOSTS, AT(100), AT(100)), MEMBER("b:1", AT(120)), MEMBER("c:1", "\"soon\"")}, 0, 1},
        {{PRIMARY("5, {}", AT(100), AT(100))}, 0, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double lag = -1;
        uint32_t missing = 0;
        mrs_buf_reset(&docs);
        for (int k = 0; k < 4 && rows[i].docs[k]; k++) {
            add(rows[i].docs[k]);
        }
        bool known = live_lag_of_hellos(&docs, &lag, &missing);
        if (known != (rows[i].lag >= 0) || (known && (lag != rows[i].lag || missing != rows[i].missing))) {
            fail_msg("hellos %zu: %d, lag %g, %u missing", i, known, lag, missing);
        }
    }
}

static void
lag_of_status(void **state)
{
#define OF(name, state, health, at) \
    "{\"name\": \"" name "\", \"state\": " #state ", \"health\": " #health ", \"optimeDate\": " at "}"
    static const struct {
        const char *members;
        double lag; /* -1: not known */
    } rows[] = {
        {OF("a:1", 1, 1.0, AT(100)) "," OF("b:1", 2, 1.0, AT(94)) "," OF("c:1", 2, 1.0, AT(99)), 6},
        {OF("b:1", 2, 1.0, AT(94)) "," OF("a:1", 1, 1.0, AT(100)), 6},
        {OF("a:1", 1, 1.0, AT(100)) "," OF("b:1", 8, 0.0, AT(1)), 0},      /* down */
        {OF("a:1", 1, 1.0, AT(100)) "," OF("b:1", 5, 1.0, AT(1)), 0},      /* it is being filled */
        {OF("a:1", 1, 1.0, AT(100)) "," OF("hidden:1", 2, 1.0, AT(1)), 0}, /* no host */
        {OF("b:1", 2, 1.0, AT(94)), -1},
        {"5, \"x\"", -1},
    };
    struct mrs_buf hellos;
    char text[1024];
    (void)state;
    mrs_buf_init(&hellos, mem, 1 << 20);
    struct mrs_view hello = only(PRIMARY(HOSTS, AT(100), AT(100)));
    mrs_buf_put(&hellos, hello.p, hello.n);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double lag = -1;
        snprintf(text, sizeof text, "{\"members\": [%s]}", rows[i].members);
        bool known = live_lag_of_status(only(text), &hellos, &lag);
        if (known != (rows[i].lag >= 0) || (known && lag != rows[i].lag)) {
            fail_msg("members %zu: %d, lag %g", i, known, lag);
        }
    }
    mrs_buf_reset(&hellos);
    double lag;
    assert_false(live_lag_of_status(only("{\"members\": []}"), &hellos, &lag));
    mrs_buf_clear(&hellos);
}

/* ---- serverStatus ---- */
static void
status(void **state)
{
    static const struct {
        const char *text;
        double flow, tickets; /* -1: not known */
    } rows[] = {
        {"{}", -1, -1},
        {"{\"flowControl\": {\"enabled\": true, \"isLagged\": false}}", 0, -1},
        {"{\"flowControl\": {\"enabled\": true, \"isLagged\": true}}", 1, -1},
        {"{\"flowControl\": {\"enabled\": false, \"isLagged\": true}}", -1, -1},
        /* 4.4 to 7.0 */
        {"{\"wiredTiger\": {\"concurrentTransactions\": {\"write\": {\"out\": 96, \"available\": 32, "
         "\"totalTickets\": 128}, \"read\": {\"out\": 1, \"available\": 127}}}, "
         "\"globalLock\": {\"currentQueue\": {\"total\": 4, \"readers\": 0, \"writers\": 4}}}", -1, 0.75},
        {"{\"wiredTiger\": {\"concurrentTransactions\": {\"write\": {\"out\": 128, \"available\": 0}}}, "
         "\"globalLock\": {\"currentQueue\": {\"readers\": 9, \"writers\": 0}}}", -1, 0},
        /* from 8.0 */
        {"{\"queues\": {\"execution\": {\"write\": {\"out\": 1, \"available\": 9}, \"read\": {\"out\": 10, "
         "\"available\": 0}}}, \"globalLock\": {\"currentQueue\": {\"readers\": {\"$numberLong\": \"2\"}}}}", -1, 1},
        {"{\"queues\": {\"execution\": {\"write\": {\"out\": -1, \"available\": 1}}}}", -1, -1},
        {"{\"queues\": {\"execution\": {\"write\": {\"out\": 0, \"available\": 0}, \"read\": 5}}}", -1, -1},
        {"{\"queues\": {\"execution\": {\"write\": {\"out\": {\"$numberDouble\": \"NaN\"}, "
         "\"available\": 5}}}}", -1, -1},
    };
    const struct live_watched none = {.lag_ms = 0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct live_readings r = {.closed = false};
        const struct live_reading *flow = &r.of[LIVE_SIGNAL_FLOW], *tickets = &r.of[LIVE_SIGNAL_TICKETS];
        live_signals_of_status(only(rows[i].text), &none, &r);
        assert_false(r.of[LIVE_SIGNAL_LOAD].known);
        if (flow->known != (rows[i].flow >= 0) || (flow->known && flow->value != rows[i].flow) ||
            tickets->known != (rows[i].tickets >= 0) || (tickets->known && tickets->value != rows[i].tickets)) {
            fail_msg("status %zu: flow %d %g, tickets %d %g", i, flow->known, flow->value, tickets->known,
                     tickets->value);
        }
    }
}

static void
load(void **state)
{
    struct live_watched w = {.lag_ms = 0};
    struct live_readings r = {.closed = false};
    const struct live_reading *l = &r.of[LIVE_SIGNAL_LOAD];
    const struct live_load *reached;
    double value;
    (void)state;
    assert_null(live_loads_read("connections.active=200,a.b c=2,x=8", &w.load));
    struct mrs_view s = only("{\"connections\": {\"active\": 100}, \"a\": {\"b c\": {\"$numberLong\": \"1\"}}, "
                             "\"x\": 6.5}");
    live_signals_of_status(s, &w, &r);
    assert_true(l->known && l->value == 6.5 && l->limit == 8);
    assert_string_equal(r.load, "x");
    assert_null(live_load_missing(s, &w.load));
    assert_null(live_load_reached(s, &w.load, &value));
    s = only("{\"connections\": {\"active\": 200}, \"x\": \"6\", \"a\": []}");
    reached = live_load_reached(s, &w.load, &value);
    assert_non_null(reached);
    assert_string_equal(reached->path, "connections.active");
    assert_true(value == 200);
    assert_string_equal(live_load_missing(s, &w.load)->path, "a.b c");
    s = only("{\"x\": {\"$numberDouble\": \"Infinity\"}}");
    assert_null(live_load_reached(s, &w.load, &value));
}

/* ---- metrics ---- */
static void
figures(struct live_figures *f, struct live_governor *g, struct live_progress *p)
{
    live_governor_init(g);
    const struct live_readings seen = {.of[LIVE_SIGNAL_LAG] = {true, 6, 5}};
    live_governor_step(g, &seen);
    *p = (struct live_progress){.phase = "expand 1 set", .ns = "a.\"b\\\n", .done = 7, .estimated = 9, .speed = 1};
    *f = (struct live_figures){.run = "0123", .command = "apply", .phase = "expand", .limiting = "lag", .progress = p,
                               .governor = g, .written_docs = 12345678901, .working_ms = 1500, .waiting_ms = -1};
}

static bool
has(const struct mrs_buf *text, const char *line)
{
    return memmem(text->p, text->n, line, strlen(line)) != NULL;
}

static void
metrics_text(void **state)
{
    static const char *const lines[] = {
        ("mongoreshape_run_info{run=\"0123\",command=\"apply\",phase=\"expand\",doing=\"expand 1 set\","
         "ns=\"a.\\\"b\\\\\\n\",version="),
        "\nmongoreshape_pass_documents 7\n", "\nmongoreshape_written_documents_total 12345678901\n",
        "\nmongoreshape_working_seconds_total 1.500\n", "\nmongoreshape_waiting_seconds_total 0.000\n",
        "\nmongoreshape_speed_ratio 0.5\n", "\nmongoreshape_limiting{reason=\"lag\"} 1\n",
        "\nmongoreshape_signal_value{signal=\"lag\"} 6\n", "\nmongoreshape_signal_limit{signal=\"lag\"} 5\n",
        "\nmongoreshape_over 0\n", "\n# EOF\n"};
    struct live_figures f;
    struct live_governor g;
    struct live_progress p;
    (void)state;
    figures(&f, &g, &p);
    live_metrics_text(&f, &docs);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!has(&docs, lines[i])) {
            fail_msg("no %s in %.*s", lines[i], (int)docs.n, (const char *)docs.p);
        }
    }
    assert_false(has(&docs, "exit_status"));
    assert_false(has(&docs, "{signal=\"tickets\"}"));
    f.over = true;
    f.status = 6;
    mrs_buf_reset(&docs);
    live_metrics_text(&f, &docs);
    assert_true(has(&docs, "\nmongoreshape_exit_status 6\n"));
    assert_true(has(&docs, "\nmongoreshape_limiting{reason=\"nothing\"} 1\n"));
}

static void
metrics_file(void **state)
{
    char dir[] = "/tmp/pressureXXXXXX", file[64], more[64];
    struct live_figures f;
    struct live_governor g;
    struct live_progress p;
    struct live_metrics *m;
    struct mrs_err e;
    struct stat st;
    (void)state;
    mrs_err_clear(&e);
    assert_non_null(mkdtemp(dir));
    snprintf(file, sizeof file, "%s/f", dir);
    snprintf(more, sizeof more, "%s/folder", dir);
    figures(&f, &g, &p);
    assert_int_equal(live_metrics_open(mem, file, &m, &e), MRS_OK);
    assert_null(live_metrics_url(m));
    assert_int_equal(live_metrics_put(m, &f, &e), MRS_OK);
    assert_int_equal(live_metrics_put(m, &f, &e), MRS_OK);
    live_metrics_close(m);
    assert_true(stat(file, &st) == 0 && st.st_size > 1000 && st.st_nlink == 1);
    assert_int_equal(mkdir(more, 0700), 0); /* a folder is not replaced */
    assert_int_equal(live_metrics_open(mem, more, &m, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_EXISTS);
    assert_int_equal(live_metrics_open(mem, file, &m, &e), MRS_OK); /* metrics of an earlier run go */
    live_metrics_close(m);
    FILE *text = fopen(file, "w");
    assert_true(text && fputs("not of ours\n", text) >= 0 && fclose(text) == 0);
    assert_int_equal(live_metrics_open(mem, file, &m, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_EXISTS);
    assert_true(unlink(file) == 0 && rmdir(more) == 0);
    assert_int_equal(rmdir(dir), 0); /* nothing else was left */
}

static void
metrics_words(void **state)
{
    static const char *const right[] = {"f", "a/b:9", "127.0.0.1:0", "localhost:9216", "[::1]:65535", "metrics:"},
                            *const wrong[] = {"", "0.0.0.0:9", "127.0.0.1:65536", ":9", "10.0.0.1:9", "[::]:9", "::1:9",
                                              "host:9", "127.0.0.1:99999999999999999999", "127.1.2.3:9",
                                              "127.0.0.1.example:9"};
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_null(live_metrics_wrong(right[i]));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_non_null(live_metrics_wrong(wrong[i]));
    }
}

static void
no_memory(void **state)
{
    struct live_figures f;
    struct live_governor g;
    struct live_progress p;
    struct mrs_err e;
    enum mrs_status s = MRS_DEAD;
    (void)state;
    figures(&f, &g, &p);
    for (uint64_t n = 1; s != MRS_OK && n < 100; n++) {
        struct mrs_mem *scarce = mrs_mem_new(n);
        struct live_metrics *m;
        mrs_err_clear(&e);
        s = live_metrics_open(scarce, "127.0.0.1:0", &m, &e);
        if (s == MRS_OK) {
            s = live_metrics_put(m, &f, &e);
            live_metrics_close(m);
        }
        assert_true(s == MRS_OK || e.code == MRS_E_MEMORY);
        assert_int_equal(mrs_mem_close(scarce), 0);
    }
    assert_int_equal(s, MRS_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, gone)
        TEST(lag_of_hellos), TEST(lag_of_status), TEST(status),        TEST(load),
        TEST(metrics_text),  TEST(metrics_file),  TEST(metrics_words), TEST(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
