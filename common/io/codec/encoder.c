/* SPDX-License-Identifier: Apache-2.0 */
/* encoder.c - writes bytes to the end of a file, plain or compressed.
 *
 * Input is cut into pieces of one fixed size however the caller cuts it, and each piece becomes a separate frame or
 * member: so several threads can pack, and the file has the same bytes for any number of threads and any budget. The
 * thread that has packed a piece writes it and the finished ones after it, in order; so no thread waits for space while
 * the file is idle. Of several failures the earliest is reported. Plain files have a buffer of a size that the caller
 * chooses; larger pieces are written at once. Must not know documents, names of collections or when a file counts as
 * published. */
#include "encoder.h"
#include "io/file/direct_write.h"
#include "codec_pool.h"
#include <errno.h>
#include <unistd.h>

struct mrsi_encoder {
    struct mrs_mem *mem;
    int fd;
    char *name;
    const struct mrsi_codec *codec; /* NULL: plain */
    int level;
    uint8_t *in; /* of plain files: bytes not yet in the file */
    size_t in_n, in_cap;
    uint64_t direct_from; /* size of a plain file from which it is written directly; 0: never */
    struct mrsi_direct *direct; /* NULL: not yet */
    bool any; /* a piece was passed on, now or before a savepoint */
    struct mrsi_codec_pool *pool, *own;
    struct mrsi_chunk *chunk; /* the piece that is being filled; NULL: none */
    /* under the lock of the codec pool, if there is a codec */
    struct encoder_piece *first, **last; /* passed on and not yet written */
    bool writing, dropped;
    uint64_t file_bytes;
    enum mrs_status status;
    struct mrs_err err;
};

struct encoder_piece {
    struct mrsi_task task; /* first */
    struct mrsi_encoder *enc;
    struct encoder_piece *next;
    struct mrsi_chunk *in, *out;
    bool packed;
    enum mrs_status status;
    struct mrs_err err;
};

enum mrs_status
mrs_compress_parse(const char *text, struct mrs_compress *out, struct mrs_err *e)
{
    MRS_ASSERT(text && out);
    static const enum mrs_codec codecs[] = {MRS_CODEC_GZIP, MRS_CODEC_ZSTD};
    if (strcmp(text, "none") == 0) {
        out->codec = MRS_CODEC_NONE;
        out->level = 0;
        return MRS_OK;
    }
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        const struct mrsi_codec *c = mrsi_codec_of(codecs[i]);
        size_t n = strlen(c->name);
        if (strncmp(text, c->name, n) != 0 || (text[n] && text[n] != ':')) {
            continue;
        }
        int level = 0;
        const char *p = text + n + 1;
        for (; text[n] && *p >= '0' && *p <= '9' && level < 1000; p++) {
            level = level * 10 + (*p - '0');
        }
        if (text[n] && (*p || p == text + n + 1 || level < c->level_min || level > c->level_max)) {
            return MRSI_FAIL(e, MRS_E_USAGE, "levels of %s are %d to %d, not '%s'", c->name,
                             c->level_min, c->level_max, text + n + 1);
        }
        out->codec = codecs[i];
        out->level = level;
        return MRS_OK;
    }
    return MRSI_FAIL(e, MRS_E_USAGE,
                     "unknown compression '%s': gzip, zstd (both with :level) or none", text);
}

/* ---- pieces ---- */
/* Whether the piece being packed is no longer needed. */
static bool
is_unwanted(void *arg)
{
    const struct mrsi_encoder *c = arg;
    mrsi_codec_pool_lock(c->pool);
    bool dropped = c->dropped;
    mrsi_codec_pool_unlock(c->pool);
    return dropped || mrsi_codec_pool_stopped(c->pool);
}

