/* residue_match.c - which of the inverse's documents is which of the input's: by their bytes, else by their `_id`.
 *
 * Hashes of both sides are sorted and merged within the budget, so the k-th of several equal documents meets the k-th.
 * A hash decides nothing: whoever uses a pair compares the bytes. */
#include "residue.h"

#define KEY 17 /* kind, hash */

static void
key_of(uint8_t key[KEY], uint8_t kind, const void *p, size_t n)
{
    struct mrs_hash128 h = mrs_hash(p, n, 0);
    key[0] = kind;
    mrs_put64(key + 1, h.lo);
    mrs_put64(key + 9, h.hi);
}

/* Equal `_id`s have equal keys, whatever the type of a number; one that has no key counts by its bytes. */
static enum mrs_status
id_key(uint8_t key[KEY], struct mrs_view doc, struct mrs_buf *scratch, struct mrs_err *e)
{
    struct mrs_val id = mrs_doc_get(doc, "_id");
    mrs_buf_reset(scratch);
    mrs_key_append(scratch, id, false);
    if (scratch->bad == 1) {
        return mrs_err_memory(e, id.n);
    }
    bool good = !scratch->bad;
    key_of(key, 1, good ? scratch->p : id.p, good ? scratch->n : id.n);
    return MRS_OK;
}

static enum mrs_status
put_side(struct mrsi_engine *en, struct mrs_input *in, uint32_t i, struct mrsi_sorter *to, struct mrs_err *e)
{
    struct mrsi_docs docs;
    struct mrs_view doc;
    struct mrs_buf scratch;
    uint8_t key[KEY], at[8];
    uint64_t no = 0;
    mrs_buf_init(&scratch, en->mem, MRS_KEY_MAX);
    enum mrs_status s = mrsi_docs_open(&docs, en->mem, in, i, e);
    while (s == MRS_OK && (s = mrsi_docs_next(&docs, &doc, e)) == MRS_OK) {
        mrs_put64(at, no++);
        key_of(key, 0, doc.p, doc.n);
        s = mrsi_sorter_put(to, key, KEY, at, sizeof at, e);
        s = s == MRS_OK ? id_key(key, doc, &scratch, e) : s;
        s = s == MRS_OK ? mrsi_sorter_put(to, key, KEY, at, sizeof at, e) : s;
    }
    mrsi_docs_close(&docs);
    mrs_buf_clear(&scratch);
    return s == MRS_END ? mrsi_sorter_rewind(to, e) : s;
}

static enum mrs_status
merge(struct mrsi_sorter *a, struct mrsi_sorter *b, struct mrsi_sorter *pairs, struct mrs_err *e)
{
    struct mrsi_sorted x, y;
    enum mrs_status s = mrsi_sorter_next(a, &x, e), t = s == MRS_OK ? mrsi_sorter_next(b, &y, e) : s;
    while (s == MRS_OK && t == MRS_OK) {
        int c = memcmp(x.key, y.key, KEY);
        if (c == 0) {
            uint8_t key[9];
            mrsi_put_be(key, mrs_le64(x.p), 8);
            key[8] = x.key[0];
            s = mrsi_sorter_put(pairs, key, sizeof key, y.p, 8, e);
        }
        if (s == MRS_OK && c >= 0) {
            t = mrsi_sorter_next(b, &y, e);
        }
        if (s == MRS_OK && c <= 0) {
            s = mrsi_sorter_next(a, &x, e);
        }
    }
    s = s == MRS_END ? MRS_OK : s;
    return t < MRS_OK ? t : s;
}

enum mrs_status
mrsi_residue_match(struct mrsi_engine *en, struct mrs_input *from, uint32_t i, struct mrs_input *back, uint32_t k,
                   struct mrsi_sorter *pairs, struct mrs_err *e)
{
    struct mrsi_sorter a, b;
    mrsi_sorter_init(&a, en, en->memory / 8);
    mrsi_sorter_init(&b, en, en->memory / 8);
    enum mrs_status s = put_side(en, from, i, &a, e);
    s = s == MRS_OK ? put_side(en, back, k, &b, e) : s;
    s = s == MRS_OK ? merge(&a, &b, pairs, e) : s;
    mrsi_sorter_clear(&a);
    mrsi_sorter_clear(&b);
    return s == MRS_OK ? mrsi_sorter_rewind(pairs, e) : s;
}
