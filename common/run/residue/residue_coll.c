/* SPDX-License-Identifier: Apache-2.0 */
/* residue_coll.c - compares one collection of the input with the inverse's result, and writes the differences to the
 * residue.
 *
 * It is a series of stages, each of which reads documents or sorted hashes one by one and can be interrupted between
 * two of them: a savepoint has the state of the current stage. */
#include "residue.h"
#include "mongoreshape/inverse.h"

enum residue_coll_stage { EQUAL, OFFSETS, FROM, BACK, MATCH, DOCS, DIGEST, DONE };

/* ---- input of a stage ---- */
static bool
reads_from(const struct mrsi_residue_coll *c)
{
    return c->stage == EQUAL || c->stage == FROM || c->stage == DOCS || c->stage == DIGEST;
}

static bool
reads_back(const struct mrsi_residue_coll *c)
{
    return c->stage == EQUAL || c->stage == OFFSETS || c->stage == BACK;
}

static bool
has_offsets(const struct mrsi_residue_coll *c)
{
    return c->stage >= OFFSETS && c->stage <= DOCS;
}

static enum mrs_status
open_stage(struct mrsi_residue_coll *c, struct mrs_err *e)
{
    MRS_ASSERT(!c->from.reader && !c->back.reader);
    enum mrs_status s = MRS_OK;
    if (reads_from(c)) {
        s = mrsi_docs_open(&c->from, c->en->mem, c->in, c->i, e);
    }
    if (s == MRS_OK && reads_back(c)) {
        s = mrsi_docs_open(&c->back, c->en->mem, c->inverse, c->k, e);
    }
    return s;
}

static void
begin_sorter(struct mrsi_residue_coll *c, struct mrsi_sorter *s)
{
    mrsi_sorter_clear(s);
    mrsi_sorter_init(s, c->en, c->en->memory / 8);
    s->kept = true;
}

/* ---- stages; each returns END when it is complete ---- */
static enum mrs_status
compare(struct mrsi_residue_coll *c, struct mrs_err *e)
{
    struct mrs_view x = mrs_empty_doc(), y = x;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && c->same) {
        s = mrsi_docs_next(&c->from, &x, e);
        enum mrs_status t = s >= MRS_OK ? mrsi_docs_next(&c->back, &y, e) : s;
        if (t < MRS_OK) {
            return t;
        }
        c->same = s == t && (s == MRS_END || (x.n == y.n && memcmp(x.p, y.p, x.n) == 0));
        MRS_THEN(s, mrsi_pause_after(c->pauses, x.n, e));
    }
    return s < MRS_OK ? s : MRS_END;
}

static enum mrs_status
shelve(struct mrsi_residue_coll *c, struct mrs_err *e)
{
    MRS_ASSERT(c->stage == OFFSETS);
    enum mrs_status s = mrsi_doc_offsets_fill(&c->offsets, &c->back, c->pauses, e);
    enum mrs_status t = s == MRS_END ? mrsi_doc_offsets_end(&c->offsets, c->inverse, c->k, e) : s;
    return t == MRS_OK ? s : t;
}

static enum mrs_status
hash_side(struct mrsi_residue_coll *c, struct mrsi_docs *docs, struct mrsi_sorter *to, struct mrs_err *e)
{
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && (s = mrsi_docs_next(docs, &doc, e)) == MRS_OK) {
        s = mrsi_residue_hashes(to, c->no++, doc, &c->key, e);
        MRS_THEN(s, mrsi_pause_after(c->pauses, doc.n, e));
    }
    return s;
}

static enum mrs_status
next_pair(struct mrsi_residue_coll *c, struct mrs_err *e)
{
    enum mrs_status s = mrsi_sorter_next(&c->pairs, &c->pair, e);
    c->more = s == MRS_OK;
    if (c->more && (c->pair.key_len != MRSI_PAIR_KEY || c->pair.n != 8 || mrs_le64(c->pair.p) >= c->offsets.n)) {
        return mrsi_state_damaged("pairs of documents", e);
    }
    return s == MRS_END ? MRS_OK : s;
}

/* Finds the pair of document `no`: an equal document if there is one. A pair that was read ahead stays. */
static enum mrs_status
pair_of(struct mrsi_residue_coll *c, uint64_t no, uint64_t *found, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    *found = UINT64_MAX;
    while (s == MRS_OK && c->more && mrsi_get_be(c->pair.key, 8) <= no) {
        if (mrsi_get_be(c->pair.key, 8) == no && *found == UINT64_MAX) {
            *found = mrs_le64(c->pair.p);
        }
        s = next_pair(c, e);
    }
    return s;
}

