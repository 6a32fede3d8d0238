/* SPDX-License-Identifier: Apache-2.0 */
/* residue_docs.c - reads documents of a namespace in order, or by number; and a digest of a sequence of documents. */
#include "residue.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define WINDOW (256u << 10) /* read at once for sequential access */
#define NARROW 1024u        /* for random access */

/* ---- in order ---- */
enum mrs_status
mrsi_docs_open(struct mrsi_docs *d, struct mrs_mem *mem, struct mrs_input *in, uint32_t i, struct mrs_err *e)
{
    MRS_ASSERT(i == MRSI_NONE || i < mrs_input_count(in));
    memset(d, 0, sizeof *d);
    mrs_block_init(&d->b, mem);
    bool any = i != MRSI_NONE && mrs_input_at(in, i)->data_path;
    return any ? mrs_reader_open(in, i, MRSI_BLOCK, &d->reader, e) : MRS_OK;
}

enum mrs_status
mrsi_docs_next(struct mrsi_docs *d, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(d->at <= d->b.n);
    if (!d->reader) {
        return MRS_END;
    }
    if (d->at == d->b.n) {
        mrs_reader_where(d->reader, &d->begin);
        enum mrs_status s = mrs_reader_next(d->reader, &d->b, e);
        d->at = 0;
        if (s != MRS_OK) {
            d->b.n = 0;
            return s;
        }
    }
    *doc = (struct mrs_view){d->b.p + d->at, mrs_le32(d->b.p + d->at)};
    d->at += doc->n;
    return MRS_OK;
}

void
mrsi_docs_close(struct mrsi_docs *d)
{
    mrs_reader_close(d->reader);
    mrs_block_clear(&d->b);
    d->reader = NULL;
}

void
mrsi_docs_save(const struct mrsi_docs *d, const char *name, struct mrs_build *b)
{
    MRS_ASSERT(d->at <= d->b.n);
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    mrsi_save_place(&d->begin, b);
    mrs_build_i64(b, "in", (int64_t)d->at);
    mrs_build_close(b);
}

/* Releases so many bytes of the next block: whole documents. */
static enum mrs_status
skip(struct mrsi_docs *d, uint64_t bytes, struct mrs_err *e)
{
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && d->at < bytes) {
        s = d->at && d->at == d->b.n ? MRS_END : mrsi_docs_next(d, &doc, e);
    }
    return s >= MRS_OK && d->at != bytes ? mrsi_state_damaged("where documents are compared", e) : s;
}

enum mrs_status
mrsi_docs_load(struct mrsi_docs *d, struct mrs_view saved, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    struct mrs_view x = mrsi_savepoint_doc(saved, name);
    struct mrs_reader_at at = mrsi_load_place(x, &bad);
    uint64_t in = mrsi_state_number(x, "in", INT64_MAX, &bad);
    if (bad || (!d->reader && in)) {
        return mrsi_state_damaged("where documents are compared", e);
    }
    enum mrs_status s = d->reader ? mrs_reader_go_on(d->reader, &at, e) : MRS_OK;
    d->begin = at;
    return s == MRS_OK ? skip(d, in, e) : s;
}

/* ---- by number ---- */
void
mrsi_doc_offsets_init(struct mrsi_doc_offsets *s, struct mrsi_engine *en)
{
    memset(s, 0, sizeof *s);
    s->fd = -1;
    mrs_buf_init(&s->window, en->mem, SIZE_MAX);
    mrsi_file_array_init(&s->off, en, sizeof s->end, en->memory / 16);
    s->off.kept = true;
}

static enum mrs_status
note_offset(struct mrsi_doc_offsets *s, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(!s->off.ended);
    enum mrs_status st = s->n ? MRS_OK : mrsi_file_array_put(&s->off, &s->end, e);
    s->end += doc.n;
    s->n++;
    return st == MRS_OK ? mrsi_file_array_put(&s->off, &s->end, e) : st;
}

static enum mrs_status
open_data(struct mrsi_doc_offsets *s, struct mrs_input *in, uint32_t i, struct mrs_err *e)
{
    const char *path = i == MRSI_NONE ? NULL : mrs_input_at(in, i)->data_path;
    s->fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    return path && s->fd < 0 ? mrs_err_sys(e, errno, "opening %s", path) : MRS_OK;
}

enum mrs_status
mrsi_doc_offsets_end(struct mrsi_doc_offsets *s, struct mrs_input *in, uint32_t i, struct mrs_err *e)
{
    MRS_ASSERT(s->fd < 0);
    enum mrs_status st = s->off.ended ? MRS_OK : mrsi_file_array_end(&s->off, e);
    return st == MRS_OK ? open_data(s, in, i, e) : st;
}

enum mrs_status
mrsi_doc_offsets_fill(struct mrsi_doc_offsets *s, struct mrsi_docs *d, struct mrsi_pause_clock *pauses,
                      struct mrs_err *e)
{
    struct mrs_view doc;
    enum mrs_status st = MRS_OK;
    while (st == MRS_OK && (st = mrsi_docs_next(d, &doc, e)) == MRS_OK) {
        st = note_offset(s, doc, e);
        MRS_THEN(st, mrsi_pause_after(pauses, doc.n, e));
    }
    return st;
}