static enum mrs_status
pack(struct encoder_piece *p, struct mrsi_tools *tools)
{
    MRS_ASSERT(p->in && !p->packed);
    struct mrsi_encoder *c = p->enc;
    const struct mrs_stop stop = {c, is_unwanted};
    const char *why = "failed";
    void *packer = mrsi_tools_pack(tools, c->codec, c->level);
    p->out = packer ? mrsi_chunk_take(c->pool) : NULL;
    MRS_TRY(mrs_allocated(p->out, sizeof *p->out, &p->err));
    struct mrsi_flow f = {p->in->p, p->in->n, p->out->p, sizeof p->out->p};
    enum mrs_status s = c->codec->pack(packer, &f, &stop, &why);
    p->out->n = (size_t)(f.out - p->out->p);
    return s == MRS_FAIL ? MRSI_FAIL(&p->err, MRS_E_IO, "%s: %s: %s", c->name, c->codec->name, why)
           : s == MRS_DEAD ? mrs_err_memory(&p->err, 0)
           : s == MRS_END  ? MRSI_FAIL(&p->err, MRS_E_CANCEL, "interrupted")
                           : s;
}

/* Writes the next piece in order and frees its memory. Without the lock. */
static enum mrs_status
write_piece(struct mrsi_encoder *c, struct encoder_piece *p, bool drop, struct mrs_err *e)
{
    MRS_ASSERT(p->packed);
    enum mrs_status s = p->status;
    if (drop) {
        s = MRS_OK;
    } else if (s == MRS_OK) {
        s = mrsi_write_full(c->fd, p->out->p, p->out->n, c->name, e);
        mrsi_write_behind(c->fd, c->file_bytes, p->out->n);
    } else {
        *e = p->err;
    }
    mrsi_chunk_release(c->pool, p->out);
    return s;
}

/* Under the lock, which is released while a piece is written. */
static void
write_packed(struct mrsi_encoder *c)
{
    struct encoder_piece *p;
    while (!c->writing && (p = c->first) != NULL && p->packed) {
        bool drop = c->dropped || c->status != MRS_OK;
        uint64_t bytes = p->out ? p->out->n : 0;
        struct mrs_err err;
        mrs_err_clear(&err);
        c->writing = true;
        mrsi_codec_pool_unlock(c->pool);
        enum mrs_status s = write_piece(c, p, drop, &err);
        mrsi_codec_pool_lock(c->pool);
        if (s != MRS_OK) {
            c->status = s;
            c->err = err;
        }
        c->file_bytes += drop || s != MRS_OK ? 0 : bytes;
        c->writing = false;
        c->first = p->next;
        c->last = c->first ? c->last : &c->first;
        mrs_free(c->mem, p);
        mrsi_codec_pool_leave(c->pool);
    }
}

static void
run_piece(struct mrsi_task *task, struct mrsi_tools *tools)
{
    MRS_ASSERT(task->run == run_piece);
    struct encoder_piece *p = (struct encoder_piece *)task;
    struct mrsi_encoder *c = p->enc;
    struct mrsi_codec_pool *pool = c->pool;
    mrsi_codec_pool_lock(pool);
    bool drop = c->dropped;
    mrsi_codec_pool_unlock(pool);
    p->status = drop ? MRS_OK : pack(p, tools);
    mrsi_chunk_release(pool, p->in);
    mrsi_codec_pool_lock(pool);
    p->packed = true;
    write_packed(c);
    mrsi_codec_pool_unlock(pool);
}

/* OK, or the error of the first piece that failed. Under the lock. */
static enum mrs_status
status_of(const struct mrsi_encoder *c, struct mrs_err *e)
{
    if (c->status != MRS_OK && e && e->code == MRS_E_NONE) {
        *e = c->err;
    }
    return c->status;
}

/* Passes the filled chunk to the codec pool. */
static enum mrs_status
hand_on(struct mrsi_encoder *c, struct mrs_err *e)
{
    MRS_ASSERT(c->chunk || c->any);
    struct encoder_piece *p = mrs_zalloc(c->mem, sizeof *p);
    MRS_TRY(mrs_allocated(p, sizeof *p, e));
    p->task.run = run_piece;
    p->enc = c;
    p->in = c->chunk;
    mrs_err_clear(&p->err);
    mrsi_codec_pool_lock(c->pool);
    while (c->status == MRS_OK && !mrsi_codec_pool_enter(c->pool)) {
        mrsi_codec_pool_wait(c->pool);
    }
    enum mrs_status s = status_of(c, e);
    if (s == MRS_OK) {
        *c->last = p;
        c->last = &p->next;
    }
    mrsi_codec_pool_unlock(c->pool);
    if (s != MRS_OK) {
        mrs_free(c->mem, p);
        return s;
    }
    c->chunk = NULL;
    c->any = true;
    mrsi_codec_pool_add(c->pool, &p->task);
    return MRS_OK;
}

