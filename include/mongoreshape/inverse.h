/* SPDX-License-Identifier: Apache-2.0 */
/* inverse.h - what undoes a step, and what that cannot bring back. */
#ifndef MONGORESHAPE_INVERSE_H
#define MONGORESHAPE_INVERSE_H

#include "mongoreshape/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In what the documents that come back may differ from those that were there: bits. */
enum mrs_loss_kind {
    MRS_LOSS_ORDER = 1,       /* order of documents */
    MRS_LOSS_PLACES = 2,      /* order of fields */
    MRS_LOSS_TYPES = 4,       /* types of values that are equal (1 and 1.0) */
    MRS_LOSS_VALUES = 8,      /* values that are gone, other values, fields that are new; order of arrays */
    MRS_LOSS_DOCUMENTS = 16,  /* documents that do not come back: dropped, orphans, another `_id` */
    MRS_LOSS_SURPLUS = 32,    /* documents that were not there */
    MRS_LOSS_REFUSED = 64,    /* documents that the plan or its inverse refuses */
    MRS_LOSS_METADATA = 128,  /* indexes, options, uuid */
    MRS_LOSS_COLLECTIONS = 256 /* collections that were not there, or no longer are */
};
#define MRS_LOSS_KINDS 9
struct mrs_loss {
    unsigned kinds;
    const char *text;
};

/* What undoes one step: filled by its hook `invert`. Entries and texts live in the arena. */
struct mrs_inverse {
    struct mrs_mem *mem;
    struct mrs_arena *arena;
    struct mrs_view body;   /* the step as the plan has it: {from: ..., into: ..., match: {...}} */
    bool alone;             /* no later step of the plan names the step's first collection */
    struct mrs_view *entry; /* entries of a plan, {step: {keys}}, in the order in which they run */
    uint32_t n_entries, cap_entries;
    struct mrs_loss *loss;
    uint32_t n_losses, cap_losses;
};

#ifdef __cplusplus
}
#endif
#endif
