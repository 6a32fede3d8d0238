/* SPDX-License-Identifier: Apache-2.0 */
/* lists.h - lists of values that queries refer to by number. */
#ifndef MONGORESHAPE_LISTS_H
#define MONGORESHAPE_LISTS_H

#include "mongoreshape/doc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For one thread. has: whether a value is in a list; a missing value counts as null. */
struct mrs_lists {
    enum mrs_status (*has)(struct mrs_lists *l, uint32_t list, struct mrs_val v, bool *yes, struct mrs_err *e);
};

#ifdef __cplusplus
}
#endif
#endif
