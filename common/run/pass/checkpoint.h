/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.h - saves the state of a run, so that a stopped or killed run resumes with identical output.
 *
 * A run is a sequence of passes. Between two of them all state is in files: collections of the input, parts that steps
 * wrote, finished files of the output, the log of refused documents. Such a point is a boundary: the beginning of a
 * step, of a collection that no step has written, of the publication. There the state is serialized as a BSON
 * document; it is written to disk if enough time has passed, or if the run is interrupted. Files that outlive a pass
 * need a name for that, so they are in OUT.checkpoint under a number instead of in an unlinked temporary file.
 *
 * A pass that works in input order can also take a savepoint: it fetches no more jobs and commits those under way;
 * then the position in the input, the lengths of the written files and the counts of the pass are all that a resume
 * needs. A savepoint belongs to the boundary from which its pass began, and is void as soon as the pass begins again.
 *
 * Invariants:
 * - one rename replaces the state, after every file that it names is on disk;
 * - a file is removed only if no state on disk, and no boundary that may still be written, names it; files that are
 *   not needed any more are removed after a newer state is written;
 * - a resume takes from OUT.partial and OUT.checkpoint only the files and lengths that the state names, and removes
 *   the rest;
 * - a state is validated like a foreign dump: checksum, types, ranges and lengths are checked before any file changes;
 * - plan, version of the tool, `$$NOW`, the options that decide about bytes, and the input (fingerprint.c) must be the
 *   same, else the run is refused and changes nothing. Memory, jobs and folders may differ. */
#ifndef MRS_RUN_CHECKPOINT_H
#define MRS_RUN_CHECKPOINT_H

#include "pass.h"
#include "run/store/state.h"

/* ---- checkpoint_state.c: the engine as a document ---- */
/* Appends the state before step `step` as fields. files: gets the numbers of the files it refers to (uint32_t). */
enum mrs_status mrsi_state_save(struct mrsi_engine *en, uint32_t step, struct mrs_build *b, struct mrs_buf *files,
                                struct mrs_err *e);
/* Restores the engine from the state. */
enum mrs_status mrsi_state_load(struct mrsi_engine *en, struct mrs_view state, uint32_t *step, struct mrs_buf *files,
                                struct mrs_err *e);
void mrsi_state_put_rows(const char *name, const struct mrsi_row *rows, uint32_t n, struct mrs_build *b);
enum mrs_status mrsi_state_get_rows(struct mrs_view d, const char *name, struct mrsi_row *rows, uint32_t n,
                                    struct mrs_err *e);
/* Progress of the run, refused documents and digest of the input. */
enum mrs_status mrsi_state_put_progress(struct mrsi_engine *en, struct mrs_build *b, struct mrs_buf *files,
                                        struct mrs_err *e);
enum mrs_status mrsi_state_get_progress(struct mrsi_engine *en, struct mrs_view d, struct mrs_err *e);

/* ---- input_digest.c ---- */
void mrsi_input_digest_save(const struct mrsi_engine *en, struct mrs_build *b);
enum mrs_status mrsi_input_digest_load(struct mrsi_engine *en, struct mrs_view state, struct mrs_err *e);

/* ---- checkpoint_same.c: is it the same run? ---- */
/* Options and input that must be equal, as fields. */
enum mrs_status mrsi_same_options(struct mrsi_engine *en, struct mrs_build *b, struct mrs_err *e);
enum mrs_status mrsi_same_input(struct mrsi_engine *en, struct mrs_build *b, struct mrs_err *e);
enum mrs_status mrsi_same_check(struct mrsi_engine *en, const struct mrsi_checkpoint *cp, struct mrs_view options,
                                struct mrs_view input, struct mrs_err *e);

