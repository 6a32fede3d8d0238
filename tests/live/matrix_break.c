/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_break.c - the ways to break a run: a kill, a cut reply, a dead server, a late riser, a second run.
 *
 * Each takes a trial up to the act, breaks that, and has it taken up again to its end. Must not know what is tried
 * when.
 */
#include "matrix.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- killed at a stop ---- */
static bool
kill_at(struct trial *t, int k, int n)
{
    char stop[64], phase[64];

    snprintf(stop, sizeof stop, "*:%d=kill", n);
    int status = act(t, k, &(struct call){.stop = stop});
    world_wait(t->w);
    tally->kills += status == 128 + SIGKILL;
    if (status != 128 + SIGKILL && status != t->status[k] && !run_is_over(t, phase)) { /* killed behind its end */
        fail(t, "ended with %d: %s", status, tool_said(t->w, NULL));
        return false;
    }
    nothing_lost(t);
    world_expire(t->w);
    return true;
}

void
try_kill(struct trial *t, int k, int n)
{
    char name[128];

    now_trying(t, "act %d killed at stop %d (%s)", k + 1, n, stop_name(t->stops[k], n, name));
    if (before(t, k) && kill_at(t, k, n))
        end_trial(t, k);
}

/* ---- cut replies ---- */
bool
try_cut(struct trial *t, int k, const char *rule, int n)
{
    now_trying(t, "act %d, %s %d", k + 1, rule, n);
    if (!before(t, k))
        return false;
    world_rule(t->w, "clear");
    world_asked(t->w, "reset");
    world_rule(t->w, "%s * %d", rule, n);
    int status = act(t, k, &(struct call){.proxied = true});
    bool cut = world_asked(t->w, "cuts") > 0;
    world_rule(t->w, "clear");
    tally->cuts += cut;
    if (status != t->status[k] && status != 6) {
        fail(t, "ended with %d: %s", status, tool_said(t->w, NULL));
        return cut;
    }
    nothing_lost(t);
    if (status == 6)
        world_expire(t->w);
    end_trial(t, status == 6 ? k : k + 1);
    return cut;
}

/* ---- seeds ---- */
uint64_t
roll(uint64_t *state, uint64_t below)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

static void
killed_twice(struct trial *t, int k, int n, uint64_t *r)
{
    int again = 1 + (int)roll(r, (uint64_t)stops_in(t->stops[k]));

    now_trying(t, "act %d killed at stop %d, then at %d", k + 1, n, again);
    if (before(t, k) && kill_at(t, k, n) && kill_at(t, k, again))
        end_trial(t, k);
}

static void
restart_server(struct trial *t)
{
    if (shell("%s kill9 && %s start", t->w->use->ctl, t->w->use->ctl) != 0)
        die("the server does not start again");
    world_wait(t->w);
}

static void
after_server(struct trial *t, int k, int status)
{
    world_wait(t->w);
    if (status != t->status[k] && status != 6 && status != 128 + SIGKILL) {
        fail(t, "ended with %d: %s", status, tool_said(t->w, NULL));
        return;
    }
    nothing_lost(t);
    if (status != t->status[k])
        world_expire(t->w);
    end_trial(t, status == t->status[k] ? k + 1 : k);
}

static void
server_at_stop(struct trial *t, int k, int n)
{
    char stop[800];

    now_trying(t, "act %d, the server killed and started at stop %d", k + 1, n);
    if (!before(t, k))
        return;
    snprintf(stop, sizeof stop, "*:%d=run:%s kill9 && %s start", n, t->w->use->ctl, t->w->use->ctl);
    after_server(t, k, act(t, k, &(struct call){.stop = stop}));
}

static void
both_at_stop(struct trial *t, int k, int n)
{
    char stop[64];

    now_trying(t, "act %d and the server killed at stop %d", k + 1, n);
    if (!before(t, k))
        return;
    snprintf(stop, sizeof stop, "*:%d=kill", n);
    int status = act(t, k, &(struct call){.stop = stop});
    restart_server(t);
    after_server(t, k, status);
}

static void
server_meanwhile(struct trial *t, int k, uint64_t *r)
{
    unsigned ms = (unsigned)roll(r, 400);

    now_trying(t, "act %d, the server killed after %u ms and started", k + 1, ms);
    if (!before(t, k))
        return;
    pid_t pid = start_act(t, k, NULL);
    usleep(1000 * ms);
    restart_server(t);
    after_server(t, k, tool_wait(pid));
}

/* Starts an act that stands still at a stop until its file is gone; false: it never came there. how: "asleep", it finds
 * that its lease is long over by its own clock; or "run": then it holds its lease for as long as this takes. */
static pid_t
start_sleeper(struct trial *t, int k, int n, const char *how, char file[300])
{
    char stop[800], list[320];

    snprintf(file, 300, "%s/asleep", t->w->dir);
    snprintf(list, sizeof list, "%s/passed.txt", t->w->dir);
    unlink(file);
    unlink(list);
    snprintf(stop, sizeof stop, "*:%d=%s:touch %s; while [ -e %s ]; do sleep 0.02; done", n, how, file, file);
    pid_t pid = start_act(t, k, &(struct call){.stop = stop, .list = list, .said = "first.txt",
                                              .lease_ms = strcmp(how, "run") == 0 ? 300000 : 0});
    for (int i = 0; i < 60000 && access(file, F_OK) != 0; i++) {
        if (kill(pid, 0) != 0 || waitpid(pid, NULL, WNOHANG) == pid)
            return -1;
        usleep(5000);
    }
    return pid;
}

