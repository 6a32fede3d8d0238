/* SPDX-License-Identifier: Apache-2.0 */
/* expr_internal.h - the structure of a compiled expression, shared by the files of common/expr only.
 *
 * One operator = one row of a family's table (op_<family>.c) and one function. A function evaluates its own arguments,
 * so that lazy operators ($cond, $and, $switch, $ifNull) work like the others. Recursion follows the depth of the plan
 * (<= MRS_PLAN_DEPTH_MAX), never that of data. */
#ifndef MRS_EXPR_INTERNAL_H
#define MRS_EXPR_INTERNAL_H

#include "mongoreshape/expr.h"
#include "mongoreshape/value.h"

struct mrs_op;

enum mrsi_expr_kind {
    MRSI_LITERAL, /* lit */
    MRSI_PATH,    /* field path below the root or a variable: slot, parts */
    MRSI_CALL,    /* op(args) */
    MRSI_ARRAY,   /* array literal of args */
    MRSI_OBJECT   /* object literal: names[i]: args[i] */
};

/* Base of a path: >= 0 a slot of mrs_eval.slots; the others: */
#define MRSI_ROOT (-1)
#define MRSI_REMOVE (-2)
#define MRSI_STEP_VAR(i) (-16 - (i)) /* mrs_eval.vars[i] */

struct mrs_expr {
    enum mrsi_expr_kind kind;
    const struct mrs_op *op;
    struct mrs_expr **args; /* CALL: in the operator's own order; an absent optional argument is NULL */
    const char **names;     /* OBJECT */
    uint32_t n_args;
    struct mrs_val lit;     /* LITERAL; bytes in the arena of the root */
    int32_t base;           /* PATH */
    const char **part;      /* PATH: names below base */
    uint32_t *part_len;
    uint32_t n_parts;
    /* slots bound by $let (first of n), $map, $filter, $reduce (this, value, index or -1) */
    int32_t slot[3];
    /* result of the operator's compile hook (a compiled regex, a format), in the arena; freed by op->free_extra */
    void *extra;
    const char *bare;       /* text of a bare path, for mrs_expr_bare_path */
    struct mrsi_expr_root *root; /* owner of the memory */
    struct mrs_expr *next_extra; /* private to compile.c: list of nodes whose extra must be freed */
};

/* Memory of one compilation; freed by mrs_expr_free of its root. */
struct mrsi_expr_root {
    struct mrs_mem *mem;
    struct mrs_arena arena; /* nodes, names, literals */
    uint32_t n_slots;       /* number of variables bound inside */
    bool server_8_2;        /* as in struct mrs_expr_env */
    struct mrs_expr *extras;
};

/* The compilation in progress: hooks use it to compile arguments and to bind variables. */
struct mrsi_compile;

typedef enum mrs_status (*mrsi_eval_fn)(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out);
/* Compiles the arguments of an operator from the value after its name into x. NULL hook: `spec` is an array of
 * n_min..n_max expressions, or a single one if n_min <= 1 (as in the server), or, if `named` is set, a document of
 * these keys. */
typedef enum mrs_status (*mrsi_compile_fn)(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                                           struct mrs_err *e);

struct mrs_op {
    struct mrs_op_row row;
    mrsi_eval_fn eval;
    int8_t variant;           /* for operators that share `eval`: which of them */
    mrsi_compile_fn compile;  /* NULL: by counts or names */
    uint8_t n_min, n_max;     /* 255: any number */
    /* "input,find": required names; optional ones after a bar: "date|timezone,format"; args[] in that order */
    const char *named;
    void (*free_extra)(struct mrs_expr *x);
    bool impure;              /* never folded */
    bool since_8_3;           /* unknown under the rules of 8.2 */
};

#define MRSI_SINCE_8_3 "came with MongoDB 8.3" /* the note of a row */

/* Tables end in a row with a NULL name; listed in optable.c. */
extern const struct mrs_op mrsi_ops_arithmetic[], mrsi_ops_compare[], mrsi_ops_logic[], mrsi_ops_string[],
    mrsi_ops_regex[], mrsi_ops_replace[], mrsi_ops_hash[], mrsi_ops_array[], mrsi_ops_set[], mrsi_ops_object[],
    mrsi_ops_type[], mrsi_ops_date[],
    mrsi_ops_variable[], mrsi_ops_total[], mrsi_ops_power[], mrsi_ops_angle[], mrsi_ops_bits[], mrsi_ops_measure[],
    mrsi_ops_spread[], mrsi_ops_refused[];
/* Names for mrs_op_rows without a row of the kind above, each table ending in a NULL name: query_compile.c (family
 * "query"), query_refused.c ("refused query"). Accumulators have a separate table (acc.h). */
extern const struct mrs_op_row mrsi_query_rows[], mrsi_query_refused[];

/* compile.c */
enum mrs_status mrsi_compile_sub(struct mrsi_compile *c, struct mrs_val spec, struct mrs_expr **out,
                                 struct mrs_err *e);
