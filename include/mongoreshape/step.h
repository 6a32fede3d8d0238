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

/* One entry of a plan on its way to becoming a step. The values are BSON, Extended JSON wrappers resolved, positions
 * kept by the plan. */
struct mrs_args {
    struct mrs_mem *mem;
    struct mrs_arena *arena; /* lives as long as the plan: names, paths and literals may point into it */
    struct mrs_view body;    /* {from: ..., into: ..., match: {...}} */
    const char *default_db;  /* database of collections named by a string */
    int64_t now_ms;          /* $$NOW */
    const struct mrs_step_type *type;
    /* Reports an error of the plan at `key` (NULL: the step itself) and, where not NULL, at `sub`, a key or the index
     * of an entry inside its value. All errors are collected; compile goes on and returns MRS_FAIL at its end when
     * there was one. */
    void (*report)(void *arg, const char *key, const char *sub, const char *msg);
    void (*warn)(void *arg, const char *key, const char *sub, const char *msg);
    void *arg;
    uint32_t n_errors; /* counted by report */
};

/* ---- what a step says about itself ---- */
enum mrs_family {
    MRS_FAMILY_MAP,    /* one document in, the same document out (or refused): set, unset, rename, cast, order */
    MRS_FAMILY_SPREAD, /* one document in, any number out into several collections: extract, move, union, partition,
                          split, delete */
    MRS_FAMILY_JOIN,   /* documents of `from` go into documents of `into`: embed, copy */
    MRS_FAMILY_GROUP,  /* parts of documents with equal keys become one document: extract with unique */
    MRS_FAMILY_FOLD,   /* documents of `from` with equal keys become documents of `into`: bucket, rollup with by */
    MRS_FAMILY_LINK,   /* references of two collections complete each other: link */
    MRS_FAMILY_TREE,   /* the documents of one collection are the nodes of trees: tree */
    MRS_FAMILY_GRID,   /* documents are made of axes, no source document: grid */
    MRS_FAMILY_CATALOG /* no document is touched: index, options, rename_collection, drop_collection */
};

