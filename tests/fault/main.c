/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - makes one thing fail at a time and checks the result.
 *
 * For every scene: the n-th allocation fails, alone or with all later ones; the n-th call of the operating system
 * fails, does half of its work or is interrupted. Either the run succeeds with the bytes of an undisturbed run, or it
 * reports an error, writes no output and leaks nothing. The input is unchanged each time.
 * usage: fault [--long | --few] [--scene NAME | --scenes I/N] [--only memory|calls|resume|flips] [--seed N] [--at N]
 * [--piece I/N] [-v]; without --long only some values of n, at places chosen by the seed; with --few a third of these.
 * --scenes: those whose number leaves I when divided by N. With --only flips a scene is the form of the input. Resuming
 * a scene from every n may take hours: --piece is the I-th of N parts of it. */
#include "../folder.h"
#include "dumps.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char top[256];
static const char *out_name = "out";
static bool longest, few, verbose;
static uint64_t only_at;
static unsigned scene_from, scene_every = 1;
static struct places places = {.piece = 1, .pieces = 1};
static unsigned long tried, bad, run_seed = 1;
enum part { PART_MEMORY, PART_CALLS, PART_KILLS, PART_RESUME, PART_FLIPS, PARTS };
static unsigned long by_part[PARTS];
static char doing[256];
enum { SMALL_BLOCK = 512 }; /* bytes: each pass has many jobs, and so many marks */
static struct {
    bool checkpoints, resume;
    unsigned runs;
    uint64_t other; /* memory of who goes on */
} going;

const char *
below(const char *name)
{
    static char ring[8][4608];
    static int next;
    char *room = ring[next++ % 8];
    snprintf(room, sizeof ring[0], "%s/%s", top, name);
    return room;
}

/* The folder as it is before every run: `in`, the amended documents, the residue for `in`, and an older output where
 * one is replaced. */
void
clean_scene(const struct scene *sc)
{
    char names[4096], *at = names;
    out_name = sc->out && !sc->to_stdout ? sc->out : "out";
    names_in(top, names, sizeof names);
    for (char *end; (end = strchr(at, ' ')) != NULL; at = end + 1) {
        *end = 0;
        if (strcmp(at, "in") != 0 && strcmp(at, "amend") != 0 && strcmp(at, "kept") != 0) {
            drop_tree(below(at));
        }
    }
    if (sc->aside) {
        mkdir(below("aside"), 0777);
    }
    if (sc->force && sc->single_ns) {
        put_bytes(below("two.bson"), "\5\0\0\0\0", 5);
        put_bytes(below("two.metadata.json"), "{}", 2);
    } else if (sc->force && sc->out) {
        put_bytes(below(sc->out), "\5\0\0\0\0", 5);
    } else if (sc->force) {
        mkdir(below("out"), 0777);
        mkdir(below("out/d"), 0777);
        put_bytes(below("out/d/old.bson"), "\5\0\0\0\0", 5);
    }
}

/* The plan of the scene, or its inverse as `invert` prints it. */
static enum mrs_status
load_plan(const struct scene *sc, struct mrs_mem *mem, struct mrs_plan_opts *po, struct mrs_plan **plan,
          struct mrs_err *e)
{
    struct mrs_inverse_plan inv;
    struct mrs_plan *there = NULL;
    struct mrs_buf text;
    enum mrs_status s = mrs_plan_load(mem, sc->plan, strlen(sc->plan), po, plan, e);
    if (s != MRS_OK || sc->way != WAY_BACK) {
        return s;
    }
    there = *plan;
    *plan = NULL;
    mrs_buf_init(&text, mem, 1 << 20);
    s = mrs_plan_invert(there, &inv, e);
    if (s == MRS_OK) {
        mrs_inverse_yaml(&inv, &text);
        s = mrs_buf_status(&text, e);
    }
    s = s == MRS_OK ? mrs_plan_load(mem, (const char *)text.p, text.n, po, plan, e) : s;
    mrs_inverse_plan_clear(&inv);
    mrs_buf_clear(&text);
    mrs_plan_free(there);
    return s;
}

/* Who goes on has other threads than who was killed. */
static uint32_t
other_jobs(uint32_t jobs)
{
    return jobs > 2 ? jobs : jobs == 2 ? 1 : 2;
}

