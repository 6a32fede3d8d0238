/* SPDX-License-Identifier: Apache-2.0 */
/* archive_write.c - the bytes of an archive, one namespace at a time.
 *
 * A namespace is one block and the closing block, as mongodump writes a small collection; so no reader needs more than
 * one of them open at a time. The closing block of the newest namespace is delayed until the next one or the end: an
 * aborted archive lacks it, and mongorestore refuses such an archive. */
#include "archive_out.h"

static enum mrs_status
put(struct mrsi_archive_out *out, const void *p, size_t n, struct mrs_err *e)
{
    return mrsi_encoder_write(out->enc, p, n, e);
}

static void
text(struct mrs_build *b, const char *name, const char *value)
{
    mrs_build_text(b, name, value, (uint32_t)strlen(value));
}

static enum mrs_status
put_doc(struct mrsi_archive_out *out, struct mrs_build *b, struct mrs_err *e)
{
    struct mrs_view doc;
    enum mrs_status s = mrs_build_finish(b, &doc, e);
    return s == MRS_OK ? put(out, doc.p, doc.n, e) : s;
}

enum mrs_status
mrsi_archive_out_open(struct mrs_output *o, struct mrsi_resumable *resumed, const char *name,
                      struct mrsi_archive_out *out, struct mrs_err *e)
{
    uint8_t magic[4];
    memset(out, 0, sizeof *out);
    out->mem = o->mem;
    out->name = name;
    mrs_buf_init(&out->buf, o->mem, MRS_DOC_MAX);
    mrs_put32(magic, MRSI_ARCHIVE_MAGIC);
    out->resumed = resumed;
    struct mrsi_encoder_to to = {resumed->fd, name, o->pack, 0, o->pool, false, 0};
    enum mrs_status s = mrsi_resumable_encoder(o->mem, resumed, &to, &out->enc, e);
    return s == MRS_OK && !mrsi_resumable_is_resumed(resumed) ? put(out, magic, sizeof magic, e) : s;
}

void
mrsi_archive_out_clear(struct mrsi_archive_out *out)
{
    mrsi_encoder_close(out->enc);
    out->enc = NULL;
    mrs_buf_clear(&out->buf);
    mrs_free(out->mem, out->db);
    mrs_free(out->mem, out->coll);
    out->db = out->coll = NULL;
}

enum mrs_status
mrsi_archive_put_head(struct mrsi_archive_out *out, const struct mrsi_archive_head *head, struct mrs_err *e)
{
    MRS_ASSERT(out->enc);
    struct mrs_build b;
    uint8_t room[16];
    mrs_buf_reset(&out->buf);
    mrs_build_init(&b, &out->buf);
    mrs_build_val(&b, "concurrent_collections", 22, mrs_make_i32(room, (int32_t)head->concurrent));
    text(&b, "version", "0.1");
    text(&b, "server_version", head->server_version);
    text(&b, "tool_version", head->tool_version);
    return put_doc(out, &b, e);
}

enum mrs_status
mrsi_archive_put_entry(struct mrsi_archive_out *out, const struct mrsi_archive_entry *entry, struct mrs_err *e)
{
    MRS_ASSERT(out->enc && entry->db && entry->coll);
    struct mrs_build b;
    uint8_t room[16];
    if (entry->metadata_n > MRS_DOC_MAX / 2) {
        return MRSI_FAIL(e, MRS_E_LIMIT, "%s.%s: metadata of %u bytes have no place in an archive", entry->db,
                         entry->coll, entry->metadata_n);
    }
    mrs_buf_reset(&out->buf);
    mrs_build_init(&b, &out->buf);
    text(&b, "db", entry->db);
    text(&b, "collection", entry->coll);
    mrs_build_text(&b, "metadata", entry->metadata, entry->metadata_n);
    mrs_build_val(&b, "size", 4, mrs_make_i32(room, 0));
    text(&b, "type", entry->type);
    return put_doc(out, &b, e);
}

