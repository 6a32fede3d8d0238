/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h - one table per compression: unpacking in steps of any size, packing piece by piece.
 *
 * A step consumes f->in and fills f->out as far as possible, and advances both. A piece is packed at once into a
 * separate frame or member, which depends only on its bytes and the level. A codec knows no files. */
#ifndef MRSI_IO_CODEC_H
#define MRSI_IO_CODEC_H

#include "mongoreshape/io.h"

#define MRSI_PIECE      (1u << 20)                            /* bytes that are packed into one frame or member */
#define MRSI_CHUNK_ROOM (MRSI_PIECE + MRSI_PIECE / 8 + 4096u) /* maximum size of a packed piece */

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
    /* OK: progress or more input needed; FAIL: damaged, *why is the reason; DEAD: no memory. */
    enum mrs_status (*dec_step)(void *d, struct mrsi_flow *f, const char **why);
    bool (*dec_may_end)(const void *d); /* a file may end here */
    /* After FAIL: the memory that the data need, if it is too much; else 0. NULL: never. */
    uint64_t (*dec_window_needed)(const void *d);
    /* Whether the frame or member at p states its packed and unpacked lengths; false: it does not, or is incomplete.
     * The lengths may be wrong. */
    bool (*unit)(const uint8_t *p, size_t n, size_t *in, size_t *out);
    void (*dec_passed)(void *d); /* one of them was unpacked elsewhere */
    void (*dec_close)(void *d);

    size_t (*pack_bytes)(int level); /* memory of a packer */
    void *(*pack_open)(struct mrs_mem *mem, int level);
    /* Packs f->in completely, at most MRSI_PIECE bytes; f->out has MRSI_CHUNK_ROOM. OK, FAIL, DEAD; END: stopped by
     * `stop`. */
    enum mrs_status (*pack)(void *c, struct mrsi_flow *f, const struct mrs_stop *stop, const char **why);
    void (*pack_close)(void *c);
};

extern const struct mrsi_codec mrsi_codec_gzip, mrsi_codec_zstd;
#define MRSI_ZSTD_HEAD 18 /* bytes that contain the window of a zstd frame */
uint64_t mrsi_zstd_window(const uint8_t *head, size_t n); /* of a frame with this header; 0: not larger than usual */
extern const struct mrsi_codec mrsi_codec_twice; /* only unpacks: gzip in gzip */
/* Only packs: parts of one stream of raw deflate; the caller must end the stream. */
extern const struct mrsi_codec mrsi_codec_deflate;
const struct mrsi_codec *mrsi_codec_of(enum mrs_codec codec); /* NULL: plain */
/* By the first n bytes: the magic number of gzip with deflate (RFC 1952), of a frame or a skippable frame of zstd (RFC
 * 8878). */
enum mrs_codec mrsi_codec_by_magic(const uint8_t *head, size_t n);

/* Raw deflate, by ISA-L or zlib, which is chosen at build time. */
struct mrsi_inflate;
struct mrsi_deflate;
struct mrsi_inflate *mrsi_inflate_open(struct mrs_mem *mem);
void mrsi_inflate_reset(struct mrsi_inflate *z);
/* END: the stream has ended; surplus bytes read are in z's tail. */
enum mrs_status mrsi_inflate_step(struct mrsi_inflate *z, struct mrsi_flow *f, const char **why);
size_t mrsi_inflate_tail(const struct mrsi_inflate *z, uint8_t tail[8]);
void mrsi_inflate_close(struct mrsi_inflate *z);
size_t mrsi_deflate_bytes(int level);
struct mrsi_deflate *mrsi_deflate_open(struct mrs_mem *mem, int level); /* 1..9 as of gzip */
/* Packs f->in completely as one stream, or as a part of one that ends at a byte and is not the last; false: f->out is
 * too small. */
bool mrsi_deflate_piece(struct mrsi_deflate *z, struct mrsi_flow *f, bool last);
void mrsi_deflate_close(struct mrsi_deflate *z);
uint32_t mrsi_crc32(uint32_t crc, const void *p, size_t n);
#endif
