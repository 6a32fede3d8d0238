/* SPDX-License-Identifier: Apache-2.0 */
/* hints.h - the user's hints on references. */
#ifndef MRSI_INSPECT_HINTS_H
#define MRSI_INSPECT_HINTS_H

#include "relate.h"

/* FAIL MRS_E_USAGE, with the line. text NULL: none. */
enum mrs_status mrsi_hints_read(struct mrsi_relating *x, const char *text, struct mrs_err *e);
/* The hint for the pair; NULL: none. */
const struct mrsi_hint *mrsi_hint_of(const struct mrsi_relating *x, const struct mrsi_path *from,
                                     const struct mrsi_path *to);

#endif
