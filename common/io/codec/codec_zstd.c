/* SPDX-License-Identifier: Apache-2.0 */
/* codec_zstd.c - Zstandard (RFC 8878) streams by libzstd.
 *
 * Any number of frames and skippable frames make one stream. Our frames have a checksum, so that a flipped bit is an
 * error and not a wrong document, and the size of their content. Tables are limited: a thread must fit a few megabytes,
 * because several share a tight memory budget. A context begins each frame with fresh memory: in reused memory, some
 * versions of the library let earlier frames change the bytes of later ones. All memory comes from our allocator. */
#include "codec.h"
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

/* Larger tables cost memory and find little in a piece. */
#define WINDOW_MOST 20
/* From this strategy on a piece takes up to a second. It is packed in steps, so that a waiting caller may stop it: the
 * library then needs memory for the window as well, and the result is a third of a percent larger. */
#define SLOW_FROM ZSTD_btlazy2
#define SLOW_STEP (64u << 10)
#define HASH_MOST   19
#define CHAIN_MOST  20
#define WINDOW_READ ((1u << ZSTD_WINDOWLOG_LIMIT_DEFAULT) + 1) /* bytes, the library's default for streams */
#define WINDOW_FREE (8ull << 20)  /* RFC 8878: what every reader accepts */
#define WINDOW_LAST (2ull << 30) /* the library's maximum */
#define FRAME_FIRST (ZSTD_MAGICNUMBER & 0xff)
/* Types of blocks. */
#define BLOCK_REPEATS 1 /* one byte, repeated */
#define BLOCK_PACKED  2

struct codec_zstd_dec {
    struct mrs_mem *mem;
    ZSTD_DCtx *z;
    bool inside; /* a frame has started and not ended */
    bool any;
    bool zeros;       /* after the last frame: nothing else may follow */
    uint64_t window;  /* maximum window of a frame in bytes */
    uint64_t window_needed; /* the window of a frame that needs more */
    uint8_t head[ZSTD_FRAMEHEADERSIZE_MAX]; /* the first bytes of the frame */
    size_t head_n;
    uint64_t made;    /* bytes unpacked from it */
    bool walks;       /* the offset of its first block is known */
    uint64_t skip;    /* then: bytes up to the next block header; after the last block: all */
    uint8_t block[3]; /* the first bytes of that header */
    size_t block_n;
};
struct codec_zstd_packer {
    struct mrs_mem *mem;
    ZSTD_compressionParameters how;
    size_t n; /* bytes of memory */
    uint64_t room[];
};

static void *
z_alloc(void *mem, size_t n)
{
    return mrs_alloc(mem, n);
}

static void
z_free(void *mem, void *p)
{
    mrs_free(mem, p);
}

/* Half of the budget, since the run needs memory as well. */
static uint64_t
window_most(const struct mrs_mem *mem)
{
    uint64_t resumed = mrs_mem_budget(mem) / 2;
    return !resumed ? WINDOW_READ : resumed < WINDOW_FREE ? WINDOW_FREE : resumed > WINDOW_LAST ? WINDOW_LAST : resumed;
}

static void *
dec_open(struct mrs_mem *mem)
{
    ZSTD_customMem by = {z_alloc, z_free, mem};
    struct codec_zstd_dec *d = mrs_zalloc(mem, sizeof *d);
    if (!d) {
        return NULL;
    }
    d->mem = mem;
    d->window = window_most(mem);
    d->z = ZSTD_createDCtx_advanced(by);
    if (!d->z || ZSTD_isError(ZSTD_DCtx_setMaxWindowSize(d->z, d->window))) {
        ZSTD_freeDCtx(d->z);
        mrs_free(mem, d);
        return NULL;
    }
    return d;
}

static void
dec_close(void *p)
{
    struct codec_zstd_dec *d = p;
    if (d) {
        ZSTD_freeDCtx(d->z);
        mrs_free(d->mem, d);
    }
}

