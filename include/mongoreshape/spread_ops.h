/* SPDX-License-Identifier: Apache-2.0 */
/* spread_ops.h - kernels of the families MAP and SPREAD: one document in, any number out. */
#ifndef MONGORESHAPE_SPREAD_OPS_H
#define MONGORESHAPE_SPREAD_OPS_H

#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MAP and SPREAD. begin does all that can fail, next hands out what it made: push is a loop over pull. */
struct mrs_product {
    int side;             /* the collection it belongs to now */
    bool self; /* the source document itself, where it stays in or changes in its own collection; at most one */
    bool made; /* its `_id` was made by the step: an equal document is another one, never the same */
    struct mrs_view doc;  /* lives until the next call of next or begin */
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
     * read the products one by one; it stands for every call of next. */
    struct mrs_products (*all)(const void *work);
    /* NULL, or: whether a field of this name, at the top of a document that is TAKEN, is lost though the plan does not
     * say so. */
    bool (*loses)(const void *state, const char *name, uint32_t len);
    /* NULL, or: the value by which a document names the collection where it goes, and the text that it puts there;
     * missing: it names none. As begin. */
    enum mrs_status (*names)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_val *value,
                             struct mrs_val *name);
};

#ifdef __cplusplus
}
#endif
#endif
