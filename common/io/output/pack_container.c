/* SPDX-License-Identifier: Apache-2.0 */
/* pack_container.c - packs a folder of files as a tar: plain ustar headers, preceded by the extended header of POSIX if
 * a name or a size does not fit.
 *
 * All header fields but name, size and checksum are constants, so that two runs give the same tar. The system copies
 * the bytes of an uncompressed tar if it can. */
#include "pack_container.h"
#include "io/input/dumpdir.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK 512u
#define NAME_N 100u
#define PREFIX_N 155u
#define OCTAL_MAX 077777777777ull /* the largest size in a plain header */

/* ---- listing the files ---- */
struct queue {
    struct queue *next;
    struct mrsi_item item;
    const char *name;
};

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct mrsi_packed_file *)a)->name, ((const struct mrsi_packed_file *)b)->name);
}

static bool
skipped(const struct mrsi_container_pack *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_skip; i++) {
        if (strcmp(p->skip[i], name) == 0) {
            return true;
        }
    }
    return false;
}

struct files {
    const struct mrsi_container_pack *pack;
    struct mrs_arena *a;
    struct mrsi_packed_file *at;
    uint32_t n, cap;
    struct queue *todo;
};

static enum mrs_status
add_file(struct files *f, const struct mrsi_item *item, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(f->n <= f->cap && !item->folder);
    struct mrsi_packed_file *more = mrs_arena_more(f->a, f->at, f->n, &f->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    f->at = more;
    f->at[f->n++] = (struct mrsi_packed_file){name, item->path, item->bytes};
    return MRS_OK;
}

/* Adds the files of one folder, and queues its folders. */
static enum mrs_status
add_folder(struct files *f, const struct queue *folder, bool top, struct mrs_err *e)
{
    MRS_ASSERT(folder->item.folder);
    struct mrsi_items has = {NULL, 0};
    enum mrs_status s = mrsi_doc_offsets_files.list(&mrsi_doc_offsets_files, f->a, &folder->item, &has, e);
    for (uint32_t i = 0; s == MRS_OK && i < has.n; i++) {
        const struct mrsi_item *item = &has.at[i];
        if (top && skipped(f->pack, item->name)) {
            continue;
        }
        const char *name = mrsi_arena_join(f->a, folder->name, item->name);
        struct queue *more = item->folder ? mrs_arena_alloc(f->a, sizeof *more) : NULL;
        if (!name || (item->folder && !more)) {
            return mrs_err_memory(e, strlen(item->name));
        }
        if (more) {
            *more = (struct queue){f->todo, *item, name};
            f->todo = more;
        } else {
            s = add_file(f, item, name, e);
        }
    }
    return s;
}

enum mrs_status
mrsi_pack_list(const struct mrsi_container_pack *p, struct mrs_arena *a, struct mrsi_packed_file **out, uint32_t *n,
               struct mrs_err *e)
{
    struct queue root = {NULL, {.name = "dump", .path = p->root, .folder = true}, "dump"};
    struct files f = {p, a, NULL, 0, 0, NULL};
    enum mrs_status s = add_folder(&f, &root, true, e);
    while (s == MRS_OK && f.todo) {
        const struct queue *folder = f.todo;
        f.todo = folder->next;
        s = add_folder(&f, folder, false, e);
    }
    if (s == MRS_OK && f.n) {
        qsort(f.at, f.n, sizeof *f.at, by_name);
    }
    *out = f.at;
    *n = f.n;
    return s;
}

/* ---- headers ---- */
static void
put_octal(uint8_t *at, size_t n, uint64_t v)
{
    at[--n] = 0;
    while (n) {
        at[--n] = (uint8_t)('0' + (v & 7));
        v >>= 3;
    }
}

/* Eight gigabytes and more in GNU format, for readers that skip the extended header. */
static void
put_size(uint8_t *at, uint64_t v)
{
    if (v <= OCTAL_MAX) {
        put_octal(at, 12, v);
        return;
    }
    memset(at, 0, 12);
    at[0] = 0x80;
    for (size_t i = 11; i > 3; i--) {
        at[i] = (uint8_t)v;
        v >>= 8;
    }
}

/* Where to split the name into prefix and rest; 0: no split; SIZE_MAX: it does not fit. */
static size_t
cut_of(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = n > NAME_N ? n - NAME_N - 1 : 0; n > NAME_N && i <= PREFIX_N && i + 1 < n; i++) {
        if (name[i] == '/') {
            return i;
        }
    }
    return n > NAME_N ? SIZE_MAX : 0;
}

