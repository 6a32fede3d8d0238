/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - steps of the family MAP: one document in, the same document out. */
#ifndef MRSI_MAP_H
#define MRSI_MAP_H

#include "steps/catalog/indexes.h"
#include "kernel.h"
#include "describe.h"
#include "mongoreshape/spread_ops.h"

/* The first member of their states. They differ in one function. */
struct mrsi_map {
    struct mrsi_owned keep;
    struct mrs_coll in;
    struct mrs_query *where;
    bool indexes;
    bool claims; /* a processed document is a candidate for its `_id`, even if it does not change */
    /* Appends the new document to out; *changed: other bytes. FAIL and SKIP refuse it. */
    enum mrs_status (*edit)(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d,
                            struct mrs_buf *out, bool *changed);
    const char *place;       /* the key that a FAIL of edit is reported at */
    struct mrsi_moves moves; /* changes of index paths */
    bool partly;             /* documents may keep a path that moves, even without `where` */
    const char *const *write; /* paths that get other values: unique indexes on them get a note */
    uint32_t n_write;
};
/* Reads in, where and indexes. */
void mrsi_map_read(struct mrsi_read *r, struct mrsi_map *m);
extern const struct mrs_spread_ops mrsi_map_ops;
/* Begins the description: the side, the reads of `where`. */
void mrsi_map_describe(struct mrsi_describe *t, const struct mrsi_map *m, struct mrs_arena *arena, struct mrs_desc *out,
                       struct mrs_err *e);
/* "every document of " or similar, to be followed by the collection's name. */
const char *mrsi_map_those(const struct mrsi_map *m);
/* Updates the catalog: the indexes by moves and write, the validator by the description. */
typedef enum mrs_status (*mrsi_describe_fn)(const void *state, struct mrs_arena *arena, struct mrs_desc *out,
                                            struct mrs_err *e);
enum mrs_status mrsi_map_catalog(mrsi_describe_fn describe, const void *state, struct mrs_catalog *cat,
                                 struct mrs_err *e);

#endif
