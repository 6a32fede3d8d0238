/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_ops.h - kernels of the family REKEY: the documents of one collection get new `_id`s, or documents with a common
 * key merge into one, and all references to them are updated.
 *
 * Side 0 is that collection. The following sides with MRS_ROLE_MAIN hold references; side 0 may hold some as well. An
 * engine reads all of side 0 first, so that documents can exchange `_id`s. Kernels are pure functions as in step.h. */
#ifndef MONGORESHAPE_REKEY_OPS_H
#define MONGORESHAPE_REKEY_OPS_H

#include "mongoreshape/context.h"
#include "mongoreshape/join_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Properties of the step, the same for all documents. */
struct mrs_rekey_wants {
    bool merge;  /* documents with a common key become one; else each gets a new `_id` */
    bool values; /* merge: fields are computed from all documents of a group: group_begin, group_add, group_end */
    bool sorted; /* merge: order() returns a key; the first document of a group survives */
    bool olds;   /* the former `_id`s are stored */
    int into;    /* merge: side that receives the merged documents; -1: they are dropped */
};

struct mrs_rekey_entry { /* the engine owns the keys, empty before each call */
    bool takes_part;     /* merge: it has keys */
    struct mrs_val id;   /* the current `_id`; missing */
    struct mrs_val to;   /* not merge: the new `_id` */
    struct mrs_keys keys; /* merge: documents with a common key form one group, also transitively */
};

/* Changes to a document of side 0. */
struct mrs_rekey_gain {
    struct mrs_val to;      /* the new `_id`; missing: it keeps its own */
    struct mrs_val old;     /* the former one, or an array of those of the merged documents; missing: none */
    struct mrs_view values; /* the result of group_end; empty: nothing */
};

enum mrs_rekey_found {
    MRS_REKEY_STAYS,   /* its document keeps its `_id`, or is refused */
    MRS_REKEY_FOLLOWS, /* it becomes *to */
    MRS_REKEY_NOBODY   /* neither a former nor a new `_id` */
};
struct mrs_rekey_lookup {
    /* OK with *found; DEAD. *to lives until the pass ends. */
    enum mrs_status (*find)(void *arg, struct mrs_val id, enum mrs_rekey_found *found, struct mrs_val *to,
                            struct mrs_err *e);
    void *arg;
    uint64_t references, dangling; /* counted by point(): updated references, dangling references */
};

struct mrs_rekey_ops {
    void (*wants)(const void *state, struct mrs_rekey_wants *out);
    /* Reads a document of side 0; *to lives in the arena or in work. OK; SKIP: it is refused, but its id and keys, as
     * far as they are known, count for the others; DEAD. */
    enum mrs_status (*read)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                            struct mrs_rekey_entry *out);
    /* Appends the sort key of a document in its group to out. SKIP: it is refused. */
    enum mrs_status (*order)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* Values of one group, whose documents are added in their order. end appends them as one document to out. SKIP: all
     * documents of the group are refused. */
    enum mrs_status (*group_begin)(const void *state, struct mrs_ctx *c, void *work);
    enum mrs_status (*group_add)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc);
    enum mrs_status (*group_end)(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out);
    /* Appends the document with its changes to out, which is empty. OK; SKIP: it is refused. */
    enum mrs_status (*write)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                             const struct mrs_rekey_gain *gain, struct mrs_buf *out);
    /* Updates the references of a document of a side; a document of side 0 has its changes already. OK with *changed:
     * it was appended to out, which is empty; else it is unchanged. SKIP: it is refused. */
    enum mrs_status (*point)(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                             struct mrs_rekey_lookup *to, struct mrs_buf *out, bool *changed);
    /* Calls fn with the values that point() will probably look up for such a document, in their order there. */
    void (*look)(const void *state, int side, struct mrs_view doc, void (*fn)(void *arg, struct mrs_val id), void *arg);
};

#ifdef __cplusplus
}
#endif
#endif
