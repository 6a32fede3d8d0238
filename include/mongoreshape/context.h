/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - what an engine hands to every kernel, and what becomes of a source document. */
#ifndef MONGORESHAPE_CONTEXT_H
#define MONGORESHAPE_CONTEXT_H

#include "mongoreshape/step.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_lists; /* lists.h */
struct mrs_ctx { /* one per thread, made by the engine */
    struct mrs_mem *mem;
    struct mrs_arena *arena; /* reset by the engine before each source document */
    struct mrs_err *err;
    uint64_t known[8]; /* of kernels: levels that hold no name twice, zeroed at first */
    uint32_t next_known;
    struct mrs_listed {    /* of kernels as well, zeroed at first: */
        const void *list;  /* a list of names, NULL: none */
        uint64_t names;    /* of documents, as struct mrs_eval_fields has them: no level of theirs holds a name twice */
        uint32_t fields;   /* bit i: field i of these documents is listed */
    } listed[4];
    uint32_t next_listed;
    /* The fields of the document whose bytes begin at fields_of, which the engine has walked anyway: while that
     * document is the source. NULL: of none. */
    const struct mrs_eval_fields *fields;
    const uint8_t *fields_of;
    struct mrs_lists *lists; /* values of other collections, for conditions of `where`; NULL: no plan with some */
    uint64_t remarks; /* of MAP, SPREAD, FOLD, WINDOW, of `from` in JOIN: what the owner of the document in hand should
                         know of it, see mrs_step_type.remark */
    uint64_t eased;   /* of these, and of `into` in JOIN and FOLD: bit i < MRS_EASED where mrs_desc.fallible[i] failed
                         and `errors` took that, the last but one for all behind it too; the last: a path was blocked */
    uint64_t matched; /* of MAP: bit i < MRS_PATTERNS is set where mrs_desc.patterns[i] fits a field of the document;
                         the engine clears it as well */
};
#define MRS_REMARKS 24
#define MRS_EASED 8
#define MRS_PATTERNS 64 /* of a step: so many are told of */

/* What becomes of a source document; the account of a run is made of these. */
enum mrs_fate {
    MRS_FATE_STAYS,   /* in its collection, byte for byte */
    MRS_FATE_CHANGED, /* in its collection, other bytes */
    MRS_FATE_TAKEN,   /* it left: moved, embedded, merged */
    MRS_FATE_DROPPED, /* it left and is nowhere: by the plan's word */
    MRS_FATE_REFUSED  /* only engines say so: a kernel returned MRS_SKIP */
};

#ifdef __cplusplus
}
#endif
#endif
