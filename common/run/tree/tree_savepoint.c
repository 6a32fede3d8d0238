/* SPDX-License-Identifier: Apache-2.0 */
/* tree_savepoint.c - saves and loads a tree step: the tables that its stage needs. */
#include "tree_pass.h"

/* ---- save ---- */
static enum mrs_status
save_read(struct mrsi_tree_run *t, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_i64(b, "intervals", (int64_t)t->intervals);
    enum mrs_status s = mrsi_file_array_save(&t->bits, "bits", b, files, e);
    MRS_THEN(s, mrsi_file_array_save(&t->named, "named", b, files, e));
    MRS_THEN(s, mrsi_file_array_save(&t->twice, "twice", b, files, e));
    MRS_THEN(s, mrsi_index_save(&t->index, "index", b, files, e));
    MRS_THEN(s, mrsi_sorter_save(&t->ends, "ends", b, files, e));
    return s == MRS_OK ? mrsi_sorter_save(&t->orders, "orders", b, files, e) : s;
}

static enum mrs_status
save_places(struct mrsi_tree_run *t, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_i64(b, "nodes", (int64_t)t->n);
    enum mrs_status s = mrsi_mapped_mem_save(&t->node, "node", b, files, e);
    MRS_THEN(s, mrsi_mapped_mem_save(&t->shared, "shared", b, files, e));
    MRS_THEN(s, mrsi_mapped_mem_save(&t->numbers, "numbers", b, files, e));
    return s == MRS_OK ? mrsi_file_array_save(&t->childless, "childless", b, files, e) : s;
}

enum mrs_status
mrsi_tree_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct mrsi_tree_run *t = arg;
    mrs_build_i64(b, "stage", t->stage);
    enum mrs_status s = mrsi_file_array_save(&t->id_at, "idAt", b, files, e);
    MRS_THEN(s, mrsi_file_array_save(&t->ids, "ids", b, files, e));
    if (s == MRS_OK && (t->needs & MRS_TREE_WHOLE)) {
        s = mrsi_file_array_save(&t->doc_at, "docAt", b, files, e);
        MRS_THEN(s, mrsi_file_array_save(&t->docs, "docs", b, files, e));
    }
    if (s != MRS_OK) {
        return s;
    }
    return t->stage == MRSI_TREE_WRITE ? save_places(t, b, files, e) : save_read(t, b, files, e);
}

/* ---- validate tables: a file may be damaged ---- */
/* Are the `_id`s contiguous, and each a valid value? */
static enum mrs_status
check_ids(const struct mrsi_tree_run *t, struct mrs_err *e)
{
    const uint64_t *at = (const uint64_t *)(const void *)t->id_at.p;
    uint64_t n = t->id_at.n;
    struct mrs_buf room;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&room, t->en->mem, SIZE_MAX);
    for (uint64_t i = 0; s == MRS_OK && i < n; i++) {
        uint64_t end = i + 1 < n ? at[i + 1] : t->ids.n;
        bool good = at[i] <= end && end <= t->ids.n && end - at[i] <= UINT32_MAX;
        if (good && end > at[i]) {
            const uint8_t *p = t->ids.p + at[i];
            good = mrsi_savepoint_is_value(p[0], p + 1, (uint32_t)(end - at[i] - 1), &room);
        }
        s = good ? MRS_OK : room.bad ? mrs_buf_status(&room, e) : mrsi_state_damaged("an _id", e);
    }
    mrs_buf_clear(&room);
    return s;
}

enum mrs_status
mrsi_tree_check_read(const struct mrsi_tree_run *t, struct mrs_err *e)
{
    const struct mrsi_named *named = (const struct mrsi_named *)(const void *)t->named.p;
    const uint32_t *twice = (const uint32_t *)(const void *)t->twice.p;
    bool good = t->bits.n == t->id_at.n;
    for (uint64_t i = 0; good && i < t->named.n; i++) {
        good = named[i].who < t->bits.n;
    }
    for (uint64_t i = 0; good && i < t->twice.n; i++) {
        good = twice[i] < t->bits.n;
    }
    enum mrs_status s = good ? check_ids(t, e) : mrsi_state_damaged("the nodes", e);
    return s == MRS_OK && (t->needs & MRS_TREE_WHOLE) ? mrsi_tree_check_docs(t, e) : s;
}

static bool
is_node_or_none(const struct mrsi_tree_run *t, uint32_t i)
{
    return i < t->n || i == MRSI_NONE;
}

/* Is each node in the tree one level below its parent, which is in it, too? Then every path to the root ends. */
static bool
is_in(const struct mrsi_tree_run *t, const struct mrsi_tree_node *n)
{
    const struct mrsi_tree_node *up = n->parent < t->n ? mrsi_node(t, n->parent) : NULL;
    if (!up) {
        return n->parent == MRSI_NONE && n->depth == 0 && n->way == 0 && !n->unusable_above;
    }
    uint64_t bytes = (uint64_t)up->way + mrsi_node_id(t, n->parent).n;
    return up->fate == MRSI_TREE_IN && n->depth == up->depth + 1 &&
           (n->unusable_above ? n->way < t->n
                           : !up->unusable_above && n->way == (bytes < UINT32_MAX ? bytes : UINT32_MAX));
}

