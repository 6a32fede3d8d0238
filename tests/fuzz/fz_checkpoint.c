/* fz_checkpoint.c - any bytes as the state that a stopped run left, and a run that goes on with it.
 *
 * A run is really stopped, at several of its checkpoints. The first byte of the input chooses one; the rest is read as
 * a document whose `state` and `pass` take the place of those in the file (options, input and checksum are put in here,
 * since no mutation would pass them), and by itself as a whole file. Either the run is refused with a reason or it
 * ends; nothing leaks, no file stays open. */
#include "../../common/run/checkpoint.h"
#include "mongoreshape/ejson.h"
#include "ground.h"
#include "mongoreshape/mrs.h"

#include <fcntl.h>

#define MEMORY (64u << 20)
#define BASES  12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char steps[] = "steps:\n- set: { in: a, fields: { y: { $divide: [1, \"$x\"] } } }\n"
                            "- extract: { from: a, path: l, into: c, parent_ref: a, id: new }\n"
                            "- embed: { from: b, into: a, match: { x: x }, as: b, many: first }\n"
                            "- unset: { in: c, fields: [k] }\n";
static const char *const lines[][2] = {
    {"in/d/a.bson", "{\"_id\":1,\"x\":2,\"l\":[{\"k\":1},{\"k\":2}]}{\"_id\":2,\"x\":0}"
                    "{\"_id\":3,\"x\":7,\"l\":[{\"k\":3}]}"},
    {"in/d/b.bson", "{\"_id\":1,\"x\":2}{\"_id\":2,\"x\":3}"},
    {"in/d/z.bson", "{\"_id\":1}"},
};
static struct file { /* of a stopped run */
    char *path;
    uint8_t *p;
    size_t n;
} *files[BASES];
static size_t n_files[BASES];
static unsigned stop_at, written, n_bases;
static int cancel;

static void
put(const char *path, const void *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    must(fd >= 0 && write(fd, p, n) == (ssize_t)n && close(fd) == 0);
}

static void
on_checkpoint(void *arg, bool is_written)
{
    (void)arg;
    written += is_written;
    if (is_written && written == stop_at) {
        cancel = 2;
    }
}

static enum mrs_status
run(struct mrs_mem *mem, bool resume, struct mrs_err *e)
{
    struct mrs_run_opts o = {.input = at("in"),
                             .output = at("out"),
                             .memory = MEMORY,
                             .jobs = 1,
                             .tmp = top,
                             .refused = at("refused"),
                             .max_refused = 9,
                             .checkpoints = true,
                             .checkpoint_ms = 1,
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
    s = s == MRS_OK ? mrs_plan_load(mem, steps, sizeof steps - 1, &po, &plan, e) : s;
    if (s == MRS_OK) {
        s = mrs_run(mem, plan, in, &o, &report, e);
        mrs_report_clear(&report);
    }
    mrs_plan_free(plan);
    mrs_input_close(in);
    return s;
}

/* ---- stopped runs ---- */
static unsigned base;

static int
keep_one(const char *path, const struct stat *st, int flag, struct FTW *w)
{
    (void)w;
    size_t n = flag == FTW_F ? (size_t)st->st_size : 0;
    struct file *f = realloc(files[base], (n_files[base] + 1) * sizeof *f);
    must(f != NULL);
    files[base] = f;
    f += n_files[base]++;
    f->path = strdup(path);
    f->p = flag == FTW_F ? malloc(n + 1) : NULL;
    f->n = n;
    if (f->p) {
        int fd = open(path, O_RDONLY);
        must(fd >= 0 && read(fd, f->p, n) == (ssize_t)n && close(fd) == 0);
    }
    return 0;
}

static void
put_base(unsigned i)
{
    for (size_t k = 0; k < n_files[i]; k++) {
        const struct file *f = &files[i][k];
        if (f->p) {
            put(f->path, f->p, f->n);
        } else {
            must(mkdir(f->path, 0777) == 0);
        }
    }
}

static void
make_bases(struct mrs_mem *mem)
{
    for (unsigned i = 0; i < BASES; i++) {
        struct mrs_err e;
        mrs_err_clear(&e);
        drop_tree(at("out"));
        drop_tree(at("out.partial"));
        drop_tree(at("out.checkpoint"));
        cancel = 0;
        written = 0;
        stop_at = i + 1;
        enum mrs_status s = run(mem, false, &e);
        if (s == MRS_OK) {
            break;
        }
        must(e.code == MRS_E_CANCEL);
        base = i;
        nftw(at("out.partial"), keep_one, 16, FTW_PHYS);
        nftw(at("out.checkpoint"), keep_one, 16, FTW_PHYS);
        n_bases = i + 1;
    }
    must(n_bases > 3);
    cancel = 0;
    stop_at = 0;
}

static void
end_setup(void)
{
    drop_tree(top);
}

static void
set_up(struct mrs_mem *mem)
{
    const char *memory_disk = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(top, sizeof top, "%s/mrs-fuzz-XXXXXX", memory_disk);
    must(mkdtemp(top) && mkdir(at("in"), 0777) == 0 && mkdir(at("in/d"), 0777) == 0);
    atexit(end_setup);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct mrs_buf b;
        struct mrs_err e;
        const char *text = lines[i][1];
        size_t used;
        mrs_err_clear(&e);
        mrs_buf_init(&b, mem, 1 << 20);
        for (; *text; text += used) {
            must(mrs_ejson_read(text, strlen(text), MRS_EJSON_STRICT, &b, &used, &e) == MRS_OK);
        }
        put(at(lines[i][0]), b.p, b.n);
        mrs_buf_clear(&b);
    }
    make_bases(mem);
}