enum mrs_status
mrsi_archive_put_end(struct mrsi_archive_out *out, struct mrs_err *e)
{
    uint8_t end[4];
    mrs_put32(end, MRSI_ARCHIVE_END);
    return put(out, end, sizeof end, e);
}

static enum mrs_status
put_block_head(struct mrsi_archive_out *out, const char *db, const char *coll, bool last, struct mrs_err *e)
{
    struct mrs_build b;
    mrs_buf_reset(&out->buf);
    mrs_build_init(&b, &out->buf);
    text(&b, "db", db);
    text(&b, "collection", coll);
    mrs_build_bool(&b, "EOF", last);
    mrs_build_i64(&b, "CRC", last ? (int64_t)out->crc : 0);
    return put_doc(out, &b, e);
}

static enum mrs_status
close_newest(struct mrsi_archive_out *out, struct mrs_err *e)
{
    if (!out->db) {
        return MRS_OK;
    }
    enum mrs_status s = put_block_head(out, out->db, out->coll, true, e);
    MRS_THEN(s, mrsi_archive_put_end(out, e));
    mrs_free(out->mem, out->db);
    mrs_free(out->mem, out->coll);
    out->db = out->coll = NULL;
    return s;
}

/* Documents in archives have at most 16 MiB, although those of a directory's oplog may have more. */
static enum mrs_status
check_sizes(const struct mrs_block *b, const char *db, const char *coll, struct mrs_err *e)
{
    MRS_ASSERT(b->n <= b->cap);
    for (size_t at = 0; at < b->n; at += mrs_le32(b->p + at)) {
        if (mrs_le32(b->p + at) > MRS_DOC_MAX) {
            return MRSI_FAIL(e, MRS_E_LIMIT,
                             "%s%s%s: a document of %u bytes, and archives take none over %u: write a directory", db,
                             *db ? "." : "", coll, mrs_le32(b->p + at), MRS_DOC_MAX);
        }
    }
    return MRS_OK;
}

static enum mrs_status
put_documents(struct mrsi_archive_out *out, const char *db, const char *coll, struct mrs_reader *r, struct mrs_err *e)
{
    struct mrs_block b;
    enum mrs_status s = MRS_OK;
    mrs_block_init(&b, out->mem);
    while (r && s == MRS_OK) {
        s = mrs_reader_next(r, &b, e);
        MRS_THEN(s, check_sizes(&b, db, coll, e));
        if (s == MRS_OK) {
            out->crc = mrsi_crc64(out->crc, b.p, b.n);
            out->docs += b.n_docs;
            s = put(out, b.p, b.n, e);
            mrs_reader_where(r, &out->at);
            MRS_THEN(s, mrsi_resumable_rest(out->resumed, b.n, e));
        }
    }
    mrs_block_clear(&b);
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
mrsi_archive_put_ns(struct mrsi_archive_out *out, const char *db, const char *coll, struct mrs_reader *r, bool begun,
                    struct mrs_err *e)
{
    MRS_ASSERT(out->enc && db && coll);
    enum mrs_status s = close_newest(out, e);
    if (s == MRS_OK) {
        out->db = mrs_strndup(out->mem, db, strlen(db));
        out->coll = mrs_strndup(out->mem, coll, strlen(coll));
        s = out->db && out->coll ? MRS_OK : mrs_err_memory(e, strlen(coll));
    }
    if (s == MRS_OK && !begun) {
        out->crc = out->docs = 0;
        s = put_block_head(out, db, coll, false, e);
    }
    MRS_THEN(s, put_documents(out, db, coll, r, e));
    return s == MRS_OK ? mrsi_archive_put_end(out, e) : s;
}

enum mrs_status
mrsi_archive_out_finish(struct mrsi_archive_out *out, struct mrs_err *e)
{
    MRS_ASSERT(out->enc);
    enum mrs_status s = close_newest(out, e);
    return s == MRS_OK ? mrsi_encoder_finish(out->enc, e) : s;
}
