/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - keys of several values, for join steps. */
#ifndef MRSI_KEYS_H
#define MRSI_KEYS_H

#include "mongoreshape/step.h"
#include "mongoreshape/join_ops.h"

/* Like mrs_keys_add, one key of n consecutive values. */
enum mrs_status mrsi_keys_add_tuple(struct mrs_keys *k, uint16_t pair, uint8_t kind, const struct mrs_val *v,
                                    uint32_t n,
                                    struct mrs_err *e);

#endif
