/* SPDX-License-Identifier: Apache-2.0 */
/* live-writers - applications write while mongoreshape-live works; then every acknowledged write must stand.
 *
 *   live-writers TOOL OFFLINE DIR list
 *   live-writers TOOL OFFLINE DIR one SCENARIO/COMMAND/STOP:N/OPERATION/END/SEED
 *   live-writers TOOL OFFLINE DIR sample SEED N      single operations at named stops, drawn at random
 *   live-writers TOOL OFFLINE DIR stops SCENARIO [COMMAND]   every stop, all operations at once at each
 *   live-writers TOOL OFFLINE DIR every SCENARIO [COMMAND]   every stop with every operation
 *   live-writers TOOL OFFLINE DIR swarm SEED N       several writers at random all the while
 *
 * A trial is a tuple, and is printed as such when it fails. A named stop of the tool's test build asks, by a FIFO, for
 * an operation and waits until it is done, or has turned out to wait for the tool. Afterwards: what is in the
 * sources, less what the tool claims, is what the writers last wrote, byte for byte; `verify --repair` comes to an end;
 * then either contract (all collections are what the offline tool makes of the writers' documents) or rollback (all is
 * as if there had been no run). Where the operation is `kill`, the tool dies at the stop and is called again; meanwhile
 * each document stands somewhere. At the stop `stale` of contract the writers have written after the last comparison.
 * The server is at MONGODB_URI. */
#include "writers.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARENTS = 5, CHILDREN = 7, STOPS_MAX = 400, SWARM = 3, SWARM_WRITES = 150, TOOL_SECONDS = 300 };

/* It does one job and ends; the leak checker need not look. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
    return "detect_leaks=0";
}

struct trial {
    const struct scenario *sc;
    char command[16], stop[48];
    unsigned nth;
    enum op op;
    bool rollback;
    uint64_t seed;
};
struct stop {
    char name[48];
    bool moved; /* something has happened since the one before */
};
static struct {
    struct place place;
    const char *tool;
    char ask[260], answer[260], list[260], log[260];
    int ask_fd, answer_fd, timeouts;
    bool discard; /* rollback is to go on although writers have changed what it derives */
    unsigned passed, failed, unreached;
    long writes;
} g;

/* A connection that does not wait for ever. */
static mongoc_client_t *
connected(void)
{
    mongoc_uri_t *uri = mongoc_uri_new(getenv("MONGODB_URI"));
    if (!uri) {
        return NULL;
    }
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, 300000);
    mongoc_client_t *c = mongoc_client_new_from_uri(uri);
    mongoc_uri_destroy(uri);
    return c;
}

/* ---- one call of the tool ---- */
struct helper { /* does an operation while the tool stands still */
    struct writer *w;
    enum op op;
    pthread_t thread;
    bool begun, joined;
    _Atomic bool done;
};

static void *
help(void *arg)
{
    struct helper *h = arg;
    writers_do(h->w, h->op);
    h->done = true;
    return NULL;
}

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Asked for by the tool: the operation is begun, and the tool goes on when it is done, or waits for the tool. */
static void
asked(struct helper *h)
{
    char line[16];
    if (read(g.ask_fd, line, sizeof line) < 1 || h->op >= OP_NOTHING) {
        return;
    }
    if (!h->begun) {
        h->begun = true;
        pthread_create(&h->thread, NULL, help, h);
    }
    for (double end = now() + 0.4; !h->done && now() < end;) {
        usleep(2000);
    }
    if (write(g.answer_fd, "x\n", 2) != 2) {
        abort();
    }
}

