/* SPDX-License-Identifier: Apache-2.0 */
/* expr.h - aggregation expressions, query predicates and sort keys, evaluated on raw BSON as MongoDB 8.3 does.
 *
 * Compile once, evaluate on any thread: compiled objects are immutable. Values created by an evaluation live in the
 * arena of its struct mrs_eval, values found in the document point into it; so both live until the arena is reset or
 * the document is freed. An unknown operator is a plan error with its name and the nearest known one. */
#ifndef MONGORESHAPE_EXPR_H
#define MONGORESHAPE_EXPR_H

#include "mongoreshape/doc.h"
#include "mongoreshape/lists.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_expr;
struct mrs_query;
struct mrs_sort;
struct mrs_path;

/* Gives queries access to values of other collections, {path: {$in: {from, field, where}}}. read: reads that document
 * and assigns a number to the list of its values; path: the field compared with the list. OK; FAIL MRS_E_PLAN; DEAD. */
struct mrs_far {
    enum mrs_status (*read)(void *arg, struct mrs_view spec, const char *path, bool not_in, uint32_t *list,
                            struct mrs_err *e);
    void *arg;
};

/* The environment of a compilation. vars: names of the step's own variables ("PARENT", "ITEM"), value slots 0..n-1 of
 * mrs_eval.vars. */
struct mrs_expr_env {
    struct mrs_mem *mem;
    const char *const *vars;
    uint32_t n_vars;
    int64_t now_ms; /* $$NOW, bound once per run: constants are folded at compile time */
    /* also an error: a constant argument at which an operator fails for all documents but those in which another one is
     * null or missing */
    bool strict;
    bool server_8_2; /* as MongoDB 8.2: features of 8.3 are errors that name 8.3 */
    const struct mrs_far *far; /* of queries; NULL: no access to other collections */
};

/* What a conversion made of a value, though hardly meant: bits of mrs_eval.doubts. */
enum { MRS_DOUBT_TRUE = 1,   /* true, of a text other than "true", as "false" and "no" are */
       MRS_DOUBT_EARLY = 2 }; /* a date before 1980, of a number, as seconds are */

/* Expressions that read the same document can share its fields: struct mrs_eval_fields of doc.h. */
struct mrs_eval {
    struct mrs_arena *arena;
    struct mrs_view root;       /* $$ROOT, and the document of "$a.b" */
    const struct mrs_val *vars; /* the step's variables, as many as env.n_vars */
    struct mrs_err *err;        /* may be NULL */
    const struct mrs_eval_fields *fields; /* of root, from mrs_eval_fields; NULL: looked up each time */
    struct mrs_lists *lists;    /* for queries on values of other collections; NULL: none */
    unsigned doubts;            /* evaluations add MRS_DOUBT_ bits */
    struct mrs_val *slots;      /* private: values of $let, $map, ...; zeroed at first */
    uint32_t n_slots;           /* private */
};

/* Compiles an expression from a BSON value. FAIL MRS_E_PLAN: unknown operator, wrong arguments, a constant part that
 * fails (server rule); where: the path inside the expression. DEAD MRS_E_MEMORY. */
enum mrs_status mrs_expr_compile(const struct mrs_expr_env *env, struct mrs_val spec, struct mrs_expr **out,
                                 struct mrs_err *e);
void mrs_expr_free(struct mrs_expr *x); /* NULL: no effect */
/* OK: *out is the value, may be missing. FAIL MRS_E_EXPR with the reason. DEAD MRS_E_MEMORY. */
enum mrs_status mrs_expr_eval(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out);
/* Finds the fields of ev->root, once; room and root must stay valid and unchanged until the evaluations end. */
void mrs_eval_fields(struct mrs_eval *ev, struct mrs_eval_fields *room);
/* True if the value does not depend on the document; then *v (may be NULL) is it. */
bool mrs_expr_constant(const struct mrs_expr *x, struct mrs_val *v);
/* A bare field path "$a.b": its text without the dollar, else NULL. */
const char *mrs_expr_bare_path(const struct mrs_expr *x);
/* For {$dateTrunc: {date: "$a.b", ...}} with constant other arguments: the text of that path, else NULL. */
const char *mrs_expr_truncated_path(const struct mrs_expr *x);
/* For such an expression: all dates in [*start, *end), which contains ms, become the date *start. False: unknown, as
 * near a change of clocks, or one of them cannot be stored. */
