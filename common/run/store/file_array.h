/* SPDX-License-Identifier: Apache-2.0 */
/* file_array.h - a list of items of one size that is written once, in its order, and then searched; past a share of
 * memory it lies in a temporary file that is mapped, so that no number of items counts against the budget. */
#ifndef MRS_RUN_FILE_ARRAY_H
#define MRS_RUN_FILE_ARRAY_H

#include "store.h"

struct mrsi_file_array {
    struct mrsi_engine *en;
    size_t item;           /* bytes of one */
    uint64_t limit;
    struct mrs_buf buf;    /* what is not in the file */
    struct mrsi_temp *temp;
    uint64_t bytes;        /* in the file */
    bool kept;             /* savepoints may name its file: set behind init */
    bool named;            /* a savepoint has named its file */
    bool ended;
    void *map;
    const uint8_t *p;      /* all items, after end */
    size_t n;
};
void mrsi_file_array_init(struct mrsi_file_array *t, struct mrsi_engine *en, size_t item, uint64_t limit);
void mrsi_file_array_clear(struct mrsi_file_array *t); /* harmless twice */
void mrsi_file_array_reset(struct mrsi_file_array *t); /* empties the array; it is written again from the start */
enum mrs_status mrsi_file_array_put(struct mrsi_file_array *t, const void *item, struct mrs_err *e);
/* Reserves space for the expected number of items, if the array has none yet, in huge pages because items are read in
 * any order. A hint only. */
void mrsi_file_array_expect(struct mrsi_file_array *t, uint64_t n);
/* n items that lie one behind the other. */
enum mrs_status mrsi_file_array_put_n(struct mrsi_file_array *t, const void *items, size_t n, struct mrs_err *e);
/* For savepoints (checkpoint.h), where it is kept: load gives it ended where it was. */
enum mrs_status mrsi_file_array_save(struct mrsi_file_array *t, const char *name, struct mrs_build *b,
                                     struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_file_array_load(struct mrsi_file_array *t, struct mrs_view mark, const char *name,
                                     struct mrs_err *e);
/* What was put so far goes into the file, however little it is. OK, FAIL. */
enum mrs_status mrsi_file_array_spill(struct mrsi_file_array *t, struct mrs_err *e);
/* Nothing is put from here on; items may be examined, by several threads. */
enum mrs_status mrsi_file_array_end(struct mrsi_file_array *t, struct mrs_err *e);
/* As bsearch: the items must have been put in the order of cmp. */
const void *mrsi_file_array_find(const struct mrsi_file_array *t, const void *key, int (*cmp)(const void *,
                                                                                              const void *));

#endif
