/* SPDX-License-Identifier: Apache-2.0 */
/* args.h - compiles an entry of a plan into the state of a step.
 *
 * A compile hook opens a reader, reads its keys with the functions below and closes the reader. Each function reports
 * an error of its key through args->report and returns false; the hook continues with the next key and checks no status
 * until mrsi_read_end. The state owns everything that was compiled (struct mrsi_owned must be its first member), so an
 * incomplete state is freed like a complete one. */
#ifndef MRSI_ARGS_H
#define MRSI_ARGS_H

#include "mongoreshape/expr.h"
#include "mongoreshape/path.h"
#include "mongoreshape/step.h"

/* ---- the owner list: first member of every state ---- */
enum mrsi_kind { MRSI_EXPR, MRSI_QUERY, MRSI_SORT, MRSI_EDIT, MRSI_PROJECTION, MRSI_WINDOWS, MRSI_ACC };
struct mrsi_owned {
    struct mrs_mem *mem;
    struct mrsi_kept_files {
        enum mrsi_kind kind;
        void *p;
    } *item;
    uint32_t n, cap;
};
/* Takes ownership of p, which may be NULL. False: out of memory, p has been freed. */
bool mrsi_level_add(struct mrsi_owned *k, enum mrsi_kind kind, void *p);
/* A free_state hook for every state that is in the arena and begins with its owner list. NULL: no effect. */
void mrsi_state_free(struct mrs_mem *mem, void *state);

/* ---- the reader ---- */
struct mrsi_read {
    struct mrs_args *args;
    struct mrs_err *err;
    struct mrsi_owned *keep;  /* of the state */
    enum mrs_status status;  /* DEAD: out of memory; errors of the plan are counted in args */
    const char *const *vars; /* the step's own variables, for expressions read after this is set */
    uint32_t n_vars;
    uint32_t errors_before;  /* args->n_errors at the start */
    bool patterns;           /* a star in a path matches names, or has its own error */
};
/* Makes the state: `size` zeroed bytes in the arena. NULL: out of memory, the hook returns MRS_DEAD. */
void *mrsi_read_begin(struct mrsi_read *r, struct mrs_args *args, size_t size, struct mrs_err *e);
/* OK with *state, or the worst status; then everything owned is freed and *state is NULL. */
enum mrs_status mrsi_read_end(struct mrsi_read *r, void **state);
bool mrsi_read_good(const struct mrsi_read *r); /* no error so far: values may be used together */
/* Records a failure of a called function: DEAD stays, a plan error is reported at key and sub. Always false. */
bool mrsi_read_failed(struct mrsi_read *r, const char *key, const char *sub, enum mrs_status s,
                      const struct mrs_err *e);