bool mrs_expr_truncates(const struct mrs_expr *x, int64_t ms, int64_t *start, int64_t *end);
/* Calls fn with each field path that the expression reads ("a.b"; "" for all of $$ROOT). */
void mrs_expr_reads(const struct mrs_expr *x, void (*fn)(void *arg, const char *path), void *arg);
/* The same for paths below the variable vars[var] of its struct mrs_expr_env. */
void mrs_expr_reads_var(const struct mrs_expr *x, uint32_t var, void (*fn)(void *arg, const char *path), void *arg);

/* ---- static properties of values ---- */
static inline uint32_t
mrs_type_bit(uint8_t type)
{
    return 1u << (type == MRS_MAXKEY ? 30 : type == MRS_MINKEY ? 31 : type);
}
struct mrs_types {
    uint32_t of, items; /* mrs_type_bit of each possible type of the value, and of the elements if it is an array */
};
/* False: unknown. */
bool mrs_expr_types(const struct mrs_expr *x, struct mrs_types *out);
/* Is a condition known to be false, and not to fail, if the top-level field has any of these types? */
bool mrs_expr_excludes(const struct mrs_expr *cond, const char *field, uint32_t types);
/* The i-th literal field of an expression that returns a document: {...} or the last operand of $mergeObjects; false:
 * there are no more. mrs_expr_all_fields: the document has no other fields. */
struct mrs_expr_field {
    const char *name;
    const struct mrs_expr *expr; /* NULL: the field is the constant val */
    struct mrs_val val;          /* missing: expr is not constant */
};
bool mrs_expr_field(const struct mrs_expr *x, uint32_t i, struct mrs_expr_field *out);
bool mrs_expr_all_fields(const struct mrs_expr *x);
/* Whether an expression returns the same value again after its value was written to the place below: f(f(x)) = f(x),
 * all else unchanged. */
struct mrs_expr_self { /* the place of the value */
    const struct mrs_path *path; /* a field of the document; NULL: the variable, or, if that is -1, the document */
    int var;
    bool keeps;       /* if the expression fails, the old value stays */
    bool flat;        /* the result may be no document or array: nested values were checked before */
    uint32_t instead; /* mrs_type_bit of the value written on failure; 0: none */
};
bool mrs_expr_repeats(const struct mrs_expr *x, const struct mrs_expr_self *self);

/* Query predicates (`where`, validators). */
enum mrs_status mrs_query_compile(const struct mrs_expr_env *env, struct mrs_view filter, struct mrs_query **out,
                                  struct mrs_err *e);
void mrs_query_free(struct mrs_query *q);
/* OK with *yes; FAIL MRS_E_EXPR ($expr failed); DEAD. */
enum mrs_status mrs_query_match(const struct mrs_query *q, struct mrs_eval *ev, bool *yes);
/* The types that a name or number of `$type` refers to, as bits of mrs_type_bit; 0: none. */
uint32_t mrs_type_bits(struct mrs_val name);
void mrs_query_reads(const struct mrs_query *q, void (*fn)(void *arg, const char *path), void *arg);

/* `$sort`: {a: 1, "b.c": -1}, 1 to 32 keys. strict: directions exactly 1 or -1; else the server's less strict rule
 * (semantics: 2.5). */
enum mrs_status mrs_sort_compile(const struct mrs_expr_env *env, struct mrs_view spec, bool strict,
                                 struct mrs_sort **out, struct mrs_err *e);
