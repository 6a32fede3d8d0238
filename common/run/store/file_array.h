/* SPDX-License-Identifier: Apache-2.0 */
/* file_array.h - an array that is written once, in order, and then searched. Beyond a share of memory it is in a mapped
 * temporary file, so that any number of items stays within the budget. */
#ifndef MRS_RUN_FILE_ARRAY_H
#define MRS_RUN_FILE_ARRAY_H

#include "store.h"

struct mrsi_file_array {
    struct mrsi_engine *en;
    size_t item;           /* size of one */
    uint64_t limit;
    struct mrs_buf buf;    /* items not yet in the file */
    struct mrsi_temp *temp;
    uint64_t bytes;        /* in the file */
    bool kept;             /* savepoints may refer to its file: set after init */
    bool named;            /* a savepoint refers to its file */
    bool ended;
    void *map;
    const uint8_t *p;      /* all items, after end */
    size_t n;
};
void mrsi_file_array_init(struct mrsi_file_array *t, struct mrsi_engine *en, size_t item, uint64_t limit);
void mrsi_file_array_clear(struct mrsi_file_array *t); /* may be called twice */
void mrsi_file_array_reset(struct mrsi_file_array *t); /* empties the array; it is written again from the start */
enum mrs_status mrsi_file_array_put(struct mrsi_file_array *t, const void *item, struct mrs_err *e);
/* Reserves space for the expected number of items, if the array has none yet, in huge pages because items are read in
 * any order. A hint only. */
void mrsi_file_array_expect(struct mrsi_file_array *t, uint64_t n);
/* Appends n contiguous items. */
enum mrs_status mrsi_file_array_put_n(struct mrsi_file_array *t, const void *items, size_t n, struct mrs_err *e);
/* For savepoints (checkpoint.h), if `kept`: load restores it, complete if it was. */
enum mrs_status mrsi_file_array_save(struct mrsi_file_array *t, const char *name, struct mrs_build *b,
                                     struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_file_array_load(struct mrsi_file_array *t, struct mrs_view saved, const char *name,
                                     struct mrs_err *e);
/* Writes all items so far to the file. OK, FAIL. */
enum mrs_status mrsi_file_array_spill(struct mrsi_file_array *t, struct mrs_err *e);
/* No more items follow; several threads may read. */
enum mrs_status mrsi_file_array_end(struct mrsi_file_array *t, struct mrs_err *e);
/* Like bsearch: the items must have been put in the order of cmp. */
const void *mrsi_file_array_find(const struct mrsi_file_array *t, const void *key, int (*cmp)(const void *,
                                                                                              const void *));

#endif
