/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the results of a run, as text and as JSON. */
#ifndef MRSI_REPORT_H
#define MRSI_REPORT_H

#include "job.h"

#include <stdio.h>

/* The step of a number in the plan as written; NULL: there is no plan, or no such step. */
const struct mrs_step *mrsi_report_step(const struct mrsi_job *job, uint32_t no);
/* dry: a run without output. */
void mrsi_report_text(FILE *f, const struct mrsi_job *job, const struct mrs_report *r, bool dry);
/* One JSON object and a newline. r may be NULL: the run did not start. False: out of memory. */
bool mrsi_report_json(FILE *f, const struct mrsi_job *job, const struct mrs_report *r,
                      int exit_status, bool dry);
/* The same as the page for --html. */
enum mrs_status mrsi_report_page(const struct mrsi_job *job, const struct mrs_report *r, int exit_status, bool dry,
                                 struct mrs_err *e);

#endif