/* What happens to a collection: bits. */
enum mrs_role {
    MRS_ROLE_READ = 1,   /* its documents are read */
    MRS_ROLE_CHANGE = 2, /* its documents are changed in place */
    MRS_ROLE_TAKE = 4,   /* its documents may leave it */
    MRS_ROLE_ADD = 8,    /* documents are added to it; `_id` is kept unique there */
    MRS_ROLE_MAIN = 16,  /* its documents drive the step: the input of SPREAD and MAP (several in union), FROM and
                            INTO of JOIN and GROUP */
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

#define MRS_SIDES_MAX 256
struct mrs_desc {
    enum mrs_family family;
    const struct mrs_side *sides; /* JOIN and GROUP: [0] is from, [1] is into (they may be one collection) */
    uint32_t n_sides;
    enum mrs_conflicts conflicts; /* for _ids on sides with MRS_ROLE_ADD, and for MAP with new_ids */
    bool new_ids;                 /* MAP: `_id` is computed; equal ones are conflicts */
    bool sorted;                  /* JOIN: order() gives a key */
    bool by_reference; /* JOIN: the reference lies on the `into` side: keys() of an into document gives its references
                          in order */
    uint32_t n_pairs;             /* JOIN: pairs of match */
    const struct mrs_touch *touches;
    uint32_t n_touches;
    const struct mrs_touch *names; /* 'R': more paths that the plan names, where it reads whole documents */
    uint32_t n_names;
    const struct mrs_pair_path *pairs; /* JOIN: n_pairs of them */
    const struct mrs_listing *listings; /* n_listings; a side that is not listed cannot be run beside writers */
    uint32_t n_listings;
    const char *quiet_only;  /* why the step can only run while nobody writes, and what to do; NULL: it can */
    const char *not_direct;  /* why it cannot be done in place beside writers (see repeatable too); NULL: it can */
    bool takes_away;         /* MAP: what it removes or changes (D) is gone afterwards, not changed */
    const char *live_note;   /* what to know about it beside writers; NULL: nothing */
    bool repeatable;         /* run twice = run once */
    const char *not_repeatable; /* the reason, where it is not */
    const char *words;       /* the step in one or two sentences, for explain */
    const char *const *losses; /* what its inverse could not bring back; n_losses texts */
    uint32_t n_losses;
};

/* ---- kernels ---- */
struct mrs_ctx { /* one per thread, made by the engine */
    struct mrs_mem *mem;
    struct mrs_arena *arena; /* reset by the engine before each source document */
    struct mrs_err *err;
    uint64_t known[8]; /* of kernels: levels that hold no name twice, zeroed at first */
    uint32_t next_known;
    struct mrs_listed {    /* of kernels as well, zeroed at first: */
        const void *list;  /* a list of names, NULL: none */
        uint64_t names;    /* of documents, as struct mrs_eval_fields has them: no level of theirs holds a name twice */
        uint32_t fields;   /* bit i: field i of these documents is listed */
    } listed[4];
    uint32_t next_listed;
    /* The fields of the document whose bytes begin at fields_of, which the engine has walked anyway: while that
     * document is the source. NULL: of none. */
    const struct mrs_eval_fields *fields;
    const uint8_t *fields_of;
    uint64_t remarks; /* of MAP: what the owner of the document in hand should know of it, see mrs_step_type.remark */
};
#define MRS_REMARKS 24

/* What becomes of a source document; the account of a run is made of these. */
enum mrs_fate {
    MRS_FATE_STAYS,   /* in its collection, byte for byte */
    MRS_FATE_CHANGED, /* in its collection, other bytes */
    MRS_FATE_TAKEN,   /* it left: moved, embedded, merged */
    MRS_FATE_DROPPED, /* it left and is nowhere: by the plan's word */
    MRS_FATE_REFUSED  /* only engines say so: a kernel returned MRS_SKIP */
};

/* MAP and SPREAD. begin does all that can fail, next hands out what it made: push is a loop over pull. */
struct mrs_product {
    int side;             /* the collection it belongs to now */
    bool self; /* the source document itself, where it stays in or changes in its own collection; at most one */
    bool made; /* its `_id` was made by the step: an equal document is another one, never the same */
    struct mrs_view doc;  /* lives until the next begin */
};
struct mrs_products { /* of one side, one behind the other */
    int side;
    const uint8_t *p;
    size_t n;
};
struct mrs_spread_ops {
    /* One document of side `side` (one with MRS_ROLE_MAIN). OK with *fate; SKIP: refused, nothing is to be pulled. A
     * SPREAD step gives the source itself (self) as its first product if it stays. */
    enum mrs_status (*begin)(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                             enum mrs_fate *fate);
    /* OK, END, DEAD. */
    enum mrs_status (*next)(const void *state, struct mrs_ctx *c, void *work, struct mrs_product *out);
    /* NULL, or: all that next would give, but for the source itself, which does not change. For engines that need not
     * look at the products one by one; it stands for every call of next. */
    struct mrs_products (*all)(const void *work);
    /* NULL, or: whether a field of this name, at the top of a document that is TAKEN, is lost though the plan does not
     * say so. */
    bool (*loses)(const void *state, const char *name, uint32_t len);
};

/* Encoded keys (mrs_key_append) of one document, pair by pair. Two documents match when each pair has an equal key on
 * both sides; keys meet keys of their kind only, and one of kind 1 stands for pair 0. Where a step joins by reference,
 * pair 0 is the reference and the other pairs only narrow. */
struct mrs_keys {
    struct mrs_buf bytes;
    struct mrs_keyspan {
        uint32_t off, len;
        uint16_t pair; /* of match */
        uint8_t kind;  /* 0: value of the pair; 1: an `_id` (in-place embed, where a document counts as the reference
                          to its own _id) */
        uint8_t null;  /* it is null, missing or undefined (only with nulls: match) */
    } *span;
    uint32_t n, cap;
    struct mrs_mem *mem;
};
void mrs_keys_init(struct mrs_keys *k, struct mrs_mem *mem);
void mrs_keys_clear(struct mrs_keys *k);
void mrs_keys_reset(struct mrs_keys *k);
/* Appends one key made of v. OK; SKIP MRS_E_LIMIT (over MRS_KEY_MAX); DEAD. */
enum mrs_status mrs_keys_add(struct mrs_keys *k, uint16_t pair, uint8_t kind, struct mrs_val v, struct mrs_err *e);

/* JOIN. One document of `into` with the documents of `from` that match it. */
struct mrs_match {
    uint64_t order;        /* position in from's input order: unique, ascending where nothing else sorts */
    uint32_t ref; /* by_reference: index of the key of the into document (in keys order) that it matches: the first of
                     equal ones */
    struct mrs_view shape; /* what shape() made; lives until the next call of next or rewind */
    bool failed;           /* shape() refused it: the parent must be refused, with `why` (NUL-ended) as the reason */
    const char *why, *why_where;
};
struct mrs_matches {
    uint64_t n; /* how many next() gives in all */
    /* With by_reference and no sort: ascending (ref, order), equal references (same key twice in the document) are
     * given once, at the first; with `sort`: (sort key, order) and a document that several references name is given
     * once a reference. Without by_reference: (sort key, order). OK, END, DEAD. */
    enum mrs_status (*next)(struct mrs_matches *m, struct mrs_match *out, struct mrs_err *e);
    enum mrs_status (*rewind)(struct mrs_matches *m, struct mrs_err *e); /* from the start again */
    /* What became of the match just given: bits below. Told once for each; later calls add bits. Nothing told:
     * MRS_USED_PLACED. 0 bits: told, and nothing of its own (a document given once more). */
    void (*used)(struct mrs_matches *m, unsigned bits);
    void *impl;
    /* by_reference: for key i of the document (keys order) the index of the first equal key, so that a splice can
     * group; n_refs entries */
    const uint32_t *same_ref;
    uint32_t n_refs;
    /* by_reference: a byte for each of these keys, not 0 where a document of from matches that is refused itself and
     * so is no match: the reference is not dangling. NULL: there is none. */
    const uint8_t *named;
};
enum mrs_used {
    MRS_USED_PLACED = 1, /* it stands in the parent, or in a page of the parent */
    MRS_USED_CUT = 2,    /* a limit left it out */
    MRS_USED_LEFT = 4 /* it could not be placed for another reason (many, blocked, refused parent): it stays in from
                         whatever keep says */
};

/* Where a splice writes: the engine's. Documents for side `side`; the view is read before put returns. */
struct mrs_put {
    enum mrs_status (*put)(void *arg, int side, struct mrs_view doc, struct mrs_err *e);
    void *arg;
};

struct mrs_join_ops {
    /* Whether a document takes part (`where`). OK with *yes; SKIP: refused. side 0 from, 1 into. */
    enum mrs_status (*takes_part)(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, bool *yes);
    /* Its keys, appended to k. From: its values of each pair, and (in place) its _id as kind 1. Into: the same of its
     * side; by_reference: one entry for each occurrence of a reference in document order, so that a splice meets them
     * in that order. OK; SKIP: refused. */
    enum mrs_status (*keys)(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, struct mrs_keys *k);
    /* What a from document brings (fields and drop applied), appended to out as one document. SKIP: every parent that
     * it matches is refused. */
    enum mrs_status (*shape)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* Its sort key (desc.sorted), appended to out. SKIP: the from document is refused, if some parent matches it. */
    enum mrs_status (*order)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* The into document with its matches put in, appended to out (nothing appended with fate DROPPED: dangling drop);
     * pages and the like go to `put`. *fate: STAYS (bytes unchanged), CHANGED, DROPPED. SKIP: refused: the engine
     * takes back what was put, and all its matches are MRS_USED_LEFT. */
    enum mrs_status (*splice)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_matches *m, const struct mrs_put *put, struct mrs_buf *out,
                              enum mrs_fate *fate);
    /* What becomes of a from document that took part, after all its matches: used = bits of all of them together, 0:
     * it matched nobody. *side: where it goes when TAKEN by an orphans collection, else -1. STAYS, TAKEN, DROPPED or
     * REFUSED (orphans: refuse; the engine writes the record, place "orphans"). */
    enum mrs_fate (*fate)(const void *state, unsigned used, int *side);
};

