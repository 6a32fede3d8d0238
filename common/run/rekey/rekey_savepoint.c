/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_savepoint.c - saves and loads a rekey step: the tables that its stage needs. */
#include "rekey_pass.h"

/* Have the decisions been made on the tables of the first pass? */
static bool
is_decided(const struct mrsi_rekey_run *k)
{
    return k->stage >= MRSI_REKEY_WRITE;
}

/* ---- save ---- */
static enum mrs_status
save_read(struct mrsi_rekey_run *k, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_save(&k->hashes, "hashes", b, files, e);
    MRS_THEN(s, mrsi_index_save(&k->keys, "keys", b, files, e));
    return s == MRS_OK ? mrsi_file_array_save(&k->joins, "joins", b, files, e) : s;
}

static enum mrs_status
save_decided(struct mrsi_rekey_run *k, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_i64(b, "now", k->now);
    mrs_build_bool(b, "late", k->late);
    enum mrs_status s = mrsi_index_save(&k->fresh, "fresh", b, files, e);
    if (s == MRS_OK && k->wants.merge) {
        s = mrsi_mapped_mem_save(&k->root, "root", b, files, e);
        MRS_THEN(s, mrsi_mapped_mem_save(&k->group, "group", b, files, e));
        MRS_THEN(s, mrsi_file_array_save(&k->gains, "gains", b, files, e));
    }
    return s == MRS_OK ? mrsi_step_outputs_save(&k->sides, b, files, e) : s;
}

enum mrs_status
mrsi_rekey_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct mrsi_rekey_run *k = arg;
    mrs_build_i64(b, "stage", k->stage);
    mrsi_save_log("logged", k->log, b);
    MRS_TRY(mrsi_fates_save(&k->fates, "fates", b, files, e));
    MRS_TRY(mrsi_index_save(&k->ids, "former", b, files, e));
    MRS_TRY(mrsi_file_array_save(&k->name_at, "nameAt", b, files, e));
    MRS_TRY(mrsi_file_array_save(&k->names, "names", b, files, e));
    return is_decided(k) ? save_decided(k, b, files, e) : save_read(k, b, files, e);
}

/* ---- validate tables: a file may be damaged ---- */
/* Are the names contiguous, and each a valid value? */
static enum mrs_status
check_names(const struct mrsi_rekey_run *k, struct mrs_err *e)
{
    const uint64_t *at = (const uint64_t *)(const void *)k->name_at.p;
    uint64_t n = k->name_at.n;
    struct mrs_buf room;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&room, k->en->mem, SIZE_MAX);
    for (uint64_t i = 0; s == MRS_OK && i < n; i++) {
        uint64_t end = i + 1 < n ? at[i + 1] : k->names.n;
        bool good = at[i] <= end && end <= k->names.n && end - at[i] <= UINT32_MAX;
        if (good && end > at[i]) {
            const uint8_t *p = k->names.p + at[i];
            good = mrsi_savepoint_is_value(p[0], p + 1, (uint32_t)(end - at[i] - 1), &room);
        }
        s = good ? MRS_OK : room.bad ? mrs_buf_status(&room, e) : mrsi_state_damaged("an _id", e);
    }
    mrs_buf_clear(&room);
    return s;
}

enum mrs_status
mrsi_rekey_check_read(const struct mrsi_rekey_run *k, struct mrs_err *e)
{
    const uint64_t *pair = (const uint64_t *)(const void *)k->joins.p;
    uint64_t n = k->name_at.n;
    bool good = k->fates.n == n && k->ids.end <= n && k->hashes.n == (k->wants.merge ? 0 : n);
    for (uint64_t i = 0; good && i < 2 * (uint64_t)k->joins.n; i++) {
        good = pair[i] < n;
    }
    return good ? check_names(k, e) : mrsi_state_damaged("the documents", e);
}

static bool
is_gain(const struct mrsi_rekey_run *k, const struct mrsi_rekey_group *g)
{
    struct mrsi_rekey_gain_head h;
    uint64_t at = g->gain - 1, n = k->gains.n;
    if (at > n || n - at < sizeof h) {
        return false;
    }
    memcpy(&h, k->gains.p + at, sizeof h);
    const uint8_t *p = k->gains.p + at + sizeof h;
    if ((uint64_t)h.values + h.olds > n - at - sizeof h) {
        return false;
    }
    if (g->refused == MRSI_REKEY_FAILED) {
        return h.values && h.olds && !p[h.values - 1] && !p[h.values + h.olds - 1];
    }
    return (!h.values || mrsi_savepoint_is_doc(p, h.values)) && (!h.olds || mrsi_savepoint_is_doc(p + h.values,
                                                                                                  h.olds));
}

