/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the step interface: a step supplies meaning, engines own movement.
 *
 * A step is one const struct (struct mrs_step_type) and the state that its compile hook makes of one entry of a plan.
 * State is immutable after compile and shared by all threads. What a step knows: which collections it touches and how
 * (describe), what it does to the catalogue of collections and indexes (catalog), and pure kernels over raw bytes.
 * What it never knows: where documents come from, in which batches, on how many threads, what is spilled, how a run
 * is resumed. So one step serves the offline engine (gathers with sorts and spills), the live engine (units of an _id
 * range, read by index) and the server stage (pulls one document after the other).
 *
 * Kernels take the state, a per-thread context and views that live for the call; what they return lives in the
 * context's arena or in buffers of the caller until the arena is reset (once per source document). A kernel refuses a
 * document by MRS_SKIP with err->where (the key of the plan whose evaluation failed) and err->msg filled; MRS_DEAD is
 * out of memory or a broken promise. */
#ifndef MONGORESHAPE_STEP_H
#define MONGORESHAPE_STEP_H

#include "mongoreshape/doc.h"
#include "mongoreshape/stars.h"
#include "mongoreshape/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A collection as a plan names it. Texts live as long as the plan. */
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
/* Keys inside the value of a key, where that is a map. Help, skeletons and the schema read them. */
struct mrs_inner {
    const char *key;
    const struct mrs_key *keys;
    uint32_t n_keys;
    bool each; /* of each entry of a list */
};

/* One entry of a plan on its way to becoming a step. The values are BSON, Extended JSON wrappers resolved, positions
 * kept by the plan. */
struct mrs_args {
    struct mrs_mem *mem;
    struct mrs_arena *arena; /* lives as long as the plan: names, paths and literals may point into it */
    struct mrs_view body;    /* {from: ..., into: ..., match: {...}} */
    const char *default_db;  /* database of collections named by a string */
    int64_t now_ms;          /* $$NOW */
    uint32_t version;        /* of the plan language: 1, or 2 where the plan does not say */
    bool server_8_2;         /* of struct mrs_expr_env */
    struct mrs_conditions *conditions; /* (condition.h) is filled; NULL: no `where` may name another collection */
    const struct mrs_step_type *type;
    /* Reports an error of the plan at `key` (NULL: the step itself) and, where not NULL, at `sub`, a key or index in
     * its value. All are collected; compile goes on and returns MRS_FAIL at its end when there was one. */
    void (*report)(void *arg, const char *key, const char *sub, const char *msg);
    void (*warn)(void *arg, const char *key, const char *sub, const char *msg);
    void *arg;
    uint32_t n_errors; /* counted by report */
};
/* ---- what a step says about itself ---- */
enum mrs_family {
    MRS_FAMILY_MAP,    /* one document in, the same document out (or refused): set, unset, rename, cast, order */
    MRS_FAMILY_SPREAD, /* one document in, any number out: extract, move, union, partition, split, delete */
    MRS_FAMILY_JOIN,   /* documents of `from` go into documents of `into`: embed, copy */
    MRS_FAMILY_GROUP,  /* parts of documents with equal keys become one document: extract with unique */
    MRS_FAMILY_FOLD,   /* documents of `from` with equal keys become documents of `into`: bucket, rollup with by */
    MRS_FAMILY_LINK,   /* references of two collections complete each other: link */
    MRS_FAMILY_TREE,   /* the documents of one collection are the nodes of trees: tree */
    MRS_FAMILY_REKEY,  /* documents of one collection get other `_id`s, references to them follow: rekey */
    MRS_FAMILY_WINDOW, /* documents receive what is computed from others of their group, and stay: window */
    MRS_FAMILY_GRID,   /* documents are made of axes, no source document: grid */
    MRS_FAMILY_CATALOG /* no document is touched: index, options, rename_collection, drop_collection */
};

/* What happens to a collection: bits. */
enum mrs_role {
    MRS_ROLE_READ = 1,   /* its documents are read */
    MRS_ROLE_CHANGE = 2, /* its documents are changed in place */
    MRS_ROLE_TAKE = 4,   /* its documents may leave it */
    MRS_ROLE_ADD = 8,    /* documents are added to it; `_id` is kept unique there */
    MRS_ROLE_MAIN = 16,  /* its documents drive the step: the input (several in union), FROM and INTO of JOIN, GROUP */
    /* with ADD: a document whose `_id` is there takes that one's place, whatever conflicts says */
    MRS_ROLE_OVERWRITE = 32
};
struct mrs_side {
    struct mrs_coll coll;
    unsigned role;
    const char *what; /* key of the plan that names it: "from", "into", "overflow.into" */
};

enum mrs_conflicts { MRS_CONFLICTS_REFUSE, MRS_CONFLICTS_FIRST, MRS_CONFLICTS_LAST };

/* A path that a step reads, adds or removes (or changes) on a side: the sets R, A and D of the live rule. "" is the
 * whole document. Where the names are known only from documents it ends in `*`, and the step is quiet_only. */
struct mrs_touch {
    int side;
    char kind; /* 'R', 'A', 'D' */
    const char *path;
};

/* JOIN: one pair of match as paths, so that an engine that reads by index can ask for candidates; NULL where that side
 * is an expression. The paths are dotted, of plain names; arrays on the way count element by element. */
