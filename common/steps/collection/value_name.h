/* SPDX-License-Identifier: Apache-2.0 */
/* value_name.h - the text by which a value names a collection. */
#ifndef MRSI_VALUE_NAME_H
#define MRSI_VALUE_NAME_H

#include "mongoreshape/value.h"

/* *name: a text, in the arena; missing where values of this kind name none. False without memory. Equal values have one
 * name. */
bool mrsi_value_name(struct mrs_arena *a, struct mrs_val v, struct mrs_val *name);

#endif