/* Waits until all pieces are written. */
static enum mrs_status
drain(struct mrsi_encoder *c, struct mrs_err *e)
{
    mrsi_codec_pool_lock(c->pool);
    while (c->first) {
        mrsi_codec_pool_wait(c->pool);
    }
    enum mrs_status s = status_of(c, e);
    mrsi_codec_pool_unlock(c->pool);
    return s;
}

static enum mrs_status
fill(struct mrsi_encoder *c, const uint8_t *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    enum mrs_status s = MRS_OK;
    while (n && s == MRS_OK) {
        if (!c->chunk && (c->chunk = mrsi_chunk_take(c->pool)) == NULL) {
            return mrs_err_memory(e, sizeof *c->chunk);
        }
        size_t room = MRSI_PIECE - c->chunk->n, part = n < room ? n : room;
        memcpy(c->chunk->p + c->chunk->n, p, part);
        c->chunk->n += part;
        p += part;
        n -= part;
        if (c->chunk->n == MRSI_PIECE) {
            s = hand_on(c, e);
        }
    }
    return s;
}

/* ---- interface ---- */
uint64_t
mrsi_encoder_memory(struct mrs_compress c, uint32_t threads)
{
    const struct mrsi_codec *codec = mrsi_codec_of(c.codec);
    threads = threads > 1 ? threads : 1;
    /* a thread packs one piece into another; the others wait to be packed or written, or are being filled */
    return codec ? (mrsi_codec_pool_most(threads) + threads + 1ull) * sizeof(struct mrsi_chunk) +
                       threads * (uint64_t)codec->pack_bytes(c.level ? c.level : codec->level_default)
                 : 0;
}

enum mrs_status
mrsi_encoder_open(struct mrs_mem *mem, const struct mrsi_encoder_to *to, struct mrsi_encoder **out, struct mrs_err *e)
{
    MRS_ASSERT(to->fd >= 0 && to->name);
    struct mrsi_encoder *c = mrs_zalloc(mem, sizeof *c);
    MRS_TRY(mrs_allocated(c, sizeof *c, e));
    c->mem = mem;
    c->fd = to->fd;
    c->last = &c->first;
    mrs_err_clear(&c->err);
    c->codec = to->raw ? &mrsi_codec_deflate : mrsi_codec_of(to->compress.codec);
    c->name = mrs_strndup(mem, to->name, strlen(to->name));
    bool ok = c->name != NULL;
    if (ok && c->codec) {
        c->level = to->compress.level ? to->compress.level : c->codec->level_default;
        c->own = to->pool ? NULL : mrsi_codec_pool_new(mem, 0);
        c->pool = to->pool ? to->pool : c->own;
        ok = c->pool != NULL;
    } else if (ok) {
        c->in_cap = to->buffer ? to->buffer : MRSI_SINK_BUFFER;
        c->in = mrs_alloc(mem, c->in_cap);
        c->direct_from = to->direct_from;
        ok = c->in != NULL;
    }
    if (!ok) {
        mrsi_encoder_close(c);
        return mrs_err_memory(e, sizeof *c);
    }
    *out = c;
    return MRS_OK;
}

void
mrsi_encoder_close(struct mrsi_encoder *c)
{
    if (!c) {
        return;
    }
    if (c->pool) {
        mrsi_codec_pool_lock(c->pool);
        c->dropped = true;
        mrsi_codec_pool_unlock(c->pool);
        (void)drain(c, NULL);
        mrsi_chunk_release(c->pool, c->chunk);
        mrsi_codec_pool_free(c->own);
    }
    mrsi_direct_end(c->direct);
    mrs_free(c->mem, c->name);
    mrs_free(c->mem, c->in);
    mrs_free(c->mem, c);
}

