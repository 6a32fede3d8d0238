/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h - reads collections once more for rows of related values.
 *
 * A gathering is a list of lookups: for each document (or each element of an array) the values at up to three paths
 * form one row. All lookups of a collection are done in one scan. */
#ifndef MRSI_INSPECT_GATHER_H
#define MRSI_INSPECT_GATHER_H

#include "relate.h"

struct mrsi_lookup_value {
    struct mrsi_path *path[MRSI_ROW_KEYS]; /* of one collection, in one object */
    bool as_number[MRSI_ROW_KEYS];
    uint32_t n;
    bool of_root; /* the last path is in the document, the first ones in an array of it */
    struct mrsi_rowset rows;
    uint64_t lacking; /* rows with a missing value */
};
/* Fills the rows of all lookups and seals them. */
enum mrs_status mrsi_gather(struct mrsi_relating *x, struct mrsi_lookup_value *const *lookup, uint32_t n,
                            struct mrs_err *e);
/* The hash of a value in rows; 0: not comparable. */
uint64_t mrsi_row_hash(struct mrs_val v, bool as_number);

#endif
