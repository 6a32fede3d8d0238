/* SPDX-License-Identifier: Apache-2.0 */
/* index_paths.h - rewrites the paths of one index document; internal to indexes.c and index_paths.c. */
#ifndef MRSI_INDEX_PATHS_H
#define MRSI_INDEX_PATHS_H

#include "indexes.h"

/* The rewritten parts of an index document that contain paths. A value is missing if the index has no such part. */
struct mrsi_index_parts {
    struct mrs_val key, filter, projection, weights, override;
    uint32_t live;     /* remaining paths of the key */
    bool moved;        /* at least one path has another name now */
    bool shrunk;       /* weights or projection lost some but not all of their paths */
    bool all;          /* a wildcard over all paths of its documents, which is no path of the copied part */
    const char *why;   /* why a server would refuse the index with these paths; NULL: it would not */
    bool key_lost;     /* the key lost a path */
    bool filter_lost;  /* the filter lost a path, or cannot be read */
    const char *lost;  /* lost paths of key, weights and filter, as "a, b"; NULL: none */
};
/* All results are in the arena; scratch is overwritten. */
enum mrs_status mrsi_index_parts(struct mrs_arena *a, struct mrs_buf *scratch, const struct mrsi_moves *m,
                                 struct mrs_view index, struct mrsi_index_parts *out, struct mrs_err *e);

#endif