/* GROUP: extract with unique. Parts of from documents (and the documents of into) with equal keys become one document
 * of into. */
struct mrs_part_doc {
    uint32_t key_off, key_len;   /* in struct mrs_parts.bytes; key_len 0: never merged */
    uint32_t doc_off, doc_len;   /* the document as it would be written, less its parent references */
    uint32_t ref_off, ref_len;   /* BSON document {"": value}: what it adds to parent_ref; 0: nothing. Of a document of
                                    into one element for each value that it holds there now */
    bool made_id;                /* its _id was made from the key: it takes the _id of a document of this key in into */
};
struct mrs_parts {
    struct mrs_buf bytes;
    struct mrs_part_doc *part;
    uint32_t n, cap;
};
struct mrs_group_ops {
    /* Parts of a document. side 0: of a source, in document order; side 1: the document of into itself, exactly one
     * part. SKIP: refused. */
    enum mrs_status (*parts)(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                             struct mrs_parts *out);
    /* Whether two members agree: bytes of their documents, `_id` left out where either was made. (Made and own `_id`s
     * disagree where into has no document of the key: the engine's to know.) */
    bool (*agree)(const void *state, struct mrs_view a, bool a_made, struct mrs_view b, bool b_made);
    /* The finished document: first (the member that counts; theirs: it is a document of into) with the parent
     * references `refs` (values in input order, those of into's document first, an array document {"0": v, ...}; empty
     * where the step keeps none) put in. theirs: first is that document as it stands, unchanged where it gains nothing;
     * else the bytes of a part, in which the engine has put the `_id` of into's document in place of a made one.
     * Appended to out. SKIP: refused. */
    enum mrs_status (*finish)(const void *state, struct mrs_ctx *c, struct mrs_view first, bool theirs,
                              struct mrs_view refs, struct mrs_buf *out);
    /* The source document afterwards; ids: array document of the _ids of its parts, in the order parts() gave them.
     * Appended to out; *fate STAYS or CHANGED. SKIP: refused. */
    enum mrs_status (*source)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_view ids, struct mrs_buf *out, enum mrs_fate *fate);
};

