/* SPDX-License-Identifier: Apache-2.0 */
/* window_ops.h - kernels of the family WINDOW: the documents of a collection stay where they lie, and each receives
 * what is computed from others of its group.
 *
 * A document brings a key (equal keys are one group), its place in the order of the group, and what others may need of
 * it. A group that is whole is given to the step, which says of each member what it has to know; with that the document
 * is written, in input order. Kernels are pure functions as in step.h. */
#ifndef MONGORESHAPE_WINDOW_OPS_H
#define MONGORESHAPE_WINDOW_OPS_H

#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_window_entry { /* the buffers are the engine's, empty before each call */
    bool takes_part;      /* false: it is in no group, and the buffers are not read */
    struct mrs_buf group; /* equal bytes are one group */
    struct mrs_buf order; /* memcmp order inside the group, ties in input order; nothing: input order */
    struct mrs_buf shape; /* what the step needs of it: a document */
};
struct mrs_window_member {
    struct mrs_view order, shape; /* live as long as the group is worked on */
};
struct mrs_window_group { /* one that is whole */
    uint64_t n;           /* members, more than none */
    struct mrs_window_member (*at)(const struct mrs_window_group *g, uint64_t i); /* in the order of the group */
    const void *impl;
};
/* What the step says of a group, once of all that follow and then of each member in its order. Each is a document,
 * read before the call returns; the arena is reset then. OK, FAIL, DEAD. */
struct mrs_window_give {
    enum mrs_status (*alike)(void *arg, struct mrs_view doc, struct mrs_err *e);
    enum mrs_status (*member)(void *arg, struct mrs_view doc, struct mrs_err *e);
    void *arg;
};
struct mrs_window_ops {
    /* OK with *out; SKIP: the document is refused, and in no group. */
    enum mrs_status (*enter)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_window_entry *out);
    /* Gives for each member of the group. OK; what give returned; DEAD. */
    enum mrs_status (*group)(const void *state, struct mrs_ctx *c, void *work, const struct mrs_window_group *g,
                             const struct mrs_window_give *give);
    /* The document with what was given for it, appended to out, which is empty. OK with *fate: STAYS (the same bytes),
     * CHANGED. SKIP: it is refused; the others know of it all the same. */
    enum mrs_status (*splice)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_view alike, struct mrs_view given, struct mrs_buf *out, enum mrs_fate *fate);
};

#ifdef __cplusplus
}
#endif
#endif