static enum mrs_status
run_plan(const struct scene *sc, struct mrs_mem *mem, const char *out, struct mrs_report *rep, struct mrs_err *e)
{
    const char *exclude[] = {sc->exclude};
    struct mrs_input_opts how = {.exclude = exclude, .n_exclude = sc->exclude != NULL, .ns = sc->single_ns, .tmp = top};
    const char *in_path = sc->in ? sc->in : sc->form == FORM_FOLDER ? "in" : "in/dump";
    bool small = !sc->marked && !sc->killed;
    uint64_t memory = going.resume && going.other ? going.other : sc->memory;
    uint32_t jobs = going.resume ? other_jobs(sc->jobs) : sc->jobs;
    struct mrs_run_opts o = {.input = sc->piped ? "-" : below(in_path),
                             .output = out,
                             .in = how,
                             .memory = memory ? memory : 256ull << 20,
                             .jobs = jobs ? jobs : 1,
                             .tmp = sc->aside ? below("aside") : sc->to_stdout || sc->way ? top : NULL,
                             .compress = sc->compress,
                             .format = sc->made,
                             .stream = sc->stream,
                             .refused = below("refused"),
                             .max_refused = sc->max_refused,
                             .amend = sc->amend ? below("amend") : NULL,
                             .force = sc->force,
                             .dry_run = sc->dry_run,
                             .notices = sc->dry_run,
                             .ids = 2,
                             .single_ns = sc->single_ns,
                             .checkpoints = going.checkpoints && !sc->to_stdout && !sc->dry_run,
                             .resume = going.resume,
                             .checkpoint_ms = 1,
                             .block_bytes = small && going.checkpoints ? SMALL_BLOCK : 0,
                             .cancel = calls_cancel()};
    struct mrs_input *in = NULL;
    struct mrs_plan *plan = NULL;
    struct mrs_residue *residue = NULL;
    o.write_residue = sc->way == WAY_RESIDUE ? below("residue") : NULL;
    enum mrs_status s = sc->way == WAY_BACK ? mrs_residue_open(mem, below("kept"), &residue, e) : MRS_OK;
    s = s == MRS_OK ? mrs_input_open(mem, o.input, &how, &in, e) : s;
    if (s == MRS_OK) {
        struct mrs_plan_opts po = {.file = "plan", .default_db = mrs_input_only_db(in)};
        po.now_ms = residue ? mrs_residue_now(residue) : 0;
        s = load_plan(sc, mem, &po, &plan, e);
        if (s == MRS_FAIL && e->code == MRS_E_PLAN && plan && !sc->damaged) {
            fprintf(stderr, "%s: plan: %s\n", doing, plan->errors[0].msg);
        }
    }
    if (s == MRS_OK) {
        s = residue ? mrs_run_back(mem, plan, in, &o, residue, rep, e) : mrs_run(mem, plan, in, &o, rep, e);
    }
    mrs_plan_free(plan);
    mrs_input_close(in);
    mrs_residue_close(residue);
    return s;
}

/* Standard input becomes a pipe that holds the file; what it was before. */
static int
feed(const char *path)
{
    enum { MOST = 1 << 20 };
    int ends[2], was = dup(STDIN_FILENO);
    int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC); /* not one of the calls that fail */
    if (fd < 0 || was < 0 || pipe(ends) < 0 || fcntl(ends[1], F_SETPIPE_SZ, MOST) < 0) {
        die("%s: %s", path, strerror(errno));
    }
    while (sendfile(ends[1], fd, NULL, MOST) > 0) {
    }
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    close(fd);
    return was;
}

struct result
run_scene(const struct scene *sc, uint64_t fail_at)
{
    struct result r = {.status = MRS_OK};
    struct mrs_report rep;
    struct mrs_mem *mem = mrs_mem_new(fail_at);
    int keep = -1, keep_in = sc->piped ? feed(below("in/dump")) : -1;
    memset(&rep, 0, sizeof rep);
    mrs_err_clear(&r.err);
    if (sc->to_stdout) {
        fflush(stdout);
        keep = dup(STDOUT_FILENO);
        int fd = creat(below("stream"), 0666);
        dup2(fd, STDOUT_FILENO);
        close(fd);
    }
    r.status = run_plan(sc, mem, sc->to_stdout ? "-" : below(sc->out ? sc->out : "out"), &rep, &r.err);
    if (keep >= 0) {
        dup2(keep, STDOUT_FILENO);
        close(keep);
    }
    if (keep_in >= 0) {
        dup2(keep_in, STDIN_FILENO);
        close(keep_in);
    }
    r.published = rep.published;
    r.refused = rep.refused;
    mrs_report_clear(&rep);
    r.allocations = mrs_mem_count(mem);
    r.leaks = mrs_mem_close(mem);
    calls_stop();
    return r;
}

