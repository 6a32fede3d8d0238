/* SPDX-License-Identifier: Apache-2.0 */
/* links_savepoint.c - saves and loads a linking step: the tables that its stage needs. */
#include "links.h"

/* After the decisions, the tables of references are not needed. */
static bool
is_decided(const struct mrsi_link_run *l)
{
    return l->stage == MRSI_LINK_WRITE;
}

/* For a side whose documents gain references. */
static bool
gains(const struct mrsi_link_run *l, uint32_t side)
{
    return side == 0 ? l->wants.lists : l->wants.refs;
}

/* ---- save ---- */
static enum mrs_status
describe_references(struct mrsi_link_side *sd, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_save(&sd->owners, "whose", b, files, e);
    MRS_THEN(s, mrsi_file_array_save(&sd->keys, "keys", b, files, e));
    return s == MRS_OK ? mrsi_file_array_save(&sd->found, "found", b, files, e) : s;
}

static enum mrs_status
describe_gains(struct mrsi_edges *x, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_i64(b, "gains", (int64_t)x->n);
    enum mrs_status s = mrsi_mapped_mem_save(&x->start, "start", b, files, e);
    return s == MRS_OK ? mrsi_mapped_mem_save(&x->to, "to", b, files, e) : s;
}

static enum mrs_status
describe_side(struct mrsi_link_run *l, uint32_t side, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(side < 2 && mrs_buf_is_sound(files));
    struct mrsi_link_side *sd = &l->side[side];
    mrs_build_open(b, side ? "child" : "parent", side ? 5 : 6, MRS_DOCUMENT);
    mrs_build_i64(b, "seen", (int64_t)sd->seen);
    enum mrs_status s = mrsi_index_save(&sd->ids, "ids", b, files, e);
    MRS_THEN(s, mrsi_fates_save(&sd->fates, "fates", b, files, e));
    MRS_THEN(s, mrsi_file_array_save(&sd->at, "at", b, files, e));
    MRS_THEN(s, mrsi_file_array_save(&sd->bytes, "bytes", b, files, e));
    if (s == MRS_OK && !is_decided(l)) {
        s = describe_references(sd, b, files, e);
    } else if (s == MRS_OK && gains(l, side)) {
        s = describe_gains(&sd->gains, b, files, e);
    }
    mrs_build_close(b);
    return s;
}

enum mrs_status
mrsi_link_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct mrsi_link_run *l = arg;
    enum mrs_status s = MRS_OK;
    mrs_build_i64(b, "stage", l->stage);
    mrs_build_i64(b, "now", l->now);
    mrs_build_i64(b, "written", (int64_t)l->written);
    mrsi_save_log("logged", l->log, b);
    mrs_build_bool(b, "late", l->late);
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        s = describe_side(l, i, b, files, e);
    }
    if (s != MRS_OK || !is_decided(l)) {
        return s;
    }
    s = mrsi_mapped_mem_save(&l->listed, "listed", b, files, e);
    MRS_THEN(s, mrsi_mapped_mem_save(&l->parent, "leaves", b, files, e));
    return s == MRS_OK ? mrsi_step_outputs_save(&l->sides, b, files, e) : s;
}

/* ---- validate tables: a file may be damaged ---- */
/* Is each number, without its flag bits, below the end? */
static bool
are_below(const uint64_t *at, uint64_t n, uint64_t mask, uint64_t end)
{
    for (uint64_t i = 0; i < n; i++) {
        if ((at[i] & mask) >= end) {
            return false;
        }
    }
    return true;
}

static bool
is_kept(const struct mrsi_link_side *sd, uint64_t ordinal, struct mrs_buf *room)
{
    uint64_t at;
    memcpy(&at, sd->at.p + ordinal * sizeof at, sizeof at);
    if (at > sd->bytes.n || sd->bytes.n - at < MRSI_LINK_KEPT) {
        return false;
    }
    const uint8_t *p = sd->bytes.p + at;
    uint64_t id_len = mrs_le32(p), sort_len = mrs_le32(p + 4);
    return id_len + sort_len <= sd->bytes.n - at - MRSI_LINK_KEPT &&
           mrsi_savepoint_is_value(p[8], p + MRSI_LINK_KEPT, (uint32_t)id_len, room);
}

/* Validates the stored values of each processed document. */
static enum mrs_status
check_kept(const struct mrsi_link_side *sd, struct mrs_err *e)
{
    struct mrs_buf room;
    enum mrs_status s = sd->at.n == (sd->keeps ? sd->fates.n : 0) ? MRS_OK : mrsi_state_damaged("a side", e);
    mrs_buf_init(&room, sd->fates.en->mem, SIZE_MAX);
    for (uint64_t i = 0; s == MRS_OK && i < sd->at.n; i++) {
        if (!(mrsi_fates_get(&sd->fates, i) & MRSI_FATE_OUTSIDE) && !is_kept(sd, i, &room)) {
            s = room.bad ? mrs_buf_status(&room, e) : mrsi_state_damaged("an _id", e);
        }
    }
    mrs_buf_clear(&room);
    return s;
}

static bool
are_references(const struct mrsi_link_run *l, uint32_t side)
{
    const struct mrsi_link_side *sd = &l->side[side];
    bool second = mrsi_link_is_second(l, side);
    const struct mrsi_file_array *names = second ? &sd->found : &sd->keys;
    return names->n == sd->owners.n && are_below(mrsi_file_array_u64(&sd->owners), sd->owners.n, MRSI_REF_OWNER,
                                                 sd->fates.n) &&
           (!second || are_below(mrsi_file_array_u64(names), names->n, UINT64_MAX, l->side[!side].fates.n + 1));
}

