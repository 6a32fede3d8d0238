/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_files.h - an output that can be resumed after its process has died. */
#ifndef MONGORESHAPE_CHECKPOINT_FILES_H
#define MONGORESHAPE_CHECKPOINT_FILES_H

#include "mongoreshape/dump_out.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- resuming a stopped run ----
 * OUT.partial stays as it is, and next to it is the folder OUT.checkpoint: one file with the state of the run, and the
 * files that the state lists, numbered from 1. Without force, mrs_output_open refuses to start over if there is such a
 * state. */
/* Identifies the contents of a namespace of the input (a file): its size, the time of its last change, its first and
 * last bytes; for a stream all bytes. */
enum mrs_status mrs_input_fingerprint(struct mrs_input *in, uint32_t i, struct mrs_hash128 *out, struct mrs_err *e);
enum mrs_status mrs_file_fingerprint(struct mrs_mem *mem, const char *path, struct mrs_hash128 *out, struct mrs_err *e);
#define MRS_STOPPED_MAX (MRS_DOC_MAX + 64u) /* maximum bytes of a state */
struct mrs_ckpt_dir {
    struct mrs_mem *mem;
    const char *output; /* as in mrs_output_open */
    const char *tmp;    /* folder for new numbered files; NULL: the checkpoint folder itself */
};
/* Makes an error of mrs_err_checkpoint name the folder; other errors are unchanged. */
void mrs_ckpt_dir_place(const struct mrs_ckpt_dir *side, struct mrs_err *e);
/* Reads the state of the stopped run to this output. FAIL MRS_E_MISSING: there is none. */
enum mrs_status mrs_ckpt_dir_read(const struct mrs_ckpt_dir *side, char **state, size_t *n, struct mrs_err *e);
/* Completes or reverts a commit, if the run was killed while the described output (mrs_output_describe) got its name.
 * *published: the output has its name, and what it replaced is removed; else all files are back in their former
 * places. */
enum mrs_status mrs_ckpt_dir_settle(const struct mrs_ckpt_dir *side, struct mrs_view description, bool force,
                                    bool *published, struct mrs_err *e);
/* Replaces the state; returns when it is on disk. */
enum mrs_status mrs_ckpt_dir_write(const struct mrs_ckpt_dir *side, const void *p, size_t n, struct mrs_err *e);
/* Numbered files: opened for reading and writing, synced, removed. The caller need not know their folder. A missing
 * one: FAIL MRS_E_MISSING; one that is not ours, or has a second name: MRS_E_FORMAT, and it is not changed. */
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
/* Appends the files written so far as fields of a document; without open sinks. */
enum mrs_status mrs_output_describe(struct mrs_output *o, struct mrs_build *b, struct mrs_err *e);
/* Restores the described output; files that are not in the description are removed, except those of `open`: an array of
 * documents with the field `path`. FAIL MRS_E_FORMAT: the description is damaged, or a file has changed. */
enum mrs_status mrs_output_take_up(struct mrs_output *o, struct mrs_view description, struct mrs_view open,
                                   struct mrs_err *e);
/* Appends the position of an open sink as fields of a document, after its file is on disk; and reopens the same sink in
 * another run at such a position. empty: as if nothing had been written; the file may be emptied afterwards. */
enum mrs_status mrs_sink_mark(struct mrs_sink *s, bool empty, struct mrs_build *b, struct mrs_err *e);
enum mrs_status mrs_output_coll_again(struct mrs_output *o, const char *db, const char *coll, struct mrs_view saved,
                                      struct mrs_sink **sink, struct mrs_err *e);
/* As mrs_output_abort, but keeps OUT.partial. */
void mrs_output_leave(struct mrs_output *o);

#ifdef __cplusplus
}
#endif
#endif