void mrs_sort_free(struct mrs_sort *s);
/* Appends bytes whose memcmp order is the sort order. FAIL MRS_E_EXPR: parallel arrays. key->ceiling bounds it
 * (MRS_E_LIMIT). */
enum mrs_status mrs_sort_key(const struct mrs_sort *s, struct mrs_view d, struct mrs_buf *key, struct mrs_err *e);
void mrs_sort_reads(const struct mrs_sort *s, void (*fn)(void *arg, const char *path), void *arg);

/* `$convert` of one value to a type name ("int", "date", ..., and "uuid", as $toUUID) without onError: the rules of
 * `cast`, which leaves existing documents and arrays. FAIL MRS_E_EXPR. */
enum mrs_status mrs_convert(struct mrs_eval *ev, struct mrs_val v, const char *to, struct mrs_val *out);
/* Whether `cast` accepts a type name (PLAN-DETAILS: double, string, objectId, bool, date, int, long, decimal, binData;
 * object, array). */
bool mrs_convert_known(const char *to);

/* ---- time windows with the rules of `$dateTrunc` (units, zones, weeks) ---- */
struct mrs_windows;
struct mrs_windows_spec { /* missing values: UTC, Sunday */
    struct mrs_val unit;  /* "millisecond" ... "year" */
    int64_t size;
    struct mrs_val timezone, start_of_week;
};
/* FAIL MRS_E_PLAN, where: "unit", "size", "timezone" or "startOfWeek"; DEAD. Immutable afterwards. */
enum mrs_status mrs_windows_new(struct mrs_mem *mem, const struct mrs_windows_spec *spec, struct mrs_windows **out,
                                struct mrs_err *e);
void mrs_windows_free(struct mrs_windows *w); /* NULL: no effect */
/* The start of the window of a date (milliseconds since 1970), and the start of the next window; false: it cannot be
 * stored as a date. */
bool mrs_window_start(const struct mrs_windows *w, int64_t ms, int64_t *start);
bool mrs_window_end(const struct mrs_windows *w, int64_t ms, int64_t *end);
/* Both at once, if all dates from start to end lie in the window: always for windows shorter than a day, or if the
 * zone's clocks never change; false otherwise, and if one of them cannot be stored. */
bool mrs_window_whole(const struct mrs_windows *w, int64_t ms, int64_t *start, int64_t *end);

/* ---- accumulators: what `$group` computes over many documents (server: semantics of $group, 8.2) ----
 * $sum $avg $min $max $count $first $last $push $addToSet $firstN $lastN $minN $maxN $top $topN $bottom $bottomN
 * $mergeObjects $stdDevPop $stdDevSamp $median $percentile $setUnion $concatArrays; sets in order of first appearance;
 * of equal values the first is kept and comes first. Compiled once and shared by threads; a state belongs to one thread
 * and processes one group at a time, so a group allocates nothing once the state is large enough. */
struct mrs_acc;
struct mrs_acc_state;
/* Whether a value of a plan is an accumulator: a document whose only key is the name of one. */
bool mrs_acc_is(struct mrs_val spec);
/* spec: {$sum: <expression>}. FAIL MRS_E_PLAN as mrs_expr_compile (also for an `n` that is not constant or not a
 * positive integer, a wrong `method` or `p`, an array of expressions); DEAD. */
enum mrs_status mrs_acc_compile(const struct mrs_expr_env *env, struct mrs_val spec, struct mrs_acc **out,
                                struct mrs_err *e);
void mrs_acc_free(struct mrs_acc *x); /* NULL: no effect */
/* Calls fn with each field path that its expressions read. */
void mrs_acc_reads(const struct mrs_acc *x, void (*fn)(void *arg, const char *path), void *arg);
/* The argument from one document: one value, perhaps missing, to pass to feed as it is ($top and the like: sort key and
 * output in an array). It lives in the arena of ev or in the document. OK; FAIL MRS_E_EXPR; DEAD. */
