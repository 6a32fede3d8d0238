/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_fields.h - the fields that names with stars match, for a dry run. */
#ifndef MRSI_RUN_PATTERN_FIELDS_H
#define MRSI_RUN_PATTERN_FIELDS_H

#include "run/store/store.h"

/* Lets the workers collect them, if the run is a dry one and its plan has such names. OK, DEAD. */
enum mrs_status mrsi_pattern_fields_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_pattern_fields_at(struct mrsi_worker *w, uint32_t step); /* before a kernel reads a document */
void mrsi_pattern_fields_free(struct mrsi_worker *w);
enum mrs_status mrsi_pattern_fields_report(struct mrsi_engine *en, struct mrs_err *e);

#endif
