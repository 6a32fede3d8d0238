/* SPDX-License-Identifier: Apache-2.0 */
/* matrix - any kill, any time: every scene, carried out in every way, broken at every place, must end where it ends
 * unbroken.
 *
 *     matrix LIVE OFFLINE PROXY CTL [--long] [--unbroken] [--no-stops] [--seeds FROM COUNT] [--scene NAME] [--way NAME]
 *         [--workers N] [--share K OF] [--verbose]
 *
 * The unbroken run is the measure, and is itself held against the offline tool on the same documents. Then the tool is
 * killed behind every kind of write that it sends (what stands on the server is the same until the next one; --long: at
 * every named stop, and every reply is cut once), and the same command is given again until it ends. At each kill, no
 * mark may be gone that is there at the end. Seeds try the rest: killed twice, replies and requests cut, the server
 * killed, an owner who wakes up late, two runs at once.
 * Exit status: 0 when all went well. One line a failure; the closing line counts.
 */
#include "matrix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXPAND "apply --execute --allow-scan"
#define CONTRACT "contract --allow-scan --quiet-by validator --execute"
#define REPAIR "verify --repair --allow-scan --execute"
static const struct way ways[] = {
    {"quiet", {"apply --quiet-by validator --execute"}, AS_OFFLINE, true},
    {"expand", {EXPAND, REPAIR, CONTRACT}, AS_OFFLINE, true},
    {"quiet-back", {"apply --quiet-by validator --keep-before --execute", "rollback --execute"}, AS_BEFORE, false},
    {"expand-back", {EXPAND, "rollback --allow-scan --execute"}, AS_BEFORE, false},
    {"direct", {"apply --mode direct --execute --allow-scan"}, AS_OFFLINE, false},
    {"repair", {EXPAND, "!", REPAIR, CONTRACT}, AS_OFFLINE, false},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* A stop of its own behind a write; others, as "after-phase", only stand around one. */
static bool
behind_write(const char *name)
{
    static const char *const around[] = {"phase", "checkpoint", "lease", "seal", "read", "deriving", "action",
                                         "catalogue", "rename"};
    bool is = strncmp(name, "after-", 6) == 0;

    for (size_t i = 0; is && i < sizeof around / sizeof *around; i++)
        is = strncmp(name + 6, around[i], strlen(around[i])) != 0 || strcmp(name, "after-renameCollection") == 0;
    return is;
}

/* Which stops are tried by `make check`: those behind a write, each kind once behind each kind of write to data. What
 * stands on the server does not change from one write to the next, so stops between them are the same. */
static bool
worth_it(const char *list, int n, char *seen, size_t room)
{
    char name[128], last[128] = "", pair[260];

    stop_name(list, n, name);
    if (asked.longer)
        return true;
    if (!behind_write(name))
        return false;
    for (int i = n - 1; i >= 1 && (!behind_write(last) || strstr(last, "-state-") != NULL); i--)
        stop_name(list, i, last);
    if (!behind_write(last) || strstr(last, "-state-") != NULL)
        last[0] = 0;
    snprintf(pair, sizeof pair, "<%s %s>", last, name);
    if (strstr(seen, pair) != NULL)
        return false;
    size_t at = strlen(seen);
    snprintf(seen + at, room - at, "%s", pair);
    return true;
}

static void
every_stop(struct trial *t)
{
    for (int k = 0; k < ACTS && t->way->acts[k] != NULL; k++) {
        char seen[8192] = "";
        int n = stops_in(t->stops[k]);
        for (int i = 1; i <= n; i++)
            if (worth_it(t->stops[k], i, seen, sizeof seen))
                try_kill(t, k, i);
    }
}

static void
every_cut(struct trial *t)
{
    for (int k = 0; k < ACTS && t->way->acts[k] != NULL; k++)
        if (t->stops[k] != NULL && strcmp(t->way->acts[k], "!") != 0)
            for (int n = 1; try_cut(t, k, "cut-reply", n); n++)
                ;
}

/* ---- workers ---- */
static bool
wanted(const char *want, const char *name)
{
    return want == NULL || strcmp(want, name) == 0;
}

static int
scene_count(void)
{
    int n = 0;

    while (scenes[n].name != NULL)
        n++;
    return n;
}

static void
one_seed(struct world *w, unsigned seed)
{
    struct trial t;
    uint64_t r = seed;

    for (int tries = 0; tries < 100; tries++) {
        const struct scene *s = &scenes[roll(&r, (uint64_t)scene_count())];
        const struct way *way = &ways[roll(&r, WAYS)];
        bool plain = roll(&r, 3) == 0 && w->use->replicated;
        if (!wanted(asked.scene, s->name) || !wanted(asked.way, way->name) || !open_trial(&t, w, s, way, plain))
            continue;
        int failed = tally->failed;
        try_random(&t, &r);
        if (tally->failed != failed)
            printf("   seed %u\n", seed);
        close_trial(&t);
        return;
    }
}

static void
one_case(struct world *w, int at)
{
    struct trial t;
    const struct way *way = &ways[at / scene_count() % WAYS];
    const struct scene *scene = &scenes[at % scene_count()];
    bool plain = at >= scene_count() * WAYS;

    if (!wanted(asked.scene, scene->name) || !wanted(asked.way, way->name) ||
        (!asked.longer && !asked.unbroken && !way->quick))
        return;
    if (!open_trial(&t, w, scene, way, plain))
        return;
    if (!asked.unbroken)
        every_stop(&t);
    if (asked.longer)
        every_cut(&t);
    close_trial(&t);
}

static void
work(const struct programs *use, int number)
{
    struct world w;
    int cases = asked.no_stops ? 0 : scene_count() * WAYS * (asked.longer && use->replicated ? 2 : 1);

    mongoc_init();
    world_open(&w, use, number);
    for (int at; (at = tally->next++) < cases + (int)asked.seeds;)
        if (at < cases) {
            if (at % asked.shares == asked.share)
                one_case(&w, at);
        } else
            one_seed(&w, asked.seed + (unsigned)(at - cases));
    world_close(&w);
    mongoc_cleanup();
    fflush(stdout);
    _exit(0);
}

static void
options(int argc, char **argv)
{
    for (int i = 5; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--long") == 0)
            asked.longer = true;
        else if (strcmp(argv[i], "--no-stops") == 0)
            asked.no_stops = true;
        else if (strcmp(argv[i], "--unbroken") == 0)
            asked.unbroken = true;
        else if (strcmp(argv[i], "--verbose") == 0)
            asked.verbose = true;
        else if (strcmp(argv[i], "--scene") == 0)
            asked.scene = value, i++;
        else if (strcmp(argv[i], "--way") == 0)
            asked.way = value, i++;
        else if (strcmp(argv[i], "--share") == 0 && i + 2 < argc) {
            asked.share = (int)strtol(value, NULL, 10);
            asked.shares = (int)strtol(argv[i + 2], NULL, 10);
            i += 2;
        } else if (strcmp(argv[i], "--workers") == 0)
            asked.workers = (int)strtol(value, NULL, 10), i++;
        else if (strcmp(argv[i], "--seeds") == 0 && i + 2 < argc) {
            asked.seed = (unsigned)strtoul(value, NULL, 10);
            asked.seeds = (unsigned)strtoul(argv[i + 2], NULL, 10);
            i += 2;
        } else
            die("what is %s?", argv[i]);
    }
}

int
main(int argc, char **argv)
{
    const char *topology = getenv("MONGODB_TOPOLOGY");
    time_t begun = time(NULL);

    if (argc < 5 || getenv("MONGODB_URI") == NULL)
        die("usage: matrix LIVE OFFLINE PROXY CTL [options], with MONGODB_URI set");
    options(argc, argv);
    if (asked.shares < 1)
        die("--share K OF: OF is 1 at least");
    struct programs use = {argv[1], argv[2], argv[3], argv[4], getenv("MONGODB_URI"),
                           topology == NULL || strcmp(topology, "standalone") != 0,
                           getenv("MONGODB_SERVER_DIR") != NULL && asked.workers == 1};
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        die("no shared memory: %s", strerror(errno));
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < asked.workers; i++) {
        pid_t pid = fork();
        if (pid == 0)
            work(&use, i);
        if (pid < 0)
            die("fork: %s", strerror(errno));
    }
    for (int status; wait(&status) > 0;)
        if (status != 0)
            tally->failed++;
    printf("%d ways of %d scenes (%d not admitted by the plan's rule), %d kills, %d cuts",
           (int)tally->cases, scene_count(), (int)tally->refused, (int)tally->kills, (int)tally->cuts);
    if (asked.seeds > 0)
        printf(", seeds %u to %u", asked.seed, asked.seed + asked.seeds - 1);
    printf(", %ld s\n%d passed, %d failed, 0 skipped\n", (long)(time(NULL) - begun), (int)tally->passed,
           (int)tally->failed);
    return tally->failed == 0 ? 0 : 1;
}