static bool
are_gains(const struct mrsi_link_run *l, uint32_t side)
{
    const struct mrsi_edges *x = &l->side[side].gains;
    const uint64_t *start = mrsi_mapped_mem_u64(&x->start);
    for (uint64_t i = 0; i < l->side[side].fates.n; i++) {
        if (start[i] > start[i + 1] || start[i + 1] > x->n) {
            return false;
        }
    }
    return are_below(mrsi_mapped_mem_u64(&x->to), x->n, UINT64_MAX, l->side[!side].fates.n);
}

static bool
are_listed(const struct mrsi_link_run *l)
{
    return are_below(mrsi_mapped_mem_u64(&l->listed), l->side[1].fates.n, MRSI_LISTED_BY, l->side[0].fates.n + 1);
}

enum mrs_status
mrsi_link_check(const struct mrsi_link_run *l, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        s = check_kept(&l->side[i], e);
        if (s == MRS_OK && !(is_decided(l) ? !gains(l, i) || are_gains(l, i) : are_references(l, i))) {
            s = mrsi_state_damaged("who names whom", e);
        }
    }
    return s == MRS_OK && is_decided(l) && !are_listed(l) ? mrsi_state_damaged("who is listed", e) : s;
}

/* ---- load ---- */
static enum mrs_status
apply_references(struct mrsi_link_side *sd, struct mrs_view d, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_load(&sd->owners, d, "whose", e);
    MRS_THEN(s, mrsi_file_array_load(&sd->keys, d, "keys", e));
    return s == MRS_OK ? mrsi_file_array_load(&sd->found, d, "found", e) : s;
}

static enum mrs_status
apply_gains(struct mrsi_link_run *l, struct mrsi_link_side *sd, struct mrs_view d, struct mrs_err *e)
{
    bool bad = false;
    uint64_t limit = l->en->memory / 16, n = sd->fates.n;
    sd->gains.n = mrsi_state_number(d, "gains", INT64_MAX / 8, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("who gains whom", e) : MRS_OK;
    MRS_THEN(s, mrsi_mapped_mem_load(&sd->gains.start, l->en, (n + 2) * 8, limit, d, "start", e));
    return s == MRS_OK ? mrsi_mapped_mem_load(&sd->gains.to, l->en, sd->gains.n * 8, limit, d, "to", e) : s;
}

static enum mrs_status
apply_side(struct mrsi_link_run *l, uint32_t side, struct mrs_err *e)
{
    MRS_ASSERT(side < 2);
    bool bad = false;
    struct mrsi_link_side *sd = &l->side[side];
    struct mrs_view d = mrsi_savepoint_doc(l->pass.from, side ? "child" : "parent");
    sd->seen = mrsi_state_number(d, "seen", INT64_MAX, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("a side", e) : mrsi_index_load(&sd->ids, d, "ids", e);
    MRS_THEN(s, mrsi_fates_load(&sd->fates, d, "fates", e));
    MRS_THEN(s, mrsi_file_array_load(&sd->at, d, "at", e));
    MRS_THEN(s, mrsi_file_array_load(&sd->bytes, d, "bytes", e));
    if (s == MRS_OK && sd->ids.end > sd->fates.n) {
        s = mrsi_state_damaged("a side", e);
    }
    if (s == MRS_OK && !is_decided(l)) {
        return apply_references(sd, d, e);
    }
    return s == MRS_OK && gains(l, side) ? apply_gains(l, sd, d, e) : s;
}

static enum mrs_status
apply_decided(struct mrsi_link_run *l, struct mrs_view saved, struct mrs_err *e)
{
    uint64_t bytes = l->side[1].fates.n * 8, limit = l->en->memory / 16;
    enum mrs_status s = mrsi_mapped_mem_load(&l->listed, l->en, bytes, limit, saved, "listed", e);
    if (s == MRS_OK && l->wants.leaves) {
        s = mrsi_mapped_mem_load(&l->parent, l->en, bytes, limit, saved, "leaves", e);
    }
    MRS_THEN(s, mrsi_link_check(l, e));
    MRS_THEN(s, mrsi_link_open(l, e));
    MRS_THEN(s, mrsi_pass_load(&l->pass, e));
    return s == MRS_OK ? mrsi_step_outputs_load(&l->sides, saved, e) : s;
}

enum mrs_status
mrsi_link_from_mark(struct mrsi_link_run *l, struct mrs_err *e)
{
    struct mrs_view saved = l->pass.from;
    bool bad = false;
    struct mrs_val late = mrs_doc_get(saved, "late");
    l->stage = (enum mrsi_link_stage)mrsi_state_number(saved, "stage", MRSI_LINK_WRITE, &bad);
    l->now = (uint32_t)mrsi_state_number(saved, "now", l->self ? 0 : 1, &bad);
    l->written = mrsi_state_number(saved, "written", (1ull << l->st->desc.n_sides) - 1, &bad);
    l->log = mrsi_load_log(saved, "logged", &bad);
    enum mrs_status s = bad || late.type != MRS_BOOL ? mrsi_state_damaged("the step", e) : MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        s = apply_side(l, i, e);
    }
    if (s != MRS_OK) {
        return s;
    }
    l->late = *late.p;
    l->resumed = true;
    s = is_decided(l) ? apply_decided(l, saved, e) : mrsi_pass_load(&l->pass, e);
    if (l->stage == MRSI_LINK_DECIDE) {
        l->pass.from = mrs_empty_doc();
    }
    return s;
}