/* Advances over n bytes of the frame. False: a compressed block without bytes. */
static bool
follow_blocks(struct codec_zstd_dec *d, const uint8_t *p, size_t n)
{
    MRS_ASSERT(d->block_n < sizeof d->block + 1);
    while (n) {
        size_t over = d->skip < n ? (size_t)d->skip : n;
        d->skip -= over;
        p += over;
        n -= over;
        if (n) {
            d->block[d->block_n++] = *p++;
            n--;
        }
        if (d->block_n == sizeof d->block) {
            uint32_t word = d->block[0] | (uint32_t)d->block[1] << 8 | (uint32_t)d->block[2] << 16;
            uint32_t type = word >> 1 & 3, size = word >> 3;
            if (type == BLOCK_PACKED && !size) {
                return false;
            }
            d->block_n = 0;
            d->skip = word & 1 ? UINT64_MAX : type == BLOCK_REPEATS ? 1 : size;
        }
    }
    return true;
}

/* Advances over `taken` bytes of the frame at p; as follow_blocks. */
static bool
follow_input(struct codec_zstd_dec *d, const uint8_t *p, size_t taken)
{
    MRS_ASSERT(p || taken == 0);
    size_t was = d->head_n, n = sizeof d->head - was;
    n = taken < n ? taken : n;
    if (n) {
        memcpy(d->head + was, p, n);
    }
    d->head_n += n;
    if (!d->walks && d->head_n >= ZSTD_FRAMEHEADERSIZE_PREFIX(ZSTD_f_zstd1)) {
        size_t head = ZSTD_frameHeaderSize(d->head, d->head_n);
        d->walks = true;
        d->skip = d->head[0] != FRAME_FIRST || ZSTD_isError(head) ? UINT64_MAX : head - was;
    }
    return !d->walks || follow_blocks(d, p, taken);
}

/* The fault at the end of a frame, in the order in which the library would report it. */
static const char *
judge_frame(struct codec_zstd_dec *d)
{
    MRS_ASSERT(d->head_n <= sizeof d->head);
    ZSTD_frameHeader h;
    if (d->head[0] != FRAME_FIRST || ZSTD_getFrameHeader(&h, d->head, d->head_n) != 0) {
        return NULL;
    }
    if (h.windowSize > d->window) {
        d->window_needed = h.windowSize;
        return ZSTD_getErrorString(ZSTD_error_frameParameter_windowTooLarge);
    }
    return h.frameContentSize == ZSTD_CONTENTSIZE_UNKNOWN || h.frameContentSize == d->made
               ? NULL
               : "a frame has fewer bytes than its header says";
}

/* Checks the frame after `taken` bytes of p were consumed and `made` were produced. Returns a fault that the library
 * finds or accepts depending on whether the whole frame is in its buffer; NULL: none. */
static const char *
follow(struct codec_zstd_dec *d, const uint8_t *p, size_t taken, size_t made, bool ends)
{
    if (!follow_input(d, p, taken)) {
        return "a packed block is empty";
    }
    d->made += made;
    if (!ends) {
        return NULL;
    }
    const char *wrong = judge_frame(d);
    d->head_n = d->block_n = 0;
    d->made = 0;
    d->walks = false;
    return wrong;
}

/* Whether a frame or a skippable frame may begin with this byte. The library may also support formats older than RFC
 * 8878: it unpacks these with memory that is not ours, and finds damage in them depending on how the input is cut. */
static bool
may_begin(uint8_t first)
{
    return first == FRAME_FIRST || (first & 0xf0) == (ZSTD_MAGIC_SKIPPABLE_START & 0xff);
}

/* The library refused the window of the frame that these bytes begin or continue: returns its size. */
static void
note_window(struct codec_zstd_dec *d, const uint8_t *p, size_t n)
{
    MRS_ASSERT(d->head_n <= sizeof d->head);
    ZSTD_frameHeader h;
    size_t room = sizeof d->head - d->head_n;
    n = n < room ? n : room;
    if (n) {
        memcpy(d->head + d->head_n, p, n);
    }
    d->window_needed = ZSTD_getFrameHeader(&h, d->head, d->head_n + n) == 0 ? h.windowSize : WINDOW_LAST + 1;
}

