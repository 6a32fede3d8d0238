/* SPDX-License-Identifier: Apache-2.0 */
/* proxy - is between a client and a MongoDB server and cuts their talk at a chosen place.
 *
 * What breaks programs is not the lost connection but where it was lost: a command that was executed and whose reply
 * never came, a request of which the server saw half. So the proxy frames the messages of both directions, knows the
 * name of each command (the first key of the body of an OP_MSG) and counts them. Rules come on the command line or,
 * one line each, through a control port; README.md lists them. A cut rule fires once. One poll loop, blocking nowhere
 * but on the control port; messages pass whole or not at all, but for the one that a rule cuts. Bytes that are no
 * messages of the protocol (TLS) pass as they are: then only rules that count bytes apply.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    LINKS = 256,
    RULES = 64,
    NAMES = 256,
    NAME_SIZE = 48,
    HEADER = 16,
    OP_MSG = 2013,
    LONGEST = 64 << 20,
    HIGH_WATER = 1 << 20
};

enum rule_kind { CUT_BYTES, CUT_REPLY, CUT_REQUEST, DELAY, REFUSE };

struct rule {
    enum rule_kind kind;
    bool from_server;       /* CUT_BYTES: the direction */
    char name[NAME_SIZE];   /* of the command; "*" is any */
    uint64_t n;             /* bytes, or which command of that name, or milliseconds */
    uint64_t seen;
};

struct flow {
    uint8_t *in;            /* read and not judged yet */
    size_t in_size, in_room;
    uint8_t *out;           /* judged, to be written */
    size_t out_size, out_room;
    uint64_t due;           /* ms: nothing is written before */
    bool ended, raw;
};

struct link {
    int fd[2];              /* client, server */
    struct flow flow[2];    /* [0] from the client, [1] from the server */
    uint64_t id;
    int32_t awaited;        /* request whose reply is dropped */
    bool has_awaited, last; /* last: closed when what is left to write is written */
};

struct count {
    char name[NAME_SIZE];
    uint64_t n;
};

static struct link *links[LINKS];
static struct rule rules[RULES];
static int rule_count;
static struct count counts[NAMES];
static int count_count;
static uint64_t cuts, link_ids;
static struct sockaddr_in upstream;

static uint64_t
now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int32_t
int32_at(const uint8_t *p)
{
    uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

    return (int32_t)v;
}

static void
append(uint8_t **buffer, size_t *size, size_t *room, const uint8_t *data, size_t n)
{
    if (*size + n > *room) {
        size_t wanted = (*size + n) * 2;
        uint8_t *grown = realloc(*buffer, wanted);

        if (grown == NULL) {
            fprintf(stderr, "proxy: out of memory\n");
            exit(2);
        }
        *buffer = grown;
        *room = wanted;
    }
    if (n > 0)
        memcpy(*buffer + *size, data, n);
    *size += n;
}

static void
drop_front(uint8_t *buffer, size_t *size, size_t n)
{
    memmove(buffer, buffer + n, *size - n);
    *size -= n;
}

/* The name of the command in a whole message: first key of the document in the section of kind 0. */
static void
command_name(const uint8_t *m, size_t size, char name[NAME_SIZE])
{
    size_t at = HEADER + 4;

    snprintf(name, NAME_SIZE, "-");
    if (int32_at(m + 12) != OP_MSG)
        return;
    while (at + 6 < size && m[at] == 1) {
        int32_t length = int32_at(m + at + 1);

        if (length < 5)
            return;
        at += 1 + (size_t)length;
    }
    if (at + 7 < size && m[at] == 0)
        snprintf(name, NAME_SIZE, "%.*s", (int)(size - at - 6), (const char *)m + at + 6);
}

static void
count_command(const char *name)
{
    int i = 0;

    while (i < count_count && strcmp(counts[i].name, name) != 0)
        i++;
    if (i == NAMES)
        return;
    if (i == count_count)
        snprintf(counts[count_count++].name, NAME_SIZE, "%s", name);
    counts[i].n++;
}

static void
log_cut(const struct link *l, const char *what, const char *name, uint64_t n)
{
    cuts++;
    printf("cut %s %s %llu connection %llu\n", what, name, (unsigned long long)n, (unsigned long long)l->id);
    fflush(stdout);
}

static void
rule_remove(int at)
{
    rule_count--;
    memmove(rules + at, rules + at + 1, (size_t)(rule_count - at) * sizeof *rules);
}

