/* SPDX-License-Identifier: Apache-2.0 */
/* reader.c - cuts a stream of bytes into blocks of complete documents.
 *
 * A block has as many documents as fit the target size, at least one; a larger document makes the block grow
 * temporarily. So the boundaries depend on the data and that size alone, never on the lengths of reads. The bytes after
 * the last complete document are returned to the source, or carried to the next block if the source cannot take them
 * back. Documents before damage are delivered; the error comes with the next call. Only lengths and final NULs are
 * checked here, the caller checks the rest. */
#include "input.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define ARCHIVE_MAGIC 0x8199e26du

struct mrs_reader {
    struct mrs_mem *mem;
    struct mrsi_source *src; /* NULL: no documents */
    size_t block_bytes;
    uint8_t *carry;
    size_t carry_n, carry_cap;
    uint64_t off, doc, seq; /* of the next block */
    char *file, *ns;
    bool broken;
};

void
mrs_block_init(struct mrs_block *b, struct mrs_mem *mem)
{
    MRS_ASSERT(mem);
    memset(b, 0, sizeof *b);
    b->mem = mem;
}

void
mrs_block_clear(struct mrs_block *b)
{
    MRS_ASSERT(b->n <= b->cap);
    mrs_free(b->mem, b->p);
    b->p = NULL;
    b->n = b->cap = 0;
    b->n_docs = 0;
}

static enum mrs_status
open_on(struct mrs_mem *mem, const struct mrsi_source_from *from, const char *ns,
        size_t block_bytes, struct mrs_reader **out, struct mrs_err *e)
{
    struct mrs_reader *r = mrs_zalloc(mem, sizeof *r);
    if (!r) {
        if (from && from->own) {
            close(from->fd);
        }
        return mrs_err_memory(e, sizeof *r);
    }
    r->mem = mem;
    r->block_bytes = block_bytes == 0               ? MRSI_BLOCK_BYTES
                     : block_bytes < MRSI_BLOCK_MIN ? MRSI_BLOCK_MIN
                                                    : block_bytes;
    const char *file = from ? from->name : "";
    r->file = mrs_strndup(mem, file, strlen(file));
    r->ns = mrs_strndup(mem, ns, strlen(ns));
    enum mrs_status s = r->file && r->ns ? MRS_OK : mrs_err_memory(e, strlen(file));
    if (s != MRS_OK && from && from->own) {
        close(from->fd);
    }
    if (s == MRS_OK && from) {
        struct mrsi_source_from own = *from;
        own.name = r->file;
        s = mrsi_source_open(mem, &own, &r->src, e);
    }
    if (s != MRS_OK) {
        mrs_reader_close(r);
        return s;
    }
    *out = r;
    return MRS_OK;
}

enum mrs_status
mrs_reader_open(struct mrs_input *in, uint32_t i, size_t block_bytes, struct mrs_reader **out,
                struct mrs_err *e)
{
    const struct mrs_input_ns *ns = &in->list[i];
    const char *name = ns->kind == MRS_INPUT_DATA ? ns->ns : ns->rel_path;
    if (!ns->data_path) {
        return open_on(in->mem, NULL, name, block_bytes, out, e);
    }
    struct mrsi_source_from from;
    enum mrs_status s = mrsi_input_from(in, ns, &from, e);
    MRS_THEN(s, open_on(in->mem, &from, name, block_bytes, out, e));
    if (s == MRS_OK) {
        mrsi_source_ahead((*out)->src, in->pool);
    }
    return s;
}

enum mrs_status
mrs_reader_fd(struct mrs_mem *mem, int fd, uint64_t bytes, const char *name, size_t block_bytes,
              struct mrs_reader **out, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0 && name);
    struct mrsi_source_from from = {fd, false, 0, bytes, MRS_CODEC_NONE, name, NULL};
    return open_on(mem, &from, name, block_bytes, out, e);
}

void
mrs_reader_close(struct mrs_reader *r)
{
    if (r) {
        mrsi_source_close(r->src);
        mrs_free(r->mem, r->carry);
        mrs_free(r->mem, r->file);
        mrs_free(r->mem, r->ns);
        mrs_free(r->mem, r);
    }
}

void
mrs_reader_map(const struct mrs_reader *r, const uint8_t **p, size_t *n)
{
    *p = NULL;
    *n = 0;
    if (r->src) {
        mrsi_source_map(r->src, p, n);
    }
}

uint64_t
mrs_reader_progress(const struct mrs_reader *r)
{
    return r->src ? mrsi_source_taken(r->src) : 0;
}

