/* SPDX-License-Identifier: Apache-2.0 */
/* sorter.h - records in the order of their keys (memcmp, then the order in which they were put), in bounded memory.
 *
 * Records are collected until a share of memory is full, sorted and written as a run; reading merges the runs. One
 * thread at a time. */
#ifndef MRS_RUN_SORTER_H
#define MRS_RUN_SORTER_H

#include "store.h"

struct mrsi_sorted {
    const uint8_t *key, *p; /* valid until the next call of next or rewind */
    uint32_t key_len, n;
};
struct mrsi_run_at; /* a run being read */
struct mrsi_sorter {
    struct mrsi_engine *en;
    uint64_t limit;
    struct mrs_buf recs;    /* collected records: struct head, key, payload */
    struct mrs_buf index;   /* offsets of records in recs */
    struct mrs_buf runs;    /* struct run: in the file */
    struct mrsi_temp *temp;
    uint64_t bytes;
    struct mrsi_run_at *at; /* reading */
    uint32_t n_at, *heap, n_heap;
    size_t pos;             /* reading from memory */
    bool done;
    bool kept;              /* savepoints may refer to its file: set after init */
    uint64_t saved;         /* bytes of sorted data in memory that a savepoint also has in the file */
    struct mrs_buf from;    /* uint64_t for each run: position for resume; empty: none */
    bool aside;             /* used by a check only: its file is not measured with those of the run */
};
/* Numbers in keys are big-endian, so that memcmp orders them. */
void mrsi_put_be(uint8_t *p, uint64_t v, int bytes);
uint64_t mrsi_get_be(const uint8_t *p, int bytes);
void mrsi_sorter_init(struct mrsi_sorter *s, struct mrsi_engine *en, uint64_t limit);
void mrsi_sorter_clear(struct mrsi_sorter *s);
enum mrs_status mrsi_sorter_put(struct mrsi_sorter *s, const void *key, uint32_t key_len, const void *p, uint32_t n,
                                struct mrs_err *e);
/* What was put so far becomes a run: costs less if it is in order already. */
enum mrs_status mrsi_sorter_cut(struct mrsi_sorter *s, struct mrs_err *e);
/* Ends collecting, or starts over with the first record. */
enum mrs_status mrsi_sorter_rewind(struct mrsi_sorter *s, struct mrs_err *e);
enum mrs_status mrsi_sorter_next(struct mrsi_sorter *s, struct mrsi_sorted *out, struct mrs_err *e); /* OK, END */
/* Returns the last record again. Not before the first one, nor after END. */
void mrsi_sorter_unread(struct mrsi_sorter *s);
/* For savepoints (checkpoint.h), if `kept`: while records are put, after the sort, and while it is read. load restores
 * one that is not being read: rewind begins at the first record, resume at the next record of the savepoint. */
enum mrs_status mrsi_sorter_save(struct mrsi_sorter *s, const char *name, struct mrs_build *b,
                                 struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_sorter_load(struct mrsi_sorter *s, struct mrs_view saved, const char *name, struct mrs_err *e);
enum mrs_status mrsi_sorter_resume(struct mrsi_sorter *s, struct mrs_err *e);

#endif
