/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h - building a step's description of itself: sides, touches, losses, words.
 *
 * Everything goes into the arena; a failure is remembered and returned by mrsi_describe_end. */
#ifndef MRSI_DESCRIBE_H
#define MRSI_DESCRIBE_H

#include "args.h"

/* What to do instead, at the end of a reason. */
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
    int of;  /* side that reads are charged to while an expression is asked */
    const char *above; /* what the paths of names lie below; NULL: the document */
    bool bad, naming;
};
void mrsi_describe_begin(struct mrsi_describe *t, struct mrs_arena *arena, struct mrs_desc *out, enum mrs_family family,
                         struct mrs_err *e);
/* Index of the side. what: the key of the plan that names it. */
int mrsi_describe_side(struct mrsi_describe *t, const struct mrs_coll *coll, unsigned role, const char *what);
void mrsi_describe_touch(struct mrsi_describe *t, int side, char kind, const char *path);
/* A path that the plan names where the step reads whole documents: only to tell that no document has it. */
void mrsi_describe_name(struct mrsi_describe *t, int side, const char *path);
/* The same of several, below a path (NULL: at the top). */
void mrsi_describe_names(struct mrsi_describe *t, int side, const char *above, const struct mrs_path *path, uint32_t n);
/* The same of what expressions, queries, sorts and accumulators read, until it is called with false. */
void mrsi_describe_naming(struct mrsi_describe *t, bool on);
/* A name with a star, of which the kernels say whether it fits something. */
void mrsi_describe_pattern(struct mrsi_describe *t, const char *text);
/* As mrsi_describe_naming(t, true), where they read what lies below a path. */
void mrsi_describe_naming_below(struct mrsi_describe *t, const char *above);
/* The keys of a join: from is side 0, into side 1. */
void mrsi_describe_match(struct mrsi_describe *t, const struct mrsi_pair *pair, uint32_t n);
/* What it reads, as touches 'R' of the side; NULL: nothing. */
void mrsi_describe_expr(struct mrsi_describe *t, int side, const struct mrs_expr *x);
void mrsi_describe_query(struct mrsi_describe *t, int side, const struct mrs_query *q);
void mrsi_describe_sort(struct mrsi_describe *t, int side, const struct mrs_sort *s);
void mrsi_describe_acc(struct mrsi_describe *t, int side, const struct mrs_acc *x);
/* What `errors` says (enum mrsi_errors), and fields that may fail, in the order of mrsi_step_eased. Asked again it adds
 * fields. */
void mrsi_describe_errors(struct mrsi_describe *t, int errors, const struct mrs_path *path, uint32_t n);
void mrsi_describe_loss(struct mrsi_describe *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds to the words; sentences are parted by the caller. */
void mrsi_describe_words(struct mrsi_describe *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "a, b and 7 more": the texts of paths, at most `most` of them. */
const char *mrsi_describe_paths(struct mrsi_describe *t, const struct mrs_path *path, uint32_t n, uint32_t most);
void mrsi_describe_once(struct mrsi_describe *t, const char *why); /* not repeatable, and why */
/* Not repeatable if `from` (side 0) and `into` (side 1) are one collection, of which it reads what it writes; called
 * when all touches are described. */
void mrsi_describe_once_of_one(struct mrsi_describe *t);
/* One more pair of match (n_pairs counts them); NULL: a path that cannot be written with dots. */
void mrsi_describe_pair(struct mrsi_describe *t, const struct mrs_path *from, const struct mrs_path *into);
void mrsi_describe_listing(struct mrsi_describe *t, int side, const char *field, const char *key);
/* Why it can run only with writers stopped, or not in place while writers run; the first reason stays. The texts end
 * with what to do. */
void mrsi_describe_quiet(struct mrsi_describe *t, const char *why);
void mrsi_describe_not_direct(struct mrsi_describe *t, const char *why);
/* The reason of `conflicts: first|last`, which needs to see all candidates at once. */
void mrsi_describe_conflicts(struct mrsi_describe *t);
enum mrs_status mrsi_describe_end(struct mrsi_describe *t);

/* comparing.c: whether an expression (or a map of them) compares values. */
bool mrsi_compares(struct mrs_val spec);

#endif
