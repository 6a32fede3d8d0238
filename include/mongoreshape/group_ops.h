/* SPDX-License-Identifier: Apache-2.0 */
/* group_ops.h - kernels of the family GROUP: parts of documents with equal keys become one document. */
#ifndef MONGORESHAPE_GROUP_OPS_H
#define MONGORESHAPE_GROUP_OPS_H

#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* GROUP: extract with unique. Parts of from documents (and the documents of into) with equal keys become one document
 * of into. */
struct mrs_part_doc {
    uint32_t key_off, key_len;   /* in struct mrs_parts.bytes; key_len 0: never merged */
    uint32_t doc_off, doc_len;   /* the document as it would be written, less its parent references */
    uint32_t ref_off, ref_len;   /* BSON document {"": value}: what it adds to parent_ref; 0: nothing. Of a document of
                                    into one element for each value that it holds there now */
    bool made_id;                /* its _id was made from the key: it takes the _id of a document of this key in into */
};
struct mrs_parts {
    struct mrs_buf bytes;
    struct mrs_part_doc *part;
    uint32_t n, cap;
    bool more;   /* these are not all parts of the document: the next call gives those behind them */
    bool no_ids; /* source() needs no ids */
};
struct mrs_group_ops {
    /* The key of a part's document in words, appended to out: its values by their paths. */
    enum mrs_status (*key)(const void *state, struct mrs_ctx *c, struct mrs_view part, struct mrs_buf *out);
    /* Appends the parts of a document. side 0: of a source, in document order; side 1: the document of into itself,
     * exactly one part. SKIP: refused. Where there are many the first of them: called again with `more` as it was set,
     * it goes on; with `more` cleared it begins. */
    enum mrs_status (*parts)(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                             struct mrs_parts *out);
    /* Whether two members agree: bytes of their documents, `_id` left out where either was made. (Made and own `_id`s
     * disagree where into has no document of the key: the engine's to know.) */
    bool (*agree)(const void *state, struct mrs_view a, bool a_made, struct mrs_view b, bool b_made);
    /* The finished document: first (the member that counts; theirs: it is a document of into) with the parent
     * references `refs` (values in input order, those of into's document first, an array document {"0": v, ...}; empty
     * where the step keeps none) put in. theirs: first is that document as it is, unchanged where it gains nothing;
     * else the bytes of a part, in which the engine has put the `_id` of into's document in place of a made one.
     * Appended to out. SKIP: refused. */
    enum mrs_status (*finish)(const void *state, struct mrs_ctx *c, struct mrs_view first, bool theirs,
                              struct mrs_view refs, struct mrs_buf *out);
    /* The source document afterwards; ids: array document of the _ids of its parts, in the order parts() gave them.
     * Appended to out; *fate STAYS or CHANGED. SKIP: refused. */
    enum mrs_status (*source)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_view ids, struct mrs_buf *out, enum mrs_fate *fate);
};

#ifdef __cplusplus
}
#endif
#endif
