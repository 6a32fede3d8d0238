/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h - rows of values that are next to each other, from one more read of collections.
 *
 * A gathering is a list of lookups: of each document (or each element of an array) the values at up to three paths as
 * one row. All lookups of a collection are done in one scan. */
#ifndef MRSI_INSPECT_GATHER_H
#define MRSI_INSPECT_GATHER_H

#include "relate.h"

struct mrsi_lookup_value {
    struct mrsi_path *path[MRSI_ROW_KEYS]; /* of one collection and one holder */
    bool as_number[MRSI_ROW_KEYS];
    uint32_t n;
    bool of_root; /* the last path is in the document, the first ones in an array of it */
    struct mrsi_rowset rows;
    uint64_t lacking; /* where one of the values is not there */
};
/* Fills the rows of all lookups and seals them. */
enum mrs_status mrsi_gather(struct mrsi_relating *x, struct mrsi_lookup_value *const *lookup, uint32_t n,
                            struct mrs_err *e);
/* The hash of a value as rows have it; 0: it is none that can be compared. */
uint64_t mrsi_row_hash(struct mrs_val v, bool as_number);

#endif
