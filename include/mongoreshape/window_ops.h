/* SPDX-License-Identifier: Apache-2.0 */
/* window_ops.h - kernels of the family WINDOW: the documents of a collection stay, and each receives values computed
 * from others of its group.
 *
 * A document has a key (equal keys are one group), a position in the order of the group, and a payload for the
 * computation. The step receives complete groups and returns a result for each member; splice then writes the
 * documents, in input order. Kernels are pure functions as in step.h. */
#ifndef MONGORESHAPE_WINDOW_OPS_H
#define MONGORESHAPE_WINDOW_OPS_H

#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_window_entry {   /* the engine owns the buffers, empty before each call */
    bool takes_part;        /* false: it is in no group, and the buffers are not read */
    struct mrs_buf group;   /* equal bytes are one group */
    struct mrs_buf order;   /* memcmp order inside the group, ties in input order; empty: input order */
    struct mrs_buf payload; /* the payload: a document */
};
struct mrs_window_member {
    struct mrs_view order, payload; /* live while the group is processed */
};
struct mrs_window_group { /* a complete group */
    uint64_t n;           /* number of members, at least 1 */
    struct mrs_window_member (*at)(const struct mrs_window_group *g, uint64_t i); /* in the order of the group */
    const void *impl;
};
/* The results of a group: `alike` once for all members that follow, `member` for each in its order. Each result is a
 * document, copied before the call returns; the arena is reset then. OK, FAIL, DEAD. */
struct mrs_window_result {
    enum mrs_status (*alike)(void *arg, struct mrs_view doc, struct mrs_err *e);
    enum mrs_status (*member)(void *arg, struct mrs_view doc, struct mrs_err *e);
    void *arg;
};
struct mrs_window_ops {
    /* OK with *out; SKIP: the document is refused, and in no group. */
    enum mrs_status (*enter)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_window_entry *out);
    /* Calls give for each member of the group. OK; the status of give; DEAD. */
    enum mrs_status (*group)(const void *state, struct mrs_ctx *c, void *work, const struct mrs_window_group *g,
                             const struct mrs_window_result *give);
    /* Appends the document with its results to out, which is empty. OK with *fate: STAYS (the same bytes), CHANGED.
     * SKIP: it is refused, but counted in the results of the others. */
    enum mrs_status (*splice)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_view alike, struct mrs_view given, struct mrs_buf *out, enum mrs_fate *fate);
};

#ifdef __cplusplus
}
#endif
#endif
