/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - the line that says how far a run of the engine is. */
#ifndef MRSI_PROGRESS_H
#define MRSI_PROGRESS_H

#include "mongoreshape/cli.h"
#include "mongoreshape/run.h"

/* For struct mrs_run_opts; arg: struct mrs_cli_progress. */
void mrsi_progress_tell(void *arg, const struct mrs_progress *now);

#endif
