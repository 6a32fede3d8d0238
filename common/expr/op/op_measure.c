/* SPDX-License-Identifier: Apache-2.0 */
/* op_measure.c - properties of a value: $binarySize, $bsonSize, $subtype, $tsSecond, $tsIncrement.
 *
 * Null returns null; a value of a wrong type fails. */
#include "expr/support.h"

static enum mrs_status
op_binary_size(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 1);
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (v.type != MRS_STRING && v.type != MRS_BINARY) {
        return mrsi_eval_error(x, ev, "takes a string or binary data, not %s", mrs_type_name(v.type));
    }
    return mrsi_ret_count(ev, v.n - 5, out); /* four bytes of length, and a NUL or a subtype */
}

static enum mrs_status
op_bson_size(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 1);
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (v.type != MRS_DOCUMENT) {
        return mrsi_eval_error(x, ev, "takes a document, not %s", mrs_type_name(v.type));
    }
    return mrsi_ret_count(ev, v.n, out);
}

static enum mrs_status
op_subtype(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (v.type != MRS_BINARY) {
        return mrsi_eval_error(x, ev, "takes binary data, not %s", mrs_type_name(v.type));
    }
    return mrsi_ret_i32(ev, v.p[4], out);
}

/* at: offset of the wanted half; the increment is stored first. */
static enum mrs_status
timestamp_half(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    uint32_t at = (uint32_t)x->op->variant;
    MRS_ASSERT(at == 0 || at == 4);
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (v.type != MRS_TIMESTAMP) {
        return mrsi_eval_error(x, ev, "takes a timestamp, not %s", mrs_type_name(v.type));
    }
    return mrsi_ret_i64(ev, mrs_le32(v.p + at), out);
}

const struct mrs_op mrsi_ops_measure[] = {
    {.row = {"$binarySize", "measure", ""}, .eval = op_binary_size, .n_min = 1, .n_max = 1},
    {.row = {"$bsonSize", "measure", ""}, .eval = op_bson_size, .n_min = 1, .n_max = 1},
    {.row = {"$subtype", "measure", MRSI_SINCE_8_3}, .eval = op_subtype, .n_min = 1, .n_max = 1, .since_8_3 = true},
    {.row = {"$tsIncrement", "measure", ""}, .eval = timestamp_half, .n_min = 1, .n_max = 1},
    {.row = {"$tsSecond", "measure", ""}, .eval = timestamp_half, .variant = 4, .n_min = 1, .n_max = 1},
    {.row = {NULL, NULL, NULL}},
};
