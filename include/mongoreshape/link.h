/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - kernels of the family LINK: references of parents to their children and of children to their parents
 * complete each other (the step `link`).
 *
 * Side 0 of the step are the parents, side 1 the children; they may be one collection. Side 2, where there is one,
 * receives orphans. The engine reads both sides, finds out who names whom by `_id`, asks judge() about each document,
 * and gives splice() the references that a document holds in the end, sorted. */
#ifndef MONGORESHAPE_LINK_H
#define MONGORESHAPE_LINK_H

#include "mongoreshape/context.h"
#include "mongoreshape/join_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a document holds where its references lie. */
enum mrs_link_shape {
    MRS_LINK_NONE, /* nothing: missing, null or undefined */
    MRS_LINK_ONE,  /* a single value */
    MRS_LINK_LIST  /* an array, perhaps empty; or values that lie behind an array on the way */
};

/* What the step wants to happen, the same for all documents. */
struct mrs_link_wants {
    bool lists;    /* parents gain the children that name them */
    bool refs;     /* children may get, or gain, the parents that list them */
    bool leaves;   /* children may leave lists (MRS_LINK_LEAVES) */
    bool sorted;   /* order() gives a key, and lists are sorted by it */
    bool kinds[2]; /* splice() of this side reads the kinds of items; else they need not be known */
};

/* What is known of a document, from the references of both sides as the step found them. */
struct mrs_link_facts {
    enum mrs_link_shape shape;
    bool dangling;   /* some reference of it names no document */
    bool names;      /* some reference of it names a document that is there */
    /* children only: */
    bool elsewhere;  /* shape ONE: some parent lists it that it does not name */
    unsigned listed; /* by how many parents: 0, 1, or 2 for more */
};

enum mrs_link_verdict { /* bits, of a child */
    MRS_LINK_GAINS = 1,  /* the parents that it names list it from now on */
    MRS_LINK_LEAVES = 2, /* shape ONE: parents that it does not name list it no longer */
    MRS_LINK_TAKES = 4,  /* NONE, ONE: it names the one parent that lists it; LIST: also all that list it */
    MRS_LINK_ORPHAN = 8  /* it neither names nor is listed: orphan() tells what becomes of it */
};

enum mrs_link_kind {
    MRS_LINK_NAMED,    /* it names a document that is there */
    MRS_LINK_REFUSED,  /* it names one that is refused: nothing says so on the other side (where wants.kinds) */
    MRS_LINK_DANGLING, /* it names no document */
    MRS_LINK_EMPTY     /* null or undefined: no reference */
};
#define MRS_LINK_NEW UINT32_MAX
/* A reference that a document holds in the end. */
struct mrs_link_item {
    uint32_t at;          /* which of those that it held (in the order of read()), or MRS_LINK_NEW */
    enum mrs_link_kind kind;
    struct mrs_val value; /* of a new one: the `_id` */
};

struct mrs_link_ops {
    void (*wants)(const void *state, struct mrs_link_wants *out);
    /* The key of the document's `_id` (pair 0), then one for each reference that it holds, in document order (pair 1,
     * `null` where it is none). OK with *shape; SKIP: refused, the key of its `_id` being there if it has a good one;
     * DEAD. */
    enum mrs_status (*read)(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, struct mrs_keys *k,
                            enum mrs_link_shape *shape);
    /* Sort key of a child (wants.sorted), appended to out. SKIP: it is refused if it is in some list or would be. */
    enum mrs_status (*order)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* OK with *verdict (0 for a parent); SKIP: refused. Nothing is derived from a refused document, and references to
     * it stay. */
    enum mrs_status (*judge)(const void *state, struct mrs_ctx *c, int side, const struct mrs_link_facts *facts,
                             unsigned *verdict);
    /* The document with these references, appended to out unless *fate is STAYS (nothing changes); else CHANGED. SKIP:
     * refused. */
    enum mrs_status (*splice)(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                              const struct mrs_link_item *item, uint32_t n, struct mrs_buf *out, enum mrs_fate *fate);
    /* STAYS, DROPPED, REFUSED, or TAKEN to *side. */
    enum mrs_fate (*orphan)(const void *state, int *side);
};

#ifdef __cplusplus
}
#endif
#endif
