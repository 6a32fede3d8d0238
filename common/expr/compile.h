/* SPDX-License-Identifier: Apache-2.0 */
/* compile.h - the compilation of an expression, shared by compile.c and compile_path.c. */
#ifndef MRS_EXPR_COMPILE_H
#define MRS_EXPR_COMPILE_H

#include "expr_internal.h"
#include "mongoreshape/words.h"

struct mrsi_bound {
    const char *name;
    uint32_t len;
    int32_t slot;
    bool used;
};

struct mrsi_compile {
    const struct mrs_expr_env *env;
    struct mrsi_expr_root *root;
    struct mrs_arena scratch; /* memory for constant folding */
    struct mrsi_bound *bound; /* variables in scope, innermost last */
    uint32_t n_bound, cap_bound;
    uint32_t depth;
    int lenient;
    char trail[192]; /* the current place inside the expression; after a failure the deepest place */
    uint32_t trail_len;
};

/* compile_path.c: compiles a string that begins with a dollar into a PATH or a constant. */
enum mrs_status mrsi_compile_path(struct mrsi_compile *c, struct mrs_expr *x, const char *text, uint32_t n,
                                  struct mrs_err *e);
/* compile_path.c: checks a name for a document literal. */
enum mrs_status mrsi_check_name(const char *name, uint32_t n, struct mrs_err *e);
/* optable.c: the operator of this name (with its dollar), or NULL; the nearest known name, or NULL if none is near. */
const struct mrs_op *mrsi_op_find(const char *name, uint32_t n);
const char *mrsi_op_nearest(const char *name, uint32_t n);
/* The replacement for an operator of updates, queries or other languages; NULL: none. */
const char *mrsi_op_elsewhere(const char *name, uint32_t n);
/* optable.c: whether a name is that of an accumulator. */
bool mrsi_op_accumulator(const char *name, uint32_t n);

#endif
