/* nodes_mark.c - a step over trees in words, and going on from there: the tables that the stage needs. */
#include "nodes.h"

/* ---- into words ---- */
static enum mrs_status
describe_read(struct mrsi_tree *t, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_i64(b, "intervals", (int64_t)t->intervals);
    enum mrs_status s = mrsi_tape_describe(&t->bits, "bits", b, files, e);
    s = s == MRS_OK ? mrsi_tape_describe(&t->named, "named", b, files, e) : s;
    s = s == MRS_OK ? mrsi_tape_describe(&t->twice, "twice", b, files, e) : s;
    s = s == MRS_OK ? mrsi_index_describe(&t->index, "index", b, files, e) : s;
    s = s == MRS_OK ? mrsi_sorter_describe(&t->ends, "ends", b, files, e) : s;
    return s == MRS_OK ? mrsi_sorter_describe(&t->orders, "orders", b, files, e) : s;
}

static enum mrs_status
describe_places(struct mrsi_tree *t, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_i64(b, "nodes", (int64_t)t->n);
    enum mrs_status s = mrsi_area_describe(&t->node, "node", b, files, e);
    s = s == MRS_OK ? mrsi_area_describe(&t->kin, "kin", b, files, e) : s;
    s = s == MRS_OK ? mrsi_area_describe(&t->numbers, "numbers", b, files, e) : s;
    return s == MRS_OK ? mrsi_tape_describe(&t->childless, "childless", b, files, e) : s;
}

enum mrs_status
mrsi_tree_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_tree *t = arg;
    mrs_build_i64(b, "stage", t->stage);
    enum mrs_status s = mrsi_tape_describe(&t->id_at, "idAt", b, files, e);
    s = s == MRS_OK ? mrsi_tape_describe(&t->ids, "ids", b, files, e) : s;
    if (s != MRS_OK) {
        return s;
    }
    return t->stage == MRSI_TREE_WRITE ? describe_places(t, b, files, e) : describe_read(t, b, files, e);
}

/* ---- and back ---- */
static enum mrs_status
apply_read(struct mrsi_tree *t, struct mrs_view mark, struct mrs_err *e)
{
    bool bad = false;
    t->intervals = mrsi_state_number(mark, "intervals", INT64_MAX, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the nodes", e) : mrsi_tape_apply(&t->bits, mark, "bits", e);
    s = s == MRS_OK ? mrsi_tape_apply(&t->named, mark, "named", e) : s;
    s = s == MRS_OK ? mrsi_tape_apply(&t->twice, mark, "twice", e) : s;
    s = s == MRS_OK ? mrsi_index_apply(&t->index, mark, "index", e) : s;
    s = s == MRS_OK ? mrsi_sorter_apply(&t->ends, mark, "ends", e) : s;
    s = s == MRS_OK ? mrsi_sorter_apply(&t->orders, mark, "orders", e) : s;
    return s == MRS_OK && t->bits.n != t->id_at.n ? mrsi_state_damaged("the nodes", e) : s;
}

static enum mrs_status
apply_places(struct mrsi_tree *t, struct mrs_view mark, struct mrs_err *e)
{
    uint64_t n = t->n = t->id_at.n, memory = t->en->memory;
    bool bad = false, children = t->needs & MRS_TREE_CHILDREN, numbers = t->needs & MRS_TREE_NUMBERS;
    if (mrsi_state_number(mark, "nodes", MRSI_NONE, &bad) != n || bad) {
        return mrsi_state_damaged("the nodes", e);
    }
    enum mrs_status s = mrsi_area_apply(&t->node, t->en, n * sizeof(struct mrsi_node), memory / 8, mark, "node", e);
    if (s == MRS_OK && children) {
        s = mrsi_area_apply(&t->kin, t->en, n * sizeof(struct mrsi_kin), memory / 4, mark, "kin", e);
    }
    if (s == MRS_OK && numbers) {
        s = mrsi_area_apply(&t->numbers, t->en, n * sizeof(struct mrsi_numbers), memory / 4, mark, "numbers", e);
    }
    s = s == MRS_OK ? mrsi_tape_apply(&t->childless, mark, "childless", e) : s;
    return s == MRS_OK ? mrsi_tree_open(t, e) : s;
}

enum mrs_status
mrsi_tree_from_mark(struct mrsi_tree *t, struct mrs_err *e)
{
    struct mrs_view mark = t->pass.from;
    bool bad = false;
    t->stage = (enum mrsi_tree_stage)mrsi_state_number(mark, "stage", MRSI_TREE_WRITE, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the step", e) : mrsi_tape_apply(&t->id_at, mark, "idAt", e);
    s = s == MRS_OK ? mrsi_tape_apply(&t->ids, mark, "ids", e) : s;
    if (s == MRS_OK) {
        s = t->stage == MRSI_TREE_WRITE ? apply_places(t, mark, e) : apply_read(t, mark, e);
    }
    s = s == MRS_OK ? mrsi_pass_apply(&t->pass, e) : s;
    if (t->stage == MRSI_TREE_PLACE) {
        t->pass.from = mrs_empty_doc();
    }
    return s;
}
