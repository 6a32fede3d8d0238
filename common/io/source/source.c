/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - an extent of a file as plain bytes, with any compression.
 *
 * Plain files are read by offset, so several sources may share one descriptor, and moving back costs nothing.
 * Compressed ones are decoded serially through one input buffer. Compression is recognized by the first bytes, never by
 * the name; the one ambiguity is gzip's magic number, which is also the length of a document of 559,903 bytes, so that
 * case is decided by checking the document. Must not know where documents begin. */
#include "io/codec/decoder.h"
#include "source.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

struct mrsi_source {
    struct mrs_mem *mem;
    struct mrsi_source_from from;
    const struct mrsi_codec *codec; /* NULL: plain */
    struct mrsi_decoder dec;
    struct mrsi_read_ahead *ahead; /* reads from here on, if not NULL */
    uint64_t off; /* file offset of the next byte, relative to from.start */
    struct mrsi_src_cursor at; /* the position if bytes are in extents */
    bool pipe; /* read unchanged, after the head */
    const struct mrs_pause *pause; /* of the pipe */
    const uint8_t *head;
    size_t head_n;
    bool failed;
    struct mrs_err err; /* the result of the next call, if failed */
};

static enum mrs_status read_for_decoder(void *arg, void *p, size_t n, size_t *got, struct mrs_err *e);

enum mrs_status
mrsi_source_open(struct mrs_mem *mem, const struct mrsi_source_from *from, struct mrsi_source **out,
                 struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0 && out);
    struct mrsi_source *s = mrs_zalloc(mem, sizeof *s);
    if (!s) {
        if (from->own) {
            close(from->fd);
        }
        return mrs_err_memory(e, sizeof *s);
    }
    s->mem = mem;
    s->from = *from;
    s->codec = mrsi_codec_of(from->codec);
    mrs_err_clear(&s->err);
    if (s->codec) {
        s->dec = (struct mrsi_decoder){.mem = mem,
                                       .codec = s->codec,
                                       .name = s->from.name,
                                       .start = s->from.start,
                                       .read = read_for_decoder,
                                       .arg = s,
                                       .room = MRSI_IN_CHUNK};
        if (mrsi_decoder_open(&s->dec, e) != MRS_OK) {
            mrsi_source_close(s);
            return MRS_DEAD;
        }
    }
    if (!from->place) {
        posix_fadvise(from->fd, (off_t)from->start, 0, POSIX_FADV_SEQUENTIAL);
    }
    *out = s;
    return MRS_OK;
}

void
mrsi_source_close(struct mrsi_source *s)
{
    if (!s) {
        return;
    }
    mrsi_read_ahead_close(s->ahead);
    mrsi_decoder_close(&s->dec);
    if (s->from.own) {
        close(s->from.fd);
    }
    mrs_free(s->mem, s);
}

/* Reads bytes from the current position of the source, or from its beginning. */
static enum mrs_status
read_raw(const struct mrsi_source_from *from, struct mrsi_src_cursor *at, uint64_t off, const struct mrsi_read_buf *to,
         size_t *got, struct mrs_err *e)
{
    return from->place ? mrsi_src_extents_read(from->place, at, to, got, e)
                       : mrsi_pread_full(from->fd, to->p, to->n, from->start + off, from->name, got, e);
}

void
mrsi_source_pipe(struct mrsi_source *s, const uint8_t *head, size_t n, const struct mrs_pause *pause)
{
    MRS_ASSERT(head || n == 0);
    s->pipe = true;
    s->pause = pause;
    s->head = head;
    s->head_n = n;
}

static enum mrs_status
read_pipe(struct mrsi_source *s, uint8_t *p, size_t n, size_t *got, struct mrs_err *e)
{
    MRS_ASSERT(s->pipe);
    size_t k = n < s->head_n ? n : s->head_n, more = 0;
    if (k) {
        memcpy(p, s->head, k);
        s->head += k;
        s->head_n -= k;
    }
    struct mrsi_pipe_in pipe = {s->from.fd, s->from.name, s->pause};
    enum mrs_status st = k < n ? mrsi_read_pipe(&pipe, p + k, n - k, &more, e) : MRS_OK;
    *got = k + more;
    s->off += *got;
    return st;
}

