/* SPDX-License-Identifier: Apache-2.0 */
/* plan_words.h - values of a step's keys, to be checked against documents. */
#ifndef MRS_RUN_PLAN_WORDS_H
#define MRS_RUN_PLAN_WORDS_H

#include "mongoreshape/step.h"

/* The bit of a kind (mrsi_value_kind); MinKey and MaxKey have none. */
static inline uint32_t
mrsi_type_bit(uint8_t kind)
{
    return kind < 30 ? 1u << kind : 0;
}
struct mrsi_plan_words {
    /* A text in an expression that may be meant as the field of that name, at path. */
    void (*text)(void *arg, const char *text, const char *path);
    /* A read through a variable: `$$this.b` over `input: $a` is a.b. */
    void (*path)(void *arg, const char *path);
    /* `where`, or an expression, compares the path with a value of one of these types (mrsi_type_bit). */
    void (*compared)(void *arg, const char *path, uint32_t types, bool where);
    /* What `where` selects, or else `sort`, depends on the types of the values at the path. */
    void (*typed)(void *arg, const char *path, bool where);
    /* `where` selects by this text at the path, which `typed` named before. */
    void (*selects)(void *arg, const char *path, struct mrs_val text);
    void *arg;
};
/* Calls these for the documents of side 0 of a step. */
void mrsi_plan_words(const struct mrs_step *st, const struct mrsi_plan_words *to);

#endif
