/* SPDX-License-Identifier: Apache-2.0 */
/* lost_fields.h - fields that leave with their documents, though the plan says nothing of them. */
#ifndef MRS_RUN_LOST_H
#define MRS_RUN_LOST_H

#include "notices.h"

/* A document that a step takes: its row counts it where the step loses some field of it. */
void mrsi_lost_check(struct mrsi_worker *w, uint32_t step, uint32_t side, struct mrs_view doc);
/* The note on a row of the report; false: nothing was lost. */
bool mrsi_lost_line(struct mrsi_engine *en, uint32_t step, uint32_t side, char *line, size_t size);
void mrsi_lost_free(struct mrsi_engine *en);

#endif
