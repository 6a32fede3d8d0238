/* SPDX-License-Identifier: Apache-2.0 */
/* run_engine.h - a run from its first step to the finished output, and its report. */
#ifndef MRSI_RUN_ENGINE_H
#define MRSI_RUN_ENGINE_H

#include "run/pass/checkpoint.h"
#include "run/pass/drivers.h"

struct mrsi_run_of {
    struct mrs_mem *mem;
    struct mrs_plan *plan;
    struct mrs_input *in;
    /* After the last step, if opts->write_residue is set; else NULL. */
    enum mrs_status (*write_residue)(struct mrsi_engine *en, struct mrs_err *e);
    enum mrs_status (*residue_is_ours)(void *en, const char *path, bool *ours, struct mrs_err *e);
};
/* As mrs_run. */
enum mrs_status mrsi_run(const struct mrsi_run_of *of, const struct mrs_run_opts *opts, struct mrs_report *report,
                         struct mrs_err *e);

/* The memory for gathering, and the number of workers, from the options. */
void mrsi_choose_size(const struct mrs_run_opts *opts, uint64_t *memory, uint32_t *jobs);

/* ---- side_files.c ---- */
/* The path for refused documents; NULL: none, or out of memory. */
const char *mrsi_refused_path(struct mrsi_engine *en, struct mrs_err *e);
/* No file that the run writes may be one of its inputs, or another file that it writes, */
enum mrs_status mrsi_side_files_check(struct mrsi_engine *en, struct mrs_err *e);
/* or a file of value. Called when it is known which run is resumed. */
enum mrs_status mrsi_side_files_check_existing(struct mrsi_engine *en, struct mrs_err *e);

/* ---- setup.c: everything known before the first document ---- */
enum mrs_status mrsi_setup(struct mrsi_engine *en, struct mrs_err *e);
/* Are its metadata in no file of the input (except system.indexes.bson)? Then they are written, whatever the plan. */
bool mrsi_has_made_metadata(const struct mrs_input_ns *in);

/* ---- fit_input.c ---- */
/* The namespace with this name in the input; MRSI_NONE. */
uint32_t mrsi_input_find(const struct mrs_input *in, const char *ns);

/* ---- finish.c: collections without a step, extra files, account, report ---- */
enum mrs_status mrsi_finish_collections(struct mrsi_engine *en, struct mrs_err *e);
/* A collection that is copied unchanged from the input to the output. */
enum mrs_status mrsi_copy_file(struct mrsi_engine *en, uint32_t coll, struct mrs_err *e);
/* Starts that copy in the background for a collection that the step reads and no step changes. */
void mrsi_copy_in_background(struct mrsi_engine *en, uint32_t step);

/* ---- run_stream.c ---- */
/* A streamed output: announces its contents, and writes what no step changes. */
enum mrs_status mrsi_stream_begin(struct mrsi_engine *en, struct mrs_err *e);

/* ---- extra_files.c ---- */
/* Passes the documents through steps up to and including `last` that still wait at collections; the results are
 * discarded. */
enum mrs_status mrsi_drain(struct mrsi_engine *en, uint32_t last, struct mrs_err *e);
enum mrs_status mrsi_check_account(const struct mrsi_engine *en, struct mrs_err *e);
enum mrs_status mrsi_check_capped(const struct mrsi_engine *en, struct mrs_err *e);
enum mrs_status mrsi_report(struct mrsi_engine *en, struct mrs_err *e);
/* The first step that moves documents, or with `parts` also fields, out of the collection; NULL: none. db "": of any
 * database. */
const struct mrs_step *mrsi_step_that_takes(const struct mrs_plan *plan, const char *db, const char *coll, bool parts);
/* Notes the roles of the dump on a collection that the plan empties or takes fields from. */
enum mrs_status mrsi_note_roles(struct mrsi_engine *en, struct mrs_err *e);
/* Notes files of GridFS whose contents the plan leaves behind, and the reverse. */
void mrsi_note_gridfs(struct mrsi_engine *en);
/* Notes the steps that take documents for missing which an earlier step refused; after the run. */
void mrsi_note_refused_before(struct mrsi_engine *en);
/* Adds a copy of the line to the notes of the report. */
void mrsi_report_note(struct mrsi_engine *en, const char *line);
/* The line that restores the output; notes on what it does not restore. */
enum mrs_status mrsi_put_restore(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_note_unrestored(struct mrsi_engine *en);
#endif
