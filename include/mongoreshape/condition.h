/* SPDX-License-Identifier: Apache-2.0 */
/* condition.h - conditions of a `where` on other collections, {path: {$in: {from, field, where}}}.
 *
 * The values of `field` form a list. The engine makes it before the step, from the current collection. Lists are
 * numbered through the whole plan; the context of each kernel gives access to them. */
#ifndef MONGORESHAPE_CONDITION_H
#define MONGORESHAPE_CONDITION_H

#include "mongoreshape/context.h"
#include "mongoreshape/path.h"
#include "mongoreshape/step.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_query;
struct mrs_condition {
    const char *path; /* the path compared with the list, */
    const char *of;   /* in documents of this namespace: of the surrounding condition; NULL: of the step */
    bool not_in;      /* $nin */
    struct mrs_coll from;
    struct mrs_path field;
    const struct mrs_query *where; /* filter for documents of from; NULL: all. It may use lists with smaller numbers */
    int side;                      /* of the step: from */
};
#define MRS_CONDITIONS_MAX 128 /* of a step */
struct mrs_conditions { /* of one step, in the order in which the engine makes their lists */
    struct mrs_condition *item;
    uint32_t n, cap;
    uint32_t first; /* number of the first list */
};

/* Adds conditions and their sides to the description of their step. arena: owns the additions. OK; FAIL MRS_E_PLAN: the
 * step has too many sides; DEAD. */
enum mrs_status mrs_conditions_describe(const struct mrs_conditions *c, struct mrs_arena *arena, struct mrs_desc *out,
                                        struct mrs_err *e);
/* Whether a document of from contributes its values. SKIP: its `where` fails, the document is refused. */
enum mrs_status mrs_condition_takes(const struct mrs_condition *c, struct mrs_ctx *ctx, struct mrs_view doc, bool *yes);

#ifdef __cplusplus
}
#endif
#endif
