/* SPDX-License-Identifier: Apache-2.0 */
/* join_ops.h - kernels of the family JOIN: documents of `from` go into documents of `into`. */
#ifndef MONGORESHAPE_JOIN_OPS_H
#define MONGORESHAPE_JOIN_OPS_H

#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Encoded keys (mrs_key_append) of one document, pair by pair. Two documents match if each pair has an equal key on
 * both sides; keys only match keys of their kind, and a key of kind 1 replaces pair 0. If a step joins by reference,
 * pair 0 is the reference and the other pairs are further conditions. */
struct mrs_keys {
    struct mrs_buf bytes;
    struct mrs_keyspan {
        uint32_t off, len;
        uint16_t pair; /* of match */
        /* 0: value of the pair; 1: an `_id` (in-place embed: a document counts as the reference to its own _id) */
        uint8_t kind;
        uint8_t null;  /* it is null, missing or undefined (only with nulls: match) */
    } *span;
    uint32_t n, cap;
    struct mrs_mem *mem;
};
void mrs_keys_init(struct mrs_keys *k, struct mrs_mem *mem);
void mrs_keys_clear(struct mrs_keys *k);
void mrs_keys_reset(struct mrs_keys *k);
/* Appends one key for v. OK; SKIP MRS_E_LIMIT (over MRS_KEY_MAX); DEAD. */
enum mrs_status mrs_keys_add(struct mrs_keys *k, uint16_t pair, uint8_t kind, struct mrs_val v, struct mrs_err *e);

/* JOIN. A match of a document of `into`: one document of `from`. */
struct mrs_match {
    uint64_t order;        /* position in from's input order: unique, ascending unless there is another sort */
    /* by_reference: index of the matching key of the into document (in keys order): the first of equal ones */
    uint32_t ref;
    struct mrs_view payload; /* from payload(); lives until the next call of next or rewind */
    bool failed;           /* payload() refused it: the parent must be refused, with `why` (NUL-ended) as the reason */
    const char *why, *why_where;
};
struct mrs_matches {
    uint64_t n; /* total number of matches */
    /* With by_reference and no sort: ascending (ref, order); of equal references (same key twice in the document) only
     * the first has matches. With by_reference and `sort`: (sort key, order), and a document with several references to
     * it is returned once for each. Without by_reference: (sort key, order). OK, END, DEAD. */
    enum mrs_status (*next)(struct mrs_matches *m, struct mrs_match *out, struct mrs_err *e);
    enum mrs_status (*rewind)(struct mrs_matches *m, struct mrs_err *e); /* back to the first match */
    /* Records what the splice did with the match last returned by next(): MRS_USED_* bits, ORed over calls. No call
     * means MRS_USED_PLACED; used(m, 0) marks a repeat, which counts as nothing. */
    void (*used)(struct mrs_matches *m, unsigned bits);
    void *impl;
    /* by_reference: for key i of the document (keys order) the index of the first equal key, so that a splice can
     * group; n_refs entries */
    const uint32_t *same_ref;
    uint32_t n_refs;
    /* by_reference: a byte for each of these keys, not 0: the matching document of from is refused, so it is no match,
     * but the reference is not dangling. NULL: there are none. */
    const uint8_t *named;
};
enum mrs_used {
    MRS_USED_PLACED = 1, /* it is in the parent, or in a page of the parent */
    MRS_USED_CUT = 2,    /* a limit excluded it */
    /* it could not be placed for another reason (many, blocked, refused parent): it stays in from, whatever keep
     * says */
    MRS_USED_LEFT = 4
};

/* Output of a splice, owned by the engine: documents for side `side`. put() copies doc before it returns. */
struct mrs_put {
    enum mrs_status (*put)(void *arg, int side, struct mrs_view doc, struct mrs_err *e);
    void *arg;
};

struct mrs_join_ops {
    /* Whether a document takes part (`where`). OK with *yes; SKIP: refused. Side 0: from, 1: into. */
    enum mrs_status (*takes_part)(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, bool *yes);
    /* Appends its keys to k. From: its values of each pair, and (in place) its _id as kind 1. Into: the values of its
     * side; by_reference: one entry for each occurrence of a reference, in document order, the order in which a splice
     * reads them. OK; SKIP: refused. */
    enum mrs_status (*keys)(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, struct mrs_keys *k);
    /* Appends the payload of a from document (fields and drop applied) to out, as one document. SKIP: every parent that
     * it matches is refused. */
    enum mrs_status (*payload)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* Appends its sort key (desc.sorted) to out. SKIP: the from document is refused, if a parent matches it. */
    enum mrs_status (*order)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* Appends the into document with its matches to out (nothing with fate DROPPED: dangling drop); pages and the like
     * go to `put`. *fate: STAYS (bytes unchanged), CHANGED, DROPPED. SKIP: refused: the engine discards the documents
     * of `put`, and all its matches are MRS_USED_LEFT. */
    enum mrs_status (*splice)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_matches *m, const struct mrs_put *put, struct mrs_buf *out,
                              enum mrs_fate *fate);
    /* The fate of a from document that took part, after all its matches: used = ORed bits of all of them, 0: no match.
     * *side: the orphans collection if TAKEN by one, else -1. STAYS, TAKEN, DROPPED or REFUSED (orphans: refuse; the
     * engine writes the record, place "orphans"). */
    enum mrs_fate (*fate)(const void *state, unsigned used, int *side);
};

#ifdef __cplusplus
}
#endif
#endif