/* FOLD: documents of `from` (side 0) with equal keys, in an order, become documents of `into` (side 1). Those that some
 * document of into was made of are TAKEN (side 0 has MRS_ROLE_TAKE) or STAY; equal `_id`s in into are judged by
 * desc.conflicts, the candidates being the members of a document. */
struct mrs_fold_entry { /* what one document brings; the buffers are the engine's, empty before each call */
    bool takes_part;      /* false: it stays, and the buffers are not read */
    struct mrs_buf group; /* keys of mrs_key_append: equal bytes are one group, and groups come in their memcmp order */
    struct mrs_buf order; /* memcmp order inside the group, ties in input order; nothing: input order */
    struct mrs_buf shape; /* what fold needs of it, as the step likes: it alone reads it */
    struct mrs_buf kin;   /* the same, but what most documents of its group have alike byte for byte, so that it is
                             kept once for many of them; may be nothing. Where there is an op `kin`, a short name of
                             it instead */
};
struct mrs_fold_span { /* bytes of a document */
    uint16_t at, n;
};
#define MRS_FOLD_ELSEWHERE UINT32_MAX
/* What a document brings, as the places where that stands in it; all but the kin lives as the work does. */
struct mrs_fold_glance {
    int64_t date; /* the order is that of a date: mrs_key_date */
    uint32_t date_at; /* where that stands in the shape, as BSON has it; MRS_FOLD_ELSEWHERE: nowhere in it */
    const struct mrs_fold_span *shape; /* one behind the other */
    uint32_t n_spans, shape_bytes;
    struct mrs_buf *kin; /* the engine's, empty before each call: a name */
};
struct mrs_members { /* of one group, in order */
    /* The next member's shape, which lives until the next call. OK, END, DEAD. */
    enum mrs_status (*next)(struct mrs_members *m, struct mrs_view *shape, struct mrs_err *e);
    /* Members behind the one just given and of its kin, at most so many, as next would give them: returns how many, 0
     * also where next has one. The shapes live until the next call, and none of them is refused alone. NULL: next gives
     * all of them. */
    uint32_t (*more)(struct mrs_members *m, struct mrs_view *shape, uint32_t most);
    /* The member just given is refused alone, for the reason in c->err; it belongs to no document. */
    enum mrs_status (*refuse)(struct mrs_members *m, struct mrs_err *e);
    void *impl;
    struct mrs_view kin; /* of the member just given; lives as long as its shape */
    bool same_kin;       /* it is that of the member before, which still lives; false: that is not known */
    /* Not empty: members before the next one were given in another run, and this is what save made of them: documents
     * that are whole, perhaps with other contents (then fold ends with FAIL MRS_E_FORMAT). Lives while fold does. */
    struct mrs_view from;
};
struct mrs_fold_put {
    /* A document of into. It was made of all members given (and not refused) since the one before it; with `but_last`
     * less the one given last, which begins the next document. The view is read before put returns. OK, DEAD. */
    enum mrs_status (*put)(void *arg, struct mrs_view doc, bool but_last, struct mrs_err *e);
    void *arg;
};
struct mrs_fold_small { /* a group that grew while documents were read */
    const uint8_t *state;
    struct mrs_view kin;  /* of its first document */
    uint64_t n;           /* documents */
};
struct mrs_fold_ops {
    /* OK with *out; SKIP: the document is refused. */
    enum mrs_status (*enter)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                             struct mrs_fold_entry *out);
    /* One group, from its first member to its last. SKIP: all members of the group are refused, with the reason in
     * c->err, and the engine takes back what was put. The arena is reset between groups only. */
    enum mrs_status (*fold)(const void *state, struct mrs_ctx *c, void *work, struct mrs_members *m,
                            const struct mrs_fold_put *put);
    /* While fold asks for a member: what it has made of those before, and not put yet, as documents one behind the
     * other, at least one of them, appended to out. A fold that begins with that makes of the members that follow what
     * this one will, to the last byte. Nothing changes. OK; FAIL MRS_E_LIMIT: it cannot be said in documents; DEAD.
     * NULL: the step never can. */
    enum mrs_status (*save)(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out);
    /* As fold for groups that grow while documents are read, where nothing but input order counts and no document is
     * refused alone; only beside an op `group`, and without an op `kin`. NULL: the step never can. small_size: bytes of
     * a group's state; 0: not with this plan. */
    size_t (*small_size)(const void *state);
    /* One more document of a group; first: its first, and what stands in small counts for nothing. SKIP: the state
     * does not fit, or the group fails; then it is folded again, from all its documents. The arena is not reset. */
    enum mrs_status (*small_feed)(const void *state, struct mrs_ctx *c, void *work, uint8_t *small, bool first,
                                  struct mrs_view shape);
    /* Puts the one document of a group. OK; SKIP as above; DEAD. */
    enum mrs_status (*small_end)(const void *state, struct mrs_ctx *c, void *work, const struct mrs_fold_small *small,
                                 const struct mrs_fold_put *put);
    /* The group of a document from its kin alone: enter appends nothing to out->group then. NULL: it does. SKIP: the
     * document is refused. */
    enum mrs_status (*group)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view kin,
                             struct mrs_buf *out);
    /* The kin of a document that was entered or told at a glance with the same work, no other having been entered since
     * (more may have been told), and of the name that it was given then; appended to out. Documents that were given the
     * same name with the same work have the same kin, so that it is asked for seldom. NULL: enter appends the kin
     * itself. SKIP: the document is refused. */
    enum mrs_status (*kin)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_view name,
                           struct mrs_buf *out);
    /* enter at less cost, of a document that looks like one that was entered with the same work; only beside ops
     * `group` and `kin`, which take it as entered. True: it takes part with what is in out, the same as of enter; the
     * places stay as they are until another document is entered. False: enter has to be asked, and nothing of out is
     * read. NULL: the step never can. */
    bool (*glance)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_fold_glance *out);
};