struct mrs_pair_path {
    const char *from, *into;
};
/* How the documents that one source document made on a side with MRS_ROLE_ADD are found again: those whose `field`
 * equals the value at `key` of the source (arrays on neither side). "_id" and "_id": it has the source's own `_id`. */
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
    bool by_reference; /* JOIN: the reference lies in `into`: keys() of such a document gives them, in order */
    uint32_t n_pairs;             /* JOIN: pairs of match */
    const struct mrs_touch *touches;
    uint32_t n_touches;
    const struct mrs_touch *names; /* 'R': more paths that the plan names, where it reads whole documents */
    uint32_t n_names;
    const struct mrs_pair_path *pairs; /* JOIN: n_pairs of them */
    const struct mrs_listing *listings; /* n_listings; a side that is not listed cannot be run alongside writers */
    uint32_t n_listings;
    bool own_ids; /* SPREAD: what is made gets `_id`s made of the source's own, so no two sources make the same one */
    const struct mrs_condition *conditions; /* condition.h; n_conditions: their sides are the last ones */
    uint32_t n_conditions, first_list;
    const char *quiet_only;  /* why the step can only run while writers are stopped, and what to do; NULL: it can */
    const char *not_direct;  /* why it cannot be done in place alongside writers (see repeatable too); NULL: it can */
    bool compares_nothing;   /* no value is held against another, so that a collation of the collection tells nothing */
    bool whole_only;         /* documents are neither read nor written: any kind of collection will do */
    bool takes_away;         /* MAP: what it removes or changes (D) is gone afterwards, not changed */
    bool keeps_values;       /* MAP: what it changes (D) is somewhere else in the document, with the value it had */
    bool in_place;           /* MAP: what it adds (A) may have been there, as what it reads: nothing stays beside it */
    const char *live_note;   /* what to know about it alongside writers; NULL: nothing */
    bool repeatable;         /* run twice = run once */
    const char *not_repeatable; /* the reason, where it is not */
    const char *words;       /* the step in one or two sentences, for explain */
    const char *const *losses; /* what its inverse could not bring back; n_losses texts */
    const char *errors; /* what `errors` says, where it does not refuse, of */
    const char *const *fallible; /* these n_fallible fields, see mrs_ctx.eased */
    const char *const *patterns; /* MAP: names with stars; mrs_ctx.matched says which fit a field */
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
    uint32_t since;      /* version of the plan language that brought the step; 0: the first */
    enum mrs_stars stars;
    const char *since_2; /* keys that version 2 brought, "types|most"; NULL: none */
    /* Lines `key: value` in YAML: first those that make a step, behind an empty line values for the other keys that are
     * neither bool nor choice. */
    const char *example;
    /* Makes *state. Errors go through args->report, all of them; FAIL when there were any (then *state is NULL).
     * Keys, their presence and coarse types were checked by the plan. */
    enum mrs_status (*compile)(struct mrs_args *args, void **state, struct mrs_err *e);
    void (*free_state)(struct mrs_mem *mem, void *state);
    /* Texts and arrays of *out live as long as the state, or in the arena. */
    enum mrs_status (*describe)(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e);
    /* Applies the step to the catalogue: existence, kinds, targets, indexes, options. FAIL MRS_E_PLAN (where: the
     * key). */
    enum mrs_status (*catalog)(const void *state, struct mrs_catalog *cat, struct mrs_err *e);
    /* Appends what undoes the step and what that cannot bring back. Where nothing can be done the loss alone is said. A
     * collection that the step makes stays, perhaps empty. NULL: nothing of it is undone. */
    enum mrs_status (*invert)(const void *state, struct mrs_inverse *inv, struct mrs_err *e);
    size_t work_size; /* memory of the step for one thread, zeroed by the engine before the first kernel sees it */
    void (*work_clear)(struct mrs_ctx *c, void *work); /* frees what kernels left there; NULL: nothing to free */
    /* What bit i < MRS_REMARKS of mrs_ctx.remarks says of so many documents, to be read behind their number; the engine
     * clears the bits before each document. A bit that the step never sets, as a damaged checkpoint may tell, is no
     * error. NULL: the step has no remarks. */
    void (*remark)(const void *state, uint32_t i, char *text, size_t size);
    bool fields; /* kernels of SPREAD and MAP are quicker where the context has the fields of the document */
    /* kernels of its families; NULL where it is never of that family */
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

/* The table of steps, registered in exactly one place (common/steps/registry.c): the i-th, NULL behind the last. */
const struct mrs_step_type *mrs_step_type_at(uint32_t i);
const struct mrs_step_type *mrs_step_type_find(const char *name);
const struct mrs_key *mrs_key_find(const struct mrs_key *keys, uint32_t n, const char *name); /* NULL: none of them */

/* A step of a frozen plan. */
struct mrs_step {
    const struct mrs_step_type *type;
    void *state;
    uint32_t no, line, col; /* from 1 (all that a step with stars becomes has its number); in the plan's file */
    bool stars;             /* in a name of it: it cannot be run, what mrs_plan_fit makes of it can */
    struct mrs_view body;   /* its keys, in the order of the table */
    struct mrs_desc desc;
};

#ifdef __cplusplus
}
#endif
#endif
