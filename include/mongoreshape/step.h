/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the step interface: a step defines the result, engines move the documents.
 *
 * A step is one const struct (struct mrs_step_type) and the state that its compile hook makes of one entry of a plan.
 * The state is immutable after compile and shared by all threads. A step defines which collections it uses and how
 * (describe), its changes to the catalogue of collections and indexes (catalog), and pure kernels over raw bytes. A
 * step does not know where documents come from, their batches, the number of threads, spilling, or how a run resumes.
 * So one step serves the offline engine (gathers with sorts and spills), the live engine (units of an _id range, read
 * by index) and the server stage (pulls one document at a time).
 *
 * Kernels take the state, a per-thread context and views that live for the call. Their results live in the context's
 * arena or in buffers of the caller until the arena is reset (once per source document). A kernel refuses a document by
 * MRS_SKIP with err->where (the key of the plan whose evaluation failed) and err->msg filled; MRS_DEAD means no memory
 * or a violated precondition. */
#ifndef MONGORESHAPE_STEP_H
#define MONGORESHAPE_STEP_H

#include "mongoreshape/doc.h"
#include "mongoreshape/stars.h"
#include "mongoreshape/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A collection as written in a plan. Texts live as long as the plan. */
struct mrs_coll {
    const char *db, *coll;
    const char *ns; /* "db.coll" */
};

/* ---- keys of a step in the plan ---- */
enum mrs_arg_type {
    MRS_ARG_COLL,    /* a collection: text or {db, coll} */
    MRS_ARG_COLLS,   /* several: list of collections, or map tag: collection, or list of {value, into} */
    MRS_ARG_TEXT,    /* a plain string */
    MRS_ARG_NAME,    /* a top-level field name */
    MRS_ARG_PATH,    /* dotted text or list of names */
    MRS_ARG_PATHS,   /* list of paths (or of names) */
    MRS_ARG_FIELDS,  /* list of paths, or map new name: expression */
    MRS_ARG_EXPR,
    MRS_ARG_QUERY,
    MRS_ARG_SORT,
    MRS_ARG_MATCH,   /* map path: path, or list of {from, into} expressions */
    MRS_ARG_BOOL,
    MRS_ARG_COUNT,   /* an integer >= 0 */
    MRS_ARG_CHOICE,  /* one of `choices` */
    MRS_ARG_CHOICE_OR_COLL, /* one of `choices`, or {into: coll} */
    MRS_ARG_MAP,     /* a map with keys of its own, checked by the step */
    MRS_ARG_LIST,
    MRS_ARG_ANY
};

struct mrs_key {
    const char *name;
    enum mrs_arg_type type;
    bool needed;
    const char *choices; /* "keep|drop|refuse", the default first; NULL */
    const char *help;    /* one line for the manual and explain */
};
/* Keys inside the value of a key that is a map. Help, skeletons and the schema read them. */
struct mrs_inner {
    const char *key;
    const struct mrs_key *keys;
    uint32_t n_keys;
    bool each; /* of each entry of a list */
};

/* The input of compile: one entry of a plan. The values are BSON, Extended JSON wrappers resolved; the plan keeps their
 * positions. */
struct mrs_args {
    struct mrs_mem *mem;
    struct mrs_arena *arena; /* lives as long as the plan: names, paths and literals may point into it */
    struct mrs_view body;    /* {from: ..., into: ..., match: {...}} */
    const char *default_db;  /* database of collections named by a string */
    int64_t now_ms;          /* $$NOW */
    uint32_t version;        /* of the plan language, 1 or 2; 2 if the plan has no version */
    bool server_8_2;         /* of struct mrs_expr_env */
    struct mrs_conditions *conditions; /* (condition.h) to fill; NULL: no `where` may refer to another collection */
    const struct mrs_step_type *type;
    /* Reports an error of the plan at `key` (NULL: the step itself) and, if not NULL, at `sub`, a key or index in its
     * value. All are collected; compile continues and returns MRS_FAIL at its end if there was one. */
    void (*report)(void *arg, const char *key, const char *sub, const char *msg);
    void (*warn)(void *arg, const char *key, const char *sub, const char *msg);
    void *arg;
    uint32_t n_errors; /* counted by report */
};
/* ---- the description of a step ---- */
enum mrs_family {
    MRS_FAMILY_MAP,    /* one document in, the same document out (or refused): set, unset, rename, cast, order */
    MRS_FAMILY_SPREAD, /* one document in, any number out: extract, move, union, partition, split, delete */
    MRS_FAMILY_JOIN,   /* documents of `from` go into documents of `into`: embed, copy */
    MRS_FAMILY_GROUP,  /* parts of documents with equal keys become one document: extract with unique */
    MRS_FAMILY_FOLD,   /* documents of `from` with equal keys become documents of `into`: bucket, rollup with by */
    MRS_FAMILY_LINK,   /* references of two collections complete each other: link */
    MRS_FAMILY_TREE,   /* the documents of one collection are the nodes of trees: tree */
    MRS_FAMILY_REKEY,  /* documents of one collection get new `_id`s, references to them are updated: rekey */
    MRS_FAMILY_WINDOW, /* documents get values computed from others of their group, and stay: window */
    MRS_FAMILY_GRID,   /* documents are combinations of axis values, without a source document: grid */
    MRS_FAMILY_CATALOG /* no document is read or written: index, options, rename_collection, drop_collection */
};