static void
link_close(struct link *l)
{
    for (int i = 0; i < LINKS; i++)
        if (links[i] == l)
            links[i] = NULL;
    for (int i = 0; i < 2; i++) {
        close(l->fd[i]);
        free(l->flow[i].in);
        free(l->flow[i].out);
    }
    free(l);
}

/* The rules on commands. Gives how many bytes of the request go on; all of them unless it is cut. */
static size_t
judge_request(struct link *l, const uint8_t *m, size_t size)
{
    char name[NAME_SIZE];

    command_name(m, size, name);
    count_command(name);
    for (int i = 0; i < rule_count; i++) {
        struct rule *r = rules + i;

        if (r->kind == CUT_BYTES || r->kind == REFUSE || (strcmp(r->name, name) != 0 && strcmp(r->name, "*") != 0))
            continue;
        if (r->kind == DELAY) {
            l->flow[0].due = now_ms() + r->n;
            continue;
        }
        if (++r->seen < r->n)
            continue;
        if (r->kind == CUT_REQUEST) {
            log_cut(l, "request", name, r->n);
            rule_remove(i);
            l->last = true;
            return size / 2;
        }
        if (r->seen == r->n) {
            l->awaited = int32_at(m + 4);
            l->has_awaited = true;
        }
    }
    return size;
}

/* True when the reply is the one to be dropped. */
static bool
judge_reply(struct link *l, const uint8_t *m)
{
    if (!l->has_awaited || int32_at(m + 8) != l->awaited)
        return false;
    for (int i = 0; i < rule_count; i++) {
        if (rules[i].kind == CUT_REPLY && rules[i].seen >= rules[i].n) {
            log_cut(l, "reply", rules[i].name, rules[i].n);
            rule_remove(i);
            return true;
        }
    }
    return false;
}

/* The rules on bytes; gives how many of them still pass. */
static size_t
judge_bytes(struct link *l, int side, size_t size)
{
    for (int i = 0; i < rule_count; i++) {
        struct rule *r = rules + i;

        if (r->kind != CUT_BYTES || r->from_server != (side == 1))
            continue;
        if (r->seen + size >= r->n) {
            size = (size_t)(r->n - r->seen);
            log_cut(l, "bytes", side == 1 ? "from" : "to", r->n);
            rule_remove(i);
            l->last = true;
            return size;
        }
        r->seen += size;
    }
    return size;
}

/* Judges what has been read of one side. False: the connection is to be closed at once. */
static bool
judge(struct link *l, int side)
{
    struct flow *f = &l->flow[side];

    while (f->in_size > 0 && !l->last) {
        size_t size = f->in_size, pass;

        if (!f->raw && size < HEADER)
            return true;
        if (!f->raw && (int32_at(f->in) < HEADER || int32_at(f->in) > LONGEST))
            f->raw = true;
        if (!f->raw) {
            size = (size_t)int32_at(f->in);
            if (f->in_size < size)
                return true;
        }
        pass = size;
        if (!f->raw && side == 0)
            pass = judge_request(l, f->in, size);
        if (!f->raw && side == 1 && judge_reply(l, f->in))
            return false;
        if (!l->last)
            pass = judge_bytes(l, side, pass);
        append(&f->out, &f->out_size, &f->out_room, f->in, pass);
        drop_front(f->in, &f->in_size, size);
    }
    return true;
}

static bool
link_read(struct link *l, int side)
{
    static uint8_t piece[1 << 16];
    struct flow *f = &l->flow[side];
    ssize_t n = recv(l->fd[side], piece, sizeof piece, 0);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0) {
        f->ended = true;
        return true;
    }
    append(&f->in, &f->in_size, &f->in_room, piece, (size_t)n);
    return judge(l, side);
}

static bool
link_write(struct link *l, int side)
{
    struct flow *f = &l->flow[side];
    ssize_t n = send(l->fd[!side], f->out, f->out_size, MSG_NOSIGNAL);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    drop_front(f->out, &f->out_size, (size_t)n);
    return true;
}

/* A connection ends when one side has ended and all it said is delivered. */
static bool
link_done(const struct link *l)
{
    bool empty[2] = {l->flow[0].out_size == 0, l->flow[1].out_size == 0};

    if (l->last)
        return empty[0] && empty[1];
    return (l->flow[0].ended && empty[0]) || (l->flow[1].ended && empty[1]);
}

