/* SPDX-License-Identifier: Apache-2.0 */
/* sink.c - writes one collection.
 *
 * A sink counts and hashes the documents that it receives itself: the figures in the manifest are those of the file,
 * not of the caller, and a difference between the two stops the run. So it must receive complete documents; anything
 * else is a bug in the caller and is refused. Several sinks may be open, each in a separate thread; they share the
 * output's list, under its lock. Must not know why a document is written. */
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Smaller files are soon on disk, and may be read again soon: by a restore, or by the next plan. */
#define DIRECT_FROM (512ull << 20)

struct mrs_sink {
    struct mrs_output *o;
    struct mrs_sink *next;
    uint32_t rec;
    int fd;
    bool own_fd;
    char *path;
    struct mrsi_encoder *enc;
    uint64_t docs, bytes;
    struct mrs_hash_sum digest;
    struct mrsi_growth room; /* preallocation of a plain file */
    bool failed;
};

struct mrs_sink *
mrsi_sink_next(struct mrs_sink *s)
{
    return s->next;
}

void
mrsi_sink_free(struct mrs_sink *s)
{
    mrsi_encoder_close(s->enc);
    if (s->own_fd && s->fd >= 0) {
        close(s->fd);
    }
    mrs_free(s->o->mem, s->path);
    mrs_free(s->o->mem, s);
}

static struct mrsi_encoder_to
encoder_to(const struct mrs_sink *s)
{
    const struct mrs_output *o = s->o;
    return (struct mrsi_encoder_to){s->fd, s->path, o->compress, o->sink_buffer, o->pool, false,
                                    s->own_fd ? DIRECT_FROM : 0};
}

static enum mrs_status
open_encoder(struct mrs_sink *s, struct mrs_err *e)
{
    struct mrsi_encoder_to to = encoder_to(s);
    return mrsi_encoder_open(s->o->mem, &to, &s->enc, e);
}

static enum mrs_status
open_file(struct mrs_sink *s, const char *db, const char *coll, struct mrs_err *e)
{
    MRS_ASSERT(s->fd < 0);
    struct mrs_output *o = s->o;
    enum mrs_status st = MRS_OK;
    if (o->kind == MRSI_OUT_STDOUT) {
        s->fd = o->out_fd;
        s->own_fd = false;
        s->path = mrs_strndup(o->mem, "temporary file", 14);
        st = mrs_allocated(s->path, 14, e);
    } else {
        char *rel = mrsi_output_data_rel(o, db, coll);
        st =
            rel ? mrsi_output_create(o, rel, &s->fd, &s->path, e) : mrs_err_memory(e, strlen(coll));
        mrs_free(o->mem, rel);
    }
    MRS_THEN(st, open_encoder(s, e));
    return st;
}

static enum mrs_status
open_sink(struct mrs_output *o, uint32_t rec, const char *db, const char *coll,
          struct mrs_sink **out, struct mrs_err *e)
{
    struct mrs_sink *s = mrs_zalloc(o->mem, sizeof *s);
    MRS_TRY(mrs_allocated(s, sizeof *s, e));
    s->o = o;
    s->rec = rec;
    s->fd = -1;
    s->own_fd = true;
    enum mrs_status st = open_file(s, db, coll, e);
    if (st != MRS_OK) {
        mrsi_sink_free(s);
        return st;
    }
    pthread_mutex_lock(&o->lock);
    s->next = o->sinks;
    o->sinks = s;
    pthread_mutex_unlock(&o->lock);
    *out = s;
    return MRS_OK;
}

static enum mrs_status
write_metadata(struct mrs_output *o, const char *db, const char *coll, const char *metadata,
               size_t n, struct mrs_err *e)
{
    MRS_ASSERT(metadata || n == 0);
    char *rel = mrsi_output_meta_rel(o, db, coll);
    MRS_TRY(mrs_allocated(rel, strlen(coll), e));
    struct mrsi_small_file piece = {rel, metadata, n, mrsi_meta_codec(o->codec)};
    enum mrs_status s = mrsi_output_piece(o, &piece, e);
    mrs_free(o->mem, rel);
    if (o->kind == MRSI_OUT_FILE) { /* one collection, so one thread */
        o->has_meta = s == MRS_OK;
    }
    return s;
}

