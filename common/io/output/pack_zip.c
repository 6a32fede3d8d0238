/* SPDX-License-Identifier: Apache-2.0 */
/* pack_zip.c - packs a folder of files as a zip, as Zip64 if a size exceeds four gigabytes.
 *
 * Sizes and the checksum of a member come before its bytes, for readers that do not seek: if they are known only
 * afterwards, the header is written twice. The only metadata of a file is its name: the date is the first date of the
 * zip format. The codec pool deflates members, piece by piece, as parts of one stream. */
#include "io/codec/codec.h"
#include "pack_container.h"
#include <errno.h>
#include <unistd.h>

#define LARGE 0xffff0000ull /* larger sizes and offsets have eight bytes */
#define DATE 0x0021u        /* 1 January 1980 */
#define UTF8 0x0800u
#define STORED 0u
#define DEFLATED 8u

struct pack_zip_entry {
    const struct mrsi_packed_file *file;
    uint64_t off, packed;
    uint32_t crc;
    uint16_t method, flags;
};
struct pack_zip {
    const struct mrsi_container_pack *pack;
    uint64_t at; /* end of the written bytes */
    struct mrs_buf head;
    uint8_t *room;
    const struct pack_zip_entry *now; /* the member being packed, */
    uint64_t done;           /* and its bytes already packed */
};

static void
put16(struct mrs_buf *b, uint32_t v)
{
    const uint8_t p[2] = {(uint8_t)v, (uint8_t)(v >> 8)};
    mrs_buf_put(b, p, sizeof p);
}

static void
put32(struct mrs_buf *b, uint32_t v)
{
    put16(b, v & 0xffff);
    put16(b, v >> 16);
}

static void
put64(struct mrs_buf *b, uint64_t v)
{
    put32(b, (uint32_t)v);
    put32(b, (uint32_t)(v >> 32));
}

/* Four bytes, or the mark for an eight-byte value elsewhere. */
static void
put_capped(struct mrs_buf *b, uint64_t v, bool large)
{
    put32(b, large ? 0xffffffffu : (uint32_t)v);
}

static bool
is_large(const struct pack_zip_entry *x)
{
    return x->file->bytes >= LARGE - LARGE / 1024; /* deflate may make it slightly longer */
}

/* The common part of the header before the data and the one in the directory. */
static void
put_common(struct mrs_buf *b, const struct pack_zip_entry *x, bool large)
{
    put16(b, large ? 45 : 20);
    put16(b, x->flags);
    put16(b, x->method);
    put16(b, 0);
    put16(b, DATE);
    put32(b, x->crc);
    put_capped(b, x->packed, large);
    put_capped(b, x->file->bytes, large);
    put16(b, (uint32_t)strlen(x->file->name));
}

static void
put_local(struct mrs_buf *b, const struct pack_zip_entry *x)
{
    MRS_ASSERT(x->file->name);
    bool large = is_large(x);
    put32(b, 0x04034b50);
    put_common(b, x, large);
    put16(b, large ? 20 : 0);
    mrs_buf_put(b, x->file->name, strlen(x->file->name));
    if (large) {
        put16(b, 1);
        put16(b, 16);
        put64(b, x->file->bytes);
        put64(b, x->packed);
    }
}

static void
put_central(struct mrs_buf *b, const struct pack_zip_entry *x)
{
    bool large = is_large(x) || x->off >= LARGE;
    put32(b, 0x02014b50);
    put16(b, 3 << 8 | (large ? 45 : 20)); /* made on Unix: the permissions below are valid */
    put_common(b, x, large);
    put16(b, large ? 28 : 0);
    put16(b, 0); /* no comment, first volume, no text */
    put16(b, 0);
    put16(b, 0);
    put32(b, 0100644u << 16);
    put_capped(b, x->off, large);
    mrs_buf_put(b, x->file->name, strlen(x->file->name));
    if (large) {
        put16(b, 1);
        put16(b, 24);
        put64(b, x->file->bytes);
        put64(b, x->packed);
        put64(b, x->off);
    }
}

/* The end: the offset of the directory, in eight bytes first if four are too few. */
static void
put_end(struct mrs_buf *b, uint64_t n, uint64_t dir, uint64_t dir_n)
{
    MRS_ASSERT(dir + dir_n >= dir);
    bool large = n >= 0xffff || dir >= LARGE || dir_n >= LARGE;
    if (large) {
        put32(b, 0x06064b50);
        put64(b, 44);
        put16(b, 3 << 8 | 45);
        put16(b, 45);
        put32(b, 0);
        put32(b, 0);
        put64(b, n);
        put64(b, n);
        put64(b, dir_n);
        put64(b, dir);
        put32(b, 0x07064b50);
        put32(b, 0);
        put64(b, dir + dir_n);
        put32(b, 1);
    }
    put32(b, 0x06054b50);
    put32(b, 0);
    put16(b, large ? 0xffff : (uint32_t)n);
    put16(b, large ? 0xffff : (uint32_t)n);
    put_capped(b, dir_n, large);
    put_capped(b, dir, large);
    put16(b, 0);
}

