/* SPDX-License-Identifier: Apache-2.0 */
/* fold_ops.h - kernels of the family FOLD: documents with equal keys become documents of `into`. */
#ifndef MONGORESHAPE_FOLD_OPS_H
#define MONGORESHAPE_FOLD_OPS_H

#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* FOLD: documents of `from` (side 0) with equal keys, in an order, become documents of `into` (side 1). Those that some
 * document of into was made of are TAKEN (side 0 has MRS_ROLE_TAKE) or STAY; equal `_id`s in into are judged by
 * desc.conflicts, the candidates being the members of a document. */
struct mrs_fold_entry { /* what one document brings; the buffers are the engine's, empty before each call */
    bool takes_part;      /* false: it stays, and the buffers are not read */
    struct mrs_buf group; /* keys of mrs_key_append: equal bytes are one group, and groups come in their memcmp order */
    struct mrs_buf order; /* memcmp order inside the group, ties in input order; nothing: input order */
    struct mrs_buf shape; /* what fold needs of it, as the step likes: it alone reads it */
    struct mrs_buf shared; /* the same, but what most documents of its group have alike byte for byte, so that it is
                             kept once for many of them; may be nothing. Where there is an op `shared record`, a short
                             name of it instead */
};
struct mrs_fold_span { /* bytes of a document */
    uint16_t at, n;
};
#define MRS_FOLD_ELSEWHERE UINT32_MAX
/* What a document brings, as the places where that is in it; all but the shared record lives as the work does. */
struct mrs_fold_fast {
    int64_t date; /* the order is that of a date: mrs_key_date */
    uint32_t date_at; /* where that is in the shape, as BSON has it; MRS_FOLD_ELSEWHERE: nowhere in it */
    const struct mrs_fold_span *shape; /* one behind the other */
    uint32_t n_spans, shape_bytes;
    struct mrs_buf *shared; /* the engine's, empty before each call: a name */
};
struct mrs_members { /* of one group, in order */
    /* The next member's shape, which lives until the next call. OK, END, DEAD. */
    enum mrs_status (*next)(struct mrs_members *m, struct mrs_view *shape, struct mrs_err *e);
    /* Members behind the one just given and of its shared record, at most so many, as next would give them: returns how
     * many, 0 also where next has one. The shapes live until the next call, and none of them is refused alone. NULL:
     * next gives all of them. */
    uint32_t (*more)(struct mrs_members *m, struct mrs_view *shape, uint32_t most);
    /* The member just given is refused alone, for the reason in c->err; it belongs to no document. */
    enum mrs_status (*refuse)(struct mrs_members *m, struct mrs_err *e);
    void *impl;
    struct mrs_view shared; /* of the member just given; lives as long as its shape */
    bool same_shared;    /* it is that of the member before, which still lives; false: that is not known */
    /* Not empty: members before the next one were given in another run, and this is what save made of them: documents
     * that are whole, perhaps with other contents (then fold ends with FAIL MRS_E_FORMAT). Lives while fold does. */
    struct mrs_view from;
};
struct mrs_fold_put {
    /* A document of into. It was made of all members given (and not refused) since the one before it; with `but_last`
     * less the one given last, which begins the next document. The view is read before put returns. OK, DEAD. */
    enum mrs_status (*put)(void *arg, struct mrs_view doc, bool but_last, struct mrs_err *e);
    void *arg;
};
struct mrs_fold_small { /* a group that grew while documents were read */
    const uint8_t *state;
    struct mrs_view shared; /* of its first document */
    uint64_t n;           /* documents */
};
struct mrs_fold_ops {
    /* OK with *out; SKIP: the document is refused. */
    enum mrs_status (*enter)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                             struct mrs_fold_entry *out);
    /* One group, from its first member to its last. SKIP: all members of the group are refused, with the reason in
     * c->err, and the engine takes back what was put. The arena is reset between groups only. */
    enum mrs_status (*fold)(const void *state, struct mrs_ctx *c, void *work, struct mrs_members *m,
                            const struct mrs_fold_put *put);
    /* While fold asks for a member: what it has made of those before, and not put yet, as documents one behind the
     * other, at least one of them, appended to out. A fold that begins with that makes of the members that follow what
     * this one will, to the last byte. Nothing changes. OK; FAIL MRS_E_LIMIT: it cannot be said in documents; DEAD.
     * NULL: the step never can. */
    enum mrs_status (*save)(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out);
    /* As fold for groups that grow while documents are read, where nothing but input order counts and no document is
     * refused alone; only beside an op `group`, and without an op `shared record`. NULL: the step never can.
     * small_size: bytes of a group's state; 0: not with this plan. */
    size_t (*small_size)(const void *state);
    /* One more document of a group; first: its first, and what is in small counts for nothing. SKIP: the state
     * does not fit, or the group fails; then it is folded again, from all its documents. The arena is not reset. */
    enum mrs_status (*small_feed)(const void *state, struct mrs_ctx *c, void *work, uint8_t *small, bool first,
                                  struct mrs_view shape);
    /* Puts the one document of a group. OK; SKIP as above; DEAD. */
    enum mrs_status (*small_end)(const void *state, struct mrs_ctx *c, void *work, const struct mrs_fold_small *small,
                                 const struct mrs_fold_put *put);
    /* The group of a document from its shared record alone: enter appends nothing to out->group then. NULL: it does.
     * SKIP: the document is refused. */
    enum mrs_status (*group)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view shared,
                             struct mrs_buf *out);
    /* The shared record of a document that was entered or entered the fast way with the same work, no other having been
     * entered since (more may have been told), and of the name that it was given then; appended to out. Documents that
     * were given the same name with the same work have the same shared record, so that it is asked for seldom. NULL:
     * enter appends the shared record itself. SKIP: the document is refused. */
    enum mrs_status (*shared)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_view name, struct mrs_buf *out);
    /* enter at less cost, of a document that looks like one that was entered with the same work; only beside ops
     * `group` and `shared record`, which take it as entered. True: it takes part with what is in out, the same as of
     * enter; the places stay as they are until another document is entered. False: enter has to be asked, and nothing
     * of out is read. NULL: the step never can. */
    bool (*enter_fast)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                       struct mrs_fold_fast *out);
};

#ifdef __cplusplus
}
#endif
#endif