/* Binds a variable for the following compilations until mrsi_compile_unbind(c, n); returns its slot. */
enum mrs_status mrsi_compile_bind(struct mrsi_compile *c, const char *name, uint32_t len, int32_t *slot,
                                  struct mrs_err *e);
void mrsi_compile_unbind(struct mrsi_compile *c, uint32_t n);
/* Binds the index of an element: as `name`, or as IDX if that is missing and the rules are those of 8.3. *bound: number
 * of variables bound. */
enum mrs_status mrsi_compile_bind_index(struct mrsi_compile *c, struct mrs_val name, uint32_t *bound,
                                        struct mrs_err *e);
/* The slot of the variable that mrsi_compile_bind_index has bound (`bound` of them) if later compilations used it; -1:
 * unused. */
int32_t mrsi_compile_index_slot(const struct mrsi_compile *c, uint32_t bound);
/* FAIL MRS_E_PLAN under the rules of 8.2: `what` ("it", "`base`") came with 8.3. */
enum mrs_status mrsi_compile_needs_8_3(const struct mrsi_compile *c, const struct mrs_expr *x, const char *what,
                                       struct mrs_err *e);
struct mrs_arena *mrsi_compile_arena(struct mrsi_compile *c);
/* n argument pointers in the arena, zeroed. */
enum mrs_status mrsi_compile_args(struct mrsi_compile *c, struct mrs_expr *x, uint32_t n, struct mrs_err *e);
/* A document of named arguments, per op->named. */
enum mrs_status mrsi_compile_named(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                                   const char *named, struct mrs_err *e);
/* Compiles children explicitly: allocates x->args and compiles an array of expressions, or a single one, into them,
 * n_min..n_max of them (255: any). */
enum mrs_status mrsi_compile_list(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, uint32_t n_min,
                                  uint32_t n_max, struct mrs_err *e);
/* by +1: from now on failing constants fail only when evaluated (for parts that the server drops unread); -1 ends
 * it. */
void mrsi_compile_lenient(struct mrsi_compile *c, int by);
/* Whether the value is constant; then it is x->lit. */
static inline bool
mrsi_is_constant(const struct mrs_expr *x)
{
    return x->kind == MRSI_LITERAL;
}
/* Makes x the constant v, whose bytes live as long as the plan or are in the arena of the compilation. */
void mrsi_compile_become(struct mrs_expr *x, struct mrs_val v);
/* op_constant.c: FAIL if the constant arguments of x, a call with other arguments that are not constant, make it always
 * fail. */