/* Families of one step each have their kernels in a header of their own: link.h, nodes.h, axes.h. */
struct mrs_link_ops;
struct mrs_tree_ops;
struct mrs_grid_ops;

/* ---- the catalogue: collections, options and indexes, followed through the plan before any document is read ---- */
enum mrs_coll_kind { MRS_COLL_PLAIN, MRS_COLL_VIEW, MRS_COLL_TIMESERIES };
struct mrs_cat_coll {
    struct mrs_coll coll;
    enum mrs_coll_kind kind;
    struct mrs_view options; /* BSON, may be the empty document */
    struct mrs_view *index;  /* one BSON document an index, `_id_` included */
    uint32_t n_index;
    char uuid[40];           /* "" : none */
    bool exists;             /* false: dropped or renamed away */
    bool touched;            /* some step named it as more than a thing that is only read: metadata are written anew */
    bool made;               /* a step of this plan made it (rename does not count) */
    void *engine;            /* the engine's own */
};
struct mrs_catalog;
enum mrs_status mrs_catalog_new(struct mrs_mem *mem, struct mrs_catalog **out, struct mrs_err *e);
void mrs_catalog_free(struct mrs_catalog *c);
/* Adds a collection as it is in the input: metadata is the document of X.metadata.json ({options, indexes, uuid,
 * collectionName, type}; the empty document: none). The bytes are copied. */
