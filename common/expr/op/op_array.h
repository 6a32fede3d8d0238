/* SPDX-License-Identifier: Apache-2.0 */
/* op_array.h - the array operators in op_array_each.c, for the table in op_array.c. */
#ifndef MRS_EXPR_OP_ARRAY_H
#define MRS_EXPR_OP_ARRAY_H

#include "expr/support.h"

enum mrs_status mrsi_compile_map(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                                 struct mrs_err *e);
enum mrs_status mrsi_compile_filter(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                                    struct mrs_err *e);
enum mrs_status mrsi_compile_reduce(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                                    struct mrs_err *e);
enum mrs_status mrsi_compile_sort_array(struct mrsi_compile *c, struct mrs_expr *x,
                                        struct mrs_val spec, struct mrs_err *e);
enum mrs_status mrsi_compile_zip(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                                 struct mrs_err *e);
enum mrs_status mrsi_eval_map(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out);
enum mrs_status mrsi_eval_filter(const struct mrs_expr *x, struct mrs_eval *ev,
                                 struct mrs_val *out);
enum mrs_status mrsi_eval_reduce(const struct mrs_expr *x, struct mrs_eval *ev,
                                 struct mrs_val *out);
enum mrs_status mrsi_eval_sort_array(const struct mrs_expr *x, struct mrs_eval *ev,
                                     struct mrs_val *out);
enum mrs_status mrsi_eval_zip(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out);

#endif
