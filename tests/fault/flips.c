/* SPDX-License-Identifier: Apache-2.0 */
/* flips.c - small dumps in every form, each with one error, many times over: a flipped bit, a changed byte, a truncated
 * end, a range that is duplicated, removed or zeroed.
 *
 * A run over one ends with the bytes of the intact dump, because the damage had no effect, or with an error that gives
 * the file and the place; then no output is written. Only where the format has no checksum (plain BSON, metadata and
 * tar, the prelude of an archive) may damage pass as other data. */
#include "dumps.h"
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { FILES = 64, PLAN = 8192 };

static const struct shape {
    const char *name;
    enum form form;
    enum mrs_codec codec;
    bool single;
} shapes[] = {
    {"a folder", FORM_FOLDER, MRS_CODEC_NONE, false},
    {"a folder, gzip", FORM_FOLDER, MRS_CODEC_GZIP, false},
    {"a folder, zstd", FORM_FOLDER, MRS_CODEC_ZSTD, false},
    {"a file", FORM_FOLDER, MRS_CODEC_NONE, true},
    {"a file, gzip", FORM_FOLDER, MRS_CODEC_GZIP, true},
    {"a file, zstd", FORM_FOLDER, MRS_CODEC_ZSTD, true},
    {"an archive", FORM_ARCHIVE, MRS_CODEC_NONE, false},
    {"an archive, gzip", FORM_ARCHIVE, MRS_CODEC_GZIP, false},
    {"an archive, zstd", FORM_ARCHIVE, MRS_CODEC_ZSTD, false},
    {"tar", FORM_TAR, MRS_CODEC_NONE, false},
    {"tar, gzip", FORM_TAR, MRS_CODEC_GZIP, false},
    {"tar, zstd", FORM_TAR, MRS_CODEC_ZSTD, false},
    {"zip", FORM_ZIP, MRS_CODEC_NONE, false},
    {"7z", FORM_7Z, MRS_CODEC_NONE, false},
    {"cpio", FORM_CPIO, MRS_CODEC_NONE, false},
};

struct piece {
    char path[512]; /* below the folder of the test */
    uint8_t *p;
    size_t n;
    size_t prelude; /* of an archive: its bytes without a checksum */
    size_t joint;   /* where its second frame or member begins; 0: it has one */
    bool checked;
};
struct flips {
    const struct shape *shape;
    struct scene scene;
    struct result good, before;
    struct piece file[FILES];
    unsigned n_file;
    size_t bytes;
    unsigned same, told, unnoticed;
    const char *what; /* the dump */
    void (*dump)(const char *dir, enum mrs_codec codec); /* NULL: the folder dumps/sample/what */
    char plan[PLAN];
};

static uint64_t state;

static size_t
any(size_t n)
{
    uint64_t x = state += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return n ? (size_t)((x ^ x >> 31) % n) : 0;
}

/* ---- the dumps ---- */
static void
slurp(const char *path, uint8_t **p, size_t *n)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) < 0) {
        die("%s cannot be read", path);
    }
    *n = (size_t)st.st_size;
    *p = malloc(*n + 1);
    if (fread(*p, 1, *n, f) != *n) {
        die("%s cannot be read", path);
    }
    fclose(f);
}

/* Copies a folder; its documents, and with gzip its metadata, are packed. */
static void
copy_folder(const char *from, enum mrs_codec codec, const char *to)
{
    char *roots[] = {(char *)(uintptr_t)from, NULL}, path[4700];
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *at; fts && (at = fts_read(fts)) != NULL;) {
        const char *end = strrchr(at->fts_name, '.');
        bool data = end && strcmp(end, ".bson") == 0 && !strchr(at->fts_name, '$');
        bool packed = data || (codec == MRS_CODEC_GZIP && strstr(at->fts_name, ".metadata.json"));
        snprintf(path, sizeof path, "%s%s%s", to, at->fts_path + strlen(from),
                 !packed || at->fts_info != FTS_F ? "" : codec == MRS_CODEC_GZIP ? ".gz"
                                                     : codec == MRS_CODEC_ZSTD ? ".zst" : "");
        if (at->fts_info == FTS_D) {
            mkdir(path, 0777);
        } else if (at->fts_info == FTS_F) {
            uint8_t *p;
            size_t n;
            slurp(at->fts_path, &p, &n);
            put_packed(path, packed ? codec : MRS_CODEC_NONE, p, n);
            free(p);
        }
    }
    fts_close(fts);
}