/* Checks the name and adds a record. */
static enum mrs_status
enter(struct mrs_output *o, const char *db, const char *coll, uint32_t *rec, struct mrs_err *e)
{
    const char *wrong = mrs_db_wrong(db, strlen(db));
    if (wrong || !*coll) {
        return MRSI_FAIL(e, MRS_E_USAGE, "%s.%s cannot be written: %s", db, coll,
                         wrong ? wrong : "the collection has no name");
    }
    char *ns = mrsi_format(o->mem, "%s.%s", db, coll);
    MRS_TRY(mrs_allocated(ns, strlen(coll), e));
    enum mrs_status s = MRS_OK;
    if (o->single_ns && strcmp(o->single_ns, ns) != 0) {
        s = MRSI_FAIL(e, MRS_E_USAGE, "the output holds %s only, %s has no place in it",
                      o->single_ns, ns);
    }
    mrsi_background_copy_drop(o, ns);
    MRS_THEN(s, mrsi_output_enter(o, ns, false, rec, e));
    mrs_free(o->mem, ns);
    return s;
}

enum mrs_status
mrs_output_coll(struct mrs_output *o, const char *db, const char *coll, const char *metadata,
                size_t metadata_n, bool data, struct mrs_sink **sink, struct mrs_err *e)
{
    MRS_ASSERT(db && coll && (metadata || metadata_n == 0));
    MRS_ASSERT(!o->committed);
    uint32_t rec;
    *sink = NULL;
    enum mrs_status s = enter(o, db, coll, &rec, e);
    if (s == MRS_OK && metadata && o->kind != MRSI_OUT_STDOUT) {
        s = write_metadata(o, db, coll, metadata, metadata_n, e);
    }
    if (s == MRS_OK && data) {
        s = open_sink(o, rec, db, coll, sink, e);
    } else if (s == MRS_OK) {
        s = mrsi_stream_put(o, rec, e);
    }
    return mrsi_output_fail(o, s);
}

bool
mrs_docs_add(struct mrs_docs *d, const struct mrs_salt *salt, const void *doc, size_t n)
{
    MRS_ASSERT(mrs_le32(doc) == n);
    const uint8_t *p = doc;
    if (n < MRS_DOC_MIN || n != mrs_le32(p) || p[n - 1] != 0) {
        return false;
    }
    struct mrs_hash128 h = mrs_hash_salted(salt, p, n);
    mrs_hash_sum_add(&d->digest, h.lo, h.hi);
    d->n++;
    d->bytes += n;
    return true;
}

void
mrs_docs_sum(struct mrs_docs *to, const struct mrs_docs *what)
{
    to->n += what->n;
    to->bytes += what->bytes;
    mrs_hash_sum_add(&to->digest, what->digest.lo, what->digest.hi);
}

static enum mrs_status
no_document(struct mrs_sink *s, uint64_t docs, struct mrs_err *e)
{
    s->failed = true;
    return mrsi_output_fail(s->o, MRSI_FAIL(e, MRS_E_ACCOUNT,
                                            "%s: incomplete document after document %llu",
                                            s->path, (unsigned long long)(s->docs + docs)));
}

enum mrs_status
mrs_sink_write_counted(struct mrs_sink *s, const void *p, size_t n, const struct mrs_docs *d,
                       struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    if (d->bytes != n) {
        return no_document(s, d->n, e);
    }
    mrs_hash_sum_add(&s->digest, d->digest.lo, d->digest.hi);
    s->docs += d->n;
    s->bytes += n;
    if (s->own_fd && s->o->codec == MRS_CODEC_NONE) {
        mrsi_preallocate_ahead(&s->room, s->fd, s->bytes);
    }
    enum mrs_status st = mrsi_encoder_write(s->enc, p, n, e);
    s->failed = s->failed || st != MRS_OK;
    return mrsi_output_fail(s->o, st);
}