static enum mrs_status
put_one(struct mrsi_residue_coll *c, uint64_t no, struct mrs_view doc, struct mrs_err *e)
{
    struct mrs_view base = mrs_empty_doc();
    if (no == UINT64_MAX) {
        c->kinds |= MRS_LOSS_DOCUMENTS;
        return mrsi_pack_add(&c->pack, MRSI_NEW, 0, base, doc, e);
    }
    MRS_TRY(mrsi_doc_offsets_get(&c->offsets, no, &base, e));
    c->kinds |= c->taken && no < c->last ? MRS_LOSS_ORDER : 0;
    c->last = no;
    c->taken++;
    if (base.n == doc.n && memcmp(base.p, doc.p, doc.n) == 0) {
        return mrsi_pack_add(&c->pack, MRSI_TAKE, no, base, doc, e);
    }
    unsigned kinds;
    enum mrs_status s = mrsi_residue_kinds(doc, base, &c->scratch, &kinds, e);
    c->kinds |= kinds;
    return s == MRS_OK ? mrsi_pack_add(&c->pack, MRSI_MEND, no, base, doc, e) : s;
}

/* A savepoint comes before a pair that was read ahead. */
static enum mrs_status
rest_in_docs(struct mrsi_residue_coll *c, uint64_t bytes, struct mrs_err *e)
{
    MRS_ASSERT(c->stage == DOCS);
    if (!mrsi_pause_is_due(c->pauses, bytes)) {
        return MRS_OK;
    }
    bool more = c->more;
    if (more) {
        mrsi_sorter_unread(&c->pairs);
    }
    enum mrs_status s = mrsi_rest(c->pauses, e);
    return s == MRS_OK && more ? next_pair(c, e) : s;
}

static enum mrs_status
put_docs(struct mrsi_residue_coll *c, struct mrs_err *e)
{
    MRS_ASSERT(c->stage == DOCS);
    struct mrs_view doc;
    uint64_t found;
    enum mrs_status s = mrsi_sorter_resume(&c->pairs, e);
    MRS_THEN(s, next_pair(c, e));
    while (s == MRS_OK && (s = mrsi_docs_next(&c->from, &doc, e)) == MRS_OK) {
        s = pair_of(c, c->no++, &found, e);
        MRS_THEN(s, put_one(c, found, doc, e));
        MRS_THEN(s, rest_in_docs(c, doc.n, e));
    }
    c->kinds |= s == MRS_END && c->offsets.n > c->taken ? MRS_LOSS_SURPLUS : 0;
    enum mrs_status t = s == MRS_END ? mrsi_pack_end(&c->pack, e) : s;
    return t == MRS_OK ? s : t;
}

static enum mrs_status
one_stage(struct mrsi_residue_coll *c, struct mrs_err *e)
{
    switch ((enum residue_coll_stage)c->stage) {
    case EQUAL: return compare(c, e);
    case OFFSETS: return shelve(c, e);
    case FROM: return hash_side(c, &c->from, &c->from_hashes, e);
    case BACK: return hash_side(c, &c->back, &c->back_hashes, e);
    case MATCH: {
        enum mrs_status s = mrsi_residue_match(&c->from_hashes, &c->back_hashes, &c->pairs, c->pauses, e);
        return s == MRS_OK ? MRS_END : s;
    }
    case DOCS: return put_docs(c, e);
    case DIGEST: return mrsi_digest_run(&c->digest, &c->en->secret, &c->from, c->pauses, e);
    case DONE: break;
    }
    return MRS_END;
}

static void
end_stage(struct mrsi_residue_coll *c)
{
    MRS_ASSERT(c->stage < DONE);
    mrsi_docs_close(&c->from);
    mrsi_docs_close(&c->back);
    c->no = 0;
    if (c->stage == MATCH) {
        begin_sorter(c, &c->from_hashes);
        begin_sorter(c, &c->back_hashes);
    } else if (c->stage == DOCS) {
        begin_sorter(c, &c->pairs);
        mrsi_doc_offsets_close(&c->offsets);
        mrsi_pack_clear(&c->pack);
    }
    c->stage = c->stage == EQUAL && c->same ? DIGEST : c->stage + 1;
}

/* ---- all stages ---- */
void
mrsi_residue_coll_init(struct mrsi_residue_coll *c, struct mrsi_engine *en, struct mrsi_residue_out *out,
                       struct mrsi_pause_clock *pauses)
{
    MRS_ASSERT(pauses);
    memset(c, 0, sizeof *c);
    c->en = en;
    c->pauses = pauses;
    c->same = true;
    mrs_buf_init(&c->key, en->mem, MRS_KEY_MAX);
    mrs_buf_init(&c->scratch, en->mem, MRSI_RESIDUE_MAX);
    mrs_block_init(&c->from.b, en->mem);
    mrs_block_init(&c->back.b, en->mem);
    mrsi_doc_offsets_init(&c->offsets, en);
    mrsi_pack_begin(&c->pack, en->mem, out);
    begin_sorter(c, &c->from_hashes);
    begin_sorter(c, &c->back_hashes);
    begin_sorter(c, &c->pairs);
}

