/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - shows a sample: the first documents of each collection before and after. */
#ifndef MIGRATE_SAMPLE_H
#define MIGRATE_SAMPLE_H

#include "job.h"

/* Prints to standard error, or nothing if the output cannot be read again (`-`). */
void mrsi_sample_show(struct mrsi_job *job);

#endif
