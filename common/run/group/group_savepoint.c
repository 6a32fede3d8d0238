/* SPDX-License-Identifier: Apache-2.0 */
/* group_savepoint.c - saves and loads a grouping step. The members are kept to the last stage: if a document cannot be
 * written, they are read again. */
#include "group.h"

static const char *const names[MRSI_GROUP_SORTS] = {"made", "gains", "refs"}; /* as in mrsi_group_sorts */

/* ---- save ---- */
static enum mrs_status
save_sorts(struct mrsi_group_run *g, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_sorter *sorts[MRSI_GROUP_SORTS];
    enum mrs_status s = MRS_OK;
    mrsi_group_sorts(g, sorts);
    for (int i = 0; s == MRS_OK && i < MRSI_GROUP_SORTS; i++) {
        s = mrsi_sorter_save(sorts[i], names[i], b, files, e);
    }
    return s;
}

enum mrs_status
mrsi_group_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    if (g->have) { /* read for a block that is not written yet */
        mrsi_sorter_unread(g->notes);
        g->have = false;
    }
    mrs_build_i64(b, "stage", g->stage);
    mrs_build_i64(b, "side", g->side);
    mrsi_save_log("logged", g->log, b);
    mrs_build_bool(b, "reading", g->reading);
    mrs_build_bool(b, "again", g->again);
    mrsi_state_put_bytes(b, "why", g->late_why, strlen(g->late_why));
    mrsi_state_put_bytes(b, "where", g->late_where, strlen(g->late_where));
    enum mrs_status s = mrsi_sorter_save(&g->members, "members", b, files, e);
    MRS_THEN(s, mrsi_fates_save(&g->from, "from", b, files, e));
    MRS_THEN(s, mrsi_fates_save(&g->there, "there", b, files, e));
    MRS_THEN(s, mrsi_sorter_save(&g->ids, "ids", b, files, e));
    MRS_THEN(s, mrsi_sorter_save(&g->bars, "bars", b, files, e));
    return s == MRS_OK ? save_sorts(g, b, files, e) : s;
}

/* ---- load ---- */
static void
text_back(struct mrs_view saved, const char *name, char *out, size_t size, bool *bad)
{
    MRS_ASSERT(size > 0);
    size_t n;
    const uint8_t *p = mrsi_state_bytes(saved, name, &n, bad);
    *bad = *bad || n >= size;
    if (!*bad && n) {
        memcpy(out, p, n);
        out[n] = 0;
    }
}

static enum mrs_status
apply_sorts(struct mrsi_group_run *g, struct mrs_view saved, struct mrs_err *e)
{
    struct mrsi_sorter *sorts[MRSI_GROUP_SORTS];
    enum mrs_status s = MRS_OK;
    mrsi_group_sorts(g, sorts);
    for (int i = 0; s == MRS_OK && i < MRSI_GROUP_SORTS; i++) {
        s = mrsi_sorter_load(sorts[i], saved, names[i], e);
    }
    return s;
}

/* if a stage reads a collection, the scan resumes first, and the savepoint stays until then */
static bool
scans(enum mrsi_group_stage stage)
{
    return stage == MRSI_GROUP_READ || stage == MRSI_GROUP_WRITE_INTO || stage == MRSI_GROUP_WRITE_FROM;
}

enum mrs_status
mrsi_group_from_mark(struct mrsi_group_run *g, struct mrs_err *e)
{
    MRS_ASSERT(!g->resumed);
    struct mrs_view saved = g->pass.from;
    bool bad = false;
    struct mrs_val again = mrs_doc_get(saved, "again"), reading = mrs_doc_get(saved, "reading");
    g->side = (uint32_t)mrsi_state_number(saved, "side", 1, &bad);
    g->log = mrsi_load_log(saved, "logged", &bad);
    text_back(saved, "why", g->late_why, sizeof g->late_why, &bad);
    text_back(saved, "where", g->late_where, sizeof g->late_where, &bad);
    if (bad || again.type != MRS_BOOL || reading.type != MRS_BOOL) {
        return mrsi_state_damaged("the step", e);
    }
    g->again = *again.p;
    g->was_reading = *reading.p;
    g->resumed = true;
    enum mrs_status s = mrsi_pass_load(&g->pass, e);
    MRS_THEN(s, mrsi_sorter_load(&g->members, saved, "members", e));
    MRS_THEN(s, mrsi_fates_load(&g->from, saved, "from", e));
    MRS_THEN(s, mrsi_fates_load(&g->there, saved, "there", e));
    MRS_THEN(s, mrsi_sorter_load(&g->ids, saved, "ids", e));
    MRS_THEN(s, mrsi_sorter_load(&g->bars, saved, "bars", e));
    MRS_THEN(s, apply_sorts(g, saved, e));
    if (!scans(g->stage)) {
        g->pass.from = mrs_empty_doc();
    }
    return s;
}

/* ---- validate records: a file may be damaged ---- */
/* For an existing document; key: from the part that identifies the source. */
static bool
is_place(const struct mrsi_group_run *g, const uint8_t *key)
{
    return mrsi_get_be(key + 1, 8) < (key[0] ? g->from.n : g->there.n);
}

bool
mrsi_group_is_member(const struct mrsi_group_run *g, const struct mrsi_sorted *r)
{
    struct mrsi_member_head m;
    if (r->key_len != MRSI_MEMBER_KEY || r->n < sizeof m || !is_place(g, r->key + 16)) {
        return false;
    }
    memcpy(&m, r->p, sizeof m);
    const uint8_t *doc = r->p + sizeof m;
    return (uint64_t)m.doc_len + m.ref_len == r->n - sizeof m && mrsi_savepoint_is_doc(doc, m.doc_len) &&
           (!m.ref_len || mrsi_savepoint_is_doc(doc + m.doc_len, m.ref_len));
}

bool
mrsi_group_is_id(const struct mrsi_group_run *g, const struct mrsi_sorted *r)
{
    return r->key_len == 16 + MRSI_MEMBER_KEY && r->n == sizeof(struct mrsi_member_head) &&
           is_place(g, r->key + 32);
}

bool
mrsi_group_is_note(const struct mrsi_group_run *g, const struct mrsi_sorted *r, struct mrs_buf *room)
{
    MRS_ASSERT(g->notes == &g->gains || g->notes == &g->refs);
    if (g->notes == &g->refs) {
        return r->key_len == 12 && r->n && mrsi_savepoint_is_value(r->p[0], r->p + 1, r->n - 1, room);
    }
    return r->key_len == 9 && mrsi_savepoint_is_doc(r->p, r->n);
}

/* ---- sorts that are read while savepoints are taken ---- */
enum mrs_status
mrsi_group_begin_sort(struct mrsi_group_run *g, struct mrsi_sorter *sort, struct mrs_err *e)
{
    bool was_reading = g->was_reading;
    g->was_reading = g->have = false;
    g->reading = true;
    return was_reading ? mrsi_sorter_resume(sort, e) : mrsi_sorter_rewind(sort, e);
}

enum mrs_status
mrsi_group_between_keys(struct mrsi_group_run *g, struct mrsi_sorter *of, bool *saved, struct mrs_err *e)
{
    *saved = g->bytes_read > mrsi_block_bytes(g->en);
    if (!*saved) {
        return MRS_OK;
    }
    g->bytes_read = 0;
    mrsi_sorter_unread(of);
    return mrsi_pass_between(&g->pass, e);
}
