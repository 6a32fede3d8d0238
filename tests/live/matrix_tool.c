/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_tool.c - the tool, the proxy and the shell, called and waited for; and what one worker's world is made of.
 *
 * The tool finds the URI in its environment, so that it never is in a list of processes; what it says goes into a
 * file that is shown only when something is wrong.
 */
#include "matrix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 48, LONGEST_S = 300 };

void
die(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fprintf(stderr, "matrix: ");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    _exit(2);
}

int
shell(const char *fmt, ...)
{
    char line[4096];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof line)
        die("a command is too long");
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

char *
text_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 16);

    if (text == NULL)
        die("out of memory");
    if (f != NULL) {
        size_t n = fread(text, 1, (1 << 16) - 1, f);
        text[n] = 0;
        fclose(f);
    }
    return text;
}

const char *
tool_said(struct world *w, const char *file)
{
    static char text[1600];
    char path[300];

    snprintf(path, sizeof path, "%s/%s", w->dir, file != NULL ? file : "said.txt");
    char *all = text_file(path);
    size_t n = strlen(all);
    snprintf(text, sizeof text, "%s", all + (n > 1500 ? n - 1500 : 0));
    free(all);
    return text;
}

/* ---- the tool ---- */
static int
split(char *text, char **argv, int n)
{
    for (char *word = strtok(text, " "); word != NULL && n < WORDS - 16; word = strtok(NULL, " "))
        argv[n++] = word;
    return n;
}

static void
set_or_unset(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void
exec_tool(struct world *w, const struct call *c)
{
    char *argv[WORDS], act[TEXT], more[TEXT], path[300];
    bool apply = strncmp(c->act, "apply", 5) == 0;
    int n = 0;

    snprintf(act, sizeof act, "%s", c->act);
    snprintf(more, sizeof more, "%s", c->more != NULL ? c->more : "");
    argv[n++] = strdup("mongoreshape-live");
    n = split(act, argv, n);
    argv[n++] = strdup(c->plan != NULL ? c->plan : w->plan);
    n = split(more, argv, n);
    argv[n++] = strdup("--state-db");
    argv[n++] = w->state;
    argv[n++] = strdup("--batch");
    argv[n++] = strdup("2");
    if (apply) {
        static char max[] = "--max-refused", thousand[] = "1000", now[] = "--now", date[] = "2024-05-01T00:00:00Z";
        argv[n++] = max;
        argv[n++] = thousand;
        argv[n++] = now;
        argv[n++] = date;
    }
    argv[n] = NULL;
    snprintf(path, sizeof path, "%s/%s", w->dir, c->said != NULL ? c->said : "said.txt");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(97);
    setenv("MONGODB_URI", c->proxied ? w->proxied : w->direct, 1);
    setenv("TMPDIR", w->dir, 1);
    set_or_unset("MRS_STOP", c->stop);
    set_or_unset("MRS_STOP_LIST", c->list);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(w->use->live, argv);
    _exit(96);
}

pid_t
tool_start(struct world *w, const struct call *c)
{
    pid_t pid = fork();

    if (pid == 0)
        exec_tool(w, c);
    if (pid < 0)
        die("fork: %s", strerror(errno));
    return pid;
}

int
tool_wait(pid_t pid)
{
    struct timespec begun, now;
    int status;

    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (got < 0)
            die("wait: %s", strerror(errno));
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begun.tv_sec > LONGEST_S) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        usleep(2000);
    }
}

int
tool_run(struct world *w, const struct call *c)
{
    return tool_wait(tool_start(w, c));
}

/* ---- the proxy ---- */
static void
ask_proxy(struct world *w, const char *line, char *answer, size_t room)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)w->control)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t n = 0;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        die("the proxy is gone: %s", strerror(errno));
    if (dprintf(fd, "%s\n", line) < 0)
        die("the proxy does not listen");
    for (ssize_t k; n + 1 < room && (k = read(fd, answer + n, room - n - 1)) > 0;) {
        n += (size_t)k;
        if (answer[n - 1] == '\n')
            break;
    }
    answer[n] = 0;
    close(fd);
}

void
world_rule(struct world *w, const char *fmt, ...)
{
    char line[128], answer[128];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    ask_proxy(w, line, answer, sizeof answer);
    if (strncmp(answer, "ok", 2) != 0)
        die("the proxy on `%s`: %s", line, answer);
}

long
world_asked(struct world *w, const char *question)
{
    char answer[128];

    ask_proxy(w, question, answer, sizeof answer);
    return strtol(answer, NULL, 10);
}

static void
start_proxy(struct world *w)
{
    char host[128], line[128];
    int out[2], port = 0;
    const mongoc_host_list_t *at = mongoc_uri_get_hosts(mongoc_client_get_uri(w->client));

    snprintf(host, sizeof host, "127.0.0.1:%d", at->port);
    if (pipe2(out, O_CLOEXEC) != 0)
        die("pipe: %s", strerror(errno));
    w->proxy = fork();
    if (w->proxy == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], 1);
        execl(w->use->proxy, "proxy", "0", host, "--control", "0", (char *)NULL);
        _exit(96);
    }
    close(out[1]);
    FILE *f = fdopen(out[0], "r");
    while (f != NULL && (port == 0 || w->control == 0) && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "listening ", 10) == 0)
            port = (int)strtol(line + 10, NULL, 10);
        if (strncmp(line, "control ", 8) == 0)
            w->control = (int)strtol(line + 8, NULL, 10);
    }
    if (port == 0 || w->control == 0)
        die("the proxy does not start");
    snprintf(w->proxied, sizeof w->proxied, "mongodb://127.0.0.1:%d/%s?directConnection=true", port, w->db);
}

/* ---- worlds ---- */
void
world_open(struct world *w, const struct programs *use, int number)
{
    memset(w, 0, sizeof *w);
    w->use = use;
    snprintf(w->db, sizeof w->db, "matrix%d", number);
    snprintf(w->state, sizeof w->state, "matrix%d_state", number);
    snprintf(w->dir, sizeof w->dir, "%s/matrix-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    if (mkdtemp(w->dir) == NULL)
        die("no temporary folder: %s", strerror(errno));
    snprintf(w->plan, sizeof w->plan, "%s/plan.yaml", w->dir);
    const char *options = strstr(use->uri, "/?");
    if (options == NULL)
        die("MONGODB_URI does not end in /?OPTIONS");
    snprintf(w->direct, sizeof w->direct, "%.*s/%s%s", (int)(options - use->uri), use->uri, w->db, options + 1);
    w->client = mongoc_client_new(use->uri);
    if (w->client == NULL)
        die("MONGODB_URI is no URI");
    mongoc_client_set_error_api(w->client, MONGOC_ERROR_API_VERSION_2);
    if (!use->replicated || strstr(use->uri, "@") == NULL)
        start_proxy(w);
}

void
world_close(struct world *w)
{
    mongoc_client_destroy(w->client);
    if (w->proxy > 0) {
        kill(w->proxy, SIGKILL);
        waitpid(w->proxy, NULL, 0);
    }
    shell("rm -rf %s", w->dir);
}
