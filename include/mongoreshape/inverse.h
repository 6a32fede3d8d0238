/* SPDX-License-Identifier: Apache-2.0 */
/* inverse.h - the inverse of a step, and its losses. */
#ifndef MONGORESHAPE_INVERSE_H
#define MONGORESHAPE_INVERSE_H

#include "mongoreshape/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How restored documents may differ from the original ones: bits. */
enum mrs_loss_kind {
    MRS_LOSS_ORDER = 1,       /* order of documents */
    MRS_LOSS_PLACES = 2,      /* order of fields */
    MRS_LOSS_TYPES = 4,       /* types of values that are equal (1 and 1.0) */
    MRS_LOSS_VALUES = 8,      /* lost values, other values, new fields; order of arrays */
    MRS_LOSS_DOCUMENTS = 16,  /* documents that are not restored: dropped, orphans, another `_id` */
    MRS_LOSS_SURPLUS = 32,    /* additional documents */
    MRS_LOSS_REFUSED = 64,    /* documents that the plan or its inverse refuses */
    MRS_LOSS_METADATA = 128,  /* indexes, options, uuid */
    MRS_LOSS_COLLECTIONS = 256 /* additional or missing collections */
};
#define MRS_LOSS_KINDS 9
struct mrs_loss {
    unsigned kinds;
    const char *text;
};

/* The inverse of one step: filled by its hook `invert`. Entries and texts live in the arena. */
struct mrs_inverse {
    struct mrs_mem *mem;
    struct mrs_arena *arena;
    struct mrs_view body;   /* the step as written in the plan: {from: ..., into: ..., match: {...}} */
    bool alone;             /* no later step of the plan uses the step's first collection */
    struct mrs_view *entry; /* entries of a plan, {step: {keys}}, in the order of execution */
    uint32_t n_entries, cap_entries;
    struct mrs_loss *loss;
    uint32_t n_losses, cap_losses;
};

#ifdef __cplusplus
}
#endif
#endif
