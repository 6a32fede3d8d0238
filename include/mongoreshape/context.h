/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - the context that an engine passes to every kernel, and the fates of source documents. */
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
    uint64_t known[8]; /* for kernels: levels without duplicate names, zeroed at first */
    uint32_t next_known;
    struct mrs_listed {    /* for kernels as well, zeroed at first: */
        const void *list;  /* a list of names, NULL: none */
        uint64_t names;    /* of documents, as struct mrs_eval_fields has them: without duplicate names on any level */
        uint32_t fields;   /* bit i: field i of these documents is listed */
    } listed[4];
    uint32_t next_listed;
    /* The fields of the document whose bytes begin at fields_of, which the engine has walked anyway; valid while that
     * document is the source. NULL: none. */
    const struct mrs_eval_fields *fields;
    const uint8_t *fields_of;
    struct mrs_lists *lists; /* values of other collections, for conditions of `where`; NULL: the plan has none */
    /* of MAP, SPREAD, FOLD, WINDOW, of `from` in JOIN: remarks on the current document, see mrs_step_type.remark; of
     * the keys and of `into` in JOIN: MRS_REMARK_ */
    uint64_t remarks;
    /* of these, and of `into` in JOIN and FOLD: bit i < MRS_EASED: mrs_desc.fallible[i] failed and `errors` accepted
     * that; the last bit but one also for all further fields; the last: a path was blocked */
    uint64_t eased;
    /* of MAP: bit i < MRS_PATTERNS is set if mrs_desc.patterns[i] matches a field of the document; the engine clears it
     * as well */
    uint64_t matched;
    struct mrs_reached *reached; /* of MAP: gets each field that such a pattern matches; NULL: not wanted */
};
struct mrs_reached {
    /* path: a.b, without the elements of arrays; of n bytes */
    void (*field)(struct mrs_reached *to, uint32_t pattern, const char *path, size_t n);
};
#define MRS_REMARKS 48
#define MRS_REMARK_EMPTY_KEY 1ull /* of the keys of JOIN: an expression of `match` gave an empty text */
/* of `into` in JOIN: a value was replaced by that of no match, and an earlier run may have taken the matches away */
#define MRS_REMARK_REPLACED 2ull
#define MRS_EASED 8
#define MRS_PATTERNS 64 /* patterns of a step with a bit in `matched` */

/* The fate of a source document; the account of a run counts these. */
enum mrs_fate {
    MRS_FATE_STAYS,   /* in its collection, byte for byte */
    MRS_FATE_CHANGED, /* in its collection, other bytes */
    MRS_FATE_TAKEN,   /* moved, embedded or merged into other documents */
    MRS_FATE_DROPPED, /* removed by the plan */
    MRS_FATE_REFUSED  /* only engines set it: a kernel returned MRS_SKIP */
};

#ifdef __cplusplus
}
#endif
#endif
