/* SPDX-License-Identifier: Apache-2.0 */
/* kills.c - a run that is killed, and one whose disk is full.
 *
 * Both happen in a child. Killed: there is no output, or all of it, and the next run succeeds and removes the remains
 * of the killed one, except for an incomplete residue. Full: files may only grow to a limit; the run ends with an error
 * and leaves nothing. */
#include "fault.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Runs the scene in a child with a limit on files (0: none). */
static pid_t
start(const struct scene *sc, rlim_t limit)
{
    fflush(NULL);
    pid_t id = fork();
    if (id < 0) {
        die("fork: %d", errno);
    }
    if (id == 0) {
        struct rlimit r = {limit, limit};
        signal(SIGXFSZ, SIG_IGN);
        if (limit) {
            setrlimit(RLIMIT_FSIZE, &r);
        }
        struct result res = run_scene(sc, 0);
        _exit(res.leaks ? 9 : res.status == MRS_OK ? 0 : res.err.code == MRS_E_IO ? 4 : 5);
    }
    return id;
}

static int
end(pid_t id)
{
    int status;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void
kill_runs(const struct scene *sc, const struct result *good, const struct result *before, double took, unsigned n)
{
    unsigned partial = 0, killed = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t x = random_number(i);
        double wait = took * 1.1 * (double)(x >> 40) / (double)(1u << 24);
        set_doing("%s: killed after %.4f s", sc->name, wait);
        clean_scene(sc);
        pid_t id = start(sc, 0);
        for (double until = now() + wait; now() < until;) {
            usleep(200);
        }
        kill(id, SIGKILL);
        int status = end(id);
        killed += status == 128 + SIGKILL;
        struct result left = {.status = MRS_OK};
        look_at(&left);
        partial += strstr(left.names, ".partial ") != NULL;
        note_try();
        uint64_t out = left.out_picture;
        if (out != good->out_picture && out != before->out_picture) {
            wrong("there is an output, and it is not whole");
        }
        if (out == good->out_picture && !sc->force) { /* it was done before the signal came */
            continue;
        }
        char half[64];
        snprintf(half, sizeof half, "residue.%ld.partial", (long)id); /* its name says that it is none */
        remove(below(half));
        struct result r = run_scene(sc, 0);
        look_at(&r);
        if (r.status != MRS_OK || r.picture != good->picture) {
            wrong("the next run: %s: %s; they should be %s", r.status == MRS_OK ? "other bytes" : r.err.msg, r.names,
                  good->names);
        }
    }
    tell("%s: %u of %u were killed in time, %u of them left a folder behind", sc->name, killed, n, partial);
}

void
fill_disk(const struct scene *sc, const struct result *good, const struct result *before, bool all)
{
    unsigned failed = 0;
    for (rlim_t limit = 1; limit < (64u << 20); limit += all ? 1 + limit / 40 : 1 + limit / 2) {
        set_doing("%s: no file larger than %llu", sc->name, (unsigned long long)limit);
        clean_scene(sc);
        int status = end(start(sc, limit));
        struct result r = {.status = MRS_OK};
        note_try();
        failed += status == 4;
        if (status != 0 && status != 4) {
            wrong("status %d", status);
        }
        remove(below("refused"));
        remove(below("refused.jsonl"));
        look_at(&r);
        if (status == 0 && r.out_picture != good->out_picture) {
            wrong("success, but other bytes");
        }
        if (status != 0 && r.picture != before->picture) {
            wrong("something is left: %s", r.names);
        }
    }
    if (!failed) {
        wrong("no limit was met");
    }
}
