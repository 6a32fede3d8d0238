/* SPDX-License-Identifier: Apache-2.0 */
/* index_paths.h - the paths in one index document, rewritten; between indexes.c and index_paths.c only. */
#ifndef MRSI_INDEX_PATHS_H
#define MRSI_INDEX_PATHS_H

#include "indexes.h"

/* What became of the parts of one index that hold paths. Values are missing where the index has no
 * such part. */
struct mrsi_index_parts {
    struct mrs_val key, filter, projection, weights, override;
    uint32_t live;     /* paths of the key that are still there */
    bool moved;        /* some path, anywhere, has another name now */
    bool shrunk;       /* some path of the weights or the projection is gone, others are left */
    bool all;          /* it is on every path of its documents, which is no path of what is carried */
    const char *why;   /* a server would not take it with these paths, and why; NULL: it would */
    bool key_gone;     /* a path of the key is gone */
    bool filter_gone;  /* a path of the filter is gone, or the filter cannot be read */
    const char *gone;  /* the paths of key, weights and filter that are, as "a, b"; NULL: none */
};
/* All texts and bytes are taken from the arena; scratch is overwritten. */
enum mrs_status mrsi_index_parts(struct mrs_arena *a, struct mrs_buf *scratch, const struct mrsi_moves *m,
                                 struct mrs_view index, struct mrsi_index_parts *out, struct mrs_err *e);

#endif
