/* SPDX-License-Identifier: Apache-2.0 */
/* added.h - computed values that are added to a document: where they go, and what `replace` and `errors` say. */
#ifndef MRSI_ADDED_H
#define MRSI_ADDED_H

#include "kernel.h"

struct mrsi_added { /* of the plan */
    const struct mrs_path *path; /* n of them, none inside another */
    uint32_t n;
    struct mrs_edit *edit; /* of these paths */
    const char *key;       /* of the plan, which a refused document names */
    int errors;
    bool replace;
    bool flat; /* no path has a dot */
};
struct mrsi_adding { /* for one document */
    const struct mrsi_added *to;
    struct mrs_ctx *c;
    /* What goes to path i, in place of old: *out, missing: nothing is there then; *keep: old stays. */
    enum mrs_status (*value)(void *arg, uint32_t i, struct mrs_val old, struct mrs_val *out, bool *keep);
    /* Where all paths are flat and free: appends their elements. NULL: by value. */
    enum mrs_status (*put)(void *arg, struct mrs_buf *out);
    void *arg;
    bool *silent;        /* n of them, for scratch; and a buffer */
    struct mrs_buf *raw;
    bool again;          /* private, as `taken`: the name of a field that exists */
    const char *taken;
};
/* doc with the values in it, appended to out. fresh: doc is new. *blocked: something could not be written, and `errors`
 * lets it be. SKIP. */
enum mrs_status mrsi_add_values(struct mrsi_adding *x, struct mrs_view doc, bool fresh, struct mrs_buf *out,
                                bool *blocked);

#endif
