/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_files.h - an output that can be resumed after its process has died. */
#ifndef MONGORESHAPE_CHECKPOINT_FILES_H
#define MONGORESHAPE_CHECKPOINT_FILES_H

#include "mongoreshape/dump_out.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- going on with a run that was stopped ----
 * OUT.partial stays as it is, and beside it is the folder OUT.checkpoint: one file with the state of the run, and
 * files that the state speaks of, called by numbers from 1. mrs_output_open refuses to start over where such a state
 * is, unless forced. */
/* What tells that a namespace of the input (a file) is the one that it was: its size, the time of its last change, its
 * first and last bytes; of a stream all bytes. */
enum mrs_status mrs_input_fingerprint(struct mrs_input *in, uint32_t i, struct mrs_hash128 *out, struct mrs_err *e);
enum mrs_status mrs_file_fingerprint(struct mrs_mem *mem, const char *path, struct mrs_hash128 *out, struct mrs_err *e);
#define MRS_STOPPED_MAX (MRS_DOC_MAX + 64u) /* most bytes of a state */
struct mrs_ckpt_dir {
    struct mrs_mem *mem;
    const char *output; /* as in mrs_output_open */
    const char *tmp;    /* where numbered files are made from now on; NULL: in the folder itself */
};
/* An error of mrs_err_checkpoint names the folder from now on; another one stays as it is. */
void mrs_ckpt_dir_place(const struct mrs_ckpt_dir *side, struct mrs_err *e);
/* The state that a stopped run to this output left. FAIL MRS_E_MISSING: there is none. */
enum mrs_status mrs_ckpt_dir_read(const struct mrs_ckpt_dir *side, char **state, size_t *n, struct mrs_err *e);
/* The run may have been killed while the output that is described (mrs_output_describe) got its name. *published: it
 * has it, and what it replaced is removed; else whatever was moved is where it was before. */
enum mrs_status mrs_ckpt_dir_settle(const struct mrs_ckpt_dir *side, struct mrs_view description, bool force,
                                    bool *published, struct mrs_err *e);
/* Replaces the state; afterwards it is on disk. */
enum mrs_status mrs_ckpt_dir_write(const struct mrs_ckpt_dir *side, const void *p, size_t n, struct mrs_err *e);
/* Numbered files, opened for reading and writing, synced, removed, wherever they are: the caller need not know. One
 * that is not there: FAIL MRS_E_MISSING; one that was not made by us, or that is under a second name: MRS_E_FORMAT,
 * and it is not touched. */
enum mrs_status mrs_ckpt_dir_file(const struct mrs_ckpt_dir *side, uint32_t no, bool create, int *fd,
                                  struct mrs_err *e);
enum mrs_status mrs_ckpt_dir_sync(const struct mrs_ckpt_dir *side, uint32_t no, struct mrs_err *e);
void mrs_ckpt_dir_drop(const struct mrs_ckpt_dir *side, uint32_t no);
struct mrs_ckpt_dir_keep {
    const uint32_t *no;
    uint32_t n;
};
/* All of them can be opened. */
enum mrs_status mrs_ckpt_dir_check(const struct mrs_ckpt_dir *side, const struct mrs_ckpt_dir_keep *keep,
                                   struct mrs_err *e);
/* Removes all files but the state and those of keep; keep NULL: everything, with the folder. */
enum mrs_status mrs_ckpt_dir_clear(const struct mrs_ckpt_dir *side, const struct mrs_ckpt_dir_keep *keep,
                                   struct mrs_err *e);
/* What is written so far, as fields of a document; open sinks are not told. */
enum mrs_status mrs_output_describe(struct mrs_output *o, struct mrs_build *b, struct mrs_err *e);
/* The output is as it was described; files that are not in the description are removed, but for those of `open`: an
 * array of documents with the field `path`. FAIL MRS_E_FORMAT: the description is damaged, or a file is not as it was.
 */
enum mrs_status mrs_output_take_up(struct mrs_output *o, struct mrs_view description, struct mrs_view open,
                                   struct mrs_err *e);
/* Where an open sink is, as fields of a document, its file on disk so far; and the same sink of another run, at
 * such a mark. empty: as if nothing had been written; the file may be emptied afterwards. */
enum mrs_status mrs_sink_mark(struct mrs_sink *s, bool empty, struct mrs_build *b, struct mrs_err *e);
enum mrs_status mrs_output_coll_again(struct mrs_output *o, const char *db, const char *coll, struct mrs_view mark,
                                      struct mrs_sink **sink, struct mrs_err *e);
/* As mrs_output_abort, but OUT.partial stays. */
void mrs_output_leave(struct mrs_output *o);

#ifdef __cplusplus
}
#endif
#endif