enum mrs_status
mrs_sink_write(struct mrs_sink *s, const void *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    struct mrs_docs d = {0, 0, {0, 0}};
    const uint8_t *at = p;
    while (d.bytes < n) {
        size_t left = n - (size_t)d.bytes, size = left >= MRS_DOC_MIN ? mrs_le32(at + d.bytes) : 0;
        if (size > left || !mrs_docs_add(&d, s->o->salt, at + d.bytes, size)) {
            return no_document(s, d.n, e);
        }
    }
    return mrs_sink_write_counted(s, p, n, &d, e);
}

enum mrs_status
mrs_sink_restart(struct mrs_sink *s, struct mrs_err *e)
{
    MRS_ASSERT(!s->failed);
    enum mrs_status st = MRS_OK;
    mrsi_encoder_close(s->enc);
    s->enc = NULL;
    s->docs = s->bytes = 0;
    memset(&s->digest, 0, sizeof s->digest);
    s->room = (struct mrsi_growth){0, false};
    if (lseek(s->fd, 0, SEEK_SET) < 0 || ftruncate(s->fd, 0) < 0) {
        st = mrs_err_sys(e, errno, "emptying %s", s->path);
    }
    MRS_THEN(st, open_encoder(s, e));
    s->failed = st != MRS_OK;
    return mrsi_output_fail(s->o, st);
}

static void
unlist(struct mrs_sink *s)
{
    pthread_mutex_lock(&s->o->lock);
    MRS_ASSERT(s->o->sinks);
    struct mrs_sink **at = &s->o->sinks;
    while (*at && *at != s) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = s->next;
    }
    pthread_mutex_unlock(&s->o->lock);
}

/* Adds the figures of a finished sink to the records. */
static enum mrs_status
record(struct mrs_sink *s, struct mrs_err *e)
{
    struct mrs_output *o = s->o;
    struct stat st;
    if (fstat(s->fd, &st) < 0) {
        return mrs_err_sys(e, errno, "stat %s", s->path);
    }
    MRS_TRY(mrsi_preallocate_end(&s->room, s->fd, s->path, (uint64_t)st.st_size, e));
    pthread_mutex_lock(&o->lock);
    MRS_ASSERT(s->rec < o->n_recs);
    struct mrsi_out_rec *rec = &o->recs[s->rec];
    rec->data = true;
    rec->codec = o->codec;
    rec->docs = s->docs;
    rec->bytes = s->bytes;
    rec->file_bytes = (uint64_t)st.st_size;
    rec->digest = s->digest;
    pthread_mutex_unlock(&o->lock);
    return MRS_OK;
}

enum mrs_status
mrs_sink_close(struct mrs_sink *s, uint64_t docs, struct mrs_hash_sum *digest, struct mrs_err *e)
{
    if (!s) {
        return MRS_OK;
    }
    struct mrs_output *o = s->o;
    enum mrs_status st = MRS_OK;
    uint32_t rec = s->rec;
    unlist(s);
    if (s->failed) {
        st = MRSI_FAIL(e, MRS_E_IO, "%s: writing it has failed before", s->path);
    } else if (docs != s->docs) {
        st = MRSI_FAIL(e, MRS_E_ACCOUNT, "%s: %llu documents were written, %llu were meant",
                       s->path, (unsigned long long)s->docs, (unsigned long long)docs);
    }
    MRS_THEN(st, mrsi_encoder_finish(s->enc, e));
    MRS_THEN(st, record(s, e));
    if (st == MRS_OK && s->own_fd) {
        st = mrsi_output_keep(o, s->fd, s->path, e);
        s->fd = -1;
        s->path = NULL;
    }
    if (digest) {
        *digest = s->digest;
    }
    mrsi_sink_free(s);
    MRS_THEN(st, mrsi_stream_put(o, rec, e));
    return mrsi_output_fail(o, st);
}

