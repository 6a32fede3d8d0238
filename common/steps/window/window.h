/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - interfaces between the files of the window step.
 *
 * A field is an expression with operators that read other documents of the group. Each operator is replaced by a
 * variable of the expression (window_fields.c). Its arguments are computed when the document is read (window_enter.c),
 * its results when the group is complete (window_group.c), and the expression when the document is written
 * (window_splice.c). */
#ifndef MRSI_WINDOW_H
#define MRSI_WINDOW_H

#include "steps/kit/added.h"
#include "steps/kit/group_by.h"
#include "mongoreshape/expr.h"
#include "mongoreshape/window_ops.h"

#define WINDOW_NONE UINT32_MAX

enum window_kind {
    WINDOW_NUMBER,
    WINDOW_RANK,
    WINDOW_DENSE_RANK,
    WINDOW_SHIFT,
    WINDOW_ACC,
    WINDOW_AVERAGE, /* $expMovingAvg */
    WINDOW_DERIVATIVE,
    WINDOW_INTEGRAL,
    WINDOW_LOCF,
    WINDOW_FILL
};

/* ---- which documents of the group an operator reads ---- */
enum window_bound_kind { WINDOW_UNBOUNDED, WINDOW_CURRENT, WINDOW_BY };
struct window_bound {
    enum window_bound_kind kind;
    int64_t places;        /* documents: offset */
    struct mrs_val number; /* range: offset of the sort key */
    struct mrs_expr *plus; /* range: expression for X plus the offset; NULL: offset 0 */
};
struct window_frame {
    bool range; /* lo and hi are values of the sort key, else offsets in documents */
    bool dates; /* the sort key is a date, else a number */
    bool months; /* units of varying length */
    struct window_bound lo, hi;
};

struct window_op {
    const char *name;
    enum window_kind kind;
    bool common;        /* equal for all documents of a group */
    struct window_frame frame;
    uint32_t arg;       /* index of the argument; NONE: none */
    struct mrs_acc *acc;
    int64_t by;
    struct mrs_val fallback;
    struct mrs_val alpha, rest; /* decimals whose sum is 1 */
    bool dates;
    struct mrs_val unit; /* its milliseconds; missing: no unit */
};
struct window_arg { /* an argument of operators */
    struct mrs_acc *acc;  /* evaluates the argument, or */
    struct mrs_expr *x;
    struct mrs_val fixed; /* not missing: the argument is this constant, and documents store nothing */
    uint32_t place;       /* else: its index among the stored arguments */
};

/* Formulas of operators, compiled as expressions of these variables. */
enum { WINDOW_X, WINDOW_X1, WINDOW_Y1, WINDOW_X2, WINDOW_Y2, WINDOW_K, WINDOW_VARS };
enum window_formula {
    WINDOW_F_DECIMAL, /* of X */
    WINDOW_F_DOUBLE,
    WINDOW_F_RATE,
    WINDOW_F_TIMES,   /* X * K */
    WINDOW_F_OVER,    /* X / K */
    WINDOW_F_AREA,
    WINDOW_F_FILL,
    WINDOW_F_MIX,     /* X * K + X1 * X2 */
    WINDOW_F_ALPHA,   /* of N: X */
    WINDOW_F_REST,
    WINDOW_FORMULAS
};

struct window_field {
    struct mrs_expr *x; /* its variables are all operators of the step */
    uint32_t first, end; /* operators in the expression */
};
struct mrsi_window {
    struct mrsi_owned keep;
    struct mrs_coll in;
    struct mrsi_by by;
    struct mrs_query *where;
    struct mrs_sort *sort;
    const char *sort_path; /* if there is one key */
    bool ascending;
    bool running;          /* an operator without `window` */
    bool indexes;
    struct mrsi_added added;
    struct window_field *field; /* added.n fields */
    struct window_op *op;
    const char **op_var;   /* names of the variables of the operators */
    uint32_t n_op, cap_op;
    struct window_arg *arg;
    uint32_t n_arg, cap_arg;
    uint32_t x;            /* index of the argument that is the sort key; NONE: not needed */
    struct mrs_expr *formula[WINDOW_FORMULAS];
};

/* The result of an operator for a document is an element with one of these names. */
#define WINDOW_VALUE "v"
#define WINDOW_ABSENT "m" /* of an argument: missing */
#define WINDOW_BAD "b"    /* no result, a text has the reason */
#define WINDOW_LARGE "l"  /* the same, because it is too large for a document */

/* window_fields.c */
void mrsi_window_read_fields(struct mrsi_read *r, struct mrsi_window *s);
/* window_op.c: reads the operator `name` with its argument; w: its `window`, or missing. False: an error was
 * reported. */
