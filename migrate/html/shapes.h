/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.h - the fields of a run's collections before and after it. */
#ifndef MRSI_SHAPES_H
#define MRSI_SHAPES_H

#include "mongoreshape/cli.h"
#include "mongoreshape/run.h"

/* Member "shapes": for each collection in the account the fields and types of its first documents, in the input and in
 * the output (NULL: none). Unreadable data are left out: the page is about a finished run. */
void mrsi_shapes(struct mrs_cli_json *j, struct mrs_input *before, struct mrs_input *after,
                 const struct mrs_report *report);

#endif
