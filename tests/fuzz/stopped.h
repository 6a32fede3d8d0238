/* stopped.h - runs that are really stopped, at each of their checkpoints, and what they leave: to be put back with
 * something changed, and gone on with.
 *
 * The plans take every way in which the engine gathers before it writes; what they read has several blocks, so that
 * there are marks inside the passes. */
#ifndef FUZZ_STOPPED_H
#define FUZZ_STOPPED_H

#include "mongoreshape/ejson.h"
#include "ground.h"
#include "mongoreshape/mrs.h"
#include <fcntl.h>

#define STOPS 32 /* most places at which a scene is stopped */
#define SPARE 64 /* bytes of room behind a file, for those who change it */
#define EMBED                                                                                                      \
    "steps:\n- embed: { from: logs, into: hosts, match: { host: _id }, as: logs, sort: { day: -1 }, count: n,\n" \
    "    limit: 3, overflow: { into: more, size: 2, ref: host, number: page, items: logs, flag: has },\n"        \
    "    orphans: { into: lost }, drop: [host] }\n"

static const struct scene {
    uint64_t memory;
    const char *plan;
} scenes[] = {
    {64u << 20, "steps:\n- set: { in: hosts, fields: { y: { $divide: [1, \"$two\"] } } }\n"
                "- extract: { from: posts, path: lines, into: parts, parent_ref: post, id: new }\n"
                "- embed: { from: users, into: posts, match: { _id: owner }, as: owner, many: first }\n"
                "- unset: { in: parts, fields: [p] }\n"},
    {64u << 20, EMBED},
    {20000, EMBED},
    {4096, EMBED},
    {20000, "steps:\n- embed: { from: hosts, into: hosts, match: { two: _id }, as: same, keep: all,\n"
            "    sort: { two: 1, three: 1 } }\n"},
    {4096, "steps:\n- copy: { from: hosts, into: logs, match: { _id: host }, fields: [two], as: h }\n"},
    {4096, "steps:\n- rollup: { from: logs, into: hosts, match: { host: _id }, sort: { day: 1 },\n"
           "    fields: { n: { $count: {} }, all: { $push: \"$k\" }, q: { $sum: { $divide: [12, \"$k\"] } } } }\n"},
    {4096, "steps:\n- rollup: { from: logs, into: sums, by: { h: $host }, fields: { s: { $sum: \"$k\" },\n"
           "    l: { $push: \"$text\" } } }\n"},
    {4096, "steps:\n- bucket: { from: logs, into: buckets, items: list, by: [host], max: 3 }\n"},
    {4096, "steps:\n- extract: { from: posts, path: lines, into: parts, refs: child, child_refs: parts,\n"
           "    unique: [p], id: new }\n"},
    {64u << 20, "steps:\n- extract: { from: posts, path: lines, into: parts, refs: both, parent_ref: posts,\n"
                "    child_refs: parts, unique: [p] }\n"},
    {4096, "steps:\n- union: { from: { u: hosts, g: logs }, into: all, tag: kind, conflicts: last }\n"},
    {4096, "steps:\n- union: { from: { u: hosts, g: logs }, into: all, tag: kind }\n"},
    {4096, "steps:\n- link: { parent: hosts, child: logs, parent_ref: host, child_refs: logs, derive: both,\n"
           "    sort: { day: -1 } }\n"},
    {4096, "steps:\n- tree: { in: posts, form: parent, to_form: ancestors }\n"},
    {4096, "steps:\n- grid: { into: cells, by: { n: { from: posts, field: n }, x: { $range: [0, 40] } },\n"
           "    id: { $concat: [{ $toString: \"$n\" }, { $toString: \"$x\" }] }, fields: { y: \"$n\" } }\n"},
    {4096, "steps:\n- move: { from: logs, into: old, where: { day: { $lt: 9 } } }\n"
           "- partition: { from: hosts, by: three, into: { 1: ones }, others: keep }\n"},
    {4096, "steps:\n- move: { from: users, into: posts }\n"
           "- extract: { from: posts, path: lines, into: hosts, parent_ref: post, id: new }\n"
           "- unset: { in: hosts, fields: [text] }\n"
           "- embed: { from: posts, into: logs, match: { _id: host }, as: posts, many: first }\n"},
};
#define SCENES (sizeof scenes / sizeof *scenes)

