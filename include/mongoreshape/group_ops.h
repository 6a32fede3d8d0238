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
    uint32_t doc_off, doc_len;   /* the document to write, without its parent references */
    /* BSON document {"": value}: what it adds to parent_ref; 0: nothing. For a document of into: one element for each
     * value in its parent_ref */
    uint32_t ref_off, ref_len;
    bool made_id; /* its _id was derived from the key: a document of into with this key replaces it by its own */
};
struct mrs_parts {
    struct mrs_buf bytes;
    struct mrs_part_doc *part;
    uint32_t n, cap;
    bool more;   /* the document has more parts: the next call returns them */
    bool no_ids; /* source() needs no ids */
};
struct mrs_group_ops {
    /* Appends the key of a part's document as text to out: its values by their paths. */
    enum mrs_status (*key)(const void *state, struct mrs_ctx *c, struct mrs_view part, struct mrs_buf *out);
    /* Appends the parts of a document. Side 0: of a source, in document order; side 1: the document of into itself,
     * exactly one part. SKIP: refused. May return only the first of many parts and set `more`: the next call with
     * `more` set continues; with `more` cleared it starts over. */
    enum mrs_status (*parts)(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                             struct mrs_parts *out);
    /* Whether two members agree: bytes of their documents, without `_id` if either one was derived. (Derived and own
     * `_id`s disagree unless into has a document of the key: the engine checks this.) */
    bool (*agree)(const void *state, struct mrs_view a, bool a_made, struct mrs_view b, bool b_made);
    /* Appends the finished document to out: first (the member that counts; theirs: a document of into) with the parent
     * references `refs` (values in input order, those of into's document first, an array document {"0": v, ...}; empty
     * if the step stores none). theirs: first is that document as it is, unchanged if it gains nothing; else the bytes
     * of a part, in which the engine replaced a derived `_id` by that of into's document. SKIP: refused. */
    enum mrs_status (*finish)(const void *state, struct mrs_ctx *c, struct mrs_view first, bool theirs,
                              struct mrs_view refs, struct mrs_buf *out);
    /* Appends the source document without its parts to out; ids: array document of the _ids of its parts, in the order
     * of parts(). *fate STAYS or CHANGED. SKIP: refused. */
    enum mrs_status (*source)(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                              struct mrs_view ids, struct mrs_buf *out, enum mrs_fate *fate);
};

#ifdef __cplusplus
}
#endif
#endif
