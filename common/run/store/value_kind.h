/* SPDX-License-Identifier: Apache-2.0 */
/* value_kind.h - kinds of values for notes on what does not match: values of different kinds are never equal, apart
 * from numbers and from texts and symbols. */
#ifndef MRSI_RUN_VALUE_KIND_H
#define MRSI_RUN_VALUE_KIND_H

#include "mongoreshape/value.h"
#include <string.h>

/* A kind is a type; binary of subtype 3, as old drivers wrote UUIDs, is one of its own: it equals no UUID of today. */
enum { MRSI_OLD_UUID = 0x1d };
static inline uint8_t
mrsi_value_kind(struct mrs_val v)
{
    return v.type == MRS_BINARY && v.p[4] == 3 ? MRSI_OLD_UUID : v.type;
}
static inline const char *
mrsi_kind_name(uint8_t kind)
{
    return kind == MRSI_OLD_UUID ? "UUID of subtype 3" : mrs_type_name(kind);
}
/* A bit of 64 for a kind. */
static inline uint64_t
mrsi_kind_bit(uint8_t kind)
{
    return 1ull << (kind < 62 ? kind : kind == MRS_MAXKEY ? 62 : 63);
}
/* Leaves out the blanks on both ends of a text. */
static inline void
mrsi_trim_blanks(const char **p, uint32_t *n)
{
    while (*n && strchr(" \t\r\n", **p)) {
        ++*p;
        --*n;
    }
    while (*n && strchr(" \t\r\n", (*p)[*n - 1])) {
        --*n;
    }
}

#endif
