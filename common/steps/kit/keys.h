/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - keys made of several values, for the steps that join. */
#ifndef MRSI_KEYS_H
#define MRSI_KEYS_H

#include "mongoreshape/step.h"
#include "mongoreshape/join_ops.h"

/* As mrs_keys_add, one key of n values in a row. */
enum mrs_status mrsi_keys_add_tuple(struct mrs_keys *k, uint16_t pair, uint8_t kind, const struct mrs_val *v,
                                    uint32_t n,
                                    struct mrs_err *e);

#endif
