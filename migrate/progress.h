/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - the progress line of a run of the engine. */
#ifndef MRSI_PROGRESS_H
#define MRSI_PROGRESS_H

#include "job.h"
#include "mongoreshape/cli.h"
#include "mongoreshape/run.h"

/* For struct mrs_run_opts; arg: struct mrs_cli_progress. */
void mrsi_progress_report(void *arg, const struct mrs_progress *now);

/* The same for a run with timed phases; arg: struct mrsi_watch. */
struct mrsi_watch {
    struct mrs_cli_progress line;
    struct mrsi_phases *phases;
};
void mrsi_progress_watch(void *arg, const struct mrs_progress *now);
/* The run has ended: ends the last phase. */
void mrsi_progress_over(struct mrsi_watch *w);

#endif
