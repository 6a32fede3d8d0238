/* SPDX-License-Identifier: Apache-2.0 */
/* t_pipe.c - jobs on several workers: committed in the order in which they were fetched, the first error told, big
 * jobs alone, one that is done before its turn left to another worker with all that was refused in it, and fewer
 * threads than were asked for. */
#include "run_test.h"
#include <errno.h>

struct job {
    uint64_t no;
    bool big, begun;
    void *mem;
};

struct show {
    struct bare *b;
    uint64_t n;                                     /* jobs there are */
    uint64_t big_every;                             /* 0: none */
    uint64_t fail_fetch, fail_work[2], fail_commit; /* UINT64_MAX: none */
    uint64_t fetched, committed;
    _Atomic int at_work, most_at_work, alone_broken, turns;
    _Atomic bool big_at_work;
    _Atomic uint64_t begun;
    uint64_t first_waits; /* the first job is not done before so many have begun; 0: it does not wait */
    _Atomic int jobs_made, jobs_cleared;
    int cancel_at;
};

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct show *s = arg;
    struct job *j = p;
    if (!j->begun) {
        j->mem = mrs_alloc(s->b->mem, 100);
        if (!j->mem) {
            return mrs_err_memory(e, 100);
        }
        j->begun = true;
        s->jobs_made++;
    }
    if (s->fetched == s->fail_fetch) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_IO, "fetch %d", (int)s->fetched);
    }
    if (s->fetched == s->n) {
        return MRS_END;
    }
    if (s->cancel_at && s->fetched == (uint64_t)s->cancel_at) {
        __atomic_store_n((int *)(uintptr_t)s->b->opts.cancel, 15, __ATOMIC_RELAXED);
    }
    j->no = s->fetched++;
    j->big = *big = s->big_every && j->no % s->big_every == 0;
    if (s->big_at_work) {
        s->alone_broken++; /* nothing is fetched while a big job is worked on */
    }
    return MRS_OK;
}

static bool
others_begin(struct show *s)
{
    for (int ms = 0; ms < 100000 && s->begun < s->first_waits; ms++) {
        usleep(1000);
    }
    return s->begun >= s->first_waits;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct show *s = arg;
    struct job *j = p;
    int now = ++s->at_work;
    s->begun++;
    mrs_buf_put(&w->refused, &j->no, sizeof j->no);
    if (w->refused.bad || (j->no == 0 && !others_begin(s))) {
        s->at_work--;
        return w->refused.bad ? mrs_buf_status(&w->refused, e) : mrs_err_set(e, MRS_FAIL, MRS_E_IO, "nobody goes on");
    }
    s->most_at_work = now > s->most_at_work ? now : s->most_at_work;
    s->big_at_work = j->big ? true : s->big_at_work;
    usleep((unsigned)((j->no * 7919) % 5) * 100 + (w->no ? 0 : 50));
    if (mrsi_pipe_turn(w)) { /* then nobody else may commit before this job has */
        s->turns++;
        assert_int_equal(s->committed, j->no);
        usleep(100);
        assert_int_equal(s->committed, j->no);
    }
    s->at_work--;
    for (int i = 0; i < 2; i++) {
        if (j->no == s->fail_work[i]) {
            usleep(i ? 0 : 3000); /* the earlier one fails later */
            return mrs_err_set(e, MRS_FAIL, MRS_E_BSON, "work %d", (int)j->no);
        }
    }
    return MRS_OK;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct show *s = arg;
    struct job *j = p;
    assert_int_equal(j->no, s->committed);
    assert_int_equal(w->job_no, j->no);
    assert_int_equal(w->refused.n, sizeof j->no); /* its own, whoever commits it */
    assert_memory_equal(w->refused.p, &j->no, sizeof j->no);
    mrs_buf_reset(&w->refused);
    if (j->no == s->fail_commit) {
        return mrs_err_set(e, MRS_DEAD, MRS_E_IO, "commit %d", (int)j->no);
    }
    s->committed++;
    s->big_at_work = j->big ? false : s->big_at_work;
    return MRS_OK;
}

static void
clear(void *arg, void *p)
{
    struct show *s = arg;
    struct job *j = p;
    if (j->begun) {
        mrs_free(s->b->mem, j->mem);
        s->jobs_cleared++;
    }
}

static void
show_begin(struct show *s, struct bare *b, uint64_t n)
{
    memset(s, 0, sizeof *s);
    s->b = b;
    s->n = n;
    s->fail_fetch = s->fail_work[0] = s->fail_work[1] = s->fail_commit = UINT64_MAX;
    for (uint32_t i = 0; i < b->en.jobs; i++) {
        mrs_buf_reset(&b->en.worker[i].refused); /* of a pass that failed */
    }
}

static enum mrs_status
run(struct show *s)
{
    struct mrsi_pipe p = {&s->b->en, sizeof(struct job), fetch, work, commit, clear, s};
    enum mrs_status st = mrsi_pipe_run(&p, &s->b->err);
    assert_int_equal(s->jobs_made, s->jobs_cleared);
    assert_int_equal(s->alone_broken, 0);
    return st;
}

static void
in_order(void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs <= 4; jobs++) {
        for (uint64_t big = 0; big < 8; big += 7) {
            struct bare b;
            struct show s;
            bare_begin(&b, 0, 1 << 20, jobs);
            show_begin(&s, &b, 300);
            s.big_every = big;
            assert_int_equal(run(&s), MRS_OK);
            assert_int_equal(s.committed, 300);
            assert_true(jobs == 1 ? s.most_at_work == 1 : s.most_at_work <= (int)jobs);
            assert_true(jobs == 1 ? s.turns == 300 : s.turns > 0);
            bare_end(&b);
        }
    }
}