/* ---- resuming ---- */
enum mrs_status
mrs_sink_mark(struct mrs_sink *s, bool empty, struct mrs_build *b, struct mrs_err *e)
{
    MRS_ASSERT(s->enc || empty);
    struct mrs_buf pending;
    uint64_t file_bytes = 0;
    const char *rel = s->path + strlen(s->o->partial) + 1;
    mrs_buf_init(&pending, s->o->mem, SIZE_MAX);
    enum mrs_status st = empty ? MRS_OK : mrsi_encoder_mark(s->enc, &file_bytes, &pending, e);
    MRS_THEN(st, mrsi_sync_fd(s->fd, s->path, e));
    mrs_build_text(b, "path", rel, (uint32_t)strlen(rel));
    mrs_build_i64(b, "docs", empty ? 0 : (int64_t)s->docs);
    mrs_build_i64(b, "bytes", empty ? 0 : (int64_t)s->bytes);
    mrs_build_i64(b, "low", empty ? 0 : (int64_t)s->digest.lo);
    mrs_build_i64(b, "high", empty ? 0 : (int64_t)s->digest.hi);
    mrs_build_i64(b, "file", (int64_t)file_bytes);
    mrs_build_text(b, "pending", (const char *)pending.p, (uint32_t)pending.n);
    mrs_buf_clear(&pending);
    s->failed = s->failed || st != MRS_OK;
    return mrsi_output_fail(s->o, st);
}

/* Restores the file of the savepoint, and the bytes that follow it. */
static enum mrs_status
reopen_file(struct mrs_sink *s, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_val pending = mrs_doc_get(d, "pending");
    struct mrsi_encoder_mark saved = {mrsi_saved_number(d, "file"), NULL, 0, 0};
    if (pending.type != MRS_STRING) {
        return mrs_err_checkpoint(e, "its place in %s", s->path);
    }
    uint32_t n;
    saved.pending = mrs_val_text(pending, &n);
    saved.pending_n = n;
    s->docs = mrsi_saved_number(d, "docs");
    s->bytes = mrsi_saved_number(d, "bytes");
    s->digest = (struct mrs_hash_sum){mrsi_saved_number(d, "low"), mrsi_saved_number(d, "high")};
    if (s->o->codec == MRS_CODEC_NONE && saved.file_bytes + n != s->bytes) { /* else a document would be cut */
        return mrs_err_checkpoint(e, "its place in %s", s->path);
    }
    s->fd = open(s->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (s->fd < 0) {
        return mrs_err_sys(e, errno, "open %s", s->path);
    }
    struct mrsi_encoder_to to = encoder_to(s);
    return mrsi_encoder_resume(s->o->mem, &to, &saved, &s->enc, e);
}

enum mrs_status
mrs_output_coll_again(struct mrs_output *o, const char *db, const char *coll, struct mrs_view saved,
                      struct mrs_sink **sink, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    char *ns = mrsi_format(o->mem, "%s.%s", db, coll), *rel = mrsi_output_data_rel(o, db, coll);
    struct mrs_sink *s = mrs_zalloc(o->mem, sizeof *s);
    enum mrs_status st = ns && rel && s ? MRS_OK : mrs_err_memory(e, sizeof *s);
    if (st == MRS_OK) {
        s->o = o;
        s->fd = -1;
        s->own_fd = true;
        s->path = mrsi_format(o->mem, "%s/%s", o->partial, rel);
        while (s->rec < o->n_recs && (o->recs[s->rec].extra || strcmp(o->recs[s->rec].name, ns) != 0)) {
            s->rec++;
        }
        st = !s->path              ? mrs_err_memory(e, 0)
             : s->rec < o->n_recs ? reopen_file(s, saved, e)
                                  : mrs_err_checkpoint(e, "%s is not among its collections", ns);
    }
    if (st == MRS_OK) {
        s->next = o->sinks;
        o->sinks = s;
        *sink = s;
    } else if (s && s->o) {
        mrsi_sink_free(s);
    } else {
        mrs_free(o->mem, s);
    }
    mrs_free(o->mem, ns);
    mrs_free(o->mem, rel);
    return mrsi_output_fail(o, st);
}
