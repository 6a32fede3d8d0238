/* SPDX-License-Identifier: Apache-2.0 */
/* finished.h - what manifests say of earlier runs. */
#ifndef MRSI_FINISHED_H
#define MRSI_FINISHED_H

#include "job.h"

/* Does OUT exist with the output of this run? Then reports it; *status: the exit status of the completed run. */
bool mrsi_finished(const struct mrsi_job *job, int *status);
/* A warning if IN is the output of this plan, which is not repeatable. */
void mrsi_warn_own_result(const struct mrsi_job *job);

#endif
