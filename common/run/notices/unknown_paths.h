/* SPDX-License-Identifier: Apache-2.0 */
/* unknown_paths.h - paths of the plan that no document has. */
#ifndef MRS_RUN_PATHS_H
#define MRS_RUN_PATHS_H

#include "notices.h"

/* Fills en->searched. */
enum mrs_status mrsi_paths_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_paths_free(struct mrsi_engine *en);
/* Checks a document that a step reads, if a path of its row was not found yet: see mrsi_paths_meet. */
void mrsi_paths_check(struct mrsi_worker *w, uint32_t row, struct mrs_view doc);
static inline void
mrsi_paths_meet(struct mrsi_worker *w, uint32_t row, struct mrs_view doc)
{
    if (w->en->searched[row] & ~w->rows[row].seen) {
        mrsi_paths_check(w, row, doc);
    }
}
/* Checks final documents, for the paths of the step `index`; one thread at a time. */
void mrsi_paths_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n);
/* Reports the paths that no document has. */
enum mrs_status mrsi_paths_report(struct mrsi_engine *en, struct mrs_err *e);

/* The other slips found, one of MRSI_PATH_NOTES of a step; false: none. */
enum { MRSI_PATH_NOTES = 64 };
bool mrsi_paths_note(struct mrsi_engine *en, uint32_t step, uint32_t i, char *line, size_t size);

#endif
