/* SPDX-License-Identifier: Apache-2.0 */
/* live_hooks.c - runs the user's commands at the end: --on-success, --on-failure.
 *
 * They start last: the state is stored, leases are released, the report is printed, the connection is closed. So they
 * may start the next command on the same run, and their result changes neither the run nor the exit status. By `sh -c`,
 * so that a shell line works as usual; data of the run are in the environment, never in the line. */
#include "live_job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define OURS "MONGORESHAPE_"

/* The environment of a hook: MONGORESHAPE_NAME=VALUE. */
struct hook_environment {
    struct mrs_arena *a;
    char **at;
    size_t n, room;
    bool bad; /* out of memory */
};

static void
set_variable(struct hook_environment *t, const char *name, const char *value)
{
    MRS_ASSERT(name && value);
    size_t room = sizeof OURS + strlen(name) + 1 + strlen(value) + 1;
    char *text = t->n + 1 < t->room ? mrs_arena_alloc(t->a, room) : NULL;
    if (!text) {
        t->bad = true;
        return;
    }
    snprintf(text, room, OURS "%s=%s", name, value);
    t->at[t->n++] = text;
}

static void
set_count(struct hook_environment *t, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    set_variable(t, name, text);
}

/* Our environment without the variables of an outer hook. */
static void
inherit(struct hook_environment *t)
{
    MRS_ASSERT(!t->at);
    size_t n = 0;
    while (environ[n]) {
        n++;
    }
    t->room = n + 24;
    t->at = mrs_arena_alloc(t->a, t->room * sizeof *t->at);
    t->bad = !t->at;
    for (size_t i = 0; t->at && i < n; i++) {
        if (strncmp(environ[i], OURS, sizeof OURS - 1) != 0) {
            t->at[t->n++] = environ[i];
        }
    }
}

static bool
set_all(struct hook_environment *t, const struct live_call *c, int status)
{
    const struct live_pass_report *r = &c->report;
    inherit(t);
    if (!t->bad) {
        set_variable(t, "COMMAND", c->cli->line.command->name);
        set_count(t, "STATUS", (uint64_t)status);
        set_variable(t, "RUN", c->run);
        set_variable(t, "PHASE", c->phase);
        set_variable(t, "PLAN", c->cli->line.operand ? c->cli->line.operand : "");
        set_variable(t, "STATE_DB", c->job.opts.state_db);
        set_count(t, "DOCUMENTS", r->docs);
        set_count(t, "WRITTEN", r->written);
        set_count(t, "REFUSED", r->refused);
        set_count(t, "DIFFERS", r->differs);
        set_count(t, "SECONDS", (mrs_clock_steady() - c->begun_ms) / 1000);
        set_variable(t, "ERROR", c->err.code ? c->err.msg : "");
    }
    if (t->bad) {
        return false;
    }
    t->at[t->n] = NULL;
    return true;
}

/* Standard output is only for the report: the hook's output goes to the messages. */
static int
start(const char *line, char **env, pid_t *pid)
{
    char *const words[] = {"sh", "-c", (char *)(uintptr_t)line, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, own;
    int why = posix_spawn_file_actions_init(&files);
    if (why) {
        return why;
    }
    why = posix_spawnattr_init(&how);
    if (!why) {
        sigemptyset(&none);
        sigemptyset(&own);
        sigaddset(&own, SIGPIPE); /* ignored here */
        sigaddset(&own, SIGXFSZ);
        why = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        why = why ? why : posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
        why = why ? why : posix_spawnattr_setsigmask(&how, &none);
        why = why ? why : posix_spawnattr_setsigdefault(&how, &own);
        why = why ? why : posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        why = why ? why : posix_spawn(pid, "/bin/sh", &files, &how, words, env);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    return why;
}

static void
wait_for(const struct live_call *c, const char *option, pid_t pid)
{
    int how = 0;
    const char *tool = c->cli->line.tool->name;
    while (waitpid(pid, &how, 0) < 0) {
        if (errno != EINTR) {
            mrs_say(stderr, "%s: the command of --%s cannot be waited for\n", tool, option);
            return;
        }
    }
    if (WIFSIGNALED(how)) {
        mrs_say(stderr, "%s: the command of --%s was ended by signal %d; the run is as it was reported\n", tool, option,
                WTERMSIG(how));
    } else if (WEXITSTATUS(how) != 0) {
        mrs_say(stderr, "%s: the command of --%s ended with status %d; the run is as it was reported\n", tool, option,
                WEXITSTATUS(how));
    }
}

void
live_call_hook(struct live_call *c, int status)
{
    MRS_ASSERT(status >= 0);
    bool works = c->cli->execute || strcmp(c->cli->line.command->name, "verify") == 0;
    const char *option = status == 0 ? "on-success" : "on-failure";
    const char *line = status == 0 ? c->cli->on_success : c->cli->on_failure;
    struct hook_environment t = {.a = &c->arena};
    pid_t pid;
    if (!works || !line) {
        return;
    }
    fflush(stdout);
    int why = set_all(&t, c, status) ? start(line, t.at, &pid) : ENOMEM;
    if (why) {
        struct mrs_err e;
        mrs_err_clear(&e);
        mrs_err_sys(&e, why, "the command of --%s could not be started", option);
        mrs_cli_report(&c->cli->line, &e);
    } else {
        wait_for(c, option, pid);
    }
}
