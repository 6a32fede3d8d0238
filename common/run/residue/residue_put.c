/* SPDX-License-Identifier: Apache-2.0 */
/* residue_put.c - restores one collection from its records and the inverse's documents.
 *
 * A savepoint is possible between any two documents that are read or written. A resumed run reads the current record
 * again, and skips the documents already written from it. */
#include "residue.h"

enum residue_put_stage { OFFSETS, DOCS, SAME };

/* ---- documents ---- */
static enum mrs_status
put(void *arg, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_residue_put *p = arg;
    mrsi_digest_add(&p->digest, mrsi_residue_secret(p->r), doc);
    p->wr->docs++;
    p->wr->bytes += doc.n;
    enum mrs_status s = mrs_sink_write(p->sink, doc.p, doc.n, e);
    return s == MRS_OK ? mrsi_pause_after(p->pauses, doc.n, e) : s;
}

static enum mrs_status
open_docs(struct mrsi_residue_put *p, struct mrs_err *e)
{
    return mrsi_docs_open(&p->docs, p->en->mem, p->inverse, p->k, e);
}

/* Copies the inverse's documents unchanged. */
static enum mrs_status
put_same(struct mrsi_residue_put *p, bool opened, struct mrs_err *e)
{
    struct mrs_view doc;
    p->stage = SAME;
    enum mrs_status s = opened ? MRS_OK : open_docs(p, e);
    while (s == MRS_OK && (s = mrsi_docs_next(&p->docs, &doc, e)) == MRS_OK) {
        s = put(p, doc, e);
    }
    mrsi_docs_close(&p->docs);
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
shelve(struct mrsi_residue_put *p, bool opened, struct mrs_err *e)
{
    p->stage = OFFSETS;
    p->shelved = true;
    enum mrs_status s = opened ? MRS_OK : open_docs(p, e);
    MRS_THEN(s, mrsi_doc_offsets_fill(&p->offsets, &p->docs, p->pauses, e));
    mrsi_docs_close(&p->docs);
    p->stage = DOCS;
    return s == MRS_END ? mrsi_doc_offsets_end(&p->offsets, p->inverse, p->k, e) : s;
}

/* ---- records ---- */
static enum mrs_status
next_record(struct mrsi_residue_put *p, enum mrsi_record *type, struct mrs_err *e)
{
    p->at = p->r->at;
    p->records = p->r->records;
    return mrsi_residue_next(p->r, type, e);
}

/* The list of offsets is made for the first record that needs it. */
static enum mrs_status
put_record(struct mrsi_residue_put *p, bool opened, struct mrs_err *e)
{
    if (!p->sink) {
        return mrsi_residue_damaged(p->r, "documents have no place", e);
    }
    bool is_ready = p->shelved && p->stage == DOCS;
    enum mrs_status s = is_ready ? MRS_OK : shelve(p, opened, e);
    return s == MRS_OK ? mrsi_unpack(&p->unpack, e) : s;
}

static enum mrs_status
end(struct mrsi_residue_put *p, bool opened, struct mrs_err *e)
{
    struct mrs_view done;
    bool order;
    enum mrs_status s = mrsi_residue_doc(p->r, &done, e);
    if (s == MRS_OK && mrsi_residue_is(done, "same") && p->sink) {
        s = put_same(p, opened, e);
    }
    if (s == MRS_OK && !mrsi_digest_same(&p->digest, done, &order)) {
        s = mrsi_residue_damaged(p->r, "what comes back is not what was there", e);
    }
    return s;
}

enum mrs_status
mrsi_residue_put_run(struct mrsi_residue_put *p, bool opened, struct mrs_err *e)
{
    enum mrsi_record type = MRSI_DOCS;
    bool at_end = opened && p->stage == SAME;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && (s = next_record(p, &type, e)) == MRS_OK && type == MRSI_DOCS) {
        s = at_end ? mrsi_state_damaged("a collection that comes back", e) : put_record(p, opened, e);
        opened = false;
    }
    if (s == MRS_OK && type != MRSI_DONE) {
        return mrsi_residue_damaged(p->r, "a collection does not end", e);
    }
    if (s == MRS_OK && opened && !at_end) {
        return mrsi_state_damaged("a collection that comes back", e);
    }
    return s == MRS_OK ? end(p, opened, e) : s;
}

void
mrsi_residue_put_init(struct mrsi_residue_put *p, struct mrsi_engine *en, struct mrs_residue *r)
{
    memset(p, 0, sizeof *p);
    p->en = en;
    p->r = r;
    mrs_block_init(&p->docs.b, en->mem);
    mrsi_doc_offsets_init(&p->offsets, en);
    mrsi_unpack_begin(&p->unpack, en->mem, r, &p->offsets);
    p->unpack.put = put;
    p->unpack.arg = p;
}

void
mrsi_residue_put_clear(struct mrsi_residue_put *p)
{
    mrsi_docs_close(&p->docs);
    mrsi_doc_offsets_close(&p->offsets);
    mrsi_unpack_clear(&p->unpack);
}

/* ---- savepoints ---- */
static bool
reads(const struct mrsi_residue_put *p)
{
    return p->stage != DOCS;
}

enum mrs_status
mrsi_residue_put_save(struct mrsi_residue_put *p, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    mrs_build_i64(b, "stage", p->stage);
    mrs_build_i64(b, "at", (int64_t)p->at);
    mrs_build_i64(b, "records", (int64_t)p->records);
    mrsi_state_put_bytes(b, "digest", &p->digest, sizeof p->digest);
    mrsi_unpack_save(&p->unpack, b);
    if (reads(p)) {
        mrsi_docs_save(&p->docs, "docs", b);
    }
    return p->stage == SAME ? MRS_OK : mrsi_doc_offsets_save(&p->offsets, b, files, e);
}

static enum mrs_status
apply_numbers(struct mrsi_residue_put *p, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    size_t n;
    p->stage = (unsigned)mrsi_state_number(saved, "stage", SAME, &bad);
    p->r->at = mrsi_state_number(saved, "at", p->r->size, &bad);
    p->r->records = mrsi_state_number(saved, "records", INT64_MAX, &bad);
    const uint8_t *digest = mrsi_state_bytes(saved, "digest", &n, &bad);
    if (bad || n != sizeof p->digest || !p->sink) {
        return mrsi_state_damaged("a collection that comes back", e);
    }
    memcpy(&p->digest, digest, n);
    return p->digest.docs == p->wr->docs ? MRS_OK : mrsi_state_damaged("a collection that comes back", e);
}

static enum mrs_status
load_offsets(struct mrsi_residue_put *p, struct mrs_view saved, struct mrs_err *e)
{
    p->shelved = true;
    enum mrs_status s = mrsi_doc_offsets_load(&p->offsets, saved, p->stage == DOCS, e);
    return s == MRS_OK && p->stage == DOCS ? mrsi_doc_offsets_end(&p->offsets, p->inverse, p->k, e) : s;
}

enum mrs_status
mrsi_residue_put_load(struct mrsi_residue_put *p, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    enum mrs_status s = apply_numbers(p, saved, e);
    MRS_THEN(s, mrsi_unpack_load(&p->unpack, saved, e));
    if (s == MRS_OK && reads(p)) {
        s = open_docs(p, e);
        MRS_THEN(s, mrsi_docs_load(&p->docs, saved, "docs", e));
    }
    return s == MRS_OK && p->stage != SAME ? load_offsets(p, saved, e) : s;
}
