/* SPDX-License-Identifier: Apache-2.0 */
/* kept_files.h - the numbered files in OUT.checkpoint: a file is removed when neither the state on disk nor the last
 * boundary refers to it. */
#ifndef MRSI_RUN_KEPT_FILES_H
#define MRSI_RUN_KEPT_FILES_H

#include "store.h"

struct mrsi_kept_files {
    struct mrs_ckpt_dir dir;
    uint32_t next;             /* number of the next file */
    struct mrs_buf files;      /* uint32_t: the numbers in the last boundary, */
    struct mrs_buf on_disk;    /* and those in the state on disk */
    struct mrs_buf doomed;     /* files that only a state still needs */
    struct mrs_buf pass_temps; /* struct mrsi_temp *: files made for a savepoint, until it is on disk */
};
/* Frees en->kept; NULL: no effect. */
enum mrs_status mrsi_kept_files_open(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_kept_files_close(struct mrsi_engine *en);
/* Does a list of numbers contain one? */
bool mrsi_kept_files_has(const struct mrs_buf *list, uint32_t no);
/* Removes the files that are not needed any more. */
void mrsi_kept_files_sweep(struct mrsi_engine *en);
/* The savepoint is on disk, or was abandoned: closes the files made for it. */
void mrsi_kept_files_drop_marked(struct mrsi_engine *en);
/* A temporary file to which a boundary or a savepoint may refer; unlinked if there are no checkpoints. Thread-safe. */
enum mrs_status mrsi_ckpt_temp(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e);
enum mrs_status mrsi_ckpt_reopen(struct mrsi_engine *en, uint32_t no, uint64_t bytes, struct mrsi_temp **out,
                                 struct mrs_err *e);
void mrsi_ckpt_dropped(struct mrsi_engine *en, uint32_t no); /* its last user has closed it */
uint32_t mrsi_ckpt_next(const struct mrsi_engine *en);
/* Keeps a temporary file open until the current savepoint is on disk; takes ownership of t. */
enum mrs_status mrsi_ckpt_until_savepoint(struct mrsi_engine *en, struct mrsi_temp *t, struct mrs_err *e);

#endif
