/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - rows of a few 64-bit numbers with a count, sorted and joined in bounded memory.
 *
 * Several threads put rows, which are then sealed, and read in order any number of times; equal rows are merged, their
 * counts added. Rows that do not fit into memory are in one unlinked temporary file. */
#ifndef MRSI_INSPECT_ROWS_H
#define MRSI_INSPECT_ROWS_H

#include "mongoreshape/files.h"
#include <pthread.h>

enum { MRSI_ROW_KEYS = 3 };
struct mrsi_hash_row {
    uint64_t key[MRSI_ROW_KEYS], count;
};
struct mrsi_row_store { /* of all sets of rows */
    struct mrs_mem *mem;
    const char *tmp;
    const int *cancel; /* as in mrs_inspect_opts */
    uint64_t memory; /* maximum bytes of sealed rows in memory */
    uint64_t kept, end;
    int fd; /* -1: none yet */
    pthread_mutex_t lock;
};
void mrsi_row_store_begin(struct mrsi_row_store *s, struct mrs_mem *mem, const char *tmp, uint64_t memory,
                          const int *cancel);
/* FAIL, MRS_E_CANCEL: the caller wants to stop. Called at least every tenth of a second by all that is long. */
enum mrs_status mrsi_check_cancel(const struct mrsi_row_store *s, struct mrs_err *e);
void mrsi_row_store_end(struct mrsi_row_store *s);

struct mrsi_row_run {
    uint64_t off, rows;
};
struct mrsi_rowset {
    struct mrsi_row_store *store;
    uint32_t keys; /* number of words in a row; its count follows */
    uint64_t *buf; /* rows being collected, or sealed in memory */
    uint64_t n, cap, most; /* rows */
    struct mrsi_row_run *run;
    uint32_t runs, run_cap;
    uint64_t total; /* rows once sealed */
    uint64_t count; /* sum of their counts */
    bool sealed;
    pthread_mutex_t lock;
};
/* bytes: of memory while rows are collected. */
void mrsi_rowset_begin(struct mrsi_rowset *r, struct mrsi_row_store *store, uint32_t keys, uint64_t bytes);
void mrsi_rowset_end(struct mrsi_rowset *r);
/* Any thread. */
enum mrs_status mrsi_rowset_put(struct mrsi_rowset *r, const struct mrsi_hash_row *row, uint32_t n, struct mrs_err *e);
enum mrs_status mrsi_rowset_seal(struct mrsi_rowset *r, struct mrs_err *e);

enum { MRSI_WORDS_AHEAD = 8192 };
struct mrsi_rowset_at { /* a reader of sealed rows */
    const struct mrsi_rowset *of;
    uint64_t next;
    struct mrsi_hash_row row; /* the last row returned */
    uint64_t ahead[MRSI_WORDS_AHEAD];
    uint32_t at, n;
};
void mrsi_rowset_read(struct mrsi_rowset_at *c, const struct mrsi_rowset *r);
/* NULL: no more, or *s is not OK. Lives until the next call. */
const struct mrsi_hash_row *mrsi_rowset_next(struct mrsi_rowset_at *c, enum mrs_status *s, struct mrs_err *e);

#endif
