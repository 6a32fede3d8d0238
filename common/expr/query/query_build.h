/* SPDX-License-Identifier: Apache-2.0 */
/* query_build.h - the compilation of a filter, shared by query_compile.c (the filter and its fields) and query_ops.c
 * (the operators at a field). */
#ifndef MRS_EXPR_QUERY_BUILD_H
#define MRS_EXPR_QUERY_BUILD_H

#include "query.h"

enum { MRSI_QUERY_DEPTH_MAX = MRS_PLAN_DEPTH_MAX };

struct mrsi_query_builder {
    const struct mrs_expr_env *env;
    struct mrs_query *q;
    const char *prefix; /* path of the enclosing $elemMatch, for reads; "" */
    int depth;
    bool in_elem;
};

#define REFUSE(e, ...) mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, __VA_ARGS__)

/* query_compile.c */
void *mrsi_query_room(struct mrsi_query_builder *b, size_t n,
                      struct mrs_err *e); /* zeroed; NULL: e is set */
struct mrsi_query_node *mrsi_query_new(struct mrsi_query_builder *b, enum mrsi_query_kind kind,
                                       const struct mrsi_query_path *path, struct mrs_err *e);
/* A node with room for n kids. */
enum mrs_status mrsi_query_tree(struct mrsi_query_builder *b, enum mrsi_query_kind kind, uint32_t n,
                                struct mrsi_query_node **out, struct mrs_err *e);
/* The query frees what the node owns. */
void mrsi_query_own(struct mrsi_query_builder *b, struct mrsi_query_node *n);
bool mrsi_query_first(
    struct mrs_val v,
    struct mrs_elem *el); /* first element of a document; false: none, or v is no document */
/* A document of operators: its first name has a dollar, and it is no DBRef. */
bool mrsi_query_is_ops(struct mrs_val v);
/* query_refused.c: refuses an operator, with the reason or the nearest known name. */
enum mrs_status mrsi_query_unknown(const struct mrs_elem *el, bool top, struct mrs_err *e);
enum mrs_status mrsi_query_filter(struct mrsi_query_builder *b, struct mrs_view filter,
                                  struct mrsi_query_node **out, struct mrs_err *e);

/* query_ops.c */
/* All operators of a document, at one path (NULL: inside a $elemMatch of values). */
enum mrs_status mrsi_query_ops(struct mrsi_query_builder *b, const struct mrsi_query_path *path,
                               struct mrs_view ops, struct mrsi_query_node **out,
                               struct mrs_err *e);
/* A field without an operator: equality, or a match if the value is a regular expression. */
enum mrs_status mrsi_query_equals(struct mrsi_query_builder *b, const struct mrsi_query_path *path,
                                  struct mrs_val v, struct mrsi_query_node **out,
                                  struct mrs_err *e);

#endif
