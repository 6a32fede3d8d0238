/* SPDX-License-Identifier: Apache-2.0 */
/* worker_processes.c - --workers: processes of this program that work on the run led by this one.
 *
 * A worker is `apply --worker`, the same as one started on another machine: it gets the connection string through a
 * pipe, so no list of processes shows it, and writes its messages into another. One that is killed is replaced; one
 * that fails with an error ends the run with that error. It ends with this process in any case: another worker then
 * takes over its range. */
#include "live_job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { WORDS = 32, DIED_MAX = 20, FD_MAX = 1024, END_MS = 5000, END_LOOK_MS = 20 };

/* ---- command line ---- */
struct words {
    const char *at[WORDS];
    uint32_t n;
    char number[5][24];
    uint32_t n_numbers;
};

static void
word(struct words *w, const char *option, const char *value)
{
    if (value && w->n + 3 < WORDS) {
        w->at[w->n++] = option;
        if (*value) {
            w->at[w->n++] = value;
        }
    }
}

static void
number(struct words *w, const char *option, uint64_t value)
{
    char *text = w->number[w->n_numbers++];
    snprintf(text, sizeof w->number[0], "%llu", (unsigned long long)value);
    word(w, option, text);
}

static void
line_of(const struct live_call *c, struct words *w)
{
    const struct live_opts *o = &c->job.opts;
    w->n = w->n_numbers = 0;
    w->at[w->n++] = c->cli->line.tool->name;
    word(w, "apply", "--worker");
    word(w, "--execute", "");
    word(w, "--run", c->job.run->id);
    word(w, "--uri-file", "-");
    word(w, "--state-db", o->state_db);
    word(w, "--db", c->cli->db);
    number(w, "--lease", (uint64_t)c->job.run->lease_ms);
    number(w, "--memory", o->memory);
    if (o->batch) {
        number(w, "--batch", o->batch);
    }
    if (o->passes) {
        number(w, "--passes", o->passes);
    }
    if (o->max_refused) {
        number(w, "--max-refused", o->max_refused);
    }
    word(w, "--allow-scan", o->allow_scan ? "" : NULL);
    w->at[w->n] = NULL;
}

/* ---- start ---- */
/* Between fork and exec: call nothing that takes a lock. */
static void
become(const struct words *w, int in, int out, pid_t leader)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (getppid() != leader || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
            dup2(out, STDERR_FILENO) < 0) {
        _exit(4);
    }
    for (int fd = STDERR_FILENO + 1; fd < FD_MAX; fd++) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    execv("/proc/self/exe", (char *const *)(uintptr_t)w->at);
    execvp(w->at[0], (char *const *)(uintptr_t)w->at);
    _exit(4);
}

