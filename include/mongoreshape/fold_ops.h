/* SPDX-License-Identifier: Apache-2.0 */
/* fold_ops.h - kernels of the family FOLD: documents with equal keys become documents of `into`. */
#ifndef MONGORESHAPE_FOLD_OPS_H
#define MONGORESHAPE_FOLD_OPS_H

#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* FOLD: documents of `from` (side 0) with equal keys, in an order, become documents of `into` (side 1). Members of a
 * document of into are TAKEN (side 0 has MRS_ROLE_TAKE) or STAY. desc.conflicts decides on equal `_id`s in into; the
 * candidates are the members of a document. */
struct mrs_fold_entry { /* the entry of one document; the engine owns the buffers, empty before each call */
    bool takes_part;        /* false: it stays, and the buffers are not read */
    struct mrs_buf group;   /* keys of mrs_key_append: equal bytes are one group, and groups are sorted by memcmp */
    struct mrs_buf order;   /* memcmp order inside the group, ties in input order; empty: input order */
    struct mrs_buf payload; /* payload for fold, in a format that only the step reads */
    /* the part of the payload that most documents of its group share byte for byte, stored once for many of them; may
     * be empty. With an op `shared`, a short name of it instead */
    struct mrs_buf shared;
};
struct mrs_fold_span { /* bytes of a document */
    uint16_t at, n;
};
#define MRS_FOLD_ELSEWHERE UINT32_MAX
/* The entry of a document as spans of its bytes; all but the shared record lives as long as the work does. */
struct mrs_fold_fast {
    int64_t date; /* the order is that of a date: mrs_key_date */
    uint32_t date_at; /* offset of that date in the payload, in BSON form; MRS_FOLD_ELSEWHERE: not in it */
    const struct mrs_fold_span *payload; /* contiguous in the payload */
    uint32_t n_spans, payload_bytes;
    struct mrs_buf *shared; /* the engine's, empty before each call: a name */
};
struct mrs_members { /* of one group, in order */
    /* The payload of the next member, which lives until the next call. OK, END, DEAD. */
    enum mrs_status (*next)(struct mrs_members *m, struct mrs_view *payload, struct mrs_err *e);
    /* Up to `most` members after the last one returned with the same shared record, in the order of next. Returns their
     * number, which may be 0 although next has one. The payloads live until the next call, and none of them is refused
     * alone. NULL: next returns all of them. */
    uint32_t (*more)(struct mrs_members *m, struct mrs_view *payload, uint32_t most);
    /* The last member is refused alone, for the reason in c->err; it belongs to no document. */
    enum mrs_status (*refuse)(struct mrs_members *m, struct mrs_err *e);
    void *impl;
    struct mrs_view shared; /* of the last member; lives as long as its payload */
    bool same_shared;    /* it equals that of the previous member, which still lives; false: unknown */
    /* Not empty: the group is resumed, and this is the output of save for the members before the next one: complete
     * documents, perhaps with other contents (then fold ends with FAIL MRS_E_FORMAT). Lives while fold runs. */
    struct mrs_view from;
};
struct mrs_fold_put {
    /* A document of into. Its members are all members (not refused) returned since the previous one; with `but_last`
     * without the last one, which begins the next document. put copies the view before it returns. OK, DEAD. */
    enum mrs_status (*put)(void *arg, struct mrs_view doc, bool but_last, struct mrs_err *e);
    void *arg;
};
struct mrs_fold_small { /* a group that was updated while documents were read */
    const uint8_t *state;
    struct mrs_view shared; /* of its first document */
    uint64_t n;           /* documents */
};
struct mrs_fold_ops {
    /* OK with *out; SKIP: the document is refused. */
    enum mrs_status (*enter)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                             struct mrs_fold_entry *out);
    /* Folds one group, from its first member to its last. SKIP: all members of the group are refused, with the reason
     * in c->err, and the engine discards the documents of put. The arena is reset between groups only. */
    enum mrs_status (*fold)(const void *state, struct mrs_ctx *c, void *work, struct mrs_members *m,
                            const struct mrs_fold_put *put);
    /* Called while fold requests a member: appends the pending result of the members before it, as at least one
     * document (contiguous), to out. A fold that starts with these documents makes the same bytes of the remaining
     * members. Changes nothing. OK; FAIL MRS_E_LIMIT: not representable as documents; DEAD. NULL: the step never
     * can. */
    enum mrs_status (*save)(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out);
    /* As fold, for groups updated while documents are read, if only input order counts and no document is refused
     * alone; needs an op `group` and no op `shared`. NULL: the step never can. small_size: bytes of a group's state; 0:
     * not with this plan. */
    size_t (*small_size)(const void *state);
    /* Adds a document to a group; first: its first one, ignores the contents of small. SKIP: the state does not fit, or
     * the group fails; then all its documents are folded again. The arena is not reset. */
    enum mrs_status (*small_feed)(const void *state, struct mrs_ctx *c, void *work, uint8_t *small, bool first,
                                  struct mrs_view payload);
    /* Puts the one document of a group. OK; SKIP as above; DEAD. */
    enum mrs_status (*small_end)(const void *state, struct mrs_ctx *c, void *work, const struct mrs_fold_small *small,
                                 const struct mrs_fold_put *put);
    /* Appends the group of a document, from its shared record alone; enter then appends nothing to out->group. NULL:
     * enter does. SKIP: the document is refused. */
    enum mrs_status (*group)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view shared,
                             struct mrs_buf *out);
    /* Appends the place of a group among documents that a `$sort` by the parts of its key has put in order, from a
     * shared record alone: a server sorts a missing part as null, and an array by its least element, so several groups
     * may have one place. */
    enum mrs_status (*place)(const void *state, struct mrs_ctx *c, struct mrs_view shared, struct mrs_buf *out);
    /* Appends the shared record to out, for the document last entered (by enter or enter_fast) with the same work and
     * for its name (calls of `more` may have followed). Documents with equal names and the same work have equal shared
     * records, so calls are rare. NULL: enter appends the shared record itself. SKIP: the document is refused. */
    enum mrs_status (*shared)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_view name, struct mrs_buf *out);
    /* Fast path of enter for a document with a known layout (same `work`); needs ops `group` and `shared`, for which it
     * counts as entered. true: it takes part, with the entry in out, as of enter; the spans are valid until another
     * document is entered. false: call enter, out is undefined. NULL: no fast path. */
    bool (*enter_fast)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                       struct mrs_fold_fast *out);
};

#ifdef __cplusplus
}
#endif
#endif