static enum mrs_status
write_plain(struct mrsi_encoder *c, const uint8_t *p, size_t n, struct mrs_err *e)
{
    if (c->direct) {
        c->file_bytes += n;
        return mrsi_direct_write(c->direct, p, n, e);
    }
    enum mrs_status s = mrsi_write_full(c->fd, p, n, c->name, e);
    mrsi_write_behind(c->fd, c->file_bytes, n);
    c->file_bytes += n;
    if (s == MRS_OK && c->direct_from && c->file_bytes >= c->direct_from) {
        c->direct = mrsi_direct_begin(c->mem, c->fd, c->name, c->file_bytes);
        c->direct_from = 0;
    }
    return s;
}

static enum mrs_status
flush(struct mrsi_encoder *c, struct mrs_err *e)
{
    size_t n = c->in_n;
    c->in_n = 0;
    return n ? write_plain(c, c->in, n, e) : MRS_OK;
}

static enum mrs_status
flush_all(struct mrsi_encoder *c, struct mrs_err *e)
{
    enum mrs_status s = flush(c, e);
    return s == MRS_OK && c->direct ? mrsi_direct_flush(c->direct, e) : s;
}

enum mrs_status
mrsi_encoder_write(struct mrsi_encoder *c, const void *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    if (c->codec) {
        return fill(c, p, n, e);
    }
    if (c->in_n && n > c->in_cap - c->in_n) {
        size_t part = c->in_cap - c->in_n;
        memcpy(c->in + c->in_n, p, part);
        c->in_n += part;
        p = (const uint8_t *)p + part;
        n -= part;
        MRS_TRY(flush(c, e));
    }
    if (n >= c->in_cap) {
        return write_plain(c, p, n, e);
    }
    if (n) {
        memcpy(c->in + c->in_n, p, n);
    }
    c->in_n += n;
    return MRS_OK;
}

/* An empty stream is an empty frame or member. */
enum mrs_status
mrsi_encoder_finish(struct mrsi_encoder *c, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (!c->codec) {
        return flush_all(c, e);
    }
    if (!c->any && !c->chunk && (c->chunk = mrsi_chunk_take(c->pool)) == NULL) {
        return mrs_err_memory(e, sizeof *c->chunk);
    }
    s = c->chunk ? hand_on(c, e) : MRS_OK;
    return s == MRS_OK ? drain(c, e) : s;
}

enum mrs_status
mrsi_encoder_mark(struct mrsi_encoder *c, uint64_t *file_bytes, struct mrs_buf *pending, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(pending));
    enum mrs_status s = c->codec ? drain(c, e) : flush_all(c, e);
    if (s == MRS_OK && c->chunk) {
        mrs_buf_put(pending, c->chunk->p, c->chunk->n);
        s = mrs_buf_status(pending, e);
    }
    *file_bytes = c->file_bytes;
    return s;
}

enum mrs_status
mrsi_encoder_resume(struct mrs_mem *mem, const struct mrsi_encoder_to *to, const struct mrsi_encoder_mark *saved,
                    struct mrsi_encoder **out, struct mrs_err *e)
{
    MRS_ASSERT(saved->pending || saved->pending_n == 0);
    struct mrsi_encoder *c = NULL;
    enum mrs_status s = mrsi_cut_file(to->fd, to->name, saved->base + saved->file_bytes, e);
    MRS_THEN(s, mrsi_encoder_open(mem, to, &c, e));
    if (s == MRS_OK) {
        c->file_bytes = saved->file_bytes;
        c->any = saved->file_bytes > 0;
        s = mrsi_encoder_write(c, saved->pending, saved->pending_n, e);
    }
    if (s != MRS_OK) {
        mrsi_encoder_close(c);
        return s;
    }
    *out = c;
    return MRS_OK;
}