static bool
is_node(const struct mrsi_tree_run *t, const struct mrsi_tree_node *n)
{
    switch (n->fate) {
    case MRSI_TREE_NEW: return !(n->bits & MRSI_NODE);
    case MRSI_TREE_IN: return is_in(t, n);
    case MRSI_TREE_OUT: return n->fault <= MRS_FAULT_TOO_DEEP && is_node_or_none(t, n->way);
    case MRSI_TREE_BELOW: return n->way < t->n && mrsi_node(t, n->way)->fault <= MRS_FAULT_TOO_DEEP;
    default: return false;
    }
}

/* Is each node linked at most once, below its parent? */
static bool
are_shared(const struct mrsi_tree_run *t)
{
    const struct mrsi_tree_child *shared = t->shared.p;
    uint64_t linked = 0;
    for (uint64_t i = 0; i < t->n; i++) {
        for (uint32_t child = shared[i].child; child != MRSI_NONE; child = shared[child].next) {
            if (child >= t->n || mrsi_node(t, child)->parent != i || ++linked > t->n) {
                return false;
            }
        }
    }
    return true;
}

static enum mrs_status
check_places(const struct mrsi_tree_run *t, struct mrs_err *e)
{
    bool good = true;
    enum mrs_status s = check_ids(t, e);
    for (uint64_t i = 0; s == MRS_OK && good && i < t->n; i++) {
        good = is_node(t, mrsi_node(t, (uint32_t)i));
    }
    good = good && (s != MRS_OK || !t->shared.p || are_shared(t));
    s = s == MRS_OK && !good ? mrsi_state_damaged("the nodes", e) : s;
    return s == MRS_OK && (t->needs & MRS_TREE_WHOLE) ? mrsi_tree_check_docs(t, e) : s;
}

/* ---- load ---- */
static enum mrs_status
apply_read(struct mrsi_tree_run *t, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    t->intervals = mrsi_state_number(saved, "intervals", INT64_MAX, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the nodes", e) : mrsi_file_array_load(&t->bits, saved, "bits", e);
    MRS_THEN(s, mrsi_file_array_load(&t->named, saved, "named", e));
    MRS_THEN(s, mrsi_file_array_load(&t->twice, saved, "twice", e));
    MRS_THEN(s, mrsi_index_load(&t->index, saved, "index", e));
    MRS_THEN(s, mrsi_sorter_load(&t->ends, saved, "ends", e));
    MRS_THEN(s, mrsi_sorter_load(&t->orders, saved, "orders", e));
    return s == MRS_OK && t->index.end > t->bits.n ? mrsi_state_damaged("the nodes", e) : s;
}

static enum mrs_status
apply_places(struct mrsi_tree_run *t, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    uint64_t n = t->n = t->id_at.n, memory = t->en->memory;
    bool bad = false, children = t->needs & MRS_TREE_CHILDREN, numbers = t->needs & MRS_TREE_NUMBERS;
    if (mrsi_state_number(saved, "nodes", MRSI_NONE, &bad) != n || bad) {
        return mrsi_state_damaged("the nodes", e);
    }
    uint64_t bytes = n * sizeof(struct mrsi_tree_node);
    enum mrs_status s = mrsi_mapped_mem_load(&t->node, t->en, bytes, memory / 8, saved, "node", e);
    if (s == MRS_OK && children) {
        s = mrsi_mapped_mem_load(&t->shared, t->en, n * sizeof(struct mrsi_tree_child), memory / 4, saved, "shared", e);
    }
    if (s == MRS_OK && numbers) {
        s = mrsi_mapped_mem_load(&t->numbers, t->en, n * sizeof(struct mrsi_numbers), memory / 4, saved, "numbers", e);
    }
    MRS_THEN(s, mrsi_file_array_load(&t->childless, saved, "childless", e));
    MRS_THEN(s, check_places(t, e));
    return s == MRS_OK ? mrsi_tree_open(t, e) : s;
}

enum mrs_status
mrsi_tree_from_mark(struct mrsi_tree_run *t, struct mrs_err *e)
{
    struct mrs_view saved = t->pass.from;
    bool bad = false;
    t->stage = (enum mrsi_tree_stage)mrsi_state_number(saved, "stage", MRSI_TREE_WRITE, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the step", e) : mrsi_file_array_load(&t->id_at, saved, "idAt", e);
    MRS_THEN(s, mrsi_file_array_load(&t->ids, saved, "ids", e));
    if (s == MRS_OK && (t->needs & MRS_TREE_WHOLE)) {
        s = mrsi_file_array_load(&t->doc_at, saved, "docAt", e);
        MRS_THEN(s, mrsi_file_array_load(&t->docs, saved, "docs", e));
    }
    MRS_THEN(s, t->stage == MRSI_TREE_WRITE ? apply_places(t, saved, e) : apply_read(t, saved, e));
    t->resumed = true;
    MRS_THEN(s, mrsi_pass_load(&t->pass, e));
    if (t->stage == MRSI_TREE_PLACE) {
        t->pass.from = mrs_empty_doc();
    }
    return s;
}