static void
put_header(uint8_t h[BLOCK], const char *name, uint64_t bytes, char type)
{
    size_t n = strlen(name), cut = cut_of(name), sum = 0;
    memset(h, 0, BLOCK);
    if (cut == SIZE_MAX) {
        memcpy(h, name, NAME_N); /* the full name is in the extended header */
    } else if (cut) {
        memcpy(h + 345, name, cut);
        memcpy(h, name + cut + 1, n - cut - 1);
    } else {
        memcpy(h, name, n);
    }
    put_octal(h + 100, 8, 0644);
    put_octal(h + 108, 8, 0); /* owner and group: root */
    put_octal(h + 116, 8, 0);
    put_size(h + 124, bytes);
    put_octal(h + 136, 12, 0); /* 1970 */
    h[156] = (uint8_t)type;
    memcpy(h + 257, "ustar\0" "00", 8);
    memset(h + 148, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++) {
        sum += h[i];
    }
    put_octal(h + 148, 7, sum);
}

/* "LENGTH KEY=VALUE
 * ", where LENGTH includes its own digits. */
static void
put_record(struct mrs_buf *b, const char *key, const char *value)
{
    size_t rest = strlen(key) + strlen(value) + 3, n = rest + 1;
    for (size_t was = 0; was != n;) {
        was = n;
        n = rest;
        for (size_t digits = was; digits; digits /= 10) {
            n++;
        }
    }
    char head[64];
    int k = snprintf(head, sizeof head, "%zu %s=", n, key);
    mrs_buf_put(b, head, k > 0 ? (size_t)k : 0);
    mrs_buf_put(b, value, strlen(value));
    mrs_buf_byte(b, '\n');
}

static void
pad(struct mrs_buf *b, uint64_t n)
{
    size_t k = (size_t)(n % BLOCK);
    uint8_t *at = k ? mrs_buf_take(b, BLOCK - k) : NULL;
    if (at) {
        memset(at, 0, BLOCK - k);
    }
}

/* Writes everything before the bytes of a file. */
static enum mrs_status
put_headers(struct mrs_buf *b, const struct mrsi_packed_file *f, struct mrs_err *e)
{
    uint8_t h[BLOCK];
    char size[24];
    bool long_name = cut_of(f->name) == SIZE_MAX, large = f->bytes > OCTAL_MAX;
    struct mrs_buf records;
    mrs_buf_init(&records, b->mem, 1 << 20);
    if (long_name) {
        put_record(&records, "path", f->name);
    }
    if (large) {
        snprintf(size, sizeof size, "%llu", (unsigned long long)f->bytes);
        put_record(&records, "size", size);
    }
    mrs_buf_reset(b);
    if (long_name || large) {
        put_header(h, "dump/PaxHeader", records.n, 'x');
        mrs_buf_put(b, h, BLOCK);
        mrs_buf_put(b, records.p, records.n);
        pad(b, records.n);
    }
    put_header(h, f->name, f->bytes, '0');
    mrs_buf_put(b, h, BLOCK);
    enum mrs_status s = mrs_buf_status(&records, e);
    MRS_THEN(s, mrs_buf_status(b, e));
    mrs_buf_clear(&records);
    return s;
}

/* ---- the complete tar ---- */
struct writer {
    const struct mrsi_container_pack *pack;
    struct mrsi_encoder *enc; /* NULL: plain */
    uint8_t *room;
    const struct mrsi_packed_file *file; /* the file being packed */
    uint64_t at;                    /* bytes of it already packed */
};

static void
add_fields(void *arg, struct mrs_build *b)
{
    const struct writer *w = arg;
    mrs_build_text(b, "member", w->file->name, (uint32_t)strlen(w->file->name));
    mrs_build_i64(b, "at", (int64_t)w->at);
}

static enum mrs_status
put(struct writer *w, const void *p, size_t n, struct mrs_err *e)
{
    return w->enc ? mrsi_encoder_write(w->enc, p, n, e) : mrsi_write_full(w->pack->fd, p, n, w->pack->name, e);
}

enum mrs_status
mrsi_pack_read(const struct mrsi_packed_file *f, int fd, uint64_t at, uint8_t *room, size_t *got, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0 && at <= f->bytes);
    uint64_t left = f->bytes - at;
    size_t n = left < MRSI_PACK_ROOM ? (size_t)left : MRSI_PACK_ROOM;
    enum mrs_status s = mrsi_pread_full(fd, room, n, at, f->path, got, e);
    return s == MRS_OK && !*got ? MRSI_FAIL(e, MRS_E_IO, "read %s: it became shorter while it was packed", f->path) : s;
}