/* Is the first document of each group the root of all its members, and the survivor one of them? */
static bool
are_groups(const struct mrsi_rekey_run *k)
{
    const uint64_t *root = k->root.p;
    for (uint64_t i = 0; i < k->n; i++) {
        if (root[i] > i || root[root[i]] != root[i]) {
            return false;
        }
    }
    for (uint64_t i = 0; i < k->n; i++) {
        const struct mrsi_rekey_group *g = (const struct mrsi_rekey_group *)k->group.p + i;
        if (g->survivor > k->n || (g->survivor && root[g->survivor - 1] != i) || (g->gain && !is_gain(k, g))) {
            return false;
        }
    }
    return true;
}

/* ---- load ---- */
static enum mrs_status
apply_read(struct mrsi_rekey_run *k, struct mrs_view saved, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_load(&k->hashes, saved, "hashes", e);
    MRS_THEN(s, mrsi_index_load(&k->keys, saved, "keys", e));
    MRS_THEN(s, mrsi_file_array_load(&k->joins, saved, "joins", e));
    return s == MRS_OK && k->keys.end > k->name_at.n ? mrsi_state_damaged("the documents", e) : s;
}

static enum mrs_status
apply_groups(struct mrsi_rekey_run *k, struct mrs_view saved, struct mrs_err *e)
{
    uint64_t share = k->en->memory / 16, bytes = k->n * sizeof(struct mrsi_rekey_group);
    enum mrs_status s = mrsi_mapped_mem_load(&k->root, k->en, k->n * sizeof(uint64_t), share, saved, "root", e);
    MRS_THEN(s, mrsi_mapped_mem_load(&k->group, k->en, bytes, 2 * share, saved, "group", e));
    MRS_THEN(s, mrsi_file_array_load(&k->gains, saved, "gains", e));
    MRS_THEN(s, mrsi_file_array_end(&k->gains, e));
    return s == MRS_OK && !are_groups(k) ? mrsi_state_damaged("a group", e) : s;
}

static enum mrs_status
apply_decided(struct mrsi_rekey_run *k, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    k->n = k->name_at.n;
    k->now = (uint32_t)mrsi_state_number(saved, "now", k->st->desc.n_sides, &bad);
    struct mrs_val late = mrs_doc_get(saved, "late");
    bad = bad || late.type != MRS_BOOL || k->fates.n != k->n || k->ids.end > k->n;
    enum mrs_status s = bad ? mrsi_state_damaged("the step", e) : mrsi_file_array_end(&k->name_at, e);
    MRS_THEN(s, mrsi_file_array_end(&k->names, e));
    MRS_THEN(s, check_names(k, e));
    MRS_THEN(s, mrsi_index_load(&k->fresh, saved, "fresh", e));
    s = s == MRS_OK && k->fresh.end > k->n ? mrsi_state_damaged("the documents", e) : s;
    s = s == MRS_OK && k->wants.merge ? apply_groups(k, saved, e) : s;
    k->late = s == MRS_OK && *late.p;
    MRS_THEN(s, mrsi_rekey_call(k, e));
    MRS_THEN(s, mrsi_rekey_open(k, e));
    MRS_THEN(s, mrsi_pass_load(&k->pass, e));
    return s == MRS_OK ? mrsi_step_outputs_load(&k->sides, saved, e) : s;
}

enum mrs_status
mrsi_rekey_from_mark(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    struct mrs_view saved = k->pass.from;
    bool bad = false;
    k->stage = (enum mrsi_rekey_stage)mrsi_state_number(saved, "stage", MRSI_REKEY_POINT, &bad);
    k->log = mrsi_load_log(saved, "logged", &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the step", e) : mrsi_fates_load(&k->fates, saved, "fates", e);
    MRS_THEN(s, mrsi_index_load(&k->ids, saved, "former", e));
    MRS_THEN(s, mrsi_file_array_load(&k->name_at, saved, "nameAt", e));
    MRS_THEN(s, mrsi_file_array_load(&k->names, saved, "names", e));
    k->resumed = true;
    if (s == MRS_OK && is_decided(k)) {
        return apply_decided(k, saved, e);
    }
    MRS_THEN(s, apply_read(k, saved, e));
    MRS_THEN(s, mrsi_pass_load(&k->pass, e));
    if (k->stage == MRSI_REKEY_DECIDE) {
        k->pass.from = mrs_empty_doc();
    }
    return s;
}
