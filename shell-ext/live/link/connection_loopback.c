/* SPDX-License-Identifier: Apache-2.0 */
/* connection_loopback.c - serves one text, the metrics, on a port that only this machine can reach.
 *
 * A separate thread answers, since the run may wait long for its server; it only has the last text. One client at a
 * time, for at most a second: a slow client is disconnected. A web page in a browser of this machine could send
 * requests under another host name, so only requests to a name of this machine are answered. */
#include "connection_loopback.h"

#include "mongoreshape/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MAX = 8192, CALLER_MS = 1000, WAITING_CALLERS = 8 };

struct live_port {
    struct mrs_mem *mem;
    int listener, stop[2];
    bool locked, threaded;
    pthread_t thread;
    pthread_mutex_t lock; /* protects text and n */
    size_t n;
    char text[LIVE_PORT_TEXT];
    char answer[LIVE_PORT_TEXT + 256], request[REQUEST_MAX + 1]; /* of the thread */
};

/* ---- addresses ---- */
static const char *
port_of(const char *where)
{
    const char *colon = strrchr(where, ':');
    return colon && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0' && !strchr(where, '/') ? colon + 1
                                                                                                         : NULL;
}

bool
live_port_named(const char *where)
{
    return port_of(where) != NULL;
}

struct port_address {
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } of;
    socklen_t n;
};

/* Is it an address of this machine only? */
static bool
loopback(const char *where, struct port_address *a)
{
    const char *port = port_of(where);
    char host[64];
    size_t n = port ? (size_t)(port - 1 - where) : 0;
    uint32_t number = 0;
    for (const char *at = port; at && *at && number <= 65535; at++) {
        number = 10 * number + (uint32_t)(*at - '0');
    }
    if (!port || n == 0 || n >= sizeof host || number > 65535) {
        return false;
    }
    memcpy(host, where, n);
    host[n] = '\0';
    memset(a, 0, sizeof *a);
    if (strcmp(host, "[::1]") == 0) {
        a->of.six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)number),
                                          .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        a->n = sizeof a->of.six;
        return true;
    }
    a->of.four.sin_family = AF_INET;
    a->of.four.sin_port = htons((uint16_t)number);
    a->n = sizeof a->of.four;
    return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &a->of.four.sin_addr) == 1 &&
           a->of.four.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
}

bool
live_port_loopback(const char *where)
{
    struct port_address a;
    return loopback(where, &a);
}

/* ---- one client ---- */
/* Waits until fd can be read or the port is closed. */
static bool
readable(const struct live_port *p, int fd, int64_t ms)
{
    MRS_ASSERT(fd >= 0 && ms > 0);
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = p->stop[0], .events = POLLIN}};
    int ready = poll(fds, 2, (int)ms);
    return ready > 0 && !fds[1].revents && fds[0].revents;
}

/* Reads the head of a request; false: too late or too long. */
static bool
read_request(struct live_port *p, int fd)
{
    int64_t until = mrs_clock_asleep() + CALLER_MS;
    for (size_t n = 0; n < REQUEST_MAX;) {
        int64_t left = until - mrs_clock_asleep();
        if (left <= 0 || !readable(p, fd, left)) {
            return false;
        }
        ssize_t more = recv(fd, p->request + n, REQUEST_MAX - n, MSG_DONTWAIT);
        if (more <= 0) {
            return false;
        }
        n += (size_t)more;
        p->request[n] = '\0';
        if (strstr(p->request, "\r\n\r\n")) {
            return true;
        }
    }
    return false;
}

/* Is a text that ends at a line's end a name of this machine, with or without a port? */
static bool
our_name(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(host, names[i], n) == 0) {
            n += host[n] == ':' ? 1 + strspn(host + n + 1, "0123456789") : 0;
            return host[n] == '\r';
        }
    }
    return false;
}

/* Does its line Host name this machine, or is there none? */
static bool
for_us(const char *request)
{
    for (const char *line = strstr(request, "\r\n"); line && line[2] != '\r'; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, "Host:", 5) == 0) {
            return our_name(line + 7 + strspn(line + 7, " \t"));
        }
    }
    return true;
}

