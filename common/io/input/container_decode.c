/* SPDX-License-Identifier: Apache-2.0 */
/* container_decode.c - decodes streams by libarchive, and stores decoded bytes.
 *
 * Decoded bytes are in an unlinked file. Their number is unknown in advance, and a few bytes can decode to any number,
 * so the free space is checked on the way: the file system is never filled completely. This refuses no dump that fits,
 * whatever its compression ratio. Only libarchive's built-in filters are used, never its external programs. */
#include "container.h"
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ROOM (256u << 10)
#define ASK_EVERY (16ull << 20)

/* ---- the unpack file ---- */
static enum mrs_status
free_bytes(const struct mrsi_heap *h, uint64_t *n, struct mrs_err *e)
{
    struct statvfs v;
    if (fstatvfs(h->fd, &v) < 0) {
        return mrs_err_sys(e, errno, "ask for free space in the folder for temporary files");
    }
    *n = (uint64_t)v.f_bavail * (uint64_t)v.f_frsize;
    return MRS_OK;
}

enum mrs_status
mrsi_heap_open(const struct mrsi_spot *spot, struct mrsi_heap *out, struct mrs_err *e)
{
    MRS_ASSERT(out);
    uint64_t n = 0;
    *out = (struct mrsi_heap){.fd = -1, .pause = spot->pause};
    enum mrs_status s = mrs_temp_open(spot->tmp, &out->fd, e);
    MRS_THEN(s, free_bytes(out, &n, e));
    out->spare = n / 64;
    if (s != MRS_OK && out->fd >= 0) {
        close(out->fd);
        out->fd = -1;
    }
    return s;
}

enum mrs_status
mrsi_heap_room(struct mrsi_heap *h, uint64_t n, const char *what, struct mrs_err *e)
{
    MRS_ASSERT(h->fd >= 0);
    uint64_t has = 0;
    if (n < UINT64_MAX - h->bytes && h->bytes + n <= h->checked) {
        return MRS_OK;
    }
    MRS_TRY(free_bytes(h, &has, e));
    if (has <= h->spare || n > has - h->spare) {
        return MRSI_FAIL(e, MRS_E_LIMIT,
                         "%s: %llu bytes more are to be unpacked, and the folder for temporary files has %llu free: "
                         "name a larger one with --tmp (a damaged or malicious archive has the same symptom)",
                         what, (unsigned long long)n, (unsigned long long)has);
    }
    uint64_t ahead = has - h->spare < ASK_EVERY ? has - h->spare : ASK_EVERY;
    h->checked = h->bytes + (n > ahead ? n : ahead);
    return MRS_OK;
}

static enum mrs_status
heap_put(struct mrsi_heap *h, const void *p, size_t n, const char *what, struct mrs_err *e)
{
    enum mrs_status s = mrsi_heap_room(h, n, what, e);
    MRS_THEN(s, mrs_write_at(h->fd, p, n, h->bytes, e));
    h->bytes += s == MRS_OK ? n : 0;
    return s == MRS_OK ? mrsi_pause(h->pause, n, e) : s;
}

/* ---- a file as input of libarchive ---- */
static la_ssize_t
feed_read(struct archive *a, void *self, const void **p)
{
    MRS_ASSERT(((struct mrsi_feed *)self)->room);
    struct mrsi_feed *f = self;
    uint64_t left = f->from->bytes - f->at;
    size_t got = 0;
    *p = f->room;
    if (mrsi_pread_full(f->from->fd, f->room, left < ROOM ? (size_t)left : ROOM, f->from->start + f->at,
                        f->from->name, &got, &f->err) != MRS_OK) {
        archive_set_error(a, EIO, "%s", f->err.msg);
        return -1;
    }
    f->at += got;
    return (la_ssize_t)got;
}

static la_int64_t
feed_skip(struct archive *a, void *self, la_int64_t n)
{
    struct mrsi_feed *f = self;
    uint64_t left = f->from->bytes - f->at, k = n < 0 ? 0 : (uint64_t)n;
    (void)a;
    k = k < left ? k : left;
    f->at += k;
    return (la_int64_t)k;
}

static la_int64_t
feed_seek(struct archive *a, void *self, la_int64_t off, int whence)
{
    struct mrsi_feed *f = self;
    la_int64_t base = whence == SEEK_CUR ? (la_int64_t)f->at : whence == SEEK_END ? (la_int64_t)f->from->bytes : 0;
    la_int64_t to;
    (void)a;
    if (__builtin_add_overflow(base, off, &to) || to < 0 || (uint64_t)to > f->from->bytes) {
        return ARCHIVE_FATAL;
    }
    f->at = (uint64_t)to;
    return to;
}

enum mrs_status
mrsi_feed_open(struct mrs_mem *mem, const struct mrsi_source_from *from, struct mrsi_feed *out, struct mrs_err *e)
{
    *out = (struct mrsi_feed){.from = from, .room = mrs_alloc(mem, ROOM)};
    mrs_err_clear(&out->err);
    return mrs_allocated(out->room, ROOM, e);
}