static enum mrs_status
read_file(struct mrsi_source *s, void *p, size_t n, size_t *got, struct mrs_err *e)
{
    if (s->pipe) {
        return read_pipe(s, p, n, got, e);
    }
    uint64_t left = s->from.bytes - s->off;
    size_t len = n < left ? n : (size_t)left;
    struct mrsi_read_buf to = {p, len, s->from.name};
    enum mrs_status st = read_raw(&s->from, &s->at, s->off, &to, got, e);
    s->off += *got;
    if (st == MRS_OK && *got < len && s->from.bytes != UINT64_MAX) {
        st = MRSI_FAIL(e, MRS_E_IO, "read %s: it ends after %llu bytes, %llu were expected",
                       s->from.name, (unsigned long long)s->off, (unsigned long long)s->from.bytes);
    }
    return st;
}

static enum mrs_status
read_for_decoder(void *arg, void *p, size_t n, size_t *got, struct mrs_err *e)
{
    return read_file(arg, p, n, got, e);
}

void
mrsi_source_ahead(struct mrsi_source *s, struct mrsi_codec_pool *pool)
{
    if (s->codec && !s->ahead && pool) {
        s->ahead = mrsi_read_ahead_open(&s->dec, pool);
    }
    if (s->ahead) {
        mrsi_decoder_close(&s->dec);
    }
}

enum mrs_status
mrsi_source_read(struct mrsi_source *s, void *p, size_t n, size_t *got, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    struct mrsi_flow f = {NULL, 0, p, n};
    bool ended = n == 0;
    *got = 0;
    if (!s->failed && !s->codec) {
        enum mrs_status st = read_file(s, p, n, got, &s->err);
        s->failed = st != MRS_OK;
    } else if (!s->failed && s->ahead) {
        s->failed = n && mrsi_read_ahead_read(s->ahead, p, n, got, &s->err) < MRS_OK;
    } else if (!s->failed) {
        while (f.out_n && !ended && !s->failed) {
            s->failed = mrsi_decoder_step(&s->dec, &f, &ended, &s->err) != MRS_OK;
        }
        *got = n - f.out_n;
    }
    if (*got || (n == 0 && !s->failed)) {
        return MRS_OK;
    }
    if (!s->failed) {
        return MRS_END;
    }
    enum mrs_status st = s->err.code == MRS_E_MEMORY ? MRS_DEAD : MRS_FAIL;
    if (e && e->code == MRS_E_NONE) {
        *e = s->err;
    }
    return st;
}

enum mrs_status
mrsi_source_skip(struct mrsi_source *s, uint64_t n, struct mrs_err *e)
{
    enum { ROOM = 64 << 10 };
    uint8_t room[ROOM];
    struct stat st;
    if (!s->codec && !s->from.place && !s->pipe && fstat(s->from.fd, &st) == 0 && S_ISREG(st.st_mode) &&
        n <= s->from.bytes && (uint64_t)st.st_size >= s->from.start && n <= (uint64_t)st.st_size - s->from.start) {
        s->off += n;
        return MRS_OK;
    }
    enum mrs_status r = MRS_OK;
    if (!s->codec && s->from.place) {
        s->off += n;
        r = mrsi_src_extents_skip(s->from.place, &s->at, n) ? MRS_OK : MRS_END;
        n = 0;
    }
    while (n && r == MRS_OK) {
        size_t got;
        r = mrsi_source_read(s, room, n < ROOM ? (size_t)n : ROOM, &got, e);
        n -= got;
    }
    return r == MRS_END ? MRSI_FAIL(e, MRS_E_IO, "read %s: it has become shorter", s->from.name) : r;
}

bool
mrsi_source_back(struct mrsi_source *s, size_t n)
{
    MRS_ASSERT(s->codec || n <= s->off);
    if (s->codec) {
        return false;
    }
    s->off -= n;
    if (s->from.place) {
        mrsi_src_extents_back(s->from.place, &s->at, n);
    }
    return true;
}

