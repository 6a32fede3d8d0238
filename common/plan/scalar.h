/* SPDX-License-Identifier: Apache-2.0 */
/* scalar.h - plain YAML scalars to values; internal to common/plan. */
#ifndef MRSI_SCALAR_H
#define MRSI_SCALAR_H

#include "mongoreshape/doc.h"

enum mrsi_scalar {
    MRSI_SCALAR_VALUE,     /* the value is room->val */
    MRSI_SCALAR_TEXT,      /* a string */
    MRSI_SCALAR_TOO_LARGE, /* a number too large for all types */
    MRSI_SCALAR_BAD_TAG,   /* the tag is unknown, or not valid for this text */
    MRSI_SCALAR_NO_MEMORY
};
struct mrsi_scalar_room {
    struct mrs_val val; /* its bytes are in `bytes` */
    uint8_t bytes[16];
};
/* text: n bytes and a NUL. */
enum mrsi_scalar mrsi_scalar_plain(const char *text, size_t n, struct mrsi_scalar_room *room);
/* tag: in full, "tag:yaml.org,2002:int". */
enum mrsi_scalar mrsi_scalar_tagged(const char *tag, const char *text, size_t n,
                                    struct mrsi_scalar_room *room);

#endif
