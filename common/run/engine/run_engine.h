/* SPDX-License-Identifier: Apache-2.0 */
/* run_engine.h - a run from its first step to the published output, and what it says in the end. */
#ifndef MRSI_RUN_ENGINE_H
#define MRSI_RUN_ENGINE_H

#include "run/pass/checkpoint.h"
#include "run/pass/drivers.h"

struct mrsi_run_of {
    struct mrs_mem *mem;
    struct mrs_plan *plan;
    struct mrs_input *in;
    /* Behind the last step, where opts->write_residue asks for it; else NULL. */
    enum mrs_status (*write_residue)(struct mrsi_engine *en, struct mrs_err *e);
    enum mrs_status (*residue_is_ours)(void *en, const char *path, bool *ours, struct mrs_err *e);
};
/* As mrs_run. */
enum mrs_status mrsi_run(const struct mrsi_run_of *of, const struct mrs_run_opts *opts, struct mrs_report *report,
                         struct mrs_err *e);

/* What the options leave for gathering, and how many workers there are. */
void mrsi_choose_size(const struct mrs_run_opts *opts, uint64_t *memory, uint32_t *jobs);

/* ---- beside.c ---- */
/* Where refused documents go; NULL: nowhere, or no memory. */
const char *mrsi_refused_path(struct mrsi_engine *en, struct mrs_err *e);
/* What the run writes takes the place neither of what it was given nor of anything else that it writes; */
enum mrs_status mrsi_ckpt_dir_check(struct mrsi_engine *en, struct mrs_err *e);
/* nor of anything of value, if it knows which run it resumes. */
enum mrs_status mrsi_ckpt_dir_places(struct mrsi_engine *en, struct mrs_err *e);

/* ---- setup.c: collections, sides and what is known before the first document ---- */
enum mrs_status mrsi_setup(struct mrsi_engine *en, struct mrs_err *e);

/* ---- fit_input.c ---- */
/* The namespace of this name among an input's data; MRSI_NONE. */
uint32_t mrsi_input_find(const struct mrs_input *in, const char *ns);

/* ---- finish.c: what no step has written yet, the extras, the account, the report ---- */
enum mrs_status mrsi_finish_collections(struct mrsi_engine *en, struct mrs_err *e);
/* A collection that goes from the input to the output as it is. */
enum mrs_status mrsi_copy_file(struct mrsi_engine *en, uint32_t coll, struct mrs_err *e);
/* Begins with that for a collection which the step reads and no step changes, beside the step. */
void mrsi_copy_in_background(struct mrsi_engine *en, uint32_t step);

/* ---- run_stream.c ---- */
/* An output that goes out while it is made: what it will hold, and of that what no step names. */
enum mrs_status mrsi_stream_begin(struct mrsi_engine *en, struct mrs_err *e);

/* ---- extra_files.c ---- */
/* Steps up to and including `last` that still wait at collections see their documents, whose results are thrown away.
 */
enum mrs_status mrsi_drain(struct mrsi_engine *en, uint32_t last, struct mrs_err *e);
enum mrs_status mrsi_check_account(const struct mrsi_engine *en, struct mrs_err *e);
enum mrs_status mrsi_check_capped(const struct mrsi_engine *en, struct mrs_err *e);
enum mrs_status mrsi_report(struct mrsi_engine *en, struct mrs_err *e);
/* Notes the roles of the dump that name a collection which the plan empties or takes fields from. */
enum mrs_status mrsi_note_roles(struct mrsi_engine *en, struct mrs_err *e);
/* The line that restores the output; and notes (room for one a collection and extra file) of what it does not. */
enum mrs_status mrsi_put_restore(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_note_unrestored(struct mrsi_engine *en);
#endif
