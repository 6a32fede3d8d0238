/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_ops.h - kernels of the family REKEY: the documents of one collection get other `_id`s, or those that have a key
 * in common become one, and all references to them follow.
 *
 * Side 0 is that collection. A side with MRS_ROLE_MAIN behind it holds references; side 0 may hold some as well. An
 * engine reads all of side 0 first, so that `_id`s may be exchanged. Kernels are pure functions as in step.h. */
#ifndef MONGORESHAPE_REKEY_OPS_H
#define MONGORESHAPE_REKEY_OPS_H

#include "mongoreshape/context.h"
#include "mongoreshape/join_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the step wants, the same for all documents. */
struct mrs_rekey_wants {
    bool merge;  /* documents with a key in common become one; else each gets an `_id` of its own */
    bool values; /* merge: something is computed from all documents of a group: group_begin, group_add, group_end */
    bool sorted; /* merge: order() gives a key; the first document of a group survives */
    bool olds;   /* the former `_id`s are written down */
    int into;    /* merge: side that those go to that are merged in; -1: they are dropped */
};

struct mrs_rekey_entry { /* the keys are the engine's, empty before each call */
    bool takes_part;     /* merge: it has keys */
    struct mrs_val id;   /* as it is; missing */
    struct mrs_val to;   /* not merge: the new one */
    struct mrs_keys keys; /* merge: documents with one key in common are one group, also through others */
};

/* What is put into a document of side 0. */
struct mrs_rekey_gain {
    struct mrs_val to;      /* the new `_id`; missing: it keeps its own */
    struct mrs_val old;     /* the former one, or an array of those that were merged in; missing: none */
    struct mrs_view values; /* what group_end made; empty: nothing */
};

enum mrs_rekey_found {
    MRS_REKEY_STAYS,   /* it names a document that keeps its `_id`, or is refused */
    MRS_REKEY_FOLLOWS, /* it becomes *to */
    MRS_REKEY_NOBODY   /* neither an `_id` that was there nor a new one */
};
struct mrs_rekey_lookup {
    /* OK with *found; DEAD. *to lives until the pass ends. */
    enum mrs_status (*find)(void *arg, struct mrs_val id, enum mrs_rekey_found *found, struct mrs_val *to,
                            struct mrs_err *e);
    void *arg;
    uint64_t references, dangling; /* counted by point(): those that follow, those that name no document */
};

struct mrs_rekey_ops {
    void (*wants)(const void *state, struct mrs_rekey_wants *out);
    /* What a document of side 0 says of itself; *to lives in the arena or in work. OK; SKIP: it is refused, and its id
     * and keys count for the others all the same, as far as they are known; DEAD. */
    enum mrs_status (*read)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                            struct mrs_rekey_entry *out);
    /* Sort key of a document in its group, appended to out. SKIP: it is refused. */
    enum mrs_status (*order)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* Values of one group, whose documents are added in their order. end appends them as one document to out. SKIP: all
     * of the group are refused. */
    enum mrs_status (*group_begin)(const void *state, struct mrs_ctx *c, void *work);
    enum mrs_status (*group_add)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc);
    enum mrs_status (*group_end)(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out);
    /* The document with what it gains, appended to out, which is empty. OK; SKIP: it is refused. */
    enum mrs_status (*write)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                             const struct mrs_rekey_gain *gain, struct mrs_buf *out);
    /* The references of a document of a side, which of side 0 has what it gains already. OK with *changed: it has been
     * appended to out, which is empty; else it stays as it is. SKIP: it is refused. */
    enum mrs_status (*point)(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                             struct mrs_rekey_lookup *to, struct mrs_buf *out, bool *changed);
    /* Calls fn with values that point() is likely to look up in such a document, in their order there. */
    void (*look)(const void *state, int side, struct mrs_view doc, void (*fn)(void *arg, struct mrs_val id), void *arg);
};

#ifdef __cplusplus
}
#endif
#endif
