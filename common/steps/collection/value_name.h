/* SPDX-License-Identifier: Apache-2.0 */
/* value_name.h - the collection name for a value. */
#ifndef MRSI_VALUE_NAME_H
#define MRSI_VALUE_NAME_H

#include "mongoreshape/value.h"

/* *name: a text in the arena; missing if values of this type have no name. False: out of memory. Equal values have the
 * same name. */
bool mrsi_value_name(struct mrs_arena *a, struct mrs_val v, struct mrs_val *name);

#endif
