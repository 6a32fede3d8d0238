/* codec.h - one table per compression: bytes in, bytes out, in steps of any size.
 *
 * A step takes what it can from f->in and fills what it can of f->out, moving both. A codec knows
 * no files. */
#ifndef MRSI_IO_CODEC_H
#define MRSI_IO_CODEC_H

#include "mongoreshape/io.h"

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
    void (*dec_close)(void *d);

    void *(*enc_open)(struct mrs_mem *mem, int level);
    /* finish: no input comes behind this; END when all is out. */
    enum mrs_status (*enc_step)(void *c, struct mrsi_flow *f, bool finish, const char **why);
    void (*enc_close)(void *c);
};

extern const struct mrsi_codec mrsi_codec_gzip, mrsi_codec_zstd;
const struct mrsi_codec *mrsi_codec_of(enum mrs_codec codec); /* NULL: plain */

/* Raw deflate, by ISA-L or by zlib: the part of gzip that is chosen at build time. */
struct mrsi_inflate;
struct mrsi_deflate;
struct mrsi_inflate *mrsi_inflate_open(struct mrs_mem *mem);
void mrsi_inflate_reset(struct mrsi_inflate *z);
/* END: the stream is over; bytes taken too many stand in z's tail. */
enum mrs_status mrsi_inflate_step(struct mrsi_inflate *z, struct mrsi_flow *f, const char **why);
size_t mrsi_inflate_tail(const struct mrsi_inflate *z, uint8_t tail[8]);
void mrsi_inflate_close(struct mrsi_inflate *z);
struct mrsi_deflate *mrsi_deflate_open(struct mrs_mem *mem, int level); /* 1..9 as gzip's */
enum mrs_status
mrsi_deflate_step(struct mrsi_deflate *z, struct mrsi_flow *f, bool finish, const char **why);
void mrsi_deflate_close(struct mrsi_deflate *z);
uint32_t mrsi_crc32(uint32_t crc, const void *p, size_t n);
#endif