/* A mapping begins at a page, at or before the first byte. */
void
mrsi_source_map(const struct mrsi_source *s, const uint8_t **p, size_t *n)
{
    MRS_ASSERT(p && n);
    struct stat st;
    const struct mrsi_src_extents *place = s->from.place;
    if (s->codec || (place && place->n_extents != 1) || fstat(s->from.fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        return;
    }
    uint64_t start = place ? place->extent[0].off : s->from.start, size = (uint64_t)st.st_size;
    uint64_t left = size > start ? size - start : 0, before = start % (uint64_t)sysconf(_SC_PAGESIZE);
    size_t len = (size_t)(left < s->from.bytes ? left : s->from.bytes);
    if (!len || (place && len < place->bytes)) {
        return;
    }
    uint8_t *at = mmap(NULL, len + before, PROT_READ, MAP_SHARED, s->from.fd, (off_t)(start - before));
    if (at != MAP_FAILED) {
        *p = at + before;
        *n = len;
    }
}

bool
mrs_map_fetch(const uint8_t *p, size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)p & ~(page - 1);
    return madvise((void *)from, (uintptr_t)p + n - from, MADV_POPULATE_READ) == 0;
}

void
mrs_map_free(const uint8_t *p, size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)p & ~(page - 1);
    if (p) {
        munmap((void *)from, (uintptr_t)p + n - from);
    }
}

uint64_t
mrsi_source_taken(const struct mrsi_source *s)
{
    return s->ahead ? mrsi_read_ahead_taken(s->ahead) : s->codec ? mrsi_decoder_taken(&s->dec) : s->off;
}

/* Whether it is plain after all: a valid document of just that length cannot be gzip. */
static enum mrs_status
check_document(struct mrs_mem *mem, const struct mrsi_source_from *from, const uint8_t head[5],
               enum mrs_codec *codec, struct mrs_err *e)
{
    uint32_t n = mrs_le32(head);
    size_t got;
    if (n > MRS_DOC_READ_MAX || head[4] == 0) {
        return MRS_OK;
    }
    uint8_t *p = mrs_alloc(mem, n);
    MRS_TRY(mrs_allocated(p, n, e));
    struct mrsi_read_buf to = {p, n, from->name};
    struct mrsi_src_cursor at = {0, 0};
    enum mrs_status s = read_raw(from, &at, 0, &to, &got, e);
    if (s == MRS_OK && got == n && mrs_doc_check(p, n, MRS_DEPTH_READ, NULL) == MRS_OK) {
        *codec = MRS_CODEC_NONE;
    }
    mrs_free(mem, p);
    return s;
}

uint64_t
mrsi_source_window(const struct mrsi_source_from *from)
{
    uint8_t head[MRSI_ZSTD_HEAD];
    struct mrsi_read_buf to = {head, sizeof head, from->name};
    struct mrsi_src_cursor at = {0, 0};
    size_t got = 0;
    return read_raw(from, &at, 0, &to, &got, NULL) == MRS_OK ? mrsi_zstd_window(head, got) : 0;
}

/* The last non-empty frame or member has at most 11 of them at its end. */
bool
mrsi_source_padded(const struct mrsi_source_from *from)
{
    static const uint8_t zeros[12];
    uint8_t end[sizeof zeros];
    struct mrsi_read_buf to = {end, sizeof end, from->name};
    struct mrsi_src_cursor at = {0, 0};
    struct stat st;
    size_t got = 0;
    uint64_t n = from->bytes;
    if (n == UINT64_MAX) {
        n = fstat(from->fd, &st) == 0 && (uint64_t)st.st_size > from->start ? (uint64_t)st.st_size - from->start : 0;
    }
    if (!from->codec || n < sizeof zeros || (from->place && !mrsi_src_extents_skip(from->place, &at,
                                                                                   n - sizeof zeros))) {
        return false;
    }
    return read_raw(from, &at, n - sizeof zeros, &to, &got, NULL) == MRS_OK && got == sizeof zeros &&
           memcmp(end, zeros, sizeof zeros) == 0;
}

