/* SPDX-License-Identifier: Apache-2.0 */
/* claimed.h - documents without the fields that a run has claimed, and with them. */
#ifndef LIVE_CLAIMED_H
#define LIVE_CLAIMED_H

#include "mongoreshape/doc.h"

struct live_claimed { /* names with dots: documents and arrays of documents lie on their way */
    const char *const *name;
    uint32_t n;
};
/* doc without the claimed fields, doc itself where it has none, else in buf. A document that held nothing else goes as
 * well, unless it is an element of an array or something else follows it: then it was there before. */
enum mrs_status live_claimed_out(struct live_claimed k, struct mrs_view doc, struct mrs_buf *buf, struct mrs_view *out,
                                 struct mrs_err *e);
/* doc with the claimed fields as `after` has them, and in its order: in their old place, or at the end. In buf. after:
 * made of doc without them, so that each element of an array has its counterpart. */
enum mrs_status live_claimed_in(struct live_claimed k, struct mrs_view doc, struct mrs_view after, struct mrs_buf *buf,
                                struct mrs_view *out, struct mrs_err *e);
/* Whether doc has any of them. */
bool live_claimed_any(struct live_claimed k, struct mrs_view doc);
/* The first that the two documents do not have alike, wherever it is; NULL: there is none. within: what a lacks is
 * no difference. */
const char *live_claimed_differs(struct live_claimed k, struct mrs_view a, struct mrs_view b, bool within);

#endif