int
mrsi_feed_start(struct mrsi_feed *f, struct archive *a)
{
    MRS_ASSERT(f->room);
    archive_read_set_callback_data(a, f);
    archive_read_set_read_callback(a, feed_read);
    archive_read_set_skip_callback(a, feed_skip);
    archive_read_set_seek_callback(a, feed_seek);
    return archive_read_open1(a);
}

enum mrs_status
mrsi_feed_failed(struct mrsi_feed *f, struct archive *a, const char *what, uint64_t off, struct mrs_err *e)
{
    const char *why = archive_error_string(a);
    if (f->err.code != MRS_E_NONE) {
        if (e && e->code == MRS_E_NONE) {
            *e = f->err;
        }
        return MRS_FAIL;
    }
    if (archive_errno(a) == ENOMEM) {
        return mrs_err_memory(e, 0);
    }
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s: damaged, truncated or not supported, near byte %llu of the file: %s", what,
                     (unsigned long long)off, why ? why : "no reason is given");
}

/* ---- whole streams ---- */
static enum mrs_status
decode_own(struct mrs_mem *mem, const struct mrsi_source_from *from, struct mrsi_heap *h, struct mrs_err *e)
{
    MRS_ASSERT(h->fd >= 0);
    struct mrsi_source_from own = *from;
    struct mrsi_source *src = NULL;
    uint8_t *room = mrs_alloc(mem, ROOM);
    own.own = false;
    enum mrs_status s = room ? mrsi_source_open(mem, &own, &src, e) : mrs_err_memory(e, ROOM);
    while (s == MRS_OK) {
        size_t got;
        s = mrsi_source_read(src, room, ROOM, &got, e);
        MRS_THEN(s, heap_put(h, room, got, from->name, e));
    }
    mrsi_source_close(src);
    mrs_free(mem, room);
    return s == MRS_END ? MRS_OK : s;
}

/* A filter that needs an external program returns a warning. */
static bool
add_filters(struct archive *a)
{
    return archive_read_support_filter_xz(a) == ARCHIVE_OK && archive_read_support_filter_bzip2(a) == ARCHIVE_OK &&
           archive_read_support_filter_lz4(a) == ARCHIVE_OK && archive_read_support_filter_lzip(a) == ARCHIVE_OK &&
           archive_read_support_format_raw(a) == ARCHIVE_OK && archive_read_support_format_empty(a) == ARCHIVE_OK;
}

/* libarchive ends if a further stream begins differently from the first, whether that is another file or a damaged part
 * of this one. */
static enum mrs_status
check_end(const struct mrsi_feed *f, struct archive *a, struct mrs_err *e)
{
    la_int64_t taken = archive_filter_bytes(a, -1);
    if (taken < 0 || (uint64_t)taken >= f->from->bytes) {
        return MRS_OK;
    }
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s: damaged near byte %lld of the file: other bytes after the last stream",
                     f->from->name, (long long)taken);
}

static enum mrs_status
pour(struct mrsi_feed *f, struct archive *a, struct mrsi_heap *h, struct mrs_err *e)
{
    MRS_ASSERT(h->fd >= 0);
    struct archive_entry *entry;
    const char *name = f->from->name;
    int r = add_filters(a) ? mrsi_feed_start(f, a) : ARCHIVE_FATAL;
    r = r == ARCHIVE_OK ? archive_read_next_header(a, &entry) : r;
    if (r == ARCHIVE_OK && archive_filter_count(a) != 2) { /* one filter, and the file itself */
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s: packed twice or in an unknown way: unpack it by hand", name);
    }
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && r == ARCHIVE_OK) {
        const void *p;
        size_t n;
        la_int64_t off;
        r = archive_read_data_block(a, &p, &n, &off);
        s = r == ARCHIVE_OK ? heap_put(h, p, n, name, e) : s;
    }
    if (s == MRS_OK && r == ARCHIVE_EOF) {
        return check_end(f, a, e);
    }
    return s != MRS_OK ? s : mrsi_feed_failed(f, a, name, f->at, e);
}

static enum mrs_status
decode_rare(struct mrs_mem *mem, const struct mrsi_source_from *from, struct mrsi_heap *h, struct mrs_err *e)
{
    struct mrsi_feed f;
    struct archive *a = archive_read_new();
    enum mrs_status s = a ? mrsi_feed_open(mem, from, &f, e) : mrs_err_memory(e, 0);
    MRS_THEN(s, pour(&f, a, h, e));
    if (a) {
        archive_read_free(a);
        mrs_free(mem, f.room);
    }
    return s;
}

enum mrs_status
mrsi_container_decode(struct mrs_mem *mem, const struct mrsi_source_from *from, const struct mrsi_spot *spot, int *fd,
                      uint64_t *bytes, struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0 && fd && bytes);
    struct mrsi_heap h;
    MRS_TRY(mrsi_heap_open(spot, &h, e));
    enum mrs_status s = from->codec == MRS_CODEC_NONE ? decode_rare(mem, from, &h, e) : decode_own(mem, from, &h, e);
    if (s != MRS_OK) {
        close(h.fd);
        return s;
    }
    *fd = h.fd;
    *bytes = h.bytes;
    return MRS_OK;
}
