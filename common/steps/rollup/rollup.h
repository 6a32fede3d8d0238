/* SPDX-License-Identifier: Apache-2.0 */
/* rollup.h - interfaces between the files of the rollup step. */
#ifndef MRSI_ROLLUP_H
#define MRSI_ROLLUP_H

#include "steps/kit/added.h"
#include "steps/kit/group_by.h"
#include "steps/kit/join_match.h"
#include "steps/kit/shape.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/fold_ops.h"

enum rollup_empty { ROLLUP_EMPTY_VALUES, ROLLUP_EMPTY_ABSENT };
enum rollup_keep { ROLLUP_KEEP_ALL, ROLLUP_KEEP_UNMATCHED, ROLLUP_KEEP_NONE };
enum rollup_orphans { ROLLUP_ORPHANS_KEEP, ROLLUP_ORPHANS_DROP, ROLLUP_ORPHANS_REFUSE, ROLLUP_ORPHANS_INTO };

#define ROLLUP_BUF_MAX (4u * MRS_DOC_READ_MAX) /* maximum of a buffer for one document */

struct rollup_small { /* a field whose accumulator needs few bytes */
    size_t size;
    uint32_t field;
    bool fixed;    /* its argument is equal for all documents */
    uint32_t same; /* index of the first of these with the same argument */
};

struct mrsi_rollup {
    struct mrsi_owned keeper;
    struct mrsi_join_match join; /* with `by` only its collections and `where` */
    struct mrs_path *path; /* names of the fields, n entries */
    struct mrs_acc **acc;
    struct mrs_val *fixed; /* the argument of every document; missing: it differs */
    uint32_t *same;        /* the first field with the same argument: only that one stores it */
    uint32_t *stored;      /* n_stores: fields whose argument each document stores */
    uint32_t *total;       /* for each of these the first field with its argument that is a total; n: none */
    uint32_t n_stores;
    uint32_t n;
    struct rollup_small *small; /* n_small of them, contiguous in a group's state; NULL: not for this plan */
    const struct mrs_acc **small_acc;
    uint32_t n_small;
    size_t small_size;
    bool *counted;         /* the field needs no argument, only the number of documents */
    struct mrs_path as;    /* n 0: fields at the top level */
    struct mrs_sort *sort;
    bool by, replace, indexes;
    struct mrsi_by group;  /* by */
    int empty, keep, orphans, errors;
    struct mrs_coll orphans_into;
    int side_orphans;
    struct mrsi_added added; /* the written paths: as, or the fields */
    struct mrs_edit *inner; /* the fields, inside as */
    bool flat;              /* no field name has a dot */
    bool plain;             /* by: fast path, key and arguments are unchanged top-level fields or truncated dates */
};

/* match: a payload is a document whose only element, with an empty name, holds the arguments as binary data: the number
 * of bytes before them. */
#define ROLLUP_PAYLOAD_HEAD 11

/* Payload of documents of one template: shared record and payload of one of them, and the positions where other
 * documents differ. */
enum { ROLLUP_MOVES = 32, ROLLUP_CUTS = 4, ROLLUP_STORES = 480, ROLLUP_KNOWN = 4 };
struct rollup_known {
    uint64_t tpl, tried;  /* number of the template, 0: none; number of the template learned from last */
    uint16_t shared, payload; /* sizes of both, which are contiguous in `bytes` */
    uint16_t n_moves, n_cuts;
    uint64_t remarks; /* of mrs_ctx */
    struct rollup_move { /* bytes that are copied from the document */
        uint16_t from, to, n;
    } move[ROLLUP_MOVES];
    struct rollup_cut { /* a truncated date: dates in [start, end) become start */
        const struct mrs_expr *x;
        int64_t start, end;
        uint16_t from, to;
    } cut[ROLLUP_CUTS];
    uint8_t bytes[ROLLUP_STORES];
};

struct rollup_work {
    bool ready;
    struct mrsi_group_value *arg; /* one for each field */
    struct mrs_val *args;  /* one for each small state */
    struct mrs_acc_state **state; /* one for each field */
    struct mrs_acc_shared shared; /* of these */
    bool *failed;                 /* the field has no value */
    bool *silent;                 /* nothing is written at this path */
    bool fed;                     /* with match: documents match */
    struct mrs_buf key, value, raw, doc;
    struct rollup_known *known; /* ROLLUP_KNOWN of them, indexed by template number; NULL: none yet */
};

/* rollup_known.c: fast path for documents of a known template. */
bool mrsi_rollup_is_plain(const struct mrsi_rollup *s);
/* True: shared record and payload have been appended to out. */
bool mrsi_rollup_known(struct rollup_work *w, struct mrs_ctx *c, struct mrs_view doc, struct mrs_fold_entry *out);
/* For a plain plan: learns the positions from a document and its computed entry. If that fails, nothing is learned. */
void mrsi_rollup_learn(const struct mrsi_rollup *s, struct rollup_work *w, const struct mrs_ctx *c, struct mrs_view doc,
                       const struct mrs_fold_entry *out);

/* rollup_feed.c: arguments and values of the accumulators. */
enum mrs_status mrsi_rollup_start(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w);
void mrsi_rollup_work_clear(struct mrs_ctx *c, void *work);
/* Appends the arguments of one document; ev: for that document. SKIP: `errors` refuses it. */
enum mrs_status mrsi_rollup_arguments(const struct mrsi_rollup *s, struct mrs_ctx *c, struct mrs_eval *ev,
                                      struct mrs_buf *out);
/* Resets the accumulators. */
void mrsi_rollup_reset(const struct mrsi_rollup *s, struct rollup_work *w);
/* Feeds the output of arguments(). SKIP: the field computed now cannot be written. */
enum mrs_status mrsi_rollup_feed(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w,
                                 const uint8_t *at, const uint8_t *end);
/* The same for small states. SKIP: they cannot hold it. */
enum mrs_status mrsi_rollup_feed_small(const struct mrsi_rollup *s, struct rollup_work *w, uint8_t *small, bool first,
                                       const uint8_t *at, const uint8_t *end);
/* Loads the states of a group of n documents from its small states. SKIP: as above. */
enum mrs_status mrsi_rollup_take_up(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w,
                                    const uint8_t *small, uint64_t n);
/* The value of field i; missing if it failed and shall not be null. */
enum mrs_status mrsi_rollup_value(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, uint32_t i,
                                  struct mrs_val *out);
/* Appends `as`, or the fields, to the open document in out. Only for names without dots. */
enum mrs_status mrsi_rollup_put_flat(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w,
                                     struct mrs_buf *out);

/* rollup_write.c: appends doc with the fields to out. fresh: doc is new. *blocked: a field could not be written, and
 * `errors` ignores that. */
enum mrs_status mrsi_rollup_write(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w,
                                  struct mrs_view doc, bool fresh, struct mrs_buf *out, bool *blocked);
enum mrs_status mrsi_rollup_splice(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                                   struct mrs_matches *m, const struct mrs_put *put, struct mrs_buf *out,
                                   enum mrs_fate *fate);

/* rollup_fold.c */
extern const struct mrs_fold_ops mrsi_rollup_fold_ops;

/* rollup_describe.c */
enum mrs_status mrsi_rollup_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out,
                                     struct mrs_err *e);
enum mrs_status mrsi_rollup_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e);

#endif
