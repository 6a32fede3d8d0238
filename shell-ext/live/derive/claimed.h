/* SPDX-License-Identifier: Apache-2.0 */
/* claimed.h - documents without the fields that a run has claimed, and with them. */
#ifndef LIVE_CLAIMED_H
#define LIVE_CLAIMED_H

#include "mongoreshape/doc.h"

struct live_claimed { /* names with dots: documents lie on their way, never arrays */
    const char *const *name;
    uint32_t n;
};
/* doc without the claimed fields, doc itself where it has none, else in buf. A document that held nothing else goes as
 * well: whether it stood there empty before nobody knows. */
enum mrs_status live_claimed_out(struct live_claimed k, struct mrs_view doc, struct mrs_buf *buf, struct mrs_view *out,
                                 struct mrs_err *e);
/* doc with the claimed fields as `after` has them, and in its order: in their old place, or at the end. In buf. */
enum mrs_status live_claimed_in(struct live_claimed k, struct mrs_view doc, struct mrs_view after, struct mrs_buf *buf,
                                struct mrs_view *out, struct mrs_err *e);
/* A claimed field on whose way an array lies; NULL: there is none. */
const char *live_claimed_array(struct live_claimed k, struct mrs_view doc);

#endif
