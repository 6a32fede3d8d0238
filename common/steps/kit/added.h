/* SPDX-License-Identifier: Apache-2.0 */
/* added.h - adds computed values to a document, with the policies `replace` and `errors`. */
#ifndef MRSI_ADDED_H
#define MRSI_ADDED_H

#include "kernel.h"

struct mrsi_added { /* from the plan */
    const struct mrs_path *path; /* n paths, none inside another */
    uint32_t n;
    struct mrs_edit *edit; /* of these paths */
    const char *key;       /* key of the plan, for refusals */
    int errors;
    bool replace;
    bool flat; /* no path has a dot */
};
struct mrsi_adding { /* for one document */
    const struct mrsi_added *to;
    struct mrs_ctx *c;
    /* Gives the value of path i. old: the existing one. *out missing: the field is removed; *keep: old stays. */
    enum mrs_status (*value)(void *arg, uint32_t i, struct mrs_val old, struct mrs_val *out, bool *keep);
    /* If all paths are flat and new: appends their elements. NULL: use `value`. */
    enum mrs_status (*put)(void *arg, struct mrs_buf *out);
    void *arg;
    bool *silent;        /* silent: n entries of scratch; a buffer */
    struct mrs_buf *raw;
    bool again;          /* again, existing: private */
    struct mrsi_existing existing;
};
/* Appends doc with the values to out. fresh: doc is new. *blocked: a value could not be written, and `errors` ignores
 * that. SKIP. */
enum mrs_status mrsi_add_values(struct mrsi_adding *x, struct mrs_view doc, bool fresh, struct mrs_buf *out,
                                bool *blocked);

#endif