enum mrs_status
mrsi_doc_offsets_save(struct mrsi_doc_offsets *s, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_i64(b, "shelved", (int64_t)s->n);
    mrs_build_i64(b, "shelfEnd", (int64_t)s->end);
    return mrsi_file_array_save(&s->off, "shelf", b, files, e);
}

enum mrs_status
mrsi_doc_offsets_load(struct mrsi_doc_offsets *s, struct mrs_view saved, bool ended, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    s->n = mrsi_state_number(saved, "shelved", INT64_MAX / 8 - 1, &bad);
    s->end = mrsi_state_number(saved, "shelfEnd", INT64_MAX, &bad);
    enum mrs_status st = bad ? mrsi_state_damaged("where documents stand", e) : MRS_OK;
    MRS_THEN(st, mrsi_file_array_load(&s->off, saved, "shelf", e));
    bool fits = s->off.n == s->n + (s->n > 0) && s->off.ended == ended;
    return st == MRS_OK && !fits ? mrsi_state_damaged("where documents stand", e) : st;
}

enum mrs_status
mrsi_doc_offsets_get(struct mrsi_doc_offsets *s, uint64_t no, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(no < s->n);
    uint64_t at[2];
    memcpy(at, s->off.p + no * sizeof *at, sizeof at);
    if (at[1] > s->end || at[0] > at[1] || at[1] - at[0] > MRS_DOC_READ_MAX) {
        return mrsi_state_damaged("where documents stand", e);
    }
    if (at[0] < s->window_at || at[1] > s->window_at + s->window.n) {
        uint64_t n = at[0] == s->next ? WINDOW : NARROW;
        n = n > at[1] - at[0] ? n : at[1] - at[0];
        n = n < s->end - at[0] ? n : s->end - at[0];
        mrs_buf_reset(&s->window);
        uint8_t *to = mrs_buf_take(&s->window, n);
        MRS_TRY(mrs_allocated(to, n, e));
        s->window_at = at[0];
        enum mrs_status st = mrs_read_at(s->fd, to, n, at[0], e);
        if (st != MRS_OK) {
            s->window.n = 0;
            return st;
        }
    }
    s->next = at[1];
    *doc = (struct mrs_view){s->window.p + (at[0] - s->window_at), (uint32_t)(at[1] - at[0])};
    return MRS_OK;
}

void
mrsi_doc_offsets_close(struct mrsi_doc_offsets *s)
{
    if (s->fd >= 0) {
        close(s->fd);
    }
    s->fd = -1;
    mrsi_file_array_clear(&s->off);
    mrs_buf_clear(&s->window);
}

/* ---- digests ---- */
enum hashed { OF_DOCUMENT, OF_ORDER };

static struct mrs_hash128
hash_of(const struct mrs_secret *secret, enum hashed what, const void *p, size_t n)
{
    return secret ? mrs_hash_secret(secret, what, p, n) : mrs_hash(p, n, 0);
}

void
mrsi_digest_add(struct mrsi_digest *d, const struct mrs_secret *secret, struct mrs_view doc)
{
    struct mrs_hash128 h = hash_of(secret, OF_DOCUMENT, doc.p, doc.n);
    d->docs++;
    mrs_hash_sum_add(&d->sum, h.lo, h.hi);
    mrs_put64(d->order + 16, h.lo);
    mrs_put64(d->order + 24, h.hi);
    h = hash_of(secret, OF_ORDER, d->order, sizeof d->order);
    mrs_put64(d->order, h.lo);
    mrs_put64(d->order + 8, h.hi);
}

enum mrs_status
mrsi_digest_run(struct mrsi_digest *d, const struct mrs_secret *secret, struct mrsi_docs *docs,
                struct mrsi_pause_clock *pauses, struct mrs_err *e)
{
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && (s = mrsi_docs_next(docs, &doc, e)) == MRS_OK) {
        mrsi_digest_add(d, secret, doc);
        s = mrsi_pause_after(pauses, doc.n, e);
    }
    return s;
}

static void
hex(char text[33], uint64_t hi, uint64_t lo)
{
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)hi, (unsigned long long)lo);
}

void
mrsi_digest_put(const struct mrsi_digest *d, struct mrs_build *b)
{
    char text[33];
    mrs_build_i64(b, "docs", (int64_t)d->docs);
    hex(text, d->sum.hi, d->sum.lo);
    mrs_build_text(b, "digest", text, 32);
    hex(text, mrs_le64(d->order + 8), mrs_le64(d->order));
    mrs_build_text(b, "order", text, 32);
}

bool
mrsi_digest_same(const struct mrsi_digest *d, struct mrs_view in, bool *other_order)
{
    char text[33];
    int64_t docs;
    hex(text, d->sum.hi, d->sum.lo);
    bool same = mrs_val_integral(mrs_doc_get(in, "docs"), &docs) && (uint64_t)docs == d->docs &&
                mrs_val_is_text(mrs_doc_get(in, "digest"), text);
    hex(text, mrs_le64(d->order + 8), mrs_le64(d->order));
    *other_order = same && !mrs_val_is_text(mrs_doc_get(in, "order"), text);
    return same && !*other_order;
}