/* Little and much memory for who goes on; 0: that of the scene. */
static const uint64_t others[] = {0, 4096, 300000, 0, 64 << 20};

struct result
run_going(const struct scene *sc, bool resume, uint64_t fail_at)
{
    going.checkpoints = true;
    going.resume = resume;
    going.other = others[going.runs++ % (sizeof others / sizeof *others)];
    struct result r = run_scene(sc, fail_at);
    going.checkpoints = going.resume = false;
    return r;
}

void
look_at(struct result *r)
{
    struct stat st;
    r->picture = picture(top, "in", r->names, sizeof r->names);
    r->out_picture = lstat(below(out_name), &st) == 0 ? picture(below(out_name), NULL, NULL, 0) : 0;
}

void
wrong(const char *fmt, ...)
{
    va_list args;
    bad++;
    fprintf(stderr, "FAILED: %s: ", doing);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    if (bad > 40) {
        die("too many failures");
    }
}

void
tell(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (verbose) {
        vprintf(fmt, args);
        putchar('\n');
        fflush(stdout);
    }
    va_end(args);
}

void
set_doing(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(doing, sizeof doing, fmt, args);
    va_end(args);
}

void
note_try(void)
{
    tried++;
}

/* What is on standard output of an archive that was not finished must not pass for one. */
static void
resumed_archive(void)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_input_opts how = {.tmp = top};
    struct mrs_input *in = NULL;
    struct mrs_err e;
    struct stat st;
    mrs_err_clear(&e);
    if (stat(below("stream"), &st) == 0 && st.st_size &&
        mrs_input_open(mem, below("stream"), &how, &in, &e) == MRS_OK) {
        wrong("an error, but the archive on standard output looks whole");
        mrs_input_close(in);
    }
    mrs_mem_close(mem);
}

/* What a run left that was told to fail, against one that was not; before: the folder as it was before. no_way_back:
 * nothing could be renamed back either. */
static void
judge(const struct scene *sc, struct result *r, const struct result *good, const struct result *before, bool memory,
      bool no_way_back)
{
    char text[900];
    look_at(r);
    tried++;
    mrs_err_text(&r->err, text, sizeof text);
    if (r->leaks) {
        wrong("%llu blocks leak (%s)", (unsigned long long)r->leaks, text);
    }
    if (r->status == good->status && r->err.code == good->err.code) {
        if (r->picture != good->picture) {
            wrong("success, but not the same bytes: %s; they should be %s", r->names, good->names);
        }
        return;
    }
    if (r->status == MRS_OK) {
        wrong("success where it should be %s", good->err.msg);
    }
    if (!r->err.msg[0] || r->published) {
        wrong("%s", r->published ? "an error, but published" : "an error without a message");
    }
    bool told = memory ? r->err.code == MRS_E_MEMORY
                       : r->err.code == MRS_E_IO || r->err.code == MRS_E_MEMORY || r->err.code == MRS_E_CANCEL;
    if (!told) {
        wrong("code %s, status %d: %s", mrs_code_name(r->err.code), r->status, text);
    }
    if (memory && r->status != MRS_DEAD) {
        wrong("status %d of a memory error is not DEAD: %s", r->status, text);
    }
    unlink(below("refused")); /* what is refused may be told also where the output could not be published */
    unlink(below("refused.jsonl"));
    if (sc->made == MRS_FORMAT_ARCHIVE && sc->to_stdout) {
        resumed_archive();
    }
    if (sc->to_stdout && (sc->stream || !memory)) {
        unlink(below("stream")); /* a broken pipe may hold a part */
        put_bytes(below("stream"), "", 0);
    }
    look_at(r);
    if (r->picture != before->picture && !no_way_back) {
        wrong("something is left: %s (%s)", r->names, text);
    }
}

/* Which n are tried: all in the long part; else the first ones, then ever fewer, at places that depend on the seed. */
static uint64_t
next_n(uint64_t n, uint64_t seed)
{
    uint64_t step = longest || n < (few ? 6 : 24) ? 1 : 1 + n / (few ? 4 : 14);
    return n + step + (step > 1 ? (seed * 2654435761u + n) % step : 0);
}

