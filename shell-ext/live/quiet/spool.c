/* SPDX-License-Identifier: Apache-2.0 */
/* spool.c - stores bytes in unlinked files while two dumps are compared.
 *
 * A spool is a sequence of bytes. A split distributes documents over many parts without a file for each: parts fill
 * blocks of one file in turn, and each has a list of its block numbers, so that neither open files nor memory grow with
 * the number of parts. A stream reads either through one buffer that is as large as the largest requested piece.
 * Nothing here depends on the content of the documents. */
#include "spool.h"

#include <unistd.h>

enum { PEND = 256 << 10, WINDOW = 256 << 10, BLOCK_LEAST = 4 << 10, BLOCK_MOST = 64 << 10 };

/* ---- spool ---- */
enum mrs_status
live_spool_open(struct live_spool *s, struct mrs_mem *mem, const char *dir, struct mrs_err *e)
{
    memset(s, 0, sizeof *s);
    s->mem = mem;
    s->fd = -1;
    mrs_buf_init(&s->pend, mem, SIZE_MAX);
    return mrs_temp_open(dir, &s->fd, e);
}

enum mrs_status
live_spool_end(struct live_spool *s, struct mrs_err *e)
{
    MRS_ASSERT(s->pend.n <= s->bytes);
    enum mrs_status st = mrs_buf_status(&s->pend, e);
    if (st == MRS_OK && s->pend.n) {
        st = mrs_write_at(s->fd, s->pend.p, s->pend.n, s->bytes - s->pend.n, e);
    }
    mrs_buf_clear(&s->pend);
    return st;
}

enum mrs_status
live_spool_put(struct live_spool *s, const void *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(s->fd >= 0);
    mrs_buf_put(&s->pend, p, n);
    s->bytes += n;
    return s->pend.n >= PEND || s->pend.bad ? live_spool_end(s, e) : MRS_OK;
}

void
live_spool_close(struct live_spool *s)
{
    if (s->mem) {
        mrs_buf_clear(&s->pend);
        if (s->fd >= 0) {
            close(s->fd);
        }
    }
    s->mem = NULL;
}

/* ---- split ---- */
enum mrs_status
live_split_open(struct live_split *s, struct mrs_mem *mem, const char *dir, uint32_t n, uint64_t memory,
                struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    memset(s, 0, sizeof *s);
    s->mem = mem;
    s->fd = -1;
    s->n = n;
    s->block = BLOCK_LEAST;
    while (s->block < BLOCK_MOST && s->block * 2 * n <= memory) {
        s->block *= 2;
    }
    s->part = mrs_alloc_array(mem, n, sizeof *s->part);
    s->fill = mrs_alloc_array(mem, n, sizeof *s->fill);
    s->room = mrs_alloc_array(mem, n, s->block);
    if (!s->part || !s->fill || !s->room) {
        mrs_free(mem, s->part);
        s->part = NULL;
        return mrs_err_memory(e, n * s->block);
    }
    memset(s->fill, 0, n * sizeof *s->fill);
    memset(s->part, 0, n * sizeof *s->part);
    for (uint32_t i = 0; i < n; i++) {
        mrs_buf_init(&s->part[i].blocks, mem, SIZE_MAX);
    }
    return mrs_temp_open(dir, &s->fd, e);
}

static enum mrs_status
flush(struct live_split *s, uint32_t part, struct mrs_err *e)
{
    MRS_ASSERT(part < s->n);
    struct live_part *p = &s->part[part];
    uint64_t no = s->next++;
    mrs_buf_put(&p->blocks, &no, sizeof no);
    enum mrs_status st = mrs_buf_status(&p->blocks, e);
    MRS_THEN(st, mrs_write_at(s->fd, s->room + part * s->block, s->fill[part], no * s->block, e));
    s->fill[part] = 0;
    return st;
}

enum mrs_status
live_split_put(struct live_split *s, uint32_t part, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(part < s->n && s->room);
    enum mrs_status st = MRS_OK;
    for (uint32_t at = 0; st == MRS_OK && at < doc.n;) {
        size_t n = s->block - s->fill[part];
        n = n < doc.n - at ? n : doc.n - at;
        memcpy(s->room + part * s->block + s->fill[part], doc.p + at, n);
        s->fill[part] += n;
        at += (uint32_t)n;
        if (s->fill[part] == s->block) {
            st = flush(s, part, e);
        }
    }
    s->part[part].bytes += doc.n;
    s->part[part].docs++;
    return st;
}

