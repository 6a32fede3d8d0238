/* SPDX-License-Identifier: Apache-2.0 */
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
#define LOSSES                                                                                           \
    "steps:\n- set: { in: logs, fields: { k: 0 } }\n- move: { from: logs, into: hosts, where: { day: 3 } }\n" \
    "- rename: { in: posts, fields: { n: number } }\n- delete: { in: posts, where: { _id: { $mod: [7, 0] } } }\n"
#define EMBED_BACK                                                                                           \
    "steps:\n- embed: { from: logs, into: hosts, match: { host: _id }, as: logs, sort: { day: 1 }, drop: [host] }\n" \
    "- drop_collection: { in: users }\n"

/* What a run does: the plan; it and its residue; the way back with a residue that was made before. */
enum way { FORWARD, WRITE_RESIDUE, WITH_RESIDUE };
static const struct scene {
    enum way way;
    uint64_t memory;
    const char *plan;
} scenes[] = {
    {FORWARD, 64u << 20, "steps:\n- set: { in: hosts, fields: { y: { $divide: [1, \"$two\"] } } }\n"
                "- extract: { from: posts, path: lines, into: parts, parent_ref: post, id: new }\n"
                "- embed: { from: users, into: posts, match: { _id: owner }, as: owner, many: first }\n"
                "- unset: { in: parts, fields: [p] }\n"},
    {FORWARD, 64u << 20, EMBED},
    {FORWARD, 20000, EMBED},
    {FORWARD, 4096, EMBED},
    {FORWARD, 20000, "steps:\n- embed: { from: hosts, into: hosts, match: { two: _id }, as: same, keep: all,\n"
            "    sort: { two: 1, three: 1 } }\n"},
    {FORWARD, 4096, "steps:\n- copy: { from: hosts, into: logs, match: { _id: host }, fields: [two], as: h }\n"},
    {FORWARD, 4096, "steps:\n- rollup: { from: logs, into: hosts, match: { host: _id }, sort: { day: 1 },\n"
           "    fields: { n: { $count: {} }, all: { $push: \"$k\" }, q: { $sum: { $divide: [12, \"$k\"] } } } }\n"},
    {FORWARD, 4096, "steps:\n- rollup: { from: logs, into: sums, by: { h: $host }, fields: { s: { $sum: \"$k\" },\n"
           "    l: { $push: \"$text\" } } }\n"},
    {FORWARD, 4096, "steps:\n- bucket: { from: logs, into: buckets, items: list, by: [host], max: 3 }\n"},
    {FORWARD, 4096, "steps:\n- extract: { from: posts, path: lines, into: parts, refs: child, child_refs: parts,\n"
           "    unique: [p], id: new }\n"},
    {FORWARD, 64u << 20, "steps:\n- extract: { from: posts, path: lines, into: parts, refs: both, parent_ref: posts,\n"
                "    child_refs: parts, unique: [p] }\n"},
    {FORWARD, 4096, "steps:\n- union: { from: { u: hosts, g: logs }, into: all, tag: kind, conflicts: last }\n"},
    {FORWARD, 4096, "steps:\n- union: { from: { u: hosts, g: logs }, into: all, tag: kind }\n"},
    {FORWARD, 4096, "steps:\n- link: { parent: hosts, child: logs, parent_ref: host, child_refs: logs, derive: both,\n"
           "    sort: { day: -1 } }\n"},
    {FORWARD, 4096, "steps:\n- tree: { in: posts, form: parent, to_form: ancestors }\n"},
    {FORWARD, 4096, "steps:\n- grid: { into: cells, by: { n: { from: posts, field: n }, x: { $range: [0, 40] } },\n"
           "    id: { $concat: [{ $toString: \"$n\" }, { $toString: \"$x\" }] }, fields: { y: \"$n\" } }\n"},
    {FORWARD, 4096, "steps:\n- move: { from: logs, into: old, where: { day: { $lt: 9 } } }\n"
           "- partition: { from: hosts, by: three, into: { 1: ones }, others: keep }\n"},
    {FORWARD, 4096, "steps:\n- move: { from: users, into: posts }\n"
           "- extract: { from: posts, path: lines, into: hosts, parent_ref: post, id: new }\n"
           "- unset: { in: hosts, fields: [text] }\n"
           "- embed: { from: posts, into: logs, match: { _id: host }, as: posts, many: first }\n"},
    {WRITE_RESIDUE, 4096, LOSSES},
    {WRITE_RESIDUE, 20000, EMBED_BACK},
    {WITH_RESIDUE, 4096, LOSSES},
    {WITH_RESIDUE, 20000, EMBED_BACK},
    {FORWARD, 4096, "steps:\n- rollup: { from: logs, into: sums, by: { $eq: [\"$host\", 99] }, sort: { day: 1 },\n"
           "    fields: { n: { $count: {} }, l: { $push: \"$k\" }, s: { $sum: { $divide: [\"$k\", 7] } },\n"
           "    f: { $last: \"$text\" }, t: { $topN: { n: 3, sortBy: { k: 1 }, output: \"$_id\" } },\n"
           "    m: { $mergeObjects: { d: \"$day\" } } } }\n"},
    {FORWARD, 4096, "steps:\n- rollup: { from: logs, into: sums, by: null, sort: { day: 1 },\n"
           "    fields: { q: { $sum: { $divide: [1, { $subtract: [\"$day\", 6] }] } } } }\n"},
    {FORWARD, 4096, "steps:\n- bucket: { from: logs, into: buckets, items: list, time: day, max: 4, start: since,\n"
           "    end: to, set: { n: { $sum: 1 }, e: { $addToSet: \"$k\" }, m: { $size: \"$list\" } } }\n"},
    {FORWARD, 4096, "steps:\n- bucket: { from: logs, into: hosts, items: list, max: 4, where: { day: { $ne: 6 } },\n"
           "    id: { $mod: [{ $first: \"$list._id\" }, 20] } }\n"},
    {FORWARD, 4096, "steps:\n- window: { in: logs, by: $host, where: { day: { $ne: 6 } }, sort: { day: 1 }, fields: {\n"
           "    n: { $documentNumber: {} }, q: { $sum: { $divide: [12, \"$k\"] }, window: group } } }\n"},
    {FORWARD, 4096, "steps:\n- rekey: { in: hosts, id: { $add: [\"$_id\", \"$three\"] }, references: { logs: host },\n"
           "    dangling: drop, old: was }\n"},
    {FORWARD, 4096, "steps:\n- rekey: { in: logs, merge: { by: $day, sort: { k: 1 }, fields: { s: { $sum: $k } },\n"
           "    dropped: { into: old } }, references: { hosts: two }, old: ids }\n"},
};
#define SCENES (sizeof scenes / sizeof *scenes)

