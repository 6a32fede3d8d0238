/* SPDX-License-Identifier: Apache-2.0 */
/* unknown_paths.h - which paths of the plan no document has. */
#ifndef MRS_RUN_PATHS_H
#define MRS_RUN_PATHS_H

#include "notices.h"

/* Fills en->wants. */
enum mrs_status mrsi_paths_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_paths_free(struct mrsi_engine *en);
/* A document that a step reads, if a path of its row was not seen yet: see mrsi_paths_meet. */
void mrsi_paths_check(struct mrsi_worker *w, uint32_t row, struct mrs_view doc);
static inline void
mrsi_paths_meet(struct mrsi_worker *w, uint32_t row, struct mrs_view doc)
{
    if (w->en->wants[row] & ~w->rows[row].seen) {
        mrsi_paths_check(w, row, doc);
    }
}
/* Documents at their last place, for the paths of the step `index`; one thread at a time. */
void mrsi_paths_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n);
/* What no document has, into the report. */
enum mrs_status mrsi_paths_report(struct mrsi_engine *en, struct mrs_err *e);

/* What else was found on the way, one of MRSI_PATH_NOTES of a step; false: nothing. */
enum { MRSI_PATH_NOTES = 64 };
bool mrsi_paths_note(struct mrsi_engine *en, uint32_t step, uint32_t i, char *line, size_t size);

#endif
