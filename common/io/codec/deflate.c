/* SPDX-License-Identifier: Apache-2.0 */
/* deflate.c - raw deflate, in and out, by ISA-L or by zlib.
 *
 * Unpacks in steps, packs at once. ISA-L is about 27 times faster than zlib's level 6 and is preferred; zlib is for
 * machines without it, chosen here at build time and nowhere else. codec_gzip.c handles headers, trailers and several
 * members. One property of ISA-L is hidden here: it reads up to eight bytes ahead and keeps them in a register when a
 * stream ends, so those are returned as a "tail". */
#include "codec.h"
#include <limits.h>

#if !defined(MRSI_WITH_ZLIB) && defined(__has_include)
#if __has_include(<isa-l/igzip_lib.h>)
#define MRSI_WITH_ISAL 1
#endif
#endif

static uint32_t
clamp(size_t n)
{
    return n < UINT32_MAX / 2 ? (uint32_t)n : UINT32_MAX / 2;
}

#ifdef MRSI_WITH_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

struct mrsi_inflate {
    struct inflate_state z;
    struct mrs_mem *mem;
};
struct mrsi_deflate {
    struct isal_zstream z;
    struct mrs_mem *mem;
    uint32_t level, level_size;
    uint8_t *level_buf;
};

uint32_t
mrsi_crc32(uint32_t crc, const void *p, size_t n)
{
    return crc32_gzip_refl(crc, p, n);
}

struct mrsi_inflate *
mrsi_inflate_open(struct mrs_mem *mem)
{
    struct mrsi_inflate *z = mrs_zalloc(mem, sizeof *z);
    if (z) {
        z->mem = mem;
        isal_inflate_init(&z->z);
    }
    return z;
}

void
mrsi_inflate_reset(struct mrsi_inflate *z)
{
    isal_inflate_reset(&z->z);
    z->z.crc_flag = ISAL_DEFLATE;
}

enum mrs_status
mrsi_inflate_step(struct mrsi_inflate *z, struct mrsi_flow *f, const char **why)
{
    uint32_t in = clamp(f->in_n), out = clamp(f->out_n);
    z->z.next_in = (uint8_t *)(uintptr_t)f->in;
    z->z.avail_in = in;
    z->z.next_out = f->out;
    z->z.avail_out = out;
    int r = isal_inflate(&z->z);
    in -= z->z.avail_in;
    out -= z->z.avail_out;
    f->in += in;
    f->in_n -= in;
    f->out += out;
    f->out_n -= out;
    if (r < 0) {
        *why = r == ISAL_INVALID_LOOKBACK ? "it refers to bytes before its start"
               : r == ISAL_INVALID_SYMBOL ? "an invalid code"
                                          : "an invalid block";
        return MRS_FAIL;
    }
    return z->z.block_state == ISAL_BLOCK_FINISH ? MRS_END : MRS_OK;
}

size_t
mrsi_inflate_tail(const struct mrsi_inflate *z, uint8_t tail[8])
{
    size_t n = z->z.read_in_length > 0 ? (size_t)z->z.read_in_length / 8 : 0;
    uint64_t bits = z->z.read_in >> (z->z.read_in_length > 0 ? z->z.read_in_length % 8 : 0);
    for (size_t i = 0; i < n; i++) {
        tail[i] = (uint8_t)(bits >> 8 * i);
    }
    return n;
}

void
mrsi_inflate_close(struct mrsi_inflate *z)
{
    if (z) {
        mrs_free(z->mem, z);
    }
}

static const struct {
    uint32_t level, size;
} levels[] = {{1, ISAL_DEF_LVL1_DEFAULT}, {2, ISAL_DEF_LVL2_DEFAULT}, {3, ISAL_DEF_LVL3_DEFAULT}};

/* The level of ISA-L for a level of gzip. */
static size_t
own_level(int level)
{
    return level <= 3 ? 0 : level <= 6 ? 1 : 2;
}

size_t
mrsi_deflate_bytes(int level)
{
    return sizeof(struct mrsi_deflate) + levels[own_level(level)].size;
}

struct mrsi_deflate *
mrsi_deflate_open(struct mrs_mem *mem, int level)
{
    size_t i = own_level(level);
    struct mrsi_deflate *z = mrs_zalloc(mem, sizeof *z);
    uint8_t *room = z ? mrs_alloc(mem, levels[i].size) : NULL;
    if (!room) {
        mrs_free(mem, z);
        return NULL;
    }
    z->mem = mem;
    z->level = levels[i].level;
    z->level_size = levels[i].size;
    z->level_buf = room;
    return z;
}

/* While a stream has no history, ISA-L (2.30 to 2.32: .write_first_byte in igzip_icf_body_h1_gr_bt.asm) hashes bits of
 * the stream's address in place of its input, so that the same bytes are packed differently in about one of 200 runs:
 * correct, but not reproducible. Up to SHORT bytes use a routine without this fault; of longer input, the first bytes
 * pass through it in a separate call, which costs nine bytes. */
enum { FIRST = 4, SHORT = 16 };

static bool
deflate_call(struct isal_zstream *z, uint32_t n, uint16_t flush, bool end)
{
    z->avail_in = n;
    z->flush = flush;
    z->end_of_stream = end;
    return isal_deflate(z) == COMP_OK && z->avail_in == 0;
}