/* Skips zeros after the last frame, the padding of tapes. False: other bytes follow. */
static bool
pass_zeros(struct codec_zstd_dec *d, ZSTD_inBuffer *in)
{
    const uint8_t *p = in->src;
    d->zeros = d->zeros || (d->any && !d->inside && in->pos < in->size && !p[in->pos]);
    for (; d->zeros && in->pos < in->size && !p[in->pos]; in->pos++) {
    }
    return !d->zeros || in->pos == in->size;
}

static enum mrs_status
dec_step(void *p, struct mrsi_flow *f, const char **why)
{
    struct codec_zstd_dec *d = p;
    ZSTD_inBuffer in = {f->in, f->in_n, 0};
    ZSTD_outBuffer out = {f->out, f->out_n, 0};
    size_t r = 0;
    bool unexpected;
    do {
        size_t in_was = in.pos, out_was = out.pos;
        unexpected = !pass_zeros(d, &in) || (!d->inside && in.pos < in.size && !may_begin(f->in[in.pos]));
        if (unexpected || d->zeros) {
            break;
        }
        r = ZSTD_decompressStream(d->z, &out, &in);
        if (ZSTD_getErrorCode(r) == ZSTD_error_frameParameter_windowTooLarge) {
            note_window(d, f->in + in_was, in.size - in_was);
        }
        if (ZSTD_isError(r) || (in.pos == in_was && out.pos == out_was)) {
            break;
        }
        d->inside = r != 0;
        d->any = true;
        const char *wrong = follow(d, in.size ? f->in + in_was : NULL, in.pos - in_was, out.pos - out_was, r == 0);
        if (wrong) {
            *why = wrong;
            return MRS_FAIL;
        }
    } while (in.pos < in.size && out.pos < out.size);
    f->in += in.pos;
    f->in_n -= in.pos;
    f->out += out.pos;
    f->out_n -= out.pos;
    if (!unexpected && !ZSTD_isError(r)) {
        return MRS_OK;
    }
    ZSTD_ErrorCode code = unexpected ? ZSTD_error_prefix_unknown : ZSTD_getErrorCode(r);
    *why = code == ZSTD_error_prefix_unknown && d->any && !d->inside
               ? "other bytes after the last frame"
               : ZSTD_getErrorString(code);
    return code == ZSTD_error_memory_allocation ? MRS_DEAD : MRS_FAIL;
}

static bool
dec_may_end(const void *p)
{
    const struct codec_zstd_dec *d = p;
    return d->any && !d->inside;
}

static uint64_t
dec_window_needed(const void *p)
{
    const struct codec_zstd_dec *d = p;
    return d->window_needed;
}

static void
dec_passed(void *p)
{
    struct codec_zstd_dec *d = p;
    d->any = true;
}

static bool
unit(const uint8_t *p, size_t n, size_t *in, size_t *out)
{
    if (!n || !may_begin(p[0])) {
        return false;
    }
    size_t frame = ZSTD_findFrameCompressedSize(p, n);
    unsigned long long content = ZSTD_isError(frame) ? ZSTD_CONTENTSIZE_ERROR : ZSTD_getFrameContentSize(p, n);
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN) {
        return false;
    }
    *in = frame;
    *out = (size_t)content;
    return true;
}

uint64_t
mrsi_zstd_window(const uint8_t *head, size_t n)
{
    MRS_ASSERT(head || n == 0);
    ZSTD_frameHeader h;
    return ZSTD_getFrameHeader(&h, head, n) == 0 && h.windowSize > WINDOW_FREE ? h.windowSize : 0;
}

static ZSTD_compressionParameters
parameters(int level)
{
    ZSTD_compressionParameters how = ZSTD_getCParams(level, MRSI_PIECE, 0);
    how.windowLog = how.windowLog > WINDOW_MOST ? WINDOW_MOST : how.windowLog;
    how.hashLog = how.hashLog > HASH_MOST ? HASH_MOST : how.hashLog;
    how.chainLog = how.chainLog > CHAIN_MOST ? CHAIN_MOST : how.chainLog;
    return how;
}

static size_t
context_bytes(ZSTD_compressionParameters how)
{
    return how.strategy < SLOW_FROM ? ZSTD_estimateCCtxSize_usingCParams(how)
                                    : ZSTD_estimateCStreamSize_usingCParams(how);
}

