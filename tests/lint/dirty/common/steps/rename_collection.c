/* SPDX-License-Identifier: Apache-2.0 */
/* rename_collection.c - is another step than rename; and steps know no clock. */
#include "rename_collection.h"
#include "rename.h"
#include <time.h>
