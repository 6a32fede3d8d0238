/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - a compiled query predicate: shared by query_compile.c, which makes it, and query.c, which evaluates it. */
#ifndef MRS_EXPR_QUERY_H
#define MRS_EXPR_QUERY_H

#include "regex.h"

enum mrsi_query_kind {
    Q_AND, /* all of kid */
    Q_OR,
    Q_NOR,
    Q_NOT,   /* kid[0] */
    Q_NEVER, /* $all: [] */
    Q_EXPR,
    /* predicates on a value; without a path, on the current element */
    Q_EQ,
    Q_LT,
    Q_LTE,
    Q_GT,
    Q_GTE,
    Q_IN,
    Q_FAR, /* number[0]: the list of values of another collection */
    Q_EXISTS,
    Q_TYPE,
    Q_MOD,
    Q_REGEX,
    Q_BITS,
    /* predicates on a whole array */
    Q_SIZE,
    Q_ELEM_OBJECT, /* kid[0] matches an element as a document */
    Q_ELEM_VALUE   /* kid[0] matches an element as a value */
};

enum mrsi_query_bits { BITS_ALL_SET, BITS_ALL_CLEAR, BITS_ANY_SET, BITS_ANY_CLEAR };

struct mrsi_query_part {
    const char *name;
    uint32_t len;
    int64_t index; /* as a position in an array; -1: not a number */
};

struct mrsi_query_path {
    struct mrsi_query_part *part;
    uint32_t n;
    const char *text; /* from the root, for mrs_query_reads */
};

struct mrsi_query_node {
    enum mrsi_query_kind kind;
    const struct mrsi_query_path *path;
    struct mrsi_query_node **kid;
    uint32_t n_kids;
    struct mrs_val v;     /* EQ ... GTE */
    struct mrs_val *list; /* IN: sorted */
    uint32_t n_list;
    struct mrsi_regex **regex; /* IN, REGEX (one) */
    struct mrs_val
        *regex_val; /* the regular expressions as values: an equal stored one matches too */
    uint32_t n_regex;
    int64_t number[2];        /* MOD divisor, remainder; SIZE */
    uint32_t types;           /* TYPE: bit of a type's number; 31 MinKey, 30 MaxKey */
    enum mrsi_query_bits how; /* BITS */
    uint32_t *bit;            /* BITS: positions */
    uint32_t n_bits;
    struct mrs_expr *expr;              /* EXPR */
    struct mrsi_query_node *next_owned; /* nodes that own a regex or an expression */
};

struct mrs_query {
    struct mrs_mem *mem;
    struct mrs_arena arena;
    struct mrsi_query_node *root, *owned;
};

enum mrs_status mrsi_query_build(const struct mrs_expr_env *env, struct mrs_query *q,
                                 struct mrs_view filter, struct mrs_err *e);
/* A number as int64, truncated; false: no number, NaN, infinite or out of range. */
bool mrsi_query_cut(struct mrs_val v, int64_t *out);

#endif
