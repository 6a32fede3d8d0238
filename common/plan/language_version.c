/* SPDX-License-Identifier: Apache-2.0 */
/* language_version.c - which steps and keys are allowed in a plan with `version: 1` */
#include "plan_internal.h"

bool
mrsi_step_known(const struct mrs_step_type *t, uint32_t version)
{
    MRS_ASSERT(version > 0);
    return t->since <= version;
}

bool
mrsi_key_known(const struct mrs_step_type *t, const char *key, uint32_t version)
{
    MRS_ASSERT(version > 0 && key);
    size_t n = strlen(key);
    for (const char *at = t->since_2; version < 2 && at && *at; at += strcspn(at, "|"), at += *at == '|') {
        if (strcspn(at, "|") == n && memcmp(at, key, n) == 0) {
            return false;
        }
    }
    return true;
}