static size_t
answer(struct live_port *p)
{
    MRS_ASSERT(p->locked && p->n <= sizeof p->text);
    const char *status = !for_us(p->request)                                  ? "403 Forbidden"
                         : strncmp(p->request, "GET ", 4) != 0                ? "405 Method Not Allowed"
                         : strncmp(p->request + 4, "/metrics", 8) != 0 ||
                                 !strchr(" ?", p->request[12])                ? "404 Not Found"
                                                                              : NULL;
    if (status) {
        return (size_t)snprintf(p->answer, sizeof p->answer,
                                "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status);
    }
    pthread_mutex_lock(&p->lock);
    int head = snprintf(p->answer, 256,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; "
                        "charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", p->n);
    memcpy(p->answer + head, p->text, p->n);
    size_t n = (size_t)head + p->n;
    pthread_mutex_unlock(&p->lock);
    return n;
}

static void
serve(struct live_port *p, int fd)
{
    MRS_ASSERT(fd >= 0);
    const struct timeval wait = {CALLER_MS / 1000, 0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (read_request(p, fd)) {
        size_t n = answer(p);
        for (size_t at = 0; at < n;) {
            ssize_t sent = send(fd, p->answer + at, n - at, MSG_NOSIGNAL);
            if (sent <= 0) {
                break;
            }
            at += (size_t)sent;
        }
        shutdown(fd, SHUT_WR);
    }
}

static void *
port_main(void *arg)
{
    MRS_ASSERT(((struct live_port *)arg)->listener >= 0);
    struct live_port *p = arg;
    for (;;) {
        struct pollfd fds[] = {{.fd = p->listener, .events = POLLIN}, {.fd = p->stop[0], .events = POLLIN}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            return NULL;
        }
        if (fds[1].revents) {
            return NULL;
        }
        int fd = fds[0].revents ? accept4(p->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0) {
            serve(p, fd);
            close(fd);
        }
    }
}

/* ---- the port ---- */
static enum mrs_status
listen_at(struct live_port *p, const char *where, char url[96], struct mrs_err *e)
{
    MRS_ASSERT(p->listener < 0);
    struct port_address a;
    const int yes = 1;
    if (!loopback(where, &a)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "%s is no port of this machine alone", where);
    }
    p->listener = socket(a.of.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->listener < 0 || setsockopt(p->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(p->listener, &a.of.any, a.n) != 0 || listen(p->listener, WAITING_CALLERS) != 0 ||
        getsockname(p->listener, &a.of.any, &a.n) != 0) {
        return mrs_err_sys(e, errno, "port %s", where);
    }
    int host = (int)(port_of(where) - 1 - where);
    snprintf(url, 96, "http://%.*s:%u/metrics", host, where,
             (unsigned)ntohs(a.of.any.sa_family == AF_INET6 ? a.of.six.sin6_port : a.of.four.sin_port));
    return MRS_OK;
}

/* Signals go to the working thread. */
static enum mrs_status
begin_thread(struct live_port *p, struct mrs_err *e)
{
    MRS_ASSERT(!p->threaded && !p->locked);
    sigset_t all, before;
    int why = pthread_mutex_init(&p->lock, NULL);
    p->locked = why == 0;
    if (why == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        why = pthread_create(&p->thread, NULL, port_main, p);
        p->threaded = why == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return why == 0 ? MRS_OK : mrs_err_sys(e, why, "a thread for the port");
}

enum mrs_status
live_port_open(struct mrs_mem *mem, const char *where, char url[96], struct live_port **out, struct mrs_err *e)
{
    struct live_port *p = mrs_zalloc(mem, sizeof *p);
    *out = NULL;
    MRS_TRY(mrs_allocated(p, sizeof *p, e));
    p->mem = mem;
    p->listener = p->stop[0] = p->stop[1] = -1;
    enum mrs_status s = listen_at(p, where, url, e);
    if (s == MRS_OK && pipe2(p->stop, O_CLOEXEC) != 0) {
        s = mrs_err_sys(e, errno, "port %s", where);
    }
    MRS_THEN(s, begin_thread(p, e));
    if (s != MRS_OK) {
        live_port_close(p);
        return s;
    }
    *out = p;
    return MRS_OK;
}

enum mrs_status
live_port_put(struct live_port *p, const void *text, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(p->locked && text);
    if (n > sizeof p->text) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "%zu bytes are too much to be shown on a port", n);
    }
    pthread_mutex_lock(&p->lock);
    memcpy(p->text, text, n);
    p->n = n;
    pthread_mutex_unlock(&p->lock);
    return MRS_OK;
}

void
live_port_close(struct live_port *p)
{
    MRS_ASSERT(!p || !p->threaded || p->locked);
    if (!p) {
        return;
    }
    if (p->threaded) {
        while (write(p->stop[1], "", 1) < 0 && errno == EINTR) {
        }
        pthread_join(p->thread, NULL);
    }
    if (p->locked) {
        pthread_mutex_destroy(&p->lock);
    }
    for (int i = 0; i < 3; i++) {
        int fd = i < 2 ? p->stop[i] : p->listener;
        if (fd >= 0) {
            close(fd);
        }
    }
    mrs_free(p->mem, p);
}
