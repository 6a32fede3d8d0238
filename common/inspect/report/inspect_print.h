/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_print.h - shared by the files that print an inspection. */
#ifndef MRSI_INSPECT_REPORT_H
#define MRSI_INSPECT_REPORT_H

#include "inspect/figures/model.h"
#include "inspect/advise/advise.h"
#include "mongoreshape/build.h"

#endif
