/* SPDX-License-Identifier: Apache-2.0 */
/* finished.h - checks whether the run that `--resume` should resume is complete. */
#ifndef MRSI_FINISHED_H
#define MRSI_FINISHED_H

#include "job.h"

/* Does OUT exist with the output of this run? Then reports it; *status: the exit status of the completed run. */
bool mrsi_finished(const struct mrsi_job *job, int *status);

#endif
