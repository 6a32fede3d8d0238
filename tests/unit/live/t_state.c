/* SPDX-License-Identifier: Apache-2.0 */
/* t_state.c - the state of a run against a real server: opened, resumed, fought over, slept through, turned, removed.
 *
 * Two jobs are two links and two owners. The clock of this client can be set wrong: the program's own clock_gettime
 * comes before the library's. */
#include "live_test.h"

#include "live/server/server.h"
#include "live/state/run_document.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLAN_A "plan: one\nsteps:\n- set: { in: posts, fields: { seen: true } }\n"
#define PLAN_B "plan: two\nsteps:\n- set: { in: posts, fields: { other: 1 } }\n"

static const char *uri;
static int64_t clock_off_s; /* of CLOCK_REALTIME */

int
clock_gettime(clockid_t which, struct timespec *t)
{
    int r = (int)syscall(SYS_clock_gettime, which, t);
    if (which == CLOCK_REALTIME) {
        t->tv_sec += clock_off_s;
    }
    return r;
}

/* ---- jobs ---- */
struct desk {
    struct mrs_mem *mem;
    struct live_job job;
    struct live_server server;
    struct mrs_err e;
    char db[48], state[64];
    const char *text;
    char said[512];
    struct live_progress last;
    int cancel;
};

static void
heard(void *arg, const char *line)
{
    struct desk *d = arg;
    size_t n = strlen(d->said);
    snprintf(d->said + n, sizeof d->said - n, "%s\n", line);
}

static void
seen(void *arg, const struct live_progress *p)
{
    ((struct desk *)arg)->last = *p;
}

static void
sit(struct desk *d, const char *test, const char *plan)
{
    memset(d, 0, sizeof *d);
    mrs_err_clear(&d->e);
    d->mem = mrs_mem_new(0);
    snprintf(d->db, sizeof d->db, "state_%s_%ld", test, (long)getpid());
    snprintf(d->state, sizeof d->state, "%s_st", d->db);
    d->text = plan;
    struct mrs_plan_opts po = {.file = "p.yaml", .default_db = d->db, .now_ms = 1700000000000};
    assert_int_equal(mrs_plan_load(d->mem, plan, strlen(plan), &po, &d->job.plan, &d->e), MRS_OK);
    d->job.mem = d->mem;
    d->job.opts.db = d->db;
    d->job.opts.state_db = d->state;
    d->job.opts.max_refused = 2;
    d->job.print_line = heard;
    d->job.progress = seen;
    d->job.arg = d;
    d->job.cancel = &d->cancel;
    d->job.server = &d->server;
    snprintf(d->server.version, sizeof d->server.version, "7.0.5");
    snprintf(d->server.fcv, sizeof d->server.fcv, "7.0");
    if (live_link_open(d->mem, uri, d->state, &d->job.link, &d->e) != MRS_OK) {
        fail_msg("%s", d->e.msg);
    }
}

static void
rise(struct desk *d)
{
    live_run_close(&d->job);
    live_link_close(d->job.link);
    mrs_plan_free(d->job.plan);
    assert_int_equal(mrs_mem_close(d->mem), 0);
}

static enum mrs_status
open_run(struct desk *d, bool create)
{
    mrs_err_clear(&d->e);
    return live_run_open(&d->job, create, d->text, strlen(d->text), &d->e);
}

static void
must(struct desk *d, enum mrs_status s)
{
    if (s != MRS_OK) {
        fail_msg("status %d: %s", s, d->e.msg);
    }
}

static void
refused_with(struct desk *d, enum mrs_status s, enum mrs_code code, const char *part)
{
    if (s != MRS_FAIL || d->e.code != code || !strstr(d->e.msg, part)) {
        fail_msg("status %d, code %d: \"%s\", not \"%s\"", s, d->e.code, d->e.msg, part);
    }
    mrs_err_clear(&d->e);
}

static void
command(struct desk *d, const char *db, const char *template, const char *arg)
{
    struct mrs_arena a;
    struct mrs_view cmd;
    mrs_arena_init(&a, d->mem);
    must(d, live_doc_in(&a, &cmd, &d->e, template, arg));
    must(d, live_command(d->job.link, db, cmd, LIVE_WRITE, NULL, NULL, &d->e));
    mrs_arena_clear(&a);
}

/* How many documents of a state collection match {field: value}; field NULL: all. */
static int64_t
count(struct desk *d, const char *db, const char *coll, const char *field, const char *value)
{
    struct mrs_arena a;
    struct mrs_view cmd;
    struct mrs_buf out;
    mrs_arena_init(&a, d->mem);
    mrs_buf_init(&out, d->mem, 1 << 20);
    if (field) {
        must(d, live_doc_in(&a, &cmd, &d->e, "{count: %s, query: {%s: %s}}", coll, field, value));
    } else {
        must(d, live_doc_in(&a, &cmd, &d->e, "{count: %s}", coll));
    }
    must(d, live_command(d->job.link, db, cmd, 0, &out, NULL, &d->e));
    int64_t n = live_int_at((struct mrs_view){out.p, (uint32_t)out.n}, "n", -1);
    mrs_buf_clear(&out);
    mrs_arena_clear(&a);
    return n;
}

static void
wipe(struct desk *d)
{
    live_link_check_before_writes(d->job.link, NULL, NULL); /* it is the test that writes */
    command(d, d->state, "{dropDatabase: 1}", NULL);
    command(d, d->db, "{dropDatabase: 1}", NULL);
}