enum mrs_status mrs_catalog_add(struct mrs_catalog *c, const char *db, const char *coll, struct mrs_view metadata,
                                struct mrs_err *e);
/* A collection that is in the input and was left out by an option, so that no step can name it: what it would write
 * there would meet, in a restore, what it did not know of. OK, DEAD. */
enum mrs_status mrs_catalog_leave_out(struct mrs_catalog *c, const char *ns, struct mrs_err *e);
/* Also what no longer exists; NULL: there never was one. */
struct mrs_cat_coll *mrs_catalog_find(struct mrs_catalog *c, const char *db, const char *coll);
uint32_t mrs_catalog_count(const struct mrs_catalog *c);
struct mrs_cat_coll *mrs_catalog_at(struct mrs_catalog *c, uint32_t i);
struct mrs_arena *mrs_catalog_arena(struct mrs_catalog *c);
/* For steps. need: the collection must exist and be one that can be reshaped (no view, time series, capped,
 * collation, system.*): FAIL MRS_E_PLAN that says what to do. change: its documents change, so it is marked touched
 * and loses its uuid. */
enum mrs_status mrs_catalog_need(struct mrs_catalog *c, const struct mrs_coll *coll, bool change,
                                 struct mrs_cat_coll **out, struct mrs_err *e);
/* target: made where it is missing (with its _id index), else as need with change. */
enum mrs_status mrs_catalog_target(struct mrs_catalog *c, const struct mrs_coll *coll, struct mrs_cat_coll **out,
                                   struct mrs_err *e);