struct left_file { /* path below the ground; p NULL: a folder */
    char *path;
    uint8_t *p;
    size_t n;
};
struct left { /* what a stopped run left */
    struct left_file *file;
    size_t n_files;
};
static struct stops {
    struct left at[STOPS];
    unsigned n;
    struct mrs_hash_sum good; /* documents of a run that nobody disturbed */
} stops[SCENES];
static struct left *keeping;
static struct mrs_hash_sum picture;
static unsigned stop_at, written;
static int cancel;

static inline void
put(const char *path, const void *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    must(fd >= 0 && write(fd, p, n) == (ssize_t)n && close(fd) == 0);
}

/* ---- what is read ---- */
static inline void
add_line(struct mrs_buf *out, const char *line)
{
    struct mrs_err e;
    size_t used;
    mrs_err_clear(&e);
    must(mrs_ejson_read(line, strlen(line), MRS_EJSON_STRICT, out, &used, &e) == MRS_OK);
}

static inline void
put_collection(struct mrs_mem *mem, const char *path, int n, void (*line)(char room[1200], int i))
{
    struct mrs_buf b;
    char room[1200];
    mrs_buf_init(&b, mem, 1 << 20);
    for (int i = 0; i < n; i++) {
        line(room, i);
        add_line(&b, room);
    }
    put(at(path), b.p, b.n);
    mrs_buf_clear(&b);
}

static inline void
host_line(char room[1200], int i)
{
    snprintf(room, 1200, "{\"_id\":%d,\"two\":%s,\"three\":%s,\"text\":\"%0500d\"}", i,
             i == 4 ? "0" : i % 2 ? "[1,9]" : "3", i == 5 ? "[1,2]" : "1", i);
}

static inline void
log_line(char room[1200], int i)
{
    snprintf(room, 1200, "{\"_id\":%d,\"host\":%d,\"day\":%d,\"k\":%d,\"text\":\"%0400d\"}", i, i * 7 % 26, i * 5 % 13,
             i % 4, i);
}

static inline void
post_line(char room[1200], int i)
{
    snprintf(room, 1200,
             "{\"_id\":%d,\"owner\":%d,\"parent\":%d,\"n\":%d,\"lines\":[{\"p\":%d,\"t\":\"%0300d\"},{\"p\":%d}]}", i,
             i % 5, i / 2 + (i == 0), i % 4, i % 9, i, i % 3);
}

static inline void
user_line(char room[1200], int i)
{
    snprintf(room, 1200, "{\"_id\":%d,\"name\":\"user %d\"}", i, i);
}

/* ---- a run ---- */
static inline void
on_checkpoint(void *arg, bool is_written)
{
    (void)arg;
    written += is_written;
    if (is_written && written == stop_at) {
        cancel = 2;
    }
}

static inline enum mrs_status
run_scene(struct mrs_mem *mem, const struct scene *sc, bool resume, uint32_t checkpoint_ms, struct mrs_err *e)
{
    struct mrs_run_opts o = {.input = at("in"),
                             .output = at("out"),
                             .memory = sc->memory,
                             .jobs = 1,
                             .refused = at("refused.bson"),
                             .max_refused = 999,
                             .block_bytes = 4096,
                             .checkpoints = true,
                             .checkpoint_ms = checkpoint_ms,
                             .checkpoint = on_checkpoint,
                             .resume = resume,
                             .cancel = &cancel};
    struct mrs_input_opts how = {.tmp = top};
    struct mrs_plan_opts po = {.file = "plan", .default_db = "d", .now_ms = 1};
    struct mrs_input *in = NULL;
    struct mrs_plan *plan = NULL;
    struct mrs_report report;
    memset(&report, 0, sizeof report);
    o.compress.codec = MRS_CODEC_AS_INPUT;
    enum mrs_status s = mrs_input_open(mem, o.input, &how, &in, e);
    s = s == MRS_OK ? mrs_plan_load(mem, sc->plan, strlen(sc->plan), &po, &plan, e) : s;
    if (s == MRS_OK) {
        s = mrs_run(mem, plan, in, &o, &report, e);
        mrs_report_clear(&report);
    }
    mrs_plan_free(plan);
    mrs_input_close(in);
    return s;
}

static inline void
drop_output(void)
{
    drop_tree(at("out"));
    drop_tree(at("out.partial"));
    drop_tree(at("out.checkpoint"));
    remove(at("refused.bson"));
    cancel = 0;
}

