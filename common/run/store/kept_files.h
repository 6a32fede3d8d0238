/* SPDX-License-Identifier: Apache-2.0 */
/* kept_files.h - the numbered files in OUT.checkpoint: a file goes once neither the state on disk nor the last boundary
 * names it. */
#ifndef MRSI_RUN_KEPT_FILES_H
#define MRSI_RUN_KEPT_FILES_H

#include "store.h"

struct mrsi_kept_files {
    struct mrs_ckpt_dir dir;
    uint32_t next;             /* number of the next file */
    struct mrs_buf files;      /* uint32_t: the numbers that the last boundary names, */
    struct mrs_buf on_disk;    /* and those that the state on disk names */
    struct mrs_buf doomed;     /* numbers of files that only a state needs */
    struct mrs_buf pass_temps; /* struct mrsi_temp *: files made for the savepoint alone, until it is on disk */
};
/* en->kept, and nothing at all. */
enum mrs_status mrsi_kept_files_open(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_kept_files_close(struct mrsi_engine *en);
/* Whether a list of numbers holds one. */
bool mrsi_kept_files_has(const struct mrs_buf *list, uint32_t no);
/* Removes the files that are not needed any more. */
void mrsi_kept_files_sweep(struct mrsi_engine *en);
/* The savepoint is on disk, or given up: the files made for it alone are closed. */
void mrsi_kept_files_drop_marked(struct mrsi_engine *en);
/* A file that a boundary or a savepoint may name, as a temporary file; nameless where there are no checkpoints. Any
 * thread. */
enum mrs_status mrsi_ckpt_temp(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e);
enum mrs_status mrsi_ckpt_reopen(struct mrsi_engine *en, uint32_t no, uint64_t bytes, struct mrsi_temp **out,
                                 struct mrs_err *e);
void mrsi_ckpt_dropped(struct mrsi_engine *en, uint32_t no); /* its last user has gone */
uint32_t mrsi_ckpt_next(const struct mrsi_engine *en);
/* Keeps a temporary file open until the savepoint that is being made is on disk; takes t over. */
enum mrs_status mrsi_ckpt_until_savepoint(struct mrsi_engine *en, struct mrsi_temp *t, struct mrs_err *e);

#endif