/* A line of the report ("index x_1 of shop.orders left out: it would be unique over an array"). */
void mrs_catalog_note(struct mrs_catalog *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* After all steps: notes indexes of touched collections that another one makes superfluous, and collections with more
 * indexes than a server takes. all: also where no step made or changed one of the two. OK, DEAD. */
enum mrs_status mrs_catalog_surplus(struct mrs_catalog *c, bool all, struct mrs_err *e);
uint32_t mrs_catalog_notes(const struct mrs_catalog *c);
const char *mrs_catalog_note_at(const struct mrs_catalog *c, uint32_t i);
/* The metadata document of a touched collection, as mongodump writes it ({options, indexes, uuid, collectionName,
 * type}), appended to out. */
void mrs_catalog_metadata(const struct mrs_cat_coll *coll, struct mrs_buf *out);

/* ---- the way back ---- */
/* In what the documents that come back may differ from those that were there: bits. */
enum mrs_loss_kind {
    MRS_LOSS_ORDER = 1,       /* order of documents */
    MRS_LOSS_PLACES = 2,      /* order of fields */
    MRS_LOSS_TYPES = 4,       /* types of values that are equal (1 and 1.0) */
    MRS_LOSS_VALUES = 8,      /* values that are gone, other values, fields that are new; order of arrays */
    MRS_LOSS_DOCUMENTS = 16,  /* documents that do not come back: dropped, orphans, another `_id` */
    MRS_LOSS_SURPLUS = 32,    /* documents that were not there */
    MRS_LOSS_REFUSED = 64,    /* documents that the plan or its inverse refuses */
    MRS_LOSS_METADATA = 128,  /* indexes, options, uuid */
    MRS_LOSS_COLLECTIONS = 256 /* collections that were not there, or no longer are */
};
#define MRS_LOSS_KINDS 9
struct mrs_loss {
    unsigned kinds;
    const char *text;
};

/* What undoes one step: filled by its hook `invert`. Entries and texts live in the arena. */
struct mrs_inverse {
    struct mrs_mem *mem;
    struct mrs_arena *arena;
    struct mrs_view body;   /* the step as the plan has it: {from: ..., into: ..., match: {...}} */
    bool alone;             /* no later step of the plan names the step's first collection */
    struct mrs_view *entry; /* entries of a plan, {step: {keys}}, in the order in which they run */
    uint32_t n_entries, cap_entries;
    struct mrs_loss *loss;
    uint32_t n_losses, cap_losses;
};

/* ---- the step itself ---- */
struct mrs_step_type {
    const char *name;
    const char *summary; /* one line for help */
    const struct mrs_key *keys;
    uint32_t n_keys;
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
     * clears the bits before each document. NULL: the step has no remarks. */
    void (*remark)(const void *state, uint32_t i, char *text, size_t size);
    bool fields; /* kernels of SPREAD and MAP are quicker where the context has the fields of the document */
    /* kernels of its families; NULL where it is never of that family */
    const struct mrs_spread_ops *spread; /* MAP and SPREAD */
    const struct mrs_join_ops *join;
    const struct mrs_group_ops *group;
    const struct mrs_fold_ops *fold;
    const struct mrs_link_ops *link;
    const struct mrs_tree_ops *tree;
    const struct mrs_grid_ops *grid;
};

/* The table of steps, registered in exactly one place (common/steps/registry.c): the i-th, NULL behind the last. */
const struct mrs_step_type *mrs_step_type_at(uint32_t i);
const struct mrs_step_type *mrs_step_type_find(const char *name);

/* A step of a frozen plan. */
struct mrs_step {
    const struct mrs_step_type *type;
    void *state;
    uint32_t no;        /* from 1 */
    uint32_t line, col; /* in the plan's file */
    struct mrs_desc desc;
};

#ifdef __cplusplus
}
#endif
#endif
