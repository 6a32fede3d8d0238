/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - one run of the engine from the command line's words, with progress, report and exit
 * status. */
#ifndef MRSI_ENGINE_H
#define MRSI_ENGINE_H

#include "job.h"

/* dry: nothing is written, and any number of documents may be refused. look: adds notices for the author of the plan.
 * Returns the exit status. */
int mrsi_engine_run(struct mrsi_job *job, bool dry, bool look, uint64_t max_refused);
/* Writes the page that --html asks for, if it does; r may be NULL. Returns status, or that of what went wrong. */
int mrsi_engine_page(const struct mrsi_job *job, const struct mrs_report *r, int status, bool dry);

#endif