static void
only_big_jobs(void **state)
{
    struct bare b;
    struct show s;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 4);
    show_begin(&s, &b, 40);
    s.big_every = 1;
    assert_int_equal(run(&s), MRS_OK);
    assert_int_equal(s.committed, 40);
    assert_int_equal(s.most_at_work, 1);
    bare_end(&b);
}

/* While the first job is at work the others are done before their turn: each of them is put aside as long as there is
 * room, and one more is at work in each worker. */
static void
goes_on(void **state)
{
    (void)state;
    for (uint32_t jobs = 2; jobs <= 5; jobs++) {
        struct bare b;
        struct show s;
        bare_begin(&b, 0, 1 << 20, jobs);
        show_begin(&s, &b, 50);
        s.first_waits = jobs + jobs / 2;
        assert_int_equal(run(&s), MRS_OK);
        assert_int_equal(s.committed, 50);
        bare_end(&b);
    }
}

static void
nothing(void **state)
{
    struct bare b;
    struct show s;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 3);
    show_begin(&s, &b, 0);
    assert_int_equal(run(&s), MRS_OK);
    assert_int_equal(s.committed, 0);
    bare_end(&b);
}

/* Of several errors that of the earliest job is told; all jobs before it are committed, none behind it. */
static void
first_error(void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs <= 4; jobs++) {
        for (int big = 0; big < 2; big++) {
            struct bare b;
            struct show s;
            bare_begin(&b, 0, 1 << 20, jobs);
            show_begin(&s, &b, 100);
            s.big_every = (uint64_t)big * 5;
            s.fail_work[0] = 50;
            s.fail_work[1] = 51;
            assert_int_equal(run(&s), MRS_FAIL);
            assert_string_equal(b.err.msg, "work 50");
            assert_int_equal(s.committed, 50);
            bare_end(&b);

            bare_begin(&b, 0, 1 << 20, jobs);
            show_begin(&s, &b, 100);
            s.big_every = (uint64_t)big * 5;
            s.fail_commit = 30;
            s.fail_fetch = 90;
            assert_int_equal(run(&s), MRS_DEAD);
            assert_string_equal(b.err.msg, "commit 30");
            assert_int_equal(s.committed, 30);
            bare_end(&b);

            bare_begin(&b, 0, 1 << 20, jobs);
            show_begin(&s, &b, 100);
            s.fail_fetch = 20;
            assert_int_equal(run(&s), MRS_FAIL);
            assert_string_equal(b.err.msg, "fetch 20");
            assert_int_equal(s.committed, 20); /* what was fetched before is done to its end */
            bare_end(&b);
        }
    }
}

static void
cancelled(void **state)
{
    struct bare b;
    struct show s;
    int cancel = 0;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 2);
    show_begin(&s, &b, 100000);
    b.opts.cancel = &cancel;
    s.cancel_at = 10;
    assert_int_equal(run(&s), MRS_FAIL);
    assert_int_equal(b.err.code, MRS_E_CANCEL);
    assert_true(s.committed >= 10 && s.committed < 20);
    bare_end(&b);
}

/* An error that is there already is not overwritten; no struct for it is fine. */
static void
errors_of_callers(void **state)
{
    struct bare b;
    struct show s;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 2);
    show_begin(&s, &b, 10);
    s.fail_work[0] = 3;
    mrs_err_set(&b.err, MRS_FAIL, MRS_E_PLAN, "the first cause");
    assert_int_equal(run(&s), MRS_FAIL);
    assert_string_equal(b.err.msg, "the first cause");
    struct mrsi_pipe p = {&b.en, sizeof(struct job), fetch, work, commit, clear, &s};
    show_begin(&s, &b, 10);
    s.fail_work[0] = 3;
    assert_int_equal(mrsi_pipe_run(&p, NULL), MRS_FAIL);
    bare_end(&b);
}

static void
memory_fails(void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs <= 3; jobs++) {
        for (uint64_t n = 1; n <= 2 + 4 * jobs; n++) {
            struct bare b;
            struct show s;
            bare_begin(&b, n, 1 << 20, jobs);
            show_begin(&s, &b, 20);
            enum mrs_status st = run(&s);
            if (mrs_mem_count(b.mem) >= n) {
                is_memory(st, &b.err);
            } else { /* a thread came too late to ask for anything */
                assert_int_equal(st, MRS_OK);
                assert_int_equal(s.committed, 20);
            }
            bare_end(&b);
        }
    }
}

/* Threads that cannot be started are workers fewer. Stands in for the C library's own in this program. */
static _Atomic int allowed = 1000;
int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int
__wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    return allowed-- > 0 ? __real_pthread_create(id, attr, fn, arg) : EAGAIN;
}

static void
no_threads(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        struct bare b;
        struct show s;
        bare_begin(&b, 0, 1 << 20, 4);
        show_begin(&s, &b, 100);
        allowed = n;
        assert_int_equal(run(&s), MRS_OK);
        allowed = 1000;
        assert_int_equal(s.committed, 100);
        assert_true(s.most_at_work <= n + 1);
        bare_end(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order),          cmocka_unit_test(only_big_jobs),
                                       cmocka_unit_test(goes_on),           cmocka_unit_test(nothing),
                                       cmocka_unit_test(first_error),       cmocka_unit_test(cancelled),
                                       cmocka_unit_test(errors_of_callers), cmocka_unit_test(memory_fails),
                                       cmocka_unit_test(no_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
