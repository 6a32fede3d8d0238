/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - expected passes over collections, within common/plan. */
#ifndef MRSI_PASSES_H
#define MRSI_PASSES_H

#include "mongoreshape/plan.h"

struct mrsi_plan_pass {
    const char *ns;
    uint32_t times;
    uint32_t with;   /* times 0: the step that shares its pass */
    const char *why; /* "" if there is no note */
};
typedef void (*mrsi_pass_fn)(void *arg, const struct mrsi_plan_pass *pass);

/* Calls fn for each collection that a step reads. */
void mrsi_passes(const struct mrs_plan *p, const struct mrs_step *step, mrsi_pass_fn fn, void *arg);
const char *mrsi_memory_words(const struct mrs_desc *d);
const char *mrsi_family_name(enum mrs_family family);

#endif
