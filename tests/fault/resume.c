/* SPDX-License-Identifier: Apache-2.0 */
/* resume.c - a run that is killed, stopped or fails, and is resumed.
 *
 * Checkpoints are made wherever possible. The run kills itself at its n-th call of the operating system, before the
 * call is made, or is killed at some time; another resumes it, and may be killed as well; the last one must leave the
 * bytes of an undisturbed run, the refused documents and nothing else. */
#include "fault.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct trial {
    enum how how;
    enum call call;
    uint64_t n;    /* 0: by time */
    double wait;
};

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What a process has left under names that hold its number, but for half a residue: who goes on finds it. */
static void
drop_strays(pid_t id)
{
    char names[4096], *at = names, mark[40];
    snprintf(mark, sizeof mark, ".%ld.partial", (long)id);
    names_in(below(""), names, sizeof names);
    for (char *end; (end = strchr(at, ' ')) != NULL; at = end + 1) {
        *end = 0;
        if (strstr(at, mark) && strncmp(at, "residue", strlen("residue")) != 0) {
            remove(below(at));
        }
    }
}

/* A run in a child that is killed or meets an error. True: it did. */
static bool
killed_run(const struct scene *sc, bool resume, const struct trial *t)
{
    fflush(NULL);
    pid_t id = fork();
    if (id < 0) {
        die("fork: %d", errno);
    }
    if (id == 0) {
        if (t->n) {
            calls_fail(t->call, t->how, t->n, t->n % 2 ? EIO : ENOSPC);
        }
        struct result r = run_going(sc, resume, 0);
        if (r.leaks) {
            wrong("%llu blocks leak", (unsigned long long)r.leaks);
        }
        _exit(calls_hit() ? 2 : 0);
    }
    if (!t->n) {
        for (double until = now() + t->wait; now() < until;) {
            usleep(100);
        }
        kill(id, SIGKILL);
    }
    int status;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    drop_strays(id);
    return WIFSIGNALED(status) || WEXITSTATUS(status) == 2;
}

/* Goes on until nobody kills it. */
static void
judge_last(const struct scene *sc, const struct result *good)
{
    struct result r = run_going(sc, true, 0);
    look_at(&r);
    note_try();
    bool same = r.picture == good->picture || (good->out_picture && r.out_picture == good->out_picture);
    bool done = r.err.code == MRS_E_EXISTS && good->status == MRS_OK && same;
    if (done) { /* killed behind the publication: there is nothing left to do */
        return;
    }
    if (r.status != good->status || r.err.code != good->err.code) {
        wrong("going on: %s", r.err.msg[0] ? r.err.msg : "success");
    } else if (r.picture != good->picture) {
        wrong("going on gives other bytes or leaves something: %s; it should be %s", r.names, good->names);
    }
    if (r.leaks) {
        wrong("going on leaks %llu blocks", (unsigned long long)r.leaks);
    }
}

static const enum call deadly[] = {CALL_OPEN,  CALL_WRITE,    CALL_PWRITE, CALL_FSYNC, CALL_RENAME,
                                   CALL_MKDIR, CALL_TRUNCATE, CALL_COPY,   CALL_UNLINK, CALL_PREAD};

static uint64_t
next_place(uint64_t n, const struct places *at)
{
    return at->all ? n + at->pieces : n < 3 ? n + 1 : n + 1 + (at->few ? 2 * n : n / 2);
}

/* One thing happens to the run, in places that lie closer or further apart; how many times. */
static unsigned
in_all_places(const struct scene *sc, const struct result *good, enum call call, enum how how,
              const struct places *at)
{
    unsigned kills = 0;
    bool reached = true;
    for (uint64_t n = at->piece; reached; n = next_place(n, at)) {
        struct trial t = {how, call, n, 0}, again = {HOW_KILL, deadly[((unsigned)call + n) % 10], 1 + n / 2, 0};
        const char *words = how == HOW_KILL ? "killed" : how == HOW_CANCEL ? "cancelled" : "error";
        set_doing("%s: %s at %s %llu, going on", sc->name, words, call_name(call), (unsigned long long)n);
        clean_scene(sc);
        reached = killed_run(sc, false, &t);
        kills += reached;
        if (reached && n % 3 == 0) {
            set_doing("%s: %s at %s %llu, going on, killed at %s %llu", sc->name, words, call_name(call),
                      (unsigned long long)n, call_name(again.call), (unsigned long long)again.n);
            kills += killed_run(sc, true, &again);
        }
        if (reached) {
            judge_last(sc, good);
        }
    }
    return kills;
}

/* Memory is out at the n-th allocation, of the run or of the one that goes on. */
static void
without_memory(const struct scene *sc, const struct result *good, const struct places *at)
{
    bool reached = true;
    for (uint64_t n = at->piece; reached; n = at->all ? n + at->pieces : n + 1 + (at->few ? n : n / 3)) {
        set_doing("%s: allocation %llu, going on", sc->name, (unsigned long long)n);
        clean_scene(sc);
        struct result r = run_going(sc, false, n), again = {.allocations = 0};
        reached = r.allocations >= n;
        if (reached && r.status == MRS_DEAD && n % 2) {
            again = run_going(sc, true, 1 + n / 2);
        }
        if (r.leaks || again.leaks) {
            wrong("%llu blocks leak", (unsigned long long)(r.leaks + again.leaks));
        }
        if (r.status != MRS_OK && r.status != MRS_DEAD && r.err.code != good->err.code) {
            wrong("status %d: %s", r.status, r.err.msg);
        }
        if (reached && r.status == MRS_DEAD && again.status != MRS_OK) {
            judge_last(sc, good);
        } else if (reached && r.status == MRS_DEAD) {
            look_at(&again);
            if (!again.allocations) {
                judge_last(sc, good);
            } else if (again.picture != good->picture &&
                       (!good->out_picture || again.out_picture != good->out_picture)) { /* nobody tidied up */
                wrong("other bytes: %s; they should be %s", again.names, good->names);
            }
        }
    }
}

void
resume_runs(const struct scene *sc, const struct result *good, double took, const struct places *at)
{
    unsigned kills = 0;
    for (size_t c = 0; c < sizeof deadly / sizeof *deadly; c++) {
        kills += in_all_places(sc, good, deadly[c], HOW_KILL, at);
    }
    kills += in_all_places(sc, good, CALL_PWRITE, HOW_CANCEL, at);
    kills += in_all_places(sc, good, CALL_OPEN, HOW_CANCEL, at);
    kills += in_all_places(sc, good, CALL_WRITE, HOW_ERROR, at);
    kills += in_all_places(sc, good, CALL_FSYNC, HOW_ERROR, at);
    for (uint64_t i = at->piece; i <= (at->all ? 50u : 5u); i += at->pieces) {
        uint64_t x = i * 0x9E3779B97F4A7C15ull;
        struct trial t = {HOW_KILL, CALL_OPEN, 0, took * 3 * (double)(x >> 40) / (double)(1u << 24)};
        set_doing("%s: killed after %.4f s, to go on", sc->name, t.wait);
        clean_scene(sc);
        if (killed_run(sc, false, &t)) {
            kills++;
            judge_last(sc, good);
        }
    }
    without_memory(sc, good, at);
    tell("%s: %u times killed and gone on", sc->name, kills);
}