/* The end of an archive's prelude. */
static size_t
prelude_of(const uint8_t *p, size_t n)
{
    size_t at = 4;
    while (at + 4 <= n && mrs_le32(p + at) != 0xffffffffu) {
        at += mrs_le32(p + at);
    }
    return at;
}

/* How long the first frame or member is. */
static size_t
first_frame(const uint8_t *p, size_t n)
{
    uint8_t room[4096];
    z_stream z = {.next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n};
    int s = Z_OK;
    if (n < 4 || p[0] != 0x1f) {
        size_t frame = ZSTD_findFrameCompressedSize(p, n);
        return ZSTD_isError(frame) ? n : frame;
    }
    inflateInit2(&z, 31);
    while (s == Z_OK) {
        z.next_out = room;
        z.avail_out = sizeof room;
        s = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    return z.total_in;
}

static bool
ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

/* All files of the input, and the largest of documents. */
static const char *
learn_files(struct flips *fl, const char *folder)
{
    char *roots[] = {(char *)(uintptr_t)folder, NULL};
    size_t most = 0, top = strlen(below(""));
    const char *largest = "";
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *at; fts && (at = fts_read(fts)) != NULL;) {
        struct piece *f = &fl->file[fl->n_file];
        if (at->fts_info != FTS_F || fl->n_file == FILES) {
            continue;
        }
        memset(f, 0, sizeof *f);
        snprintf(f->path, sizeof f->path, "%.500s", at->fts_path + top);
        slurp(at->fts_path, &f->p, &f->n);
        bool packed = ends_with(f->path, ".gz") || ends_with(f->path, ".zst");
        bool whole = fl->shape->form != FORM_FOLDER && fl->shape->codec != MRS_CODEC_NONE;
        f->prelude = fl->shape->form == FORM_ARCHIVE && !whole ? prelude_of(f->p, f->n) : 0;
        f->joint = packed ? first_frame(f->p, f->n) : 0;
        f->joint = f->joint < f->n ? f->joint : 0;
        f->checked = packed || whole || f->prelude || fl->shape->form == FORM_ZIP || fl->shape->form == FORM_7Z;
        fl->bytes += f->n;
        fl->n_file++;
        if (f->n > most && ends_with(f->path, ".bson") && !strchr(f->path, '$')) {
            most = f->n;
            largest = f->path;
        }
    }
    fts_close(fts);
    return largest;
}

static void
forget_files(struct flips *fl)
{
    for (unsigned i = 0; i < fl->n_file; i++) {
        free(fl->file[i].p);
    }
    fl->n_file = 0;
    fl->bytes = 0;
}

/* One step for each collection, so that none is copied unread. */
static void
make_plan(struct flips *fl)
{
    size_t at = (size_t)snprintf(fl->plan, PLAN, "steps:\n");
    for (unsigned i = 0; i < fl->n_file; i++) {
        const char *name = strrchr(fl->file[i].path, '/') + 1, *end = strstr(name, ".bson");
        if (end && !strchr(name, '$') && at < PLAN) {
            at += (size_t)snprintf(fl->plan + at, PLAN - at, "  - set: { in: %.*s, fields: { m: 1 } }\n",
                                   (int)(end - name), name);
        }
    }
    fl->scene.plan = fl->plan;
}