bool
mrsi_deflate_piece(struct mrsi_deflate *z, struct mrsi_flow *f, bool last)
{
    uint32_t in = clamp(f->in_n), out = clamp(f->out_n), first = in > SHORT ? FIRST : 0;
    isal_deflate_init(&z->z);
    z->z.level = z->level;
    z->z.level_buf = z->level_buf;
    z->z.level_buf_size = z->level_size;
    z->z.gzip_flag = IGZIP_DEFLATE;
    z->z.next_in = (uint8_t *)(uintptr_t)f->in;
    z->z.next_out = f->out;
    z->z.avail_out = out;
    bool whole = in == f->in_n && (!first || deflate_call(&z->z, first, SYNC_FLUSH, false));
    whole = whole && deflate_call(&z->z, in - first, last ? NO_FLUSH : FULL_FLUSH, last);
    whole = whole && (last ? z->z.internal_state.state == ZSTATE_END : z->z.avail_out > 0);
    in = (uint32_t)(z->z.next_in - f->in);
    f->in += in;
    f->in_n -= in;
    f->out += out - z->z.avail_out;
    f->out_n -= out - z->z.avail_out;
    return whole;
}

void
mrsi_deflate_close(struct mrsi_deflate *z)
{
    if (z) {
        mrs_free(z->mem, z->level_buf);
        mrs_free(z->mem, z);
    }
}

#else
#include <zlib.h>

struct mrsi_inflate {
    z_stream z;
    struct mrs_mem *mem;
};
struct mrsi_deflate {
    z_stream z;
    struct mrs_mem *mem;
};

static voidpf
z_alloc(voidpf mem, uInt n, uInt size)
{
    return mrs_alloc_array(mem, n, size);
}

static void
z_free(voidpf mem, voidpf p)
{
    mrs_free(mem, p);
}

static void
z_ready(z_stream *z, struct mrs_mem *mem)
{
    z->zalloc = z_alloc;
    z->zfree = z_free;
    z->opaque = mem;
}

/* Runs one call of the library over a flow. */
static int
z_step(z_stream *z, struct mrsi_flow *f, int (*run)(z_stream *, int), int flush)
{
    uint32_t in = clamp(f->in_n), out = clamp(f->out_n);
    z->next_in = (Bytef *)(uintptr_t)f->in;
    z->avail_in = in;
    z->next_out = f->out;
    z->avail_out = out;
    int r = run(z, in == f->in_n ? flush : Z_NO_FLUSH);
    in -= z->avail_in;
    out -= z->avail_out;
    f->in += in;
    f->in_n -= in;
    f->out += out;
    f->out_n -= out;
    return r;
}

uint32_t
mrsi_crc32(uint32_t crc, const void *p, size_t n)
{
    return (uint32_t)crc32_z(crc, p, n);
}

struct mrsi_inflate *
mrsi_inflate_open(struct mrs_mem *mem)
{
    struct mrsi_inflate *z = mrs_zalloc(mem, sizeof *z);
    if (z) {
        z->mem = mem;
        z_ready(&z->z, mem);
        if (inflateInit2(&z->z, -15) != Z_OK) {
            mrs_free(mem, z);
            return NULL;
        }
    }
    return z;
}

void
mrsi_inflate_reset(struct mrsi_inflate *z)
{
    inflateReset(&z->z);
}

enum mrs_status
mrsi_inflate_step(struct mrsi_inflate *z, struct mrsi_flow *f, const char **why)
{
    int r = z_step(&z->z, f, inflate, Z_NO_FLUSH);
    if (r == Z_STREAM_END) {
        return MRS_END;
    }
    if (r == Z_OK || r == Z_BUF_ERROR) {
        return MRS_OK;
    }
    *why = r == Z_MEM_ERROR ? "no memory" : "an invalid block";
    return r == Z_MEM_ERROR ? MRS_DEAD : MRS_FAIL;
}

size_t
mrsi_inflate_tail(const struct mrsi_inflate *z, uint8_t tail[8])
{
    (void)z;
    (void)tail;
    return 0; /* zlib reads no surplus byte */
}

void
mrsi_inflate_close(struct mrsi_inflate *z)
{
    if (z) {
        inflateEnd(&z->z);
        mrs_free(z->mem, z);
    }
}

size_t
mrsi_deflate_bytes(int level)
{
    (void)level;
    return 280 << 10; /* from zlib.h for windows of 32 KiB, with the surrounding state */
}

struct mrsi_deflate *
mrsi_deflate_open(struct mrs_mem *mem, int level)
{
    struct mrsi_deflate *z = mrs_zalloc(mem, sizeof *z);
    if (z) {
        z->mem = mem;
        z_ready(&z->z, mem);
        if (deflateInit2(&z->z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
            mrs_free(mem, z);
            return NULL;
        }
    }
    return z;
}

bool
mrsi_deflate_piece(struct mrsi_deflate *z, struct mrsi_flow *f, bool last)
{
    if (deflateReset(&z->z) != Z_OK) {
        return false;
    }
    int r = z_step(&z->z, f, deflate, last ? Z_FINISH : Z_FULL_FLUSH);
    return last ? r == Z_STREAM_END : r == Z_OK && f->in_n == 0 && f->out_n > 0;
}

void
mrsi_deflate_close(struct mrsi_deflate *z)
{
    if (z) {
        deflateEnd(&z->z);
        mrs_free(z->mem, z);
    }
}
#endif