static void
sleep_ms(int64_t ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static struct mrs_view
doc_of(struct mrs_arena *a, const char *template, int64_t n)
{
    struct mrs_view d;
    assert_int_equal(live_doc_in(a, &d, NULL, template, n), MRS_OK);
    return d;
}

/* ---- tests ---- */
static void
resumes(void **state)
{
    struct desk a, b;
    struct mrs_arena arena;
    struct live_checkpoint c, again;
    int64_t now = 0;
    (void)state;
    sit(&a, "resume", PLAN_A);
    mrs_arena_init(&arena, a.mem);
    assert_int_equal(live_run_moment(&a.job, &now, &a.e), MRS_END);
    refused_with(&a, open_run(&a, false), MRS_E_MISSING, "no run of this plan");
    assert_null(a.job.run);
    must(&a, open_run(&a, true));
    assert_true(live_run_in(&a.job, "claimed"));
    assert_int_equal(a.job.run->epoch, 1);
    must(&a, live_checkpoint_open(&a.job, "expand-1", &c, &a.e));
    assert_int_equal(c.last.n, 0);
    assert_int_equal(c.seq, 0);
    struct mrs_view last = doc_of(&arena, "{_id: {a: %I, $odd: 'x'}}", 5000000000);
    mrs_buf_put(&c.last, last.p, last.n);
    c.docs = 100;
    c.written = 7;
    c.at = -3;
    must(&a, live_checkpoint_save(&a.job, &c, &a.e));
    must(&a, live_checkpoint_save(&a.job, &c, &a.e));
    assert_int_equal(c.seq, 2);
    must(&a, live_run_phase(&a.job, "expand", 3, mrs_empty_doc(), &a.e));
    live_run_close(&a.job);

    sit(&b, "resume", PLAN_A);
    must(&b, live_run_moment(&b.job, &now, &b.e));
    assert_int_equal(now, 1700000000000);
    must(&b, open_run(&b, true));
    assert_true(live_run_in(&b.job, "expand"));
    assert_int_equal(b.job.run->group, 3);
    assert_int_equal(b.job.run->epoch, 2);
    must(&b, live_checkpoint_open(&b.job, "expand-1", &again, &b.e));
    assert_int_equal(again.seq, 2);
    assert_int_equal(again.docs, 100);
    assert_int_equal(again.written, 7);
    assert_int_equal(again.at, -3);
    assert_false(again.done);
    assert_int_equal(again.last.n, last.n);
    assert_memory_equal(again.last.p, last.p, last.n);
    mrs_buf_reset(&again.last);
    again.done = true;
    must(&b, live_checkpoint_save(&b.job, &again, &b.e));
    live_checkpoint_clear(&again);
    must(&b, live_checkpoint_open(&b.job, "expand-1", &again, &b.e));
    assert_true(again.done);
    assert_int_equal(again.last.n, 0);
    wipe(&b);
    live_checkpoint_clear(&again);
    live_checkpoint_clear(&c);
    mrs_arena_clear(&arena);
    rise(&b);
    rise(&a);
}

/* A reply to a save that was lost: the document decides. And the burst's own op moves it once. */
/* The digest of a document, as the run leaves it. */
static struct mrs_hash128
digest_of(struct desk *d)
{
    struct mrs_arena a;
    mrs_arena_init(&a, d->mem);
    struct mrs_hash128 h = live_run_hash(&d->job, doc_of(&a, "{_id: %I}", 5));
    mrs_arena_clear(&a);
    return h;
}

/* Each run draws a secret, and whoever goes on with it has the same; one that an older version began has none. */
static void
secret_of_a_run(void **state)
{
    struct desk a, b;
    struct mrs_arena arena;
    (void)state;
    sit(&a, "secret", PLAN_A);
    sit(&b, "secret", PLAN_A);
    mrs_arena_init(&arena, a.mem);
    struct mrs_view doc = doc_of(&arena, "{_id: %I}", 5);
    struct mrs_hash128 plain = mrs_hash(doc.p, doc.n, 0);
    must(&a, open_run(&a, true));
    struct mrs_hash128 first = digest_of(&a);
    assert_true(first.lo != plain.lo && first.hi != plain.hi);
    live_run_close(&a.job);
    must(&b, open_run(&b, false));
    struct mrs_hash128 again = digest_of(&b);
    assert_true(first.lo == again.lo && first.hi == again.hi);
    command(&b, b.state, "{update: 'runs', updates: [{q: {}, u: {$unset: {secret: %s}}}]}", "");
    live_run_close(&b.job);
    must(&b, open_run(&b, false));
    again = digest_of(&b);
    assert_true(plain.lo == again.lo && plain.hi == again.hi);
    command(&b, b.state, "{update: 'runs', updates: [{q: {}, u: {$set: {secret: %s}}}]}", "0123456789abcdef");
    live_run_close(&b.job);
    refused_with(&b, open_run(&b, false), MRS_E_FORMAT, "its secret is no binary");
    wipe(&b);
    must(&b, open_run(&b, true));
    again = digest_of(&b);
    assert_true(first.lo != again.lo && plain.lo != again.lo);
    mrs_arena_clear(&arena);
    wipe(&b);
    rise(&a);
    rise(&b);
}

static void
save_made_already(void **state)
{
    struct desk a;
    struct mrs_arena arena;
    struct live_checkpoint c;
    struct live_op op;
    struct live_bulk_result r = {0};
    (void)state;
    sit(&a, "saved", PLAN_A);
    mrs_arena_init(&arena, a.mem);
    must(&a, open_run(&a, true));
    must(&a, live_checkpoint_open(&a.job, "p", &c, &a.e));
    must(&a, live_checkpoint_op(&a.job, &c, &arena, &op, &a.e));
    must(&a, live_bulk(a.job.link, &a.job.run->state_checkpoints, &op, 1, LIVE_JOURNALED, false, &arena, &r, NULL,
                       &a.e));
    assert_int_equal(r.matched, 1);
    must(&a, live_checkpoint_save(&a.job, &c, &a.e)); /* from 0 to 1: it is there */
    assert_int_equal(c.seq, 1);
    c.seq = 0;
    must(&a, live_checkpoint_save(&a.job, &c, &a.e));
    must(&a, live_checkpoint_save(&a.job, &c, &a.e));
    c.seq = 0;
    refused_with(&a, live_checkpoint_save(&a.job, &c, &a.e), MRS_E_SERVER, "taken over by another");
    wipe(&a);
    live_checkpoint_clear(&c);
    mrs_arena_clear(&arena);
    rise(&a);
}

struct breather {
    struct desk *d;
    int stop;
    enum mrs_status s;
};

static void *
breathing(void *arg)
{
    struct breather *b = arg;
    while (b->s == MRS_OK && !__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE)) {
        b->s = live_run_breathe(&b->d->job, 0, 0, &b->d->e);
        sleep_ms(50);
    }
    return NULL;
}

