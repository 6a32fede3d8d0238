/* SPDX-License-Identifier: Apache-2.0 */
/* lost_fields.h - fields that leave with their documents although the plan does not name them. */
#ifndef MRS_RUN_LOST_H
#define MRS_RUN_LOST_H

#include "notices.h"

/* For a document that a step moves: counts it in its row if the step loses a field of it. */
void mrsi_lost_check(struct mrsi_worker *w, uint32_t step, uint32_t side, struct mrs_view doc);
/* The note on a row of the report; false: nothing was lost. */
bool mrsi_lost_line(struct mrsi_engine *en, uint32_t step, uint32_t side, char *line, size_t size);
void mrsi_lost_free(struct mrsi_engine *en);

#endif
