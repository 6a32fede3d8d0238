/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what a run did, for people and as JSON. */
#ifndef MRSI_REPORT_H
#define MRSI_REPORT_H

#include "job.h"

#include <stdio.h>

/* dry: nothing was to be written. */
void mrsi_report_text(FILE *f, const struct mrsi_job *job, const struct mrs_report *r, bool dry);
/* One JSON object and a newline. r may be NULL: it never came to a run. False: no memory. */
bool mrsi_report_json(FILE *f, const struct mrsi_job *job, const struct mrs_report *r,
                      int exit_status, bool dry);
/* The same as the page that --html asks for. */
enum mrs_status mrsi_report_page(const struct mrsi_job *job, const struct mrs_report *r, int exit_status, bool dry,
                                 struct mrs_err *e);

#endif
