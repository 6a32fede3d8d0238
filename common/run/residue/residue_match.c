/* SPDX-License-Identifier: Apache-2.0 */
/* residue_match.c - pairs the documents of the input with those of the inverse: by their bytes, else by their `_id`.
 *
 * Hashes of both sides are sorted and merged within the budget, so the k-th of several equal documents is paired with
 * the k-th. The hash only suggests a pair: the caller compares the bytes. */
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

/* Equal `_id`s have equal keys for all numeric types; without a key the bytes count. */
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

enum mrs_status
mrsi_residue_hashes(struct mrsi_sorter *to, uint64_t no, struct mrs_view doc, struct mrs_buf *scratch,
                    struct mrs_err *e)
{
    uint8_t key[KEY], at[8];
    mrs_put64(at, no);
    key_of(key, 0, doc.p, doc.n);
    enum mrs_status s = mrsi_sorter_put(to, key, KEY, at, sizeof at, e);
    MRS_THEN(s, id_key(key, doc, scratch, e));
    return s == MRS_OK ? mrsi_sorter_put(to, key, KEY, at, sizeof at, e) : s;
}

/* One side, and its current record. */
struct side {
    struct mrsi_sorter *sorter;
    struct mrsi_sorted top;
};

static enum mrs_status
next(struct side *x, struct mrs_err *e)
{
    enum mrs_status s = mrsi_sorter_next(x->sorter, &x->top, e);
    if (s == MRS_OK && (x->top.key_len != KEY || x->top.n != 8)) {
        return mrsi_state_damaged("hashes of documents", e);
    }
    return s;
}

/* Both current records are returned again, also after a resume. */
static enum mrs_status
rest(struct side *a, struct side *b, struct mrsi_pause_clock *pauses, struct mrs_err *e)
{
    mrsi_sorter_unread(a->sorter);
    mrsi_sorter_unread(b->sorter);
    enum mrs_status s = mrsi_rest(pauses, e);
    MRS_THEN(s, next(a, e));
    return s == MRS_OK ? next(b, e) : s;
}

static enum mrs_status
pair(const struct side *a, const struct side *b, struct mrsi_sorter *pairs, struct mrs_err *e)
{
    uint8_t key[MRSI_PAIR_KEY];
    mrsi_put_be(key, mrs_le64(a->top.p), 8);
    key[8] = a->top.key[0];
    return mrsi_sorter_put(pairs, key, sizeof key, b->top.p, 8, e);
}

enum mrs_status
mrsi_residue_match(struct mrsi_sorter *from, struct mrsi_sorter *back, struct mrsi_sorter *pairs,
                   struct mrsi_pause_clock *pauses, struct mrs_err *e)
{
    struct side a = {.sorter = from}, b = {.sorter = back};
    enum mrs_status s = mrsi_sorter_resume(from, e);
    MRS_THEN(s, mrsi_sorter_resume(back, e));
    MRS_THEN(s, next(&a, e));
    MRS_THEN(s, next(&b, e));
    while (s == MRS_OK) {
        int c = memcmp(a.top.key, b.top.key, KEY);
        s = c == 0 ? pair(&a, &b, pairs, e) : MRS_OK;
        s = s == MRS_OK && c >= 0 ? next(&b, e) : s;
        s = s == MRS_OK && c <= 0 ? next(&a, e) : s;
        if (s == MRS_OK && mrsi_pause_is_due(pauses, 2 * KEY)) {
            s = rest(&a, &b, pauses, e);
        }
    }
    return s == MRS_END ? MRS_OK : s;
}
