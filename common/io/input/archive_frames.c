/* SPDX-License-Identifier: Apache-2.0 */
/* archive_frames.c - cuts an archive into documents and end marks.
 *
 * At this level there are only lengths: four bytes are an end mark or the length of a document, and anything else is
 * damage. Errors name the archive, the offset and, if the caller knows one, the namespace; a stream that ends too early
 * is called truncated, which is nearly always the cause. It must not know what documents mean. */
#include "archive.h"
#include <stdarg.h>
#include <stdio.h>

#define WINDOW (1u << 20)
#define CUT_SHORT "it is cut short: an unfinished dump or download? Compare its size with the original's"

void
mrsi_frames_init(struct mrsi_frames *f, struct mrs_mem *mem, struct mrsi_source *src, const char *name)
{
    MRS_ASSERT(mem && src && name);
    memset(f, 0, sizeof *f);
    f->mem = mem;
    f->src = src;
    f->name = name;
}

void
mrsi_frames_clear(struct mrsi_frames *f)
{
    mrs_free(f->mem, f->p);
    f->p = NULL;
}

uint64_t
mrsi_frames_off(const struct mrsi_frames *f)
{
    MRS_ASSERT(f->at <= f->n);
    return f->base + f->at;
}

enum mrs_status
mrsi_archive_bad(const struct mrsi_frames *f, uint64_t off, const char *ns, struct mrs_err *e, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (e && e->code == MRS_E_NONE) {
        e->byte_off = off;
        if (ns) {
            snprintf(e->ns, sizeof e->ns, "%.250s", ns);
        }
    }
    return MRSI_FAIL(e, MRS_E_FORMAT, "archive %.100s: %s", f->name, text);
}

/* Buffers `want` bytes after f->at, or all that the source has. */
static enum mrs_status
fill(struct mrsi_frames *f, size_t len, struct mrs_err *e)
{
    MRS_ASSERT(f->at <= f->n && f->n <= f->cap);
    if (f->n - f->at >= len || f->ended) {
        return MRS_OK;
    }
    if (f->at) {
        memmove(f->p, f->p + f->at, f->n - f->at);
        f->base += f->at;
        f->n -= f->at;
        f->at = 0;
    }
    size_t cap = len < WINDOW ? WINDOW : len;
    if (f->cap < cap) {
        uint8_t *p = mrs_realloc(f->mem, f->p, cap);
        MRS_TRY(mrs_allocated(p, cap, e));
        f->p = p;
        f->cap = cap;
    }
    while (f->n < len && !f->ended) {
        size_t got;
        enum mrs_status s = mrsi_source_read(f->src, f->p + f->n, f->cap - f->n, &got, e);
        if (s < MRS_OK) {
            return s;
        }
        f->n += got;
        f->ended = s == MRS_END;
        s = mrsi_pause(f->pause, got, e);
        if (s != MRS_OK) {
            return s;
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_frames_magic(struct mrsi_frames *f, struct mrs_err *e)
{
    MRS_ASSERT(f->base == 0);
    enum mrs_status s = fill(f, 4, e);
    if (s == MRS_OK && (f->n < 4 || mrs_le32(f->p) != MRSI_ARCHIVE_MAGIC)) {
        s = mrsi_archive_bad(f, 0, NULL, e, "it does not begin as one of mongodump does (6d e2 99 81)");
    }
    f->at = s == MRS_OK ? 4 : 0;
    return s;
}

enum mrs_status
mrsi_frames_next(struct mrsi_frames *f, enum mrsi_frame *kind, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(f->at <= f->n && f->n <= f->cap);
    enum mrs_status s = fill(f, 4, e);
    size_t have = f->n - f->at;
    uint64_t off = mrsi_frames_off(f);
    *kind = MRSI_FRAME_END;
    *doc = mrs_empty_doc();
    if (s != MRS_OK || have == 0) {
        return s == MRS_OK ? MRS_END : s;
    }
    if (have < 4) {
        return mrsi_archive_bad(f, off, NULL, e, "%zu stray byte%s at its end: %s", have, have == 1 ? "" : "s",
                                CUT_SHORT);
    }
    uint32_t n = mrs_le32(f->p + f->at);
    if (n == MRSI_ARCHIVE_END) {
        f->at += 4;
        return MRS_OK;
    }
    if (n < MRS_DOC_MIN || n > MRS_DOC_MAX) {
        return mrsi_archive_bad(f, off, NULL, e,
                                "%lld is neither the length of a document (5 to %u) nor an end mark: it is damaged, or "
                                "something follows its end",
                                (long long)(int32_t)n, MRS_DOC_MAX);
    }
    MRS_TRY(fill(f, n, e));
    if (f->n - f->at < n) {
        return mrsi_archive_bad(f, off, NULL, e, "%zu of %u bytes of a document are there: %s", f->n - f->at, n,
                                CUT_SHORT);
    }
    *kind = MRSI_FRAME_DOC;
    doc->p = f->p + f->at;
    doc->n = n;
    f->at += n;
    return doc->p[n - 1] == 0 ? MRS_OK
                              : mrsi_archive_bad(f, off, NULL, e, "a document of %u bytes does not end in NUL", n);
}