/* Waits for the tool and serves what it asks for. Its status, 256 + signal where it was killed. */
static int
serve(pid_t pid, struct helper *h)
{
    int status = 0;
    for (double end = now() + TOOL_SECONDS;;) {
        struct pollfd p = {.fd = g.ask_fd, .events = POLLIN};
        if (poll(&p, 1, 3) > 0 && h) {
            asked(h);
        }
        if (waitpid(pid, &status, WNOHANG) == pid) {
            break;
        }
        if (now() > end) {
            kill(pid, SIGKILL);
            g.timeouts++;
        }
    }
    if (h && h->begun) {
        pthread_join(h->thread, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* What the words of a command add to its line. */
static int
extra(const struct trial *t, const char *command, const char **argv)
{
    int n = 0;
    const char *word = t->sc->quiet || !t->sc->live_contract ? "word" : NULL;
    if (strcmp(command, "apply") == 0) {
        argv[n++] = "--execute";
        if (t->sc->direct) {
            argv[n++] = "--mode";
            argv[n++] = "direct";
        }
        if (t->sc->quiet) {
            argv[n++] = "--quiet-by";
            argv[n++] = "word";
        }
    } else if (strcmp(command, "verify") == 0) {
        argv[n++] = "--repair";
        argv[n++] = "--execute";
    } else {
        argv[n++] = "--execute";
        if (strcmp(command, "rollback") == 0 && g.discard) {
            argv[n++] = "--discard-new-writes";
        } else if (strcmp(command, "contract") == 0 && word) {
            argv[n++] = "--quiet-by";
            argv[n++] = word;
        }
    }
    return n;
}

/* What an earlier call left in a FIFO. */
static void
empty(int fd)
{
    char room[64];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll(&p, 1, 0) > 0 && read(fd, room, sizeof room) > 0) {
    }
}

static int
call(const struct trial *t, const char *command, const char *stop, struct helper *h)
{
    char plan[260], list[320], env[700];
    const char *argv[32] = {g.tool, command, plan, "--db", g.place.db, "--state-db", g.place.state, "--batch",
                             t->op == OP_SWARM ? "7" : "2"};
    const char *set[8] = {0};
    int n = 9, e = 0;
    snprintf(plan, sizeof plan, "%s/plan.yaml", g.place.dir);
    if (t->op == OP_KILL) {
        argv[n++] = "--lease";
        argv[n++] = "1000";
    }
    if (t->seed % 3 == 0) {
        argv[n++] = "--no-transactions";
    }
    n += extra(t, command, argv + n);
    if (stop) {
        snprintf(env, sizeof env, "MRS_STOP=%s", stop);
        set[e++] = env;
    }
    snprintf(list, sizeof list, "MRS_STOP_LIST=%s", g.list);
    if (h && strcmp(command, t->command) == 0) {
        set[e++] = list;
    }
    FILE *f = fopen(g.log, "a");
    if (f) {
        fprintf(f, "$ %s%s\n", command, stop ? stop : "");
        fclose(f);
    }
    empty(g.ask_fd);
    empty(g.answer_fd);
    return serve(writers_spawn(argv, set, g.log), h);
}

/* ---- one trial ---- */
static bool
bad(char why[512], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool
bad(char why[512], const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, 512, fmt, ap);
    va_end(ap);
    return false;
}

static bool
drop(const char *name)
{
    mongoc_database_t *db = mongoc_client_get_database(g.place.client, name);
    bson_error_t e;
    bool ok = mongoc_database_drop(db, &e);
    mongoc_database_destroy(db);
    return ok;
}

static bool
fill(const struct model *m, int coll, const char *key, char why[512])
{
    const bson_t *docs[IDS_MAX];
    size_t n = 0;
    char command[300];
    bson_error_t e;
    mongoc_collection_t *c = mongoc_client_get_collection(g.place.client, g.place.db, writers_coll(coll));
    for (int i = 0; i < IDS_MAX; i++) {
        if (m->doc[coll][i]) {
            docs[n++] = m->doc[coll][i];
        }
    }
    bool ok = mongoc_collection_insert_many(c, docs, n, NULL, NULL, &e);
    snprintf(command, sizeof command, "{\"createIndexes\":\"%s\",\"indexes\":[{\"key\":{\"%s\":1},\"name\":\"%s\"}]}",
             writers_coll(coll), key, key);
    bson_t *cmd = bson_new_from_json((const uint8_t *)command, -1, NULL);
    ok = ok && mongoc_client_write_command_with_opts(g.place.client, g.place.db, cmd, NULL, NULL, &e);
    bson_destroy(cmd);
    mongoc_collection_destroy(c);
    return ok || bad(why, "the server does not take the documents: %.300s", e.message);
}

static bool
reset(const struct trial *t, struct writer *w, int parents, int children, char why[512])
{
    if (!drop(g.place.db) || !drop(g.place.state)) {
        return bad(why, "the databases cannot be dropped");
    }
    unlink(g.log);
    unlink(g.list);
    writers_clear(w->model);
    writers_fill(w, parents, children);
    writers_plan(&g.place, t->sc);
    return fill(w->model, POSTS, "parts", why) && fill(w->model, COMMENTS, "postId", why);
}

/* The command of the trial with its stop, again after a kill. */
static bool
with_stop(const struct trial *t, const char *command, struct writer *w, char why[512])
{
    char stop[700];
    struct helper h = {.w = w, .op = t->op};
    bool here = strcmp(command, t->command) == 0 && *t->stop && strcmp(t->stop, "stale") != 0;
    if (t->op == OP_KILL) {
        snprintf(stop, sizeof stop, "%s:%u=kill", t->stop, t->nth);
    } else {
        snprintf(stop, sizeof stop, "%s:%u=run:echo x >%s; read y <%s", t->stop, t->nth, g.ask, g.answer);
    }
    w->rename_safe = strcmp(command, "contract") == 0;
    int s = call(t, command, here && t->op != OP_NOTHING ? stop : NULL, &h);
    w->rename_safe = false;
    if (here && t->op == OP_KILL && s == 256 + SIGKILL) {
        h.begun = true;
        bool lost = !writers_none_lost(&g.place, w->model, why);
        s = call(t, command, NULL, NULL); /* which also ends the transaction that the dead one has left */
        if (lost) {
            return false;
        }
        s = s == 2 ? 0 : s; /* "done already": what is there will be compared */
    } else if (h.begun) {
        h.joined = true;
    }
    if (s == 7 && strcmp(command, "contract") == 0) { /* "call contract again" */
        s = call(t, command, NULL, NULL);
    }
    if (s == 7 && strcmp(command, "rollback") == 0) { /* "verify --repair makes stale ones right" */
        int mended = call(t, "verify", NULL, NULL);
        g.discard = mended > 1; /* what had been taken away by then cannot be compared any more */
        s = call(t, command, NULL, NULL);
        g.discard = false;
    }
    if (here && !h.begun && t->op != OP_NOTHING) {
        g.unreached++;
    }
    if (*w->wrong) {
        return bad(why, "%.500s", w->wrong);
    }
    return s <= 1 || bad(why, "%s ended with %d", command, s);
}

static bool
verified(const struct trial *t, struct writer *w, char why[512])
{
    bool ok = true;
    int s = 1;
    for (int i = 0; i < 4 && s == 1 && ok; i++) {
        if (i == 0) {
            ok = with_stop(t, "verify", w, why);
        }
        s = ok ? call(t, "verify", NULL, NULL) : 0;
    }
    return ok && (s == 0 || bad(why, "verify --repair ended with %d", s));
}

/* Writers change something behind the back of a contract that keeps nobody out: it must see that what it is to keep is
 * not what it is to remove, and leave all as it is. */
static bool
refuses(const struct trial *t, struct writer *w, char why[512])
{
    const struct scenario *sc = t->sc;
    writers_do(w, t->op);
    int s = call(t, "contract", NULL, NULL);
    bool ok = (s == 6 || bad(why, "contract of what is stale ended with %d", s)) &&
              writers_sources_kept(&g.place, sc, w->model, false, why);
    s = ok ? call(t, "verify", NULL, NULL) : 0;
    return ok && (s == 0 || bad(why, "verify --repair ended with %d", s));
}

/* Somebody writes although writers are to be kept out: the run may stop, but what was written stays. */
static bool
foreign(const struct trial *t, struct writer *w, char why[512])
{
    struct helper h = {.w = w, .op = t->op};
    char stop[700];
    snprintf(stop, sizeof stop, "%s:%u=run:echo x >%s; read y <%s", t->stop, t->nth, g.ask, g.answer);
    int s = call(t, "apply", stop, &h);
    g.unreached += !h.begun;
    return (!*w->wrong || bad(why, "%.500s", w->wrong)) && writers_none_lost(&g.place, w->model, why) &&
           (s <= 1 || s == 6 || bad(why, "apply ended with %d", s));
}

static bool
ends(const struct trial *t, struct writer *w, char why[512])
{
    const struct scenario *sc = t->sc;
    if (sc->direct || sc->quiet) {
        return (sc->quiet || verified(t, w, why)) && writers_as_offline(&g.place, sc, w->model, why);
    }
    bool ok = verified(t, w, why) && writers_sources_kept(&g.place, sc, w->model, false, why);
    if (ok && t->rollback) {
        return with_stop(t, "rollback", w, why) && writers_sources_kept(&g.place, sc, w->model, true, why);
    }
    if (ok && strcmp(t->stop, "stale") == 0) {
        ok = refuses(t, w, why);
    }
    ok = ok && with_stop(t, "contract", w, why);
    return ok && writers_as_offline(&g.place, sc, w->model, why);
}

static const char *
tuple(const struct trial *t)
{
    static char text[160];
    snprintf(text, sizeof text, "%s/%s/%s:%u/%s/%s/%llu", t->sc->name, t->command, t->stop, t->nth,
             writers_op_names[t->op], t->rollback ? "rollback" : "contract", (unsigned long long)t->seed);
    return text;
}

static void
tell(const struct trial *t, bool ok, const char *why)
{
    char line[400];
    if (ok) {
        g.passed++;
        return;
    }
    g.failed++;
    printf("FAIL %s: %s\n", tuple(t), why);
    FILE *f = fopen(g.log, "r");
    while (f && fgets(line, sizeof line, f)) {
        printf("    | %s", line);
    }
    if (f) {
        fclose(f);
    }
    fflush(stdout);
    if (getenv("WRITERS_KEEP")) { /* everything stays as it is, to be looked at */
        printf("databases %s and %s, folder %s\n", g.place.db, g.place.state, g.place.dir);
        exit(1);
    }
}

static bool
try(const struct trial *t)
{
    static struct model model;
    char why[512] = "";
    struct writer w = {.model = &model, .sc = t->sc, .client = g.place.client, .db = g.place.db, .random = t->seed,
                       .of = 1, .next = {1, 1}};
    mongoc_client_t *own = connected();
    bool ok = reset(t, &w, PARENTS, CHILDREN, why);
    w.client = own;
    if (t->sc->quiet && t->op < OP_ALL) {
        ok = ok && foreign(t, &w, why);
        mongoc_client_destroy(own);
        writers_clear(&model);
        tell(t, ok, why);
        return ok;
    }
    ok = ok && with_stop(t, "apply", &w, why);
    ok = ok && (t->sc->direct || t->sc->quiet || writers_sources_kept(&g.place, t->sc, &model, false, why));
    ok = ok && ends(t, &w, why);
    mongoc_client_destroy(own);
    writers_clear(&model);
    g.writes += w.writes;
    tell(t, ok, why);
    return ok;
}

/* ---- a swarm: writers all the while ---- */
struct bee {
    struct writer w;
    pthread_t thread;
    const _Atomic bool *over;
};

static void *
buzz(void *arg)
{
    struct bee *b = arg;
    while (!*b->over && !*b->w.wrong && b->w.writes < SWARM_WRITES) {
        writers_do(&b->w, (enum op)writers_random(&b->w.random, N_OPS));
        usleep((useconds_t)writers_random(&b->w.random, 30000));
    }
    return NULL;
}

static bool
swarm(struct trial *t)
{
    static struct model model;
    static struct bee bee[SWARM];
    char why[512] = "", stop[64];
    _Atomic bool over = false;
    struct writer first = {.model = &model, .sc = t->sc, .random = t->seed, .of = 1, .db = g.place.db};
    bool ok = reset(t, &first, 25, 40, why);
    for (int i = 0; i < SWARM; i++) {
        bee[i] = (struct bee){.over = &over,
                              .w = {.model = &model, .sc = t->sc, .db = g.place.db,
                                    .random = t->seed * 1000 + (uint64_t)i,
                                    .no = i, .of = SWARM, .tokens = 1000, .next = {1, 1},
                                    .client = connected()}};
        pthread_create(&bee[i].thread, NULL, buzz, &bee[i]);
    }
    snprintf(stop, sizeof stop, "%s:%u=sleep:%u", t->stop, t->nth, t->nth ? 300 : 10);
    int s = ok ? call(t, "apply", stop, NULL) : 0;
    if (ok && !t->sc->direct && t->seed % 2) {
        s = s > 1 ? s : call(t, "verify", NULL, NULL);
    }
    over = true;
    for (int i = 0; i < SWARM; i++) {
        pthread_join(bee[i].thread, NULL);
        mongoc_client_destroy(bee[i].w.client);
        ok = ok && (!*bee[i].w.wrong || bad(why, "%.500s", bee[i].w.wrong));
        g.writes += bee[i].w.writes;
    }
    if (ok && (s == 6 || s == 7)) { /* "call again when there are fewer "
                                       "writes"; refused in passing: it must go on now */
        char seen[512];
        snprintf(seen, sizeof seen, "grep -m 3 mongoreshape-live: '%s' | sed 's/^/    said: /'", g.log);
        s = system(seen) == 0 ? call(t, "apply", NULL, NULL) : s;
    }
    ok = ok && (s <= 1 || bad(why, "the tool ended with %d", s));
    ok = ok && (t->sc->direct || writers_sources_kept(&g.place, t->sc, &model, false, why));
    ok = ok && ends(t, &first, why);
    writers_clear(&model);
    tell(t, ok, why);
    return ok;
}

/* ---- many trials ---- */
/* The stops of a command that nobody disturbs; those at which neither server nor tool have moved since the one before
 * are left out. */
static unsigned
stops_of(const struct scenario *sc, const char *command, bool rollback, struct stop *out)
{
    struct trial t = {.sc = sc, .op = OP_NOTHING, .rollback = rollback, .seed = 1};
    char line[64], last[64] = "";
    unsigned n = 0;
    snprintf(t.command, sizeof t.command, "%s", command);
    unlink(g.list);
    unsigned passed = g.passed;
    if (!try(&t)) {
        return 0;
    }
    g.passed = passed;
    FILE *f = fopen(g.list, "r");
    while (f && fgets(line, sizeof line, f) && n < STOPS_MAX) {
        line[strcspn(line, "\n")] = 0;
        bool outer = strncmp(line, "after-", 6) == 0 && strncmp(last, "after-state-", 12) == 0 &&
                     strncmp(line, "after-read", 10) != 0;
        bool inner = strncmp(line, "before-", 7) == 0 && strncmp(last, "before-", 7) == 0;
        snprintf(last, sizeof last, "%s", line);
        if (strcmp(command, "verify") == 0 && strstr(line, "lease")) {
            continue;
        }
        snprintf(out[n].name, sizeof out[n].name, "%.47s", line);
        out[n++].moved = !outer && !inner;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

static const char *const commands[] = {"apply", "verify", "contract", "rollback"};

static bool
has_command(const struct scenario *sc, const char *command)
{
    if (strcmp(command, "contract") == 0) {
        return sc->live_contract;
    }
    return strcmp(command, "apply") == 0 ||
           (!sc->quiet && (strcmp(command, "verify") == 0 || !sc->direct));
}

/* How often a stop of this name was passed up to and with the i-th. */
static unsigned
passing(const struct stop *s, unsigned i)
{
    unsigned n = 0;
    for (unsigned k = 0; k <= i; k++) {
        n += strcmp(s[k].name, s[i].name) == 0;
    }
    return n;
}

static void
all_stops(const struct scenario *sc, bool singles, const char *command)
{
    static struct stop stop[STOPS_MAX];
    for (int c = 0; c < 4; c++) {
        bool rollback = strcmp(commands[c], "rollback") == 0;
        if (!has_command(sc, commands[c]) || (command && strcmp(command, commands[c]) != 0)) {
            continue;
        }
        unsigned n = stops_of(sc, commands[c], rollback, stop);
        for (unsigned i = 0; i < n; i++) {
            struct trial t = {.sc = sc, .nth = passing(stop, i), .seed = i + 1};
            snprintf(t.command, sizeof t.command, "%s", commands[c]);
            snprintf(t.stop, sizeof t.stop, "%.47s", stop[i].name);
            t.rollback = rollback || (i % 2 && strcmp(commands[c], "contract") != 0);
            if (!stop[i].moved) {
                continue;
            }
            for (int op = singles ? 0 : OP_ALL; op <= (singles ? N_OPS - 1 : OP_ALL); op++) {
                t.op = sc->quiet ? OP_KILL : (enum op)op;
                try(&t);
                if (sc->quiet) {
                    break;
                }
            }
        }
    }
}

static unsigned
n_scenarios(void)
{
    unsigned n = 0;
    while (writers_scenarios[n].name) {
        n++;
    }
    return n;
}

/* Singles drawn at random: the scenario turns, all else is drawn. */
static void
sample(uint64_t seed, unsigned n)
{
    static struct stop stop[STOPS_MAX];
    uint64_t random = seed;
    unsigned scenarios = n_scenarios(), each = (n + scenarios - 1) / scenarios;
    for (unsigned k = 0; k < scenarios; k++) {
        const struct scenario *sc = &writers_scenarios[(k + seed) % scenarios];
        const char *command;
        do {
            command = commands[writers_random(&random, 8) < 5 ? 0 : writers_random(&random, 4)];
        } while (!has_command(sc, command));
        bool rollback = strcmp(command, "rollback") == 0;
        unsigned stops = stops_of(sc, command, rollback, stop);
        for (unsigned i = 0; i < each && stops; i++) {
            unsigned at;
            do {
                at = (unsigned)writers_random(&random, stops);
            } while (!stop[at].moved);
            struct trial t = {.sc = sc, .nth = passing(stop, at), .seed = writers_random(&random, 1000000)};
            t.op = sc->quiet ? OP_KILL : (enum op)writers_random(&random, N_OPS + 1);
            snprintf(t.command, sizeof t.command, "%s", command);
            snprintf(t.stop, sizeof t.stop, "%.47s", stop[at].name);
            t.rollback = rollback || (writers_random(&random, 2) && strcmp(command, "contract") != 0);
            try(&t);
        }
    }
}

static void
swarms(uint64_t seed, unsigned n)
{
    static const char *const names[] = {"*", "after-read-range", "after-read-from", "before-update", "after-insert",
                                        "before-checkpoint"};
    unsigned scenarios = n_scenarios();
    for (unsigned i = 0; i < n; i++) {
        uint64_t random = seed + i;
        struct trial t = {.sc = &writers_scenarios[(seed + i) % scenarios], .op = OP_SWARM, .command = "swarm",
                          .rollback = (seed + i) / scenarios % 2, .seed = seed + i};
        snprintf(t.stop, sizeof t.stop, "%s", names[writers_random(&random, 6)]);
        t.nth = (unsigned)writers_random(&random, 2) ? 1 + (unsigned)writers_random(&random, 4) : 0;
        if (!t.sc->quiet) {
            swarm(&t);
        }
    }
}

static const struct scenario *
find_scenario(const char *name)
{
    for (const struct scenario *s = writers_scenarios; s->name; s++) {
        if (strcmp(s->name, name) == 0) {
            return s;
        }
    }
    fprintf(stderr, "live-writers: no scenario called %s\n", name);
    exit(2);
}

/* SCENARIO/COMMAND/STOP:N/OPERATION/END/SEED */
static void
one(char *text)
{
    char *part[6], *at = text;
    for (int i = 0; i < 6; i++) {
        part[i] = strsep(&at, "/");
        if (!part[i]) {
            fprintf(stderr, "live-writers: six parts are needed\n");
            exit(2);
        }
    }
    struct trial t = {.sc = find_scenario(part[0]), .rollback = strcmp(part[4], "rollback") == 0,
                      .seed = strtoull(part[5], NULL, 10)};
    snprintf(t.command, sizeof t.command, "%s", part[1]);
    char *colon = strchr(part[2], ':');
    t.nth = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 1;
    snprintf(t.stop, sizeof t.stop, "%.*s", (int)strcspn(part[2], ":"), part[2]);
    while (t.op < N_KINDS && strcmp(writers_op_names[t.op], part[3]) != 0) {
        t.op = (enum op)(t.op + 1);
    }
    if (t.op == N_KINDS) {
        fprintf(stderr, "live-writers: no operation called %s\n", part[3]);
        exit(2);
    }
    if (t.op == OP_SWARM) {
        swarm(&t);
    } else {
        try(&t);
    }
}

static void
begin(char **argv)
{
    g.tool = argv[1];
    g.place.offline = argv[2];
    snprintf(g.place.dir, sizeof g.place.dir, "%.150s", argv[3]);
    snprintf(g.place.db, sizeof g.place.db, "writers%d", (int)getpid());
    snprintf(g.place.state, sizeof g.place.state, "writers_state%d", (int)getpid());
    snprintf(g.ask, sizeof g.ask, "%s/ask", g.place.dir);
    snprintf(g.answer, sizeof g.answer, "%s/answer", g.place.dir);
    snprintf(g.list, sizeof g.list, "%s/stops", g.place.dir);
    snprintf(g.log, sizeof g.log, "%s/log", g.place.dir);
    mkfifo(g.ask, 0600);
    mkfifo(g.answer, 0600);
    g.ask_fd = open(g.ask, O_RDWR | O_CLOEXEC);
    g.answer_fd = open(g.answer, O_RDWR | O_CLOEXEC);
    mongoc_init();
    g.place.client = connected();
    if (g.ask_fd < 0 || g.answer_fd < 0 || !g.place.client) {
        fprintf(stderr, "live-writers: MONGODB_URI and a folder are needed\n");
        exit(2);
    }
}

int
main(int argc, char **argv)
{
    const char *verb = argc > 4 ? argv[4] : "";
    if (argc < 5 || !getenv("MONGODB_URI")) {
        fprintf(stderr, "usage: live-writers TOOL OFFLINE DIR list|one|sample|stops|every|swarm ...\n");
        return 2;
    }
    begin(argv);
    if (strcmp(verb, "list") == 0) {
        for (const struct scenario *s = writers_scenarios; s->name; s++) {
            printf("%s\n", s->name);
        }
        return 0;
    }
    if (strcmp(verb, "one") == 0 && argc > 5) {
        one(argv[5]);
    } else if ((strcmp(verb, "stops") == 0 || strcmp(verb, "every") == 0) && argc > 5) {
        all_stops(find_scenario(argv[5]), *verb == 'e', argc > 6 ? argv[6] : NULL);
    } else if (strcmp(verb, "sample") == 0 && argc > 6) {
        sample(strtoull(argv[5], NULL, 10), (unsigned)strtoul(argv[6], NULL, 10));
    } else if (strcmp(verb, "swarm") == 0 && argc > 6) {
        swarms(strtoull(argv[5], NULL, 10), (unsigned)strtoul(argv[6], NULL, 10));
    } else {
        return 2;
    }
    drop(g.place.db);
    drop(g.place.state);
    printf("%ld acknowledged writes; %u trials did not reach their stop\n", g.writes, g.unreached);
    printf("%u passed, %u failed, 0 skipped\n", g.passed, g.failed);
    mongoc_client_destroy(g.place.client);
    mongoc_cleanup();
    return g.failed != 0;
}