/* Reports an error of the plan; always false. sub may be NULL. */
bool mrsi_read_error(struct mrsi_read *r, const char *key, const char *sub, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void mrsi_read_warn(struct mrsi_read *r, const char *key, const char *sub, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Zeroed memory that lives as long as the plan; NULL: out of memory (recorded as DEAD). */
void *mrsi_read_alloc(struct mrsi_read *r, size_t n, size_t size);
/* Text in the arena. */
const char *mrsi_read_text_of(struct mrsi_read *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A value of the plan and its place. v is missing if the key is absent: every function below then returns false without
 * a report and leaves its result unchanged, so set defaults first. */
struct mrsi_slot {
    struct mrs_val v;
    const char *key; /* key of the step */
    const char *sub; /* key or index inside its value; NULL */
    const struct mrs_key *def; /* its row, if any: choices */
};
struct mrsi_slot mrsi_slot(const struct mrsi_read *r, const char *key);
bool mrsi_slot_present(struct mrsi_slot s);
/* Checks a map with keys of its own: reports unknown keys with the nearest known one, and missing required keys. True:
 * a map without such errors. */
bool mrsi_read_map(struct mrsi_read *r, struct mrsi_slot map, const struct mrs_key *keys, uint32_t n_keys);
/* The value of a key of such a map (missing if it is not a map). */
struct mrsi_slot mrsi_slot_in(struct mrsi_slot map, const struct mrs_key *keys, uint32_t n_keys, const char *name);
/* The same for a map that is an entry of a list: sub becomes "3.name" for the report. */
struct mrsi_slot mrsi_slot_below(struct mrsi_read *r, struct mrsi_slot map, const struct mrs_key *keys, uint32_t n_keys,
                                 const char *name);
/* The nearest of n words (edit distance, at most a third of the word), or NULL. */
const char *mrsi_arg_nearest(const char *word, const struct mrs_key *keys, uint32_t n_keys);

bool mrsi_read_coll(struct mrsi_read *r, struct mrsi_slot s, struct mrs_coll *out);
bool mrsi_coll_same(const struct mrs_coll *a, const struct mrs_coll *b);
/* The keys `from` and `into`, which must be different collections. */
void mrsi_read_from_into(struct mrsi_read *r, struct mrs_coll *from, struct mrs_coll *into);
bool mrsi_read_bool(struct mrsi_read *r, struct mrsi_slot s, bool *out);
bool mrsi_read_count(struct mrsi_read *r, struct mrsi_slot s, uint64_t *out);
/* Index of the word among the row's choices; YAML's null counts as the word "null". */
bool mrsi_read_choice(struct mrsi_read *r, struct mrsi_slot s, int *out);
/* The same, or {into: coll}: then *out is the number of choices and *coll is set. */
bool mrsi_read_choice_or_coll(struct mrsi_read *r, struct mrsi_slot s, int *out, struct mrs_coll *coll);
bool mrsi_read_text(struct mrsi_read *r, struct mrsi_slot s, const char **out);
/* A top-level field name: no dots, no `$` in front. */
bool mrsi_read_name(struct mrsi_read *r, struct mrsi_slot s, const char **out);
bool mrsi_read_path(struct mrsi_read *r, struct mrsi_slot s, struct mrs_path *out);
/* A path from plain text (a key of a map). */
bool mrsi_read_path_text(struct mrsi_read *r, const char *key, const char *sub, const char *text, struct mrs_path *out);
/* False and an error at the slot if a path that is written begins with `_id`. */
bool mrsi_read_not_id(struct mrsi_read *r, struct mrsi_slot s, const struct mrs_path *path);

struct mrsi_paths {
    struct mrs_path *path;
    uint32_t n;
};
/* A list of paths; no path may equal or contain another. */
bool mrsi_read_paths(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_paths *out);

/* A new edit that the step owns; NULL: out of memory. Then one more path of it (NULL: none): errors are reported at key
 * and sub. */
struct mrs_edit *mrsi_read_new_edit(struct mrsi_read *r);
bool mrsi_read_edit_path(struct mrsi_read *r, struct mrs_edit *ed, const char *key, const char *sub,
                         const struct mrs_path *path);
/* An edit at these paths of the key; none may contain another. */
bool mrsi_read_edit(struct mrsi_read *r, const char *key, const struct mrs_path *path, uint32_t n,
                    struct mrs_edit **out);

struct mrsi_fields {
    bool present;
    bool map;              /* new documents from expressions, else a list of paths to keep */
    bool without_id;       /* `-_id` in the list */
    struct mrs_path *path; /* list: paths to keep; map: the new names */
    struct mrs_expr **expr; /* map: one for each path; owned by the state */
    uint32_t n;
};
bool mrsi_read_fields(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_fields *out);
/* Only the map form. */
bool mrsi_read_exprs(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_fields *out);

bool mrsi_read_expr(struct mrsi_read *r, struct mrsi_slot s, struct mrs_expr **out);
/* An accumulator; the slot must exist. */
bool mrsi_read_acc(struct mrsi_read *r, struct mrsi_slot s, struct mrs_acc **out);
bool mrsi_read_query(struct mrsi_read *r, struct mrsi_slot s, struct mrs_query **out);
bool mrsi_read_sort(struct mrsi_read *r, struct mrsi_slot s, struct mrs_sort **out);

/* One side of match: a path or a computed expression. */
struct mrsi_side_key {
    struct mrs_path path;   /* n 0: computed */
    struct mrs_expr *expr;  /* NULL: a path */
};
struct mrsi_pair {
    struct mrsi_side_key from, into;
};
struct mrsi_match {
    struct mrsi_pair *pair;
    uint32_t n;
};
bool mrsi_read_match(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_match *out);

#endif
