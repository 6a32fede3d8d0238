/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h - one table per compression: unpacking in steps of any size, packing piece by piece.
 *
 * A step takes what it can from f->in and fills what it can of f->out, moving both. A piece is packed in one go into a
 * frame or member of its own, which depends on its bytes and the level alone. A codec knows no files. */
#ifndef MRSI_IO_CODEC_H
#define MRSI_IO_CODEC_H

#include "mongoreshape/io.h"

#define MRSI_PIECE      (1u << 20)                            /* bytes that are packed into one frame or member */
#define MRSI_CHUNK_ROOM (MRSI_PIECE + MRSI_PIECE / 8 + 4096u) /* what they may become at the worst */

struct mrsi_flow {
    const uint8_t *in;
    size_t in_n;
    uint8_t *out;
    size_t out_n;
};

struct mrsi_codec {
    const char *name, *suffix;
    int level_min, level_max, level_default;

    void *(*dec_open)(struct mrs_mem *mem); /* NULL without memory */
    /* OK: went on or wants more; FAIL: damaged, *why says how; DEAD: no memory. */
    enum mrs_status (*dec_step)(void *d, struct mrsi_flow *f, const char **why);
    bool (*dec_may_end)(const void *d); /* a file may end here */
    /* After FAIL: the memory that it would take, where that is too much; else 0. NULL: never. */
    uint64_t (*dec_wants)(const void *d);
    /* A frame or member that begins at p and says how long it is and how much comes out of it; false: none is known to,
     * or it is not all there. What it says may be wrong. */
    bool (*unit)(const uint8_t *p, size_t n, size_t *in, size_t *out);
    void (*dec_passed)(void *d); /* one of them was unpacked elsewhere */
    void (*dec_close)(void *d);

    size_t (*pack_bytes)(int level); /* of memory for a packer */
    void *(*pack_open)(struct mrs_mem *mem, int level);
    /* All of f->in, at most MRSI_PIECE bytes; f->out has MRSI_CHUNK_ROOM. OK, FAIL, DEAD; END: `stop` said so. */
    enum mrs_status (*pack)(void *c, struct mrsi_flow *f, const struct mrs_stop *stop, const char **why);
    void (*pack_close)(void *c);
};

extern const struct mrsi_codec mrsi_codec_gzip, mrsi_codec_zstd;
#define MRSI_ZSTD_HEAD 18 /* bytes that say what a frame of zstd wants */
uint64_t mrsi_zstd_window(const uint8_t *head, size_t n); /* of a frame that begins so; 0: no more than usual */
extern const struct mrsi_codec mrsi_codec_twice; /* unpacks only: gzip in gzip */
/* Packs only: parts of one stream of raw deflate; the caller must end the stream. */
extern const struct mrsi_codec mrsi_codec_deflate;
const struct mrsi_codec *mrsi_codec_of(enum mrs_codec codec); /* NULL: plain */
/* By the first n bytes: the magic number of gzip with deflate (RFC 1952), of a frame or a skippable frame of zstd (RFC
 * 8878). */
enum mrs_codec mrsi_codec_by_magic(const uint8_t *head, size_t n);

/* Raw deflate, by ISA-L or by zlib: the part of gzip that is chosen at build time. */
struct mrsi_inflate;
struct mrsi_deflate;
struct mrsi_inflate *mrsi_inflate_open(struct mrs_mem *mem);
void mrsi_inflate_reset(struct mrsi_inflate *z);
/* END: the stream is over; bytes taken too many are in z's tail. */
enum mrs_status mrsi_inflate_step(struct mrsi_inflate *z, struct mrsi_flow *f, const char **why);
size_t mrsi_inflate_tail(const struct mrsi_inflate *z, uint8_t tail[8]);
void mrsi_inflate_close(struct mrsi_inflate *z);
size_t mrsi_deflate_bytes(int level);
struct mrsi_deflate *mrsi_deflate_open(struct mrs_mem *mem, int level); /* 1..9 as gzip's */
/* All of f->in as one stream, or as a part of one that ends with a byte and is not the last; false where f->out is too
 * small for it. */
bool mrsi_deflate_piece(struct mrsi_deflate *z, struct mrsi_flow *f, bool last);
void mrsi_deflate_close(struct mrsi_deflate *z);
uint32_t mrsi_crc32(uint32_t crc, const void *p, size_t n);
#endif