void
mrsi_residue_coll_clear(struct mrsi_residue_coll *c)
{
    mrsi_docs_close(&c->from);
    mrsi_docs_close(&c->back);
    mrsi_sorter_clear(&c->from_hashes);
    mrsi_sorter_clear(&c->back_hashes);
    mrsi_sorter_clear(&c->pairs);
    mrsi_doc_offsets_close(&c->offsets);
    mrsi_pack_clear(&c->pack);
    mrs_buf_clear(&c->key);
    mrs_buf_clear(&c->scratch);
}

enum mrs_status
mrsi_residue_coll_run(struct mrsi_residue_coll *c, bool opened, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && c->stage != DONE) {
        s = opened ? MRS_OK : open_stage(c, e);
        opened = false;
        MRS_THEN(s, one_stage(c, e));
        if (s == MRS_END) {
            end_stage(c);
            s = MRS_OK;
        }
    }
    return s;
}

/* ---- savepoints ---- */
static enum mrs_status
describe_gathered(struct mrsi_residue_coll *c, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = has_offsets(c) ? mrsi_doc_offsets_save(&c->offsets, b, files, e) : MRS_OK;
    if (s == MRS_OK && c->stage >= FROM && c->stage <= MATCH) {
        s = mrsi_sorter_save(&c->from_hashes, "fromHashes", b, files, e);
        MRS_THEN(s, mrsi_sorter_save(&c->back_hashes, "backHashes", b, files, e));
    }
    if (s == MRS_OK && (c->stage == MATCH || c->stage == DOCS)) {
        s = mrsi_sorter_save(&c->pairs, "pairs", b, files, e);
    }
    return s == MRS_OK && c->stage == DOCS ? mrsi_pack_save(&c->pack, c->en, b, files, e) : s;
}

enum mrs_status
mrsi_residue_coll_save(struct mrsi_residue_coll *c, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    mrs_build_i64(b, "stage", c->stage);
    mrs_build_i64(b, "same", c->same);
    mrs_build_i64(b, "kinds", c->kinds);
    mrs_build_i64(b, "no", (int64_t)c->no);
    mrs_build_i64(b, "taken", (int64_t)c->taken);
    mrs_build_i64(b, "last", (int64_t)c->last);
    mrsi_state_put_bytes(b, "digest", &c->digest, sizeof c->digest);
    if (reads_from(c)) {
        mrsi_docs_save(&c->from, "from", b);
    }
    if (reads_back(c)) {
        mrsi_docs_save(&c->back, "back", b);
    }
    return describe_gathered(c, b, files, e);
}

static enum mrs_status
apply_numbers(struct mrsi_residue_coll *c, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    size_t n;
    c->stage = (unsigned)mrsi_state_number(saved, "stage", DIGEST, &bad);
    c->same = mrsi_state_number(saved, "same", 1, &bad);
    c->kinds = (unsigned)mrsi_state_number(saved, "kinds", UINT32_MAX, &bad);
    c->no = mrsi_state_number(saved, "no", INT64_MAX, &bad);
    c->taken = mrsi_state_number(saved, "taken", INT64_MAX, &bad);
    c->last = mrsi_state_number(saved, "last", INT64_MAX, &bad);
    const uint8_t *p = mrsi_state_bytes(saved, "digest", &n, &bad);
    if (bad || n != sizeof c->digest || (c->same && has_offsets(c))) {
        return mrsi_state_damaged("what is compared", e);
    }
    memcpy(&c->digest, p, n);
    return MRS_OK;
}

static enum mrs_status
load_offsets(struct mrsi_residue_coll *c, struct mrs_view saved, struct mrs_err *e)
{
    enum mrs_status s = mrsi_doc_offsets_load(&c->offsets, saved, c->stage != OFFSETS, e);
    return s == MRS_OK && c->stage != OFFSETS ? mrsi_doc_offsets_end(&c->offsets, c->inverse, c->k, e) : s;
}

static enum mrs_status
apply_gathered(struct mrsi_residue_coll *c, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    enum mrs_status s = has_offsets(c) ? load_offsets(c, saved, e) : MRS_OK;
    if (s == MRS_OK && c->stage >= FROM && c->stage <= MATCH) {
        s = mrsi_sorter_load(&c->from_hashes, saved, "fromHashes", e);
        MRS_THEN(s, mrsi_sorter_load(&c->back_hashes, saved, "backHashes", e));
    }
    if (s == MRS_OK && (c->stage == MATCH || c->stage == DOCS)) {
        s = mrsi_sorter_load(&c->pairs, saved, "pairs", e);
    }
    return s == MRS_OK && c->stage == DOCS ? mrsi_pack_load(&c->pack, c->en, saved, e) : s;
}

enum mrs_status
mrsi_residue_coll_load(struct mrsi_residue_coll *c, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    enum mrs_status s = apply_numbers(c, saved, e);
    MRS_THEN(s, open_stage(c, e));
    s = s == MRS_OK && reads_from(c) ? mrsi_docs_load(&c->from, saved, "from", e) : s;
    s = s == MRS_OK && reads_back(c) ? mrsi_docs_load(&c->back, saved, "back", e) : s;
    return s == MRS_OK ? apply_gathered(c, saved, e) : s;
}
