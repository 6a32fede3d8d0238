/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - kernels of the family LINK: references from parents to children and from children to parents complete each
 * other (the step `link`).
 *
 * Side 0 of the step are the parents, side 1 the children; they may be one collection. Side 2, if there is one,
 * receives orphans. The engine reads both sides, resolves the references by `_id`, calls judge() for each document, and
 * passes splice() the final references of a document, sorted. */
#ifndef MONGORESHAPE_LINK_H
#define MONGORESHAPE_LINK_H

#include "mongoreshape/context.h"
#include "mongoreshape/join_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of a document at the path of its references. */
enum mrs_link_shape {
    MRS_LINK_NONE, /* nothing: missing, null or undefined */
    MRS_LINK_ONE,  /* a single value */
    MRS_LINK_LIST  /* an array, perhaps empty; or values inside an array on the way */
};

/* Properties of the step, the same for all documents. */
struct mrs_link_wants {
    bool lists;    /* lists of parents gain children that refer to them */
    bool refs;     /* children may get, or gain, references to parents that list them */
    bool leaves;   /* children may leave lists (MRS_LINK_LEAVES) */
    bool sorted;   /* order() returns a key that sorts lists */
    bool kinds[2]; /* splice() of this side reads the kinds of items; else they may be unset */
};

/* Facts about a document, from the references of both sides in the input. */
struct mrs_link_facts {
    enum mrs_link_shape shape;
    bool dangling;   /* it has a dangling reference */
    bool names;      /* it has a reference to an existing document */
    /* children only: */
    bool elsewhere;  /* shape ONE: a parent lists it that it does not refer to */
    unsigned listed; /* number of parents that list it: 0, 1, or 2 for more */
};

enum mrs_link_verdict { /* bits, for a child */
    MRS_LINK_GAINS = 1,  /* the parents that it refers to will list it */
    MRS_LINK_LEAVES = 2, /* shape ONE: parents that it does not refer to will not list it */
    MRS_LINK_TAKES = 4,  /* NONE, ONE: it will refer to the one parent that lists it; LIST: also to all that list it */
    MRS_LINK_ORPHAN = 8  /* it refers to no parent and none lists it: orphan() returns its fate */
};

enum mrs_link_kind {
    MRS_LINK_NAMED,    /* its document exists */
    MRS_LINK_REFUSED,  /* its document is refused: the other side gains no reference (if wants.kinds) */
    MRS_LINK_DANGLING, /* dangling */
    MRS_LINK_EMPTY     /* null or undefined: no reference */
};
#define MRS_LINK_NEW UINT32_MAX
/* A reference of a document after the step. */
struct mrs_link_item {
    uint32_t at;          /* index of the former reference (in the order of read()), or MRS_LINK_NEW */
    enum mrs_link_kind kind;
    struct mrs_val value; /* of a new one: the `_id` */
};

struct mrs_link_ops {
    void (*wants)(const void *state, struct mrs_link_wants *out);
    /* Appends the key of the document's `_id` (pair 0), then one key for each of its references, in document order
     * (pair 1, `null`: it is none). OK with *shape; SKIP: refused; k has the key of its `_id` if that is valid;
     * DEAD. */
    enum mrs_status (*read)(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, struct mrs_keys *k,
                            enum mrs_link_shape *shape);
    /* Appends the sort key of a child (wants.sorted) to out. SKIP: it is refused if it is in a list or would be. */
    enum mrs_status (*order)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* OK with *verdict (0 for a parent); SKIP: refused. A refused document changes no other document, and references to
     * it stay. */
    enum mrs_status (*judge)(const void *state, struct mrs_ctx *c, int side, const struct mrs_link_facts *facts,
                             unsigned *verdict);
    /* Appends the document with these references to out unless *fate is STAYS (no change); else CHANGED. SKIP:
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
