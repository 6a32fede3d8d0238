/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c - sees its own header, a shown one of a lower folder, one that is not shown, and one of a sibling. */
#include "embed.h"
#include "steps/copy/copy.h"
#include "steps/embed/embed.h"
#include "steps/kit/kernel.h"
#include "steps/kit/keys.h"