static void
memory_fails(const struct scene *sc, uint64_t seed, const struct result *good, const struct result *before)
{
    for (int on = 0; on < 2; on++) {
        bool reached = true;
        for (uint64_t n = only_at ? only_at : 1; reached; n = next_n(n, seed + (uint64_t)on)) {
            set_doing("%s: allocation %llu%s", sc->name, (unsigned long long)n, on ? " and on" : "");
            clean_scene(sc);
            struct result r = run_scene(sc, on ? UINT64_MAX - n : n);
            reached = r.allocations >= n && !only_at;
            judge(sc, &r, good, before, true, false);
        }
    }
}

static void
calls_fails(const struct scene *sc, const struct result *good, const struct result *before)
{
    static const int errors[] = {EIO, ENOSPC, EINVAL}; /* EINVAL: a file system without that flag */
    static const char *const words[] = {"", " and on", " short", " EINTR", " cancelled"};
    for (enum call c = 0; c < CALLS; c++) {
        for (enum how how = HOW_ERROR; how <= HOW_CANCEL; how++) {
            bool reached = call_can(c, how);
            for (uint64_t n = only_at ? only_at : 1; reached; n = next_n(n, c + run_seed)) {
                set_doing("%s: %s %llu%s", sc->name, call_name(c), (unsigned long long)n, words[how]);
                clean_scene(sc);
                calls_fail(c, how, n, errors[n % 3]);
                struct result r = run_scene(sc, 0);
                reached = calls_hit() && !only_at;
                if ((how == HOW_SHORT || how == HOW_INTERRUPTED) && r.status != good->status) {
                    wrong("%s", r.err.msg);
                }
                judge(sc, &r, good, before, false, c == CALL_RENAME && how == HOW_ERROR_ON && sc->out);
            }
        }
    }
}

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What the plan makes of the dump becomes the input, its residue is kept. */
static void
make_way_back(const struct scene *sc)
{
    struct scene there = *sc;
    there.way = WAY_RESIDUE;
    struct result r = run_scene(&there, 0);
    if (r.status != MRS_OK || rename(below("in"), below("made")) < 0 || rename(below("out"), below("in")) < 0 ||
        rename(below("residue"), below("kept")) < 0) {
        die("%s: no way there: %s", sc->name, r.err.msg);
    }
}

void
new_top(void)
{
    drop_tree(top);
    if (mkdir(top, 0777) < 0) {
        die("%s: %s", top, strerror(errno));
    }
}

static void
make_input(const struct scene *sc)
{
    new_top();
    bool folder = sc->form == FORM_FOLDER;
    (sc->dump ? sc->dump : dump_blog)(below(folder ? "in" : "made"), folder ? sc->codec : MRS_CODEC_NONE);
    if (!folder) {
        if (mkdir(below("in"), 0777) < 0) {
            die("%s: %s", below("in"), strerror(errno));
        }
        put_form(below("made"), sc->form, sc->codec, below("in/dump"));
        drop_tree(below("made"));
    }
    if (sc->amend) {
        put_lines(below("amend"), MRS_CODEC_NONE, sc->amend);
    }
    if (sc->way == WAY_BACK) {
        make_way_back(sc);
    }
}

uint64_t
random_number(unsigned i)
{
    return (i + run_seed) * 0x9E3779B97F4A7C15ull;
}

static void
count_part(enum part part, unsigned long was)
{
    by_part[part] += tried - was;
}