static size_t
pack_bytes(int level)
{
    return sizeof(struct codec_zstd_packer) + context_bytes(parameters(level));
}

static void *
pack_open(struct mrs_mem *mem, int level)
{
    ZSTD_compressionParameters how = parameters(level);
    size_t n = context_bytes(how);
    struct codec_zstd_packer *c = ZSTD_isError(n) ? NULL : mrs_alloc(mem, sizeof *c + n);
    if (c) {
        *c = (struct codec_zstd_packer){.mem = mem, .how = how, .n = n};
    }
    return c;
}

static void
pack_close(void *p)
{
    struct codec_zstd_packer *c = p;
    mrs_free(c->mem, c);
}

static size_t
set_up(ZSTD_CCtx *z, const ZSTD_compressionParameters *p)
{
    const struct {
        ZSTD_cParameter what;
        unsigned value;
    } all[] = {{ZSTD_c_windowLog, p->windowLog},       {ZSTD_c_hashLog, p->hashLog},
               {ZSTD_c_chainLog, p->chainLog},         {ZSTD_c_searchLog, p->searchLog},
               {ZSTD_c_minMatch, p->minMatch},         {ZSTD_c_targetLength, p->targetLength},
               {ZSTD_c_strategy, (unsigned)p->strategy}, {ZSTD_c_checksumFlag, 1}};
    size_t r = ZSTD_CCtx_reset(z, ZSTD_reset_session_and_parameters);
    for (size_t i = 0; i < sizeof all / sizeof *all && !ZSTD_isError(r); i++) {
        r = ZSTD_CCtx_setParameter(z, all[i].what, (int)all[i].value);
    }
    return r;
}

/* As ZSTD_compress2. *stopped: it was stopped, and the frame has no end. */
static size_t
pack_slowly(ZSTD_CCtx *z, const struct mrsi_flow *f, const struct mrs_stop *stop, bool *stopped)
{
    ZSTD_outBuffer out = {f->out, f->out_n, 0};
    ZSTD_inBuffer in = {f->in, 0, 0};
    size_t r = ZSTD_CCtx_setPledgedSrcSize(z, f->in_n);
    bool more = true;
    while (more && !ZSTD_isError(r)) {
        *stopped = stop && stop->asked(stop->arg);
        if (*stopped) {
            break;
        }
        in.size = f->in_n - in.size > SLOW_STEP ? in.size + SLOW_STEP : f->in_n;
        more = in.size < f->in_n;
        r = ZSTD_compressStream2(z, &out, &in, more ? ZSTD_e_flush : ZSTD_e_end);
        r = r && !ZSTD_isError(r) ? (size_t)-ZSTD_error_dstSize_tooSmall : r; /* bytes are left */
    }
    return ZSTD_isError(r) ? r : out.pos;
}

static enum mrs_status
pack(void *p, struct mrsi_flow *f, const struct mrs_stop *stop, const char **why)
{
    struct codec_zstd_packer *c = p;
    bool stopped = false;
    ZSTD_CCtx *z = ZSTD_initStaticCCtx(c->room, c->n);
    if (!z) {
        *why = "its memory is too small";
        return MRS_FAIL;
    }
    size_t r = set_up(z, &c->how);
    if (!ZSTD_isError(r)) {
        r = c->how.strategy < SLOW_FROM ? ZSTD_compress2(z, f->out, f->out_n, f->in, f->in_n)
                                        : pack_slowly(z, f, stop, &stopped);
    }
    if (ZSTD_isError(r)) {
        *why = ZSTD_getErrorName(r);
        return MRS_FAIL;
    }
    if (stopped) {
        return MRS_END;
    }
    f->in += f->in_n;
    f->in_n = 0;
    f->out += r;
    f->out_n -= r;
    return MRS_OK;
}

const struct mrsi_codec mrsi_codec_zstd = {
    "zstd", ".zst", 1, 22, 3, dec_open, dec_step, dec_may_end, dec_window_needed, unit, dec_passed, dec_close,
    pack_bytes, pack_open, pack, pack_close,
};
