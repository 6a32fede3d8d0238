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
enum { MRSI_FOLDED = 256 };
/* Puts a text in small letters (ASCII), without blanks on both ends; returns its length. 0: no text, or a long one. */
static inline uint32_t
mrsi_fold_text(struct mrs_val v, char room[MRSI_FOLDED])
{
    uint32_t n = 0;
    const char *p = v.type == MRS_STRING ? mrs_val_text(v, &n) : "";
    mrsi_trim_blanks(&p, &n);
    for (uint32_t i = 0; i < n && n <= MRSI_FOLDED; i++) {
        room[i] = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] | 0x20) : p[i];
    }
    return n <= MRSI_FOLDED ? n : 0;
}

#endif