struct left_file { /* path below the ground; p NULL: a folder */
    char *path;
    uint8_t *p;
    size_t n;
    struct timespec changed; /* what the inverse reads must not look newer than it was */
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
/* All that a stopped run may leave; the inverse of a residue's runs into a folder of its own. */
static const char *const remains[] = {"out.partial", "out.checkpoint", "out.inverse.partial", "out.inverse.checkpoint"};
#define REMAINS (sizeof remains / sizeof *remains)
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

/* The output of a plan, or its residue, made before: for runs with that residue. */
static inline const char *
kept(const struct scene *sc, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "kept-%016llx%s", (unsigned long long)mrs_hash(sc->plan, strlen(sc->plan), 0).lo,
             suffix);
    return at(name);
}

/* The plan that undoes it takes its place. */
static inline enum mrs_status
load_inverse(struct mrs_mem *mem, const struct mrs_plan_opts *po, struct mrs_plan **plan, struct mrs_err *e)
{
    struct mrs_inverse_plan inverse;
    struct mrs_plan *there = *plan;
    struct mrs_buf text;
    *plan = NULL;
    mrs_buf_init(&text, mem, 1 << 20);
    enum mrs_status s = mrs_plan_invert(there, &inverse, e);
    if (s == MRS_OK) {
        mrs_inverse_yaml(&inverse, &text);
        s = mrs_buf_status(&text, e);
    }
    s = s == MRS_OK ? mrs_plan_load(mem, (const char *)text.p, text.n, po, plan, e) : s;
    mrs_inverse_plan_clear(&inverse);
    mrs_buf_clear(&text);
    mrs_plan_free(there);
    return s;
}

