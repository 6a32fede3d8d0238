/* SPDX-License-Identifier: Apache-2.0 */
/* id_policy.h - rules for new ids that all steps share (PLAN-DETAILS.md section 1). */
#ifndef MRSI_IDS_H
#define MRSI_IDS_H

#include "mongoreshape/value.h"

#include <stdio.h>

/* The time bytes of an id derived from a parent's key: those of an ObjectId, else 0. */
static inline uint32_t
mrsi_id_time(struct mrs_val key)
{
    if (key.type != MRS_OBJECTID) {
        return 0;
    }
    return (uint32_t)key.p[0] << 24 | (uint32_t)key.p[1] << 16 | (uint32_t)key.p[2] << 8 | key.p[3];
}

/* The remark on documents with ids that name a place in the array at this path, not what is there; other: what names
 * that. */
static inline void
mrsi_id_of_place(const char *path, const char *other, char *text, size_t size)
{
    snprintf(text, size, ", `%.150s`: new `_id`s are made of places in the array: if the plan runs again, or online, "
             "give %s, since another element may be there then", path, other);
}

#endif