static enum mrs_status
write_head(struct pack_zip *z, uint64_t off, struct mrs_err *e)
{
    enum mrs_status s = mrs_buf_status(&z->head, e);
    return s == MRS_OK ? mrs_write_at(z->pack->fd, z->head.p, z->head.n, off, e) : s;
}

static void
add_fields(void *arg, struct mrs_build *b)
{
    const struct pack_zip *z = arg;
    mrs_build_text(b, "member", z->now->file->name, (uint32_t)strlen(z->now->file->name));
    mrs_build_i64(b, "at", (int64_t)z->done);
    mrs_build_i64(b, "sum", z->now->crc);
}

/* Passes the bytes of a file from z->done on to the encoder, and computes their sum. */
static enum mrs_status
put_bytes(struct pack_zip *z, struct pack_zip_entry *x, struct mrsi_encoder *enc, struct mrs_err *e)
{
    struct stat st;
    int fd = -1;
    size_t got = 0;
    enum mrs_status s = mrsi_open_read(x->file->path, &fd, &st, e);
    while (s == MRS_OK && z->done < x->file->bytes) {
        s = mrsi_pack_read(x->file, fd, z->done, z->room, &got, e);
        if (s == MRS_OK) {
            x->crc = mrsi_crc32(x->crc, z->room, got);
            s = mrsi_encoder_write(enc, z->room, got, e);
        }
        z->done += got;
        MRS_THEN(s, mrsi_resumable_rest(z->pack->resumed, got, e));
    }
    if (fd >= 0) {
        close(fd);
    }
    return s == MRS_OK ? mrsi_encoder_finish(enc, e) : s;
}

static enum mrs_status
put_data(struct pack_zip *z, struct pack_zip_entry *x, struct mrs_err *e)
{
    static const uint8_t last[2] = {3, 0}; /* an empty last block */
    bool deflated = x->method == DEFLATED;
    struct mrsi_encoder_to to = {z->pack->fd, z->pack->name, {MRS_CODEC_NONE, z->pack->compress.level}, MRSI_PACK_ROOM,
                                 z->pack->pool, deflated, 0};
    struct mrsi_encoder *enc = NULL;
    enum mrs_status s = mrsi_resumable_encoder(z->pack->mem, z->pack->resumed, &to, &enc, e);
    if (z->pack->resumed) {
        z->pack->resumed->from = mrs_empty_doc(); /* the next member starts from its beginning */
    }
    MRS_THEN(s, put_bytes(z, x, enc, e));
    mrsi_encoder_close(enc);
    if (s == MRS_OK && deflated) {
        s = mrsi_write_full(z->pack->fd, last, sizeof last, z->pack->name, e);
    }
    return s;
}

static void
begin_entry(const struct pack_zip *z, struct pack_zip_entry *x)
{
    uint8_t high = 0;
    for (const char *p = x->file->name; *p; p++) {
        high |= (uint8_t)*p & 0x80;
    }
    x->off = z->at;
    x->flags = high ? UTF8 : 0;
    x->method = z->pack->compress.codec == MRS_CODEC_GZIP && x->file->bytes ? DEFLATED : STORED;
}

/* The file position is z->at before, and after the member afterwards. begun: continues at z->done and x->crc. */
static enum mrs_status
put_member(struct pack_zip *z, struct pack_zip_entry *x, bool begun, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    begin_entry(z, x);
    mrs_buf_reset(&z->head);
    put_local(&z->head, x);
    uint64_t data = z->at + z->head.n;
    if (!begun) {
        z->done = 0;
        s = write_head(z, z->at, e);
        if (s == MRS_OK && lseek(z->pack->fd, (off_t)data, SEEK_SET) < 0) {
            s = mrs_err_sys(e, errno, "write %s", z->pack->name);
        }
    }
    if (z->pack->resumed) {
        z->pack->resumed->base = data;
    }
    z->now = x;
    MRS_THEN(s, put_data(z, x, e));
    off_t end = s == MRS_OK ? lseek(z->pack->fd, 0, SEEK_CUR) : 0;
    if (s != MRS_OK || end < 0) {
        return s == MRS_OK ? mrs_err_sys(e, errno, "write %s", z->pack->name) : s;
    }
    x->packed = (uint64_t)end - data;
    z->at = (uint64_t)end;
    if (x->packed >= LARGE && !is_large(x)) {
        return MRSI_FAIL(e, MRS_E_LIMIT, "%s: %s is too large for its header after compression", z->pack->name,
                         x->file->name);
    }
    mrs_buf_reset(&z->head);
    put_local(&z->head, x);
    return write_head(z, x->off, e);
}