/* ---- checkpoint.c: time and place of checkpoints ---- */
/* Before the output is opened: decides whether there will be checkpoints, and reads the one to resume from. */
enum mrs_status mrsi_ckpt_begin(struct mrsi_engine *en, struct mrs_err *e);
bool mrsi_ckpt_resumes(const struct mrsi_engine *en);    /* take the output over */
bool mrsi_ckpt_is_published(const struct mrsi_engine *en); /* the output exists: only the report is missing */
bool mrsi_ckpt_was_whole(const struct mrsi_engine *en);   /* the output was complete when the run was stopped */
/* After the output was opened: takes over the files of the stopped run; *step: where to resume. */
enum mrs_status mrsi_ckpt_take_up(struct mrsi_engine *en, uint32_t *step, struct mrs_err *e);
/* A boundary: all steps before `step` are done. */
enum mrs_status mrsi_ckpt_boundary(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
/* The output is complete; the final rename follows. */
enum mrs_status mrsi_ckpt_whole(struct mrsi_engine *en, struct mrs_err *e);
/* Removes the checkpoint: no run can resume any more. */
enum mrs_status mrsi_ckpt_forget(struct mrsi_engine *en, struct mrs_err *e);
/* The run has ended, successfully or with status s. Removes the partial output, or leaves it for a resume. */
void mrsi_ckpt_end(struct mrsi_engine *en, enum mrs_status s, struct mrs_err *e);

/* ---- checkpoint_pass.c: savepoints inside a pass ---- */
/* A pass with savepoints: its writers and its position. */
struct mrsi_pass {
    struct mrsi_engine *en;
    const char *kind;
    struct mrsi_scan *scan;  /* set while a pipe of the pass reads a collection; else NULL */
    struct mrsi_writer *wr;
    uint32_t n_wr;
    bool blank;              /* the writers' output does not count: a savepoint has them empty */
    /* Saves its other data; NULL: none. files: gets the numbers of files it refers to. */
    enum mrs_status (*save)(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
    void *arg;
    struct mrs_view from;    /* the savepoint to resume from; empty: start the pass */
};
enum mrs_status mrsi_pass_save(const struct mrsi_pass *p, struct mrs_build *b, struct mrs_buf *files,
                               struct mrs_err *e);
/* Restores counts (those of the pass, and those that the step has accepted already), refused documents and writers
 * (open, without their files). */
enum mrs_status mrsi_pass_load(struct mrsi_pass *p, struct mrs_err *e);
/* Restores only counts and refused documents: again, after something was read once more. */
enum mrs_status mrsi_pass_apply_counts(struct mrsi_pass *p, struct mrs_err *e);
/* Runs one pass of a pipe over a collection. Its jobs are fetched from `scan`, which starts at the beginning of the
 * collection, or at the savepoint; then the pass is resumed. p NULL: a pass without savepoints. A savepoint taken
 * between two passes has no position. */
enum mrs_status mrsi_pass_scan(struct mrsi_pass *p, const struct mrsi_pipe *pipe, struct mrsi_coll *c,
                               struct mrsi_scan *scan, struct mrs_err *e);
/* Called between two passes of a step, with no job under way: takes a savepoint if one is due. */
enum mrs_status mrsi_pass_between(struct mrsi_pass *p, struct mrs_err *e);
/* The same, if the following work overwrites data of the savepoint on disk: replaces it now. */
enum mrs_status mrsi_pass_anew(struct mrsi_pass *p, struct mrs_err *e);
/* Work between two passes, or after all of them, that proceeds item by item. */
struct mrsi_pause_clock {
    struct mrsi_engine *en;
    struct mrsi_pass *pass; /* owner of the savepoints; NULL: none */
    uint64_t since;         /* bytes of work since the clock was last read */
};
/* Adds this work: is it time for a pause point? */
bool mrsi_pause_is_due(struct mrsi_pause_clock *r, uint64_t bytes);
/* Call it only while the pass can be described: takes a savepoint if one is due. FAIL MRS_E_CANCEL: stop. */
enum mrs_status mrsi_rest(struct mrsi_pause_clock *r, struct mrs_err *e);
/* Both: a pause point if it is time for one. */
enum mrs_status mrsi_pause_after(struct mrsi_pause_clock *r, uint64_t bytes, struct mrs_err *e);
static inline bool
mrsi_pass_is_resumed(const struct mrsi_pass *p)
{
    return p && p->from.n > MRS_DOC_MIN;
}
/* The savepoint for the pass that begins now; returned once. */
void mrsi_ckpt_savepoint_for(struct mrsi_pass *p);
/* Should a savepoint be taken now? */
/* Does a run that is stopped now leave a state? Thread-safe. */
bool mrsi_ckpt_is_worth(const struct mrsi_engine *en);
bool mrsi_ckpt_due(const struct mrsi_engine *en);
/* Takes one; no job is under way. If it is too large for a document, the older one stays. */
enum mrs_status mrsi_ckpt_savepoint(const struct mrsi_pass *p, struct mrs_err *e);
/* The same, but the older one is invalid in any case. */
enum mrs_status mrsi_ckpt_savepoint_anew(const struct mrsi_pass *p, struct mrs_err *e);
bool mrsi_ckpt_has_savepoint(const struct mrsi_engine *en); /* the state on disk has one */

/* ---- inverse_folder.c: the folder of the inverse run ---- */
/* Next to the output, or in --tmp with the output's name. The caller frees it; NULL: out of memory. */
char *mrsi_inverse_place(struct mrs_mem *mem, const struct mrs_run_opts *o);
/* Removes the remains of a stopped one. opts: of the run that needs it. */
enum mrs_status mrsi_inverse_forget(struct mrs_mem *mem, const struct mrs_run_opts *opts, struct mrs_err *e);
/* Removes the folder of a run that was killed while removing it, its checkpoint first: nothing can resume it. Files
 * that cannot be removed stay. */
void mrsi_inverse_sweep(struct mrs_mem *mem, const struct mrs_run_opts *opts);

/* ---- checkpoint_output.c: savepoints while the output copies or compresses ---- */
/* For struct mrs_stop, thread-safe; arg: the engine. */
bool mrsi_output_unwanted(void *arg);
/* For struct mrs_pause; arg: the engine. */
bool mrsi_output_due(void *arg, uint64_t bytes);
enum mrs_status mrsi_output_rest(void *arg, struct mrs_err *e);
/* A pass that copies collection c unchanged (NULL: an extra file). When it is resumed, c was checked and counted
 * before. */
enum mrs_status mrsi_copying_begin(struct mrsi_engine *en, struct mrsi_coll *c, struct mrsi_pass *p,
                                   struct mrs_err *e);
enum mrs_status mrsi_copying(struct mrsi_pass *p, uint32_t in_index, struct mrs_err *e);
#define MRSI_CKPT_RESIDUE "residue" /* pass that compares a complete output with its inverse */
#define MRSI_CKPT_BACK "back"       /* pass that restores from a residue */
#define MRSI_CKPT_PUBLISH "publish" /* pass that renames the output */
enum mrs_status mrsi_commit(struct mrsi_engine *en, struct mrs_view extra, struct mrs_err *e);
#endif