enum mrs_status mrs_acc_argument(const struct mrs_acc *x, struct mrs_eval *ev, struct mrs_val *out);
/* True if the argument is the same for every document; then *v is it. */
bool mrs_acc_constant(const struct mrs_acc *x, struct mrs_val *v);
/* The text of the argument without the dollar if it is a bare field path "$a.b", else NULL. */
const char *mrs_acc_bare_path(const struct mrs_acc *x);
/* Whether it computes a number from numbers ($sum, $avg, $stdDevPop, $median, ...) and ignores other types. */
bool mrs_acc_is_total(const struct mrs_acc *x);
/* ceiling: maximum bytes of values in a state ($push, $addToSet, *N); more is MRS_E_LIMIT. */
enum mrs_status mrs_acc_state_new(const struct mrs_acc *x, struct mrs_mem *mem, size_t ceiling,
                                  struct mrs_acc_state **out, struct mrs_err *e);
/* A common bound on the bytes of all states of one group, since their values become one document. with outlives the
 * state and belongs to the same thread. */
struct mrs_acc_shared {
    uint64_t held, most;
};
void mrs_acc_share(struct mrs_acc_state *s, struct mrs_acc_shared *with);
void mrs_acc_state_free(struct mrs_acc_state *s); /* NULL: no effect */
void mrs_acc_reset(struct mrs_acc_state *s); /* back to no documents; memory is kept */
/* Adds one document's argument; v is copied before it returns. OK; FAIL MRS_E_EXPR ($mergeObjects of a number),
 * MRS_E_LIMIT (over the ceiling); DEAD. After a failure only reset, load and free are allowed. */
enum mrs_status mrs_acc_feed(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e);
/* The current value (never missing: null if the server writes null); lives in the arena or in the state until the next
 * feed or reset. Feeding may continue. */
enum mrs_status mrs_acc_value(const struct mrs_acc_state *s, struct mrs_arena *a, struct mrs_val *out,
                              struct mrs_err *e);
/* Save: appends the state as one BSON document to out. Load: restores it; later results are the same to the last bit.
 * load: FAIL MRS_E_FORMAT: not written by save. */
enum mrs_status mrs_acc_save(const struct mrs_acc_state *s, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status mrs_acc_load(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e);
/* A compact state, small enough to store one for each of many groups; 0: this accumulator has none. room: that many
 * bytes, with any alignment. feed: as mrs_acc_feed, one value each for n contiguous states; false: one of them does not
 * fit any more, it and those after it are unchanged. from: loads a state that was just reset, to read its value. OK;
 * DEAD. */
size_t mrs_acc_small_size(const struct mrs_acc *x);
void mrs_acc_small_reset(const struct mrs_acc *x, uint8_t *room);
bool mrs_acc_small_feed(const struct mrs_acc *const *x, uint32_t n, uint8_t *room, const struct mrs_val *v);
enum mrs_status mrs_acc_from_small(struct mrs_acc_state *s, const uint8_t *room, struct mrs_err *e);
/* True if every document has the same argument, and only their number matters. Then a state that was just reset can be
 * fed n > 0 of them at once: OK; FAIL MRS_E_LIMIT: n too large; DEAD. */
bool mrs_acc_counts(const struct mrs_acc *x);
enum mrs_status mrs_acc_feed_times(struct mrs_acc_state *s, uint64_t n, struct mrs_err *e);

/* The edition of the system's time zone data ("2025b"); "": unknown. FAIL MRS_E_IO. */
enum mrs_status mrs_tzdata_version(char *text, size_t size, struct mrs_err *e);

/* The operator table, for docs and "nearest known" hints: the i-th row; NULL after the last. */
struct mrs_op_row {
    const char *name; /* with its dollar */
    const char *family; /* "arithmetic", "string", ..., "query" */
    const char *note; /* differences from the server; "" */
};
const struct mrs_op_row *mrs_op_rows(uint32_t i);

#ifdef __cplusplus
}
#endif
#endif
