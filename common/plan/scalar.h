/* SPDX-License-Identifier: Apache-2.0 */
/* scalar.h - words of YAML to values, within common/plan. */
#ifndef MRSI_SCALAR_H
#define MRSI_SCALAR_H

#include "mongoreshape/doc.h"

enum mrsi_scalar {
    MRSI_SCALAR_VALUE,     /* room->val is it */
    MRSI_SCALAR_TEXT,      /* it is a string */
    MRSI_SCALAR_TOO_LARGE, /* a number that no type holds */
    MRSI_SCALAR_BAD_TAG,   /* the tag is not known, or not one of this text */
    MRSI_SCALAR_NO_MEMORY
};
struct mrsi_scalar_room {
    struct mrs_val val; /* its bytes lie in `bytes` */
    uint8_t bytes[16];
};
/* text: n bytes and a NUL behind them. */
enum mrsi_scalar mrsi_scalar_plain(const char *text, size_t n, struct mrsi_scalar_room *room);
/* tag: in full, "tag:yaml.org,2002:int". */
enum mrsi_scalar mrsi_scalar_tagged(const char *tag, const char *text, size_t n,
                                    struct mrsi_scalar_room *room);

#endif
