/* SPDX-License-Identifier: Apache-2.0 */
/* t_many_keys.c - a join whose keys are more than memory holds: several partitions of them, whole lists and a rest in
 * each. The same bytes as with memory for all, however many jobs, and wherever it is stopped while keys meet. */
#include "dump_test.h"
#include "run/join/join.h"
#include "run/pass/checkpoint.h"

enum { INTO = 24000, FROM = 4000, MEMORY = 1 << 20, ROOM = 8 << 20 };
static const char steps[] =
    "- embed: { from: logs, into: hosts, match: { h: k }, as: logs, sort: { _id: -1 }, keep: unmatched, count: n }\n";
static uint8_t want[ROOM], left[ROOM], got[ROOM];
static size_t n_want, n_left;
static int cancel;
static uint64_t stop_when_met;
static unsigned stopped_in;

static void
put_number(struct mrs_buf *out, uint64_t id, const char *name, uint64_t number, uint32_t text)
{
    static const char words[400] = "";
    struct mrs_buf one;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&one, out->mem, SIZE_MAX);
    mrs_build_init(&b, &one);
    mrs_build_i64(&b, "_id", (int64_t)id);
    mrs_build_i64(&b, name, (int64_t)number);
    mrs_build_text(&b, "t", words, text);
    assert_int_equal(mrs_build_finish(&b, &doc, NULL), MRS_OK);
    mrs_buf_put(out, doc.p, doc.n);
    mrs_buf_clear(&one);
}

/* Hosts with each key once, but for one key that a third has; logs that meet one host, thousands or nobody. */
static void
put_all(void)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf hosts, logs;
    mrs_buf_init(&hosts, mem, SIZE_MAX);
    mrs_buf_init(&logs, mem, SIZE_MAX);
    begin();
    for (uint64_t i = 0; i < INTO; i++) {
        put_number(&hosts, i, "k", i % 3 ? i : 7, 0);
    }
    for (uint64_t i = 0; i < FROM; i++) {
        put_number(&logs, i, "h", i == 5 ? 7 : i * 7 % (INTO + INTO / 9), (uint32_t)(i % 389));
    }
    put_file("in/d/hosts.bson", hosts.p, hosts.n);
    put_file("in/d/logs.bson", logs.p, logs.n);
    mrs_buf_clear(&hosts);
    mrs_buf_clear(&logs);
    mrs_mem_close(mem);
}

static void
is_the_same(void)
{
    size_t n = get_file("out/d/hosts.bson", got, ROOM);
    assert_true(n == n_want && memcmp(got, want, n) == 0);
    n = get_file("out/d/logs.bson", got, ROOM);
    assert_true(n == n_left && memcmp(got, left, n) == 0);
    drop("out");
}

static int
make_all(void **state)
{
    struct mrs_run_opts o = defaults();
    int made = make_top_in_memory(state);
    if (made == 0) {
        put_all();
        runs(steps, &o);
        n_want = get_file("out/d/hosts.bson", want, ROOM);
        n_left = get_file("out/d/logs.bson", left, ROOM);
        drop("out");
    }
    return made;
}

static void
any_jobs(void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs < 4; jobs++) {
        struct mrs_run_opts o = defaults();
        o.memory = MEMORY;
        o.jobs = jobs;
        runs(steps, &o);
        is_the_same();
    }
}

/* Stops where so many partitions have met. */
static void
on_checkpoint(void *arg, bool is_written)
{
    static uint8_t room[1 << 20];
    struct mrsi_checkpoint cp;
    struct mrs_err e;
    bool none = false;
    (void)arg;
    if (!is_written || cancel) {
        return;
    }
    mrs_err_clear(&e);
    size_t n = get_file("out.checkpoint/state", room, sizeof room);
    assert_int_equal(mrsi_checkpoint_parse(room, n, &cp, &e), MRS_OK);
    uint64_t stage = mrsi_state_number(cp.pass, "stage", 100, &none);
    uint64_t met = mrsi_state_number(cp.pass, "met", 100, &none);
    if (!none && stage == MRSI_JOIN_MEET && met == stop_when_met) {
        stopped_in++;
        cancel = 1;
    }
}

static void
stopped_while_keys_meet(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    o.memory = MEMORY;
    o.checkpoints = true;
    o.checkpoint = on_checkpoint;
    o.cancel = &cancel;
    for (stop_when_met = 1; stop_when_met < 5; stop_when_met++) {
        cancel = 0;
        o.resume = false;
        o.checkpoint_ms = 1;
        struct ran r = run(steps, &o);
        bool is = r.status != MRS_OK;
        assert_true(!is || r.err.code == MRS_E_CANCEL);
        ran_end(&r);
        if (is) {
            cancel = 0;
            o.resume = true;
            o.checkpoint_ms = 0;
            runs(steps, &o);
        }
        is_the_same();
    }
    assert_true(stopped_in > 0); /* marks are some time apart: not each partition has one */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_jobs), cmocka_unit_test(stopped_while_keys_meet)};
    return cmocka_run_group_tests(tests, make_all, drop_top);
}