enum mrs_status
live_split_end(struct live_split *s, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < s->n; i++) {
        st = s->fill[i] ? flush(s, i, e) : MRS_OK;
    }
    mrs_free(s->mem, s->room);
    s->room = NULL;
    return st;
}

void
live_split_close(struct live_split *s)
{
    if (!s->mem) {
        return;
    }
    for (uint32_t i = 0; s->part && i < s->n; i++) {
        mrs_buf_clear(&s->part[i].blocks);
    }
    mrs_free(s->mem, s->part);
    mrs_free(s->mem, s->fill);
    mrs_free(s->mem, s->room);
    if (s->fd >= 0) {
        close(s->fd);
    }
    s->mem = NULL;
}

/* ---- stream ---- */
void
live_stream_spool(struct live_stream *st, const struct live_spool *s)
{
    MRS_ASSERT(s->pend.n == 0);
    memset(st, 0, sizeof *st);
    st->spool = s;
    st->end = s->bytes;
    mrs_buf_init(&st->win, s->mem, SIZE_MAX);
}

void
live_stream_part(struct live_stream *st, const struct live_split *s, uint32_t part)
{
    MRS_ASSERT(part < s->n && !s->room);
    memset(st, 0, sizeof *st);
    st->split = s;
    st->part = part;
    st->end = s->part[part].bytes;
    mrs_buf_init(&st->win, s->mem, SIZE_MAX);
}

/* Reads n bytes from st->at, after the bytes in the window. */
static enum mrs_status
fetch(struct live_stream *st, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(n <= st->end - st->at);
    uint8_t *to = mrs_buf_take(&st->win, n);
    enum mrs_status s = to ? MRS_OK : mrs_buf_status(&st->win, e);
    if (s == MRS_OK && st->spool) {
        s = mrs_read_at(st->spool->fd, to, n, st->at, e);
        st->at += n;
        return s;
    }
    while (s == MRS_OK && n) {
        size_t block = st->split->block, in = (size_t)(st->at % block), k = block - in < n ? block - in : n;
        uint64_t no;
        memcpy(&no, st->split->part[st->part].blocks.p + st->at / block * sizeof no, sizeof no);
        s = mrs_read_at(st->split->fd, to, k, no * block + in, e);
        to += k;
        n -= k;
        st->at += k;
    }
    return s;
}

enum mrs_status
live_stream_take(struct live_stream *st, size_t n, const uint8_t **p, struct mrs_err *e)
{
    MRS_ASSERT(st->pos <= st->win.n && st->at <= st->end);
    size_t have = st->win.n - st->pos;
    enum mrs_status s = MRS_OK;
    if (have < n) {
        uint64_t left = st->end - st->at;
        if (left + have < n) {
            return left + have == 0 ? MRS_END
                                    : mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "a temporary file ends inside a record");
        }
        if (have) {
            memmove(st->win.p, st->win.p + st->pos, have);
        }
        st->win.n = have;
        st->pos = 0;
        size_t more = n - have < WINDOW ? WINDOW : n - have;
        s = fetch(st, more < left ? more : (size_t)left, e);
    }
    *p = st->win.p + st->pos;
    st->pos += s == MRS_OK ? n : 0;
    return s;
}

enum mrs_status
live_stream_doc(struct live_stream *st, struct mrs_view *doc, struct mrs_err *e)
{
    const uint8_t *p;
    MRS_TRY(live_stream_take(st, 4, &p, e));
    doc->n = mrs_le32(p);
    st->pos -= 4;
    if (doc->n < MRS_DOC_MIN || doc->n > MRS_DOC_READ_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "a temporary file holds an impossible length");
    }
    return live_stream_take(st, doc->n, &doc->p, e);
}

void
live_stream_close(struct live_stream *st)
{
    if (st->win.mem) {
        mrs_buf_clear(&st->win);
    }
}