static void
two_compete(void **state)
{
    struct desk a, b, other;
    pthread_t t;
    (void)state;
    sit(&a, "compete", PLAN_A);
    sit(&b, "compete", PLAN_A);
    sit(&other, "compete", PLAN_B);
    a.job.opts.lease_ms = b.job.opts.lease_ms = 12000;
    must(&a, open_run(&a, true));
    char first[64];
    memcpy(first, a.job.run->owner, sizeof first);
    refused_with(&other, open_run(&other, true), MRS_E_SERVER, first);
    struct breather br = {&a, 0, MRS_OK};
    assert_int_equal(pthread_create(&t, NULL, breathing, &br), 0);
    refused_with(&b, open_run(&b, true), MRS_E_SERVER, first);
    assert_non_null(strstr(b.said, "still alive"));
    assert_null(b.job.run);
    __atomic_store_n(&br.stop, 1, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
    must(&a, br.s);
    live_run_close(&a.job);
    refused_with(&other, open_run(&other, true), MRS_E_EXISTS, "\"one\"");
    must(&b, open_run(&b, true)); /* given back: at once */
    wipe(&b);
    rise(&other);
    rise(&b);
    rise(&a);
}

static void
sleeper_loses(void **state)
{
    struct desk a, b;
    struct live_checkpoint c, now;
    (void)state;
    sit(&a, "sleeper", PLAN_A);
    sit(&b, "sleeper", PLAN_A);
    a.job.opts.lease_ms = b.job.opts.lease_ms = 700;
    int64_t start = mrs_clock_asleep();
    must(&a, open_run(&a, true));
    must(&a, live_checkpoint_open(&a.job, "x", &c, &a.e));
    must(&a, live_checkpoint_save(&a.job, &c, &a.e));
    must(&b, open_run(&b, false)); /* waits for the lease of a, which does not move */
    assert_true(mrs_clock_asleep() - start >= (live_test_replicated() ? 700 : 1400));
    assert_true(b.job.run->epoch > a.job.run->epoch);
    assert_int_equal(count(&b, b.state, "leases", "dead.owner", a.job.run->owner), 0);
    /* awake again, with everything in hand that it had: each write of its finds nothing */
    refused_with(&a, live_checkpoint_save(&a.job, &c, &a.e), MRS_E_SERVER, "taken over by another");
    refused_with(&a, live_run_phase(&a.job, "expand", 1, mrs_empty_doc(), &a.e), MRS_E_SERVER, "still ours");
    a.job.run->lease_checked_ms = mrs_clock_asleep();
    refused_with(&a, live_run_phase(&a.job, "expand", 1, mrs_empty_doc(), &a.e), MRS_E_SERVER, "taken over by another");
    a.job.run->lease_checked_ms = 0;
    refused_with(&a, live_run_breathe(&a.job, 1, 1, &a.e), MRS_E_SERVER, "still ours");
    refused_with(&a, live_lease_renew(&a.job, &a.e), MRS_E_SERVER, "0 are still ours");
    refused_with(&a, live_checkpoint_open(&a.job, "x", &now, &a.e), MRS_E_SERVER, "taken over by another");
    live_checkpoint_clear(&now);
    live_run_close(&a.job); /* takes nothing from b */
    must(&b, live_lease_renew(&b.job, &b.e));
    must(&b, live_checkpoint_open(&b.job, "x", &now, &b.e));
    assert_int_equal(now.seq, 1);
    wipe(&b);
    live_checkpoint_clear(&now);
    live_checkpoint_clear(&c);
    rise(&b);
    rise(&a);
}

/* A transaction that a dead owner left open is ended by whoever takes over. */
static void
session_is_killed(void **state)
{
    struct desk a, b;
    struct mrs_buf lsid;
    struct mrs_arena arena;
    struct live_fault f;
    struct live_bulk_result r = {0};
    (void)state;
    if (!live_test_replicated()) {
        skip();
    }
    sit(&a, "session", PLAN_A);
    sit(&b, "session", PLAN_A);
    a.job.opts.lease_ms = b.job.opts.lease_ms = 700;
    mrs_buf_init(&lsid, a.mem, 4096);
    mrs_arena_init(&arena, a.mem);
    must(&a, open_run(&a, true));
    command(&a, a.db, "{create: 'posts'}", NULL);
    must(&a, live_txn_session(a.job.link, &lsid, &a.e));
    must(&a, live_lease_session(&a.job, (struct mrs_view){lsid.p, (uint32_t)lsid.n}, &a.e));
    must(&a, live_txn_begin(a.job.link, &a.e));
    char ns[128];
    snprintf(ns, sizeof ns, "%s.posts", a.db);
    struct mrs_coll posts = {a.db, "posts", ns};
    struct live_op op = {LIVE_INSERT, {0}, doc_of(&arena, "{_id: %I}", 1)};
    must(&a, live_bulk(a.job.link, &posts, &op, 1, LIVE_IN_TXN, false, &arena, &r, NULL, &a.e));
    must(&b, open_run(&b, false));
    assert_int_equal(live_txn_commit(a.job.link, &f, &a.e), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_NO_TXN);
    assert_int_equal(count(&b, b.db, "posts", NULL, NULL), 0);
    live_txn_abort(a.job.link);
    mrs_err_clear(&a.e);
    wipe(&b);
    mrs_buf_clear(&lsid);
    mrs_arena_clear(&arena);
    rise(&b);
    rise(&a);
}

/* A client whose clock is an hour ahead does not find a living lease over; with the mutant it does. */
static void
clock_of_client(void **state)
{
    struct desk a, b;
    (void)state;
    sit(&a, "clock", PLAN_A);
    sit(&b, "clock", PLAN_B);
    must(&a, open_run(&a, true));
    clock_off_s = 3600;
    enum mrs_status s = open_run(&b, true);
    clock_off_s = 0;
    refused_with(&b, s, MRS_E_SERVER, "is leased to");
    must(&a, live_lease_renew(&a.job, &a.e));
    b.job.opts.lease_ms = 500; /* for the wait after a takeover */
    setenv("MRS_MUTANT", "lease-by-client-clock", 1);
    clock_off_s = 3600;
    open_run(&b, true); /* refused in the end, since the run of a is not over; but the lease is gone */
    clock_off_s = 0;
    unsetenv("MRS_MUTANT");
    mrs_err_clear(&b.e);
    refused_with(&a, live_lease_renew(&a.job, &a.e), MRS_E_SERVER, "still ours");
    wipe(&a);
    rise(&b);
    rise(&a);
}

static void
after_reconnect(void **state)
{
    struct desk a;
    (void)state;
    sit(&a, "again", PLAN_A);
    must(&a, open_run(&a, true));
    must(&a, live_run_breathe(&a.job, 1, 1, &a.e));
    a.job.run->generation--;
    assert_int_equal(live_run_breathe(&a.job, 1, 1, &a.e), MRS_END);
    must(&a, live_run_breathe(&a.job, 1, 1, &a.e));
    a.job.run->generation--;
    setenv("MRS_MUTANT", "memory-after-reconnect", 1);
    must(&a, live_run_breathe(&a.job, 1, 1, &a.e));
    unsetenv("MRS_MUTANT");
    /* closed before it could look: the lease runs out by itself */
    a.job.run->generation--;
    char owner[64];
    memcpy(owner, a.job.run->owner, sizeof owner);
    live_run_close(&a.job);
    assert_int_equal(count(&a, a.state, "leases", "owner", owner), 1);
    wipe(&a);
    rise(&a);
}

/* The server is stopped and started under a run: what is asked of the state goes on, and breathe tells. */
static void *
restarting(void *arg)
{
    *(int *)arg = system("tests/server/ctl restart >/dev/null 2>&1");
    return NULL;
}

static void
server_restarts(void **state)
{
    struct desk a;
    struct live_checkpoint c;
    pthread_t t;
    int ended = -1;
    (void)state;
    if (!getenv("MONGODB_SERVER_DIR")) {
        skip();
    }
    sit(&a, "restart", PLAN_A);
    must(&a, open_run(&a, true));
    must(&a, live_checkpoint_open(&a.job, "p", &c, &a.e));
    assert_int_equal(pthread_create(&t, NULL, restarting, &ended), 0);
    for (int i = 1; i <= 40; i++) {
        c.docs = (uint64_t)i;
        must(&a, live_checkpoint_save(&a.job, &c, &a.e));
        assert_int_equal(c.seq, i);
        sleep_ms(50);
    }
    pthread_join(t, NULL);
    assert_int_equal(ended, 0);
    assert_true(live_link_generation(a.job.link) != a.job.run->generation);
    assert_int_equal(live_run_breathe(&a.job, 1, 1, &a.e), MRS_END);
    live_checkpoint_clear(&c);
    must(&a, live_checkpoint_open(&a.job, "p", &c, &a.e));
    assert_int_equal(c.seq, 40);
    assert_int_equal(c.docs, 40);
    must(&a, live_run_breathe(&a.job, 1, 1, &a.e));
    wipe(&a);
    live_checkpoint_clear(&c);
    rise(&a);
}

struct turner {
    struct desk *d;
    struct live_control c;
    bool pause_only;
    int64_t after_ms, at_ms;
};

static void *
turning(void *arg)
{
    struct turner *t = arg;
    sleep_ms(t->after_ms);
    t->at_ms = mrs_clock_asleep();
    if (live_control_set(&t->d->job, &t->c, t->pause_only, &t->d->e) != MRS_OK) {
        t->at_ms = 0;
    }
    return NULL;
}

static void
controls(void **state)
{
    struct desk a, b;
    pthread_t t;
    (void)state;
    sit(&a, "control", PLAN_A);
    sit(&b, "control", PLAN_A);
    must(&a, open_run(&a, true));
    must(&b, live_run_find(&b.job, NULL, &b.e));
    struct live_progress p = {.phase = "expand 1 set", .ns = "d.posts", .done = 10};
    must(&a, live_run_report(&a.job, &p, &a.e));
    /* a limit */
    struct live_control c = {.docs_per_s = 100, .bytes_per_s = 1000000, .texts = {.max_latency = "0"}};
    must(&b, live_control_set(&b.job, &c, false, &b.e));
    sleep_ms(1050);
    must(&a, live_run_breathe(&a.job, 0, 0, &a.e));
    assert_int_equal(a.job.run->control.docs_per_s, 100);
    int64_t start = mrs_clock_asleep();
    must(&a, live_run_breathe(&a.job, 60, 10, &a.e));
    assert_true(mrs_clock_asleep() - start >= 550);
    assert_string_equal(a.last.limiting, "throttle");
    /* a limit that would hold a batch for an hour is lifted while it waits */
    struct turner lift = {.d = &b, .after_ms = 300, .c.texts.max_latency = "0"};
    a.job.run->control.bytes_per_s = 1;
    a.job.run->control_read_ms = start = mrs_clock_asleep();
    assert_int_equal(pthread_create(&t, NULL, turning, &lift), 0);
    must(&a, live_run_breathe(&a.job, 1, 3600, &a.e));
    pthread_join(t, NULL);
    assert_true(lift.at_ms > 0);
    assert_true(mrs_clock_asleep() - lift.at_ms < 60000);
    /* pause, and resume */
    c = (struct live_control){.pause = true};
    must(&b, live_control_set(&b.job, &c, true, &b.e));
    sleep_ms(1050);
    struct turner go = {.d = &b, .after_ms = 600, .pause_only = true};
    start = mrs_clock_asleep();
    assert_int_equal(pthread_create(&t, NULL, turning, &go), 0);
    must(&a, live_run_breathe(&a.job, 1, 1, &a.e));
    pthread_join(t, NULL);
    assert_string_equal(a.last.limiting, "paused");
    assert_true(mrs_clock_asleep() - start >= 500);
    /* Ctrl-C while it is paused */
    must(&b, live_control_set(&b.job, &c, true, &b.e));
    a.job.run->control_read_ms = 0;
    a.cancel = 1;
    refused_with(&a, live_run_breathe(&a.job, 1, 1, &a.e), MRS_E_CANCEL, "interrupted");
    a.cancel = 0;
    wipe(&a);
    rise(&b);
    rise(&a);
}

static void
refuses(void **state)
{
    struct desk a;
    struct mrs_arena arena;
    struct mrs_err why;
    char ns[128];
    (void)state;
    sit(&a, "refused", PLAN_A);
    mrs_arena_init(&arena, a.mem);
    must(&a, open_run(&a, true));
    snprintf(ns, sizeof ns, "%s.posts", a.db);
    mrs_err_clear(&why);
    mrs_err_set(&why, MRS_SKIP, MRS_E_REFUSED, "no place for it");
    mrs_err_at(&why, "fields.x");
    struct mrs_view one = doc_of(&arena, "{_id: {$ref: 'x', $id: %I}, v: 1}", 7), two = doc_of(&arena, "{_id: %I}", 2);
    must(&a, live_refused_put(&a.job, 1, ns, one, &why, &a.e));
    must(&a, live_refused_put(&a.job, 1, ns, one, &why, &a.e));
    assert_int_equal(a.job.run->n_refused, 1);
    assert_int_equal(count(&a, a.state, "refused", "_id.run", a.job.run->id), 1);
    must(&a, live_refused_put(&a.job, 2, ns, one, &why, &a.e)); /* another step: another record */
    assert_int_equal(a.job.run->n_refused, 2);
    refused_with(&a, live_refused_put(&a.job, 2, ns, two, &why, &a.e), MRS_E_TOO_MANY, "no place for it");
    must(&a, live_refused_drop(&a.job, 2, ns, mrs_doc_get(two, "_id"), &a.e));
    must(&a, live_refused_drop(&a.job, 2, ns, mrs_doc_get(two, "_id"), &a.e));
    assert_int_equal(a.job.run->n_refused, 2);
    /* the bytes are those of the document */
    struct mrs_buf rec;
    struct mrs_view q;
    mrs_buf_init(&rec, a.mem, 1 << 24);
    must(&a, live_doc_in(&arena, &q, &a.e, "{_id.step: 1}"));
    must(&a, live_find_one(a.job.link, &a.job.run->state_refused, q, mrs_empty_doc(), &rec, NULL, &a.e));
    struct mrs_view r = {rec.p, (uint32_t)rec.n};
    struct mrs_val bin = live_at(r, "doc");
    assert_int_equal(bin.type, MRS_BINARY);
    assert_int_equal(bin.n, one.n + 5);
    assert_memory_equal(bin.p + 5, one.p, one.n);
    char text[64];
    live_text_at(r, "reason", text, sizeof text);
    assert_string_equal(text, "no place for it");
    live_text_at(r, "place", text, sizeof text);
    assert_string_equal(text, "fields.x");
    /* too large to be kept a second time in one document: recorded without its bytes */
    mrs_buf_reset(&rec);
    struct mrs_build b;
    struct mrs_view large;
    char *filler = malloc(MRS_DOC_MAX - 100);
    memset(filler, 'x', MRS_DOC_MAX - 100);
    mrs_build_init(&b, &rec);
    mrs_build_i32(&b, "_id", 3);
    mrs_build_text(&b, "t", filler, MRS_DOC_MAX - 100);
    must(&a, mrs_build_finish(&b, &large, &a.e));
    free(filler);
    a.job.opts.max_refused = 10;
    must(&a, live_refused_put(&a.job, 1, ns, large, &why, &a.e));
    live_run_close(&a.job);
    must(&a, open_run(&a, false));
    assert_int_equal(a.job.run->n_refused, 3); /* counted again */
    wipe(&a);
    mrs_buf_clear(&rec);
    mrs_arena_clear(&arena);
    rise(&a);
}

static void
other_collection(void **state)
{
    struct desk a;
    char ns[128];
    (void)state;
    sit(&a, "uuid", PLAN_A);
    snprintf(ns, sizeof ns, "%s.posts", a.db);
    struct mrs_coll posts = {a.db, "posts", ns};
    command(&a, a.db, "{create: 'posts'}", NULL);
    must(&a, open_run(&a, true));
    a.job.run->uuid_checked_ms = -61000;
    must(&a, live_run_breathe(&a.job, 0, 0, &a.e));
    command(&a, a.db, "{drop: 'posts'}", NULL);
    a.job.run->uuid_checked_ms = -61000;
    refused_with(&a, live_run_breathe(&a.job, 0, 0, &a.e), MRS_E_SERVER, "now it is missing");
    command(&a, a.db, "{create: 'posts'}", NULL);
    a.job.run->uuid_checked_ms = -61000;
    refused_with(&a, live_run_breathe(&a.job, 0, 0, &a.e), MRS_E_SERVER, ns);
    live_run_close(&a.job);
    refused_with(&a, open_run(&a, true), MRS_E_SERVER, "start over");
    /* our own doing is told before */
    wipe(&a);
    command(&a, a.db, "{create: 'posts'}", NULL);
    must(&a, open_run(&a, true));
    must(&a, live_run_watch(&a.job, &posts, false, &a.e));
    command(&a, a.db, "{drop: 'posts'}", NULL);
    a.job.run->uuid_checked_ms = -61000;
    must(&a, live_run_breathe(&a.job, 0, 0, &a.e));
    command(&a, a.db, "{create: 'posts'}", NULL);
    must(&a, live_run_watch(&a.job, &posts, true, &a.e));
    must(&a, live_run_watch(&a.job, &posts, true, &a.e));
    command(&a, a.db, "{drop: 'posts'}", NULL);
    a.job.run->uuid_checked_ms = -61000;
    refused_with(&a, live_run_breathe(&a.job, 0, 0, &a.e), MRS_E_SERVER, ns);
    wipe(&a);
    rise(&a);
}

static void
other_call(void **state)
{
    struct desk a;
    (void)state;
    sit(&a, "call", PLAN_A);
    a.job.opts.keep_before = true;
    must(&a, open_run(&a, true));
    live_run_close(&a.job);
    a.job.opts.keep_before = false;
    a.job.opts.mode = LIVE_DIRECT;
    refused_with(&a, open_run(&a, true), MRS_E_USAGE, "--mode expand");
    must(&a, open_run(&a, false)); /* takes it from the run */
    assert_int_equal(a.job.opts.mode, LIVE_EXPAND);
    assert_true(a.job.opts.keep_before);
    live_run_close(&a.job);
    a.job.opts.quiet = LIVE_BY_WORD;
    refused_with(&a, open_run(&a, true), MRS_E_USAGE, "without --quiet-by");
    a.job.opts.quiet = LIVE_NOT_QUIET;
    snprintf(a.server.version, sizeof a.server.version, "7.0.12");
    must(&a, open_run(&a, true));
    live_run_close(&a.job);
    snprintf(a.server.version, sizeof a.server.version, "7.1.5");
    refused_with(&a, open_run(&a, true), MRS_E_SERVER, "is 7.1.5 now");
    snprintf(a.server.version, sizeof a.server.version, "7.0.5");
    snprintf(a.server.fcv, sizeof a.server.fcv, "6.0");
    refused_with(&a, open_run(&a, false), MRS_E_SERVER, "featureCompatibilityVersion 7.0");
    snprintf(a.server.fcv, sizeof a.server.fcv, "7.0");
    snprintf(a.server.set_name, sizeof a.server.set_name, "other");
    refused_with(&a, open_run(&a, false), MRS_E_SERVER, "replica set");
    a.server.set_name[0] = 0;
    a.job.plan->now_ms++;
    refused_with(&a, open_run(&a, false), MRS_E_ACCOUNT, "$$NOW");
    a.job.plan->now_ms--;
    must(&a, open_run(&a, false));
    must(&a, live_run_phase(&a.job, "contract 1", 1, mrs_empty_doc(), &a.e));
    live_run_close(&a.job);
    refused_with(&a, open_run(&a, true), MRS_E_USAGE, "`contract`");
    must(&a, open_run(&a, false));
    must(&a, live_run_phase(&a.job, "done", 1, mrs_empty_doc(), &a.e));
    live_run_close(&a.job);
    refused_with(&a, open_run(&a, true), MRS_E_EXISTS, "done already");
    wipe(&a);
    rise(&a);
}

static void
phases(void **state)
{
    struct desk a;
    struct mrs_arena arena;
    struct mrs_view set;
    (void)state;
    sit(&a, "phase", PLAN_A);
    mrs_arena_init(&arena, a.mem);
    must(&a, open_run(&a, true));
    assert_int_equal(live_at(live_run_doc(a.job.run), "stale_since").type, MRS_MISSING);
    must(&a, live_doc_in(&arena, &set, &a.e, "{claims: ['$a', 'b'], verified: %s, blocked: {by: 'word', v: {x: "
         "[]}}}", LIVE_SERVER_TIME));
    must(&a, live_run_phase(&a.job, "expand", 2, set, &a.e));
    struct mrs_view d = live_run_doc(a.job.run);
    assert_true(mrs_identical(live_at(d, "claims"), live_at(set, "claims")));
    assert_true(mrs_identical(live_at(d, "blocked"), live_at(set, "blocked")));
    assert_int_equal(live_at(d, "verified").type, MRS_DATE);
    assert_int_equal(live_at(d, "stale_since").type, MRS_DATE);
    int64_t since = mrs_val_i64(live_at(d, "stale_since"));
    sleep_ms(5);
    must(&a, live_doc_in(&arena, &set, &a.e, "{claims: null, blocked: {by: 'x'}, verified: null}"));
    must(&a, live_run_phase(&a.job, "expand", 3, set, &a.e));
    d = live_run_doc(a.job.run);
    assert_int_equal(live_at(d, "claims").type, MRS_MISSING);
    assert_int_equal(live_at(d, "verified").type, MRS_MISSING);
    assert_int_equal(live_at(d, "blocked.v").type, MRS_MISSING); /* replaced, not merged */
    assert_int_equal(mrs_val_i64(live_at(d, "stale_since")), since);
    assert_int_equal(a.job.run->group, 3);
    wipe(&a);
    mrs_arena_clear(&arena);
    rise(&a);
}

/* ---- status ---- */
static void
shows(struct desk *d, bool json, bool list, const char *part, bool wanted)
{
    struct mrs_buf out;
    mrs_buf_init(&out, d->mem, 1 << 20);
    must(d, live_status_text(&d->job, json, list, &out, &d->e));
    mrs_buf_byte(&out, 0);
    if ((strstr((char *)out.p, part) != NULL) != wanted) {
        fail_msg("\"%s\" %s in:\n%s", part, wanted ? "is not" : "is", (char *)out.p);
    }
    mrs_buf_clear(&out);
}

static void
status(void **state)
{
    struct desk a, b;
    struct live_checkpoint c;
    struct mrs_arena arena;
    (void)state;
    sit(&a, "status", PLAN_A);
    sit(&b, "status", PLAN_A);
    mrs_arena_init(&arena, a.mem);
    shows(&b, false, true, "no runs", true);
    shows(&b, true, true, "{\"runs\":[]}", true);
    refused_with(&b, live_run_find(&b.job, NULL, &b.e), MRS_E_MISSING, "no run");
    must(&a, open_run(&a, true));
    must(&a, live_run_phase(&a.job, "expand", 0, mrs_empty_doc(), &a.e));
    must(&a, live_checkpoint_open(&a.job, "expand-0", &c, &a.e));
    struct mrs_view last = doc_of(&arena, "{_id: %I}", 4711);
    mrs_buf_put(&c.last, last.p, last.n);
    must(&a, live_checkpoint_save(&a.job, &c, &a.e));
    struct live_progress p = {.phase = "expand 1 set", .ns = "d.posts", .done = 1000, .estimated = 4000, .bytes = 1000};
    live_course_begin(&a.job, "apply", false);
    live_course_foresee(&a.job, 4000 * (LIVE_WRITES + LIVE_READS), 2);
    live_course_walk(&a.job, 4000, LIVE_WRITES);
    int64_t before = mrs_clock_asleep();
    must(&a, live_run_report(&a.job, &p, &a.e));
    sleep_ms(1050);
    p.done = 3000;
    must(&a, live_run_report(&a.job, &p, &a.e));
    assert_in_range((int64_t)a.last.docs_per_s, 2000000 / (mrs_clock_asleep() + 1 - before), 2000);
    char id[8], next[256];
    snprintf(id, sizeof id, "%.5s", a.job.run->id);
    refused_with(&b, live_run_find(&b.job, "XYZ", &b.e), MRS_E_USAGE, "not the id");
    must(&b, live_run_find(&b.job, id, &b.e));
    shows(&b, false, false, "expand 1 set  d.posts, walk 1 of 2", true);
    shows(&b, false, false, "3000 of ~4000 documents, ", true);
    shows(&b, false, false, "in all      60 %, about ", true);
    shows(&b, false, false, "limited by  server latency: ", true);
    shows(&b, false, false, "s left", true);
    shows(&b, false, false, "4711", true);
    shows(&b, false, false, "stale since", true);
    shows(&b, false, false, a.job.run->owner, true);
    shows(&b, true, false, "\"percent\":60,\"walk\":1,\"walks\":2,\"seconds_left\":", true);
    shows(&b, true, false, "\"at_work\":true", true);
    shows(&b, true, true, "\"runs\":[{\"run\":", true);
    snprintf(next, sizeof next, "mongoreshape-live status --run %s --state-db %s --watch", a.job.run->short_id,
             a.state);
    shows(&b, false, false, next, true);
    must(&a, live_run_phase(&a.job, "expanded", 0, mrs_empty_doc(), &a.e));
    snprintf(next, sizeof next, "mongoreshape-live verify --run %s --state-db %s --repair --execute\n",
             a.job.run->short_id, a.state);
    live_run_close(&a.job);
    shows(&b, false, false, next, true);
    shows(&b, false, false, "nobody", true);
    shows(&b, false, true, "expanded", true);
    live_run_close(&b.job);
    shows(&b, false, true, "expanded", true); /* also with no run in hand */
    wipe(&b);
    live_checkpoint_clear(&c);
    mrs_arena_clear(&arena);
    rise(&b);
    rise(&a);
}

static void
cleans(void **state)
{
    struct desk a, b;
    struct mrs_arena arena;
    struct mrs_view set;
    struct mrs_err why;
    struct live_checkpoint c;
    (void)state;
    sit(&a, "clean", PLAN_A);
    sit(&b, "clean", PLAN_A);
    a.job.opts.mode = b.job.opts.mode = LIVE_DIRECT;
    mrs_arena_init(&arena, a.mem);
    must(&a, open_run(&a, true));
    must(&a, live_checkpoint_open(&a.job, "direct-0", &c, &a.e));
    must(&a, live_checkpoint_save(&a.job, &c, &a.e));
    must(&a, live_run_phase(&a.job, "applying", 0, mrs_empty_doc(), &a.e));
    must(&b, live_run_find(&b.job, NULL, &b.e));
    b.job.opts.discard_changes = true; /* only where the run cannot be finished */
    refused_with(&b, live_clean_begin(&b.job, &b.e), MRS_E_USAGE, "applying");
    must(&a, live_doc_in(&arena, &set, &a.e, "{claims: ['seen']}"));
    must(&a, live_run_phase(&a.job, "reading", 0, set, &a.e));
    live_run_close(&b.job);
    must(&b, live_run_find(&b.job, NULL, &b.e));
    refused_with(&b, live_clean_begin(&b.job, &b.e), MRS_E_USAGE, "`rollback`");
    must(&a, live_doc_in(&arena, &set, &a.e, "{claims: []}"));
    must(&a, live_run_phase(&a.job, "listing", 0, set, &a.e));
    mrs_err_clear(&why);
    mrs_err_set(&why, MRS_SKIP, MRS_E_REFUSED, "bad");
    must(&a, live_refused_put(&a.job, 1, "x.posts", doc_of(&arena, "{_id: %I}", 1), &why, &a.e));
    live_run_close(&b.job);
    must(&b, live_run_find(&b.job, NULL, &b.e));
    refused_with(&b, live_clean_begin(&b.job, &b.e), MRS_E_USAGE, "1 refused documents");
    b.job.opts.discard_refused = true;
    command(&a, a.state, "{create: %s}", a.job.run->state_changes.coll);
    live_run_close(&a.job);
    must(&b, live_clean_begin(&b.job, &b.e));
    must(&b, live_clean(&b.job, &b.e));
    live_run_close(&b.job);
    static const char *const gone[] = {"runs", "leases", "checkpoints", "refused"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(count(&b, b.state, gone[i], NULL, NULL), 0);
    }
    must(&a, open_run(&a, true)); /* as if nothing had been */
    assert_int_equal(a.job.run->epoch, 1);
    wipe(&a);
    live_checkpoint_clear(&c);
    mrs_arena_clear(&arena);
    rise(&b);
    rise(&a);
}

/* ---- no memory ---- */
static enum mrs_status
whole_life(struct desk *d)
{
    struct live_checkpoint c = {.epoch = 0};
    struct live_progress p = {.phase = "x", .ns = "y", .done = 1, .estimated = 2, .bytes = 3};
    struct mrs_buf out;
    mrs_buf_init(&out, d->job.mem, 1 << 20);
    enum mrs_status s = live_run_open(&d->job, true, d->text, strlen(d->text), &d->e);
    if (s == MRS_OK) {
        s = live_checkpoint_open(&d->job, "p", &c, &d->e);
    }
    if (s == MRS_OK) {
        s = live_checkpoint_save(&d->job, &c, &d->e);
    }
    if (s == MRS_OK) {
        s = live_run_phase(&d->job, "expand", 1, mrs_empty_doc(), &d->e);
    }
    if (s == MRS_OK) {
        s = live_run_breathe(&d->job, 1, 1, &d->e);
    }
    if (s == MRS_OK) {
        s = live_run_report(&d->job, &p, &d->e);
    }
    if (s == MRS_OK) {
        s = live_status_text(&d->job, false, false, &out, &d->e);
    }
    mrs_buf_clear(&out);
    live_checkpoint_clear(&c);
    live_run_close(&d->job);
    return s;
}

static void
no_memory(void **state)
{
    struct desk d;
    (void)state;
    sit(&d, "memory", PLAN_A);
    d.job.opts.lease_ms = 300;
    enum mrs_status s = MRS_DEAD;
    uint64_t n = 1;
    for (; s != MRS_OK && n < 2000; n++) {
        d.job.mem = mrs_mem_new(n);
        mrs_err_clear(&d.e);
        s = whole_life(&d);
        if (s != MRS_OK && (s != MRS_DEAD || d.e.code != MRS_E_MEMORY)) {
            fail_msg("allocation %lu: status %d: %s", (unsigned long)n, s, d.e.msg);
        }
        assert_null(d.job.run);
        assert_int_equal(mrs_mem_close(d.job.mem), 0);
    }
    assert_int_equal(s, MRS_OK);
    assert_true(n > 50);
    d.job.mem = d.mem;
    wipe(&d);
    rise(&d);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumes),       cmocka_unit_test(secret_of_a_run),
        cmocka_unit_test(save_made_already), cmocka_unit_test(two_compete),
        cmocka_unit_test(sleeper_loses), cmocka_unit_test(session_is_killed), cmocka_unit_test(clock_of_client),
        cmocka_unit_test(after_reconnect), cmocka_unit_test(controls),        cmocka_unit_test(refuses),
        cmocka_unit_test(other_collection), cmocka_unit_test(other_call),     cmocka_unit_test(phases),
        cmocka_unit_test(status),        cmocka_unit_test(cleans),            cmocka_unit_test(no_memory),
        cmocka_unit_test(server_restarts),
    };
    uri = live_test_need_server("t_state");
    live_link_setup();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    live_link_teardown();
    return failed;
}