static void
one_scene(const struct scene *sc, unsigned no, bool memory, bool calls, bool going_on)
{
    struct result good, before = {.status = MRS_OK};
    unsigned long was = tried, first = tried;
    double begun = now();
    set_doing("%s", sc->name);
    make_input(sc);
    uint64_t input = picture(below("in"), NULL, NULL, 0);
    unsigned fds = open_files();
    clean_scene(sc);
    if (sc->to_stdout) {
        put_bytes(below("stream"), "", 0);
    }
    look_at(&before);
    calls_work();
    double took = now();
    good = run_scene(sc, 0);
    took = now() - took;
    look_at(&good);
    if (good.leaks || (good.status == MRS_OK) == sc->meets || (sc->meets && good.err.code != MRS_E_TOO_MANY)) {
        wrong("undisturbed: status %d, %s: %s", good.status, mrs_code_name(good.err.code), good.err.msg);
        return;
    }
    if (memory && !sc->killed && !sc->marked) {
        memory_fails(sc, no + run_seed, &good, &before);
        count_part(PART_MEMORY, was);
    }
    was = tried;
    if (sc->killed && calls) {
        if (!sc->force || longest) {
            fill_disk(sc, &good, &before, longest);
        }
        kill_runs(sc, &good, &before, took, longest ? 300 : few ? 12 : sc->force ? 20 : 50);
    } else if (calls && !sc->marked) {
        calls_fails(sc, &good, &before);
    }
    count_part(sc->killed ? PART_KILLS : PART_CALLS, was);
    was = tried;
    if (going_on && !sc->to_stdout && !sc->dry_run) {
        resume_runs(sc, &good, took, &places);
        count_part(PART_RESUME, was);
    }
    set_doing("%s", sc->name);
    if (picture(below("in"), NULL, NULL, 0) != input) {
        wrong("the input was changed");
    }
    if (open_files() != fds) {
        wrong("%u files were open before, %u are now", fds, open_files());
    }
    tell("%-26s %5lu tried, %4llu allocations, %2llu documents refused, %.1f s", sc->name, tried - first,
         (unsigned long long)good.allocations, (unsigned long long)good.refused, now() - begun);
}

static void
on_alarm(int number)
{
    static const char text[] = "fault: a run does not end: ";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)!write(STDERR_FILENO, doing, strlen(doing));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(3);
}

static void
take_piece(const char *text)
{
    if (sscanf(text, "%" SCNu32 "/%" SCNu32, &places.piece, &places.pieces) != 2 || !places.piece ||
        places.piece > places.pieces) {
        die("--piece %s: I/N is wanted, I from 1 to N", text);
    }
}

static void
take_scenes(const char *text)
{
    if (sscanf(text, "%u/%u", &scene_from, &scene_every) != 2 || scene_from >= scene_every) {
        die("--scenes %s: I/N is wanted, I from 0 to N - 1", text);
    }
}

int
main(int argc, char **argv)
{
    const char *scene = NULL, *only = "";
    const char *tmp = getenv("TMPDIR");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--long") == 0) {
            longest = places.all = true;
        } else if (strcmp(argv[i], "--few") == 0) {
            few = places.few = true;
        } else if (strcmp(argv[i], "-v") == 0) {
            verbose = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--scene") == 0) {
            scene = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--scenes") == 0) {
            take_scenes(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--only") == 0) {
            only = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            run_seed = strtoul(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--at") == 0) {
            only_at = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--piece") == 0) {
            take_piece(argv[++i]);
        } else {
            die("usage: fault [--long | --few] [--scene NAME | --scenes I/N] [--only memory|calls|resume|flips] "
                "[--seed N] [--at N] [--piece I/N] [-v]");
        }
    }
    if (places.pieces > 1 && (!longest || strcmp(only, "resume") != 0)) {
        die("--piece is of --long --only resume");
    }
    signal(SIGALRM, on_alarm);
    const char *memory_disk = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(top, sizeof top, "%s/mrs-fault-XXXXXX", tmp && *tmp ? tmp : memory_disk);
    if (!mkdtemp(top)) {
        die("%s: %s", top, strerror(errno));
    }
    bool flips = strcmp(only, "flips") == 0;
    for (unsigned i = 0; i < n_scenes && !flips; i++) {
        bool taken = i % scene_every == scene_from && (longest || !scenes[i].slow);
        if (scene ? strcmp(scene, scenes[i].name) == 0 : taken) {
            alarm(longest ? 3600 : 600);
            bool rest = !*only;
            one_scene(&scenes[i], i, rest || strcmp(only, "memory") == 0, rest || strcmp(only, "calls") == 0,
                      rest || strcmp(only, "resume") == 0);
        }
    }
    if (flips || (!*only && !scene)) {
        unsigned long was = tried;
        flip_all(run_seed, scene, longest);
        count_part(PART_FLIPS, was);
    }
    drop_tree(top);
    printf("seed %lu: %lu allocations and %lu calls failed, %lu kills and full disks, %lu runs gone on with, %lu "
           "damaged inputs\n",
           run_seed, by_part[PART_MEMORY], by_part[PART_CALLS], by_part[PART_KILLS], by_part[PART_RESUME],
           by_part[PART_FLIPS]);
    printf("%lu failures tried\n%lu passed, %lu failed\n", tried, tried - (bad < tried ? bad : tried), bad);
    return bad != 0;
}
