/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c - sees its own header, a shared one, and that of a sibling. */
#include "embed.h"
#include "rename.h"
#include "shape.h"