/* The place of an error: the document after those of b, at the end of b's bytes. */
static void
place(const struct mrs_reader *r, const struct mrs_block *b, size_t at, struct mrs_err *e)
{
    if (!e || e->ns[0]) {
        return;
    }
    snprintf(e->ns, sizeof e->ns, "%s", r->ns);
    e->doc_no = r->doc + b->n_docs + 1;
    e->byte_off = r->off + at;
}

static enum mrs_status
damage(const struct mrs_reader *r, const struct mrs_block *b, size_t at, struct mrs_err *e,
       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static enum mrs_status
damage(const struct mrs_reader *r, const struct mrs_block *b, size_t at, struct mrs_err *e,
       const char *fmt, ...)
{
    MRS_ASSERT(at <= b->cap);
    char what[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (e && e->code == MRS_E_NONE) {
        place(r, b, at, e);
    }
    return MRSI_FAIL(e, MRS_E_BSON, "%s: %s", r->file, what);
}

/* Counts the complete documents of b; *at is the end of the last. Stops before damage or the tail. */
static void
walk(struct mrs_block *b, size_t have, size_t *at)
{
    MRS_ASSERT(have <= b->cap);
    *at = 0;
    while (have - *at >= 4) {
        uint32_t n = mrs_le32(b->p + *at);
        if (n < MRS_DOC_MIN || n > MRS_DOC_READ_MAX || n > have - *at || b->p[*at + n - 1] != 0) {
            return;
        }
        *at += n;
        b->n_docs++;
    }
}

static enum mrs_status
room(struct mrs_block *b, size_t len, size_t keep, struct mrs_err *e)
{
    MRS_ASSERT(keep <= len && keep <= b->cap);
    if (b->cap >= len && (keep || b->cap <= 2 * len)) {
        return MRS_OK;
    }
    if (!keep) { /* too small, or enlarged for one large document */
        mrs_free(b->mem, b->p);
        b->p = NULL;
        b->cap = 0;
    }
    uint8_t *p = mrs_realloc(b->mem, b->p, len);
    MRS_TRY(mrs_allocated(p, len, e));
    b->p = p;
    b->cap = len;
    return MRS_OK;
}

/* At the beginning of a file of another format. */
static enum mrs_status
no_documents(struct mrs_reader *r, struct mrs_block *b, size_t have, struct mrs_err *e)
{
    if (e && e->code == MRS_E_NONE) {
        place(r, b, 0, e);
    }
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s: no documents of a dump: from byte 0 on it is %s", r->file,
                     mrsi_foreign(b->p, have));
}

/* The error at the end of the data: that of the source, or a truncated document. */
static enum mrs_status
cut_short(struct mrs_reader *r, struct mrs_block *b, size_t have, struct mrs_err *e)
{
    MRS_ASSERT(have <= b->cap);
    uint8_t byte;
    size_t got;
    bool first = e && e->code == MRS_E_NONE;
    enum mrs_status s = mrsi_source_read(r->src, &byte, 1, &got, e);
    if (s < MRS_OK) {
        if (first) {
            place(r, b, 0, e);
        }
        return s;
    }
    if (have < 4) {
        return damage(r, b, 0, e,
                      "it ends in %zu stray bytes after the last document (truncated?)", have);
    }
    if (r->off == 0 && mrsi_foreign(b->p, have)) {
        return no_documents(r, b, have, e);
    }
    return damage(r, b, 0, e, "it ends inside a document: %zu of %u bytes are there (truncated)",
                  have, mrs_le32(b->p));
}

/* The first document of b is longer than `have` bytes: reads the rest of it, or reports an error. */
static enum mrs_status
first_document(struct mrs_reader *r, struct mrs_block *b, size_t *have, bool ended,
               struct mrs_err *e)
{
    MRS_ASSERT(*have <= b->cap);
    if (*have < 4) {
        return cut_short(r, b, *have, e);
    }
    uint32_t n = mrs_le32(b->p);
    if (n == ARCHIVE_MAGIC && r->off == 0) {
        if (e && e->code == MRS_E_NONE) {
            place(r, b, 0, e);
        }
        return MRSI_FAIL(e, MRS_E_FORMAT,
                         "%s: an archive of mongodump --archive, not the documents of one "
                         "collection; name it as the input by itself",
                         r->file);
    }
    if ((n < MRS_DOC_MIN || n > MRS_DOC_READ_MAX) && r->off == 0 && mrsi_foreign(b->p, *have)) {
        return no_documents(r, b, *have, e);
    }
    if (n < MRS_DOC_MIN || n > MRS_DOC_READ_MAX) {
        return damage(r, b, 0, e, "impossible length %lld of a document (5 to %u are possible)",
                      (long long)(int32_t)n, MRS_DOC_READ_MAX);
    }
    if (n > *have) {
        size_t got = 0;
        enum mrs_status s = ended ? MRS_OK : room(b, n, *have, e);
        if (s == MRS_OK && !ended) {
            s = mrsi_source_read(r->src, b->p + *have, n - *have, &got, e);
            *have += got;
        }
        if (s < MRS_OK) {
            place(r, b, 0, e);
            return s;
        }
        if (n > *have) {
            return cut_short(r, b, *have, e);
        }
    }
    if (b->p[n - 1] != 0) {
        return damage(r, b, 0, e, "a document of %u bytes does not end in NUL", n);
    }
    b->n_docs = 1;
    return MRS_OK;
}

/* Keeps the tail b->p[at .. have) for the next block. */
static enum mrs_status
keep_tail(struct mrs_reader *r, const struct mrs_block *b, size_t at, size_t have,
          struct mrs_err *e)
{
    MRS_ASSERT(at <= have && have <= b->cap);
    size_t n = have - at;
    r->carry_n = 0;
    if (n == 0 || mrsi_source_back(r->src, n)) {
        return MRS_OK;
    }
    if (r->carry_cap < n) {
        mrs_free(r->mem, r->carry);
        r->carry = mrs_alloc(r->mem, n);
        r->carry_cap = r->carry ? n : 0;
        MRS_TRY(mrs_allocated(r->carry, n, e));
    }
    memcpy(r->carry, b->p + at, n);
    r->carry_n = n;
    return MRS_OK;
}

static enum mrs_status
fill(struct mrs_reader *r, struct mrs_block *b, struct mrs_err *e)
{
    MRS_ASSERT(r->carry_n <= r->carry_cap);
    MRS_TRY(room(b, r->block_bytes, 0, e));
    size_t have = r->carry_n, got = 0, at, len = r->block_bytes - have;
    if (have) {
        memcpy(b->p, r->carry, have);
    }
    enum mrs_status s = len ? mrsi_source_read(r->src, b->p + have, len, &got, e) : MRS_OK;
    if (s < MRS_OK) {
        place(r, b, 0, e); /* the carried bytes are no complete document: those were delivered */
        return s;
    }
    if (s == MRS_END && !have) {
        return MRS_END;
    }
    have += got;
    walk(b, have, &at);
    if (b->n_docs == 0) {
        MRS_TRY(first_document(r, b, &have, got < len, e));
        at = have < mrs_le32(b->p) ? have : mrs_le32(b->p);
    }
    MRS_TRY(keep_tail(r, b, at, have, e));
    b->n = at;
    r->off += at;
    r->doc += b->n_docs;
    r->seq++;
    return MRS_OK;
}

enum mrs_status
mrs_reader_next(struct mrs_reader *r, struct mrs_block *b, struct mrs_err *e)
{
    MRS_ASSERT(r->carry_n <= r->carry_cap && b->mem);
    b->n = 0;
    b->n_docs = 0;
    b->seq = r->seq;
    b->first_doc = r->doc;
    b->off = r->off;
    if (r->broken) {
        return damage(r, b, 0, e, "nothing can be read after the damage");
    }
    enum mrs_status s = r->src ? fill(r, b, e) : MRS_END;
    if (s < MRS_OK) {
        b->n_docs = 0;
        r->broken = true;
    }
    return s;
}

/* ---- resuming ---- */
void
mrs_reader_where(const struct mrs_reader *r, struct mrs_reader_at *at)
{
    *at = (struct mrs_reader_at){r->off, r->doc, r->seq};
}

enum mrs_status
mrs_reader_go_on(struct mrs_reader *r, const struct mrs_reader_at *at, struct mrs_err *e)
{
    MRS_ASSERT(!r->broken && r->carry_n == 0);
    if (at->doc > at->off / MRS_DOC_MIN || at->seq > at->doc) { /* each has a document */
        return mrs_err_checkpoint(e, "more of %s was read than there is before byte %llu", r->file,
                                  (unsigned long long)at->off);
    }
    enum mrs_status s = r->src ? mrsi_source_skip(r->src, at->off, e) : MRS_OK;
    r->off = at->off;
    r->doc = at->doc;
    r->seq = at->seq;
    return s;
}
