/* SPDX-License-Identifier: Apache-2.0 */
/* join_ops.h - kernels of the family JOIN: documents of `from` go into documents of `into`. */
#ifndef MONGORESHAPE_JOIN_OPS_H
#define MONGORESHAPE_JOIN_OPS_H

#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Encoded keys (mrs_key_append) of one document, pair by pair. Two documents match when each pair has an equal key on
 * both sides; keys meet keys of their kind only, and one of kind 1 stands for pair 0. Where a step joins by reference,
 * pair 0 is the reference and the other pairs only narrow. */
struct mrs_keys {
    struct mrs_buf bytes;
    struct mrs_keyspan {
        uint32_t off, len;
        uint16_t pair; /* of match */
        uint8_t kind;  /* 0: value of the pair; 1: an `_id` (in-place embed, where a document counts as the reference
                          to its own _id) */
        uint8_t null;  /* it is null, missing or undefined (only with nulls: match) */
    } *span;
    uint32_t n, cap;
    struct mrs_mem *mem;
};
void mrs_keys_init(struct mrs_keys *k, struct mrs_mem *mem);
void mrs_keys_clear(struct mrs_keys *k);
void mrs_keys_reset(struct mrs_keys *k);
/* Appends one key made of v. OK; SKIP MRS_E_LIMIT (over MRS_KEY_MAX); DEAD. */
enum mrs_status mrs_keys_add(struct mrs_keys *k, uint16_t pair, uint8_t kind, struct mrs_val v, struct mrs_err *e);

/* JOIN. One document of `into` with the documents of `from` that match it. */
struct mrs_match {
    uint64_t order;        /* position in from's input order: unique, ascending where nothing else sorts */
    uint32_t ref; /* by_reference: index of the key of the into document (in keys order) that it matches: the first of
                     equal ones */
    struct mrs_view shape; /* what shape() made; lives until the next call of next or rewind */
    bool failed;           /* shape() refused it: the parent must be refused, with `why` (NUL-ended) as the reason */
    const char *why, *why_where;
};
struct mrs_matches {
    uint64_t n; /* how many next() gives in all */
    /* With by_reference and no sort: ascending (ref, order), equal references (same key twice in the document) are
     * given once, at the first; with `sort`: (sort key, order) and a document that several references name is given
     * once a reference. Without by_reference: (sort key, order). OK, END, DEAD. */
    enum mrs_status (*next)(struct mrs_matches *m, struct mrs_match *out, struct mrs_err *e);
    enum mrs_status (*rewind)(struct mrs_matches *m, struct mrs_err *e); /* from the start again */
    /* What became of the match just given: bits below. Told once for each; later calls add bits. Nothing told:
     * MRS_USED_PLACED. 0 bits: told, and nothing of its own (a document given once more). */
    void (*used)(struct mrs_matches *m, unsigned bits);
    void *impl;
    /* by_reference: for key i of the document (keys order) the index of the first equal key, so that a splice can
     * group; n_refs entries */
    const uint32_t *same_ref;
    uint32_t n_refs;
    /* by_reference: a byte for each of these keys, not 0 where a document of from matches that is refused itself and
     * so is no match: the reference is not dangling. NULL: there is none. */
    const uint8_t *named;
};
enum mrs_used {
    MRS_USED_PLACED = 1, /* it is in the parent, or in a page of the parent */
    MRS_USED_CUT = 2,    /* a limit left it out */
    MRS_USED_LEFT = 4 /* it could not be placed for another reason (many, blocked, refused parent): it stays in from
                         whatever keep says */
};

/* Where a splice writes: the engine's. Documents for side `side`; the view is read before put returns. */
struct mrs_put {
    enum mrs_status (*put)(void *arg, int side, struct mrs_view doc, struct mrs_err *e);
    void *arg;
};

struct mrs_join_ops {
    /* Whether a document takes part (`where`). OK with *yes; SKIP: refused. side 0 from, 1 into. */
    enum mrs_status (*takes_part)(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, bool *yes);
    /* Its keys, appended to k. From: its values of each pair, and (in place) its _id as kind 1. Into: the same of its
     * side; by_reference: one entry for each occurrence of a reference in document order, so that a splice meets them
     * in that order. OK; SKIP: refused. */
    enum mrs_status (*keys)(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, struct mrs_keys *k);
    /* What a from document brings (fields and drop applied), appended to out as one document. SKIP: every parent that
     * it matches is refused. */
    enum mrs_status (*shape)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* Its sort key (desc.sorted), appended to out. SKIP: the from document is refused, if some parent matches it. */
    enum mrs_status (*order)(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out);
    /* The into document with its matches put in, appended to out (nothing appended with fate DROPPED: dangling drop);
     * pages and the like go to `put`. *fate: STAYS (bytes unchanged), CHANGED, DROPPED. SKIP: refused: the engine
     * takes back what was put, and all its matches are MRS_USED_LEFT. */
    enum mrs_status (*splice)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_matches *m, const struct mrs_put *put, struct mrs_buf *out,
                              enum mrs_fate *fate);
    /* What becomes of a from document that took part, after all its matches: used = bits of all of them together, 0:
     * it has no match. *side: where it goes when TAKEN by an orphans collection, else -1. STAYS, TAKEN, DROPPED or
     * REFUSED (orphans: refuse; the engine writes the record, place "orphans"). */
    enum mrs_fate (*fate)(const void *state, unsigned used, int *side);
};

#ifdef __cplusplus
}
#endif
#endif