bool mrsi_window_read_op(struct mrsi_read *r, struct mrsi_window *s, const char *field, const struct mrs_elem *el,
                         struct mrs_val w, struct window_op *out);
bool mrsi_window_function(const char *name); /* not an accumulator */
const char *mrsi_window_meant(const char *name); /* the most similar name, or NULL */
/* Is its window sliding, so that it is computed anew for each document? */
bool mrsi_window_slides(const struct window_op *op);
void mrsi_window_number_args(struct mrsi_window *s);
/* The argument that is the sort key; NONE: out of memory, or an error. */
uint32_t mrsi_window_key_arg(struct mrsi_read *r, struct mrsi_window *s, const char *field);
bool mrsi_window_formula(struct mrsi_read *r, struct mrsi_window *s, enum window_formula f);
/* window_frame.c */
bool mrsi_window_read_frame(struct mrsi_read *r, struct mrsi_window *s, const char *field, struct mrs_val w,
                            struct window_frame *out);
/* Milliseconds of a unit; 0: of varying length; false: unknown unit. */
bool mrsi_window_unit(const char *unit, int64_t *ms);

/* ---- operators over a group ---- */
struct window_state { /* for one operator */
    uint64_t lo, hi;            /* the window: members lo .. hi - 1 */
    uint64_t from, to;          /* members fed to the accumulator, or searched so far */
    struct mrs_acc_state *acc;
    uint64_t rank;
    uint64_t before, behind;    /* indexes of neighbors; the number of members: none */
    bool any, wide;             /* a number, a decimal was found */
    bool nan, large;
    uint8_t type, last[16];     /* the average so far */
    char why[256];              /* "": no failure */
};
struct window_work {
    bool ready;
    struct window_state *state; /* one for each operator */
    uint32_t n;
    struct mrs_buf doc;         /* the results for a member */
    struct mrs_buf raw;
    struct mrs_elem *computed;  /* one for each operator */
    struct mrs_val *value;      /* one for each operator */
    struct mrs_val *result;     /* one for each field */
    bool *failed, *silent;      /* one for each field */
};
struct window_now {
    const struct mrsi_window *s;
    struct mrs_ctx *c;
    struct window_work *w;
    const struct mrs_window_group *g;
    uint64_t i; /* index of the current member */
};
/* Argument no of member i. */
struct mrsi_group_value mrsi_window_group_value(const struct window_now *now, uint64_t i, uint32_t no);
enum mrs_status mrsi_window_eval(const struct window_now *now, enum window_formula f,
                                 const struct mrs_val v[WINDOW_VARS], struct mrs_val *out);
/* window_frame.c: sets st->lo and st->hi to the window of the current member; windows only advance, except with months.
 * FAIL: none, with the reason in c->err. */
enum mrs_status mrsi_window_span(const struct window_now *now, const struct window_op *op, struct window_state *st);
/* Is a member in this window? */
bool mrsi_window_in_frame(const struct window_now *now, const struct window_frame *f, uint64_t i);
/* Is the value valid as sort key of such a window? */
bool mrsi_window_key_ok(bool dates, struct mrs_val x);
/* FAIL with the stored reason; fails: stores one. */
enum mrs_status mrsi_window_fails(const struct window_now *now, const char *why, bool large);
void mrsi_window_keep_why(struct window_state *st, const char *why, uint32_t n);
/* Result of an operator for the current member: OK with *out, FAIL with the reason in c->err, DEAD. Members come one
 * after the other. window_total.c: */
enum mrs_status mrsi_window_acc(const struct window_now *now, const struct window_op *op, struct window_state *st,
                                struct mrs_val *out);
enum mrs_status mrsi_window_derivative(const struct window_now *now, const struct window_op *op,
                                       struct window_state *st, struct mrs_val *out);
enum mrs_status mrsi_window_integral(const struct window_now *now, const struct window_op *op,
                                     struct window_state *st, struct mrs_val *out);

/* ---- kernels ---- */
enum mrs_status mrsi_window_enter(const void *state, struct mrs_ctx *c, struct mrs_view doc,
                                  struct mrs_window_entry *out);
enum mrs_status mrsi_window_group(const void *state, struct mrs_ctx *c, void *work, const struct mrs_window_group *g,
                                  const struct mrs_window_result *give);
enum mrs_status mrsi_window_splice(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                                   struct mrs_view alike, struct mrs_view given, struct mrs_buf *out,
                                   enum mrs_fate *fate);
/* window_work.c */
enum mrs_status mrsi_window_start(const struct mrsi_window *s, struct mrs_ctx *c, struct window_work *w);
void mrsi_window_work_clear(struct mrs_ctx *c, void *work);
/* window_describe.c */
enum mrs_status mrsi_window_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out,
                                     struct mrs_err *e);
enum mrs_status mrsi_window_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e);
enum mrs_status mrsi_window_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);

#endif
