/* SPDX-License-Identifier: Apache-2.0 */
/* delta.c - bytes compressed against other bytes that the reader also has: one zstd frame with a prefix.
 *
 * Bytes that are equal in both cost almost nothing, wherever they are. The frame has no checksum: the caller stores
 * one. All memory comes from our allocator. */
#include "io/file/file.h"
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#define LEVEL 6
#define WINDOW_MIN 17
#define WINDOW_MAX 26 /* 64 MiB: more than two of the largest documents */

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

static int
window_for(size_t n)
{
    int log = WINDOW_MIN;
    while (log < WINDOW_MAX && ((size_t)1 << log) < n) {
        log++;
    }
    return log;
}

enum mrs_status
mrs_delta_pack(struct mrs_mem *mem, const struct mrs_delta *d, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT((d->p || d->n == 0) && (d->prefix || d->prefix_n == 0));
    ZSTD_customMem by = {z_alloc, z_free, mem};
    ZSTD_CCtx *z = ZSTD_createCCtx_advanced(by);
    size_t most = ZSTD_compressBound(d->n), was = out->n;
    uint8_t *to = z ? mrs_buf_take(out, most) : NULL;
    if (!to) {
        ZSTD_freeCCtx(z);
        return out->bad == 2 ? mrs_buf_status(out, e) : mrs_err_memory(e, most);
    }
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, window_for(d->prefix_n + d->n));
    size_t r = ZSTD_CCtx_refPrefix(z, d->prefix, d->prefix_n);
    r = ZSTD_isError(r) ? r : ZSTD_compress2(z, to, most, d->p, d->n);
    ZSTD_freeCCtx(z);
    if (ZSTD_isError(r)) {
        out->n = was;
        return mrs_err_memory(e, most); /* the only possible failure here */
    }
    out->n = was + r;
    return MRS_OK;
}

enum mrs_status
mrs_delta_unpack(struct mrs_mem *mem, const struct mrs_delta *d, size_t n, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT((d->p || d->n == 0) && mrs_buf_is_sound(out));
    ZSTD_customMem by = {z_alloc, z_free, mem};
    ZSTD_DCtx *z = ZSTD_createDCtx_advanced(by);
    size_t was = out->n;
    uint8_t *to = z ? mrs_buf_take(out, n + 1) : NULL;
    if (!to) {
        ZSTD_freeDCtx(z);
        return out->bad == 2 ? mrs_buf_status(out, e) : mrs_err_memory(e, n);
    }
    size_t r = ZSTD_DCtx_refPrefix(z, d->prefix, d->prefix_n);
    r = ZSTD_isError(r) ? r : ZSTD_decompressDCtx(z, to, n, d->p, d->n);
    ZSTD_freeDCtx(z);
    out->n = was + n;
    if (ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation) {
        return mrs_err_memory(e, d->prefix_n);
    }
    return r == n ? MRS_OK : MRSI_FAIL(e, MRS_E_FORMAT, "a packed piece is damaged, or belongs to other documents");
}
