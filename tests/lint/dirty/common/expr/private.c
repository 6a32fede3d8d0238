/* SPDX-License-Identifier: Apache-2.0 */
/* private.c - the private header of another room, and a room above. */
#include "../doc/private.h"
#include "mongoreshape/run.h"
