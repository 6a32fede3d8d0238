/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - the stages of a pipeline that the vectors of accumulators need. */
#ifndef VECTORS_STAGES_H
#define VECTORS_STAGES_H

#include "mongoreshape/expr.h"

/* Documents of a list: pointers into the vector, or values in the arena. */
struct picked {
    struct mrs_val *v;
    uint32_t n;
};

/* out: documents in the arena; of $group in order of first appearance. As mrs_acc_compile and the like. */
enum mrs_status stage_group(const struct mrs_expr_env *env, struct mrs_arena *arena, struct mrs_val spec,
                            struct picked docs, struct picked *out, struct mrs_err *e);
enum mrs_status stage_project(const struct mrs_expr_env *env, struct mrs_arena *arena, struct mrs_val spec,
                              struct picked docs, struct picked *out, struct mrs_err *e);

#endif
