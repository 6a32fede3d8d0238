/* SPDX-License-Identifier: Apache-2.0 */
/* condition_lists.h - the lists of values that the conditions of a step search. */
#ifndef MRSI_RUN_CONDITIONS_H
#define MRSI_RUN_CONDITIONS_H

#include "run/store/value_list.h"

/* ---- condition_lists.c ---- */
/* Makes the missing lists of the step; *some: there were any. */
enum mrs_status mrsi_conditions_gather(struct mrsi_engine *en, uint32_t step, bool *some, struct mrs_err *e);
/* Frees the lists of a step that no later pass will search. */
void mrsi_conditions_done(struct mrsi_engine *en, uint32_t step);

/* ---- list_search.c ---- */
enum mrs_status mrsi_conditions_new(struct mrsi_engine *en, struct mrs_err *e); /* after the workers exist */
void mrsi_conditions_free(struct mrsi_engine *en);
/* The report on a condition, one of these lines; false: none. */
#define MRSI_CONDITION_LINES 3
bool mrsi_condition_line(const struct mrsi_engine *en, uint32_t step, uint32_t i, uint32_t no, char *line, size_t size);

#endif
