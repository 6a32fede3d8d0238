/* SPDX-License-Identifier: Apache-2.0 */
/* finished.h - whether the run that `--resume` is to resume is done. */
#ifndef MRSI_FINISHED_H
#define MRSI_FINISHED_H

#include "job.h"

/* Whether OUT exists and is what this run would make: it is reported then; *status: the exit status of the run that
 * made it. */
bool mrsi_finished(const struct mrsi_job *job, int *status);

#endif
