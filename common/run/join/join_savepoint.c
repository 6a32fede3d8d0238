/* SPDX-License-Identifier: Apache-2.0 */
/* join_savepoint.c - savepoints of a join: the data that each of its stages needs to resume.
 *
 * Small data is made again instead of written: a lookup reads from again. Flags are copied for each savepoint, since
 * they change; everything else is written once or only grows. */
#include "join_slice.h"

static void
put_flags(const struct mrsi_join_run *j, struct mrs_build *b)
{
    MRS_ASSERT(j->stage <= MRSI_JOIN_SETTLE);
    mrs_build_i64(b, "stage", j->stage);
    mrs_build_i64(b, "lookup", j->lookup);
    mrs_build_i64(b, "byKey", j->by_key != NULL);
    mrs_build_i64(b, "far", j->far);
    mrs_build_i64(b, "multi", j->multi);
    mrs_build_i64(b, "leftOver", j->left_over);
    mrs_build_i64(b, "restart", j->restart);
    mrs_build_i64(b, "settled", j->sides.wr_of[0] != MRSI_NONE);
    mrs_build_i64(b, "into", (int64_t)j->n_into);
    mrs_build_i64(b, "left", (int64_t)j->n_left);
    mrs_build_i64(b, "fromBytes", (int64_t)j->n_from_bytes);
    mrsi_save_log("logged", j->refused, b);
    mrsi_state_put_bytes(b, "hashed", j->is_hashed, j->st->desc.n_pairs);
}

static enum mrs_status
describe_keys(struct mrsi_join_run *j, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    return j->by_key ? mrsi_by_key_save(j, b, files, e)
                     : mrsi_savepoint_list_save(&j->log_kept, "log", b, files, e);
}

static enum mrs_status
save_read(struct mrsi_join_run *j, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = mrsi_fates_save(&j->fates, "fates", b, files, e);
    MRS_THEN(s, mrsi_savepoint_list_save(&j->left_kept, "leftDocs", b, files, e));
    if (s != MRS_OK || j->lookup) {
        return s;
    }
    s = mrsi_spill_save(&j->spill, "spill", b, files, e);
    s = s == MRS_OK && j->far ? mrsi_save_bytes(j->en, "maps", j->maps.p, j->maps.n, b, files, e) : s;
    if (s != MRS_OK || j->stage > MRSI_JOIN_MEET) {
        return s;
    }
    return j->by_key ? mrsi_by_key_save(j, b, files, e)
                     : mrsi_table_save(&j->table, j->en, "table", b, files, e);
}

static enum mrs_status
save(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    put_flags(j, b);
    if (j->stage == MRSI_JOIN_KEYS) {
        return describe_keys(j, b, files, e);
    }
    enum mrs_status s = save_read(j, b, files, e);
    if (s == MRS_OK && j->stage > MRSI_JOIN_MEET) {
        s = mrsi_step_outputs_save(&j->sides, b, files, e);
    }
    if (s == MRS_OK && j->stage == MRSI_JOIN_EMIT && !j->lookup) {
        s = mrsi_slices_save(j, b, files, e);
    }
    return s;
}

void
mrsi_join_savepoints(struct mrsi_join_run *j)
{
    MRS_ASSERT(j->en && j->st);
    j->pass = (struct mrsi_pass){.en = j->en, .kind = "step", .save = save, .arg = j};
    j->pass.wr = j->sides.wr;
    j->sides.pass = &j->pass;
    j->log_kept = (struct mrsi_savepoint_list){j->en, &j->log, NULL, 0};
    j->left_kept = (struct mrsi_savepoint_list){j->en, &j->left, NULL, 0};
    mrsi_ckpt_savepoint_for(&j->pass);
}

/* ---- load ---- */
static enum mrs_status
get_flags(struct mrsi_join_run *j, bool *by_key, bool *settled, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_view d = j->pass.from;
    size_t n;
    j->stage = (enum mrsi_join_stage)mrsi_state_number(d, "stage", MRSI_JOIN_SETTLE, &bad);
    j->lookup = mrsi_state_number(d, "lookup", 1, &bad);
    *by_key = mrsi_state_number(d, "byKey", !j->lookup, &bad);
    j->far = mrsi_state_number(d, "far", !j->lookup && (!*by_key || j->stage == MRSI_JOIN_KEYS), &bad);
    j->multi = mrsi_state_number(d, "multi", 1, &bad);
    j->left_over = mrsi_state_number(d, "leftOver", 1, &bad);
    j->restart = mrsi_state_number(d, "restart", j->self, &bad);
    *settled = mrsi_state_number(d, "settled", j->stage > MRSI_JOIN_MEET, &bad);
    j->n_into = mrsi_state_number(d, "into", INT64_MAX, &bad);
    j->n_left = mrsi_state_number(d, "left", INT64_MAX, &bad);
    j->n_from_bytes = mrsi_state_number(d, "fromBytes", INT64_MAX, &bad);
    j->refused = mrsi_load_log(d, "logged", &bad);
    const uint8_t *p = mrsi_state_bytes(d, "hashed", &n, &bad);
    bad = bad || (j->stage == MRSI_JOIN_FROM && j->lookup) || (j->stage == MRSI_JOIN_MEET && !*by_key);
    if (bad || n != j->st->desc.n_pairs) {
        return mrsi_state_damaged("a join", e);
    }
    for (size_t i = 0; i < n; i++) {
        j->is_hashed[i] = p[i];
    }
    return MRS_OK;
}

