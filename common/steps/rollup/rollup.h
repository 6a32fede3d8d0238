/* SPDX-License-Identifier: Apache-2.0 */
/* rollup.h - the parts of the rollup step among themselves. */
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

#define ROLLUP_BUF_MAX (4u * MRS_DOC_READ_MAX) /* of what is gathered for one document */

struct rollup_small { /* of a field whose accumulator keeps few bytes */
    size_t size;
    uint32_t field;
    bool fixed;    /* its argument is the same for all documents */
    uint32_t same; /* the first of these that takes the same argument */
};

struct mrsi_rollup {
    struct mrsi_owned keeper;
    struct mrsi_join_match join; /* with `by` only its collections and `where` */
    struct mrs_path *path; /* n of them: names of the fields */
    struct mrs_acc **acc;
    struct mrs_val *fixed; /* what every document brings; missing: each its own */
    uint32_t *same;        /* the first field that takes the same argument: it alone brings it */
    uint32_t *brings;      /* n_brings: fields whose argument each document brings */
    uint32_t *total;       /* of these: the first field with this argument that is a total; n: none */
    uint32_t n_brings;
    uint32_t n;
    struct rollup_small *small; /* n_small of them, one behind the other in a group's state; NULL: not with this plan */
    const struct mrs_acc **small_acc;
    uint32_t n_small;
    size_t small_size;
    bool *counted;         /* the field has none: how many documents there were says all */
    struct mrs_path as;    /* n 0: the fields lie bare */
    struct mrs_sort *sort;
    bool by, replace, indexes;
    struct mrsi_by group;  /* by */
    int empty, keep, orphans, errors;
    struct mrs_coll orphans_into;
    int side_orphans;
    struct mrsi_added added; /* where things are written: as, or the fields */
    struct mrs_edit *inner; /* the fields, inside as */
    bool flat;              /* no name of a field has a dot */
    bool plain;             /* by: key and arguments are top-level fields as they are, or dates that are cut */
};

/* match: a shape is a document whose only element, without a name, holds the arguments as binary data: the bytes in
 * front of them. */
#define ROLLUP_SHAPE_HEAD 11

/* What documents of one template bring: shared record and shape of one of them, and what other documents put there
   instead. */
enum { ROLLUP_MOVES = 32, ROLLUP_CUTS = 4, ROLLUP_BRINGS = 480, ROLLUP_KNOWN = 4 };
struct rollup_known {
    uint64_t tpl, tried;  /* its number, 0: it is not known; which one was learned from last */
    uint16_t shared, shape; /* bytes of each, one behind the other in `bytes` */
    uint16_t n_moves, n_cuts;
    uint64_t remarks; /* of mrs_ctx */
    struct rollup_move { /* bytes that are copied from the document */
        uint16_t from, to, n;
    } move[ROLLUP_MOVES];
    struct rollup_cut { /* a date that is cut: those in [start, end) become start */
        const struct mrs_expr *x;
        int64_t start, end;
        uint16_t from, to;
    } cut[ROLLUP_CUTS];
    uint8_t bytes[ROLLUP_BRINGS];
};

struct rollup_work {
    bool ready;
    struct mrsi_group_value *arg; /* one a field */
    struct mrs_val *given;  /* one a small state */
    struct mrs_acc_state **state; /* one a field */
    struct mrs_acc_shared shared; /* of these */
    bool *failed;                 /* the field has no value */
    bool *silent;                 /* nothing is written at this path */
    struct mrs_buf key, value, raw, doc;
    struct rollup_known *known; /* ROLLUP_KNOWN of them, by number of the look; NULL: none yet */
};

/* rollup_known.c: what a document brings, where documents that look as it did have told where it is. */
bool mrsi_rollup_is_plain(const struct mrsi_rollup *s);
/* True: shared record and shape have been appended to out. */
bool mrsi_rollup_known(struct rollup_work *w, struct mrs_ctx *c, struct mrs_view doc, struct mrs_fold_entry *out);
/* Of a plain plan: learns from a document and what it brings. What it cannot learn it lets be. */
void mrsi_rollup_learn(const struct mrsi_rollup *s, struct rollup_work *w, const struct mrs_ctx *c, struct mrs_view doc,
                       const struct mrs_fold_entry *out);

/* rollup_feed.c: what documents bring, and what comes out of it. */
enum mrs_status mrsi_rollup_start(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w);
void mrsi_rollup_work_clear(struct mrs_ctx *c, void *work);
/* The arguments of one document, one behind the other; ev: of that document. SKIP: `errors` refuses it at once. */
enum mrs_status mrsi_rollup_arguments(const struct mrsi_rollup *s, struct mrs_ctx *c, struct mrs_eval *ev,
                                      struct mrs_buf *out);
/* Nothing fed yet. */
void mrsi_rollup_reset(const struct mrsi_rollup *s, struct rollup_work *w);
/* Feeds what arguments() wrote. SKIP: what is being computed cannot be written. */
enum mrs_status mrsi_rollup_feed(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w,
                                 const uint8_t *at, const uint8_t *end);
/* The same into small states. SKIP: they cannot take it. */
enum mrs_status mrsi_rollup_feed_small(const struct mrsi_rollup *s, struct rollup_work *w, uint8_t *small, bool first,
                                       const uint8_t *at, const uint8_t *end);
/* The states of a group of n documents from its small ones. SKIP: as above. */
enum mrs_status mrsi_rollup_take_up(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w,
                                    const uint8_t *small, uint64_t n);
/* The value of field i: missing where it failed and is not to be null. */
enum mrs_status mrsi_rollup_value(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, uint32_t i,
                                  struct mrs_val *out);
/* Appends the elements to the document that is open in out: as, or the fields. Only where nothing of it has a dot. */
enum mrs_status mrsi_rollup_put_flat(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w,
                                     struct mrs_buf *out);

/* rollup_write.c: doc with the fields in it, appended to out. fresh: doc is new. *blocked: something could not be
 * written, and `errors` lets it be. */
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
