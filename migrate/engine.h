/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - one run of the engine from the command line, with progress, report and exit status. */
#ifndef MRSI_ENGINE_H
#define MRSI_ENGINE_H

#include "job.h"

/* dry: writes nothing, and accepts any number of refusals. notices: adds notices for the author of the plan. Returns
 * the exit status. */
int mrsi_engine_run(struct mrsi_job *job, bool dry, bool notices, uint64_t max_refused);
/* Writes the page for --html, if given; r may be NULL. Returns status, or that of a failure. */
int mrsi_engine_page(const struct mrsi_job *job, const struct mrs_report *r, int status, bool dry);

#endif