/* Validates resumed keys: their documents exist. */
static enum mrs_status
check_entries(const struct mrsi_join_run *j, struct mrs_err *e)
{
    const struct mrsi_logged *l = (const struct mrsi_logged *)(const void *)j->log.p;
    size_t n = j->log.n / sizeof *l;
    bool good = j->log.n % sizeof *l == 0;
    for (size_t i = 0; good && i < n; i++) {
        good = l[i].key.b && l[i].ord < j->n_into;
    }
    return good ? MRS_OK : mrsi_state_damaged("the keys", e);
}

/* Validates documents without a match: complete and contiguous. */
static enum mrs_status
get_left(struct mrsi_join_run *j, struct mrs_err *e)
{
    enum mrs_status s = mrsi_savepoint_list_load(&j->left_kept, j->pass.from, "leftDocs", e);
    size_t at = 0;
    for (uint64_t n = 0; s == MRS_OK && !j->left_over && n < j->n_left; n++) {
        size_t left = j->left.n - at, head = sizeof(uint64_t);
        if (left < head + MRS_DOC_MIN) {
            return mrsi_state_damaged("documents that are left", e);
        }
        const uint8_t *p = j->left.p + at;
        uint32_t len = mrs_le32(p + head);
        uint64_t ordinal;
        memcpy(&ordinal, p, sizeof ordinal);
        if (len > left - head || !mrsi_savepoint_is_doc(p + head, len) || ordinal >= j->fates.n) {
            return mrsi_state_damaged("documents that are left", e);
        }
        at += head + len;
    }
    return s == MRS_OK && !j->left_over && at != j->left.n ? mrsi_state_damaged("documents that are left", e) : s;
}

static enum mrs_status
get_keys(struct mrsi_join_run *j, bool by_key, struct mrs_err *e)
{
    if (by_key) {
        return mrsi_by_key_load(j, e);
    }
    enum mrs_status s = mrsi_savepoint_list_load(&j->log_kept, j->pass.from, "log", e);
    return s == MRS_OK ? check_entries(j, e) : s;
}

static enum mrs_status
get_table(struct mrsi_join_run *j, struct mrs_err *e)
{
    MRS_ASSERT(j->stage <= MRSI_JOIN_MEET);
    struct mrsi_savepoint_list list = {j->en, &j->log, NULL, 0};
    enum mrs_status s = mrsi_savepoint_list_load(&list, j->pass.from, "table", e);
    MRS_THEN(s, check_entries(j, e));
    MRS_THEN(s, mrsi_join_build_table(j, e));
    if (s == MRS_OK) {
        mrsi_table_has(&j->table, &list);
    } else {
        mrsi_savepoint_list_clear(&list);
    }
    return s;
}

/* ---- stages ---- */
/* Reads again what the savepoint lacks; its counts and refusals are in the account already. */
static enum mrs_status
read_again(struct mrsi_join_run *j, struct mrs_err *e)
{
    enum mrs_status s = mrsi_join_read_from(j, e);
    MRS_THEN(s, mrsi_join_build_table(j, e));
    mrsi_fates_clear(&j->fates);
    mrsi_fates_init(&j->fates, j->en);
    return s == MRS_OK ? mrsi_pass_apply_counts(&j->pass, e) : s;
}

static enum mrs_status
get_read(struct mrsi_join_run *j, bool by_key, struct mrs_err *e)
{
    struct mrsi_spill_layout l = mrsi_join_layout(j);
    enum mrs_status s = j->lookup ? read_again(j, e) : mrsi_spill_init(&j->spill, j->en, j->n_into, &l, e);
    MRS_THEN(s, mrsi_fates_load(&j->fates, j->pass.from, "fates", e));
    MRS_THEN(s, get_left(j, e));
    s = s == MRS_OK && !j->lookup ? mrsi_spill_load(&j->spill, j->pass.from, "spill", e) : s;
    if (s == MRS_OK && !j->lookup && (j->spill.total != j->n_into || j->spill.added)) {
        s = mrsi_state_damaged("what was put aside", e);
    }
    s = s == MRS_OK && j->far ? mrsi_far_load(j, e) : s;
    if (s != MRS_OK || j->stage > MRSI_JOIN_MEET) {
        return s;
    }
    return by_key ? mrsi_by_key_load(j, e) : get_table(j, e);
}

enum mrs_status
mrsi_join_load(struct mrsi_join_run *j, struct mrs_err *e)
{
    bool by_key, settled;
    enum mrs_status s = get_flags(j, &by_key, &settled, e);
    if (s != MRS_OK) {
        return s;
    }
    mrsi_join_choose_hashed(j);
    if (j->stage > MRSI_JOIN_MEET) {
        s = mrsi_join_open_writers(j, e);
        s = s == MRS_OK && settled ? mrsi_step_outputs_open(&j->sides, 0, e) : s;
        j->pass.n_wr = j->sides.n_wr;
    }
    MRS_THEN(s, mrsi_pass_load(&j->pass, e));
    if (s != MRS_OK || j->stage == MRSI_JOIN_KEYS) {
        return s == MRS_OK ? get_keys(j, by_key, e) : s;
    }
    s = get_read(j, by_key, e);
    if (s == MRS_OK && j->stage > MRSI_JOIN_MEET) {
        s = mrsi_step_outputs_load(&j->sides, j->pass.from, e);
    }
    s = s == MRS_OK && j->stage == MRSI_JOIN_EMIT && !j->lookup ? mrsi_slices_load(j, e) : s;
    bool early = j->stage != MRSI_JOIN_SETTLE && mrsi_ids_is_between(&j->sides.ids);
    return s == MRS_OK && early ? mrsi_state_damaged("a join", e) : s;
}
