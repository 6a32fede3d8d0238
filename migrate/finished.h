/* SPDX-License-Identifier: Apache-2.0 */
/* finished.h - what manifests say of earlier runs. */
#ifndef MRSI_FINISHED_H
#define MRSI_FINISHED_H

#include "job.h"

/* Does OUT exist with the output of this run? Then reports it; *status: the exit status of the completed run. */
bool mrsi_finished(const struct mrsi_job *job, int *status);
/* FAIL MRS_E_PLAN in job->err: IN is the output of this plan, which is not repeatable. */
enum mrs_status mrsi_not_own_result(struct mrsi_job *job);

#endif
