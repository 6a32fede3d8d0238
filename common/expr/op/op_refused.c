/* SPDX-License-Identifier: Apache-2.0 */
/* op_refused.c - operators of the server that no plan may use, each with the reason.
 *
 * They are in the table so that a plan which uses one gets the reason, instead of the name of its nearest neighbor; the
 * note of a row is the reason. Queries have a similar table in query_refused.c. */
#include "expr/support.h"

static enum mrs_status
refuse(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    (void)c;
    (void)spec;
    return mrsi_expr_refuse(x, e, "cannot be used in a plan: %s", x->op->row.note);
}

#define CHANCE "it gives another value each time, so a run could be neither repeated nor continued"
#define RAND                                                                                                         \
    CHANCE "; what is drawn from the document itself stays: { $hexHash: { input: { $concat: [\"salt\", { $toString: " \
           "$_id }] }, algorithm: sha256 } }, and in [0, 1) its first 13 digits, read by $convert with base: 16 to "  \
           "long and divided by 2^52"
#define SCRIPT "it runs JavaScript on the server"
#define ENCRYPTED "it asks the key store of encrypted fields"
#define WINDOW "it looks at the documents around one, which only a window of the server has"
#define ROW(n, why) {.row = {"$" n, "refused", why}, .compile = refuse}

const struct mrs_op mrsi_ops_refused[] = {
    ROW("accumulator", SCRIPT),
    ROW("covariancePop", WINDOW),
    ROW("covarianceSamp", WINDOW),
    ROW("createObjectId", CHANCE),
    ROW("createUUID", CHANCE),
    ROW("denseRank", WINDOW),
    ROW("derivative", WINDOW),
    ROW("documentNumber", WINDOW),
    ROW("encStrContains", ENCRYPTED),
    ROW("encStrEndsWith", ENCRYPTED),
    ROW("encStrNormalizedEq", ENCRYPTED),
    ROW("encStrStartsWith", ENCRYPTED),
    ROW("expMovingAvg", WINDOW),
    ROW("function", SCRIPT),
    ROW("integral", WINDOW),
    ROW("linearFill", WINDOW),
    ROW("locf", WINDOW),
    ROW("meta", "it reads what a search or a sort of the server attached to the document"),
    ROW("minMaxScaler", WINDOW),
    ROW("rand", RAND),
    ROW("rank", WINDOW),
    ROW("sampleRate", CHANCE),
    ROW("shift", WINDOW),
    ROW("toHashedIndexKey", "it gives the key of a hashed index, which belongs to the server that keeps the index"),
    {.row = {NULL, NULL, NULL}},
};
