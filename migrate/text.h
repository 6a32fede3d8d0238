/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - commands whose result is a text: a plan in words, or the plan that undoes it. */
#ifndef MRSI_TEXT_H
#define MRSI_TEXT_H

#include "job.h"

/* Opens the job, lets `make` append its text to out and prints that on standard output; errors are printed, with --json
 * as a report. Returns the command's exit status. */
int mrsi_text_command(struct mrs_cli *line, enum mrs_status (*make)(struct mrsi_job *job, struct mrs_buf *out));

#endif