/* ---- what is left ---- */
static inline int
keep_one(const char *path, const struct stat *st, int flag, struct FTW *w)
{
    (void)w;
    size_t n = flag == FTW_F ? (size_t)st->st_size : 0;
    struct left_file *f = realloc(keeping->file, (keeping->n_files + 1) * sizeof *f);
    must(f != NULL);
    keeping->file = f;
    f += keeping->n_files++;
    f->path = strdup(path + strlen(top) + 1);
    f->p = flag == FTW_F ? calloc(1, n + SPARE) : NULL;
    f->n = n;
    if (f->p) {
        int fd = open(path, O_RDONLY);
        must(fd >= 0 && read(fd, f->p, n) == (ssize_t)n && close(fd) == 0);
    }
    return 0;
}

static inline void
put_left(const struct left *l)
{
    for (size_t k = 0; k < l->n_files; k++) {
        const struct left_file *f = &l->file[k];
        if (f->p) {
            put(at(f->path), f->p, f->n);
        } else {
            must(mkdir(at(f->path), 0777) == 0);
        }
    }
}

static inline int
sum_one(const char *path, const struct stat *st, int flag, struct FTW *w)
{
    size_t n = flag == FTW_F ? (size_t)st->st_size : 0, end = strlen(path);
    if (flag == FTW_F && end > 5 && strcmp(path + end - 5, ".bson") == 0) {
        uint8_t *p = malloc(n + 1);
        int fd = open(path, O_RDONLY);
        must(p && fd >= 0 && read(fd, p, n) == (ssize_t)n && close(fd) == 0);
        struct mrs_hash128 name = mrs_hash(path + w->base, end - (size_t)w->base, 0), h = mrs_hash(p, n, name.lo);
        mrs_hash_sum_add(&picture, h.lo, h.hi);
        free(p);
    }
    return 0;
}

/* The documents of the output, and those refused. */
static inline struct mrs_hash_sum
picture_of_output(void)
{
    picture = (struct mrs_hash_sum){0, 0};
    nftw(at("out"), sum_one, 16, FTW_PHYS);
    nftw(at("refused.bson"), sum_one, 16, FTW_PHYS);
    return picture;
}

/* A run from the beginning that stops at its n-th checkpoint. */
static inline enum mrs_status
stopped_run(struct mrs_mem *mem, const struct scene *sc, unsigned n)
{
    struct mrs_err e;
    mrs_err_clear(&e);
    drop_output();
    written = 0;
    stop_at = n;
    enum mrs_status s = run_scene(mem, sc, false, 1, &e);
    if (s != MRS_OK && e.code != MRS_E_CANCEL) {
        fprintf(stderr, "%s\n%s", e.msg, sc->plan); /* the scene is wrong */
        abort();
    }
    stop_at = 0;
    return s;
}

/* The stops of a scene, made when it is met first. */
static inline const struct stops *
stops_of(struct mrs_mem *mem, unsigned scene)
{
    struct stops *st = &stops[scene];
    if (st->n) {
        return st;
    }
    must(stopped_run(mem, &scenes[scene], 0) == MRS_OK);
    st->good = picture_of_output();
    unsigned all = written, n = all - 1 < STOPS ? all - 1 : STOPS; /* the last one is behind the publication */
    must(n > 0);
    for (unsigned i = 0; i < n; i++) {
        if (stopped_run(mem, &scenes[scene], 1 + i * (all - 1) / n) != MRS_OK) {
            keeping = &st->at[st->n++];
            nftw(at("out.partial"), keep_one, 16, FTW_PHYS);
            nftw(at("out.checkpoint"), keep_one, 16, FTW_PHYS);
        }
    }
    must(st->n > 0);
    return st;
}

static inline void
end_ground(void)
{
    drop_tree(top);
}

static inline void
make_ground(struct mrs_mem *mem)
{
    const char *memory_disk = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(top, sizeof top, "%s/mrs-fuzz-XXXXXX", memory_disk);
    must(mkdtemp(top) && mkdir(at("in"), 0777) == 0 && mkdir(at("in/d"), 0777) == 0);
    atexit(end_ground);
    put_collection(mem, "in/d/hosts.bson", 24, host_line);
    put_collection(mem, "in/d/logs.bson", 30, log_line);
    put_collection(mem, "in/d/posts.bson", 26, post_line);
    put_collection(mem, "in/d/users.bson", 4, user_line);
}

#endif