/* Skips a member that the stopped run packed: its header has all data. */
static enum mrs_status
pass_member(struct pack_zip *z, struct pack_zip_entry *x, struct mrs_err *e)
{
    MRS_ASSERT(x->file);
    enum { LOCAL = 30, CRC = 14, PACKED = 18, EXTRA = 4 + 8 };
    uint8_t sum[4], packed[8] = {0};
    begin_entry(z, x);
    mrs_buf_reset(&z->head);
    put_local(&z->head, x);
    uint64_t at = is_large(x) ? x->off + LOCAL + strlen(x->file->name) + EXTRA : x->off + PACKED;
    enum mrs_status s = mrs_buf_status(&z->head, e);
    MRS_THEN(s, mrs_read_at(z->pack->fd, sum, sizeof sum, x->off + CRC, e));
    s = s == MRS_OK ? mrs_read_at(z->pack->fd, packed, is_large(x) ? 8 : 4, at, e) : s;
    x->crc = s == MRS_OK ? mrs_le32(sum) : 0;
    x->packed = s == MRS_OK ? mrs_le64(packed) : 0;
    uint64_t end = x->off + z->head.n + x->packed;
    if (s == MRS_OK && (end < x->off || end > mrsi_saved_number(z->pack->resumed->from, "file"))) {
        s = mrsi_resumable_damaged(z->pack->resumed, e);
    }
    z->at = end;
    return s;
}

/* All members; those before the member at which the run stopped exist. */
static enum mrs_status
put_members(struct pack_zip *z, const struct mrsi_packed_file *files, uint32_t n, struct pack_zip_entry *list,
            struct mrs_err *e)
{
    MRS_ASSERT(files || n == 0);
    bool begun = mrsi_resumable_is_resumed(z->pack->resumed);
    uint32_t first = 0;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < n; i++) {
        list[i] = (struct pack_zip_entry){.file = &files[i]};
    }
    if (begun) {
        s = mrsi_pack_begun(z->pack->resumed, files, n, &first, &z->done, e);
    }
    for (uint32_t i = 0; s == MRS_OK && i < first; i++) {
        s = pass_member(z, &list[i], e);
    }
    if (s == MRS_OK && begun) {
        list[first].crc = (uint32_t)mrsi_saved_number(z->pack->resumed->from, "sum");
    }
    for (uint32_t i = first; s == MRS_OK && i < n; i++) {
        s = put_member(z, &list[i], begun && i == first, e);
    }
    return s;
}

static enum mrs_status
put_directory(struct pack_zip *z, const struct pack_zip_entry *list, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(list || n == 0);
    uint64_t dir = z->at;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        mrs_buf_reset(&z->head);
        put_central(&z->head, &list[i]);
        s = write_head(z, z->at, e);
        z->at += z->head.n;
    }
    mrs_buf_reset(&z->head);
    put_end(&z->head, n, dir, z->at - dir);
    return s == MRS_OK ? write_head(z, z->at, e) : s;
}

enum mrs_status
mrsi_pack_zip(const struct mrsi_container_pack *p, struct mrs_err *e)
{
    MRS_ASSERT(p->fd >= 0);
    struct pack_zip z = {.pack = p, .room = mrs_alloc(p->mem, MRSI_PACK_ROOM)};
    struct mrs_arena a;
    struct mrsi_packed_file *files = NULL;
    struct pack_zip_entry *list = NULL;
    uint32_t n = 0;
    enum mrs_status s = mrs_allocated(z.room, MRSI_PACK_ROOM, e);
    mrs_arena_init(&a, p->mem);
    mrsi_resumable_writer(p->resumed, add_fields, &z);
    mrs_buf_init(&z.head, p->mem, 1 << 20);
    MRS_THEN(s, mrsi_pack_list(p, &a, &files, &n, e));
    if (s == MRS_OK) {
        list = mrs_alloc_array(p->mem, n ? n : 1, sizeof *list);
        s = mrs_allocated(list, n * sizeof *list, e);
    }
    MRS_THEN(s, put_members(&z, files, n, list, e));
    MRS_THEN(s, put_directory(&z, list, n, e));
    mrsi_resumable_writer(p->resumed, NULL, NULL);
    mrs_free(p->mem, list);
    mrs_buf_clear(&z.head);
    mrs_arena_clear(&a);
    mrs_free(p->mem, z.room);
    return s;
}
