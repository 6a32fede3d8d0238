/* SPDX-License-Identifier: Apache-2.0 */
/* report_text.h - the findings of a report (run.h) as text: one line each, without line end, appended to a buffer.
 *
 * Texts contain names and values as in the data: the caller escapes control characters for display. A buffer without
 * memory is `bad` afterwards (buffer.h). Any thread; the report is only read. */
#ifndef MONGORESHAPE_REPORT_TEXT_H
#define MONGORESHAPE_REPORT_TEXT_H

#include "mongoreshape/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "_id 1, 2, 3 first": at most five of them; nothing if there are none. */
void mrs_text_ids(const struct mrs_ids *x, uint64_t count, struct mrs_buf *out);
/* "step 1, shop.people: `n`: $add takes numbers, not string (30, _id 0, 1, 2 first)" */
void mrs_text_refusal(const struct mrs_refusal *x, struct mrs_buf *out);
/* Instead of the nearest path, where that reads the same. */
#define MRS_TEXT_DOTTED "names that are there have a dot: their path is a list, as [a, \"b.c\"]"
/* "step 1, shop.people: no document has `nme`; the nearest that is there: `name`" */
void mrs_text_unmet(const struct mrs_unmet *x, struct mrs_buf *out);
/* "step 1, shop.comments: 3 documents match none (_id 4, 5, 9)"; a notice of a step, not of the result. */
void mrs_text_notice(const struct mrs_notice *x, struct mrs_buf *out);

#ifdef __cplusplus
}
#endif
#endif
