/* SPDX-License-Identifier: Apache-2.0 */
/* spread_ops.h - kernels of the families MAP and SPREAD: one document in, any number out. */
#ifndef MONGORESHAPE_SPREAD_OPS_H
#define MONGORESHAPE_SPREAD_OPS_H

#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MAP and SPREAD. begin does all that can fail, next returns the products: push is a loop over pull. */
struct mrs_product {
    int side;             /* the collection it belongs to */
    bool self; /* the source document itself, if it stays or changes in its own collection; at most one */
    bool made; /* the step created its `_id`: an equal document is a different one */
    struct mrs_view doc;  /* lives until the next call of next or begin */
};
struct mrs_products { /* of one side, contiguous */
    int side;
    const uint8_t *p;
    size_t n;
};
struct mrs_spread_ops {
    /* One document of side `side` (one with MRS_ROLE_MAIN). OK with *fate; SKIP: refused, do not call next. If the
     * source stays, it is the first product of a SPREAD step (self). */
    enum mrs_status (*begin)(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                             enum mrs_fate *fate);
    /* OK, END, DEAD. */
    enum mrs_status (*next)(const void *state, struct mrs_ctx *c, void *work, struct mrs_product *out);
    /* NULL, or: all products of next, but for the source itself, which does not change. For engines that do not read
     * the products one by one; replaces all calls of next. */
    struct mrs_products (*all)(const void *work);
    /* NULL, or: whether a top-level field of this name, in a document that is TAKEN, is lost although the plan does not
     * say so. */
    bool (*loses)(const void *state, const char *name, uint32_t len);
    /* NULL, or: the value of a document that selects its target collection, and the name derived from it; missing: it
     * selects none. As begin. */
    enum mrs_status (*names)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_val *value,
                             struct mrs_val *name);
};

#ifdef __cplusplus
}
#endif
#endif