/* How a step uses a collection: bits. */
enum mrs_role {
    MRS_ROLE_READ = 1,   /* its documents are read */
    MRS_ROLE_CHANGE = 2, /* its documents are changed in place */
    MRS_ROLE_TAKE = 4,   /* its documents may leave it */
    MRS_ROLE_ADD = 8,    /* documents are added to it; `_id` is kept unique there */
    MRS_ROLE_MAIN = 16,  /* its documents drive the step: the input (several in union), FROM and INTO of JOIN, GROUP */
    /* with ADD: a document replaces an existing one with its `_id`, whatever conflicts says */
    MRS_ROLE_OVERWRITE = 32
};
struct mrs_side {
    struct mrs_coll coll;
    unsigned role;
    const char *what; /* key of the plan that gives it: "from", "into", "overflow.into" */
};

enum mrs_conflicts { MRS_CONFLICTS_REFUSE, MRS_CONFLICTS_FIRST, MRS_CONFLICTS_LAST };

/* A path that a step reads, adds or removes (or changes) on a side: the sets R, A and D of the live rule. "" is the
 * whole document. If only documents define the names, it ends in `*`, and the step is quiet_only. */
struct mrs_touch {
    int side;
    char kind; /* 'R', 'A', 'D' */
    const char *path;
};

/* JOIN: one pair of match as paths, so that an engine that reads by index can request candidates; NULL: that side is an
 * expression. The paths are dotted, of plain names; arrays on the way count element by element. */
struct mrs_pair_path {
    const char *from, *into;
};
/* How to find the documents that one source document made on a side with MRS_ROLE_ADD: their `field` equals the value
 * at `key` of the source (arrays on neither side). "_id" and "_id": it has the source's own `_id`. */
struct mrs_listing {
    int side;
    const char *field, *key;
};

#define MRS_SIDES_MAX 4096
struct mrs_desc {
    enum mrs_family family;
    const struct mrs_side *sides; /* JOIN and GROUP: [0] is from, [1] is into (they may be one collection) */
    uint32_t n_sides;
    enum mrs_conflicts conflicts; /* for _ids on sides with MRS_ROLE_ADD, and for MAP with new_ids */
    bool new_ids;                 /* MAP: `_id` is computed; equal ones are conflicts */
    bool sorted;                  /* JOIN: order() gives a key */
    bool by_reference; /* JOIN: the reference is in `into`: keys() of such a document returns them, in order */
    uint32_t n_pairs;             /* JOIN: pairs of match */
    const struct mrs_touch *touches;
    uint32_t n_touches, n_listings;
    const struct mrs_touch *names; /* 'R': further paths in the plan, if the step reads whole documents */
    uint32_t n_names;
    const struct mrs_pair_path *pairs; /* JOIN: n_pairs of them */
    const struct mrs_listing *listings; /* a side without one cannot run while writers run */
    bool own_ids; /* SPREAD: `_id`s of products derive from the source's `_id`, so no two sources make equal ones */
    const struct mrs_condition *conditions; /* condition.h; n_conditions: their sides are the last ones */
    uint32_t n_conditions, first_list;
    const char *quiet_only;  /* why the step needs writers stopped, and what to do; NULL: it does not */
    bool once_only; /* MAP: quiet_only is about a second run; names in D, and not in A, are removed (not "", no star) */
    const char *not_direct;    /* why it cannot work in place while writers run (see repeatable too); NULL: it can */
    bool compares_nothing;   /* no comparison of values, so the collation of the collection has no effect */
    bool whole_only;         /* the collection is taken as a whole: any kind is accepted, also a view */
    bool takes_away; /* MAP: fields in D are removed, not changed; SPREAD: what is in D is gone from every document */
    bool keeps_values;       /* MAP: fields in D move to another place in the document, with their values */
    bool in_place;           /* MAP: fields in A may have existed, as fields it reads: no old field remains */
    const char *live_note;   /* a note on it while writers run; NULL: none */
    bool repeatable;         /* run twice = run once */
    const char *not_repeatable; /* the reason, if it is not */
    const char *words;       /* the step in one or two sentences, for explain */
    const char *const *losses; /* data that its inverse cannot restore; n_losses texts */
    const char *errors; /* the value of `errors`, unless refuse, for */
    const char *const *fallible; /* these n_fallible fields, see mrs_ctx.eased */
    const char *const *patterns; /* MAP: names with stars; mrs_ctx.matched says which match a field */
    uint32_t n_losses, n_patterns, n_fallible;
};