/* ---- one input ---- */
/* The file of a stopped run with another `state` and `pass`. */
static bool
compose(struct mrs_mem *mem, unsigned i, struct mrs_view d, struct mrs_buf *file)
{
    struct mrs_val state = mrs_doc_get(d, "state"), pass = mrs_doc_get(d, "pass");
    struct mrs_buf body;
    struct mrs_build b;
    struct mrs_view whole, old = {NULL, 0};
    struct mrs_walk w;
    struct mrs_elem x;
    for (size_t k = 0; k < n_files[i]; k++) {
        const struct file *f = &files[i][k];
        if (f->p && strcmp(f->path, at("out.checkpoint/state")) == 0) {
            old = (struct mrs_view){f->p + 8, (uint32_t)(f->n - 24)};
        }
    }
    must(old.n > 5);
    mrs_buf_init(&body, mem, MRS_DOC_MAX);
    mrs_build_init(&b, &body);
    mrs_walk_init(&w, old);
    while (mrs_walk_next(&w, &x) == 1) {
        if (strcmp(x.name, "state") != 0 && strcmp(x.name, "pass") != 0) {
            mrs_build_elem(&b, &x);
        }
    }
    mrs_build_val(&b, "state", 5, state);
    mrs_build_val(&b, "pass", 4, pass);
    bool good = mrs_build_finish(&b, &whole, NULL) == MRS_OK;
    if (good) {
        mrsi_checkpoint_frame(whole, file);
    }
    mrs_buf_clear(&body);
    return good && !file->bad;
}

static void
go_on(struct mrs_mem *mem, unsigned i, const void *state, size_t n)
{
    struct mrs_err e;
    unsigned before = open_files();
    mrs_err_clear(&e);
    drop_tree(at("out"));
    drop_tree(at("out.partial"));
    drop_tree(at("out.checkpoint"));
    put_base(i);
    put(at("out.checkpoint/state"), state, n);
    cancel = 0;
    enum mrs_status s = run(mem, true, &e);
    must(s == MRS_OK || (e.code != MRS_E_NONE && e.msg[0]));
    must(open_files() == before);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrsi_checkpoint cp;
    struct mrs_buf file;
    must(mem != NULL);
    if (!top[0]) {
        set_up(mem);
    }
    must(mrs_mem_live(mem) == 0);
    mrs_buf_init(&file, mem, MRS_STOPPED_MAX);
    if (n > 1 && n < 1 << 18) {
        struct mrs_view d = {data + 1, (uint32_t)n - 1};
        unsigned i = data[0] % n_bases;
        (void)mrsi_checkpoint_parse(d.p, d.n, &cp, NULL);
        (void)mrsi_checkpoint_parse_body(d.p, d.n, &cp, NULL);
        if (mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL) == MRS_OK && mrs_le32(d.p) == d.n &&
            compose(mem, i, d, &file)) {
            go_on(mem, i, file.p, file.n);
        } else {
            go_on(mem, i, d.p, d.n);
        }
    }
    mrs_buf_clear(&file);
    must(mrs_mem_close(mem) == 0);
    return 0;
}