/* From w->at on. */
static enum mrs_status
put_bytes(struct writer *w, struct mrs_err *e)
{
    MRS_ASSERT(w->at <= w->file->bytes);
    const struct mrsi_packed_file *f = w->file;
    struct stat st;
    int fd = -1;
    size_t got = 0;
    enum mrs_status s = mrsi_open_read(f->path, &fd, &st, e);
    if (s != MRS_OK) {
        return s;
    }
    struct mrsi_file_span span = {fd, w->at, f->bytes - w->at, f->path};
    if (!w->enc) {
        s = mrsi_resumable_span(w->pack->resumed, &span, &w->at, w->pack->fd, w->pack->name, e);
    }
    while (w->enc && s == MRS_OK && w->at < f->bytes) {
        s = mrsi_pack_read(f, fd, w->at, w->room, &got, e);
        MRS_THEN(s, put(w, w->room, got, e));
        w->at += got;
        MRS_THEN(s, mrsi_resumable_rest(w->pack->resumed, got, e));
    }
    close(fd);
    return s;
}

static enum mrs_status
put_file(struct writer *w, bool begun, struct mrs_buf *b, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (!begun) {
        w->at = 0;
        s = put_headers(b, w->file, e);
        MRS_THEN(s, put(w, b->p, b->n, e));
    }
    MRS_THEN(s, put_bytes(w, e));
    mrs_buf_reset(b);
    pad(b, w->file->bytes);
    MRS_THEN(s, mrs_buf_status(b, e));
    return s == MRS_OK && b->n ? put(w, b->p, b->n, e) : s;
}

enum mrs_status
mrsi_pack_begun(const struct mrsi_resumable *h, const struct mrsi_packed_file *files, uint32_t n, uint32_t *i,
                uint64_t *at, struct mrs_err *e)
{
    const char *name = mrsi_saved_text(h->from, "member");
    *at = mrsi_saved_number(h->from, "at");
    for (*i = 0; name && *i < n; (*i)++) {
        if (strcmp(files[*i].name, name) == 0) {
            return *at <= files[*i].bytes ? MRS_OK : mrsi_resumable_damaged(h, e);
        }
    }
    return mrsi_resumable_damaged(h, e);
}

static enum mrs_status
put_all(struct writer *w, const struct mrsi_packed_file *files, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(files || n == 0);
    struct mrs_buf b;
    enum mrs_status s = MRS_OK;
    uint32_t i = 0;
    bool begun = mrsi_resumable_is_resumed(w->pack->resumed);
    if (begun) {
        s = mrsi_pack_begun(w->pack->resumed, files, n, &i, &w->at, e);
    }
    mrs_buf_init(&b, w->pack->mem, 1 << 20);
    for (; s == MRS_OK && i < n; i++) {
        w->file = &files[i];
        s = put_file(w, begun, &b, e);
        begun = false;
    }
    if (s == MRS_OK) {
        memset(w->room, 0, 2 * BLOCK); /* the end mark */
        s = put(w, w->room, 2 * BLOCK, e);
    }
    mrs_buf_clear(&b);
    return s;
}

enum mrs_status
mrsi_pack_tar(const struct mrsi_container_pack *p, struct mrs_err *e)
{
    MRS_ASSERT(p->fd >= 0);
    struct writer w = {.pack = p, .room = mrs_alloc(p->mem, MRSI_PACK_ROOM)};
    struct mrs_arena a;
    struct mrsi_packed_file *files = NULL;
    uint32_t n = 0;
    enum mrs_status s = mrs_allocated(w.room, MRSI_PACK_ROOM, e);
    mrs_arena_init(&a, p->mem);
    mrsi_resumable_writer(p->resumed, add_fields, &w);
    if (s == MRS_OK && p->compress.codec != MRS_CODEC_NONE) {
        struct mrsi_encoder_to to = {p->fd, p->name, p->compress, 0, p->pool, false, 0};
        s = mrsi_resumable_encoder(p->mem, p->resumed, &to, &w.enc, e);
    }
    MRS_THEN(s, mrsi_pack_list(p, &a, &files, &n, e));
    MRS_THEN(s, put_all(&w, files, n, e));
    s = s == MRS_OK && w.enc ? mrsi_encoder_finish(w.enc, e) : s;
    mrsi_resumable_writer(p->resumed, NULL, NULL);
    mrsi_encoder_close(w.enc);
    mrs_arena_clear(&a);
    mrs_free(p->mem, w.room);
    return s;
}
