/* SPDX-License-Identifier: Apache-2.0 */
/* claimed.h - removes claimed fields of a run from documents, and adds them. */
#ifndef LIVE_CLAIMED_H
#define LIVE_CLAIMED_H

#include "mongoreshape/doc.h"

struct live_claimed { /* dotted names: through documents and arrays of documents */
    const char *const *name;
    uint32_t n;
};
/* doc without the claimed fields; doc itself if it has none, else in buf. A document without other content is removed
 * as well, unless it is an element of an array or other content follows it: then it existed before. */
enum mrs_status live_claimed_out(struct live_claimed k, struct mrs_view doc, struct mrs_buf *buf, struct mrs_view *out,
                                 struct mrs_err *e);
/* doc with the claimed fields of `after`, in its order: at their old position, or at the end. In buf. after: made from
 * doc without them, so that each element of an array has its counterpart. */
enum mrs_status live_claimed_in(struct live_claimed k, struct mrs_view doc, struct mrs_view after, struct mrs_buf *buf,
                                struct mrs_view *out, struct mrs_err *e);
/* Does doc have any of them? */
bool live_claimed_any(struct live_claimed k, struct mrs_view doc);
/* The first one in which the two documents differ, at any level; NULL: none. within: fields missing in a are no
 * difference. */
const char *live_claimed_differs(struct live_claimed k, struct mrs_view a, struct mrs_view b, bool within);

#endif