static short
wanted_events(const struct link *l, int side, uint64_t now)
{
    const struct flow *from = &l->flow[side], *to = &l->flow[!side];
    short events = 0;

    if (!from->ended && !l->last && from->out_size < HIGH_WATER && from->due <= now)
        events |= POLLIN;
    if (to->out_size > 0 && to->due <= now)
        events |= POLLOUT;
    return events;
}

static void
set_up_socket(int fd)
{
    int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void
link_open(int listener)
{
    int client = accept(listener, NULL, NULL), server, at = 0;
    bool refused = false;

    if (client < 0)
        return;
    for (int i = 0; i < rule_count; i++)
        refused = refused || rules[i].kind == REFUSE;
    while (at < LINKS && links[at] != NULL)
        at++;
    server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (refused || at == LINKS || server < 0 || connect(server, (struct sockaddr *)&upstream, sizeof upstream) != 0) {
        close(client);
        if (server >= 0)
            close(server);
        return;
    }
    links[at] = calloc(1, sizeof **links);
    if (links[at] == NULL)
        exit(2);
    set_up_socket(client);
    set_up_socket(server);
    links[at]->fd[0] = client;
    links[at]->fd[1] = server;
    links[at]->id = ++link_ids;
}

static bool
number(const char *text, uint64_t *n)
{
    char *end;

    errno = 0;
    *n = strtoull(text, &end, 10);
    return errno == 0 && *text >= '0' && *text <= '9' && *end == 0;
}

/* One line of rules; false when it is none. */
static bool
rule_add(const char *line)
{
    char verb[NAME_SIZE] = "", name[NAME_SIZE] = "", n[NAME_SIZE] = "", rest[2] = "";
    int words = sscanf(line, "%47s %47s %47s %1s", verb, name, n, rest);
    struct rule r = {.kind = REFUSE};

    if (rule_count == RULES)
        return false;
    if (strcmp(verb, "refuse") == 0 && words == 1) {
        rules[rule_count++] = r;
        return true;
    }
    if (words != 3 || !number(n, &r.n))
        return false;
    if (strcmp(verb, "cut-bytes") == 0 && (strcmp(name, "to") == 0 || strcmp(name, "from") == 0))
        r.kind = CUT_BYTES;
    else if (strcmp(verb, "cut-reply") == 0)
        r.kind = CUT_REPLY;
    else if (strcmp(verb, "cut-request") == 0)
        r.kind = CUT_REQUEST;
    else if (strcmp(verb, "delay") == 0)
        r.kind = DELAY;
    else
        return false;
    if ((r.kind == CUT_REPLY || r.kind == CUT_REQUEST) && r.n == 0)
        return false;
    r.from_server = strcmp(name, "from") == 0;
    snprintf(r.name, sizeof r.name, "%s", name);
    rules[rule_count++] = r;
    return true;
}

static uint64_t
count_of(const char *name)
{
    for (int i = 0; i < count_count; i++)
        if (strcmp(counts[i].name, name) == 0)
            return counts[i].n;
    return 0;
}

/* Carries out one line of the control port and writes the answer. */
static void
control_line(char *line, char *answer, size_t room)
{
    line[strcspn(line, "\r\n")] = 0;
    if (strcmp(line, "clear") == 0) {
        rule_count = 0;
        snprintf(answer, room, "ok\n");
    } else if (strcmp(line, "cut-all") == 0) {
        for (int i = 0; i < LINKS; i++) {
            if (links[i] == NULL)
                continue;
            log_cut(links[i], "all", "-", 0);
            link_close(links[i]);
        }
        snprintf(answer, room, "ok\n");
    } else if (strcmp(line, "reset") == 0) {
        count_count = 0;
        cuts = 0;
        snprintf(answer, room, "ok\n");
    } else if (strcmp(line, "cuts") == 0) {
        snprintf(answer, room, "%llu\n", (unsigned long long)cuts);
    } else if (strncmp(line, "count ", 6) == 0) {
        snprintf(answer, room, "%llu\n", (unsigned long long)count_of(line + 6));
    } else {
        snprintf(answer, room, "%s\n", rule_add(line) ? "ok" : "error: no such rule");
    }
}

/* One connection to the control port carries one line. */
static void
control(int listener)
{
    struct timeval limit = {.tv_sec = 1};
    char line[256], answer[64];
    size_t size = 0;
    ssize_t n = 1;
    int fd = accept(listener, NULL, NULL);

    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    while (n > 0 && size + 1 < sizeof line && memchr(line, '\n', size) == NULL) {
        n = recv(fd, line + size, sizeof line - 1 - size, 0);
        size += n > 0 ? (size_t)n : 0;
    }
    line[size] = 0;
    control_line(line, answer, sizeof answer);
    if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
        fprintf(stderr, "proxy: the control connection went away\n");
    close(fd);
}

static int
listen_on(uint16_t port, const char *what)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) != 0) {
        fprintf(stderr, "proxy: cannot listen: %s\n", strerror(errno));
        exit(2);
    }
    printf("%s %u\n", what, ntohs(a.sin_port));
    return fd;
}

