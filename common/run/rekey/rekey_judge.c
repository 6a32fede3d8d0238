/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_judge.c - decides which documents are refused, and forms groups; reads no documents. */
#include "rekey_pass.h"

static enum mrs_status
end_arrays(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    struct mrsi_file_array *arrays[] = {&k->name_at, &k->names, &k->hashes, &k->joins};
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; s == MRS_OK && i < sizeof arrays / sizeof *arrays; i++) {
        s = mrsi_file_array_end(arrays[i], e);
    }
    k->n = k->name_at.n;
    return s;
}

/* Is a document processed and not refused so far? */
static bool
is_candidate(const struct mrsi_rekey_run *k, uint64_t i)
{
    MRS_ASSERT(i < k->n);
    return !(mrsi_fates_get(&k->fates, i) & (MRSI_FATE_OUTSIDE | MRSI_FATE_REFUSED));
}

static enum mrs_status
refuse_twice(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->n == k->fates.n);
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; s == MRS_OK && i < k->n; i++) {
        if (is_candidate(k, i) && (mrsi_fates_get(&k->fates, i) & MRSI_REKEY_TWICE)) {
            mrsi_fates_add(&k->fates, i, MRSI_FATE_REFUSED);
        }
        s = mrsi_rekey_check_interrupt(k, i, e);
    }
    return s;
}

/* ---- new `_id`s ---- */
/* Does an unprocessed document have this `_id`, and stay? */
static bool
is_in_use(const struct mrsi_rekey_run *k, struct mrs_hash128 key)
{
    uint64_t first = mrsi_index_find(&k->ids, key);
    return first != MRSI_NO_ORDINAL &&
           (mrsi_fates_get(&k->fates, first) & (MRSI_FATE_OUTSIDE | MRSI_REKEY_HELD)) != 0;
}

/* All candidates are checked before any is refused: a refusal never makes another document acceptable. */
static enum mrs_status
judge_ids(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(!k->wants.merge && k->hashes.n == k->n);
    const struct mrs_hash128 *h = (const struct mrs_hash128 *)(const void *)k->hashes.p;
    enum mrs_status s = MRS_OK;
    k->fresh.guess = k->n;
    for (uint64_t i = 0; s == MRS_OK && i < k->n; i++) {
        uint64_t first;
        if (i + 8 < k->n) {
            mrsi_index_fetch(&k->fresh, h[i + 8]);
            mrsi_index_fetch(&k->ids, h[i + 8]);
        }
        s = mrsi_rekey_check_interrupt(k, i, e);
        if (s != MRS_OK || !is_candidate(k, i)) {
            continue;
        }
        s = mrsi_index_put(&k->fresh, h[i], i, &first, e);
        if (s == MRS_OK && (first != i || is_in_use(k, h[i]))) {
            mrsi_fates_add(&k->fates, i, MRSI_REKEY_CLASH);
            mrsi_fates_add(&k->fates, first, MRSI_REKEY_CLASH);
        }
    }
    for (uint64_t i = 0; s == MRS_OK && i < k->n; i++) {
        if (mrsi_fates_get(&k->fates, i) & MRSI_REKEY_CLASH) {
            mrsi_fates_add(&k->fates, i, MRSI_FATE_REFUSED);
        }
        s = mrsi_rekey_check_interrupt(k, i, e);
    }
    return s;
}

/* ---- groups ---- */
static uint64_t
find_root(uint64_t *root, uint64_t i)
{
    MRS_ASSERT(root[i] <= i);
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

/* Documents with a common key are linked to the first of them, so that one walk from front to back finds the first of
 * each group. */
static enum mrs_status
join_groups(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->wants.merge);
    uint64_t *root = k->root.p;
    const uint64_t *pair = (const uint64_t *)(const void *)k->joins.p;
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; i < k->n; i++) {
        root[i] = i;
    }
    for (uint64_t i = 0; s == MRS_OK && i < k->joins.n; i++) {
        uint64_t a = find_root(root, pair[2 * i]), b = find_root(root, pair[2 * i + 1]);
        root[a > b ? a : b] = a > b ? b : a;
        s = mrsi_rekey_check_interrupt(k, i, e);
    }
    for (uint64_t i = 0; s == MRS_OK && i < k->n; i++) {
        root[i] = root[root[i]];
        s = mrsi_rekey_check_interrupt(k, i, e);
    }
    return s;
}

static enum mrs_status
judge_groups(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->wants.merge && !k->group.p);
    uint64_t share = k->en->memory / 16;
    enum mrs_status s = mrsi_mapped_mem_new(&k->root, k->en, k->n * sizeof(uint64_t), share, e);
    MRS_THEN(s, mrsi_mapped_mem_new(&k->group, k->en, k->n * sizeof(struct mrsi_rekey_group), 2 * share, e));
    MRS_THEN(s, join_groups(k, e));
    mrsi_index_clear(&k->keys);
    mrsi_file_array_clear(&k->joins);
    for (uint64_t i = 0; s == MRS_OK && i < k->n; i++) {
        struct mrsi_rekey_group *g = mrsi_rekey_group(k, i);
        unsigned bits = mrsi_fates_get(&k->fates, i);
        g->refused |= bits & MRSI_FATE_REFUSED ? MRSI_REKEY_MEMBER : 0;
        g->several |= mrsi_rekey_root(k, i) != i;
        s = mrsi_rekey_check_interrupt(k, i, e);
    }
    return s;
}

enum mrs_status
mrsi_rekey_judge(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->stage == MRSI_REKEY_DECIDE);
    enum mrs_status s = end_arrays(k, e);
    s = s == MRS_OK && k->resumed ? mrsi_rekey_check_read(k, e) : s;
    MRS_THEN(s, refuse_twice(k, e));
    MRS_THEN(s, k->wants.merge ? judge_groups(k, e) : judge_ids(k, e));
    mrsi_file_array_clear(&k->hashes);
    return s;
}