/* Kernels: spread_ops.h (MAP, SPREAD), link.h, nodes.h (TREE), axes.h (GRID), else join_ops.h and the like */
struct mrs_ctx; /* context.h */
struct mrs_spread_ops; struct mrs_join_ops;
struct mrs_group_ops; struct mrs_fold_ops;
struct mrs_link_ops; struct mrs_tree_ops; struct mrs_grid_ops;
struct mrs_rekey_ops; struct mrs_window_ops;
struct mrs_catalog; struct mrs_inverse; /* catalogue.h, inverse.h */

/* ---- the step itself ---- */
struct mrs_step_type {
    const char *name;
    const char *summary; /* one line for help */
    const struct mrs_key *keys;
    uint32_t n_keys;
    const struct mrs_inner *inner;
    uint32_t n_inner;
    uint32_t since;      /* version of the plan language that added the step; 0: the first */
    enum mrs_stars stars;
    const char *since_2; /* keys that version 2 added, "types|most"; NULL: none */
    /* YAML lines `key: value`: first those of a complete step; after an empty line, values for the other keys that are
     * neither bool nor choice. */
    const char *example;
    /* Makes *state. Reports all errors by args->report; FAIL if there were any (then *state is NULL). The plan has
     * checked keys, their presence and coarse types. */
    enum mrs_status (*compile)(struct mrs_args *args, void **state, struct mrs_err *e);
    void (*free_state)(struct mrs_mem *mem, void *state);
    /* Texts and arrays of *out live as long as the state, or in the arena. */
    enum mrs_status (*describe)(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e);
    /* Applies the step to the catalogue: existence, kinds, targets, indexes, options. FAIL MRS_E_PLAN (where: the
     * key). */
    enum mrs_status (*catalog)(const void *state, struct mrs_catalog *cat, struct mrs_err *e);
    /* Appends the steps that undo the step, and the losses. If the step cannot be undone, appends only the loss. A
     * collection that the step creates stays, perhaps empty. NULL: no part of the step is undone. */
    enum mrs_status (*invert)(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
    size_t work_size; /* memory of the step for one thread; the engine zeroes it before the first kernel call */
    void (*work_clear)(struct mrs_ctx *c, void *work); /* frees what kernels allocated there; NULL: nothing to free */
    /* The text of bit i < MRS_REMARKS of mrs_ctx.remarks; follows a number of documents. The engine clears the bits
     * before each document. A bit that the step never sets (from a damaged checkpoint) is no error. NULL: the step has
     * no remarks. */
    void (*remark)(const void *state, uint32_t i, char *text, size_t size);
    bool fields; /* kernels of SPREAD and MAP are faster if the context has the fields of the document */
    /* kernels of its families; NULL for other families */
    const struct mrs_spread_ops *spread; /* MAP and SPREAD */
    const struct mrs_join_ops *join;
    const struct mrs_group_ops *group;
    const struct mrs_fold_ops *fold;
    const struct mrs_link_ops *link;
    const struct mrs_tree_ops *tree;
    const struct mrs_rekey_ops *rekey;
    const struct mrs_window_ops *window;
    const struct mrs_grid_ops *grid;
};

/* The table of steps, registered only in common/steps/registry.c: the i-th, NULL after the last. */
const struct mrs_step_type *mrs_step_type_at(uint32_t i);
const struct mrs_step_type *mrs_step_type_find(const char *name);
const struct mrs_key *mrs_key_find(const struct mrs_key *keys, uint32_t n, const char *name); /* NULL: not found */

/* A step of a frozen plan. */
struct mrs_step {
    const struct mrs_step_type *type;
    void *state;
    uint32_t no, line, col; /* no: from 1, one for all that a step with stars expands to; in the plan's file */
    bool stars;             /* a name has a star: the step cannot run, but its expansion by mrs_plan_fit can */
    struct mrs_view body;   /* its keys, in the order of the table */
    struct mrs_desc desc;
};

#ifdef __cplusplus
}
#endif
#endif
