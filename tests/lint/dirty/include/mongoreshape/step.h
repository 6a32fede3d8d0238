/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - a public header that sees a room above its own. */
#ifndef DIRTY_STEP_H
#define DIRTY_STEP_H
#include "mongoreshape/run.h"
#endif