static inline enum mrs_status
run_with(struct mrs_mem *mem, const struct scene *sc, const struct mrs_run_opts *o, struct mrs_err *e)
{
    struct mrs_input_opts how = {.tmp = top};
    struct mrs_plan_opts po = {.file = "plan", .default_db = "d", .now_ms = 1};
    struct mrs_input *in = NULL;
    struct mrs_plan *plan = NULL;
    struct mrs_residue *residue = NULL;
    struct mrs_report report;
    bool back = sc->way == WITH_RESIDUE;
    memset(&report, 0, sizeof report);
    enum mrs_status s = mrs_input_open(mem, o->input, &how, &in, e);
    s = s == MRS_OK ? mrs_plan_load(mem, sc->plan, strlen(sc->plan), &po, &plan, e) : s;
    s = s == MRS_OK && back ? load_inverse(mem, &po, &plan, e) : s;
    s = s == MRS_OK && back ? mrs_residue_open(mem, kept(sc, ".residue"), &residue, e) : s;
    if (s == MRS_OK) {
        s = back ? mrs_run_back(mem, plan, in, o, residue, &report, e) : mrs_run(mem, plan, in, o, &report, e);
        mrs_report_clear(&report);
    }
    mrs_residue_close(residue);
    mrs_plan_free(plan);
    mrs_input_close(in);
    return s;
}

static inline enum mrs_status
run_scene(struct mrs_mem *mem, const struct scene *sc, bool resume, uint32_t checkpoint_ms, struct mrs_err *e)
{
    struct mrs_run_opts o = {.input = sc->way == WITH_RESIDUE ? kept(sc, "") : at("in"),
                             .output = at("out"),
                             .memory = sc->memory,
                             .jobs = 1,
                             .refused = at("refused.bson"),
                             .max_refused = 999,
                             .write_residue = sc->way == WRITE_RESIDUE ? at("residue.bson") : NULL,
                             .block_bytes = 4096,
                             .checkpoints = true,
                             .checkpoint_ms = checkpoint_ms,
                             .checkpoint = on_checkpoint,
                             .resume = resume,
                             .cancel = &cancel};
    o.compress.codec = MRS_CODEC_AS_INPUT;
    return run_with(mem, sc, &o, e);
}

static inline void
drop_output(void)
{
    drop_tree(at("out"));
    for (size_t i = 0; i < REMAINS; i++) {
        drop_tree(at(remains[i]));
    }
    remove(at("refused.bson"));
    remove(at("refused.bson.jsonl"));
    remove(at("residue.bson"));
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
    f->changed = st->st_mtim;
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
            const struct timespec times[2] = {f->changed, f->changed};
            put(at(f->path), f->p, f->n);
            must(utimensat(AT_FDCWD, at(f->path), times, 0) == 0);
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

/* The documents of the output, those refused, and the residue. */
static inline struct mrs_hash_sum
picture_of_output(void)
{
    picture = (struct mrs_hash_sum){0, 0};
    nftw(at("out"), sum_one, 16, FTW_PHYS);
    nftw(at("refused.bson"), sum_one, 16, FTW_PHYS);
    nftw(at("residue.bson"), sum_one, 16, FTW_PHYS);
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

/* What a run with a residue needs. */
static inline void
make_kept(struct mrs_mem *mem, const struct scene *sc)
{
    struct scene there = *sc;
    there.way = WRITE_RESIDUE;
    must(stopped_run(mem, &there, 0) == MRS_OK);
    must(rename(at("out"), kept(sc, "")) == 0 && rename(at("residue.bson"), kept(sc, ".residue")) == 0);
}

/* The stops of a scene, made when it is met first. */
static inline const struct stops *
stops_of(struct mrs_mem *mem, unsigned scene)
{
    struct stops *st = &stops[scene];
    if (st->n) {
        return st;
    }
    if (scenes[scene].way == WITH_RESIDUE) {
        make_kept(mem, &scenes[scene]);
    }
    must(stopped_run(mem, &scenes[scene], 0) == MRS_OK);
    st->good = picture_of_output();
    unsigned all = written, n = all - 1 < STOPS ? all - 1 : STOPS; /* the last one is behind the publication */
    must(n > 0);
    for (unsigned i = 0; i < n; i++) {
        if (stopped_run(mem, &scenes[scene], 1 + i * (all - 1) / n) != MRS_OK) {
            keeping = &st->at[st->n++];
            for (size_t k = 0; k < REMAINS; k++) {
                nftw(at(remains[k]), keep_one, 16, FTW_PHYS);
            }
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
