/* SPDX-License-Identifier: Apache-2.0 */
/* finished.h - whether the run that `--resume` is to go on with is done. */
#ifndef MRSI_FINISHED_H
#define MRSI_FINISHED_H

#include "job.h"

/* Whether OUT is there and what this run would make: told then; *status: the exit status of the run that made it. */
bool mrsi_finished(const struct mrsi_job *job, int *status);

#endif