/* Moves what one connection has to move; closes it when it is done. */
static void
link_serve(struct link *l, const struct pollfd p[2], uint64_t now)
{
    bool alive = true;

    for (int side = 0; side < 2 && alive; side++) {
        if ((p[side].revents & POLLIN) != 0 && (p[side].events & POLLIN) != 0)
            alive = link_read(l, side);
        else if ((p[side].revents & (POLLERR | POLLHUP)) != 0 && l->flow[!side].out_size == 0)
            l->flow[side].ended = true;
    }
    for (int side = 0; side < 2 && alive; side++)
        if (l->flow[side].out_size > 0 && l->flow[side].due <= now)
            alive = link_write(l, side);
    if (!alive || link_done(l))
        link_close(l);
}

/* Until when the loop may sleep: the nearest end of a delay. */
static int
patience(uint64_t now)
{
    uint64_t wait = 1000;

    for (int i = 0; i < LINKS; i++) {
        if (links[i] == NULL)
            continue;
        for (int side = 0; side < 2; side++) {
            uint64_t due = links[i]->flow[side].due;

            if (due > now && due - now < wait)
                wait = due - now;
        }
    }
    return (int)wait;
}

static void
loop(int listener, int controller)
{
    struct pollfd p[2 + 2 * LINKS];
    struct link *polled[LINKS];

    for (;;) {
        uint64_t now = now_ms();
        nfds_t n = 2;

        p[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        p[1] = (struct pollfd){.fd = controller, .events = POLLIN};
        for (int i = 0; i < LINKS; i++) {
            if (links[i] == NULL)
                continue;
            polled[(n - 2) / 2] = links[i];
            for (int side = 0; side < 2; side++) {
                short events = wanted_events(links[i], side, now);

                p[n++] = (struct pollfd){.fd = events == 0 ? -1 : links[i]->fd[side], .events = events};
            }
        }
        if (poll(p, n, patience(now)) < 0)
            continue;
        now = now_ms();
        for (nfds_t i = 2; i < n; i += 2)
            link_serve(polled[(i - 2) / 2], p + i, now);
        if ((p[0].revents & POLLIN) != 0)
            link_open(listener);
        if (controller >= 0 && (p[1].revents & POLLIN) != 0)
            control(controller);
    }
}

static _Noreturn void
usage(void)
{
    fprintf(stderr, "usage: proxy PORT HOST:PORT [--control PORT] [RULE...]\n");
    exit(2);
}

int
main(int argc, char **argv)
{
    char host[64];
    const char *colon;
    uint64_t port, to, control_port = 0;
    int controller = -1, listener, at = 3;

    signal(SIGPIPE, SIG_IGN);
    if (argc < 3 || !number(argv[1], &port) || port > 65535 || (colon = strrchr(argv[2], ':')) == NULL)
        usage();
    snprintf(host, sizeof host, "%.*s", (int)(colon - argv[2]), argv[2]);
    upstream.sin_family = AF_INET;
    if (!number(colon + 1, &to) || to > 65535 ||
        inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &upstream.sin_addr) != 1)
        usage();
    upstream.sin_port = htons((uint16_t)to);
    listener = listen_on((uint16_t)port, "listening");
    if (at + 1 < argc && strcmp(argv[at], "--control") == 0) {
        if (!number(argv[at + 1], &control_port) || control_port > 65535)
            usage();
        controller = listen_on((uint16_t)control_port, "control");
        at += 2;
    }
    for (; at < argc; at++)
        if (!rule_add(argv[at]))
            usage();
    fflush(stdout);
    loop(listener, controller);
}