/* Makes `in` of the plain folder `made`. */
static void
make_shape(struct flips *fl)
{
    const struct shape *shape = fl->shape;
    fl->scene = (struct scene){.name = shape->name, .form = shape->form, .codec = shape->codec, .damaged = true};
    const char *largest = learn_files(fl, below("made"));
    if (shape->single) {
        uint8_t *p;
        size_t n;
        mkdir(below("one"), 0777);
        mkdir(below("one/d"), 0777);
        slurp(below(largest), &p, &n);
        put_bytes(below("one/d/one.bson"), p, n);
        free(p);
        copy_folder(below("one"), shape->codec, below("in"));
        fl->scene.in = shape->codec == MRS_CODEC_GZIP   ? "in/d/one.bson.gz"
                       : shape->codec == MRS_CODEC_ZSTD ? "in/d/one.bson.zst"
                                                        : "in/d/one.bson";
        fl->scene.out = "two.bson";
        fl->scene.single_ns = "d.one";
        forget_files(fl);
        learn_files(fl, below("one"));
        make_plan(fl);
    } else if (shape->form == FORM_FOLDER) {
        make_plan(fl);
        copy_folder(below("made"), shape->codec, below("in"));
    } else {
        make_plan(fl);
        mkdir(below("in"), 0777);
        put_form(below("made"), shape->form, shape->codec, below("in/dump"));
    }
    forget_files(fl);
    learn_files(fl, below("in"));
}

/* ---- damage ---- */
static const char *const kinds[] = {"a bit", "a byte", "cut off", "twice", "removed", "zeros"};

struct damage {
    const struct piece *file;
    unsigned kind;
    size_t at, n; /* the stretch */
};

static struct damage
choose(const struct flips *fl)
{
    struct damage d = {fl->file, (unsigned)any(6), 0, 1};
    size_t where = any(fl->bytes);
    while (where >= d.file->n) {
        where -= d.file->n;
        d.file++;
    }
    d.at = where;
    if (d.kind > 2) { /* of all orders of magnitude */
        d.n = 1 + any((size_t)1 << any(14));
        d.n = d.n > d.file->n - d.at ? d.file->n - d.at : d.n;
    }
    return d;
}

/* The damaged bytes in out; how many. */
static size_t
spoil(const struct damage *d, uint8_t *out)
{
    const uint8_t *p = d->file->p;
    size_t n = d->file->n, end = d->at + d->n;
    memcpy(out, p, n);
    switch (d->kind) {
    case 0:
        out[d->at] ^= (uint8_t)(1u << any(8));
        return n;
    case 1:
        out[d->at] ^= (uint8_t)(1 + any(255));
        return n;
    case 2:
        return d->at;
    case 3:
        memcpy(out + end, p + d->at, n - d->at);
        return n + d->n;
    case 4:
        memcpy(out + d->at, p + end, n - end);
        return n - d->n;
    default:
        memset(out + d->at, 0, d->n);
        return n;
    }
}

/* ---- what became of it ---- */
/* Of a compressed file of documents whole frames may be missing, or be there twice. */
static bool
may_pass(const struct damage *d)
{
    const struct piece *f = d->file;
    size_t end = d->kind == 2 ? f->n : d->at + d->n;
    bool frames = d->kind >= 2 && d->kind <= 4 && (d->at == 0 || d->at == f->joint) &&
                  (end == f->n || end == f->joint);
    return !f->checked || d->at < f->prelude || (frames && strstr(f->path, ".bson."));
}

/* Names the file; and a place in it, a member or a line. */
static bool
says_where(const struct damage *d, const struct result *r, const char *text)
{
    const char *name = strrchr(d->file->path, '/') + 1;
    bool line = strstr(text, "line ") || strstr(text, "index ") || strstr(text, "dump/") || strstr(text, "byte ") ||
                strstr(text, "directory at") || strstr(text, "no bytes at all") || strstr(text, "lies in no folder");
    bool damage = r->err.code == MRS_E_BSON || r->err.code == MRS_E_FORMAT;
    return !damage || (strstr(text, name) && (r->err.byte_off != UINT64_MAX || r->err.doc_no || line));
}