static void
hand_over(int to, const char *uri)
{
    size_t n = strlen(uri);
    while (n > 0) {
        ssize_t sent = write(to, uri, n);
        if (sent < 0 && errno != EINTR) {
            return; /* it has died: noticed elsewhere */
        }
        uri += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
    (void)!write(to, "\n", 1);
}

static enum mrs_status
start(struct live_worker_processes *c, struct live_member *m, struct mrs_err *e)
{
    struct words w;
    int in[2], out[2];
    pid_t leader = getpid();
    line_of(c->call, &w);
    if (pipe(in) != 0) {
        return mrs_err_sys(e, errno, "a pipe for a worker");
    }
    if (pipe(out) != 0) {
        close(in[0]);
        close(in[1]);
        return mrs_err_sys(e, errno, "a pipe for a worker");
    }
    fflush(stdout);
    m->pid = (int)fork();
    if (m->pid == 0) {
        become(&w, in[0], out[1], leader);
    }
    close(in[0]);
    close(out[1]);
    if (m->pid < 0) {
        m->pid = 0;
        close(in[1]);
        close(out[0]);
        return mrs_err_sys(e, errno, "a worker could not be started");
    }
    fcntl(in[1], F_SETFD, FD_CLOEXEC);
    fcntl(out[0], F_SETFD, FD_CLOEXEC);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    hand_over(in[1], c->call->uri);
    close(in[1]);
    m->out = out[0];
    m->n = 0;
    return MRS_OK;
}

/* ---- messages ---- */
/* A line of a worker: errors are stored, other lines passed on, once if all workers print the same. */
static void
handle_line(struct live_worker_processes *c, const char *line)
{
    const char *tool = c->call->cli->line.tool->name;
    size_t n = strlen(tool);
    if (strncmp(line, tool, n) == 0 && line[n] == ':') {
        snprintf(c->why, sizeof c->why, "%.500s", line + n + 1 + (line[n + 1] == ' '));
    } else if (*line && strncmp(line, c->last_line, sizeof c->last_line - 1) != 0 && c->call->job.print_line) {
        snprintf(c->last_line, sizeof c->last_line, "%.500s", line);
        c->call->job.print_line(c->call->job.arg, c->last_line);
    }
}

static void
listen(struct live_worker_processes *c, struct live_member *m)
{
    char piece[512];
    ssize_t n;
    while ((n = read(m->out, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR)) {
        for (ssize_t i = 0; i < n; i++) {
            if (piece[i] == '\n') {
                m->line[m->n] = 0;
                handle_line(c, m->line);
                m->n = 0;
            } else if (m->n + 1 < sizeof m->line) {
                m->line[m->n++] = piece[i];
            }
        }
    }
}

/* ---- end ---- */
static enum mrs_code
code_of(int status)
{
    static const enum mrs_code codes[] = {MRS_E_SERVER, MRS_E_TOO_MANY, MRS_E_USAGE, MRS_E_BSON, MRS_E_IO, MRS_E_LIMIT,
                                          MRS_E_SERVER, MRS_E_TOO_MANY};
    return status > 0 && status < (int)(sizeof codes / sizeof *codes) ? codes[status] : MRS_E_SERVER;
}

/* Has it ended? how: its wait status. */
static bool
has_ended(struct live_worker_processes *c, struct live_member *m, int *how)
{
    listen(c, m);
    if (waitpid(m->pid, how, WNOHANG) != m->pid) {
        return false;
    }
    listen(c, m);
    close(m->out);
    m->pid = 0;
    return true;
}

static enum mrs_status
after(struct live_worker_processes *c, int how, struct mrs_err *e)
{
    if (WIFEXITED(how) && WEXITSTATUS(how) > 0 && WEXITSTATUS(how) < 128) {
        return mrs_err_set(e, MRS_FAIL, code_of(WEXITSTATUS(how)), "%s", *c->why ? c->why : "a worker failed");
    }
    c->died++;
    if (c->died > DIED_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "%u workers have ended in a row without any progress (the last one by %s %d); the same "
                           "command resumes the run", c->died,
                           WIFSIGNALED(how) ? "signal" : "status", WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    }
    return MRS_OK;
}

static enum mrs_status
keep(struct live_workers *w, bool progress, struct mrs_err *e)
{
    struct live_worker_processes *c = (struct live_worker_processes *)(void *)w;
    enum mrs_status s = MRS_OK;
    c->died = progress ? 0 : c->died;
    for (uint32_t i = 0; i < w->n && s == MRS_OK; i++) {
        struct live_member *m = &c->member[i];
        int how = 0;
        if (m->pid && has_ended(c, m, &how)) {
            s = after(c, how, e);
        }
        if (s == MRS_OK && !m->pid) {
            s = start(c, m, e);
        }
    }
    return s;
}

void
live_workers_of(struct live_worker_processes *c, struct live_call *call)
{
    c->call = call;
    c->workers.n = call->cli->workers ? (uint32_t)call->cli->workers : 1;
    c->workers.keep = keep;
}

static bool
signal_all(struct live_worker_processes *c, int number)
{
    bool any = false;
    for (uint32_t i = 0; i < LIVE_WORKERS_MAX; i++) {
        struct live_member *m = &c->member[i];
        int how;
        if (m->pid && !has_ended(c, m, &how)) {
            any = true;
            if (number) {
                kill(m->pid, number);
            }
        }
    }
    return any;
}

void
live_workers_end(struct live_worker_processes *c)
{
    struct timespec t = {0, END_LOOK_MS * 1000000};
    bool any = signal_all(c, SIGTERM);
    for (int waited = 0; any && waited < END_MS; waited += END_LOOK_MS) {
        nanosleep(&t, NULL);
        any = signal_all(c, 0);
    }
    for (any = signal_all(c, SIGKILL); any; any = signal_all(c, 0)) {
        nanosleep(&t, NULL);
    }
}

const char *
live_call_worker_misuse(const struct live_cli *cli)
{
    static const char *const run[] = {"docs", "bytes", "sleep", "max-lag", "max-latency", "max-load", "critical-load",
                                      "hours", "workers", "mode", "quiet-by", "engine", "metrics", "no-transactions"};
    if (!cli->execute) {
        return "--worker helps a run that works: it needs --execute";
    }
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        if (mrs_cli_given(&cli->line, run[i])) {
            return "--worker uses the mode and the limits of the run: give only the plan or --run, the server, "
                   "--state-db, --batch, --memory and --allow-scan; `throttle` changes the limits";
        }
    }
    return NULL;
}
