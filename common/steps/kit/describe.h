/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h - builds a step's description: sides, touches, losses, text.
 *
 * Everything is in the arena; a failure is recorded and returned by mrsi_describe_end. */
#ifndef MRSI_DESCRIBE_H
#define MRSI_DESCRIBE_H

#include "args.h"

/* The remedy, at the end of a reason. */
#define MRSI_DO_QUIET "; run the plan with --quiet-by"
#define MRSI_DO_CONTRACT "; use `apply` and then `contract`"
#define MRSI_NEW_IDS \
    "`_id` cannot change in place, a collection of the same name must be built next to it" MRSI_DO_QUIET
#define MRSI_ONE_COLLECTION \
    "`from` and `into` are one collection, which the step would read while it changes it" MRSI_DO_QUIET
#define MRSI_ORPHANS_MOVE \
    "which documents have no match is known only with writers stopped: say `orphans: keep`, or run the plan with " \
    "--quiet-by"
#define MRSI_NAMES_LATER \
    "what a reference names may be written a moment later: say `dangling: keep`, or run the plan with --quiet-by"
#define MRSI_TAKES_DOCUMENTS "documents leave their collection, a second pass would not find them" MRSI_DO_CONTRACT

struct mrsi_describe {
    struct mrs_arena *arena;
    struct mrs_err *err;
    struct mrs_desc *d;
    struct mrs_side *side;
    struct mrs_touch *touch, *name;
    const char **loss, **pattern, **fallible;
    struct mrs_pair_path *pair;
    struct mrs_listing *listing;
    uint32_t side_cap, touch_cap, name_cap, loss_cap, pattern_cap, pair_cap, listing_cap;
    int of;  /* side to which the reads of an expression belong */
    const char *above; /* parent of the paths of names; NULL: the document */
    bool bad, naming;
};
void mrsi_describe_begin(struct mrsi_describe *t, struct mrs_arena *arena, struct mrs_desc *out, enum mrs_family family,
                         struct mrs_err *e);
/* Index of the side. what: the key of the plan that has it. */
int mrsi_describe_side(struct mrsi_describe *t, const struct mrs_coll *coll, unsigned role, const char *what);
void mrsi_describe_touch(struct mrsi_describe *t, int side, char kind, const char *path);
/* A path in the plan of a step that reads whole documents; only for the warning that no document has it. */
void mrsi_describe_name(struct mrsi_describe *t, int side, const char *path);
/* The same for several paths, below a path (NULL: at the top). */
void mrsi_describe_names(struct mrsi_describe *t, int side, const char *above, const struct mrs_path *path, uint32_t n);
/* The same for `fields` and `drop` of the parts at a path; a part that is no document has the field `value`. */
struct mrsi_shape;
void mrsi_describe_shape(struct mrsi_describe *t, const char *above, const struct mrsi_shape *shape, const char *value);
/* The same for everything that expressions, queries, sorts and accumulators read, until called with false. */
void mrsi_describe_naming(struct mrsi_describe *t, bool on);
/* A name with a star; the kernels report whether it matches a field. */
void mrsi_describe_pattern(struct mrsi_describe *t, const char *text);
/* Like mrsi_describe_naming(t, true), for reads below a path. */
void mrsi_describe_naming_below(struct mrsi_describe *t, const char *above);
/* The keys of a join: from is side 0, into side 1. */
void mrsi_describe_match(struct mrsi_describe *t, const struct mrsi_pair *pair, uint32_t n);
/* What it reads, as touches 'R' of the side; NULL: nothing. */
void mrsi_describe_expr(struct mrsi_describe *t, int side, const struct mrs_expr *x);
/* The same for what it reads below a variable of the step that is a document of the side. */
void mrsi_describe_expr_var(struct mrsi_describe *t, int side, const struct mrs_expr *x, uint32_t var);
void mrsi_describe_query(struct mrsi_describe *t, int side, const struct mrs_query *q);
void mrsi_describe_sort(struct mrsi_describe *t, int side, const struct mrs_sort *s);
void mrsi_describe_acc(struct mrsi_describe *t, int side, const struct mrs_acc *x);
/* The value of `errors` (enum mrsi_errors), and the fields that may fail, in the order of mrsi_step_eased. A second
 * call adds fields. */
void mrsi_describe_errors(struct mrsi_describe *t, int errors, const struct mrs_path *path, uint32_t n);
void mrsi_describe_loss(struct mrsi_describe *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds to the text; the caller separates sentences. */
void mrsi_describe_words(struct mrsi_describe *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "a, b and 7 more": at most `most` paths. */
const char *mrsi_describe_paths(struct mrsi_describe *t, const struct mrs_path *path, uint32_t n, uint32_t most);
void mrsi_describe_once(struct mrsi_describe *t, const char *why); /* not repeatable, with the reason */
/* Not repeatable if `from` (side 0) and `into` (side 1) are one collection and the step reads what it writes; call it
 * after all touches. */
void mrsi_describe_once_of_one(struct mrsi_describe *t);
/* The same for a step that changes the documents of one collection in place. */
void mrsi_describe_once_of_own(struct mrsi_describe *t);
/* One more pair of match (n_pairs counts them); NULL: a path that dots cannot express. */
void mrsi_describe_pair(struct mrsi_describe *t, const struct mrs_path *from, const struct mrs_path *into);
void mrsi_describe_listing(struct mrsi_describe *t, int side, const char *field, const char *key);
/* The reason why it requires stopped writers, or cannot run in place while writers run; the first reason stays. The
 * text ends with the remedy. */
void mrsi_describe_quiet(struct mrsi_describe *t, const char *why);
void mrsi_describe_not_direct(struct mrsi_describe *t, const char *why);
/* The reason of `conflicts: first|last`, which needs to see all candidates at once. */
void mrsi_describe_conflicts(struct mrsi_describe *t);
enum mrs_status mrsi_describe_end(struct mrsi_describe *t);

/* comparing.c: does an expression (or a map of them) compare values? */
bool mrsi_compares(struct mrs_val spec);

#endif