static void
judge_flip(struct flips *fl, const struct damage *d, struct result *r)
{
    char text[900];
    enum mrs_code c = r->err.code;
    mrs_err_text(&r->err, text, sizeof text);
    note_try();
    if (r->leaks) {
        wrong("%llu blocks leak (%s)", (unsigned long long)r->leaks, text);
    }
    if (r->status != MRS_OK) {
        remove(below("refused"));
        remove(below("refused.jsonl"));
    }
    look_at(r);
    if (r->status == MRS_OK) {
        bool same = r->picture == fl->good.picture;
        fl->same += same;
        fl->unnoticed += !same;
        if (!same && !may_pass(d)) {
            wrong("damage that nobody noticed: %s", r->names);
        }
        return;
    }
    fl->told++;
    bool told = c == MRS_E_BSON || c == MRS_E_FORMAT || c == MRS_E_LIMIT || c == MRS_E_PLAN || c == MRS_E_USAGE ||
                c == MRS_E_MISSING || c == MRS_E_TOO_MANY;
    if (!told || r->published || !says_where(d, r, text)) {
        wrong("%s, status %d: %s", mrs_code_name(c), r->status, text);
    }
    if (r->picture != fl->before.picture) {
        wrong("something is left: %s (%s)", r->names, text);
    }
}

static void
one_flip(struct flips *fl)
{
    struct damage d = choose(fl);
    uint8_t *damaged = malloc(d.file->n + d.n), *after;
    size_t n = spoil(&d, damaged), after_n;
    set_doing("%s, %s: %zu bytes at %zu of %s: %s", fl->what, fl->scene.name, d.n, d.at, d.file->path, kinds[d.kind]);
    put_bytes(below(d.file->path), damaged, n);
    clean_scene(&fl->scene);
    struct result r = run_scene(&fl->scene, 0);
    judge_flip(fl, &d, &r);
    slurp(below(d.file->path), &after, &after_n);
    if (after_n != n || memcmp(after, damaged, n) != 0) {
        wrong("the input was changed");
    }
    put_bytes(below(d.file->path), d.file->p, d.file->n);
    free(after);
    free(damaged);
}

static void
flip_shape(struct flips *fl, unsigned long seed, unsigned n)
{
    char plain[300];
    snprintf(plain, sizeof plain, "dumps/sample/%s", fl->what);
    new_top();
    set_doing("%s: %s", fl->what, fl->shape->name);
    if (fl->dump) {
        fl->dump(below("made"), MRS_CODEC_NONE);
    } else {
        char to[300];
        snprintf(to, sizeof to, "made/%s", fl->what);
        mkdir(below("made"), 0777);
        copy_folder(plain, MRS_CODEC_NONE, below(to));
    }
    make_shape(fl);
    unsigned fds = open_files();
    clean_scene(&fl->scene);
    look_at(&fl->before);
    fl->good = run_scene(&fl->scene, 0);
    look_at(&fl->good);
    if (fl->good.status != MRS_OK) {
        wrong("undisturbed: %s", fl->good.err.msg);
        n = 0;
    }
    fl->same = fl->told = fl->unnoticed = 0;
    state = seed * 1000003u;
    for (unsigned i = 0; i < n; i++) {
        one_flip(fl);
    }
    if (open_files() != fds) {
        wrong("%u files were open before, %u are now", fds, open_files());
    }
    tell("%-8s %-18s %5u told, %5u without effect, %5u where nothing could tell", fl->what, fl->shape->name, fl->told,
         fl->same, fl->unnoticed);
    forget_files(fl);
}

void
flip_all(unsigned long seed, const char *only, bool all)
{
    static const char *const samples[] = {"blog", "cinema", "garage", "iot", "ops", "people", "shop", "site"};
    static struct flips fl;
    unsigned long same = 0, told = 0, unnoticed = 0;
    for (size_t i = 0; i <= (all ? sizeof samples / sizeof *samples : 0); i++) {
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            if (only && strcmp(only, shapes[k].name) != 0) {
                continue;
            }
            memset(&fl, 0, sizeof fl);
            fl.shape = &shapes[k];
            fl.what = i ? samples[i - 1] : "posts";
            fl.dump = i ? NULL : dump_blog;
            alarm(3600);
            flip_shape(&fl, seed, all ? 1000 : 60);
            same += fl.same;
            told += fl.told;
            unnoticed += fl.unnoticed;
        }
    }
    printf("damaged inputs, seed %lu: %lu told, %lu without effect, %lu where the format has no checksum\n", seed, told,
           same, unnoticed);
}
