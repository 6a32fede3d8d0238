/* SPDX-License-Identifier: Apache-2.0 */
/* id_policy.h - rules for new ids that all steps share (PLAN-DETAILS.md section 1). */
#ifndef MRSI_IDS_H
#define MRSI_IDS_H

#include "mongoreshape/value.h"

/* The time bytes of an id derived from a parent's key: those of an ObjectId, else 0. */
static inline uint32_t
mrsi_id_time(struct mrs_val key)
{
    if (key.type != MRS_OBJECTID) {
        return 0;
    }
    return (uint32_t)key.p[0] << 24 | (uint32_t)key.p[1] << 16 | (uint32_t)key.p[2] << 8 | key.p[3];
}

#endif
