/* codec_zstd.c - Zstandard (RFC 8878) streams by libzstd.
 *
 * Any number of frames and skippable frames make one stream. Frames we write carry a checksum, so
 * that a flipped bit is an error and not a wrong document. Window and tables are cut to size: a
 * sink must fit a few megabytes, because several may be open within a tight memory budget. All
 * memory comes from ours, through the custom allocator that libzstd offers. */
#include "codec.h"
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#define HIGH_LEVEL 10 /* from here on a larger window: 8 MiB instead of 3 for the whole encoder */
#define LOW_WINDOW 19
#define HIGH_WINDOW 20

struct dec {
    struct mrs_mem *mem;
    ZSTD_DCtx *z;
    bool inside; /* a frame has begun and not ended */
    bool any;
};
struct enc {
    struct mrs_mem *mem;
    ZSTD_CCtx *z;
};

static void *
z_take(void *mem, size_t n)
{
    return mrs_alloc(mem, n);
}

static void
z_give(void *mem, void *p)
{
    mrs_free(mem, p);
}

static void *
dec_open(struct mrs_mem *mem)
{
    ZSTD_customMem by = {z_take, z_give, mem};
    struct dec *d = mrs_zalloc(mem, sizeof *d);
    if (!d) {
        return NULL;
    }
    d->mem = mem;
    d->z = ZSTD_createDCtx_advanced(by);
    if (!d->z) {
        mrs_free(mem, d);
        return NULL;
    }
    return d;
}

static void
dec_close(void *p)
{
    struct dec *d = p;
    if (d) {
        ZSTD_freeDCtx(d->z);
        mrs_free(d->mem, d);
    }
}

static enum mrs_status
dec_step(void *p, struct mrsi_flow *f, const char **why)
{
    struct dec *d = p;
    ZSTD_inBuffer in = {f->in, f->in_n, 0};
    ZSTD_outBuffer out = {f->out, f->out_n, 0};
    size_t r = 0;
    do {
        size_t in_was = in.pos, out_was = out.pos;
        r = ZSTD_decompressStream(d->z, &out, &in);
        if (ZSTD_isError(r) || (in.pos == in_was && out.pos == out_was)) {
            break;
        }
        d->inside = r != 0;
        d->any = true;
    } while (in.pos < in.size && out.pos < out.size);
    f->in += in.pos;
    f->in_n -= in.pos;
    f->out += out.pos;
    f->out_n -= out.pos;
    if (!ZSTD_isError(r)) {
        return MRS_OK;
    }
    ZSTD_ErrorCode code = ZSTD_getErrorCode(r);
    *why = code == ZSTD_error_prefix_unknown && d->any && !d->inside
               ? "other bytes behind the last frame"
               : ZSTD_getErrorName(r);
    return code == ZSTD_error_memory_allocation ? MRS_DEAD : MRS_FAIL;
}

static bool
dec_may_end(const void *p)
{
    const struct dec *d = p;
    return d->any && !d->inside;
}

static size_t
at_most(ZSTD_CCtx *z, ZSTD_cParameter what, unsigned is, int most)
{
    return (int)is > most ? ZSTD_CCtx_setParameter(z, what, most) : 0;
}

/* Larger tables than the window has positions cost memory and find nothing. */
static size_t
set_up(ZSTD_CCtx *z, int level)
{
    int window = level < HIGH_LEVEL ? LOW_WINDOW : HIGH_WINDOW;
    ZSTD_compressionParameters p = ZSTD_getCParams(level, 0, 0);
    size_t r = ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level);
    r = ZSTD_isError(r) ? r : ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    r = ZSTD_isError(r) ? r : at_most(z, ZSTD_c_windowLog, p.windowLog, window);
    r = ZSTD_isError(r) ? r : at_most(z, ZSTD_c_hashLog, p.hashLog, window - 1);
    return ZSTD_isError(r) ? r : at_most(z, ZSTD_c_chainLog, p.chainLog, window);
}

static void *
enc_open(struct mrs_mem *mem, int level)
{
    ZSTD_customMem by = {z_take, z_give, mem};
    struct enc *c = mrs_zalloc(mem, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->mem = mem;
    c->z = ZSTD_createCCtx_advanced(by);
    if (!c->z) {
        mrs_free(mem, c);
        return NULL;
    }
    size_t r = set_up(c->z, level);
    if (ZSTD_isError(r)) {
        ZSTD_freeCCtx(c->z);
        mrs_free(mem, c);
        return NULL;
    }
    return c;
}

static void
enc_close(void *p)
{
    struct enc *c = p;
    if (c) {
        ZSTD_freeCCtx(c->z);
        mrs_free(c->mem, c);
    }
}

static enum mrs_status
enc_step(void *p, struct mrsi_flow *f, bool finish, const char **why)
{
    struct enc *c = p;
    ZSTD_inBuffer in = {f->in, f->in_n, 0};
    ZSTD_outBuffer out = {f->out, f->out_n, 0};
    size_t r = ZSTD_compressStream2(c->z, &out, &in, finish ? ZSTD_e_end : ZSTD_e_continue);
    f->in += in.pos;
    f->in_n -= in.pos;
    f->out += out.pos;
    f->out_n -= out.pos;
    if (ZSTD_isError(r)) {
        *why = ZSTD_getErrorName(r);
        return ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation ? MRS_DEAD : MRS_FAIL;
    }
    return finish && r == 0 ? MRS_END : MRS_OK;
}

const struct mrsi_codec mrsi_codec_zstd = {
    "zstd",   ".zst",      1,         22,       3,        dec_open,
    dec_step, dec_may_end, dec_close, enc_open, enc_step, enc_close,
};
