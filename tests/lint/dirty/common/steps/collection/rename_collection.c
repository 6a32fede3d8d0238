/* SPDX-License-Identifier: Apache-2.0 */
/* rename_collection.c - steps know no clock. */
#include <time.h>