/* Gone past its lease, taken over, and awake again: it must notice, and nothing may change any more. */
static void
late_riser(struct trial *t, int k, int n)
{
    char file[300], name[128];

    now_trying(t, "act %d asleep at stop %d (%s) until another has done it", k + 1, n,
               stop_name(t->stops[k], n, name));
    if (!before(t, k))
        return;
    pid_t pid = start_sleeper(t, k, n, "asleep", file);
    if (pid > 0) {
        world_expire(t->w);
        bool ended = finish(t, k);
        unlink(file);
        int status = tool_wait(pid);
        if (asked.verbose)
            printf("the late riser ended with %d: %s\n", status, tool_said(t->w, "first.txt"));
        if (!ended)
            return;
        if (status != 6 && status != 2 && status != t->status[k])
            fail(t, "the late riser ended with %d: %s", status, tool_said(t->w, "first.txt"));
    }
    end_trial(t, pid > 0 ? ACTS : k);
}

static void
two_at_once(struct trial *t, int k, uint64_t *r)
{
    now_trying(t, "act %d twice at the same time", k + 1);
    if (!before(t, k))
        return;
    pid_t first = start_act(t, k, &(struct call){.said = "first.txt"});
    usleep((unsigned)roll(r, 150000));
    pid_t second = start_act(t, k, &(struct call){.said = "second.txt"});
    int a = tool_wait(first), b = tool_wait(second);
    if (a != t->status[k] && b != t->status[k])
        fail(t, "neither of two came to its end: %d: %s\n%d: %s", a, tool_said(t->w, "first.txt"), b,
             tool_said(t->w, "second.txt"));
    else if ((a != t->status[k] && a != 6 && a != 2) || (b != t->status[k] && b != 6 && b != 2))
        fail(t, "of two, one ended with %d, the other with %d: %s", a, b, tool_said(t->w, "second.txt"));
    end_trial(t, k + 1);
}

/* Whether the sleeper is past the stop of this name. */
static bool
sleeper_passed(const struct trial *t, const char *name)
{
    char path[320];

    snprintf(path, sizeof path, "%s/passed.txt", t->w->dir);
    char *text = text_file(path);
    bool is = strstr(text, name) != NULL;
    free(text);
    return is;
}

/* The other plan, as long as the first holds the collection. */
static void
is_refused(struct trial *t, const char *plan)
{
    struct call c = {.act = "apply --quiet-by validator --execute", .plan = plan, .said = "second.txt"};
    int status = tool_run(t->w, &c);
    const char *said = tool_said(t->w, "second.txt");
    bool held = status == 6 && strstr(said, "is leased to") != NULL;
    bool gone = status == 2 && strstr(said, "there is no collection") != NULL; /* the first has renamed it already */

    if (!held && !gone)
        fail(t, "the second plan ended with %d: %s", status, said);
}

/* Another plan on the same collection, while the first stands still in the middle of it, is refused by name. How often
 * the first renews its lease differs from run to run, so the same stop may also come after the lease was given back. */
static void
two_plans(struct trial *t, int k, uint64_t *r)
{
    char file[300], other[300], name[128];
    int all = stops_in(t->stops[k]), first_held = 1;

    while (first_held < all - 2 && strcmp(stop_name(t->stops[k], first_held, name), "after-lease-take") != 0)
        first_held++;
    int n = first_held + (int)roll(r, (uint64_t)(all - 1 - first_held)); /* the last one gives back */
    now_trying(t, "another plan, while act %d stands at stop %d", k + 1, n);
    if (!before(t, k))
        return;
    snprintf(other, sizeof other, "%s/other.yaml", t->w->dir);
    FILE *f = fopen(other, "w");
    if (f == NULL || fprintf(f, "version: 1\nsteps:\n  - set: { in: %s, fields: { other: 1 } }\n",
                             t->scene->rows[0].coll) < 0 || fclose(f) != 0)
        die("cannot write %s", other);
    pid_t pid = start_sleeper(t, k, n, "run", file);
    if (pid < 0) {
        end_trial(t, k);
        return;
    }
    if (!sleeper_passed(t, "before-lease-release"))
        is_refused(t, other);
    unlink(file);
    int first = tool_wait(pid);
    if (first != t->status[k])
        fail(t, "the first ended with %d: %s", first, tool_said(t->w, "first.txt"));
    end_trial(t, k + 1);
}

void
try_random(struct trial *t, uint64_t *r)
{
    int acts = 0, k;

    while (acts < ACTS && t->way->acts[acts] != NULL)
        acts++;
    do
        k = (int)roll(r, (uint64_t)acts);
    while (strcmp(t->way->acts[k], "!") == 0);
    int stops = stops_in(t->stops[k]), n = 1 + (int)roll(r, (uint64_t)(stops > 0 ? stops : 1));
    bool ours = t->w->use->ours;
    switch (roll(r, 10)) {
    case 0: killed_twice(t, k, n, r); break;
    case 1: try_cut(t, k, "cut-request", n); break;
    case 2: case 3: try_cut(t, k, "cut-reply", n + (int)roll(r, 20)); break;
    case 4: ours ? server_at_stop(t, k, n) : killed_twice(t, k, n, r); break;
    case 5: ours ? both_at_stop(t, k, n) : killed_twice(t, k, n, r); break;
    case 6: ours ? server_meanwhile(t, k, r) : killed_twice(t, k, n, r); break;
    case 7: late_riser(t, k, n); break;
    case 8: two_at_once(t, k, r); break;
    default: two_plans(t, k, r); break;
    }
}

