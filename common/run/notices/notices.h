/* SPDX-License-Identifier: Apache-2.0 */
/* notices.h - values of the result that a server would refuse, and paths that no document has. */
#ifndef MRSI_RUN_NOTICES_H
#define MRSI_RUN_NOTICES_H

#include "run/account/account.h"

/* ---- notices.c: other notes for the author; no effect if the report does not want them ---- */
struct mrsi_fates;
enum mrs_status mrsi_fit_begin(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_fit_end(struct mrsi_engine *en);
enum mrs_status mrsi_fit_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n, struct mrs_err *e);
void mrsi_fit_restart(struct mrsi_engine *en, uint32_t coll);
uint32_t mrsi_fit_most(const struct mrsi_engine *en);
bool mrsi_fit_line(const struct mrsi_engine *en, uint32_t no, char *line, size_t size);
/* unique_check.c: the same for unique indexes other than that of `_id`; `of`: the data that notices.c stores for a
 * collection, NULL: it has no such index. */
struct mrsi_unique_check;
enum mrs_status mrsi_unique_check_new(struct mrsi_engine *en, uint32_t coll, uint64_t limit,
                                      struct mrsi_unique_check **out, struct mrs_err *e);
void mrsi_unique_check_free(struct mrsi_unique_check *of);
enum mrs_status mrsi_unique_check_document(struct mrsi_unique_check *of, struct mrs_view doc, struct mrs_err *e);
void mrsi_unique_check_restart(struct mrsi_unique_check *of);
uint32_t mrsi_unique_check_most(const struct mrsi_unique_check *of); /* maximum number of its notices */
enum mrs_status mrsi_unique_check_report(struct mrsi_unique_check *of, struct mrs_err *e);
#endif
