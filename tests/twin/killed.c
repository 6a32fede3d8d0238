/* SPDX-License-Identifier: Apache-2.0 */
/* killed.c - the tool, killed again and again while it runs, and resumed.
 *
 * Linked with the tool's own objects in place of mrs_run: blocks are small and checkpoints are made wherever possible;
 * children do the work and kill themselves at one of them, or before the output gets its name, or are killed at any
 * instant. Finally the process itself resumes the run, so that the caller sees a normal run. Its result must equal that
 * of an undisturbed run: the twin and the cases check that. Environment: KILLED_SEED (1), KILLED_LOG (a file that gets
 * a line for each run: how often it was killed). */
#include "mongoreshape/run.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILLS = 24, EVENTS_BITS = 9, BLOCK = 512, SLEEP_US = 30000 };

enum mrs_status __real_mrs_run(struct mrs_mem *mem, struct mrs_plan *plan, struct mrs_input *in,
                               const struct mrs_run_opts *opts, struct mrs_report *report, struct mrs_err *e);
enum mrs_status __wrap_mrs_run(struct mrs_mem *mem, struct mrs_plan *plan, struct mrs_input *in,
                               const struct mrs_run_opts *opts, struct mrs_report *report, struct mrs_err *e);
enum mrs_status __real_mrs_run_back(struct mrs_mem *mem, struct mrs_plan *inverse, struct mrs_input *in,
                                    const struct mrs_run_opts *opts, struct mrs_residue *residue,
                                    struct mrs_report *report, struct mrs_err *e);
enum mrs_status __wrap_mrs_run_back(struct mrs_mem *mem, struct mrs_plan *inverse, struct mrs_input *in,
                                    const struct mrs_run_opts *opts, struct mrs_residue *residue,
                                    struct mrs_report *report, struct mrs_err *e);

static uint64_t
next_random(uint64_t *x)
{
    *x = *x * 6364136223846793005ull + 1442695040888963407ull;
    return *x >> 33;
}

static void
count_down(void *arg, bool written)
{
    atomic_int *left = arg;
    (void)written;
    if (atomic_fetch_sub(left, 1) == 1) {
        raise(SIGKILL);
    }
}

static enum mrs_status
die_whole(void *arg, const char *folder, const struct mrs_report *report, struct mrs_err *e)
{
    (void)arg;
    (void)folder;
    (void)report;
    (void)e;
    raise(SIGKILL);
    return MRS_DEAD;
}

struct run {
    struct mrs_mem *mem;
    struct mrs_plan *plan;
    struct mrs_input *in;
    struct mrs_residue *residue; /* NULL: a run without one */
    struct mrs_run_opts opts;
};

static enum mrs_status
call(const struct run *r, const struct mrs_run_opts *opts, struct mrs_report *report, struct mrs_err *e)
{
    return r->residue ? __real_mrs_run_back(r->mem, r->plan, r->in, opts, r->residue, report, e)
                      : __real_mrs_run(r->mem, r->plan, r->in, opts, report, e);
}

/* A child that kills itself at the events-th event (0: never), and never publishes. */
static pid_t
begin_child(const struct run *r, int events)
{
    fflush(NULL);
    pid_t id = fork();
    if (id == 0) {
        struct mrs_run_opts opts = r->opts;
        struct mrs_report report;
        struct mrs_err e;
        atomic_int left = events;
        mrs_err_clear(&e);
        opts.checkpoint = count_down;
        opts.checkpoint_arg = &left;
        opts.before_publish = die_whole;
        call(r, &opts, &report, &e);
        _exit(0); /* it met what an undisturbed run meets as well: no reason to try again */
    }
    return id;
}

static bool
was_killed(pid_t id)
{
    int status = 0;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static unsigned
kill_some(struct run *r)
{
    const char *seed = getenv("KILLED_SEED");
    char name[33];
    mrs_plan_id_text(r->plan, name);
    name[16] = 0; /* as many digits as a number has */
    uint64_t x = (seed ? strtoull(seed, NULL, 10) : 1) * 0x9E3779B97F4A7C15ull ^ strtoull(name, NULL, 16);
    unsigned n = 0, most = (unsigned)(next_random(&x) % KILLS) + 1;
    for (bool killed = true; killed && n < most; n += killed) {
        bool by_event = next_random(&x) % 4 != 0;
        int range = 1 << next_random(&x) % (EVENTS_BITS + 1); /* now and then far on, now and then close behind */
        pid_t id = begin_child(r, by_event ? (int)(next_random(&x) % (uint64_t)range) + 1 : 0);
        if (id < 0) {
            break;
        }
        if (!by_event) {
            usleep((useconds_t)(next_random(&x) % SLEEP_US));
            kill(id, SIGKILL);
        }
        killed = was_killed(id);
        r->opts.resume = true;
    }
    return n;
}

static void
log_kills(unsigned n)
{
    const char *path = getenv("KILLED_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd >= 0) {
        dprintf(fd, "%u\n", n);
        close(fd);
    }
}

static enum mrs_status
call_killed(struct run *r, struct mrs_report *report, struct mrs_err *e)
{
    r->opts.checkpoint_ms = 1;
    r->opts.block_bytes = BLOCK;
    log_kills(kill_some(r));
    return call(r, &r->opts, report, e);
}

enum mrs_status
__wrap_mrs_run(struct mrs_mem *mem, struct mrs_plan *plan, struct mrs_input *in, const struct mrs_run_opts *opts,
               struct mrs_report *report, struct mrs_err *e)
{
    struct run r = {mem, plan, in, NULL, *opts};
    bool within = opts->discard; /* the inverse run of one that is killed as a whole */
    if (opts->dry_run || !opts->output || !opts->checkpoints || within) {
        return __real_mrs_run(mem, plan, in, opts, report, e);
    }
    return call_killed(&r, report, e);
}

enum mrs_status
__wrap_mrs_run_back(struct mrs_mem *mem, struct mrs_plan *inverse, struct mrs_input *in,
                    const struct mrs_run_opts *opts, struct mrs_residue *residue, struct mrs_report *report,
                    struct mrs_err *e)
{
    struct run r = {mem, inverse, in, residue, *opts};
    return call_killed(&r, report, e);
}
