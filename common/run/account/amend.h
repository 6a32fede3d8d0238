/* SPDX-License-Identifier: Apache-2.0 */
/* amend.h - corrected documents (--amend) that replace documents of the input. */
#ifndef MRS_RUN_AMEND_H
#define MRS_RUN_AMEND_H

#include "account.h"

struct mrsi_amend;
/* Reads records {ns, doc} and searches each document's `_id` in its namespace: it must exist exactly once, and have one
 * record, of a step before which none changes the namespace. Else FAIL MRS_E_PLAN; nothing has been written yet. */
enum mrs_status mrsi_amend_load(struct mrsi_engine *en, const char *path, struct mrsi_amend **out, struct mrs_err *e);
void mrsi_amend_free(struct mrsi_amend *a);
/* Replaces *doc of this input namespace by its corrected version, if any. Thread-safe. */
enum mrs_status mrsi_amend_doc(const struct mrsi_amend *a, uint32_t in_index, struct mrsi_worker *w,
                               struct mrs_view *doc, struct mrs_err *e);
/* Has the namespace corrected documents? */
bool mrsi_amend_touches(const struct mrsi_amend *a, uint32_t in_index);
/* How many documents of the namespace are corrected, and in which fields they differ from the input; false: none. */
bool mrsi_amend_line(const struct mrsi_amend *a, uint32_t in_index, char *line, size_t size);

#endif