enum mrs_status mrsi_check_constants(const struct mrs_expr *x, struct mrs_eval *ev);
/* FAIL MRS_E_PLAN, prefixed by the operator's name. */
enum mrs_status mrsi_expr_refuse(const struct mrs_expr *x, struct mrs_err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* eval.c */
static inline bool
mrsi_is_nullish(struct mrs_val v)
{
    return mrs_is_nullish(v);
}
/* Evaluates any node. */
enum mrs_status mrsi_eval(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out);
/* Evaluates argument i; missing for an absent optional argument. */
enum mrs_status mrsi_arg(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, struct mrs_val *out);
/* FAIL MRS_E_EXPR, prefixed by the operator's name. */
enum mrs_status mrsi_eval_error(const struct mrs_expr *x, struct mrs_eval *ev, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool mrsi_truthy(struct mrs_val v); /* coerceToBool */
/* Results in the arena; DEAD without memory. */
enum mrs_status mrsi_ret_i32(struct mrs_eval *ev, int32_t v, struct mrs_val *out);
enum mrs_status mrsi_ret_i64(struct mrs_eval *ev, int64_t v, struct mrs_val *out);
/* int32 if it fits, else int64 */
enum mrs_status mrsi_ret_count(struct mrs_eval *ev, int64_t v, struct mrs_val *out);
enum mrs_status mrsi_ret_double(struct mrs_eval *ev, double v, struct mrs_val *out);
enum mrs_status mrsi_ret_decimal(struct mrs_eval *ev, const uint8_t dec[16], struct mrs_val *out);
enum mrs_status mrsi_ret_bool(struct mrs_eval *ev, bool v, struct mrs_val *out);
enum mrs_status mrsi_ret_date(struct mrs_eval *ev, int64_t ms, struct mrs_val *out);
enum mrs_status mrsi_ret_text(struct mrs_eval *ev, const char *text, size_t n, struct mrs_val *out);
enum mrs_status mrsi_ret_null(struct mrs_val *out);
enum mrs_status mrsi_ret_oid(struct mrs_eval *ev, const uint8_t oid[12], struct mrs_val *out);
enum mrs_status mrsi_ret_binary(struct mrs_eval *ev, const void *p, uint32_t n, uint8_t subtype, struct mrs_val *out);
/* convert_bytes.c: bytes as text of hexadecimal digits, in capitals. */
enum mrs_status mrsi_ret_hex(struct mrs_eval *ev, const uint8_t *p, uint32_t n, struct mrs_val *out);
/* Room for a string value of n bytes: the caller fills *text; DEAD without memory. */
enum mrs_status mrsi_ret_room(struct mrs_eval *ev, uint32_t n, char **text, struct mrs_val *out);
/* An array of n values, written once into the arena (cheaper than mrsi_out if all values are available); a missing one
 * becomes null. */
enum mrs_status mrsi_ret_array(struct mrs_eval *ev, const struct mrs_val *v, uint32_t n, struct mrs_val *out);
/* A growing list of values in the arena, for mrsi_ret_array. Zeroed at first. */
struct mrsi_list {
    struct mrs_val *v;
    uint32_t n, cap;
};
enum mrs_status mrsi_list_add(struct mrs_eval *ev, struct mrsi_list *l, struct mrs_val v);
/* Whether one of n values in ascending order compares equal. */
bool mrsi_sorted_has(const struct mrs_val *list, uint32_t n, struct mrs_val v);
/* An allocation failed: DEAD MRS_E_MEMORY; FAIL MRS_E_EXPR if the document used up its limit. */
enum mrs_status mrsi_eval_memory(struct mrs_eval *ev, size_t wanted);
/* Counts n steps of work. OK; FAIL MRS_E_EXPR: too many for one document; DEAD MRS_E_CANCEL. Must be called in every
 * loop over values. */
enum mrs_status mrsi_spent(struct mrs_eval *ev) MRS_RARE;
static inline enum mrs_status
mrsi_spend(struct mrs_eval *ev, uint64_t n)
{
    uint64_t was = ev->arena->steps;
    ev->arena->steps = was + n;
    return (was ^ (was + n)) >> 10 ? mrsi_spent(ev) : MRS_OK;
}
/* Before an operation reads a value of that size: long ones can be interrupted, too. Not counted as steps. */
enum { MRSI_LARGE_VALUE = 4096 };
static inline enum mrs_status
mrsi_look(struct mrs_eval *ev, uint64_t bytes)
{
    uint64_t was = ev->arena->read;
    ev->arena->read = was + bytes;
    return (was ^ (was + bytes)) >> 20 ? mrsi_spent(ev) : MRS_OK;
}
/* A buffer for a value under construction, which counts beside the arena. */
static inline void
mrsi_buf_init(struct mrs_eval *ev, struct mrs_buf *b, size_t ceiling)
{
    mrs_buf_init(b, ev->arena->mem, ceiling);
    b->beside = ev->arena;
}
/* An array or document under construction: a buffer over the arena's memory allocator whose result is copied into the
 * arena, or adopted by it. */
struct mrsi_expr_out {
    struct mrs_buf buf;
    struct mrs_build build;
};
void mrsi_out_begin(struct mrs_eval *ev, struct mrsi_expr_out *o);
/* Ends it, returns the value (MRS_ARRAY or MRS_DOCUMENT) with bytes in the arena, frees the buffer. MRS_E_LIMIT as FAIL
 * MRS_E_EXPR. */
enum mrs_status mrsi_out_end(struct mrs_eval *ev, struct mrsi_expr_out *o, uint8_t type, struct mrs_val *out);
void mrsi_out_drop(struct mrsi_expr_out *o); /* on error paths */

/* number.c: the server's promotion rules; decimals are 16 bytes as in BSON */
enum mrs_status mrsi_to_decimal(struct mrs_val v, uint8_t dec[16]); /* any number; doubles to 15 digits */
double mrsi_to_double(struct mrs_val v);                            /* any number */
/* 15 significant digits, as the server's implicit conversion */
void mrsi_double_to_decimal(double d, uint8_t dec[16]);
bool mrsi_decimal_is_zero(const uint8_t dec[16]);
bool mrsi_is_integer(struct mrs_val v, int64_t *whole); /* INT32 or INT64 */
static inline uint32_t
mrsi_width(uint8_t type) /* of a number type: int32 < int64 < double < decimal */
{
    return type == MRS_INT32 ? 0 : type == MRS_INT64 ? 1 : type == MRS_DOUBLE ? 2 : 3;
}
static inline uint8_t
mrsi_wider(uint8_t a, uint8_t b)
{
    return mrsi_width(a) >= mrsi_width(b) ? a : b;
}
/* date.c: a date, timestamp or objectId as milliseconds; false: another type */
bool mrsi_to_date(struct mrs_val v, int64_t *ms);
/* date.c: the text that $toDate reads (semantics.md section 3: ISO-8601 forms); false: not a date. */
bool mrsi_date_from_text(const char *text, uint32_t n, int64_t *ms);
/* date.c: "2024-01-31T12:00:00.000Z" of years 0..9999, as a string value in the arena; FAIL MRS_E_EXPR for other years
 * (x gives the operator's name in the message, may be NULL). The caller distinguishes this failure from a failed
 * conversion: $convert's onError does not catch it. */
enum mrs_status mrsi_date_to_text(const struct mrs_expr *x, struct mrs_eval *ev, int64_t ms, struct mrs_val *out);
/* The text of a value in string operators (semantics: coercion): strings, numbers, dates, timestamps; FAIL for
 * others. */
enum mrs_status mrsi_coerce_text(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v, const char **text,
                                 uint32_t *n);

#endif