/* Whether the gzip contains gzip again, and no document of that length. */
static enum mrs_status
check_twice(struct mrs_mem *mem, const struct mrsi_source_from *from, enum mrs_codec *codec, struct mrs_err *e)
{
    uint8_t head[5];
    size_t got = 0;
    struct mrsi_source *src = NULL;
    struct mrsi_source_from inner = *from;
    inner.own = false;
    inner.codec = MRS_CODEC_GZIP;
    enum mrs_status s = mrsi_source_open(mem, &inner, &src, e);
    bool gzip = s == MRS_OK && mrsi_source_read(src, head, sizeof head, &got, NULL) == MRS_OK &&
                got == sizeof head && mrsi_codec_by_magic(head, got) == MRS_CODEC_GZIP;
    uint32_t n = gzip ? mrs_le32(head) : 0;
    bool document = gzip && n <= MRS_DOC_READ_MAX && head[4];
    uint8_t *p = document ? mrs_alloc(mem, n) : NULL;
    if (p) {
        memcpy(p, head, sizeof head);
        document = mrsi_source_read(src, p + sizeof head, n - sizeof head, &got, NULL) == MRS_OK &&
                   got == n - sizeof head && mrs_doc_check(p, n, MRS_DEPTH_READ, NULL) == MRS_OK;
    } else if (document) {
        s = mrs_err_memory(e, n);
    }
    *codec = gzip && !document ? MRS_CODEC_TWICE : MRS_CODEC_GZIP;
    mrs_free(mem, p);
    mrsi_source_close(src);
    return s;
}

enum mrs_status
mrsi_sniff(struct mrs_mem *mem, const struct mrsi_source_from *from, enum mrs_codec *codec,
           struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0 && codec);
    uint8_t head[5] = {0};
    size_t got;
    struct mrsi_read_buf to = {head, sizeof head, from->name};
    struct mrsi_src_cursor at = {0, 0};
    enum mrs_status s = read_raw(from, &at, 0, &to, &got, e);
    if (s != MRS_OK) {
        return s;
    }
    *codec = mrsi_codec_by_magic(head, got);
    if (*codec == MRS_CODEC_GZIP && got == sizeof head) {
        s = check_document(mem, from, head, codec, e);
    }
    if (s == MRS_OK && *codec == MRS_CODEC_GZIP) {
        s = check_twice(mem, from, codec, e);
    }
    const char *dot = strrchr(from->name, '.');
    if (got == 0 && dot && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0)) {
        s = MRSI_FAIL(e, MRS_E_FORMAT,
                      "%s: no bytes at all, and even an empty collection has some when it "
                      "is compressed (truncated?)",
                      from->name);
    }
    return s;
}

enum mrs_status
mrsi_read_decoded(struct mrs_mem *mem, const char *path, const struct mrsi_src_extents *place, struct mrs_buf *out,
                  struct mrs_err *e)
{
    MRS_ASSERT(path && mrs_buf_is_sound(out));
    enum { ROOM = 64 << 10 };
    struct mrsi_source_from from = {-1, !place, 0, UINT64_MAX, MRS_CODEC_NONE, path, place};
    struct mrsi_source *src = NULL;
    MRS_TRY(place ? MRS_OK : mrsi_open_regular(path, &from.fd, NULL, e));
    if (place) {
        from.fd = place->fd;
        from.bytes = place->bytes;
    }
    enum mrs_status s = mrsi_sniff(mem, &from, &from.codec, e);
    if (s != MRS_OK) {
        if (from.own) {
            close(from.fd);
        }
        return s;
    }
    s = mrsi_source_open(mem, &from, &src, e);
    while (s == MRS_OK) {
        size_t got = 0, was = out->n;
        uint8_t *at = mrs_buf_take(out, ROOM);
        if (at) {
            s = mrsi_source_read(src, at, ROOM, &got, e);
            out->n = was + got;
        } else {
            s = out->bad == 2 ? MRSI_FAIL(e, MRS_E_LIMIT, "%s: larger than %zu bytes", path,
                                          out->ceiling - ROOM)
                              : mrs_buf_status(out, e);
        }
    }
    mrsi_source_close(src);
    return s == MRS_END ? MRS_OK : s;
}
